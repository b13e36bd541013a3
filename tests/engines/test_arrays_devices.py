"""Arrays of torch and CuPy, by stand-ins: the same bits as on this machine, and what travels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.engines import Ask, arrays, count_coded
from assay.engines.arrays import count_arrays, resolved_arrays
from assay.errors import InputError, LabelError, ScoreError
from assay.sources import code_arrays
from assay.tally.keeping import Grid
from assay.tally.named_tally import SCORE

from . import devices

Make = Callable[[Any], Any]
KINDS = {
    "numpy": np.ndarray,
    "cupy": devices.CupyArray,
    "cpu": devices.Tensor,
    "cuda": devices.GpuTensor,
}
# More numbers than this are copied beside what is computed.
LARGE = 1 << 20


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The libraries as stand-ins; what pinned memory CuPy has given."""
    given: list[Any] = []
    monkeypatch.setitem(sys.modules, "torch", devices.torch())
    monkeypatch.setitem(sys.modules, "cupy", devices.Cupy("cupy"))
    monkeypatch.setitem(sys.modules, "cupyx", devices.cupyx(given))
    return given


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, pinned: list[Any]) -> Make:
    """What makes an array of each library."""
    kind = KINDS[request.param]
    return lambda values: np.array(values).view(kind)


def must_be_same(make: Make, truth: Any, scores: Any, ask: Ask) -> None:
    """The bytes of a tally are those of rows that were counted on this machine."""
    here = count_coded(code_arrays(np.array(truth), y_score=np.array(scores)), ask)
    there = arrays.count_on_device(make(truth), make(scores), ask)
    same = there.to_bytes() == here.to_bytes()
    assert same


SCORES = {
    "probabilities": [0.1, 0.9, 0.5, 0.5, 0.3, 1.0, 0.0, 0.30001],
    "zeros below": [-0.5, -0.0, -0.25, -0.0, -2.5, -0.0, -0.5, -0.125],
    "zeros above": [0.5, -0.0, 0.25, 0.0, 2.5, -0.0, 0.5, 0.125],
    "zeros of either sign": [0.5, -0.0, 0.25, 0.0, 0.75, -0.0, 0.5, 0.125],
    "zeros alone": [0.0, -0.0, 0.0, -0.0, 0.0, 0.0, -0.0, -0.0],
    "both sides": [-0.5, 0.5, 0.25, -0.25, 0.5, -0.5, 0.75, 0.0],
    "up to 2": [0.5, 2.0, 1.5, 0.25, 2.0, 1.0, 0.5, 0.5],
    "above 2": [0.5, 2.5, 1.5, 0.25, 2.0, 1.0, 0.5, 0.5],
    "above 1": [0.5, 1.5, 1.25, 0.25, 0.0, 1.0, 0.5, 0.5],
    "subnormal": [0.5, 1e-40, 3e-310, 0.25, 0.0, 1.0, 0.5, 0.5],
}
LABELS = {
    "booleans": [False, True, True, False, True, False, False, True],
    "bits": [0, 1, 1, 0, 1, 0, 0, 1],
    "ones and twos": [1, 2, 2, 1, 2, 1, 1, 2],
    "signs": [-1, 1, 1, -1, 1, -1, -1, 1],
    "three": [2, 1, 0, 0, 1, 2, 0, 1],
    "gap": [3, 7, 7, 3, 4, 4, 3, 3],
    "one": [5] * 8,
}


# Where no score is kept, losses are counted row by row here, and not at all on a device.
KEPT = (Ask(), Ask(scores=Grid(4)), Ask(scores=None, losses=False))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scores", SCORES)
def test_scores_of_any_range_are_counted_to_the_same_bits(
    make: Make, scores: str, dtype: Any
) -> None:
    column = np.array(SCORES[scores]).astype(dtype)
    for ask in KEPT:
        must_be_same(make, LABELS["bits"], column, replace(ask, threshold=float(dtype(0.3))))


