"""Thresholds chosen anew in each resample, held against resampling by hand."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import MethodError
from assay.inference import Bootstrap
from assay.inference.threshold_resampling import ChosenTables, DistinctRows, ScoredRows, choose_anew
from assay.inference.threshold_rules import NOTHING, AtThreshold, MaxFar, MaxFpr

RULES = (MaxFpr(0.3), MaxFar(0.3), MaxFar(0.3, 0.2), AtThreshold(0.5))


def rows(size: int = 60, *, digits: int = 1, seed: int = 3) -> ScoredRows:
    generator = np.random.default_rng(seed)
    truth = generator.random(size) < 0.4
    return ScoredRows(
        truth=truth,
        scores={
            name: np.round(truth * 0.3 + 0.7 * generator.random(size), digits) for name in "ab"
        },
        groups=np.where(truth, generator.integers(-1, 2, size), -1),
        group_names=("dos", "scan"),
    )


def by_hand(truth: Any, score: Any, rule: Any) -> tuple[float | None, list[list[int]]]:
    """The threshold and the table on plain rows, one try a distinct score."""
    best = None
    for threshold in sorted(set(score.tolist()), reverse=True):
        flagged = score >= threshold
        tp, fp = int((truth & flagged).sum()), int((~truth & flagged).sum())
        counts = np.array([tp]), np.array([fp]), int(truth.sum()), int((~truth).sum())
        if rule.choose(*counts) != NOTHING:
            best = threshold
    flagged = np.zeros(len(truth), bool) if best is None else score >= best
    table = [[int((side & kept).sum()) for kept in (~flagged, flagged)] for side in (~truth, truth)]
    return best, table


def same(one: dict[Any, ChosenTables], other: dict[Any, ChosenTables]) -> bool:
    return list(one) == list(other) and all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name != "threshold")
        for a, b in zip(one.values(), other.values(), strict=True)
        for name in ChosenTables.__dataclass_fields__
    )


@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize("kind", ["rows", "counts", "many counts", "clusters"])
def test_each_resample_is_that_of_its_rows_by_hand(kind: str, digits: int) -> None:
    given = rows(digits=digits)
    generator = np.random.default_rng(5)
    most = {"counts": 4, "many counts": 60}.get(kind)
    counts = None if most is None else generator.integers(0, most, len(given.truth))
    clusters = generator.choice([0, 2, 3, 7, 8], len(given.truth)) if kind == "clusters" else None
    given = ScoredRows(given.truth, given.scores, counts, clusters, given.groups, given.group_names)
    method = Bootstrap(resamples=6, seed=9)
    choices = choose_anew(given, RULES, method)
    cells = DistinctRows.of(given)
    seeds = np.random.SeedSequence(9).spawn(6)
    drawn = [cells.counts, *(cells.redrawn(np.random.default_rng(seed)) for seed in seeds)]
    assert len({tuple(often.tolist()) for often in drawn}) > 1
    for often, at in zip(drawn, range(-1, 6), strict=True):
        truth, groups = (np.repeat(column, often) for column in (cells.truth, cells.groups))
        for (name, rule), result in choices.items():
            score = np.repeat(cells.scores[name], often)
            if isinstance(rule, AtThreshold):
                threshold, flagged = rule.threshold, score >= rule.threshold
                table = [
                    [(side & kept).sum() for kept in (~flagged, flagged)]
                    for side in (~truth, truth)
                ]
            else:
                threshold, table = by_hand(truth, score, rule)
            hits = [
                (
                    (groups == i) & truth & (score >= (np.inf if threshold is None else threshold))
                ).sum()
                for i in range(2)
            ]
            sizes = [((groups == i) & truth).sum() for i in range(2)]
            if at < 0:
                assert result.threshold == threshold
                seen = result.table, result.hits, result.sizes
            else:
                assert np.array_equal(
                    result.thresholds[at],
                    np.nan if threshold is None else threshold,
                    equal_nan=True,
                )
                seen = result.tables[at], result.group_hits[at], result.group_sizes[at]
            assert [part.tolist() for part in seen] == [table, hits, sizes]


def test_rows_are_drawn_as_often_as_they_occur() -> None:
    """In proportion to its count each, and as many rows as there are."""
    for counts in ([1, 1, 1, 1], [1, 2, 3, 4], [10, 20, 30, 40]):
        cells = DistinctRows.of(
            ScoredRows(np.array([True] * 4), {"a": np.arange(4.0)}, np.array(counts))
        )
        drawn = np.array([cells.redrawn(np.random.default_rng(seed)) for seed in range(400)])
        total = sum(counts)
        assert (drawn.sum(axis=1) == total).all()
        error = np.sqrt(np.array(counts) * (1 - np.array(counts) / total) / 400)
        assert (np.abs(drawn.mean(axis=0) - cells.counts) < 4 * error).all()
        spread = drawn.var(axis=0) / (cells.counts * (1 - cells.counts / total))
        assert (np.abs(spread - 1) < 0.35).all()


def test_many_rows_are_drawn_block_by_block_and_still_alike() -> None:
    """More rows than a block: how often a row is drawn is Poisson, and blocks don't show."""
    size = (1 << 17) + 1000
    cells = DistinctRows.of(ScoredRows(np.ones(size, bool), {"a": np.arange(float(size))}))
    drawn = cells.redrawn(np.random.default_rng(1)).astype(np.int64)
    assert drawn.sum() == size
    assert np.bincount(drawn)[:4] / size == pytest.approx(
        [0.3679, 0.3679, 0.1839, 0.0613], abs=4e-3
    )
    sums = np.array([drawn[: 1 << 16].sum(), drawn[1 << 16 : 1 << 17].sum()])
    assert (np.abs(sums - (1 << 16)) < 4 * 220).all()
    assert sums[0] != sums[1]


