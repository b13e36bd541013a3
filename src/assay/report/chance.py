"""Tests of one model by itself: against always saying one class, and one kind of error's excess."""

from __future__ import annotations

from assay.evaluation.snapshot import Snapshot
from assay.inference import Significance, mcnemar
from assay.inference.significance import p_text
from assay.report.numbers import about, count, percent


def own_tests(evaluation: Snapshot) -> tuple[Significance, ...]:
    """The tests that this evaluation allows; none where rows are weighted, clustered or unlabelled.

    Both take rows as independent and each as one.
    """
    table = evaluation.confusion
    independent = not evaluation.clustered and not evaluation.weighted
    complete = evaluation.decided and evaluation.unlabelled is None
    if not independent or not complete or not table.total:
        return ()
    against = against_majority(sum(table.hits), table.rows, evaluation.level)
    if evaluation.positive is None:
        return (against,)
    (_, false), (missed, _) = table.cells
    return (against, lean(false, missed, evaluation.level))


def against_majority(hits: int, rows: tuple[int, ...], level: float = 0.95) -> Significance:
    """Is accuracy above the share of the largest class (the no-information rate)?

    The exact one-sided binomial test: the chance of as many hits or more if each row were right
    with that share.

    >>> print(against_majority(85, (60, 40)))
    Accuracy 85.0% is above the largest class's share of 60% (p < 0.0001).
    """
    from scipy.special import betainc

    n = sum(rows)
    share = max(rows) / n
    p = 1.0 if hits == 0 or share == 1 else float(betainc(hits, n - hits + 1, share))
    verdict = "is above" if p < 1 - level else "is not shown to be above"
    return Significance(
        test="accuracy_against_majority",
        statistic=None,
        df=(),
        p=p,
        method="exact binomial, one-sided",
        sentence=f"Accuracy {percent(hits / n)} {verdict} the largest class's share of "
        f"{about(share)} ({p_text(p)}).",
        table={"right": hits, "rows": n, "share": share},
    )


def lean(false: int, missed: int, level: float = 0.95) -> Significance:
    """Are false positives and false negatives equally many? McNemar's test, continuity corrected.

    >>> print(lean(167, 324))
    167 false positives against 324 false negatives: it errs by missing more often (p < 0.0001).
    """
    found = mcnemar(false, missed, method="corrected", level=level)
    side = "by raising false alarms" if false > missed else "by missing"
    verdict = f"it errs {side} more often" if found.p < 1 - level else "no side is shown to prevail"
    return Significance(
        test="mcnemar_errors",
        statistic=found.statistic,
        df=found.df,
        p=found.p,
        method="chi-square, continuity corrected",
        sentence=f"{count(false)} false positives against {count(missed)} false negatives: "
        f"{verdict} ({p_text(found.p)}).",
        table={"false_positives": false, "false_negatives": missed},
    )
