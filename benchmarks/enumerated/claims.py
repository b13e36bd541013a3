"""Simulated claims with one wrong number, of sizes that let all matrices be enumerated."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from enumerated.formulas import (
    AVERAGED,
    AVERAGES,
    CELLS,
    ENDLESS,
    NAMES,
    OVER_CLASSES,
    SIGNED,
    SYMMETRIC,
    Matrices,
    how_many,
)
from enumerated.readings import FALSE_ALARMS, OF_A_CLASS, Reading, text
from enumerated.worked_out import FORMULAS, PR, RS

MOST = 4_000_000
LABELS = ("A", "B", "C", "D", "E")
TWO = ("normal", "attack")


@dataclass(frozen=True)
class Simulated:
    """A claim, the key of its wrong number, and the labels, two of them negative first."""

    claim: dict[str, Any]
    wrong: str
    labels: tuple[str, ...]
    change: str


@dataclass(frozen=True)
class Printer:
    """Prints as one author does: decimals, percent or not, rounded or cut off."""

    decimals: int
    percent: bool
    cut: bool

    @classmethod
    def drawn(cls, rng: random.Random) -> Printer:
        """Some author."""
        percent = rng.random() < 0.4
        decimals = rng.randint(0, 2) if percent else rng.randint(2, 5)
        return cls(decimals, percent, rng.random() < 0.2)

    def __call__(self, value: float | Fraction, measure: str) -> str:
        """A value as printed; endless measures are never in percent."""
        percent = self.percent and measure not in ENDLESS
        decimals = max(self.decimals, 2) if measure in ENDLESS else self.decimals
        scaled = float(value) * (100 if percent else 1)
        if self.cut:
            digits = 10**decimals
            scaled = math.trunc(scaled * digits + math.copysign(1e-9, scaled)) / digits
        shown = f"{scaled:.{decimals}f}"
        if float(shown) == 0:
            shown = shown.lstrip("-")
        return shown + "%" if percent else shown


# -- honest numbers --------------------------------------------------------------------------------


def table_of(rng: random.Random, most: int) -> tuple[str, list[list[int]]]:
    """How the counts are told, and a matrix of which there are no more than so many like it."""
    told = rng.choice(("supports", "supports", "supports", "matrix", "total"))
    size = 2 if rng.random() < 0.6 else rng.choice((3, 3, 3, 4, 4, 5))
    # Large ones take long, so they are few.
    most = most if rng.random() < 0.1 else min(most, 200_000)
    while True:
        if size == 2:
            n = rng.randint(20, 110) if told == "total" else int(10 ** rng.uniform(1.3, 4.3))
            positives = max(1, round(n * rng.choice((0.5, rng.uniform(0.02, 0.98)))))
            supports: tuple[int, ...] = (n - positives, positives)
        else:
            size = 3 if told == "total" else size
            reach = 200 if told == "matrix" else {3: 14, 4: 5, 5: 3}[size]
            supports = tuple(rng.randint(1, reach) for _ in range(size))
        alike = {"matrix": 1, "supports": how_many(supports)}.get(told)
        if alike is None:
            alike = math.comb(sum(supports) + size * size - 1, size * size - 1)
        if min(supports) > 0 and alike <= most:
            return told, drawn(rng, supports)


def drawn(rng: random.Random, supports: tuple[int, ...]) -> list[list[int]]:
    """Decisions of a detector of some skill."""
    skill = rng.choice((0.5, 0.8, 0.9, 0.95, 0.99))
    rows = []
    for i, support in enumerate(supports):
        shares = np.array([rng.random() for _ in supports])
        shares[i] = 0
        shares *= (1 - skill) * rng.uniform(0.3, 1.7) / max(shares.sum(), 1e-9)
        shares = shares / max(1.0, shares.sum())
        shares[i] = 1 - shares.sum()
        draw = np.random.default_rng(rng.getrandbits(32))
        rows.append(draw.multinomial(support, np.clip(shares, 0, 1)).tolist())
    return rows


def key_of(rng: random.Random, labels: tuple[str, ...], convention: str) -> tuple[str, Reading]:
    """A key and what its author means by it."""
    two = len(labels) == 2
    kind = rng.random()
    if kind < 0.5 or (kind < 0.55 and not two):  # bare
        if rng.random() < 0.08:
            name = rng.choice(("fdr", "fpr"))
            return rng.choice(FALSE_ALARMS), Reading(name, _bare(rng, two, convention))
        names = list(CELLS) if two else [*AVERAGED, *OVER_CLASSES, *OVER_CLASSES]
        name = rng.choice(names)
        if name in SYMMETRIC:
            return rng.choice(NAMES[name]), Reading(name, None)
        scope = _bare(rng, two, convention) if name in AVERAGED else 1
        return rng.choice(NAMES[name]), Reading(name, scope)
    if kind < 0.75:  # of a label
        name, k = rng.choice(list(CELLS)), rng.randrange(len(labels))
        meant = Reading(name, None if two and name in SYMMETRIC else k)
        if name in OF_A_CLASS and rng.random() < 0.5:
            meant = Reading(OF_A_CLASS[name], k)
        return f"{rng.choice(NAMES[name])}.{labels[k]}", meant
    name, average = rng.choice(AVERAGED), rng.choice(AVERAGES)
    return f"{rng.choice(NAMES[name])}.{average}", Reading(name, average)


def _bare(rng: random.Random, two: bool, convention: str) -> int | str:  # noqa: FBT001
    if convention in AVERAGES:
        return convention
    return 1 if two else rng.choice(AVERAGES)


def reported(
    rng: random.Random, table: list[list[int]], labels: tuple[str, ...], show: Printer
) -> dict[str, tuple[Reading, float, str]]:
    """Three to six numbers: what is meant, the value, and how it is printed."""
    matrices = Matrices(np.array([table]))
    conventions = ("class", "class", "class", "weighted", "macro")
    convention = rng.choice(conventions if len(labels) == 2 else ("any", *AVERAGES))
    numbers: dict[str, tuple[Reading, float, str]] = {}
    wanted = rng.randint(3, 6)
    for _ in range(200):
        key, meant = key_of(rng, labels, convention)
        value = float(meant.of(matrices)[0])
        if key not in numbers and math.isfinite(value):
            numbers[key] = meant, value, show(value, meant.measure)
        if len(numbers) == wanted:
            break
    return numbers


def worked_out(
    rng: random.Random,
    numbers: dict[str, tuple[Reading, float, str]],
    labels: tuple[str, ...],
    show: Printer,
) -> set[str]:
    """Replace or add a number by what printed ones give; the keys that must stay right."""
    scopes = {reading.scope for reading, _, _ in numbers.values() if isinstance(reading.scope, int)}
    for scope in sorted(scopes):
        for name in rng.sample(sorted(FORMULAS), len(FORMULAS)):
            needs, formula = FORMULAS[name][0]
            if needs not in (PR, RS) or (needs == RS and len(labels) > 2):
                continue
            sources = [
                next(
                    (
                        k
                        for k, (r, _, _) in numbers.items()
                        if (r.measure, r.scope) == (need, scope)
                    ),
                    "",
                )
                for need in needs
            ]
            if not all(sources):
                continue
            value = formula(*(text(numbers[source][2]).value for source in sources))
            if value is None:
                continue
            suffix = (
                ""
                if len(labels) == 2 and (scope == 1 or name in SYMMETRIC)
                else f".{labels[scope]}"
            )
            key = rng.choice(NAMES[name]) + suffix
            if key in numbers:
                continue
            if len(numbers) > 5:
                extra = next(k for k in numbers if k not in sources)
                del numbers[extra]
            meant = Reading(name, None if name in SYMMETRIC and len(labels) == 2 else scope)
            numbers[key] = meant, float(value), show(value, name)
            return {*sources, key}
    return set()


# -- the wrong one ---------------------------------------------------------------------------------


def changed(
    rng: random.Random, printed: str, value: float, measure: str, others: list[str]
) -> tuple[str, str] | None:
    """Other digits for a number, at least three units off, and how they came about."""
    how = rng.choice(("random digits", "typo", "another measure", "shift"))
    percent = printed.endswith("%")
    digits = printed.rstrip("%")
    decimals = len(digits.partition(".")[2])
    low, high = (-1.0 if measure in SIGNED else 0.0), (1.0 if measure not in ENDLESS else 3 * value)
    scale = 100 if percent else 1
    if how == "random digits":
        new = f"{rng.uniform(low, high) * scale:.{decimals}f}"
    elif how == "typo":
        places = [i for i, c in enumerate(digits) if c.isdigit()]
        i = rng.choice(places)
        if rng.random() < 0.5 and i + 1 in places:
            new = digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :]
        else:
            new = digits[:i] + rng.choice("0123456789") + digits[i + 1 :]
    elif how == "another measure" and others:
        new = f"{float(text(rng.choice(others)).value) * scale:.{decimals}f}"
    else:
        how = "shift"
        steps = rng.choice((-1, 1)) * rng.randint(3, rng.choice((5, 20, 100)))
        new = f"{float(digits) + steps * 10.0**-decimals:.{decimals}f}"
    new = new + "%" if percent else new
    if new.startswith("-0") and float(new.rstrip("%")) == 0:
        new = new[1:]
    read = text(new)
    if not low <= read.value <= high or abs(float(read.value) - value) < 3 * float(read.unit):
        return None
    return new, how


def simulated(rng: random.Random, most: int = MOST) -> Simulated:
    """One claim with one wrong number, of counts that no more than ``most`` matrices have."""
    while True:
        told, table = table_of(rng, most)
        labels = TWO if len(table) == 2 else LABELS[: len(table)]
        show = Printer.drawn(rng)
        numbers = reported(rng, table, labels, show)
        kept = worked_out(rng, numbers, labels, show) if rng.random() < 0.2 else set()
        free = [key for key in numbers if key not in kept]
        if len(numbers) < 3 or not free:
            continue
        wrong = rng.choice(free)
        meant, value, printed = numbers[wrong]
        every = Matrices(np.array([table]))
        others = [
            show(x, "")
            for x in (float(every.of_class(name, rng.randrange(len(table)))[0]) for name in CELLS)
            if math.isfinite(x)
        ]
        new = changed(rng, printed, value, meant.measure, others)
        if new is None:
            continue
        claim: dict[str, Any] = {
            "reported": {k: new[0] if k == wrong else t for k, (_, _, t) in numbers.items()}
        }
        return Simulated(claim | counts(rng, told, table, labels), wrong, labels, new[1])


def counts(
    rng: random.Random, told: str, table: list[list[int]], labels: tuple[str, ...]
) -> dict[str, Any]:
    """The counts of a claim as they are told."""
    fields: dict[str, Any] = {}
    if len(labels) == 2:
        fields = {"positive": labels[1], "negative": labels[0]}
    total = sum(map(sum, table))
    if told == "total":
        fields["n"] = total
        if len(labels) > 2:
            fields["labels"] = list(labels)
    elif told == "supports":
        fields["support"] = dict(zip(labels, map(sum, table), strict=True))
        if rng.random() < 0.2:
            fields["n"] = total
    elif len(labels) == 2 and rng.random() < 0.6:
        (tn, fp), (fn, tp) = table
        fields["confusion"] = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    else:
        fields |= {"labels": list(labels), "matrix": table}
    return fields
