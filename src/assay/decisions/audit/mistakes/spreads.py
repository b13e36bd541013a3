"""Standard errors, intervals and spreads of folds: a wrong n, a wrong z, another divisor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.folds import folds_of
from assay.decisions.audit.keys import Key
from assay.decisions.audit.mistakes.candidate import Candidate, Tier, shifted, unit_of
from assay.decisions.audit.mistakes.matrices import Table, training, words
from assay.decisions.audit.mistakes.substitutes import formulas
from assay.decisions.audit.printed import Exact, Printed, as_float
from assay.evaluation.words import count, name
from assay.formula import proportion
from assay.formula import value as value_of
from assay.inference import ClopperPearson, ProportionInterval, Quantity, Wald, Wilson
from assay.inference.delta import variance
from assay.inference.quantiles import normal, student
from assay.inference.quantity import squares_of, table_of

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


def spread_of(quantity: Quantity, table: Table) -> Spread | None:
    """The standard error of a formula; None where it has none."""
    confusion = table.confusion
    centre = quantity.value(confusion)
    share = proportion(quantity.expression)
    if math.isnan(centre):
        return None
    if share is not None:
        n = value_of(share.trials, quantity.cells(confusion))
        return Spread(centre, math.sqrt(centre * (1 - centre) / n), n, share=True)
    square = variance(quantity, table_of(confusion), squares_of(confusion))
    return Spread(centre, math.sqrt(square), float(confusion.total), share=False)


def errors(claim: Claim, key: Key, table: Table) -> Iterator[Candidate]:
    """What a standard error may have been in place of the right one."""
    for reading in table.readings(key):
        quantity = table.quantity(reading)
        spread = None if quantity is None else spread_of(quantity, table)
        if spread is None or not spread.error:
            continue
        yield from _shifted_error(spread)
        for said, n in _sizes(claim, table, spread):
            yield from _error(
                "wrong-n", f"an n of {count(n)}, {said},", spread.with_n(n).error, Tier.USUAL
            )
        yield from _error("no-root", "the variance, whose root was not taken,", spread.error**2)
        whole = spread.error * math.sqrt(spread.n)
        yield from _error("not-divided", "a deviation that was not divided by the root of n", whole)
        for z in (1.645, 1.96, 2.576):
            said = f"{z} standard errors, the reach of an interval,"
            yield from _error("reach-for-error", said, z * spread.error, Tier.USUAL)
        for formula in formulas(reading, table):
            other = spread_of(formula.quantity, table)
            if other is not None and other.error:
                said = formula.said.replace("the ", "the standard error of the ", 1)
                yield from _error(formula.mistake, said, other.error, Tier.ANY)


def _shifted_error(spread: Spread) -> Iterator[Candidate]:
    for factor, moved in ((10, "right"), (0.1, "left")):
        said = f"a variance with the point one place too far to the {moved}"
        error = spread.error * math.sqrt(factor)
        yield from _error("variance-decimal-shift", said, error, Tier.SHIFT)
        said = f"a standard error with the point one place too far to the {moved}"
        yield from _error("decimal-shift", said, spread.error * factor, Tier.SHIFT)


def _error(mistake: str, said: str, error: float, tier: Tier = Tier.ASSUMED) -> Iterator[Candidate]:
    if math.isfinite(error):
        yield Candidate(mistake, said, Exact.near(error), tier)


def intervals(claim: Claim, key: Key, table: Table) -> Iterator[Candidate]:
    """What an interval may have been in place of the right one."""
    for reading in table.readings(key):
        quantity = table.quantity(reading)
        spread = None if quantity is None else spread_of(quantity, table)
        if spread is None or not spread.error:
            continue
        yield from _from_reported(claim, reading, spread)
        yield from _wrong_n(claim, table, spread, _unit(claim, key))
        yield from _wrong_z(spread)
        yield from _slips(claim, spread)
        for formula in formulas(reading, table):
            other = spread_of(formula.quantity, table)
            if other is not None:
                said = formula.said.replace("the ", "the interval of the ", 1)
                yield from _all(formula.mistake, said, claim, other, Tier.ANY)
        complement = replace(spread, centre=1 - spread.centre)
        yield from _all(
            "complement",
            f"1 - {words(reading).removeprefix('the ')}",
            claim,
            complement,
            Tier.USUAL,
        )


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
                    "from-reported-se", said, centre, z * as_float(error.value), Tier.USUAL
                )
    if isinstance(own, Printed) and 0 < own.value < 1 and spread.share:
        centre = as_float(own.value)
        moved = Spread(centre, math.sqrt(centre * (1 - centre) / spread.n), spread.n, share=True)
        said = f"the reported value {own.text} as the centre"
        yield from _all("from-reported-value", said, claim, moved, Tier.USUAL)


def _wrong_n(claim: Claim, table: Table, spread: Spread, unit: float) -> Iterator[Candidate]:
    wrong = [
        ("wrong-n", f"an n of {count(n)}, {what},", n) for what, n in _sizes(claim, table, spread)
    ]
    for factor, moved in ((10, "right"), (0.1, "left")):
        said = f"a variance with the point one place too far to the {moved}"
        wrong.append(("variance-decimal-shift", said, spread.n / factor))
    for mistake, said, n in wrong:
        changed = spread.with_n(n)
        yield from _all(mistake, said, claim, changed, Tier.USUAL)
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
            yield from _all(mistake, said, claim, rounded, Tier.USUAL)


def _unit(claim: Claim, key: Key) -> float:
    """One unit of the last digit of the lower end."""
    reported = claim.reported[key.text]
    return unit_of(reported[0] if isinstance(reported, tuple) else reported)


def _wrong_z(spread: Spread) -> Iterator[Candidate]:
    quantiles = [(f"a z of {z:g}", z) for z in _WRONG_Z]
    if 1 < spread.n < 200:
        quantiles += [
            (f"Student's t at {level:.0%}", student(level, spread.n - 1)) for level in _LEVELS
        ]
    for said, z in quantiles:
        yield from _ends("wrong-z", said, spread.centre, z * spread.error, Tier.USUAL)
        if spread.share:
            method = Wilson(math.erf(z / math.sqrt(2)))
            low, high = method(spread.centre * spread.n, spread.n)
            yield from _pair("wrong-z", f"{said} (Wilson)", float(low), float(high), Tier.ASSUMED)


def _slips(claim: Claim, spread: Spread) -> Iterator[Candidate]:
    for level in _levels(claim):
        z = normal(level)
        reach = z * spread.error
        low, high = spread.centre - reach, spread.centre + reach
        said = "the whole width on either side"
        yield from _ends("width-for-reach", said, spread.centre, 2 * reach, Tier.ASSUMED)
        said = "half of the reach on either side"
        yield from _ends("half-reach", said, spread.centre, reach / 2, Tier.ASSUMED)
        said = "the variance in place of the standard error"
        yield from _ends("no-root", said, spread.centre, z * spread.error**2, Tier.ASSUMED)
        yield from _pair("ends-exchanged", "the ends exchanged", high, low, Tier.USUAL)
        for ends, said in (
            ((spread.centre, reach), "the value and the reach printed as ends"),
            ((low, reach), "the reach printed as the upper end"),
            ((reach, high), "the reach printed as the lower end"),
        ):
            yield from _pair("reach-for-end", said, *ends, Tier.ASSUMED)
        for factor in (0.1, 10.0, 0.01, 100.0):
            said = "the point of an end moved"
            for ends in ((low * factor, high * factor), (low * factor, high), (low, high * factor)):
                yield from _pair("decimal-shift", said, *ends, Tier.SHIFT)


def _all(mistake: str, said: str, claim: Claim, spread: Spread, tier: Tier) -> Iterator[Candidate]:
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


def _ends(mistake: str, said: str, centre: float, reach: float, tier: Tier) -> Iterator[Candidate]:
    yield from _pair(mistake, said, centre - reach, centre + reach, tier)


def _pair(mistake: str, said: str, low: float, high: float, tier: Tier) -> Iterator[Candidate]:
    # Quantiles of huge counts may be beyond what floats can tell.
    if math.isfinite(low) and math.isfinite(high):
        yield Candidate(mistake, said, Exact.near(low), tier, high=Exact.near(high))


def _sizes(claim: Claim, table: Table, spread: Spread) -> Iterator[tuple[str, float]]:
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
        yield from _means(values, mean, unit)
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
        tier = Tier.USUAL if mistake.startswith("sd") else Tier.ASSUMED
        if mistake == right:
            yield from shifted(value)
        else:
            name = "sd-for-se" if key.statistic == "se" and mistake == "sd-ddof-1" else mistake
            yield Candidate(name, _SAID[mistake], value, tier)


def _means(values: list[Fraction], mean: Fraction, unit: Fraction) -> Iterator[Candidate]:
    k, ordered = len(values), sorted(values)
    yield from shifted(_wide(mean, unit))
    median = (ordered[(k - 1) // 2] + ordered[k // 2]) / 2
    yield Candidate("median-for-mean", "the median of the folds", _wide(median, unit), Tier.ASSUMED)
    for said, value in (("best", ordered[-1]), ("worst", ordered[0])):
        yield Candidate(f"{said}-fold", f"the {said} fold alone", _wide(value, unit), Tier.ASSUMED)
    for divisor in (k - 1, k + 1):
        said = f"the sum of {k} folds divided by {divisor}"
        yield Candidate("wrong-n", said, _wide(mean * k / divisor, unit), Tier.ASSUMED)


def _wide(value: Fraction, unit: Fraction) -> Exact:
    """A value of folds that were rounded before they were printed."""
    return Exact.of(value).widened(unit / 2)


def _root(square: Fraction, unit: Fraction) -> Exact:
    # Rounding moves a deviation by no more than it moves a fold.
    return Exact.root(square).widened(unit / 2)
