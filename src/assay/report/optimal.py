"""Which of several models is ever optimal: the section of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from assay.decisions.optimal import BestOf, Optimal
from assay.evaluation.words import listed
from assay.report.names import name
from assay.report.numbers import percent
from assay.report.sections import Column, Section, Table, Tier

TITLE = "Which model is ever optimal"
_CAPTION = "Where each model has the cheapest threshold, by the probability cost PC"
_PROBABILITY_COST = (
    "PC is c / (c + d), with c the base rate times the cost of a miss, and d the share of the "
    "other rows times the cost of a false alarm."
)
_NO_INTERVAL = (
    "These are the corners of the joint ROC hull of all thresholds. They have no intervals: what "
    "is cheapest was read off these rows, so a narrow range may be gone on others."
)
# A model that comes and goes has so many of its ranges shown; JSON has all.
_RANGES = 4


def where_optimal(optimal: Optimal | None) -> Iterator[Section]:
    """For which costs each model is the best; nothing for more than two classes."""
    if optimal is None:
        return
    rows = [
        (name(best.model), percent(best.share), _best_at(best), _tied(best))
        for best in optimal.models
    ]
    for strategy, low, high in (
        ("no model: flag nothing", 0.0, optimal.nothing),
        ("no model: flag everything", optimal.everything, 1.0),
    ):
        if high > low:
            rows.append((strategy, percent(high - low), _from_to(low, high), ""))
    tied = any(others for *_, others in rows)
    columns = (
        Column("model"),
        Column("share of PC"),
        Column("best at PC"),
        *((Column("as good there"),) if tied else ()),
    )
    cells = tuple(row if tied else row[:-1] for row in rows)
    table = Table(_CAPTION, columns, cells, (_PROBABILITY_COST, _NO_INTERVAL))
    yield Section(TITLE, (table,), Tier.ADVANCED)


def _best_at(best: BestOf) -> str:
    if best.never:
        return "never"
    if not best.ranges:
        return f"only as good as others, at {listed([f'{pc:.3g}' for pc in best.ties])}"
    shown = [_from_to(part.low, part.high) for part in best.ranges[:_RANGES]]
    left = len(best.ranges) - len(shown)
    return ", ".join(shown) + (f" and {left} more ranges" if left else "")


def _tied(best: BestOf) -> str:
    others = dict.fromkeys(other for part in best.ranges for other in part.tied_with)
    return listed([name(other) for other in others]) if others else ""


def _from_to(low: float, high: float) -> str:
    return f"{low:.3g} to {high:.3g}"
