"""Is B really better than A over the folds of a cross-validation?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from assay.decisions.compare.comparison import Comparison, Difference, direction, known
from assay.decisions.compare.fold_table import Floats, FoldTable
from assay.decisions.compare.verdicts import MARGIN, Size, checked_margin, verdict
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
from assay.inference.quantiles import check_level
from assay.measures.shown import DECIDING

OVERLAP_NOTE = (
    "folds share their training rows, so the paired t test finds differences that are not there; "
    "Nadeau and Bengio's correction is for that, and decides"
)
FIVE_BY_TWO_NOTE = "these are five repeats of two folds, so the 5x2cv F test decides"


def compare_folds(table: Any, *, level: float = 0.95, margin: float = MARGIN) -> Comparison:
    """Compare models over the folds of one (repeated) cross-validation.

    ``table`` has a row a model and fold, with the columns model, repeat, fold, n_train, n_test and
    one a measure: a mapping from name to column, or a dataframe. All models must have the same
    folds. Each pair is tested by the paired t test, by Nadeau and Bengio's corrected one, and of
    five repeats of two folds by the 5x2cv t and F tests; three models or more by Friedman's test
    and Nemenyi's. Holm's p is over the pairs, for each measure and test.

    >>> folds = {"model": ["a"] * 3 + ["b"] * 3, "repeat": [1] * 6, "fold": [1, 2, 3] * 2}
    >>> sizes = {"n_train": [200] * 6, "n_test": [100] * 6}
    >>> values = {"accuracy": [0.90, 0.91, 0.92, 0.95, 0.961, 0.97]}
    >>> compare_folds(folds | sizes | values).verdicts[0].text
    'b is better than a: accuracy is higher by 0.050 [0.048, 0.053].'
    """
    check_level(level)
    margin = checked_margin(margin)
    folds = FoldTable.of(table)
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
    deciding = next((name for name in DECIDING if name in folds.values), next(iter(folds.values)))
    judged = [found for found in differences if found.measure == deciding]
    size = Size(
        len(folds.folds),
        "folds",
        # Two folds five times are a design of its own: there are no more of them.
        lasting=math.inf if folds.five_by_two else folds.n_test / folds.n_train,
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
    sizes = {"n_train": folds.n_train, "n_test": folds.n_test}
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
        sentence = f"{measure}: {test.sentence}"
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
    for measure, where in folds.undefined.items():
        yield f"{measure} has no value for {where}, so it is not compared"
    for measure in folds.values:
        if known(measure) is None:
            yield f"{measure} is not in the catalogue; higher is taken as better"


def _holm(tests: Sequence[Significance]) -> Iterator[Significance]:
    known = iter(holm([found.p for found in tests if not math.isnan(found.p)]))
    for found in tests:
        yield found if math.isnan(found.p) else found.adjusted(next(known))
