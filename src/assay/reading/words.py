"""Labels and decisions as people write them: which word is the alarm, and which words agree.

Nothing here sees rows. The functions take the labels that were counted, so that the answer is the
same for any part of the data that shows the same labels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import InputError, LabelError

if TYPE_CHECKING:
    import polars as pl


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Beside one of these, any other label is the alarm.
HARMLESS = _words(
    "normal benign ham legitimate legit goodware clean safe harmless inlier legitim "
    "harmlos allow allowed pass passed accept accepted permit permitted"
)
# The first is harmless beside the second, whatever either means beside others.
OPPOSITES = frozenset(
    (quiet, loud)
    for quiet, *alarms in map(
        str.split,
        (
            "0 1",
            "false true",
            "falsch wahr",
            "faux vrai",
            "falso verdadero",
            "no yes sí si",
            "n y j",
            "f t",
            "nein ja",
            "non oui",
            "negative positive",
            "neg pos",
            "good bad",
            "notuseful useful",
            "unflagged flagged",
        ),
    )
    for loud in alarms
)
_QUIET = frozenset(pair[0] for pair in OPPOSITES)
_LOUD = frozenset(pair[1] for pair in OPPOSITES)
ALARMS = _words(
    "attack malicious malware anomaly anomalous intrusion spam phishing ddos fraud "
    "fraudulent unsafe harmful injection jailbreak toxic outlier threat angriff block "
    "blocked refuse refused deny denied reject rejected flag alert alarm drop dropped "
    "quarantine quarantined truepositive tp"
)
# What analysts write when they close an alert.
_REAL = frozenset({"truepositive", "tp"})
_NOT_REAL = _words(
    "falsepositive fp benignpositive bp informational informationalexpectedactivity "
    "benigntruepositive btp"
)
UNDETERMINED = _words(
    "undetermined notset unknown unclassified unspecified verdictunspecified other new inprogress "
    "open pending"
)
# What may follow such a verdict: True Positive - Suspicious Activity.
_REASON = re.compile(r"(?:\s+-|,)\s.*$")
_MOST_VERDICTS = 50
_SIGNS = ({"-1", "1"}, {"-1", "+1"})
# Severities from the lowest to the highest, and what they are also called.
_SEVERITIES = (
    ("informational", "info", "information", "none"),
    ("low", "minor", "niedrig"),
    ("medium", "moderate", "mittel"),
    ("high", "major", "hoch"),
    ("critical", "severe", "kritisch"),
)
SEVERITY = {name: rank for rank, names in enumerate(_SEVERITIES, 1) for name in names}


def folded(name: str) -> str:
    """A label without case, blanks, or the point of a whole number.

    >>> folded(" Normal"), folded("0.0")
    ('normal', '0')
    """
    text = unicodedata.normalize("NFKC", name).strip().casefold()
    return re.sub(r"^([+-]?\d+)\.0*$", r"\1", text)


def word(name: str) -> str:
    """A label as the tables of this module write it.

    >>> word("True Positive"), word("2:anomaly"), word("-1")
    ('truepositive', 'anomaly', '-1')
    """
    text = re.sub(r"^\d+:", "", folded(name))
    return text if re.fullmatch(r"[+-]?\d+", text) else re.sub(r"[\W_]+", "", text)


def side(name: str) -> bool | None:
    """Whether a word by itself means the alarm; None where it doesn't say.

    >>> side("block"), side("No"), side("maybe")
    (True, False, None)
    """
    bare = word(name)
    if bare in ALARMS | _LOUD:
        return True
    return False if bare in HARMLESS | _QUIET | _NOT_REAL else None


def names_the_harmless(column: str, names: Collection[str]) -> bool:
    """Whether a column says which rows are harmless, so that yes is no alarm.

    >>> names_the_harmless("is_safe", ["true", "false"]), names_the_harmless("safe", ["x", "y"])
    (True, False)
    """
    bare = word(column.rpartition(".")[2]).removeprefix("is").removesuffix("score")
    plain = {word(name) for name in names} <= _QUIET | _LOUD
    return plain and bare in HARMLESS | {"safety", "trust", "reputation", "good", "valid"}


def _verdict(name: str) -> str:
    """What became of an alert, without the reason."""
    return word(_REASON.sub("", name))


def harmless_note(column: str, names: Sequence[str], argument: str = "positive") -> str:
    """What to say of a column that says which rows are harmless."""
    likely = next((name for name in names if word(name) in _QUIET), "...")
    return f"column {column!r} says which rows are harmless, so say {argument}={likely!r}"


def is_triage(names: Collection[str]) -> bool:
    """Whether labels say what became of alerts: true positive, false positive and the like."""
    if len(names) > _MOST_VERDICTS:
        return False
    words = set(map(_verdict, names))
    return bool(words & (_REAL | _NOT_REAL)) and words <= _REAL | _NOT_REAL | UNDETERMINED


def positive_of(names: Sequence[str], column: str = "") -> str | None:
    """The label that is the alarm, where the words tell, and the name of their column allows.

    >>> positive_of(["benign", "DDoS"]), positive_of(["Y", "N"]), positive_of(["-1", "1"])
    ('DDoS', 'Y', None)
    >>> positive_of(["FalsePositive", "TruePositive", "BenignPositive"])
    'TruePositive'
    """
    if names_the_harmless(column, names):
        return None
    if is_triage(names):
        return next((name for name in names if _verdict(name) in _REAL), None)
    if len(names) == 1:
        return names[0] if side(names[0]) else None
    if len(names) != 2:
        return None
    for name, other in (names, names[::-1]):
        one, beside = word(name), word(other)
        if (one, beside) in OPPOSITES:
            return other
        # Another spelling of a word for what is harmless is no alarm.
        if one in HARMLESS and beside not in HARMLESS | _QUIET:
            return other
    return None


def positive_unknown(names: Sequence[str], column: str = "") -> LabelError:
    """The refusal where nothing tells which of two labels is the alarm."""
    if names_the_harmless(column, names):
        return LabelError(harmless_note(column, names))
    first, second = (repr(name) for name in names[:2])
    if set(names) in _SIGNS:
        plus = next(name for name in names if name != "-1")
        return LabelError(
            f"the labels are -1 and {plus}, and both readings are in use: in textbooks {plus} is "
            f"the alarm (positive={plus}), for scikit-learn's outlier detectors -1 is "
            f"(positive=-1)"
        )
    return LabelError(
        f"the labels are {first} and {second}, and nothing tells which is the alarm: "
        f"say positive={first} or positive={second}"
    )


@dataclass(frozen=True)
class Matched:
    """The label that each decision stands for, and a note where they are written differently."""

    labels: Mapping[str, str]
    note: str = ""


def match_decisions(
    labels: Sequence[str],
    decisions: Sequence[str],
    *,
    positive: str | None = None,
    negative: str | None = None,
    alarm: Collection[str] = (),
    column: str = "",
) -> Matched:
    """Map decisions to labels; ``alarm`` are the decisions that count as the alarm.

    ``column`` is the name of the decisions' column, as yes in ``allowed`` is no alarm.

    >>> match_decisions(["unsafe", "safe"], ["block", "allow"]).note
    "Decision 'block' is read as 'unsafe', 'allow' as 'safe'"
    """
    if not alarm and names_the_harmless(column, decisions):
        raise LabelError(harmless_note(column, decisions, "alarm"))
    if not alarm and set(decisions) <= {*labels, *((positive,) if positive else ())}:
        return Matched({name: name for name in decisions})
    alike = {folded(label): label for label in labels}
    if not alarm and len(alike) == len(labels) and all(folded(name) in alike for name in decisions):
        return _matched({name: alike[folded(name)] for name in decisions})
    if positive is None:
        positive = positive_of(labels)
    if negative is None and positive is not None:
        others = [label for label in labels if label != positive]
        negative = others[0] if len(others) == 1 else f"not {positive}"
    sides = {name: side(name) for name in decisions}
    if alarm:
        sides = _flagged(decisions, alarm)
    if positive is None or negative is None or None in sides.values():
        unalike = set(map(folded, labels)).isdisjoint(map(folded, decisions))
        if not unalike or (positive is None and len({*labels, *decisions}) <= 2):
            return Matched({name: name for name in decisions})
        raise LabelError(
            f"labels ({shown(labels)}) and decisions ({shown(decisions)}) are written "
            f"differently, and nothing tells which decision means which label: say alarm= "
            f"with the decisions that count as the alarm, and positive= with the label"
        )
    return _matched({name: positive if flagged else negative for name, flagged in sides.items()})


def _flagged(decisions: Sequence[str], alarm: Collection[str]) -> dict[str, bool | None]:
    """Which decisions are alarms, by those that were given."""
    wanted = {folded(name) for name in alarm}
    unknown = [name for name in alarm if folded(name) not in set(map(folded, decisions))]
    if len(unknown) == len(alarm):
        raise LabelError(
            f"no decision is {shown(unknown)}; the decisions are {shown(decisions)}: say alarm= "
            f"with some of these"
        )
    return {name: folded(name) in wanted for name in decisions}


def _matched(labels: Mapping[str, str]) -> Matched:
    changed = [f"{name!r} {{}} {label!r}" for name, label in labels.items() if name != label]
    told = ", ".join(
        text.format("is read as" if place == 0 else "as") for place, text in enumerate(changed)
    )
    return Matched(labels, f"Decision {told}" if changed else "")


def shown(names: Collection[str]) -> str:
    """The first six of some labels, and how many more there are."""
    listed = ", ".join(map(repr, list(names)[:6]))
    return listed + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def lookalikes(names: Sequence[str]) -> list[str]:
    """Sentences on labels that may be one label written in several ways.

    >>> lookalikes(["DoS", "dos", "scan"])
    ["The labels 'DoS', 'dos' differ only in case, blanks or a decimal point: are they the same?"]
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(folded(name), []).append(name)
    return [
        f"The labels {shown(same)} differ only in case, blanks or a decimal point: are they the "
        f"same?"
        for same in alike.values()
        if len(same) > 1
    ]


