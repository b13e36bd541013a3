"""Bytes that are no good tally raise TallyError, and nothing else."""

import copy
import json
import math
import random
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import TallyError
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
    codec,
    from_bytes,
)

from .kinds import DAYS, HOSTS, KINDS, NAMES, THREE, TWO

MAGIC = b"assay-tally\n"
HEAD = len(MAGIC) + 12  # the magic word, a checksum of 4 bytes and the length of the head in 8


def _rows(name: str) -> list[tuple[Any, ...]]:
    """A few rows of each kind, drawn once and for all."""
    rng = random.Random(7)
    make = {
        "confusion": lambda: (rng.randrange(3), rng.randrange(3)),
        "pairs": lambda: (rng.randrange(3), rng.randrange(3), rng.randrange(3)),
        "clusters": lambda: (rng.randrange(3), rng.randrange(3), rng.choice(["alpha", "beta"])),
        "sample": lambda: (rng.randrange(2), rng.random(), rng.random()),
        "joint scores on a grid": lambda: (rng.randrange(3), rng.random(), rng.random()),
        "joint scores, every pair": lambda: (rng.randrange(3), rng.random(), rng.random()),
        "clustered sample": lambda: (rng.randrange(2), rng.random(), rng.choice(["alpha", "beta"])),
        "sample of three labels": lambda: (rng.randrange(3), *(rng.random() for _ in range(3))),
        "cuts": lambda: (0, rng.random()),
        "losses over classes": lambda: (rng.randrange(3), *(rng.randint(1, 9) for _ in range(3))),
        "record": lambda: (
            *(rng.randrange(2), rng.random(), rng.choice(["alpha", "beta"]), "x"),
            rng.choice(["2026-11-16", "2026-11-17"]),
        ),
        "incidents": lambda: (
            *(rng.randrange(4), rng.randrange(60), rng.random()),
            *(rng.randrange(3), rng.randrange(2)),
        ),
        "crosstab": lambda: (rng.randrange(4), rng.randrange(2)),
        "scores by name": lambda: _frame_row(rng),
        "cells by name": lambda: _frame_row(rng),
        "decisions by name": lambda: (rng.randrange(4), rng.randrange(4), "alpha", "x"),
        "classes by name": lambda: (
            *(rng.randrange(3), *(rng.randint(1, 9) for _ in range(3)), "beta"),
            rng.choice(DAYS),
        ),
    }.get(name, lambda: (rng.randrange(2), rng.random()))
    return [make() for _ in range(5)]


def _frame_row(rng: random.Random) -> tuple[Any, ...]:
    return (rng.choice([*NAMES, None]), rng.random(), rng.choice(HOSTS), "x", rng.choice(DAYS))


EXAMPLES = {kind.name: kind.count(_rows(kind.name), None) for kind in KINDS}
EXAMPLES["weighted scores"] = ScoreTally.of_rows(
    TWO, np.array([0.5, 0.25, 0.5]), np.array([0, 1, 1]), weights=np.array([0.5, 1.5, 2.0])
)
EXAMPLES["weighted sample"] = Sample.of_rows(
    TWO, np.array([0, 1]), {"a": np.array([0.5, 0.25])}, weights=np.array([0.5, 1.5])
)
EXAMPLES["weighted losses"] = LossSums.of_binary(
    np.array([0, 1]), np.array([0.5, 0.25]), weights=np.array([0.5, 1.5])
)
EXAMPLES["weighted confusion"] = Confusion(TWO, ((0.5, 1.0), (2.0, 0.0)), ((0.25, 1.0), (4.0, 0.0)))
EXAMPLES["weighted crosstab"] = Crosstab.of_codes(
    TWO, np.array([0, 1]), TWO, np.array([1, 1]), weights=np.array([0.5, 1e-200])
)
# Sums that are no floats.
_UNEVEN = np.array([0.1, 0.2, 1e-30, 1e20, 3.0])
_ONES = np.ones(5, np.uint8)
EXAMPLES |= {
    "exact scores": ScoreTally.of_rows(TWO, _ONES / 2, _ONES, weights=_UNEVEN),
    "exact sample": Sample.of_rows(TWO, _ONES, {"a": _ONES / 2}, weights=_UNEVEN),
    "exact losses": LossSums.of_binary(_ONES, _ONES / 4, weights=_UNEVEN),
    "exact confusion": Confusion.of_codes(TWO, _ONES, _ONES, weights=_UNEVEN),
    "exact crosstab": Crosstab.of_codes(TWO, _ONES, TWO, _ONES, weights=_UNEVEN),
    "exact clusters": ClusterTally.of_codes(TWO, _ONES, _ONES, _ONES, HOSTS, amounts=_UNEVEN),
}
every_example = pytest.mark.parametrize("name", EXAMPLES)


