"""ARP packets of an office network, in which somebody now and then poses as somebody else.

The attacks, what a sensor counts for each packet, and the table that both make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.v02.learn.scenarios.arp_network import (
    BROADCAST,
    CLUSTER,
    GATEWAY,
    NOBODY,
    NORMAL,
    PACKET,
    UNKNOWN,
    Lan,
    NetworkEvents,
    Packets,
    Talk,
    daylight,
    ip_name,
    mac_name,
    seconds,
)
from assay.v02.learn.scenarios.windows import (
    CHUNK,
    FIRST_DAY,
    MEDIUM,
    ROWS,
    SECOND,
    SEED,
    Integers,
    TimeWindow,
    distinct,
    last_before,
    streamed,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["make_arp", "stream_arp"]

FAMILIES = ("poisoning", "mitm", "blackhole", "scan")
POISONING, MITM, BLACKHOLE, SCAN = range(1, 5)

_PAUSE = 160.0  # mean seconds between two attacks by day
_LEAST_PAUSE = 20.0
_FIRST = 180.0
_TOOL_SIZE = 42  # of a frame that a tool did not pad


@dataclass(frozen=True)
class Pose:
    """Who tells whom that which address is where, and with which frames."""

    kind: int
    attacker: int
    victim: int
    ip: int
    mac: int
    size: int


class Attacks:
    """Attacks, each by a device of the network that is innocent otherwise."""

    def __init__(self, lan: Lan, talk: Talk, difficulty: float, start: int) -> None:
        self._lan = lan
        self._talk = talk
        self._difficulty = difficulty
        self._next = start + int(seconds(_FIRST))
        self._kinds: list[int] = []

    def between(
        self, start: int, end: int, random: np.random.Generator, innocent: Packets
    ) -> Iterator[Packets]:
        """The packets of attacks that begin between two times, and what they cause."""
        self._next = max(self._next, start)
        while self._next < end:
            yield from self._attack(self._next, random, innocent)
            pause = random.exponential(_PAUSE) / (0.3 + 0.7 * daylight(self._next))
            self._next += int(seconds(_LEAST_PAUSE + pause))

    def _attack(
        self, time: int, random: np.random.Generator, innocent: Packets
    ) -> Iterator[Packets]:
        if not self._kinds:  # each kind once, then each again
            self._kinds = random.permutation([POISONING, MITM, BLACKHOLE, SCAN]).tolist()
        kind = self._kinds.pop()
        attacker = int(random.choice(self._lan.of("workstation", "laptop", "phone", "server")))
        if kind == SCAN:
            made = list(self._scan(time, attacker, random))
        else:
            pose = self._pose(kind, time, attacker, random)
            made = list(self._deceive(pose, time, random, innocent))
        yield from made
        yield self._cover(kind, attacker, made[0]["time"], random)

    def _times(
        self, start: int, count: int, quick: float, slow: float, random: np.random.Generator
    ) -> Integers:
        """When packets are sent: the more difficult, the slower, each attack at its own pace."""
        typical = quick * (slow / quick) ** self._difficulty
        pace = typical * random.lognormal(0, 0.6)
        return start + seconds(np.cumsum(random.exponential(pace, count)))

    def _hides(self, random: np.random.Generator) -> bool:
        """Whether the attacker takes care of one of the traces."""
        return bool(random.random() < 0.1 + 0.85 * self._difficulty)

    def _size(self, attacker: int, random: np.random.Generator) -> int:
        return int(self._lan.size[attacker]) if self._hides(random) else _TOOL_SIZE

    def _scan(self, time: int, attacker: int, random: np.random.Generator) -> Iterator[Packets]:
        """Ask for many addresses, and be answered."""
        count = int(random.integers(12, 70))
        ip = random.permutation(np.arange(2, 250))[:count]
        if not self._hides(random):
            ip = np.sort(ip)
        when = self._times(time, count, 0.05, 40.0, random)
        size = self._size(attacker, random)
        yield self._lan.send(when, attacker, ip, family=SCAN, size=size)
        there = self._lan.owner.at(ip, when) != NOBODY
        there &= random.random(count) < 0.8
        asker = np.full(int(there.sum()), attacker)
        yield from self._talk.answer(when[there], asker, ip[there], random)

    def _pose(self, kind: int, time: int, attacker: int, random: np.random.Generator) -> Pose:
        others = self._lan.of("workstation", "laptop", "phone", "printer")
        victim = int(random.choice(others[others != attacker]))
        ip = int(random.choice([GATEWAY, GATEWAY, CLUSTER]))
        mac = self._mac(kind, attacker, ip, time, random)
        return Pose(kind, attacker, victim, ip, mac, self._size(attacker, random))

    def _mac(
        self, kind: int, attacker: int, ip: int, time: int, random: np.random.Generator
    ) -> int:
        """The MAC address that is claimed."""
        if kind == POISONING and self._hides(random) and self._hides(random):
            # The owner's own: it is the switch that is to be misled.
            return int(self._lan.mac_behind(ip, time))
        if kind != BLACKHOLE:
            return int(self._lan.mac.at(attacker, time))
        if not self._hides(random):
            return int(random.choice(self._lan.strangers))
        vendor = int(self._lan.record.at(ip, time))  # the one that is expected there
        return int(random.choice(np.flatnonzero(self._lan.mac_vendor == vendor)))

    def _deceive(
        self, pose: Pose, time: int, random: np.random.Generator, innocent: Packets
    ) -> Iterator[Packets]:
        """Tell a victim that an address is elsewhere; in the middle, tell both sides."""
        lan = self._lan
        when = self._times(time, int(random.integers(10, 50)), 0.8, 50.0, random)
        told = self._claim(pose, when)
        if pose.kind == MITM:
            back = random.random(len(when)) < 0.5
            told["src_ip"][back] = told["dst_ip"][back]
            told["dst_ip"][back] = pose.ip
            told["dst_mac"][back] = lan.mac_behind(pose.ip, when[back])
        if random.random() < 0.4 * (1 - self._difficulty):
            told["dst_mac"] = BROADCAST
        yield told
        yield self._claim(pose, self._races(pose, when, innocent, random))
        yield from self._defend(pose.ip, when, random)
        if self._hides(random):  # put things right again
            last = int(when[-1]) + seconds(np.cumsum(random.uniform(0.5, 2.0, 4)))
            yield self._claim(pose, last, lan.mac_behind(pose.ip, last))

    def _claim(self, pose: Pose, when: Integers, mac: npt.ArrayLike | None = None) -> Packets:
        """Replies to the victim that nobody but the attacker sends."""
        return self._lan.send(
            when,
            pose.attacker,
            self._lan.ip.at(pose.victim, when),
            reply=True,
            src_ip=pose.ip,
            src_mac=pose.mac if mac is None else mac,
            dst_mac=self._lan.mac.at(pose.victim, when),
            family=pose.kind,
            size=pose.size,
        )

    @staticmethod
    def _races(
        pose: Pose, when: Integers, innocent: Packets, random: np.random.Generator
    ) -> Integers:
        """When what the victim asks for is answered: as quickly as by the owner."""
        asked = (innocent["port"] == pose.victim) & (innocent["dst_ip"] == pose.ip)
        asked &= ~innocent["reply"] & (innocent["time"] > when[0]) & (innocent["time"] < when[-1])
        delay = seconds(random.lognormal(-7.2, 0.9, int(asked.sum()))) + 1
        times: Integers = innocent["time"][asked] + delay
        return times

    def _cover(
        self, kind: int, attacker: int, when: Integers, random: np.random.Generator
    ) -> Packets:
        """Requests for the gateway and others, as anybody makes them, to know what goes on."""
        count = int(len(when) * (0.05 + 0.5 * self._difficulty))
        times = random.choice(when, count, replace=False) + seconds(random.exponential(3.0, count))
        ip = self._talk.choose(count, random)
        directed = random.random(count) < 0.5
        mac = np.where(directed, self._lan.mac_behind(ip, times), BROADCAST)
        return self._lan.send(times, attacker, ip, family=kind, dst_mac=mac)

    def _defend(self, ip: int, when: Integers, random: np.random.Generator) -> Iterator[Packets]:
        """The real owner at times notices, and says who it is."""
        for time in when[random.random(len(when)) < 0.1].tolist():
            owner = int(self._lan.owner.at(ip, time))
            yield self._talk.announce(time, owner, ip, int(random.integers(1, 4)), random)


# -- the sensor ------------------------------------------------------------------------------------

SHORT = 60 * SECOND  # for rates and counts
LONG = 1800 * SECOND  # for who has which address

# Numbers of addresses, with room: keys are made of them.
_IPS, _MACS = 1 << 8, 1 << 10


class Sensor:
    """Keeps the packets of the last half hour, and counts in them."""

    def __init__(self) -> None:
        self._kept: Packets = np.empty(0, PACKET)

    def features(self, packets: Packets) -> dict[str, npt.NDArray[Any]]:
        """The features of packets that follow those seen before, in the order of time."""
        seen = np.concatenate([self._kept, packets])
        new = slice(len(self._kept), None)
        features = {name: values[new] for name, values in _features(seen).items()}
        if len(seen):
            self._kept = seen[seen["time"] > seen["time"][-1] - LONG]
        return features


def _features(seen: Packets) -> dict[str, npt.NDArray[Any]]:
    time, reply = seen["time"], seen["reply"]
    src_ip, src_mac, dst_ip = (
        seen[name].astype(np.int64) for name in ("src_ip", "src_mac", "dst_ip")
    )
    sender = TimeWindow(src_mac, time, SHORT)
    claimed = TimeWindow(src_ip, time, LONG)
    pair = src_ip * _MACS + src_mac
    same = (pair * _IPS + dst_ip) * 2 + reply
    count, replies = sender.counts(), sender.sums(reply)
    since = TimeWindow(src_mac, time, LONG).since()
    known = src_ip != UNKNOWN  # who asks whether an address is free has none yet
    frequency = TimeWindow(pair, time, LONG).counts() / claimed.counts()
    changes = claimed.changes(src_mac)
    response = np.full(len(seen), np.nan)
    response[reply] = _response(seen)
    return {
        "gratuitous": (src_ip == dst_ip).astype(np.int64),
        "inter_arrival_time": np.where(since < 0, LONG, since) / SECOND,
        "packet_rate": count * SECOND / SHORT,
        "ip_mac_pair_frequency": np.where(known, frequency, 1.0),
        "mac_changes": np.where(known, changes, 0),
        "request_count": count - replies,
        "reply_count": replies,
        "distinct_destinations": distinct(src_mac, dst_ip, time, SHORT),
        "broadcast_ratio": sender.sums(seen["dst_mac"] == BROADCAST) / count,
        "duplicates": TimeWindow(same, time, SHORT).counts() - 1,
        "vendor_mismatch": seen["mismatch"].astype(np.int64),
        "response_time": response,
    }


def _response(seen: Packets) -> npt.NDArray[np.float64]:
    """Seconds from the last request that each reply could answer, nan where there is none."""
    requests, replies = seen[~seen["reply"]], seen[seen["reply"]]
    gap = last_before(
        requests["src_ip"] * _IPS + requests["dst_ip"],
        requests["time"],
        replies["dst_ip"] * _IPS + replies["src_ip"],
        replies["time"],
        SHORT,
    )
    return np.where(gap < 0, np.nan, gap / SECOND)


# -- the table -------------------------------------------------------------------------------------

START = 8 * 3600 * SECOND  # the first packet is sent after eight in the morning
BLOCK = 3600 * SECOND
_NAMES = (NORMAL, *FAMILIES)


def make_arp(rows: int = ROWS, seed: int = SEED, difficulty: float | str = MEDIUM) -> pl.DataFrame:
    """ARP packets as a sensor sees them, in the order of time.

    ``label`` is normal or attack, ``family`` the kind of attack, ``host`` the machine behind the
    port from which a packet came. The other columns are what is in the packet and what the sensor
    counted up to it. A longer table begins with the shorter one of the same seed and difficulty.

    >>> packets = make_arp(rows=2000)
    >>> packets.columns[:4], packets["label"].unique().sort().to_list()
    (['time', 'host', 'src_ip', 'src_mac'], ['attack', 'normal'])
    """
    return next(stream_arp(rows, seed, difficulty, chunk=max(rows, 1)))


def stream_arp(
    rows: int = ROWS, seed: int = SEED, difficulty: float | str = MEDIUM, *, chunk: int = CHUNK
) -> Iterator[pl.DataFrame]:
    """The same packets in pieces, with a memory that does not grow with their number."""
    return streamed(_blocks, rows, seed, difficulty, chunk)


def _blocks(seed: int, difficulty: float) -> Iterator[pl.DataFrame]:
    """The packets of one hour after the other, for ever."""
    lan = Lan(np.random.default_rng([seed, 1]))
    talk = Talk(lan, difficulty)
    events = NetworkEvents(lan, talk, difficulty)
    attacks = Attacks(lan, talk, difficulty, START)
    sensor = Sensor()
    waiting: Packets = np.empty(0, PACKET)
    number = 0
    while True:
        start = START + number * BLOCK
        random = np.random.default_rng([seed, 2, number])
        end = start + BLOCK
        # What changes addresses comes first, so that all that follows knows them.
        made = [waiting, *events.between(start, end, random), *talk.between(start, end, random)]
        innocent = np.concatenate(made)
        packets = np.concatenate([innocent, *attacks.between(start, end, random, innocent)])
        packets = packets[np.argsort(packets["time"], kind="stable")]
        # What an event causes after the end of the hour waits for its time.
        now = packets["time"] < end
        waiting, packets = packets[~now], packets[now]
        packets["mismatch"] = lan.is_mismatch(packets)
        lan.settle(end)
        yield _frame(lan, packets, sensor.features(packets))
        number += 1


def _frame(lan: Lan, packets: Packets, features: dict[str, np.ndarray]) -> pl.DataFrame:
    import polars as pl

    hosts = pl.Series(lan.names)
    ips = pl.Series([ip_name(lan.subnet, ip) for ip in range(256)])
    macs = pl.Series([mac_name(int(mac)) for mac in lan.macs])
    start = pl.lit(FIRST_DAY).str.to_datetime(time_unit="us", time_zone="UTC")
    family = pl.Series(_NAMES).gather(packets["family"])
    frame = pl.DataFrame(
        {
            "time": packets["time"],
            "host": hosts.gather(packets["port"]),
            "src_ip": ips.gather(packets["src_ip"]),
            "src_mac": macs.gather(packets["src_mac"]),
            "dst_ip": ips.gather(packets["dst_ip"]),
            "dst_mac": macs.gather(packets["dst_mac"]),
            "operation": pl.Series(["request", "reply"]).gather(packets["reply"].astype(int)),
            "packet_size": packets["size"],
            **features,
            "family": family,
            "label": pl.Series(["normal", "attack"]).gather((packets["family"] > 0).astype(int)),
        }
    )
    return frame.with_columns(
        time=start + pl.duration(microseconds=pl.col("time")),
        response_time=pl.col("response_time").fill_nan(None),
    )