@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_any_kind_are_counted_to_the_same_bits(make: Make, labels: str) -> None:
    for ask in KEPT:
        must_be_same(make, LABELS[labels], np.array(SCORES["probabilities"]), ask)


@pytest.mark.parametrize("labels", [128, 129, 200, 256, 257])
def test_many_labels_are_told_apart_in_either_half_of_a_grid(make: Make, labels: int) -> None:
    truth = np.arange(2 * labels) % labels
    scores = np.linspace(0, 1, 2 * labels, dtype=np.float32)
    must_be_same(make, truth, scores, Ask(scores=Grid(3)))


def test_the_largest_floats_are_finite(make: Make) -> None:
    top = np.finfo(np.float32).max
    scores = np.array([top, np.nan, -top, np.inf, 0.5, -np.inf], np.float32)
    tally = arrays.count_on_device(make([0, 1, 1, 1, 0, 1]), make(scores), Ask(on_bad_row="skip"))
    assert tally.extremes == {SCORE: (-top, top)}
    assert (tally.rows, tally.refused.total) == (6, 3)
    assert tally.refused.reasons == {"score: not a finite number": 3}
    with pytest.raises(ScoreError, match="3 of 6 are not; the first is nan in row 2"):
        arrays.count_on_device(make([0, 1, 1, 1, 0, 1]), make(scores))


def test_either_infinity_is_refused(make: Make) -> None:
    for odd in (np.inf, -np.inf, np.nan):
        with pytest.raises(ScoreError, match="1 of 2 are not"):
            arrays.count_on_device(make([0, 1]), make([0.5, odd]))


def test_tensors_go_where_they_are_only_with_a_score_and_nothing_else(make: Make) -> None:
    truth, scores = LABELS["bits"], SCORES["probabilities"]
    here = count_arrays(truth, y_score=scores)
    assert count_arrays(make(truth), y_score=make(scores)).to_bytes() == here.to_bytes()
    slices = ["a", "b"] * 4
    apart = count_arrays(truth, y_score=scores, slices={"side": slices})
    there = count_arrays(make(truth), y_score=make(scores), slices={"side": slices})
    assert there.to_bytes() == apart.to_bytes()


def test_rows_without_a_score_stop_the_count_unless_they_are_to_be_left_out(make: Make) -> None:
    truth, scores = [0, 1, 1], [0.1, np.nan, 0.9]
    with pytest.raises(ScoreError):
        count_arrays(make(truth), y_score=make(scores))
    left = count_arrays(make(truth), y_score=make(scores), on_bad_row="skip")
    assert (left.rows, left.refused.total) == (3, 1)


def test_rows_that_a_device_leaves_out_are_listed_by_their_number(make: Make) -> None:
    truth, scores = [0, 1, 1, 0, 1], [0.1, np.nan, 0.9, -np.inf, 0.8]
    here, there = (
        resolved_arrays(of(truth), y_score=of(scores), on_bad_row="skip")[3]
        for of in (np.array, make)
    )
    assert [row for row, _ in here] == [2, 4]
    assert there == here


def test_what_is_asked_of_labels_is_remembered(make: Make) -> None:
    tally = count_arrays(make([0, 1]), y_score=make([0.1, 0.9]), positive=1, threshold=0.25)
    assert tally.sides == {"positive": 1}
    assert tally.threshold == 0.25


# -- what is refused -------------------------------------------------------------------------------


def test_labels_of_a_wide_range_are_no_labels() -> None:
    scores, ask = np.array([0.1, 0.9]), Ask(scores=None)
    with pytest.raises(LabelError, match="labels run from -1 to 65535"):
        arrays.count_on_device(np.array([-1, 65535]), scores, ask)
    tally = arrays.count_on_device(np.array([-1, 65534]), scores, ask)
    assert tally.labels.names == ("-1", "65534")


