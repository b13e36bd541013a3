import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q as their_cochran
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar

from assay.counts import PairCounts
from assay.errors import LengthMismatch, MethodError
from assay.inference import cochran_q, mcnemar, mcnemar_of, paired_difference

counts = st.integers(0, 200)


# -- the three forms -------------------------------------------------------------------------------


def test_exact_by_hand() -> None:
    significance = mcnemar(10, 2)
    tail = sum(math.comb(12, k) for k in range(3)) / 2**12
    assert significance.p == pytest.approx(2 * tail, rel=1e-12)
    assert (significance.method, significance.statistic, significance.df) == ("exact", None, ())


def test_corrected_by_hand() -> None:
    significance = mcnemar(40, 20)
    assert significance.statistic == pytest.approx((20 - 1) ** 2 / 60)
    assert significance.p == pytest.approx(stats.chi2.sf(361 / 60, 1))
    assert (significance.method, significance.df) == ("corrected", (1,))


def test_uncorrected_by_hand() -> None:
    significance = mcnemar(40, 20, method="uncorrected")
    assert significance.statistic == pytest.approx(400 / 60)
    assert significance.p == pytest.approx(stats.chi2.sf(400 / 60, 1))
    assert (significance.method, significance.df) == ("uncorrected", (1,))


@pytest.mark.parametrize(("b", "c", "method"), [(24, 0, "exact"), (25, 0, "corrected")])
def test_exact_is_the_default_below_25_discordant_rows(b: int, c: int, method: str) -> None:
    assert mcnemar(b, c).method == method


@pytest.mark.parametrize("method", ["exact", "corrected", "uncorrected"])
def test_every_form_can_be_asked_for(method: str) -> None:
    assert mcnemar(30, 20, method=method).method == method
    assert mcnemar(3, 2, method=method).method == method


@pytest.mark.parametrize(("b", "c"), [(13, 13), (13, 14), (14, 13)])
def test_correction_never_turns_an_even_split_into_a_difference(b: int, c: int) -> None:
    significance = mcnemar(b, c, method="corrected")
    assert significance.statistic == 0.0
    assert significance.p == 1.0


# -- no discordant rows ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, "exact", "corrected", "uncorrected"])
def test_no_discordant_rows_have_p_one_and_say_so(method: str | None) -> None:
    significance = mcnemar(0, 0, both_right=40, both_wrong=3, method=method)
    assert significance.p == 1.0
    assert significance.statistic is None
    assert "no discordant pairs" in significance.sentence
    assert significance.effect == 0.0
    assert significance.effect.low < 0 < significance.effect.high


# -- laws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, "exact", "corrected", "uncorrected"])
@given(a=counts, b=counts, c=counts, d=counts)
def test_swapping_the_models_flips_the_effect_and_keeps_p(method, a, b, c, d) -> None:
    one = mcnemar(b, c, both_right=a, both_wrong=d, method=method)
    other = mcnemar(c, b, both_right=a, both_wrong=d, method=method)
    assert one.p == pytest.approx(other.p, rel=1e-12)
    if a + b + c + d:
        assert one.effect == -other.effect
        assert (one.effect.low, one.effect.high) == pytest.approx(
            (-other.effect.high, -other.effect.low), abs=1e-12
        )


@given(counts, counts)
def test_p_does_not_depend_on_rows_that_both_have_right_or_wrong(b: int, c: int) -> None:
    assert mcnemar(b, c).p == mcnemar(b, c, both_right=1000, both_wrong=50).p


@given(counts, counts)
def test_p_is_a_probability(b: int, c: int) -> None:
    for method in ("exact", "corrected", "uncorrected"):
        assert 0 <= mcnemar(b, c, method=method).p <= 1


@given(st.integers(1, 200), counts)
def test_correction_makes_p_larger(b: int, c: int) -> None:
    plain, corrected = (mcnemar(b, c, method=m).p for m in ("uncorrected", "corrected"))
    assert corrected >= plain


# -- oracle ----------------------------------------------------------------------------------------


@given(st.integers(1, 200), counts)
def test_statsmodels_gives_the_same(b: int, c: int) -> None:
    table = [[5, b], [c, 7]]
    assert mcnemar(b, c, method="exact").p == pytest.approx(
        their_mcnemar(table, exact=True).pvalue, rel=1e-9
    )
    plain = their_mcnemar(table, exact=False, correction=False)
    significance = mcnemar(b, c, method="uncorrected")
    assert (significance.statistic, significance.p) == pytest.approx(
        (plain.statistic, plain.pvalue), rel=1e-9
    )


# -- the effect ------------------------------------------------------------------------------------


def test_effect_is_the_difference_in_accuracy() -> None:
    significance = mcnemar(10, 4, both_right=80, both_wrong=6)
    assert significance.effect == pytest.approx(84 / 100 - 90 / 100)
    assert significance.effect.n == 100
    assert significance.effect.method == "newcombe paired"


def method_ten(a: int, b: int, c: int, d: int) -> tuple[float, float]:
    """Newcombe 1998, method 10, of the second share less the first."""
    n = a + b + c + d
    z = stats.norm.ppf(0.975)

    def wilson(share: float) -> tuple[float, float]:
        reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        middle = share + z**2 / (2 * n)
        return (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n)

    first, second = (a + b) / n, (a + c) / n
    cross, product = a * d - b * c, (a + b) * (c + d) * (a + c) * (b + d)
    if cross > 0:
        cross = max(cross - n / 2, 0)
    link = cross / math.sqrt(product) if product else 0.0
    down, up = second - wilson(second)[0], wilson(first)[1] - first
    low = math.sqrt(down**2 - 2 * link * down * up + up**2)
    up, down = wilson(second)[1] - second, first - wilson(first)[0]
    high = math.sqrt(up**2 - 2 * link * up * down + down**2)
    return second - first - low, second - first + high


