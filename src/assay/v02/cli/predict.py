"""``assay predict``: what a saved model says of new rows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli import options
from assay.v02.cli.messages import Progress, must_be_installed, say
from assay.v02.cli.options import Command, Option
from assay.v02.cli.outputs import CSV, TSV, harmless, table_options, target, write_table
from assay.v02.cli.reading import TEXT_OPTIONS, naming_inputs, reading_only, within_memory
from assay.v02.cli.reporting import changed_inputs, common, must_not_replace
from assay.v02.escaping import plural

if TYPE_CHECKING:
    import polars as pl

    from assay.v02.learn.predicting import Predictions
    from assay.v02.sources.files import Request

EXAMPLES = (
    ("scores of new rows, on standard output", "assay predict run/model.skops new.csv"),
    ("from the folder that assay train left, into a file", "assay predict run new.csv --out p.csv"),
    (
        "with a column of ids and the labels, to be judged",
        "assay predict run new.csv --id flow --keep label --out p.parquet",
    ),
    (
        "a model of your own types",
        "assay predict run new.csv --trust mypackage.models.MyClassifier",
    ),
)
_LISTED = 5

_writing = partial(click.option, cls=Option, section="Predictions")


def _trusted_type(text: str) -> str:
    """The full name of a type, none that no model needs."""
    from assay.errors import InputError
    from assay.v02.learn.model_trust import must_be_trustworthy

    try:
        must_be_trustworthy((text,))
    except InputError as error:
        raise click.BadParameter(str(error).removeprefix("--trust ")) from None
    return text


@click.command(
    cls=Command,
    name="predict",
    examples=EXAMPLES,
    short_help="Score new rows with a saved model.",
)
@click.argument("model", type=options.InputPath())
@click.argument("files", nargs=-1, required=True, metavar="DATA...")
@reading_only(*TEXT_OPTIONS, "glob", "on_bad_row", "max_memory")
@_writing(
    "--id",
    "id_",
    metavar="COL",
    help="Write this column in place of the number of the row.",
)
@_writing("--keep", multiple=True, metavar="COL", help="Write this column too; may be repeated.")
@_writing(
    "--threshold",
    type=options.number,
    metavar="T",
    help="Flag rows from this score on.  [default: that of the model]",
)
@_writing(
    "--trust",
    multiple=True,
    type=_trusted_type,
    metavar="TYPE",
    help="A type of your own that the model may hold; its code will run. May be repeated.",
)
@table_options("Predictions")
@common
def command(
    *,
    model: Path,
    files: tuple[str, ...],
    request: Request,
    id_: str | None,
    keep: tuple[str, ...],
    threshold: float | None,
    trust: tuple[str, ...],
    face: str | None,
    out: Path | None,
    quiet: bool,
) -> None:
    """Score new rows with a model that assay train saved.

    MODEL is a model.skops, or the folder it is in. DATA are files as assay evaluate reads them,
    with the columns that the model learned from, in any order. Written are the number of the row,
    the score and the decision; for more than two labels one probability each, p_LABEL.
    """
    must_be_installed("predict", extra="learn")
    to = target(out, face)
    to.check()
    must_not_replace(to.path, files, request)
    # The folder that train left counts as the model in it, as it does for load_model.
    from assay.v02.learn.persistence import MODEL, load_model

    read = model / MODEL if model.is_dir() else model
    if to.path is not None and to.path.is_file() and read.is_file() and to.path.samefile(read):
        raise click.UsageError(f"--out {out} is the model, which it would replace")

    def tell(text: str) -> None:
        if not quiet:
            say(text)

    from assay.v02.sources.files import Hashing

    hashing = Hashing(files, request, hashes=False)
    with Progress(quiet=quiet) as progress, within_memory(request):
        from assay.v02.learn.predicting import Wanted, input_notes, predict

        loaded = load_model(model, trust=trust)
        for note in loaded.notes:
            tell(f"note: {note}")
        for name in _learned_from(read, files):
            tell(
                f"warning: {name} is what the model learned from: how it does on these rows says "
                f"nothing of new ones"
            )
        with naming_inputs(files):
            outputs = Wanted(id_, keep, threshold)
            for note in input_notes(loaded, files, outputs, request):
                tell(f"note: {note}")
            predictions = predict(loaded, files, outputs, request=request, progress=progress)
            decided: Counter[str] = Counter(dict.fromkeys(predictions.labels, 0))
            frames = _counting_decisions(predictions, decided)
            write_table(map(harmless, frames) if to.format in (CSV, TSV) else frames, to)
    hashing.inputs()
    for note in changed_inputs(hashing, "the predictions are"):
        tell(f"warning: {note}")
    for line in _summary(predictions, decided, to.path):
        tell(line)


def _learned_from(model: Path, files: tuple[str, ...]) -> Iterator[str]:
    """The files that the run beside a model names as its own, byte by byte."""
    from assay.v02.learn.run import RUN

    try:
        run = json.loads((model.parent / RUN).read_text("utf-8"))
        inputs = {(each["bytes"], each["sha256"]) for each in run["inputs"]}
    except (OSError, ValueError, LookupError, TypeError):
        return
    sizes = {size for size, _ in inputs}
    for name in files:
        path = Path(name)
        if path.is_file() and path.stat().st_size in sizes:
            with path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            if (path.stat().st_size, digest) in inputs:
                yield name


def _counting_decisions(predictions: Predictions, decided: Counter[str]) -> Iterator[pl.DataFrame]:
    """The frames, while their decisions are counted."""
    for frame in predictions:
        for label, count in frame["decision"].value_counts().iter_rows():
            decided[label] += count
        yield frame


def _summary(predictions: Predictions, decided: Counter[str], out: Path | None) -> Iterator[str]:
    """What stands beside the rows."""
    from assay.v02.number_text import threshold_text
    from assay.v02.sources.files.request import where

    refused = predictions.rows_refused
    if refused:
        yield (
            f"note: {refused:,} of {predictions.rows + refused:,} rows "
            f"{plural(refused, 'was', 'were')} refused"
        )
        for row in predictions.refused[:_LISTED]:
            yield f"  {where(row)}: {row.reason}"
    counts = ", ".join(f"{count:,} {label!r}" for label, count in decided.most_common(_LISTED))
    more = len(predictions.labels) - _LISTED
    counts += f" and {more} more {plural(more, 'label', 'labels')}" if more > 0 else ""
    cut = predictions.threshold
    at = "" if cut is None else f" (threshold {threshold_text(cut)})"
    wrote = "" if out is None else f"wrote {out}: "
    yield (
        f"{wrote}{predictions.rows:,} {plural(predictions.rows, 'row', 'rows')}, decided "
        f"{counts}{at}"
    )
