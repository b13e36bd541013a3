"""What a threshold would mean: its rates, with intervals that carry the choice.

The value is that of the rows at hand. Its error as a statement about the threshold on new rows is
seen in the resamples: each chooses its own threshold, which then looks better on the resample that
chose it than it does on all rows. How much better is the error of a choice, and the interval is the
value less the middle of these errors. It is never narrower than for a threshold given in advance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.result import DAYS_OVER_BUDGET, Shown
from assay.decisions.threshold.sweep import Swept
from assay.decisions.threshold.wanted import Wanted
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED
from assay.formula import Expression, at_base_rate
from assay.inference import Bootstrap, ClopperPearson, Estimate, Quantity, estimate
from assay.inference.binomial import tail
from assay.inference.chosen import Chosen
from assay.inference.narrowing import Counts
from assay.measures import (
    ALERT_RATE,
    EXPECTED_COST,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    RECALL,
    Costs,
    Interval,
    find,
)
from assay.measures.shown import AT_THRESHOLD, AT_THRESHOLD_DEPLOYED
from assay.tally import ClusterTally, Confusion

Floats: TypeAlias = npt.NDArray[np.float64]

NO_CLUSTERS = "rows of a family are taken as independent, without clusters"

_at_base_rate = lru_cache(maxsize=256)(at_base_rate)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What resamples chose: their own tables, and all rows at the thresholds they chose."""

    swept: Swept
    chosen: Chosen
    method: Bootstrap

    def widened(self, found: Estimate, quantity: Quantity, bounds: tuple[float, float]) -> Estimate:
        """An estimate with the interval of a chosen threshold."""
        own = quantity.of_tables(self.chosen.tables)
        return self._between(found, own, quantity.of_tables(self._tables), bounds)

    def family(self, found: Estimate, i: int) -> Estimate:
        """The same for the detection rate of a family."""
        hits = self._counts.kind(self.swept.families[i].name)
        with np.errstate(invalid="ignore"):
            own = self.chosen.group_hits[:, i] / self.chosen.group_sizes[:, i]
        return self._between(found, own, hits.flagged / hits.size, (0.0, 1.0))

    @cached_property
    def _positions(self) -> npt.NDArray[np.int64]:
        return self.swept.positions(self.chosen.thresholds)

    @cached_property
    def _tables(self) -> Floats:
        """All rows at the thresholds of the resamples."""
        return self.swept.tables(self._positions)

    @cached_property
    def _counts(self) -> Counts:
        return self.swept.counts_at(self._positions)

    def _between(
        self, found: Estimate, own: Floats, on_all: Floats, bounds: tuple[float, float]
    ) -> Estimate:
        if math.isnan(found) or math.isnan(found.low):
            return found
        silent = np.isnan(self.chosen.thresholds)
        scale = _Scale(*bounds)
        errors = np.where(silent, np.nan, scale.to(own) - scale.to(on_all))
        ends = self.method.ends(errors, 0.0, None)
        if math.isnan(ends.low):
            return found.changed(note="no resample has a threshold: the interval takes it as given")
        here = float(scale.to(np.float64(found)))
        low, high = (float(scale.back(here - end)) for end in (ends.high, ends.low))
        clustered = self.swept.sample is not None
        notes = [found.note] if found.note else []
        if ends.undefined:
            notes.append(
                f"undefined in {ends.undefined} of {ends.drawn} resamples, which were left out"
            )
        return found.changed(
            low=min(low, found.low),
            high=max(high, found.high),
            method=f"cluster {self.method.name}" if clustered else self.method.name,
            note="; ".join(notes) or None,
        )


@dataclass(frozen=True)
class _Scale:
    """A scale on which the errors of a share are about as large near its ends as in the middle."""

    low: float
    high: float

    def to(self, values: Any) -> Any:
        return np.arcsin(np.sqrt(np.clip((values - self.low) / (self.high - self.low), 0, 1)))

    def back(self, value: float) -> float:
        inside = math.sin(min(max(value, 0.0), math.pi / 2)) ** 2
        return self.low + (self.high - self.low) * inside


def estimates_at(
    swept: Swept, threshold: float, wanted: Wanted, level: float, drawn: Drawn | None = None
) -> tuple[Shown, ...]:
    """All estimates of a threshold; without resamples, of one that was given in advance."""
    position = int(swept.positions(threshold))
    judged = _Judged(
        swept, position, swept.at(position), swept.clusters_at(threshold), wanted, level, drawn
    )
    return tuple(judged.all())


