"""What the empirical optimum is worth on new data: whether it sits at a constraint or inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.decisions.threshold.holdout import limits_at, only
from assay.decisions.threshold.limits import limits_of
from assay.decisions.threshold.result import Shown
from assay.decisions.threshold.sweep import Swept
from assay.decisions.threshold.wanted import LOWEST_COST, MAX_ALERTS, MIN_DR, Wanted
from assay.decisions.threshold.words import asked, rate
from assay.evaluation.words import count, listed
from assay.inference.narrowing import Counts

BREAKS = "It will break its constraint on new data about half of the time."
OPTIMISTIC = "It fits these rows: on new data its cost will be higher about half of the time."

# A limit that is nearer than this share of the way to the interval's end is as good as reached:
# an eighth of two standard errors is a quarter of one, which new data pass 4 times of 10.
_AT_THE_LIMIT = 1 / 8


def worth(swept: Swept, threshold: float, wanted: Wanted, estimates: tuple[Shown, ...]) -> str:
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


def _binds(each: Mapping[str, Any], swept: Swept, position: int, wanted: Wanted) -> bool:
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


def _on_the_edge(constraint: str, swept: Swept, position: int, wanted: Wanted) -> bool:
    alone, counts = only(wanted, constraint), swept.counts_at([position])
    if alone.families:
        ((family, limit),) = alone.families.items()
        hits = counts.kind(family)
        return int(hits.flagged[0]) - 1 < limit * hits.size
    missed = constraint == MIN_DR
    moved = Counts(counts.tp - missed, counts.fp + (not missed), counts.positives, counts.negatives)
    (limit_alone,) = limits_of(alone)
    return limit_alone.kept(moved).empty


def _inside(limits: Sequence[Mapping[str, Any]], said: Mapping[str, str]) -> str:
    """How far inside, for the constraint that is nearest to being broken."""

    def room(each: Mapping[str, Any]) -> float:
        slack, reach = _slack(each)
        return slack / reach if reach > 0 else np.inf

    nearest = min(limits, key=room)
    number = count if nearest["constraint"] == MAX_ALERTS else rate
    value, low, high = (number(float(f"{nearest[k]:.3g}")) for k in ("value", "low", "high"))
    all_ = "its constraint" if len(limits) == 1 else f"all {len(limits)} constraints"
    near = "" if len(limits) == 1 else ", nearest to the limit"
    found = f"It lies inside {all_}: {value} [{low}, {high}] where "
    found += f"{said[nearest['constraint']]} was asked{near}"
    if room(nearest) >= 1:
        return f"{found}. All of the interval keeps it, but nothing is promised."
    return f"{found}. The interval reaches beyond it, so new data may break it."
