"""Change single tokens of the source at random, and see whether a test notices: `make mutants`.

Which tests execute a line is recorded once, with branch coverage by test; a mutant is then tried
against those tests alone, quickest first, until one fails. Nothing of the checkout is changed: each
worker has its own copy of `src`. What survives is listed with its line. A mutant that no input can
tell from the original stands in `mutation/equivalent.json` with the reason, and is counted apart;
`*` is any change of a line, such as that of a size of blocks on which no result depends.
"""

from __future__ import annotations

import argparse
import compileall
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import Queue

from mutation.recording import Recorded, read_record, recorded
from mutation.server import Server
from mutation.tokens import Mutant, mutants
from mutation.trial import Trial, fail_anyway, must_pass, tried

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
EQUIVALENT = Path(__file__).parent / "mutation" / "equivalent.json"
PACKAGES = ("formula", "measures", "inference")
# Whose tests are asked: those of these packages, and what holds of all measures.
TESTS = tuple(
    str(path.relative_to(ROOT))
    for name in (*PACKAGES, "counts", "laws", "oracles", "seeds")
    if (path := ROOT / "tests" / name).is_dir()
)
GOAL = 0.95


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200, help="how many mutants are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--seconds",
        type=float,
        default=200,
        help="how many seconds of tests a mutant is tried against",
    )
    parser.add_argument("--packages", nargs="*", default=PACKAGES, help="below src/assay")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--only", help="a part of FILE:LINE: retry these mutants of the sample")
    parser.add_argument(
        "--tests", nargs="*", default=(), help="files of tests that are asked first, of any line"
    )
    parser.add_argument(
        "--record", type=Path, help="where a record lies that is taken as it is; none: --tests only"
    )
    asked = parser.parse_args()
    if asked.tests:
        with closing(Server(ROOT)) as server:
            must_pass(asked.tests, SOURCE, server)
    if asked.record:
        record = read_record(asked.record)
    elif asked.tests:
        record = Recorded({}, {})
    else:
        record = recorded(ROOT, asked.work, asked.jobs, TESTS)
    record = replace(record, first=tuple(asked.tests))
    files = [path for name in asked.packages for path in (SOURCE / "assay" / name).rglob("*.py")]
    files.sort()
    drawn = mutants(SOURCE, files, asked.count, asked.seed)
    if asked.only:
        drawn = [mutant for mutant in drawn if asked.only in mutant.place]
    reasons = _equivalent(drawn)
    trials = []
    for trial in _all(drawn, record, asked.jobs, asked.seconds):
        reason = reasons.get(trial.mutant.key)
        print(f"{len(trials) + 1:4} {trial.line(reason)}", flush=True)
        trials.append(trial)
    with closing(Server(ROOT)) as server:
        broken = fail_anyway(trials, SOURCE, server)
    for test in sorted(broken):
        print(f"fails without a mutant too, so what it killed survives: {test}")
    trials = [replace(one, killed=False) if one.by in broken else one for one in trials]
    return _summary(trials, reasons, asked.work)


def _equivalent(drawn: Iterable[Mutant]) -> dict[tuple[str, str, str], str]:
    """Why no input can tell a mutant from the original, of those that are listed."""
    listed = json.loads(EQUIVALENT.read_bytes())
    reasons = {(one["file"], one["line"], one["change"]): one["reason"] for one in listed}
    told = {}
    for mutant in drawn:
        file, line, change = mutant.key
        reason = reasons.get((file, line, change)) or reasons.get((file, line, "*"))
        if reason:
            told[mutant.key] = reason
    return told


def _all(drawn: list[Mutant], record: Recorded, jobs: int, seconds: float) -> Iterator[Trial]:
    """Every mutant tried, by a few workers that have a copy of the source each."""
    copies: Queue[tuple[Path, Server]] = Queue()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for number in range(jobs):
            copy = Path(folder) / str(number) / "src"
            shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
            # By hash, so that only a file that differs is compiled again.
            compileall.compile_dir(
                copy, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH
            )
            copies.put((copy, stack.enter_context(closing(Server(ROOT)))))

        def one(mutant: Mutant) -> Trial:
            copy, server = copies.get()
            try:
                return tried(mutant, copy, server, record, seconds)
            finally:
                copies.put((copy, server))

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(one, drawn)


def _summary(trials: list[Trial], reasons: dict[tuple[str, str, str], str], work: Path) -> int:
    survivors = [trial for trial in trials if not trial.killed]
    equivalent = [trial for trial in survivors if trial.mutant.key in reasons]
    real = len(trials) - len(equivalent)
    killed = len(trials) - len(survivors)
    share = killed / real if real else 1.0
    print(
        f"\n{killed} of {real} mutants killed ({share:.1%}; the goal is {GOAL:.0%}),"
        f" {len(equivalent)} equivalent ones apart"
    )
    for trial in survivors:
        print(trial.line(reasons.get(trial.mutant.key)))
    work.mkdir(parents=True, exist_ok=True)
    out = work / "result.json"
    out.write_text(json.dumps([trial.plain() for trial in trials], indent=1) + "\n", "utf-8")
    print(f"Wrote {out}")
    return int(share < GOAL)


if __name__ == "__main__":
    sys.exit(main())
