"""Tests of a detector: a build whose model breaks a rule fails, and says which and why.

Run ``assay demo`` before, which leaves the predictions that are judged here.
"""

from __future__ import annotations

import pytest

import assay
from assay.pytest_plugin import assert_gate


def judged(score: str) -> assay.Evaluation:
    columns = assay.Request(label="label", score=score, slices=("family",))
    return assay.evaluate_files("assay-demo/predictions.csv", columns)


@pytest.fixture(scope="module")
def new() -> assay.Evaluation:
    return judged("score")


@pytest.fixture(scope="module")
def old() -> assay.Evaluation:
    return judged("old_score")


def test_no_family_is_forgotten(new: assay.Evaluation) -> None:
    assert_gate("new(detection_rate@family=*) >= 0.2", new)


def test_it_is_better_than_the_old_one(new: assay.Evaluation, old: assay.Evaluation) -> None:
    assert_gate("new-old(roc_auc) > 0", new, baseline=old)


def test_alarms_are_worth_reading(new: assay.Evaluation) -> None:
    rules = {
        "half are real": "new(precision@base-rate=0.001) >= 0.5",
        "they can be read": "new(alerts_per_day@volume=1000000,base-rate=0.001) <= 10000",
    }
    assert_gate(rules, new)
