"""What is asked of a threshold: constraints, costs, and what deployment is like."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from assay.errors import InputError, MethodError
from assay.sources import label_text

MAX_FAR, MAX_FPR, MIN_DR, MAX_ALERTS = "max_far", "max_fpr", "min_dr", "max_alerts"
COST_FP, COST_FN = "cost_fp", "cost_fn"

HIGHEST_DR = "highest detection rate"
LOWEST_FAR = "lowest false alarm rate"
LOWEST_COST = "lowest expected cost"
NO_OBJECTIVE = "none: the usual points side by side"


@dataclass(frozen=True)
class Wanted:
    """What was asked, each number as the decimal that was written.

    ``families`` are the lowest detection rates of families. ``base_rate`` is None where the share
    of positives of the rows themselves is meant.
    """

    max_far: Fraction | None = None
    max_fpr: Fraction | None = None
    min_dr: Fraction | None = None
    max_alerts: Fraction | None = None
    cost_fp: Fraction | None = None
    cost_fn: Fraction | None = None
    base_rate: Fraction | None = None
    volume: Fraction | None = None
    confidence: Fraction = Fraction(9, 10)
    families: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many constraints there are; costs are none."""
        asked = (self.max_far, self.max_fpr, self.min_dr, self.max_alerts)
        return sum(each is not None for each in asked) + len(self.families)

    @property
    def risk(self) -> Fraction:
        """The share of the error that each constraint has (Bonferroni)."""
        return (1 - self.confidence) / max(self.size, 1)

    @property
    def budget(self) -> Fraction | None:
        """The share of rows that may be flagged."""
        if self.max_alerts is None or self.volume is None:
            return None
        return self.max_alerts / self.volume

    @property
    def objective(self) -> str:
        """What is made as good as the constraints allow."""
        if self.cost_fp is not None:
            return LOWEST_COST
        if self.max_far is not None or self.max_fpr is not None or self.max_alerts is not None:
            return HIGHEST_DR
        return LOWEST_FAR if self.size else NO_OBJECTIVE

    @property
    def constraints(self) -> dict[str, float]:
        """What was asked, by the names of the contract."""
        plain = (MAX_FAR, MAX_FPR, MIN_DR, MAX_ALERTS, COST_FP, COST_FN)
        found = {name: getattr(self, name) for name in plain}
        found |= {f"{MIN_DR}.{family}": limit for family, limit in self.families.items()}
        return {name: float(limit) for name, limit in found.items() if limit is not None}


def wanted(
    *,
    max_far: Any = None,
    max_fpr: Any = None,
    min_dr: Any = None,
    min_dr_families: Any = None,
    max_alerts: Any = None,
    cost_fp: Any = None,
    cost_fn: Any = None,
    base_rate: Any = None,
    volume: Any = None,
    confidence: Any = 0.9,
    families: tuple[str, ...] = (),
) -> Wanted:
    """Check what is asked; ``families`` are those that the rows have."""
    if (cost_fp is None) != (cost_fn is None):
        raise InputError("cost_fp= and cost_fn= go together: what a false alarm and a miss cost")
    if max_alerts is not None and volume is None:
        raise InputError("max_alerts= is a number a day, so volume= is needed: the rows a day")
    return Wanted(
        max_far=_share(MAX_FAR, max_far),
        max_fpr=_share(MAX_FPR, max_fpr),
        min_dr=_share(MIN_DR, min_dr),
        max_alerts=_above_zero(MAX_ALERTS, max_alerts),
        cost_fp=_above_zero(COST_FP, cost_fp),
        cost_fn=_above_zero(COST_FN, cost_fn),
        base_rate=_share("base_rate", base_rate),
        volume=_above_zero("volume", volume),
        confidence=_share("confidence", confidence) or Fraction(9, 10),
        families=_families(min_dr_families, families),
    )


def _families(asked: Any, known: tuple[str, ...]) -> dict[str, Fraction]:
    if asked is None:
        return {}
    if not known:
        raise InputError(
            "a detection rate of families needs to know which row is of which: give families=, "
            "the column that tells it"
        )
    if not isinstance(asked, Mapping):
        asked = dict.fromkeys(known, asked)
    asked = {label_text(family): limit for family, limit in asked.items()}
    absent = [family for family in asked if family not in known]
    if absent:
        shown = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
        raise InputError(f"no positive row is of the family {absent[0]!r}; there are {shown}")
    found = {family: _share(f"{MIN_DR} of {family!r}", v) for family, v in asked.items()}
    return {family: limit for family, limit in found.items() if limit is not None}


def _share(name: str, value: Any) -> Fraction | None:
    if value is None:
        return None
    if not _number(value) or not 0 < value < 1:
        raise MethodError(f"{name} is a share between 0 and 1, such as 0.1; found {value!r}")
    return _exact(value)


def _above_zero(name: str, value: Any) -> Fraction | None:
    if value is None:
        return None
    if not _number(value) or not 0 < value < math.inf:
        raise MethodError(f"{name} is a number above 0; found {value!r}")
    return _exact(value)


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _exact(value: Any) -> Fraction:
    """The decimal that was written: 0.1 is a tenth, not the float nearest to it."""
    return Fraction(str(value))
