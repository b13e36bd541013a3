"""Measures as functions of rates, for reports that print rates and no counts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from assay.decisions.audit.search.network import Function
from assay.decisions.audit.search.quantity import PI, A, P, Q, R, S, V

ENDLESS = frozenset(
    {"positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio"}
)
SIGNED = frozenset({"informedness", "markedness", "mcc", "kappa"})
F_BETA = re.compile(r"f(\d+(?:\.\d+)?)")


def f_beta(beta: float) -> Function:
    """F-beta of precision and recall; 0 where both are."""
    weight = beta * beta

    def f(p: float, r: float) -> float:
        below = weight * p + r
        return (1 + weight) * p * r / below if below else 0.0

    return f


def mean(*values: float) -> float:
    """The plain mean."""
    return math.fsum(values) / len(values)


def geometric(*values: float) -> float:
    """The geometric mean of numbers that are not negative."""
    return float(math.prod(max(value, 0.0) for value in values) ** (1 / len(values)))


def micro(measure: str, classes: int | None) -> Function | None:
    """The micro average of a measure as a function of the accuracy; None where it is none.

    ``classes`` is how many there are, None where that is not told.
    """
    if measure in (R, P, "fowlkes_mallows") or F_BETA.fullmatch(measure):
        return lambda a: a
    if measure == "jaccard":
        return lambda a: a / (2 - a)
    if measure in (S, V) and classes is not None and classes > 1:
        return lambda a: (classes - 2 + a) / (classes - 1)
    return None


def signed_root(x: float, y: float) -> float:
    """The geometric mean of two numbers of one sign, with that sign."""
    return _root(max(x, 0.0) * max(y, 0.0)) - _root(max(-x, 0.0) * max(-y, 0.0))


def _root(x: float) -> float:
    return math.sqrt(max(x, 0.0))


def _ratio(top: float, bottom: float) -> float:
    """A ratio whose denominator may reach zero, where it grows without bound."""
    return top / bottom if bottom > 0 else math.inf


def _jaccard(p: float, r: float) -> float:
    below = p + r - p * r
    return p * r / below if below else 0.0


def _mcc(p: float, r: float, s: float, v: float) -> float:
    return _root(p * r * s * v) - _root((1 - p) * (1 - r) * (1 - s) * (1 - v))


def _kappa(a: float, pi: float, q: float) -> float:
    chance = pi * q + (1 - pi) * (1 - q)
    return (a - chance) / (1 - chance)


# What is worked out from rates: of which, how, and the identity in words.
COMPOSITES: Mapping[str, tuple[tuple[str, ...], Function, str]] = {
    "jaccard": ((P, R), _jaccard, "the Jaccard index follows from precision and recall"),
    "fowlkes_mallows": (
        (P, R),
        lambda p, r: _root(p * r),
        "Fowlkes-Mallows is the geometric mean of precision and recall",
    ),
    "balanced_accuracy": (
        (R, S),
        lambda r, s: (r + s) / 2,
        "balanced accuracy is the mean of recall and specificity",
    ),
    "g_mean": (
        (R, S),
        lambda r, s: _root(r * s),
        "the g-mean is the geometric mean of recall and specificity",
    ),
    "informedness": (
        (R, S),
        lambda r, s: r + s - 1,
        "informedness is recall plus specificity minus 1",
    ),
    "markedness": (
        (P, V),
        lambda p, v: p + v - 1,
        "markedness is precision plus negative predictive value minus 1",
    ),
    "mcc": (
        (P, R, S, V),
        _mcc,
        "MCC follows from precision, recall, specificity and negative predictive value",
    ),
    "kappa": ((A, PI, Q), _kappa, "kappa follows from accuracy, prevalence and alert rate"),
    "positive_likelihood_ratio": (
        (R, S),
        lambda r, s: _ratio(r, 1 - s),
        "the positive likelihood ratio is recall over false positive rate",
    ),
    "negative_likelihood_ratio": (
        (R, S),
        lambda r, s: _ratio(1 - r, s),
        "the negative likelihood ratio is the miss rate over specificity",
    ),
    "diagnostic_odds_ratio": (
        (R, S),
        lambda r, s: _ratio(r * s, (1 - r) * (1 - s)),
        "the diagnostic odds ratio follows from recall and specificity",
    ),
}

# What binds the rates of one class against the rest.
OF_RATES: tuple[tuple[str, tuple[str, ...], Function, str], ...] = (
    (
        A,
        (PI, R, S),
        lambda pi, r, s: pi * r + (1 - pi) * s,
        "accuracy lies between recall and specificity, weighed by the prevalence",
    ),
    (
        Q,
        (PI, R, S),
        lambda pi, r, s: pi * r + (1 - pi) * (1 - s),
        "the alert rate follows from prevalence, recall and false positive rate",
    ),
    (
        P,
        (PI, R, S),
        lambda pi, r, s: pi * r / (pi * r + (1 - pi) * (1 - s)),
        "precision follows from recall, false positive rate and prevalence",
    ),
    (
        V,
        (PI, R, S),
        lambda pi, r, s: (1 - pi) * s / ((1 - pi) * s + pi * (1 - r)),
        "the negative predictive value follows from recall, specificity and prevalence",
    ),
    (
        P,
        (PI, R, Q),
        lambda pi, r, q: pi * r / q,
        "precision times alert rate is recall times prevalence",
    ),
    (
        A,
        (Q, P, V),
        lambda q, p, v: q * p + (1 - q) * v,
        "accuracy lies between precision and negative predictive value",
    ),
    (
        PI,
        (Q, P, V),
        lambda q, p, v: q * p + (1 - q) * (1 - v),
        "the prevalence follows from alert rate, precision and negative predictive value",
    ),
    (
        A,
        (PI, Q, R),
        lambda pi, q, r: 1 - pi - q + 2 * pi * r,
        "accuracy follows from prevalence, alert rate and recall",
    ),
)
