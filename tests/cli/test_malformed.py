"""Input that can't be used: exit code 3, one message that names the file and the place."""

import gzip
import io
import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

GOOD = "label,score\nattack,0.9\nnormal,0.1\nattack,0.7\nnormal,0.3\n"


@dataclass(frozen=True)
class Case:
    """A file that can't be used, how it is asked for, and what has to be said."""

    name: str
    content: bytes | Callable[[Path], None] | None
    said: tuple[str, ...]
    options: tuple[str, ...] = ()
    asked: str = "{}"

    def write(self, path: Path) -> None:
        if isinstance(self.content, bytes):
            path.write_bytes(self.content)
        elif self.content is not None:
            self.content(path)


def text(name: str, content: str, *said: str, options: tuple[str, ...] = ()) -> Case:
    return Case(name, content.encode(), said, options)


def frame(name: str, columns: dict[str, Any], *said: str, options: tuple[str, ...] = ()) -> Case:
    writer = "write_parquet" if name.endswith("parquet") else "write_ipc"
    return Case(name, getattr(pl.DataFrame(columns), writer), said, options)


def arrays(name: str, *said: str, options: tuple[str, ...] = (), **columns: Any) -> Case:
    return Case(name, lambda path: np.savez(path, **columns), said, options)


def database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("create table flows (label text, score real)")
    connection.execute("insert into flows values ('attack', 0.5)")
    connection.commit()
    connection.close()


def parquet() -> bytes:
    held = io.BytesIO()
    pl.DataFrame({"label": ["attack", "normal"] * 50, "score": [0.5] * 100}).write_parquet(held)
    return held.getvalue()


def bent(content: bytes) -> bytes:
    """Content with its middle gone wrong."""
    half = len(content) // 2
    return (
        content[:half]
        + bytes(255 - byte for byte in content[half : half + 50])
        + content[half + 50 :]
    )


MANY = "label,score\n" + "".join(f"id-{i},0.5\n" for i in range(1500))
LINES = "".join(f"{'attack' if i % 3 else 'normal'},0.{i % 10}\n" for i in range(300_000))

