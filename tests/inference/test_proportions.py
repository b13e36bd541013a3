import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay.errors import MethodError
from assay.inference import AgrestiCoull, ClopperPearson, Jeffreys, ProportionInterval, Wald, Wilson
from assay.inference.proportions import PROPORTION_METHODS

METHODS = (Wald, Wilson, AgrestiCoull, ClopperPearson, Jeffreys)
THEIR_NAMES = {
    "wald": "normal",
    "wilson": "wilson",
    "agresti-coull": "agresti_coull",
    "clopper-pearson": "beta",
    "jeffreys": "jeffreys",
}

every_method = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
shares = st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


def ends(method: ProportionInterval, k: float, n: float) -> tuple[float, float]:
    low, high = method(k, n)
    return float(low), float(high)


# -- examples --------------------------------------------------------------------------------------


def test_wald_of_the_forest_by_hand() -> None:
    share, z = 14378 / 14869, stats.norm.ppf(0.975)
    reach = z * math.sqrt(share * (1 - share) / 14869)
    assert ends(Wald(), 14378, 14869) == pytest.approx((share - reach, share + reach), abs=1e-15)


def test_wilson_of_the_forest_by_hand() -> None:
    n, z = 14869, stats.norm.ppf(0.975)
    share = 14378 / n
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    expected = tuple((share + z**2 / (2 * n) + sign * reach) / (1 + z**2 / n) for sign in (-1, 1))
    assert ends(Wilson(), 14378, n) == pytest.approx(expected, abs=1e-15)


def test_agresti_coull_adds_half_of_z_squared_to_both_sides() -> None:
    z = stats.norm.ppf(0.975)
    n, share = 20 + z**2, (5 + z**2 / 2) / (20 + z**2)
    reach = z * math.sqrt(share * (1 - share) / n)
    assert ends(AgrestiCoull(), 5, 20) == pytest.approx((share - reach, share + reach), abs=1e-15)


def test_clopper_pearson_are_beta_quantiles() -> None:
    expected = stats.beta.ppf(0.025, 5, 16), stats.beta.ppf(0.975, 6, 15)
    assert ends(ClopperPearson(), 5, 20) == pytest.approx(expected, abs=1e-14)


def test_jeffreys_are_beta_quantiles() -> None:
    expected = stats.beta.ppf(0.025, 5.5, 15.5), stats.beta.ppf(0.975, 5.5, 15.5)
    assert ends(Jeffreys(), 5, 20) == pytest.approx(expected, abs=1e-14)


# -- edges -----------------------------------------------------------------------------------------


@every_method
def test_no_successes_start_at_zero_and_no_failures_end_at_one(method) -> None:
    low, high = ends(method(), 0, 30)
    assert low == 0.0
    assert high < 1
    low, high = ends(method(), 30, 30)
    assert high == 1.0
    assert low > 0


@pytest.mark.parametrize("n", [1, 2, 30, 10**6, 10**12])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_clopper_pearson_has_its_closed_form_at_both_edges(n: int, level: float) -> None:
    tail = (1 - level) / 2
    assert ends(ClopperPearson(level), n, n)[0] == pytest.approx(tail ** (1 / n), rel=1e-15)
    upper = ends(ClopperPearson(level), 0, n)[1]
    assert upper == pytest.approx(-math.expm1(math.log(tail) / n), rel=1e-15)


def test_wald_has_no_width_at_both_edges() -> None:
    assert ends(Wald(), 0, 30) == (0.0, 0.0)
    assert ends(Wald(), 30, 30) == (1.0, 1.0)


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_wilson_has_its_closed_form_at_both_edges(n: int) -> None:
    square = stats.norm.ppf(0.975) ** 2
    assert ends(Wilson(), 0, n)[1] == pytest.approx(square / (n + square), rel=1e-14)
    assert ends(Wilson(), n, n)[0] == pytest.approx(n / (n + square), rel=1e-14)


