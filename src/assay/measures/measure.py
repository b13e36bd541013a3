"""What a measure is: one declaration, from which everything else follows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from assay.errors import MethodError
from assay.formula import Expression, cells, constant, derivative, proportion, value
from assay.formula.properties import BINARY, TABLES, Tables, agree, slope, unmoved
from assay.formula.tree import Divide

if TYPE_CHECKING:
    from assay.measures.scores import OfScores


class Better(Enum):
    """Which direction is good."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    NEITHER = "neither high nor low is good in itself"


HIGHER, LOWER, NEITHER = Better.HIGHER, Better.LOWER, Better.NEITHER


class Needs(Enum):
    """Which counts a measure is computed from."""

    CONFUSION = "decisions"
    COSTS = "decisions and the costs of errors"
    SCORES = "scores"
    LOSSES = "probabilities"
    OPEN_SET = "probabilities and unknown rows"


class Interval(Enum):
    """How the default interval is found."""

    BY_SHAPE = "Wilson for a share of rows, else the delta method on the scale of the range"
    TOUCHING = "delta method on the arcsine of the root, since it is flat where it is 0"
    BY_JACCARD = "Wilson on the Jaccard index J, mapped by 2J/(1+J)"
    AUC = "DeLong on the logit scale; Newcombe's method 5 where errors are few"
    AT_RATE = (
        "Wilson's for the detected share, combined with order statistics of the negatives for the "
        "threshold"
    )
    PARTIAL = "delta method on the logit scale; Newcombe's method 5 where errors are few"
    CHOSEN = (
        "delta method on the logit scale, by each row's influence, less the optimism of thresholds "
        "that were chosen on the same rows"
    )
    MEAN = "normal on the log scale, by the spread over rows"
    INFLUENCE = "delta method on the logit scale, by each row's influence"
    AVERAGED = "delta method on the logit scale, by each row's influence on every class"
    NONE = "none; its note says why"


class Law(Enum):
    """What a measure may be indifferent to.

    Found from a formula; declared of scores, where declared ones must hold and all others fail.
    """

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


class Identity(NamedTuple):
    """A measure as a function of others, whatever the counts are, and the same in words.

    The cells of the expression are names of measures. Within their ranges it moves one way with
    each of them while the others stay.
    """

    expression: Expression
    words: str


class OfDecisions(NamedTuple):
    """What people print for a measure of scores who only have decisions, and what to call that."""

    mistake: str
    said: str
    formula: Expression


class Costs(NamedTuple):
    """What one false alarm and one missed attack cost, in any unit."""

    false_alarm: Fraction
    miss: Fraction


# A bound on a measure of scores: a formula of the four cells, or a function of tp, fp, fn and tn.
Bound: TypeAlias = Expression | Callable[[int, int, int, int], Fraction]


class Band(NamedTuple):
    """A reading that holds from ``low`` up to, but not at, ``high``; ``praise`` where it is one."""

    low: float
    high: float
    reading: str
    praise: bool = False


class Definition(NamedTuple):
    """A measure as papers write it: on a line, in LaTeX, and what its letters mean."""

    plain: str
    latex: str
    symbols: str


_SWAPPED: Tables = {cell: TABLES[other] for cell, other in zip(BINARY, BINARY[::-1], strict=True)}
_CHANGED: Mapping[Law, Tables] = {
    Law.CLASS_SWAP: _SWAPPED,
    Law.TRANSPOSE: {**TABLES, "FP": TABLES["FN"], "FN": TABLES["FP"]},
    Law.PREVALENCE: {**TABLES, "TP": 3 * TABLES["TP"], "FN": 3 * TABLES["FN"]},
    Law.TRUE_NEGATIVES: {**TABLES, "TN": TABLES["TN"] + 5},
}


