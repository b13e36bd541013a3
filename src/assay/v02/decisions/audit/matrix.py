"""Reported values against a confusion matrix, known cells, or the claim's own printed numbers.

Authors often work on with the rounded numbers of their table: F1 from the printed precision and
recall. Such a number is not what the counts give, but it is no mistake either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from assay.v02.decisions.audit.claim import Claim, Key, Meaning, meanings
from assay.v02.decisions.audit.counts import rows_of
from assay.v02.decisions.audit.verdicts import (
    Enclosure,
    HeldNumber,
    JudgedNumber,
    NumberVerdict,
    Printed,
    as_float,
    best,
    decimal,
    exact,
    exact_of,
    hold,
    judge,
)
from assay.v02.formula import (
    HIT,
    Cell,
    Expression,
    cells,
    constant,
    enclosure,
    geometric_mean,
    proportion,
    reason,
    substitute,
)
from assay.v02.inference import Quantity
from assay.v02.measures import ACCURACY, BASIC_RATES, CATALOGUE, LOWER, Bound, Measure, find, mean_of
from assay.v02.tally import Confusion

_SWAPPED = {"TP": "tn", "FP": "fn", "FN": "fp", "TN": "tp"}


def readings(key: Key, claim: Claim, *, conventions: bool = True) -> list[tuple[Meaning, Quantity]]:
    """All that a key may stand for on the claim's matrix, the usual first."""
    if claim.matrix is None:
        return []
    pairs = []
    for meaning in meanings(key, claim.positive):
        quantity = meaning.quantity(claim.labels)
        if quantity is not None and (conventions or not meaning.convention):
            pairs.append((meaning, quantity))
    return pairs


def judge_point(key: Key, reported: Printed, claim: Claim) -> JudgedNumber | None:
    """A value against the matrix, or against the cells that are known; None if they can't tell."""
    if claim.matrix is None:
        return _by_known_cells(key, reported, claim)
    outside = out_of_range(key, reported, claim)
    if outside is not None:
        return outside
    by_convention: dict[bool, list[HeldNumber]] = {False: [], True: []}
    undefined: list[str] = []
    for meaning, quantity in readings(key, claim):
        value = exact_of(quantity, claim.matrix)
        if value is None:
            if not meaning.convention:
                undefined.append(quantity.reason(claim.matrix) or "")
            continue
        what = described(meaning, quantity, claim.matrix, key.text)
        by_convention[meaning.convention] += [
            hold(spelled, value, what) for spelled in claim.spellings(reported, key)
        ]
    held = best(by_convention[False]) if by_convention[False] else None
    if undefined and (held is None or held.verdict is NumberVerdict.INCONSISTENT):
        return _undefined(key, reported, claim, undefined[0])
    if held is not None and held.verdict is NumberVerdict.INCONSISTENT and by_convention[True]:
        conventional = best(by_convention[True])
        if conventional.verdict is not NumberVerdict.INCONSISTENT:
            held = conventional
    if held is None:
        return _unheld(key, reported, claim)
    return judged(key, reported, held)


def judged(key: Key, reported: Printed, held: HeldNumber) -> JudgedNumber:
    """What was found of a number, as the audit tells it."""
    return JudgedNumber(
        key.text, key.measure.name, reported.text, float(held.exact), held.verdict, held.said
    )


def undetermined(key: Key, reported: Printed, said: str) -> JudgedNumber:
    """A number that nothing decides."""
    return JudgedNumber(
        key.text, key.measure.name, reported.text, None, NumberVerdict.UNDETERMINED, said
    )


def impossible(key: Key, reported: Printed, said: str) -> JudgedNumber:
    """A number that can't be, whatever else is told."""
    return JudgedNumber(
        key.text, key.measure.name, reported.text, None, NumberVerdict.INCONSISTENT, said
    )


def out_of_range(key: Key, reported: Printed, claim: Claim) -> JudgedNumber | None:
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


def _unheld(key: Key, reported: Printed, claim: Claim) -> JudgedNumber:
    if key.average is not None:
        why = f"{key.measure.name} has no averages over classes"
    else:
        why = f"{key.measure.name} of {len(claim.labels)} classes is not defined"
    return undetermined(key, reported, why)


# -- undefined values ------------------------------------------------------------------------------


