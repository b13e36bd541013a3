"""Rules that choose a threshold, applied to a sweep of counts.

Limits are decimals: 3 false positives among 30 negatives satisfy ``max-fpr=0.1``, whatever binary
floats say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference.significance import check_share, is_share
from assay.text import quote

Array: TypeAlias = npt.NDArray[Any]

NOTHING = -1  # no threshold keeps the rule: nothing is flagged

# Products below this are exact in 64 bits.
_LARGEST = 1 << 62
# Floats further apart than this share of their sum are in the right order.
_CLOSE = 1e-14
# And so near to 0 they keep too few digits for that.
_TINY = 1e-280


@dataclass(frozen=True)
class AtThreshold:
    """Flag from this score on."""

    threshold: float

    def __post_init__(self) -> None:
        number = isinstance(self.threshold, float | int | np.integer | np.floating)
        try:
            finite = number and math.isfinite(self.threshold)
        except OverflowError:
            finite = False
        if not finite or isinstance(self.threshold, bool):
            raise MethodError(f"a threshold must be a finite number; found {quote(self.threshold)}")

    def __str__(self) -> str:
        return f"threshold={_digits_of(self.threshold)}"


@dataclass(frozen=True)
class MaxFpr:
    """The lowest threshold whose false positive rate is at most ``limit``."""

    limit: float

    def __post_init__(self) -> None:
        _share("max-fpr", self.limit)

    def __str__(self) -> str:
        return f"max-fpr={_digits_of(self.limit)}"

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:  # noqa: ARG002
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        if not negatives:
            return NOTHING  # an undefined rate keeps no limit
        return _last_kept(at_most(fp, Fraction(1), np.full(1, negatives), _exact(self.limit)))


@dataclass(frozen=True)
class MaxFar:
    """The lowest threshold whose false alarm rate FP/(FP + TP) is at most ``limit``.

    At the test set's own share of attacks, or at a base rate. No alerts at all don't satisfy it.
    """

    limit: float
    base_rate: float | None = None

    def __post_init__(self) -> None:
        _share("max-far", self.limit)
        if self.base_rate is not None:
            check_share("base-rate", self.base_rate)

    def __str__(self) -> str:
        rate = "" if self.base_rate is None else f",base-rate={_digits_of(self.base_rate)}"
        return f"max-far={_digits_of(self.limit)}{rate}"

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        if self.base_rate is not None and not (positives and negatives):
            return NOTHING  # an undefined rate keeps no limit
        true, false = self._odds(positives, negatives)
        kept = at_most(fp, false, tp, true)
        # Rows that are not drawn leave thresholds without alerts at the start.
        kept[: min(int(np.searchsorted(side, 0, side="right")) for side in (tp, fp))] = False
        return _last_kept(kept)

    def _odds(self, positives: float, negatives: float) -> tuple[Fraction, Fraction]:
        """The rate is kept where FP times the second is at most TP times the first."""
        true, false = _exact(self.limit), 1 - _exact(self.limit)
        if self.base_rate is not None:
            rate = _exact(self.base_rate)
            true *= rate * Fraction(negatives)
            false *= (1 - rate) * Fraction(positives)
        return true, false


Rule: TypeAlias = AtThreshold | MaxFpr | MaxFar

_RULES: Mapping[str, Callable[[float], Rule]] = {
    "threshold": AtThreshold,
    "max-fpr": MaxFpr,
    "max-far": MaxFar,
}


def rule_of(at: Any) -> Rule | None:
    """A rule as it was given: as an object, by its text, or none.

    >>> rule_of("max-fpr=1%"), rule_of(None)
    (MaxFpr(limit=0.01), None)
    """
    if at is None or isinstance(at, Rule):
        return at
    if not isinstance(at, str):
        raise MethodError(
            f"at= is a rule such as 'max-far=0.1' or 'threshold=0.5'; found {quote(at)}"
        )
    return parse_rule(at)


def parse_rule(text: str) -> Rule:
    """A rule from its text; shares may be written as 0.1, 10% or 1/10.

    >>> parse_rule("max-far=10%,base-rate=1/1000")
    MaxFar(limit=0.1, base_rate=0.001)
    """
    parts = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        try:
            parts[name.strip()] = _number(number.strip())
        except (ValueError, ZeroDivisionError, OverflowError):
            raise MethodError(_unknown(text)) from None
    name, *others = parts
    if name == "max-far" and others == ["base-rate"]:
        return MaxFar(parts[name], parts["base-rate"])
    if name not in _RULES or others:
        raise MethodError(_unknown(text))
    return _RULES[name](parts[name])


def _number(text: str) -> float:
    if text.endswith("%"):
        return float(Fraction(text.removesuffix("%")) / 100)
    return float(Fraction(text)) if "/" in text else float(text)


def _digits_of(number: float) -> str:
    """Every digit that tells it from other numbers, without a bare zero."""
    return repr(float(number)).removesuffix(".0")


def _unknown(text: str) -> str:
    return (
        f"a rule reads threshold=0.7, max-fpr=0.01, max-far=0.1 or max-far=0.1,base-rate=0.001; "
        f"found {text!r}"
    )


def _share(name: str, value: Any) -> None:
    if not is_share(value):
        raise MethodError(f"{name} must lie between 0 and 1; found {quote(value)}")


def _exact(limit: float) -> Fraction:
    """The decimal that was written, not the float that is nearest to it."""
    return Fraction(str(float(limit)))


def at_most(a: Array, by_a: Fraction, b: Array, by_b: Fraction) -> Array:
    """Where a * by_a <= b * by_b, exactly; neither falls along the sweep."""
    scale = math.lcm(by_a.denominator, by_b.denominator)
    first, second = int(by_a * scale), int(by_b * scale)
    common = math.gcd(first, second) or 1
    first, second = first // common, second // common
    whole = a.dtype.kind in "iu" and b.dtype.kind in "iu"
    largest = max(first * int(a[-1]), second * int(b[-1]), first, second)
    if whole and largest < _LARGEST:
        kind = np.result_type(a, b, np.min_scalar_type(-largest))
        return np.asarray(kind.type(first) * a <= kind.type(second) * b)
    larger = max(first, second)
    left, right = a * float(Fraction(first, larger)), b * float(Fraction(second, larger))
    kept = np.asarray(left <= right)
    a, b = np.broadcast_arrays(a, b)
    for i in np.flatnonzero(np.abs(left - right) <= _CLOSE * (left + right) + _TINY).tolist():
        kept[i] = Fraction(a[i].item()) * first <= Fraction(b[i].item()) * second
    return kept


def _last_kept(kept: Array) -> int:
    """The last position that is kept: the lowest threshold, the highest detection rate."""
    backwards = kept[::-1]
    first = int(backwards.argmax())
    return len(kept) - 1 - first if backwards[first] else NOTHING
