"""Counts at thresholds that were chosen from the data: every resample chooses them anew.

A test that takes a chosen threshold as given covers about half of what it says, so whatever is said
at such a threshold comes from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference.bootstrap import Bootstrap
from assay.inference.operating import NOTHING, AtThreshold
from assay.inference.redrawing import Cells, ScoredRows, narrow

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
# How many resamples are done, and how many there will be.
Progress: TypeAlias = Callable[[int, int], None]

__all__ = ["Chooser", "Chosen", "Progress", "ScoredRows", "choose_anew"]


class Chooser(Protocol):
    """A rule that picks a position of a sweep; rules are hashable."""

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        ...


@dataclass(frozen=True, eq=False)
class Chosen:
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


def choose_anew(
    rows: ScoredRows,
    rules: Sequence[Chooser | AtThreshold],
    method: Bootstrap,
    *,
    progress: Progress | None = None,
) -> dict[Key, Chosen]:
    """Each model under each rule, on the data and on the same resamples of it.

    Whole clusters are resampled where there are clusters, else rows. The result has the same bits
    for any order of the rows, and for counts in place of repeated rows. It runs on one thread: most
    calls are so short that two would wait for each other.
    """
    cells = Cells.of(rows)
    sweeps = {name: _Sweep.of(cells, scores) for name, scores in cells.scores.items()}

    def found(often: Array) -> list[_Point]:
        sizes = cells.sizes(often)
        return [point for sweep in sweeps.values() for point in sweep.at(rules, often, sizes)]

    points = [found(cells.counts)]
    for seed in np.random.SeedSequence(method.seed).spawn(method.resamples):
        points.append(found(cells.redrawn(np.random.default_rng(seed))))
        if progress is not None:
            progress(len(points) - 1, method.resamples)
    keys = [(name, rule) for name in sweeps for rule in rules]
    return {key: _chosen([drawn[i] for drawn in points]) for i, key in enumerate(keys)}


_Point: TypeAlias = tuple[float, Floats, Floats, Floats]


@dataclass(frozen=True, eq=False)
class _Sweep:
    """The rows of one model in the order of falling scores."""

    order: Array
    truth: Array
    ends: Array | None  # the last row of each score; None where all scores differ
    thresholds: Floats
    members: Array  # positives that have a group
    groups: Array  # the group of each
    names: int

    @classmethod
    def of(cls, cells: Cells, scores: Floats) -> _Sweep:
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
            names=cells.names,
        )

    def at(
        self, rules: Sequence[Chooser | AtThreshold], counts: Array, sizes: Floats
    ) -> Iterator[_Point]:
        """What each rule gives when rows occur this often."""
        often = narrow(counts).take(self.order)
        tp = self._cumulative(often * self.truth)
        fp = self._cumulative(often) - tp
        positives, negatives = int(tp[-1]), int(fp[-1])
        for rule in rules:
            if isinstance(rule, AtThreshold):
                threshold = rule.threshold
                chosen = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
            else:
                chosen, threshold = rule.choose(tp, fp, positives, negatives), np.nan
                if chosen != NOTHING:
                    # The lowest score that occurs: others down to the chosen one were not drawn.
                    seen = [int(np.searchsorted(side, side[chosen])) for side in (tp, fp)]
                    threshold = float(self.thresholds[max(seen)])
            hit, false = (0, 0) if chosen == NOTHING else (int(tp[chosen]), int(fp[chosen]))
            table = np.array([[negatives - false, false], [positives - hit, hit]], np.float64)
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
        return np.bincount(self.groups[:until], held, self.names).astype(np.float64)


def _chosen(points: Sequence[_Point]) -> Chosen:
    thresholds, tables, hits, sizes = (np.array(part) for part in zip(*points, strict=True))
    first = float(thresholds[0])
    return Chosen(
        threshold=None if np.isnan(first) else first,
        table=tables[0],
        tables=tables[1:],
        thresholds=thresholds[1:],
        hits=hits[0],
        sizes=sizes[0],
        group_hits=hits[1:],
        group_sizes=sizes[1:],
    )
