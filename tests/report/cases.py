"""Evaluations of many kinds, for every face to show."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from assay import Evaluation, count, evaluate, evaluate_counts
from assay.engines import confusion_at
from assay.evaluation.deployment import Unlabelled
from assay.report import Document, document_of
from assay.tally import Resolved, ScoreTally

ROWS = 240


def _columns() -> dict[str, list]:
    """Rows that need no generator, so that they are the same everywhere."""
    rows = range(ROWS)
    truth = ["attack" if i % 5 < 2 else "normal" for i in rows]
    score = [
        round(0.35 * (label == "attack") + (i * 37 % 65) / 100, 2) for i, label in enumerate(truth)
    ]
    kinds = ["dos"] * 8 + ["probe"] * 3 + ["u2r"]
    family = [kinds[i * 7 % 12] if label == "attack" else "none" for i, label in enumerate(truth)]
    return {
        "y_true": truth,
        "y_score": score,
        "family": family,
        "os": [("linux", "mac", "win")[i % 7 % 3] for i in rows],
        "day": [f"2024-03-{1 + i * i % 11 % 5:02}" for i in rows],
    }


def binary() -> Evaluation:
    columns = _columns()
    slices = {name: columns[name] for name in ("family", "os")}
    tally = count(
        columns["y_true"],
        y_score=columns["y_score"],
        slices=slices,
        times=columns["day"],
        labels=["normal", "attack"],
    )
    return Evaluation(
        tally,
        base_rate=[0.001, 0.01],
        volume=1_000_000,
        family="family",
        time="day",
        top=20,
        source={"name": "flows.csv", "rows_read": ROWS},
    )


def classes() -> Evaluation:
    names = ["dos", "normal", "scan"]
    code = np.array([0, 0, 0, 1, 1, 1, 1, 1, 2, 2] * 6)
    row = np.arange(60)
    decided = np.where(row % 11 == 0, (code + 1) % 3, code)
    decided = np.where(row % 19 == 8, 1, decided)
    strength = 0.4 + 0.5 * (row % 7 / 7)
    table = np.repeat(((1 - strength) / 2)[:, None], 3, axis=1)
    table[row, decided] = strength
    truth = [names[i] for i in code]
    return evaluate(truth, y_proba=table, slices={"site": ["a", "b", "b", "c"] * 15})


def _scored(**options) -> Evaluation:
    columns = _columns()
    return evaluate(columns["y_true"], y_score=columns["y_score"], **options)


def _undecided() -> Evaluation:
    columns = _columns()
    logits = [8 * score - 4 for score in columns["y_score"]]
    slices = {name: columns[name] for name in ("family", "os")}
    return evaluate(columns["y_true"], y_score=logits, slices=slices, base_rate=0.01, volume=1000)


def _kept(bits: int) -> Evaluation:
    """Scores kept in cells of so few bits that bounds are wide."""
    columns = _columns()
    truth = np.array([label == "attack" for label in columns["y_true"]], np.uint8)
    scores = np.array(columns["y_score"])
    exact = ScoreTally.of_rows(("normal", "attack"), scores, truth)
    tally = Resolved(
        labels=("normal", "attack"),
        positive="attack",
        confusion=confusion_at(exact, 0.5),
        threshold=0.5,
        kind="probability",
        scores=(exact.to_grid(bits),),
    )
    return Evaluation(tally, source={"name": "flows.csv", "rows_read": ROWS})


def _partly(**options) -> Evaluation:
    labels = ["normal", "attack"]
    tally = count(
        ["attack"] * 30 + ["normal"] * 10,
        y_pred=["attack"] * 40,
        labels=labels,
        positive="attack",
        **options,
    )
    return Evaluation(tally, unlabelled=Unlabelled(flagged=5, not_flagged=955))


def _sampled() -> Evaluation:
    tally = count(
        ["attack"] * 30 + ["normal"] * 10 + ["attack"] * 2 + ["normal"] * 48,
        y_pred=["attack"] * 40 + ["normal"] * 50,
        sample_weight=[1.0] * 40 + [19.2] * 50,
        labels=["normal", "attack"],
    )
    return Evaluation(tally, unlabelled=Unlabelled(flagged=0, not_flagged=910))


def _wide() -> Evaluation:
    names = [f"family{i:02}" for i in range(24)]
    wrong = {*names[::9]}
    said = [names[(i + (name in wrong)) % 24] for i, name in enumerate(names)]
    return evaluate(names * 3, y_pred=said * 3, slices={"id": [str(i) for i in range(72)]})


CASES: dict[str, Callable[[], Evaluation]] = {
    "binary": binary,
    "classes": classes,
    "nothing_flagged": lambda: evaluate_counts(tp=0, fp=0, fn=3, tn=7, labels=["normal", "attack"]),
    "counts": lambda: evaluate_counts(
        tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"]
    ),
    "worked_example": lambda: evaluate_counts(
        matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]], labels=["A", "B", "C"]
    ),
    "no_rows": lambda: evaluate_counts(tp=0, fp=0, fn=0, tn=0),
    "no_rows_of_three": lambda: evaluate_counts(matrix=[[0, 0, 0]] * 3),
    "perfect": lambda: evaluate_counts(tp=11, fp=0, fn=0, tn=40),
    "huge": lambda: evaluate_counts(tp=10**18, fp=3, fn=10**17, tn=10**19),
    "one_class": lambda: evaluate([1, 1, 1], y_score=[0.1, 0.5, 0.9], labels=[0, 1]),
    "bare_scores": lambda: evaluate([0, 1, 0, 1], y_score=[-3, 5, 1, 8], threshold=2),
    "undecided": _undecided,
    "grid": lambda: _kept(4),
    "level": lambda: _scored(level=0.9, threshold=0.25),
    "weighted": lambda: _scored(sample_weight=np.linspace(0.5, 2, ROWS)),
    "clustered": lambda: _scored(clusters=np.arange(ROWS) // 6),
    "only_in_decisions": lambda: evaluate(["a", "b", "a"], y_pred=["a", "c", "b"]),
    "alerts_labelled": _partly,
    "sample_labelled": _sampled,
    "many_classes": _wide,
}


@cache
def evaluation(name: str) -> Evaluation:
    """The evaluation of this name, made once."""
    return CASES[name]()


@cache
def document(name: str) -> Document:
    """Its document."""
    return document_of(evaluation(name))
