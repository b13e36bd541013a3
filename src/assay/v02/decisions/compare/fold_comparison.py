"""Is B really better than A over the folds of a cross-validation, and over several data sets?"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.v02.decisions.compare.comparison import (
    BETTER,
    EQUIVALENT,
    UNDECIDED,
    WORSE,
    Comparison,
    DataSetFolds,
    Difference,
    Verdict,
    direction,
    effect_of,
    known,
)
from assay.v02.decisions.compare.fold_table import (
    Floats,
    FoldTable,
    fold_tables,
    measure_range,
    measured_folds,
)
from assay.v02.decisions.compare.verdicts import MARGIN, Size, adjusted_by_holm, checked_margin, verdict
from assay.errors import InputError, MethodError
from assay.v02.evaluation.findings import Finding
from assay.v02.inference import (
    Estimate,
    Significance,
    five_by_two_f,
    five_by_two_t,
    friedman,
    nadeau_bengio,
    nemenyi,
    paired_t,
)
from assay.v02.inference.paired_tests import five_by_two_interval
from assay.v02.inference.rank_tests import (
    SignedRankPosterior,
    iman_davenport,
    mean_rank_tests,
    signed_rank_posterior,
    wilcoxon,
)
from assay.v02.inference.significance import check_level, check_seed, student
from assay.v02.measures.catalogue import DECIDING
from assay.v02.number_text import fixed, p_text, whole_percent
from assay.v02.sources import columns_of
from assay.v02.sources.columns import array_of
from assay.v02.sources.files.summary_tables import (
    DATASET,
    N_TEST,
    N_TRAIN,
    FoldRows,
    fold_rows,
    read_folds,
)

OVERLAP_NOTE = (
    "folds share their training rows, so the paired t test finds differences that are not there; "
    "Nadeau and Bengio's correction is for that, and decides"
)
RANKS_NOTE = (
    "Friedman's and Nemenyi's tests take the folds of one data set as independent, so their p is "
    "too small; they are meant for several data sets, which a column dataset tells"
)
FIVE_BY_TWO_NOTE = "these are five repeats of two folds, so the 5x2cv F test decides"


# Values that were read and averaged differ by rounding alone below this.
_DECIMALS = 12


# With fewer data sets Wilcoxon's test can't show anything at the usual level.
_FEWEST = 6


def compare_folds(
    table: Any,
    *,
    level: float = 0.95,
    margin: float = MARGIN,
    rope: float | None = None,
    seed: int = 42,
    label: str | None = None,
    positive: Any = None,
    negative: Any = None,
    threshold: float | None = None,
) -> Comparison:
    """Compare models over the folds of a (repeated) cross-validation, of one data set or several.

    ``table`` has a row a model and fold, with the columns model, repeat, fold, n_train, n_test and
    one a measure: a mapping from name to column, a dataframe, or files by name. All models must
    have the same folds. Or it has a row a prediction, with the columns model, fold, label, and
    score or predicted; then each fold is measured first, and ``label``, ``positive``, ``negative``
    and ``threshold`` are as in :func:`assay.compare`. A mapping from name to table is several data
    sets, as is a column dataset.

    Of one data set each pair is tested by the paired t test, by Nadeau and Bengio's corrected one,
    and of five repeats of two folds by the 5x2cv t and F tests. Over several data sets models are
    ranked on each: by Friedman's test and Iman and Davenport's, each pair by its mean ranks with
    Holm's p and by Nemenyi's test; two models by Wilcoxon's. ``rope`` asks for the Bayesian
    signed-rank test, with values closer than that as practically the same.

    >>> folds = {"model": ["a"] * 3 + ["b"] * 3, "repeat": [1] * 6, "fold": [1, 2, 3] * 2}
    >>> sizes = {"n_train": [200] * 6, "n_test": [100] * 6}
    >>> values = {"accuracy": [0.90, 0.91, 0.92, 0.95, 0.961, 0.97]}
    >>> compare_folds(folds | sizes | values).verdicts[0].text
    'b is better than a: accuracy is higher by 0.050 [0.048, 0.053].'
    """
    level, seed = check_level(level), check_seed(seed)
    margin = checked_margin(margin)
    rows = _rows(table, label)
    sides = {"positive": positive, "negative": negative, "threshold": threshold}
    findings: tuple[Finding, ...] = ()
    if rows.predictions:
        rows, findings = measured_folds(rows, **sides)
    elif label is not None or any(side is not None for side in sides.values()):
        raise MethodError(
            "label=, positive=, negative= and threshold= are of predictions; these are folds with "
            "their measures"
        )
    tables, notes = fold_tables(rows)
    if len(tables) == 1:
        if rope is not None:
            raise MethodError(
                "rope= is of several data sets, which a column dataset tells apart; there is one"
            )
        comparison = compare_one(next(iter(tables.values())), level=level, margin=margin)
        return replace(comparison, notes=(*notes, *comparison.notes), findings=findings)
    comparison = _over_data_sets(tables, notes, level=level, margin=margin, rope=rope, seed=seed)
    return replace(comparison, findings=findings)


def _rows(table: Any, label: str | None) -> FoldRows:
    if isinstance(table, FoldRows):
        return table
    if isinstance(table, str | os.PathLike):
        return read_folds(str(table))
    if isinstance(table, list | tuple):
        return read_folds([str(name) for name in table])
    if not isinstance(table, Mapping):
        return fold_rows(dict(columns_of(table)), label)
    nested = [hasattr(part, "columns") or isinstance(part, Mapping) for part in table.values()]
    if not table or not all(nested):
        return fold_rows({str(name): column for name, column in table.items()}, label)
    parts = {str(name): _rows(part, label) for name, part in table.items()}
    first = next(iter(parts.values()))
    for name, part in parts.items():
        if set(part.columns) != set(first.columns) or DATASET in part.columns:
            raise InputError(
                f"the tables of data sets need the same columns, and none called {DATASET!r}; "
                f"{name!r} has {', '.join(part.columns)}"
            )
    columns = {
        key: [v for part in parts.values() for v in array_of(part.columns[key], key).tolist()]
        for key in first.columns
    }
    sizes = {name: len(array_of(part.columns["model"], "model")) for name, part in parts.items()}
    columns[DATASET] = [name for name, size in sizes.items() for _ in range(size)]
    notes = tuple(dict.fromkeys(note for part in parts.values() for note in part.notes))
    return FoldRows(columns, first.predictions, notes)


def compare_one(folds: FoldTable, *, level: float, margin: float) -> Comparison:
    """Compare models over the folds of one data set."""
    if not folds.has_spread:
        raise InputError(
            f"there is no {N_TRAIN} and no {N_TEST}, and without all folds of each repeat how much "
            f"training rows overlap can't be told; add both columns"
        )
    differences: list[Difference] = []
    tests: list[Significance] = []
    for measure in folds.values:
        of_pairs = [
            list(_tests(folds, measure, a, b, level))
            for a, b in itertools.combinations(range(len(folds.models)), 2)
        ]
        by_test = [list(adjusted_by_holm(same)) for same in zip(*of_pairs, strict=True)]
        tests += [test for of_pair in zip(*by_test, strict=True) for test in of_pair]
        tests += _tests_of_all(folds, measure, level)
        # The last test of a pair is the one that decides.
        differences += [_difference(folds, measure, test, level) for test in by_test[-1]]
    judged = [
        difference for difference in differences if difference.measure == deciding(folds.values)
    ]
    size = Size(
        len(folds.folds),
        "folds",
        # Two folds five times are a design of its own: there are no more of them.
        lasting=math.inf if folds.five_by_two else folds.ratio,
        df=len(folds.folds) - 1,
    )
    return Comparison(
        models=folds.models,
        differences=tuple(differences),
        tests=tuple(tests),
        verdicts=tuple(
            verdict(difference, margin=margin, pairs=len(judged), size=size)
            for difference in judged
        ),
        notes=tuple(_notes(folds)),
        level=level,
        margin=margin,
        estimates={model: dict(folds.estimates(model, level)) for model in folds.models},
    )


def deciding(measures: Collection[str]) -> str:
    """The measure that verdicts are by: the ranking where it was measured, else the first."""
    return next((name for name in DECIDING if name in measures), next(iter(measures)))


def _tests(folds: FoldTable, measure: str, a: int, b: int, level: float) -> Iterator[Significance]:
    """The tests of one pair, the one that decides last."""
    values = folds.values[measure]
    first, second = values[:, a], values[:, b]
    names = (folds.models[a], folds.models[b])
    means = {
        "mean_a": float(first.mean()),
        "mean_b": float(second.mean()),
        "variance_a": float(first.var(ddof=1)),
        "variance_b": float(second.var(ddof=1)),
    }
    tests = [paired_t(first, second, level=level, names=names)]
    # Only the ratio of both sizes counts.
    sizes = {N_TRAIN: folds.n_train, N_TEST: folds.n_test}
    if math.isnan(folds.n_train):
        sizes = {N_TRAIN: 1.0, N_TEST: folds.ratio}
    tests.append(nadeau_bengio(first, second, **sizes, level=level, names=names))
    if folds.five_by_two:
        tests += [
            test(first.reshape(5, 2), second.reshape(5, 2), level=level, names=names)
            for test in (five_by_two_t, five_by_two_f)
        ]
    for test in tests:
        sentence = f"{measure}: {test.sentence}"
        yield replace(test, measure=measure, table={**means, **test.table}, sentence=sentence)


def _tests_of_all(folds: FoldTable, measure: str, level: float) -> Iterator[Significance]:
    """Friedman's test of three models or more, and Nemenyi's of each pair."""
    if len(folds.models) < 3:
        return
    # Ranks are given from the highest value down.
    values: Floats = folds.values[measure] * (direction(measure) or 1)
    every = friedman(values, level=level, names=folds.models, of="folds")
    for test in (every, *nemenyi(values, level=level, names=folds.models)):
        sentence = f"{measure}: {test.sentence} Folds are taken as independent, which they are not."
        # One test, or p-values that hold for all pairs together: nothing to adjust.
        yield replace(test, measure=measure, sentence=sentence, p_adjusted=test.p)


def _difference(folds: FoldTable, measure: str, test: Significance, level: float) -> Difference:
    effect = effect_of(test).changed(method=test.test)
    if test.test == "5x2cv_f":
        values = folds.values[measure]
        first, second = (values[:, folds.models.index(name)] for name in test.models)
        low, high = five_by_two_interval(first, second, level=level)
        effect = effect.changed(low=low, high=high, note=None)
    return Difference(
        measure=measure,
        a=test.models[0],
        b=test.models[1],
        value_a=test.table["mean_a"],
        value_b=test.table["mean_b"],
        difference=effect,
        p=test.p,
        p_adjusted=test.p_adjusted,
    )


def _notes(folds: FoldTable) -> Iterator[str]:
    yield FIVE_BY_TWO_NOTE if folds.five_by_two else OVERLAP_NOTE
    if len(folds.models) > 2:
        yield RANKS_NOTE
    if math.isnan(folds.n_train):
        yield (
            f"there is no {N_TRAIN} and no {N_TEST}: one row is taken to test for "
            f"{1 / folds.ratio:g} that train, as in a cross-validation of "
            f"{1 + 1 / folds.ratio:g} folds"
        )
    for measure, where in folds.undefined.items():
        yield f"{measure} has no value for {where}, so it is not compared"
    for measure in folds.values:
        if known(measure) is None:
            yield f"{measure} is not in the catalogue; higher is taken as better"


# -- several data sets -----------------------------------------------------------------------------


def _over_data_sets(
    tables: Mapping[str, FoldTable],
    notes: Sequence[str],
    *,
    level: float,
    margin: float,
    rope: float | None,
    seed: int,
) -> Comparison:
    """Compare models by what they reach on each data set."""
    first = next(iter(tables.values()))
    measures = [name for name in first.values if all(name in t.values for t in tables.values())]
    if not measures:
        raise InputError("no measure has a value in every fold of every data set")
    means = {
        measure: np.round([t.values[measure].mean(axis=0) for t in tables.values()], _DECIMALS)
        for measure in measures
    }
    tests: list[Significance] = []
    differences: list[Difference] = []
    posteriors: list[SignedRankPosterior] = []
    for measure, values in means.items():
        of_measure = list(_tests_of_ranks(values, measure, first.models, level))
        tests += of_measure
        differences += _differences(values, measure, of_measure, first.models, level)
        if rope is not None:
            posteriors += _posteriors(values, measure, first.models, rope, seed)
    judged = deciding(measures)
    pairs = [each for each in differences if each.measure == judged]
    likely = {(each.a, each.b): each for each in posteriors if each.measure == judged}
    ranks = {
        name: rank
        for test in tests
        if test.measure == judged
        for name, rank in test.table.get("mean_ranks", {}).items()
    }
    signed = [t for t in tests if (t.test, t.measure) == ("wilcoxon", judged)]
    leader = next((t.models[t.table["ranks_above"] > t.table["ranks_below"]] for t in signed), None)
    within = {name: _within_margin(t, level, margin) for name, t in tables.items()}
    return Comparison(
        models=first.models,
        differences=tuple(differences),
        tests=tuple(tests),
        verdicts=tuple(
            _verdict_by_ranks(
                each, ranks, len(tables), level, margin, likely.get((each.a, each.b)), leader
            )
            for each in pairs
        ),
        notes=tuple(dict.fromkeys([*notes, *_notes_on_data_sets(tables, within)])),
        level=level,
        margin=margin,
        estimates={
            model: {m: _mean_of_data_sets(values[:, i], m, level) for m, values in means.items()}
            for i, model in enumerate(first.models)
        },
        datasets=tuple(_data_set(name, tables[name], within[name], level) for name in tables),
        posteriors=tuple(posteriors),
    )


def _within_margin(folds: FoldTable, level: float, margin: float) -> Comparison | None:
    return compare_one(folds, level=level, margin=margin) if folds.has_spread else None


def _data_set(name: str, folds: FoldTable, within: Comparison | None, level: float) -> DataSetFolds:
    # Ranks of the folds of one data set are left to those of data sets.
    ranked = ("friedman", "nemenyi")
    return DataSetFolds(
        name,
        len(folds.folds),
        {model: dict(folds.estimates(model, level)) for model in folds.models},
        () if within is None else within.differences,
        () if within is None else tuple(t for t in within.tests if t.test not in ranked),
    )


def _tests_of_ranks(
    values: Floats, measure: str, models: Sequence[str], level: float
) -> Iterator[Significance]:
    # Ranks are given from the highest value down.
    better = values * (direction(measure) or 1)
    tests: list[Significance] = []
    if len(models) == 2:
        names = (models[0], models[1])
        test = wilcoxon(better[:, 0], better[:, 1], level=level, names=names)
        table = {**test.table, "mean_ranks": _two_ranks(better, models)}
        tests.append(replace(test, table=table, p_adjusted=test.p))
    else:
        every = [test(better, level=level, names=models) for test in (friedman, iman_davenport)]
        pairs = nemenyi(better, level=level, names=models)
        # One test, or p-values that hold for all pairs together: nothing to adjust.
        tests += [replace(test, p_adjusted=test.p) for test in (*every, *pairs)]
        tests += mean_rank_tests(better, level=level, names=models)
    for test in tests:
        yield replace(test, measure=measure, sentence=f"{measure}: {test.sentence}")


def _two_ranks(better: Floats, models: Sequence[str]) -> dict[str, float]:
    wins = float(np.sign(better[:, 1] - better[:, 0]).mean()) / 2
    return {models[0]: 1.5 + wins, models[1]: 1.5 - wins}


def _differences(
    values: Floats,
    measure: str,
    tests: Sequence[Significance],
    models: Sequence[str],
    level: float,
) -> Iterator[Difference]:
    """The mean gap over data sets, with the p of ranks that decides."""
    decides = {test.models: test for test in tests if test.test in ("mean_ranks", "wilcoxon")}
    for i, j in itertools.combinations(range(len(models)), 2):
        test = decides[models[i], models[j]]
        yield Difference(
            measure=measure,
            a=models[i],
            b=models[j],
            value_a=float(values[:, i].mean()),
            value_b=float(values[:, j].mean()),
            difference=_student(values[:, j] - values[:, i], level),
            p=test.p,
            p_adjusted=test.p_adjusted,
        )


def _student(values: Floats, level: float) -> Estimate:
    """A mean over data sets, which are independent, with Student's interval."""
    size = len(values)
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(size)
    reach = student(level, size - 1) * error
    return Estimate(mean, mean - reach, mean + reach, method="student", n=size, level=level)


