"""Learn from labelled tables: recipes, validation, model files, checks for leaks, scenarios.

Names are imported when they are first used: scenarios need no scikit-learn, the rest does.

>>> from assay.learn import data_of, make_arp, train
>>> packets = data_of(make_arp(rows=2000), label="label", drop=["time", "host", "family"])
>>> run = train("tree", packets, validation="kfold:5")
>>> run.evaluation["detection_rate"].value > 0.5, run.over_folds["roc_auc"].value > 0.8
(True, True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.learn.checks import Check, check
    from assay.learn.data import Data, data_of, read_data
    from assay.learn.explanation import impurity, rules_of
    from assay.learn.network import ANNClassifier
    from assay.learn.persistence import Loaded, load_model, model_header, save_model
    from assay.learn.predicting import Predictions, Wanted, predict
    from assay.learn.recipes import RECIPES, Recipe, Setting, Task, find_recipe
    from assay.learn.run import Run
    from assay.learn.scenarios import (
        make_arp,
        make_darknet,
        make_ddos,
        stream_arp,
        stream_darknet,
        stream_ddos,
        write_week,
    )
    from assay.learn.training import train
    from assay.learn.validation import (
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
    "assay.learn.checks": ("Check", "check"),
    "assay.learn.data": ("Data", "data_of", "read_data"),
    "assay.learn.network": ("ANNClassifier",),
    "assay.learn.persistence": ("Loaded", "load_model", "model_header", "save_model"),
    "assay.learn.predicting": ("Predictions", "Wanted", "predict"),
    "assay.learn.recipes": ("RECIPES", "Recipe", "Setting", "Task", "find_recipe"),
    "assay.learn.explanation": ("impurity", "rules_of"),
    "assay.learn.run": ("Run",),
    "assay.learn.scenarios": (
        "make_arp",
        "make_darknet",
        "make_ddos",
        "stream_arp",
        "stream_darknet",
        "stream_ddos",
        "write_week",
    ),
    "assay.learn.training": ("train",),
    "assay.learn.validation": (
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
    raise AttributeError(f"module 'assay.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
