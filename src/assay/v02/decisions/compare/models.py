"""Several models on the same rows, counted together: differences, tests, and estimates of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.compare.comparison import Difference, Flip, effect_of, flips
from assay.v02.engines.models import CountedModels, ModelRows, Paired
from assay.v02.evaluation.judge import Judge
from assay.v02.formula import cells, of_classes, proportion
from assay.v02.inference import (
    Bootstrap,
    Estimate,
    Quantity,
    Significance,
    cochran_q,
    delong_of,
    friedman,
    mcnemar_of,
    nemenyi,
    paired_bootstrap,
    paired_influence,
    paired_score_bootstrap,
    resampled_clusters,
    resampled_pairs,
)
from assay.v02.inference.differences import (
    differences_of_classes,
    has_difference,
    key_of,
    resampled_scores,
)
from assay.v02.inference.estimation import ONE_OF_A_CLASS
from assay.v02.inference.threshold_resampling import ChosenTables, Progress, ScoredRows, choose_anew
from assay.v02.inference.threshold_rules import AtThreshold, Rule
from assay.v02.measures import AVERAGES, ROC_AUC, Measure, Needs, Ranked, catalogue, find
from assay.v02.measures.catalogue import PER_CLASS_OF_MODELS
from assay.v02.tally import JointScores, PairTally, Resolved, Sample, ScoreTally

Array: TypeAlias = npt.NDArray[Any]
Together: TypeAlias = dict[tuple[str, str], Mapping[str, ChosenTables]]

Floats: TypeAlias = npt.NDArray[np.float64]

# Of scores that are kept as a grid, resamples are drawn from no more pairs of cells than these.
MOST_DRAWN = 1 << 15

_POSITIVES, _NEGATIVES = frozenset({"TP", "FN"}), frozenset({"FP", "TN"})


@dataclass(frozen=True, eq=False)
class Models:
    """What was counted of several models on the same rows.

    ``chosen`` holds the models whose threshold a rule chose, ``together`` the same of each pair,
    resampled together; ``resample`` asks for the bootstrap of measures of scores too, and
    ``progress`` hears how much of it is done.
    """

    counted: CountedModels
    level: float
    method: Bootstrap
    resample: bool = False
    together: Mapping[tuple[str, str], Mapping[str, ChosenTables]] = field(default_factory=dict)
    progress: Progress | None = None

    def progress_of(self, *names: str) -> Progress | None:
        """What hears how much of a model or a pair is done, each of which takes about as long."""
        models: list[tuple[str, ...]] = [(name,) for name in self.tallies]
        pairs = list(itertools.combinations(self.tallies, 2))
        # Pairs of many classes in clusters ask first which estimates of models have an interval.
        each = [*models, *pairs] if self.clustered and not self.binary else [*pairs, *models]
        return _part(self.progress if self.resample else None, each.index(names), len(each))

    @property
    def tallies(self) -> Mapping[str, Resolved]:
        """What was counted of each model alone."""
        return self.counted.tallies

    @property
    def first(self) -> Resolved:
        """Any of them: all have the same rows."""
        return self.counted.first

    @property
    def binary(self) -> bool:
        """Whether there is one positive label."""
        return self.first.positive is not None

    @property
    def clustered(self) -> bool:
        """Whether rows come in clusters."""
        return self.first.clusters is not None

    @cached_property
    def chosen(self) -> dict[str, ChosenTables]:
        """What a rule chose for each model."""
        return {name: choice for each in self.together.values() for name, choice in each.items()}

    @property
    def decided(self) -> bool:
        """Whether every model decides on rows, so that decisions can be compared."""
        return self.counted.decisions is not None

    @property
    def unit(self) -> str:
        """What is resampled."""
        return "clusters" if self.clustered else "rows"

    @property
    def units(self) -> int:
        """How many of them there are."""
        if self.first.clusters is not None:
            return self.first.clusters.size
        return int(self.first.confusion.total)

    def resting(self, measure: Measure) -> int:
        """Of how many of them a measure is: of a ranking, the rows of the smaller class."""
        share = None if measure.formula is None else proportion(measure.formula)
        of = frozenset() if share is None else cells(share.trials)
        ranked = isinstance(measure.of_scores, Ranked)
        if self.clustered or not (ranked or of in (_POSITIVES, _NEGATIVES)):
            return self.units
        sides = self.first.confusion.rows
        return int(min(sides) if ranked else sides[int(of == _POSITIVES)])

    @property
    def resampled(self) -> str:
        """The name of the bootstrap."""
        return "cluster bootstrap" if self.clustered else "bootstrap"

    def tests_of_all(self) -> Iterator[Significance]:
        """Tests of more than two models at once: is one of them right more often?

        Friedman's test of who is right on a row is Cochran's; Nemenyi's follows on it.
        """
        names, pairs = list(self.tallies), self.counted.decisions
        if len(names) < 3 or self.clustered or self.chosen or pairs is None:
            return
        right, counts, level = pairs.correct(), pairs.counts, self.level
        yield friedman(right, counts=counts, level=level, names=names, of="rows")
        yield from nemenyi(right, counts=counts, level=level, names=names, ties=True)
        yield cochran_q(right, counts, level=level, names=names)

    @cached_property
    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """Every measure of every model on its own, with its interval."""
        return {name: dict(self._estimates(name)) for name in self.tallies}

    def per_class(self) -> dict[str, dict[tuple[str, str], Estimate]]:
        """What each of many classes has of its own, model by model; nothing of two classes."""
        if self.binary or not self.decided:
            return {}
        measures = [find(name) for name in PER_CLASS_OF_MODELS]
        labels = self.first.labels
        return {
            name: {
                (label, measure.name): self._judge(name).of_label(measure, i)
                for i, label in enumerate(labels)
                for measure in measures
            }
            for name in self.tallies
        }

    def _judge(self, name: str) -> Judge:
        if name not in self._judges:
            method = self.method if self.resample else None
            self._judges[name] = Judge(self.tallies[name], self.level, method)
        return self._judges[name]

    @cached_property
    def _judges(self) -> dict[str, Judge]:
        return {}

    @cached_property
    def _scored(self) -> dict[tuple[str, str], Estimate]:
        return {}

    def scored(self, name: str, measure: Measure) -> Estimate:
        """A measure of scores of one model on its own."""
        key = name, measure.name
        if key not in self._scored:
            self._scored[key] = self._judge(name).scored(measure)
        return self._scored[key]

    def _estimates(self, name: str) -> Iterator[tuple[str, Estimate]]:
        judge = self._judge(name)
        for measure, average, quantity in counted(binary=self.binary) if self.decided else ():
            if average is not None:
                estimate = judge.averaged(measure, average)
            else:
                estimate = judge.of_label(measure, 1) if self.binary else judge.of_classes(measure)
            estimate = self._anew(estimate, quantity, name) if name in self.chosen else estimate
            yield key_of(measure, average), estimate
        pairs, progress = scored([self.tallies[name]]), self.progress_of(name)
        for done, (measure, average) in enumerate(pairs):
            if progress is not None:
                progress(done, len(pairs))
            if average is None:
                yield measure.name, self.scored(name, measure)
            else:
                yield key_of(measure, average), judge.averaged_scores(measure, average)

    def _anew(self, estimate: Estimate, quantity: Quantity, name: str) -> Estimate:
        """The estimate with the interval that carries the choice of the threshold."""
        drawn = quantity.of_tables(self.chosen[name].tables)
        ends = self.method.ends(drawn, float(estimate), None)
        if math.isnan(estimate):
            return estimate
        return estimate.changed(
            low=min(ends.low, estimate),
            high=max(ends.high, estimate),
            method=self.resampled,
            note=ends.note,
        )


@dataclass(frozen=True, eq=False)
class Pair:
    """Two of the models."""

    models: Models
    a: str
    b: str

    @property
    def _tallies(self) -> list[Resolved]:
        return [self.models.tallies[name] for name in (self.a, self.b)]

    @cached_property
    def tally(self) -> PairTally | None:
        """Label by decision by decision, where every model decides."""
        decisions = self.models.counted.decisions
        return None if decisions is None else decisions.of_models(self.a, self.b)

    def flips(self) -> Iterator[Flip]:
        """How many rows flipped, where every model decides."""
        if self.tally is not None:
            families = self.models.counted.families.items()
            by_family = {family: table.of_models(self.a, self.b) for family, table in families}
            yield from flips(self.tally, by_family)

    @cached_property
    def scores(self) -> Paired | None:
        """The scores or probabilities of both, where two classes have some."""
        return self.models.counted.paired(self.a, self.b)

    @cached_property
    def sample(self) -> Sample | None:
        """The same as rows; where scores are kept as a grid, its pairs of cells."""
        if not isinstance(self.scores, JointScores):
            return self.scores
        return (self.scores.within(MOST_DRAWN) if self.models.resample else self.scores).sample()

    def _known(self, measure: Measure) -> list[Estimate]:
        """What is known of both models beyond the pairs of cells: nothing where all are kept."""
        if not isinstance(self.scores, JointScores):
            return []
        return [self.models.scored(name, measure) for name in (self.a, self.b)]

    def differences(self) -> Iterator[Difference]:
        """Every measure's difference, B less A; of decisions where every model has some."""
        if self.tally is not None:
            yield from self._differences_of_decisions(self.tally)
        if self.sample is None:
            return
        both_estimates = {
            pair: estimates
            for pair in scored(self._tallies)
            # A grid does not tell all of them.
            if not any(map(math.isnan, estimates := self._known(pair[0])))
        }
        resampled = [
            pair for pair in both_estimates if not self._rests_on_one_cluster(key_of(*pair))
        ]
        draws: dict[tuple[Measure, str | None], Floats] = {}
        if self.models.resample and resampled:
            progress = self.models.progress_of(self.a, self.b)
            drawn = resampled_scores(self.sample, resampled, self.models.method, progress)
            draws = dict(zip(resampled, drawn, strict=True))
        for (measure, average), both in both_estimates.items():
            name, method = key_of(measure, average), self.models.method
            if (measure, average) not in resampled:
                yield self._without_interval(name)
            elif self.models.resample:
                test = paired_score_bootstrap(
                    self.sample,
                    measure,
                    average=average,
                    method=method,
                    known=both,
                    draws=draws[measure, average],
                )
                yield _difference(name, test, self.models.resampled)
            elif measure == ROC_AUC and self._delong is not None:
                yield _difference(name, self._delong)
            else:
                test = paired_influence(
                    self.sample, measure, average=average, level=self.models.level, known=both
                )
                yield _difference(name, test)

    def _differences_of_decisions(self, tally: PairTally) -> Iterator[Difference]:
        tables = self._tables(tally)
        for measure, average, quantity in counted(binary=self.models.binary):
            name = key_of(measure, average)
            if self._rests_on_one_cluster(name):
                yield self._without_interval(name)
                continue
            test = paired_bootstrap(
                tally, quantity, name=name, method=self.models.method, tables=tables
            )
            yield _difference(name, test, self.models.resampled)

    def _rests_on_one_cluster(self, name: str) -> bool:
        """Whether clusters don't tell how a measure of many classes spreads; of two see compare."""
        if self.models.binary or not self.models.clustered:
            return False
        estimates = (self.models.estimates[model][name] for model in (self.a, self.b))
        return any(estimate.note == ONE_OF_A_CLASS for estimate in estimates)

    def _without_interval(self, name: str) -> Difference:
        a, b = (self.models.estimates[model][name] for model in (self.a, self.b))
        gap = Estimate(b - a, n=a.n, level=self.models.level, note=ONE_OF_A_CLASS)
        return Difference(name, self.a, self.b, float(a), float(b), gap, math.nan)

    def _tables(self, tally: PairTally) -> tuple[Floats, Floats]:
        """Resampled tables of both models, from one draw."""
        chosen = self.models.together.get((self.a, self.b))
        if chosen is not None:
            return chosen[self.a].tables, chosen[self.b].tables
        first, second = (tally.clusters for tally in self._tallies)
        if first is None or second is None:
            return resampled_pairs(tally, self.models.method)
        return resampled_clusters(first, second, self.models.method)

    @cached_property
    def _delong(self) -> Significance | None:
        if self.sample is None or self.sample.clusters or self.sample.width > 1:
            return None
        known = self._known(ROC_AUC)
        return delong_of(self.sample, level=self.models.level, known=known)

    def tests(self) -> Iterator[Significance]:
        """McNemar's test on all rows, on positives and on negatives; DeLong's.

        McNemar's takes decisions as given, so there is none where thresholds were chosen.
        """
        if self.models.clustered:
            return
        if not self.models.chosen and self.tally is not None:
            yield mcnemar_of(self.tally, level=self.models.level)
            if self.models.binary:
                for label, on in ((1, "positives"), (0, "negatives")):
                    test = mcnemar_of(self.tally.of_label(label), level=self.models.level)
                    yield replace(test, on=on, sentence=f"On {on}, {test.sentence}")
        if self._delong is not None:
            yield self._delong


