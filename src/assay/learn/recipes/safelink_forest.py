"""SafeLink's random forest: columns encoded and standardised, 100 balanced trees of depth 30."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from assay.learn.encoding import Columns, Standard
from assay.learn.explained import GINI
from assay.learn.forest import Forest
from assay.learn.recipes.recipe import Recipe, Setting, Task
from assay.learn.rules import CRITERIA


def _build(settings: Mapping[str, Any], task: Task) -> Pipeline:
    model = Forest(
        settings["trees"],
        criterion=settings["criterion"],
        max_depth=settings["depth"],
        min_samples_leaf=settings["min_leaf"],
        max_features="sqrt",
        class_weight="balanced" if settings["balanced"] else None,
        random_state=task.seed,
    )
    return Pipeline([("columns", Columns()), ("scale", Standard()), ("model", model)])


RECIPE = Recipe(
    name="safelink-forest",
    summary="random forest of 100 balanced trees on encoded, standardised columns",
    build=_build,
    settings={
        "trees": Setting(100, "how many trees there are", least=1),
        "depth": Setting(30, "how deep a tree may grow", least=1, optional=True),
        "min_leaf": Setting(1, "the fewest rows in a leaf", least=1),
        "criterion": Setting(GINI, "what splits lower: gini or entropy", choices=CRITERIA),
        "balanced": Setting(default=True, help="weigh classes as if they were of equal size"),
    },
)
