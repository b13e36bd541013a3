"""JSON: lines, lists and documents, with nested keys as columns."""

from __future__ import annotations

import json

import pytest

import assay
from assay import errors


def read(path, **named):
    rows = assay.rows(path, on_bad_row="skip", **named)
    return [row for frame in rows.batches(*rows.columns, "row") for row in frame.rows()], rows


def test_lines_that_are_no_object_are_refused_with_their_line(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"label":"a"}\n\n{"label":\n[1]\n{"label":"b","x":{"y":1}}\n\n')
    rows, opened = read(path, label="label")
    assert rows == [("a", 1), ("b", 5)]
    assert opened.refused.sentences() == ("1 row is blank (line 2)", "2 rows are no JSON object (lines 3 and 4)")  # fmt: skip # noqa: E501


def test_nested_keys_are_columns(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a":{"b":{"c":"x"}},"d.e":1}\n{"a":{"b":null}}\n')
    rows, _ = read(path, slices=["a.b.c", "d.e"])
    assert rows == [("x", "1", 1), (None, None, 2)]


def test_values_of_several_types_are_labels_as_text(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({"label": x}) for x in (1, "1", True, 1.0, 2**70)))
    rows, _ = read(path, label="label")
    assert [label for label, _ in rows] == ["1", "1", "true", "1", str(2**70)]


def test_rows_under_a_key(tmp_path) -> None:
    path = tmp_path / "rows.json"
    document = {"took": 3, "hits": {"hits": [{"label": "a"}, {"label": "b"}]}}
    path.write_text(json.dumps(document, indent=2))
    rows, opened = read(path, label="label")
    assert [label for label, _ in rows] == ["a", "b"]
    assert opened.notes[-1] == f"Rows of {path} under 'hits.hits'"
    path.write_text(json.dumps({**document, "more": [{"label": "c"}]}))
    with pytest.raises(errors.InputError, match=r"rows= one of 'hits.hits', 'more'"):
        assay.rows(path, label="label")
    assert [label for label, _ in read(path, label="label", rows="more")[0]] == ["c"]
    with pytest.raises(errors.InputError, match="no list of rows under rows='took'"):
        assay.rows(path, label="label", rows="took")
