"""Numbers that only identities can judge."""

from __future__ import annotations

import math

from assay.decisions.audit.result import Verdict
from assay.decisions.audit.search.bonds import Bonds
from assay.decisions.audit.search.conflict import Conflict, Numbers
from assay.decisions.audit.search.judging import Fit, Given, together

# A number is tested where the others leave at most this share of what it could be.
_NARROW = 0.1


def by_identities(bonds: Bonds, given: Given, i: int, kept: Numbers) -> Fit:
    """Consistent where the other numbers really test it, else undetermined."""
    if not bonds.meanings[i]:
        return Fit(Verdict.UNDETERMINED, None, "nothing in the claim decides it")
    left = bonds.left_for(i, kept)
    if left is None or not _narrow(left, bonds, i):
        return Fit(Verdict.UNDETERMINED, None, "possible, but nothing in the claim decides it")
    said = f"the other numbers allow {_shown(left)}"
    of = {each.quantity.of for each in bonds.meanings[i]} - {""}
    if of and len(bonds.meanings[i]) > 1:
        said += f" for {' or '.join(sorted(of))}"
    low, high = (float(x) for x in _rounded(given, i))
    verdict = Verdict.CONSISTENT if low <= left[1] and left[0] <= high else Verdict.ROUNDING
    return Fit(verdict, None, said)


def _rounded(given: Given, i: int) -> tuple[float, float]:
    number = given[i][1]
    return float(number.value - number.unit / 2), float(number.value + number.unit / 2)


def _narrow(left: tuple[float, float], bonds: Bonds, i: int) -> bool:
    first = bonds.first_range(i)
    wide = first[1] - first[0] if math.isfinite(first[1]) else max(left[0], 1.0)
    return left[1] - left[0] <= _NARROW * wide


def why_of_identities(bonds: Bonds, conflict: Conflict) -> str:
    """The identity that a conflict breaks, in words."""
    words = bonds.identity(conflict.members)
    if words:
        return words
    size = len(conflict.members)
    if size == 1:
        return "no counts of any size give it"
    return f"no matrix of any size gives {together(size)}"


def range_in_words(bonds: Bonds, i: int, kept: Numbers) -> str:
    """What the numbers that hold together leave for another one; empty where that says little."""
    if not bonds.meanings[i] or not kept:
        return ""
    left = bonds.left_for(i, kept)
    if left is None or not _narrow(left, bonds, i):
        return ""
    return f"the others allow {_shown(left)}"


def _shown(span: tuple[float, float]) -> str:
    low, high = (f"{x + 0.0:.5g}" for x in span)
    return low if low == high else f"{low} to {high}"
