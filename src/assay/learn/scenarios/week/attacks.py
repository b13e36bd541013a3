"""The attacks of a week, the rules of its sensor, and every alert that the rules raise."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.learn.scenarios.windows import SECOND

MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
FALSE = -1  # the attack of an alert that is of none


@dataclass(frozen=True)
class Rule:
    """A rule of the sensor; ``nightly`` false alarms a day, three times as many by day."""

    number: int
    name: str
    category: str
    severity: int
    nightly: float
    port: int


RULES = (
    Rule(1000001, "SCAN many ports or hosts from one address", "Network scan", 2, 1.5, 445),
    Rule(1000002, "BRUTE many logins to one server", "Attempted login", 1, 0.6, 22),
    Rule(1000003, "FLOOD many requests to one server", "Denial of service", 2, 0.8, 80),
    Rule(1000004, "WEB database words in a request", "Web application attack", 1, 1.2, 443),
    Rule(1000005, "POLICY much data to one outside address", "Policy violation", 3, 2.0, 443),
    Rule(1000006, "BEACON requests at an even pace", "Command and control", 2, 1.0, 8443),
    Rule(1000007, "WORM one file to many neighbours", "Worm", 1, 0.3, 445),
    Rule(1000008, "EXPLOIT long command to a mail server", "Exploit", 1, 0.1, 25),
    # These two are never right.
    Rule(1000009, "POLICY unusual program of a browser", "Policy violation", 3, 6.0, 80),
    Rule(1000010, "DNS answer for a name that was just registered", "Suspicious name", 3, 3.0, 53),
)


@dataclass(frozen=True)
class Attack:
    """An attack: when (microseconds of the week, both ends count), between whom, and what is seen.

    ``first`` is how long after the start the first alert comes, None where none does; ``alerts``
    and ``flows`` are how many there are, and ``late`` how many alerts follow within a minute of the
    end. Of a network many addresses take part.
    """

    name: str
    family: str
    start: int
    end: int
    src_ip: str
    dst_ip: str
    dst_port: int | None
    rule: int = 0
    first: int | None = None
    alerts: int = 0
    flows: int = 0
    late: int = 0


def _at(day: int, hour: int, minute: int = 0) -> int:
    return day * DAY + hour * HOUR + minute * MINUTE


# fmt: off
_PLAN = (
    Attack("port scan", "scan", _at(0, 9, 12), _at(0, 9, 40), "203.0.113.7", "10.0.2.0/24", None,
           rule=0, first=42 * SECOND, alerts=34, flows=420),
    Attack("ssh logins", "brute force", _at(1, 2, 5), _at(1, 3, 20), "198.51.100.23", "10.0.1.22",
           22, rule=1, first=4 * MINUTE, alerts=61, flows=300),
    Attack("web flood", "flood", _at(2, 14), _at(2, 14, 25), "192.0.2.0/24", "10.0.1.80", 80,
           rule=2, first=11 * SECOND, alerts=240, flows=900, late=6),
    # At the same time as the flood, between others.
    Attack("database theft", "injection", _at(2, 14, 10), _at(2, 14, 50), "203.0.113.99",
           "10.0.1.81", 443, rule=3, first=9 * MINUTE, alerts=7, flows=120),
    Attack("file theft", "exfiltration", _at(3, 23, 30), _at(4, 4), "10.0.3.17", "198.51.100.200",
           443, rule=4, first=2 * HOUR + 40 * MINUTE, alerts=3, flows=60),
    Attack("beacon", "beacon", _at(4, 0, 30), _at(6, 12), "10.0.3.40", "203.0.113.150", 8443,
           rule=5, first=19 * HOUR, alerts=11, flows=360),
    # While the beacon goes on, between others.
    Attack("worm", "worm", _at(4, 10, 30), _at(4, 11, 15), "10.0.3.55", "10.0.3.0/24", 445,
           rule=6, first=90 * SECOND, alerts=45, flows=260),
    Attack("mail exploit", "exploit", _at(5, 16, 20), _at(5, 16, 20) + 20 * SECOND,
           "203.0.113.201", "10.0.1.25", 25, rule=7, first=6 * SECOND, alerts=2, flows=4),
    # No rule finds this one.
    Attack("name tunnel", "tunnel", _at(6, 3), _at(6, 5), "10.0.3.61", "198.51.100.53", 53,
           flows=180),
)
# fmt: on
_LIMIT = 7 * DAY
_HOSTS, _SERVERS = np.arange(100, 200), np.arange(40, 61)  # of false alarms: no attack is there
_REPEATS = 4  # alerts of one cause come in bursts


# An alert: when, between whom, by which rule (its position), and of which attack (-1: of none).
ALERT = np.dtype(
    [
        *(("time", np.int64), ("src_ip", "U39"), ("dst_ip", "U39")),
        *(("src_port", np.int64), ("dst_port", np.int64), ("rule", np.int64), ("attack", np.int64)),
    ]
)


def attacks_of(seed: int) -> tuple[Attack, ...]:
    """The attacks of a seed: the same plan, begun a few minutes earlier or later."""
    random = np.random.default_rng([seed, 1])
    shifts = random.integers(-4 * MINUTE, 4 * MINUTE, len(_PLAN)) // SECOND * SECOND
    # The database is robbed while the web is flooded, whatever the seed.
    return tuple(
        replace(attack, start=attack.start + int(shift), end=attack.end + int(shift))
        for attack, shift in zip(_PLAN, shifts, strict=True)
    )


def addresses(network: str, size: int, random: np.random.Generator) -> npt.NDArray[np.str_]:
    """Addresses of a network, or one address as often as is asked."""
    if "/" not in network:
        return np.full(size, network)
    hosts = ipaddress.ip_network(network)
    chosen = random.integers(1, hosts.num_addresses - 1, size)
    return np.array([str(hosts[int(i)]) for i in chosen])


def alerts_of(seed: int, attacks: tuple[Attack, ...]) -> npt.NDArray[np.void]:
    """Every alert of the week, in order of time."""
    random = np.random.default_rng([seed, 2])
    parts = [_of_attack(i, attack, random) for i, attack in enumerate(attacks) if attack.alerts]
    parts += [_false(i, rule, random) for i, rule in enumerate(RULES)]
    alerts = np.concatenate(parts)
    kept: npt.NDArray[np.void] = alerts[np.argsort(alerts["time"], kind="stable")]
    return kept


def _of_attack(number: int, attack: Attack, random: np.random.Generator) -> npt.NDArray[np.void]:
    alerts = np.zeros(attack.alerts + attack.late, ALERT)
    begin = attack.start + (attack.first or 0)
    times = random.integers(begin, attack.end + 1, attack.alerts)
    times[0] = begin
    late = attack.end + random.integers(5 * SECOND, 55 * SECOND, attack.late)
    alerts["time"] = np.concatenate([times, late])
    alerts["src_ip"] = addresses(attack.src_ip, len(alerts), random)
    alerts["dst_ip"] = addresses(attack.dst_ip, len(alerts), random)
    alerts["src_port"] = random.integers(32_768, 61_000, len(alerts))
    ports = random.integers(1, 10_000, len(alerts))
    alerts["dst_port"] = ports if attack.dst_port is None else attack.dst_port
    alerts["rule"] = attack.rule
    alerts["attack"] = number
    # What follows the end is no alert of the attack, unless somebody grants it a grace.
    alerts["attack"][attack.alerts :] = FALSE
    return alerts


def _false(number: int, rule: Rule, random: np.random.Generator) -> npt.NDArray[np.void]:
    hours = np.arange(7 * 24)
    rates = rule.nightly / 24 * np.where((hours % 24 >= 8) & (hours % 24 < 18), 3.0, 1.0)
    hour = np.repeat(hours, random.poisson(rates))
    bursts = hour * HOUR + random.integers(0, HOUR, len(hour))
    sizes = random.integers(1, _REPEATS + 1, len(bursts))
    times = np.repeat(bursts, sizes) + random.integers(0, 2 * MINUTE, int(sizes.sum()))
    alerts = np.zeros(len(times), ALERT)
    alerts["time"] = np.minimum(times, _LIMIT - 1)
    alerts["src_ip"] = np.repeat(_named("10.0.3.", random.choice(_HOSTS, len(bursts))), sizes)
    alerts["dst_ip"] = np.repeat(_named("10.0.1.", random.choice(_SERVERS, len(bursts))), sizes)
    alerts["src_port"] = random.integers(32_768, 61_000, len(alerts))
    alerts["dst_port"] = rule.port
    alerts["rule"], alerts["attack"] = number, FALSE
    return alerts


def _named(network: str, hosts: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    return np.char.add(network, hosts.astype(str))
