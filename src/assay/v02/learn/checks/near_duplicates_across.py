"""L003: test rows that are nearly training rows."""

from __future__ import annotations

import numpy as np

from assay.v02.learn.checks.case import (
    TEST,
    TRAIN,
    Case,
    CodedCheck,
    Sighting,
    nearness_text,
    share_text,
)
from assay.v02.number_text import count


def look(case: Case) -> Sighting | None:
    """Test rows that equal a training row once identifiers are dropped and numbers rounded.

    Numbers are rounded to three significant digits, texts are compared as words in small letters.
    Most such rows have to agree in five digits too, or to be more than rows that lie dense would
    be; else they may be alike by chance and it is an info. Exact copies are told by L001.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> size = pl.Series("size", [64.0 + i * i for i in range(40)])
    >>> label = pl.Series("label", ["normal", "attack"] * 20)
    >>> train, test = pl.DataFrame([size, label]), pl.DataFrame([size * (1 + 1e-9), label])
    >>> findings = check(data_of(train, label="label"), data_of(test[:10], label="label"))
    >>> print(findings["L003"].severity, findings["L003"].message)  # doctest: +NORMALIZE_WHITESPACE
    leak 10 of 10 test rows (100%) equal a training row after rounding to 3 digits.
    """
    near = case.near
    if case.test is None or near is None:
        return None
    exact = case.equal.also_in(TEST, TRAIN)
    copies = near.also_in(TEST, TRAIN) & ~exact
    number, total = int(copies.sum()), len(case.test)
    pairs = near.pairs_across - case.equal.pairs_across
    if not number or near.by_chance(pairs, total * len(case.train)):
        return None
    fine = case.nearer
    kept = 0 if fine is None else int((fine.also_in(TEST, TRAIN) & copies).sum())
    sure = 2 * kept >= number or not case.dense(lambda equal: equal.pairs_across)
    dropped = tuple(case.identifiers)
    equality = nearness_text(dropped, numbers=case.rounds)
    verb = "equals" if number == 1 else "equal"
    message = (
        f"{count(number)} of {count(total)} test rows ({share_text(number, total)}) {verb} a "
        f"training row {equality}."
    )
    if not sure:
        message += f" With 5 digits {count(kept)} do, so the others may be alike by chance."
    evidence = {"test_rows": number, "of": total, "with_5_digits": kept, "dropped": list(dropped)}
    numbers = case.test.numbers(np.asarray(copies))
    return Sighting("leak" if sure else "info", message, rows=numbers, evidence=evidence)


CHECK = CodedCheck(
    code="L003",
    severity="leak",
    title="test rows are nearly training rows",
    why="A copy with another id, a later time or a little noise is still a copy: what was learned "
    "by heart is judged as if it were understood.",
    remedy="Keep one row of each, or put rows that are alike on one side by a --group that they "
    "share.",
    pitfall="P3",
    look=look,
)