def _framed(text: bytes, payload: bytes = b"") -> bytes:
    """Bytes with the right magic word, lengths and checksum around whatever is given."""
    body = len(text).to_bytes(8, "little") + text + payload
    return MAGIC + zlib.crc32(body).to_bytes(4, "little") + body


def _parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    size = int.from_bytes(data[HEAD - 8 : HEAD], "little")
    return json.loads(data[HEAD : HEAD + size]), data[HEAD + size :]


def _headed(head: Any, payload: bytes = b"") -> bytes:
    return _framed(json.dumps(head).encode(), payload)


# -- damage ----------------------------------------------------------------------------------------


@every_example
def test_an_example_is_readable_before_it_is_damaged(name: str) -> None:
    assert from_bytes(EXAMPLES[name].to_bytes()) == EXAMPLES[name]


@every_example
def test_every_flipped_bit_is_noticed(name: str) -> None:
    data = EXAMPLES[name].to_bytes()
    stride = max(1, len(data) // 250)
    for position in range(0, len(data), stride):
        for bit in range(8):
            broken = bytearray(data)
            broken[position] ^= 1 << bit
            with pytest.raises(TallyError):
                from_bytes(bytes(broken))


@every_example
def test_every_cut_is_noticed(name: str) -> None:
    data = EXAMPLES[name].to_bytes()
    for length in range(len(data)):
        with pytest.raises(TallyError):
            from_bytes(data[:length])


@every_example
def test_what_follows_the_end_is_noticed(name: str) -> None:
    data = EXAMPLES[name].to_bytes()
    for tail in (b"\0", b"more", data):
        with pytest.raises(TallyError):
            from_bytes(data + tail)


@given(data=st.binary(max_size=200))
def test_foreign_bytes_are_no_tally(data: bytes) -> None:
    for broken in (data, MAGIC + data, MAGIC + bytes(8) + data, _framed(data)):
        with pytest.raises(TallyError):
            from_bytes(broken)


def test_foreign_bytes_are_named_by_how_they_start() -> None:
    with pytest.raises(TallyError, match=r"no tally: they start with b'\\x89PNG'"):
        from_bytes(b"\x89PNG")


@pytest.mark.parametrize("size", [2**63, 2**64 - 1, 10**6])
def test_a_length_that_promises_too_much_is_not_trusted(size: int) -> None:
    with pytest.raises(TallyError, match="cut short"):
        from_bytes(MAGIC + bytes(4) + size.to_bytes(8, "little") + b"{}")


def test_a_checksum_that_does_not_fit_is_told() -> None:
    data = bytearray(EXAMPLES["confusion"].to_bytes())
    data[-1] ^= 1
    with pytest.raises(TallyError, match="checksum"):
        from_bytes(bytes(data))


# -- hostile bytes whose frame is right ------------------------------------------------------------


@pytest.mark.parametrize("depth", [10**3, 10**5, 10**6])
def test_a_head_nested_without_end_is_refused(depth: int) -> None:
    with pytest.raises(TallyError):
        from_bytes(_framed(b"[" * depth))
    with pytest.raises(TallyError):
        from_bytes(_framed(b'{"kind":' * depth))


@pytest.mark.parametrize(
    "head",
    [
        None,
        7,
        "text",
        [],
        {},
        {"kind": "confusion"},
        {"kind": "confusion", "schema": 1, "header": {}},
        {"kind": "confusion", "schema": 1, "header": None, "arrays": []},
        {"kind": "confusion", "schema": 1, "header": [], "arrays": []},
        {"kind": "confusion", "schema": 1, "header": {}, "arrays": None},
        {"kind": "confusion", "schema": 1, "header": {}, "arrays": 3},
        {"kind": "confusion", "schema": 1, "header": {}, "arrays": [None]},
        {"kind": "confusion", "schema": 1, "header": {}, "arrays": [{}]},
        {"kind": ["confusion"], "schema": 1, "header": {}, "arrays": []},
    ],
)
def test_a_head_of_another_shape_is_refused(head: Any) -> None:
    with pytest.raises(TallyError):
        from_bytes(_headed(head))


def test_a_later_schema_is_named() -> None:
    head, payload = _parts(EXAMPLES["pairs"].to_bytes())
    head["schema"] = 2
    with pytest.raises(TallyError, match="schema 2; this version reads schema 1"):
        from_bytes(_headed(head, payload))
    head, payload = _parts(EXAMPLES["losses"].to_bytes())
    assert head["schema"] == 2
    head["schema"] = 4
    with pytest.raises(TallyError, match="schema 4; this version reads schema 3"):
        from_bytes(_headed(head, payload))


@pytest.mark.parametrize("kind", ["scores", "sample", "confusion", "crosstab"])
def test_weights_whose_sums_are_floats_are_written_as_they_always_were(kind: str) -> None:
    plain, exact = (
        _parts(EXAMPLES[f"{how} {kind}"].to_bytes())[0]["schema"] for how in ("weighted", "exact")
    )
    assert exact == plain + 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts digits", 1 << 26),
        ("counts digits", 0),
        ("counts at", 9),
        ("counts at", -1),
        ("counts places", 99),
        ("counts", 1),
    ],
)
def test_digits_that_are_not_those_of_the_sums_are_refused(name: str, value: int) -> None:
    head, payload = _parts(EXAMPLES["exact scores"].to_bytes())
    damaged, position = bytearray(payload), 0
    for entry in head["arrays"]:
        dtype, size = np.dtype(entry["dtype"]), math.prod(entry["shape"])
        if entry["name"] == name:
            # The last of them; of the counts it is the only one.
            at = position + (size - 1) * dtype.itemsize
            damaged[at : at + dtype.itemsize] = np.array(value, dtype).tobytes()
        position += size * dtype.itemsize
    with pytest.raises(TallyError, match="damaged"):
        from_bytes(_headed(head, bytes(damaged)))


