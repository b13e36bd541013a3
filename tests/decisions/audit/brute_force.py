"""All binary matrices of fixed supports, measured with formulas written down anew."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath

Number = Fraction | mpmath.mpf
mpmath.mp.dps = 50


@dataclass(frozen=True)
class Cells:
    tp: int
    fp: int
    fn: int
    tn: int

    def swapped(self) -> Cells:
        return Cells(self.tn, self.fn, self.fp, self.tp)


def ratio(top: Number | int, bottom: Number | int) -> Number:
    return Fraction(top, bottom) if isinstance(bottom, int) else top / bottom


def root(x: Fraction) -> Number:
    exact = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
    if exact * exact == x:
        return exact
    return mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)


def mcc(c: Cells) -> Number:
    below = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    if below == 0:
        raise ZeroDivisionError
    return (c.tp * c.tn - c.fp * c.fn) / root(Fraction(below))


def kappa(c: Cells) -> Fraction:
    n = c.tp + c.fp + c.fn + c.tn
    agreed = Fraction(c.tp + c.tn, n)
    chance = Fraction((c.tp + c.fp) * (c.tp + c.fn) + (c.tn + c.fp) * (c.tn + c.fn), n * n)
    return (agreed - chance) / (1 - chance)


MEASURES: dict[str, Callable[[Cells], Number]] = {
    "accuracy": lambda c: Fraction(c.tp + c.tn, c.tp + c.fp + c.fn + c.tn),
    "error_rate": lambda c: Fraction(c.fp + c.fn, c.tp + c.fp + c.fn + c.tn),
    "precision": lambda c: Fraction(c.tp, c.tp + c.fp),
    "recall": lambda c: Fraction(c.tp, c.tp + c.fn),
    "specificity": lambda c: Fraction(c.tn, c.tn + c.fp),
    "npv": lambda c: Fraction(c.tn, c.tn + c.fn),
    "fpr": lambda c: Fraction(c.fp, c.tn + c.fp),
    "fnr": lambda c: Fraction(c.fn, c.tp + c.fn),
    "fdr": lambda c: Fraction(c.fp, c.tp + c.fp),
    "for": lambda c: Fraction(c.fn, c.tn + c.fn),
    "f1": lambda c: Fraction(2 * c.tp, 2 * c.tp + c.fp + c.fn),
    "f2": lambda c: Fraction(5 * c.tp, 5 * c.tp + c.fp + 4 * c.fn),
    "f0.5": lambda c: Fraction(5 * c.tp, 5 * c.tp + 4 * c.fp + c.fn),
    "jaccard": lambda c: Fraction(c.tp, c.tp + c.fp + c.fn),
    "alert_rate": lambda c: Fraction(c.tp + c.fp, c.tp + c.fp + c.fn + c.tn),
    "prevalence": lambda c: Fraction(c.tp + c.fn, c.tp + c.fp + c.fn + c.tn),
    "balanced_accuracy": lambda c: (Fraction(c.tp, c.tp + c.fn) + Fraction(c.tn, c.tn + c.fp)) / 2,
    "informedness": lambda c: Fraction(c.tp, c.tp + c.fn) - Fraction(c.fp, c.tn + c.fp),
    "markedness": lambda c: Fraction(c.tp, c.tp + c.fp) - Fraction(c.fn, c.tn + c.fn),
    "g_mean": lambda c: root(Fraction(c.tp, c.tp + c.fn) * Fraction(c.tn, c.tn + c.fp)),
    "fowlkes_mallows": lambda c: root(Fraction(c.tp**2, (c.tp + c.fp) * (c.tp + c.fn))),
    "mcc": mcc,
    "kappa": kappa,
    "positive_likelihood_ratio": lambda c: (
        Fraction(c.tp, c.tp + c.fn) / Fraction(c.fp, c.tn + c.fp)
    ),
    "negative_likelihood_ratio": lambda c: (
        Fraction(c.fn, c.tp + c.fn) / Fraction(c.tn, c.tn + c.fp)
    ),
    "diagnostic_odds_ratio": lambda c: Fraction(c.tp * c.tn, c.fp * c.fn),
}
AVERAGED = ("precision", "recall", "specificity", "f1", "jaccard", "fpr", "fdr", "f2", "npv")
KEYS = (
    *MEASURES,
    *(f"{name}.normal" for name in MEASURES),
    *(f"{name}.{average}" for name in AVERAGED for average in ("macro", "micro", "weighted")),
)


def measured(key: str, cells: Cells) -> Number | None:
    """The value of a key, None where it is undefined; ``normal`` is the negative label."""
    name, _, suffix = (
        key.rpartition(".") if key.partition(".")[2] not in ("", "5") else (key, "", "")
    )
    formula = MEASURES[name]
    try:
        if suffix == "normal":
            return formula(cells.swapped())
        if suffix == "macro":
            return (formula(cells) + formula(cells.swapped())) / 2
        if suffix == "weighted":
            p, n = cells.tp + cells.fn, cells.fp + cells.tn
            return (formula(cells) * p + formula(cells.swapped()) * n) / Fraction(p + n)
        if suffix == "micro":
            right, wrong = cells.tp + cells.tn, cells.fp + cells.fn
            return formula(Cells(right, wrong, wrong, right))
        return formula(cells)
    except ZeroDivisionError:
        return None


def filled(key: str, cells: Cells) -> list[Number]:
    """What libraries print of an undefined value: 0 or 1, or an average without it."""
    name, _, average = key.rpartition(".")
    if average not in ("macro", "weighted"):
        return [Fraction(0), Fraction(1)]
    own, other = measured(name, cells), measured(name, cells.swapped())
    rows = (cells.tp + cells.fn, cells.fp + cells.tn) if average == "weighted" else (1, 1)
    pairs = [*zip((own, other), rows, strict=True)]
    ends = [
        sum((Fraction(end) if v is None else v) * w for v, w in pairs) / Fraction(sum(rows))
        for end in (0, 1)
    ]
    kept = [(value, weight) for value, weight in pairs if value is not None]
    if sum(weight for _, weight in kept):
        ends.append(sum(v * w for v, w in kept) / Fraction(sum(w for _, w in kept)))
    return ends


def accepted(text: str, value: Number | None) -> bool:
    """Whether a value may have been printed so, by the rule of the contract."""
    if value is None:
        return False
    shown = Fraction(text)
    unit = Fraction(1, 10 ** len(text.partition(".")[2]))
    if isinstance(value, Fraction):
        return abs(value - shown) < unit
    off = abs(value - mpmath.mpf(shown.numerator) / shown.denominator)
    return bool(off < mpmath.mpf(unit.numerator) / unit.denominator)


def matrices(positives: int, negatives: int) -> Iterator[Cells]:
    for tp, fp in itertools.product(range(positives + 1), range(negatives + 1)):
        yield Cells(tp, fp, positives - tp, negatives - fp)


def printed(value: Number, digits: int, how: str) -> str:
    """A number rounded half up or half even, or cut off."""
    scale = 10**digits
    scaled = Fraction(value) * scale if isinstance(value, Fraction) else None
    if scaled is None:
        shifted = value * scale
        whole = int(mpmath.floor(shifted)) if how == "cut" else int(mpmath.nint(shifted))
        whole = whole + 1 if how == "cut" and value < 0 else whole
    elif how == "cut":
        whole = abs(scaled.numerator) // scaled.denominator * (1 if scaled >= 0 else -1)
    elif how == "even":
        whole = round(scaled)
    else:
        whole = (scaled + Fraction(1, 2)).__floor__()
    sign = "-" if whole < 0 else ""
    return f"{sign}{abs(whole) // scale}.{abs(whole) % scale:0{digits}d}"


def possible(reported: Sequence[tuple[str, str]], candidates: Sequence[Cells]) -> list[Cells]:
    """The matrices that give all numbers."""
    return [
        cells for cells in candidates if all(_may_be(text, key, cells) for key, text in reported)
    ]


def _may_be(text: str, key: str, cells: Cells) -> bool:
    value = measured(key, cells)
    if value is not None:
        return accepted(text, value)
    return any(accepted(text, each) for each in filled(key, cells))
