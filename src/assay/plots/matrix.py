"""The confusion matrix as a heat map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.plots.canvas import COLUMN, LIGHT, PAGE, drawing, label
from assay.plots.names import plain, size

if TYPE_CHECKING:
    from assay.plots.canvas import Axes
    from assay.tally import Confusion

Numbers: TypeAlias = Mapping[tuple[int, int], str]

# With more classes than this the cells have no numbers, with more than that not every label.
NUMBERED = 40
LABELLED = 60
_LONGEST_LABEL = 18
_REST, _LETTER = 0.4, 0.055  # inches: what stands around the cells, and a letter of a label
_LARGEST, _LEGIBLE, _SMALLEST = 7.0, 5.5, 3.0  # points
_DIGIT = 0.62  # how wide a digit is, in font sizes


def confusion(table: Confusion, *, ax: Axes | None = None) -> Axes:
    """Counts and row shares of a confusion matrix; rows are the truth.

    The shade is the share of the row. Cells without rows have no numbers.
    """
    labels = [plain(name, _LONGEST_LABEL) for name in table.labels]
    shares = _shares(table)
    numbers = _numbers(table, shares) if len(labels) <= NUMBERED else {}
    with drawing(ax, *_page(labels, numbers)) as axes:
        shade = _shaded(axes, shares)
        _name(axes, labels)
        label(axes, "Decision", "True label")
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        if ax is None:
            axes.set_aspect("equal")
            figure: Any = axes.figure
            if len(labels) > NUMBERED:
                bar = figure.colorbar(shade, ax=axes, shrink=0.6, label="Share of the row")
                bar.outline.set_visible(False)
            else:
                figure.draw_without_rendering()  # so that the cells have their size
        _write(axes, numbers, shares)
    return axes


def _page(labels: Sequence[str], numbers: Numbers) -> tuple[float, float]:
    """The height and width of a figure in which the numbers can be read, in inches."""
    if len(labels) > NUMBERED:
        return 0.85 * PAGE, PAGE
    cell = _LEGIBLE * _DIGIT * (_letters(numbers) + 1) / 72
    side = max(COLUMN, cell * len(labels) + _REST + _LETTER * max(map(len, labels)))
    return side, side


def _numbers(table: Confusion, shares: Any) -> Numbers:
    return {
        (i, j): f"{size(cell)}\n{100 * shares[i, j]:.1f}%"
        for i, row in enumerate(table.cells)
        for j, cell in enumerate(row)
        if cell
    }


def _letters(numbers: Numbers) -> int:
    """How many letters the longest line of a cell has."""
    return max((len(line) for text in numbers.values() for line in text.split("\n")), default=1)


def _shares(table: Confusion) -> Any:
    """Each cell as a share of its row; nan in a row without rows."""
    return np.array(
        [
            [float(cell / total) if total else math.nan for cell in row]
            for row, total in zip(table.cells, table.rows, strict=True)
        ]
    )


def _shaded(ax: Axes, shares: Any) -> Any:
    from matplotlib import colormaps

    colours = colormaps["Blues"].with_extremes(bad=LIGHT)
    look: dict[str, Any] = {"cmap": colours, "vmin": 0, "vmax": 1}
    classes = len(shares)
    if classes > NUMBERED:
        # So many cells would make a large file of small squares: an image instead.
        return ax.imshow(shares, interpolation="nearest", aspect="auto", **look)
    edges = np.arange(classes + 1) - 0.5
    ax.set_ylim(classes - 0.5, -0.5)
    return ax.pcolormesh(edges, edges, shares, edgecolors="white", linewidth=0.5, **look)


def _write(ax: Axes, numbers: Numbers, shares: Any) -> None:
    font = min(_LARGEST, _cell(ax, len(shares)) / (_DIGIT * (_letters(numbers) + 1)))
    if font < _SMALLEST:
        return
    for (i, j), text in numbers.items():
        colour = "white" if shares[i, j] > 0.55 else "black"
        ax.text(j, i, text, ha="center", va="center", fontsize=font, color=colour)


def _cell(ax: Axes, classes: int) -> float:
    """The smaller side of a cell as it will be drawn, in points."""
    box = ax.get_window_extent()
    return 72 * float(min(box.width, box.height)) / float(ax.figure.dpi) / classes


def _name(ax: Axes, labels: list[str]) -> None:
    step = math.ceil(len(labels) / LABELLED)
    places = list(range(0, len(labels), step))
    shown = [labels[i] for i in places]
    upright = len(labels) > 3 or max(map(len, labels)) > 12
    font = 7 if len(labels) <= NUMBERED else 5
    ax.set_xticks(places, shown, rotation=90 if upright else 0, fontsize=font, usetex=False)
    ax.set_yticks(places, shown, fontsize=font, usetex=False)
