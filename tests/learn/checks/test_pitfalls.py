"""The ten pitfalls: found, not found, or not to be told from the data."""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.learn.checks import CHECKS, TEN, Check, check

from .tables import clean, data, parted

FRAME = clean(np.random.default_rng(51))


def statuses(leak_check: Check) -> dict[str, str]:
    return {each.code: each.status for each in leak_check.pitfalls}


def test_there_are_ten_and_each_check_belongs_to_one() -> None:
    codes = [code for code, _, _ in TEN]
    assert codes == [f"P{i}" for i in range(1, 11)]
    assert {each.pitfall for each in CHECKS} <= set(codes)


def test_what_data_do_not_tell_is_said_with_the_reason() -> None:
    leak_check = check(*parted(FRAME))
    told = statuses(leak_check)
    assert {told[code] for code in ("P5", "P6", "P7", "P8", "P9", "P10")} == {"can't be told"}
    assert told["P2"] == told["P3"] == told["P4"] == "not found"
    assert all(each.why for each in leak_check.pitfalls)
    reason = next(each.why for each in leak_check.pitfalls if each.code == "P3")
    assert "--group" in reason
    assert "--time" in reason


def test_one_file_does_not_tell_of_snooping() -> None:
    assert statuses(check(data(FRAME)))["P3"] == "can't be told"


def test_a_leak_is_a_pitfall_that_was_found_and_an_info_is_not() -> None:
    train, _ = parted(FRAME)
    leak_check = check(train, data(pl.concat([FRAME[300:], FRAME[:9]]), positive="attack"))
    assert statuses(leak_check)["P3"] == "found"
    assert next(each for each in leak_check.pitfalls if each.code == "P3").findings == ("L001",)
    constant = check(*parted(FRAME.with_columns(one=pl.lit(1))))
    assert statuses(constant)["P4"] == "not found"


def test_the_base_rate_decides_its_fallacy() -> None:
    assert statuses(check(data(FRAME), base_rate=0.3))["P8"] == "not found"
    assert statuses(check(data(FRAME), base_rate=1e-4))["P8"] == "found"
    several = FRAME.with_columns(label=pl.Series(["a", "b", "c", "d"] * 100))
    assert statuses(check(data(several), base_rate=0.3))["P8"] == "can't be told"
