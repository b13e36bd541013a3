"""L004: rows that nearly repeat another row of the same file."""

from __future__ import annotations

from typing import Any

from assay.v02.evaluation.wording import listed
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting, nearness_text, share_text
from assay.v02.learn.checks.equal_rows import Mask
from assay.v02.number_text import count


def look(case: Case) -> Sighting | None:
    """Rows that repeat an earlier row of their part once identifiers are dropped and rounded.

    Exact copies are told by L002; where chance makes as many, nothing is said.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> size = [float(x * x) for x in range(30)] * 2
    >>> frame = pl.DataFrame({"id": range(60), "size": size, "label": [0, 1] * 30})
    >>> finding = check(data_of(frame, label="label"))["L004"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    30 of 60 rows (50%) repeat an earlier row after rounding to 3 digits without column 'id'. A
    random split would let a model learn a near copy of 70% of the rows that judge it.
    """
    near = case.near
    if near is None:
        return None
    sentences: list[str] = []
    evidence: dict[str, Any] = {}
    listed_rows: tuple[int, ...] = ()
    for i, part in enumerate(case.parts):
        total = len(part)
        repeats = near.repeats(i) & ~case.equal.repeats(i)
        number = int(repeats.sum())
        pairs = near.pairs_inside(i) - case.equal.pairs_inside(i)
        if (
            not number
            or near.by_chance(pairs, total * (total - 1) // 2)
            or _dense(case, i, repeats)
        ):
            continue
        of = f"{part.called} rows" if case.test is not None else "rows"
        sentences.append(
            f"{count(number)} of {count(total)} {of} ({share_text(number, total)}) "
            f"{'repeats' if number == 1 else 'repeat'} an earlier row"
        )
        evidence[part.called] = {"repeats": number, "of": total}
        listed_rows = part.numbers(repeats)
    if not sentences:
        return None
    dropped = tuple(case.identifiers)
    equality = nearness_text(dropped, numbers=case.rounds)
    message = f"{listed(sentences)} {equality}."
    if case.test is None:
        apart = case.split_apart(near.size(0))
        evidence["training"]["random_split"] = apart
        message += (
            f" A random split would let a model learn a near copy of {share_text(apart, 1)} of the "
            f"rows that judge it."
        )
    return Sighting(
        "warning", message, rows=listed_rows, evidence={**evidence, "dropped": list(dropped)}
    )


def _dense(case: Case, part: int, repeats: Mask) -> bool:
    """Whether rows may be alike since they lie dense: few agree in five digits too."""
    fine = case.nearer
    kept = 0 if fine is None else int((fine.repeats(part) & repeats).sum())
    return 2 * kept < int(repeats.sum()) and case.dense(lambda equal: equal.pairs_inside(part))


CHECK = CodedCheck(
    code="L004",
    severity="warning",
    title="near duplicates inside a part",
    why="Rows that differ only in an id, a time or the last digits are one row many times; a "
    "random split puts them on both sides.",
    remedy="Keep one row of each, or split by a --group that such rows share.",
    pitfall="P3",
    look=look,
)