def counted(*, binary: bool) -> Iterator[tuple[Measure, str | None, Quantity]]:
    """Measures of decisions: the measure, its average, and what is read of a table."""
    for measure in catalogue.CATALOGUE:
        if measure.formula is None:
            continue
        if binary:
            yield measure, None, Quantity(measure.formula, label=1)
        elif measure.classes is not None:
            yield measure, None, Quantity(measure.classes)
        elif measure.averages:
            for average in AVERAGES:
                yield measure, average, Quantity(of_classes(measure.formula, average))


def scored(tallies: Sequence[Resolved]) -> list[tuple[Measure, str | None]]:
    """Measures of scores that all of these models have, and whose rows tell how sure they are.

    Those of rankings of more than two classes come with an average.
    """
    if any(tally.scores is None for tally in tallies):
        return []
    if tallies[0].positive is None:
        measures = catalogue.CATALOGUE
        return [(m, average) for m in measures for average in differences_of_classes(m)]
    needs = {Needs.SCORES}
    if all(tally.kind == "probability" for tally in tallies):
        needs.add(Needs.LOSSES)
    negatives, positives = tallies[0].confusion.rows
    pairs: list[tuple[Measure, str | None]] = []
    for measure in catalogue.CATALOGUE:
        declared = measure.of_scores
        comparable = measure.needs in needs and has_difference(measure)
        if comparable and isinstance(declared, Ranked):
            # Too few negatives tell nothing of a low false positive rate, whatever the model.
            comparable = not positives or negatives >= declared.negatives or declared.negatives == 1
        if comparable:
            pairs.append((measure, None))
    return pairs


