"""How often the audit names the mistake that was made: `make mistakes`.

Honest matrices are drawn, six to ten numbers are worked out from them, one mistake of each kind is
made, and everything is printed with four decimals and audited. Counted are the numbers whose digits
show the mistake, those that are flagged, and of these the ones with the mistake among the first two
explanations. An explanation counts if it names the mistake, or gives its value to nine digits:
1 - recall and the false negative rate are one thing said in two ways.
"""

from __future__ import annotations

import argparse
import time

from injected.claims import accidents, measure
from injected.kinds import KINDS

PROMISE = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--claims", type=int, default=300, help="claims of each kind")
    parser.add_argument("--seed", type=int, default=42)
    asked = parser.parse_args()
    started = time.monotonic()
    print(f"{'mistake':36} {'shown':>7} {'flagged':>8} {'first':>7} {'second':>7} {'named':>7}")
    missed = []
    for kind in KINDS:
        found = measure(kind, asked.claims, asked.seed)
        other = f"  ({found.other_name} by another name)" if found.other_name else ""
        print(
            f"{found.kind:36} {found.shown:7d} {found.flagged:8d} {found.first:7d} "
            f"{found.second:7d} {found.named:7.1%}{other}",
            flush=True,
        )
        if not found.named >= PROMISE:
            missed.append(found.kind)
    random, explained = accidents(asked.claims, asked.seed)
    print(f"random digits: {explained} of {random} explained ({explained / random:.1%})")
    print(f"{time.monotonic() - started:.0f} s; below {PROMISE:.0%}: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
