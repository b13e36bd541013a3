"""Counts at thresholds that were chosen from the data: every resample chooses them anew.

A test that takes a chosen threshold as given covers about half of what it says, so whatever is said
at such a threshold comes from here. A resample tells how often each row occurs when rows are drawn
anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.v02.inference.bootstrap import Bootstrap
from assay.v02.inference.threshold_rules import (
    LARGEST,
    NOTHING,
    AtThreshold,
    Blocks,
    Hits,
    NarrowedSweep,
    Pyramid,
    SweepCounts,
)
from assay.v02.tally.blocks import bounds

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
# How many resamples are done, and how many there will be.
Progress: TypeAlias = Callable[[int, int], None]

__all__ = [
    "Chooser",
    "ChosenTables",
    "Progress",
    "ScoredRows",
    "choose_anew",
    "choose_from_counts",
    "narrowed_for",
]


class Chooser(Protocol):
    """A rule that picks a position of a sweep; rules are hashable."""

    def position(self, counts: SweepCounts) -> int:
        """The position in a sweep that is chosen; -1 flags nothing."""
        ...

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that have to be looked into before the position is known.

        Where there are none, the ends of the blocks alone give the same choice as all positions.
        """
        ...


@dataclass(frozen=True, eq=False)
class ChosenTables:
    """One model under one rule: what it gives on the data, and on each resample.

    Tables are [[tn, fp], [fn, tp]]; the first axis of ``tables`` and ``thresholds`` is the
    resample. ``threshold`` is None (and nan in ``thresholds``) where nothing could be flagged.
    ``hits`` and ``sizes`` are flagged and all positives of each group; ``group_hits`` and
    ``group_sizes`` the same a resample.
    """

    threshold: float | None
    table: Floats
    tables: Floats
    thresholds: Floats
    hits: Floats
    sizes: Floats
    group_hits: Floats
    group_sizes: Floats


# So many bytes add up to less than 2^31.
_SHORT = 1 << 23

Key: TypeAlias = tuple[str, Chooser | AtThreshold]
# A threshold, the table there, and hits and sizes of groups.
_Point: TypeAlias = tuple[float, Floats, Floats, Floats]


# -- from counts -----------------------------------------------------------------------------------


def choose_from_counts(
    pyramid: Pyramid,
    rules: Sequence[Chooser | AtThreshold],
    method: Bootstrap,
    *,
    progress: Progress | None = None,
) -> dict[Chooser | AtThreshold, ChosenTables]:
    """One model under each rule, on the data and on resamples of its rows, from counts alone.

    The labels of the tally after the first are the groups of positives. Each resample is as one of
    rows drawn with replacement; what it costs hardly grows with their number.
    """
    points = [_points(NarrowedSweep.of_data(pyramid), rules)]
    for seed in np.random.SeedSequence(method.seed).spawn(method.resamples):
        drawn = NarrowedSweep.redrawn(pyramid, np.random.default_rng(seed))
        points.append(_points(drawn, rules))
        if progress is not None:
            progress(len(points) - 1, method.resamples)
    return {rule: _chosen([drawn[i] for drawn in points]) for i, rule in enumerate(rules)}


def narrowed_for(sweep: NarrowedSweep, rules: Sequence[Chooser]) -> NarrowedSweep:
    """A sweep cut so fine that the rules choose as on all thresholds."""
    while True:
        open_blocks = sweep.blocks.none
        for rule in rules:
            open_blocks |= rule.undecided(sweep.blocks)
        open_blocks &= sweep.level > 0
        if not open_blocks.any():
            return sweep
        sweep = sweep.cut(open_blocks)


def _points(sweep: NarrowedSweep, rules: Sequence[Chooser | AtThreshold]) -> list[_Point]:
    """What each rule gives on a sweep, which is cut where one depends on it."""
    pyramid = sweep.pyramid
    given = {
        rule: int(pyramid.positions(rule.threshold))
        for rule in rules
        if isinstance(rule, AtThreshold)
    }
    points: dict[Chooser | AtThreshold, _Point] = {}
    while len(points) < len(set(rules)):
        open_blocks = sweep.blocks.none
        for rule in rules:
            if rule in points:
                continue
            if isinstance(rule, AtThreshold):
                place, undecided = _block_of(sweep, given[rule])
            else:
                undecided = rule.undecided(sweep.blocks) & (sweep.level > 0)
                place = NOTHING
                if not undecided.any():
                    place = _first_alike(sweep.sums, rule.position(sweep.blocks.high))
                    # What was drawn last in the block is the lowest score that is flagged.
                    undecided = (sweep.blocks.order == place) & (sweep.level > 0)
            if undecided.any():
                open_blocks |= undecided
            else:
                points[rule] = _point(sweep, rule, place)
        if open_blocks.any():
            sweep = sweep.cut(open_blocks)
    return [points[rule] for rule in rules]


def _block_of(sweep: NarrowedSweep, position: int) -> tuple[int, Array]:
    """The block that ends at a position, or else the one that has to be cut."""
    place = int(np.searchsorted(sweep.ends, position))
    ends_there = position == NOTHING or int(sweep.ends[place]) == position
    undecided = (sweep.blocks.order == place) & (not ends_there)
    return (NOTHING if position == NOTHING else place), undecided


