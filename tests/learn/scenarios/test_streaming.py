"""What holds of every scenario: the same again, in any pieces, and a shorter one is a beginning."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assay.errors import InputError
from assay.learn.scenarios import (
    make_arp,
    make_darknet,
    make_ddos,
    stream_arp,
    stream_darknet,
    stream_ddos,
)
from assay.learn.scenarios.windows import difficulty_of

Make = Callable[..., pl.DataFrame]
Stream = Callable[..., Iterator[pl.DataFrame]]

ROWS = 7000  # more than one block of each
BOTH = [(make_arp, stream_arp), (make_ddos, stream_ddos), (make_darknet, stream_darknet)]
each = pytest.mark.parametrize(("make", "stream"), BOTH, ids=["arp", "ddos", "darknet"])


@pytest.mark.sampled(2)
@each
@pytest.mark.parametrize("chunk", [997, 5000])
def test_any_pieces_make_the_same_table(make: Make, stream: Stream, chunk: int) -> None:
    pieces = list(stream(ROWS, 3, "hard", chunk=chunk))
    assert [len(piece) for piece in pieces[:-1]] == [chunk] * (len(pieces) - 1)
    assert_frame_equal(pl.concat(pieces), make(ROWS, 3, "hard"))


@each
def test_a_longer_table_begins_with_the_shorter_one(make: Make, stream: Stream) -> None:
    assert_frame_equal(make(ROWS)[:1234], make(1234))


@pytest.mark.parametrize(
    ("make", "label", "count"),
    [(make_arp, "attack", 549), (make_ddos, "ddos", 979), (make_darknet, "books", 757)],
)
def test_what_pages_and_examples_show_never_changes(make: Make, label: str, count: int) -> None:
    table = make(4000)
    assert int((table[table.columns[-1]] == label).sum()) == count


@each
def test_another_seed_or_difficulty_gives_another_table(make: Make, stream: Stream) -> None:
    tables = [make(500, 1, 0.5), make(500, 2, 0.5), make(500, 1, 0.6)]
    assert not tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


@each
def test_names_of_difficulties_are_numbers(make: Make, stream: Stream) -> None:
    assert_frame_equal(make(300, 1, "easy"), make(300, 1, difficulty_of("easy")))
    assert_frame_equal(make(300, 1), make(300, 1, 0.5))


@each
def test_times_never_go_back_and_nothing_else_is_missing_by_accident(
    make: Make, stream: Stream
) -> None:
    table = make(ROWS)
    assert table["time"].is_sorted()
    assert table.schema["time"] == pl.Datetime("us", "UTC")
    for column in ("time", "host", "family", table.columns[-1]):
        assert table[column].null_count() == 0


@each
def test_an_empty_table_has_its_columns(make: Make, stream: Stream) -> None:
    assert make(0).schema == make(10).schema
    assert len(make(0)) == 0
    assert [len(piece) for piece in stream(0)] == [0]


@each
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rows": -1}, "rows=-1 is too small"),
        ({"seed": -1}, "seed= is a whole number, 0 or more; found -1"),
        ({"chunk": 0}, "chunk=0 is too small"),
        ({"difficulty": 1.01}, "no number from 0"),
        ({"difficulty": float("nan")}, "no number from 0"),
        ({"difficulty": "tough"}, "not one of easy, medium, hard"),
    ],
)
def test_what_can_not_be_made_is_refused_at_once(
    make: Make, stream: Stream, settings: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        stream(**settings)


def test_the_tables_need_no_extra() -> None:
    code = (
        "import sys; from assay.learn.scenarios import make_arp, make_ddos, make_darknet\n"
        "[make(50) for make in (make_arp, make_ddos, make_darknet)]\n"
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'pandas', 'pyarrow', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
