"""Partitions of Spark and Ray by stand-ins, whose workers are this process."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from assay.engines import frames, partitions
from assay.engines.ask import Ask, Columns, Grouping
from assay.errors import InputError
from assay.tally.keeping import Cuts

from .standins import of

COLUMNS = Columns("label", score="score")
FRAME = pl.DataFrame({"label": ["a", "b", "a", "a", "b"], "score": [0.1, 0.2, 0.3, 0.4, 0.5]})
BY_SCORE = Columns.of_incidents("of", "at", score="score")
ASK = Ask(incidents=Grouping())


def test_up_to_eight_tallies_are_added_at_once() -> None:
    def add(parts: list[Any]) -> Any:
        return tuple(parts)

    assert partitions._tree(list(range(8)), add) == tuple(range(8))
    assert partitions._tree(list(range(9)), add) == (tuple(range(8)), (8,))
    deep = partitions._tree(list(range(65)), add)
    assert [len(part) for part in deep] == [8, 1]


@pytest.mark.parametrize(("parts", "tasks"), [(1, 0), (8, 0), (9, 3), (15, 3), (100, 10)])
def test_many_partitions_of_spark_are_added_by_tasks(parts: int, tasks: int) -> None:
    rdd = of("pyspark", "RDD", getNumPartitions=lambda: parts)
    assert partitions._spark_tasks(of("pyspark.sql.dataframe", "DataFrame", rdd=rdd)) == tasks


def test_sixteen_tasks_add_what_does_not_tell_its_partitions() -> None:
    assert partitions._spark_tasks(of("pyspark.sql.connect.dataframe", "DataFrame")) == 16


def test_a_value_holds_64_kilobytes_less_than_two_gigabytes() -> None:
    class Long(bytes):
        size = 2_147_418_112

        def __len__(self) -> int:
            return self.size

    part = Long(b"a tally")
    assert partitions._arrow(part).column(0)[0].as_py() == b"a tally"
    part.size += 1
    assert partitions._arrow(part).column(0)[0].as_py().startswith(b"assay-refused\n")


def test_of_several_refusals_the_first_in_order_is_told() -> None:
    parts = [partitions._refusal(InputError(text)) for text in ("b", "a", "c")]
    with pytest.raises(InputError, match=r"^a$"):
        partitions.tally_of(partitions.add_bytes(parts))


@pytest.fixture(autouse=True)
def spark_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors of PySpark, which need not be installed."""
    if find_spec("pyspark") is None:
        errors = ModuleType("pyspark.errors")
        errors.PySparkException = type("PySparkException", (Exception,), {})  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
        monkeypatch.setitem(sys.modules, "pyspark.errors", errors)


class SparkFrame:
    """A frame of Spark whose partitions are Arrow tables."""

    __module__ = "pyspark.sql.dataframe"

    def __init__(self, parts: list[pa.Table]) -> None:
        self.parts, self.columns = parts, parts[0].column_names
        self.rdd = of("pyspark", "RDD", getNumPartitions=lambda: len(parts))
        self.steps = 0

    def selectExpr(self, *expressions: str) -> SparkFrame:  # noqa: N802 - Spark's name
        names = [text.partition(" AS ") for text in expressions]
        chosen = [part.select([name.strip("`") for name, _, _ in names]) for part in self.parts]
        return SparkFrame([part.rename_columns([to for _, _, to in names]) for part in chosen])

    def mapInArrow(self, work: Any, schema: str) -> SparkFrame:  # noqa: N802 - Spark's name
        assert schema == "outcome binary"
        parts = [pa.Table.from_batches(work(iter(part.to_batches()))) for part in self.parts]
        return SparkFrame(parts)

    def repartition(self, tasks: int) -> SparkFrame:
        return SparkFrame([pa.concat_tables(self.parts[i::tasks]) for i in range(tasks)])

    def collect(self) -> list[tuple[bytes]]:
        return [(value.as_py(),) for part in self.parts for value in part.column(0)]


