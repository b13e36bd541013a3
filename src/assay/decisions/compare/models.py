"""Several models on the same rows, counted together: differences, tests, and estimates of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.compare.comparison import Difference
from assay.decisions.compare.flips import Flip, flips
from assay.engines.models import CountedModels, Paired
from assay.evaluation.judge import Judge
from assay.formula import cells, of_classes, proportion
from assay.inference import (
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
from assay.inference.chosen import Chosen
from assay.inference.differences import differences_of_classes, has_difference, key_of
from assay.measures import AVERAGES, ROC_AUC, Measure, Needs, Ranked, catalogue, find
from assay.measures.shown import PER_CLASS_OF_MODELS
from assay.tally import JointScores, PairTally, Resolved, Sample

Floats: TypeAlias = npt.NDArray[np.float64]

# Of scores that are kept as a grid, resamples are drawn from no more pairs of cells than these.
MOST_DRAWN = 1 << 15

_POSITIVES, _NEGATIVES = frozenset({"TP", "FN"}), frozenset({"FP", "TN"})


@dataclass(frozen=True, eq=False)
class Models:
    """What was counted of several models on the same rows.

    ``chosen`` holds the models whose threshold a rule chose, ``together`` the same of each pair,
    resampled together; ``resample`` asks for the bootstrap of measures of scores too.
    """

    counted: CountedModels
    level: float
    method: Bootstrap
    resample: bool = False
    together: Mapping[tuple[str, str], Mapping[str, Chosen]] = field(default_factory=dict)

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
    def chosen(self) -> dict[str, Chosen]:
        """What a rule chose for each model."""
        return {name: found for each in self.together.values() for name, found in each.items()}

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
                found = judge.averaged(measure, average)
            else:
                found = judge.of_label(measure, 1) if self.binary else judge.of_classes(measure)
            found = self._anew(found, quantity, name) if name in self.chosen else found
            yield key_of(measure, average), found
        for measure, average in scored([self.tallies[name]]):
            if average is None:
                yield measure.name, self.scored(name, measure)
            else:
                yield key_of(measure, average), judge.averaged_scores(measure, average)

    def _anew(self, found: Estimate, quantity: Quantity, name: str) -> Estimate:
        """The estimate with the interval that carries the choice of the threshold."""
        drawn = quantity.of_tables(self.chosen[name].tables)
        ends = self.method.ends(drawn, float(found), None)
        if math.isnan(found):
            return found
        return found.changed(
            low=min(ends.low, found),
            high=max(ends.high, found),
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
    def tally(self) -> PairTally:
        """Label by decision by decision."""
        decisions = self.models.counted.decisions
        assert decisions is not None  # noqa: S101 - asked only where all models decide
        return decisions.of_models(self.a, self.b)

    def flips(self) -> Iterator[Flip]:
        """How many rows flipped, where every model decides."""
        if self.models.decided:
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
        if self.models.decided:
            yield from self._differences_of_decisions()
        if self.sample is None:
            return
        for measure, average in scored(self._tallies):
            name, method = key_of(measure, average), self.models.method
            known = self._known(measure)
            if any(math.isnan(estimate) for estimate in known):
                # A grid does not tell it.
                continue
            if self.models.resample:
                found = paired_score_bootstrap(
                    self.sample, measure, average=average, method=method, known=known
                )
                yield _difference(name, found, self.models.resampled)
            elif measure == ROC_AUC and self._delong is not None:
                yield _difference(name, self._delong)
            else:
                found = paired_influence(
                    self.sample, measure, average=average, level=self.models.level, known=known
                )
                yield _difference(name, found)

    def _differences_of_decisions(self) -> Iterator[Difference]:
        tables = self._tables()
        for measure, average, quantity in counted(binary=self.models.binary):
            name = key_of(measure, average)
            found = paired_bootstrap(
                self.tally, quantity, name=name, method=self.models.method, tables=tables
            )
            yield _difference(name, found, self.models.resampled)

    def _tables(self) -> tuple[Floats, Floats]:
        """Resampled tables of both models, from one draw."""
        chosen = self.models.together.get((self.a, self.b))
        if chosen is not None:
            return chosen[self.a].tables, chosen[self.b].tables
        first, second = (tally.clusters for tally in self._tallies)
        if first is None or second is None:
            return resampled_pairs(self.tally, self.models.method)
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
        if not self.models.chosen and self.models.decided:
            yield mcnemar_of(self.tally, level=self.models.level)
            if self.models.binary:
                for label, on in ((1, "positives"), (0, "negatives")):
                    found = mcnemar_of(self.tally.of_label(label), level=self.models.level)
                    yield replace(found, on=on, sentence=f"On {on}, {found.sentence}")
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
    found: list[tuple[Measure, str | None]] = []
    for measure in catalogue.CATALOGUE:
        declared = measure.of_scores
        told = measure.needs in needs and has_difference(measure)
        if told and isinstance(declared, Ranked):
            # Too few negatives tell nothing of a low false positive rate, whatever the model.
            told = not positives or negatives >= declared.negatives or declared.negatives == 1
        if told:
            found.append((measure, None))
    return found


def _difference(name: str, found: Significance, method: str | None = None) -> Difference:
    assert found.effect is not None  # noqa: S101 - tests of two models have one
    return Difference(
        measure=name,
        a=found.models[0],
        b=found.models[1],
        value_a=found.table["a"],
        value_b=found.table["b"],
        difference=found.effect if method is None else found.effect.changed(method=method),
        p=found.p,
    )
