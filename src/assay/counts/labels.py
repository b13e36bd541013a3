"""Which label is the alarm: given, or known from a short list of words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import LabelError
from assay.text import quote

# Labels that are harmless beside any other label, or only beside their opposite.
HARMLESS = frozenset({"normal", "benign", "ham", "legitimate", "goodware", "clean"})
OPPOSITES = {"0": "1", "false": "true", "no": "yes"}
_NUMBER = re.compile(r"[+-]?\d+")
_MOST_SHOWN = 6


@dataclass(frozen=True)
class Labels:
    """The labels in order (the negative one first), and the place of each name among them.

    ``positive`` is None for three and more labels. ``notes`` say what was inferred.
    """

    labels: tuple[str, ...]
    positive: str | None
    places: Mapping[str, int]
    notes: tuple[str, ...] = ()


def resolve_labels(
    names: Sequence[str],
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
) -> Labels:
    """Decide which label is the alarm; ``names`` are the labels that occur.

    ``positive`` is the label that is the alarm, or ``negative`` the only one that is not;
    ``labels`` lists those that may occur.

    >>> resolve_labels(["spam", "ham"]).labels
    ('ham', 'spam')
    >>> resolve_labels(["normal", "worm", "ddos"], negative="normal").labels
    ('normal', 'not normal')
    """
    names = list(names)
    if labels is not None:
        listed = _listed(labels, names)
        unlisted = [name for name in names if name not in listed]
        if unlisted:
            raise LabelError(
                f"the data have {shown(unlisted)}, which labels= does not list: {shown(listed)}"
            )
        names = listed
    if not names:
        raise LabelError("no row has a label")
    if positive is not None and negative is not None:
        raise LabelError("give positive= or negative=, not both")
    if positive is not None:
        chosen = _occurring("positive", positive, names)
        others = [name for name in names if name != chosen]
        places = {name: int(name == chosen) for name in names}
        return Labels((_name_of(others, chosen), chosen), chosen, places)
    if negative is not None:
        chosen = _occurring("negative", negative, names)
        others = [name for name in names if name != chosen]
        places = {name: int(name != chosen) for name in names}
        other = _name_of(others, chosen)
        return Labels((chosen, other), other, places)
    if len(names) > 2:
        ordered = tuple(sorted(names))
        return Labels(ordered, None, {name: i for i, name in enumerate(ordered)})
    return _inferred(names)


def label_text(value: Any) -> str:
    """A label as text: integers without a decimal point, booleans as true and false.

    >>> label_text(True), label_text(1.0), label_text("1.0")
    ('true', '1', '1.0')
    """
    item = getattr(value, "item", None)
    value = item() if callable(item) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int) and value != "":
        return str(value)
    raise LabelError(f"a label is text, an integer or a boolean; found {quote(value)}")


def shown(names: Sequence[str]) -> str:
    """The first few of some labels as they would be typed, and how many more there are.

    >>> shown(["attack", "1"])
    "'attack', 1"
    """
    listed = ", ".join(_typed(name) for name in names[:_MOST_SHOWN])
    more = len(names) - _MOST_SHOWN
    return f"{listed} and {more} more" if more > 0 else listed


def is_harmless(name: str, beside: str) -> bool:
    """Whether a label is a usual word for harmless rows, and the one beside it is not.

    >>> is_harmless("Benign", beside="attack"), is_harmless("0", beside="2")
    (True, False)
    """
    name, beside = name.strip().lower(), beside.strip().lower()
    return OPPOSITES.get(name) == beside or (name in HARMLESS and beside not in HARMLESS)


def _inferred(names: Sequence[str]) -> Labels:
    """The alarm of two labels, or of one, by the short list of words."""
    if len(names) == 1:
        return _only(names[0])
    for negative, positive in (names, names[::-1]):
        if is_harmless(negative, positive):
            note = (
                f"{_typed(positive)} is the positive label, since the other is {_typed(negative)}"
            )
            return Labels((negative, positive), positive, {negative: 0, positive: 1}, (note,))
    first, second = sorted(names)
    if {first, second} in ({"-1", "1"}, {"-1", "+1"}):
        minus, plus = sorted((first, second), key=lambda name: name != "-1")
        raise LabelError(
            f"the labels are {minus} and {plus}, and both conventions are in use: in textbooks the "
            f"alarm is {plus} (say positive={plus}), for scikit-learn's outlier detectors it is "
            f"{minus} (say positive={minus})"
        )
    one, other = _typed(first), _typed(second)
    raise LabelError(
        f"the labels are {one} and {other}, and neither is known to be harmless: give "
        f"positive={one} or positive={other}"
    )


def _only(name: str) -> Labels:
    """The only label, if it is a word that says on which side it is."""
    word = name.strip().lower()
    positives = {positive: negative for negative, positive in OPPOSITES.items()}
    if word in positives:
        note = f"{_typed(name)} is the positive label; it is the only one"
        return Labels((positives[word], name), name, {name: 1}, (note,))
    if word in OPPOSITES or word in HARMLESS:
        other = OPPOSITES.get(word, f"not {name}")
        note = f"{_typed(name)} is the negative label; it is the only one"
        return Labels((name, other), other, {name: 0}, (note,))
    raise LabelError(
        f"there is only the label {_typed(name)}: give positive={_typed(name)} or "
        f"negative={_typed(name)}"
    )


def _listed(labels: Any, names: Sequence[str]) -> list[str]:
    if isinstance(labels, str | set | frozenset) or not hasattr(labels, "__iter__"):
        raise LabelError(f"labels= is a list of labels; found {quote(labels)}")
    return list(dict.fromkeys(_as_written(label, names) for label in labels))


def _occurring(role: str, value: Any, names: Sequence[str]) -> str:
    text = _as_written(value, names)
    if text not in names:
        raise LabelError(
            f"{role}={_typed(text)} does not occur; the labels are {shown(sorted(names))}. If it "
            f"may be absent, list all labels in labels="
        )
    return text


def _as_written(value: Any, names: Sequence[str]) -> str:
    """A label that was given, as the data write it: true and 1 are the same beside each other."""
    text = label_text(value)
    twin = {"true": "1", "false": "0", "1": "true", "0": "false"}.get(text, text)
    return twin if twin in names and text not in names else text


def _name_of(others: Sequence[str], chosen: str) -> str:
    """What all labels but one are called together."""
    if len(others) == 1:
        return others[0]
    word = chosen.lower()
    opposite = OPPOSITES | {positive: negative for negative, positive in OPPOSITES.items()}
    return f"not {chosen}" if others or word not in opposite else opposite[word]


def _typed(name: str) -> str:
    return name if _NUMBER.fullmatch(name) else repr(name)
