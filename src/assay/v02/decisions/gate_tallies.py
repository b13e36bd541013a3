"""What was counted of the new and the old model, which have said something of the same rows."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02 import engines
from assay.v02.decisions.compare.models import levels_of
from assay.v02.decisions.rule import NEW, OLD, Operating, Rule
from assay.v02.engines import Accumulator, Ask
from assay.v02.engines.models import BITS, MOST_PAIRS, LevelCounts, ModelRows, levels_reached
from assay.v02.engines.resolving import BETWEEN, FamilyTallies, kinds_of, sided_families
from assay.errors import InputError, ScoreError
from assay.v02.evaluation.judge import Judge
from assay.v02.inference import Estimate
from assay.v02.inference.differences import must_spread
from assay.v02.inference.threshold_resampling import ScoredRows
from assay.v02.inference.threshold_rules import AtThreshold, Pyramid
from assay.v02.measures import Measure
from assay.v02.sources import FAMILY
from assay.v02.sources.files.several_models import ModelLot
from assay.v02.tally import ClusterTally, Confusion, JointScores, Resolved, Sample, ScoreTally
from assay.v02.tally.keeping import Grid

Lots: TypeAlias = Callable[[], Iterable[ModelLot]]
Sides: TypeAlias = Callable[[str], Mapping[str, Any]]

Array: TypeAlias = npt.NDArray[Any]

# Where the old and the new model are judged.
Points: TypeAlias = tuple[Operating, Operating]

# Decisions are as scores of 0 and 1, flagged from here on.
_DECIDED = AtThreshold(0.5)


@dataclass(frozen=True, eq=False)
class ModelTallies:
    """What was counted of one model.

    ``scores`` has the families in place of the positives where there are families, and decisions as
    scores of 0 and 1. ``fixed`` has the same at thresholds that lie inside a cell of a grid.
    """

    resolved: Resolved
    scores: ScoreTally
    fixed: Mapping[float, ScoreTally] = field(default_factory=dict)

    @cached_property
    def pyramid(self) -> Pyramid:
        """The scores, for thresholds that are chosen anew."""
        return Pyramid.of(self.scores)

    def at(self, threshold: float) -> Resolved:
        """What was counted, decided at a threshold; given decisions stay as they are."""
        given = self.resolved
        decided = given.scores is None
        at = _DECIDED.threshold if decided else threshold
        flagged, totals = self.fixed.get(at, self.scores).at_least(at), self.scores.totals()
        # Without families the positives stand as one, which nobody asks for.
        families = {
            (FAMILY, name): Confusion(given.labels, ((0, 0), (size - hits, hits)))
            for name, hits, size in zip(
                self.scores.labels[1:], flagged[1:], totals[1:], strict=True
            )
        }
        if decided:
            return replace(given, slices=families)
        fp, negatives = flagged[0], totals[0]
        tp, positives = sum(flagged[1:]), sum(totals[1:])
        clusters = None
        if given.sample is not None:
            clusters = ClusterTally.of_sample(given.labels, given.sample, threshold)
        return replace(
            given,
            threshold=threshold,
            confusion=Confusion(given.labels, ((negatives - fp, fp), (positives - tp, tp))),
            clusters=clusters,
            slices=families,
        )


@dataclass(frozen=True, eq=False)
class GateTallies:
    """The tallies of one or both models, and the thresholds that decide where a rule names none.

    ``families`` are those that have positive rows, ``known`` all names of families (None where
    nobody told them). ``rows`` holds what each model said of each row, by family where there are
    families, the old model first: for rules about differences, and where rows come in clusters.
    Where rows are too many to be kept, ``counted`` has them for the points of each rule, scores
    rounded down to those that may be thresholds there, ``joint`` the pairs of scores in cells, and
    ``alike`` tells whether both models said the very same of every row.
    """

    models: Mapping[str, ModelTallies]
    families: tuple[str, ...]
    known: tuple[str, ...] | None
    rows: Sample | None
    thresholds: Mapping[str, float | None]
    level: float
    notes: tuple[str, ...] = ()
    counted: Mapping[Points, Sample] = field(default_factory=dict)
    joint: JointScores = field(default_factory=lambda: JointScores.zero((), (OLD, NEW)))
    alike: bool = False
    _judges: dict[tuple[str, float | None], Judge] = field(default_factory=dict)

    @property
    def mode(self) -> str:
        """How scores are kept."""
        return next(iter(self.models.values())).scores.kept.name

    @classmethod
    def of(
        cls,
        counted: Mapping[str, FamilyTallies],
        thresholds: Mapping[str, float | None],
        level: float,
    ) -> GateTallies:
        """The tallies of models that were counted each alone."""
        first = next(iter(counted.values()))
        if first.resolved.positive is None:
            raise InputError(
                f"a gate judges one positive label, and there are {len(first.resolved.labels)} "
                f"classes: say positive= or negative="
            )
        models = {
            name: ModelTallies(model.resolved, scores_of(model)) for name, model in counted.items()
        }
        families = () if first.known is None else next(iter(models.values())).scores.labels[1:]
        notes = tuple(dict.fromkeys(note for model in counted.values() for note in model.notes))
        return cls(models, families, first.known, None, thresholds, level, notes)

    @property
    def first(self) -> Resolved:
        """What was counted of the first model; labels are those of all."""
        return next(iter(self.models.values())).resolved

    @property
    def labels(self) -> tuple[str, ...]:
        """The negative label and the positive one."""
        return self.first.labels

    @property
    def positive(self) -> str:
        """The positive label."""
        return self.labels[1]

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many negatives and positives there are."""
        negatives, *positives = next(iter(self.models.values())).scores.totals()
        return negatives, sum(positives)

    @property
    def clustered(self) -> bool:
        """Whether rows come in clusters."""
        return self.rows is not None and bool(self.rows.clusters)

    def family(self, name: str) -> int | None:
        """The position of a family; None where it occurs, but without positive rows."""
        if name in self.families:
            return self.families.index(name)
        if name in (self.known or ()):
            return None
        close = difflib.get_close_matches(name, self.families, n=3) or self.families[:8]
        raise InputError(
            f"no row is of the family {name!r}; there are {len(self.families)}, such as "
            f"{', '.join(map(repr, close))}"
        )

    def label(self, name: str) -> int:
        """The position of a label, 1 for the positive."""
        if name not in self.labels:
            labels = ", ".join(map(repr, self.labels))
            raise InputError(f"there is no label {name!r}; the labels are {labels}")
        return self.labels.index(name)

    def point(self, model: str, rule: Rule) -> Operating:
        """Where a rule judges a model: as it says, or at the gate's own threshold."""
        resolved = self.models[model].resolved
        if resolved.scores is None:
            if rule.at is not None:
                raise InputError(f"the rule {rule.text!r} sets a threshold, and needs scores")
            return _DECIDED
        if rule.at is not None:
            return rule.at
        threshold = self.own_threshold(model)
        if threshold is None:
            low, high = (float(resolved.scores[0].scores[end]) for end in (0, -1))
            name = "threshold" if model == NEW else "old_threshold"
            raise ScoreError(
                f"scores of the {model} model run from {low:g} to {high:g}, so 0.5 means nothing "
                f"for the rule {rule.text!r}: say {name}=, or write @threshold= or @max-far= in it"
            )
        return AtThreshold(threshold)

    def own_threshold(self, model: str) -> float | None:
        """Where a model flags rows if a rule sets no threshold: as given, else 0.5 of [0, 1].

        What is given for the new model holds for the old one too, if nothing is given for that.
        """
        resolved, given = self.models[model].resolved, self.thresholds[model]
        if resolved.scores is None:
            return None
        given = self.thresholds[NEW] if given is None else given
        return 0.5 if given is None and resolved.kind == "probability" else given

    def decided(self, model: str) -> Resolved:
        """What was counted of a model, decided where it flags rows if a rule sets no threshold."""
        tallies, threshold = self.models[model], self.own_threshold(model)
        if threshold is None:
            return replace(tallies.resolved, decided=tallies.resolved.scores is None)
        return replace(tallies.at(threshold), decided=True)

    def judge(self, model: str, threshold: float | None = None) -> Judge:
        """What gives the estimates of one model at a fixed threshold."""
        if (model, threshold) not in self._judges:
            tally = self.models[model].at(0.0 if threshold is None else threshold)
            self._judges[model, threshold] = Judge(tally, self.level)
        return self._judges[model, threshold]

    def expanded(self, rules: Iterable[Rule]) -> tuple[Rule, ...]:
        """The rules, those for each family one a family."""
        return tuple(each for rule in rules for each in self._expanded(rule))

    def _expanded(self, rule: Rule) -> Iterator[Rule]:
        of_family = rule.every_family or rule.family is not None
        if of_family and self.known is None:
            raise InputError(f"the rule {rule.text!r} is about families: give families=")
        if not rule.every_family:
            yield rule
            return
        if not self.families:
            raise InputError(f"the rule {rule.text!r} has no family to judge: no row is positive")
        yield from (rule.of_family(name) for name in self.families)

    # -- rows --------------------------------------------------------------------------------------

    def points(self, rule: Rule) -> Points:
        """Where a rule judges the old and the new model."""
        return self.point(OLD, rule), self.point(NEW, rule)

    def sample(self, rule: Rule) -> Sample:
        """What each model said of each row, or what of it a rule about decisions asks for."""
        return self.counted[self.points(rule)] if self.rows is None else self.rows

    def scored(self, sample: Sample) -> ScoredRows:
        """The rows for thresholds that are chosen anew."""
        return ScoredRows(
            truth=sample.truth > 0,
            scores={model: said_by(sample, model) for model in sample.models},
            counts=sample.counts,
            clusters=sample.cluster if sample.clusters else None,
            groups=sample.truth.astype(np.int64) - 1 if self.families else None,
            group_names=self.families,
        )

    def paired(self, measure: Measure) -> tuple[Sample, tuple[Estimate, ...]]:
        """The scores of both models by the two labels, the old one first.

        Pairs of cells tell how models vary together; what more is known of each comes beside.
        """
        if self.rows is None:
            each = () if self.alike else (OLD, NEW)
            return self.joint.sample(), tuple(self.judge(m).scored(measure) for m in each)
        rows = self.rows
        sample = Sample.of_rows(
            self.labels,
            rows.truth > 0,
            {model: said_by(rows, model) for model in (OLD, NEW)},
            cluster=rows.cluster,
            clusters=rows.clusters,
            counts=rows.counts,
        )
        return sample, ()

    @cached_property
    def same(self) -> bool:
        """Whether both models said the very same of every row."""
        if self.rows is None:
            return self.alike
        return bool(np.array_equal(said_by(self.rows, NEW), said_by(self.rows, OLD)))

    @cached_property
    def same_order(self) -> bool:
        """Whether both models rank all rows alike, as far as it is known."""
        if self.rows is None:
            return self.alike
        both = (said_by(self.rows, model) for model in (NEW, OLD))
        new, old = (np.unique(values, return_inverse=True)[1] for values in both)
        return bool(np.array_equal(new, old))


