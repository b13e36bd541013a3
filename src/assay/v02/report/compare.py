"""The document of a comparison: which model is better, by how much, and for which costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from assay.v02.decisions.compare.comparison import Comparison, Difference, Flip, leading
from assay.v02.decisions.compare.optimal import BestOf, Optimal
from assay.errors import UnknownMeasure
from assay.v02.escaping import name, plural
from assay.v02.evaluation.wording import listed
from assay.v02.inference import Significance
from assay.v02.inference.threshold_rules import AtThreshold
from assay.v02.measures import Better, find, parse
from assay.v02.measures.catalogue import DIFFERENCES
from assay.v02.measures.measure import spoken
from assay.v02.number_text import bound_text, count, exact_percent, percent, significant, threshold_text
from assay.v02.report.over_data_sets import (
    equals,
    marked_rule,
    measure_words,
    on_data_sets,
    overall,
    p_cell,
)
from assay.v02.report.sections import (
    BOUND,
    Cell,
    Change,
    Column,
    ForestPlot,
    Kind,
    Marked,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    quoted,
)
from assay.v02.report.slices import refused_rows

TESTS = {
    "mcnemar": "McNemar",
    "delong": "DeLong, ROC AUC",
    "cochran_q": "Cochran's Q",
    "friedman": "Friedman",
    "iman_davenport": "Iman-Davenport",
    "mean_ranks": "mean ranks",
    "wilcoxon": "Wilcoxon",
    "nemenyi": "Nemenyi",
    "paired_t": "paired t",
    "nadeau_bengio": "Nadeau-Bengio",
    "5x2cv_t": "5x2cv t",
    "5x2cv_f": "5x2cv F",
}
_RECORD = (
    *("measure", "a", "b", "value_a", "value_b", "difference", "low", "high"),
    *("p", "p_adjusted", "method"),
)
# So many verdicts stand on top, and so many pairs get a plot of their own.
_FIRST, _PAIRS = 6, 3
_CLASSES = 50


def report_of(comparison: Comparison) -> Report:
    """What a report says of a comparison."""
    headline, source = tuple(_headline(comparison)), comparison.source
    return Report(
        title=f"Comparison of {listed([name(model) for model in comparison.models])}",
        headline=headline,
        sections=(
            *on_data_sets(comparison),
            *_side_by_side(comparison),
            *_differences(comparison),
            *_tests(comparison),
            *_per_class(comparison),
            *where_optimal(comparison.optimal),
            *_flips(comparison),
            *_thresholds(comparison),
            *(() if source is None else refused_rows(source)),
        ),
        findings=comparison.findings,
        notes=comparison.notes,
        records=tuple(_record(each, comparison.mode) for each in comparison.differences),
    )


def _record(difference: Difference, mode: str) -> dict[str, Any]:
    """A difference as a line of a table of plain numbers."""
    record = difference.to_dict()
    low, high = record["bound"] or (None, None)
    # Of two equal models there may be no method.
    columns = {key: record[key] for key in _RECORD} | {"method": difference.difference.method}
    return {**columns, "bound_low": low, "bound_high": high, "mode": mode}


def _headline(comparison: Comparison) -> Iterator[str]:
    """The best model against the next one first, whatever order they came in."""
    yield from overall(comparison)
    verdicts = [verdict.text for verdict in comparison.by_importance]
    yield from verdicts[:_FIRST]
    if len(verdicts) > _FIRST:
        hidden = len(verdicts) - _FIRST
        other = plural(hidden, "The other pair is", f"The other {hidden} pairs are")
        yield f"{other} among the differences below."


# -- models side by side ---------------------------------------------------------------------------


def _side_by_side(comparison: Comparison) -> Iterator[Section]:
    measures = list(dict.fromkeys(difference.measure for difference in comparison.differences))
    main = [m for m in (*_deciding(comparison), *DIFFERENCES) if m in measures]
    main = list(dict.fromkeys(main)) or measures
    others = [measure for measure in measures if measure not in main]
    percent = f"{exact_percent(comparison.level)} intervals"
    caption = f"Each model by itself, {percent}{_chosen(comparison)}"
    if comparison.datasets:
        caption = f"Means over {len(comparison.datasets)} data sets, {percent}"
    tier = Tier.ADVANCED if comparison.datasets else Tier.MAIN
    yield Section("Models side by side", (_table(comparison, main, caption),), tier)
    if others:
        table = _table(comparison, others, caption)
        yield Section("Further measures", (table,), Tier.APPENDIX, detail=True)


def _chosen(comparison: Comparison) -> str:
    if comparison.at is None or isinstance(comparison.at, AtThreshold):
        return ""
    return f"; thresholds by {comparison.at}, chosen anew in each resample"


def _deciding(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(verdict.measure for verdict in comparison.verdicts))


def _table(comparison: Comparison, measures: list[str], caption: str) -> Table:
    columns = (
        Column("measure"),
        *(Column(name(model), Kind.SHARE) for model in comparison.models),
    )
    rows: list[tuple[Cell, ...]] = []
    for measure in measures:
        best = leading(comparison.differences, measure, comparison.level)
        cells: list[Cell] = []
        for model in comparison.models:
            estimate = comparison.estimates.get(model, {}).get(measure)
            cells.append(Marked(estimate) if model in best else estimate)
        rows.append((measure_words(measure), *cells))
    return Table(caption, columns, tuple(rows), (marked_rule(comparison.level),))


def _better(measure: str) -> Better:
    try:
        return parse(measure)[0].better
    except UnknownMeasure:
        return Better.HIGHER


# -- differences -----------------------------------------------------------------------------------


def _differences(comparison: Comparison) -> Iterator[Section]:
    pairs = [(verdict.a, verdict.b) for verdict in comparison.by_importance]
    measures = {difference.measure for difference in comparison.differences}
    wanted = [m for m in dict.fromkeys([*_deciding(comparison), *DIFFERENCES]) if m in measures]
    wanted = wanted or sorted(measures)
    if len(pairs) > _PAIRS:
        yield Section("Differences", (_of_all(comparison, wanted[0]),), Tier.MAIN)
    plots = tuple(_of_pair(comparison, a, b, wanted) for a, b in pairs)
    if len(pairs) <= _PAIRS:
        yield Section("Differences", plots, Tier.MAIN)
    else:
        yield Section("Differences of each pair", plots, Tier.ADVANCED, detail=True)
    yield Section("All differences", (_all_differences(comparison),), Tier.APPENDIX, detail=True)


def _of_pair(comparison: Comparison, a: str, b: str, wanted: list[str]) -> ForestPlot:
    differences = {d.measure: d for d in comparison.differences if (d.a, d.b) == (a, b)}
    changes = tuple(
        _change(comparison, differences[m], measure_words(m)) for m in wanted if m in differences
    )
    caption = f"{name(b)} less {name(a)}"
    return ForestPlot(
        f"{caption}, {_intervals(comparison)}", changes, comparison.margin, _keys(changes)
    )


def _of_all(comparison: Comparison, measure: str) -> ForestPlot:
    of_pair = {(d.a, d.b): d for d in comparison.differences if d.measure == measure}
    changes = tuple(
        _change(comparison, of_pair[v.a, v.b], f"{name(v.b)} less {name(v.a)}")
        for v in comparison.by_importance
        if (v.a, v.b) in of_pair
    )
    caption = f"{measure_words(measure)}: {_intervals(comparison)}"
    return ForestPlot(caption, changes, comparison.margin, _keys(changes), column="models")


def _change(comparison: Comparison, difference: Difference, called: str) -> Change:
    """A line of the plot; of several pairs, and over data sets, p has to bear out the interval."""
    alone = len(comparison.verdicts) == 1 and not comparison.datasets
    shown = alone or (
        difference.p_adjusted is not None and difference.p_adjusted < 1 - comparison.level
    )
    return Change(called, difference.difference, _better(difference.measure), _p(difference), shown)


def _intervals(comparison: Comparison) -> str:
    over = f" over {len(comparison.datasets)} data sets" if comparison.datasets else ""
    percent = exact_percent(comparison.level)
    return f"paired {percent} intervals{over}; the margin is {comparison.margin:g}"


def _keys(changes: tuple[Change, ...]) -> tuple[str, ...]:
    lower = any(change.better is Better.LOWER for change in changes)
    return ("↓ less is better.",) if lower else ()


def _p(difference: Difference) -> str:
    if math.isnan(difference.p):
        return ""
    adjusted = difference.p_adjusted
    if adjusted is None or adjusted == difference.p:
        return f"p {equals(difference.p)}"
    return f"p {equals(difference.p)}, Holm {equals(adjusted)}"


def _all_differences(comparison: Comparison) -> Table:
    pair = len(comparison.models) == 2
    a, b = (name(model) for model in comparison.models[:2])
    bounds = any(d.difference.bound is not None for d in comparison.differences)
    columns = (
        Column("measure"),
        *(() if pair else (Column("models"),)),
        Column(a if pair else "A", Kind.SHARE, optional=True),
        Column(b if pair else "B", Kind.SHARE, optional=True),
        Column("difference", Kind.DIFFERENCE),
        *((BOUND,) if bounds else ()),
        Column("p", Kind.P_VALUE),
        Column("p by Holm", Kind.P_VALUE),
        Column("method", optional=True),
    )
    rows = tuple(
        (
            measure_words(d.measure),
            *(() if pair else (f"{name(d.b)} less {name(d.a)}",)),
            d.value_a,
            d.value_b,
            d.difference,
            *((bound_text(d.difference.bound),) if bounds else ()),
            p_cell(d.p),
            p_cell(d.p_adjusted),
            d.difference.method,
        )
        for d in comparison.differences
    )
    note = "Holm's correction is over the pairs of models, measure by measure."
    return Table("Differences with their paired intervals", columns, rows, () if pair else (note,))


def _per_class(comparison: Comparison) -> Iterator[Section]:
    """Each class of each model against the rest, class by class."""
    if not comparison.per_class:
        return
    first = next(iter(comparison.per_class.values()))
    labels = list(dict.fromkeys(label for label, _ in first))
    measures = list(dict.fromkeys(measure for _, measure in first))
    columns = (
        Column("class"),
        Column("model"),
        *(Column(_short(measure), Kind.SHARE) for measure in measures),
    )
    rows: list[tuple[Cell, ...]] = [
        (label, name(model), *(shares[label, measure] for measure in measures))
        for label in labels[:_CLASSES]
        for model, shares in comparison.per_class.items()
    ]
    hidden = max(len(labels) - _CLASSES, 0)
    notes = (f"{count(hidden)} more {plural(hidden, 'class', 'classes')} are not shown.",) * bool(
        hidden
    )
    percent = f"{exact_percent(comparison.level)} intervals"
    table = Table(f"Each class against the rest, {percent}", columns, tuple(rows), notes)
    yield Section("Per class", (table,), Tier.APPENDIX, detail=True)


def _short(measure: str) -> str:
    return min(spoken(measure), find(measure).short, key=len)


# -- tests, flips, thresholds ----------------------------------------------------------------------


def _tests(comparison: Comparison) -> Iterator[Section]:
    tests = comparison.tests
    if not tests:
        return
    of_measure = any(test.measure for test in tests)
    with_df = any(test.df for test in tests)
    columns = (
        Column("test"),
        *((Column("measure"),) if of_measure else ()),
        Column("models"),
        Column("on", optional=True),
        Column("statistic", Kind.SHARE),
        *((Column("df", optional=True),) if with_df else ()),
        Column("p", Kind.P_VALUE),
        Column("p by Holm", Kind.P_VALUE),
        Column("method", optional=True),
    )
    rows = tuple(
        (
            TESTS.get(test.test, test.test),
            *((measure_words(test.measure) if test.measure else "",) if of_measure else ()),
            _models(test),
            test.on,
            test.statistic,
            *((", ".join(f"{df:g}" for df in test.df),) if with_df else ()),
            p_cell(test.p),
            p_cell(test.p_adjusted),
            test.method,
        )
        for test in tests
    )
    yield Section("Tests", (Table("Raw p, and adjusted by Holm", columns, rows),), Tier.ADVANCED)
    sentences = tuple(Prose(test.sentence) for test in tests)
    yield Section("Tests in words", sentences, Tier.APPENDIX, detail=True)


def _models(test: Significance) -> str:
    if len(test.models) == 2:
        return f"{name(test.models[1])} against {name(test.models[0])}"
    return "all models"


def _flips(comparison: Comparison) -> Iterator[Section]:
    """How many rows flipped; of many pairs the labels and families stand apart."""
    flips = [flip for flip in comparison.flips if not _repeats(flip, comparison.flips)]
    if not flips:
        return
    title = "Rows that flipped"
    if len(comparison.verdicts) > _PAIRS:
        all_rows = [flip for flip in flips if flip.label is None and flip.family is None]
        yield Section(title, (_flip_table(comparison, all_rows),), Tier.ADVANCED)
        title = f"{title}, by label and family"
        yield Section(title, (_flip_table(comparison, flips),), Tier.APPENDIX, detail=True)
        return
    yield Section(title, (_flip_table(comparison, flips),), Tier.ADVANCED)


def _flip_table(comparison: Comparison, flips: list[Flip]) -> Table:
    many = len(comparison.models) > 2
    moved = any(flip.moved for flip in flips)
    columns = (
        Column("rows"),
        *((Column("models"),) if many else ()),
        Column("of", Kind.COUNT),
        Column("fixed", Kind.COUNT),
        Column("broken", Kind.COUNT),
        *((Column("moved", Kind.COUNT),) if moved else ()),
    )
    rows = tuple(
        (
            _of(flip),
            *((f"{name(flip.b)} after {name(flip.a)}",) if many else ()),
            flip.rows,
            flip.fixed,
            flip.broken,
            *((flip.moved,) if moved else ()),
        )
        for flip in flips
    )
    pair = "" if many else f" by {name(comparison.models[1])} after {name(comparison.models[0])}"
    caption = f"Rows decided differently{pair}: from wrong to right, and from right to wrong"
    notes = ("Moved rows went from one wrong class to another.",) if moved else ()
    return Table(caption, columns, rows, notes)


def _repeats(flip: Flip, flips: tuple[Flip, ...]) -> bool:
    """Whether a family is what a label says already, as that of harmless rows."""
    same = (flip.a, flip.b, flip.family, flip.rows)
    return flip.family is not None and any((f.a, f.b, f.label, f.rows) == same for f in flips)


def _of(flip: Flip) -> str:
    if flip.label is not None:
        return quoted(flip.label)
    return "all" if flip.family is None else f"family {quoted(flip.family)}"


def _thresholds(comparison: Comparison) -> Iterator[Section]:
    if not comparison.thresholds:
        return
    rows = tuple(
        (model, "nothing is flagged" if at is None else threshold_text(at))
        for model, at in comparison.thresholds.items()
    )
    caption = f"Rows are flagged from this score on{_chosen(comparison)}"
    table = Table(caption, (Column("model"), Column("threshold")), rows)
    yield Section("Thresholds", (table,), Tier.APPENDIX)


# -- which model is ever optimal -------------------------------------------------------------------


TITLE = "Which model is ever optimal"
_CAPTION = "Where each model has the cheapest threshold, by the probability cost PC"
_PROBABILITY_COST = (
    "PC is c / (c + d), with c the base rate times the cost of a miss, and d the share of the "
    "other rows times the cost of a false alarm."
)
_NO_INTERVAL = (
    "These are the corners of the joint ROC hull of all thresholds. They have no intervals: what "
    "is cheapest was read off these rows, so a narrow range may be gone on others."
)
# A model that comes and goes has so many of its ranges shown; JSON has all.
_RANGES = 4


def where_optimal(optimal: Optimal | None) -> Iterator[Section]:
    """For which costs each model is the best; nothing for more than two classes."""
    if optimal is None:
        return
    rows = [
        (name(best.model), percent(best.share), _best_at(best), _tied(best))
        for best in optimal.models
    ]
    for strategy, low, high in (
        ("no model: flag nothing", 0.0, optimal.nothing),
        ("no model: flag everything", optimal.everything, 1.0),
    ):
        if high > low:
            rows.append((strategy, percent(high - low), _from_to(low, high), ""))
    tied = any(others for *_, others in rows)
    columns = (
        Column("model"),
        Column("share of PC"),
        Column("best at PC"),
        *((Column("as good there"),) if tied else ()),
    )
    cells = tuple(row if tied else row[:-1] for row in rows)
    table = Table(_CAPTION, columns, cells, (_PROBABILITY_COST, _NO_INTERVAL))
    yield Section(TITLE, (table,), Tier.ADVANCED)


def _best_at(best: BestOf) -> str:
    if best.never:
        return "never"
    if not best.ranges:
        return f"only as good as others, at {listed([f'{significant(pc)}' for pc in best.ties])}"
    shown = [_from_to(part.low, part.high) for part in best.ranges[:_RANGES]]
    hidden = len(best.ranges) - len(shown)
    return ", ".join(shown) + (f" and {hidden} more ranges" if hidden else "")


def _tied(best: BestOf) -> str:
    others = dict.fromkeys(other for part in best.ranges for other in part.tied_with)
    return listed([name(other) for other in others]) if others else ""


def _from_to(low: float, high: float) -> str:
    return f"{significant(low)} to {significant(high)}"
