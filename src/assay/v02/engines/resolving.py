"""From counts by name to a tally with sides: which label is the alarm, and what decides.

A pure function of the sum, so that it is the same for any parts, in any order, from any engine.
So is the tally by family: label and family together stand as one label, until labels have sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay.v02.engines.local import MODEL
from assay.errors import EmptyInput, InputError, LabelError, ScoreError
from assay.v02.escaping import plural
from assay.v02.sources import Coded
from assay.v02.sources.coded import Labels
from assay.v02.sources.columns import label_text, native
from assay.v02.sources.labelling import (
    SEVERAL,
    USUAL,
    WHOLE,
    Labelling,
    checked_threshold,
    must_not_list,
    no_column,
    no_ranking,
    no_unknown,
    rounded_note,
    undecided_note,
    unify,
)
from assay.v02.sources.labelling import resolve as resolve_labels
from assay.v02.sources.validation import FAMILY, empty_note
from assay.v02.tally import Confusion, Crosstab, LossSums, Resolved, Sample, ScoreTally, Tally
from assay.v02.tally.confusion import FLAGGED, flagged
from assay.v02.tally.keeping import Exact
from assay.v02.tally.named_tally import (
    DECISION,
    LARGEST,
    OF_CLASS,
    PROBABILITY,
    RIGHT,
    SCORE,
    WRONG,
    Names,
    Statement,
)

# The labels of known rows in an open set.
DECIDED = ("wrong", "right")
# A model of two labels decides by one score; of three or more the largest probability decides.
FEWEST_KNOWN = 3
# Numbers in all tables of slices, days or clusters; they take eight bytes each.
_MOST_CELLS = 10**8


def resolve(
    tally: Tally,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    unknown: Any = None,
    threshold: float | None = None,
) -> tuple[Resolved, tuple[str, ...]]:
    """The tally with sides, and notes on what was inferred.

    ``positive`` is the label that is the alarm, or ``negative`` the one that is not; ``labels``
    those that may occur. ``unknown`` is a label of which the model has no probability.
    ``threshold`` decides otherwise than was asked when rows were counted; see :func:`decided_at`.

    >>> from assay.v02.engines import count_coded, Ask
    >>> from assay.v02.sources import code_arrays
    >>> rows = code_arrays(["attack", "normal"], y_score=[0.9, 0.2])
    >>> resolve(count_coded(rows, Ask()))[0].confusion.cells
    ((1, 0), (0, 1))
    """
    if threshold is not None:
        tally = decided_at(tally, checked_threshold(threshold))
    if unknown is not None:
        return _open(tally, label_text(unknown), positive, negative, labels)
    if not tally.counted:
        raise nothing_to_judge(tally)
    listed = labels
    if listed is None and tally.columns is not None:
        absent = [name for name in tally.labels.names if name not in tally.columns]
        if absent:
            raise LabelError(no_column(absent, tally.columns))
        listed = [native(name, tally.labels.kind) for name in tally.columns]
    truth, decision = _columns(tally)
    labelling = resolve_labels(truth, decision, positive=positive, negative=negative, labels=listed)
    sides = _Sides.of(tally, labelling, truth, decision)
    notes = list(labelling.notes)
    if tally.empty:
        notes.append(empty_note(tally.empty))
    notes += sides.notes()
    _must_be_held(tally, len(sides.labelling.labels))
    resolved = sides.resolved(tally)
    has_families = any(column == FAMILY for column, _ in resolved.slices)
    if negative is not None and len(labelling.position) > 2 and not has_families:
        slices = {**sides.families(), **resolved.slices}
        resolved = replace(resolved, slices={key: slices[key] for key in sorted(slices)})
    return resolved, tuple(notes)


def decided_at(tally: Tally, threshold: float) -> Tally:
    """The tally with decisions at another threshold, which its scores tell.

    Exact scores tell it of any threshold, a grid where a cell starts, cuts at a cut. Slices,
    clusters and days keep decisions alone, and weights their squares too: those are counted anew.
    """
    if threshold == tally.threshold or not tally.counted:
        return tally
    remedy = f"count the rows with Ask(threshold={threshold!r})"
    table = tally.scores.get(SCORE)
    if table is None or SCORE not in tally.decided:
        raise ScoreError(f"the tally keeps no scores that a threshold could decide on: {remedy}")
    if not (isinstance(table.kept, Exact) or threshold in table.scores):
        raise ScoreError(
            f"scores are kept by {table.kept.name}, which does not tell how many reach "
            f"{threshold!r}: {remedy}, or take the start of a cell or a cut"
        )
    parts: dict[str, object] = {
        "slices": tally.slices,
        "clusters": tally.clusters,
        "days": tally.days,
    }
    parts |= {"unlabelled rows": tally.unlabelled, "sampling weights": table.weighted}
    if fixed_parts := ", ".join(name for name, part in parts.items() if part):
        raise ScoreError(
            f"decisions of {fixed_parts} are kept at the threshold asked for alone: {remedy}"
        )
    above = table.at_least(threshold)
    counts = np.column_stack([np.subtract(table.totals(), above), above])
    decided = {**tally.decided, SCORE: flagged(table.labels, counts)}
    return replace(tally, threshold=threshold, decided=decided)


def nothing_to_judge(tally: Tally) -> EmptyInput:
    """Why a tally of no rows that count is none: there were none, or all were refused."""
    if not tally.refused.total:
        return EmptyInput("there are no rows; there is nothing to judge")
    reasons = "; ".join(f"{kind} ({rows:,})" for kind, rows in tally.refused.reasons.items())
    return EmptyInput(
        f"{plural(tally.rows, 'the only row was', f'all {tally.rows:,} rows were')} refused: "
        f"{reasons}"
    )


def _must_be_held(tally: Tally, labels: int) -> None:
    """Refuse tables of labels by labels that no memory has room for; rows alone don't tell it."""
    parts = {"slices": len(tally.slices), "days": len(tally.days or ())}
    if tally.clusters:
        parts["clusters"] = max(table.size for table in tally.clusters.values())
    many = max(parts, key=parts.__getitem__)
    if parts[many] * labels**2 > _MOST_CELLS:
        raise InputError(
            f"{parts[many]:,} {many} have a table of {labels:,} labels by {labels:,} each, which "
            f"is more than {_MOST_CELLS:,} numbers. Leave out {many} with so many values, or say "
            f"positive= or negative=, so that there are two classes"
        )


