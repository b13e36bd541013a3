"""Rows of a label that the model does not know."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import Bootstrap, Evaluation, count, evaluate
from assay.errors import InputError, LabelError, LengthMismatch, ScoreError
from assay.measures import Needs, catalogue
from assay.report import document_of
from assay.tally import from_bytes

KNOWN = ("benign", "dos", "probe")
UNKNOWN = "worm"
LABELS = (*KNOWN, UNKNOWN)


def drawn(size: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities of those that are known, in 32nds so that there are ties."""
    generator = np.random.default_rng(6)
    truth = generator.choice(4, size, p=(0.4, 0.25, 0.2, 0.15))
    evidence = generator.normal(size=(size, 3))
    known = np.flatnonzero(truth < 3)
    evidence[known, truth[known]] += 1.5
    shares = np.exp(evidence)
    table = np.floor(shares / shares.sum(axis=1, keepdims=True) * 32)
    table[:, 0] += 32 - table.sum(axis=1)
    return np.array(LABELS)[truth], table / 32


def by_pairs(truth: np.ndarray, table: np.ndarray) -> dict[str, float]:
    """Both measures by their definition, over all pairs of a known and an unknown row."""
    largest, decided = table.max(axis=1), np.array(KNOWN)[table.argmax(axis=1)]
    known, apart = np.flatnonzero(truth != UNKNOWN), np.flatnonzero(truth == UNKNOWN)
    right, surer = [], []
    for i in known:
        for j in apart:
            above = (largest[i] > largest[j]) + (largest[i] == largest[j]) / 2
            surer.append(above)
            right.append((decided[i] == truth[i]) * above)
    return {"oscr": float(np.mean(right)), "known_auc": float(np.mean(surer))}


def evaluated(truth: Any, table: Any, **options: Any) -> Evaluation:
    return evaluate(truth, y_proba=table, labels=KNOWN, unknown=UNKNOWN, **options)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12
    ).filter(lambda rows: min(r[0] for r in rows) < 3 == max(r[0] for r in rows))
)
def test_both_measures_are_what_they_are_over_all_pairs(rows: list[tuple[int, int, int]]) -> None:
    truth = np.array([LABELS[row[0]] for row in rows])
    table = np.array([(a, b, 8 - a - b) for _, a, b in rows]) / 8
    evaluation = evaluated(truth, table)
    for name, value in by_pairs(truth, table).items():
        assert evaluation[name].value == pytest.approx(value, abs=1e-12)
        assert evaluation[name].low <= evaluation[name] <= evaluation[name].high


def test_a_small_open_set_by_hand() -> None:
    table = {"a": [0.8, 0.6, 0.2, 0.5], "b": [0.1, 0.3, 0.5, 0.4], "c": [0.1, 0.1, 0.3, 0.1]}
    evaluation = evaluate(["a", "b", "b", "new"], y_proba=table, unknown="new")
    # Surer than the unknown row, of 0.5: the first, the second, and by half the third.
    assert evaluation["known_auc"].value == pytest.approx(2.5 / 3)
    # The second is taken for a.
    assert evaluation["oscr"].value == pytest.approx(1.5 / 3)


def test_all_other_measures_are_of_known_rows_alone() -> None:
    truth, table = drawn()
    known = truth != UNKNOWN
    whole, alone = evaluated(truth, table), evaluate(truth[known], y_proba=table[known])
    opened = {m.name for m in catalogue.CATALOGUE if m.needs is Needs.OPEN_SET}
    assert opened == {"oscr", "known_auc"}
    for key in set(whole) - opened:
        assert repr(whole[key]) == repr(alone[key]), key
        assert (whole[key].method, whole[key].n) == (alone[key].method, alone[key].n)
    assert whole["oscr"].n == 400
    assert alone["oscr"].undefined.startswith("it needs rows of a label that the model does not")
    (note,) = (note for note in whole.notes if UNKNOWN in note)
    assert note.startswith(f"{(~known).sum()} rows are labelled 'worm'")
    assert f"of those {known.sum()} alone" in note


@pytest.mark.parametrize("name", ["oscr", "known_auc"])
def test_the_interval_is_that_of_a_bootstrap_by_pairs(name: str) -> None:
    """Both ends within a fifth of the width, of 200 resamples."""
    truth, table = drawn()
    generator = np.random.default_rng(3)
    drawn_values = []
    for _ in range(200):
        rows = generator.integers(0, len(truth), len(truth))
        drawn_values.append(fast(truth[rows], table[rows])[name])
    low, high = np.percentile(drawn_values, [2.5, 97.5])
    for interval in (None, Bootstrap(resamples=300)):
        estimate = evaluated(truth, table, interval=interval)[name]
        assert [estimate.low, estimate.high] == pytest.approx([low, high], abs=(high - low) / 5)
    in_clusters = evaluated(truth, table, clusters=np.arange(400))[name]
    assert in_clusters.method == "cluster delta"
    assert [in_clusters.low, in_clusters.high] == pytest.approx([low, high], abs=(high - low) / 5)


