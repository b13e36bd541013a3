"""Pairs of decisions and of scores, number by number, whichever way they are counted."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import JointScores, PairTally, codec, from_bytes
from assay.tally.keeping import Exact, Grid, cells
from assay.tally.pairs import crossed

from .kinds import THREE, TWO

Array = np.ndarray[Any, Any]


# -- decisions -------------------------------------------------------------------------------------


def _crossed(
    columns: Sequence[Array], shape: Sequence[int], counts: Array | None
) -> list[tuple[list[int], int]]:
    codes, sums = crossed(columns, shape, counts)
    assert (codes.dtype, sums.dtype) == (np.uint16, np.int64)
    assert codes.shape == (len(sums), len(columns))
    return list(zip(codes.tolist(), sums.tolist(), strict=True))


@pytest.mark.parametrize("at_once", [1 << 20, 5, 3, 1])
@pytest.mark.parametrize("shape", [(3, 2, 4), (256, 256, 1), (256, 2, 129), (300, 400, 500)])
@pytest.mark.parametrize("counted", [False, True])
def test_combinations_are_counted_with_a_counter_each_and_by_sorting_alike(
    at_once: int, shape: tuple[int, ...], counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.tally.pairs._ROWS", at_once)
    random = np.random.default_rng(4)
    columns = [random.choice([0, side - 1], 11).astype(np.uint16) for side in shape]
    counts = random.integers(0, 5, 11) if counted else None
    expected: Counter[tuple[int, ...]] = Counter()
    for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        expected[row] += 1 if counts is None else int(counts[i])
    held = sorted((list(row), count) for row, count in expected.items() if count)
    assert _crossed(columns, shape, counts) == held
    none = [column[:0] for column in columns]
    assert _crossed(none, shape, None if counts is None else counts[:0]) == []


def test_models_are_told_apart() -> None:
    truth, new = np.array([0, 0, 1, 2]), np.array([0, 2, 1, 1])
    decisions = {"old": np.array([0, 1, 1, 2]), "new": new, "other": np.array([2, 2, 1, 0])}
    pairs = PairTally.of_codes(THREE, truth, decisions, counts=np.array([1, 2, 3, 4]))
    assert pairs.total == 10
    assert pairs.confusion(1).cells == ((1, 0, 2), (0, 3, 0), (0, 4, 0))
    chosen = pairs.of_models("other", "old")
    assert chosen.models == ("other", "old")
    assert chosen.codes.tolist() == [[0, 2, 0], [0, 2, 1], [1, 1, 1], [2, 0, 2]]
    assert pairs.of_models("other").codes.tolist() == [[0, 2], [1, 1], [2, 0]]
    assert pairs.of_models("other").counts.tolist() == [3, 3, 4]
    assert pairs.of_models().codes.tolist() == [[0], [1], [2]]
    assert pairs.of_label(2).counts.tolist() == [4]
    assert pairs.of_label(0).codes.tolist() == [[0, 0, 0, 2], [0, 1, 2, 2]]
    assert pairs.correct().tolist()[0] == [True, True, False]
    zero = PairTally.zero(THREE, ("old", "new", "other"))
    assert (zero.codes.shape, zero.codes.dtype, zero.total) == ((0, 4), np.uint16, 0)
    assert (pairs + zero, zero + pairs) == (pairs, pairs)
    assert (pairs + pairs).counts.tolist() == [2, 4, 6, 8]


CODES = np.array([[1, 0], [0, 1], [1, 0]], np.uint16)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"codes": CODES.astype(np.uint8)}, r"codes of uint8 \(3, 2\) for 1 models"),
        ({"codes": CODES[:2]}, r"codes of uint16 \(2, 2\)"),
        ({"codes": CODES[:, :1]}, r"codes of uint16 \(3, 1\)"),
        ({"codes": CODES + np.uint16(1)}, "codes or counts are out of range"),
        ({"counts": np.array([1, -1, 1])}, "codes or counts are out of range"),
        ({"counts": np.array([1, 1, 1], np.uint8)}, "codes or counts are out of range"),
    ],
)
def test_arrays_that_are_no_pairs_are_refused(changed: dict[str, Any], message: str) -> None:
    header = {"labels": TWO, "models": ["m"]}
    good = {"codes": CODES, "counts": np.array([1, 0, 5])}
    read = from_bytes(codec.write("pairs", header, good))
    assert (read.codes.tolist(), read.counts.tolist()) == ([[1, 0]], [6])
    with pytest.raises(TallyError, match=message):
        from_bytes(codec.write("pairs", header, good | changed))


# -- scores ----------------------------------------------------------------------------------------

SCORES = {
    "a": np.array([0.3, 0.9, 0.3, -2.0, 0.3, 0.9, 7.0, 0.3]),
    "b": np.array([0.5, 1e-9, 0.5, 0.2, 0.4, 0.2, 0.5, 0.5001]),
}
TRUTH = np.array([1, 0, 1, 0, 1, 2, 2, 1])
COUNTS = np.array([1, 2, 300, 4, 0, 5, 6, 7])


def _pairs(joint: JointScores) -> list[tuple[int, list[int], int]]:
    columns = joint.truth.tolist(), joint.cells.T.tolist(), joint.counts.tolist()
    return list(zip(*columns, strict=True))


def _naive(bits: int, truth: Array = TRUTH, counts: Array | None = None) -> list[Any]:
    table = np.stack([cells(column, bits) for column in SCORES.values()], axis=1).tolist()
    sums: Counter[tuple[int, ...]] = Counter()
    for i, (label, pair) in enumerate(zip(truth.tolist(), table, strict=True)):
        sums[label, *pair] += 1 if counts is None else int(counts[i])
    return [(label, pair, n) for (label, *pair), n in sorted(sums.items()) if n]


# With 6 bits for the label a key of 2 x 29 is too long, with 5 it just fits.
@pytest.mark.parametrize("labels", [3, 31, 32, 33, 63, 64])
@pytest.mark.parametrize("bits", [1, 12, 15, 16, 17, 20])
@pytest.mark.parametrize("counts", [None, COUNTS])
def test_pairs_of_cells_are_counted_whether_a_key_holds_them_or_not(
    labels: int, bits: int, counts: Array | None
) -> None:
    names = tuple(f"kind {i:02}" for i in range(labels))
    truth = TRUTH.copy()
    truth[TRUTH == 2] = labels - 1
    joint = JointScores.of_rows(names, truth, SCORES, counts=counts, bits=bits)
    assert _pairs(joint) == _naive(bits, truth, counts)
    assert joint.truth.dtype == np.uint16
    assert joint.cells.dtype == np.int64
    assert joint.counts.dtype == (np.uint8 if counts is None else np.uint16)
    assert (joint.rows, joint.kept) == (8 if counts is None else 325, Grid(bits))
    assert from_bytes(joint.to_bytes()) == joint


def test_every_pair_is_kept_where_no_bits_are_asked_for() -> None:
    joint = JointScores.of_rows(THREE, TRUTH, SCORES, counts=COUNTS, bits=None)
    pairs = zip(*(column.tolist() for column in (TRUTH, *SCORES.values(), COUNTS)), strict=True)
    sums: Counter[tuple[float, ...]] = Counter()
    for label, a, b, count in pairs:
        sums[label, a, b] += count
    counts = zip(joint.truth.tolist(), joint.scores(0), joint.scores(1), joint.counts, strict=True)
    assert list(counts) == [(*pair, n) for pair, n in sorted(sums.items()) if n]
    assert joint.kept == Exact()
    # Integers rise as the scores do.
    order = np.array([-1e308, -2.0, -5e-324, -0.0, 5e-324, 1.0, 1e308])
    rising = JointScores.of_rows(
        ("x",), np.zeros(7, int), {"a": order, "b": np.zeros(7)}, bits=None
    )
    assert rising.scores(0).tolist() == (order + 0.0).tolist()
    assert (np.diff(rising.cells[0]) > 0).all()
    assert rising.cells[0].tolist()[3:5] == [0, 1]


def test_a_grid_has_12_bits_where_none_are_named() -> None:
    assert JointScores.zero(TWO, ("a", "b")).kept == Grid(12)
    assert JointScores.of_rows(THREE, TRUTH, SCORES).kept == Grid(12)
    zero = JointScores.zero(TWO, ("a", "b"), Grid(3))
    assert (zero.cells.shape, zero.counts.dtype, zero.kept) == ((2, 0), np.uint8, Grid(3))
    none = JointScores.of_rows(TWO, TRUTH[:0], {name: s[:0] for name, s in SCORES.items()})
    for empty in (zero, none):
        assert (empty.truth.shape, empty.cells.shape, empty.counts.shape) == ((0,), (2, 0), (0,))
    for models in (("a",), ("a", "b", "c")):
        with pytest.raises(TallyError, match="those of two models; found"):
            JointScores.zero(TWO, models)


def test_parts_add_on_the_coarsest_grid_of_those_that_have_rows() -> None:
    fine = JointScores.of_rows(THREE, TRUTH, SCORES, bits=9)
    coarse = JointScores.of_rows(THREE, TRUTH, SCORES, bits=4)
    exact = JointScores.of_rows(THREE, TRUTH, SCORES, bits=None)
    none = JointScores.zero(THREE, ("a", "b"), Grid(2))
    for parts in ([fine, coarse, exact], [exact, coarse, fine], [coarse, none, fine, exact]):
        total = JointScores.merge(parts)
        assert total.kept == Grid(4)
        assert _pairs(total) == _naive(4, counts=np.full(8, 3))
    assert JointScores.merge([none, fine]) == fine
    assert (fine + fine).counts.tolist() == (2 * fine.counts).tolist()
    two = JointScores.of_rows(TWO, np.minimum(TRUTH, 1), SCORES)
    assert (two + two).labels == TWO == ("benign", "attack")
    assert (two + fine).labels == ("attack", *THREE)
    assert JointScores.merge([exact, none, exact]).kept == Exact()
    assert JointScores.merge([none, none]).kept == Grid(2)
    wider = JointScores.zero(THREE, ("a", "b"), Grid(5))
    assert JointScores.merge([wider, none]).kept == JointScores.merge([none, wider]).kept == Grid(2)
    exactly = JointScores.zero(THREE, ("a", "b"), Exact())
    assert JointScores.merge([exactly, exactly]).kept == Exact()
    assert fine.to_grid(9) is fine


def test_pairs_are_brought_within_a_limit_by_the_finest_grid_that_does() -> None:
    # Of the mantissas 1.2, 1.2004 and 1.28 the first two share 9 bits, and all of them 1.
    scores = {"a": np.array([0.3, 0.3001, 0.32, 0.4]), "b": np.full(4, 0.5)}
    exact = JointScores.of_rows(TWO, np.zeros(4, int), scores, bits=None)
    assert exact.within(4) is exact
    sizes = [(joint.kept, joint.size) for joint in map(exact.within, (3, 2, 1))]
    assert sizes == [(Grid(9), 3), (Grid(1), 2), (Grid(1), 2)]
    grid = exact.to_grid(12)
    assert grid.within(4) is grid
    assert grid.within(3) == exact.to_grid(9)
    # A fine grid is made coarser bit by bit, and the exact pairs go to 12 bits first.
    fine = JointScores.of_rows(
        TWO, np.zeros(4, int), scores | {"a": np.array([0.3] * 3 + [0.30001])}, bits=20
    )
    assert (fine.size, fine.within(1).kept) == (2, Grid(13))


def test_marginals_and_decisions_are_those_of_the_rows() -> None:
    joint = JointScores.of_rows(THREE, TRUTH, SCORES, counts=COUNTS, bits=None)
    second = joint.marginal(1)
    assert second.scores.tolist() == [1e-9, 0.2, 0.5, 0.5001]
    assert second.counts.tolist() == [[2, 4, 0, 0], [0, 0, 301, 7], [0, 5, 6, 0]]
    assert (second.counts.dtype, second.kept) == (np.uint16, Exact())
    two = JointScores.of_rows(TWO, np.minimum(TRUTH, 1), SCORES, counts=COUNTS, bits=None)
    decided = two.decided([0.3, 0.5])
    assert decided.models == ("a", "b")
    assert decided.codes.tolist() == [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert decided.counts.tolist() == [4, 2, 5, 314]
    sample = two.sample()
    assert (sample.labels, sample.models, sample.clusters) == (TWO, ("a", "b"), ())
    assert (sample.cluster.tolist(), sample.counts.dtype) == ([0] * two.size, np.int64)
    assert sample.scores.tolist()[:3] == [[-2.0, 0.2], [0.9, 1e-9], [0.3, 0.5]]


def test_labels_take_other_places() -> None:
    joint = JointScores.of_rows(THREE, TRUTH, SCORES, bits=4)
    turned = joint.placed(("probe", "dos", "benign"), {"benign": 2, "dos": 1, "probe": 0})
    assert _pairs(turned) == _naive(4, 2 - TRUTH)
    assert joint.placed(list(THREE), {"benign": 0, "dos": 1, "probe": 2}) is joint
    swapped = joint.placed(THREE, {"benign": 1, "dos": 0, "probe": 2})
    assert _pairs(swapped) == _naive(4, np.array([1, 0, 2])[TRUTH])
    assert JointScores.zero((), ("a", "b")).placed(TWO, {}).labels == TWO
    assert joint != turned
    assert repr(joint) == f"JointScores(models=('a', 'b'), labels={THREE}, pairs={joint.size})"


# -- bytes -----------------------------------------------------------------------------------------

JOINT = JointScores.of_rows(THREE, TRUTH, SCORES, bits=4)
GOOD = {"truth": JOINT.truth, "cells": JOINT.cells, "counts": JOINT.counts}
FAR = np.full_like(JOINT.cells, 1 << 40)
BROKEN: dict[str, tuple[dict[str, Array], str]] = {
    "labels of another kind": ({"truth": JOINT.truth.astype(np.uint8)}, "of an unknown kind"),
    "cells of another kind": ({"cells": JOINT.cells.astype(np.float64)}, "of an unknown kind"),
    "signed counts": ({"counts": JOINT.counts.astype(np.int64)}, "of an unknown kind"),
    "cells of one model": ({"cells": JOINT.cells[:1]}, "of an unknown kind"),
    "cells of fewer pairs": ({"cells": JOINT.cells[:, 1:]}, "of an unknown kind"),
    "labels of fewer pairs": ({"truth": JOINT.truth[1:]}, "labels are out of range"),
    "a label too many": ({"truth": JOINT.truth + np.uint16(1)}, "labels are out of range"),
    "scores beyond all": ({"cells": FAR}, "scores are not finite"),
    "the first scores beyond": ({"cells": np.stack([FAR[0], JOINT.cells[1]])}, "not finite"),
    "the second scores beyond": ({"cells": np.stack([JOINT.cells[0], FAR[1]])}, "not finite"),
    "another order": ({"cells": JOINT.cells[:, ::-1]}, "pairs are not ascending"),
    "wide counts": ({"counts": JOINT.counts.astype(np.uint32)}, "not in their narrowest form"),
    "a count of zero": ({"counts": JOINT.counts * np.uint8(0)}, "pairs are not ascending"),
}


def _bytes(changed: dict[str, Array], **more: Any) -> bytes:
    header = {"labels": THREE, "models": ["a", "b"], "bits": 4}
    return codec.write("joint", header | more, GOOD | changed)


@pytest.mark.parametrize("name", BROKEN)
def test_arrays_that_are_no_joint_scores_are_refused(name: str) -> None:
    assert from_bytes(_bytes({})) == JOINT
    changed, message = BROKEN[name]
    with pytest.raises(TallyError, match=message):
        from_bytes(_bytes(changed))
