"""Files made to run code or to fill memory run nothing, and are refused with the reason."""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import pickle
import re
import stat
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from assay.errors import InputError
from assay.learn.model_archive import HEADER, SCHEMA, TOKEN_PATTERNS
from assay.learn.model_trust import must_be_trustworthy, parts_of
from assay.learn.persistence import _loaded, load_model, model_bytes

from .made import (
    archive,
    array,
    changed,
    crafted,
    fitted,
    header_of,
    listed,
    mapped,
    members,
    node,
    saved,
    scalar,
    tupled,
)

Refused = Callable[[bytes], str]


class Evil:
    """Leaves a file where it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.canary}",)


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


@pytest.fixture
def refused(tmp_path: Path, canary: Path, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """Why a file is not loaded; nothing of it was run, and no module imported for it."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "imported_for_nothing.py").write_text(f"open({str(canary)!r}, 'w').close()\n")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)

    def reason(content: bytes, **options: Any) -> str:
        path = tmp_path / "model.skops"
        path.write_bytes(content)
        before = set(sys.modules)
        with pytest.raises(InputError) as error:
            load_model(path, **options)
        assert not canary.exists()
        assert not {"imported_for_nothing", "antigravity", "this"} & (set(sys.modules) - before)
        assert str(path) in str(error.value)
        return str(error.value)

    return reason


# -- pickles in disguise ---------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(6))
def test_a_renamed_pickle_is_never_read(refused: Refused, canary: Path, protocol: int) -> None:
    said = refused(pickle.dumps(Evil(canary), protocol))
    assert "it is a pickle; a pickle runs code when it is loaded, and is never read" in said


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zlib.compress, lzma.compress])
def test_a_packed_pickle_is_never_read(
    refused: Refused, canary: Path, pack: Callable[[bytes], bytes]
) -> None:
    assert "pickles; a pickle runs code" in refused(pack(pickle.dumps(Evil(canary))))


@pytest.mark.parametrize("compress", [0, 3, ("lzma", 3), ("xz", 3)])
def test_a_joblib_file_is_never_read(
    refused: Refused, canary: Path, tmp_path: Path, compress: Any
) -> None:
    joblib.dump(Evil(canary), tmp_path / "x", compress=compress)
    assert "never read" in refused((tmp_path / "x").read_bytes())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (array(np.zeros(2)), "a NumPy array"),
        (b"label,score\n1,2\n", "its first bytes are b'labe'"),
        (archive({"model.pkl": b"cos\nsystem\n."}), "no name for one"),
        (archive({"data.npy": array(np.zeros(1))}), "without schema.json"),
    ],
)
def test_other_files_are_told_apart(refused: Refused, content: bytes, said: str) -> None:
    assert said in refused(content)


def test_a_zip_behind_a_pickle_is_a_pickle(refused: Refused, canary: Path) -> None:
    assert "never read" in refused(pickle.dumps(Evil(canary)) + saved())


# -- schemas that would call something -------------------------------------------------------------


def command(canary: Path) -> dict[str, Any]:
    return tupled(scalar(f"touch {canary}"))


