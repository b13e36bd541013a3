"""Areas under curves, which a matrix can only rule out."""

from fractions import Fraction
from itertools import permutations

import pytest

from assay.decisions.audit import audit
from assay.decisions.audit.ranking import ap_bounds, auc_bounds


def verdict(key, text, cells, **claim):
    confusion = dict(zip(("tn", "fp", "fn", "tp"), cells, strict=True))
    found = audit({"confusion": confusion, "reported": {key: text}, **claim}).claims[0].numbers[0]
    assert found.recomputed is None
    return str(found.verdict)


def test_an_area_within_the_bounds_is_undetermined() -> None:
    assert verdict("roc_auc", "0.9938", (7743, 167, 324, 6635)) == "undetermined"
    assert verdict("roc_auc", "48.12%", (480, 7430, 614, 6345)) == "undetermined"
    assert verdict("ap", "0.9823", (7743, 167, 324, 6635)) == "undetermined"


def test_an_area_that_no_scores_can_give_is_inconsistent() -> None:
    assert verdict("roc_auc", "0.4812", (480, 7430, 6345, 614)) == "inconsistent"
    assert verdict("auc", "0.90", (7743, 167, 324, 6635)) == "inconsistent"
    assert verdict("ap", "0.50", (7743, 167, 324, 6635)) == "inconsistent"
    assert verdict("ap", "1.000", (7743, 167, 324, 6635)) == "inconsistent"


def test_an_area_of_hard_decisions_is_left_open_and_told() -> None:
    confusion = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}
    found = audit({"confusion": confusion, "reported": {"auc": "0.9662"}}).claims[0].numbers[0]
    assert str(found.verdict) == "undetermined"
    assert "the decisions alone" in found.said


def test_the_bounds_are_read_to_the_printed_digits() -> None:
    # At most 1 - 1/10 * 1/10 = 0.99.
    cells = (9, 1, 1, 9)
    assert verdict("auc", "0.99", cells) == "undetermined"
    assert verdict("auc", "1.00", cells) == "inconsistent"
    assert verdict("auc", "1.0", cells) == "undetermined"


def test_measures_of_probabilities_are_ruled_out_by_their_range_alone() -> None:
    cells = (9, 1, 1, 9)
    assert verdict("log_loss", "0.3", cells) == "undetermined"
    assert verdict("log_loss", "-0.3", cells) == "inconsistent"
    assert verdict("brier", "0.2", cells) == "undetermined"
    assert verdict("roc_auc", "-0.2", cells) == "inconsistent"


def test_many_classes_and_means_of_folds_have_no_operating_point() -> None:
    claim = {"labels": ["A", "B", "C"], "matrix": [[1, 9, 0], [9, 1, 0], [0, 9, 1]]}
    found = audit({**claim, "reported": {"roc_auc.macro": "0.99"}}).claims[0].numbers[0]
    assert str(found.verdict) == "undetermined"
    cells = (480, 7430, 6345, 614)
    assert verdict("roc_auc", "0.4812", cells, aggregate="fold-mean") == "undetermined"


# -- oracles: every ranking with a given matrix ----------------------------------------------------


def rankings(cells):
    tn, fp, fn, tp = cells
    for above in set(permutations("+" * tp + "-" * fp)):
        for below in set(permutations("+" * fn + "-" * tn)):
            yield above + below


def areas(order):
    positives, negatives = order.count("+"), order.count("-")
    hits = wins = 0
    precision = Fraction(0)
    for seen, row in enumerate(order, 1):
        if row == "+":
            hits += 1
            precision += Fraction(hits, seen)
        else:
            wins += hits
    return Fraction(wins, positives * negatives), precision / positives


@pytest.mark.parametrize(
    "cells", [(2, 1, 1, 2), (3, 2, 1, 1), (1, 3, 2, 2), (2, 0, 1, 2), (3, 1, 0, 3)]
)
def test_bounds_are_those_of_all_rankings(cells) -> None:
    found = [areas(order) for order in rankings(cells)]
    aucs, aps = zip(*found, strict=True)
    bounds = auc_bounds(*cells)
    assert (bounds.low, bounds.high) == (min(aucs), max(aucs))
    bounds = ap_bounds(*cells)
    assert bounds.low <= min(aps)
    assert bounds.high >= max(aps)
    positives = cells[2] + cells[3]
    assert bounds.low >= min(aps) - Fraction(1, positives) - Fraction(1, 10**6)


def test_bounds_need_both_classes() -> None:
    assert auc_bounds(0, 0, 1, 1) is None
    assert ap_bounds(3, 3, 0, 0) is None


@pytest.mark.parametrize("scale", [1, 10**6, 10**12, 10**18, 10**30])
def test_bounds_of_large_matrices_are_never_crossed(scale) -> None:
    for cells in ((scale, 3, 2, 5), (5, scale, 2, 3), (5, 3, scale, 2), (5, 3, 2, scale)):
        bounds = ap_bounds(*cells)
        assert 0 <= bounds.low <= bounds.high <= 1
        # The worst order puts all false alarms first: no hit has a higher precision than this.
        _, fp, fn, tp = cells
        assert bounds.low <= Fraction(tp * tp, (tp + fp) * (tp + fn)) + Fraction(fn, tp + fn)
