"""Reported values of measures against the confusion matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.decisions.audit.claim import AVERAGES, Claim, Key
from assay.decisions.audit.judge import Held, best, hold, judge, spellings
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.values import Exact, exact, exact_of, quantity_of
from assay.formula import cells, proportion, reason
from assay.inference import Quantity
from assay.measures import Measure, find
from assay.tally import Confusion

# What "the accuracy of a class" is for many authors.
_OF_A_CLASS = {"accuracy": "recall", "error_rate": "false_negative_rate"}
_SWAPPED = {"TP": "tn", "FP": "fn", "FN": "fp", "TN": "tp"}


@dataclass(frozen=True)
class Reading:
    """One thing that a key may stand for; ``words`` say which, where there are several."""

    words: str
    quantity: Quantity


def readings(key: Key, claim: Claim) -> tuple[Reading, ...]:
    """All that a key may stand for on the claim's matrix, the usual first."""
    return tuple(_readings(key, claim)) if claim.matrix is not None else ()


def _readings(key: Key, claim: Claim) -> Iterator[Reading]:
    for words, measure in _measures(key):
        spoken = replace(key, measure=measure)
        bare = key.label is None and key.average is None
        if bare and not claim.binary and measure.averages and measure.formula is not None:
            for average in AVERAGES:
                named = f"{words}, {average} average" if words else f"{average} average"
                yield from _reading(named, replace(spoken, average=average), claim)
        else:
            yield from _reading(words, spoken, claim)


def _measures(key: Key) -> Iterator[tuple[str, Measure]]:
    if key.may_be_rate:
        yield "FDR", key.measure
        yield "FPR", find("false_positive_rate")
        return
    yield "", key.measure
    if key.label is not None and key.measure.name in _OF_A_CLASS:
        other = find(_OF_A_CLASS[key.measure.name])
        yield other.name.replace("_", " "), other


def _reading(words: str, key: Key, claim: Claim) -> Iterator[Reading]:
    matrix = claim.matrix
    if matrix is not None:
        quantity = quantity_of(key, matrix, claim.positive)
        if quantity is not None:
            yield Reading(words, quantity)


def judge_point(key: Key, reported: Printed, claim: Claim) -> Judged | None:
    """A value against the matrix, or against the cells that are known; None if they can't tell."""
    if claim.matrix is None:
        return _by_known_cells(key, reported, claim)
    found: list[Held] = []
    undefined: list[str] = []
    for reading in readings(key, claim):
        value = exact_of(reading.quantity, claim.matrix)
        if value is None:
            undefined.append(reading.quantity.reason(claim.matrix) or "")
            continue
        what = described(reading, claim.matrix, key.text)
        found += [hold(spelled, value, what) for spelled in spellings(reported, key, claim)]
    held = best(found) if found else None
    if undefined and (held is None or held.verdict is Verdict.INCONSISTENT):
        return _undefined(key, reported, claim, undefined[0])
    if held is None:
        return _unheld(key, reported, claim)
    return judged(key, reported, held)


def judged(key: Key, reported: Printed, held: Held) -> Judged:
    """What was found of a number, as the audit tells it."""
    return Judged(
        key.text, key.measure.name, reported.text, float(held.exact), held.verdict, held.said
    )


def undetermined(key: Key, reported: Printed, said: str) -> Judged:
    """A number that nothing decides."""
    return Judged(key.text, key.measure.name, reported.text, None, Verdict.UNDETERMINED, said)


def described(reading: Reading, matrix: Confusion, name: str) -> str:
    """What a number is held against: a share by its counts, all else by its name."""
    share = proportion(reading.quantity.expression)
    if share is None:
        return reading.words or name
    table = reading.quantity.cells(matrix)
    parts = [exact(part, table) for part in (share.successes, share.trials)]
    shown = "/".join(f"{int(part.low):,}" for part in parts if part is not None)
    return f"{reading.words}, {shown}" if reading.words else shown


def _unheld(key: Key, reported: Printed, claim: Claim) -> Judged:
    classes = len(claim.labels)
    if key.average is not None:
        why = f"{key.measure.name} has no averages over classes"
    else:
        why = f"{key.measure.name} of {classes} classes is not defined"
    return undetermined(key, reported, why)


def _undefined(key: Key, reported: Printed, claim: Claim, why: str) -> Judged:
    """A number where the formula has none: libraries put 0 or 1 there, or leave the class out."""
    said = f"undefined: {why}"
    if key.average in ("macro", "weighted"):
        for how, value in _by_convention(key, claim):
            if judge(reported, value) is not Verdict.INCONSISTENT:
                said += f"; {how} it would be as printed"
                break
    elif reported.value in (0, 1):
        said += f"; some libraries print {reported.text} there"
    return undetermined(key, reported, said)


def _by_convention(key: Key, claim: Claim) -> Iterator[tuple[str, Exact]]:
    """The average with 0 or 1 for undefined classes, or without them."""
    matrix, formula = claim.matrix, key.measure.formula
    if matrix is None or formula is None:
        return
    values = [exact_of(Quantity(formula, label=i), matrix) for i in range(len(claim.labels))]
    weights = matrix.rows if key.average == "weighted" else (1,) * len(values)
    for how, instead in (("with 0 for that class", 0), ("with 1 for that class", 1)):
        filled = [Exact.of(instead) if value is None else value for value in values]
        yield from _mean(how, filled, weights)
    kept = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None]
    yield from _mean("without that class", [v for v, _ in kept], tuple(w for _, w in kept))


def _mean(how: str, values: list[Exact], weights: tuple[int, ...]) -> Iterator[tuple[str, Exact]]:
    total = sum(weights)
    if total:
        pairs = list(zip(values, weights, strict=True))
        low = sum((v.low * w for v, w in pairs), Fraction(0)) / total
        high = sum((v.high * w for v, w in pairs), Fraction(0)) / total
        yield how, Exact(low, high)


def _by_known_cells(key: Key, reported: Printed, claim: Claim) -> Judged | None:
    """A measure whose formula needs only cells that are given."""
    if not claim.binary or not claim.cells or key.average is not None:
        return None
    known = {name.upper(): count for name, count in claim.cells.items()}
    if key.label is not None and key.label != claim.positive:
        known = {name: claim.cells[cell] for name, cell in _SWAPPED.items() if cell in claim.cells}
    found: list[Held] = []
    for words, measure in _measures(key):
        formula = measure.formula
        if formula is None or not cells(formula) <= set(known):
            continue
        value = exact(formula, known)
        if value is None:
            return undetermined(key, reported, f"undefined: {reason(formula, known)}")
        found += [hold(s, value, words or key.text) for s in spellings(reported, key, claim)]
    # With one of two definitions out of reach, only a match decides.
    if not found or (
        len(found) < len(list(_measures(key))) and best(found).verdict is Verdict.INCONSISTENT
    ):
        return None
    return judged(key, reported, best(found))
