"""The measures that tell a detector from chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from assay.inference import Estimate
from assay.measures import INFORMEDNESS, KAPPA, ROC_AUC

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation


class AgainstChance(NamedTuple):
    """A measure by its name in words, its estimate, and the value that chance would give."""

    measure: str
    estimate: Estimate
    chance: float

    @property
    def below(self) -> bool:
        """Whether the whole interval lies below chance."""
        return self.estimate.high < self.chance


def against_chance(evaluation: Evaluation) -> tuple[AgainstChance, ...]:
    """What there is with an interval, the most telling first.

    With scores the AUC. Informedness where decisions were given by themselves, or the AUC has no
    interval. For more than two classes kappa.
    """
    if evaluation.positive is None:
        found = [AgainstChance(KAPPA.name, evaluation[KAPPA], 0.0)]
    else:
        auc = evaluation[ROC_AUC]
        found = [AgainstChance("AUC", auc, 0.5)]
        if evaluation.tally.threshold is None or math.isnan(auc.high):
            found.append(AgainstChance(INFORMEDNESS.name, evaluation[INFORMEDNESS], 0.0))
    return tuple(each for each in found if not math.isnan(each.estimate.high))
