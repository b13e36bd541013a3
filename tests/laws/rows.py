"""Rows that laws are tried on: drawn ones and fixed ones, and what a law does to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from .counted import Counted, counted

BINARY = ("normal", "attack")
THREE = ("a", "b", "c")
OPEN = (*THREE, "x")  # the last is unknown to the model
THRESHOLD = 0.5
STEPS = 16  # scores are multiples of 1/16, so that ties are many and 1 - score is exact


@dataclass(frozen=True)
class Rows:
    """What was true, as positions in ``labels``, and what was said.

    ``said`` are decisions (positions too), scores of the second label, or for more than two labels
    tuples of probabilities.
    """

    truth: tuple[int, ...]
    said: tuple[Any, ...]
    labels: tuple[str, ...] = BINARY
    scored: bool = False
    threshold: float = THRESHOLD

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def known(self) -> tuple[str, ...]:
        """The labels that the model knows; of an open set all but the last."""
        return self.labels[:-1] if len(self.labels) == len(OPEN) else self.labels

    @property
    def binary(self) -> bool:
        return len(self.labels) == 2

    def counted(self, **amounts: Any) -> Counted:
        """The rows counted; ``amounts`` are counts or sampling weights."""
        return _counted(self, tuple((name, tuple(each)) for name, each in amounts.items()))

    def table(self) -> list[list[int]]:
        """The confusion matrix of decisions, counted the plain way."""
        cells = [[0] * len(self.labels) for _ in self.labels]
        for truth, said in zip(self.truth, self.said, strict=True):
            cells[truth][said] += 1
        return cells

    # -- what laws do ------------------------------------------------------------------------------

    def at(self, positions: Sequence[int]) -> Rows:
        """The rows at these positions, in this order, as often as they are named."""
        return replace(
            self,
            truth=tuple(self.truth[i] for i in positions),
            said=tuple(self.said[i] for i in positions),
        )

    def repeated(self, times: Sequence[int]) -> Rows:
        return self.at([i for i, k in enumerate(times) for _ in range(k)])

    def transposed(self) -> Rows:
        return replace(self, truth=self.said, said=self.truth)

    def ordered(self, order: Sequence[int]) -> Rows:
        """The classes that the model knows in another order."""
        place = {label: at for at, label in enumerate(order)}
        said: Any = [place[i] for i in self.said] if not self.scored else None
        if said is None:
            said = [tuple(row[i] for i in order) for row in self.said]
        labels = (*(self.known[i] for i in order), *self.labels[len(self.known) :])
        truth = tuple(place.get(i, i) for i in self.truth)
        return replace(self, truth=truth, said=tuple(said), labels=labels)

    def swapped(self) -> Rows:
        """The classes change places; of three, each takes the place of the next."""
        size = len(self.known)
        truth = tuple((i + 1) % size if i < size else i for i in self.truth)
        if not self.scored:
            return replace(self, truth=truth, said=tuple((i + 1) % size for i in self.said))
        if self.binary:
            return replace(self, truth=truth, said=tuple(1 - score for score in self.said))
        return replace(self, truth=truth, said=tuple((row[-1], *row[:-1]) for row in self.said))

    def with_more_positives(self, times: int) -> Rows:
        """Each row of the last class is repeated."""
        last = len(self.labels) - 1
        return self.repeated([times if truth == last else 1 for truth in self.truth])

    def with_true_negatives(self, more: int) -> Rows:
        """More negatives that nobody would flag: they score below every positive."""
        quiet: float = 0
        if self.scored:
            lowest = min((s for t, s in zip(self.truth, self.said, strict=True) if t), default=1)
            quiet = lowest / 2 if lowest > 0 else lowest - 1
        return replace(self, truth=self.truth + (0,) * more, said=self.said + (quiet,) * more)

    def mapped(self, score_map: Callable[[float], float]) -> Rows:
        """Each score goes through a map; probabilities of more classes are made to sum to 1."""
        if self.binary:
            return replace(
                self,
                said=tuple(score_map(score) for score in self.said),
                threshold=score_map(self.threshold),
            )
        said = []
        for row in self.said:
            moved = [score_map(probability) for probability in row]
            said.append(tuple(probability / sum(moved) for probability in moved))
        return replace(self, said=tuple(said))


@lru_cache(maxsize=1 << 14)
def _counted(rows: Rows, amounts: tuple[tuple[str, tuple[float, ...]], ...]) -> Counted:
    """Counted once for all the measures that a law is tried on."""
    said = {"scores" if rows.scored else "decision": rows.said}
    options = {"threshold": rows.threshold, "unknown": rows.known != rows.labels}
    return counted(rows.known, rows.truth, **said, **options, **dict(amounts))


# -- drawn -----------------------------------------------------------------------------------------

_SHARES = [
    (a / STEPS, b / STEPS, (STEPS - a - b) / STEPS)
    for a in range(0, STEPS + 1, 2)
    for b in range(0, STEPS + 1 - a, 2)
]


def _drawn(labels: tuple[str, ...], said: st.SearchStrategy[Any], *, scored: bool) -> Any:
    row = st.tuples(st.integers(0, len(labels) - 1), said)
    return st.lists(row, min_size=1, max_size=12).map(
        lambda rows: Rows(
            tuple(truth for truth, _ in rows), tuple(said for _, said in rows), labels, scored
        )
    )


DRAWN: dict[tuple[int, bool], st.SearchStrategy[Rows]] = {
    (2, False): _drawn(BINARY, st.integers(0, 1), scored=False),
    (2, True): _drawn(BINARY, st.integers(0, STEPS).map(lambda k: k / STEPS), scored=True),
    (3, False): _drawn(THREE, st.integers(0, 2), scored=False),
    (3, True): _drawn(THREE, st.sampled_from(_SHARES), scored=True),
    # There must be a row of the unknown label, and one of another.
    (4, True): _drawn(OPEN, st.sampled_from(_SHARES), scored=True).filter(
        lambda rows: min(rows.truth) < len(THREE) == max(rows.truth)
    ),
}


# -- fixed -----------------------------------------------------------------------------------------


def of_cells(tp: int, fp: int, fn: int, tn: int) -> Rows:
    """Binary decisions with these counts."""
    truth = (1,) * tp + (0,) * fp + (1,) * fn + (0,) * tn
    return Rows(truth, (1,) * (tp + fp) + (0,) * (fn + tn))


def of_table(*cells: Sequence[int]) -> Rows:
    """Decisions with this confusion matrix, rows are the truth."""
    pairs = [(i, j) for i, row in enumerate(cells) for j, n in enumerate(row) for _ in range(n)]
    return Rows(tuple(i for i, _ in pairs), tuple(j for _, j in pairs), THREE)


def of_scores(positives: Sequence[int], negatives: Sequence[int]) -> Rows:
    """Binary scores in sixteenths."""
    said = tuple(k / STEPS for k in (*positives, *negatives))
    return Rows((1,) * len(positives) + (0,) * len(negatives), said, scored=True)


def of_shares(*rows: tuple[int, int, int], labels: tuple[str, ...] = THREE) -> Rows:
    """Three classes: the truth, and the first two probabilities in sixteenths."""
    said = tuple((a / STEPS, b / STEPS, (STEPS - a - b) / STEPS) for _, a, b in rows)
    return Rows(tuple(truth for truth, _, _ in rows), said, labels, scored=True)


_MIXED_SHARES = of_shares(
    (0, 9, 4),
    (0, 7, 7),
    (0, 3, 9),
    (0, 12, 1),
    (1, 5, 8),
    (1, 2, 11),
    (1, 8, 4),
    (2, 4, 4),
    (2, 6, 5),
    (2, 1, 2),
    (2, 9, 3),
)

FIXED: dict[tuple[int, bool], dict[str, Rows]] = {
    (2, False): {
        "a usual detector": of_cells(tp=7, fp=2, fn=3, tn=11),
        "few positives": of_cells(tp=2, fp=3, fn=1, tn=30),
        "no errors": of_cells(tp=4, fp=0, fn=0, tn=6),
        "only errors": of_cells(tp=0, fp=5, fn=3, tn=0),
        "mostly misses": of_cells(tp=1, fp=1, fn=7, tn=2),
        "chance": of_cells(tp=2, fp=4, fn=3, tn=6),
        "no false positives": of_cells(tp=3, fp=0, fn=2, tn=5),
        "nothing flagged": of_cells(tp=0, fp=0, fn=3, tn=5),
        "everything flagged": of_cells(tp=3, fp=5, fn=0, tn=0),
        "positives alone": of_cells(tp=3, fp=0, fn=2, tn=0),
        "negatives alone": of_cells(tp=0, fp=1, fn=0, tn=6),
        "one row": of_cells(tp=1, fp=0, fn=0, tn=0),
    },
    (2, True): {
        "a usual detector": of_scores(
            [15, 14, 14, 11, 8, 6, 3], [13, 11, 9, 7, 5, 4, 4, 2, 1, 1, 0]
        ),
        "few positives": of_scores([14, 6], [15, 13, 10, 8, 7, 7, 5, 4, 3, 2, 2, 1, 1, 0, 0]),
        "no errors": of_scores([16, 15, 12], [3, 2, 2, 0]),
        "only errors": of_scores([1, 2], [9, 9, 12]),
        "all tied": of_scores([8, 8, 8], [8, 8]),
        "positives alone": of_scores([3, 9, 12], []),
        "negatives alone": of_scores([], [3, 9, 9]),
        "one of each": of_scores([9], [4]),
    },
    (3, False): {
        "a usual detector": of_table([8, 2, 1], [1, 6, 2], [0, 3, 9]),
        "no errors": of_table([3, 0, 0], [0, 4, 0], [0, 0, 2]),
        "only errors": of_table([0, 3, 1], [2, 0, 2], [4, 1, 0]),
        "a class without rows": of_table([4, 1, 1], [0, 0, 0], [1, 2, 5]),
        "a class never decided": of_table([4, 0, 1], [2, 0, 3], [1, 0, 5]),
        "two classes": of_table([5, 2, 0], [1, 4, 0], [0, 0, 0]),
        "one class": of_table([3, 2, 0], [0, 0, 0], [0, 0, 0]),
    },
    (3, True): {
        "a usual detector": _MIXED_SHARES,
        "no errors": of_shares((0, 14, 1), (0, 12, 2), (1, 1, 13), (2, 1, 1), (2, 0, 0)),
        "ranked by how sure the rest is": of_shares(
            (0, 7, 4), (0, 9, 3), (1, 8, 0), (1, 2, 9), (2, 3, 3), (2, 4, 8)
        ),
        "a class without rows": of_shares((0, 9, 4), (0, 5, 8), (2, 4, 4), (2, 8, 3)),
        "one class": of_shares((1, 9, 4), (1, 5, 8)),
    },
    (4, True): {
        "a usual detector": of_shares(
            *((0, 9, 4), (0, 12, 1), (0, 3, 9), (1, 5, 8), (1, 2, 13), (2, 1, 2), (2, 9, 3)),
            *((3, 6, 6), (3, 8, 4), (3, 5, 6), (3, 2, 11)),
            labels=OPEN,
        ),
        "no errors": of_shares(
            (0, 14, 1), (1, 1, 13), (2, 1, 1), (3, 6, 6), (3, 7, 5), labels=OPEN
        ),
        "only errors": of_shares((0, 3, 9), (1, 9, 3), (3, 15, 1), (3, 1, 1), labels=OPEN),
        "all tied": of_shares((0, 8, 4), (1, 4, 8), (3, 8, 4), (3, 4, 8), labels=OPEN),
        "one of each": of_shares((2, 3, 4), (3, 4, 7), labels=OPEN),
    },
}
