"""Thresholds of several models that a rule chooses, on the data and on resamples of it.

Few rows are drawn anew as they are. Of many, where a threshold may come to lie is told from the
counts of each model; there its scores stay fine, elsewhere they are rounded down, and pairs of what
is left are drawn anew. So every resample is one of all rows, with thresholds rounded by far less
than they vary.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.models import ModelRows
from assay.inference import Bootstrap
from assay.inference.chosen import Chosen, Progress, ScoredRows, choose_anew
from assay.inference.operating import AtThreshold, Rule
from assay.tally import JointScores, ScoreTally

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
# What a rule gives of both models of a pair, resampled together.
Together: TypeAlias = dict[tuple[str, str], Mapping[str, Chosen]]

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
        scores={n: own.score for n, own in rows.models.items() if own.score is not None},
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
    """The same from counts: ``joint_at`` gives those of two models at their levels."""
    pairs = list(itertools.combinations(levels, 2))
    together: Together = {}
    for done, (a, b) in enumerate(pairs):
        joint = joint_at(a, b)
        rows = ScoredRows(
            truth=joint.truth == 1,
            scores={a: joint.scores(0), b: joint.scores(1)},
            counts=joint.counts.astype(np.int64),
        )
        chosen = choose_anew(rows, [rule], method, progress=_part(progress, done, len(pairs)))
        together[a, b] = {name: chosen[name, rule] for name in (a, b)}
    return together


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
    own = _alone(tally, rule, Bootstrap(resamples=2))
    trials = _alone(tally.to_grid(_TRIAL_BITS), rule, Bootstrap(resamples=_TRIALS))
    scores = tally.scores.astype(np.float64)
    # Where nothing can be flagged the threshold is above all scores.
    reached = [np.inf if t is None else t for t in (own.threshold, trials.threshold)]
    reached += np.nan_to_num(trials.thresholds, nan=np.inf).tolist()
    first, last = np.searchsorted(scores, [min(reached), max(reached)]).tolist()
    rows = np.cumsum(tally.counts.sum(axis=0, dtype=np.int64))
    low, high = rows[min(first, len(rows) - 1)], rows[min(last, len(rows) - 1)]
    more = max((high - low) // 2, 1)
    near = np.linspace(low - more, high + more, _NEAR)
    far = np.linspace(0, rows[-1], _FAR)
    at = np.searchsorted(rows, np.concatenate([near, far]))
    kept = {0, *np.minimum(at, len(scores) - 1).tolist()}
    if own.threshold is not None:
        kept.add(int(np.searchsorted(scores, own.threshold)))
    return Levels(scores[sorted(kept)], math.inf if own.threshold is None else own.threshold)


def _alone(tally: ScoreTally, rule: Rule, method: Bootstrap) -> Chosen:
    """One model under a rule, from its counts."""
    label, at = np.nonzero(tally.counts)
    rows = ScoredRows(
        truth=label == 1,
        scores={"": tally.scores[at]},
        counts=tally.counts[label, at].astype(np.int64),
    )
    return choose_anew(rows, [rule], method)["", rule]


def thresholds_of(together: Together) -> dict[str, float]:
    """Where each model flags from; infinity where it flags nothing."""
    return {
        name: math.inf if found.threshold is None else found.threshold
        for each in together.values()
        for name, found in each.items()
    }
