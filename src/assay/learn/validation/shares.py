"""Shares of rows as whole numbers that add up.

The borders between parts are shares of all rows, rounded down: 74,344 rows in the shares 0.7, 0.2
and 0.1 have their borders after row 52,040 and after row 66,909, which leaves 14,869 and 7,435 rows
to the other parts. The last part is cut off first, then the one before it. Each time the rows that
stay are shared out among the classes by the largest remainder: every class gets its exact quota
rounded down, and the rows still missing go to the largest remainders.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise


def part_sizes(rows: int, shares: Sequence[Fraction]) -> list[int]:
    """How many rows each part gets.

    >>> part_sizes(74_344, [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)])
    [52040, 14869, 7435]
    """
    borders = [0, *(int(rows * share) for share in accumulate(shares))]
    return [after - before for before, after in pairwise(borders)]


def class_counts(classes: Sequence[int], shares: Sequence[Fraction]) -> list[list[int]]:
    """How many rows of each class each part gets.

    >>> shares = [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
    >>> class_counts([39_552, 34_792], shares)
    [[27686, 24354], [7910, 6959], [3956, 3479]]
    """
    sizes = part_sizes(sum(classes), shares)
    left = list(classes)
    parts: list[list[int]] = []
    for size in reversed(sizes[1:]):
        stay = largest_remainder(left, sum(left) - size)
        parts.insert(0, [n - kept for n, kept in zip(left, stay, strict=True)])
        left = stay
    return [left, *parts]


def largest_remainder(classes: Sequence[int], size: int) -> list[int]:
    """Share out so many rows among classes, by their sizes.

    A class that would get none comes first, and one that would get all of its rows last, so that
    small classes are on both sides where that is possible. On a tie the smaller class wins.

    >>> largest_remainder([60, 30, 10], 7)
    [4, 2, 1]
    """
    rows = sum(classes)
    if not rows:
        return [0 for _ in classes]
    shared = [divmod(size * n, rows) for n in classes]
    given = [quota for quota, _ in shared]
    candidates = [i for i, (_, remainder) in enumerate(shared) if remainder]
    candidates.sort(
        key=lambda i: (given[i] > 0, given[i] + 1 == classes[i], -shared[i][1], classes[i], -i)
    )
    for i in candidates[: size - sum(given)]:
        given[i] += 1
    return given
