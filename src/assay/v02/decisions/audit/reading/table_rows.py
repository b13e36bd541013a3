"""From a table to claims: what its rows are, models, classes or folds, and the numbers of each.

A claim is drafted first, with what all claims of a table share; what a caption tells belongs to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.v02.decisions.audit.claim import safe_label
from assay.v02.decisions.audit.reading.grids import TextTable
from assay.v02.decisions.audit.reading.published_tables import (
    PublishedTable,
    TableColumn,
    cleaned,
    count_text,
    table_of,
)
from assay.v02.measures import find
from assay.v02.measures.catalogue import SOME_MEAN, average_of, heading_of, other_part
from assay.v02.sources.labelling import NEGATIVE_WORDS, POSITIVE_WORDS

OTHER_ROWS = "nothing tells that these classes are all there are: rows of others are allowed for"


@dataclass(frozen=True)
class Totals:
    """What all claims of one table share, as options say it or its caption does."""

    n: str | None = None
    support: Mapping[str, int] = field(default_factory=dict)
    positive: str | None = None
    negative: str | None = None
    positives: int | None = None
    negatives: int | None = None
    aggregate: str | None = None
    dataset: str | None = None
    orientation: str | None = None
    rows: str | None = None
    reported: Mapping[str, str] = field(default_factory=dict)

    def shared(self) -> dict[str, Any]:
        """The keys of a claim that they give."""
        keys: dict[str, Any] = {
            "n": self.n,
            "positive": self.positive,
            "negative": self.negative,
            "aggregate": self.aggregate,
            "dataset": self.dataset,
            "support": dict(self.support) or self._two_classes(),
        }
        if not self.support and keys["support"] and not (self.positive or self.negative):
            keys["positive"] = "positive"
        return {key: value for key, value in keys.items() if value}

    def _two_classes(self) -> dict[str, int]:
        positive, negative = self.positive or "positive", self.negative or "negative"
        counts = {negative: self.negatives, positive: self.positives}
        return {label: rows for label, rows in counts.items() if rows is not None}

    @property
    def told(self) -> str:
        """In words, for a note; empty where nothing is shared."""
        parts = [f"{rows:,} of {label}" for label, rows in self.shared().get("support", {}).items()]
        parts = [f"n = {self.n}", *parts] if self.n else parts
        return ", ".join(parts)


@dataclass(frozen=True)
class Draft:
    """One claim as the keys of a claims file, with what has to be said of how it was read.

    ``percents`` is whether numbers of it may be percentages without a sign. Claims of one ``table``
    are of one test set, as far as that can be told. ``stated`` is whether its positive label is.
    ``by_program`` is whether a program printed its numbers, so that none is cut off.
    ``turned`` are the keys with rows and columns of its matrix exchanged, where nothing tells what
    they are, and ``question`` what then has to be asked.
    """

    raw: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    percents: bool = False
    table: str = ""
    stated: bool = False
    by_program: bool = False
    turned: Mapping[str, Any] | None = None
    question: str = ""


_SIZE = re.compile(r"\bn\s*=\s*(\d[\d,]*\d|\d)(?!\.\d)", re.IGNORECASE)
_SIDES = re.compile(
    r"(\d[\d,]*)\s+(positives?|attacks?|malicious|malware|phishing|spam|negatives?|normal|benign|"
    r"legitimate|ham)\b|\b(positives|negatives)\s*[=:]\s*(\d[\d,]*)",
    re.IGNORECASE,
)
_FOLDS = (
    r"(?:\d+|k|three|five|ten)[- ]?folds?\b|cross[- ]?validat\w*|"
    r"(?:\d+|three|five|ten) (?:\w+ )?(?:runs|seeds|repetitions|trials)\b"
)
_MEANS = re.compile(
    rf"\b(?:{_FOLDS}|averag\w*|mean(?:s)? (?:of|over)|runs|repetitions|"
    r"std|standard deviation)|±",
    re.IGNORECASE,
)
_MEANS_AROUND = re.compile(rf"\b(?:{_FOLDS})", re.IGNORECASE)
_HARMLESS = ("negative", "normal", "benign", "legitimate", "ham")


def speaks_of_folds(text: str) -> bool:
    """Whether a text speaks of folds or of several runs, so that numbers by it are means."""
    return _MEANS_AROUND.search(text) is not None


def totals_in(caption: str, given: Totals, around: str = "") -> tuple[Totals, str]:
    """Totals that a caption tells where no option does, and how that is said.

    What stands ``around`` a table tells no more than that there were folds or runs.

    >>> totals_in("Results on the test set (n = 22,544)", Totals())[0].n
    '22,544'
    """
    totals, said = given, []
    size = _SIZE.search(caption)
    if size and given.n is None:
        totals = replace(totals, n=size[1])
        said.append(f"n = {size[1]}")
    if given.positives is None and given.negatives is None and not given.support:
        sides: dict[str, int] = {}
        for match in _SIDES.finditer(caption):
            word, number = (match[2] or match[3]).casefold(), match[1] or match[4]
            side = "negatives" if word.startswith(_HARMLESS) else "positives"
            sides.setdefault(side, int(number.replace(",", "")))
        if len(sides) == 2:
            totals = replace(totals, positives=sides["positives"], negatives=sides["negatives"])
            said.append(f"{sides['positives']:,} positives and {sides['negatives']:,} negatives")
    if given.aggregate is None and (_MEANS.search(caption) or speaks_of_folds(around)):
        totals = replace(totals, aggregate="fold-mean")
        said.append("that numbers are means of folds or runs")
    where = "caption tells" if caption else "text beside the table tells"
    return totals, f"the {where} {' and '.join(said)}" if said else ""


# -- the claims of a table -------------------------------------------------------------------------

MODELS, CLASSES, FOLDS = "models", "classes", "folds"
ROWS = (MODELS, CLASSES, FOLDS)
_CLASS_WORDS = frozenset(
    [
        "class",
        "classes",
        "label",
        "labels",
        "category",
        "attack",
        "attacks",
        "attacktype",
        "attacktypes",
        "attackclass",
        "attackcategory",
        "trafficclass",
        "traffic",
        "traffictype",
        "family",
        "classname",
        "typeofattack",
        "target",
    ]
)
_MODEL_WORDS = frozenset(
    ["model", "models", "method", "methods", "algorithm", "algorithms", "classifier", "classifiers",
     "approach", "technique", "system", "detector", "work", "reference", "author", "paper", "study"]
)  # fmt: skip
# Words for harmless rows that are no numbers or answers: 0 and no may name anything.
_HARMLESS_WORDS = frozenset(word for word in NEGATIVE_WORDS if len(word) > 2 and word != "false")
_DATA_WORDS = frozenset(["dataset", "datasets", "data", "corpus", "testset", "scenario", "day"])
_FOLD = re.compile(r"(?:fold|run|split|iteration|iter|repeat|trial|seed|k)?[\s#._=-]*\d{1,3}", re.I)
# The totals of a test set are not those of the training part beside it.
_NO_ROWS: dict[str, Any] = {"n": None, "support": {}, "positives": None, "negatives": None}
_SPREAD_ROW = re.compile(r"(?:std\.?(?: ?dev\.?)?|sd|standard deviation|stdev)", re.I)


def claims_of(grid: TextTable, totals: Totals, title: str) -> tuple[list[Draft], list[str]]:
    """The claims of a table, and what is said of how it was read; none where nothing matched."""
    table = table_of(grid)
    if not table.measured:
        named = [text for text in table.unmatched if text]
        return [], [f"no heading of {title} names a measure: {_listed(named) or 'there are none'}"]
    notes = []
    groups = {column.group for column in table.measured}
    # Of several test sets in one table a caption can't tell which it speaks of.
    shared, told = totals_in(grid.caption if len(groups) == 1 else "", totals, grid.around)
    if told:
        notes.append(f"{title}: {told}")
    kind = shared.rows or _kind_of(table)
    readers = {MODELS: _models, CLASSES: _classes, FOLDS: _folds}
    drafts, odd = readers[kind](table, shared, grid.caption or title)
    notes.append(f"{title}: {_said(table, kind, drafts)}")
    unused = [column.heading.text for column in table.columns if column.support and kind == MODELS]
    if table.unmatched or unused:
        notes.append(f"{title}: not matched to any measure: {_listed([*table.unmatched, *unused])}")
    if odd:
        notes.append(f"{title}: cells that are no numbers: {_listed(odd)}")
    return drafts, notes


def _said(table: PublishedTable, kind: str, drafts: Sequence[Draft]) -> str:
    held = ", ".join(dict.fromkeys(_spoken(column) for column in table.measured))
    what = {
        MODELS: f"a claim a row, {len(drafts)} in all",
        CLASSES: "one claim, a row a class",
        FOLDS: "one claim, a row a fold",
    }[kind]
    return f"{what}; headings were read as {held}"


def _spoken(column: TableColumn) -> str:
    suffix = f".{column.heading.average}" if column.heading.average else ""
    return f"{cleaned(column.heading.text)!r} = {column.key}{suffix}"


def _listed(texts: Sequence[str]) -> str:
    some = ", ".join(repr(text[:60]) for text in texts[:12])
    return some + (f" and {len(texts) - 12} more" if len(texts) > 12 else "")


# -- rows ------------------------------------------------------------------------------------------


def _kind_of(table: PublishedTable) -> str:
    """What the rows are: folds, classes or models, by the words that stand there."""
    body = table.grid.body
    names = [table.name_of(row) for row in body]
    plain = [name for name in names if average_of(name) is None and not _SPREAD_ROW.fullmatch(name)]
    corners = table.corners
    if plain and len(plain) < len(names) and all(map(_FOLD.fullmatch, plain)) and len(plain) > 2:
        return FOLDS
    if set(corners) & (_MODEL_WORDS | _DATA_WORDS):
        return MODELS
    if any(column.support for column in table.columns) and len(body) > 1:
        return CLASSES
    known = {name.casefold() for name in names}
    if set(corners) & _CLASS_WORDS or known & _HARMLESS_WORDS:
        return CLASSES
    if any(average_of(name) in ("macro", "micro", "weighted") for name in names):
        return CLASSES
    return MODELS


def _numbers(
    table: PublishedTable, row: Sequence[str], columns: Sequence[TableColumn], suffix: str = ""
) -> tuple[dict[str, Any], bool, list[str]]:
    """The reported numbers of a row, whether one has a spread, and cells that are no numbers."""
    reported: dict[str, Any] = {}
    spread, odd = False, []
    used: set[str] = set()
    for column in columns:
        entry = table.entry(row, column)
        if entry.odd:
            odd.append(entry.odd)
        if entry.number is None:
            continue
        heading = column.heading
        inner = heading.average or heading.label or suffix
        key = f"{column.key}.{inner}" if inner else str(column.key)
        spread |= entry.spread is not None or heading.spread
        if heading.spread:
            continue
        if key in reported:
            # A second column of the same measure, by another of its names.
            other = next((n for n in find(column.key or "").aliases if n not in used), None)
            if other is None:
                odd.append(f"{entry.number} of a further {cleaned(heading.text)}")
                continue
            key = f"{other}.{inner}" if inner else other
        used.add(key.partition(".")[0])
        reported[key] = entry.number
        if entry.interval is not None:
            reported.setdefault(f"{key}.ci", list(entry.interval))
    return reported, spread, odd


def _models(table: PublishedTable, totals: Totals, title: str) -> tuple[list[Draft], list[str]]:
    """A claim for each row, and for each group of columns in it."""
    groups = list(dict.fromkeys(column.group for column in table.columns))
    drafts, odd = [], []
    sides = {*NEGATIVE_WORDS, *POSITIVE_WORDS, *totals.support}
    labels = [group for group in groups if group.casefold() in sides or group in sides]
    for position, row in enumerate(table.grid.body, 1):
        name = table.name_of(row) or f"row {position}"
        for group in groups:
            if group in labels:
                continue
            columns = [column for column in table.columns if column.group == group]
            held = [column for column in columns if column.key is not None]
            reported, spread, strange = _numbers(table, row, held)
            for label in labels:
                own = [c for c in table.measured if c.group == label]
                more, other_spread, more_strange = _numbers(table, row, own, label)
                reported |= more
                spread |= other_spread
                strange += more_strange
            odd += strange
            cells = _cells(row, columns)
            if not reported:
                continue
            part = next(filter(other_part, (group, name)), "")
            raw: dict[str, Any] = {
                **(replace(totals, **_NO_ROWS) if part else totals).shared(),
                "name": f"{name} ({group})" if group else name,
                "source": title,
                "reported": reported,
            }
            if average_of(name) == SOME_MEAN or spread:
                raw["aggregate"] = "fold-mean"
            if cells:
                raw["confusion"] = cells
            drafts.append(
                Draft(raw, (), table.leaves_signs_out, _one_set(table, row, title, group or part))
            )
    if not drafts and labels:
        only = replace(table, columns=tuple(_labelled(c) for c in table.columns))
        return _models(only, totals, title)
    return drafts, odd


def _one_set(table: PublishedTable, row: Sequence[str], title: str, group: str) -> str:
    """The rows that a row stands among: those of the same test set, where a column names it."""
    data = [cleaned(row[place]) for place, corner in zip(table.names, table.corners, strict=True)
            if corner in _DATA_WORDS]  # fmt: skip
    return " ".join(filter(None, (title, group, *data)))


def _labelled(column: TableColumn) -> TableColumn:
    return replace(column, group="", heading=replace(column.heading, label=column.group or None))


def _cells(row: Sequence[str], columns: Sequence[TableColumn]) -> dict[str, int]:
    counts = {}
    for column in columns:
        count = count_text(row[column.place]) if column.cell else None
        if column.cell and count is not None:
            counts[column.cell] = int(count)
    return counts


def _classes(table: PublishedTable, totals: Totals, title: str) -> tuple[list[Draft], list[str]]:
    """One claim of the whole table; rows of averages come with it."""
    read = _ClassRows(table)
    for position, row in enumerate(table.grid.body, 1):
        read.add(row, table.name_of(row) or f"row {position}")
    if any(often > 1 for often in Counter(read.labels).values()):
        return _models(table, totals, title)
    return [read.draft(totals, title)], read.odd


class _ClassRows:
    """The rows of a table of classes, as they are read one after the other."""

    def __init__(self, table: PublishedTable) -> None:
        self._table = table
        self._counts = next((column for column in table.columns if column.support), None)
        self.reported: dict[str, Any] = {}
        self.support: dict[str, int] = {}
        self.labels: list[str] = []
        self.sizes: list[str] = []
        self.odd: list[str] = []
        self.notes: list[str] = []
        self.averaged = self.spread = False

    def add(self, row: Sequence[str], name: str) -> None:
        """A class, an average of all classes, or a measure of all of them such as the accuracy."""
        average, key = average_of(name), heading_of(name).key
        rows = None if self._counts is None else count_text(row[self._counts.place])
        if average is None and key is not None and find(key).symmetric:
            entries = [self._table.entry(row, column).number for column in self._table.measured]
            value = next((number for number in reversed(entries) if number), None)
            if value is not None:
                self.reported.setdefault(key, value)
            self.sizes += [rows] if rows else []
            return
        label = safe_label(name)
        suffix = label if average is None else "" if average == SOME_MEAN else average
        numbers, spread, strange = _numbers(self._table, row, self._table.measured, suffix)
        self.spread |= spread
        self.odd += strange
        if average == SOME_MEAN:
            numbers = self._without_means(numbers, name)
        self.reported |= {
            key: number for key, number in numbers.items() if key not in self.reported
        }
        if average is not None:
            self.averaged = True
            self.sizes += [rows] if rows else []
            return
        self.labels.append(label)
        if rows is not None:
            self.support[label] = int(rows)

    def _without_means(self, numbers: dict[str, Any], name: str) -> dict[str, Any]:
        """A row of averages without those of an accuracy of each class, which are not the accuracy.

        What stands there may be their mean, weighted or not, or the accuracy of all rows.
        """
        means = [
            key
            for key in numbers
            if find(key).symmetric
            and any(f"{key}.{label}" in self.reported for label in self.labels)
        ]
        if means:
            held = ", ".join(f"{key} {numbers[key]}" for key in means)
            self.notes.append(
                f"{held} of {name!r} was passed over: it may be a mean over the classes or "
                f"the value of all rows"
            )
        return {key: number for key, number in numbers.items() if key not in means}

    def draft(self, totals: Totals, title: str) -> Draft:
        """The claim of all rows."""
        raw: dict[str, Any] = {**totals.shared(), "name": title, "reported": self.reported}
        notes = list(self.notes)
        known = raw.get("support", {})
        if not self.support and set(known) == set(self.labels):
            self.support = {label: known[label] for label in self.labels}
        raw.pop("support", None)
        stated = raw.pop("n", None) or next(iter(self.sizes), None)
        whole = bool(self.support) and len(self.support) == len(self.labels)
        if whole:
            raw |= self._sized(stated)
        elif self.support:
            notes.append("supports were passed over, since some classes have none")
        if len(self.labels) > 1 and (whole or self.averaged):
            total = sum(self.support.values())
            closed = whole and stated is not None and count_text(stated) == str(total)
            raw |= {"labels": self.labels, "exhaustive": closed}
            notes += [] if closed else [OTHER_ROWS]
            if closed and len(self.labels) == 2 and not {"positive", "negative"} & set(raw):
                raw["positive"] = _positive(self.labels)
        if self.spread:
            raw["aggregate"] = "fold-mean"
        return Draft(raw, tuple(notes), self._table.leaves_signs_out)

    def _sized(self, stated: str | None) -> dict[str, Any]:
        """The supports, their sum as it is stated, and sums that are stated otherwise."""
        keys: dict[str, Any] = {"support": self.support}
        if stated is not None:
            total = " + ".join(map(str, self.support.values()))
            others = [size for size in dict.fromkeys(self.sizes) if size != stated]
            keys["n"] = stated
            keys["arithmetic"] = [{"expression": total, "reported": size} for size in others]
        return keys


def _positive(labels: Sequence[str]) -> str:
    """The alarm of two labels; every number has its label, so that nothing hangs on it."""
    harmless = [label for label in labels if label.casefold() in NEGATIVE_WORDS]
    return next(label for label in reversed(labels) if label not in harmless[:1])


def _folds(table: PublishedTable, totals: Totals, title: str) -> tuple[list[Draft], list[str]]:
    """Values fold by fold, with the rows of means and spreads under them."""
    folds: dict[str, list[str]] = {}
    reported: dict[str, Any] = {}
    odd: list[str] = []
    for row in table.grid.body:
        name = table.name_of(row)
        numbers, _, strange = _numbers(table, row, table.measured)
        odd += strange
        plain = {key: value for key, value in numbers.items() if isinstance(value, str)}
        if _SPREAD_ROW.fullmatch(name):
            reported |= {f"{key}.sd": value for key, value in plain.items()}
        elif average_of(name) is not None:
            reported |= {f"{key}.mean": value for key, value in plain.items()}
        else:
            for key, value in plain.items():
                folds.setdefault(key, []).append(value)
    shared = {key: value for key, value in totals.shared().items() if key == "dataset"}
    raw = {**shared, "name": title, "folds": folds, "reported": reported}
    return [Draft(raw, (), table.leaves_signs_out)], odd