def test_an_unknown_kind_is_named_beside_the_known_ones() -> None:
    head, payload = _parts(EXAMPLES["pairs"].to_bytes())
    head["kind"] = "histogram"
    with pytest.raises(
        TallyError,
        match=r"'histogram'.*clusters, confusion, crosstab, daily, incidents, joint, losses",
    ):
        from_bytes(_headed(head, payload))


@pytest.mark.parametrize(
    "dtype",
    ["O", "|O", "U5", "S3", "V8", "<M8[ns]", "f8,f8", "i4, (", "a5", "(2,3)f8", ">f8", "f2", "c16",
     "", "float", None, 8, [], ["f8"], {"names": ["a"], "formats": ["f8"]}],
)  # fmt: skip
def test_an_array_of_another_type_is_refused(dtype: Any) -> None:
    entry = {"name": "scores", "dtype": dtype, "shape": [0]}
    head = {"kind": "scores", "schema": 1, "header": {"labels": TWO}, "arrays": [entry]}
    with pytest.raises(TallyError):
        from_bytes(_headed(head))


@pytest.mark.parametrize(
    "shape",
    [[-1], [10**30], [0, 10**30], [2**62, 4], [float("inf")], [None], ["x"], None, 3, {}, [[1]]],
)
def test_an_array_of_an_impossible_shape_is_refused(shape: Any) -> None:
    entry = {"name": "scores", "dtype": "<f8", "shape": shape}
    head = {"kind": "scores", "schema": 1, "header": {"labels": TWO}, "arrays": [entry]}
    with pytest.raises(TallyError):
        from_bytes(_headed(head, bytes(16)))


def test_bytes_beyond_the_arrays_are_refused() -> None:
    head, payload = _parts(EXAMPLES["pairs"].to_bytes())
    with pytest.raises(TallyError, match="3 bytes too many"):
        from_bytes(_headed(head, payload + b"abc"))
    with pytest.raises(TallyError, match="cut short"):
        from_bytes(_headed(head, payload[:-1]))


CELLS = np.array([[[1, 2], [3, 4]]])
CODES = np.array([[0, 1]], np.uint16)
ONE = np.array([1])


