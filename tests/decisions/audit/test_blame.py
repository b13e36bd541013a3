"""Who is to blame where numbers can't all be true, against all ways of mending a claim."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.decisions.audit.search import numbers as blaming
from assay.decisions.audit.search.numbers import Numbers, blame, smallest

EVERYTHING = frozenset(range(7))
# Any family of sets of which every subset of a possible one is possible has such contradictions.
CONTRADICTIONS = st.lists(st.frozensets(st.integers(0, 6), min_size=1, max_size=4), max_size=6)


def holds(contradictions: list[Numbers], chosen: Numbers) -> bool:
    return not any(each <= chosen for each in contradictions)


def smallest_corrections(contradictions: list[Numbers]) -> list[Numbers]:
    """All sets of fewest numbers whose removal leaves the rest possible."""
    for size in range(len(EVERYTHING) + 1):
        corrections = [
            frozenset(each)
            for each in itertools.combinations(sorted(EVERYTHING), size)
            if holds(contradictions, EVERYTHING - frozenset(each))
        ]
        if corrections:
            return corrections
    raise AssertionError("no numbers at all can always be true")


def is_smallest(contradictions: list[Numbers], members: Numbers) -> bool:
    return not holds(contradictions, members) and all(
        holds(contradictions, members - {i}) for i in members
    )


@settings(max_examples=300)
@given(CONTRADICTIONS)
def test_a_number_is_wrong_if_every_smallest_correction_holds_it(broken: list[Numbers]) -> None:
    culprits = blame(EVERYTHING, lambda chosen: holds(broken, chosen))
    corrections = smallest_corrections(broken)
    assert frozenset(culprits.wrong) == frozenset.intersection(*corrections)
    for i, shown in culprits.wrong.items():
        assert i in shown
        assert is_smallest(broken, shown)
        # What shows it holds no other number that is wrong.
        assert shown & frozenset(culprits.wrong) == {i}


@settings(max_examples=300)
@given(CONTRADICTIONS)
def test_what_some_corrections_hold_is_in_a_conflict(broken: list[Numbers]) -> None:
    culprits = blame(EVERYTHING, lambda chosen: holds(broken, chosen))
    corrections = smallest_corrections(broken)
    disputed = frozenset().union(*corrections) - frozenset(culprits.wrong)
    assert disputed <= culprits.disputed
    for members in culprits.conflicts:
        assert is_smallest(broken, members)
        assert members & disputed
        assert not members & frozenset(culprits.wrong)


@settings(max_examples=300)
@given(CONTRADICTIONS)
def test_what_is_left_can_be_true_together(broken: list[Numbers]) -> None:
    culprits = blame(EVERYTHING, lambda chosen: holds(broken, chosen))
    assert holds(broken, culprits.kept)
    assert not culprits.kept & (frozenset(culprits.wrong) | culprits.disputed)
    if holds(broken, EVERYTHING):
        assert (culprits.wrong, culprits.conflicts, culprits.kept) == ({}, (), EVERYTHING)


@given(CONTRADICTIONS)
def test_a_smallest_contradiction_is_possible_without_any_member(broken: list[Numbers]) -> None:
    if not holds(broken, EVERYTHING):
        subset = smallest(EVERYTHING, lambda chosen: holds(broken, chosen))
        assert is_smallest(broken, subset)


@given(CONTRADICTIONS)
def test_where_ways_are_too_many_only_proven_contradictions_are_named(
    broken: list[Numbers],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blaming, "_MOST_CORRECTIONS", 0)
        culprits = blame(EVERYTHING, lambda chosen: holds(broken, chosen))
    assert frozenset(culprits.wrong) <= frozenset.intersection(*smallest_corrections(broken))
    assert holds(broken, culprits.kept)
    for members in (*culprits.conflicts, *culprits.wrong.values()):
        assert is_smallest(broken, members)


def test_the_one_number_that_mends_all_is_to_blame() -> None:
    broken = [frozenset({0, 3}), frozenset({1, 3}), frozenset({2, 3, 4})]
    culprits = blame(EVERYTHING, lambda chosen: holds(broken, chosen))
    assert list(culprits.wrong) == [3]
    assert culprits.conflicts == ()
    assert culprits.kept == EVERYTHING - {3}


def test_of_two_that_contradict_each_other_neither_is_wrong() -> None:
    broken = [frozenset({0, 1})]
    culprits = blame(EVERYTHING, lambda chosen: holds(broken, chosen))
    assert culprits.wrong == {}
    assert culprits.conflicts == (frozenset({0, 1}),)
    assert culprits.kept == EVERYTHING - {0, 1}


def test_a_number_that_contradicts_itself_is_wrong_whatever_the_others_are() -> None:
    broken = [frozenset({5}), frozenset({0, 1})]
    culprits = blame(EVERYTHING, lambda chosen: holds(broken, chosen))
    assert culprits.wrong == {5: frozenset({5})}
    assert culprits.conflicts == (frozenset({0, 1}),)


def test_nothing_is_asked_again_where_all_hold_together() -> None:
    asked: list[Numbers] = []

    def possible(chosen: Numbers) -> bool:
        asked.append(chosen)
        return True

    assert blame(frozenset({0, 1}), possible).kept == {0, 1}
    assert asked == [frozenset({0, 1})]
