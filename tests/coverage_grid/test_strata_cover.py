"""A small version of what `make strata` measures at length: six populations, and two hard ones."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from assay.measures import RECALL

STUDY = Path(__file__).parents[2] / "benchmarks" / "label_less.py"
SAMPLES, LABELS = 400, 10_000


@pytest.fixture(scope="module")
def study() -> ModuleType:
    spec = spec_from_file_location("label_less", STUDY)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["label_less"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_intervals_cover_and_strata_save_labels(study: ModuleType, number: int) -> None:
    coverages = list(study.study(study.POPULATIONS[number], LABELS, SAMPLES, seed=1))
    for outcome in coverages:
        if outcome.way == "fay-feuer":
            # By chance alone 95% of 400 are less than 92.2% once in 100 times.
            assert outcome.covered >= 0.922, outcome
    recall = {outcome.way: outcome for outcome in coverages if outcome.measure == RECALL.name}
    assert recall["fay-feuer"].width <= 0.65 * recall["at random"].width
    assert recall["fay-feuer"].error <= 0.5 * recall["at random"].error
    assert recall["tiwari"].width <= recall["fay-feuer"].width


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2))
def test_where_strata_can_not_help_intervals_cover_all_the_same(
    study: ModuleType, number: int
) -> None:
    coverage = study.study(study.HARD[number], LABELS, SAMPLES, seed=1)
    recall = {outcome.way: outcome for outcome in coverage if outcome.measure == RECALL.name}
    assert recall["fay-feuer"].covered >= 0.96
    # Weights alone, without the strata, see no attack that no drawn row showed.
    assert recall["weights alone"].covered < 0.94


@pytest.mark.slow
def test_two_populations_of_a_hundred_thousand_rows_are_covered(study: ModuleType) -> None:
    for population in (study.POPULATIONS[0], study.HARD[0]):
        coverage = study.study(population, 1000, 60, seed=2, size=100_000)
        covered = [outcome.covered for outcome in coverage if outcome.way == "fay-feuer"]
        assert min(covered) >= 0.87
