"""What one column tells by itself: what it holds, whether it names rows, how well it predicts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.inference import Estimate
from assay.v02.inference.score_intervals import auc_interval
from assay.v02.inference.significance import normal_p
from assay.v02.measures import rank
from assay.v02.tally import ScoreTally

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Facts:
    """A column of the training part: how many values it has, and what they are like.

    ``distinct`` counts values that are there. ``whole`` is whether all are whole numbers, ``rises``
    whether numbers go one way from row to row, ``counts_on`` whether they are all different and
    leave few gaps. ``first`` are some texts.
    """

    column: str
    rows: int
    missing: int
    distinct: int
    number: bool = False
    whole: bool = False
    rises: bool = False
    counts_on: bool = False
    low: float = np.nan
    middle: float = np.nan
    high: float = np.nan
    first: tuple[str, ...] = ()

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.rows - self.missing

    @property
    def constant(self) -> bool:
        """Whether there is nothing to tell rows apart by."""
        return self.distinct == 0 or (self.distinct == 1 and not self.missing)

    @property
    def unique_share(self) -> float:
        """Distinct values for each row that has one."""
        return self.distinct / self.present if self.present else 0.0


_LOOKED_AT = 200
# A counter may have lost some of its rows, to another part or to a filter.
_GAPS = 2


def facts_of(values: pl.Series) -> Facts:
    """Look at a column: Float64 or String, null where a value is missing.

    >>> import polars as pl
    >>> facts = facts_of(pl.Series("id", [1.0, 2.0, 3.0]))
    >>> facts.distinct, facts.whole, facts.rises, facts.counts_on
    (3, True, True, True)
    """
    import polars as pl

    rows, missing = len(values), values.null_count()
    present = values.drop_nulls() if missing else values
    if values.dtype != pl.Float64:
        first = tuple(present.head(_LOOKED_AT).to_list())
        return Facts(values.name, rows, missing, present.n_unique(), first=first)
    numbers = present.to_numpy()
    ordered = np.sort(numbers)
    distinct = int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1 if len(ordered) else 0
    if not distinct:
        return Facts(values.name, rows, missing, 0, number=True)
    finite = np.isfinite(ordered[0]) and np.isfinite(ordered[-1])
    whole = bool(finite and (ordered == np.floor(ordered)).all())
    steps_up = bool((numbers[1:] >= numbers[:-1]).all())
    rises = distinct > 1 and (steps_up or bool((numbers[1:] <= numbers[:-1]).all()))
    low, high = float(ordered[0]), float(ordered[-1])
    return Facts(
        values.name,
        rows,
        missing,
        distinct,
        number=True,
        whole=whole,
        rises=rises,
        counts_on=whole and distinct == len(ordered) and high - low < _GAPS * distinct,
        low=low,
        middle=float(ordered[len(ordered) // 2]),
        high=high,
    )


# -- columns that name a row: addresses, ports, ids, times -----------------------------------------

ADDRESS, PORT, ID, TIME = "address", "port", "id", "time"

# What the parts of a name tell; values have to agree.
_NAME_PARTS = {
    ADDRESS: "ip ipv4 ipv6 srcip dstip saddr daddr addr address mac host hostname domain url uri "
    "server client",
    PORT: "port sport dport srcport dstport",
    ID: "id ids uid uuid guid rowid index idx key hash serial session listing vendor seller user "
    "account customer device record row sequence",
    TIME: "time times timestamp datetime date day ts stime ltime epoch seen start end created",
}
# What is called no more than that is one, though it may begin anew somewhere.
_PLAIN_IDS = frozenset({"id", "uid", "uuid", "guid", "rowid", "row_id", "index"})
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (ADDRESS, re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d+)?")),
    (ADDRESS, re.compile(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}")),
    (ADDRESS, re.compile(r"(?=.*::|(?:[^:]*:){7})[0-9a-fA-F:]+(?:%\w+)?")),
    (TIME, re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?|\d\d?[/.]\d\d?[/.]\d{2,4}(?: .*)?")),
    (TIME, re.compile(r"\d\d?:\d\d(?::\d\d(?:\.\d+)?)?")),
    (ID, re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")),
)
_MOST = 0.9
# Fewer values than this are a category or a flag, whatever the column is called.
_MANY = 20
_NEARLY_ALL = 0.95
_OFTEN_DIFFERENT = 0.5
_WELL_KNOWN_PORT, _LARGEST_PORT = 1023, 65_535
_LONGEST_ID = 64
# The years 2000 to 2100 in seconds; milli-, micro- and nanoseconds are a thousand times more each.
_EPOCH = (946_684_800, 4_102_444_800)


def identifier(facts: Facts) -> str | None:
    """What kind of identifier a column is, if it is one.

    A name alone is not enough: a column ``port`` of three values is a feature.

    >>> identifier(Facts("Dst IP", 3, 0, 2, first=("10.0.0.1", "10.0.0.2")))
    'address'
    >>> identifier(Facts("port", 1000, 0, 3, number=True, whole=True, low=-1, high=1)) is None
    True
    """
    if facts.constant:
        return None
    return _of_numbers(facts) if facts.number else _of_texts(facts)


def _has_name_of(facts: Facts, kind: str) -> bool:
    parts = {part.lower() for part in _PARTS.findall(facts.column)}
    return not parts.isdisjoint(_NAME_PARTS[kind].split())


def _of_texts(facts: Facts) -> str | None:
    for kind, form in _FORMS:
        if _share(facts.first, form.fullmatch) >= _MOST:
            return kind
    if facts.distinct < _MANY:
        return None
    for kind in (ADDRESS, ID):
        if _has_name_of(facts, kind) and not _sentences(facts):
            return kind
    if facts.unique_share >= _NEARLY_ALL and not _sentences(facts):
        return ID
    return None


def _of_numbers(facts: Facts) -> str | None:
    if facts.counts_on and facts.distinct >= _MANY:
        return ID
    follows = facts.rises and not _has_name_of(facts, ADDRESS)
    if _is_epoch(facts) and (_has_name_of(facts, TIME) or follows):
        return TIME
    if facts.distinct < _MANY:
        return None
    if facts.rises and _has_name_of(facts, TIME):
        return TIME
    if not facts.whole:
        return None
    if (
        _has_name_of(facts, PORT)
        and facts.low >= 0
        and _WELL_KNOWN_PORT < facts.high <= _LARGEST_PORT
    ):
        return PORT
    if _has_name_of(facts, ADDRESS) and facts.high > _LARGEST_PORT:
        return ADDRESS
    plainly = facts.column.strip().lower() in _PLAIN_IDS
    if plainly or (_has_name_of(facts, ID) and facts.unique_share >= _OFTEN_DIFFERENT):
        return ID
    return None


def _is_epoch(facts: Facts) -> bool:
    return any(
        _EPOCH[0] * scale <= facts.middle <= _EPOCH[1] * scale for scale in (1, 1e3, 1e6, 1e9)
    )


def _share(texts: tuple[str, ...], holds: Callable[[str], object]) -> float:
    return sum(holds(text.strip()) is not None for text in texts) / len(texts) if texts else 0.0


def _sentences(facts: Facts) -> bool:
    """Whether the values are texts to read."""
    many = sum(" " in text.strip() or len(text) > _LONGEST_ID for text in facts.first)
    return many > len(facts.first) / 2


# -- how well one column alone tells the label -----------------------------------------------------

BINS = 64
# Values that are nearly all different teach nothing about other rows.
_MOST_DISTINCT = 0.5
_LARGE = 1e100
_NAMES = ("other", "this")


@dataclass(frozen=True, eq=False)
class ColumnSplit:
    """The rows that a column is learned from, and those that judge it.

    Without a test part ``held`` says which training rows judge.
    """

    train: Array
    test: Array | None
    classes: int
    held: Array | None = None

    @property
    def judged(self) -> Array:
        """The labels of the rows that judge."""
        if self.test is not None:
            return self.test
        return np.asarray(self.train[self.held])

    @property
    def known(self) -> Array:
        """The labels of the rows that are learned from."""
        return self.train if self.held is None else np.asarray(self.train[~self.held])

    @cached_property
    def inside(self) -> ColumnSplit:
        """The training rows alone: one half of them to learn from, the other to judge."""
        held_out = np.random.default_rng(0).permutation(len(self.train)) % 2 == 0
        return ColumnSplit(self.train, None, self.classes, held=held_out)

    def parted(self, codes: Sequence[Array]) -> tuple[Array, Array]:
        """What is known of each part, for the rows that are learned from and those that judge."""
        if self.held is None:
            return codes[0], codes[-1]
        return codes[0][~self.held], codes[0][self.held]


@dataclass(frozen=True, eq=False)
class Signal:
    """A column by itself: its AUC, and the share of labels that it tells.

    ``auc`` is of one class against the other, whichever way is the better; of more classes the
    mean of each against the rest. ``how`` is "ranked" where the numbers themselves rank the rows,
    and "by value" where the rate of each value, or of each of 64 bins, was learned. ``trained``
    is the AUC in the training part where another part judges. ``p`` is how likely an AUC so far
    from a half is by chance. ``classes`` has the AUC of each class against the rest, where there
    are several, and its ``p``.
    """

    column: str
    auc: Estimate
    how: str
    p: float
    accuracy: Estimate
    trained: float = math.nan
    classes: Mapping[int, tuple[Estimate, float]] = field(default_factory=dict)


def signal_of(
    columns: Sequence[pl.Series], facts: Facts, learned: ColumnSplit, level: float
) -> Signal:
    """Learn one column from the training rows and judge it."""
    values = _by_value(columns, facts, learned, level)
    if learned.classes == 2 and facts.number:
        ranked = _ranked(columns, learned, level)
        if ranked is not None and not ranked.auc < values.auc:
            return Signal(
                facts.column, ranked.auc, "ranked", ranked.p, values.accuracy, ranked.trained
            )
    return values


# -- numbers that rank -----------------------------------------------------------------------------


def _ranked(columns: Sequence[pl.Series], learned: ColumnSplit, level: float) -> Signal | None:
    """The AUC of the numbers themselves; the training rows say which way round."""
    first = _auc(columns[0], learned.train, level)
    if first is None:
        return None
    up = first[0] >= 0.5
    judged_auc, trained = first, math.nan
    if learned.test is not None:
        judged = _auc(columns[1], learned.test, level)
        if judged is None:
            return None
        judged_auc, trained = judged, _oriented(first[0], up=up)
    auc = _oriented(judged_auc[0], up=up)
    return Signal("", auc, "ranked", judged_auc[1], auc, trained)


def _auc(column: pl.Series, truth: Array, level: float) -> tuple[Estimate, float] | None:
    """The AUC of a column's values for the second label, and how likely it is by chance."""
    numbers = column.to_numpy()
    if column.null_count():
        present = ~np.isnan(numbers)
        numbers, truth = numbers[present], truth[present]
    if not len(numbers):
        return None
    if not max(abs(numbers.min()), abs(numbers.max())) < _LARGE:
        # Infinities and numbers that can't be added up still have their rank.
        numbers = np.unique(numbers, return_inverse=True)[1].astype(np.float64)
    return auc_of(ScoreTally.of_rows(_NAMES, numbers, truth), level)


