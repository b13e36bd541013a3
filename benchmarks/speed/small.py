"""A thousand rows, as people judge them in loops: one measure, all of them, and scikit-learn's."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import assay
from speed import peers
from speed.rows import Rows, rows
from speed.timing import Finding

ROWS, REPEATS = 1000, 30
# Of f1 and of everything, in milliseconds.
ONE, ALL = 2, 12


def milliseconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """The shortest of many runs, in processor time: other programs on the machine do not count."""
    times = []
    gc.collect()
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return 1000 * min(times)


def findings(count: int = ROWS) -> Iterator[Finding]:
    """What an evaluation costs that is asked for one estimate, and for every one."""
    given = rows(count)
    about = f"evaluate {count:,} rows"
    yield Finding(f"{about}, f1 with its interval", milliseconds(_one(given)), "ms", at_most=ONE)
    every = milliseconds(lambda: _every(given))
    number = len(assay.evaluate(given.truth, y_score=given.scores).entries)
    yield Finding(f"  all {number} estimates with their intervals", every, "ms", at_most=ALL)
    yield Finding("  and to_dict, with findings and curves", milliseconds(_whole(given)), "ms")
    theirs = milliseconds(lambda: peers.by_scikit_learn(given))
    names = len(peers.NAMES)
    yield Finding(f"  scikit-learn, {names} point values and the table", theirs, "ms")
    some = milliseconds(lambda: peers.by_assay(given))
    yield Finding(f"  evaluate, the same {names} with their intervals", some, "ms")


def _one(given: Rows) -> Callable[[], Any]:
    return lambda: assay.evaluate(given.truth, y_score=given.scores)["f1"]


def _every(given: Rows) -> list[assay.Estimate]:
    evaluation = assay.evaluate(given.truth, y_score=given.scores)
    return [entry.estimate for entry in evaluation.entries]


def _whole(given: Rows) -> Callable[[], Any]:
    return lambda: assay.evaluate(given.truth, y_score=given.scores).to_dict()
