"""Rows on which two models decide differently."""

import numpy as np
import pytest

from assay import compare
from assay.errors import InputError

TRUTH = ["dos", "dos", "scan", "normal", "normal", "normal"]
KIND = ["flood", "flood", "probe", "web", "web", "mail"]
OLD = ["dos", "normal", "normal", "normal", "dos", "scan"]
NEW = ["dos", "dos", "dos", "dos", "normal", "dos"]


def flips_of(comparison) -> dict:
    return {
        (flip.label, flip.family): (flip.rows, flip.fixed, flip.broken, flip.moved)
        for flip in comparison.flips
    }


def test_flips_are_counted_over_all_by_label_and_by_family() -> None:
    comparison = compare(
        TRUTH, decisions={"old": OLD, "new": NEW}, families=KIND, ids=list("abcdef"), resamples=2
    )
    assert flips_of(comparison) == {
        (None, None): (6, 2, 1, 2),
        ("dos", None): (2, 1, 0, 0),
        ("normal", None): (3, 1, 1, 1),
        ("scan", None): (1, 0, 0, 1),
        (None, "flood"): (2, 1, 0, 0),
        (None, "mail"): (1, 0, 0, 1),
        (None, "probe"): (1, 0, 0, 1),
        (None, "web"): (2, 1, 1, 0),
    }
    assert [(r.row, r.id, r.label, r.family, r.a, r.b, r.flip) for r in comparison.flipped()] == [
        (1, "b", "dos", "flood", "normal", "dos", "fixed"),
        (2, "c", "scan", "probe", "normal", "dos", "moved"),
        (3, "d", "normal", "web", "normal", "dos", "broken"),
        (4, "e", "normal", "web", "dos", "normal", "fixed"),
        (5, "f", "normal", "mail", "scan", "dos", "moved"),
    ]
    assert {row.score_a for row in comparison.flipped()} == {None}
    assert comparison.to_dict()["flips"][0] == {
        "a": "old",
        "b": "new",
        "label": None,
        "family": None,
        "rows": 6,
        "fixed": 2,
        "broken": 1,
        "moved": 2,
    }


def test_other_direction_turns_fixed_and_broken() -> None:
    comparison = compare(TRUTH, decisions={"old": OLD, "new": NEW}, resamples=2)
    assert [row.flip for row in comparison.flipped("new", "old")] == [
        "broken",
        "moved",
        "fixed",
        "broken",
        "moved",
    ]
    assert comparison.flipped("old", "old") == ()


def test_flips_are_those_of_mcnemar() -> None:
    generator = np.random.default_rng(1)
    truth = generator.integers(0, 2, 300)
    scores = {name: np.clip(truth * 0.3 + generator.random(300) * 0.7, 0, 1) for name in "ab"}
    comparison = compare(truth, scores=scores, resamples=2)
    by = flips_of(comparison)
    for test, label in zip(comparison.tests, (None, "1", "0"), strict=False):
        assert (test.table["only_b"], test.table["only_a"]) == by[label, None][1:3]
    flipped = comparison.flipped()
    assert len(flipped) == sum(by[None, None][1:])
    for row in flipped:
        assert (row.score_a, row.score_b) == (scores["a"][row.row], scores["b"][row.row])
        assert (row.score_a >= 0.5) != (row.score_b >= 0.5)
        assert row.id is None


def test_at_a_rule_decisions_are_those_at_the_chosen_thresholds() -> None:
    generator = np.random.default_rng(2)
    truth = generator.random(200) < 0.5
    scores = {name: truth * 1.5 + generator.normal(size=200) for name in ("old", "new")}
    comparison = compare(
        truth, scores=scores, at="max-far=0.2", ids=np.arange(200) + 7, resamples=5
    )
    for row in comparison.flipped():
        assert row.id == row.row + 7
        assert isinstance(row.id, int)
        for said, name, score in (("a", "old", row.score_a), ("b", "new", row.score_b)):
            assert (getattr(row, said) == "true") == (score >= comparison.thresholds[name])


def test_counts_weigh_flips_and_rows_that_never_occur_keep_their_ids_apart() -> None:
    comparison = compare(
        [0, 1, 1, 0],
        decisions={"old": [1, 1, 0, 1], "new": [0, 1, 1, 0]},
        counts=[0, 5, 3, 2],
        ids=["gone", "x", "y", "z"],
        resamples=2,
    )
    assert flips_of(comparison)[None, None] == (10, 5, 0, 0)
    assert [(row.row, row.id) for row in comparison.flipped()] == [(2, "y"), (3, "z")]


def test_families_that_a_negative_label_makes_are_taken() -> None:
    comparison = compare(TRUTH, decisions={"old": OLD, "new": NEW}, negative="normal", resamples=2)
    assert {flip.family for flip in comparison.flips} == {None, "dos", "normal", "scan"}


def test_unknown_model_is_refused() -> None:
    comparison = compare(TRUTH, decisions={"old": OLD, "new": NEW}, resamples=2)
    with pytest.raises(InputError, match="no model 'other'; found old, new"):
        comparison.flipped("old", "other")
