"""The recipe for texts, of darknet listings: TF-IDF of words and characters before a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.svm import LinearSVC

from assay.learn.calibration import Calibrated
from assay.learn.encoding import Text
from assay.learn.forest import Forest
from assay.learn.recipes.recipe import Recipe, RecipeError, Setting, Task

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