def fast(truth: np.ndarray, table: np.ndarray) -> dict[str, float]:
    """The same as ``by_pairs``, at once."""
    largest, known = table.max(axis=1), truth != UNKNOWN
    right = np.array(KNOWN)[table.argmax(axis=1)] == truth
    gap = largest[known][:, None] - largest[~known][None, :]
    above = (gap > 0) + (gap == 0) / 2
    return {"oscr": float((right[known][:, None] * above).mean()), "known_auc": float(above.mean())}


def test_decisions_may_be_given_beside_probabilities() -> None:
    truth, table = drawn()
    # A model that rejects nothing and is always right about what it knows.
    said = np.where(truth == UNKNOWN, "dos", truth)
    evaluation = evaluated(truth, table, y_pred=said)
    assert evaluation["oscr"].value == evaluation["known_auc"].value
    assert evaluation["accuracy"].value == 1


def test_counts_clusters_slices_and_shards_are_as_ever() -> None:
    truth, table = drawn(60)
    counts = np.arange(60) % 3
    sites = np.where(np.arange(60) % 2, "x", "y")
    repeated = np.repeat(np.arange(60), counts)
    options = {"labels": KNOWN, "unknown": UNKNOWN}
    by_count = count(truth, y_proba=table, counts=counts, slices={"site": sites}, **options)
    by_rows = count(
        truth[repeated], y_proba=table[repeated], slices={"site": sites[repeated]}, **options
    )
    assert Evaluation(by_count).tally == Evaluation(by_rows).tally
    assert from_bytes(by_count.to_bytes()) == by_count
    halves = [count(truth[i::2], y_proba=table[i::2], **options) for i in (0, 1)]
    assert halves[0] + halves[1] == count(truth, y_proba=table, **options)
    # A part of the data may hold no row of the unknown label, or no other.
    apart = truth == UNKNOWN
    parts = [count(truth[at], y_proba=table[at], **options) for at in (apart, ~apart)]
    assert parts[0] + parts[1] == count(truth, y_proba=table, **options)
    assert Evaluation(parts[0])["oscr"].undefined == "there are no rows of a known label"
    assert Evaluation(parts[1])["oscr"].undefined == "there are no rows of the unknown label"


def test_the_report_shows_them_only_for_an_open_set() -> None:
    truth, table = drawn()

    def shown(evaluation: Evaluation) -> set[str]:
        (section,) = (
            s for s in document_of(evaluation).report.sections if s.title == "Advanced results"
        )
        return {row[0] for row in section.blocks[0].rows}

    opened = {"open-set classification rate", "ROC AUC of known against unknown"}
    assert opened <= shown(evaluated(truth, table))
    known = truth != UNKNOWN
    assert not opened & shown(evaluate(truth[known], y_proba=table[known]))


def test_what_is_no_open_set_is_refused() -> None:
    truth, table = drawn(60)
    frame = pl.DataFrame(dict(zip(KNOWN, table.T, strict=True)))
    with pytest.raises(LabelError, match="unknown='botnet' does not occur; the labels are"):
        evaluate(truth, y_proba=table, unknown="botnet")
    with pytest.raises(LabelError, match="there is a probability of 'dos', so the model knows it"):
        evaluate(truth, y_proba=frame, unknown="dos")
    with pytest.raises(LabelError, match="labels= lists 'worm'"):
        evaluate(truth, y_proba=table, unknown=UNKNOWN, labels=LABELS)
    with pytest.raises(ScoreError, match="unknown='worm' ranks rows by the probabilities"):
        evaluate(truth, y_pred=truth, unknown=UNKNOWN)
    with pytest.raises(InputError, match="give unknown= or positive=, not both"):
        evaluate(truth, y_proba=table, unknown=UNKNOWN, positive="dos")
    with pytest.raises(LengthMismatch):
        evaluate(truth[:50], y_proba=table, unknown=UNKNOWN)
    two = {"normal": [0.9, 0.2, 0.5], "attack": [0.1, 0.8, 0.5]}
    with pytest.raises(LabelError, match="three or more known labels; found 'attack', 'normal'"):
        evaluate(["normal", "attack", "worm"], y_proba=two, unknown="worm")
    off = table.copy()
    off[np.flatnonzero(truth == UNKNOWN)[0]] *= 2
    with pytest.raises(ScoreError):
        evaluated(truth, off)


def test_the_functions_of_both_measures_take_the_unknown_label() -> None:
    truth, table = drawn()
    whole = evaluated(truth, table)
    for name in ("oscr", "known_auc"):
        estimate = getattr(assay, name)(truth, table, labels=KNOWN, unknown=UNKNOWN)
        assert repr(estimate) == repr(whole[name])
    assert math.isnan(assay.oscr(truth[truth != UNKNOWN], table[truth != UNKNOWN]))
