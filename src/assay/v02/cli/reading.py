"""What a command judges: columns of files, which it gets as one request, or a confusion matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from assay.v02.cli import interruption, options
from assay.v02.cli.messages import INPUT, Progress
from assay.v02.cli.options import Decorator, Function, Option, column_option
from assay.errors import InputError
from assay.v02.number_text import megabytes

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from assay.v02.learn.data import Data
    from assay.v02.sources.files import Request


# The options that say how a file is written.
TEXT_OPTIONS = (
    *("input_format", "encoding", "delimiter", "quote", "decimal", "header", "skip_lines"),
    "sheet",
)
INPUT_FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "npz", "npy", "xlsx")

_file = partial(click.option, cls=Option, section="Files and rows")


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:  # noqa: ARG001
    """The shell knows files best."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


FILES = click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", shell_complete=_complete
)

FILES_OR_NONE = click.argument("files", nargs=-1, metavar="[FILE...]", shell_complete=_complete)

_OPTIONS: dict[str, Decorator] = {
    "label": column_option(
        "--label", help="What was true. Recognised by name where it is well known."
    ),
    "score": column_option("--score", help="A ranking number; higher is more suspicious."),
    "decision": column_option("--decision", help="What the model decided."),
    "probabilities": column_option(
        "--probability",
        "probabilities",
        type=options.label_and_column,
        multiple=True,
        metavar="LABEL=COL",
        help="The probability of one class; once for each class.",
    ),
    "probability_pattern": column_option(
        "--probabilities",
        "probability_pattern",
        type=options.pattern,
        metavar="PATTERN",
        help="All of them at once, as p_*, where the star stands for the label.",
    ),
    "slices": column_option(
        "--slice", "slices", multiple=True, help="Judge each value of it; may be repeated."
    ),
    "family": column_option("--family", help="The kind of attack: detection rate of each."),
    "time": column_option("--time", help="When it happened: judged over time."),
    "count": column_option(
        "--count", help="How many equal rows a row stands for (a whole number)."
    ),
    "weight": column_option("--weight", help="Sampling weight of a row."),
    "strata": column_option(
        "--strata", help="What rows were drawn by, as assay sample does; with --weight."
    ),
    "cluster": column_option("--cluster", help="Rows of one host or campaign are not independent."),
    "incident": column_option(
        "--incident", help="The incident of a row: a finding warns of its rows."
    ),
    "input_format": _file(
        "--input-format",
        type=click.Choice(INPUT_FORMATS),
        help="The format of the input, where its name and first bytes don't tell.",
    ),
    "encoding": _file(
        "--encoding",
        type=options.encoding,
        metavar="NAME",
        help="Of text files that are not UTF-8, as cp1252.",
    ),
    "delimiter": _file(
        "--delimiter",
        type=options.delimiter,
        metavar="C",
        help="Of text files, where it is not a comma or tab.",
    ),
    "quote": _file(
        "--quote",
        type=options.quote,
        default='"',
        show_default=True,
        metavar="C|none",
        help="The sign around fields of delimited text.",
    ),
    "decimal": _file(
        "--decimal",
        type=click.Choice((".", ",")),
        default=".",
        show_default=True,
        help="The sign before the fractions of numbers in delimited text.",
    ),
    "header": _file(
        "--no-header",
        "header",
        is_flag=True,
        flag_value=False,
        default=True,
        help="The first line is a row already: the columns are column_1, column_2, ...",
    ),
    "skip_lines": _file(
        "--skip-lines",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Leave out so many lines before the header of each delimited text, as a title.",
    ),
    "sheet": _file("--sheet", metavar="NAME", help="Which sheet of a workbook is meant."),
    "glob": _file("--glob", is_flag=True, help="Read FILE as a pattern such as 'day-*.csv'."),
    "on_bad_row": _file(
        "--on-bad-row",
        type=click.Choice(("stop", "skip")),
        default="stop",
        show_default=True,
        help="Stop at a row that can't be used, or leave it out and list it.",
    ),
    "unlabelled": _file(
        "--unlabelled",
        type=click.Choice(("refuse", "allow")),
        default="refuse",
        show_default=True,
        help="Allow rows without a label, as when only alerts were looked at.",
    ),
    "max_memory": _file(
        "--max-memory",
        type=options.size,
        metavar="SIZE",
        help="Stop before more memory is used, as 2GB.  [default: half of the machine]",
    ),
}


def reading(command: Function) -> Function:
    """Give a command the options of columns and files, as the argument ``request``."""
    return _given_options(command, tuple(_OPTIONS))


