"""The comparison can fail: each kind of change is reported, and what is allowed is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import files
from .accept import accept
from .asking import Question
from .comparing import differences
from .shape import shaped, table_of

ESTIMATE = {"measure": "f1", "label": "attack", "value": 0.75, "n": 8, "undefined": None}
DOCUMENT = {
    "schema": "assay.evaluation/1",
    "provenance": {"version": "0.2.0"},
    "source": {"name": "flows.csv", "rows_read": 8},
    "threshold": 0.5,
    "confusion": [[4, 1], [1, 2]],
    "estimates": [
        ESTIMATE | {"low": 0.4, "high": 0.9, "method": "wilson"},
        {"measure": "log_loss", "value": 0.3123, "low": 0.2, "high": 0.4, "method": "delta"},
        {"measure": "roc_auc", "value": 0.9, "low": 0.7, "high": 0.98, "method": "bootstrap"},
    ],
    "findings": [{"code": "E004", "severity": "warning", "message": "few distinct scores"}],
}
SEEDS = {
    "printed/estimates/roc_auc/low": [0.7, 0.01],
    "printed/estimates/roc_auc/high": [0.98, 0.01],
}
QUESTION = Question("evaluate", "one", "flows.csv")


def answer(change: Callable[[dict[str, Any]], object] = lambda document: None) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return {"exit": 0, "printed": shaped(document)}


def paths(now: dict[str, Any], **options: bool) -> list[str]:
    return ["/".join(each.path) for each in differences(answer(), now, SEEDS, **options)]


def test_the_same_answer_has_no_differences() -> None:
    assert paths(answer()) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda d: d["confusion"][0].__setitem__(1, 2), "confusion/0/1"),
        (lambda d: d.update(threshold=0.5000001), "threshold"),
        (lambda d: d["estimates"][0].update(low=0.400001), "estimates/f1 attack/low"),
        (lambda d: d["estimates"][0].update(low=None), "estimates/f1 attack/low"),
        (lambda d: d["estimates"][0].update(value=0.75 + 1e-13), "estimates/f1 attack/value"),
        (lambda d: d["estimates"][0].update(method="wald"), "estimates/f1 attack/method"),
        (lambda d: d["estimates"][0].update(undefined="no"), "estimates/f1 attack/undefined"),
        (lambda d: d["estimates"][1].update(value=0.3123001), "estimates/log_loss/value"),
        (lambda d: d["estimates"][2].update(low=0.745), "estimates/roc_auc/low"),
        (lambda d: d["findings"][0].update(message=""), "findings/E004/message"),
        (lambda d: d["findings"][0].update(severity="info"), "findings/E004/severity"),
        (
            lambda d: d["findings"].append({"code": "E011"} | {"severity": "info"}),
            "findings/E011/severity",
        ),
        (lambda d: d["source"].update(rows_read=9), "source/rows_read"),
    ],
)
def test_a_change_is_reported(change: Callable[[dict[str, Any]], object], path: str) -> None:
    assert paths(answer(change)) == [f"printed/{path}"]


def test_an_exit_code_and_a_lost_estimate_are_reported() -> None:
    assert paths({**answer(), "exit": 1}) == ["exit"]
    lost = paths(answer(lambda d: d["estimates"].pop(0)))
    assert {path.rpartition("/")[2] for path in lost} == {"value", "low", "high", "n", "method"}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["provenance"].update(version="0.3.0"),
        lambda d: d["source"].update(name="other.csv"),
        lambda d: d["estimates"][0].update(low=0.4 + 1e-11),
        lambda d: d["estimates"][1].update(value=0.3123 + 1e-11),
        lambda d: d["estimates"][2].update(low=0.735),
        lambda d: d["findings"][0].update(message="other words"),
        lambda d: d["estimates"].reverse(),
    ],
)
def test_what_is_allowed_is_not_reported(change: Callable[[dict[str, Any]], object]) -> None:
    assert paths(answer(change)) == []


def test_sums_of_weights_may_differ_in_the_last_digits() -> None:
    nearly = answer(lambda d: d["estimates"][0].update(value=0.75 * (1 + 1e-13)))
    assert paths(nearly, weighted=True) == []
    assert paths(answer(lambda d: d["estimates"][0].update(value=0.75 + 1e-11)), weighted=True)


def test_a_table_keeps_columns_rows_and_means() -> None:
    table = table_of("row,score,decision\n1,0.25,normal\n2,0.75,attack\n")
    assert table["columns"] == ["row", "score", "decision"]
    assert (table["rows"], table["means"]["score"]) == (2, 0.5)
    assert table["counts"] == {"decision": {"attack": 1, "normal": 1}}


# -- files and accepting ---------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kept = {"asked": "flows.csv", "answer": answer(), "seeds": SEEDS}
    files.save({QUESTION: kept}, tmp_path)
    return tmp_path


def frozen(folder: Path) -> dict[str, Any]:
    return files.load([QUESTION], folder)[QUESTION]


def test_what_is_written_is_read(folder: Path) -> None:
    assert frozen(folder) == {"asked": "flows.csv", "answer": answer(), "seeds": SEEDS}
    text = (folder / QUESTION.path).read_text("utf-8")
    assert '"f1 attack": ["=",0.75,0.4,0.9,8,"wilson"]' in text


def test_an_answer_that_is_the_same_names_the_other(tmp_path: Path) -> None:
    document = answer(lambda d: d.update(labels=[f"class {i}" for i in range(8)] * 20))
    other = Question("evaluate", "two", "flows.csv --mode exact")
    kept = {"answer": {**document, "long": ["word"] * 200}, "seeds": {}}
    files.save({QUESTION: {**kept, "asked": "a"}, other: {**kept, "asked": "b"}}, tmp_path)
    assert json.loads((tmp_path / other.path).read_text("utf-8")) == {
        "asked": "b",
        "same as": "one.json",
    }
    assert files.load([other], tmp_path)[other]["answer"] == kept["answer"]


def _accept(
    folder: Path, key: str, now: dict[str, Any], why: str = "issue 41", **of: Any
) -> list[str]:
    def ask(question: Question, tables: Path) -> dict[str, Any]:
        return now

    def spread(question: Question, tables: Path, answer: dict[str, Any]) -> dict[str, Any]:
        return {"printed/estimates/roc_auc/low": [0.6, 0.02]}

    return accept(
        [QUESTION], key, of.get("measures", []), why, folder=folder, ask=ask, spread=spread
    )


def changed(document: dict[str, Any]) -> None:
    document["estimates"][0].update(low=0.3, high=0.8, value=0.7)
    document["estimates"][2].update(low=0.6)
    document["findings"].append({"code": "E011", "severity": "info"})


def test_accepting_moves_one_key_of_the_measures_named(folder: Path) -> None:
    told = _accept(folder, "low", answer(changed), measures=["f1"])
    assert "1 values in 1 answers" in told
    assert "1 became wider, 0 narrower" in told
    left = differences(frozen(folder)["answer"], answer(changed), SEEDS)
    assert {each.path[-2:] for each in left} == {
        ("f1 attack", "high"),
        ("f1 attack", "value"),
        ("roc_auc", "low"),
        ("E011", "severity"),
    }
    (line,) = (folder / "accepted.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["accepted"] == "evaluate.low"


def test_accepting_a_resampled_value_keeps_its_new_spread(folder: Path) -> None:
    _accept(folder, "low", answer(changed), measures=["roc_auc"])
    assert frozen(folder)["seeds"]["printed/estimates/roc_auc/low"] == [0.6, 0.02]


def test_a_new_finding_is_accepted_by_its_list(folder: Path) -> None:
    _accept(folder, "findings", answer(changed))
    assert frozen(folder)["answer"]["printed"]["findings"]["E011"] == {"severity": "info"}


def test_accepting_needs_an_issue_and_for_intervals_measures(folder: Path) -> None:
    with pytest.raises(ValueError, match="issue"):
        _accept(folder, "value", answer(changed), why="because")
    with pytest.raises(ValueError, match="MEASURE"):
        _accept(folder, "low", answer(changed))
    assert not (folder / "accepted.jsonl").exists()