@dataclass(frozen=True, eq=False)
class _Judged:
    """A threshold on some rows, at a position of their sweep."""

    swept: Swept
    position: int
    table: Confusion
    clusters: ClusterTally | None
    wanted: Wanted
    level: float
    drawn: Drawn | None

    def all(self) -> Iterator[Shown]:
        positive = self.swept.positive
        base_rate = self.wanted.base_rate
        rate = None if base_rate is None else float(base_rate)
        for name in AT_THRESHOLD:
            label = None if find(name).symmetric else positive
            yield Shown(name, self._measured(name), label)
        if base_rate is not None:
            for name in AT_THRESHOLD_DEPLOYED:
                label = None if find(name).symmetric else positive
                yield Shown(name, self._deployed(name), label, base_rate=rate)
        if self.wanted.volume is not None:
            for name, found in self._daily(float(self.wanted.volume)):
                yield Shown(name, found, positive, base_rate=rate)
        if self.wanted.cost_fp is not None and self.wanted.cost_fn is not None:
            found = self._cost(self.wanted.cost_fp, self.wanted.cost_fn)
            yield Shown(EXPECTED_COST.name, found, positive, base_rate=rate)
        for i, family in enumerate(self.swept.families):
            yield Shown(RECALL.name, self._of_family(i), positive, family=family.name)

    def _of(
        self,
        formula: Expression,
        bounds: tuple[float, float],
        default: Interval = Interval.BY_SHAPE,
    ) -> Estimate:
        quantity = Quantity(formula, label=1)
        found = estimate(
            quantity, self.table, bounds, level=self.level, clusters=self.clusters, default=default
        )
        return found if self.drawn is None else self.drawn.widened(found, quantity, bounds)

    def _measured(self, name: str) -> Estimate:
        measure = find(name)
        assert measure.formula is not None  # noqa: S101 - only count measures are asked for
        return self._of(measure.formula, measure.range, measure.interval)

    def _deployed(self, name: str) -> Estimate:
        """A measure at the base rate, or without one as it is on the rows."""
        measure, rate = find(name), self.wanted.base_rate
        if rate is None:
            return self._measured(name)
        assert measure.formula is not None  # noqa: S101 - only count measures are asked for
        return self._of(_at_base_rate(measure.formula, rate), measure.range)

    def _daily(self, volume: float) -> Iterator[tuple[str, Estimate]]:
        """Alerts, false alarms and missed attacks of a day, and days over the budget."""
        rate = self.wanted.base_rate or Fraction(self.swept.positives, self.swept.rows)
        attacks = volume * float(rate)
        alerts = self._deployed(ALERT_RATE.name)
        yield ALERTS, _scaled(alerts, volume)
        yield FALSE_ALARMS, _scaled(self._measured(FALSE_POSITIVE_RATE.name), volume - attacks)
        yield MISSED, _scaled(self._measured(FALSE_NEGATIVE_RATE.name), attacks)
        if self.wanted.max_alerts is not None:
            most = math.floor(self.wanted.max_alerts)
            share = [_above(most, round(volume), end) for end in (alerts, alerts.low, alerts.high)]
            yield DAYS_OVER_BUDGET, alerts.changed(share[0], low=share[1], high=share[2])

    def _cost(self, false_alarm: Fraction, miss: Fraction) -> Estimate:
        rate = self.wanted.base_rate
        priced = EXPECTED_COST.priced(Costs(false_alarm, miss))
        assert priced.formula is not None  # noqa: S101 - it has costs
        formula = priced.formula if rate is None else _at_base_rate(priced.formula, rate)
        return self._of(formula, priced.range)

    def _of_family(self, i: int) -> Estimate:
        family = self.swept.families[i]
        hits = int(self.swept.counts_at(self.position).kind(family.name).flagged)
        low, high = ClopperPearson(self.level)(hits, family.size)
        found = Estimate(
            hits / family.size,
            float(low),
            float(high),
            method=ClopperPearson.name,
            n=family.size,
            level=self.level,
            note=NO_CLUSTERS if self.clusters is not None and self.drawn is None else None,
        )
        return found if self.drawn is None else self.drawn.family(found, i)


def _scaled(rate: Estimate, size: float) -> Estimate:
    return rate.changed(rate * size, low=rate.low * size, high=rate.high * size)


def _above(most: int, rows: int, rate: float) -> float:
    """The chance of more than ``most`` alerts among independent rows."""
    return math.nan if math.isnan(rate) else 1 - float(tail(most, rows, rate))
