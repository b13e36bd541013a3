"""What a report claims: keys and what they speak of, numbers, counts and labels.

And an empty claims file to fill in.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.v02.decisions.audit.verdicts import Printed
from assay.errors import InputError, LabelError, UnknownMeasure
from assay.v02.formula import of_classes
from assay.v02.inference import Quantity
from assay.v02.measures import (
    ACCURACY,
    BALANCED_ACCURACY,
    CATALOGUE,
    F1,
    FALSE_POSITIVE_RATE,
    MCC,
    PRECISION,
    RECALL,
    ROC_AUC,
    SPECIFICITY,
    Measure,
    find,
    parse,
)
from assay.v02.sources.labelling import NEGATIVE_WORDS, POSITIVE_WORDS, infer
from assay.v02.tally import Confusion

# In the order in which they are tried where a key does not say which.
AVERAGES = ("weighted", "macro", "micro")
STATISTICS = ("ci", "se", "sd", "mean")
# Also keeps the beta of an F score within floats.
LONGEST_KEY = 200


@dataclass(frozen=True)
class Key:
    """What a reported number is: a measure, of which label or average, and which statistic of it.

    ``precision.normal`` is the measure of a label, ``f1.macro`` an average, ``accuracy.ci`` an
    interval of a measure, ``f1.macro.se`` the standard error of an average. The suffixes macro,
    micro, weighted, ci, se, sd and mean are reserved; any other is a label.
    """

    text: str
    measure: Measure
    label: str | None = None
    average: str | None = None
    statistic: str | None = None
    spelled: str = ""

    @property
    def value(self) -> Key:
        """The key of the value that a statistic is of: ``accuracy`` for ``accuracy.ci``."""
        if self.statistic is None:
            return self
        return replace(self, text=self.text[: -len(self.statistic) - 1], statistic=None)

    @property
    def bare(self) -> bool:
        """Whether it names neither a label nor an average."""
        return self.label is None and self.average is None

    @property
    def bounded(self) -> bool:
        """Whether no value can be beyond 1 or -1, so that a larger number is a percentage."""
        low, high = self.measure.range
        return low >= -1 and high <= 1


def key_of(text: str) -> Key:
    """Read a key of the table of reported numbers; the longest measure name wins."""
    if len(text) > LONGEST_KEY:
        raise InputError(f"the key {text[:40]!r}... is longer than {LONGEST_KEY} characters")
    try:
        measure, suffix = parse(text)
    except UnknownMeasure as unknown:
        raise InputError(f"the key {text!r}: {unknown}") from unknown
    statistic = label = average = None
    rest = suffix
    if rest is not None:
        head, dot, tail = rest.rpartition(".")
        if tail in STATISTICS:
            statistic, rest = tail, (head if dot else None)
            # The spread of a mean of folds is the spread of the folds.
            if rest is not None and statistic != "mean":
                rest = rest.removesuffix("mean").removesuffix(".") if _of_mean(rest) else rest
                rest = rest or None
    if rest in AVERAGES:
        average = rest
    else:
        label = rest
    spelled = text if suffix is None else text[: -len(suffix) - 1]
    return Key(text, measure, label, average, statistic, spelled)


def _of_mean(suffix: str) -> bool:
    return suffix == "mean" or suffix.endswith(".mean")


# -- what a key may mean -------------------------------------------------------------------------


@dataclass(frozen=True)
class Meaning:
    """One thing that a key may stand for: a measure of a label, of an average, or of all classes.

    ``words`` say which, where there are several. A ``convention`` is an average over two classes
    where the value of the positive one is expected.
    """

    measure: Measure
    label: str | None = None
    average: str | None = None
    words: str = ""
    convention: bool = False

    def quantity(self, labels: Sequence[str]) -> Quantity | None:
        """Its formula on a matrix of these labels; None where no matrix gives it."""
        measure = self.measure
        if self.average is not None:
            if not measure.averages or measure.formula is None:
                return None
            return Quantity(of_classes(measure.formula, self.average))
        if self.label is not None:
            if self.label not in labels or measure.formula is None:
                return None
            return Quantity(measure.formula, label=list(labels).index(self.label))
        return None if measure.classes is None else Quantity(measure.classes)


def meanings(key: Key, positive: str | None) -> tuple[Meaning, ...]:
    """All that a key may stand for, the usual first; ``positive`` is None for K classes.

    A bare one-sided key of K classes is some average; of two classes it is the value of the
    positive one, or by a convention an average too. Papers on UNSW-NB15 call the mean of the false
    positive and false negative rates the false alarm rate (Moustafa and Slay 2016), whatever the
    columns beside it are: the macro average of the other use of that name.

    >>> [each.words for each in meanings(key_of("f1"), None)]
    ['weighted average', 'macro average', 'micro average']
    """
    readings: list[Meaning] = []
    for measure, words in measures_of(key):
        averaged = measure.averages and measure.formula is not None
        if not key.bare:
            readings.append(Meaning(measure, key.label, key.average, words))
        elif positive is not None:
            readings.append(Meaning(measure, positive, None, words))
        elif not averaged:
            readings.append(Meaning(measure, words=words))
        if key.bare and averaged and positive is not None and key.spelled in measure.other_uses:
            readings.append(Meaning(measure, None, "macro", f"{words}, mean of both classes"))
        if key.bare and averaged:
            readings += _averages(measure, words, convention=positive is not None)
    return tuple(sorted(readings, key=lambda meaning: meaning.convention))


def _averages(measure: Measure, words: str, *, convention: bool) -> Iterator[Meaning]:
    for average in AVERAGES:
        said = f"{words}, {average} average" if words else f"{average} average"
        yield Meaning(measure, None, average, said, convention)


def measures_of(key: Key) -> Iterator[tuple[Measure, str]]:
    """The measures that the name in a key may stand for, and what to call them if they are many."""
    others = [measure for measure in CATALOGUE if key.spelled in measure.other_uses]
    yield key.measure, key.measure.slug.upper() if others else ""
    for other in others:
        yield other, other.slug.upper()
    if key.label is not None and key.measure.of_a_class is not None:
        meant = find(key.measure.of_a_class)
        yield meant, meant.name.replace("_", " ")


# -- claims --------------------------------------------------------------------------------------

BINARY_CELLS = ("tn", "fp", "fn", "tp")
Reported = Printed | tuple[Printed, Printed]


@dataclass(frozen=True)
class Calculation:
    """A line of plain arithmetic and the number that it is said to give."""

    expression: str
    reported: Printed


@dataclass(frozen=True)
class Claim:
    """One result as reported.

    ``labels`` are [negative, positive] for two classes, where both are known; ``matrix`` is whole
    (rows are the truth), or None. ``cells`` are binary cells where one or more are missing.
    ``support`` are rows by label. ``positive`` is None for K classes. ``folds`` are values fold by
    fold, by the text of their measure. ``train`` are rows of the training part by label, or (two
    classes) its cells, where they are told. ``dataset`` is the name of a well-known set.
    ``interval`` and ``level`` name the method of the reported intervals, where it is told;
    ``extra_level`` is one more level to try where it is not.
    ``percents`` is whether some numbers were read as percentages whose sign was left out,
    ``notes`` what had to be assumed. Unless ``exhaustive`` rows may have other labels than these,
    or several of them. ``table`` is the table that the claim is a row of.
    """

    name: str
    source: str = ""
    positive: str | None = None
    negative: str | None = None
    labels: tuple[str, ...] = ()
    matrix: Confusion | None = None
    cells: Mapping[str, int] = field(default_factory=dict)
    support: Mapping[str, int] = field(default_factory=dict)
    n: Printed | None = None
    reported: Mapping[str, Reported] = field(default_factory=dict)
    folds: Mapping[str, tuple[Printed, ...]] = field(default_factory=dict)
    aggregate: str | None = None
    arithmetic: tuple[Calculation, ...] = ()
    dataset: str | None = None
    train: Mapping[str, int] = field(default_factory=dict)
    interval: str | None = None
    level: float | None = None
    extra_level: float | None = None
    file: str = ""
    percents: bool = False
    notes: tuple[str, ...] = ()
    exhaustive: bool = True
    table: str = ""

    @property
    def binary(self) -> bool:
        """Whether one label is the positive."""
        return self.positive is not None

    @property
    def size(self) -> int | None:
        """The stated size, where it is a whole number."""
        stated = self.n is not None and self.n.value.denominator == 1 and self.n.unit == 1
        return int(self.n.value) if self.n is not None and stated else None

    def spellings(self, reported: Printed, key: Key) -> tuple[Printed, ...]:
        """What digits may mean: as they stand, or percent where the claim leaves signs out."""
        if self.percents and key.bounded and not reported.percent:
            return reported, reported.as_percent()
        return (reported,)

    def with_percents(self) -> Claim:
        """The claim with numbers beyond the range of their measure read as percentages.

        96.7 for an accuracy can be nothing else. An interval is read so where both of its ends are
        beyond; values of folds, where one is.
        """
        reported = {key: _in_percent(key, number) for key, number in self.reported.items()}
        folds = {key: _folds_in_percent(key, values) for key, values in self.folds.items()}
        changed = reported != dict(self.reported) or folds != dict(self.folds)
        return replace(self, reported=reported, folds=folds, percents=self.percents or changed)


def _in_percent(key: str, number: Reported) -> Reported:
    if not key_of(key).bounded:
        return number
    if isinstance(number, Printed):
        return number.as_percent() if _beyond(number) else number
    low, high = number
    return (low.as_percent(), high.as_percent()) if _beyond(low) and _beyond(high) else number


def _folds_in_percent(key: str, values: Iterable[Printed]) -> tuple[Printed, ...]:
    values = tuple(values)
    if not key_of(key).bounded or not any(map(_beyond, values)):
        return values
    return tuple(value if value.percent else value.as_percent() for value in values)


def _beyond(number: Printed) -> bool:
    return not number.percent and abs(number.value) > 1


# -- which label is which ------------------------------------------------------------------------

POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True)
class ClaimedCounts:
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
class LabelledCounts:
    """The labels in order, the matrix if it is whole, and what had to be assumed."""

    labels: tuple[str, ...] = ()
    positive: str | None = None
    negative: str | None = None
    matrix: Confusion | None = None
    cells: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def labelled(counts: ClaimedCounts, keys: Sequence[Key]) -> LabelledCounts:
    """Decide on the labels by the rules of the contract; keys may name labels too."""
    if counts.positive is not None and counts.positive == counts.negative:
        raise LabelError(f"positive and negative are both {counts.positive!r}")
    names = _names(counts)
    if counts.confusion is not None and not names:
        counted = _of_cells(counts, _suffixes(keys))
    elif len(names) > 2 or (names and not counts.exhaustive):
        counted = _many(counts, names)
    elif names:
        counted = _two_labels(counts, names)
    else:
        # No counts: any suffix is a label.
        return LabelledCounts(positive=counts.positive, negative=counts.negative)
    _check_suffixes(keys, counted.labels)
    _check_train(counts.train, counted.labels)
    return counted


def _names(counts: ClaimedCounts) -> tuple[str, ...]:
    """All labels that the counts name; those of labels and support must be the same."""
    support = tuple(counts.support)
    if counts.labels and support and set(counts.labels) != set(support):
        raise LabelError(f"support names {_named(support)}, but labels are {_named(counts.labels)}")
    names = counts.labels or support
    if counts.confusion is not None and len(names) > 2:
        raise LabelError(f"confusion has two labels; found {_named(names)}")
    if len(names) == 1:
        # A support of one label, beside the name of the other.
        other = [n for n in (counts.positive, counts.negative) if n is not None and n not in names]
        names = (*names, *other)
    if len(names) == 1:
        raise LabelError(f"there is only the label {names[0]!r}; expected two or more")
    return names


def _of_cells(counts: ClaimedCounts, suffixes: Sequence[str]) -> LabelledCounts:
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
            f"the labels are {_named(known)}, but keys name {_named(others)}; say "
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
    return _of_two(counts, positive, negative, notes)


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
            f"keys name {_named(suffixes)}, and nothing tells which one is the alarm; say positive"
        )
    positive = alarms[0] if alarms else f"not {quiet[0]}"
    return positive, quiet[0] if quiet else f"not {positive}"


def _two_labels(counts: ClaimedCounts, names: tuple[str, ...]) -> LabelledCounts:
    """Two labels, the positive one given, or inferred by the contract's list."""
    notes: list[str] = []
    for side, label in ((POSITIVE, counts.positive), (NEGATIVE, counts.negative)):
        if label is not None and label not in names:
            raise LabelError(f"{side} = {label!r} is not among the labels {_named(names)}")
    if counts.positive is not None:
        positive = counts.positive
    elif counts.negative is not None:
        positive = next(name for name in names if name != counts.negative)
    else:
        try:
            inferred = infer(names)
        except LabelError as unknown:
            raise LabelError(
                f"the labels are {_named(names)}, and nothing tells which one is the alarm; say "
                f"positive = {names[0]!r} or positive = {names[1]!r}"
            ) from unknown
        positive = inferred.positive or ""
        notes += inferred.notes
    negative = next(name for name in names if name != positive)
    return _of_two(counts, positive, negative, notes)


