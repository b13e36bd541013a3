"""Which label is the alarm, from which score on a row is flagged, and what probabilities are of."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LabelError, ScoreError
from assay.v02.escaping import given_text, row_at
from assay.v02.number_text import significant
from assay.v02.sources.coded import Coded, Labels
from assay.v02.sources.columns import (
    BOOLEAN,
    NUMBER,
    TEXT,
    columns_of,
    label_kind,
    label_text,
    must_be_as_long,
    must_have_order,
    native,
    scores_of,
    without_gradients,
)
from assay.v02.sources.row_checks import SUM_TOLERANCE, not_probabilities, off_one
from assay.v02.tally.scores import extremes

POSITIVE_WORDS = frozenset(
    {
        "1",
        "true",
        "yes",
        "attack",
        "malicious",
        "malware",
        "anomaly",
        "intrusion",
        "spam",
        "phishing",
        "ddos",
        "fraud",
    }
)
NEGATIVE_WORDS = frozenset(
    {"0", "false", "no", "normal", "benign", "ham", "legitimate", "goodware", "clean"}
)
ONE_SIDE = "give positive= or negative=, not both: the one follows from the other"
_OPPOSITE = {"1": "0", "0": "1", "true": "false", "false": "true", "yes": "no", "no": "yes"}
_SIGNS = ({"-1", "1"}, {"-1", "+1"})


def named_harmless(label: str, *, beside: str) -> bool:
    """Whether a label is a usual name of harmless rows, and the one beside it is not.

    >>> named_harmless("Benign", beside="attack"), named_harmless("no", beside="maybe")
    (True, False)
    """
    one, other = label.lower(), beside.lower()
    if other in NEGATIVE_WORDS or one not in NEGATIVE_WORDS:
        return False
    return one not in _OPPOSITE or _OPPOSITE[one] == other


@dataclass(frozen=True)
class Labelling:
    """The labels in order, where each name found stands, and what was inferred."""

    labels: tuple[str, ...]
    positive: str | None
    position: dict[str, int]
    notes: tuple[str, ...] = ()


def resolve(
    truth: Labels,
    decision: Labels | None,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
) -> Labelling:
    """Decide on labels and the positive one by the rules of the contract."""
    kind = truth.kind
    present = _names(truth, decision, listed=labels is not None)
    allowed = None
    if labels is not None:
        must_be_a_list(labels)
        allowed = [label_as(label, kind, "labels") for label in labels]
        unknown = [name for name in present if name not in allowed]
        if unknown:
            raise LabelError(
                f"the data hold {shown_labels(unknown)}, which labels= does not list: "
                f"{shown_labels(allowed)}"
            )
    names = present if allowed is None else list(dict.fromkeys([*allowed, *present]))
    chosen = _chosen(names, kind, positive=positive, negative=negative)
    return replace(chosen, notes=(*chosen.notes, *lookalikes(names)))


def must_be_a_list(labels: Any) -> None:
    """Refuse one label where all are asked for, and labels that have no order."""
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise LabelError(f"labels= is a list of labels; found {given_text(labels)}")
    must_have_order("labels=", labels)


def _chosen(names: list[str], kind: str, *, positive: Any, negative: Any) -> Labelling:
    if positive is not None and negative is not None:
        raise LabelError(ONE_SIDE)
    if negative is not None:
        return _against(label_as(negative, kind, "negative"), names, positive_side=False)
    if positive is not None:
        return _against(label_as(positive, kind, "positive"), names, positive_side=True)
    if len(names) > 2:
        ordered = tuple(sorted(names))
        return Labelling(ordered, None, {name: i for i, name in enumerate(ordered)})
    return infer(names, kind)


def lookalikes(names: Sequence[str]) -> list[str]:
    """Sentences on labels that may be one label written in several ways."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(folded(name), []).append(name)
    return [
        f"the labels {shown_labels(written)} differ only in how they are written (case, blanks, "
        f"letters or a decimal point) and count as different labels"
        for written in alike.values()
        if len(written) > 1
    ]


def folded(name: str) -> str:
    """A label without what it may be written with or without.

    >>> folded(" Normal"), folded("0.0")
    ('normal', '0')
    """
    text = unicodedata.normalize("NFKC", name).strip().casefold()
    return text.removesuffix(".0") if text.removesuffix(".0").lstrip("-").isdecimal() else text


