"""Results travel to other processes and are copied: joblib, multiprocessing, copy.deepcopy.

They come back with the same numbers, whatever was computed before they left.
"""

import copy
import datetime as dt
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.inference.fields import Result
from assay.measures import CATALOGUE, find
from assay.report import document_of

ROWS = 120
TRUTH = np.where(np.arange(ROWS) % 3 == 0, "attack", "normal")
GENERATOR = np.random.default_rng(3)
SCORES = {
    name: np.clip((TRUTH == "attack") * 0.3 + GENERATOR.random(ROWS) * 0.6, 0, 1)
    for name in ("old", "new")
}
CLASSES = np.arange(ROWS) % 3
TABLE = GENERATOR.dirichlet(np.ones(3), ROWS)
HOSTS = np.arange(ROWS) % 12
TIMES = [dt.datetime(2026, 11, 1, tzinfo=dt.UTC) + dt.timedelta(hours=i) for i in range(ROWS)]
FRAME = {"label": TRUTH, "score": SCORES["new"]}
CLAIM = {"confusion": {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}}
ATTACK = {"attack": "scan", "start": "2026-11-16T10:00Z", "end": "2026-11-16T10:05Z"}
FOLDS = {
    "model": ["a"] * 5 + ["b"] * 5,
    "fold": [0, 1, 2, 3, 4] * 2,
    "accuracy": GENERATOR.random(10),
}

EVALUATIONS: dict[str, Callable[[], assay.Evaluation]] = {
    "scores": lambda: assay.evaluate(TRUTH, y_score=SCORES["new"]),
    "decisions": lambda: assay.evaluate(TRUTH, y_pred=TRUTH[::-1]),
    "classes": lambda: assay.evaluate(CLASSES, y_proba=TABLE, clusters=HOSTS),
    "counts": lambda: assay.evaluate_counts(tp=5, fp=2, fn=1, tn=9),
    "weights": lambda: assay.evaluate(TRUTH, y_score=SCORES["new"], sample_weight=1.0 + HOSTS),
    "a grid": lambda: assay.evaluate(FRAME, label="label", score="score", mode="grid"),
    "all options": lambda: assay.evaluate(
        TRUTH,
        y_score=SCORES["new"],
        clusters=HOSTS,
        slices={"host": HOSTS % 2},
        times=TIMES,
        period="day",
        top=3,
        base_rate=[0.01],
        volume=1000,
        cost_fp=1,
        cost_fn=10,
        interval=assay.Bootstrap(resamples=20),
    ),
}
RESULTS: dict[str, Callable[[], Any]] = {
    **EVALUATIONS,
    "Comparison": lambda: assay.compare(TRUTH, scores=SCORES, resamples=20),
    "Comparison at a rule": lambda: assay.compare(
        TRUTH, scores=SCORES, resamples=20, at="max-fpr=0.2"
    ),
    "Comparison of folds": lambda: assay.compare_folds(FOLDS),
    "Choice": lambda: assay.choose_threshold(
        TRUTH, y_score=SCORES["new"], max_fpr=0.2, resamples=20
    ),
    "Gate": lambda: assay.gate(
        TRUTH,
        new=SCORES["new"],
        old=SCORES["old"],
        rules=["new(roc_auc) >= 0.5", "new-old(recall@max-fpr=0.2) >= -0.1"],
        resamples=40,
    ),
    "Audit": lambda: assay.audit(CLAIM | {"reported": {"accuracy": "96.70%", "mcc": "0.9333"}}),
    "Incidents": lambda: assay.incidents(
        alerts=pl.DataFrame({"time": [1794823230_000000, 1794909600_000000]}), schedule=[ATTACK]
    ),
    "Monitor": lambda: assay.monitor(
        TIMES, TRUTH, y_score=SCORES["new"], rules=["recall >= 0.1"], threshold=0.5
    ),
    "Plan": lambda: assay.plan(max_fpr=0.01),
    "StratifiedSample": lambda: assay.sample(FRAME, score="score", labels=20),
    "Significance": lambda: assay.delong_test(TRUTH, *SCORES.values(), positive="attack"),
    "Snapshot": lambda: assay.evaluate(TRUTH, y_score=SCORES["new"]).snapshot(),
}
TALLIES: dict[str, Callable[[], Any]] = {
    "Tally": lambda: assay.count(TRUTH, y_score=SCORES["new"], clusters=HOSTS),
    "Resolved": lambda: assay.evaluate(TRUTH, y_score=SCORES["new"], clusters=HOSTS).tally,
    "Confusion": lambda: assay.evaluate(TRUTH, y_score=SCORES["new"]).confusion,
}

WAYS = {
    "pickle": lambda result: pickle.loads(pickle.dumps(result)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def text_of(result: Any) -> str:
    """All that a result says; documents hold when they were made."""
    if isinstance(result, assay.Significance):
        return repr(result)
    plain = json.loads(document_of(result).to_json())
    plain.pop("provenance", None)
    return json.dumps(plain)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("made", RESULTS)
def test_a_result_comes_back_with_the_same_numbers(made: str) -> None:
    result = RESULTS[made]()
    copies = [way(result) for way in WAYS.values()]
    told = text_of(result)
    # And with all that was computed in between.
    copies += [way(result) for way in WAYS.values()]
    for again in copies:
        assert type(again) is type(result)
        assert text_of(again) == told


@pytest.mark.parametrize("made", EVALUATIONS)
def test_an_evaluation_comes_back_as_a_mapping_of_the_same_estimates(made: str) -> None:
    evaluation = EVALUATIONS[made]()
    kept = evaluation["mcc"]
    for way in WAYS.values():
        again = way(evaluation)
        assert list(again) == list(evaluation)
        assert repr(again["mcc"]) == repr(kept)
        assert [repr(again[key]) for key in again] == [repr(evaluation[key]) for key in evaluation]
        assert again.findings == evaluation.findings


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", TALLIES)
def test_a_tally_comes_back_equal(made: str, way: str) -> None:
    tally = TALLIES[made]()
    assert WAYS[way](tally) == tally


def test_a_running_tally_goes_on_where_it_was() -> None:
    running = assay.RunningTally(threshold=0.5).update(y_true=TRUTH, y_score=SCORES["new"])
    for way in ("pickle", "deepcopy"):
        again = WAYS[way](running).update(y_true=TRUTH, y_score=SCORES["old"])
        assert again.tally.rows == 2 * ROWS
    assert running.tally.rows == ROWS


@pytest.mark.parametrize("measure", CATALOGUE, ids=lambda measure: measure.name)
def test_a_measure_of_the_catalogue_is_itself_wherever_it_travels(measure: assay.Measure) -> None:
    for way in WAYS.values():
        assert way(measure) is measure


def test_a_measure_beside_the_catalogue_comes_back_equal() -> None:
    for way in WAYS.values():
        assert way(find("f3.5")) == find("f3.5")


def test_every_public_result_is_among_those_that_are_tried() -> None:
    public = [value for value in vars(assay).values() if isinstance(value, type)]
    public += [getattr(assay, name) for name in dir(assay) if name[0].isupper()]
    tried = {type(make()) for make in RESULTS.values()}
    assert {kind for kind in public if issubclass(kind, Result)} <= tried
