"""Reported values against a whole confusion matrix, or against the cells that are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.keys import Key, Meaning, meanings
from assay.decisions.audit.printed import (
    Exact,
    Held,
    Printed,
    best,
    decimal,
    exact,
    exact_of,
    hold,
    judge,
)
from assay.decisions.audit.result import Judged, Verdict
from assay.formula import Expression, cells, proportion, reason
from assay.inference import Quantity
from assay.measures import Bound
from assay.tally import Confusion

_SWAPPED = {"TP": "tn", "FP": "fn", "FN": "fp", "TN": "tp"}


def readings(key: Key, claim: Claim, *, conventions: bool = True) -> list[tuple[Meaning, Quantity]]:
    """All that a key may stand for on the claim's matrix, the usual first."""
    if claim.matrix is None:
        return []
    found = []
    for meaning in meanings(key, claim.positive):
        quantity = meaning.quantity(claim.labels)
        if quantity is not None and (conventions or not meaning.convention):
            found.append((meaning, quantity))
    return found


def judge_point(key: Key, reported: Printed, claim: Claim) -> Judged | None:
    """A value against the matrix, or against the cells that are known; None if they can't tell."""
    if claim.matrix is None:
        return _by_known_cells(key, reported, claim)
    outside = out_of_range(key, reported, claim)
    if outside is not None:
        return outside
    found: dict[bool, list[Held]] = {False: [], True: []}
    undefined: list[str] = []
    for meaning, quantity in readings(key, claim):
        value = exact_of(quantity, claim.matrix)
        if value is None:
            if not meaning.convention:
                undefined.append(quantity.reason(claim.matrix) or "")
            continue
        what = described(meaning, quantity, claim.matrix, key.text)
        found[meaning.convention] += [
            hold(spelled, value, what) for spelled in claim.spellings(reported, key)
        ]
    held = best(found[False]) if found[False] else None
    if undefined and (held is None or held.verdict is Verdict.INCONSISTENT):
        return _undefined(key, reported, claim, undefined[0])
    if held is not None and held.verdict is Verdict.INCONSISTENT and found[True]:
        conventional = best(found[True])
        if conventional.verdict is not Verdict.INCONSISTENT:
            held = conventional
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


def impossible(key: Key, reported: Printed, said: str) -> Judged:
    """A number that can't be, whatever else is told."""
    return Judged(key.text, key.measure.name, reported.text, None, Verdict.INCONSISTENT, said)


def out_of_range(key: Key, reported: Printed, claim: Claim) -> Judged | None:
    """A number that its measure can never be, however it was rounded."""
    low, high = key.measure.range
    if any(low <= number.value <= high for number in claim.spellings(reported, key)):
        return None
    if high == float("inf"):
        return impossible(key, reported, f"{key.measure.name} is never below {low:g}")
    return impossible(key, reported, f"{key.measure.name} lies between {low:g} and {high:g}")


def described(meaning: Meaning, quantity: Quantity, matrix: Confusion, name: str) -> str:
    """What a number is held against: a share by its counts, all else by its name."""
    share = proportion(quantity.expression)
    if share is None:
        return meaning.words or name
    table = quantity.cells(matrix)
    parts = [exact(part, table) for part in (share.successes, share.trials)]
    shown = "/".join(f"{int(part.low):,}" for part in parts if part is not None)
    return f"{meaning.words}, {shown}" if meaning.words else shown


def _unheld(key: Key, reported: Printed, claim: Claim) -> Judged:
    if key.average is not None:
        why = f"{key.measure.name} has no averages over classes"
    else:
        why = f"{key.measure.name} of {len(claim.labels)} classes is not defined"
    return undetermined(key, reported, why)


# -- undefined values ------------------------------------------------------------------------------


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


def _mean(how: str, values: list[Exact], weights: Sequence[int]) -> Iterator[tuple[str, Exact]]:
    total = sum(weights)
    if total:
        pairs = list(zip(values, weights, strict=True))
        low = sum((v.low * w for v, w in pairs), Fraction(0)) / total
        high = sum((v.high * w for v, w in pairs), Fraction(0)) / total
        yield how, Exact(low, high)


