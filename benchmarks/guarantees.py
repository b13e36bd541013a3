"""How often guaranteed thresholds break their constraints on new rows: `make guarantees`.

Rows are drawn from worlds whose true rates are known exactly, with ties and without, and a
threshold is chosen on each data set; the chosen one is then judged by the true rates. The results
go to benchmarks/results/guarantees.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import bdtrc, ndtr

from assay import choose_threshold
from assay.decisions.threshold.constraints import Requirements, requirements
from assay.decisions.threshold.objectives import empirical_rule, guaranteed_rule
from assay.decisions.threshold.sweep import ThresholdSweep, tallies_of
from assay.sources import code_arrays

RESULTS = Path(__file__).parent / "results" / "guarantees.json"
FAMILIES = {"near": 1.8, "far": 3.0}  # how far the positives of a family are from the negatives


@dataclass(frozen=True)
class World:
    """Where scores come from: normal ones, as they are, rounded, or in a few steps.

    ``noise`` is the share of negatives that look like attacks: wrong labels among the highest
    scores, where the false alarm rate is then highest.
    """

    name: str
    digits: int | None = None
    steps: int | None = None
    noise: float = 0.0

    @property
    def ties(self) -> bool:
        """Whether scores are shared by many rows."""
        return self.digits is not None or self.steps is not None

    def draw(self, rng: np.random.Generator, shift: float, rows: int) -> np.ndarray:
        """Scores of rows that lie ``shift`` above the negatives."""
        if self.steps is not None:
            return rng.binomial(self.steps, self._chance(shift), rows).astype(float)
        moved = np.full(rows, shift)
        if self.noise and not shift:
            moved[rng.random(rows) < self.noise] = FAMILIES["far"]
        scores = rng.normal(moved)
        return scores if self.digits is None else np.round(scores, self.digits)

    def above(self, threshold: float, shift: float) -> float:
        """The exact chance of a score of at least the threshold."""
        if self.steps is not None:
            k = math.ceil(threshold) - 1
            return 1.0 if k < 0 else float(bdtrc(k, self.steps, self._chance(shift)))
        edge = threshold if self.digits is None else threshold - 0.5 * 10.0**-self.digits
        share = float(ndtr(shift - edge))
        if self.noise and not shift:
            share += self.noise * (float(ndtr(FAMILIES["far"] - edge)) - share)
        return share

    def _chance(self, shift: float) -> float:
        return float(ndtr(shift / 2 - 0.7))


WORLDS = (
    World("distinct scores"),
    World("distinct scores, 0.1% wrong labels", noise=0.001),
    World("rounded to one digit", digits=1),
    World("whole numbers", digits=0),
    World("21 steps", steps=20),
)


@dataclass(frozen=True)
class Setting:
    """A data set's size and what is asked of the threshold."""

    name: str
    negatives: int
    positives: int
    asked: dict[str, Any]
    mixed: bool = False  # the number of positives is drawn too

    def want(self) -> Requirements:
        """What is asked, checked."""
        return requirements(**self.asked, families=tuple(FAMILIES))


SETTINGS = (
    Setting("FPR <= 1%", 2000, 300, {"max_fpr": 0.01}),
    Setting("FPR <= 1%, 99% sure", 2000, 300, {"max_fpr": 0.01, "confidence": 0.99}),
    Setting("FPR <= 0.1%, few rows", 2500, 300, {"max_fpr": 0.001}),
    Setting("DR >= 90%", 1000, 300, {"min_dr": 0.9}),
    Setting("DR >= 70%, 40 attacks", 1000, 40, {"min_dr": 0.7}),
    Setting("FPR <= 20% and DR >= 70%", 1000, 400, {"max_fpr": 0.2, "min_dr": 0.7}),
    Setting("DR >= 60% of each family", 1000, 400, {"min_dr_families": 0.6}),
    Setting("FAR <= 20% at 10%", 4000, 500, {"max_far": 0.2, "base_rate": 0.1}),
    Setting("FAR <= 10% at 30%", 2000, 1000, {"max_far": 0.1, "base_rate": 0.3}),
    Setting("FAR <= 10%, as tested", 2000, 1000, {"max_far": 0.1}),
    Setting("FAR <= 50% at 1%", 4000, 60, {"max_far": 0.5, "base_rate": 0.01}),
    Setting(
        "50 alerts of 1,000 at 2%",
        2000,
        300,
        {"max_alerts": 50, "volume": 1000, "base_rate": 0.02},
    ),
    Setting(
        "100 alerts of 1,000, as tested",
        2000,
        300,
        {"max_alerts": 100, "volume": 1000},
        mixed=True,
    ),
    Setting(
        "all at once",
        3000,
        800,
        {"max_far": 0.3, "max_fpr": 0.1, "min_dr": 0.5, "base_rate": 0.2}
        | {"max_alerts": 300, "volume": 1000},
    ),
)


