"""Detectors as recipes: scikit-learn pipelines made from settings; needs the extra ``learn``.

The forest and the network are SafeLink's, the tree is that of the DDoS study: all encode columns,
scale them and balance the classes. The detector is boosted trees, tuned for detection at a
tolerated false alarm rate. The text recipe is that of darknet listings.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from assay.errors import deprecated
from assay.v02.learn.calibration import Calibrated
from assay.v02.learn.encoding import ChiSquare, ColumnEncoder, Standard, Text
from assay.v02.learn.ensembles import Detector, Forest
from assay.v02.learn.explanation import CRITERIA
from assay.v02.learn.network import ANNClassifier
from assay.v02.learn.recipe import Recipe, RecipeError, Setting, Task, own_recipe
from assay.v02.learn.record import GINI

__all__ = ["RECIPES", "Recipe", "RecipeError", "Setting", "Task", "find_recipe"]

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
    return Pipeline([("columns", ColumnEncoder()), ("scale", Standard()), ("model", model)])


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
    columns = ColumnEncoder(one_hot=settings["one_hot"])
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
            ("columns", ColumnEncoder(texts="most frequent")),
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
    columns = [(str(names[i]), float(select.scores_[i])) for i in select.chosen_]
    return sorted(columns, key=lambda one: -np.nan_to_num(one[1], nan=-1.0))


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
    return Pipeline([("columns", ColumnEncoder(numbers="nan")), ("model", model)])


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


# Close enough for text, where the last digits of a weight decide nothing.
_TOLERANCE = 1e-3
_STEPS = 1000


def _model(settings: Mapping[str, Any], seed: int) -> Any:
    balanced = "balanced" if settings["balanced"] else None
    kind = settings["model"]
    if kind == "svm":
        svm = LinearSVC(
            C=settings["c"] / 10,
            class_weight=balanced,
            tol=10 * _TOLERANCE,
            max_iter=_STEPS,
            random_state=seed,
        )
        return Calibrated(svm, random_state=seed)
    if kind == "bayes":
        return MultinomialNB(alpha=settings["alpha"], fit_prior=not settings["balanced"])
    if kind == "forest":
        return Forest(settings["trees"], class_weight=balanced, random_state=seed)
    return LogisticRegression(
        C=settings["c"], class_weight=balanced, tol=_TOLERANCE, max_iter=_STEPS
    )


def _build(settings: Mapping[str, Any], task: Task) -> Pipeline:
    parts: list[tuple[str, Any]] = []
    if settings["words"]:
        words = TfidfVectorizer(ngram_range=(1, settings["words"]), sublinear_tf=True)
        parts.append(("words", words))
    if settings["characters"]:
        characters = TfidfVectorizer(
            analyzer="char_wb",
            ngram_range=(min(2, settings["characters"]), settings["characters"]),
            max_features=settings["most_characters"],
            sublinear_tf=True,
        )
        parts.append(("characters", characters))
    if not parts:
        raise RecipeError("words and characters are both 0, so there is nothing to learn from")
    return Pipeline(
        [
            ("text", Text(task.text)),
            ("terms", FeatureUnion(parts)),
            ("model", _model(settings, task.seed)),
        ]
    )


TEXT = Recipe(
    name="text",
    aliases=("darknet-text",),
    summary="TF-IDF of words and characters with a linear model, naive Bayes or a forest",
    build=_build,
    settings={
        "model": Setting("logistic", "what learns", choices=("logistic", "svm", "bayes", "forest")),
        "words": Setting(
            2, "the longest run of words that is a term; 0: no words", least=0, most=5
        ),
        "characters": Setting(
            4, "the longest run of characters that is a term; 0: none", least=0, most=8
        ),
        "most_characters": Setting(
            50_000,
            "how many runs of characters are kept, the most frequent",
            least=1,
            optional=True,
        ),
        "balanced": Setting(default=True, help="weigh classes as if they were of equal size"),
        "c": Setting(10.0, "how freely logistic and svm fit the rows", least=1e-6),
        "alpha": Setting(0.005, "the smoothing of bayes", least=1e-10),
        "trees": Setting(100, "the trees of the forest", least=1),
    },
    needs_text=True,
)

RECIPES: tuple[Recipe, ...] = (FOREST, NETWORK, TREE, TEXT, DETECTOR)


def find_recipe(name: str) -> Recipe:
    """The recipe of that name or alias, or one of your own, written package.module:factory."""
    for recipe in RECIPES:
        if name in recipe.aliases:
            deprecated(f"the recipe name {name!r}", repr(recipe.name), until="0.4")
        if name in (recipe.name, *recipe.aliases):
            return recipe
    if ":" in name:
        return own_recipe(name)
    names = [recipe.name for recipe in RECIPES]
    known = {known: each.name for each in RECIPES for known in (each.name, *each.aliases)}
    close = difflib.get_close_matches(name.casefold().replace("_", "-"), known, n=2, cutoff=0.5)
    near = dict.fromkeys(known[match] for match in close)
    advice = f"; did you mean {' or '.join(near)}?" if near else "."
    raise RecipeError(
        f"there is no recipe {name!r}{advice} Recipes are {', '.join(names)}, or your own as "
        f"package.module:factory"
    )
