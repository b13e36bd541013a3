"""Incidents counted by a plain loop over lines of JSON: what the fast way has to equal."""

import datetime as dt
import ipaddress
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

DAY = dt.timedelta(days=1)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def belongs(
    alert: dict[str, Any],
    attack: dict[str, str],
    *,
    grace: float = 0,
    directed: bool = False,
    skew: float = 0,
) -> bool:
    """Whether an alert of eve.json belongs to an attack of the schedule."""
    time = moment(alert["timestamp"]) - dt.timedelta(seconds=skew)
    start, end = moment(attack["start"]), moment(attack["end"])
    if not start <= time <= end + dt.timedelta(seconds=grace):
        return False
    if attack.get("host") and alert.get("host") not in attack["host"].split(";"):
        return False
    ways = [("src_ip", "dest_ip", "src_port", "dest_port")]
    if not directed:
        ways.append(("dest_ip", "src_ip", "dest_port", "src_port"))
    return any(
        _inside(alert.get(source), attack.get("src_ip"))
        and _inside(alert.get(target), attack.get("dst_ip"))
        and _port(alert.get(source_port), attack.get("src_port"))
        and _port(alert.get(target_port), attack.get("dst_port"))
        for source, target, source_port, target_port in ways
    )


def _inside(address: str | None, networks: str | None) -> bool:
    if not networks:
        return True
    if address is None:
        return False
    ip = ipaddress.ip_address(address)
    return any(ip in ipaddress.ip_network(text, strict=False) for text in networks.split(";"))


def _port(port: int | None, ports: str | None) -> bool:
    if not ports:
        return True
    if port is None:
        return False
    ranges = (text.split("-") for text in ports.split(";"))
    return any(int(ends[0]) <= port <= int(ends[-1]) for ends in ranges)


def by_hand(
    lines: Iterable[str], schedule: Sequence[dict[str, str]], *, gap: float = 600, **how: Any
) -> dict[str, Any]:
    """Detected incidents with their delays, and false alarms and false incidents by day."""
    alerts = [json.loads(line) for line in lines]
    alerts = [alert for alert in alerts if alert["event_type"] == "alert"]
    hits: dict[str, list[dt.datetime]] = defaultdict(list)
    false: list[tuple[tuple[str, ...], dt.datetime]] = []
    days: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for alert in sorted(alerts, key=lambda one: moment(one["timestamp"])):
        time = moment(alert["timestamp"]) - dt.timedelta(seconds=how.get("skew", 0))
        days[_day(time)][0] += 1
        fitting = [attack["id"] for attack in schedule if belongs(alert, attack, **how)]
        for incident in fitting:
            hits[incident].append(time)
        if not fitting:
            days[_day(time)][1] += 1
            ends = [alert.get("src_ip") or "-", alert.get("dest_ip") or "-"]
            key = ends if how.get("directed") else sorted(ends)
            false.append(((*key, alert.get("host") or "-"), time))
    latest: dict[tuple[str, ...], dt.datetime] = {}
    groups = 0
    for key, time in false:
        if key not in latest or (time - latest[key]).total_seconds() > gap:
            groups += 1
            days[_day(time)][2] += 1
        latest[key] = time
    starts = {attack["id"]: moment(attack["start"]) for attack in schedule}
    return {
        "detected": sorted(hits),
        "delays": {
            name: (min(times) - starts[name]).total_seconds() for name, times in hits.items()
        },
        "alerts": {name: len(times) for name, times in hits.items()},
        "false_alarms": len(false),
        "false_incidents": groups,
        "days": {day: tuple(numbers) for day, numbers in sorted(days.items())},
    }


def _day(time: dt.datetime) -> str:
    return time.astimezone(dt.UTC).date().isoformat()
