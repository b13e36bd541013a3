"""Numbers, labels and how scores were kept, as sentences write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.inference import Estimate
from assay.measures import AVERAGE_PRECISION, ROC_AUC
from assay.tally import Resolved
from assay.tally.keeping import Cuts, Exact, Grid, Keeping

if TYPE_CHECKING:
    from assay.evaluation.entries import ByKey

# A finding names so many labels, and so much of a long one; the report lists all of them.
_NAMED = 5
_LONGEST = 40
# What was not looked at before it was said that no threshold keeps a limit.
_UNTRIED = {
    Grid.name: "Thresholds inside a cell of the grid were not tried: every score would have to be "
    "kept (mode exact).",
    Cuts.name: "Thresholds between the scores that were kept were not tried: every score would "
    "have to be kept (mode exact).",
}
# Bounds are written with so many decimals, rounded outwards.
_DECIMALS = 6


def count(number: float) -> str:
    """A count with thousands separators; a sum of weights to about four digits.

    >>> count(14869), count(12345.678), count(0.25)
    ('14,869', '12,346', '0.25')
    """
    if isinstance(number, int) or float(number).is_integer():
        return f"{int(number):,}"
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:,.4g}"


def rows(number: float) -> str:
    """How many rows."""
    return f"{count(number)} row{'' if number == 1 else 's'}"


def rate(number: float) -> str:
    """A number to three digits, or more where it would read as 1 and is less.

    >>> rate(0.97512), rate(0.0000106), rate(0.99996)
    ('0.975', '1.06e-05', '0.99996')
    """
    return below(number, 1)


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.4681), percent(0.0001), percent(0.99996)
    ('46.8%', '0.01%', '99.996%')
    """
    return f"{below(100 * share, 100)}%"


def below(number: float, whole: float, digits: int = 3) -> str:
    """A number to so many digits, or more where it would read as the whole and is less."""
    texts = [f"{number:.{more}g}" for more in range(digits, 14)]
    return next((text for text in texts if number >= whole or float(text) < whole), texts[0])


def threshold_text(threshold: float) -> str:
    """A threshold with the digits that decide.

    >>> threshold_text(0.5), threshold_text(0.12345678)
    ('0.5', '0.12345678')
    """
    return f"{threshold:.10g}"


def interval(estimate: Estimate) -> str:
    """An estimate with its interval, small ones too."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return rate(estimate)
    return f"{rate(estimate)} [{rate(estimate.low)}, {rate(estimate.high)}]"


def name(label: str) -> str:
    """A label in quotes, cut where it is very long."""
    return repr(label if len(label) <= _LONGEST else label[: _LONGEST - 3] + "...")


def listed(items: Sequence[str]) -> str:
    """Items as a sentence names them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def some(items: Sequence[str]) -> str:
    """The first five of many items, and how many more there are.

    >>> some(["a", "b"]), some(list("abcdefgh"))
    ('a and b', 'a, b, c, d, e and 3 more')
    """
    left = len(items) - _NAMED
    return listed([*items[:_NAMED], f"{left} more"] if left > 0 else items)


# -- how scores were kept --------------------------------------------------------------------------


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


def untried(mode: str) -> str:
    """Which thresholds were not tried, by how scores were kept; empty where all of them were.

    >>> untried("exact")
    ''
    """
    return _UNTRIED.get(mode, "")


def none_keeps(model: str, limit: object, mode: str) -> str:
    """That no threshold keeps a limit, or none of those that were tried.

    >>> none_keeps(" of new", "max-fpr=0.01", "exact")
    'no threshold of new keeps max-fpr=0.01'
    """
    tried = " that was tried" if untried(mode) else ""
    return f"no threshold{model}{tried} keeps {limit}"


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
