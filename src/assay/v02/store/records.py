"""What stands in the tables of a store: content by its SHA-256, runs, their tags and points."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from assay.errors import StoreError
from assay.v02.escaping import visible
from assay.v02.store.databases import Connection
from assay.v02.store.run import KeptRun, Summary

# -- content ---------------------------------------------------------------------------------------

_PLAIN, _ZLIB = "plain", "zlib"
# Packing that saves less than a tenth is not worth unpacking.
_WORTH = 0.9
# Fast enough to record hundreds of documents a second; a higher level saves a few percent.
_EFFORT = 3


@dataclass(frozen=True)
class Content:
    """Bytes as a store keeps them."""

    sha256: str
    size: int
    packing: str
    data: bytes


def packed(content: bytes) -> Content:
    """Bytes, packed where that makes them smaller.

    >>> kept = packed(b"a" * 1000)
    >>> kept.packing, len(kept.data) < 100, unpacked(kept) == b"a" * 1000
    ('zlib', True, True)
    """
    digest = hashlib.sha256(content).hexdigest()
    smaller = zlib.compress(content, _EFFORT)
    if len(smaller) < _WORTH * len(content):
        return Content(digest, len(content), _ZLIB, smaller)
    return Content(digest, len(content), _PLAIN, content)


def unpacked(content: Content) -> bytes:
    """The bytes as they were given; refused where they are damaged."""
    data = content.data
    if content.packing == _ZLIB:
        reader = zlib.decompressobj()
        try:
            # No more than what was promised: damaged bytes could unpack to anything.
            data = reader.decompress(data, content.size + 1)
        except zlib.error as error:
            raise StoreError(f"content {content.sha256[:12]} is damaged: {error}") from error
    elif content.packing != _PLAIN:
        raise StoreError(f"content {content.sha256[:12]} is packed by {content.packing!r}")
    if len(data) != content.size or hashlib.sha256(data).hexdigest() != content.sha256:
        raise StoreError(f"content {content.sha256[:12]} is damaged: its SHA-256 does not fit")
    return data


def read_content(connection: Connection, sha256: str) -> bytes:
    """The bytes of this hash; refused where they are missing or damaged."""
    rows = connection.all("SELECT size, packing, data FROM content WHERE sha256 = ?", (sha256,))
    if not rows:
        raise StoreError(f"content {sha256[:12]} is missing")
    size, packing, data = rows[0]
    return unpacked(Content(sha256, size, packing, bytes(data)))


# -- runs in ---------------------------------------------------------------------------------------

# A run with its summary and its content, by role: document, tally, rows.
PreparedRun: TypeAlias = tuple[KeptRun, Summary, Mapping[str, Content]]

_LONGEST_NAME = 200
COLUMNS = (
    *("seq", "id", "name", "kind", "made", "headline", "gate", "note", "test_set", "level"),
    *("document", "tally", "kept_rows"),
)
# Content of a run by its role, and the column that names it.
ROLES = {"document": "document", "tally": "tally", "rows": "kept_rows"}
# A statement can't name more values than some thousands.
_AT_ONCE = 500


def checked_name(name: str) -> str:
    """A name for runs; refused where it is no line of text."""
    if not name.strip() or len(name) > _LONGEST_NAME or visible(name) != name:
        raise StoreError(
            f"the name of a run is a line of 1 to {_LONGEST_NAME} characters; found {name[:60]!r}"
        )
    return name.strip()


def checked_tags(tags: Any) -> tuple[str, ...]:
    """Tags, each once and in order; refused where one is no word."""
    words = [tags] if isinstance(tags, str) or not isinstance(tags, Iterable) else list(tags)
    for tag in words:
        if not isinstance(tag, str):
            raise StoreError(f"a tag is a word; found {type(tag).__name__}")
        if not tag or len(tag) > _LONGEST_NAME or visible(tag) != tag or set(tag) & set(", "):
            raise StoreError(f"a tag is a word without blanks or commas; found {tag[:60]!r}")
    return tuple(sorted(set(words)))


def hashes_of(contents: Mapping[str, Content]) -> dict[str, str]:
    """The hash of each content, by role."""
    return {role: content.sha256 for role, content in contents.items()}


def numbered(
    connection: Connection, runs: Sequence[PreparedRun], known: Mapping[str, int]
) -> dict[str, int]:
    """The number of each measure of some runs, besides those that are known."""
    wanted = {each.measure for _, summary, _ in runs for each in summary.values}
    unknown = sorted(wanted - known.keys())
    connection.many(
        "INSERT INTO measures (measure) VALUES (?) ON CONFLICT (measure) DO NOTHING",
        [(measure,) for measure in unknown],
    )
    numbers = dict(known)
    for some in short_lists(unknown):
        marks = ", ".join("?" * len(some))
        statement = f"SELECT measure, id FROM measures WHERE measure IN ({marks})"  # noqa: S608
        numbers |= {str(measure): int(id_) for measure, id_ in connection.all(statement, some)}
    return numbers


def insert(
    connection: Connection,
    run: KeptRun,
    summary: Summary,
    contents: Mapping[str, Content],
    numbers: Mapping[str, int],
) -> int | None:
    """Insert a run, inside a transaction; None, and nothing changed, where its id is known."""
    if connection.all("SELECT 1 FROM runs WHERE id = ?", (run.id,)):
        return None
    for content in contents.values():
        connection.all(
            "INSERT INTO content (sha256, size, packing, data) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (sha256) DO NOTHING",
            (content.sha256, content.size, content.packing, content.data),
        )
    hashes = hashes_of(contents)
    marks = ", ".join("?" * (len(COLUMNS) - 1))
    ((seq,),) = connection.all(
        f"INSERT INTO runs ({', '.join(COLUMNS[1:])}) VALUES ({marks}) RETURNING seq",  # noqa: S608
        (
            *(run.id, run.name, run.kind, run.made, run.headline, run.gate, run.note),
            *(run.test_set, run.level),
            *(hashes.get(role) for role in ROLES),
        ),
    )
    tags = [(seq, tag) for tag in run.tags]
    connection.many("INSERT INTO tags (run, tag) VALUES (?, ?)", tags)
    connection.many(
        "INSERT INTO points (run, measure, value, low, high, n) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (seq, numbers[each.measure], each.value, each.low, each.high, each.n)
            for each in summary.values
        ],
    )
    return int(seq)


def short_lists(values: list[Any]) -> Iterator[list[Any]]:
    """Values in lists that are short enough for one statement."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


