"""Flows and alerts of a week as the lines of its files."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from assay.learn.scenarios.week.attacks import DAY, FALSE, RULES, Attack
from assay.learn.scenarios.windows import FIRST_DAY, SECOND

if TYPE_CHECKING:
    import polars as pl

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
