"""Where rows came from: names, hashes taken while reading, and what was refused."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from assay.errors import InputError
from assay.text import plural

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

CHUNK = 1 << 23
_LOOKED_AT = 1 << 18
STDIN = "standard input"
# So many refused rows are listed, and so many places are named in a sentence.
LISTED = 100
_NAMED = 3


@dataclass(frozen=True)
class InputDigest:
    """What was read: of a file its size in bytes and their SHA-256."""

    name: str
    sha256: str | None
    bytes: int | None


@dataclass(frozen=True)
class Place:
    """One refused row: its number in its source, its line in a text, and the value found."""

    source: str
    row: int
    line: int | None = None
    found: str | None = None


@dataclass
class Refused:
    """The rows that were left out, grouped by reason.

    >>> refused = Refused()
    >>> refused.add("have no label", 2, [Place("a.csv", 4, 5), Place("a.csv", 9, 10)])
    >>> refused.rows, refused.sentences()
    (2, ('2 rows have no label (lines 5 and 10)',))
    """

    reasons: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[Place]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows were refused."""
        return sum(self.reasons.values())

    def add(self, reason: str, rows: int, places: Iterable[Place] = ()) -> None:
        """Count rows that were refused for a reason."""
        self.reasons[reason] = self.reasons.get(reason, 0) + rows
        kept = self.places.setdefault(reason, [])
        kept += list(places)[: LISTED - len(kept)]

    def sentences(self) -> tuple[str, ...]:
        """One line a reason, with the first places."""
        return tuple(
            f"{rows:,} {plural(rows, 'row', 'rows')} {_verb(reason, rows)}"
            f"{_where(self.places[reason], rows)}"
            for reason, rows in self.reasons.items()
        )

    def listed(self) -> list[dict[str, Any]]:
        """The first hundred refused rows in order, as documents list them."""
        order = {name: i for i, name in enumerate(dict.fromkeys(self._sources()))}
        every = [(place, why) for why, places in self.places.items() for place in places]
        every.sort(key=lambda one: (order[one[0].source], one[0].row))
        return [
            {"row": place.row, "line": place.line, "file": place.source, "reason": _verb(why, 1)}
            for place, why in every[:LISTED]
        ]

    def _sources(self) -> Iterator[str]:
        for places in self.places.values():
            yield from (place.source for place in places)


def _verb(reason: str, rows: int) -> str:
    """The reason, with its verb in the singular for one row."""
    verb, _, rest = reason.partition(" ")
    return f"{ {'have': 'has', 'are': 'is'}[verb] } {rest}" if rows == 1 else reason


def _where(places: Sequence[Place], rows: int) -> str:
    if not places:
        return ""
    first = places[:_NAMED]
    unit = "row" if first[0].line is None else "line"
    several = len({place.source for place in places}) > 1
    numbers = [
        f"{place.source} {place.row if place.line is None else place.line}"
        if several
        else f"{place.row if place.line is None else place.line}"
        for place in first
    ]
    text = (
        ", ".join(numbers) + ", ..."
        if rows > len(first)
        else " and ".join(part for part in (", ".join(numbers[:-1]), numbers[-1]) if part)
    )
    found = "" if first[0].found is None else f"; found {first[0].found}"
    return f" ({plural(rows, unit, unit + 's')} {text}{found})"


@dataclass(frozen=True)
class Source:
    """Where rows came from, and what became of them: rows read are rows used and rows refused.

    ``labels_sha256`` is the digest of the labels of the used rows, in their order: two models that
    were tested on the same rows have the same.
    """

    name: str
    rows_read: int
    rows_used: int
    rows_refused: int
    refused: tuple[dict[str, Any], ...] = ()
    reasons: tuple[str, ...] = ()
    inputs: tuple[InputDigest, ...] = ()
    labels_sha256: str | None = None


