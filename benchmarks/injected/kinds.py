"""Mistakes that are made on purpose, one kind each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from assay.inference import ClopperPearson, Wald, Wilson
from injected.matrices import Matrix, Values, labels_of, numbers


@dataclass(frozen=True)
class Case:
    """An honest result and what a mistake made of it. ``rights`` are what statistics may be."""

    matrix: Matrix
    honest: Values
    wrong: Values
    names: tuple[str, ...]
    more: dict[str, Any] = field(default_factory=dict)
    rights: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A kind of mistake: how it is made, and with how many classes."""

    name: str
    make: Callable[[np.random.Generator, Matrix, Values], Case | None]
    classes: str = "both"


def whole(name: str, change: Callable[[Any, Any], Any], classes: str = "both") -> Kind:
    """A mistake with the whole matrix."""

    def make(rng: np.random.Generator, matrix: Matrix, honest: Values) -> Case | None:
        changed, names, more = change(rng, matrix)
        if min(map(sum, changed)) <= 0 or min(np.sum(changed, axis=0)) <= 0:
            return None
        return Case(matrix, honest, numbers(changed), names, more)

    return Kind(name, make, classes)


def positive_swapped(_: np.random.Generator, matrix: Matrix, honest: Values) -> Case:
    turned = numbers([row[::-1] for row in matrix[::-1]])
    bare = {key: value for key, value in turned.items() if "." not in key}
    return Case(matrix, honest, honest | bare, ("positive-class-swapped",))


def transposed(_: Any, matrix: Matrix) -> Any:
    return [list(row) for row in zip(*matrix, strict=True)], ("matrix-transposed",), {}


def swapped(rng: np.random.Generator, matrix: Matrix) -> Any:
    size = len(matrix)
    cells = [(i, j) for i in range(size) for j in range(size)]
    pairs = list(combinations(cells, 2))
    (i, j), (k, m) = pairs[rng.integers(len(pairs))]
    changed = [list(row) for row in matrix]
    changed[i][j], changed[k][m] = changed[k][m], changed[i][j]
    if size == 2:
        binary = (("tn", "fp"), ("fn", "tp"))
        return changed, (f"cells-swapped:{binary[i][j]},{binary[k][m]}",), {}
    return changed, (f"cells-swapped:{i + 1}.{j + 1},{k + 1}.{m + 1}",), {}


def flipped(_: Any, matrix: Matrix) -> Any:
    return [row[::-1] for row in matrix], ("decisions-flipped",), {}


def with_training(rng: np.random.Generator, matrix: Matrix) -> Any:
    train = [int(sum(row) * rng.uniform(0.5, 4)) for row in matrix]
    changed = [
        [c + (train[i] if i == j else 0) for j, c in enumerate(row)] for i, row in enumerate(matrix)
    ]
    return changed, ("train-and-test",), {"train": dict(zip(labels_of(matrix), train, strict=True))}


def with_split(rng: np.random.Generator, matrix: Matrix) -> Any:
    ratio = (1, 2, 7 / 3, 3, 4, 9)[rng.integers(6)]
    changed = [
        [c + (round(sum(row) * ratio) if i == j else 0) for j, c in enumerate(row)]
        for i, row in enumerate(matrix)
    ]
    return changed, ("train-and-test",), {}


def one(name: str, change: Callable[..., Any], classes: str = "both") -> Kind:
    """A mistake with one number: ``change`` gives its key, its wrong value and the names of it."""

    def make(rng: np.random.Generator, matrix: Matrix, honest: Values) -> Case | None:
        mistake = change(rng, matrix, honest)
        if mistake is None:
            return None
        key, value, *names = mistake
        return Case(matrix, honest, honest | {key: value}, tuple(names))

    return Kind(name, make, classes)


