"""From which score on a row is flagged: as said, the usual one, or none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import ScoreError

USUAL = 0.5
_PERCENT, _HALF = 100, 50


def checked_threshold(threshold: Any) -> float:
    """A finite number."""
    try:
        number = float(threshold)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ScoreError(f"threshold must be a finite number; found {threshold!r}")
    return number


def least_reaching(thresholds: Any, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """The least floats of a kind that are not below thresholds: scores reach both or neither.

    Scores of 32 bits so need not be copied to be compared with a threshold of 64.

    >>> least_reaching([0.5, 0.1, 1e300], np.dtype(np.float32)).tolist()
    [0.5, 0.10000000149011612, inf]
    """
    asked = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore"):  # nothing of this kind may reach it
        nearest = asked.astype(kind)
        return np.where(nearest < asked, np.nextafter(nearest, kind.type(np.inf)), nearest)


def likely_threshold(low: float, high: float) -> tuple[float, str] | None:
    """The threshold that scores of this range are likely meant for, and what they look like.

    >>> likely_threshold(-4.2, 3.1), likely_threshold(0, 99.5), likely_threshold(0, 7)
    ((0, 'logits'), (50, 'percentages'), None)
    """
    if low < 0 < high:
        return 0, "logits"
    if low >= 0 and _HALF <= high <= _PERCENT:
        return _HALF, "percentages"
    return None


def undecided_note(low: float, high: float, name: str = "") -> str:
    """Why nothing is decided, and what to say; ``name`` is the model, where there are several."""
    of = f" of {name!r}" if name else ""
    likely = likely_threshold(low, high)
    which = "the score from which on a row is flagged"
    said = f"say threshold=, {which}"
    if likely is not None:
        said = f"say threshold={likely[0]} if these are {likely[1]}, or else {which}"
    return (
        f"the scores{of} run from {low + 0.0:g} to {high + 0.0:g} and no threshold was given, so "
        f"no row is decided on: {said}"
    )