def _first_alike(sums: Array, place: int) -> int:
    """The first block with the same counts: others down to the chosen one were not drawn."""
    if place == NOTHING:
        return NOTHING
    return max(int(np.searchsorted(side, side[place])) for side in sums)


def _point(sweep: NarrowedSweep, rule: Chooser | AtThreshold, place: int) -> _Point:
    flagged = np.zeros(len(sweep.sums), np.int64) if place == NOTHING else sweep.sums[:, place]
    totals = sweep.sums[:, -1]
    table = _table(int(flagged[1:].sum()), int(flagged[0]), int(totals[1:].sum()), int(totals[0]))
    threshold = np.nan
    if isinstance(rule, AtThreshold):
        threshold = rule.threshold
    elif place != NOTHING:
        threshold = float(sweep.pyramid.thresholds(sweep.ends[place]))
    return threshold, table, flagged[1:].astype(np.float64), totals[1:].astype(np.float64)


# -- from rows -------------------------------------------------------------------------------------


def choose_anew(
    rows: ScoredRows,
    rules: Sequence[Chooser | AtThreshold],
    method: Bootstrap,
    *,
    progress: Progress | None = None,
) -> dict[Key, ChosenTables]:
    """Each model under each rule, on the data and on the same resamples of it.

    Whole clusters are resampled where there are clusters, else rows. The result has the same bits
    for any order of the rows, and for counts in place of repeated rows. It runs on one thread: most
    calls are so short that two would wait for each other.
    """
    cells = DistinctRows.of(rows)
    sweeps = {name: _Sweep.of(cells, scores) for name, scores in cells.scores.items()}

    def chosen_by(often: Array) -> list[_Point]:
        sizes = cells.sizes(often)
        return [point for sweep in sweeps.values() for point in sweep.at(rules, often, sizes)]

    points = [chosen_by(cells.counts)]
    for seed in np.random.SeedSequence(method.seed).spawn(method.resamples):
        points.append(chosen_by(cells.redrawn(np.random.default_rng(seed))))
        if progress is not None:
            progress(len(points) - 1, method.resamples)
    keys = [(name, rule) for name in sweeps for rule in rules]
    return {key: _chosen([drawn[i] for drawn in points]) for i, key in enumerate(keys)}


@dataclass(frozen=True, eq=False)
class _Sweep:
    """The rows of one model in the order of falling scores."""

    order: Array
    truth: Array
    ends: Array | None  # the last row of each score; None where all scores differ
    thresholds: Floats
    members: Array  # positives that have a group
    groups: Array  # the group of each
    names: Mapping[str, int]

    @classmethod
    def of(cls, cells: DistinctRows, scores: Floats) -> _Sweep:
        order = np.argsort(-scores, kind="stable")
        ranked = scores[order]
        truth = cells.truth[order]
        ends = np.flatnonzero(np.concatenate((ranked[1:] != ranked[:-1], [True])))
        groups = cells.groups[order]
        members = np.flatnonzero(truth & (groups >= 0))
        return cls(
            order=order,
            truth=truth,
            ends=None if len(ends) == len(order) else ends,
            thresholds=ranked[ends],
            members=members,
            groups=groups[members],
            names={name: i for i, name in enumerate(cells.names)},
        )

    def at(
        self, rules: Sequence[Chooser | AtThreshold], counts: Array, sizes: Floats
    ) -> Iterator[_Point]:
        """What each rule gives when rows occur this often."""
        often = bytes_of_counts(counts).take(self.order)
        tp = self._cumulative(often * self.truth)
        fp = self._cumulative(often) - tp
        positives, negatives = int(tp[-1]), int(fp[-1])

        def kind(name: str) -> Hits:
            mine = self.members[self.groups == self.names[name]]
            of_group = np.zeros_like(often)
            of_group[mine] = often[mine]
            return Hits(self._cumulative(of_group), round(sizes[self.names[name]]))

        sweep = SweepCounts(tp, fp, positives, negatives, kind)
        for rule in rules:
            if isinstance(rule, AtThreshold):
                threshold = rule.threshold
                chosen = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
            else:
                chosen, threshold = rule.position(sweep), np.nan
                if chosen != NOTHING:
                    seen = [int(np.searchsorted(side, side[chosen])) for side in (tp, fp)]
                    # The lowest score that occurs: others down to the chosen one were not drawn.
                    threshold = float(self.thresholds[max(seen)])
            hit, false = (0, 0) if chosen == NOTHING else (int(tp[chosen]), int(fp[chosen]))
            table = _table(hit, false, positives, negatives)
            yield threshold, table, self._hits(chosen, often), sizes

    def _cumulative(self, often: Array) -> Array:
        short = often.dtype == np.uint8 and len(often) < _SHORT
        sums = np.cumsum(often, dtype=np.int32 if short else np.int64)
        return sums if self.ends is None else sums[self.ends]

    def _hits(self, chosen: int, often: Array) -> Floats:
        """How many positives of each group are flagged."""
        last = chosen if self.ends is None or chosen == NOTHING else self.ends[chosen]
        until = int(np.searchsorted(self.members, last, side="right"))
        held = often[self.members[:until]]
        return np.bincount(self.groups[:until], held, len(self.names)).astype(np.float64)


