"""L013, L014, L017, L018, L020: how rows were drawn, copied or made up."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.learn.checks import check
from assay.learn.checks.case import case_of
from assay.learn.checks.interpolated import made_up, nearest

from .tables import data, smote

NAMES = list("abcdef")


def rows(generator: np.random.Generator, number: int, label: str) -> pl.DataFrame:
    table = pl.DataFrame(generator.normal(size=(number, 6)), schema=NAMES)
    return table.with_columns(label=pl.lit(label))


def shuffled(*frames: pl.DataFrame) -> pl.DataFrame:
    return pl.concat(frames).sample(fraction=1, shuffle=True, seed=3)


def halves(frame: pl.DataFrame) -> tuple[object, object]:
    cut = frame.height * 7 // 10
    return data(frame[:cut]), data(frame[cut:])


# -- copies ----------------------------------------------------------------------------------------


def test_a_class_drawn_again_with_replacement_is_found() -> None:
    generator = np.random.default_rng(1)
    few, many = rows(generator, 60, "attack"), rows(generator, 400, "normal")
    copied = few.sample(340, with_replacement=True, seed=2)
    finding = check(data(shuffled(many, few, copied)))["L013"]
    assert finding.severity == "warning"
    assert finding.evidence["label"] == "attack"
    assert finding.evidence["distinct"] == 60


def test_copies_on_both_sides_are_a_leak_and_in_training_alone_an_info() -> None:
    generator = np.random.default_rng(1)
    few, many = rows(generator, 60, "attack"), rows(generator, 400, "normal")
    copied = few.sample(340, with_replacement=True, seed=2)
    before = check(*halves(shuffled(many, few, copied)))
    assert {"L001", "L013"} <= {each.code for each in before.leaks}
    train, test = shuffled(many[:280], few[:42]), shuffled(many[280:], few[42:])
    balanced = pl.concat([train, few[:42].sample(238, with_replacement=True, seed=2)])
    after = check(data(balanced), data(test))
    assert after.honest
    assert after["L013"].severity == "info"


def test_a_flood_of_one_row_is_no_oversampling() -> None:
    generator = np.random.default_rng(1)
    few, many = rows(generator, 100, "attack"), rows(generator, 400, "normal")
    flood = pl.concat([few[:1]] * 300)
    assert "L013" not in check(data(shuffled(many, few, flood)))


def test_copies_in_all_classes_are_no_oversampling() -> None:
    generator = np.random.default_rng(1)
    both = pl.concat([rows(generator, 60, "attack"), rows(generator, 100, "normal")])
    assert "L013" not in check(data(shuffled(both, both, both)))


# -- made-up rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_made_by_smote_before_the_split_are_a_leak(seed: int) -> None:
    generator = np.random.default_rng(seed)
    few, many = rows(generator, 80, "attack"), rows(generator, 500, "normal")
    frame = shuffled(many, few, smote(generator, few, 420))
    finding = check(*halves(frame))["L014"]
    assert (finding.severity, finding.evidence["label"]) == ("leak", "attack")
    assert finding.evidence["share"] > 0.5
    assert check(data(frame))["L014"].severity == "warning"


def test_rows_made_by_smote_in_the_training_part_are_no_leak() -> None:
    generator = np.random.default_rng(4)
    few, many = rows(generator, 160, "attack"), rows(generator, 500, "normal")
    train = pl.concat([many[:350], few[:100], smote(generator, few[:100], 250)])
    test = pl.concat([many[350:], few[100:]])
    leak_check = check(data(train), data(test))
    assert leak_check["L014"].severity == "info"
    assert leak_check.honest


def test_real_rows_do_not_look_made_up() -> None:
    for seed in range(5):
        generator = np.random.default_rng(seed)
        whole = [rows(generator, 300, label) for label in ("attack", "normal")]
        assert "L014" not in check(data(shuffled(*whole)))
        grid = [frame.with_columns((pl.col(NAMES) * 3).round()) for frame in whole]
        assert "L014" not in check(data(shuffled(*grid)))


def test_rows_that_were_made_are_told_from_those_they_were_made_of() -> None:
    generator = np.random.default_rng(5)
    few, many = rows(generator, 80, "attack"), rows(generator, 500, "normal")
    frame = pl.concat([many, few, smote(generator, few, 420)])
    (made_up_row,) = made_up(case_of(data(frame), None), 1)
    assert made_up_row[:580].sum() == 0
    assert made_up_row[580:].mean() > 0.95


def test_two_columns_are_enough_where_all_digits_are_there() -> None:
    generator = np.random.default_rng(7)
    narrow = [rows(generator, 80, "attack"), rows(generator, 500, "normal")]
    few, many = (frame.select("a", "b", "label") for frame in narrow)
    assert "L014" not in check(data(shuffled(many, few)))
    finding = check(data(shuffled(many, few, smote(generator, few, 420))))["L014"]
    assert finding.evidence["label"] == "attack"


def test_the_nearest_are_those_that_brute_force_finds() -> None:
    generator = np.random.default_rng(6)
    some, others = generator.normal(size=(5, 3)), generator.normal(size=(40_000, 3))
    neighbour_rows = nearest(some, others, 7)
    for row, at in zip(some, neighbour_rows, strict=True):
        far = np.square(others - row).sum(axis=1)
        assert set(at) == set(np.argsort(far)[:7])


# -- shares ----------------------------------------------------------------------------------------


def test_a_prevalence_far_from_the_base_rate_is_a_warning() -> None:
    generator = np.random.default_rng(1)
    frame = shuffled(rows(generator, 100, "attack"), rows(generator, 300, "normal"))
    finding = check(data(frame), base_rate=0.001)["L017"]
    assert finding.severity == "warning"
    assert finding.evidence["prevalence"] == 0.25
    assert finding.evidence["odds_ratio"] == pytest.approx((1 / 3) / (0.001 / 0.999))
    # Of 1,000 attacks and 999,000 others, 990 and 9,990 are flagged.
    assert "of 91% there" in finding.message
    assert check(data(frame), base_rate=0.1)["L017"].severity == "info"
    assert "L017" not in check(data(frame), base_rate=0.2)
    assert "L017" not in check(data(frame))


def test_few_rows_of_a_class_are_a_warning() -> None:
    generator = np.random.default_rng(1)
    frame = shuffled(rows(generator, 90, "attack"), rows(generator, 300, "normal"))
    finding = check(data(frame))["L018"]
    assert finding.evidence == {"attack": {"rows": 90, "judged": 27}}
    more = shuffled(rows(generator, 100, "attack"), rows(generator, 300, "normal"))
    assert "L018" not in check(data(more))


def test_accuracy_flatters_where_one_label_is_everywhere() -> None:
    generator = np.random.default_rng(1)
    frame = shuffled(rows(generator, 100, "attack"), rows(generator, 900, "normal"))
    assert check(data(frame))["L020"].evidence == {"label": "normal", "share": 0.9}
    assert "L020" not in check(data(frame[:900].filter(pl.col("label") == "normal")))
