"""Models over six data sets: R's Friedman, Tukey and Wilcoxon distributions, and scipy's."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay import compare_folds, friedman, nemenyi
from assay.decisions.compare.comparison import Comparison
from assay.inference.rank_tests import (
    iman_davenport,
    mean_rank_tests,
    mean_ranks,
    signed_rank_posterior,
    wilcoxon,
)

VALUES = json.loads((Path(__file__).parent / "r" / "data_sets.json").read_text())
MODELS, OVER = VALUES["models"], VALUES["over"]
EXACT = {"rel": 1e-9, "abs": 1e-12}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare_folds(VALUES["folds"])


def p_of(comparison: Comparison, test: str) -> list[Any]:
    by_pair = {t.models: t for t in comparison.tests if t.test == test}
    return [by_pair[pair] for pair in itertools.combinations(MODELS, 2)]


def test_folds_give_the_ranks_and_p_of_r(comparison: Comparison) -> None:
    every = {t.test: t for t in comparison.tests if len(t.models) > 2}
    ranks = every["friedman"].table["mean_ranks"]
    assert [ranks[model] for model in MODELS] == pytest.approx(OVER["mean_ranks"], **EXACT)
    for name in ("friedman", "iman_davenport"):
        expected = (OVER[name]["statistic"], OVER[name]["p"])
        assert (every[name].statistic, every[name].p) == pytest.approx(expected, **EXACT)
    pairs = p_of(comparison, "nemenyi")
    # The studentised range is integrated by either, to about eight digits.
    assert [t.p for t in pairs] == pytest.approx(OVER["nemenyi"], rel=1e-6, abs=1e-9)
    critical = pairs[0].table["critical_difference"]
    assert critical == pytest.approx(OVER["critical_difference"], rel=1e-6)
    pairs = p_of(comparison, "mean_ranks")
    assert [t.p for t in pairs] == pytest.approx(OVER["raw"], **EXACT)
    assert [t.p_adjusted for t in pairs] == pytest.approx(OVER["holm"], **EXACT)


def test_tied_values_give_the_ranks_and_p_of_r() -> None:
    table, over = np.array(VALUES["tied"]["means"]), VALUES["tied"]["over"]
    assert mean_ranks(table).tolist() == pytest.approx(over["mean_ranks"], **EXACT)
    for test, name in ((friedman, "friedman"), (iman_davenport, "iman_davenport")):
        significance = test(table, names=MODELS)
        assert significance.p == pytest.approx(over[name]["p"], **EXACT)
    p_values = [t.p for t in nemenyi(table)]
    assert p_values == pytest.approx(over["nemenyi"], rel=1e-6, abs=1e-9)
    assert [t.p_adjusted for t in mean_rank_tests(table)] == pytest.approx(over["holm"], **EXACT)


def test_two_models_are_tested_as_r_does() -> None:
    table = np.array(VALUES["means"])
    pairs = list(itertools.combinations(range(len(MODELS)), 2))
    compared = 0
    for (i, j), p in zip(pairs, OVER["wilcoxon"], strict=True):
        sizes = np.abs(np.round(table[:, j] - table[:, i], 12))
        # R is exact only without ties.
        if len(set(sizes)) == len(sizes):
            assert wilcoxon(table[:, i], table[:, j]).p == pytest.approx(p, **EXACT)
            compared += 1
    assert compared >= 8


def test_scipy_agrees() -> None:
    table = np.array(VALUES["means"])
    expected = stats.friedmanchisquare(*table.T)
    significance = friedman(table)
    assert (significance.statistic, significance.p) == pytest.approx(tuple(expected), **EXACT)
    random = np.random.default_rng(1)
    for size in (6, 20, 50, 80):
        a = random.normal(size=size).round(3)
        b = (a + random.normal(0.3, 1, size)).round(3)
        gaps = np.round(b - a, 12)
        expected = stats.wilcoxon(gaps, method="exact" if size <= 50 else "approx", correction=True)
        if len(set(np.abs(gaps))) == size:
            assert wilcoxon(a, b).p == pytest.approx(expected.pvalue, **EXACT)


@pytest.mark.parametrize(("i", "j"), [(0, 1), (0, 4), (2, 3)])
def test_chances_are_those_of_the_dirichlet_model_drawn_one_by_one(i: int, j: int) -> None:
    """Gamma weights, pairs summed in a loop: nothing is shared with the code under test."""
    table, rope = np.array(VALUES["means"]), 0.01
    gaps = [0.0, *(table[:, j] - table[:, i]).tolist()]
    random = np.random.default_rng(99)
    wins = [0, 0, 0]
    draws = 4000
    for _ in range(draws):
        drawn = [random.gamma(0.5), *(random.gamma(1.0) for _ in gaps[1:])]
        total = sum(drawn)
        shares = [0.0, 0.0, 0.0]
        for one, other in itertools.product(range(len(gaps)), repeat=2):
            mean = (gaps[one] + gaps[other]) / 2
            side = 0 if mean < -rope else 2 if mean > rope else 1
            shares[side] += drawn[one] * drawn[other] / total**2
        wins[shares.index(max(shares))] += 1
    posterior = signed_rank_posterior(table[:, i], table[:, j], rope=rope)
    assert list(posterior) == pytest.approx([win / draws for win in wins], abs=0.03)
    assert sum(posterior) == pytest.approx(1)