class Hashing:
    """SHA-256 of bytes in a thread of its own, beside whoever reads them."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._size = 0
        self._thread = ThreadPoolExecutor(1, "sha256")
        self._last: Any = None

    def add(self, data: bytes) -> None:
        """Hash these bytes next."""
        if self._last is not None:
            self._last.result()  # one chunk ahead at most
        self._size += len(data)
        self._last = self._thread.submit(self._digest.update, data)

    def add_file(self, path: Path) -> None:
        """Hash a whole file."""
        self._last = self._thread.submit(self._file, path)

    def _file(self, path: Path) -> None:
        with path.open("rb") as file:
            while data := file.read(CHUNK):
                self._digest.update(data)
                self._size += len(data)

    def done(self, name: str) -> InputDigest:
        """The digest, when all bytes were added."""
        if self._last is not None:
            self._last.result()
        self._thread.shutdown()
        return InputDigest(name, self._digest.hexdigest(), self._size)


class InputFile:
    """A file, or standard input, as bytes that are hashed while they are read.

    Standard input can be read once: what is looked at while opening is kept for the reading.
    """

    def __init__(self, name: str, path: Path | None) -> None:
        self.name = name
        self.path = path
        self.digest: InputDigest | None = None
        self._kept: list[bytes] | None = []
        self._state: object = None

    @property
    def once(self) -> bool:
        """Whether the bytes are gone when they were read."""
        return self.path is None

    def look(self) -> Iterator[bytes]:
        """The bytes from the beginning, without using them up."""
        if self.path is not None:
            yield from self._of_path(self.path, min(CHUNK, _LOOKED_AT))
            return
        if self._kept is None:
            raise _used_up(self.name)
        at = 0
        while True:
            if at == len(self._kept):
                data = _stdin().read(CHUNK)
                if not data:
                    return
                self._kept.append(data)
            yield self._kept[at]
            at += 1

    def chunks(self) -> Iterator[bytes]:
        """All bytes, hashed on the way."""
        hashing, before = Hashing(), self._stamp()
        for data in self._every():
            hashing.add(data)
            yield data
        self._done(hashing, before)

    def whole(self) -> Path | bytes:
        """A path where there is one, else all bytes."""
        return self.path if self.path is not None else b"".join(self.look())

    def beside(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Frames that a library makes of the file, with the file hashed in the meantime."""
        hashing, before = Hashing(), self._stamp()
        if self.path is not None:
            hashing.add_file(self.path)
        else:
            for data in self._every():
                hashing.add(data)
        yield from frames
        self._done(hashing, before)

    def _every(self) -> Iterator[bytes]:
        if self.path is not None:
            yield from self._of_path(self.path, CHUNK)
            return
        kept, self._kept = self._kept, None
        if kept is None:
            raise _used_up(self.name)
        while kept:
            yield kept.pop(0)
        while data := _stdin().read(CHUNK):
            yield data

    def _of_path(self, path: Path, size: int) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                while data := file.read(size):
                    yield data
        except OSError as error:
            raise InputError(f"{self.name} can't be read: {error.strerror}") from error

    def _stamp(self) -> tuple[int, int] | None:
        if self.path is None or not self.path.is_file():
            return None
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns

    def _done(self, hashing: Hashing, before: tuple[int, int] | None) -> None:
        self.digest = hashing.done(self.name)
        if self._stamp() != before:
            raise InputError(f"{self.name} was changed while it was read: read it again")


def _used_up(name: str) -> InputError:
    return InputError(
        f"{name} was read already, and can be read once: count it once with all columns that are "
        f"needed, or save it to a file"
    )


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        raise InputError("standard input is closed: pipe the rows in, or name a file")
    return sys.stdin.buffer


# -- what every source of rows becomes -------------------------------------------------------------


@dataclass(frozen=True)
class Broken:
    """A record of a text that is no row."""

    row: int
    line: int
    reason: str


@dataclass(frozen=True)
class Batch:
    """Some rows of a table in order, with its own columns.

    The i-th row has the number ``first + i`` in its source, or ``first + kept[i]`` where records
    between them are broken. ``line`` tells the line of such an offset in a text.
    """

    frame: pl.DataFrame
    first: int
    kept: npt.NDArray[np.int64] | None = None
    line: Callable[[int], int] | None = None
    broken: Sequence[Broken] = ()

    def place(self, source: str, i: int, found: str | None = None) -> Place:
        """Where the i-th row is."""
        offset = i if self.kept is None else int(self.kept[i])
        line = None if self.line is None else self.line(offset)
        return Place(source, self.first + offset, line, found)

    def numbers(self) -> pl.Series:
        """The number of each row in its source, from 1."""
        import numpy as np
        import polars as pl

        offsets = np.arange(self.frame.height) if self.kept is None else self.kept
        return pl.Series("row", offsets + self.first, dtype=pl.Int64)


@dataclass(frozen=True)
class Table:
    """One opened source: its columns and types, and a way to read some of the columns.

    ``look`` gives the first rows, for whoever has to tell what the columns hold. ``digest`` is
    known after reading. ``once`` says why it can't be read again.
    """

    name: str
    schema: dict[str, pl.DataType]
    read: Callable[[Sequence[str]], Iterator[Batch]]
    look: Callable[[], pl.DataFrame]
    digest: Callable[[], InputDigest | None] = lambda: None
    once: bool = False
    nan_is_missing: bool = False
    notes: tuple[str, ...] = ()
    hint: str = ""
