"""The first rows of a file, and what its columns may be, for whoever is to say which is which."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import EmptyInput
from assay.sources.files.column_roles import WELL_KNOWN, well_known
from assay.sources.files.inputs import sources
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened
from assay.sources.files.request import Request, silent
from assay.sources.files.table import Meter
from assay.sources.number_checks import numbers_of
from assay.sources.validation import LABEL

if TYPE_CHECKING:
    import polars as pl

# Of wide files not every column is shown.
_COLUMNS = 200
_LETTERS = 60
_LABELS = 30


@dataclass(frozen=True)
class Preview:
    """Columns, the first rows as text, the column that each role is recognised in, and labels.

    ``labels`` are those among the first rows, in the order in which they come, and ``numeric`` the
    columns that hold numbers there.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    roles: Mapping[str, str]
    labels: tuple[str, ...]
    numeric: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def preview(name: str, rows: int = 10) -> Preview:
    r"""The first rows of a file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     _ = path.write_text("y_true,score,host\nattack,0.9,a\nnormal,0.2,b\n")
    ...     shown = preview(str(path), rows=1)
    >>> shown.roles, shown.rows
    ({'label': 'y_true', 'score': 'score'}, (('attack', '0.9', 'a'),))
    """
    request = Request()
    (source,) = sources([name], request)
    with contextlib.ExitStack() as stack:
        budget = Budget(None)
        table = opened(source, request, budget, Meter(silent, None), None, stack)
        shown = table.columns[:_COLUMNS]
        roles = _recognised(table.columns)
        piece = next(iter(table.pieces(shown)), None)
        if piece is None or not len(piece.frame):
            raise EmptyInput(f"{name} has no rows; expected one for each prediction")
        frame = piece.frame
    seen: Iterable[object] = ()
    if LABEL in roles:
        seen = frame[roles[LABEL]].unique(maintain_order=True)
    return Preview(
        columns=shown,
        rows=tuple(tuple(map(_text, row)) for row in frame.head(rows).select(shown).iter_rows()),
        roles=roles,
        labels=tuple(_text(label) for label in islice(seen, _LABELS) if label is not None),
        numeric=tuple(column for column in shown if _are_numbers(frame[column].head(rows))),
    )


def _recognised(columns: tuple[str, ...]) -> dict[str, str]:
    """The one column with a well-known name of each role."""
    roles = {}
    for role in WELL_KNOWN:
        known = well_known(columns, role)
        if len(known) == 1:
            roles[role] = known[0]
    return roles


def _are_numbers(cells: pl.Series) -> bool:
    numbers = numbers_of(cells)
    return numbers is not None and bool(np.isfinite(numbers).all())


def _text(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "\u2026"
