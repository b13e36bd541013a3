"""Which of several numbers are called wrong."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit.search.conflict import Numbers, conflicts

SETS = st.lists(st.frozensets(st.integers(0, 6), min_size=1, max_size=4), max_size=4)
EVERYTHING = frozenset(range(7))


def holds(broken: list[Numbers], chosen: Numbers) -> bool:
    return not any(each <= chosen for each in broken)


@given(SETS)
def test_what_is_left_can_be_true_and_every_conflict_can_not(broken: list[Numbers]) -> None:
    found = conflicts(EVERYTHING, lambda chosen: holds(broken, chosen))
    wrong = frozenset().union(*(conflict.wrong for conflict in found))
    assert holds(broken, EVERYTHING - wrong)
    for conflict in found:
        assert not holds(broken, conflict.members)
        assert conflict.culprit is None or conflict.culprit in conflict.members
        for member in conflict.members:
            assert holds(broken, conflict.members - {member})


@given(SETS)
def test_the_only_number_whose_removal_mends_all_is_to_blame(broken: list[Numbers]) -> None:
    mending = [i for i in EVERYTHING if holds(broken, EVERYTHING - {i})]
    found = conflicts(EVERYTHING, lambda chosen: holds(broken, chosen))
    if broken and len(mending) == 1:
        assert [conflict.wrong for conflict in found] == [frozenset(mending)]
    elif broken and len(mending) > 1:
        smallest = min(
            size
            for size in range(1, 8)
            for chosen in itertools.combinations(EVERYTHING, size)
            if not holds(broken, frozenset(chosen))
        )
        assert len(found[0].members) == smallest
        assert found[0].wrong == found[0].members


def test_nothing_is_asked_again_where_all_hold_together() -> None:
    asked = []
    assert conflicts(frozenset({0, 1}), lambda chosen: not asked.append(chosen)) == ()
    assert asked == [frozenset({0, 1})]
