"""Many rows: pairs of scores are counted into cells, and what is said stays what it was."""

import math
from functools import cache

import numpy as np
import pytest

from assay import Comparison, compare
from assay.errors import InputError
from assay.inference import delong_of
from assay.inference.differences import paired_influence, paired_score_bootstrap
from assay.measures import AVERAGE_PRECISION, LOG_LOSS, RECALL, ROC_AUC, catalogue
from assay.tally import JointScores, Sample

SIZE = 6000


def rows(size: int = SIZE) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and the scores of a good model and of two that are as good with noise."""
    generator = np.random.default_rng(5)
    truth = generator.random(size) < 0.3
    latent = generator.normal(size=size) + 1.4 * truth
    scores = {
        name: 1 / (1 + np.exp(1 - latent - generator.normal(0, noise, size)))
        for name, noise in (("old", 0.3), ("new", 0.1), ("other", 0.6))
    }
    return truth, scores


def two() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    truth, scores = rows()
    return truth, {name: scores[name] for name in ("old", "new")}


@cache
def exact() -> Comparison:
    truth, scores = two()
    return compare(truth, scores=scores, mode="exact")


@cache
def grid() -> Comparison:
    truth, scores = two()
    return compare(truth, scores=scores, mode="grid")


def test_the_mode_is_stated() -> None:
    assert (exact().mode, grid().mode) == ("exact", "grid")
    assert grid().to_dict()["mode"] == "grid"
    assert any(note.startswith("mode grid: ") for note in grid().notes)
    assert any(note.startswith("mode exact: ") for note in exact().notes)
    decided = compare([1, 0] * 9, decisions={"a": [1, 0] * 9, "b": [1] * 18}, positive=1)
    assert not any(note.startswith("mode") for note in decided.notes)


def test_decisions_are_compared_as_if_every_row_were_kept() -> None:
    formulas = {measure.name for measure in catalogue.CATALOGUE if measure.formula is not None}
    compared = [difference for difference in exact().differences if difference.measure in formulas]
    assert [
        difference for difference in grid().differences if difference.measure in formulas
    ] == compared
    assert [t for t in grid().tests if t.test == "mcnemar"] == [
        t for t in exact().tests if t.test == "mcnemar"
    ]
    assert grid().flips == exact().flips
    assert grid().flipped() == exact().flipped()
    assert grid().thresholds == exact().thresholds


@pytest.mark.parametrize("measure", [ROC_AUC, AVERAGE_PRECISION, LOG_LOSS], ids=lambda m: m.name)
def test_differences_of_scores_and_their_spread_are_close(measure) -> None:
    a, b = (comparison.difference(measure.name) for comparison in (exact(), grid()))
    assert float(b.difference) == pytest.approx(float(a.difference), abs=2e-5)
    width = a.difference.high - a.difference.low
    assert b.difference.low == pytest.approx(a.difference.low, abs=width / 50)
    assert b.difference.high == pytest.approx(a.difference.high, abs=width / 50)


def test_the_grid_comes_with_its_bounds_and_they_hold_the_exact_difference() -> None:
    for difference in grid().differences:
        bound = difference.difference.bound
        if bound is not None:
            true = float(exact().difference(difference.measure).difference)
            assert bound[0] <= true <= bound[1], difference.measure
            assert difference.difference.low <= bound[0] <= bound[1] <= difference.difference.high
            assert difference.to_dict()["bound"] == list(bound)
    assert grid().difference(LOG_LOSS.name).difference.bound is not None


def test_many_rows_are_counted_on_a_grid_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.engines.models.MOST_ROWS", SIZE - 1)
    truth, scores = two()
    assert compare(truth, scores=scores).mode == "grid"
    assert compare(truth, scores=scores, mode="exact").mode == "exact"
    hosts = [f"host {i % 40}" for i in range(SIZE)]
    assert compare(truth, scores=scores, clusters=hosts).mode == "exact"


def test_few_rows_are_not() -> None:
    truth, scores = two()
    assert compare(truth, scores=scores).mode == "exact"


def test_a_model_does_not_differ_from_itself() -> None:
    truth, scores = two()
    same = compare(truth, scores={"a": scores["old"], "b": scores["old"]}, mode="grid")
    assert all(difference.p == 1 for difference in same.differences if not math.isnan(difference.p))
    assert {test.p for test in same.tests} == {1.0}


def test_counts_are_repetition() -> None:
    truth, scores = two()
    counts = np.arange(SIZE) % 3
    counted = compare(truth, scores=scores, counts=counts, mode="grid")
    repeated = compare(
        truth.repeat(counts),
        scores={name: column.repeat(counts) for name, column in scores.items()},
        mode="grid",
    )
    assert counted.differences == repeated.differences
    assert counted.tests == repeated.tests


def test_the_order_of_rows_changes_nothing() -> None:
    truth, scores = two()
    order = np.random.default_rng(1).permutation(SIZE)
    mixed = {name: column[order] for name, column in scores.items()}
    assert compare(truth[order], scores=mixed, mode="grid").differences == grid().differences


def test_a_rule_chooses_the_thresholds_that_all_rows_would() -> None:
    truth, scores = two()
    kept = compare(truth, scores=scores, at="max-far=0.2", mode="exact")
    comparison = compare(truth, scores=scores, at="max-far=0.2", mode="grid")
    for name, column in scores.items():
        threshold = comparison.thresholds[name]
        alerts = column >= threshold
        assert (alerts & ~truth).sum() / alerts.sum() <= 0.2
        # The smallest score of a cell of 16 bits.
        assert threshold == pytest.approx(kept.thresholds[name], rel=2**-15)
    a, b = (each.difference(RECALL.name).difference for each in (kept, comparison))
    assert float(b) == pytest.approx(float(a), abs=1e-3)
    width = a.high - a.low
    assert b.low == pytest.approx(a.low, abs=width / 5)
    assert b.high == pytest.approx(a.high, abs=width / 5)


def test_a_rule_that_nothing_keeps_flags_nothing() -> None:
    truth, scores = two()
    worst = {name: 1 - column for name, column in scores.items()}
    comparison = compare(truth, scores=worst, at="max-far=0.001", mode="grid", resamples=20)
    assert comparison.thresholds == {"old": None, "new": None}


def test_several_models_have_one_threshold_each() -> None:
    truth, scores = rows(2000)
    comparison = compare(truth, scores=scores, at="max-fpr=0.1", mode="grid", resamples=50)
    assert set(comparison.thresholds) == {"old", "new", "other"}
    assert len([d for d in comparison.differences if d.measure == RECALL.name]) == 3
    for name, column in scores.items():
        assert (column[~truth] >= comparison.thresholds[name]).mean() <= 0.1


@pytest.mark.slow
def test_measures_of_scores_are_resampled_from_cells() -> None:
    truth, scores = two()
    options = {"interval": "bootstrap", "resamples": 30}
    a, b = (
        compare(truth[:800], scores={n: c[:800] for n, c in scores.items()}, mode=m, **options)
        for m in ("exact", "grid")
    )
    left, right = (each.difference(ROC_AUC.name).difference for each in (a, b))
    assert right.method == "bootstrap"
    assert float(right) == pytest.approx(float(left), abs=1e-5)
    assert right.high - right.low == pytest.approx(left.high - left.low, rel=0.6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mode": "cuts"}, "mode= is one of auto, exact, grid; found 'cuts'"),
        ({"mode": "grid", "clusters": ["a", "b"] * (SIZE // 2)}, "clusters of rows would be lost"),
    ],
)
def test_a_mode_that_can_not_be_is_refused(given: dict, message: str) -> None:
    truth, scores = two()
    with pytest.raises(InputError, match=message):
        compare(truth, scores=scores, **given)


def test_decisions_have_no_grid() -> None:
    truth, scores = two()
    decided = {name: column > 0.5 for name, column in scores.items()}
    with pytest.raises(InputError, match="keeps scores of two classes"):
        compare(truth, decisions=decided, mode="grid")


# -- inference on pairs of cells -------------------------------------------------------------------


def joint(bits: int | None) -> JointScores:
    truth, scores = two()
    return JointScores.of_rows(("n", "p"), truth.astype(np.uint8), scores, bits=bits)


def sample() -> Sample:
    truth, scores = two()
    return Sample.of_rows(("n", "p"), truth.astype(np.uint8), scores)


def test_delong_of_every_pair_is_that_of_the_rows() -> None:
    assert delong_of(joint(None).sample()) == delong_of(sample())


@pytest.mark.parametrize("bits", [12, 8])
def test_cells_tell_how_two_models_vary_together(bits: int) -> None:
    cells, kept = joint(bits).sample(), sample()
    for test in (delong_of, lambda s: paired_influence(s, AVERAGE_PRECISION)):
        a, b = test(kept).effect, test(cells).effect
        assert b.high - b.low == pytest.approx(a.high - a.low, rel=0.01)


def test_known_values_move_the_interval_and_not_its_width() -> None:
    cells = joint(4).sample()
    known = [exact().estimates[name][ROC_AUC.name] for name in ("old", "new")]
    plain, moved = delong_of(cells).effect, delong_of(cells, known=known).effect
    assert float(moved) == float(known[1]) - float(known[0])
    assert moved.high - moved.low == pytest.approx(plain.high - plain.low)
    assert moved.bound is None


def test_bounds_widen_the_interval_and_weaken_the_test() -> None:
    cells = joint(12).sample()
    known = [
        exact().estimates[name][ROC_AUC.name].changed(bound=(value - 0.01, value + 0.01))
        for name, value in ((n, float(exact().estimates[n][ROC_AUC.name])) for n in ("old", "new"))
    ]
    plain, wide = delong_of(cells), delong_of(cells, known=known)
    assert plain.effect is not None
    assert wide.effect is not None
    low, high = wide.effect.bound
    assert high - low == pytest.approx(0.04)
    assert wide.effect.high - high == pytest.approx(
        plain.effect.high - float(plain.effect), abs=1e-6
    )
    assert wide.p > plain.p
    for significance in (
        paired_influence(cells, ROC_AUC, known=known),
        paired_score_bootstrap(joint(6).sample(), ROC_AUC, known=known),
    ):
        assert significance.effect.bound == wide.effect.bound
        assert significance.effect.low < low
        assert significance.p > plain.p


def test_thresholds_that_a_grid_did_not_try_are_not_said_to_fail() -> None:
    generator = np.random.default_rng(1)
    truth = np.repeat([0, 1], 300)
    within = 0.25 + 1e-6 * generator.random(600) + 5e-7 * truth
    scores = {"old": within, "new": within[::-1]}
    notes = compare(truth, scores=scores, mode="grid", at="max-fpr=0.01", resamples=50).notes
    assert (
        "no threshold of old that was tried keeps max-fpr=0.01: it flags nothing there. "
        "Thresholds inside a cell of the grid were not tried: every score would have to be kept "
        "(mode exact)."
    ) in notes
    exact = compare(truth, scores=scores, mode="exact", at="max-fpr=0.01", resamples=50)
    assert exact.thresholds["old"] is not None
