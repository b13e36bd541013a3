"""A small version of what `make mistakes` measures."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"
CLAIMS = 6


@pytest.fixture(scope="module")
def claims(benchmark_module):
    return benchmark_module("injected.claims")


def kinds() -> list[str]:
    """The names of the kinds, read without importing what the tests import themselves."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return [kind.name for kind in importlib.import_module("injected.kinds").KINDS]
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", kinds())
def test_injected_mistake_is_among_the_first_two_explanations(claims, name) -> None:
    kind = next(kind for kind in claims.KINDS if kind.name == name)
    measurement = claims.measure(kind, CLAIMS, seed=7)
    assert measurement.flagged >= CLAIMS / 2
    assert measurement.named >= 0.9


@pytest.mark.slow
def test_random_digits_are_rarely_explained(claims) -> None:
    numbers, explained = claims.accidents(30, seed=7)
    assert numbers > 25
    assert explained <= 0.1 * numbers
