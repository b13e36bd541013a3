"""The document of a choice of threshold: what is promised beside what looks best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.v02.decisions.threshold.choice import DAYS_OVER_BUDGET, Choice, Point, Shown
from assay.v02.escaping import name, plural
from assay.v02.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED
from assay.v02.evaluation.wording import listed
from assay.v02.inference import Estimate
from assay.v02.measures import EXPECTED_COST, FALSE_DISCOVERY_RATE, PRECISION, RECALL
from assay.v02.measures.catalogue import SIDE_BY_SIDE
from assay.v02.number_text import (
    about,
    count,
    daily,
    exact_percent,
    percent,
    plain_number,
    shortest_between,
    significant,
)
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    measure_name,
    positives,
    quoted,
)
from assay.v02.report.slices import refused_rows

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
    sentences = tuple(headline(choice))
    return Report(
        title=f"Threshold for {name(choice.source.get('name', 'scores'))}",
        headline=sentences,
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
    caption = f"{exact_percent(choice.level)} intervals, {where(choice)}"
    if choice.volume is not None:
        caption += f", {count(choice.volume)} {plural(choice.volume, 'row', 'rows')} a day"
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
        estimates = [_find(point.estimates, measure) for point in points]
        if all(estimate is None for estimate in estimates):
            continue
        yield _measure_name(measure), [_cell(measure, estimate) for estimate in estimates]


def _cell(measure: str, estimate: Estimate | None) -> Cell:
    if estimate is None or measure not in (*_DAILY, DAYS_OVER_BUDGET):
        return estimate
    # A column has one way to write numbers, and rates are the rule.
    return _days(estimate) if measure == DAYS_OVER_BUDGET else daily(estimate)


def _days(estimate: Estimate) -> str:
    """A share of days, which is near 0 or 1 unless the budget is just met."""
    ends = "" if math.isnan(estimate.low) else f" [{about(estimate.low)}, {about(estimate.high)}]"
    return f"{about(estimate)}{ends}"


def _measure_name(measure: str) -> str:
    return _CALLED.get(measure) or measure_name(measure)


def _find(estimates: tuple[Shown, ...], measure: str) -> Estimate | None:
    """The estimate over all rows, at the base rate where there is one."""
    matches = [e.estimate for e in estimates if e.measure == measure and e.family is None]
    return matches[-1] if matches else None


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
        (constraint_text(key), limit_text(key, limit), f"{at_most}{significant(100 * risk)}%")
        for key, limit in limits.items()
    )
    caption = f"What was asked; objective: {choice.objective}"
    text = (
        f"The confidence of {exact_percent(choice.confidence)} is for {all_of(len(limits))} "
        f"together: they share the error in equal parts (Bonferroni)."
    )
    notes = (text,) if len(limits) > 1 else ()
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
        rows = tuple(_held_text(each) for each in holdout["constraints"])
        caption = f"The {holdout['of']} threshold on rows that it has not seen"
        blocks.append(Table(caption, columns, rows))
    chosen = choice.guaranteed if holdout["of"] == "guaranteed" else choice.empirical
    compared = Point(holdout["threshold"], "", None, tuple(holdout["estimates"]))
    points = [compared, *([chosen] if chosen is not None else [])]
    heads = [Column("on the holdout", Kind.SHARE)]
    heads += [Column("where it was chosen", Kind.SHARE)] * (chosen is not None)
    cells = tuple((called, *numbers) for called, numbers in _compared(points))
    caption = f"Flagged from a score of {threshold_text(compared)} on"
    blocks.append(Table(caption, (Column("measure"), *heads), cells))
    yield Section("Holdout", tuple(blocks), Tier.ADVANCED)


def _held_text(each: Mapping[str, Any]) -> tuple[Cell, ...]:
    key, value = each["constraint"], each["value"]
    value, low, high = (
        math.nan if end is None else end for end in (value, each["low"], each["high"])
    )
    estimate = Estimate(value, low, high)
    if each["held"] is None:
        text = "can't be told: undefined"
    else:
        text = _HELD[each["held"], bool(each["sure"])]
    shown = daily(estimate) if key == "max_alerts" else percent(estimate)
    return constraint_text(key), limit_text(key, each["limit"]), shown, text


# -- families and candidates -----------------------------------------------------------------------


def _families(choice: Choice) -> Iterator[Section]:
    points = [point for point in (choice.guaranteed, choice.empirical) if point is not None]
    points = points or list(choice.candidates)
    if not points:
        return
    families = [
        {e.family: e.estimate for e in point.estimates if e.family is not None} for point in points
    ]
    if not any(families):
        return
    first = families[0]
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
        cells = [each.get(family) for each in families]
        rows.append((family, first[family].n, *cells, *([limit] if asked else [])))
    hidden = len(ordered) - len(rows)
    notes = (f"{count(hidden)} more are better than these.",) * (hidden > 0)
    caption = f"Detection rate of {positives(choice.positive)} by family, worst first"
    table = Table(caption, columns, tuple(rows), notes)
    # Many candidates by many families are for looking up.
    yield Section("Families", (table,), Tier.APPENDIX, detail=len(points) > 2)


def _candidates(choice: Choice) -> Iterator[Section]:
    if not choice.candidates:
        return
    points = list(choice.candidates)
    caption = f"{exact_percent(choice.level)} intervals, {where(choice)}; nothing is promised"
    rates = [measure for measure in SIDE_BY_SIDE if measure != PRECISION.name]
    blocks: list[Block] = [_points(points, rates, caption, Kind.SHARE)]
    if choice.volume is not None:
        rows = f"{count(choice.volume)} {plural(choice.volume, 'row', 'rows')}"
        caption = f"A day with {rows}, {where(choice)}"
        blocks.append(_points(points, list(_DAILY), caption, Kind.DAILY))
    if "cost_fp" in choice.constraints:
        blocks.append(_points(points, [EXPECTED_COST.name], f"Costs, {where(choice)}", Kind.SHARE))
    text = " ".join(f"{_upper(p.name)}: {p.rule.partition(';')[0].rstrip('.')}." for p in points)
    yield Section("Candidates", (*blocks, Prose(text)), Tier.MAIN)


def _points(points: list[Point], measures: list[str], caption: str, kind: Kind) -> Table:
    """Points as rows."""
    known = [m for m in measures if any(_find(p.estimates, m) is not None for p in points)]
    columns = (
        Column("candidate"),
        *([Column("threshold", Kind.SHARE)] if kind is Kind.SHARE else []),
        *(Column(_measure_name(measure), kind) for measure in known),
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
    mode = choice.mode
    if choice.infeasible is not None:
        yield _record("infeasible", Point(None, choice.infeasible, None, ()), None, mode)
    points = [point for point in (choice.guaranteed, choice.empirical) if point is not None]
    for point in (*points, *choice.candidates):
        for shown in point.estimates:
            yield _record(point.name, point, shown, mode)
    if choice.holdout is not None:
        judged = Point(choice.holdout["threshold"], f"The {choice.holdout['of']} one.", None, ())
        for shown in choice.holdout["estimates"]:
            yield _record("holdout", judged, shown, choice.holdout.get("mode"))


def _record(name: str, point: Point, shown: Shown | None, mode: str | None) -> dict[str, Any]:
    keys = ("measure", "label", "base_rate", "value", "low", "high", "method", "n", "undefined")
    plain = {} if shown is None else shown.to_dict()
    return {
        "point": name,
        "threshold": point.threshold,
        "confidence": point.confidence,
        "family": None if shown is None else shown.family,
        **{key: plain.get(key) for key in (*keys, "note")},
        # What the empirical optimum is worth is part of its rule.
        "rule": point.rule,
        "mode": mode,
    }


# -- in words --------------------------------------------------------------------------------------


NOT_POSSIBLE = "Not possible on this data"
_ASKED = {
    "max_far": "false alarm rate (FAR) at most",
    "max_fpr": "false positive rate at most",
    "min_dr": "detection rate at least",
    "max_alerts": "alerts a day at most",
}
_COSTS = ("cost_fp", "cost_fn")


def headline(choice: Choice) -> Iterator[str]:
    """The answer first, then what it means, and what it rests on."""
    if choice.infeasible is not None:
        sentence = choice.infeasible
        yield sentence if sentence.startswith(NOT_POSSIBLE) else f"{NOT_POSSIBLE}. {sentence}"
    if choice.guaranteed is not None:
        yield (
            f"Flag from a score of {threshold_text(choice.guaranteed)} on: with "
            f"{exact_percent(choice.confidence)} confidence new data keep "
            f"{_what_is_kept(choice)}."
        )
        yield _means(choice, choice.guaranteed)
    if choice.empirical is not None:
        sentence = choice.empirical.worth
        at = threshold_text(choice.empirical)
        if choice.guaranteed is not None:
            yield f"On these rows the {choice.objective} is at {at}. {sentence}"
        else:
            fallback = "All that is left is the empirical optimum: flag"
            flag = "Flag" if choice.infeasible is None else fallback
            start = f"{flag} from a score of {at} on"
            yield f"{start}, the {choice.objective} on these rows. {sentence}"
            yield _means(choice, choice.empirical)
    elif choice.candidates:
        yield (
            "No constraint was given, so the usual thresholds stand side by side. They fit these "
            "rows, and nothing is promised of new ones."
        )
    if choice.holdout is not None:
        yield _on_the_holdout(choice.holdout)
    yield _rows(choice)


def _what_is_kept(choice: Choice) -> str:
    limits = len(limits_of(choice))
    return "the constraint" if limits == 1 else f"{all_of(limits)} constraints together"


def all_of(number: int) -> str:
    """All of some things.

    >>> all_of(2), all_of(3)
    ('both', 'all 3')
    """
    return "both" if number == 2 else f"all {number}"


def _means(choice: Choice, point: Point) -> str:
    detected, false = point[RECALL.name], point[FALSE_DISCOVERY_RATE.name]
    parts = [f"It catches {percent(detected)} of {positives(choice.positive)}"]
    if math.isnan(false):
        parts.append("it raises no alarm on these rows")
    else:
        parts.append(f"{percent(false)} of its alarms are false {where(choice)}")
    if choice.volume is not None:
        parts.append(
            f"a day brings {daily(point[ALERTS])} alerts, {daily(point[FALSE_ALARMS])} of them "
            f"false, and {daily(point[MISSED])} are missed"
        )
    return "; ".join(parts) + "."


def where(choice: Choice) -> str:
    """At which share of attacks numbers are."""
    if choice.base_rate is None:
        return "at the share of attacks in these rows"
    return f"at a base rate of {exact_percent(choice.base_rate)}"


def _on_the_holdout(holdout: Mapping[str, Any]) -> str:
    kept = [each for each in holdout["constraints"] if each["held"]]
    broken = [each for each in holdout["constraints"] if each["held"] is False]
    where = (
        f"On the holdout {name(holdout['source'].get('name', ''))} the {holdout['of']} threshold"
    )
    if not holdout["constraints"]:
        return f"{where} was judged too."
    if not broken:
        asked = len(holdout["constraints"])
        if not kept:
            return f"{where} can't be judged: its rows tell of no constraint."
        if len(kept) < asked:
            part = f"{len(kept)} of {asked} constraints"
            return f"{where} kept {part}; its rows can't tell of the rest."
        constraints = "its constraint" if asked == 1 else f"{all_of(asked)} constraints"
        return f"{where} kept {constraints}."
    return f"{where} broke {listed([constraint_text(each['constraint']) for each in broken])}."


def _rows(choice: Choice) -> str:
    source = choice.source
    positives, harmless = source.get("positives", 0), source.get("negatives", 0)
    others = [label for label in choice.labels if label != choice.positive]
    negative = quoted(others[0]) if others else "others"
    return (
        f"{count(positives + harmless)} {plural(positives + harmless, 'row', 'rows')}: "
        f"{count(positives)} {quoted(choice.positive)}, "
        f"{count(harmless)} {negative}."
    )


def threshold_text(point: Point) -> str:
    """As few digits as separate the same rows; with all of them where that is not known."""
    if point.threshold is None:
        return "none"
    if point.below is None:
        return repr(float(point.threshold))
    return shortest_between(point.below, float(point.threshold))


def limits_of(choice: Choice) -> dict[str, float]:
    """The constraints; costs are none."""
    return {key: limit for key, limit in choice.constraints.items() if key not in _COSTS}


def constraint_text(key: str) -> str:
    """A constraint in words.

    >>> constraint_text("max_fpr"), constraint_text("min_dr.dos")
    ('false positive rate at most', "detection rate of 'dos' at least")
    """
    if key in _ASKED:
        return _ASKED[key]
    return f"detection rate of {quoted(key.partition('.')[2])} at least"


def limit_text(key: str, limit: float) -> str:
    """The limit of a constraint."""
    return count(limit) if key == "max_alerts" else exact_percent(limit)
