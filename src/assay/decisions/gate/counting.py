"""Count rows for a gate lot by lot, and let them go: for more of them than are kept.

Once through all rows tells the scores of each model, on a fine grid, and the pairs of both. A
second time counts what rules ask for: each model at a fixed threshold, and both of them at scores
that may be the thresholds of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.compare.thresholds import levels_of
from assay.decisions.gate.rule import NEW, OLD, Operating, Rule
from assay.decisions.gate.tallies import GateTallies, Points
from assay.engines import Accumulator, Ask
from assay.engines.families import BETWEEN, FamilyTallies, kinds_of, sided_families
from assay.engines.model_counter import LevelCounts, levels_reached
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
        each = {name: counting.done() for name, counting in self._each.items()}
        kind = next(iter(each.values())).labels.kind
        counted = {
            name: sided_families(tally, sides(kind), by_family=self._by_family)
            for name, tally in each.items()
        }
        first, joint = next(iter(counted.values())), self._joint
        tallies = GateTallies.of(counted, thresholds, level)
        if joint is not None:
            of_label = {
                name.partition(BETWEEN)[0]: int(at > 0) for name, at in first.places.items()
            }
            joint = joint.placed(first.resolved.labels, of_label)
        return replace(tallies, joint=joint, alike=self._alike), first


class PointCounter:
    """Counts rows by family at the points of rules: of one model, and of both together."""

    def __init__(
        self, tallies: GateTallies, families: FamilyTallies, rules: Sequence[Rule]
    ) -> None:
        self._places = families.places
        self._labels = next(iter(tallies.models.values())).scores.labels
        self._tallies = tallies
        # Scores that may be thresholds at a point, ascending.
        self._levels: dict[tuple[str, Operating], Array] = {}
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
        self._counts = {
            key: LevelCounts(self._labels, {model: self._levels[model, at] for model, at in key})
            for key in keys
        }

    def _levels_of(self, model: str, point: Operating) -> Array:
        resolved = self._tallies.models[model].resolved
        assert resolved.scores is not None  # noqa: S101 - lots are of scores
        scores = resolved.scores[0]
        if not isinstance(point, AtThreshold):
            return levels_of(scores, point).scores
        lowest = min(float(scores.scores[0]), point.threshold)
        return np.unique([lowest, point.threshold])

    def add(self, lot: ModelLot) -> None:
        """Count further rows."""
        lot = lot.without_empty()
        kinds = kinds_of(lot.rows_of(NEW), FAMILY).truth
        place = np.array([self._places[name] for name in kinds.names], np.int64)[kinds.codes]
        at = {
            (model, point): levels_reached(levels, lot.scores[model])
            for (model, point), levels in self._levels.items()
        }
        for key, counts in self._counts.items():
            counts.add(place, [at[each] for each in key], lot.counts)

    def done(self) -> GateTallies:
        """The tallies with what rules ask for beside."""
        counted: dict[Points, Sample] = {}
        fixed: dict[str, dict[float, ScoreTally]] = {model: {} for model in self._tallies.models}
        for key, held in self._counts.items():
            place, scores, counts = held.rows()
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