def _difference(name: str, test: Significance, method: str | None = None) -> Difference:
    effect = effect_of(test)
    return Difference(
        measure=name,
        a=test.models[0],
        b=test.models[1],
        value_a=test.table["a"],
        value_b=test.table["b"],
        difference=effect if method is None else effect.changed(method=method),
        p=test.p,
    )


# -- thresholds that a rule chooses, on the data and on resamples of it ----------------------------


# What a rule gives of both models of a pair, resampled together.

# Resamples of one model alone that tell where its threshold may lie, and on which grid.
_TRIALS, _TRIAL_BITS = 100, 12
# Thresholds within reach of a resample, and elsewhere.
_NEAR, _FAR = 384, 128


def is_chosen(rule: Rule | None) -> bool:
    """Whether a rule chooses thresholds from the data."""
    return rule is not None and not isinstance(rule, AtThreshold)


def chosen_of_rows(
    rows: ModelRows, rule: Rule, method: Bootstrap, progress: Progress | None
) -> Together:
    """What each pair of models gives at the thresholds that the rule chooses, from the rows."""
    first = rows.first
    scored = ScoredRows(
        truth=rows.truth == 1,
        scores={n: model.score for n, model in rows.models.items() if model.score is not None},
        counts=first.counts,
        clusters=None if first.clusters is None else first.clusters.codes,
    )
    chosen = choose_anew(scored, [rule], method, progress=progress)
    pairs = itertools.combinations(rows.models, 2)
    return {pair: {name: chosen[name, rule] for name in pair} for pair in pairs}


