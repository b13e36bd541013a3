"""Where to flag rows for a tolerated false alarm rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference.operating import NOTHING, MaxFar
from assay.tally import ScoreTally

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Operating:
    """A threshold, and its detection rate and false alarm rate on the rows it was chosen on."""

    threshold: float
    detection_rate: float
    far: float


def best_operating(
    scores: Floats, truth: npt.NDArray[np.bool_], max_far: float
) -> Operating | None:
    """The threshold with the highest detection rate at a tolerated FAR, and then the lowest FAR.

    None where no threshold keeps the FAR.
    """
    tally = ScoreTally.of_rows(("negative", "positive"), scores, truth.astype(np.uint8))
    fp, tp = np.cumsum(tally.counts[:, ::-1], axis=1, dtype=np.int64)
    last = MaxFar(max_far).choose(tp, fp, float(tp[-1]), float(fp[-1]))
    if last == NOTHING:
        return None
    # From the last true alarm on a lower threshold only adds false ones.
    at = int(np.searchsorted(tp, tp[last]))
    return Operating(
        float(tally.scores[::-1][at]), float(tp[at] / tp[-1]), float(fp[at] / (fp[at] + tp[at]))
    )
