"""What an evaluation comes to, in words, and how it reads at the base rate of deployment."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.v02.escaping import plural
from assay.v02.evaluation import ByMeasure
from assay.v02.evaluation.deployment import AT_TOP, PER_DAY, Reach, Unlabelled
from assay.v02.evaluation.entries import DEFAULT_BASE_RATES, per_label
from assay.v02.evaluation.snapshot import Snapshot
from assay.v02.inference import Estimate
from assay.v02.inference.top import THRESHOLD
from assay.v02.measures import (
    ACCURACY,
    ALERT_RATE,
    FALSE_DISCOVERY_RATE,
    FALSE_POSITIVE_RATE,
    PRECISION,
    PREVALENCE,
    RECALL,
    ROC_AUC,
    catalogue,
)
from assay.v02.measures.catalogue import AT_BASE_RATES, RANKED_AT_BASE_RATES
from assay.v02.number_text import about, count, exact_percent, percent, threshold_text
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    Prose,
    Section,
    Table,
    Tier,
    measure_name,
    positives,
    quoted,
)
from assay.v02.report.slices import too_wide


def headline(evaluation: Snapshot) -> tuple[str, ...]:
    """The verdict, and what it rests on."""
    if evaluation.positive is None:
        return (*_of_many(evaluation), _rows_of_many(evaluation))
    if evaluation.unlabelled is not None:
        return (_of_alerts(evaluation), _rows_of_alerts(evaluation, evaluation.unlabelled))
    verdict = _of_two(evaluation) if evaluation.decided else _of_ranks(evaluation)
    return (verdict, _rows_of_two(evaluation))


# -- one positive label ----------------------------------------------------------------------------


def _of_two(evaluation: Snapshot) -> str:
    attacks = positives(evaluation.labels[1])
    detected, false = evaluation[RECALL], evaluation[FALSE_DISCOVERY_RATE]
    parts = [
        f"How many {attacks} it catches is undefined: {detected.undefined}"
        if math.isnan(detected)
        else f"Catches {percent(detected)} of {attacks}"
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
    attacks, auc = positives(evaluation.labels[1]), evaluation[ROC_AUC]
    if math.isnan(auc):
        return f"How it ranks {attacks} is undefined: {auc.undefined}."
    return (
        f"Ranks {attacks} above others in {percent(auc)} of pairs (ROC AUC); without a threshold "
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
    return (
        ""
        if threshold is None
        else f"; flagged at a score of {threshold_text(threshold)} and above"
    )


# -- only alerts were labelled ---------------------------------------------------------------------


def _of_alerts(evaluation: Snapshot) -> str:
    attacks = positives(evaluation.labels[1])
    detected, false = evaluation[RECALL], evaluation[FALSE_DISCOVERY_RATE]
    parts = []
    if math.isnan(detected):
        why = "rows that raised no alarm were not labelled"
        parts.append(f"how many {attacks} it catches is not known, since {why}")
    else:
        parts.append(
            f"catches {percent(detected)} of {attacks}, by the labelled sample of rows that raised "
            f"no alarm"
        )
    if math.isnan(false):
        parts.insert(0, "no labelled row raised an alarm")
    else:
        parts.insert(0, f"{percent(false)} of its labelled alarms are false")
    parts.append(f"it raises an alarm on {percent(evaluation[ALERT_RATE])} of all rows")
    text = "; ".join(parts) + "."
    return text[0].upper() + text[1:]


def _rows_of_alerts(evaluation: Snapshot, unlabelled: Unlabelled) -> str:
    return (
        f"{_rows(evaluation)} with a label; {count(unlabelled.flagged)} without one raised an "
        f"alarm, {count(unlabelled.not_flagged)} did not{_flagged(evaluation)}."
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
    defined = {label: recall for label, recall in recalls.items() if not math.isnan(recall)}
    if len(defined) < 2:
        return ()
    if min(map(float, defined.values())) == 1:
        return ("Every row was decided right.",)
    # A class of three rows is the best or the worst by chance.
    precise = {label: recall for label, recall in defined.items() if not too_wide(recall)}
    defined = precise if len(precise) > 1 else defined
    best = max(defined, key=lambda label: defined[label])
    worst = min(defined, key=lambda label: defined[label])
    text = f"Every class is found alike, {percent(defined[best])} of its rows."
    if defined[best] > defined[worst]:
        text = (
            f"Best is {quoted(best)}, of which {percent(defined[best])} are found; worst is "
            f"{quoted(worst)} with {percent(defined[worst])}."
        )
    rows, truth, decision = largest_confusions(evaluation)[0]
    of = evaluation.confusion.rows[truth]
    confusion = (
        f"The most frequent confusion: {quoted(evaluation.labels[truth])} taken for "
        f"{quoted(evaluation.labels[decision])}, {count(rows)} of {count(of)} rows "
        f"({percent(rows / of)})."
    )
    return (text, confusion)


def largest_confusions(evaluation: Snapshot) -> list[tuple[float, int, int]]:
    """Errors as (rows, truth, decision), the most frequent first."""
    cells = evaluation.confusion.cells
    errors = [
        (rows, i, j) for i, row in enumerate(cells) for j, rows in enumerate(row) if i != j and rows
    ]
    return sorted(errors, key=lambda error: (-error[0], error[1], error[2]))


def _rows_of_many(evaluation: Snapshot) -> str:
    return f"{_rows(evaluation)} in {len(evaluation.labels)} classes."


# -- at the base rate of deployment ----------------------------------------------------------------


# What is said of base rates where none was given.
USUAL_BASE_RATE = 0.001


def deployment_sections(evaluation: Snapshot) -> tuple[Section, ...]:
    """The section of base rates; none for more than two classes."""
    if evaluation.positive is None:
        return ()
    deployed = {rate: evaluation.at(rate) for rate in evaluation.base_rates or DEFAULT_BASE_RATES}
    title = "At the base rate of deployment"
    precise = [each[PRECISION] for each in deployed.values()]
    if all(map(math.isnan, precise)):
        sentence = f"Nothing can be said at another base rate: {precise[0].undefined}."
        return (Section(title, (Prose(sentence),), Tier.ADVANCED),)
    costs = tuple(measure.name for measure in catalogue.CATALOGUE if measure.of_costs is not None)
    names = (*AT_BASE_RATES, *RANKED_AT_BASE_RATES, *costs)
    blocks: list[Block] = [_table(evaluation, deployed, names)]
    if evaluation.volume is not None:
        blocks.append(_table(evaluation, deployed, PER_DAY, evaluation.volume))
    blocks += [Prose(text) for text in reverse(evaluation)]
    return (Section(title, tuple(blocks), Tier.ADVANCED),)


def _table(
    evaluation: Snapshot,
    deployed: Mapping[float, ByMeasure],
    names: tuple[str, ...],
    volume: float | None = None,
) -> Table:
    """Measures at base rates; a day with so many rows where these are of a day."""
    kind = Kind.SHARE if volume is None else Kind.DAILY
    prevalence = evaluation[PREVALENCE]
    here = "test set" if math.isnan(prevalence) else f"test set ({about(prevalence)})"
    columns = (
        Column("measure"),
        Column(here, kind),
        *(Column(f"base rate {exact_percent(rate)}", kind) for rate in deployed),
    )
    rows: list[tuple[Cell, ...]] = [
        (measure_name(name), evaluation[name], *(each.get(name) for each in deployed.values()))
        for name in names
        if any(name in each for each in deployed.values())
    ]
    if volume is not None:
        return Table(
            f"A day with {count(volume)} {plural(volume, 'row', 'rows')}", columns, tuple(rows)
        )
    caption = "The same detection and false positive rates at other shares of positives"
    why: dict[str, None] = {}
    for name in names:
        for rate, each in deployed.items():
            estimate = each.get(name)
            if estimate is not None and estimate.undefined and name in RANKED_AT_BASE_RATES:
                at = f"{measure_name(name)} at {exact_percent(rate)}"
                why[f"{at}: {estimate.undefined}."] = None
    return Table(caption, columns, tuple(rows), tuple(why))


def _alerts(number: float) -> str:
    return "alert" if number == 1 else f"{count(number)} alerts"


def top_alerts(evaluation: Snapshot) -> tuple[Section, ...]:
    """Precision and detection rate among the alerts that are read of a day."""
    top = evaluation.top
    if top is None:
        return ()
    deployed = {rate: evaluation.at(rate) for rate in evaluation.base_rates}
    if top.days is None:
        here = f"test set ({about(evaluation[PREVALENCE])})"
        of_day = "" if top.volume is None else plural(top.volume, "row", "rows")
        size = "" if top.volume is None else f" with {count(top.volume)} {of_day}"
        caption = f"The top {_alerts(top.k)} of a day{size}"
        text = (
            "Read are the highest scores: those from the threshold on at which so many alerts are "
            "expected. Rows that are tied there count in proportion."
        )
    else:
        days = f"{count(top.days)} {plural(top.days, 'day', 'days')}"
        read = plural(top.k, "is the highest score", f"are the {count(top.k)} highest scores")
        here = f"{days} of the test set"
        caption = f"The top {_alerts(top.k)} of each day, {days}"
        text = (
            f"Read {read} of each day, {count(top.alerts)} in all; "
            f"rows that are tied at the border count in proportion. "
        )
        text += (
            "Intervals are by the spread between days."
            if top.days > 1
            else "The interval takes the rows of the day as a sample."
        )
        if top.volume is not None and deployed:
            text += (
                f" At a base rate a day has {count(top.volume)} "
                f"{plural(top.volume, 'row', 'rows')}."
            )
    deployed = {rate: estimates for rate, estimates in deployed.items() if AT_TOP[0] in estimates}
    columns = (
        Column("measure"),
        Column(here, Kind.SHARE),
        *(Column(f"base rate {exact_percent(rate)}", Kind.SHARE) for rate in deployed),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            measure_name(name),
            evaluation[name],
            *(estimates[name] for estimates in deployed.values()),
        )
        for name in AT_TOP
    )
    borders = [e.parts.get(THRESHOLD) for e in (evaluation[AT_TOP[0]], *_precise(deployed))]
    if any(border is not None for border in borders):
        rows = (*rows, ("from the score", *borders))
    reasons = dict.fromkeys(evaluation[n].undefined or evaluation[n].note for n in AT_TOP)
    notes = tuple(f"{why[0].upper()}{why[1:]}." for why in reasons if why)
    table = Table(caption, columns, rows, notes)
    return (Section("Top alerts of a day", (table, Prose(text)), Tier.ADVANCED),)


def _precise(deployed: Mapping[float, ByMeasure]) -> list[Estimate]:
    return [estimates[AT_TOP[0]] for estimates in deployed.values()]


def reverse(evaluation: Snapshot) -> list[str]:
    """What a tolerable false alarm rate would ask for, at each base rate that was given."""
    rates = evaluation.base_rates or (USUAL_BASE_RATE,)
    return [
        _reach_sentence(evaluation, each)
        for each in evaluation.deployment
        if each.base_rate in rates
    ]


def _reach_sentence(evaluation: Snapshot, each: Reach) -> str:
    text = (
        f"At a base rate of {exact_percent(each.base_rate)}, a false alarm rate under "
        f"{exact_percent(each.tolerated_far)} asks for a false positive rate of at most "
        f"{percent(each.largest_fpr)}; here it is {percent(evaluation[FALSE_POSITIVE_RATE])}"
    )
    here, needed = count(each.negatives), count(each.negatives_needed)
    if each.held:
        return f"{text}, which shows it."
    if each.held is False:
        text += ", which is more"
    if each.enough:
        return f"{text}. The {here} negatives of this test set are enough to tell."
    return (
        f"{text}. To show it a test set needs {needed} "
        f"{plural(each.negatives_needed, 'negative', 'negatives')} without one false alarm; this "
        f"one has {here}."
    )
