"""Claims with one mistake in them, and what the audit finds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import assay
from injected.kinds import KINDS, Case, Kind, one, pick
from injected.matrices import (
    ONE_SIDED,
    Matrix,
    Values,
    conventions,
    labels_of,
    many_classes,
    numbers,
    two_classes,
)

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
        key: [as_printed(end, percent=percent) for end in np.atleast_1d(case.wrong[key])]
        for key in keys
    }
    (claim,) = assay.audit([_claim(case, reported)]).to_dict()["claims"]
    for number in claim["numbers"]:
        key = number["key"]
        if key in changed and _shows(key, reported[key], case):
            yield _tried(number, case)


def as_printed(value: float, *, percent: bool) -> str:
    """Four decimals, or as many digits where that would leave none."""
    if 0 < abs(value) < 0.0005:
        return f"{value:.3e}"
    return f"{value:.2%}" if percent else f"{value:.4f}"


def _claim(case: Case, reported: dict[str, list[str]]) -> dict[str, Any]:
    labels = labels_of(case.matrix)
    claim: dict[str, Any] = {
        "name": "simulated",
        "labels": list(labels),
        "matrix": case.matrix,
        "reported": {key: ends[0] if len(ends) == 1 else ends for key, ends in reported.items()},
        **case.more,
    }
    return claim | ({"positive": labels[1], "negative": labels[0]} if len(labels) == 2 else {})


def _shows(key: str, ends: list[str], case: Case) -> bool:
    """Whether the digits differ from all that may be right; of an area nothing is known."""
    if key in case.rights:
        rights = case.rights[key]
    elif len(case.matrix) == 2 and key in ONE_SIDED:
        rights = conventions(key, case.matrix)
    elif key in case.honest:
        rights = [case.honest[key]]
    else:
        return True
    return not any(
        all(_fits(end, float(value)) for end, value in zip(ends, np.atleast_1d(right), strict=True))
        for right in rights
    )


def _fits(printed: str, value: float) -> bool:
    """Whether a number is less than one unit of the last digit off."""
    digits, _, power = printed.rstrip("%").partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    scale = 100 if printed.endswith("%") else 1
    return abs(float(f"{digits}e{power or 0}") - value * scale) < unit * (1 - 1e-9)


def _tried(number: dict[str, Any], case: Case) -> Tried:
    # The counts do not decide an area: then it counts if its mistake is told.
    told = number["key"] in AREAS and number["verdict"] == "undetermined"
    flagged = number["verdict"] == "inconsistent" or told
    value = float(np.atleast_1d(case.wrong[number["key"]])[0])
    for place, explanation in enumerate(number["explanations"], 1):
        named = bool({explanation["mistake"], *explanation.get("also", ())} & set(case.names))
        if named or math.isclose(explanation["value"], value, rel_tol=1e-9):
            return Tried(flagged, place, not named, explained=True)
    return Tried(flagged, None, other_name=False, explained=bool(number["explanations"]))


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
    shown = [trial for _ in range(claims) for trial in tries(kind, rng)]
    flagged = [trial for trial in shown if trial.flagged]
    return Share(
        kind.name,
        len(shown),
        len(flagged),
        sum(trial.place == 1 for trial in flagged),
        sum(trial.place == 2 for trial in flagged),
        sum(trial.other_name and trial.place in (1, 2) for trial in flagged),
    )


def accidents(claims: int, seed: int) -> tuple[int, int]:
    """How many numbers with random digits there were, and how many found an explanation."""
    rng = np.random.default_rng([seed, len(KINDS)])

    def change(rng: np.random.Generator, _: Matrix, honest: Values) -> Any:
        return pick(rng, list(honest)), rng.uniform(0, 1), "none"

    kind = one("random digits", change)
    shown = [trial for _ in range(claims) for trial in tries(kind, rng)]
    return len(shown), sum(trial.explained for trial in shown)
