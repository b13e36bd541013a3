"""What a measure is: one declaration, from which everything else follows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

from assay.formula import Expression, proportion


class Better(Enum):
    """Which direction is good."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    NEITHER = "neither high nor low is good in itself"


HIGHER, LOWER, NEITHER = Better.HIGHER, Better.LOWER, Better.NEITHER


class Needs(Enum):
    """Which tally a measure is computed from."""

    CONFUSION = "decisions"
    SCORES = "scores"
    LOSSES = "probabilities"


class Interval(Enum):
    """How the default interval is found."""

    BY_SHAPE = "Wilson for a share of rows, else the delta method on the scale of the range"
    BY_JACCARD = "Wilson on the Jaccard index J, mapped by 2J/(1+J)"
    AUC = "DeLong on the logit scale; Newcombe's method 5 where errors are few"
    MEAN = "normal on the log scale, by the spread over rows"
    INFLUENCE = "delta method on the logit scale, by each row's influence"
    NONE = "none; its note says why"


class Law(Enum):
    """What a measure may be indifferent to. Declared ones must hold, all others must fail."""

    CLASS_SWAP = "the other class is called positive, and probabilities are turned over"
    TRANSPOSE = "truth and decision change places"
    PREVALENCE = "positives become more frequent, the rates stay"
    TRUE_NEGATIVES = "more true negatives are added"
    SCORE_MAP = "scores go through a strictly increasing map"


class Counts(NamedTuple):
    """The four cells of an example."""

    tp: int
    fp: int
    fn: int
    tn: int

    def cells(self) -> dict[str, int]:
        """The cells by the names that formulas use."""
        return {"TP": self.tp, "FP": self.fp, "FN": self.fn, "TN": self.tn}


class Band(NamedTuple):
    """A reading that holds from ``low`` up to, but not at, ``high``; ``praise`` where it is one."""

    low: float
    high: float
    reading: str
    praise: bool = False


@dataclass(frozen=True)
class Measure:
    """A measure: its formula or the tally it needs, and how to read it.

    ``formula`` is over the binary cells; ``classes``, where there is one, over all classes of a
    K x K table; for two classes it gives the same number, but for jaccard, whose value over classes
    is the macro average. ``swapped`` names the measure that this
    one becomes when the classes change places, ``complement`` the one that is 1 minus this one.
    ``parts`` are steps on the way that people ask for.
    """

    name: str
    group: str
    reads: str
    misleads: str
    reference: str
    better: Better
    range: tuple[float, float]
    aliases: tuple[str, ...] = ()
    formula: Expression | None = None
    classes: Expression | None = None
    needs: Needs = Needs.CONFUSION
    interval: Interval = Interval.BY_SHAPE
    invariant_under: tuple[Law, ...] = ()
    swapped: str | None = None
    complement: str | None = None
    averaged: bool = True
    bands: tuple[Band, ...] = ()
    parts: Mapping[str, Expression] = field(default_factory=dict)
    example: tuple[Counts, Fraction] | None = None

    @property
    def symmetric(self) -> bool:
        """Whether it does not matter which class is called positive."""
        return Law.CLASS_SWAP in self.invariant_under

    @property
    def averages(self) -> bool:
        """Whether averages over classes are given: of one-sided counts and of rankings."""
        one_sided = not self.symmetric or self.formula is None
        return self.averaged and one_sided and math.isfinite(self.range[1])

    @property
    def is_proportion(self) -> bool:
        """Whether it is a share of rows, so that binomial intervals are legal."""
        return self.formula is not None and proportion(self.formula) is not None

    def band(self, value: float) -> Band | None:
        """The band of a value; None where there is none.

        >>> from assay.measures import KAPPA
        >>> KAPPA.band(0.85).reading
        'almost perfect agreement'
        """
        return next((band for band in self.bands if band.low <= value < band.high), None)

    def reading(self, value: float) -> str | None:
        """What the bands say of a value; None where there are none."""
        band = self.band(value)
        return None if band is None else band.reading
