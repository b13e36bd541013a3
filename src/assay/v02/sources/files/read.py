"""Files into columns, labels as the data write them, and a preview of the first rows."""

from __future__ import annotations

import codecs
import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from assay.errors import EmptyInput, InputError, ScoreError
from assay.v02.sources.coded import Coded
from assay.v02.sources.columns import native
from assay.v02.sources.files import formats
from assay.v02.sources.files.binary_tables import (
    archive,
    arrow_table,
    excel_table,
    npy_table,
    npz_table,
    parquet_table,
)
from assay.v02.sources.files.collector import Collector
from assay.v02.sources.files.column_roles import WELL_KNOWN, roles_of, same_roles, well_known
from assay.v02.sources.files.database_queries import sql_table
from assay.v02.sources.files.delimited import delimited
from assay.v02.sources.files.formats import HEAD, begun, behind_lines, must_be_narrow, unpacked, utf8
from assay.v02.sources.files.inputs import Source, sources, standard_input, with_keys
from assay.v02.sources.files.json_files import array_lines, jsonl
from assay.v02.sources.files.request import (
    Budget,
    Meter,
    OpenedTable,
    Progress,
    Request,
    Rows,
    must_be_enough,
    silent,
)
from assay.v02.sources.labelling import must_be_a_list, one_score, sided
from assay.v02.sources.row_checks import numbers_of
from assay.v02.sources.validation import LABEL, Roles, skips

if TYPE_CHECKING:
    import polars as pl

# How a file is written.
_WRITTEN = (
    *("input_format", "encoding", "delimiter", "quote", "decimal", "header", "skip_lines"),
    "sheet",
)
# How many chunks of text, with all that is made of one, fit into the memory allowed.
_CHUNKS = 64


