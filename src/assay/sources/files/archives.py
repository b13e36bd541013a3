"""Zip archives of one file, and Excel workbooks, which are zip archives too."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from assay.errors import EmptyInput, InputError, install_line
from assay.sources.files.formats import NPZ, XLSX
from assay.sources.files.guard import damaged, guarded
from assay.sources.files.memory import Budget
from assay.sources.files.table import Meter, Piece, Table

if TYPE_CHECKING:
    import polars as pl

_WORKBOOK = "xl/workbook.xml"
_SHEETS = "xl/worksheets/"
_ARRAY = ".npy"
# What macOS puts beside the file that was meant.
_ASIDE = ("__MACOSX/", ".DS_Store")
_LISTED = 10
_ODD = (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError)
# Cells take more as values than packed in their XML.
_CELLS = 4


@contextlib.contextmanager
def archive(path: Path, name: str) -> Iterator[tuple[str, BinaryIO | None]]:
    """What a zip archive is: arrays, a workbook, or one file that is given open."""
    try:
        opened = zipfile.ZipFile(path)
    except _ODD as odd:
        raise damaged(name, odd) from odd
    with opened:
        members = [
            info
            for info in opened.infolist()
            if not info.is_dir() and not info.filename.startswith(_ASIDE)
        ]
        names = [info.filename for info in members]
        if _WORKBOOK in names:
            yield XLSX, None
        elif not names or any(member.endswith(_ARRAY) for member in names):
            yield NPZ, None
        elif len(names) > 1:
            shown = ", ".join(map(repr, names[:_LISTED]))
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            raise InputError(
                f"{name} is a zip archive of {len(names)} files, and one is expected: {shown}{more}"
                f". Unpack it and name the files"
            )
        else:
            try:
                member = opened.open(members[0])
            except _ODD as odd:
                raise damaged(name, odd) from odd
            with member:
                yield members[0].filename, cast(BinaryIO, member)


def excel_table(
    path: Path, name: str, *, sheet: str | None, batch_rows: int, budget: Budget, meter: Meter
) -> Table:
    """Open the sheet of a workbook whose first row names the columns."""
    with zipfile.ZipFile(path) as book:
        cells = sum(i.file_size for i in book.infolist() if i.filename.startswith(_SHEETS))
    budget.must_hold(0, _CELLS * cells, name=name)
    frame = _sheet(path, name, sheet)
    if not frame.columns:
        raise EmptyInput(f"{name} has a sheet without cells; a header and rows were expected")
    size = path.stat().st_size

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        for start in range(0, frame.height, batch_rows):
            part = frame.select(columns).slice(start, batch_rows)
            # The header is the first line.
            yield Piece(part, range(start + 1, start + 1 + part.height), partial(add, start + 2))
            meter.add(size * part.height // frame.height)

    return Table(name, tuple(frame.columns), pieces, rows=frame.height)


def _sheet(path: Path, name: str, sheet: str | None) -> pl.DataFrame:
    import polars as pl

    try:
        import fastexcel
    except ImportError as odd:
        raise InputError(
            f"{name} is an Excel file, which the extra excel reads: {install_line('excel')}; or "
            f"save it as CSV"
        ) from odd
    try:
        book = fastexcel.read_excel(str(path))
        sheets = book.sheet_names
    except fastexcel.FastExcelError as odd:
        raise damaged(name, odd) from odd
    if sheet is None and len(sheets) > 1:
        shown = " or ".join(f"sheet={title!r}" for title in sheets[:_LISTED])
        raise InputError(f"{name} has {len(sheets)} sheets. Say which is meant: {shown}")
    title = sheets[0] if sheet is None else sheet
    if title not in sheets:
        shown = ", ".join(map(repr, sheets[:_LISTED]))
        raise InputError(f"{name} has no sheet {title!r}; its sheets are {shown}")
    try:
        with guarded(name):
            frame = book.load_sheet(title).to_polars()
    except fastexcel.FastExcelError as odd:
        raise damaged(name, odd) from odd
    # A workbook has no whole numbers, only numbers that are whole: a label 1 is not 1.0.
    whole = [
        column.name
        for column in frame.iter_columns()
        if column.dtype == pl.Float64 and (column == column.round(0)).fill_null(value=True).all()
    ]
    return frame.with_columns(pl.col(whole).cast(pl.Int64, strict=False)) if whole else frame
