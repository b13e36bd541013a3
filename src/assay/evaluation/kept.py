"""How the scores of an evaluation were kept, and what that means for its numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.evaluation.words import listed, name
from assay.inference import Estimate
from assay.measures import AVERAGE_PRECISION, ROC_AUC
from assay.tally import Resolved
from assay.tally.keeping import Cuts, Exact, Grid, Keeping

if TYPE_CHECKING:
    from assay.evaluation.views import ByKey

# Bounds are written with so many decimals, rounded outwards.
_DECIMALS = 6


def keeping(tally: Resolved) -> Keeping:
    """How the scores of a tally are kept; without scores nothing is lost."""
    return tally.scores[0].kept if tally.scores else Exact()


def mode_note(tally: Resolved) -> str:
    """What the mode means, in a sentence."""
    match keeping(tally):
        case Grid(bits=bits):
            return (
                f"mode grid: scores were kept in cells of {bits} bits; counts are exact at the "
                f"edges of cells, and what depends on the order inside a cell has bounds"
            )
        case Cuts(frequent=frequent):
            return (
                f"mode cuts: every score was kept but those of {name(frequent or '')}, whose rows "
                f"were counted between the others; counts and ranks are exact"
            )
    return "mode exact: every distinct score was kept"


def bound_text(estimate: Estimate) -> str:
    """The bounds of an estimate, rounded outwards.

    >>> bound_text(Estimate(0.5, bound=(0.4999999, 0.5000012)))
    '[0.499999, 0.500002]'
    """
    if estimate.bound is None:
        return ""
    low, high = (_outwards(end, side) for end, side in zip(estimate.bound, (-1, 1), strict=True))
    return f"[{low}, {high}]"


def _outwards(end: float, side: int) -> str:
    scale = 10**_DECIMALS
    # What rounding leaves of a whole number of units.
    units = side * math.ceil(side * end * scale - 1e-5)
    return f"{units / scale:.{_DECIMALS}f}"


def bits_of(tally: Resolved) -> int | None:
    """The bits of the grid that scores are kept in; None where they are kept otherwise."""
    kept = keeping(tally)
    return kept.bits if isinstance(kept, Grid) else None


def bounds_note(evaluation: ByKey, bits: int | None) -> tuple[str, ...]:
    """Between which values the first measures of scores lie; nothing where all are exact."""
    if bits is None:
        return ()
    binary = evaluation.positive is not None
    estimates = {
        measure.title: evaluation[measure.name if binary else f"{measure.name}.macro"]
        for measure in (ROC_AUC, AVERAGE_PRECISION)
    }
    ends = [
        f"{title} lies in {bound_text(e)}" for title, e in estimates.items() if e.bound is not None
    ]
    if not ends:
        return ()
    return (f"whatever the order inside the cells of {bits} bits, {listed(ends)}",)
