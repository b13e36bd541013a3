"""Counts by label and family: both together stand as one label, until labels have sides.

So a table by label and by family is the sum of those of any parts, as one by label is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay.engines.resolving import resolve
from assay.sources import Coded, label_text
from assay.sources.coded import Labels
from assay.tally import Resolved, Sample, ScoreTally, Tally
from assay.tally.by_name import DECISION, PROBABILITY, SCORE, Names

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
    seen = np.bincount(pairs, minlength=len(truth.names) * len(named.names)) > 0
    names = [f"{label}{BETWEEN}{kind}" for label in truth.names for kind in named.names]
    kept = tuple(name for name, is_there in zip(names, seen, strict=True) if is_there)
    codes = (np.cumsum(seen) - 1)[pairs].astype(np.min_scalar_type(max(len(kept) - 1, 0)))
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
        own = [
            family if between else (label if is_one else resolved.labels[0])
            for (label, between, family), is_one in zip(split, positive, strict=True)
        ]
        held = sorted({name for name, is_one in zip(own, positive, strict=True) if is_one})
        labels = (resolved.labels[0], *held)
        at = {
            kind: labels.index(name, 1) if is_one else 0
            for kind, name, is_one in zip(kinds, own, positive, strict=True)
        }
        return cls(labels, at, tuple(sorted(set(own))), is_alarm)


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
