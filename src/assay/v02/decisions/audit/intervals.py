"""Reported intervals and standard errors: which known methods give them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.v02.decisions.audit.claim import Claim, Key
from assay.v02.decisions.audit.counts import rows_of
from assay.v02.decisions.audit.matrix import PrintedTable, judged, readings, undetermined
from assay.v02.decisions.audit.spreads import (
    NamedInterval,
    RowShare,
    around,
    bootstraps,
    candidates,
    delta_error,
    folds_of,
    hanley_mcneil,
    levels_of,
    quantiles,
    resampled_range,
    sd_of,
    share_intervals,
    shares_of,
)
from assay.v02.decisions.audit.verdicts import (
    ORDER,
    Enclosure,
    HeldNumber,
    JudgedNumber,
    NumberVerdict,
    Printed,
    as_float,
    best,
    hold,
    judge,
    worst,
)
from assay.v02.measures import ROC_AUC
from assay.v02.number_text import significant

Pair = tuple[Printed, Printed]
# Methods that the counts alone do not give.
_WITHOUT_FORMULA = ("delta", "bca", "delong", "newcombe")
_MAY_BE_RESAMPLED = "no formula gives it, but a bootstrap may"


@dataclass(frozen=True)
class IntervalVerdict:
    """What was found of an interval, and the ends that it was held against, if any.

    ``doubt`` says what else may have given it: without a mistake that does, it is not accused.
    """

    verdict: NumberVerdict
    said: str
    ends: tuple[float, float] | None = None
    doubt: str = ""


def judge_interval(key: Key, reported: Pair, claim: Claim, table: PrintedTable) -> JudgedNumber:
    """An interval, as it stands or, where that may be meant, in percent."""
    pairs = [reported]
    if key.bounded and not reported[0].percent and not reported[1].percent:
        beyond = max(abs(end.value) for end in reported) > 1
        if claim.percents or beyond:
            pairs.append((reported[0].as_percent(), reported[1].as_percent()))
    readings = [_judged(key, pair, claim, table) for pair in pairs]
    chosen = min(readings, key=lambda each: ORDER.index(each.verdict))
    said = chosen.said if chosen is readings[0] else f"{chosen.said} (read as percentages)"
    texts = reported[0].text, reported[1].text
    return JudgedNumber(
        key.text, key.measure.name, texts, chosen.ends, chosen.verdict, said, doubt=chosen.doubt
    )


def _judged(key: Key, pair: Pair, claim: Claim, table: PrintedTable) -> IntervalVerdict:
    if pair[0].value > pair[1].value:
        return IntervalVerdict(NumberVerdict.INCONSISTENT, "the lower end is above the upper one")
    direct = _best(_match(pair, each) for each in candidates(key, claim, table))
    if direct is not None:
        return direct
    derived = _best(_from_printed(key, pair, claim, table))
    if derived is not None:
        return derived
    resampled = _best(_match(pair, each) for each in bootstraps(key, claim))
    if resampled is not None and resampled.verdict is NumberVerdict.CONSISTENT:
        return resampled
    shares = list(shares_of(key, claim, table))
    by_resampling = _by_resampling(pair, claim, shares)
    if by_resampling is not None:
        return by_resampling
    unmatched = _unmatched(key, pair, claim, table, shares)
    doubt = _MAY_BE_RESAMPLED if _at_another_level(pair, claim, shares) else ""
    return replace(unmatched, doubt=doubt)


def _best(matches: Iterator[IntervalVerdict]) -> IntervalVerdict | None:
    """The first match that is correctly rounded, else the first that is off by less than a unit."""
    second = None
    for match in matches:
        if match.verdict is NumberVerdict.CONSISTENT:
            return match
        if second is None and match.verdict is NumberVerdict.ROUNDING:
            second = match
    return second


def _match(pair: Pair, candidate: NamedInterval, slack: Fraction = Fraction(0)) -> IntervalVerdict:
    ends = candidate.low, candidate.high
    if not all(map(math.isfinite, ends)):
        return IntervalVerdict(NumberVerdict.INCONSISTENT, f"the {candidate.words} is not defined")
    verdict = worst(
        [judge(p, Enclosure.near(end).widened(slack)) for p, end in zip(pair, ends, strict=True)]
    )
    said = f"the {candidate.words}"
    if verdict is NumberVerdict.ROUNDING:
        said += ", less than one unit of the last digit off"
    return IntervalVerdict(verdict, said, ends)


# -- from the printed value ------------------------------------------------------------------------


def _from_printed(
    key: Key, pair: Pair, claim: Claim, table: PrintedTable
) -> Iterator[IntervalVerdict]:
    """Intervals that the claim's own rounded value, and its rounded error, give."""
    printed = table.printed_value(key)
    if printed is None:
        return
    shares = list(shares_of(key, claim, table))
    value, levels = as_float(printed.value), levels_of(claim)
    for share in shares:
        if 0 <= value <= 1 and abs(printed.value - share.value) <= 2 * printed.unit:
            for each in share_intervals(value * share.trials, share.trials, levels):
                if claim.interval in (None, each.method):
                    yield _said(_match(pair, each), "value", claim)
        if share.low != share.high:
            yield from _about(pair, share, claim)
    if claim.interval in (None, "wald"):
        for error in table.errors(key):
            for level, z, named in quantiles(levels):
                for start in (value, *(as_float(share.value) for share in shares)):
                    each = NamedInterval("wald", level, *around(start, z * error), named)
                    for shown in (each, each.cut()):
                        yield _said(_match(pair, shown), "standard error", claim)


