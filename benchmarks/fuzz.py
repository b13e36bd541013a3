"""Damaged Parquet, Arrow and Excel files, given to `assay evaluate` one process each: `make fuzz`.

A file may be used (exit code 0) or refused (2 or 3). A failure is anything else: another exit
code, a traceback, a process that dies, more than half a minute, more than half a gigabyte, or rows
that are neither used nor refused.

A case is drawn from (seed, index). The files of failures are kept under build/fuzz; `--only INDEX`
tries one again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hostile.files import FORMATS, case, xlsx

SECONDS = 30
MEMORY = 512 << 20
KEPT = Path("build/fuzz")
ENDS = {0: "used", 2: "refused", 3: "refused"}
ASKED = ("--label=label", "--score=score", "--positive=attack", "--on-bad-row=skip", "--quiet",
         "--format=json")  # fmt: skip
# Which modules an evaluation loads.
LOADED = """
import sys
from assay.cli.app import run
run(["evaluate", *sys.argv[1:]])
print(*sys.modules)
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a file."""

    index: int
    format: str
    end: str
    detail: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it was neither used nor refused."""
        return self.end not in ENDS.values()


def evaluate(path: str, out: str) -> None:
    """Run the command line in a process of its own, and say how much memory it took."""
    from assay.cli.app import run

    said = os.open(f"{out}.err", os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = run(["evaluate", path, *ASKED, f"--out={out}"])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    Path(f"{out}.grown").write_text(str(grown * 1024))
    sys.exit(code)


def loaded() -> list[str]:
    """The modules that the process from which each case is forked imports, and runs nothing of."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.xlsx"
        path.write_bytes(xlsx(Random(0)))
        command = [sys.executable, "-c", LOADED, str(path), *ASKED, f"--out={folder}/out.json"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.split()


def trial(seed: int, index: int, only: str | None) -> Outcome:
    """Make one file, evaluate it, and say what happened."""
    name, content = case(seed, index, only)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / f"rows.{name}", Path(folder) / "out.json"
        path.write_bytes(content)
        context = multiprocessing.get_context("forkserver")
        process = context.Process(target=evaluate, args=(str(path), str(out)), daemon=True)
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            end, detail = f"above {SECONDS} s", ""
        else:
            end, detail = _ended(process.exitcode, out)
    outcome = Outcome(index, name, end, detail, time.monotonic() - began)
    if outcome.failed:
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / f"{index}.{name}").write_bytes(content)
    return outcome


def _ended(code: int | None, out: Path) -> tuple[str, str]:
    said = Path(f"{out}.err").read_text("utf-8", "replace") if Path(f"{out}.err").exists() else ""
    if code not in ENDS:
        return f"exit code {code}", said[-1000:]
    if "Traceback" in said or "panicked" in said:
        return "traceback", said[-1000:]
    grown = int(Path(f"{out}.grown").read_text())
    if grown > MEMORY:
        return "memory", f"{grown >> 20} MiB"
    if code == 0:
        source = json.loads(out.read_bytes())["source"]
        if source["rows_used"] + source["rows_refused"] != source["rows_read"]:
            return "silent loss", str(source)
    return ENDS[code], ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the index to begin with")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=FORMATS, help="one format alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, help="the index of one case")
    asked = parser.parse_args()
    multiprocessing.set_forkserver_preload(loaded())
    began = time.monotonic()
    indices = range(asked.first, asked.cases) if asked.only is None else [asked.only]
    ends: Counter[tuple[str, str]] = Counter()
    failures = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        outcomes = pool.map(lambda index: trial(asked.seed, index, asked.format), indices)
        for done, outcome in enumerate(outcomes, 1):
            ends[outcome.format, outcome.end] += 1
            failures += outcome.failed
            if outcome.failed or asked.only is not None:
                print(f"{'FAILED ' if outcome.failed else ''}{outcome}", flush=True)
            if done % 500 == 0:
                spent = time.monotonic() - began
                print(f"{done:,} files, {failures} failures, {spent:.0f} s", flush=True)
    for (name, end), count in sorted(ends.items()):
        print(f"{name:8} {end:16} {count:6,}")
    print(f"{sum(ends.values()):,} files, {failures} failures, {time.monotonic() - began:.0f} s")
    return int(bool(failures))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
