"""Tensors are counted to the very bits that rows on this machine are."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay.engines import Ask, arrays, count_coded
from assay.errors import InputError, LabelError, LengthMismatch, ScoreError
from assay.sources import code_arrays
from assay.tally.keeping import Cuts, Exact, Grid

LIBRARIES = pytest.mark.parametrize("library", ["numpy", "torch"])
KEPT = st.sampled_from([Exact(), Grid(12), Grid(5)])
FLOATS = st.one_of(
    st.floats(0, 1, width=32),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e-40, 1 - 2.0**-24, 2.0]),
)


def torch_or_skip() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


def same_bits(
    library: str, truth: Any, scores: Any, kept: Any, threshold: float | None = None
) -> bool:
    """Whether a library counts rows to the bits that this machine counts them to."""
    make: Any = np.asarray if library == "numpy" else torch_or_skip().from_numpy
    ask = Ask(scores=kept, threshold=threshold)
    here = count_coded(code_arrays(truth, y_score=scores), ask)
    return arrays.count_on_device(make(truth), make(scores), ask).to_bytes() == here.to_bytes()


@LIBRARIES
@given(
    scores=hnp.arrays(np.float32, st.integers(1, 60), elements=FLOATS),
    seed=st.integers(0, 99),
    wide=st.booleans(),
    labels=st.sampled_from(["bool", "bits", "three", "signs"]),
    kept=KEPT,
    threshold=st.sampled_from([None, 0.3, 0.5, 1e-40, 1e300, -1e300]),
)
def test_the_bits_are_those_of_this_machine(
    library: str,
    scores: Any,
    seed: int,
    wide: bool,
    labels: str,
    kept: Any,
    threshold: float | None,
) -> None:
    rng = np.random.default_rng(seed)
    kinds = {"bool": [False, True], "bits": [0, 1], "three": [0, 1, 7], "signs": [-1, 1]}
    truth = np.array(kinds[labels])[rng.integers(0, len(kinds[labels]), len(scores))]
    scores = scores.astype(np.float64 if wide else np.float32)
    assert same_bits(library, truth, scores, kept, threshold)


@LIBRARIES
@pytest.mark.parametrize("ties", [1, 127, 128, 255, 256, 32_768, 65_535, 65_536])
def test_counts_take_as_few_bytes_as_the_largest(library: str, ties: int) -> None:
    scores = np.repeat(np.array([0.25, 0.5, 0.75], np.float32), [1, ties, 2])
    assert same_bits(library, np.arange(ties + 3) == 0, scores, Exact())


@LIBRARIES
@pytest.mark.parametrize("labels", [1, 2, 128, 129, 300])
@pytest.mark.parametrize("kept", [Exact(), Grid()], ids=["exact", "grid"])
def test_many_labels_are_counted(library: str, labels: int, kept: Any) -> None:
    rng = np.random.default_rng(labels)
    truth = np.append(rng.integers(0, labels, 999), labels - 1)
    assert same_bits(library, truth, rng.random(1000), kept)


@LIBRARIES
@pytest.mark.parametrize("bits", [1, 12, 20, 32])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_next_to_0_and_1_and_one_half(library: str, bits: int, dtype: Any) -> None:
    edges = np.array([0, 0.25, 0.5, 1], dtype)
    scores = np.concatenate([edges, np.nextafter(edges[2:], 0), np.nextafter(edges[1:3], 1)])
    scores = np.append(scores, [np.finfo(dtype).smallest_normal, np.finfo(dtype).eps / 2])
    assert same_bits(library, np.arange(len(scores)) % 2, scores.astype(dtype), Grid(bits))


def test_rows_without_a_finite_score_stop_it_or_are_counted() -> None:
    truth, scores = np.array([0, 1, 1, 0]), np.array([0.1, np.nan, np.inf, 0.7])
    with pytest.raises(ScoreError, match=r"2 of 4 are not; the first is nan in row 2"):
        arrays.count_on_device(truth, scores)
    tally = arrays.count_on_device(truth, scores, Ask(on_bad_row="skip"))
    assert (tally.rows, tally.refused.total, tally.labels.names) == (4, 2, ("0",))
    nothing = arrays.count_on_device(truth[1:3], scores[1:3], Ask(on_bad_row="skip"))
    assert (nothing.rows, nothing.refused.total, nothing.counted) == (2, 2, False)


@pytest.mark.parametrize(
    ("truth", "scores", "ask", "error", "said"),
    [
        (np.array([0.5, 1.0]), np.ones(2), Ask(), LabelError, "whole numbers"),
        (np.array([0, 1 << 40]), np.ones(2), Ask(), LabelError, "that is an id"),
        (np.array([0, 1]), np.ones(3), Ask(), LengthMismatch, "same rows"),
        (np.array([0, 1]), np.ones((2, 1)), Ask(), InputError, "one column each"),
        (np.array([0, 1]), np.ones(2, np.int64), Ask(), ScoreError, "float32 or float64"),
        (np.array([0, 1]), np.ones(2), Ask(scores=Cuts()), InputError, "exact scores or by a grid"),
    ],
)
def test_what_can_not_be_counted_is_named(
    truth: Any, scores: Any, ask: Ask, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        arrays.count_on_device(truth, scores, ask)


def test_no_rows_are_an_empty_tally() -> None:
    assert arrays.count_on_device(np.empty(0, np.int64), np.empty(0)).is_zero


def test_evaluate_takes_tensors() -> None:
    torch = torch_or_skip()
    import assay

    rng = np.random.default_rng(3)
    truth, scores = rng.integers(0, 2, 500), rng.random(500)
    there = assay.evaluate(torch.from_numpy(truth), y_score=torch.from_numpy(scores))
    here = assay.evaluate(truth, y_score=scores)
    assert there.tally == here.tally
    assert there["roc_auc"] == here["roc_auc"]


def _on_a_device(library: str) -> Any:
    """An array whose type says that it belongs to another library."""
    kind = type("Tensor", (np.ndarray,), {"__module__": library})
    return lambda values: np.asarray(values).view(kind)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_columns_of_unlike_libraries_are_counted_here(library: str) -> None:
    import assay

    tensor = _on_a_device(library)
    truth, scores = [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.6]
    here = assay.evaluate(truth, y_score=scores)
    for other in (scores, np.array(scores), pl.Series(scores)):
        assert assay.evaluate(tensor(truth), y_score=other).tally == here.tally
    for other in (truth, np.array(truth), pl.Series(truth)):
        assert assay.evaluate(other, y_score=tensor(scores)).tally == here.tally


def test_a_column_that_stays_on_its_device_is_named() -> None:
    import assay

    class Tensor:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")

    with pytest.raises(InputError, match=r"y_true can't be read.*cuda:0.*Move it from its device"):
        assay.evaluate(Tensor(), y_score=[0.5])


def test_a_tensor_with_scores_of_numpy_is_counted() -> None:
    torch = torch_or_skip()
    import assay

    truth, scores = torch.tensor([0, 1, 1, 0]), np.array([0.1, 0.9, 0.4, 0.6])
    assert assay.evaluate(truth, y_score=scores)["roc_auc"].value == 0.75
