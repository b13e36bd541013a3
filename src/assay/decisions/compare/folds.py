"""Is B really better than A over the folds of a cross-validation?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from assay.decisions.compare.comparison import Comparison, Difference, direction, known
from assay.decisions.compare.fold_table import Floats, FoldTable
from assay.decisions.compare.verdicts import Size, verdict
from assay.errors import InputError
from assay.inference import (
    Significance,
    five_by_two_f,
    five_by_two_t,
    friedman,
    holm,
    nadeau_bengio,
    nemenyi,
    paired_t,
)
from assay.inference.folds import five_by_two_interval
from assay.measures.shown import DECIDING
from assay.sources.files.fold_table import N_TEST, N_TRAIN

OVERLAP_NOTE = (
    "folds share their training rows, so the paired t test finds differences that are not there; "
    "Nadeau and Bengio's correction is for that, and decides"
)
RANKS_NOTE = (
    "Friedman's and Nemenyi's tests take the folds of one data set as independent, so their p is "
    "too small; they are meant for several data sets, which a column dataset tells"
)
FIVE_BY_TWO_NOTE = "these are five repeats of two folds, so the 5x2cv F test decides"


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
        by_test = [list(_holm(same)) for same in zip(*of_pairs, strict=True)]
        tests += [test for of_pair in zip(*by_test, strict=True) for test in of_pair]
        tests += _tests_of_all(folds, measure, level)
        # The last test of a pair is the one that decides.
        differences += [_difference(folds, test, level) for test in by_test[-1]]
    judged = [found for found in differences if found.measure == deciding(folds.values)]
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
            verdict(found, margin=margin, pairs=len(judged), size=size) for found in judged
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
    found = [paired_t(first, second, level=level, names=names)]
    # Only the ratio of both sizes counts.
    sizes = {N_TRAIN: folds.n_train, N_TEST: folds.n_test}
    if math.isnan(folds.n_train):
        sizes = {N_TRAIN: 1.0, N_TEST: folds.ratio}
    found.append(nadeau_bengio(first, second, **sizes, level=level, names=names))
    if folds.five_by_two:
        found += [
            test(first.reshape(5, 2), second.reshape(5, 2), level=level, names=names)
            for test in (five_by_two_t, five_by_two_f)
        ]
    for test in found:
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


def _difference(folds: FoldTable, test: Significance, level: float) -> Difference:
    assert test.measure is not None  # noqa: S101 - tests of folds have one
    assert test.effect is not None  # noqa: S101 - and an effect
    effect = test.effect.changed(method=test.test)
    if test.test == "5x2cv_f":
        values = folds.values[test.measure]
        first, second = (values[:, folds.models.index(name)] for name in test.models)
        low, high = five_by_two_interval(first, second, level=level)
        effect = effect.changed(low=low, high=high, note=None)
    return Difference(
        measure=test.measure,
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


def _holm(tests: Sequence[Significance]) -> Iterator[Significance]:
    known = iter(holm([found.p for found in tests if not math.isnan(found.p)]))
    for found in tests:
        yield found if math.isnan(found.p) else found.adjusted(next(known))
