"""What an evaluation looks like as text.

The texts are kept in ``golden``. After a wanted change, renew them with

    RENEW_GOLDEN=1 python -m pytest tests/evaluation/test_display.py
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from assay import Evaluation, evaluate, evaluate_counts, evaluate_model

GOLDEN = Path(__file__).parent / "golden"


def rows() -> tuple[np.ndarray, np.ndarray]:
    truth = np.array(["attack", "normal", "normal"] * 40)
    steps = np.arange(120) % 16 / 16
    return truth, np.where(truth == "attack", 0.25 + 0.75 * steps, 0.75 * steps)


def scored(**options) -> Evaluation:
    truth, scores = rows()
    return evaluate(truth, y_score=scores, **options)


def many() -> Evaluation:
    truth = np.array(["dos", "normal", "scan"] * 20)
    strength = 0.4 + 0.5 * (np.arange(60) % 7 / 7)
    table = np.repeat(((1 - strength) / 2)[:, None], 3, axis=1)
    shifted = (np.arange(60) + (np.arange(60) % 11 == 0)) % 3
    table[np.arange(60), shifted] = strength
    return evaluate(truth, y_proba=table)


class Midpoint(BaseEstimator):
    """Flags a score above the middle between the means of both classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.middle_ = np.mean([X[y == label].mean() for label in self.classes_])
        return self

    def decision_function(self, X):
        return self.middle_ - X[:, 0]


CASES = {
    "binary": scored(),
    "out_of_fold": evaluate_model(Midpoint(), rows()[1][:, None], rows()[0], cv=3),
    "binary_level": scored(level=0.9, threshold=0.25),
    "weighted": scored(sample_weight=np.linspace(0.5, 2, 120)),
    "clusters": scored(clusters=np.arange(120) // 6),
    "classes": many(),
    "decisions": evaluate(
        ["spam", "ham", "ham", "spam"] * 9, y_pred=["spam", "ham", "spam", "spam"] * 9
    ),
    "counts": evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"]),
    "classes_counts": evaluate_counts(
        matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]], labels=["A", "B", "C"]
    ),
    "nothing_flagged": evaluate_counts(tp=0, fp=0, fn=3, tn=7),
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_the_golden_one(name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    shown = f"{CASES[name]!r}\n"
    if os.environ.get("RENEW_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_every_golden_text_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


def test_a_level_is_written_as_it_was_given() -> None:
    sure = evaluate_counts(tp=30, fp=5, fn=4, tn=90, level=0.99999999)
    assert "Intervals are at 99.999999%; " in repr(sure)


def test_a_threshold_has_the_digits_that_decide() -> None:
    flagged = evaluate([0, 1], y_score=[0.12345677, 0.12345679], threshold=0.12345678)
    assert "flagged at 0.12345678 and above" in repr(flagged)


def test_many_labels_leave_out_the_matrix() -> None:
    names = [f"family{i:02}" for i in range(13)]
    wide = repr(evaluate(names, y_pred=names))
    assert "->" not in wide
    assert "->" in repr(evaluate(names[:12], y_pred=names[:12]))


def test_sums_of_weights_are_shown_without_the_noise_of_rounding() -> None:
    noisy = evaluate([0, 1, 1, 0], y_pred=[0, 1, 0, 1], sample_weight=[0.1, 0.2, 0.7, 1.1])
    for shown in (repr(noisy), noisy._repr_html_(), repr(CASES["weighted"])):
        assert not re.search(r"\d\.\d{8}", shown)
