"""Numbers that follow from other printed numbers of a claim: F1 from the printed precision.

A rule says that a number in one reading is what formulas give for others in theirs. Whether the
digits fit does not depend on the matrix, so that rules are found once a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from enumerated.readings import Reading, Scope, Text

COMPLEMENT = {
    "accuracy": "error_rate",
    "precision": "fdr",
    "recall": "fnr",
    "specificity": "fpr",
    "npv": "for",
}
COMPLEMENT |= {other: name for name, other in COMPLEMENT.items()}
# The same number of the other of two classes.
SWAPPED = {"precision": "npv", "recall": "specificity", "fpr": "fnr", "fdr": "for"}
SWAPPED |= {other: name for name, other in SWAPPED.items()}
Value = Fraction | None


def _root(x: Fraction) -> Value:
    return Fraction(math.sqrt(x)) if x >= 0 else None


def _ratio(a: Fraction, b: Fraction) -> Value:
    return a / b if b else None


def _f(beta: Fraction) -> Callable[[Fraction, Fraction], Value]:
    b = beta * beta
    return lambda p, r: _ratio((1 + b) * p * r, b * p + r)


def _signed(a: Fraction, b: Fraction) -> Value:
    root = _root(a * b)
    return None if root is None else root if a >= 0 else -root


PR, RS = ("precision", "recall"), ("recall", "specificity")
FORMULAS: dict[str, list[tuple[tuple[str, ...], Callable[..., Value]]]] = {
    "f1": [(PR, _f(Fraction(1))), (("jaccard",), lambda j: _ratio(2 * j, 1 + j))],
    "f2": [(PR, _f(Fraction(2)))],
    "f0.5": [(PR, _f(Fraction(1, 2)))],
    "jaccard": [
        (PR, lambda p, r: _ratio(p * r, p + r - p * r)),
        (("f1",), lambda f: _ratio(f, 2 - f)),
    ],
    "fowlkes_mallows": [(PR, lambda p, r: _root(p * r))],
    "balanced_accuracy": [(RS, lambda r, s: (r + s) / 2)],
    "g_mean": [(RS, lambda r, s: _root(r * s))],
    "informedness": [(RS, lambda r, s: r + s - 1)],
    "markedness": [(("precision", "npv"), lambda p, v: p + v - 1)],
    "mcc": [(("informedness", "markedness"), _signed)],
    "plr": [(RS, lambda r, s: _ratio(r, 1 - s))],
    "nlr": [(RS, lambda r, s: _ratio(1 - r, s))],
    "dor": [
        (RS, lambda r, s: _ratio(r * s, (1 - r) * (1 - s))),
        (("plr", "nlr"), _ratio),
    ],
}
# Readings that are one number, so that one may be copied for the other.
ACCURACIES = {("accuracy", None), ("recall", "weighted")}
ACCURACIES |= {(name, "micro") for name in ("precision", "recall", "f1", "f2", "f0.5")}
MEANS = {("balanced_accuracy", None), ("recall", "macro")}


@dataclass(frozen=True)
class Rule:
    """A target and its sources, each a number's place and its reading's place.

    ``open`` where the contract does not promise that it counts.
    """

    target: tuple[int, int]
    sources: tuple[tuple[int, int], ...]
    open: bool = False


@dataclass(frozen=True)
class Told:
    """The numbers of a claim with their readings; ``rows`` of each class where they are known."""

    texts: Sequence[Text]
    readings: Sequence[Sequence[Reading]]
    classes: int
    rows: tuple[int, ...] | None

    def nodes(self) -> Iterator[tuple[int, int, Reading]]:
        """Every reading of every number, with both places."""
        for i, readings in enumerate(self.readings):
            for j, reading in enumerate(readings):
                yield i, j, reading


def rules(told: Told) -> list[Rule]:
    """The rules whose digits fit."""
    keys = set(_strict(told)) | set(_loose(told))
    closed = {(rule.target, rule.sources) for rule in keys if not rule.open}
    return [r for r in keys if not r.open or (r.target, r.sources) not in closed]


def _canonical(measure: str, scope: Scope, classes: int) -> tuple[str, Scope]:
    if classes == 2 and scope == 0 and measure in SWAPPED:
        return SWAPPED[measure], 1
    return measure, scope


def _strict(told: Told) -> Iterator[Rule]:
    for i, j, reading in told.nodes():
        name, scope = reading.measure, reading.scope
        near = scope if scope is not None or told.classes > 2 else 1
        averaged = isinstance(scope, str)
        other = COMPLEMENT.get(name)
        if other:
            for k, m, x in _sources(told, other, scope, i):
                if told.texts[i].is_worked_out(1 - x):
                    yield Rule((i, j), ((k, m),))
        for needs, formula in FORMULAS.get(name, ()):
            if told.classes > 2 and scope is None:
                continue
            options = [list(_either(told, need, near, i)) for need in needs]
            for sources in product(*options):
                value = formula(*(x for _, _, x in sources))
                if value is not None and told.texts[i].is_worked_out(value):
                    yield Rule((i, j), tuple((k, m) for k, m, _ in sources), open=averaged)
        yield from _over_classes(told, i, j, reading)


def _sources(
    told: Told, measure: str, scope: Scope, but: int
) -> Iterator[tuple[int, int, Fraction]]:
    wanted = _canonical(measure, scope, told.classes)
    symmetric = {wanted, (measure, None)} if told.classes == 2 and scope == 1 else {wanted}
    for k, m, reading in told.nodes():
        if k != but and _canonical(reading.measure, reading.scope, told.classes) in symmetric:
            yield k, m, told.texts[k].value


def _either(
    told: Told, measure: str, scope: Scope, but: int
) -> Iterator[tuple[int, int, Fraction]]:
    """Printed values of a measure, or 1 less those of its complement."""
    yield from _sources(told, measure, scope, but)
    if measure in COMPLEMENT:
        for k, m, x in _sources(told, COMPLEMENT[measure], scope, but):
            yield k, m, 1 - x


def _over_classes(told: Told, i: int, j: int, reading: Reading) -> Iterator[Rule]:
    """Means of the printed values of all classes."""
    name, how = {
        ("accuracy", None): ("recall", "weighted"),
        ("balanced_accuracy", None): ("recall", "macro"),
        ("g_mean", None): ("recall", "geometric"),
    }.get((reading.measure, reading.scope), (reading.measure, reading.scope))  # type: ignore[arg-type]
    if how not in ("macro", "weighted", "geometric"):
        return
    options = [list(_either(told, name, k, i)) for k in range(told.classes)]
    for sources in product(*options):
        values = [x for _, _, x in sources]
        if how == "macro":
            value = sum(values, Fraction(0)) / told.classes
        elif how == "geometric":
            least = min(values)
            value = (
                Fraction(math.prod(map(float, values)) ** (1 / told.classes))
                if least > 0
                else least
            )
        elif told.rows is not None and sum(told.rows):
            weighed = [x * row for x, row in zip(values, told.rows, strict=True)]
            value = sum(weighed, Fraction(0)) / sum(told.rows)
        else:
            return
        if told.texts[i].is_worked_out(value):
            yield Rule((i, j), tuple((k, m) for k, m, _ in sources))


def _loose(told: Told) -> Iterator[Rule]:
    """The same formulas with sources of any scope and digits off by less than a unit."""
    by_measure: dict[str, list[tuple[int, int, Fraction]]] = {}
    for i, j, reading in told.nodes():
        entry = i, j, told.texts[i].value
        by_measure.setdefault(reading.measure, []).append(entry)
        if reading.measure in SWAPPED and told.classes == 2:
            by_measure.setdefault(SWAPPED[reading.measure], []).append(entry)
    for name, other in COMPLEMENT.items():
        if name in by_measure:
            turned = [(i, j, 1 - x) for i, j, x in by_measure[name]]
            by_measure.setdefault("1-" + other, []).extend(turned)
    for i, j, reading in told.nodes():
        formulas = [*FORMULAS.get(reading.measure, ()), ((reading.measure,), lambda x: x)]
        for needs, formula in formulas:
            options = [
                [*by_measure.get(need, ()), *by_measure.get("1-" + need, ())] for need in needs
            ]
            for sources in product(*options):
                if any(k == i for k, _, _ in sources):
                    continue
                value = formula(*(x for _, _, x in sources))
                if value is not None and told.texts[i].is_near(value):
                    yield Rule((i, j), tuple((k, m) for k, m, _ in sources), open=True)
    for group in (ACCURACIES, MEANS):
        same = [(i, j) for i, j, r in told.nodes() if (r.measure, r.scope) in group]
        for target, source in product(same, same):
            if target[0] != source[0] and told.texts[target[0]].is_near(
                told.texts[source[0]].value
            ):
                yield Rule(target, (source,), open=True)