def calls(canary: Path) -> dict[str, dict[str, Any]]:
    """Every way that skops knows to make something, with something bad to make."""
    text = scalar(f"touch {canary}")
    system = node("FunctionNode", "os", "system")
    popen = node("TypeNode", "subprocess", "Popen")
    opened = node("ConstructorFromReduceNode", "builtins", "open", content=command(canary))
    nothing = mapped()
    return {
        "function": system,
        "eval": node("FunctionNode", "builtins", "eval"),
        "type": popen,
        "object": node("ObjectNode", "subprocess", "Popen", content=mapped(args=text)),
        "object without state": node("ObjectNode", "imported_for_nothing", "Thing"),
        "constructor": node(
            "ConstructorFromReduceNode", "subprocess", "Popen", content=command(canary)
        ),
        "constructor of a type that is trusted as an object": node(
            "ConstructorFromReduceNode", "sklearn.pipeline", "Pipeline", content=command(canary)
        ),
        "open": opened,
        "method": node(
            "MethodNode",
            "pathlib",
            "Path",
            content={
                "func": "touch",
                "obj": node(
                    "ConstructorFromReduceNode", "pathlib", "Path", content=command(canary)
                ),
            },
        ),
        "method of a trusted object": node(
            "MethodNode",
            "sklearn.pipeline",
            "Pipeline",
            content={
                "func": "fit",
                "obj": node("ObjectNode", "sklearn.pipeline", "Pipeline", content=nothing),
            },
        ),
        "partial": node(
            "PartialNode",
            "functools",
            "partial",
            content={
                "func": system,
                "args": command(canary),
                "kwds": nothing,
                "namespace": nothing,
            },
        ),
        "methodcaller": node(
            "OperatorFuncNode", "operator", "methodcaller", attrs=tupled(scalar("fit"))
        ),
        "call": node("OperatorFuncNode", "operator", "call", attrs=tupled(system, text)),
        "reduce": node(
            "LossNode", "os", "system", __reduce__={"args": command(canary)}, content=nothing
        ),
        "reduce of a tree": node(
            "TreeNode", "os", "system", __reduce__={"args": command(canary)}, content=nothing
        ),
        "list": node("ListNode", "subprocess", "Popen", content=[text]),
        "set": node("SetNode", "subprocess", "Popen", content=[text]),
        "tuple": node("TupleNode", "imported_for_nothing", "Thing", content=[]),
        "dict": node("DictNode", "imported_for_nothing", "Thing", content={}, key_types=listed()),
        "keys of a dict": node(
            "DictNode",
            "builtins",
            "dict",
            content={f"touch {canary}": scalar(1)},
            key_types=listed(node("TypeNode", "os", "system")),
        ),
        "defaultdict": node(
            "DefaultDictNode",
            "collections",
            "defaultdict",
            content={"main": nothing, "default_factory": popen},
        ),
        "scalar": node("NdArrayNode", "os", "system", type="numpy", file="1.npy"),
        "random": node(
            "RandomGeneratorNode",
            "numpy.random._generator",
            "Generator",
            content={"bit_generator": mapped(bit_generator=scalar("seed")), "seed_seq": nothing},
        ),
        "state of random": node("RandomStateNode", "os", "system", content=nothing),
        "sparse": node(
            "SparseMatrixNode", "scipy.sparse", "csr_matrix", type="scipy", file="1.npz"
        ),
        "masked": node("MaskedArrayNode", "os", "system", content={"data": text, "mask": text}),
        "ufunc": node("FunctionNode", "numpy", "add"),
        "cached": node("CachedNode", "os", "system", __id__=1),
        "unknown": node("EvalNode", "builtins", "eval", content=text),
        "another estimator": node("ObjectNode", "sklearn.svm._classes", "SVC", content=nothing),
        "a module that does things": node("ObjectNode", "antigravity", "Thing", content=nothing),
        "a dotted name": node("ObjectNode", "os", "path.join", content=nothing),
        "a relative name": node("ObjectNode", "..os", "system", content=nothing),
        "no name": node("ObjectNode", "", "", content=nothing),
    }


NAMES = sorted(calls(Path("x")))


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", ["outermost", "within a list", "in an attribute", "shape"])
def test_what_is_not_on_the_list_is_refused_before_it_is_touched(
    refused: Refused, canary: Path, name: str, where: str
) -> None:
    part = calls(canary)[name]
    if where == "within a list":
        part = listed(scalar(1), part)
    elif where == "in an attribute":
        part = node("ObjectNode", "sklearn.pipeline", "Pipeline", content=mapped(steps=part))
    elif where == "shape":
        part = node("NdArrayNode", "numpy", "ndarray", type="json", content=[scalar(1)], shape=part)
    said = refused(crafted(part, {"1.npy": array(np.zeros(1)), "1.npz": b"PK"}))
    named = ("not trusted", "runs code", "no model needs", "is no name of a type")
    assert any(reason in said for reason in named), said


# Of these the user trusts the module, so that it is imported.
IMPORTED = ("object without state", "dict", "tuple")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in IMPORTED])
def test_to_trust_everything_that_can_be_trusted_still_runs_nothing_on_loading(
    refused: Refused, canary: Path, name: str
) -> None:
    """What may be trusted at all makes no call that a file chooses."""
    part = calls(canary)[name]
    names = {f"{each['__module__']}.{each['__class__']}" for each in parts_of(part)}
    trust = [each for each in names if _may_be_trusted(each)]
    refused(crafted(part, {"1.npy": array(np.zeros(1)), "1.npz": b"PK"}), trust=trust)


