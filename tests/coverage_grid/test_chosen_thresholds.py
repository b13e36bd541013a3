"""A small version of what `make resampling` measures at length.

Two detectors at max-fpr=0.02: intervals of the difference in detection rate hold the truth when
each resample chooses the thresholds anew, and far too seldom when it takes them as given.
"""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from assay import MaxFpr, compare

SAMPLES, ROWS = 40, 800
SHIFTS = {"old": 2.0, "new": 2.3}
# At a false positive rate of 0.02 the threshold is that quantile of N(0, 1).
TRUTH = float(np.subtract(*(ndtr(SHIFTS[name] + ndtri(0.02)) for name in ("new", "old"))))


@pytest.mark.slow
def test_thresholds_chosen_anew_cover_and_thresholds_taken_as_given_do_not() -> None:
    held = {"anew": 0, "given": 0}
    for seed in range(SAMPLES):
        generator = np.random.default_rng(seed)
        truth = np.arange(ROWS) % 2
        common = generator.normal(size=ROWS)
        scores = {
            name: shift * truth + np.sqrt(0.5) * (common + generator.normal(size=ROWS))
            for name, shift in SHIFTS.items()
        }
        anew = compare(truth, scores=scores, at=MaxFpr(0.02), resamples=100, seed=seed)
        said = {name: (s >= anew.thresholds[name]).astype(int) for name, s in scores.items()}
        given = compare(truth, decisions=said, resamples=100, seed=seed)
        for kind, coverage in (("anew", anew), ("given", given)):
            gap = coverage.difference("recall").difference
            held[kind] += gap.low <= TRUTH <= gap.high
    assert held["anew"] / SAMPLES >= 0.9
    assert held["given"] / SAMPLES <= 0.85
