"""L001 to L005: rows that are the same, or nearly, and rows that contradict each other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.learn.checks import check
from assay.learn.checks.equal_rows import equal_rows, rounded_frame

from .tables import clean, data, parted

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, -0.0, 1.5, None]), st.sampled_from(["a", "", None])),
    min_size=1,
    max_size=12,
)


@given(ROWS, ROWS)
def test_equal_rows_are_those_that_brute_force_finds(
    one: list[tuple[float | None, str | None]], two: list[tuple[float | None, str | None]]
) -> None:
    schema = {"x": pl.Float64, "y": pl.String}
    duplicates = equal_rows([pl.DataFrame(rows, schema, orient="row") for rows in (one, two)])
    assert duplicates.also_in(1, 0).tolist() == [row in one for row in two]
    assert duplicates.also_in(0, 1).tolist() == [row in two for row in one]
    assert duplicates.repeats(0).tolist() == [row in one[:i] for i, row in enumerate(one)]
    assert duplicates.size(0).tolist() == [one.count(row) for row in one]
    assert duplicates.pairs_across == sum(one.count(row) for row in two)
    assert duplicates.pairs_inside(0) == sum(n * (n - 1) // 2 for n in Counter(one).values())


def test_chance_is_the_product_of_what_columns_repeat() -> None:
    generator = np.random.default_rng(2)
    frame = pl.DataFrame({"x": generator.integers(0, 4, 3000), "y": generator.integers(0, 5, 3000)})
    assert equal_rows([frame]).chance == pytest.approx(1 / 20, rel=0.05)


def test_a_row_that_is_in_both_parts_is_a_leak_and_named() -> None:
    frame = clean(np.random.default_rng(1))
    train, test = parted(frame)
    copied = data(pl.concat([frame[350:], frame[3:6]]), positive="attack")
    leak_check = check(train, copied)
    assert [each.code for each in leak_check.leaks] == ["L001"]
    assert leak_check["L001"].evidence["test_rows"] == 3
    assert leak_check["L001"].rows == (51, 52, 53)
    assert "L001" not in check(train, test)


def test_a_copy_with_another_label_is_no_duplicate_but_a_contradiction() -> None:
    frame = clean(np.random.default_rng(1))
    other = frame[:5].with_columns(
        label=pl.Series(np.where(frame["label"][:5].to_numpy() == "attack", "normal", "attack"))
    )
    train = data(frame[:300], positive="attack")
    leak_check = check(train, data(pl.concat([frame[300:], other]), positive="attack"))
    assert "L001" not in leak_check
    assert leak_check["L005"].evidence == {
        "rows": 10, "of": 405, "kinds": 5, "ceiling": pytest.approx(400 / 405),
    }  # fmt: skip
    assert leak_check["L005"].severity == "warning"


def test_repeats_inside_one_file_are_a_warning() -> None:
    frame = clean(np.random.default_rng(1), rows=100)
    leak_check = check(data(pl.concat([frame, frame[:30]])))
    assert leak_check["L002"].severity == "warning"
    assert leak_check["L002"].evidence["training"]["repeats"] == 30
    assert leak_check["L002"].rows == tuple(range(101, 131))
    assert leak_check.honest


def test_a_random_split_parts_as_many_copies_as_is_said() -> None:
    frame = clean(np.random.default_rng(1), rows=300)
    whole = pl.concat([frame, frame[:200], frame[:50]])
    said = check(data(whole))["L002"].evidence["training"]["random_split"]
    codes = equal_rows([whole]).codes[0]
    generator = np.random.default_rng(4)
    shares = []
    for _ in range(300):
        order = generator.permutation(len(codes))
        held = order[: int(0.3 * len(codes))]
        known = set(codes[order[int(0.3 * len(codes)) :]].tolist())
        shares.append(np.mean([codes[row] in known for row in held]))
    assert said == pytest.approx(np.mean(shares), abs=0.01)


@pytest.mark.parametrize("noise", [1e-9, 1e-7])
def test_copies_with_a_little_noise_are_near_duplicates(noise: float) -> None:
    frame = clean(np.random.default_rng(1))
    train, _ = parted(frame)
    copies = frame[:60].with_columns(pl.col("^x.*$") * (1 + noise))
    leak_check = check(train, data(pl.concat([frame[300:], copies]), positive="attack"))
    assert [each.code for each in leak_check.leaks] == ["L003"]
    assert leak_check["L003"].evidence["test_rows"] >= 59


def test_copies_with_another_id_and_time_are_near_duplicates() -> None:
    frame = clean(np.random.default_rng(1)).with_columns(
        id=pl.int_range(400), seen=1.7e9 + pl.int_range(400)
    )
    copies = frame[:40].with_columns(pl.col("id") + 1000, pl.col("seen") + 1e6)
    train = data(frame[:300], positive="attack")
    leak_check = check(train, data(pl.concat([frame[300:], copies]), positive="attack"))
    assert "L001" not in leak_check
    assert leak_check["L003"].severity == "leak"
    assert leak_check["L003"].evidence == {
        "test_rows": 40, "of": 140, "with_5_digits": 40, "dropped": ["id", "seen"],
    }  # fmt: skip


@pytest.mark.parametrize("noise", [1e-5, 1e-4, 3e-4])
def test_copies_with_more_noise_are_a_leak_too(noise: float) -> None:
    generator = np.random.default_rng(1)
    frame = clean(generator)
    train, _ = parted(frame)
    copies = frame[:60].with_columns(
        pl.col(name) * (1 + noise * pl.Series(generator.normal(size=60)))
        for name in frame.columns
        if name.startswith("x")
    )
    leak_check = check(train, data(pl.concat([frame[300:], copies]), positive="attack"))
    assert leak_check["L003"].severity == "leak"
    assert leak_check["L003"].evidence["with_5_digits"] < leak_check["L003"].evidence["test_rows"]


def test_copies_written_with_three_digits_are_a_leak() -> None:
    frame = clean(np.random.default_rng(1))
    train, _ = parted(frame)
    copies = frame[:60].with_columns(pl.col("^x.*$").round_sig_figs(3))
    leak_check = check(train, data(pl.concat([frame[300:], copies]), positive="attack"))
    assert [each.code for each in leak_check.leaks] == ["L003"]
    assert leak_check["L003"].evidence["test_rows"] >= 59


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_lie_dense_on_a_curve_are_no_leak_and_no_warning(seed: int) -> None:
    generator = np.random.default_rng(seed)
    at = generator.uniform(1, 10, 1000)
    label = pl.Series("label", generator.choice(["normal", "attack"], 1000))
    frame = pl.DataFrame({"a": at, "b": at**2, "c": np.sqrt(at)}).with_columns(label)
    leak_check = check(*parted(frame))
    assert leak_check["L003"].severity == "info"
    assert "may be alike by chance" in leak_check["L003"].message
    assert "L004" not in leak_check


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_depend_on_the_label_repeat_by_chance_within_a_class(seed: int) -> None:
    generator = np.random.default_rng(seed)
    attack = generator.random(3000) < 0.3
    kinds = np.array(list("abcdefgh"))
    table = {f"c{i}": kinds[(generator.binomial(7, 0.3, 3000) + attack) % 8] for i in range(4)}
    label = pl.Series("label", np.where(attack, "attack", "normal"))
    frame = pl.DataFrame(table).with_columns(label)
    leak_check = check(*parted(frame))
    assert leak_check["L001"].severity == "info"
    assert not leak_check.leaks
    # With one column more that seldom repeats, a few copies are no chance.
    finer = frame.with_columns(size=pl.Series(generator.normal(size=3000)))
    train, _ = parted(finer)
    copied = data(pl.concat([finer[2100:], finer[:9]]), positive="attack")
    assert check(train, copied)["L001"].severity == "leak"


def test_texts_that_differ_in_case_and_punctuation_are_near_duplicates() -> None:
    titles = pl.Series("title", [f"Offer number {i}, pure!" for i in range(60)])
    label = pl.Series("label", ["normal", "attack"] * 30)
    train = data(pl.DataFrame([titles, label]), text="title")
    other = titles[:9].str.to_uppercase().str.replace("!", "")
    leak_check = check(train, data(pl.DataFrame([other, label[:9]]), text="title"))
    assert leak_check["L003"].evidence["test_rows"] == 9


@settings(max_examples=50)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=8))
def test_rounding_keeps_numbers_within_half_of_a_digit(numbers: list[float]) -> None:
    rounded_value = rounded_frame(pl.DataFrame({"x": numbers}, schema={"x": pl.Float64}))[
        "x"
    ].to_list()
    for number, near in zip(numbers, rounded_value, strict=True):
        if np.isfinite(number) and abs(number) > 1e-300:
            assert abs(near - number) <= 0.005001 * abs(number)
        elif not np.isfinite(number):
            assert near == number
