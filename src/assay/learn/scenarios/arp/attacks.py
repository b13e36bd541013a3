"""Those who pose as somebody else, and those who look around first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.learn.scenarios.arp.lan import BROADCAST, CLUSTER, GATEWAY, Lan, Packets, seconds
from assay.learn.scenarios.arp.traffic import Traffic, daylight
from assay.learn.scenarios.windows import Integers

FAMILIES = ("poisoning", "mitm", "blackhole", "scan")
POISONING, MITM, BLACKHOLE, SCAN = range(1, 5)

_PAUSE = 160.0  # mean seconds between the beginnings of two attacks by day
_FIRST = 180.0
_TOOL_SIZE = 42  # of a frame that a tool did not pad


class Attacks:
    """Attacks, each by a device of the network that is innocent otherwise."""

    def __init__(self, lan: Lan, difficulty: float, start: int) -> None:
        self._lan = lan
        self._difficulty = difficulty
        self._traffic = Traffic(lan, difficulty)
        self._next = start + int(seconds(_FIRST))
        self._kinds: list[int] = []

    def between(
        self, start: int, end: int, random: np.random.Generator, innocent: Packets
    ) -> list[Packets]:
        """The packets of attacks that begin between two times."""
        made: list[Packets] = []
        self._next = max(self._next, start)
        while self._next < end:
            made += self._attack(self._next, random, innocent)
            pause = random.exponential(_PAUSE) / (0.3 + 0.7 * daylight(self._next))
            self._next += int(seconds(20 + pause))
        return made

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
            made = list(self._pose(kind, time, attacker, random, innocent))
        yield from made
        yield self._cover(kind, attacker, made[0]["time"], random)

    def _pace(self, quick: float, slow: float, random: np.random.Generator) -> float:
        """Seconds between two packets: the more difficult, the slower, each at its own pace."""
        typical = quick * (slow / quick) ** self._difficulty
        return float(typical * random.lognormal(0, 0.6))

    def _hides(self, random: np.random.Generator) -> bool:
        """Whether the attacker takes care of one of the traces."""
        return bool(random.random() < 0.1 + 0.85 * self._difficulty)

    def _scan(self, time: int, attacker: int, random: np.random.Generator) -> Iterator[Packets]:
        count = int(random.integers(12, 70))
        ip = random.permutation(np.arange(2, 250))[:count]
        if not self._hides(random):
            ip = np.sort(ip)
        when = time + seconds(np.cumsum(random.exponential(self._pace(0.05, 40.0, random), count)))
        size = self._size(attacker, random)
        yield self._lan.send(when, attacker, ip, family=SCAN, size=size)
        there = self._lan.owner.at(ip, when) >= 0
        there &= random.random(count) < 0.8
        asker = np.full(int(there.sum()), attacker)
        yield from self._traffic.answer(when[there], asker, ip[there], random)

    def _pose(
        self, kind: int, time: int, attacker: int, random: np.random.Generator, innocent: Packets
    ) -> Iterator[Packets]:
        """Tell a victim that an address is elsewhere; in the middle, tell both sides."""
        lan = self._lan
        others = lan.of("workstation", "laptop", "phone", "printer")
        victim = int(random.choice(others[others != attacker]))
        posed = int(random.choice([GATEWAY, GATEWAY, CLUSTER]))
        mac = self._mac(kind, attacker, posed, time, random)
        size = self._size(attacker, random)
        count = int(random.integers(10, 50))
        when = time + seconds(np.cumsum(random.exponential(self._pace(0.8, 50.0, random), count)))
        whole = random.random() < 0.4 * (1 - self._difficulty)  # everybody is told
        hidden = {"family": kind, "src_mac": mac, "size": size}

        back = (random.random(count) < 0.5) if kind == MITM else np.zeros(count, bool)
        victim_ip = lan.ip.at(victim, when)
        dst_ip = np.where(back, posed, victim_ip)
        real = lan.mac_behind(dst_ip, when)
        yield lan.send(
            when,
            attacker,
            dst_ip,
            reply=True,
            src_ip=np.where(back, victim_ip, posed),
            dst_mac=BROADCAST if whole else real,
            **hidden,
        )
        yield self._races(kind, attacker, victim, posed, when, innocent, random, mac, size)
        yield from self._defend(posed, when, random)
        if self._hides(random):  # put things right again
            last = int(when[-1]) + seconds(np.cumsum(random.uniform(0.5, 2.0, 4)))
            truth = lan.mac_behind(np.full(4, posed), last)
            restored = {**hidden, "src_mac": truth}
            yield lan.send(
                last,
                attacker,
                lan.ip.at(victim, last),
                reply=True,
                src_ip=posed,
                dst_mac=lan.mac.at(victim, last),
                **restored,
            )

    def _mac(
        self, kind: int, attacker: int, posed: int, time: int, random: np.random.Generator
    ) -> int:
        """The MAC address that is claimed."""
        if kind == POISONING and self._hides(random) and self._hides(random):
            # The owner's own: it is the switch that is to be misled.
            return int(self._lan.mac_behind(posed, time))
        if kind != BLACKHOLE:
            return int(self._lan.mac.at(attacker, time))
        if not self._hides(random):
            return int(random.choice(self._lan.strangers))
        # One of the vendor that is expected there; the device itself is switched off.
        vendor = int(self._lan.record.at(posed, time))
        same = np.flatnonzero(self._lan.mac_vendor == vendor)
        return int(random.choice(same))

    def _size(self, attacker: int, random: np.random.Generator) -> int:
        return int(self._lan.size[attacker]) if self._hides(random) else _TOOL_SIZE

    def _races(
        self,
        kind: int,
        attacker: int,
        victim: int,
        posed: int,
        when: Integers,
        innocent: Packets,
        random: np.random.Generator,
        mac: int,
        size: int,
    ) -> Packets:
        """Answers to what the victim asks for, as quick as the real ones."""
        asked = (innocent["port"] == victim) & (innocent["dst_ip"] == posed) & ~innocent["reply"]
        asked &= (innocent["time"] > when[0]) & (innocent["time"] < when[-1])
        times = innocent["time"][asked]
        times = times + seconds(random.lognormal(-7.2, 0.9, len(times))) + 1
        return self._lan.send(
            times,
            attacker,
            self._lan.ip.at(victim, times),
            reply=True,
            src_ip=posed,
            src_mac=mac,
            dst_mac=self._lan.mac.at(victim, times),
            family=kind,
            size=size,
        )

    def _cover(
        self, kind: int, attacker: int, when: Integers, random: np.random.Generator
    ) -> Packets:
        """Requests for the gateway and others, as anybody makes them, to know what goes on."""
        count = int(len(when) * (0.05 + 0.5 * self._difficulty))
        times = random.choice(when, count, replace=False) + seconds(random.exponential(3.0, count))
        ip = self._traffic.choose(count, random)
        directed = random.random(count) < 0.5
        mac = np.where(directed, self._lan.mac_behind(ip, times), BROADCAST)
        return self._lan.send(times, attacker, ip, family=kind, dst_mac=mac)

    def _defend(
        self, posed: int, when: Integers, random: np.random.Generator
    ) -> Iterator[Packets]:
        """The real owner at times notices, and says who it is."""
        noticed = when[random.random(len(when)) < 0.1]
        for time in noticed.tolist():
            owner = int(self._lan.owner.at(posed, time))
            yield self._traffic.announce(time, owner, posed, int(random.integers(1, 4)), random)