def said_by(sample: Sample, model: str) -> Array:
    """The scores of one model."""
    return sample.scores[:, sample.models.index(model)]


def flagged_by(sample: Sample, model: str, threshold: float | None) -> npt.NDArray[np.bool_]:
    """Which rows a model flags; none where there is no threshold."""
    if threshold is None:
        return np.zeros(sample.size, bool)
    return np.asarray(said_by(sample, model) >= np.float64(threshold))


def gate_tallies(
    rows: ModelRows, thresholds: Mapping[str, float | None], level: float, *, paired: bool
) -> GateTallies:
    """Count the rows of each model; ``paired`` keeps what both said of the same row."""
    if rows.first.clusters is not None:
        must_spread(rows.first.clusters.codes, rows.truth)
    # Each rule sets its own threshold; this one decides nothing.
    ask = engines.Ask(threshold=0.0)
    by_family = FAMILY in rows.first.slices
    counted = {
        model: sided_families(
            engines.count_coded(kinds_of(coded, FAMILY), ask), rows.sides, by_family=by_family
        )
        for model, coded in rows.models.items()
    }
    tallies = GateTallies.of(counted, thresholds, level)
    if not paired and rows.first.clusters is None:
        return tallies
    labels = next(iter(tallies.models.values())).scores.labels
    return replace(tallies, rows=_rows(rows, labels))


