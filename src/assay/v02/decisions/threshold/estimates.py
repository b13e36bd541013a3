"""What a threshold would mean: its rates, with intervals that carry the choice.

The value is that of the rows at hand. Its error as a statement about the threshold on new rows is
seen in the resamples: each chooses its own threshold, which then looks better on the resample that
chose it than it does on all rows. How much better is the error of a choice, and the interval is the
value less the middle of these errors. It is never narrower than for a threshold given in advance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.threshold.choice import (
    DAYS_OVER_BUDGET,
    HeldConstraint,
    HoldoutEstimates,
    Shown,
)
from assay.v02.decisions.threshold.constraints import (
    LOWEST_COST,
    MAX_ALERTS,
    MAX_FAR,
    MAX_FPR,
    MIN_DR,
    Requirements,
    limits_of,
)
from assay.v02.decisions.threshold.explanations import asked, rate
from assay.v02.decisions.threshold.objectives import empirical_rule
from assay.v02.decisions.threshold.sweep import ThresholdSweep
from assay.errors import LabelError
from assay.v02.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED
from assay.v02.evaluation.judge import formula_of
from assay.v02.evaluation.wording import listed
from assay.v02.formula import Expression, at_base_rate
from assay.v02.inference import Bootstrap, ClopperPearson, Estimate, Quantity, estimate
from assay.v02.inference.significance import tail
from assay.v02.inference.threshold_resampling import ChosenTables
from assay.v02.inference.threshold_rules import SweepCounts
from assay.v02.measures import (
    ALERT_RATE,
    EXPECTED_COST,
    FALSE_DISCOVERY_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    RECALL,
    Costs,
    Interval,
    find,
)
from assay.v02.measures.catalogue import AT_THRESHOLD, AT_THRESHOLD_DEPLOYED
from assay.v02.number_text import count, rounded
from assay.v02.sources import label_text
from assay.v02.sources.coded import Labels
from assay.v02.sources.columns import native
from assay.v02.sources.files.request import RowSource
from assay.v02.tally import ClusterTally, Confusion
from assay.v02.tally.named_tally import Names

Floats: TypeAlias = npt.NDArray[np.float64]

NO_CLUSTERS = "rows of a family are taken as independent, without clusters"

_at_base_rate = lru_cache(maxsize=256)(at_base_rate)


@dataclass(frozen=True, eq=False)
class ResampledChoices:
    """What resamples chose: their own tables, and all rows at the thresholds they chose."""

    swept: ThresholdSweep
    chosen: ChosenTables
    method: Bootstrap

    def widened(self, value: Estimate, quantity: Quantity, bounds: tuple[float, float]) -> Estimate:
        """An estimate with the interval of a chosen threshold."""
        own = quantity.of_tables(self.chosen.tables)
        return self._between(value, own, quantity.of_tables(self._tables), bounds)

    def family(self, value: Estimate, i: int) -> Estimate:
        """The same for the detection rate of a family."""
        hits = self._counts.kind(self.swept.families[i].name)
        with np.errstate(invalid="ignore"):
            own = self.chosen.group_hits[:, i] / self.chosen.group_sizes[:, i]
        return self._between(value, own, hits.flagged / hits.size, (0.0, 1.0))

    @cached_property
    def _positions(self) -> npt.NDArray[np.int64]:
        return self.swept.positions(self.chosen.thresholds)

    @cached_property
    def _tables(self) -> Floats:
        """All rows at the thresholds of the resamples."""
        return self.swept.tables(self._positions)

    @cached_property
    def _counts(self) -> SweepCounts:
        return self.swept.counts_at(self._positions)

    def _between(
        self, value: Estimate, own: Floats, on_all: Floats, bounds: tuple[float, float]
    ) -> Estimate:
        if math.isnan(value) or math.isnan(value.low):
            return value
        silent = np.isnan(self.chosen.thresholds)
        scale = _Scale(*bounds)
        errors = np.where(silent, np.nan, scale.to(own) - scale.to(on_all))
        ends = self.method.ends(errors, 0.0, None)
        if math.isnan(ends.low):
            return value.changed(note="no resample has a threshold: the interval takes it as given")
        here = float(scale.to(np.float64(value)))
        low, high = (float(scale.back(here - end)) for end in (ends.high, ends.low))
        clustered = self.swept.sample is not None
        notes = [value.note] if value.note else []
        if ends.undefined:
            notes.append(
                f"undefined in {ends.undefined} of {ends.drawn} resamples, which were left out"
            )
        return value.changed(
            low=min(low, value.low),
            high=max(high, value.high),
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
    swept: ThresholdSweep,
    threshold: float,
    wanted: Requirements,
    level: float,
    drawn: ResampledChoices | None = None,
) -> tuple[Shown, ...]:
    """All estimates of a threshold; without resamples, of one that was given in advance."""
    position = int(swept.positions(threshold))
    judged = _EstimatesAt(
        swept, position, swept.at(position), swept.clusters_at(threshold), wanted, level, drawn
    )
    return tuple(judged.all())


@dataclass(frozen=True, eq=False)
class _EstimatesAt:
    """A threshold on some rows, at a position of their sweep."""

    swept: ThresholdSweep
    position: int
    table: Confusion
    clusters: ClusterTally | None
    wanted: Requirements
    level: float
    drawn: ResampledChoices | None

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
            for name, daily in self._daily(float(self.wanted.volume)):
                yield Shown(name, daily, positive, base_rate=rate)
        if self.wanted.cost_fp is not None and self.wanted.cost_fn is not None:
            daily = self._cost(self.wanted.cost_fp, self.wanted.cost_fn)
            yield Shown(EXPECTED_COST.name, daily, positive, base_rate=rate)
        for i, family in enumerate(self.swept.families):
            yield Shown(RECALL.name, self._of_family(i), positive, family=family.name)

    def _of(
        self,
        formula: Expression,
        bounds: tuple[float, float],
        default: Interval = Interval.BY_SHAPE,
    ) -> Estimate:
        quantity = Quantity(formula, label=1)
        value = estimate(
            quantity, self.table, bounds, level=self.level, clusters=self.clusters, default=default
        )
        return value if self.drawn is None else self.drawn.widened(value, quantity, bounds)

    def _measured(self, name: str) -> Estimate:
        measure = find(name)
        return self._of(formula_of(measure), measure.range, measure.interval)

    def _deployed(self, name: str) -> Estimate:
        """A measure at the base rate, or without one as it is on the rows."""
        measure, rate = find(name), self.wanted.base_rate
        if rate is None:
            return self._measured(name)
        return self._of(_at_base_rate(formula_of(measure), rate), measure.range)

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
            share = [
                _chance_above(most, round(volume), end) for end in (alerts, alerts.low, alerts.high)
            ]
            yield DAYS_OVER_BUDGET, alerts.changed(share[0], low=share[1], high=share[2])

    def _cost(self, false_alarm: Fraction, miss: Fraction) -> Estimate:
        rate = self.wanted.base_rate
        priced = EXPECTED_COST.priced(Costs(false_alarm, miss))
        formula = formula_of(priced)
        if rate is not None:
            formula = _at_base_rate(formula, rate)
        return self._of(formula, priced.range)

    def _of_family(self, i: int) -> Estimate:
        family = self.swept.families[i]
        hits = int(self.swept.counts_at(self.position).kind(family.name).flagged)
        low, high = ClopperPearson(self.level)(hits, family.size)
        value = Estimate(
            hits / family.size,
            float(low),
            float(high),
            method=ClopperPearson.name,
            n=family.size,
            level=self.level,
            note=NO_CLUSTERS if self.clusters is not None and self.drawn is None else None,
        )
        return value if self.drawn is None else self.drawn.family(value, i)


def _scaled(rate: Estimate, size: float) -> Estimate:
    return rate.changed(rate * size, low=rate.low * size, high=rate.high * size)


def _chance_above(most: int, rows: int, rate: float) -> float:
    """The chance of more than ``most`` alerts among independent rows."""
    return math.nan if math.isnan(rate) else 1 - float(tail(most, rows, rate))


# -- on unseen rows --------------------------------------------------------------------------------


def labelled_like(
    chosen: Labels | Names, unseen: Labels | Names, positive: str | None, said: Mapping[str, Any]
) -> dict[str, Any]:
    """What to say of the labels of a holdout, so that they mean what they mean where it was chosen.

    It may lack labels, as one of harmless rows alone does. New ones have a side only where one
    label was named and stands against all others.
    """
    listed = [label_text(label) for label in said["labels"] or ()]
    known = [*chosen.names, *listed]
    named = said["positive"] is not None and positive in unseen.names
    if said["negative"] is None and not named and not set(unseen.names) <= set(known):
        raise LabelError(
            f"the holdout has the labels {list(unseen.names)}, but the threshold is chosen on "
            f"{list(chosen.names)}: both must be labelled alike"
        )
    names = [native(name, unseen.kind) for name in dict.fromkeys([*known, *unseen.names])]
    if said["negative"] is not None:
        return {"positive": None, "negative": said["negative"], "labels": names}
    return {"positive": native(positive or "", unseen.kind), "negative": None, "labels": names}


def judge(
    swept: ThresholdSweep,
    threshold: float,
    *,
    promised: bool,
    wanted: Requirements,
    level: float,
    source: RowSource,
) -> HoldoutEstimates:
    """A chosen threshold on unseen rows; there it is given in advance."""
    estimates = estimates_at(swept, threshold, wanted, level)
    return {
        "of": "guaranteed" if promised else "empirical",
        "threshold": threshold,
        "source": source,
        "estimates": estimates,
        "constraints": tuple(limits_at(swept, threshold, wanted, estimates)),
    }


def limits_at(
    swept: ThresholdSweep, threshold: float, wanted: Requirements, estimates: tuple[Shown, ...]
) -> Iterator[HeldConstraint]:
    """Each constraint, and whether it held to the last row."""
    rate = None if wanted.base_rate is None else float(wanted.base_rate)
    plain = {(e.measure, e.base_rate): e.estimate for e in estimates if e.family is None}
    asked: list[tuple[str, Any, Estimate]] = [
        (MAX_FAR, wanted.max_far, plain[FALSE_DISCOVERY_RATE.name, rate]),
        (MAX_FPR, wanted.max_fpr, plain[FALSE_POSITIVE_RATE.name, None]),
        (MIN_DR, wanted.min_dr, plain[RECALL.name, None]),
    ]
    if wanted.max_alerts is not None:
        asked.append((MAX_ALERTS, wanted.max_alerts, plain[ALERTS, rate]))
    families = {e.family: e.estimate for e in estimates if e.family is not None}
    absent = Estimate(math.nan, undefined="the holdout has no row of this family")
    asked += [
        (f"{MIN_DR}.{family}", limit, families.get(family, absent))
        for family, limit in wanted.families.items()
    ]
    position = int(swept.positions(threshold))
    for constraint, limit, value in asked:
        if limit is None:
            continue
        held = None
        if not math.isnan(value):
            held = _holds(swept, position, only(wanted, constraint))
        bound, least = float(limit), constraint.startswith(MIN_DR)
        kept = value.low >= bound if least else value.high <= bound
        broken = value.high < bound if least else value.low > bound
        yield {
            "constraint": constraint,
            "limit": bound,
            "value": float(value),
            "low": value.low,
            "high": value.high,
            "held": held,
            "sure": kept if held else broken,
        }


def only(wanted: Requirements, constraint: str) -> Requirements:
    """One constraint alone."""
    families = {
        family: limit
        for family, limit in wanted.families.items()
        if f"{MIN_DR}.{family}" == constraint
    }
    return Requirements(
        max_far=wanted.max_far if constraint == MAX_FAR else None,
        max_fpr=wanted.max_fpr if constraint == MAX_FPR else None,
        min_dr=wanted.min_dr if constraint == MIN_DR else None,
        max_alerts=wanted.max_alerts if constraint == MAX_ALERTS else None,
        base_rate=wanted.base_rate,
        volume=wanted.volume,
        families=families,
    )


def _holds(swept: ThresholdSweep, position: int, wanted: Requirements) -> bool:
    """Whether a constraint holds at a position, by the exact arithmetic that chooses."""
    if position < 0:  # nothing is flagged: there is neither detection nor an alert
        return wanted.min_dr is None and not wanted.families
    return not empirical_rule(wanted).kept(swept.counts_at([position])).empty


# -- what the empirical optimum is worth on new data -----------------------------------------------


BREAKS = "It will break its constraint on new data about half of the time."
OPTIMISTIC = "It fits these rows: on new data its cost will be higher about half of the time."

# A limit that is nearer than this share of the way to the interval's end is as good as reached:
# an eighth of two standard errors is a quarter of one, which new data pass 4 times of 10.
_AT_THE_LIMIT = 1 / 8


def worth(
    swept: ThresholdSweep, threshold: float, wanted: Requirements, estimates: tuple[Shown, ...]
) -> str:
    """What new data may be expected to do to the best threshold of these rows."""
    if not wanted.size:
        return OPTIMISTIC
    limits = list(limits_at(swept, threshold, wanted, estimates))
    position = int(swept.positions(threshold))
    said = {each["constraint"]: asked(only(wanted, each["constraint"]))[0] for each in limits}
    binding = [each for each in limits if _binds(each, swept, position, wanted)]
    if not binding:
        dearer = f" {OPTIMISTIC}" if wanted.objective == LOWEST_COST else ""
        return f"{_inside(limits, said)}{dearer}"
    if len(limits) == 1:
        return BREAKS
    at = listed([said[each["constraint"]] for each in binding])
    broken, often = ("it", "about") if len(binding) == 1 else ("one of them", "at least")
    return f"It sits at {at}: it will break {broken} on new data {often} half of the time."


def _binds(
    each: Mapping[str, Any], swept: ThresholdSweep, position: int, wanted: Requirements
) -> bool:
    """Whether one more wrong row would break a constraint, or its limit is as good as reached."""
    slack, reach = _slack(each)
    return slack <= _AT_THE_LIMIT * reach or _on_the_edge(
        each["constraint"], swept, position, wanted
    )


def _slack(each: Mapping[str, Any]) -> tuple[float, float]:
    """How far a value lies inside its limit, and how far its interval reaches that way."""
    value, limit = each["value"], each["limit"]
    if each["constraint"].startswith(MIN_DR):
        return value - limit, value - each["low"]
    return limit - value, each["high"] - value


def _on_the_edge(
    constraint: str, swept: ThresholdSweep, position: int, wanted: Requirements
) -> bool:
    alone, counts = only(wanted, constraint), swept.counts_at([position])
    if alone.families:
        ((family, limit),) = alone.families.items()
        hits = counts.kind(family)
        return int(hits.flagged[0]) - 1 < limit * hits.size
    missed = constraint == MIN_DR
    moved = SweepCounts(
        counts.tp - missed, counts.fp + (not missed), counts.positives, counts.negatives
    )
    (limit_alone,) = limits_of(alone)
    return limit_alone.kept(moved).empty


def _inside(limits: Sequence[Mapping[str, Any]], said: Mapping[str, str]) -> str:
    """How far inside, for the constraint that is nearest to being broken."""

    def room(each: Mapping[str, Any]) -> float:
        slack, reach = _slack(each)
        return slack / reach if reach > 0 else np.inf

    nearest = min(limits, key=room)
    number = count if nearest["constraint"] == MAX_ALERTS else rate
    value, low, high = (number(rounded(nearest[k], 3)) for k in ("value", "low", "high"))
    all_ = "its constraint" if len(limits) == 1 else f"all {len(limits)} constraints"
    near = "" if len(limits) == 1 else ", nearest to the limit"
    lead = f"It lies inside {all_}: {value} [{low}, {high}] where "
    lead += f"{said[nearest['constraint']]} was asked{near}"
    if room(nearest) >= 1:
        return f"{lead}. All of the interval keeps it, but nothing is promised."
    return f"{lead}. The interval reaches beyond it, so new data may break it."
