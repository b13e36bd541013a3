"""Models that are columns of a frame: compared and gated by the names of their columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay import Comparison, compare, gate
from assay.engines.frames import columns_by_name
from assay.errors import AssayError, InputError

RNG = np.random.default_rng(7)
ATTACK = RNG.random(400) < 0.3
ROWS = pl.DataFrame(
    {
        "what is": np.where(ATTACK, "attack", "normal"),
        "old": RNG.normal(size=400) + ATTACK,
        "new": RNG.normal(size=400) + 2 * ATTACK,
        "host": RNG.integers(0, 40, 400).astype(str),
        "kind": np.where(RNG.random(400) < 0.5, "flood", "scan"),
        "unused": [[1, 2]] * 400,
    }
)
MODELS = {"a": "old", "b": "new"}
RULE = "new-old(roc_auc) >= -0.01"


def of_duckdb(_: pytest.FixtureRequest) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(ROWS.to_arrow())  # of the connection that lasts


def of_dask(_: pytest.FixtureRequest) -> Any:
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(ROWS.drop("unused").to_pandas(), npartitions=3)


def of_spark(session: str) -> Callable[[pytest.FixtureRequest], Any]:
    def made(request: pytest.FixtureRequest) -> Any:
        rows = ROWS.drop("unused")
        return request.getfixturevalue(session).createDataFrame(rows.rows(), rows.columns)

    return made


def of_ray(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("ray").data.from_arrow(ROWS.drop("unused").to_arrow())


MADE: dict[str, Callable[[pytest.FixtureRequest], Any]] = {
    "polars": lambda _: ROWS,
    "lazy": lambda _: ROWS.lazy(),
    "pandas": lambda _: ROWS.to_pandas(),
    "table": lambda _: ROWS.to_arrow(),
    "reader": lambda _: ROWS.to_arrow().to_reader(max_chunksize=90),
    "mapping": lambda _: ROWS.to_dict(as_series=False),
    "duckdb": of_duckdb,
    "dask": of_dask,
    "sail": of_spark("sail"),
    "spark": of_spark("spark"),
    "ray": of_ray,
}
FRAMES = [
    pytest.param(name, marks=[pytest.mark.slow] if name in ("sail", "spark", "ray") else [])
    for name in MADE
]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_compared_as_its_columns_are(kind: str, request: pytest.FixtureRequest) -> None:
    given = {"positive": "attack", "threshold": 0.8, "resamples": 50}
    by_name = compare(
        MADE[kind](request),
        label="what is",
        scores=MODELS,
        clusters="host",
        families="kind",
        **given,
    )
    columns = {name: ROWS[column] for name, column in MODELS.items()}
    beside = {"clusters": ROWS["host"], "families": ROWS["kind"]}
    by_column = compare(ROWS["what is"], scores=columns, **beside, **given)
    if kind in ("sail", "spark", "ray"):
        # Their rows come in no order, and flips are told by it.
        assert by_name.differences == by_column.differences
        assert by_name.verdicts == by_column.verdicts
    else:
        assert by_name.to_dict() == by_column.to_dict()


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_gated_as_its_columns_are(kind: str, request: pytest.FixtureRequest) -> None:
    by_name = gate(
        MADE[kind](request), label="what is", new="new", old="old", positive="attack", rules=RULE
    )
    by_column = gate(
        ROWS["what is"], new=ROWS["new"], old=ROWS["old"], positive="attack", rules=RULE
    )
    assert by_name.rules == by_column.rules


def difference(comparison: Comparison, measure: str) -> float:
    return next(float(d.difference) for d in comparison.differences if d.measure == measure)


def test_probabilities_and_decisions_are_named_too() -> None:
    rows = {"y": ["a", "b", "c"] * 20, "one": ["a", "b", "b"] * 20, "two": ["a", "b", "c"] * 20}
    decided = compare(rows, label="y", decisions={"x": "one", "y": "two"}, resamples=50)
    assert difference(decided, "accuracy") == pytest.approx(1 / 3)
    shares = {label: [float(label == y) for y in rows["y"]] for label in "abc"}
    tables = {"x": {label: label for label in "abc"}, "y": {label: label for label in "abc"}}
    comparison = compare({**rows, **shares}, label="y", probabilities=tables, resamples=50)
    assert difference(comparison, "accuracy") == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"label": "what si", "scores": MODELS}, "no column 'what si'; did you mean 'what is'"),
        ({"label": "what is", "scores": {"a": "old", "b": ROWS["new"]}}, "so does scores=, as tex"),
        ({"label": "what is", "scores": MODELS, "counts": [1] * 400}, "so does counts=, as text"),
        ({"label": "what is", "scores": {"a": "old", "b": "gnu"}}, "no column 'gnu'"),
        ({"scores": MODELS}, "say label='...' and name the other columns too"),
    ],
)
def test_what_can_not_be_named_is_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare(ROWS, positive="attack", **given)


def test_columns_are_not_named_of_a_list() -> None:
    with pytest.raises(InputError, match="list is not read as a frame"):
        gate([1, 0], label="y", new="p", rules=RULE)


def test_a_cluster_gives_no_more_rows_than_are_compared_here() -> None:
    dask = pytest.importorskip("dask.dataframe")
    rows = dask.from_pandas(ROWS.drop("unused").to_pandas(), npartitions=3)
    labels, _ = columns_by_name(rows, "what is", {"scores": MODELS}, 400)
    assert labels.to_list() == ROWS["what is"].to_list()
    with pytest.raises(InputError, match="400 rows, and its engine gives no pairs of scores"):
        columns_by_name(rows, "what is", {"scores": MODELS}, 399)


def test_a_lazy_frame_without_rows_is_said_to_be_empty() -> None:
    with pytest.raises(AssayError, match=r"no rows|empty"):
        compare(ROWS.lazy().head(0), label="what is", scores=MODELS, positive="attack")
