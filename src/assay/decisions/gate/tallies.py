"""What was counted of the new and the old model, which have said something of the same rows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay import engines
from assay.decisions.gate.rule import NEW, OLD, Operating, Rule
from assay.errors import InputError, MethodError, ScoreError
from assay.evaluation.judge import Judge
from assay.inference.chosen import ScoredRows
from assay.inference.narrowing import Pyramid
from assay.inference.operating import AtThreshold
from assay.sources import FAMILY, Batch
from assay.tally import ClusterTally, Confusion, Resolved, Sample, ScoreTally

Array: TypeAlias = npt.NDArray[Any]

# Decisions are as scores of 0 and 1, flagged from here on.
_DECIDED = AtThreshold(0.5)


@dataclass(frozen=True, eq=False)
class ModelTallies:
    """What was counted of one model.

    ``scores`` has the families in place of the positives where there are families, and decisions as
    scores of 0 and 1.
    """

    resolved: Resolved
    scores: ScoreTally

    @cached_property
    def pyramid(self) -> Pyramid:
        """The scores, for thresholds that are chosen anew."""
        return Pyramid.of(self.scores)

    def at(self, threshold: float) -> Resolved:
        """What was counted, decided at a threshold; given decisions stay as they are."""
        given = self.resolved
        if given.scores is None:
            return given
        flagged, totals = self.scores.at_least(threshold), self.scores.totals()
        fp, negatives = flagged[0], totals[0]
        tp, positives = sum(flagged[1:]), sum(totals[1:])
        clusters = None
        if given.sample is not None:
            clusters = ClusterTally.of_sample(given.labels, given.sample, threshold)
        # Without families the positives stand as one, which nobody asks for.
        families = zip(self.scores.labels[1:], flagged[1:], totals[1:], strict=True)
        return replace(
            given,
            threshold=threshold,
            confusion=Confusion(given.labels, ((negatives - fp, fp), (positives - tp, tp))),
            clusters=clusters,
            slices={
                (FAMILY, name): Confusion(given.labels, ((0, 0), (size - hits, hits)))
                for name, hits, size in families
            },
        )


@dataclass(frozen=True, eq=False)
class GateTallies:
    """The tallies of one or both models, and the thresholds that decide where a rule names none.

    ``families`` are those that have positive rows, ``known`` all names of families (None where
    nobody told them). ``rows`` holds what each model said of each row, by family where there are
    families, the old model first: for rules about differences, and where rows come in clusters.
    """

    models: Mapping[str, ModelTallies]
    families: tuple[str, ...]
    known: tuple[str, ...] | None
    rows: Sample | None
    thresholds: Mapping[str, float | None]
    level: float
    notes: tuple[str, ...] = ()
    _judges: dict[tuple[str, float | None], Judge] = field(default_factory=dict)

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
        assert self.first.positive is not None  # noqa: S101 - other tallies are refused
        return self.first.positive

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
        given = self.thresholds[model]
        if given is not None:
            return AtThreshold(given)
        if resolved.kind != "probability":
            low, high = (float(resolved.scores[0].scores[end]) for end in (0, -1))
            name = "threshold" if model == NEW else "old_threshold"
            raise ScoreError(
                f"scores of the {model} model run from {low:g} to {high:g}, so 0.5 means nothing "
                f"for the rule {rule.text!r}: say {name}=, or write @threshold= or @max-far= in it"
            )
        return AtThreshold(0.5)

    def judge(self, model: str, threshold: float | None = None) -> Judge:
        """What gives the estimates of one model at a fixed threshold."""
        if (model, threshold) not in self._judges:
            tally = self.models[model].at(0.0 if threshold is None else threshold)
            self._judges[model, threshold] = Judge(tally, self.level)
        return self._judges[model, threshold]

    # -- rows --------------------------------------------------------------------------------------

    @property
    def sample(self) -> Sample:
        """What each model said of each row."""
        assert self.rows is not None  # noqa: S101 - kept where a rule needs them
        return self.rows

    def flagged(self, model: str, threshold: float | None) -> npt.NDArray[np.bool_]:
        """Which rows a model flags; none where there is no threshold."""
        if threshold is None:
            return np.zeros(self.sample.size, bool)
        return np.asarray(self._said(model) >= np.float64(threshold))

    def _said(self, model: str) -> Array:
        return self.sample.scores[:, self.sample.models.index(model)]

    def scored(self) -> ScoredRows:
        """The rows for thresholds that are chosen anew."""
        sample = self.sample
        return ScoredRows(
            truth=sample.truth > 0,
            scores={model: self._said(model) for model in sample.models},
            counts=sample.counts,
            clusters=sample.cluster if sample.clusters else None,
            groups=sample.truth.astype(np.int64) - 1 if self.families else None,
            group_names=self.families,
        )

    def paired(self) -> Sample:
        """The scores of both models by the two labels, the old one first."""
        sample = self.sample
        return Sample.of_rows(
            self.labels,
            sample.truth > 0,
            {model: self._said(model) for model in (OLD, NEW)},
            cluster=sample.cluster,
            clusters=sample.clusters,
            counts=sample.counts,
        )

    @cached_property
    def same(self) -> bool:
        """Whether both models said the very same of every row."""
        return bool(np.array_equal(self._said(NEW), self._said(OLD)))

    @cached_property
    def same_order(self) -> bool:
        """Whether both models rank all rows alike."""
        new, old = (np.unique(self._said(m), return_inverse=True)[1] for m in (NEW, OLD))
        return bool(np.array_equal(new, old))


def gate_tallies(
    batches: Mapping[str, Batch],
    thresholds: Mapping[str, float | None],
    level: float,
    *,
    paired: bool,
) -> GateTallies:
    """Count the rows of each model; ``paired`` keeps what both said of the same row."""
    first = next(iter(batches.values()))
    if first.positive is None:
        raise InputError(
            f"a gate judges one positive label, and there are {len(first.labels)} classes: say "
            f"positive= or negative="
        )
    if first.clusters is not None and len(np.unique(first.clusters.codes)) == 1:
        raise MethodError("one cluster tells nothing about the spread between clusters")
    labels, truth = first.by_family(FAMILY)
    said = {}
    for model, batch in batches.items():
        given = batch.score if batch.decision is None else batch.decision.astype(np.float32)
        assert given is not None  # noqa: S101 - a batch has one of the two
        said[model] = given
    models = {
        model: ModelTallies(
            engines.count(batch if batch.score is None else replace(batch, slices={})),
            ScoreTally.of_rows(labels, said[model], truth, counts=first.counts),
        )
        for model, batch in batches.items()
    }
    rows, clusters = None, first.clusters
    if paired or clusters is not None:
        rows = Sample.of_rows(
            labels,
            truth,
            {model: said[model] for model in (OLD, NEW) if model in said},
            cluster=None if clusters is None else clusters.codes,
            clusters=() if clusters is None else clusters.names,
            counts=first.counts,
        )
    known = first.slices[FAMILY].names if FAMILY in first.slices else None
    families = () if known is None else labels[1:]
    return GateTallies(models, families, known, rows, thresholds, level, first.notes)
