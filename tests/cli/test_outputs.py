"""Tables that are written piece by piece: what fails says why, and leaves nothing."""

import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from assay.cli.outputs import TABLE_FORMATS, Target, target, write_table
from assay.errors import InputError

PIECE = pl.DataFrame({"a": [1, 2], "b": ["x", None]})


def failing(error: BaseException) -> Iterator[pl.DataFrame]:
    yield PIECE
    raise error


@pytest.mark.parametrize("face", TABLE_FORMATS)
@pytest.mark.parametrize("error", [InputError("row 3 is bad"), OSError(5, "Input/output error")])
def test_what_fails_where_pieces_are_made_is_raised_as_it_is(
    tmp_path: Path, face: str, error: Exception
) -> None:
    out = tmp_path / "table"
    out.write_text("old")
    with pytest.raises(type(error), match=r"row 3 is bad|Input/output error") as raised:
        write_table(failing(error), Target(out, face))
    assert raised.value is error
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("face", TABLE_FORMATS)
def test_pieces_become_one_table(tmp_path: Path, face: str) -> None:
    out = tmp_path / f"table.{face}"
    write_table(iter([PIECE, PIECE[:0], PIECE]), target(out, None))
    read = {
        "csv": pl.read_csv,
        "tsv": lambda path: pl.read_csv(path, separator="\t"),
        "jsonl": pl.read_ndjson,
        "parquet": pl.read_parquet,
        "arrow": pl.read_ipc,
    }[face](out)
    assert read.equals(pl.concat([PIECE, PIECE]))


def test_times_in_text_tell_their_zone_where_they_have_one(tmp_path: Path) -> None:
    summer = datetime(2026, 7, 1, 12, tzinfo=UTC)
    table = pl.DataFrame({"zoned": [summer], "naive": [summer.replace(tzinfo=None)]})
    table = table.with_columns(pl.col("zoned").dt.convert_time_zone("Europe/Berlin"))
    out = tmp_path / "times.csv"
    write_table(iter([table]), target(out, None))
    assert (
        out.read_text().splitlines()[1] == "2026-07-01T12:00:00.000000Z,2026-07-01T12:00:00.000000"
    )


class Screen(io.TextIOWrapper):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("face", ["csv", "tsv", "jsonl"])
def test_a_terminal_is_not_steered_by_names_and_other_programs_get_them(
    monkeypatch: pytest.MonkeyPatch, face: str
) -> None:
    frame = pl.DataFrame({"site": ["a\x1b[31m\x9b\u202e", "b"], "score": [0.5, 1.0]})
    for stream, steers in ((Screen, False), (io.TextIOWrapper, True)):
        out = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", stream(out, encoding="utf-8"))
        write_table(iter([frame]), Target(None, face))
        text = out.getvalue().decode()
        assert bool(set(text) & set("\x1b\x9b\u202e")) is steers or face == "jsonl"
        assert not (set(text) & set("\x1b\x9b\u202e")) or steers
        assert text.count("\n") == (2 if face == "jsonl" else 3)
