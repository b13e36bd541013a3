"""Reported standard errors: of a share by the binomial, else by what gives them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from assay.decisions.audit.candidates import Share, delta_error, shares_of
from assay.decisions.audit.claim import Claim
from assay.decisions.audit.derived import Table
from assay.decisions.audit.exact import Exact, Held, as_float, best, hold, judge
from assay.decisions.audit.folds import folds_of, sd_of
from assay.decisions.audit.keys import Key
from assay.decisions.audit.matrix import judged, readings, undetermined
from assay.decisions.audit.methods import hanley_mcneil
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.sizes import rows_of
from assay.measures import ROC_AUC

# How far the deviation of 1,000 resamples may be off, relatively: about four times its own error.
_NOISE = Fraction(1, 11)


def judge_error(key: Key, reported: Printed, claim: Claim, table: Table) -> Judged:
    """A standard error against what the counts, the folds or the printed value give."""
    if reported.value < 0:
        said = "a standard error is never negative"
        return Judged(key.text, key.measure.name, reported.text, None, Verdict.INCONSISTENT, said)
    shares = list(shares_of(key, claim, table))
    tried = claim.spellings(reported, key)
    known = list(_known(key, claim, table, shares))
    found = [hold(each, value, what) for value, what in known for each in tried]
    if not found:
        return undetermined(key, reported, "nothing decides it")
    chosen = best(found)
    if chosen.verdict is Verdict.INCONSISTENT:
        chosen = _from_printed(key, tried, table, shares) or chosen
    if chosen.verdict is not Verdict.INCONSISTENT:
        return judged(key, reported, chosen)
    if not shares or claim.aggregate == "fold-mean" or claim.folds:
        return undetermined(key, reported, "no known formula gives it, and others may")
    if any(_noisy(each, share) for each in tried for share in shares):
        return undetermined(key, reported, "no formula gives it, but a bootstrap may")
    return judged(key, reported, found[0])


def _known(
    key: Key, claim: Claim, table: Table, shares: list[Share]
) -> Iterator[tuple[Exact, str]]:
    for share in shares:
        for n in (share.trials, share.trials - 1):
            if n:
                yield _of_share(share, n), f"sqrt(p (1 - p) / {n:,})"
    matrix = claim.matrix
    if matrix is not None and matrix.total:
        for _, quantity in readings(key.value, claim):
            error = delta_error(quantity, matrix)
            if math.isfinite(error) and not math.isnan(quantity.value(matrix)):
                yield Exact.near(error), "the delta method"
    folds = folds_of(key, claim)
    spread = sd_of(folds)
    if spread is not None:
        error = float(spread) / math.sqrt(len(folds))
        yield Exact.near(error), f"the deviation of {len(folds)} folds over the root of that"
    printed, rows = table.printed_value(key), rows_of(claim)
    if key.measure == ROC_AUC and printed is not None and claim.binary and len(rows) == 2:
        sizes = rows[claim.labels[1]], rows[claim.labels[0]]
        if 0 <= printed.value <= 1 and all(sizes):
            error = hanley_mcneil(as_float(printed.value), *sizes)
            yield Exact.near(error), "Hanley and McNeil's formula"


def _of_share(share: Share, n: int) -> Exact:
    """The binomial standard error, of all shares that may be meant."""
    edges = Fraction(0), Fraction(1)
    ends = [min(max(end / share.trials, edges[0]), edges[1]) for end in (share.low, share.high)]
    spreads = [end * (1 - end) for end in ends]
    if ends[0] < Fraction(1, 2) < ends[1]:
        spreads.append(Fraction(1, 4))
    return Exact(Exact.root(min(spreads) / n).low, Exact.root(max(spreads) / n).high)


def _from_printed(
    key: Key, tried: tuple[Printed, ...], table: Table, shares: list[Share]
) -> Held | None:
    printed = table.printed_value(key)
    if printed is None or not 0 <= printed.value <= 1:
        return None
    for share in shares:
        value = Exact.root(printed.value * (1 - printed.value) / share.trials)
        what = f"sqrt(p (1 - p) / {share.trials:,}) of the printed {printed.text}"
        for each in tried:
            held = hold(each, value, what)
            if held.verdict is not Verdict.INCONSISTENT:
                return Held(Verdict.ROUNDING, value, held.said, each)
    return None


def _noisy(reported: Printed, share: Share) -> bool:
    """Whether the deviation of 1,000 resamples may be printed so."""
    exactly = _of_share(share, share.trials)
    return judge(reported, exactly.widened(exactly.high * _NOISE)) is not Verdict.INCONSISTENT
