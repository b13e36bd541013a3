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
from assay.errors import InputError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from assay.sources.files import Request

Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], Function]

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "npz", "npy")

_column = partial(click.option, cls=Option, section="Columns", metavar="COL")
_file = partial(click.option, cls=Option, section="Files and rows")


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:  # noqa: ARG001
    """The shell knows files best."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


files = click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", shell_complete=_complete
)

_OPTIONS: tuple[Decorator, ...] = (
    _column("--label", help="What was true. Recognised by name where it is well known."),
    _column("--score", help="A ranking number; higher is more suspicious."),
    _column("--decision", help="What the model decided."),
    _column(
        "--probability",
        "probabilities",
        type=values.label_and_column,
        multiple=True,
        metavar="LABEL=COL",
        help="The probability of one class; once for each class.",
    ),
    _column(
        "--probabilities",
        "probability_pattern",
        type=values.pattern,
        metavar="PATTERN",
        help="All of them at once, as p_*, where the star stands for the label.",
    ),
    _column("--slice", "slices", multiple=True, help="Judge each value of it; may be repeated."),
    _column("--family", help="The kind of attack: detection rate of each."),
    _column("--time", help="When it happened: judged by day."),
    _column("--count", help="How many equal rows a row stands for (a whole number)."),
    _column("--weight", help="Sampling weight of a row."),
    _column("--cluster", help="Rows of one host or campaign are not independent."),
    _file(
        "--input-format",
        type=click.Choice(FORMATS),
        help="The format of the input, where its name and first bytes don't tell.",
    ),
    _file(
        "--encoding",
        type=values.encoding,
        metavar="NAME",
        help="Of text files that are not UTF-8, as cp1252.",
    ),
    _file(
        "--delimiter",
        type=values.delimiter,
        metavar="C",
        help="Of text files, where it is not a comma or tab.",
    ),
    _file("--glob", is_flag=True, help="Read FILE as a pattern such as 'day-*.csv'."),
    _file(
        "--on-bad-row",
        type=click.Choice(("stop", "skip")),
        default="stop",
        show_default=True,
        help="Stop at a row that can't be used, or leave it out and list it.",
    ),
    _file(
        "--unlabelled",
        type=click.Choice(("refuse", "allow")),
        default="refuse",
        show_default=True,
        help="Allow rows without a label, as when only alerts were looked at.",
    ),
    _file(
        "--max-memory",
        type=values.size,
        metavar="SIZE",
        help="Stop before more memory is used, as 2GB.  [default: half of the machine]",
    ),
)


def reading(command: Function) -> Function:
    """Give a command the options of columns and files, as the argument ``request``."""

    @wraps(command)
    def with_request(
        *,
        label: str | None,
        score: str | None,
        decision: str | None,
        probabilities: Sequence[tuple[str, str]],
        probability_pattern: str | None,
        slices: tuple[str, ...],
        family: str | None,
        time: str | None,
        count: str | None,
        weight: str | None,
        cluster: str | None,
        input_format: str | None,
        encoding: str | None,
        delimiter: str | None,
        glob: bool,
        on_bad_row: Any,
        unlabelled: str,
        max_memory: int | None,
        **others: Any,
    ) -> Any:
        if probabilities and probability_pattern:
            raise click.UsageError("give --probability or --probabilities, not both")
        if len(dict(probabilities)) < len(probabilities):
            raise click.UsageError("--probability names the same label twice")
        if score is not None and (probabilities or probability_pattern):
            raise click.UsageError("give --score or probabilities, not both")
        if count is not None and weight is not None:
            raise click.UsageError("give --count or --weight, not both")
        from assay.sources.files import Request

        request = Request(
            label=label,
            score=score,
            decision=decision,
            probabilities=dict(probabilities),
            probability_pattern=probability_pattern,
            slices=slices,
            family=family,
            time=time,
            count=count,
            weight=weight,
            cluster=cluster,
            input_format=input_format,
            encoding=encoding,
            delimiter=delimiter,
            on_bad_row=on_bad_row,
            unlabelled=unlabelled == "allow",
            glob=glob,
            max_memory=max_memory,
        )
        return command(request=request, **others)

    found: Function = with_request
    for option in reversed(_OPTIONS):
        found = option(found)
    return found


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
def named(files: Sequence[str]) -> Iterator[None]:
    """Errors in here tell of which input they speak."""
    try:
        yield
    except InputError as error:
        names = ["standard input" if file == "-" else file for file in files]
        if any(_names(str(error), name) for name in names):
            raise
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise type(error)(f"{', '.join(names[:3])}{more}: {error}") from error


def _names(message: str, name: str) -> bool:
    """Whether a message names an input; the readers cut long ones, queries above all."""
    path = PurePath(name.partition("?")[0].rpartition(":")[2])
    return name[:50] in message or path.name in message
