"""Estimates side by side."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.errors import MethodError
from assay.inference import Estimate
from assay.measures import find
from assay.plots import dots, forest
from assay.plots.intervals import MOST

from . import drawn

ROWS = [
    ("dos", Estimate(0.99, 0.97, 1.0, n=420)),
    ("beacon", Estimate(0.73, 0.63, 0.81, n=100)),
    ("normal", Estimate(math.nan, undefined="no positives")),
    ("scan", Estimate(0.98, n=360)),
]


def names(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_worst_is_on_top() -> None:
    ax = dots(ROWS, find("recall"))
    assert names(ax) == ["beacon (100)", "scan (360)", "dos (420)"]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_the_worst_false_positive_rate_is_the_highest() -> None:
    assert names(dots(ROWS, find("fpr")))[0] == "dos (420)"


def test_days_stay_in_their_order() -> None:
    assert names(dots(ROWS, find("recall"), ordered=True))[0] == "dos (420)"


def test_bars_are_the_intervals() -> None:
    ((across,),) = drawn.bars(dots(ROWS, find("recall")))
    assert np.allclose(across[:, :, 0], [[0.63, 0.81], [0.98, 0.98], [0.97, 1.0]])
    assert np.allclose(across[:, :, 1], [[0, 0], [1, 1], [2, 2]])


def test_what_is_left_out_is_counted() -> None:
    ax = dots(ROWS, find("recall"))
    assert ax.get_xlabel() == "Detection rate (recall)\n95% intervals; 1 without a value"
    many = [(str(i), Estimate(i / 100)) for i in range(MOST + 7)]
    ax = dots(many, find("recall"))
    assert "7 more not shown" in ax.get_xlabel()
    assert len(names(ax)) == MOST
    assert names(ax)[0] == "0 (0)"


def test_all_rows_are_a_line_with_its_interval() -> None:
    ax = dots(ROWS, find("recall"), whole=Estimate(0.95, 0.92, 0.97))
    assert drawn.legend(ax) == ["all rows 0.950 [0.920, 0.970]"]
    (span,) = ax.patches
    assert np.allclose(
        span.get_extents().transformed(ax.transData.inverted()).intervalx, [0.92, 0.97]
    )
    alone = dots(ROWS, find("recall"), whole=Estimate(0.95))
    assert not alone.patches
    assert dots(ROWS, find("recall"), whole=Estimate(math.nan)).get_legend() is None


def test_a_difference_that_may_be_0_is_hollow() -> None:
    rows = [
        ("ROC AUC", Estimate(0.02, 0.01, 0.03)),
        ("MCC", Estimate(0.01, -0.01, 0.03)),
        ("FPR", Estimate(-0.02, -0.03, -0.01)),
        ("F1", Estimate(math.nan)),
    ]
    ax = forest(rows, pair="new less old")
    markers = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_markerfacecolor() == "white" for line in markers] == [False, True, False]
    assert names(ax) == ["ROC AUC", "MCC", "FPR"]
    assert ax.get_xlabel() == "new less old\n95% intervals"
    assert any(np.array_equal(line.get_xdata(), [0, 0]) for line in ax.lines)


def test_nothing_with_a_value_is_refused() -> None:
    with pytest.raises(MethodError, match="none of the estimates has a value"):
        dots(ROWS[2:3], find("recall"))
