"""Partitions: any cut of the rows gives the same bytes, whatever happens to workers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engines import partitions
from assay.engines.ask import Ask, Columns
from assay.engines.frames import count
from assay.engines.partitions import FAN_IN, PartitionCounter, add_bytes, added, tally_of
from assay.errors import AssayError, InputError, ScoreError, TallyError
from assay.tally import Tally
from assay.tally.keeping import Cuts, Exact, Grid

from . import frameworks

COLUMNS = Columns("label", score="score", slices=("host",))
ASK = Ask()


def flows(rows: int, seed: int = 1) -> pl.DataFrame:
    """Rows with many ties, a rare label, and signed zeros."""
    rng = np.random.default_rng(seed)
    score = rng.choice([0.0, -0.0, 0.25, 0.5, 0.75, 1.0, 5e-324, 1e-9], rows)
    return pl.DataFrame(
        {
            "label": rng.choice(["normal", "attack", "naïve"], rows, p=[0.9, 0.09, 0.01]),
            "score": np.where(rng.random(rows) < 0.5, rng.random(rows), score),
            "host": [["a", "b", None][i] for i in rng.integers(3, size=rows)],
            "unused": np.arange(rows),
        }
    )


FLOWS = flows(3_000)
WHOLE = count(FLOWS, COLUMNS, ASK)


def cut(frame: pl.DataFrame, parts: int) -> list[pl.DataFrame]:
    """Parts of very unlike sizes, some of them empty."""
    edges = [round(frame.height * (i / parts) ** 4) for i in range(parts + 1)]
    edges[-1] = frame.height
    return [frame[a:b] for a, b in pairwise(edges)]


# -- bytes and sums --------------------------------------------------------------------------------


def test_batches_of_any_size_give_the_bytes_of_the_whole() -> None:
    for size in (1, 7, 100, 5_000):
        batches = FLOWS[:300].to_arrow().to_batches(size)
        assert (
            PartitionCounter(COLUMNS, ASK)(batches) == count(FLOWS[:300], COLUMNS, ASK).to_bytes()
        )


def test_skewed_and_empty_partitions_give_the_bytes_of_the_whole() -> None:
    parts = cut(FLOWS, 40)
    assert any(part.height == 0 for part in parts)
    counted = [PartitionCounter(COLUMNS, ASK)([part]) for part in parts]
    assert add_bytes(counted) == WHOLE.to_bytes()
    assert add_bytes(reversed(counted)) == WHOLE.to_bytes()


def test_times_with_and_without_a_zone_are_told_across_partitions() -> None:
    columns = Columns("label", score="score", time="at")

    def part(at: str | None) -> bytes:
        rows = {"label": ["attack", "normal"], "score": [0.9, 0.1], "at": [at, at]}
        ask = Ask(on_bad_row="skip")
        return PartitionCounter(columns, ask)([pl.DataFrame(rows)])

    zoned, unzoned, unread = part("2026-11-02T10:00Z"), part("2026-11-02T10:00"), part(None)
    assert tally_of(add_bytes([add_bytes([zoned, unread]), zoned])).rows == 6
    assert tally_of(add_bytes([unzoned, unread, unzoned])).rows == 6
    for parts in ([zoned, unzoned], [unzoned, zoned], [add_bytes([unread, zoned]), unzoned]):
        with pytest.raises(InputError, match=r"a zone in some partitions and none in others"):
            tally_of(add_bytes(parts))


def test_dask_tells_times_with_and_without_a_zone() -> None:
    rows = pl.DataFrame({"label": ["a", "b"], "score": [0.9, 0.1]})
    ats = ("2026-11-02T10:00Z", "2026-11-02T10:00")
    tables = [rows.with_columns(at=pl.lit(at)).to_pandas() for at in ats]
    frame = dd.from_map(lambda table: table, tables, meta=tables[0][:0])
    with threads(), pytest.raises(InputError, match="so the day is not sure"):
        count(frame, Columns("label", score="score", time="at"), ASK)


def test_no_rows_make_the_tally_of_nothing() -> None:
    assert tally_of(PartitionCounter(COLUMNS, ASK)([])).rows == 0
    assert tally_of(add_bytes([])) == Tally()
    assert PartitionCounter(COLUMNS, ASK)([FLOWS[:0]]) == Tally().to_bytes()


@given(st.lists(st.integers(0, 40), min_size=0, max_size=4 * FAN_IN), st.integers(0, 5))
def test_tallies_of_any_cut_add_to_the_whole_in_any_tree(sizes: list[int], seed: int) -> None:
    frame = flows(sum(sizes), seed)
    edges = np.cumsum([0, *sizes])
    parts = [frame[int(a) : int(b)] for a, b in pairwise(edges)]
    tallies = [count(part, COLUMNS, ASK) for part in parts if part.height]
    whole = count(frame, COLUMNS, ASK) if frame.height else Tally()
    assert added(tallies) == whole
    half = len(tallies) // 2
    assert added([added(tallies[half:]), added(tallies[:half])]) == whole


def test_few_tallies_wait_to_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    merge = Tally.merge
    sizes: list[int] = []

    def watched(parts: Sequence[Tally]) -> Tally:
        sizes.append(len(parts))
        return merge(parts)

    monkeypatch.setattr(Tally, "merge", staticmethod(watched))
    assert added(WHOLE for _ in range(FAN_IN**3)).rows == FAN_IN**3 * WHOLE.rows
    assert max(sizes) == FAN_IN
    assert len(sizes) == FAN_IN**2 + FAN_IN + 1 + 1


def test_what_is_refused_in_a_partition_is_raised_where_the_sum_is() -> None:
    bad = FLOWS[:10].with_columns(pl.lit(float("nan")).alias("score"))
    refused = PartitionCounter(COLUMNS, ASK)([bad])
    good = PartitionCounter(COLUMNS, ASK)([FLOWS])
    with pytest.raises(ScoreError, match="score"):
        tally_of(add_bytes([good, refused, good]))


def test_of_several_refusals_it_is_always_the_same_one() -> None:
    kinds = [
        FLOWS[:5].with_columns(pl.lit(float("inf")).alias("score")),
        FLOWS[:5].with_columns(pl.lit(None, pl.String).alias("label")),
    ]
    parts = [PartitionCounter(COLUMNS, ASK)([bad]) for bad in kinds]
    assert add_bytes(parts) == add_bytes(reversed(parts))
    with pytest.raises(AssayError, match="partition"):
        tally_of(add_bytes(parts))


def test_rows_left_out_are_counted_by_reason_in_any_cut() -> None:
    ask = Ask(on_bad_row="skip")
    odd = [None, float("nan"), float("inf"), -float("inf")] * 3
    bad = FLOWS[: len(odd)].with_columns(pl.Series("score", odd))
    frame = pl.concat([FLOWS[:50], bad, FLOWS[50:90].with_columns(pl.lit("").alias("label"))])
    whole = count(frame, COLUMNS, ask)
    assert whole.refused.total == 52
    assert whole.rows == 102
    for size in (1, 13):
        parts = [frame[i : i + size] for i in range(0, frame.height, size)]
        counted = [PartitionCounter(COLUMNS, ask)([part]) for part in parts]
        assert tally_of(add_bytes(counted)) == whole


def test_labels_of_unlike_kinds_in_two_partitions_are_refused() -> None:
    numbers = FLOWS[:5].with_columns(pl.lit(1).alias("label"))
    parts = [PartitionCounter(COLUMNS, ASK)([frame]) for frame in (FLOWS, numbers)]
    with pytest.raises(TallyError, match=r"text in one part .* and numbers in another"):
        tally_of(add_bytes(parts))


def test_bytes_that_are_no_tally_are_refused() -> None:
    with pytest.raises(TallyError, match="no tally"):
        tally_of(add_bytes([b"something else"]))


def test_a_tally_too_large_for_one_value_says_what_would_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partitions, "LARGEST", 100)
    batches = FLOWS.select(COLUMNS.names).to_arrow().to_batches()
    row = next(partitions._spark_count(iter(batches), PartitionCounter(COLUMNS, ASK)))
    with pytest.raises(InputError, match=r"more than one value can hold .* grid"):
        tally_of(row.column(0)[0].as_py())


def test_a_value_holds_no_more_than_the_offsets_of_arrow_reach() -> None:
    class Long(bytes):
        def __len__(self) -> int:
            return 1 << 31

    row = partitions._arrow(Long(b"a tally"))
    with pytest.raises(InputError, match=r"takes 2,147,483,648 bytes, more than one value can"):
        tally_of(row.column(0)[0].as_py())


# -- Dask ------------------------------------------------------------------------------------------


def dask_frame(parts: Sequence[pl.DataFrame]) -> Any:
    # Made pandas here: polars 1.36 may wait for ever where two threads do that at once.
    tables = [part.to_pandas() for part in parts]
    return dd.from_map(lambda table: table, tables, meta=FLOWS[:0].to_pandas())


def threads() -> Any:
    return dask.config.set(scheduler="threads", num_workers=2)


def test_dask_gives_the_bytes_of_the_whole() -> None:
    with threads():
        assert count(dask_frame(cut(FLOWS, 20)), COLUMNS, ASK) == WHOLE


def test_dask_with_one_partition_and_with_an_empty_frame() -> None:
    with threads():
        assert count(dask_frame([FLOWS]), COLUMNS, ASK) == WHOLE
        assert count(dask_frame([FLOWS[:0]] * 3), COLUMNS, ASK) == Tally()


def test_dask_reads_only_the_columns_asked_for() -> None:
    frame = dask_frame(cut(FLOWS, 3))
    frame["unused"] = frame["unused"].map_partitions(
        _never, meta=pd.Series([], dtype="int64", name="unused")
    )
    with threads():
        assert count(frame, COLUMNS, ASK) == WHOLE


def _never(column: Any) -> Any:
    raise AssertionError("a column that nobody asked for")


def test_columns_of_dask_are_named_as_they_are_written() -> None:
    pandas = FLOWS.select("label", "score").to_pandas().set_axis([0, 1], axis=1)
    with threads():
        tally = count(dd.from_pandas(pandas, npartitions=2), Columns("0", score="1"), ASK)
    assert tally == count(FLOWS, Columns("label", score="score"), ASK)


def test_dask_with_a_grid() -> None:
    ask = Ask(scores=Grid())
    with threads():
        assert count(dask_frame(cut(FLOWS, 9)), COLUMNS, ask) == count(FLOWS, COLUMNS, ask)


def test_a_failing_partition_of_dask_is_that_error() -> None:
    frame = dask_frame(cut(FLOWS, 4)).map_partitions(_broken, meta=FLOWS[:0].to_pandas())
    with threads(), pytest.raises(OSError, match="disk"):
        count(frame, COLUMNS, ASK)


def _broken(frame: Any) -> Any:
    raise OSError("the disk is gone")


def test_a_column_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(
        InputError, match="the Dask frame has no column 'lable'; did you mean 'label'"
    ):
        count(dask_frame([FLOWS]), Columns("lable", score="score"), ASK)


@pytest.mark.slow
@pytest.mark.parametrize("dies", [True, False])
def test_a_worker_of_dask_that_dies_or_fails_is_made_up_for(tmp_path: Path, dies: bool) -> None:
    breaks = frameworks.once(tmp_path / "marker", dies=dies)
    with frameworks.dask_workers():
        parts = [part.to_pandas() for part in cut(FLOWS, 12)]
        frame = dd.from_map(lambda i: breaks(parts[i]) if i == 7 else parts[i], range(12))
        if dies:
            assert count(frame, COLUMNS, ASK) == WHOLE
        else:
            # Dask runs what died again, but not what raised.
            with pytest.raises(OSError, match="disk"):
                count(frame, COLUMNS, ASK)
            # A task that raised may be remembered for as long as anything speaks of it.
            again = dd.from_map(lambda i: breaks(parts[i]), range(12))
            assert count(again, COLUMNS, ASK) == WHOLE
    assert (tmp_path / "marker").exists()


# -- cuts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["as they come", "by label"])
def test_cuts_of_partitions_are_those_of_the_whole(order: str) -> None:
    """Partitions of one label alone take it for the most frequent, and are asked anew."""
    rows = FLOWS if order == "as they come" else FLOWS.sort("label")
    parts, passes = cut(rows, 12), []

    def run(counting: PartitionCounter) -> Tally:
        passes.append(type(counting).__name__)
        return tally_of(add_bytes(counting([part]) for part in parts))

    ask = Ask(scores=Cuts())
    tally = partitions.in_passes(COLUMNS, ask, run)
    assert tally.to_bytes() == count(rows, COLUMNS, ask).to_bytes()
    assert len(passes) == (2 if order == "as they come" else 3)


def test_cuts_need_a_score() -> None:
    rows = FLOWS.with_columns(decision=pl.col("label"))
    decided = Columns("label", decision="decision")
    tally = partitions.in_passes(
        decided, Ask(scores=Cuts()), lambda counting: tally_of(counting([rows]))
    )
    assert not tally.scores


# -- Spark -----------------------------------------------------------------------------------------


def spark_checks(session: Any) -> None:
    frame = session.createDataFrame(FLOWS.to_arrow())
    for parts in (1, 20):
        assert partitions.count_spark(frame.repartition(parts), COLUMNS, ASK) == WHOLE
    empty = frame.where("score > 99")
    assert partitions.count_spark(empty, COLUMNS, ASK) == Tally()
    skewed = frame.repartition(5, "label")
    assert partitions.count_spark(skewed, COLUMNS, Ask(scores=Grid())) == count(
        FLOWS, COLUMNS, Ask(scores=Grid())
    )
    with pytest.raises(InputError, match="the Spark frame has no column 'Label'; did you mean"):
        partitions.count_spark(frame, Columns("Label", score="score"), ASK)
    bad = frame.selectExpr("label", "if(score = 0.25, null, score) as score", "host")
    with pytest.raises(AssayError, match=r"score.*partition"):
        partitions.count_spark(bad, COLUMNS, ASK)
    odd = FLOWS.rename({"label": "a.b `c`"})
    named = Columns("a.b `c`", score="score")
    assert partitions.count_spark(session.createDataFrame(odd.to_arrow()), named, ASK) == count(
        odd, named, ASK
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_python_on_sails_workers_gives_the_bytes_of_the_whole(sail: Any) -> None:
    spark_checks(sail)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_python_on_sparks_workers_gives_the_bytes_of_the_whole(spark: Any) -> None:
    spark_checks(spark)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dies", [True, False])
def test_a_worker_of_spark_that_dies_or_fails_is_made_up_for(
    spark: Any, tmp_path: Path, dies: bool
) -> None:
    frame = spark.createDataFrame(FLOWS.to_arrow()).repartition(12)
    broken = frame.mapInArrow(frameworks.batches_once(tmp_path / "marker", dies=dies), frame.schema)
    assert partitions.count_spark(broken, COLUMNS, ASK) == WHOLE
    assert (tmp_path / "marker").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kept", "dies"),
    [(Exact(), True), (Grid(), False), (Cuts(), True)],
    ids=["exact", "grid", "cuts"],
)
def test_a_worker_that_dies_while_spark_groups_rows_is_made_up_for(
    spark: Any, tmp_path: Path, kept: Any, dies: bool
) -> None:
    frame = spark.createDataFrame(FLOWS.to_arrow()).repartition(12)
    breaks = frameworks.batches_once(tmp_path / "marker", dies=dies, partition=7)
    broken = frame.mapInArrow(breaks, frame.schema)
    asked = Ask(scores=kept, losses=False)
    assert count(broken, COLUMNS, asked) == count(FLOWS, COLUMNS, asked)
    assert (tmp_path / "marker").exists()


@pytest.mark.slow
def test_an_executor_that_is_killed_while_spark_groups_rows_is_made_up_for() -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian: apt-get install default-jre-headless)")
    program = Path(__file__).with_name("killed_executor.py")
    command = [sys.executable, "-W", "ignore", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "2000 rows were counted\n", done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_frame_of_spark_is_counted_by_spark_itself(spark: Any) -> None:
    frame = spark.createDataFrame(FLOWS.to_arrow())
    for parts in (frame, frame.repartition(40), frame.repartition(5, "label")):
        assert count(parts, COLUMNS, ASK) == WHOLE


# -- Ray -------------------------------------------------------------------------------------------


def ray_blocks(ray: Any, parts: Sequence[pl.DataFrame]) -> Any:
    return ray.data.from_arrow([part.to_arrow() for part in parts])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_bytes_of_the_whole(ray: Any) -> None:
    assert count(ray_blocks(ray, cut(FLOWS, 20)), COLUMNS, ASK) == WHOLE
    assert count(ray_blocks(ray, [FLOWS]), COLUMNS, ASK) == WHOLE
    assert count(ray_blocks(ray, [FLOWS[:0]]), COLUMNS, ASK) == Tally()
    grid = Ask(scores=Grid())
    assert count(ray_blocks(ray, cut(FLOWS, 9)), COLUMNS, grid) == count(FLOWS, COLUMNS, grid)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_ray_refuses_is_our_error(ray: Any) -> None:
    with pytest.raises(InputError, match="the dataset of Ray has no column 'lable'"):
        count(ray_blocks(ray, [FLOWS]), Columns("lable", score="score"), ASK)
    bad = FLOWS.with_columns(pl.lit(None, pl.Float64).alias("score"))
    with pytest.raises(AssayError, match=r"score.*partition"):
        count(ray_blocks(ray, [FLOWS, bad]), COLUMNS, ASK)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_ray_that_dies_is_made_up_for(ray: Any, tmp_path: Path) -> None:
    breaks = frameworks.once(tmp_path / "marker", dies=True)
    data = ray_blocks(ray, cut(FLOWS, 6)).map_batches(
        breaks, batch_format="pyarrow", batch_size=None
    )
    assert count(data, COLUMNS, ASK) == WHOLE
    assert (tmp_path / "marker").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_block_of_ray_that_fails_is_told_of(ray: Any, tmp_path: Path) -> None:
    """Ray makes up for workers that die; what fails in a function of the user it hands on."""
    fails = frameworks.once(tmp_path / "marker", dies=False)
    blocks = ray_blocks(ray, cut(FLOWS, 6))
    data = blocks.map_batches(fails, batch_format="pyarrow", batch_size=None)
    with pytest.raises(Exception, match="the disk of this worker is gone"):
        count(data, COLUMNS, ASK)
    assert count(data, COLUMNS, ASK) == WHOLE


# -- examples of the documentation -----------------------------------------------------------------

EXAMPLES = Path(__file__).parents[2] / "examples" / "partitions"


def run_example(name: str, **variables: str) -> str:
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | variables
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_example_of_spark_prints_what_the_page_shows() -> None:
    with frameworks.sail_address() as address:
        printed = run_example("spark", SPARK_REMOTE=address)
    assert printed == (EXAMPLES / "spark.txt").read_text("utf-8")


@pytest.mark.slow
def test_the_example_of_ray_prints_what_the_page_shows() -> None:
    pytest.importorskip("ray.data", reason="Ray is not installed: pip install 'ray[data]'")
    assert run_example("ray_data") == (EXAMPLES / "ray_data.txt").read_text("utf-8")
