"""How a network learned: its loss after each epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.errors import MethodError
from assay.plots.canvas import BLUE, GREY, drawing, label
from assay.plots.names import plain

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

_NAMED = 6


def losses(curves: Mapping[str, Sequence[float]], *, ax: Axes | None = None) -> Axes:
    """The training loss of each epoch, a line a fold; with many folds only the first is named."""
    known = {name: values for name, values in curves.items() if len(values)}
    if not known:
        raise MethodError("a loss by epoch needs a network; this model has none")
    with drawing(ax, 2.5) as axes:
        several = len(known) > 1
        for i, (name, values) in enumerate(known.items()):
            shown = plain(name) if several and len(known) <= _NAMED else None
            axes.plot(
                range(1, len(values) + 1),
                values,
                color=BLUE if i == 0 or not several else GREY,
                lw=1.2,
                marker="o" if len(values) == 1 else None,
                label=shown,
            )
        axes.set_ylim(bottom=0)
        axes.locator_params(axis="x", integer=True)
        label(axes, "Epoch", "Training loss")
        if several and len(known) <= _NAMED:
            axes.legend()
    return axes
