"""The network: who is on it, which addresses they have, and when that changes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.learn.scenarios.windows import SECOND, Integers

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


class Timeline:
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
        found = np.array(self._values[positions])
        for time, position, value in self._changes:
            found[(positions == position) & (times >= time)] = value
        return found

    def latest(self) -> Integers:
        """The values after all changes that are known."""
        found = self._values.copy()
        for _, position, value in self._changes:
            found[position] = value
        return found

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
        self.ip = Timeline(first)
        self.mac = Timeline(1 + np.arange(count))
        self.owner = Timeline(owner)
        self.record = Timeline(record)  # the vendor that the inventory has for an address

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