@every_method
def test_no_trials_have_no_interval(method) -> None:
    assert all(math.isnan(end) for end in ends(method(), 0, 0))


@every_method
def test_arrays_give_what_single_numbers_give(method) -> None:
    k, n = np.array([0, 0, 1, 5, 10]), np.array([0, 10, 10, 10, 10])
    low, high = method()(k, n)
    assert low.shape == high.shape == (5,)
    singly = [ends(method(), *pair) for pair in zip(k, n, strict=True)]
    np.testing.assert_array_equal(np.stack([low, high], axis=1), singly)


@every_method
def test_successes_are_broadcast_over_trials(method) -> None:
    low, high = method()([[1], [2]], [10, 20, 30])
    assert low.shape == high.shape == (2, 3)


@every_method
def test_effective_trials_need_not_be_whole(method) -> None:
    fewer, between, more = (ends(method(), 0.3 * n, n) for n in (50, 50.5, 51))
    assert fewer[0] < between[0] < more[0]
    assert fewer[1] > between[1] > more[1]


# -- laws ------------------------------------------------------------------------------------------


@every_method
@given(pair=shares, level=levels)
def test_interval_lies_in_the_unit_interval_and_holds_the_share(method, pair, level) -> None:
    k, n = pair
    low, high = ends(method(level), k, n)
    assert 0 <= low <= k / n <= high <= 1


@every_method
@given(pair=shares, level=levels)
def test_interval_of_the_failures_is_the_mirror(method, pair, level) -> None:
    k, n = pair
    low, high = ends(method(level), k, n)
    mirrored = ends(method(level), n - k, n)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-9)


@every_method
@given(pair=shares)
def test_higher_level_is_never_narrower(method, pair) -> None:
    narrow, wide = ends(method(0.9), *pair), ends(method(0.99), *pair)
    assert wide[0] <= narrow[0]
    assert narrow[1] <= wide[1]


@pytest.mark.parametrize("method", [Wilson, ClopperPearson, Jeffreys], ids=lambda m: m.name)
@given(n=st.integers(2, 400), level=levels)
def test_interval_moves_up_with_every_further_success(method, n, level) -> None:
    low, high = method(level)(np.arange(n + 1), n)
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()


@given(pair=shares)
def test_clopper_pearson_holds_the_share_that_a_tail_test_just_rejects(pair) -> None:
    k, n = pair
    low, high = ends(ClopperPearson(), k, n)
    if k:
        assert stats.binom.sf(k - 1, n, low) == pytest.approx(0.025, rel=1e-6)
    if k < n:
        assert stats.binom.cdf(k, n, high) == pytest.approx(0.025, rel=1e-6)


# -- oracle ----------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_statsmodels_gives_the_same(method, level: float) -> None:
    k = np.array([1, 2, 7, 15, 29])
    low, high = method(level)(k, 30)
    theirs = proportion_confint(k, 30, alpha=1 - level, method=THEIR_NAMES[method.name])
    theirs = np.clip(theirs, 0, 1)
    np.testing.assert_allclose([low, high], theirs, atol=1e-10)


# -- arguments -------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_level_must_lie_between_zero_and_one(method, level: float) -> None:
    with pytest.raises(MethodError, match="level must lie between 0 and 1"):
        method(level)


def test_methods_are_found_by_the_names_of_the_contract() -> None:
    assert set(PROPORTION_METHODS) == set(THEIR_NAMES)


def test_method_is_a_value() -> None:
    assert Wilson(0.9) == Wilson(0.9)
    assert Wilson(0.9) != Wilson(0.95)
    assert hash(Wilson()) == hash(Wilson())
    with pytest.raises(AttributeError):
        Wilson().level = 0.5


def test_the_base_is_not_a_method_of_its_own() -> None:
    with pytest.raises(TypeError, match="abstract"):
        ProportionInterval()
