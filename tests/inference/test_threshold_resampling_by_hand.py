"""Choices from counts and from rows, each tried on all thresholds."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from assay.errors import MethodError
from assay.inference import Bootstrap
from assay.inference.threshold_resampling import (
    DistinctRows,
    ScoredRows,
    bytes_of_counts,
    choose_anew,
    choose_from_counts,
    narrowed_for,
)
from assay.inference.threshold_rules import (
    NOTHING,
    AtThreshold,
    Blocks,
    MaxFar,
    MaxFpr,
    NarrowedSweep,
    Pyramid,
    SweepCounts,
)
from assay.counts import ScoreCounts

LABELS = ("normal", "dos", "scan")
RULES = (
    MaxFpr(0.1),
    MaxFpr(0.001),
    MaxFar(0.3),
    MaxFar(0.01),
    MaxFar(0.3, 0.2),
    AtThreshold(0.7),
    AtThreshold(99.0),
    AtThreshold(-99.0),
)


def rows_of(size: int, digits: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(size + digits)
    truth = generator.choice(3, size=size, p=[0.6, 0.3, 0.1])
    truth[:3] = [0, 1, 2]
    return np.round(generator.normal(size=size) + 1.2 * (truth > 0), digits), truth


def by_hand(
    scores: np.ndarray, counts: np.ndarray, rule: Any
) -> tuple[float | None, list[list[int]], list[int], list[int]]:
    """The threshold, the table, and hits and sizes of both groups, by trying each score.

    ``counts`` are by label and score.
    """
    seen = sorted(set(scores[counts.sum(axis=0) > 0].tolist()), reverse=True)
    best: float | None = None
    for threshold in seen:
        flagged = counts[:, scores >= threshold].sum(axis=1)
        totals = counts.sum(axis=1)
        one = np.array([flagged[1:].sum()]), np.array([flagged[0]])
        if (
            not isinstance(rule, AtThreshold)
            and rule.choose(*one, int(totals[1:].sum()), int(totals[0])) != NOTHING
        ):
            best = threshold
    if isinstance(rule, AtThreshold):
        best = rule.threshold
    flagged = counts[:, scores >= (math.inf if best is None else best)].sum(axis=1)
    missed = counts.sum(axis=1) - flagged
    table = [
        [int(missed[0]), int(flagged[0])],
        [int(missed[1:].sum()), int(flagged[1:].sum())],
    ]
    return best, table, flagged[1:].tolist(), (flagged + missed)[1:].tolist()


@pytest.mark.parametrize("size", [3, 16, 17, 40, 120])
@pytest.mark.parametrize("cells", [1, 6, 4096])
@pytest.mark.parametrize("digits", [1, 9])
def test_choices_from_counts_are_those_of_all_thresholds(
    size: int, cells: int, digits: int
) -> None:
    tally = ScoreCounts.of_rows(LABELS, *rows_of(size, digits))
    choices = choose_from_counts(Pyramid.of(tally, cells), RULES, Bootstrap(resamples=2))
    assert list(choices) == list(RULES)
    for rule, chosen in choices.items():
        threshold, *parts = by_hand(tally.scores, tally.counts.astype(np.int64), rule)
        assert chosen.threshold == threshold
        assert [chosen.table.tolist(), chosen.hits.tolist(), chosen.sizes.tolist()] == parts


@pytest.mark.parametrize("cells", [1, 6, 30])
@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_scores_that_no_row_has_are_never_chosen(cells: int, start: int) -> None:
    """As in a resample in which they were not drawn."""
    scores, truth = np.arange(200.0), np.arange(200) * 7 % 11 % 3
    counts = np.zeros((3, 200), np.int64)
    held = np.arange(start, 200, 4)
    counts[truth[held], held] = 1 + held % 3
    counts[0, 150:] = 0
    tally = ScoreCounts(LABELS, scores, counts)
    choices = choose_from_counts(Pyramid.of(tally, cells), RULES[:5], Bootstrap(resamples=2))
    for rule, chosen in choices.items():
        threshold, *parts = by_hand(scores, counts, rule)
        assert chosen.threshold == threshold
        assert [chosen.table.tolist(), chosen.hits.tolist(), chosen.sizes.tolist()] == parts


def test_resamples_of_few_cells_are_multinomial_draws() -> None:
    tally = ScoreCounts.of_rows(LABELS, *rows_of(40, 1))
    falling = tally.counts[:, ::-1].astype(np.int64)
    choices = choose_from_counts(Pyramid.of(tally), RULES, Bootstrap(resamples=5, seed=3))
    for place, seed in enumerate(np.random.SeedSequence(3).spawn(5)):
        generator = np.random.default_rng(seed)
        drawn = generator.multinomial(40, falling.ravel() / 40).reshape(falling.shape)
        for rule, chosen in choices.items():
            threshold, *parts = by_hand(tally.scores, drawn[:, ::-1], rule)
            nothing = threshold is None
            assert np.isnan(chosen.thresholds[place]) == nothing
            assert nothing or chosen.thresholds[place] == threshold
            assert [
                chosen.tables[place].tolist(),
                chosen.group_hits[place].tolist(),
                chosen.group_sizes[place].tolist(),
            ] == parts


@pytest.mark.parametrize("cells", [1, 30])
def test_resamples_in_blocks_hold_together(cells: int) -> None:
    tally = ScoreCounts.of_rows(LABELS, *rows_of(500, 9))
    choices = choose_from_counts(Pyramid.of(tally, cells), RULES, Bootstrap(resamples=20, seed=1))
    for rule, chosen in choices.items():
        assert (chosen.tables.sum(axis=(1, 2)) == 500).all()
        assert (chosen.group_hits.sum(axis=1) == chosen.tables[:, 1, 1]).all()
        assert (chosen.group_sizes.sum(axis=1) == chosen.tables[:, 1].sum(axis=1)).all()
        nothing = np.isnan(chosen.thresholds)
        assert (chosen.tables[nothing][:, :, 1] == 0).all()
        if not isinstance(rule, AtThreshold):
            assert np.isin(chosen.thresholds[~nothing], tally.scores).all()
    fpr = choices[MaxFpr(0.1)].tables[:, 0, 1] / choices[MaxFpr(0.1)].tables[:, 0].sum(axis=1)
    assert (fpr <= 0.1).all()
    assert (fpr > 0.08).all()


@pytest.mark.parametrize("rule", [MaxFpr(0.1), MaxFar(0.3), MaxFar(0.3, 0.2)], ids=str)
def test_a_sweep_is_cut_until_its_ends_decide(rule: MaxFpr | MaxFar) -> None:
    tally = ScoreCounts.of_rows(LABELS, *rows_of(800, 2))
    pyramid = Pyramid.of(tally, 12)
    sweep = narrowed_for(NarrowedSweep.of_data(pyramid), [rule])
    assert not (rule.undecided(sweep.blocks) & (sweep.level > 0)).any()
    assert len(sweep.level) < tally.size / 2
    place = rule.position(sweep.blocks.high)
    threshold, *_ = by_hand(tally.scores, tally.counts.astype(np.int64), rule)
    assert float(pyramid.thresholds(sweep.ends[place])) == threshold
    both = narrowed_for(NarrowedSweep.of_data(pyramid), [MaxFpr(0.01), rule])
    assert len(both.level) > len(sweep.level)
    assert narrowed_for(sweep, [rule]) is sweep


@pytest.mark.parametrize(("rule", "most"), [(MaxFpr(0.1), 6), (AtThreshold(0.7), 6)], ids=str)
def test_a_choice_looks_into_few_blocks(
    rule: MaxFpr | AtThreshold, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    cut = NarrowedSweep.cut

    def counted(sweep: NarrowedSweep, mask: Any) -> NarrowedSweep:
        seen.append(int(mask.sum()))
        return cut(sweep, mask)

    monkeypatch.setattr(NarrowedSweep, "cut", counted)
    pyramid = Pyramid.of(ScoreCounts.of_rows(LABELS, *rows_of(2000, 9)), 60)
    assert pyramid.top.shape[1] == 8
    choose_from_counts(pyramid, [rule], Bootstrap(resamples=2))
    # Of the data and of two resamples, one block of 256 and one of 16 each, or two.
    assert 6 <= sum(seen) <= 2 * most


# -- rows ------------------------------------------------------------------------------------------


def test_rows_without_groups_have_none() -> None:
    rows = ScoredRows(np.array([True, False, True]), {"a": np.array([3.0, 2.0, 1.0])})
    choice = choose_anew(rows, [MaxFar(0.4)], Bootstrap(resamples=2))["a", MaxFar(0.4)]
    assert choice.threshold == 1
    assert choice.table.tolist() == [[0, 1], [0, 2]]
    assert choice.hits.shape == choice.sizes.shape == (0,)
    assert choice.group_hits.shape == (2, 0)


@pytest.mark.parametrize(
    ("threshold", "table"),
    [
        (3.5, [[2, 0], [2, 0]]),
        (3.0, [[2, 0], [1, 1]]),
        (2.5, [[2, 0], [1, 1]]),
        (2.0, [[0, 2], [0, 2]]),
        (0.0, [[0, 2], [0, 2]]),
    ],
)
def test_a_given_threshold_flags_what_reaches_it(threshold: float, table: list[list[int]]) -> None:
    rows = ScoredRows(
        np.array([True, False, True, False]),
        {"a": np.array([3.0, 2.0, 2.0, 2.0])},
        groups=np.array([0, -1, 1, -1]),
        group_names=("dos", "scan"),
    )
    rule = AtThreshold(threshold)
    choice = choose_anew(rows, [rule], Bootstrap(resamples=2))["a", rule]
    assert (choice.threshold, choice.table.tolist()) == (threshold, table)
    hits = [int(threshold <= 3), int(threshold <= 2)]
    assert (choice.hits.tolist(), choice.sizes.tolist()) == (hits, [1, 1])


@dataclass(frozen=True)
class AllOf:
    """The highest threshold that flags all positives of one kind."""

    kind: str

    def position(self, counts: SweepCounts) -> int:
        hits = counts.kind(self.kind)
        return int(np.searchsorted(hits.flagged, hits.size))

    def undecided(self, blocks: Blocks) -> Any:
        return blocks.none


def test_a_rule_may_ask_for_the_hits_of_one_kind() -> None:
    rows = ScoredRows(
        np.array([True, True, True, False, True, True]),
        {"a": np.array([6.0, 5.0, 4.0, 3.0, 2.0, 2.0])},
        counts=np.array([1, 300, 2, 1, 1, 1]),
        groups=np.array([0, 1, 0, -1, 1, -1]),
        group_names=("dos", "scan"),
    )
    rules = AllOf("dos"), AllOf("scan")
    choices = choose_anew(rows, rules, Bootstrap(resamples=2))
    assert [choices["a", rule].threshold for rule in rules] == [4, 2]
    assert choices["a", rules[0]].table.tolist() == [[1, 0], [2, 303]]


def test_counts_beyond_32_bits_add_up() -> None:
    many = 1 << 31
    rows = ScoredRows(
        np.array([True, False, True]),
        {"a": np.array([3.0, 2.0, 1.0])},
        counts=np.array([many, many, many + 1]),
    )
    rule = AtThreshold(0.5)
    choice = choose_anew(rows, [rule], Bootstrap(resamples=2))["a", rule]
    assert choice.table.tolist() == [[0, many], [0, 2 * many + 1]]
    assert (choice.tables.sum(axis=(1, 2)) == 3 * many + 1).all()


def test_equal_rows_are_added_in_one_order() -> None:
    rows = ScoredRows(
        np.array([True, False, True, True, False, True]),
        {"a": np.array([1.0, 0.0, 1.0, 2.0, -0.0, 1.0]), "b": np.array([5, 5, 5, 5, 5, 6])},
        counts=np.array([2, 3, 4, 0, 5, 1]),
        clusters=np.array([7, 3, 7, 9, 3, 7]),
        groups=np.array([0, -1, 0, 0, -1, 1]),
        group_names=("dos", "scan"),
    )
    cells = DistinctRows.of(rows)
    counts = {
        (bool(t), a, b, int(c), int(g)): int(n)
        for t, a, b, c, g, n in zip(
            cells.truth,
            cells.scores["a"].tolist(),
            cells.scores["b"].tolist(),
            cells.clusters,
            cells.groups,
            cells.counts,
            strict=True,
        )
    }
    # The cluster of the row that never occurs is left out, and the others are numbered anew.
    assert counts == {
        (False, 0.0, 5.0, 0, -1): 8,
        (True, 1.0, 5.0, 1, 0): 6,
        (True, 1.0, 6.0, 1, 1): 1,
    }
    assert not np.signbit(cells.scores["a"]).any()
    assert cells.total == 15
    assert cells.names == ("dos", "scan")
    assert cells.sizes(cells.counts).tolist() == [6, 1]
    assert cells.sizes(np.array([1, 1, 1])).tolist() == [1, 1]


def test_rows_that_differ_in_one_thing_are_distinct() -> None:
    base = {"truth": True, "score": 1.0, "cluster": 0, "group": 0}
    for other in ({"truth": False}, {"score": 2.0}, {"cluster": 1}, {"group": 1}):
        both = [base, base | other]
        cells = DistinctRows.of(
            ScoredRows(
                np.array([row["truth"] for row in both]),
                {"a": np.array([row["score"] for row in both])},
                clusters=np.array([row["cluster"] for row in both]),
                groups=np.array([row["group"] for row in both]),
            )
        )
        assert cells.counts.tolist() == [1, 1]


def test_from_eight_rows_a_distinct_row_on_distinct_rows_are_drawn() -> None:
    def cells(last: int) -> DistinctRows:
        return DistinctRows.of(
            ScoredRows(np.array([True, True]), {"a": np.array([0.0, 1.0])}, np.array([9, last]))
        )

    for last, directly in ((7, False), (8, True)):
        drawn = cells(last).redrawn(np.random.default_rng(4))
        total = 9 + last
        expected = np.random.default_rng(4).multinomial(total, np.array([9, last]) / total)
        assert drawn.sum() == total
        assert (drawn.tolist() == expected.tolist()) == directly


def test_clusters_are_drawn_as_often_as_there_are_some() -> None:
    rows = ScoredRows(
        np.array([True, False, True, False]),
        {"a": np.arange(4.0)},
        clusters=np.array([0, 0, 5, 9]),
    )
    cells = DistinctRows.of(rows)
    seen = set()
    for seed in range(40):
        often = cells.redrawn(np.random.default_rng(seed))
        by_cluster = dict(zip(cells.clusters.tolist(), often.tolist(), strict=True))
        assert sum(by_cluster.values()) == 3
        seen.add(tuple(sorted(by_cluster.items())))
    assert len(seen) == 10  # all ways to draw three times from three
    doubled = DistinctRows.of(
        ScoredRows(rows.truth, rows.scores, np.array([2, 1, 1, 1]), rows.clusters)
    )
    for seed in range(5):
        plain, more = (each.redrawn(np.random.default_rng(seed)) for each in (cells, doubled))
        assert more.tolist() == (plain * doubled.counts).tolist()


def test_as_many_rows_as_floats_count_are_too_many() -> None:
    def of(rows: int) -> ScoredRows:
        return ScoredRows(
            np.array([True, False]), {"a": np.zeros(2)}, np.array([1, rows - 1], np.int64)
        )

    assert DistinctRows.of(of(2**53 - 1)).total == 2**53 - 1
    with pytest.raises(MethodError, match="9,007,199,254,740,992 rows are too many"):
        DistinctRows.of(of(2**53))
    with pytest.raises(MethodError, match="no rows to resample"):
        DistinctRows.of(ScoredRows(np.array([True]), {"a": np.zeros(1)}, np.array([0])))


@pytest.mark.parametrize(("largest", "kind"), [(0, np.uint8), (255, np.uint8), (256, np.int64)])
def test_counts_are_bytes_where_they_fit(largest: int, kind: type) -> None:
    counts = np.array([0, largest], np.int64)
    assert bytes_of_counts(counts).dtype == kind
    assert bytes_of_counts(counts).tolist() == [0, largest]


def test_results_and_rows_may_be_keys() -> None:
    rows = ScoredRows(np.array([True, False]), {"a": np.array([1.0, 0.0])})
    cells = DistinctRows.of(rows)
    choice = choose_anew(rows, [MaxFar(0.4)], Bootstrap(resamples=2))["a", MaxFar(0.4)]
    assert len({rows, cells, choice}) == 3
    assert rows != ScoredRows(np.array([True, False]), {"a": np.array([1.0, 0.0])})
    assert cells != DistinctRows.of(rows)
    again = choose_anew(rows, [MaxFar(0.4)], Bootstrap(resamples=2))["a", MaxFar(0.4)]
    assert choice != again
