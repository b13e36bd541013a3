"""Count rows for a choice of threshold, by label and by family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay import engines
from assay.engines.families import kinds_of, labels_of_kinds, sided_families
from assay.engines.queries import count_queries, countable
from assay.errors import LabelError, ScoreError
from assay.evaluation.from_frame import refusal_notes
from assay.sources import FAMILY, Coded
from assay.sources.arrays import coded_columns
from assay.sources.columns import native
from assay.sources.files import Progress, Reading, Request, ranked, typed
from assay.sources.files.inputs import sources
from assay.tally import Resolved, Sample, ScoreTally, Tally
from assay.tally.by_name import Names
from assay.tally.keeping import AUTO

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
    rows: Coded, sides: Mapping[str, Any], refused: Mapping[str, int] | None = None
) -> ScoredTallies:
    """Count rows that were checked; families are the slice of that name.

    ``refused`` are rows that were left out, by the reason.
    """
    reasons = refused or {}
    left_out = sum(reasons.values())
    if rows.score is None:
        raise LabelError("a threshold is chosen on scores, and there are only decisions")
    return _sided(
        engines.count_coded(kinds_of(rows, FAMILY), _ASK),
        sides,
        {"name": "arrays", "rows_read": rows.rows + left_out, "rows_refused": left_out},
        refusal_notes(reasons),
        by_family=FAMILY in rows.slices,
        frequencies=rows.counts is not None,
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
        progress: Progress,
        mode: str = AUTO,
    ) -> None:
        self._sides = sides
        ask = replace(_ASK, on_bad_row=request.on_bad_row)
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
