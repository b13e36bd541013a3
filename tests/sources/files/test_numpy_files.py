"""NumPy's files."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import InputError
from assay.sources.files import Request, read


def saved(tmp_path: Path, **arrays: Any) -> str:
    np.savez(tmp_path / "t.npz", **arrays)
    return str(tmp_path / "t.npz")


@pytest.mark.parametrize(
    ("labels", "kind", "names"),
    [
        (np.array([True, False]), "booleans", ("false", "true")),
        (np.array([10, 9], "i1"), "numbers", ("9", "10")),
        (np.array([10, 9], ">i4"), "numbers", ("9", "10")),
        (np.array([1.0, 0.0], "f2"), "numbers", ("0", "1")),
        (np.array(["é", "b"]), "text", ("b", "é")),
        (np.array(["é", "b"], ">U3"), "text", ("b", "é")),
        (np.array([b"\xc3\xa9", b"b"]), "text", ("b", "é")),
    ],
)
def test_labels_keep_their_kind(
    labels: Any, kind: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    column = read([saved(tmp_path, label=labels, score=np.ones(2))], Request()).columns["y_true"]
    assert (column.kind, column.names, column.codes.tolist()) == (kind, names, [1, 0])


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("f2", "f4"),
        ("f4", "f4"),
        (">f4", "f4"),
        ("f8", "f8"),
        (">f8", "f8"),
        ("i8", "f8"),
        ("?", "f8"),
    ],
)
def test_scores_become_native_floats(dtype: str, expected: str, tmp_path: Path) -> None:
    scores = np.array([0, 1, 1]).astype(dtype)
    rows = read([saved(tmp_path, label=np.array(["a", "b", "a"]), score=scores)], Request())
    assert rows.columns["y_score"].dtype == np.dtype(expected)
    assert rows.columns["y_score"].tolist() == [0, 1, 1]


def test_times_become_days(tmp_path: Path) -> None:
    at = np.array(["2024-03-01T12:00", "NaT"], "datetime64[s]")
    path = saved(tmp_path, label=np.array(["a", "b"]), score=np.ones(2), at=at)
    with pytest.raises(InputError, match="row 2: column 'at': found nothing"):
        read([path], Request(time="at"))
    rows = read([path], Request(time="at", on_bad_row="skip"))
    assert rows.columns["times"].names == ("2024-03-01",)


def test_arrays_that_are_not_asked_for_do_not_matter(tmp_path: Path) -> None:
    others = {"table": np.ones((3, 3)), "objects": np.array([{}], object), "single": np.array(1)}
    path = saved(tmp_path, label=np.array(["a"]), score=np.array([1.0]), **others)
    assert read([path], Request()).rows_read == 1
    with pytest.raises(InputError, match=r"t.npz, column 'objects'.*since that would run code"):
        read([path], Request(slices=("objects",)))


def test_a_structured_array_of_tables_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    np.save(path, np.zeros(2, [("label", "U1"), ("score", "f8", (2,))]))
    with pytest.raises(InputError, match=r"t.npy, column 'score': found a table"):
        read([str(path)], Request())


@pytest.mark.parametrize("point", [0x110000, 0xD800, 0xFFFFFFFF])
def test_characters_that_do_not_exist_are_refused(point: int, tmp_path: Path) -> None:
    labels = np.array([point, ord("a")], "u4").view("U1")
    with pytest.raises(InputError, match=r"t.npz, column 'label'.*do not exist"):
        read([saved(tmp_path, label=labels, score=np.ones(2))], Request())


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    labels = np.array([b"\xff", b"a"])
    with pytest.raises(InputError, match=r"t.npz, column 'label'.*no UTF-8"):
        read([saved(tmp_path, label=labels, score=np.ones(2))], Request())


def test_an_array_of_an_old_python_is_read_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    np.save(path, np.array([(1, 0.5), (0, 0.25)], [("label", "i8"), ("score", "f8")]))
    # Python 2 wrote whole numbers with an L.
    path.write_bytes(path.read_bytes().replace(b"'shape': (2,), }  ", b"'shape': (2L,), } "))
    assert read([str(path)], Request()).rows_read == 2


@pytest.mark.parametrize("unit", ["M8[s/0]", "m8[25s/00]", "datetime64[s/4294967296]", "M8[0s]"])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_units_that_numpy_does_not_write_are_refused(
    unit: str, suffix: str, tmp_path: Path
) -> None:
    """NumPy would divide by the first of them, which ends the whole process."""
    head = str({"descr": [("score", unit)], "fortran_order": False, "shape": (2,)}).ljust(117)
    array = b"\x93NUMPY\x01\x00\x76\x00" + f"{head}\n".encode() + bytes(16)
    path = tmp_path / f"t{suffix}"
    if suffix == ".npy":
        path.write_bytes(array)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("score.npy", array)
    with pytest.raises(InputError, match=r"t.np[yz] can't be read.* units that there are not"):
        read([str(path)], Request())


LABELS = np.array(["a", "b"])
ROWS = np.zeros(2, [("label", "U1"), ("score", "f8")])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3), "holds an array of shape (3,) without named columns. Save an array a column"),
        (np.ones((3, 2)), "holds an array of shape (3, 2) without named columns"),
        (ROWS.reshape(1, 2), "holds a structured array of shape (1, 2); expected one dimension"),
        (LABELS.astype(object), "found an array of objects, which are not read"),
        (ROWS.astype([("label", "O"), ("score", "f8")]), "found an array of objects"),
    ],
)
def test_an_npy_that_is_no_table_is_told_as_what_it_is(
    array: Any, message: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(InputError) as told:
        read([str(tmp_path / "t.npy")], Request())
    assert message in str(told.value)
    assert "damaged" not in str(told.value)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (np.ones((2, 3, 4)), "'score': found a table, 3 x 4 values a row, expected one value"),
        (np.float64(1), "'score': found a single value, expected one value a row"),
        (np.ones(2, complex), "'score': found complex128, expected numbers"),
        (np.ones(2, object), "'score': found objects, which are not read"),
    ],
)
def test_an_array_that_is_no_column_is_told_as_what_it_is(
    score: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as told:
        read([saved(tmp_path, label=LABELS, score=score)], Request())
    assert message in str(told.value)
