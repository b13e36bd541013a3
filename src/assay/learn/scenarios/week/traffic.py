"""The flows of a week, hour by hour: people at work, machines at night, and the attacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from assay.learn.scenarios.week.attacks import FALSE, HOUR, Attack, addresses
from assay.learn.scenarios.windows import SECOND

HOURS = 7 * 24
# A flow: when it began and how long it took, between whom, how much; the attack that it is of, and
# what a detector that looks at flows thinks of it.
FLOW = np.dtype(
    [
        *(("time", np.int64), ("duration", np.int64), ("src_ip", "U39"), ("dst_ip", "U39")),
        *(("src_port", np.int64), ("dst_port", np.int64), ("packets", np.int64)),
        *(("sent", np.int64), ("received", np.int64), ("attack", np.int64), ("score", float)),
    ]
)
_OUTSIDE = ("198.51.100.", "203.0.113.", "2001:db8:5::")
_PORTS = np.array([443, 80, 53, 445, 22, 25, 993])
_OFTEN = np.array([0.5, 0.12, 0.2, 0.08, 0.02, 0.03, 0.05])
_LONGEST = 240 * SECOND
THRESHOLD = 0.5
_UNSEEN = 0.49


def flows_by_hour(
    seed: int, attacks: tuple[Attack, ...], flows: int
) -> Iterator[npt.NDArray[np.void]]:
    """All flows, those of one hour at a time, in order of time."""
    random = np.random.default_rng([seed, 3])
    hostile = _hostile(seed, attacks)
    hour = np.arange(HOURS)
    busy = (hour % 24 >= 8) & (hour % 24 < 18) & (hour < 5 * 24)
    weights = np.where(busy, 6.0, 1.0)
    sizes = random.multinomial(flows - len(hostile), weights / weights.sum())
    for number, size in enumerate(sizes.tolist()):
        harmless = _harmless(number, size, np.random.default_rng([seed, 4, number]))
        begin = np.searchsorted(hostile["time"], [number * HOUR, (number + 1) * HOUR])
        both = np.concatenate([harmless, hostile[slice(*begin)]])
        yield both[np.argsort(both["time"], kind="stable")]


def _harmless(hour: int, size: int, random: np.random.Generator) -> npt.NDArray[np.void]:
    flows = np.zeros(size, FLOW)
    flows["time"] = hour * HOUR + random.integers(0, HOUR, size)
    flows["src_ip"] = np.char.add("10.0.3.", random.integers(10, 200, size).astype(str))
    network = np.array([*_OUTSIDE, "10.0.1."])[random.integers(0, 4, size)]
    flows["dst_ip"] = np.char.add(network, random.integers(40, 61, size).astype(str))
    flows["dst_port"] = random.choice(_PORTS, size, p=_OFTEN)
    # Few of them look odd to a detector of flows.
    flows["score"] = random.beta(1.2, 9, size)
    flows["attack"] = FALSE
    return _filled(flows, random)


def _hostile(seed: int, attacks: tuple[Attack, ...]) -> npt.NDArray[np.void]:
    """The flows of all attacks; those before the first alert, and most others, look harmless."""
    random = np.random.default_rng([seed, 5])
    parts = []
    for number, attack in enumerate(attacks):
        flows = np.zeros(attack.flows, FLOW)
        flows["time"] = np.sort(random.integers(attack.start, attack.end, attack.flows))
        flows["time"][0] = attack.start
        flows["src_ip"] = addresses(attack.src_ip, attack.flows, random)
        flows["dst_ip"] = addresses(attack.dst_ip, attack.flows, random)
        ports = random.integers(1, 10_000, attack.flows)
        flows["dst_port"] = ports if attack.dst_port is None else attack.dst_port
        flows["attack"] = number
        score = random.beta(2, 6, attack.flows)
        if attack.first is not None:
            late = flows["time"] >= attack.start + attack.first
            seen = late & (random.random(attack.flows) < 0.45)
            score[seen] = THRESHOLD + random.beta(3, 2, int(seen.sum())) / 2
        flows["score"] = score if attack.first is not None else np.minimum(score, _UNSEEN)
        parts.append(_filled(flows, random))
    every = np.concatenate(parts)
    ordered: npt.NDArray[np.void] = every[np.argsort(every["time"], kind="stable")]
    return ordered


def _filled(flows: npt.NDArray[np.void], random: np.random.Generator) -> npt.NDArray[np.void]:
    size = len(flows)
    flows["src_port"] = random.integers(32_768, 61_000, size)
    flows["duration"] = np.minimum(random.exponential(8 * SECOND, size), _LONGEST).astype(np.int64)
    flows["packets"] = 2 + random.poisson(12, size)
    flows["sent"] = flows["packets"] * random.integers(40, 700, size)
    flows["received"] = flows["packets"] * random.integers(40, 1400, size)
    return flows