def _columns(tally: Tally) -> tuple[Labels, Labels | None]:
    """Labels and decisions without rows: what they are called, and how they are written."""

    def column(names: Names) -> Labels:
        numbers = names.kind == "numbers"
        ordered = sorted(names.names, key=int) if numbers else names.names
        return Labels(np.empty(0, np.uint8), tuple(ordered), names.kind)

    truth = column(tally.labels)
    if tally.decisions is None:
        return truth, None
    return unify(truth, column(tally.decisions))


@dataclass(frozen=True)
class _Sides:
    """Where each name stands, and which of the things said decides and ranks."""

    labelling: Labelling
    label_at: Mapping[str, int]
    column_at: Callable[[str], int]
    whole: Tally
    deciding: Statement
    ranking: Statement | None
    decided: bool
    is_probability: bool

    @classmethod
    def of(
        cls, tally: Tally, labelling: Labelling, truth: Labels, decision: Labels | None
    ) -> _Sides:
        position = labelling.position
        label_at = dict(
            zip(_as_written(tally.labels, truth), _places(truth, position), strict=True)
        )
        ranking: Statement | None = None
        if SCORE in tally.extremes:
            ranking = SCORE
            if labelling.positive is None:
                raise ScoreError(no_ranking(labelling.labels))
        elif tally.columns is not None and labelling.positive is not None:
            ranking = (PROBABILITY, labelling.positive)
            if ranking not in tally.extremes:
                raise ScoreError(
                    f"several probabilities are those of {labelling.positive!r}: say negative= or "
                    f"positive= when rows are counted"
                )
        elif tally.columns is not None and tally.threshold is not None:
            raise ScoreError(SEVERAL)
        is_probability = False
        if ranking is not None:
            low, high = tally.extremes[ranking]
            is_probability = low >= 0 and high <= 1
        deciding: Statement = DECISION
        decided = True
        column_at: Callable[[str], int]
        if decision is not None and tally.decisions is not None:
            written = _as_written(tally.decisions, decision)
            places = dict(zip(written, _places(decision, position), strict=True))
            column_at = places.__getitem__
        elif ranking is None:
            deciding, column_at = LARGEST, dict(position).__getitem__
            if len(tally.columns or ()) == 2:
                raise ScoreError(no_ranking(labelling.labels))
        else:
            decided = is_probability or tally.threshold is not None
            deciding, column_at = ranking, _flagged if decided else _nothing
        return cls(
            labelling, label_at, column_at, tally, deciding, ranking, decided, is_probability
        )

    @property
    def binary(self) -> bool:
        """Whether there is one positive label."""
        return self.labelling.positive is not None

    @property
    def threshold(self) -> float | None:
        """The threshold that decides, where one does."""
        if not self.decided or self.deciding != self.ranking:
            return None
        return USUAL if self.whole.threshold is None else self.whole.threshold

    def notes(self) -> list[str]:
        """Why nothing is decided, where that is so, and that scores were rounded."""
        notes = [] if self.decided else [undecided_note(*self.whole.extremes[self.deciding])]
        farthest = max(map(abs, self.whole.extremes.get(SCORE, (0.0,))))
        return [*notes, rounded_note(farthest)] if farthest >= WHOLE else notes

    def confusion(self, decided: Mapping[Statement, Crosstab]) -> Confusion:
        """The confusion matrix of what decides; rows by label alone where nothing does."""
        table = decided.get(self.deciding, Crosstab())
        return table.confusion(self.labelling.labels, self.label_at, self.column_at)

    def families(self) -> dict[tuple[str, str], Confusion]:
        """The matrix of each positive label alone, and that of the negative one."""
        decided = self.whole.decided[self.deciding]
        tables: dict[tuple[str, str], Confusion] = {}
        for name, place in self.label_at.items():
            flagged_by = {self.deciding: decided.of_labels(name.__eq__)}
            tables[FAMILY, name if place else self.labelling.labels[0]] = self.confusion(flagged_by)
        return tables

    def resolved(self, tally: Tally) -> Resolved:
        """A tally, the whole or a day of it, with sides."""
        kind = ""
        scores: tuple[ScoreTally, ...] | None = None
        losses: LossSums | None = None
        names = self.labelling.labels
        if self.ranking is not None:
            kind = "probability" if self.is_probability else "score"
            if tally.scores:
                smallest = tally.extremes[self.ranking][0]
                sided = tally.scores[self.ranking].placed(names, self.label_at)
                scores = (sided.starting_at(smallest),)
            losses = self._losses(tally)
        elif tally.columns is not None:
            kind = "probability"
            absent = [label for label in names if label not in tally.columns]
            if absent:
                raise ScoreError(
                    f"y_proba has no column for {absent}; its columns are {list(tally.columns)}"
                )
            if tally.scores:
                scores = tuple(
                    tally.scores[PROBABILITY, label].placed(names, self.label_at) for label in names
                )
            losses = sum(
                (sums for (_, how), sums in tally.losses.items() if how == OF_CLASS), LossSums()
            )
        clusters = None
        if tally.clusters is not None:
            table = tally.clusters[self.deciding]
            clusters = table.placed(names, self.label_at, self.column_at)
        return Resolved(
            labels=names,
            positive=self.labelling.positive,
            confusion=self.confusion(tally.decided),
            threshold=self.threshold,
            decided=self.decided,
            kind=kind,
            scores=scores,
            summed_losses=losses,
            clusters=clusters,
            sample=self._sample(tally),
            slices={key: self.confusion(each) for key, each in tally.slices.items()},
            days=None
            if tally.days is None
            else {day: self.resolved(part) for day, part in tally.days.items()},
        )

    def _losses(self, tally: Tally) -> LossSums | None:
        """The losses that were summed beside the scores."""
        if not self.is_probability or not tally.scores or not tally.losses:
            return None
        sums = LossSums()
        for name, place in self.label_at.items():
            sums += tally.losses.get((name, RIGHT if place else WRONG), LossSums())
        return sums

    def _sample(self, tally: Tally) -> Sample | None:
        sample = tally.sample
        if sample is None:
            return None
        columns = list(tally.columns or ())
        if columns and self.binary:
            if tally.clusters is None or sample.weighted:
                return None
            column = sample.scores[:, [columns.index(self.labelling.positive or "")]]
            sample = replace(sample, scores=column)
        elif columns:
            order = [columns.index(label) for label in self.labelling.labels]
            sample = replace(sample, scores=sample.scores[:, order])
        return sample.placed(self.labelling.labels, self.label_at)


