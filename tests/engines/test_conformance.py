"""The same rows give the same bytes, whoever counts them."""

from collections.abc import Iterator

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
OPENED = [
    pytest.param((engine, rows), id=f"{engine.name}-{rows}", marks=marks)
    for engine in ENGINES
    for rows in (FEW, MANY)
    for marks in ([pytest.mark.slow] if engine.slow or rows == MANY else [],)
]


@pytest.fixture(scope="module", params=OPENED)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Engine, pl.DataFrame, Count]]:
    engine, rows = request.param
    frame = edge_rows(rows, bad=True)
    with engine.open(frame, request) as count:
        yield engine, engine.stored(frame), count


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("ask", ASKS)
def test_bytes_are_those_of_this_machine(
    question: str, ask: str, opened: tuple[Engine, pl.DataFrame, Count]
) -> None:
    engine, stored, count = opened
    if ask == "cuts" and "pieces" in engine.name:
        pytest.skip("cuts are taken from all rows at once")
    expected = frames.count(stored, QUESTIONS[question], ASKS[ask])
    tally = count(QUESTIONS[question], ASKS[ask])
    assert tally.rows == stored.height
    assert tally.refused == expected.refused
    assert tally.to_bytes() == expected.to_bytes()


def test_a_bad_row_stops_the_count(opened: tuple[Engine, pl.DataFrame, Count]) -> None:
    _, stored, count = opened
    columns = Columns("label", "score")
    with pytest.raises(InputError) as expected:
        frames.count(stored, columns, Ask())
    with pytest.raises(InputError, match=r"column '(label|score)'") as refused:
        count(columns, Ask())
    assert issubclass(type(refused.value), InputError)
    assert "Traceback" not in str(refused.value) + str(expected.value)
