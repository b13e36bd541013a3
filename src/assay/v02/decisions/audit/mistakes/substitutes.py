"""What may stand in place of the right one: a measure, average, mean, label; n, z, or divisor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

from assay.v02.decisions.audit.claim import AVERAGES, Claim, Key
from assay.v02.decisions.audit.matrix import operating_bounds
from assay.v02.decisions.audit.mistakes.candidates import (
    Candidate,
    ClaimMatrix,
    Plausibility,
    key_for,
    shifted,
    slug,
    training,
    turned,
    unit_of,
    words,
)
from assay.v02.decisions.audit.spreads import delta_error, folds_of
from assay.v02.decisions.audit.verdicts import Enclosure, Printed, as_float, exact
from assay.v02.evaluation.wording import name
from assay.v02.formula import Cell, constant, of_classes, proportion, sqrt
from assay.v02.formula import value as value_of
from assay.v02.inference import ClopperPearson, ProportionInterval, Quantity, Wald, Wilson
from assay.v02.inference.significance import normal, student
from assay.v02.measures import AVERAGE_PRECISION, CATALOGUE, PRECISION, RECALL, Measure
from assay.v02.number_text import count, exact_percent
from assay.v02.tally import Confusion

_COUNTED = tuple(
    measure
    for measure in CATALOGUE
    if measure.formula is not None and math.isfinite(sum(measure.range))
)


@dataclass(frozen=True)
class Substitute:
    """A formula that was read in place of the right one."""

    mistake: str
    said: str
    quantity: Quantity
    tier: Plausibility


def candidates(key: Key, table: ClaimMatrix) -> Iterator[Candidate]:
    """What every formula gives that may have been read in place of this key."""
    for formula in formulas(key, table):
        value = table.exact(formula.quantity)
        if value is not None:
            yield Candidate(formula.mistake, formula.said, value, formula.tier)


def formulas(key: Key, table: ClaimMatrix) -> Iterator[Substitute]:
    """Every formula that may have been read in place of this key."""
    yield from _means(key, table)
    yield from _averages(key, table)
    yield from _labels(key, table)
    yield from _measures(key, table)
    yield from _one_versus_rest(key, table)


def _means(key: Key, table: ClaimMatrix) -> Iterator[Substitute]:
    """An F score as another mean of precision and recall."""
    if key.measure.beta != 1:
        return
    label = None if key.average else _label(key, table)
    if key.average is None and label is None:
        return
    both = [measure.formula for measure in (PRECISION, RECALL) if measure.formula is not None]
    p, r = (of_classes(formula, key.average) if key.average else formula for formula in both)
    which = f"{key.average} precision and recall" if key.average else "precision and recall"
    means = [
        ("arithmetic-mean", f"the arithmetic mean of {which}", (p + r) / 2),
        ("geometric-mean", f"the geometric mean of {which}", sqrt(p * r)),
    ]
    if key.average:
        means.append(("f1-of-averages", f"the F1 of {which}", 2 * p * r / (p + r)))
    for mistake, said, expression in means:
        yield Substitute(mistake, said, Quantity(expression, label), Plausibility.USUAL)


def _averages(key: Key, table: ClaimMatrix) -> Iterator[Substitute]:
    """The same measure with another average."""
    if not key.measure.averages:
        return
    own = key.average or ("binary" if key.label is None else "label")
    for average in AVERAGES:
        if average != key.average:
            other = key_for(key.measure, average=average)
            yield from _read(f"{average}-for-{own}", key, other, table, Plausibility.USUAL)


def _labels(key: Key, table: ClaimMatrix) -> Iterator[Substitute]:
    """The same measure of another label, or of one label where an average belongs."""
    if key.measure.symmetric:
        return
    own = _label(key, table)
    for i, label in enumerate(table.confusion.labels):
        if i == own and key.average is None:
            continue
        tier = Plausibility.USUAL if table.binary else Plausibility.ANY
        mistake = f"other-label:{i + 1}"
        if table.binary and key.average is not None:
            mistake = f"{'binary' if label == table.positive else 'negative'}-for-{key.average}"
        elif table.binary and key.label is None:
            mistake = "positive-class-swapped"
        yield from _read(mistake, key, key_for(key.measure, label), table, tier)


def _measures(key: Key, table: ClaimMatrix) -> Iterator[Substitute]:
    """Another measure of the same label or with the same average."""
    for measure in _COUNTED:
        if measure.name in (key.measure.name, key.measure.complement):
            continue
        if key.measure.beta == 1 and not key.average and _is_mean(measure):
            continue  # the geometric mean of precision and recall, said above
        confused = measure.name in key.measure.taken_for or key.measure.name in measure.taken_for
        tier = Plausibility.USUAL if confused else Plausibility.ANY
        mistake = f"{slug(measure)}-for-{slug(key.measure)}"
        same = key_for(measure, key.label, key.average)
        yield from _read(mistake, key, same, table, tier)
        if key.label is not None or not (key.average or not table.binary):
            continue
        # Over all classes an average stands beside measures that have none.
        others = [key_for(measure)] if key.average else []
        others += [key_for(measure, average=average) for average in AVERAGES[:2]]
        for other in others:
            if other.average != key.average and (measure.averages or other.average is None):
                mistake = f"{slug(measure, other.average)}-for-{slug(key.measure, key.average)}"
                whole = measure.symmetric or key.measure.symmetric
                yield from _read(mistake, key, other, table, tier if whole else Plausibility.ANY)


def _is_mean(measure: Measure) -> bool:
    """Whether a measure is the geometric mean of precision and recall."""
    mean = sqrt(Cell(PRECISION.name) * Cell(RECALL.name))
    return any(identity.expression == mean for identity in measure.identities)


def _one_versus_rest(key: Key, table: ClaimMatrix) -> Iterator[Substitute]:
    """The mean over classes of a measure that has a value of its own for all of them."""
    measure = key.measure
    many = len(table.confusion.labels) > 2 and key.label is None and key.average is None
    if many and measure.symmetric and measure.formula is not None:
        said = f"the mean of {words(key).removeprefix('the ')} of each class against the rest"
        expression = of_classes(measure.formula, "macro")
        yield Substitute("one-vs-rest-mean", said, Quantity(expression), Plausibility.ASSUMED)


def _read(
    mistake: str, key: Key, other: Key, table: ClaimMatrix, tier: Plausibility
) -> Iterator[Substitute]:
    quantity = table.quantity(other)
    if quantity is not None and quantity != table.quantity(key):
        yield Substitute(mistake, f"{words(other)} in place of {words(key)}", quantity, tier)


def _label(key: Key, table: ClaimMatrix) -> int | None:
    """Which label a key speaks of."""
    name = key.label or (table.positive if key.average is None else None)
    labels = table.confusion.labels
    return labels.index(name) if name in labels else None


_ALL_ORDERS = 4


def correlations(confusion: Confusion) -> Iterator[Candidate]:
    """Pearson's r of the codes 0, 1, 2 ...: as listed, as sorted, and for few labels any other.

    A numbering and its reverse give the same.
    """
    labels = confusion.labels
    size = len(labels)
    if size <= 2:
        return
    orders: list[Sequence[int]] = [range(size), sorted(range(size), key=lambda i: labels[i])]
    told = len(orders)
    if size <= _ALL_ORDERS:
        orders += permutations(range(size))
    seen = set()
    for number, order in enumerate(orders):
        key = min(tuple(order), tuple(order)[::-1])
        value = None if key in seen else _correlation(confusion, order)
        seen.add(key)
        if value is None:
            continue
        numbered = ", ".join(f"{name(labels[i])} = {code}" for code, i in enumerate(order))
        said = "the correlation of the label codes"
        if size <= _ALL_ORDERS:
            said += f" ({numbered})"
        tier = Plausibility.USUAL if number < told else Plausibility.ANY
        yield Candidate("label-code-correlation", said, value, tier)


def _correlation(confusion: Confusion, order: Sequence[int]) -> Enclosure | None:
    code = {label: position for position, label in enumerate(order)}
    n = confusion.total
    truth = sum(code[i] * count for i, count in enumerate(confusion.rows))
    said = sum(code[i] * count for i, count in enumerate(confusion.columns))
    both = sum(
        code[i] * code[j] * count
        for i, row in enumerate(confusion.cells)
        for j, count in enumerate(row)
    )
    of_truth = n * sum(code[i] ** 2 * c for i, c in enumerate(confusion.rows)) - truth**2
    of_said = n * sum(code[i] ** 2 * c for i, c in enumerate(confusion.columns)) - said**2
    if not of_truth or not of_said:
        return None
    shared, square = Fraction(n * both - truth * said), Fraction(of_truth * of_said)
    return exact(constant(shared) / sqrt(constant(square)), {})


# What may be more than half of all areas explains none.
_WIDEST = Fraction(1, 2)


def is_area(key: Key) -> bool:
    """Whether a key is an area under a curve of scores."""
    return bool(key.measure.of_decisions) and key.average is None


def from_decisions(key: Key, table: ClaimMatrix) -> Iterator[Candidate]:
    """What a curve through the one point of the hard decisions gives."""
    label = _label(key, table)
    if label is None:
        return
    for mistake, said, expression in key.measure.of_decisions:
        value = table.exact(Quantity(expression, label))
        if value is not None:
            yield Candidate(mistake, said, value, Plausibility.USUAL)


def from_bounds(key: Key, claim: Claim) -> Iterator[Candidate]:
    """What a slip makes of the areas that the operating point allows."""
    allowed = operating_bounds(key, claim)
    if allowed is None or claim.matrix is None:
        return
    for slip in (*turned(allowed, "the area", key.measure), *shifted(allowed)):
        if slip.value.high - slip.value.low <= _WIDEST:
            yield slip
    if key.measure == AVERAGE_PRECISION:
        positives = claim.matrix.rows[claim.matrix.labels.index(key.label or claim.positive)]
        for size, what in ((claim.matrix.total, "rows"), (positives, "positives")):
            said = f"an average precision divided by the number of {what}, {count(size)},"
            value = allowed.times(Fraction(1, size))
            yield Candidate("ap-divided-by-n", said, value, Plausibility.ASSUMED)


# -- standard errors, intervals and spreads of folds -----------------------------------------------

_METHODS: tuple[type[ProportionInterval], ...] = (Wald, Wilson, ClopperPearson)
_LEVELS = (0.9, 0.95, 0.99)
_WRONG_Z = (1.0, 2.0, 3.0, 1.2816, 1.645, 1.96, 2.326, 2.576)


@dataclass(frozen=True)
class Spread:
    """A measure with its standard error, found from n rows."""

    centre: float
    error: float
    n: float
    share: bool

    def with_n(self, n: float) -> Spread:
        """The same with another number of rows."""
        return replace(self, error=self.error * math.sqrt(self.n / n), n=n)


def spread_of(quantity: Quantity, table: ClaimMatrix) -> Spread | None:
    """The standard error of a formula; None where it has none."""
    confusion = table.confusion
    centre = quantity.value(confusion)
    share = proportion(quantity.expression)
    if math.isnan(centre):
        return None
    if share is not None:
        n = value_of(share.trials, quantity.cells(confusion))
        return Spread(centre, math.sqrt(centre * (1 - centre) / n), n, share=True)
    return Spread(centre, delta_error(quantity, confusion), float(confusion.total), share=False)


def _spreads(key: Key, table: ClaimMatrix) -> Iterator[tuple[Key, Spread]]:
    """What a key may stand for, with the standard error of each that has one."""
    for reading in table.readings(key):
        quantity = table.quantity(reading)
        spread = None if quantity is None else spread_of(quantity, table)
        if spread is not None and spread.error:
            yield reading, spread


def errors(claim: Claim, key: Key, table: ClaimMatrix) -> Iterator[Candidate]:
    """What a standard error may have been in place of the right one."""
    for reading, spread in _spreads(key, table):
        yield from _shifted_error(spread)
        for said, n in _sizes(claim, table, spread):
            wrong = f"an n of {count(n)}, {said},"
            yield from _error("wrong-n", wrong, spread.with_n(n).error, Plausibility.USUAL)
        yield from _error("no-root", "the variance, whose root was not taken,", spread.error**2)
        whole = spread.error * math.sqrt(spread.n)
        yield from _error("not-divided", "a deviation that was not divided by the root of n", whole)
        for z in (1.645, 1.96, 2.576):
            said = f"{z} standard errors, the reach of an interval,"
            yield from _error("reach-for-error", said, z * spread.error, Plausibility.USUAL)
        for formula in formulas(reading, table):
            other = spread_of(formula.quantity, table)
            if other is not None and other.error:
                said = formula.said.replace("the ", "the standard error of the ", 1)
                yield from _error(formula.mistake, said, other.error, Plausibility.ANY)


def _shifted_error(spread: Spread) -> Iterator[Candidate]:
    for factor, moved in ((10, "right"), (0.1, "left")):
        said = f"a variance with the point one place too far to the {moved}"
        error = spread.error * math.sqrt(factor)
        yield from _error("variance-decimal-shift", said, error, Plausibility.SHIFT)
        said = f"a standard error with the point one place too far to the {moved}"
        yield from _error("decimal-shift", said, spread.error * factor, Plausibility.SHIFT)


def _error(
    mistake: str, said: str, error: float, tier: Plausibility = Plausibility.ASSUMED
) -> Iterator[Candidate]:
    if math.isfinite(error):
        yield Candidate(mistake, said, Enclosure.near(error), tier)


def intervals(claim: Claim, key: Key, table: ClaimMatrix) -> Iterator[Candidate]:
    """What an interval may have been in place of the right one."""
    for reading, spread in _spreads(key, table):
        yield from _from_reported(claim, reading, spread)
        yield from _wrong_n(claim, table, spread, _unit(claim, key))
        yield from _wrong_z(spread)
        yield from _slips(claim, spread)
        for formula in formulas(reading, table):
            other = spread_of(formula.quantity, table)
            if other is not None:
                said = formula.said.replace("the ", "the interval of the ", 1)
                yield from _all(formula.mistake, said, claim, other, Plausibility.ANY)
        complement = replace(spread, centre=1 - spread.centre)
        said = f"1 - {words(reading).removeprefix('the ')}"
        yield from _all("complement", said, claim, complement, Plausibility.USUAL)


def _from_reported(claim: Claim, reading: Key, spread: Spread) -> Iterator[Candidate]:
    """Ends that follow from what the claim itself reports, and reports wrongly."""
    own = claim.reported.get(reading.text)
    error = claim.reported.get(f"{reading.text}.se")
    centres = [spread.centre, *([as_float(own.value)] if isinstance(own, Printed) else [])]
    for centre in centres:
        if isinstance(error, Printed):
            for z in _WRONG_Z:
                said = f"the reported standard error {error.text} with z = {z:g}"
                yield from _ends(
                    "from-reported-se", said, centre, z * as_float(error.value), Plausibility.USUAL
                )
    if isinstance(own, Printed) and 0 < own.value < 1 and spread.share:
        centre = as_float(own.value)
        moved = Spread(centre, math.sqrt(centre * (1 - centre) / spread.n), spread.n, share=True)
        said = f"the reported value {own.text} as the centre"
        yield from _all("from-reported-value", said, claim, moved, Plausibility.USUAL)


def _wrong_n(claim: Claim, table: ClaimMatrix, spread: Spread, unit: float) -> Iterator[Candidate]:
    wrong = [
        ("wrong-n", f"an n of {count(n)}, {what},", n) for what, n in _sizes(claim, table, spread)
    ]
    for factor, moved in ((10, "right"), (0.1, "left")):
        said = f"a variance with the point one place too far to the {moved}"
        wrong.append(("variance-decimal-shift", said, spread.n / factor))
    for mistake, said, n in wrong:
        changed = spread.with_n(n)
        yield from _all(mistake, said, claim, changed, Plausibility.USUAL)
        if not math.isfinite(unit):
            continue
        # Worked out by hand, from a value and an error that were rounded on the way.
        rounded = replace(
            changed,
            centre=round(changed.centre / unit) * unit,
            error=round(changed.error / unit) * unit,
            share=False,
        )
        if rounded.error:
            yield from _all(mistake, said, claim, rounded, Plausibility.USUAL)


def _unit(claim: Claim, key: Key) -> float:
    """One unit of the last digit of the lower end."""
    reported = claim.reported[key.text]
    return unit_of(reported[0] if isinstance(reported, tuple) else reported)


def _wrong_z(spread: Spread) -> Iterator[Candidate]:
    quantiles = [(f"a z of {z:g}", z) for z in _WRONG_Z]
    if 1 < spread.n < 200:
        quantiles += [
            (f"Student's t at {exact_percent(level)}", student(level, spread.n - 1))
            for level in _LEVELS
        ]
    for said, z in quantiles:
        yield from _ends("wrong-z", said, spread.centre, z * spread.error, Plausibility.USUAL)
        if spread.share:
            method = Wilson(math.erf(z / math.sqrt(2)))
            low, high = method(spread.centre * spread.n, spread.n)
            yield from _pair(
                "wrong-z", f"{said} (Wilson)", float(low), float(high), Plausibility.ASSUMED
            )


def _slips(claim: Claim, spread: Spread) -> Iterator[Candidate]:
    for level in _levels(claim):
        z = normal(level)
        reach = z * spread.error
        low, high = spread.centre - reach, spread.centre + reach
        said = "the whole width on either side"
        yield from _ends("width-for-reach", said, spread.centre, 2 * reach, Plausibility.ASSUMED)
        said = "half of the reach on either side"
        yield from _ends("half-reach", said, spread.centre, reach / 2, Plausibility.ASSUMED)
        said = "the variance in place of the standard error"
        yield from _ends("no-root", said, spread.centre, z * spread.error**2, Plausibility.ASSUMED)
        yield from _pair("ends-exchanged", "the ends exchanged", high, low, Plausibility.USUAL)
        for ends, said in (
            ((spread.centre, reach), "the value and the reach printed as ends"),
            ((low, reach), "the reach printed as the upper end"),
            ((reach, high), "the reach printed as the lower end"),
        ):
            yield from _pair("reach-for-end", said, *ends, Plausibility.ASSUMED)
        for factor in (0.1, 10.0, 0.01, 100.0):
            said = "the point of an end moved"
            for ends in ((low * factor, high * factor), (low * factor, high), (low, high * factor)):
                yield from _pair("decimal-shift", said, *ends, Plausibility.SHIFT)


def _all(
    mistake: str, said: str, claim: Claim, spread: Spread, tier: Plausibility
) -> Iterator[Candidate]:
    """The ends by every method at every level that the claim may mean."""
    for level in _levels(claim):
        yield from _ends(mistake, said, spread.centre, normal(level) * spread.error, tier)
        if not spread.share or not 0 <= spread.centre <= 1:
            continue
        for method in _METHODS[1:]:
            if claim.interval in (None, method.name):
                low, high = method(level)(spread.centre * spread.n, spread.n)
                yield from _pair(mistake, f"{said} by {method.name}", float(low), float(high), tier)


def _levels(claim: Claim) -> Sequence[float]:
    return _LEVELS if claim.level is None else (claim.level,)


def _ends(
    mistake: str, said: str, centre: float, reach: float, tier: Plausibility
) -> Iterator[Candidate]:
    yield from _pair(mistake, said, centre - reach, centre + reach, tier)


def _pair(
    mistake: str, said: str, low: float, high: float, tier: Plausibility
) -> Iterator[Candidate]:
    # Quantiles of huge counts may be beyond what floats can tell.
    if math.isfinite(low) and math.isfinite(high):
        yield Candidate(mistake, said, Enclosure.near(low), tier, high=Enclosure.near(high))


def _sizes(claim: Claim, table: ClaimMatrix, spread: Spread) -> Iterator[tuple[str, float]]:
    """Numbers of rows that may stand where the right one belongs, each once."""
    confusion = table.confusion
    told = training(claim, confusion)
    trained = 0 if told is None else sum(map(sum, told))
    sizes: list[tuple[str, float]] = [("all rows", float(confusion.total))]
    sizes += [
        (f"the rows of {name(label)}", float(rows))
        for label, rows in zip(confusion.labels, confusion.rows, strict=True)
    ]
    sizes += [
        (f"the rows decided as {name(label)}", float(rows))
        for label, rows in zip(confusion.labels, confusion.columns, strict=True)
    ]
    if trained:
        sizes.append(("the rows of the training part", float(trained)))
        sizes.append(("training and test together", float(trained + confusion.total)))
    if claim.n is not None:
        sizes.append(("the stated size", as_float(claim.n.value)))
    sizes += [("the number of folds", len(folds)) for folds in claim.folds.values()]
    sizes += [("one less", spread.n - 1), ("the root of n not taken", spread.n**2)]
    seen = {spread.n}
    for said, n in sizes:
        if n > 0 and n not in seen:
            seen.add(n)
            yield said, n


_SAID = {
    "sd-ddof-0": "the standard deviation divided by k, not k - 1,",
    "sd-ddof-1": "the standard deviation divided by k - 1",
    "se-for-sd": "the standard error of the mean",
    "se-ddof-0": "the standard error of the mean with the deviation divided by k",
    "variance-for-sd": "the variance, whose root was not taken,",
    "variance-ddof-0": "the variance divided by k, whose root was not taken,",
}


def statistics(claim: Claim, key: Key) -> Iterator[Candidate]:
    """What else may have been made of the folds where this statistic belongs."""
    folds = folds_of(key, claim)
    if len(folds) < 2:
        return
    values = [fold.value for fold in folds]
    k, unit = len(values), max(fold.unit for fold in folds)
    mean = sum(values, Fraction(0)) / k
    squares = sum(((value - mean) ** 2 for value in values), Fraction(0))
    if key.statistic == "mean":
        yield from _means_of_folds(values, mean, unit)
        return
    spreads = {
        "sd-ddof-0": _root(squares / k, unit),
        "sd-ddof-1": _root(squares / (k - 1), unit),
        "se-for-sd": _root(squares / (k - 1) / k, unit),
        "se-ddof-0": _root(squares / k / k, unit),
        "variance-for-sd": _wide(squares / (k - 1), unit * _root(squares / k, unit).high),
        "variance-ddof-0": _wide(squares / k, unit * _root(squares / k, unit).high),
    }
    right = "se-for-sd" if key.statistic == "se" else "sd-ddof-1"
    for mistake, value in spreads.items():
        tier = Plausibility.USUAL if mistake.startswith("sd") else Plausibility.ASSUMED
        if mistake == right:
            yield from shifted(value)
        else:
            name = "sd-for-se" if key.statistic == "se" and mistake == "sd-ddof-1" else mistake
            yield Candidate(name, _SAID[mistake], value, tier)


def _means_of_folds(values: list[Fraction], mean: Fraction, unit: Fraction) -> Iterator[Candidate]:
    k, ordered = len(values), sorted(values)
    yield from shifted(_wide(mean, unit))
    median = (ordered[(k - 1) // 2] + ordered[k // 2]) / 2
    yield Candidate(
        "median-for-mean", "the median of the folds", _wide(median, unit), Plausibility.ASSUMED
    )
    for said, value in (("best", ordered[-1]), ("worst", ordered[0])):
        yield Candidate(
            f"{said}-fold", f"the {said} fold alone", _wide(value, unit), Plausibility.ASSUMED
        )
    for divisor in (k - 1, k + 1):
        said = f"the sum of {k} folds divided by {divisor}"
        yield Candidate("wrong-n", said, _wide(mean * k / divisor, unit), Plausibility.ASSUMED)


def _wide(value: Fraction, unit: Fraction) -> Enclosure:
    """A value of folds that were rounded before they were printed."""
    return Enclosure.of(value).widened(unit / 2)


def _root(square: Fraction, unit: Fraction) -> Enclosure:
    # Rounding moves a deviation by no more than it moves a fold.
    return Enclosure.root(square).widened(unit / 2)
