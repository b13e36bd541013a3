"""Honest claims of every shape, as a claims file would hold them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from honest.folds import folds
from honest.intervals import Style, with_interval
from honest.printing import Number, Printer, root
from honest.values import Rows, average, cells, endless, matrix, of_all, one_sided, ratio

WORDS = (
    "alpha", "beta", "gamma", "delta", "dos", "probe", "r2l", "u2r", "worm", "scan", "phish",
    "zeta",
)  # fmt: skip


def put(reported: dict[str, str], key: str, value: Number | None, show: Printer) -> None:
    if value is not None:
        reported[key] = show(value)


def binary(rng: random.Random, rows: Rows, show: Printer) -> dict[str, Any]:
    (tn, fp), (fn, tp) = rows
    values = one_sided(tp, fp, fn, tn)
    reported: dict[str, Any] = {}
    for key in rng.sample(sorted(values), rng.randint(1, 6)):
        put(reported, key, values[key], show)
    put(reported, "far", values[rng.choice(("fdr", "fpr"))], show)
    other = one_sided(tn, fn, fp, tp)
    for key in rng.sample(("precision", "recall", "f1"), 2):
        put(reported, f"{key}.normal", other[key], show)
    informed = values["recall"], values["fpr"]
    if None not in informed:
        put(reported, "youden_j", informed[0] - informed[1], show)  # type: ignore[operator]
    if values["recall"] is not None and values["specificity"] is not None:
        put(reported, "g_mean", root(values["recall"] * values["specificity"]), show)
    for key, value in endless(tp, fp, fn, tn).items():
        if value is not None and rng.random() < 0.15:
            reported[key] = show(value, plain=True)
    return reported


def by_convention(rng: random.Random, rows: Rows, show: Printer) -> tuple[dict[str, Any], bool]:
    """Two classes with averages under bare keys, and whether that is so of some keys only."""
    (tn, fp), (fn, tp) = rows
    own, other = one_sided(tp, fp, fn, tn), one_sided(tn, fn, fp, tp)
    weights = rng.choice(((tp + fn, tn + fp), (tp + fn, tn + fp), (1, 1)))
    all_of_them = rng.random() < 0.5
    reported: dict[str, Any] = {}
    more = ("f2", "jaccard", "specificity", "npv", "fpr")
    keys = ("precision", "recall", "f1", *rng.sample(more, rng.randint(0, 2)))
    for key in keys:
        if all_of_them or rng.random() < 0.6:
            put(reported, key, average((own[key], other[key]), weights), show)
        else:
            put(reported, key, own[key], show)
    if not all_of_them or rng.random() < 0.3:
        put(reported, "detection_rate", own["recall"], show)
        put(
            reported, rng.choice(("far", "false_alarm_rate")), own[rng.choice(("fdr", "fpr"))], show
        )
    if rng.random() < 0.3:
        put(reported, "recall.normal", other["recall"], show)
    return reported, not all_of_them


def many(rng: random.Random, rows: Rows, show: Printer, labels: Sequence[str]) -> dict[str, Any]:
    reported: dict[str, Any] = {}
    each = [one_sided(*cells(rows, k)) for k in range(len(rows))]
    weights = [sum(row) for row in rows]
    plain = rng.random() < 0.5
    for key in rng.sample(("precision", "recall", "f1", "specificity", "jaccard"), 3):
        values = [number[key] for number in each]
        macro, weighted = average(values, [1] * len(rows)), average(values, weights)
        put(reported, f"{key}.macro", macro, show)
        put(reported, f"{key}.weighted", weighted, show)
        put(reported, key, macro if plain else weighted, show)
        k = rng.randrange(len(rows))
        put(reported, f"{key}.{labels[k]}", values[k], show)
    hits = sum(rows[i][i] for i in range(len(rows)))
    put(reported, "f1.micro", ratio(hits, sum(weights)), show)
    return reported


def reworked(rng: random.Random, reported: dict[str, Any], show: Printer) -> None:
    """Numbers worked out from the rounded numbers of the claim itself."""

    def read(key: str) -> Fraction | None:
        return show.read(reported[key]) if key in reported else None

    for suffix in ("", ".normal", ".macro"):
        p, r = read(f"precision{suffix}"), read(f"recall{suffix}")
        if p is not None and r is not None and p + r and rng.random() < 0.7:
            reported[f"f1{suffix}"] = show(2 * p * r / (p + r))
    recall, specificity = read("recall"), read("specificity")
    if recall is not None and specificity is not None and "recall.macro" not in reported:
        reported["balanced_accuracy"] = show((recall + specificity) / 2)
        reported["youden_j"] = show(recall + specificity - 1)
    accuracy = read("accuracy")
    if accuracy is not None and rng.random() < 0.5:
        reported["error_rate"] = show(1 - accuracy)


# -- rankings --------------------------------------------------------------------------------------


def ranking(rng: random.Random, show: Printer) -> dict[str, Any]:
    """A claim with the AUC and AP of real scores, at a threshold of theirs."""
    rows = [(rng.random() < 0.4, rng.gauss(0, 1)) for _ in range(rng.randint(4, 200))]
    lift = rng.choice((-2, 0, 1, 3))
    rows = sorted(((score + lift * true, true) for true, score in rows), reverse=True)
    positives = sum(true for _, true in rows)
    negatives = len(rows) - positives
    if not positives or not negatives:
        return {"confusion": {"tn": 1, "fp": 0, "fn": 0, "tp": 1}, "reported": {}}
    above = wins = 0
    precision = Fraction(0)
    for seen, (_, true) in enumerate(rows, 1):
        above += true
        wins += 0 if true else above
        precision += Fraction(above, seen) if true else 0
    flagged = rng.randint(0, len(rows))
    tp = sum(true for _, true in rows[:flagged])
    claim = {"tn": negatives - flagged + tp, "fp": flagged - tp, "fn": positives - tp, "tp": tp}
    return {
        "confusion": claim,
        "reported": {
            "auc": show(Fraction(wins, positives * negatives)),
            "ap": show(precision / positives),
            "accuracy": show(Fraction(claim["tn"] + tp, len(rows))),
        },
    }


# -- the whole -------------------------------------------------------------------------------------


def honest(rng: random.Random) -> dict[str, Any]:
    """One honest claim, as a claims file would hold it."""
    while True:
        show = Printer(rng)
        claim = _honest(rng, show)
        # Percentages without a sign that are all below 1 can't be told from shares.
        if show.percent != "bare" or any(map(_above_one, claim["reported"].values())):
            return claim


def _above_one(printed: Any) -> bool:
    return isinstance(printed, str) and abs(Fraction(printed)) > 2


def _honest(rng: random.Random, show: Printer) -> dict[str, Any]:
    kind = rng.random()
    if kind < 0.12:
        return {"name": "folds", "positive": "attack", "negative": "normal"} | folds(rng, show)
    if kind < 0.2:
        return {"name": "ranking", "positive": "attack"} | ranking(rng, show)
    size = 2 if kind < 0.65 else rng.randint(3, rng.choice((5, 8, 12)))
    rows = matrix(rng, size)
    labels = ("normal", "attack") if size == 2 else WORDS[:size]
    averaged, mixed = size == 2 and kind < 0.35, False
    if averaged:
        reported, mixed = by_convention(rng, rows, show)
    else:
        reported = binary(rng, rows, show) if size == 2 else many(rng, rows, show, labels)
    for key, value in of_all(rows).items():
        if rng.random() < 0.6:
            put(reported, key, value, show)
    if not averaged:
        reworked(rng, reported, show)
    total = sum(map(sum, rows))
    right = sum(rows[i][i] for i in range(size))
    style = Style.drawn(rng)
    if rng.random() < 0.4:
        with_interval(rng, reported, "accuracy", (right, total), show, style)
    if rng.random() < 0.2:
        k = rng.randrange(size)
        share = rows[k][k], sum(rows[k])
        with_interval(rng, reported, f"recall.{labels[k]}", share, show, style)
    name = "two classes, averages" if averaged else f"{size} classes"
    claim: dict[str, Any] = {"name": name, "reported": reported} | style.said(rng)
    counts(rng, claim, rows, labels)
    if mixed and not {"confusion", "matrix", "support", "n"} & set(claim):
        # Without any counts, all are taken to be of one kind.
        claim["n"] = total
    tp, tn = rows[-1][-1], rows[0][0]
    share_of = show(Fraction(tp + tn, total), plain=show.percent == "bare")
    claim["arithmetic"] = [
        {"expression": f"({tp:,} + {tn})/{total}", "reported": share_of},
        {"expression": f"sqrt({tp}*{tn})", "reported": show(root(Fraction(tp * tn)), plain=True)},
    ]
    return claim


def counts(rng: random.Random, claim: dict[str, Any], rows: Rows, labels: Sequence[str]) -> None:
    """The counts in one of the ways to tell them; sometimes supports, the size, or none."""
    kind = rng.random()
    total = sum(map(sum, rows))
    support = {label: sum(row) for label, row in zip(labels, rows, strict=True)}
    stated = rng.choice((total, f"{total:,}"))
    if rng.random() < 0.5:
        claim["n"] = stated
    if len(rows) == 2:
        claim["positive"] = labels[1]
        claim["negative"] = labels[0]
    if kind < 0.14:
        claim["support"] = support
    elif kind < 0.22:
        claim["n"] = stated
    elif kind < 0.26:
        claim.pop("n", None)
    elif len(rows) == 2 and kind < 0.7:
        (tn, fp), (fn, tp) = rows
        claim["confusion"] = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
        if rng.random() < 0.2:
            del claim["confusion"][rng.choice(("tn", "fp", "fn", "tp"))]
            if rng.random() < 0.7:
                claim["support"] = support
    else:
        claim["labels"] = list(labels)
        claim["matrix"] = [list(row) for row in rows]
        if rng.random() < 0.2:
            claim["matrix"] = [list(column) for column in zip(*rows, strict=True)]
            claim["orientation"] = "predicted-rows"


def whole(claim: dict[str, Any]) -> bool:
    """Whether a claim tells all cells, or enough to fill them in."""
    return "matrix" in claim or "confusion" in claim
