"""Claims as they were read from a table or a print, before they are built; what they share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.decisions.audit.keys import AVERAGES, STATISTICS

OTHER_ROWS = "nothing tells that these classes are all there are: rows of others are allowed for"


def safe_label(label: str) -> str:
    """A label as a key can hold it: words such as macro and mean are no labels there."""
    last = label.rpartition(".")[2]
    return f"{label} (class)" if last in (*AVERAGES, *STATISTICS) else label


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
        found: dict[str, Any] = {
            "n": self.n,
            "positive": self.positive,
            "negative": self.negative,
            "aggregate": self.aggregate,
            "dataset": self.dataset,
            "support": dict(self.support) or self._two_classes(),
        }
        if not self.support and found["support"] and not (self.positive or self.negative):
            found["positive"] = "positive"
        return {key: value for key, value in found.items() if value}

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
    found, said = given, []
    size = _SIZE.search(caption)
    if size and given.n is None:
        found = replace(found, n=size[1])
        said.append(f"n = {size[1]}")
    if given.positives is None and given.negatives is None and not given.support:
        sides: dict[str, int] = {}
        for match in _SIDES.finditer(caption):
            word, number = (match[2] or match[3]).casefold(), match[1] or match[4]
            side = "negatives" if word.startswith(_HARMLESS) else "positives"
            sides.setdefault(side, int(number.replace(",", "")))
        if len(sides) == 2:
            found = replace(found, positives=sides["positives"], negatives=sides["negatives"])
            said.append(f"{sides['positives']:,} positives and {sides['negatives']:,} negatives")
    if given.aggregate is None and (_MEANS.search(caption) or speaks_of_folds(around)):
        found = replace(found, aggregate="fold-mean")
        said.append("that numbers are means of folds or runs")
    where = "caption tells" if caption else "text beside the table tells"
    return found, f"the {where} {' and '.join(said)}" if said else ""
