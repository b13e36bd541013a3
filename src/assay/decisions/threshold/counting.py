"""Count rows for a choice of threshold, by label and by family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay import engines
from assay.engines.queries import count_queries, countable
from assay.errors import LabelError, ScoreError
from assay.sources import FAMILY, Batch, Coded
from assay.sources.arrays import coded_columns
from assay.sources.batch import Labels
from assay.sources.columns import native
from assay.sources.files import Progress, Reading, Request, ranked, typed
from assay.sources.files.inputs import sources
from assay.tally import Resolved, Sample, ScoreTally, Tally
from assay.tally.by_name import PROBABILITY, SCORE, Names
from assay.tally.keeping import AUTO

_MODEL = "model"
# Between the name of a label and that of a family, where both together stand as a label.
_BETWEEN = "\x1f"


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
    batch: Batch, family: str, source: Mapping[str, Any], notes: Sequence[str] = ()
) -> ScoredTallies:
    """Count rows that were checked; ``family`` names the slice that holds families."""
    if batch.score is None:
        raise LabelError("a threshold is chosen on scores, and there are only decisions")
    resolved = engines.count(replace(batch, slices={}, days=None))
    families = rows = None
    if family in batch.slices:
        labels, truth = batch.by_family(family)
        families = ScoreTally.of_rows(labels, batch.score, truth, counts=batch.counts)
        if batch.clusters is not None:
            rows = Sample.of_rows(
                labels,
                truth,
                {_MODEL: batch.score},
                cluster=batch.clusters.codes,
                clusters=batch.clusters.names,
                counts=batch.counts,
            )
    return ScoredTallies(
        resolved, families, rows, batch.counts is not None, source, (*notes, *batch.notes)
    )


def tallies_of_tally(
    tally: Tally, sides: Mapping[str, Any], source: str, notes: Sequence[str] = ()
) -> ScoredTallies:
    """What was counted by the names of labels, with sides; ``source`` is what the rows are called.

    Where one label is said to be harmless, all others are families.
    """
    told = {
        "name": source,
        "rows_read": tally.rows,
        "rows_refused": tally.refused.total,
        "refused": [],
    }
    return _sided(tally, sides, told, notes)


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
    tally = _by_label(kinds, labels_of(kinds)) if by_family else kinds
    resolved, told = engines.resolve(tally, **sides)
    families = rows = None
    against = sides["negative"] is not None
    if resolved.scores is not None and (by_family or (against and len(tally.labels.names) > 2)):
        families, rows = _families(kinds, resolved, against=against)
    return ScoredTallies(resolved, families, rows, frequencies, source, (*notes, *told))


def labels_of(kinds: Tally) -> Names:
    """The labels that occur, without families."""
    names = {name.partition(_BETWEEN)[0] for name in kinds.labels.names}
    return Names(tuple(sorted(names)), kinds.labels.kind)


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
        progress: Progress,
        mode: str = AUTO,
    ) -> None:
        self._sides = sides
        # Any threshold will do: thresholds are what is looked for.
        ask = engines.Ask(threshold=0.0, losses=False, on_bad_row=request.on_bad_row)
        queries = sources(names, request)
        if countable(queries, request):
            counted = count_queries(queries, request, ask, mode)
            self._roles, self._kinds = counted.roles, counted.tally
            self.name, self._source = str(counted.source["name"]), counted.source
            self._notes: tuple[str, ...] = counted.notes
            if self._roles.score is None:
                raise _only_decisions(self.name)
            if self._roles.family is None and self._roles.cluster is None:
                return
        self._reading = Reading(names, request, progress)
        parts = engines.Parts(self._parts, self._reading.again, self._reading.budget.limit)
        self._kinds, told = parts.count(ask, mode)
        rows = self._reading.rows({})
        self._roles, self.name, self._source = self._reading.roles, rows.name, rows.source
        self._notes = (*rows.notes, *told)

    @property
    def family(self) -> str | None:
        """The column that tells the kind of attack, where there is one."""
        return self._roles.family

    @property
    def labels(self) -> Names:
        """The labels that occur."""
        return labels_of(self._kinds)

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
            family = self._reading.roles.family
            kinds = rows.truth if family is None else _kinds_of(rows, family)
            yield replace(rows, truth=kinds, slices={}, days=None)


def _only_decisions(name: str) -> ScoreError:
    return ScoreError(
        f"{name}: a threshold is chosen on scores, and only decisions were found. Say which column "
        f"holds the scores with score="
    )


def family_of(files: CountedFiles) -> str:
    """What the column of families is called; labels that are families have a name too."""
    return files.family or FAMILY


def _families(
    kinds: Tally, resolved: Resolved, *, against: bool
) -> tuple[ScoreTally, Sample | None]:
    """The scores and rows by family; ``against`` one negative label all others are positive."""
    split = [name.partition(_BETWEEN) for name in kinds.labels.names]
    own = [family if between else label for label, between, family in split]
    positive = [
        label != resolved.labels[0] if against else label == resolved.positive
        for label, _, _ in split
    ]
    held = sorted({name for name, is_one in zip(own, positive, strict=True) if is_one})
    labels = (resolved.labels[0], *held)
    at = {
        kind: labels.index(name, 1) if is_one else 0
        for kind, name, is_one in zip(kinds.labels.names, own, positive, strict=True)
    }
    key = SCORE if SCORE in kinds.scores else (PROBABILITY, resolved.positive or "")
    smallest = kinds.extremes[key][0]
    scores = kinds.scores[key].placed(labels, at).starting_at(smallest)
    sample = kinds.sample
    if sample is None or resolved.sample is None:
        return scores, None
    if len(sample.models) * sample.width > 1:
        column = list(kinds.columns or ()).index(resolved.positive or "")
        sample = replace(sample, scores=sample.scores[:, [column]])
    return scores, sample.placed(labels, at)


def _kinds_of(rows: Coded, family: str) -> Labels:
    """Label and family together as one label."""
    named = rows.slices[family]
    pairs = rows.truth.codes.astype(np.int64) * len(named.names) + named.codes
    seen = np.bincount(pairs, minlength=len(rows.truth.names) * len(named.names)) > 0
    names = [f"{label}{_BETWEEN}{kind}" for label in rows.truth.names for kind in named.names]
    kept = tuple(name for name, is_there in zip(names, seen, strict=True) if is_there)
    codes = (np.cumsum(seen) - 1)[pairs].astype(np.min_scalar_type(max(len(kept) - 1, 0)))
    return Labels(codes, kept, rows.truth.kind)


def _by_label(kinds: Tally, labels: Names) -> Tally:
    """The same tally by label alone."""
    at = {name: labels.names.index(name.partition(_BETWEEN)[0]) for name in kinds.labels.names}
    return replace(
        kinds,
        labels=labels,
        decided={key: table.placed(labels.names, at) for key, table in kinds.decided.items()},
        scores={key: table.placed(labels.names, at) for key, table in kinds.scores.items()},
        clusters=kinds.clusters
        and {
            key: table.placed(
                labels.names, at, (table.columns or ()).index, table.columns or labels.names
            )
            for key, table in kinds.clusters.items()
        },
        sample=kinds.sample and kinds.sample.placed(labels.names, at),
    )
