"""Columns with unlike pandas indexes are refused; nothing else has an index to look at."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.errors import InputError, LengthMismatch
from assay.store.run import KeptRows

LABELS = ["attack", "normal"] * 20
SCORES = [0.9, 0.1, 0.4, 0.6] * 10
DAYS = ["2026-03-01"] * 40
SITES = ["a", "b", "b", "a"] * 10
ROWS = np.arange(40)
TURNED = ROWS[::-1]

CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "evaluate": (lambda y, s: assay.evaluate(y, y_score=s), "y_score"),
    "decisions": (
        lambda y, s: assay.evaluate(y, y_pred=s.map(lambda v: LABELS[v < 0.5])),
        "y_pred",
    ),
    "probabilities": (
        lambda y, s: assay.evaluate(y, y_proba=pd.DataFrame({"normal": 1 - s, "attack": s})),
        "y_proba",
    ),
    "a mapping": (
        lambda y, s: assay.evaluate(y, y_proba={"normal": 1 - s, "attack": s}),
        r"y_proba\['normal'\]",
    ),
    "counts": (lambda y, s: assay.evaluate(y, y_score=SCORES, counts=s.round() + 1), "counts"),
    "weights": (lambda y, s: assay.evaluate(y, y_score=SCORES, sample_weight=s), "sample_weight"),
    "clusters": (lambda y, s: assay.evaluate(y, y_score=SCORES, clusters=s), "clusters"),
    "slices": (
        lambda y, s: assay.evaluate(y, y_score=SCORES, slices={"site": s}),
        r"slices\['site'\]",
    ),
    "a function": (assay.roc_auc, "y_score"),
    "compare": (
        lambda y, s: assay.compare(y, scores={"a": SCORES, "b": s}, resamples=20),
        r"scores\['b'\]",
    ),
    "compare, families": (
        lambda y, s: assay.compare(y, scores={"a": SCORES, "b": SCORES}, families=s, resamples=20),
        "families",
    ),
    "choose_threshold": (
        lambda y, s: assay.choose_threshold(y, y_score=s, max_fpr=0.5, resamples=20),
        "y_score",
    ),
    "holdout": (
        lambda y, s: assay.choose_threshold(
            LABELS, y_score=SCORES, max_fpr=0.5, resamples=20, holdout=(y, s)
        ),
        "holdout y_score",
    ),
    "gate": (lambda y, s: assay.gate(y, new=s, rules="new(roc_auc) >= 0.1"), "new"),
    "delong_test": (lambda y, s: assay.delong_test(y, SCORES, s), "b"),
    "monitor": (lambda y, s: assay.monitor(DAYS, y, y_score=s), "y_score"),
    "monitor, features": (
        lambda y, s: assay.monitor(
            DAYS, y, y_score=SCORES, features={"f": s}, reference={"y_score": SCORES, "f": SCORES}
        ),
        r"features\['f'\]",
    ),
    "monitor, a frame of features": (
        lambda y, s: assay.monitor(
            *(DAYS, y),
            y_score=SCORES,
            features=pd.DataFrame({"f": s}),
            reference=pd.DataFrame({"y_score": SCORES, "f": SCORES}),
        ),
        "features",
    ),
    "kept rows": (lambda y, s: KeptRows.of(y, scores={"m": s}), r"scores\['m'\]"),
    "ids of kept rows": (lambda y, s: KeptRows.of(y, scores={"m": SCORES}, ids=s), "ids"),
}


@pytest.mark.parametrize("call", CALLS)
def test_unlike_indexes_are_refused_with_the_arguments(call: str) -> None:
    function, name = CALLS[call]
    truth = pd.Series(LABELS, index=ROWS)
    function(truth, pd.Series(SCORES, index=ROWS))
    first = "holdout y_true" if call == "holdout" else "y_true"
    for index, said in ((TURNED, "the same rows in another order"), (ROWS + 1, "row 1 is 0 in")):
        with pytest.raises(InputError, match=f"indexes of {first} and {name} differ: .*{said}"):
            function(truth, pd.Series(SCORES, index=index))


def test_two_models_are_held_against_each_other() -> None:
    a, b = pd.Series(SCORES, index=ROWS), pd.Series(SCORES, index=TURNED)
    with pytest.raises(InputError, match=r"scores\['a'\] and scores\['b'\] differ"):
        assay.compare(LABELS, scores={"a": a, "b": b})
    with pytest.raises(InputError, match="a and b differ"):
        assay.wilcoxon(a, b)
    with pytest.raises(
        InputError, match=r"reference\['y_score'\] and reference\['y_true'\] differ"
    ):
        assay.monitor(DAYS, LABELS, y_score=SCORES, reference={"y_score": a, "y_true": b})
    with pytest.raises(InputError, match="new and old differ"):
        assay.gate(LABELS, new=a, old=b, rules="new-old(roc_auc) >= -1")


def test_what_is_advised_helps() -> None:
    truth, scores = pd.Series(LABELS, index=ROWS + 7), pd.Series(SCORES)
    with pytest.raises(InputError, match=r"\.reset_index\(drop=True\)"):
        assay.evaluate(truth, y_score=scores)
    evaluation = assay.evaluate(truth.reset_index(drop=True), y_score=scores)
    assert evaluation["roc_auc"] == assay.evaluate(LABELS, y_score=SCORES)["roc_auc"]
    frame = pd.DataFrame({"label": LABELS, "score": SCORES}, index=TURNED)
    assert (
        assay.evaluate(frame["label"], y_score=frame["score"])["roc_auc"] == evaluation["roc_auc"]
    )


@pytest.mark.parametrize("kind", [list, np.array, pl.Series])
def test_columns_without_an_index_are_matched_by_order(kind: Any) -> None:
    truth = pd.Series(LABELS, index=TURNED)
    assert assay.evaluate(truth, y_score=kind(SCORES))["roc_auc"].value > 0


def test_indexes_that_are_equal_in_value_are_equal() -> None:
    text = pd.Series(LABELS, index=[f"r{i}" for i in ROWS])
    assert assay.evaluate(text, y_score=pd.Series(SCORES, index=text.index.copy()))
    assert assay.evaluate(
        pd.Series(LABELS), y_score=pd.Series(SCORES, index=ROWS.astype(np.float64))
    )
    twice = [0, 0, 1, 1] * 10
    assert assay.evaluate(
        pd.Series(LABELS, index=twice), y_score=pd.Series(SCORES, index=list(twice))
    )


def test_a_length_that_differs_is_told_as_that() -> None:
    with pytest.raises(LengthMismatch, match="y_score has 3 rows"):
        assay.evaluate(pd.Series(LABELS), y_score=pd.Series(SCORES[:3]))
