"""Lines of arithmetic and stated sizes: a sign, a root, a cell, or a part of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from assay.decisions.audit.arithmetic import (
    Chain,
    Negative,
    Node,
    Number,
    Root,
    Undecided,
    parsed,
    value_of,
)
from assay.decisions.audit.claim import Claim
from assay.decisions.audit.mistakes.candidate import Candidate, Tier, shifted
from assay.decisions.audit.mistakes.matrices import training
from assay.decisions.audit.printed import Exact
from assay.errors import InputError
from assay.evaluation.words import count, name
from assay.tally import Confusion

_BITS = 128
_OTHER_SIGN = {"+": "-", "-": "+", "*": "/", "/": "*"}
# A longer line has so many places for a slip that one of them gives anything.
_MOST_PLACES = 40
_Changed = tuple[str, str, Node, Tier]


def slips(expression: str, confusion: Confusion | None) -> Iterator[Candidate]:
    """What a line gives with one slip in it."""
    tree = parsed(expression)
    places = 0
    try:
        yield from shifted(value_of(tree, _BITS))
    except Undecided:
        return
    counts = {} if confusion is None else _counts(confusion)
    for mistake, said, changed, tier in (*_changes(tree, counts), *_unbracketed(expression)):
        places += 1
        if places > _MOST_PLACES:
            return
        try:
            yield Candidate(mistake, said, value_of(changed, _BITS), tier)
        except Undecided:
            continue


def _counts(confusion: Confusion) -> dict[Fraction, str]:
    """The counts of a matrix that a line may hold, and what they are."""
    found: dict[Fraction, str] = {}
    for i, row in enumerate(confusion.cells):
        for j, cell in enumerate(row):
            what = f"true {name(confusion.labels[i])}, decided {name(confusion.labels[j])}"
            found.setdefault(Fraction(cell), what)
    return found


def _changes(node: Node, counts: dict[Fraction, str]) -> Iterator[_Changed]:
    """The tree with one of its nodes changed."""
    match node:
        case Number(value):
            for other, what in counts.items():
                if value in counts and other != value:
                    said = f"the cell {count(int(other))} ({what}) in place of {count(int(value))}"
                    yield "cell-for-cell", said, Number(other), Tier.ANY
        case Negative(body):
            yield "sign-lost", "a minus sign left out", body, Tier.ANY
            for mistake, said, changed, tier in _changes(body, counts):
                yield mistake, said, Negative(changed), tier
        case Root(body):
            yield "no-root", "the root not taken", body, Tier.ASSUMED
            for factor, way in ((Fraction(10), "right"), (Fraction(1, 10), "left")):
                said = f"the point moved one place to the {way} under the root"
                moved = Root(Chain(body, (("*", Number(factor)),)))
                yield "decimal-shift-under-root", said, moved, Tier.ASSUMED
            for mistake, said, changed, tier in _changes(body, counts):
                yield mistake, said, Root(changed), tier
        case Chain(first, rest):
            for mistake, said, changed, tier in _changes(first, counts):
                yield mistake, said, replace(node, first=changed), tier
            for place, (sign, part) in enumerate(rest):
                before, after = rest[:place], rest[place + 1 :]
                turned = _OTHER_SIGN[sign]
                yield (
                    "wrong-sign",
                    f"{turned} in place of {sign}",
                    Chain(first, (*before, (turned, part), *after)),
                    Tier.ANY,
                )
                for mistake, said, changed, tier in _changes(part, counts):
                    yield mistake, said, Chain(first, (*before, (sign, changed), *after)), tier


def _unbracketed(expression: str) -> Iterator[_Changed]:
    """The line with one pair of parentheses left out; those of a root belong to it."""
    opened: list[int] = []
    for at, character in enumerate(expression):
        if character == "(":
            opened.append(at)
        elif character == ")" and opened:
            start = opened.pop()
            if expression[:start].rstrip().lower().endswith(("sqrt", "\u221a")):
                continue
            inner = expression[start + 1 : at]
            try:
                tree = parsed(f"{expression[:start]} {inner} {expression[at + 1 :]}")
            except InputError:
                continue
            yield "parentheses-left-out", f"({inner}) without its parentheses", tree, Tier.ASSUMED


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
