"""The app, started once for the tests that change nothing."""

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="the web app needs the extra web")

from .harness import Harness


@pytest.fixture(scope="session")
def app() -> Iterator[Harness]:
    with Harness() as harness:
        yield harness
