"""Several models, in one file or in several that are matched by id."""

import io
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import EmptyInput, InputError, LabelError, ScoreError
from assay.sources.files import MatchedRows, Model, NeedsId, Request, read_models

REQUEST = Request(label="label")
NEW = "id,label,score\n007,attack,0.9\n8,normal,0.1\n9,attack,0.4\n"
OLD = "id,label,score\n9,attack,0.5\n007,attack,0.7\n8,normal,0.3\n"


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def new(tmp_path: Path) -> str:
    return written(tmp_path / "new.csv", NEW)


@pytest.fixture
def old(tmp_path: Path) -> str:
    return written(tmp_path / "old.csv", OLD)


def both(new: str, old: str, request: Request = REQUEST, **options) -> MatchedRows:
    models = [Model("new", "score"), Model("old", "score", old)]
    return read_models([new], request, models, id_column=options.pop("id", "id"), **options)


# -- one file --------------------------------------------------------------------------------------


def test_models_of_one_file_need_no_id(tmp_path: Path) -> None:
    file = written(tmp_path / "p.csv", "label,a,b,host\n1,0.9,2,x\n0,0.1,-3,y\n")
    matched_rows = read_models(
        [file], Request(label="label", cluster="host"), [Model("A", "a"), Model("B", "b")]
    )
    assert {name: s.tolist() for name, s in matched_rows.scores.items()} == {
        "A": [0.9, 0.1],
        "B": [2, -3],
    }
    assert matched_rows.decisions == {}
    assert matched_rows.ids is None
    assert matched_rows.rows.tolist() == [1, 2]
    assert matched_rows.columns["y_true"].names == ("0", "1")
    assert matched_rows.columns["clusters"].names == ("x", "y")


def test_columns_of_labels_are_decisions(tmp_path: Path) -> None:
    text = "label,a,b\nnormal,normal,scan\nscan,normal,scan\nflood,flood,normal\n"
    file = written(tmp_path / "p.csv", text)
    matched_rows = read_models([file], REQUEST, [Model("A", "a"), Model("B", "b")])
    assert matched_rows.scores == {}
    names = [matched_rows.decisions["B"].names[code] for code in matched_rows.decisions["B"].codes]
    assert names == ["scan", "scan", "normal"]


def test_a_decision_may_name_a_label_that_never_was_true(tmp_path: Path) -> None:
    file = written(tmp_path / "p.csv", "label,a,b\nnormal,normal,worm\nscan,normal,scan\n")
    matched_rows = read_models([file], REQUEST, [Model("A", "a"), Model("B", "b")])
    assert matched_rows.decisions["B"].names == ("scan", "worm")


def test_numbers_that_are_labels_are_decisions_and_others_scores(tmp_path: Path) -> None:
    frame = pl.DataFrame({"label": [0, 1, 1], "a": [0.0, 1.0, 0.0], "b": [True, False, True]})
    frame.write_parquet(tmp_path / "p.parquet")
    models = [Model("A", "a"), Model("B", "b")]
    matched_rows = read_models([str(tmp_path / "p.parquet")], REQUEST, models)
    assert {name: d.names for name, d in matched_rows.decisions.items()} == {
        "A": ("0", "1"),
        "B": ("0", "1"),
    }
    frame.with_columns(a=pl.Series([0.0, 1.0, 0.5])).write_parquet(tmp_path / "q.parquet")
    scores = read_models([str(tmp_path / "q.parquet")], REQUEST, models[:1]).scores
    assert scores["A"].tolist() == [0, 1, 0.5]


def test_labels_that_are_absent_can_be_said_to_be_labels(tmp_path: Path) -> None:
    file = written(tmp_path / "p.csv", "label,a\n0,1\n0,0\n")
    assert read_models([file], REQUEST, [Model("A", "a")]).decisions == {}
    assert read_models([file], REQUEST, [Model("A", "a")], labels=("0", "1")).scores == {}


