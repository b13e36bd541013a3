"""How a run goes into the tables: its content, itself, its tags and its points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assay.errors import StoreError
from assay.report.names import visible
from assay.store.connections import Connection
from assay.store.content import Content
from assay.store.run import Run
from assay.store.summary import Summary

# A run with its summary and its content, by role: document, tally, rows.
Prepared: TypeAlias = tuple[Run, Summary, Mapping[str, Content]]

_LONGEST_NAME = 200
COLUMNS = (
    *("seq", "id", "name", "kind", "made", "headline", "gate", "note", "test_set", "level"),
    *("document", "tally", "kept_rows"),
)
# A statement can't name more values than some thousands.
_AT_ONCE = 500


def checked_name(name: str) -> str:
    """A name for runs; refused where it is no line of text."""
    if not name.strip() or len(name) > _LONGEST_NAME or visible(name) != name:
        raise StoreError(
            f"the name of a run is a line of 1 to {_LONGEST_NAME} characters; found {name[:60]!r}"
        )
    return name.strip()


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags, each once and in order; refused where one is no word."""
    found = [tags] if isinstance(tags, str) else list(tags)
    for tag in found:
        if not tag or len(tag) > _LONGEST_NAME or visible(tag) != tag or set(tag) & set(", "):
            raise StoreError(f"a tag is a word without blanks or commas; found {tag[:60]!r}")
    return tuple(sorted(set(found)))


def hashes_of(contents: Mapping[str, Content]) -> dict[str, str]:
    """The hash of each content, by role."""
    return {role: content.sha256 for role, content in contents.items()}


def numbered(
    connection: Connection, runs: Sequence[Prepared], known: Mapping[str, int]
) -> dict[str, int]:
    """The number of each measure of some runs, besides those that are known."""
    wanted = {each.measure for _, summary, _ in runs for each in summary.values}
    unknown = sorted(wanted - known.keys())
    connection.many(
        "INSERT INTO measures (measure) VALUES (?) ON CONFLICT (measure) DO NOTHING",
        [(measure,) for measure in unknown],
    )
    found = dict(known)
    for some in pieces(unknown):
        marks = ", ".join("?" * len(some))
        statement = f"SELECT measure, id FROM measures WHERE measure IN ({marks})"  # noqa: S608
        found |= {str(measure): int(id_) for measure, id_ in connection.all(statement, some)}
    return found


def insert(
    connection: Connection,
    run: Run,
    summary: Summary,
    contents: Mapping[str, Content],
    numbers: Mapping[str, int],
) -> int | None:
    """Insert a run, inside a transaction; None where its id is there already."""
    for content in contents.values():
        connection.all(
            "INSERT INTO content (sha256, size, packing, data) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (sha256) DO NOTHING",
            (content.sha256, content.size, content.packing, content.data),
        )
    hashes = hashes_of(contents)
    marks = ", ".join("?" * (len(COLUMNS) - 1))
    inserted = connection.all(
        f"INSERT INTO runs ({', '.join(COLUMNS[1:])}) VALUES ({marks}) "  # noqa: S608
        f"ON CONFLICT (id) DO NOTHING RETURNING seq",
        (
            *(run.id, run.name, run.kind, run.made, run.headline, run.gate, run.note),
            *(run.test_set, run.level),
            *(hashes.get(role) for role in ("document", "tally", "rows")),
        ),
    )
    if not inserted:
        return None
    seq = int(inserted[0][0])
    tags = [(seq, tag) for tag in run.tags]
    connection.many("INSERT INTO tags (run, tag) VALUES (?, ?)", tags)
    connection.many(
        "INSERT INTO points (run, measure, value, low, high, n) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (seq, numbers[each.measure], each.value, each.low, each.high, each.n)
            for each in summary.values
        ],
    )
    return seq


def pieces(values: list[Any]) -> Iterator[list[Any]]:
    """Values in lists that are short enough for one statement."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
