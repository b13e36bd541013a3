"""What is checked, one part or two made comparable; what a finding is; and words of messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.findings.finding import Code, Severity
from assay.v02.evaluation.wording import name, some
from assay.v02.learn.checks.columns import ColumnSplit, Facts, Signal, facts_of, identifier, signal_of
from assay.v02.learn.checks.equal_rows import (
    COARSE,
    COARSER,
    FINE,
    EqualRows,
    equal_rows,
    light,
    rare,
    rounded_frame,
)
from assay.v02.learn.data import Data
from assay.v02.learn.feature_values import texts_in
from assay.v02.number_text import significant

if TYPE_CHECKING:
    import polars as pl

    from assay.v02.learn.checks.not_better_than_trivial import Baseline
    from assay.v02.learn.checks.retest import Retest
    from assay.v02.learn.recipe import Recipe

Array: TypeAlias = npt.NDArray[Any]

# So much of one file would a random split hold out.
HELD_OUT = 0.3
LISTED = 100
TRAIN, TEST = 0, 1


@dataclass(frozen=True, eq=False)
class CheckedPart:
    """Rows to learn from, or to judge by; ``truth`` are positions in the labels of both."""

    called: str
    data: Data
    frame: pl.DataFrame
    truth: Array

    def __len__(self) -> int:
        return len(self.truth)

    def numbers(self, chosen: Array) -> tuple[int, ...]:
        """The first row numbers of a mask or of positions."""
        at = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        return tuple(int(row) for row in self.data.rows[at[:LISTED]])


@dataclass(frozen=True, eq=False)
class Case:
    """One file or two to check, and what was said about them."""

    parts: tuple[CheckedPart, ...]
    labels: tuple[str, ...]
    positive: str | None
    groups: tuple[str, ...] = ()
    time: str | None = None
    base_rate: float | None = None
    level: float = 0.95
    seed: int = 42
    notes: tuple[str, ...] = ()
    recipe: Recipe | None = None

    @property
    def train(self) -> CheckedPart:
        """The rows to learn from."""
        return self.parts[TRAIN]

    @property
    def test(self) -> CheckedPart | None:
        """The rows to judge by, where they were given."""
        return self.parts[TEST] if len(self.parts) > 1 else None

    @property
    def last(self) -> CheckedPart:
        """The part whose rows a finding lists."""
        return self.parts[-1]

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(map(len, self.parts))

    @cached_property
    def equal(self) -> EqualRows:
        """Rows that are equal, label included."""
        return equal_rows([part.frame for part in self.parts], self._truths)

    @cached_property
    def alike(self) -> EqualRows:
        """Rows whose features are equal, whatever their labels."""
        return equal_rows([part.frame for part in self.parts])

    @cached_property
    def near(self) -> EqualRows | None:
        """Rows that are equal after rounding and without identifiers, label included."""
        return self._near(COARSE)

    @cached_property
    def nearer(self) -> EqualRows | None:
        """The same with finer rounding, which chance does not survive."""
        return light(self._near(FINE))

    @cached_property
    def less_near(self) -> EqualRows | None:
        """The same with coarser rounding."""
        return light(self._near(COARSER))

    def dense(self, pairs: Callable[[EqualRows], int]) -> bool:
        """Whether rows that lie dense, and are no copies, make so many near pairs.

        The third digit leaves at most a tenth of such pairs: a ninth of those that it parts.
        """
        if self.near is None or self.less_near is None:
            return True
        exact = pairs(self.equal)
        near, before = pairs(self.near) - exact, pairs(self.less_near) - exact
        return not rare(near, (before - near) / 9)

    def _near(self, digits: int) -> EqualRows | None:
        kept = [name for name in self.train.frame.columns if name not in self.identifiers]
        if not kept:
            return None
        frames = [rounded_frame(part.frame.select(kept), digits) for part in self.parts]
        return equal_rows(frames, self._truths)

    @property
    def rounds(self) -> bool:
        """Whether there are numbers to round where near duplicates are looked for."""
        return any(each.number for name, each in self.facts.items() if name not in self.identifiers)

    @property
    def _truths(self) -> list[Array]:
        return [part.truth for part in self.parts]

    @cached_property
    def facts(self) -> Mapping[str, Facts]:
        """What each feature holds in the training part."""
        return {column.name: facts_of(column) for column in self.train.frame.get_columns()}

    @cached_property
    def identifiers(self) -> Mapping[str, str]:
        """The features that name rows, and what kind of name."""
        text = self.train.data.text
        kinds = {name: identifier(facts) for name, facts in self.facts.items() if name != text}
        return {name: kind for name, kind in kinds.items() if kind is not None}

    @cached_property
    def learned(self) -> ColumnSplit:
        """The rows that a single column is learned from, and those it is judged by."""
        if self.test is not None:
            return ColumnSplit(self.train.truth, self.test.truth, len(self.labels))
        # Held out at random, each class by itself.
        generator = np.random.default_rng(self.seed)
        place = np.empty(len(self.train))
        for label in range(len(self.labels)):
            at = np.flatnonzero(self.train.truth == label)
            place[at] = (generator.permutation(len(at)) + 0.5) / max(len(at), 1)
        held_out = place < HELD_OUT
        return ColumnSplit(self.train.truth, None, len(self.labels), held=held_out)

    @cached_property
    def signals(self) -> Mapping[str, Signal]:
        """How well each feature alone tells the label."""
        text = self.train.data.text
        return {
            name: signal_of(
                [part.frame[name] for part in self.parts], facts, self.learned, self.level
            )
            for name, facts in self.facts.items()
            if name != text and not facts.constant
        }

    @cached_property
    def baselines(self) -> tuple[Baseline, ...]:
        """The trivial models."""
        from assay.v02.learn.checks.not_better_than_trivial import baselines_of

        return baselines_of(self)

    @cached_property
    def retest(self) -> Retest | None:
        """The recipe before and after what leaks was removed, where there is one."""
        from assay.v02.learn.checks.retest import retest

        return None if self.recipe is None else retest(self, self.recipe)

    def split_apart(self, size: Array) -> float:
        """The share of held-out rows that a random split gives an equal row to learn from.

        ``size`` is for each row how many are equal, itself among them.
        """
        return float(np.mean(1 - HELD_OUT ** (size - 1.0)))

    def group(self, part: CheckedPart, column: str) -> pl.Series:
        """The values of a group column in a part."""
        values = part.data.columns.get(column)
        return part.frame[column] if values is None else values


def case_of(
    train: Data,
    test: Data | None,
    *,
    time: str | None = None,
    groups: Sequence[str] = (),
    base_rate: float | None = None,
    recipe: Recipe | None = None,
    level: float = 0.95,
    seed: int = 42,
) -> Case:
    """Make the parts comparable: the same columns of the same kinds, and the same labels."""
    given = [train] if test is None else [train, test]
    labels = _labels(given)
    frames, notes = _comparable(given)
    parts = tuple(
        CheckedPart(called, data, frame, _recoded(data, labels))
        for called, data, frame in zip(("training", "test"), given, frames, strict=False)
    )
    for data in given:
        if not len(data):
            raise InputError(f"{data.name}: there are no rows to check")
        for column in groups:
            if column not in data.columns and column not in data.frame.columns:
                raise InputError(f"{data.name} has no column {column!r} to group by")
        if time is not None and data.time is None:
            raise InputError(f"{data.name} was read without the times of column {time!r}")
    if test is not None and train.time_zoned != test.time_zoned and time is not None:
        zoned, naive = (train, test) if train.time_zoned else (test, train)
        raise InputError(
            f"column {time!r}: the times of {zoned.name} have a zone and those of {naive.name} "
            f"have none, so nothing tells which come first. Write both the same way"
        )
    positive = labels[1] if len(labels) == 2 and train.positive is not None else None
    return Case(
        parts,
        labels,
        positive,
        tuple(groups),
        time,
        base_rate,
        level,
        seed,
        tuple(notes),
        recipe,
    )


def _comparable(given: Sequence[Data]) -> tuple[list[pl.DataFrame], list[str]]:
    """Frames with the columns of the first, text where either has text."""
    import polars as pl

    first = given[0].frame
    if len(given) == 1:
        return [first], []
    other, notes = given[1].frame, []
    absent = [name for name in first.columns if name not in other.columns]
    if absent:
        raise InputError(
            f"{given[1].name} has no column {absent[0]!r}, which {given[0].name} has. Leave it out "
            f"with --drop {absent[0]!r}, or add it"
        )
    more = [name for name in other.columns if name not in first.columns]
    if more:
        shown = ", ".join(map(repr, more[:6])) + (" and more" if len(more) > 6 else "")
        notes.append(f"{given[1].name}: {shown} not in {given[0].name}, and not looked at")
    other = other.select(first.columns)
    mixed = [name for name in first.columns if first.schema[name] != other.schema[name]]
    if mixed:
        texts = [pl.col(name).map_batches(texts_in, return_dtype=pl.String) for name in mixed]
        first, other = first.with_columns(texts), other.with_columns(texts)
        shown = ", ".join(map(repr, mixed[:6])) + (" and more" if len(mixed) > 6 else "")
        notes.append(f"numbers in one part and text in the other, compared as text: {shown}")
    return [first, other], notes


def _labels(given: Sequence[Data]) -> tuple[str, ...]:
    """The labels of all parts: of two where one against the rest was asked for, else all names."""
    first, last = given[0], given[-1]
    if first.labels == last.labels:
        return first.labels
    if _both_binary(given):
        # What stands against the one label may have several names in one part and one in another.
        against_rest = [
            data.labels for data in given if any(x.startswith("not ") for x in data.labels)
        ]
        # A part of one class alone names the other after it.
        full = [data.labels for data in given if len(np.unique(data.truth)) > 1]
        if len(full) == 1:
            return full[0]
        return against_rest[0] if against_rest else first.labels
    return tuple(sorted({*first.labels, *last.labels}))


def _both_binary(given: Sequence[Data]) -> bool:
    """Whether all parts have the same negative label, or the same positive one."""
    if any(data.positive is None for data in given):
        return False
    return any(len({data.labels[i] for data in given}) == 1 for i in (0, 1))


def _recoded(data: Data, labels: tuple[str, ...]) -> Array:
    if data.labels == labels or (data.positive is not None and len(labels) == 2):
        return data.truth
    place = np.array([labels.index(label) for label in data.labels])
    return np.asarray(place[data.truth])


# -- findings --------------------------------------------------------------------------------------


def silent(done: int, total: int) -> None:
    """Progress that nobody sees."""


@dataclass(frozen=True)
class CheckFinding(Finding):
    """Something that makes an evaluation on these rows less honest than it looks.

    ``pitfall`` is one of the ten of Arp et al., such as P3. ``columns`` are those it is about, and
    ``rows`` the numbers of the first hundred rows, of the test part where there is one, else of the
    training part. ``evidence`` are the numbers behind the message.
    """

    FIRST: ClassVar[tuple[str, ...]] = (
        *("code", "severity", "message", "pitfall", "columns", "rows", "evidence"),
    )

    pitfall: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sighting:
    """What a check saw, before it has a code."""

    severity: Severity
    message: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CodedCheck(Code):
    """One coded check: ``look`` gives what it saw where there is something to say, else None.

    ``pitfall`` is to which of the ten it belongs. The docstring of ``look`` says what is looked
    for, with an example.
    """

    pitfall: str | None
    look: Callable[[Case], Sighting | None]

    def __call__(self, case: Case) -> CheckFinding | None:
        """The finding, where it applies."""
        seen = self.look(case)
        if seen is None:
            return None
        return CheckFinding(
            self.code,
            seen.severity,
            seen.message,
            self.title,
            self.why,
            self.remedy,
            self.pitfall,
            seen.columns,
            seen.rows,
            seen.evidence,
        )


# -- parts and columns as messages name them -------------------------------------------------------

_LEAST, _MOST = 3, 7


def columns_text(names: Sequence[str]) -> str:
    """Columns in a sentence, the first five of many.

    >>> columns_text(["id"]), columns_text(["id", "time"])
    ("column 'id'", "columns 'id' and 'time'")
    """
    return f"column{'' if len(names) == 1 else 's'} {some([name(each) for each in names])}"


def nearness_text(dropped: Sequence[str], *, numbers: bool) -> str:
    """In what near duplicates agree, with the identifiers that were left out.

    >>> nearness_text(["id"], numbers=True), nearness_text([], numbers=False)
    ("after rounding to 3 digits without column 'id'", 'but for case and punctuation')
    """
    if dropped and not numbers:
        return f"without {columns_text(dropped)}"
    equality = f"after rounding to {COARSE} digits" if numbers else "but for case and punctuation"
    return f"{equality} without {columns_text(dropped)}" if dropped else equality


def share_text(part: float, whole: float) -> str:
    """A part in percent of a whole; nearly all of it is never all.

    >>> share_text(1, 3), share_text(1, 10**6)
    ('33.3%', '0.0001%')
    >>> share_text(10**6 - 1, 10**6), share_text(10**9 - 1, 10**9)
    ('99.9999%', 'more than 99.9999%')
    """
    for digits in range(3, 7):
        shown = significant(100 * part / whole, digits)
        if shown != "100" or part >= whole:
            return f"{shown}%"
    return "more than 99.9999%"


def is_or_are(number: int) -> str:
    """The verb after so many of something."""
    return "is" if number == 1 else "are"
