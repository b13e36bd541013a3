"""Incidents and alerts: what was raised for each incident, when first, and what for none.

They are tables of counts by key that add: equal keys become one row, and times that are near one
run. Times are whole microseconds since 1970, in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.v02.tally import codec

Array: TypeAlias = npt.NDArray[Any]

START, END = "start", "end"
_REDUCED: Mapping[str, Any] = {
    "first": np.minimum,
    START: np.minimum,
    "last": np.maximum,
    END: np.maximum,
}


@dataclass(frozen=True)
class Form:
    """What a table is keyed by and what it holds.

    ``named`` keys are texts, held as places in a list; all others are numbers. Values are added up,
    but for times: ``first`` and ``start`` are the earliest, ``last`` and ``end`` the latest. A form
    of ``runs`` has a start and an end, and its rows are runs of moments.
    """

    keys: tuple[str, ...]
    named: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether its rows are runs of moments."""
        return START in self.values

    def without(self, key: str) -> Form:
        """The form with one key less."""
        keys, named = (tuple(k for k in kept if k != key) for kept in (self.keys, self.named))
        return Form(keys, named, self.values)


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts by key, in the order of the keys.

    Where the form is of runs, moments of one key that are at most ``link`` apart are one run. A run
    stays one run whatever is added, and what is between two runs joins them: so the runs of a sum
    are those of all its moments, however they were split.
    """

    form: Form
    names: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, Array]
    link: int

    @classmethod
    def zero(cls, form: Form, link: int = 0) -> Cells:
        """The table of nothing."""
        columns = {name: np.empty(0, _type(name)) for name in (*form.keys, *form.values)}
        return cls(form, dict.fromkeys(form.named, ()), columns, link)

    @classmethod
    def of(
        cls,
        form: Form,
        columns: Mapping[str, Any],
        names: Mapping[str, Sequence[str]] | None = None,
        link: int = 0,
    ) -> Cells:
        """Rows as they come; ``names`` are the texts of the keys that have such, each once."""
        table = {
            name: np.asarray(columns[name], _type(name)) for name in (*form.keys, *form.values)
        }
        texts = {name: tuple((names or {})[name]) for name in form.named}
        for name in form.named:
            order = sorted(range(len(texts[name])), key=texts[name].__getitem__)
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            table[name] = place[table[name]]
            texts[name] = tuple(texts[name][i] for i in order)
        return _canonical(form, texts, table, link)

    @staticmethod
    def merge(parts: Sequence[Cells]) -> Cells:
        """The sum of tables, sorted once."""
        first = parts[0]
        for part in parts[1:]:
            if (part.form, part.link) != (first.form, first.link):
                raise TallyError(
                    f"runs that are joined over {part.link} and {first.link} microseconds can't "
                    f"be added; count both with the same gap"
                )
        parts = [part for part in parts if part.size] or [first]
        if len(parts) == 1:
            return parts[0]
        names, columns = {}, {}
        for name in first.form.named:
            distinct = sorted(set().union(*(part.names[name] for part in parts)))
            at = {text: i for i, text in enumerate(distinct)}
            names[name] = tuple(distinct)
            columns[name] = np.concatenate(
                [
                    np.array([at[text] for text in part.names[name]], np.int64)[part.columns[name]]
                    for part in parts
                ]
            )
        for name in (*first.form.keys, *first.form.values):
            if name not in columns:
                columns[name] = np.concatenate([part.columns[name] for part in parts])
        return _canonical(first.form, names, columns, first.link)

    def __add__(self, other: Cells) -> Cells:
        return Cells.merge([self, other])

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(next(iter(self.columns.values())))

    def texts(self, name: str) -> list[str]:
        """A key of texts, row by row."""
        return [self.names[name][i] for i in self.columns[name].tolist()]

    def where(self, kept: Array) -> Cells:
        """Some of the rows."""
        columns = {name: column[kept] for name, column in self.columns.items()}
        return _canonical(self.form, self.names, columns, self.link)

    def without(self, key: str) -> Cells:
        """The table by one key less; what becomes equal is added up, runs that become near join."""
        form = self.form.without(key)
        names = {name: self.names[name] for name in form.named}
        columns = {name: self.columns[name] for name in (*form.keys, *form.values)}
        return _canonical(form, names, columns, self.link)

    def header(self) -> dict[str, Any]:
        """What tells of its columns."""
        return {"names": {name: list(texts) for name, texts in self.names.items()}}

    @classmethod
    def read(cls, form: Form, header: Any, arrays: Mapping[str, Array], link: int) -> Cells:
        """A table from what was written of it; what does not hold together is refused."""
        columns = {name: arrays[name] for name in (*form.keys, *form.values)}
        names = {name: tuple(map(str, header["names"][name])) for name in form.named}
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError("its columns are of unlike length")
        for name, column in columns.items():
            if column.dtype != _type(name) or column.ndim != 1:
                raise ValueError(f"its column {name} is of another kind")
            if (
                name in names
                and len(column)
                and not 0 <= column.min() <= column.max() < len(names[name])
            ):
                raise ValueError(f"its {name} has no name")
            if name == "score" and not np.isfinite(column).all():
                raise ValueError("a score is no finite number")
            if name in form.values and name not in _REDUCED and (column < 0).any():
                raise ValueError(f"a number of {name} is negative")
        for texts in names.values():
            codec.in_order([(text, None) for text in texts])
        return _canonical(form, names, columns, link)


def _type(name: str) -> Any:
    return np.float64 if name == "score" else np.int64


def _canonical(
    form: Form, names: Mapping[str, Sequence[str]], columns: Mapping[str, Array], link: int
) -> Cells:
    """Rows sorted by key, equal keys and near runs joined, and names that are used."""
    kept, texts = dict(columns), {}
    for name in form.named:
        used, codes = np.unique(kept[name], return_inverse=True)
        texts[name] = tuple(names[name][i] for i in used.tolist())
        kept[name] = codes.astype(np.int64)
    by = [*form.keys, *((START,) if form.runs else ())]
    if len(kept[by[0]]):
        order = np.lexsort([kept[name] for name in reversed(by)])
        kept = {name: column[order] for name, column in kept.items()}
        kept = _merged_runs(form, kept, link)
    return Cells(form, texts, kept, link)


def _merged_runs(form: Form, columns: dict[str, Array], link: int) -> dict[str, Array]:
    """Sorted rows, of which those of one key and one run became one."""
    rows = len(next(iter(columns.values())))
    begins = np.zeros(rows, bool)
    begins[0] = True
    for name in form.keys:
        begins[1:] |= columns[name][1:] != columns[name][:-1]
    if form.runs:
        reach = _running_end(columns[END], np.cumsum(begins) - 1)
        begins[1:] |= columns[START][1:] - reach[:-1] > link
    if begins.all():
        return columns
    at = np.flatnonzero(begins)
    sums = {name: columns[name][at] for name in form.keys}
    for name in form.values:
        sums[name] = _REDUCED.get(name, np.add).reduceat(columns[name], at)
    return sums


def _running_end(ends: Array, group: Array) -> Array:
    """The latest end so far, group by group: ranks of ends, with those of later groups above."""
    order = np.sort(ends)
    rank = np.searchsorted(order, ends)
    highest = np.maximum.accumulate(group * len(ends) + rank)
    latest: Array = order[highest - group * len(ends)]
    return latest


# -- the tally of incidents ------------------------------------------------------------------------

SECOND = 1_000_000
DAY = 86_400 * SECOND
# Without a line for longer than this nothing was observed.
SILENCE = 3600 * SECOND

_RUN = (START, END, "alerts")
FORMS: Mapping[str, Form] = {
    "raised": Form(
        ("incident", "rule", "score"), ("incident", "rule"), ("alerts", "shared", "first")
    ),
    "daily": Form(("day", "rule", "score"), ("rule",), ("alerts", "false_alarms")),
    "groups": Form(("key", "rule", "score"), ("key", "rule"), _RUN),
    "alarms": Form(("score",), (), _RUN),
    "seen": Form(("incident",), ("incident",), ("rows", "first", "last")),
    "nearby": Form(("incident",), ("incident",), _RUN),
    "volume": Form(("day",), (), ("rows",)),
    "observed": Form((), (), (START, END, "rows")),
}


@dataclass(frozen=True)
class IncidentTally:
    """What was raised: a small table for each question, which all add.

    ``raised`` are the alerts of each incident by rule and score: how many, how many of them fit
    another incident too, and the first. ``daily`` are alerts, and false alarms among them, by day,
    rule and score. ``groups`` are false alarms of one key that follow each other within ``gap``, by
    rule and score: where those do not matter, a false incident each. ``alarms`` are all alerts in
    such runs, whatever their key. ``seen`` is what was observed of each incident, ``nearby`` its
    alerts up to a day from it, by which clocks are compared. ``volume`` counts lines by day,
    ``observed`` are the times with no silence longer than an hour. ``families`` tell the kind of an
    incident, where rows name it; ``refused`` counts rows that could not be used, by their reason.
    Without ``scored`` every alert has the score 0.

    >>> tally = IncidentTally(gap=600 * SECOND)
    >>> (tally + tally).size
    0
    """

    gap: int
    scored: bool = False
    families: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    raised: Cells = field(default_factory=lambda: Cells.zero(FORMS["raised"]))
    daily: Cells = field(default_factory=lambda: Cells.zero(FORMS["daily"]))
    groups: Cells = field(default_factory=lambda: Cells.zero(FORMS["groups"]))
    alarms: Cells = field(default_factory=lambda: Cells.zero(FORMS["alarms"]))
    seen: Cells = field(default_factory=lambda: Cells.zero(FORMS["seen"]))
    nearby: Cells = field(default_factory=lambda: Cells.zero(FORMS["nearby"], SECOND))
    volume: Cells = field(default_factory=lambda: Cells.zero(FORMS["volume"]))
    observed: Cells = field(default_factory=lambda: Cells.zero(FORMS["observed"], SILENCE))

    def __post_init__(self) -> None:
        for name in ("groups", "alarms"):
            if not getattr(self, name).size:
                # The table of nothing joins over the gap too.
                object.__setattr__(self, name, Cells.zero(FORMS[name], self.gap))

    def __add__(self, other: IncidentTally) -> IncidentTally:
        if not isinstance(other, IncidentTally):
            return NotImplemented
        return IncidentTally.merge([self, other])

    @staticmethod
    def merge(parts: Sequence[IncidentTally]) -> IncidentTally:
        """The sum of many tallies; each table is sorted once."""
        if not parts:
            raise TallyError("there are no tallies to add; give one at least")
        first = parts[0]
        families: dict[str, str] = {}
        refused: dict[str, int] = {}
        for part in parts:
            if (part.gap, part.scored) != (first.gap, first.scored):
                raise TallyError(
                    f"tallies of unlike gap or scores can't be added: a gap of {first.gap} and "
                    f"{part.gap} microseconds; count both in the same way"
                )
            for incident, family in part.families.items():
                if families.setdefault(incident, family) != family:
                    raise TallyError(
                        f"incident {incident!r} is of the family {families[incident]!r} and of "
                        f"{family!r}; an incident has one family"
                    )
            for reason, rows in part.refused.items():
                refused[reason] = refused.get(reason, 0) + rows
        tables: dict[str, Any] = {
            name: Cells.merge([getattr(part, name) for part in parts]) for name in FORMS
        }
        texts: dict[str, Any] = {
            "families": dict(sorted(families.items())),
            "refused": dict(sorted(refused.items())),
        }
        return replace(first, **texts, **tables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IncidentTally) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def size(self) -> int:
        """How many rows its tables have together."""
        return sum(getattr(self, name).size for name in FORMS)

    @property
    def alerts(self) -> int:
        """How many alerts there are, each once."""
        return int(self.daily["alerts"].sum())

    @property
    def false_alarms(self) -> int:
        """How many alerts belong to no incident."""
        return int(self.daily["false_alarms"].sum())

    @cached_property
    def scores(self) -> Array:
        """The distinct scores of alerts, ascending."""
        return np.unique(self.daily["score"])

    def at(self, threshold: float) -> IncidentTally:
        """The tally of alerts from a score on."""
        kept = {
            name: table.where(table["score"] >= threshold)
            for name, table in ((n, getattr(self, n)) for n in FORMS)
            if "score" in table.form.keys
        }
        return replace(self, **kept)

    def first_alerts(self) -> dict[str, tuple[int, int, int]]:
        """Of each incident that has alerts: how many, how many fit another too, and the first."""
        table = self.raised.without("score").without("rule")
        values = (table[name].tolist() for name in ("alerts", "shared", "first"))
        return dict(zip(table.texts("incident"), zip(*values, strict=True), strict=True))

    @cached_property
    def false_incidents(self) -> Cells:
        """Runs of false alarms by key, whatever their rules and scores."""
        return self.false_by_rule.without("rule")

    @cached_property
    def false_by_rule(self) -> Cells:
        """Runs of false alarms by key and rule."""
        return self.groups.without("score")

    @cached_property
    def under_alarm(self) -> Cells:
        """Runs of all alerts."""
        return self.alarms.without("score")

    def to_bytes(self) -> bytes:
        """The tally as bytes; :func:`assay.tally.from_bytes` reads them."""
        tables = {name: getattr(self, name) for name in FORMS}
        header = {
            "gap": self.gap,
            "scored": self.scored,
            "families": sorted(self.families.items()),
            "refused": sorted(self.refused.items()),
            "tables": {name: table.header() for name, table in tables.items()},
        }
        arrays = {
            f"{name} {column}": values
            for name, table in tables.items()
            for column, values in sorted(table.columns.items())
        }
        return codec.write("incidents", header, arrays)


@codec.reads("incidents")
def incidents_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> IncidentTally:
    """A tally from its header and arrays."""
    gap = codec.whole_number(header["gap"])
    links = {"groups": gap, "alarms": gap, "nearby": SECOND, "observed": SILENCE}
    tables = {}
    for name, form in FORMS.items():
        columns = {c: arrays[f"{name} {c}"] for c in (*form.keys, *form.values)}
        tables[name] = Cells.read(form, header["tables"][name], columns, links.get(name, 0))
    if type(header["scored"]) is not bool:
        raise ValueError("whether it has scores is not told")
    families = codec.in_order([(str(name), str(family)) for name, family in header["families"]])
    refused = codec.in_order([(str(why), codec.whole_number(n)) for why, n in header["refused"]])
    return IncidentTally(gap, header["scored"], families, refused, **tables)


# -- rows into tables ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alerts:
    """Alerts: when, how high they score, which rule raised them, and the key of each.

    ``rule`` and ``key`` are places in a list of names; ``counts`` how many equal alerts each stands
    for.
    """

    time: Array
    score: Array | None = None
    rule: tuple[Array, Sequence[str]] | None = None
    key: tuple[Array, Sequence[str]] | None = None
    counts: Array | None = None

    def cells(self, rows: Array, numbers: Array, names: Sequence[str], gap: int) -> dict[str, Any]:
        """The tables of a tally; ``rows`` and ``numbers`` tell which alert is of which incident.

        An incident is a place in ``names``.
        """
        size = len(self.time)
        score = np.zeros(size) if self.score is None else self.score + 0.0  # no -0
        counts = np.ones(size, np.int64) if self.counts is None else self.counts
        rule, rules = self.rule or (np.zeros(size, np.int64), [""])
        key, keys = self.key or (np.zeros(size, np.int64), [""])
        fitting = np.bincount(rows, minlength=size)
        false = fitting == 0
        raised = {
            "incident": numbers,
            "rule": rule[rows],
            "score": score[rows],
            "alerts": counts[rows],
            "shared": np.where(fitting[rows] > 1, counts[rows], 0),
            "first": self.time[rows],
        }
        daily = {
            "day": self.time // DAY,
            "rule": rule,
            "score": score,
            "alerts": counts,
            "false_alarms": np.where(false, counts, 0),
        }
        runs = {"score": score, START: self.time, END: self.time, "alerts": counts}
        grouped = {"key": key, "rule": rule, **runs}
        groups = {name: column[false] for name, column in grouped.items()}
        return {
            "raised": Cells.of(FORMS["raised"], raised, {"incident": names, "rule": rules}),
            "daily": Cells.of(FORMS["daily"], daily, {"rule": rules}),
            "groups": Cells.of(FORMS["groups"], groups, {"key": keys, "rule": rules}, gap),
            "alarms": Cells.of(FORMS["alarms"], runs, link=gap),
        }


def seen_cells(
    time: Array, numbers: Array, names: Sequence[str], counts: Array | None = None
) -> Cells:
    """What was observed of incidents."""
    rows = np.ones(len(time), np.int64) if counts is None else counts
    columns = {"incident": numbers, "rows": rows, "first": time, "last": time}
    return Cells.of(FORMS["seen"], columns, {"incident": names})


def observed_cells(time: Array, counts: Array | None = None) -> dict[str, Any]:
    """How many lines there are by day, and which times they observe."""
    rows = np.ones(len(time), np.int64) if counts is None else counts
    return {
        "volume": Cells.of(FORMS["volume"], {"day": time // DAY, "rows": rows}),
        "observed": Cells.of(
            FORMS["observed"], {START: time, END: time, "rows": rows}, link=SILENCE
        ),
    }
