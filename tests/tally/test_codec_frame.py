"""The frame of bytes, field by field, and which schemas are read."""

import json
import struct
import zlib
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import codec, from_bytes


def _framed(head: Any, payload: bytes = b"") -> bytes:
    text = json.dumps(head).encode()
    body = struct.pack("<Q", len(text)) + text + payload
    return b"assay-tally\n" + struct.pack("<I", zlib.crc32(body)) + body


def test_bytes_are_a_magic_word_a_checksum_a_head_and_arrays() -> None:
    arrays = {"b": np.array([[1, 2], [3, 258]], np.uint16), "a": np.array([0.5]), "c": np.empty(0)}
    text = (
        b'{"arrays":[{"dtype":"<u2","name":"b","shape":[2,2]},{"dtype":"<f8","name":"a","shape":[1]},'
        b'{"dtype":"<f8","name":"c","shape":[0]}],"header":{"x":[1,null],"y":"\\u00e9"},'
        b'"kind":"some","schema":1}'
    )
    body = struct.pack("<Q", len(text)) + text + struct.pack("<4H", 1, 2, 3, 258)
    body += struct.pack("<d", 0.5)
    expected = b"assay-tally\n" + struct.pack("<I", zlib.crc32(body)) + body
    assert codec.write("some", {"y": "é", "x": (1, None)}, arrays) == expected
    turned = arrays | {"b": np.asfortranarray(arrays["b"])}
    assert codec.write("some", {"y": "é", "x": (1, None)}, turned) == expected
    big = arrays | {"b": arrays["b"].astype(">u2")}
    assert codec.write("some", {"y": "é", "x": (1, None)}, big) == expected
    with pytest.raises(ValueError, match="not JSON compliant"):
        codec.write("some", {"x": float("nan")}, {})


NEWEST = {
    "losses": 3, "confusion": 2, "crosstab": 2, "scores": 2, "clusters": 2, "sample": 2, "names": 2,
    "tally": 2, "pairs": 1, "joint": 1, "incidents": 1, "daily": 1,
}  # fmt: skip


@pytest.mark.parametrize("kind", NEWEST)
def test_each_kind_is_read_up_to_its_newest_schema(kind: str) -> None:
    newest = NEWEST[kind]
    for schema in range(1, newest + 1):
        with pytest.raises(TallyError, match=f"the bytes of this {kind} tally are damaged"):
            from_bytes(_framed({"kind": kind, "schema": schema, "header": {}, "arrays": []}))
    for schema in (0, newest + 1, 9, None, "1"):
        with pytest.raises(TallyError, match=f"this version reads schema {newest}"):
            from_bytes(_framed({"kind": kind, "schema": schema, "header": {}, "arrays": []}))


def test_arrays_are_read_as_they_were_written() -> None:
    _, header, arrays = codec._read(
        codec.write(
            "some",
            {"x": 1},
            {"a": np.arange(6).reshape(2, 3), "none": np.empty((0, 2)), "b": np.array([7.5])},
        )
    )
    assert arrays.pop("none").shape == (0, 2)
    assert header == {"x": 1}
    assert [(n, a.dtype, a.tolist()) for n, a in arrays.items()] == [
        ("a", np.int64, [[0, 1, 2], [3, 4, 5]]), ("b", np.float64, [7.5]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "payload", "message"),
    [
        ({"dtype": "<u2", "shape": [3]}, bytes(5), "cut short"),
        ({"dtype": "<u2", "shape": [3]}, bytes(7), "the tally has 1 bytes too many"),
        ({"dtype": "<u2", "shape": [-1]}, bytes(2), r"an array of <u2 \(-1,\) is not allowed"),
        ({"dtype": ">u2", "shape": [1]}, bytes(2), r"an array of >u2 \(1,\) is not allowed"),
        ({"dtype": "<u2"}, bytes(2), "the arrays of the tally can't be read: 'shape'"),
    ],
)
def test_arrays_that_do_not_fit_their_bytes_are_refused(
    entry: Any, payload: bytes, message: str
) -> None:
    head = {"kind": "some", "schema": 1, "header": {}, "arrays": [{"name": "a", **entry}]}
    with pytest.raises(TallyError, match=message):
        from_bytes(_framed(head, payload))


def test_what_is_cut_within_its_frame_is_told() -> None:
    good = _framed({"kind": "some", "schema": 1, "header": {}, "arrays": []})
    with pytest.raises(TallyError, match="kind 'some', which this version does not know"):
        from_bytes(good)
    with pytest.raises(TallyError, match=f"cut short: {len(good) - 1} bytes, at least {len(good)}"):
        from_bytes(good[:-1])
    for view in (bytearray(good), memoryview(good)):
        with pytest.raises(TallyError, match="kind 'some'"):
            from_bytes(view)
    with pytest.raises(TallyError, match="read from bytes; found str"):
        from_bytes("text")  # type: ignore[arg-type]


def test_keys_have_to_ascend() -> None:
    assert codec.in_order([("a", 1), ("b", 2)]) == {"a": 1, "b": 2}
    assert codec.in_order([]) == {}
    for keys in ("ba", "aa"):
        with pytest.raises(ValueError, match="are not in order"):
            codec.in_order([(key, None) for key in keys])


def test_numbers_of_rows_are_whole_and_not_negative() -> None:
    assert (codec.whole_number(0), codec.whole_number(7)) == (0, 7)
    for odd in (-1, 1.0, True, None, "1"):
        with pytest.raises(ValueError, match="a number of rows is"):
            codec.whole_number(odd)


def test_numbers_such_as_scores_are_finite() -> None:
    assert (codec.finite_number(-2), codec.finite_number(0.5)) == (-2.0, 0.5)
    assert type(codec.finite_number(3)) is float
    for odd in (float("inf"), float("nan"), True, None, "1"):
        with pytest.raises(ValueError, match="is not a finite number"):
            codec.finite_number(odd)
