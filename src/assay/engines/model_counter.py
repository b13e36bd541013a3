"""Count what several models said of rows that come in lots, by the names of their labels."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.ask import Ask
from assay.engines.models import BITS, MOST_PAIRS, CountedModels, split_by_family
from assay.engines.parts import Accumulator
from assay.engines.resolving import resolve
from assay.sources.coded import Labels
from assay.sources.files.model_lots import ModelLot
from assay.sources.labelling import Labelling
from assay.sources.labelling import resolve as resolve_labels
from assay.sources.thresholds import USUAL
from assay.tally import JointScores, PairTally, Resolved, ScoreTally, Tally
from assay.tally.by_name import SCORE
from assay.tally.keeping import Grid
from assay.tally.pairs import crossed

Array: TypeAlias = npt.NDArray[Any]
Pair: TypeAlias = tuple[str, str]
# A label, a family where there are any, and which models flagged the row.
Flagged: TypeAlias = tuple[str, str | None, tuple[int, ...]]


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
        own = one_negative and len(label_at) > 2

        def family_of(label: str, family: str | None) -> str | None:
            if family is None and own:
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
        codes = codes.reshape(len(rows), -1)
        counts = np.array(list(self.counts.values()), np.int64)
        models = tuple(self.thresholds)
        decided = dict(zip(models, codes[:, 2:].T, strict=True))
        whole = PairTally.of_codes(labels, codes[:, 1], decided, counts=counts)
        if not families:
            return _Tables(whole, {})
        shape = (len(families), *[len(labels)] * (1 + len(models)))
        by_family = crossed(list(codes.T), shape, counts)
        return _Tables(whole, split_by_family(labels, models, tuple(families), *by_family))


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
        notes: tuple[str, ...] = ()
        for name, tally in reversed(tallies.items()):
            resolved[name], notes = resolve(tally, **chosen)
        return SidedModels(
            {name: resolved[name] for name in tallies},
            _labelling(first, chosen),
            notes,
            {name: tally.extremes[SCORE] for name, tally in tallies.items()},
            self._joint,
            self._flags,
            one_negative=chosen.get("negative") is not None,
        )


@dataclass(frozen=True, eq=False)
class SidedModels:
    """What was counted of several models, labels in their places.

    ``notes`` are those on the first model; ``extremes`` the smallest and the largest score.
    """

    tallies: Mapping[str, Resolved]
    labelling: Labelling
    notes: tuple[str, ...]
    extremes: Mapping[str, tuple[float, float]]
    joint: Mapping[tuple[str, str], JointScores]
    flags: Flags
    one_negative: bool = False

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
        truth, *reached = held = np.nonzero(self._table)
        levels = zip(self._levels.items(), reached, strict=True)
        return truth, {name: own[at] for (name, own), at in levels}, self._table[held]


def _labelling(tally: Tally, sides: Mapping[str, Any]) -> Labelling:
    names = tally.labels.names
    ordered = sorted(names, key=int) if tally.labels.kind == "numbers" else names
    truth = Labels(np.empty(0, np.uint8), tuple(ordered), tally.labels.kind)
    return resolve_labels(truth, None, **sides)