def _of_two(
    counts: ClaimedCounts, positive: str, negative: str, notes: Sequence[str]
) -> LabelledCounts:
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
    notes = (*notes, *_called_as_suffixes(labels))
    return LabelledCounts(labels, positive, negative, matrix, cells, notes)


def _many(counts: ClaimedCounts, names: tuple[str, ...]) -> LabelledCounts:
    notes = []
    for side, label in ((POSITIVE, counts.positive), (NEGATIVE, counts.negative)):
        if label is not None and label not in names:
            raise LabelError(f"{side} = {label!r} is not among the labels {_named(names)}")
        if label is not None:
            notes.append(f"{side} = {label!r} was passed over: there are {len(names)} classes")
    matrix = None if counts.matrix is None else Confusion(counts.labels, counts.matrix)
    notes += _called_as_suffixes(names)
    return LabelledCounts(names, None, None, matrix, notes=tuple(notes))


def safe_label(label: str) -> str:
    """A label as a key can hold it: words such as macro and mean are no labels there."""
    last = label.rpartition(".")[2]
    return f"{label} (class)" if last in (*AVERAGES, *STATISTICS) else label


def _called_as_suffixes(labels: Sequence[str]) -> Iterator[str]:
    """What to do about labels that no key can name."""
    for label in labels:
        if (safe := safe_label(label)) != label:
            last = label.rpartition(".")[2]
            yield (
                f"keys that end in .{last} are not of the label {label!r}, since {last} is a word "
                f"of averages, intervals and folds: to report a number of the label, call it "
                f"{safe!r} in the labels and the keys"
            )


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
                f"{_named(labels)}{hint}"
            )