def test_decisions_beside_scores_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "p.csv", "label,a,b\n1,1,0.5\n0,1,0.2\n")
    with pytest.raises(InputError, match=r"'A' holds decisions.*'B' holds scores"):
        read_models([file], REQUEST, [Model("A", "a"), Model("B", "b")])


def test_the_label_is_no_model(new: str) -> None:
    with pytest.raises(InputError, match="can't be the label and the model's column at once"):
        read_models([new], REQUEST, [Model("A", "label"), Model("B", "score")])


def test_two_models_of_one_name_are_refused(new: str) -> None:
    with pytest.raises(InputError, match="two models are called 'A'"):
        read_models([new], REQUEST, [Model("A", "score"), Model("A", "score")])


def test_scores_that_begin_like_labels_are_scores_in_the_end(tmp_path: Path) -> None:
    """Only all rows tell: a piece of zeros and ones comes first, in pieces of two rows."""
    frame = pl.DataFrame({"label": [0, 1, 0, 1, 0], "a": [0.0, 1.0, 1.0, 0.0, 0.25]})
    frame.write_parquet(tmp_path / "p.parquet")
    request = Request(label="label", batch_rows=2)
    matched_rows = read_models([str(tmp_path / "p.parquet")], request, [Model("A", "a")])
    assert matched_rows.scores["A"].tolist() == [0, 1, 1, 0, 0.25]


@pytest.mark.parametrize("chunk", [16, 1 << 22])
@pytest.mark.parametrize("bad", ["oops", "nan", "inf"])
def test_what_is_no_number_stops_a_column_of_scores_with_its_line(
    tmp_path: Path, bad: str, chunk: int
) -> None:
    file = written(tmp_path / "p.csv", f"label,a\n1,0.5\n0,{bad}\n1,0.25\n0,0.125\n")
    request = Request(label="label", chunk_bytes=chunk)
    with pytest.raises(ScoreError, match=rf"p\.csv, line 3: column 'a': found '{bad}', expected a"):
        read_models([file], request, [Model("A", "a")])


def test_what_is_no_number_can_be_left_out(tmp_path: Path) -> None:
    text = "label,a,b\n1,0.5,1.5\n0,oops,2.5\n1,0.25,\n0,0.125,3.5\n"
    file = written(tmp_path / "p.csv", text)
    request = Request(label="label", on_bad_row="skip")
    matched_rows = read_models([file], request, [Model("A", "a"), Model("B", "b")])
    assert matched_rows.scores["A"].tolist() == [0.5, 0.125]
    assert matched_rows.rows.tolist() == [1, 4]
    assert (matched_rows.rows_read, matched_rows.rows_refused) == (4, 2)
    assert sorted(at.line for at in matched_rows.refused) == [3, 4]


def test_a_column_of_names_is_refused_as_scores(tmp_path: Path) -> None:
    rows = "".join(f"{i % 2},host-{i}\n" for i in range(2000))
    file = written(tmp_path / "p.csv", "label,a\n" + rows)
    with pytest.raises(ScoreError, match="found 'host-0', expected a finite number"):
        read_models([file], REQUEST, [Model("A", "a")])


# -- several files ---------------------------------------------------------------------------------


def test_rows_of_two_files_are_matched_by_id_whatever_their_order(new: str, old: str) -> None:
    matched_rows = both(new, old)
    assert matched_rows.scores["new"].tolist() == [0.9, 0.1, 0.4]
    assert matched_rows.scores["old"].tolist() == [0.7, 0.3, 0.5]
    assert list(matched_rows.ids) == ["007", "8", "9"]
    assert matched_rows.files == (old,)


