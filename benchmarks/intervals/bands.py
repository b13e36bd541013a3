"""Bands of curves: at a threshold that was fixed, and of the cost curve, which chooses its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from assay import Estimate
from assay.curves import Curve, Floats, Term, cost, decision, lift, precision_recall_gain, sweep
from assay.formula import evaluate
from assay.inference import with_band
from assay.tally import ScoreTally

ENOUGH = 10
ENOUGH_TO_CHOOSE = 1000
BASE_RATE = 0.01
BENEFIT, DEPLOYED = "net benefit", f"net benefit at a base rate of {BASE_RATE:g}"
LIFT, GAIN, COST = "lift", "precision gain", "normalised cost, best threshold"


@dataclass(frozen=True)
class Flagged:
    """Rows that are flagged with one chance if they are attacks, and with another if not."""

    rows: int
    prevalence: float
    tpr: float
    fpr: float
    threshold: float
    group = "bands"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return (
            f"prevalence {self.prevalence:g}, detection rate {self.tpr:g}, false positive rate "
            f"{self.fpr:g}, threshold {self.threshold:g}, {self.rows:,} rows"
        )

    def truths(self) -> dict[str, float]:
        """The values in an endless population."""
        p, odds = self.prevalence, self.threshold / (1 - self.threshold)
        precision = p * self.tpr / (p * self.tpr + (1 - p) * self.fpr)
        return {
            BENEFIT: p * self.tpr - (1 - p) * self.fpr * odds,
            DEPLOYED: BASE_RATE * self.tpr - (1 - BASE_RATE) * self.fpr * odds,
            LIFT: precision / p,
            GAIN: (precision - p) / ((1 - p) * precision),
        }

    def inside(self, _measure: str) -> bool:
        """Whether enough rows of each cell are expected."""
        p = self.prevalence
        cells = (p * self.tpr, p * (1 - self.tpr), (1 - p) * self.fpr, (1 - p) * (1 - self.fpr))
        return self.rows * min(cells) >= ENOUGH

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent rows, all in one pass as the points of a curve."""
        positives = rng.binomial(self.rows, self.prevalence, repetitions)
        tp = rng.binomial(positives, self.tpr)
        fp = rng.binomial(self.rows - positives, self.fpr)
        table = {"TP": tp, "FP": fp, "FN": positives - tp, "TN": self.rows - positives - fp}
        cells = {name: column.astype(np.float64) for name, column in table.items()}
        one = ScoreTally(("no", "yes"), np.array([0.0, 0.999]), np.ones((2, 2), np.uint8))
        kinds = {
            BENEFIT: decision(one, thresholds=[self.threshold]),
            DEPLOYED: decision(one, base_rate=BASE_RATE, thresholds=[self.threshold]),
            LIFT: lift(sweep(one)),
            GAIN: precision_recall_gain(sweep(one)),
        }
        with np.errstate(all="ignore"):
            curves = {measure: _samples(kinds[measure], cells) for measure in measures}
        for i in range(repetitions):
            yield 1, {measure: estimate(curve, i) for measure, curve in curves.items()}


def _samples(kind: Curve, cells: Mapping[str, Floats]) -> Curve:
    """A curve of this kind whose points are samples, with its band."""
    size = len(cells["TP"])
    terms = tuple(Term(np.full(size, term.weight[0]), term.share) for term in kind.terms)
    values = sum(term.weight * evaluate(term.share, cells) for term in terms)
    if kind.y.formula is not None:
        values = evaluate(kind.y.formula, cells)
    columns = {"threshold": np.zeros(size), kind.y.name: np.asarray(values)}
    return with_band(replace(kind, columns=columns, cells=cells, terms=terms))


@dataclass(frozen=True)
class Normal:
    """Scores of two normal classes, and a cost whose best threshold is chosen by the rows."""

    positives: int
    negatives: int
    apart: float
    pc: float
    group = "bands"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return (
            f"normal scores {self.apart:g} apart, PC {self.pc:g}, {self.positives:,} positives, "
            f"{self.negatives:,} negatives"
        )

    def truths(self) -> dict[str, float]:
        """The least cost of all thresholds in an endless population."""
        at = np.linspace(-6, self.apart + 6, 20_001)
        costs = ndtr(at - self.apart) * self.pc + ndtr(-at) * (1 - self.pc)
        return {COST: float(costs.min())}

    def inside(self, _measure: str) -> bool:
        """Whether there are enough rows for the choice to matter little."""
        return min(self.positives, self.negatives) >= ENOUGH_TO_CHOOSE

    def draw(
        self, rng: np.random.Generator, repetitions: int, _measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent rows."""
        truth = np.repeat([1, 0], [self.positives, self.negatives])
        for _ in range(repetitions):
            scores = rng.normal(self.apart * truth, 1.0)
            curve = with_band(cost(ScoreTally.of_rows(("no", "yes"), scores, truth)))
            at = int(np.argmin(np.abs(curve["probability_cost"] - self.pc)))
            yield 1, {COST: estimate(curve, at)}


def estimate(curve: Curve, at: int) -> Estimate:
    """One point of a curve with its band."""
    value, low, high = (float(curve[name][at]) for name in (curve.y.name, "low", "high"))
    return Estimate(value, low, high, method=METHODS[curve.y.name])


METHODS = {
    "net_benefit": "newcombe",
    "normalised_cost": "newcombe",
    "lift": "delta",
    "precision_gain": "delta",
}


def scenarios(*, quick: bool) -> list[Flagged | Normal]:
    """Rare and frequent attacks, good and poor detectors, few and many rows."""
    detectors = ((0.8, 0.1, 0.25), (0.95, 0.02, 0.5), (0.6, 0.01, 0.1))
    sizes = (300, 3000) if quick else (100, 300, 1000, 3000, 10_000)
    settings: list[Flagged | Normal] = [
        Flagged(rows, prevalence, *detector)
        for rows in sizes
        for prevalence in (0.02, 0.1, 0.3)
        for detector in detectors
    ]
    classes = ((30, 300), (100, 1000), (1000, 1000))
    settings += [
        Normal(positives, negatives, 2.0, pc)
        for positives, negatives in (classes[1:] if quick else classes)
        for pc in (0.1, 0.5)
    ]
    return settings
