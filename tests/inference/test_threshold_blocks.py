"""A sweep in blocks: its sums, and resamples that are drawn only where they are looked at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from assay.errors import MethodError
from assay.inference import Bootstrap
from assay.inference.threshold_resampling import (
    ChosenTables,
    ScoredRows,
    choose_anew,
    choose_from_counts,
)
from assay.inference.threshold_rules import FAN, AtThreshold, MaxFar, MaxFpr, NarrowedSweep, Pyramid
from assay.counts import ScoreCounts

LABELS = ("normal", "dos", "scan")
RULES = (MaxFpr(0.1), MaxFar(0.3), MaxFar(0.3, 0.2), AtThreshold(0.7))


def rows_of(size: int, seed: int = 3, digits: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=size, p=[0.6, 0.3, 0.1])
    truth[:3] = [0, 1, 2]
    return np.round(rng.normal(size=size) + 1.2 * (truth > 0), digits), truth


def same(one: ChosenTables, other: ChosenTables) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name != "threshold")
        for name in ChosenTables.__dataclass_fields__
    )


@given(
    size=st.sampled_from([3, 15, 16, 17, 255, 257, 5000]),
    cells=st.sampled_from([1, 10, 4096]),
    digits=st.sampled_from([1, 9]),
    single=st.booleans(),
)
def test_sums_at_positions_are_those_of_the_rows(
    size: int, cells: int, digits: int, single: bool
) -> None:
    scores, truth = rows_of(size, digits=digits)
    scores = scores.astype(np.float32) if single else scores
    tally = ScoreCounts.of_rows(LABELS, scores, truth)
    pyramid = Pyramid.of(tally, cells)
    assert pyramid.totals == tuple(np.bincount(truth, minlength=3).tolist())
    at = np.unique(np.concatenate(([-1, 0], np.geomspace(1, tally.size, 9).astype(int) - 1)))
    sums = pyramid.sums(at)
    thresholds = [np.inf if i < 0 else float(pyramid.thresholds(i)) for i in at.tolist()]
    for column, threshold in zip(sums.T, thresholds, strict=True):
        flagged = scores.astype(np.float64) >= threshold
        assert column.tolist() == [(flagged & (truth == i)).sum() for i in range(3)]
    asked = np.array([*thresholds, scores.astype(np.float64).max() + 1, 0.3])
    for threshold, position in zip(asked.tolist(), pyramid.positions(asked).tolist(), strict=True):
        seen = np.unique(scores.astype(np.float64)[scores.astype(np.float64) >= threshold])
        assert position == len(seen) - 1


@given(cells=st.sampled_from([1, 10, 100]), seed=st.integers(0, 99), drawn=st.booleans())
def test_a_block_that_is_cut_keeps_its_rows(cells: int, seed: int, drawn: bool) -> None:
    pyramid = Pyramid.of(ScoreCounts.of_rows(LABELS, *rows_of(3000)), cells)
    rng = np.random.default_rng(seed)
    sweep = NarrowedSweep.redrawn(pyramid, rng) if drawn else NarrowedSweep.of_data(pyramid)
    before = sweep
    while (sweep.level > 0).any():
        cut = (sweep.level > 0) & (rng.random(len(sweep.level)) < 0.6)
        finer = sweep.cut(cut)
        assert (np.diff(finer.ends) > 0).all()
        places = np.searchsorted(finer.ends, sweep.ends)
        assert (finer.ends[places] == sweep.ends).all()
        assert (finer.sums[:, places] == sweep.sums).all()
        sweep = finer
    assert len(sweep.level) == pyramid.size
    assert sweep.sums[:, -1].tolist() == before.sums[:, -1].tolist()
    assert sweep.sums[:, -1].sum() == 3000
    if not drawn:
        assert (sweep.amounts == pyramid.levels[0]).all()


def test_rows_are_drawn_as_often_as_they_occur() -> None:
    counts = np.arange(1, 41)
    truth = np.arange(40) % 3
    tally = ScoreCounts.of_rows(LABELS, np.arange(40.0), truth, counts=counts)
    pyramid = Pyramid.of(tally, cells=3)
    total, held = int(counts.sum()), pyramid.levels[0].astype(np.float64)
    drawn = []
    for seed in range(600):
        sweep = NarrowedSweep.redrawn(pyramid, np.random.default_rng(seed))
        while (sweep.level > 0).any():
            sweep = sweep.cut(sweep.level > 0)
        drawn.append(sweep.amounts)
    often = np.array(drawn)
    assert (often.sum(axis=(1, 2)) == total).all()
    spread = np.sqrt(held * (1 - held / total))
    assert (np.abs(often.mean(axis=0) - held) <= 4 * spread / np.sqrt(600)).all()
    assert (np.abs(often.std(axis=0)[held > 0] / spread[held > 0] - 1) < 0.2).all()
    # Of one multinomial draw, cells are negatively bound to each other.
    first, last = often[:, :, :8].sum(axis=(1, 2)), often[:, :, 8:].sum(axis=(1, 2))
    assert np.corrcoef(first, last)[0, 1] == pytest.approx(-1)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "digits"), [(300, 9), (300, 1), (9000, 9)])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_resamples_are_those_of_rows_in_distribution(
    size: int, digits: int, rule: MaxFpr | MaxFar | AtThreshold
) -> None:
    scores, truth = rows_of(size, digits=digits)
    method = Bootstrap(resamples=1500, seed=5)
    pyramid = Pyramid.of(ScoreCounts.of_rows(LABELS, scores, truth), cells=12)
    choice = choose_from_counts(pyramid, [rule], method)[rule]
    rows = ScoredRows(
        truth > 0, {"a": scores}, groups=truth.astype(int) - 1, group_names=LABELS[1:]
    )
    by_rows = choose_anew(rows, [rule], method)["a", rule]
    assert choice.threshold == by_rows.threshold
    assert choice.table.tolist() == by_rows.table.tolist()
    assert choice.hits.tolist() == by_rows.hits.tolist()
    assert choice.sizes.tolist() == by_rows.sizes.tolist()
    pairs = [(choice.thresholds, by_rows.thresholds)]
    pairs += list(zip(choice.tables.reshape(-1, 4).T, by_rows.tables.reshape(-1, 4).T, strict=True))
    pairs += list(zip(choice.group_hits.T, by_rows.group_hits.T, strict=True))
    pairs += list(zip(choice.group_sizes.T, by_rows.group_sizes.T, strict=True))
    for mine, theirs in pairs:
        assert ks_2samp(mine, theirs).pvalue > 1e-3
        assert np.mean(mine) == pytest.approx(np.mean(theirs), abs=0.15 * np.std(theirs) + 1e-12)
    # Hits of all groups are the true positives, at the very threshold that was chosen.
    assert choice.group_hits.sum(axis=1).tolist() == choice.tables[:, 1, 1].tolist()


@given(parts=st.integers(1, 5), times=st.sampled_from([1, 3]), seed=st.integers(0, 9))
def test_shards_order_and_counts_do_not_change_a_bit(parts: int, times: int, seed: int) -> None:
    scores, truth = rows_of(200, digits=1)
    method = Bootstrap(resamples=4, seed=seed)
    counted = ScoreCounts.of_rows(LABELS, scores, truth, counts=np.full(200, times))
    order = np.random.default_rng(seed).permutation(200 * times)
    repeated = np.repeat(scores, times)[order], np.repeat(truth, times)[order]
    shards = [
        ScoreCounts.of_rows(LABELS, *shard)
        for shard in zip(*(np.array_split(column, parts) for column in repeated), strict=True)
    ]
    one = choose_from_counts(Pyramid.of(counted, 6), RULES, method)
    other = choose_from_counts(Pyramid.of(ScoreCounts.merge(shards), 6), RULES, method)
    assert all(same(one[rule], other[rule]) for rule in RULES)


def test_a_resample_flags_no_score_that_was_not_drawn() -> None:
    scores, truth = rows_of(2000)
    pyramid = Pyramid.of(ScoreCounts.of_rows(LABELS, scores, truth), cells=6)
    choice = choose_from_counts(pyramid, [MaxFpr(0.1)], Bootstrap(resamples=50))[MaxFpr(0.1)]
    assert np.isin(choice.thresholds, scores).all()
    assert len(np.unique(choice.thresholds)) > 25


def test_the_number_of_blocks_grows_with_the_logarithm_of_the_rows() -> None:
    seen = []
    for size in (10_000, 300_000):
        pyramid = Pyramid.of(ScoreCounts.of_rows(LABELS, *rows_of(size, digits=15)), cells=300)
        sweep = NarrowedSweep.redrawn(pyramid, np.random.default_rng(1))
        while True:
            cut = MaxFpr(0.01).undecided(sweep.blocks) & (sweep.level > 0)
            if not cut.any():
                break
            assert cut.sum() == 1
            sweep = sweep.cut(cut)
        seen.append(len(sweep.level) - pyramid.top.shape[1])
    assert max(seen) <= 5 * (FAN - 1)


def test_progress_is_told_of_every_resample() -> None:
    seen: list[tuple[int, int]] = []
    pyramid = Pyramid.of(ScoreCounts.of_rows(LABELS, *rows_of(40)))
    method = Bootstrap(resamples=3)
    choose_from_counts(pyramid, RULES, method, progress=lambda *done: seen.append(done))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_no_rows_and_too_many_are_refused() -> None:
    with pytest.raises(MethodError, match="no rows to resample"):
        Pyramid.of(ScoreCounts.zero(LABELS))
    huge = np.array([[0], [1 << 60], [0]], np.uint64)
    with pytest.raises(MethodError, match="too many to resample"):
        Pyramid.of(ScoreCounts(LABELS, np.zeros(1), huge))
