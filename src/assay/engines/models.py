"""What several models said of the same rows: each alone, their decisions, pairs of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.ask import Ask
from assay.engines.local import count_coded
from assay.engines.resolving import resolve
from assay.errors import ScoreError
from assay.sources import FAMILY, Coded, Named
from assay.sources.arrays import families_of
from assay.sources.coded import Labels
from assay.sources.columns import recode
from assay.sources.files.model_lots import LOT, ModelLot
from assay.sources.labelling import Labelling
from assay.sources.labelling import resolve as resolve_labels
from assay.sources.probabilities import SEVERAL, listed_labels, no_ranking, one_score
from assay.tally import JointScores, PairTally, Resolved, Sample
from assay.tally.blocks import bounds
from assay.tally.by_name import SCORE
from assay.tally.pairs import crossed
from assay.tally.scores import extremes

Array: TypeAlias = npt.NDArray[Any]
Paired: TypeAlias = Sample | JointScores

# Scores of more rows than this are counted on a grid, unless every pair is asked for.
MOST_ROWS = 5_000_000
# Of one model a grid has few cells, so it may be fine; of two as many pairs as these are kept.
BITS, MOST_PAIRS = 16, 1 << 22
_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class CountedModels:
    """What several models said of the same rows.

    ``tallies`` are those of each model alone, ``decisions`` what all of them decided (None where
    one does not decide), ``families`` the same of each kind of attack. ``paired`` gives the scores
    of two of them, or None where there are none to compare. ``mode`` is how scores are kept,
    ``notes`` are those on the first model, ``undecided`` the extremes of scores that no threshold
    decides on.
    """

    tallies: Mapping[str, Resolved]
    decisions: PairTally | None
    paired: Callable[[str, str], Paired | None]
    mode: str = "exact"
    families: Mapping[str, PairTally] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    undecided: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def first(self) -> Resolved:
        """Any of them: all have the same rows."""
        return next(iter(self.tallies.values()))


@dataclass(frozen=True, eq=False)
class ModelRows:
    """The rows that several models judged, kept where counts do not tell what is asked.

    ``models`` are the rows of each, ``sides`` what was said of their labels, ``thresholds`` from
    which score on each model flags; one that has none is decided on by the usual one.
    """

    models: Mapping[str, Coded]
    sides: Mapping[str, Any]
    labelling: Labelling
    thresholds: Mapping[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        models: Mapping[str, Coded],
        thresholds: Mapping[str, float | None],
        *,
        positive: Any = None,
        negative: Any = None,
        labels: Sequence[Any] | None = None,
    ) -> ModelRows:
        """Rows that were coded, and which of their labels is the alarm."""
        first = next(iter(models.values()))
        for rows in models.values():
            if rows.score is not None:
                extremes(rows.score)  # which refuses what is not finite
        sides = {
            "positive": positive,
            "negative": negative,
            "labels": listed_labels(first, labels),
        }
        labelling = resolve_labels(first.truth, first.decision, **sides)
        if labelling.positive is None and first.score is not None:
            raise ScoreError(no_ranking(labelling.labels))
        if labelling.positive is None and any(at is not None for at in thresholds.values()):
            raise ScoreError(SEVERAL)
        if labelling.positive is not None:
            alarms = [name for name, place in labelling.position.items() if place == 1]
            models = {
                name: rows if rows.probabilities is None else one_score(rows, alarms)
                for name, rows in models.items()
            }
        return cls(models, sides, labelling, thresholds)

    @property
    def first(self) -> Coded:
        """Any of them: all have the same rows."""
        return next(iter(self.models.values()))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in their places."""
        return self.labelling.labels

    @cached_property
    def truth(self) -> Array:
        """The label of each row: a position in the labels."""
        return recode(self.first.truth, self.labelling.position)

    @cached_property
    def families(self) -> Named | None:
        """The kind of attack of each row, where a column or several positive labels tell it."""
        if FAMILY in self.first.slices:
            return self.first.slices[FAMILY]
        if self.sides["negative"] is None or len(self.labelling.position) < 3:
            return None
        return families_of(self.first.truth, self.labelling)

    def scores(self, name: str) -> Array | None:
        """The score of each row, or a probability a label, in their order; None of decisions."""
        rows = self.models[name]
        if rows.probabilities is None:
            return rows.score
        columns = list(rows.columns or ())
        return rows.probabilities[:, [columns.index(label) for label in self.labels]]

    def decisions(self, name: str, some: slice = _ALL) -> Array:
        """What a model decides on some rows: positions in the labels."""
        rows = self.models[name]
        if rows.decision is not None:
            position = self.labelling.position
            places = np.array([position[label] for label in rows.decision.names], np.uint16)
            return places[rows.decision.codes[some]]
        if rows.score is not None:
            at = np.float64(self.thresholds[name])
            return np.asarray(rows.score[some] >= at).view(np.uint8)
        table = self.scores(name)
        assert table is not None  # noqa: S101 - a model has one of the three
        return np.asarray(table[some].argmax(axis=1), np.uint16)

    def sample(self, a: str, b: str) -> Sample | None:
        """The rows with the scores of two models, where two classes have some."""
        tables = {name: self.scores(name) for name in (a, b)}
        if tables[a] is None or self.truth.min() == self.truth.max():
            return None
        clusters = self.first.clusters
        return Sample.of_rows(
            self.labels,
            self.truth,
            {name: table for name, table in tables.items() if table is not None},
            cluster=None if clusters is None else clusters.codes,
            clusters=() if clusters is None else clusters.names,
            counts=self.first.counts,
        )

    def lots(self) -> Iterator[ModelLot]:
        """The scores of all models, some rows at a time."""
        first, families = self.first, self.first.slices.get(FAMILY)
        for i, j in bounds(first.size, LOT):
            yield ModelLot(
                Labels(first.truth.codes[i:j], first.truth.names, first.truth.kind),
                {n: rows.score[i:j] for n, rows in self.models.items() if rows.score is not None},
                None if first.counts is None else first.counts[i:j],
                None if families is None else replace(families, codes=families.codes[i:j]),
                0 if i else first.empty,
            )


