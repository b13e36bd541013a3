"""``assay evaluate``: how good a detector is, from a file of its predictions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import values
from assay.cli.command import Command
from assay.cli.errors import as_options
from assay.cli.figures import FIGURES, check_figures, draw
from assay.cli.judging import (
    BASE_RATES,
    LABELS,
    NEGATIVE,
    POSITIVE,
    VOLUME,
    judging,
    one_of_them,
)
from assay.cli.progress import Progress
from assay.cli.provenance import must_not_replace, provenance
from assay.cli.reading import files, named, reading, within_memory
from assay.cli.reporting import TERMINAL, Reporting, reporting

if TYPE_CHECKING:
    from assay.evaluation import Evaluation
    from assay.sources.files import Request

RESAMPLES = 1000
RESAMPLING = ("bootstrap", "bca")
INTERVALS = (
    "wald",
    "wilson",
    "clopper-pearson",
    "jeffreys",
    "agresti-coull",
    "delta",
    *RESAMPLING,
    "delong",
    "newcombe",
)
EXAMPLES = (
    ("columns by their well-known names", "assay evaluate predictions.csv"),
    (
        "where 1 row in 1,000 is an attack, and a million come a day",
        "assay evaluate predictions.csv --base-rate 1/1000 --volume 1e6",
    ),
    (
        "named columns, families of attack, days, and rows that come in hosts",
        "assay evaluate predictions.csv --score score --family family --time time --cluster host",
    ),
    (
        "a page to open in a browser or to send on",
        "assay evaluate predictions.csv --slice protocol --out report.html",
    ),
    (
        "from a database, for other programs",
        "assay evaluate 'sqlite:flows.db?select label, score from flows' --format json",
    ),
    (
        "probabilities of several classes, and rows of one that was never learned",
        "assay evaluate classes.csv --probabilities 'p_*' --unknown botnet",
    ),
    ("from standard input", "cat predictions.csv | assay evaluate - --format markdown"),
)


@click.command(
    cls=Command,
    name="evaluate",
    examples=EXAMPLES,
    short_help="Judge a detector by a file of its predictions.",
)
@files
@reading
@POSITIVE
@NEGATIVE
@LABELS
@judging(
    "--threshold",
    type=values.number,
    metavar="T",
    help="Rows are flagged from this score on.  [default: 0.5 for scores in [0, 1]]",
)
@judging(
    "--unknown",
    metavar="LABEL",
    help="A label that the model has no probability of: its rows are judged by how they rank.",
)
@BASE_RATES
@VOLUME
@judging(
    "--interval",
    type=click.Choice(INTERVALS),
    metavar="METHOD",
    help=f"Method of the intervals: {', '.join(INTERVALS)}.  [default: by measure]",
)
@judging(
    "--resamples",
    type=click.IntRange(min=2),
    metavar="N",
    help=f"How often a bootstrap draws.  [default: {RESAMPLES}]",
)
@FIGURES
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    request: Request,
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    threshold: float | None,
    unknown: str | None,
    base_rate: tuple[float, ...],
    volume: float | None,
    interval: str | None,
    resamples: int | None,
    figures: Path | None,
    reporting: Reporting,
) -> None:
    """Judge a detector by a file of what it said and what was true.

    FILE is CSV, TSV, JSON lines, Parquet, Arrow, .npz or .npy, text also as .gz or .zst; a folder
    of them; - for standard input; or sqlite:FILE?QUERY and duckdb:FILE?QUERY. Several files are
    read as one.
    """
    one_of_them(positive, negative)
    if threshold is not None and request.decision is not None:
        raise click.UsageError("--threshold decides by the score; leave out it or --decision")
    method = _method(interval, resamples, reporting)
    reporting.check()
    must_not_replace(reporting.out, files, request)
    check_figures(figures)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), named(files):
        from assay import evaluate_files
        from assay.report import document_of

        evaluation = evaluate_files(
            files,
            request,
            positive=positive,
            negative=negative,
            labels=labels,
            threshold=threshold,
            unknown=unknown,
            base_rate=base_rate or None,
            volume=volume,
            level=reporting.level,
            interval=method,
            progress=progress,
        )
        evaluation.notes = tuple(map(as_options, evaluation.notes))
        made = provenance(context, files, request, reporting.face)
        document = document_of(evaluation, made=made)
    for line in _said(evaluation, request, reporting):
        reporting.say(line)
    draw(evaluation.plot, figures, reporting)
    reporting.deliver(document)


def _method(interval: str | None, resamples: int | None, reporting: Reporting) -> Any:
    """The interval method; one that draws gets its own object."""
    if interval not in RESAMPLING:
        if resamples is not None:
            raise click.UsageError("--resamples needs --interval bootstrap or --interval bca")
        return interval
    from assay.inference import METHODS

    return METHODS[interval](
        level=reporting.level, resamples=resamples or RESAMPLES, seed=reporting.seed
    )


def _said(evaluation: Evaluation, request: Request, reporting: Reporting) -> Iterator[str]:
    """What stands beside a report: what was guessed, and what to know before believing it."""
    for role, column in evaluation.source.get("chosen", {}).items():
        if getattr(request, role) is None:
            yield f"note: the {role} is column {column!r}, recognised by its name"
    if reporting.out is None and reporting.face == TERMINAL:
        return  # the report says the rest itself
    if evaluation.source.get("rows_refused"):
        refused, read = evaluation.source["rows_refused"], evaluation.source["rows_read"]
        yield f"note: {refused:,} of {read:,} rows were refused"
    for note in evaluation.notes:
        yield f"note: {note}"
    for finding in evaluation.findings:
        yield f"{finding.severity} {finding.code}: {finding.message}"