def _as_written(names: Names, column: Labels) -> list[str]:
    """The names as they were counted, in the order of a column that may write them otherwise."""
    if set(names.names) == set(column.names):
        return list(column.names)
    # True and 1 are the same label: the column was unified with the other.
    back = {"0": "false", "1": "true"}
    return [back[name] for name in column.names]


def _places(column: Labels, position: Mapping[str, int]) -> list[int]:
    return [position[name] for name in column.names]


def _flagged(column: str) -> int:
    return int(column == FLAGGED)


def _nothing(_: str) -> int:
    return 0


def _open(
    tally: Tally, unknown: str, positive: Any, negative: Any, labels: Sequence[Any] | None
) -> tuple[Resolved, tuple[str, ...]]:
    """The rows of all labels that the model knows, and how those of the other rank among them."""
    for name, value in (("positive", positive), ("negative", negative)):
        if value is not None:
            raise InputError(f"give unknown= or {name}=, not both: an open set has several classes")
    if tally.columns is None:
        raise ScoreError(
            f"unknown={unknown!r} ranks rows by the probabilities of the labels that are known: "
            f"give y_proba="
        )
    _must_be_unknown(unknown, tally, labels)
    known_rows = tally.without(unknown)
    if not known_rows.counted and labels is None:
        raise LabelError(f"every row is labelled {unknown!r}: no row has a label that is known")
    if len(tally.columns) < FEWEST_KNOWN:
        shown = ", ".join(map(repr, tally.columns))
        raise LabelError(
            f"unknown={unknown!r} is for three or more known labels; found {shown}. With two, give "
            f"a score and say positive="
        )
    if known_rows.counted:
        resolved, notes = resolve(known_rows, labels=labels)
    else:
        resolved, notes = _no_rows(labels or ()), ()
    outside = sum(
        number
        for table in tally.decided.values()
        for (label, _), number in table.cells.items()
        if label == unknown
    )
    inside = resolved.confusion.total
    sample = _largest(tally, unknown)
    return replace(resolved, open_set=sample), (*notes, unknown_note(unknown, outside, inside))


