"""Figures in scikit-learn's convention."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import assay
from assay.errors import InputError, MethodError
from assay.evaluation.scikit_learn import Display

mpl.use("Agg")

GENERATOR = np.random.default_rng(0)
Y = GENERATOR.integers(0, 2, 120)
X = GENERATOR.normal(0, 1, (120, 3)) + 0.8 * Y[:, None]
NAMES = np.where(Y == 1, "attack", "normal")
MODEL = LogisticRegression().fit(X[:60], NAMES[:60])
SCORES = MODEL.predict_proba(X)[:, 0]
DISPLAYS = [getattr(assay, name) for name in assay.__all__ if name.endswith("Display")]


def test_every_display_is_public() -> None:
    assert set(DISPLAYS) == set(Display.__subclasses__())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
def test_estimator_and_predictions_draw_the_same(display) -> None:
    one = display.from_estimator(MODEL, X[60:], NAMES[60:])
    other = display.from_predictions(NAMES[60:], SCORES[60:], name="LogisticRegression")
    assert one.evaluation.to_dict()["estimates"] == other.evaluation.to_dict()["estimates"]
    assert one.figure_ is one.ax_.figure
    assert one._repr_png_() == other._repr_png_()
    assert one._repr_png_().startswith(b"\x89PNG")


def test_second_model_is_drawn_on_the_same_axes() -> None:
    first = assay.RocDisplay.from_estimator(MODEL, X[60:], NAMES[60:])
    detector = IsolationForest(n_estimators=10, random_state=0).fit(X[:60])
    second = assay.RocDisplay.from_estimator(detector, X[60:], NAMES[60:], ax=first.ax_)
    assert second.ax_ is first.ax_
    text = " ".join(entry.get_text() for entry in first.ax_.get_legend().get_texts())
    assert "LogisticRegression" in text
    assert "IsolationForest" in text


@pytest.mark.parametrize(
    "display",
    [display for display in DISPLAYS if display is not assay.ConfusionMatrixDisplay],
    ids=lambda display: display.__name__,
)
def test_second_model_has_its_own_colour_and_name(display) -> None:
    first = display.from_predictions(NAMES, SCORES, name="one")
    display.from_predictions(NAMES, SCORES**2, name="two", ax=first.ax_)
    entries = zip(*first.ax_.get_legend_handles_labels()[:2], strict=True)
    colours = {label[:3]: _colour(handle) for handle, label in entries}
    assert colours["one"] != colours["two"]


def _colour(handle):
    return getattr(handle, "lines", [handle])[0].get_color()


def test_lift_shows_the_fewest_alerts_of_either_model() -> None:
    coarse = SCORES.round(1)
    first = assay.LiftDisplay.from_predictions(NAMES, SCORES, name="fine")
    left = first.ax_.get_xlim()[0]
    assay.LiftDisplay.from_predictions(NAMES, coarse, name="coarse", ax=first.ax_)
    assert first.ax_.get_xscale() == "log"
    assert first.ax_.get_xlim()[0] == left == 1 / len(Y)


def test_axes_of_the_caller_are_drawn_on() -> None:
    figure = Figure()
    ax = figure.subplots()
    display = assay.DetDisplay.from_predictions(NAMES, SCORES, ax=ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert display._repr_png_() is None


def test_a_display_is_drawn_again_under_another_name() -> None:
    display = assay.FarDrDisplay.from_predictions(NAMES, SCORES, name="a")
    before = display.ax_
    again = display.plot(name="b", band=0.9)
    assert again is display
    assert again.ax_ is not before
    assert again.name == "b"


def test_the_positive_has_two_names() -> None:
    signs = np.where(Y == 1, 1, -1)
    for name in ("positive", "pos_label"):
        display = assay.RocDisplay.from_predictions(signs, SCORES, **{name: 1})
        assert display.evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y, SCORES))
    with pytest.raises(InputError, match="two names for one thing"):
        assay.RocDisplay.from_predictions(signs, SCORES, positive=1, pos_label=-1)


def test_decisions_have_a_matrix_and_no_curve() -> None:
    display = assay.ConfusionMatrixDisplay.from_estimator(
        MODEL, X, NAMES, response_method="predict"
    )
    assert display.evaluation.confusion.total == len(Y)
    with pytest.raises(MethodError, match="curves need scores"):
        assay.RocDisplay.from_estimator(MODEL, X, NAMES, response_method="predict")


def test_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="has no option colour; it takes base_rate, band"):
        assay.DecisionCurveDisplay.from_predictions(NAMES, SCORES, colour="red")