def _sample(models: Sequence[str] = ("a",), **changed: Any) -> bytes:
    arrays = {
        "truth": np.array([1], np.uint16),
        "scores": np.array([[0.5]]),
        "cluster": np.array([0]),
        "counts": ONE,
    }
    header = {"labels": TWO, "models": models, "clusters": ["h"]}
    return codec.write("sample", header, arrays | changed)


def _score_bytes(**changed: Any) -> bytes:
    arrays = {"scores": np.array([0.25, 0.5]), "counts": np.array([[1, 0], [0, 2]], np.uint8)}
    return codec.write("scores", {"labels": TWO}, arrays | changed)


def _pair_bytes(**changed: Any) -> bytes:
    header = {"labels": TWO, "models": ["m"]}
    return codec.write("pairs", header, {"codes": CODES, "counts": ONE} | changed)


def _confusion_bytes(**changed: Any) -> bytes:
    header = {"labels": TWO, "cells": [[1, 2], [3, 4]], "squares": None}
    return _headed({"kind": "confusion", "schema": 1, "header": header | changed, "arrays": []})


def _loss_bytes(**changed: Any) -> bytes:
    header = {"rows": 2, "clipped": 0, "log": [5, 5], "brier": [3, 3], "weighted": None}
    return _headed({"kind": "losses", "schema": 1, "header": header | changed, "arrays": []})


def _record_bytes(parts: dict[str, Any] | None = None, **changed: Any) -> bytes:
    """A record whose head may say what codec.write would not, such as infinity."""
    header = {
        "labels": TWO,
        "positive": "attack",
        "threshold": 0.5,
        "kind": "",
        "confusion": {"labels": TWO, "cells": [[1, 2], [3, 4]], "squares": None},
        "slices": [],
        "scores": None,
    }
    bodies = {name: part.to_bytes() for name, part in (parts or {}).items()}
    arrays = [{"name": n, "dtype": "|u1", "shape": [len(b)]} for n, b in bodies.items()]
    head = {"kind": "tally", "schema": 1, "header": header | changed, "arrays": arrays}
    return _headed(head, b"".join(bodies.values()))


def _names_bytes(parts: dict[str, Any] | None = None, **changed: Any) -> bytes:
    """A tally by name whose head may say what codec.write would not."""
    header: dict[str, Any] = {
        "labels": ["text", ["attack", "benign"]],
        "decisions": None,
        "columns": None,
        "threshold": 0.5,
        "rows": 3,
        "empty": 0,
        "refused": {"no label": 1},
        "decided": [["score", "", [["attack", "flagged", 1], ["benign", "below", 1]]]],
        "scores": [],
        "extremes": [["score", "", [0.25, 0.5]]],
        "losses": [],
        "clusters": None,
        "too_many": False,
        "slices": [],
        "days": None,
        "sides": {},
    }
    bodies = {name: part.to_bytes() for name, part in (parts or {}).items()}
    arrays = [{"name": n, "dtype": "|u1", "shape": [len(b)]} for n, b in bodies.items()]
    head = {"kind": "names", "schema": 1, "header": header | changed, "arrays": arrays}
    return _headed(head, b"".join(bodies.values()))


def _crosstab_bytes(*cells: Any) -> bytes:
    return _headed({"kind": "crosstab", "schema": 1, "header": {"cells": cells}, "arrays": []})


