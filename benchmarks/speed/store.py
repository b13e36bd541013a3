"""A store of many runs: how fast it takes them, beside MLflow, and lists and follows them."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import assay
from assay.store import KeptRun, Store
from assay.store.exchange import to_mlflow
from assay.store.records import packed
from assay.store.run import summary_of
from speed.timing import Finding, best

RUNS, NAMES = 100_000, 50
RECORDED, BESIDE = 200, 10
REPEATS = 7
_AT_ONCE = 1000
_ESTIMATES = 20


def findings(count: int = RUNS) -> Iterator[Finding]:
    """Recording beside MLflow, then pages and trends of many runs."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        yield from _recording(Path(folder))
        yield from _many(Path(folder) / "many.db", count)


def _recording(folder: Path) -> Iterator[Finding]:
    cells = {"tp": 6635, "fp": 167, "fn": 324, "tn": 7743}
    document = assay.evaluate_counts(**cells, labels=[0, 1]).to_dict()
    with Store(folder / "runs.db") as store:
        started = time.perf_counter()
        for number in range(RECORDED):
            store.record(json.dumps({**document, "number": number}), name="flows")
        ours = RECORDED / (time.perf_counter() - started)
        size = len(summary_of(json.dumps(document)).values)
        yield Finding(f"runs recorded, {size} estimates with intervals each", ours, "a s")
        if find_spec("mlflow") is None:
            return
        kept = store.runs(limit=BESIDE + 1).runs
        uri = f"sqlite:///{folder / 'mlflow.db'}"
        to_mlflow(kept[:1], uri)  # it makes its tables first
        started = time.perf_counter()
        to_mlflow(kept[1:], uri)
        theirs = BESIDE / (time.perf_counter() - started)
    yield Finding("  the same into MLflow's database", theirs, "a s")
    yield Finding("  over MLflow", ours / theirs, "x", at_least=20)


def _many(path: Path, count: int) -> Iterator[Finding]:
    with Store(path) as store:
        started = time.perf_counter()
        _fill(store, count)
        seconds = time.perf_counter() - started
        yield Finding(f"{count:,} runs added by thousands", count / seconds, "a s")
        yield Finding("  in the file", path.stat().st_size / 1e6, "MB")
        middle = store.runs(name="name 7", limit=1000).runs[-1].id
        pages = {
            "a page of 50": {},
            "  of one name": {"name": "name 7"},
            "  of gates that failed": {"gate": "fail"},
            "  far back": {"before": middle},
        }
        for what, filters in pages.items():
            seconds = best(lambda given=filters: store.runs(**given), REPEATS)
            yield Finding(what, 1000 * seconds, "ms", at_most=10)
        seconds = best(lambda: store.runs(search="nothing like it"), REPEATS)
        yield Finding("  of words that no run has", 1000 * seconds, "ms")
        points = len(store.trend("name 7", "recall").points)
        seconds = best(lambda: store.trend("name 7", "recall"), REPEATS)
        yield Finding(f"a trend of {points:,} points", 1000 * seconds, "ms", at_most=100)


def _fill(store: Store, count: int) -> None:
    measures = [measure.name for measure in assay.measures.CATALOGUE[:_ESTIMATES]]
    for start in range(0, count, _AT_ONCE):
        some = []
        for number in range(start, min(count, start + _AT_ONCE)):
            value = 0.5 + (number % 997) / 2000
            estimates = [
                {"measure": name, "value": value, "low": value - 0.01, "high": value + 0.01, "n": 9}
                for name in measures
            ]
            is_gate = number % 10 == 0
            plain = {
                "schema": f"assay.{'gate' if is_gate else 'evaluation'}/1",
                "number": number,
                "headline": f"Catches {value:.1%} of attacks",
                "outcome": "fail" if number % 1000 == 0 else "pass",
                "source": {"labels_sha256": str(number // 10_000)},
                "estimates": estimates,
            }
            text = json.dumps(plain)
            summary = summary_of(text)
            made = f"2026-{1 + number // 8400 % 12:02}-{1 + number // 300 % 28:02}T00:00:00Z"
            run = KeptRun(
                seq=0,
                id=f"{number:012x}",
                name=f"name {number % NAMES}",
                kind=summary.kind,
                made=made,
                headline=summary.headline,
                gate=summary.gate,
                test_set=summary.test_set,
                level=0.95,
            )
            some.append((run, summary, {"document": packed(text.encode())}))
        store.add(some)
