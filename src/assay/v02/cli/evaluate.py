"""``assay evaluate``: how good a detector is, from a file of its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli.messages import Progress, as_options
from assay.v02.cli.options import (
    BASE_RATES,
    LABELS,
    MODE,
    NEGATIVE,
    POSITIVE,
    THRESHOLD,
    VOLUME,
    Command,
    costs,
    judging,
    must_name_one_side,
)
from assay.v02.cli.reading import (
    CELLS,
    FILES_OR_NONE,
    MATRIX,
    ORIENTATION,
    GivenCounts,
    given_counts,
    naming_inputs,
    reading,
    with_labels,
    within_memory,
)
from assay.v02.cli.recording import ID, kept_rows, must_keep_rows, recording
from assay.v02.cli.reporting import (
    FIGURES,
    ProvenanceBuilder,
    Reporting,
    check_figures,
    draw_figures,
    must_not_replace,
    reporting,
)

if TYPE_CHECKING:
    from assay.v02.evaluation import Evaluation
    from assay.v02.sources.files import Request

PERIODS = ("day", "week", "month")
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
    "fay-feuer",
    "tiwari",
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
        "what errors cost where a missed attack is as bad as 50 false alarms",
        "assay evaluate predictions.csv --cost-fp 1 --cost-fn 50 --base-rate 1/1000",
    ),
    (
        "how it decays month by month, and what the 50 highest scores of each day bring",
        "assay evaluate predictions.csv --time time --period month --top 50",
    ),
    (
        "kept, with its rows, so that the next one can be compared with it",
        "assay evaluate predictions.csv --record flows --keep-rows",
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
    (
        "from the four counts of a paper",
        "assay evaluate --cells tp=6635,fp=167,fn=324,tn=7743 --labels normal,attack",
    ),
    (
        "a matrix whose rows are the decisions",
        "assay evaluate --matrix '45,4,1;3,38,2;2,3,52' --orientation predicted-rows",
    ),
)


@click.command(
    cls=Command,
    name="evaluate",
    examples=EXAMPLES,
    short_help="Judge a detector by a file of its predictions.",
)
@FILES_OR_NONE
@reading
@CELLS
@MATRIX
@ORIENTATION
@POSITIVE
@NEGATIVE
@LABELS
@THRESHOLD
@judging(
    "--unknown",
    metavar="LABEL",
    help="A label that the model has no probability of: its rows are judged by how they rank.",
)
@BASE_RATES
@VOLUME
@costs("Judging")
@judging(
    "--period",
    type=click.Choice(PERIODS),
    metavar="PERIOD",
    help="Follow measures over the --time by day, week or month.  [default: day]",
)
@judging(
    "--top",
    type=click.IntRange(min=1),
    metavar="K",
    help="Judge the K highest scores of each day; needs --time or --volume.",
)
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
@MODE
@FIGURES
@ID
@recording(rows=True)
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    id_column: str | None,
    cells: str | None,
    matrix: str | None,
    orientation: str | None,
    request: Request,
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    threshold: float | None,
    unknown: str | None,
    base_rate: tuple[float, ...],
    volume: float | None,
    cost_fp: float | None,
    cost_fn: float | None,
    period: str | None,
    top: int | None,
    mode: str,
    interval: str | None,
    resamples: int | None,
    figures: Path | None,
    reporting: Reporting,
) -> None:
    """Judge a detector by a file of what it said and what was true.

    FILE is CSV, TSV, JSON, Parquet, Arrow, .npz, .npy or .xlsx, text also packed; a folder of them;
    - for standard input; or a query on a database, which counts the rows:
    sqlite:FILE?QUERY, duckdb:FILE?QUERY, postgresql://HOST/DATABASE?QUERY, spark:TABLE or
    spark:QUERY. Several files are read as one. Where only counts are known, --cells or --matrix
    stands in place of FILE.
    """
    must_name_one_side(positive, negative)
    if (cost_fp is None) != (cost_fn is None):
        raise click.UsageError("--cost-fp and --cost-fn go together")
    counts = given_counts(context, files, cells=cells, matrix=matrix, orientation=orientation)
    if threshold is not None and request.decision is not None:
        raise click.UsageError("--threshold decides by the score; leave out it or --decision")
    if period is not None and request.time is None:
        raise click.UsageError("--period groups rows by when they happened: name it, --time")
    if top is not None and request.time is None and volume is None:
        raise click.UsageError(
            "--top reads the highest scores of each day: name the column of times, --time, or say "
            "how many rows a day has, --volume"
        )
    method = _method(interval, resamples, reporting)
    reporting.check()
    must_keep_rows(reporting.recording, files, request, id_column)
    inputs = files if counts is None else counts.files
    must_not_replace(reporting.out, inputs, request)
    check_figures(figures)
    judged = {
        "base_rate": base_rate or None,
        "volume": volume,
        "cost_fp": cost_fp,
        "cost_fn": cost_fn,
        "level": reporting.level,
        "interval": method,
    }
    making = ProvenanceBuilder(context, inputs, request, reporting)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), naming_inputs(inputs):
        from assay.v02 import evaluate_files

        if counts is not None:
            labelled = with_labels(counts, labels=labels, positive=positive, negative=negative)
            evaluation = _of_counts(counts, labelled | judged)
        else:
            evaluation = evaluate_files(
                files,
                request,
                positive=positive,
                negative=negative,
                labels=labels,
                threshold=threshold,
                unknown=unknown,
                period=period,
                top=top,
                mode=mode,
                progress=progress,
                **judged,
            )
        evaluation.notes = tuple(map(as_options, evaluation.notes))
        document = making.document(evaluation)
    reporting.say_beside(evaluation.source, evaluation.notes, evaluation.findings, request)
    draw_figures(evaluation.plot, figures, reporting)
    reporting.deliver(
        document,
        tally=evaluation.tally,
        rows=lambda: kept_rows(files, request, id_column, evaluation.positive, evaluation.source),
    )


def _of_counts(counts: GivenCounts, arguments: dict[str, Any]) -> Evaluation:
    """The evaluation of counts, under the name that they have here."""
    from assay.v02 import evaluate_counts

    evaluation = evaluate_counts(**arguments)
    evaluation.source["name"] = counts.name
    return evaluation


def _method(interval: str | None, resamples: int | None, reporting: Reporting) -> Any:
    """The interval method; one that draws gets its own object."""
    if interval not in RESAMPLING:
        if resamples is not None:
            raise click.UsageError("--resamples needs --interval bootstrap or --interval bca")
        return interval
    from assay.v02.inference import METHODS

    return METHODS[interval](
        level=reporting.level, resamples=resamples or RESAMPLES, seed=reporting.seed
    )
