"""Flows to the servers of a company: everyday use, rushes of people, and floods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

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
    streamed,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["make_ddos", "stream_ddos"]

Flows: TypeAlias = npt.NDArray[Any]

FLOW = np.dtype(
    [
        ("time", "i8"),  # microseconds since the first day, when the flow was exported
        ("client", "i4"),
        ("server", "i4"),
        ("service", "i4"),
        ("state", "i4"),
        ("duration", "f8"),
        ("fwd_packets", "i8"),
        ("bwd_packets", "i8"),
        ("fwd_bytes", "i8"),
        ("bwd_bytes", "i8"),
        ("ttl", "i4"),
        ("window", "i4"),
        ("family", "i4"),
    ]
)
STATES = ("closed", "open", "half-open", "reset", "none")  # none: UDP and ICMP have no state
CLOSED, OPEN, HALF_OPEN, RESET, NONE = range(5)
# Name, protocol, port of the server.
SERVICES = (
    ("https", "tcp", 443),
    ("mail", "tcp", 587),
    ("dns", "udp", 53),
    ("vpn", "udp", 4500),
    ("ping", "icmp", 0),
)
HTTPS, MAIL, DNS, VPN, PING = range(5)
_SMALLEST, _LARGEST = 40, 1500  # bytes of a packet


@dataclass(frozen=True)
class Profile:
    """Medians and how far values scatter about them, as logarithms."""

    duration: float  # seconds
    packets: float  # of the client
    answers: float  # packets of the server for each of the client
    size: float  # bytes of a packet of the client
    answer_size: float
    scatter: float = 0.6

    def logs(self) -> npt.NDArray[np.float64]:
        """The medians as logarithms."""
        values = (self.duration, self.packets, self.answers, self.size, self.answer_size)
        return np.log(values)


NORMAL = {
    HTTPS: Profile(1.5, 12, 1.3, 190, 800, 0.9),
    MAIL: Profile(3.0, 22, 0.8, 600, 120, 0.8),
    DNS: Profile(0.03, 1.2, 1.0, 72, 190, 0.5),
    VPN: Profile(40.0, 250, 1.1, 420, 500, 1.0),
    PING: Profile(3.0, 4, 0.9, 84, 84, 0.4),
}
WAITING = Profile(120.0, 24, 0.9, 90, 110, 0.7)  # a page that waits for news
REFUSED = Profile(3.0, 2.5, 0.25, 60, 60, 0.6)  # a connection that was never made

# What a tool sends; the innocent profile that it moves towards where it hides.
FLOODS = {
    "syn": (Profile(0.02, 1.1, 0.15, 54, 54, 0.4), REFUSED),
    "udp": (Profile(0.8, 60, 0.02, 900, 60, 0.7), NORMAL[DNS]),
    "http": (Profile(0.25, 6, 0.9, 120, 420, 0.4), NORMAL[HTTPS]),
    "slow": (Profile(280.0, 40, 0.5, 58, 54, 0.4), WAITING),
}


def draw(
    profile: Profile,
    count: int,
    random: np.random.Generator,
    towards: Profile | None = None,
    share: npt.ArrayLike = 0.0,
) -> dict[str, npt.NDArray[Any]]:
    """Durations, packets and bytes of flows, some way from one profile towards another."""
    middle = profile.logs()[None, :]
    scatter = np.full(count, profile.scatter)
    if towards is not None:
        part = np.broadcast_to(np.asarray(share, float), count)
        middle = middle + part[:, None] * (towards.logs() - profile.logs())
        scatter += part * (towards.scatter - profile.scatter)
    noise = random.normal(0, 1, (count, 5)) * scatter[:, None] * [1, 1, 0.3, 0.35, 0.5]
    duration, packets, answers, size, answer_size = np.exp(middle + noise).T
    fwd = np.maximum(random.poisson(packets), 1)
    bwd = random.poisson(fwd * answers)
    size, answer_size = (np.clip(each, _SMALLEST, _LARGEST) for each in (size, answer_size))
    # One packet alone takes no time, and clocks of exporters count in milliseconds.
    duration = np.where(fwd + bwd > 1, np.round(duration, 3), 0.0)
    return {
        "duration": duration,
        "fwd_packets": fwd,
        "bwd_packets": bwd,
        "fwd_bytes": np.round(fwd * size).astype(np.int64),
        "bwd_bytes": np.round(bwd * answer_size).astype(np.int64),
    }


# -- clients, servers, and who talks to whom when --------------------------------------------------

HOUR = 3600 * SECOND
CLIENTS = 1500
# Servers of each service; a ping goes to any of them.
SERVERS = {HTTPS: range(7), MAIL: range(7, 9), DNS: range(9, 11), VPN: range(11, 12)}
ALL_SERVERS = 12
FAMILIES = tuple(FLOODS)

_FLOWS = 3000.0  # an hour by day
_SHARES = (0.62, 0.07, 0.22, 0.04, 0.05)  # of the services
_RUSHES = 3.0  # an hour at a difficulty of one half
_PAUSE = 380.0  # mean seconds between the beginnings of two floods
_FIRST = 120.0
_BOTS = 400
_TTLS, _WINDOWS = (64, 128, 255), (65535, 64240, 29200, 8192, 1024)


class Network:
    """Flows, hour by hour; what an hour causes may be exported in the next one."""

    def __init__(self, random: np.random.Generator, difficulty: float, start: int) -> None:
        self._difficulty = difficulty
        self._activity = random.pareto(1.5, CLIENTS) + 0.2
        self._activity /= self._activity.sum()
        self._ttl = random.choice(_TTLS, CLIENTS) - random.integers(3, 24, CLIENTS)
        self._window = random.choice(_WINDOWS, CLIENTS)
        self._bots = random.choice(CLIENTS, _BOTS, replace=False)
        self._next = start + int(_FIRST * SECOND)
        self._kinds: list[str] = []

    def between(self, start: int, end: int, random: np.random.Generator) -> Iterator[Flows]:
        """The flows that begin between two times."""
        light = 0.25 + 0.75 * max(0.0, float(np.sin((start / HOUR - 6) % 24 / 14 * np.pi)))
        yield from self._everyday(start, end, light, random)
        for _ in range(random.poisson(_RUSHES * (0.4 + 1.2 * self._difficulty))):
            yield from self._rush(int(random.integers(start, end)), random)
        while self._next < end:
            yield self._flood(self._next, random)
            self._next += int(random.exponential(_PAUSE) / light * SECOND)

    def _everyday(
        self, start: int, end: int, light: float, random: np.random.Generator
    ) -> Iterator[Flows]:
        count = random.poisson(_FLOWS * light * (end - start) / HOUR)
        for service, size in enumerate(random.multinomial(count, _SHARES)):
            time = random.integers(start, end, size)
            server = random.integers(0, ALL_SERVERS, size)
            if service in SERVERS:
                server = random.choice(SERVERS[service], size)
            client = random.choice(CLIENTS, size, p=self._activity)
            yield from self._innocent(time, client, server, service, random)

    def _innocent(
        self,
        time: Integers,
        client: Integers,
        server: npt.ArrayLike,
        service: int,
        random: np.random.Generator,
        refused: float = 0.04,
    ) -> Iterator[Flows]:
        """Flows of people: most are as they should be, some wait long, some are refused."""
        server = np.broadcast_to(server, len(time))
        tcp = SERVICES[service][1] == "tcp"
        kind = np.zeros(len(time), int)
        if tcp:
            rest = 1 - refused - 0.05
            kind = random.choice(3, len(time), p=[rest, 0.05, refused])
        for number, profile in enumerate((NORMAL[service], WAITING, REFUSED)):
            where = kind == number
            count = int(where.sum())
            states: list[int] = [NONE] if not tcp else [CLOSED, CLOSED, CLOSED, OPEN, RESET]
            if number == 2:
                states = [HALF_OPEN, HALF_OPEN, RESET]
            yield self._flows(
                time[where],
                client[where],
                server[where],
                service,
                random.choice(states, count),
                draw(profile, count, random),
                random,
            )

    def _rush(self, time: int, random: np.random.Generator) -> Iterator[Flows]:
        """Many people want the same page at once, and the server can't take them all."""
        count = int(random.integers(150, 600))
        spread = random.gamma(2.0, random.uniform(40, 200), count) * SECOND
        client = random.choice(CLIENTS, count, p=self._activity)
        service = int(random.choice([HTTPS, HTTPS, HTTPS, DNS]))
        server = int(random.choice(SERVERS[service]))
        when = time + spread.astype(np.int64)
        refused = float(random.uniform(0.05, 0.35))
        yield from self._innocent(when, client, server, service, random, refused)

    def _flood(self, time: int, random: np.random.Generator) -> Flows:
        if not self._kinds:  # each kind once, then each again
            self._kinds = random.permutation(FAMILIES).tolist()
        kind = self._kinds.pop()
        count = int(random.integers(40, 220))
        seconds = random.uniform(20, 120) * (1 + 10 * self._difficulty)
        when = time + random.uniform(0, seconds * SECOND, count).astype(np.int64)
        client = random.choice(random.choice(self._bots, 60, replace=False), count)
        if kind in ("syn", "udp") and random.random() < 0.5:  # the addresses are made up
            client = random.integers(0, CLIENTS, count)
        service = HTTPS if kind != "udp" else int(random.choice([DNS, VPN]))
        server = int(random.choice(SERVERS[service]))
        # Each flood hides as well as it can, and no two of its flows alike.
        tool, innocent = FLOODS[kind]
        hidden = float(np.clip(random.normal(0.15 + 0.8 * self._difficulty, 0.15), 0, 1))
        share = np.clip(random.normal(hidden, 0.25, count), 0, 1)
        states = {
            "syn": [HALF_OPEN, HALF_OPEN, HALF_OPEN, RESET],
            "udp": [NONE],
            "http": [CLOSED, CLOSED, OPEN, RESET],
            "slow": [OPEN, OPEN, CLOSED, RESET],
        }[kind]
        flows = self._flows(
            when,
            client,
            np.full(count, server),
            service,
            random.choice(states, count),
            draw(tool, count, random, innocent, share),
            random,
        )
        flows["family"] = 1 + FAMILIES.index(kind)
        if random.random() > 0.3 + 0.7 * self._difficulty:  # the tool has its own
            flows["ttl"] = random.choice(_TTLS) - random.integers(3, 24)
            flows["window"] = np.where(flows["window"] < 0, -1, random.choice([1024, 8192]))
        return flows

    def _flows(
        self,
        time: Integers,
        client: Integers,
        server: npt.ArrayLike,
        service: int,
        state: npt.ArrayLike,
        drawn: dict[str, npt.NDArray[np.float64]],
        random: np.random.Generator,
    ) -> Flows:
        made = np.zeros(len(time), FLOW)
        made["client"], made["server"], made["service"] = client, server, service
        for name, values in drawn.items():
            made[name] = values
        made["state"] = state
        made["ttl"] = self._ttl[made["client"]]
        made["window"] = np.where(SERVICES[service][1] == "tcp", self._window[made["client"]], -1)
        # An exporter tells of a flow when it is over.
        made["time"] = time + (made["duration"] * SECOND).astype(np.int64)
        # Some packets are lost on the way to the exporter, and with them what they said.
        lost = random.random(len(time)) < 0.01
        made["ttl"][lost], made["window"][lost] = -1, -1
        return made


# -- the table -------------------------------------------------------------------------------------

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
        yield _frame(flows, _exported_counts(seen, flows))
        seen = np.concatenate([seen, flows])
        seen = seen[seen["time"] > start + BLOCK - WIDTH]
        number += 1


def _exported_counts(seen: Flows, flows: Flows) -> dict[str, Integers]:
    """What the exporter counted in the last half minute, up to each flow."""
    both = np.concatenate([seen, flows])
    time, client, server = (both[name] for name in ("time", "client", "server"))
    to_server = TimeWindow(server, time, WIDTH)
    columns = {
        "host_flows": TimeWindow(client, time, WIDTH).counts(),
        "server_flows": to_server.counts(),
        "server_clients": distinct(server, client, time, WIDTH),
        "server_half_open": to_server.sums(both["state"] == HALF_OPEN),
    }
    return {name: values[len(seen) :] for name, values in columns.items()}


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