def auc_of(tally: ScoreTally, level: float) -> tuple[Estimate, float] | None:
    """The AUC of a tally with its interval, and how likely one so far from a half is by chance."""
    ranking = rank(tally)
    positives, negatives = int(ranking.positives), int(ranking.negatives)
    if not positives or not negatives:
        return None
    ends, method = auc_interval(ranking.auc, positives, negatives, level)
    n = positives + negatives
    # Without ties; with them the AUC spreads less, so that chance is never made too small.
    error = math.sqrt((n + 1) / (12 * positives * negatives))
    estimate = Estimate(ranking.auc.value, *ends, method=method, n=n, level=level)
    return estimate, normal_p((ranking.auc.value - 0.5) / error)


def _oriented(auc: Estimate, *, up: bool) -> Estimate:
    return auc if up else auc.changed(1 - auc, low=1 - auc.high, high=1 - auc.low)


# -- rates of values -------------------------------------------------------------------------------


def _by_value(
    columns: Sequence[pl.Series], facts: Facts, learned: ColumnSplit, level: float
) -> Signal:
    """The rate of each class at each value or in each bin, learned and then judged."""
    codes, bins = _codes(columns, facts)
    signal = _rated(codes, bins, facts.column, learned, level)
    if learned.test is None:
        return signal
    trained = _rated(codes, bins, facts.column, learned.inside, level)
    return replace(signal, trained=float(trained.auc))


