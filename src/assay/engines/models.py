"""Count what several models said of the same rows: each alone, their decisions, pairs of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.batches import count, decide
from assay.sources import FAMILY, Batch
from assay.tally import Confusion, JointScores, LossSums, PairTally, Resolved, Sample, ScoreTally
from assay.tally.blocks import bounds
from assay.tally.keeping import Grid
from assay.tally.pairs import crossed

Array: TypeAlias = npt.NDArray[Any]
Paired: TypeAlias = Sample | JointScores

# Scores of more rows than this are counted on a grid, unless every pair is asked for.
MOST_ROWS = 5_000_000
# Of one model a grid has few cells, so it may be fine; of two as many pairs as these are kept.
BITS, MOST_PAIRS = 16, 1 << 22
_ROWS = 1 << 22


@dataclass(frozen=True, eq=False)
class CountedModels:
    """What several models said of the same rows.

    ``tallies`` are those of each model alone, ``decisions`` what all of them decided (None where
    one does not decide), ``families`` the same of each kind of attack. ``paired`` gives the scores
    of two of them, or None where there are none to compare. ``mode`` is how scores are kept.
    """

    tallies: Mapping[str, Resolved]
    decisions: PairTally | None
    paired: Callable[[str, str], Paired | None]
    mode: str = "exact"
    families: Mapping[str, PairTally] = field(default_factory=dict)

    @property
    def first(self) -> Resolved:
        """Any of them: all have the same rows."""
        return next(iter(self.tallies.values()))


def count_models(batches: Mapping[str, Batch]) -> CountedModels:
    """Count models on the same rows, every pair of scores kept."""
    decisions = _decided(batches)
    return CountedModels(
        {name: count(replace(batch, slices={})) for name, batch in batches.items()},
        _decisions(batches, decisions),
        lambda a, b: _sample(batches, a, b),
        families=_families(batches, decisions),
    )


def count_models_on_grid(batches: Mapping[str, Batch]) -> CountedModels:
    """Count scores of models on the same rows of two classes, in memory that does not grow."""
    decided = _decided(batches)
    decisions = _decisions(batches, decided)
    return CountedModels(
        {
            name: _on_grid(batch, None if decisions is None else decisions.confusion(i))
            for i, (name, batch) in enumerate(batches.items())
        },
        decisions,
        lambda a, b: joint_scores(batches, a, b),
        Grid.name,
        _families(batches, decided),
    )


def _decided(batches: Mapping[str, Batch]) -> dict[str, Array]:
    """What each model decided; nothing unless all of them decide."""
    if not all(batch.decided for batch in batches.values()):
        return {}
    return {name: decide(batch) for name, batch in batches.items()}


def _decisions(batches: Mapping[str, Batch], decided: Mapping[str, Array]) -> PairTally | None:
    first = next(iter(batches.values()))
    if not decided:
        return None
    return PairTally.of_codes(first.labels, first.truth, decided, counts=first.counts)


def _families(batches: Mapping[str, Batch], decided: Mapping[str, Array]) -> dict[str, PairTally]:
    """What all models decided on the rows of each family, where families are known."""
    first = next(iter(batches.values()))
    column = first.slices.get(FAMILY)
    if column is None or not decided:
        return {}
    sizes = (len(column.names), *[len(first.labels)] * (len(decided) + 1))
    columns = [column.codes, first.truth, *decided.values()]
    codes, counts = crossed(columns, sizes, first.counts)
    return split_by_family(first.labels, tuple(decided), column.names, codes, counts)


def split_by_family(
    labels: tuple[str, ...],
    models: tuple[str, ...],
    families: tuple[str, ...],
    codes: Array,
    counts: npt.NDArray[np.int64],
) -> dict[str, PairTally]:
    """A table for each family that occurs; its position is the first of the codes."""
    tables = {}
    for position in np.unique(codes[:, 0]).tolist():
        own = codes[:, 0] == position
        tables[families[position]] = PairTally(labels, models, codes[own, 1:], counts[own])
    return tables


def _sample(batches: Mapping[str, Batch], a: str, b: str) -> Sample | None:
    """The rows with the scores or probabilities of both, where two classes have some."""
    first = batches[a]
    tables = {
        name: batches[name].score if first.probabilities is None else batches[name].probabilities
        for name in (a, b)
    }
    if tables[a] is None or first.truth.min() == first.truth.max():
        return None
    clusters = first.clusters
    return Sample.of_rows(
        first.labels,
        first.truth,
        {name: table for name, table in tables.items() if table is not None},
        cluster=None if clusters is None else clusters.codes,
        clusters=() if clusters is None else clusters.names,
        counts=first.counts,
    )


def joint_scores(batches: Mapping[str, Batch], a: str, b: str) -> JointScores | None:
    """The pairs of scores of two models, on the finest grid that keeps few enough of them.

    None where rows have one label only.
    """
    first = batches[a]
    if first.truth.min() == first.truth.max():
        return None
    total, bits = JointScores.zero(first.labels, (a, b)), Grid().bits
    for i, j in bounds(len(first.truth), _ROWS):
        part = JointScores.of_rows(
            first.labels,
            first.truth[i:j],
            {name: _scores(batches[name])[i:j] for name in (a, b)},
            counts=None if first.counts is None else first.counts[i:j],
            bits=bits,
        )
        total = (total + part).within(MOST_PAIRS)
        # Rows that don't fit on a grid don't fit among others.
        bits = total.kept.bits if isinstance(total.kept, Grid) else bits
    return total


def joint_at(
    batches: Mapping[str, Batch], a: str, b: str, levels: Mapping[str, Array]
) -> JointScores:
    """All pairs of scores of two models, each rounded down to the levels of its model.

    Levels ascend, and the first of them is not above any score.
    """
    first = batches[a]
    columns = [(_scores(batches[name]), levels[name]) for name in (a, b)]
    shape = len(first.labels), len(levels[a]), len(levels[b])
    size = math.prod(shape)

    def work(i: int, j: int) -> Array:
        keys = first.truth[i:j].astype(np.int64)
        for scores, steps in columns:
            np.multiply(keys, len(steps), out=keys)
            np.add(keys, np.searchsorted(steps, scores[i:j], side="right") - 1, out=keys)
        if first.counts is None:
            return np.bincount(keys, minlength=size)
        # Sums of counts are exact in floats up to 2^53.
        return np.bincount(keys, first.counts[i:j], minlength=size).astype(np.int64)

    total = np.zeros(size, np.int64)
    for i, j in bounds(len(first.truth), _ROWS):
        total += work(i, j)
    held = np.flatnonzero(total)
    truth, *at = np.unravel_index(held, shape)
    scores = {name: levels[name][place] for name, place in zip((a, b), at, strict=True)}
    return JointScores.of_rows(first.labels, truth, scores, counts=total[held], bits=None)


def _scores(batch: Batch) -> Array:
    assert batch.score is not None  # noqa: S101 - models of scores are counted on a grid
    return batch.score


def _on_grid(batch: Batch, confusion: Confusion | None) -> Resolved:
    """One model: decisions and losses are exact, its scores lie on a fine grid."""
    if confusion is None:
        # Rows are counted by their label alone.
        confusion = Confusion.of_codes(
            batch.labels, batch.truth, np.zeros(len(batch.truth), np.uint8), counts=batch.counts
        )
    losses = None
    if batch.is_probability:
        losses = LossSums.of_binary(batch.truth, _scores(batch), counts=batch.counts)
    return Resolved(
        labels=batch.labels,
        positive=batch.positive,
        confusion=confusion,
        threshold=batch.threshold,
        decided=batch.decided,
        kind="probability" if batch.is_probability else "score",
        scores=(scores_on_grid(batch),),
        losses=losses,
    )


def scores_on_grid(batch: Batch) -> ScoreTally:
    """The scores of one model on a fine grid."""
    return ScoreTally.of_rows(
        batch.labels, _scores(batch), batch.truth, counts=batch.counts, kept=Grid(BITS)
    )