def unknown_note(label: str, outside: int, inside: int) -> str:
    """What to say of rows of a label that the model does not know."""
    return (
        f"{outside:,} {plural(outside, 'row is', 'rows are')} labelled {label!r}, which the "
        f"model does not know: only how "
        f"{plural(outside, 'it ranks', 'they rank')} against the {inside:,} "
        f"{plural(inside, 'other', 'others')} is judged, and every other measure is of "
        f"{plural(inside, 'that one', f'those {inside:,}')} alone"
    )


def _must_be_unknown(unknown: str, tally: Tally, labels: Sequence[Any] | None) -> None:
    if unknown not in tally.labels.names and labels is None:
        raise LabelError(no_unknown(unknown, tally.labels.names))
    if unknown in (tally.columns or ()):
        raise LabelError(
            f"there is a probability of {unknown!r}, so the model knows it: leave out that column "
            f"or unknown="
        )
    must_not_list(unknown, labels)


def _no_rows(labels: Sequence[Any]) -> Resolved:
    """No rows of known labels, as a part of the data may have none."""
    names = tuple(sorted(label_text(label) for label in labels))
    return Resolved(
        labels=names,
        positive=None,
        confusion=Confusion.zero(names),
        kind="probability",
        scores=tuple(ScoreTally.zero(names) for _ in names),
        summed_losses=LossSums(),
        sample=Sample.zero(names, (MODEL,), len(names)),
    )


