"""The document of a sample: which rows to label, and what they will tell."""

from __future__ import annotations

from collections.abc import Iterator

from assay.decisions.sample import DrawnStratum, StratifiedSample
from assay.decisions.sample.result import STRATUM, WEIGHT
from assay.report.numbers import count
from assay.report.sections import Block, Cell, Column, Kind, Prose, Report, Section, Table, Tier

_RULES = {
    "sqrt": "by the root of the rows of each stratum",
    "optimal": "as if scores were chances of an attack (Neyman)",
    "proportional": "by the rows of each stratum",
    "equal": "in equal parts",
}
# Where none was seen in a stratum, fewer than this many times the weight may be there, at 95%.
_UNSEEN = 3.69


def report_of(sample: StratifiedSample) -> Report:
    """What a report says of a sample."""
    return Report(
        title="Which rows to label",
        headline=tuple(_headline(sample)),
        sections=(Section("Strata", tuple(_strata(sample)), Tier.MAIN),),
        notes=(*sample.notes, *_notes(sample)),
        records=tuple(sample.records()),
    )


def _headline(sample: StratifiedSample) -> Iterator[str]:
    yield (
        f"{count(sample.labels)} of {count(sample.rows)} rows are to be labelled, drawn by "
        f"{len(sample.strata)} strata of the score, with seed {sample.seed}."
    )
    if sample.alerts:
        drawn = sum(stratum.drawn for stratum in sample.strata if stratum.alerts)
        share = "all" if drawn == sample.alerts else count(drawn)
        yield (
            f"{share.capitalize()} of the {count(sample.alerts)} alerts (from {sample.threshold:g} "
            f"on) are among them."
        )


def _strata(sample: StratifiedSample) -> Iterator[Block]:
    columns = (
        Column("stratum"),
        Column("scores from"),
        Column("to"),
        Column("rows", Kind.COUNT),
        Column("to label", Kind.COUNT),
        Column("each stands for"),
    )
    rows = tuple(_row(stratum) for stratum in sample.strata)
    yield Table(
        f"Labels are shared out {_RULES[sample.allocation]}",
        columns,
        rows,
        tuple(_of_alerts(sample)),
    )
    heaviest = max(sample.strata, key=lambda stratum: stratum.weight)
    unseen = min(round(_UNSEEN * heaviest.weight), heaviest.rows - heaviest.drawn)
    if unseen:
        yield Prose(
            f"If no attack is found in stratum {heaviest.stratum}, up to {count(unseen)} may still "
            f"be there (at 95%): the interval of the detection rate holds them."
        )


def _row(stratum: DrawnStratum) -> tuple[Cell, ...]:
    name = f"{stratum.stratum} (alerts)" if stratum.alerts else stratum.stratum
    low, high = f"{stratum.low:.4g}", f"{stratum.high:.4g}"
    return name, low, high, stratum.rows, stratum.drawn, f"{stratum.weight:.4g}"


def _of_alerts(sample: StratifiedSample) -> Iterator[str]:
    if sample.alerts:
        yield "Alerts are a stratum of their own, with labels of their own."


def _notes(sample: StratifiedSample) -> Iterator[str]:
    yield (
        f"Label every row that was drawn, add the labels as a column, and evaluate with --score "
        f"{sample.score} --weight {WEIGHT} --strata {STRATUM}; rows left out would bias the answer."
    )
