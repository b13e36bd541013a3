"""What a store says of its runs: a list, a trend and an unpaired comparison, to be drawn."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.v02 import plots
from assay.errors import AssayError
from assay.v02.escaping import plural
from assay.v02.inference import Estimate, holm
from assay.v02.inference.fields import Result, finite, restored
from assay.v02.inference.time_courses import MOVER, unpaired_difference
from assay.v02.measures.catalogue import DIFFERENCES
from assay.v02.number_text import decimal, exact_percent, p_text
from assay.v02.report import IMPORTED
from assay.v02.report.document import Document, json_text, sound
from assay.v02.report.provenance import Provenance
from assay.v02.report.sections import Cell, Column, Kind, PeriodCourse, Prose, Report, Section, Table
from assay.v02.store.comparing import Unpaired
from assay.v02.store.run import KeptRun, Page, stored_estimate, summary_of

if TYPE_CHECKING:
    from assay.v02.plots.canvas import Axes

# Rules as documents write them, each with its text and its outcome.
Rules: TypeAlias = list[dict[str, Any]]
# How the rules of gates and of watched detectors come out that are kept.
KEPT = ("pass", "holds")
# A page draws so many test sets one beside the other, those with most runs.
_MOST_DRAWN = 6
NO_RUNS = (
    "There are no runs here yet. A command that judges keeps its result with --record NAME, as in: "
    "assay evaluate predictions.csv --record flows"
)


def drawn_again(run: KeptRun) -> Document | Report:
    """The document of a run, of which every face can be drawn again."""
    return drawn_from(json.loads(run.document), name=run.name)


def drawn_from(plain: Any, *, name: str = "") -> Document | Report:
    """The document of plain values, whether of a result or of what a store says of its runs.

    ``name`` is what imported metrics are called.
    """
    schema = str(plain.get("schema")) if isinstance(plain, dict) else ""
    if schema == f"assay.{IMPORTED}/1":
        return _imported(plain, name)
    if schema not in _PAGES:
        return Document.from_plain(plain)
    given = plain.get("provenance")
    made = None if given is None else restored(Provenance, given, "/provenance")
    with sound():
        return _PAGES[schema](plain).made_by(made)


def _imported(plain: Mapping[str, Any], name: str) -> Report:
    columns = (Column("metric"), Column("value", Kind.SHARE))
    with sound():
        rows = tuple(summary_of(json_text(plain)).estimates.items())
        told = (Section("Metrics", (Table("As they were imported", columns, rows, as_rows=True),)),)
        return Report(name or plain["source"]["name"], tuple(plain["headline"]), told, plain=plain)


def runs_report(page: Page, *, rules: Callable[[KeptRun], Rules | None] | None = None) -> Report:
    """A list of runs, where ``rules`` tells them also which each has, and whether they hold."""
    return _list_of(page, None if rules is None else [rules(run) for run in page.runs])


def _list_of(page: Page, rules: Sequence[Rules | None] | None) -> Report:
    of_runs = [None for _ in page.runs] if rules is None else rules
    columns = (
        Column("run"),
        Column("made, UTC"),
        Column("name"),
        Column("kind"),
        Column("gate"),
        Column("tags", optional=True),
        Column("headline" if rules is None else "rules that do not hold", optional=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(run.id, _moment(run.made), run.name, run.kind, run.gate or ""),
            *(" ".join(run.tags), run.headline if rules is None else _not_kept(of_run)),
        )
        for run, of_run in zip(page.runs, of_runs, strict=True)
    ]
    caption = f"Runs in {page.place}, newest first"
    notes = ["There are older ones: --before RUN shows them, --limit N more of them."] * page.more
    if page.damaged:
        notes.append(
            f"{page.damaged} {plural(page.damaged, 'run is', 'runs are')} damaged and can't be "
            f"shown; all others are here."
        )
    blocks = (Table(caption, columns, tuple(rows), tuple(notes)),) if rows else (Prose(NO_RUNS),)
    return Report(
        title=f"Runs in {page.place}",
        headline=(),
        sections=(Section("Runs", blocks),),
        plain=page.to_dict()
        if rules is None
        else {**page.to_dict(), "runs": _with_rules(page, rules)},
        records=tuple(
            {**run.to_dict(), "tags": " ".join(run.tags)}
            | ({} if rules is None else {"rules": _not_kept(of_run)})
            for run, of_run in zip(page.runs, of_runs, strict=True)
        ),
    )


def rules_of(run: KeptRun) -> Rules | None:
    """The rules of a gate or of a watched detector; None where they can't be read."""
    try:
        rules = json.loads(run.document)["rules"]
        return [rule for rule in rules if rule["rule"] and rule["outcome"]]
    except (AssayError, ValueError, KeyError, TypeError):
        # One run that can't be read must not hide the others.
        return None


