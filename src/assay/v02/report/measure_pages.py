"""The catalogue as a document: all measures in a table, or one on a page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from assay.errors import InputError
from assay.v02.escaping import plural
from assay.v02.evaluation import MeasureFunction
from assay.v02.evaluation.wording import listed
from assay.v02.formula import Cell as Symbol
from assay.v02.formula import latex, plain
from assay.v02.inference import Estimate
from assay.v02.inference.estimation import DEFAULT_LEVEL
from assay.v02.inference.fields import finite
from assay.v02.measures import Band, Counts, Interval, Measure, Needs, Ranked, catalogue
from assay.v02.number_text import measured
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Formula,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    count_formula,
    measure_name,
)

SCHEMA = "assay.measures/1"

# Small data on which measures are shown that have no example of their own.
_COUNTS = Counts(tp=3, fp=1, fn=2, tn=4)
_COSTS = {"cost_fp": 1, "cost_fn": 20}
_TRUTH = ("attack", "attack", "normal", "attack", "normal", "normal", "attack", "normal")
_SCORES = (0.92, 0.81, 0.75, 0.64, 0.38, 0.21, 0.47, 0.05)
_CLASS_TRUTH = ("dos", "dos", "probe", "probe", "normal", "normal")
_CLASS_SCORES = {
    "dos": (0.7, 0.4, 0.3, 0.1, 0.1, 0.2),
    "normal": (0.2, 0.1, 0.3, 0.2, 0.8, 0.6),
    "probe": (0.1, 0.5, 0.4, 0.7, 0.1, 0.2),
}
# Rows of a label that the model does not know, beside those.
_UNKNOWN = "worm"
_UNKNOWN_SCORES = {"dos": (0.5, 0.2), "normal": (0.3, 0.6), "probe": (0.2, 0.2)}


# How costs are written in formulas.
_SPELLED = {"cost_fp": "C_FP", "cost_fn": "C_FN"}


def measures_document(group: str | None = None, *, level: float = DEFAULT_LEVEL) -> Report:
    """All measures, or those of one group: name, formula, range, direction, reading.

    ``level`` is that of the intervals of the examples.
    """
    groups = list(dict.fromkeys(measure.group for measure in catalogue.CATALOGUE))
    if group is not None and group not in groups:
        raise InputError(f"there is no group {group!r} of measures; there are {listed(groups)}")
    shown = [measure for measure in catalogue.CATALOGUE if group in (None, measure.group)]
    sections = []
    for each in groups:
        rows = [measure for measure in shown if measure.group == each]
        if rows:
            table = _quick_reference(each, rows, outline=group is None)
            sections.append(Section(each.capitalize(), (table,)))
    entries = [_entry(measure, level) for measure in shown]
    return Report(
        title="Measures",
        headline=(_count(len(shown), len(sections)),),
        sections=tuple(sections),
        plain={"schema": SCHEMA, "measures": entries},
        records=tuple(_record(entry) for entry in entries),
    )


def measure_document(measure: Measure, *, level: float = DEFAULT_LEVEL) -> Report:
    """One measure: formula, range, reading, when it misleads, bands, interval, an example."""
    entry = _entry(measure, level)
    formulas = [("scores" if measure.of_scores else "two classes", formula_of(measure))]
    of_classes = classes_formula_of(measure)
    if of_classes is not None:
        formulas.append(("K classes", of_classes))
    facts: list[tuple[Cell, ...]] = [
        ("name", measure.name),
        ("also called", ", ".join(measure.aliases)),
        ("range", _range(measure)),
        ("direction", measure.better.value),
        ("needs", measure.needs.value),
        ("interval", entry["interval"]),
        ("reference", measure.reference),
    ]
    sections = [
        Section(
            "Formula",
            (
                Table("As an expression", (Column("of"), Column("formula")), tuple(formulas)),
                Prose(symbols_of(measure)),
            ),
        ),
        Section(
            "Facts",
            (Table("At a glance", (Column("what"), Column("it is")), _rows_with_value(facts)),),
        ),
        Section("When it misleads", (Prose(measure.misleads),)),
    ]
    if measure.bands:
        bands = tuple((span(band, measure), band.reading) for band in measure.bands)
        columns = (Column("value"), Column("reading"))
        sections.append(Section("Bands", (Table("A convention, no law", columns, bands),)))
    sections.append(Section("Example", _worked_example(measure, level)))
    return Report(
        title=measure_name(measure),
        headline=(measure.reads,),
        sections=tuple(sections),
        plain={"schema": SCHEMA, "measures": [entry]},
        records=(_record(entry),),
    )


def _rows_with_value(rows: list[tuple[Cell, ...]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(row for row in rows if row[1])


def _count(measures: int, groups: int) -> str:
    one = "'assay measures NAME' tells all of one"
    if groups == 1:
        return f"{measures} {plural(measures, 'measure', 'measures')}; {one}."
    return f"{measures} measures in {groups} groups; {one}, --group lists those of a group."


def _quick_reference(group: str, measures: list[Measure], *, outline: bool) -> Table:
    """The measures of a group; in an outline of all groups formulas are a detail."""
    columns = (
        Column("measure"),
        Column("formula", detail=outline),
        Column("range", detail=outline),
        Column("better", optional=True),
        Column("reads"),
    )
    rows = tuple(
        (
            measure.name,
            formula_of(measure),
            _range(measure),
            measure.better.name.lower(),
            measure.reads,
        )
        for measure in measures
    )
    return Table(catalogue.GROUPS[group], columns, rows)


def _range(measure: Measure) -> str:
    low, high = measure.range
    start = "(-inf" if math.isinf(low) else f"[{low:g}"
    return f"{start}, inf)" if math.isinf(high) else f"{start}, {high:g}]"


def span(band: Band, measure: Measure) -> str:
    """The values of a band in words.

    >>> from assay.v02.measures import KAPPA
    >>> span(KAPPA.bands[3], KAPPA)
    'from 0.2, below 0.4'
    """
    start, end = (value if math.isinf(value) else round(value, 6) for value in band[:2])
    if start == end or (math.isinf(end) and start == measure.range[1]):
        return f"{start:g}"
    if math.isinf(start):
        return f"below {end:g}"
    if math.isinf(end):
        return f"{start:g} and above"
    return f"{'above' if band.low > start else 'from'} {start:g}, below {end:g}"


def _interval(measure: Measure, estimate: Estimate) -> str:
    if measure.interval is Interval.NONE:
        return (estimate.note or "none").replace("no interval", "none").partition(";")[0]
    if measure.interval is Interval.BY_SHAPE:
        if measure.is_proportion:
            return "Wilson's; it is a share of rows"
        if any(map(math.isinf, measure.range)):
            return "delta method on the log scale"
        return f"delta method on the {'atanh' if measure.range[0] < 0 else 'logit'} scale"
    return str(measure.interval.value)


# -- examples --------------------------------------------------------------------------------------


def _example(measure: Measure, level: float) -> tuple[dict[str, Any], Estimate]:
    """What is put in, and what comes out."""
    function = MeasureFunction(measure)
    if measure.of_scores is None:
        counts: dict[str, Any] = (measure.example[0] if measure.example else _COUNTS)._asdict()
        if measure.of_costs is not None:
            counts |= _COSTS
        return counts, function(**counts, level=level)
    scores: dict[str, Any] = {"y_true": list(_TRUTH), "y_score": list(_SCORES)}
    if isinstance(measure.of_scores, Ranked) and measure.of_scores.negatives > len(_TRUTH):
        many = measure.of_scores.negatives
        often = [1 if label == _TRUTH[0] else many for label in _TRUTH]
        estimate = function(list(_TRUTH), list(_SCORES), counts=often, level=level)
        return {**scores, "counts": often}, estimate
    estimate = function(list(_TRUTH), list(_SCORES), level=level)
    if not math.isnan(estimate):
        return scores, estimate
    truth = list(_CLASS_TRUTH)
    given: dict[str, Any] = {"y_true": truth}
    given["y_proba"] = {label: list(column) for label, column in _CLASS_SCORES.items()}
    if measure.needs is Needs.OPEN_SET:
        truth += [_UNKNOWN] * len(next(iter(_UNKNOWN_SCORES.values())))
        for label, more in _UNKNOWN_SCORES.items():
            given["y_proba"][label] += more
        given["unknown"] = _UNKNOWN
    return given, function(**given, level=level)


def _worked_example(measure: Measure, level: float) -> tuple[Block, ...]:
    """The example with its numbers in the formula, and what comes of it."""
    given, estimate = _example(measure, level)
    if measure.of_scores is not None:
        text = "; ".join(
            f"{label} {listed([f'{score:g}' for score in scores])}"
            for label, scores in _by_label(given).items()
        )
        if "counts" in given:
            text += f", each of these counted {max(given['counts']):,} times"
        return (Prose(f"With these scores it is {measured(estimate)}: {text}."),)
    cells = listed([f"{_SPELLED.get(c, c.upper())} = {number}" for c, number in given.items()])
    columns = (Column("with numbers"), Column("value", Kind.SHARE))
    filled = _filled_in(formula_of(measure), given)
    return (Table(f"With {cells}", columns, ((filled, estimate),)),)


def _filled_in(formula: Formula, cells: Mapping[str, int]) -> Formula:
    """The formula with numbers for its cells."""

    def number(cell: re.Match[str]) -> str:
        cost = re.match(r"C_\{?(FP|FN)", cell[0])
        return str(cells[f"cost_{cost[1].lower()}" if cost else cell[0].lower()])

    names = r"C_(?:FP|FN)\b|C_\{(?:FP|FN)\}|\b(?:TP|FP|FN|TN)\b"
    line, paper = (re.sub(names, number, text) for text in astuple(formula))
    # Two numbers side by side need their sign.
    return Formula(re.sub(r"(?<=[\d)]) (?=[\d(a-z])", " x ", line), paper)


def _by_label(given: dict[str, Any]) -> dict[str, list[float]]:
    """The scores of each label; of several classes, the probability of the true one.

    Of an open set, the largest of each row.
    """
    scores = given.get("y_score")
    if "unknown" in given:
        scores = [max(row) for row in zip(*given["y_proba"].values(), strict=True)]
    if scores is None:
        truth = given["y_true"]
        scores = [given["y_proba"][label][i] for i, label in enumerate(truth)]
    by_label: dict[str, list[float]] = {}
    for label, score in zip(given["y_true"], scores, strict=True):
        by_label.setdefault(label, []).append(score)
    return by_label


# -- plain values ----------------------------------------------------------------------------------


def _entry(measure: Measure, level: float) -> dict[str, Any]:
    formula, of_classes = formula_of(measure), classes_formula_of(measure)
    given, estimate = _example(measure, level)
    return {
        "name": measure.name,
        "aliases": list(measure.aliases),
        "group": measure.group,
        "formula": formula.plain,
        "latex": formula.latex,
        "classes_formula": of_classes and of_classes.plain,
        "classes_latex": of_classes and of_classes.latex,
        "needs": measure.needs.value,
        "range": finite([float(end) for end in measure.range]),
        "better": measure.better.name.lower(),
        "reads": measure.reads,
        "misleads": measure.misleads,
        "bands": [finite(band._asdict()) for band in measure.bands],
        "interval": _interval(measure, estimate),
        "reference": measure.reference,
        "example": {
            "given": given,
            "value": float(estimate),
            "low": finite(estimate.low),
            "high": finite(estimate.high),
            "method": estimate.method or None,
        },
    }


def _record(entry: dict[str, Any]) -> dict[str, Any]:
    low, high = entry["range"]
    return {
        **{key: entry[key] for key in ("name", "group", "formula", "latex")},
        "range_low": low,
        "range_high": high,
        **{key: entry[key] for key in ("better", "reads", "misleads", "interval", "reference")},
        "aliases": " ".join(entry["aliases"]),
    }


# -- formulas: of counts from their expression, of scores as declared ------------------------------


_CELLS = (
    "TP, FP, FN and TN are the cells of the confusion matrix: attacks that raised an alarm, "
    "harmless rows that did, attacks that did not, and harmless rows that did not."
)
_COST_SYMBOLS = "C_FP is what one false alarm costs, C_FN what one missed attack costs."
_CLASSES = (
    "Over classes i: HIT (C_ii) are the rows of the class that were decided right, ROW (r_i) all "
    "its rows, COL (c_i) the rows decided as it; N are all rows, K is the number of classes."
)


def formula_of(measure: Measure) -> Formula:
    """The formula of a measure for two classes, or over scores."""
    if measure.definition is not None:
        return Formula(measure.definition.plain, measure.definition.latex)
    if measure.of_costs is not None:
        formula = measure.of_costs(Symbol("C_FP"), Symbol("C_FN"))
    else:
        formula = count_formula(measure)
    return Formula(plain(formula), latex(formula))


def classes_formula_of(measure: Measure) -> Formula | None:
    """The formula over K classes, where a measure has one."""
    if measure.classes is None:
        return None
    return Formula(plain(measure.classes), latex(measure.classes))


def symbols_of(measure: Measure) -> str:
    """What the letters of the formula stand for."""
    if measure.definition is not None:
        return measure.definition.symbols
    if measure.of_costs is not None:
        return f"{_CELLS} {_COST_SYMBOLS}"
    return _CELLS if measure.classes is None else f"{_CELLS} {_CLASSES}"
