"""Measures over days, weeks and months, and the top alerts of a day."""

import datetime as dt
import json
import math

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.errors import AssayError, TallyError, UnknownMeasure
from assay.report.document import schema_of
from assay.tally import from_bytes

START = dt.date(2026, 1, 1)


def rows(size: int = 1200, days: int = 90, seed: int = 0) -> dict:
    random = np.random.default_rng(seed)
    truth = random.random(size) < 0.3
    score = random.normal(size=size) + 2 * truth
    at = [START + dt.timedelta(days=int(day)) for day in random.integers(0, days, size)]
    return {"y_true": truth, "y_score": 1 / (1 + np.exp(1 - score)), "times": at}


def followed(**options) -> assay.Evaluation:
    return assay.evaluate(**rows(), **options)


# -- periods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["f1", "roc_auc", "f1.macro", "recall.false", "log_loss", "mcc"])
def test_each_period_is_what_its_rows_alone_would_be(key: str) -> None:
    columns = rows()
    evaluation = assay.evaluate(**columns, period="month")
    trend = evaluation.over_time[key]
    assert trend.periods == ("2026-01", "2026-02", "2026-03")
    for name, estimate in zip(trend.periods, trend.estimates, strict=True):
        inside = np.array([day.isoformat().startswith(name) for day in columns["times"]])
        alone = assay.evaluate(columns["y_true"][inside], y_score=columns["y_score"][inside])[key]
        assert (estimate.value, estimate.low, estimate.high) == (alone.value, alone.low, alone.high)
    assert trend.aut.value == pytest.approx(
        (trend.estimates[0] / 2 + trend.estimates[1] + trend.estimates[2] / 2) / 2
    )
    assert trend.change.value == pytest.approx(trend.estimates[2] - trend.estimates[0])


def test_weeks_are_those_of_iso_and_gaps_are_named() -> None:
    days = ["2026-12-28", "2027-01-03", "2027-01-18"] * 2
    over_time = assay.evaluate(
        [0, 0, 0, 1, 1, 1], y_pred=[1] * 6, times=days, period="week"
    ).over_time
    assert over_time.names == ("2026-W53", "2027-W03")
    assert over_time.rows == (4, 2)
    assert over_time.positives == (2, 1)
    assert over_time.absent == ("2027-W01", "2027-W02")
    assert over_time.positions == [0, 3]


def test_one_period_is_no_course() -> None:
    recall = assay.evaluate([0, 1], y_pred=[0, 1], times=["2026-01-01"] * 2).over_time["recall"]
    for figure in (recall.aut, recall.slope, recall.change):
        assert math.isnan(figure)
        assert "one period" in figure.undefined


def test_a_period_without_attacks_leaves_the_others() -> None:
    truth = [1, 0, 0, 0, 1, 0]
    days = ["2026-01-01"] * 2 + ["2026-01-02"] * 2 + ["2026-01-03"] * 2
    recall = assay.evaluate(truth, y_pred=truth, times=days).over_time["recall"]
    assert recall.aut.undefined.startswith("2026-01-02 has no value")
    assert recall.defined.periods == ("2026-01-01", "2026-01-03")
    assert (recall.defined.aut, recall.defined.slope) == (1, 0)
    assert recall.change == 0


def test_every_period_is_a_slice_that_has_scores() -> None:
    evaluation = followed(period="month")
    part = evaluation.of_slice("time", "2026-02")
    assert part["roc_auc"] == evaluation.over_time["roc_auc"].estimates[1]
    assert part["recall"] == evaluation.over_time["recall"].estimates[1]


def test_classes_are_followed_by_average_and_by_label() -> None:
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, 300)
    table = random.dirichlet([1, 1, 1], 300)
    table[np.arange(300), truth] += 1
    days = np.where(np.arange(300) % 2, "2026-01-01", "2026-02-01")
    evaluation = assay.evaluate(truth, y_proba=table / 2, times=days, period="month")
    over_time = evaluation.over_time
    assert over_time.positives is None
    for key in ("accuracy", "f1.macro", "recall.2", "roc_auc.macro", "log_loss"):
        inside = days == "2026-02-01"
        alone = assay.evaluate(truth[inside], y_proba=table[inside] / 2)[key]
        assert over_time[key].estimates[1] == alone
    with pytest.raises(UnknownMeasure, match="none of the labels"):
        over_time["recall.9"]
    assert "accuracy" in set(over_time)
    assert len(over_time) == len(list(over_time))


def test_what_is_no_key_is_refused() -> None:
    over_time = followed().over_time
    with pytest.raises(UnknownMeasure):
        over_time["nonsense"]
    with pytest.raises(UnknownMeasure):
        over_time[3]
    with pytest.raises(UnknownMeasure, match="ranking as a whole"):
        over_time["roc_auc.false"]
    assert repr(over_time).startswith("OverTime(90 days, 2026-01-01 to ")
    assert repr(over_time["f1"]).startswith("Trend(f1, ")


