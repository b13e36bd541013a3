"""Every kind of column gives the same tally."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from assay.engines.arrays import resolved_arrays
from assay.errors import AssayError, InputError, LabelError, ScoreError
from assay.tally import Resolved

TEXT = ["attack", "normal", "attack", "normal", "normal", "attack"]
SAID = ["attack", "normal", "normal", "attack", "normal", "attack"]
SCORES = [0.9, 0.25, 0.5, 0.5, 0.1, 0.7]
ONES = [1, 0, 1, 0, 0, 1]
BOOLS = [True, False, True, False, False, True]


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


def _chunked(values: list[Any], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values[:2], kind), pa.array(values[2:], kind)])


TEXT_COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "deque": deque,
    "iterator": iter,
    "numpy text": np.array,
    "numpy bytes": lambda v: np.array(v, "S"),
    "numpy objects": lambda v: np.array(v, object),
    "numpy strings": lambda v: np.array(v, np.dtypes.StringDType()),
    "numpy column": lambda v: np.array(v)[:, None],
    "numpy apart in memory": lambda v: np.array([[x, "other"] for x in v])[:, 0],
    "list of numpy text": lambda v: [np.str_(x) for x in v],
    "pandas objects": lambda v: pd.Series(v, dtype=object),
    "pandas default": pd.Series,
    "pandas string": lambda v: pd.Series(v, dtype="string"),
    "pandas arrow string": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "pandas unused category": lambda v: pd.Series(pd.Categorical(v, ["z", "normal", "attack"])),
    "pandas odd index": lambda v: pd.Series(v, index=range(100, 100 + len(v))[::-1]),
    "pandas index": pd.Index,
    "pandas array": lambda v: pd.array(v, dtype="string"),
    "pandas frame of one column": lambda v: pd.DataFrame({"y": v}),
    "polars": pl.Series,
    "polars category": lambda v: pl.Series(v, dtype=pl.Categorical),
    "polars enumeration": lambda v: pl.Series(v, dtype=pl.Enum(["normal", "attack", "z"])),
    "polars frame of one column": lambda v: pl.DataFrame({"y": v}),
    "arrow": pa.array,
    "arrow large": lambda v: pa.array(v, pa.large_string()),
    "arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "arrow chunks": _chunked,
    "arrow dictionary chunks": lambda v: _chunked(v).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TEXT_COLUMNS)
def test_labels_and_decisions_as_text_of_any_kind_count_alike(kind: str) -> None:
    make = TEXT_COLUMNS[kind]
    expected = counted(TEXT, y_pred=SAID)
    resolved_tally = counted(make(TEXT), y_pred=make(SAID))
    assert resolved_tally == expected
    assert resolved_tally.to_bytes() == expected.to_bytes()
    assert resolved_tally.labels == ("normal", "attack")
    assert resolved_tally.confusion.cells == ((2, 1), (1, 2))


INTEGER_COLUMNS: dict[str, Callable[[list[int]], Any]] = {
    "tuple": tuple,
    **{
        f"numpy {name}": lambda v, name=name: np.array(v, name)
        for name in (
            "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "float32", "float64", "longdouble", "object",
        )
    },
    "numpy swapped bytes": lambda v: np.array(v, ">i4"),
    "list of numpy integers": lambda v: [np.int16(x) for x in v],
    "list of floats": lambda v: [float(x) for x in v],
    "list of integers and floats": lambda v: [float(x) if i else x for i, x in enumerate(v)],
    "pandas": pd.Series,
    "pandas nullable": lambda v: pd.Series(v, dtype="Int64"),
    "pandas nullable float": lambda v: pd.Series(v, dtype="Float64"),
    "pandas arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.int8())),
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "polars": pl.Series,
    "polars byte": lambda v: pl.Series(v, dtype=pl.Int8),
    "polars float": lambda v: pl.Series(v, dtype=pl.Float64),
    "arrow": pa.array,
    "arrow byte": lambda v: pa.array(v, pa.uint8()),
    "arrow chunks": _chunked,
}  # fmt: skip


@pytest.mark.parametrize("kind", INTEGER_COLUMNS)
def test_labels_as_integers_of_any_kind_count_alike(kind: str) -> None:
    make = INTEGER_COLUMNS[kind]
    expected = counted(ONES, y_pred=ONES[::-1])
    resolved_tally = counted(make(ONES), y_pred=make(ONES[::-1]))
    assert resolved_tally == expected
    assert resolved_tally.labels == ("0", "1")


BOOLEAN_COLUMNS: dict[str, Callable[[list[bool]], Any]] = {
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda v: np.array(v, object),
    "list of numpy booleans": lambda v: [np.bool_(x) for x in v],
    "pandas": pd.Series,
    "pandas nullable": lambda v: pd.Series(v, dtype="boolean"),
    "pandas arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.bool_())),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": _chunked,
}


@pytest.mark.parametrize("kind", BOOLEAN_COLUMNS)
def test_labels_as_booleans_of_any_kind_count_alike(kind: str) -> None:
    make = BOOLEAN_COLUMNS[kind]
    resolved_tally = counted(make(BOOLS), y_pred=make(BOOLS[::-1]))
    assert resolved_tally == counted(BOOLS, y_pred=BOOLS[::-1])
    assert resolved_tally.labels == ("false", "true")


SCORE_COLUMNS: dict[str, Callable[[list[float]], Any]] = {
    "tuple": tuple,
    "iterator": iter,
    "numpy": np.array,
    "numpy objects": lambda v: np.array(v, object),
    "numpy longdouble": lambda v: np.array(v, np.longdouble),
    "numpy column": lambda v: np.array(v)[:, None],
    "numpy swapped bytes": lambda v: np.array(v, ">f8"),
    "numpy apart in memory": lambda v: np.array([[x, 9] for x in v])[:, 0],
    "list of numpy floats": lambda v: [np.float64(x) for x in v],
    "pandas": pd.Series,
    "pandas nullable": lambda v: pd.Series(v, dtype="Float64"),
    "pandas arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.float64())),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": _chunked,
}


@pytest.mark.parametrize("kind", SCORE_COLUMNS)
def test_scores_of_any_kind_count_alike(kind: str) -> None:
    make = SCORE_COLUMNS[kind]
    expected = counted(TEXT, y_score=SCORES)
    resolved_tally = counted(TEXT, y_score=make(SCORES))
    assert resolved_tally == expected
    assert resolved_tally.to_bytes() == expected.to_bytes()
    assert resolved_tally.confusion.cells == ((2, 1), (0, 3))


NARROW_COLUMNS: dict[str, Callable[[list[float]], Any]] = {
    "numpy": lambda v: np.array(v, np.float32),
    "numpy swapped bytes": lambda v: np.array(v, ">f4"),
    "polars": lambda v: pl.Series(v, dtype=pl.Float32),
    "arrow": lambda v: pa.array(v, pa.float32()),
    "pandas": lambda v: pd.Series(v, dtype="float32"),
}


@pytest.mark.parametrize("kind", NARROW_COLUMNS)
def test_narrow_scores_stay_narrow_and_count_alike(kind: str) -> None:
    resolved_tally = counted(TEXT, y_score=NARROW_COLUMNS[kind](SCORES))
    assert resolved_tally == counted(TEXT, y_score=np.array(SCORES, np.float32))
    assert resolved_tally.scores is not None
    assert resolved_tally.scores[0].scores.dtype == np.float32


@pytest.mark.parametrize("dtype", ["float16", "int8", "int64", "uint64", "bool"])
def test_scores_of_other_numbers_are_the_numbers_that_they_are(dtype: str) -> None:
    tally = counted([1, 0, 1], y_score=np.array([1, 0, 1], dtype))
    assert tally.scores is not None
    assert tally.scores[0].scores.tolist() == [0.0, 1.0]
    assert tally.scores[0].scores.dtype == (np.float32 if dtype == "float16" else np.float64)


def test_a_range_and_a_generator_are_columns() -> None:
    tally = counted(range(2), y_score=(x / 4 for x in (1, 3)))
    assert tally.labels == ("0", "1")
    assert tally.scores is not None
    assert tally.scores[0].scores.tolist() == [0.25, 0.75]


def test_what_was_given_is_not_written_to() -> None:
    truth, score = np.array(ONES), np.array([-0.0, 0.5, 1.0, 0.25, 0.0, 0.75])
    counts = np.array([0, 1, 2, 3, 4, 5])
    before = [a.tobytes() for a in (truth, score, counts)]
    counted(truth, y_score=score, counts=counts)
    assert [a.tobytes() for a in (truth, score, counts)] == before


COUNT_COLUMNS: dict[str, Any] = {
    "list": [2, 0, 1, 3, 1, 1],
    "bytes": np.array([2, 0, 1, 3, 1, 1], np.uint8),
    "floats": [2.0, 0.0, 1.0, 3.0, 1.0, 1.0],
    "wide": np.array([2, 0, 1, 3, 1, 1], np.uint64),
    "pandas": pd.Series([2, 0, 1, 3, 1, 1], dtype="Int64"),
    "polars": pl.Series([2, 0, 1, 3, 1, 1]),
    "arrow": pa.array([2, 0, 1, 3, 1, 1]),
    "objects": np.array([2, 0, 1, 3, 1, 1], object),
}


@pytest.mark.parametrize("kind", COUNT_COLUMNS)
def test_counts_of_any_kind_are_repetition(kind: str) -> None:
    repeated = [i for i, n in enumerate([2, 0, 1, 3, 1, 1]) for _ in range(n)]
    whole = counted([TEXT[i] for i in repeated], y_score=[SCORES[i] for i in repeated])
    assert counted(TEXT, y_score=SCORES, counts=COUNT_COLUMNS[kind]) == whole


# -- missing values --------------------------------------------------------------------------------

MISSING: dict[str, Any] = {
    "list of text": ["attack", None, "normal"],
    "list of text and nan": ["attack", float("nan"), "normal"],
    "list with pandas' NA": ["attack", pd.NA, "normal"],
    "list with pandas' NaT": ["attack", pd.NaT, "normal"],
    "empty text": ["attack", "", "normal"],
    "empty text in objects": np.array(["attack", "", "normal"], object),
    "empty text in pandas": pd.Series(["attack", "", "normal"]),
    "integers": [1, None, 0],
    "floats": [1.0, float("nan"), 0.0],
    "numpy floats": np.array([1.0, np.nan, 0.0]),
    "pandas objects": pd.Series(["attack", None, "normal"], dtype=object),
    "pandas string": pd.Series(["attack", pd.NA, "normal"], dtype="string"),
    "pandas category": pd.Series(["attack", None, "normal"], dtype="category"),
    "pandas nullable": pd.Series([1, pd.NA, 0], dtype="Int64"),
    "pandas boolean": pd.Series([True, pd.NA, False], dtype="boolean"),
    "polars text": pl.Series(["attack", None, "normal"]),
    "polars integers": pl.Series([1, None, 0]),
    "polars booleans": pl.Series([True, None, False]),
    "polars category": pl.Series(["attack", None, "normal"], dtype=pl.Categorical),
    "arrow text": pa.array(["attack", None, "normal"]),
    "arrow integers": pa.array([1, None, 0]),
    "arrow chunks": pa.chunked_array([["attack"], [None, "normal"]]),
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_label_is_refused_with_its_row(kind: str) -> None:
    with pytest.raises(LabelError, match="y_true is missing in 1 of 3 rows; the first is row 2"):
        counted(MISSING[kind], y_score=[0.1, 0.2, 0.3])
    with pytest.raises(LabelError, match="y_pred is missing in 1 of 3 rows; the first is row 2"):
        counted(["attack"] * 3, y_pred=MISSING[kind], positive="attack")


MISSING_SCORES: dict[str, Any] = {
    "list": [0.5, None, 0.25],
    "nan": [0.5, float("nan"), 0.25],
    "infinite": [0.5, float("inf"), 0.25],
    "pandas": pd.Series([0.5, None, 0.25]),
    "pandas nullable": pd.Series([0.5, pd.NA, 0.25], dtype="Float64"),
    "pandas' NA": [0.5, pd.NA, 0.25],
    "polars": pl.Series([0.5, None, 0.25]),
    "arrow": pa.array([0.5, None, 0.25]),
    "text": [0.5, "high", 0.25],
    "text alone": ["0.5", "high", "0.9"],
    "list in list": [0.5, [0.5], 0.25],
    "complex": np.array([0.5, 1j, 0.25]),
    "times": pd.to_datetime(pd.Series(["2020-01-01"] * 3)),
    "a table": np.ones((3, 2)),
}


@pytest.mark.parametrize("kind", MISSING_SCORES)
def test_a_score_that_is_no_number_is_refused(kind: str) -> None:
    with pytest.raises((ScoreError, LabelError), match=r"score") as refused:
        counted(["attack", "normal", "attack"], y_score=MISSING_SCORES[kind])
    if kind not in ("complex", "times", "a table"):
        assert "row 2 (counted from 1)" in str(refused.value)


def test_masked_entries_are_missing() -> None:
    mask = [False, False, True]
    with pytest.raises(AssayError, match="masked in row 3"):
        counted(np.ma.array([0, 1, 1], mask=mask), y_score=[0.1, 0.2, 0.3])
    with pytest.raises(AssayError, match="masked in row 3"):
        counted([0, 1, 1], y_score=np.ma.array([0.1, 0.2, 0.3], mask=mask))
    whole = np.ma.array([0, 1, 1], mask=False)
    assert counted(whole, y_score=[0.1, 0.2, 0.3]).labels == ("0", "1")


ODD_LABELS: dict[str, Any] = {
    "fractions": [0.5, 1.0, 0.25],
    "infinite": [0.0, 1.0, float("inf")],
    "too large": [0.0, 1e300, 1.0],
    "beyond exact floats": [0.0, 2.0**60, 1.0],
    "bytes in a list": [b"attack", b"normal", b"attack"],
    "bytes that are no text": np.array([b"\xff\xfe", b"normal", b"attack"]),
    "complex": np.array([0, 1j, 1]),
    "times": np.array(["2020-01-01"] * 3, "M8[ns]"),
    "pandas times": pd.to_datetime(pd.Series(["2020-01-01"] * 3)),
    "durations": np.array([1, 2, 3], "m8[s]"),
    "lists": [[0], [1], [1]],
    "lists of unlike length": [[0], [1, 2], [1]],
    "dictionaries": [{}, {}, {}],
    "a table": np.ones((3, 2)),
    "a number": 5,
    "nothing": None,
    "text and numbers": ["1", 0, 1],
    "booleans and numbers": [True, 0, 1],
    "decimals and text": [0.5, "attack", "normal"],
}


@pytest.mark.parametrize("kind", ODD_LABELS)
def test_labels_that_are_no_labels_are_refused(kind: str) -> None:
    with pytest.raises(LabelError):
        counted(ODD_LABELS[kind], y_score=[0.1, 0.2, 0.3], positive=1)


def test_a_mixture_of_kinds_is_shown() -> None:
    with pytest.raises(LabelError, match="y_true mixes numbers and text: '1', 0, 1"):
        counted(["1", 0, 1], y_score=[0.1, 0.2, 0.3])


def test_scores_given_as_labels_are_told_where_to_go() -> None:
    with pytest.raises(LabelError, match=r"found the number 0\.5.*give them as y_score"):
        counted([0.5, 0.25], y_pred=[0, 1])


# -- which texts are labels ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["007", "7"], ("007", "7")),
        (["NA", "None"], ("NA", "None")),
        (["null", "nan"], ("nan", "null")),
        (["é", "漢字 🦓"], ("é", "漢字 🦓")),
        ([" a", "a "], (" a", "a ")),
        (["A", "a"], ("A", "a")),
        ([10, 9], ("10", "9")),
        ([-1, 1], ("-1", "1")),
        ([1.0, -1.0], ("-1", "1")),
        (np.array([-128, 127], np.int8), ("-128", "127")),
        (np.array([0, 2**64 - 1], np.uint64), ("0", str(2**64 - 1))),
        (np.array([-(2**63), 2**63 - 1]), (str(-(2**63)), str(2**63 - 1))),
        ([10**30, 0], ("0", str(10**30))),
        ([0, 70000], ("0", "70000")),
    ],
)
def test_a_label_is_a_label_whatever_it_says(given: Any, names: tuple[str, ...]) -> None:
    values = given.tolist() if isinstance(given, np.ndarray) else list(given)
    tally = counted(given, y_pred=given, positive=values[0])
    assert sorted(tally.labels) == sorted(names)
    first = str(int(values[0])) if isinstance(values[0], float) else str(values[0])
    assert tally.positive == first
    assert tally.confusion.cells == ((1, 0), (0, 1))


def test_many_labels_are_sorted_as_text() -> None:
    labels = list(range(300))
    tally = counted(labels, y_pred=labels[::-1])
    assert tally.labels == tuple(sorted(str(n) for n in labels))
    assert tally.confusion.total == 300
    spread = [n * 1000 for n in labels]
    assert counted(spread, y_pred=spread).labels == tuple(sorted(str(n) for n in spread))


# -- slices and clusters ---------------------------------------------------------------------------

NAMED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "text": (["a", "b", "a"], ("a", "b")),
    "bytes": (np.array([b"a", b"b", b"a"]), ("a", "b")),
    "integers": ([3, 1, 3], ("1", "3")),
    "booleans": ([True, False, True], ("false", "true")),
    "floats": ([1.0, 2.5, 1.0], ("1", "2.5")),
    "mixed": (["a", 1, "a"], ("1", "a")),
    "missing": (["a", None, "a"], ("(missing)", "a")),
    "missing numbers": ([1.0, float("nan"), 1.0], ("(missing)", "1")),
    "pandas missing": (pd.Series(["a", pd.NA, "a"], dtype="string"), ("(missing)", "a")),
    "polars missing": (pl.Series(["a", None, "a"]), ("(missing)", "a")),
    "pandas category": (pd.Series(["b", "a", "b"], dtype="category"), ("a", "b")),
    "days": (np.array(["2020-01-02", "2020-01-01", "2020-01-02"], "M8[D]"),
             ("2020-01-01", "2020-01-02")),
    "pandas times": (pd.to_datetime(pd.Series(["2020-01-02", "2020-01-01", "2020-01-02"])),
                     ("2020-01-01 00:00:00", "2020-01-02 00:00:00")),
}  # fmt: skip


@pytest.mark.parametrize("kind", NAMED)
def test_any_column_can_slice_and_cluster(kind: str) -> None:
    column, names = NAMED[kind]
    rows = {"y_true": ["attack", "normal", "normal"], "y_pred": ["attack", "attack", "normal"]}
    sliced = counted(**rows, slices={"part": column})
    assert tuple(value for _, value in sliced.slices) == names
    assert sum(table.total for table in sliced.slices.values()) == 3
    if "(missing)" in names:
        with pytest.raises(
            InputError, match=r"clusters is missing in 1 of 3 rows.*row 2 \(counted from 1\)\. Give"
        ):
            counted(**rows, clusters=column)
        return
    tally = counted(**rows, clusters=column)
    assert tally.clusters is not None
    assert tally.clusters.clusters == names


@pytest.mark.parametrize("library", [pd, pl])
def test_slices_may_be_a_dataframe(library: Any) -> None:
    frame = library.DataFrame({"site": ["x", "y", "x"], "day": [1, 1, 2]})
    tally = counted([1, 0, 1], y_pred=[1, 0, 0], slices=frame)
    assert list(tally.slices) == [("day", "1"), ("day", "2"), ("site", "x"), ("site", "y")]


ODD: dict[str, dict[str, Any]] = {
    "slices that are a list": {"y_score": [0.1, 0.2], "slices": ["x", "y"]},
    "a slice of nothing": {"y_score": [0.1, 0.2], "slices": {"site": None}},
    "columns of one name": {"y_proba": pd.DataFrame(np.full((2, 2), 0.5), columns=["a", "a"])},
    "probabilities not collected": {"y_proba": pl.LazyFrame({"attack": [0.5], "normal": [0.5]})},
    "labels not collected": {"y_pred": pl.LazyFrame({"said": ["attack", "normal"]})},
    "a score beyond all floats": {"y_score": [10**400, 1], "threshold": 1},
    "weights beyond all squares": {"y_score": [0.1, 0.2], "sample_weight": [1e-300, 1e300]},
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_columns_are_refused_as_errors_of_input(kind: str) -> None:
    with pytest.raises(InputError):
        counted(["attack", "normal"], **ODD[kind])


@pytest.mark.parametrize("make", [list, tuple, lambda v: np.array(v, object), pl.Series])
def test_labels_that_differ_in_a_last_nul_are_two_labels(make: Callable[[list[str]], Any]) -> None:
    try:
        tally = counted(make(["a\0", "a"]), y_score=[0.1, 0.2], positive="a")
    except LabelError:
        return  # refusing them is fine; making them one is not
    assert tally.labels == ("a\0", "a")
