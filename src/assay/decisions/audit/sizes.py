"""How many rows there are: cells that the sizes fill in, and sizes against the cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.decisions.audit.claim import BINARY_CELLS, Claim
from assay.decisions.audit.printed import Exact, Printed, as_float, hold, printed
from assay.decisions.audit.result import Judged, Verdict
from assay.tally import Confusion

SIZE = "n"


@dataclass(frozen=True)
class Filled:
    """A claim whose missing cells are filled in as far as its sizes tell them, and by which."""

    claim: Claim
    used: Mapping[str, str]


def filled(claim: Claim) -> Filled:
    """Fill in missing cells of a binary claim that its supports or its size leave no choice for."""
    if claim.matrix is not None or not claim.cells or not claim.binary:
        return Filled(claim, {})
    cells, used = dict(claim.cells), {}
    for size, names, total in _equations(claim) * 2:
        missing = [name for name in names if name not in cells]
        rest = total - sum(cells.get(name, 0) for name in names)
        if len(missing) == 1 and rest >= 0:
            cells[missing[0]] = rest
            used[size] = missing[0]
    if not used:
        return Filled(claim, {})
    notes = tuple(f"{cell} = {cells[cell]:,} was filled in from {s}" for s, cell in used.items())
    matrix = None
    if len(cells) == len(BINARY_CELLS):
        matrix = Confusion(claim.labels, ((cells["tn"], cells["fp"]), (cells["fn"], cells["tp"])))
    return Filled(replace(claim, cells=cells, matrix=matrix, notes=claim.notes + notes), used)


def _equations(claim: Claim) -> list[tuple[str, tuple[str, ...], int]]:
    """Sums of cells that are told: the rows of each label, and of all."""
    found: list[tuple[str, tuple[str, ...], int]] = []
    for label, names in zip(claim.labels, (("tn", "fp"), ("fn", "tp")), strict=True):
        if label in claim.support:
            found.append((_support(label), names, claim.support[label]))
    if claim.n is not None and claim.n.unit == 1 and claim.n.value.denominator == 1:
        found.append((SIZE, BINARY_CELLS, int(claim.n.value)))
    return found


def rows_of(claim: Claim) -> dict[str, int]:
    """How many rows each label has, as far as that is told."""
    if claim.matrix is not None:
        return dict(zip(claim.labels, claim.matrix.rows, strict=True))
    return dict(claim.support)


def total_of(claim: Claim) -> int | None:
    """How many rows there are: by the matrix, all supports, or the stated size."""
    rows = rows_of(claim)
    if rows and set(rows) == set(claim.labels):
        return sum(rows.values())
    if claim.n is not None and claim.n.value.denominator == 1:
        return int(claim.n.value)
    return None


def judge_sizes(claim: Claim, used: Mapping[str, str]) -> list[Judged]:
    """The stated size, and supports beside a matrix, against the cells."""
    found = []
    if claim.n is not None:
        found.append(_judged_size(claim, claim.n, used))
    for label, names in zip(claim.labels, _rows(claim), strict=False):
        key = _support(label)
        if label in claim.support and names and key not in used:
            stated = printed(claim.support[label])
            found += _against_cells(key, stated, names, claim)
    return found


def _rows(claim: Claim) -> Iterable[tuple[str, ...]]:
    """The cells of each label's row, by name; for K classes just the labels."""
    if claim.binary and claim.cells:
        return ("tn", "fp"), ("fn", "tp")
    return ((label,) for label in claim.labels) if claim.matrix is not None else ()


def _judged_size(claim: Claim, stated: Printed, used: Mapping[str, str]) -> Judged:
    if SIZE in used:
        said = f"not judged: {used[SIZE]} was filled in from it"
        return Judged(SIZE, None, stated.text, None, Verdict.UNDETERMINED, said)
    if claim.matrix is not None:
        total, what = claim.matrix.total, "the sum of the cells"
    elif claim.support and set(claim.support) == set(claim.labels):
        total, what = sum(claim.support.values()), "the sum of the supports"
    elif claim.cells and sum(claim.cells.values()) > stated.value + stated.unit:
        return _too_many(SIZE, stated, sum(claim.cells.values()))
    else:
        said = "there are no counts to hold it against"
        return Judged(SIZE, None, stated.text, None, Verdict.UNDETERMINED, said)
    return _held(SIZE, stated, total, what)


def _against_cells(key: str, stated: Printed, names: tuple[str, ...], claim: Claim) -> list[Judged]:
    if claim.matrix is not None:
        label = key.removeprefix(_support(""))
        return [_held(key, stated, rows_of(claim)[label], "the sum of its row")]
    known = [claim.cells[name] for name in names if name in claim.cells]
    return [_too_many(key, stated, sum(known))] if sum(known) > stated.value else []


def _held(key: str, stated: Printed, total: int, what: str) -> Judged:
    held = hold(stated, Exact.of(total), what)
    return Judged(key, None, stated.text, as_float(Fraction(total)), held.verdict, held.said)


def _too_many(key: str, stated: Printed, known: int) -> Judged:
    said = f"the cells that are given already add up to {known:,}"
    return Judged(key, None, stated.text, None, Verdict.INCONSISTENT, said)


def _support(label: str) -> str:
    return f"support.{label}"
