"""More than two classes: averages over classes, and measures of the whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay import Confusion, Estimate, Resolved
from assay.evaluation import Judge
from assay.formula import Expression, of_classes
from assay.inference import Quantity
from assay.measures import find
from intervals import vectors

ENOUGH = 10
AVERAGED = ("precision", "recall", "f1")
WHOLE = ("accuracy", "balanced_accuracy", "g_mean", "mcc", "kappa", "jaccard")
MEASURES = (*WHOLE, *(f"{m}.{average}" for m in AVERAGED for average in ("macro", "weighted")))


def formula(measure: str) -> Expression:
    """The formula of a measure over all classes."""
    name, _, average = measure.partition(".")
    declaration = find(name)
    expression = of_classes(declaration.formula, average) if average else declaration.classes
    assert expression is not None
    return expression


def estimate(measure: str, judge: Judge) -> Estimate:
    """The estimate that the user gets."""
    name, _, average = measure.partition(".")
    return judge.averaged(find(name), average) if average else judge.of_classes(find(name))


@dataclass(frozen=True)
class ManyClasses:
    """A model that confuses some classes; ``shares`` is its table, rows are the truth."""

    name: str
    shares: tuple[tuple[float, ...], ...]
    rows: int

    @property
    def group(self) -> str:
        """One table a number of classes."""
        return f"{len(self.shares)} classes"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return f"{self.name}, {self.rows:,} rows"

    def truths(self) -> dict[str, float]:
        """The formulas, read on the expected table."""
        table = np.array(self.shares)
        return {m: float(Quantity(formula(m)).of_tables(table)) for m in MEASURES}

    def inside(self, _measure: str) -> bool:
        """Ten hits, ten misses and ten false alarms expected in each class."""
        table = np.array(self.shares) * self.rows
        hits = table.diagonal()
        misses, alarms = table.sum(axis=1) - hits, table.sum(axis=0) - hits
        return float(min(hits.min(), misses.min(), alarms.min())) >= ENOUGH

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Tables of independent rows."""
        size = len(self.shares)
        drawn = rng.multinomial(self.rows, np.ravel(self.shares), size=repetitions)
        tables = drawn.reshape(-1, size, size)
        estimates = [_estimates(measure, tables) for measure in measures]
        for row in zip(*estimates, strict=True):
            yield 1, dict(zip(measures, row, strict=True))


def _estimates(measure: str, tables: np.ndarray) -> Iterator[Estimate]:
    asked = _asked(measure, tables)
    if measure.endswith(".weighted") and not tables.any(axis=2).all():
        # A class without rows is left out of a weighted average, so tables differ in their classes.
        return (asked(i) for i in range(len(tables)))
    return vectors.estimates(_ends(measure, tables), asked)


def _ends(measure: str, tables: np.ndarray) -> tuple[vectors.Floats, ...]:
    tables = tables.astype(float)
    if measure == "accuracy":
        hits = np.trace(tables, axis1=1, axis2=2)
        return vectors.share(hits, tables.sum(axis=(1, 2)))
    bounds = find(measure.partition(".")[0]).range
    return vectors.delta(formula(measure), tables, bounds, label=None)


def _asked(measure: str, tables: np.ndarray) -> Callable[[int], Estimate]:
    labels = tuple(f"class {i}" for i in range(tables.shape[-1]))

    def ask(i: int) -> Estimate:
        table = Confusion(labels, tuple(tuple(row) for row in tables[i].tolist()))
        return estimate(measure, Judge(Resolved.of_confusion(table)))

    return ask


def _shares(supports: Sequence[float], recalls: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Misses fall on the other classes in proportion to the square root of their size."""
    pull = np.sqrt(np.array(supports))
    table = np.tile(pull, (len(supports), 1))
    np.fill_diagonal(table, 0)
    table *= ((1 - np.array(recalls)) / table.sum(axis=1))[:, None]
    table += np.diag(recalls)
    table *= np.array(supports)[:, None]
    return tuple(tuple(row) for row in (table / table.sum()).tolist())


MODELS = (
    ("even classes, recall 0.8", _shares([1, 1, 1], [0.8, 0.8, 0.8])),
    ("even classes, recall 0.95", _shares([1, 1, 1], [0.95, 0.95, 0.95])),
    ("0.8 to 0.15 to 0.05", _shares([0.8, 0.15, 0.05], [0.95, 0.8, 0.6])),
    ("even classes, recall 0.8", _shares([1] * 5, [0.8] * 5)),
    ("0.7 down to 0.02", _shares([0.7, 0.15, 0.08, 0.05, 0.02], [0.97, 0.9, 0.8, 0.9, 0.7])),
    ("near chance", _shares([0.4, 0.2, 0.2, 0.1, 0.1], [0.45, 0.3, 0.3, 0.2, 0.2])),
)


def scenarios(*, quick: bool) -> list[ManyClasses]:
    """Even and lopsided classes, from a few rows to many."""
    models = MODELS[::3] if quick else MODELS
    sizes = (200, 1000) if quick else (60, 200, 700, 2500)
    return [ManyClasses(name, shares, rows) for name, shares in models for rows in sizes]
