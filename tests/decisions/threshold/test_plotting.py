"""The figures of a choice show the points where they were computed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.decisions.threshold import Choice, choose_threshold
from assay.decisions.threshold.sweep import ThresholdSweep, tallies_of, thinned
from assay.errors import MethodError
from assay.sources import code_arrays


def choice(size: int = 3000, **asked: float) -> Choice:
    random = np.random.default_rng(4)
    truth = (np.arange(size) % 5 == 0).astype(int)
    return choose_threshold(truth, y_score=random.normal(2 * truth, 1.0), resamples=20, **asked)


def marked(ax: object) -> dict[str, tuple[float, float]]:
    """Where each point stands, by its name in the legend."""
    handles, names = ax.get_legend_handles_labels()
    places = {}
    for handle, name in zip(handles, names, strict=True):
        if hasattr(handle, "lines"):  # a point with its intervals
            (x,), (y,) = handle.lines[0].get_data()
            places[name] = (x, y)
    return places


def test_both_points_stand_at_their_rates() -> None:
    threshold_choice = choice(max_fpr=0.05)
    for point in (threshold_choice.guaranteed, threshold_choice.empirical):
        expected = point["false_positive_rate"].value, point["recall"].value
        assert marked(threshold_choice.plot.roc())[point.name] == pytest.approx(expected)


def test_points_lie_on_the_curve_however_many_scores_there_are() -> None:
    for size in (1000, 9000):
        threshold_choice = choice(size, max_fpr=0.05)
        ax = threshold_choice.plot.roc()
        curve = set(zip(*(column.tolist() for column in ax.lines[0].get_data()), strict=True))
        assert set(marked(ax).values()) <= curve
        assert len(curve) <= 2100


def test_half_of_the_points_of_a_long_curve_are_spread_evenly() -> None:
    last = 2500
    scores = np.arange(last, -1, -1)
    coded = code_arrays(scores % 2, y_score=scores)
    swept = ThresholdSweep.of(tallies_of(coded, {"positive": 1, "negative": None, "labels": None}))
    even = {float(scores[i * last // 999]) for i in range(1000)}
    assert even <= set(thinned(swept, []).threshold.tolist())


def test_the_false_alarm_rate_is_that_of_the_base_rate() -> None:
    threshold_choice = choice(max_far=0.5, base_rate=0.01)
    ax = threshold_choice.plot.far_dr()
    x, y = marked(ax)["empirical"]
    assert x == pytest.approx(threshold_choice.empirical["false_discovery_rate"].value)
    curve = np.stack(ax.lines[0].get_data(), axis=1)
    assert np.abs(curve - (x, y)).max(axis=1).min() < 1e-9


def test_limits_are_drawn() -> None:
    ax = choice(max_fpr=0.05, min_dr=0.3).plot.roc()
    lines = [line.get_data() for line in ax.lines if line.get_linestyle() != "-"]
    assert any(list(x) == [0.05, 0.05] for x, _ in lines)
    assert any(list(y) == [0.3, 0.3] for _, y in lines)
    assert "limit" in ax.get_legend_handles_labels()[1]


def test_candidates_are_drawn_where_nothing_was_asked() -> None:
    assert set(marked(choice().plot.roc())) == {"Youden", "best F1", "best MCC", "equal error"}


def test_no_false_alarm_has_its_place_on_the_logarithmic_axis() -> None:
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1], [500, 100])
    threshold_choice = choose_threshold(
        truth, y_score=truth + random.random(600) * 0.9, max_fpr=0.005, resamples=10
    )
    ax = threshold_choice.plot.roc()
    assert marked(ax)["guaranteed"] == (0.0, 1.0)
    assert ax.get_xlim()[0] == 0


def test_figures_are_saved(tmp_path: Path) -> None:
    paths = choice(max_fpr=0.05).plot.save(tmp_path, formats=("svg",))
    assert [path.name for path in paths] == ["roc.svg", "far_dr.svg"]


def test_without_a_curve_nothing_is_drawn() -> None:
    with pytest.raises(MethodError, match="holds no curve"):
        replace(choice(max_fpr=0.05), sweep=None).plot.roc()
