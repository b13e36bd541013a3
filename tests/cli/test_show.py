"""``assay show``: stored documents are drawn again, compared, and refused where they are none."""

import hashlib
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import evaluate, gate
from assay.cli.app import run
from assay.cli.show import EXAMPLES
from assay.report import document_of
from assay.report.document import schema_of

Cli = Callable[..., Any]
FACES = ("terminal", "json", "csv", "markdown", "latex", "html")


def made(folder: Path, name: str = "a", **given: Any) -> Path:
    scores = [0.9, 0.8, 0.4, 0.3, 0.2, 0.1, 0.7, 0.6]
    evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 1], y_score=scores, **given)
    path = folder / f"{name}.json"
    path.write_text(document_of(evaluation).to_json())
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("face", FACES)
def test_a_stored_report_is_drawn_as_it_was(
    cli: Cli, tmp_path: Path, face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long commands are cut short.
    monkeypatch.chdir(tmp_path)
    table, stored = Path("rows.csv"), Path("report.json")
    table.write_text("label,score\n" + "1,0.9\n0,0.2\n1,0.7\n0,0.4\n" * 5)
    asked = ["evaluate", str(table)]
    assert cli(*asked, "--format", "json", "--out", str(stored), "--quiet").code == 0
    first = cli(*asked, "--format", face, "--quiet").out
    again = cli("show", str(stored), "--format", face).out
    if face in ("markdown", "html", "json"):
        # Only the command that was typed differs.
        first = first.replace(f" --format {face}", f" --format json --out {stored}")
        typed = json.loads(stored.read_text())["provenance"]["arguments"]
        assert typed["face"] == "json"
    if face != "json":
        assert again == first
    else:
        assert again == stored.read_text()


def test_provenance_is_in_the_json(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_bytes(b"label,score\n1,0.9\n0,0.2\n")
    provenance = json.loads(cli("evaluate", str(table), "--format", "json").out)["provenance"]
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    assert provenance["inputs"] == [{"name": str(table), "bytes": 24, "sha256": digest}]
    assert provenance["rows"] == 2
    assert provenance["seed"] == 42
    assert provenance["made"] == "2025-06-15T15:06:40Z"
    assert provenance["command"].startswith("assay evaluate ")
    assert provenance["arguments"] == {"files": [str(table)], "face": "json"}
    assert provenance["platform"]


def test_differences_are_told_in_the_order_that_was_typed(cli: Cli, tmp_path: Path) -> None:
    one, other = made(tmp_path, "a"), made(tmp_path, "b", threshold=0.35)
    for asked in (["--diff", str(one), str(other)], [str(one), "--diff", str(other)]):
        document = json.loads(cli("show", *asked, "--format", "json").out)
        jsonschema.Draft202012Validator(schema_of(document["schema"])).validate(document)
        assert (document["first"]["name"], document["second"]["name"]) == (str(one), str(other))
        (threshold,) = (each for each in document["numbers"] if each["key"] == "threshold")
        assert (threshold["first"], threshold["second"]) == (0.5, 0.35)
        assert threshold["difference"] == pytest.approx(-0.15)
    assert "recall" in cli("show", "--diff", str(one), str(other)).out


def test_names_that_hold_each_other_do_not_swap_documents(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "ba", "--diff"):
        made(tmp_path, name)
    for asked, first in (
        (["a.json", "--diff", "ba.json"], "a.json"),
        (["--diff", "ba.json", "a.json"], "ba.json"),
        (["--diff=a.json", "ba.json"], "a.json"),
        (["ba.json", "--diff=a.json"], "ba.json"),
        (["a.json", "--diff", "ba.json", "--out", "a.json.json"], "a.json"),
        (["--format", "json", "--diff", "a.json", "--", "--diff.json"], "a.json"),
    ):
        shown = cli("show", "--format", "json", *asked)
        text = Path("a.json.json").read_text() if "--out" in asked else shown.out
        assert json.loads(text)["first"]["name"] == first, asked


def test_the_same_document_differs_in_nothing(cli: Cli, tmp_path: Path) -> None:
    path = made(tmp_path)
    assert "They say the same" in cli("show", str(path), "--diff", str(path)).out


BAD = {
    "nothing": "",
    "no JSON": "{'schema': 1}",
    "a list": "[]",
    "no schema": "{}",
    "newer": '{"schema": "assay.evaluation/2"}',
    "another": '{"schema": "other.thing/1"}',
    "measures": '{"schema": "assay.measures/1"}',
    "no keys": '{"schema": "assay.gate/1"}',
    "deep": '{"schema": "assay.plan/1", "goals": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a huge number": '{"schema": "assay.plan/1", "level": ' + "9" * 10_000 + "}",
    "infinite": '{"schema": "assay.plan/1", "level": 1e999}',
    "not a number": '{"schema": "assay.plan/1", "level": NaN}',
    "no text": "\udcff",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_is_no_document_is_refused(cli: Cli, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    outcome = cli("show", str(path))
    assert outcome.code == 3
    assert "bad.json" in outcome.err
    assert "Traceback" not in outcome.err


def test_a_newer_schema_is_refused_by_name(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_text('{"schema": "assay.evaluation/2"}')
    assert "'assay.evaluation/2' is of another version" in cli("show", str(path)).err


def test_a_face_that_a_document_has_not_is_refused(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("show", str(made(tmp_path)), "--format", "junit")
    assert (outcome.code, "only a gate" in outcome.err) == (3, True)


def places(tree: Any, at: tuple = ()) -> list[tuple]:
    trails = [at]
    if isinstance(tree, dict | list):
        for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            trails += places(part, (*at, key))
    return trails


PLAIN = document_of(
    evaluate(
        ["no", "yes"] * 8,
        y_score=[0.1, 0.9, 0.6, 0.7] * 4,
        base_rate=0.01,
        volume=1000,
        slices={"os": ["a", "b"] * 8},
        times=["2024-01-01", "2024-01-02"] * 8,
        top=2,
    )
).plain
PLACES = places(PLAIN)[1:]
ODD = st.one_of(
    st.sampled_from([None, True, -1, 0, 2**70, 1e300, "", "<script>alert(1)</script>", [], {}]),
    st.lists(st.integers(), max_size=3),
    st.text(max_size=5),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PLACES), ODD, st.sampled_from(["terminal", "html", "csv"]))
def test_a_changed_document_is_drawn_or_refused(
    capfd: pytest.CaptureFixture, tmp_path: Path, place: tuple, odd: Any, face: str
) -> None:
    tree = json.loads(json.dumps(PLAIN))
    held = tree
    for key in place[:-1]:
        held = held[key]
    held[place[-1]] = odd
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(tree))
    code = run(["show", str(path), "--format", face, "--out", str(tmp_path / "out")])
    err = capfd.readouterr().err
    assert code in (0, 3), err
    assert "Traceback" not in err
    if code == 0 and face == "html":
        assert "<script>alert" not in (tmp_path / "out").read_text()


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>"])
def test_markup_in_a_stored_document_is_shown_as_it_is(cli: Cli, tmp_path: Path, name: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(PLAIN).replace('"no"', json.dumps(name)).replace("E0", name))
    outcome = cli("show", str(path), "--format", "html")
    assert outcome.code == 0
    assert name not in outcome.out
    assert "&lt;" in outcome.out


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_every_example_runs(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("report", "last-week", "a", "b"):
        made(tmp_path, name)
    judgement = gate([1, 0] * 20, new=[0.9, 0.1] * 20, rules="new(roc_auc) >= 0.5")
    (tmp_path / "gate.json").write_text(document_of(judgement).to_json())
    assert cli(*shlex.split(line)[1:]).code == 0
