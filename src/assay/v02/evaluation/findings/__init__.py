"""Coded findings: one file each, all of them in the order of their codes, and how they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.deployment import alerts_only
from assay.v02.evaluation.findings import (
    class_never_predicted,
    drawn_rows_refused,
    few_distinct_scores,
    hard_labels_as_scores,
    harmless_positive,
    identifiers_as_scores,
    inverted_labels,
    label_only_in_decisions,
    miscalibration,
    no_row_wrong,
    not_better_than_majority,
    nothing_learned,
    periods_differ,
    prevalence_far_from_base_rate,
    rows_of_incidents,
    saturated_scores,
    scores_in_percent,
    threshold_on_tie,
    too_few_positives,
    top_beyond_rows,
    unresolved_false_positive_rate,
    unseen_attacks,
    wrong_probability_column,
)
from assay.v02.evaluation.findings.finding import Finding, FindingCheck, urgent_first

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

__all__ = ["CHECKS", "Finding", "FindingCheck", "findings_of", "urgent_first"]

CHECKS: tuple[FindingCheck, ...] = (
    inverted_labels.CHECK,
    nothing_learned.CHECK,
    hard_labels_as_scores.CHECK,
    few_distinct_scores.CHECK,
    saturated_scores.CHECK,
    threshold_on_tie.CHECK,
    prevalence_far_from_base_rate.CHECK,
    not_better_than_majority.CHECK,
    too_few_positives.CHECK,
    unresolved_false_positive_rate.CHECK,
    miscalibration.CHECK,
    class_never_predicted.CHECK,
    label_only_in_decisions.CHECK,
    wrong_probability_column.CHECK,
    periods_differ.CHECK,
    top_beyond_rows.CHECK,
    rows_of_incidents.CHECK,
    drawn_rows_refused.CHECK,
    unseen_attacks.CHECK,
    scores_in_percent.CHECK,
    identifiers_as_scores.CHECK,
    harmless_positive.CHECK,
    no_row_wrong.CHECK,
)


def findings_of(evaluation: Evaluation, *, mistakes: bool = False) -> tuple[Finding, ...]:
    """Every finding that applies, warnings first, then in the order of the codes.

    Without rows there is nothing to find. Where only alerts were labelled, and no weights stand for
    the other rows, most checks would judge a test set that nobody drew. ``mistakes`` asks for
    those alone that look like a mistake on the way to the numbers.
    """
    if not evaluation.tally.confusion.total:
        return ()
    partly = alerts_only(evaluation)
    checks = [
        check
        for check in CHECKS
        if (check.on_alerts or not partly)
        and (evaluation.decided or not check.of_decisions)
        and (check.mistake or not mistakes)
    ]
    findings = {check.code: check(evaluation) for check in checks}
    codes = {code for code, finding in findings.items() if finding is not None}
    kept = (findings[check.code] for check in checks if not codes.intersection(check.unless))
    return urgent_first(
        finding for finding in kept if finding is not None and (finding.mistake or not mistakes)
    )
