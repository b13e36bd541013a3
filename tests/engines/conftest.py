"""Engines that tests start once."""

from collections.abc import Iterator
from typing import Any

import pytest

from . import frameworks


@pytest.fixture(scope="session")
def sail() -> Iterator[Any]:
    """A Spark session on Sail, which stands for Spark."""
    with frameworks.sail() as session:
        yield session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Spark itself."""
    with frameworks.spark() as session:
        yield session


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """Ray on this machine."""
    with frameworks.ray() as library:
        yield library
