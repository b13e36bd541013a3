"""The DDoS decision tree: imputed, scaled to [0, 1], the best columns by chi-square, CART."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from assay.learn.encoding import ChiSquare, Columns
from assay.learn.explained import GINI
from assay.learn.recipes.recipe import Recipe, Setting, Task
from assay.learn.rules import CRITERIA


def _build(settings: Mapping[str, Any], task: Task) -> Pipeline:
    model = DecisionTreeClassifier(
        criterion=settings["criterion"],
        max_depth=settings["depth"],
        min_samples_leaf=settings["min_leaf"],
        class_weight="balanced" if settings["balanced"] else None,
        random_state=task.seed,
    )
    return Pipeline(
        [
            ("columns", Columns(texts="most frequent")),
            ("scale", MinMaxScaler(clip=True)),
            ("select", ChiSquare(settings["k"])),
            ("model", model),
        ]
    )


def chosen_columns(pipeline: Pipeline) -> list[tuple[str, float]]:
    """The columns that chi-square chose and their statistics, the largest first; none of others."""
    select = dict(getattr(pipeline, "steps", ())).get("select")
    if not isinstance(select, ChiSquare):
        return []
    names = pipeline.named_steps["columns"].get_feature_names_out()
    found = [(str(names[i]), float(select.scores_[i])) for i in select.chosen_]
    return sorted(found, key=lambda one: -np.nan_to_num(one[1], nan=-1.0))


RECIPE = Recipe(
    name="ddos-tree",
    summary="decision tree of depth 8 on the 20 columns with the largest chi-square",
    build=_build,
    settings={
        "k": Setting(20, "how many columns chi-square keeps", least=1),
        "depth": Setting(8, "how deep the tree may grow", least=1, optional=True),
        "min_leaf": Setting(1, "the fewest rows in a leaf", least=1),
        "criterion": Setting(GINI, "what splits lower: gini or entropy", choices=CRITERIA),
        "balanced": Setting(default=True, help="weigh classes as if they were of equal size"),
    },
)
