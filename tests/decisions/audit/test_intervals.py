"""Reported intervals and standard errors."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm
from statsmodels.stats.proportion import proportion_confint

import assay
from assay.decisions.audit import audit
from assay.decisions.audit.spreads import hanley_mcneil, resampled_range, share_intervals

FOREST = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}
DDOS = {"tn": 280, "fp": 20, "fn": 15, "tp": 85}


def numbers(**claim):
    return {number.key: number for number in audit(claim).claims[0].numbers}


def interval(low, high, confusion=DDOS, key="accuracy", **claim):
    return numbers(confusion=confusion, reported={f"{key}.ci": [low, high]}, **claim)[f"{key}.ci"]


def shown(ends, digits=4):
    return [f"{end:.{digits}f}" for end in ends]


# -- methods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("wald", "normal"),
        ("wilson", "wilson"),
        ("agresti-coull", "agresti_coull"),
        ("clopper-pearson", "beta"),
        ("jeffreys", "jeffreys"),
    ],
)
@settings(max_examples=25)
@given(st.integers(1, 300), st.data())
def test_intervals_are_those_of_statsmodels(ours, theirs, n, data) -> None:
    k = data.draw(st.integers(1, n))
    for level in (0.9, 0.95, 0.99):
        expected = proportion_confint(k, n, alpha=1 - level, method=theirs)
        intervals = [
            (max(each.low, 0), min(each.high, 1))
            for each in share_intervals(k, n, (level,))
            if each.method == ours and each.z is None
        ]
        assert any(ends == pytest.approx(expected, abs=1e-9) for ends in intervals)


def test_the_corrected_wilson_interval_is_that_of_newcombe() -> None:
    # Newcombe 1998, table I: 81/263 and 15/148 and 0/20 and 1/29, method 4.
    for k, n, low, high in [
        (81, 263, 0.2535, 0.3682),
        (15, 148, 0.0598, 0.1644),
        (0, 20, 0.0000, 0.2005),
        (1, 29, 0.0018, 0.1963),
    ]:
        named_interval = next(
            each for each in share_intervals(k, n, (0.95,)) if each.method == "wilson-cc"
        )
        assert (round(named_interval.low, 4), round(named_interval.high, 4)) == (low, high)


METHODS = ["wald", "wald-cc", "wilson", "wilson-cc", "clopper-pearson", "jeffreys", "agresti-coull"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_an_interval_by_any_method_is_consistent(method, level) -> None:
    expected = next(each for each in share_intervals(365, 400, (level,)) if each.method == method)
    bounds = interval(*shown((expected.low, expected.high), 6))
    assert str(bounds.verdict) == "consistent"
    assert f"{100 * level:g}%" in bounds.said
    assert bounds.recomputed == pytest.approx((expected.low, expected.high), abs=1e-9)
    named = interval(*shown((expected.low, expected.high), 6), interval=method, level=str(level))
    assert str(named.verdict) == "consistent"


def test_rounded_quantiles_and_cut_ends_are_known() -> None:
    p, n = 0.97, 100
    confusion = {"tn": 50, "fp": 1, "fn": 2, "tp": 47}
    for z in (1.96, 1.645, 1.64, 1.65, 2.576, 2.58):
        reach = z * math.sqrt(p * (1 - p) / n)
        for high in (p + reach, min(p + reach, 1)):
            bounds = interval(f"{p - reach:.6f}", f"{high:.6f}", confusion)
            assert str(bounds.verdict) == "consistent", (z, high)


def test_the_interval_of_the_forest_is_wrong_and_held_against_wald() -> None:
    judgements = numbers(
        confusion=FOREST,
        reported={
            "accuracy": "96.70%",
            "accuracy.ci": ["95.80%", "97.60%"],
            "accuracy.se": "0.0046",
        },
    )
    assert str(judgements["accuracy.ci"].verdict) == "inconsistent"
    assert shown(judgements["accuracy.ci"].recomputed) == ["0.9641", "0.9699"]
    assert str(judgements["accuracy.se"].verdict) == "inconsistent"
    assert judgements["accuracy.se"].recomputed == pytest.approx(0.00146543764420880725)


def test_a_named_method_or_level_is_the_only_one_tried() -> None:
    wilson = shown(proportion_confint(365, 400, method="wilson"))
    assert str(interval(*wilson, interval="wald").verdict) == "inconsistent"
    assert str(interval(*wilson, interval="wilson", level="0.9").verdict) == "inconsistent"
    assert str(interval(*wilson, interval="wilson", level=95).verdict) == "consistent"


def test_an_interval_from_the_printed_value_is_rounding() -> None:
    p = 0.91
    reach = 1.96 * math.sqrt(p * (1 - p) / 400)
    ends = shown((p - reach, p + reach))
    assert str(interval(*ends).verdict) == "undetermined"
    judgements = numbers(confusion=DDOS, reported={"accuracy": "0.91", "accuracy.ci": ends})
    assert str(judgements["accuracy.ci"].verdict) == "rounding"
    assert "from the printed value" in judgements["accuracy.ci"].said


def test_an_interval_from_the_printed_standard_error_is_rounding() -> None:
    reported = {"accuracy": "0.9125", "accuracy.se": "0.014", "accuracy.ci": ["0.8851", "0.9399"]}
    number = numbers(confusion=DDOS, reported=reported)["accuracy.ci"]
    assert str(number.verdict) == "rounding"
    assert "from the printed standard error" in number.said


def test_a_bootstrap_is_judged_within_its_noise() -> None:
    for seed in range(20):
        ends = assay.accuracy(**DDOS, interval=assay.Bootstrap(seed=seed))
        texts = shown((ends.low, ends.high))
        assert str(interval(*texts, interval="bootstrap").verdict) == "consistent"
        assert str(interval(*texts).verdict) != "inconsistent"
    assert str(interval("0.80", "0.99", interval="bootstrap").verdict) == "inconsistent"
    assert str(interval("0.900", "0.925", interval="bootstrap").verdict) == "inconsistent"


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_a_bootstrap_at_a_level_that_is_not_told_is_not_accused(level) -> None:
    for seed in range(10):
        ends = assay.accuracy(**FOREST, interval=assay.Bootstrap(level=level, seed=seed))
        reported = {"accuracy.ci": shown((ends.low, ends.high), 6)}
        named = numbers(confusion=FOREST, reported=reported, interval="bootstrap")
        assert str(named["accuracy.ci"].verdict) == "consistent"
        unnamed = numbers(confusion=FOREST, reported=reported)["accuracy.ci"]
        assert str(unnamed.verdict) in ("undetermined", "consistent")


def test_an_interval_of_a_known_mistake_is_accused_where_a_bootstrap_could_give_it_too() -> None:
    p, positives = 14378 / 14869, 6959
    reach = 1.959964 * math.sqrt(p * (1 - p) / positives)
    reported = {"accuracy.ci": shown((p - reach, p + reach), 6)}
    number = numbers(confusion=FOREST, reported=reported)["accuracy.ci"]
    assert str(number.verdict) == "inconsistent"
    assert number.explanations[0].mistake == "wrong-n"


@given(st.integers(30, 3000), st.floats(0.05, 0.95))
def test_the_noise_of_a_bootstrap_holds_the_binomial_quantiles(n, p) -> None:
    from scipy.stats import binom

    k = round(n * p)
    low, high = resampled_range(k, n, 0.95)
    assert low[0] <= binom.ppf(0.025, n, k / n) / n <= low[1]
    assert high[0] <= binom.ppf(0.975, n, k / n) / n <= high[1]


def test_intervals_turned_round_are_inconsistent() -> None:
    assert str(interval("0.95", "0.90").verdict) == "inconsistent"


def test_percentages_without_a_sign_are_read() -> None:
    judgements = numbers(
        confusion=DDOS, reported={"accuracy": "91.25", "accuracy.ci": [88.48, 94.02]}
    )
    assert str(judgements["accuracy.ci"].verdict) == "consistent"


def test_a_false_alarm_rate_has_the_interval_of_either_reading() -> None:
    for k, n in ((20, 105), (20, 300)):
        bounds = interval(*shown(proportion_confint(k, n, method="wilson")), key="far")
        assert str(bounds.verdict) == "consistent"


# -- measures that are no shares -------------------------------------------------------------------


def test_intervals_of_other_measures_are_matched_or_left_open() -> None:
    own = assay.mcc(**DDOS)
    assert str(interval(*shown((own.low, own.high)), key="mcc").verdict) == "consistent"
    own = assay.f1(**DDOS)
    assert str(interval(*shown((own.low, own.high)), key="f1").verdict) == "consistent"
    assert str(interval("0.60", "0.90", key="mcc").verdict) == "undetermined"
    reported = {"mcc": "0.7709", "mcc.ci": ["0.50", "1.04"]}
    number = numbers(confusion=DDOS, reported=reported)["mcc.ci"]
    assert (str(number.verdict), number.said) == ("inconsistent", "it leaves the range of mcc")


def test_an_interval_that_misses_its_own_value_is_inconsistent() -> None:
    number = numbers(reported={"mcc": "0.80", "mcc.ci": ["0.85", "0.90"]})["mcc.ci"]
    assert str(number.verdict) == "inconsistent"
    assert "own reported value" in number.said
    number = numbers(reported={"mcc": "0.80", "mcc.ci": ["0.75", "0.85"]})["mcc.ci"]
    assert str(number.verdict) == "undetermined"


def test_the_interval_of_an_area_may_be_hanley_and_mcneils() -> None:
    error = hanley_mcneil(0.95, 100, 300)
    z = norm.ppf(0.975)
    reported = {
        "auc": "0.950",
        "auc.ci": shown((0.95 - z * error, 0.95 + z * error)),
        "auc.se": f"{error:.4f}",
    }
    judgements = numbers(confusion=DDOS, reported=reported)
    assert str(judgements["auc.ci"].verdict) == str(judgements["auc.se"].verdict) == "consistent"


# -- without a matrix ------------------------------------------------------------------------------


def test_a_size_and_a_printed_value_decide_an_interval() -> None:
    def verdict_of(low, high):
        reported = {"accuracy": "0.9125", "accuracy.ci": [low, high]}
        return str(numbers(n=400, reported=reported)["accuracy.ci"].verdict)

    assert verdict_of(*shown(proportion_confint(365, 400))) == "consistent"
    assert verdict_of(*shown(proportion_confint(365, 400, method="beta"))) == "consistent"
    assert verdict_of("0.80", "0.99") == "inconsistent"


def test_supports_decide_intervals_of_rates() -> None:
    support = {"normal": 300, "attack": 100}
    reported = {
        "recall": "0.85",
        "recall.ci": shown(proportion_confint(85, 100, method="wilson"), 3),
        "specificity": "93.3%",
        "specificity.se": "1.44%",
    }
    judgements = numbers(support=support, reported=reported)
    assert str(judgements["recall.ci"].verdict) == "consistent"
    assert str(judgements["specificity.se"].verdict) == "consistent"


# -- standard errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("0.0141", "consistent"),
        ("1.41%", "consistent"),
        ("0.01413", "consistent"),
        # The n - 1 of a sample deviation.
        ("0.014146", "consistent"),
        # 1,000 resamples know it to a few percent.
        ("0.0145", "undetermined"),
        ("0.0200", "inconsistent"),
        ("-0.0141", "inconsistent"),
    ],
)
def test_a_standard_error_is_the_binomial_one(text, verdict) -> None:
    number = numbers(confusion=DDOS, reported={"accuracy.se": text})["accuracy.se"]
    assert str(number.verdict) == verdict


def test_a_standard_error_of_the_printed_value_is_rounding() -> None:
    text = f"{math.sqrt(0.91 * 0.09 / 400):.6f}"
    judgements = numbers(confusion=DDOS, reported={"accuracy": "0.91", "accuracy.se": text})
    assert str(judgements["accuracy.se"].verdict) == "rounding"


def test_equal_tails_at_the_edge_are_known() -> None:
    low, high = beta.ppf([0.025, 0.975], 20.5, 0.5)
    perfect = {"tn": 10, "fp": 0, "fn": 0, "tp": 10}
    assert str(interval(*shown((low, high)), perfect).verdict) == "consistent"
