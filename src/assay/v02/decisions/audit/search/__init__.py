"""Reported numbers without a whole matrix: can any matrix give them together?"""

from __future__ import annotations

from dataclasses import replace

from assay.v02.decisions.audit.claim import Claim, Key, key_of
from assay.v02.decisions.audit.matrix import out_of_range, undetermined
from assay.v02.decisions.audit.search.bonds import Verdicts, prevalence_of
from assay.v02.decisions.audit.search.classes import judge_binary, judge_classes, matrices_of
from assay.v02.decisions.audit.search.numbers import Given
from assay.v02.decisions.audit.verdicts import JudgedNumber, Printed

__all__ = ["Verdicts", "judge_without_matrix", "matrices_of", "prevalence_of"]


def judge_without_matrix(claim: Claim) -> Verdicts:
    """The values that a claim reports, judged against each other and what it tells of its counts.

    Spreads and means of folds are left to others.
    """
    judged: dict[str, JudgedNumber] = {}
    given: list[tuple[Key, Printed]] = []
    for text, reported in claim.reported.items():
        key = key_of(text)
        if key.statistic is not None or isinstance(reported, tuple):
            continue
        wrong = out_of_range(key, reported, claim)
        if wrong is not None:
            judged[text] = wrong
        elif key.measure.formula is None and key.measure.bounds is None:
            judged[text] = undetermined(key, reported, "no counts decide a measure of scores")
        else:
            given.append((key, reported))
    verdicts = _judge(claim, given) if given else Verdicts({})
    return replace(verdicts, judged={**judged, **verdicts.judged})


def _judge(claim: Claim, given: Given) -> Verdicts:
    if claim.aggregate == "fold-mean" or (claim.folds and claim.aggregate is None):
        return _averages(claim, given)
    if claim.binary or claim.negative is not None:
        return judge_binary(_two(claim, given), given)
    if claim.labels or any(not key.bare for key, _ in given):
        return judge_classes(claim, given)
    two = replace(claim, labels=("negative", "positive"), positive="positive")
    return judge_binary(two, given, may_be_average=True)


def _two(claim: Claim, given: Given) -> Claim:
    """The claim with both of its labels named."""
    if len(claim.labels) == 2:
        return claim
    named = (claim.positive, claim.negative)
    others = [key.label for key, _ in given if key.label not in (None, *named)]
    positive = claim.positive or next(iter(others), f"not {claim.negative}")
    negative = claim.negative or next(iter(others), f"not {positive}")
    return replace(claim, labels=(negative, positive), positive=positive)


def _averages(claim: Claim, given: Given) -> Verdicts:
    """Means over folds: only what holds for any average binds them."""
    bare = replace(
        claim, labels=(), positive=None, negative=None, cells={}, support={}, n=None, folds={}
    )
    verdicts = judge_classes(bare, [pair for pair in given if pair[0].label is None])
    rest = {
        key.text: undetermined(key, reported, "a mean of folds")
        for key, reported in given
        if key.text not in verdicts.judged
    }
    note = "means of folds were only held against each other"
    return replace(verdicts, judged={**rest, **verdicts.judged}, notes=(note,))
