"""Names that act on whoever reads them: neutral, whatever they name and in every face."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the web app needs the extra web")

from tests.web.harness import Harness

import assay

ATTACKS = {
    "colour": "\x1b[31mred",
    "title": "\x1b]0;owned\x07",
    "one byte": "\x9b31mred",
    "turned": "\u202egnp.exe",
    "isolated": "\u2067right",
    "back": "a\x08\x08b",
    "overwritten": "ok\rnot ok",
    "line": "a\nassay: error: made up",
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+cmd",
    "minus": "-2+3",
    "at": "@SUM(1+1)",
}
FACES = ("terminal", "markdown", "latex", "csv", "html", "json")
# Line ends are the face's own; names with one of theirs would show as further lines.
_FINE = "\n\t"
_FORMULA = re.compile(r"[\s\0]*[=+@-]")
_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)


def acting(text: str) -> list[str]:
    """The characters of a text that act on a terminal or turn it around."""
    kinds = ("Cc", "Cf", "Zl", "Zp", "Co", "Cn")
    return [
        repr(character)
        for character in sorted(set(text.replace("\r\n", "\n")) - set(_FINE))
        if unicodedata.category(character) in kinds
        and character not in "\u200b\ufeff\u00ad\u2068\u2069\u2066"
    ]


def formulas(text: str) -> list[str]:
    """The cells of CSV that a spreadsheet would run."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    return [cell for cell in cells if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)]


def must_be_neutral(text: str, face: str) -> None:
    """Refuse what acts, a line that a name has made up, and formulas where there are cells."""
    assert acting(text) == []
    assert "\nassay: error: made up" not in text
    if face == "csv":
        assert formulas(text) == []


@pytest.fixture(params=ATTACKS, ids=[name.replace(" ", "-") for name in ATTACKS])
def attack(request: pytest.FixtureRequest) -> str:
    return ATTACKS[request.param]


def rows_of(attack: str) -> dict[str, list[str]]:
    """Predictions in which everything has such a name."""
    rows = range(60)
    bad = [i % 4 == 0 for i in rows]
    return {
        f"{attack} label": [f"{attack} {'bad' if bad[i] else 'good'}" for i in rows],
        "score": [f"{(i * 7 % 50) / 100 + 0.4 * bad[i]:.2f}" for i in rows],
        f"{attack} other": [f"{(i * 3 % 50) / 100 + 0.3 * bad[i]:.2f}" for i in rows],
        f"{attack} site": [f"{attack} site {i % 2}" for i in rows],
        f"{attack} family": [f"{attack} family {i % 3}" if bad[i] else "" for i in rows],
        f"{attack} host": [f"{attack} host {i % 7}" for i in rows],
        "time": [f"2026-03-{1 + i // 6:02}T{i % 24:02}:00:00Z" for i in rows],
        f"{attack} incident": [f"{attack} incident {i // 20}" if bad[i] else "" for i in rows],
    }