def test_interval_is_the_published_one() -> None:
    # Newcombe 1998, table III: 36, 12, 2 and 0 pairs, method 10.
    estimate = paired_difference(36, 2, 12, 0)
    assert estimate == 0.2
    assert (estimate.low, estimate.high) == pytest.approx((0.0569, 0.3404), abs=5e-5)


# The correction takes all of a cross product of 1.
@example(2, 1, 1, 1)
@given(st.integers(1, 80), st.integers(1, 80), st.integers(1, 80), st.integers(0, 80))
def test_interval_is_newcombes_method_ten(a, b, c, d) -> None:
    estimate = paired_difference(a, b, c, d)
    assert (estimate.low, estimate.high) == pytest.approx(method_ten(a, b, c, d), abs=1e-9)


@given(counts, counts, counts, counts)
def test_interval_of_the_effect_holds_it_and_stays_between_minus_one_and_one(a, b, c, d) -> None:
    assume(a + b + c + d)
    estimate = paired_difference(a, b, c, d)
    assert -1 - 1e-12 <= estimate.low <= estimate <= estimate.high <= 1 + 1e-12


# -- from pairs ------------------------------------------------------------------------------------


def pairs(truth, a, b) -> PairCounts:
    columns = [np.asarray(column, np.uint16) for column in (truth, a, b)]
    return PairCounts.of_rows(
        ("x", "y", "z"), columns[0], {"first": columns[1], "second": columns[2]}
    )


def test_pairs_are_counted_by_who_is_right() -> None:
    significance = mcnemar_of(pairs([0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 0, 2], [0, 2, 2, 2, 0, 2]))
    assert significance.table == {"both_right": 2, "only_a": 1, "only_b": 1, "both_wrong": 2}
    assert significance.models == ("first", "second")
    assert significance.sentence.startswith("first is right where second is wrong on 1 row")


def test_identical_models_have_p_one() -> None:
    said = [0, 1, 2, 2, 1, 0]
    significance = mcnemar_of(pairs([0, 1, 2, 0, 1, 2], said, said))
    assert significance.p == 1.0
    assert significance.effect == 0.0


def test_no_rows_have_no_effect_and_p_one() -> None:
    significance = mcnemar_of(pairs([], [], []))
    assert significance.p == 1.0
    assert math.isnan(significance.effect)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(("b", "c"), [(-1, 3), (3, -1)])
def test_negative_counts_are_refused(b: int, c: int) -> None:
    with pytest.raises(MethodError, match="not negative"):
        mcnemar(b, c)


def test_unknown_form_is_refused() -> None:
    with pytest.raises(MethodError, match="one of exact, corrected, uncorrected; found 'mid-p'"):
        mcnemar(1, 2, method="mid-p")


# -- Cochran ---------------------------------------------------------------------------------------


def test_cochran_by_hand() -> None:
    right = [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    # G = 4, 3, 1; L = 2, 1, 2, 3: Q = 2 (3 (16 + 9 + 1) - 64) / (3 * 8 - 18) = 28 / 6.
    significance = cochran_q(right)
    assert significance.statistic == pytest.approx(28 / 6)
    assert significance.df == (2,)
    assert significance.p == pytest.approx(math.exp(-28 / 12))
    assert significance.table == {"right": {"0": 4, "1": 3, "2": 1}, "rows": 4}


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=2, max_size=30).filter(
        lambda rows: any(0 < sum(row) < 4 for row in rows)
    )
)
def test_cochran_is_statsmodels(rows) -> None:
    significance, theirs = cochran_q(rows), their_cochran(np.array(rows))
    assert (significance.statistic, significance.p) == pytest.approx(
        (theirs.statistic, theirs.pvalue), rel=1e-9
    )


@given(st.integers(1, 60), st.integers(0, 60))
def test_cochran_of_two_models_is_mcnemar_uncorrected(b: int, c: int) -> None:
    significance = cochran_q([[1, 0], [0, 1]], [b, c])
    expected = mcnemar(b, c, method="uncorrected")
    assert (significance.statistic, significance.p) == pytest.approx(
        (expected.statistic, expected.p)
    )


def test_counts_are_repetitions() -> None:
    right = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]])
    once = cochran_q(right, [3, 1, 2])
    repeated = cochran_q(np.repeat(right, [3, 1, 2], axis=0))
    assert (once.statistic, once.table) == (repeated.statistic, repeated.table)


@pytest.mark.parametrize("row", [[1, 1, 1], [0, 0, 0]])
def test_models_that_always_agree_have_p_one(row) -> None:
    significance = cochran_q([row] * 5)
    assert (significance.statistic, significance.p) == (0.0, 1.0)


def test_counts_may_be_larger_than_their_products_fit_into_64_bits() -> None:
    significance = cochran_q([[1, 0, 1], [0, 1, 1]], [10**18, 10**18])
    assert significance.statistic == pytest.approx(2 * 10**18 / 2)
    assert significance.table["rows"] == 2 * 10**18


def test_order_of_the_models_does_not_matter() -> None:
    right = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 1]])
    assert cochran_q(right).p == cochran_q(right[:, ::-1]).p


@pytest.mark.parametrize("right", [[1, 0, 1], [[1], [0]]])
def test_cochran_needs_a_column_a_model(right) -> None:
    with pytest.raises(MethodError, match="a column a model"):
        cochran_q(right)


def test_counts_of_another_length_are_refused() -> None:
    with pytest.raises(LengthMismatch, match="2 rows and 1 counts"):
        cochran_q([[1, 0], [0, 1]], [3])
