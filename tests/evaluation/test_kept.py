"""An evaluation says how its scores were kept, and shows the bounds of a grid."""

from dataclasses import replace

import numpy as np
import pytest

import assay
from assay.engines import confusion_at
from assay.evaluation import Evaluation
from assay.evaluation.wording import bounds_note, mode_note
from assay.inference import Estimate
from assay.measures import AVERAGE_PRECISION, BRIER, CALIBRATION_SLOPE, RECALL, ROC_AUC
from assay.number_text import bound_text
from assay.tally import Resolved, ScoreTally, from_bytes
from assay.tally.counters import CutPoints, count_cuts
from assay.tally.keeping import Grid

LABELS = ("normal", "attack")


def _rows(size: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    truth = (random.random(size) < 0.2).astype(np.uint8)
    return truth, 1 / (1 + np.exp(-random.normal(size=size) - 2 * truth + 1))


def _resolved(bits: int | None = None, *, days: bool = False) -> Resolved:
    truth, scores = _rows()
    exact = ScoreTally.of_rows(LABELS, scores, truth)
    tally = Resolved(
        labels=LABELS,
        positive="attack",
        confusion=confusion_at(exact, 0.5),
        threshold=0.5,
        kind="probability",
        scores=(exact if bits is None else exact.to_grid(bits),),
    )
    return replace(tally, days={"2026-11-16": tally, "2026-11-17": tally}) if days else tally


def _by_cuts() -> Evaluation:
    truth, scores = _rows()
    cuts = np.unique(scores[truth == 1])
    kept = count_cuts(LABELS, CutPoints(LABELS[0], cuts), scores, truth)
    return Evaluation(replace(_resolved(), scores=(kept,)))


def test_the_mode_is_in_the_document_and_the_notes() -> None:
    truth, scores = _rows()
    exact = assay.evaluate(truth, y_score=scores)
    assert exact.to_dict()["mode"] == "exact"
    assert "mode exact: every distinct score was kept" in exact.notes
    assert bounds_note(exact, None) == ()
    assert assay.evaluate_counts(tp=1, fp=1, fn=1, tn=1).to_dict()["mode"] == "exact"
    grid = Evaluation(_resolved(6))
    assert grid.to_dict()["mode"] == "grid"
    assert grid.notes[-1].startswith("mode grid: scores were kept in cells of 6 bits")
    cuts = _by_cuts()
    assert cuts.to_dict()["mode"] == "cuts"
    assert "every score was kept but those of 'normal'" in mode_note(cuts.tally)


def test_bounds_are_in_every_shape_of_an_evaluation() -> None:
    evaluation = Evaluation(_resolved(6))
    estimate = evaluation[ROC_AUC]
    assert estimate.bound is not None
    low, high = estimate.bound
    assert estimate.low <= low < estimate < high <= estimate.high
    plain = {entry["measure"]: entry for entry in evaluation.to_dict()["estimates"][::-1]}
    assert plain[ROC_AUC.name]["bound"] == [low, high]
    assert plain[RECALL.name]["bound"] is None
    records = {record["measure"]: record for record in evaluation.records()[::-1]}
    auc = records[ROC_AUC.name]
    assert (auc["mode"], auc["bound_low"], auc["bound_high"]) == ("grid", low, high)
    frame = evaluation.to_frame("polars")
    assert frame["bound_low"].drop_nulls().len() > 10
    (note,) = bounds_note(evaluation, evaluation.snapshot().bits)
    assert f"ROC AUC lies in {bound_text(estimate.bound)}" in note
    assert bound_text(evaluation[AVERAGE_PRECISION].bound) in note
    assert note in repr(evaluation)
    assert note in evaluation._repr_html_()


def test_what_fits_the_scores_says_why_it_is_undefined() -> None:
    reason = "it needs the scores themselves, which are kept as a grid; count with exact scores"
    assert Evaluation(_resolved(12))[CALIBRATION_SLOPE].undefined == reason
    cuts = _by_cuts()
    for measure in (CALIBRATION_SLOPE, BRIER):
        assert cuts[measure].undefined == reason.replace("a grid", "cuts")
    assert cuts[ROC_AUC].bound is None
    assert cuts.to_dict()["reliability"] is None


def test_no_finding_takes_cells_for_ties() -> None:
    codes = {finding.code for finding in Evaluation(_resolved(2)).findings}
    assert not codes & {"E003", "E004", "E005", "E006"}


def test_the_top_of_a_day_has_bounds() -> None:
    evaluation = Evaluation(_resolved(4, days=True), top=50, period="day")
    whole = Evaluation(_resolved(days=True), top=50, period="day")
    for name in ("precision_at_top", "recall_at_top"):
        estimate = evaluation[name]
        assert estimate.bound is not None
        assert estimate.bound[0] <= whole[name] <= estimate.bound[1]
        assert estimate.low <= estimate.bound[0] <= estimate.bound[1] <= estimate.high
        assert whole[name].bound is None


def test_a_base_rate_has_bounds() -> None:
    exact, grid = Evaluation(_resolved()), Evaluation(_resolved(4))
    for rate in (0.05, 0.01):
        value, estimate = (e._judge.at_base_rate(AVERAGE_PRECISION, rate) for e in (exact, grid))
        assert estimate.bound is not None
        assert estimate.bound[0] <= value <= estimate.bound[1]


def test_three_classes_have_bounds() -> None:
    random = np.random.default_rng(9)
    names = ("a", "b", "c")
    truth = random.integers(0, 3, 400)
    table = random.dirichlet([1, 1, 1], 400) + np.eye(3)[truth] / 2
    table /= table.sum(axis=1, keepdims=True)
    exact = assay.evaluate([names[i] for i in truth], y_proba=table)
    cells = tuple(part.to_grid(3) for part in exact.tally.scores)
    grid = Evaluation(replace(exact.tally, scores=cells))
    for key in ("roc_auc.macro", "roc_auc.weighted", "roc_auc_ovo", "average_precision.b"):
        estimate = grid[key]
        assert estimate.bound is not None
        assert estimate.bound[0] <= exact[key] <= estimate.bound[1]
        assert exact[key].bound is None


def test_a_record_of_a_grid_goes_to_bytes_and_adds() -> None:
    grid = _resolved(7)
    again = from_bytes(grid.to_bytes())
    assert again == grid
    total = grid + _resolved(5)
    assert total.scores is not None
    assert total.scores[0].kept == Grid(5)
    assert total.confusion.total == 6000


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        ((0.25, 0.5), "[0.250000, 0.500000]"),
        ((0.1234561, 0.1234569), "[0.123456, 0.123457]"),
        ((-0.0000001, 0.9999999), "[-0.000001, 1.000000]"),
    ],
)
def test_bounds_are_rounded_outwards(bound: tuple[float, float], text: str) -> None:
    assert bound_text(Estimate(bound[0], bound=bound).bound) == text
    assert bound_text(Estimate(0.5).bound) == ""


def test_an_interval_is_widened_to_hold_the_bounds() -> None:
    estimate = Estimate(0.5, 0.4, 0.6).bounded(0.3, 0.55)
    assert (estimate.low, estimate.high, estimate.bound) == (0.3, 0.6, (0.3, 0.55))
    alone = Estimate(0.5).bounded(0.45, 0.47)
    assert np.isnan(alone.low)
    assert alone.bound == (0.45, 0.5)


def test_scores_of_one_cell_are_not_called_alike() -> None:
    rows = {"y": ["attack", "normal"] * 20, "p": [0.3 + 1e-9 * (i * 7 % 40) for i in range(40)]}
    assert assay.evaluate(rows, label="y", score="p")["calibration_slope"].undefined is None
    cells = assay.evaluate(rows, label="y", score="p", mode="grid")["calibration_slope"]
    assert "kept as a grid" in str(cells.undefined)
