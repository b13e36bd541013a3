"""L021: the recipe is not clearly better than a trivial model; and the trivial models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import install_line
from assay.v02.inference import Estimate, Quantity, estimate
from assay.v02.inference.fields import Recorded, stored
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting
from assay.v02.learn.checks.columns import BINS, auc_of, rates_of
from assay.v02.measures import ACCURACY, ROC_AUC, find
from assay.v02.measures.catalogue import CHECKED
from assay.v02.number_text import measured
from assay.v02.tally import Confusion, ScoreTally

if TYPE_CHECKING:
    from assay.v02.learn.checks.case import Case


def look(case: Case) -> Sighting | None:
    """With ``--recipe``: a trivial model whose AUC, or accuracy, lies within or above the interval.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> x = pl.Series("x", [i * 7 % 101 / 101 for i in range(300)])
    >>> frame = pl.DataFrame([x, pl.Series("label", [i % 2 for i in range(300)])])
    >>> findings = check(data_of(frame, label="label"), recipe="tree")
    >>> print(findings["L021"].severity, findings["L021"].pitfall)
    warning P6
    """
    if case.retest is None:
        return None
    measure = headline_measure(case)
    recipe_estimate = case.retest.before.estimates[measure]
    others = {
        baseline.name: value
        for baseline in case.baselines
        if not math.isnan(value := baseline.estimates[measure])
    }
    if math.isnan(recipe_estimate) or not others:
        return None
    best = max(others, key=lambda name: others[name])
    if recipe_estimate.low > others[best]:
        return None
    called = find(measure).short
    return Sighting(
        "warning",
        f"{case.retest.recipe} has {'an' if called[0] in 'Aa' else 'a'} {called} of "
        f"{measured(recipe_estimate)}, the {best} one of {measured(others[best])}: no gain over it "
        f"is shown.",
        evidence={
            "measure": measure,
            "recipe": float(recipe_estimate),
            "baseline": float(others[best]),
        },
    )


CHECK = CodedCheck(
    code="L021",
    severity="warning",
    title="no better than a trivial model",
    why="A result is only worth its distance to what one column or two questions reach.",
    remedy="Quote the baseline beside the result, or take it: it is easier to run and to explain.",
    pitfall="P6",
    look=look,
)


# -- the trivial models that every result should beat ----------------------------------------------

Floats: TypeAlias = npt.NDArray[np.float64]

NO_TREE = f"the tree of depth 2 needs scikit-learn: {install_line('learn')}"
# A tree of four leaves learns nothing more from more rows.
MOST_ROWS = 100_000
# The tree works with 32 bits, and adds numbers up.
_LARGEST = 1e30


@dataclass(frozen=True, eq=False)
class Baseline(Recorded):
    """A trivial model: its name, what it goes by, and its measures on the judged rows."""

    name: str = field(metadata=stored(key="baseline"))
    says: str
    estimates: Mapping[str, Estimate] = field(metadata=stored(listed="measure"))
    columns: tuple[str, ...] = ()


def headline_measure(case: Case) -> str:
    """The measure that models are compared by."""
    return (ROC_AUC if case.positive is not None else ACCURACY).name


def baselines_of(case: Case) -> tuple[Baseline, ...]:
    """The majority, the best single column and a tree of depth 2, as far as there are."""
    if not len(case.learned.known) or not len(case.learned.judged):
        return ()
    return tuple(_baselines(case))


def _baselines(case: Case) -> Iterator[Baseline]:
    learned = case.learned
    shares = np.bincount(learned.known, minlength=len(case.labels)) / len(learned.known)
    most = int(shares.argmax())
    yield _judged_rates(
        case,
        "majority",
        f"always {case.labels[most]!r}, the commonest label of the training rows",
        np.broadcast_to(shares, (len(learned.judged), len(shares))),
    )
    best = _best_column(case)
    if best is not None:
        columns = [part.frame[best] for part in case.parts]
        yield _judged_rates(
            case,
            "best single column",
            f"the commonest label at each value of {best!r}, or in each of {BINS} bins"
            f"{_chosen(case)}",
            rates_of(columns, case.facts[best], learned),
            (best,),
        )
    if find_spec("sklearn") is not None and case.signals:
        yield _tree(case)


def _chosen(case: Case) -> str:
    number = len(case.signals)
    if number == 1:
        return ""
    return f"; the best of {number} columns on the rows that judge, so a little flattered"


def _best_column(case: Case) -> str | None:
    """The column that tells most by itself."""
    values = {
        name: signal.auc if case.positive is not None else signal.accuracy
        for name, signal in case.signals.items()
    }
    values = {name: value for name, value in values.items() if not math.isnan(value)}
    return max(values, key=lambda name: values[name]) if values else None


def _tree(case: Case) -> Baseline:
    from sklearn.tree import DecisionTreeClassifier

    learned = case.learned
    learned_columns, judged_columns = [], []
    names = list(case.signals)
    for name in names:
        columns = [part.frame[name] for part in case.parts]
        if case.facts[name].number:
            numbers = [np.clip(column.to_numpy(), -_LARGEST, _LARGEST) for column in columns]
        else:
            # A text becomes the rate of its most telling class among the training rows.
            numbers = [
                rates_of(columns, case.facts[name], learned, of=part)[:, -1]
                for part in range(len(columns))
            ]
        learned_columns.append(numbers[0] if learned.held is None else numbers[0][~learned.held])
        judged_columns.append(numbers[-1] if learned.held is None else numbers[0][learned.held])
    table, truth = np.column_stack(learned_columns), learned.known
    if len(truth) > MOST_ROWS:
        at = np.random.default_rng(case.seed).choice(len(truth), MOST_ROWS, replace=False)
        table, truth = table[at], truth[at]
    tree = DecisionTreeClassifier(max_depth=2, random_state=case.seed).fit(table, truth)
    rates = np.zeros((len(learned.judged), len(case.labels)))
    rates[:, tree.classes_] = tree.predict_proba(np.column_stack(judged_columns))
    used = tuple(names[i] for i in np.unique(tree.tree_.feature) if i >= 0)
    asks = f"at most three questions about {', '.join(map(repr, used))}" if used else "no question"
    return _judged_rates(case, "tree of depth 2", asks, rates, used)


def _judged_rates(
    case: Case, name: str, says: str, rates: Floats, columns: tuple[str, ...] = ()
) -> Baseline:
    """The measures of rates of each class on the rows that judge."""
    truth, classes = case.learned.judged, len(case.labels)
    binary = case.positive is not None
    decided = (rates[:, 1] >= 0.5).astype(np.intp) if binary else rates.argmax(axis=1)
    cells = np.bincount(truth * classes + decided, minlength=classes * classes)
    table = Confusion(case.labels, tuple(map(tuple, cells.reshape(classes, classes).tolist())))
    estimates = {}
    for measure in map(find, CHECKED.of(binary=binary)):
        expression = measure.formula if binary else measure.classes
        if expression is None:
            continue
        quantity = Quantity(expression, label=1 if binary else None)
        estimates[measure.name] = estimate(quantity, table, measure.range, level=case.level)
    if binary:
        scores = np.ascontiguousarray(rates[:, 1])
        auc = auc_of(ScoreTally.of_rows(case.labels, scores, truth), case.level)
        why = "there is one class only among the rows that judge"
        undefined = Estimate(math.nan, level=case.level, undefined=why)
        estimates[ROC_AUC.name] = undefined if auc is None else auc[0]
    return Baseline(name, says, estimates, columns)
