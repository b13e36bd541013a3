"""What an evaluation comes to, in words."""

from __future__ import annotations

import math

from assay.evaluation.entries import per_label
from assay.evaluation.snapshot import Snapshot
from assay.inference import Estimate
from assay.measures import ACCURACY, ALERT_RATE, FALSE_DISCOVERY_RATE, PREVALENCE, RECALL, ROC_AUC
from assay.report.numbers import about, count, exact_percent, percent
from assay.report.slices import too_wide
from assay.report.words import plural, positives, quoted


def headline(evaluation: Snapshot) -> tuple[str, ...]:
    """The verdict, and what it rests on."""
    if evaluation.positive is None:
        return (*_of_many(evaluation), _rows_of_many(evaluation))
    if evaluation.unlabelled is not None:
        return (_of_alerts(evaluation), _rows_of_alerts(evaluation))
    verdict = _of_two(evaluation) if evaluation.decided else _of_ranks(evaluation)
    return (verdict, _rows_of_two(evaluation))


# -- one positive label ----------------------------------------------------------------------------


def _of_two(evaluation: Snapshot) -> str:
    what = positives(evaluation.labels[1])
    detected, false = evaluation[RECALL], evaluation[FALSE_DISCOVERY_RATE]
    parts = [
        f"How many {what} it catches is undefined: {detected.undefined}"
        if math.isnan(detected)
        else f"Catches {percent(detected)} of {what}"
    ]
    if math.isnan(false):
        parts.append("it raised no alarm at all")
        return "; ".join(parts) + "."
    prevalence = about(evaluation[PREVALENCE])
    parts.append(
        f"{percent(false)} of its alarms are false at this test set's prevalence of {prevalence}"
    )
    # Only a base rate that was asked for; the usual ones stand in their table.
    for rate in evaluation.base_rates[:1]:
        deployed = evaluation.at(rate)[FALSE_DISCOVERY_RATE]
        if not math.isnan(deployed):
            parts.append(_deployed(rate, deployed))
    return "; ".join(parts) + "."


def _of_ranks(evaluation: Snapshot) -> str:
    """What scores without a threshold tell: how they rank."""
    what, auc = positives(evaluation.labels[1]), evaluation[ROC_AUC]
    if math.isnan(auc):
        return f"How it ranks {what} is undefined: {auc.undefined}."
    return (
        f"Ranks {what} above others in {percent(auc)} of pairs (ROC AUC); without a threshold "
        f"there are no alarms to judge."
    )


def _deployed(rate: float, false: Estimate) -> str:
    where = f"at a base rate of {exact_percent(rate)}"
    if float(false) == 0 and false.high > 0:
        # No false alarm was seen; that alone does not promise that there is none.
        return f"{where} it may be as much as {percent(false.high)}"
    return f"{where} that becomes {percent(float(false))}"


def _rows_of_two(evaluation: Snapshot) -> str:
    negative, positive = evaluation.labels
    harmless, attacks = evaluation.confusion.rows
    return (
        f"{_rows(evaluation)}: {count(attacks)} {quoted(positive)}, "
        f"{count(harmless)} {quoted(negative)}{_flagged(evaluation)}."
    )


def _rows(evaluation: Snapshot) -> str:
    total = evaluation.confusion.total
    weighted = "weighted " if evaluation.confusion.weighted else ""
    return f"{count(total)} {weighted}{plural(total, 'row', 'rows')}"


def _flagged(evaluation: Snapshot) -> str:
    threshold = evaluation.threshold
    return "" if threshold is None else f"; flagged at a score of {threshold:.10g} and above"


# -- only alerts were labelled ---------------------------------------------------------------------


def _of_alerts(evaluation: Snapshot) -> str:
    what = positives(evaluation.labels[1])
    detected, false = evaluation[RECALL], evaluation[FALSE_DISCOVERY_RATE]
    parts = []
    if math.isnan(detected):
        why = "rows that raised no alarm were not labelled"
        parts.append(f"how many {what} it catches is not known, since {why}")
    else:
        parts.append(
            f"catches {percent(detected)} of {what}, by the labelled sample of rows that raised "
            f"no alarm"
        )
    if math.isnan(false):
        parts.insert(0, "no labelled row raised an alarm")
    else:
        parts.insert(0, f"{percent(false)} of its labelled alarms are false")
    parts.append(f"it raises an alarm on {percent(evaluation[ALERT_RATE])} of all rows")
    text = "; ".join(parts) + "."
    return text[0].upper() + text[1:]


def _rows_of_alerts(evaluation: Snapshot) -> str:
    rest = evaluation.unlabelled
    assert rest is not None  # noqa: S101 - asked only where there are such rows
    return (
        f"{_rows(evaluation)} with a label; {count(rest.flagged)} without one raised an alarm, "
        f"{count(rest.not_flagged)} did not{_flagged(evaluation)}."
    )


# -- more classes ----------------------------------------------------------------------------------


def _of_many(evaluation: Snapshot) -> tuple[str, ...]:
    accuracy, rows = evaluation[ACCURACY], evaluation.confusion.rows
    if math.isnan(accuracy):
        return (f"How many rows it decides right is undefined: {accuracy.undefined}.",)
    largest = max(range(len(rows)), key=lambda i: rows[i])
    share = rows[largest] / evaluation.confusion.total
    verdict = (
        f"Decides {percent(accuracy)} of rows right; always saying "
        f"{quoted(evaluation.labels[largest])}, the largest class, would decide {percent(share)} "
        f"right."
    )
    return (verdict, *_classes(evaluation))


def _classes(evaluation: Snapshot) -> tuple[str, ...]:
    recalls = per_label(evaluation, RECALL)
    known = {label: recall for label, recall in recalls.items() if not math.isnan(recall)}
    if len(known) < 2:
        return ()
    if min(map(float, known.values())) == 1:
        return ("Every row was decided right.",)
    # A class of three rows is the best or the worst by chance.
    told = {label: recall for label, recall in known.items() if not too_wide(recall)}
    known = told if len(told) > 1 else known
    best = max(known, key=lambda label: known[label])
    worst = min(known, key=lambda label: known[label])
    said = f"Every class is found alike, {percent(known[best])} of its rows."
    if known[best] > known[worst]:
        said = (
            f"Best is {quoted(best)}, of which {percent(known[best])} are found; worst is "
            f"{quoted(worst)} with {percent(known[worst])}."
        )
    rows, truth, decision = largest_confusions(evaluation)[0]
    of = evaluation.confusion.rows[truth]
    confusion = (
        f"The most frequent confusion: {quoted(evaluation.labels[truth])} taken for "
        f"{quoted(evaluation.labels[decision])}, {count(rows)} of {count(of)} rows "
        f"({percent(rows / of)})."
    )
    return (said, confusion)


def largest_confusions(evaluation: Snapshot) -> list[tuple[float, int, int]]:
    """Errors as (rows, truth, decision), the most frequent first."""
    cells = evaluation.confusion.cells
    errors = [
        (rows, i, j) for i, row in enumerate(cells) for j, rows in enumerate(row) if i != j and rows
    ]
    return sorted(errors, key=lambda error: (-error[0], error[1], error[2]))


def _rows_of_many(evaluation: Snapshot) -> str:
    return f"{_rows(evaluation)} in {len(evaluation.labels)} classes."
