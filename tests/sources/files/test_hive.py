"""Folders cut up by keys."""

from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.errors import InputError
from assay.sources.files import Hashing, Request, read
from assay.sources.files.inputs import keys_of

FRAME = pl.DataFrame({"label": ["attack", "normal"], "score": [0.9, 0.1]})


def put(path: Path, frame: pl.DataFrame = FRAME) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(path)
    return path


def slices(rows: Any, column: str) -> dict[str, int]:
    named = rows.columns["slices"][column]
    return {name: int((named.codes == i).sum()) for i, name in enumerate(named.names)}


def test_keys_of_folders_are_columns_of_text(tmp_path: Path) -> None:
    for day in ("2026-11-02", "2026-11-01"):
        for part in range(2):
            put(tmp_path / f"day={day}" / "site=01" / f"part-{part}.parquet")
    rows = read([str(tmp_path)], Request(slices=("day", "site")))
    assert rows.rows_read == 8
    assert slices(rows, "day") == {"2026-11-01": 4, "2026-11-02": 4}
    assert slices(rows, "site") == {"01": 8}


def test_files_of_every_format_have_keys(tmp_path: Path) -> None:
    put(tmp_path / "kind=a" / "t.parquet")
    for name in ("kind=b/t.csv", "kind=c/t.arrow", "kind=d/t.jsonl"):
        (tmp_path / name).parent.mkdir()
    FRAME.write_csv(tmp_path / "kind=b" / "t.csv")
    FRAME.write_ipc(tmp_path / "kind=c" / "t.arrow")
    FRAME.write_ndjson(tmp_path / "kind=d" / "t.jsonl")
    rows = read([str(tmp_path)], Request(slices=("kind",)))
    assert slices(rows, "kind") == {"a": 2, "b": 2, "c": 2, "d": 2}


def test_the_label_may_be_a_key(tmp_path: Path) -> None:
    for label, score in (("attack", 0.9), ("normal", 0.2)):
        put(tmp_path / f"label={label}" / "t.parquet", pl.DataFrame({"score": [score] * 3}))
    evaluation = assay.evaluate_files(str(tmp_path))
    assert evaluation["accuracy"].value == 1
    assert evaluation["accuracy"].n == 6


def test_a_day_may_be_a_key(tmp_path: Path) -> None:
    for day in ("2026-11-01", "2026-11-02"):
        put(tmp_path / f"day={day}" / "t.parquet")
    request = Request(time="day")
    evaluation = assay.evaluate_files(str(tmp_path), request, period="day")
    assert list(evaluation.tally.days or {}) == ["2026-11-01", "2026-11-02"]


def test_the_folder_that_is_given_has_its_own_key(tmp_path: Path) -> None:
    for day in (1, 2):
        put(tmp_path / f"day={day}" / "hour=0" / "t.parquet")
    rows = read([str(tmp_path / "day=1"), str(tmp_path / "day=2")], Request(slices=("day", "hour")))
    assert slices(rows, "day") == {"1": 2, "2": 2}
    pattern = str(tmp_path / "day=*" / "**" / "*.parquet")
    assert slices(read([pattern], Request(glob=True, slices=("day",))), "day") == {"1": 2, "2": 2}


def test_a_file_by_its_name_has_no_keys(tmp_path: Path) -> None:
    path = put(tmp_path / "day=1" / "t.parquet")
    with pytest.raises(InputError, match="has no column 'day'"):
        read([str(path)], Request(slices=("day",)))


def test_values_are_decoded_and_the_default_one_is_missing(tmp_path: Path) -> None:
    put(tmp_path / "site=a%2Fb%3D%C3%A9" / "t.parquet")
    put(tmp_path / "site=__HIVE_DEFAULT_PARTITION__" / "t.parquet")
    rows = read([str(tmp_path)], Request(slices=("site",)))
    assert slices(rows, "site") == {"(missing)": 2, "a/b=é": 2}
    put(tmp_path / "site=%ff" / "t.parquet")
    with pytest.raises(InputError, match="'site=%ff' holds bytes in percent signs"):
        read([str(tmp_path)], Request())


