from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.learn.validation import LeaveOneOut, RowsToSplit

FAMILIES = ["normal"] * 30 + ["scan"] * 6 + ["dos"] * 12 + ["worm"] * 3
CLASSES = ["0"] * 30 + ["1"] * 21


def rows(families: list[str | None], classes: list[str] = CLASSES) -> RowsToSplit:
    return RowsToSplit.of_arrays(None, classes, families)


def test_a_family_is_judged_with_harmless_rows_that_were_not_learned() -> None:
    splits = {split.name: split for split in LeaveOneOut().splits(rows(list(FAMILIES)))}
    assert list(splits) == ["dos", "scan", "worm"]
    families = np.array(FAMILIES)
    for name, split in splits.items():
        judged, learned = families[split.test], families[split.train]
        assert set(judged) == {"normal", name}
        assert name not in learned
        assert (judged == "normal").sum() == 10
        assert (judged == name).sum() == FAMILIES.count(name)
        assert (learned == "normal").sum() == 20
    judged_rows = np.concatenate([split.test for split in splits.values()])
    assert sorted(judged_rows) == list(range(51))


def test_harmless_rows_need_no_family() -> None:
    without = [None if name == "normal" else name for name in FAMILIES]
    named, unnamed = (LeaveOneOut().splits(rows(list(f))) for f in (FAMILIES, without))
    for one, other in zip(named, unnamed, strict=True):
        assert np.array_equal(one.test, other.test)


def test_an_attack_without_a_family_is_refused() -> None:
    families = [None if i == 40 else name for i, name in enumerate(FAMILIES)]
    with pytest.raises(InputError, match="no value in 1 row, row 41"):
        LeaveOneOut().splits(rows(families))


def test_a_day_is_held_out_as_it_is() -> None:
    days = [f"day {i % 4}" for i in range(51)]
    splits = LeaveOneOut().splits(rows(list(days)))
    assert [split.name for split in splits] == ["day 0", "day 1", "day 2", "day 3"]
    for split in splits:
        assert {days[i] for i in split.test} == {split.name}
        assert split.name not in {days[i] for i in split.train}


def test_a_harmless_day_is_held_out_like_the_others() -> None:
    days = ["monday"] * 10 + ["tuesday"] * 30 + ["friday"] * 11
    splits = {split.name: split for split in LeaveOneOut().splits(rows(list(days)))}
    assert splits["monday"].test.tolist() == list(range(10))


def test_one_family_alone_is_refused() -> None:
    with pytest.raises(InputError, match="one family of attack only, 'scan'"):
        LeaveOneOut().splits(rows([None] * 30 + ["scan"] * 21))


def test_fewer_harmless_rows_than_families_are_refused() -> None:
    classes = ["0"] * 2 + ["1"] * 9
    with pytest.raises(InputError, match="3 families of attack share 2 rows of class '0'"):
        LeaveOneOut().splits(rows([None, None, *"abcabcabc"], classes))


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(0, 50), st.integers(0, 99))
def test_families_are_judged_against_equally_many_harmless_rows(
    families: int, more: int, seed: int
) -> None:
    harmless = families + more
    names = [None] * harmless + [f"f{i % families}" for i in range(3 * families)]
    classes = ["0"] * harmless + ["1"] * 3 * families
    splits = LeaveOneOut(seed).splits(rows(list(names), classes))
    sizes = [int((split.test < harmless).sum()) for split in splits]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == harmless


def test_of_three_classes_whole_values_are_held_out() -> None:
    splits = LeaveOneOut().splits(rows(list("xxyyzz"), list("abcabc")))
    assert [split.test.tolist() for split in splits] == [[0, 1], [2, 3], [4, 5]]
