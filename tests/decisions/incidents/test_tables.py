"""Incidents of rows that name them: what is read as it is meant, and what is refused."""

import datetime as dt
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest

from assay import Request, incidents
from assay.errors import InputError, LabelError, ScoreError

ROWS = pl.DataFrame(
    {
        "at": [f"2024-01-01T{i // 6:02}:{i % 6}0:00" for i in range(40)],
        "of": (["", "", "", "", ""] + ["x"] * 3 + [""] * 12) * 2,
        "said": [0, 1] * 20,
        "score": [0.2, 0.8] * 20,
    }
)
NAMED = {"incident": "of", "time": "at", "timezone": "UTC"}
ATTACK = {"attack": "scan", "start": "2024-01-01T00:00Z", "end": "2024-01-01T01:00Z"}
ALERTS = pl.DataFrame({"time": [1704067230_000000, 1704153600_000000], "score": [0.9, 0.1]})


@pytest.mark.parametrize(
    ("said", "positive"), [(["0", "1"], "1"), (["0.0", "1.0"], "1.0"), (["False", "True"], "True")]
)
def test_decisions_in_files_are_read_as_they_are_written(
    said: list[str], positive: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    ROWS.with_columns(said=pl.Series(said * 20)).write_csv(path)
    for how in ({}, {"positive": positive}):
        judged = incidents(path, decision="said", **NAMED, **how)
        assert (judged.detected, judged.total, judged.false_alarms) == (1, 1, 16)
    with pytest.raises(LabelError, match="positive='atack' does not occur in column 'said'"):
        incidents(path, decision="said", positive="atack", **NAMED)


@pytest.mark.parametrize("how", [{"decision": "said"}, {"score": "score"}])
def test_rows_may_be_of_no_incident(how: dict[str, Any]) -> None:
    judged = incidents(ROWS.with_columns(of=pl.lit("")), **how, **NAMED)
    assert (judged.detected, judged.total, judged.false_alarms) == (0, 0, 20)
    assert "There is no incident" in next(f.message for f in judged.findings if f.code == "I006")


@pytest.mark.parametrize(
    ("zone", "hours"),
    [(ZoneInfo("UTC"), 0), (dt.UTC, 0), (dt.timezone(dt.timedelta(hours=2)), 2)],
    ids=str,
)
def test_a_zone_may_be_one_of_python(zone: dt.tzinfo, hours: int) -> None:
    judged = incidents(ROWS, score="score", **{**NAMED, "timezone": zone})
    written = incidents(ROWS, score="score", **{**NAMED, "timezone": f"+{hours:02}:00"})
    assert judged == written


@pytest.mark.parametrize("threshold", [0.5, "0.5", np.float32(0.5)])
def test_a_threshold_is_a_number(threshold: Any) -> None:
    judged = incidents(ROWS, score="score", threshold=threshold, **NAMED)
    assert (judged.threshold, judged.false_alarms) == (0.5, 16)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, [0.5], 1j, "x", 10**400])
def test_what_is_no_threshold_is_refused(threshold: Any) -> None:
    with pytest.raises(ScoreError, match="threshold must be a finite number"):
        incidents(ROWS, score="score", threshold=threshold, **NAMED)
    with pytest.raises(ScoreError, match="threshold must be a finite number"):
        incidents(alerts=ALERTS, schedule=[ATTACK], score="score", threshold=threshold)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"on_bad_row": "SKIP"}, "on_bad_row= is stop or skip; found 'SKIP'"),
        ({"request": Request()}, "request= tells how files are read, and rows are a frame"),
        ({"timezone": 5}, "timezone=5 is not known; expected UTC"),
        ({"gap": None}, "gap=None is no length of time"),
        ({"gap": True}, "gap=True is no length of time"),
        ({"gap": np.timedelta64(5, "s")}, "is no length of time"),
        ({"max_delay": []}, r"max_delay=\[\] is no length of time"),
        ({"decision": ROWS["said"]}, "decision= is the name of a column, a text; found a Series"),
        ({"decision": 1}, "decision= is the name of a column, a text; found a int"),
        ({"time": 1}, "time= is the name of a column"),
        ({"key": 5}, "key= is a list, the name of a column each; found 5"),
        ({"key": "score"}, "key= is a list of names of columns; found 'score'"),
        ({"key": [1]}, "key= is a list of names of columns; found 1"),
        ({"rows": ROWS.to_dicts()}, "a file is named by a text or a path; found a dict"),
        ({"max_false_incidents": "x"}, "max_false_incidents= must be a number"),
    ],
)
def test_what_can_not_be_asked_of_rows_is_refused(how: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        incidents(**{"rows": ROWS, "score": "score", **NAMED, **how})


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"on_bad_row": "SKIP"}, "on_bad_row= is stop or skip"),
        ({"schedule": 5}, "schedule= is a list, a mapping an attack, or the name of a file"),
        ({"match": 5}, "match= is a list"),
        ({"alerts": ALERTS.to_pandas()}, "logs are files, or frames of polars"),
        ({"timezone": 5}, "timezone=5 is not known"),
    ],
)
def test_what_can_not_be_asked_of_logs_is_refused(how: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        incidents(**{"alerts": ALERTS, "schedule": [ATTACK], **how})
