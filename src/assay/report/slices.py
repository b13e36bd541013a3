"""Families and slices: where a model does worse than its whole."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.evaluation.labelled_alerts import alerts_only
from assay.evaluation.snapshot import SliceCounts, Snapshot
from assay.inference import Estimate
from assay.measures import ACCURACY, FALSE_POSITIVE_RATE, LOWER, PRECISION, RECALL, Measure
from assay.report.numbers import count, percent
from assay.report.sections import Block, Dot, Dots, Section, Tier
from assay.report.words import measure_name, positives, quoted
from assay.tally import Confusion

# The worst so many are shown of each column.
MOST = 50
# An interval wider than this leaves open whether most are found or most are missed.
TOO_WIDE = 0.5
TOO_FEW = "too few to say"

_Estimates = Mapping[tuple[str, str], Mapping[str, Estimate]]


def sections(evaluation: Snapshot) -> tuple[Section, ...]:
    """A section for families, and one for each sliced column."""
    by_slice: dict[tuple[str, str], dict[str, Estimate]] = {}
    for entry in evaluation.entries:
        if entry.slice is not None:
            by_slice.setdefault(entry.slice, {})[entry.measure] = entry.estimate
    periods = evaluation.periods and evaluation.periods.column
    columns = list(dict.fromkeys(each.column for each in evaluation.slices))
    family = evaluation.family
    first = [family] if family is not None else []
    others = [column for column in columns if column not in (family, periods)]
    return tuple(_section(evaluation, column, by_slice) for column in [*first, *others])


def _section(evaluation: Snapshot, column: str, found: _Estimates) -> Section:
    counts = {(column, c.value): c for c in evaluation.slices if c.column == column}
    is_family = column == evaluation.family
    title = f"Slices by {column}"
    if is_family:
        title = "Families" if column == "family" else f"Families ({column})"
    if evaluation.positive is None:
        right = {key: found[key][ACCURACY.name] for key in counts}
        dots = [Dot(key[1], right[key], _right(counts[key], right[key])) for key in counts]
        return Section(title, (_worst(evaluation, column, ACCURACY, dots),), Tier.APPENDIX)
    slices = {key: each.table(evaluation.labels) for key, each in counts.items()}
    if alerts_only(evaluation):
        return Section(title, (_alerts(evaluation, column, slices, found),), Tier.APPENDIX)
    blocks: list[Block] = []
    detected = [
        Dot(key[1], found[key][RECALL.name], _detected(table, found[key], beside=not is_family))
        for key, table in slices.items()
        if table.rows[1]
    ]
    harmless = [
        Dot(key[1], false, _flagged(table, false))
        for key, table in slices.items()
        for false in [found[key][FALSE_POSITIVE_RATE.name]]
        if not table.rows[1]
    ]
    if detected:
        blocks.append(_worst(evaluation, column, RECALL, detected))
    # The negatives by themselves are the whole over again.
    if harmless and not (is_family and len(harmless) == 1):
        blocks.append(_worst(evaluation, column, FALSE_POSITIVE_RATE, harmless))
    return Section(title, tuple(blocks), Tier.APPENDIX)


def _alerts(
    evaluation: Snapshot,
    column: str,
    slices: Mapping[tuple[str, str], Confusion],
    found: _Estimates,
) -> Dots:
    """Where only alerts were labelled: the precision of the alerts of each slice."""
    dots = [
        Dot(key[1], right, of_all(table.cells[1][1], alerts, right, "are real"))
        for key, table in slices.items()
        for right, alerts in [(found[key][PRECISION.name], table.columns[1])]
        if alerts
    ]
    return _worst(evaluation, column, PRECISION, dots)


def _worst(evaluation: Snapshot, column: str, measure: Measure, dots: list[Dot]) -> Dots:
    sign = -1 if measure.better is LOWER else 1

    def order(dot: Dot) -> tuple[bool, float, float, str]:
        value = dot.estimate
        return (math.isnan(value), sign * float(value), -value.n, dot.name)

    ordered = sorted(dots, key=order)
    what = "" if evaluation.positive is None else f" of {positives(evaluation.positive)}"
    caption = f"{measure_name(measure)} by {column}, worst first"
    if measure == RECALL:
        caption = f"Detection rate{what} by {column}, worst first"
    elif measure == FALSE_POSITIVE_RATE:
        negative = quoted(evaluation.labels[0])
        caption = f"False positive rate where every row is {negative}, by {column}, worst first"
    shown = tuple(ordered[:MOST])
    omitted = len(ordered) - len(shown)
    notes = []
    if omitted:
        notes.append(f"{count(omitted)} more are better than these.")
    if any(TOO_FEW in dot.remark for dot in shown):
        notes.append(f"{TOO_FEW.capitalize()}: the interval is wider than {TOO_WIDE:g}.")
    notes += dict.fromkeys(dot.estimate.note for dot in shown if dot.estimate.note is not None)
    whole = evaluation[measure]
    return Dots(caption[0].upper() + caption[1:], column, measure, shown, whole, tuple(notes))


def _detected(table: Confusion, found: Mapping[str, Estimate], *, beside: bool) -> str:
    """What is said of a slice with positives; ``beside`` adds its false positive rate."""
    (_, _), (_, detected) = table.cells
    said = of_all(detected, table.rows[1], found[RECALL.name], "detected")
    false = found[FALSE_POSITIVE_RATE.name]
    if beside and not math.isnan(false):
        said += f"; false positive rate {percent(false)}"
    return said


def _flagged(table: Confusion, found: Estimate) -> str:
    return of_all(table.cells[0][1], table.rows[0], found, "flagged")


def _right(counts: SliceCounts, found: Estimate) -> str:
    return of_all(counts.right, counts.rows, found, "right")


def of_all(k: float, n: float, found: Estimate, verb: str) -> str:
    """A share in words, with the bound that it allows where it is all or none.

    >>> of_all(11, 11, Estimate(1, 0.7151, 1), "detected")
    '11 of 11 detected: at least 71.5%'
    >>> of_all(0, 2, Estimate(0, 0, 0.8419), "detected")
    '0 of 2 detected: at most 84.2%, too few to say'
    """
    if math.isnan(found):
        return found.undefined or ""
    said = f"{count(k)} of {count(n)} {verb}"
    if math.isnan(found.low):
        return said
    bounds = []
    if float(found) == 1:
        bounds.append(f"at least {percent(found.low)}")
    elif float(found) == 0:
        bounds.append(f"at most {percent(found.high)}")
    if too_wide(found):
        bounds.append(TOO_FEW)
    return f"{said}: {', '.join(bounds)}" if bounds else said


def too_wide(found: Estimate) -> bool:
    """Whether a share has so few rows that nothing should be said of it."""
    return found.high - found.low > TOO_WIDE
