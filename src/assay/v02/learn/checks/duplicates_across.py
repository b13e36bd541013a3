"""L001: rows of the test part are in the training part too."""

from __future__ import annotations

from assay.v02.learn.checks.case import TEST, TRAIN, Case, CodedCheck, Sighting, share_text
from assay.v02.number_text import count


def look(case: Case) -> Sighting | None:
    """Test rows that equal a training row in every feature and in the label.

    Where so few different rows are possible, or columns repeat so often, that chance makes as many
    equal rows, it is an info. Chance is reckoned as if columns were independent, and doubled.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> train = pl.DataFrame({"size": [64, 70, 90, 1500], "label": ["normal", "attack"] * 2})
    >>> test = pl.DataFrame({"size": [70, 1501, 1502], "label": ["attack", "normal", "attack"]})
    >>> findings = check(data_of(train, label="label"), data_of(test, label="label"))
    >>> print(findings["L001"].severity, findings["L001"].rows, findings["L001"].message)
    leak (1,) 1 of 3 test rows (33.3%) is in the training part too, label and all.
    """
    if case.test is None:
        return None
    copied = case.equal.also_in(TEST, TRAIN)
    number = int(copied.sum())
    if not number:
        return None
    total = len(case.test)
    chance = case.equal.by_chance(case.equal.pairs_across, total * len(case.train))
    message = (
        f"{count(number)} of {count(total)} test rows ({share_text(number, total)}) "
        f"{'is' if number == 1 else 'are'} in the training part too, label and all"
    )
    if chance:
        message += ", as chance makes them where columns have so few values"
    evidence = {
        "test_rows": number,
        "of": total,
        "training_rows": int(case.equal.also_in(TRAIN, TEST).sum()),
        "by_chance": chance,
    }
    numbers = case.test.numbers(copied)
    return Sighting("info" if chance else "leak", f"{message}.", rows=numbers, evidence=evidence)


CHECK = CodedCheck(
    code="L001",
    severity="leak",
    title="test rows are training rows",
    why="A model that has seen a row need not understand it. Whatever it gets right by memory is "
    "counted as if it had been detected.",
    remedy="Remove duplicates before the split, or take the copies out of the training part.",
    pitfall="P3",
    look=look,
)
