"""What a comparison found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.decisions.compare.flips import DecidedRows, Flip, FlippedRow, flipped
from assay.decisions.optimal import Optimal
from assay.errors import InputError, UnknownMeasure
from assay.inference import Estimate, Significance
from assay.inference.estimate import decimal
from assay.inference.operating import Rule
from assay.inference.significance import finite
from assay.measures import Better, Measure, parse

if TYPE_CHECKING:
    from assay.decisions.plotting import ComparisonPlots

SCHEMA = "assay.compare/1"

BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"


@dataclass(frozen=True)
class Difference:
    """A measure of two models, and B less A with its paired interval."""

    measure: str
    a: str
    b: str
    value_a: float
    value_b: float
    difference: Estimate
    p: float
    p_adjusted: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The difference as the plain values of the contract."""
        return {
            "measure": self.measure,
            "a": self.a,
            "b": self.b,
            "value_a": finite(self.value_a),
            "value_b": finite(self.value_b),
            "difference": finite(float(self.difference)),
            "low": finite(self.difference.low),
            "high": finite(self.difference.high),
            "p": finite(self.p),
            "p_adjusted": self.p_adjusted,
            "method": self.difference.method,
            "bound": _ends(self.difference.bound),
        }


@dataclass(frozen=True)
class Verdict:
    """What is said of a pair, in a sentence and in a word: is B better than A?

    ``outcome`` is better, worse, equivalent or undecided, by ``measure``. Where it is undecided,
    ``enough`` is about how many rows (or clusters, or folds) would decide it, if that can be told.
    It unpacks into both names and the sentence.
    """

    a: str
    b: str
    text: str
    outcome: str
    measure: str
    enough: int | None = None

    def __iter__(self) -> Iterator[str]:
        return iter((self.a, self.b, self.text))

    def __getitem__(self, i: int) -> str:
        return (self.a, self.b, self.text)[i]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as the plain values of the contract."""
        return {
            "a": self.a,
            "b": self.b,
            "text": self.text,
            "outcome": self.outcome,
            "measure": self.measure,
            "enough": self.enough,
        }


@dataclass(frozen=True)
class Comparison:
    """Differences, tests, and a sentence of verdict for each pair of models.

    ``at`` is the rule that chose the thresholds, ``thresholds`` where each model flags from (None:
    it flags nothing), ``estimates`` every measure of every model, ``per_class`` what each of many
    classes has of its own, by model, then label and measure, ``flips`` how many rows two models
    decide differently, ``optimal`` for which costs each model is the best, if there are two
    classes. ``mode`` is how scores are kept: ``exact``, or of many rows as a ``grid``, and then
    differences of scores have bounds.
    """

    models: tuple[str, ...]
    differences: tuple[Difference, ...]
    tests: tuple[Significance, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    at: Rule | None = None
    level: float = 0.95
    margin: float = 0.01
    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    estimates: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    per_class: Mapping[str, Mapping[tuple[str, str], Estimate]] = field(default_factory=dict)
    flips: tuple[Flip, ...] = ()
    decided: DecidedRows | None = field(default=None, repr=False, compare=False)
    optimal: Optimal | None = None
    mode: str = "exact"

    def difference(self, measure: str, a: str | None = None, b: str | None = None) -> Difference:
        """The difference of one measure between two models, by default the first two."""
        a, b = a or self.models[0], b or self.models[1]
        for found in self.differences:
            if (key(found.measure), found.a, found.b) == (key(measure), a, b):
                return found
        raise InputError(f"there is no difference of {measure!r} between {a!r} and {b!r}")

    def verdict(self, a: str | None = None, b: str | None = None) -> Verdict:
        """The verdict on two models, by default the first two."""
        a, b = a or self.models[0], b or self.models[1]
        for found in self.verdicts:
            if (found.a, found.b) == (a, b):
                return found
        raise InputError(f"there is no verdict on {a!r} and {b!r}")

    def best(self, measure: str) -> str | None:
        """The model that is significantly better than every other, by one measure.

        None where no model is: the interval of each of its differences must leave out 0, and its p,
        adjusted for how many pairs there are, must be below 1 - level.
        """
        sign = direction(measure)
        wins = dict.fromkeys(self.models, 0)
        for found in self.differences:
            known = found.p_adjusted is not None and found.p_adjusted < 1 - self.level
            if known and key(found.measure) == key(measure):
                ends = sign * found.difference.low, sign * found.difference.high
                wins[found.b] += min(ends) > 0
                wins[found.a] += max(ends) < 0
        return next((name for name, won in wins.items() if won == len(self.models) - 1), None)

    def flipped(self, a: str | None = None, b: str | None = None) -> tuple[FlippedRow, ...]:
        """The rows on which two models decide differently, by default the first two."""
        if self.decided is None and self.flips:
            raise InputError(
                "which rows flipped is not known: they were counted and let go while files were "
                "read. Keep them with keep_rows=True, or on the command line with --flips"
            )
        if self.decided is None:
            raise InputError(
                "no row flipped: a comparison of folds has no rows, and without a threshold for "
                "every model none is decided on"
            )
        return tuple(flipped(self.decided, a or self.models[0], b or self.models[1]))

    @property
    def plot(self) -> ComparisonPlots:
        """Figures by matplotlib: ``comparison.plot.forest()``; needs the extra ``plot``."""
        from assay.decisions.plotting import ComparisonPlots

        return ComparisonPlots(self)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as the plain values of the contract, ready for JSON."""
        return {
            "schema": SCHEMA,
            "models": list(self.models),
            "at": None if self.at is None else str(self.at),
            "level": self.level,
            "margin": self.margin,
            "mode": self.mode,
            "thresholds": dict(self.thresholds),
            "estimates": [
                *(
                    _estimate(model, measure, None, found)
                    for model, measures in self.estimates.items()
                    for measure, found in measures.items()
                ),
                *(
                    _estimate(model, measure, label, found)
                    for model, measures in self.per_class.items()
                    for (label, measure), found in measures.items()
                ),
            ],
            "differences": [found.to_dict() for found in self.differences],
            "tests": [found.to_dict() for found in self.tests],
            "verdicts": [found.to_dict() for found in self.verdicts],
            "flips": [flip.to_dict() for flip in self.flips],
            "optimal": None if self.optimal is None else self.optimal.to_dict(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        width = max((len(found.measure) for found in self.differences), default=0)
        rows = [
            f"{found.measure:<{width}}  {found.a} {decimal(found.value_a)}  {found.b} "
            f"{decimal(found.value_b)}  difference {found.difference}"
            for found in self.differences
        ]
        tests = [str(test) for test in self.tests]
        verdicts = [found.text for found in self.verdicts]
        at = "" if self.at is None else f" at {self.at}"
        title = f"Comparison of {', '.join(self.models)}{at}"
        return "\n".join([title, "", *rows, "", *tests, "", *verdicts])


def _estimate(model: str, measure: str, label: str | None, found: Estimate) -> dict[str, Any]:
    return {
        "model": model,
        "measure": measure,
        "label": label,
        "value": finite(float(found)),
        "low": finite(found.low),
        "high": finite(found.high),
        "method": found.method,
        "n": found.n,
        "undefined": found.undefined,
        "bound": _ends(found.bound),
    }


def _ends(bound: tuple[float, float] | None) -> list[float] | None:
    return None if bound is None else [float(end) for end in bound]


# -- measures by whatever name they are called, also ones outside of the catalogue -----------------


def known(measure: str) -> tuple[Measure, str | None] | None:
    """The measure and its suffix; None where it is not in the catalogue."""
    try:
        return parse(measure)
    except UnknownMeasure:
        return None


def key(measure: str) -> str:
    """The name under which a measure is known; one that is not known as it is.

    >>> key("detection_rate"), key("my_own")
    ('recall', 'my_own')
    """
    found = known(measure)
    if found is None:
        return measure
    of, suffix = found
    return of.name if suffix is None else f"{of.name}.{suffix}"


def direction(measure: str) -> int:
    """1 where higher is better, -1 where lower is, 0 where neither is.

    A measure that is not known is taken as better when higher.
    """
    found = known(measure)
    if found is None:
        return 1
    return {Better.HIGHER: 1, Better.LOWER: -1, Better.NEITHER: 0}[found[0].better]