SCORES = ScoreTally.of_rows(TWO, np.array([0.5]), np.array([1]))
GOOD = [
    _sample(),
    _score_bytes(),
    _pair_bytes(),
    _confusion_bytes(),
    _loss_bytes(),
    _record_bytes(),
    _record_bytes({"scores 0": SCORES}, kind="score", scores=1),
    codec.write("clusters", {"labels": TWO, "clusters": ["h"]}, {"cells": CELLS}),
    _names_bytes(),
    _names_bytes({"scores 0": SCORES}, scores=[["score", ""]]),
    _crosstab_bytes(["a", "b", 1], ["c", "b", 2]),
    _crosstab_bytes(["a", "b", 0.5, 0.25]),
]
DAMAGED = {
    "clusters of another number": codec.write(
        "clusters", {"labels": TWO, "clusters": ["h", "i"]}, {"cells": CELLS}
    ),
    "clusters of a negative cell": codec.write(
        "clusters", {"labels": TWO, "clusters": ["h"]}, {"cells": -CELLS}
    ),
    "clusters of a cell that is no number": codec.write(
        "clusters", {"labels": TWO, "clusters": ["h"]}, {"cells": CELLS * np.nan}
    ),
    "clusters without cells": codec.write("clusters", {"labels": TWO, "clusters": []}, {}),
    "clusters without labels": codec.write("clusters", {"clusters": []}, {"cells": CELLS}),
    "pairs beyond the labels": _pair_bytes(codes=CODES + np.uint16(5)),
    "pairs of signed codes": _pair_bytes(codes=np.array([[-1, 0]])),
    "pairs of fractional codes": _pair_bytes(codes=np.array([[np.nan, 0]])),
    "pairs of a negative count": _pair_bytes(counts=np.array([-2])),
    "pairs of fractional counts": _pair_bytes(counts=np.array([1.5])),
    "pairs of unlike length": _pair_bytes(counts=np.array([1, 2])),
    "pairs of flat codes": _pair_bytes(codes=np.array([0], np.uint16)),
    "sample beyond the labels": _sample(truth=np.array([7], np.uint16)),
    "sample of a wide truth": _sample(truth=np.array([1])),
    "sample of a score that is no number": _sample(scores=np.array([[np.nan]])),
    "sample of an infinite score": _sample(scores=np.array([[np.inf]])),
    "sample of a flat score": _sample(scores=np.array([0.5])),
    "sample beyond the clusters": _sample(cluster=np.array([1])),
    "sample of a negative cluster": _sample(cluster=np.array([-1])),
    "sample of a negative count": _sample(counts=np.array([-2])),
    "sample of too many counts": _sample(counts=np.array([1, 2])),
    "sample of three columns for two models": _sample(["a", "b"], scores=np.full((1, 3), 0.5)),
    "sample without a column": _sample(scores=np.empty((1, 0))),
    "sample of squares without weights": _sample(squares=np.array([1.0])),
    "sample of too many squares": _sample(counts=np.array([0.5]), squares=np.array([1.0, 1.0])),
    "sample of whole squares": _sample(counts=np.array([0.5]), squares=np.array([1])),
    "sample of endless weights": _sample(counts=np.array([np.inf]), squares=np.array([1.0])),
    "sample of a nested truth": _sample(truth=np.array([[1]], np.uint16)),
    "scores of a negative count": _score_bytes(counts=np.array([[-1, 0], [0, 2]])),
    "scores of fractional counts": _score_bytes(counts=np.array([[0.5, 0], [0, 2]])),
    "scores of another shape": _score_bytes(counts=np.array([[1, 0]], np.uint8)),
    "scores not ascending": _score_bytes(scores=np.array([0.5, 0.25])),
    "scores twice the same": _score_bytes(scores=np.array([0.5, 0.5])),
    "scores that are no numbers": _score_bytes(scores=np.array([0.5, np.nan])),
    "scores that are infinite": _score_bytes(scores=np.array([0.5, np.inf])),
    "scores that are integers": _score_bytes(scores=np.array([1, 2])),
    "a single score": _score_bytes(scores=np.float64(0.5)),
    "scores of nested scores": _score_bytes(scores=np.ones((2, 2))),
    "scores of flat squares": _score_bytes(counts=np.ones((2, 2)), squares=np.ones(4)),
    "scores of negative squares": _score_bytes(counts=np.ones((2, 2)), squares=-np.ones((2, 2))),
    "scores of counts beside squares": _score_bytes(squares=np.ones((2, 2))),
    "confusion of text": _confusion_bytes(cells=[["a", "b"], ["c", "d"]]),
    "confusion of nothing": _confusion_bytes(cells=[[None, 1], [2, 3]]),
    "confusion of lists": _confusion_bytes(cells=[[[], 1], [2, 3]]),
    "confusion of truth values": _confusion_bytes(cells=[[True, 1], [2, 3]]),
    "confusion of a negative cell": _confusion_bytes(cells=[[-1, 1], [2, 3]]),
    "confusion of three cells": _confusion_bytes(cells=[[1, 1], [2]]),
    "confusion of three labels": _confusion_bytes(labels=THREE),
    "confusion of negative squares": _confusion_bytes(squares=[[1, 1], [1, -1]]),
    "confusion of a number": _confusion_bytes(cells=5),
    "confusion of an infinite cell": _confusion_bytes(cells=[[float("inf"), 1], [2, 3]]),
    "confusion of infinite squares": _confusion_bytes(squares=[[float("inf"), 1], [2, 3]]),
    "losses of infinitely many rows": _loss_bytes(rows=float("inf")),
    "losses of no rows at all": _loss_bytes(rows=None),
    "losses of one sum": _loss_bytes(log=[1]),
    "losses of a number": _loss_bytes(brier=4),
    "losses weighted by text": _loss_bytes(weighted=["abc", "x"]),
    "losses weighted by four": _loss_bytes(weighted=[[1, 2, 3, 4], [1, 2, 3, 4]]),
    "losses weighted by one": _loss_bytes(weighted=[[1, 2, 3, 4, 5]]),
    "losses weighted by infinity": _loss_bytes(weighted=[[float("inf")] * 5, [1] * 5]),
    "record whose losses are a confusion": _record_bytes({"losses": EXAMPLES["confusion"]}),
    "record whose scores are losses": _record_bytes({"scores 0": LossSums()}, scores=1),
    "record with a part of no name": _record_bytes({"other": LossSums()}),
    "record whose day is a confusion": _record_bytes(
        {"day 2026-11-16": EXAMPLES["confusion"]}, days=["2026-11-16"]
    ),
    "record that lacks a day": _record_bytes(days=["2026-11-16"]),
    "record of a day that it does not name": _record_bytes(
        {"day 2026-11-16": Resolved.of_confusion(EXAMPLES["confusion"])}
    ),
    "record of days that are none": _record_bytes(days=7),
    "record of too few scores": _record_bytes(scores=1, kind="score"),
    "record of a number of scores": _record_bytes(scores="x"),
    "record of minus one score": _record_bytes(scores=-1),
    "record of more scores than there is memory": _record_bytes(scores=10**18),
    "record of other labels": _record_bytes(labels=["a", "b"]),
    "record of an unknown kind": _record_bytes(kind="guess"),
    "record of a positive that is a number": _record_bytes(positive=5),
    "record of a positive that is no label": _record_bytes(positive="zebra"),
    "record of a threshold that is text": _record_bytes(threshold="x"),
    "record of an infinite threshold": _record_bytes(threshold=float("inf")),
    "record of slices that are no pairs": _record_bytes(slices=[["a"]]),
    "record of a slice without cells": _record_bytes(slices=[["a", "b", {}]]),
    "record of a slice of other labels": _record_bytes(
        slices=[["a", "b", Confusion.zero(THREE).to_header()]]
    ),
    "record of scores of other labels": _record_bytes(
        {"scores 0": ScoreTally.zero(THREE)}, kind="score", scores=1
    ),
    "record of more scores than said": _record_bytes(
        {"scores 0": SCORES, "scores 1": SCORES}, kind="score", scores=1
    ),
    "record of clusters of other labels": _record_bytes({"clusters": ClusterTally.zero(THREE)}),
    "names out of order": _names_bytes(labels=["text", ["benign", "attack"]]),
    "names of an unknown kind": _names_bytes(labels=["words", ["attack", "benign"]]),
    "names of a threshold that is text": _names_bytes(threshold="x"),
    "names of an infinite threshold": _names_bytes(threshold=float("inf")),
    "names of minus one row": _names_bytes(rows=-1),
    "names of half a row": _names_bytes(rows=1.5),
    "names of a negative number of empty rows": _names_bytes(empty=-1),
    "names of refused rows that are text": _names_bytes(refused={"no label": "x"}),
    "names that counted another label": _names_bytes(
        decided=[["score", "", [["worm", "flagged", 1]]]]
    ),
    "names of opinions out of order": _names_bytes(decided=[["score", "", []], ["a", "", []]]),
    "names of extremes that fall": _names_bytes(extremes=[["score", "", [0.5, 0.25]]]),
    "names of an extreme that is no number": _names_bytes(
        extremes=[["score", "", [float("nan"), 0.25]]]
    ),
    "names that lack scores": _names_bytes(scores=[["score", ""]]),
    "names whose scores are losses": _names_bytes({"scores 0": LossSums()}, scores=[["score", ""]]),
    "names whose sample is a confusion": _names_bytes({"sample": EXAMPLES["confusion"]}),
    "names whose day is a confusion": _names_bytes(
        {"day 2026-11-16": EXAMPLES["confusion"]}, days=["2026-11-16"]
    ),
    "names whose rows without a label are scores": _names_bytes({"unlabelled": SCORES}),
    "names of a day that they do not name": _names_bytes({"day 2026-11-16": Tally()}),
    "names of endless sides": _names_bytes(sides={"positive": float("inf")}),
    "crosstab out of order": _crosstab_bytes(["c", "b", 2], ["a", "b", 1]),
    "crosstab twice the same": _crosstab_bytes(["a", "b", 2], ["a", "b", 1]),
    "crosstab of no rows": _crosstab_bytes(["a", "b", 0]),
    "crosstab of a truth value": _crosstab_bytes(["a", "b", True]),
    "crosstab of half a row": _crosstab_bytes(["a", "b", 0.5]),
    "crosstab of an endless weight": _crosstab_bytes(["a", "b", float("inf"), 0.25]),
    "crosstab of a negative square": _crosstab_bytes(["a", "b", 0.5, -0.25]),
    "crosstab of two squares": _crosstab_bytes(["a", "b", 0.5, 0.25, 0.25]),
    "crosstab of some weights": _crosstab_bytes(["a", "b", 0.5, 0.25], ["c", "b", 2]),
    "record of a part that is no tally": codec.write(
        "tally", _parts(_record_bytes())[0]["header"], {"losses": np.array([1, 2], np.uint8)}
    ),
}


