"""Every kind of tally, as rows that can be drawn and a way to count them.

All laws run over :data:`KINDS`. A row is a tuple of plain values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from assay.engines import count
from assay.sources import from_arrays
from assay.tally import (
    ClusterTally,
    Confusion,
    JointScores,
    LossSums,
    PairTally,
    Resolved,
    Sample,
    ScoreTally,
)
from assay.tally.keeping import Exact, Grid

TWO = ("benign", "attack")
THREE = ("benign", "dos", "probe")
HOSTS = ("alpha", "beta", "gamma")
GRID_BITS = 3
CUTS = np.array([-1.0, 0.0, 5e-324, 0.25, 0.5, 0.75])

Row = tuple[Any, ...]
Counts = np.ndarray[Any, np.dtype[np.int64]] | None

binary = st.integers(0, 1)
ternary = st.integers(0, 2)
hosts = st.sampled_from(HOSTS)
# Ties are as frequent as new values, and zeros come with both signs.
scores = st.one_of(
    st.sampled_from([-0.0, 0.0, 0.5, 1.0, -1.0, 5e-324, -5e-324, 1e308]),
    st.floats(allow_nan=False, allow_infinity=False),
)
narrow_scores = st.one_of(
    st.sampled_from([-0.0, 0.0, 0.5, -1.0]),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)
probabilities = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))


@dataclass(frozen=True)
class Kind:
    """A kind of tally: its rows, how they are counted, and the tally of none."""

    name: str
    rows: st.SearchStrategy[Row]
    count: Callable[[Sequence[Row], Counts], Any]
    zero: Callable[[], Any]


def _columns(rows: Sequence[Row], dtypes: Sequence[Any]) -> list[Any]:
    return [np.array([row[i] for row in rows], dtype) for i, dtype in enumerate(dtypes)]


def _confusion(rows: Sequence[Row], counts: Counts) -> Confusion:
    truth, decision = _columns(rows, (np.uint8, np.uint8))
    return Confusion.of_codes(THREE, truth, decision, counts=counts)


def _pairs(rows: Sequence[Row], counts: Counts) -> PairTally:
    truth, a, b = _columns(rows, (np.uint8, np.uint8, np.uint8))
    return PairTally.of_codes(THREE, truth, {"a": a, "b": b}, counts=counts)


def _clusters(rows: Sequence[Row], counts: Counts) -> ClusterTally:
    truth, decision = _columns(rows, (np.uint8, np.uint8))
    host = np.array([HOSTS.index(row[2]) for row in rows], np.int64)
    return ClusterTally.of_codes(THREE, truth, decision, host, HOSTS, amounts=counts)


def _scores(dtype: Any, labels: Sequence[str]) -> Callable[[Sequence[Row], Counts], ScoreTally]:
    def counted(rows: Sequence[Row], counts: Counts) -> ScoreTally:
        truth, score = _columns(rows, (np.uint8, dtype))
        return ScoreTally.of_rows(labels, score, truth, counts=counts)

    return counted


def _cells(dtype: Any, labels: Sequence[str]) -> Callable[[Sequence[Row], Counts], ScoreTally]:
    def counted(rows: Sequence[Row], counts: Counts) -> ScoreTally:
        truth, score = _columns(rows, (np.uint8, dtype))
        return ScoreTally.of_rows(labels, score, truth, counts=counts, kept=Grid(GRID_BITS))

    return counted


def _cuts(rows: Sequence[Row], counts: Counts) -> ScoreTally:
    truth, score = _columns(rows, (np.uint8, np.float64))
    return ScoreTally.of_cuts(TWO, CUTS, score, truth, frequent=0, counts=counts)


def _sample(rows: Sequence[Row], counts: Counts) -> Sample:
    truth, a, b = _columns(rows, (np.uint8, np.float64, np.float64))
    return Sample.of_rows(TWO, truth, {"a": a, "b": b}, counts=counts)


def _joint(bits: int | None) -> Callable[[Sequence[Row], Counts], JointScores]:
    def counted(rows: Sequence[Row], counts: Counts) -> JointScores:
        truth, a, b = _columns(rows, (np.uint8, np.float64, np.float64))
        return JointScores.of_rows(THREE, truth, {"a": a, "b": b}, counts=counts, bits=bits)

    return counted


def _clustered_sample(rows: Sequence[Row], counts: Counts) -> Sample:
    truth, a = _columns(rows, (np.uint8, np.float64))
    host = np.array([HOSTS.index(row[2]) for row in rows], np.int64)
    return Sample.of_rows(TWO, truth, {"a": a}, cluster=host, clusters=HOSTS, counts=counts)


def _class_sample(rows: Sequence[Row], counts: Counts) -> Sample:
    truth, *columns = _columns(rows, (np.uint8, *[np.float64] * 3))
    tables = {"a": np.stack(columns, axis=1), "b": np.stack(columns[::-1], axis=1)}
    return Sample.of_rows(THREE, truth, tables, counts=counts)


def _losses(rows: Sequence[Row], counts: Counts) -> LossSums:
    truth, probability = _columns(rows, (np.uint8, np.float64))
    return LossSums.of_binary(truth, probability, counts=counts)


def _class_losses(rows: Sequence[Row], counts: Counts) -> LossSums:
    truth = np.array([row[0] for row in rows], np.uint8)
    table = np.array([row[1:] for row in rows], np.float64).reshape(-1, 3)
    with np.errstate(invalid="ignore"):
        table = table / table.sum(axis=1, keepdims=True)
    return LossSums.of_classes(truth, table, counts=counts)


def _record(rows: Sequence[Row], counts: Counts) -> Resolved:
    """A binary tally of everything that can be counted."""
    kept = [i for i in range(len(rows)) if counts is None or counts[i]]
    if not kept:
        return no_record()
    return count(
        from_arrays(
            [TWO[rows[i][0]] for i in kept],
            y_score=[rows[i][1] for i in kept],
            labels=TWO,
            positive="attack",
            threshold=0.5,
            clusters=[rows[i][2] for i in kept],
            slices={"site": [rows[i][3] for i in kept]},
            times=[rows[i][4] for i in kept],
            counts=None if counts is None else [int(counts[i]) for i in kept],
        )
    )


def no_record() -> Resolved:
    """A binary tally of no rows."""
    one = count(
        from_arrays(
            ["attack"],
            y_score=[0.5],
            labels=TWO,
            positive="attack",
            threshold=0.5,
            clusters=["alpha"],
            slices={"site": ["x"]},
            times=["2026-11-16"],
        )
    )
    return one.zero()


KINDS = (
    Kind("confusion", st.tuples(ternary, ternary), _confusion, lambda: Confusion.zero(THREE)),
    Kind(
        "pairs",
        st.tuples(ternary, ternary, ternary),
        _pairs,
        lambda: PairTally.zero(THREE, ("a", "b")),
    ),
    Kind(
        "clusters",
        st.tuples(ternary, ternary, hosts),
        _clusters,
        lambda: ClusterTally.zero(THREE),
    ),
    Kind(
        "scores of two labels",
        st.tuples(binary, scores),
        _scores(np.float64, TWO),
        lambda: ScoreTally.zero(TWO),
    ),
    Kind(
        "narrow scores of two labels",
        st.tuples(binary, narrow_scores),
        _scores(np.float32, TWO),
        lambda: ScoreTally.zero(TWO),
    ),
    Kind(
        "scores of three labels",
        st.tuples(ternary, scores),
        _scores(np.float64, THREE),
        lambda: ScoreTally.zero(THREE),
    ),
    Kind(
        "cells of two labels",
        st.tuples(binary, scores),
        _cells(np.float64, TWO),
        lambda: ScoreTally.zero(TWO).to_grid(GRID_BITS),
    ),
    Kind(
        "cells of narrow scores and three labels",
        st.tuples(ternary, narrow_scores),
        _cells(np.float32, THREE),
        lambda: ScoreTally.zero(THREE).to_grid(GRID_BITS),
    ),
    Kind(
        "cuts",
        st.one_of(
            st.tuples(st.just(0), scores), st.tuples(st.just(1), st.sampled_from(CUTS.tolist()))
        ),
        _cuts,
        lambda: _cuts([], None),
    ),
    Kind(
        "sample",
        st.tuples(binary, scores, scores),
        _sample,
        lambda: Sample.zero(TWO, ("a", "b")),
    ),
    Kind(
        "joint scores on a grid",
        st.tuples(ternary, scores, scores),
        _joint(12),
        lambda: JointScores.zero(THREE, ("a", "b")),
    ),
    Kind(
        "joint scores, every pair",
        st.tuples(ternary, scores, scores),
        _joint(None),
        lambda: JointScores.zero(THREE, ("a", "b"), Exact()),
    ),
    Kind(
        "clustered sample",
        st.tuples(binary, scores, hosts),
        _clustered_sample,
        lambda: Sample.zero(TWO, ("a",)),
    ),
    Kind(
        "sample of three labels",
        st.tuples(ternary, scores, scores, scores),
        _class_sample,
        lambda: Sample.zero(THREE, ("a", "b"), 3),
    ),
    Kind("losses", st.tuples(binary, probabilities), _losses, LossSums),
    Kind(
        "losses over classes",
        st.tuples(ternary, *[st.integers(1, 1000)] * 3),
        _class_losses,
        LossSums,
    ),
    Kind(
        "record",
        st.tuples(
            binary,
            st.one_of(probabilities, st.floats(-3, 3)),
            hosts,
            st.sampled_from(["x", "y"]),
            st.sampled_from(["2026-11-16", "2026-11-17", "2027-01-01"]),
        ),
        _record,
        no_record,
    ),
)
