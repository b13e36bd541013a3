"""What errors cost, where it is known what a false alarm and a missed attack do."""

from __future__ import annotations

import math

from assay.formula import FN, FP, TN, TP, Expression
from assay.measures.measure import HIGHER, LOWER, Measure

GROUP = "cost"
ALL = TP + TN + FP + FN


def _expected_cost(false_alarm: Expression, miss: Expression) -> Expression:
    return (false_alarm * FP + miss * FN) / ALL


def _net_benefit(false_alarm: Expression, miss: Expression) -> Expression:
    return (TP - false_alarm / miss * FP) / ALL


EXPECTED_COST = Measure(
    name="expected_cost",
    group=GROUP,
    of_costs=_expected_cost,
    better=LOWER,
    range=(0, math.inf),
    averaged=False,
    reads="What errors cost a row, in the unit of the costs that were given.",
    misleads="It holds for the share of attacks in the test set: quote it at the base rate of "
    "deployment.",
    reference="Elkan 2001",
)

NET_BENEFIT = Measure(
    name="net_benefit",
    group=GROUP,
    of_costs=_net_benefit,
    better=HIGHER,
    range=(-math.inf, 1),
    averaged=False,
    reads="Attacks found a row, less the false alarms at what they cost: how many attacks found "
    "for nothing it is worth. Flagging nothing is 0.",
    misleads="Where no costs are given a threshold of t stands for costs of t to 1 - t, which is "
    "what someone accepts who flags from a probability of t on.",
    reference="Vickers and Elkin 2006",
)

COSTS = (EXPECTED_COST, NET_BENEFIT)