def scores_of(counted: FamilyTallies) -> ScoreTally:
    """The scores of a model by family; without families, by the two labels."""
    resolved = counted.resolved
    if counted.scores is not None:
        return counted.scores
    if resolved.scores is not None:
        return resolved.scores[0]
    cells = np.array(resolved.confusion.cells, np.int64)
    truth, decision = np.indices((2, 2)).reshape(2, -1)
    score = decision.astype(np.float32)
    return ScoreTally.of_rows(resolved.labels, score, truth, counts=cells.ravel())


def _rows(rows: ModelRows, labels: tuple[str, ...]) -> Sample:
    """What each model said of each row, by family where there are families, the old one first."""
    truth, named = rows.truth, rows.families
    if named is not None:
        places = {name: i for i, name in enumerate(labels) if i}
        table = np.array([places.get(name, 0) for name in named.names], np.uint16)
        truth = np.where(truth == 1, table[named.codes], 0)
    values = {}
    for name in (OLD, NEW):
        if name in rows.models:
            score = rows.models[name].score
            values[name] = rows.decisions(name) if score is None else score
    clusters = rows.first.clusters
    return Sample.of_rows(
        labels,
        truth,
        values,
        cluster=None if clusters is None else clusters.codes,
        clusters=() if clusters is None else clusters.names,
        counts=rows.first.counts,
    )