def _with_rules(page: Page, of_runs: Sequence[Rules | None]) -> list[dict[str, Any]]:
    return [
        {**run.to_dict(), "rules": rules} for run, rules in zip(page.runs, of_runs, strict=True)
    ]


def _not_kept(rules: Rules | None) -> str:
    """The rules that do not hold, each with its outcome, in one line."""
    if rules is None:
        return "its document can't be read"
    return "; ".join(f"{r['rule']}: {r['outcome']}" for r in rules if r["outcome"] not in KEPT)


def _moment(made: str) -> str:
    """A moment of UTC as a table writes it."""
    return made[:16].replace("T", " ")


# -- trends --------------------------------------------------------------------------------------


def trend_report(trend: RunTrend) -> Report:
    """How a measure went, with a mark where the test set changed."""
    return Report(
        title=f"{trend.measure} of {trend.name}",
        headline=trend.sentences,
        sections=(_trend_points(trend), *_trend_pictures(trend)),
        plain=trend.to_dict(),
        records=tuple(point.to_dict() for point in trend.points),
    )


def _trend_points(trend: RunTrend) -> Section:
    columns = (
        Column("run"),
        Column("made, UTC"),
        Column(trend.measure, Kind.SHARE),
        Column("rows", Kind.COUNT, optional=True),
        Column("test set"),
        Column("change", Kind.DIFFERENCE),
        Column("p, adjusted", optional=True),
    )
    before: list[Step | None] = [None, *trend.steps]
    rows = [_row(point, step) for point, step in zip(trend.points, before, strict=True)]
    level = trend.points[-1].level
    caption = "Oldest first" + (f", {exact_percent(level)} intervals" if level else "")
    return Section("Runs", (Table(caption, columns, tuple(rows), as_rows=True),))


def _row(point: TrendPoint, step: Step | None) -> tuple[Cell, ...]:
    where = f"{point.segment + 1}" if step is None or step.joined else f"{point.segment + 1} (new)"
    change: Cell = None if step is None else step.difference
    p = "" if step is None or step.p_adjusted is None else p_text(step.p_adjusted)
    return (point.run, _moment(point.made), point.estimate, point.n, where, change, p)


def _trend_pictures(trend: RunTrend) -> tuple[Section, ...]:
    """A picture of each test set that has several runs: no line joins one with another."""
    longest = sorted((s for s in trend.segments if len(s) > 1), key=len, reverse=True)
    blocks = [
        PeriodCourse(
            f"Test set {points[0].segment + 1}, {len(points)} runs",
            (Column("made, UTC"), Column(trend.measure, Kind.SHARE)),
            tuple((_moment(point.made)[5:], point.estimate) for point in points),
        )
        for points in sorted(longest[:_MOST_DRAWN], key=lambda points: points[0].segment)
    ]
    if not blocks:
        return ()
    return (Section("Over time", tuple(blocks), detail=True),)


@dataclass(frozen=True, repr=False)
class TrendPlots(plots.Figures):
    """The figure of a trend; a line joins runs on the same test set alone."""

    trend: RunTrend

    def course(self, ax: Axes | None = None) -> Axes:
        """The measure of each run with its interval, the newest test sets each in a colour."""
        newest = self.trend.segments[-_MOST_DRAWN:]
        points = [point for segment in newest for point in segment]
        nothing = Estimate(math.nan)
        courses = [
            (
                f"{self.trend.measure}, test set {segment[0].segment + 1}",
                [p.estimate if p.segment == segment[0].segment else nothing for p in points],
            )
            for segment in newest
        ]
        names = [_moment(point.made)[5:] for point in points]
        return plots.over_time(names, range(len(points)), courses, period="run", ax=ax)

    def _figures(self) -> plots.NamedFigures:
        yield "trend", self.course


# -- comparisons ---------------------------------------------------------------------------------


