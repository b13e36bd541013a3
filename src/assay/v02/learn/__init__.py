"""Learn from labelled tables: recipes, validation, model files, checks for leaks, scenarios.

Names are imported when they are first used: scenarios need no scikit-learn, the rest does.

>>> from assay.v02.learn import data_of, make_arp, train
>>> packets = data_of(make_arp(rows=2000), label="label", drop=["time", "host", "family"])
>>> run = train("tree", packets, validation="kfold:5")
>>> run.evaluation["detection_rate"].value > 0.5, run.over_folds["roc_auc"].value > 0.8
(True, True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.v02.learn.checks import Check, check
    from assay.v02.learn.data import Data, data_of, read_data
    from assay.v02.learn.explanation import impurity, rules_of
    from assay.v02.learn.network import ANNClassifier
    from assay.v02.learn.persistence import Loaded, load_model, model_header, save_model
    from assay.v02.learn.predicting import Predictions, Wanted, predict
    from assay.v02.learn.recipes import RECIPES, Recipe, Setting, Task, find_recipe
    from assay.v02.learn.run import Run
    from assay.v02.learn.scenarios import (
        make_arp,
        make_darknet,
        make_ddos,
        stream_arp,
        stream_darknet,
        stream_ddos,
        write_week,
    )
    from assay.v02.learn.training import train
    from assay.v02.learn.validation import (
        Folds,
        GivenFolds,
        GroupFolds,
        Holdout,
        LeaveOneOut,
        Official,
        Scheme,
        Since,
        Sliding,
        Splitter,
        parse_scheme,
    )

__all__ = [
    "RECIPES",
    "ANNClassifier",
    "Check",
    "Data",
    "Folds",
    "GivenFolds",
    "GroupFolds",
    "Holdout",
    "LeaveOneOut",
    "Loaded",
    "Official",
    "Predictions",
    "Recipe",
    "Run",
    "Scheme",
    "Setting",
    "Since",
    "Sliding",
    "Splitter",
    "Task",
    "Wanted",
    "check",
    "data_of",
    "find_recipe",
    "impurity",
    "load_model",
    "make_arp",
    "make_darknet",
    "make_ddos",
    "model_header",
    "parse_scheme",
    "predict",
    "read_data",
    "rules_of",
    "save_model",
    "stream_arp",
    "stream_darknet",
    "stream_ddos",
    "train",
    "write_week",
]

_HOMES = {
    "assay.v02.learn.checks": ("Check", "check"),
    "assay.v02.learn.data": ("Data", "data_of", "read_data"),
    "assay.v02.learn.network": ("ANNClassifier",),
    "assay.v02.learn.persistence": ("Loaded", "load_model", "model_header", "save_model"),
    "assay.v02.learn.predicting": ("Predictions", "Wanted", "predict"),
    "assay.v02.learn.recipes": ("RECIPES", "Recipe", "Setting", "Task", "find_recipe"),
    "assay.v02.learn.explanation": ("impurity", "rules_of"),
    "assay.v02.learn.run": ("Run",),
    "assay.v02.learn.scenarios": (
        "make_arp",
        "make_darknet",
        "make_ddos",
        "stream_arp",
        "stream_darknet",
        "stream_ddos",
        "write_week",
    ),
    "assay.v02.learn.training": ("train",),
    "assay.v02.learn.validation": (
        "Folds",
        "GivenFolds",
        "GroupFolds",
        "Holdout",
        "LeaveOneOut",
        "Official",
        "Scheme",
        "Since",
        "Sliding",
        "Splitter",
        "parse_scheme",
    ),
}


def __getattr__(name: str) -> Any:
    """A public name of the package, from the module that it lives in."""
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'assay.v02.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
