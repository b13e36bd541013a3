"""The app, started once for the tests that change nothing."""

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="the web app needs the extra web")

import assay

from .harness import Harness, recorded

HOSTILE = "<script>alert(1)</script>\u202e&\"'"


@pytest.fixture(scope="session")
def app() -> Iterator[Harness]:
    with Harness() as harness:
        yield harness


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[assay.Store]:
    with assay.Store(tmp_path_factory.mktemp("store") / "runs.db") as store:
        for shift in (0.0, 0.05, 0.1):
            recorded(store, shift=shift)
        recorded(store, name=HOSTILE.replace("\u202e", ""))
        yield store


@pytest.fixture(scope="session")
def kept(store: assay.Store) -> Iterator[Harness]:
    with Harness(store) as harness:
        yield harness