@pytest.fixture
def named(attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of such rows, of such a name, in the folder that is worked in."""
    monkeypatch.chdir(tmp_path)
    columns = rows_of(attack)
    name = attack.replace("/", "") + ".csv"
    with Path(name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return f"./{name}"


def lines(attack: str, file: str) -> dict[str, list[str]]:
    """Command lines that show each kind of name that a user can give."""
    label = ["--label", f"{attack} label", "--positive", f"{attack} bad"]
    # A model is named before an equals sign; the full-width one is run as a formula, too.
    text = attack.replace("=", "\uff1d")
    claims = {
        "claim": [
            {
                "name": f"{attack} claim",
                "source": f"{attack} source",
                "labels": [f"{attack} a", f"{attack} b"],
                "positive": f"{attack} b",
                "matrix": [[5, 1], [2, 9]],
                "reported": {"accuracy": "0.99", "recall": "0.5"},
            }
        ]
    }
    Path("claims.json").write_text(json.dumps(claims))
    rule = {"name": f"{attack} rule", "rule": "new(recall) >= 0.99", "reason": f"{attack} reason"}
    Path("gate.toml").write_text(
        "[[rule]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in rule.items())
    )
    return {
        "evaluate": ["evaluate", file, *label, "--score", "score", "--slice", f"{attack} site",
                     "--family", f"{attack} family", "--cluster", f"{attack} host"],
        "compare": ["compare", file, *label, "--model", f"{text} old=score",
                    "--model", f"{text} new={attack} other", "--resamples", "20"],
        "threshold": ["threshold", file, *label, "--score", "score", "--max-fpr", "20%",
                      "--family", f"{attack} family", "--resamples", "20"],
        "gate": ["gate", file, *label, "--score", "score", "--rules", "gate.toml",
                 "--junit", "gate.xml"],
        "audit": ["audit", "claims.json"],
        "monitor": ["monitor", file, *label, "--score", "score", "--time", "time", "--rule",
                    "precision >= 0.5", "--metrics", "assay.prom", "--reference", file,
                    "--feature", f"{attack} site"],
        "incidents": ["incidents", file, "--time", "time", "--incident", f"{attack} incident",
                      "--score", "score"],
        "check": ["check", file, *label],
    }  # fmt: skip


COMMANDS = ("evaluate", "compare", "threshold", "gate", "audit", "monitor", "incidents", "check")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("command", COMMANDS)
def test_names_are_neutral_in_every_face(
    command: str, face: str, attack: str, named: str, cli: Callable[..., Any]
) -> None:
    line = lines(attack, named)[command]
    outcome = cli(*line, "--format", face)
    assert outcome.code in (0, 1), outcome.err
    must_be_neutral(outcome.out, face)
    must_be_neutral(outcome.err, "log")
    for side in ("gate.xml", "assay.prom"):
        if Path(side).exists():
            must_be_neutral(Path(side).read_text(), side)


@pytest.mark.sampled(1)
def test_names_are_neutral_in_errors(attack: str, named: str, cli: Callable[..., Any]) -> None:
    for line in (
        ["evaluate", f"{attack} none.csv"],
        ["evaluate", named, "--label", f"{attack} none"],
        ["evaluate", named, "--label", f"{attack} label", "--positive", f"{attack} none"],
        ["evaluate", named, "--label", f"{attack} label", "--score", f"{attack} site"],
        ["gate", named, "--rule", f"{attack} rule"],
        ["show", f"{attack} none.json"],
        ["runs", "show", f"{attack} none", "--store", "runs.db"],
        ["measures", f"{attack} none"],
        [f"{attack} none"],
        ["evaluate", named, f"--{attack}"],
    ):
        outcome = cli(*line)
        assert outcome.code in (2, 3), line
        must_be_neutral(outcome.err, "log")
        must_be_neutral(outcome.out, "terminal")


@pytest.mark.slow
def test_names_are_neutral_in_figures(attack: str, named: str, cli: Callable[..., Any]) -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra plot")
    outcome = cli(*lines(attack, named)["evaluate"], "--figures", "figures", "--out", "x.json")
    assert outcome.code == 0, outcome.err
    drawn = list(Path("figures").iterdir())
    assert drawn
    for path in drawn:
        if path.suffix in (".svg", ".tex", ".pgf"):
            must_be_neutral(path.read_text(), path.suffix)


@pytest.mark.sampled(1)
def test_names_of_runs_are_neutral(attack: str, named: str, cli: Callable[..., Any]) -> None:
    kept = cli(
        *lines(attack, named)["evaluate"], "--record", attack, "--tag", "x", "--store", "runs.db"
    )
    tagged = cli(
        *lines(attack, named)["evaluate"],
        "--record",
        "flows",
        "--tag",
        attack,
        "--store",
        "runs.db",
    )
    noted = cli(
        *lines(attack, named)["evaluate"],
        "--record",
        "flows",
        "--note",
        attack,
        "--store",
        "runs.db",
    )
    for outcome in (kept, tagged, noted):
        assert outcome.code in (0, 2, 3)
        must_be_neutral(outcome.err, "log")
    for face in ("terminal", "markdown", "csv"):
        listed = cli("runs", "list", "--store", "runs.db", "--format", face)
        must_be_neutral(listed.out + listed.err, face)
    with assay.Store("runs.db") as store, Harness(store) as app:
        runs = store.runs().runs
        for page in ("/", *(f"/runs/{run.id}" for run in runs), "/trend?name=flows", "/metrics"):
            answer = app.get(page)
            must_be_neutral(answer.text, "html")


HIDDEN = "\x9b31m\u202e\u2066\u2028\u200b é"


def test_json_keeps_the_value_of_a_label_that_it_escapes(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("label,score\n" + f"{HIDDEN},0.9\nnormal,0.1\n" * 5, "utf-8")
    outcome = cli("evaluate", rows, "--format", "json")
    assert json.loads(outcome.out)["positive"] == HIDDEN
    assert r"\u009b31m\u202e\u2066\u2028\u200b é" in outcome.out
    assert not set(HIDDEN[:-2]) & set(outcome.out) - set("31m")


def test_lines_of_json_escape_what_acts(cli: Callable[..., Any], tmp_path: Path) -> None:
    rows, flips = tmp_path / "rows.csv", tmp_path / "flips.jsonl"
    rows.write_text("label,a,b\n" + f"{HIDDEN},0.9,0.1\nnormal,0.1,0.2\n" * 5, "utf-8")
    line = ("--label", "label", "--model", "old=a", "--model", "new=b", "--resamples", "20")
    assert cli("compare", rows, *line, "--flips", flips).code == 0
    (first, *_) = flips.read_text("utf-8").split("\n")
    assert json.loads(first)["label"] == HIDDEN
    assert acting(first) == []
    assert "\u200b" not in first
