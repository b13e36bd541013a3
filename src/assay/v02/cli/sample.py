"""``assay sample``: which rows to label."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli import options
from assay.v02.cli.messages import Progress
from assay.v02.cli.options import Command, FilePath, Option
from assay.v02.cli.outputs import CSV, TABLE_FORMATS, TSV, harmless, target, write_table
from assay.v02.cli.reading import FILES, TEXT_OPTIONS, naming_inputs, reading_only, within_memory
from assay.v02.cli.recording import Recording, recording
from assay.v02.cli.reporting import (
    FACE,
    QUIET,
    SEED,
    TERMINAL,
    UNUSED_LEVEL,
    ProvenanceBuilder,
    Reporting,
    must_not_replace,
)
from assay.v02.escaping import plural

if TYPE_CHECKING:
    from assay.v02.sources.files import Request

ALLOCATIONS = ("sqrt", "optimal", "proportional", "equal")
EXAMPLES = (
    (
        "2,000 rows to label; later: assay evaluate to-label.csv --weight weight --strata stratum",
        "assay sample flows.csv --score score --labels 2000 --out to-label.csv",
    ),
    (
        "the same rows whatever their order, all alerts among them",
        "assay sample flows.csv --score score --labels 2000 --id flow --alerts all --out rows.csv",
    ),
    (
        "scores that are chances of an attack",
        "assay sample flows.csv --score score --labels 2000 --allocation optimal --out a.parquet",
    ),
)

_drawing = partial(click.option, cls=Option, section="Sample")


def _share_of_alerts(text: str) -> float | str:
    return text if text == "all" else options.share(text)


@click.command(
    cls=Command,
    name="sample",
    examples=EXAMPLES,
    short_help="Which rows to label, and with which weights.",
)
@FILES
@reading_only("score", *TEXT_OPTIONS, "glob", "on_bad_row", "max_memory")
@_drawing("--labels", type=click.IntRange(min=2), required=True, metavar="N", help="How many rows.")
@_drawing(
    "--strata",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    metavar="N",
    help="How many ranges of scores to draw from, at most.",
)
@_drawing(
    "--threshold",
    type=options.number,
    metavar="T",
    help="Rows from this score on are alerts, a stratum of their own.  "
    "[default: 0.5 for scores in [0, 1]]",
)
@_drawing(
    "--alerts",
    type=_share_of_alerts,
    metavar="all|SHARE",
    help="How many of the alerts to label.  [default: as many as 3 labels in 10 reach]",
)
@_drawing(
    "--allocation",
    type=click.Choice(ALLOCATIONS),
    default="sqrt",
    show_default=True,
    help="How the other strata share the labels: by the root of their rows, as if scores were "
    "chances, by their rows, or equally.",
)
@_drawing(
    "--id",
    "id_column",
    metavar="COL",
    help="What names a row: the same rows are drawn in whatever order they come.",
)
@_drawing(
    "--out",
    "-o",
    type=FilePath(),
    required=True,
    metavar="FILE",
    help=f"Write the rows to label to this file; its suffix is one of {', '.join(TABLE_FORMATS)}.",
)
@recording()
@FACE
@UNUSED_LEVEL
@SEED
@QUIET
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    request: Request,
    labels: int,
    strata: int,
    threshold: float | None,
    alerts: float | str | None,
    allocation: str,
    id_column: str | None,
    out: Path,
    recording: Recording | None,
    face: str | None,
    seed: int,
    quiet: bool,
) -> None:
    """Draw the rows that are worth a label, so that few labels tell much about rare attacks.

    Rows are drawn by strata of their score, with seed and without labels. The file holds them with
    all their columns, and besides the stratum, and the weight, which is how many rows each stands
    for. Label them all; then: assay evaluate to-label.csv --weight weight --strata stratum.
    Standard output tells the strata.
    """
    if request.score is None:
        raise click.UsageError("--score is missing, the column of scores that rows are drawn by")
    reporting = Reporting(face or TERMINAL, None, 0.95, seed, quiet, recording or Recording())
    to = target(out, None)
    to.check()
    if to.path is None:
        raise click.UsageError("the rows go to a file, since the strata go to standard output")
    reporting.check()
    must_not_replace(to.path, files, request)
    making = ProvenanceBuilder(context, files, request, reporting)
    with Progress(quiet=quiet) as progress, within_memory(request), naming_inputs(files):
        from assay.v02.decisions.sample import SampleRequest, sample_files

        wanted = SampleRequest(
            request.score, labels, strata, threshold, alerts, allocation, seed, id_column
        )
        sample = sample_files(files, wanted, request, progress=progress)
        document = making.document(sample)
    frame = harmless(sample.frame) if to.format in (CSV, TSV) else sample.frame
    write_table(iter((frame,)), to)
    reporting.say(f"wrote {out}: {sample.labels:,} {plural(sample.labels, 'row', 'rows')} to label")
    reporting.deliver(document)