def unpaired_report(comparison: Unpaired) -> Report:
    """Differences of two runs, each with an interval of its own rows."""
    columns = (
        Column("measure"),
        Column(comparison.names[0], Kind.SHARE),
        Column(comparison.names[1], Kind.SHARE),
        Column("difference", Kind.DIFFERENCE),
        Column("p"),
        Column("p, adjusted"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(each.measure, each.old, each.new, each.difference),
            *_ps(each.p, each.p_adjusted),
        )
        for each in comparison.differences
    ]
    first = [row for row in rows if row[0] in DIFFERENCES] or rows
    caption = f"{comparison.names[1]} less {comparison.names[0]}, unpaired"
    notes = () if comparison.same_test_set else (f"These runs are of {CHANGED}.",)
    sections = [Section("Differences", (Table(caption, columns, tuple(first), notes),))]
    if len(first) < len(rows):
        every = Table(caption, columns, tuple(rows), notes)
        sections.append(Section("Every measure", (every,), detail=True))
    plain = comparison.to_dict()
    return Report(
        title=f"{comparison.names[1]} against {comparison.names[0]}",
        headline=comparison.sentences,
        sections=tuple(sections),
        plain=plain,
        records=tuple(plain["differences"]),
    )


def _ps(p: float, adjusted: float | None) -> tuple[str, str]:
    return "" if math.isnan(p) else p_text(p), "" if adjusted is None else p_text(adjusted)


def _listed_runs(plain: Mapping[str, Any]) -> Report:
    """The list of runs that plain values tell, with the rules of each where it has them."""
    with_rules = any("rules" in run for run in plain["runs"])
    rules = [run["rules"] for run in plain["runs"]] if with_rules else None
    return _list_of(Page.from_dict(plain), rules)


# What draws again what a store says, by its schema.
_PAGES: Mapping[str, Callable[[Mapping[str, Any]], Report]] = {
    "assay.runs/1": _listed_runs,
    "assay.trend/1": lambda plain: trend_report(RunTrend.from_dict(plain)),
    "assay.unpaired/1": lambda plain: unpaired_report(Unpaired.from_dict(plain)),
}


# -- how a measure went from run to run ------------------------------------------------------------

TREND_SCHEMA = "assay.trend/1"
UNPAIRED = (
    "Differences are unpaired: each run's interval is taken as of rows of its own. Between runs on "
    "the same rows that is cautious; `assay runs compare A B` pairs runs whose rows were kept."
)
CHANGED = "another test set: the rows may have changed, and not the detector"


@dataclass(frozen=True)
class TrendPoint:
    """The estimate of one run; ``segment`` counts how often the test set changed before it."""

    run: str
    made: str
    value: float
    low: float | None
    high: float | None
    n: float | None
    level: float | None
    test_set: str | None
    gate: str | None = None
    segment: int = 0

    @property
    def estimate(self) -> Estimate:
        """The value with its interval."""
        return stored_estimate(self.value, self.low, self.high, self.n, self.level)

    def to_dict(self) -> dict[str, Any]:
        """The point as plain values."""
        keys = ("run", "made", "value", "low", "high", "n", "level", "test_set", "segment", "gate")
        return {key: getattr(self, key) for key in keys}


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
class RunTrend(Result):
    """The points of a measure, oldest first, and what changed between them.

    ``steps`` are between neighbours; ``whole`` is from the first to the last run of the newest test
    set, None where that has one run.
    """

    name: str
    measure: str
    points: tuple[TrendPoint, ...]
    steps: tuple[Step, ...] = ()
    whole: Step | None = None

    @property
    def segments(self) -> tuple[tuple[TrendPoint, ...], ...]:
        """The points by test set: those of one segment may be joined by a line."""
        segments: dict[int, list[TrendPoint]] = {}
        for point in self.points:
            segments.setdefault(point.segment, []).append(point)
        return tuple(map(tuple, segments.values()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the trend says."""
        return tuple(_sentences(self))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunTrend:
        """What :meth:`to_dict` wrote: the points tell the rest."""
        points = [TrendPoint(**point) for point in plain["points"]]
        return trend_of(plain["name"], plain["measure"], points)

    def to_report(self) -> Report:
        """What its report says."""
        return trend_report(self)

    def to_dict(self) -> dict[str, Any]:
        """The trend as plain values, ready for JSON."""
        return {
            "schema": TREND_SCHEMA,
            "name": self.name,
            "measure": self.measure,
            "points": [point.to_dict() for point in self.points],
            "steps": [step.to_dict() for step in self.steps],
            "whole": None if self.whole is None else self.whole.to_dict(),
            "test_sets": len(self.segments),
            "headline": list(self.sentences),
        }


def trend_of(name: str, measure: str, points: Sequence[TrendPoint]) -> RunTrend:
    """The trend of points in their order; it breaks where the test set may be another."""
    placed: list[TrendPoint] = []
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
    return RunTrend(name, measure, tuple(placed), steps, whole)


def _sentences(trend: RunTrend) -> Iterator[str]:
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
        yield (
            f"{number} steps {plural(len(untested), 'was', 'were')} not tested. "
            f"{_untested(untested[0])}."
        )
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
