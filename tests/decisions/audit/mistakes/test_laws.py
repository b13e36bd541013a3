"""What holds of every explanation, and oracles of the parts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.decisions.audit.claim import Claim, key_of
from assay.decisions.audit.mistakes import explain, grouped
from assay.decisions.audit.mistakes.candidates import (
    Candidate,
    ClaimMatrix,
    DigitFit,
    Plausibility,
    chance,
    guess,
    share,
    spans,
    swaps,
)
from assay.decisions.audit.mistakes.substitutes import correlations
from assay.decisions.audit.verdicts import Enclosure, JudgedNumber, NumberVerdict, judge, printed
from assay.tally import Confusion

KEYS = ("accuracy", "precision", "recall", "f1", "mcc", "fpr", "f1.macro", "balanced_accuracy")


def table_of(rows: list[list[int]]) -> ClaimMatrix:
    labels = tuple("ABCDEFGH"[: len(rows)])
    positive = labels[1] if len(rows) == 2 else None
    return ClaimMatrix(Confusion(labels, tuple(map(tuple, rows))), positive)


def numbers_of(table: ClaimMatrix, reported: dict[str, str]) -> tuple[Claim, list[JudgedNumber]]:
    """A claim and the plain verdict on each of its numbers."""
    claim = Claim(
        "law",
        positive=table.positive,
        labels=table.confusion.labels,
        matrix=table.confusion,
        reported={key: printed(text) for key, text in reported.items()},
    )
    judged = []
    for text, number in claim.reported.items():
        key = key_of(text)
        values = [v for v in (table.value(r) for r in table.readings(key)) if v is not None]
        if not values:
            judged.append(
                JudgedNumber(text, key.measure.name, number.text, None, NumberVerdict.UNDETERMINED)
            )
            continue
        verdicts = [judge(number, value) for value in values]
        verdict = next(
            (v for v in verdicts if v is not NumberVerdict.INCONSISTENT), NumberVerdict.INCONSISTENT
        )
        judged.append(JudgedNumber(text, key.measure.name, number.text, float(values[0]), verdict))
    return claim, judged


cells = st.integers(0, 300)
tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(cells, min_size=k, max_size=k), min_size=k, max_size=k)
)
digits = st.integers(1, 6)
values = st.floats(0, 1.2).flatmap(lambda x: digits.map(lambda d: f"{x:.{d}f}"))


@settings(max_examples=30)
@given(tables, st.dictionaries(st.sampled_from(KEYS), values, min_size=1))
def test_every_explanation_gives_the_printed_digits_of_an_inconsistent_number(rows, reported):
    table = table_of(rows)
    claim, judged = numbers_of(table, reported)
    wrong = sum(number.verdict is NumberVerdict.INCONSISTENT for number in judged)
    for before, after in zip(judged, explain(claim, judged), strict=True):
        assert (after.key, after.verdict, after.reported) == (
            before.key,
            before.verdict,
            before.reported,
        )
        assert len(after.explanations) <= 5
        if after.verdict is not NumberVerdict.INCONSISTENT:
            assert after.explanations == ()
        number = claim.reported[after.key]
        for one in after.explanations:
            assert judge(number, Enclosure.near(one.value)) is not NumberVerdict.INCONSISTENT
            assert 0 <= one.chance <= 1
            assert 1 <= one.explains <= wrong
            assert "+" not in one.mistake or number.digits >= 4
            assert one.text.endswith(".")
        explains = [one.explains for one in after.explanations]
        assert explains == sorted(explains, reverse=True)


@settings(max_examples=30)
@given(tables)
def test_swaps_have_the_values_of_the_matrices_that_they_leave(rows) -> None:
    table = table_of(rows)
    exchanges = swaps(table)
    size = len(rows)
    every = list(combinations([(i, j) for i in range(size) for j in range(size)], 2))
    unlike = [((i, j), (k, m)) for (i, j), (k, m) in every if rows[i][j] != rows[k][m]]
    assert list(exchanges.pairs) == unlike
    keys = ["accuracy", "mcc", "recall.A", "precision.B", "f1.macro"]
    for text in keys:
        quantity = table.quantity(key_of(text))
        for place, value in enumerate(exchanges.values(quantity)):
            exact = quantity.value(exchanges.variant(place).table.confusion)
            if math.isnan(exact):
                # Floats may leave a speck of what is undefined.
                continue
            assert value == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("size", [11, 14])
def test_many_classes_swap_cells_of_one_row_or_column_or_transposed(size) -> None:
    rng = np.random.default_rng(1)
    exchanges = swaps(table_of_size(rng.permutation(size * size).reshape(size, size)))
    pairs = math.comb(size, 2)
    assert len(exchanges.pairs) == 2 * size * pairs + pairs


def table_of_size(matrix: np.ndarray) -> ClaimMatrix:
    labels = tuple(f"c{i}" for i in range(len(matrix)))
    return ClaimMatrix(Confusion(labels, tuple(map(tuple, matrix.tolist()))), None)


@given(st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=3, max_size=3))
def test_correlation_of_codes_is_that_of_numpy(rows) -> None:
    confusion = table_of(rows).confusion
    truth = np.repeat(np.arange(3), [sum(row) for row in rows])
    said = np.concatenate([np.repeat(np.arange(3), row) for row in rows])
    candidates = list(correlations(confusion))
    if len(set(truth)) < 2 or len(set(said)) < 2:
        return
    assert len(candidates) <= 3
    expected = np.corrcoef(truth, said)[0, 1]
    assert float(candidates[0].value) == pytest.approx(expected, abs=1e-9)


ends = st.tuples(st.integers(-50, 150), st.integers(0, 30)).map(lambda t: (t[0], t[0] + t[1]))


@given(st.lists(ends), st.integers(-20, 50), st.integers(1, 100))
def test_share_of_numbers_in_spans_is_what_counting_gives(pairs, low, length) -> None:
    high = low + length
    lows, highs = (np.array([e[k] for e in pairs], float) for k in (0, 1))
    counted = sum(any(a <= x <= b for a, b in pairs) for x in range(low, high + 1))
    assert share((lows, highs), low, high) == pytest.approx(counted / (length + 1))


@settings(max_examples=30)
@given(st.lists(st.fractions(0, 1, max_denominator=997), max_size=20), st.integers(1, 3))
def test_chance_is_the_share_of_printed_numbers_that_some_value_would_give(
    fractions, places
) -> None:
    reported = printed("0." + "7" * places)
    values = [Enclosure.of(value) for value in fractions]
    every = [Fraction(k, 10**places) for k in range(10**places)]
    given_by_some = sum(any(abs(x - value) < reported.unit for value in fractions) for x in every)
    computed = chance(spans(values, reported), reported, (0, 1))
    assert computed == pytest.approx(given_by_some / 10**places)


def test_swaps_that_crowd_near_the_right_value_are_a_guess() -> None:
    reported = printed("0.845")
    crowd = spans([Enclosure.of(Fraction(k, 1000)) for k in range(840, 860)], reported)
    assert guess(crowd, reported, 0.8495) == 1
    assert guess(spans([Enclosure.of(Fraction(845, 1000))], reported), reported, 0.2) < 0.01


# -- the order -------------------------------------------------------------------------------------


def candidate(
    mistake: str, value: str, tier: Plausibility = Plausibility.USUAL, spoils: int = 0
) -> Candidate:
    return Candidate(
        mistake, f"the {mistake} of {value}", Enclosure.of(Fraction(value)), tier, spoils=spoils
    )


def names(
    *candidates: tuple[Candidate, DigitFit], explains: dict[str, int] | None = None
) -> list[str]:
    counts = {one.mistake: 1 for one, _ in candidates} | (explains or {})
    return [group.first.mistake for group in grouped(candidates, printed("0.9500"), counts)]


def test_mistake_that_explains_more_comes_first_then_what_spoils_less_then_the_simpler() -> None:
    spoiling = candidate("spoiling", "0.9501", spoils=2)
    rare = candidate("rare", "0.9502", Plausibility.ANY)
    usual = candidate("usual", "0.9503")
    often = candidate("often", "0.9504", Plausibility.SWAP, spoils=1)
    cut = candidate("cut", "0.9505")
    pairs = [(one, DigitFit.ROUNDED) for one in (spoiling, rare, usual, often)] + [
        (cut, DigitFit.CUT)
    ]
    assert names(*pairs, explains={"often": 2}) == ["often", "usual", "cut", "rare", "spoiling"]


def test_mistakes_of_one_value_are_one_explanation() -> None:
    one, other = candidate("one", "0.95"), candidate("other", "0.95")
    mistake_groups = grouped(
        [(one, DigitFit.ROUNDED), (other, DigitFit.ROUNDED)],
        printed("0.95"),
        {"one": 1, "other": 1},
    )
    assert [group.first.mistake for group in mistake_groups] == ["one"]
    assert mistake_groups[0].also == ("other",)