def reading_only(*names: str) -> Decorator:
    """The same with some of the options: those of these names."""
    return lambda command: _given_options(command, names)


def _given_options(command: Function, names: Sequence[str]) -> Function:
    @wraps(command)
    def with_request(**given: Any) -> Any:
        return command(request=_request({name: given.pop(name) for name in names}), **given)

    with_options: Function = with_request
    for name in reversed(names):
        with_options = _OPTIONS[name](with_options)
    return with_options


def _request(given: dict[str, Any]) -> Request:
    """What was asked for, where it makes sense."""
    probabilities = given.get("probabilities", ())
    pattern = given.get("probability_pattern")
    if probabilities and pattern:
        raise click.UsageError("give --probability or --probabilities, not both")
    if len(dict(probabilities)) < len(probabilities):
        raise click.UsageError("--probability names the same label twice")
    if given.get("score") is not None and (probabilities or pattern):
        raise click.UsageError("give --score or probabilities, not both")
    if given.get("count") is not None and given.get("weight") is not None:
        raise click.UsageError("give --count or --weight, not both")
    from assay.v02.sources.files import Request

    given["probabilities"] = dict(probabilities)
    given["unlabelled"] = given.get("unlabelled") == "allow"
    return Request(**given)


def within_memory(request: Request) -> AbstractContextManager[None]:
    """A context in which the process ends, with a message, before it takes too much memory."""
    from assay.v02.sources.files.request import default_limit, memory_limit, used

    if request.max_memory is not None:
        import polars as pl  # noqa: F401 - reading needs it, and it takes memory of its own
    limit, before = request.max_memory or default_limit(), used()

    def stop(now: int) -> None:
        interruption.end(
            INPUT,
            f"assay: error: {megabytes(now)} of memory were in use, and {megabytes(limit)} "
            f"are allowed; {megabytes(before)} are needed before any row is read. Raise "
            f"--max-memory, name fewer columns, or split the input",
        )

    return memory_limit(limit, stop)


@contextmanager
def naming_inputs(files: Sequence[str], others: Sequence[str] = ()) -> Iterator[None]:
    """Errors in here tell of which input they speak: of ``files``, where it is not of others."""
    try:
        yield
    except InputError as error:
        from assay.v02.sources.files.inputs import without_query

        names = ["standard input" if f == "-" else without_query(f) for f in files if f]
        if not names or any(_names(str(error), name) for name in [*names, *others]):
            raise
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise type(error)(f"{', '.join(names[:3])}{more}: {error}") from error


def _names(message: str, name: str) -> bool:
    """Whether a message names an input; the readers cut long ones, queries above all."""
    path = PurePath(name.partition("?")[0].rpartition(":")[2])
    return name[:50] in message or path.name in message


def reading_of(
    request: Request,
    progress: Progress,
    *,
    label: str,
    text: str | None,
    drop: tuple[str, ...],
    keep: Sequence[str | None],
) -> dict[str, Any]:
    """How all parts are read; ``keep`` are columns that are no features, where they were named."""
    return {
        "label": label,
        "text": text,
        "drop": drop,
        "keep": tuple(dict.fromkeys(column for column in keep if column is not None)),
        "family": request.family,
        "time": request.time,
        "input_format": request.input_format,
        "encoding": request.encoding,
        "delimiter": request.delimiter,
        "decimal": request.decimal,
        "header": request.header,
        "quote": request.quote,
        "skip_lines": request.skip_lines,
        "sheet": request.sheet,
        "on_bad_row": request.on_bad_row,
        "glob": request.glob,
        "max_memory": request.max_memory,
        "progress": progress,
    }


def read_part(
    inputs: str | Sequence[str], reading: dict[str, Any], labelling: dict[str, Any]
) -> Data:
    """One part; ``labelling`` tells which labels there are, or the part that it has to be like."""
    from assay.v02.learn.data import read_data

    return read_data(inputs, **reading, **labelling)


# -- a confusion matrix in place of files ----------------------------------------------------------

ORIENTATIONS = ("truth-rows", "predicted-rows")
_counts_option = partial(click.option, cls=Option, section="Counts in place of files")

