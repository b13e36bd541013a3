"""A chosen threshold on rows that it has not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.decisions.threshold.estimates import estimates_at
from assay.decisions.threshold.result import HeldConstraint, Holdout, Point, Shown
from assay.decisions.threshold.rules import empirical_rule
from assay.decisions.threshold.sweep import Swept
from assay.decisions.threshold.wanted import MAX_ALERTS, MAX_FAR, MAX_FPR, MIN_DR, Wanted
from assay.errors import LabelError
from assay.evaluation.deployment import ALERTS
from assay.inference import Estimate
from assay.measures import FALSE_DISCOVERY_RATE, FALSE_POSITIVE_RATE, RECALL
from assay.sources import label_text
from assay.sources.coded import Labels
from assay.sources.columns import native
from assay.sources.files.request import RowSource
from assay.tally.by_name import Names


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
    swept: Swept,
    point: Point,
    *,
    promised: bool,
    wanted: Wanted,
    level: float,
    source: RowSource,
) -> Holdout:
    """The point on unseen rows; there its threshold is given in advance."""
    assert point.threshold is not None  # noqa: S101 - a chosen point has one
    estimates = estimates_at(swept, point.threshold, wanted, level)
    return {
        "of": "guaranteed" if promised else "empirical",
        "threshold": point.threshold,
        "source": source,
        "estimates": estimates,
        "constraints": tuple(limits_at(swept, point.threshold, wanted, estimates)),
    }


def limits_at(
    swept: Swept, threshold: float, wanted: Wanted, estimates: tuple[Shown, ...]
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
    for constraint, limit, found in asked:
        if limit is None:
            continue
        held = None
        if not math.isnan(found):
            held = _holds(swept, position, only(wanted, constraint))
        bound, least = float(limit), constraint.startswith(MIN_DR)
        kept = found.low >= bound if least else found.high <= bound
        broken = found.high < bound if least else found.low > bound
        yield {
            "constraint": constraint,
            "limit": bound,
            "value": float(found),
            "low": found.low,
            "high": found.high,
            "held": held,
            "sure": kept if held else broken,
        }


def only(wanted: Wanted, constraint: str) -> Wanted:
    """One constraint alone."""
    families = {
        family: limit
        for family, limit in wanted.families.items()
        if f"{MIN_DR}.{family}" == constraint
    }
    return Wanted(
        max_far=wanted.max_far if constraint == MAX_FAR else None,
        max_fpr=wanted.max_fpr if constraint == MAX_FPR else None,
        min_dr=wanted.min_dr if constraint == MIN_DR else None,
        max_alerts=wanted.max_alerts if constraint == MAX_ALERTS else None,
        base_rate=wanted.base_rate,
        volume=wanted.volume,
        families=families,
    )


def _holds(swept: Swept, position: int, wanted: Wanted) -> bool:
    """Whether a constraint holds at a position, by the exact arithmetic that chooses."""
    if position < 0:  # nothing is flagged: there is neither detection nor an alert
        return wanted.min_dr is None and not wanted.families
    return not empirical_rule(wanted).kept(swept.counts_at([position])).empty
