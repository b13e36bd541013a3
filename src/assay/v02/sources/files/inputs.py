"""Which files are meant: paths, folders, patterns, databases with a query, standard input."""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast
from urllib.parse import unquote

from assay.errors import InputError
from assay.v02.escaping import plural
from assay.v02.sources.files.database_queries import (
    DUCKDB,
    POSTGRESQL,
    SPARK,
    SQLITE,
    Address,
    is_address,
    is_spark,
    postgresql_address,
    spark_query,
)
from assay.v02.sources.files.formats import PACKED, SUFFIXES, is_known
from assay.v02.sources.files.request import InputDigest, OpenedTable, Piece, Request

if TYPE_CHECKING:
    import polars as pl

# A file, folder, pattern or query by its name.
Name: TypeAlias = str | os.PathLike[str]

STDIN = "-"
STDIN_NAME = "standard input"
# The lead of an address, as mysql:// or jdbc:mysql://; a single letter is a drive of Windows.
_SCHEME = re.compile(r"(?:[a-z][\w+.-]*:)*[a-z][\w+.-]+://", re.IGNORECASE)

# A password among settings, or between a user and a host: user:secret@host.
_SECRET = re.compile(r"\w*(?:password|passwd|pwd|secret|token)\w*\s*=|:[^@]+@", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:[a-z][\w+.-]+:)*//(?!/)", re.IGNORECASE)
_DRIVE = re.compile(r"[a-z]:(?=[\\/])", re.IGNORECASE)
# What stands before a colon is shown where it can't be the user.
_LEAD = re.compile(r"[a-z][\w+.-]+:(?=[^@]*[:=])", re.IGNORECASE)
_HIDDEN = "the input"


def read_side_file(path: Path, most: int, kind: str) -> bytes:
    """A file beside the rows, such as rules or a token, which has ``most`` bytes at most."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{kind} {path} can't be read: {error.args[-1]}") from error
    if len(content) > most:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most:,} bytes"
        raise InputError(f"{path} has more than {size}, too large for {kind}: name another file")
    return content


@dataclass(frozen=True)
class Source:
    """One input: a file, a query on one or on a server, or (with none of them) standard input.

    ``keys`` are columns that the folders around a file give; ``notes`` say what of a folder is not
    read, with its first file.
    """

    name: str
    path: Path | None
    engine: str | None = None
    query: str = ""
    address: Address | None = None
    keys: Keys = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def name_of(given: Any) -> str:
    """A name as text; an empty one is refused, since it would be the current folder."""
    if not isinstance(given, str | os.PathLike):
        shown = None if given is None else f"a {type(given).__name__}"
        raise InputError(f"a file is named by a text or a path; found {shown}")
    name = os.fspath(given)
    if not name or (isinstance(given, PurePath) and name == "."):
        raise InputError(
            "the name of a file is empty, which would be the current folder: name a file, or the "
            "folder as '.' if that is meant"
        )
    return name


def given_names(inputs: Name | Sequence[Name]) -> list[str]:
    """One name or several, as text."""
    if isinstance(inputs, str | os.PathLike) or not hasattr(inputs, "__iter__"):
        return [name_of(inputs)]
    return [name_of(given) for given in inputs]


def sources(inputs: Sequence[str], request: Request) -> tuple[Source, ...]:
    """Every file whose rows are meant, in order; folders and patterns sorted."""
    every = _meant(inputs, request)
    seen: set[tuple[Path | Address | None, str]] = set()
    for source in every:
        place = source.address if source.path is None else source.path.resolve()
        key = (place, source.query)
        if key in seen:
            raise InputError(f"{source.name} was given twice; its rows would count twice")
        seen.add(key)
    return tuple(every)


def _meant(inputs: Sequence[str], request: Request) -> list[Source]:
    if isinstance(inputs, str):
        raise InputError(f"inputs are a list of files; found one text, {without_query(inputs)!r}")
    every: list[Source] = []
    for given in map(name_of, inputs):
        try:
            every += _sources(given, request)
        except OSError as error:
            raise InputError(
                f"{shown(without_query(given))} can't be opened: {error.strerror}"
            ) from error
    if not every:
        raise InputError("no file was given: name a file, a folder, or - for standard input")
    return every


def shown(name: str) -> str:
    """A name as it goes into a message: nothing in it may move a terminal's cursor."""
    return name if name and name.isprintable() else repr(name)


