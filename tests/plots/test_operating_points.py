"""The confusion matrix as a heat map."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from assay.plots import confusion
from assay.plots.operating_points import LABELLED, NUMBERED
from assay.tally import Confusion


def table_of(size: int, name: str = "class", times: int = 1) -> Confusion:
    cells = np.random.default_rng(1).integers(1, 99, (size, size)) + np.eye(size, dtype=int) * 900
    cells *= times
    names = tuple(f"{name} {i}" for i in range(size))
    return Confusion(names, tuple(tuple(row) for row in cells.tolist()))


def numbers(ax) -> dict[tuple[int, int], str]:
    """The text of each cell by its row and column."""
    return {
        (round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in ax.texts
    }


def test_cells_have_their_counts_and_shares_of_the_row() -> None:
    ax = confusion(Confusion(("normal", "attack"), ((7743, 167), (324, 6635))))
    assert numbers(ax) == {
        (0, 0): "7,743\n97.9%",
        (0, 1): "167\n2.1%",
        (1, 0): "324\n4.7%",
        (1, 1): "6,635\n95.3%",
    }
    assert [label.get_text() for label in ax.get_xticklabels()] == ["normal", "attack"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["normal", "attack"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Decision", "True label")


def test_the_first_label_is_on_top() -> None:
    bottom, top = confusion(table_of(3)).get_ylim()
    assert bottom > top


def test_the_shade_is_the_share_of_the_row() -> None:
    ax = confusion(Confusion(("a", "b"), ((3, 1), (0, 5))))
    assert np.allclose(ax.collections[0].get_array(), [[0.75, 0.25], [0, 1]])


def test_a_row_without_rows_has_neither_shade_nor_numbers() -> None:
    ax = confusion(Confusion(("a", "b"), ((3, 1), (0, 0))))
    assert np.ma.getmaskarray(ax.collections[0].get_array())[1].all()
    assert set(numbers(ax)) == {(0, 0), (0, 1)}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "times"), [(3, 1), (5, 10**12), (8, 9000), (NUMBERED, 1)])
def test_numbers_fit_into_their_cells(size: int, times: int) -> None:
    ax = confusion(table_of(size, "a name that leaves little room", times))
    ax.figure.draw_without_rendering()
    cell = ax.get_window_extent().width / size
    widest = max(text.get_window_extent().width for text in ax.texts)
    tallest = max(text.get_window_extent().height for text in ax.texts)
    assert len(ax.texts) == size * size
    assert max(widest, tallest) < cell
    assert ax.texts[0].get_fontsize() >= 5


def test_many_classes_have_no_numbers_but_a_scale() -> None:
    ax = confusion(table_of(NUMBERED + 1))
    assert not ax.texts
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[1].get_ylabel() == "Share of the row"


def test_very_many_classes_are_not_all_named() -> None:
    ax = confusion(table_of(4 * LABELLED))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [f"class {i}" for i in range(0, 4 * LABELLED, 4)]


def test_counts_of_any_size_are_written() -> None:
    ax = confusion(Confusion(("a", "b"), ((10**18, 3), (10**17, 10**19))))
    assert numbers(ax)[0, 0] == "1e+18\n100.0%"


def test_weights_are_written_short() -> None:
    ax = confusion(Confusion(("a", "b"), ((12.3456, 0.5), (4321.6, 1.0)), ((1, 1), (1, 1))))
    assert numbers(ax)[0, 0] == "12.3\n96.1%"
    assert numbers(ax)[1, 0] == "4,322\n100.0%"


def test_small_axes_get_no_numbers_that_nobody_could_read() -> None:
    ax = Figure(figsize=(1, 1)).add_subplot()
    assert confusion(table_of(20), ax=ax) is ax
    assert not ax.texts
    assert len(ax.figure.axes) == 1