@pytest.mark.parametrize("shapes", [((2, 1), (2,)), ((2,), (2, 1)), ((2, 1), (2, 1))])
def test_a_column_has_one_dimension(make: Make, shapes: Any) -> None:
    label, score = (make(np.zeros(shape)) for shape in shapes)
    with pytest.raises(InputError, match="one column each"):
        arrays.count_on_device(label, score)


def test_columns_of_two_devices_are_refused(pinned: list[Any]) -> None:
    here, there = (np.array([0, 1]).view(kind) for kind in (devices.Tensor, devices.GpuTensor))
    with pytest.raises(InputError, match="move one to the other"):
        arrays.count_on_device(here, there.astype(np.float64))


def test_a_library_is_told_by_its_type() -> None:
    array, tensor = np.zeros(2).view(devices.CupyArray), np.zeros(2).view(devices.Tensor)
    assert [arrays.library_of(each) for each in (array, tensor, [1])] == ["cupy", "torch", None]
    assert arrays.together(array, array)
    assert arrays.together(tensor, tensor)
    assert not arrays.together(array, tensor)
    assert not arrays.together(array, [1])
    assert not arrays.together([1], [1])


# -- what is counted where -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "bits", "most"),
    [(np.float32, 12, 130), (np.float64, 12, 16), (np.float64, 8, 256), (np.float32, 19, 1)],
)
def test_up_to_so_many_labels_the_cells_of_a_grid_are_counted_on_the_device(
    dtype: Any, bits: int, most: int
) -> None:
    # Exponents from 0 to 1/2, each with 2^bits cells and one more at 1/2, in two halves.
    exponents = {np.float32: 126, np.float64: 1022}[dtype]
    fits = [2 * labels * (exponents * 2**bits + 1) <= 2**27 for labels in (most, most + 1)]
    assert fits == [True, False]
    score = np.array([0.25, 0.75], dtype)
    told = [arrays._has_cells(score, labels, bits, 0.25, 0.75) for labels in (most, most + 1)]
    assert told == fits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_only_probabilities_that_are_no_subnormal_floats_have_cells(dtype: Any) -> None:
    smallest = float(np.finfo(dtype).smallest_normal)
    cases = {
        (0.0, 1.0): True,
        (0.0, 0.5): True,
        (smallest, 1.0): True,
        (0.0, smallest): True,
        (smallest / 2, 1.0): False,
        (0.0, smallest / 2): False,
        (-0.25, 0.5): False,
        (0.5, 1.25): False,
        (-0.25, 1.25): False,
    }
    for (low, high), expected in cases.items():
        score = np.array([low, high], dtype)
        assert arrays._has_cells(score, 2, 12, low, high) is expected, (low, high)


def test_many_numbers_come_from_cupy_into_pinned_memory(pinned: list[Any]) -> None:
    few = np.zeros(LARGE, np.uint8).view(devices.CupyArray)
    many = np.arange(LARGE + 1, dtype=np.int32).view(devices.CupyArray)
    at = arrays.device_of(few)
    assert at.host(few).tolist() == few.tolist()
    assert pinned == []
    assert at.host(many).tolist() == many.tolist()
    assert pinned == [(LARGE + 1,)]


def test_many_numbers_of_torch_are_sent_beside_what_is_computed(pinned: list[Any]) -> None:
    streams = sys.modules["torch"].cuda.streams  # type: ignore[attr-defined]
    few = np.zeros(LARGE, np.uint8).view(devices.GpuTensor)
    at = arrays.device_of(few)
    assert not at.host(few).any()
    assert [stream.copies for stream in streams.made] == [1]
    many = np.arange(LARGE + 1, dtype=np.int32).view(devices.GpuTensor)
    assert at.host(many)[-1] == LARGE
    usual, other = streams.made
    assert (usual.copies, other.copies) == (1, 1)
    assert (other.waits, len(other.uses)) == ([usual], 1)
    assert streams.events == [usual, other]
