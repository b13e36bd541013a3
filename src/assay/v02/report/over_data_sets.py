"""The part of a comparison that is over several data sets: what a paper's table shows."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.v02.decisions.compare.comparison import Comparison, DataSetFolds, direction, leading
from assay.errors import UnknownMeasure
from assay.v02.escaping import name, plural
from assay.v02.inference import Significance
from assay.v02.inference.rank_tests import SignedRankPosterior, runs_not_told_apart
from assay.v02.measures import Better, parse
from assay.v02.number_text import exact_percent, fixed, p_value
from assay.v02.report.sections import (
    Cell,
    Column,
    Kind,
    Marked,
    MeanRanks,
    Rank,
    Section,
    Table,
    Tier,
    measure_name,
)

UNTESTED = (
    "Marked: the best of each data set, where nothing is tested; of mean ranks also those not "
    "significantly different from it (Holm)."
)
METHODS = {"nadeau_bengio": "Nadeau and Bengio", "5x2cv_f": "the 5x2cv F test"}


def marked_rule(level: float) -> str:
    """Which cells stand out."""
    return (
        f"Marked: the best, and those not significantly different from it at the "
        f"{exact_percent(1 - level)} level (Holm)."
    )


def measure_words(measure: str) -> str:
    """A measure in words, with an arrow where less is better."""
    try:
        declared, suffix = parse(measure)
    except UnknownMeasure:
        return measure
    words = measure_name(declared.name, suffix)
    return f"{words} ↓" if declared.better is Better.LOWER else words


def p_cell(p: float | None) -> float | None:
    """A p-value in a table; nothing where there is none."""
    return None if p is None or math.isnan(p) else p


def equals(p: float) -> str:
    """A p-value after its letter."""
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def overall(comparison: Comparison) -> Iterator[str]:
    """Whether three models or more differ over data sets at all, and which ranks best."""
    for test in comparison.tests:
        measure = comparison.verdicts[0].measure
        if comparison.datasets and (test.test, test.measure) == ("iman_davenport", measure):
            differ = "they differ" if test.p < 1 - comparison.level else "no difference is shown"
            yield (
                f"{name(comparison.ranking[0])} ranks best of {len(comparison.models)} models over "
                f"{len(comparison.datasets)} data sets in {measure}; {differ} (Friedman's test by "
                f"Iman and Davenport, p {equals(test.p)})."
            )


def on_data_sets(comparison: Comparison) -> Iterator[Section]:
    """Models on each data set, their ranks, and what was asked for besides."""
    if not comparison.datasets:
        return
    measures = list(dict.fromkeys(difference.measure for difference in comparison.differences))
    first = next((verdict.measure for verdict in comparison.verdicts), measures[0])
    yield Section("Models on each data set", (_table(comparison, first),), Tier.MAIN)
    ranks = _mean_ranks(comparison, first)
    if ranks is not None:
        yield Section("Mean ranks", (ranks,), Tier.MAIN)
    likely = [each for each in comparison.posteriors if each.measure == first]
    if likely:
        table = _posteriors(comparison, likely)
        yield Section("Practically the same", (table,), Tier.ADVANCED)
    others = [measure for measure in measures if measure != first]
    if others:
        tables = tuple(_table(comparison, measure) for measure in others)
        yield Section("Further measures on each data set", tables, Tier.APPENDIX, detail=True)
    if any(each.differences for each in comparison.datasets):
        table = _within_data_sets(comparison, first)
        yield Section("Pairs within each data set", (table,), Tier.APPENDIX, detail=True)


def _table(comparison: Comparison, measure: str) -> Table:
    """A row a data set and a column a model, best first; mean ranks below."""
    models = comparison.ranking
    columns = (Column("data set"), *(Column(name(model), Kind.SHARE) for model in models))
    rows: list[tuple[Cell, ...]] = []
    for data_set in comparison.datasets:
        best = leading(data_set.differences, measure, comparison.level)
        best = best or _highest(data_set, measure, models)
        estimates = [data_set.estimates.get(model, {}).get(measure) for model in models]
        cells = [
            Marked(cell) if model in best else cell
            for model, cell in zip(models, estimates, strict=True)
        ]
        rows.append((data_set.dataset, *cells))
    ranks = _ranks(comparison, measure)
    if ranks:
        best = _best_ranked(comparison, measure, ranks)
        cells_of_ranks = {model: Rank(ranks[model]) for model in models}
        rows.append(
            ("mean rank", *(Marked(c) if m in best else c for m, c in cells_of_ranks.items()))
        )
    sizes = sorted({each.folds for each in comparison.datasets})
    folds = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    methods = {
        METHODS.get(difference.difference.method or "", str(difference.difference.method))
        for each in comparison.datasets
        for difference in each.differences
    }
    by = f", {exact_percent(comparison.level)} intervals and tests by {', '.join(sorted(methods))}"
    over = f"means over {folds} {plural(sizes[-1], 'fold', 'folds')}{by if methods else ''}"
    return Table(
        f"{measure_words(measure)}, {'one value a data set' if sizes[-1] == 1 else over}",
        columns,
        tuple(rows),
        (marked_rule(comparison.level) if methods else UNTESTED,),
    )


def _highest(data_set: DataSetFolds, measure: str, models: tuple[str, ...]) -> frozenset[str]:
    """Of values without a spread the best, and all that equal it."""
    if data_set.differences or not direction(measure):
        return frozenset()
    values = {m: direction(measure) * float(data_set.estimates[m][measure]) for m in models}
    return frozenset(m for m, value in values.items() if value == max(values.values()))


def _ranks(comparison: Comparison, measure: str) -> dict[str, float]:
    for test in comparison.tests:
        if test.measure == measure and "mean_ranks" in test.table:
            return dict(test.table["mean_ranks"])
    return {}


def _pairs(comparison: Comparison, test: str, measure: str) -> list[Significance]:
    return [t for t in comparison.tests if (t.test, t.measure) == (test, measure)]


def _best_ranked(comparison: Comparison, measure: str, ranks: dict[str, float]) -> frozenset[str]:
    """The best mean rank, and those not significantly different by Holm's p."""
    best = min(ranks, key=lambda model: ranks[model])
    pairs = [t for test in ("mean_ranks", "wilcoxon") for t in _pairs(comparison, test, measure)]
    worse = {
        other
        for t in pairs
        if best in t.models and (t.p_adjusted or t.p) < 1 - comparison.level
        for other in t.models
        if other != best
    }
    return frozenset(ranks) - worse


