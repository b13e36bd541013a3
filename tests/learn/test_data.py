"""Labelled tables from files: what is a feature, what is a number, what is refused."""

import gzip
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import EmptyInput, InputError, LabelError, ScoreError
from assay.learn.data import data_of, read_data


def written(folder: Path, text: str, name: str = "rows.csv") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_every_column_but_the_label_is_a_feature(tmp_path: Path) -> None:
    data = read_data(written(tmp_path, "a,label,b\n1,attack,x\n2,normal,y\n"), label="label")
    assert data.frame.columns == ["a", "b"]
    assert data.labels == ("normal", "attack")
    assert data.truth.tolist() == [1, 0]
    assert data.rows.tolist() == [1, 2]
    assert (data.rows_read, data.rows_refused) == (2, 0)
    assert "taken as the positive" in data.notes[0]


def test_a_column_is_numeric_only_if_all_rows_are(tmp_path: Path) -> None:
    # The text comes far behind the first piece that is read.
    lines = [f"{i},{i},attack" for i in range(400_000)]
    lines.append("7,0x1f,normal")
    data = read_data(written(tmp_path, "a,b,label\n" + "\n".join(lines) + "\n"), label="label")
    assert data.frame.schema == {"a": pl.Float64, "b": pl.String}
    assert data.frame["b"][0] == "0"
    assert data.frame["b"][-1] == "0x1f"


@pytest.mark.parametrize(
    ("written_as", "number"),
    [("inf", np.inf), ("-Infinity", -np.inf), ("1e3", 1000.0), (" 5 ", 5.0), ("+2", 2.0)],
)
def test_numbers_in_text_are_numbers(tmp_path: Path, written_as: str, number: float) -> None:
    text = f"a,label\n1.5,attack\n{written_as},normal\n"
    data = read_data(written(tmp_path, text), label="label")
    assert data.frame["a"].to_list() == [1.5, number]


def test_nan_and_nothing_are_missing(tmp_path: Path) -> None:
    text = "a,b,label\nnan,,attack\n,x,normal\n3,y,normal\n"
    data = read_data(written(tmp_path, text), label="label")
    assert data.frame["a"].to_list() == [None, None, 3.0]
    assert data.frame["b"].to_list() == [None, "x", "y"]


def test_a_column_without_any_value_is_numeric_and_missing(tmp_path: Path) -> None:
    data = read_data(written(tmp_path, "a,b,label\n,1,attack\n,2,normal\n"), label="label")
    assert data.frame.schema["a"] == pl.Float64
    assert data.frame["a"].null_count() == 2


def test_booleans_are_0_and_1_in_every_format(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [True, False, None], "label": ["attack", "normal", "normal"]})
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_ndjson(tmp_path / "rows.jsonl")
    for name in ("rows.parquet", "rows.csv", "rows.jsonl"):
        data = read_data(str(tmp_path / name), label="label")
        assert data.frame["a"].to_list() == [1.0, 0.0, None], name


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-(10**6), 10**6)),
            st.one_of(st.none(), st.floats(-1e9, 1e9)),
            st.one_of(st.none(), st.text("abc ", min_size=1, max_size=4)),
            st.sampled_from(["attack", "normal"]),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_every_format_gives_the_same_table(tmp_path_factory, rows) -> None:
    folder = tmp_path_factory.mktemp("formats")
    schema = {"a": pl.Int64, "b": pl.Float64, "c": pl.String, "label": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame.write_parquet(folder / "rows.parquet")
    frame.write_csv(folder / "rows.csv")
    frame.write_ndjson(folder / "rows.jsonl")
    frame.write_ipc(folder / "rows.arrow")
    options = {"label": "label", "positive": "attack", "labels": ["attack", "normal"]}
    first, *others = (
        read_data(str(folder / f"rows.{suffix}"), **options)
        for suffix in ("parquet", "csv", "jsonl", "arrow")
    )
    for other in others:
        assert other.frame.equals(first.frame)
        assert other.truth.tolist() == first.truth.tolist()
    assert data_of(frame, **options).frame.equals(first.frame)


def test_mixed_json_values_become_text_once_one_is_text(tmp_path: Path) -> None:
    text = '{"a": 80, "label": 1}\n{"a": "http", "label": 0}\n{"a": 2.5, "label": 0}\n'
    data = read_data(written(tmp_path, text, "rows.jsonl"), label="label")
    assert data.frame["a"].to_list() == ["80", "http", "2.5"]


def test_whole_numbers_beyond_float64_are_told(tmp_path: Path) -> None:
    text = f"a,b,label\n{2**53 + 1},{2**53},attack\n5,6,normal\n"
    data = read_data(written(tmp_path, text), label="label")
    assert any("'a'" in note and "lost digits" in note for note in data.notes)
    assert not any("'b'" in note for note in data.notes)


def test_times_as_features_are_text_and_told() -> None:
    frame = pl.DataFrame({"t": ["2024-01-01", "2024-01-02"], "label": ["attack", "normal"]})
    data = data_of(frame.with_columns(pl.col("t").str.to_datetime()), label="label")
    assert data.frame.schema["t"] == pl.String
    assert any("'t'" in note and "--time" in note for note in data.notes)


def test_a_missing_label_is_refused_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "a,label\n1,attack\n2,\n3,normal\n")
    with pytest.raises(LabelError, match=r"line 3: column 'label': the label is missing"):
        read_data(file, label="label")
    data = read_data(file, label="label", on_bad_row="skip")
    assert data.rows.tolist() == [1, 3]
    assert (data.rows_read, data.rows_refused) == (3, 1)
    assert data.refused[0].line == 3


