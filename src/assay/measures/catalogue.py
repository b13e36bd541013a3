"""All measures, and how to find one by its name."""

from __future__ import annotations

import difflib
import re

from assay.errors import UnknownMeasure
from assay.measures.agreement import AGREEMENT
from assay.measures.measure import Measure
from assay.measures.probability import SCORED
from assay.measures.rates import RATES, f_beta

CATALOGUE: tuple[Measure, ...] = (*RATES, *AGREEMENT, *SCORED)

GROUPS = {
    "rates": "Shares of rows, and means of such shares: what counts alone can tell.",
    "agreement": "How far decisions and truth agree beyond chance, and ratios of rates.",
    "ranking": "How well scores put attacks above harmless rows, at all thresholds.",
    "probability": "Whether a score in [0, 1] means the chance that it claims to be.",
}
AVERAGES = ("macro", "micro", "weighted")
_F_BETA = re.compile(r"f(\d+(?:\.\d+)?)")


def names() -> dict[str, Measure]:
    """Every name and alias of every measure."""
    table = {measure.name: measure for measure in CATALOGUE}
    for measure in CATALOGUE:
        for alias in measure.aliases:
            table.setdefault(alias, measure)
    return table


def find(name: str) -> Measure:
    """The measure of this name or alias; ``f3`` and the like are F-beta.

    >>> find("detection_rate").name
    'recall'
    """
    table = names()
    if name in table:
        return table[name]
    beta = _F_BETA.fullmatch(name)
    if beta and float(beta[1]) > 0:
        return f_beta(float(beta[1]))
    close = difflib.get_close_matches(name, table, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise UnknownMeasure(f"there is no measure {name!r}{hint}")


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
