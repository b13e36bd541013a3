"""What happens in a week of an office network: attacks, the alerts they raise, and all flows."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.v02.learn.scenarios.windows import SECOND

MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
FALSE = -1  # the attack of an alert that is of none


@dataclass(frozen=True)
class SensorRule:
    """A rule of the sensor; ``nightly`` false alarms a day, three times as many by day."""

    number: int
    name: str
    category: str
    severity: int
    nightly: float
    port: int


RULES = (
    SensorRule(1000001, "SCAN many ports or hosts from one address", "Network scan", 2, 1.5, 445),
    SensorRule(1000002, "BRUTE many logins to one server", "Attempted login", 1, 0.6, 22),
    SensorRule(1000003, "FLOOD many requests to one server", "Denial of service", 2, 0.8, 80),
    SensorRule(1000004, "WEB database words in a request", "Web application attack", 1, 1.2, 443),
    SensorRule(1000005, "POLICY much data to one outside address", "Policy violation", 3, 2.0, 443),
    SensorRule(1000006, "BEACON requests at an even pace", "Command and control", 2, 1.0, 8443),
    SensorRule(1000007, "WORM one file to many neighbours", "Worm", 1, 0.3, 445),
    SensorRule(1000008, "EXPLOIT long command to a mail server", "Exploit", 1, 0.1, 25),
    # These two are never right.
    SensorRule(1000009, "POLICY unusual program of a browser", "Policy violation", 3, 6.0, 80),
    SensorRule(
        1000010, "DNS answer for a name that was just registered", "Suspicious name", 3, 3.0, 53
    ),
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


def _false(number: int, rule: SensorRule, random: np.random.Generator) -> npt.NDArray[np.void]:
    hours = np.arange(7 * 24)
    rates = rule.nightly / 24 * np.where((hours % 24 >= 8) & (hours % 24 < 18), 3.0, 1.0)
    hour = np.repeat(hours, random.poisson(rates))
    bursts = hour * HOUR + random.integers(0, HOUR, len(hour))
    sizes = random.integers(1, _REPEATS + 1, len(bursts))
    times = np.repeat(bursts, sizes) + random.integers(0, 2 * MINUTE, int(sizes.sum()))
    alerts = np.zeros(len(times), ALERT)
    alerts["time"] = np.minimum(times, _LIMIT - 1)
    alerts["src_ip"] = np.repeat(_host_names("10.0.3.", random.choice(_HOSTS, len(bursts))), sizes)
    alerts["dst_ip"] = np.repeat(
        _host_names("10.0.1.", random.choice(_SERVERS, len(bursts))), sizes
    )
    alerts["src_port"] = random.integers(32_768, 61_000, len(alerts))
    alerts["dst_port"] = rule.port
    alerts["rule"], alerts["attack"] = number, FALSE
    return alerts


def _host_names(network: str, hosts: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    return np.char.add(network, hosts.astype(str))


# -- flows, hour by hour: people at work, machines at night, and the attacks -----------------------

HOURS = 7 * 24
# A flow: when it began and how long it took, between whom, how much; the attack that it is of, and
# what a detector that looks at flows thinks of it.
FLOW = np.dtype(
    [
        *(("time", np.int64), ("duration", np.int64), ("src_ip", "U39"), ("dst_ip", "U39")),
        *(("src_port", np.int64), ("dst_port", np.int64), ("packets", np.int64)),
        *(("sent", np.int64), ("received", np.int64), ("attack", np.int64), ("score", float)),
    ]
)
_OUTSIDE = ("198.51.100.", "203.0.113.", "2001:db8:5::")
_PORTS = np.array([443, 80, 53, 445, 22, 25, 993])
_OFTEN = np.array([0.5, 0.12, 0.2, 0.08, 0.02, 0.03, 0.05])
_LONGEST = 240 * SECOND
THRESHOLD = 0.5
_UNSEEN = 0.49


def flows_by_hour(
    seed: int, attacks: tuple[Attack, ...], flows: int
) -> Iterator[npt.NDArray[np.void]]:
    """All flows, those of one hour at a time, in order of time."""
    random = np.random.default_rng([seed, 3])
    hostile = _hostile(seed, attacks)
    hour = np.arange(HOURS)
    busy = (hour % 24 >= 8) & (hour % 24 < 18) & (hour < 5 * 24)
    weights = np.where(busy, 6.0, 1.0)
    sizes = random.multinomial(flows - len(hostile), weights / weights.sum())
    for number, size in enumerate(sizes.tolist()):
        harmless = _harmless(number, size, np.random.default_rng([seed, 4, number]))
        begin = np.searchsorted(hostile["time"], [number * HOUR, (number + 1) * HOUR])
        both = np.concatenate([harmless, hostile[slice(*begin)]])
        yield both[np.argsort(both["time"], kind="stable")]


def _harmless(hour: int, size: int, random: np.random.Generator) -> npt.NDArray[np.void]:
    flows = np.zeros(size, FLOW)
    flows["time"] = hour * HOUR + random.integers(0, HOUR, size)
    flows["src_ip"] = np.char.add("10.0.3.", random.integers(10, 200, size).astype(str))
    network = np.array([*_OUTSIDE, "10.0.1."])[random.integers(0, 4, size)]
    flows["dst_ip"] = np.char.add(network, random.integers(40, 61, size).astype(str))
    flows["dst_port"] = random.choice(_PORTS, size, p=_OFTEN)
    # Few of them look odd to a detector of flows.
    flows["score"] = random.beta(1.2, 9, size)
    flows["attack"] = FALSE
    return _filled(flows, random)


def _hostile(seed: int, attacks: tuple[Attack, ...]) -> npt.NDArray[np.void]:
    """The flows of all attacks; those before the first alert, and most others, look harmless."""
    random = np.random.default_rng([seed, 5])
    parts = []
    for number, attack in enumerate(attacks):
        flows = np.zeros(attack.flows, FLOW)
        flows["time"] = np.sort(random.integers(attack.start, attack.end, attack.flows))
        flows["time"][0] = attack.start
        flows["src_ip"] = addresses(attack.src_ip, attack.flows, random)
        flows["dst_ip"] = addresses(attack.dst_ip, attack.flows, random)
        ports = random.integers(1, 10_000, attack.flows)
        flows["dst_port"] = ports if attack.dst_port is None else attack.dst_port
        flows["attack"] = number
        score = random.beta(2, 6, attack.flows)
        if attack.first is not None:
            late = flows["time"] >= attack.start + attack.first
            seen = late & (random.random(attack.flows) < 0.45)
            score[seen] = THRESHOLD + random.beta(3, 2, int(seen.sum())) / 2
        flows["score"] = score if attack.first is not None else np.minimum(score, _UNSEEN)
        parts.append(_filled(flows, random))
    every = np.concatenate(parts)
    ordered: npt.NDArray[np.void] = every[np.argsort(every["time"], kind="stable")]
    return ordered


def _filled(flows: npt.NDArray[np.void], random: np.random.Generator) -> npt.NDArray[np.void]:
    size = len(flows)
    flows["src_port"] = random.integers(32_768, 61_000, size)
    flows["duration"] = np.minimum(random.exponential(8 * SECOND, size), _LONGEST).astype(np.int64)
    flows["packets"] = 2 + random.poisson(12, size)
    flows["sent"] = flows["packets"] * random.integers(40, 700, size)
    flows["received"] = flows["packets"] * random.integers(40, 1400, size)
    return flows