CASES = [
    # -- nothing there
    Case("missing.csv", None, ("there is no file",)),
    text("empty.csv", "", "empty"),
    text("blank.csv", "\n\n\n", "empty|blank|line 1"),
    Case("bom.csv", b"\xef\xbb\xbf", ("empty",)),
    text("header.csv", "label,score\n", "no rows"),
    Case("empty.parquet", b"", ("empty|not a Parquet|Parquet",)),
    Case("folder", lambda path: path.mkdir(), ("a folder without files",)),
    Case("nothing-*.csv", None, ("match|no file",), ("--glob",)),
    frame("no-rows.parquet", {"label": [], "score": []}, "no rows"),
    # -- text whose structure is broken
    text("short.csv", GOOD + "attack\n", "line 6"),
    text("long.csv", GOOD + "attack,0.5,x\n", "line 6"),
    text("open.csv", GOOD + 'attack,"0.5\n', "line 6", "quote"),
    text("after.csv", GOOD + '"attack"x,0.5\n', "line 6", "quote"),
    text("stray.csv", GOOD + 'att"ack,0.5\n', "line 6", "quote"),
    text("blank-line.csv", GOOD + "\nattack,0.5\n", "line 6", "blank"),
    text("twice.csv", "label,score,score\nattack,0.5,0.5\n", "'?score'?", "twice|duplicate|2"),
    text("unnamed.csv", "label,,score\nattack,1,0.5\n", "name|header|column"),
    Case("nul.csv", GOOD.encode() + b"attack\0,0.5\n", ("line 6", "NUL")),
    text("semicolon.csv", GOOD.replace(",", ";"), "column", "label"),
    Case("late.csv", b"label,score\n" + LINES.encode() + b"attack\n", ("line 300,?002",)),
    # -- encodings
    Case("cp1252.csv", GOOD.encode() + "s\xe9curit\xe9,0.5\n".encode("cp1252"), ("byte 57",)),
    Case("utf16.csv", GOOD.encode("utf-16"), ("byte 0", "UTF-16")),
    Case("late-latin.csv", b"label,score\n" + LINES.encode() + b"\xe9,0.5\n", ("byte 3300012",)),
    Case("wrong.csv", GOOD.encode() + b"\xff,0.5\n", ("ascii",), ("--encoding", "ascii")),
    # -- columns
    text("nolabel.csv", "lable,score\nattack,0.5\n", "label", "lable"),
    text("noscore.csv", "label,sccore\nattack,0.5\n", "score|decision", "sccore"),
    text("named.csv", GOOD, "'?lable'?", "label", options=("--label", "lable")),
    text("slice.csv", GOOD, "'?scor'?", "score", options=("--slice", "scor")),
    text("two-labels.csv", "label,y_true,score\n1,1,0.5\n0,0,0.4\n", "label", "y_true"),
    text("two-scores.csv", "label,score,prob\n1,0.5,0.5\n0,0.4,0.5\n", "score", "prob"),
    text("id.csv", MANY, "1,?000|1,?001|1,?500", "id"),
    frame("nested.parquet", {"label": [["a"], ["b"]], "score": [0.1, 0.2]}, "label"),
    # -- values
    text("word.csv", GOOD + "attack,high\n", "line 6|row 5", "high"),
    text("nan.csv", GOOD + "attack,nan\n", "line 6|row 5", "score|finite|number"),
    text("inf.csv", GOOD + "attack,inf\n", "line 6|row 5", "score|finite"),
    text("noscore-value.csv", GOOD + "attack,\n", "line 6|row 5", "score"),
    text("nolabel-value.csv", GOOD + ",0.5\n", "line 6|row 5", "label"),
    frame("null.parquet", {"label": ["attack", None], "score": [0.1, 0.2]}, "row 2", "label"),
    frame("nan.parquet", {"label": ["attack", "normal"], "score": [0.1, float("nan")]}, "row 2"),
    frame("text.parquet", {"label": ["attack", "normal"], "score": ["a", "b"]}, "row 1", "score"),
    text(
        "count.csv",
        "label,score,n\nattack,0.5,-1\nnormal,0.4,2\n",
        "n",
        "-1",
        options=("--count", "n"),
    ),
    text(
        "half.csv",
        "label,score,n\nattack,0.5,1.5\nnormal,0.4,2\n",
        "n",
        "1.5",
        options=("--count", "n"),
    ),
    text(
        "weight.csv",
        "label,score,w\nattack,0.5,-2\nnormal,0.4,2\n",
        "w",
        "-2",
        options=("--weight", "w"),
    ),
    text(
        "time.csv",
        "label,score,t\nattack,0.5,yesterday\nnormal,0.4,today\n",
        "t",
        "yesterday",
        options=("--time", "t"),
    ),
    text(
        "zones.csv",
        "label,score,t\nattack,0.5,2026-03-01T00:00:00Z\nnormal,0.4,2026-03-01T00:00:00\n",
        "zone",
        options=("--time", "t"),
    ),
    text(
        "sum.csv",
        "label,p_a,p_b,p_c\na,0.5,0.2,0.2\nb,0.1,0.8,0.1\nc,0,0,1\n",
        "sum",
        options=("--probabilities", "p_*"),
    ),
    text(
        "noprob.csv",
        "label,p_a,p_b\na,0.5,0.5\nb,0.1,0.9\n",
        "p_c",
        options=("--probability", "a=p_a", "--probability", "b=p_c"),
    ),
    # -- labels
    text("ab.csv", "label,score\na,0.5\nb,0.4\n", "'a'", "'b'", "--positive"),
    text("signs.csv", "label,score\n-1,0.5\n1,0.4\n", "-1", "--positive"),
    text("absent.csv", GOOD, "'ddos'", "attack", options=("--positive", "ddos")),
    text("unlisted.csv", GOOD, "'normal'", "--labels", options=("--labels", "attack,benign")),
    text("one.csv", "label,score\nx,0.5\nx,0.4\n", "'x'", "--positive"),
    text("apart.csv", "label,decision\nattack,ATTACK\nnormal,NORMAL\n", "common|spelling"),
    # -- JSON lines
    text("broken.jsonl", '{"label":"attack","score":0.5}\n{"label":\n', "line 2"),
    text("array.jsonl", '{"label":"attack","score":0.5}\n[1,2]\n', "line 2"),
    text(
        "missing-key.jsonl",
        '{"label":"attack","score":0.5}\n{"label":"normal"}\n',
        "line 2|row 2",
        "score",
    ),
    text(
        "null.jsonl",
        '{"label":"attack","score":0.5}\n{"label":null,"score":1}\n',
        "line 2|row 2",
        "label",
    ),
    # -- other formats
    text("text.parquet", GOOD, "Parquet"),
    Case("cut.parquet", parquet()[:-20], ("Parquet|cut|truncated",)),
    Case(
        "flipped.parquet", parquet()[:40] + b"\xff" * 40 + parquet()[80:], ("Parquet|damaged|read",)
    ),
    text("text.arrow", GOOD, "Arrow"),
    text("text.npz", GOOD, "npz|zip|archive"),
    arrays("keys.npz", "label", a=np.array([1.0]), b=np.array([2.0])),
    arrays("lengths.npz", "length|rows", label=np.array([0, 1]), score=np.array([0.5])),
    arrays(
        "object.npz", "object|pickle", label=np.array(["a", 1], object), score=np.array([0.5, 0.4])
    ),
    Case("plain.npy", lambda path: np.save(path, np.zeros((3, 2))), ("structured|columns|names",)),
    Case("cut.csv.gz", gzip.compress(GOOD.encode() * 50)[:-12], ("gzip|gz|cut|ends",)),
    Case("bent.csv.gz", bent(gzip.compress(LINES.encode())), ("gzip",)),
    Case("bent.csv.zst", b"\x28\xb5\x2f\xfd" + b"nonsense" * 20, ("zstd",)),
    Case("book.xlsx", lambda path: ZipFile(path, "w").close(), ("npz|empty",)),
    # -- databases
    Case("query.db", database, ("no such column",), (), "sqlite:{}?select void from flows"),
    Case("delete.db", database, ("only one SELECT",), (), "sqlite:{}?delete from flows"),
    Case("text.db", GOOD.encode(), ("no SQLite file",), (), "sqlite:{}?select 1"),
    Case("gone.db", None, ("there is no file",), (), "sqlite:{}?select 1"),
]


