"""Incidents and alerts: what was raised for each incident, when first, and what for none.

Times are whole microseconds since 1970, in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.cells import END, START, Cells, Form

Array: TypeAlias = npt.NDArray[Any]

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


@dataclass(frozen=True, eq=False)
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
    groups: Cells | None = None
    alarms: Cells | None = None
    seen: Cells = field(default_factory=lambda: Cells.zero(FORMS["seen"]))
    nearby: Cells = field(default_factory=lambda: Cells.zero(FORMS["nearby"], SECOND))
    volume: Cells = field(default_factory=lambda: Cells.zero(FORMS["volume"]))
    observed: Cells = field(default_factory=lambda: Cells.zero(FORMS["observed"], SILENCE))

    def __post_init__(self) -> None:
        for name in ("groups", "alarms"):
            if getattr(self, name) is None:
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
        assert self.groups is not None  # noqa: S101 - set at the beginning
        return self.groups.without("score")

    @cached_property
    def under_alarm(self) -> Cells:
        """Runs of all alerts."""
        assert self.alarms is not None  # noqa: S101 - as above
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
        own = {c: arrays[f"{name} {c}"] for c in (*form.keys, *form.values)}
        tables[name] = Cells.read(form, header["tables"][name], own, links.get(name, 0))
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