def _largest(tally: Tally, unknown: str) -> Sample | None:
    """The largest probability of every row: of the unknown label, of known ones wrong and right."""
    sample = tally.sample
    if sample is None:
        return None
    columns = list(tally.columns or ())
    table = sample.scores[:, : len(columns)]
    places = np.array([columns.index(n) if n in columns else -1 for n in sample.labels], np.int64)
    outside = np.array([name == unknown for name in sample.labels], bool)[sample.truth]
    if tally.decisions is None:
        right = places[sample.truth] == table.argmax(axis=1)
    else:
        right = sample.scores[:, len(columns)] > 0
    truth = np.where(outside, 0, 1 + right).astype(np.uint16)
    return sample.relabelled((unknown, *DECIDED), truth, table.max(axis=1)[:, None])


# -- by family -------------------------------------------------------------------------------------

# Between the name of a label and that of a family, where both together stand as a label.
BETWEEN = "\x1f"


@dataclass(frozen=True, eq=False)
class FamilyTallies:
    """What was counted, with sides, and the same by family, where there are families.

    ``scores`` and ``rows`` have the positives by their family: the first label is the negative
    one, all others are families; decisions are as scores of 0 and 1. ``rows`` are kept where they
    come in clusters and have scores. ``known`` are all names of families, those of negatives too;
    ``places`` tell where each label, or label and family, stands among the labels of ``scores``.
    """

    resolved: Resolved
    scores: ScoreTally | None = None
    rows: Sample | None = None
    known: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)


def kinds_of(rows: Coded, family: str | None) -> Coded:
    """The rows with label and family together as one label, without what is not counted by it."""
    rows, named = replace(rows, slices={}, days=None), rows.slices.get(family or "")
    if named is None:
        return rows
    truth = rows.truth
    pairs = truth.codes.astype(np.int64) * len(named.names) + named.codes
    occurs = np.bincount(pairs, minlength=len(truth.names) * len(named.names)) > 0
    names = [f"{label}{BETWEEN}{kind}" for label in truth.names for kind in named.names]
    kept = tuple(name for name, is_there in zip(names, occurs, strict=True) if is_there)
    codes = (np.cumsum(occurs) - 1)[pairs].astype(np.min_scalar_type(len(kept)))
    return replace(rows, truth=Labels(codes, kept, truth.kind))


def labels_of_kinds(kinds: Tally) -> Names:
    """The labels that occur, without families."""
    names = {name.partition(BETWEEN)[0] for name in kinds.labels.names}
    return Names(tuple(sorted(names)), kinds.labels.kind)


