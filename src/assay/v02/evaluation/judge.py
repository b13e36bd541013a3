"""Estimates of single measures from a tally."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from assay.errors import InputError, MethodError
from assay.v02.evaluation import deployment, probabilities
from assay.v02.evaluation.deployment import Unlabelled
from assay.v02.evaluation.probabilities import DEFINED_ONLY, NO_ROWS, NOT_KEPT, TOO_FEW, bounded
from assay.v02.formula import Expression, at_base_rate, of_classes, value
from assay.v02.inference import (
    ClopperPearson,
    DeLong,
    Estimate,
    Method,
    Newcombe,
    Quantity,
    Strata,
    estimate,
)
from assay.v02.inference import bootstrap as resampling
from assay.v02.inference.bootstrap import Bootstrap
from assay.v02.inference.estimation import ONE_CLUSTER, ONE_OF_A_CLASS
from assay.v02.inference.score_intervals import clustered, has_lone_class, ranked_interval
from assay.v02.measures import (
    ALERT_RATE,
    MAX_FPR,
    Binned,
    Costs,
    Interval,
    MeanLoss,
    Measure,
    Needs,
    OpenSet,
    OverPairs,
    Ranked,
    Ranking,
    Reliability,
    rank,
    reliability,
)
from assay.v02.measures.scores import OfScores, bound_of
from assay.v02.number_text import grouped, significant
from assay.v02.sources import FAMILY
from assay.v02.sources.labelling import likely_threshold
from assay.v02.tally import Confusion, Resolved, Sample, ScoreTally
from assay.v02.tally.keeping import Cuts, Exact, Grid, Keeping

NO_UNKNOWN_LABEL = "it needs rows of a label that the model does not know: say unknown="
NO_DECISIONS = "no threshold was given, and scores beyond [0, 1] have no usual one"
NO_COSTS = "it needs what errors cost; say cost_fp= and cost_fn="
NEEDS_SCORES = "it needs the scores themselves, which are kept as {mode}; count with exact scores"
UNUSED = "by weights alone, without the strata: attacks in strata where none was seen are not in it"
AT_THE_EDGE = "no interval: no row is ranked wrong, so its spread can't be told"
# Costs of one ratio in two units.
_SINGLE, _DOUBLED = Costs(Fraction(1), Fraction(3)), Costs(Fraction(2), Fraction(6))
# As many rows of each class, decided in two ways.
_DECIDED = (
    {"TP": 17, "FN": 5, "FP": 7, "TN": 31},
    {"TP": 9, "FN": 13, "FP": 27, "TN": 11},
)

_at_base_rate = lru_cache(maxsize=1024)(at_base_rate)
_of_classes = lru_cache(maxsize=256)(of_classes)


@dataclass(frozen=True, eq=False)
class Judge:
    """A tally with a level and a method: gives the estimate of any measure.

    ``family`` names the slices that are kinds of attack; ``costs`` are what errors cost, where that
    was said; ``unlabelled`` are the rows beside the tally that have no label; ``strata`` are those
    that rows were drawn by.
    """

    tally: Resolved
    level: float = 0.95
    method: Method | None = None
    max_fpr: float = MAX_FPR
    corrected: bool = True
    family: str = FAMILY
    costs: Costs | None = None
    unlabelled: Unlabelled | None = None
    strata: Strata | None = None

    def __post_init__(self) -> None:
        number = isinstance(self.max_fpr, int | float)
        if not number or not 0 < self.max_fpr <= 1:
            raise MethodError(f"max_fpr is a rate above 0 and up to 1; found {self.max_fpr!r}")

    @property
    def weighted(self) -> bool:
        """Whether rows have sampling weights."""
        return self.tally.confusion.weighted

    @property
    def binary(self) -> bool:
        """Whether there is one positive label."""
        return self.tally.positive is not None

    @cached_property
    def rankings(self) -> tuple[Ranking, ...] | None:
        """One ranking for a binary tally, one a label for more classes."""
        if self.tally.scores is None:
            return None
        if self.binary:
            return (rank(self.tally.scores[0]),)
        return tuple(rank(part.one_versus_rest(i)) for i, part in enumerate(self.tally.scores))

    @cached_property
    def class_sizes(self) -> tuple[tuple[float, float], ...]:
        """How many rows are of each label and of the others, for each label that has scores."""
        parts = [
            part.one_versus_rest(i).effective() for i, part in enumerate(self.tally.scores or ())
        ]
        return tuple((positives, negatives) for negatives, positives in parts)

    @cached_property
    def reliability(self) -> Reliability | None:
        """The reliability of binary probabilities."""
        if self.tally.kind != "probability" or self.tally.scores is None or not self.binary:
            return None
        if isinstance(self.kept, Cuts):
            return None
        return reliability(self.tally.scores[0])

    # -- decisions ---------------------------------------------------------------------------------

    def priced(self, measure: Measure) -> Measure | None:
        """A count measure at the costs that are known; None where it needs some that are not.

        A threshold t on probabilities stands for costs of t to 1 - t, up to their unit.
        """
        if measure.of_costs is None:
            return measure
        if self.costs is not None:
            return measure.priced(self.costs)
        threshold = self.tally.threshold
        without_unit = measure.priced(_DOUBLED).formula == measure.priced(_SINGLE).formula
        stated = self.tally.kind == "probability" and threshold is not None and 0 < threshold < 1
        if not (without_unit and stated):
            return None
        odds = Fraction(repr(threshold))
        return measure.priced(Costs(odds, 1 - odds))

    def of_label(self, measure: Measure, label: int) -> Estimate:
        """A count measure with one label against the rest."""
        if self.unlabelled is not None:
            by_alerts = deployment.counted(self, self.unlabelled, measure, label)
            if by_alerts is not None:
                return by_alerts
        priced = self.priced(measure)
        if priced is None:
            return self._undefined(NO_COSTS)
        measure = priced
        if self._undecided(measure):
            return self._undefined(NO_DECISIONS)
        return self._counted(measure, Quantity(formula_of(measure), label=label))

    def _undecided(self, measure: Measure) -> bool:
        """Whether a count measure needs decisions that are not there."""
        return not self.tally.decided and needs_decisions(formula_of(measure))

    def of_classes(self, measure: Measure) -> Estimate:
        """A count measure of all classes together."""
        if measure.classes is None:
            raise InputError(
                f"{measure.name} is of one label: say which, or an average, such as "
                f"{measure.name}.macro"
            )
        return self._counted(measure, Quantity(measure.classes))

    def averaged(self, measure: Measure, average: str) -> Estimate:
        """A count measure averaged over classes."""
        if deployment.alerts_only(self):
            return self._undefined(deployment.NOT_LABELLED)
        if self._undecided(measure):
            return self._undefined(NO_DECISIONS)
        confusion = self.tally.confusion
        classes = None
        if average == DEFINED_ONLY:
            formula = formula_of(measure)
            classes = tuple(
                i
                for i in range(len(confusion.labels))
                if not math.isnan(Quantity(formula, label=i).value(confusion))
            )
            if not classes:
                return Estimate(math.nan, level=self.level, undefined="no class has a value")
            average = "macro"
        elif average == "weighted":
            # A class without rows has no weight, so it does not matter that it has no value.
            classes = tuple(i for i, rows in enumerate(confusion.rows) if rows)
        if classes is not None and len(classes) == 1:
            # An average over one class is that class, and has its interval.
            return self.of_label(measure, classes[0])
        expression = _of_classes(formula_of(measure), average)
        return self._counted(measure, Quantity(expression, classes=classes))

    def partly_defined(self, measure: Measure) -> bool:
        """Whether a measure that is averaged has a value for some classes, and none for others."""
        if deployment.alerts_only(self):
            return False
        if isinstance(measure.of_scores, Ranked):
            ranked = measure.of_scores
            return self._missing(measure) is None and probabilities.partly_defined(self, ranked)
        if measure.of_scores is not None or self._undecided(measure):
            return False
        formula, confusion = formula_of(measure), self.tally.confusion
        values = [Quantity(formula, label=i).value(confusion) for i in range(len(confusion.labels))]
        return 0 < sum(map(math.isnan, values)) < len(values)

    def at_base_rate(self, measure: Measure, base_rate: float) -> Estimate:
        """A binary measure of counts or of a score, with another share of positives."""
        if deployment.alerts_only(self):
            return self._undefined(deployment.NOT_LABELLED)
        if isinstance(measure.of_scores, Ranked):
            return self.scored(measure, base_rate=base_rate)
        priced = self.priced(measure)
        if priced is None:
            return self._undefined(NO_COSTS)
        measure = priced
        if self._undecided(measure):
            return self._undefined(NO_DECISIONS)
        expression = _at_base_rate(formula_of(measure), Fraction(repr(float(base_rate))))
        return estimate(
            Quantity(expression, label=1),
            self.tally.confusion,
            measure.range,
            level=self.level,
            method=self.method,
            clusters=self.tally.clusters,
            strata=self.strata,
            default=self._at_rates(measure),
        )

    @staticmethod
    def _at_rates(measure: Measure) -> Interval:
        """The interval at a base rate: a share of rows is none any more."""
        touching = measure.interval is Interval.TOUCHING
        return Interval.TOUCHING if touching else Interval.BY_SHAPE

    def of_slice(self, measure: Measure, key: tuple[str, str]) -> Estimate:
        """A count measure of the rows of one slice.

        Families have exact bounds unless another method was asked for.
        """
        if deployment.alerts_only(self) and not deployment.known(measure):
            by_slice = measure == ALERT_RATE
            return self._undefined(deployment.BY_SLICE if by_slice else deployment.NOT_LABELLED)
        if self._undecided(measure):
            return self._undefined(NO_DECISIONS)
        method = self.method
        if key[0] == self.family and method is None:
            method = ClopperPearson(self.level)
        over_classes = measure.classes if not self.binary else None
        quantity = (
            Quantity(over_classes)
            if over_classes is not None
            else Quantity(formula_of(measure), label=1)
        )
        of_rows = estimate(
            quantity,
            self.tally.slices[key],
            measure.range,
            level=self.level,
            method=method,
            default=measure.interval,
        )
        of_rows = _with_parts(of_rows, measure, self.tally.slices[key])
        if self.tally.clusters is None or math.isnan(of_rows):
            return of_rows
        return of_rows.changed(note="rows of a slice are taken as independent, without clusters")

    def _counted(self, measure: Measure, quantity: Quantity) -> Estimate:
        of_table = estimate(
            quantity,
            self.tally.confusion,
            measure.range,
            level=self.level,
            method=self.method,
            clusters=self.tally.clusters,
            strata=self.strata,
            default=measure.interval,
        )
        if (
            quantity.expression is not measure.formula
            and quantity.expression is not measure.classes
        ):
            return of_table  # an average has no steps of its own
        confusion = self.tally.confusion
        if quantity.label is not None:
            confusion = confusion.against_rest(quantity.label)
        return _with_parts(of_table, measure, confusion)

    # -- scores ------------------------------------------------------------------------------------

    def scored(
        self, measure: Measure, label: int | None = None, *, base_rate: float | None = None
    ) -> Estimate:
        """A measure of scores or probabilities; for more than two classes, of one label."""
        missing = self._missing(measure)
        if missing is not None:
            return self._undefined(missing)
        of_scores = self._of_scores(measure, label, base_rate)
        if self.strata is None or math.isnan(of_scores.low):
            return of_scores
        return of_scores.changed(
            note=UNUSED if of_scores.note is None else f"{of_scores.note}; {UNUSED}"
        )

    def _of_scores(self, measure: Measure, label: int | None, base_rate: float | None) -> Estimate:
        match measure.of_scores:
            case MeanLoss() as declared:
                return probabilities.loss(self, declared)
            case Binned() as declared:
                return self._binned(declared)
            case OverPairs() as declared:
                return probabilities.over_pairs(self, declared, measure)
            case Ranked() as declared:
                number, declared = label or 0, self._limited(declared)
                if base_rate is not None:
                    declared = declared.at_base_rate(base_rate)
                ranking = (self.rankings or ())[number]
                return self._ranked(declared, measure, ranking, self._sample(number))
            case OpenSet() as declared:
                if self.tally.open_set is None:
                    return self._undefined(NO_UNKNOWN_LABEL)
                sample = declared.binary(self.tally.open_set)
                for side, rows_of in enumerate(("the unknown label", "a known label")):
                    if not (sample.truth == side).any():
                        return self._undefined(f"there are no rows of {rows_of}")
                return self._ranked(declared.ranked, measure, rank(sample.score_tally(0)), sample)
        raise MethodError(f"{measure.name} is of decisions, not of scores")

    def _missing(self, measure: Measure) -> str | None:
        """What a measure needs and the tally does not have."""
        if deployment.alerts_only(self):
            return deployment.NOT_LABELLED
        if measure.needs is Needs.LOSSES and self.tally.losses is None and not self._in_cells:
            if self.tally.kind == "probability" and self.kept != Exact():
                return NEEDS_SCORES.format(mode=self.kept.name)
            return "it needs probabilities" + self._have()
        if measure.needs is Needs.SCORES and self.tally.scores is None:
            return "it needs scores" + self._have()
        if self._by_score(measure.of_scores) and isinstance(self.kept, Cuts):
            return NEEDS_SCORES.format(mode="cuts")
        return None

    @property
    def kept(self) -> Keeping:
        """How scores are kept."""
        return self.tally.scores[0].kept if self.tally.scores else Exact()

    @property
    def _in_cells(self) -> bool:
        """Whether cells of a grid tell the probability of one positive label, of two."""
        probability = self.tally.kind == "probability" and self.binary
        return probability and isinstance(self.kept, Grid)

    @staticmethod
    def _by_score(declared: OfScores | None) -> bool:
        """Whether a measure is of the scores themselves, not of their order or their losses."""
        return isinstance(declared, Binned) or (
            isinstance(declared, Ranked) and declared.probabilities
        )

    def _have(self) -> str:
        given = {"": "decisions", "score": "scores", "probability": "probabilities"}
        return f"; there are only {given[self.tally.kind]}"

    def _undefined(self, why: str) -> Estimate:
        return Estimate(math.nan, level=self.level, undefined=why)

    def _limited(self, declared: Ranked) -> Ranked:
        """A measure that ends at a false positive rate, up to the one that was asked for."""
        if declared.up_to is None:
            return declared
        return declared.up_to(self.max_fpr, corrected=self.corrected)

    def _ranked(
        self, declared: Ranked, measure: Measure, ranking: Ranking, sample: Sample | None
    ) -> Estimate:
        n = ranking.tally.rows
        negatives, positives = ranking.tally.effective()
        why = declared.missing(positives, negatives)
        if why is not None:
            return self._undefined(why).changed(n=n)
        inexact = ranking.tally.inexact
        if inexact and declared.probabilities and declared.bound is None:
            return self._undefined(NEEDS_SCORES.format(mode="a grid")).changed(n=n)
        influence, bounds = declared.of(ranking), declared.between or measure.range
        if math.isnan(influence.value):
            return self._undefined(declared.undefined).changed(n=n)
        note = None
        if (
            sample is not None
            and len(sample.clusters) > 1
            and has_lone_class(sample.cluster, sample.truth)
        ):
            ends, name, note = (math.nan, math.nan), "", ONE_OF_A_CLASS
        elif isinstance(self.method, Bootstrap):
            ends, name, note = self.resampled(self.method, ranking.tally, declared.value, sample)
        elif self.tally.clusters is not None:
            ends, name, note = self._clustered(declared, influence.value, bounds, sample)
        elif declared.interval is Interval.AUC and isinstance(self.method, DeLong | Newcombe):
            ends, name = self.method(influence, positives, negatives), self.method.name
        else:
            sizes = positives, negatives
            ends, name = ranked_interval(declared, influence, sizes, bounds, self.level, ranking)
            if math.isnan(ends[0]):
                name, note = "", AT_THE_EDGE
        clipped = 0 if declared.clipped is None else declared.clipped(ranking.tally)
        if clipped:
            many = f"{grouped(clipped, 10)} {'of the weight' if ranking.tally.weighted else 'rows'}"
            cut = f"{many} {'was' if ranking.tally.weighted else 'were'} clipped at 2^-52"
            note = cut if note is None else f"{note}; {cut}"
        low, high = min(ends[0], influence.value), max(ends[1], influence.value)
        result = Estimate(influence.value, low, high, method=name, n=n, level=self.level, note=note)
        return bounded(result, bound_of(declared, ranking.tally), bounds) if inexact else result

    def resampled(
        self,
        method: Bootstrap,
        tally: ScoreTally,
        measure: Callable[[ScoreTally], float],
        sample: Sample | None,
    ) -> tuple[tuple[float, float], str, str | None]:
        """The bootstrap interval of a measure of scores: its ends, its name and a note."""
        if self.tally.clusters is None:
            drawn = resampling.score_interval(tally, measure, method)
            return (drawn.low, drawn.high), method.name, drawn.note
        if sample is None:
            return (math.nan, math.nan), "", NO_ROWS if self.binary else NOT_KEPT
        if len(sample.clusters) < 2:
            return (math.nan, math.nan), "", ONE_CLUSTER
        drawn = resampling.clustered_score_interval(sample, measure, method)
        return (drawn.low, drawn.high), f"cluster {method.name}", drawn.note

    def _sample(self, label: int) -> Sample | None:
        """The rows that are kept; of more than two classes, one label against the rest."""
        sample = self.tally.sample
        return sample if self.binary or sample is None else sample.one_versus_rest(label)

    def _clustered(
        self, declared: Ranked, value: float, bounds: tuple[float, float], sample: Sample | None
    ) -> tuple[tuple[float, float], str, str | None]:
        none = (math.nan, math.nan)
        if sample is None:
            return none, "", NO_ROWS if self.binary else NOT_KEPT
        ends = clustered(sample, declared, value, bounds, self.level)
        if math.isnan(ends[0]):
            return none, "", TOO_FEW
        return ends, "cluster delta", None

    def averaged_scores(self, measure: Measure, average: str) -> Estimate:
        """A ranking measure averaged over classes, one against the rest."""
        if not isinstance(measure.of_scores, Ranked):
            raise MethodError(f"{measure.name} has no average over classes: it is of no ranking")
        missing = self._missing(measure)
        if missing is not None:
            return self._undefined(missing)
        ranked, rankings = self._limited(measure.of_scores), self.rankings or ()
        return probabilities.averaged(self, ranked, rankings, measure, average)

    def _binned(self, declared: Binned) -> Estimate:
        if self.reliability is None:
            return self._undefined("it needs the probability of one positive label, of two")
        expected = declared.if_calibrated(self.reliability)
        table = probabilities.scores_of(self.tally)[0]
        result = Estimate(
            declared.value(self.reliability),
            n=table.rows,
            level=self.level,
            note=f"no interval: a bootstrap of it does not cover; a calibrated model of this size "
            f"would show about {significant(expected, 2)}",
            parts={"if_calibrated": expected},
        )
        return bounded(result, bound_of(declared, table), (0, 1)) if table.inexact else result


def _with_parts(estimate: Estimate, measure: Measure, confusion: Confusion) -> Estimate:
    """The estimate with the steps on the way, read on the same table."""
    if not measure.parts:
        return estimate
    cells = confusion.class_cells()
    return estimate.changed(parts={name: value(e, cells) for name, e in measure.parts.items()})


def formula_of(measure: Measure) -> Expression:
    """The formula of a measure of decisions; others have none, which is an error."""
    if measure.formula is None:
        raise MethodError(f"{measure.name} is not a measure of decisions")
    return measure.formula


# -- scores without a scale and without a threshold: none is decided on ----------------------------


@lru_cache(maxsize=256)
def needs_decisions(formula: Expression) -> bool:
    """Whether a measure changes with the decisions; the prevalence does not.

    >>> from assay.v02.measures import find
    >>> needs_decisions(find("precision").formula), needs_decisions(find("prevalence").formula)
    (True, False)
    """
    one, other = (value(formula, cells) for cells in _DECIDED)
    return one != other


def starting_threshold(table: ScoreTally) -> float:
    """Where to begin looking: as the scores are likely meant, or the middle of their range."""
    low, high = float(table.scores[0]), float(table.scores[-1])
    likely = likely_threshold(low, high)
    return low + (high - low) / 2 if likely is None else float(likely[0])
