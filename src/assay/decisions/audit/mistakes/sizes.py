"""A stated size that is not that of the matrix."""

from __future__ import annotations

from collections.abc import Iterator

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.mistakes.candidate import Candidate, Tier
from assay.decisions.audit.mistakes.matrices import training
from assay.decisions.audit.mistakes.plain import shifted
from assay.decisions.audit.values import Exact
from assay.evaluation.words import count, name
from assay.tally import Confusion


def sizes(claim: Claim, confusion: Confusion) -> Iterator[Candidate]:
    """What else may have been counted where all rows of the test belong."""
    total = confusion.total
    yield from shifted(Exact.of(total))
    told = training(claim, confusion)
    if told is not None:
        trained = sum(map(sum, told))
        said = f"the {count(trained)} training rows counted with those of the test"
        yield Candidate("train-and-test", said, Exact.of(trained + total), Tier.USUAL)
        yield Candidate("train-size", "the training rows alone", Exact.of(trained), Tier.USUAL)
    for label, rows in zip(confusion.labels, confusion.rows, strict=True):
        said = f"the rows of {name(label)} alone"
        yield Candidate("one-class", said, Exact.of(rows), Tier.ASSUMED)
        if len(confusion.labels) > 2:
            said = f"the rows without those of {name(label)}"
            yield Candidate("class-left-out", said, Exact.of(total - rows), Tier.ASSUMED)
    labels = [name(label) for label in confusion.labels]
    for i, row in enumerate(confusion.cells):
        for j, cell in enumerate(row):
            where = f"(true {labels[i]}, decided {labels[j]})"
            for mistake, said, n in (
                ("cell-left-out", f"the rows without the cell {where}", total - cell),
                ("cell-counted-twice", f"the cell {where} counted twice", total + cell),
            ):
                yield Candidate(mistake, said, Exact.of(n), Tier.ANY)


def supports(label: str, claim: Claim, confusion: Confusion) -> Iterator[Candidate]:
    """What else may have been counted where the rows of one label belong."""
    place = confusion.labels.index(label)
    rows = confusion.rows[place]
    yield from shifted(Exact.of(rows))
    decided = Exact.of(confusion.columns[place])
    said = f"the rows that were decided as {name(label)}"
    yield Candidate("decided-for-true", said, decided, Tier.USUAL)
    for i, other in enumerate(confusion.labels):
        if other != label:
            said, value = f"the rows of {name(other)}", Exact.of(confusion.rows[i])
            yield Candidate(f"other-label:{i + 1}", said, value, Tier.USUAL)
    told = training(claim, confusion)
    if told is not None:
        trained = sum(told[place])
        said = f"the {count(trained)} training rows counted with those of the test"
        yield Candidate("train-and-test", said, Exact.of(trained + rows), Tier.USUAL)
        said = "the training rows alone"
        yield Candidate("train-size", said, Exact.of(trained), Tier.USUAL)
