"""What a comparison found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.decisions.plotting import ComparisonPlots
from assay.errors import InputError
from assay.inference import Estimate, Significance
from assay.inference.significance import finite
from assay.measures import parse

SCHEMA = "assay.compare/1"


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
        }


@dataclass(frozen=True)
class Comparison:
    """Differences, tests, and a sentence of verdict for each pair of models."""

    models: tuple[str, ...]
    differences: tuple[Difference, ...]
    tests: tuple[Significance, ...]
    verdicts: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...] = ()

    def difference(self, measure: str, a: str | None = None, b: str | None = None) -> Difference:
        """The difference of one measure between two models, by default the first two."""
        a, b = a or self.models[0], b or self.models[1]
        of, suffix = parse(measure)
        measure = of.name if suffix is None else f"{of.name}.{suffix}"
        for found in self.differences:
            if (found.measure, found.a, found.b) == (measure, a, b):
                return found
        raise InputError(f"there is no difference of {measure!r} between {a!r} and {b!r}")

    @property
    def plot(self) -> ComparisonPlots:
        """Figures by matplotlib: ``comparison.plot.forest()``; needs the extra ``plot``."""
        return ComparisonPlots(self)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as the plain values of the contract, ready for JSON."""
        return {
            "schema": SCHEMA,
            "models": list(self.models),
            "differences": [found.to_dict() for found in self.differences],
            "tests": [found.to_dict() for found in self.tests],
            "verdicts": [{"a": a, "b": b, "text": text} for a, b, text in self.verdicts],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        width = max((len(found.measure) for found in self.differences), default=0)
        rows = [
            f"{found.measure:<{width}}  {found.a} {found.value_a:.3f}  {found.b} "
            f"{found.value_b:.3f}  difference {found.difference}"
            for found in self.differences
        ]
        tests = [str(test) for test in self.tests]
        verdicts = [text for _, _, text in self.verdicts]
        title = f"Comparison of {', '.join(self.models)}"
        return "\n".join([title, "", *rows, "", *tests, "", *verdicts])
