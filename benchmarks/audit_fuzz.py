"""Mutated claims that an audit may refuse or judge, but must not break on: `make fuzz`.

Claims of the examples and simulated ones are changed at random: keys, digits, counts, labels,
types. Each is audited and drawn in two formats. Anything but a result or an error that assay raises
on purpose is a failure, as are more than five seconds of computing, a document that breaks the
contract, and a share like 1e309 that passes. Claims are drawn from (seed, index): `--only INDEX`
tries one again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import signal
import sys
import time
import tomllib
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from honest.claims import honest
from mutated.claims import as_text, damaged, mutated

ROOT = Path(__file__).resolve().parents[1]
MOST_SECONDS = 5
MOST_MEMORY = 6 << 30
FACES = ("terminal", "csv", "markdown", "latex", "html")
VERDICTS = {"consistent", "rounding", "conflict", "inconsistent", "undetermined"}
ENDLESS = {
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "diagnostic_odds_ratio",
    "log_loss",
}


class TooSlow(BaseException):
    """More computing than a claim may take; no Exception, so that nothing catches it."""


@dataclass(frozen=True)
class Outcome:
    """What became of one claim: a kind, where it went wrong, the claim and its seconds."""

    index: int
    kind: str
    detail: str = ""
    claim: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it is neither a result nor an error on purpose."""
        return self.kind not in ("judged", "refused")


@cache
def bases() -> list[dict[str, Any]]:
    """The claims of the examples, of the source documents, and some simulated ones."""
    claims = []
    for path in sorted((ROOT / "examples" / "claims").glob("*.toml")):
        claims += tomllib.loads(path.read_text("utf-8"))["claim"]
    rng = random.Random(0)
    return claims * 2 + [honest(rng) for _ in range(150)]


@cache
def tables() -> list[str]:
    """The claims of the examples as they are written in TOML."""
    claims = []
    for path in sorted((ROOT / "examples" / "claims").glob("*.toml")):
        claims += [f"[[claim]]{part}" for part in path.read_text("utf-8").split("[[claim]]")[1:]]
    return claims


def _stop(*_: Any) -> NoReturn:
    raise TooSlow


def trial(seed: int, index: int) -> Outcome:
    """Make one claim, audit it, and say what happened."""
    rng = random.Random(f"{seed}-{index}")
    claim, text, name = None, None, "claims.json"
    if rng.random() < 0.1:
        text, name = damaged(rng, rng.choice(tables()), rng.choice((1, 1, 2, 4))), "claims.toml"
    else:
        claim = mutated(rng, bases())
        text = as_text(rng, claim) if rng.random() < 0.35 else None
    shown = repr(claim) if text is None else f"read_claims({name!r}, text={text!r})"
    face = rng.choice(FACES)
    signal.signal(signal.SIGPROF, _stop)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        kind, detail = _audited(claim, text, name, face)
    except TooSlow:
        kind, detail = f"above {MOST_SECONDS} s", _place(sys.exc_info()[2])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Outcome(index, kind, detail, shown, time.process_time() - started)


def _audited(claim: Any, text: str | None, name: str, face: str) -> tuple[str, str]:
    import assay
    from assay.decisions.audit import read_claims
    from assay.report import document_of, draw

    try:
        given = claim if text is None else read_claims(name, text=text)
        if text is None and not isinstance(claim, dict):
            given = [claim]
        result = assay.audit(given)
        document = document_of(result)
        printed = json.loads(draw(document, "json"))
        draw(document, face, **({"width": 100} if face == "terminal" else {}))
    except assay.AssayError:
        return "refused", ""
    except Exception as odd:  # noqa: BLE001 - that is what is looked for
        return type(odd).__name__, _place(odd.__traceback__)
    json.dumps(result.to_dict())
    wrong = next(broken(printed), None)
    return ("judged", "") if wrong is None else ("broken statement", wrong)


