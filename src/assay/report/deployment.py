"""How a detector reads at the base rate of deployment, beside the test set."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.evaluation import ByMeasure
from assay.evaluation.deployment import PER_DAY, Reach
from assay.evaluation.entries import DEFAULT_BASE_RATES
from assay.evaluation.snapshot import Snapshot
from assay.evaluation.top import AT_TOP
from assay.inference import Estimate
from assay.inference.top import THRESHOLD
from assay.measures import FALSE_POSITIVE_RATE, PRECISION, PREVALENCE, catalogue
from assay.measures.shown import AT_BASE_RATES, RANKED_AT_BASE_RATES
from assay.report.numbers import about, count, exact_percent, percent
from assay.report.sections import Block, Cell, Column, Kind, Prose, Section, Table, Tier
from assay.report.words import measure_name, plural

# What is said of base rates where none was given.
USUAL_BASE_RATE = 0.001


def sections(evaluation: Snapshot) -> tuple[Section, ...]:
    """The section of base rates; none for more than two classes."""
    if evaluation.positive is None:
        return ()
    found = {rate: evaluation.at(rate) for rate in evaluation.base_rates or DEFAULT_BASE_RATES}
    title = "At the base rate of deployment"
    precise = [deployed[PRECISION] for deployed in found.values()]
    if all(map(math.isnan, precise)):
        said = f"Nothing can be said at another base rate: {precise[0].undefined}."
        return (Section(title, (Prose(said),), Tier.ADVANCED),)
    costs = tuple(measure.name for measure in catalogue.CATALOGUE if measure.of_costs is not None)
    names = (*AT_BASE_RATES, *RANKED_AT_BASE_RATES, *costs)
    blocks: list[Block] = [_table(evaluation, found, names, Kind.SHARE)]
    if evaluation.volume is not None:
        blocks.append(_table(evaluation, found, PER_DAY, Kind.DAILY))
    blocks += [Prose(text) for text in reverse(evaluation)]
    return (Section(title, tuple(blocks), Tier.ADVANCED),)


def _table(
    evaluation: Snapshot,
    found: Mapping[float, ByMeasure],
    names: tuple[str, ...],
    kind: Kind,
) -> Table:
    prevalence = evaluation[PREVALENCE]
    here = "test set" if math.isnan(prevalence) else f"test set ({about(prevalence)})"
    columns = (
        Column("measure"),
        Column(here, kind),
        *(Column(f"base rate {exact_percent(rate)}", kind) for rate in found),
    )
    rows: list[tuple[Cell, ...]] = [
        (measure_name(name), evaluation[name], *(each.get(name) for each in found.values()))
        for name in names
        if any(name in each for each in found.values())
    ]
    if kind is Kind.DAILY:
        assert evaluation.volume is not None  # noqa: S101 - checked by the caller
        return Table(f"A day with {count(evaluation.volume)} rows", columns, tuple(rows))
    caption = "The same detection and false positive rates at other shares of positives"
    why: dict[str, None] = {}
    for name in names:
        for rate, each in found.items():
            estimate = each.get(name)
            if estimate is not None and estimate.undefined and name in RANKED_AT_BASE_RATES:
                at = f"{measure_name(name)} at {exact_percent(rate)}"
                why[f"{at}: {estimate.undefined}."] = None
    return Table(caption, columns, tuple(rows), tuple(why))


def top_alerts(evaluation: Snapshot) -> tuple[Section, ...]:
    """Precision and detection rate among the alerts that are read of a day."""
    top = evaluation.top
    if top is None:
        return ()
    deployed = {rate: evaluation.at(rate) for rate in evaluation.base_rates}
    if top.days is None:
        assert top.volume is not None  # noqa: S101 - without days it was asked for
        here = f"test set ({about(evaluation[PREVALENCE])})"
        caption = f"The top {count(top.k)} alerts of a day with {count(top.volume)} rows"
        said = (
            "Read are the highest scores: those from the threshold on at which so many alerts are "
            "expected. Rows that are tied there count in proportion."
        )
    else:
        days = f"{count(top.days)} {plural(top.days, 'day', 'days')}"
        here = f"{days} of the test set"
        caption = f"The top {count(top.k)} alerts of each day, {days}"
        said = (
            f"Read are the {count(top.k)} highest scores of each day, {count(top.alerts)} in all; "
            f"rows that are tied at the border count in proportion. "
        )
        said += (
            "Intervals are by the spread between days."
            if top.days > 1
            else "The interval takes the rows of the day as a sample."
        )
        if top.volume is not None and deployed:
            said += f" At a base rate a day has {count(top.volume)} rows."
    deployed = {rate: found for rate, found in deployed.items() if AT_TOP[0] in found}
    columns = (
        Column("measure"),
        Column(here, Kind.SHARE),
        *(Column(f"base rate {exact_percent(rate)}", Kind.SHARE) for rate in deployed),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (measure_name(name), evaluation[name], *(found[name] for found in deployed.values()))
        for name in AT_TOP
    )
    borders = [e.parts.get(THRESHOLD) for e in (evaluation[AT_TOP[0]], *_precise(deployed))]
    if any(border is not None for border in borders):
        rows = (*rows, ("from the score", *borders))
    reasons = dict.fromkeys(evaluation[n].undefined or evaluation[n].note for n in AT_TOP)
    notes = tuple(f"{why[0].upper()}{why[1:]}." for why in reasons if why)
    table = Table(caption, columns, rows, notes)
    return (Section("Top alerts of a day", (table, Prose(said)), Tier.ADVANCED),)


def _precise(deployed: Mapping[float, ByMeasure]) -> list[Estimate]:
    return [found[AT_TOP[0]] for found in deployed.values()]


def reverse(evaluation: Snapshot) -> list[str]:
    """What a tolerable false alarm rate would ask for, at each base rate that was given."""
    rates = evaluation.base_rates or (USUAL_BASE_RATE,)
    return [_asked(evaluation, each) for each in evaluation.deployment if each.base_rate in rates]


def _asked(evaluation: Snapshot, each: Reach) -> str:
    said = (
        f"At a base rate of {exact_percent(each.base_rate)}, a false alarm rate under "
        f"{exact_percent(each.tolerated_far)} asks for a false positive rate of at most "
        f"{percent(each.largest_fpr)}; here it is {percent(evaluation[FALSE_POSITIVE_RATE])}"
    )
    here, needed = count(each.negatives), count(each.negatives_needed)
    if each.held:
        return f"{said}, which shows it."
    if each.held is False:
        said += ", which is more"
    if each.enough:
        return f"{said}. The {here} negatives of this test set are enough to tell."
    return (
        f"{said}. To show it a test set needs {needed} negatives without one false alarm; this "
        f"one has {here}."
    )
