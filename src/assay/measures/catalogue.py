"""All measures, and how to find one by its name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from assay.errors import UnknownMeasure
from assay.formula import Expression, enclosure, geometric_mean, of_classes, substitute
from assay.formula.tree import ONE_VERSUS_REST
from assay.measures.agreement import AGREEMENT
from assay.measures.cost import COSTS
from assay.measures.measure import Measure
from assay.measures.probability import PROBABILITIES
from assay.measures.ranked import RANKED
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
from assay.measures.thresholds import AT_THRESHOLDS

CATALOGUE: tuple[Measure, ...] = (
    *RATES,
    *AGREEMENT,
    *COSTS,
    *RANKED,
    *AT_THRESHOLDS,
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


def names() -> dict[str, Measure]:
    """Every name and alias of every measure."""
    table = {measure.name: measure for measure in CATALOGUE}
    for measure in CATALOGUE:
        for alias in measure.aliases:
            table.setdefault(alias, measure)
    return table


def find(name: str, *, beta: float | None = None) -> Measure:
    """The measure of this name or alias; ``f3`` and the like are F-beta.

    >>> find("detection_rate").name, find("fbeta", beta=1.5).name
    ('recall', 'f1.5')
    """
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
    close = difflib.get_close_matches(name, table, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise UnknownMeasure(f"there is no measure {name!r}{hint}")


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
        if rate.formula is None or rate.symmetric or rate.better is not measure.better:
            continue
        of_class = substitute(rate.formula, ONE_VERSUS_REST)
        for how, mean in (
            ("macro", of_classes(rate.formula, "macro")),
            ("weighted", of_classes(rate.formula, "weighted")),
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
    table = names()
    heads = [key for key in table if name == key or name.startswith(key + ".")]
    if heads:
        head = max(heads, key=len)
        return table[head], name[len(head) + 1 :] or None
    beta = re.match(r"f\d+(?:\.\d+)?(?=\.|$)", name)
    if beta:
        return find(beta[0]), name[beta.end() + 1 :] or None
    return find(name.partition(".")[0]), name.partition(".")[2] or None