def chosen_of_cells(
    levels: Mapping[str, Floats],
    joint_at: Callable[[str, str], JointScores],
    rule: Rule,
    method: Bootstrap,
    progress: Progress | None,
) -> Together:
    """The same from counts: ``joint_at`` gives those of two models at their levels.

    Few rows are drawn anew as they are. Of many, where a threshold may come to lie is told from the
    counts of each model; there its scores stay fine, elsewhere they are rounded down, and pairs of
    what is left are drawn anew. So every resample is one of all rows, with thresholds rounded by
    far less than they vary.
    """
    pairs = list(itertools.combinations(levels, 2))
    choices: Together = {}
    for done, (a, b) in enumerate(pairs):
        joint = joint_at(a, b)
        rows = ScoredRows(
            truth=joint.truth == 1,
            scores={a: joint.scores(0), b: joint.scores(1)},
            counts=joint.counts.astype(np.int64),
        )
        chosen = choose_anew(rows, [rule], method, progress=_part(progress, done, len(pairs)))
        choices[a, b] = {name: chosen[name, rule] for name in (a, b)}
    return choices


def _part(progress: Progress | None, done: int, parts: int) -> Progress | None:
    if progress is None:
        return None
    return lambda at, of: progress(done * of + at, parts * of)


@dataclass(frozen=True, eq=False)
class Levels:
    """Scores of a model that may be thresholds, ascending: few, but for the reach of a resample.

    ``threshold``, which the rule chooses on all rows, is among them, or infinity.
    """

    scores: Floats
    threshold: float


