"""Rules that choose a threshold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import MethodError
from assay.inference.threshold_rules import (
    NOTHING,
    AtThreshold,
    MaxFar,
    MaxFpr,
    at_most,
    parse_rule,
)

LIMITS = st.sampled_from(
    [0.1, 0.3, 0.7, 0.07, 1 / 3, 1e-4, 0.29, 0.999, 0.30000000000000004, 0.12345678901234567]
)


def chosen(rule: MaxFpr | MaxFar, tp: list[float], fp: list[float], *sizes: float) -> int:
    positives, negatives = sizes or (tp[-1], fp[-1])
    return rule.choose(np.array(tp), np.array(fp), positives, negatives)


def test_lowest_threshold_is_chosen_although_the_false_alarm_rate_rises_and_falls() -> None:
    assert chosen(MaxFar(0.5), [0, 0, 2, 2], [1, 2, 2, 3]) == 2
    assert chosen(MaxFar(0.4), [2, 2, 4], [0, 3, 3]) == 0


@pytest.mark.parametrize("limit", [0.1, 0.3, 0.7, 0.29, 0.57])
def test_a_rate_that_equals_its_limit_keeps_it(limit: float) -> None:
    """Floats alone fail here: 0.1 * 30 is 3.0000000000000004, and 0.29 * 100 is below 29."""
    for negatives in (30, 100, 1000):
        most = Fraction(str(limit)) * negatives
        fp = list(range(negatives + 1))
        assert chosen(MaxFpr(limit), fp, fp) == int(most)
        assert chosen(MaxFpr(limit), [float(count) for count in fp], fp) == int(most)
    hundredths = round(100 * limit)
    assert chosen(MaxFar(limit), [100 - hundredths], [hundredths]) == 0
    assert chosen(MaxFar(limit), [100 - hundredths], [hundredths + 1]) == NOTHING


def test_no_threshold_may_keep_a_limit() -> None:
    assert chosen(MaxFar(0.1), [0, 1], [1, 2]) == NOTHING
    assert chosen(MaxFpr(0.1), [0, 1], [1, 2]) == NOTHING


def test_no_alerts_do_not_satisfy_a_false_alarm_rate() -> None:
    """Rows that are not drawn leave a sweep without alerts at its start."""
    assert chosen(MaxFar(0.1), [0, 0, 5], [0, 1, 9]) == NOTHING
    assert chosen(MaxFpr(0.1), [0, 0, 5], [0, 1, 9]) == 0


def test_an_undefined_rate_keeps_no_limit() -> None:
    assert chosen(MaxFpr(0.1), [1, 2], [0, 0]) == NOTHING
    assert chosen(MaxFar(0.1, 0.5), [1, 2], [0, 0]) == NOTHING
    assert chosen(MaxFar(0.1, 0.5), [0, 0], [1, 2]) == NOTHING


def test_base_rate_takes_the_place_of_the_share_of_attacks() -> None:
    """80% detected and 1% false positives are a FAR of 5/9 at 1 attack in 100, 0.012 at 1 in 2."""
    tp, fp = [80, 100], [1, 100]
    far = Fraction(99, 99 + 80)
    assert chosen(MaxFar(float(far) + 1e-9, 0.01), tp, fp) == 0
    assert chosen(MaxFar(float(far) - 1e-9, 0.01), tp, fp) == NOTHING
    assert chosen(MaxFar(0.0124, 0.5), tp, fp) == 0


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=30),
    LIMITS,
    st.none() | LIMITS,
    st.sampled_from([1, 10**6, 10**12]),
    st.booleans(),
)
def test_rule_is_that_of_exact_fractions(
    steps: list[tuple[bool, int]], limit: float, rate: float | None, scale: int, floats: bool
) -> None:
    kind = np.float64 if floats else np.int64
    tp = scale * np.cumsum([count if hit else 0 for hit, count in steps])
    fp = scale * np.cumsum([0 if hit else count for hit, count in steps])
    positives, negatives = int(tp[-1]), int(fp[-1])
    exact = Fraction(str(limit))
    lowest = {"fpr": NOTHING, "far": NOTHING}
    for i, (hit, false) in enumerate(zip(tp.tolist(), fp.tolist(), strict=True)):
        if negatives and Fraction(false, negatives) <= exact:
            lowest["fpr"] = i
        true, wrong = Fraction(hit), Fraction(false)
        if rate is not None:
            if not (positives and negatives):
                continue
            share = Fraction(str(rate))
            true, wrong = share * true / positives, (1 - share) * wrong / negatives
        if hit + false and wrong / (true + wrong) <= exact:
            lowest["far"] = i
    counts = tp.astype(kind), fp.astype(kind), positives, negatives
    assert MaxFpr(limit).choose(*counts) == lowest["fpr"]
    assert MaxFar(limit, rate).choose(*counts) == lowest["far"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("threshold=0.7", AtThreshold(0.7)),
        ("threshold=-3", AtThreshold(-3.0)),
        ("max-fpr=0.001", MaxFpr(0.001)),
        ("max-far=0.1", MaxFar(0.1)),
        ("max-far=0.1,base-rate=0.001", MaxFar(0.1, 0.001)),
        ("threshold=0.1234567890123", AtThreshold(0.1234567890123)),
    ],
)
def test_rule_is_read_from_its_text_and_written_to_it(text: str, rule: object) -> None:
    assert parse_rule(text) == rule
    assert str(rule) == text


def test_shares_may_be_written_in_percent_or_as_fractions() -> None:
    assert parse_rule("max-far=10%, base-rate=1/1000") == MaxFar(0.1, 0.001)
    assert parse_rule("max-fpr=0.1%") == MaxFpr(0.001)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "max-far=1/0",
        "max-far=%",
        "max-far",
        "max-far=x",
        "min-dr=0.9",
        "max-fpr=0.1,base-rate=0.1",
        "base-rate=0.1",
        "0.5",
    ],
)
def test_unknown_rule_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(MethodError, match="a rule reads threshold="):
        parse_rule(text)


@pytest.mark.parametrize(
    "text", ["max-far=0", "max-fpr=1", "max-far=nan", "max-far=0.1,base-rate=2", "threshold=inf"]
)
def test_limit_outside_of_its_range_is_refused(text: str) -> None:
    with pytest.raises(MethodError, match=r"must|is a share"):
        parse_rule(text)


@pytest.mark.parametrize("limit", [5e-324, 1e-309, 1e-300, 1 - 2**-53])
def test_a_limit_near_0_or_1_is_exact_too(limit: float) -> None:
    tp, fp = np.array([0, 3, 5]), np.array([0, 0, 1])
    assert MaxFar(limit).choose(tp, fp, 5, 10) == (2 if limit > 0.5 else 1)


@pytest.mark.parametrize(
    ("a", "by_a", "b", "by_b", "expected"),
    [
        # Neither product fits into 64 bits where its own number is the large one.
        ([0, 1], 1, [0, 2**61], 16, [True, True]),
        ([0, 2**61], 16, [0, 1], 1, [True, False]),
        ([0, 2**61], 15, [0, 2**61], 16, [True, True]),
    ],
)
def test_large_numbers_are_compared_exactly(
    a: list[int], by_a: int, b: list[int], by_b: int, expected: list[bool]
) -> None:
    kept = at_most(np.array(a), Fraction(by_a), np.array(b), Fraction(by_b))
    assert kept.tolist() == expected