def _mean_of_data_sets(values: Floats, measure: str, level: float) -> Estimate:
    mean = _student(values, level)
    low, high = measure_range(measure)
    return mean.changed(low=max(mean.low, low), high=min(mean.high, high))


def _posteriors(
    values: Floats, measure: str, models: Sequence[str], rope: float, seed: int
) -> Iterator[SignedRankPosterior]:
    better = values * (direction(measure) or 1)
    for i, j in itertools.combinations(range(len(models)), 2):
        chances = signed_rank_posterior(better[:, i], better[:, j], rope=rope, seed=seed)
        yield SignedRankPosterior(
            measure, models[i], models[j], rope, *chances, n=len(values), seed=seed
        )


def _verdict_by_ranks(
    difference: Difference,
    ranks: Mapping[str, float],
    size: int,
    level: float,
    margin: float,
    likely: SignedRankPosterior | None,
    leader: str | None,
) -> Verdict:
    """What ranks over data sets say of a pair; equivalent by the margin, or by the posterior."""
    a, b, name, gap = difference.a, difference.b, difference.measure, difference.difference
    p = difference.p_adjusted or difference.p
    method = f"{p_text(p)} by {'Holm' if len(ranks) > 2 else 'Wilcoxon'}"
    significant = difference.p_adjusted is not None and difference.p_adjusted < 1 - level
    first, second = (b, a) if ranks[b] < ranks[a] else (a, b)
    if significant and leader not in (None, first):
        # A few large differences against many small ones: signed ranks decide, mean ranks do not.
        first, second = second, first
        method += ", which weighs how large the differences are"
    means = (
        f"mean ranks {fixed(ranks[first], 2)} and {fixed(ranks[second], 2)} over {size} "
        f"data sets, {method}"
    )
    if significant:
        outcome = BETTER if first == b else WORSE
        text = f"{first} is better than {second} in {name}: {means}."
    elif -margin < gap.low and gap.high < margin:
        outcome = EQUIVALENT
        text = (
            f"{first} and {second} are equivalent: {name} differs by less than {margin:g} on "
            f"average over {size} data sets."
        )
    elif likely is not None and likely.equivalent > level:
        outcome = EQUIVALENT
        text = f"{first} and {second} are practically equivalent in {name}."
    else:
        outcome = UNDECIDED
        text = f"{first} and {second} can't be told apart in {name}: {means}."
    if likely is not None:
        chances = {a: likely.a_better, b: likely.b_better}
        text += (
            f" Over such data sets {first} is better with a probability of "
            f"{whole_percent(chances[first])}, practically the same (within {likely.rope:g}) "
            f"{whole_percent(likely.equivalent)}, worse {whole_percent(chances[second])}."
        )
    return Verdict(a, b, text, outcome, name)