def check(case: Case, code: int, out: str, err: str) -> None:
    assert out == ""
    assert code == 3, err
    assert err.startswith("assay: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert case.name in err
    for pattern in case.said:
        assert re.search(pattern, err, re.IGNORECASE), (pattern, err)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_is_told_with_its_place(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    case.write(tmp_path / case.name)
    monkeypatch.chdir(tmp_path)
    outcome = cli("evaluate", case.asked.format(case.name), *case.options, "--format", "json")
    check(case, outcome.code, outcome.out, outcome.err)


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 60


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES[::15], ids=lambda case: case.name)
def test_a_process_of_its_own_says_the_same(
    shell: Callable[..., Any], tmp_path: Path, case: Case
) -> None:
    case.write(tmp_path / case.name)
    asked = case.asked.format(case.name)
    outcome = shell("evaluate", asked, *case.options, "--out", "out.html", cwd=tmp_path)
    check(case, outcome.code, outcome.out, outcome.err)
    assert not (tmp_path / "out.html").exists()


RULE = ("--label", "label", "--score", "score", "--id", "id", "--rule", "new(recall) >= 0.5")
EMPTY_INPUTS = {
    "evaluate": ("evaluate", ""),
    "evaluate, beside a file": ("evaluate", "{}", ""),
    "threshold": ("threshold", "", "--max-fpr", "0.5"),
    "holdout": ("threshold", "{}", "--max-fpr", "0.5", "--holdout", ""),
    "compare": ("compare", "", "--label", "label", "--model", "a=score", "--model", "b=id"),
    "folds": ("compare", "--folds", ""),
    "gate": ("gate", "", "--baseline", "{}", *RULE),
    "baseline": ("gate", "{}", "--baseline", "", *RULE),
    "rules": ("gate", "{}", "--baseline", "{}", *RULE[:-2], "--rules", ""),
    "audit": ("audit", ""),
    "check": ("check", "", "--label", "label"),
    "check, test part": ("check", "{}", "", "--label", "label"),
    "train": ("train", "tree", "", "--label", "label"),
    "predict, model": ("predict", "", "{}"),
}
EMPTY_OUTPUTS = {
    "out": ("evaluate", "{}", "--out", ""),
    "figures": ("evaluate", "{}", "--figures", ""),
    "junit": ("gate", "{}", "--baseline", "{}", *RULE, "--junit", ""),
    "train": ("train", "tree", "{}", "--label", "label", "--out", ""),
    "demo": ("demo", "--out", ""),
}


@pytest.mark.parametrize("case", EMPTY_INPUTS)
def test_an_empty_name_is_not_the_current_folder(
    case: str, cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text("id,label,score\n1,attack,0.9\n2,normal,0.1\n")
    done = cli(*(part.format("p.csv") for part in EMPTY_INPUTS[case]))
    assert (done.code, done.out) == (3, "")
    assert "name" in done.err
    assert "is empty" in done.err


@pytest.mark.parametrize("case", EMPTY_OUTPUTS)
def test_nothing_is_written_to_an_empty_name(
    case: str, cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text("id,label,score\n1,attack,0.9\n2,normal,0.1\n")
    done = cli(*(part.format("p.csv") for part in EMPTY_OUTPUTS[case]))
    assert done.code == 2
    assert "the name is empty" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_nothing_on_standard_input_is_told(shell: Callable[..., Any]) -> None:
    outcome = shell("evaluate", "-")
    assert outcome.code == 3
    assert "standard input" in outcome.err


def test_files_that_do_not_belong_together_are_told(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(GOOD)
    two.write_text(GOOD.replace("score", "rank"))
    outcome = cli("evaluate", one, two)
    assert outcome.code == 3
    assert "two.csv" in outcome.err
    assert "'score'" in outcome.err
    twice = cli("evaluate", one, one)
    assert twice.code == 3
    assert "given twice" in twice.err


@pytest.mark.slow
def test_a_bomb_is_counted_within_the_memory_that_is_allowed(
    shell: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "bomb.csv.gz"
    rows = gzip.compress(b"attack,0.5\nnormal,0.5\n" * 100_000)
    path.write_bytes(gzip.compress(b"label,score\n") + 60 * rows)
    assert path.stat().st_size < 1_000_000
    outcome = shell("evaluate", path, "--max-memory", "200MB", "--format", "json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["source"]["rows_read"] == 12_000_000


def test_a_process_that_takes_too_much_memory_ends_itself(
    shell: Callable[..., Any], flows: Path, tmp_path: Path
) -> None:
    outcome = shell("evaluate", flows, "--max-memory", "30MB", "--out", tmp_path / "r.html")
    assert outcome.code == 3
    assert outcome.out == ""
    assert outcome.err.startswith("assay: error: ")
    assert "--max-memory" in outcome.err
    before = re.search(r"; ([0-9]+) MB are needed before any row is read\. ", outcome.err)
    assert before is not None
    assert int(before[1]) > 0
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
