"""From which score on a row is flagged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sources.thresholds import least_reaching

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NARROW = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(threshold=st.one_of(FINITE, NARROW), score=NARROW)
def test_a_score_reaches_the_threshold_or_neither(threshold: float, score: float) -> None:
    for kind in (np.dtype(np.float32), np.dtype(np.float64)):
        least = least_reaching(threshold, kind)
        assert least.dtype == kind
        assert (kind.type(score) >= least) == (score >= threshold)


@given(threshold=FINITE)
def test_no_float_below_the_least_reaches_the_threshold(threshold: float) -> None:
    least = least_reaching(threshold, np.dtype(np.float32))
    with np.errstate(over="ignore"):
        below = np.nextafter(least, np.float32(-np.inf))
    assert float(below) < threshold <= float(least)


@pytest.mark.parametrize(
    ("threshold", "least"), [(1e300, np.inf), (-1e300, -3.4028234663852886e38)]
)
def test_thresholds_beyond_all_floats_of_32_bits_are_quiet(threshold: float, least: float) -> None:
    assert least_reaching([threshold, 0.5], np.dtype(np.float32)).tolist() == [least, 0.5]
