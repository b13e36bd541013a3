"""The document of a choice of threshold: what is promised beside what looks best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.decisions.threshold.result import (
    DAYS_OVER_BUDGET,
    Choice,
    Point,
    Shown,
)
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED
from assay.inference import Estimate
from assay.measures import EXPECTED_COST, PRECISION
from assay.measures.shown import SIDE_BY_SIDE
from assay.report.chosen import (
    all_of,
    constraint_text,
    headline,
    limit_text,
    limits_of,
    threshold_text,
    where,
)
from assay.report.names import name
from assay.report.numbers import about, count, daily, exact_percent, percent, plain_number
from assay.report.refused import refused_rows
from assay.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)
from assay.report.words import measure_name, positives

# What stands side by side, in this order, as far as it was computed.
_DAILY = (ALERTS, FALSE_ALARMS, MISSED)
_CALLED = {
    EXPECTED_COST.name: "expected cost a row",
    DAYS_OVER_BUDGET: "days with more alerts than allowed",
}
# Whether it held, and whether its whole interval is on the same side.
_HELD = {
    (True, True): "held, with all of the interval",
    (True, False): "held, but the interval reaches beyond",
    (False, True): "NOT held, with all of the interval",
    (False, False): "NOT held, but the interval reaches within",
}
# The worst so many families are shown.
_FAMILIES = 50


def report_of(choice: Choice) -> Report:
    """What a report says of a choice of threshold."""
    said = tuple(headline(choice))
    return Report(
        title=f"Threshold for {name(choice.source.get('name', 'scores'))}",
        headline=said,
        sections=(
            *_side_by_side(choice),
            *_candidates(choice),
            *_constraints(choice),
            *_holdout(choice),
            *_families(choice),
            *(refused_rows(choice.source) if choice.source.get("rows_refused") else ()),
        ),
        findings=choice.findings,
        # How the confidence is shared stands with the constraints.
        notes=tuple(note for note in choice.notes if "(Bonferroni)" not in note),
        records=tuple(_records(choice)),
    )


# -- side by side ----------------------------------------------------------------------------------


def _side_by_side(choice: Choice) -> Iterator[Section]:
    points = [point for point in (choice.guaranteed, choice.empirical) if point is not None]
    if not points:
        return
    columns = (
        Column("measure"),
        *(Column(point.name or point.rule, Kind.SHARE) for point in points),
    )
    promised = [
        "nothing" if point.confidence is None else f"{exact_percent(point.confidence)} confidence"
        for point in points
    ]
    rows: list[tuple[Cell, ...]] = [
        ("threshold", *map(threshold_text, points)),
        ("promised for new data", *promised),
        *((called, *cells) for called, cells in _compared(points)),
    ]
    caption = f"{_level(choice.level)} intervals, {where(choice)}"
    if choice.volume is not None:
        caption += f", {count(choice.volume)} rows a day"
    notes = tuple(f"{_upper(point.name)}: {point.worth}" for point in points if point.worth)
    blocks: list[Block] = [Table(caption, columns, tuple(rows), notes)]
    blocks += [Prose(_rule(point)) for point in points]
    title = "Guaranteed and empirical" if len(points) == 2 else _upper(points[0].name)
    yield Section(title, tuple(blocks), Tier.MAIN)


def _rule(point: Point) -> str:
    """How a point was found; what the empirical one is worth stands with its numbers."""
    return f"{_upper(point.name)}: {point.rule.removesuffix(point.worth).strip()}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _compared(points: list[Point]) -> Iterator[tuple[str, list[Cell]]]:
    """Rates, then numbers a day, then what no measure is: each of all points."""
    for measure in (*SIDE_BY_SIDE, EXPECTED_COST.name, *_DAILY, DAYS_OVER_BUDGET):
        found = [_find(point.estimates, measure) for point in points]
        if all(estimate is None for estimate in found):
            continue
        yield _called(measure), [_cell(measure, estimate) for estimate in found]


def _cell(measure: str, found: Estimate | None) -> Cell:
    if found is None or measure not in (*_DAILY, DAYS_OVER_BUDGET):
        return found
    # A column has one way to write numbers, and rates are the rule.
    return _days(found) if measure == DAYS_OVER_BUDGET else daily(found)


def _days(found: Estimate) -> str:
    """A share of days, which is near 0 or 1 unless the budget is just met."""
    ends = "" if math.isnan(found.low) else f" [{about(found.low)}, {about(found.high)}]"
    return f"{about(found)}{ends}"


def _called(measure: str) -> str:
    return _CALLED.get(measure) or measure_name(measure)


def _find(estimates: tuple[Shown, ...], measure: str) -> Estimate | None:
    """The estimate over all rows, at the base rate where there is one."""
    found = [e.estimate for e in estimates if e.measure == measure and e.family is None]
    return found[-1] if found else None


def _level(level: float) -> str:
    return f"{100 * level:.10g}%"


# -- constraints -----------------------------------------------------------------------------------


def _constraints(choice: Choice) -> Iterator[Section]:
    limits = limits_of(choice)
    if not limits:
        return
    risk = (1 - choice.confidence) / len(limits)
    promised = choice.guaranteed is not None
    columns = (
        Column("constraint"),
        Column("asked", Kind.SHARE),
        Column("chance to fail" if promised else "share of the error", Kind.SHARE),
    )
    at_most = "at most " if promised else ""
    rows = tuple(
        (constraint_text(key), limit_text(key, limit), f"{at_most}{100 * risk:.3g}%")
        for key, limit in limits.items()
    )
    caption = f"What was asked; objective: {choice.objective}"
    said = (
        f"The confidence of {exact_percent(choice.confidence)} is for {all_of(len(limits))} "
        f"together: they share the error in equal parts (Bonferroni)."
    )
    notes = (said,) if len(limits) > 1 else ()
    yield Section("Constraints", (Table(caption, columns, rows, notes),), Tier.ADVANCED)


# -- the holdout -----------------------------------------------------------------------------------


def _holdout(choice: Choice) -> Iterator[Section]:
    holdout = choice.holdout
    if holdout is None:
        return
    blocks: list[Block] = []
    if holdout["constraints"]:
        columns = (
            Column("constraint"),
            Column("asked", Kind.SHARE),
            Column("on the holdout", Kind.SHARE),
            Column("held"),
        )
        rows = tuple(_held(each) for each in holdout["constraints"])
        caption = f"The {holdout['of']} threshold on rows that it has not seen"
        blocks.append(Table(caption, columns, rows))
    chosen = choice.guaranteed if holdout["of"] == "guaranteed" else choice.empirical
    compared = Point(holdout["threshold"], "", None, tuple(holdout["estimates"]))
    points = [compared, *([chosen] if chosen is not None else [])]
    heads = [Column("on the holdout", Kind.SHARE)]
    heads += [Column("where it was chosen", Kind.SHARE)] * (chosen is not None)
    cells = tuple((called, *found) for called, found in _compared(points))
    caption = f"Flagged from a score of {threshold_text(compared)} on"
    blocks.append(Table(caption, (Column("measure"), *heads), cells))
    yield Section("Holdout", tuple(blocks), Tier.ADVANCED)


def _held(each: Mapping[str, Any]) -> tuple[Cell, ...]:
    key, value = each["constraint"], each["value"]
    value, low, high = (
        math.nan if end is None else end for end in (value, each["low"], each["high"])
    )
    found = Estimate(value, low, high)
    if each["held"] is None:
        said = "can't be told: undefined"
    else:
        said = _HELD[each["held"], bool(each["sure"])]
    shown = daily(found) if key == "max_alerts" else percent(found)
    return constraint_text(key), limit_text(key, each["limit"]), shown, said


# -- families and candidates -----------------------------------------------------------------------


def _families(choice: Choice) -> Iterator[Section]:
    points = [point for point in (choice.guaranteed, choice.empirical) if point is not None]
    points = points or list(choice.candidates)
    if not points:
        return
    found = [
        {e.family: e.estimate for e in point.estimates if e.family is not None} for point in points
    ]
    if not any(found):
        return
    first = found[0]
    ordered = sorted(first, key=lambda family: (float(first[family]), family))
    asked = {key.partition(".")[2]: limit for key, limit in limits_of(choice).items() if "." in key}
    columns = (
        Column(choice.family or "family"),
        Column("rows", Kind.COUNT),
        *(Column(point.name, Kind.SHARE) for point in points),
        *([Column("asked", Kind.SHARE)] if asked else []),
    )
    rows: list[tuple[Cell, ...]] = []
    for family in ordered[:_FAMILIES]:
        limit = f"at least {exact_percent(asked[family])}" if family in asked else None
        cells = [each.get(family) for each in found]
        rows.append((family, first[family].n, *cells, *([limit] if asked else [])))
    left = len(ordered) - len(rows)
    notes = (f"{count(left)} more are better than these.",) * (left > 0)
    caption = f"Detection rate of {positives(choice.positive)} by family, worst first"
    table = Table(caption, columns, tuple(rows), notes)
    # Many candidates by many families are for looking up.
    yield Section("Families", (table,), Tier.APPENDIX, detail=len(points) > 2)


def _candidates(choice: Choice) -> Iterator[Section]:
    if not choice.candidates:
        return
    points = list(choice.candidates)
    caption = f"{_level(choice.level)} intervals, {where(choice)}; nothing is promised"
    rates = [measure for measure in SIDE_BY_SIDE if measure != PRECISION.name]
    blocks: list[Block] = [_points(points, rates, caption, Kind.SHARE)]
    if choice.volume is not None:
        caption = f"A day with {count(choice.volume)} rows, {where(choice)}"
        blocks.append(_points(points, list(_DAILY), caption, Kind.DAILY))
    if "cost_fp" in choice.constraints:
        blocks.append(_points(points, [EXPECTED_COST.name], f"Costs, {where(choice)}", Kind.SHARE))
    said = " ".join(f"{_upper(p.name)}: {p.rule.partition(';')[0].rstrip('.')}." for p in points)
    yield Section("Candidates", (*blocks, Prose(said)), Tier.MAIN)


def _points(points: list[Point], measures: list[str], caption: str, kind: Kind) -> Table:
    """Points as rows."""
    known = [m for m in measures if any(_find(p.estimates, m) is not None for p in points)]
    columns = (
        Column("candidate"),
        *([Column("threshold", Kind.SHARE)] if kind is Kind.SHARE else []),
        *(Column(_called(measure), kind) for measure in known),
    )
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        at = "none" if point.threshold is None else plain_number(point.threshold)
        cells = [_find(point.estimates, measure) for measure in known]
        rows.append((point.name, *([at] if kind is Kind.SHARE else []), *cells))
    return Table(caption, columns, tuple(rows))


# -- records ---------------------------------------------------------------------------------------


def _records(choice: Choice) -> Iterator[dict[str, Any]]:
    """Why nothing can be promised, then one row an estimate: of points and of the holdout."""
    if choice.infeasible is not None:
        yield _record("infeasible", Point(None, choice.infeasible, None, ()), None)
    points = [point for point in (choice.guaranteed, choice.empirical) if point is not None]
    for point in (*points, *choice.candidates):
        for shown in point.estimates:
            yield _record(point.name, point, shown)
    if choice.holdout is not None:
        judged = Point(choice.holdout["threshold"], f"The {choice.holdout['of']} one.", None, ())
        for shown in choice.holdout["estimates"]:
            yield _record("holdout", judged, shown)


def _record(name: str, point: Point, shown: Shown | None) -> dict[str, Any]:
    kept = ("measure", "label", "base_rate", "value", "low", "high", "method", "n", "undefined")
    plain = {} if shown is None else shown.to_dict()
    return {
        "point": name,
        "threshold": point.threshold,
        "confidence": point.confidence,
        "family": None if shown is None else shown.family,
        **{key: plain.get(key) for key in (*kept, "note")},
        # What the empirical optimum is worth is part of its rule.
        "rule": point.rule,
    }