def _table(hit: int, false: int, positives: int, negatives: int) -> Floats:
    return np.array([[negatives - false, false], [positives - hit, hit]], np.float64)


def _chosen(points: Sequence[_Point]) -> ChosenTables:
    thresholds, tables, hits, sizes = (np.array(part) for part in zip(*points, strict=True))
    first = float(thresholds[0])
    return ChosenTables(
        threshold=None if np.isnan(first) else first,
        table=tables[0],
        tables=tables[1:],
        thresholds=thresholds[1:],
        hits=hits[0],
        sizes=sizes[0],
        group_hits=hits[1:],
        group_sizes=sizes[1:],
    )


# -- rows with scores, and resamples of them -------------------------------------------------------

# From this many rows a distinct row on, drawing distinct rows is quicker than drawing rows.
_OFTEN = 8


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with a score of each model.

    ``truth`` is True for positives; ``clusters`` and ``groups`` (families) are positions in their
    names, -1 where a row has no group.
    """

    truth: npt.NDArray[np.bool_]
    scores: Mapping[str, Array]
    counts: npt.NDArray[np.int64] | None = None
    clusters: Array | None = None
    groups: Array | None = None
    group_names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows in one canonical order, and how often each occurs.

    So neither the order of the rows nor counts in place of repeated rows change what is drawn.
    """

    truth: Array
    scores: Mapping[str, Floats]
    counts: npt.NDArray[np.int64]
    clusters: Array | None
    groups: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: ScoredRows) -> DistinctRows:
        """Equal rows added; those that never occur left out."""
        size = len(rows.truth)
        counts = np.ones(size, np.int64) if rows.counts is None else rows.counts.astype(np.int64)
        kept = np.flatnonzero(counts)
        total = int(counts.sum())
        if not total:
            raise MethodError("there are no rows to resample")
        if total >= LARGEST:
            raise MethodError(f"{total:,} rows are too many to resample")
        clusters = np.zeros(size, np.int64) if rows.clusters is None else rows.clusters
        groups = np.full(size, -1) if rows.groups is None else rows.groups
        # Zero has one sign, as wherever scores are tied.
        scores = [column[kept].astype(np.float64) + 0.0 for column in rows.scores.values()]
        keys = [rows.truth[kept], clusters[kept], groups[kept], *scores]
        order = np.lexsort(keys)
        changed = np.zeros(len(order), bool)
        changed[0] = True
        for key in keys:
            ordered = key[order]
            changed[1:] |= ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(changed)
        truth, clusters, groups, *scores = (key[order[starts]] for key in keys)
        return cls(
            truth=truth,
            scores=dict(zip(rows.scores, scores, strict=True)),
            counts=np.add.reduceat(counts[kept][order], starts),
            # Only clusters that have rows can be drawn.
            clusters=None if rows.clusters is None else np.unique(clusters, return_inverse=True)[1],
            groups=groups,
            names=rows.group_names,
        )

    @cached_property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())

    def redrawn(self, generator: np.random.Generator) -> Array:
        """How often each row occurs in a resample, of clusters where there are any."""
        size = len(self.counts)
        if self.clusters is not None:
            often = _multiplicities(generator, int(self.clusters.max()) + 1)[self.clusters]
            return often if self.total == size else np.asarray(often * self.counts)
        if self.total > _OFTEN * size:
            return np.asarray(generator.multinomial(self.total, self.counts / self.total))
        often = _multiplicities(generator, self.total)
        if self.total == size:
            return often
        starts = np.cumsum(self.counts) - self.counts
        return np.asarray(np.add.reduceat(often, starts, dtype=np.int64))

    def sizes(self, often: Array) -> Floats:
        """How many positives each group has when rows occur this often."""
        held, groups = self._grouped
        return np.bincount(groups, often[held], len(self.names)).astype(np.float64)

    @cached_property
    def _grouped(self) -> tuple[Array, Array]:
        """Positives that have a group, and the group of each."""
        held = np.flatnonzero(self.truth & (self.groups >= 0))
        return held, self.groups[held]


def _multiplicities(generator: np.random.Generator, size: int) -> Array:
    """How often each of so many things occurs when as many are drawn with replacement.

    Block by block, which is the same in distribution, and stays in the processor's cache.
    """
    blocks = [stop - start for start, stop in bounds(size)]
    parts = []
    shares = generator.multinomial(size, np.array(blocks) / size)
    for block, share in zip(blocks, shares.tolist(), strict=True):
        drawn = generator.integers(block, size=share, dtype=np.uint16)
        parts.append(bytes_of_counts(np.bincount(drawn, minlength=block)))
    return np.concatenate(parts)


def bytes_of_counts(counts: Array) -> Array:
    """Counts as bytes where they are small: these are gathered several times as fast."""
    return counts.astype(np.uint8) if counts.max() < 256 else counts
