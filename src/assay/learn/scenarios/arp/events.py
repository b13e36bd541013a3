"""What happens on the network by itself, and looks odd at times."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from assay.learn.scenarios.arp.lan import (
    BROADCAST,
    CLUSTER,
    GATEWAY,
    NOBODY,
    UNKNOWN,
    Lan,
    Packets,
    seconds,
)
from assay.learn.scenarios.arp.talk import HOUR, Talk, daylight
from assay.learn.scenarios.windows import SECOND

# Events an hour at a difficulty of one half.
_STARTS = 14.0
_DOCKINGS = 4.0
_FAILOVERS = 1.0
_SEARCHES = 4.0
_STUCK = 4.0
_STANDING_IN = 5.0
_NEW_LEASE = 0.4
_NEW_MAC = 0.3


class Events:
    """Innocent events, hour by hour: of what changes addresses the network is told."""

    def __init__(self, lan: Lan, talk: Talk, difficulty: float) -> None:
        self._lan = lan
        self._talk = talk
        # Where it is difficult, the innocent do more of what attackers do.
        self._odd = 0.4 + 1.2 * difficulty

    def between(self, start: int, end: int, random: np.random.Generator) -> Iterator[Packets]:
        """The packets of events that begin between two times."""
        light = daylight((start + end) // 2)
        events: tuple[tuple[float, Callable[..., Iterator[Packets]]], ...] = (
            (_FAILOVERS * self._odd, self._failover),
            (_STARTS * (0.1 + light), self._begin),
            (_DOCKINGS * light * self._odd, self._dock),
            (_SEARCHES * light * self._odd, self._search),
            (_STUCK * self._odd, self._stick),
            (_STANDING_IN * self._odd, self._stand_in),
            (1.0, self._inventory),
        )
        for rate, happens in events:
            for time in np.sort(random.integers(start, end, random.poisson(rate))):
                yield from happens(int(time), random)
        yield from self._keepalives(start, end, random)

    def _failover(self, time: int, random: np.random.Generator) -> Iterator[Packets]:
        """Another router or server takes over a shared address, and says so several times."""
        ip, kind = ((GATEWAY, "router"), (CLUSTER, "server"))[random.integers(2)]
        pair = self._lan.of(kind)[:2]
        holder = int(self._lan.owner.latest()[ip])
        new = int(pair[pair != holder][0])
        self._lan.owner.change(time, ip, new)
        self._lan.record.change(
            time + int(seconds(random.exponential(600))), ip, self._lan.vendor[new]
        )
        yield self._talk.announce(time, new, ip, int(random.integers(3, 9)), random)
        yield self._insist(time, new, ip, ip, BROADCAST, random)
        if random.random() < 0.3:  # and back again
            back = time + int(seconds(random.uniform(20, 400)))
            self._lan.owner.change(back, ip, holder)
            self._lan.record.change(back + SECOND, ip, self._lan.vendor[holder])
            yield self._talk.announce(back, holder, ip, int(random.integers(3, 9)), random)

    def _begin(self, time: int, random: np.random.Generator) -> Iterator[Packets]:
        """A device is switched on: it asks whether its address is free, and announces itself."""
        lan = self._lan
        device = int(random.choice(lan.of("workstation", "laptop")))
        ip = int(lan.ip.latest()[device])
        if random.random() < _NEW_LEASE:
            lan.owner.change(time, ip, NOBODY)
            ip = lan.free_address(random)
            lan.ip.change(time, device, ip)
            lan.owner.change(time, ip, device)
            # The inventory hears of it late.
            heard = time + int(seconds(random.exponential(240 * self._odd)))
            lan.record.change(heard, ip, int(lan.vendor[device]))
        if lan.kinds[device] == "laptop" and random.random() < _NEW_MAC:
            lan.mac.change(time, device, int(random.choice(lan.strangers)))
        probes = time + seconds(np.cumsum(random.uniform(0.5, 1.5, 3)))
        yield lan.send(probes, device, ip, src_ip=UNKNOWN)
        after = int(probes[-1]) + 2 * SECOND
        yield self._talk.announce(after, device, ip, int(random.integers(1, 4)), random)
        first = np.array([after + 3 * SECOND])
        yield from self._talk.ask(first, np.array([device]), np.array([GATEWAY]), random)

    def _dock(self, time: int, random: np.random.Generator) -> Iterator[Packets]:
        """A laptop is docked or undocked: it keeps its address and has another MAC address."""
        lan = self._lan
        device = int(random.choice(lan.of("laptop")))
        own = 1 + device
        new = lan.docked(device) if lan.mac.latest()[device] == own else own
        lan.mac.change(time, device, new)
        ip = int(lan.ip.latest()[device])
        yield self._talk.announce(time, device, ip, int(random.integers(1, 5)), random)

    def _stick(self, time: int, random: np.random.Generator) -> Iterator[Packets]:
        """A device asks on and on for one that is gone."""
        device = int(random.choice(self._lan.of("workstation", "laptop", "phone", "server")))
        count = int(random.integers(8, 60))
        pace = float(random.lognormal(1.0, 0.8))
        when = time + seconds(np.cumsum(random.exponential(pace, count)))
        yield self._lan.send(when, device, self._lan.free_address(random))

    def _stand_in(self, time: int, random: np.random.Generator) -> Iterator[Packets]:
        """An access point tells another device, unasked, that it stands in for a laptop."""
        lan = self._lan
        laptop = int(random.choice(lan.of("laptop")))
        point = int(random.choice(lan.of("access-point")))
        told = int(random.choice([GATEWAY, CLUSTER, *lan.ip.latest()[lan.of("server", "printer")]]))
        ip = int(lan.ip.at(laptop, time))
        yield self._insist(time, point, ip, told, int(lan.mac_behind(told, time)), random)

    def _insist(
        self, time: int, device: int, ip: int, told: int, mac: int, random: np.random.Generator
    ) -> Packets:
        """Say the same again for a while, to all or to one device."""
        count = int(random.integers(5, 50))
        when = time + seconds(np.cumsum(random.exponential(random.lognormal(1.2, 0.8), count)))
        return self._lan.send(when, device, told, src_ip=ip, dst_mac=mac, reply=True)

    def _search(self, time: int, random: np.random.Generator) -> Iterator[Packets]:
        """A device looks for others of its kind, as for printers."""
        device = int(random.choice(self._lan.of("workstation", "laptop", "phone")))
        count = int(random.integers(8, 90))
        pace = float(random.uniform(0.05, 2.0))
        yield from self._sweep(time, device, count, pace, random)

    def _inventory(self, time: int, random: np.random.Generator) -> Iterator[Packets]:
        """The monitor asks for every address."""
        monitor = int(self._lan.of("monitor")[0])
        yield from self._sweep(time, monitor, 253, float(random.uniform(0.1, 1.5)), random)

    def _sweep(
        self, time: int, device: int, count: int, pace: float, random: np.random.Generator
    ) -> Iterator[Packets]:
        begin = int(random.integers(2, 255 - count + 1))
        ip = np.arange(begin, begin + count)
        when = time + seconds(np.cumsum(random.exponential(pace, count)))
        yield self._lan.send(when, device, ip)
        on = self._talk.is_on(ip, when, random)
        yield from self._talk.answer(when[on], np.full(int(on.sum()), device), ip[on], random)

    def _keepalives(self, start: int, end: int, random: np.random.Generator) -> Iterator[Packets]:
        """Whoever holds a shared address says so now and then."""
        for ip in (GATEWAY, CLUSTER):
            time = np.arange(start + int(random.integers(HOUR // 12)), end, HOUR // 12)
            time += seconds(random.normal(0, 0.5, len(time)))
            yield self._lan.send(time, self._lan.owner.at(ip, time), ip, src_ip=ip, reply=True)
