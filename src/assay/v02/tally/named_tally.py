"""Rows counted by the names of their labels: the sum of any parts of any data.

A part of the data knows neither all labels, nor whether all scores lie in [0, 1], nor which label
is the alarm. So nothing of that is decided here: :func:`assay.engines.resolve` decides it, on the
sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from assay.errors import TallyError
from assay.v02.tally import codec
from assay.v02.tally.confusion import LIMIT, TOO_MANY, Crosstab, crosstab_of
from assay.v02.tally.loss_sums import LossSums
from assay.v02.tally.resolved_tally import Resolved, kept_rows
from assay.v02.tally.row_sample import ClusterTally, Sample
from assay.v02.tally.scores import ScoreTally

# What was said of a row, and for probabilities of which label.
Statement: TypeAlias = tuple[str, str]
DECISION: Statement = ("decision", "")
SCORE: Statement = ("score", "")
LARGEST: Statement = ("largest", "")
PROBABILITY = "probability"
# How the loss of a row is read: its score as the probability of its own label, or of the others; or
# the probability of its label among many.
RIGHT, WRONG, OF_CLASS = "right", "wrong", "of class"

_KINDS = ("", "text", "numbers", "booleans")


@dataclass(frozen=True)
class Refusals:
    """How many rows could not be used, by the reason."""

    reasons: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Refusals) -> Refusals:
        if not isinstance(other, Refusals):
            return NotImplemented
        sums = dict(self.reasons)
        for reason, rows in other.reasons.items():
            sums[reason] = sums.get(reason, 0) + rows
        return Refusals({reason: sums[reason] for reason in sorted(sums)})

    @property
    def total(self) -> int:
        """How many rows there are in all."""
        return sum(self.reasons.values())


@dataclass(frozen=True)
class Names:
    """Labels that occur, sorted as text, and what kind of value they were."""

    names: tuple[str, ...] = ()
    kind: str = ""

    def must_be_like(self, other: Names) -> None:
        """Refuse labels that are another kind of value."""
        if self.kind and other.kind and self.kind != other.kind:
            raise TallyError(
                f"labels are {self.kind} in one part ({_names_text(self.names)}) and {other.kind} "
                f"in another ({_names_text(other.names)}): the same label must be written the same "
                f"way in both. Convert one of them"
            )

    def __add__(self, other: Names) -> Names:
        if not isinstance(other, Names):
            return NotImplemented
        self.must_be_like(other)
        names = tuple(sorted({*self.names, *other.names}))
        return Names(names, self.kind or other.kind)

    def to_header(self) -> list[Any]:
        """The names as plain values."""
        return [self.kind, list(self.names)]


@dataclass(frozen=True)
class Tally:
    """What was counted of some rows, by the names of their labels.

    ``rows`` are all that were given: those counted, those of count or weight zero (``empty``) and
    those refused. ``threshold`` is the one that was asked for, None for the usual one. ``sides``
    are what was said of labels (``positive``, ``negative``, ``labels``, ``unknown``), for when it
    is resolved. ``decided`` tells what was said of each label: decisions, whether scores reach the
    threshold, or the label of the largest probability. ``scores`` are by label and score,
    ``extremes`` the smallest and the largest. ``losses`` are by label and by what the score may
    turn out to be; where all scores are kept they follow from those, and are not here. ``columns``
    are the labels that have a probability. ``too_many`` says that there were too many rows to be
    kept. ``unlabelled`` are rows without a label, under a label without a name.

    >>> Tally.zero() + Tally.zero()
    Tally(rows=0, labels=())
    """

    labels: Names = Names()
    decisions: Names | None = None
    columns: tuple[str, ...] | None = None
    threshold: float | None = None
    rows: int = 0
    empty: int = 0
    refused: Refusals = Refusals()
    decided: Mapping[Statement, Crosstab] = field(default_factory=dict)
    scores: Mapping[Statement, ScoreTally] = field(default_factory=dict)
    extremes: Mapping[Statement, tuple[float, float]] = field(default_factory=dict)
    losses: Mapping[tuple[str, str], LossSums] = field(default_factory=dict)
    clusters: Mapping[Statement, ClusterTally] | None = None
    sample: Sample | None = None
    too_many: bool = False
    slices: Mapping[tuple[str, str], Mapping[Statement, Crosstab]] = field(default_factory=dict)
    days: Mapping[str, Tally] | None = None
    unlabelled: Tally | None = None
    sides: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def zero(cls) -> Tally:
        """The tally of no rows, which adds to any other."""
        return cls()

    def row_counts(self) -> dict[str, Any]:
        """How many rows were given, and how many of them were refused for which reason."""
        return {
            "rows_read": self.rows,
            "rows_refused": self.refused.total,
            "reasons": dict(self.refused.reasons),
        }

    @staticmethod
    def merge(parts: Iterable[Tally]) -> Tally:
        """The sum of many tallies; each table of scores is sorted only once."""
        every = list(parts)
        for part in every:
            if not isinstance(part, Tally):
                raise TallyError(f"tallies add to tallies alone; found {type(part).__name__}")
        full = [part for part in every if not part.is_zero]
        if len(full) < 2:
            return full[0] if full else (every[0] if every else Tally())
        like = [part for part in full if part.counted] or full[:1]
        first = like[0]
        for other in like[1:]:
            first.must_be_like(other)
        too_many = any(part.too_many for part in like)
        sample = None
        if not too_many:
            sample = kept_rows(_sample_sum([part.sample for part in like]))
            too_many = sample is None and any(part.sample is not None for part in like)
        decided = _by_key([part.decided for part in like], Crosstab.merge)
        for table in decided.values():
            if table.squares is None and sum(table.cells.values()) >= LIMIT:
                raise TallyError(TOO_MANY)
        return Tally(
            labels=_sum_of_parts([part.labels for part in like]),
            decisions=_sum_of_parts([part.decisions for part in like]),
            columns=first.columns,
            threshold=first.threshold,
            rows=sum(part.rows for part in full),
            empty=sum(part.empty for part in full),
            refused=_sum_of_parts([part.refused for part in full]),
            decided=decided,
            scores=_by_key([part.scores for part in like], ScoreTally.merge),
            extremes=_by_key([part.extremes for part in like], _outermost),
            losses=_by_key([part.losses for part in like], _sum_of_parts),
            clusters=None
            if first.clusters is None
            else _by_key([part.clusters or {} for part in like], _sum_of_parts),
            sample=sample,
            too_many=too_many,
            slices=_by_key(
                [part.slices for part in like], lambda tables: _by_key(tables, Crosstab.merge)
            ),
            days=None
            if first.days is None
            else _by_key([part.days or {} for part in like], Tally.merge),
            unlabelled=_sum_of_parts(
                [p.unlabelled for p in full if p.unlabelled is not None] or [None]
            ),
            sides=first.sides,
        )

    def __add__(self, other: object) -> Tally:
        if isinstance(other, Resolved):
            return self.__radd__(other)
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally.merge([self, other])

    def __radd__(self, other: object) -> Tally:
        if isinstance(other, Resolved):
            raise TallyError(
                "a tally by name and one whose labels have sides can't be added: count both with "
                "assay.count, and evaluate the sum"
            )
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"Tally(rows={self.rows}, labels={self.labels.names})"

    def asked(self, **sides: Any) -> Tally:
        """The tally that remembers what was said of its labels."""
        return replace(
            self, sides={n: _plain_labels(v) for n, v in sorted(sides.items()) if v is not None}
        )

    @property
    def is_zero(self) -> bool:
        """Whether it is of no rows, and adds to any other."""
        return not self.rows

    @property
    def counted(self) -> bool:
        """Whether any row has a label and an amount."""
        return bool(self.labels.names)

    def without(self, label: str) -> Tally:
        """The tally of all rows but those of one label."""

        def others(name: str) -> bool:
            return name != label

        def tables(by_key: Mapping[Statement, Crosstab]) -> dict[Statement, Crosstab]:
            return {key: table.of_labels(others) for key, table in by_key.items()}

        names = tuple(name for name in self.labels.names if name != label)
        sample = self.sample
        if sample is not None and label in sample.labels:
            rest = [name for name in sample.labels if name != label]
            places = {name: rest.index(name) if name in rest else 0 for name in sample.labels}
            others_of = sample.truth != sample.labels.index(label)
            sample = sample.of_rows_where(others_of).placed(rest, places)
        return replace(
            self,
            labels=Names(names, self.labels.kind),
            decided=tables(self.decided),
            scores={key: table.of_labels(others) for key, table in self.scores.items()},
            losses={key: sums for key, sums in self.losses.items() if key[0] != label},
            clusters=self.clusters
            and {key: table.of_labels(others) for key, table in self.clusters.items()},
            sample=sample,
            slices={
                key: tables(each)
                for key, each in self.slices.items()
                if any(set(table.labels) - {label} for table in each.values())
            },
            days=self.days
            and {
                day: part.without(label)
                for day, part in self.days.items()
                if set(part.labels.names) - {label}
            },
        )

    def must_be_like(self, other: Tally) -> None:
        """Refuse a tally of rows that were counted otherwise."""
        self.labels.must_be_like(other.labels)
        if self.threshold != other.threshold:
            raise TallyError(
                f"tallies of unlike threshold can't be added: {self.threshold!r} and "
                f"{other.threshold!r}; count both with the same threshold="
            )
        if self.columns != other.columns:
            raise TallyError(
                f"tallies of unlike probabilities can't be added: of {_names_text(self.columns)} "
                f"and of {_names_text(other.columns)}"
            )
        if self.sides != other.sides:
            raise TallyError(
                f"tallies can't be added: of one it was said {_sides_text(self.sides)}, of the "
                f"other {_sides_text(other.sides)}"
            )
        pairs: list[tuple[str, Any, Any]] = [
            ("decisions", self.decisions is None, other.decisions is None),
            ("clusters", self.clusters is None, other.clusters is None),
            ("days", self.days is None, other.days is None),
            ("scores", set(self.decided), set(other.decided)),
            ("scores", set(self.scores), set(other.scores)),
        ]
        if self.counted and other.counted:
            mine, theirs = ({column for column, _ in each.slices} for each in (self, other))
            pairs += [(f"slices by {name!r}", True, False) for name in sorted(mine ^ theirs)]
        for name, mine, theirs in pairs:
            if mine != theirs:
                raise TallyError(
                    f"tallies can't be added: one counted {name} and the other did not; count both "
                    f"with the same columns"
                )

    def to_bytes(self) -> bytes:
        """The tally as bytes; :func:`assay.tally.from_bytes` reads them."""
        parts: dict[str, Any] = {}
        for name, by_key in (("scores", self.scores), ("clusters", self.clusters or {})):
            parts |= {f"{name} {i}": by_key[key] for i, key in enumerate(by_key)}
        parts |= {f"loss {i}": sums for i, sums in enumerate(self.losses.values())}
        parts |= {f"day {day}": part for day, part in (self.days or {}).items()}
        parts |= {"sample": self.sample, "unlabelled": self.unlabelled}
        header = {
            "labels": self.labels.to_header(),
            "decisions": None if self.decisions is None else self.decisions.to_header(),
            "columns": self.columns,
            "threshold": self.threshold,
            "rows": self.rows,
            "empty": self.empty,
            "refused": dict(self.refused.reasons),
            "decided": _tables(self.decided),
            "scores": list(self.scores),
            "extremes": [[*key, ends] for key, ends in self.extremes.items()],
            "losses": list(self.losses),
            "clusters": None if self.clusters is None else list(self.clusters),
            "too_many": self.too_many,
            "slices": [[*key, _tables(each)] for key, each in self.slices.items()],
            "days": None if self.days is None else list(self.days),
            "sides": dict(self.sides),
        }
        arrays = {
            name: np.frombuffer(part.to_bytes(), np.uint8)
            for name, part in parts.items()
            if part is not None
        }
        tables = [*self.decided.values()]
        tables += [table for each in self.slices.values() for table in each.values()]
        schema = max((table.schema for table in tables), default=codec.SCHEMA)
        return codec.write("names", header, arrays, schema=schema)


@codec.reads("names")
def tally_of(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Tally:
    """A tally from its header and the bytes of its parts, refused unless it is canonical."""
    parts = {name: codec.from_bytes(array.tobytes()) for name, array in arrays.items()}
    unread = set(parts)

    def part(name: str, kind: type) -> Any:
        unread.discard(name)
        if type(parts[name]) is not kind:
            raise ValueError(f"its part {name!r} is of another kind")
        return parts[name]

    def numbered(name: str, keys: Sequence[Any], kind: type) -> dict[tuple[str, str], Any]:
        return codec.in_order(
            [(_key(key), part(f"{name} {i}", kind)) for i, key in enumerate(keys)]
        )

    days, clusters = header["days"], header["clusters"]
    tally = Tally(
        labels=_names_of(header["labels"]),
        decisions=None if header["decisions"] is None else _names_of(header["decisions"]),
        columns=None if header["columns"] is None else tuple(map(str, header["columns"])),
        threshold=None if header["threshold"] is None else codec.finite_number(header["threshold"]),
        rows=codec.whole_number(header["rows"]),
        empty=codec.whole_number(header["empty"]),
        refused=Refusals(
            {str(k): codec.whole_number(v) for k, v in sorted(header["refused"].items())}
        ),
        decided=_tables_of(header["decided"]),
        scores=numbered("scores", header["scores"], ScoreTally),
        extremes=codec.in_order([(_key(key), _ends(*ends)) for *key, ends in header["extremes"]]),
        losses=numbered("loss", header["losses"], LossSums),
        clusters=None if clusters is None else numbered("clusters", clusters, ClusterTally),
        sample=part("sample", Sample) if "sample" in parts else None,
        too_many=bool(header["too_many"]),
        slices=codec.in_order(
            [((str(c), str(v)), _tables_of(each)) for c, v, each in header["slices"]]
        ),
        days=None
        if days is None
        else codec.in_order([(str(day), part(f"day {day}", Tally)) for day in days]),
        unlabelled=part("unlabelled", Tally) if "unlabelled" in parts else None,
        sides={str(name): value for name, value in header["sides"].items()},
    )
    if unread:
        raise ValueError(f"it has parts that it does not name: {sorted(unread)}")
    for table in tally.decided.values():
        if not set(table.labels) <= set(tally.labels.names):
            raise ValueError("it counted labels that it does not name")
    tally.to_bytes()  # refuses numbers that are not finite in what was said of labels
    return tally


def _key(pair: Sequence[Any]) -> tuple[str, str]:
    first, second = pair
    return str(first), str(second)


def _ends(low: Any, high: Any) -> tuple[float, float]:
    if not codec.finite_number(low) <= codec.finite_number(high):
        raise ValueError(f"scores run from {low} to {high}")
    return float(low), float(high)


def _plain_labels(value: Any) -> Any:
    """A label, or several, as JSON keeps them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return (
        value if isinstance(value, str | int | float) else [_plain_labels(each) for each in value]
    )