def _notes_on_data_sets(
    tables: Mapping[str, FoldTable], within: Mapping[str, Comparison | None]
) -> Iterator[str]:
    yield (
        f"models are ranked on each of {len(tables)} data sets by their mean over its folds; "
        f"p-values are over data sets, and within one by the tests of folds"
    )
    first = next(iter(tables.values()))
    if len(first.models) == 2 and len(tables) < _FEWEST:
        yield (
            f"{len(tables)} data sets are too few for Wilcoxon's test: the smallest p there is "
            f"{2.0 ** (1 - len(tables)):g}"
        )
    if len(first.models) > 2 and len(tables) < _FEWEST:
        yield f"{len(tables)} data sets are few: ranks show only large differences"
    for name, folds in tables.items():
        for measure, where in folds.undefined.items():
            yield f"{measure} has no value for data set {name!r}, {where}, so it is not compared"
        if within[name] is None:
            yield (
                f"within data set {name!r} nothing is tested: "
                + ("there is one value a model" if len(folds.folds) == 1 else "n_train is unknown")
            )
    for comparison in within.values():
        # Ranks over folds are not reported here, and what is no measure is said once.
        if comparison is not None:
            yield from (note for note in comparison.notes if note != RANKS_NOTE)
    for measure in first.values:
        if known(measure) is None:
            yield f"{measure} is not in the catalogue; higher is taken as better"
