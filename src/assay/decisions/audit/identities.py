"""What measures have to do with each other, whatever the counts are.

The rates of one class against the rest hang together by a few identities over the prevalence, the
recall, the specificity, the precision, the negative predictive value, the alert rate and the
accuracy; everything else is worked out from these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.decisions.audit.claim import AVERAGES
from assay.decisions.audit.formulas import (
    COMPOSITES,
    ENDLESS,
    F_BETA,
    OF_RATES,
    SIGNED,
    f_beta,
    geometric,
    mean,
    micro,
    signed_root,
)
from assay.decisions.audit.search.network import Function, Range, Relation
from assay.decisions.audit.search.quantity import BASE, PI, SOME_AVERAGE, A, Classes, P, Q, R, S


@dataclass(frozen=True)
class Identities:
    """Quantities with their first ranges, and what binds them."""

    ranges: Mapping[str, Range]
    relations: tuple[Relation, ...]


def identities_of(
    classes: Classes, wanted: Sequence[str], shares: Mapping[str, float] | None = None
) -> Identities:
    """The identities among the wanted quantities; ``shares`` of the classes where they are known.

    >>> found = identities_of(Classes(("normal", "attack")), ["attack|f1"])
    >>> found.relations[-1].words
    'F1 is the harmonic mean of precision and recall'
    """
    web = _Web(classes)
    web.begin(shares or {})
    for name in dict.fromkeys(wanted):
        web.add(name)
    return Identities(web.ranges, tuple(web.relations))


class _Web:
    """Quantities and relations as they are added one after the other."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.labels = classes.labels
        self.ranges: dict[str, Range] = {A: (0.0, 1.0)}
        self.relations: list[Relation] = []

    def bind(
        self,
        of: str,
        args: Sequence[str],
        low: Function,
        words: str,
        *,
        composite: bool = False,
        rising: bool = False,
    ) -> None:
        """Add a relation."""
        self.relations.append(
            Relation(of, tuple(args), low, words, composite=composite, rising=rising)
        )

    def begin(self, shares: Mapping[str, float]) -> None:
        """The rates of each class, and what binds them."""
        for label in self.labels:
            for base in BASE:
                self.ranges.setdefault(self._named(label, base), (0.0, 1.0))
        for label, share in shares.items():
            self.ranges[f"{label}|{PI}"] = (share, share)
        for label in self.labels[1:] if self.classes.two else self.labels:
            for of, args, low, words in OF_RATES:
                self.bind(self._named(label, of), self._all_named(label, args), low, words)
        if self.classes.two:
            negative, positive = self.labels
            words = "the shares of two classes sum to 1"
            for base in (PI, Q):
                self.bind(f"{negative}|{base}", [f"{positive}|{base}"], _rest, words)
        elif self.labels and self.classes.all_told and set(shares) == set(self.labels):
            words = "accuracy is the mean of the recalls, weighed by the rows of each class"
            self.bind(A, self._of_each(R), self._weighed(), words, rising=True)

    def add(self, name: str) -> None:
        """A quantity that is worked out from others, with what it is worked out from."""
        if name in self.ranges:
            return
        label, bar, measure = name.rpartition("|")
        base, dot, average = name.rpartition(".")
        if bar:
            self._composite(name, label, measure)
        elif dot and average in (*AVERAGES, SOME_AVERAGE):
            self.ranges[name] = (0.0, 1.0)
            self._average(name, base, average)
        elif self.classes.two:
            self._composite(name, self.labels[1], name)
        else:
            self._over_classes(name)

    def _composite(self, name: str, label: str, measure: str) -> None:
        low = -1.0 if measure in SIGNED else 0.0
        self.ranges[name] = (low, math.inf if measure in ENDLESS else 1.0)
        beta = F_BETA.fullmatch(measure)
        if measure == "roc_auc":
            self._auc(name, label)
        elif beta is not None:
            words = f"{measure} follows from precision and recall"
            if measure == "f1":
                words = "F1 is the harmonic mean of precision and recall"
            args = self._all_named(label, (P, R))
            self.bind(name, args, f_beta(float(beta[1])), words, composite=True)
        elif measure in COMPOSITES:
            bases, function, words = COMPOSITES[measure]
            args = self._all_named(label, bases)
            self.bind(name, args, function, words, composite=True)
        if measure == "mcc":
            parts = [self._named(label, part) for part in ("informedness", "markedness")]
            for part in parts:
                self.add(part)
            words = "MCC is the geometric mean of informedness and markedness"
            self.bind(name, parts, signed_root, words)
        if measure == "jaccard":
            self.add(f"{label}|f1")
            words = "the Jaccard index is F1 / (2 - F1)"
            self.bind(name, [f"{label}|f1"], _of_f1, words, composite=True)

    def _auc(self, name: str, label: str) -> None:
        words = "the operating point bounds the AUC"
        args = tuple(self._all_named(label, (R, S)))
        self.relations.append(Relation(name, args, _rectangle, words, _all_but_corner))

    def _average(self, name: str, base: str, average: str) -> None:
        said = "F1" if base == "f1" else base.replace("_", " ")
        if average == "micro":
            told = self.classes.all_told
            function = micro(base, len(self.labels) if told else None)
            if function is not None:
                words = f"the micro average of {said} follows from the accuracy"
                self.bind(name, [A], function, words, composite=True)
            return
        if average == "weighted" and base == R:
            self.bind(name, [A], _same, "weighted recall is the accuracy", composite=True)
        if F_BETA.fullmatch(base):
            self._f_of_averages(name, float(base[1:]), average)
        if not self.labels or not self.classes.all_told:
            return
        parts = self._of_each(base)
        if average == "macro":
            words = f"the macro average of {said} is the mean over the classes"
            self.bind(name, parts, mean, words, composite=True, rising=True)
        elif all(low == high for low, high in self._shares()):
            words = f"the weighted average of {said} weighs each class by its rows"
            self.bind(name, parts, self._weighed(), words, composite=True, rising=True)
        elif self.classes.two:
            words = f"the weighted average of {said} lies between the values of the classes"
            self.bind(name, [f"{self.labels[1]}|{PI}", *parts], _mixed, words)

    def _f_of_averages(self, name: str, beta: float, average: str) -> None:
        """The mean of harmonic means is never above the mean of arithmetic ones."""
        weight = beta * beta
        parts = (f"{P}.{average}", f"{R}.{average}")
        for part in parts:
            self.add(part)
        self.relations.append(
            Relation(
                name,
                parts,
                lambda p, r: min(0.0, p, r),
                "an average of F scores is at most the arithmetic mean of those of precision "
                "and recall",
                lambda p, r: (p + weight * r) / (1 + weight),
                rising=True,
            )
        )

    def _over_classes(self, name: str) -> None:
        """A symmetric measure of more than two classes."""
        self.ranges[name] = (0.0, 1.0)
        if not self.labels or not self.classes.all_told:
            return
        recalls = self._of_each(R)
        if name == "balanced_accuracy":
            words = "balanced accuracy is the mean of the recalls"
            self.bind(name, recalls, mean, words, composite=True, rising=True)
        elif name == "g_mean":
            words = "the g-mean is the geometric mean of the recalls"
            self.bind(name, recalls, geometric, words, composite=True, rising=True)

    def _named(self, label: str, measure: str) -> str:
        return self.classes.named(label, measure)

    def _all_named(self, label: str, measures: Sequence[str]) -> list[str]:
        return [self._named(label, measure) for measure in measures]

    def _of_each(self, measure: str) -> list[str]:
        parts = [self._named(label, measure) for label in self.labels]
        for part in parts:
            self.add(part)
        return parts

    def _shares(self) -> list[Range]:
        return [self.ranges[f"{label}|{PI}"] for label in self.labels]

    def _weighed(self) -> Function:
        weights = [low for low, _ in self._shares()]
        return lambda *values: math.fsum(w * x for w, x in zip(weights, values, strict=True))


def _same(x: float) -> float:
    return x


def _rest(x: float) -> float:
    return 1 - x


def _of_f1(f: float) -> float:
    return f / (2 - f)


def _mixed(share: float, other: float, own: float) -> float:
    return share * own + (1 - share) * other


def _rectangle(r: float, s: float) -> float:
    return r * s


def _all_but_corner(r: float, s: float) -> float:
    return 1 - (1 - r) * (1 - s)
