"""L002: rows that repeat another row of the same file."""

from __future__ import annotations

from typing import Any

from assay.v02.evaluation.wording import listed
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting, share_text
from assay.v02.number_text import count


def look(case: Case) -> Sighting | None:
    """Rows that equal an earlier row of their part, label included.

    Of one file it is told how many rows of a random split, 30% held out, would have a copy to learn
    from. Where chance makes as many equal rows it is an info.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"size": [64, 64, 64, 1500], "label": [0, 0, 0, 1]})
    >>> finding = check(data_of(frame, label="label"))["L002"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    2 of 4 rows (50%) repeat an earlier row. A random split would let a model learn a copy of 68.2%
    of the rows that judge it.
    """
    equal, chance = case.equal, True
    sentences: list[str] = []
    evidence: dict[str, Any] = {}
    listed_rows: tuple[int, ...] = ()
    for i, part in enumerate(case.parts):
        repeats = equal.repeats(i)
        number, total = int(repeats.sum()), len(part)
        if not number:
            continue
        of = f"{part.called} rows" if case.test is not None else "rows"
        verb = "repeats" if number == 1 else "repeat"
        sentences.append(
            f"{count(number)} of {count(total)} {of} ({share_text(number, total)}) {verb} "
            f"an earlier row"
        )
        evidence[part.called] = {"repeats": number, "of": total}
        listed_rows = part.numbers(repeats)
        chance = chance and equal.by_chance(equal.pairs_inside(i), total * (total - 1) // 2)
    if not sentences:
        return None
    message = (
        f"{listed(sentences)}{', as chance makes them where columns have so few values' * chance}."
    )
    if case.test is None:
        apart = case.split_apart(equal.size(0))
        evidence["training"]["random_split"] = apart
        message += (
            f" A random split would let a model learn a copy of {share_text(apart, 1)} of the rows "
            f"that judge it."
        )
    evidence["by_chance"] = chance
    return Sighting("info" if chance else "warning", message, rows=listed_rows, evidence=evidence)


CHECK = CodedCheck(
    code="L002",
    severity="warning",
    title="duplicates inside a part",
    why="Repeated rows count several times, so that intervals are too narrow, and a random split "
    "of them puts copies on both sides.",
    remedy="Keep one row of each, or keep all copies on one side with a group of its own.",
    pitfall="P3",
    look=look,
)
