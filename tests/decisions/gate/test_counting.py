"""Rules judged from counts: what rows that are kept say, in memory that does not grow with them."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.decisions.gate_inputs import gate_files
from assay.decisions.gate_rules import Gate, gate
from assay.engines import models
from assay.errors import InputError
from assay.report import document_of, draw
from assay.sources.files import Request, several_models

SIZE = 6000
# At fixed thresholds both come from the same counts, so intervals are the same to the last bit.
FIXED = [
    "new(precision) >= 0.5",
    "new(recall@threshold=0.437) >= 0.5",
    "new-old(recall@threshold=0.437) >= -0.01",
    "new-old(detection_rate@threshold=0.437,family=dos) >= -0.1",
    "old(detection_rate@family=*) >= 0.1",
    "new(precision.normal) >= 0.5",
]
OTHERS = [
    "new-old(detection_rate@max-far=0.3) >= -0.01",
    "new(recall@max-fpr=0.05) >= 0.1",
    "new-old(detection_rate@max-fpr=0.05,family=dos) >= -0.05",
    "new-old(roc_auc) >= 0",
    "new(average_precision) >= 0.5",
    "new-old(log_loss) <= 0.1",
]


def table(size: int = SIZE) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    truth = rng.random(size) < 0.25
    return {
        "label": np.where(truth, "attack", "normal"),
        "new": np.clip(0.38 * truth + rng.random(size) * 0.62, 0, 1),
        "old": np.clip(0.35 * truth + rng.random(size) * 0.65, 0, 1),
        "family": np.where(truth, np.array(["dos", "probe"])[rng.integers(0, 2, size)], "none"),
        "n": rng.integers(0, 3, size),
    }


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a few rows were too many to be kept, or to be counted at once."""
    for module in ("decisions.gate_inputs", "engines.models"):
        monkeypatch.setattr(sys.modules[f"assay.{module}"], "MOST_ROWS", 100)
    monkeypatch.setattr(models, "LOT", 900)
    monkeypatch.setattr(several_models, "LOT", 900)


def of_arrays(rules: list[str], mode: str = "auto", **counts: Any) -> Gate:
    rows = table()
    return gate(
        rows["label"],
        new=rows["new"],
        old=rows["old"],
        families=rows["family"],
        rules=rules,
        resamples=200,
        mode=mode,
        **{name: rows[column] for name, column in counts.items()},
    )


def of_file(rules: list[str], folder: Path, mode: str = "auto", **named: Any) -> Gate:
    path = folder / "rows.parquet"
    pl.DataFrame(table()).write_parquet(path)
    request = Request(label="label", family="family", batch_rows=700, **named)
    return gate_files(
        str(path), request, rules=rules, score="new", baseline_score="old", resamples=200, mode=mode
    )


def must_agree(counted: Gate, kept: Gate) -> None:
    assert any(note.startswith("mode grid") for note in counted.notes)
    assert not any(note.startswith("mode grid") for note in kept.notes)
    assert counted.rows == kept.rows
    for rule, expected in zip(counted.rules, kept.rules, strict=True):
        assert rule.rule == expected.rule
        low, high = rule.estimate.bound or (float(rule.estimate),) * 2
        spread = expected.estimate.high - expected.estimate.low
        close = 0.0 if rule.rule.text in FIXED else 0.2 * spread
        assert low - close <= float(expected.estimate) <= high + close, rule.rule.text
        for end in ("low", "high"):
            ends = getattr(rule.estimate, end), getattr(expected.estimate, end)
            assert ends[0] == pytest.approx(ends[1], abs=max(close, 1e-12)), rule.rule.text
        assert rule.outcome == expected.outcome


@pytest.mark.sampled(1)
@pytest.mark.parametrize("counts", [{}, {"counts": "n"}])
def test_arrays_of_many_rows_are_judged_as_few_are(counts: dict[str, str], request: Any) -> None:
    kept = of_arrays(FIXED + OTHERS, **counts)
    request.getfixturevalue("many")
    must_agree(of_arrays(FIXED + OTHERS, **counts), kept)


def test_few_rows_are_counted_where_a_grid_is_asked_for(tmp_path: Path) -> None:
    rules = [FIXED[0], "new-old(roc_auc) >= 0"]
    kept = of_arrays(rules)
    counted = of_arrays(rules, mode="grid")
    must_agree(counted, kept)
    must_agree(of_file(rules, tmp_path, mode="grid"), kept)
    assert [kept.mode, counted.mode] == ["exact", "grid"]
    assert [gate.to_dict()["mode"] for gate in (kept, counted)] == ["exact", "grid"]
    assert "; mode grid." in draw(document_of(counted), "markdown")


def test_many_rows_are_kept_where_that_is_asked_for(many: None, tmp_path: Path) -> None:
    rules = [FIXED[0], "new-old(roc_auc) >= 0"]
    counted = of_arrays(rules)
    must_agree(counted, of_arrays(rules, mode="exact"))
    must_agree(counted, of_file(rules, tmp_path, mode="exact"))


def test_a_grid_is_of_scores_and_keeps_no_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mode='grid' keeps scores of two classes"):
        gate(["a", "b"], new_decision=["a", "b"], positive="a", rules="new(f1) > 0", mode="grid")
    with pytest.raises(InputError, match="exact"):
        of_arrays(FIXED[:1], mode="cuts")
    with pytest.raises(InputError, match="counts rows and lets them go"):
        gate_files("rows.csv", rules="new(f1) > 0", score="new", mode="grid", judge=lambda *_: None)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("named", [{}, {"count": "n"}])
def test_files_of_many_rows_are_judged_as_few_are(
    named: dict[str, str], tmp_path: Path, request: Any
) -> None:
    kept = of_file(FIXED + OTHERS, tmp_path, **named)
    request.getfixturevalue("many")
    counted = of_file(FIXED + OTHERS, tmp_path, **named)
    must_agree(counted, kept)
    assert counted.source == kept.source


def test_models_that_say_the_same_do_not_differ(many: None) -> None:
    rows = table()
    rules = [rule for rule in OTHERS if "new-old" in rule] + FIXED[2:3]
    judged = gate(
        rows["label"],
        new=rows["new"],
        old=rows["new"],
        families=rows["family"],
        rules=rules,
        resamples=200,
    )
    for rule in judged.rules:
        assert (float(rule.estimate), rule.estimate.low, rule.estimate.high) == (0, 0, 0)


def test_what_is_missing_is_told_of_many_rows_too(many: None, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pl.DataFrame(table()).write_parquet(path)

    def judged(rule: str, **more: Any) -> Gate:
        return gate_files(str(path), Request(label="label"), rules=rule, score="new", **more)

    with pytest.raises(InputError, match="needs the old model"):
        judged("new-old(recall) >= 0")
    with pytest.raises(InputError, match="is about families: give families="):
        judged("new(detection_rate@family=dos) >= 0")
    assert judged("new(recall) >= 0.1").outcome.value == "pass"


def test_decisions_and_clusters_of_many_rows_are_kept(many: None) -> None:
    rows = table()
    decided = np.where(rows["new"] >= 0.5, "attack", "normal")
    judged = gate(rows["label"], new_decision=decided, rules="new(recall) >= 0.1")
    assert not any(note.startswith("mode grid") for note in judged.notes)
    clusters = np.arange(SIZE) // 20
    judged = gate(rows["label"], new=rows["new"], clusters=clusters, rules="new(recall) >= 0.1")
    assert not any(note.startswith("mode grid") for note in judged.notes)