def _said(match: IntervalVerdict, what: str, claim: Claim) -> IntervalVerdict:
    """Beside a matrix, what only rounded numbers give is rounding."""
    verdict = match.verdict
    if claim.matrix is not None and verdict is NumberVerdict.CONSISTENT:
        verdict = NumberVerdict.ROUNDING
    return IntervalVerdict(verdict, f"{match.said}, from the printed {what}", match.ends)


def _about(pair: Pair, share: RowShare, claim: Claim) -> Iterator[IntervalVerdict]:
    """Intervals of every count that may have been printed so; of some of them, if they are many."""
    low = max(math.ceil(share.low), 0)
    high = min(math.floor(share.high), share.trials)
    step = max(1, (high - low) // 50)
    slack = Fraction(2 * (step - 1), share.trials)
    for k in (*range(low, high, step), high):
        for each in share_intervals(k, share.trials, levels_of(claim)):
            if claim.interval in (None, each.method):
                yield _said(_match(pair, each, slack), "value", claim)


# -- what no formula gives -------------------------------------------------------------------------


def _by_resampling(pair: Pair, claim: Claim, shares: list[RowShare]) -> IntervalVerdict | None:
    """A bootstrap's ends differ from run to run: named, it is consistent; else it may be one."""
    if claim.interval not in (None, "bootstrap", "bca"):
        return None
    # A bootstrap that is named may have any usual level; one that is not, the most usual.
    levels = levels_of(claim) if claim.interval is not None else levels_of(claim)[:1]
    for share in shares:
        for level in levels:
            if _resampled(pair, share, level):
                ends, _ = _nearest(pair, share, claim, level)
                if claim.interval is not None:
                    return IntervalVerdict(
                        NumberVerdict.CONSISTENT, "within the noise of a bootstrap", ends
                    )
                return IntervalVerdict(NumberVerdict.UNDETERMINED, _MAY_BE_RESAMPLED, ends)
    return None


def _at_another_level(pair: Pair, claim: Claim, shares: list[RowShare]) -> bool:
    """Whether a bootstrap that nobody speaks of may have given it at a less usual level."""
    if claim.interval is not None:
        return False
    return any(_resampled(pair, share, level) for share in shares for level in levels_of(claim)[1:])


def _resampled(pair: Pair, share: RowShare, level: float) -> bool:
    """Whether both ends lie where a percentile bootstrap at this level puts them."""
    ranges = resampled_range(as_float(share.value * share.trials), share.trials, level)
    slack = (share.high - share.low) / share.trials / 2
    return all(
        judge(end, Enclosure(Fraction(low) - slack, Fraction(high) + slack))
        is not NumberVerdict.INCONSISTENT
        for end, (low, high) in zip(pair, ranges, strict=True)
    )


def _nearest(
    pair: Pair, share: RowShare, claim: Claim, level: float
) -> tuple[tuple[float, float], str]:
    """The interval to hold against one that nothing gives: Wald if it is as even, else Wilson."""
    known = share_intervals(as_float(share.value * share.trials), share.trials, (level,))
    by_method = {each.method: each for each in reversed(list(known))}
    centre = (pair[0].value + pair[1].value) / 2
    even = abs(centre - share.value) <= pair[0].unit + pair[1].unit
    chosen = by_method.get(claim.interval or "", by_method["wald" if even else "wilson"])
    return (chosen.low, chosen.high), chosen.words


def _unmatched(
    key: Key, pair: Pair, claim: Claim, table: PrintedTable, shares: list[RowShare]
) -> IntervalVerdict:
    """What is said of an interval that no method gives."""
    printed = table.printed_value(key)
    missed = printed is not None and not _holds(pair, printed, key)
    if shares and (missed or not _may_be_another(claim)):
        ends, words = _nearest(pair, shares[0], claim, levels_of(claim)[0])
        why = "no known method gives it"
        if missed:
            why = "it does not hold its own reported value"
        elif claim.interval is not None:
            why = f"the named method ({claim.interval}) does not give it"
        shown = f"[{significant(ends[0], 5)}, {significant(ends[1], 5)}]"
        return IntervalVerdict(NumberVerdict.INCONSISTENT, f"{why}; the {words} is {shown}", ends)
    if missed:
        return IntervalVerdict(
            NumberVerdict.INCONSISTENT, "it does not hold its own reported value"
        )
    low, high = key.measure.range
    # A share plus and minus its error may leave the range; whoever prints that means well.
    if not key.measure.is_proportion and (pair[0].value < low or pair[1].value > high):
        return IntervalVerdict(
            NumberVerdict.INCONSISTENT, f"it leaves the range of {key.measure.name}"
        )
    if claim.matrix is not None:
        return IntervalVerdict(
            NumberVerdict.UNDETERMINED, "no method that was tried gives it, and others may"
        )
    return IntervalVerdict(NumberVerdict.UNDETERMINED, "nothing decides it")


def _may_be_another(claim: Claim) -> bool:
    """Whether a method that the counts do not give may have been used."""
    by_folds = claim.aggregate == "fold-mean" or bool(claim.folds)
    return by_folds or claim.interval in _WITHOUT_FORMULA


def _holds(pair: Pair, value: Printed, key: Key) -> bool:
    """Whether a value lies within its interval.

    The equal tails of Jeffreys' interval leave 0 and 1 out, by less than a tenth.
    """
    low, high = pair
    edge = key.measure.is_proportion and value.value in (0, 1)
    slack = value.unit + (Fraction(1, 10) if edge else 0)
    return (
        low.value - low.unit < value.value + slack and value.value - slack < high.value + high.unit
    )


# How far the deviation of 1,000 resamples may be off, relatively: about four times its own error.
_NOISE = Fraction(1, 11)


def judge_error(key: Key, reported: Printed, claim: Claim, table: PrintedTable) -> JudgedNumber:
    """A standard error against what the counts, the folds or the printed value give."""
    if reported.value < 0:
        said = "a standard error is never negative"
        return JudgedNumber(
            key.text, key.measure.name, reported.text, None, NumberVerdict.INCONSISTENT, said
        )
    shares = list(shares_of(key, claim, table))
    tried = claim.spellings(reported, key)
    known = list(_known(key, claim, table, shares))
    comparisons = [hold(each, value, what) for value, what in known for each in tried]
    if not comparisons:
        return undetermined(key, reported, "nothing decides it")
    chosen = best(comparisons)
    if chosen.verdict is NumberVerdict.INCONSISTENT:
        chosen = _error_from_printed(key, tried, table, shares) or chosen
    if chosen.verdict is not NumberVerdict.INCONSISTENT:
        return judged(key, reported, chosen)
    if not shares or claim.aggregate == "fold-mean" or claim.folds:
        return undetermined(key, reported, "no known formula gives it, and others may")
    if any(_noisy(each, share) for each in tried for share in shares):
        return undetermined(key, reported, "no formula gives it, but a bootstrap may")
    return judged(key, reported, comparisons[0])


def _known(
    key: Key, claim: Claim, table: PrintedTable, shares: list[RowShare]
) -> Iterator[tuple[Enclosure, str]]:
    for share in shares:
        for n in (share.trials, share.trials - 1):
            if n:
                yield _of_share(share, n), f"sqrt(p (1 - p) / {n:,})"
    matrix = claim.matrix
    if matrix is not None and matrix.total:
        for _, quantity in readings(key.value, claim):
            error = delta_error(quantity, matrix)
            if math.isfinite(error) and not math.isnan(quantity.value(matrix)):
                yield Enclosure.near(error), "the delta method"
    folds = folds_of(key, claim)
    spread = sd_of(folds)
    if spread is not None:
        error = float(spread) / math.sqrt(len(folds))
        yield Enclosure.near(error), f"the deviation of {len(folds)} folds over the root of that"
    printed, rows = table.printed_value(key), rows_of(claim)
    if key.measure == ROC_AUC and printed is not None and claim.binary and len(rows) == 2:
        sizes = rows[claim.labels[1]], rows[claim.labels[0]]
        if 0 <= printed.value <= 1 and all(sizes):
            error = hanley_mcneil(as_float(printed.value), *sizes)
            yield Enclosure.near(error), "Hanley and McNeil's formula"


def _of_share(share: RowShare, n: int) -> Enclosure:
    """The binomial standard error, of all shares that may be meant."""
    edges = Fraction(0), Fraction(1)
    ends = [min(max(end / share.trials, edges[0]), edges[1]) for end in (share.low, share.high)]
    spreads = [end * (1 - end) for end in ends]
    if ends[0] < Fraction(1, 2) < ends[1]:
        spreads.append(Fraction(1, 4))
    return Enclosure(Enclosure.root(min(spreads) / n).low, Enclosure.root(max(spreads) / n).high)


def _error_from_printed(
    key: Key, tried: tuple[Printed, ...], table: PrintedTable, shares: list[RowShare]
) -> HeldNumber | None:
    printed = table.printed_value(key)
    if printed is None or not 0 <= printed.value <= 1:
        return None
    for share in shares:
        value = Enclosure.root(printed.value * (1 - printed.value) / share.trials)
        what = f"sqrt(p (1 - p) / {share.trials:,}) of the printed {printed.text}"
        for each in tried:
            held = hold(each, value, what)
            if held.verdict is not NumberVerdict.INCONSISTENT:
                return HeldNumber(NumberVerdict.ROUNDING, value, held.said, each)
    return None


def _noisy(reported: Printed, share: RowShare) -> bool:
    """Whether the deviation of 1,000 resamples may be printed so."""
    exactly = _of_share(share, share.trials)
    return judge(reported, exactly.widened(exactly.high * _NOISE)) is not NumberVerdict.INCONSISTENT
