"""What a training leaves: a model, what was said of unseen rows, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay import plots
from assay.errors import MethodError
from assay.evaluation import Evaluation
from assay.evaluation.findings import Finding
from assay.inference import Estimate
from assay.inference.result import Result
from assay.learn.explained import TreeRules
from assay.learn.recipes.tables import chosen_columns
from assay.learn.record import Training, training_of
from assay.learn.rules import rules_of_tree
from assay.learn.validation.split import SplitCounts
from assay.measures import find
from assay.plots.lines import losses

if TYPE_CHECKING:
    from assay.learn.data import Data
    from assay.learn.explained import Importance
    from assay.learn.recipes.recipe import Recipe
    from assay.plots.canvas import Axes

Positions: TypeAlias = npt.NDArray[np.intp]
Floats: TypeAlias = npt.NDArray[np.float64]

# Columns that a figure of what a model relies on shows.
_COLUMNS = 20


@dataclass(frozen=True, eq=False)
class Said:
    """What a model said of some rows.

    ``scores`` are the probabilities of the positive class, or of more than two classes those of
    each, a column a class. ``decisions`` are positions in the labels. ``threshold`` is the score
    from which on a row was flagged.
    """

    scores: Floats
    decisions: npt.NDArray[np.intp]
    threshold: float | None


@dataclass(frozen=True, eq=False)
class Fold:
    """One part that was judged by a model that learned from other rows.

    ``train`` are positions in ``Run.data``, ``test`` in ``Run.judged_data``. ``learned`` are
    measures of the same model on the rows that it learned from, or on a sample of them. ``losses``
    is the training loss of each epoch of a network, ``rates`` the learning rate. ``not_chosen`` is
    true where a threshold was to be chosen on learned rows, and none could be.
    """

    name: str
    repeat: int
    train: Positions
    test: Positions
    said: Said
    counts: SplitCounts
    learned: Mapping[str, float]
    not_learned: tuple[str, ...] = ()
    losses: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    not_chosen: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Run(Result):
    """A recipe that was trained and judged by a validation scheme.

    ``max_far`` is the false alarm rate that thresholds were chosen for, where one was tolerated.
    ``model`` is the one to keep, which learned from ``learned_from``, and ``threshold`` the score
    from which on it flags a row. ``judged`` are the positions in ``judged_data`` of the rows that a
    model judged which had not learned from them; ``said`` is what it said of them, and ``fold_of``
    which of the ``folds`` that was. Where rows were judged repeatedly, these and ``evaluation`` are
    of the first repeat, and ``repeats`` has the evaluation of each. ``per_fold`` has the values of
    each measure fold by fold, ``over_folds`` their mean with the corrected interval and, among its
    parts, the standard deviation. ``held_back`` is the evaluation of a validation part,
    ``importance`` what the model relies on, measured on rows that it did not learn.
    """

    recipe: Recipe
    settings: Mapping[str, Any]
    scheme: str
    seed: int
    max_far: float | None
    data: Data
    test: Data | None
    model: Any
    learned_from: str
    threshold: float | None
    folds: tuple[Fold, ...]
    judged: Positions
    said: Said
    fold_of: npt.NDArray[np.intp]
    evaluation: Evaluation
    repeats: tuple[Evaluation, ...]
    per_fold: Mapping[str, tuple[float, ...]]
    over_folds: Mapping[str, Estimate]
    held_back: Evaluation | None = None
    importance: Importance | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: int = 0

    @cached_property
    def chosen(self) -> tuple[tuple[str, float], ...]:
        """The columns that chi-square chose, and it; none where it chose none."""
        return tuple(chosen_columns(self.model))

    @cached_property
    def rules(self) -> TreeRules | None:
        """What a tree says, leaf by leaf and split by split; None of any other model."""
        return rules_of_tree(self.model, self.data.labels)

    def snapshot(self, trusted: tuple[str, ...] = ()) -> Training:
        """All that is known of it but its model; ``trusted`` are types that loading it runs."""
        return training_of(self, trusted)

    @property
    def plot(self) -> RunPlots:
        """Figures by matplotlib: ``run.plot.losses()``; needs the extra ``plot``."""
        return RunPlots(self)

    @property
    def judged_data(self) -> Data:
        """The table that the judged rows are of: the test file, or the data themselves."""
        return self.data if self.test is None else self.test

    @property
    def scores(self) -> Floats:
        """What was said of the judged rows, in their order: scores, or a column a class."""
        return self.said.scores

    @property
    def binary(self) -> bool:
        """Whether there is one positive class."""
        return self.data.positive is not None


@dataclass(frozen=True, repr=False)
class RunPlots(plots.Figures):
    """Figures of a run: those of its evaluation, what it relies on, how it learned."""

    run: Run

    def losses(self, ax: Axes | None = None) -> Axes:
        """The training loss after each epoch, a line a fold."""
        return losses({fold.name: fold.losses for fold in self.run.folds}, ax=ax)

    def importance(self, ax: Axes | None = None) -> Axes:
        """What shuffling each column costs, with its interval."""
        if self.run.importance is None:
            raise MethodError("what the model relies on was not measured in this run")
        rows = self.run.importance.rows[:_COLUMNS]
        measure = find(self.run.importance.measure).title
        return plots.forest(
            [(row.column, row.permutation) for row in rows],
            pair=f"{measure} lost when the column is shuffled",
            ax=ax,
        )

    def _figures(self) -> plots.Named:
        yield from self.run.evaluation.plot._figures()
        if any(fold.losses for fold in self.run.folds):
            yield "losses", self.losses
        if self.run.importance is not None and self.run.importance.rows:
            yield "importance", self.importance