# -- rows that are counted lot by lot and let go, where they are too many to be kept ---------------


GRID_NOTE = (
    f"mode grid: rows were counted and not kept, scores in cells of {BITS} "
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

    Once through all rows tells the scores of each model, on a fine grid, and the pairs of both. A
    second time counts what rules ask for: each model at a fixed threshold, and both of them at
    scores that may be the thresholds of a rule.

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
            tallies = replace(tallies, joint=joint.placed(first.resolved.labels, of_label))
        return replace(tallies, alike=self._alike), first


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
        fixed: dict[tuple[str, AtThreshold], None] = {}
        both_points: dict[Points, None] = {}
        for rule in rules:
            if rule.of_scores:
                continue
            points = {model: tallies.point(model, rule) for model in rule.models}
            for model, point in points.items():
                self._levels[model, point] = self._levels_of(model, point)
                if isinstance(point, AtThreshold):
                    fixed[model, point] = None
            if rule.compares:
                both_points[points[OLD], points[NEW]] = None
        self._fixed = {
            (model, at): LevelCounts(self._labels, {model: self._levels[model, at]})
            for model, at in fixed
        }
        self._together = {
            (old, new): LevelCounts(
                self._labels, {OLD: self._levels[OLD, old], NEW: self._levels[NEW, new]}
            )
            for old, new in both_points
        }

    def _levels_of(self, model: str, point: Operating) -> Array:
        tallies = self._tallies.models[model]
        scores = tallies.scores if tallies.resolved.scores is None else tallies.resolved.scores[0]
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
        for key, counts in self._fixed.items():
            counts.add(place, [at[key]], lot.counts)
        for (old, new), counts in self._together.items():
            counts.add(place, [at[OLD, old], at[NEW, new]], lot.counts)

    def done(self) -> GateTallies:
        """The tallies with what rules ask for beside."""
        counted: dict[Points, Sample] = {}
        fixed: dict[str, dict[float, ScoreTally]] = {model: {} for model in self._tallies.models}
        for (model, point), counts_of_levels in self._fixed.items():
            place, scores, counts = counts_of_levels.rows()
            fixed[model][point.threshold] = ScoreTally.of_rows(
                self._labels, scores[model], place, counts=counts
            )
        for points, counts_of_levels in self._together.items():
            place, scores, counts = counts_of_levels.rows()
            counted[points] = Sample.of_rows(self._labels, place, scores, counts=counts)
        models = {
            model: replace(tallies, fixed=fixed[model])
            for model, tallies in self._tallies.models.items()
        }
        return replace(self._tallies, models=models, counted=counted)