def _check_train(train: Mapping[str, int], labels: Sequence[str]) -> None:
    if set(train) <= set(BINARY_CELLS):
        return
    for label in train:
        if label not in labels:
            raise LabelError(
                f"train names {label!r}; expected the labels {_named(labels)}, or tn, fp, fn, tp"
            )


def _named(names: Sequence[str]) -> str:
    some = ", ".join(repr(name[:40]) for name in names[:6])
    return some + (f" and {len(names) - 6} more" if len(names) > 6 else "")


# -- an empty claims file --------------------------------------------------------------------------

_BINARY = (ACCURACY, PRECISION, RECALL, SPECIFICITY, FALSE_POSITIVE_RATE, F1, MCC, ROC_AUC)
_OF_CLASS = (PRECISION, RECALL, F1)
_INTRO = """\
# Claims to audit: fill in what the paper prints, then run  assay audit FILE
# What is left empty ("") is passed over. Numbers stand in quotes, as printed, with all digits.
# Other measures are welcome: assay measures lists them. "f1.macro" is an average, "f1.attack" is
# that of a label, "accuracy.ci" = ["", ""] an interval.
"""
_CELLS = """\
# The counts, as far as they are told; a cell may stay empty.
confusion = { tn = "", fp = "", fn = "", tp = "" }
"""
_ROWS = """\
# Rows of the test set by class, where the paper tells them; n is their sum as it is stated.
support = { negative = "", positive = "" }
n = ""
"""