def _rated(
    codes: Sequence[Array], bins: int, column: str, learned: ColumnSplit, level: float
) -> Signal:
    """The AUC of the rates of values, and how likely it is by chance."""
    known, judged = learned.parted(codes)
    rates = _rates(_table(known, learned.known, bins, learned.classes))
    judged_table = _table(judged, learned.judged, bins, learned.classes)
    right, n = (
        int(judged_table[np.arange(bins), rates.argmax(axis=1)].sum()),
        int(judged_table.sum()),
    )
    accuracy = share_of(right, n, level)
    classes = {}
    for label in range(learned.classes) if learned.classes > 2 else (1,):
        pair = np.stack([judged_table.sum(axis=1) - judged_table[:, label], judged_table[:, label]])
        auc_and_p = auc_of(_tally(rates[:, label], pair), level)
        if auc_and_p is not None:
            classes[label] = auc_and_p
    if not classes:
        note = "there is one class only among the rows that judge"
        return Signal(
            column, Estimate(math.nan, n=n, level=level, undefined=note), "by value", 1.0, accuracy
        )
    if learned.classes == 2:
        auc, p = classes[1]
        return Signal(column, auc, "by value", p, accuracy)
    # The error of a mean is at most the mean of the errors, however the classes hang together.
    mean, low, high = (
        float(np.mean([getattr(auc, end) for auc, _ in classes.values()]))
        for end in ("value", "low", "high")
    )
    auc = Estimate(mean, low, high, method="mean of the classes", n=n, level=level)
    majority = float(judged_table.sum(axis=0).max() / n)
    spread = math.sqrt(max(majority * (1 - majority), 1e-12) / n)
    p = normal_p(max(accuracy - majority, 0.0) / spread)
    return Signal(column, auc, "by value", p, accuracy, classes=classes)


