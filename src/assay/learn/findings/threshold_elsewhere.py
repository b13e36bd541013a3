"""R003: the threshold was chosen on other rows than those it is judged on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.evaluation.words import interval, rate
from assay.learn.findings.check import RunCheck
from assay.learn.fitting import USUAL
from assay.measures import FALSE_DISCOVERY_RATE

if TYPE_CHECKING:
    from assay.learn.run import Run


def look(run: Run) -> str | None:
    """A tolerated false alarm rate that is not kept on the judged rows, by its interval."""
    if run.max_far is None or not run.binary:
        return None
    far = run.evaluation[FALSE_DISCOVERY_RATE]
    if np.isnan(far) or not far.low > run.max_far:
        return None
    unkept = sum(fold.not_chosen for fold in run.folds)
    if unkept:
        where = f" in {unkept} of {len(run.folds)} folds" if len(run.folds) > 1 else ""
        return (
            f"No threshold for a false alarm rate of {rate(run.max_far)} could be chosen on the "
            f"learned rows{where}, so that {rate(USUAL)} was taken; on the judged rows the false "
            f"alarm rate is {interval(far)}."
        )
    chosen = sorted({fold.said.threshold for fold in run.folds if fold.said.threshold is not None})
    shown = rate(chosen[0]) if len(chosen) == 1 else f"{rate(chosen[0])} to {rate(chosen[-1])}"
    return (
        f"The threshold ({shown}) keeps a false alarm rate of {rate(run.max_far)} on the rows that "
        f"it was chosen on, which are not the judged ones; there the false alarm rate is "
        f"{interval(far)}."
    )


CHECK = RunCheck(
    code="R003",
    severity="warning",
    title="the tolerated false alarm rate is not kept",
    why="A threshold keeps its promise on rows like those that it was chosen on. Other kinds of "
    "rows, or another share of attacks, break it.",
    remedy="Choose the threshold on rows of deployment: assay threshold on predictions.parquet, "
    "with the base rate of deployment.",
    look=look,
)
