"""Empirical optima, against brute force over every threshold with exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.threshold.constraints import requirements
from assay.decisions.threshold.objectives import BestF1, BestMcc, EqualError, Youden, empirical_rule
from assay.decisions.threshold.sweep import ThresholdCounts, ThresholdSweep, tallies_of
from assay.sources import code_arrays

ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from("ab"), st.integers(1, 3)),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({row[0] for row in rows}) == 2)
SHARES = st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9])


def seen_of(rows: list[tuple[bool, int, str, int]]) -> ThresholdCounts:
    """Every threshold of some rows; they are too few to be looked at in blocks."""
    truth, scores, families, counts = zip(*rows, strict=True)
    coded = code_arrays(
        np.array(truth),
        y_score=np.array(scores, float),
        slices={"family": list(families)},
        counts=np.array(counts),
    )
    sides = {"positive": True, "negative": None, "labels": None}
    return ThresholdSweep.of(tallies_of(coded, sides)).seen_by()


class Cells:
    """The counts of one threshold, by looking at every row."""

    def __init__(self, rows: list[tuple[bool, int, str, int]], threshold: int) -> None:
        def total(**where: Any) -> int:
            return sum(
                count
                for truth, score, family, count in rows
                if truth == where["truth"]
                and (score >= threshold or not where.get("flagged", True))
                and family in where.get("family", "ab")
            )

        self.threshold = threshold
        self.tp, self.fp = total(truth=True), total(truth=False)
        self.positives = total(truth=True, flagged=False)
        self.negatives = total(truth=False, flagged=False)
        self.of_family = {
            family: Fraction(
                total(truth=True, family=family), total(truth=True, flagged=False, family=family)
            )
            for family in "ab"
            if total(truth=True, flagged=False, family=family)
        }
        self.dr = Fraction(self.tp, self.positives)
        self.fpr = Fraction(self.fp, self.negatives)

    def far(self, base_rate: Fraction | None) -> Fraction | None:
        share = base_rate or Fraction(self.positives, self.positives + self.negatives)
        false = (1 - share) * self.fpr
        alerts = false + share * self.dr
        return None if not alerts else false / alerts

    def alerts(self, base_rate: Fraction | None) -> Fraction:
        share = base_rate or Fraction(self.positives, self.positives + self.negatives)
        return share * self.dr + (1 - share) * self.fpr


def sweep(rows: list[tuple[bool, int, str, int]]) -> list[Cells]:
    return [Cells(rows, score) for score in sorted({row[1] for row in rows}, reverse=True)]


def chosen(rows: list[tuple[bool, int, str, int]], asked: dict[str, Any]) -> float | None:
    seen = seen_of(rows)
    families = tuple(sorted({family for truth, _, family, _ in rows if truth}))
    place = empirical_rule(requirements(**asked, families=families)).position(seen.counts)
    return None if place < 0 else float(seen.thresholds[place])


def best(points: list[Cells], value: Callable[[Cells], Any]) -> float | None:
    """The first of the best; thresholds fall."""
    return float(max(points, key=value).threshold) if points else None


@given(rows=ROWS, limit=SHARES)
def test_max_fpr_gives_the_highest_detection_rate_that_keeps_it(
    rows: list[Any], limit: float
) -> None:
    kept = [cells for cells in sweep(rows) if cells.fpr <= Fraction(str(limit))]
    assert chosen(rows, {"max_fpr": limit}) == best(kept, lambda cells: cells.tp)


@given(rows=ROWS, limit=SHARES, base_rate=st.sampled_from([None, 0.01, 0.3]))
def test_max_far_searches_every_threshold(
    rows: list[Any], limit: float, base_rate: float | None
) -> None:
    rate = None if base_rate is None else Fraction(str(base_rate))
    kept = [
        cells
        for cells in sweep(rows)
        if (far := cells.far(rate)) is not None and far <= Fraction(str(limit))
    ]
    expected = best(kept, lambda cells: cells.tp)
    assert chosen(rows, {"max_far": limit, "base_rate": base_rate}) == expected


@given(rows=ROWS, limit=SHARES)
def test_min_dr_alone_gives_the_lowest_far_and_then_the_most_detected(
    rows: list[Any], limit: float
) -> None:
    kept = [cells for cells in sweep(rows) if cells.dr >= Fraction(str(limit))]
    expected = best(kept, lambda cells: (-(cells.far(None) or 0), cells.tp))
    assert chosen(rows, {"min_dr": limit}) == expected


@given(rows=ROWS, limit=SHARES, most=SHARES)
def test_families_have_their_own_detection_rates(
    rows: list[Any], limit: float, most: float
) -> None:
    kept = [
        cells
        for cells in sweep(rows)
        if all(rate >= Fraction(str(limit)) for rate in cells.of_family.values())
        and cells.fpr <= Fraction(str(most))
    ]
    expected = best(kept, lambda cells: cells.tp)
    assert chosen(rows, {"min_dr_families": limit, "max_fpr": most}) == expected


@given(
    rows=ROWS,
    budget=st.sampled_from([1, 2, 5, 9]),
    base_rate=st.sampled_from([None, 0.1, 0.5]),
)
def test_a_budget_bounds_the_expected_alerts(
    rows: list[Any], budget: int, base_rate: float | None
) -> None:
    rate = None if base_rate is None else Fraction(str(base_rate))
    kept = [cells for cells in sweep(rows) if 10 * cells.alerts(rate) <= budget]
    expected = best(kept, lambda cells: cells.tp)
    assert chosen(rows, {"max_alerts": budget, "volume": 10, "base_rate": base_rate}) == expected


@given(rows=ROWS, limit=SHARES, base_rate=st.sampled_from([None, 0.2]), miss=st.integers(1, 20))
def test_costs_are_lowest_within_the_constraints(
    rows: list[Any], limit: float, base_rate: float | None, miss: int
) -> None:
    rate = None if base_rate is None else Fraction(str(base_rate))

    def cost(cells: Cells) -> Fraction:
        share = rate or Fraction(cells.positives, cells.positives + cells.negatives)
        return share * (1 - cells.dr) * miss + (1 - share) * cells.fpr * Fraction(3, 2)

    asked = {"cost_fp": 1.5, "cost_fn": miss, "base_rate": base_rate}
    assert chosen(rows, asked) == best(sweep(rows), lambda cells: -cost(cells))
    kept = [cells for cells in sweep(rows) if cells.fpr <= Fraction(str(limit))]
    assert chosen(rows, {**asked, "max_fpr": limit}) == best(kept, lambda cells: -cost(cells))


def test_of_equal_costs_the_highest_threshold_is_best_whatever_rounding_says() -> None:
    # As floats, 0.1 * 323 - 0.3 lies above 0.1 * 320.
    rows = [(True, 2, "a", 320), (True, 1, "a", 3), (False, 1, "a", 1)]
    assert chosen(rows, {"cost_fp": 0.3, "cost_fn": 0.1}) == 2


def mcc_squared(cells: Cells) -> Fraction:
    """MCC squared with its sign; flagging every row has none, and comes last."""
    flagged = cells.tp + cells.fp
    rest = cells.positives + cells.negatives - flagged
    if not rest:
        return Fraction(-2)
    lead = cells.tp * (cells.negatives - cells.fp) - cells.fp * (cells.positives - cells.tp)
    return Fraction(lead * abs(lead), flagged * rest * cells.positives * cells.negatives)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (Youden(), lambda cells: cells.dr - cells.fpr),
        (BestF1(), lambda cells: Fraction(2 * cells.tp, cells.tp + cells.fp + cells.positives)),
        (EqualError(), lambda cells: -abs(cells.fpr - (1 - cells.dr))),
        (BestMcc(), mcc_squared),
    ],
)
@given(rows=ROWS)
def test_the_usual_points_are_the_first_of_the_best(
    rule: Any, value: Callable[[Cells], Fraction], rows: list[Any]
) -> None:
    seen = seen_of(rows)
    place = rule.position(seen.counts)
    if isinstance(rule, BestMcc) and len(seen.thresholds) == 1:
        assert place == -1
    else:
        assert float(seen.thresholds[place]) == best(sweep(rows), value)


def test_limits_are_the_decimals_that_were_written() -> None:
    # As floats, 0.1 * 30 and 0.07 * 100 lie below and above 3 and 7.
    for negatives, limit, most in ((30, 0.1, 3), (100, 0.07, 7), (10, 0.3, 3)):
        rows = [(False, i, "a", 1) for i in range(negatives)] + [(True, -1, "a", 1)]
        counts = seen_of(rows).counts
        kept = empirical_rule(requirements(max_fpr=limit)).kept(counts)
        assert int(counts.fp[kept.last]) == most


def test_far_is_exact_where_products_pass_64_bits() -> None:
    positives, negatives, tp, fp = 999_999_937, 998_244_353, 999_999_000, 1_000_003
    rows = [
        (True, 9, "a", tp),
        (False, 9, "a", fp),
        (True, 1, "a", positives - tp),
        (False, 1, "a", negatives - fp),
    ]
    false, true = Fraction(fp, negatives) * 2 / 3, Fraction(tp, positives) / 3
    far = false / (false + true)
    seen = seen_of(rows)
    for limit, place in ((far, 1), (far - Fraction(1, 10**30), 0)):
        want = requirements(max_far=limit, base_rate=Fraction(1, 3))
        kept = empirical_rule(want).kept(seen.counts)
        assert len(kept.positions) == place