# -- cells that are known --------------------------------------------------------------------------


def _by_known_cells(key: Key, reported: Printed, claim: Claim) -> Judged | None:
    """A measure whose formula needs only cells that are given."""
    if not claim.binary or not claim.cells or key.average is not None:
        return None
    known = {name.upper(): count for name, count in claim.cells.items()}
    if key.label is not None and key.label != claim.positive:
        known = {name: claim.cells[cell] for name, cell in _SWAPPED.items() if cell in claim.cells}
    found: list[Held] = []
    read = meanings(key, claim.positive)
    decided = 0
    for meaning in read:
        formula = meaning.measure.formula
        if formula is None or meaning.average is not None or not cells(formula) <= set(known):
            continue
        decided += 1
        value = exact(formula, known)
        if value is None:
            return undetermined(key, reported, f"undefined: {reason(formula, known)}")
        what = meaning.words or key.text
        found += [hold(s, value, what) for s in claim.spellings(reported, key)]
    # An average, or one of two definitions, may be out of reach: then only a match decides.
    if not found or (decided < len(read) and best(found).verdict is Verdict.INCONSISTENT):
        return None
    return judged(key, reported, best(found))


# -- measures of scores ----------------------------------------------------------------------------


def judge_scored(key: Key, reported: Printed, claim: Claim) -> Judged:
    """A number that needs the scores: wrong only where no scores could give it."""
    spelled = claim.spellings(reported, key)
    outside = out_of_range(key, reported, claim)
    if outside is not None:
        return outside
    allowed = operating_bounds(key, claim)
    if allowed is None:
        return undetermined(key, reported, "the counts do not decide it: it needs the scores")
    ends = [decimal(Exact.of(end), reported) for end in (allowed.low, allowed.high)]
    shown = f"[{', '.join(ends)}]"
    if not any(number.truncates(allowed.low, allowed.high) for number in spelled):
        why = f"no scores with this operating point can give it: they give values in {shown}"
        return impossible(key, reported, why)
    said = f"it needs the scores; the operating point allows values in {shown}"
    if _by_decisions(key, claim, spelled):
        said += "; the decisions alone, taken as scores, would give it"
    return undetermined(key, reported, said)


def _by_decisions(key: Key, claim: Claim, spelled: Sequence[Printed]) -> bool:
    """Whether a curve through the one point of the decisions has this area, and others have not."""
    cells = four_cells(key, claim)
    if not key.measure.of_decisions or cells is None or not (cells["FP"] or cells["FN"]):
        return False
    value = exact(key.measure.of_decisions[0].formula, cells)
    return value is not None and any(judge(s, value) is Verdict.CONSISTENT for s in spelled)


def four_cells(key: Key, claim: Claim) -> dict[str, int] | None:
    """The cells of the matrix as the label of a key sees them; only for two classes.

    The largest of K probabilities is no threshold on any one of them.
    """
    if claim.matrix is None or not claim.binary or key.average is not None:
        return None
    return claim.matrix.one_versus_rest(claim.labels.index(key.label or claim.labels[1]))


def operating_bounds(key: Key, claim: Claim) -> Exact | None:
    """The least and the largest value that scores with this matrix at one threshold can have."""
    known = four_cells(key, claim)
    if known is None or key.measure.bounds is None:
        return None
    if not (known["TP"] + known["FN"] and known["FP"] + known["TN"]):
        return None
    low, high = (_bound(bound, known) for bound in key.measure.bounds)
    return None if low is None or high is None else Exact(min(low.low, high.high), high.high)


def _bound(bound: Bound, known: dict[str, int]) -> Exact | None:
    if isinstance(bound, Expression):
        return exact(bound, known)
    return Exact.of(bound(known["TP"], known["FP"], known["FN"], known["TN"]))
