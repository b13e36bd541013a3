"""A week of an office network as its sensors log it, with nine attacks on a schedule.

``eve.json`` is what Suricata writes, ``conn.log`` what Zeek writes, ``attacks.csv`` the schedule,
``flows.csv`` the flows as a table with the incident and a score of each, and ``truth.json`` what
can be counted in them.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.learn.scenarios.week_traffic import (
    DAY,
    FALSE,
    RULES,
    Attack,
    alerts_of,
    attacks_of,
    flows_by_hour,
)
from assay.v02.learn.scenarios.windows import FIRST_DAY, ROWS, SECOND, SEED, check_size
from assay.v02.sources.files import Progress, silent

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FILES", "Week", "write_week"]

START = int(dt.datetime.fromisoformat(f"{FIRST_DAY}T00:00:00+00:00").timestamp()) * SECOND
_COLUMNS = {
    "ts": "time",
    "uid": "string",
    "id.orig_h": "addr",
    "id.orig_p": "port",
    "id.resp_h": "addr",
    "id.resp_p": "port",
    "proto": "enum",
    "service": "string",
    "duration": "interval",
    "orig_bytes": "count",
    "resp_bytes": "count",
    "conn_state": "string",
}
_OPENED = f"{FIRST_DAY}-00-00-00"
CONN_HEAD = (
    "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n"
    f"#open\t{_OPENED}\n#fields\t"
    + "\t".join(_COLUMNS)
    + "\n#types\t"
    + "\t".join(_COLUMNS.values())
) + "\n"
CONN_END = f"#close\t{_OPENED}\n"
FLOWS_HEAD = "time,host,incident,family,score,label\n"
_SERVICES = {443: "tls", 80: "http", 53: "dns", 445: "smb", 22: "ssh", 25: "smtp", 993: "tls"}
_ISO = "%Y-%m-%dT%H:%M:%S%.6f"


def _frame(rows: npt.NDArray[np.void]) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame({name: rows[name] for name in rows.dtype.names or ()})
    return frame.with_columns(
        pl.col("time") + START,
        udp=pl.col("dst_port") == 53,
        # A number for each flow, the same in both logs.
        flow=(pl.col("time") * 1_000_003 + pl.col("src_port") * 65_537) % (1 << 50),
    ).with_columns(
        proto=pl.when("udp").then(pl.lit("UDP")).otherwise(pl.lit("TCP")),
        service=pl.col("dst_port").replace_strict(_SERVICES, default=None),
    )


def _moment(micros: pl.Expr) -> pl.Expr:
    import polars as pl

    return micros.cast(pl.Datetime("us")).dt.strftime(_ISO)


def eve_flow_lines(flows: npt.NDArray[np.void]) -> list[str]:
    """Flows as Suricata tells of them when they are over."""
    import polars as pl

    col = pl.col
    end = col("time") + col("duration")
    half = col("packets") // 2
    return _formatted(
        _frame(flows),
        '{"timestamp":"<>+0000","flow_id":<>,"in_iface":"eth0","event_type":"flow",'
        '"src_ip":"<>","src_port":<>,"dest_ip":"<>","dest_port":<>,"proto":"<>",'
        '"app_proto":"<>","flow":{"pkts_toserver":<>,"pkts_toclient":<>,"bytes_toserver":<>,'
        '"bytes_toclient":<>,"start":"<>+0000","end":"<>+0000","age":<>,"state":"closed",'
        '"reason":"timeout","alerted":false}}\n',
        *(_moment(end), "flow", "src_ip", "src_port", "dst_ip", "dst_port", "proto"),
        *(col("service").fill_null("failed"), half, col("packets") - half, "sent", "received"),
        *(_moment(col("time")), _moment(end), col("duration") // SECOND),
    )


def alert_lines(alerts: npt.NDArray[np.void]) -> list[str]:
    """Alerts as Suricata tells of them."""
    import polars as pl

    rules = [
        json.dumps(
            {
                "action": "allowed",
                "gid": 1,
                "signature_id": rule.number,
                "rev": 1,
                "signature": rule.name,
                "category": rule.category,
                "severity": rule.severity,
            },
            separators=(",", ":"),
        )
        for rule in RULES
    ]
    return _formatted(
        _frame(alerts),
        '{"timestamp":"<>+0000","flow_id":<>,"in_iface":"eth0","event_type":"alert",'
        '"src_ip":"<>","src_port":<>,"dest_ip":"<>","dest_port":<>,"proto":"<>",'
        '"alert":<>,"app_proto":"<>","flow":{"src_ip":"<>","dest_ip":"<>",'
        '"src_port":<>,"dest_port":<>}}\n',
        *(_moment(pl.col("time")), "flow", "src_ip", "src_port", "dst_ip", "dst_port", "proto"),
        pl.col("rule").replace_strict(dict(enumerate(rules)), return_dtype=pl.String),
        pl.col("service").fill_null("failed"),
        *("src_ip", "dst_ip", "src_port", "dst_port"),
    )


def stats_line(micros: int) -> str:
    """What Suricata tells of itself."""
    moment = _iso(micros).replace("Z", ".000000+0000")
    stats = {"uptime": micros // SECOND, "capture": {"kernel_drops": 0}}
    return json.dumps({"timestamp": moment, "event_type": "stats", "stats": stats}) + "\n"


def _formatted(frame: pl.DataFrame, template: str, *parts: str | pl.Expr) -> list[str]:
    """A line for each row: a template with a part for each ``<>``."""
    import polars as pl

    # To polars a brace is a part.
    marked = template.replace("{", "\x02").replace("}", "\x03").replace("<>", "{}")
    text = frame.select(pl.format(marked, *parts)).to_series()
    for sign, brace in (("\x02", "{"), ("\x03", "}")):
        text = text.str.replace_all(sign, brace, literal=True)
    return text.to_list()


def conn_lines(flows: npt.NDArray[np.void]) -> list[str]:
    """Flows as Zeek tells of them."""
    import polars as pl

    def seconds(micros: pl.Expr) -> pl.Expr:
        part = (micros % SECOND).cast(pl.String).str.zfill(6)
        return (micros // SECOND).cast(pl.String) + "." + part

    return _formatted(
        _frame(flows),
        "\t".join(["<>"] * len(_COLUMNS)) + "\n",
        seconds(pl.col("time")),
        "C" + pl.col("flow").cast(pl.String),
        *("src_ip", "src_port", "dst_ip", "dst_port"),
        pl.col("proto").str.to_lowercase(),
        pl.col("service").fill_null("-"),
        seconds(pl.col("duration")),
        *("sent", "received"),
        pl.lit("SF"),
    )


def flow_rows(flows: npt.NDArray[np.void], attacks: tuple[Attack, ...]) -> list[str]:
    """Flows as rows of a table: of an attack or of none, and what a detector thinks of each."""
    import polars as pl

    names = {i: attack.name for i, attack in enumerate(attacks)} | {FALSE: ""}
    families = {i: attack.family for i, attack in enumerate(attacks)} | {FALSE: "none"}
    attack = pl.col("attack")
    return _formatted(
        _frame(flows),
        "<>Z,<>,<>,<>,<>,<>\n",
        *(_moment(pl.col("time")), "src_ip"),
        *(attack.replace_strict(by, return_dtype=pl.String) for by in (names, families)),
        pl.col("score").round(6),
        pl.when(attack == FALSE).then(pl.lit("normal")).otherwise(pl.lit("attack")),
    )


def schedule_text(attacks: tuple[Attack, ...]) -> str:
    """When which attack was, between whom; an empty port is any."""
    lines = ["attack,family,start,end,src_ip,dst_ip,dst_port"]
    lines += [
        f"{a.name},{a.family},{_iso(a.start)},{_iso(a.end)},{a.src_ip},{a.dst_ip},"
        f"{'' if a.dst_port is None else a.dst_port}"
        for a in attacks
    ]
    return "\n".join(lines) + "\n"


def truth_text(
    seed: int, attacks: tuple[Attack, ...], alerts: npt.NDArray[np.void], flows: int, stats: int
) -> str:
    """What can be counted in the files, without any grace after the end of an attack."""
    told = []
    for number, attack in enumerate(attacks):
        own = alerts[alerts["attack"] == number]
        first = int(own["time"].min()) if len(own) else None
        told.append(
            {
                "attack": attack.name,
                "family": attack.family,
                "start": _iso(attack.start),
                "end": _iso(attack.end),
                "detected": first is not None,
                "first_alert": None if first is None else _iso(first),
                "delay": None if first is None else (first - attack.start) / SECOND,
                "alerts": len(own),
                "rules": [] if first is None else [str(RULES[attack.rule].number)],
                "flows": attack.flows,
                "late_alerts": attack.late,
            }
        )
    false = alerts[alerts["attack"] == FALSE]
    days = Counter(_iso(int(time))[:10] for time in false["time"])
    rules = Counter(str(RULES[int(rule)].number) for rule in false["rule"])
    truth = {
        "seed": seed,
        "start": _iso(0),
        "end": _iso(7 * DAY),
        "lines": {"eve.json": flows + len(alerts) + stats, "conn.log": flows},
        "alerts": len(alerts),
        "false_alarms": len(false),
        "false_alarms_by_day": dict(sorted(days.items())),
        "false_alarms_by_rule": dict(sorted(rules.items())),
        "attacks": told,
    }
    return json.dumps(truth, indent=2) + "\n"


def _iso(micros: int) -> str:
    moment = dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=START + micros)
    return moment.isoformat().replace("+00:00", "Z")


# -- the files -------------------------------------------------------------------------------------

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
