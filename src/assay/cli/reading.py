"""The options that say which columns to read and how: a command gets them as one request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from assay.cli import interruption, values
from assay.cli.command import Option
from assay.cli.errors import INPUT
from assay.cli.progress import Progress
from assay.errors import InputError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from assay.learn.data import Data
    from assay.sources.files import Request


Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], Function]

# The options that say how a file is written.
TEXT_OPTIONS = ("input_format", "encoding", "delimiter", "decimal", "header", "sheet")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "npz", "npy", "xlsx")

_column = partial(click.option, cls=Option, section="Columns", metavar="COL")
_file = partial(click.option, cls=Option, section="Files and rows")


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:  # noqa: ARG001
    """The shell knows files best."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


files = click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", shell_complete=_complete
)

files_or_none = click.argument("files", nargs=-1, metavar="[FILE...]", shell_complete=_complete)

_OPTIONS: dict[str, Decorator] = {
    "label": _column("--label", help="What was true. Recognised by name where it is well known."),
    "score": _column("--score", help="A ranking number; higher is more suspicious."),
    "decision": _column("--decision", help="What the model decided."),
    "probabilities": _column(
        "--probability",
        "probabilities",
        type=values.label_and_column,
        multiple=True,
        metavar="LABEL=COL",
        help="The probability of one class; once for each class.",
    ),
    "probability_pattern": _column(
        "--probabilities",
        "probability_pattern",
        type=values.pattern,
        metavar="PATTERN",
        help="All of them at once, as p_*, where the star stands for the label.",
    ),
    "slices": _column(
        "--slice", "slices", multiple=True, help="Judge each value of it; may be repeated."
    ),
    "family": _column("--family", help="The kind of attack: detection rate of each."),
    "time": _column("--time", help="When it happened: judged over time."),
    "count": _column("--count", help="How many equal rows a row stands for (a whole number)."),
    "weight": _column("--weight", help="Sampling weight of a row."),
    "strata": _column(
        "--strata", help="What rows were drawn by, as assay sample does; with --weight."
    ),
    "cluster": _column("--cluster", help="Rows of one host or campaign are not independent."),
    "incident": _column("--incident", help="The incident of a row: a finding warns of its rows."),
    "input_format": _file(
        "--input-format",
        type=click.Choice(FORMATS),
        help="The format of the input, where its name and first bytes don't tell.",
    ),
    "encoding": _file(
        "--encoding",
        type=values.encoding,
        metavar="NAME",
        help="Of text files that are not UTF-8, as cp1252.",
    ),
    "delimiter": _file(
        "--delimiter",
        type=values.delimiter,
        metavar="C",
        help="Of text files, where it is not a comma or tab.",
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
        type=values.size,
        metavar="SIZE",
        help="Stop before more memory is used, as 2GB.  [default: half of the machine]",
    ),
}


def reading(command: Function) -> Function:
    """Give a command the options of columns and files, as the argument ``request``."""
    return _given(command, tuple(_OPTIONS))


def reading_only(*names: str) -> Decorator:
    """The same with some of the options: those of these names."""
    return lambda command: _given(command, names)


def _given(command: Function, names: Sequence[str]) -> Function:
    @wraps(command)
    def with_request(**given: Any) -> Any:
        return command(request=_request({name: given.pop(name) for name in names}), **given)

    found: Function = with_request
    for name in reversed(names):
        found = _OPTIONS[name](found)
    return found


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
    from assay.sources.files import Request

    given["probabilities"] = dict(probabilities)
    given["unlabelled"] = given.get("unlabelled") == "allow"
    return Request(**given)


def within_memory(request: Request) -> AbstractContextManager[None]:
    """A context in which the process ends, with a message, before it takes too much memory."""
    from assay.sources.files.memory import default_limit, memory_limit

    limit = request.max_memory or default_limit()

    def stop(used: int) -> None:
        interruption.end(
            INPUT,
            f"assay: error: {used / 1e6:,.0f} MB of memory were in use, and {limit / 1e6:,.0f} MB "
            f"are allowed. Raise --max-memory, name fewer columns, or split the input",
        )

    return memory_limit(limit, stop)


@contextmanager
def named(files: Sequence[str], others: Sequence[str] = ()) -> Iterator[None]:
    """Errors in here tell of which input they speak: of ``files``, where it is not of others."""
    try:
        yield
    except InputError as error:
        from assay.sources.files.inputs import without_query

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
        "sheet": request.sheet,
        "on_bad_row": request.on_bad_row,
        "glob": request.glob,
        "max_memory": request.max_memory,
        "progress": progress,
    }


def read_part(inputs: str | Sequence[str], reading: dict[str, Any], said: dict[str, Any]) -> Data:
    """One part; ``said`` tells which labels there are, or the part that it has to be like."""
    from assay.learn.data import read_data

    return read_data(inputs, **reading, **said)
