"""K classes with their supports, against all hits that there can be."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

from assay.decisions.audit.audit import audit
from assay.decisions.audit.printed import printed as read
from assay.decisions.audit.result import Verdict
from assay.decisions.audit.search.hits import Hits
from assay.decisions.audit.search.number import window

from .brute_force import accepted, printed, root

LABELS = ("a", "b", "c")


def values(rows: tuple[int, ...], hits: tuple[int, ...]) -> dict[str, Fraction]:
    n, right = sum(rows), sum(hits)
    recalls = [Fraction(x, r) for x, r in zip(hits, rows, strict=True)]
    accuracy = Fraction(right, n)
    return {
        "accuracy": accuracy,
        "recall.weighted": accuracy,
        "f1.micro": accuracy,
        "jaccard.micro": Fraction(right, 2 * n - right),
        "specificity.micro": Fraction(2 * right + (n - right), 2 * n),
        "balanced_accuracy": sum(recalls, Fraction(0)) / 3,
        "recall.macro": sum(recalls, Fraction(0)) / 3,
        **{f"{label}|recall": recall for label, recall in zip(LABELS, recalls, strict=True)},
    }


def test_the_search_over_hits_agrees_with_trying_all() -> None:
    rng = random.Random(2)
    answers = set()
    for _ in range(300):
        rows = tuple(rng.randint(1, 7) for _ in LABELS)
        everything = list(itertools.product(*(range(r + 1) for r in rows)))
        tables = [values(rows, hits) for hits in everything]
        one, other = rng.choice(tables), rng.choice(tables)
        asked = {
            key: printed((one if rng.random() < 0.7 else other)[key], rng.randint(1, 5), "even")
            for key in rng.sample(list(one), rng.randint(1, 4))
        }
        hits = Hits(LABELS, rows)
        for key, text in asked.items():
            hits.ask(key, window(read(text), rounded=False))
        expected = any(all(accepted(t, each[k]) for k, t in asked.items()) for each in tables)
        assert hits.possible() is expected, (rows, asked)
        answers.add(expected)
    assert answers == {True, False}


def test_the_g_mean_binds_the_hits() -> None:
    rng = random.Random(4)
    for _ in range(60):
        rows = tuple(rng.randint(1, 6) for _ in range(2))
        pairs = list(itertools.product(*(range(r + 1) for r in rows)))
        exact = {p: root(Fraction(p[0] * p[1], rows[0] * rows[1])) for p in pairs}
        text = printed(rng.choice(list(exact.values())), 3, rng.choice(["even", "cut"]))
        if rng.random() < 0.5:
            text = f"0.{rng.randint(0, 999):03d}"
        hits = Hits(LABELS[:2], rows)
        hits.ask("g_mean", window(read(text), rounded=False))
        assert hits.possible() is any(accepted(text, value) for value in exact.values())


def test_a_class_without_rows_has_no_recall() -> None:
    hits = Hits(LABELS, (3, 0, 4))
    hits.ask("b|recall", window(read("0.0"), rounded=False))
    assert hits.possible() is False


def test_too_many_hits_to_search_are_left_open() -> None:
    hits = Hits(LABELS, (10**6 + 3, 10**6 + 7, 10**6 + 9))
    hits.ask("recall.macro", window(read("0.1234567890"), rounded=True))
    hits.ask("accuracy", window(read("0.4"), rounded=True))
    assert hits.possible() is None


SUPPORT = {"A": 50, "B": 45, "C": 55}


def test_recalls_and_accuracy_are_judged_and_the_rest_is_undetermined() -> None:
    reported = {
        "accuracy": "0.90", "recall.A": "0.90", "recall.B": "0.844", "recall.C": "0.945",
        "balanced_accuracy": "0.897", "precision.A": "0.90", "f1.macro": "0.89", "kappa": "0.85",
    }  # fmt: skip
    claim = audit({"support": SUPPORT, "reported": reported}).claims[0]
    found = {number.key: str(number.verdict) for number in claim.numbers}
    undetermined = {key for key, verdict in found.items() if verdict == "undetermined"}
    assert undetermined == {"precision.A", "f1.macro", "kappa"}
    assert "inconsistent" not in found.values()


def test_recalls_that_no_count_gives_are_accused() -> None:
    claim = audit({"support": SUPPORT, "reported": {"recall.A": "0.905"}}).claims[0]
    assert claim.verdict is Verdict.INCONSISTENT


def test_an_accuracy_that_the_recalls_forbid_is_accused() -> None:
    reported = {"accuracy": "0.95", "recall.A": "0.90", "recall.B": "0.844", "recall.C": "0.945"}
    claim = audit({"support": SUPPORT, "reported": reported}).claims[0]
    assert claim.verdict is Verdict.INCONSISTENT


def test_a_class_against_the_rest_must_have_a_matrix() -> None:
    reported = {"precision.A": "0.90", "recall.A": "0.90", "f1.A": "0.95", "recall.B": "0.80"}
    claim = audit({"support": SUPPORT, "reported": reported}).claims[0]
    found = {number.key: str(number.verdict) for number in claim.numbers}
    assert found["f1.A"] == "inconsistent"
    assert found["recall.B"] == "consistent"
