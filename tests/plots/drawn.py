"""What can be read from drawn axes."""

from __future__ import annotations

from typing import Any

import numpy as np


def curves(ax: Any) -> list[Any]:
    """The lines that are steps."""
    return [line for line in ax.lines if line.get_drawstyle().startswith("steps")]


def line(ax: Any, label: str) -> Any:
    """The one line of a label."""
    (drawn_line,) = [line for line in ax.lines if line.get_label() == label]
    return drawn_line


def corners(ax: Any, number: int = 0) -> np.ndarray:
    """Every corner of a stepped line as it is drawn, not only the points it is made of."""
    return curves(ax)[number].get_path().cleaned(simplify=False).vertices[:-1]


def bars(ax: Any) -> list[tuple[np.ndarray, ...]]:
    """The error bars of each container, as arrays of their two ends."""
    return [
        tuple(np.array(part.get_segments()) for part in container.lines[2])
        for container in ax.containers
    ]


def legend(ax: Any) -> list[str]:
    """The texts of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def texts(ax: Any) -> list[Any]:
    """Every text that we write: labels, ticks, numbers and the legend."""
    shown = [ax.xaxis.label, ax.yaxis.label, *ax.texts]
    shown += [*ax.get_xticklabels(), *ax.get_yticklabels()]
    return shown + (ax.get_legend().get_texts() if ax.get_legend() else [])
