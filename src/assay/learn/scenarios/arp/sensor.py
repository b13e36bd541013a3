"""What a sensor on the network counts for each packet, from that packet and earlier ones alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from assay.learn.scenarios.arp.lan import BROADCAST, PACKET, UNKNOWN, Packets
from assay.learn.scenarios.windows import SECOND, Window, distinct, last_before

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
        found = {name: values[new] for name, values in _features(seen).items()}
        if len(seen):
            self._kept = seen[seen["time"] > seen["time"][-1] - LONG]
        return found


def _features(seen: Packets) -> dict[str, npt.NDArray[Any]]:
    time, reply = seen["time"], seen["reply"]
    src_ip, src_mac, dst_ip = (
        seen[name].astype(np.int64) for name in ("src_ip", "src_mac", "dst_ip")
    )
    sender = Window(src_mac, time, SHORT)
    claimed = Window(src_ip, time, LONG)
    pair = src_ip * _MACS + src_mac
    same = (pair * _IPS + dst_ip) * 2 + reply
    count, replies = sender.counts(), sender.sums(reply)
    since = Window(src_mac, time, LONG).since()
    known = src_ip != UNKNOWN  # who asks whether an address is free has none yet
    frequency = Window(pair, time, LONG).counts() / claimed.counts()
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
        "duplicates": Window(same, time, SHORT).counts() - 1,
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
