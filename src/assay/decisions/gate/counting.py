"""Count rows for a gate lot by lot, and let them go: for more of them than are kept.

Once through all rows tells the scores of each model, on a fine grid, and the pairs of both. A
second time counts what rules ask for: each model at a fixed threshold, and both of them at scores
that may be the thresholds of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.compare.thresholds import levels_of
from assay.decisions.gate.rule import NEW, OLD, Operating, Rule
from assay.decisions.gate.tallies import GateTallies, ModelTallies, Points, one_positive, scores_of
from assay.engines import Accumulator, Ask
from assay.engines.families import BETWEEN, FamilyTallies, kinds_of, sided_families
from assay.engines.models import BITS, MOST_PAIRS
from assay.inference.operating import AtThreshold
from assay.sources import FAMILY
from assay.sources.files.model_lots import ModelLot
from assay.tally import JointScores, Sample, ScoreTally
from assay.tally.keeping import Grid

Array: TypeAlias = npt.NDArray[Any]
Lots: TypeAlias = Callable[[], Iterable[ModelLot]]
Sides: TypeAlias = Callable[[str], Mapping[str, Any]]


GRID_NOTE = (
    f"mode grid: the rows are many, so they were counted and not kept, scores in cells of {BITS} "
    f"bits. What depends on their order inside a cell has bounds, which its interval holds"
)


def counted_gate(
    lots: Lots,
    models: Sequence[str],
    rules: Sequence[Rule],
    sides: Sides,
    thresholds: Mapping[str, float | None],
    level: float,
) -> tuple[GateTallies, tuple[Rule, ...]]:
    """What rules ask for of rows that are gone through twice, and the rules, one a family.

    ``sides`` tells of labels of a kind which is the alarm.
    """
    counter = GateCounter(models, paired=any(rule.compares for rule in rules))
    for lot in lots():
        counter.add(lot)
    tallies, families = counter.done(sides, thresholds, level)
    each = tallies.expanded(rules)
    points = PointCounter(tallies, families, each)
    for lot in lots():
        points.add(lot)
    counted = points.done()
    return replace(counted, notes=(*counted.notes, GRID_NOTE)), each


class GateCounter:
    """Counts each model alone, and pairs of their scores, in memory that does not grow."""

    def __init__(self, models: Sequence[str], *, paired: bool) -> None:
        self._each = {
            name: Accumulator(Ask(scores=Grid(BITS), threshold=0.0, losses=False))
            for name in models
        }
        self._joint = JointScores.zero((), (OLD, NEW)) if paired else None
        self._alike = True
        self._by_family = False

    def add(self, lot: ModelLot) -> None:
        """Count further rows."""
        lot = lot.without_empty()
        self._by_family = lot.families is not None
        for name, counting in self._each.items():
            counting.add(kinds_of(lot.rows_of(name), FAMILY))
        if self._joint is None:
            return
        kept = self._joint.kept
        part = JointScores.of_rows(
            lot.truth.names,
            lot.truth.codes,
            {name: lot.scores[name] for name in (OLD, NEW)},
            counts=lot.counts,
            bits=kept.bits if isinstance(kept, Grid) else BITS,
        )
        self._joint = (self._joint + part).within(MOST_PAIRS)
        self._alike = self._alike and np.array_equal(lot.scores[OLD], lot.scores[NEW])

    def done(
        self, sides: Sides, thresholds: Mapping[str, float | None], level: float
    ) -> tuple[GateTallies, FamilyTallies]:
        """What was counted, with sides, and how labels and families were told apart."""
        tallies = {name: counting.done() for name, counting in self._each.items()}
        kind = next(iter(tallies.values())).labels.kind
        counted = {
            name: sided_families(tally, sides(kind), by_family=self._by_family)
            for name, tally in tallies.items()
        }
        first = next(iter(counted.values()))
        one_positive(first.resolved.labels, first.resolved.positive)
        models = {name: ModelTallies(own.resolved, scores_of(own)) for name, own in counted.items()}
        families = () if first.known is None else next(iter(models.values())).scores.labels[1:]
        joint = self._joint
        if joint is not None:
            of_label = {
                name.partition(BETWEEN)[0]: int(at > 0) for name, at in first.places.items()
            }
            joint = joint.placed(first.resolved.labels, of_label)
        gate = GateTallies(
            models,
            families,
            first.known,
            None,
            thresholds,
            level,
            first.notes,
            joint=joint,
            alike=self._alike,
        )
        return gate, first


@dataclass(frozen=True, eq=False)
class _Levels:
    """Scores of one model that may be thresholds at a point, ascending; none is above them all."""

    model: str
    scores: npt.NDArray[np.float64]

    def positions(self, lot: ModelLot) -> Array:
        """Which of them each row reaches."""
        return np.searchsorted(self.scores, lot.scores[self.model], side="right") - 1


class PointCounter:
    """Counts rows by family at the points of rules: of one model, and of both together."""

    def __init__(
        self, tallies: GateTallies, families: FamilyTallies, rules: Sequence[Rule]
    ) -> None:
        self._places = families.places
        self._labels = next(iter(tallies.models.values())).scores.labels
        self._tallies = tallies
        self._levels: dict[tuple[str, Operating], _Levels] = {}
        keys: dict[tuple[tuple[str, Operating], ...], None] = {}
        for rule in rules:
            if rule.of_scores:
                continue
            points = {model: tallies.point(model, rule) for model in rule.models}
            for model, point in points.items():
                self._levels[model, point] = self._levels_of(model, point)
                if isinstance(point, AtThreshold):
                    keys[((model, point),)] = None
            if rule.compares:
                keys[tuple((model, points[model]) for model in (OLD, NEW))] = None
        self._totals = {key: np.zeros(self._shape(key), np.int64) for key in keys}

    def _levels_of(self, model: str, point: Operating) -> _Levels:
        resolved = self._tallies.models[model].resolved
        assert resolved.scores is not None  # noqa: S101 - lots are of scores
        scores = resolved.scores[0]
        if not isinstance(point, AtThreshold):
            return _Levels(model, levels_of(scores, point).scores)
        lowest = min(float(scores.scores[0]), point.threshold)
        return _Levels(model, np.unique([lowest, point.threshold]))

    def _shape(self, key: Sequence[tuple[str, Operating]]) -> tuple[int, ...]:
        return len(self._labels), *(len(self._levels[each].scores) for each in key)

    def add(self, lot: ModelLot) -> None:
        """Count further rows."""
        lot = lot.without_empty()
        kinds = kinds_of(lot.rows_of(NEW), FAMILY).truth
        place = np.array([self._places[name] for name in kinds.names], np.int64)[kinds.codes]
        at = {key: levels.positions(lot) for key, levels in self._levels.items()}
        for key, total in self._totals.items():
            cells = np.ravel_multi_index((place, *(at[each] for each in key)), total.shape)
            amounts = np.ones(1, np.int64) if lot.counts is None else lot.counts
            np.add.at(total.reshape(-1), cells, amounts)

    def done(self) -> GateTallies:
        """The tallies with what rules ask for beside."""
        counted: dict[Points, Sample] = {}
        fixed: dict[str, dict[float, ScoreTally]] = {model: {} for model in self._tallies.models}
        for key, total in self._totals.items():
            place, *at = np.nonzero(total)
            counts = total[(place, *at)]
            scores = {
                each[0]: self._levels[each].scores[position]
                for each, position in zip(key, at, strict=True)
            }
            if len(key) == 1:
                ((model, point),) = key
                assert isinstance(point, AtThreshold)  # noqa: S101 - others are of both models
                fixed[model][point.threshold] = ScoreTally.of_rows(
                    self._labels, scores[model], place, counts=counts
                )
            else:
                (_, old), (_, new) = key
                counted[old, new] = Sample.of_rows(self._labels, place, scores, counts=counts)
        models = {
            model: replace(own, fixed=fixed[model]) for model, own in self._tallies.models.items()
        }
        return replace(self._tallies, models=models, counted=counted)