def test_a_short_row_is_refused_or_listed(tmp_path: Path) -> None:
    file = written(tmp_path, "a,b,label\n1,2,attack\n3\n5,6,normal\n")
    with pytest.raises(InputError, match="line 3"):
        read_data(file, label="label")
    data = read_data(file, label="label", on_bad_row="skip")
    assert data.frame["a"].to_list() == [1.0, 5.0]
    assert data.rows.tolist() == [1, 3]


def test_a_file_without_usable_rows_is_empty(tmp_path: Path) -> None:
    with pytest.raises(EmptyInput, match="there are no rows"):
        read_data(written(tmp_path, "a,label\n"), label="label")
    with pytest.raises(EmptyInput, match="the only row was refused"):
        read_data(written(tmp_path, "a,label\n1,\n"), label="label", on_bad_row="skip")


def test_plus_and_minus_one_need_a_positive() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "label": [1, -1, -1]})
    with pytest.raises(LabelError, match="nothing tells which one is the alarm"):
        data_of(frame, label="label")
    assert data_of(frame, label="label", positive="-1").labels == ("1", "-1")
    assert data_of(frame, label="label", positive=1).truth.tolist() == [1, 0, 0]


def test_with_a_negative_the_labels_become_families() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "label": ["normal", "neptune", "smurf"]})
    data = data_of(frame, label="label", negative="normal")
    assert data.labels == ("normal", "not normal")
    assert data.truth.tolist() == [0, 1, 1]
    assert data.family is not None
    assert [data.family.names[code] for code in data.family.codes] == ["normal", "neptune", "smurf"]


def test_several_classes_are_sorted_as_text_and_have_no_positive() -> None:
    data = data_of(pl.DataFrame({"a": [1, 2, 3], "label": ["b", "c", "a"]}), label="label")
    assert data.labels == ("a", "b", "c")
    assert data.truth.tolist() == [1, 2, 0]
    assert data.positive is None


def test_columns_kept_aside_are_no_features() -> None:
    frame = pl.DataFrame(
        {
            "a": [1, 2],
            "host": ["007", "7"],
            "kind": ["scan", None],
            "when": ["2024-03-01T23:30:00+02:00", "2024-03-02T00:00:00Z"],
            "extra": [3, 4],
            "label": ["attack", "normal"],
        }
    )
    data = data_of(frame, label="label", keep=["host"], family="kind", time="when", drop=["extra"])
    assert data.frame.columns == ["a"]
    assert data.columns["host"].to_list() == ["007", "7"]
    assert data.family is not None
    assert [data.family.names[code] for code in data.family.codes] == ["scan", "(missing)"]
    assert data.time is not None
    assert data.time.astype(str).tolist() == [
        "2024-03-01T21:30:00.000000",
        "2024-03-02T00:00:00.000000",
    ]
    assert data.time_zoned is True
    assert data.dropped == ("extra",)


def test_naive_and_aware_times_are_not_mixed(tmp_path: Path) -> None:
    file = written(tmp_path, "a,t,label\n1,2024-03-01,attack\n2,2024-03-01T00:00:00Z,normal\n")
    with pytest.raises(InputError, match=r"line 3: column 't'.*a time zone.*line 2 has none"):
        read_data(file, label="label", time="t", on_bad_row="skip")


def test_an_unknown_column_is_refused_with_near_names() -> None:
    frame = pl.DataFrame({"source": [1, 2], "label": ["attack", "normal"]})
    for role in ({"drop": ["sorce"]}, {"keep": ["sorce"]}, {"time": "sorce"}, {"text": "sorce"}):
        with pytest.raises(InputError, match="did you mean 'source'"):
            data_of(frame, label="label", **role)
    with pytest.raises(InputError, match="no column to learn from"):
        data_of(frame, label="label", drop=["source"])


def test_a_column_can_not_be_two_things() -> None:
    frame = pl.DataFrame({"a": ["x y", "z w"], "label": ["attack", "normal"]})
    with pytest.raises(InputError, match="at once"):
        data_of(frame, label="label", text="label")
    with pytest.raises(InputError, match="at once"):
        data_of(frame, label="label", text="a", drop=["a"])


def test_a_column_of_texts_stays_text() -> None:
    frame = pl.DataFrame({"t": ["12", "34"], "label": ["attack", "normal"]})
    data = data_of(frame, label="label", text="t")
    assert data.frame["t"].to_list() == ["12", "34"]
    assert data.text == "t"


