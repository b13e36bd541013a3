"""Probabilities of more than two classes: averages over classes, and rows of an unknown class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from assay import Estimate, evaluate
from assay.engines import Ask, count_coded, resolve
from assay.evaluation import Judge
from assay.measures import AVERAGE_PRECISION, ROC_AUC, parse
from assay.sources import Coded
from assay.sources.coded import Labels
from assay.sources.columns import TEXT
from assay.tally import Resolved

# Of each class: rows for an AUC and for average precision, and errors of either.
ENOUGH_ROWS, ENOUGH_ROWS_OF_AP, ENOUGH_ERRORS = 30, 50, 5
MEASURES = (
    *("roc_auc.macro", "roc_auc.weighted", "roc_auc_ovo"),
    *("average_precision.macro", "average_precision.weighted"),
)
OPEN = ("oscr", "known_auc")
_POPULATION = 400_000


def _counted(rows: Coded) -> Resolved:
    return resolve(count_coded(rows, Ask()), labels=rows.columns)[0]


@dataclass(frozen=True)
class ClassScores:
    """Rows with normal evidence for each class, that for the true one higher by ``gap``.

    Probabilities are those of the evidence. ``gaps`` has one number a class: how well it is told.
    """

    shares: tuple[float, ...]
    gaps: tuple[float, ...]
    rows: int
    group = "class probabilities"

    @property
    def setting(self) -> str:
        """The setting in words."""
        shares = " to ".join(f"{share:.2g}" for share in self.shares)
        gaps = ", ".join(f"{gap:g}" for gap in self.gaps)
        return f"classes {shares}, told apart by {gaps}, {self.rows:,} rows"

    def table(self, rng: np.random.Generator, rows: int) -> Coded:
        """Rows with a probability a class."""
        size = len(self.shares)
        truth = rng.choice(size, rows, p=self.shares)
        evidence = rng.standard_normal((rows, size))
        evidence[np.arange(rows), truth] += np.array(self.gaps)[truth]
        odds = np.exp(evidence)
        labels = tuple(f"class {i}" for i in range(size))
        table = odds / odds.sum(axis=1, keepdims=True)
        truth_of = Labels(truth.astype(np.uint16), labels, TEXT)
        return Coded(truth_of, probabilities=table, columns=labels, rows=rows)

    def truths(self) -> Mapping[str, float]:
        """The values on so many rows that their own error does not matter."""
        return _values(self.shares, self.gaps)[0]

    def inside(self, measure: str) -> bool:
        """Enough rows of each class, and errors of its ranking, are expected."""
        aucs = _values(self.shares, self.gaps)[1]
        rows = self.rows * np.array(self.shares)
        smaller = np.minimum(rows, self.rows - rows)
        by_precision = parse(measure)[0] == AVERAGE_PRECISION
        enough = ENOUGH_ROWS_OF_AP if by_precision else ENOUGH_ROWS
        errors = smaller * (1 - np.array(aucs))
        return bool(rows.min() >= enough and errors.min() >= ENOUGH_ERRORS)

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent rows."""
        for _ in range(repetitions):
            judge = Judge(_counted(self.table(rng, self.rows)))
            yield 1, {measure: _estimate(judge, measure) for measure in measures}


def _estimate(judge: Judge, key: str) -> Estimate:
    measure, average = parse(key)
    return judge.scored(measure) if average is None else judge.averaged_scores(measure, average)


@lru_cache(maxsize=32)
def _values(
    shares: tuple[float, ...], gaps: tuple[float, ...]
) -> tuple[dict[str, float], tuple[float, ...]]:
    """Each average in the population, and the AUC of each class."""
    population = ClassScores(shares, gaps, _POPULATION)
    judge = Judge(_counted(population.table(np.random.default_rng(1), _POPULATION)))
    aucs = tuple(float(judge.scored(ROC_AUC, i)) for i in range(len(shares)))
    return {measure: float(_estimate(judge, measure)) for measure in MEASURES}, aucs


POPULATIONS = (
    ((1 / 3, 1 / 3, 1 / 3), (1.0, 1.0, 1.0)),
    ((1 / 3, 1 / 3, 1 / 3), (2.5, 2.5, 2.5)),
    ((0.8, 0.15, 0.05), (1.5, 1.5, 1.5)),
    ((0.8, 0.15, 0.05), (3.0, 2.0, 1.0)),
    ((0.6, 0.2, 0.1, 0.06, 0.04), (2.0, 1.5, 2.0, 1.0, 2.5)),
    ((0.2, 0.2, 0.2, 0.2, 0.2), (1.5, 1.5, 1.5, 1.5, 1.5)),
)


@dataclass(frozen=True)
class OpenSet:
    """Rows of three known classes, told apart by ``gap``, and of one without any evidence."""

    unknown: float
    gap: float
    rows: int
    group = "unknown rows"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return f"{self.unknown:g} unknown, others told apart by {self.gap:g}, {self.rows:,} rows"

    def judge(self, rng: np.random.Generator, rows: int) -> Judge:
        """Rows with a probability of each known class."""
        outside = int(rng.binomial(rows, self.unknown))
        inside = ClassScores((0.5, 0.3, 0.2), (self.gap,) * 3, rows)
        odds = np.exp(rng.standard_normal((outside, 3)))
        known = inside.table(rng, rows - outside)
        names = known.truth.names
        truth = [*(names[i] for i in known.truth.codes), *["unknown"] * outside]
        table = np.concatenate([known.probabilities, odds / odds.sum(axis=1, keepdims=True)])
        said = dict(zip(names, table.T, strict=True))
        return Judge(evaluate(truth, y_proba=said, unknown="unknown").tally)

    def truths(self) -> Mapping[str, float]:
        """The values on so many rows that their own error does not matter."""
        judge = self.judge(np.random.default_rng(1), _POPULATION)
        return {measure: float(_estimate(judge, measure)) for measure in OPEN}

    def inside(self, measure: str) -> bool:
        """Enough rows of the smaller side, and errors, are expected."""
        smaller = self.rows * min(self.unknown, 1 - self.unknown)
        errors = smaller * (1 - self.truths()[measure])
        return smaller >= ENOUGH_ROWS and errors >= ENOUGH_ERRORS

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent rows."""
        for _ in range(repetitions):
            judge = self.judge(rng, self.rows)
            yield 1, {measure: _estimate(judge, measure) for measure in measures}


def scenarios(*, quick: bool) -> list[ClassScores | OpenSet]:
    """Even and lopsided classes, well told apart and not, from a few rows to many."""
    populations = POPULATIONS[::3] if quick else POPULATIONS
    sizes = (200, 1000) if quick else (100, 300, 1000, 3000)
    result = [ClassScores(shares, gaps, rows) for shares, gaps in populations for rows in sizes]
    settings = (
        ((0.3, 1.5), (0.1, 3.0)) if quick else ((0.3, 1.5), (0.3, 3.0), (0.1, 1.5), (0.1, 3.0))
    )
    return [*result, *(OpenSet(unknown, gap, rows) for unknown, gap in settings for rows in sizes)]