def without_query(given: str) -> str:
    """An input as it goes into a message: of a server only the address, without a password."""
    if is_spark(given):
        return SPARK
    if not is_address(given):
        return shown_lead(given) or given
    try:
        return postgresql_address(given)[0].name
    except InputError:
        return POSTGRESQL


def scheme_of(given: str) -> str | None:
    """How an address begins, which is all of it that may be shown; None for any other name.

    >>> scheme_of("mysql://reader:hunter2@db.example/flows"), scheme_of("C://flows.csv")
    ('mysql://', None)
    """
    scheme = _SCHEME.match(given.strip())
    return None if scheme is None or given.startswith((f"{SQLITE}:", f"{DUCKDB}:")) else scheme[0]


def shown_lead(given: str) -> str | None:
    """All that may be shown of an address, or of what is no file and seems to hold a password.

    >>> shown_lead("snowflake:reader:hunter2@db.example"), shown_lead("password=hunter2")
    ('snowflake:', 'the input')
    """
    scheme = scheme_of(given)
    if scheme is not None:
        return scheme
    engine = next((f"{one}:" for one in (SQLITE, DUCKDB) if given.startswith(f"{one}:")), "")
    place, _, query = given.removeprefix(engine).partition("?") if engine else (given, "", "")
    address = engine and _ADDRESS.match(place)
    secret = address or _SECRET.search(_DRIVE.sub("", place, count=1))
    if (not secret or _is_there(place)) and not _SECRET.match(query):
        return None
    lead = _LEAD.match(given)
    return engine or (_HIDDEN if lead is None else lead[0])


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # no file can have such a name
        return False


def is_named(name: str, given: str) -> bool:
    """Whether a source of this name is what was given."""
    return name == (STDIN_NAME if given == STDIN else shown(given))


def _sources(given: str, request: Request) -> Iterator[Source]:
    if given == STDIN:
        yield Source(STDIN_NAME, None)
        return
    if is_address(given):
        address, query = postgresql_address(given)
        yield Source(shown(address.name), None, POSTGRESQL, query, address)
        return
    if is_spark(given):
        name, query = spark_query(given)
        yield Source(shown(name), None, SPARK, query)
        return
    for engine in (SQLITE, DUCKDB):
        if given.startswith(f"{engine}:"):
            yield _query(given, engine)
            return
    scheme = scheme_of(given)
    if scheme is not None:
        raise InputError(
            f"{scheme} is not read: inputs are files, and queries that begin with {SQLITE}:, "
            f"{DUCKDB}:, {POSTGRESQL}:// or {SPARK}:. Export the rows to a file, such as one of "
            f"Parquet, and name that"
        )
    path = Path(given)
    if path.is_dir():
        files, others = files_in(path, shown(given))
        if not files:
            raise InputError(
                f"{shown(given)} is a folder without files of a known suffix "
                f"({', '.join(SUFFIXES)}; of text {', '.join(PACKED)} too). For files of other "
                f"names write the pattern {shown(str(path / '*'))!r} and say glob=True"
            )
        for i, file in enumerate(files):
            notes = () if i else _notes_on(path, others)
            yield Source(shown(str(file.path)), file.path, keys=file.keys, notes=notes)
    elif path.exists():
        yield Source(shown(given), path)
    elif request.glob:
        matches = sorted(
            match
            for match in glob.glob(given, recursive=True)  # noqa: PTH207 - a pattern, not a folder
            if Path(match).is_file()
        )
        if not matches:
            raise InputError(f"nothing matches the pattern {shown(shown_lead(given) or given)}")
        for match in map(Path, matches):
            keys = keys_of(match.parts[:-1], shown(given))
            yield Source(shown(str(match)), match, keys=keys)
    else:
        raise missing(path, given)


