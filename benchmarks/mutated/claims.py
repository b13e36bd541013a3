"""Mutations of claims, and claims made of odd parts alone."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from mutated import values
from mutated.values import count, key, number, share

Claim = dict[str, Any]
TOP = (
    "name", "source", "positive", "negative", "confusion", "labels", "matrix", "orientation",
    "support", "n", "reported", "folds", "aggregate", "arithmetic", "dataset", "train", "interval",
    "level", "nonsense", "",
)  # fmt: skip
PIECES = (
    '"', "{", "[", "]", ",", "9", "0", "1", ".", "e400", "-", "%", "", "null", "=", "#", "\\u0000",
    "\n", "\ufeff", "00000000000000000000",
)  # fmt: skip


def mutated(rng: random.Random, bases: Sequence[Claim]) -> Any:
    """A claim that was changed in one to five places, or one of odd parts."""
    if rng.random() < 0.3:
        claim: Any = rng.choice(ODD)(rng)
    else:
        claim = copy.deepcopy(rng.choice(bases))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        if not isinstance(claim, dict):
            break
        claim = rng.choice(CHANGES)(rng, claim) or claim
    return claim


def as_text(rng: random.Random, claim: Any) -> str | None:
    """A claim as a file of JSON, with bytes changed now and then; None where it has no text."""
    try:
        text = json.dumps({"claim": [claim]}, ensure_ascii=rng.random() < 0.5, default=str)
    except (TypeError, ValueError):
        return None
    return damaged(rng, text, rng.choice((0, 0, 0, 0, 0, 0, 1, 2, 4)))


def damaged(rng: random.Random, text: str, places: int) -> str:
    """A text with so many pieces put in or replaced."""
    for _ in range(places):
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(PIECES) + text[place + rng.randint(0, 2) :]
    return text


# -- mutations -------------------------------------------------------------------------------------


def _table(claim: Claim, name: str) -> dict[Any, Any]:
    value = claim.get(name)
    return value if isinstance(value, dict) else {}


def change_number(rng: random.Random, claim: Claim) -> None:
    table = _table(claim, rng.choice(("reported", "reported", "reported", "folds")))
    if table:
        name = rng.choice(list(table))
        before = table[name]
        if isinstance(before, list) and before and rng.random() < 0.8:
            before[rng.randrange(len(before))] = number(rng)
        else:
            table[name] = number(rng)


def change_digit(rng: random.Random, claim: Claim) -> None:
    table = _table(claim, "reported")
    texts = [name for name, value in table.items() if isinstance(value, str) and value]
    if texts:
        name = rng.choice(texts)
        text = table[name]
        place = rng.randrange(len(text))
        table[name] = (
            text[:place] + rng.choice("0123456789.-e%,") + text[place + rng.randint(0, 1) :]
        )


def change_key(rng: random.Random, claim: Claim) -> None:
    table = _table(claim, "reported")
    if table:
        name, value = key(rng), table.pop(rng.choice(list(table)))
        table[name] = [value, number(rng)] if name.endswith(".ci") else value


def add_number(rng: random.Random, claim: Claim) -> None:
    table = claim.setdefault("reported", {})
    if isinstance(table, dict):
        for _ in range(rng.randint(1, 6)):
            name = key(rng)
            table[name] = [number(rng), number(rng)] if name.endswith(".ci") else number(rng)


def repeat_number(rng: random.Random, claim: Claim) -> None:
    table = _table(claim, "reported")
    if table:
        name = str(rng.choice(list(table)))
        other = rng.choice((".macro", ".weighted", ".micro", ".mean", ".sd", ".se", ""))
        table[name.partition(".")[0] + other] = table[name]


def change_count(rng: random.Random, claim: Claim) -> None:
    name = rng.choice(("confusion", "support", "train", "matrix", "n", "n"))
    value = claim.get(name)
    if isinstance(value, dict) and value:
        value[rng.choice(list(value))] = count(rng)
    elif name == "matrix" and isinstance(value, list) and value:
        row = rng.choice(value)
        if isinstance(row, list) and row:
            row[rng.randrange(len(row))] = count(rng)
    elif name == "n":
        claim["n"] = count(rng)


def empty_class(rng: random.Random, claim: Claim) -> None:
    value, table = claim.get("matrix"), _table(claim, "support")
    if isinstance(value, list) and value and isinstance(value[0], list):
        row = rng.randrange(len(value))
        if isinstance(value[row], list):
            value[row] = [0] * len(value[row])
    if table:
        table[rng.choice(list(table))] = 0
    cells = _table(claim, "confusion")
    for name in rng.choice((("tp", "fn"), ("tn", "fp"), ("tp", "fp"), ("tn", "fn"), ("tp",))):
        if name in cells:
            cells[name] = 0


def no_rows(_: random.Random, claim: Claim) -> None:
    for name in ("confusion", "support"):
        for cell in _table(claim, name):
            claim[name][cell] = 0
    if isinstance(claim.get("matrix"), list):
        claim["matrix"] = [[0 for _ in row] for row in claim["matrix"] if isinstance(row, list)]


def scale(rng: random.Random, claim: Claim) -> None:
    """All counts so many times as large."""
    factor = rng.choice((10**3, 10**9, 10**18, 10**25))
    for name in ("confusion", "support"):
        table = _table(claim, name)
        for cell, value in table.items():
            if type(value) is int:
                table[cell] = value * factor
    if isinstance(claim.get("matrix"), list):
        claim["matrix"] = [
            [cell * factor if type(cell) is int else cell for cell in row]
            for row in claim["matrix"]
            if isinstance(row, list)
        ]


def fewer_counts(rng: random.Random, claim: Claim) -> None:
    """Supports, the size or one class in place of the matrix."""
    matrix, cells = claim.pop("matrix", None), claim.pop("confusion", None)
    claim.pop("orientation", None)
    try:
        if isinstance(cells, dict):
            claim["support"] = {
                claim.get("negative", "normal"): cells["tn"] + cells["fp"],
                claim.get("positive", "attack"): cells["tp"] + cells["fn"],
            }
        elif isinstance(matrix, list):
            claim["support"] = dict(zip(claim["labels"], map(sum, matrix), strict=False))
    except (KeyError, TypeError):
        return
    kind = rng.random()
    if kind < 0.3 and isinstance(claim.get("support"), dict):
        try:
            claim["n"] = sum(claim.pop("support").values())
        except TypeError:
            claim["n"] = 7
    elif kind < 0.6 and len(_table(claim, "support")) > 1:
        claim["support"].pop(rng.choice(list(claim["support"])))


def drop_cell(rng: random.Random, claim: Claim) -> None:
    table = _table(claim, rng.choice(("confusion", "support", "reported", "train")))
    if table:
        table.pop(rng.choice(list(table)))


def change_label(rng: random.Random, claim: Claim) -> None:
    label = rng.choice(values.LABELS)
    kind = rng.randrange(4)
    if kind == 0:
        claim[rng.choice(("positive", "negative"))] = label
    elif kind == 1 and isinstance(claim.get("labels"), list) and claim["labels"]:
        claim["labels"][rng.randrange(len(claim["labels"]))] = label
    elif kind == 2 and _table(claim, "support"):
        table = claim["support"]
        if isinstance(label, str | int | float | bool | tuple):
            table[label] = table.pop(rng.choice(list(table)))
    else:
        _table(claim, "reported")[f"{rng.choice(values.MEASURES)}.{label}"] = number(rng)


def rename_class(rng: random.Random, claim: Claim) -> Claim | None:
    """One label renamed wherever it stands, so that the claim stays whole."""
    new = rng.choice([label for label in values.LABELS if isinstance(label, str)])
    known = [label for label in claim.get("labels") or [] if isinstance(label, str)]
    known += [claim[name] for name in ("positive", "negative") if isinstance(claim.get(name), str)]
    if not known:
        return None
    old = rng.choice(known)

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                (
                    k.removesuffix("." + old) + "." + new
                    if isinstance(k, str) and k.endswith("." + old)
                    else new
                    if k == old
                    else k
                ): renamed(v)
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [renamed(item) for item in value]
        return new if value == old else value

    return {name: renamed(value) for name, value in claim.items()}


def change_top(rng: random.Random, claim: Claim) -> None:
    name = rng.choice(TOP)
    pool: Sequence[Any] = {
        "aggregate": values.TEXTS,
        "interval": values.METHODS,
        "level": values.LEVELS,
        "orientation": values.TEXTS,
        "dataset": ("KDD99", "NSL-KDD", "CICIDS2017", "UNSW-NB15", *values.TEXTS),
        "n": values.COUNTS,
    }.get(name, values.TEXTS)
    claim[name] = rng.choice(pool)


def drop_top(rng: random.Random, claim: Claim) -> None:
    if claim:
        claim.pop(rng.choice(list(claim)))


def add_folds(rng: random.Random, claim: Claim) -> None:
    size = rng.choice((1, 2, 3, 5, 10, 200))
    claim["folds"] = {
        (key(rng) if rng.random() < 0.1 else rng.choice(values.MEASURES)): [
            number(rng) if rng.random() < 0.1 else share(rng) for _ in range(size)
        ]
        for _ in range(rng.randint(1, 3))
    }
    if rng.random() < 0.5:
        claim["aggregate"] = rng.choice(("pooled", "fold-mean"))


def add_arithmetic(rng: random.Random, claim: Claim) -> None:
    claim["arithmetic"] = [
        {"expression": rng.choice(values.EXPRESSIONS), "reported": number(rng)}
        for _ in range(rng.randint(1, 3))
    ]


def nest(rng: random.Random, claim: Claim) -> None:
    """A value deep inside lists or tables."""
    deep: Any = "0.9"
    for _ in range(rng.choice((2, 5, 50, 400))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    claim[rng.choice(TOP)] = deep


CHANGES: tuple[Callable[[random.Random, Claim], Any], ...] = (
    change_number, change_number, change_digit, change_digit, change_key, change_key, add_number,
    add_number, repeat_number, change_count, change_count, empty_class, no_rows, scale,
    fewer_counts, fewer_counts, drop_cell, change_label, rename_class, change_top, drop_top,
    add_folds, add_arithmetic, nest,
)  # fmt: skip


# -- claims of odd parts ---------------------------------------------------------------------------


def _shares(rng: random.Random, names: Sequence[str], most: int = 6) -> dict[str, str]:
    return {name: share(rng) for name in rng.sample(names, rng.randint(1, min(most, len(names))))}


RATES = tuple(name for name in values.MEASURES if name in (
    "accuracy", "error_rate", "precision", "recall", "specificity", "f1", "f2", "fpr", "fnr", "fdr",
    "far", "npv", "balanced_accuracy", "g_mean", "informedness", "markedness", "mcc", "kappa",
    "jaccard", "prevalence", "alert_rate", "dor", "fowlkes_mallows", "positive_likelihood_ratio",
))  # fmt: skip


def one_class(rng: random.Random) -> Claim:
    """The support of one class, with numbers that contradict each other."""
    label = rng.choice(("attack", "attack", "normal", "normal", "A", "macro", ""))
    claim: Claim = {"support": {label: count(rng)}, "reported": _shares(rng, RATES)}
    if rng.random() < 0.9:
        claim["positive"] = "attack"
    if rng.random() < 0.7:
        claim["negative"] = "normal"
    if rng.random() < 0.3:
        claim["n"] = count(rng)
    return claim


def areas(rng: random.Random) -> Claim:
    """Areas with low numbers and no counts."""
    claim: Claim = {"reported": _shares(rng, RATES)}
    for name in rng.sample(("roc_auc", "auc", "average_precision", "partial_auc", "log_loss"), 2):
        claim["reported"][name] = rng.choice((share(rng), "0.1", "0.5", "0", "1", "0.02"))
    if rng.random() < 0.5:
        claim["positive"] = "attack"
    return claim


def numbers_alone(rng: random.Random) -> Claim:
    claim: Claim = {"reported": {}}
    add_number(rng, claim)
    if rng.random() < 0.5:
        claim["positive"] = "attack"
    if rng.random() < 0.5:
        claim["n"] = count(rng)
    return claim


def many_classes(rng: random.Random) -> Claim:
    """Supports of K classes, some without rows."""
    size = rng.randint(2, 8)
    labels = [f"c{i}" for i in range(size)]
    support = {label: rng.choice((0, 1, 5, int(10 ** rng.uniform(0, 6)))) for label in labels}
    claim: Claim = {"support": support, "reported": _shares(rng, RATES)}
    for _ in range(rng.randint(1, 8)):
        tail = rng.choice((*labels, "macro", "weighted", "micro"))
        claim["reported"][f"{rng.choice(RATES)}.{tail}"] = share(rng)
    if size == 2 and rng.random() < 0.7:
        claim["positive"] = labels[1]
    if rng.random() < 0.3:
        claim["n"] = sum(support.values())
    return claim


def two_classes(rng: random.Random) -> Claim:
    """Supports of two classes of any size with numbers at random."""
    support = {"normal": count(rng), "attack": count(rng)}
    claim: Claim = {"positive": "attack", "support": support, "reported": _shares(rng, RATES)}
    for _ in range(rng.randint(0, 3)):
        claim["reported"][key(rng)] = number(rng)
    return claim


def huge(rng: random.Random) -> Claim:
    """Numbers that no share can be, with counts or without."""
    claim: Claim = {"reported": {rng.choice(RATES): rng.choice(values.NUMBERS[:12])}}
    claim["reported"] |= _shares(rng, RATES, 3)
    kind = rng.random()
    if kind < 0.4:
        claim["confusion"] = {"tn": 50, "fp": 3, "fn": 2, "tp": 45}
    elif kind < 0.7:
        claim |= {"support": {"normal": 53, "attack": 47}, "positive": "attack"}
    return claim


def no_claim(rng: random.Random) -> Any:
    return rng.choice((None, [], {}, "", 5, [[]], {"reported": None}, {"claim": []}, "claim", b""))


ODD: tuple[Callable[[random.Random], Any], ...] = (
    one_class, one_class, areas, areas, numbers_alone, many_classes, many_classes, two_classes,
    two_classes, huge, no_claim,
)  # fmt: skip