def template(kind: str = "binary") -> str:
    """A claims file of a kind, to be filled in.

    >>> print(template("folds").splitlines()[5])
    [[claim]]
    """
    if kind not in TEMPLATES:
        raise InputError(f"found the template {kind!r}; expected {', '.join(TEMPLATES)}")
    return TEMPLATES[kind]


def _lines(measures: tuple[Measure, ...], suffix: str = "") -> str:
    return "".join(_line(measure, suffix) for measure in measures)


def _line(measure: Measure, suffix: str) -> str:
    key = f'"{measure.name}.{suffix}"' if suffix else measure.name
    start = f'{key} = ""'
    return f"{start:<34}# {measure.title}\n"


def _binary() -> str:
    return f"""{_INTRO}
[[claim]]
name = "model, test set"
source = "table 2"
positive = "positive"             # the alarm, as the paper calls it: attack, malware, phishing ...
negative = "negative"
{_CELLS}{_ROWS}[claim.reported]
{_lines(_BINARY)}"""


def _table() -> str:
    claims = "".join(
        f'\n[[claim]]\nname = "model {letter}"\n[claim.reported]\n{_lines(_BINARY[:6])}'
        for letter in "AB"
    )
    return f"""{_INTRO}
# What all rows of the table share: one test set.
[shared]
source = "table 2"
positive = "positive"             # the alarm, as the paper calls it
negative = "negative"
{_ROWS}{claims}"""


def _classes() -> str:
    of_class = "".join(_lines(_OF_CLASS, label) for label in ("A", "B", "C"))
    means = "".join(_lines(_OF_CLASS, average) for average in ("macro", "weighted"))
    return f"""{_INTRO}
[[claim]]
name = "model, test set"
source = "table 3"
# Put the names of the classes in place of A, B and C, here and below; add lines for more.
labels = ["A", "B", "C"]
support = {{ A = "", B = "", C = "" }}
n = ""
# A confusion matrix, rows are the truth, replaces support:
# matrix = [[45, 3, 2], [4, 38, 3], [1, 2, 52]]
[claim.reported]
{_lines((ACCURACY, BALANCED_ACCURACY))}{of_class}{means}"""


def _folds() -> str:
    return f"""{_INTRO}
[[claim]]
name = "model, 10 folds"
source = "table 4"
# Values fold by fold, where they are printed.
folds = {{ {ACCURACY.name} = ["", "", "", "", ""] }}
[claim.reported]
{_line(ACCURACY, "mean")}{_line(ACCURACY, "sd")}"""


TEMPLATES = {"binary": _binary(), "table": _table(), "classes": _classes(), "folds": _folds()}
