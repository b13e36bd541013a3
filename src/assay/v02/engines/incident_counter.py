"""Count incidents instead of rows: tables in which rows name the incident that they are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.ask import Ask, Columns, Grouping
from assay.errors import InputError, LabelError
from assay.v02.sources.amounts import must_be_countable, repeated_counts
from assay.v02.sources.columns import label_kind, label_text
from assay.v02.sources.files.builders import distinct_of
from assay.v02.sources.files.column_roles import must_have
from assay.v02.sources.files.read import typed
from assay.v02.sources.files.request import BadRows, OpenedTable, Piece, place_in
from assay.v02.sources.labelling import NEGATIVE_WORDS, folded, infer, label_as, shown_labels
from assay.v02.sources.logs import Clock
from assay.v02.sources.row_checks import CountCheck, LabelCheck, NumberCheck, Place, Problem, plain
from assay.v02.sources.validation import DECISION, skips
from assay.v02.tally.incident_tally import Alerts, IncidentTally, observed_cells, seen_cells

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

# Tallies wait to be added until they have so many rows together.
_WAITING = 1 << 20
_BETWEEN = " "
# How many equal rows a group of a database has.
ROWS_OF_GROUP = "assay_rows"


def count_pieces(
    frames: Iterable[pl.DataFrame],
    columns: Columns,
    ask: Ask,
    name: str = "the frame",
    *,
    partial: bool = False,
) -> IncidentTally:
    """The incidents of frames that come one after the other.

    Where they are ``partial``, other frames may hold the decisions that these lack.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"of": ["a", None], "at": ["2026-11-16T10:00Z"] * 2, "p": [0.9, 0.2]})
    >>> asked = Ask(incidents=Grouping())
    >>> count_pieces([frame], Columns.of_incidents("of", "at", score="p"), asked).at(0.5).alerts
    1
    """
    counting = IncidentCounter(columns, ask)
    first = 1
    for frame in frames:
        for column in columns.names:
            must_have(OpenedTable(name, tuple(frame.columns)), column)
        counting.add(Piece(frame, range(first, first + frame.height)), name)
        first += frame.height
    if not partial:
        counting.must_tell_alarms()
    return counting.done()


class IncidentCounter:
    """Counts rows piece by piece.

    A row is of the incident that it names, or of none where that is empty. Where there are
    decisions, rows that are decided to be alarms are alerts; else all rows are, with their score,
    and a threshold is chosen on the tally.
    """

    def __init__(self, columns: Columns, ask: Ask) -> None:
        if columns.incident is None or columns.time is None:
            raise InputError("incidents need a column of their names and one of times")
        if columns.score is None and columns.decision is None:
            raise InputError("what is an alert is not told: name a score or a decision")
        if columns.weight is not None:
            raise InputError("incidents are counted and not weighed; leave out weight=")
        self._columns, self._ask = columns, ask
        self._incident, self._time = columns.incident, columns.time
        self._grouping = ask.incidents or Grouping()
        self._clock = Clock(self._grouping.timezone)
        self.bad = BadRows(stops=not skips(ask.on_bad_row))
        self.rows_read = 0
        self._check = None if columns.decision is None else LabelCheck(columns.decision, DECISION)
        self._decisions: dict[str, str] = {}
        self._sum = IncidentTally(self._grouping.gap, columns.score is not None)
        self._waiting: list[IncidentTally] = []

    def add(self, piece: Piece, name: str) -> None:
        """Count the rows of a piece; bad ones are refused or left out."""
        columns, frame = self._columns, piece.frame
        moments = self._clock.read(frame[self._time], f"column {self._time!r}")
        problems = list(moments.problems)
        score = None
        if columns.score is not None:
            score, score_problems = NumberCheck(columns.score).check(frame[columns.score])
            problems += score_problems
        decided = None
        if self._check is not None:
            decided = self._decided(self._check, frame, place_in(piece, name), problems)
        counts, repeats = _amounts(frame, columns, problems)
        bad = self.bad.judge(piece, name, problems, repeats)
        self.rows_read += frame.height + len(piece.broken)
        good = np.flatnonzero(~bad & (counts > 0))
        must_be_countable(counts[good])
        if len(good):
            time = moments.micros.to_numpy()[good].astype(np.int64)
            flagged = np.arange(len(good)) if decided is None else np.flatnonzero(decided[good])
            part = self._tally(frame[good], time, counts[good], flagged, score, good)
            self._waiting.append(part)
        if sum(part.size for part in self._waiting) > max(self._sum.size, _WAITING):
            self._add_up()

    def _tally(
        self,
        frame: pl.DataFrame,
        time: Array,
        counts: Array,
        flagged: Array,
        score: Array | None,
        good: Array,
    ) -> IncidentTally:
        columns = self._columns
        of, names = coded(frame[self._incident])
        none = names.index("") if "" in names else -1
        inside = np.flatnonzero(of != none)
        alerts = Alerts(
            time=time[flagged],
            score=None if score is None else score[good][flagged].astype(np.float64),
            rule=None if columns.rule is None else coded(frame[columns.rule][flagged]),
            key=None if not columns.key else coded(_keys(frame, columns.key)[flagged]),
            counts=counts[flagged],
        )
        rows = np.flatnonzero(of[flagged] != none)
        return IncidentTally(
            self._grouping.gap,
            columns.score is not None,
            families=self._families(frame[inside]),
            seen=seen_cells(time[inside], of[inside], names, counts[inside]),
            **observed_cells(time, counts),
            **alerts.cells(rows, of[flagged][rows], names, self._grouping.gap),
        )

    def _decided(
        self, check: LabelCheck, frame: pl.DataFrame, place: Place, problems: list[Problem]
    ) -> Array:
        """Which rows are decided to be alarms: those of the positive, else of no harmless name."""
        import polars as pl

        values = plain(frame[check.column])
        if values.dtype == pl.String:
            values = values.str.strip_chars()
        values, missing, value_problems = check.check(values, place)
        problems += value_problems
        decided = np.zeros(len(values), bool)
        if missing.all() or any(problem.fatal for problem in value_problems):
            return decided
        distinct, codes = distinct_of(values.filter(~missing))
        names = [label_text(value) for value in distinct]
        self._decisions |= dict.fromkeys(names, label_kind(distinct[0]))
        decided[~missing] = np.array([self._is_alarm(name) for name in names])[codes]
        return decided

    def _is_alarm(self, name: str) -> bool:
        positive = self._positive()
        return folded(name) not in NEGATIVE_WORDS if positive is None else name == positive

    def _positive(self) -> str | None:
        """The positive as text, which has to be of the kind that decisions are of."""
        if self._ask.positive is None:
            return None
        kind = next(iter(self._decisions.values()))
        return label_as(typed(kind, positive=self._ask.positive)["positive"], kind, "positive")

    def must_tell_alarms(self) -> None:
        """Refuse decisions among which the positive never is, or of which either may be it.

        One decision alone may be that of a detector that never raised an alarm.
        """
        names, given = list(self._decisions), self._ask.positive
        alarms = [self._is_alarm(name) for name in names]
        if given is None and len(names) == 2 and all(alarms):
            infer(names, self._decisions[names[0]])  # which refuses them
        if given is not None and len(names) > 1 and not any(alarms):
            raise LabelError(
                f"positive={given!r} does not occur in column {self._columns.decision!r}; the "
                f"decisions are {shown_labels(names, self._decisions[names[0]])}. Write it as they "
                f"are written"
            )

    def _families(self, frame: pl.DataFrame) -> dict[str, str]:
        import polars as pl

        if self._columns.family is None:
            return {}
        pairs = frame.select(
            pl.col(self._incident).cast(pl.String).alias("incident"),
            pl.col(self._columns.family).cast(pl.String).alias("family"),
        ).unique()
        families: dict[str, str] = {}
        # A comparison with nothing is no match either.
        for incident, family in sorted(pairs.filter(pl.col("family") != "").rows()):
            if families.setdefault(incident, family) != family:
                raise InputError(
                    f"incident {incident!r} is of the family {families[incident]!r} and of "
                    f"{family!r}; an incident has one family"
                )
        return families

    def done(self) -> IncidentTally:
        """The tally of all rows."""
        refused = dict(sorted(self.bad.reasons.items()))
        self._waiting.append(
            IncidentTally(self._grouping.gap, self._columns.score is not None, refused=refused)
        )
        self._add_up()
        return self._sum

    def _add_up(self) -> None:
        self._sum = IncidentTally.merge([self._sum, *self._waiting])
        self._waiting = []


def _amounts(
    frame: pl.DataFrame, columns: Columns, problems: list[Problem]
) -> tuple[Array, Array | None]:
    """How many rows each row counts for, and as how many it was given where rows were grouped."""

    def checked(column: str) -> Array:
        amounts, bad_counts = CountCheck(column).check(frame[column])
        problems.extend(bad_counts)
        # Of rows that can't be counted each is one.
        return amounts if not bad_counts else np.where(bad_counts[0].rows, 1, amounts)

    counts = np.ones(frame.height, np.int64) if columns.count is None else checked(columns.count)
    if columns.rows is None:
        return counts, None
    repeats = checked(columns.rows)
    return repeated_counts(counts, repeats), repeats


def coded(values: pl.Series) -> tuple[Array, list[str]]:
    """Texts as places in a list of the distinct ones; none is the empty text."""
    import polars as pl

    texts = values.cast(pl.String).fill_null("").alias("text")
    distinct = texts.unique(maintain_order=True)
    places = texts.to_frame().join(
        pl.DataFrame({"text": distinct, "place": np.arange(len(distinct))}),
        on="text",
        how="left",
        maintain_order="left",
    )
    return places["place"].to_numpy(), distinct.to_list()


def _keys(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    import polars as pl

    texts = [pl.col(name).cast(pl.String).fill_null("-") for name in columns]
    return frame.select(pl.concat_str(texts, separator=_BETWEEN)).to_series()


def count_groups(given: Any, query: str | None, columns: Columns, ask: Ask) -> IncidentTally:
    """Count the incidents of a query, or of a relation or frame of a database, which groups rows.

    >>> import sqlite3
    >>> alerts = sqlite3.connect(":memory:")
    >>> _ = alerts.execute("create table t as select 'a' as i, '2026-11-16T10:00Z' as at, 1 as s")
    >>> asked = Columns.of_incidents("i", "at", score="s"), Ask(incidents=Grouping())
    >>> count_groups(alerts, "select * from t", *asked).alerts
    1
    """
    from assay.v02.engines.databases import opened

    with opened(given, query) as database, database.naming(columns.names):
        named = ", ".join(map(database.dialect.name_of, columns.names))
        groups = database.run(
            f"SELECT {named}, {database.dialect.count} AS {ROWS_OF_GROUP} FROM {database.source} "  # noqa: S608
            f"GROUP BY {named}"
        )
    groups = groups.rename(dict(zip(groups.columns, [*columns.names, ROWS_OF_GROUP], strict=True)))
    return count_pieces([groups], replace(columns, rows=ROWS_OF_GROUP), ask, "the query")
