"""``--cells`` and ``--matrix``: a confusion matrix in place of a file of predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from assay.cli.command import Option
from assay.errors import InputError

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

ORIENTATIONS = ("truth-rows", "predicted-rows")
_option = partial(click.option, cls=Option, section="Counts in place of files")

CELLS: Decorator = _option(
    "--cells",
    metavar="tp=N,fp=N,fn=N,tn=N",
    help="Judge these four counts. --labels names their classes, the negative first.",
)
MATRIX: Decorator = _option(
    "--matrix",
    metavar="ROWS|FILE",
    help="Judge a confusion matrix: rows as 45,3,2;4,38,3;1,2,52 or as JSON, or a CSV or JSON file "
    "of them. --labels names its classes, in its order.",
)
ORIENTATION: Decorator = _option(
    "--orientation",
    type=click.Choice(ORIENTATIONS),
    help=f"What the rows of the matrix are: the truth, or the decisions.  "
    f"[default: {ORIENTATIONS[0]}]",
)
# What speaks of rows, which counts don't have.
_OF_ROWS = ("Columns", "Files and rows")
# What judges rows or scores among the options of judging.
_JUDGING_ROWS = frozenset({"threshold", "unknown", "period", "top"})


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
    if cells is None and matrix is None:
        if not files:
            raise click.UsageError("missing FILE; or give counts with --cells or --matrix")
        return None
    option = "--cells" if matrix is None else "--matrix"
    if files:
        raise click.UsageError(f"{option} stands in place of FILE; leave out it or {files[0]}")
    _refuse_rows(context, option)
    if cells is not None:
        from assay.sources.files.matrix_table import cells_of

        try:
            return GivenCounts("cells", dict(cells_of(cells)))
        except InputError as odd:
            raise click.UsageError(f"--cells: {odd}") from odd
    assert matrix is not None  # noqa: S101 - it is one of the two
    return _of_matrix(matrix, orientation)


def _of_matrix(matrix: str, orientation: str | None) -> GivenCounts:
    from assay.sources.files.matrix_table import is_typed, matrix_of, read_matrix

    if not matrix.strip():
        raise click.UsageError("--matrix is empty; expected rows of counts, or a file of them")
    typed = is_typed(matrix)
    try:
        table = matrix_of(matrix) if typed else read_matrix(matrix)
    except InputError as odd:
        if typed:
            raise click.UsageError(f"--matrix: {odd}") from odd
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
    own = counts.arguments.get("labels")
    if labels is not None and own is not None and tuple(own) != labels:
        raise InputError(
            f"{counts.name} names its classes {', '.join(own)}, and --labels says "
            f"{', '.join(labels)}; leave out --labels, or the names in the file"
        )
    arguments = {**counts.arguments, "labels": labels or own}
    if positive is not None or negative is not None:
        arguments["positive"] = positive
    return {**arguments, "negative": negative}


def _refuse_rows(context: click.Context, option: str) -> None:
    """Refuse what speaks of rows or scores, which counts don't have."""
    for param in context.command.get_params(context):
        of_rows = getattr(param, "section", None) in _OF_ROWS or param.name in _JUDGING_ROWS
        source = context.get_parameter_source(param.name or "")
        if of_rows and source not in (None, ParameterSource.DEFAULT):
            raise click.UsageError(
                f"{param.opts[0]} needs rows, and {option} gives counts; leave out {param.opts[0]}"
            )
