"""Clients, servers, and who talks to whom when: every day, in a rush, and in a flood."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from assay.learn.scenarios.ddos.profiles import (
    CLOSED,
    DNS,
    FLOODS,
    FLOW,
    HALF_OPEN,
    HTTPS,
    MAIL,
    NONE,
    NORMAL,
    OPEN,
    REFUSED,
    RESET,
    SERVICES,
    VPN,
    WAITING,
    Flows,
    draw,
)
from assay.learn.scenarios.windows import SECOND, Integers

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
