"""Thresholds from tallies alone: of any parts, and however scores are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay import choose_threshold, curves, engines
from assay.decisions.threshold import Choice
from assay.decisions.threshold.choose import EDGES, choose_of_tallies
from assay.decisions.threshold.sweep import ScoredTallies, ThresholdSweep, tallies_of, thinned
from assay.engines.arrays import resolved_arrays
from assay.errors import CountError, InputError, LabelError
from assay.inference import Bootstrap
from assay.sources import code_arrays
from assay.tally import Resolved, ScoreTally, from_bytes
from assay.tally.counters import CutPoints, count_cuts
from assay.tally.keeping import Cuts, Grid

LABELS = ("normal", "attack")
SIDES = {"positive": None, "negative": None, "labels": None}


def rows_of(size: int = 3000, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = (rng.random(size) < 0.2).astype(np.uint8)
    return truth, 1 / (1 + np.exp(-rng.normal(size=size) - 2 * truth))


def resolved_of(scores: ScoreTally) -> Resolved:
    return Resolved(
        LABELS,
        "attack",
        engines.confusion_at(scores, 0.5),
        threshold=0.5,
        kind="probability",
        scores=(scores,),
    )


def chosen(
    tallies: ScoredTallies,
    resamples: int = 30,
    holdout: ScoredTallies | None = None,
    **asked: Any,
) -> Choice:
    method = Bootstrap(resamples=resamples)
    return choose_of_tallies(tallies, asked, family="family", method=method, holdout=holdout)


ASKED = (
    {"max_fpr": 0.05},
    {"max_far": 0.2},
    {"min_dr": 0.8},
    {"max_alerts": 100.0, "volume": 1000.0, "base_rate": 0.1},
    {"cost_fp": 1.0, "cost_fn": 5.0},
    {},
)


@settings(max_examples=20)
@given(parts=st.integers(1, 6), seed=st.integers(0, 99), asked=st.sampled_from(ASKED))
def test_parts_that_were_added_give_the_same_choice(
    parts: int, seed: int, asked: dict[str, float]
) -> None:
    truth, scores = rows_of(400)
    order = np.random.default_rng(seed).permutation(400)
    each = zip(
        np.array_split(truth[order], parts), np.array_split(scores[order], parts), strict=True
    )
    added = [resolved_of(ScoreTally.of_rows(LABELS, s, t)) for t, s in each]
    whole = chosen(
        ScoredTallies(resolved_of(ScoreTally.of_rows(LABELS, scores, truth))), 5, **asked
    )
    # From bytes, as parts come from other machines.
    merged = from_bytes(Resolved.merge(added).to_bytes())
    assert chosen(ScoredTallies(merged), 5, **asked).to_dict() == whole.to_dict()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("mode", [Grid(4), Grid(12), Cuts()], ids=str)
def test_counts_at_the_thresholds_of_a_mode_are_those_of_the_rows(
    mode: Grid | Cuts, asked: dict[str, float]
) -> None:
    truth, scores = rows_of()
    tally = ScoreTally.of_rows(LABELS, scores, truth)
    if isinstance(mode, Grid):
        kept = tally.to_grid(mode.bits)
    else:
        cuts = np.unique(scores[truth == 1])
        kept = count_cuts(LABELS, CutPoints(LABELS[0], cuts), scores, truth)
    assert kept.size < tally.size
    choice = chosen(ScoredTallies(resolved_of(kept)), **asked)
    points = [p for p in (choice.empirical, choice.guaranteed, *choice.candidates) if p is not None]
    assert points
    for point in points:
        assert point.threshold is not None
        flagged = scores >= point.threshold
        assert point["recall"].value == (flagged & (truth == 1)).sum() / truth.sum()
        false = (flagged & (truth == 0)).sum() / (truth == 0).sum()
        assert point["false_positive_rate"].value == false
    assert any(EDGES[mode.name] in note for note in choice.notes)


def test_cuts_choose_what_all_scores_choose() -> None:
    truth, scores = rows_of()
    cuts = np.unique(scores[truth == 1])
    kept = count_cuts(LABELS, CutPoints(LABELS[0], cuts), scores, truth)
    exact = ScoreTally.of_rows(LABELS, scores, truth)
    # These are met at the scores of attacks.
    for asked in ({"min_dr": 0.8}, {"max_far": 0.2}, {"cost_fp": 1.0, "cost_fn": 5.0}):
        one, other = (chosen(ScoredTallies(resolved_of(tally)), **asked) for tally in (kept, exact))
        assert one.empirical is not None
        assert other.empirical is not None
        assert one.empirical.threshold == other.empirical.threshold


def test_all_scores_kept_are_told_and_say_nothing_of_cells() -> None:
    truth, scores = rows_of()
    choice = chosen(ScoredTallies(resolved_of(ScoreTally.of_rows(LABELS, scores, truth))))
    assert [n for n in choice.notes if "mode" in n] == ["mode exact: every distinct score was kept"]


def test_a_holdout_that_is_kept_otherwise_says_so() -> None:
    truth, scores = rows_of()
    exact = ScoreTally.of_rows(LABELS, scores, truth)
    rows, cells = (ScoredTallies(resolved_of(each)) for each in (exact, exact.to_grid(12)))
    for holdout, told in ((rows, []), (cells, ["grid"])):
        choice = chosen(rows, holdout=holdout, max_fpr=0.1)
        assert choice.mode == "exact"
        assert choice.holdout["mode"] == (told or ["exact"])[0]
        others = [note for note in choice.notes if note.startswith("holdout: mode ")]
        assert [note.split()[2].rstrip(":") for note in others] == told


def test_float32_scores_are_chosen_among_as_they_are() -> None:
    truth, scores = rows_of()
    single = scores.astype(np.float32)
    tallies = [ScoreTally.of_rows(LABELS, s, truth) for s in (single, single.astype(np.float64))]
    one, other = (chosen(ScoredTallies(resolved_of(tally)), max_fpr=0.05) for tally in tallies)
    assert one.to_dict() == other.to_dict()


def test_families_are_counted_in_place_of_the_positives() -> None:
    rows = code_arrays(
        ["normal", "attack", "attack", "normal", "attack"],
        y_score=[0.1, 0.9, 0.8, 0.7, 0.2],
        slices={"family": ["none", "dos", "scan", "none", "dos"]},
    )
    swept = ThresholdSweep.of(tallies_of(rows, SIDES))
    assert [(family.name, family.size) for family in swept.families] == [("dos", 2), ("scan", 1)]
    counts = swept.counts_at([-1, 0, 1, 2, 4])
    assert counts.kind("dos").flagged.tolist() == [0, 1, 1, 1, 2]
    assert counts.kind("scan").flagged.tolist() == [0, 0, 1, 1, 1]
    assert counts.tp.tolist() == [0, 1, 2, 2, 3]
    assert counts.fp.tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("families", [False, True])
def test_clusters_without_their_rows_are_refused(families: bool) -> None:
    truth, scores = rows_of(200)
    rows = code_arrays(
        truth,
        y_score=scores,
        clusters=np.arange(200) // 10,
        slices={"family": np.where(truth == 1, "dos", "none")} if families else None,
    )
    tallies = tallies_of(rows, SIDES)
    assert ThresholdSweep.of(tallies).sample is not None
    lost = replace(tallies, family_rows=None, resolved=replace(tallies.resolved, sample=None))
    with pytest.raises(InputError, match="mode exact"):
        ThresholdSweep.of(lost)


def test_what_can_not_be_counted_is_refused() -> None:
    truth, scores = rows_of(50)
    decided = code_arrays(truth, y_pred=truth)
    with pytest.raises(LabelError, match="only decisions"):
        tallies_of(decided, SIDES)
    with pytest.raises(LabelError, match="only decisions"):
        ThresholdSweep.of(ScoredTallies(resolved_arrays(truth, y_pred=truth)[0]))
    weighted = ScoreTally.of_rows(LABELS, scores, truth, weights=np.full(50, 0.5))
    with pytest.raises(CountError, match="sampling weights"):
        ThresholdSweep.of(ScoredTallies(resolved_of(weighted)))


# -- frames, and tallies by the names of labels ----------------------------------------------------


def frame_of(seed: int = 5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    labels = rng.choice(["normal", "dos", "worm"], 600, p=[0.7, 0.2, 0.1])
    scores = rng.normal(np.where(labels == "normal", 0.0, 2.0))
    return pl.DataFrame({"y": labels, "p": scores, "host": [f"h{i % 30}" for i in range(600)]})


def same_points(one: Choice, other: Choice) -> bool:
    names = ("empirical", "guaranteed", "positive", "labels", "infeasible")
    return all(getattr(one, name) == getattr(other, name) for name in names)


ASKED_OF_FRAMES: dict[str, Any] = {"negative": "normal", "max_fpr": 0.1, "min_dr_families": 0.2}


@pytest.mark.parametrize("cluster", [None, "host"])
def test_a_frame_gives_what_its_columns_give(cluster: str | None) -> None:
    frame, unseen = frame_of(), frame_of(6)
    columns: dict[str, Any] = {"label": "y", "score": "p", "cluster": cluster}
    expected = choose_threshold(
        frame["y"],
        y_score=frame["p"],
        clusters=None if cluster is None else frame[cluster],
        holdout=(unseen["y"], unseen["p"]),
        resamples=10,
        **ASKED_OF_FRAMES,
    )
    for rows in (frame, frame.lazy(), frame.to_dict(as_series=False)):
        choice = choose_threshold(rows, holdout=unseen, resamples=10, **columns, **ASKED_OF_FRAMES)
        assert same_points(choice, expected)
        assert choice.holdout is not None
        assert expected.holdout is not None
        held = [each["held"] for each in choice.holdout["constraints"]]
        assert held == [each["held"] for each in expected.holdout["constraints"]]
        assert choice.to_dict()["source"]["rows_used"] == 600


def test_a_tally_gives_what_its_rows_give() -> None:
    frame = frame_of()
    parts = [assay.count(part, label="y", score="p") for part in frame.iter_slices(100)]
    choice = choose_threshold(sum(parts[1:], start=parts[0]), resamples=10, **ASKED_OF_FRAMES)
    whole = choose_threshold(frame, label="y", score="p", resamples=10, **ASKED_OF_FRAMES)
    assert same_points(choice, whole)
    assert choice.to_dict()["source"]["name"] == "tally"


def test_what_a_frame_can_not_give_is_named() -> None:
    frame = frame_of()
    with pytest.raises(InputError, match="say negative="):
        choose_threshold(frame, label="y", score="p", families=frame["host"], max_fpr=0.1)
    tally = assay.count(frame, label="y", score="p")
    with pytest.raises(InputError, match="leave out score="):
        choose_threshold(tally, score="p", negative="normal", max_fpr=0.1)
    with pytest.raises(InputError, match="label= is missing"):
        choose_threshold(frame, score="p", negative="normal", max_fpr=0.1)


@pytest.mark.parametrize("size", [1, 2, 2000, 2001, 2002, 8000])
def test_a_thinned_curve_has_both_ends_what_is_kept_and_true_counts(size: int) -> None:
    rng = np.random.default_rng(size)
    scores = np.sort(rng.permutation(10 * size)[:size] / (10 * size))[::-1]
    truth = rng.integers(0, 2, size)
    tally = ScoreTally.of_rows(LABELS, scores, truth)
    asked = [float(scores[size // 3]), float(scores[size // 2])]
    curve = thinned(ThresholdSweep.of_scores("attack", tally), asked)
    thresholds = curve.threshold.tolist()
    assert thresholds[0] == np.inf
    assert thresholds[1] == scores[0]
    assert thresholds[-1] == scores[-1]
    assert {*asked} <= {*thresholds}
    assert np.all(np.diff(thresholds) < 0)
    fewest = size + 1 if size <= curves.POINTS else curves.POINTS // 2
    assert fewest <= len(thresholds) <= curves.POINTS + len(asked) + 2
    # No threshold is left out at the top: alerts are few there, and matter most.
    assert thresholds[1:100] == scores[:99].tolist()
    for flagged, label in ((curve.tp, 1), (curve.fp, 0)):
        own = np.sort(scores[truth == label])
        assert flagged.tolist() == (len(own) - np.searchsorted(own, thresholds)).tolist()
