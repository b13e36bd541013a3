"""Which measure the heading of a published table speaks of, and of which average or label."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from assay.measures.catalogue import AVERAGES, CATALOGUE, find, names
from assay.measures.measure import Measure

# Where a mean is meant, and nothing tells which.
SOME_MEAN = "average"
# Short words that are read only where a table has another of them beside it.
LETTERS = {"p": "precision", "r": "recall", "f": "f1"}
CELL_NAMES = {
    "tp": ("tp", "truepositive", "truepositives"),
    "fp": ("fp", "falsepositive", "falsepositives"),
    "fn": ("fn", "falsenegative", "falsenegatives"),
    "tn": ("tn", "truenegative", "truenegatives"),
}
# Headings of shares under which as often stands how many rows there are.
_SHARES_OR_COUNTS = frozenset(
    ["correct", "correctlyclassified", "misclassified", "incorrectlyclassified", "error", "miss"]
)
_PERCENT = re.compile(r"[(\[]\s*(?:in\s+)?(?:%|percent|pct\.?)\s*[)\]]|,?\s*\bin\s*%|%|\bpercent\b")
_OTHER_SCALE = re.compile(
    r"‰|\bper ?mille?\b|\b1e[-+]?\d|\b10\s*\^?\s*[-\u2212]\s*\d|[x\u00d7]\s*10\b", re.I
)
_ARROWS = re.compile(r"[\u2190-\u21ff\u25b2\u25bc*\u2020\u2021§]+|\([+-]\)")
_ASIDE = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_FOR_LABEL = re.compile(r"(.+?)\s+(?:for|of)\s+(?:the\s+)?(?:class\s+)?(.+)")
_AVERAGE = re.compile(r"\b(macro|micro|weighted)(?:ed)?\b[\s_-]*(?:averaged?|avg\.?|mean)?[\s_-]*")
_MEAN = re.compile(r"^(?:average|avg\.?|mean)[\s_-]+")
_SPREAD = re.compile(r"\b(?:std\.?(?:\s*dev\.?)?|stdev|sd|standard deviation)\b")
_OTHER_PART = re.compile(r"\b(?:train(?:ing)?|val(?:id(?:ation)?)?\.?|dev)\b")
# Words that change nothing, and words that stand behind a name.
_PLAIN_WORDS = re.compile(
    r"\b(?:the|overall|total|global|final|test(?:ing)?|our|model|classification)\b"
)
_TAILS = ("score", "scores", "value", "values", "rate", "rates", "measure", "coefficient", "index")


@dataclass(frozen=True)
class Heading:
    """What a heading names: a key of the catalogue, an average or a label, and the scale.

    ``key`` is the name or the alias that stands there, since some aliases have two uses; None where
    nothing matched, with ``why`` where that can be told.
    """

    text: str
    key: str | None = None
    average: str | None = None
    label: str | None = None
    percent: bool = False
    spread: bool = False
    mean: bool = False
    why: str = ""

    @property
    def measure(self) -> Measure | None:
        """The measure that it names."""
        return None if self.key is None else find(self.key)


def heading_of(text: str) -> Heading:
    """Read a heading by the names and aliases of the catalogue.

    >>> [
    ...     (found.key, found.average, found.percent)
    ...     for found in map(heading_of, ("DR (%)", "Macro-F1 Score", "Acc."))
    ... ]
    [('dr', None, True), ('f1', 'macro', False), ('accuracy', None, False)]
    """
    plain = unicodedata.normalize("NFKC", text).replace("_", " ").strip()
    if "@" in plain:
        return Heading(text, why="it is at an operating point of its own")
    if _OTHER_SCALE.search(plain):
        return Heading(text, why="its scale is neither shares nor percent")
    percent = bool(_PERCENT.search(plain.casefold()))
    words = _ARROWS.sub(" ", _PERCENT.sub(" ", plain.casefold())).strip(" .:,;")
    spread = "±" not in words and bool(_SPREAD.search(words))
    words = _SPREAD.sub(" ", words).replace("±", " ").strip(" .,()")
    if _OTHER_PART.search(words):
        return Heading(text, why="it is of the training or validation part")
    found = _read(words, plain)
    if found is None:
        return Heading(text, percent=percent)
    key, average, label, mean, why = found
    return Heading(text, key, average, label, percent, spread, mean, why)


_Read = tuple[str | None, str | None, str | None, bool, str]


def _read(words: str, plain: str) -> _Read | None:
    """Key, average, label, whether a mean was named, and why there is no key."""
    direct = spellings().get(squeezed(words))
    if direct is not None:
        mean = _MEAN.match(words)
        if mean is not None and spellings().get(squeezed(words[mean.end() :])) is not None:
            why = f"it may be the {find(direct).title} of scores or a mean over classes"
            return None, None, None, False, why
        return direct, None, None, False, ""
    averages = _AVERAGE.findall(words)
    if averages:
        key = _named(_AVERAGE.sub(" ", words))
        if key is not None:
            return key, averages[0], None, False, ""
    mean = _MEAN.match(words)
    if mean is not None or _MEAN.match(_reversed(words)):
        rest = words[mean.end() :] if mean else _reversed(words).partition(" ")[2]
        key = _named(rest)
        if key is not None:
            return key, None, None, True, ""
    key = _named(words)
    if key is not None:
        return key, None, None, False, ""
    return _of_label(plain)


def _of_label(plain: str) -> _Read | None:
    """A measure with a label in brackets or after "of": Recall (attack)."""
    aside = _ASIDE.search(plain)
    if aside is not None:
        key = _named(_ASIDE.sub(" ", plain).casefold())
        label = aside[1].strip()
    else:
        parted = _FOR_LABEL.fullmatch(plain)
        key = None if parted is None else _named(parted[1].casefold())
        label = "" if parted is None else parted[2].strip()
    if key is None:
        return None
    also = _named(label.casefold())
    if also is None:
        return key, None, label or None, False, ""
    return _one_of(key, also)


def _one_of(key: str, also: str) -> _Read:
    """Two names in one heading: Recall (DR) is one measure, FAR (FPR) the second."""
    if find(key) == find(also):
        return key, None, None, False, ""
    if key in find(also).other_uses:
        return also, None, None, False, ""
    return None, None, None, False, f"it names both {find(key).title} and {find(also).title}"


def _reversed(words: str) -> str:
    """The last word first: F1 avg as avg F1."""
    head, _, tail = words.strip(" ()").replace("(", "").rpartition(" ")
    return f"{tail} {head}"


def _named(words: str) -> str | None:
    """The key of some words, also without words that change nothing."""
    known = spellings()
    for tried in (words, _PLAIN_WORDS.sub(" ", words)):
        short = squeezed(tried)
        if short in known:
            return known[short]
        for tail in _TAILS:
            if short.endswith(tail) and short.removesuffix(tail) in known:
                return known[short.removesuffix(tail)]
    return None


def squeezed(text: str) -> str:
    """A name without blanks, dashes and case, so that F1-Score and f1_score are one."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


