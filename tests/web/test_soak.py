"""The app under load for a while: no error, and no memory that grows.

``make soak`` does it for five minutes, the slow tests for twenty seconds.
"""

from __future__ import annotations

import itertools
import os
import re
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.web import Client

from .test_server import ROWS, TOKEN, Server, serving

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("SOAK_SECONDS", "20"))
# What may be between the second quarter of the time and the last one.
GROWTH = 20_000_000
CLAIMS = {
    "claim": [
        {
            "name": "forest",
            "confusion": {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635},
            "reported": {"accuracy": "96.70%", "precision": "95.98%"},
        }
    ]
}


class Load:
    """Whoever asks until the time is over: pages in turn, and one who judges and audits."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.client = Client(server.url, TOKEN)
        self.server = server
        self.file = folder / "rows.csv"
        self.file.write_text(ROWS)
        self.statuses: Counter[int] = Counter()
        self.judged = 0
        self.failures: list[str] = []
        self.end = time.monotonic() + SECONDS
        self.runs = [
            self.client.record(self.client.evaluate(self.file), name=f"flows {i}") for i in range(3)
        ]

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.end

    def paths(self) -> Iterator[str]:
        pages = ("/", "/gate", "/compare", "/measures", "/measures.json", "/about.json", "/metrics")
        shown = [f"/runs/{run}{form}" for run in self.runs for form in ("", ".json", ".md")]
        pairs = [f"/compare?run={a}&run={b}" for a, b in itertools.permutations(self.runs, 2)]
        trends = [f"/trend?name=flows+{i}" for i in range(3)]
        return itertools.cycle([*pages, *shown, *pairs, *trends, "/nowhere", "/runs/ffffffffffff"])

    def read(self) -> None:
        for path in self.paths():
            if self.over:
                return
            self.statuses[self.server.ask(path, Authorization=f"Bearer {TOKEN}")[0]] += 1

    def work(self) -> None:
        while not self.over:
            try:
                self.client.evaluate(self.file)
                self.client.audit(CLAIMS)
                self.judged += 2
            except InputError as refused:
                self.failures.append(str(refused))


def memory(pid: int) -> int:
    """What a process and those that it started hold, in bytes."""
    total = 0
    for each in (pid, *map(int, children(pid))):
        status = Path(f"/proc/{each}/status")
        held = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
        total += int(held[1]) * 1024 if held is not None else 0
    return total


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_under_load(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        load = Load(server, tmp_path)
        threads = [threading.Thread(target=load.read) for _ in range(3)]
        threads.append(threading.Thread(target=load.work))
        for thread in threads:
            thread.start()
        sizes: list[int] = []
        while not load.over:
            sizes.append(memory(server.process.pid))
            time.sleep(SECONDS / 80)
        for thread in threads:
            thread.join()
        quarter = len(sizes) // 4
        before, after = sizes[quarter : 2 * quarter], sizes[-quarter:]
        growth = statistics.median(after) - statistics.median(before)
        print(
            f"\n{sum(load.statuses.values()):,} pages and {load.judged:,} judgements in "
            f"{SECONDS:g} s; {max(sizes) / 1e6:.0f} MB at most, {growth / 1e6:+.1f} MB from the "
            "second quarter to the last"
        )
        assert load.failures == []
        assert load.judged > 0
        assert set(load.statuses) == {200, 404}
        assert growth < GROWTH
        with assay.Store(tmp_path / "assay.db", read_only=True) as store:
            assert len(store.runs().runs) == 3
