"""From files to an evaluation: the same rows in any format give the same document."""

import gzip
import json
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import AssayError
from assay.sources.coded import LabelDigest
from assay.sources.columns import labels_of

ROWS = 3000
KINDS = ("dos", "scan", "exfiltration")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """Rows with awkward float64 scores, text labels, a family and a protocol."""
    random = np.random.default_rng(11)
    attack = random.random(ROWS) < 0.3
    score = 1 / (1 + np.exp(-random.normal(np.where(attack, 1.0, -1.5), 1.3)))
    score[:4] = [5e-324, 0.1 + 0.2, 1 - 2**-53, 1e-17]
    return pl.DataFrame(
        {
            "label": np.where(attack, "attack", "normal"),
            "score": score,
            "kind": np.where(attack, random.choice(KINDS, ROWS), "-"),
            "protocol": random.choice(["tcp", 'u"dp', "ic,mp", "caf\u00e9"], ROWS),
            "host": random.integers(0, 40, ROWS),
        }
    )


def write_csv(frame: pl.DataFrame, folder: Path) -> str:
    frame.write_csv(folder / "rows.csv")
    return str(folder / "rows.csv")


def write_tsv(frame: pl.DataFrame, folder: Path) -> str:
    frame.write_csv(folder / "rows.tsv", separator="\t", line_terminator="\r\n")
    return str(folder / "rows.tsv")


def write_bom(frame: pl.DataFrame, folder: Path) -> str:
    frame.write_csv(folder / "rows.csv", include_bom=True)
    return str(folder / "rows.csv")


def write_gzip(frame: pl.DataFrame, folder: Path) -> str:
    (folder / "rows.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    return str(folder / "rows.csv.gz")


def write_zstd(frame: pl.DataFrame, folder: Path) -> str:
    zstd = pytest.importorskip("backports.zstd")
    (folder / "rows.jsonl.zst").write_bytes(zstd.compress(frame.write_ndjson().encode()))
    return str(folder / "rows.jsonl.zst")


def write_jsonl(frame: pl.DataFrame, folder: Path) -> str:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    return str(folder / "rows.jsonl")


def write_parquet(frame: pl.DataFrame, folder: Path) -> str:
    frame.write_parquet(folder / "rows.parquet", row_group_size=700)
    return str(folder / "rows.parquet")


def write_categories(frame: pl.DataFrame, folder: Path) -> str:
    as_categories = frame.with_columns(pl.col("label", "kind", "protocol").cast(pl.Categorical))
    as_categories.write_parquet(folder / "rows.parquet")
    return str(folder / "rows.parquet")


def write_arrow(frame: pl.DataFrame, folder: Path) -> str:
    frame.write_ipc(folder / "rows.arrow")
    return str(folder / "rows.arrow")


def write_npz(frame: pl.DataFrame, folder: Path) -> str:
    np.savez(folder / "rows.npz", **{n: np.array(frame[n].to_list()) for n in frame.columns})
    return str(folder / "rows.npz")


def write_npy(frame: pl.DataFrame, folder: Path) -> str:
    text = [(name, "U20") for name in ("label", "kind", "protocol")]
    table = np.zeros(len(frame), [*text, ("score", "f8"), ("host", "i4")])
    for name in frame.columns:
        table[name] = frame[name].to_list()
    np.save(folder / "rows.npy", table)
    return str(folder / "rows.npy")


def write_sqlite(frame: pl.DataFrame, folder: Path) -> str:
    with sqlite3.connect(folder / "rows.db") as base:
        base.execute("create table rows (label text, score real, kind text, protocol text, host)")
        base.executemany("insert into rows values (?, ?, ?, ?, ?)", frame.iter_rows())
    base.close()
    return f"sqlite:{folder / 'rows.db'}?select * from rows"


def write_duckdb(frame: pl.DataFrame, folder: Path) -> str:
    write_parquet(frame, folder)
    with duckdb.connect(folder / "rows.duckdb") as base:
        base.execute("create table rows as from read_parquet(?)", [str(folder / "rows.parquet")])
    return f"duckdb:{folder / 'rows.duckdb'}?select * from rows"


def write_parts(frame: pl.DataFrame, folder: Path) -> str:
    (folder / "parts").mkdir()
    frame[:1234].write_parquet(folder / "parts" / "a.parquet")
    frame[1234:].write_csv(folder / "parts" / "b.csv")
    return str(folder / "parts")


WRITERS = (
    write_csv,
    write_tsv,
    write_bom,
    write_gzip,
    write_zstd,
    write_jsonl,
    write_parquet,
    write_categories,
    write_arrow,
    write_npz,
    write_npy,
    write_sqlite,
    write_duckdb,
    write_parts,
)


def document(source: str, batch_rows: int = 1 << 20, **options) -> str:
    """The JSON of an evaluation, without the name of its source."""
    request = assay.Request(
        slices=("protocol",), family="kind", cluster="host", batch_rows=batch_rows
    )
    content = assay.evaluate_files(source, request, base_rate=0.01, volume=1e5, **options).to_dict()
    content["source"].pop("name")
    content["source"].pop("labels_sha256", None)
    return json.dumps(content, allow_nan=False)


@pytest.fixture(scope="module")
def expected(frame: pl.DataFrame) -> str:
    evaluation = assay.Evaluation(
        assay.count(
            frame["label"],
            y_score=frame["score"],
            slices={"protocol": frame["protocol"], "kind": frame["kind"]},
            clusters=frame["host"],
        ),
        base_rate=0.01,
        volume=1e5,
        family="kind",
        source={"name": "", "rows_read": ROWS},
    ).to_dict()
    evaluation["source"].pop("name")
    return json.dumps(evaluation, allow_nan=False)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("write", WRITERS, ids=lambda w: w.__name__.removeprefix("write_"))
def test_a_format_gives_the_document_of_the_arrays(write, frame, expected, tmp_path) -> None:
    assert document(write(frame, tmp_path)) == expected


@pytest.mark.parametrize("rows", [7, 1 << 20])
def test_the_digest_of_labels_does_not_depend_on_how_rows_are_read(
    rows: int, frame: pl.DataFrame, tmp_path: Path
) -> None:
    digest = LabelDigest()
    digest.add(labels_of(frame["label"], "label"))
    request = assay.Request(batch_rows=rows, chunk_bytes=1000 * rows)
    for place in (write_csv(frame, tmp_path), write_parquet(frame, tmp_path)):
        source = assay.evaluate_files(place, request).to_dict()["source"]
        assert source["labels_sha256"] == digest.hexdigest()
    moved = write_csv(frame.reverse(), tmp_path)
    assert assay.evaluate_files(moved).source["labels_sha256"] != digest.hexdigest()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_parquet, write_sqlite])
