"""Every kind of tally, as rows that can be drawn and a way to count them.

All laws run over :data:`KINDS`. A row is a tuple of plain values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from assay.engines import Ask, Columns, count_coded, frames
from assay.engines.arrays import resolved_arrays
from assay.sources import code_arrays
from assay.tally import (
    ClusterTally,
    Confusion,
    Crosstab,
    IncidentTally,
    JointScores,
    LossSums,
    PairTally,
    Resolved,
    Sample,
    ScoreTally,
    Tally,
)
from assay.tally.counters import CutPoints, count_cuts
from assay.tally.incident_tally import Alerts, observed_cells, seen_cells
from assay.tally.keeping import Exact, Grid, Keeping
from assay.tally.named_tally import Refusals

TWO = ("benign", "attack")
THREE = ("benign", "dos", "probe")
# Labels that a part of the rows may or may not have seen.
NAMES = ("benign", "dos", "probe", "worm")
HOSTS = ("alpha", "beta", "gamma")
DAYS = ("2026-11-16", "2026-11-17", "2027-01-01")
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
    """A kind of tally: its rows, how they are counted, and the tally of none.

    ``amounts`` leaves out of a tally how many rows it was given, where it remembers that: a row
    that is counted three times is one row.
    """

    name: str
    rows: st.SearchStrategy[Row]
    count: Callable[[Sequence[Row], Counts], Any]
    zero: Callable[[], Any]
    amounts: Callable[[Any], Any] = lambda tally: tally


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
    return count_cuts(TWO, CutPoints(TWO[0], CUTS), score, truth, counts=counts)


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
    return resolved_arrays(
        [TWO[rows[i][0]] for i in kept],
        y_score=[rows[i][1] for i in kept],
        labels=TWO,
        positive="attack",
        threshold=0.5,
        clusters=[rows[i][2] for i in kept],
        slices={"site": [rows[i][3] for i in kept]},
        times=[rows[i][4] for i in kept],
        counts=None if counts is None else [int(counts[i]) for i in kept],
    )[0]


def no_record() -> Resolved:
    """A binary tally of no rows."""
    one, *_ = resolved_arrays(
        ["attack"],
        y_score=[0.5],
        labels=TWO,
        positive="attack",
        threshold=0.5,
        clusters=["alpha"],
        slices={"site": ["x"]},
        times=["2026-11-16"],
    )
    return one.zero()


def _crosstab(rows: Sequence[Row], counts: Counts) -> Crosstab:
    truth, said = _columns(rows, (np.uint8, np.uint8))
    return Crosstab.of_codes(NAMES, truth, ("below", "flagged"), said, counts=counts)


def _by_name(kept: Keeping) -> Callable[[Sequence[Row], Counts], Tally]:
    """Rows of a frame with everything that can be counted beside a score; bad ones are skipped."""

    def counted(rows: Sequence[Row], counts: Counts) -> Tally:
        frame = pl.DataFrame(
            {name: [row[i] for row in rows] for i, name in enumerate(_SCHEMA)}, schema=_SCHEMA
        )
        columns = Columns("label", score="score", cluster="host", slices=("site",), time="day")
        if counts is not None:
            frame = frame.with_columns(pl.Series("n", counts, pl.Int64))
            columns = replace(columns, count="n")
        return frames.count_polars(frame, columns, Ask(kept, on_bad_row="skip"))

    return counted


# Gaps of 10 and hours of silence are met, and missed, by moments like these.
moments = st.one_of(st.integers(0, 60), st.sampled_from([3_600_000_000, 3_600_000_060, 10**12]))
_GAP = 10


def _incidents(rows: Sequence[Row], counts: Counts) -> IncidentTally:
    """Rows of an incident or of none, each an alert with a score, a rule and a host."""
    kept = [i for i in range(len(rows)) if counts is None or counts[i]]
    if not kept:
        return IncidentTally(_GAP, scored=True)
    amounts = None if counts is None else counts[kept]
    incident, time, score, rule, host = (
        np.array([rows[i][j] for i in kept], kind)
        for j, kind in enumerate((np.int64, np.int64, np.float64, np.int64, np.int64))
    )
    alerts = Alerts(time, score, (rule, NAMES), (host, HOSTS), amounts)
    inside = np.flatnonzero(incident < len(THREE))
    own = None if amounts is None else amounts[inside]
    return IncidentTally(
        _GAP,
        scored=True,
        families={THREE[i]: f"of {THREE[i]}" for i in sorted(set(incident[inside].tolist()))},
        seen=seen_cells(time[inside], incident[inside], THREE, own),
        **observed_cells(time, amounts),
        **alerts.cells(inside, incident[inside], THREE, _GAP),
    )


_SCHEMA = {
    "label": pl.String,
    "score": pl.Float64,
    "host": pl.String,
    "site": pl.String,
    "day": pl.String,
}
_frame_rows = st.tuples(
    st.sampled_from([*NAMES, None]),
    st.one_of(probabilities, st.floats(-3, 3), st.just(float("nan"))),
    hosts,
    st.sampled_from(["x", "y"]),
    st.sampled_from(DAYS),
)


def _amounts(tally: Tally) -> Tally:
    days = tally.days and {day: _amounts(part) for day, part in tally.days.items() if part.counted}
    if not tally.counted:
        return Tally.zero()
    return replace(tally, rows=0, empty=0, refused=Refusals(), days=days)


def _coded(rows: Sequence[Row], counts: Counts, **columns: Any) -> Tally:
    if not rows or (counts is not None and not counts.any()):
        return Tally.zero()
    given = {} if counts is None else {"counts": counts}
    return count_coded(code_arrays([NAMES[row[0]] for row in rows], **columns, **given), Ask())


def _decisions_by_name(rows: Sequence[Row], counts: Counts) -> Tally:
    return _coded(
        rows,
        counts,
        y_pred=[NAMES[row[1]] for row in rows],
        clusters=[row[2] for row in rows],
        slices={"site": [row[3] for row in rows]},
    )


def _classes_by_name(rows: Sequence[Row], counts: Counts) -> Tally:
    """Rows with a probability a class; the label may be one that has none."""
    table = np.array([row[1:4] for row in rows], np.float64).reshape(-1, 3)
    table = table / table.sum(axis=1, keepdims=True)
    return _coded(
        rows,
        counts,
        y_proba={name: table[:, i] for i, name in enumerate(NAMES[:3])},
        clusters=[row[4] for row in rows],
        times=[row[5] for row in rows],
        unknown=NAMES[3],
    )


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
            st.sampled_from(DAYS),
        ),
        _record,
        no_record,
    ),
    Kind(
        "incidents",
        st.tuples(
            st.integers(0, 3), moments, scores, st.integers(0, 3), st.integers(0, len(HOSTS) - 1)
        ),
        _incidents,
        lambda: IncidentTally(_GAP, scored=True),
    ),
    Kind("crosstab", st.tuples(st.integers(0, 3), binary), _crosstab, Crosstab),
    Kind("scores by name", _frame_rows, _by_name(Exact()), Tally, _amounts),
    Kind("cells by name", _frame_rows, _by_name(Grid(GRID_BITS)), Tally, _amounts),
    Kind(
        "decisions by name",
        st.tuples(st.integers(0, 3), st.integers(0, 3), hosts, st.sampled_from(["x", "y"])),
        _decisions_by_name,
        Tally,
        _amounts,
    ),
    Kind(
        "classes by name",
        st.tuples(st.integers(0, 3), *[st.integers(1, 9)] * 3, hosts, st.sampled_from(DAYS)),
        _classes_by_name,
        Tally,
        _amounts,
    ),
)
