"""The one door to figures: what every ``plot`` of a result has, and models on the same axes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.plots.canvas import drawing, is_own, save

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

Named: TypeAlias = Iterator[tuple[str, Callable[[], "Axes"]]]

# A legend of more models than this stands below the axes, which it would cover.
INSIDE = 3
_ENTRY = 0.15  # inches that an entry of a legend takes


class Figures:
    """Figures of one result; each is drawn on ``ax``, or on axes of its own, and returns them.

    A figure of its own is a column of a paper wide and is not known to pyplot: nothing has to be
    closed, and ``plt.show`` does not show it. In a notebook its axes do.
    """

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write all figures that apply, one file a figure and format, and give their paths.

        Text stays text, there is no date in the files, and equal results give equal bytes.
        """
        figures = dict(self._figures())
        return save(figures, folder, formats) if figures else ()

    def _figures(self) -> Named:
        """Every figure that applies, by the name of its file."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"Figures: {', '.join(sorted({name for name in dir(self) if self._draws(name)}))}"

    def _draws(self, name: str) -> bool:
        return not name.startswith("_") and callable(getattr(type(self), name, None))


def name_models(ax: Axes, models: int, references: Sequence[str] = ()) -> Axes:
    """A legend with one entry a model, below the axes where many would cover them.

    ``references`` are further entries, of lines that are no model's.
    """
    curves: list[Any] = [line for line in ax.lines if _is_curve(line)] or list(ax.containers)
    handles = [*curves, *(line for line in ax.lines if line.get_label() in references)]
    with drawing(ax, 0) as axes:
        if models <= INSIDE or not is_own(axes):
            axes.legend(handles=handles)
            return axes
        figure: Any = axes.figure
        more = _ENTRY * (len(handles) + 1)
        high = figure.get_figheight() + more
        figure.set_figheight(high)
        figure.get_layout_engine().set(rect=(0, more / high, 1, 1 - more / high))
        place: dict[str, Any] = {
            "loc": "lower center",
            "bbox_to_anchor": (0.5, 0),
            "borderaxespad": 0.5,
        }
        legend = axes.legend(handles=handles, bbox_transform=figure.transFigure, **place)
        # Its room is set aside; a layout that sees it would narrow the axes.
        legend.set_in_layout(False)
    return axes


def _is_curve(line: Any) -> bool:
    return bool(line.get_gid() == "curve" or line.get_drawstyle().startswith("steps"))
