"""Rows of a sample and tables by cluster, number by number, with counts and with exact weights."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import ClusterTally, Sample, ScoreTally, codec, from_bytes
from assay.tally.weight_sums import Remainder

from .kinds import THREE, TWO

Array = np.ndarray[Any, Any]
# Label, two scores, cluster, weight.
ROWS: list[tuple[int, float, float, int, float]] = [
    (1, 0.5, 0.25, 2, 0.1),
    (0, 0.75, 0.5, 0, 0.5),
    (1, 0.5, 0.25, 2, 0.2),
    (1, 0.5, 0.125, 2, 1.0),
    (0, 0.25, 1.0, 2, 0.25),
    (2, -0.0, 0.5, 0, 0.7),
    (2, 0.0, 0.5, 0, 0.1),
    (0, 0.5, 0.5, 3, 0.0),
]
HOSTS = ("zulu", "unused", "alpha", "empty")


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[Array]:
    return [np.array([row[i] for row in rows]) for i in range(5)]


def _sample(rows: Sequence[tuple[Any, ...]] = ROWS, *, how: str = "weights") -> Sample:
    truth, a, b, host, weight = _columns(rows)
    amounts = {"weights": weight} if how == "weights" else {"counts": (weight * 100).astype(int)}
    scores = {"a": a, "b": b}
    return Sample.of_rows(THREE, truth, scores, cluster=host, clusters=HOSTS, **amounts)


def _exact(nearest: Array, rest: Remainder | None) -> list[Fraction]:
    values = [Fraction(each) for each in nearest.ravel().tolist()]
    if rest is not None:
        at, atoms = rest.atoms()
        for i in set(at.tolist()):
            values[i] = sum(map(Fraction, atoms[at == i].tolist()), Fraction(0))
    return values


def _rows(sample: Sample) -> dict[Any, tuple[Fraction, Fraction]]:
    """The rows, in their order, and the sums of their amounts and of the squares of those."""
    weights = _exact(sample.counts, sample.rest[0])
    squares = _exact(sample.amounts_squared, sample.rest[1])
    hosts = [sample.clusters[i] if sample.clusters else "" for i in sample.cluster.tolist()]
    labels = [sample.labels[i] for i in sample.truth.tolist()]
    keys = zip(hosts, labels, map(tuple, sample.scores.tolist()), strict=True)
    return dict(zip(keys, zip(weights, squares, strict=True), strict=True))


def _naive(rows: Sequence[tuple[Any, ...]] = ROWS) -> dict[Any, tuple[Fraction, Fraction]]:
    sums: dict[Any, tuple[Fraction, Fraction]] = {}
    for truth, a, b, host, weight in sorted(rows, key=lambda r: (HOSTS[r[3]], *r[:3])):
        if weight:
            key = HOSTS[host], THREE[truth], (a + 0.0, b + 0.0)
            first, second = sums.get(key, (Fraction(0), Fraction(0)))
            sums[key] = first + Fraction(weight), second + Fraction(weight * weight)
    return sums


# -- samples ---------------------------------------------------------------------------------------


def test_equal_rows_are_added_and_stand_by_cluster_label_and_scores() -> None:
    sample = _sample()
    assert _rows(sample) == _naive()
    assert list(_rows(sample)) == list(_naive())
    assert sample.clusters == ("alpha", "zulu")
    assert (sample.size, sample.width, sample.models) == (5, 1, ("a", "b"))
    assert sample.weighted
    assert not np.signbit(sample.scores).any()
    counted = _sample(how="counts")
    assert counted.counts.tolist() == [25, 100, 30, 50, 80]
    assert counted.amounts_squared is counted.counts
    kinds = [
        each.dtype for each in (counted.truth, counted.scores, counted.cluster, counted.counts)
    ]
    assert kinds == [np.uint16, np.float64, np.int64, np.int64]


@pytest.mark.parametrize("how", ["weights", "counts"])
@pytest.mark.parametrize("cut", range(len(ROWS) + 1))
def test_parts_add_to_the_sample_of_all_rows(cut: int, how: str) -> None:
    parts = [_sample(rows, how=how) for rows in (ROWS[:cut], ROWS[cut:]) if rows]
    parts = parts if len(parts) == 2 else [*parts, Sample.zero(THREE, ("a", "b"))]
    for one, other in (parts, parts[::-1]):
        total = one + other
        assert total == _sample(how=how)
        assert from_bytes(total.to_bytes()) == total
        if how == "weights":
            assert _rows(total) == _naive()


def test_a_sample_of_no_rows_has_one_column_a_model() -> None:
    zero = Sample.zero(TWO, ("a", "b"))
    assert (zero.width, zero.scores.shape, zero.size, zero.weighted) == (1, (0, 2), 0, False)
    wide = Sample.zero(TWO, ("a", "b"), 3)
    assert (wide.width, wide.scores.shape) == (3, (0, 6))
    # Without models there is no column, and without rows anything adds to clusters and weights.
    assert Sample.zero(TWO, ()).width == 0
    assert (zero + zero) == zero


def test_clusters_and_weights_add_to_their_like_alone() -> None:
    truth, scores = np.array([0]), {"a": np.array([0.5])}
    plain = Sample.of_rows(TWO, truth, scores)
    weighted = Sample.of_rows(TWO, truth, scores, weights=np.array([2.0]))
    hosts = Sample.of_rows(TWO, truth, scores, cluster=np.array([0]), clusters=["h"])
    none = Sample.zero(TWO, ("a",))
    for each in (plain, weighted, hosts):
        assert each + none == none + each == each
    for other, message in ((weighted, "sampling weights"), (hosts, "clusters and one without")):
        for one, two in ((plain, other), (other, plain)):
            with pytest.raises(TallyError, match=message):
                one + two
    # Weights of a sample whose rows all weigh nothing are none.
    nothing = Sample.of_rows(TWO, truth, scores, weights=np.array([0.0]))
    assert (nothing + plain).counts.tolist() == [1.0]
    assert (plain + nothing).amounts_squared.tolist() == [1.0]


def test_some_rows_keep_their_exact_weights() -> None:
    sample = _sample()
    for kept in ([0, 2, 4], [2], [4, 0], [1, 3], []):
        mask = np.isin(np.arange(sample.size), kept)
        some = sample.of_rows_where(mask)
        expected = [row for i, row in enumerate(_naive().items()) if i in kept]
        assert _rows(some) == dict(expected)
    # The square of a tiny weight is zero.
    tiny = Sample.of_rows(TWO, np.array([1]), {"a": np.array([0.5])}, weights=np.array([1e-200]))
    assert (tiny.counts.tolist(), tiny.amounts_squared.tolist()) == ([1e-200], [0.0])
    counted = _sample(how="counts").of_rows_where(np.arange(5) > 2)
    assert counted.counts.tolist() == [50, 80]
    assert counted.squares is None


def test_labels_of_a_sample_take_other_places() -> None:
    sample = _sample()
    placed = sample.placed(("good", "bad"), {"benign": 0, "dos": 1, "probe": 1})
    assert placed.labels == ("good", "bad")
    assert placed.truth.tolist() == [0, 1, 1, 0, 1]
    assert sum(_exact(placed.counts, placed.rest[0])) == sum(w for w, _ in _naive().values())
    assert Sample.zero((), ("a",)).placed(TWO, {}).labels == TWO
    # Rows that become equal are added.
    scores = np.zeros((sample.size, 2))
    same = sample.relabelled(("all",), np.zeros(sample.size, np.uint16), scores)
    assert same.clusters == ("alpha", "zulu")
    by_host = defaultdict(Fraction)
    for (host, *_), (weight, _) in _naive().items():
        by_host[host] += weight
    assert _exact(same.counts, same.rest[0]) == [by_host["alpha"], by_host["zulu"]]


TABLES = {
    "a": np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]),
    "b": np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.6, 0.1, 0.3]]),
}


def test_each_model_has_a_column_a_label() -> None:
    sample = Sample.of_rows(THREE, np.array([0, 1, 2]), TABLES, counts=np.array([2, 300, 4]))
    assert sample.width == 3
    assert sample.of_model(0).tolist() == TABLES["a"].tolist()
    assert sample.of_model(1).tolist() == TABLES["b"].tolist()
    against = sample.one_versus_rest(2, model=1)
    assert (against.labels, against.models) == (("rest", "probe"), ("probe",))
    assert (against.truth.tolist(), against.scores.tolist()) == ([0, 0, 1], [[0.7], [0.4], [0.3]])
    assert sample.one_versus_rest(1).scores.tolist() == [[0.25], [0.5], [0.25]]
    for model, name in enumerate("ab"):
        for tally, column in zip(sample.class_tallies(model), TABLES[name].T, strict=True):
            assert tally == ScoreTally.of_rows(
                THREE, column, np.array([0, 1, 2]), counts=np.array([2, 300, 4])
            )
    resampled = sample.class_tallies(1, np.array([0, 7, 1]))[0]
    assert resampled.scores.tolist() == [0.3, 0.6]
    assert resampled.counts.tolist() == [[0, 0], [7, 0], [0, 1]]
    assert resampled.counts.dtype == np.uint8


def test_the_scores_of_a_weighted_sample_have_weights_unless_they_are_resampled() -> None:
    sample = Sample.of_rows(
        TWO, np.array([0, 1, 0]), {"a": np.array([0.5, 0.5, 0.25])}, weights=np.array([0.5, 2, 4])
    )
    tally = sample.score_tally(0)
    assert (tally.scores.tolist(), tally.counts.tolist()) == ([0.25, 0.5], [[4, 0.5], [0, 2]])
    assert tally.squares is not None
    assert tally.squares.tolist() == [[16, 0.25], [0, 4]]
    again = sample.score_tally(0, np.array([0, 2, 3]))
    assert not again.weighted
    assert again.scores.tolist() == [0.5]
    assert again.counts.tolist() == [[2], [3]]


# -- bytes of a sample -----------------------------------------------------------------------------

ONE = {
    "truth": np.array([1, 0], np.uint16),
    "scores": np.array([[0.5], [0.25]]),
    "cluster": np.array([0, 1]),
    "counts": np.array([1, 2]),
}
WEIGHTS = {"counts": np.array([0.5, 2.0]), "squares": np.array([0.25, 4.0])}
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "scores in a row": ({"scores": np.array([0.5, 0.25])}, "columns of unlike length for 2 rows"),
    "scores of one row": ({"scores": np.array([[0.5]])}, "unlike length"),
    "clusters of one row": ({"cluster": np.array([0])}, "unlike length"),
    "counts of one row": ({"counts": np.array([1])}, "unlike length"),
    "no column": ({"scores": np.empty((2, 0))}, "0 columns of scores for 1 models"),
    "other labels": ({"truth": np.array([1, 0], np.uint8)}, "columns of an unknown kind"),
    "narrow scores": ({"scores": ONE["scores"].astype(np.float32)}, "unknown kind"),
    "unsigned clusters": ({"cluster": ONE["cluster"].astype(np.uint8)}, "unknown kind"),
    "unsigned counts": ({"counts": ONE["counts"].astype(np.uint8)}, "unknown kind"),
    "weights without squares": ({"counts": WEIGHTS["counts"]}, "unknown kind"),
    "squares of counts": ({"squares": WEIGHTS["squares"]}, "unknown kind"),
    "squares of one row": (WEIGHTS | {"squares": np.array([0.25])}, "its squares do not fit"),
    "whole squares": (WEIGHTS | {"squares": np.array([1, 4])}, "its squares do not fit"),
    "an infinite weight": (WEIGHTS | {"counts": np.array([0.5, np.inf])}, "weights are out of"),
    "an infinite square": (WEIGHTS | {"squares": np.array([np.inf, 4])}, "weights are out of"),
    "a label too many": ({"truth": np.array([2, 0], np.uint16)}, "are out of range"),
    "a negative cluster": ({"cluster": np.array([-1, 0])}, "are out of range"),
    "a cluster too many": ({"cluster": np.array([0, 2])}, "are out of range"),
    "a negative count": ({"counts": np.array([1, -2])}, "are out of range"),
    "an infinite score": ({"scores": np.array([[0.5], [np.inf]])}, "are out of range"),
}


def _bytes(arrays: dict[str, Any], models: Sequence[str] = ("a",), hosts: Any = "xy") -> bytes:
    header = {"labels": TWO, "models": models, "clusters": list(hosts)}
    return codec.write("sample", header, ONE | arrays)


def test_a_sample_is_read_from_its_arrays() -> None:
    plain = from_bytes(_bytes({}))
    assert (plain.clusters, plain.truth.tolist(), plain.counts.tolist()) == (
        ("x", "y"),
        [1, 0],
        [1, 2],
    )
    assert from_bytes(_bytes(WEIGHTS)).amounts_squared.tolist() == [0.25, 4.0]
    # Where there are no clusters all rows are in the first.
    assert from_bytes(_bytes({"cluster": np.array([0, 0])}, hosts=())).clusters == ()
    wide = _bytes({"scores": np.arange(8.0).reshape(2, 4)}, models=("a", "b"))
    assert from_bytes(wide).width == 2
    assert from_bytes(_bytes({"scores": np.empty((2, 0))}, models=())).models == ()
    with pytest.raises(TallyError, match="3 columns of scores for 2 models"):
        from_bytes(_bytes({"scores": np.zeros((2, 3))}, models=("a", "b")))
    with pytest.raises(TallyError, match="out of range"):
        from_bytes(_bytes({"cluster": np.array([0, 1])}, hosts=()))


@pytest.mark.parametrize("name", BROKEN)
def test_arrays_that_are_no_sample_are_refused(name: str) -> None:
    arrays, message = BROKEN[name]
    with pytest.raises(TallyError, match=message):
        from_bytes(_bytes(arrays))


def test_only_sums_that_are_no_floats_have_a_later_schema() -> None:
    for weights, schema in (([0.5, 0.25], b"1"), ([0.1, 0.2], b"2")):
        truth, scores = np.array([1, 1]), {"a": np.array([0.5, 0.5])}
        sample = Sample.of_rows(TWO, truth, scores, weights=np.array(weights))
        assert sample.to_bytes().partition(b'"schema":')[2][:1] == schema


# -- clusters --------------------------------------------------------------------------------------


def _clusters(
    rows: Sequence[tuple[Any, ...]] = ROWS, *, how: str = "weights", columns: Any = None
) -> ClusterTally:
    truth, _, b, host, weight = _columns(rows)
    decision = (b * 4).astype(int) % (len(columns or THREE))
    amounts = {"weights": weight, "counts": (weight * 100).astype(int), "rows": None}[how]
    return ClusterTally.of_codes(
        THREE, truth, decision, host, HOSTS, amounts=amounts, columns=columns
    )


def _cells(tally: ClusterTally) -> dict[Any, Fraction]:
    said = tally.columns or tally.labels
    keys = [(c, label, s) for c in tally.clusters for label in tally.labels for s in said]
    return {k: v for k, v in zip(keys, _exact(tally.cells, tally.rest), strict=True) if v}


def _naive_cells(
    said: Sequence[str], rows: Sequence[tuple[Any, ...]] = ROWS
) -> dict[Any, Fraction]:
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    for truth, _, b, host, weight in rows:
        sums[HOSTS[host], THREE[truth], said[int(b * 4) % len(said)]] += Fraction(weight)
    return {key: total for key, total in sums.items() if total}


SAID = ("below", "flagged")


@pytest.mark.parametrize("said", [THREE, SAID])
def test_clusters_have_the_exact_weights_of_their_rows(said: tuple[str, ...]) -> None:
    columns = None if said is THREE else said
    tally = _clusters(columns=columns)
    assert tally.clusters == ("alpha", "zulu")
    assert tally.cells.shape == (2, 3, len(said))
    assert _cells(tally) == _naive_cells(said)
    assert from_bytes(tally.to_bytes()) == tally
    for cut in range(1, len(ROWS)):
        parts = [_clusters(rows, columns=columns) for rows in (ROWS[:cut], ROWS[cut:])]
        assert parts[0] + parts[1] == parts[1] + parts[0] == tally
    rows = _clusters(how="rows", columns=columns)
    assert rows.clusters == ("alpha", "empty", "zulu")
    assert rows.cells.dtype == np.int64
    assert rows.cells.sum(axis=(1, 2)).tolist() == [4, 1, 3]


def test_labels_and_columns_of_clusters_are_united() -> None:
    codes, hosts = np.array([0, 1]), np.array([0, 1])
    for amounts in (np.array([3, 4]), np.array([0.1, 0.2])):
        one = ClusterTally.of_codes(
            ("dos", "worm"), codes, codes, hosts, ("x", "y"), amounts=amounts, columns=("b", "d")
        )
        other = ClusterTally.of_codes(
            ("benign", "dos"), codes, codes, hosts, ("y", "x"), amounts=amounts, columns=("a", "b")
        )
        total = one + other
        assert total == other + one
        assert (total.labels, total.columns) == (("benign", "dos", "worm"), ("a", "b", "d"))
        first, second = map(Fraction, amounts.tolist())
        assert _cells(total) == {
            ("x", "dos", "b"): first + second,
            ("y", "worm", "d"): second,
            ("y", "benign", "a"): first,
        }
    square = ClusterTally.zero(("dos", "worm"))
    assert (square.cells.shape, square.size, square.columns) == ((0, 2, 2), 0, None)
    assert square != one != total
    for a, b in ((one, square), (square, one), (square, ClusterTally.zero(("worm", "dos")))):
        with pytest.raises(TallyError, match="cluster tallies of unlike labels can't be added"):
            a + b


def test_the_clusters_of_some_labels_or_of_other_places_keep_their_exact_weights() -> None:
    for said in (THREE, SAID):
        tally = _clusters(columns=None if said is THREE else said)
        cells = _naive_cells(said)
        some = tally.of_labels(lambda label: label != "dos")
        assert (some.labels, some.columns) == (("benign", "probe"), said)
        assert from_bytes(some.to_bytes()) == some
        assert _cells(some) == {key: v for key, v in cells.items() if key[1] != "dos"}
        alone = tally.of_labels(lambda label: label == "probe")
        assert alone.clusters == ("zulu",)
    tally = _clusters(columns=SAID)
    column_at = {"below": 1, "flagged": 0}.__getitem__
    label_at = {"benign": 1, "dos": 0, "probe": 0}
    binary = tally.placed(("bad", "good"), label_at, column_at)
    assert (binary.columns, binary.cells.shape) == (None, (2, 2, 2))
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    for (host, label, said_of), weight in _naive_cells(SAID).items():
        place = "good" if label == "benign" else "bad"
        sums[host, place, ("bad", "good")[column_at(said_of)]] += weight
    assert _cells(binary) == sums
    three = tally.placed(("bad", "good"), label_at, column_at, ("u", "v", "w"))
    assert (three.columns, three.cells.shape) == (("u", "v", "w"), (2, 2, 3))


def test_the_clusters_of_a_sample_are_decided_from_a_threshold_on() -> None:
    sample = _sample(how="counts")
    tally = ClusterTally.of_sample(TWO, sample, 0.5)
    assert (tally.labels, tally.clusters) == (TWO, ("alpha", "zulu"))
    assert tally.cells.tolist() == [[[25, 0], [0, 130]], [[0, 50], [80, 0]]]
    assert tally.confusion().cells == ((25, 50), (80, 130))


def test_one_label_against_the_rest_in_each_cluster() -> None:
    cells = np.arange(18).reshape(2, 3, 3)
    tally = ClusterTally(THREE, ("x", "y"), cells)
    against = tally.against_rest(1)
    assert against.labels == ("not dos", "dos")
    assert against.cells.tolist() == [[[16, 8], [8, 4]], [[52, 26], [26, 13]]]
    two = ClusterTally(TWO, ("x", "y"), cells[:, :2, :2])
    assert two.against_rest(1) is two
    assert two.against_rest(0).cells.tolist() == [[[4, 3], [1, 0]], [[13, 12], [10, 9]]]
    assert tally.against_rest(1).clusters == ("x", "y")


# -- bytes of clusters -----------------------------------------------------------------------------


def _cluster_bytes(cells: Any, hosts: Sequence[str] = ("x",), **more: Any) -> bytes:
    header = {"labels": TWO, "clusters": hosts, **more}
    return codec.write("clusters", header, {"cells": np.array(cells)})


def test_clusters_are_read_from_their_arrays() -> None:
    assert from_bytes(_cluster_bytes([[[1, 2], [3, 4]]])).cells.tolist() == [[[1, 2], [3, 4]]]
    wide = from_bytes(_cluster_bytes([[[1, 0, 2], [0, 3, 4]]], columns=["a", "b", "c"]))
    assert wide.columns == ("a", "b", "c")
    assert from_bytes(_cluster_bytes([[[0.5, 2], [3, 4]]])).cells.dtype == np.float64
    both = _cluster_bytes([[[1, 2], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 0]]], ("x", "a", "x"))
    assert (from_bytes(both).clusters, from_bytes(both).cells.tolist()) == (
        ("x",),
        [[[1, 3], [0, 0]]],
    )
    assert from_bytes(_cluster_bytes(np.empty((0, 2, 2)), ())).size == 0


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[1, 2], [3, 4]], r"cells of shape \(2, 2\) for 1 clusters"),
        ([[[1, 2, 3], [4, 5, 6]]], "cells of shape"),
        ([[[1, 2]]], "cells of shape"),
        ([[[1, 2], [3, -4]]], "a cell is negative or not a number"),
        ([[[1.0, 2], [3, np.nan]]], "a cell is negative or not a number"),
    ],
)
def test_arrays_that_are_no_clusters_are_refused(cells: Any, message: str) -> None:
    with pytest.raises(TallyError, match=message):
        from_bytes(_cluster_bytes(cells))


def test_clusters_whose_sums_are_no_floats_have_a_later_schema() -> None:
    for weights, schema in (([0.5, 0.25], b"1"), ([0.1, 0.2], b"2")):
        codes = np.zeros(2, int)
        tally = ClusterTally.of_codes(TWO, codes, codes, codes, "x", amounts=np.array(weights))
        assert tally.to_bytes().partition(b'"schema":')[2][:1] == schema