def rates_of(
    columns: Sequence[pl.Series], facts: Facts, learned: ColumnSplit, *, of: int | None = None
) -> Array:
    """The learned rate of each class for each judged row, or for all rows of a part."""
    codes, bins = _codes(columns, facts)
    known, judged = learned.parted(codes)
    rates = _rates(_table(known, learned.known, bins, learned.classes))
    return np.asarray(rates[judged if of is None else codes[of]])


def _rates(counts: Array) -> Array:
    shares = counts.sum(axis=0) / max(counts.sum(), 1)
    # As if one row more of the whole had each value, so that rare values are not sure.
    return np.asarray((counts + shares) / (counts.sum(axis=1, keepdims=True) + 1))


def _table(codes: Array, truth: Array, bins: int, classes: int) -> Array:
    """How many rows of each class have each code."""
    flat = codes.astype(np.int64) * classes + truth
    return np.bincount(flat, minlength=bins * classes).reshape(bins, classes)


def _tally(scores: Array, pair: Array) -> ScoreTally:
    occupied = pair.sum(axis=0) > 0
    distinct, at = np.unique(scores[occupied], return_inverse=True)
    pair = pair[:, occupied]
    counts = np.stack([np.bincount(at, row, minlength=len(distinct)) for row in pair])
    return ScoreTally(_NAMES, distinct, counts.astype(np.int64))