def test_nested_columns_are_refused_by_name() -> None:
    frame = pl.DataFrame({"a": [[1], [2]], "b": [1, 2], "label": ["attack", "normal"]})
    with pytest.raises(InputError, match=r"column 'a' holds List.*--drop 'a'"):
        data_of(frame, label="label")
    assert data_of(frame, label="label", drop=["a"]).frame.columns == ["b"]


def test_several_files_are_one_table(tmp_path: Path) -> None:
    first = written(tmp_path, "a,b,label\n1,x,attack\n", "1.csv")
    second = written(tmp_path, "b,c,a,label\ny,9,2,normal\n", "2.csv")
    data = read_data([first, second], label="label")
    assert data.frame.to_dict(as_series=False) == {"a": [1.0, 2.0], "b": ["x", "y"]}
    assert data.rows.tolist() == [1, 2]
    assert data.name.endswith("1.csv and 1 more")
    assert any("'c'" in note and "is not used" in note for note in data.notes)
    third = written(tmp_path, "a,label\n2,normal\n", "3.csv")
    with pytest.raises(InputError, match=r"3\.csv has no column 'b', which .*1\.csv has"):
        read_data([first, third], label="label")


def test_packed_text_and_standard_input_are_read(tmp_path: Path) -> None:
    text = b"a,label\n1,attack\n2,normal\n"
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text))
    packed = read_data(str(tmp_path / "rows.csv.gz"), label="label")
    piped = read_data("-", label="label", input_format="csv", stdin=io.BytesIO(text))
    assert packed.frame.equals(piped.frame)
    assert piped.name == "standard input"


def test_a_table_too_large_for_the_memory_is_refused(tmp_path: Path) -> None:
    rows = 400_000
    frame = pl.DataFrame({"a": np.arange(rows) * 1.5, "label": ["attack", "normal"] * (rows // 2)})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    for name in ("rows.csv", "rows.parquet"):
        with pytest.raises(InputError, match="max_memory="):
            read_data(str(tmp_path / name), label="label", max_memory=1 << 23)


def test_an_unnamed_first_column_is_left_out(tmp_path: Path) -> None:
    data = read_data(written(tmp_path, ",a,label\n0,1,attack\n1,2,normal\n"), label="label")
    assert data.frame.columns == ["a"]
    assert any("has no name" in note for note in data.notes)


@given(st.lists(st.integers(0, 4), max_size=8))
def test_rows_are_taken_with_all_they_have(positions: list[int]) -> None:
    frame = pl.DataFrame(
        {
            "a": [1, 2, 3, 4, 5],
            "g": list("vwxyz"),
            "f": list("pqpqp"),
            "t": [f"2024-01-0{i}" for i in range(1, 6)],
            "label": ["attack", "normal", "normal", "attack", "attack"],
        }
    )
    data = data_of(frame, label="label", keep=["g"], family="f", time="t")
    part = data.take(np.array(positions, np.intp))
    assert len(part) == len(positions)
    assert part.frame["a"].to_list() == [float(i + 1) for i in positions]
    assert part.rows.tolist() == [i + 1 for i in positions]
    assert part.columns["g"].to_list() == ["vwxyz"[i] for i in positions]
    assert part.truth.tolist() == [int(data.truth[i]) for i in positions]
    assert part.family is not None
    assert part.time is not None
    assert [part.family.names[c] for c in part.family.codes] == ["pqpqp"[i] for i in positions]
    assert part.time.tolist() == [data.time[i].item() for i in positions]


def test_a_table_to_judge_is_read_like_the_one_that_was_learned() -> None:
    learned = data_of(
        pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "5"], "label": ["no", "dos", "probe"]}),
        label="label",
        negative="no",
    )
    judged = data_of(
        pl.DataFrame({"b": [5, 6], "extra": [[1], [2]], "a": ["7", None], "label": ["worm", "no"]}),
        label="label",
        like=learned,
    )
    assert judged.frame.columns == ["a", "b"]
    assert judged.frame["a"].to_list() == [7.0, None]
    assert judged.labels == ("no", "not no")
    assert judged.truth.tolist() == [1, 0]
    assert judged.family is not None
    assert [judged.family.names[code] for code in judged.family.codes] == ["worm", "no"]


def test_text_among_learned_numbers_is_refused_with_its_row() -> None:
    learned = data_of(pl.DataFrame({"a": [1, 2], "label": [0, 1]}), label="label")
    with pytest.raises(ScoreError, match="row 2: column 'a': found 'b', expected a number"):
        data_of(pl.DataFrame({"a": ["1", "b"], "label": [0, 1]}), label="label", like=learned)


def test_dates_in_text_files_are_told_to_be_no_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "a,seen,version,label\n1,2026-03-02 10:00,2026-03-02b,0\n2,,x,1\n")
    (note,) = [note for note in read_data(path, label="label").notes if "times" in note]
    assert note.startswith("column 'seen': times are learned as text")