def _may_be_trusted(name: str) -> bool:
    try:
        must_be_trustworthy([name])
    except InputError:
        return False
    return name != "antigravity.Thing"


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "subprocess.Popen", "pickle.loads", "nodots", "a..b", ""]
)
def test_some_names_cant_be_trusted_at_all(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="--trust"):
        load_model(tmp_path, trust=[name])


def test_skops_itself_would_load_what_is_refused_here() -> None:
    """Its own list is longer, which is why it is not relied on."""
    file = crafted(node("FunctionNode", "numpy", "add"))
    if skops.io.get_untrusted_types(data=file):
        pytest.skip("this version of skops does not trust it either")
    assert skops.io.loads(file) is np.add


@pytest.mark.parametrize("protocol", [0, -1, None, True, "2", 99])
def test_other_protocols_are_refused(refused: Refused, protocol: Any) -> None:
    refused(crafted(listed(), protocol=protocol))


# -- parts that claim to be another part -----------------------------------------------------------


def test_a_part_that_claims_the_id_of_another_is_refused(refused: Refused) -> None:
    first = {**listed(scalar("harmless")), "__id__": 5}
    other = {**listed(scalar("something else")), "__id__": 5}
    assert "claim to be the same" in refused(crafted(listed(first, other)))


def test_a_part_inside_itself_is_refused(refused: Refused) -> None:
    inner = {**listed(), "__id__": 1}
    assert "claim to be the same" in refused(crafted({**listed(inner), "__id__": 1}))


def test_parts_that_double_at_every_level_are_refused(refused: Refused) -> None:
    """Each level refers to the one before twice: a billion values in a small file."""
    part: dict[str, Any] = {**listed(scalar(0)), "__id__": 1}
    for level in range(2, 30):
        again = {**node("ListNode", "builtins", "list", content=[]), "__id__": level - 1}
        part = {**listed(part, again), "__id__": level}
    assert "claim to be the same" in refused(crafted(part))


def test_an_id_that_is_no_number_is_refused(refused: Refused) -> None:
    assert "id that is no number" in refused(crafted({**listed(), "__id__": [1]}))


# -- huge and deep ---------------------------------------------------------------------------------


def with_schema(content: bytes) -> bytes:
    return archive({HEADER: members(saved())[HEADER], SCHEMA: content})


@pytest.mark.parametrize("depth", [101, 900, 100_000])
def test_a_deep_schema_is_refused(refused: Refused, depth: int) -> None:
    content = b'{"protocol": 2, "x": ' + b"[" * depth + b"]" * depth + b"}"
    assert "nested too deeply" in refused(with_schema(content))


def test_a_schema_of_too_many_parts_is_refused(refused: Refused) -> None:
    assert "too many parts" in refused(with_schema(b"[" + b"[]," * 2_000_001 + b"[]]"))


def test_a_huge_schema_is_refused_unread(refused: Refused) -> None:
    assert "unpacks to" in refused(with_schema(b" " * (65 << 20)))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"{", b'{"protocol": 2', b"\xff\xfe", b'{"a": ' + b"9" * 5000]
)
def test_what_is_no_schema_is_refused(refused: Refused, content: bytes) -> None:
    refused(with_schema(content))


@pytest.mark.parametrize(
    "content", ["[1, 2]", '{"a": 1}', "nothing", "[" * 5000, None, 7, "9" * 5000]
)
def test_a_value_is_a_single_value(refused: Refused, content: Any) -> None:
    part = node("JsonNode", "builtins", "str", content=content)
    refused(crafted(listed(part)))


