"""A forest plot in characters: intervals on a line, a mark at 0, and the margin around it."""

from __future__ import annotations

import math

from assay.report.sections import Forest, Outcome

WIDTH = 19
ZERO, BAND, RANGE, CROSSED, TOLD, OPEN = "│", "·", "─", "┼", "●", "○"


def span_of(forest: Forest) -> tuple[float, float]:
    """The ends of what is drawn: 0, all intervals, and the margin where it is not far away."""
    ends = [0.0]
    for change in forest.changes:
        found = change.difference
        ends += [end for end in (float(found), found.low, found.high) if math.isfinite(end)]
    low, high = min(ends), max(ends)
    if forest.margin is not None:
        reach = min(forest.margin, 2 * max(high, -low) or forest.margin)
        low, high = min(low, -reach), max(high, reach)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    room = (high - low) / (WIDTH - 1)
    return low - room / 2, high + room / 2


def strips_of(forest: Forest) -> list[str]:
    """One line of characters for each change."""
    low, high = span_of(forest)

    def at(number: float) -> int:
        share = (number - low) / (high - low)
        return min(max(int(share * WIDTH), 0), WIDTH - 1)

    blank = [" "] * WIDTH
    if forest.margin is not None:
        for i in range(at(-forest.margin), at(forest.margin) + 1):
            blank[i] = BAND
    blank[at(0)] = ZERO
    lines = []
    for change in forest.changes:
        line, found = list(blank), change.difference
        if math.isfinite(found.low) and math.isfinite(found.high):
            for i in range(at(found.low), at(found.high) + 1):
                line[i] = CROSSED if i == at(0) else RANGE
        if math.isfinite(found):
            line[at(found)] = OPEN if change.outcome() is Outcome.OPEN else TOLD
        lines.append("".join(line))
    return lines
