"""Incidents of five alerts, counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from assay.engines import frames, incident_counter
from assay.engines.ask import Ask, Columns, Grouping
from assay.engines.incident_counter import IncidentCounter, count_pieces
from assay.errors import CountError, InputError, LabelError, ScoreError
from assay.sources.files.request import BrokenRecord, Piece

TIMES = [f"2026-11-16T10:{minute:02}:00Z" for minute in (0, 5, 10, 40, 50)]
ALERTS = pl.DataFrame(
    {
        "of": ["x", "", "y", None, "x"],
        "at": TIMES,
        "score": [0.9, 0.8, 0.7, 0.6, 0.5],
        "said": ["alert", "Benign ", "attack", "alert", "normal"],
        "n": [1, 2, 3, 4, 0],
    }
)
BY_SCORE = Columns.of_incidents("of", "at", score="score")
BY_WORD = Columns.of_incidents("of", "at", decision="said")
ASK = Ask(incidents=Grouping(gap=600_000_000))
SKIP = Ask(incidents=ASK.incidents, on_bad_row="skip")
COUNT_REASON = "count: not a count: a whole number, not negative and below 2^62"


def test_alerts_inside_and_outside_of_incidents() -> None:
    tally = count_pieces([ALERTS], BY_SCORE, ASK)
    assert (tally.alerts, tally.false_alarms, tally.scored) == (5, 2, True)
    assert sorted(tally.first_alerts()) == ["x", "y"]
    assert sorted(tally.seen.texts("incident")) == ["x", "y"]
    assert tally.false_incidents.size == 2
    assert tally.at(0.65).false_alarms == 1
    wide = count_pieces([ALERTS], BY_SCORE, Ask(incidents=Grouping(gap=3_600_000_000)))
    assert (wide.gap, wide.at(0.5).under_alarm.size) == (3_600_000_000, 1)


def test_where_every_row_is_of_an_incident_none_is_false() -> None:
    rows = ALERTS.with_columns(of=pl.Series(["x", "y", "y", "z", "x"]))
    tally = count_pieces([rows], BY_SCORE, ASK)
    assert (tally.alerts, tally.false_alarms) == (5, 0)
    assert sorted(tally.first_alerts()) == ["x", "y", "z"]


def test_a_decision_is_an_alert_unless_it_is_harmless() -> None:
    tally = count_pieces([ALERTS], BY_WORD, ASK)
    assert (tally.alerts, tally.false_alarms, tally.scored) == (3, 1, False)
    only = count_pieces([ALERTS], BY_WORD, Ask(incidents=ASK.incidents, positive="alert"))
    assert (only.alerts, only.false_alarms) == (2, 1)


SAID = [1, 0, 1, 1, 0]
AS_NUMBERS = pl.Series("said", SAID)


@pytest.mark.parametrize(
    ("said", "positives"),
    [
        (AS_NUMBERS, (None, 1, 1.0, True, "1")),
        (AS_NUMBERS.cast(pl.Float64), (None, 1, 1.0, True, "1")),
        (AS_NUMBERS.cast(pl.Boolean), (None, 1, True, "true")),
        (AS_NUMBERS.cast(pl.String), (None, "1")),
        (AS_NUMBERS.cast(pl.Float64).cast(pl.String), (None, "1.0")),
        (AS_NUMBERS.cast(pl.String).cast(pl.Categorical), (None, "1")),
    ],
)
def test_decisions_of_every_type_mean_the_same(said: pl.Series, positives: tuple[Any, ...]) -> None:
    for positive in positives:
        ask = Ask(incidents=ASK.incidents, positive=positive)
        tally = count_pieces([ALERTS.with_columns(said)], BY_WORD, ask)
        assert (tally.alerts, tally.false_alarms) == (3, 1)


@pytest.mark.parametrize(
    ("said", "positive", "reason"),
    [
        (SAID, "atack", "'atack' is one of text, but the labels of the data are numbers"),
        (SAID, 2, "positive=2 does not occur in column 'said'; the decisions are 0, 1"),
        (["1", "0", "1", "1", "0"], 1, "positive=1 is one of numbers"),
        (["a", "b", "a", "a", "c"], "d", "does not occur in column 'said'"),
        ([1, -1, 1, 1, -1], None, "both readings are in use"),
        ([0.5, 0.1, 0.2, 0.3, 0.9], 1, "expected decisions: text, whole numbers or booleans"),
        ([1.0, float("nan"), 1.0, 1.0, 0.0], 1, "row 2: column 'said': the decision is missing"),
        ([1.0, None, 1.0, 1.0, 0.0], None, "row 2: column 'said': the decision is missing"),
    ],
)
def test_decisions_that_tell_no_alarm_are_refused(
    said: list[Any], positive: Any, reason: str
) -> None:
    ask = Ask(incidents=ASK.incidents, positive=positive)
    with pytest.raises(LabelError, match=reason):
        count_pieces([ALERTS.with_columns(said=pl.Series(said))], BY_WORD, ask)


def test_a_detector_that_never_raised_an_alarm_is_no_mistake() -> None:
    quiet = ALERTS.with_columns(said=pl.lit("normal"))
    ask = Ask(incidents=ASK.incidents, positive="attack")
    assert count_pieces([quiet], BY_WORD, ask).alerts == 0
    # Of a partition, others may hold the alarms.
    several = ALERTS.with_columns(said=pl.Series(["normal", "unsure", *["normal"] * 3]))
    assert count_pieces([several], BY_WORD, ask, partial=True).alerts == 0


def test_rows_count_as_often_as_they_say() -> None:
    columns = Columns.of_incidents("of", "at", score="score", count="n")
    tally = count_pieces([ALERTS], columns, ASK)
    assert (tally.alerts, tally.false_alarms) == (10, 6)
    none = count_pieces([ALERTS.with_columns(n=pl.Series([1, 2, 0, 4, 5]))], columns, ASK)
    assert list(none.first_alerts()) == list(none.seen.texts("incident")) == ["x"]
    both = Columns.of_incidents("of", "at", score="score", count="n", rows="n")
    assert count_pieces([ALERTS], both, ASK).alerts == 1 + 4 + 9 + 16


@pytest.mark.parametrize("absent", [None, ""])
def test_a_row_without_a_family_contradicts_none(absent: str | None) -> None:
    columns = Columns.of_incidents("of", "at", score="score", family="kind")
    kinds = pl.Series(["dos", None, absent, None, absent], dtype=pl.String)
    tally = count_pieces([ALERTS.with_columns(kind=kinds)], columns, ASK)
    assert tally.families == {"x": "dos"}


@pytest.mark.parametrize("dtype", [pl.String, pl.Float64, pl.UInt8, pl.Decimal(9, 2), pl.Int128])
def test_counts_are_read_as_they_are_written(dtype: Any) -> None:
    columns = Columns.of_incidents("of", "at", score="score", count="n")
    written = ALERTS.with_columns(pl.col("n").cast(dtype))
    assert count_pieces([written], columns, ASK) == count_pieces([ALERTS], columns, ASK)


def test_a_refused_group_is_the_rows_it_was_given_as() -> None:
    columns = Columns.of_incidents("of", "at", score="score", count="n")
    odd = ALERTS.with_columns(score=pl.Series([0.9, None, 0.7, None, 0.5]))
    grouped = odd.with_columns(rows=pl.lit(2))
    twice = count_pieces([grouped], replace(columns, rows="rows"), SKIP)
    assert twice.refused == count_pieces([odd, odd], columns, SKIP).refused


def test_counts_of_groups_are_not_more_than_64_bits_hold() -> None:
    columns = Columns.of_incidents("of", "at", score="score", count="n", rows="rows")
    many = ALERTS.with_columns(n=pl.lit(1 << 40), rows=pl.lit(1 << 40))
    with pytest.raises(CountError, match="their product must be below 2\\^62"):
        count_pieces([many], columns, ASK)
    large = ALERTS.with_columns(n=pl.lit(1 << 61))
    with pytest.raises(CountError, match="add up to 2\\^62 or more"):
        count_pieces([large], replace(columns, rows=None), ASK)


@pytest.mark.parametrize(
    ("column", "bad", "error", "kind"),
    [
        ("score", None, ScoreError, "score: not a finite number"),
        ("score", float("inf"), ScoreError, "score: not a finite number"),
        ("said", "", LabelError, "decision: missing"),
        ("said", None, LabelError, "decision: missing"),
        ("n", -1, CountError, COUNT_REASON),
    ],
)
def test_bad_rows_of_incidents_are_named_or_counted(
    column: str, bad: Any, error: type[Exception], kind: str
) -> None:
    odd = ALERTS.with_columns(
        pl.when(pl.int_range(5) == 2).then(pl.lit(bad)).otherwise(column).alias(column)
    )
    role = {"score": "score", "said": "decision", "n": "count"}[column]
    more: dict[str, Any] = {"score": "score"} | {role: column}
    columns = Columns.of_incidents("of", "at", **more)
    with pytest.raises(error, match="the frame, row 3: "):
        count_pieces([odd], columns, ASK)
    with pytest.raises(error, match="the frame, row 8: "):
        count_pieces([ALERTS, odd], columns, ASK)
    tally = count_pieces([odd], columns, SKIP)
    assert tally.refused == {kind: 1}
    assert sorted(tally.first_alerts()) == ["x"]


def test_a_group_that_can_not_be_counted_is_one_row() -> None:
    odd = ALERTS.with_columns(n=pl.Series([1, -2, 1, 1, 1]))
    columns = Columns.of_incidents("of", "at", score="score", rows="n")
    assert count_pieces([odd], columns, SKIP).refused == {COUNT_REASON: 1}


def test_rows_that_were_read_are_counted_with_broken_ones() -> None:
    counter = IncidentCounter(BY_SCORE, SKIP)
    assert counter.rows_read == 0
    broken = (BrokenRecord(6, 7, "too few fields"),)
    counter.add(Piece(ALERTS, range(1, 6), None, broken), "the file")
    counter.add(Piece(ALERTS, range(7, 12)), "the file")
    assert counter.rows_read == 11


def test_tallies_are_added_while_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = count_pieces([ALERTS] * 6, BY_SCORE, ASK)
    monkeypatch.setattr(incident_counter, "_WAITING", 1)
    assert count_pieces([ALERTS] * 6, BY_SCORE, ASK) == whole


@pytest.mark.parametrize(
    "columns",
    [Columns("of", incident="of", score="score"), Columns("of", time="at", score="score")],
)
def test_incidents_have_names_and_times(columns: Columns) -> None:
    with pytest.raises(InputError, match="a column of their names and one of times"):
        count_pieces([ALERTS], columns, ASK)


def test_incidents_are_grouped_in_the_usual_way_unless_that_is_said() -> None:
    usual = frames.count_incidents(ALERTS, BY_SCORE)
    assert usual.gap == 600_000_000
    skipped = frames.count_incidents(
        ALERTS.with_columns(score=None), BY_SCORE, Ask(on_bad_row="skip")
    )
    assert (skipped.gap, sum(skipped.refused.values())) == (600_000_000, 5)
    asked = frames.count_incidents(ALERTS, BY_SCORE, Ask(incidents=Grouping(gap=1)))
    assert asked.gap == 1


def test_rules_and_keys_of_alerts() -> None:
    rows = ALERTS.with_columns(rule=pl.Series(["r", "s", "r", "s", "r"]), host=pl.lit("h"))
    columns = Columns.of_incidents("of", "at", score="score", rule="rule", key=("host", "rule"))
    tally = count_pieces([rows], columns, ASK)
    assert sorted(set(tally.daily.texts("rule"))) == ["r", "s"]
    assert sorted(set(tally.groups.texts("key"))) == ["h s"]
