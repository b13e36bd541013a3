"""Trends: where the test set changed, and whether a measure really moved."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from assay.store import Store, TrendPoint
from assay.store.comparing import Unpaired
from assay.store.reports import UNPAIRED, trend_of

from . import documents


def points(*given: tuple[float, str | None]) -> list[TrendPoint]:
    return [
        TrendPoint(
            f"{i:02}", "2026-11-16T00:00:00Z", value, value - 0.02, value + 0.02, 500, 0.95, rows
        )
        for i, (value, rows) in enumerate(given)
    ]


def test_points_on_another_test_set_begin_another_segment() -> None:
    trend = trend_of("flows", "recall", points((0.8, "a"), (0.8, "a"), (0.7, "b"), (0.7, "a")))
    assert [point.segment for point in trend.points] == [0, 0, 1, 2]
    assert [step.joined for step in trend.steps] == [True, False, False]
    assert trend.whole is None  # of the newest test set there is one run
    assert (
        "The test set changed 2 times; points before and after are not joined." in trend.sentences
    )


def test_a_test_set_that_is_not_known_joins_nothing() -> None:
    trend = trend_of("flows", "recall", points((0.8, None), (0.8, None), (0.8, "a"), (0.8, "a")))
    assert [point.segment for point in trend.points] == [0, 1, 2, 2]
    assert any("Which rows 2 of the runs judged is not known" in said for said in trend.sentences)


def test_a_change_is_told_from_chance() -> None:
    moved = trend_of("flows", "recall", points((0.8, "a"), (0.81, "a"), (0.9, "a")))
    assert moved.whole is not None
    assert moved.whole.p < 0.001
    assert any(said.startswith("It changed by +0.100 [+0.072, +0.128]") for said in moved.sentences)
    assert UNPAIRED in moved.sentences
    still = trend_of("flows", "recall", points((0.8, "a"), (0.81, "a")))
    assert any(said.startswith("No change can be told from chance") for said in still.sentences)


def test_steps_are_adjusted_for_how_many_there_are() -> None:
    trend = trend_of("flows", "recall", points(*((0.8, "a"),) * 20, (0.835, "a")))
    last = trend.steps[-1]
    assert last.p < 0.05
    assert last.p_adjusted == pytest.approx(20 * last.p)


def test_levels_that_differ_are_not_mixed() -> None:
    a, b = points((0.8, "a"), (0.9, "a"))
    other = TrendPoint(b.run, b.made, b.value, b.low, b.high, b.n, 0.9, b.test_set)
    (step,) = trend_of("flows", "recall", [a, other]).steps
    assert step.difference.value == pytest.approx(0.1)
    assert step.p_adjusted is None


def test_what_was_not_tested_is_not_called_chance() -> None:
    a, b, c = points((0.8, "a"), (0.9, "a"), (0.9, "a"))
    for other, reason in (
        (replace(b, level=0.9), "intervals of 0.95 and 0.9 can't be taken together"),
        (replace(b, low=None, high=None), "no interval: one of the two estimates has none"),
    ):
        said = " ".join(trend_of("flows", "recall", [a, other]).sentences)
        assert "It went by +0.100 since run 00 (the same test set, 2 runs). Whether by" in said
        assert reason in said
        assert "No change" not in said
        said = " ".join(trend_of("flows", "recall", [a, other, c]).sentences)
        assert "It changed by +0.100" in said  # the first and the last can be told apart
        assert "2 of 2 steps were not tested. Whether by chance can't be told: " in said


def test_runs_whose_intervals_are_unlike_are_compared_without_a_test(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        told = json.loads(documents.evaluation(90))["estimates"]
        told.append({"measure": "loss", "value": 0.5})
        ids = [
            store.record(documents.evaluation(90, level=level, estimates=told), name="flows").id
            for level in (0.95, 0.9, 0.95)
        ]
        unlike = store.compare(ids[0], ids[1])
        assert isinstance(unlike, Unpaired)
        assert unlike.sentences[0].startswith(
            "Nothing could be tested: intervals of 0.95 and 0.9 can't be taken together"
        )
        assert all(math.isnan(each.p) for each in unlike.differences)
        like = store.compare(ids[0], ids[2])
        assert isinstance(like, Unpaired)
        tested = [each for each in like.differences if not math.isnan(each.p)]
        assert like.sentences[0].startswith(f"No difference of {len(tested)} measures can be told")
        assert len(tested) == len(like.differences) - 1
        assert " 1 could not be tested (no interval" in like.sentences[0]


def test_a_store_gives_the_newest_points_oldest_first(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        for day, tp in ((3, 93), (1, 91), (2, 92)):
            made = f"2026-11-0{day}T00:00:00Z"
            store.record(documents.evaluation(tp, made=made, rows="a"), name="flows")
        assert [p.value for p in store.trend("flows", "recall").points] == [0.91, 0.92, 0.93]
        assert [p.value for p in store.trend("flows", "tpr", limit=2).points] == [0.92, 0.93]
        with pytest.raises(Exception, match="no run named 'x' has numbers to follow"):
            store.trend("x", "recall")
