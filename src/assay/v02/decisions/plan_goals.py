"""How many labelled rows it takes to know what one wants to know, for one goal or for several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

from assay.v02.decisions.rows_needed import (
    EXPECTED_DR,
    ROWS,
    FarGoal,
    Need,
    RecallGoal,
    chance,
    chance_of_width,
    connor,
    first,
    mcnemar_power,
    rows_for_difference,
    rows_for_sure,
    rows_for_width,
    rows_needed,
)
from assay.errors import InputError
from assay.v02.escaping import given_text
from assay.v02.inference.fields import Recorded, Result, stored
from assay.v02.inference.proportions import ClopperPearson, Wilson
from assay.v02.inference.significance import as_list, check_level, check_share
from assay.v02.number_text import significant

__all__ = ["Goal", "Need", "Plan", "plan"]


@dataclass(frozen=True)
class Goal(Recorded):
    """One thing to know: what was asked, how sure, and what it takes.

    ``confidence`` is this goal's own, after the error was shared: that of a bound, or the level of
    an interval or a test. ``needs`` are ways to reach it; ``enough`` is the smallest that succeeds
    with the power asked for, given the expected rates. ``hopeless`` tells why nothing does.
    """

    name: str
    target: float
    confidence: float
    needs: tuple[Need, ...]
    enough: Need | None = None
    hopeless: str | None = None
    family: str | None = None
    discordant: float | None = None


@dataclass(frozen=True, repr=False)
class Plan(Result, Recorded):
    """How many labelled rows are needed, for each goal.

    >>> from assay import plan
    >>> plan(max_fpr=1e-4)["max_fpr"].needs[0].negatives
    23025
    """

    SCHEMA: ClassVar[str] = "assay.plan/1"

    goals: tuple[Goal, ...]
    confidence: float
    level: float
    power: float
    base_rate: float | None = None
    rows: int | None = None
    expected_fpr: float | None = field(default=None, metadata=stored(key="expected/fpr"))
    expected_dr: float | None = field(default=None, metadata=stored(key="expected/dr"))
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Goal:
        """The first goal of a name, such as ``max_fpr``."""
        for goal in self.goals:
            if goal.name == name:
                return goal
        raise KeyError(f"there is no goal {name!r}; there are {[g.name for g in self.goals]}")

    @property
    def certified(self) -> tuple[Goal, ...]:
        """The goals that share the confidence."""
        return tuple(goal for goal in self.goals if goal.name in CERTIFIED)

    def records(self) -> list[dict[str, Any]]:
        """Every need as a row of a table."""
        columns = [field.name for field in fields(Need)]
        return [
            {
                "goal": goal.name,
                "family": goal.family,
                "target": goal.target,
                "confidence": goal.confidence,
                **{name: getattr(need, name) for name in columns},
                "enough": need == goal.enough,
            }
            for goal in self.goals
            for need in dict.fromkeys((*goal.needs, *((goal.enough,) if goal.enough else ())))
        ]


CERTIFIED = ("max_fpr", "min_dr", "max_far")


# How many errors the rows may hold, in the tables of a plan.
ERRORS = (0, 1, 2, 5, 10, 20)
# Where the share is not known: there the interval is widest.
WORST = 0.5
# How rare attacks may be, where nobody says.
USUAL_BASE_RATES = (0.1, 0.01, 0.001, 0.0001)
# Rows that are worth a draw.
_FEWEST_ROWS = 100
_MOST_ROWS = 10**15
# The chances with which a difference is to be shown.
POWERS = (0.5, 0.8, 0.9, 0.95)


def plan(
    *,
    max_fpr: float | None = None,
    min_dr: float | None = None,
    min_dr_families: Mapping[str, float] | None = None,
    max_far: float | None = None,
    base_rate: float | None = None,
    width: float | None = None,
    recall_width: float | None = None,
    rows: int | None = None,
    difference: float | None = None,
    discordant: float | None = None,
    expected_fpr: float | None = None,
    expected_dr: float | None = None,
    expected: float | None = None,
    power: float = 0.8,
    confidence: float = 0.9,
    level: float = 0.95,
    errors: Sequence[int] = ERRORS,
) -> Plan:
    """How many labelled rows are needed to know what one wants to know.

    ``max_fpr``: negatives that show a false positive rate of at most this. ``min_dr``: positives
    that show a detection rate of at least this, also ``min_dr_families``, a number for each family.
    ``max_far`` with ``base_rate``: negatives and positives together, or labelled alerts, that show
    a false alarm rate of at most this. Each holds with ``confidence``; several share the error in
    equal parts (Bonferroni), so that all hold together.

    ``width``: rows of an interval at ``level`` that is at most so wide, where the share is
    ``expected`` (else the worst, 0.5). ``recall_width``: labels of an interval of the detection
    rate that is at most so wide, drawn at random and by strata as :func:`assay.sample` draws them,
    from ``rows`` (a million) where attacks are as rare as ``base_rate`` (else 1 in 10 to 1 in
    10,000). ``difference``: rows on which two models, right on the same rows but for a share
    ``discordant``, are told apart by McNemar's test at ``level`` with the chance ``power``.

    With ``expected_fpr`` and ``expected_dr``, what the detector is thought to do, each number comes
    with its chance of success, and the plan tells how many rows succeed with the chance ``power``.

    >>> planned = plan(max_fpr=1e-4, expected_fpr=2e-5)
    >>> planned["max_fpr"].needs[0].negatives, planned["max_fpr"].enough.negatives
    (23025, 38896)
    """
    max_fpr = _share("max_fpr", max_fpr)
    min_dr = _share("min_dr", min_dr)
    max_far = _share("max_far", max_far)
    base_rate = _share("base_rate", base_rate)
    width = _share("width", width)
    recall_width = _share("recall_width", recall_width)
    difference = _share("difference", difference)
    discordant = _share("discordant", discordant)
    expected_fpr = _share("expected_fpr", expected_fpr)
    expected_dr = _share("expected_dr", expected_dr)
    expected = _share("expected", expected)
    power = check_share("power", power)
    families = _families(min_dr_families)
    confidence, level = check_level(confidence, "confidence"), check_level(level)
    asked = _PlanRequest(power, confidence, level, _errors(errors), expected_fpr, expected_dr)
    if max_far is not None and base_rate is None:
        raise InputError("max_far= needs base_rate=, the share of attacks in deployment")
    if (difference is None) != (discordant is None):
        raise InputError("difference= and discordant= go together")
    if difference is not None and discordant is not None and difference > discordant:
        raise InputError(
            f"two models that differ by {difference!r} disagree on at least that share of rows; "
            f"found discordant={discordant!r}"
        )
    bounds = [max_fpr, min_dr, *families.values(), max_far]
    certified = sum(bound is not None for bound in bounds)
    if not certified and all(each is None for each in (width, recall_width, difference)):
        raise InputError(
            "a plan needs a goal: max_fpr=, min_dr=, max_far= with base_rate=, width=, "
            "recall_width=, or difference= with discordant="
        )
    if rows is not None and (type(rows) is not int or not _FEWEST_ROWS <= rows <= _MOST_ROWS):
        raise InputError(
            f"rows= are those that labels are drawn from, {_FEWEST_ROWS} at least and 10^15 at "
            f"most; found {given_text(rows)}"
        )
    if rows is not None and recall_width is None:
        raise InputError("rows= are those that labels are drawn from, so recall_width= is needed")
    rates = (max_far, width, recall_width)
    shown = (max_far, recall_width, max_fpr, min_dr, *families.values())
    for name, given, used, goals_of in (
        ("expected_fpr", expected_fpr, (max_fpr, *rates), "max_fpr=, max_far= or a width"),
        ("expected_dr", expected_dr, (min_dr, *rates), "min_dr=, max_far= or a width"),
        ("expected", expected, (width,), "width="),
        ("base_rate", base_rate, shown, "a rate to be shown, or recall_width="),
    ):
        if given is not None and all(goal is None for goal in used):
            raise InputError(f"{name}={given!r} is for {goals_of}, which is not asked for")
    risk = (1 - _decimal(confidence)) / max(certified, 1)
    goals: list[Goal] = []
    if max_fpr is not None:
        goals.append(asked.negatives(max_fpr, risk))
    if min_dr is not None:
        goals.append(asked.positives(min_dr, risk))
    goals += [asked.positives(share, risk, name) for name, share in families.items()]
    if max_far is not None and base_rate is not None:
        goals.append(asked.far(max_far, base_rate, risk))
    if width is not None:
        goals.append(asked.width(width, expected))
    if recall_width is not None:
        goals.append(asked.recall(recall_width, rows or ROWS, base_rate))
    if difference is not None and discordant is not None:
        goals.append(asked.difference(difference, discordant))
    return Plan(
        tuple(goals),
        confidence=confidence,
        level=level,
        power=power,
        base_rate=base_rate,
        rows=None if recall_width is None else rows or ROWS,
        expected_fpr=expected_fpr,
        expected_dr=expected_dr,
    )


@dataclass(frozen=True)
class _PlanRequest:
    """How sure one wants to be, and what one expects."""

    power: float
    confidence: float
    level: float
    errors: tuple[int, ...]
    expected_fpr: float | None
    expected_dr: float | None

    def negatives(self, limit: float, risk: Decimal) -> Goal:
        """Negatives that show a false positive rate."""
        exact = _decimal(limit)

        def need(errors: int) -> Need:
            rows = rows_needed(exact, errors, risk)
            likely = None
            if self.expected_fpr is not None:
                likely = chance(rows, errors, self.expected_fpr)
            return Need(negatives=rows, false_alarms=errors, chance=likely)

        enough, hopeless = None, None
        if self.expected_fpr is not None:
            enough = self._least(need, float(exact), self.expected_fpr)
            if enough is None:
                hopeless = (
                    f"a detector with a false positive rate of {self.expected_fpr:g} is not shown "
                    f"to stay below {limit:g} by any number of rows"
                )
        needs = tuple(map(need, self.errors))
        return Goal("max_fpr", limit, float(1 - risk), needs, enough, hopeless)

    def positives(self, limit: float, risk: Decimal, family: str | None = None) -> Goal:
        """Positives that show a detection rate; of one family, whose rate is not expected."""
        exact = 1 - _decimal(limit)
        expected = self.expected_dr if family is None else None
        missed = None if expected is None else float(1 - _decimal(expected))

        def need(errors: int) -> Need:
            rows = rows_needed(exact, errors, risk)
            likely = None if missed is None else chance(rows, errors, missed)
            return Need(positives=rows, misses=errors, chance=likely)

        enough, hopeless = None, None
        if missed is not None:
            enough = self._least(need, float(exact), missed)
            if enough is None:
                hopeless = (
                    f"a detector with a detection rate of {expected:g} is not shown to reach "
                    f"{limit:g} by any number of rows"
                )
        needs = tuple(map(need, self.errors))
        return Goal("min_dr", limit, float(1 - risk), needs, enough, hopeless, family)

    def _least(self, need: Callable[[int], Need], limit: float, expected: float) -> Need | None:
        """The fewest rows that succeed with the power."""
        if expected >= limit:
            return None
        try:
            return need(first(lambda errors: (need(errors).chance or 0) >= self.power, 0))
        except InputError:  # the expected rate is all but the limit
            return None

    def far(self, limit: float, base_rate: float, risk: Decimal) -> Goal:
        """Rows that show a false alarm rate."""
        goal = FarGoal(
            _decimal(limit),
            _decimal(base_rate),
            risk,
            self.expected_fpr,
            self.expected_dr,
            self.power,
        )
        enough, hopeless = None, None
        if goal.expected is not None:
            enough = goal.enough()
            if enough is None:
                hopeless = (
                    f"a detector with a false alarm rate of {significant(goal.expected, 2)} at "
                    f"this base rate, which is what the expected rates come to, is not shown to "
                    f"stay below {limit:g} by any number of rows"
                )
        needs = tuple(goal.needs(self.errors))
        return Goal("max_far", limit, float(1 - risk), needs, enough, hopeless)

    def width(self, width: float, expected: float | None) -> Goal:
        """Rows of an interval that is narrow enough: at the share that is expected, or anywhere."""
        assumed = (expected, self.expected_dr, self.expected_fpr)
        shares = dict.fromkeys((*(share for share in assumed if share is not None), WORST))
        return Goal("width", width, self.level, tuple(self._widths(width, list(shares))))

    def recall(self, width: float, rows: int, base_rate: float | None) -> Goal:
        """Labels, at random and by strata, of a detection rate that is told closely enough."""
        expected = EXPECTED_DR if self.expected_dr is None else self.expected_dr
        rates = USUAL_BASE_RATES if base_rate is None else (base_rate,)
        needs = [
            need
            for rate in rates
            for need in RecallGoal(
                width, self.level, rows, rate, expected, self.expected_fpr
            ).needs()
        ]
        return Goal("recall_width", width, self.level, tuple(needs))

    def _widths(self, width: float, shares: list[float]) -> Iterator[Need]:
        for share in shares:
            for method in (Wilson(self.level), ClopperPearson(self.level)):
                usual = rows_for_width(method, width, share)
                sure = rows_for_sure(method, width, share, self.power)
                for rows in dict.fromkeys((usual, sure)):
                    likely = chance_of_width(method, width, share, rows)
                    yield Need(rows=rows, expected=share, method=method.name, chance=likely)

    def difference(self, difference: float, discordant: float) -> Goal:
        """Rows on which two models are told apart."""

        def need(rows: int, method: str) -> Need:
            likely = mcnemar_power(rows, difference, discordant, self.level)
            return Need(rows=rows, method=method, chance=likely)

        least = {
            power: need(rows_for_difference(difference, discordant, self.level, power), "mcnemar")
            for power in sorted({*POWERS, self.power})
        }
        usual = connor(difference, discordant, self.level, self.power)
        needs = (*least.values(), need(usual, "connor"))
        enough = least[self.power]
        return Goal("difference", difference, self.level, needs, enough, discordant=discordant)


def _share(name: str, share: float | None) -> float | None:
    return None if share is None else check_share(name, share)


def _families(shares: Mapping[str, float] | None) -> dict[str, float]:
    if shares is None:
        return {}
    if not isinstance(shares, Mapping):
        raise InputError(
            f"min_dr_families= has a share for each family, such as {{'dos': 0.9}}; found "
            f"{given_text(shares)}"
        )
    return {name: check_share(f"min_dr of {name!r}", share) for name, share in shares.items()}


def _decimal(share: float) -> Decimal:
    """The share as it was written, so that 0.1 is a tenth."""
    return Decimal(repr(float(share)))


def _errors(errors: Sequence[int]) -> tuple[int, ...]:
    given = as_list("errors=", errors, "how many errors the rows may hold")
    if not given or not all(_may_be_errors(each) for each in given):
        shown = ", ".join(map(given_text, given)) or "none"
        raise InputError(f"errors= are whole numbers from 0 to 10^15; found {shown}")
    return tuple(sorted({int(each) for each in given}))


def _may_be_errors(number: Any) -> bool:
    errors: Any = number if isinstance(number, Real) else -1
    return bool(0 <= errors <= _MOST_ROWS) and float(errors).is_integer()
