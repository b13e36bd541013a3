"""SafeLink's neural network: columns encoded and standardised, two hidden layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from assay.learn.encoding import Columns, Standard
from assay.learn.network import ANNClassifier
from assay.learn.recipes.recipe import Recipe, Setting, Task


def _build(settings: Mapping[str, Any], task: Task) -> Pipeline:
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


RECIPE = Recipe(
    name="safelink-ann",
    summary="neural network of two hidden layers on encoded, standardised columns",
    build=_build,
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
