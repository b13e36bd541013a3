"""Where claims without a whole matrix come in."""

from __future__ import annotations

from dataclasses import replace

from assay.decisions.audit.claim import Claim, Key, key_of
from assay.decisions.audit.points import undetermined
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.search.binary import judge_binary
from assay.decisions.audit.search.classes import judge_classes
from assay.decisions.audit.search.judging import Given, outside

SCORED = frozenset({"roc_auc"})
AN_AVERAGE = "for one class this would be a contradiction, for an average over classes it is none"


def judge_without_matrix(claim: Claim) -> tuple[dict[str, Judged], tuple[str, ...]]:
    """The values that a claim reports, judged against each other and what it tells of its counts.

    By reported key, and notes; spreads and means of folds are left to others.
    """
    judged: dict[str, Judged] = {}
    given: list[tuple[Key, Printed]] = []
    for text, reported in claim.reported.items():
        key = key_of(text)
        if key.statistic is not None or isinstance(reported, tuple):
            continue
        wrong = outside(key, reported, claim)
        if wrong is not None:
            judged[text] = wrong
        elif key.measure.formula is None and key.measure.name not in SCORED:
            judged[text] = undetermined(key, reported, "no counts decide a measure of scores")
        else:
            given.append((key, reported))
    found, notes = _judge(claim, given)
    return {**judged, **found}, notes


def _judge(claim: Claim, given: Given) -> tuple[dict[str, Judged], tuple[str, ...]]:
    if claim.aggregate == "fold-mean" or (claim.folds and claim.aggregate is None):
        return _averages(claim, given)
    if claim.binary or claim.negative is not None:
        return judge_binary(_two(claim, given), given)
    if claim.labels or any(key.label is not None or key.average is not None for key, _ in given):
        return judge_classes(claim, given)
    return _one_or_average(claim, given)


def _two(claim: Claim, given: Given) -> Claim:
    """The claim with both of its labels named."""
    if len(claim.labels) == 2:
        return claim
    named = (claim.positive, claim.negative)
    others = [key.label for key, _ in given if key.label not in (None, *named)]
    positive = claim.positive or next(iter(others), f"not {claim.negative}")
    negative = claim.negative or next(iter(others), f"not {positive}")
    return replace(claim, labels=(negative, positive), positive=positive)


def _averages(claim: Claim, given: Given) -> tuple[dict[str, Judged], tuple[str, ...]]:
    """Means over folds: only what holds for any average binds them."""
    bare = replace(
        claim, labels=(), positive=None, negative=None, cells={}, support={}, n=None, folds={}
    )
    found, _ = judge_classes(bare, [pair for pair in given if pair[0].label is None])
    for key, reported in given:
        if key.text not in found:
            found[key.text] = undetermined(key, reported, "a mean of folds")
    return found, ("means of folds were only held against each other",)


def _one_or_average(claim: Claim, given: Given) -> tuple[dict[str, Judged], tuple[str, ...]]:
    """Nothing tells whether bare numbers are of one class: wrong is what is so either way."""
    two = replace(claim, labels=("negative", "positive"), positive="positive")
    one, notes = judge_binary(two, given)
    if all(each.verdict is not Verdict.INCONSISTENT for each in one.values()):
        return one, notes
    average, _ = judge_classes(claim, given)
    if any(each.verdict is Verdict.INCONSISTENT for each in average.values()):
        return one, notes
    return {
        text: replace(found, verdict=Verdict.UNDETERMINED, said=f"{found.said}; {AN_AVERAGE}")
        if found.verdict is Verdict.INCONSISTENT
        else found
        for text, found in one.items()
    }, notes
