"""K classes with their supports, against all hits that there can be."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

from assay.decisions.audit.keys import key_of, meanings
from assay.decisions.audit.printed import printed as read
from assay.decisions.audit.search.hits import Hits

from .brute_force import accepted, printed, root

LABELS = ("a", "b", "c")


def ask(hits: Hits, key: str, text: str, *, rounded: bool = False) -> bool:
    """Ask that a number be printed so."""
    meaning = meanings(key_of(key), None)[0]
    quantity = meaning.quantity(LABELS[: len(hits.rows)])
    assert quantity is not None
    return hits.ask(quantity, read(text).window(rounded=rounded))


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
        **{f"recall.{label}": recall for label, recall in zip(LABELS, recalls, strict=True)},
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
        hits = Hits(rows)
        assert all(ask(hits, key, text) for key, text in asked.items())
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
        hits = Hits(rows)
        assert ask(hits, "g_mean", text)
        assert hits.possible() is any(accepted(text, value) for value in exact.values())


def test_what_hits_do_not_tell_is_not_asked_of_them() -> None:
    for key in ("precision.a", "f1.macro", "precision.weighted", "kappa", "mcc", "specificity.b"):
        assert not ask(Hits((3, 4, 5)), key, "0.5"), key


def test_a_class_without_rows_has_no_recall() -> None:
    hits = Hits((3, 0, 4))
    assert ask(hits, "recall.b", "0.0")
    assert hits.possible() is False


def test_too_many_hits_to_search_are_left_open() -> None:
    hits = Hits((10**6 + 3, 10**6 + 7, 10**6 + 9))
    ask(hits, "recall.macro", "0.1234567890", rounded=True)
    ask(hits, "accuracy", "0.4", rounded=True)
    assert hits.possible() is None
