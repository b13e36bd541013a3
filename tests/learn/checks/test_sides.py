"""L006 to L008 and L019: groups, families, times and classes on the wrong side."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.learn.checks import check

from .tables import clean, data, parted

FRAME = clean(np.random.default_rng(21))
HOSTS = [f"host{i // 10}" for i in range(400)]


def test_a_group_on_both_sides_is_a_leak() -> None:
    frame = FRAME.with_columns(host=pl.Series(HOSTS))
    cut = 300 / 400
    assert "L006" not in check(*parted(frame, cut, keep=["host"]), groups=["host"])
    finding = check(*parted(frame, 305 / 400, keep=["host"]), groups=["host"])["L006"]
    assert finding.severity == "leak"
    assert finding.evidence == {"host": {"groups": 10, "shared": 1, "test_rows": 5, "of": 95}}
    assert finding.rows == (1, 2, 3, 4, 5)
    assert finding.columns == ("host",)


def test_a_missing_group_is_no_group() -> None:
    frame = FRAME.with_columns(host=pl.lit(None, pl.String))
    assert "L006" not in check(*parted(frame, keep=["host"]), groups=["host"])
    assert "L006" not in check(data(frame, keep=["host"]), groups=["host"])


def test_a_group_written_as_a_number_equals_it_as_text() -> None:
    whole = FRAME[:200].with_columns(host=pl.int_range(200) % 7)
    texts = FRAME[200:].with_columns(host=(pl.int_range(200) % 7).cast(pl.String))
    leak_check = check(data(whole, keep=["host"]), data(texts, keep=["host"]), groups=["host"])
    assert leak_check["L006"].evidence["host"]["shared"] == 7


def test_groups_of_one_file_are_a_warning_with_what_a_random_split_leaks() -> None:
    frame = FRAME.with_columns(host=pl.Series(HOSTS))
    finding = check(data(frame, keep=["host"]), groups=["host"])["L006"]
    assert finding.severity == "warning"
    assert finding.evidence["host"]["random_split"] == pytest.approx(1 - 0.3**9)
    alone = FRAME.with_columns(host=pl.int_range(400))
    assert "L006" not in check(data(alone, keep=["host"]), groups=["host"])


def test_families_on_both_sides_are_normal_and_new_ones_are_told() -> None:
    frame = FRAME.with_columns(
        family=pl.when(pl.col("label") == "normal").then(pl.lit("none")).otherwise(pl.lit("dos"))
    )
    known = check(*parted(frame, family="family"))["L007"]
    assert known.message.startswith("The one family of the test part is in the training part too")
    assert known.evidence["families"] == {}
    new = frame.with_columns(
        family=pl.when(pl.int_range(400) >= 390).then(pl.lit("worm")).otherwise(pl.col("family"))
    )
    finding = check(*parted(new, family="family"))["L007"]
    worms = int((new["label"][390:] == "attack").sum())
    assert (finding.severity, finding.evidence["families"]) == ("info", {"worm": worms})
    assert list(finding.evidence["both"]) == ["dos"]
    assert finding.message.startswith(
        "1 of 2 families of the test part is not in the training part"
    )
    grouped = check(*parted(frame, keep=["family"]), groups=["family"])["L006"]
    assert (grouped.severity, grouped.evidence["family"]["shared"]) == ("leak", 2)


# -- time ------------------------------------------------------------------------------------------


def timed(days: list[int]) -> pl.DataFrame:
    start = np.datetime64("2024-01-01T00:00:00", "us")
    return FRAME.with_columns(seen=pl.Series(start + np.array(days) * np.timedelta64(1, "D")))


def test_what_was_before_and_what_came_after_is_no_leak() -> None:
    frame = timed([i // 40 for i in range(400)])
    assert "L008" not in check(*parted(frame, time="seen"), time="seen")


def test_the_same_moment_on_both_sides_is_not_later() -> None:
    frame = timed([0] * 100 + [1] * 300)
    assert "L008" not in check(*parted(frame, 0.5, time="seen"), time="seen")


def test_learning_from_later_rows_is_a_leak() -> None:
    frame = timed([(i * 7) % 400 for i in range(400)])
    finding = check(*parted(frame, time="seen"), time="seen")["L008"]
    assert finding.severity == "leak"
    times = frame["seen"].to_numpy()
    assert finding.evidence["training_rows"] == int((times[:280] > times[280:].min()).sum())
    assert finding.evidence["test_rows"] == int((times[280:] < times[:280].max()).sum())


def test_one_file_is_told_where_to_cut() -> None:
    finding = check(data(timed(list(range(400))), time="seen"), time="seen")["L008"]
    assert finding.severity == "info"
    assert finding.evidence["cut"] == "2024-10-07 00:00:00"


def test_without_a_time_column_nothing_is_said_of_time() -> None:
    assert "L008" not in check(
        *parted(
            timed(
                list(range(400)),
            ).drop("seen")
        )
    )


# -- classes ---------------------------------------------------------------------------------------


def test_a_class_that_one_part_does_not_have_is_a_warning() -> None:
    kinds = np.array(["a", "b", "c"])[np.arange(400) % 3]
    train = FRAME[:300].with_columns(label=pl.Series(kinds[:300]))
    test = FRAME[300:].with_columns(label=pl.Series(np.where(kinds == "c", "d", kinds)[300:]))
    finding = check(data(train), data(test))["L019"]
    assert finding.evidence == {"only_in_test": {"d": 33}, "only_in_training": {"c": 100}}
    assert len(finding.rows) == 33


@pytest.mark.parametrize("turned", [False, True])
def test_one_label_against_all_others_is_one_pair_whatever_the_others_are(turned: bool) -> None:
    kinds = np.array(["normal", "dos", "scan"])[np.arange(400) % 3]
    one = FRAME[:300].with_columns(label=pl.Series(np.where(kinds == "scan", "dos", kinds)[:300]))
    many = FRAME[300:].with_columns(label=pl.Series(kinds[300:]))
    parts = [data(part, negative="normal") for part in (one, many)]
    leak_check = check(*(reversed(parts) if turned else parts))
    assert leak_check.labels == ("normal", "not normal")
    assert leak_check.positive == "not normal"
    assert "L019" not in leak_check