def levels_of(tally: ScoreTally, rule: Rule) -> Levels:
    """The scores that may be thresholds under a rule."""
    choice = _choice_of_one(tally, rule, Bootstrap(resamples=2))
    trials = _choice_of_one(tally.to_grid(_TRIAL_BITS), rule, Bootstrap(resamples=_TRIALS))
    scores = tally.scores.astype(np.float64)
    # Where nothing can be flagged the threshold is above all scores.
    reached = [np.inf if t is None else t for t in (choice.threshold, trials.threshold)]
    reached += np.nan_to_num(trials.thresholds, nan=np.inf).tolist()
    first, last = np.searchsorted(scores, [min(reached), max(reached)]).tolist()
    rows = np.cumsum(tally.counts.sum(axis=0, dtype=np.int64))
    low, high = rows[min(first, len(rows) - 1)], rows[min(last, len(rows) - 1)]
    more = max((high - low) // 2, 1)
    close_by = np.linspace(low - more, high + more, _NEAR)
    far = np.linspace(0, rows[-1], _FAR)
    at = np.searchsorted(rows, np.concatenate([close_by, far]))
    kept = {0, *np.minimum(at, len(scores) - 1).tolist()}
    if choice.threshold is not None:
        kept.add(int(np.searchsorted(scores, choice.threshold)))
    return Levels(scores[sorted(kept)], math.inf if choice.threshold is None else choice.threshold)


def _choice_of_one(tally: ScoreTally, rule: Rule, method: Bootstrap) -> ChosenTables:
    """One model under a rule, from its counts."""
    label, at = np.nonzero(tally.counts)
    rows = ScoredRows(
        truth=label == 1,
        scores={"": tally.scores[at]},
        counts=tally.counts[label, at].astype(np.int64),
    )
    return choose_anew(rows, [rule], method)["", rule]


def thresholds_of(choices: Together) -> dict[str, float]:
    """Where each model flags from; infinity where it flags nothing."""
    return {
        name: math.inf if choice.threshold is None else choice.threshold
        for each in choices.values()
        for name, choice in each.items()
    }