@pytest.mark.parametrize("header", [b"{}", b"[]", b"", b"nope", b"[" * 5000, b'{"schema": 1}'])
def test_a_file_with_a_bad_header_is_refused(refused: Refused, header: bytes) -> None:
    assert "its header" in refused(archive({**members(saved()), HEADER: header}))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("threshold", 10**400, "no number"),
        ("labels", ["\ud800", "attack"], "no list of two or more labels"),
        ("features", [{"name": "\ud800", "kind": "text"}], "does not list the columns"),
        ("features", [{"name": "size", "kind": "number"}], "other columns than those"),
    ],
)
def test_a_header_that_lies_is_refused(refused: Refused, key: str, value: Any, said: str) -> None:
    parts = members(saved())
    header = {**json.loads(parts[HEADER]), key: value}
    assert said in refused(archive({**parts, HEADER: json.dumps(header).encode()}))


@pytest.mark.parametrize("key", ["positive", "threshold"])
def test_a_header_that_leaves_out_how_to_decide_is_refused(refused: Refused, key: str) -> None:
    parts = members(saved())
    header = json.loads(parts[HEADER])
    del header[key]
    said = refused(archive({**parts, HEADER: json.dumps(header).encode()}))
    assert f"does not say the {key}" in said


def test_a_skops_file_of_somebody_else_has_no_header(refused: Refused) -> None:
    parts = members(saved())
    del parts[HEADER]
    assert "without assay.json" in refused(archive(parts))


# -- archives --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *(
            "../evil.npy",
            "/etc/evil.npy",
            "..\\evil.npy",
            "C:\\evil.npy",
            "a/b.npy",
            "//host/x.npy",
        ),
        *("evil.py", "schema.json/", ".npy", "x.npy\n", "x\x1b.npy", "x" * 200 + ".npy", "~x.npy"),
    ],
)
def test_a_member_with_an_odd_name_is_refused(refused: Refused, name: str) -> None:
    assert "no name for one" in refused(archive({**members(saved()), name: b""}))