def test_ids_are_text_and_whole_numbers_have_no_point(tmp_path: Path, new: str) -> None:
    frame = pl.DataFrame({"id": [7.0, 8.0, 9.0], "score": [0.7, 0.3, 0.5]})
    frame.write_parquet(tmp_path / "old.parquet")
    with pytest.raises(InputError, match=r"1 of 3 ids of .*new\.csv are not in .*such as '007'"):
        both(new, str(tmp_path / "old.parquet"))
    plain = written(tmp_path / "plain.csv", NEW.replace("007", "7"))
    assert both(plain, str(tmp_path / "old.parquet")).scores["old"].tolist() == [0.7, 0.3, 0.5]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_every_format_can_be_matched(tmp_path: Path, new: str, suffix: str) -> None:
    frame = pl.read_csv(io.StringIO(OLD), schema_overrides={"id": pl.String})
    path = tmp_path / f"old.{suffix}"
    match suffix:
        case "csv":
            frame.write_csv(path)
        case "tsv":
            frame.write_csv(path, separator="\t")
        case "jsonl":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
        case _:
            frame.write_ipc(path)
    assert both(new, str(path)).scores["old"].tolist() == [0.7, 0.3, 0.5]


def test_options_of_text_are_not_asked_of_other_formats(tmp_path: Path) -> None:
    main = written(tmp_path / "new.txt", NEW.replace(",", ";"))
    pl.read_csv(io.StringIO(OLD), schema_overrides={"id": pl.String}).write_parquet(
        tmp_path / "old.parquet"
    )
    request = Request(label="label", delimiter=";", input_format="csv")
    assert both(main, str(tmp_path / "old.parquet"), request).scores["old"].tolist()[0] == 0.7