def missing(path: Path, given: str) -> InputError:
    """That there is no such file, and what may be meant."""
    scheme = scheme_of(given)
    if scheme is not None:
        return InputError(f"{scheme} is not read here: name a file")
    lead = shown_lead(given)
    if lead is not None:
        return InputError(
            f"{lead} is not read: there is no such file, and what looks like an address or holds "
            f"a password is not shown. Name a file, or a query that begins with {SQLITE}:, "
            f"{DUCKDB}:, {POSTGRESQL}:// or {SPARK}:"
        )
    if any(sign in given for sign in "*?["):
        return InputError(
            f"there is no file {shown(given)}. If that is a pattern, say glob=True to expand it"
        )
    similar: list[str] = []
    if path.parent.is_dir():
        names = [entry.name for entry in path.parent.iterdir()]
        similar = difflib.get_close_matches(path.name, names, n=3, cutoff=0.6)
    advice = f"; did you mean {', '.join(map(shown, similar))}?" if similar else ""
    return InputError(f"there is no file {shown(given)}{advice}")


def _query(given: str, engine: str) -> Source:
    address = given.partition(":")[2]
    # A file's name may hold a question mark: the first part that is a file is the file.
    for cut in [*(i for i, sign in enumerate(address) if sign == "?"), len(address)]:
        path = Path(address[:cut])
        if path.is_file():
            return Source(shown(f"{engine}:{path}"), path, engine, address[cut + 1 :])
    place = address.partition("?")[0]
    if place and _is_there(place) and shown_lead(given) is None:
        raise InputError(f"{shown(place)} is a folder, a device or a pipe; a database is a file")
    raise missing(Path(place), place if shown_lead(given) is None else given)


def paths_of(inputs: Sequence[str], request: Request) -> tuple[Path, ...]:
    """The files that are meant, databases too; one may be meant twice, for two roles."""
    return tuple(source.path for source in _meant(inputs, request) if source.path is not None)


class _StandardInput:
    """Standard input, whose size and SHA-256 are taken while it is read."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._size = 0
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """Bytes, fewer than asked for where it ends."""
        chunk = sys.stdin.buffer.read(size)
        self._digest.update(chunk)
        self._size += len(chunk)
        self._ended = self._ended or size < 0 or len(chunk) < size
        return chunk

    def told(self, name: str) -> InputDigest:
        """What was read; without a hash where something may have been left."""
        if not self._ended:
            return InputDigest(name, None, None)
        return InputDigest(name, self._size, self._digest.hexdigest())


# The one that is hashed now: it can be read but once, by whoever asks for it.
_hashed_stdin: _StandardInput | None = None


def standard_input() -> BinaryIO:
    """Standard input as bytes; hashed on the way where somebody wants to know."""
    if sys.stdin is None:
        raise InputError("standard input is closed; give the rows through a pipe, or name a file")
    return sys.stdin.buffer if _hashed_stdin is None else cast("BinaryIO", _hashed_stdin)


class Hashing:
    """Size and SHA-256 of inputs, taken beside the reading of them and not in a pass of its own.

    A thread begins at once, and reads what lies in the page cache for whoever counts the rows: the
    readers of Parquet and Arrow seek, and no stream passes by. Standard input is hashed by those
    who read it; servers have a name alone. ``maybe`` are names that may prove to be inputs. Without
    ``hashes`` it is only seen to that no file changes. A file that did has no hash, since nobody
    knows which of its states was read; ``changed`` names it.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        request: Request,
        maybe: Sequence[str] = (),
        *,
        hashes: bool = True,
    ) -> None:
        global _hashed_stdin  # noqa: PLW0603 - there is but one standard input
        self._request = request
        self._found: dict[Path | str, InputDigest] = {}
        self._states: dict[Path, object] = {}
        self._odd: InputError | None = None
        self._hashes = hashes
        self.changed: tuple[str, ...] = ()
        self._stdin = _hashed_stdin = _StandardInput() if hashes and STDIN in inputs else None
        try:
            places = _places(inputs, request)
        except InputError:
            places = {}  # whoever reads them says so
        self._places = places
        hashes_there: dict[Path | str, str] = {
            Path(name).resolve(): name for name in maybe if Path(name).is_file()
        }
        every = {**hashes_there, **places}
        self._states = {place: _state(place) for place in every if isinstance(place, Path)}
        self._thread = threading.Thread(target=self._hash, args=(every,), daemon=True)
        self._thread.start()

    def _hash(self, places: Mapping[Path | str, str]) -> None:
        for place, name in places.items() if self._hashes else ():
            try:
                self._found[place] = _hashed(name, place)
            except OSError as error:
                self._odd = InputError(f"{name} can't be read: {error.strerror}")
                return

    def inputs(self, others: Sequence[str] = ()) -> tuple[InputDigest, ...]:
        """What was read, each once; ``others`` are inputs that came to light later."""
        self._thread.join()
        if others:
            later = _places(others, self._request)
            self._hash({place: name for place, name in later.items() if place not in self._found})
            self._places = {**later, **self._places}
        if self._odd is not None:
            raise self._odd
        changed = {
            place: self._places[place]
            for place, state in self._states.items()
            if place in self._places and _state(place) != state
        }
        self.changed = tuple(changed.values())
        if not self._hashes:
            return ()
        return tuple(
            InputDigest(name, None, None) if place in changed else self._told(place)
            for place, name in self._places.items()
        )

    def _told(self, place: Path | str) -> InputDigest:
        if place == STDIN_NAME and self._stdin is not None:
            return self._stdin.told(STDIN_NAME)
        return self._found[place]


