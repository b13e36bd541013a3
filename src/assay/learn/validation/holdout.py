"""Hold rows out once: a share of each class, or what came in a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from assay.errors import InputError
from assay.evaluation.words import name as quoted
from assay.evaluation.words import rows as counted
from assay.learn.validation.rows import Positions, Rows
from assay.learn.validation.split import TEST, Split
from assay.learn.validation.splitter import Splitter, class_counts

Share: TypeAlias = float | Fraction


@dataclass(frozen=True)
class Holdout(Splitter):
    """Draws the parts at random, each class in the same shares; counts add up exactly.

    ``shares`` is that of the test part, or those of the training and the test part and, where there
    is one, of a validation part that is neither learned from nor judged.

    >>> train, test = next(Holdout(0.25).split(y=["normal"] * 6 + ["attack"] * 2))
    >>> len(train), len(test)
    (6, 2)
    """

    shares: Share | Sequence[Share] = 0.3
    seed: int = 42

    def __post_init__(self) -> None:
        self.exact()

    def exact(self) -> tuple[Fraction, ...]:
        """The shares as the decimals that were written."""
        given = self.shares if isinstance(self.shares, Sequence) else (1, self.shares)
        found = [_decimal(share) for share in given]
        if not isinstance(self.shares, Sequence):
            found[0] = 1 - found[1]
        if len(found) not in (2, 3) or sum(found) != 1 or min(found) <= 0:
            raise InputError(
                f"a holdout is the share of the test part, such as 0.3, or the shares of training, "
                f"test and validation part, which add up to 1, such as 0.7/0.2/0.1; found "
                f"{'/'.join(str(float(share)) for share in found)}"
            )
        return tuple(found)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """One."""
        return 1

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """One split, the same for the same seed."""
        counts = class_counts(rows.class_sizes(), self.exact())
        self._must_reach_every_part(rows, counts)
        draw = np.random.default_rng(self.seed)
        parts: list[list[Positions]] = [[] for _ in counts]
        for code in range(len(counts[0])):
            order = draw.permutation(rows.of_class(code))
            ends = np.cumsum([part[code] for part in counts])
            for part, found in zip(parts, np.split(order, ends[:-1]), strict=True):
                part.append(found)
        train, test, *validation = (np.sort(np.concatenate(part)) for part in parts)
        split = Split(TEST, train, test, rows, validation[0] if validation else None)
        return (split.must_be_of_use("this holdout"),)

    def _must_reach_every_part(self, rows: Rows, counts: list[list[int]]) -> None:
        """Refuse two classes of which one is not on every side."""
        if not rows.binary:
            return
        for label, size, of_parts in zip(
            rows.labels, rows.class_sizes(), zip(*counts, strict=True), strict=True
        ):
            if 0 in of_parts:
                enough = size >= len(counts)
                raise InputError(
                    f"class {quoted(label)} has {counted(size)}, too few to be in all "
                    f"{len(counts)} parts of this holdout. Take "
                    f"{'other shares, or ' if enough else ''}more rows of that class"
                )


def _decimal(share: Any) -> Fraction:
    try:
        return share if isinstance(share, Fraction) else Fraction(str(share))
    except ValueError:
        raise InputError(f"a share is a number between 0 and 1; found {share!r}") from None


@dataclass(frozen=True)
class Official(Splitter):
    """The first ``learned`` rows are the training part, all that follow are judged."""

    learned: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """One."""
        return 1

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """One split."""
        train, test = np.arange(len(rows))[: self.learned], np.arange(self.learned, len(rows))
        return (Split(TEST, train, test, rows).must_be_of_use("this official split"),)
