"""What several models said of the same rows: each alone, their decisions, pairs of scores."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.ask import Ask
from assay.v02.engines.local import count_coded
from assay.v02.engines.parts import Accumulator
from assay.v02.engines.resolving import resolve
from assay.errors import InputError, ScoreError
from assay.v02.sources import FAMILY, Coded, NameColumn
from assay.v02.sources.coded import Labels
from assay.v02.sources.columns import recode
from assay.v02.sources.files.several_models import LOT, ModelLot
from assay.v02.sources.labelling import SEVERAL, USUAL, Labelling, listed_labels, no_ranking, one_score
from assay.v02.sources.labelling import resolve as resolve_labels
from assay.v02.sources.validation import families_of
from assay.v02.tally import JointScores, PairTally, Resolved, Sample, ScoreTally, Tally
from assay.v02.tally.blocks import bounds
from assay.v02.tally.keeping import AUTO, Exact, Grid, keeping_of_mode
from assay.v02.tally.named_tally import SCORE
from assay.v02.tally.pairs import crossed
from assay.v02.tally.scores import extremes

Array: TypeAlias = npt.NDArray[Any]
Paired: TypeAlias = Sample | JointScores
Pair: TypeAlias = tuple[str, str]
# A label, a family where there are any, and which models flagged the row.
Flagged: TypeAlias = tuple[str, str | None, tuple[int, ...]]

# Scores of more rows than this are counted on a grid, unless every pair is asked for.
MOST_ROWS = 5_000_000
# How pairs of scores can be kept.
PAIR_MODES = (AUTO, Exact.name, Grid.name)
# Of one model a grid has few cells, so it may be fine; of two as many pairs as these are kept.
BITS, MOST_PAIRS = 16, 1 << 22
_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class CountedModels:
    """What several models said of the same rows.

    ``tallies`` are those of each model alone, ``decisions`` what all of them decided (None where
    one does not decide), ``families`` the same of each kind of attack. ``paired`` gives the scores
    of two of them, or None where there are none to compare. ``mode`` is how scores are kept,
    ``notes`` are those on any of them, ``undecided`` the extremes of scores that no threshold
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
    def families(self) -> NameColumn | None:
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

    def decisions(self, name: str, chosen: slice = _ALL) -> Array:
        """What a model decides on some rows: positions in the labels."""
        rows = self.models[name]
        if rows.decision is not None:
            position = self.labelling.position
            places = np.array([position[label] for label in rows.decision.names], np.uint16)
            return places[rows.decision.codes[chosen]]
        scores = np.asarray(self.scores(name))[chosen]
        if rows.probabilities is not None:
            return np.asarray(scores.argmax(axis=1), np.uint16)
        return np.asarray(scores >= np.float64(self.thresholds[name])).view(np.uint8)

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
        notes=tuple(dict.fromkeys(itertools.chain.from_iterable(notes))),
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
        of_family = codes[:, 0] == position
        tables[families[position]] = PairTally(
            labels, models, codes[of_family, 1:], counts[of_family]
        )
    return tables


# -- rows that come in lots ------------------------------------------------------------------------


class Flags:
    """How many rows of each label, and family, each combination of models flagged."""

    def __init__(self, thresholds: Mapping[str, float]) -> None:
        self.thresholds = thresholds
        self.counts: Counter[Flagged] = Counter()

    def add(self, lot: ModelLot) -> None:
        """Count further rows."""
        models = [
            np.asarray(lot.scores[name] >= np.float64(at)).view(np.uint8)
            for name, at in self.thresholds.items()
        ]
        columns, shape = [lot.truth.codes, *models], [len(lot.truth.names), *[2] * len(models)]
        if lot.families is not None:
            columns.append(lot.families.codes)
            shape.append(len(lot.families.names))
        codes, counts = crossed(columns, shape, lot.counts)
        for row, number in zip(codes.tolist(), counts.tolist(), strict=True):
            family = None if lot.families is None else lot.families.names[row[-1]]
            self.counts[lot.truth.names[row[0]], family, tuple(row[1 : 1 + len(models)])] += number

    def tables(self, labelling: Labelling, *, one_negative: bool) -> _Tables:
        """The decisions of all models, of all rows and by family, once labels have places.

        Where one label is the negative, each of several others is a family of its own, unless
        another column tells families.
        """
        labels, label_at = labelling.labels, labelling.position
        by_label = one_negative and len(label_at) > 2

        def family_of(label: str, family: str | None) -> str | None:
            if family is None and by_label:
                return label if label_at[label] else labels[0]
            return family

        named = [family_of(label, family) for label, family, _ in self.counts]
        families = sorted({family for family in named if family is not None})
        position = {family: i for i, family in enumerate(families)}
        rows = [
            (position.get(family or "", 0), label_at[label], *flags)
            for family, (label, _, flags) in zip(named, self.counts, strict=True)
        ]
        codes = np.array(rows, np.uint16)
        counts = np.array(list(self.counts.values()), np.int64)
        models = tuple(self.thresholds)
        decided = dict(zip(models, codes[:, 2:].T, strict=True))
        table = PairTally.of_codes(labels, codes[:, 1], decided, counts=counts)
        if not families:
            return _Tables(table, {})
        shape = (len(families), *[len(labels)] * (1 + len(models)))
        by_family = crossed(list(codes.T), shape, counts)
        return _Tables(table, split_by_family(labels, models, tuple(families), *by_family))


