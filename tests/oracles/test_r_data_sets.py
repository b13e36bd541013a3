"""Models over six data sets: R's Friedman, Tukey and Wilcoxon distributions, and scipy's."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.inference import (
    friedman,
    iman_davenport,
    mean_rank_tests,
    mean_ranks,
    nemenyi,
    wilcoxon,
)

VALUES = json.loads((Path(__file__).parent / "r" / "data_sets.json").read_text())
MODELS, OVER = VALUES["models"], VALUES["over"]
EXACT = {"rel": 1e-9, "abs": 1e-12}


def test_means_give_the_ranks_and_p_of_r() -> None:
    table = np.array(VALUES["means"])
    assert mean_ranks(table).tolist() == pytest.approx(OVER["mean_ranks"], **EXACT)
    for test, name in ((friedman, "friedman"), (iman_davenport, "iman_davenport")):
        significance, expected = test(table, names=MODELS), OVER[name]
        both = significance.statistic, significance.p
        assert both == pytest.approx((expected["statistic"], expected["p"]), **EXACT)
    ranges = nemenyi(table)
    # The studentised range is integrated by either, to about eight digits.
    assert [t.p for t in ranges] == pytest.approx(OVER["nemenyi"], rel=1e-6, abs=1e-9)
    critical = ranges[0].table["critical_difference"]
    assert critical == pytest.approx(OVER["critical_difference"], rel=1e-6)
    pairs = mean_rank_tests(table)
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