@dataclass
class Violations:
    """How often each answer was given, and how often it broke a constraint on new rows."""

    world: str
    ties: bool
    setting: str
    promised: float
    datasets: int
    answered: int = 0
    violated: int = 0
    detection_rate: float = 0.0
    empirical_answered: int = 0
    empirical_violated: int = 0

    @property
    def share(self) -> float:
        """How often the guaranteed threshold broke a constraint, of all data sets."""
        return self.violated / self.datasets

    @property
    def kept(self) -> bool:
        """Whether that is no more than promised, but for three standard errors."""
        error = math.sqrt(self.promised * (1 - self.promised) / self.datasets)
        return self.share <= self.promised + 3 * error


def rows_of(
    world: World, setting: Setting, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, scores and families of one data set."""
    positives = setting.positives
    total = positives + setting.negatives
    if setting.mixed:
        positives = min(max(int(rng.binomial(total, positives / total)), 1), total - 1)
    near = positives // 2
    sizes = {"": total - positives, "near": near, "far": positives - near}
    shifts = {"": 0.0, **FAMILIES}
    scores = [world.draw(rng, shifts[name], rows) for name, rows in sizes.items()]
    families = np.repeat(list(sizes), list(sizes.values()))
    return families != "", np.concatenate(scores), families


def broken(world: World, setting: Setting, threshold: float, prevalence: float) -> bool:
    """Whether a threshold breaks what was asked, by the true rates."""
    want = setting.want()
    fpr = world.above(threshold, 0.0)
    rates = {name: world.above(threshold, shift) for name, shift in FAMILIES.items()}
    dr = sum(rates.values()) / len(rates)
    base_rate = prevalence if want.base_rate is None else float(want.base_rate)
    alerts = base_rate * dr + (1 - base_rate) * fpr
    # The last digits of a true rate that equals the limit are no violation.
    slack = 1e-12
    return (
        (want.max_fpr is not None and fpr > want.max_fpr + slack)
        or (want.min_dr is not None and dr < want.min_dr - slack)
        or (want.budget is not None and alerts > want.budget + slack)
        or (want.max_far is not None and (1 - base_rate) * fpr > (want.max_far + slack) * alerts)
        or any(rates[name] < limit - slack for name, limit in want.families.items())
    )


def simulate(world: World, setting: Setting, datasets: int) -> Violations:
    """Choose on fresh data sets, and count how often what was asked is broken."""
    rng = np.random.default_rng(zlib.crc32(f"{world.name}: {setting.name}".encode()))
    want = setting.want()
    violations = Violations(
        world.name, world.ties, setting.name, float(1 - want.confidence), datasets
    )
    share = setting.positives / (setting.positives + setting.negatives)
    for _ in range(datasets):
        truth, scores, families = rows_of(world, setting, rng)
        # To code the names of families takes longer than all else, so only where they count.
        slices = {"family": families} if want.families else None
        rows = code_arrays(truth, y_score=scores, slices=slices)
        sides = {"positive": True, "negative": None, "labels": None}
        guaranteed, empirical = guaranteed_rule(want), empirical_rule(want)
        swept = ThresholdSweep.of(tallies_of(rows, sides)).seen_by(guaranteed, empirical)
        counts = swept.counts
        prevalence = share if setting.mixed else counts.positives / counts.rows
        place = guaranteed.position(counts)
        if place >= 0:
            violations.answered += 1
            threshold = float(swept.thresholds[place])
            violations.violated += broken(world, setting, threshold, prevalence)
            violations.detection_rate += int(counts.tp[place]) / counts.positives
        place = empirical.position(counts)
        if place >= 0:
            violations.empirical_answered += 1
            threshold = float(swept.thresholds[place])
            violations.empirical_violated += broken(world, setting, threshold, prevalence)
    violations.detection_rate /= max(violations.answered, 1)
    return violations


@dataclass
class Covered:
    """How often the intervals of a point held the true rate of its threshold."""

    point: str
    measure: str
    datasets: int = 0
    covered: int = 0


def coverage(datasets: int, resamples: int = 200) -> list[Covered]:
    """Coverage of the 95% intervals of chosen thresholds, on distinct scores."""
    rng = np.random.default_rng(7)
    world, size = WORLDS[0], Setting("", 2000, 300, {})
    coverages: dict[tuple[str, str], Covered] = {}
    for _ in range(datasets):
        truth, scores, _families = rows_of(world, size, rng)
        for asked in ({"max_fpr": 0.01}, {"max_far": 0.2}, {"min_dr": 0.9}, {}):
            choice = choose_threshold(
                truth, y_score=scores, positive=True, resamples=resamples, **asked
            )
            points = [choice.empirical, choice.guaranteed, *choice.candidates]
            for point in (point for point in points if point is not None):
                for measure, true in _true(world, point.threshold, size).items():
                    key = f"{point.name} {next(iter(asked), '')}".strip(), measure
                    row = coverages.setdefault(key, Covered(*key))
                    row.datasets += 1
                    row.covered += point[measure].low <= true <= point[measure].high
    return list(coverages.values())


def _true(world: World, threshold: float, size: Setting) -> dict[str, float]:
    fpr = world.above(threshold, 0.0)
    dr = sum(world.above(threshold, shift) for shift in FAMILIES.values()) / len(FAMILIES)
    tp, fp = dr * size.positives, fpr * size.negatives
    return {
        "recall": dr,
        "false_positive_rate": fpr,
        "precision": tp / (tp + fp),
        "f1": 2 * tp / (tp + fp + size.positives),
    }


def table(violations: list[Violations]) -> str:
    """The results as text."""
    head = "promised answered violated     DR  empirical: answered, violated"
    lines = [f"{'scores':36} {'asked':32} {head}"]
    for row in violations:
        naive = row.empirical_violated / max(row.empirical_answered, 1)
        lines.append(
            f"{row.world:36} {row.setting:32} {row.promised:8.1%} "
            f"{row.answered / row.datasets:8.1%} {row.share:8.2%} {row.detection_rate:6.3f}  "
            f"{row.empirical_answered / row.datasets:8.1%} {naive:8.1%}"
            f"{'' if row.kept else '   BROKEN PROMISE'}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=int, default=2000, help="data sets a setting")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="the JSON file")
    asked = parser.parse_args()
    todo = [(world, setting) for world in WORLDS for setting in SETTINGS]
    with ProcessPoolExecutor(asked.jobs) as pool:
        covering = pool.submit(coverage, asked.datasets // 5)
        jobs = [pool.submit(simulate, *each, asked.datasets) for each in todo]
        studies = [job.result() for job in jobs]
        covered = covering.result()
    print(table(studies))
    print("\nHow often 95% intervals hold the true rate of the chosen threshold")
    for row in covered:
        print(f"  {row.point:24} {row.measure:22} {row.covered / row.datasets:6.1%}")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    plain = {
        "violations": [asdict(row) for row in studies],
        "intervals": [asdict(row) for row in covered],
    }
    asked.out.write_text(json.dumps(plain, indent=1) + "\n", "utf-8")
    print(f"\nWrote {asked.out}")
    broken_promises = sum(not row.kept for row in studies)
    print(f"Broken promises: {broken_promises} of {len(studies)} settings")
    return 1 if broken_promises else 0


if __name__ == "__main__":
    sys.exit(main())
