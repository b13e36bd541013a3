"""Counts: one keyed table of integers, and sums alongside, that adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import bounds, narrow, occurring
from assay.counts.grid import Exact, Grid, cells, coarsest, distances, lowest
from assay.counts.names import Name, Names
from assay.counts.reduction import ROWS, WEIGHT, Columns, near_sums, reduce_columns, sum_weights
from assay.errors import InputError, TallyError
from assay.text import quote

if TYPE_CHECKING:
    import polars as pl

    from assay.counts.resolved import Resolved

Array: TypeAlias = npt.NDArray[Any]

SCORE, LABEL = "score", "label"
# Float sums of the same rows agree to this.
_CLOSE = 1e-9
# Weights are a key up to so many distinct values, else they are summed.
MOST_WEIGHTS = 64


def in_order(keys: Sequence[str]) -> tuple[str, ...]:
    """Keys in the order of the table: by name, then score and label.

    >>> in_order(["label", "score", "cluster"])
    ('cluster', 'score', 'label')
    """
    last = {SCORE: 1, LABEL: 2}
    return tuple(sorted(set(keys), key=lambda key: (last.get(key, 0), key)))


@dataclass(frozen=True, eq=False)
class Counts:
    """How many rows have each combination of the keys.

    ``columns`` holds the keys, then ``rows`` and other values, ascending by the keys. Text keys
    (label, decision, cluster, ...) are positions in their ``names``; ``score`` and ``weight`` are
    floats. ``kept`` says how scores are stored: on a grid, a score is the smallest float of its
    cell. Two counts of the same rows are equal, whatever the order of the rows and however they
    were split.

    >>> one = Counts.of({"label": ["attack", "normal"], "score": [0.9, 0.2]})
    >>> both = one + Counts.of({"label": ["attack"], "score": [0.9]})
    >>> both.table.rows()
    [(0.2, 'normal', 1), (0.9, 'attack', 2)]
    >>> both == Counts.from_bytes(both.to_bytes())
    True
    >>> both.resolve(positive="attack").confusion().cells
    ((1, 0), (0, 2))
    """

    keys: tuple[str, ...]
    columns: Mapping[str, Array]
    names: Mapping[str, tuple[Name, ...]]
    kept: Exact | Grid = Exact()  # noqa: RUF009 - frozen

    @classmethod
    def of(cls, rows: Any, keys: Sequence[str] | None = None, *, mode: str = "auto") -> Counts:
        """Count the rows of a polars frame, or of a mapping of columns; by default by all columns.

        ``count`` and ``weight`` are amounts of rows and no keys to ask for.
        """
        import polars as pl

        from assay.counts.counter import Counter

        frame = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows)
        asked = [name for name in frame.columns if name not in {"count", WEIGHT}]
        counter = Counter(asked if keys is None else keys, mode=mode)
        counter.add(frame)
        return counter.finish()

    @classmethod
    def zero(cls, keys: Sequence[str]) -> Counts:
        """The counts of no rows.

        >>> Counts.zero(["label"]).total
        0
        """
        ordered = in_order(keys)
        empty = {key: np.zeros(0, np.float32 if is_float(key) else np.uint8) for key in ordered}
        texts: dict[str, tuple[Name, ...]] = {key: () for key in ordered if not is_float(key)}
        return cls(ordered, empty | {ROWS: np.zeros(0, np.uint8)}, texts)

    @classmethod
    def of_columns(
        cls,
        columns: Mapping[str, Array],
        names: Mapping[str, tuple[Name, ...]],
        kept: Exact | Grid = Exact(),  # noqa: B008 - frozen
    ) -> Counts:
        """Counts of reduced columns, in the narrowest types; more than a few weights are summed."""
        keys = in_order([name for name in columns if name in names or is_float(name)])
        held: Columns = {}
        texts: dict[str, tuple[Name, ...]] = {}
        for key in keys:
            if is_float(key):
                held[key] = _narrow_floats(columns[key])
                continue
            held[key], texts[key] = _drop_unused(columns[key], names[key])
        values = {name: columns[name] for name in sorted(columns) if name not in keys}
        held[ROWS] = narrow(values.pop(ROWS))
        counts = cls(keys, held | values, texts, kept)
        many = WEIGHT in keys and len(np.unique(held[WEIGHT])) > MOST_WEIGHTS
        return counts.without_weights() if many else counts

    # -- one sum ------------------------------------------------------------------------------

    def __add__(self, other: Counts) -> Counts:
        return Counts.sum([self, other])

    @staticmethod
    def sum(parts: Sequence[Counts]) -> Counts:
        """The counts of the rows of all parts.

        Scores are kept as the coarsest part keeps them. Weights are a key as long as there are few.
        """
        asked = {tuple(key for key in part.keys if key != WEIGHT) for part in parts}
        if len(asked) != 1:
            shown = " and ".join(", ".join(each) or "nothing" for each in sorted(asked))
            raise TallyError(
                f"counts by different keys can't be added: {shown}. Count all parts by the same "
                f"keys, or select() the keys that they share"
            )
        parts = [part for part in parts if part.size] or list(parts[:1])
        kept = coarsest([part.kept for part in parts])
        parts = [part.coarsen(kept.bits) if isinstance(kept, Grid) else part for part in parts]
        weighted = [WEIGHT in part.keys for part in parts]
        if any(weighted) and not all(weighted):
            parts = [part.without_weights() for part in parts]
        if len({frozenset(part.columns) for part in parts}) != 1:
            raise TallyError(
                "counts with and without weights can't be added: give every row a weight, such as 1"
            )
        if len(parts) == 1:
            return parts[0]
        known = {key: Names() for key in parts[0].names}
        moved = [
            {key: known[key].number(part.names[key])[part.columns[key]] for key in part.names}
            for part in parts
        ]
        sorted_names = {key: each.sorted() for key, each in known.items()}
        columns: Columns = {}
        for name in parts[0].columns:
            if name in known:
                places = sorted_names[name][1]
                columns[name] = np.concatenate([places[each.pop(name)] for each in moved])
            else:
                columns[name] = np.concatenate([part.columns[name] for part in parts])
        names = {key: each[0] for key, each in sorted_names.items()}
        return Counts.of_columns(reduce_columns(columns, parts[0].keys), names, kept)

    def __eq__(self, other: object) -> bool:
        """The same counts; sums of floats may differ by rounding (1e-9)."""
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            (self.keys, self.kept, self.size) == (other.keys, other.kept, other.size)
            and self.names == other.names
            and list(self.columns) == list(other.columns)
            and all(
                np.array_equal(column, other.columns[name])
                if name in self.keys or column.dtype.kind != "f"
                else np.allclose(column, other.columns[name], rtol=_CLOSE, atol=0)
                for name, column in self.columns.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def size(self) -> int:
        """The number of combinations."""
        return len(self.columns[ROWS])

    @cached_property
    def total(self) -> int:
        """The number of rows; with probabilities of several classes, once for each class."""
        return int(self.columns[ROWS].sum(dtype=np.int64))

    @cached_property
    def table(self) -> pl.DataFrame:
        """The counts as a polars frame, with names instead of their numbers."""
        import polars as pl

        columns = {}
        for name, column in self.columns.items():
            if name in self.names:
                texts = [each for each in self.names[name] if each is not None]
                named = pl.Series(self.names[name], dtype=pl.Enum(texts))
                columns[name] = named.gather(pl.Series(column.astype(np.uint32)))
            else:
                columns[name] = pl.Series(column)
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Counts({self.total:,} rows by {', '.join(self.keys)}: {self.size:,} combinations)"

    # -- other counts of the same rows --------------------------------------------------------

    def select(self, *keys: str) -> Counts:
        """The counts by some of the keys.

        >>> Counts.of({"label": ["a", "b"], "slice:site": ["x", "x"]}).select("slice:site").total
        2
        """
        for key in keys:
            self._check(key)
        chosen = in_order([*keys, *(key for key in self.keys if key == WEIGHT)])
        if chosen == self.keys:
            return self
        values = [name for name in self.columns if name not in self.keys]
        columns = {name: self.columns[name] for name in [*chosen, *values]}
        kept = self.kept if SCORE in chosen else Exact()
        if SCORE not in chosen:
            columns = {name: each for name, each in columns.items() if "near" not in name}
        return Counts.of_columns(reduce_columns(columns, chosen), self.names, kept)

    def where(self, held: Array) -> Counts:
        """The counts of some of the combinations: of a mask, or of their numbers."""
        columns = {name: column[held] for name, column in self.columns.items()}
        return Counts.of_columns(columns, self.names, self.kept)

    def by(self, key: str) -> dict[Name, Counts]:
        """The counts of each value of a text key, by the other keys.

        >>> counts = Counts.of({"label": ["a", "b"], "slice:site": ["x", "y"]})
        >>> {site: part.total for site, part in counts.by("slice:site").items()}
        {'x': 1, 'y': 1}
        """
        self._check(key)
        if key not in self.names:
            raise InputError(f"{key} is a number; counts are split by text keys")
        codes, names = self.columns[key], self.names[key]
        rest = {name: column for name, column in self.columns.items() if name != key}
        parts: dict[Name, Counts] = {}
        for code, name in enumerate(names):
            held = codes == code
            columns = {each: column[held] for each, column in rest.items()}
            parts[name] = Counts.of_columns(columns, self.names, self.kept)
        return parts

    def _check(self, key: str) -> None:
        if key not in self.keys:
            raise InputError(
                f"these counts have no key {quote(key)}; their keys are {', '.join(self.keys)}"
            )

    def coarsen(self, bits: int) -> Counts:
        """The same rows on a grid of fewer bits.

        >>> counts = Counts.of({"label": ["a", "a"], "score": [0.3, 0.3001]})
        >>> counts.coarsen(4).table.select("score", "rows").rows()
        [(0.296875, 2)]
        """
        if SCORE not in self.keys or self.kept == Grid(bits):
            return self
        if isinstance(self.kept, Grid) and self.kept.bits < bits:
            raise InputError(f"a grid of {self.kept.bits} bits can't become one of {bits}")
        scores, columns = self.columns[SCORE], dict(self.columns)
        if isinstance(self.kept, Exact):
            columns |= near_sums(distances(scores), columns)
        columns[SCORE] = lowest(cells(scores, bits), bits)
        return Counts.of_columns(reduce_columns(columns, self.keys), self.names, Grid(bits))

    def without_weights(self) -> Counts:
        """The same rows with sums of weights in place of the weight as a key."""
        if WEIGHT not in self.keys:
            return self
        keys = [key for key in self.keys if key != WEIGHT]
        columns = reduce_columns(sum_weights(self.columns), keys)
        return Counts.of_columns(columns, self.names, self.kept)

    # -- bytes, and which label is the alarm --------------------------------------------------

    def to_bytes(self) -> bytes:
        """The counts as bytes (Arrow, with a schema number): ship them, add them, keep them."""
        from assay.counts.arrow import write

        return write(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Counts:
        """The counts that :meth:`to_bytes` wrote; anything else is a :class:`TallyError`."""
        from assay.counts.arrow import read

        return read(data)

    def resolve(
        self,
        *,
        positive: Any = None,
        negative: Any = None,
        labels: Sequence[Any] | None = None,
        threshold: float | None = None,
    ) -> Resolved:
        """Decide which label is the alarm, and from which score on a row is flagged.

        Both are decided on the sum, since a part may not show all labels or scores.
        """
        from assay.counts.resolved import Resolved

        return Resolved.of(
            self, positive=positive, negative=negative, labels=labels, threshold=threshold
        )


def is_float(key: str) -> bool:
    """Whether a key is a number; the others are text."""
    return key in {SCORE, WEIGHT} or key.startswith(("score:", "probability:"))


def _drop_unused(codes: Array, names: tuple[Name, ...]) -> tuple[Array, tuple[Name, ...]]:
    """Numbers of the names that occur, in the narrowest type."""
    occurs = occurring(codes, len(names))
    smallest = np.min_scalar_type(max(int(occurs.sum()) - 1, 0))
    if occurs.all():
        return codes.astype(smallest, copy=False), names
    places = (np.cumsum(occurs) - 1).astype(smallest)
    return places[codes], tuple(name for name, held in zip(names, occurs, strict=True) if held)


def _narrow_floats(values: Array) -> Array:
    """Floats in 32 bits if that changes none, so that equal counts have equal bytes."""
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore"):
        for i, j in bounds(len(values)):
            if (values[i:j].astype(np.float32) != values[i:j]).any():
                return values
        return values.astype(np.float32)