@pytest.mark.parametrize("data", GOOD)
def test_what_the_damaged_ones_are_made_from_is_readable(data: bytes) -> None:
    assert from_bytes(data).to_bytes()


@pytest.mark.parametrize("name", DAMAGED)
def test_content_that_can_not_be_is_refused(name: str) -> None:
    with pytest.raises(TallyError):
        from_bytes(DAMAGED[name])


# -- random changes to the head, under a right checksum --------------------------------------------

odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.one_of(st.integers(-5, 5), st.text(max_size=2)), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def _places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in a head."""
    below: list[tuple[Any, ...]] = []
    if isinstance(node, dict):
        below = [p for key, child in node.items() for p in _places(child, (*path, key))]
    elif isinstance(node, list):
        below = [p for i, child in enumerate(node) for p in _places(child, (*path, i))]
    return [path, *below] if path else below


def _put(node: Any, path: tuple[Any, ...], new: Any) -> None:
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = new


@every_example
@settings(max_examples=60)
@given(data=st.data())
def test_a_head_with_a_value_exchanged_is_refused_or_read_as_a_sound_tally(
    name: str, data: st.DataObject
) -> None:
    head, payload = _parts(EXAMPLES[name].to_bytes())
    changed = copy.deepcopy(head)
    _put(changed, data.draw(st.sampled_from(_places(head))), data.draw(odd_values))
    try:
        decoded_tally = from_bytes(_headed(changed, payload))
    except TallyError:
        return
    assert isinstance(
        decoded_tally,
        Confusion
        | PairTally
        | ClusterTally
        | ScoreTally
        | Sample
        | JointScores
        | LossSums
        | Resolved
        | Crosstab
        | IncidentTally
        | Tally,
    )
    assert from_bytes(decoded_tally.to_bytes()) == decoded_tally


@pytest.mark.parametrize(
    "name", ["pairs", "clusters", "scores of two labels", "sample", "joint scores on a grid"]
)
@settings(max_examples=60)
@given(data=st.data())
def test_a_payload_with_bytes_exchanged_is_refused_or_read_as_a_sound_tally(
    name: str, data: st.DataObject
) -> None:
    head, payload = _parts(EXAMPLES[name].to_bytes())
    broken = bytearray(payload)
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    try:
        decoded_tally = from_bytes(_headed(head, bytes(broken)))
    except TallyError:
        return
    assert from_bytes(decoded_tally.to_bytes()) == decoded_tally
    assert decoded_tally + decoded_tally == from_bytes(decoded_tally.to_bytes()) + decoded_tally
