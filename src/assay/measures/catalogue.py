"""All measures, how to find one by its name, and which are shown where, in which order.

The lists here are the only ones of measures that there are: everything else goes by the catalogue,
or is about one measure and names its declaration.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from assay.errors import UnknownMeasure
from assay.formula import Expression, enclosure, geometric_mean, of_classes, substitute
from assay.formula.tree import ONE_VERSUS_REST
from assay.measures.agreement import AGREEMENT, COSTS
from assay.measures.measure import Measure
from assay.measures.probability import PROBABILITIES
from assay.measures.ranking_measures import RANKED
from assay.measures.rates import (
    ACCURACY,
    ALERT_RATE,
    LARGEST_BETA,
    NEGATIVE_PREDICTIVE_VALUE,
    PRECISION,
    PREVALENCE,
    RATES,
    RECALL,
    SPECIFICITY,
    f_beta,
)
from assay.measures.scores import OpenSet, OverPairs
from assay.text import quote

CATALOGUE: tuple[Measure, ...] = (
    *RATES,
    *AGREEMENT,
    *COSTS,
    *RANKED,
    *PROBABILITIES,
)

# What all identities go back to: the rates of one class against the rest, and the accuracy.
BASIC_RATES = (
    PREVALENCE,
    RECALL,
    SPECIFICITY,
    PRECISION,
    NEGATIVE_PREDICTIVE_VALUE,
    ALERT_RATE,
    ACCURACY,
)

GROUPS = {
    "rates": "Shares of rows, and means of such shares: what counts alone can tell.",
    "agreement": "How far decisions and truth agree beyond chance, and ratios of rates.",
    "cost": "What errors cost, where the costs of a false alarm and of a miss are known.",
    "ranking": "How well scores put attacks above harmless rows, at all thresholds.",
    "probability": "Whether a score in [0, 1] means the chance that it claims to be.",
}
AVERAGES = ("macro", "micro", "weighted")
# F-beta by its number, f1.5, and by what it is called where the beta is told apart.
_F_BETA = re.compile(r"f(\d+(?:\.\d+)?)")
_ANY_BETA = ("fbeta", "f_beta")


def names() -> Mapping[str, Measure]:
    """Every name and alias of every measure."""
    # Asked for by the hundred thousand; the table is made anew where measures were added.
    return _by_name(tuple(map(id, CATALOGUE)))


@lru_cache(maxsize=8)
def _by_name(_declared: tuple[int, ...]) -> Mapping[str, Measure]:
    table = {measure.name: measure for measure in CATALOGUE}
    for measure in CATALOGUE:
        for alias in measure.aliases:
            table.setdefault(alias, measure)
    return MappingProxyType(table)


def find(name: str, *, beta: float | None = None) -> Measure:
    """The measure of this name or alias; ``f3`` and the like are F-beta.

    >>> find("detection_rate").name, find("fbeta", beta=1.5).name
    ('recall', 'f1.5')
    """
    must_be_a_name(name)
    if name in _ANY_BETA:
        if beta is None:
            raise UnknownMeasure(f"{name} needs its beta=, such as 2; or say f2, f0.5, f1.5")
        return f_beta(beta)
    if beta is not None:
        raise UnknownMeasure(f"beta= is of {_ANY_BETA[0]} alone; found the measure {name!r}")
    table = names()
    if name in table:
        return table[name]
    number = _F_BETA.fullmatch(name)
    if number and 1 / LARGEST_BETA <= float(number[1]) <= LARGEST_BETA:
        return f_beta(float(number[1]))
    # As papers write it, F1-Score or Macro F1, and else by its letters.
    key = heading_of(name).key
    plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
    close = (
        [key] if key is not None and key in table else difflib.get_close_matches(plain, table, n=3)
    )
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise UnknownMeasure(f"there is no measure {name!r}{hint}")


def must_be_a_name(name: Any) -> None:
    """Refuse what is no text."""
    if not isinstance(name, str):
        raise UnknownMeasure(f"a measure has a name, such as 'recall'; found {quote(name)}")


class MeanOf(NamedTuple):
    """A measure over all classes that is a mean of a rate of each of them."""

    measure: Measure
    how: str


@lru_cache
def mean_of(measure: Measure) -> MeanOf | None:
    """Of which rate a measure over all classes is the mean, as its formula tells; None of none.

    >>> [
    ...     (mean_of(find(name)).measure.name, mean_of(find(name)).how)
    ...     for name in ("accuracy", "balanced_accuracy", "g_mean")
    ... ]
    [('recall', 'weighted'), ('recall', 'macro'), ('recall', 'geometric')]
    """
    if measure.classes is None or not measure.symmetric:
        return None
    for rate in RATES:
        of_class = substitute(rate.of_counts, ONE_VERSUS_REST)
        for how, mean in (
            ("macro", of_classes(rate.of_counts, "macro")),
            ("weighted", of_classes(rate.of_counts, "weighted")),
            ("geometric", geometric_mean(of_class)),
        ):
            if same_classes(measure.classes, mean):
                return MeanOf(rate, how)
    return None


# Tables of unlike counts, on which formulas that differ differ.
_TABLES: tuple[Mapping[str, Any], ...] = tuple(
    {"HIT": hit, "ROW": row, "COL": col, "N": sum(row), "K": len(row)}
    for hit, row, col in (
        ((5, 7, 3), (11, 13, 17), (8, 19, 14)),
        ((2, 29, 23, 1), (31, 37, 41, 3), (5, 43, 47, 17)),
    )
)


@lru_cache(maxsize=1024)
def same_classes(one: Expression, other: Expression) -> bool:
    """Whether two formulas over all classes are the same number, however they are written."""
    for table in _TABLES:
        (low, high), (low_too, high_too) = enclosure(one, table), enclosure(other, table)
        if low > high_too or low_too > high:
            return False
    return True


def parse(name: str) -> tuple[Measure, str | None]:
    """A name such as ``f1.macro`` or ``precision.normal`` as its measure and suffix.

    The longest measure name wins, so that ``f0.5.macro`` is F0.5 and not F0.

    >>> measure, suffix = parse("f0.5.macro")
    >>> measure.name, suffix
    ('f0.5', 'macro')
    """
    must_be_a_name(name)
    table = names()
    head = name
    while head:
        if head in table:
            return table[head], name[len(head) + 1 :] or None
        head = head.rpartition(".")[0]
    beta = re.match(r"f\d+(?:\.\d+)?(?=\.|$)", name)
    head = beta[0] if beta else name.partition(".")[0]
    return find(head), name[len(head) + 1 :] or None


# -- what is shown where -------------------------------------------------------------------------


class MeasureList(NamedTuple):
    """Names of measures, with an average where they have one: of two classes, and of more.

    With ``scores``, all measures of scores that two classes have follow those of two.
    """

    two: tuple[str, ...]
    many: tuple[str, ...]
    scores: bool = False

    def of(self, *, binary: bool) -> tuple[str, ...]:
        """Those of two classes, or of more."""
        if not binary:
            return self.many
        return (*self.two, *(of_scores() if self.scores else ()))


def of_scores() -> tuple[str, ...]:
    """The measures of scores that two classes have, but for those that are shown apart."""
    scored = [measure for measure in CATALOGUE if measure.of_scores is not None]
    apart = {*LOW_RATES, *FURTHER}
    return tuple(
        m.name
        for m in scored
        if not isinstance(m.of_scores, OverPairs | OpenSet) and m.name not in apart
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Of evaluations.

# Measures of scores with a table of their own, and those that stand in the appendix alone.
LOW_RATES = _names("recall_at_fpr_1e2 recall_at_fpr_1e3 recall_at_fpr_1e4 recall_at_fpr_1e5")
FURTHER = _names(
    "precision_recall_gain_area h_measure_symmetric top_decile_lift "
    "brier_reliability brier_resolution"
)
# What an evaluation prints of itself.
PRINTED = MeasureList(
    two=_names(
        "accuracy precision recall false_positive_rate false_discovery_rate specificity f1 "
        "balanced_accuracy mcc kappa"
    ),
    many=_names(
        "accuracy precision.macro recall.macro f1.macro f1.weighted balanced_accuracy kappa mcc "
        "roc_auc.macro roc_auc_ovo log_loss brier"
    ),
    scores=True,
)
# The two tables of results that a report opens with; all other measures follow in its appendix.
MAIN = MeasureList(
    two=_names(
        "accuracy recall false_positive_rate precision false_discovery_rate f1 "
        "precision.macro recall.macro f1.macro f1.weighted"
    ),
    many=_names("accuracy precision.macro recall.macro f1.macro f1.weighted"),
)
ADVANCED = MeasureList(
    two=_names("balanced_accuracy kappa mcc"),
    many=_names(
        "balanced_accuracy kappa mcc jaccard error_rate roc_auc.macro roc_auc.weighted "
        "roc_auc_ovo average_precision.macro average_precision.weighted log_loss brier "
        "oscr known_auc"
    ),
    scores=True,
)
# What is told of each class, of each of many besides, and of each of several models; and what is
# told in all of its averages.
PER_CLASS = _names("precision recall f1")
PER_CLASS_OF_MANY = _names("false_positive_rate specificity roc_auc average_precision")
PER_CLASS_OF_MODELS = _names("precision recall f1 false_positive_rate")
AVERAGED = _names("precision recall f1 specificity false_positive_rate")
# What labelled alerts tell by themselves.
OF_ALERTS = _names("precision false_discovery_rate alert_rate")
# What figures show: against the threshold; of slices, of kinds of attack, and of alerts alone.
OVER_THRESHOLDS = _names("precision recall")
SLICES = MeasureList(two=_names("recall false_positive_rate"), many=_names("accuracy"))
SLICES_OF_ATTACKS = _names("recall")
SLICES_OF_ALERTS = _names("precision")
# What is followed over days, weeks and months.
OVER_TIME = MeasureList(
    two=_names("recall false_positive_rate precision f1 roc_auc"),
    many=_names("accuracy f1.macro balanced_accuracy roc_auc.macro"),
)
# What is computed at base rates: at the usual ones, and at those that were asked for.
AT_USUAL_BASE_RATES = _names("precision false_discovery_rate")
AT_BASE_RATES = _names(
    "precision false_discovery_rate negative_predictive_value f1 accuracy mcc alert_rate c_id lift"
)
RANKED_AT_BASE_RATES = _names("average_precision")
# What the page of a report shows first while its threshold moves, and what it shows at a base rate.
MOVING = _names(
    "recall false_discovery_rate precision false_positive_rate f1 mcc balanced_accuracy accuracy"
)
DEPLOYED = _names("precision false_discovery_rate negative_predictive_value f1 accuracy mcc")

# Of decisions.

# What a threshold is told by: on the rows, at a base rate, and side by side with others.
AT_THRESHOLD = _names(
    "recall false_positive_rate precision false_discovery_rate alert_rate f1 mcc accuracy "
    "balanced_accuracy informedness"
)
AT_THRESHOLD_DEPLOYED = _names("precision false_discovery_rate alert_rate f1 mcc accuracy")
SIDE_BY_SIDE = _names("recall false_positive_rate false_discovery_rate precision")
# What models are compared by: the ranking where there are scores, of many classes that of each
# against the rest, all classes alike; else the share that is right.
DECIDING = _names("roc_auc roc_auc.macro accuracy")
# Of a figure of differences: measures on one scale, so that they can stand on one axis.
DIFFERENCES = _names(
    "roc_auc roc_auc.macro roc_auc.weighted roc_auc_ovo partial_auc average_precision "
    "average_precision.macro accuracy balanced_accuracy precision recall false_positive_rate "
    "false_discovery_rate f1 precision.macro recall.macro f1.macro precision.weighted "
    "recall.weighted f1.weighted mcc kappa"
)
# What predictions of folds are measured by, before their folds are compared.
PREDICTED_FOLDS = MeasureList(
    two=_names(
        "roc_auc average_precision accuracy balanced_accuracy precision recall false_positive_rate "
        "f1 mcc"
    ),
    many=_names("accuracy balanced_accuracy precision.macro recall.macro f1.macro mcc"),
)

# What is watched after deployment: of one model, and the difference of two.
WATCHED = _names("precision recall alert_rate")
WATCHED_DIFFERENCES = _names("accuracy recall alert_rate")

# Of learning.

# What a check and a trivial model are told by.
CHECKED = MeasureList(
    two=_names("accuracy recall false_discovery_rate roc_auc"),
    many=_names("accuracy balanced_accuracy"),
)
# What is compared between the rows that a model learned and those that judge it.
LEARNED = MeasureList(two=_names("accuracy roc_auc"), many=_names("accuracy"))
# What is told of each fold, and what a model card quotes.
FOLDS = MeasureList(
    two=_names("accuracy recall false_positive_rate precision f1 roc_auc"),
    many=_names("accuracy precision.macro recall.macro f1.macro roc_auc.macro"),
)
CARD = MeasureList(
    two=_names(
        "accuracy recall precision f1 false_positive_rate false_discovery_rate roc_auc "
        "average_precision mcc"
    ),
    many=_names("accuracy precision.macro recall.macro f1.macro f1.weighted mcc"),
)


# -- headings of published tables ------------------------------------------------------------------

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
_TAIL = re.compile(r"(?:scores?|values?|rates?|measure|coefficient|index)$")


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
    ...     (heading.key, heading.average, heading.percent)
    ...     for heading in map(heading_of, ("DR (%)", "Macro-F1 Score", "Acc."))
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
    reading = _read(words, plain)
    if reading is None:
        return Heading(text, percent=percent)
    key, average, label, mean, why = reading
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
        key = _key_of_words(_AVERAGE.sub(" ", words))
        if key is not None:
            return key, averages[0], None, False, ""
    mean = _MEAN.match(words)
    if mean is not None or _MEAN.match(_reversed(words)):
        rest = words[mean.end() :] if mean else _reversed(words).partition(" ")[2]
        key = _key_of_words(rest)
        if key is not None:
            return key, None, None, True, ""
    key = _key_of_words(words)
    if key is not None:
        return key, None, None, False, ""
    return _of_label(plain)


def _of_label(plain: str) -> _Read | None:
    """A measure with a label in brackets or after "of": Recall (attack)."""
    aside = _ASIDE.search(plain)
    if aside is not None:
        key = _key_of_words(_ASIDE.sub(" ", plain).casefold())
        label = aside[1].strip()
    else:
        parted = _FOR_LABEL.fullmatch(plain)
        key = None if parted is None else _key_of_words(parted[1].casefold())
        label = "" if parted is None else parted[2].strip()
    if key is None:
        return None
    also = _key_of_words(label.casefold())
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


def _key_of_words(words: str) -> str | None:
    """The key of some words, also without words that change nothing."""
    known = spellings()
    for tried in (words, _PLAIN_WORDS.sub(" ", words)):
        short = squeezed(tried)
        if short in known:
            return known[short]
        if (stem := _TAIL.sub("", short)) in known:
            return known[stem]
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
