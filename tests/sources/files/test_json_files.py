"""Keys inside of objects, by names with dots, in every command that reads JSON lines."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.learn.data import read_data
from assay.sources.files import Request, Rows, read
from assay.sources.files.json_files import (
    _MOST_DOTS,
    Unreadable,
    json_object,
    leaves_of,
    paths_of,
    text_of,
    value_at,
    value_of,
)

keys = st.text("ab.", min_size=1, max_size=3).filter(lambda key: key.strip("."))
objects = st.recursive(
    st.integers(0, 9), lambda inner: st.dictionaries(keys, inner, min_size=1, max_size=3)
).filter(lambda made: isinstance(made, dict))


def rows_of(tmp_path: Path, text: str, **asked: object) -> Rows:
    file = tmp_path / "events.jsonl"
    file.write_text(text)
    return read([str(file)], Request(**asked))  # type: ignore[arg-type]


def test_a_score_may_lie_inside_of_objects(tmp_path: Path) -> None:
    text = (
        '{"truth": {"label": "attack"}, "alert": {"severity": 1, "by": {"sensor": 0.5}}}\n'
        '{"truth": {"label": "normal"}, "alert": {"severity": 3}}\n'
    )
    rows = rows_of(tmp_path, text, label="truth.label", score="alert.severity")
    assert rows.columns["y_score"].tolist() == [1, 3]
    with pytest.raises(InputError, match=r"line 2: column 'alert\.by\.sensor': found nothing"):
        rows_of(tmp_path, text, label="truth.label", score="alert.by.sensor")


def test_what_is_learned_from_may_lie_inside_of_objects(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(
        '{"truth": {"label": "attack"}, "flow": {"bytes": 3, "tcp": {"flags": "S"}}}\n'
        '{"truth": {"label": "normal"}, "flow": {"bytes": 1, "tcp": {"flags": "A"}}}\n'
    )
    data = read_data(file, label="truth.label", positive="attack")
    assert data.frame.columns == ["flow.bytes", "flow.tcp.flags"]


def test_a_key_that_is_written_with_its_dot_wins(tmp_path: Path) -> None:
    text = '{"label": "a", "x.y": 1, "x": {"y": 2}}\n{"label": "b", "x.y": 3, "x": {"y": 4}}\n'
    assert rows_of(tmp_path, text, score="x.y").columns["y_score"].tolist() == [1, 3]


def test_a_key_with_two_readings_is_refused(tmp_path: Path) -> None:
    text = '{"label": "a", "x.y": {"z": 1}}\n{"label": "b", "x": {"y.z": 2}}\n'
    with pytest.raises(InputError) as error:
        rows_of(tmp_path, text, score="x.y.z")
    assert "the key 'x.y.z' that can be read in two ways, as 'z' in 'x.y' and 'y.z' in 'x'" in str(
        error.value
    )


def test_a_key_that_stands_twice_inside_is_refused(tmp_path: Path) -> None:
    text = '{"label": "a", "x": {"y": 1}}\n{"label": "b", "x": {"y": 2, "y": 3}}\n'
    with pytest.raises(InputError, match="line 2: found the key 'y' twice in one object"):
        rows_of(tmp_path, text, score="x.y")
    kept = rows_of(tmp_path, text, score="x.y", on_bad_row="skip")
    assert (kept.columns["y_score"].tolist(), kept.rows_refused) == ([1], 1)


def test_a_column_that_is_not_there_is_refused_with_those_inside(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"did you mean 'alert\.severity'\?"):
        rows_of(tmp_path, '{"label": "a", "alert": {"severity": 1}}\n', score="alert.severty")


def test_large_counts_inside_of_objects_are_exact(tmp_path: Path) -> None:
    text = '{"label": "a", "said": "a", "x": {"n": 9007199254740993.0}}\n'
    rows = rows_of(tmp_path, text, label="label", decision="said", count="x.n")
    assert rows.columns["counts"].tolist() == [2**53 + 1]


def test_paths_of_a_key_are_every_way_to_cut_it() -> None:
    assert paths_of("a.b.c") == (
        ("a.b.c",),
        ("a", "b.c"),
        ("a.b", "c"),
        ("a", "b", "c"),
    )
    assert paths_of(".a") == ((".a",),)
    assert len(paths_of("a" + ".b" * 40)) == 2


@given(objects)
def test_every_leaf_is_found_by_its_name(record: dict[str, object]) -> None:
    for name, paths in leaves_of([record]).items():
        many = name.count(".") > _MOST_DOTS
        odd = many or name.startswith(".") or ".." in f"{name}."
        assert odd or set(paths) <= set(paths_of(name))
        for path in paths:
            assert value_at(record, path) == _walked(record, path)
        # Of several readings one that is an object counts too: then the name is refused.
        leading = [path for path in paths_of(name) if value_at(record, path) is not None]
        if len(leading) == 1:
            assert value_of(record, paths_of(name)) == _walked(record, leading[0])
        elif len(leading) > 1 and (name,) not in leading:
            with pytest.raises(Unreadable, match="two ways"):
                value_of(record, paths_of(name))


def _walked(record: object, path: tuple[str, ...]) -> object:
    for key in path:
        assert isinstance(record, dict)
        record = record[key]
    return record


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "a blank line"),
        (b"5", "JSON that is no object (int)"),
        (b'{"a": 1', "no JSON object (Expecting ',' delimiter at character 8)"),
        (b'{"a": "\xff"}', "bytes that are not UTF-8 (0xff)"),
        (b'{"a": ' + b"[" * 100_000, "no JSON object that can be read"),
    ],
)
def test_what_is_no_object_is_told(line: bytes, reason: str) -> None:
    assert json_object(line) == (None, reason)


def test_half_of_a_character_is_unreadable() -> None:
    record, _ = json_object(b'{"a": "\\ud800"}')
    assert record is not None
    with pytest.raises(Unreadable, match="half of a surrogate pair"):
        value_at(record, ("a",))


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()))
def test_text_of_a_value_is_the_value(value: object) -> None:
    text = text_of(value)
    assert text is not None
    assert "e" not in text or isinstance(value, str)
    assert (text if isinstance(value, str) else type(value)(text)) == value