def _names(truth: Labels, decision: Labels | None, *, listed: bool) -> list[str]:
    if decision is None:
        return list(truth.names)
    if truth.kind != decision.kind:
        raise LabelError(
            f"labels are {truth.kind} ({shown_labels(truth.names, truth.kind)}) but decisions are "
            f"{decision.kind} ({shown_labels(decision.names, decision.kind)}): the same label must "
            f"be written the same way in both. Convert one of them"
        )
    if not listed:
        must_meet(truth.names, decision.names)
    return list(dict.fromkeys([*truth.names, *decision.names]))


def must_meet(labels: Sequence[str], decisions: Sequence[str]) -> None:
    """Refuse labels and decisions that have no value in common."""
    # Two names may be a batch of errors alone; more are two ways to write the same labels.
    if len({*labels, *decisions}) > 2 and not set(labels) & set(decisions):
        raise LabelError(
            f"labels ({shown_labels(labels)}) and decisions ({shown_labels(decisions)}) "
            f"have no value in common. Check spelling, case and blanks, or map one to the other"
        )


def unify(truth: Labels, decision: Labels) -> tuple[Labels, Labels]:
    """True and 1 are the same label, so booleans beside 0 and 1 become numbers."""
    if {truth.kind, decision.kind} != {BOOLEAN, NUMBER}:
        return truth, decision

    def numbers(column: Labels) -> Labels:
        if column.kind == NUMBER:
            return column
        return Labels(
            column.codes, tuple({"false": "0", "true": "1"}[n] for n in column.names), NUMBER
        )

    return numbers(truth), numbers(decision)


def label_as(value: Any, kind: str, name: str) -> str:
    """A label that was given as an argument, of the kind that the data are of."""
    text, given = label_text(value), label_kind(value)
    if given == kind:
        return text
    if {given, kind} == {NUMBER, BOOLEAN} and text in ("0", "1", "true", "false"):
        as_number = {"false": "0", "true": "1"}.get(text, text)
        return as_number if kind == NUMBER else {"0": "false", "1": "true"}[as_number]
    raise LabelError(
        f"{name}={value!r} is one of {given}, but the labels of the data are {kind}. "
        f"Write it as the data do"
    )


def _against(chosen: str, names: list[str], *, positive_side: bool) -> Labelling:
    """One label against all others."""
    side = "positive" if positive_side else "negative"
    if chosen not in names:
        raise LabelError(
            f"{side}={chosen!r} does not occur; the labels are {shown_labels(names)}. "
            f"If it may be absent, list it in labels="
        )
    others = [name for name in names if name != chosen]
    other_name = _name_of_others(chosen, others)
    if positive_side:
        position = {name: int(name == chosen) for name in names}
        return Labelling((other_name, chosen), chosen, position)
    position = {name: int(name != chosen) for name in names}
    return Labelling((chosen, other_name), other_name, position)


def _name_of_others(chosen: str, others: Sequence[str]) -> str:
    """What all labels but one are called together."""
    if len(others) == 1:
        return others[0]
    return f"not {chosen}" if others else _OPPOSITE.get(chosen, f"not {chosen}")


def infer(names: Sequence[str], kind: str = TEXT) -> Labelling:
    """The positive of two labels, or of one, by the short list of well-known words.

    Beside a word for what is harmless, the other label is the alarm; 0, false and no say so of
    their opposites alone.

    >>> infer(["normal", "arp_spoofing"]).positive
    'arp_spoofing'
    """
    alarms = [name for name in names if name.casefold() in POSITIVE_WORDS]
    quiet = [name for name in names if name.casefold() in NEGATIVE_WORDS]
    if len(names) == 2:
        harmless = next((pair for pair in (names, names[::-1]) if _is_harmless(*pair)), None)
        if harmless is None:
            raise LabelError(_untold(names, kind))
        negative, positive = harmless
        note = f"{positive!r} was taken as the positive label, since the other is {negative!r}"
        return Labelling((negative, positive), positive, {negative: 0, positive: 1}, (note,))
    if len(names) == 1 and alarms:
        other_name = _name_of_others(alarms[0], [])
        note = f"{alarms[0]!r} was taken as the positive label; it is the only one"
        return Labelling((other_name, alarms[0]), alarms[0], {alarms[0]: 1}, (note,))
    if len(names) == 1 and quiet:
        other_name = _name_of_others(quiet[0], [])
        note = f"{quiet[0]!r} was taken as the negative label; it is the only one"
        return Labelling((quiet[0], other_name), other_name, {quiet[0]: 0}, (note,))
    raise LabelError(
        f"there is only the label {_typed(names[0], kind)}, and nothing tells whether it is "
        f"the positive. Say positive={_typed(names[0], kind)} or negative={_typed(names[0], kind)}"
    )


