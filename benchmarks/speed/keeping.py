"""Tables of scores: merged parts, cells of a grid and counters of bit patterns beside one count."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.tally import ScoreTally
from assay.tally.keeping import Grid
from assay.tally.pattern_counter import PatternCounter
from speed.rows import rows
from speed.small import milliseconds
from speed.timing import Finding

ROWS, PARTS, REPEATS = 10_000_000, 8, 3
LABELS = ("benign", "attack")


def findings(count: int = ROWS) -> Iterator[Finding]:
    """What each way to keep scores costs, in processor time."""
    given = rows(count)
    truth, scores = given.truth.astype(np.uint8), given.scores
    narrow = scores.astype(np.float32)
    parts = [
        ScoreTally.of_rows(LABELS, scores[i::PARTS].copy(), truth[i::PARTS].copy())
        for i in range(PARTS)
    ]

    def patterns() -> None:
        counter = PatternCounter(LABELS)
        counter.add(narrow, truth)
        counter.done()

    once = milliseconds(lambda: ScoreTally.of_rows(LABELS, scores, truth), REPEATS)
    yield Finding(f"count {count:,} scores exactly, processor time", once, "ms")
    merged = milliseconds(lambda: ScoreTally.merge(parts), REPEATS)
    yield Finding(f"  merge {PARTS} parts of them, times that", merged / once, "x", at_most=1)
    cells = milliseconds(lambda: ScoreTally.of_rows(LABELS, scores, truth, kept=Grid()), REPEATS)
    yield Finding("  count them in cells of 12 bits, times that", cells / once, "x")
    counted = milliseconds(patterns, REPEATS)
    yield Finding("  float32 by bit patterns, times that", counted / once, "x")
