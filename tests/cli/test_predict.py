"""``assay predict``: what it writes, what it says, and what it refuses."""

import io
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import Pipeline

from assay.cli import messages, outputs
from assay.cli.predict import EXAMPLES
from assay.learn import predicting
from assay.learn.encoding import ColumnEncoder
from assay.learn.persistence import load_model, model_header, save_model
from assay.learn.recipes import Task, find_recipe
from assay.report.document import neutralised

Cli = Callable[..., Any]
LABELS = ("normal", "attack")


def table(rows: int, seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    size, rate = random.normal(size=(2, rows)).round(4)
    attack = rate + random.normal(size=rows) / 2 > 0.5
    return pl.DataFrame(
        {
            "flow": [f"f{i}" for i in range(rows)],
            "size": size,
            "rate": rate,
            "protocol": random.choice(["tcp", "udp"], rows),
            "label": np.array(LABELS)[attack.astype(int)],
        }
    )


def save(folder: Path, pipeline: Any, **header: Any) -> Path:
    rows = table(300)
    features = rows.drop("flow", "label")
    pipeline.fit(features, (rows["label"] == "attack").to_numpy().astype(int))
    given = {"labels": LABELS, "positive": "attack", "threshold": 0.5, **header}
    folder.mkdir()
    save_model(pipeline, folder / "model.skops", header=model_header(pipeline, features, **given))
    return folder


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model; not to be written to."""
    pipeline = find_recipe("forest").pipeline(Task(labels=LABELS), {"trees": 8})
    return save(tmp_path_factory.mktemp("model") / "run", pipeline)


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with types that are not on the list."""
    trees = ExtraTreesClassifier(3, random_state=1)
    pipeline = Pipeline([("columns", ColumnEncoder()), ("model", trees)])
    return save(tmp_path_factory.mktemp("model") / "own", pipeline)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    table(200, seed=2).write_csv(path)
    return path


def test_rows_that_the_model_learned_from_are_told(cli: Cli, tmp_path: Path) -> None:
    data, other = tmp_path / "data.csv", tmp_path / "other.csv"
    table(120, seed=1).write_csv(data)
    other.write_bytes(data.read_bytes().replace(b"0", b"1", 1))
    folder = tmp_path / "run"
    done = cli("train", "tree", data, "--label", "label", "--out", folder, "--quiet")
    assert done.code == 0, done.err
    told = f"{data} is what the model learned from"
    assert told in cli("predict", folder, data).err
    assert told in cli("predict", folder / "model.skops", data).err
    assert "learned from" not in cli("predict", folder, other).err


# -- what is written -------------------------------------------------------------------------------


def test_scores_go_to_standard_output_as_csv(cli: Cli, run: Path, new: Path) -> None:
    outcome = cli("predict", run, new)
    assert outcome.code == 0, outcome.err
    rows = pl.read_csv(io.StringIO(outcome.out))
    assert rows.columns == ["row", "score", "decision"]
    expected = load_model(run).pipeline.predict_proba(table(200, seed=2))[:, 1]
    assert rows["score"].to_list() == expected.tolist()
    assert "note: the model does not use 'flow', 'label'\n" in outcome.err
    flagged = int((expected >= 0.5).sum())
    said = f"200 rows, decided {200 - flagged} 'normal', {flagged} 'attack' (threshold 0.5)\n"
    assert said in outcome.err


def test_the_model_may_be_named_by_its_file_or_its_folder(cli: Cli, run: Path, new: Path) -> None:
    assert cli("predict", run, new).out == cli("predict", run / "model.skops", new).out


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow"])
def test_the_suffix_tells_the_format(
    cli: Cli, run: Path, new: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"p.{suffix}"
    outcome = cli("predict", run, new, "--id", "flow", "--keep", "label", "--out", out)
    assert (outcome.code, outcome.out) == (0, "")
    assert f"wrote {out}: 200 rows" in outcome.err
    readers = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}
    rows = readers.get(suffix, pl.read_ndjson)(out)
    assert rows.columns == ["flow", "label", "score", "decision"]
    plain = pl.read_csv(io.StringIO(cli("predict", run, new).out))
    assert rows["score"].equals(plain["score"])
    assert rows["flow"].equals(table(200, seed=2)["flow"])


def test_the_format_may_be_said(cli: Cli, run: Path, new: Path, tmp_path: Path) -> None:
    outcome = cli("predict", run, new, "--format", "jsonl")
    assert set(json.loads(outcome.out.splitlines()[0])) == {"row", "score", "decision"}
    out = tmp_path / "rows"
    assert cli("predict", run, new, "--format", "parquet", "--out", out).code == 0
    assert pl.read_parquet(out).height == 200


def test_the_same_command_gives_the_same_bytes(
    cli: Cli, run: Path, new: Path, tmp_path: Path
) -> None:
    for suffix in ("csv", "jsonl", "parquet"):
        contents = set()
        for name in ("a", "b"):
            out = tmp_path / f"{name}.{suffix}"
            assert cli("predict", run, new, "--out", out).code == 0
            contents.add(out.read_bytes())
        assert len(contents) == 1


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_predictions_can_be_judged_at_once(
    cli: Cli, run: Path, new: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"p.{suffix}"
    assert cli("predict", run, new, "--keep", "label", "--out", out).code == 0
    outcome = cli("evaluate", out, "--format", "json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert document["source"]["rows_used"] == 200
    rows = pl.read_parquet(out) if suffix == "parquet" else pl.read_csv(out)
    right = int((rows["label"] == rows["decision"]).sum())
    (tn, _), (_, tp) = document["confusion"]
    assert tn + tp == right > 120


def test_predictions_of_three_labels_can_be_judged_at_once(
    cli: Cli, tmp_path: Path, new: Path
) -> None:
    rows = table(300)
    labels = ("-1", "0", "=x")
    truth = np.digitize(rows["rate"].to_numpy(), [-0.3, 0.3])
    features = rows.drop("flow", "label")
    pipeline = find_recipe("tree").pipeline(Task(labels=labels)).fit(features, truth)
    header = model_header(pipeline, features, labels=labels, positive=None, threshold=None)
    save_model(pipeline, tmp_path / "model.skops", header=header)
    rows.with_columns(label=pl.Series(np.array(labels)[truth])).write_csv(new)
    out = tmp_path / "p.parquet"
    command = ("predict", tmp_path / "model.skops", new, "--keep", "label", "--out", out)
    assert cli(*command).code == 0
    outcome = cli("evaluate", out, "--probabilities", "p_*", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["labels"] == ["-1", "0", "=x"]


def test_formulas_are_made_harmless_in_csv_and_numbers_are_left(
    cli: Cli, run: Path, tmp_path: Path
) -> None:
    rows = table(5).with_columns(flow=pl.Series(["=1+1", "-1", "+1e5", "@x", "a,b"]))
    rows.write_csv(tmp_path / "odd.csv")
    outcome = cli("predict", run, tmp_path / "odd.csv", "--id", "flow")
    kept = pl.read_csv(io.StringIO(outcome.out))["flow"].to_list()
    assert kept == ["'=1+1", "-1", "+1e5", "'@x", "a,b"]
    outcome = cli("predict", run, tmp_path / "odd.csv", "--id", "flow", "--format", "jsonl")
    assert [json.loads(line)["flow"] for line in outcome.out.splitlines()] == rows["flow"].to_list()


@settings(max_examples=200)
@given(st.lists(st.text(max_size=6) | st.sampled_from(["=1", " @x", "\u200b-2+3", "'", "\uff0d1"])))
def test_formulas_are_those_that_reports_know(texts: list[str]) -> None:
    lines = outputs._neutralised(pl.Series("x", texts, pl.String)).to_list()
    numbers = [re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) for text in texts]
    expected = [
        text if number else neutralised(text) for text, number in zip(texts, numbers, strict=True)
    ]
    assert lines == expected


@pytest.mark.slow
def test_standard_input_is_read(cli: Cli, run: Path, new: Path, shell: Cli) -> None:
    with new.open("rb") as stream:
        outcome = shell("predict", run, "-", stdin=stream)
    assert outcome.code == 0, outcome.err
    assert outcome.out == cli("predict", run, new).out


def test_a_threshold_of_ones_own_decides(cli: Cli, run: Path, new: Path) -> None:
    outcome = cli("predict", run, new, "--threshold", "0.9")
    rows = pl.read_csv(io.StringIO(outcome.out))
    assert ((rows["score"] >= 0.9) == (rows["decision"] == "attack")).all()
    assert "(threshold 0.9)" in outcome.err


def test_quiet_says_nothing(cli: Cli, run: Path, new: Path) -> None:
    assert cli("predict", run, new, "--quiet").err == ""


def test_a_file_that_grows_while_it_is_read_is_told(
    cli: Cli, run: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def growing(*given: Any, **options: Any) -> Any:
        with new.open("a") as more:
            more.write("f200,0.5,0.5,tcp,normal\n")
        return predict(*given, **options)

    predict = predicting.predict
    out = tmp_path / "p.csv"
    assert "changed" not in cli("predict", run, new, "--out", out).err
    monkeypatch.setattr(predicting, "predict", growing)
    outcome = cli("predict", run, new, "--out", out)
    assert outcome.code == 0
    assert f"warning: {new} changed while it was read; the predictions are of what" in outcome.err
    assert len(out.read_text().splitlines()) == 202


def test_bad_rows_stop_or_are_left_out_and_listed(cli: Cli, run: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("size,rate,protocol\n1,2,tcp\n1,two,tcp\n3,4,udp\n")
    outcome = cli("predict", run, path)
    assert outcome.code == 3
    for part in ("bad.csv", "line 3", "'rate'", "'two'", "--on-bad-row skip"):
        assert part in outcome.err
    outcome = cli("predict", run, path, "--on-bad-row", "skip")
    assert outcome.code == 0
    assert "note: 1 of 3 rows was refused" in outcome.err
    assert "line 3" in outcome.err
    assert [line.split(",")[0] for line in outcome.out.splitlines()] == ["row", "1", "3"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_is_written_whole_or_not_at_all(
    cli: Cli, run: Path, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("size,rate,protocol\n" + "1,2,tcp\n" * 70_000 + "1,two,tcp\n")
    out = tmp_path / f"p.{suffix}"
    out.write_text("before")
    outcome = cli("predict", run, path, "--out", out)
    assert outcome.code == 3
    assert "line 70002" in outcome.err.replace(",", "")
    assert out.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.csv", out.name]


def test_a_file_that_is_replaced_keeps_its_mode(
    cli: Cli, run: Path, new: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.csv"
    out.touch(mode=0o640)
    assert cli("predict", run, new, "--out", out).code == 0
    assert out.stat().st_mode & 0o777 == 0o640


def test_the_examples_do_what_they_say(
    cli: Cli, run: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").symlink_to(run)
    for _, line in EXAMPLES:
        outcome = cli(*shlex.split(line)[1:])
        assert outcome.code == 0, (line, outcome.err)


# -- what is refused -------------------------------------------------------------------------------


def refused(outcome: Any, code: int, *parts: str) -> None:
    assert outcome.code == code, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("assay: error: ")
    assert "Traceback" not in outcome.err
    for part in parts:
        assert part in outcome.err


def test_types_that_are_not_trusted_are_refused_by_name(cli: Cli, own: Path, new: Path) -> None:
    outcome = cli("predict", own, new)
    names = (
        "sklearn.ensemble._forest.ExtraTreesClassifier",
        "sklearn.tree._classes.ExtraTreeClassifier",
    )
    refused(outcome, 3, "model.skops", *(f"--trust {name}" for name in names))
    trust = [part for name in names for part in ("--trust", name)]
    assert cli("predict", own, new, *trust).code == 0
    refused(cli("predict", own, new, *trust[:2]), 3, names[1])


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "nodots"])
def test_what_no_model_needs_cant_be_trusted(cli: Cli, run: Path, new: Path, name: str) -> None:
    refused(cli("predict", run, new, "--trust", name), 2, "--trust", name)


class Evil:
    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.canary}",)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_refused_and_runs_nothing(
    cli: Cli, new: Path, tmp_path: Path, protocol: int
) -> None:
    model = tmp_path / "model.skops"
    model.write_bytes(pickle.dumps(Evil(tmp_path / "canary"), protocol))
    refused(cli("predict", model, new), 3, "pickle", "never read")
    assert not (tmp_path / "canary").exists()


@pytest.mark.slow
def test_a_bomb_is_refused_in_little_memory(tmp_path: Path, run: Path, new: Path) -> None:
    """800 MB of zeros in 4 MB."""
    stream = io.BytesIO((run / "model.skops").read_bytes())
    with (
        zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("zeros.npy", "w") as member,
    ):
        for _ in range(40):
            member.write(bytes(20 << 20))
    model = tmp_path / "model.skops"
    model.write_bytes(stream.getvalue())
    # Not ru_maxrss, which starts at what the parent process holds.
    program = (
        "import re, sys; from pathlib import Path; from assay.cli.app import run;"
        "code = run(sys.argv[1:]); status = Path('/proc/self/status').read_text();"
        "print(re.search('VmHWM:\\\\s*([0-9]+)', status)[1]); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "predict", str(model), str(new)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert b"fill memory" in done.stderr
    assert int(done.stdout) < 500_000


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("nothing.skops", ("there is no model nothing.skops",)),
        ("empty", ("the folder empty has no model.skops",)),
    ],
)
def test_a_model_that_is_not_there_is_refused(
    cli: Cli,
    new: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    parts: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    refused(cli("predict", model, new), 3, *parts)


def test_columns_that_are_missing_are_named(cli: Cli, run: Path, tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("size,protcol\n1,tcp\n")
    refused(cli("predict", run, path, "--quiet"), 3, "short.csv", "'rate', 'protocol'")
    assert "note: the model does not use 'protcol'\n" in cli("predict", run, path).err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--out", "p.txt"], 2, "the suffix .txt tells no format"),
        (["--out", "nowhere/p.csv"], 4, "there is no folder nowhere"),
        (["--out", "new.csv"], 2, "is an input, which it would replace"),
        (["--keep", "score"], 3, "score"),
        (["--id", "nosuch"], 3, "'nosuch'"),
        (["--threshold", "x"], 2, "not a number"),
    ],
)
def test_wrong_options_are_refused_before_long(
    cli: Cli,
    run: Path,
    new: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(new.parent)
    refused(cli("predict", run, "new.csv", *options, "--quiet"), code, said)


def test_the_model_is_not_replaced_by_its_predictions(
    cli: Cli, run: Path, new: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.csv"
    model.write_bytes((run / "model.skops").read_bytes())
    refused(cli("predict", model, new, "--out", model), 2, "is the model")
    (tmp_path / "run").mkdir()
    inside = tmp_path / "run" / "model.skops"
    inside.write_bytes(model.read_bytes())
    outcome = cli("predict", inside.parent, new, "--out", inside, "--format", "csv")
    refused(outcome, 2, "is the model")


def test_without_the_extra_it_says_what_to_install(
    cli: Cli, run: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "find_spec", lambda name: None)
    refused(cli("predict", run, new), 2, "pip install 'assay-detectors[learn]'")


# -- processes -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_whoever_stops_reading_ends_it_quietly(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    table(40_000, seed=3).write_csv(path)
    line = f"{sys.executable} -m assay predict {run} {path} --quiet | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, check=False
    )
    assert done.stdout == b"row,score,decision\n"
    assert done.stderr == b""
    assert done.returncode in (0, 141)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_device_is_an_output_that_could_not_be_written(
    run: Path, new: Path, shell: Cli
) -> None:
    with Path("/dev/full").open("wb") as full:
        outcome = shell("predict", run, new, stdout=full)
    assert outcome.code == 4
    assert "could not be written" in outcome.err


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_interruption_leaves_nothing_half_written(
    run: Path, tmp_path: Path, suffix: str
) -> None:
    source = tmp_path / "in"
    os.mkfifo(source)
    out = tmp_path / f"p.{suffix}"
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", "predict", run, source, "--out", out],
        stderr=subprocess.PIPE,
    )
    rows = b"size,rate,protocol\n" + b"1,2,tcp\n" * 140_000
    with source.open("wb") as stream:
        stream.write(rows)
        stream.flush()
        until = time.monotonic() + 120
        while not any(each.name.startswith(".assay") for each in tmp_path.iterdir()):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130
    assert [each.name for each in tmp_path.iterdir()] == ["in"]
    assert process.stderr is not None
    process.stderr.close()
