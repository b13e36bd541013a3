"""The audit of a simulated claim beside what brute force says of it."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from enumerated.claims import MOST, Simulated, simulated
from enumerated.oracle import Oracle

MOST_SECONDS = 30


class TooSlow(BaseException):
    """More computing than a claim may take; no Exception, so that nothing catches it."""


@dataclass(frozen=True)
class Trial:
    """One claim: what brute force says, what the audit found, and where they differ."""

    index: int
    case: Simulated
    state: str
    violations: tuple[str, ...]
    verdicts: dict[str, str] = field(default_factory=dict)
    conflicts: tuple[tuple[str, ...], ...] = ()
    suspects: tuple[str, ...] = ()
    seconds: float = 0.0


def _stop(*_: Any) -> NoReturn:
    raise TooSlow


def tried(seed: int, index: int, most: int = MOST) -> Trial:
    """Make a claim, ask both, compare."""
    case = simulated(random.Random(f"{seed}-{index}"), most)
    oracle = Oracle(case.claim, case.labels)
    suspects = tuple(oracle.keys[i] for i in oracle.culprits(sure=True))
    state = state_of(oracle, case.wrong)
    signal.signal(signal.SIGPROF, _stop)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        document = audited(case.claim)
    except TooSlow:
        return Trial(index, case, state, ("too slow",), suspects=suspects)
    except Exception as odd:  # noqa: BLE001 - an error of any kind is a failure of the audit
        return Trial(index, case, state, (f"raises {type(odd).__name__}",), suspects=suspects)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    spent = time.process_time() - started
    verdicts = {number["key"]: number["verdict"] for number in document["numbers"]}
    conflicts = tuple(tuple(each["keys"]) for each in document.get("conflicts", ()))
    wrong = tuple(dict.fromkeys(violations(case, oracle, document, state)))
    return Trial(index, case, state, wrong, verdicts, conflicts, suspects, spent)


def audited(claim: dict[str, Any]) -> dict[str, Any]:
    """The audit of one claim as the plain values of the contract."""
    import assay

    (audited_claim,) = assay.audit([claim]).to_dict()["claims"]
    return dict(audited_claim)


def state_of(oracle: Oracle, wrong: str) -> str:
    """What is known of the claim: possible, one culprit, several; or open to interpretation."""
    if oracle.surely_possible:
        return "possible"
    if oracle.maybe_possible:
        return "open"
    place = oracle.keys.index(wrong)
    sure, maybe = oracle.culprits(sure=True), oracle.culprits(sure=False)
    if sure == maybe == [place]:
        return "one culprit"
    return "several suspects" if len(sure) > 1 else "impossible"


def violations(
    case: Simulated, oracle: Oracle, document: dict[str, Any], state: str
) -> Iterator[str]:
    """Where the audit breaks its promises."""
    verdicts = {number["key"]: number["verdict"] for number in document["numbers"]}
    conflicts = [set(each["keys"]) for each in document.get("conflicts", ())]
    named = set().union(*conflicts)
    accused = [key for key, verdict in verdicts.items() if verdict in ("inconsistent", "conflict")]
    if any(v == "inconsistent" and key != case.wrong for key, v in verdicts.items()):
        yield "right number inconsistent"
    if state == "possible" and accused:
        yield "possible claim accused"
    verdict = verdicts[case.wrong]
    if state == "one culprit" and verdict != "inconsistent":
        yield f"only culprit is {verdict}"
    if state == "several suspects" and verdict == "inconsistent":
        yield "accused though others may be wrong instead"
    unnamed = case.wrong not in named and verdict != "inconsistent"
    if state in ("several suspects", "impossible") and unnamed:
        yield f"suspect is {verdict} in no named conflict"
    for keys in conflicts:
        places = [oracle.keys.index(key) for key in keys if key in oracle.keys]
        if oracle.possible(places, sure=True):
            yield "named conflict is possible"
    if any(v == "conflict" and key not in named for key, v in verdicts.items()):
        yield "number in conflict, and no conflict names it"
    if (document["verdict"] == "inconsistent") != bool(accused):
        yield "claim's verdict is not that of its numbers"
