"""How devices ask for each other, and how they are answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from assay.learn.scenarios.arp.lan import (
    BROADCAST,
    CLUSTER,
    GATEWAY,
    KINDS,
    LEASED,
    NOBODY,
    Lan,
    Packets,
    seconds,
)
from assay.learn.scenarios.windows import SECOND, Integers

HOUR = 3600 * SECOND

# Whom a device asks for: the gateway, the cluster, a server, a printer, another device.
_ASKED = (0.40, 0.15, 0.20, 0.10, 0.15)
_FOLLOWED = 0.35  # chance that a request is followed by another at once
_DIRECTED = 0.45  # requests that renew what is known and go to one device alone
_ANSWERS_BY_NIGHT = 0.35  # chance that a workstation or laptop is on
_TRIES = 3


def daylight(time: int) -> float:
    """How much of the working day it is: 1 in office hours, 0 at night and at weekends."""
    hour, day = time / HOUR % 24, time // (24 * HOUR)
    if day % 7 >= 5:
        return 0.1
    return float(np.clip(min(hour - 6, 20 - hour) / 3, 0, 1))


class Talk:
    """Requests and replies of devices in their own name."""

    def __init__(self, lan: Lan, difficulty: float) -> None:
        self._lan = lan
        self._proxied = 0.5 * difficulty

    def between(self, start: int, end: int, random: np.random.Generator) -> Iterator[Packets]:
        """What devices ask for by themselves between two times, with the answers."""
        yield from self.ask(*self._refreshes(start, end, random), random)

    def ask(
        self, time: Integers, device: Integers, ip: Integers, random: np.random.Generator
    ) -> Iterator[Packets]:
        """Requests, their answers, and requests again where no answer comes."""
        for _ in range(_TRIES):
            directed = random.random(len(time)) < _DIRECTED
            known = self._lan.mac_behind(ip, time)
            yield self._lan.send(time, device, ip, dst_mac=np.where(directed, known, BROADCAST))
            answered = self.is_on(ip, time, random)
            yield from self.answer(time[answered], device[answered], ip[answered], random)
            missed = ~answered
            time, device, ip = time[missed], device[missed], ip[missed]
            yield from self._by_proxy(time, device, ip, random)
            time = time + seconds(random.normal(1.0, 0.02, len(time)))

    def answer(
        self, time: Integers, asker: Integers, ip: Integers, random: np.random.Generator
    ) -> Iterator[Packets]:
        """The answers of those who own an address."""
        delay = seconds(random.lognormal(-7.5, 0.9, len(time))) + 1
        when = time + delay
        yield self._lan.send(
            when,
            self._lan.owner.at(ip, time),
            self._lan.ip.at(asker, when),
            reply=True,
            dst_mac=self._lan.mac.at(asker, when),
            src_ip=ip,
        )

    def announce(
        self, time: int, device: int, ip: int, times: int, random: np.random.Generator
    ) -> Packets:
        """Replies that nobody asked for: here is who has this address."""
        when = time + np.cumsum(seconds(random.exponential(0.7, times)))
        if random.random() < 0.4:  # some systems announce by a request
            return self._lan.send(when, device, ip, src_ip=ip)
        return self._lan.send(when, device, ip, src_ip=ip, reply=True)

    def _refreshes(
        self, start: int, end: int, random: np.random.Generator
    ) -> tuple[Integers, Integers, Integers]:
        """When who asks for whom."""
        light = daylight((start + end) // 2)
        rates = np.array([[day, night] for _, _, day, night in KINDS.values()])
        sizes = [size for size, *_ in KINDS.values()]
        rate = np.repeat(rates @ [light, 1 - light], sizes) * (end - start) / HOUR
        device = np.repeat(np.arange(len(rate)), random.poisson(rate))
        time = random.integers(start, end, len(device))
        followers = random.geometric(1 - _FOLLOWED, len(device))
        device, first = np.repeat(device, followers), np.repeat(time, followers)
        own = np.concatenate([[0], np.cumsum(followers)[:-1]])
        late = seconds(random.exponential(2.0, len(device)))
        late[own] = 0
        ip = self.choose(len(device), random)
        other = ip != self._lan.ip.at(device, first)
        return (first + late)[other], device[other], ip[other]

    def choose(self, count: int, random: np.random.Generator) -> Integers:
        """Addresses that are asked for."""
        owner = self._lan.owner.latest()
        leased = [ip for ip in LEASED if owner[ip] != NOBODY]
        kinds: tuple[Sequence[int] | Integers, ...] = (
            [GATEWAY],
            [CLUSTER],
            self._lan.ip.latest()[self._lan.of("server")],
            self._lan.ip.latest()[self._lan.of("printer")],
            leased,
        )
        chosen = np.empty(count, np.int64)
        kind = random.choice(len(kinds), count, p=_ASKED)
        for number, ips in enumerate(kinds):
            where = kind == number
            chosen[where] = random.choice(ips, int(where.sum()))
        return chosen

    def is_on(
        self, ip: Integers, time: Integers, random: np.random.Generator
    ) -> npt.NDArray[np.bool_]:
        """Whether somebody is there to answer."""
        owner = self._lan.owner.at(ip, time)
        light = daylight(int(time[0])) if len(time) else 1.0
        sleeps = np.isin(self._lan.kinds[owner], ("workstation", "laptop"))
        chance = np.where(sleeps, 0.95 * light + _ANSWERS_BY_NIGHT * (1 - light), 0.98)
        on: npt.NDArray[np.bool_] = (owner != NOBODY) & (random.random(len(ip)) < chance)
        return on

    def _by_proxy(
        self, time: Integers, asker: Integers, ip: Integers, random: np.random.Generator
    ) -> Iterator[Packets]:
        """Access points answer for laptops that sleep, with their own MAC address."""
        owner = self._lan.owner.at(ip, time)
        wireless = (owner != NOBODY) & (self._lan.kinds[owner] == "laptop")
        which = np.flatnonzero(wireless & (random.random(len(ip)) < self._proxied))
        points = self._lan.of("access-point")
        when = time[which] + seconds(random.lognormal(-6.5, 0.8, len(which)))
        yield self._lan.send(
            when,
            points[owner[which] % len(points)],
            self._lan.ip.at(asker[which], when),
            reply=True,
            dst_mac=self._lan.mac.at(asker[which], when),
            src_ip=ip[which],
        )
