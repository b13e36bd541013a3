"""Recipes for tables of features: a forest, a network, a tree, and a detector for deployment.

The forest and the network are SafeLink's, the tree is that of the DDoS study: all encode columns,
scale them and balance the classes. The detector is boosted trees, tuned for detection at a
tolerated false alarm rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from assay.learn.boosting import Detector
from assay.learn.encoding import ChiSquare, Columns, Standard
from assay.learn.explained import GINI
from assay.learn.forest import Forest
from assay.learn.network import ANNClassifier
from assay.learn.recipes.recipe import Recipe, Setting, Task
from assay.learn.rules import CRITERIA

DEFAULT_FAR = 0.1


# -- columns encoded and standardised, 100 balanced trees of depth 30 ------------------------------


def _forest(settings: Mapping[str, Any], task: Task) -> Pipeline:
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


FOREST = Recipe(
    name="forest",
    aliases=("safelink-forest",),
    summary="random forest of 100 balanced trees on encoded, standardised columns",
    build=_forest,
    settings={
        "trees": Setting(100, "how many trees there are", least=1),
        "depth": Setting(30, "how deep a tree may grow", least=1, optional=True),
        "min_leaf": Setting(1, "the fewest rows in a leaf", least=1),
        "criterion": Setting(GINI, "what splits lower: gini or entropy", choices=CRITERIA),
        "balanced": Setting(default=True, help="weigh classes as if they were of equal size"),
    },
)


# -- columns encoded and standardised, two hidden layers -------------------------------------------


def _network(settings: Mapping[str, Any], task: Task) -> Pipeline:
    model = ANNClassifier(
        settings["hidden"],
        learning_rate=settings["rate"],
        beta_1=settings["beta_1"],
        beta_2=settings["beta_2"],
        epsilon=settings["epsilon"],
        dropout=settings["dropout"],
        batch_size=settings["batch"],
        epochs=settings["epochs"],
        decay=settings["decay"],
        decay_every=settings["decay_every"],
        class_weight="balanced" if settings["balanced"] else None,
        validation_share=settings["validation_share"],
        patience=settings["patience"],
        random_state=task.seed,
    )
    columns = Columns(one_hot=settings["one_hot"])
    return Pipeline([("columns", columns), ("scale", Standard()), ("model", model)])


NETWORK = Recipe(
    name="network",
    aliases=("safelink-ann",),
    summary="neural network of two hidden layers on encoded, standardised columns",
    build=_network,
    settings={
        "hidden": Setting((64, 32), "the widths of the hidden layers", least=1),
        "epochs": Setting(20, "how often all rows are gone through", least=1),
        "batch": Setting(32, "rows in one step", least=1),
        "rate": Setting(0.001, "the learning rate of the first epochs", least=1e-9, most=1),
        "decay": Setting(0.5, "what the learning rate is multiplied by", least=0.001, most=1),
        "decay_every": Setting(5, "after how many epochs it is, each time", least=1),
        "beta_1": Setting(0.9, "how long Adam remembers gradients", least=0, most=0.9999),
        "beta_2": Setting(0.999, "how long it remembers their squares", least=0, most=0.999999),
        "epsilon": Setting(1e-8, "what keeps it from dividing by 0", least=1e-15, most=1),
        "dropout": Setting(0.3, "the chance that a unit is left out", least=0, most=0.99),
        "balanced": Setting(default=True, help="weigh classes as if they were of equal size"),
        "validation_share": Setting(0.1, "rows held back to stop early", least=0, most=0.9),
        "patience": Setting(5, "epochs without improvement before it stops", least=1),
        "one_hot": Setting(
            0, "texts of at most that many categories become a column a category", least=0
        ),
    },
)


# -- imputed, scaled to [0, 1], the best columns by chi-square, CART -------------------------------


def _tree(settings: Mapping[str, Any], task: Task) -> Pipeline:
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


TREE = Recipe(
    name="tree",
    aliases=("ddos-tree",),
    summary="decision tree of depth 8 on the 20 columns with the largest chi-square",
    build=_tree,
    settings={
        "k": Setting(20, "how many columns chi-square keeps", least=1),
        "depth": Setting(8, "how deep the tree may grow", least=1, optional=True),
        "min_leaf": Setting(1, "the fewest rows in a leaf", least=1),
        "criterion": Setting(GINI, "what splits lower: gini or entropy", choices=CRITERIA),
        "balanced": Setting(default=True, help="weigh classes as if they were of equal size"),
    },
)


# -- boosted trees at a tolerated false alarm rate -------------------------------------------------


def _detector(settings: Mapping[str, Any], task: Task) -> Pipeline:
    model = Detector(
        kind=settings["model"],
        trees=settings["trees"],
        max_far=DEFAULT_FAR if task.max_far is None else task.max_far,
        folds=settings["folds"],
        search_rows=settings["search_rows"],
        balanced=settings["balanced"],
        random_state=task.seed,
    )
    return Pipeline([("columns", Columns(numbers="nan")), ("model", model)])


DETECTOR = Recipe(
    name="detector",
    summary="boosted trees, tuned and calibrated for detection at --max-far (0.1 if not given)",
    build=_detector,
    settings={
        "model": Setting("hist", "whose boosting", choices=("hist", "lightgbm")),
        "trees": Setting(100, "how many rounds of boosting", least=1),
        "folds": Setting(3, "inner folds that choose settings and threshold", least=2),
        "search_rows": Setting(30_000, "rows on which settings are compared", least=100),
        "balanced": Setting(default=False, help="weigh classes as if they were of equal size"),
    },
)
