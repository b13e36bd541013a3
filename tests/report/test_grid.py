"""Forest plots in characters, and what a difference tells."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference import Estimate
from assay.measures import Better
from assay.number_text import difference_parts
from assay.report.grid import OPEN, TOLD, WIDTH, ZERO, cell_parts, span_of, strips_of
from assay.report.sections import Change, DifferenceOutcome, ForestPlot, Formula, Kind

UNDEFINED = Estimate(math.nan, undefined="no rows")


def change(low: float, value: float, high: float, better: Better = Better.HIGHER) -> Change:
    return Change("x", Estimate(value, low, high), better)


@pytest.mark.parametrize(
    ("ends", "better", "outcome"),
    [
        ((0.01, 0.02, 0.03), Better.HIGHER, DifferenceOutcome.BETTER),
        ((0.01, 0.02, 0.03), Better.LOWER, DifferenceOutcome.WORSE),
        ((0.01, 0.02, 0.03), Better.NEITHER, DifferenceOutcome.DIFFERENT),
        ((-0.03, -0.02, -0.01), Better.HIGHER, DifferenceOutcome.WORSE),
        ((-0.03, -0.02, -0.01), Better.LOWER, DifferenceOutcome.BETTER),
        ((-0.001, 0.0, 0.001), Better.HIGHER, DifferenceOutcome.SAME),
        ((-0.1, 0.0, 0.001), Better.HIGHER, DifferenceOutcome.OPEN),
        ((0.0, 0.1, 0.2), Better.HIGHER, DifferenceOutcome.OPEN),
    ],
)
def test_an_interval_on_one_side_of_zero_tells(
    ends, better: Better, outcome: DifferenceOutcome
) -> None:
    assert change(*ends, better).outcome(0.01) is outcome


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [(None, DifferenceOutcome.OPEN), (20, DifferenceOutcome.OPEN), (5000, DifferenceOutcome.SAME)],
)
def test_no_difference_at_all_is_the_same_only_on_many_rows(
    rows, outcome: DifferenceOutcome
) -> None:
    assert Change("x", Estimate(0.0, 0.0, 0.0, n=rows)).outcome(0.01) is outcome


def test_a_difference_without_an_interval_is_open_and_without_a_value_undefined() -> None:
    assert Change("x", Estimate(0.2)).outcome(0.01) is DifferenceOutcome.OPEN
    assert Change("x", UNDEFINED).outcome(0.01) is DifferenceOutcome.UNDEFINED


def test_the_strip_shows_interval_point_zero_and_margin() -> None:
    forest = ForestPlot("c", (change(0.06, 0.08, 0.1), change(-0.1, 0, 0.1)), 0.02)
    told, opened = strips_of(forest)
    assert told == "       ··│··  ──●──"
    assert opened.count(OPEN) == 1
    assert opened.index(OPEN) == WIDTH // 2


def test_a_margin_far_beyond_the_differences_does_not_hide_them() -> None:
    low, high = span_of(ForestPlot("c", (change(0.001, 0.002, 0.003),), 0.5))
    assert -0.01 < low < -0.003
    assert 0.003 < high < 0.01


def test_nothing_at_all_can_be_drawn() -> None:
    assert strips_of(ForestPlot("c", (Change("x", UNDEFINED),), None))[0].strip() == ZERO
    assert strips_of(ForestPlot("c", ())) == []


finite = st.floats(-2, 2)


@given(
    st.lists(st.tuples(finite, finite, finite).map(sorted), max_size=6), st.none() | st.just(0.01)
)
def test_every_line_is_as_wide_and_has_its_point(ends, margin) -> None:
    forest = ForestPlot("c", tuple(change(*each) for each in ends), margin)
    for line in strips_of(forest):
        assert len(line) == WIDTH
        assert line.count(TOLD) + line.count(OPEN) == 1


def test_differences_have_signs_and_zero_has_none() -> None:
    assert difference_parts(Estimate(0.0, -0.5, 0.5)) == ("0", "[-0.500, +0.500]")
    assert difference_parts(Estimate(1234.5, 1000, 2000)) == ("+1,234", "[+1,000, +2,000]")
    assert difference_parts(UNDEFINED) == ("undefined", "")


def test_cell_is_written_by_its_kind() -> None:
    assert cell_parts(None, Kind.COUNT) == ("", "")
    assert cell_parts("a", Kind.TEXT) == ("a", "")
    assert cell_parts(Formula("TP / FP", r"\frac{TP}{FP}"), Kind.TEXT) == ("TP / FP", "")
    assert cell_parts(14869, Kind.COUNT) == ("14,869", "")
    assert cell_parts(0.5, Kind.SHARE) == ("0.500", "")
    assert cell_parts(math.nan, Kind.SHARE) == ("undefined", "")
    assert cell_parts(1520.4, Kind.DAILY) == ("1,520", "")
    assert cell_parts(Estimate(0.5, 0.4, 0.6), Kind.SHARE) == ("0.500", "[0.400, 0.600]")
