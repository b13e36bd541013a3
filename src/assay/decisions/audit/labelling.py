"""Which label is which in a claim, and its matrix with the negative first."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.decisions.audit.claim import BINARY_CELLS
from assay.decisions.audit.keys import AVERAGES, STATISTICS, Key
from assay.errors import InputError, LabelError
from assay.sources.labelling import NEGATIVE_WORDS, POSITIVE_WORDS, infer
from assay.tally import Confusion

POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True)
class Counts:
    """What a claim tells of its counts and labels."""

    confusion: Mapping[str, int] | None = None
    labels: tuple[str, ...] = ()
    matrix: tuple[tuple[int, ...], ...] | None = None
    support: Mapping[str, int] = field(default_factory=dict)
    train: Mapping[str, int] = field(default_factory=dict)
    positive: str | None = None
    negative: str | None = None
    exhaustive: bool = True


@dataclass(frozen=True)
class Labelled:
    """The labels in order, the matrix if it is whole, and what had to be assumed."""

    labels: tuple[str, ...] = ()
    positive: str | None = None
    negative: str | None = None
    matrix: Confusion | None = None
    cells: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def labelled(counts: Counts, keys: Sequence[Key]) -> Labelled:
    """Decide on the labels by the rules of the contract; keys may name labels too."""
    if counts.positive is not None and counts.positive == counts.negative:
        raise LabelError(f"positive and negative are both {counts.positive!r}")
    names = _names(counts)
    if counts.confusion is not None and not names:
        found = _of_cells(counts, _suffixes(keys))
    elif len(names) > 2 or (names and not counts.exhaustive):
        found = _many(counts, names)
    elif names:
        found = _two(counts, names)
    else:
        # No counts: any suffix is a label.
        return Labelled(positive=counts.positive, negative=counts.negative)
    _check_suffixes(keys, found.labels)
    _check_train(counts.train, found.labels)
    return found


def _names(counts: Counts) -> tuple[str, ...]:
    """All labels that the counts name; those of labels and support must be the same."""
    support = tuple(counts.support)
    if counts.labels and support and set(counts.labels) != set(support):
        raise LabelError(f"support names {_shown(support)}, but labels are {_shown(counts.labels)}")
    names = counts.labels or support
    if counts.confusion is not None and len(names) > 2:
        raise LabelError(f"confusion has two labels; found {_shown(names)}")
    if len(names) == 1:
        # A support of one label, beside the name of the other.
        other = [n for n in (counts.positive, counts.negative) if n is not None and n not in names]
        names = (*names, *other)
    if len(names) == 1:
        raise LabelError(f"there is only the label {names[0]!r}; expected two or more")
    return names


def _of_cells(counts: Counts, suffixes: Sequence[str]) -> Labelled:
    """Two labels that are named by positive, negative, or the keys of reported numbers."""
    positive, negative = counts.positive, counts.negative
    notes: list[str] = []
    known = [name for name in (positive, negative) if name is not None]
    others = [name for name in suffixes if name not in known]
    if positive is None and negative is None and others:
        positive, negative = _guessed(others)
        notes.append(f"{positive!r} was taken as the positive label, {negative!r} as the other")
    elif len(others) > 1 or (others and len(known) == 2):
        raise LabelError(
            f"the labels are {_shown(known)}, but keys name {_shown(others)}; say "
            f"positive and negative"
        )
    elif others and positive is not None:
        negative = others[0]
        notes.append(f"{negative!r} was taken as the name of the negative label")
    elif others:
        positive = others[0]
        notes.append(f"{positive!r} was taken as the name of the positive label")
    if positive is None:
        positive = POSITIVE if negative is None else f"not {negative}"
    if negative is None:
        negative = NEGATIVE if positive == POSITIVE else f"not {positive}"
    return _binary(counts, positive, negative, notes)


def _guessed(suffixes: Sequence[str]) -> tuple[str, str]:
    """Positive and negative by well-known words."""
    alarms = [n for n in suffixes if n.casefold() in {*POSITIVE_WORDS, POSITIVE}]
    quiet = [n for n in suffixes if n.casefold() in {*NEGATIVE_WORDS, NEGATIVE}]
    if (
        len(suffixes) > 2
        or len(alarms) + len(quiet) < len(suffixes)
        or max(len(alarms), len(quiet)) > 1
    ):
        raise LabelError(
            f"keys name {_shown(suffixes)}, and nothing tells which one is the alarm; say positive"
        )
    positive = alarms[0] if alarms else f"not {quiet[0]}"
    return positive, quiet[0] if quiet else f"not {positive}"


def _two(counts: Counts, names: tuple[str, ...]) -> Labelled:
    """Two labels, the positive one given, or inferred by the contract's list."""
    notes: list[str] = []
    for side, label in ((POSITIVE, counts.positive), (NEGATIVE, counts.negative)):
        if label is not None and label not in names:
            raise LabelError(f"{side} = {label!r} is not among the labels {_shown(names)}")
    if counts.positive is not None:
        positive = counts.positive
    elif counts.negative is not None:
        positive = next(name for name in names if name != counts.negative)
    else:
        try:
            inferred = infer(names)
        except LabelError as unknown:
            raise LabelError(
                f"the labels are {_shown(names)}, and nothing tells which one is the alarm; say "
                f"positive = {names[0]!r} or positive = {names[1]!r}"
            ) from unknown
        positive = inferred.positive or ""
        notes += inferred.notes
    negative = next(name for name in names if name != positive)
    return _binary(counts, positive, negative, notes)


