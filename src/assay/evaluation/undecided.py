"""Scores without a scale and without a threshold: rows are ranked, and none is decided on."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from assay.formula import Expression, value
from assay.sources.thresholds import likely_threshold

if TYPE_CHECKING:
    from assay.tally import Resolved

NO_DECISIONS = "no threshold was given, and scores beyond [0, 1] have no usual one"
# As many rows of each class, decided in two ways.
_DECIDED = (
    {"TP": 17, "FN": 5, "FP": 7, "TN": 31},
    {"TP": 9, "FN": 13, "FP": 27, "TN": 11},
)


@lru_cache(maxsize=256)
def needs_decisions(formula: Expression) -> bool:
    """Whether a measure changes with the decisions; the prevalence does not.

    >>> from assay.measures import find
    >>> needs_decisions(find("precision").formula), needs_decisions(find("prevalence").formula)
    (True, False)
    """
    one, other = (value(formula, cells) for cells in _DECIDED)
    return one != other


def starting_threshold(tally: Resolved) -> float:
    """Where to begin looking: as the scores are likely meant, or the middle of their range."""
    assert tally.scores is not None  # noqa: S101 - only scores can be undecided
    scores = tally.scores[0].scores
    low, high = float(scores[0]), float(scores[-1])
    likely = likely_threshold(low, high)
    return low + (high - low) / 2 if likely is None else float(likely[0])
