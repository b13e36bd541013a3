"""Sides of labels, open sets and families: a few rows, each table written down by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.engines import Ask, count_coded, resolve
from assay.engines.resolving import (
    BETWEEN,
    FamilyTallies,
    _must_be_held,
    kinds_of,
    labels_of_kinds,
    sided_families,
)
from assay.errors import InputError, LabelError, ScoreError
from assay.sources import code_arrays
from assay.sources.coded import Labels
from assay.sources.labelling import sided
from assay.tally import ClusterTally, Resolved, Tally
from assay.tally.confusion import Crosstab
from assay.tally.keeping import Cuts
from assay.tally.named_tally import DECISION


def counted(ask: Ask | None = None, **columns: Any) -> Tally:
    return count_coded(code_arrays(**columns), ask or Ask())


def resolved(tally: Tally, **sides: Any) -> Resolved:
    return resolve(tally, **sides)[0]


FOUR = {"y_true": ["dos", "normal", "worm", "normal"], "y_score": [0.9, 0.2, 0.4, 0.7]}


# -- families of labels ----------------------------------------------------------------------------


def test_each_label_beside_the_negative_is_a_family() -> None:
    resolved_tally = resolved(counted(**FOUR), negative="normal")
    assert resolved_tally.labels == ("normal", "not normal")
    assert {key: table.cells for key, table in resolved_tally.slices.items()} == {
        ("family", "dos"): ((0, 0), (0, 1)),
        ("family", "normal"): ((1, 1), (0, 0)),
        ("family", "worm"): ((0, 0), (1, 0)),
    }


def test_slices_of_other_columns_stand_beside_families() -> None:
    site = {"site": ["a", "a", "b", "b"]}
    resolved_tally = resolved(counted(**FOUR, slices=site), negative="normal")
    assert list(resolved_tally.slices) == [
        *(("family", name) for name in ("dos", "normal", "worm")),
        *(("site", name) for name in "ab"),
    ]
    assert resolved_tally.slices["site", "a"].cells == ((1, 0), (0, 1))


def test_a_column_of_families_is_preferred_to_labels() -> None:
    told = {"site": ["a", "a", "b", "b"], "family": ["flood", "-", "mail", "-"]}
    resolved_tally = resolved(counted(**FOUR, slices=told), negative="normal")
    assert [name for column, name in resolved_tally.slices if column == "family"] == [
        "-",
        "flood",
        "mail",
    ]


@pytest.mark.parametrize("sides", [{"negative": "normal"}, {"positive": "dos"}])
def test_one_label_beside_the_negative_is_no_family(sides: dict[str, str]) -> None:
    rows = {"y_true": ["dos", "normal"], "y_score": [0.9, 0.2]}
    assert resolved(counted(**rows), **sides).slices == {}


def test_one_positive_label_of_three_has_no_families() -> None:
    resolved_tally = resolved(counted(**FOUR), positive="dos")
    assert (resolved_tally.slices, resolved_tally.confusion.cells) == ({}, ((2, 1), (0, 1)))


# -- what decides ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "kind", "decided"),
    [
        ([0.0, 1.0], "probability", True),
        ([-0.001, 1.0], "score", False),
        ([0.0, 1.001], "score", False),
        ([-0.001, 1.001], "score", False),
    ],
)
def test_scores_from_0_to_1_are_probabilities(
    scores: list[float], kind: str, decided: bool
) -> None:
    resolved_tally = resolved(counted(y_true=["normal", "attack"], y_score=scores))
    assert (resolved_tally.kind, resolved_tally.decided) == (kind, decided)
    assert resolved_tally.threshold == (0.5 if decided else None)
    assert resolved_tally.confusion.cells == (((1, 0), (0, 1)) if decided else ((1, 0), (1, 0)))


def test_decisions_decide_where_there_are_scores_too() -> None:
    rows = {"y_true": ["normal", "attack", "attack"], "y_pred": ["attack", "attack", "normal"]}
    tally = counted(Ask(threshold=0.25), **rows, y_score=[0.1, 0.2, 0.3])
    resolved_tally, notes = resolve(tally)
    assert (resolved_tally.threshold, resolved_tally.decided, resolved_tally.kind) == (
        None,
        True,
        "probability",
    )
    assert resolved_tally.confusion.cells == ((0, 1), (1, 1))
    assert len(notes) == 1
    beyond = counted(**rows, y_score=[-7, 2, 3])
    assert (resolved(beyond).decided, resolved(beyond).kind) == (True, "score")


def test_decisions_alone_have_no_threshold() -> None:
    resolved_tally = resolved(
        counted(Ask(threshold=0.25), y_true=["no", "yes"], y_pred=["no", "no"])
    )
    assert (resolved_tally.threshold, resolved_tally.kind, resolved_tally.scores) == (
        None,
        "",
        None,
    )
    assert resolved_tally.confusion.cells == ((1, 0), (1, 0))


TABLE = {"a": [0.5, 0.2, 0.1], "b": [0.3, 0.2, 0.6], "c": [0.2, 0.6, 0.3]}


def test_of_several_classes_the_largest_probability_decides() -> None:
    resolved_tally = resolved(counted(y_true=["a", "b", "b"], y_proba=TABLE))
    assert (resolved_tally.labels, resolved_tally.positive, resolved_tally.kind) == (
        ("a", "b", "c"),
        None,
        "probability",
    )
    assert resolved_tally.confusion.cells == ((1, 0, 0), (0, 1, 1), (0, 0, 0))
    assert resolved_tally.sample is not None
    assert sorted(resolved_tally.sample.scores[:, 1].tolist()) == [0.2, 0.3, 0.6]


def test_a_threshold_decides_on_no_several_classes() -> None:
    with pytest.raises(ScoreError, match="decides on one positive label"):
        resolve(counted(Ask(threshold=0.5), y_true=["a", "b", "b"], y_proba=TABLE))


def test_two_probabilities_of_three_labels_rank_nothing() -> None:
    two = {"a": [0.5, 0.2], "b": [0.5, 0.8]}
    with pytest.raises(ScoreError, match="a score ranks rows for one positive label, but"):
        resolve(counted(y_true=["a", "b"], y_proba=two), labels=["a", "b", "c"])


def test_each_label_needs_a_column_of_probabilities() -> None:
    with pytest.raises(ScoreError, match=r"no column for \['d'\]; its columns are \['a', 'b', 'c'"):
        resolve(counted(y_true=["a", "b", "b"], y_proba=TABLE), labels=["a", "b", "c", "d"])


PAIR = {"normal": [0.25, 0.5, 0.75, 0.125], "attack": [0.75, 0.5, 0.25, 0.875]}


def test_of_two_probabilities_that_of_the_alarm_is_the_score() -> None:
    rows = {"y_true": ["attack", "normal", "normal", "attack"], "y_proba": PAIR}
    resolved_tally = resolved(counted(**rows))
    assert (resolved_tally.positive, resolved_tally.threshold) == ("attack", 0.5)
    assert resolved_tally.confusion.cells == ((1, 1), (0, 2))
    assert resolved_tally.scores is not None
    assert resolved_tally.scores[0].scores.tolist() == [0.25, 0.5, 0.75, 0.875]
    assert resolved_tally.sample is None
    clusters = ["h", "g", "g", "h"]
    kept = resolved(counted(**rows, clusters=clusters)).sample
    assert kept is not None
    assert kept.scores[:, 0].tolist() == [0.25, 0.5, 0.75, 0.875]
    weighted = counted(**rows, clusters=clusters, sample_weight=[1, 2, 3, 4])
    assert resolved(weighted).sample is None


def test_weighted_losses_are_those_of_the_sides() -> None:
    rows = {"y_true": ["attack", "normal"], "y_score": [0.75, 0.5], "sample_weight": [1.0, 2.0]}
    losses = resolved(counted(**rows)).losses
    assert losses is not None
    brier = (1.0 * 0.25**2 + 2.0 * 0.5**2) / 3
    assert losses.brier_score().mean == pytest.approx(brier)
    other = resolved(counted(**rows), positive="normal").losses
    assert other is not None
    assert other.brier_score().mean == pytest.approx((1.0 * 0.75**2 + 2.0 * 0.5**2) / 3)
    beyond = {**rows, "y_score": [7.5, 0.5]}
    assert resolved(counted(Ask(threshold=1.0), **beyond)).losses is None


def test_rows_below_the_lowest_cut_stand_at_the_smallest_score() -> None:
    rows = {"y_true": ["n", "n", "n", "a", "n"], "y_score": [0.125, 0.25, 0.375, 0.5, 0.75]}
    tally = counted(Ask(scores=Cuts()), **rows)
    for scores in (
        resolved(tally, positive="a").scores,
        sided_families(tally, {"negative": "n", "labels": ["a", "b", "n"]}).resolved.scores,
    ):
        assert scores is not None
        assert scores[0].scores[0] == 0.125
    three = {**rows, "y_true": ["n", "n", "n", "a", "b"]}
    families = sided_families(counted(Ask(scores=Cuts()), **three), {"negative": "n"}).scores
    assert families is not None
    assert families.scores[0] == 0.125


# -- tables that are too large ---------------------------------------------------------------------


def _slices(number: int) -> dict[tuple[str, str], dict[Any, Crosstab]]:
    return {("host", str(i)): {} for i in range(number)}


@pytest.mark.parametrize(("number", "labels"), [(10_000, 100), (1, 10_000), (2_500, 200)])
def test_a_hundred_million_numbers_are_held(number: int, labels: int) -> None:
    tally = Tally(slices=_slices(number))
    _must_be_held(tally, labels)
    with pytest.raises(InputError, match=f"^{number:,} slices have a table of {labels + 1:,} "):
        _must_be_held(tally, labels + 1)
    with pytest.raises(InputError, match=f"^{number + 1:,} slices have"):
        _must_be_held(Tally(slices=_slices(number + 1)), labels)


def test_days_and_clusters_are_held_too() -> None:
    days = {f"day {i}": Tally() for i in range(11)}
    few, many = (
        ClusterTally.of_codes(
            ("a",), np.zeros(size, np.uint8), np.zeros(size, np.uint8), np.arange(size),
            tuple(f"h{i:02}" for i in range(size)),
        )
        for size in (3, 12)
    )  # fmt: skip
    tally = Tally(slices=_slices(10), days=days)
    with pytest.raises(InputError, match=r"^11 days have"):
        _must_be_held(tally, 10_000)
    both = Tally(slices=_slices(10), days=days, clusters={("x",): few, ("y",): many})  # type: ignore[dict-item]
    with pytest.raises(InputError, match=r"^12 clusters have"):
        _must_be_held(both, 10_000)


# -- open sets -------------------------------------------------------------------------------------

OPEN = {"a": [0.5, 0.2, 0.1, 0.7], "b": [0.3, 0.2, 0.6, 0.2], "c": [0.2, 0.6, 0.3, 0.1]}


def _largest(resolved_tally: Resolved) -> dict[str, list[float]]:
    sample = resolved_tally.open_set
    assert sample is not None
    rows = zip(sample.truth.tolist(), sample.scores[:, 0].tolist(), strict=True)
    told: dict[str, list[float]] = {label: [] for label in sample.labels}
    for code, score in sorted(rows):
        told[sample.labels[code]].append(score)
    return told


def test_the_largest_probability_of_rows_of_an_unknown_label() -> None:
    tally = counted(y_true=["a", "b", "new", "new"], y_proba=OPEN, unknown="new")
    resolved_tally, notes = resolve(tally, unknown="new")
    assert _largest(resolved_tally) == {"new": [0.6, 0.7], "wrong": [0.6], "right": [0.5]}
    assert resolved_tally.confusion.cells == ((1, 0, 0), (0, 0, 1), (0, 0, 0))
    assert len(notes) == 1
    assert notes[0] == (
        "2 rows are labelled 'new', which the model does not know: only how they rank against the "
        "2 others is judged, and every other measure is of those 2 alone"
    )


def test_decisions_tell_which_known_rows_are_right() -> None:
    said = ["b", "b", "a", "a"]
    tally = counted(y_true=["a", "b", "new", "c"], y_proba=OPEN, y_pred=said, unknown="new")
    assert _largest(resolved(tally, unknown="new")) == {
        "new": [0.6],
        "wrong": [0.5, 0.7],
        "right": [0.6],
    }


def test_rows_of_an_unknown_label_alone_are_a_part_of_others() -> None:
    tally = counted(y_true=["new"] * 4, y_proba=OPEN, unknown="new", labels=["c", "a", "b"])
    with pytest.raises(LabelError, match="every row is labelled 'new'"):
        resolve(tally, unknown="new")
    resolved_tally, _ = resolve(tally, unknown="new", labels=["c", "a", "b"])
    assert resolved_tally.labels == ("a", "b", "c")
    assert (resolved_tally.confusion.total, resolved_tally.kind) == (0, "probability")
    assert resolved_tally.scores is not None
    assert [table.size for table in resolved_tally.scores] == [0, 0, 0]
    assert _largest(resolved_tally) == {"new": [0.5, 0.6, 0.7], "wrong": [], "right": []}


def test_an_unknown_label_may_be_absent_where_labels_are_listed() -> None:
    tally = counted(y_true=["a", "b", "b", "a"], y_proba=OPEN)
    with pytest.raises(LabelError, match="'new' does not occur"):
        resolve(tally, unknown="new")
    resolved_tally, notes = resolve(tally, unknown="new", labels=["a", "b", "c"])
    assert resolved_tally.confusion.total == 4
    assert notes[-1].startswith("0 rows are labelled 'new'")


@pytest.mark.parametrize("side", ["positive", "negative"])
def test_an_open_set_has_no_sides(side: str) -> None:
    tally = counted(y_true=["a", "b", "new", "new"], y_proba=OPEN, unknown="new")
    with pytest.raises(InputError, match=f"unknown= or {side}=, not both"):
        resolve(tally, unknown="new", **{side: "a"})


def test_an_open_set_has_three_known_labels_at_least() -> None:
    two = {name: OPEN[name] for name in "ab"}
    tally = count_coded(
        code_arrays(["a", "b", "new", "new"], y_proba=_shares(two), unknown="new"), Ask()
    )
    with pytest.raises(LabelError, match="three or more known labels; found 'a', 'b'"):
        resolve(tally, unknown="new")


def _shares(columns: dict[str, list[float]]) -> dict[str, list[float]]:
    total = np.sum(list(columns.values()), axis=0)
    return {name: (np.array(column) / total).tolist() for name, column in columns.items()}


# -- by family -------------------------------------------------------------------------------------

TRUTH = ["attack", "attack", "normal", "attack", "normal", "normal"]
FAMILY = ["dos", "worm", "-", "worm", "-", "odd"]
SCORES = [0.9, 0.2, 0.7, 0.6, 0.1, 0.3]


def kinds(**columns: Any) -> Tally:
    rows = code_arrays(TRUTH, slices={"family": FAMILY}, **columns)
    return count_coded(kinds_of(rows, "family"), Ask())


def test_label_and_family_together_are_a_label() -> None:
    rows = code_arrays(TRUTH, y_score=SCORES, slices={"family": FAMILY, "site": ["x"] * 6})
    named = kinds_of(rows, "family")
    pairs = [f"{label}{BETWEEN}{family}" for label, family in zip(TRUTH, FAMILY, strict=True)]
    assert [named.truth.names[code] for code in named.truth.codes] == pairs
    assert sorted(named.truth.names) == sorted(set(pairs))
    assert (named.slices, named.truth.kind) == ({}, rows.truth.kind)
    for other in (None, "none"):
        plain = kinds_of(rows, other)
        assert (plain.truth, plain.slices) == (rows.truth, {})
    assert labels_of_kinds(kinds(y_score=SCORES)).names == ("attack", "normal")


def test_a_thousand_families_are_told_apart() -> None:
    names = [f"f{i:03}" for i in range(600)]
    rows = code_arrays(["attack"] * 600, y_score=[0.5] * 600, slices={"family": names})
    named = kinds_of(rows, "family")
    assert [named.truth.names[code].partition(BETWEEN)[2] for code in named.truth.codes] == names


def _table(family_tallies: FamilyTallies) -> dict[str, dict[float, int]]:
    tally = family_tallies.scores
    assert tally is not None
    return {
        label: {s: int(n) for s, n in zip(tally.scores.tolist(), counts.tolist(), strict=True) if n}
        for label, counts in zip(tally.labels, tally.counts, strict=True)
    }


@pytest.mark.parametrize("sides", [{"positive": "attack"}, {"negative": "normal"}])
def test_positives_stand_by_their_family(sides: dict[str, str]) -> None:
    family_tallies = sided_families(kinds(y_score=SCORES), sides, by_family=True)
    assert _table(family_tallies) == {
        "normal": {0.1: 1, 0.3: 1, 0.7: 1},
        "dos": {0.9: 1},
        "worm": {0.2: 1, 0.6: 1},
    }
    assert family_tallies.known == ("-", "dos", "odd", "worm")
    assert family_tallies.places == {
        f"attack{BETWEEN}dos": 1,
        f"attack{BETWEEN}worm": 2,
        f"normal{BETWEEN}-": 0,
        f"normal{BETWEEN}odd": 0,
    }
    assert family_tallies.resolved.confusion.cells == ((2, 1), (1, 2))
    assert family_tallies.rows is None


def test_a_family_may_be_called_like_the_negative_label() -> None:
    rows = code_arrays(["attack", "normal"], y_score=[0.9, 0.1], slices={"family": ["normal", "-"]})
    tally = count_coded(kinds_of(rows, "family"), Ask())
    family_tallies = sided_families(tally, {"positive": "attack"}, by_family=True)
    assert family_tallies.places == {f"attack{BETWEEN}normal": 1, f"normal{BETWEEN}-": 0}


def test_decisions_are_scores_of_0_and_1() -> None:
    said = ["attack", "normal", "attack", "attack", "normal", "normal"]
    family_tallies = sided_families(kinds(y_pred=said), {"positive": "attack"}, by_family=True)
    assert _table(family_tallies) == {
        "normal": {0.0: 2, 1.0: 1},
        "dos": {1.0: 1},
        "worm": {0.0: 1, 1.0: 1},
    }
    assert family_tallies.resolved.confusion.cells == ((2, 1), (1, 2))


def test_rows_in_clusters_are_kept_by_family() -> None:
    hosts = ["h", "h", "g", "g", "g", "h"]
    family_tallies = sided_families(
        kinds(y_score=SCORES, clusters=hosts), {"positive": "attack"}, by_family=True
    )
    assert family_tallies.rows is not None
    assert family_tallies.rows.labels == ("normal", "dos", "worm")
    told = zip(
        family_tallies.rows.truth.tolist(), family_tallies.rows.scores[:, 0].tolist(), strict=True
    )
    assert sorted(told) == [(0, 0.1), (0, 0.3), (0, 0.7), (1, 0.9), (2, 0.2), (2, 0.6)]
    assert family_tallies.resolved.sample is not None


def test_of_two_probabilities_the_rows_have_that_of_the_alarm() -> None:
    table = {"attack": SCORES, "normal": [1 - score for score in SCORES]}
    hosts = ["h", "h", "g", "g", "g", "h"]
    family_tallies = sided_families(
        kinds(y_proba=table, clusters=hosts), {"positive": "attack"}, by_family=True
    )
    assert _table(family_tallies)["worm"] == {0.2: 1, 0.6: 1}
    assert family_tallies.rows is not None
    assert sorted(family_tallies.rows.scores[:, 0].tolist()) == sorted(SCORES)
    assert family_tallies.rows.scores.shape == (6, 1)
    alone = sided_families(kinds(y_proba=table), {"positive": "attack"}, by_family=True)
    assert alone.rows is None
    other = sided_families(
        kinds(y_proba=table, clusters=hosts), {"positive": "normal"}, by_family=True
    )
    assert other.rows is not None
    assert sorted(other.rows.scores[:, 0].tolist()) == sorted(table["normal"])


def test_without_families_labels_have_the_places_0_and_1() -> None:
    family_tallies = sided_families(counted(**FOUR), {"positive": "dos"})
    assert family_tallies.places == {"dos": 1, "normal": 0, "worm": 0}
    assert (family_tallies.scores, family_tallies.rows, family_tallies.known) == (None, None, None)
    two = {"y_true": ["dos", "normal"], "y_score": [0.9, 0.2]}
    family_tallies = sided_families(counted(**two), {"negative": "normal"})
    assert (family_tallies.places, family_tallies.scores) == ({"dos": 1, "normal": 0}, None)


def test_labels_beside_the_negative_are_families_where_no_column_tells_them() -> None:
    family_tallies = sided_families(counted(**FOUR), {"negative": "normal"})
    assert _table(family_tallies) == {"normal": {0.2: 1, 0.7: 1}, "dos": {0.9: 1}, "worm": {0.4: 1}}
    assert family_tallies.places == {"dos": 1, "normal": 0, "worm": 2}
    assert family_tallies.known == ("dos", "normal", "worm")
    two = {"y_true": ["dos", "normal"], "y_score": [0.9, 0.2]}
    listed = {"negative": "normal", "labels": ["dos", "normal", "worm"]}
    family_tallies = sided_families(counted(**two), listed)
    assert family_tallies.scores is not None
    assert family_tallies.scores.labels == ("normal", "dos")


def test_scores_that_were_not_kept_leave_decisions() -> None:
    rows = sided(code_arrays(**FOUR, y_pred=["dos", "normal", "normal", "worm"]))
    tally = count_coded(rows, Ask(scores=None))
    family_tallies = sided_families(tally, {"negative": "normal"})
    assert DECISION in tally.decided
    assert _table(family_tallies) == {"normal": {0.0: 1, 1.0: 1}, "dos": {1.0: 1}, "worm": {0.0: 1}}
    alone = sided_families(
        count_coded(code_arrays(**FOUR), Ask(scores=None)), {"negative": "normal"}
    )
    assert alone.scores is None


def test_clusters_by_label_have_what_was_said_by_name() -> None:
    said = ["attack", "normal", "attack", "attack", "normal", "normal"]
    tally = kinds(y_pred=said, clusters=["h", "h", "g", "g", "g", "h"])
    resolved_tally = sided_families(tally, {"positive": "attack"}, by_family=True).resolved
    assert resolved_tally.clusters is not None
    assert resolved_tally.clusters.clusters == ("g", "h")
    assert resolved_tally.clusters.cells.tolist() == [[[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_tallies_by_family_are_compared_as_objects() -> None:
    # They hold arrays, which are neither equal nor unlike as a whole.
    assert FamilyTallies.__eq__ is object.__eq__


def test_labels_without_rows_have_the_order_of_their_kind() -> None:
    resolved_tally = resolved(counted(y_true=[10, 9, 2], y_pred=[9, 9, 2]))
    assert resolved_tally.labels == ("10", "2", "9")
    assert isinstance(code_arrays([1, 0], y_pred=[1, 1]).truth, Labels)
