"""When only alerts were labelled: what can be said all the same.

Operations label what was raised, not the rest. Precision and the false alarm rate need nothing
else. The detection rate needs the attacks among the rows that raised no alarm; a random sample of
those, labelled and weighted, gives an estimate of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.formula import cells
from assay.inference import Estimate, Wilson
from assay.measures import ALERT_RATE, FALSE_NEGATIVE_RATE, RECALL, Measure

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation
    from assay.evaluation.judge import Judge
    from assay.evaluation.snapshot import Snapshot

ALERTS_ONLY = frozenset({"TP", "FP"})
NOT_LABELLED = (
    "rows that raised no alarm were not labelled; weights for a labelled random sample of them "
    "would tell"
)
BY_SLICE = "rows without a label are not counted by slice"
HORVITZ_THOMPSON = "horvitz-thompson"
NO_CLUSTERS = "rows are taken as independent, without clusters"


@dataclass(frozen=True)
class Unlabelled:
    """How many rows without a label raised an alarm, and how many did not."""

    flagged: int
    not_flagged: int


def alerts_only(found: Judge | Evaluation | Snapshot) -> bool:
    """Whether rows that raised no alarm are unknown, without weights that stand for them."""
    return found.unlabelled is not None and not found.weighted


def counted(judge: Judge, measure: Measure, label: int) -> Estimate | None:
    """The estimate where rows without a label change it; None where it is as usual.

    With weights labelled rows stand for those without a label, which are not counted again.
    """
    assert judge.unlabelled is not None  # noqa: S101 - asked only where there are such rows
    if not alerts_only(judge):
        if measure in (RECALL, FALSE_NEGATIVE_RATE) and label == 1:
            return _detected(judge, missed=measure == FALSE_NEGATIVE_RATE)
        return None
    rest = judge.unlabelled
    if measure == ALERT_RATE and label == 1:
        some = judge.tally.confusion.total or rest.flagged or rest.not_flagged
        return _alert_rate(judge, rest) if some else None
    if known(measure) and label == 1:
        return None
    return Estimate(math.nan, level=judge.level, undefined=NOT_LABELLED)


def known(measure: Measure) -> bool:
    """Whether a measure needs nothing but labelled alerts."""
    return measure.formula is not None and set(cells(measure.formula)) <= ALERTS_ONLY


def _alert_rate(judge: Judge, rest: Unlabelled) -> Estimate:
    """The share of all rows that raised an alarm, labelled or not."""
    flagged = judge.tally.confusion.columns[1] + rest.flagged
    rows = judge.tally.confusion.total + rest.flagged + rest.not_flagged
    low, high = Wilson(judge.level)(flagged, rows)
    return Estimate(
        flagged / rows,
        float(low),
        float(high),
        method="wilson",
        n=rows,
        level=judge.level,
        note=_note(judge),
    )


def _note(judge: Judge) -> str | None:
    return None if judge.tally.clusters is None else NO_CLUSTERS


def _detected(judge: Judge, *, missed: bool) -> Estimate:
    """The detection rate from labelled alerts and a weighted sample of the other rows.

    Attacks among alerts are the share p of A alerts, those among other rows the share q of B; the
    detection rate is A p / (A p + B q). The interval of q / p is recovered from Wilson's intervals
    of q and p (Donner and Zou 2012), since a sample without one missed attack is no proof that
    there is none.
    """
    confusion = judge.tally.confusion
    (tn, fp), (fn, tp) = confusion.cells
    squares = confusion.squares or confusion.cells
    alerts, quiet = tp + fp, tn + fn
    if not tp + fn:
        return Estimate(math.nan, level=judge.level, undefined="no labelled row is an attack")
    value = tp / (tp + fn)
    sampled = quiet**2 / (squares[0][0] + squares[1][0]) if quiet else 0.0
    raised = alerts**2 / (squares[0][1] + squares[1][1]) if alerts else 0.0
    if not tp or not sampled:
        note = "no interval: it needs labelled alerts that are attacks, and labelled other rows"
        return Estimate(1 - value if missed else value, n=tp + fn, level=judge.level, note=note)
    wilson = Wilson(judge.level)
    p, q = tp / alerts, fn / quiet
    p_low, p_high = (float(end) for end in wilson(p * raised, raised))
    q_low, q_high = (float(end) for end in wilson(q * sampled, sampled))
    ratio_low, ratio_high = _ratio_ends(q, (q_low, q_high), p, (p_low, p_high))
    low, high = (alerts / (alerts + quiet * r) for r in (ratio_high, ratio_low))
    low, high = min(low, value), max(high, value)
    if missed:
        value, low, high = 1 - value, 1 - high, 1 - low
    return Estimate(
        value,
        low,
        high,
        method=HORVITZ_THOMPSON,
        n=(tp + fn) ** 2 / (squares[1][0] + squares[1][1]),
        level=judge.level,
        note=_note(judge),
    )


def _ratio_ends(
    q: float, of_q: tuple[float, float], p: float, of_p: tuple[float, float]
) -> tuple[float, float]:
    """The interval of q / p from those of q and p."""

    def end(q_end: float, p_end: float, sign: int) -> float:
        if p_end >= 2 * p:
            # So few alerts that the interval of p tells nothing from above.
            return 0.0
        inside = (q * p) ** 2 - q_end * p_end * (2 * q - q_end) * (2 * p - p_end)
        return (q * p + sign * math.sqrt(max(inside, 0.0))) / (p_end * (2 * p - p_end))

    return max(end(of_q[0], of_p[1], -1), 0.0), end(of_q[1], of_p[0], 1)
