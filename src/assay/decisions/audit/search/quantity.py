"""The names of what measures speak of: ``label|measure`` for one class against the rest.

What belongs to no single class has no bar in its name: ``accuracy``, ``f1.macro``. Of two classes,
the recall of one is the specificity of the other, and bears one name only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.decisions.audit.claim import AVERAGES, Key
from assay.decisions.audit.search.number import meant_by

PI, R, S, P, V, Q, A = (
    "prevalence",
    "recall",
    "specificity",
    "precision",
    "negative_predictive_value",
    "alert_rate",
    "accuracy",
)
BASE = (PI, R, S, P, V, Q, A)
COMPLEMENTS: Mapping[str, str] = {
    "error_rate": A,
    "false_negative_rate": R,
    "false_positive_rate": S,
    "false_discovery_rate": P,
    "false_omission_rate": V,
}
# An average over classes of which it is not told whether it is macro or weighted.
SOME_AVERAGE = "average"
_SEEN_FROM_THE_OTHER = {R: S, S: R, P: V, V: P}
# The same whichever of two classes is called positive.
_SYMMETRIC = frozenset(
    {
        A,
        "balanced_accuracy",
        "g_mean",
        "informedness",
        "markedness",
        "mcc",
        "kappa",
        "diagnostic_odds_ratio",
        "roc_auc",
    }
)
_OVER_CLASSES = frozenset({A, "balanced_accuracy", "g_mean"})


@dataclass(frozen=True)
class Quantity:
    """What a key speaks of: a named quantity, or 1 minus it; ``of`` says which of several."""

    name: str
    complement: bool = False
    of: str = ""


@dataclass(frozen=True)
class Classes:
    """The labels of a claim; unless ``all_told`` there may be more classes than these."""

    labels: tuple[str, ...] = ()
    all_told: bool = True

    @property
    def two(self) -> bool:
        """Whether there are just two, [negative, positive]."""
        return self.all_told and len(self.labels) == 2

    def named(self, label: str, measure: str) -> str:
        """The one name of a measure of a class.

        >>> Classes(("normal", "attack")).named("normal", "recall")
        'attack|specificity'
        """
        if self.two:
            if measure in _SYMMETRIC:
                return measure
            if label == self.labels[0] and measure in _SEEN_FROM_THE_OTHER:
                return f"{self.labels[1]}|{_SEEN_FROM_THE_OTHER[measure]}"
        return f"{label}|{measure}"


def quantities_of(key: Key, classes: Classes, positive: str | None) -> tuple[Quantity, ...]:
    """What a key may mean; several where it does not say, none where nothing binds it.

    Without any labels a bare one-sided key is some average over classes.
    """
    measure = key.measure.name
    flipped = measure in COMPLEMENTS
    base = COMPLEMENTS.get(measure, measure)
    if key.label is not None and key.label not in classes.labels:
        return ()
    if key.average is not None:
        return (Quantity(f"{base}.{key.average}", flipped),) if key.measure.averages else ()
    label = key.label or positive
    if label is not None:
        return tuple(
            Quantity(
                classes.named(label, COMPLEMENTS.get(meant.name, meant.name)),
                meant.name in COMPLEMENTS,
                words,
            )
            for meant, words in meant_by(key)
        )
    if base in _OVER_CLASSES or (base in _SYMMETRIC and classes.two):
        return (Quantity(base, flipped),)
    if base in _SYMMETRIC or not key.measure.averages:
        return ()
    if not classes.labels:
        return (Quantity(f"{base}.{SOME_AVERAGE}", flipped),)
    return tuple(
        Quantity(f"{base}.{average}", flipped, f"the {average} average") for average in AVERAGES
    )
