"""Honest claims that an audit must not accuse: `make audits`.

Every claim is made from a random matrix by arithmetic of this file alone: rationals, and decimals
of 60 digits. Numbers are rounded half up, half to even, or cut off, to 2 to 16 digits, in percent
or not; some are worked out from numbers that were rounded before. None may come out inconsistent.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from scipy.special import betaincinv, ndtri, stdtrit

Number = Fraction | Decimal
Rows = tuple[tuple[int, ...], ...]
CONTEXT = Context(prec=60)
ROUNDINGS = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)
WORDS = ("alpha", "beta", "gamma", "delta", "dos", "probe", "r2l", "u2r")


def decimal(value: Number) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def root(value: Fraction) -> Decimal:
    return CONTEXT.sqrt(decimal(value))


class Printer:
    """Prints numbers as one author does: so many decimals, one way to round, percent or not."""

    def __init__(self, rng: random.Random) -> None:
        self.decimals = rng.choice((2, 3, 3, 4, 4, 4, 5, 6, 8, 10, 12, 16))
        self.rounding = rng.choice(ROUNDINGS)
        self.percent = rng.choice(("", "", "%", "%", "bare"))

    def __call__(self, value: Number, *, plain: bool = False) -> str:
        """A number as it goes into the claim; ``plain`` ones are never percentages."""
        decimals = self.decimals
        exact = decimal(value)
        if self.percent and not plain:
            exact, decimals = exact.scaleb(2, CONTEXT), max(decimals - 2, 0)
        unit = Decimal(1).scaleb(-decimals)
        shown = format(exact.quantize(unit, rounding=self.rounding, context=CONTEXT), "f")
        return f"{shown}%" if self.percent == "%" and not plain else shown

    def read(self, text: str) -> Fraction:
        """What a printed number stands for."""
        share = self.percent != ""
        return Fraction(text.rstrip("%")) / (100 if share else 1)


# -- measures, by hand -----------------------------------------------------------------------------


def ratio(top: int, bottom: int) -> Fraction | None:
    return Fraction(top, bottom) if bottom else None


def one_sided(tp: int, fp: int, fn: int, tn: int) -> dict[str, Fraction | None]:
    return {
        "precision": ratio(tp, tp + fp),
        "recall": ratio(tp, tp + fn),
        "specificity": ratio(tn, tn + fp),
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "f2": ratio(5 * tp, 5 * tp + 4 * fn + fp),
        "f0.5": ratio(5 * tp, 5 * tp + fn + 4 * fp),
        "jaccard": ratio(tp, tp + fp + fn),
        "fpr": ratio(fp, fp + tn),
        "fnr": ratio(fn, fn + tp),
        "fdr": ratio(fp, fp + tp),
        "for": ratio(fn, fn + tn),
        "npv": ratio(tn, tn + fn),
    }


def cells(rows: Rows, k: int) -> tuple[int, int, int, int]:
    total = sum(map(sum, rows))
    tp, row, column = rows[k][k], sum(rows[k]), sum(r[k] for r in rows)
    return tp, column - tp, row - tp, total - row - column + tp


def of_all(rows: Rows) -> dict[str, Number | None]:
    """The symmetric measures of any number of classes."""
    n = sum(map(sum, rows))
    hits = sum(rows[i][i] for i in range(len(rows)))
    truth, said = [sum(row) for row in rows], [sum(column) for column in zip(*rows, strict=True)]
    chance = sum(t * s for t, s in zip(truth, said, strict=True))
    spread = (n * n - sum(t * t for t in truth)) * (n * n - sum(s * s for s in said))
    recalls = [ratio(rows[i][i], truth[i]) for i in range(len(rows))]
    found: dict[str, Number | None] = {
        "accuracy": ratio(hits, n),
        "error_rate": ratio(n - hits, n),
        "kappa": ratio(n * hits - chance, n * n - chance),
        "mcc": None,
        "balanced_accuracy": None,
    }
    if spread:
        found["mcc"] = CONTEXT.divide(Decimal(n * hits - chance), root(Fraction(spread)))
    if None not in recalls:
        found["balanced_accuracy"] = sum(r for r in recalls if r is not None) / len(rows)
    return found


def average(values: Sequence[Fraction | None], weights: Sequence[int]) -> Fraction | None:
    if None in values or not sum(weights):
        return None
    total = sum((v * w for v, w in zip(values, weights, strict=True) if v is not None), Fraction(0))
    return total / sum(weights)


# -- claims ----------------------------------------------------------------------------------------


def matrix(rng: random.Random, size: int) -> Rows:
    """Counts of a detector that may be good, poor, or turned round."""
    scale = 10 ** rng.uniform(0, 7)
    skill = rng.choice((0.5, 0.9, 0.99, 0.999, 0.05))
    shares = [rng.random() ** rng.choice((1, 4)) for _ in range(size)]
    rows = tuple(
        tuple(
            int(scale * shares[i] * (skill if i == j else (1 - skill) * rng.random() / size) + 0.9)
            for j in range(size)
        )
        for i in range(size)
    )
    return rows if any(map(any, rows)) else ((1,) * size, *rows[1:])


def put(found: dict[str, str], key: str, value: Number | None, show: Printer) -> None:
    if value is not None:
        found[key] = show(value)


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
    return reported


def many(rng: random.Random, rows: Rows, show: Printer, labels: Sequence[str]) -> dict[str, Any]:
    reported: dict[str, Any] = {}
    each = [one_sided(*cells(rows, k)) for k in range(len(rows))]
    weights = [sum(row) for row in rows]
    plain = rng.random() < 0.5
    for key in rng.sample(("precision", "recall", "f1", "specificity", "jaccard"), 3):
        values = [found[key] for found in each]
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


# -- intervals -------------------------------------------------------------------------------------


def intervals(k: float, n: int, level: float) -> dict[str, tuple[float, float]]:
    """Textbook formulas, with the quantile exact or rounded to two decimals."""
    found = {}
    tail = (1 - level) / 2
    p = k / n
    for name, z in (("", -float(ndtri(tail))), (" rounded", round(-float(ndtri(tail)), 2))):
        error = math.sqrt(p * (1 - p) / n)
        found["wald" + name] = p - z * error, p + z * error
        found["wald-cc" + name] = p - z * error - 0.5 / n, p + z * error + 0.5 / n
        centre, reach = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
        found["wilson" + name] = tuple((centre + s * reach) / (1 + z * z / n) for s in (-1, 1))
        more = n + z * z
        q = (k + z * z / 2) / more
        found["agresti" + name] = tuple(q + s * z * math.sqrt(q * (1 - q) / more) for s in (-1, 1))
    found["jeffreys"] = tuple(float(betaincinv(k + 0.5, n - k + 0.5, t)) for t in (tail, 1 - tail))
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - tail))
    found["clopper-pearson"] = low, high
    found["clipped"] = max(found["wald"][0], 0.0), min(found["wald"][1], 1.0)
    return found


def with_interval(
    rng: random.Random, reported: dict[str, Any], key: str, share: tuple[int, int], show: Printer
) -> None:
    k, n = share
    if not n:
        return
    value = show(Fraction(k, n))
    reported[key] = value
    successes: float = k
    if rng.random() < 0.3 and 0 <= show.read(value) <= 1:
        # From the rounded value: the author's table is all that is left.
        successes = float(show.read(value) * n)
    ends = intervals(successes, n, rng.choice((0.95, 0.95, 0.9, 0.99)))
    low, high = ends[rng.choice(sorted(ends))]
    if show.percent == "bare" and max(abs(low), abs(high)) * 100 <= 1:
        return
    reported[f"{key}.ci"] = [show(Fraction(low)), show(Fraction(high))]
    p = Fraction(successes).limit_denominator(10**15) / n
    reported[f"{key}.se"] = show(root(max(p * (1 - p), Fraction(0)) / n))


# -- folds -----------------------------------------------------------------------------------------


def folds(rng: random.Random, show: Printer) -> dict[str, Any]:
    """A claim of means of folds, with the pooled matrix beside it."""
    many_folds, size = rng.randint(2, 12), rng.randint(5, 2000)
    sizes = [size + (rng.random() < 0.5) for _ in range(many_folds)]
    if max(sizes) == min(sizes):
        sizes[0] += 1
    tables = []
    for n in sizes:
        positives = rng.randint(1, n - 1)
        tp, tn = (int(c * rng.uniform(0.7, 1)) for c in (positives, n - positives))
        tables.append((tn, n - positives - tn, positives - tp, tp))
    tn, fp, fn, tp = (sum(column) for column in zip(*tables, strict=True))
    right = [Fraction(t[0] + t[3], sum(t)) for t in tables]
    recalls = [Fraction(t[3], t[2] + t[3]) for t in tables]
    mean = sum(right) / len(right)
    claim: dict[str, Any] = {
        "confusion": {"tn": tn, "fp": fp, "fn": fn, "tp": tp},
        "reported": {
            "accuracy": show(mean),
            "accuracy.mean": show(mean),
            "recall": show(sum(recalls) / len(recalls)),
        },
    }
    kind = rng.choice(("told", "listed", "listed"))
    if kind == "told":
        claim["aggregate"] = "fold-mean"
        return claim
    printed = [show(value) for value in right]
    claim["folds"] = {"accuracy": printed}
    # A deviation of folds of few digits is that of the printed ones.
    values = right if show.decimals >= 4 else [show.read(text) for text in printed]
    middle = sum(values) / len(values)
    spread = root(sum((v - middle) ** 2 for v in values) / (len(values) - 1))
    claim["reported"]["accuracy.sd"] = show(spread)
    error = spread / Decimal(len(values)).sqrt(CONTEXT)
    claim["reported"]["accuracy.se"] = show(error)
    if show.decimals >= 4:
        claim["reported"].pop("accuracy.se")
    else:
        t = Decimal(float(-stdtrit(len(values) - 1, 0.025)))
        ends = decimal(middle) - t * error, decimal(middle) + t * error
        claim["reported"]["accuracy.ci"] = [show(end) for end in ends]
    return claim


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
    show = Printer(rng)
    kind = rng.random()
    if kind < 0.1:
        return {"name": "folds", "positive": "attack"} | folds(rng, show)
    if kind < 0.2:
        return {"name": "ranking", "positive": "attack"} | ranking(rng, show)
    size = 2 if kind < 0.65 else rng.randint(3, 8)
    rows = matrix(rng, size)
    labels = ("normal", "attack") if size == 2 else WORDS[:size]
    reported = binary(rng, rows, show) if size == 2 else many(rng, rows, show, labels)
    for key, value in of_all(rows).items():
        if rng.random() < 0.6:
            put(reported, key, value, show)
    reworked(rng, reported, show)
    total = sum(map(sum, rows))
    right = sum(rows[i][i] for i in range(size))
    if rng.random() < 0.4:
        with_interval(rng, reported, "accuracy", (right, total), show)
    if rng.random() < 0.2:
        k = rng.randrange(size)
        share = rows[k][k], sum(rows[k])
        with_interval(rng, reported, f"recall.{labels[k]}", share, show)
    claim: dict[str, Any] = {"name": f"{size} classes", "reported": reported}
    counts(rng, claim, rows, labels)
    if rng.random() < 0.5:
        claim["n"] = rng.choice((total, f"{total:,}"))
    tp, tn = rows[-1][-1], rows[0][0]
    share = show(Fraction(tp + tn, total), plain=show.percent == "bare")
    claim["arithmetic"] = [
        {"expression": f"({tp:,} + {tn})/{total}", "reported": share},
        {"expression": f"sqrt({tp}*{tn})", "reported": show(root(Fraction(tp * tn)), plain=True)},
    ]
    return claim


def counts(rng: random.Random, claim: dict[str, Any], rows: Rows, labels: Sequence[str]) -> None:
    """The counts in one of the ways to tell them; sometimes only supports, sometimes none."""
    kind = rng.random()
    support = {label: sum(row) for label, row in zip(labels, rows, strict=True)}
    if kind < 0.12:
        claim["support"] = support
    elif kind < 0.17:
        claim.pop("n", None)
    elif len(rows) == 2 and kind < 0.7:
        (tn, fp), (fn, tp) = rows
        claim["confusion"] = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
        if rng.random() < 0.2:
            del claim["confusion"][rng.choice(("tn", "fp", "fn", "tp"))]
            claim["support"] = support
    else:
        claim["labels"] = list(labels)
        claim["matrix"] = [list(row) for row in rows]
        if rng.random() < 0.2:
            claim["matrix"] = [list(column) for column in zip(*rows, strict=True)]
            claim["orientation"] = "predicted-rows"
    if len(rows) == 2:
        claim["positive"] = labels[1]
        claim["negative"] = labels[0]


def whole(claim: dict[str, Any]) -> bool:
    """Whether a claim tells all cells, or enough to fill them in."""
    return "matrix" in claim or "confusion" in claim


def accused(
    seed: int,
    many_claims: int,
    audit: Callable[[Any], Any],
    verdicts: Counter[str],
    keep: Callable[[dict[str, Any]], bool] = lambda claim: True,  # noqa: ARG005
) -> list[tuple[dict[str, Any], Any]]:
    """Honest claims that were called inconsistent, with what was found; counts all verdicts."""
    rng = random.Random(seed)
    wrong = []
    made = (honest(rng) for _ in iter(int, 1))
    for claim in islice(filter(keep, made), many_claims):
        found = audit(claim).claims[0]
        verdicts.update(str(number.verdict) for number in found.numbers)
        if str(found.verdict) == "inconsistent":
            wrong.append((claim, found))
    return wrong


def main() -> None:
    import assay

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--claims", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=42)
    asked = parser.parse_args()
    verdicts: Counter[str] = Counter()
    started = time.monotonic()
    wrong = accused(asked.seed, asked.claims, assay.audit, verdicts)
    spent = time.monotonic() - started
    print(f"{asked.claims:,} honest claims, {sum(verdicts.values()):,} numbers, {spent:.0f} s")
    for verdict, often in verdicts.most_common():
        print(f"  {verdict:14} {often:,}")
    for claim, found in wrong[:20]:
        print(claim)
        for number in found.numbers:
            if str(number.verdict) == "inconsistent":
                print("   ", number.key, number.reported, number.recomputed, number.said)
    print(f"claims called inconsistent: {len(wrong)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
