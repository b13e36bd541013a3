"""What the audit finds of wrong numbers: `make mistakes`.

First, simulated claims with one wrong number, each beside a brute-force enumeration of all
matrices that its counts allow (`enumerated`). No right number may be called inconsistent; the wrong
one must be whenever it is the only one whose removal makes the claim possible, else it is in a
conflict that is named; a named conflict is one by brute force; a possible claim is not accused.
`--only INDEX` tries one claim again.

Then, how often the mistake that was made is among the first two explanations (`injected`). Honest
matrices are drawn, six to ten numbers are worked out from them, one mistake of each kind is made,
and everything is printed with four decimals and audited. An explanation counts if it names the
mistake, or gives its value to nine digits: 1 - recall and the false negative rate are one thing
said in two ways.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pprint
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator

from enumerated.trial import Trial, tried

PROMISE = 0.9
SHOWN = 3


def _tried(given: tuple[int, int]) -> Trial:
    return tried(*given)


def trials(seed: int, claims: int, processes: int = 2) -> Iterator[Trial]:
    """So many simulated claims, as they come."""
    given = ((seed, index) for index in range(claims))
    if processes == 1:
        yield from map(_tried, given)
        return
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap_unordered(_tried, given, chunksize=10)


def show(trial: Trial) -> None:
    """A claim that anybody can try again."""
    print(
        f"  [{trial.index}] wrong: {trial.case.wrong} ({trial.case.change}); {trial.state}", end=""
    )
    print(f"; suspects by brute force: {', '.join(trial.suspects) or 'none'}")
    for line in pprint.pformat(trial.case.claim, width=110, sort_dicts=False).splitlines():
        print(f"      {line}")
    print(f"      found {trial.verdicts}, conflicts {list(trial.conflicts)}")


def one_wrong(seed: int, claims: int, processes: int) -> bool:
    """Claims with one wrong number; whether all promises were kept."""
    started = time.monotonic()
    states: Counter[str] = Counter()
    broken: defaultdict[str, list[Trial]] = defaultdict(list)
    slowest = 0.0
    for done, trial in enumerate(trials(seed, claims, processes), 1):
        states[trial.state] += 1
        slowest = max(slowest, trial.seconds)
        for violation in trial.violations:
            broken[violation].append(trial)
        if done % 200 == 0:
            bad = sum(map(len, broken.values()))
            spent = time.monotonic() - started
            print(f"{done:,} claims, {bad} violations, {spent:.0f} s", file=sys.stderr, flush=True)
    for violation, group in sorted(broken.items(), key=lambda item: -len(item[1])):
        print(f"\n{violation}: {len(group)}")
        for trial in sorted(group, key=lambda each: len(str(each.case.claim)))[:SHOWN]:
            show(trial)
    print("\nby brute force")
    for state, often in states.most_common():
        print(f"  {state:44} {often:8,}")
    print("promises that were broken")
    for violation, group in sorted(broken.items(), key=lambda item: -len(item[1])):
        print(f"  {violation:44} {len(group):8,}")
    print(f"{claims:,} claims, {time.monotonic() - started:.0f} s, slowest audit {slowest:.1f} s")
    return not broken


def explained(seed: int, claims: int) -> bool:
    """Mistakes of every kind; whether they are named often enough."""
    from injected.claims import accidents, measure
    from injected.kinds import KINDS

    started = time.monotonic()
    print(f"{'mistake':36} {'shown':>7} {'flagged':>8} {'first':>7} {'second':>7} {'named':>7}")
    missed = []
    for kind in KINDS:
        estimate = measure(kind, claims, seed)
        other = f"  ({estimate.other_name} by another name)" if estimate.other_name else ""
        print(
            f"{estimate.kind:36} {estimate.shown:7d} {estimate.flagged:8d} {estimate.first:7d} "
            f"{estimate.second:7d} {estimate.named:7.1%}{other}",
            flush=True,
        )
        if not estimate.named >= PROMISE:
            missed.append(estimate.kind)
    random, by_chance = accidents(claims, seed)
    print(f"random digits: {by_chance} of {random} explained ({by_chance / random:.1%})")
    print(f"{time.monotonic() - started:.0f} s; below {PROMISE:.0%}: {', '.join(missed) or 'none'}")
    return not missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--claims", type=int, default=10_000, help="claims with one wrong number")
    parser.add_argument("--of-each-kind", type=int, default=300, help="claims of each mistake")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", type=int, help="the index of one claim")
    asked = parser.parse_args()
    if asked.only is not None:
        trial = tried(asked.seed, asked.only)
        print(trial.violations or "no promise broken")
        show(trial)
        sys.exit(1 if trial.violations else 0)
    kept = one_wrong(asked.seed, asked.claims, asked.processes) if asked.claims else True
    named = explained(asked.seed, asked.of_each_kind) if asked.of_each_kind else True
    sys.exit(0 if kept and named else 1)


if __name__ == "__main__":
    main()
