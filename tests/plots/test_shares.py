"""How scores are distributed, and whether they mean a chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import MethodError
from assay.inference import Estimate
from assay.plots import reliability, scores
from assay.plots.curves import BINS, histogram
from assay.tally import ScoreTally

from . import drawn

SCORE = st.floats(-1e308, 1e308, allow_subnormal=False)


def tally_of(values, truth, weights=None, labels=("normal", "attack")) -> ScoreTally:
    amounts = None if weights is None else np.asarray(weights, float)
    return ScoreTally.of_rows(
        labels, np.asarray(values, float), np.asarray(truth, np.uint8), weights=amounts
    )


@given(st.lists(st.tuples(SCORE, st.integers(0, 1)), min_size=1, max_size=40))
@settings(max_examples=50)
def test_every_row_is_in_a_bin(rows: list[tuple[float, int]]) -> None:
    values, truth = zip(*rows, strict=True)
    edges, shares = histogram(tally_of(values, truth))
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    present = [label in truth for label in (0, 1)]
    assert np.allclose(shares.sum(axis=1), present)


def test_bins_hold_what_numpy_counts() -> None:
    random = np.random.default_rng(0)
    values, truth = random.random(3000), random.integers(0, 2, 3000)
    edges, shares = histogram(tally_of(values, truth), probability=True)
    assert edges[0] == 0
    assert edges[-1] == 1
    for label in (0, 1):
        counted, _ = np.histogram(values[truth == label], edges)
        assert np.allclose(shares[label], counted / counted.sum())


def test_weights_count_as_they_weigh() -> None:
    _, shares = histogram(tally_of([0.1, 0.9], [0, 0], [1, 3]), probability=True)
    assert shares[0, 4] == 0.25
    assert shares[0, 36] == 0.75


def test_few_scores_far_out_do_not_squeeze_the_others() -> None:
    values = np.append(np.linspace(0, 1, 10_000), 1e12)
    edges, shares = histogram(tally_of(values, np.arange(10_001) % 2))
    assert edges[-1] < 2
    assert np.allclose(shares.sum(axis=1), 1)


def test_a_single_score_has_a_bin() -> None:
    edges, shares = histogram(tally_of([7, 7], [0, 1]))
    assert edges[0] < 7 < edges[-1]
    assert shares.max() == 1


def test_no_scores_are_refused() -> None:
    with pytest.raises(MethodError, match="there are none"):
        histogram(ScoreTally.zero(("a", "b")))


def test_both_classes_and_the_threshold_are_drawn() -> None:
    tally = tally_of([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], labels=("ham", "$pam"))
    ax = scores(tally, threshold=0.5, probability=True)
    assert drawn.legend(ax) == ["negative: ham", r"positive: \$pam", "threshold 0.5"]
    _, expected = histogram(tally, probability=True)
    outlines = {patch.get_label(): patch for patch in ax.patches}
    points = outlines[r"positive: \$pam"].get_data()
    assert np.array_equal(points.values, expected[1])
    assert len(points.edges) == BINS + 1
    assert set(drawn.line(ax, "threshold 0.5").get_xdata()) == {0.5}


def test_bins_of_calibration_have_their_intervals() -> None:
    table = {
        "predicted": np.array([0.1, 0.9]),
        "observed": np.array([0.2, 0.8]),
        "low": np.array([0.05, 0.7]),
        "high": np.array([0.4, 0.95]),
        "n": np.array([30.0, 40.0]),
    }
    summary = Estimate(0.0312, parts={"if_calibrated": 0.0065})
    ax = reliability(table, summary=summary)
    ((upright,),) = drawn.bars(ax)
    assert np.allclose(upright, [[[0.1, 0.05], [0.1, 0.4]], [[0.9, 0.7], [0.9, 0.95]]])
    assert np.array_equal(drawn.line(ax, "calibrated").get_xydata(), [[0, 0], [1, 1]])
    assert "calibration error 0.031\n(if calibrated: about 0.0065)" in drawn.legend(ax)
    assert "observed" in drawn.legend(reliability(table))
