"""Network flows of an office, with five families of attack and the scores of two models."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[Any]

SEED = 20
HOSTS = 240
NORMAL = 18_900
# Family: how many flows, on how many hosts, and how far they stand out.
FAMILIES = {
    "dos": (420, 14, 5.0),
    "scan": (360, 20, 3.7),
    "brute force": (190, 16, 2.6),
    "beacon": (100, 18, 0.9),
    "exfiltration": (30, 7, 0.2),
}
PROTOCOLS = ("tcp", "udp", "icmp")

FIRST_DAY = "2026-03-02"  # a Monday
DAYS = 14
# Family: on how many of the days it is active.
_ACTIVE_DAYS = {"dos": 2, "scan": 6, "brute force": 3, "beacon": DAYS, "exfiltration": 5}


@dataclass(frozen=True, eq=False)
class Flows:
    """Columns of flows: when and where they were, what was true, what two models said."""

    label: Column
    family: Column
    host: Column
    protocol: Column
    time: Column
    new: Column
    old: Column

    def __len__(self) -> int:
        return len(self.label)

    def where(self, chosen: Column) -> Flows:
        """Some of the flows, chosen by a mask or by positions."""
        return Flows(*(getattr(self, field.name)[chosen] for field in fields(self)))


def make_flows(seed: int = SEED) -> Flows:
    """20,000 flows of 240 hosts in two weeks; the same for the same seed.

    Flows of one host resemble each other, families differ in how well they hide, and harmless icmp
    looks a little odd to both models.

    >>> flows = make_flows()
    >>> len(flows), int((flows.label == "attack").sum())
    (20000, 1100)
    """
    random = np.random.default_rng(seed)
    family = np.repeat(["normal", *FAMILIES], [NORMAL, *(n for n, _, _ in FAMILIES.values())])
    host = np.empty(len(family), int)
    host[family == "normal"] = random.integers(0, HOSTS, NORMAL)
    evidence = np.full(len(family), -4.6)
    for name, (size, hosts, strength) in FAMILIES.items():
        rows = family == name
        host[rows] = random.choice(random.choice(HOSTS, hosts, replace=False), size)
        evidence[rows] = strength
    protocol = random.choice(PROTOCOLS, len(family), p=[0.70, 0.25, 0.05])
    evidence += random.normal(0, 0.8, HOSTS)[host]
    evidence += np.where((protocol == "icmp") & (family == "normal"), 1.2, 0.0)
    noise = random.normal(0, 1, (3, len(family)))
    new = evidence + 1.4 * noise[0] + 0.5 * noise[1]
    old = 0.8 * evidence + 1.4 * noise[0] + 1.3 * noise[2]
    return Flows(
        label=np.where(family == "normal", "normal", "attack"),
        family=family,
        host=np.char.add("host-", host.astype(str)),
        protocol=protocol,
        time=_times(family, seed),
        new=1 / (1 + np.exp(-new)),
        old=1 / (1 + np.exp(-old)),
    )


def _times(family: Column, seed: int) -> Column:
    """When each flow was seen: office hours for harmless ones, a few days for most families."""
    # A generator of its own, so that the times change nothing else.
    random = np.random.default_rng([seed, 1])
    share = np.where(np.arange(DAYS) % 7 < 5, 1.0, 0.4)
    day = random.choice(DAYS, len(family), p=share / share.sum())
    hour = np.clip(random.normal(13.5, 3.5, len(family)), 0, 23.99)
    for name, active in _ACTIVE_DAYS.items():
        rows = np.flatnonzero(family == name)
        day[rows] = random.choice(random.choice(DAYS, active, replace=False), len(rows))
        hour[rows] = random.uniform(0, 24, len(rows))
    seconds: Column = day * 86_400 + (hour * 3600).astype(int)
    return np.datetime64(FIRST_DAY, "s") + seconds.astype("timedelta64[s]")
