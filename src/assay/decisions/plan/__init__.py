"""How many labelled rows it takes to know what one wants to know."""

from assay.decisions.plan.planning import plan
from assay.decisions.plan.result import Goal, Need, Plan

__all__ = ["Goal", "Need", "Plan", "plan"]