def test_without_times_there_is_no_course() -> None:
    evaluation = assay.evaluate([0, 1], y_pred=[0, 1])
    assert evaluation.over_time is None
    assert evaluation.to_dict()["periods"] is None
    with pytest.raises(AssayError, match="give times="):
        assay.evaluate([0, 1], y_pred=[0, 1], period="day")


def test_periods_are_days_weeks_or_months() -> None:
    with pytest.raises(AssayError, match="day, week, month; found 'year'"):
        followed(period="year")


def test_a_slice_may_not_be_called_as_the_times_are() -> None:
    with pytest.raises(AssayError, match="another name"):
        followed(slices={"time": ["x"] * 1200})


def test_scores_that_only_rank_are_followed_by_their_ranking() -> None:
    columns = rows()
    columns["y_score"] = 20 * columns["y_score"] - 7
    over_time = assay.evaluate(**columns, period="month").over_time
    assert not math.isnan(over_time["roc_auc"].aut)
    assert "no threshold" in over_time["recall"].aut.undefined


def test_clusters_and_weights_are_heeded_in_each_period() -> None:
    hosts = np.arange(1200) % 30
    recall = followed(period="month", clusters=hosts).over_time["recall"]
    assert {estimate.method for estimate in recall.estimates} == {"cluster delta"}
    weights = np.where(np.arange(1200) % 5 == 0, 3.0, 1.0)
    weighted = followed(period="month", sample_weight=weights).over_time["recall"]
    assert weighted.aut.low < weighted.aut < weighted.aut.high


