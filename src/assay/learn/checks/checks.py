"""All checks, in the order of their codes, and how they are run."""

from __future__ import annotations

from collections.abc import Callable

from assay.evaluation.findings import urgent_first
from assay.learn.checks import (
    conflicting_labels,
    constant_columns,
    duplicates_across,
    duplicates_inside,
    few_rows,
    flattering_accuracy,
    groups_across,
    identifier_columns,
    interpolated,
    later_training,
    missing_classes,
    near_duplicates_across,
    near_duplicates_inside,
    not_better_than_trivial,
    one_valued_classes,
    oversampled,
    prevalence,
    shortcut,
    sorted_by_label,
    telling_identifier,
    unseen_families,
)
from assay.learn.checks.case import Case
from assay.learn.checks.finding import CodedCheck, Finding, silent

CHECKS: tuple[CodedCheck, ...] = (
    duplicates_across.CHECK,
    duplicates_inside.CHECK,
    near_duplicates_across.CHECK,
    near_duplicates_inside.CHECK,
    conflicting_labels.CHECK,
    groups_across.CHECK,
    unseen_families.CHECK,
    later_training.CHECK,
    sorted_by_label.CHECK,
    telling_identifier.CHECK,
    shortcut.CHECK,
    identifier_columns.CHECK,
    oversampled.CHECK,
    interpolated.CHECK,
    constant_columns.CHECK,
    one_valued_classes.CHECK,
    prevalence.CHECK,
    few_rows.CHECK,
    missing_classes.CHECK,
    flattering_accuracy.CHECK,
    not_better_than_trivial.CHECK,
)


def findings_of(case: Case, told: Callable[[int, int], None] = silent) -> tuple[Finding, ...]:
    """Every finding that applies, leaks first, then by code."""
    found = []
    for done, check in enumerate(CHECKS):
        told(done, len(CHECKS))
        finding = check(case)
        if finding is not None:
            found.append(finding)
    return urgent_first(found)
