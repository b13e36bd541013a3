"""How a detector reads at the base rate of deployment, beside the test set."""

from __future__ import annotations

import math

from assay.evaluation import Evaluation
from assay.inference import Estimate
from assay.report.document import Block, Cell, Column, Kind, Prose, Section, Table, Tier
from assay.report.numbers import about, count, exact_percent, percent
from assay.report.words import measure_name

_RATES = (
    "precision",
    "false_discovery_rate",
    "negative_predictive_value",
    "f1",
    "accuracy",
    "mcc",
    "alert_rate",
)
_DAILY = ("alerts_per_day", "false_alarms_per_day", "missed_per_day")


def sections(evaluation: Evaluation) -> tuple[Section, ...]:
    """The section of base rates; none for more than two classes."""
    if evaluation.positive is None:
        return ()
    found: dict[float | None, dict[str, Estimate]] = {}
    for entry in evaluation.entries:
        own = entry.label in (None, evaluation.positive) and entry.average is None
        if entry.slice is None and own:
            found.setdefault(entry.base_rate, {})[entry.measure] = entry.estimate
    rates = [rate for rate in found if rate is not None]
    blocks: list[Block] = [_table(evaluation, found, rates, _RATES, Kind.SHARE)]
    if evaluation.volume is not None:
        blocks.append(_table(evaluation, found, rates, _DAILY, Kind.DAILY))
    blocks += [Prose(text) for text in reverse(evaluation)]
    return (Section("At the base rate of deployment", tuple(blocks), Tier.ADVANCED),)


def _table(
    evaluation: Evaluation,
    found: dict[float | None, dict[str, Estimate]],
    rates: list[float],
    names: tuple[str, ...],
    kind: Kind,
) -> Table:
    prevalence = evaluation["prevalence"]
    here = "test set" if math.isnan(prevalence) else f"test set ({about(prevalence)})"
    columns = (
        Column("measure"),
        Column(here, kind),
        *(Column(f"base rate {exact_percent(rate)}", kind) for rate in rates),
    )
    rows: list[tuple[Cell, ...]] = [
        (measure_name(name), *(found[rate].get(name) for rate in (None, *rates)))
        for name in names
        if any(name in found[rate] for rate in rates)
    ]
    if kind is Kind.DAILY:
        assert evaluation.volume is not None  # noqa: S101 - checked by the caller
        return Table(f"A day with {count(evaluation.volume)} rows", columns, tuple(rows))
    return Table("The same rates of detection and false positives, other shares", columns, tuple(rows))


def reverse(evaluation: Evaluation) -> list[str]:
    """What a tolerable false alarm rate would ask for, a sentence a base rate."""
    said = []
    for each in evaluation.deployment:
        text = (
            f"At a base rate of {exact_percent(each.base_rate)}, a false alarm rate under "
            f"{exact_percent(each.tolerated_far)} asks for a false positive rate of at most "
            f"{percent(each.largest_fpr)}"
        )
        if each.held:
            text += ", which this test set shows."
        elif each.held is False:
            false = evaluation["false_positive_rate"]
            text += f"; here it is {percent(false)}."
        elif each.enough:
            text += "; the interval of this test set leaves it open."
        else:
            text += (
                f"; this test set can't show that: its {count(each.negatives)} negatives would "
                f"have to be {count(each.negatives_needed)}, none of them flagged."
            )
        said.append(text)
    return said
