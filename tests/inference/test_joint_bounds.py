"""Bounds that a grid gives a difference hold what all rows give, whatever the scores."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engines.arrays import resolved_arrays
from assay.evaluation.judge import Judge
from assay.inference import delong_of
from assay.inference.differences import difference_bound, has_difference, paired_scores
from assay.measures import catalogue
from assay.counts import JointScores, Resolved, Sample

RANKED = [m for m in catalogue.CATALOGUE if m.of_scores is not None and has_difference(m)]


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


def shaped(kind: str, generator: np.random.Generator, size: int) -> np.ndarray:
    """Scores as detectors give them."""
    plain = generator.random(size)
    match kind:
        case "saturated":
            return 1 / (1 + np.exp(-generator.normal(0, 30, size)))
        case "tiny":
            return plain / 1000
        case "tied":
            return np.round(plain, 1)
        case "narrow":
            return plain.astype(np.float32).astype(np.float64)
    return plain


CASES = st.tuples(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["plain", "saturated", "tiny", "tied", "narrow"]),
    st.integers(4, 80),
    st.integers(1, 8),
)


def judged(truth: np.ndarray, score: np.ndarray, bits: int | None) -> Judge:
    tally = counted(truth, y_score=score, positive=1, labels=[0, 1], threshold=0.5)
    assert tally.scores is not None
    kept = tally.scores if bits is None else tuple(t.to_grid(bits) for t in tally.scores)
    return Judge(tally if bits is None else replace(tally, scores=kept, summed_losses=None))


def holds(seed: int, kind: str, size: int, bits: int) -> None:
    generator = np.random.default_rng(seed)
    truth = np.concatenate(([0, 1], generator.integers(0, 2, size - 2)))
    columns = {name: shaped(kind, generator, size) for name in ("a", "b")}
    sample = Sample.of_rows(("0", "1"), truth.astype(np.uint8), columns)
    cells = JointScores.of_rows(("0", "1"), truth.astype(np.uint8), columns, bits=bits).sample()
    exact, coarse = ([judged(truth, score, b) for score in columns.values()] for b in (None, bits))
    for measure in RANKED:
        known = [judge.scored(measure) for judge in coarse]
        true = [float(judge.scored(measure)) for judge in exact]
        if any(map(math.isnan, [*map(float, known), *true])):
            continue
        difference = true[1] - true[0]
        low, high = difference_bound(float(known[1]) - float(known[0]), known)
        assert low - 1e-12 <= difference <= high + 1e-12, measure.name
        significance = paired_scores(cells, measure, known=known)
        assert significance.effect is not None
        if not math.isnan(significance.effect.low):
            assert significance.effect.low - 1e-12 <= difference <= significance.effect.high + 1e-12
        if difference == 0 and not math.isnan(significance.p):
            assert significance.p >= paired_scores(sample, measure).p - 1e-12


@settings(max_examples=40, deadline=None)
@given(case=CASES)
def test_bounds_hold_the_difference_of_all_rows(case: tuple[int, str, int, int]) -> None:
    holds(*case)


@pytest.mark.slow
def test_bounds_hold_the_difference_in_a_thousand_sets() -> None:
    generator = np.random.default_rng(13)
    kinds = ["plain", "saturated", "tiny", "tied", "narrow"]
    for i in range(1000):
        seed, size, bits = generator.integers((0, 4, 1), (2**32 - 1, 200, 9)).tolist()
        holds(seed, kinds[i % len(kinds)], size, bits)


@settings(max_examples=60, deadline=None)
@given(case=CASES)
def test_delong_of_every_pair_is_that_of_the_rows(case: tuple[int, str, int, int]) -> None:
    seed, kind, size, _ = case
    generator = np.random.default_rng(seed)
    truth = np.concatenate(([0, 1], generator.integers(0, 2, size - 2))).astype(np.uint8)
    columns = {name: shaped(kind, generator, size) for name in ("a", "b")}
    kept = delong_of(Sample.of_rows(("0", "1"), truth, columns))
    joint = JointScores.of_rows(("0", "1"), truth, columns, bits=None)
    significance = delong_of(joint.sample())
    assert significance.p == pytest.approx(kept.p, rel=1e-12, nan_ok=True)
    np.testing.assert_allclose(
        significance.table["covariance"], kept.table["covariance"], rtol=1e-12
    )
    assert significance.table["a"] == kept.table["a"]