def sided_families(
    kinds: Tally, sides: Mapping[str, Any], *, by_family: bool = False
) -> FamilyTallies:
    """A tally by label, or with ``by_family`` by label and family, with sides.

    Where one label is said to be harmless, all others are families, unless a column tells them.
    """
    tally = _by_label(kinds, labels_of_kinds(kinds)) if by_family else kinds
    resolved, notes = resolve(tally, **sides)
    against = sides.get("negative") is not None
    listed = {label_text(label) for label in sides.get("labels") or ()}
    places = _Places.of(kinds.labels.names, resolved, against=against)
    if not by_family and not (against and len({*tally.labels.names, *listed}) > 2):
        at = {label: int(place > 0) for label, place in places.at.items()}
        return FamilyTallies(resolved, notes=notes, places=at)
    return FamilyTallies(
        resolved,
        _scores(kinds, resolved, places) or _decisions(kinds, places),
        _rows(kinds, resolved, places),
        places.known,
        notes,
        places.at,
    )


@dataclass(frozen=True)
class _Places:
    """The families that have positives after the negative label, and where each kind stands."""

    labels: tuple[str, ...]
    at: Mapping[str, int]
    known: tuple[str, ...]
    is_alarm: Callable[[str], bool]

    @classmethod
    def of(cls, kinds: Sequence[str], resolved: Resolved, *, against: bool) -> _Places:
        def is_alarm(label: str) -> bool:
            return label != resolved.labels[0] if against else label == resolved.positive

        split = [name.partition(BETWEEN) for name in kinds]
        positive = [is_alarm(label) for label, _, _ in split]
        names = [
            family if between else (label if is_one else resolved.labels[0])
            for (label, between, family), is_one in zip(split, positive, strict=True)
        ]
        alarm_names = sorted({name for name, is_one in zip(names, positive, strict=True) if is_one})
        labels = (resolved.labels[0], *alarm_names)
        at = {
            kind: labels.index(name, 1) if is_one else 0
            for kind, name, is_one in zip(kinds, names, positive, strict=True)
        }
        return cls(labels, at, tuple(sorted(set(names))), is_alarm)


def _scores(kinds: Tally, resolved: Resolved, places: _Places) -> ScoreTally | None:
    key = SCORE if SCORE in kinds.scores else (PROBABILITY, resolved.positive or "")
    if resolved.scores is None or key not in kinds.scores:
        return None
    smallest = kinds.extremes[key][0]
    return kinds.scores[key].placed(places.labels, places.at).starting_at(smallest)


def _decisions(kinds: Tally, places: _Places) -> ScoreTally | None:
    """Decisions as scores of 0 and 1."""
    if DECISION not in kinds.decided:
        return None
    cells = kinds.decided[DECISION].cells
    return ScoreTally.of_rows(
        places.labels,
        np.array([places.is_alarm(decision) for _, decision in cells], np.float32),
        np.array([places.at[kind] for kind, _ in cells], np.uint16),
        counts=np.array(list(cells.values()), np.int64),
    )


def _rows(kinds: Tally, resolved: Resolved, places: _Places) -> Sample | None:
    sample = kinds.sample
    if sample is None or resolved.sample is None:
        return None
    if len(sample.models) * sample.width > 1:
        column = list(kinds.columns or ()).index(resolved.positive or "")
        sample = replace(sample, scores=sample.scores[:, [column]])
    return sample.placed(places.labels, places.at)


def _by_label(kinds: Tally, labels: Names) -> Tally:
    """The same tally by label alone."""
    at = {name: labels.names.index(name.partition(BETWEEN)[0]) for name in kinds.labels.names}
    return replace(
        kinds,
        labels=labels,
        decided={key: table.placed(labels.names, at) for key, table in kinds.decided.items()},
        scores={key: table.placed(labels.names, at) for key, table in kinds.scores.items()},
        clusters=kinds.clusters
        and {
            key: table.placed(
                labels.names, at, (table.columns or ()).index, table.columns or labels.names
            )
            for key, table in kinds.clusters.items()
        },
        sample=kinds.sample and kinds.sample.placed(labels.names, at),
    )
