"""The record of tallies that were asked for; it adds field by field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.errors import TallyError
from assay.v02.tally import codec
from assay.v02.tally.confusion import Confusion, confusion_of
from assay.v02.tally.keeping import Exact
from assay.v02.tally.loss_sums import LossSums
from assay.v02.tally.row_sample import ClusterTally, Sample
from assay.v02.tally.scores import ScoreTally

_KEY = ("labels", "positive", "threshold")
_DECIDING = ("threshold", "decided")
_KINDS = ("", "score", "probability")
_PARTS = ("scores", "losses", "clusters", "sample", "open_set")
_TYPES = {
    "scores": ScoreTally,
    "losses": LossSums,
    "clusters": ClusterTally,
    "sample": Sample,
    "open_set": Sample,
}
# Rows with a probability a class are kept up to so many probabilities.
MOST_PROBABILITIES = 20_000_000


@dataclass(frozen=True)
class Resolved:
    """What was counted of some rows: a confusion matrix, and whatever else was asked for.

    ``labels`` are the classes; for two, the negative first. ``positive`` is None for more than two.
    ``decided`` is False where scores came without a threshold: then the matrix tells only how many
    rows each label has, all of them under the negative.
    ``kind`` tells what the scores are: ``""`` (none), ``"score"``, ``"probability"``.
    ``scores`` holds one table for a binary tally, one a label for more classes. ``sample`` holds
    the rows: of a binary score those that come in clusters, of more classes all of them, unless
    there are too many. ``summed_losses`` are those that do not follow from the scores.
    ``open_set`` holds, where there are rows of a label that the model does not
    know, the largest probability of every row: of those, of known ones decided wrong, and right.
    ``slices`` maps (column, value) to the confusion matrix of those rows. ``days``
    maps a date such as ``2026-11-16`` to the tally of its rows, from which weeks and months are
    added up.

    >>> a = Resolved.of_confusion(Confusion(("no", "yes"), ((5, 1), (2, 9))), positive="yes")
    >>> (a + a).confusion.total
    34
    """

    labels: tuple[str, ...]
    positive: str | None
    confusion: Confusion
    threshold: float | None = None
    decided: bool = True
    kind: str = ""
    scores: tuple[ScoreTally, ...] | None = None
    summed_losses: LossSums | None = None
    clusters: ClusterTally | None = None
    sample: Sample | None = None
    slices: Mapping[tuple[str, str], Confusion] = field(default_factory=dict)
    days: Mapping[str, Resolved] | None = None
    open_set: Sample | None = None

    def __post_init__(self) -> None:
        # So that equal tallies are equal, wherever they come from.
        if self._losses_follow:
            object.__setattr__(self, "summed_losses", None)

    @property
    def _losses_follow(self) -> bool:
        """Whether the scores tell the losses: every one is kept, and each is a probability."""
        if self.kind != "probability" or self.positive is None or not self.scores:
            return False
        table = self.scores[0]
        return table.kept == Exact() and not table.weighted

    @cached_property
    def losses(self) -> LossSums | None:
        """The losses of probabilities, summed when they are first asked for."""
        if self._losses_follow and self.scores:
            return LossSums.of_scores(self.scores[0])
        return self.summed_losses

    @classmethod
    def of_confusion(cls, confusion: Confusion, *, positive: str | None = None) -> Resolved:
        """A tally of nothing but a confusion matrix."""
        return cls(confusion.labels, positive, confusion)

    def __add__(self, other: Resolved) -> Resolved:
        if not isinstance(other, Resolved):
            return NotImplemented
        return Resolved.merge([self, other])

    @staticmethod
    def merge(parts: Sequence[Resolved]) -> Resolved:
        """The sum of many tallies; each score table is sorted only once.

        Scores that are probabilities in one part and not in another are not probabilities.
        """
        if not parts:
            raise TallyError("there are no tallies to add; give one at least")
        first = parts[0]
        for other in parts[1:]:
            first._must_be_like(other)
        # Where there are no rows, nothing tells by which columns they would have been sliced.
        with_rows = [part for part in parts if part.confusion.total]
        for other in with_rows[1:]:
            with_rows[0]._must_be_sliced_like(other)
        slices: dict[tuple[str, str], Confusion] = {}
        for part in parts:
            for key, confusion in part.slices.items():
                slices[key] = slices[key] + confusion if key in slices else confusion
        scores = None
        if first.scores is not None:
            each = [part.scores for part in parts if part.scores is not None]
            scores = tuple(ScoreTally.merge(column) for column in zip(*each, strict=True))
        kind = min((part.kind for part in parts), key=_KINDS.index)
        losses = None
        if not all(part._losses_follow for part in parts):
            losses = _sum([part.losses for part in parts])
        return replace(
            first,
            confusion=_sum([part.confusion for part in parts]),
            scores=scores,
            kind=kind,
            summed_losses=losses,
            clusters=_sum([part.clusters for part in parts]),
            sample=kept_rows(_sum([part.sample for part in parts])),
            slices={key: slices[key] for key in sorted(slices)},
            days=_merged_days(parts, kind),
            open_set=_sum([part.open_set for part in parts]),
        )

    def zero(self) -> Resolved:
        """A tally of no rows that adds to this one."""
        return replace(
            self,
            confusion=Confusion.zero(self.labels),
            scores=self.scores and tuple(ScoreTally.zero(self.labels) for _ in self.scores),
            summed_losses=self.summed_losses and LossSums(),
            clusters=self.clusters and ClusterTally.zero(self.labels),
            sample=self.sample and Sample.zero(self.labels, self.sample.models, self.sample.width),
            slices={},
            days=None if self.days is None else {},
            open_set=self.open_set and Sample.zero(self.open_set.labels, self.open_set.models),
        )

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def _must_be_like(self, other: Resolved) -> None:
        for name in (*_KEY, "decided"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                advice = "; count both with the same threshold=" if name in _DECIDING else ""
                raise TallyError(
                    f"tallies of unlike {name} can't be added: {mine!r} and {theirs!r}{advice}"
                )
        parts = _PARTS if self.kind == other.kind else [p for p in _PARTS if p != "losses"]
        # Of many classes one part may have too many rows to keep; then their sum has too.
        compared = [part for part in parts if part != "sample" or self.positive is not None]
        for name in (*compared, "days"):
            if self._has(name) != other._has(name):
                raise TallyError(
                    f"tallies can't be added: one counted {name} and the other did not; "
                    f"count both with the same columns"
                )

    def _must_be_sliced_like(self, other: Resolved) -> None:
        mine, theirs = ({column for column, _ in each.slices} for each in (self, other))
        if mine != theirs:
            raise TallyError(
                f"tallies can't be added: one counted slices by {min(mine ^ theirs)!r} and the "
                f"other did not; count both with the same columns"
            )

    def _has(self, part: str) -> bool:
        if part == "losses":
            return self._losses_follow or self.summed_losses is not None
        return getattr(self, part) is not None

    def to_bytes(self) -> bytes:
        """The tally as bytes; :func:`assay.tally.from_bytes` reads them."""
        header = {name: getattr(self, name) for name in (*_KEY, "kind")}
        if not self.decided:
            header["decided"] = False
        header["confusion"] = self.confusion.to_header()
        header["slices"] = [[*key, table.to_header()] for key, table in self.slices.items()]
        header["scores"] = None if self.scores is None else len(self.scores)
        parts: dict[str, Any] = {f"scores {i}": p for i, p in enumerate(self.scores or ())}
        parts |= {name: getattr(self, name) for name in _PARTS[1:]}
        arrays = {
            name: np.frombuffer(part.to_bytes(), np.uint8)
            for name, part in parts.items()
            if part is not None
        }
        if self.days is not None:
            header["days"] = list(self.days)
            arrays |= {
                f"day {day}": np.frombuffer(part.to_bytes(), np.uint8)
                for day, part in self.days.items()
            }
        schema = max(table.schema for table in (self.confusion, *self.slices.values()))
        return codec.write("tally", header, arrays, schema=schema)


@codec.reads("tally")
def tally_of(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Resolved:
    """A tally from its header and the bytes of its parts."""
    parts = {name: codec.from_bytes(array.tobytes()) for name, array in arrays.items()}
    days = header.get("days")
    by_day = {day: parts.pop(f"day {day}") for day in days or ()}
    scores = header["scores"]
    tables = [name for name in parts if name.startswith("scores ")]
    if (scores or 0) != len(tables):
        raise ValueError(f"it holds {len(tables)} score tables and says {scores}")
    for name, part in parts.items():
        if type(part) is not _TYPES[name.partition(" ")[0]]:
            raise ValueError(f"its {name} are of another kind")
    confusion = confusion_of(header["confusion"], {})
    slices = {(str(c), str(v)): confusion_of(table, {}) for c, v, table in header["slices"]}
    labelled_parts = [
        part for name, part in parts.items() if name != "open_set" and hasattr(part, "labels")
    ]
    labelled = [confusion, *slices.values(), *by_day.values(), *labelled_parts]
    if any(list(part.labels) != header["labels"] for part in labelled):
        raise ValueError("the labels of its parts do not fit")
    if any(type(part) is not Resolved or part.days is not None for part in by_day.values()):
        raise ValueError("its days are of another kind")
    if days is not None and list(days) != sorted(set(days)):
        raise ValueError("its days are not in order")
    if header["kind"] not in _KINDS or header["positive"] not in (None, *header["labels"]):
        raise ValueError("its kind or positive label do not fit")
    threshold = header["threshold"]
    if threshold is not None and not math.isfinite(threshold):
        raise ValueError("its threshold is no finite number")
    return Resolved(
        labels=tuple(str(label) for label in header["labels"]),
        positive=header["positive"],
        confusion=confusion,
        threshold=threshold,
        decided=header.get("decided") is not False,
        kind=str(header["kind"]),
        scores=None if scores is None else tuple(parts[f"scores {i}"] for i in range(scores)),
        summed_losses=parts.get("losses"),
        clusters=parts.get("clusters"),
        sample=parts.get("sample"),
        slices=slices,
        days=None if days is None else by_day,
        open_set=parts.get("open_set"),
    )


def confusion_at(scores: ScoreTally, threshold: float) -> Confusion:
    """The confusion matrix of two classes at a threshold, from their scores alone."""
    first = int(np.searchsorted(scores.scores, threshold, side="left"))
    kind: Any = np.float64 if scores.weighted else np.int64

    def cells(amounts: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        tn, fn = amounts[:, :first].sum(axis=1, dtype=kind).tolist()
        fp, tp = amounts[:, first:].sum(axis=1, dtype=kind).tolist()
        return (tn, fp), (fn, tp)

    squares = None if scores.squares is None else cells(scores.squares)
    return Confusion(scores.labels, cells(scores.counts), squares)


def kept_rows(sample: Sample | None) -> Sample | None:
    """The rows; None where they have too many probabilities to be kept."""
    if sample is None or sample.width == 1 or sample.scores.size <= MOST_PROBABILITIES:
        return sample
    return None


def _merged_days(parts: Sequence[Resolved], kind: str) -> dict[str, Resolved] | None:
    """The days of all parts; their scores are read as those of the whole are."""
    if parts[0].days is None:
        return None
    days: dict[str, list[Resolved]] = {}
    for part in parts:
        for day, tally in (part.days or {}).items():
            days.setdefault(day, []).append(tally)
    merged = {day: Resolved.merge(days[day]) for day in sorted(days)}
    counted = kind == _KINDS[-1]
    return {
        day: replace(tally, kind=kind, summed_losses=tally.summed_losses if counted else None)
        for day, tally in merged.items()
    }


def _sum(parts: Sequence[Any]) -> Any:
    """The sum; None where any part has none."""
    if any(part is None for part in parts):
        return None
    return sum(parts[1:], start=parts[0])
