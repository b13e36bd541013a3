"""The verdict on each number of a claim whose matrix is not told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.derived import Table, derivations
from assay.decisions.audit.judge import same_digits, spellings
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.search.conflict import Conflict, Numbers, conflicts, smallest

Given = Sequence[tuple[Key, Printed]]


@dataclass(frozen=True)
class Fit:
    """What is said of a number that the others allow."""

    verdict: Verdict
    recomputed: float | None
    said: str


class Judge(Protocol):
    """Knows what numbers can be true together, and what those that can mean for each other."""

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""

    def fit(self, i: int, kept: Numbers) -> Fit:
        """What the numbers that hold together say of one of them."""

    def why(self, conflict: Conflict) -> str:
        """Why the members of a conflict can't be true together."""

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        """The value that the others give for a number that can't be right, and in words."""


def judge_together(
    claim: Claim, given: Given, judge: Judge
) -> tuple[dict[str, Judged], tuple[Conflict, ...], Numbers]:
    """Judge numbers against each other: what was found, the conflicts, and what holds together."""
    everything = frozenset(range(len(given)))
    derived: Mapping[int, str] = {}
    if not judge.possible(everything):
        derived = _derived(claim, given)
    # A measure of scores is bounded by the operating point, never the other way round.
    scored = frozenset(i for i, (key, _) in enumerate(given) if key.measure.formula is None)
    found = conflicts(everything - scored - set(derived), judge.possible)
    bad: set[int] = set()
    for conflict in found:
        bad |= conflict.wrong
    kept = everything - bad - scored - set(derived)
    for i in (*sorted(scored), *sorted(derived)):
        if judge.possible(kept | {i}):
            kept |= {i}
        elif i in scored:
            found = (*found, Conflict(smallest(kept | {i}, judge.possible), culprit=i))
            bad.add(i)
    judged = {}
    for i, (key, reported) in enumerate(given):
        if i in kept:
            fit = judge.fit(i, kept)
        elif i in bad:
            fit = _wrong(given, i, found, judge, kept)
        else:
            fit = Fit(Verdict.ROUNDING, None, f"as {derived[i]} gives")
        judged[key.text] = Judged(
            key.text, key.measure.name, reported.text, fit.recomputed, fit.verdict, fit.said
        )
    return judged, found, kept


def _wrong(given: Given, i: int, found: Sequence[Conflict], judge: Judge, kept: Numbers) -> Fit:
    conflict = next(each for each in found if i in each.wrong)
    others = [f"{given[k][0].text} {given[k][1].text}" for k in sorted(conflict.members - {i})]
    why = judge.why(conflict)
    said = f"can't hold together with {_listed(others)}: {why}" if others else why
    value, instead = judge.instead(i, kept)
    return Fit(Verdict.INCONSISTENT, value, f"{said}{'; ' if instead else ''}{instead}")


def together(size: int) -> str:
    """So many numbers in words."""
    return {1: "it", 2: "both", 3: "all three"}.get(size, f"all {size}")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


# -- what a report may have worked out from its own rounded numbers --------------------------------

_RATES = frozenset(
    {"precision", "recall", "specificity", "negative_predictive_value", "prevalence", "alert_rate"}
)
_COMPLEMENTS = frozenset(
    {
        "error_rate",
        "false_positive_rate",
        "false_negative_rate",
        "false_discovery_rate",
        "false_omission_rate",
    }
)
_FROM_RATES = frozenset(
    {
        "jaccard",
        "fowlkes_mallows",
        "balanced_accuracy",
        "g_mean",
        "informedness",
        "markedness",
        "positive_likelihood_ratio",
        "negative_likelihood_ratio",
    }
)


def _rank(key: Key) -> int:
    """Numbers are worked out from those of lower rank, never the other way round."""
    return 2 * _rank_of(key.measure.name) + (key.average is not None)


def _rank_of(name: str) -> int:
    if name in _RATES:
        return 0
    if name == "accuracy":
        return 1
    if name in _COMPLEMENTS:
        return 2
    if name.startswith("f") and name[1:2].isdecimal():
        return 3
    return 4 if name in _FROM_RATES else 5


def _derived(claim: Claim, given: Given) -> dict[int, str]:
    """Numbers that printed ones of lower rank give, digit by digit, and from which."""
    found = {}
    for i, (key, reported) in enumerate(given):
        rank = _rank(key)
        table = Table.of(claim, [other for other in given if _rank(other[0]) < rank])
        for value, how in derivations(key, table):
            if any(same_digits(each, value) for each in spellings(reported, key, claim)):
                found[i] = how
                break
    return found


def outside(key: Key, reported: Printed, claim: Claim) -> Judged | None:
    """A number that its measure can never be."""
    low, high = key.measure.range
    for number in spellings(reported, key, claim):
        too_low = math.isfinite(low) and number.value + number.unit <= low
        too_high = math.isfinite(high) and number.value - number.unit >= high
        if not (too_low or too_high):
            return None
    shown = f"{key.measure.name} lies between {low:g} and {high:g}"
    if math.isinf(high):
        shown = f"{key.measure.name} is never below {low:g}"
    return Judged(key.text, key.measure.name, reported.text, None, Verdict.INCONSISTENT, shown)
