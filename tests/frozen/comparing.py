"""How frozen answers are compared: one rule a key, and what differs by it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str, ...]
Leaf = str | int | float | bool | None

# -- the rules, the first that fits ----------------------------------------------------------------
# A value that moves with the seed is *resampled*: its file says its mean and spread over seeds.
# Any other text, whole number, or yes and no is *equal*; sentences were replaced by a mark.
# Fractions go by their key, and figures also by their measure:

EXACT_FIGURES = ("value", "value_a", "value_b", "new", "old", "auc", "unadjusted")
THRESHOLDS = (
    "threshold",
    "thresholds",
    "below",
    "bound",
    "limit",
    "confidence",
    "level",
    "base_rate",
)
SUMMED = ("difference", "slope", "mean", "sd")
# Their values are sums of logarithms, squares and the like, or come from a fit.
LOSSES = re.compile(
    r"^(log_loss|brier\w*|expected_calibration_error|calibration_\w+|h_measure\w*|c_id|ks|oscr"
    r"|average_precision|partial_auc|precision_recall_gain_area|roc_auc_ovo|median\w*)\b"
)
RULES = {
    "equal": 0.0,
    "1e-12": 1e-12,
    "1e-9": 1e-9,
    "resampled": 4.0,  # Monte-Carlo standard errors
}


def rule_of(path: Path, was: Leaf, now: Leaf, seeds: dict[str, Any], *, weighted: bool) -> str:
    """The name of the rule for one value."""
    if "/".join(path) in seeds:
        return "resampled"
    if not (isinstance(was, float) or isinstance(now, float)):
        return "equal"
    key = path[-1] if not path[-1].isdigit() else path[-2]
    if weighted or key in SUMMED:
        return "1e-12" if key in EXACT_FIGURES + SUMMED or key.isdigit() else "1e-9"
    if key in THRESHOLDS:
        return "equal"
    if key in EXACT_FIGURES and not any(LOSSES.search(part) for part in path):
        return "equal"
    return "1e-9"


def holds(rule: str, was: Leaf, now: Leaf, spread: Any = None) -> bool:
    """Whether a value of now agrees with the one that was frozen."""
    if rule == "resampled":
        if isinstance(spread, dict):  # words that came with one seed or another
            return now in spread["any of"]
        mean, error, *absent = spread
        if now is None:
            return bool(absent)
        # The mean is itself of 20 draws, so that it errs a little too.
        allowed = RULES[rule] * error * math.sqrt(1 + 1 / 20) + 1e-9 * abs(mean)
        return _is_number(now) and abs(now - mean) <= allowed
    if _is_number(was) and _is_number(now):
        return abs(was - now) <= RULES[rule] * max(abs(was), abs(now))
    return type(was) is type(now) and was == now


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- two answers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """One value that is not what it was."""

    path: Path
    was: Leaf
    now: Leaf
    rule: str
    keys: frozenset[str]  # any of these names it, to accept it

    def names(self, measure: str) -> bool:
        """Whether it belongs to a measure."""
        word = re.compile(rf"(?<![\w.]){re.escape(measure)}(?![\w.])")
        return any(word.search(part) for part in self.path)

    def __str__(self) -> str:
        return f"{' / '.join(self.path)}: was {self.was!r}, is {self.now!r} ({self.rule})"


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    """All values of an answer with their paths; what is null or empty is not there."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from leaves(part, (*path, str(place)))
    elif value is not None:
        yield path, value


def differences(
    was: dict[str, Any], now: dict[str, Any], seeds: dict[str, Any], *, weighted: bool = False
) -> list[Difference]:
    """What differs between a frozen answer and the one of now."""
    before, after = dict(leaves(was)), dict(leaves(now))
    known = {path[:end] for path in before for end in range(len(path) + 1)}
    present = {path[:end] for path in after for end in range(len(path) + 1)}
    found = []
    for path in [*before, *(path for path in after if path not in before)]:
        old, new = before.get(path), after.get(path)
        rule = rule_of(path, old, new, seeds, weighted=weighted)
        if not holds(rule, old, new, seeds.get("/".join(path))):
            other = present if new is None else known
            found.append(Difference(path, old, new, rule, _keys(path, other)))
    return found


def _keys(path: Path, other: set[Path]) -> frozenset[str]:
    """The key of a value; of an entry that came or went as a whole, that of its list too."""
    start = next((end for end in range(len(path)) if path[: end + 1] not in other), len(path) - 1)
    if start < len(path) - 1:
        return frozenset(path[max(start - 1, 0) : start + 1])
    return frozenset({next((part for part in reversed(path) if not part.isdigit()), path[-1])})
