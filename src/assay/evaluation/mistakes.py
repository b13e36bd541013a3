"""What looks like a mistake of the user's, of rows that are not evaluated by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.evaluation.evaluation import Evaluation
from assay.evaluation.findings import (
    Finding,
    class_never_predicted,
    findings_of,
    scores_in_percent,
    urgent_first,
)
from assay.evaluation.words import name
from assay.tally import Resolved

# What is told of a threshold that somebody gave, and of no other.
_OF_THRESHOLDS = frozenset({class_never_predicted.CHECK.code, scores_in_percent.CHECK.code})


def likely_mistakes(
    tally: Resolved, *, column: str | None = None, threshold_given: bool = False
) -> tuple[Finding, ...]:
    """The findings of a tally that are likely mistakes; ``column`` holds its scores."""
    chosen = {} if column is None else {"chosen": {"score": column}}
    found = findings_of(Evaluation(tally, source={"name": "", **chosen}), mistakes=True)
    if threshold_given and tally.decided:
        return found
    return tuple(finding for finding in found if finding.code not in _OF_THRESHOLDS)


def mistakes_of_models(
    tallies: Mapping[str, Resolved],
    *,
    columns: Mapping[str, str] | None = None,
    threshold_given: bool = False,
) -> tuple[Finding, ...]:
    """The same of several models; each is told with the name of its model."""
    found = []
    for model, tally in tallies.items():
        column = (columns or {}).get(model)
        for each in likely_mistakes(tally, column=column, threshold_given=threshold_given):
            said = f"{name(model)}: {each.message}"
            found.append(replace(each, message=said, title=f"{each.title} ({name(model)})"))
    return urgent_first(found)
