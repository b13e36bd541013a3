"""Odd values for every place of a claim."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

NUMBERS: tuple[Any, ...] = (
    "1e400", "1e309", "1e308", "1e-400", "1e-309", "1e-330", "1e999", "-1e999", "1e99", "9e9",
    "1e309%", "1e-5%", "0", "-0", "0.0", "-0.0", "1", "1.0", "1.", ".5", "-1", "-0.5", "2",
    "1.0000001", "100", "100%", "100.0%", "101%", "-3%", "0%", "0.00%", "50", "99.9", "1,000",
    "1,234,567.89", "\u22120.2", "0.9999999999999999999999999999999999", "0." + "3" * 55, "9" * 59,
    "1e+5", "1E-3", "1e0", "4e2", "1e3%", "0e0", "0e999", "0.0e-999", 0, 1, -1, 2, 10**18, 10**30,
    -(10**30), 0.5, 5e-324, Decimal("0.90"), Decimal("1E+400"), Decimal("1E-400"),
)  # fmt: skip
NO_NUMBERS: tuple[Any, ...] = (
    ".", "", " ", "12,34", "0,967", "nan", "NaN", "inf", "-Infinity", "0x10", "1_000", "1/2", "½",
    "\u0660\u066b\u0669", "\uff10\uff0e\uff19", "0.9\u2009", "0." + "7" * 70, 10**400,
    True, False, None, [], {}, ["0.9"],
    [0.1, 0.2], {"value": "0.9"}, 1e308, float("nan"), float("inf"), -float("inf"), b"0.9",
    Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1E+999999"),
    Decimal("1E-999999"), 3 + 4j, object,
)  # fmt: skip
COUNTS: tuple[Any, ...] = (
    0, 0, 0, 1, 1, 2, 3, 7, 100, 10**6, 10**9, 2**31, 2**53 + 1, 2**62, 2**63, 10**18, 10**18 + 1,
    10**29, 10**30, "0", "7", "1,000",
)  # fmt: skip
NO_COUNTS: tuple[Any, ...] = (
    10**30 + 1, 10**400, -1, -0.0, 0.0, 1.0, 1.5, "1,00", "-3", "1e3", "1e18", "", "x", True, False,
    None, [], [1], {}, float("nan"), float("inf"), 1e300, Decimal(12), Decimal("12.5"),
    Decimal("1E+30"), Decimal("NaN"), "\uff19", "10 000", "1\u2009000",
)  # fmt: skip
LABELS: tuple[Any, ...] = (
    "", " ", "macro", "micro", "weighted", "ci", "se", "sd", "mean", "a.b", ".", "..", "a.macro",
    "5", "0.5", "None", "null", "NA", "nan", "007", "Ünïcödé", "é", "e\u0301", "攻撃", "🙂",
    "\u202eabc", "a\x00b", "a\nb", "\t", "<b>", "{{7*7}}", "\\input{x}", "|", "=1+1", "x" * 5000,
    "tp", "normal", "attack", "A", "\ud800", 0, 1, -1, True, False, None, 1.5, [], {}, ("a",),
    float("nan"),
)  # fmt: skip
TEXTS: tuple[Any, ...] = ("", "x", "pooled", "fold-mean", "predicted-rows", "truth-rows", *LABELS)
METHODS: tuple[Any, ...] = (
    "wald", "Wilson", "exact", "score", "normal", "clopper-pearson", "jeffreys", "agresti-coull",
    "delta", "bootstrap", "bca", "delong", "newcombe", "wald-cc", "wilson_cc", "", "x", 5, None, [],
)  # fmt: skip
LEVELS: tuple[Any, ...] = (0.95, "95%", "0.9", 95, "99", 0, 1, -1, "1e400", "nan", None, [], "0.5")
EXPRESSIONS: tuple[Any, ...] = (
    "1/0", "sqrt(-1)", "sqrt(2)", "0/0", "1e400*1e400", "9" * 300, "(" * 500 + "1" + ")" * 500,
    "2**99", "-" * 400 + "1", "1+", "", " ", "__import__('os')", "1,000*2",
    "sqrt(" * 60 + "2" + ")" * 60,
    "1/3", "10/0.0", "1e-400", "sqrt(827437859850)", "*".join(["9999999999"] * 200),
    "/".join(["7"] * 300), "+".join(["sqrt(2)"] * 100), None, 5, [],
)  # fmt: skip

MEASURES = (
    "accuracy", "error_rate", "precision", "recall", "specificity", "f1", "f2", "f0.5", "f3", "fpr",
    "fnr", "fdr", "far", "false_alarm_rate", "for", "npv", "balanced_accuracy", "g_mean", "dr",
    "informedness", "markedness", "mcc", "kappa", "jaccard", "fowlkes_mallows", "prevalence",
    "alert_rate", "positive_likelihood_ratio", "negative_likelihood_ratio", "dor", "roc_auc", "auc",
    "roc_auc_ovo", "partial_auc", "average_precision", "ap", "log_loss", "brier", "ece",
)  # fmt: skip
ODD_MEASURES = ("f0", "f1e9", "f999999999", "f0.0000001", "F1", "Accuracy", "accurracy", "")
SUFFIXES = (
    "", "", "", "", "", "", ".macro", ".micro", ".weighted", ".ci", ".se", ".sd", ".mean",
    ".macro.ci", ".weighted.se", ".mean.sd", ".mean.ci", ".normal", ".attack",
)  # fmt: skip
ODD_SUFFIXES = (
    ".A", ".alpha", ".", "..", ".macro.macro", ".A.sd", ".ci.ci", ".5", ".Ünïcödé", ".\x00",
    "." + "y" * 300,
)  # fmt: skip


def key(rng: random.Random) -> str:
    """A key of the table of reported numbers, seldom one that means nothing."""
    head = rng.choice(ODD_MEASURES) if rng.random() < 0.03 else rng.choice(MEASURES)
    return head + (rng.choice(ODD_SUFFIXES) if rng.random() < 0.03 else rng.choice(SUFFIXES))


def share(rng: random.Random) -> str:
    """A number that could be a share, as somebody might print it."""
    value = rng.choice((rng.random(), rng.random() ** 6, 1 - rng.random() ** 6, 0.0, 1.0))
    decimals = rng.randint(0, 6)
    return f"{value:.{decimals}%}" if rng.random() < 0.4 else f"{value:.{decimals}f}"


def number(rng: random.Random) -> Any:
    """A printed number, odd now and then, seldom none at all."""
    kind = rng.random()
    if kind < 0.03:
        return rng.choice(NO_NUMBERS)
    return rng.choice(NUMBERS) if kind < 0.4 else share(rng)


def count(rng: random.Random) -> Any:
    """A count, odd half of the time, seldom none at all."""
    kind = rng.random()
    if kind < 0.04:
        return rng.choice(NO_COUNTS)
    return rng.choice(COUNTS) if kind < 0.5 else int(10 ** rng.uniform(0, 7))