CELLS: Decorator = _counts_option(
    "--cells",
    metavar="tp=N,fp=N,fn=N,tn=N",
    help="Judge these four counts. --labels names their classes, the negative first.",
)
MATRIX: Decorator = _counts_option(
    "--matrix",
    metavar="ROWS|FILE",
    help="Judge a confusion matrix: rows as 45,3,2;4,38,3;1,2,52 or as JSON, or a CSV or JSON file "
    "of them. --labels names its classes, in its order.",
)
ORIENTATION: Decorator = _counts_option(
    "--orientation",
    type=click.Choice(ORIENTATIONS),
    help=f"What the rows of the matrix are: the truth, or the decisions.  "
    f"[default: {ORIENTATIONS[0]}]",
)
# What speaks of rows, which counts don't have.
_OF_ROWS = ("Columns", "Files and rows")
# What judges rows or scores among the options of judging.
_JUDGING_ROWS = frozenset({"threshold", "unknown", "period", "top", "mode"})
# Intervals of areas alone.
_OF_SCORES = ("delong", "newcombe")


@dataclass(frozen=True)
class GivenCounts:
    """Counts that stand on the command line or in a small file.

    ``arguments`` are those of :func:`assay.evaluate_counts`; ``name`` is what the report calls
    them, ``files`` where they were read from.
    """

    name: str
    arguments: dict[str, Any]
    files: tuple[str, ...] = ()


def given_counts(
    context: click.Context,
    files: Sequence[str],
    *,
    cells: str | None,
    matrix: str | None,
    orientation: str | None,
) -> GivenCounts | None:
    """The counts that were given in place of files; None where files were."""
    if cells is not None and matrix is not None:
        raise click.UsageError("give --cells or --matrix, not both")
    if matrix is None and orientation is not None:
        raise click.UsageError("--orientation says what the rows of --matrix are; give it with one")
    if matrix is not None:
        _must_stand_alone(context, "--matrix", files)
        return _of_matrix(matrix, orientation)
    if cells is not None:
        _must_stand_alone(context, "--cells", files)
        return _of_cells(cells)
    if not files:
        raise click.UsageError("missing FILE; or give counts with --cells or --matrix")
    return None


def _of_cells(cells: str) -> GivenCounts:
    from assay.v02.sources.files.summary_tables import cells_of

    try:
        return GivenCounts("cells", dict(cells_of(cells)))
    except InputError as error:
        raise click.UsageError(f"--cells: {error}") from error


def _of_matrix(matrix: str, orientation: str | None) -> GivenCounts:
    from assay.v02.sources.files.summary_tables import is_typed, matrix_of, read_matrix

    if not matrix.strip():
        raise click.UsageError("--matrix is empty; expected rows of counts, or a file of them")
    typed = is_typed(matrix)
    try:
        table = matrix_of(matrix) if typed else read_matrix(matrix)
    except InputError as error:
        if typed:
            raise click.UsageError(f"--matrix: {error}") from error
        raise
    if orientation is not None and table.orientation not in (None, orientation):
        raise InputError(
            f"{matrix} says that its orientation is {table.orientation}, and --orientation says "
            f"{orientation}; leave one of them out"
        )
    arguments = {
        "matrix": table.rows,
        "orientation": orientation or table.orientation,
        "labels": table.labels,
        "positive": table.positive,
    }
    return GivenCounts(
        "matrix" if typed or matrix == "-" else matrix, arguments, () if typed else (matrix,)
    )


def with_labels(
    counts: GivenCounts,
    *,
    labels: tuple[str, ...] | None,
    positive: str | None,
    negative: str | None,
) -> dict[str, Any]:
    """The arguments with what the command line says of labels; it may not differ from the file."""
    names = counts.arguments.get("labels")
    if labels is not None and names is not None and tuple(names) != labels:
        raise InputError(
            f"{counts.name} names its classes {', '.join(names)}, and --labels says "
            f"{', '.join(labels)}; leave out --labels, or the names in the file"
        )
    arguments = {**counts.arguments, "labels": labels or names}
    if positive is not None or negative is not None:
        arguments["positive"] = positive
    return {**arguments, "negative": negative}


def _must_stand_alone(context: click.Context, option: str, files: Sequence[str]) -> None:
    """Refuse files beside counts, and what speaks of rows or scores, which counts don't have."""
    if files:
        raise click.UsageError(f"{option} stands in place of FILE; leave out it or {files[0]}")
    if context.params.get("interval") in _OF_SCORES:
        raise click.UsageError(
            f"--interval {context.params['interval']} is of scores, and {option} gives counts; "
            f"leave it out, or choose another"
        )
    for param in context.command.get_params(context):
        of_rows = getattr(param, "section", None) in _OF_ROWS or param.name in _JUDGING_ROWS
        source = context.get_parameter_source(param.name or "")
        if of_rows and source not in (None, ParameterSource.DEFAULT):
            raise click.UsageError(
                f"{param.opts[0]} needs rows, and {option} gives counts; leave out {param.opts[0]}"
            )