# -- columns of times ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "times",
    [
        ["2026-11-16", "2026-11-17T23:30:00"],
        [dt.date(2026, 11, 16), dt.datetime(2026, 11, 17, 3)],  # noqa: DTZ001
        np.array(["2026-11-16", "2026-11-17T12"], "datetime64[ns]"),
        pd.Series(pd.to_datetime(["2026-11-16", "2026-11-17"], utc=True)),
        pl.Series([dt.datetime(2026, 11, 16), dt.datetime(2026, 11, 17)]),  # noqa: DTZ001
        pl.Series([dt.datetime(2026, 11, 16), dt.datetime(2026, 11, 17)]).to_arrow(),  # noqa: DTZ001
        [1794787200, 1794873600.5],
        np.array([1794787200, 1794873600]) * 1000,
    ],
)
def test_times_may_be_columns_of_any_kind(times: object) -> None:
    evaluation = assay.evaluate([0, 1], y_pred=[0, 1], times=times)
    assert evaluation.over_time.names == ("2026-11-16", "2026-11-17")


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["2026-11-16", "soon"], r"found 'soon' in row 2 \(counted from 1\), expected a date"),
        (["2026-11-16", None], "found nothing in row 2"),
        ([20261116, 20261117], "found 20261116 in row 1"),
        (
            ["2026-11-16T01:00Z", "2026-11-16T01:00"],
            r"row 2 \(counted from 1\) has no time zone and row 1 has one",
        ),
        ([True, False], "expected a date"),
        (pl.Series([[1], [2]]), "found List"),
        (["2026-11-16"], "times has 1 row"),
    ],
)
def test_what_is_no_time_is_refused_with_its_row(times: object, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        assay.evaluate([0, 1], y_pred=[0, 1], times=times)


# -- tallies ---------------------------------------------------------------------------------------


def test_parts_of_a_day_add_up_and_go_to_bytes_and_back() -> None:
    columns = rows()
    whole = assay.count(**columns)
    parts = [
        assay.count(**{name: column[start : start + 400] for name, column in columns.items()})
        for start in (0, 400, 800)
    ]
    summed = parts[2] + parts[0] + parts[1]
    assert summed == whole
    assert from_bytes(whole.to_bytes()) == whole
    assert assay.Evaluation(summed, period="week").to_dict() == (
        assay.Evaluation(whole, period="week").to_dict()
    )


def test_days_of_one_part_alone_do_not_add() -> None:
    columns = rows()
    with_days = assay.count(**columns)
    del columns["times"]
    with pytest.raises(TallyError, match="one counted days"):
        with_days + assay.count(**columns)


def test_days_are_read_as_the_whole_is() -> None:
    """Scores that are no probabilities on one day are none on the others."""
    shared = {"labels": [0, 1], "threshold": 0.5}
    one = assay.count([0, 1], y_score=[0.2, 0.9], times=["2026-01-01"] * 2, **shared)
    other = assay.count([0, 1], y_score=[-3.0, 9.0], times=["2026-01-02"] * 2, **shared)
    summed = one + other
    days = assay.Evaluation(summed).tally.days
    assert days is not None
    assert {day.kind for day in days.values()} == {"score"}
    assert "needs probabilities" in assay.Evaluation(summed).over_time["log_loss"].aut.undefined


def test_a_running_tally_counts_days() -> None:
    running = assay.RunningTally(labels=[0, 1])
    for day in ("2026-01-31", "2026-02-01"):
        running = running.update(y_true=[0, 1], y_pred=[0, 1], times=[day] * 2)
    assert running.evaluate(period="month").over_time.names == ("2026-01", "2026-02")


# -- the top alerts --------------------------------------------------------------------------------


def test_the_top_of_each_day_is_by_its_own_ranking() -> None:
    truth = [1, 0, 0, 1, 0, 1]
    score = [0.3, 0.2, 0.1, 0.9, 0.8, 0.7]
    days = ["2026-01-01"] * 3 + ["2026-01-02"] * 3
    evaluation = assay.evaluate(truth, y_score=score, times=days, top=1)
    assert evaluation["precision_at_top"] == 1
    assert evaluation["recall_at_top"].value == pytest.approx(2 / 3)
    assert (evaluation.top.days, evaluation.top.alerts, evaluation.top.short_days) == (2, 2, 0)


def test_without_times_a_day_has_so_many_rows() -> None:
    columns = rows()
    del columns["times"]
    evaluation = assay.evaluate(**columns, top=10, volume=100, base_rate=0.01)
    tenth = sorted(zip(columns["y_score"], columns["y_true"], strict=True), reverse=True)[:120]
    assert evaluation["precision_at_top"].value == pytest.approx(np.mean([y for _, y in tenth]))
    flagged = columns["y_score"] >= evaluation["precision_at_top"].parts["threshold"]
    assert flagged.sum() == 120
    first, second = evaluation.to_dict()["top"]["thresholds"]
    assert (first["base_rate"], second["base_rate"]) == (None, 0.01)
    assert second["threshold"] < first["threshold"]  # fewer attacks compete for the same places
    rare = evaluation.at(0.01)
    assert rare["precision_at_top"].value == pytest.approx(0.1 * rare["recall_at_top"].value)
    assert evaluation.at(0.02)["precision_at_top"] > rare["precision_at_top"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": 5}, "give times=.* or volume="),
        ({"top": 0, "volume": 100}, "a whole number; found 0"),
        ({"top": 2.5, "volume": 100}, "a whole number; found 2.5"),
        ({"top": True, "volume": 100}, "a whole number; found True"),
    ],
)
def test_a_top_that_can_not_be_told_is_refused(options: dict, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        assay.evaluate([0, 1, 1], y_score=[0.1, 0.9, 0.4], **options)


def test_a_top_needs_scores_of_one_positive_label() -> None:
    with pytest.raises(AssayError, match="only decisions"):
        assay.evaluate([0, 1], y_pred=[0, 1], top=1, volume=10)
    with pytest.raises(AssayError, match="more than two classes"):
        assay.evaluate([0, 1, 2], y_pred=[0, 1, 2], top=1, times=["2026-01-01"] * 3)


def test_at_a_base_rate_the_top_needs_a_volume() -> None:
    evaluation = followed(top=3, base_rate=0.01)
    assert "precision_at_top" not in evaluation.at(0.01)
    assert any("need volume=" in note for note in evaluation.notes)


def test_one_class_alone_has_no_top_of_a_volume() -> None:
    evaluation = assay.evaluate(
        [1, 1], y_score=[0.1, 0.9], labels=[0, 1], top=1, volume=10, threshold=0.5
    )
    assert "no negatives" in evaluation["precision_at_top"].undefined


# -- documents -------------------------------------------------------------------------------------


def test_the_document_holds_periods_and_trends() -> None:
    evaluation = followed(period="month", top=5, volume=50, base_rate=0.01)
    document = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    jsonschema.validate(document, schema_of("assay.evaluation/1"))
    periods = document["periods"]
    assert (periods["column"], periods["period"]) == ("time", "month")
    assert sum(periods["rows"]) == 1200
    f1 = next(trend for trend in periods["trends"] if trend["measure"] == "f1")
    assert f1["label"] == "true"
    assert f1["aut"]["low"] < f1["aut"]["value"] < f1["aut"]["high"]
    assert f1["slope"]["p"] <= 1
    assert document["top"]["k"] == 5
    of_months = [
        each for each in document["estimates"]
        if each["slice"] == {"column": "time", "value": "2026-02"}
    ]  # fmt: skip
    assert {"f1", "roc_auc", "log_loss"} <= {each["measure"] for each in of_months}


def test_the_figure_shows_each_period_at_its_place() -> None:
    days = ["2026-01-01", "2026-01-02", "2026-01-05"] * 20
    truth = [0, 1, 1, 0] * 15
    evaluation = assay.evaluate(truth, y_pred=truth, times=days)
    ax = evaluation.plot.over_time("recall", "f1")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "Detection rate (recall)",
        "F1",
    ]
    assert list(ax.get_xticks()) == [0, 1, 4]
    alone = evaluation.plot.over_time()
    assert alone.get_ylabel() == "Detection rate (recall)"
    with pytest.raises(AssayError, match="give times="):
        assay.evaluate(truth, y_pred=truth).plot.over_time()
