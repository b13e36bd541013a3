"""Claims with one mistake in them, and what the audit finds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.decisions.audit.audit import audited
from assay.decisions.audit.claim import Claim
from assay.decisions.audit.exact import judge
from assay.decisions.audit.mistakes import explain
from assay.decisions.audit.printed import Printed, printed
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.exact import Exact
from assay.tally import Confusion
from injected.kinds import KINDS, Case, Kind, one, pick
from injected.matrices import Matrix, Values, labels_of, many_classes, numbers, two_classes

AREAS = ("roc_auc", "average_precision")


@dataclass(frozen=True)
class Tried:
    """A number that a mistake changed so much that its digits show it.

    ``place`` is where the mistake stands among the explanations; ``other_name`` whether it stands
    there by its value alone.
    """

    flagged: bool
    place: int | None
    other_name: bool
    explained: bool


def tries(kind: Kind, rng: np.random.Generator) -> Iterator[Tried]:
    """One claim with one mistake; what is found of each number whose digits show it."""
    many = kind.classes == "many" or (kind.classes == "both" and rng.random() < 0.5)
    matrix = many_classes(rng) if many else two_classes(rng)
    honest = numbers(matrix)
    if any(math.isnan(value) for value in honest.values()):
        return
    case = kind.make(rng, matrix, honest)
    if case is None:
        return
    changed = [key for key in case.wrong if case.wrong[key] != honest.get(key)]
    others = [key for key in honest if key not in changed]
    keys = [str(key) for key in rng.permutation(changed)[: rng.integers(3, 7)]]
    keys += [str(key) for key in rng.permutation(others)[: rng.integers(6, 11) - len(keys)]]
    percent = bool(rng.random() < 0.3)
    reported = {
        key: tuple(as_printed(end, percent=percent) for end in np.atleast_1d(case.wrong[key]))
        for key in keys
    }
    claim = _claim(case, reported).with_percents()
    for number in explain(claim, audited(claim).numbers):
        if number.key in changed and _shows(number.key, reported[number.key], case):
            yield _tried(number, case)


def as_printed(value: float, *, percent: bool) -> Printed:
    """Four decimals, or as many digits where that would leave none."""
    if 0 < abs(value) < 0.0005:
        return printed(f"{value:.3e}")
    return printed(f"{value:.2%}" if percent else f"{value:.4f}")


def _claim(case: Case, reported: dict[str, tuple[Printed, ...]]) -> Claim:
    labels = labels_of(case.matrix)
    two = len(labels) == 2
    return Claim(
        "simulated",
        positive=labels[1] if two else None,
        negative=labels[0] if two else None,
        labels=labels,
        matrix=Confusion(labels, tuple(map(tuple, case.matrix))),
        reported={
            key: ends[0] if len(ends) == 1 else (ends[0], ends[1]) for key, ends in reported.items()
        },
        **case.more,
    )


def _shows(key: str, ends: tuple[Printed, ...], case: Case) -> bool:
    """Whether the digits differ from all that may be right; of an area nothing is known."""
    if key in case.rights:
        rights = case.rights[key]
    elif key in case.honest:
        rights = [Exact.near(float(case.honest[key]))]
    else:
        return True
    return not any(
        all(
            judge(end, value) is not Verdict.INCONSISTENT
            for end, value in zip(ends, np.atleast_1d(right), strict=True)
        )
        for right in rights
    )


def _tried(number: Judged, case: Case) -> Tried:
    # The counts do not decide an area: then it counts if its mistake is told.
    told = number.key in AREAS and number.verdict is Verdict.UNDETERMINED
    flagged = number.verdict is Verdict.INCONSISTENT or told
    value = float(np.atleast_1d(case.wrong[number.key])[0])
    for place, found in enumerate(number.explanations, 1):
        named = bool({found.mistake, *found.also} & set(case.names))
        if named or math.isclose(found.value, value, rel_tol=1e-9):
            return Tried(flagged, place, not named, explained=True)
    return Tried(flagged, None, other_name=False, explained=bool(number.explanations))


@dataclass(frozen=True)
class Share:
    """What was found of one kind of mistake: how many numbers showed it, were flagged, named."""

    kind: str
    shown: int
    flagged: int
    first: int
    second: int
    other_name: int

    @property
    def named(self) -> float:
        """The share of the flagged with the mistake among the first two."""
        return (self.first + self.second) / self.flagged if self.flagged else math.nan


def measure(kind: Kind, claims: int, seed: int) -> Share:
    """Make one kind of mistake many times."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    shown = [found for _ in range(claims) for found in tries(kind, rng)]
    flagged = [found for found in shown if found.flagged]
    return Share(
        kind.name,
        len(shown),
        len(flagged),
        sum(found.place == 1 for found in flagged),
        sum(found.place == 2 for found in flagged),
        sum(found.other_name and found.place in (1, 2) for found in flagged),
    )


def accidents(claims: int, seed: int) -> tuple[int, int]:
    """How many numbers with random digits there were, and how many found an explanation."""
    rng = np.random.default_rng([seed, len(KINDS)])

    def change(rng: np.random.Generator, _: Matrix, honest: Values) -> Any:
        return pick(rng, list(honest)), rng.uniform(0, 1), "none"

    kind = one("random digits", change)
    shown = [found for _ in range(claims) for found in tries(kind, rng)]
    return len(shown), sum(found.explained for found in shown)
