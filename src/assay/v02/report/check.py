"""The document of a check: what leaks, what else to know, and what a trivial model reaches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from assay.v02.escaping import name, plural
from assay.v02.evaluation.wording import listed
from assay.v02.learn.checks import FOUND, Check, CheckFinding, Pitfall
from assay.v02.learn.checks.case import HELD_OUT
from assay.v02.learn.checks.not_better_than_trivial import Baseline
from assay.v02.learn.checks.retest import NO_LEAK, Retest
from assay.v02.measures import find
from assay.v02.measures.catalogue import CHECKED, DECIDING
from assay.v02.number_text import count, difference_parts, exact_percent, measured_parts
from assay.v02.report.sections import (
    Cell,
    Change,
    Column,
    ForestPlot,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    measure_name,
    quoted,
)
from assay.v02.report.slices import refused_rows

_MOST_ROWS = 10
HEADS = (
    *("kind", "code", "severity", "pitfall", "message", "columns", "rows"),
    *("model", "measure", "value", "low", "high", "method", "n"),
)
CALLED = {"leak": "LEAK", "warning": "warning", "info": "info"}
TOLD = {"leak": ("leak", "leaks"), "warning": ("warning", "warnings"), "info": ("note", "notes")}


def report_of(check: Check) -> Report:
    """What a report says of a check."""
    headline = tuple(_headline(check))
    sections = (
        *_found(check),
        *_retest(check),
        _baselines(check),
        _pitfalls(check),
        *_reasons(check),
        *_where(check),
        *_refused(check),
    )
    return Report(
        title=_title(check),
        headline=headline,
        sections=sections,
        notes=check.notes,
        records=tuple(_records(check)),
    )


def _title(check: Check) -> str:
    names = [name(PurePath(part["name"]).name) for part in check.parts.values()]
    return f"Check of {' and '.join(names)}"


def _headline(check: Check) -> Iterator[str]:
    severities = Counter(finding.severity for finding in check.findings)
    if check.leaks:
        codes = listed([finding.code for finding in check.leaks])
        leaks = f"{severities['leak']} {plural(severities['leak'], *TOLD['leak'])}"
        yield f"Not honest as it is: {leaks} ({codes})."
    elif len(check.parts) == 1:
        yield "No leak was found in this file; how it is split is still to be done with care."
    else:
        yield "No leak between these parts was found."
    others = [
        f"{severities[severity]} {plural(severities[severity], *TOLD[severity])}"
        for severity in ("warning", "info")
        if severities[severity]
    ]
    rows = [
        f"{count(part['rows'])} {called + ' ' if len(check.parts) > 1 else ''}rows"
        for called, part in check.parts.items()
    ]
    also = f" {listed(others)} more." if others else ""
    yield f"{listed(rows)} of {_features(check)}.{also}"
    yield from _drop(check.retest)


def _features(check: Check) -> str:
    number = next(iter(check.parts.values()))["features"]
    return f"{count(number)} {plural(number, 'feature', 'features')}"


def _drop(retest: Retest | None) -> Iterator[str]:
    """The one drop that the headline tells."""
    if retest is None:
        return
    measure = next(name for name in DECIDING if name in retest.before.estimates)
    if retest.after is None:
        if retest.removed == NO_LEAK:
            value, interval = measured_parts(retest.before.estimates[measure])
            called = f"{measure_name(measure)} of {name(retest.recipe)}"
            yield f"Nothing had to be removed, so nothing drops: {called} is {value} {interval}."
        return
    drop = retest.drops[measure]
    if math.isnan(drop):
        return
    before, after = retest.before.estimates[measure], retest.after.estimates[measure]
    value, interval = difference_parts(drop.changed(-drop, low=-drop.high, high=-drop.low))
    anew = retest.after.split != retest.before.split
    remedy = f"Split {retest.after.split}" if anew else "Without what leaks"
    yield (
        f"{name(remedy)}, {measure_name(measure)} of {name(retest.recipe)} goes from "
        f"{measured_parts(before)[0]} to {measured_parts(after)[0]} ({value} {interval})."
    )


# -- what was found --------------------------------------------------------------------------------


def _found(check: Check) -> Iterator[Section]:
    """Every finding with what it changes and what to do about it, leaks first."""
    if check.findings:
        lines = tuple(
            Prose(f"{CALLED[finding.severity]} {finding.code}: {finding.message}{_advice(finding)}")
            for finding in check.findings
        )
        yield Section("What was found", lines, Tier.MAIN)


def _advice(finding: CheckFinding) -> str:
    """What it changes and what to do, where something is to be done."""
    return "" if finding.severity == "info" else f" {finding.why} What to do: {finding.remedy}"


def _reasons(check: Check) -> Iterator[Section]:
    """What each finding is called, and what it changes."""
    if not check.findings:
        return
    columns = (Column("finding"), Column("is"), Column("what it changes"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (finding.code, finding.title, finding.why)
        for finding in sorted(check.findings, key=lambda each: each.code)
    )
    table = Table("What the codes stand for", columns, rows)
    yield Section("Why it matters", (table,), Tier.APPENDIX, detail=True)


def _where(check: Check) -> Iterator[Section]:
    """The columns and the first rows that each finding is about."""
    shown = [finding for finding in check.findings if finding.columns or finding.rows]
    if not shown:
        return
    part = "test" if len(check.parts) > 1 else "the file"
    columns = (Column("finding"), Column("columns"), Column(f"rows of {part}"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (finding.code, ", ".join(map(name, finding.columns)), _rows(finding)) for finding in shown
    )
    yield Section("Where", (Table("The first of each", columns, rows),), Tier.APPENDIX, detail=True)


def _rows(finding: CheckFinding) -> str:
    first = ", ".join(map(str, finding.rows[:_MOST_ROWS]))
    return f"{first}, ..." if len(finding.rows) > _MOST_ROWS else first


# -- numbers ---------------------------------------------------------------------------------------


def _measures(check: Check) -> tuple[str, ...]:
    return CHECKED.of(binary=check.positive is not None)


def _baselines(check: Check) -> Section:
    wanted = _measures(check)
    columns = (
        Column("trivial model"),
        *(Column(measure_name(measure), Kind.SHARE) for measure in wanted),
        Column("what it says", optional=True),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_baseline_name(each), *(each.estimates[measure] for measure in wanted), each.says)
        for each in check.baselines
    )
    apart = f"{exact_percent(HELD_OUT)} of the rows, held out at random"
    judged = "the test part" if len(check.parts) > 1 else apart
    table = Table(f"Learned from the training rows, judged on {judged}", columns, rows)
    return Section("What every result should beat", (table,), Tier.MAIN)


def _baseline_name(baseline: Baseline) -> str:
    if len(baseline.columns) == 1:
        return f"{baseline.name}, {quoted(baseline.columns[0])}"
    return baseline.name


def _retest(check: Check) -> Iterator[Section]:
    retest = check.retest
    if retest is None:
        return
    title = f"{name(retest.recipe)} without what leaks"
    trained = [retest.before] if retest.after is None else [retest.before, retest.after]
    columns = (
        Column("measure"),
        *(Column(called, Kind.SHARE) for called in ("as it is", "without")[: len(trained)]),
    )
    measured: list[tuple[Cell, ...]] = [
        (measure_name(measure), *(each.estimates[measure] for each in trained))
        for measure in retest.before.estimates
    ]
    rows: tuple[tuple[Cell, ...], ...] = (
        ("split", *(each.split for each in trained)),
        ("rows learned", *(count(each.learned) for each in trained)),
        ("rows judged", *(count(each.judged) for each in trained)),
        *measured,
    )
    blocks: list[Any] = [Table(f"Taken out: {retest.removed}", columns, rows)]
    if retest.drops:
        changes = tuple(
            Change(
                measure_name(measure),
                drop.changed(-drop, low=-drop.high, high=-drop.low),
                find(measure).better,
            )
            for measure, drop in retest.drops.items()
        )
        blocks.append(ForestPlot("What removing it changes", changes, notes=(retest.note,)))
    elif retest.note:
        blocks.append(Prose(f"{retest.note}."))
    yield Section(title, tuple(blocks), Tier.MAIN)


def _pitfalls(check: Check) -> Section:
    columns = (Column("pitfall"), Column("found"), Column("by what, or why not"))
    titles = {finding.code: finding.title for finding in check.findings}
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"{each.code} {each.name}", each.status, _why(each, titles)) for each in check.pitfalls
    )
    table = Table(
        "The ten pitfalls of Arp et al., USENIX Security 2022, as far as these rows show them",
        columns,
        rows,
    )
    return Section("Pitfalls", (table,), Tier.ADVANCED)


def _why(pitfall: Pitfall, titles: Mapping[str, str]) -> str:
    if pitfall.status == FOUND:
        return "; ".join(f"{code} {titles.get(code, '')}" for code in pitfall.findings)
    return pitfall.why


def _refused(check: Check) -> Iterator[Section]:
    for part in check.parts.values():
        yield from refused_rows(part)


def _records(check: Check) -> Iterator[Mapping[str, Any]]:
    """One row a finding, and one a measure of each trivial model and each training."""
    nothing = dict.fromkeys(HEADS)
    for finding in check.findings:
        yield {
            **nothing,
            "kind": "finding",
            "code": finding.code,
            "severity": finding.severity,
            "pitfall": finding.pitfall,
            "message": finding.message,
            "columns": " ".join(finding.columns),
            "rows": " ".join(map(str, finding.rows)),
        }
    for kind, model, estimates in _estimates(check):
        for measure, estimate in estimates.items():
            yield {
                **nothing,
                "kind": kind,
                "model": model,
                "measure": measure,
                **{end: _number(getattr(estimate, end)) for end in ("value", "low", "high")},
                "method": estimate.method or None,
                "n": estimate.n,
            }


def _estimates(check: Check) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for baseline in check.baselines:
        yield "baseline", baseline.name, baseline.estimates
    retest = check.retest
    if retest is not None:
        yield "before", retest.recipe, retest.before.estimates
        if retest.after is not None:
            yield "after", retest.recipe, retest.after.estimates
            yield "drop", retest.recipe, retest.drops


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
