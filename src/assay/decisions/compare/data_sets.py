"""Is B really better than A over the folds of a cross-validation, and over several data sets?"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.decisions.compare.comparison import (
    BETTER,
    EQUIVALENT,
    UNDECIDED,
    WORSE,
    Comparison,
    DataSetFolds,
    Difference,
    Verdict,
    direction,
    known,
)
from assay.decisions.compare.fold_table import Floats, FoldTable, fold_tables, measure_range
from assay.decisions.compare.folds import compare_one, deciding
from assay.decisions.compare.predictions import measured_folds
from assay.decisions.compare.verdicts import MARGIN, checked_margin
from assay.errors import InputError, MethodError
from assay.evaluation.findings import Finding
from assay.inference import Estimate, Significance, friedman, nemenyi
from assay.inference.data_sets import (
    SignedRankPosterior,
    iman_davenport,
    mean_rank_tests,
    signed_rank_posterior,
    wilcoxon,
)
from assay.inference.quantiles import check_level, student
from assay.inference.significance import p_text
from assay.sources import columns_of
from assay.sources.columns import array_of
from assay.sources.files.fold_table import DATASET, FoldRows, fold_rows, read_folds

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
    check_level(level)
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
        found = compare_one(next(iter(tables.values())), level=level, margin=margin)
        return replace(found, notes=(*notes, *found.notes), findings=findings)
    found = _over_data_sets(tables, notes, level=level, margin=margin, rope=rope, seed=seed)
    return replace(found, findings=findings)


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
        found = list(_tests(values, measure, first.models, level))
        tests += found
        differences += _differences(values, measure, found, first.models, level)
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
    ahead = next((t.models[t.table["ranks_above"] > t.table["ranks_below"]] for t in signed), None)
    within = {name: _within(t, level, margin) for name, t in tables.items()}
    return Comparison(
        models=first.models,
        differences=tuple(differences),
        tests=tuple(tests),
        verdicts=tuple(
            _verdict(each, ranks, len(tables), level, margin, likely.get((each.a, each.b)), ahead)
            for each in pairs
        ),
        notes=tuple(dict.fromkeys([*notes, *_notes(tables, within)])),
        level=level,
        margin=margin,
        estimates={
            model: {m: _mean(values[:, i], m, level) for m, values in means.items()}
            for i, model in enumerate(first.models)
        },
        datasets=tuple(_data_set(name, tables[name], within[name], level) for name in tables),
        posteriors=tuple(posteriors),
    )


def _within(folds: FoldTable, level: float, margin: float) -> Comparison | None:
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


def _tests(
    values: Floats, measure: str, models: Sequence[str], level: float
) -> Iterator[Significance]:
    # Ranks are given from the highest value down.
    better = values * (direction(measure) or 1)
    found: list[Significance] = []
    if len(models) == 2:
        names = (models[0], models[1])
        test = wilcoxon(better[:, 0], better[:, 1], level=level, names=names)
        table = {**test.table, "mean_ranks": _two_ranks(better, models)}
        found.append(replace(test, table=table, p_adjusted=test.p))
    else:
        every = [test(better, level=level, names=models) for test in (friedman, iman_davenport)]
        pairs = nemenyi(better, level=level, names=models)
        # One test, or p-values that hold for all pairs together: nothing to adjust.
        found += [replace(test, p_adjusted=test.p) for test in (*every, *pairs)]
        found += mean_rank_tests(better, level=level, names=models)
    for test in found:
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


def _mean(values: Floats, measure: str, level: float) -> Estimate:
    found = _student(values, level)
    low, high = measure_range(measure)
    return found.changed(low=max(found.low, low), high=min(found.high, high))


def _posteriors(
    values: Floats, measure: str, models: Sequence[str], rope: float, seed: int
) -> Iterator[SignedRankPosterior]:
    better = values * (direction(measure) or 1)
    for i, j in itertools.combinations(range(len(models)), 2):
        chances = signed_rank_posterior(better[:, i], better[:, j], rope=rope, seed=seed)
        yield SignedRankPosterior(
            measure, models[i], models[j], rope, *chances, n=len(values), seed=seed
        )


def _verdict(
    found: Difference,
    ranks: Mapping[str, float],
    size: int,
    level: float,
    margin: float,
    likely: SignedRankPosterior | None,
    ahead: str | None,
) -> Verdict:
    """What ranks over data sets say of a pair; equivalent by the margin, or by the posterior."""
    a, b, name, gap = found.a, found.b, found.measure, found.difference
    method = f"{p_text(found.p_adjusted or found.p)} by {'Holm' if len(ranks) > 2 else 'Wilcoxon'}"
    told = found.p_adjusted is not None and found.p_adjusted < 1 - level
    first, second = (b, a) if ranks[b] < ranks[a] else (a, b)
    if told and ahead not in (None, first):
        # A few large differences against many small ones: signed ranks decide, mean ranks do not.
        first, second = second, first
        method += ", which weighs how large the differences are"
    means = f"mean ranks {ranks[first]:.2f} and {ranks[second]:.2f} over {size} data sets, {method}"
    if told:
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
            f" Over such data sets {first} is better with a probability of {chances[first]:.0%}, "
            f"practically the same (within {likely.rope:g}) {likely.equivalent:.0%}, worse "
            f"{chances[second]:.0%}."
        )
    return Verdict(a, b, text, outcome, name)


def _notes(
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
    for found in within.values():
        # Ranks over folds are not reported here, and what is no measure is said once.
        if found is not None:
            yield from (note for note in found.notes if not note.startswith("Friedman"))
    for measure in first.values:
        if known(measure) is None:
            yield f"{measure} is not in the catalogue; higher is taken as better"
