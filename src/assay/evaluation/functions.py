"""Every measure as a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.engines.arrays import resolved_arrays
from assay.errors import InputError
from assay.evaluation.counts import counts_tally
from assay.evaluation.deployment import costs_of
from assay.evaluation.judge import Judge
from assay.evaluation.predictions import DECISIONS, PROBABILITIES, SCORES, is_table
from assay.formula import plain
from assay.inference import Estimate, Method, method_of
from assay.measures import AVERAGES, MAX_FPR, Measure, Ranked, f_beta, find
from assay.sources import checked_columns


@dataclass(frozen=True)
class MeasureFunction:
    """A measure, to be called with four cells or with columns.

    >>> precision = MeasureFunction(find("precision"))
    >>> precision(tp=3, fp=1, fn=2, tn=4).value
    0.75
    >>> precision(["a", "b", "a"], ["a", "a", "a"], positive="a").value
    0.6666666666666666
    """

    measure: Measure

    @property
    def __name__(self) -> str:
        return self.measure.name

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", _help(self.measure))

    def __call__(
        self,
        y_true: Any = None,
        y_said: Any = None,
        *,
        tp: int | None = None,
        fp: int | None = None,
        fn: int | None = None,
        tn: int | None = None,
        average: str | None = None,
        positive: Any = None,
        level: float | None = None,
        interval: Method | str | None = None,
        max_fpr: float = MAX_FPR,
        corrected: bool = True,
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        **columns: Any,
    ) -> Estimate:
        """The estimate. ``y_said`` are decisions, or for measures of scores the scores.

        ``average`` is macro, micro or weighted. ``max_fpr`` and ``corrected`` are for the partial
        AUC; ``cost_fp`` and ``cost_fn``, what a false alarm and a missed attack cost, for measures
        of costs. Further columns are those of :func:`assay.evaluate`.
        """
        if (max_fpr, corrected) != (MAX_FPR, True) and not self._ends_at_a_rate:
            raise InputError(f"max_fpr and corrected are for the partial AUC, not {self.__name__}")
        costs = costs_of(cost_fp, cost_fn)
        if costs is not None and self.measure.of_costs is None:
            raise InputError(
                f"cost_fp= and cost_fn= are for measures of costs, not {self.__name__}"
            )
        if y_true is None:
            if self.measure.of_scores is not None:
                raise InputError(f"{self.measure.name} can't be told from counts: give columns")
            if y_said is not None or columns:
                raise InputError("give y_true beside what the model said, or the four cells")
            tally, _ = counts_tally(tp, fp, fn, tn)
        else:
            if any(cell is not None for cell in (tp, fp, fn, tn)):
                raise InputError("give the four cells or columns, not both")
            said = {**self._said(y_said), **columns}
            if "y_score" in said and self.measure.of_scores is not None:
                # A ranking does not depend on where the alarm is set.
                said.setdefault("threshold", 0.5)
            tally, _, _ = resolved_arrays(y_true, positive=positive, **checked_columns(said))
        method, chosen = method_of(interval, level)
        judge = Judge(tally, chosen, method, max_fpr, corrected, costs=costs)
        return self._estimate(judge, average)

    @property
    def _ends_at_a_rate(self) -> bool:
        declared = self.measure.of_scores
        return isinstance(declared, Ranked) and declared.up_to is not None

    def _said(self, y_said: Any) -> dict[str, Any]:
        if y_said is None:
            return {}
        if self.measure.of_scores is None:
            return {DECISIONS: y_said}
        return {PROBABILITIES if is_table(y_said) else SCORES: y_said}

    def _estimate(self, judge: Judge, average: str | None) -> Estimate:
        measure = self.measure
        if average is not None and average not in AVERAGES:
            raise InputError(f"average is one of {', '.join(AVERAGES)}; found {average!r}")
        if measure.of_scores is not None:
            if average is not None:
                return judge.averaged_scores(measure, average)
            if measure.averages and not judge.binary:
                raise InputError(
                    f"{measure.name} of {len(judge.tally.labels)} classes needs average= macro or "
                    f"weighted, or positive="
                )
            return judge.scored(measure)
        if average is not None:
            return judge.averaged(measure, average)
        if not judge.binary and measure.of_costs is None:
            return judge.of_classes(measure)
        return judge.of_label(measure, 1)


def _help(measure: Measure) -> str:
    lines = [measure.reads, "", f"When it misleads: {measure.misleads}"]
    if measure.formula is not None:
        lines.append(f"Formula: {plain(measure.formula)}")
    low, high = measure.range
    lines.append(f"Range: {low:g} to {high:g}; {measure.better.value}.")
    return "\n".join([*lines, f"Reference: {measure.reference}"])


def fbeta(y_true: Any = None, y_said: Any = None, *, beta: Any, **given: Any) -> Estimate:
    """F-beta: recall counts ``beta`` times as much as precision.

    >>> fbeta(beta=2, tp=3, fp=1, fn=2, tn=4).value
    0.625
    """
    if not isinstance(beta, int | float) or isinstance(beta, bool):
        raise InputError(f"beta must be a positive number; found {beta!r}")
    return MeasureFunction(f_beta(beta))(y_true, y_said, **given)


def function_of(name: str) -> MeasureFunction:
    """The function of a measure, by its name or alias."""
    return MeasureFunction(find(name))
