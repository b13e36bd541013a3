"""The figures of a comparison."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure

from assay import Comparison, compare, compare_folds, compare_models
from assay.decisions.plotting import ComparisonPlots
from assay.errors import InputError, MethodError, UnknownMeasure
from assay.report import Document, document_of


@cache
def compared(*models: str) -> Comparison:
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 400)
    scores = {name: np.clip(truth * 0.4 + random.random(400) * 0.6, 0, 1) for name in models}
    return compare(truth, scores=scores, resamples=100)


def names(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_are_the_intervals_of_the_differences() -> None:
    comparison = compared("old", "new")
    ax = ComparisonPlots(comparison).forest(measures=["auc", "far", "mcc"])
    differences = [comparison.difference(name).difference for name in ("auc", "far", "mcc")]
    bars = ax.containers[0].lines[2][0].get_segments()
    ends = [[(e.low, i), (e.high, i)] for i, e in enumerate(differences)]
    assert np.allclose(bars, ends)
    assert names(ax) == ["ROC AUC", "False alarm rate ↓", "MCC"]
    assert ax.get_xlabel() == "new less old\n95% intervals; ↓ less is better"


def test_the_main_measures_are_shown_by_default() -> None:
    shown = names(ComparisonPlots(compared("old", "new")).forest())
    assert shown[:3] == ["ROC AUC", "Partial ROC AUC (FPR up to 0.1)", "Average precision"]
    assert "Log loss" not in shown


def test_of_three_models_every_pair_is_named() -> None:
    ax = ComparisonPlots(compared("a", "b", "$c")).forest(measures=["accuracy"])
    assert names(ax) == [
        "Accuracy: b less a",
        r"Accuracy: \$c less a",
        r"Accuracy: \$c less b",
    ]
    assert ax.get_xlabel() == "Difference\n95% intervals"


def test_classes_are_compared_by_their_averages() -> None:
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, 90)
    said = {name: np.where(random.random(90) < 0.7, truth, 0) for name in ("old", "new")}
    shown = names(ComparisonPlots(compare(truth, decisions=said, resamples=50)).forest())
    assert {"Accuracy", "F1 (macro)", "Cohen's kappa"} <= set(shown)


def test_given_axes_are_drawn_on() -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert ComparisonPlots(compared("old", "new")).forest(ax) is ax


def test_a_measure_that_is_not_there_is_refused() -> None:
    plots = ComparisonPlots(compared("old", "new"))
    with pytest.raises(UnknownMeasure):
        plots.forest(measures=["nonsense"])
    with pytest.raises(MethodError, match="nothing to draw"):
        plots.forest(measures=["expected_calibration_error"])


def test_rule_is_named_under_the_axis() -> None:
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 200)
    scores = {name: truth + random.normal(size=200) for name in ("old", "new")}
    comparison = compare(truth, scores=scores, at="max-far=0.2", resamples=20)
    assert comparison.plot.forest().get_xlabel().startswith("new less old, at max-far=0.2\n")


def test_folds_are_drawn_with_measures_of_any_name() -> None:
    folds = {
        "model": ["a"] * 4 + ["b"] * 4,
        "repeat": [1] * 8,
        "fold": [1, 2, 3, 4] * 2,
        "n_train": [30] * 8,
        "n_test": [10] * 8,
    }
    values = [0.5, 0.6, 0.55, 0.52, 0.7, 0.75, 0.8, 0.71]
    assert names(compare_folds({**folds, "my_own": values}).plot.forest()) == ["my_own"]
    both = compare_folds({**folds, "my_own": values, "detection_rate": values})
    assert names(both.plot.forest()) == ["Detection rate"]
    assert names(both.plot.forest(measures=["my_own"])) == ["my_own"]


def test_hulls_of_all_models_and_where_each_is_the_best() -> None:
    comparison = compared("old", "new", "_odd")
    ax = comparison.plot.hulls()
    drawn = ax.lines[1:]
    for line, (name, hull) in zip(drawn, comparison.optimal.hulls.items(), strict=True):
        assert np.array_equal(line.get_xdata(), hull["false_positive_rate"])
        share = comparison.optimal[name].share
        said = f"best on {100 * share:.3g}% of PC" if share else "never the best"
        assert line.get_label().lstrip("\u200b") == f"{name}: {said}"


@pytest.mark.usefixtures("blank_pages")
def test_hulls_need_two_classes_and_are_saved_where_there_are_scores(tmp_path) -> None:
    files = [path.stem for path in compared("old", "new").plot.save(tmp_path, ("svg",))]
    curves = ["roc", "det", "precision_recall", "far_dr", "decision", "reliability"]
    assert files == ["forest", "hulls", *curves]
    truth = np.arange(30) % 2
    said = {"old": truth, "new": 1 - truth}
    decided = compare(truth, decisions=said, resamples=50)
    assert [path.stem for path in decided.plot.save(tmp_path, ("svg",))] == ["forest"]
    three = compare(np.arange(30) % 3, decisions={n: np.arange(30) % 3 for n in "ab"}, resamples=20)
    with pytest.raises(MethodError, match="two classes"):
        three.plot.hulls()


# -- curves of all models --------------------------------------------------------------------------

CURVES = ("roc", "precision_recall", "far_dr", "det", "gain", "reliability", "decision", "cost")


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("models", [("old", "new"), ("a", "b", "c", "_d", "$e$")])
def test_every_model_has_one_entry_of_the_legend(curve: str, models: tuple[str, ...]) -> None:
    ax = getattr(compared(*models).plot, curve)()
    shown = [text.replace("\u200b", "") for text in legend(ax)]
    references = ["flag all", "flag nothing"] if curve in ("decision", "cost") else []
    names = [text.partition(":")[0].replace("\\", "") for text in shown]
    assert names == [*models, *references]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.draw_without_rendering()


def test_the_curve_of_each_model_is_that_of_its_own_evaluation() -> None:
    comparison = compared("old", "new")
    ax = comparison.plot.roc()
    drawn = [line for line in ax.lines if line.get_drawstyle().startswith("steps")]
    for line, model in zip(drawn, comparison.models, strict=True):
        curve = comparison.evaluation(model).curves.roc()
        assert np.array_equal(line.get_ydata(), curve["recall"])
        auc = comparison.evaluation(model)["roc_auc"]
        assert f"{model}: AUC {auc}" in legend(ax)


def test_models_differ_in_colour_or_style_and_marks_have_the_colour_of_their_curve() -> None:
    names = tuple(f"model{i}" for i in range(8))
    ax = compared(*names).plot.roc()
    drawn = [line for line in ax.lines if line.get_drawstyle().startswith("steps")]
    looks = {(line.get_color(), line.get_linestyle()) for line in drawn}
    assert len(looks) == len(names)
    marks = [container.lines[0] for container in ax.containers]
    assert [mark.get_color() for mark in marks] == [line.get_color() for line in drawn]


def test_the_legend_of_many_models_covers_no_axes() -> None:
    ax = compared("a", "b", "c", "d", "e").plot.roc()
    ax.figure.draw_without_rendering()
    box, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert box.y1 <= axes.y0
    assert box.x0 >= 0
    assert box.x1 <= ax.figure.bbox.x1


def test_curves_are_drawn_on_given_axes() -> None:
    given = Figure().add_subplot()
    assert compared("a", "b", "c", "d", "e").plot.pr(given) is given
    assert len(legend(given)) == 5


def test_a_comparison_without_counts_has_no_curves() -> None:
    again = Document.from_json(document_of(compared("old", "new")).to_json()).result
    with pytest.raises(MethodError, match=r"of folds, or was read from a document"):
        again.plot.roc()
    with pytest.raises(InputError, match=r"there is no model 'other'; there are \['old', 'new'\]"):
        compared("old", "new").evaluation("other")


def test_a_comparison_of_decisions_has_no_curves() -> None:
    truth = np.arange(40) % 2
    decided = compare(truth, decisions={"old": truth, "new": 1 - truth}, resamples=20)
    with pytest.raises(MethodError, match="this comparison is of decisions"):
        decided.plot.det()


def test_models_compared_by_folds_have_the_curves_of_what_was_said_out_of_fold() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    random = np.random.default_rng(2)
    truth = np.arange(200) % 2
    rows = truth[:, None] + random.normal(size=(200, 3))
    models = {"weak": linear.LogisticRegression(C=1e-4), "strong": linear.LogisticRegression()}
    comparison = compare_models(models, rows, truth, cv=3)
    assert len(legend(comparison.plot.roc())) == 2
    assert comparison.evaluation("weak").confusion.total == 200


def test_a_namespace_names_its_figures() -> None:
    assert "far_dr" in repr(compared("old", "new").plot)
    assert "save" in repr(compared("old", "new").plot)
