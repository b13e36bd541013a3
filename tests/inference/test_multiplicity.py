import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from assay.errors import MethodError
from assay.inference import benjamini_hochberg, holm

both = pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
some_p = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_by_hand() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@pytest.mark.parametrize(("adjust", "method"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_statsmodels_gives_the_same(adjust, method: str, size: int) -> None:
    p = np.random.default_rng(size).beta(0.5, 2, size)
    theirs = multipletests(p, method=method)[1]
    np.testing.assert_allclose(adjust(p), theirs, rtol=1e-12, atol=1e-300)


@both
@given(p=some_p)
def test_adjusted_is_never_smaller_and_never_above_one(adjust, p) -> None:
    assert all(raw <= q <= 1 for raw, q in zip(p, adjust(p), strict=True))


@both
@given(p=some_p)
def test_adjusting_keeps_the_order(adjust, p) -> None:
    adjusted = adjust(p)
    for i in np.argsort(p)[:-1]:
        assert all(adjusted[i] <= adjusted[j] for j in range(len(p)) if p[j] >= p[i])


@given(some_p)
def test_holm_is_never_milder(p) -> None:
    assert all(h >= b - 1e-15 for h, b in zip(holm(p), benjamini_hochberg(p), strict=True))


@both
def test_one_test_alone_is_not_adjusted(adjust) -> None:
    assert adjust([0.04]) == [0.04]


@both
def test_no_tests_give_nothing(adjust) -> None:
    assert adjust([]) == []


@both
def test_plain_floats_come_back(adjust) -> None:
    assert all(type(q) is float for q in adjust(np.array([0.1, 0.2])))


@both
@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_what_is_no_probability_is_refused(adjust, bad: float) -> None:
    with pytest.raises(MethodError, match="between 0 and 1"):
        adjust([0.5, bad])


@both
def test_a_table_of_probabilities_is_refused(adjust) -> None:
    with pytest.raises(MethodError, match="p-values are a list of numbers"):
        adjust([[0.5, 0.1]])
