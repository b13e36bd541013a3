"""Two classes and decisions: rows drawn into the four cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from assay import Confusion, Estimate, Resolved
from assay.evaluation import Judge, function_of
from assay.formula import Expression, at_base_rate, evaluate
from assay.formula import cells as cells_of
from assay.measures import Costs, Interval, find
from intervals import vectors

BASE_RATE = 0.001
AT_BASE_RATE = {
    "precision at 0.001": "precision",
    "false alarm rate at 0.001": "far",
    "c_id at 0.001": "c_id",
}
COSTS = Costs(Fraction(1), Fraction(20))
MEASURES = (
    "f1",
    "f2",
    "f0.5",
    "jaccard",
    "fowlkes_mallows",
    "balanced_accuracy",
    "g_mean",
    "informedness",
    "markedness",
    "mcc",
    "kappa",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "diagnostic_odds_ratio",
    "lift",
    "precision_gain",
    "recall_gain",
    "c_id",
    "expected_cost",
    "net_benefit",
    *AT_BASE_RATE,
)
ENOUGH = 10


def formula(measure: str) -> Expression:
    """The formula of a measure over the four cells."""
    name = AT_BASE_RATE.get(measure)
    expression = find(name or measure).priced(COSTS).formula
    assert expression is not None
    return expression if name is None else at_base_rate(expression, Fraction(str(BASE_RATE)))


def estimate(measure: str, tp: int, fp: int, fn: int, tn: int) -> Estimate:
    """The estimate that the user gets."""
    name = AT_BASE_RATE.get(measure)
    if name is None:
        costs = {}
        if find(measure).of_costs is not None:
            costs = {"cost_fp": float(COSTS.false_alarm), "cost_fn": float(COSTS.miss)}
        return function_of(measure)(tp=tp, fp=fp, fn=fn, tn=tn, **costs)
    confusion = Confusion(("negative", "positive"), ((tn, fp), (fn, tp)))
    judge = Judge(Resolved.of_confusion(confusion, positive="positive"))
    return judge.at_base_rate(find(name), BASE_RATE)


def enough(measure: str, expected: Mapping[str, float]) -> bool:
    """The promise: ten hits and ten errors for F1, else ten rows in each cell that it uses."""
    if measure in ("f1", "jaccard"):
        return min(expected["TP"], expected["FP"] + expected["FN"]) >= ENOUGH
    return min(expected[cell] for cell in cells_of(formula(measure))) >= ENOUGH


@dataclass(frozen=True)
class TwoClasses:
    """A detector on rows of a given prevalence."""

    prevalence: float
    recall: float
    fpr: float
    rows: int
    group = "decisions"

    @classmethod
    def with_smallest_cell(
        cls, prevalence: float, recall: float, fpr: float, expected: float
    ) -> TwoClasses:
        """As many rows as make the rarest cell expect this many."""
        shares = cls(prevalence, recall, fpr, 1).cells()
        return cls(prevalence, recall, fpr, math.ceil(expected / min(shares.values()) - 1e-9))

    @property
    def setting(self) -> str:
        """The setting in words."""
        return (
            f"prevalence {self.prevalence:g}, detection rate {self.recall:g}, "
            f"false positive rate {self.fpr:g}, {self.rows:,} rows"
        )

    def cells(self) -> dict[str, float]:
        """How many rows each cell expects."""
        positives, negatives = self.rows * self.prevalence, self.rows * (1 - self.prevalence)
        return {
            "TP": positives * self.recall,
            "FP": negatives * self.fpr,
            "FN": positives * (1 - self.recall),
            "TN": negatives * (1 - self.fpr),
        }

    def truths(self) -> dict[str, float]:
        """The formulas, read on the expected cells."""
        cells = self.cells()
        return {measure: float(evaluate(formula(measure), cells)) for measure in MEASURES}

    def inside(self, measure: str) -> bool:
        """Whether the promise is made here."""
        return enough(measure, self.cells())

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Tables of independent rows."""
        shares = np.array(list(self.cells().values())) / self.rows
        drawn = rng.multinomial(self.rows, shares, size=repetitions)
        cells, times = np.unique(drawn, axis=0, return_counts=True)
        estimates = [vectors.estimates(_ends(m, cells), _asked(m, cells)) for m in measures]
        for count, row in zip(times.tolist(), zip(*estimates, strict=True), strict=True):
            yield count, dict(zip(measures, row, strict=True))


def _ends(measure: str, cells: np.ndarray) -> tuple[vectors.Floats, ...]:
    """Values and ends for rows of TP, FP, FN and TN."""
    tp, fp, fn, tn = cells.T.astype(float)
    tables = np.stack([tn, fp, fn, tp], axis=1).reshape(-1, 2, 2)
    if measure == "f1":
        return vectors.by_jaccard(tables)
    if measure == "jaccard":
        return vectors.share(tp, tp + fp + fn)
    declared = find(AT_BASE_RATE.get(measure, measure))
    touching = declared.interval is Interval.TOUCHING
    return vectors.delta(formula(measure), tables, declared.range, label=1, touching=touching)


def _asked(measure: str, cells: np.ndarray) -> Callable[[int], Estimate]:
    return lambda i: estimate(measure, *cells[i].tolist())


DETECTORS = (
    (0.5, 0.5, 0.5),
    (0.5, 0.8, 0.2),
    (0.5, 0.95, 0.05),
    (0.5, 0.99, 0.01),
    (0.8, 0.9, 0.3),
    (0.2, 0.8, 0.05),
    (0.2, 0.3, 0.1),
    (0.05, 0.5, 0.2),
    (0.05, 0.95, 0.05),
    (0.01, 0.8, 0.001),
    (0.01, 0.99, 0.05),
    (0.001, 0.9, 0.001),
)


def scenarios(*, quick: bool) -> list[TwoClasses]:
    """Detectors good and bad; the rarest cell expects from one row to thirty."""
    sizes = (3, 10) if quick else (1, 3, 10, 30)
    detectors = DETECTORS[1::4] if quick else DETECTORS
    return [TwoClasses.with_smallest_cell(*shape, size) for shape in detectors for size in sizes]
