"""Which interval an estimate gets, and what it says when there is none."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.counts import ClusterCounts, Confusion
from assay.errors import MethodError
from assay.formula import of_classes
from assay.inference import (
    METHODS,
    BCa,
    Bootstrap,
    ClopperPearson,
    DeLong,
    Delta,
    Newcombe,
    Quantity,
    Wald,
    Wilson,
    estimate,
    method_of,
)
from assay.measures import CATALOGUE, Interval, find

COUNTED = [measure for measure in CATALOGUE if measure.formula is not None]
FOREST = Confusion(("normal", "attack"), ((7743, 167), (324, 6635)))
SMALL = Confusion(("no", "yes"), ((4, 1), (2, 3)))

every_measure = pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)


def of(name: str, table: Confusion = FOREST, label: int = 1, **options):
    measure = find(name)
    quantity = Quantity(measure.formula, label=label)
    return estimate(quantity, table, measure.range, default=measure.interval, **options)


def ends(method, k: float, n: float) -> tuple[float, float]:
    low, high = method(k, n)
    return float(low), float(high)


# -- the default -----------------------------------------------------------------------------------


@every_measure
def test_shares_have_wilson_and_other_measures_delta(measure) -> None:
    share = measure.is_proportion or measure.interval is Interval.BY_JACCARD
    assert of(measure.name).method == ("wilson" if share else "delta")


@pytest.mark.parametrize(
    ("name", "k", "n"),
    [
        ("accuracy", 14378, 14869),
        ("error_rate", 491, 14869),
        ("precision", 6635, 6802),
        ("recall", 6635, 6959),
        ("specificity", 7743, 7910),
        ("false_positive_rate", 167, 7910),
        ("false_negative_rate", 324, 6959),
        ("false_discovery_rate", 167, 6802),
        ("false_omission_rate", 324, 8067),
        ("negative_predictive_value", 7743, 8067),
        ("prevalence", 6959, 14869),
        ("alert_rate", 6802, 14869),
        ("jaccard", 6635, 7126),
    ],
)
def test_share_is_wilson_of_its_own_successes_and_trials(name: str, k: int, n: int) -> None:
    measured_value = of(name)
    assert (measured_value.low, measured_value.high) == pytest.approx(
        ends(Wilson(), k, n), abs=1e-15
    )
    assert measured_value.n == n


def test_f1_is_wilson_on_jaccard_mapped() -> None:
    low, high = ends(Wilson(), 6635, 7126)
    f1 = of("f1")
    assert (f1.low, f1.high) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))
    assert f1.n == 14869


def test_f1_by_delta_when_asked() -> None:
    assert of("f1", method=Delta()).method == "delta"


def test_average_of_f1_is_no_share_and_has_delta() -> None:
    macro = Quantity(of_classes(find("f1").formula, "macro"))
    measured_value = estimate(macro, FOREST, (0, 1), default=Interval.BY_JACCARD)
    assert measured_value.method == "delta"


def test_accuracy_of_all_classes_is_a_share() -> None:
    measured_value = estimate(Quantity(find("accuracy").classes), FOREST, (0, 1))
    assert (measured_value.method, measured_value.n) == ("wilson", 14869)


@every_measure
def test_exact_value_is_kept(measure) -> None:
    assert of(measure.name) == Quantity(measure.formula, label=1).value(FOREST)


@every_measure
@given(cells=st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_interval_holds_the_value_or_the_value_is_undefined_with_its_reason(measure, cells):
    measured_value = of(
        measure.name, Confusion(("no", "yes"), (tuple(cells[:2]), tuple(cells[2:])))
    )
    if math.isnan(measured_value):
        assert measured_value.undefined
        assert math.isnan(measured_value.low)
        assert math.isnan(measured_value.high)
    else:
        assert measured_value.undefined is None
        assert (
            measure.range[0]
            <= measured_value.low
            <= measured_value
            <= measured_value.high
            <= measure.range[1]
        )


def test_one_label_of_many_is_read_on_its_binary_table() -> None:
    table = Confusion(("a", "b", "c"), ((45, 3, 2), (4, 38, 3), (1, 2, 52)))
    binary = Confusion(("rest", "b"), ((100, 5), (7, 38)))
    for name in ("precision", "f1", "mcc"):
        one, other = of(name, table, label=1), of(name, binary)
        assert (one, one.low, one.high, one.n) == (other, other.low, other.high, other.n)


def test_first_of_two_labels_swaps_the_cells() -> None:
    precision = of("precision", label=0)
    assert precision == 7743 / 8067
    assert (precision.low, precision.high) == pytest.approx(ends(Wilson(), 7743, 8067))


# -- undefined -------------------------------------------------------------------------------------


def test_precision_is_undefined_when_nothing_is_flagged() -> None:
    precision = of("precision", Confusion(("no", "yes"), ((5, 0), (2, 0))))
    assert math.isnan(precision)
    assert precision.undefined == "nothing was flagged (TP + FP = 0)"
    assert precision.n == 0
    assert precision.method == ""


def test_no_rows_at_all_have_nothing() -> None:
    accuracy = of("accuracy", Confusion(("no", "yes"), ((0, 0), (0, 0))))
    assert math.isnan(accuracy)
    assert accuracy.n == 0
    weightless = Confusion(("no", "yes"), ((0.0, 0.0), (0.0, 0.0)), ((0.0, 0.0), (0.0, 0.0)))
    assert of("accuracy", weightless).n == 0


# -- methods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [Wald(), ClopperPearson(), Wilson()], ids=lambda m: m.name)
def test_share_takes_the_method_asked_for(method) -> None:
    precision = of("precision", method=method)
    assert precision.method == method.name
    assert (precision.low, precision.high) == pytest.approx(ends(method, 6635, 6802))


@pytest.mark.parametrize("method", [Wald(), DeLong(), Newcombe()], ids=lambda m: m.name)
def test_method_that_is_not_legal_is_passed_over(method) -> None:
    assert of("mcc", method=method).method == "delta"
    assert of("f1", method=method).method == "wilson"


@pytest.mark.parametrize("method", [DeLong(), Newcombe()], ids=lambda m: m.name)
def test_share_keeps_wilson_when_a_method_for_areas_is_asked_for(method) -> None:
    assert of("precision", method=method).method == "wilson"


def test_higher_level_is_wider() -> None:
    for measure in COUNTED:
        narrow, wide = (of(measure.name, SMALL, level=level) for level in (0.8, 0.99))
        assert wide.low < narrow.low
        assert narrow.high < wide.high
        assert (narrow.level, wide.level) == (0.8, 0.99)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_method_of_the_contract_is_found_by_its_name(name: str) -> None:
    method, level = method_of(name, 0.9)
    assert method.name == name
    assert method.level == level == 0.9


def test_names_of_methods_are_those_of_the_contract() -> None:
    contract = (
        "wald wilson clopper-pearson jeffreys agresti-coull delta bootstrap bca delong newcombe"
    )
    of_strata = "fay-feuer tiwari"
    assert set(METHODS) == {*contract.split(), *of_strata.split()}


def test_method_given_as_an_object_keeps_its_level() -> None:
    assert method_of(Wilson(0.8), None) == (Wilson(0.8), 0.8)
    assert method_of(Wilson(0.8), 0.8) == (Wilson(0.8), 0.8)
    assert method_of(None, None) == (None, 0.95)
    with pytest.raises(MethodError, match="has its own"):
        method_of(Wilson(0.8), 0.95)


@pytest.mark.parametrize("odd", [3, Wilson, ["wilson"]])
def test_what_is_no_method_is_refused(odd: object) -> None:
    with pytest.raises(MethodError, match="no interval method"):
        method_of(odd, None)


def test_unknown_method_names_those_that_exist() -> None:
    with pytest.raises(MethodError, match=r"no interval method 'exact'; choose from wald, wilson"):
        method_of("exact", 0.95)


@pytest.mark.parametrize("name", [None, "wilson", "delta", "bootstrap", "delong", "newcombe"])
def test_level_is_checked(name: str | None) -> None:
    with pytest.raises(MethodError, match="level must lie between 0 and 1"):
        method_of(name, 95)


# -- sampling weights ------------------------------------------------------------------------------


def weighted(scale: float = 1.0, seed: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = (generator.random(300) < 0.5).astype(np.uint8)
    decision = np.where(generator.random(300) < 0.8, truth, 1 - truth).astype(np.uint8)
    return truth, decision, scale * generator.uniform(0.1, 4, 300)


def weighted_table(scale: float = 1.0) -> Confusion:
    truth, decision, weights = weighted(scale)
    return Confusion.of_rows(("no", "yes"), truth, decision, weights=weights)


def test_weighted_share_is_wilson_of_its_effective_trials() -> None:
    truth, decision, weights = weighted()
    w, right = weights[decision == 1], truth[decision == 1]
    share = (w * right).sum() / w.sum()
    variance = (w**2 * (right - share) ** 2).sum() / w.sum() ** 2
    trials = share * (1 - share) / variance
    precision = of("precision", weighted_table())
    assert (precision.low, precision.high) == pytest.approx(ends(Wilson(), share * trials, trials))
    assert precision.n == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert max(precision.n, trials) < (decision == 1).sum()


def test_few_rows_that_carry_most_of_the_weight_are_warned_of() -> None:
    lopsided = Confusion(("no", "yes"), ((50.0, 90.0), (5.0, 9.0)), ((50.0, 8100.0), (5.0, 9.0)))
    assert "may be too narrow" in of("precision", lopsided).note
    assert of("recall", weighted_table()).note is None
    assert estimate(Quantity(find("accuracy").classes), lopsided, (0, 1)).note is None


@pytest.mark.parametrize("cells", [((4.0, 0.0), (1.0, 6.0)), ((4.0, 6.0), (1.0, 0.0))])
def test_weighted_share_at_an_edge_counts_rows_by_their_squares(cells) -> None:
    squares = ((16.0, 12.0), (1.0, 12.0))
    squares = tuple(
        tuple(s if c else 0.0 for s, c in zip(sq, row, strict=True))
        for sq, row in zip(squares, cells, strict=True)
    )
    precision = of("precision", Confusion(("no", "yes"), cells, squares))
    assert precision in (0.0, 1.0)
    assert precision.n == pytest.approx(6.0**2 / 12.0)
    assert (precision.low, precision.high) == pytest.approx(ends(Wilson(), float(precision) * 3, 3))


@every_measure
def test_scale_of_the_weights_does_not_matter(measure) -> None:
    small, large = (of(measure.name, weighted_table(scale)) for scale in (1.0, 1000.0))
    assert (small, small.low, small.high, small.n) == pytest.approx(
        (large, large.low, large.high, large.n), rel=1e-9
    )


@every_measure
def test_weights_of_one_are_plain_rows(measure) -> None:
    truth, decision, _ = weighted()
    plain = of(measure.name, Confusion.of_rows(("no", "yes"), truth, decision))
    one = of(measure.name, Confusion.of_rows(("no", "yes"), truth, decision, weights=np.ones(300)))
    assert (one, one.low, one.high, one.n) == pytest.approx(
        (plain, plain.low, plain.high, plain.n), rel=1e-9
    )


def test_measure_that_is_no_share_has_as_many_rows_as_the_weights_are_worth() -> None:
    _, _, weights = weighted()
    mcc = of("mcc", weighted_table())
    assert mcc.n == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize("method", [Bootstrap(resamples=20), BCa(resamples=20)])
def test_weighted_rows_cannot_be_resampled(method) -> None:
    with pytest.raises(MethodError, match="sampling weights can't be resampled"):
        of("precision", weighted_table(), method=method)


# -- clusters --------------------------------------------------------------------------------------


def clusters(count: int) -> ClusterCounts:
    truth, decision, _ = weighted()
    names = [f"host{i}" for i in range(count)]
    return ClusterCounts.of_rows(("no", "yes"), truth, decision, np.arange(300) % count, names)


@every_measure
def test_clusters_have_the_cluster_robust_delta(measure) -> None:
    counted = clusters(30)
    assert of(measure.name, counted.confusion(), clusters=counted).method == "cluster delta"


def test_clusters_can_be_resampled() -> None:
    counted = clusters(30)
    for method in (Bootstrap(resamples=50), BCa(resamples=50)):
        mcc = of("mcc", counted.confusion(), clusters=counted, method=method)
        assert mcc.method == f"cluster {method.name}"
        assert mcc.low < mcc < mcc.high


def test_one_cluster_has_no_interval_and_says_so() -> None:
    counted = clusters(1)
    mcc = of("mcc", counted.confusion(), clusters=counted)
    assert not math.isnan(mcc)
    assert math.isnan(mcc.low)
    assert math.isnan(mcc.high)
    assert mcc.method == ""
    assert "one cluster" in mcc.note


@pytest.mark.parametrize("label", [0, 1])
def test_clusters_are_read_on_the_label_asked_for(label: int) -> None:
    counted = clusters(30)
    precision = of("precision", counted.confusion(), label=label, clusters=counted)
    assert precision == of("precision", counted.confusion(), label=label)
    assert precision.low < precision < precision.high


@given(st.integers(2, 40))
def test_value_does_not_depend_on_the_clusters(count: int) -> None:
    counted = clusters(count)
    mcc = of("mcc", counted.confusion(), clusters=counted)
    assert mcc == of("mcc", counted.confusion())
    assume(count > 2)
    assert mcc.low < mcc < mcc.high


# -- the standard error ----------------------------------------------------------------------------


def test_walds_interval_has_its_standard_error() -> None:
    accuracy = of("accuracy", method=Wald())
    share = 14378 / 14869
    assert accuracy.parts == {"se": math.sqrt(share * (1 - share) / 14869)}
    assert of("accuracy").parts == {}
    assert of("mcc", method=Wald()).parts == {}


@given(*[st.integers(0, 10**6)] * 4)
def test_walds_ends_are_so_many_standard_errors_away(tn: int, fp: int, fn: int, tp: int) -> None:
    table = Confusion(("no", "yes"), ((tn, fp), (fn, tp)))
    recall = of("recall", table, method=Wald(0.9))
    assume(not math.isnan(recall))
    reach = 1.6448536269514722 * recall.parts["se"]
    assert recall.low == pytest.approx(max(recall.value - reach, 0), abs=1e-12)
    assert recall.high == pytest.approx(min(recall.value + reach, 1), abs=1e-12)
