"""Reported numbers beside what they should be."""

import pytest

from assay.errors import MethodError
from assay.plots.intervals import MOST_CLAIMS, ClaimedNumber, claimed

from . import drawn

ROWS = [
    ClaimedNumber("accuracy", 0.967, 0.967, agrees=True),
    ClaimedNumber("mcc", -0.1667, -0.0527, agrees=False),
]


def names(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_numbers_that_disagree_are_on_top() -> None:
    ax = claimed(ROWS)
    assert names(ax) == ["mcc", "accuracy"]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_a_line_joins_reported_and_recomputed() -> None:
    first = claimed(ROWS).lines[0]
    assert list(first.get_xdata()) == [-0.1667, -0.0527]


def test_legend_tells_the_three_marks() -> None:
    assert drawn.legend(claimed(ROWS)) == [
        "reported, agrees",
        "reported, can't be right",
        "recomputed",
    ]


def test_no_more_than_forty_are_shown_and_the_rest_is_told() -> None:
    ax = claimed([ClaimedNumber(f"n{i}", 0.1, 0.1, agrees=True) for i in range(MOST_CLAIMS + 3)])
    assert len(names(ax)) == MOST_CLAIMS
    assert ax.get_xlabel().endswith("3 more not shown")


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(MethodError, match="no number could be recomputed"):
        claimed([])


def test_names_are_shown_as_they_are() -> None:
    ax = claimed([ClaimedNumber("$x_1$ & <b>", 0.1, 0.2, agrees=False)])
    ax.figure.canvas.draw()
    assert "x_1" in names(ax)[0]
