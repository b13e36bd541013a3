"""Bounds that a grid gives a difference hold what all rows give, whatever the scores."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts import Grid, Sample, ScoreCounts
from assay.counts.grid import cells, lowest
from assay.inference import Estimate
from assay.inference.differences import difference_bound, has_difference, paired_scores
from assay.measures import CATALOGUE, Measure
from assay.measures.scores import bound_of

LABELS = ("no", "yes")
RANKED = [m for m in CATALOGUE if m.of_scores is not None and has_difference(m)]


def shaped(kind: str, generator: np.random.Generator, size: int) -> np.ndarray:
    """Scores as detectors give them."""
    plain = generator.random(size)
    return {
        "plain": plain,
        "saturated": 1 / (1 + np.exp(-generator.normal(0, 30, size))),
        "tiny": plain / 1000,
        "tied": np.round(plain, 1),
        "narrow": plain.astype(np.float32).astype(np.float64),
    }[kind]


def known(measure: Measure, scores: np.ndarray, truth: np.ndarray, bits: int) -> Estimate | None:
    """What a grid tells of a measure; None where it tells nothing."""
    table = ScoreCounts.of_rows(LABELS, scores, truth, kept=Grid(bits))
    declared = measure.of_scores
    if getattr(declared, "probabilities", False) and declared.bound is None:
        return None
    return Estimate(declared.value(table)).bounded(*bound_of(declared, table))


@pytest.mark.parametrize("measure", RANKED, ids=lambda measure: measure.name)
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["plain", "saturated", "tiny", "tied", "narrow"]),
    size=st.integers(4, 80),
    bits=st.integers(1, 8),
)
def test_bounds_hold_the_difference_of_all_rows(
    measure: Measure, seed: int, kind: str, size: int, bits: int
) -> None:
    generator = np.random.default_rng(seed)
    truth = np.concatenate(([0, 1], generator.integers(0, 2, size - 2))).astype(np.uint8)
    columns = {name: shaped(kind, generator, size) for name in "ab"}
    coarse = [known(measure, scores, truth, bits) for scores in columns.values()]
    exact = [
        measure.of_scores.value(ScoreCounts.of_rows(LABELS, scores, truth))
        for scores in columns.values()
    ]
    if None in coarse or np.isnan([*map(float, coarse), *exact]).any():
        return
    difference = exact[1] - exact[0]
    low, high = difference_bound(float(coarse[1]) - float(coarse[0]), coarse)
    assert low - 1e-12 <= difference <= high + 1e-12
    in_cells = {name: lowest(cells(scores, bits), bits) for name, scores in columns.items()}
    found = paired_scores(Sample.of_rows(LABELS, truth, in_cells), measure, known=coarse)
    if not math.isnan(found.effect.low):
        assert found.effect.low - 1e-12 <= difference <= found.effect.high + 1e-12
    if difference == 0 and not math.isnan(found.p):
        alike = paired_scores(Sample.of_rows(LABELS, truth, columns), measure)
        assert found.p >= alike.p - 1e-12
