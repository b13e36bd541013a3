"""``assay runs export`` and ``import``: runs to other programs, and from them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli.messages import OutputError, say
from assay.v02.cli.options import RUN_NAME, RUN_TAG, Command, Option, out_file, which_runs
from assay.v02.cli.recording import STORE, opened_store
from assay.v02.cli.reporting import (
    check_place,
    common,
    print_out,
    write,
)
from assay.errors import StoreError
from assay.v02.escaping import plural

if TYPE_CHECKING:
    from assay.v02.store.exchange import Export

TARGETS = ("json", "openmetrics", "mlflow", "junit", "card")
# Of these there is one a run.
_SINGLE = ("junit", "card")


@click.command(
    cls=Command,
    name="export",
    examples=(
        (
            "everything, for another store or a backup",
            "assay runs export --to json --out runs.jsonl",
        ),
        (
            "the last run of each name, for Prometheus",
            "assay runs export --to openmetrics --out assay.prom",
        ),
        ("a gate, for a build server", "assay runs export last-passed --to junit --out gate.xml"),
        (
            "runs with a tag into MLflow",
            "assay runs export --tag release --to mlflow --uri http://localhost:5000",
        ),
    ),
    short_help="Write runs for other programs.",
)
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option(
    "--to",
    "target",
    cls=Option,
    section="Export",
    type=click.Choice(TARGETS),
    required=True,
    help="JSON lines, which import reads back to the byte; metrics for Prometheus; MLflow; JUnit "
    "of a gate; the card of a trained model.",
)
@RUN_NAME
@RUN_TAG
@click.option(
    "--uri",
    cls=Option,
    section="Export",
    metavar="URI",
    help="Where MLflow keeps its runs.  [default: MLFLOW_TRACKING_URI]",
)
@out_file("Export")
@STORE
@common
def export_runs(
    *,
    runs: tuple[str, ...],
    target: str,
    name: str | None,
    tag: str | None,
    uri: str | None,
    out: Path | None,
    store: str | None,
    quiet: bool,
) -> None:
    """Write runs for other programs: all of them, those that filters leave, or those named.

    For Prometheus it is the last run of each name. Estimates go with the ends of their intervals.
    """
    if uri is not None and target != "mlflow":
        raise click.UsageError("--uri is where MLflow keeps runs; it goes with --to mlflow")
    if runs and (name is not None or tag is not None):
        raise click.UsageError("name runs, or filter them with --name and --tag, not both")
    if target in _SINGLE and len(runs) != 1:
        raise click.UsageError(f"--to {target} is of one run: name it, as last")
    if target == "mlflow" and out is not None:
        raise click.UsageError("--to mlflow writes into MLflow; leave out --out")
    if out is not None:
        check_place(out)
    with opened_store(store, read_only=True) as kept:
        from assay.v02.store.exchange import Export

        export = Export(())
        export.runs = (
            (kept.find(run) for run in runs)
            if runs
            else kept.every(name=name, tag=tag, damaged=export.damaged)
        )
        pieces = _pieces(export, target, uri)
        if out is not None:
            write(out, pieces)
        else:
            print_out(piece.encode() for piece in pieces)
    written = f"{export.written:,} {'run' if export.written == 1 else 'runs'}"
    if out is not None or target == "mlflow":
        destination = "MLflow" if out is None else f"{out} ({target})"
        say_unless(f"wrote {written} to {destination}", quiet=quiet)
    if export.damaged:
        raise StoreError(
            f"{len(export.damaged)} of the store's parts "
            f"{plural(len(export.damaged), 'is', 'are')} "
            f"damaged and left out: "
            f"{'; '.join(export.damaged[:5])}. Whatever else was asked for, {written}, was written"
        )


def _pieces(export: Export, target: str, uri: str | None) -> Iterator[str]:
    """What is written to a file or to standard output; nothing of it for MLflow."""
    from assay.v02.store.exchange import MlflowRefused, openmetrics, readable, to_mlflow

    if target == "json":
        yield from export
        return
    if target == "mlflow":
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # what MLflow warns of its own parts ends no export
            try:
                export.written = to_mlflow(readable(export.runs, export.damaged), uri)
            except MlflowRefused as refusal:
                raise OutputError(str(refusal)) from refusal
        return
    if target == "openmetrics":
        # The newest come last.
        last = {(run.name, run.kind): run for run in export.runs}
        newest = sorted(last.values(), key=lambda run: (run.made, run.seq), reverse=True)
        runs = tuple(readable(newest, export.damaged))
        export.written = len(runs)
        yield openmetrics(runs)
        return
    from assay.v02.report import draw
    from assay.v02.store.reports import drawn_again

    for run in export.runs:
        export.written += 1
        yield draw(drawn_again(run), target)


@click.command(
    cls=Command,
    name="import",
    examples=(
        (
            "what export --to json wrote; runs that are there already stay",
            "assay runs import runs.jsonl",
        ),
        ("the metrics of MLflow's runs", "assay runs import mlruns"),
        ("the same from its database, under one name", "assay runs import mlflow.db --name flows"),
    ),
    short_help="Read runs from an export or from MLflow.",
)
@click.argument("place", metavar="FILE|FOLDER")
@which_runs(
    "--name",
    metavar="NAME",
    help="Of MLflow's runs: record them under this name.  [default: their experiment]",
)
@STORE
@common
def import_runs(*, place: str, name: str | None, store: str | None, quiet: bool) -> None:
    """Read runs into the store: an export of assay (- for standard input), or MLflow's metrics.

    Runs keep their ids, so that one which is there already is left as it is.
    """
    from assay.v02.sources.files.inputs import STDIN_NAME, standard_input
    from assay.v02.store.exchange import export_lines, from_export, from_mlflow, imported

    path = Path(place)
    if place != "-" and not path.exists():
        raise StoreError(f"there is no file or folder {place}")
    mlflow = place != "-" and (path.is_dir() or _is_database(path))
    if name is not None and not mlflow:
        raise click.UsageError("--name is of MLflow's runs; an export tells its own names")
    # Read before the store is opened, which makes one where there is none.
    if mlflow:
        runs = from_mlflow(path, name=name)
    elif place == "-":
        runs = from_export(export_lines(standard_input(), STDIN_NAME), STDIN_NAME)
    else:
        with path.open("rb") as file:
            runs = from_export(export_lines(file, place), place)
    with opened_store(store, read_only=False) as kept:
        added, already_kept = imported(kept, runs)
    kept_note = f"; {already_kept:,} were there already" if already_kept else ""
    say_unless(
        f"read {added:,} {'run' if added == 1 else 'runs'} from {place}{kept_note}", quiet=quiet
    )


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def say_unless(text: str, *, quiet: bool) -> None:
    """A line on standard error, unless quiet was asked for."""
    if not quiet:
        say(text)