def test_lines_above_the_header_are_left_out_of_every_text(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{i}.csv", f"title\n{text}") for i, text in enumerate((NEW, OLD))]
    request = Request(label="label", skip_lines=1)
    assert both(*files, request).scores["old"].tolist() == [0.7, 0.3, 0.5]
    pl.read_csv(io.StringIO(OLD), schema_overrides={"id": pl.String}).write_parquet(
        tmp_path / "old.parquet"
    )
    request = Request(label="label", skip_lines=1, quote="'")
    assert both(files[0], str(tmp_path / "old.parquet"), request).scores["old"].tolist()[0] == 0.7


def test_without_an_id_other_files_are_refused(new: str, old: str) -> None:
    with pytest.raises(NeedsId, match=r"model 'old' is in .*old\.csv.*say id="):
        both(new, old, id=None)


@pytest.mark.parametrize("which", ["new", "old"])
def test_an_id_that_names_two_rows_is_refused(tmp_path: Path, which: str) -> None:
    texts = {"new": NEW, "old": OLD}
    texts[which] += "8,normal,0.2\n007,attack,0.2\n"
    files = {name: written(tmp_path / f"{name}.csv", text) for name, text in texts.items()}
    with pytest.raises(InputError, match=rf"{which}\.csv: column 'id' names 4 rows .*such as '"):
        both(files["new"], files["old"])


def test_ids_without_a_match_are_counted_on_both_sides(tmp_path: Path, new: str) -> None:
    text = "id,score\n8,0.3\n10,0.1\n11,0.2\n"
    other = written(tmp_path / "old.csv", text)
    with pytest.raises(InputError) as refused:
        both(new, other)
    message = str(refused.value)
    assert "2 of 3 ids of" in message
    assert "'007', '9'" in message
    assert "'10', '11'" in message
    assert "on_bad_row='skip'" in message


def test_ids_without_a_match_can_be_left_out_and_are_counted(tmp_path: Path, new: str) -> None:
    other = written(tmp_path / "old.csv", "id,score\n8,0.3\n10,0.1\n007,0.2\n")
    matched_rows = both(new, other, Request(label="label", on_bad_row="skip"))
    assert list(matched_rows.ids) == ["007", "8"]
    assert matched_rows.scores["old"].tolist() == [0.2, 0.3]
    assert (matched_rows.rows_read, matched_rows.rows_refused) == (3, 1)
    assert [at.row for at in matched_rows.refused] == [3]
    assert "1 of 3 ids of" in matched_rows.notes[0]
    assert len(matched_rows.columns["y_true"].codes) == 2


def test_a_row_left_out_of_one_file_is_left_out_of_all(tmp_path: Path, new: str) -> None:
    other = written(tmp_path / "old.csv", OLD.replace("0.7", "none"))
    with pytest.raises(ScoreError, match=r"old\.csv, line 3"):
        both(new, other)
    matched_rows = both(new, other, Request(label="label", on_bad_row="skip"))
    assert list(matched_rows.ids) == ["8", "9"]
    assert any("1 of 3 rows of" in note and "line 3" in note for note in matched_rows.notes)


def test_files_without_a_row_in_common_are_refused_even_so(tmp_path: Path, new: str) -> None:
    other = written(tmp_path / "old.csv", "id,score\n1,0.3\n")
    with pytest.raises(EmptyInput, match="no row is left"):
        both(new, other, Request(label="label", on_bad_row="skip"))


def test_a_label_that_differs_for_one_id_is_refused_whatever_is_skipped(
    tmp_path: Path, new: str
) -> None:
    other = written(tmp_path / "old.csv", OLD.replace("8,normal", "8,attack"))
    for on_bad_row in ("stop", "skip"):
        with pytest.raises(LabelError, match=r"id '8' is 'normal' in .* and 'attack' in"):
            both(new, other, Request(label="label", on_bad_row=on_bad_row))


def test_labels_written_in_another_type_are_the_same(tmp_path: Path) -> None:
    main = written(tmp_path / "new.csv", "id,label,score\na,1,0.9\nb,0,0.2\n")
    for labels in ([0, 1], [False, True], ["0", "1"]):
        frame = pl.DataFrame({"id": ["b", "a"], "label": labels, "score": [0.3, 0.8]})
        frame.write_parquet(tmp_path / "old.parquet")
        assert both(main, str(tmp_path / "old.parquet")).scores["old"].tolist() == [0.8, 0.3]


def test_the_other_file_needs_no_label(tmp_path: Path, new: str) -> None:
    other = written(tmp_path / "old.csv", "id,score\n8,0.3\n9,0.1\n007,0.2\n")
    assert both(new, other).scores["old"].tolist() == [0.2, 0.3, 0.1]


def test_decisions_of_two_files_are_of_the_kind_of_the_truth(tmp_path: Path) -> None:
    main = written(tmp_path / "new.csv", "id,label,said\na,1,1\nb,0,1\n")
    frame = pl.DataFrame({"id": ["b", "a"], "said": [0, 1]})
    frame.write_parquet(tmp_path / "old.parquet")
    models = [Model("new", "said"), Model("old", "said", str(tmp_path / "old.parquet"))]
    matched_rows = read_models([main], REQUEST, models, id_column="id")
    assert {d.kind for d in matched_rows.decisions.values()} == {"text"}
    assert matched_rows.decisions["old"].codes.tolist() == [1, 0]


# -- where a column is -----------------------------------------------------------------------------


def test_file_and_column_are_split_at_the_last_colon(tmp_path: Path) -> None:
    main = written(tmp_path / "new.csv", NEW)
    odd = written(tmp_path / "a:b=c.csv", OLD)
    models = [Model("new", "score"), Model("old", f"{odd}:score")]
    assert read_models([main], REQUEST, models, id_column="id").files == (odd,)


def test_a_column_with_a_colon_in_the_main_file_wins(tmp_path: Path, old: str) -> None:
    column = f"{old}:score"
    frame = pl.DataFrame({"label": ["attack", "normal"], column: [0.25, 0.5]})
    frame.write_parquet(tmp_path / "p.parquet")
    matched_rows = read_models([str(tmp_path / "p.parquet")], REQUEST, [Model("A", column)])
    assert matched_rows.scores["A"].tolist() == [0.25, 0.5]
    assert matched_rows.files == ()


def test_the_main_file_may_be_named_again(new: str) -> None:
    models = [Model("A", "score"), Model("B", f"{new}:score"), Model("C", "score", new)]
    matched_rows = read_models([new], REQUEST, models)
    assert matched_rows.files == ()
    assert matched_rows.scores["B"].tolist() == matched_rows.scores["C"].tolist() == [0.9, 0.1, 0.4]


def test_standard_input_is_read_once(new: str, old: str) -> None:
    models = [Model("A", "-:score"), Model("B", "score")]
    one = read_models(["-"], REQUEST, models, stdin=io.BytesIO(NEW.encode()))
    assert one.scores["A"].tolist() == [0.9, 0.1, 0.4]
    other = read_models(
        [new],
        REQUEST,
        [Model("A", "score"), Model("B", "-:score")],
        id_column="id",
        stdin=io.BytesIO(OLD.encode()),
    )
    assert other.scores["B"].tolist() == [0.7, 0.3, 0.5]
    with pytest.raises(InputError, match="only once"):
        read_models(["-", old], REQUEST, models[:1], id_column="id", stdin=io.BytesIO(NEW.encode()))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("scor", r"new\.csv has no column 'scor'; did you mean 'score'"),
        ("nowhere.csv:score", r"there is no file nowhere\.csv"),
    ],
)
def test_a_column_that_is_nowhere_is_refused(new: str, column: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_models([new], REQUEST, [Model("A", column)], id_column="id")


@pytest.mark.parametrize("scheme", ["mysql", "postgresql"])
def test_the_address_of_a_model_is_not_shown(new: str, scheme: str) -> None:
    column = f"{scheme}://reader:correct-horse@db.example/flows?select 1:score"
    for id_column in (None, "id"):
        with pytest.raises(InputError, match=r"mysql://|model 'A' is in|PGPASSWORD") as refused:
            read_models([new], REQUEST, [Model("A", column)], id_column=id_column)
        assert "horse" not in str(refused.value)


def test_a_column_that_the_other_file_lacks_is_refused(new: str, old: str) -> None:
    with pytest.raises(InputError, match=r"old\.csv has no column 'scor'; did you mean"):
        read_models([new], REQUEST, [Model("A", f"{old}:scor")], id_column="id")
    with pytest.raises(InputError, match=r"old\.csv has no column 'a:b'"):
        read_models([new], REQUEST, [Model("A", "a:b", old)], id_column="id")


def test_an_id_that_is_missing_is_a_bad_row(tmp_path: Path, old: str) -> None:
    main = written(tmp_path / "new.csv", NEW + ",normal,0.3\n")
    with pytest.raises(InputError, match="line 5: column 'id': the id is missing"):
        both(main, old)


# -- laws ------------------------------------------------------------------------------------------


@given(st.permutations(range(12)), st.integers(1, 5), st.integers(1, 64))
@settings(max_examples=30, deadline=None)
def test_matching_does_not_depend_on_order_or_pieces(order, rows, chunk) -> None:
    names = [f"{'0' * (i % 3)}{i}" for i in range(12)]
    scores = [i / 16 for i in range(12)]
    labels = ["attack" if i % 3 else "normal" for i in range(12)]
    lines = [f"{n},{label},{s}" for n, label, s in zip(names, labels, scores, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        head = "id,label,score\n"
        main = written(Path(folder, "new.csv"), head + "\n".join(lines) + "\n")
        mixed = [lines[i] for i in order]
        other = written(Path(folder, "old.csv"), head + "\n".join(mixed) + "\n")
        matched_rows = both(main, other, Request(label="label", batch_rows=rows, chunk_bytes=chunk))
    assert matched_rows.scores["old"].tolist() == matched_rows.scores["new"].tolist() == scores
    assert list(matched_rows.ids) == names


def test_many_rows_are_matched_within_seconds_of_work(tmp_path: Path) -> None:
    rows = 200_000
    generator = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "id": [f"flow-{i}" for i in range(rows)],
            "label": generator.integers(0, 2, rows),
            "score": generator.random(rows),
        }
    )
    frame.write_parquet(tmp_path / "new.parquet")
    frame.reverse().write_parquet(tmp_path / "old.parquet")
    start = time.process_time()
    matched_rows = both(str(tmp_path / "new.parquet"), str(tmp_path / "old.parquet"))
    assert time.process_time() - start < 5
    assert np.array_equal(matched_rows.scores["new"], matched_rows.scores["old"])
