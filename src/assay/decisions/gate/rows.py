"""What the new and the old model said of the same rows."""

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
from assay.inference.operating import AtThreshold
from assay.sources import FAMILY, Batch
from assay.tally import Sample

Array: TypeAlias = npt.NDArray[Any]

# Decisions are as scores of 0 and 1, flagged from here on.
_DECIDED = AtThreshold(0.5)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one or both models, and the thresholds that decide where a rule names none."""

    batches: Mapping[str, Batch]
    thresholds: Mapping[str, float | None]
    level: float
    _judges: dict[tuple[str, float | None], Judge] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.first.positive is None:
            raise InputError(
                f"a gate judges one positive label, and there are {len(self.first.labels)} "
                f"classes: say positive= or negative="
            )
        if self.clusters is not None and self.clusters.max() == 0:
            raise MethodError("one cluster tells nothing about the spread between clusters")

    @property
    def first(self) -> Batch:
        """The rows of the first model; label, counts, clusters and families are those of all."""
        return next(iter(self.batches.values()))

    @cached_property
    def truth(self) -> npt.NDArray[np.bool_]:
        """Which rows are positive."""
        return np.asarray(self.first.truth == 1)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often each row occurs."""
        given = self.first.counts
        return np.ones(len(self.truth), np.int64) if given is None else given

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many negatives and positives there are."""
        positives = int(self.counts[self.truth].sum())
        return int(self.counts.sum()) - positives, positives

    @cached_property
    def clusters(self) -> Array | None:
        """The cluster of each row, numbered without gaps."""
        given = self.first.clusters
        return None if given is None else np.unique(given.codes, return_inverse=True)[1]

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families that have positive rows, by name."""
        named = self.first.slices.get(FAMILY)
        if named is None:
            return ()
        return tuple(sorted({named.names[code] for code in set(named.codes[self.truth].tolist())}))

    @cached_property
    def groups(self) -> Array:
        """For each row the position of its family, -1 for negatives."""
        named = self.first.slices.get(FAMILY)
        if named is None:
            return np.full(len(self.truth), -1)
        position = {name: i for i, name in enumerate(self.families)}
        table = np.array([position.get(name, -1) for name in named.names], np.int64)
        return np.where(self.truth, table[named.codes], -1)

    def family(self, name: str) -> int | None:
        """The position of a family; None where it occurs, but without positive rows."""
        if name in self.families:
            return self.families.index(name)
        known = self.first.slices[FAMILY].names
        if name in known:
            return None
        close = difflib.get_close_matches(name, self.families, n=3) or self.families[:8]
        raise InputError(
            f"no row is of the family {name!r}; there are {len(self.families)}, such as "
            f"{', '.join(map(repr, close))}"
        )

    def label(self, name: str) -> int:
        """The position of a label, 1 for the positive."""
        if name not in self.first.labels:
            labels = ", ".join(map(repr, self.first.labels))
            raise InputError(f"there is no label {name!r}; the labels are {labels}")
        return self.first.labels.index(name)

    # -- thresholds --------------------------------------------------------------------------------

    def point(self, model: str, rule: Rule) -> Operating:
        """Where a rule judges a model: as it says, or at the gate's own threshold."""
        batch = self.batches[model]
        if batch.score is None:
            if rule.at is not None:
                raise InputError(f"the rule {rule.text!r} sets a threshold, and needs scores")
            return _DECIDED
        if rule.at is not None:
            return rule.at
        given = self.thresholds[model]
        if given is not None:
            return AtThreshold(given)
        if not batch.is_probability:
            low, high = float(batch.score.min()), float(batch.score.max())
            name = "threshold" if model == NEW else "old_threshold"
            raise ScoreError(
                f"scores of the {model} model run from {low:g} to {high:g}, so 0.5 means nothing "
                f"for the rule {rule.text!r}: say {name}=, or write @threshold= or @max-far= in it"
            )
        return AtThreshold(0.5)

    def flagged(self, model: str, threshold: float | None) -> npt.NDArray[np.bool_]:
        """Which rows a model flags; none where there is no threshold."""
        if threshold is None:
            return np.zeros(len(self.truth), bool)
        return np.asarray(self._ranked(model) >= np.float64(threshold))

    def _ranked(self, model: str) -> Array:
        batch = self.batches[model]
        if batch.score is not None:
            return batch.score
        assert batch.decision is not None  # noqa: S101 - a batch has one of the two
        return batch.decision.astype(np.float32)

    # -- for inference -----------------------------------------------------------------------------

    def judge(self, model: str, threshold: float | None = None) -> Judge:
        """What gives the estimates of one model at a fixed threshold."""
        if (model, threshold) not in self._judges:
            batch = self.batches[model]
            if batch.decision is None:
                batch = replace(batch, threshold=0.0 if threshold is None else threshold)
            self._judges[model, threshold] = Judge(engines.count(batch), self.level)
        return self._judges[model, threshold]

    def scored(self) -> ScoredRows:
        """The rows for thresholds that are chosen anew."""
        return ScoredRows(
            truth=self.truth,
            scores={model: self._ranked(model) for model in self.batches},
            counts=self.first.counts,
            clusters=self.clusters,
            groups=self.groups if self.families else None,
            group_names=self.families,
        )

    def sample(self) -> Sample:
        """The scores of both models, the old one first."""
        clusters = self.first.clusters
        scores = {model: self.batches[model].score for model in (OLD, NEW)}
        return Sample.of_rows(
            self.first.labels,
            self.first.truth,
            {model: score for model, score in scores.items() if score is not None},
            cluster=None if clusters is None else clusters.codes,
            clusters=() if clusters is None else clusters.names,
            counts=self.first.counts,
        )

    @cached_property
    def same(self) -> bool:
        """Whether both models said the very same of every row."""
        return bool(np.array_equal(self._ranked(NEW), self._ranked(OLD)))

    @cached_property
    def same_order(self) -> bool:
        """Whether both models rank all rows alike."""
        new, old = (np.unique(self._ranked(m), return_inverse=True)[1] for m in (NEW, OLD))
        return bool(np.array_equal(new, old))
