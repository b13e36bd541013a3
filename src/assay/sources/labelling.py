"""Which label is the positive one, and in which order labels stand."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import LabelError
from assay.sources.coded import Labels
from assay.sources.columns import BOOLEAN, NUMBER, TEXT, label_kind, label_text, native

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
    found = _names(truth, decision, listed=labels is not None)
    allowed = None
    if labels is not None:
        if isinstance(labels, str) or not hasattr(labels, "__iter__"):
            raise LabelError(f"labels= is a list of labels; found {labels!r}")
        allowed = [label_as(label, kind, "labels") for label in labels]
        unknown = [name for name in found if name not in allowed]
        if unknown:
            raise LabelError(
                f"the data hold {shown_labels(unknown)}, which labels= does not list: "
                f"{shown_labels(allowed)}"
            )
    names = found if allowed is None else list(dict.fromkeys([*allowed, *found]))
    chosen = _chosen(names, kind, positive=positive, negative=negative)
    return replace(chosen, notes=(*chosen.notes, *lookalikes(names)))


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
        alike.setdefault(_folded(name), []).append(name)
    return [
        f"the labels {shown_labels(written)} differ only in how they are written (case, blanks, "
        f"letters or a decimal point) and count as different labels"
        for written in alike.values()
        if len(written) > 1
    ]


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).strip().casefold()
    return plain.removesuffix(".0") if plain.removesuffix(".0").lstrip("-").isdecimal() else plain


def _names(truth: Labels, decision: Labels | None, *, listed: bool) -> list[str]:
    if decision is None:
        return list(truth.names)
    if truth.kind != decision.kind:
        raise LabelError(
            f"labels are {truth.kind} ({shown_labels(truth.names, truth.kind)}) but decisions are "
            f"{decision.kind} ({shown_labels(decision.names, decision.kind)}): the same label must "
            f"be written the same way in both. Convert one of them"
        )
    names = list(dict.fromkeys([*truth.names, *decision.names]))
    # Two names may be a batch of errors alone; more are two ways to write the same labels.
    if not listed and len(names) > 2 and not set(truth.names) & set(decision.names):
        raise LabelError(
            f"labels ({shown_labels(truth.names)}) and decisions ({shown_labels(decision.names)}) "
            f"have no value in common. Check spelling, case and blanks, or map one to the other"
        )
    return names


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
    rest = _rest(chosen, others)
    if positive_side:
        position = {name: int(name == chosen) for name in names}
        return Labelling((rest, chosen), chosen, position)
    position = {name: int(name != chosen) for name in names}
    return Labelling((chosen, rest), rest, position)


def _rest(chosen: str, others: Sequence[str]) -> str:
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
        rest = _rest(alarms[0], [])
        note = f"{alarms[0]!r} was taken as the positive label; it is the only one"
        return Labelling((rest, alarms[0]), alarms[0], {alarms[0]: 1}, (note,))
    if len(names) == 1 and quiet:
        rest = _rest(quiet[0], [])
        note = f"{quiet[0]!r} was taken as the negative label; it is the only one"
        return Labelling((quiet[0], rest), rest, {quiet[0]: 0}, (note,))
    raise LabelError(
        f"there is only the label {_one(names[0], kind)}, and nothing tells whether it is the "
        f"positive. Say positive={_one(names[0], kind)} or negative={_one(names[0], kind)}"
    )


def _is_harmless(name: str, other: str) -> bool:
    """Whether one label is known as the negative of the two."""
    word = name.casefold()
    if word in _OPPOSITE:
        return word in NEGATIVE_WORDS and other.casefold() == _OPPOSITE[word]
    # Another spelling of a word for what is harmless is no alarm.
    return word in NEGATIVE_WORDS and _folded(other) not in NEGATIVE_WORDS


def _untold(names: Sequence[str], kind: str) -> str:
    """Why the alarm of two labels has to be said, and how."""
    first, second = (_one(name, kind) for name in names)
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


def _one(name: str, kind: str) -> str:
    """A label as it would be typed."""
    return repr(name) if kind == TEXT else str(native(name, kind))


def shown_labels(names: Sequence[str], kind: str = TEXT) -> str:
    """The first six of some labels as they would be typed, and how many more there are."""
    shown = ", ".join(_one(name, kind) for name in list(names)[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
