"""Several models on the same rows, counted together: differences, tests, and estimates of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay import engines
from assay.decisions.compare.comparison import Difference
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
    paired_score_bootstrap,
    paired_scores,
    resampled_clusters,
    resampled_pairs,
)
from assay.inference.chosen import Chosen
from assay.inference.differences import differences_of_classes, has_difference, key_of
from assay.measures import AVERAGES, Measure, Needs, Ranked, catalogue, find
from assay.measures.shown import PER_CLASS_OF_MODELS
from assay.sources import Batch
from assay.tally import ClusterTally, PairTally, Sample

Floats: TypeAlias = npt.NDArray[np.float64]

_POSITIVES, _NEGATIVES = frozenset({"TP", "FN"}), frozenset({"FP", "TN"})


@dataclass(frozen=True, eq=False)
class Models:
    """What all models said of the same rows.

    ``chosen`` holds the models whose threshold a rule chose; ``resample`` asks for the bootstrap of
    measures of scores too.
    """

    batches: Mapping[str, Batch]
    level: float
    method: Bootstrap
    resample: bool = False
    chosen: Mapping[str, Chosen] = field(default_factory=dict)

    @property
    def first(self) -> Batch:
        """Any of them: all have the same rows."""
        return next(iter(self.batches.values()))

    @property
    def decided(self) -> bool:
        """Whether every model decides on rows, so that decisions can be compared."""
        return all(batch.decided for batch in self.batches.values())

    @property
    def unit(self) -> str:
        """What is resampled."""
        return "rows" if self.first.clusters is None else "clusters"

    @property
    def units(self) -> int:
        """How many of them there are."""
        if self.first.clusters is not None:
            return len(np.unique(self.first.clusters.codes))
        counts = self.first.counts
        return len(self.first.truth) if counts is None else int(counts.sum())

    def resting(self, measure: Measure) -> int:
        """Of how many of them a measure is: of a ranking, the rows of the smaller class."""
        share = None if measure.formula is None else proportion(measure.formula)
        of = frozenset() if share is None else cells(share.trials)
        ranked = isinstance(measure.of_scores, Ranked)
        if self.first.clusters is not None or not (ranked or of in (_POSITIVES, _NEGATIVES)):
            return self.units
        sides = np.bincount(self.first.truth, self.first.counts, minlength=len(self.first.labels))
        return int(sides.min() if ranked else sides[int(of == _POSITIVES)])

    @property
    def resampled(self) -> str:
        """The name of the bootstrap."""
        return "bootstrap" if self.first.clusters is None else "cluster bootstrap"

    def pairs(self, *names: str) -> PairTally:
        """Label by decision by decision."""
        return PairTally.of_codes(
            self.first.labels,
            self.first.truth,
            {name: engines.decide(self.batches[name]) for name in names},
            counts=self.first.counts,
        )

    def tests_of_all(self) -> Iterator[Significance]:
        """Tests of more than two models at once: is one of them right more often?

        Friedman's test of who is right on a row is Cochran's; Nemenyi's follows on it.
        """
        if (
            len(self.batches) < 3
            or self.first.clusters is not None
            or self.chosen
            or not self.decided
        ):
            return
        names = list(self.batches)
        pairs = self.pairs(*names)
        right, counts, level = pairs.correct(), pairs.counts, self.level
        yield friedman(right, counts=counts, level=level, names=names, of="rows")
        yield from nemenyi(right, counts=counts, level=level, names=names, ties=True)
        yield cochran_q(right, counts, level=level, names=names)

    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """Every measure of every model on its own, with its interval."""
        return {name: dict(self._estimates(name)) for name in self.batches}

    def per_class(self) -> dict[str, dict[tuple[str, str], Estimate]]:
        """What each of many classes has of its own, model by model; nothing of two classes."""
        if self.first.binary or not self.decided:
            return {}
        measures = [find(name) for name in PER_CLASS_OF_MODELS]
        labels = self.first.labels
        return {
            name: {
                (label, measure.name): self._judge(name).of_label(measure, i)
                for i, label in enumerate(labels)
                for measure in measures
            }
            for name in self.batches
        }

    def _judge(self, name: str) -> Judge:
        if name not in self._judges:
            tally = engines.count(replace(self.batches[name], slices={}))
            self._judges[name] = Judge(tally, self.level, self.method if self.resample else None)
        return self._judges[name]

    @cached_property
    def _judges(self) -> dict[str, Judge]:
        return {}

    def _estimates(self, name: str) -> Iterator[tuple[str, Estimate]]:
        batch, judge = self.batches[name], self._judge(name)
        for measure, average, quantity in counted(binary=batch.binary) if self.decided else ():
            if average is not None:
                found = judge.averaged(measure, average)
            else:
                found = judge.of_label(measure, 1) if batch.binary else judge.of_classes(measure)
            found = self._anew(found, quantity, name) if name in self.chosen else found
            yield key_of(measure, average), found
        for measure, average in scored([batch]):
            if average is None:
                yield measure.name, judge.scored(measure)
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
    def _batches(self) -> tuple[Batch, Batch]:
        return self.models.batches[self.a], self.models.batches[self.b]

    @cached_property
    def tally(self) -> PairTally:
        """Label by decision by decision."""
        return self.models.pairs(self.a, self.b)

    @cached_property
    def sample(self) -> Sample | None:
        """The rows with the scores or probabilities of both, where two classes have some."""
        first = self._batches[0]
        tables = [b.score if b.probabilities is None else b.probabilities for b in self._batches]
        if tables[0] is None or first.truth.min() == first.truth.max():
            return None
        clusters = first.clusters
        scores = zip((self.a, self.b), tables, strict=True)
        return Sample.of_rows(
            first.labels,
            first.truth,
            {name: score for name, score in scores if score is not None},
            cluster=None if clusters is None else clusters.codes,
            clusters=() if clusters is None else clusters.names,
            counts=first.counts,
        )

    def differences(self) -> Iterator[Difference]:
        """Every measure's difference, B less A; of decisions where every model has some."""
        if self.models.decided:
            yield from self._differences_of_decisions()
        if self.sample is None:
            return
        for measure, average in scored(self._batches):
            name, method = key_of(measure, average), self.models.method
            if self.models.resample:
                found = paired_score_bootstrap(self.sample, measure, average=average, method=method)
                yield _difference(name, found, self.models.resampled)
            else:
                found = paired_scores(
                    self.sample, measure, average=average, level=self.models.level
                )
                yield _difference(name, found)

    def _differences_of_decisions(self) -> Iterator[Difference]:
        tables = self._tables()
        for measure, average, quantity in counted(binary=self.models.first.binary):
            name = key_of(measure, average)
            found = paired_bootstrap(
                self.tally, quantity, name=name, method=self.models.method, tables=tables
            )
            yield _difference(name, found, self.models.resampled)

    def _tables(self) -> tuple[Floats, Floats]:
        """Resampled tables of both models, from one draw."""
        if self.models.chosen:
            return self.models.chosen[self.a].tables, self.models.chosen[self.b].tables
        clusters = self.models.first.clusters
        if clusters is None:
            return resampled_pairs(self.tally, self.models.method)
        both = [
            ClusterTally.of_codes(
                batch.labels,
                batch.truth,
                engines.decide(batch),
                clusters.codes,
                clusters.names,
                amounts=batch.counts,
            )
            for batch in self._batches
        ]
        return resampled_clusters(both[0], both[1], self.models.method)

    @cached_property
    def _delong(self) -> Significance | None:
        if self.sample is None or self.sample.clusters or self.sample.width > 1:
            return None
        return delong_of(self.sample, level=self.models.level)

    def tests(self) -> Iterator[Significance]:
        """McNemar's test on all rows, on positives and on negatives; DeLong's.

        McNemar's takes decisions as given, so there is none where thresholds were chosen.
        """
        if self.models.first.clusters is not None:
            return
        if not self.models.chosen and self.models.decided:
            yield mcnemar_of(self.tally, level=self.models.level)
            if self.models.first.binary:
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


def scored(batches: tuple[Batch, ...] | list[Batch]) -> list[tuple[Measure, str | None]]:
    """Measures of scores that all of these models have, and whose rows tell how sure they are.

    Those of rankings of more than two classes come with an average.
    """
    if all(batch.probabilities is not None for batch in batches):
        measures = catalogue.CATALOGUE
        return [(m, average) for m in measures for average in differences_of_classes(m)]
    if any(batch.score is None for batch in batches):
        return []
    said = {Needs.SCORES}
    if all(batch.is_probability for batch in batches):
        said.add(Needs.LOSSES)
    negatives, positives = np.bincount(batches[0].truth, batches[0].counts, minlength=2).tolist()
    found: list[tuple[Measure, str | None]] = []
    for measure in catalogue.CATALOGUE:
        declared = measure.of_scores
        told = measure.needs in said and has_difference(measure)
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