@dataclass(frozen=True)
class Measure:
    """A measure: a formula of counts, or of costs too, or a declaration of scores; how to read it.

    ``formula`` is over the binary cells; ``classes``, where there is one, over all classes of a
    K x K table; for two classes it gives the same number, but for jaccard, whose value over classes
    is the macro average. ``of_costs`` gives the formula where a false alarm and a missed attack
    cost so much; :meth:`priced` is the measure at some costs. ``of_scores`` says how a measure that
    has no formula is computed, and ``definition`` how it is written, as it may be of a formula that
    is too long to be read. ``title`` is what headings call it, where that is not its name with
    blanks; ``aside`` another word that they add; ``short`` what has little room; ``headings`` are
    what columns of published tables call it beside its names.
    ``parts`` are steps on the way that people ask for.

    What a reader of published numbers has to know stands here too. ``identities`` bind it to other
    measures. ``taken_for`` are measures that it is confused with, ``other_uses`` names of others
    that some people use for it, ``of_a_class`` the measure that many mean who quote it for a single
    class, ``beta`` that of an F score, ``slug`` what stands for it in the names of mistakes, where
    that is not its name. A measure of scores has ``bounds`` at an operating point, least and
    largest, and ``of_decisions``.
    """

    name: str
    group: str
    reads: str
    misleads: str
    reference: str
    better: Better
    range: tuple[float, float]
    aliases: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    title: str = ""
    aside: str = ""
    short: str = ""
    formula: Expression | None = None
    classes: Expression | None = None
    of_costs: Callable[[Expression, Expression], Expression] | None = None
    of_scores: OfScores | None = None
    definition: Definition | None = None
    averaged: bool = True
    bands: tuple[Band, ...] = ()
    parts: Mapping[str, Expression] = field(default_factory=dict)
    example: tuple[Counts, Fraction] | None = None
    identities: tuple[Identity, ...] = ()
    taken_for: tuple[str, ...] = ()
    other_uses: tuple[str, ...] = ()
    of_a_class: str | None = None
    beta: Fraction | None = None
    slug: str = ""
    bounds: tuple[Bound, Bound] | None = None
    of_decisions: tuple[OfDecisions, ...] = ()

    def __post_init__(self) -> None:
        forms = (self.formula, self.of_costs, self.of_scores)
        if sum(form is not None for form in forms) != 1:
            raise MethodError(f"{self.name} is a formula, of_costs or of_scores: declare one")
        if self.of_scores is not None and self.definition is None:
            raise MethodError(f"{self.name} is of_scores: say its definition too")
        if not self.title:
            object.__setattr__(self, "title", spoken(self.name))
        if not self.short:
            object.__setattr__(self, "short", self.title)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """A measure of the catalogue is pickled and copied by its name; it may hold lambdas."""
        from assay.measures import catalogue

        if catalogue.names().get(self.name) is self:
            return catalogue.find, (self.name,)
        return super().__reduce__()

    # -- what follows from the declaration ---------------------------------------------------------

    @property
    def needs(self) -> Needs:
        """Which counts it is computed from."""
        if self.of_costs is not None:
            return Needs.COSTS
        return Needs.CONFUSION if self.of_scores is None else self.of_scores.needs

    def priced(self, costs: Costs) -> Measure:
        """The same measure as a formula of counts, at these costs; one without costs is itself.

        >>> from assay.formula import plain
        >>> from assay.measures import EXPECTED_COST
        >>> plain(EXPECTED_COST.priced(Costs(Fraction(1), Fraction(20))).formula)
        '(FP + 20 FN) / (TP + TN + FP + FN)'
        """
        return self if self.of_costs is None else _priced(self, self.of_costs, costs)

    @property
    def of_counts(self) -> Expression:
        """Its formula, which a measure of scores has not, nor one of costs before it is priced."""
        if self.formula is None:
            raise MethodError(f"{self.name} is no formula of counts")
        return self.formula

    @cached_property
    def interval(self) -> Interval:
        """How its default interval is found."""
        if self.of_scores is not None:
            return self.of_scores.interval
        if self._maps_jaccard:
            return Interval.BY_JACCARD
        return Interval.TOUCHING if self._touches_zero else Interval.BY_SHAPE

    @property
    def _touches_zero(self) -> bool:
        """Whether it is flat where it is 0, like a square: then errors there have no slope."""
        if self.formula is None or tuple(self.range) != (0.0, 1.0):
            return False
        by_chance = value(self.formula, _CHANCE)
        slopes = [value(derivative(self.formula, cell), _CHANCE) for cell in BINARY]
        return by_chance == 0 and not any(slopes)

    @property
    def _maps_jaccard(self) -> bool:
        """Whether it is 2J/(1+J) of a share of rows J, but none itself."""
        if self.is_proportion or not isinstance(self.formula, Divide):
            return False
        hits = self.formula.numerator / 2
        return proportion(hits / (self.formula.denominator - hits)) is not None

    @cached_property
    def invariant_under(self) -> tuple[Law, ...]:
        """What does not change it: found on tables, or of scores declared."""
        if self.of_scores is not None:
            return self.of_scores.invariant_under
        formula = self.priced(_UNLIKE).of_counts
        return tuple(law for law, changed in _CHANGED.items() if unmoved(formula, changed))

    @property
    def symmetric(self) -> bool:
        """Whether it does not matter which class is called positive."""
        return Law.CLASS_SWAP in self.invariant_under

    @cached_property
    def slopes(self) -> Mapping[str, int | None]:
        """Whether it rises (1) or falls (-1) as each of its cells grows; None where it does both.

        >>> from assay.measures import PRECISION
        >>> dict(PRECISION.slopes)
        {'TP': 1, 'FP': -1}
        """
        if self.formula is None:
            return {}
        held = cells(self.formula)
        return {cell: slope(self.formula, cell) for cell in BINARY if cell in held}

    @property
    def endless(self) -> bool:
        """Whether it has no largest value."""
        return math.isinf(self.range[1])

    @cached_property
    def swapped(self) -> str | None:
        """The measure that it becomes when the classes change places, if not itself."""
        from assay.measures import catalogue

        if self.symmetric or self.formula is None:
            return None
        return _name_for_formula(self.formula, _SWAPPED, catalogue.CATALOGUE)

    @cached_property
    def complement(self) -> str | None:
        """The measure that is 1 minus this one."""
        from assay.measures import catalogue

        if self.formula is None:
            return None
        return _name_for_formula(1 - self.formula, TABLES, catalogue.CATALOGUE)

    @property
    def averages(self) -> bool:
        """Whether averages over classes are given: of one-sided counts and of rankings."""
        one_sided = not self.symmetric or self.of_scores is not None
        return self.averaged and one_sided and not self.endless

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