@given(st.text(min_size=1), st.text(min_size=1))
def test_what_is_encoded_is_decoded(key: str, value: str) -> None:
    try:
        folder = f"{quote(key, safe='')}={quote(value, safe='')}"
    except UnicodeEncodeError:
        return
    assert keys_of(["a", folder, "=b"], "x") == {key: value}


def test_unlike_keys_are_refused_with_their_names(tmp_path: Path) -> None:
    put(tmp_path / "day=1" / "t.parquet")
    put(tmp_path / "tag=1" / "t.parquet")
    with pytest.raises(InputError, match=r"unlike keys: 'day' \('day=1/t.parquet'\) and 'tag' \("):
        read([str(tmp_path)], Request())


def test_a_file_without_the_keys_of_the_others_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "day=1" / "t.parquet")
    put(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"unlike keys: 'day' .* and none \('t.parquet'\)"):
        read([str(tmp_path)], Request())


def test_a_key_twice_in_one_path_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "day=1" / "day=2" / "t.parquet")
    with pytest.raises(InputError, match="the key 'day' stands twice in one path"):
        read([str(tmp_path)], Request())
    with pytest.raises(InputError, match="the key 'day' stands twice in one path"):
        read([str(tmp_path / "day=1")], Request())


@pytest.mark.parametrize(
    ("folder", "values"),
    [
        ("day=2026-11-01", [date(2026, 11, 1)] * 2),
        ("day=01", [1, 1]),
        ("day=0.5", [0.5, 0.5]),
        ("day=x", ["x", "x"]),
        ("day=__HIVE_DEFAULT_PARTITION__", [None, None]),
    ],
)
def test_a_key_that_is_in_the_file_too_has_to_agree(
    tmp_path: Path, folder: str, values: list[Any]
) -> None:
    put(tmp_path / folder / "t.parquet", FRAME.with_columns(pl.Series("day", values)))
    assert read([str(tmp_path)], Request(slices=("day",))).rows_read == 2
    (tmp_path / folder).rename(tmp_path / "day=7")
    with pytest.raises(InputError, match=r"column 'day' holds .* lies in says '7'"):
        read([str(tmp_path)], Request(slices=("day",)))
    assert read([str(tmp_path)], Request()).rows_read == 2


def test_folders_inside_are_read_and_what_others_keep_for_themselves_is_not(
    tmp_path: Path,
) -> None:
    put(tmp_path / "a" / "b" / "t.parquet")
    put(tmp_path / "t.parquet")
    put(tmp_path / "_temporary" / "t.parquet")
    put(tmp_path / ".spark-staging" / "t.parquet")
    (tmp_path / "_SUCCESS").touch()
    assert read([str(tmp_path)], Request()).rows_read == 4
    assert len(Hashing([str(tmp_path)], Request()).inputs()) == 2


@pytest.mark.parametrize(
    ("inside", "kind"),
    [
        ("_delta_log/0.json", "Delta"),
        (".hoodie/x", "Hudi"),
        ("metadata/v1.metadata.json", "Iceberg"),
    ],
)
def test_a_table_with_a_log_of_its_own_is_refused(tmp_path: Path, inside: str, kind: str) -> None:
    put(tmp_path / "part-0.parquet")
    (tmp_path / inside).parent.mkdir()
    (tmp_path / inside).touch()
    with pytest.raises(InputError, match=f"is an? {kind} table: its log says which files count"):
        read([str(tmp_path)], Request())


def test_a_folder_inside_itself_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "day=1" / "t.parquet")
    (tmp_path / "day=2").symlink_to(tmp_path)
    with pytest.raises(InputError, match="is inside itself by a link"):
        read([str(tmp_path)], Request())
