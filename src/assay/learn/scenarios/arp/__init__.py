"""ARP packets of an office network, in which somebody now and then poses as somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from assay.learn.scenarios.arp.attacks import FAMILIES, Attacks
from assay.learn.scenarios.arp.events import Events
from assay.learn.scenarios.arp.lan import NORMAL, PACKET, Lan, Packets, ip_name, mac_name
from assay.learn.scenarios.arp.sensor import Sensor
from assay.learn.scenarios.arp.talk import Talk
from assay.learn.scenarios.windows import CHUNK, FIRST_DAY, MEDIUM, ROWS, SECOND, SEED, streamed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["make_arp", "stream_arp"]

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
    events = Events(lan, talk, difficulty)
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
