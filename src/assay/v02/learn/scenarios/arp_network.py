"""An office network that speaks ARP: its devices, how they talk, and what happens by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.learn.scenarios.windows import SECOND, Integers

Packets: TypeAlias = npt.NDArray[Any]

PACKET = np.dtype(
    [
        ("time", "i8"),  # microseconds since the first day
        ("port", "i4"),  # the device that sent it
        ("src_ip", "i4"),
        ("src_mac", "i4"),
        ("dst_ip", "i4"),
        ("dst_mac", "i4"),
        ("reply", "?"),
        ("size", "i4"),
        ("family", "i4"),
        ("mismatch", "?"),
    ]
)
NORMAL = "normal"

# Kind: how many there are, their first address, requests an hour by day and by night.
KINDS = {
    "router": (2, 2, 12.0, 6.0),
    "server": (6, 11, 15.0, 8.0),
    "printer": (4, 21, 3.0, 1.0),
    "access-point": (2, 5, 8.0, 3.0),
    "monitor": (1, 9, 15.0, 15.0),
    "phone": (24, 30, 4.0, 2.0),
    "workstation": (64, 60, 9.0, 1.5),
    "laptop": (24, 130, 10.0, 1.5),
}
NOBODY = -1
UNKNOWN, GATEWAY, CLUSTER = 0, 1, 10  # last numbers of addresses; 0 stands for 0.0.0.0
LEASED = range(60, 240)
BROADCAST = 0  # the place of ff:ff:ff:ff:ff:ff among the MAC addresses
_VENDORS = 12
_STRANGERS = 512  # MAC addresses that belong to no device: private ones, made-up ones
# Of a frame: padded, with a VLAN tag, and not padded, as from a virtual machine.
_SIZES, _SIZE_SHARES = (60, 64, 42), (0.72, 0.18, 0.10)


class ChangingValues:
    """Values by position, some of which change at a known time."""

    def __init__(self, values: Integers) -> None:
        self._values = values.copy()
        self._changes: list[tuple[int, int, int]] = []

    def change(self, time: int, position: int, value: int) -> None:
        """Let a value be another one from a time on."""
        self._changes.append((time, position, value))
        self._changes.sort()

    def at(self, positions: npt.ArrayLike, times: npt.ArrayLike) -> Integers:
        """The values at some times."""
        positions, times = np.broadcast_arrays(positions, times)
        values = np.array(self._values[positions])
        for time, position, value in self._changes:
            values[(positions == position) & (times >= time)] = value
        return values

    def latest(self) -> Integers:
        """The values after all changes that are known."""
        values = self._values.copy()
        for _, position, value in self._changes:
            values[position] = value
        return values

    def settle(self, until: int) -> None:
        """Forget what was before a time."""
        for time, position, value in self._changes:
            if time < until:
                self._values[position] = value
        self._changes = [change for change in self._changes if change[0] >= until]


class Lan:
    """Devices with their addresses; what changes is kept by time."""

    def __init__(self, random: np.random.Generator) -> None:
        kinds = [kind for kind, (size, *_) in KINDS.items() for _ in range(size)]
        self.kinds = np.array(kinds)
        self.names = [
            f"{kind}-{number}"
            for kind, (size, *_) in KINDS.items()
            for number in range(1, size + 1)
        ]
        count = len(kinds)
        self.subnet = f"10.{random.integers(1, 255)}.{random.integers(1, 255)}"
        self.vendor = random.integers(0, _VENDORS, count)
        self.vendor[self.kinds == "router"] = 0
        self.vendor[self.kinds == "phone"] = 1
        self.size = random.choice(_SIZES, count, p=_SIZE_SHARES)
        # Laptops have another MAC address when docked; that of the dock is of another vendor.
        docked = random.integers(0, _VENDORS, count)
        # The two lowest bits of the first byte are 0 where a vendor assigns the address.
        prefixes = random.choice(1 << 16, _VENDORS, replace=False)
        prefixes += random.integers(0, 1 << 6, _VENDORS) << 18
        tails = random.choice(1 << 24, 2 * count, replace=False)
        strangers = random.choice(1 << 24, _STRANGERS, replace=False)
        self.macs = np.concatenate(
            [
                [(1 << 48) - 1],
                (prefixes[self.vendor] << 24) + tails[:count],
                (prefixes[docked] << 24) + tails[count:],
                # The second lowest bit of the first byte marks an address that nobody assigned.
                (0x02 << 40) + (random.integers(0, 1 << 14, _STRANGERS) << 26) + strangers,
            ]
        )
        self.mac_vendor = np.concatenate(
            [[NOBODY], self.vendor, docked, np.full(_STRANGERS, NOBODY)]
        )
        self.strangers = np.arange(2 * count + 1, len(self.macs))

        first = np.concatenate([start + np.arange(size) for size, start, *_ in KINDS.values()])
        owner = np.full(256, NOBODY)
        owner[first] = np.arange(count)
        owner[GATEWAY], owner[CLUSTER] = self.of("router")[0], self.of("server")[0]
        record = np.full(256, NOBODY)
        record[owner != NOBODY] = self.vendor[owner[owner != NOBODY]]
        self.ip = ChangingValues(first)
        self.mac = ChangingValues(1 + np.arange(count))
        self.owner = ChangingValues(owner)
        self.record = ChangingValues(record)  # the vendor that the inventory has for an address

    def of(self, *kinds: str) -> Integers:
        """The devices of some kinds."""
        return np.flatnonzero(np.isin(self.kinds, kinds))

    def docked(self, device: int) -> int:
        """The MAC address of a device's dock."""
        return 1 + len(self.names) + device

    def free_address(self, random: np.random.Generator) -> int:
        """An address that may be leased and that nobody has."""
        owner = self.owner.latest()
        return int(random.choice([ip for ip in LEASED if owner[ip] == NOBODY]))

    def send(
        self,
        time: npt.ArrayLike,
        device: npt.ArrayLike,
        dst_ip: npt.ArrayLike,
        *,
        reply: bool = False,
        dst_mac: npt.ArrayLike = BROADCAST,
        **others: npt.ArrayLike,
    ) -> Packets:
        """Packets that a device sends in its own name, unless ``others`` say otherwise."""
        times = np.atleast_1d(np.asarray(time, np.int64))
        made = np.zeros(len(times), PACKET)
        made["time"], made["port"], made["dst_ip"] = times, device, dst_ip
        made["src_ip"] = self.ip.at(made["port"], times)
        made["src_mac"] = self.mac.at(made["port"], times)
        made["size"] = self.size[made["port"]]
        made["reply"], made["dst_mac"] = reply, dst_mac
        for name, value in others.items():
            made[name] = value
        return made

    def mac_behind(self, ips: npt.ArrayLike, times: npt.ArrayLike) -> Integers:
        """The MAC address that really belongs to an address, broadcast where nobody has it."""
        owner = self.owner.at(ips, times)
        return np.where(owner == NOBODY, BROADCAST, self.mac.at(owner, times))

    def is_mismatch(self, packets: Packets) -> npt.NDArray[np.bool_]:
        """Whether the vendor of the sender's MAC address is not the one that the inventory has."""
        known = self.record.at(packets["src_ip"], packets["time"])
        other: npt.NDArray[np.bool_] = self.mac_vendor[packets["src_mac"]] != known
        other[packets["src_ip"] == UNKNOWN] = False
        return other

    def settle(self, until: int) -> None:
        """Forget what was before a time."""
        for timeline in (self.ip, self.mac, self.owner, self.record):
            timeline.settle(until)


def ip_name(subnet: str, ip: int) -> str:
    """An address as people write it."""
    return "0.0.0.0" if ip == UNKNOWN else f"{subnet}.{ip}"  # noqa: S104 - no socket is bound to it


def mac_name(mac: int) -> str:
    """A MAC address as people write it."""
    return ":".join(f"{byte:02x}" for byte in mac.to_bytes(6, "big"))


def seconds(values: npt.ArrayLike) -> Integers:
    """Seconds as whole microseconds."""
    return (np.asarray(values, float) * SECOND).astype(np.int64)


# -- how devices ask for each other, and how they are answered -------------------------------------

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


# -- what happens by itself, and looks odd at times ------------------------------------------------

# Events an hour at a difficulty of one half.
_STARTS = 14.0
_DOCKINGS = 4.0
_FAILOVERS = 1.0
_SEARCHES = 4.0
_STUCK = 4.0
_STANDING_IN = 5.0
_NEW_LEASE = 0.4
_NEW_MAC = 0.3


class NetworkEvents:
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
