"""What a test of significance found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.errors import MethodError
from assay.inference.estimate import Estimate


@dataclass(frozen=True)
class Significance:
    """The result of a test: statistic, degrees of freedom, p, effect, and what lies behind it.

    ``table`` holds the counts or sums from which the statistic was computed; ``sentence`` reads.
    ``measure`` names what was compared where the test alone does not say it.
    """

    test: str
    statistic: float | None
    df: tuple[float, ...]
    p: float
    method: str
    sentence: str
    effect: Estimate | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    on: str = "all"
    p_adjusted: float | None = None
    measure: str | None = None

    def __str__(self) -> str:
        return self.sentence

    def adjusted(self, p: float) -> Significance:
        """The same result with its p-value adjusted for how many tests were made."""
        return replace(self, p_adjusted=p)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        effect = None
        if self.effect is not None:
            ends = (float(self.effect), self.effect.low, self.effect.high)
            effect = finite(dict(zip(("value", "low", "high"), ends, strict=True)))
        return {
            "test": self.test,
            "a": self.models[0] if len(self.models) == 2 else None,
            "b": self.models[1] if len(self.models) == 2 else None,
            "on": self.on,
            "measure": self.measure,
            "statistic": finite(self.statistic),
            "df": finite(list(self.df)),
            "p": finite(self.p),
            "p_adjusted": self.p_adjusted,
            "method": self.method,
            "effect": effect,
            "table": finite(dict(self.table)),
            "sentence": self.sentence,
        }


def finite(found: Any) -> Any:
    """Plain values with null for what is not finite."""
    if isinstance(found, dict):
        return {key: finite(part) for key, part in found.items()}
    if isinstance(found, list):
        return [finite(part) for part in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found


def checked_names(names: Sequence[str] | None, models: int) -> list[str]:
    """A name for each model, by default its number; refuses too few, too many or twice the same."""
    found = [str(i) for i in range(models)] if names is None else [str(name) for name in names]
    if len(found) != models or len(set(found)) != models:
        raise MethodError(f"{models} models need {models} names that differ; found {found}")
    return found


def p_text(p: float) -> str:
    """A p-value as it stands in a sentence.

    >>> p_text(0.03), p_text(1e-9)
    ('p = 0.03', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"
