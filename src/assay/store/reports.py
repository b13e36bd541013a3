"""What a store says of its runs: a list, a trend and an unpaired comparison, to be drawn."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from assay import plots
from assay.errors import AssayError
from assay.inference import Estimate
from assay.inference.fields import restored
from assay.inference.significance import p_text
from assay.measures.shown import DIFFERENCES
from assay.report.document import Document, json_text, sound
from assay.report.kinds import IMPORTED
from assay.report.provenance import Provenance
from assay.report.sections import Cell, Column, Kind, Periods, Prose, Report, Section, Table
from assay.store.comparing import Unpaired
from assay.store.run import Page, Point, Run
from assay.store.summary import summary_of
from assay.store.trend import CHANGED, Step, Trend

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

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


def drawn_again(run: Run) -> Document | Report:
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


def runs_report(page: Page, *, rules: Callable[[Run], Rules | None] | None = None) -> Report:
    """A list of runs, where ``rules`` tells them also which each has, and whether they hold."""
    return _list_of(page, None if rules is None else [rules(run) for run in page.runs])


def _list_of(page: Page, rules: Sequence[Rules | None] | None) -> Report:
    found = [None for _ in page.runs] if rules is None else rules
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
        for run, of_run in zip(page.runs, found, strict=True)
    ]
    caption = f"Runs in {page.place}, newest first"
    notes = ["There are older ones: --before RUN shows them, --limit N more of them."] * page.more
    if page.damaged:
        notes.append(f"{page.damaged} runs are damaged and can't be shown; all others are here.")
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
            for run, of_run in zip(page.runs, found, strict=True)
        ),
    )


def rules_of(run: Run) -> Rules | None:
    """The rules of a gate or of a watched detector; None where they can't be read."""
    try:
        rules = json.loads(run.document)["rules"]
        return [rule for rule in rules if rule["rule"] and rule["outcome"]]
    except (AssayError, ValueError, KeyError, TypeError):
        # One run that can't be read must not hide the others.
        return None


def _with_rules(page: Page, found: Sequence[Rules | None]) -> list[dict[str, Any]]:
    return [{**run.to_dict(), "rules": rules} for run, rules in zip(page.runs, found, strict=True)]


def _not_kept(rules: Rules | None) -> str:
    """The rules that do not hold, each with its outcome, in one line."""
    if rules is None:
        return "its document can't be read"
    return "; ".join(f"{r['rule']}: {r['outcome']}" for r in rules if r["outcome"] not in KEPT)


def _moment(made: str) -> str:
    """A moment of UTC as a table writes it."""
    return made[:16].replace("T", " ")


# -- trends ----------------------------------------------------------------------------------------


def trend_report(trend: Trend) -> Report:
    """How a measure went, with a mark where the test set changed."""
    return Report(
        title=f"{trend.measure} of {trend.name}",
        headline=trend.sentences,
        sections=(_points(trend), *_drawn(trend)),
        plain=trend.to_dict(),
        records=tuple(point.to_dict() for point in trend.points),
    )


def _points(trend: Trend) -> Section:
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
    caption = "Oldest first" + (f", {100 * level:.10g}% intervals" if level else "")
    return Section("Runs", (Table(caption, columns, tuple(rows), as_rows=True),))


def _row(point: Point, step: Step | None) -> tuple[Cell, ...]:
    where = f"{point.segment + 1}" if step is None or step.joined else f"{point.segment + 1} (new)"
    change: Cell = None if step is None else step.difference
    p = "" if step is None or step.p_adjusted is None else p_text(step.p_adjusted)
    return (point.run, _moment(point.made), point.estimate, point.n, where, change, p)


def _drawn(trend: Trend) -> tuple[Section, ...]:
    """A picture of each test set that has several runs: no line joins one with another."""
    longest = sorted((s for s in trend.segments if len(s) > 1), key=len, reverse=True)
    blocks = [
        Periods(
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

    trend: Trend

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

    def _figures(self) -> plots.Named:
        yield "trend", self.course


# -- comparisons -----------------------------------------------------------------------------------


def unpaired_report(found: Unpaired) -> Report:
    """Differences of two runs, each with an interval of its own rows."""
    columns = (
        Column("measure"),
        Column(found.names[0], Kind.SHARE),
        Column(found.names[1], Kind.SHARE),
        Column("difference", Kind.DIFFERENCE),
        Column("p"),
        Column("p, adjusted"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(each.measure, each.old, each.new, each.difference),
            *_ps(each.p, each.p_adjusted),
        )
        for each in found.differences
    ]
    first = [row for row in rows if row[0] in DIFFERENCES] or rows
    caption = f"{found.names[1]} less {found.names[0]}, unpaired"
    notes = () if found.same_test_set else (f"These runs are of {CHANGED}.",)
    sections = [Section("Differences", (Table(caption, columns, tuple(first), notes),))]
    if len(first) < len(rows):
        every = Table(caption, columns, tuple(rows), notes)
        sections.append(Section("Every measure", (every,), detail=True))
    plain = found.to_dict()
    return Report(
        title=f"{found.names[1]} against {found.names[0]}",
        headline=found.sentences,
        sections=tuple(sections),
        plain=plain,
        records=tuple(plain["differences"]),
    )


def _ps(p: float, adjusted: float | None) -> tuple[str, str]:
    return "" if math.isnan(p) else p_text(p), "" if adjusted is None else p_text(adjusted)


def _listed(plain: Mapping[str, Any]) -> Report:
    """The list of runs that plain values tell, with the rules of each where it has them."""
    with_rules = any("rules" in run for run in plain["runs"])
    rules = [run["rules"] for run in plain["runs"]] if with_rules else None
    return _list_of(Page.from_dict(plain), rules)


# What draws again what a store says, by its schema.
_PAGES: Mapping[str, Callable[[Mapping[str, Any]], Report]] = {
    "assay.runs/1": _listed,
    "assay.trend/1": lambda plain: trend_report(Trend.from_dict(plain)),
    "assay.unpaired/1": lambda plain: unpaired_report(Unpaired.from_dict(plain)),
}