@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
def test_the_size_of_a_batch_does_not_matter(write, batch_rows, frame, expected, tmp_path) -> None:
    if batch_rows == 1:
        frame = frame[:200]
        source = write(frame, tmp_path)
        assert document(source, 1) == document(source)
    else:
        assert document(write(frame, tmp_path), batch_rows) == expected


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_the_number_of_threads_does_not_matter(threads, frame, tmp_path, monkeypatch) -> None:
    many = pl.concat([frame] * 120).with_columns(score=pl.col("score").shuffle(seed=1))
    source = write_parquet(many, tmp_path)
    monkeypatch.setenv("ASSAY_THREADS", "3")
    usual = document(source)
    monkeypatch.setenv("ASSAY_THREADS", threads)
    assert document(source) == usual


def test_labels_may_be_named_as_text_whatever_the_file_holds(tmp_path) -> None:
    for name, labels in {"n": [1, 0, 1, -1], "b": [True, False, True, False]}.items():
        path = tmp_path / f"{name}.parquet"
        pl.DataFrame({"y_true": labels, "score": [0.9, 0.1, 0.8, 0.2]}).write_parquet(path)
        assert assay.evaluate_files(str(path), positive="1")["recall"] == 1


def test_every_other_label_is_positive_and_keeps_its_name(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,score\nnormal,0.1\ndos,0.9\nscan,0.2\ndos,0.8\n")
    evaluation = assay.evaluate_files(str(path), negative="normal")
    assert evaluation.family == "family"
    assert evaluation.of_slice("family", "dos")["recall"] == 1
    assert evaluation.of_slice("family", "scan")["recall"] == 0


def test_slices_add_up_to_the_whole(frame, tmp_path) -> None:
    request = assay.Request(slices=("protocol",), family="kind")
    evaluation = assay.evaluate_files(write_parquet(frame, tmp_path), request)
    for column in ("protocol", "kind"):
        parts = [c for (name, _), c in evaluation.tally.slices.items() if name == column]
        assert sum(parts[1:], start=parts[0]) == evaluation.confusion


def test_rows_that_were_skipped_are_counted_and_listed(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,score\nattack,0.9\n,0.5\nnormal,nan\nnormal,0.1\n")
    with pytest.raises(AssayError, match=r"rows\.csv"):
        assay.evaluate_files(str(path))
    source = assay.evaluate_files(str(path), assay.Request(on_bad_row="skip")).to_dict()["source"]
    assert (source["rows_read"], source["rows_used"], source["rows_refused"]) == (4, 2, 2)
    assert [refused["row"] for refused in source["refused"]] == [2, 3]


def test_only_alerts_were_labelled(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    rows = ["attack,0.9"] * 8 + ["normal,0.8"] * 2 + [",0.7"] * 5 + [",0.2"] * 85
    path.write_text("\n".join(["label,score", *rows]) + "\n")
    evaluation = assay.evaluate_files(str(path), assay.Request(unlabelled=True))
    assert evaluation["precision"] == 0.8
    assert evaluation["alert_rate"] == 0.15
    assert "not labelled" in evaluation["recall"].undefined
    assert evaluation.to_dict()["unlabelled"] == {"flagged": 5, "not_flagged": 85}


def test_decisions_of_rows_without_a_label_count_too(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    rows = ["1,1"] * 6 + ["0,1"] * 2 + [",1"] * 2 + [",0"] * 10
    path.write_text("\n".join(["label,decision", *rows]) + "\n")
    evaluation = assay.evaluate_files(str(path), assay.Request(unlabelled=True))
    assert evaluation["precision"] == 0.75
    assert evaluation["alert_rate"] == 0.5


def test_a_weighted_sample_of_the_others_gives_the_detection_rate(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    rows = ["1,0.9,1"] * 80 + ["0,0.9,1"] * 20 + ["1,0.1,10"] * 2 + ["0,0.1,10"] * 98
    rows += [",0.1,"] * 900
    path.write_text("\n".join(["label,score,w", *rows]) + "\n")
    evaluation = assay.evaluate_files(str(path), assay.Request(unlabelled=True, weight="w"))
    assert evaluation["recall"] == 0.8
    assert evaluation["recall"].method == "horvitz-thompson"


def test_scores_outside_of_0_and_1_of_rows_without_a_label_need_a_threshold(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,score\n1,0.9\n0,0.6\n,7.5\n")
    with pytest.raises(AssayError, match="threshold"):
        assay.evaluate_files(str(path), assay.Request(unlabelled=True))


def test_days_become_periods(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    times = ["2024-03-01T10:00:00Z", "2024-03-01T23:59:59Z", "2024-03-02T00:00:00Z"]
    rows = [f"{label},{score},{when}" for when in times for label, score in ((1, 0.9), (0, 0.6))]
    path.write_text("\n".join(["label,score,seen", *rows]) + "\n")
    evaluation = assay.evaluate_files(str(path), assay.Request(time="seen"))
    assert (evaluation.time, evaluation.period) == ("seen", "day")
    assert (evaluation.alerts_per_day.least, evaluation.alerts_per_day.most) == (2, 4)
    assert evaluation.over_time.names == ("2024-03-01", "2024-03-02")
    assert evaluation.of_slice("seen", "2024-03-01")["recall"] == 1


def test_the_probability_of_one_class_is_a_score_for_it(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,p\nx,0.9\ny,0.2\nx,0.7\ny,0.6\n")
    request = assay.Request(probabilities={"x": "p"})
    evaluation = assay.evaluate_files(str(path), request)
    assert (evaluation.positive, evaluation["recall"], evaluation["specificity"]) == ("x", 1, 0.5)
    with pytest.raises(AssayError, match="only probability is that of 'x'"):
        assay.evaluate_files(str(path), request, positive="y")


def test_counts_of_rows_without_a_label_count(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,score,k\nattack,0.9,3\nnormal,0.8,1\n,0.7,6\n,0.1,90\n")
    evaluation = assay.evaluate_files(str(path), assay.Request(unlabelled=True, count="k"))
    assert evaluation["precision"] == 0.75
    assert evaluation["alert_rate"] == 0.1


def test_probabilities_decide_on_rows_without_a_label_too(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,p_a,p_n\na,0.9,0.1\nn,0.8,0.2\n,0.7,0.3\n,0.1,0.9\n")
    request = assay.Request(unlabelled=True, probability_pattern="p_*")
    evaluation = assay.evaluate_files(str(path), request, positive="a")
    assert evaluation["alert_rate"] == 0.75


def test_a_threshold_means_that_scores_decide(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,score,decision\n1,0.9,0\n0,0.2,1\n1,0.7,0\n")
    assert assay.evaluate_files(str(path))["recall"] == 0
    assert assay.evaluate_files(str(path), threshold=0.5)["recall"] == 1


@pytest.mark.parametrize("role", ["score", "decision", "weight"])
def test_a_column_has_one_role(role, tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,score\n1,0.9\n0,0.2\n")
    with pytest.raises(AssayError, match=f"can't be the label and the {role} at once"):
        assay.evaluate_files(str(path), assay.Request(label="label", **{role: "label"}))


@pytest.mark.parametrize(
    "option", [{"delimiter": ";"}, {"encoding": "cp1252"}, {"quote": "'"}, {"skip_lines": 1}]
)
@pytest.mark.parametrize("write", [write_parquet, write_sqlite, write_npz])
def test_how_to_read_text_does_not_apply_to_other_files(write, option, frame, tmp_path) -> None:
    source = write(frame[:9], tmp_path)
    with pytest.raises(AssayError, match="does not apply"):
        assay.evaluate_files(source, assay.Request(**option))


@pytest.mark.parametrize(
    "labels",
    [("attack", "Attack"), ("attack", "attack "), ("caf\u00e9", "cafe\u0301"), ("1", "1.0")],
)
def test_labels_that_look_alike_are_told(labels, tmp_path) -> None:
    path = tmp_path / "rows.csv"
    rows = "".join(f"{label},0.9\n" for label in labels)
    path.write_text(f"label,score\nnormal,0.1\n{rows}", encoding="utf-8")
    evaluation = assay.evaluate_files(str(path), negative="normal")
    assert "differ only in how they are written" in evaluation.notes[0]
    with pytest.raises(AssayError, match="differ only in how they are written"):
        assay.evaluate_files(str(path))