def test_two_members_of_one_name_are_refused(refused: Refused) -> None:
    stream = io.BytesIO(saved())
    with zipfile.ZipFile(stream, "a") as packed, pytest.warns(UserWarning, match="Duplicate"):
        packed.writestr(SCHEMA, "{}")
    assert "two members 'schema.json'" in refused(stream.getvalue())


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFDIR])
def test_links_and_devices_are_refused(refused: Refused, kind: int) -> None:
    stream = io.BytesIO(saved())
    with zipfile.ZipFile(stream, "a") as packed:
        info = zipfile.ZipInfo("link.npy")
        info.external_attr = (kind | 0o777) << 16
        packed.writestr(info, "/etc/passwd")
    assert "a link or a device" in refused(stream.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_to_pack_are_refused(refused: Refused, method: int) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as packed:
        packed.writestr(SCHEMA, "{}")
    assert "packed in a way" in refused(stream.getvalue())


def test_an_encrypted_member_is_refused(refused: Refused) -> None:
    content = bytearray(archive({SCHEMA: b"{}"}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refused(bytes(content))


def test_a_bomb_is_refused_by_what_it_declares(refused: Refused) -> None:
    zeros = array(np.zeros(12_000_000))
    bomb = archive({**members(saved()), "1.npy": zeros})
    assert len(bomb) < 1_000_000
    assert "a way to fill memory" in refused(bomb)


def test_a_bomb_that_declares_less_than_it_holds_is_refused(refused: Refused) -> None:
    """The size in the archive is a lie, so that only reading in small parts finds it out."""
    content = bytearray(archive({SCHEMA: b" " * (60 << 20)}))
    at = content.index(b"PK\x01\x02") + 24
    for start in (22, at):
        content[start : start + 4] = struct.pack("<I", 1000)
    assert "damaged" in refused(bytes(content))


def test_more_members_than_any_model_has_are_refused(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.learn.model_archive.MOST_MEMBERS", 10)
    many = archive({**members(saved()), **{f"{i}x.npy": b"" for i in range(20)}})
    assert "too many for a model" in refused(many)


def test_a_file_beyond_the_limit_is_refused(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.learn.persistence.MOST_BYTES", 1000)
    assert "too large for a model" in refused(saved())


# -- arrays ----------------------------------------------------------------------------------------


def first_array(content: bytes) -> bytes:
    return archive({**members(saved()), "1.npy": content})


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_what_is_no_archive_is_not_read_to_its_end() -> None:
    with pytest.raises(InputError, match="no zip archive"):
        load_model("/dev/zero")


def test_a_folder_whose_model_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a" / "model.skops").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "model.skops").symlink_to("model.skops")
    for folder in "ab":
        with pytest.raises(InputError, match=r"has no model\.skops"):
            load_model(tmp_path / folder)


def test_an_array_of_objects_is_a_pickle(refused: Refused, canary: Path) -> None:
    evil = array(np.array([Evil(canary)], object))
    assert "holds Python objects, that is a pickle" in refused(first_array(evil))


def test_an_array_with_objects_in_a_field_is_a_pickle(refused: Refused, canary: Path) -> None:
    evil = np.empty(1, [("x", "f8"), ("y", "O")])
    evil["y"] = [Evil(canary)]
    assert "holds Python objects, that is a pickle" in refused(first_array(array(evil)))


def test_an_array_that_is_a_pickle_is_no_array(refused: Refused, canary: Path) -> None:
    assert "is no array" in refused(first_array(pickle.dumps(Evil(canary))))


def test_an_array_that_is_an_archive_is_no_array(refused: Refused, canary: Path) -> None:
    stream = io.BytesIO()
    np.savez(stream, x=np.array([Evil(canary)], object))
    assert "is no array" in refused(first_array(stream.getvalue()))


def with_head(text: str, body: bytes = b"") -> bytes:
    head = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


@pytest.mark.parametrize(
    "head",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (10000000000000,)}",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (5,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (0,)}",
        "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<M8[s/0]', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': [('a', '<a8')], 'fortran_order': False, 'shape': (0,)}",
        "(" * 3000,
        "",
    ],
)
def test_a_made_up_head_of_an_array_is_refused(refused: Refused, head: str) -> None:
    refused(first_array(with_head(head)))


def test_an_array_that_is_cut_short_is_refused(refused: Refused) -> None:
    assert "declares" in refused(first_array(array(np.zeros(100))[:-8]))


# -- contents that compiled code would follow ------------------------------------------------------


def tree_file(change: Callable[[dict[str, Any], Any], None], recipe: str) -> bytes:
    """A model whose first tree has other nodes."""
    loader = "TreeNode" if recipe != "detector" else "ObjectNode"
    name = "Tree" if recipe != "detector" else "TreePredictor"

    def work(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        # From the inside out the copies of a shared part are all alike, so change the first.
        part = next(
            each
            for each in parts_of(schema)
            if each["__loader__"] == loader and each["__class__"] == name
        )
        state = part["content"]["content"]
        nodes = np.load(io.BytesIO(parts[state["nodes"]["file"]]))
        change(state, nodes)
        parts[state["nodes"]["file"]] = array(nodes)

    return changed(work, recipe)


def set_field(field: str, value: int) -> Callable[[Any, Any], None]:
    def change(state: Any, nodes: Any) -> None:
        nodes[field][0] = value

    return change


@pytest.mark.parametrize("recipe", ["tree", "forest"])
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("left_child", 10**9, "a node that is not there"),
        ("left_child", -2, "a node that is not there"),
        ("left_child", 0, "a node that is not there"),
        ("right_child", 10**9, "a node that is not there"),
        ("right_child", -1, "a node that is not there"),
        ("feature", 10**9, "a column that is not there"),
        ("feature", -2, "a column that is not there"),
        ("feature", 4, "a column that is not there"),
    ],
)
def test_a_tree_that_leads_astray_is_refused(
    refused: Refused, recipe: str, field: str, value: int, said: str
) -> None:
    assert said in refused(tree_file(set_field(field, value), recipe))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("left", 2**31, "a node that is not there"),
        ("left", 0, "a node that is not there"),
        ("right", 2**31, "a node that is not there"),
        ("feature_idx", 10**9, "a column that is not there"),
        ("feature_idx", -1, "a column that is not there"),
        ("is_categorical", 1, "categories that are not there"),
    ],
)
def test_a_boosted_tree_that_leads_astray_is_refused(
    refused: Refused, field: str, value: int, said: str
) -> None:
    assert said in refused(tree_file(set_field(field, value), "detector"))


