"""A query of a PostgreSQL of the tests' own is evaluated."""

import json

import psycopg
import pytest

from assay.cli import main


@pytest.mark.slow
def test_a_query_is_evaluated(
    postgresql: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGHOST", postgresql)
    monkeypatch.setenv("PGUSER", "postgres")
    with psycopg.connect("dbname=postgres") as connection:
        connection.execute("CREATE TABLE flows (label text, score float)")
        connection.execute(
            "INSERT INTO flows SELECT CASE WHEN i % 5 = 0 THEN 'attack' ELSE 'benign' END, "
            "i / 100.0 FROM generate_series(1, 100) AS i"
        )
    source = "postgresql:///postgres?SELECT * FROM flows"
    assert main(["evaluate", source, "--format", "json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["source"]["rows_used"] == 100