def count_models(rows: ModelRows) -> CountedModels:
    """Count models on the same rows, every pair of scores kept."""
    tallies: dict[str, Resolved] = {}
    notes: list[tuple[str, ...]] = []
    undecided = {}
    for name, coded in rows.models.items():
        ask = Ask(threshold=rows.thresholds.get(name))
        tally = count_coded(replace(coded, slices={}), ask)
        resolved, inferred = resolve(tally, **rows.sides)
        tallies[name] = replace(resolved, slices={})
        notes.append(inferred)
        if not resolved.decided:
            undecided[name] = tally.extremes[SCORE]
    decisions, families = None, {}
    if not undecided:
        at = {name: tally.threshold for name, tally in tallies.items()}
        decided = {name: replace(rows, thresholds=at).decisions(name) for name in tallies}
        counts = rows.first.counts
        decisions = PairTally.of_codes(rows.labels, rows.truth, decided, counts=counts)
        families = _families(rows, decided)
    return CountedModels(
        tallies,
        decisions,
        rows.sample,
        families=families,
        notes=notes[0],
        undecided=undecided,
    )


def _families(rows: ModelRows, decided: Mapping[str, Array]) -> dict[str, PairTally]:
    """What all models decided on the rows of each family, where families are known."""
    column = rows.families
    if column is None:
        return {}
    sizes = (len(column.names), *[len(rows.labels)] * (len(decided) + 1))
    columns = [column.codes, rows.truth, *decided.values()]
    codes, counts = crossed(columns, sizes, rows.first.counts)
    return split_by_family(rows.labels, tuple(decided), column.names, codes, counts)


def split_by_family(
    labels: tuple[str, ...],
    models: tuple[str, ...],
    families: tuple[str, ...],
    codes: Array,
    counts: npt.NDArray[np.int64],
) -> dict[str, PairTally]:
    """A table for each family that occurs; its position is the first of the codes."""
    tables = {}
    for position in np.unique(codes[:, 0]).tolist():
        own = codes[:, 0] == position
        tables[families[position]] = PairTally(labels, models, codes[own, 1:], counts[own])
    return tables
