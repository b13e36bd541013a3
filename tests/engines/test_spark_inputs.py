"""Tables and queries on Spark as inputs."""

import builtins
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.cli.app import run
from assay.errors import InputError
from assay.sources.files.database_queries import must_only_read_spark, spark_query
from assay.sources.files.inputs import sources
from assay.sources.files.request import Request

from . import frameworks


@pytest.mark.parametrize(
    ("given", "name", "query"),
    [
        ("spark:flows", "spark:flows", "select * from `flows`"),
        ("spark:lake.day3.flows", "spark:lake.day3.flows", "select * from `lake`.`day3`.`flows`"),
        ("spark:select label from t", "spark", "select label from t"),
        ("spark:?select label from t", "spark", "select label from t"),
    ],
)
def test_an_input_is_a_table_or_a_query(given: str, name: str, query: str) -> None:
    (source,) = sources([given], Request())
    assert (source.name, source.query, source.engine) == (name, query, "spark")


@pytest.mark.parametrize("given", ["spark:", "spark:?", "spark: "])
def test_nothing_is_refused_with_the_form(given: str) -> None:
    with pytest.raises(InputError, match="write spark:TABLE or spark:QUERY"):
        spark_query(given)


def test_an_address_is_refused_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "spark:sc://db.example:443/;token=correct-horse"]) == 3
    printed = capsys.readouterr()
    assert "give it as SPARK_REMOTE" in printed.err
    assert "correct-horse" not in printed.out + printed.err


@pytest.mark.parametrize(
    "query",
    [
        "select * from csv.`/etc/passwd`",
        "select * from parquet . `x`",
        "select * from csv./* */`/etc/passwd`",
        "select r'\\', a from text.`/etc/passwd` where b = ''",
        "select transform(a) using 'cat' as (b) from t",
        'select transform(a) using/**/ "cat" as (b) from t',
        "select reflect('java.lang.System', 'exit', 0)",
        "select JAVA_METHOD ('java.lang.System', 'exit', 0)",
        "select * from read_files('/etc/passwd')",
        "select * from identifier('csv.' || '`/etc/passwd`')",
        "insert into t select 1",
        "drop table t",
        "select 1; drop table t",
        "create table u as select 1",
    ],
)
def test_a_query_only_reads_tables(query: str) -> None:
    with pytest.raises(InputError, match=r"spark: .*SELECT"):
        must_only_read_spark(query, "spark")


@pytest.mark.parametrize(
    "query",
    [
        "select label, score from flows",
        "with a as (select * from t join u using (id)) select label, score from a",
        "select t.text, json.label from t, json",
    ],
)
def test_a_query_that_reads_is_let_through(query: str) -> None:
    assert must_only_read_spark(query + ";", "spark") == query


def test_a_missing_pyspark_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] in ("pyspark", "py4j"):
            raise ImportError(name)
        return usual(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"needs PySpark.*'assay-detectors\[spark\]'"):
        assay.evaluate_files("spark:flows")


# -- Sail ------------------------------------------------------------------------------------------


ROWS = 2_000
RNG = np.random.default_rng(5)
TRUTH = RNG.random(ROWS) < 0.2
FLOWS = pl.DataFrame(
    {
        "label": np.where(TRUTH, "attack", "normal"),
        "score": np.clip(RNG.normal(0.3 + 0.4 * TRUTH, 0.2), 0, 1),
        "other": np.clip(RNG.normal(0.3 + 0.3 * TRUTH, 0.2), 0, 1),
    }
)
TABLE = "global_temp.flows"


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    """Sail with a table that all sessions see, in the environment."""
    with frameworks.sail_address() as address:
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(address).create()
        session.createDataFrame(FLOWS.to_arrow()).createOrReplaceGlobalTempView("flows")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SPARK_REMOTE", address)
            yield
        session.stop()


@pytest.mark.slow
@pytest.mark.usefixtures("server")
@pytest.mark.filterwarnings("ignore")
def test_a_table_is_judged_as_a_file_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "flows.csv"
    FLOWS.write_csv(file)
    chosen = ["--label", "label", "--score", "score", "--format", "json", "--quiet"]
    documents = []
    for name in (f"spark:{TABLE}", f"spark:select * from {TABLE}", str(file)):
        assert run(["evaluate", name, *chosen]) == 0
        document = json.loads(capsys.readouterr().out)
        document.pop("provenance", None)
        assert document.pop("source")["rows_used"] == ROWS
        documents.append(document)
    assert documents[0] == documents[1] == documents[2]


@pytest.mark.slow
@pytest.mark.usefixtures("server")
@pytest.mark.filterwarnings("ignore")
def test_every_command_reads_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    given, chosen = f"spark:{TABLE}", ["--label", "label", "--score", "score", "--quiet"]
    assert run(["threshold", given, *chosen, "--max-fpr", "0.1"]) == 0
    models = ["--model", "old=other", "--model", "new=score", "--quiet"]
    assert run(["compare", given, "--label", "label", *models]) == 0
    assert run(["gate", given, *chosen, "--rule", "new(recall) >= 0.1", "--allow-undecided"]) == 0
    capsys.readouterr()
    assert run(["evaluate", f"spark:select nothing from {TABLE}"]) == 3
    assert "spark: Spark refuses" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("server")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", [("evaluate",), ("threshold", "--max-fpr", "0.1")])
def test_pyspark_prints_no_warnings_of_its_own(command: tuple[str, ...]) -> None:
    chosen = [f"spark:{TABLE}", "--label", "label", "--score", "score", "--quiet"]
    ran = subprocess.run(
        [sys.executable, "-m", "assay", *command, *chosen],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
