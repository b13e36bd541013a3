"""What a reported key speaks of: the one place where a key is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.errors import InputError, UnknownMeasure
from assay.formula import of_classes
from assay.inference import Quantity
from assay.measures import CATALOGUE, Measure, find, parse

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


# -- what a key may mean ---------------------------------------------------------------------------


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
    found: list[Meaning] = []
    for measure, words in measures_of(key):
        averaged = measure.averages and measure.formula is not None
        if not key.bare:
            found.append(Meaning(measure, key.label, key.average, words))
        elif positive is not None:
            found.append(Meaning(measure, positive, None, words))
        elif not averaged:
            found.append(Meaning(measure, words=words))
        if key.bare and averaged and positive is not None and key.spelled in measure.other_uses:
            found.append(Meaning(measure, None, "macro", f"{words}, mean of both classes"))
        if key.bare and averaged:
            found += _averages(measure, words, convention=positive is not None)
    return tuple(sorted(found, key=lambda meaning: meaning.convention))


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