# -- runs out --------------------------------------------------------------------------------------

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM runs"  # noqa: S608 - names of ours


# Behind a run, newest first and oldest first.
BEFORE = "(made, seq) < (?, ?)"
_AFTER = "(made, seq) > (?, ?)"


def filtered(
    connection: Connection,
    *,
    tag: str | None = None,
    search: str | None = None,
    **equal: str | None,
) -> tuple[list[str], list[Any]]:
    """The terms of filters, and their values."""
    terms = [f"{column} = ?" for column, wanted in equal.items() if wanted is not None]
    values: list[Any] = [wanted for wanted in equal.values() if wanted is not None]
    if tag is not None:
        # The sign keeps the order of the index: the newest that have the tag are found at once.
        terms.append("+seq IN (SELECT run FROM tags WHERE tag = ?)")
        values.append(tag)
    for word in (search or "").split():
        terms.append(f"{connection.in_small_letters(_SEARCHED, word)} LIKE ? ESCAPE '!'")
        escaped = word.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        values.append(f"%{escaped}%")
    return terms, values


# A word has no blank in it, and so is found in one of them.
_SEARCHED = "name || ' ' || headline || ' ' || note || ' ' || id"


class Row(NamedTuple):
    """A row of the table of runs; an error in place of its values where they can't be read."""

    made: str
    seq: int
    values: tuple[Any, ...] | StoreError


def rows_where(
    connection: Connection,
    terms: Sequence[str],
    values: Sequence[Any],
    *,
    at_once: int,
    oldest_first: bool = False,
) -> Iterator[list[Row]]:
    """Runs that match all terms, newest first, so many at once; none is left out or repeated."""
    order = "made, seq" if oldest_first else "made DESC, seq DESC"
    beyond: tuple[str, int] | None = None
    while True:
        all_terms = [*terms, *([] if beyond is None else [_AFTER if oldest_first else BEFORE])]
        where = f" WHERE {' AND '.join(all_terms)}" if all_terms else ""
        rest = f"{where} ORDER BY {order} LIMIT ?"
        rows = _readable(connection, rest, [*values, *(beyond or ()), at_once])
        yield rows
        if len(rows) < at_once:
            return
        beyond = rows[-1].made, rows[-1].seq


def _readable(connection: Connection, rest: str, values: Sequence[Any]) -> list[Row]:
    try:
        return [Row(row[4], row[0], row) for row in connection.all(f"{_SELECT}{rest}", values)]
    except StoreError:
        # Something is damaged: each run by itself, so that it hides no other.
        places = connection.all(f"SELECT made, seq FROM runs{rest}", values)  # noqa: S608
        return [Row(made, seq, _one_run(connection, seq)) for made, seq in places]


def _one_run(connection: Connection, seq: int) -> tuple[Any, ...] | StoreError:
    try:
        return connection.all(f"{_SELECT} WHERE seq = ?", (seq,))[0]
    except StoreError as error:
        return error


def rows_of_id(connection: Connection, begin: str) -> list[tuple[Any, ...]]:
    """The first runs whose id begins so."""
    statement = f"{_SELECT} WHERE id >= ? AND id < ? ORDER BY id LIMIT 3"
    return connection.all(statement, (begin, begin + "\U0010ffff"))


def runs_of_rows(
    connection: Connection, rows: Sequence[tuple[Any, ...]], read: Callable[[str], bytes]
) -> Iterator[KeptRun]:
    """The runs of some rows, with their tags; ``read`` gives content by its hash."""
    tags: dict[int, list[str]] = {row[0]: [] for row in rows}
    for some in short_lists(list(tags)):
        marks = ", ".join("?" * len(some))
        statement = f"SELECT run, tag FROM tags WHERE run IN ({marks})"  # noqa: S608
        for seq, tag in connection.all(statement, some):
            tags[seq].append(tag)
    for row in rows:
        fields = dict(zip(COLUMNS, row, strict=True))
        contents = {role: fields.pop(column) for role, column in ROLES.items()}
        yield KeptRun(
            **fields,
            tags=tuple(sorted(tags[row[0]])),
            contents={role: sha for role, sha in contents.items() if sha is not None},
            read=read,
        )