def _is_harmless(name: str, other: str) -> bool:
    """Whether one label is known as the negative of the two."""
    word = name.casefold()
    if word in _OPPOSITE:
        return word in NEGATIVE_WORDS and other.casefold() == _OPPOSITE[word]
    # Another spelling of a word for what is harmless is no alarm.
    return word in NEGATIVE_WORDS and folded(other) not in NEGATIVE_WORDS


def _untold(names: Sequence[str], kind: str) -> str:
    """Why the alarm of two labels has to be said, and how."""
    first, second = (_typed(name, kind) for name in names)
    if set(names) in _SIGNS:
        minus, plus = (first, second) if names[0] == "-1" else (second, first)
        return (
            f"the labels are {minus} and {plus}, and both readings are in use, so nothing tells "
            f"which one is the alarm. In textbooks it is {plus}: say positive={plus}. For "
            f"scikit-learn's outlier detectors it is {minus}: say positive={minus}"
        )
    return (
        f"the labels are {first} and {second}, and nothing tells which one is the alarm. "
        f"Say positive={first} or positive={second}"
    )


def _typed(name: str, kind: str) -> str:
    """A label as it would be typed."""
    return repr(name) if kind == TEXT else str(native(name, kind))


def shown_labels(names: Sequence[str], kind: str = TEXT) -> str:
    """The first six of some labels as they would be typed, and how many more there are."""
    shown = ", ".join(_typed(name, kind) for name in list(names)[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")


# -- thresholds ------------------------------------------------------------------------------------

USUAL = 0.5
_PERCENT, _HALF = 100, 50


def checked_threshold(threshold: Any) -> float:
    """A finite number."""
    try:
        number = math.nan if isinstance(threshold, bool | np.bool_) else float(threshold)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ScoreError(f"threshold must be a finite number; found {given_text(threshold)}")
    return number


def least_reaching(thresholds: Any, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """The least floats of a kind that are not below thresholds: scores reach both or neither.

    Scores of 32 bits so need not be copied to be compared with a threshold of 64.

    >>> least_reaching([0.5, 0.1, 1e300], np.dtype(np.float32)).tolist()
    [0.5, 0.10000000149011612, inf]
    """
    asked = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore"):  # nothing of this kind may reach it
        nearest = asked.astype(kind)
        return np.where(nearest < asked, np.nextafter(nearest, kind.type(np.inf)), nearest)


def likely_threshold(low: float, high: float) -> tuple[float, str] | None:
    """The threshold that scores of this range are likely meant for, and what they look like.

    >>> likely_threshold(-4.2, 3.1), likely_threshold(0, 99.5), likely_threshold(0, 7)
    ((0, 'logits'), (50, 'percentages'), None)
    """
    if low < 0 < high:
        return 0, "logits"
    if low >= 0 and _HALF <= high <= _PERCENT:
        return _HALF, "percentages"
    return None


def undecided_note(low: float, high: float, name: str = "") -> str:
    """Why nothing is decided, and what to say; ``name`` is the model, where there are several."""
    of = f" of {name!r}" if name else ""
    likely = likely_threshold(low, high)
    meaning = "the score from which on a row is flagged"
    advice = f"say threshold=, {meaning}"
    if likely is not None:
        advice = f"say threshold={likely[0]} if these are {likely[1]}, or else {meaning}"
    return (
        f"the scores{of} run from {low + 0.0:g} to {high + 0.0:g} and no threshold was given, so "
        f"no row is decided on: {advice}"
    )


# Whole numbers below are told apart by float64.
WHOLE = 2.0**53


def rounded_note(farthest: float) -> str:
    """That scores as far from 0 as this may have been rounded; whoever counts sees floats alone.

    >>> rounded_note(2.0**60)[:83]
    'scores reach 1.15292e+18, and whole numbers beyond 2^53 are kept as the nearest flo'
    """
    return (
        f"scores reach {farthest:g}, and whole numbers beyond 2^53 are kept as the nearest "
        f"float64: those less than {math.ulp(farthest):g} apart may be ties here. Give smaller "
        f"numbers, such as ranks or distances from the least score"
    )


# -- probabilities ---------------------------------------------------------------------------------

Array: TypeAlias = npt.NDArray[Any]

SEVERAL = (
    "threshold= decides on one positive label; of several classes the largest probability decides"
)


def no_ranking(labels: Sequence[str]) -> str:
    """Why a score can't rank rows of several classes, and what to do."""
    shown = ", ".join(map(repr, labels[:6]))
    alike = "".join(f". Note that {note}" for note in lookalikes(labels))
    return (
        f"a score ranks rows for one positive label, but there are {len(labels)}: "
        f"{shown}{', ...' if len(labels) > 6 else ''}. Say positive= or negative=, "
        f"or give probabilities with a column a label{alike}"
    )


def listed_labels(coded: Coded, labels: Sequence[Any] | None) -> Sequence[Any] | None:
    """The labels that may occur, as they were said or as columns of probabilities name them."""
    if labels is not None or coded.columns is None:
        return labels
    return [native(name, coded.truth.kind) for name in coded.columns]


def sided(coded: Coded, positive: Any = None, negative: Any = None) -> Coded:
    """The same rows; where it is known which label is the alarm, its probability is the score.

    Which columns that concerns is told by their names alone, and so is the same for any rows.
    """
    if coded.columns is None or (positive is None and negative is None):
        return coded
    if positive is not None and negative is not None:
        raise LabelError(ONE_SIDE)
    kind = coded.truth.kind
    name = "positive" if negative is None else "negative"
    chosen = label_as(positive if negative is None else negative, kind, name)
    if chosen not in coded.columns:
        return coded  # which is said once the labels are known
    return one_score(coded, [c for c in coded.columns if (c == chosen) == (negative is None)])


def one_score(coded: Coded, positives: Sequence[str]) -> Coded:
    """The same rows with one score: that of any positive label, where they have probabilities."""
    if coded.probabilities is None:
        return coded
    chosen = [i for i, label in enumerate(coded.columns or ()) if label in positives]
    score = np.ascontiguousarray(coded.probabilities[:, chosen].sum(axis=1).clip(0, 1))
    return replace(coded, score=score, probabilities=None, columns=None)


def ranking_of(y_pred: Any, y_score: Any, y_proba: Any) -> tuple[Any, Any]:
    """The columns of what a model ranked by; one column of probabilities is a score."""
    if y_score is None and y_pred is None and y_proba is None:
        raise LabelError("give y_score, y_pred or y_proba: without one of them nothing is judged")
    if y_score is not None and y_proba is not None:
        raise ScoreError("give y_score or y_proba, not both")
    single = _one_column(y_proba)
    if single is None:
        return y_score, y_proba
    if len(single):
        low, high = extremes(single)
        if low < 0 or high > 1:
            raise ScoreError(f"probabilities lie in [0, 1]; y_proba runs from {low:g} to {high:g}")
    return single, None


def _one_column(y_proba: Any) -> Array | None:
    """Probabilities of the positive alone, where they are given as one column."""
    if hasattr(y_proba, "collect"):
        raise ScoreError("y_proba is not computed yet: collect() it first")
    if y_proba is None or isinstance(y_proba, Mapping) or hasattr(y_proba, "columns"):
        return None
    return scores_of(y_proba, "y_proba") if _is_one_column(y_proba) else None


def _is_one_column(y_proba: Any) -> bool:
    nested = isinstance(y_proba, list | tuple) and y_proba and hasattr(y_proba[0], "__len__")
    return not nested and getattr(y_proba, "ndim", 1) == 1


def probabilities_of(y_proba: Any, kind: str) -> tuple[Array, tuple[Any, ...] | None]:
    """Probabilities as an array with a column a label, and the labels where they are named."""
    columns: Mapping[Any, Any] | None = None
    if isinstance(y_proba, Mapping):
        columns = y_proba
    elif hasattr(y_proba, "columns"):
        # A dataframe may only be able to name its columns by text.
        columns = {native(str(name), kind): c for name, c in columns_of(y_proba).items()}
    if columns is not None:
        if not columns:
            raise ScoreError("y_proba has no columns; it needs one a label")
        arrays = [scores_of(column, f"y_proba[{name!r}]") for name, column in columns.items()]
        must_be_as_long(len(arrays[0]), {str(n): a for n, a in zip(columns, arrays, strict=True)})
        return np.stack(arrays, axis=1).astype(np.float64), tuple(columns)
    try:
        table = np.asarray(without_gradients(y_proba), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoreError(
            f"y_proba must be a table of numbers, a column a label: {error}"
        ) from error
    if table.ndim != 2 or table.shape[1] < 2:
        raise ScoreError(f"y_proba must have a column a label; found shape {table.shape}")
    return table, None


def probability_columns(y_proba: Any) -> dict[str, Any]:
    """Each column of probabilities by a name for it; none where they are no table."""
    if y_proba is None:
        return {}
    if isinstance(y_proba, Mapping) or hasattr(y_proba, "columns"):
        table = y_proba if isinstance(y_proba, Mapping) else columns_of(y_proba)
        return {f"y_proba[{name!r}]": column for name, column in table.items()}
    if _is_one_column(y_proba):
        return {"y_proba": y_proba}
    columns, _ = probabilities_of(y_proba, TEXT)
    return {f"y_proba[:, {i}]": column for i, column in enumerate(columns.T)}


def probability_labels(tables: Mapping[str, Any], kind: str) -> list[Any] | None:
    """The labels that the first table of probabilities with named columns names, sorted.

    So tables without names, whose columns are in sorted order, fit beside it. ``kind`` is that of
    the truth's labels.
    """
    for table in tables.values():
        if isinstance(table, Mapping) or hasattr(table, "columns"):
            names = probabilities_of(table, kind)[1] or ()
            return sorted(names, key=lambda n: (isinstance(n, str), n))
    return None


def column_labels(
    coded: Coded,
    width: int,
    names: tuple[Any, ...] | None,
    labels: Sequence[Any] | None,
    unknown: Any,
) -> tuple[str, ...]:
    """The labels of ``width`` columns of probabilities: as named, as listed, or sorted."""
    if names is None and labels is None:
        return _sorted_columns(coded, width, unknown)
    if unknown is not None:
        must_not_list(unknown, labels)
    must_have_order("labels=", labels)
    named = names if names is not None else tuple(labels or ())
    if len(named) != width:
        raise ScoreError(
            f"y_proba has {width} columns, but labels= names {len(named)}: {list(named)}"
        )
    columns = tuple(label_text(name) for name in named)
    absent = [name for name in coded.truth.names if name not in columns]
    if absent and labels is None and unknown is None:
        raise LabelError(no_column(absent, columns))
    return columns


def no_column(absent: Sequence[str], columns: Sequence[str]) -> str:
    """What to say of rows of a label that has no column of probabilities."""
    return (
        f"rows are labelled {', '.join(map(repr, absent[:6]))}, of which y_proba has no "
        f"column; it has {', '.join(map(repr, columns[:6]))}. Give a column a label, or name "
        f"the one label that the model does not know with unknown="
    )


def must_not_list(unknown: Any, labels: Sequence[Any] | None) -> None:
    """Refuse a label that is listed among the known ones and said to be unknown."""
    text = label_text(unknown)
    if labels is not None and text in {label_text(name) for name in labels}:
        raise LabelError(
            f"labels= lists {text!r}, which unknown= says that the model does not know: list the "
            f"known labels"
        )


def no_unknown(unknown: str, labels: Sequence[str]) -> str:
    """What to say where no row has the label that the model does not know."""
    shown = ", ".join(map(repr, labels[:6]))
    return (
        f"unknown={unknown!r} does not occur; the labels are {shown}. If it may be absent, list "
        f"the known ones in labels="
    )


def _sorted_columns(coded: Coded, width: int, unknown: Any) -> tuple[str, ...]:
    names = {*coded.truth.names, *(() if coded.decision is None else coded.decision.names)}
    if unknown is not None:
        names.discard(label_text(unknown))
    numbers = coded.truth.kind == NUMBER
    expected = sorted(names, key=lambda n: int(n) if numbers else n)
    if width != len(expected):
        if unknown is not None and label_text(unknown) not in coded.truth.names:
            raise LabelError(no_unknown(label_text(unknown), coded.truth.names))
        raise ScoreError(
            f"y_proba has {width} columns, but there are {len(expected)} labels: "
            f"{expected}. Say labels=, or give y_proba as a mapping from label to column"
        )
    return tuple(expected)


def must_be_probabilities(table: Array) -> None:
    """Refuse a row whose probabilities are none, or do not sum to 1."""
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        shown = table[bad[0]].tolist()
        raise ScoreError(f"y_proba must be finite numbers; {row_at(bad[0])} is {shown}")
    bad = np.flatnonzero(not_probabilities(table).any(axis=1))
    if len(bad):
        shown = table[bad[0]].tolist()
        raise ScoreError(f"probabilities lie in [0, 1]; {row_at(bad[0])} is {shown}")
    total = table.sum(axis=1)
    if off_one(total).any():
        row = int(np.abs(total - 1).argmax())
        raise ScoreError(
            f"the probabilities of a row must sum to 1 within {SUM_TOLERANCE:g}; {row_at(row)} "
            f"sums to {significant(total[row], 9)}"
        )
