"""Flows to the servers of a company: everyday use, rushes of people, and floods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from assay.learn.scenarios.ddos.network import ALL_SERVERS, CLIENTS, FAMILIES, Network
from assay.learn.scenarios.ddos.profiles import FLOW, HALF_OPEN, SERVICES, STATES, Flows
from assay.learn.scenarios.windows import (
    CHUNK,
    FIRST_DAY,
    MEDIUM,
    ROWS,
    SECOND,
    SEED,
    Integers,
    Window,
    distinct,
    streamed,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["make_ddos", "stream_ddos"]

START = 8 * 3600 * SECOND
BLOCK = 3600 * SECOND
WIDTH = 30 * SECOND  # of the window in which flows are counted


def make_ddos(rows: int = ROWS, seed: int = SEED, difficulty: float | str = MEDIUM) -> pl.DataFrame:
    """Flows as an exporter tells of them, in the order of time.

    ``label`` is normal or ddos, ``family`` the kind of flood, ``host`` the client. Rates of flows
    that took no time are infinite, and what an exporter can't know is missing. A longer table
    begins with the shorter one of the same seed and difficulty.

    >>> flows = make_ddos(rows=2000)
    >>> flows["label"].unique().sort().to_list(), flows["bytes_per_second"].is_infinite().any()
    (['ddos', 'normal'], True)
    """
    return next(stream_ddos(rows, seed, difficulty, chunk=max(rows, 1)))


def stream_ddos(
    rows: int = ROWS, seed: int = SEED, difficulty: float | str = MEDIUM, *, chunk: int = CHUNK
) -> Iterator[pl.DataFrame]:
    """The same flows in pieces, with a memory that does not grow with their number."""
    return streamed(_blocks, rows, seed, difficulty, chunk)


def _blocks(seed: int, difficulty: float) -> Iterator[pl.DataFrame]:
    """The flows of one hour after the other, for ever."""
    network = Network(np.random.default_rng([seed, 3]), difficulty, START)
    waiting: Flows = np.empty(0, FLOW)
    seen: Flows = np.empty(0, FLOW)
    number = 0
    while True:
        start = START + number * BLOCK
        random = np.random.default_rng([seed, 4, number])
        flows = np.concatenate([waiting, *network.between(start, start + BLOCK, random)])
        flows = flows[np.argsort(flows["time"], kind="stable")]
        now = flows["time"] < start + BLOCK
        waiting, flows = flows[~now], flows[now]
        yield _frame(flows, _counted(seen, flows))
        seen = np.concatenate([seen, flows])
        seen = seen[seen["time"] > start + BLOCK - WIDTH]
        number += 1


def _counted(seen: Flows, flows: Flows) -> dict[str, Integers]:
    """What the exporter counted in the last half minute, up to each flow."""
    both = np.concatenate([seen, flows])
    time, client, server = (both[name] for name in ("time", "client", "server"))
    to_server = Window(server, time, WIDTH)
    found = {
        "host_flows": Window(client, time, WIDTH).counts(),
        "server_flows": to_server.counts(),
        "server_clients": distinct(server, client, time, WIDTH),
        "server_half_open": to_server.sums(both["state"] == HALF_OPEN),
    }
    return {name: values[len(seen) :] for name, values in found.items()}


def _frame(flows: Flows, counted: dict[str, Integers]) -> pl.DataFrame:
    import polars as pl

    names, protocols, ports = (pl.Series(each) for each in zip(*SERVICES, strict=True))
    service = flows["service"]
    columns = ("duration", "fwd_packets", "bwd_packets", "fwd_bytes", "bwd_bytes")
    start = pl.lit(FIRST_DAY).str.to_datetime(time_unit="us", time_zone="UTC")
    frame = pl.DataFrame(
        {
            "time": flows["time"],
            "host": pl.Series([f"client-{n}" for n in range(1, CLIENTS + 1)]).gather(
                flows["client"]
            ),
            "server": pl.Series([f"server-{n}" for n in range(1, ALL_SERVERS + 1)]).gather(
                flows["server"]
            ),
            "protocol": protocols.gather(service),
            "service": names.gather(service),
            "port": ports.gather(service),
            "state": pl.Series(STATES).gather(flows["state"]),
            **{name: flows[name] for name in columns},
            "ttl": flows["ttl"],
            "window": flows["window"],
            **counted,
            "family": pl.Series(("normal", *FAMILIES)).gather(flows["family"]),
            "label": pl.Series(["normal", "ddos"]).gather((flows["family"] > 0).astype(int)),
        }
    )
    packets = pl.col("fwd_packets") + pl.col("bwd_packets")
    answers = pl.col("bwd_packets")
    bytes_ = pl.col("fwd_bytes") + pl.col("bwd_bytes")
    made = frame.with_columns(
        pl.col("ttl", "window").replace(-1, None),
        time=start + pl.duration(microseconds=pl.col("time")),
        # Division by no time gives infinity, as exporters write it.
        bytes_per_second=bytes_ / pl.col("duration"),
        packets_per_second=packets / pl.col("duration"),
        mean_packet_size=bytes_ / packets,
        bwd_packet_size=pl.when(answers > 0).then(pl.col("bwd_bytes") / answers),
        inter_arrival_mean=pl.when(packets > 1).then(pl.col("duration") / (packets - 1)),
    )
    last = ["family", "label"]
    return made.select(pl.exclude(last), *last)
