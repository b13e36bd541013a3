"""What flows of each kind look like, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

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