def broken(document: dict[str, Any]) -> Iterator[str]:
    """What a document says against the contract."""
    for claim in document["claims"]:
        numbers = claim["numbers"]
        accused = [n for n in numbers if n["verdict"] in ("inconsistent", "conflict")]
        if (claim["verdict"] == "inconsistent") != bool(accused):
            yield "the claim's verdict is not that of its numbers"
        keys = {number["key"] for number in numbers}
        for number in numbers:
            if number["verdict"] not in VERDICTS:
                yield f"verdict {number['verdict']}"
            if number["verdict"] in ("consistent", "rounding") and _no_share(number):
                yield f"a share like 1e309 is {number['verdict']}"
        conflicts = claim.get("conflicts", [])
        if any(not set(conflict["keys"]) <= keys for conflict in conflicts):
            yield "a conflict names a key that is not there"
        named = {key for conflict in conflicts for key in conflict["keys"]}
        if any(n["verdict"] == "conflict" and n["key"] not in named for n in numbers):
            yield "a number is in conflict, and no conflict names it"


def _no_share(number: dict[str, Any]) -> bool:
    """Whether a value of a bounded measure is printed beyond all doubt."""
    if number["measure"] is None or number["measure"] in ENDLESS:
        return False
    if number["key"].endswith((".ci", ".se", ".sd")):
        return False
    try:
        return abs(Decimal(number["reported"].replace(",", "").rstrip("% "))) > 1000
    except (InvalidOperation, AttributeError):
        return False


def _place(trace: Any) -> str:
    """The innermost lines of a traceback that are in assay."""
    frames = [f for f in traceback.extract_tb(trace) if "/assay/" in f.filename]
    return " < ".join(
        f"{f.filename.rpartition('assay/')[2]}:{f.lineno} {f.name}" for f in frames[:-4:-1]
    )


# -- all of them -----------------------------------------------------------------------------------


def _start() -> None:
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _trial(given: tuple[int, int]) -> Outcome:
    return trial(*given)


def trials(seed: int, claims: int, processes: int = 2) -> Iterator[Outcome]:
    """The outcomes of so many claims, as they come."""
    given = ((seed, index) for index in range(claims))
    if processes == 1:
        yield from map(_trial, given)
        return
    with multiprocessing.Pool(processes, _start) as pool:
        yield from pool.imap_unordered(_trial, given, chunksize=20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--claims", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", type=int, help="the index of one claim")
    asked = parser.parse_args()
    started = time.monotonic()
    counted: Counter[str] = Counter()
    failures: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
    slowest = Outcome(-1, "")
    if asked.only is not None:
        trials_run: Iterator[Outcome] = iter([trial(asked.seed, asked.only)])
    else:
        trials_run = trials(asked.seed, asked.claims, asked.processes)
    for done, outcome in enumerate(trials_run, 1):
        counted[outcome.kind] += 1
        slowest = max(slowest, outcome, key=lambda each: each.seconds)
        if outcome.failed or asked.only is not None:
            failures[outcome.kind, outcome.detail].append(outcome)
        if done % 500 == 0:
            spent = time.monotonic() - started
            bad = sum(map(len, failures.values()))
            print(f"{done:,} claims, {bad} failures, {spent:.0f} s", file=sys.stderr, flush=True)
    for (kind, detail), group in sorted(failures.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(group)} x {kind}: {detail}")
        for outcome in sorted(group, key=lambda each: len(each.claim))[:5]:
            print(f"  [{outcome.index}] {outcome.claim[:2000]}")
    print()
    for kind, often in counted.most_common():
        print(f"{kind:24} {often:8,}")
    print(f"slowest: claim {slowest.index}, {slowest.seconds:.2f} s of computing")
    print(f"{sum(counted.values()):,} claims, {time.monotonic() - started:.0f} s")
    sys.exit(1 if any(outcome.failed for group in failures.values() for outcome in group) else 0)


if __name__ == "__main__":
    main()
