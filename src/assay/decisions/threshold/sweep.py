"""Counts of scores, swept over every threshold that a score can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay import curves
from assay.decisions.threshold.counting import ScoredTallies
from assay.errors import CountError, InputError, LabelError
from assay.inference.bootstrap import Bootstrap
from assay.inference.chosen import (
    Chooser,
    Chosen,
    Progress,
    ScoredRows,
    choose_anew,
    choose_from_counts,
    narrowed_for,
)
from assay.inference.narrowing import Counts, Hits, Narrowed, Pyramid
from assay.tally import ClusterTally, Confusion, Sample, ScoreTally
from assay.tally.keeping import Exact

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

_MODEL = "model"
# As many thresholds by rank on a geometric scale as evenly spread.
_HALF = curves.POINTS // 2


@dataclass(frozen=True)
class Family:
    """The positives of one family, and how many there are."""

    name: str
    size: int


@dataclass(frozen=True, eq=False)
class Seen:
    """Some thresholds, falling, and the counts there."""

    thresholds: Floats
    counts: Counts

    def position(self, threshold: float) -> int:
        """The last of these thresholds that is not below another."""
        return int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1


@dataclass(frozen=True, eq=False)
class Swept:
    """Counts at every threshold: position 0 is the highest score, and -1 flags nothing.

    ``tally`` has two labels, ``pyramid`` the families in place of the positives where there are
    families, and ``sample`` the rows where they come in clusters.
    """

    labels: tuple[str, ...]
    positive: str
    tally: ScoreTally
    pyramid: Pyramid
    families: tuple[Family, ...]
    sample: Sample | None

    @classmethod
    def of(cls, tallies: ScoredTallies) -> Swept:
        """Sweep what was counted of some rows."""
        resolved = tallies.resolved
        if resolved.scores is None or resolved.positive is None:
            raise LabelError("a threshold is chosen on scores, and there are only decisions")
        (tally,) = resolved.scores
        if tally.weighted:
            raise CountError(
                "rows have sampling weights: a threshold is chosen, and its promise made, by "
                "counting rows. Leave the weight out, or give count= where a row stands for many"
            )
        sample = resolved.sample if tallies.families is None else tallies.family_rows
        if resolved.clusters is not None and sample is None:
            raise InputError(
                "rows come in clusters, and clusters are resampled whole, so that their rows are "
                "needed: count them with every score kept (mode exact), or leave the clusters out"
            )
        return cls.of_scores(resolved.positive, tally, tallies.families, sample)

    @classmethod
    def of_scores(
        cls,
        positive: str,
        tally: ScoreTally,
        families: ScoreTally | None = None,
        sample: Sample | None = None,
    ) -> Swept:
        """Sweep a tally of two labels, perhaps with one of families in place of the positives."""
        pyramid = Pyramid.of(tally if families is None else families)
        named = zip(families.labels[1:], pyramid.totals[1:], strict=True) if families else ()
        held = tuple(Family(name, size) for name, size in named)
        return cls(tally.labels, positive, tally, pyramid, held, sample)

    def must_have_both_kinds(self) -> None:
        """Refuse rows of one kind only."""
        for amount, label in zip((self.negatives, self.positives), self.labels, strict=True):
            if not amount:
                raise LabelError(
                    f"no row is {label!r}: a threshold is chosen between two kinds of rows, and "
                    f"there is one kind only. Give rows of both"
                )

    @property
    def negatives(self) -> int:
        """How many negatives there are."""
        return self.pyramid.totals[0]

    @property
    def positives(self) -> int:
        """How many positives there are."""
        return sum(self.pyramid.totals[1:])

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.pyramid.rows

    @property
    def last(self) -> int:
        """The position of the lowest score, which flags every row."""
        return self.pyramid.size - 1

    # -- at thresholds -----------------------------------------------------------------------------

    def positions(self, thresholds: Any) -> Integers:
        """The last position that each threshold flags; -1 where it flags nothing."""
        return self.pyramid.positions(thresholds)

    def below(self, threshold: float) -> float | None:
        """The next score below a threshold, None where there is none or not every one was kept."""
        if not isinstance(self.tally.kept, Exact):
            return None
        at = int(np.searchsorted(self.tally.scores, threshold))
        return float(self.tally.scores[at - 1]) if at else None

    def counts_at(self, positions: Any) -> Counts:
        """The counts at some positions."""
        sums = self.pyramid.sums(positions)
        names = self.pyramid.tally.labels

        def kind(name: str) -> Hits:
            at = names.index(name, 1)
            return Hits(sums[at], self.pyramid.totals[at])

        return Counts(sums[1:].sum(axis=0), sums[0], self.positives, self.negatives, kind)

    def at(self, position: int) -> Confusion:
        """The confusion matrix at a position."""
        counts = self.counts_at(position)
        tp, fp = int(counts.tp), int(counts.fp)
        return Confusion(self.labels, ((self.negatives - fp, fp), (self.positives - tp, tp)))

    def tables(self, positions: Integers) -> Floats:
        """Many confusion matrices at once, those of ``positions``."""
        counts = self.counts_at(positions)
        cells = [self.negatives - counts.fp, counts.fp, self.positives - counts.tp, counts.tp]
        return np.stack(cells, axis=-1).reshape(*np.shape(positions), 2, 2).astype(np.float64)

    def clusters_at(self, threshold: float) -> ClusterTally | None:
        """The confusion matrix of each cluster at a threshold, where there are clusters."""
        if self.sample is None:
            return None
        return ClusterTally.of_sample(self.labels, self.sample, threshold)

    # -- for rules ---------------------------------------------------------------------------------

    def seen_by(self, *rules: Chooser) -> Seen:
        """As few thresholds as make the rules choose as among all of them."""
        sweep = narrowed_for(Narrowed.of_data(self.pyramid), rules)
        return Seen(self.pyramid.thresholds(sweep.ends), sweep.blocks.high)

    def chosen(
        self, rules: Sequence[Chooser], method: Bootstrap, progress: Progress | None
    ) -> dict[Chooser, Chosen]:
        """Each rule on the data and on resamples, of clusters where rows come in such."""
        if self.sample is None:
            found = choose_from_counts(self.pyramid, rules, method, progress=progress)
            return {rule: found[rule] for rule in rules}
        anew = choose_anew(self._scored(self.sample), rules, method, progress=progress)
        return {rule: anew[_MODEL, rule] for rule in rules}

    def _scored(self, sample: Sample) -> ScoredRows:
        return ScoredRows(
            truth=sample.truth > 0,
            scores={_MODEL: sample.scores[:, 0]},
            counts=sample.counts,
            clusters=sample.cluster,
            groups=sample.truth.astype(np.int64) - 1 if self.families else None,
            group_names=tuple(family.name for family in self.families),
        )

    @cached_property
    def share(self) -> float:
        """The share of positives."""
        return self.positives / self.rows


def thinned(swept: Swept, kept_thresholds: Sequence[float]) -> curves.Sweep:
    """The curve of a sweep at some 2,000 thresholds at most, and at those that are to be kept."""
    last = swept.last
    places = np.arange(min(last, curves.POINTS) + 1)
    if last >= curves.POINTS:
        spread = np.concatenate((np.linspace(0, last, _HALF), np.geomspace(1, last, _HALF) - 1))
        kept = swept.positions(np.array(kept_thresholds, np.float64))
        places = np.unique(np.concatenate((spread.astype(np.int64), kept, [last])))
    counts = swept.counts_at(places)
    return curves.Sweep(
        np.concatenate(([np.inf], swept.pyramid.thresholds(places))),
        np.concatenate(([0.0], counts.tp.astype(np.float64))),
        np.concatenate(([0.0], counts.fp.astype(np.float64))),
        counts.positives,
        counts.negatives,
    )