class Reading:
    """Rows of files, piece by piece; how they came about is told once all are read.

    ``inputs`` are files, folders, queries or standard input (``-``). It can be gone through again,
    unless standard input is among them.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        request: Request,
        progress: Progress = silent,
        stdin: BinaryIO | None = None,
    ) -> None:
        _must_make_sense(request)
        self._sources = sources(inputs, request)
        self.budget = Budget(request.max_memory)
        chunk = min(request.chunk_bytes, self.budget.limit // _CHUNKS)
        self._request = replace(request, chunk_bytes=chunk)
        self._progress = progress
        self._stdin = stdin
        self.roles = Roles(None)
        self._notes: list[str] = []
        self._collector = Collector(self.roles, request, self.budget)

    def pieces(self, *, whole: bool = False) -> Iterator[Collector]:
        """What was read of each piece, for :meth:`Collector.take`; ``whole``: nothing is taken."""
        self._notes = []
        meter = Meter(self._progress, _total(self._sources))
        collector: Collector | None = None
        for source in self._sources:
            with contextlib.ExitStack() as stack:
                table = opened(source, self._request, self.budget, meter, self._stdin, stack)
                if collector is None:
                    self.roles, first = roles_of(table, self._request), table.name
                    self._notes += _recognised_pair(self.roles, self._request)
                    collector = Collector(self.roles, self._request, self.budget)
                    self._collector = collector
                same_roles(table, self.roles, first)
                self._notes += table.notes
                collector.begin(table, whole=whole)
                for piece in table.pieces(self.roles.columns):
                    collector.add(piece, table.name)
                    yield collector
        meter.done()
        self._collector.must_have_rows(source.name for source in self._sources)

    @property
    def again(self) -> bool:
        """Whether the inputs can be read a second time."""
        return all(s.path is not None and s.path.is_file() for s in self._sources)

    @property
    def reasons(self) -> dict[str, int]:
        """How many rows were refused, by the reason."""
        return dict(sorted(self._collector.reasons.items()))

    def rows(self, columns: Mapping[str, Any], rest: Mapping[str, Any] | None = None) -> Rows:
        """What was read, with columns that were kept."""
        names = [source.name for source in self._sources]
        collector = self._collector
        return Rows(
            name=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
            columns=columns,
            rows_read=collector.rows_read,
            rows_refused=collector.rows_refused,
            refused=tuple(collector.refused),
            chosen=self.roles.chosen,
            notes=tuple(self._notes),
            unlabelled=rest,
            family=self.roles.family,
            time=self.roles.time,
            doubtful={column: tuple(rows) for column, rows in collector.doubtful.items()},
            labels_sha256=collector.digest.hexdigest(),
        )


def _recognised_pair(roles: Roles, request: Request) -> list[str]:
    """What is to be said of probabilities that nobody named."""
    if not roles.probabilities or request.probabilities or request.probability_pattern:
        return []
    of = " and ".join(f"{column!r} for {label}" for label, column in roles.probabilities.items())
    return [f"the probabilities are columns {of}, recognised by their names"]


def read(
    inputs: Sequence[str],
    request: Request,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> Rows:
    """Read the columns asked for, and keep them all."""
    reading = Reading(inputs, request, progress, stdin)
    *_, collector = reading.pieces(whole=True)
    return reading.rows(*collector.take())


def _must_make_sense(request: Request) -> None:
    for name in ("batch_rows", "chunk_bytes"):
        if getattr(request, name) < 1:
            raise InputError(f"{name} must be 1 or more; found {getattr(request, name)}")
    must_be_enough(request.max_memory)
    skips(request.on_bad_row)


def _total(files: Sequence[Source]) -> int | None:
    sizes = [
        None if s.path is None or not s.path.is_file() else s.path.stat().st_size for s in files
    ]
    known_sizes = [size for size in sizes if size is not None]
    return sum(known_sizes) if len(known_sizes) == len(sizes) else None


def opened(
    source: Source,
    request: Request,
    budget: Budget,
    meter: Meter,
    stdin: BinaryIO | None,
    stack: contextlib.ExitStack,
) -> OpenedTable:
    """A source, opened by the format that its content, name or the request tells.

    The keys of the folders around it are columns too.
    """
    table = with_keys(_opened_by_format(source, request, budget, meter, stdin, stack), source.keys)
    return replace(table, notes=(*table.notes, *source.notes)) if source.notes else table


def _opened_by_format(
    source: Source,
    request: Request,
    budget: Budget,
    meter: Meter,
    stdin: BinaryIO | None,
    stack: contextlib.ExitStack,
) -> OpenedTable:
    if source.engine is not None:
        must_apply(source.name, "a query", request)
        rows = budget.rows_at_once(request.batch_rows)
        return sql_table(source, batch_rows=rows, limit=budget.limit, meter=meter)
    file = _file(source, stdin, stack)
    try:
        head = file.read(HEAD)
    except OSError as error:
        raise InputError(f"{source.name} can't be read: {error.strerror}") from error
    if not head:
        raise EmptyInput(f"{source.name} is empty")
    content, path = formats.by_content(head, source.name), source.path
    if content == formats.NPZ:
        path = _as_file(path, file, head, source.name, budget, stack)
        content, member = stack.enter_context(archive(path, source.name))
        if member is not None:
            file, path, head = member, None, member.read(HEAD)
            content = formats.by_content(head, source.name)
    if content is None or content in formats.PACKINGS:
        return _text(_raw(file, head, source.name, request, meter), content, source, request)
    format_ = formats.decide(content, head, source.name, request.input_format)
    sheets = ("sheet",) if format_ == formats.XLSX else ()
    must_apply(source.name, formats.NAMES[format_], request, "input_format", *sheets)
    path = _as_file(path, file, head, source.name, budget, stack)
    return _binary(path, source.name, format_, request, budget, meter)


def _as_file(
    path: Path | None,
    file: BinaryIO,
    head: bytes,
    name: str,
    budget: Budget,
    stack: contextlib.ExitStack,
) -> Path:
    if path is not None and path.is_file():
        return path
    return _spooled(file, head, name, budget, stack)


def opened_tables(
    inputs: Sequence[str],
    request: Request,
    budget: Budget,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> Iterator[OpenedTable]:
    """Each input as a table, open until the next one is asked for."""
    files = sources(inputs, request)
    meter = Meter(progress, _total(files))
    for source in files:
        with contextlib.ExitStack() as stack:
            yield opened(source, request, budget, meter, stdin, stack)
    meter.done()


def must_apply(name: str, what: str, request: Request, *heeded: str) -> None:
    """Refuse options that say how a file is written, but for those that are heeded."""
    usual = Request()
    for option in _WRITTEN:
        if option not in heeded and getattr(request, option) != getattr(usual, option):
            raise InputError(f"{name} is {what}, to which {option}= does not apply: leave it out")


def _file(source: Source, stdin: BinaryIO | None, stack: contextlib.ExitStack) -> BinaryIO:
    if source.path is None:
        return standard_input() if stdin is None else stdin
    try:
        return stack.enter_context(source.path.open("rb"))
    except OSError as error:
        raise InputError(f"{source.name} can't be opened: {error.strerror}") from error


def _raw(file: BinaryIO, head: bytes, name: str, request: Request, meter: Meter) -> Iterator[bytes]:
    """The bytes of a file in chunks."""
    for start in range(0, len(head), request.chunk_bytes):
        chunk = head[start : start + request.chunk_bytes]
        meter.add(len(chunk))
        yield chunk
    while True:
        try:
            chunk = file.read(request.chunk_bytes)
        except OSError as error:
            raise InputError(f"{name} can't be read: {error.strerror}") from error
        if not chunk:
            return
        meter.add(len(chunk))
        yield chunk


def _text(
    chunks: Iterator[bytes], packing: str | None, source: Source, request: Request
) -> OpenedTable:
    name = source.name
    if packing is not None:
        chunks = unpacked(chunks, packing, name, request.chunk_bytes)
    head, chunks = begun(chunks)
    if packing is not None and formats.by_content(head, name) is not None:
        packed = formats.NAMES[formats.by_content(head, name) or ""]
        raise InputError(f"{name} holds a packed {packed} file; unpack it first")
    text_head = b"".join(behind_lines(iter([head]), request.skip_lines))
    format_ = formats.decide(None, text_head, name, request.input_format)
    must_be_narrow(head, request.encoding, name)
    text = utf8(chunks, request.encoding, name)
    if format_ == formats.JSONL:
        must_apply(name, "JSON", request, "input_format", "encoding")
        if head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
            text = array_lines(text, name)
        return jsonl(text, name, exact=request.count)
    must_apply(name, formats.NAMES[format_], request, *(o for o in _WRITTEN if o != "sheet"))
    return delimited(text, name, format_, request)


def _spooled(
    file: BinaryIO, head: bytes, name: str, budget: Budget, stack: contextlib.ExitStack
) -> Path:
    """What can't be sought in, as a file that goes away again."""
    size, chunk = 0, head
    try:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-"))
        path = Path(folder) / "input"
        with path.open("wb") as copy:
            while chunk:
                size += len(chunk)
                budget.must_hold(size, name=name)
                copy.write(chunk)
                chunk = file.read(HEAD)
    except OSError as error:
        raise InputError(f"{name} can't be kept aside to be read: {error.strerror}") from error
    return path


