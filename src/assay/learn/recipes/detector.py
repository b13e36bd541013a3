"""A detector for deployment: boosted trees, tuned for detection at a tolerated false alarm rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from assay.learn.boosting import Detector
from assay.learn.encoding import Columns
from assay.learn.recipes.recipe import Recipe, Setting, Task

DEFAULT_FAR = 0.1


def _build(settings: Mapping[str, Any], task: Task) -> Pipeline:
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


RECIPE = Recipe(
    name="detector",
    summary="boosted trees, tuned and calibrated for detection at --max-far (0.1 if not given)",
    build=_build,
    settings={
        "model": Setting("hist", "whose boosting", choices=("hist", "lightgbm")),
        "trees": Setting(100, "how many rounds of boosting", least=1),
        "folds": Setting(3, "inner folds that choose settings and threshold", least=2),
        "search_rows": Setting(30_000, "rows on which settings are compared", least=100),
        "balanced": Setting(default=False, help="weigh classes as if they were of equal size"),
    },
)
