"""A tally that grows batch by batch."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from assay import RunningTally, evaluate
from assay.errors import EmptyInput, InputError, LabelError, TallyError

SHARED = {"labels": ["normal", "attack"], "threshold": 0.5}


def rows(size: int = 100, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = np.where(generator.random(size) < 0.4, "attack", "normal")
    return truth, np.round(generator.random(size), 2)


@pytest.mark.parametrize("size", [1, 7, 33, 100])
def test_batches_add_up_to_the_whole(size: int) -> None:
    truth, scores = rows()
    running = RunningTally(**SHARED)
    for start in range(0, 100, size):
        part = slice(start, start + size)
        running = running.update(y_true=truth[part], y_score=scores[part])
    whole = evaluate(truth, y_score=scores, **SHARED)
    assert running.evaluate().tally == whole.tally
    assert running.evaluate().to_dict()["estimates"] == whole.to_dict()["estimates"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_batch_may_be_a_mapping_or_a_dataframe(make) -> None:
    truth, scores = rows(20)
    running = RunningTally(**SHARED).update(make({"y_true": truth, "y_score": scores}))
    assert running.evaluate().tally == evaluate(truth, y_score=scores, **SHARED).tally


def test_keywords_may_stand_beside_a_batch() -> None:
    truth, scores = rows(20)
    running = RunningTally(**SHARED).update({"y_true": truth}, y_score=scores)
    assert running.evaluate().tally.confusion.total == 20


def test_tally_can_be_looked_at_between_batches() -> None:
    truth, scores = rows()
    running = RunningTally(**SHARED)
    totals = []
    for start in range(0, 100, 10):
        part = slice(start, start + 10)
        running.update(y_true=truth[part], y_score=scores[part])
        totals.append(running.evaluate().tally.confusion.total)
    assert totals == list(range(10, 101, 10))
    assert running.evaluate().tally == evaluate(truth, y_score=scores, **SHARED).tally


def test_large_batch_before_small_ones_is_kept_apart_until_it_is_asked_for() -> None:
    truth, scores = rows(100)
    running = RunningTally(**SHARED).update(y_true=truth[:90], y_score=scores[:90])
    running.update(y_true=truth[90:92], y_score=scores[90:92])
    running.update(y_true=truth[92:], y_score=scores[92:])
    assert running.evaluate().tally == evaluate(truth, y_score=scores, **SHARED).tally


def test_decisions_grow_too() -> None:
    running = RunningTally(labels=["a", "b", "c"])
    running.update(y_true=["a", "b"], y_pred=["a", "c"])
    running.update(y_true=["c"], y_pred=["c"])
    assert running.evaluate()["accuracy"] == 2 / 3


def test_evaluation_takes_its_options_and_knows_its_source() -> None:
    truth, scores = rows()
    running = RunningTally(**SHARED).update(y_true=truth, y_score=scores)
    evaluation = running.evaluate(level=0.9, interval="wald", base_rate=0.01)
    assert evaluation.level == 0.9
    assert evaluation["recall"].method == "wald"
    assert evaluation.to_dict()["source"]["name"] == "batches"
    assert evaluation.to_dict()["source"]["rows_read"] == 100


def test_notes_of_all_batches_are_kept_once() -> None:
    truth, scores = rows()
    running = RunningTally(**SHARED)
    for part in (slice(50), slice(50, None)):
        running.update(y_true=truth[part], y_score=scores[part])
    notes = running.evaluate().notes
    assert len(notes) == len(set(notes))
    assert any("positive" in note for note in notes)


def test_nothing_counted_yet_is_refused() -> None:
    with pytest.raises(EmptyInput, match="nothing was counted yet"):
        RunningTally(**SHARED).evaluate()


@pytest.mark.parametrize(
    ("batch", "description"), [({"y_score": [0.5]}, "found y_score"), (None, "found nothing")]
)
def test_batch_without_labels_is_refused(batch, description: str) -> None:
    with pytest.raises(InputError, match=f"needs a column y_true; {description}"):
        RunningTally(**SHARED).update(batch)


def test_batch_that_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="a mapping or a dataframe; found int"):
        RunningTally(**SHARED).update(3)


def test_labels_need_not_be_announced() -> None:
    running = RunningTally()
    for label in ("c", "a", "b"):
        running.update(y_true=[label], y_pred=["a"])
    assert running.evaluate().tally == evaluate(list("abc"), y_pred=list("aaa")).tally


def test_label_that_was_announced_otherwise_is_refused_on_the_sum() -> None:
    running = RunningTally(**SHARED).update(y_true=["attack"], y_score=[0.5])
    running.update(y_true=["dos"], y_score=[0.5])
    with pytest.raises(LabelError, match="does not list"):
        running.evaluate()


def test_batches_of_unlike_columns_are_refused() -> None:
    running = RunningTally(labels=["normal", "attack"]).update(y_true=["attack"], y_score=[0.5])
    with pytest.raises(TallyError, match="can't be added"):
        running.update(y_true=["attack"], y_pred=["attack"])
    with pytest.raises(TallyError, match="labels are text in one part"):
        running.update(y_true=[1], y_score=[0.5])
    assert running.evaluate().tally.confusion.total == 1
