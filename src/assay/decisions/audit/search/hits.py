"""K classes with their supports: how many of each class can have been decided right?

Accuracy and all that equals it tell the sum of the hits, recalls tell them class by class, balanced
accuracy and the g-mean bind their ratios. The hits are searched one class after the other, and what
the classes still to come can add bounds the search.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from assay.decisions.audit.exact import Exact, exact
from assay.decisions.audit.printed import Window
from assay.decisions.audit.search.integers import multiples
from assay.formula import HIT, ROW, Expression, K, N, cells, geometric_mean, substitute, total
from assay.formula.tree import ONE_VERSUS_REST
from assay.inference import Quantity
from assay.measures import same_classes

_MOST_STEPS = 2000
_RECALL = HIT / ROW
_MEAN, _GEOMETRIC = total(_RECALL) / K, geometric_mean(_RECALL)
_HITS = total(HIT)


class _TooMany(Exception):
    """The search was given up."""


@dataclass
class Hits:
    """The hits of each class that are still possible: from and to, and bounds that bind them."""

    rows: Sequence[int]
    spans: list[tuple[int, int]] = field(init=False)
    total: tuple[int, int] = field(init=False)
    means: list[Window] = field(default_factory=list)
    products: list[Window] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spans = [(0, rows) for rows in self.rows]
        self.total = (0, sum(self.rows))

    def ask(self, quantity: Quantity, where: Window) -> bool:
        """Ask that a quantity lie in a window; False where hits do not tell it."""
        size, expression = len(self.rows), quantity.expression
        label = quantity.label
        if label is not None:
            if substitute(expression, ONE_VERSUS_REST) != _RECALL:
                return False
            self.spans[label] = _common(self.spans[label], multiples(where, self.rows[label]))
            if self.rows[label] == 0:
                self.spans[label] = (1, 0)
        elif same_classes(expression, _MEAN):
            self.means.append(Window(where.low * size, where.high * size, where.closed))
        elif same_classes(expression, _GEOMETRIC):
            low = where.low**size if where.low > 0 else Fraction(-1)
            high = where.high**size if where.high >= 0 else Fraction(-1)
            self.products.append(Window(low, high, where.closed))
        elif cells(expression) <= {"HIT", "N", "K"} or same_classes(expression, _HITS / N):
            self.total = _common(self.total, self._totals(expression, where))
        else:
            return False
        return True

    def _totals(self, expression: Expression, where: Window) -> tuple[int, int]:
        """How many hits there can be where a formula of their sum lies in a window."""
        n, size = sum(self.rows), len(self.rows)
        if same_classes(expression, _HITS / N):
            return multiples(where, n)

        def at(hits: int) -> Exact:
            # All hits in one class, and all rows: only their sums are read.
            table = {"HIT": (hits, *(0,) * (size - 1)), "ROW": (n, *(0,) * (size - 1)), "N": n}
            found = exact(expression, {**table, "COL": table["ROW"], "K": size})
            return Exact.of(-1) if found is None else found

        rising = at(0).middle <= at(n).middle
        order = range(n + 1) if rising else range(n, -1, -1)
        first = bisect_left(order, 1, key=lambda h: _reaches(at(h), where))
        last = bisect_left(order, 1, key=lambda h: _passes(at(h), where)) - 1
        if first > last:
            return 1, 0
        return min(order[first], order[last]), max(order[first], order[last])

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


@dataclass(frozen=True)
class _Ahead:
    """What the classes still to come add at least and at most: hits, recalls, products."""

    hits: tuple[int, int]
    recalls: tuple[int, int]
    product: tuple[int, int]


class _Search:
    """Depth first over the classes, the narrowest span first, in integers only.

    Recalls are counted in units of 1 / scale, products of recalls in units of 1 / (all rows
    multiplied), so that every window becomes a span of integers.
    """

    def __init__(self, hits: Hits) -> None:
        order = sorted(range(len(hits.rows)), key=lambda i: hits.spans[i][1] - hits.spans[i][0])
        rows = [hits.rows[i] for i in order]
        scale = math.lcm(*rows)
        self.spans = [hits.spans[i] for i in order]
        self.shares = [scale // n for n in rows]
        self.total = hits.total
        self.recalls = _spanned(hits.means, scale)
        self.product = _spanned(hits.products, math.prod(rows))
        self.ahead = [self._ahead(i) for i in range(1, len(rows) + 1)]
        self.steps = 0

    def _ahead(self, start: int) -> _Ahead:
        spans, shares = self.spans[start:], self.shares[start:]
        hits, recalls, product = [], [], []
        for end in (0, 1):
            here = [span[end] for span in spans]
            hits.append(sum(here))
            recalls.append(sum(x * share for x, share in zip(here, shares, strict=True)))
            product.append(math.prod(here))
        return _Ahead((hits[0], hits[1]), (recalls[0], recalls[1]), (product[0], product[1]))

    def found(self, i: int = 0, hits: int = 0, recalls: int = 0, product: int = 1) -> bool:
        """Whether the classes from here on can be given hits that fit."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise _TooMany
        first, last = self._left(i, hits, recalls, product)
        if first > last or i == len(self.spans) - 1:
            return first <= last
        # From the middle outwards: what was rounded most likely lies there.
        return any(
            self.found(i + 1, hits + x, recalls + x * self.shares[i], product * x)
            for x in _outwards(first, (first + last) // 2, last)
        )

    def _left(self, i: int, hits: int, recalls: int, product: int) -> tuple[int, int]:
        """The hits of one class that the others, at their best, may still make good."""
        ahead, share = self.ahead[i], self.shares[i]
        span = self.spans[i]
        span = _common(
            span, (self.total[0] - hits - ahead.hits[1], self.total[1] - hits - ahead.hits[0])
        )
        if self.recalls is not None:
            low = self.recalls[0] - recalls - ahead.recalls[1]
            high = self.recalls[1] - recalls - ahead.recalls[0]
            span = _common(span, (-(-low // share), high // share))
        if self.product is not None:
            least, most = product * ahead.product[0], product * ahead.product[1]
            low, high = self.product
            if high < 0 or (low > 0 and not most):
                return 1, 0
            span = _common(span, (-(-low // most) if low > 0 else 0, span[1]))
            span = _common(span, (span[0], high // least if least else span[1]))
        return span


def _spanned(windows: Sequence[Window], rows: int) -> tuple[int, int] | None:
    """The whole numbers of units that lie in all windows; None where there is no window."""
    found: tuple[int, int] | None = None
    for each in windows:
        here = multiples(each, rows)
        found = here if found is None else _common(found, here)
    return found


def _outwards(first: int, middle: int, last: int) -> Iterator[int]:
    yield middle
    for step in range(1, last - first + 1):
        if middle - step >= first:
            yield middle - step
        if middle + step <= last:
            yield middle + step


def _reaches(value: Exact, where: Window) -> bool:
    """Whether a value is not below a window any more."""
    return value.high >= where.low if where.closed else value.high > where.low


def _passes(value: Exact, where: Window) -> bool:
    """Whether a value is above a window already."""
    return value.low > where.high if where.closed else value.low >= where.high


def _common(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return max(a[0], b[0]), min(a[1], b[1])