def share_of(right: int, n: int, level: float) -> Estimate:
    """A share of rows with Wilson's interval."""
    from assay.v02.inference import Wilson

    if not n:
        return Estimate(math.nan, level=level, undefined="there are no rows to judge by")
    low, high = Wilson(level)(right, n)
    return Estimate(right / n, float(low), float(high), method="wilson", n=n, level=level)


def _codes(columns: Sequence[pl.Series], facts: Facts) -> tuple[list[Array], int]:
    """Each value or bin as a number, from 0; what is missing is a value of its own."""
    if facts.number and facts.distinct > BINS:
        return _binned(columns)
    if not facts.number and facts.unique_share > _MOST_DISTINCT:
        return [np.zeros(len(column), np.int64) for column in columns], 1
    hashed = [column.hash().to_numpy() for column in columns]
    distinct, codes = np.unique(np.concatenate(hashed), return_inverse=True)
    ends = np.cumsum([len(part) for part in hashed])[:-1]
    return np.split(codes, ends), len(distinct)


def _binned(columns: Sequence[pl.Series]) -> tuple[list[Array], int]:
    numbers = [column.to_numpy() for column in columns]
    present = np.sort(numbers[0])
    present = present[: np.searchsorted(present, np.nan)]
    at = np.arange(1, BINS) * len(present) // BINS
    edges = np.unique(present[at])
    codes = [np.searchsorted(edges, part, side="right") for part in numbers]
    for code, part in zip(codes, numbers, strict=True):
        code[np.isnan(part)] = len(edges) + 1
    return codes, len(edges) + 2


# -- how well the order of rows tells their labels -------------------------------------------------

# Halfway between what chance gives and neighbours that always agree.
TELLING = 0.5


@dataclass(frozen=True)
class Neighbours:
    """Rows in some order: how often a row has the label of the one before, and by chance.

    ``runs`` are stretches of one label.
    """

    agree: Estimate
    chance: float
    runs: int

    @property
    def skill(self) -> float:
        """0 where neighbours agree as chance has it, 1 where they always do; at the worst."""
        if not self.chance < 1 or not self.agree.n:
            return 0.0
        return max(0.0, (self.agree.low - self.chance) / (1 - self.chance))

    @property
    def telling(self) -> bool:
        """Whether the order gives labels away."""
        return self.skill > TELLING


def neighbours(truth: Array, level: float) -> Neighbours:
    """How often a row has the label of the row before it.

    >>> import numpy as np
    >>> order = neighbours(np.repeat([0, 1], 50), 0.95)
    >>> order.runs, round(float(order.agree), 2), round(order.chance, 2), order.telling
    (2, 0.99, 0.49, True)
    """
    n = len(truth)
    same = int(np.count_nonzero(truth[1:] == truth[:-1]))
    often = np.bincount(truth).astype(np.float64)
    chance = float((often * (often - 1)).sum() / (n * (n - 1))) if n > 1 else 1.0
    return Neighbours(share_of(same, n - 1, level), chance, n - same)


def by_column(values: Array, truth: Array, level: float, seed: int) -> Neighbours:
    """The same in the order of a column; rows of one value stand in an order of chance."""
    shuffled = np.random.default_rng(seed).permutation(len(truth))
    order = shuffled[np.argsort(values[shuffled], kind="stable")]
    return neighbours(truth[order], level)