@pytest.mark.parametrize(
    "change",
    [
        lambda state, nodes: state.update(node_count=scalar(10**9)),
        lambda state, nodes: state.update(node_count=scalar(0)),
        lambda state, nodes: state.update(node_count=scalar(-1)),
        lambda state, nodes: state.update(node_count=scalar(True)),
        lambda state, nodes: state.update(node_count=scalar("1")),
        lambda state, nodes: state.update(nodes=state["values"]),
        lambda state, nodes: state.update(values=state["nodes"]),
        lambda state, nodes: state.update(values=listed()),
        lambda state, nodes: state.pop("values"),
        lambda state, nodes: state.pop("node_count"),
    ],
)
def test_a_tree_with_a_made_up_state_is_refused(refused: Refused, change: Any) -> None:
    def work(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        (part,) = (each for each in parts_of(schema) if each["__loader__"] == "TreeNode")
        change(part["content"]["content"], None)

    assert "a tree in it" in refused(changed(work))


@pytest.mark.parametrize("arguments", [(10**9, 1), (3, 10**9), (3, -1), (3, 0)])
def test_a_tree_with_made_up_arguments_is_refused(
    refused: Refused, arguments: tuple[int, int]
) -> None:
    def work(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        (part,) = (each for each in parts_of(schema) if each["__loader__"] == "TreeNode")
        content = part["__reduce__"]["args"]["content"]
        content[0], content[2] = map(scalar, arguments)

    assert "a tree in it" in refused(changed(work))


def test_a_category_that_is_there_twice_is_refused(refused: Refused) -> None:
    def work(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        state = next(
            part["content"]["content"]
            for part in parts_of(schema)
            if part["__class__"] == "ColumnEncoder"
        )
        state["categories_"] = listed(*[listed(scalar("tcp"), scalar("tcp"))] * 4)

    assert "has a category twice" in refused(changed(work))


def words_file(words: Any) -> bytes:
    """A model whose vocabulary was worked on."""

    def work(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        state = next(
            part["content"]["content"]
            for part in parts_of(schema)
            if part["__class__"] == "TfidfVectorizer"
        )
        if isinstance(words, dict):
            state["vocabulary_"] = mapped(**{word: scalar(at) for word, at in words.items()})
        else:
            text = json.dumps(words).encode() if not isinstance(words, bytes) else words
            parts[state["vocabulary_"]["file"]] = array(np.frombuffer(text, np.uint8))

    return changed(work, "text")


@pytest.mark.parametrize(
    "words",
    [
        {"spam": 10**9},
        {"spam": -1},
        {"spam": 0, "foo": 0},
        {"spam": "0"},
        ["spam", "spam"],
        ["spam", 7],
        {"spam": None},
        7,
        b"[" * 5000,
        b"\xff",
    ],
)
def test_a_vocabulary_that_leads_astray_is_refused(refused: Refused, words: Any) -> None:
    said = refused(words_file(words))
    assert "vocabulary" in said or "list of words" in said


def test_a_model_that_would_read_files_named_by_texts_is_refused(refused: Refused) -> None:
    def work(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        for part in parts_of(schema):
            if part["__class__"] == "TfidfVectorizer":
                part["content"]["content"]["input"] = scalar("filename")

    assert "names of files" in refused(changed(work, "text"))


def worked_words(**settings: Any) -> bytes:
    """A model whose texts are cut in another way than it learned them."""

    def work(schema: dict[str, Any], _: dict[str, bytes]) -> None:
        for part in parts_of(schema):
            if part["__class__"] == "TfidfVectorizer":
                part["content"]["content"].update(settings)

    return changed(work, "text")


@pytest.mark.parametrize("pattern", [r"(a|a)*b", r"(\w+\s?)+$", "(", "", r"\w+!", 7])
def test_a_pattern_that_may_take_forever_is_refused(refused: Refused, pattern: Any) -> None:
    assert "which may take forever" in refused(worked_words(token_pattern=scalar(pattern)))


@pytest.mark.parametrize("runs", [(1, 10**9), (0, 2), (-1, 1)])
def test_terms_as_long_as_a_text_are_refused(refused: Refused, runs: tuple[int, int]) -> None:
    written = worked_words(ngram_range=tupled(*map(scalar, runs)))
    assert "would make terms of" in refused(written)


def test_the_patterns_that_are_allowed_are_quick_and_the_first_is_that_of_the_recipes() -> None:
    assert TOKEN_PATTERNS[0] == TfidfVectorizer().token_pattern
    started = time.process_time()
    for pattern in TOKEN_PATTERNS:
        for text in ("a" * 200_000, "a " * 100_000, "ab!" * 60_000, "é" * 200_000):
            re.findall(pattern, text)
    assert time.process_time() - started < 2


def test_a_recipe_of_ones_own_learns_of_it_when_it_is_saved() -> None:
    pipeline = fitted("text", {"model": "bayes"}, 2)
    header = header_of(pipeline)
    words = dict(pipeline.named_steps["terms"].transformer_list)["words"]
    words.set_params(token_pattern=r"(\w+\s?)+$")
    with pytest.raises(InputError, match="which may take forever"):
        model_bytes(pipeline, header=header)


@pytest.mark.parametrize(
    ("recipe", "lost"),
    [("text", "use_idf"), ("network", "epochs"), ("tree", "feature_range")],
)
def test_a_step_without_one_of_its_settings_is_refused(
    refused: Refused, recipe: str, lost: str
) -> None:
    def lose(schema: dict[str, Any], _: dict[str, bytes]) -> None:
        for part in parts_of(schema):
            if part["__loader__"] == "DictNode" and lost in part["content"]:
                del part["content"][lost]
                part["key_types"]["content"].pop()

    assert f"no attribute {lost!r}" in refused(changed(lose, recipe))


def test_a_forest_of_more_classes_than_it_knows_is_refused(refused: Refused) -> None:
    def claim(schema: dict[str, Any], _: dict[str, bytes]) -> None:
        for part in parts_of(schema):
            if part["__loader__"] == "DictNode" and "n_classes_" in part["content"]:
                part["content"]["n_classes_"] = scalar(10**9)

    assert "number of classes" in refused(changed(claim, "forest"))


# -- damage ----------------------------------------------------------------------------------------

CHECK = """
import pathlib, random, resource, sys
from assay.errors import InputError
from assay.learn.persistence import load_model, model_bytes
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
content = pathlib.Path(sys.argv[1]).read_bytes()
path = pathlib.Path(sys.argv[1]).with_suffix(".damaged")
draw = random.Random(5)
for turn in range(int(sys.argv[2])):
    damaged = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        kind = draw.randrange(4)
        at = draw.randrange(len(damaged))
        if kind == 0:
            damaged[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del damaged[at:]
        elif kind == 2:
            del damaged[at : at + draw.randrange(1, 64)]
        else:
            damaged[at:at] = draw.randbytes(draw.randrange(1, 64))
        if not damaged:
            break
    path.write_bytes(damaged)
    try:
        load_model(path)
    except InputError:
        print("refused")
    else:
        print("loaded")
"""


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("recipe", ["tree", "text"])
def test_damaged_files_are_refused_cleanly(tmp_path: Path, recipe: str) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(saved(recipe))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHECK, path, "150"],
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    said = done.stdout.decode().split()
    assert len(said) == 150
    # A flipped bit in a field that nobody reads, as a time, may do no harm.
    assert said.count("refused") >= 120


@settings(max_examples=150)
@given(st.data())
def test_a_schema_that_was_worked_on_is_refused_or_loads(data: st.DataObject) -> None:
    """Values of the schema replaced by others: never anything but a clean refusal."""
    parts = members(saved())
    schema = json.loads(parts[SCHEMA])
    schema_parts = list(parts_of(schema))
    part = schema_parts[data.draw(st.integers(0, len(schema_parts) - 1))]
    key = data.draw(st.sampled_from(sorted(part)))
    odd = st.sampled_from(
        [None, 0, -1, 10**30, "", "x", "1.npy", [], {}, scalar(10**20), scalar("x"), listed(), True]
    )
    if data.draw(st.booleans()):
        part[key] = data.draw(odd)
    else:
        del part[key]
    content = archive({**parts, SCHEMA: json.dumps(schema).encode()})
    with contextlib.suppress(InputError):
        _loaded(content, frozenset())