def _names_of(header: Sequence[Any]) -> Names:
    kind, names = header
    if kind not in _KINDS or list(names) != sorted(set(map(str, names))):
        raise ValueError("labels are not in order")
    return Names(tuple(map(str, names)), kind)


def _tables(by_key: Mapping[Statement, Crosstab]) -> list[Any]:
    return [[*key, table.to_header()] for key, table in by_key.items()]


def _tables_of(header: Sequence[Any]) -> dict[Statement, Crosstab]:
    return codec.in_order([((str(a), str(b)), crosstab_of(table)) for a, b, table in header])


def _by_key(parts: Sequence[Mapping[Any, Any]], add: Callable[[list[Any]], Any]) -> dict[Any, Any]:
    """Mappings added key by key, in the order of the keys."""
    grouped: dict[Any, list[Any]] = {}
    for part in parts:
        for key, value in part.items():
            grouped.setdefault(key, []).append(value)
    return {key: add(grouped[key]) for key in sorted(grouped)}


def _sum_of_parts(parts: Sequence[Any]) -> Any:
    """The sum; None where the parts have none."""
    if parts[0] is None:
        return None
    return sum(parts[1:], start=parts[0])


def _sample_sum(parts: Sequence[Sample | None]) -> Sample | None:
    samples = [part for part in parts if part is not None]
    if len(samples) < len(parts):
        return None
    labels = sorted({label for part in samples for label in part.labels})
    places = {label: i for i, label in enumerate(labels)}
    total: Sample = _sum_of_parts([part.placed(labels, places) for part in samples])
    return total


def _outermost(ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = zip(*ends, strict=True)
    return min(lows), max(highs)


def _sides_text(sides: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in sides.items()) or "nothing"


def _names_text(names: Sequence[str] | None) -> str:
    listed = list(names or ())
    return ", ".join(map(repr, listed[:6])) + (", ..." if len(listed) > 6 else "")