def _binary(
    path: Path, name: str, format_: str, request: Request, budget: Budget, meter: Meter
) -> OpenedTable:
    rows = budget.rows_at_once(request.batch_rows)
    if format_ == formats.PARQUET:
        return parquet_table(path, name, batch_rows=rows, meter=meter)
    if format_ == formats.NPZ:
        return npz_table(path, name, batch_rows=rows, meter=meter)
    if format_ == formats.XLSX:
        return excel_table(
            path, name, sheet=request.sheet, batch_rows=rows, budget=budget, meter=meter
        )
    if format_ == formats.NPY:
        return npy_table(path, name, batch_rows=rows, meter=meter)
    return arrow_table(path, name, format_, batch_rows=rows, limit=budget.limit, meter=meter)


# -- labels as they were said ----------------------------------------------------------------------


def typed(
    kind: str,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    unknown: Any = None,
) -> dict[str, Any]:
    """What was said of labels; text becomes what the data hold.

    >>> typed("numbers", positive="1", labels=["0", "1"])
    {'positive': 1, 'negative': None, 'labels': [0, 1]}
    """

    def one(label: Any) -> Any:
        return native(label, kind) if isinstance(label, str) else label

    if labels is not None:
        must_be_a_list(labels)
    sides = {
        "positive": one(positive),
        "negative": one(negative),
        "labels": None if labels is None else [one(label) for label in labels],
    }
    return sides if unknown is None else {**sides, "unknown": one(unknown)}


def ranked(rows: Coded, probabilities: Sequence[str], kind: str, sides: Mapping[str, Any]) -> Coded:
    """The rows with one score where it is known which; the probability of one class is a score.

    ``probabilities`` are the labels that have one, ``kind`` is that of the labels of the data.
    """
    labelling = typed(kind, **sides)
    if len(probabilities) != 1:
        return sided(rows, labelling["positive"], labelling["negative"])
    of = native(probabilities[0], kind)
    if labelling["negative"] is not None or labelling["positive"] not in (None, of):
        raise ScoreError(f"the only probability is that of {of!r}, so that is the positive")
    return one_score(rows, probabilities)


# -- preview ---------------------------------------------------------------------------------------

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
        rows=tuple(
            tuple(map(_cell_text, row)) for row in frame.head(rows).select(shown).iter_rows()
        ),
        roles=roles,
        labels=tuple(_cell_text(label) for label in islice(seen, _LABELS) if label is not None),
        numeric=tuple(column for column in shown if _are_numbers(frame[column].head(rows))),
    )


def _recognised(columns: tuple[str, ...]) -> dict[str, str]:
    """The one column with a well-known name of each role."""
    roles = {}
    for role in WELL_KNOWN:
        candidates = well_known(columns, role)
        if len(candidates) == 1:
            roles[role] = candidates[0]
    return roles


def _are_numbers(cells: pl.Series) -> bool:
    numbers = numbers_of(cells)
    return numbers is not None and bool(np.isfinite(numbers).all())


def _cell_text(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "\u2026"