class RayData:
    """A dataset of Ray whose blocks are Arrow tables."""

    def __init__(self, blocks: list[pa.Table]) -> None:
        self.blocks = blocks

    def columns(self) -> list[str] | None:
        return self.blocks[0].column_names if self.blocks else None

    def select_columns(self, names: list[str]) -> RayData:
        return RayData([block.select(names) for block in self.blocks])

    def map_batches(self, work: Any, *, batch_format: str, batch_size: None) -> RayData:
        assert (batch_format, batch_size) == ("pyarrow", None)
        return RayData([work(block) for block in self.blocks])

    def to_arrow_refs(self) -> list[pa.Table]:
        return self.blocks


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray, whose workers are this process."""
    module = of("ray", "Module")
    module.remote = lambda work: of("ray", "Remote", remote=work)
    module.put = module.get = lambda value: value
    monkeypatch.setitem(sys.modules, "ray", module)


@pytest.mark.parametrize(
    "kept", [Ask(), Ask(scores=Cuts()), ASK], ids=["rows", "cuts", "incidents"]
)
@pytest.mark.parametrize("parts", [1, 5, 10])
@pytest.mark.usefixtures("ray")
def test_partitions_of_spark_and_ray_add_up_to_the_whole(parts: int, kept: Ask) -> None:
    rows = pl.DataFrame(
        {
            "of": ["x", "", "y", None, "x"] * 2,
            "at": [f"2026-11-16T10:{minute:02}:00Z" for minute in range(0, 50, 5)],
            "label": ["n"] * 6 + ["a"] * 4,
            "score": [i / 16 for i in range(10)],
        }
    )
    rows = pl.concat([rows, rows[:3]])
    columns = BY_SCORE if kept is ASK else Columns("label", score="score")
    count: Any = frames.count_incidents if kept is ASK else frames.count
    whole = count(rows, columns, kept)
    tables = [rows[i::parts].to_arrow() for i in range(parts)]
    assert partitions.count_spark(SparkFrame(tables), columns, kept) == whole
    assert partitions.count_ray(RayData(tables), columns, kept) == whole


@pytest.mark.usefixtures("ray")
def test_a_dataset_of_ray_without_columns_lacks_them() -> None:
    with pytest.raises(InputError, match="the dataset of Ray has no column 'label'"):
        partitions.count_ray(RayData([]), COLUMNS, Ask())


def test_rows_left_out_in_a_first_pass_are_counted() -> None:
    rows = pl.concat([FRAME, FRAME.with_columns(score=pl.lit(None, pl.Float64))[:1]])
    ask = Ask(scores=Cuts(), on_bad_row="skip")
    whole = frames.count(rows, COLUMNS, ask)
    assert partitions.count_spark(SparkFrame([rows.to_arrow()]), COLUMNS, ask) == whole
    first = partitions.RarerScoresCounter(COLUMNS, ask)([rows])
    assert partitions.tally_of(first).refused.total == 1


def test_decisions_are_counted_in_one_pass_where_cuts_are_asked_for() -> None:
    rows = FRAME.with_columns(said=pl.col("label"))
    columns, ask = Columns("label", decision="said"), Ask(scores=Cuts())
    tally = partitions.count_spark(SparkFrame([rows.to_arrow()]), columns, ask)
    assert tally == frames.count(rows, columns, ask)


def test_workers_of_spark_without_assay_are_told_of() -> None:
    from pyspark.errors import PySparkException

    for text, error in (("No module named 'assay'", InputError), ("lost", PySparkException)):
        frame = SparkFrame([FRAME.to_arrow()])

        def fail(*_: Any, text: str = text) -> Any:
            raise PySparkException(text)

        lost = of("pyspark.sql.dataframe", "DataFrame", columns=frame.columns, rdd=frame.rdd)
        type(lost).selectExpr = lambda self, *_: self
        type(lost).mapInArrow = lambda self, *_: self
        type(lost).collect = fail
        with pytest.raises(error):
            partitions.count_spark(lost, COLUMNS, Ask())
