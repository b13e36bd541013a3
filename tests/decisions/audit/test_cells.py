"""What is known of four cells, against all matrices with these cells and totals."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from assay.decisions.audit.claims_file import build
from assay.decisions.audit.search.matrices import LARGEST, KnownCells, Search, known_of, region_of
from assay.decisions.audit.search.numbers import in_four_cells

CELLS = ("tp", "fp", "fn", "tn")
ALL = (*CELLS, "positives", "negatives", "n")
PATTERNS = [names for size in range(len(ALL) + 1) for names in itertools.combinations(ALL, size)]


def counts(tp: int, fp: int, fn: int, tn: int) -> dict[str, int]:
    return {
        "tp": tp, "fp": fp, "fn": fn, "tn": tn,
        "positives": tp + fn, "negatives": fp + tn, "n": tp + fp + fn + tn,
    }  # fmt: skip


def matrices_of(known: dict[str, int], most: int) -> Iterator[tuple[int, ...]]:
    """All matrices of at most so many rows with what is known."""
    for four in itertools.product(range(most + 1), repeat=4):
        if sum(four) <= most:
            cells = counts(*four)
            if all(cells[name] == count for name, count in known.items()):
                yield four


def table(known: KnownCells) -> set[tuple[int, ...]]:
    region = region_of(known)
    assert region is not None
    search_result = Search(region, in_four_cells).find([])
    assert search_result.complete
    columns = [search_result.matrices.cells[cell.upper()].tolist() for cell in CELLS]
    rows = list(zip(*columns, strict=True))
    assert len(set(rows)) == len(rows)
    return set(rows)


@pytest.mark.parametrize("pattern", PATTERNS, ids="-".join)
def test_a_region_holds_just_the_matrices_with_what_is_known(pattern: tuple[str, ...]) -> None:
    rng = random.Random("-".join(pattern))
    four = [rng.randint(0, 2) for _ in CELLS]
    told = {name: counts(*four)[name] for name in pattern}
    known = KnownCells(**told).completed()
    assert known is not None
    expected = set(matrices_of(told, sum(four)))
    assert tuple(four) in expected
    if known.n is not None:
        assert table(known) == expected
        return
    region = region_of(known)
    open_rows = sum(rows is None for rows in (known.positives, known.negatives))
    if region is None:
        # One endless count can be searched, two can't.
        assert open_rows
        return
    for each in expected:
        placed = dict(zip(CELLS, each, strict=True))
        assert any(
            all(
                placed[cell] == constant + sum(s * x for s, x in zip(steps, free, strict=True))
                for cell, (constant, steps) in ((c, region.cells[c.upper()]) for c in CELLS)
            )
            for free in itertools.product(range(sum(four) + 1), repeat=len(region.spans))
        ), each


@pytest.mark.parametrize("pattern", PATTERNS, ids="-".join)
def test_what_follows_by_addition_is_so_in_every_matrix(pattern: tuple[str, ...]) -> None:
    rng = random.Random("+".join(pattern))
    for _ in range(3):
        told = {name: rng.randint(0, 2) for name in pattern}
        known_cells = KnownCells(**told).completed()
        if "n" in told or {"positives", "negatives"} <= set(told):
            size = told.get("n", told.get("positives", 0) + told.get("negatives", 0))
            expected = list(matrices_of(told, size))
            assert (known_cells is not None) == bool(expected), told
        elif known_cells is not None:
            expected = list(matrices_of(told, 8))
            assert expected, told
        if known_cells is not None:
            for name in ALL:
                value = getattr(known_cells, name)
                assert value is None or {counts(*each)[name] for each in expected} == {value}


def test_a_total_that_is_the_same_in_every_matrix_is_known() -> None:
    region = region_of(KnownCells(positives=6959, negatives=7910, n=14869))
    assert region is not None
    assert region.fixed_total(["TP", "FN"]) == 6959
    assert region.fixed_total(["TP", "FP", "FN", "TN"]) == 14869
    assert region.fixed_total(["TP", "FP"]) is None


def test_two_endless_counts_and_counts_beyond_floats_are_not_searched() -> None:
    assert region_of(KnownCells()) is None
    assert region_of(KnownCells(positives=5)) is None
    assert region_of(KnownCells(tp=1, fp=1, fn=1)) is not None
    assert region_of(KnownCells(positives=LARGEST + 1, negatives=1, n=LARGEST + 2)) is None


# -- what a claim tells ----------------------------------------------------------------------------


def told(**raw: object) -> tuple[KnownCells, tuple[str, ...]]:
    named = {"positive": "attack", "negative": "normal", "reported": {}}
    return known_of(build({**named, **raw}))


def test_supports_give_both_totals_and_the_size() -> None:
    known, notes = told(support={"normal": 7910, "attack": 6959})
    assert (known.positives, known.negatives, known.n) == (6959, 7910, 14869)
    assert notes == ()


def test_a_size_that_the_supports_contradict_is_passed_over_and_that_is_said() -> None:
    known, notes = told(support={"normal": 7910, "attack": 6959}, n=14870)
    assert known.n == 14869
    assert notes == ("the stated size 14,870 does not fit the counts and was passed over",)


def test_a_support_that_the_cells_contradict_is_passed_over_and_that_is_said() -> None:
    known, notes = told(confusion={"tp": 9, "fn": 2}, support={"normal": 8, "attack": 10})
    assert (known.tp, known.positives, known.negatives) == (9, 11, None)
    assert notes == ("the support does not fit the cells and was passed over",)
