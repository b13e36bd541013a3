"""Tables of incidents and alerts: runs of moments, sums by key, and what is refused."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import IncidentTally, codec, from_bytes
from assay.tally.incident_tally import (
    DAY,
    FORMS,
    SECOND,
    SILENCE,
    Alerts,
    Cells,
    Form,
    observed_cells,
    seen_cells,
)

Array = np.ndarray[Any, Any]
RUNS = Form(("key",), ("key",), ("start", "end", "alerts"))
SUMS = Form(("day", "rule", "score"), ("rule",), ("alerts", "first", "last"))


def _rows(table: Cells) -> list[tuple[Any, ...]]:
    named = [
        table.texts(k) if k in table.form.named else table[k].tolist() for k in table.form.keys
    ]
    return list(zip(*named, *(table[value].tolist() for value in table.form.values), strict=True))


# -- runs of moments -------------------------------------------------------------------------------


def _runs(rows: Sequence[tuple[str, int, int, int]], link: int) -> list[tuple[Any, ...]]:
    """Runs by key, one moment after the other."""
    by_key = defaultdict(list)
    for key, start, end, alerts in sorted(rows):
        runs = by_key[key]
        if runs and start - runs[-1][1] <= link:
            runs[-1] = runs[-1][0], max(runs[-1][1], end), runs[-1][2] + alerts
        else:
            runs.append((start, end, alerts))
    return [(key, *run) for key, runs in sorted(by_key.items()) for run in runs]


MOMENTS = {
    "one": [("a", 5, 5, 1)],
    "near": [("a", 5, 5, 1), ("a", 15, 15, 2), ("a", 26, 26, 3)],
    "in any order": [("b", 26, 26, 3), ("a", 15, 15, 2), ("b", 5, 5, 1), ("a", 5, 6, 7)],
    "a long run that others lie in": [("a", 0, 100, 1), ("a", 3, 4, 2), ("a", 50, 50, 3),
                                      ("a", 111, 112, 4), ("a", 110, 110, 5)],
    "a long run of another key": [("a", 0, 100, 1), ("b", 3, 4, 2), ("b", 50, 50, 3),
                                  ("c", 1, 1, 1)],
    "the last run is the longest": [("a", 0, 1, 1), ("a", 20, 90, 2), ("b", 0, 200, 3),
                                    ("b", 205, 205, 1)],
    "negative times": [("a", -50, -40, 1), ("a", -30, -30, 1), ("a", -19, 0, 2), ("a", 10, 10, 1)],
}  # fmt: skip


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("link", [0, 9, 10, 11])
def test_moments_of_a_key_that_are_near_are_one_run(name: str, link: int) -> None:
    rows = MOMENTS[name]
    keys = sorted({key for key, *_ in rows}, reverse=True)

    def table(some: Sequence[tuple[str, int, int, int]]) -> Cells:
        columns = {
            "key": [keys.index(key) for key, *_ in some],
            **{value: [row[i] for row in some] for i, value in enumerate(RUNS.values, start=1)},
        }
        return Cells.of(RUNS, columns, {"key": keys}, link)

    whole = table(rows)
    assert _rows(whole) == _runs(rows, link)
    assert (whole.link, whole.names["key"]) == (link, tuple(sorted(keys)))
    for cut in range(len(rows) + 1):
        parts = [table(rows[:cut]), table(rows[cut:])]
        assert _rows(parts[0] + parts[1]) == _rows(parts[1] + parts[0]) == _rows(whole)
    assert _rows(whole.without("key")) == [
        row[1:] for row in _runs([("", *r[1:]) for r in rows], link)
    ]


# -- sums by key -----------------------------------------------------------------------------------

COLUMNS = {
    "day": [2, 1, 2, 2, 1],
    "rule": [0, 1, 0, 2, 1],
    "score": [0.5, 0.25, 0.5, 0.5, -1.0],
    "alerts": [1, 2, 3, 4, 5],
    "first": [7, 9, 6, 5, 4],
    "last": [7, 9, 8, 5, 4],
}
RULES = ("ssh", "dns", "ftp", "unused")


def _sums() -> Cells:
    return Cells.of(SUMS, COLUMNS, {"rule": RULES})


def test_equal_keys_are_one_row_with_the_earliest_and_the_latest() -> None:
    table = _sums()
    assert _rows(table) == [
        (1, "dns", -1.0, 5, 4, 4), (1, "dns", 0.25, 2, 9, 9),
        (2, "ftp", 0.5, 4, 5, 5), (2, "ssh", 0.5, 4, 6, 8),
    ]  # fmt: skip
    assert table.names == {"rule": ("dns", "ftp", "ssh")}
    assert (table.size, table.link) == (4, 0)
    assert table["score"].dtype == np.float64
    assert all(table[name].dtype == np.int64 for name in ("day", "rule", "alerts", "first"))
    assert table.header() == {"names": {"rule": ["dns", "ftp", "ssh"]}}


def test_a_table_by_fewer_keys_adds_what_becomes_equal() -> None:
    table = _sums()
    fewer = table.without("score")
    assert fewer.form == Form(("day", "rule"), ("rule",), SUMS.values)
    assert _rows(fewer) == [(1, "dns", 7, 4, 9), (2, "ftp", 4, 5, 5), (2, "ssh", 4, 6, 8)]
    unnamed = fewer.without("rule")
    assert unnamed.form == Form(("day",), (), SUMS.values)
    assert _rows(unnamed) == [(1, 7, 4, 9), (2, 8, 5, 8)]
    some = table.where(table["score"] > 0.3)
    assert _rows(some) == [(2, "ftp", 0.5, 4, 5, 5), (2, "ssh", 0.5, 4, 6, 8)]
    assert some.names == {"rule": ("ftp", "ssh")}
    assert table.where(table["score"] > 3).size == 0


def test_names_are_united_when_tables_are_added() -> None:
    one, other = _sums(), Cells.of(SUMS, COLUMNS, {"rule": ("zip", "ssh", "arp", "x")})
    total = one + other
    assert total.names == {"rule": ("arp", "dns", "ftp", "ssh", "zip")}
    assert sorted(_rows(total)) == sorted([
        (1, "dns", -1.0, 5, 4, 4), (1, "dns", 0.25, 2, 9, 9), (2, "ftp", 0.5, 4, 5, 5),
        (2, "ssh", 0.5, 4, 6, 8), (1, "ssh", -1.0, 5, 4, 4), (1, "ssh", 0.25, 2, 9, 9),
        (2, "arp", 0.5, 4, 5, 5), (2, "zip", 0.5, 4, 6, 8),
    ])  # fmt: skip
    assert _rows(total) == _rows(other + one)
    zero = Cells.zero(SUMS)
    assert (zero.size, zero.names, zero["score"].dtype) == (0, {"rule": ()}, np.float64)
    assert Cells.merge([zero, one, zero]) is one
    assert Cells.merge([zero, zero]) is zero
    assert _rows(one + one) == [(*row[:3], 2 * row[3], *row[4:]) for row in _rows(one)]
    # Tables are compared as objects, or by the bytes of a tally.
    assert len({one, _sums()}) == 2


def test_runs_joined_over_unlike_gaps_are_not_added() -> None:
    one, other = Cells.zero(RUNS, 5), Cells.zero(RUNS, 6)
    with pytest.raises(TallyError, match="joined over 6 and 5 microseconds can't be added"):
        one + other
    with pytest.raises(TallyError, match="can't be added"):
        Cells.zero(RUNS) + Cells.zero(SUMS)
    assert RUNS.runs
    assert not SUMS.runs


GOOD = {name: np.array(column) for name, column in COLUMNS.items()}
UNREADABLE: dict[str, tuple[dict[str, Any], str]] = {
    "a column too short": ({"alerts": np.array([1])}, "its columns are of unlike length"),
    "a number as text": ({"day": GOOD["day"].astype(np.float64)}, "its column day is of another"),
    "whole scores": ({"score": GOOD["day"]}, "its column score is of another kind"),
    "narrow numbers": ({"alerts": GOOD["alerts"].astype(np.uint8)}, "its column alerts is of"),
    "a negative name": ({"rule": GOOD["rule"] - 1}, "its rule has no name"),
    "a name too many": ({"rule": GOOD["rule"] + 2}, "its rule has no name"),
    "an infinite score": ({"score": GOOD["score"] * np.inf}, "a score is no finite number"),
    "one infinite score": ({"score": np.array([0, 0, 0, 0, np.inf])}, "a score is no finite"),
    "a negative sum": ({"alerts": np.array([1, 2, -3, 4, 5])}, "a number of alerts is negative"),
}  # fmt: skip


def _read(changed: dict[str, Any], names: Sequence[str] = ("arp", "dns", "ftp", "ssh")) -> Cells:
    return Cells.read(SUMS, {"names": {"rule": names}}, GOOD | changed, 3)


def test_a_table_is_read_from_its_columns() -> None:
    assert [row[:2] for row in _rows(_read({}))] == [(1, "dns"), (1, "dns"), (2, "arp"), (2, "ftp")]
    assert _read({}).link == 3
    # Times and keys may be negative, and a sum may be zero.
    early = {name: np.array([-5, 0, 0, 0, 0]) for name in ("day", "first", "last")}
    assert _read(early | {"alerts": np.zeros(5, np.int64)}).size == 5
    none = {name: column[:0] for name, column in GOOD.items()}
    assert _read(none).size == 0
    assert _read(none, names=()).size == 0


@pytest.mark.parametrize("name", UNREADABLE)
def test_columns_that_are_no_table_are_refused(name: str) -> None:
    changed, message = UNREADABLE[name]
    with pytest.raises(ValueError, match=message):
        _read(changed)


def test_columns_of_tables_and_names_out_of_order_are_refused() -> None:
    tables = {name: column[:, None] for name, column in GOOD.items()}
    with pytest.raises(ValueError, match="is of another kind"):
        _read(tables)
    for names in (("dns", "arp", "ftp", "ssh"), ("arp", "arp", "ftp", "ssh")):
        with pytest.raises(ValueError, match="are not in order"):
            _read({}, names)


# -- alerts into tables ----------------------------------------------------------------------------

GAP = 600 * SECOND
TIME = np.array([0, DAY - 1, DAY, DAY + GAP, 3 * DAY, -1])


def test_times_are_in_microseconds() -> None:
    assert (SECOND, DAY, SILENCE) == (10**6, 24 * 3600 * 10**6, 3600 * 10**6)


def test_alerts_are_counted_by_incident_day_and_key() -> None:
    alerts = Alerts(
        TIME,
        np.array([0.5, -0.0, 0.5, 0.5, 0.25, 0.0]),
        (np.array([0, 1, 0, 0, 1, 1]), ("ssh", "dns")),
        (np.array([1, 0, 0, 0, 1, 0]), ("beta", "alpha")),
        np.array([1, 2, 3, 4, 5, 6]),
    )
    # The first alert is of both incidents, the fifth of the second.
    cells = alerts.cells(np.array([0, 0, 4]), np.array([1, 0, 0]), ("worm", "dos"), GAP)
    assert _rows(cells["raised"]) == [
        ("dos", "ssh", 0.5, 1, 1, 0),
        ("worm", "dns", 0.25, 5, 0, 3 * DAY),
        ("worm", "ssh", 0.5, 1, 1, 0),
    ]
    assert _rows(cells["daily"]) == [
        (-1, "dns", 0.0, 6, 6), (0, "dns", 0.0, 2, 2), (0, "ssh", 0.5, 1, 0),
        (1, "ssh", 0.5, 7, 7), (3, "dns", 0.25, 5, 0),
    ]  # fmt: skip
    assert _rows(cells["groups"]) == [
        ("beta", "dns", 0.0, -1, -1, 6),
        ("beta", "dns", 0.0, DAY - 1, DAY - 1, 2),
        ("beta", "ssh", 0.5, DAY, DAY + GAP, 7),
    ]
    assert _rows(cells["alarms"]) == [
        (0.0, -1, -1, 6), (0.0, DAY - 1, DAY - 1, 2), (0.25, 3 * DAY, 3 * DAY, 5),
        (0.5, 0, 0, 1), (0.5, DAY, DAY + GAP, 7),
    ]  # fmt: skip
    assert not np.signbit(cells["daily"]["score"]).any()
    tally = IncidentTally(GAP, scored=True, **cells)
    assert (tally.alerts, tally.false_alarms, tally.size) == (21, 15, 3 + 5 + 3 + 5)
    assert tally.scores.tolist() == [0.0, 0.25, 0.5]
    assert tally.first_alerts() == {"dos": (1, 1, 0), "worm": (6, 1, 0)}
    assert _rows(tally.under_alarm) == [
        (-1, 0, 7), (DAY - 1, DAY + GAP, 9), (3 * DAY, 3 * DAY, 5),
    ]  # fmt: skip
    assert _rows(tally.false_by_rule) == [(k, r, *run) for k, r, _, *run in _rows(cells["groups"])]
    assert _rows(tally.false_incidents) == [("beta", -1, -1, 6), ("beta", DAY - 1, DAY + GAP, 9)]
    above = tally.at(0.5)
    assert (above.alerts, above.false_alarms) == (8, 7)
    assert _rows(above.under_alarm) == [(0, 0, 1), (DAY, DAY + GAP, 7)]
    assert [tally.at(s).alerts for s in (0.0, 0.1, 0.25, 0.3, 0.6)] == [21, 13, 13, 8, 0]
    assert from_bytes(tally.to_bytes()) == tally


def test_alerts_without_scores_rules_keys_or_counts_are_one_each() -> None:
    cells = Alerts(TIME).cells(np.array([2]), np.array([0]), ("worm",), GAP)
    assert _rows(cells["raised"]) == [("worm", "", 0.0, 1, 0, DAY)]
    assert _rows(cells["daily"]) == [
        (-1, "", 0.0, 1, 1), (0, "", 0.0, 2, 2), (1, "", 0.0, 2, 1), (3, "", 0.0, 1, 1),
    ]  # fmt: skip
    assert _rows(cells["groups"]) == [
        ("", "", 0.0, -1, 0, 2), ("", "", 0.0, DAY - 1, DAY - 1, 1),
        ("", "", 0.0, DAY + GAP, DAY + GAP, 1), ("", "", 0.0, 3 * DAY, 3 * DAY, 1),
    ]  # fmt: skip
    none = Alerts(TIME[:0]).cells(np.empty(0, int), np.empty(0, int), (), GAP)
    assert [table.size for table in none.values()] == [0, 0, 0, 0]


def test_what_was_observed_is_told_by_incident_and_by_day() -> None:
    numbers, names = np.array([1, 0, 1, 1, 0, 1]), ("worm", "dos")
    seen = seen_cells(TIME, numbers, names)
    assert _rows(seen) == [("dos", 4, -1, DAY + GAP), ("worm", 2, DAY - 1, 3 * DAY)]
    counts = np.array([1, 2, 3, 4, 5, 6])
    assert _rows(seen_cells(TIME, numbers, names, counts))[0] == ("dos", 14, -1, DAY + GAP)
    observed = observed_cells(TIME)
    assert _rows(observed["volume"]) == [(-1, 1), (0, 2), (1, 2), (3, 1)]
    assert _rows(observed["observed"]) == [
        (-1, 0, 2), (DAY - 1, DAY + GAP, 3), (3 * DAY, 3 * DAY, 1),
    ]  # fmt: skip
    hour = observed_cells(np.array([0, SILENCE, 2 * SILENCE + 1]), counts[:3])
    assert _rows(hour["observed"]) == [(0, SILENCE, 3), (2 * SILENCE + 1, 2 * SILENCE + 1, 3)]
    assert _rows(hour["volume"]) == [(0, 6)]


# -- the tally -------------------------------------------------------------------------------------


def _tally(**more: Any) -> IncidentTally:
    cells = Alerts(TIME).cells(np.array([2]), np.array([0]), ("worm",), GAP)
    return IncidentTally(GAP, **{**cells, **observed_cells(TIME), **more})


def test_tallies_add_table_by_table() -> None:
    one = _tally(families={"worm": "A"}, refused={"no time": 2, "no key": 1})
    other = _tally(families={"dos": "B"}, refused={"no time": 3})
    total = one + other
    assert total.families == {"dos": "B", "worm": "A"}
    assert list(total.families) == ["dos", "worm"]
    assert total.refused == {"no key": 1, "no time": 5}
    assert (total.alerts, total.false_alarms) == (12, 10)
    assert _rows(total.observed)[0] == (-1, 0, 4)
    assert total == other + one == from_bytes(total.to_bytes())
    assert hash(total) == hash(other + one)
    assert total + IncidentTally(GAP) == total
    assert total != one != other
    with pytest.raises(TallyError, match="incident 'worm' is of the family 'A' and of 'C'"):
        one + _tally(families={"worm": "C"})
    with pytest.raises(TallyError, match="no tallies to add"):
        IncidentTally.merge([])


@pytest.mark.parametrize("other", [IncidentTally(GAP + 1), IncidentTally(GAP, scored=True)])
def test_tallies_of_another_gap_or_of_scores_are_not_added(other: IncidentTally) -> None:
    for a, b in ((_tally(), other), (other, _tally())):
        with pytest.raises(TallyError, match="tallies of unlike gap or scores can't be added"):
            a + b


def test_a_tally_of_nothing_joins_over_its_gap() -> None:
    empty = IncidentTally(7)
    links = {name: getattr(empty, name).link for name in FORMS}
    assert links == {
        "raised": 0, "daily": 0, "groups": 7, "alarms": 7, "seen": 0, "nearby": SECOND,
        "volume": 0, "observed": SILENCE,
    }  # fmt: skip
    assert (empty.size, empty.scored, empty.scores.tolist(), empty.first_alerts()) == (
        0,
        False,
        [],
        {},
    )
    again = from_bytes(empty.to_bytes())
    assert {name: getattr(again, name).link for name in FORMS} == links
    full = from_bytes(_tally().to_bytes())
    assert {n: getattr(full, n).link for n in FORMS} == links | {"groups": GAP, "alarms": GAP}


def test_a_head_that_is_no_tally_is_refused() -> None:
    written = _tally(refused={"a": 1, "b": 2}, families={"x": "A", "y": "B"})
    tables = {name: getattr(written, name) for name in FORMS}
    arrays = {
        f"{name} {column}": values
        for name, table in tables.items()
        for column, values in table.columns.items()
    }
    header = {
        "gap": GAP,
        "scored": False,
        "families": [["x", "A"], ["y", "B"]],
        "refused": [["a", 1], ["b", 2]],
        "tables": {name: table.header() for name, table in tables.items()},
    }
    assert from_bytes(codec.write("incidents", header, arrays)) == written
    for changed, message in (
        ({"gap": -1}, "a number of rows is -1"),
        ({"scored": 0}, "whether it has scores is not told"),
        ({"scored": None}, "whether it has scores is not told"),
        ({"families": [["y", "B"], ["x", "A"]]}, "are not in order"),
        ({"refused": [["a", -1]]}, "a number of rows is -1"),
        ({"refused": [["b", 1], ["a", 1]]}, "are not in order"),
    ):
        with pytest.raises(TallyError, match=message):
            from_bytes(codec.write("incidents", header | changed, arrays))
