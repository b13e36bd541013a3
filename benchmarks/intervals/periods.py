"""Measures over periods: the area under time, slope and change, and the top alerts of a day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binom, norm

from assay import Confusion, Estimate, Resolved
from assay.evaluation import Judge
from assay.evaluation.over_time import OverTime
from assay.formula import evaluate
from assay.inference.top import of_sample, over_days
from assay.measures import find
from assay.tally import ScoreTally

LABELS = ("normal", "attack")
MONTHS = tuple(f"{2020 + i // 12}-{1 + i % 12:02}" for i in range(36))
COUNTED = ("recall", "precision", "f1")
ENOUGH, ENOUGH_ERRORS = 10, 5
ENOUGH_PERIODS, ENOUGH_DAYS = 8, 5
CUT = 1.2


def _figures(trend: object, *, slope_only: bool = False) -> dict[str, Estimate]:
    """The three figures of a trend, by what tables call them."""
    name = trend.measure.title  # type: ignore[attr-defined]
    figures = {f"slope of {name}": trend.slope}  # type: ignore[attr-defined]
    if slope_only:
        return figures
    return {
        f"area under time of {name}": trend.aut,  # type: ignore[attr-defined]
        **figures,
        f"change of {name}": trend.change,  # type: ignore[attr-defined]
    }


def _figures_of(name: str, values: Sequence[float]) -> dict[str, float]:
    """The same of true values."""
    x = np.arange(len(values)) - (len(values) - 1) / 2
    title = find(name).title
    return {
        f"area under time of {title}": float(np.trapezoid(values) / (len(values) - 1)),
        f"slope of {title}": float(x @ values / (x @ x)),
        f"change of {title}": values[-1] - values[0],
    }


@dataclass(frozen=True)
class Months:
    """A detector that decays: attacks score N(mean, 1), less in each month, and the rest N(0, 1).

    Each month shifts all scores by N(0, ``between``). With such shifts only the slope is asked for:
    the area and the change are those of the months that there were.
    """

    months: int
    rows: int
    prevalence: float
    means: tuple[float, float]
    between: float = 0.0
    scored: bool = False
    group = "periods"

    @property
    def setting(self) -> str:
        """The setting in words."""
        apart = f", months shifted by {self.between:g}" if self.between else ""
        return (
            f"{self.months} months of {self.rows:,} rows, prevalence {self.prevalence:g}, "
            f"positives {self.means[0]:g} to {self.means[1]:g} above{apart}"
        )

    def _cells(self) -> list[dict[str, float]]:
        """The expected shares of the cells in each month."""
        spread = float(np.hypot(1, self.between))
        alarm = float(norm.sf(CUT / spread))
        months = []
        for mean in np.linspace(*self.means, self.months):
            hit = float(norm.sf((CUT - mean) / spread))
            attacks = {"TP": self.prevalence * hit, "FN": self.prevalence * (1 - hit)}
            rest = 1 - self.prevalence
            months.append({**attacks, "FP": rest * alarm, "TN": rest * (1 - alarm)})
        return months

    def _asked(self) -> tuple[str, ...]:
        if self.scored:
            return ("roc_auc",)
        return ("recall",) if self.between else COUNTED

    def truths(self) -> dict[str, float]:
        """The figures of endlessly many rows."""
        figures: dict[str, float] = {}
        for name in self._asked():
            if name == "roc_auc":
                values = [
                    float(norm.cdf(m / 2**0.5)) for m in np.linspace(*self.means, self.months)
                ]
            else:
                values = [float(evaluate(find(name).formula, cells)) for cells in self._cells()]
            figures |= _figures_of(name, values)
        if self.between:
            figures = {name: value for name, value in figures.items() if name.startswith("slope")}
        return figures

    def inside(self, measure: str) -> bool:
        """Whether each month has rows enough for its own interval, and months enough to differ."""
        if self.between and self.months < ENOUGH_PERIODS:
            return False
        if self.scored:
            least = min(self.prevalence, 1 - self.prevalence) * self.rows
            worst = float(norm.sf(max(self.means) / 2**0.5))
            return least * worst >= max(ENOUGH_ERRORS, self.months)
        used = {"recall": ("TP", "FN"), "precision": ("TP", "FP"), "F1": ("TP", "FP", "FN")}
        title = measure.rpartition(" of ")[2]
        cells = used["recall" if title == find("recall").title else title]
        least = min(self.rows * month[cell] for month in self._cells() for cell in cells)
        return least >= max(ENOUGH, self.months)

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Months of independent rows."""
        del measures
        for _ in range(repetitions):
            tallies = [self._month(rng, mean) for mean in np.linspace(*self.means, self.months)]
            judges = {name: Judge(t) for name, t in zip(MONTHS, tallies, strict=False)}
            over_time = OverTime(judges, "month")
            estimates: dict[str, Estimate] = {}
            for name in self._asked():
                estimates |= _figures(over_time[name], slope_only=bool(self.between))
            yield 1, estimates

    def _month(self, rng: np.random.Generator, mean: float) -> Resolved:
        attacks = int(rng.binomial(self.rows, self.prevalence))
        shift = self.between * float(rng.normal()) if self.between else 0.0
        if self.scored:
            truth = (np.arange(self.rows) < attacks).astype(np.uint8)
            scores = rng.normal(size=self.rows) + mean * truth
            table = ScoreTally.of_rows(LABELS, scores, truth)
            counts = Confusion(LABELS, ((self.rows - attacks, 0), (attacks, 0)))
            return Resolved(LABELS, LABELS[1], counts, kind="score", scores=(table,), decided=False)
        hits = int(rng.binomial(attacks, norm.sf(CUT - mean - shift)))
        false = int(rng.binomial(self.rows - attacks, norm.sf(CUT - shift)))
        cells = ((self.rows - attacks - false, false), (attacks - hits, hits))
        return Resolved.of_confusion(Confusion(LABELS, cells), positive=LABELS[1])


