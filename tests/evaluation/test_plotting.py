"""The figures of an evaluation show what the evaluation says."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay import Evaluation, evaluate, evaluate_counts
from assay.curves import POINTS
from assay.errors import InputError, MethodError
from assay.evaluation.deployment import Unlabelled
from assay.plots.canvas import COLUMN

FOLDER = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[3] / "shared" / "data"))
REAL = FOLDER / "preds_safelink_ann.parquet"


def rows(size: int = 600) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    truth = np.where(random.random(size) < 0.3, "attack", "normal")
    scores = np.clip((truth == "attack") * 0.35 + random.random(size) * 0.65, 0, 1)
    return truth, scores.round(3)


def binary(**options) -> Evaluation:
    truth, scores = rows()
    return evaluate(truth, y_score=scores, **options)


CASES = {
    "plain": binary,
    "weighted": lambda: binary(sample_weight=np.linspace(0.5, 2, 600)),
    "clustered": lambda: binary(clusters=np.arange(600) % 40),
    "counted": lambda: binary(counts=np.arange(600) % 3),
}
CURVES = {
    "roc": ("false_positive_rate", "recall"),
    "precision_recall": ("recall", "precision"),
    "far_dr": ("false_discovery_rate", "recall"),
}
NEW = ["det", "decision", "cost", "gain", "lift", "precision_recall_gain", "hull"]
OF_BOTH = ["precision_recall_gain", "gain", "lift_curve", "hull", "cost"]
SCORED = [
    *("roc", "det", "precision_recall", "far_dr"),
    *(*OF_BOTH, "decision", "thresholds", "scores", "reliability"),
]


@cache
def made(case: str) -> Evaluation:
    return CASES[case]()


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.stem for path in paths]


# -- curves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", CURVES)
def test_a_curve_and_its_operating_point_are_those_of_the_evaluation(case: str, kind: str) -> None:
    evaluation = made(case)
    ax = getattr(evaluation.plot, kind)()
    curve = getattr(evaluation.curves, kind)()
    (line,) = [line for line in ax.lines if line.get_drawstyle().startswith("steps")]
    x, y = CURVES[kind]
    assert np.array_equal(line.get_xydata(), np.column_stack([curve[x], curve[y]]))
    (point,) = ax.containers
    across, upright = (part.get_segments()[0] for part in point.lines[2])
    assert np.allclose(across[:, 0], [evaluation[x].low, evaluation[x].high])
    assert np.allclose(upright[:, 1], [evaluation[y].low, evaluation[y].high])
    assert np.allclose(point.lines[0].get_xydata(), [[evaluation[x], evaluation[y]]])


def test_the_level_of_the_evaluation_is_named() -> None:
    texts = binary(level=0.8).plot.roc().get_legend().get_texts()
    assert "threshold 0.5, 80% intervals" in [text.get_text() for text in texts]


def test_where_decisions_were_given_no_threshold_is_named() -> None:
    truth, scores = rows()
    evaluation = evaluate(truth, y_score=scores, y_pred=np.where(scores > 0.4, "attack", "normal"))
    texts = [text.get_text() for text in evaluation.plot.roc().get_legend().get_texts()]
    assert "decisions, 95% intervals" in texts
    assert not evaluation.plot.measure("mcc").containers
    assert not evaluation.plot.scores().lines


def test_a_band_is_drawn_where_it_is_asked_for() -> None:
    plain, banded = made("plain").plot.roc(), made("plain").plot.roc(band=0.9)
    assert (len(plain.collections), len(banded.collections)) == (2, 3)
    with pytest.raises(MethodError, match="weighted rows has no band"):
        made("weighted").plot.roc(band=0.9)


def test_measures_stand_against_the_threshold_with_their_intervals() -> None:
    evaluation = made("plain")
    ax = evaluation.plot.measure("precision", "dr")
    upright = [container.lines[2][0].get_segments()[0] for container in ax.containers]
    for name, ends in zip(("precision", "recall"), upright, strict=True):
        assert np.allclose(ends[:, 1], [evaluation[name].low, evaluation[name].high])
        assert np.allclose(ends[:, 0], 0.5)


def test_no_measure_is_refused() -> None:
    with pytest.raises(InputError, match=r"plot\.measure\('precision', 'recall'\)"):
        made("plain").plot.measure()


@pytest.mark.parametrize(
    "kind", ["roc", "precision_recall", "far_dr", "scores", "reliability", *NEW]
)
def test_without_scores_there_is_no_figure_of_them(kind: str) -> None:
    with pytest.raises(MethodError, match="need"):
        getattr(evaluate_counts(tp=5, fp=1, fn=2, tn=9).plot, kind)()


def test_many_rows_make_no_more_points() -> None:
    random = np.random.default_rng(1)
    truth = (random.random(1_000_000) < 0.05).astype(np.uint8)
    evaluation = evaluate(truth, y_score=random.normal(truth * 2.0, 1.0), threshold=1.0)
    for kind in CURVES:
        ax = getattr(evaluation.plot, kind)()
        assert max(len(line.get_xdata()) for line in ax.lines) <= POINTS


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", NEW)
def test_every_curve_is_drawn_of_every_kind_of_rows(case: str, kind: str) -> None:
    ax = getattr(made(case).plot, kind)(name="$mine")
    assert any("mine" in text.get_text() for text in ax.get_legend().get_texts())
    if case in ("plain", "counted") and kind != "hull":
        before = len(getattr(made(case).plot, kind)().collections)
        assert len(getattr(made(case).plot, kind)(band=0.9).collections) == before + 1


def test_the_decision_curve_and_its_point_are_those_of_the_evaluation() -> None:
    evaluation = made("plain")
    ax = evaluation.plot.decision(band=0.95)
    curve = evaluation.curves.decision(band=0.95)
    (line,) = [line for line in ax.lines if line.get_gid() == "curve"]
    assert np.array_equal(
        line.get_xydata(), np.column_stack([curve["threshold"], curve["net_benefit"]])
    )
    here = curve["threshold"].tolist().index(0.5)
    (point,) = ax.containers
    ends = point.lines[2][0].get_segments()[0][:, 1]
    assert np.allclose(ends, [curve["low"][here], curve["high"][here]])
    deployed = evaluation.plot.decision(base_rate=0.01)
    assert deployed.get_ylabel() == "Net benefit, at a base rate of 0.01"


def test_the_cost_curve_says_that_it_is_optimistic() -> None:
    evaluation = made("plain")
    ax = evaluation.plot.cost()
    curve = evaluation.curves.cost()
    (line,) = [line for line in ax.lines if line.get_gid() == "curve"]
    assert np.array_equal(line.get_ydata(), curve["normalised_cost"])
    (used,) = [line for line in ax.lines if line.get_label() == "threshold in use"]
    assert np.array_equal(used.get_ydata(), curve["in_use"])
    assert "on others the" in ax.get_xlabel()


def test_the_operating_point_lies_on_the_det_curve() -> None:
    evaluation = made("plain")
    ax = evaluation.plot.det()
    (line,) = [line for line in ax.lines if line.get_drawstyle().startswith("steps")]
    (point,) = ax.containers
    place = point.lines[0].get_xydata()[0]
    assert np.min(np.abs(line.get_xydata() - place).sum(axis=1)) < 1e-9
    assert "points with a rate of 0 or 1 stand at half a row" in ax.get_xlabel()


# -- slices and classes ----------------------------------------------------------------------------


def test_slices_are_the_estimates_of_the_evaluation() -> None:
    evaluation = binary(slices={"os": np.array(["win", "mac", "bsd"])[np.arange(600) % 3]})
    ax = evaluation.plot.slices("os", "fpr")
    false_positive_rates = [
        evaluation.of_slice("os", name)["fpr"] for name in ("win", "mac", "bsd")
    ]
    ends = sorted([e.low, e.high] for e in false_positive_rates)
    bars = [segment[:, 0].tolist() for segment in ax.containers[0].lines[2][0].get_segments()]
    assert np.allclose(sorted(bars), ends)
    assert ax.get_xlabel().startswith("False positive rate")
    assert ax.get_legend().get_texts()[0].get_text() == f"all rows {evaluation['fpr']}"


def test_slices_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="no slices by 'os'"):
        made("plain").plot.slices("os")


def test_days_stay_in_order() -> None:
    truth, scores = rows()
    days = np.array([f"2024-01-0{1 + i % 4}" for i in range(600)])
    ax = evaluate(truth, y_score=scores, times=days).plot.slices("time")
    shown = [label.get_text()[:10] for label in ax.get_yticklabels()]
    assert shown == ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]


def many(size: int = 5) -> Evaluation:
    random = np.random.default_rng(2)
    truth = random.integers(0, size, 900)
    decided = np.where(random.random(900) < 0.8, truth, random.integers(0, size, 900))
    labels = np.array([f"kind {i}" for i in range(size)])
    return evaluate(
        labels[truth], y_pred=labels[decided], slices={"half": truth * 0 + [0, 1] * 450}
    )


def test_classes_are_compared_by_a_measure() -> None:
    evaluation = many()
    ax = evaluation.plot.classes("precision")
    values = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert values == sorted(float(evaluation[f"precision.kind {i}"]) for i in range(5))


def test_a_measure_of_all_classes_at_once_is_refused_for_each() -> None:
    evaluation = evaluate_counts(matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]])
    with pytest.raises(InputError, match="all classes at once"):
        evaluation.plot.classes("mcc")


def test_slices_of_many_classes_show_the_accuracy() -> None:
    assert many().plot.slices("half").get_xlabel().startswith("Accuracy")


# -- when only alerts were labelled ----------------------------------------------------------------


def test_what_needs_every_row_is_not_drawn_where_only_alerts_were_labelled(tmp_path: Path) -> None:
    truth, scores = rows()
    tally = evaluate(truth, y_score=scores, slices={"os": ["win", "mac"] * 300}).tally
    evaluation = Evaluation(tally, unlabelled=Unlabelled(0, 5000))
    for kind in ("roc", "precision_recall", "far_dr", "scores", "reliability", "confusion"):
        with pytest.raises(MethodError, match="were not labelled"):
            getattr(evaluation.plot, kind)()
    assert names(evaluation.plot.save(tmp_path, ("svg",))) == ["slices-os-precision"]


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blank_pages")
def test_all_figures_that_apply_are_saved(tmp_path: Path) -> None:
    evaluation = binary(
        slices={"family": np.arange(600) % 4, "../Net work": np.arange(600) % 2}, family="family"
    )
    paths = evaluation.plot.save(tmp_path, ("svg",))
    assert names(paths) == [
        *SCORED,
        "confusion",
        "slices-net_work-recall",
        "slices-net_work-false_positive_rate",
        "slices-family-recall",
    ]
    assert {path.parent for path in paths} == {tmp_path}


@pytest.mark.usefixtures("blank_pages")
def test_a_lone_dot_is_not_saved(tmp_path: Path) -> None:
    truth, _ = rows()
    kind = np.where(truth == "attack", np.array(["dos", "scan"])[np.arange(600) % 2], "normal")
    paths = binary(slices={"kind": kind}).plot.save(tmp_path, ("svg",))
    assert [name for name in names(paths) if "kind" in name] == ["slices-kind-recall"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("evaluation", "expected"),
    [
        (lambda: evaluate_counts(tp=5, fp=1, fn=2, tn=9), ["confusion"]),
        (lambda: evaluate_counts(tp=0, fp=0, fn=0, tn=0), ["confusion"]),
        (many, ["confusion", "classes", "slices-half-accuracy"]),
        (
            lambda: evaluate([0, 1, 0, 1], y_score=[-3, 5, 1, 8], threshold=2),
            [name for name in SCORED if name not in ("decision", "reliability")] + ["confusion"],
        ),
        (
            lambda: evaluate([0, 1, 0, 1], y_score=[-3, 5, 1, 8]),
            [name for name in SCORED if name not in ("decision", "reliability")],
        ),
        (lambda: evaluate([0, 1, 0, 1], y_score=[0.5] * 4), [*SCORED, "confusion"]),
        (
            lambda: evaluate([1, 1, 1], y_score=[0.1, 0.5, 0.9], labels=[0, 1]),
            ["precision_recall", "far_dr", "thresholds", "scores", "reliability", "confusion"],
        ),
        (
            lambda: evaluate([0, 0], y_score=[0.1, 0.9], labels=[0, 1]),
            ["scores", "reliability", "confusion"],
        ),
    ],
    ids=[
        *("counts", "no rows", "classes", "scores", "undecided", "one score"),
        *("only positives", "only negatives"),
    ],
)
@pytest.mark.usefixtures("blank_pages")
def test_figures_that_do_not_apply_are_not_saved(evaluation, expected, tmp_path: Path) -> None:
    assert names(evaluation().plot.save(tmp_path, ("svg",))) == expected


@pytest.mark.usefixtures("blank_pages")
def test_columns_of_like_names_have_files_of_their_own(tmp_path: Path) -> None:
    halves = [0, 1] * 300
    evaluation = binary(slices={"a b": halves, "A/B": halves, "日本": halves, "x" * 9999: halves})
    files = [name for name in names(evaluation.plot.save(tmp_path, ("svg",))) if "slices" in name]
    recalls = {name for name in files if name.endswith("-recall")}
    assert recalls == {
        "slices-a_b-recall",
        "slices-a_b_2-recall",
        "slices-column-recall",
        f"slices-{'x' * 40}-recall",
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", ["weighted", "clustered"])
def test_saved_figures_have_equal_bytes_and_a_column_of_width(case: str, tmp_path: Path) -> None:
    first = made(case).plot.save(tmp_path / "first", ("svg",))
    second = CASES[case]().plot.save(tmp_path / "second", ("svg",))
    assert len(first) > 10
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert f'width="{72 * COLUMN:g}pt"' in one.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(
    not REAL.exists(), reason=f"the real data are absent: {REAL.name} is not in $ASSAY_DATA"
)
def test_a_real_network_is_drawn(tmp_path: Path) -> None:
    table = pl.read_parquet(REAL)
    slices = {"split": table["split"]}
    evaluation = evaluate(table["y_true"], y_score=table["prob"], slices=slices)
    paths = evaluation.plot.save(tmp_path)
    sliced = ["slices-split-recall", "slices-split-false_positive_rate"]
    assert names(paths[::2]) == [*SCORED, "confusion", *sliced]
    assert all(1000 < path.stat().st_size < 300_000 for path in paths)
