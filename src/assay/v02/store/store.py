"""The store: runs that were recorded, by name and time."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from assay.errors import StoreError
from assay.v02.escaping import given_text, visible
from assay.v02.store.databases import Connection, connect
from assay.v02.store.records import (
    BEFORE,
    PreparedRun,
    checked_name,
    checked_tags,
    filtered,
    hashes_of,
    insert,
    numbered,
    packed,
    read_content,
    rows_of_id,
    rows_where,
    runs_of_rows,
)
from assay.v02.store.reports import RunTrend, TrendPoint, trend_of
from assay.v02.store.run import KeptRows, KeptRun, Name, Page, spellings, summary_of

if TYPE_CHECKING:
    from assay.v02.decisions import Comparison
    from assay.v02.store.comparing import Unpaired

DEFAULT = "assay.db"
ENVIRONMENT = "ASSAY_STORE"
PAGE = 50
MOST_POINTS = 2000
# A tally of so many bytes, packed, is kept; a larger one (millions of distinct scores) is not,
# since a store would outgrow the rows that it came from.
LARGEST_TALLY = 4 << 20
LAST, LAST_PASSED = "last", "last-passed"
_ID = 6  # bytes, twice as many digits
# So many runs are looked at together where all of them are.
_TOGETHER = 500
_FOLLOWED = "evaluation"
_ORDER = "ORDER BY made DESC, seq DESC"


def default_place() -> str:
    """Where runs are kept if nobody says: ASSAY_STORE, else assay.db in the working directory."""
    return os.environ.get(ENVIRONMENT) or DEFAULT


class Store:
    """Runs that were recorded, in a file of SQLite or in PostgreSQL.

    ``place`` is a path or ``postgresql://HOST/DATABASE``; by default the variable ASSAY_STORE, else
    ``assay.db``. A run that :meth:`record` gave back is kept: it outlasts whatever happens to the
    process. Any number of threads and processes may use a store at once.

    >>> import assay, json, tempfile
    >>> text = json.dumps(assay.evaluate_counts(tp=90, fp=5, fn=10, tn=95).to_dict())
    >>> with tempfile.TemporaryDirectory() as folder, assay.Store(f"{folder}/runs.db") as store:
    ...     run = store.record(text, name="flows", tags=["nightly"])
    ...     point = store.trend("flows", "recall").points[0]
    >>> run.kind, point.value, point.run == run.id
    ('evaluation', 0.9, True)
    """

    def __init__(
        self, place: str | os.PathLike[str] | None = None, *, read_only: bool = False
    ) -> None:
        if place is not None and not isinstance(place, str | os.PathLike):
            raise StoreError(
                f"a store is a path or postgresql://HOST/DATABASE; found {given_text(place)}"
            )
        self.place = default_place() if place is None else os.fspath(place)
        self.read_only = read_only
        self._local = threading.local()
        self._opened: list[Connection] = []
        self._lock = threading.Lock()
        self._measures: Mapping[str, int] = {}
        self._connection()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.place!r})"

    def close(self) -> None:
        """Let all connections go."""
        with self._lock:
            while self._opened:
                self._opened.pop().close()
            self._local = threading.local()

    def _connection(self) -> Connection:
        """The connection of this thread."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self.place, read_only=self.read_only)
            with self._lock:
                self._opened.append(connection)
            self._local.connection = connection
        return connection

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self.read_only:
            raise StoreError(f"the store {self.place} was opened to be read only")
        connection = self._connection()
        with connection.writing():
            yield connection

    # -- record ------------------------------------------------------------------------------------

    def record(
        self,
        document: str,
        *,
        name: str,
        tags: Iterable[str] = (),
        note: str = "",
        tally: Any = None,
        rows: KeptRows | bytes | None = None,
    ) -> KeptRun:
        """Keep a document, the JSON text of a result, under a name.

        ``tally`` is that of the run, or its bytes, and is left out where it is larger than 4 MiB;
        with ``rows`` later comparisons are paired.
        """
        summary = summary_of(document)
        contents = {"document": packed(document.encode("utf-8", "surrogatepass"))}
        if tally is not None:
            kept = packed(tally if isinstance(tally, bytes) else tally.to_bytes())
            if len(kept.data) <= LARGEST_TALLY:
                contents["tally"] = kept
        if rows is not None:
            contents["rows"] = packed(rows if isinstance(rows, bytes) else rows.to_bytes())
        run = KeptRun(
            seq=0,
            id=secrets.token_hex(_ID),
            name=checked_name(name),
            kind=summary.kind,
            made=summary.made,
            headline=summary.headline,
            gate=summary.gate,
            tags=checked_tags(tags),
            note=visible(note),
            test_set=summary.test_set,
            level=summary.level,
        )
        return self.add([(run, summary, contents)])[0]

    def add(self, runs: Sequence[PreparedRun]) -> list[KeptRun]:
        """Keep runs that are put together already, all of them or none.

        One whose id the store has is left as it is.
        """
        with self._writing() as connection:
            numbers = numbered(connection, runs, self._measures)
            added = [
                replace(run, seq=seq, contents=hashes_of(contents), read=self._content)
                for run, summary, contents in runs
                if (seq := insert(connection, run, summary, contents, numbers)) is not None
            ]
        # Only what was committed has a number that stays.
        self._measures = numbers
        return added

    # -- read --------------------------------------------------------------------------------------

    def runs(
        self,
        *,
        name: str | None = None,
        kind: str | None = None,
        tag: str | None = None,
        search: str | None = None,
        gate: str | None = None,
        limit: int = PAGE,
        before: str | None = None,
    ) -> Page:
        """Runs that match all filters, newest first; ``before`` is the id that the page follows.

        ``search`` finds words in names, headlines, notes and ids.
        """
        connection = self._connection()
        terms, values = filtered(
            connection, name=name, kind=kind, gate=gate, tag=tag, search=search
        )
        if before is not None:
            terms.append(BEFORE)
            after = self.run(before)
            values += [after.made, after.seq]
        rows: list[tuple[Any, ...]] = []
        damaged = between = 0
        more = False
        for row in itertools.chain.from_iterable(
            rows_where(connection, terms, values, at_once=limit + 1)
        ):
            if isinstance(row.values, StoreError):
                between += 1
                continue
            more = len(rows) == limit
            if more:
                break
            rows.append(row.values)
            damaged, between = damaged + between, 0
        # Those behind the last run of this page stand on the next one.
        damaged += 0 if more else between
        return Page(tuple(self._made(rows)), more, damaged, connection.place)

    def every(
        self, *, name: str | None = None, tag: str | None = None, damaged: list[str] | None = None
    ) -> Iterator[KeptRun]:
        """All runs that match both filters, oldest first, read some at a time.

        What is wrong with a run that can't be read is added to ``damaged``.
        """
        terms, values = filtered(self._connection(), name=name, tag=tag)
        for page in rows_where(
            self._connection(), terms, values, at_once=_TOGETHER, oldest_first=True
        ):
            whole = [row.values for row in page if not isinstance(row.values, StoreError)]
            if damaged is not None:
                damaged += [
                    f"run {row.seq} of {row.made}: {row.values}"
                    for row in page
                    if isinstance(row.values, StoreError)
                ]
            yield from self._made(whole)

    def run(self, id: str) -> KeptRun:  # noqa: A002 - the word of the contract
        """The run of this id, or of the only one that begins so."""
        wanted = id.removeprefix("run:").strip().lower()
        if not wanted:
            raise StoreError("the id of a run is empty; `assay runs` lists them")
        rows = rows_of_id(self._connection(), wanted)
        exact = [row for row in rows if row[1] == wanted]
        if len(rows) > 1 and not exact:
            raise StoreError(
                f"several runs begin with {wanted!r}, such as {rows[0][1]} and {rows[1][1]}; give "
                f"more of the id"
            )
        if not rows:
            raise StoreError(
                f"the store {self.place} has no run {wanted!r}; `assay runs` lists them"
            )
        return next(iter(self._made(exact or rows)))

    def find(self, text: str, *, name: str | None = None) -> KeptRun:
        """The run that a text names: an id, ``last``, or ``last-passed``, the last passed gate.

        ``last~2`` is the one two before the last.
        """
        word, _, back = text.removeprefix("run:").partition("~")
        if word not in (LAST, LAST_PASSED) or (back and not back.isdecimal()):
            return self.run(text)
        gate = "pass" if word == LAST_PASSED else None
        # No store has as many runs as 18 digits count.
        steps = int(back[:18] or 0)
        terms, values = filtered(self._connection(), name=name, gate=gate)
        pages = rows_where(self._connection(), terms, values, at_once=min(steps + 1, _TOGETHER))
        rows = (row.values for row in itertools.chain.from_iterable(pages))
        whole = (row for row in rows if not isinstance(row, StoreError))
        wanted = next(itertools.islice(whole, steps, None), None)
        if wanted is None:
            of = "" if name is None else f" named {name!r}"
            what = f"{'gate that passed' if gate else 'run'}{of}"
            back_to = f" {steps:,} before the last one" if steps else ""
            raise StoreError(
                f"the store {self.place} has no {what}{back_to}; `assay runs` lists them"
            )
        return next(self._made([wanted]))

    def _made(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[KeptRun]:
        return runs_of_rows(self._connection(), rows, self._content)

    def _content(self, sha256: str) -> bytes:
        return read_content(self._connection(), sha256)

    def names(self) -> tuple[Name, ...]:
        """The names that runs have, the one that was recorded last first."""
        rows = self._connection().all("SELECT name, count(*), max(made) FROM runs GROUP BY name")
        names = sorted((Name(*row) for row in rows), key=lambda each: each.name)
        return tuple(sorted(names, key=lambda each: each.last, reverse=True))

    def tags(self) -> tuple[str, ...]:
        """Every tag that a run has."""
        return tuple(
            sorted(tag for (tag,) in self._connection().all("SELECT DISTINCT tag FROM tags"))
        )

    def measures(self, name: str) -> tuple[str, ...]:
        """What can be followed over the runs of a name, by its last 20 runs."""
        rows = self._connection().all(
            f"SELECT DISTINCT measure FROM measures WHERE id IN (SELECT measure FROM points "  # noqa: S608
            f"WHERE run IN (SELECT seq FROM runs WHERE name = ? {_ORDER} LIMIT 20))",
            (name,),
        )
        return tuple(sorted(measure for (measure,) in rows))

    def trend(self, name: str, measure: str, *, limit: int = MOST_POINTS) -> RunTrend:
        """How a measure went over the runs of a name, oldest first: the last ``limit`` of them.

        Only runs of one kind follow each other: evaluations, and where there are none runs of the
        kind of the last one. A threshold that was chosen has another recall than one that is given.
        """
        connection = self._connection()
        for key in spellings(measure):
            points = (
                "FROM runs JOIN points ON points.run = runs.seq AND points.measure = "
                "(SELECT id FROM measures WHERE measures.measure = ?) WHERE name = ?"
            )
            last = connection.all(f"SELECT kind {points} {_ORDER} LIMIT 1", (key, name))
            for kind in dict.fromkeys([_FOLLOWED, *(kind for (kind,) in last)]):
                rows = connection.all(
                    f"SELECT runs.id, made, value, low, high, n, level, test_set, gate "
                    f"{points} AND kind = ? {_ORDER} LIMIT ?",
                    (key, name, kind, limit),
                )
                if rows:
                    return trend_of(name, key, [TrendPoint(*row) for row in reversed(rows)])
        raise self._no_trend(name, measure)

    def _no_trend(self, name: str, measure: str) -> StoreError:
        known = self.measures(name)
        if not known:
            names = ", ".join(repr(each.name) for each in self.names()[:10]) or "none"
            return StoreError(f"no run named {name!r} has numbers to follow; the names are {names}")
        return StoreError(
            f"no run named {name!r} has {measure!r}; there are {', '.join(known[:30])}"
            f"{' and more' if len(known) > 30 else ''}"
        )

    def compare(self, old: str, new: str, **options: Any) -> Comparison | Unpaired:
        """Whether the new run is really better: see :func:`assay.store.comparing.compare_runs`."""
        from assay.v02.store.comparing import compare_runs

        return compare_runs(self.find(old), self.find(new), **options)

    # -- change ------------------------------------------------------------------------------------

    def tag(self, id: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> KeptRun:  # noqa: A002
        """Give a run tags, and take some away."""
        added, removed = checked_tags(add), tuple(remove)
        with self._writing() as connection:
            seq = self.run(id).seq
            connection.many(
                "INSERT INTO tags (run, tag) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(seq, tag) for tag in added],
            )
            connection.many(
                "DELETE FROM tags WHERE run = ? AND tag = ?", [(seq, tag) for tag in removed]
            )
        return self.run(id)

    def note(self, id: str, text: str) -> KeptRun:  # noqa: A002
        """Write a note to a run, in place of the one it has."""
        with self._writing() as connection:
            connection.all(
                "UPDATE runs SET note = ? WHERE seq = ?", (visible(text), self.run(id).seq)
            )
        return self.run(id)

    def delete(self, id: str) -> KeptRun:  # noqa: A002
        """Delete a run, and content that no other run has."""
        with self._writing() as connection:
            run = self.run(id)
            connection.all("DELETE FROM runs WHERE seq = ?", (run.seq,))
            for sha256 in run.contents.values():
                connection.all(
                    "DELETE FROM content WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM runs "
                    "WHERE document = ? OR tally = ? OR kept_rows = ?)",
                    (sha256,) * 4,
                )
        return run
