"""A number with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# A number that is nearer to 1 than fewer decimals show is as good as 1.
_MOST = 13


class Estimate(float):
    """A value that is a float, and carries its interval, method and size.

    ``undefined`` is the reason why there is no value, ``note`` whatever else should be said, such
    as why there is no interval. ``n`` is how many rows the value rests on, ``parts`` steps on the
    way that people ask for. ``bound`` is between which values it lies for sure where scores are
    kept as a grid; None where the value is exact.

    >>> precision = Estimate(0.975, 0.971, 0.979, method="wilson", n=6802, level=0.95)
    >>> precision
    0.975 [0.971, 0.979]
    >>> 1 - precision == 1 - 0.975
    True
    """

    __slots__ = ("bound", "high", "level", "low", "method", "n", "note", "parts", "undefined")

    low: float
    high: float
    method: str
    n: float
    level: float
    undefined: str | None
    note: str | None
    parts: Mapping[str, float]
    bound: tuple[float, float] | None

    def __new__(  # noqa: D102 - the class says it
        cls,
        value: float,
        low: float = math.nan,
        high: float = math.nan,
        *,
        method: str = "",
        n: float = 0,
        level: float = 0.95,
        undefined: str | None = None,
        note: str | None = None,
        parts: Mapping[str, float] | None = None,
        bound: tuple[float, float] | None = None,
    ) -> Estimate:
        self = super().__new__(cls, value)
        fields = {
            "low": float(low),
            "high": float(high),
            "method": method,
            "n": n,
            "level": level,
            "undefined": undefined,
            "note": note,
            "parts": dict(parts or {}),
            "bound": bound,
        }
        for name, given in fields.items():
            object.__setattr__(self, name, given)
        return self

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an estimate is frozen: {name} can't be deleted")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an estimate is frozen: {name} can't be set")

    @property
    def value(self) -> float:
        """The plain number."""
        return float(self)

    def changed(self, value: float | None = None, **fields: Any) -> Estimate:
        """The same estimate with another value or other fields."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        return Estimate(float(self) if value is None else value, **{**kept, **fields})

    def bounded(self, low: float, high: float) -> Estimate:
        """The same estimate with bounds, which its interval is widened to hold.

        >>> Estimate(0.975, 0.971, 0.979).bounded(0.974, 0.98)
        0.975 [0.971, 0.980]
        """
        low, high = min(low, float(self)), max(high, float(self))
        if math.isnan(self.low) or math.isnan(self.high):
            return self.changed(bound=(low, high))
        return self.changed(low=min(self.low, low), high=max(self.high, high), bound=(low, high))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in self.__slots__}
        return _rebuilt, (float(self), fields)

    def __repr__(self) -> str:
        return self.text()

    def __str__(self) -> str:
        return self.text()

    def text(self, digits: int = 3) -> str:
        """The value and its interval, or why there is none."""
        if math.isnan(self):
            return f"undefined: {self.undefined}" if self.undefined else "undefined"
        value, low, high = (decimal(end, digits) for end in (float(self), self.low, self.high))
        if math.isnan(self.low) and math.isnan(self.high):
            return value
        return f"{value} [{low}, {high}]"


def decimal(number: float, digits: int = 3, *, sign: str = "") -> str:
    """A number with so many decimals; written otherwise where it would read as 0 or 1 and is not.

    >>> decimal(0.97545), decimal(0.00004), decimal(0.99999), decimal(0)
    ('0.975', '4e-05', '0.99999', '0.000')
    """
    texts = [f"{number:{sign}.{more}f}" for more in range(digits, _MOST)]
    if number and float(texts[0]) == 0:
        return f"{number:{sign}.2g}"
    told = (text for text in texts if float(text) not in (1, -1) or float(text) == number)
    return next(told, texts[0])


def _rebuilt(value: float, fields: dict[str, Any]) -> Estimate:
    low, high = fields.pop("low"), fields.pop("high")
    return Estimate(value, low, high, **fields)
