"""Two detectors whose detection rates at a limit are known, and samples of their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr

from assay.inference import Bootstrap, MaxFar, MaxFpr
from assay.inference.threshold_resampling import ScoredRows, choose_anew

Floats = npt.NDArray[np.float64]
LEVEL = 0.95


@dataclass(frozen=True)
class Setting:
    """Negatives score as N(0, 1), positives as N(shift, 1); both models share half their noise."""

    rule: MaxFar | MaxFpr
    rows: int
    prevalence: float
    shifts: tuple[float, float] = (2.5, 2.7)
    shared: float = 0.5

    def __str__(self) -> str:
        return f"{self.rule}, {self.rows:,} rows, {self.prevalence:g} positive"

    def detection_rate(self, shift: float) -> float:
        """What the rule gives with endless rows."""
        limit, share = self.rule.limit, self.prevalence

        def off(threshold: float) -> float:
            false, true = ndtr(-threshold), ndtr(shift - threshold)
            if isinstance(self.rule, MaxFpr):
                return float(false - limit)
            return float((1 - share) * false * (1 - limit) - limit * share * true)

        return float(ndtr(shift - brentq(off, -20, 20)))

    @property
    def truth(self) -> float:
        """The difference in detection rate, second less first."""
        return self.detection_rate(self.shifts[1]) - self.detection_rate(self.shifts[0])

    def drawn(self, generator: np.random.Generator) -> ScoredRows:
        """One sample."""
        truth = generator.random(self.rows) < self.prevalence
        common = np.sqrt(self.shared) * generator.normal(size=self.rows)
        scores = {
            name: shift * truth
            + common
            + np.sqrt(1 - self.shared) * generator.normal(size=self.rows)
            for name, shift in zip(("old", "new"), self.shifts, strict=True)
        }
        return ScoredRows(truth, scores)


@dataclass(frozen=True)
class Coverage:
    """In how many samples each kind of interval held the truth."""

    anew: int
    given: int
    samples: int


def coverage(setting: Setting, samples: int, resamples: int, seed: int = 0) -> Coverage:
    """Thresholds chosen anew in each resample, beside thresholds taken as given."""
    truth = setting.truth
    held = {"anew": 0, "given": 0}
    for i in range(samples):
        generator = np.random.default_rng([seed, i])
        rows = setting.drawn(generator)
        method = Bootstrap(level=LEVEL, resamples=resamples, seed=i)
        both = choose_anew(rows, [setting.rule], method)
        old, new = (both[name, setting.rule] for name in ("old", "new"))
        rates = [one.tables[:, 1, 1] / one.tables[:, 1].sum(axis=1) for one in (old, new)]
        ends = method.ends(rates[1] - rates[0], 0.0, None)
        held["anew"] += ends.low <= truth <= ends.high
        low, high = _as_given(rows, [one.threshold for one in (old, new)], method)
        held["given"] += low <= truth <= high
    return Coverage(held["anew"], held["given"], samples)


def _as_given(
    rows: ScoredRows, thresholds: list[float | None], method: Bootstrap
) -> tuple[float, float]:
    """The paired bootstrap of positives at thresholds that stay where they are."""
    flagged = [
        score[rows.truth] >= (np.inf if threshold is None else threshold)
        for score, threshold in zip(rows.scores.values(), thresholds, strict=True)
    ]
    off = flagged[1].astype(np.int64) - flagged[0]
    counts = np.bincount(off + 1, minlength=3)
    drawn = np.random.default_rng(method.seed).multinomial(
        len(off), counts / len(off), size=method.resamples
    )
    ends = method.ends((drawn[:, 2] - drawn[:, 0]) / len(off), 0.0, None)
    return ends.low, ends.high