@dataclass(frozen=True)
class TopOfDays:
    """The highest scores of each of so many days; attacks score N(mean, 1), the rest N(0, 1)."""

    days: int
    rows: int
    prevalence: float
    mean: float
    k: int
    group = "top alerts"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return (
            f"top {self.k} of {self.rows:,} rows on {self.days} days, prevalence "
            f"{self.prevalence:g}, positives {self.mean:g} above"
        )

    def truths(self) -> dict[str, float]:
        """The values of endlessly many days: how likely an attack is among the top of its day."""

        def among(score: float) -> float:
            above = self.prevalence * norm.sf(score - self.mean)
            above += (1 - self.prevalence) * norm.sf(score)
            return float(norm.pdf(score - self.mean) * binom.cdf(self.k - 1, self.rows - 1, above))

        share = float(quad(among, self.mean - 8, self.mean + 8, limit=400)[0])
        attacks = self.rows * self.prevalence
        return {"precision_at_top": share * attacks / self.k, "recall_at_top": share}

    def inside(self, measure: str) -> bool:
        """Whether there are days enough, and enough hits and false alarms in all."""
        del measure
        precise = self.truths()["precision_at_top"]
        least = min(precise, 1 - precise) * self.k * self.days
        return self.days >= ENOUGH_DAYS and least >= ENOUGH

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent days."""
        del measures
        for _ in range(repetitions):
            days = {str(i): self._day(rng) for i in range(self.days)}
            top_alerts = over_days(days, self.k, 0.95)
            yield 1, {"precision_at_top": top_alerts.precision, "recall_at_top": top_alerts.recall}

    def _day(self, rng: np.random.Generator) -> ScoreTally:
        truth = (rng.random(self.rows) < self.prevalence).astype(np.uint8)
        return ScoreTally.of_rows(LABELS, rng.normal(size=self.rows) + self.mean * truth, truth)


@dataclass(frozen=True)
class TopOfSample:
    """The top of the rows that a sample stands for, at a base rate; class sizes are fixed."""

    positives: int
    negatives: int
    mean: float
    share: float
    base_rate: float
    group = "top alerts"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return (
            f"top {self.share:g} at a base rate of {self.base_rate:g}, {self.positives:,} "
            f"positives {self.mean:g} above {self.negatives:,} negatives"
        )

    def _threshold(self) -> float:
        def excess(score: float) -> float:
            above = self.base_rate * norm.sf(score - self.mean)
            return float(above + (1 - self.base_rate) * norm.sf(score) - self.share)

        return float(brentq(excess, -10, 20))

    def truths(self) -> dict[str, float]:
        """The values of an endless sample."""
        share = float(norm.sf(self._threshold() - self.mean))
        return {"precision_at_top": share * self.base_rate / self.share, "recall_at_top": share}

    def inside(self, measure: str) -> bool:
        """Whether at least ten rows of each class are expected above the threshold."""
        del measure
        false = float(norm.sf(self._threshold())) * self.negatives
        return min(self.truths()["recall_at_top"] * self.positives, false) >= ENOUGH

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent rows."""
        del measures
        size = self.positives + self.negatives
        truth = (np.arange(size) < self.positives).astype(np.uint8)
        for _ in range(repetitions):
            scores = rng.normal(size=size) + self.mean * truth
            top_alerts = of_sample(
                ScoreTally.of_rows(LABELS, scores, truth), self.share, self.base_rate, 0.95
            )
            yield 1, {"precision_at_top": top_alerts.precision, "recall_at_top": top_alerts.recall}


def scenarios(*, quick: bool) -> list[Months | TopOfDays | TopOfSample]:
    """From few periods to many, alike but for their decay or not; days and samples."""
    if quick:
        return [
            Months(6, 500, 0.2, (2.4, 1.6)),
            TopOfDays(10, 200, 0.1, 2.0, 20),
            TopOfSample(200, 1800, 2.0, 0.1, 0.1),
        ]
    decay = [
        Months(months, rows, prevalence, means)
        for months in (2, 3, 6, 12, 36)
        for rows, prevalence, means in (
            (500, 0.2, (2.4, 1.6)),
            (2000, 0.05, (2.0, 2.0)),
            (150, 0.2, (2.4, 1.6)),
        )
    ]
    ranked = [
        Months(months, rows, 0.3, (1.8, 1.0), scored=True)
        for months in (2, 6, 12)
        for rows in (100, 400)
    ]
    apart = [
        Months(months, 1000, 0.3, (1.8, 1.2), between)
        for months in (4, 8, 24)
        for between in (0.1, 0.3)
    ]
    days = [
        TopOfDays(days, rows, prevalence, mean, k)
        for days in (2, 5, 10, 30)
        for rows, prevalence, mean, k in ((200, 0.1, 2.0, 20), (1000, 0.01, 3.0, 10))
    ]
    samples = [
        TopOfSample(200, 1800, 2.0, 0.1, 0.1),
        TopOfSample(200, 1800, 2.0, 0.02, 0.1),
        TopOfSample(50, 450, 1.0, 0.1, 0.1),
        TopOfSample(3000, 7000, 2.0, 0.01, 0.001),
        TopOfSample(3000, 7000, 2.0, 0.001, 0.001),
        TopOfSample(1000, 20_000, 3.0, 0.002, 0.001),
    ]
    return [*decay, *ranked, *apart, *days, *samples]
