"""How well intervals of rows drawn by strata cover, how wide they are, and what strata save.

Six populations of a million rows: attacks of 1 in 1,000 to 1 in 50, scores that are good, poor and
upside down, attacks that hide among the lowest scores, and scores that are chances. Of each, many
samples are drawn as ``assay sample`` draws them, and as many at random. Rows of a stratum are
drawn without replacement, so that how many of each kind come is a hypergeometric draw: samples are
drawn by their counts, which is the same and a thousand times as fast.

    python benchmarks/label_less.py [--labels 10000] [--samples 2000] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from assay.decisions.sample_strata import ScoreCells, score_strata
from assay.formula import Expression, at_base_rate
from assay.inference import FayFeuer, GammaInterval, Quantity, Strata, Tiwari, Wilson, estimate
from assay.measures import (
    BALANCED_ACCURACY,
    FALSE_DISCOVERY_RATE,
    FALSE_POSITIVE_RATE,
    MCC,
    PRECISION,
    RECALL,
)
from assay.tally import Confusion

ROWS = 1_000_000
LABELS = 10_000
MEASURES: dict[str, tuple[Expression, tuple[float, float]]] = {
    measure.name: (measure.formula, measure.range)
    for measure in (RECALL, FALSE_DISCOVERY_RATE, FALSE_POSITIVE_RATE, BALANCED_ACCURACY, MCC)
    if measure.formula is not None
}
if PRECISION.formula is not None:
    MEASURES["precision at 0.1%"] = at_base_rate(PRECISION.formula, Fraction(1, 1000)), (0, 1)


@dataclass(frozen=True)
class Population:
    """Rows of normal scores, those of attacks shifted, and where the alarm is set.

    A share of the attacks is ``hidden``: it scores as normal rows do.
    """

    name: str
    attacks: float
    shift: float
    threshold: float
    hidden: float = 0.0
    allocation: str = "sqrt"
    strata: int = 7

    def rows(self, size: int, seed: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """What is true of each row, and its score."""
        random = np.random.default_rng(seed)
        truth = np.zeros(size, bool)
        truth[: round(size * self.attacks)] = True
        scores = random.normal(size=size)
        scores[: round(size * self.attacks * (1 - self.hidden))] += self.shift
        return truth, scores


POPULATIONS = (
    Population("good score", 0.02, 4.0, 3.2),
    Population("rare attacks", 0.002, 4.0, 3.5),
    Population("very rare attacks", 0.001, 4.5, 4.0),
    Population("poor score", 0.02, 1.5, 2.5),
    Population("upside down", 0.02, -0.5, 2.0),
    Population("heavy strata", 0.005, 4.0, 3.5, strata=4),
)
# Where no way to draw rows by their score can help: attacks score like other rows, or hardly any is
# missed. Their intervals have to cover all the same.
HARD = (
    Population("hiding attacks", 0.005, 4.0, 3.0, hidden=0.1),
    Population("hardly any missed", 0.01, 4.0, 2.0),
)


@dataclass(frozen=True)
class Outcome:
    """What many samples of one population came to, for one measure and one way to do it."""

    population: str
    measure: str
    way: str
    true: float
    covered: float
    width: float
    error: float


class Design:
    """A population as its strata see it: how many rows of each kind each stratum has."""

    def __init__(self, population: Population, labels: int, size: int, seed: int) -> None:
        truth, scores = population.rows(size, seed)
        cells = ScoreCells(population.threshold)
        cells.add(scores)
        drawn, _, _ = score_strata(
            cells,
            strata=population.strata,
            labels=labels,
            alerts=None,
            allocation=population.allocation,
        )
        lows = np.array([stratum.low for stratum in reversed(drawn)])
        number = len(drawn) - np.searchsorted(lows, scores, side="right")
        kind = number * 4 + truth * 2 + (scores >= population.threshold)
        self.kinds = np.bincount(kind, minlength=4 * len(drawn)).reshape(-1, 4)
        self.drawn = np.array([stratum.drawn for stratum in drawn])
        self.weights = np.array([stratum.weight for stratum in drawn])
        self.labels = labels

    @property
    def whole(self) -> Confusion:
        """The table of all rows, which nobody knows."""
        return _table(self.kinds.sum(axis=0))

    def samples(self, random: np.random.Generator, many: int) -> Iterator[Strata]:
        """Rows drawn by strata."""
        by_stratum = [
            random.multivariate_hypergeometric(kinds, drawn, size=many)
            for kinds, drawn in zip(self.kinds, self.drawn, strict=True)
        ]
        names = tuple(str(i + 1) for i in range(len(self.drawn)))
        for counts in np.stack(by_stratum, axis=1):
            yield Strata(names, self.weights, counts.reshape(-1, 2, 2).astype(float))

    def at_random(self, random: np.random.Generator, many: int) -> Iterator[Confusion]:
        """As many rows, drawn at random from all."""
        for counts in random.multivariate_hypergeometric(
            self.kinds.sum(axis=0), self.labels, size=many
        ):
            yield _table(counts)


def _table(counts: npt.NDArray[np.int64]) -> Confusion:
    cells = counts.reshape(2, 2).tolist()
    return Confusion(("normal", "attack"), tuple(tuple(row) for row in cells))


def _weighted(strata: Strata) -> Confusion:
    weights = strata.weights[:, None, None]
    sums, squares = ((strata.counts * weights**k).sum(axis=0).tolist() for k in (1, 2))
    return Confusion(("normal", "attack"), tuple(map(tuple, sums)), tuple(map(tuple, squares)))


def study(
    population: Population, labels: int, samples: int, seed: int, size: int = ROWS
) -> Iterator[Outcome]:
    """Every measure in every way: by strata, by weights alone, and at random."""
    design = Design(population, labels, size, seed)
    random = np.random.default_rng(seed + 1)
    errors: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    ways: dict[str, GammaInterval] = {"fay-feuer": FayFeuer(), "tiwari": Tiwari()}
    for strata in design.samples(random, samples):
        table = _weighted(strata)
        for name, (formula, range_) in MEASURES.items():
            quantity = Quantity(formula, label=1)
            for way, method in ways.items():
                one = estimate(quantity, table, range_, method=method, strata=strata)
                errors.setdefault((name, way), []).append((one.value, one.low, one.high))
            one = estimate(quantity, table, range_)
            errors.setdefault((name, "weights alone"), []).append((one.value, one.low, one.high))
    for table in design.at_random(random, samples):
        for name, (formula, range_) in MEASURES.items():
            one = estimate(Quantity(formula, label=1), table, range_, method=Wilson())
            errors.setdefault((name, "at random"), []).append((one.value, one.low, one.high))
    for (name, way), estimates in errors.items():
        true = Quantity(MEASURES[name][0], label=1).value(design.whole)
        # A sample without one attack tells nothing: its interval is all that is possible.
        value, low, high = np.array(estimates).T
        low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
        yield Outcome(
            population.name,
            name,
            way,
            true,
            float(((low <= true) & (true <= high)).mean()),
            float((high - low).mean()),
            float(np.sqrt(np.nanmean((value - true) ** 2))),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=LABELS)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="all figures, for other programs")
    asked = parser.parse_args()
    every = [
        outcome
        for population in (*POPULATIONS, *HARD)
        for outcome in study(population, asked.labels, asked.samples, asked.seed)
    ]
    if asked.json:
        print(json.dumps([vars(outcome) for outcome in every], indent=2))
        return
    print(f"{asked.labels:,} labels of {ROWS:,} rows, {asked.samples:,} samples; 95% intervals")
    for outcome in every:
        print(
            f"{outcome.population:18} {outcome.measure:22} {outcome.way:14} true {outcome.true:.4f}"
            f"  covered {outcome.covered:.1%}  width {outcome.width:.4f}  rmse {outcome.error:.4f}"
        )


if __name__ == "__main__":
    main()
