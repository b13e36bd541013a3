"""In which ways a measure can be read, and how to read it so."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any

from assay.inference import Estimate, Quantity
from assay.measures import (
    AVERAGES,
    Binned,
    Costs,
    MeanLoss,
    Measure,
    OpenSet,
    OverPairs,
    Ranked,
    catalogue,
)
from assay.measures.ranking_measures import recall_at_fpr

from .counted import Counted, of_matrix
from .rows import BINARY, FIXED, THREE, Rows

# What errors cost wherever a measure asks.
COSTS = Costs(Fraction(2), Fraction(7))
# A false positive rate that the few rows of laws resolve.
RESOLVED = 0.25


class Kind(Enum):
    """What a measure is computed from, as far as laws care."""

    COUNTED = "a formula of counts"
    RANKED = "one score ranks the rows"
    LOST = "the mean loss of probabilities"
    BINNED = "probabilities of one positive, in bins"
    PAIRED = "pairs of more than two classes"
    OPEN = "rows of known labels against those of an unknown one"


_KINDS = {
    type(None): Kind.COUNTED,
    Ranked: Kind.RANKED,
    OverPairs: Kind.PAIRED,
    OpenSet: Kind.OPEN,
    MeanLoss: Kind.LOST,
    Binned: Kind.BINNED,
}


def kind_of(measure: Measure) -> Kind:
    """The kind of a measure, as it is declared."""
    return _KINDS[type(measure.of_scores)]


@dataclass(frozen=True, eq=False)
class Face:
    """A measure read in one way.

    ``how`` is ``positive`` or ``negative`` (of two labels), ``overall`` or ``label`` (of three
    classes: all together, or the second against the rest), ``open`` (of three classes and rows of
    an unknown one) or an average over three classes.
    """

    measure: Measure
    how: str

    @property
    def tried(self) -> Measure:
        """The measure as laws try it: at some costs, and at a rate that few rows resolve."""
        declared = self.measure.of_scores
        if isinstance(declared, Ranked) and declared.negatives > 1:
            return replace(self.measure, of_scores=recall_at_fpr(RESOLVED))
        return self.measure.priced(COSTS)

    @property
    def name(self) -> str:
        return f"{self.measure.name}({self.how})"

    @property
    def kind(self) -> Kind:
        return kind_of(self.measure)

    @property
    def counted(self) -> bool:
        return self.kind is Kind.COUNTED

    @property
    def has_interval(self) -> bool:
        return self.kind is not Kind.BINNED

    @property
    def scene(self) -> tuple[int, bool]:
        """How many labels its rows have, and whether they are scored."""
        if self.how == "open":
            return 4, True
        return 2 if self.how in ("positive", "negative") else 3, not self.counted

    def fixed(self) -> dict[str, Rows]:
        return FIXED[self.scene]

    def of(self, rows: Rows, level: float = 0.95, **amounts: Any) -> Estimate:
        """The estimate of rows; ``amounts`` are counts or sampling weights."""
        if not amounts:
            return _estimate(self, rows, level)
        return self.read(rows.counted(**amounts), level)

    def read(self, counts: Counted, level: float = 0.95, **options: Any) -> Estimate:
        """The estimate of counts."""
        return replace(counts, level=level, costs=COSTS).of(self.tried, self.of_what, **options)

    @property
    def of_what(self) -> str | None:
        """The average, or the label that is not the last of two."""
        names = {"negative": BINARY[0], "label": THREE[1]}
        return self.how if self.how in AVERAGES else names.get(self.how)

    def quantity(self) -> Quantity:
        """The formula, and what it is read on."""
        labels = BINARY if self.scene[0] == 2 else THREE
        ones = of_matrix([[1] * len(labels) for _ in labels], labels)
        quantity = ones.quantity(self.tried, self.of_what)
        assert quantity is not None
        # Of the classes that have rows, which are all.
        return replace(quantity, classes=None)


@lru_cache(maxsize=1 << 15)
def _estimate(face: Face, rows: Rows, level: float) -> Estimate:
    """What many laws start from."""
    return face.read(rows.counted(), level)


def faces(measure: Measure) -> list[Face]:
    """All ways to read a measure."""
    kind = kind_of(measure)
    ways = [] if kind in (Kind.PAIRED, Kind.OPEN) else ["positive"]
    if measure.of_costs is not None:
        return [Face(measure, "positive")]
    if kind is Kind.OPEN:
        ways.append("open")
    if kind is Kind.COUNTED:
        if not measure.symmetric:
            ways.append("negative")
        if measure.classes is not None:
            ways.append("overall")
        if not (measure.symmetric and measure.classes is not None):
            ways.append("label")
    if kind is Kind.PAIRED or (isinstance(measure.of_scores, MeanLoss) and measure.of_scores.sums):
        ways.append("overall")
    if measure.averages:
        ways += AVERAGES if kind is Kind.COUNTED else ["label", "macro", "weighted"]
    return [Face(measure, how) for how in ways]


def all_faces() -> list[Face]:
    """All ways to read all measures that are in the catalogue now."""
    return [face for measure in catalogue.CATALOGUE for face in faces(measure)]


def same(a: float, b: float, tolerance: float = 0.0) -> bool:
    """Whether two numbers agree; undefined agrees with undefined, infinite with infinite."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def fields(estimate: Estimate) -> dict[str, Any]:
    """All that an estimate says, as text, so that nan equals nan and other bits differ."""
    names = ("value", "low", "high", "method", "n", "level", "undefined", "note", "parts")
    return {name: repr(getattr(estimate, name)) for name in names}


def assert_near(a: Estimate, b: Estimate, tolerance: float) -> None:
    """Value and interval agree."""
    for name in ("value", "low", "high"):
        x, y = getattr(a, name), getattr(b, name)
        assert same(x, y, tolerance), f"{name}: {x!r} and {y!r}"
    assert (a.undefined is None) == (b.undefined is None)