def _undefined(key: Key, reported: Printed, claim: Claim, why: str) -> JudgedNumber:
    """A number where the formula has none: libraries put 0 or 1 there, or leave the class out."""
    said = f"undefined: {why}"
    if key.average in ("macro", "weighted"):
        for how, value in _by_convention(key, claim):
            if judge(reported, value) is not NumberVerdict.INCONSISTENT:
                said += f"; {how} it would be as printed"
                break
    elif reported.value in (0, 1):
        said += f"; some libraries print {reported.text} there"
    return undetermined(key, reported, said)


def _by_convention(key: Key, claim: Claim) -> Iterator[tuple[str, Enclosure]]:
    """The average with 0 or 1 for undefined classes, or without them."""
    matrix, formula = claim.matrix, key.measure.formula
    if matrix is None or formula is None:
        return
    values = [exact_of(Quantity(formula, label=i), matrix) for i in range(len(claim.labels))]
    weights = matrix.rows if key.average == "weighted" else (1,) * len(values)
    for how, instead in (("with 0 for that class", 0), ("with 1 for that class", 1)):
        filled = [Enclosure.of(instead) if value is None else value for value in values]
        yield from _mean(how, filled, weights)
    kept = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None]
    yield from _mean("without that class", [v for v, _ in kept], tuple(w for _, w in kept))


def _mean(
    how: str, values: list[Enclosure], weights: Sequence[int]
) -> Iterator[tuple[str, Enclosure]]:
    total = sum(weights)
    if total:
        pairs = list(zip(values, weights, strict=True))
        low = sum((v.low * w for v, w in pairs), Fraction(0)) / total
        high = sum((v.high * w for v, w in pairs), Fraction(0)) / total
        yield how, Enclosure(low, high)


# -- cells that are known --------------------------------------------------------------------------


def _by_known_cells(key: Key, reported: Printed, claim: Claim) -> JudgedNumber | None:
    """A measure whose formula needs only cells that are given."""
    if not claim.binary or not claim.cells or key.average is not None:
        return None
    known = {name.upper(): count for name, count in claim.cells.items()}
    if key.label is not None and key.label != claim.positive:
        known = {name: claim.cells[cell] for name, cell in _SWAPPED.items() if cell in claim.cells}
    comparisons: list[HeldNumber] = []
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
        comparisons += [hold(s, value, what) for s in claim.spellings(reported, key)]
    # An average, or one of two definitions, may be out of reach: then only a match decides.
    if not comparisons or (
        decided < len(read) and best(comparisons).verdict is NumberVerdict.INCONSISTENT
    ):
        return None
    return judged(key, reported, best(comparisons))


# -- measures of scores ----------------------------------------------------------------------------


def judge_scored(key: Key, reported: Printed, claim: Claim) -> JudgedNumber:
    """A number that needs the scores: wrong only where no scores could give it."""
    spelled = claim.spellings(reported, key)
    outside = out_of_range(key, reported, claim)
    if outside is not None:
        return outside
    allowed = operating_bounds(key, claim)
    if allowed is None:
        return undetermined(key, reported, "the counts do not decide it: it needs the scores")
    ends = [decimal(Enclosure.of(end), reported) for end in (allowed.low, allowed.high)]
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
    return value is not None and any(judge(s, value) is NumberVerdict.CONSISTENT for s in spelled)


def four_cells(key: Key, claim: Claim) -> dict[str, int] | None:
    """The cells of the matrix as the label of a key sees them; only for two classes.

    The largest of K probabilities is no threshold on any one of them.
    """
    if claim.matrix is None or not claim.binary or key.average is not None:
        return None
    return claim.matrix.one_versus_rest(claim.labels.index(key.label or claim.labels[1]))


def operating_bounds(key: Key, claim: Claim) -> Enclosure | None:
    """The least and the largest value that scores with this matrix at one threshold can have."""
    known = four_cells(key, claim)
    if known is None or key.measure.bounds is None:
        return None
    if not (known["TP"] + known["FN"] and known["FP"] + known["TN"]):
        return None
    low, high = (_bound(bound, known) for bound in key.measure.bounds)
    return None if low is None or high is None else Enclosure(min(low.low, high.high), high.high)


def _bound(bound: Bound, known: dict[str, int]) -> Enclosure | None:
    if isinstance(bound, Expression):
        return exact(bound, known)
    return Enclosure.of(bound(known["TP"], known["FP"], known["FN"], known["TN"]))


# -- what follows from other printed numbers -------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """What a printed number speaks of: a measure, of which label or average."""

    measure: str
    label: str | None = None
    average: str | None = None
    statistic: str | None = None


