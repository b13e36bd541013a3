"""Small weeks of logs, made up: eve.json, conn.log and the schedule of their attacks."""

import csv
import datetime as dt
import io
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MONDAY = dt.datetime(2026, 11, 2, tzinfo=dt.UTC)
ATTACKS = ("scan", "dos", "brute force")
COLUMNS = ("id", "attack", "family", "start", "end", "src_ip", "dst_ip", "dst_port")


@dataclass(frozen=True)
class Week:
    """The lines of two logs, and the attacks."""

    eve: list[str]
    conn: list[str]
    schedule: list[dict[str, str]]

    def write(self, folder: Path) -> tuple[Path, Path, Path]:
        """All three as files."""
        paths = tuple(folder / name for name in ("eve.json", "conn.log", "attacks.csv"))
        paths[0].write_text("".join(f"{line}\n" for line in self.eve), "utf-8")
        paths[1].write_text("".join(f"{line}\n" for line in self.conn), "utf-8")
        table = io.StringIO()
        writer = csv.DictWriter(table, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(self.schedule)
        paths[2].write_text(table.getvalue(), "utf-8")
        return paths  # type: ignore[return-value]


def eve_alert(
    time: dt.datetime, source: str, target: str, rule: int, **more: Any
) -> dict[str, Any]:
    """An alert as Suricata writes it."""
    return {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.%f+0000"),
        "event_type": "alert",
        "src_ip": source,
        "src_port": 40_000 + rule,
        "dest_ip": target,
        "dest_port": 443,
        "alert": {"signature_id": rule, "signature": f"rule {rule}", "severity": 1 + rule % 3},
        **more,
    }


def week(seed: int, *, attacks: int = 9, noise: int = 300) -> Week:
    """Attacks of which some are missed, alerts in both directions, and false alarms in bursts."""
    draw = random.Random(seed)
    schedule, lines, seen = [], [], []
    for i in range(attacks):
        start = MONDAY + dt.timedelta(hours=4 + 17 * i, seconds=draw.randrange(3600))
        end = start + dt.timedelta(seconds=draw.randrange(60, 3000))
        source = f"203.0.113.{i + 1}" if i % 4 else f"2001:db8::{i + 1:x}"
        net = "192.168.0.0/16;10.0.0.0/8" if i % 4 else "2001:db8:1::/48"
        target = "192.168.7.9" if i % 4 else "2001:db8:1::9"
        attack = ATTACKS[i % 3]
        family = "flood" if attack == "dos" else "probe"
        times = {"start": start.isoformat(), "end": end.isoformat()}
        schedule.append(
            {"id": f"a{i}", "attack": attack, "family": family, **times, "src_ip": source}
            | {"dst_ip": net, "dst_port": "443" if i % 2 else ""}
        )
        seen.append((start, source, target))
        for _ in range(draw.choice([0, 1, 4, 30])):
            time = start + (end - start) * draw.random() * 1.05
            ends = (source, target) if i % 2 or draw.random() < 0.7 else (target, source)
            lines.append(eve_alert(time, *ends, rule=2000 + i % 3))
    for _ in range(noise):
        time = MONDAY + dt.timedelta(days=7) * draw.random()
        source, rule = f"192.168.7.{draw.randrange(12)}", draw.choice([2000, 2001, 3000])
        for _ in range(draw.choice([1, 1, 1, 5])):
            lines.append(eve_alert(time, source, "198.51.100.7", rule))
            time += dt.timedelta(seconds=draw.randrange(900))
    seen += [
        (MONDAY + dt.timedelta(minutes=minute), "192.168.7.1", "198.51.100.9")
        for minute in range(0, 7 * 24 * 60, 11)
    ]
    lines.sort(key=lambda line: line["timestamp"])
    flow = {"event_type": "flow", "timestamp": lines[0]["timestamp"]}
    return Week([json.dumps(line) for line in [flow, *lines]], conn_log(seen), schedule)


def conn_log(seen: list[tuple[dt.datetime, str, str]]) -> list[str]:
    """Connections as Zeek writes them."""
    fields = ("ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p")
    kinds = ("time", "string", "addr", "port", "addr", "port")
    head = ["#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-"]
    head += ["#path\tconn", "\t".join(["#fields", *fields]), "\t".join(["#types", *kinds])]
    rows = [
        f"{time.timestamp():.6f}\tC{i}\t{source}\t50000\t{target}\t443"
        for i, (time, source, target) in enumerate(sorted(seen))
    ]
    return [*head, *rows]
