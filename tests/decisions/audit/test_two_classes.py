"""The search for matrices, against all matrices of small supports."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import numpy as np
import pytest

from assay.decisions.audit.audit import audit
from assay.decisions.audit.building import build
from assay.decisions.audit.claim import Claim
from assay.decisions.audit.keys import key_of
from assay.decisions.audit.printed import printed as read
from assay.decisions.audit.result import AuditedClaim, Verdict
from assay.decisions.audit.search import judge_without_matrix
from assay.decisions.audit.search import plane as planes
from assay.decisions.audit.search.bonds import Bonds
from assay.decisions.audit.search.known import Known
from assay.decisions.audit.search.number import number_of
from assay.decisions.audit.search.plane import Plane
from assay.decisions.audit.search.quantity import Classes
from assay.decisions.audit.search.space import Space
from assay.measures import CATALOGUE

from .brute_force import KEYS, Cells, accepted, matrices, measured, possible, printed

LABELS = ("normal", "attack")
CLAIM = Claim("x", positive="attack", negative="normal", labels=LABELS)
# Two things may be meant by these, which has its own test.
PLAIN = tuple(key for key in KEYS if key not in ("accuracy.normal", "error_rate.normal"))
Reported = list[tuple[str, str]]


def space_of(reported: Reported, known: Known) -> Space:
    given = [(key_of(key), read(text)) for key, text in reported]
    numbers = [number_of(key, number, CLAIM) for key, number in given]
    return Space(known, numbers, Bonds.of(CLAIM, given, Classes(LABELS), "attack"))


def random_claim(rng: random.Random, truths: Sequence[Cells], honest: float) -> Reported:
    """Some numbers of one matrix, or now and then of another, printed in some way."""
    one, other = rng.choice(truths), rng.choice(truths)
    reported = []
    for key in rng.sample(PLAIN, rng.randint(1, 5)):
        value = measured(key, one if rng.random() < honest else other)
        if value is not None:
            digits = rng.choice([1, 2, 2, 3, 3, 4, 6, 9, 12])
            reported.append((key, printed(value, digits, rng.choice(["up", "even", "cut"]))))
    return reported


def judged(reported: dict[str, str], **told: object) -> AuditedClaim:
    return audit({"positive": "attack", "negative": "normal", **told, "reported": reported}).claims[
        0
    ]


def verdicts(claim: AuditedClaim) -> dict[str, str]:
    return {number.key: str(number.verdict) for number in claim.numbers}


def test_every_measure_moves_one_way_with_each_cell_of_fixed_supports() -> None:
    for measure in CATALOGUE:
        names = [measure.name, f"{measure.name}.normal"]
        names += [f"{measure.name}.{a}" for a in ("macro", "micro", "weighted")]
        for name in names:
            number = number_of(key_of(name), read("0.5"), CLAIM)
            for bound in (b for c in number.choices for b in c.bounds(rounded=True)):
                for p, n in ((1, 1), (1, 6), (5, 1), (4, 7), (8, 3)):
                    tp, fp = np.meshgrid(np.arange(p + 1), np.arange(n + 1), indexing="ij")
                    plane = Plane(p, n, (0, p), (0, n))
                    value = planes._value(plane, bound, tp.ravel(), fp.ravel()).reshape(tp.shape)
                    for axis, way in enumerate(bound.rises):
                        with np.errstate(invalid="ignore"):
                            step = np.diff(value, axis=axis)
                        step = step[~np.isnan(step)]
                        assert (step * way if way else -abs(step)).min(initial=0) > -1e-12, name


@pytest.mark.parametrize("few", [4, 1 << 16], ids=["by bisection", "one by one"])
def test_the_search_finds_exactly_the_matrices_that_trying_all_finds(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planes, "_FEW", few)
    rng = random.Random(few)
    answers = set()
    for _ in range(350):
        p, n = rng.randint(1, 9), rng.randint(1, 9)
        truths = list(matrices(p, n))
        reported = random_claim(rng, truths, 0.75)
        expected = {(c.tp, c.fp, c.fn, c.tn) for c in possible(reported, truths)}
        space = space_of(reported, Known(positives=p, negatives=n, n=p + n))
        everything = frozenset(range(len(reported)))
        found = space.search(everything, rounded=False)
        matched = {tuple(map(int, row)) for row in found.matrices.table()}
        assert matched <= expected
        if found.complete:
            assert matched == expected, reported
        # Identities know less than the counts do, and must never contradict them.
        assert not expected or space.bonds.possible(everything), reported
        answers.add(found.feasible)
    assert {True, False} <= answers


def test_a_conflict_is_a_smallest_set_that_no_matrix_gives() -> None:
    rng = random.Random(5)
    seen = 0
    for _ in range(150):
        p, n = rng.randint(2, 9), rng.randint(2, 9)
        truths = list(matrices(p, n))
        reported = dict(random_claim(rng, truths, 0.6))
        claim = judged(reported, support={"normal": n, "attack": p})
        said = {number.key: number for number in claim.numbers}
        wrong = {k for k, number in said.items() if number.verdict is Verdict.INCONSISTENT}
        good = [(k, t) for k, t in reported.items() if "as the printed" not in said[k].said]
        kept = [(k, t) for k, t in good if k not in wrong]
        assert possible(kept, truths), (p, n, reported)
        if not possible(list(reported.items()), truths) and len(good) == len(reported):
            assert wrong, (p, n, reported)
            seen += 1
        for key in wrong:
            named = [k for k in reported if k == key or f"{k} {reported[k]}" in said[key].said]
            assert not possible([(k, reported[k]) for k in named], truths), said[key]
    assert seen > 20


def test_honest_claims_without_a_matrix_are_never_accused() -> None:
    rng = random.Random(11)
    for _ in range(70):
        scale = rng.choice([6, 60, 4000])
        p, n = rng.randint(1, scale), rng.randint(1, scale)
        cells = Cells(tp := rng.randint(0, p), fp := rng.randint(0, n), p - tp, n - fp)
        digits, how = rng.randint(2, 10), rng.choice(["up", "even", "cut"])
        values = {key: measured(key, cells) for key in rng.sample(PLAIN, 5)}
        reported = {k: printed(v, digits, how) for k, v in values.items() if v is not None}
        told: dict[str, object] = {}
        counts = {"tp": cells.tp, "fp": cells.fp, "fn": cells.fn, "tn": cells.tn}
        match rng.randrange(5):
            case 0:
                told["support"] = {"normal": n, "attack": p}
            case 1:
                told["n"] = p + n
            case 2:
                told["confusion"] = {c: counts[c] for c in rng.sample(list(counts), 3)}
            case 3:
                told["confusion"] = {c: counts[c] for c in rng.sample(list(counts), 2)}
                told["n"] = p + n
        assert judged(reported, **told).verdict is not Verdict.INCONSISTENT, (told, reported)


SAFELINK = {"normal": 7910, "attack": 6959}


def test_the_only_matrix_is_found_and_named() -> None:
    claim = judged(
        {"accuracy": "96.70%", "precision": "0.9754", "recall": "0.9534", "f1": "0.9643"},
        support=SAFELINK,
    )
    assert set(verdicts(claim).values()) == {"consistent"}
    assert claim.numbers[0].recomputed == pytest.approx(14378 / 14869)
    assert "tn = 7,743, fp = 167, fn = 324, tp = 6,635" in claim.notes[-1]


def test_a_single_culprit_is_the_only_one_accused() -> None:
    claim = judged(
        {"accuracy": "97.70%", "precision": "0.9754", "recall": "0.9534", "mcc": "0.9338"},
        support=SAFELINK,
    )
    wrong = [number for number in claim.numbers if number.verdict is Verdict.INCONSISTENT]
    assert [number.key for number in wrong] == ["accuracy"]
    assert "no matrix of 6,959 positives and 7,910 negatives" in wrong[0].said
    assert wrong[0].recomputed == pytest.approx(14378 / 14869)


def test_where_nobody_is_to_blame_alone_the_smallest_set_is_accused() -> None:
    claim = judged({"accuracy": "0.50", "recall": "1.00", "specificity": "0.90"}, support=SAFELINK)
    found = verdicts(claim)
    assert found["accuracy"] == "inconsistent"
    assert "can't hold together with" in claim.numbers[0].said


def test_false_alarm_rate_is_read_as_either_rate_and_says_which() -> None:
    counts = {"accuracy": "0.9670", "recall": "0.9534"}
    as_fpr = judged({**counts, "far": "0.0211"}, support=SAFELINK)
    as_fdr = judged({**counts, "far": "0.0246"}, support=SAFELINK)
    neither = judged({**counts, "far": "0.0466"}, support=SAFELINK)
    assert "false positive rate" in as_fpr.numbers[2].said
    assert "false discovery rate" in as_fdr.numbers[2].said
    assert neither.verdict is Verdict.INCONSISTENT


def test_f1_worked_out_from_rounded_numbers_is_rounding() -> None:
    # The printed ones give 0.4422; two of six attacks found with one false alarm give 0.4444.
    claim = judged({"precision": "0.67", "recall": "0.33", "f1": "0.4422"}, support={
        "normal": 5, "attack": 6})  # fmt: skip
    assert verdicts(claim)["f1"] == "rounding"
    assert claim.verdict is Verdict.CONSISTENT


def test_a_truncated_number_is_rounding() -> None:
    claim = judged({"recall": "0.66"}, support={"normal": 3, "attack": 3})
    assert verdicts(claim) == {"recall": "rounding"}


def test_a_matrix_where_the_measure_is_undefined_gives_no_number() -> None:
    claim = judged({"precision": "0.00", "fpr": "0.000"}, support={"normal": 4, "attack": 4})
    assert claim.verdict is Verdict.INCONSISTENT


def test_an_auc_outside_of_what_the_operating_point_allows_is_accused() -> None:
    reported = {"recall": "0.800", "fpr": "0.300", "precision": "0.727"}
    support = {"normal": 1000, "attack": 1000}

    def of_auc(text: str, **told: object) -> Verdict:
        raw = {"positive": "attack", "reported": {**reported, "auc": text}, **told}
        found, _ = judge_without_matrix(build(raw))
        wrong = {key for key, each in found.items() if each.verdict is Verdict.INCONSISTENT}
        assert wrong <= {"auc"}
        return found["auc"].verdict

    # TPR (1 - FPR) = 0.56, 1 - FPR (1 - TPR) = 0.94
    for told in ({"support": support}, {}):
        assert of_auc("0.75", **told) is Verdict.UNDETERMINED
        assert of_auc("0.97", **told) is Verdict.INCONSISTENT
        assert of_auc("0.50", **told) is Verdict.INCONSISTENT


def test_the_accuracy_of_a_class_may_be_its_recall() -> None:
    claim = judged({"accuracy": "0.90", "accuracy.normal": "0.95"}, support={
        "normal": 100, "attack": 100})  # fmt: skip
    assert set(verdicts(claim).values()) == {"consistent"}


def test_one_missing_cell_is_found_from_the_numbers() -> None:
    cells = {"tp": 85, "fp": 20, "fn": 15}
    claim = judged({"accuracy": "0.9125", "specificity": "0.933"}, confusion=cells)
    assert set(verdicts(claim).values()) == {"consistent"}
    assert "tn = 280" in claim.notes[-1]
    wrong = judged({"accuracy": "0.9125", "specificity": "0.97"}, confusion=cells)
    assert wrong.verdict is Verdict.INCONSISTENT


def test_two_missing_cells_and_the_size() -> None:
    claim = judged({"accuracy": "0.9125", "recall": "0.85"}, confusion={"tp": 85, "fp": 20}, n=400)
    assert set(verdicts(claim).values()) - {"undetermined"} == {"consistent"}
    wrong = judged({"accuracy": "0.5", "recall": "0.99"}, confusion={"tp": 85, "fp": 20}, n=400)
    assert wrong.verdict is Verdict.INCONSISTENT


def test_with_only_the_size_a_share_must_be_a_ratio_of_its_rows() -> None:
    assert judged({"accuracy": "0.955"}, n=100).verdict is Verdict.INCONSISTENT
    assert verdicts(judged({"accuracy": "0.95"}, n=100))["accuracy"] == "consistent"
    # No fraction with a denominator of 20 or less is printed 0.9754.
    assert judged({"precision": "0.9754"}, n=20).verdict is Verdict.INCONSISTENT


@pytest.mark.parametrize(
    "support", [{"normal": 10**6, "attack": 10**6}, {"normal": 3 * 10**9, "attack": 10**9}]
)
def test_large_supports_take_seconds(support: dict[str, int]) -> None:
    p, n = support["attack"], support["normal"]
    cells = Cells(tp := p * 9534 // 10000, fp := n * 211 // 10000, p - tp, n - fp)
    keys = ("accuracy", "precision", "recall", "f1", "mcc", "kappa", "f1.macro")
    honest = {key: printed(measured(key, cells), 4, "even") for key in keys}
    started = time.process_time()
    assert judged(honest, support=support).verdict is Verdict.CONSISTENT
    wrong = judged({**honest, "kappa": "0.9500"}, support=support)
    assert verdicts(wrong)["kappa"] == "inconsistent"
    assert sum(verdict == "inconsistent" for verdict in verdicts(wrong).values()) == 1
    assert time.process_time() - started < 20


def test_counts_beyond_the_search_are_left_to_identities() -> None:
    support = {"normal": 10**25, "attack": 10**25}
    claim = judged({"precision": "0.90", "recall": "0.80", "f1": "0.95"}, support=support)
    assert claim.verdict is Verdict.INCONSISTENT
    assert judged({"recall": "0.80"}, support=support).verdict is Verdict.UNDETERMINED


def test_one_class_only_leaves_recall_undefined() -> None:
    support = {"normal": 50, "attack": 0}
    assert judged({"recall": "0.50"}, support=support).verdict is Verdict.INCONSISTENT
    assert verdicts(judged({"specificity": "0.98"}, support=support)) == {
        "specificity": "consistent"
    }


def test_the_rule_of_the_test_is_the_rule_of_the_contract() -> None:
    from fractions import Fraction

    assert accepted("0.97", Fraction(9799, 10000))
    assert not accepted("0.97", Fraction(98, 100))
    assert accepted("0.96700000", Fraction(9670009, 10**7))
