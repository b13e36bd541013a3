"""K classes with their supports: how many of each class can have been decided right?

Accuracy and all that equals it tell the sum of the hits, recalls tell them class by class, balanced
accuracy and the g-mean bind their ratios. The hits are searched one class after the other, and what
the classes still to come can add bounds the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from assay.decisions.audit.formulas import F_BETA
from assay.decisions.audit.search.integers import multiples
from assay.decisions.audit.search.number import Window
from assay.decisions.audit.search.quantity import A, P, R, S, V

_MOST_STEPS = 20_000
_AS_ACCURACY = frozenset({A, f"{R}.weighted", f"{R}.micro", f"{P}.micro", "fowlkes_mallows.micro"})
_AS_MEAN = frozenset({f"{R}.macro", "balanced_accuracy"})


class _TooMany(Exception):
    """The search was given up."""


@dataclass
class Hits:
    """The hits of each class that are still possible: from and to, and bounds that bind them."""

    labels: Sequence[str]
    rows: Sequence[int]
    spans: list[tuple[int, int]] = field(init=False)
    total: tuple[int, int] = field(init=False)
    means: list[Window] = field(default_factory=list)
    products: list[Window] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spans = [(0, rows) for rows in self.rows]
        self.total = (0, sum(self.rows))

    def tells(self, name: str) -> bool:
        """Whether a quantity is told by the hits alone."""
        return (
            _label_of(name) is not None
            or _accuracy(name, 0) is not None
            or (name in _AS_MEAN or name == "g_mean")
        )

    def ask(self, name: str, where: Window) -> None:
        """Ask that a quantity lie in a window."""
        size = len(self.rows)
        label = _label_of(name)
        if label is not None:
            i = list(self.labels).index(label)
            self.spans[i] = _common(self.spans[i], multiples(where, self.rows[i]))
            if self.rows[i] == 0:
                self.spans[i] = (1, 0)
        elif name in _AS_MEAN:
            self.means.append(Window(where.low * size, where.high * size, where.closed))
        elif name == "g_mean":
            low = where.low**size if where.low > 0 else Fraction(-1)
            high = where.high**size if where.high >= 0 else Fraction(-1)
            self.products.append(Window(low, high, where.closed))
        else:
            ends = [_accuracy(name, end, size) for end in (where.low, where.high)]
            if ends[0] is not None and ends[1] is not None:
                accuracy = Window(ends[0], ends[1], where.closed)
                self.total = _common(self.total, multiples(accuracy, sum(self.rows)))

    def possible(self) -> bool | None:
        """Whether some hits satisfy all that was asked; None where that was not found out."""
        low, high = sum(a for a, _ in self.spans), sum(b for _, b in self.spans)
        if any(a > b for a, b in self.spans) or max(low, self.total[0]) > min(high, self.total[1]):
            return False
        if not self.means and not self.products:
            return True
        if 0 in self.rows:
            return False
        try:
            return _Search(self).found()
        except _TooMany:
            return None


class _Search:
    """Depth first over the classes, the narrowest span first."""

    def __init__(self, hits: Hits) -> None:
        order = sorted(range(len(hits.rows)), key=lambda i: hits.spans[i][1] - hits.spans[i][0])
        self.spans = [hits.spans[i] for i in order]
        self.rows = [hits.rows[i] for i in order]
        self.hits = hits
        self.scale = math.lcm(*self.rows)
        self.steps = 0
        self.rest = [self._ahead(i) for i in range(len(self.rows) + 1)]

    def _ahead(self, start: int) -> tuple[tuple[int, int, Fraction], tuple[int, int, Fraction]]:
        """What the classes from here on add at least and at most: hits, recalls, product."""
        found = []
        for end in (0, 1):
            hits = [span[end] for span in self.spans[start:]]
            rows = self.rows[start:]
            recalls = sum(x * (self.scale // n) for x, n in zip(hits, rows, strict=True))
            found.append((sum(hits), recalls, Fraction(math.prod(hits), math.prod(rows))))
        return found[0], found[1]

    def found(self) -> bool:
        return self._from(0, 0, 0, Fraction(1))

    def _from(self, i: int, hits: int, recalls: int, product: Fraction) -> bool:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise _TooMany
        low, high = self.rest[i]
        if not self._within(
            (hits + low[0], recalls + low[1], product * low[2]),
            (hits + high[0], recalls + high[1], product * high[2]),
        ):
            return False
        if i == len(self.rows):
            return True
        first, last = self.spans[i]
        middle = (first + last) // 2
        share = self.scale // self.rows[i]
        # From the middle outwards: what was rounded most likely lies there.
        for x in _outwards(first, middle, last):
            recall = Fraction(x, self.rows[i])
            if self._from(i + 1, hits + x, recalls + x * share, product * recall):
                return True
        return False

    def _within(self, low: tuple[int, int, Fraction], high: tuple[int, int, Fraction]) -> bool:
        if low[0] > self.hits.total[1] or high[0] < self.hits.total[0]:
            return False
        least, most = Fraction(low[1], self.scale), Fraction(high[1], self.scale)
        return all(_overlaps(each, least, most) for each in self.hits.means) and all(
            _overlaps(each, low[2], high[2]) for each in self.hits.products
        )


def _outwards(first: int, middle: int, last: int) -> Iterator[int]:
    yield middle
    for step in range(1, last - first + 1):
        if middle - step >= first:
            yield middle - step
        if middle + step <= last:
            yield middle + step


def _label_of(name: str) -> str | None:
    label, bar, measure = name.rpartition("|")
    return label if bar and measure == R else None


def _accuracy(name: str, value: Fraction | int, size: int = 2) -> Fraction | None:
    """The accuracy at which a quantity has a value; None where accuracy does not tell it."""
    value = Fraction(value)
    base, _, average = name.rpartition(".")
    if name in _AS_ACCURACY or (average == "micro" and F_BETA.fullmatch(base)):
        return value
    if name == "jaccard.micro":
        return 2 * value / (1 + value) if value > -1 else Fraction(-1)
    if name in (f"{S}.micro", f"{V}.micro"):
        return (size - 1) * value - (size - 2)
    return None


def _common(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return max(a[0], b[0]), min(a[1], b[1])


def _overlaps(where: Window, low: Fraction, high: Fraction) -> bool:
    if where.closed:
        return where.low <= high and low <= where.high
    return where.low < high and low < where.high
