"""How a measure went from run to run: where the test set changed, and whether it really moved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from assay.inference import Estimate, holm
from assay.inference.estimate import decimal
from assay.inference.not_finite import finite
from assay.inference.result import Result
from assay.inference.significance import p_text
from assay.inference.trend import MOVER, unpaired_difference
from assay.report.sections import Report
from assay.store.run import Point

SCHEMA = "assay.trend/1"
UNPAIRED = (
    "Differences are unpaired: each run's interval is taken as of rows of its own. Between runs on "
    "the same rows that is cautious; `assay runs compare A B` pairs runs whose rows were kept."
)
CHANGED = "another test set: the rows may have changed, and not the detector"


@dataclass(frozen=True)
class Step:
    """The difference between a run and an earlier one.

    ``p_adjusted`` is Holm's over all steps of the trend; None for the one from the first to the
    last run, which is a single test. ``joined`` tells whether both judged the same test set.
    """

    since: str
    run: str
    difference: Estimate
    p: float
    joined: bool
    p_adjusted: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The step as plain values."""
        plain: dict[str, Any] = finite(
            {
                "since": self.since,
                "run": self.run,
                "difference": float(self.difference),
                "low": self.difference.low,
                "high": self.difference.high,
                "p": self.p,
                "p_adjusted": self.p_adjusted,
                "same_test_set": self.joined,
                "method": MOVER,
            }
        )
        return plain


@dataclass(frozen=True, repr=False)
class Trend(Result):
    """The points of a measure, oldest first, and what changed between them.

    ``steps`` are between neighbours; ``whole`` is from the first to the last run of the newest test
    set, None where that has one run.
    """

    name: str
    measure: str
    points: tuple[Point, ...]
    steps: tuple[Step, ...] = ()
    whole: Step | None = None

    @property
    def segments(self) -> tuple[tuple[Point, ...], ...]:
        """The points by test set: those of one segment may be joined by a line."""
        found: dict[int, list[Point]] = {}
        for point in self.points:
            found.setdefault(point.segment, []).append(point)
        return tuple(map(tuple, found.values()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the trend says."""
        return tuple(_said(self))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Trend:
        """What :meth:`to_dict` wrote: the points tell the rest."""
        points = [Point(**point) for point in plain["points"]]
        return trend_of(plain["name"], plain["measure"], points)

    def to_report(self) -> Report:
        """What its report says."""
        from assay.store.reports import trend_report

        return trend_report(self)

    def to_dict(self) -> dict[str, Any]:
        """The trend as plain values, ready for JSON."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "measure": self.measure,
            "points": [point.to_dict() for point in self.points],
            "steps": [step.to_dict() for step in self.steps],
            "whole": None if self.whole is None else self.whole.to_dict(),
            "test_sets": len(self.segments),
            "headline": list(self.sentences),
        }


def trend_of(name: str, measure: str, points: Sequence[Point]) -> Trend:
    """The trend of points in their order; it breaks where the test set may be another."""
    placed: list[Point] = []
    for point in points:
        segment = 0
        if placed:
            last = placed[-1]
            joined = point.test_set is not None and point.test_set == last.test_set
            segment = last.segment if joined else last.segment + 1
        same = segment == point.segment
        placed.append(point if same else replace(point, segment=segment))
    tests = [unpaired_difference(old.estimate, new.estimate) for old, new in pairwise(placed)]
    adjusted = iter(holm([p for _, p in tests if not math.isnan(p)]))
    steps = tuple(
        Step(
            *(old.run, new.run, difference, p, old.segment == new.segment),
            p_adjusted=None if math.isnan(p) else next(adjusted),
        )
        for (old, new), (difference, p) in zip(pairwise(placed), tests, strict=True)
    )
    first = next(i for i, point in enumerate(placed) if point.segment == placed[-1].segment)
    whole = None
    if first < len(placed) - 1:
        test = unpaired_difference(placed[first].estimate, placed[-1].estimate)
        whole = Step(placed[first].run, placed[-1].run, *test, joined=True)
    return Trend(name, measure, tuple(placed), steps, whole)


def _said(trend: Trend) -> Iterator[str]:
    points = trend.points
    last = points[-1]
    yield (
        f"{trend.measure} of {trend.name}: {last.estimate} in the last of {len(points)} "
        f"{'run' if len(points) == 1 else 'runs'} ({last.made})."
    )
    if trend.whole is not None:
        step = trend.whole
        since = f"since run {step.since} (the same test set, {len(trend.segments[-1])} runs)"
        if math.isnan(step.p):
            yield f"It went by {_signed(step.difference)} {since}. {_untested(step)}."
        else:
            sure = step.p < 1 - step.difference.level
            moved = "It changed by" if sure else "No change can be told from chance:"
            yield f"{moved} {_signed(step.difference)}, {p_text(step.p)}, {since}."
    unknown = sum(point.test_set is None for point in points)
    breaks = len(trend.segments) - 1
    if breaks and unknown:
        yield (
            f"Which rows {unknown} of the runs judged is not known, so that their points are not "
            f"joined; a run of files by the command line tells it."
        )
    elif breaks:
        times = "once" if breaks == 1 else f"{breaks} times"
        yield f"The test set changed {times}; points before and after are not joined."
    tested = [step for step in trend.steps if step.p_adjusted is not None]
    sudden = [step for step in tested if (step.p_adjusted or 0) < 1 - step.difference.level]
    if sudden:
        listed = ", ".join(
            f"{step.run} ({_signed(step.difference)}{'' if step.joined else '; ' + CHANGED})"
            for step in sudden[:5]
        )
        more = f" and {len(sudden) - 5} more" if len(sudden) > 5 else ""
        yield (
            f"Steps beyond chance among {len(tested)}, p-values adjusted by Holm: {listed}{more}."
        )
    untested = [step for step in trend.steps if step.p_adjusted is None]
    if untested and len(trend.steps) > 1:
        number = f"{len(untested)} of {len(trend.steps)}"
        yield f"{number} steps were not tested. {_untested(untested[0])}."
    if trend.steps:
        yield UNPAIRED


def _untested(step: Step) -> str:
    """Why nothing can be said of chance."""
    return f"Whether by chance can't be told: {step.difference.undefined or step.difference.note}"


def _signed(difference: Estimate) -> str:
    ends = [decimal(end, sign="+") for end in (float(difference), difference.low, difference.high)]
    if math.isnan(difference.low):
        return ends[0]
    return f"{ends[0]} [{ends[1]}, {ends[2]}]"
