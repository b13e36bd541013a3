"""Rows counted by label and family, and the counts swept over every threshold of their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02 import curves, engines
from assay.v02.engines.frames import CountedFrame
from assay.v02.engines.queries import count_queries, countable
from assay.v02.engines.resolving import kinds_of, labels_of_kinds, sided_families
from assay.errors import CountError, InputError, LabelError, ScoreError
from assay.v02.evaluation.named_columns import refusal_notes
from assay.v02.inference.bootstrap import Bootstrap
from assay.v02.inference.threshold_resampling import (
    Chooser,
    ChosenTables,
    Progress,
    ScoredRows,
    choose_anew,
    choose_from_counts,
    narrowed_for,
)
from assay.v02.inference.threshold_rules import Hits, NarrowedSweep, Pyramid, SweepCounts
from assay.v02.sources import FAMILY, Coded
from assay.v02.sources.columns import native
from assay.v02.sources.files import Progress as ReadProgress
from assay.v02.sources.files import Reading, Request, ranked, typed
from assay.v02.sources.files.inputs import sources
from assay.v02.sources.validation import LeftOut, coded_columns, listed_source
from assay.v02.tally import ClusterTally, Confusion, Resolved, Sample, ScoreTally, Tally
from assay.v02.tally.keeping import AUTO, Exact
from assay.v02.tally.named_tally import Names

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

# Any threshold will do: thresholds are what is looked for.
_ASK = engines.Ask(threshold=0.0, losses=False)


@dataclass(frozen=True)
class ScoredTallies:
    """What a threshold is chosen from.

    ``families`` and ``family_rows`` have the positives by their family: the first label is the
    negative one, all others are families. ``family_rows`` are needed where rows come in clusters.
    ``frequencies`` is whether a row may have stood for many.
    """

    resolved: Resolved
    families: ScoreTally | None = None
    family_rows: Sample | None = None
    frequencies: bool = False
    source: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def tallies_of(
    rows: Coded, sides: Mapping[str, Any], left_out: LeftOut | None = None
) -> ScoredTallies:
    """Count rows that were checked, beside those that were left out; families are a slice."""
    left_out = left_out or LeftOut()
    refused = sum(left_out.reasons.values())
    if rows.score is None:
        raise LabelError("a threshold is chosen on scores, and there are only decisions")
    return _sided(
        engines.count_coded(kinds_of(rows, FAMILY), _ASK),
        sides,
        {
            "name": "arrays",
            "rows_read": rows.rows + refused,
            "rows_refused": refused,
            "refused": left_out.source,
        },
        refusal_notes(left_out.reasons),
        by_family=FAMILY in rows.slices,
        frequencies=rows.counts is not None,
    )


def tallies_of_tally(counted: CountedFrame, sides: Mapping[str, Any], source: str) -> ScoredTallies:
    """What was counted by the names of labels, with sides; ``source`` is what the rows are called.

    Where one label is said to be harmless, all others are families.
    """
    tally = counted.tally
    told = {
        "name": source,
        "rows_read": tally.rows,
        "rows_refused": tally.refused.total,
        "refused": listed_source(counted.listed),
    }
    return _sided(tally, sides, told, counted.notes)


def _sided(
    kinds: Tally,
    sides: Mapping[str, Any],
    source: Mapping[str, Any],
    notes: Sequence[str],
    *,
    by_family: bool = False,
    frequencies: bool = False,
) -> ScoredTallies:
    """A tally by label, or by label and family, with sides."""
    sided = sided_families(kinds, sides, by_family=by_family)
    families = sided.scores if sided.resolved.scores is not None else None
    told = (*notes, *sided.notes)
    return ScoredTallies(sided.resolved, families, sided.rows, frequencies, source, told)


class CountedFiles:
    """The rows of files, counted piece by piece; which label is the alarm is told afterwards.

    Databases count what is asked of them themselves, unless families or clusters need the rows.
    ``sides`` are what was said of labels: positive, negative and labels.
    """

    def __init__(
        self,
        names: Sequence[str],
        request: Request,
        sides: Mapping[str, Any],
        progress: ReadProgress,
        mode: str = AUTO,
    ) -> None:
        self._sides = sides
        ask = replace(_ASK, on_bad_row=request.on_bad_row)
        queries = sources(names, request)
        if countable(queries, request):
            counted = count_queries(queries, request, ask, mode)
            self._roles, self._kinds = counted.roles, counted.tally
            self.name, self._source = str(counted.source["name"]), counted.source
            reasons = counted.tally.refused.reasons
            self._notes: tuple[str, ...] = (*refusal_notes(reasons), *counted.notes)
            if self._roles.score is None:
                raise _only_decisions(self.name)
            if self._roles.family is None and self._roles.cluster is None:
                return
        self._reading = Reading(names, request, progress)
        parts = engines.Parts(self._parts, self._reading.again, self._reading.budget.limit)
        self._kinds, told = parts.count(ask, mode)
        rows = self._reading.rows({})
        self._roles, self.name, self._source = self._reading.roles, rows.name, rows.source
        self._notes = (*rows.notes, *refusal_notes(self._reading.reasons), *told)

    @property
    def family(self) -> str | None:
        """The column that tells the kind of attack, where there is one."""
        return self._roles.family

    @property
    def labels(self) -> Names:
        """The labels that occur."""
        return labels_of_kinds(self._kinds)

    def tallies(self, sides: Mapping[str, Any] | None = None) -> ScoredTallies:
        """What was counted, with the sides that were said, or with those of other rows."""
        kind, probable = self.labels.kind, list(self._roles.probabilities)
        said = typed(kind, **(self._sides if sides is None else sides))
        if len(probable) == 1:
            said["positive"] = native(probable[0], kind)
        elif said["labels"] is None and probable:
            said["labels"] = [native(label, kind) for label in probable]
        return _sided(
            self._kinds,
            said,
            self._source,
            self._notes,
            by_family=self.family is not None,
            frequencies=self._roles.count is not None,
        )

    def _parts(self) -> Iterator[Coded]:
        """The rows with a label, part by part, by label and family."""
        for collector in self._reading.pieces():
            columns, _ = collector.take()
            if "y_score" not in columns and "y_proba" not in columns:
                raise _only_decisions(self._reading.rows({}).name)
            columns.pop("y_pred", None)
            rows = coded_columns(columns)
            probable = list(self._reading.roles.probabilities)
            rows = ranked(rows, probable, rows.truth.kind, self._sides)
            yield kinds_of(rows, self._reading.roles.family)


def _only_decisions(name: str) -> ScoreError:
    return ScoreError(
        f"{name}: a threshold is chosen on scores, and only decisions were found. Say which column "
        f"holds the scores with score="
    )


def family_of(files: CountedFiles) -> str:
    """What the column of families is called; labels that are families have a name too."""
    return files.family or FAMILY


# -- every threshold -------------------------------------------------------------------------------


_MODEL = "model"
# As many thresholds by rank on a geometric scale as evenly spread.
_HALF = curves.POINTS // 2


@dataclass(frozen=True)
class Family:
    """The positives of one family, and how many there are."""

    name: str
    size: int


@dataclass(frozen=True, eq=False)
class ThresholdCounts:
    """Some thresholds, falling, and the counts there."""

    thresholds: Floats
    counts: SweepCounts

    def position(self, threshold: float) -> int:
        """The last of these thresholds that is not below another."""
        return int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1


@dataclass(frozen=True, eq=False)
class ThresholdSweep:
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
    def of(cls, tallies: ScoredTallies) -> ThresholdSweep:
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
    ) -> ThresholdSweep:
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

    def counts_at(self, positions: Any) -> SweepCounts:
        """The counts at some positions."""
        sums = self.pyramid.sums(positions)
        names = self.pyramid.tally.labels

        def kind(name: str) -> Hits:
            at = names.index(name, 1)
            return Hits(sums[at], self.pyramid.totals[at])

        return SweepCounts(sums[1:].sum(axis=0), sums[0], self.positives, self.negatives, kind)

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

    def seen_by(self, *rules: Chooser) -> ThresholdCounts:
        """As few thresholds as make the rules choose as among all of them."""
        sweep = narrowed_for(NarrowedSweep.of_data(self.pyramid), rules)
        return ThresholdCounts(self.pyramid.thresholds(sweep.ends), sweep.blocks.high)

    def chosen(
        self, rules: Sequence[Chooser], method: Bootstrap, progress: Progress | None
    ) -> dict[Chooser, ChosenTables]:
        """Each rule on the data and on resamples, of clusters where rows come in such."""
        if self.sample is None:
            choices = choose_from_counts(self.pyramid, rules, method, progress=progress)
            return {rule: choices[rule] for rule in rules}
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


def thinned(swept: ThresholdSweep, kept_thresholds: Sequence[float]) -> curves.Sweep:
    """The curve of a sweep at some 2,000 thresholds at most, and at those that are to be kept."""
    last = swept.last
    places = np.arange(min(last, curves.POINTS) + 1)
    if last >= curves.POINTS:
        spread = np.concatenate((np.linspace(0, last, _HALF), np.geomspace(1, last, _HALF) - 1))
        kept = swept.positions(np.array(kept_thresholds, np.float64))
        places = np.unique(np.concatenate((spread.astype(np.int64), kept)))
    counts = swept.counts_at(places)
    return curves.Sweep(
        np.concatenate(([np.inf], swept.pyramid.thresholds(places))),
        np.concatenate(([0.0], counts.tp.astype(np.float64))),
        np.concatenate(([0.0], counts.fp.astype(np.float64))),
        counts.positives,
        counts.negatives,
    )
