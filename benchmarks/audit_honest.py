"""Honest claims that an audit must not accuse: `make audits`.

Every claim is made from a random matrix by arithmetic of its own (`honest`): rationals, and
decimals of 60 digits. Numbers are rounded half up, half to even, or cut off, to 2 to 16 digits, in
percent or not; some are worked out from numbers that were rounded before, some are averages under
bare keys, some are means of folds. None may come out inconsistent or in conflict. `--only INDEX`
tries one claim again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from honest.claims import honest

ACCUSED = ("inconsistent", "conflict")
SHOWN = 20


@dataclass(frozen=True)
class Trial:
    """One honest claim, what the audit found of it, and the seconds that it took."""

    index: int
    claim: dict[str, Any]
    audited: dict[str, Any]
    seconds: float

    @property
    def verdicts(self) -> list[str]:
        """The verdict on each number."""
        return [number["verdict"] for number in self.audited["numbers"]]

    @property
    def accused(self) -> bool:
        """Whether anything of it is said to be wrong."""
        return self.audited["verdict"] == "inconsistent" or bool(set(ACCUSED) & set(self.verdicts))


def tried(seed: int, index: int) -> Trial:
    """Make a claim and audit it."""
    import assay

    claim = honest(random.Random(f"{seed}-{index}"))
    started = time.process_time()
    (audited_claim,) = assay.audit([claim]).to_dict()["claims"]
    return Trial(index, claim, audited_claim, time.process_time() - started)


def _tried(given: tuple[int, int]) -> Trial:
    return tried(*given)


def trials(seed: int, claims: int, processes: int = 2) -> Iterator[Trial]:
    """So many honest claims, as they come."""
    given = ((seed, index) for index in range(claims))
    if processes == 1:
        yield from map(_tried, given)
        return
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap_unordered(_tried, given, chunksize=10)


def show(trial: Trial) -> None:
    """A claim that anybody can try again, and what was said against it."""
    print(f"[{trial.index}] {trial.claim}")
    for number in trial.audited["numbers"]:
        if number["verdict"] in ACCUSED:
            said = number["verdict"], number["key"], number["reported"], number["recomputed"]
            print("   ", *said, number.get("said", ""))
    for conflict in trial.audited.get("conflicts", ()):
        print("    conflict:", conflict["keys"], conflict["text"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--claims", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", type=int, help="the index of one claim")
    asked = parser.parse_args()
    verdicts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    started = time.monotonic()
    wrong: list[Trial] = []
    slowest = 0.0, -1
    if asked.only is not None:
        trials_run: Iterator[Trial] = iter([tried(asked.seed, asked.only)])
    else:
        trials_run = trials(asked.seed, asked.claims, asked.processes)
    for done, trial in enumerate(trials_run, 1):
        verdicts.update(trial.verdicts)
        kinds[trial.claim["name"]] += 1
        slowest = max(slowest, (trial.seconds, trial.index))
        if trial.accused:
            wrong.append(trial)
        if done % 500 == 0:
            spent = time.monotonic() - started
            print(
                f"{done:,} claims, {len(wrong)} accused, {spent:.0f} s", file=sys.stderr, flush=True
            )
    for trial in sorted(wrong, key=lambda each: len(str(each.claim)))[:SHOWN]:
        show(trial)
    spent = time.monotonic() - started
    print(
        f"{sum(kinds.values()):,} honest claims, {sum(verdicts.values()):,} numbers, {spent:.0f} s"
    )
    for kind, often in sorted(kinds.items()):
        print(f"  {kind:24} {often:,}")
    for verdict, often in verdicts.most_common():
        print(f"  {verdict:24} {often:,}")
    print(f"slowest: claim {slowest[1]}, {slowest[0]:.1f} s")
    print(f"claims accused: {len(wrong)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
