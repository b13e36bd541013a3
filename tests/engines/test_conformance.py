"""The same rows give the same bytes, whoever counts them."""

from collections.abc import Iterator
from typing import TypeAlias

import polars as pl
import pytest

from assay.engines import Ask, Columns, frames
from assay.errors import InputError
from assay.tally.keeping import Cuts, Exact, Grid

from .conformance import ENGINES, FEW, MANY, Count, Engine, edge_rows

# PySpark speaks of pandas, which is not used here.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

QUESTIONS = {
    "score": Columns("label", "score"),
    "32-bit score": Columns("label", "narrow"),
    "whole score": Columns("label", "whole"),
    "decision": Columns("label", decision="decision"),
    "numbers as labels": Columns("Odd \"name' `é` []", "score"),
    "booleans as labels": Columns("truth", "score"),
    "slices": Columns("label", "score", slices=("site",), family="host"),
    "days": Columns("label", "score", time="moment"),
    "clusters": Columns("label", "score", cluster="host"),
    "counts": Columns("label", "score", count="n"),
    "all": Columns(
        "label",
        "score",
        decision="decision",
        count="n",
        cluster="host",
        slices=("site", "host"),
        time="moment",
    ),
}
ASKS = {
    "exact": Ask(scores=Exact(), on_bad_row="skip"),
    "at 0.3": Ask(scores=Exact(), threshold=0.3, on_bad_row="skip"),
    "grid of 12 bits": Ask(scores=Grid(12), threshold=0.3, on_bad_row="skip"),
    "grid of 3 bits": Ask(scores=Grid(3), on_bad_row="skip"),
    "cuts": Ask(scores=Cuts(), threshold=0.3, on_bad_row="skip", losses=False),
}
# What `make slow` asks besides.
MORE = ("at 0.3", "grid of 3 bits")
Opened: TypeAlias = tuple[Engine, pl.DataFrame, Count]


def opened(engine: Engine, rows: int, request: pytest.FixtureRequest) -> Iterator[Opened]:
    frame = edge_rows(rows, bad=True)
    with engine.open(frame, request) as count:
        yield engine, engine.stored(frame), count


def slow(engine: Engine) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if engine.slow else []


@pytest.fixture(scope="module", params=[pytest.param(e, id=e.name, marks=slow(e)) for e in ENGINES])
def few(request: pytest.FixtureRequest) -> Iterator[Opened]:
    yield from opened(request.param, FEW, request)


@pytest.fixture(
    scope="module", params=[e for e in ENGINES if not e.twin], ids=lambda engine: engine.name
)
def many(request: pytest.FixtureRequest) -> Iterator[Opened]:
    yield from opened(request.param, MANY, request)


def must_be_like_this_machine(question: str, ask: str, there: Opened) -> None:
    _, stored, count = there
    expected = frames.count_polars(stored, QUESTIONS[question], ASKS[ask])
    tally = count(QUESTIONS[question], ASKS[ask])
    assert tally.rows == stored.height
    assert tally.refused == expected.refused
    assert tally.to_bytes() == expected.to_bytes()


@pytest.mark.sampled(80)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "ask", [pytest.param(ask, marks=[pytest.mark.slow] if ask in MORE else []) for ask in ASKS]
)
def test_bytes_are_those_of_this_machine(question: str, ask: str, few: Opened) -> None:
    must_be_like_this_machine(question, ask, few)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "ask"),
    [("score", "exact"), ("score", "grid of 12 bits"), ("score", "cuts"), ("slices", "exact")],
)
def test_bytes_of_many_rows_are_those_of_this_machine(
    question: str, ask: str, many: Opened
) -> None:
    must_be_like_this_machine(question, ask, many)


def test_a_bad_row_stops_the_count(few: Opened) -> None:
    _, stored, count = few
    columns = Columns("label", "score")
    with pytest.raises(InputError):
        frames.count_polars(stored, columns, Ask())
    with pytest.raises(InputError, match=r"column '(label|score)'"):
        count(columns, Ask())
