"""The search for matrices, against all matrices of small supports."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from assay.decisions.audit.claim import Claim, key_of
from assay.decisions.audit.search import matrices as boxes
from assay.decisions.audit.search.matrices import KnownCells, Matrices, Search, region_of
from assay.decisions.audit.search.numbers import Way, in_four_cells, numbers_of
from assay.decisions.audit.verdicts import printed as read
from assay.formula import evaluate, value

from .brute_force import KEYS, Cells, matrices, measured, possible, printed

LABELS = ("normal", "attack")
CLAIM = Claim("x", positive="attack", negative="normal", labels=LABELS)
# Two things may be meant by these, which has its own test.
PLAIN = tuple(key for key in KEYS if key not in ("accuracy.normal", "error_rate.normal"))
Reported = list[tuple[str, str]]


def conditions(reported: Reported) -> list[tuple[Way, ...]]:
    """What each number asks of a matrix, its usual meaning alone."""
    given = [(key_of(key), read(text)) for key, text in reported]
    numbers = numbers_of(CLAIM, given, "attack", LABELS)
    return [tuple(w for w in number.ways if not w.meaning.convention) for number in numbers]


def random_numbers(rng: random.Random, truths: Sequence[Cells], honest: float) -> Reported:
    """Some numbers of one matrix, or now and then of another, printed in some way."""
    one, other = rng.choice(truths), rng.choice(truths)
    reported = []
    for key in rng.sample(PLAIN, rng.randint(1, 5)):
        number = measured(key, one if rng.random() < honest else other)
        if number is not None:
            digits = rng.choice([1, 2, 2, 3, 3, 4, 6, 9, 12])
            reported.append((key, printed(number, digits, rng.choice(["up", "even", "cut"]))))
    return reported


def search_of(positives: int, negatives: int) -> Search:
    known = KnownCells(positives=positives, negatives=negatives, n=positives + negatives)
    region = region_of(known)
    assert region is not None
    return Search(region, in_four_cells)


def rows(candidates: Matrices) -> set[tuple[int, ...]]:
    columns = [candidates.cells[cell].tolist() for cell in ("TP", "FP", "FN", "TN")]
    return set(zip(*columns, strict=True))


@pytest.fixture(params=["by boxes", "one by one"])
def tried(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many claims are tried; by boxes each takes longer."""
    if request.param == "one by one":
        return 250
    monkeypatch.setattr(boxes, "ALL_AT_ONCE", 3)
    monkeypatch.setattr(boxes, "_IN_THE_END", 3)
    return 30


@pytest.mark.sampled(1)
def test_the_search_finds_exactly_the_matrices_that_trying_all_finds(tried: int) -> None:
    rng = random.Random(8)
    answers = set()
    for _ in range(tried):
        p, n = rng.randint(1, 9), rng.randint(1, 9)
        truths = list(matrices(p, n))
        reported = random_numbers(rng, truths, 0.75)
        expected = {(c.tp, c.fp, c.fn, c.tn) for c in possible(reported, truths)}
        search_result = search_of(p, n).find(conditions(reported))
        assert rows(search_result.matrices) <= expected, (p, n, reported)
        assert search_result.feasible is None or search_result.feasible == bool(expected), (
            p,
            n,
            reported,
        )
        if search_result.complete:
            assert rows(search_result.matrices) == expected, (p, n, reported)
        one = search_of(p, n).find(conditions(reported), one=True)
        assert one.feasible is None or one.feasible == bool(expected), (p, n, reported)
        answers.add(search_result.feasible)
    assert {True, False} <= answers


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "key",
    ["positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio",
     "markedness", "fowlkes_mallows", "mcc", "kappa", "f1.macro", "precision.weighted", "g_mean"],
)  # fmt: skip
def test_no_matrix_of_a_thousand_rows_is_missed(key: str) -> None:
    rng = random.Random(key)
    search = search_of(500, 600)
    tp, fp = np.meshgrid(np.arange(501), np.arange(601), indexing="ij")
    cells = {"TP": tp, "FP": fp, "FN": 500 - tp, "TN": 600 - fp}
    everything = Matrices({name: column.ravel() for name, column in cells.items()})
    for _ in range(3):
        a, b = rng.randrange(501), rng.randrange(rng.choice([3, 601]))
        truth = Cells(a, b, 500 - a, 600 - b)
        exact = measured(key, truth)
        if exact is None:
            continue
        asked = conditions([(key, printed(exact, 5, "even"))])
        (way,) = asked[0]
        expected = rows(everything[way.holds(everything.seen_by, rounded=False)])
        assert (a, b, 500 - a, 600 - b) in expected
        search_result = search.find(asked)
        assert rows(search_result.matrices) <= expected
        assert not search_result.complete or rows(search_result.matrices) == expected


def test_matrices_are_read_by_either_class_and_by_both() -> None:
    candidates = Matrices({name: np.array([i, 2 * i]) for name, i in zip(
        ("TP", "FP", "FN", "TN"), (5, 2, 3, 7), strict=True)})  # fmt: skip
    assert {name: int(column[0]) for name, column in candidates.seen_by(0).items()} == {
        "TP": 7, "FP": 3, "FN": 2, "TN": 5,
    }  # fmt: skip
    for key in ("f1", "f1.normal", "f1.macro", "f1.weighted", "kappa", "accuracy"):
        ((way, *_),) = conditions([(key, "0.5")])
        by_label = evaluate(way.quantity.expression, candidates.seen_by(way.quantity.label))
        for i in (0, 1):
            in_cells = value(in_four_cells(way.quantity), candidates.one(i))
            assert float(np.broadcast_to(by_label, 2)[i]) == pytest.approx(in_cells, rel=1e-14)


def test_a_search_that_would_take_too_long_is_left_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boxes, "BUDGET", 0)
    search_result = search_of(10**6 + 3, 10**6 + 33).find(
        conditions([("mcc", "0.123456789"), ("kappa", "0.123"), ("f1.macro", "0.56789")])
    )
    assert search_result.feasible is not False or not search_result.complete


def test_a_precision_above_that_of_finding_every_positive_is_excluded_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boxes, "BUDGET", 0)
    region = region_of(KnownCells(fp=1000, tn=999_000, positives=999_000, negatives=10**6))
    assert region is not None
    search = Search(region, in_four_cells)
    above, highest = (search.find(conditions([("precision", p)])) for p in ("0.9992", "0.9990"))
    assert above.feasible is False
    assert highest.feasible is not False