def _mean_ranks(comparison: Comparison, measure: str) -> MeanRanks | None:
    """Mean ranks with what Nemenyi's test does not tell apart; of three models or more."""
    pairs = _pairs(comparison, "nemenyi", measure)
    ranks = _ranks(comparison, measure)
    if not pairs or not ranks:
        return None
    ordered = sorted(ranks, key=lambda model: ranks[model])
    critical = float(pairs[0].table["critical_difference"])
    groups = runs_not_told_apart([ranks[model] for model in ordered], critical)
    rows = tuple(
        (
            name(model),
            Rank(ranks[model]),
            ", ".join(
                name(other)
                for j, other in enumerate(ordered)
                if j != i and any(a <= min(i, j) and max(i, j) <= b for a, b in groups)
            )
            or "none",
        )
        for i, model in enumerate(ordered)
    )
    friedman = _pairs(comparison, "iman_davenport", measure)
    overall = f"; Iman and Davenport: p {equals(friedman[0].p)}" if friedman else ""
    size = len(comparison.datasets)
    level = f"the {exact_percent(1 - comparison.level)} level"
    table = (
        f"Told apart from a critical difference of {fixed(critical, 2)} on, by Nemenyi at {level}."
    )
    return MeanRanks(
        f"{measure_words(measure)} over {size} data sets, 1 is best{overall}",
        (Column("model"), Column("mean rank", Kind.SHARE), Column("not told apart from")),
        rows,
        (table,),
        ranks=tuple((name(model), ranks[model]) for model in ordered),
        critical=critical,
        groups=tuple(groups),
    )


def _posteriors(comparison: Comparison, likely: list[SignedRankPosterior]) -> Table:
    place = {model: i for i, model in enumerate(comparison.ranking)}
    columns = (
        Column("first"),
        Column("second"),
        Column("first is better", Kind.SHARE),
        Column("practically the same", Kind.SHARE),
        Column("second is better", Kind.SHARE),
    )
    rows = []
    for each in sorted(likely, key=lambda e: sorted((place[e.a], place[e.b]))):
        turned = place[each.b] < place[each.a]
        first, second = (each.b, each.a) if turned else (each.a, each.b)
        ahead, behind = each.a_better, each.b_better
        ahead, behind = (behind, ahead) if turned else (ahead, behind)
        shares = (fixed(ahead, 3), fixed(each.equivalent, 3), fixed(behind, 3))
        rows.append((name(first), name(second), *shares))
    one = likely[0]
    return Table(
        f"{measure_words(one.measure)}: probabilities over such data sets, by signed ranks "
        f"(Bayesian)",
        columns,
        tuple(rows),
        (
            f"Values within {one.rope:g} of each other are practically the same.",
            f"{one.draws:,} draws of the posterior over {one.n} data sets, seed {one.seed}.",
        ),
    )


def _within_data_sets(comparison: Comparison, measure: str) -> Table:
    columns = (
        Column("data set"),
        Column("models"),
        Column("difference", Kind.DIFFERENCE),
        Column("p", Kind.P_VALUE),
        Column("p by Holm", Kind.P_VALUE),
    )
    rows = tuple(
        (
            each.dataset,
            f"{name(difference.b)} less {name(difference.a)}",
            difference.difference,
            p_cell(difference.p),
            p_cell(difference.p_adjusted),
        )
        for each in comparison.datasets
        for difference in each.differences
        if difference.measure == measure
    )
    return Table(
        f"{measure_words(measure)}, differences over the folds of each data set, "
        f"{exact_percent(comparison.level)} intervals",
        columns,
        rows,
        ("Holm's correction is over the pairs of models, data set by data set.",),
    )