# A table in which decisions have nothing to do with the truth.
_CHANCE = {"TP": 2, "FP": 4, "FN": 3, "TN": 6}
# Costs that tell a false alarm from a miss.
_UNLIKE = Costs(Fraction(2), Fraction(7))


@lru_cache(maxsize=512)
def _priced(
    measure: Measure, of_costs: Callable[[Expression, Expression], Expression], costs: Costs
) -> Measure:
    formula = of_costs(constant(costs.false_alarm), constant(costs.miss))
    # A mean of what each row is worth lies between the worths of the four cells.
    worths = [value(formula, {cell: int(cell == held) for cell in BINARY}) for held in BINARY]
    return replace(measure, formula=formula, of_costs=None, range=(min(worths), max(worths)))


def _name_for_formula(
    formula: Expression, tables: Tables, others: tuple[Measure, ...]
) -> str | None:
    """The first of the measures that is a formula read on these tables."""
    for other in others:
        if other.formula is not None and agree(other.formula, formula, tables):
            return other.name
    return None


_CAPITALS = re.compile(r"\b(?:roc|auc|mcc|ks|f\d[\d.]*)\b")


def spoken(name: str) -> str:
    """A name with blanks, and capitals where they are usual."""
    return _CAPITALS.sub(lambda match: match[0].upper(), name.replace("_", " "))