@dataclass(frozen=True)
class PrintedSource:
    """A printed number that another one is worked out from, or 1 less it."""

    key: str
    printed: Printed
    complement: bool = False

    @property
    def value(self) -> Fraction:
        """The value that is worked on with."""
        return 1 - self.printed.value if self.complement else self.printed.value

    @property
    def words(self) -> str:
        """As a sentence names it."""
        return f"1 - {self.key}" if self.complement else self.key


@dataclass(frozen=True)
class Derivation:
    """A number worked out from printed ones; the cells of the expression are their keys.

    ``measures`` are those that the sources are of, where all speak of one label or average.
    """

    expression: Expression
    sources: tuple[PrintedSource, ...]
    words: str
    measures: tuple[str, ...] = ()

    @property
    def value(self) -> Enclosure | None:
        """What the printed numbers give."""
        if HIT.name in cells(self.expression):
            return exact(self.expression, {HIT.name: tuple(s.value for s in self.sources)})
        return exact(self.expression, {source.key: source.printed.value for source in self.sources})


@dataclass(frozen=True)
class PrintedTable:
    """The printed numbers of a claim that can be right, by what they speak of."""

    claim: Claim
    numbers: Mapping[Scope, Sequence[tuple[str, Printed]]] = field(default_factory=dict)

    @classmethod
    def of(cls, claim: Claim, trusted: Sequence[tuple[Key, Printed]]) -> PrintedTable:
        """The table of numbers that were found consistent: values, and their standard errors."""
        numbers: dict[Scope, list[tuple[str, Printed]]] = {}
        for key, reported in trusted:
            scope = replace(scope_of(key.value, claim), statistic=key.statistic)
            numbers.setdefault(scope, []).append((key.text, reported))
        return cls(claim, numbers)

    def errors(self, key: Key) -> list[float]:
        """The printed standard errors of what a key speaks of."""
        scope = replace(scope_of(key.value, self.claim), statistic="se")
        return [as_float(reported.value) for _, reported in self.numbers.get(scope, ())]

    def without(self, key: Key) -> PrintedTable:
        """The table without one number, which must not be derived from itself."""
        kept = {
            scope: [number for number in numbers if number[0] != key.text]
            for scope, numbers in self.numbers.items()
        }
        return PrintedTable(self.claim, kept)

    def printed_value(self, key: Key) -> Printed | None:
        """The value that the claim prints for what an interval is of, if it can be right.

        By the same key, else by another that speaks of the same; a bare one may be an average.
        """
        numbers = self.numbers.get(scope_of(key.value, self.claim), ())
        first = sorted(numbers, key=lambda number: number[0] != key.value.text)
        return first[0][1] if first else None

    def sources(
        self, measure: Measure, label: str | None, average: str | None
    ) -> Iterator[PrintedSource]:
        """Printed values of a measure, also as 1 less another, or of the other label."""
        yield from self._direct(measure, label, average)
        labels = self.claim.labels
        if measure.swapped and len(labels) == 2 and label in labels:
            other = labels[1 - labels.index(label)]
            yield from self._direct(find(measure.swapped), other, None)

    def _direct(
        self, measure: Measure, label: str | None, average: str | None
    ) -> Iterator[PrintedSource]:
        for text, reported in self.numbers.get(Scope(measure.name, label, average), ()):
            yield PrintedSource(text, reported)
        if measure.complement and measure.better is not LOWER:
            for text, reported in self.numbers.get(Scope(measure.complement, label, average), ()):
                yield PrintedSource(text, reported, complement=True)


def scope_of(key: Key, claim: Claim) -> Scope:
    """What a key speaks of, however it is spelled."""
    if key.measure.symmetric and key.average is None:
        return Scope(key.measure.name, None if claim.binary else key.label)
    return Scope(key.measure.name, claim.positive if key.bare else key.label, key.average)


def derivations(key: Key, table: PrintedTable) -> Iterator[Derivation]:
    """How other printed numbers of the claim give a key."""
    scope = scope_of(key, table.claim)
    label = scope.label
    if key.measure.symmetric and table.claim.binary:
        label = table.claim.positive
    if key.measure.complement:
        for text, printed in table.numbers.get(replace(scope, measure=key.measure.complement), ()):
            source = PrintedSource(text, printed)
            words = f"1 - the printed {text}"
            yield Derivation(1 - Cell(text), (source,), words, (key.measure.complement,))
    for identity in key.measure.identities:
        yield from _by_identity(identity.expression, label, scope, table)
    yield from _beyond_chance(key.measure, table)
    yield from _means_over_classes(key, scope, table)


