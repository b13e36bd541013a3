"""Counting rows on this machine."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engines import Ask
from assay.engines.arrays import resolved_arrays
from assay.engines.local import ScoreCounter, count_coded
from assay.sources import code_arrays
from assay.tally import ClusterTally, Confusion, LossSums, Resolved, Sample, ScoreTally
from assay.tally.counters import CutPoints
from assay.tally.keeping import Cuts, Exact, Grid, Keeping
from assay.tally.named_tally import Names

PAIR = ("normal", "attack")
CLASSES = ("dos", "normal", "probe")

binary_rows = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(-2, 2)),
        st.sampled_from(["h1", "h2", "h3"]),
        st.sampled_from(["x", "y"]),
    ),
    min_size=1,
    max_size=30,
)


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


def _columns(rows: list[Any]) -> tuple[list[str], list[float], list[str], list[str]]:
    return (
        [PAIR[r[0]] for r in rows],
        [r[1] for r in rows],
        [r[2] for r in rows],
        [r[3] for r in rows],
    )


@given(rows=binary_rows, threshold=st.sampled_from([0.0, 0.25, 0.5, 0.7]))
def test_a_binary_tally_holds_what_its_parts_count(rows: list[Any], threshold: float) -> None:
    truth, score, host, site = _columns(rows)
    tally = counted(
        truth,
        y_score=score,
        labels=PAIR,
        threshold=threshold,
        clusters=host,
        slices={"site": site},
    )
    codes = np.array([PAIR.index(t) for t in truth])
    scores = np.array(score)
    said = (scores >= threshold).astype(int)
    names = ["h1", "h2", "h3"]
    places = np.array([names.index(h) for h in host])
    assert tally.labels == PAIR
    assert tally.threshold == threshold
    assert tally.confusion == Confusion.of_codes(PAIR, codes, said)
    assert tally.scores == (ScoreTally.of_rows(PAIR, scores, codes),)
    assert tally.clusters == ClusterTally.of_codes(PAIR, codes, said, places, names)
    assert tally.sample == Sample.of_rows(
        PAIR, codes, {"model": scores}, cluster=places, clusters=names
    )
    probabilities = scores.min() >= 0 and scores.max() <= 1
    assert tally.kind == ("probability" if probabilities else "score")
    assert tally.losses == (LossSums.of_binary(codes, scores) if probabilities else None)
    for value in ("x", "y"):
        part = np.array([s == value for s in site])
        if part.any():
            expected = Confusion.of_codes(PAIR, codes[part], said[part])
            assert tally.slices["site", value] == expected
        else:
            assert ("site", value) not in tally.slices


@given(rows=binary_rows)
def test_the_confusion_read_from_scores_is_that_of_decisions(rows: list[Any]) -> None:
    truth, score, _, site = _columns(rows)
    given = {"y_score": score, "labels": PAIR, "threshold": 0.5}
    plain = counted(truth, **given)
    by_rows = counted(truth, slices={"site": site}, **given)
    assert plain.confusion == by_rows.confusion
    weights = [0.5 + i for i in range(len(rows))]
    plain = counted(truth, sample_weight=weights, **given)
    by_rows = counted(truth, sample_weight=weights, slices={"site": site}, **given)
    for a, b in (
        (plain.confusion.cells, by_rows.confusion.cells),
        (plain.confusion.squares, by_rows.confusion.squares),
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@settings(max_examples=50)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), *[st.integers(0, 5)] * 2, st.integers(1, 5)),
        min_size=1,
        max_size=20,
    )
)
def test_a_tally_over_classes_holds_what_its_parts_count(rows: list[Any]) -> None:
    truth = np.array([r[0] for r in rows])
    table = np.array([[n / sum(r[1:]) for n in r[1:]] for r in rows])
    tally = counted([CLASSES[t] for t in truth], y_proba=table, labels=CLASSES)
    assert tally.labels == CLASSES
    assert tally.positive is None
    assert tally.kind == "probability"
    assert tally.confusion == Confusion.of_codes(CLASSES, truth, table.argmax(axis=1))
    assert tally.losses == LossSums.of_classes(truth, table)
    assert tally.scores == tuple(ScoreTally.of_rows(CLASSES, table[:, k], truth) for k in range(3))


def test_decisions_alone_make_a_confusion_matrix_alone() -> None:
    tally = counted(["a", "b", "c"], y_pred=["a", "c", "c"])
    table = Confusion(("a", "b", "c"), ((1, 0, 0), (0, 0, 1), (0, 0, 1)))
    assert tally == Resolved.of_confusion(table)


def test_clusters_of_decisions_need_no_score() -> None:
    tally = counted([1, 0], y_pred=[1, 1], clusters=["h", "i"])
    assert tally.clusters is not None
    assert tally.clusters.size == 2
    assert tally.sample is None


def test_weighted_clusters_keep_no_sample() -> None:
    tally = counted([1, 0], y_score=[0.9, 0.1], clusters=["h", "i"], sample_weight=[0.5, 2.0])
    assert tally.clusters is not None
    assert tally.clusters.cells.tolist() == [[[0.0, 0.0], [0.0, 0.5]], [[2.0, 0.0], [0.0, 0.0]]]
    assert tally.sample is None


def test_weighted_slices_carry_their_squares() -> None:
    tally = counted([1, 0], y_score=[0.9, 0.1], slices={"s": ["x", "x"]}, sample_weight=[0.5, 2.0])
    assert tally.slices["s", "x"] == Confusion(
        ("0", "1"), ((2.0, 0.0), (0.0, 0.5)), ((4.0, 0.0), (0.0, 0.25))
    )


def test_counted_slices_repeat() -> None:
    tally = counted(
        [1, 0, 1],
        y_pred=[1, 1, 0],
        slices={"s": ["x", "x", "y"], "t": ["u", "v", "u"]},
        counts=[3, 1, 2],
    )
    assert {key: table.cells for key, table in tally.slices.items()} == {
        ("s", "x"): ((0, 1), (0, 3)),
        ("s", "y"): ((0, 0), (2, 0)),
        ("t", "u"): ((0, 0), (2, 3)),
        ("t", "v"): ((0, 1), (0, 0)),
    }
    assert list(tally.slices) == sorted(tally.slices)


def test_a_decision_is_as_given_by_the_threshold_or_the_largest_probability() -> None:
    assert counted([1, 0], y_pred=[0, 0]).confusion.cells == ((1, 0), (1, 0))
    assert counted([1, 0], y_score=[0.5, 0.49]).confusion.cells == ((1, 0), (0, 1))
    table = [[0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.1, 0.45, 0.45]]
    cells = counted(["a", "b", "c"], y_proba=table).confusion.cells
    assert cells == ((0, 0, 1), (1, 0, 0), (0, 1, 0))


@pytest.mark.parametrize(
    ("kept", "kind", "suits"),
    [
        (Grid(), np.float32, True),
        (Grid(), np.float64, True),
        (Cuts(), np.float32, True),
        (Cuts(), np.float64, True),
        (Exact(), np.float32, True),
        (Exact(), np.float64, False),
        (None, np.float32, False),
        (None, np.float64, False),
    ],
)
def test_counters_suit_scores_that_are_kept_and_exact_ones_of_32_bits_alone(
    kept: Keeping | None, kind: Any, suits: bool
) -> None:
    rows = code_arrays(PAIR, y_score=np.array([0.25, 0.75], kind))
    cutting = CutPoints(PAIR[0], np.array([0.75]))
    assert ScoreCounter.suits([rows], Ask(scores=kept), cutting) is suits


@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_many_rows_have_the_same_bits_for_any_number_of_threads(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(17)
    size = 400_000
    truth, score = rng.integers(0, 2, size), rng.random(size)
    host = rng.integers(0, 50, size)

    def tally() -> Resolved:
        return counted(truth, y_score=score, slices={"host": host})

    monkeypatch.setenv("ASSAY_THREADS", "3")
    expected = tally().to_bytes()
    monkeypatch.setenv("ASSAY_THREADS", threads)
    assert tally().to_bytes() == expected


def test_shards_of_many_rows_are_the_whole_to_the_bit() -> None:
    rng = np.random.default_rng(18)
    size = 200_000
    truth = rng.integers(0, 2, size)
    score = np.round(rng.random(size), 4)
    host = rng.integers(0, 50, size)
    site = rng.integers(0, 5, size)

    def tally(rows: Any) -> Resolved:
        return counted(
            truth[rows],
            y_score=score[rows],
            labels=[0, 1],
            clusters=host[rows],
            slices={"site": site[rows]},
        )

    whole = tally(slice(None))
    edges = [0, 1, 65_536, 65_537, 150_000, size]
    shards = [tally(slice(i, j)) for i, j in itertools.pairwise(edges)]
    rng.shuffle(shards)
    merged = Resolved.merge(shards)
    assert merged == whole
    assert merged.to_bytes() == whole.to_bytes()
    order = rng.permutation(size)
    assert tally(order).to_bytes() == whole.to_bytes()


def test_weighted_shards_are_the_whole_to_twelve_digits() -> None:
    rng = np.random.default_rng(19)
    size = 5000
    truth, score = rng.integers(0, 2, size), np.round(rng.random(size), 2)
    weight, host = rng.random(size) + 0.01, rng.integers(0, 9, size)

    def tally(rows: Any) -> Resolved:
        return counted(
            truth[rows],
            y_score=score[rows],
            labels=[0, 1],
            sample_weight=weight[rows],
            clusters=host[rows],
            slices={"host": host[rows]},
        )

    whole, merged = tally(slice(None)), tally(slice(0, 1234)) + tally(slice(1234, size))
    assert whole.scores is not None
    assert merged.scores is not None
    assert whole.clusters is not None
    assert merged.clusters is not None
    assert whole.losses is not None
    assert merged.losses is not None
    pairs = [
        (merged.confusion.cells, whole.confusion.cells),
        (merged.confusion.squares, whole.confusion.squares),
        (merged.scores[0].scores, whole.scores[0].scores),
        (merged.scores[0].counts, whole.scores[0].counts),
        (merged.scores[0].squares, whole.scores[0].squares),
        (merged.clusters.cells, whole.clusters.cells),
        (merged.losses.weighted, whole.losses.weighted),
        *((merged.slices[key].cells, whole.slices[key].cells) for key in whole.slices),
    ]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=0)


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("kept", [Exact(), Grid(), Grid(4)], ids=str)
@pytest.mark.parametrize("threshold", [None, 0.3, 0.25])
def test_a_counter_tells_what_counting_all_rows_at_once_tells(
    kept: Keeping, threshold: float | None, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_THREADS", threads)
    monkeypatch.setattr("assay.engines.local._ALONE", 10)
    scores = (np.arange(60) % 37 / 40).astype(np.float32)
    rows = code_arrays(np.arange(60) % 7 == 0, y_score=scores)
    ask = Ask(scores=kept, threshold=threshold)
    counter = ScoreCounter(ask, Names(rows.truth.by_name().names, rows.truth.kind))
    for first, last in ((0, 25), (25, 30), (30, 60)):
        part = replace(rows.of_rows(np.arange(first, last)), rows=last - first)
        assert list(counter.add(part)) == []
    assert list(counter.rest()) == []
    assert counter.rows == 60
    assert counter.done().to_bytes() == count_coded(rows, ask).to_bytes()
