"""A week of an office network as its sensors log it, with nine attacks on a schedule.

``eve.json`` is what Suricata writes, ``conn.log`` what Zeek writes, ``attacks.csv`` the schedule,
``flows.csv`` the flows as a table with the incident and a score of each, and ``truth.json`` what
can be counted in them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.learn.scenarios.week.attacks import DAY, alerts_of, attacks_of
from assay.learn.scenarios.week.lines import (
    CONN_END,
    CONN_HEAD,
    FLOWS_HEAD,
    alert_lines,
    conn_lines,
    eve_flow_lines,
    flow_rows,
    schedule_text,
    stats_line,
    truth_text,
)
from assay.learn.scenarios.week.traffic import flows_by_hour
from assay.learn.scenarios.windows import ROWS, SEED, check_size
from assay.sources.files import Progress, silent

__all__ = ["FILES", "Week", "write_week"]

EVE, CONN, ATTACKS, FLOWS, TRUTH = FILES = (
    *("eve.json", "conn.log", "attacks.csv"),
    *("flows.csv", "truth.json"),
)


@dataclass(frozen=True)
class Week:
    """What was written: lines of the two logs, alerts, attacks, and how many of them were seen."""

    eve: int
    conn: int
    alerts: int
    attacks: int
    detected: int


def write_week(
    folder: Path, rows: int = ROWS, seed: int = SEED, progress: Progress = silent
) -> Week:
    """Write the files of a week into a folder that is there; ``rows`` lines in both logs together.

    More rows are more harmless flows: alerts and attacks are those of the seed.
    """
    check_size(rows, seed, 1)
    attacks = attacks_of(seed)
    alerts = alerts_of(seed, attacks)
    least = len(alerts) + 2 * sum(attack.flows for attack in attacks) + 2
    if rows < least:
        raise InputError(f"rows={rows} is too small for the attacks of a week; say {least} or more")
    # A flow is a line of both logs, and a line about the sensor makes the number even.
    stats = 2 - (rows - len(alerts)) % 2
    flows = (rows - len(alerts) - stats) // 2
    with contextlib.ExitStack() as stack:
        eve, conn, table = (
            stack.enter_context((folder / name).open("w", encoding="utf-8", newline="\n"))
            for name in (EVE, CONN, FLOWS)
        )
        eve.write(stats_line(0))
        conn.write(CONN_HEAD)
        table.write(FLOWS_HEAD)
        done = 0
        for hour in _hours(flows_by_hour(seed, attacks, flows), alerts):
            done += _write_hour(*hour, attacks, eve, conn, table)
            progress(done, rows)
        eve.write(stats_line(7 * DAY) * (stats - 1))
        conn.write(CONN_END)
    (folder / ATTACKS).write_text(schedule_text(attacks), "utf-8")
    (folder / TRUTH).write_text(truth_text(seed, attacks, alerts, flows, stats), "utf-8")
    detected = sum(attack.first is not None for attack in attacks)
    return Week(flows + len(alerts) + stats, flows, len(alerts), len(attacks), detected)


def _hours(
    blocks: Iterator[npt.NDArray[np.void]], alerts: npt.NDArray[np.void]
) -> Iterator[tuple[npt.NDArray[np.void], npt.NDArray[np.void], npt.NDArray[np.void]]]:
    """The flows that began, those that ended and the alerts, an hour at a time."""
    waiting: npt.NDArray[np.void] | None = None
    told = 0
    for flows in blocks:
        # Suricata tells of a flow when it is over.
        over = flows if waiting is None else np.concatenate([waiting, flows])
        ends = over["time"] + over["duration"]
        limit = int(flows["time"].max()) if len(flows) else 0
        now = ends <= limit
        waiting, over = over[~now], over[now]
        size = int(np.searchsorted(alerts["time"], limit, side="right"))
        yield flows, over, alerts[told : max(size, told)]
        told = max(size, told)
    if waiting is not None:
        yield waiting[:0], waiting, alerts[told:]


def _write_hour(
    flows: npt.NDArray[np.void],
    over: npt.NDArray[np.void],
    alerts: npt.NDArray[np.void],
    attacks: Any,
    eve: IO[str],
    conn: IO[str],
    table: IO[str],
) -> int:
    times = np.concatenate([over["time"] + over["duration"], alerts["time"]])
    lines = np.array([*eve_flow_lines(over), *alert_lines(alerts)], object)
    eve.writelines(lines[np.argsort(times, kind="stable")])
    conn.writelines(conn_lines(flows))
    table.writelines(flow_rows(flows, attacks))
    return len(lines) + len(flows)