def _binary(counts: Counts, positive: str, negative: str, notes: Sequence[str]) -> Labelled:
    labels = (negative, positive)
    cells: dict[str, int] = {}
    matrix = None
    if counts.matrix is not None:
        order = [counts.labels.index(label) for label in labels]
        matrix = Confusion(labels, tuple(tuple(counts.matrix[i][j] for j in order) for i in order))
    elif counts.confusion is not None:
        cells = dict(counts.confusion)
        if len(cells) == len(BINARY_CELLS):
            matrix = Confusion(labels, ((cells["tn"], cells["fp"]), (cells["fn"], cells["tp"])))
    if matrix is not None:
        (tn, fp), (fn, tp) = matrix.cells
        cells = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    return Labelled(labels, positive, negative, matrix, cells, tuple(notes))


def _many(counts: Counts, names: tuple[str, ...]) -> Labelled:
    notes = []
    for side, label in ((POSITIVE, counts.positive), (NEGATIVE, counts.negative)):
        if label is not None and label not in names:
            raise LabelError(f"{side} = {label!r} is not among the labels {_shown(names)}")
        if label is not None:
            notes.append(f"{side} = {label!r} was passed over: there are {len(names)} classes")
    matrix = None if counts.matrix is None else Confusion(counts.labels, counts.matrix)
    return Labelled(names, None, None, matrix, notes=tuple(notes))


def _suffixes(keys: Sequence[Key]) -> list[str]:
    return list(dict.fromkeys(key.label for key in keys if key.label is not None))


def _check_suffixes(keys: Sequence[Key], labels: Sequence[str]) -> None:
    for key in keys:
        if key.label is not None and key.label not in labels:
            words = (*labels, *AVERAGES, *STATISTICS)
            near = difflib.get_close_matches(key.label[:60], words, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"the key {key.text!r} names the label {key.label!r}, but the labels are "
                f"{_shown(labels)}{hint}"
            )


def _check_train(train: Mapping[str, int], labels: Sequence[str]) -> None:
    if set(train) <= set(BINARY_CELLS):
        return
    for label in train:
        if label not in labels:
            raise LabelError(
                f"train names {label!r}; expected the labels {_shown(labels)}, or tn, fp, fn, tp"
            )


def _shown(names: Sequence[str]) -> str:
    some = ", ".join(repr(name[:40]) for name in names[:6])
    return some + (f" and {len(names) - 6} more" if len(names) > 6 else "")