# -- severities ------------------------------------------------------------------------------------


def parse_order(text: str) -> dict[str, int]:
    """The ranks of words in an order that was given, highest first; the lowest has rank 1.

    >>> parse_order("Critical > High > Low")
    {'low': 1, 'high': 2, 'critical': 3}
    """
    words = [folded(part) for part in text.split(">")]
    if len(words) < 2 or not all(words) or len(set(words)) < len(words):
        raise InputError(
            f"order must name each word once, highest first, such as 'Critical > High > Medium > "
            f"Low'; found {text!r}"
        )
    return {name: rank for rank, name in enumerate(reversed(words), 1)}


def is_severity(names: Collection[str], ranks: Mapping[str, int] = SEVERITY) -> bool:
    """Whether all words have a rank."""
    return bool(names) and all(folded(name) in ranks for name in names)


def rank_column(name: str, ranks: Mapping[str, int] = SEVERITY) -> pl.Expr:
    """The expression that reads words as their ranks, null for other words."""
    import polars as pl

    text = pl.col(name).cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.replace_strict(dict(ranks), default=None, return_dtype=pl.Float64)


# -- columns of labels -----------------------------------------------------------------------------


def label_column(name: str, dtype: pl.DataType, names: Collection[str]) -> pl.Expr:
    """The expression that reads labels as text: 1.0 as 1, and null where none was determined.

    ``names`` are labels that were seen; they tell how the column is written.
    """
    import polars as pl

    column = pl.col(name)
    if dtype.is_float():
        return (
            pl.when(column == column.floor())
            .then(column.cast(pl.Int64, strict=False))
            .cast(pl.String)
        )
    text = column.cast(pl.String)
    if names and all(re.fullmatch(r"\s*[+-]?\d+(\.0*)?\s*", each) for each in names):
        text = text.str.replace(r"^\s*([+-]?\d+)(?:\.0*)?\s*$", "${1}")
    if is_triage(names):
        text = text.str.replace(_REASON.pattern, "")
        bare = text.str.to_lowercase().str.replace_all(r"[\W_]+", "")
        text = pl.when(~bare.is_in(sorted(UNDETERMINED))).then(text)
    return text