def _state(path: Path) -> object:
    """What differs once a file was written to or replaced; None for what is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ino) if path.is_file() else None


def _places(inputs: Sequence[str], request: Request) -> dict[Path | str, str]:
    """The inputs that are meant, each once: where a file is, else its name."""
    return {
        source.path.resolve() if source.path is not None else source.name: source.name
        for source in _meant(inputs, request)
    }


def _hashed(name: str, place: Path | str) -> InputDigest:
    if isinstance(place, str) or not place.is_file():
        return InputDigest(name, None, None)
    with place.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return InputDigest(name, file.tell(), digest)


# -- folders cut up by keys, such as day=2026-11-01/part-0.parquet ---------------------------------

# What Hive and Spark write where the value is missing.
MISSING = "__HIVE_DEFAULT_PARTITION__"
_DEEPEST = 64
# Folders with a log of their own, in which a file may lie whose rows no longer count.
_LOGGED = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}
_ICEBERG = "*.metadata.json"
# Of files that are left out so many are named.
_NAMED = 3

Keys = Mapping[str, str | None]


@dataclass(frozen=True)
class FolderFile:
    """A file inside a folder, and the keys that the folders around it give."""

    path: Path
    keys: Keys


def files_in(folder: Path, name: str) -> tuple[tuple[FolderFile, ...], tuple[Path, ...]]:
    """Every file of a known suffix in a folder and those inside it, sorted by path; the others.

    All files have the same keys, or the folder is refused. Files and folders whose names start with
    a dot or an underscore are what other tools keep for themselves, and are left alone.
    """
    outer = keys_of([folder.name], name)
    paths = tuple(_walk(folder, name, (folder.resolve(),)))
    files = tuple(
        FolderFile(path, outer | keys_of(path.relative_to(folder).parts[:-1], name, outer))
        for path in paths
        if _is_read(path)
    )
    for file in files[1:]:
        if file.keys.keys() != files[0].keys.keys():
            raise InputError(
                f"the folders inside {name} have unlike keys: {_note(files[0], folder)} and "
                f"{_note(file, folder)}. Give folders of like keys, or the files that are meant"
            )
    return files, tuple(path for path in paths if not _is_read(path))


def _is_read(path: Path) -> bool:
    return is_known(path.name) and path.is_file()


def _notes_on(folder: Path, others: Sequence[Path]) -> tuple[str, ...]:
    """What is to be said of files in a folder that are not read; a link may lead nowhere."""
    unopenable = [path for path in others if is_known(path.name)]
    unknown = [path for path in others if path not in unopenable]
    notes = []
    if unknown:
        subject, it = ("their suffixes are", "them") if unknown[1:] else ("its suffix is", "it")
        why = f"{subject} not among those that are read in a folder: name {it} to read {it}"
        notes.append(f"{left_out(folder, unknown)}, since {why}")
    if unopenable:
        cause = plural(len(unopenable), "it is no file", "they are no files")
        notes.append(f"{left_out(folder, unopenable)}, since {cause} that can be opened")
    return tuple(notes)


def left_out(folder: Path, paths: Sequence[Path]) -> str:
    """That files of a folder are not read, with the first names."""
    names = ", ".join(shown(path.relative_to(folder).as_posix()) for path in paths[:_NAMED])
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    were = plural(len(paths), "1 file was", f"{len(paths):,} files were")
    return f"of the folder {shown(str(folder))} {were} left out ({names}{more})"


def _walk(folder: Path, name: str, around: tuple[Path, ...]) -> Iterator[Path]:
    entries = sorted(folder.iterdir())
    for entry in entries:
        kind = _LOGGED.get(entry.name)
        if entry.name == "metadata" and any(entry.glob(_ICEBERG)):
            kind = "an Iceberg table"
        if kind is not None:
            raise InputError(
                f"{name} is {kind}: its log says which files count, and others may lie there too. "
                f"Read it with the tool that it belongs to, and give the rows or their files"
            )
    for entry in entries:
        if entry.name.startswith((".", "_")):
            continue
        if not entry.is_dir():
            yield entry
        else:
            real = entry.resolve()
            if real in around or len(around) > _DEEPEST:
                raise InputError(
                    f"the folder {str(entry)!r} is inside itself by a link; remove the link, or "
                    f"give the folders that are meant"
                )
            yield from _walk(entry, name, (*around, real))


def keys_of(folders: Sequence[str], name: str, around: Keys | None = None) -> dict[str, str | None]:
    """The keys that the names of folders give, with their values as text.

    >>> keys_of(["flows", "day=2026-11-01", "site=a%2Fb"], "flows")
    {'day': '2026-11-01', 'site': 'a/b'}
    """
    keys: dict[str, str | None] = {}
    for folder in folders:
        key, sign, value = folder.partition("=")
        if not key or not sign:
            continue
        try:
            key, value = unquote(key, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}: the folder {folder!r} holds bytes in percent signs that are no UTF-8 "
                f"text: rename it"
            ) from error
        if key in keys or key in (around or {}):
            raise InputError(
                f"{name}: the key {key!r} stands twice in one path, the second time in "
                f"{folder!r}: rename one of the folders"
            )
        keys[key] = None if value in ("", MISSING) else value
    return keys


def _note(file: FolderFile, folder: Path) -> str:
    keys = ", ".join(map(repr, file.keys)) or "none"
    return f"{keys} ({file.path.relative_to(folder).as_posix()!r})"


def with_keys(table: OpenedTable, keys: Keys) -> OpenedTable:
    """A table with the keys of its folders as further columns of text.

    Some writers leave a key's column in the file too: then the file's own is read, and has to say
    what the folder says.
    """
    if not keys:
        return table
    added = tuple(key for key in keys if key not in table.columns)

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        file_columns = [column for column in columns if column not in added]
        # Of a table without columns nobody would know how many rows it has.
        for piece in table.pieces(file_columns or table.columns[:1]):
            for key in keys:
                if key in file_columns:
                    _must_agree(piece.frame[key], keys[key], table.name)
            yield replace(piece, frame=_with(piece.frame, keys, added, columns))

    def at_once(columns: Sequence[str]) -> int:
        return table.at_once([column for column in columns if column not in added])

    return replace(table, columns=(*table.columns, *added), pieces=pieces, at_once=at_once)


def _with(
    frame: pl.DataFrame, keys: Keys, added: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    import polars as pl

    texts = [pl.lit(keys[key], dtype=pl.String).alias(key) for key in added if key in columns]
    return frame.with_columns(texts).select(columns)


def _must_agree(values: pl.Series, value: str | None, name: str) -> None:
    """Refuse a column that says something else than the folder that its file lies in."""
    import polars as pl

    if value is None:
        agrees = values.is_null()
    elif values.dtype.is_numeric():
        number = pl.Series([value]).cast(values.dtype, strict=False)[0]
        agrees = values.eq_missing(pl.Series([number], dtype=values.dtype))
    else:
        agrees = values.cast(pl.String).eq_missing(pl.Series([value]))
    if not agrees.all():
        row = int((~agrees).arg_max() or 0)
        raise InputError(
            f"{name}: column {values.name!r} holds {values[row]!r}, and the folder that the file "
            f"lies in says {value!r}. Move the rows to the folder that they belong to, or rename "
            f"the folder"
        )
