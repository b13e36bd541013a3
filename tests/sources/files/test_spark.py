"""Servers of Spark that are not there, and addresses that are none."""

import socket
from collections.abc import Iterator

import pytest

from assay.cli.app import run
from assay.sources.files import database_queries

SECRET = "correct-horse"


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed() -> int:
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.mark.sampled(1)
@pytest.mark.parametrize("server", ["silent", "closed"])
@pytest.mark.parametrize("settings", ["", f"/;token={SECRET}"])
def test_a_server_that_can_not_be_reached_is_named_without_its_token(
    server: str,
    settings: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pyspark", reason="PySpark is missing: pip install 'pyspark[connect]'")
    port = request.getfixturevalue(server)
    monkeypatch.setattr(database_queries, "_SPARK_SECONDS", 1)
    monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{port}{settings}")
    assert run(["evaluate", "spark:select label, score from t"]) == 3
    printed = capfd.readouterr()
    assert f"spark: Spark can't be reached at 127.0.0.1:{port}" in printed.err
    assert ("speaks TLS" in printed.err) == bool(settings)
    assert SECRET not in printed.out + printed.err


@pytest.mark.parametrize(
    "address",
    [
        f"sc://db.example:443/token={SECRET}",
        f"sc://db.example:443/;token={SECRET}=",
        f"sc:///;token={SECRET}",
        f"sc://db.example:{SECRET}",
        f"http://reader:{SECRET}@db.example",
    ],
)
def test_an_address_that_can_not_be_read_is_not_shown(
    address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark", reason="PySpark is missing: pip install 'pyspark[connect]'")
    monkeypatch.setenv("SPARK_REMOTE", address)
    assert run(["evaluate", "spark:select label, score from t"]) == 3
    printed = capfd.readouterr()
    assert "the address in SPARK_REMOTE can't be read; write sc://HOST:PORT" in printed.err
    assert SECRET not in printed.out + printed.err