def test_clusters_are_drawn_whole() -> None:
    cells = DistinctRows.of(
        ScoredRows(
            np.array([True, False] * 3),
            {"a": np.arange(6.0)},
            counts=np.array([1, 2, 3, 1, 2, 3]),
            clusters=np.array([4, 4, 4, 9, 9, 9]),
        )
    )
    seen = Counter()
    for seed in range(300):
        often = cells.redrawn(np.random.default_rng(seed)) / cells.counts
        assert len(set(often[cells.clusters == 0])) == 1
        assert len(set(often[cells.clusters == 1])) == 1
        seen[often[0]] += 1
    assert set(seen) == {0, 1, 2}
    assert abs(seen[1] - 150) < 35


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([1, 9]), st.booleans())
def test_order_of_the_rows_does_not_change_a_bit(seed: int, digits: int, clustered: bool) -> None:
    given, method = rows(digits=digits, seed=seed), Bootstrap(resamples=5)
    clusters = np.arange(60) // 7 if clustered else None
    order = np.random.default_rng(seed).permutation(60)
    one = ScoredRows(given.truth, given.scores, None, clusters, given.groups, given.group_names)
    other = ScoredRows(
        given.truth[order],
        {name: score[order] for name, score in given.scores.items()},
        None,
        None if clusters is None else clusters[order],
        given.groups[order],
        given.group_names,
    )
    assert same(choose_anew(one, RULES, method), choose_anew(other, RULES, method))


@pytest.mark.parametrize("times", [3, 40, 900])
def test_counts_are_repetitions_to_the_bit(times: int) -> None:
    given, method = rows(), Bootstrap(resamples=5)
    counts = np.arange(60) % times
    repeated = ScoredRows(
        np.repeat(given.truth, counts),
        {name: np.repeat(score, counts) for name, score in given.scores.items()},
    )
    counted = ScoredRows(given.truth, given.scores, counts)
    assert same(choose_anew(counted, RULES, method), choose_anew(repeated, RULES, method))


def test_both_zeros_are_one_score() -> None:
    given = ScoredRows(np.array([True, False]), {"a": np.array([0.0, -0.0])})
    choice = choose_anew(given, [MaxFar(0.5)], Bootstrap(resamples=2))["a", MaxFar(0.5)]
    assert choice.table.tolist() == [[0, 1], [0, 1]]


def test_nothing_is_flagged_where_no_threshold_keeps_the_rule() -> None:
    given = ScoredRows(np.array([False, True] * 20), {"a": np.linspace(1, 0, 40)})
    choice = choose_anew(given, [MaxFar(0.1)], Bootstrap(resamples=3))["a", MaxFar(0.1)]
    assert choice.threshold is None
    assert choice.table.tolist() == [[20, 0], [20, 0]]


def test_progress_is_told_of_every_resample() -> None:
    seen: list[tuple[int, int]] = []
    choose_anew(rows(), RULES[:1], Bootstrap(resamples=4), progress=lambda *done: seen.append(done))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_no_rows_and_too_many_are_refused() -> None:
    empty = ScoredRows(np.empty(0, bool), {"a": np.empty(0)})
    with pytest.raises(MethodError, match="no rows to resample"):
        choose_anew(empty, RULES, Bootstrap())
    huge = ScoredRows(np.array([True]), {"a": np.zeros(1)}, np.array([1 << 60]))
    with pytest.raises(MethodError, match="too many to resample"):
        choose_anew(huge, RULES, Bootstrap())
