"""Labels, lists and how scores were kept, as sentences write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.v02.measures import AVERAGE_PRECISION, ROC_AUC
from assay.v02.number_text import bound_text
from assay.v02.tally import Resolved
from assay.v02.tally.keeping import Cuts, Exact, Grid, Keeping

if TYPE_CHECKING:
    from assay.v02.evaluation.entries import ByKey

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
        f"{title} lies in {bound_text(e.bound)}"
        for title, e in estimates.items()
        if e.bound is not None
    ]
    if not ends:
        return ()
    return (f"whatever the order inside the cells of {bits} bits, {listed(ends)}",)
