"""What is refused, and how it is told."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import errors


def read(columns, **named):
    rows = assay.rows(columns, on_bad_row="skip", **named)
    return pl.concat(list(rows.batches(*rows.columns, "row"))), rows


@pytest.mark.parametrize(
    ("role", "values", "reason"),
    [
        ("label", ["a", ""], "1 row has no label (row 2)"),
        ("label", ["a", None], "1 row has no label (row 2)"),
        ("label", [1.0, float("nan")], "1 row has no label (row 2)"),
        ("label", [1.0, 0.5], "1 row has a label that can't be used (row 2; found 0.5)"),
        ("score", [1.0, None], "1 row has no score (row 2)"),
        ("score", ["1", "high"], "1 row has a score that is not a finite number (row 2; found 'high')"),  # noqa: E501
        ("score", [1.0, float("nan")], "1 row has a score that is not a finite number (row 2; found nan)"),  # noqa: E501
        ("score", ["1", "1e999"], "1 row has a score that is not a finite number (row 2; found '1e999')"),  # noqa: E501
        ("count", [1, -1], "1 row has a count that is not a whole number from 0 to 2^62 (row 2; found -1)"),  # noqa: E501
        ("count", ["1", "1.5"], "1 row has a count that is not a whole number from 0 to 2^62 (row 2; found '1.5')"),  # noqa: E501
        ("weight", [1, -0.5], "1 row has a weight that is neither 0 nor from 1e-150 to 1e+150 (row 2; found -0.5)"),  # noqa: E501
        ("cluster", ["h", None], "1 row has no cluster (row 2)"),
        ("time", ["2026-09-01", "soon", "2026-09-02", "2026-09-03"], "1 row has a time that can't be read (row 2; found 'soon')"),  # noqa: E501
    ],
)  # fmt: skip
def test_each_check_refuses_its_rows(role, values, reason) -> None:
    good, rows = read({"x": values}, **{role: "x"})
    assert 2 not in good["row"].to_list()
    assert rows.refused.sentences() == (reason,)


def test_probabilities_of_a_row_sum_to_one() -> None:
    columns = {"p_a": [0.5, 0.5, 1.5], "p_b": [0.5, 0.4, -0.5]}
    good, rows = read(columns, probabilities="p_*")
    assert good.columns == ["probability:a", "probability:b", "row"]
    assert rows.refused.reasons == {
        "have a probability of 'a' outside [0, 1]": 1,
        "have probabilities whose sum is not 1 within 1e-06": 1,
    }


def test_reasons_are_one_line_each_with_their_first_places() -> None:
    columns = {"y": ["a", *[""] * 600], "p": [0.5, None, *[0.25] * 599]}
    _, rows = read(columns, label="y", score="p")
    assert rows.refused.sentences() == ("600 rows have no label (rows 2, 3, 4, ...)",)
    assert (rows.source.rows_read, rows.source.rows_used) == (601, 1)
    assert len(rows.source.refused) == 100


def test_by_default_bad_rows_stop_with_all_reasons() -> None:
    rows = assay.rows({"y": ["a", "", "b"], "p": ["1", "2", "x"]}, label="y", score="p")
    with pytest.raises(errors.LabelError) as error:
        list(rows.batches())
    assert str(error.value) == (
        "a mapping: 1 row has no label (row 2); 1 row has a score that is not a finite number "
        "(row 3; found 'x'). Correct these rows, or leave such rows out with on_bad_row='skip'"
    )


def test_labels_may_be_missing_where_that_is_allowed() -> None:
    good, rows = read({"y": ["a", None]}, label="y", unlabelled=True)
    assert good["label"].to_list() == ["a", None]
    assert rows.refused.rows == 0


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([True, False], ["true", "false"]),
        ([1, 0], ["1", "0"]),
        ([1.0, 2.0], ["1", "2"]),
        (["007", "NA"], ["007", "NA"]),
        ([Decimal("1"), Decimal("2")], ["1", "2"]),
        ([2**62, -1], [str(2**62), "-1"]),
        ([1, "b"], ["1", "b"]),
        (pl.Series(["b", "a"], dtype=pl.Enum(["a", "b"])), ["b", "a"]),
        (list(range(2000)), [str(i) for i in range(2000)]),
    ],
)
def test_labels_are_text(values, labels) -> None:
    good, _ = read({"y": values}, label="y")
    assert good["label"].to_list() == labels


def test_scores_have_one_zero_and_keep_their_width() -> None:
    good, _ = read({"p": pl.Series([-0.0, 0.5, 5e-324], dtype=pl.Float64)}, score="p")
    assert str(good["score"].to_list()) == "[0.0, 0.5, 5e-324]"
    good, _ = read({"p": pl.Series([-0.0, 0.5], dtype=pl.Float32)}, score="p")
    assert good["score"].dtype == pl.Float32
    good, _ = read({"p": [" 0.5", "50%", "50 %", "-0", "5e-1"]}, score="p")
    assert str(good["score"].to_list()) == "[0.5, 0.5, 0.5, 0.0, 0.5]"


def test_counts_are_exact() -> None:
    good, _ = read({"n": [2**62 - 1, 0]}, count="n")
    assert good["count"].to_list() == [2**62 - 1, 0]
    good, _ = read({"n": ["4611686018427387903", "3.0", " 2"]}, count="n")
    assert good["count"].to_list() == [2**62 - 1, 3, 2]


def test_times_are_in_utc_and_make_periods() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    rows = assay.rows({"t": [dt.datetime(2026, 11, 2, 1, tzinfo=zone)]}, time="t")
    assert next(rows.batches("time"))["time"].to_list() == [
        dt.datetime(2026, 11, 1, 23, tzinfo=dt.UTC)
    ]
    periods = {
        p: next(rows.batches("period", period=p))["period"][0] for p in ("day", "week", "month")
    }
    assert periods == {"day": "2026-11-01", "week": "2026-W44", "month": "2026-11"}


cells = st.sampled_from(["a", "b", "", None])
numbers = st.sampled_from([0.5, -0.0, None, float("nan"), float("inf"), 1.5])


@given(st.lists(st.tuples(cells, numbers, st.sampled_from([0, 1, 3, -1, None])), min_size=1))
def test_rows_in_are_rows_used_and_rows_refused(table) -> None:
    label, score, count = (list(column) for column in zip(*table, strict=True))
    columns = {
        "y": pl.Series(label, dtype=pl.String),
        "p": pl.Series(score, dtype=pl.Float64),
        "n": pl.Series(count, dtype=pl.Int64),
    }
    good, rows = read(columns, label="y", score="p", count="n")
    valid = [
        i
        for i, (y, p, n) in enumerate(table, 1)
        if y and p is not None and abs(p) < 2 and n is not None and n >= 0
    ]
    assert good["row"].to_list() == valid
    assert rows.source.rows_read == len(table) == len(valid) + rows.refused.rows
    reasons = [each["row"] for each in rows.source.refused]
    assert sorted(reasons) == reasons
    assert sorted([*reasons, *valid]) == list(range(1, len(table) + 1))