def pick(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def complement(rng: np.random.Generator, _: Matrix, honest: Values) -> Any:
    key = pick(rng, [key for key in honest if key not in ("mcc", "kappa", "informedness")])
    return key, 1 - honest[key], "complement"


def shift(rng: np.random.Generator, _: Matrix, honest: Values) -> Any:
    key = pick(rng, list(honest))
    return key, honest[key] * pick(rng, (0.1, 10, 0.01, 100)), "decimal-shift"


def in_place(*pairs: tuple[str, str]) -> Callable[..., Any]:
    """One key's value under another key."""

    def change(rng: np.random.Generator, _: Matrix, honest: Values) -> Any:
        key, other = pick(rng, pairs)
        first, second = (name.partition(".")[0].replace("_", "-") for name in (other, key))
        return key, honest[other], f"{first}-for-{second}"

    return change


def average(rng: np.random.Generator, _: Matrix, honest: Values) -> Any:
    name = pick(rng, ("precision", "recall", "f1"))
    averages = ["macro", "micro", "weighted"]
    own = pick(rng, averages)
    # An average under a bare key is a convention, but the class's value is no average.
    others = averages + (["binary"] if "f1" in honest else [])
    other = pick(rng, [average for average in others if average != own])
    key, read = f"{name}.{own}", name if other == "binary" else f"{name}.{other}"
    return key, honest[read], f"{other}-for-{own}"


def mean(kind: str) -> Callable[..., Any]:
    """An F1 as another mean of precision and recall."""

    def change(rng: np.random.Generator, matrix: Matrix, honest: Values) -> Any:
        bare = len(matrix) == 2 and rng.random() < 0.5 and kind != "f1-of-averages"
        tail = "" if bare else pick(rng, (".macro", ".weighted"))
        p, r = honest[f"precision{tail}"], honest[f"recall{tail}"]
        value = {
            "arithmetic-mean": (p + r) / 2,
            "geometric-mean": math.sqrt(p * r),
            "f1-of-averages": 2 * p * r / (p + r),
        }[kind]
        return f"f1{tail}", value, kind

    return change


def codes(_: np.random.Generator, matrix: Matrix, __: Values) -> Any:
    table = np.array(matrix)
    truth = np.repeat(np.arange(len(matrix)), table.sum(axis=1))
    said = np.concatenate([np.repeat(np.arange(len(matrix)), row) for row in table])
    return "mcc", float(np.corrcoef(truth, said)[0, 1]), "label-code-correlation"


def spread(rng: np.random.Generator, matrix: Matrix, honest: Values) -> Case:
    k = int(rng.integers(3, 11))
    folds = [f"{x:.4f}" for x in rng.normal(0.9, 0.02, k)]
    values = np.array(folds, float)
    return Case(
        matrix,
        honest,
        honest | {"accuracy.sd": values.std()},
        ("sd-ddof-0",),
        {"folds": {"accuracy": folds}},
        # The deviation of rounded folds is known to half a unit of theirs.
        {"accuracy.sd": [float(values.std(ddof=1)) + off for off in (-5e-5, 0, 5e-5)]},
    )


def sizes(rng: np.random.Generator, matrix: Matrix) -> tuple[float, dict[str, Any]]:
    """A number of rows that is not that of the test."""
    train = {label: int(sum(row) * 2) for label, row in zip(labels_of(matrix), matrix, strict=True)}
    options = [float(sum(row)) for row in matrix] + [float(sum(train.values()))]
    return pick(rng, options), {"train": train}


def error(rng: np.random.Generator, matrix: Matrix, honest: Values) -> Case:
    p, n = honest["accuracy"], float(np.sum(matrix))
    wrong, more = sizes(rng, matrix)
    right = math.sqrt(p * (1 - p) / n)
    value = math.sqrt(p * (1 - p) / wrong)
    return Case(
        matrix,
        honest,
        honest | {"accuracy.se": value},
        ("wrong-n",),
        more,
        {"accuracy.se": [right]},
    )


def any_interval(p: float, n: float) -> list[tuple[float, float]]:
    ends = [
        m(level)(p * n, n) for m in (Wald, Wilson, ClopperPearson) for level in (0.9, 0.95, 0.99)
    ]
    return [(float(low), float(high)) for low, high in ends]


def interval_n(rng: np.random.Generator, matrix: Matrix, honest: Values) -> Case:
    p, n = honest["accuracy"], float(np.sum(matrix))
    wrong, more = sizes(rng, matrix)
    low, high = pick(rng, (Wald, Wilson))(0.95)(p * wrong, wrong)
    return _interval(matrix, honest, (float(low), float(high)), ("wrong-n",), more, p, n)


def interval_z(rng: np.random.Generator, matrix: Matrix, honest: Values) -> Case:
    p, n = honest["accuracy"], float(np.sum(matrix))
    reach = pick(rng, (1.0, 2.0, 3.0, 1.2816)) * math.sqrt(p * (1 - p) / n)
    return _interval(matrix, honest, (p - reach, p + reach), ("wrong-z",), {}, p, n)


def _interval(
    matrix: Matrix, honest: Values, ends: Any, names: Any, more: Any, p: float, n: float
) -> Case:
    wrong = honest | {"accuracy.ci": ends}
    return Case(matrix, honest, wrong, names, more, {"accuracy.ci": any_interval(p, n)})


def area(key: str, name: str, value: Callable[[Values, float], float]) -> Kind:
    """An area that nothing decides: right is what is told of it."""

    def make(_: np.random.Generator, matrix: Matrix, honest: Values) -> Case:
        n = float(np.sum(matrix))
        number = value(honest | {"prevalence": sum(matrix[1]) / n}, n)
        return Case(matrix, honest, honest | {key: number}, (name,))

    return Kind(name, make, "two")


def step_area(v: Values) -> float:
    return v["precision"] * v["recall"] + (1 - v["recall"]) * v["prevalence"]


KINDS: tuple[Kind, ...] = (
    Kind("positive class swapped", positive_swapped, "two"),
    whole("matrix transposed", transposed),
    whole("two cells swapped", swapped, "two"),
    whole("two cells swapped, K classes", swapped, "many"),
    whole("decisions flipped", flipped, "two"),
    whole("train and test, train told", with_training),
    whole("train and test, only a usual split", with_split),
    one("1 - x", complement),
    one("point moved", shift),
    one(
        "FPR, FDR, FNR for one another",
        in_place(
            ("fpr", "fdr"),
            ("fdr", "fpr"),
            ("fpr", "fnr"),
            ("fnr", "fpr"),
            ("fdr", "fnr"),
            ("fnr", "fdr"),
        ),
        "two",
    ),
    one("precision for recall", in_place(("precision", "recall"), ("recall", "precision")), "two"),
    one(
        "macro precision for recall",
        in_place(("precision.macro", "recall.macro"), ("recall.macro", "precision.macro")),
    ),
    one("macro, micro, weighted, binary", average),
    one("arithmetic mean for F1", mean("arithmetic-mean")),
    one("geometric mean for F1", mean("geometric-mean")),
    one("F1 of macro precision and recall", mean("f1-of-averages")),
    one("g-mean for balanced accuracy", in_place(("balanced_accuracy", "g_mean"))),
    one("kappa for MCC", in_place(("mcc", "kappa"), ("kappa", "mcc"))),
    one("correlation of label codes", codes, "many"),
    Kind("deviation with ddof 0", spread),
    Kind("standard error, wrong n", error),
    Kind("interval, wrong n", interval_n),
    Kind("interval, wrong z", interval_z),
    area("roc_auc", "auc-from-decisions", lambda v, _: v["balanced_accuracy"]),
    area(
        "average_precision",
        "ap-from-decisions",
        lambda v, _: step_area(v),
    ),
    area(
        "average_precision",
        "ap-trapezoid",
        lambda v, _: (
            (1 + v["precision"]) / 2 * v["recall"]
            + (1 - v["recall"]) * (v["precision"] + v["prevalence"]) / 2
        ),
    ),
    area("average_precision", "ap-divided-by-n", lambda v, n: step_area(v) / n),
)