def rank(key: Key, claim: Claim) -> tuple[float, int, bool]:
    """Numbers are worked out from those of lower rank, never the other way round.

    The rates of one class come first, then the accuracy, then what is 1 less one of those, then
    measures that are worked out from them; averages come after the values of the classes.
    """
    averaged = key.average is not None or (key.bare and not claim.binary)
    place = next((i for i, m in enumerate(CATALOGUE) if m == key.measure), len(CATALOGUE))
    return _level(key.measure), place, averaged


@lru_cache(maxsize=256)
def _level(measure: Measure) -> float:
    if measure.better is LOWER and measure.complement:
        return 0.75
    if measure in BASIC_RATES:
        return 0.5 if measure.symmetric else 0.0
    direct = {find(name) in BASIC_RATES for i in measure.identities[:1] for name in cells(i[0])}
    return 1.0 if direct == {True} else 2.0


def _by_identity(
    expression: Expression, label: str | None, scope: Scope, table: PrintedTable
) -> Iterator[Derivation]:
    names = sorted(cells(expression))
    choices = []
    for name in names:
        measure = find(name)
        whole = measure.symmetric
        choices.append(
            list(table.sources(measure, None if whole else label, None if whole else scope.average))
        )
    for sources in product(*choices):
        new = {
            name: 1 - Cell(source.key) if source.complement else Cell(source.key)
            for name, source in zip(names, sources, strict=True)
        }
        words = "the printed " + " and ".join(source.words for source in sources)
        if scope.average in ("macro", "weighted") and len(sources) > 1:
            words += f" (another definition of the {scope.average} {scope.measure})"
        yield Derivation(substitute(expression, new), sources, words, tuple(names))


# -- averages over classes -------------------------------------------------------------------------


def _means_over_classes(key: Key, scope: Scope, table: PrintedTable) -> Iterator[Derivation]:
    """Means of the printed values of all classes, plain or weighted by their rows.

    A measure over all classes is the mean of a rate of each where its formula says so.
    """
    claim, measure = table.claim, key.measure
    for average in ("macro", "weighted"):
        if scope.average == average or (key.bare and not claim.binary and measure.averages):
            yield from _mean_of_classes(measure, average, table)
    mean = mean_of(measure) if key.bare else None
    if mean is not None:
        yield from _mean_of_classes(mean.measure, mean.how, table)


def _mean_of_classes(measure: Measure, how: str, table: PrintedTable) -> Iterator[Derivation]:
    claim = table.claim
    of_labels = [next(table.sources(measure, label, None), None) for label in claim.labels]
    sources = tuple(source for source in of_labels if source is not None)
    if not sources or len(sources) < len(claim.labels):
        return
    of_each = f"the printed {measure.name} of each class"
    if how == "geometric":
        if all(source.value > 0 for source in sources):
            yield Derivation(geometric_mean(HIT), sources, of_each)
        return
    weights = [Fraction(1, len(sources))] * len(sources)
    words = f"the mean of {of_each}"
    if how == "weighted":
        rows = rows_of(claim)
        size = sum(rows.values())
        if not size:
            return
        weights = [Fraction(rows.get(label, 0), size) for label in claim.labels]
        words = f"{of_each}, weighted by its rows"
    total = constant(0)
    for weight, source in zip(weights, sources, strict=True):
        term = 1 - Cell(source.key) if source.complement else Cell(source.key)
        total = total + weight * term
    yield Derivation(total, sources, words)


def _beyond_chance(measure: Measure, table: PrintedTable) -> Iterator[Derivation]:
    """Kappa from the printed accuracy and the agreement by chance, rounded or not."""
    matrix = table.claim.matrix
    by_chance = measure.parts.get("p_e")
    if by_chance is None or matrix is None or not matrix.total:
        return
    chance, _ = enclosure(by_chance, matrix.class_cells())
    for source in table.sources(ACCURACY, None, None):
        unit = source.printed.unit
        for share in (chance, round(chance / unit) * unit):
            if share != 1:
                agreed = 1 - Cell(source.key) if source.complement else Cell(source.key)
                expression = (agreed - constant(share)) / constant(1 - share)
                words = f"the printed {source.words} and the agreement by chance"
                yield Derivation(expression, (source,), words)