@lru_cache
def spellings() -> dict[str, str]:
    """Every way to write a measure in a heading, and the name or alias that it stands for."""
    table: dict[str, str] = {}
    for name, measure in names().items():
        table.setdefault(squeezed(name), name if name in measure.aliases else measure.name)
    for measure in CATALOGUE:
        for word in (*measure.headings, measure.title, measure.short):
            table.setdefault(squeezed(word), measure.name)
    return table


def letter_of(text: str) -> str | None:
    """The measure that a lone letter stands for where P, R and F stand together."""
    return LETTERS.get(squeezed(text))


def other_part(text: str) -> bool:
    """Whether a name is that of the training or validation part: Train, Validation set."""
    rest = re.sub(
        r"\b(?:the|on|set|data|dataset|part|split|phase|results?)\b", " ", text.casefold()
    )
    return _OTHER_PART.fullmatch(re.sub(r"[\W_]+", " ", rest).strip()) is not None


def may_count(text: str) -> bool:
    """Whether whole numbers under a heading may be counts of rows: Misclassified."""
    return squeezed(text) in _SHARES_OR_COUNTS


def cell_of(text: str) -> str | None:
    """The cell of a binary matrix that a heading names: TP, or False positives."""
    short = squeezed(text)
    return next((cell for cell, words in CELL_NAMES.items() if short in words), None)


def average_of(text: str) -> str | None:
    """The average that the name of a row says: macro, micro, weighted, or some mean.

    >>> average_of("Weighted Avg."), average_of("avg / total"), average_of("DoS")
    ('weighted', 'weighted', None)
    """
    words = re.sub(r"[^\w/]+", " ", text.casefold()).strip()
    for average in AVERAGES:
        if re.match(rf"{average}(?:ed|d)?\b|(?:avg|average|mean) {average}", words):
            return average
    if re.fullmatch(r"avg ?/ ?total", words):
        return "weighted"
    if re.fullmatch(
        r"(?:the )?(?:average|avg|mean|overall|total|all|all classes)(?: value)?s?", words
    ):
        return SOME_MEAN
    return None