@dataclass(frozen=True)
class _Tables:
    whole: PairTally
    families: Mapping[str, PairTally]


class ModelCounter:
    """Counts scores of models on the same rows, in memory that does not grow with them.

    ``asked`` are thresholds that were said, None where none was.
    """

    def __init__(self, thresholds: Mapping[str, float | None]) -> None:
        self.asked = thresholds
        self._each = {
            name: Accumulator(Ask(scores=Grid(BITS), threshold=at))
            for name, at in thresholds.items()
        }
        self._flags = Flags({n: USUAL if at is None else at for n, at in thresholds.items()})
        pairs = itertools.combinations(thresholds, 2)
        self._joint = {pair: JointScores.zero((), pair) for pair in pairs}

    def add(self, lot: ModelLot) -> None:
        """Count further rows."""
        lot = lot.without_empty()
        for name, counting in self._each.items():
            counting.add(replace(lot.rows_of(name), slices={}))
        self._flags.add(lot)
        for (a, b), total in self._joint.items():
            bits = total.kept.bits if isinstance(total.kept, Grid) else BITS
            part = JointScores.of_rows(
                lot.truth.names,
                lot.truth.codes,
                {a: lot.scores[a], b: lot.scores[b]},
                counts=lot.counts,
                bits=bits,
            )
            self._joint[a, b] = (total + part).within(MOST_PAIRS)

    def add_counted(
        self, tallies: Mapping[str, Tally], flags: ModelLot, joint: Mapping[Pair, JointScores]
    ) -> None:
        """Add what was counted elsewhere: each model, groups of flags, and pairs of scores.

        A flagged row of ``flags`` has the threshold as its score, any other less.
        """
        for name, tally in tallies.items():
            self._each[name].add_tally(tally)
        self._flags.add(flags)
        for pair, part in joint.items():
            self._joint[pair] = (self._joint[pair] + part).within(MOST_PAIRS)

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The score from which on each model flags a row."""
        return self._flags.thresholds

    def done(self, sides: Callable[[str], Mapping[str, Any]]) -> SidedModels:
        """What was counted, with sides; ``sides`` tells of labels of a kind which is the alarm."""
        tallies = {name: counting.done() for name, counting in self._each.items()}
        first = next(iter(tallies.values()))
        chosen = dict(sides(first.labels.kind))
        resolved: dict[str, Resolved] = {}
        notes: dict[str, None] = {}
        for name, tally in tallies.items():
            resolved[name], inferred = resolve(tally, **chosen)
            notes |= dict.fromkeys(inferred)
        return SidedModels(
            resolved,
            _labelling(first, chosen),
            tuple(notes),
            {name: tally.extremes[SCORE] for name, tally in tallies.items()},
            self._joint,
            self._flags,
            one_negative=chosen.get("negative") is not None,
        )


@dataclass(frozen=True, eq=False)
class SidedModels:
    """What was counted of several models, labels in their places.

    ``notes`` are those on any of them; ``extremes`` the smallest and the largest score.
    """

    tallies: Mapping[str, Resolved]
    labelling: Labelling
    notes: tuple[str, ...]
    extremes: Mapping[str, tuple[float, float]]
    joint: Mapping[tuple[str, str], JointScores]
    flags: Flags
    one_negative: bool

    def counted(self, thresholds: Mapping[str, float], flags: Flags | None = None) -> CountedModels:
        """All of it; ``flags`` are those at ``thresholds`` that were chosen since."""
        tables = None
        if flags is not None or all(tally.decided for tally in self.tallies.values()):
            tables = (flags or self.flags).tables(self.labelling, one_negative=self.one_negative)
        tallies = dict(self.tallies)
        if flags is not None and tables is not None:
            for i, (name, tally) in enumerate(self.tallies.items()):
                confusion = tables.whole.confusion(i)
                tallies[name] = replace(
                    tally, confusion=confusion, threshold=thresholds[name], decided=True
                )
        return CountedModels(
            {name: replace(tally, slices={}) for name, tally in tallies.items()},
            None if tables is None else tables.whole,
            self._paired,
            Grid.name,
            {} if tables is None else tables.families,
            self.notes,
            {name: self.extremes[name] for name, tally in tallies.items() if not tally.decided},
        )

    def _paired(self, a: str, b: str) -> JointScores | None:
        joint = self.joint[a, b].placed(self.labelling.labels, self.labelling.position)
        return joint if len(np.unique(joint.truth)) > 1 else None

    def scores(self) -> dict[str, ScoreTally]:
        """The scores of each model."""
        return {n: tally.scores[0] for n, tally in self.tallies.items() if tally.scores is not None}

    def joint_at(
        self, lots: Iterable[ModelLot], levels: Mapping[str, Array], thresholds: Mapping[str, float]
    ) -> tuple[dict[tuple[str, str], JointScores], Flags]:
        """Pairs of scores rounded down to levels, and the flags at thresholds, of all rows."""
        labels, label_at = self.labelling.labels, self.labelling.position
        counts = {
            (a, b): LevelCounts(labels, {a: levels[a], b: levels[b]})
            for a, b in itertools.combinations(levels, 2)
        }
        flags = Flags(thresholds)
        for lot in lots:
            flags.add(lot)
            places = np.array([label_at.get(name, 0) for name in lot.truth.names], np.int64)
            truth = places[lot.truth.codes]
            at = {name: levels_reached(steps, lot.scores[name]) for name, steps in levels.items()}
            for (a, b), total in counts.items():
                total.add(truth, [at[a], at[b]], lot.counts)
        joint = {}
        for pair, total in counts.items():
            truth, scores, amounts = total.rows()
            joint[pair] = JointScores.of_rows(labels, truth, scores, counts=amounts, bits=None)
        return joint, flags


def levels_reached(levels: Array, scores: Array) -> Array:
    """The position of the last of ascending levels that each score reaches; -1 below them all.

    >>> levels_reached(np.array([0.0, 0.5]), np.array([0.2, 0.5, 0.9])).tolist()
    [0, 1, 1]
    """
    return np.searchsorted(levels, scores, side="right") - 1


class LevelCounts:
    """How many rows of each label reach each combination of levels, which are those of a model."""

    def __init__(self, labels: Sequence[str], levels: Mapping[str, Array]) -> None:
        self._levels = levels
        self._table = np.zeros((len(labels), *map(len, levels.values())), np.int64)

    def add(self, truth: Array, reached: Sequence[Array], counts: Array | None) -> None:
        """Count further rows: a label each, and the level that each model reaches."""
        cells = np.ravel_multi_index((truth, *reached), self._table.shape)
        np.add.at(self._table.reshape(-1), cells, 1 if counts is None else counts)

    def rows(self) -> tuple[Array, dict[str, Array], Array]:
        """Each label and scores that occur, rounded down to levels, and how often."""
        truth, *reached = occupied = np.nonzero(self._table)
        levels = zip(self._levels.items(), reached, strict=True)
        return truth, {name: indices[at] for (name, indices), at in levels}, self._table[occupied]


def _labelling(tally: Tally, sides: Mapping[str, Any]) -> Labelling:
    names = tally.labels.names
    ordered = sorted(names, key=int) if tally.labels.kind == "numbers" else names
    truth = Labels(np.empty(0, np.uint8), tuple(ordered), tally.labels.kind)
    return resolve_labels(truth, None, **sides)


def on_grid(mode: str, rows: ModelRows) -> bool:
    """Whether pairs of scores are counted into cells of a grid."""
    keeping_of_mode(mode, PAIR_MODES)
    first = rows.first
    scores = first.score is not None and first.decision is None
    if mode == Grid.name:
        if not scores:
            raise InputError(
                "mode='grid' keeps scores of two classes as a grid; decisions and probabilities of "
                "several classes have none. Leave mode= out"
            )
        if first.clusters is not None:
            raise InputError(
                "mode='grid' counts rows, and clusters of rows would be lost in it. Leave "
                "clusters= out, or say mode='exact'"
            )
        return True
    many = first.size > MOST_ROWS and first.clusters is None
    return mode == AUTO and scores and many
