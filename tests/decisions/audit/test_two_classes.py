"""Claims of two classes without their matrix, against all matrices of small supports."""

from __future__ import annotations

import itertools
import random
import time

import pytest

from assay.decisions.audit import audit
from assay.decisions.audit.claim import Claim, key_of
from assay.decisions.audit.search.classes import TwoClasses
from assay.decisions.audit.search.matrices import KnownCells
from assay.decisions.audit.search.numbers import ByRounded, numbers_of
from assay.decisions.audit.verdicts import WRONG, AuditedClaim, NumberVerdict
from assay.decisions.audit.verdicts import printed as read

from .brute_force import KEYS, Cells, matrices, measured, possible, printed

LABELS = ("normal", "attack")
CLAIM = Claim("x", positive="attack", negative="normal", labels=LABELS)
# Two things may be meant by these, which has its own test.
PLAIN = tuple(key for key in KEYS if key not in ("accuracy.normal", "error_rate.normal"))


def judged(reported: dict[str, str], **told: object) -> AuditedClaim:
    named = {"positive": "attack", "negative": "normal"}
    return audit({**named, **told, "reported": reported}).claims[0]


def verdicts(claim: AuditedClaim) -> dict[str, str]:
    return {number.key: str(number.verdict) for number in claim.numbers}


# -- against all matrices --------------------------------------------------------------------------


def labelled(key: str) -> str:
    """A key that names its class, so that it is never read as an average."""
    known = key_of(key)
    return key if not known.bare or known.measure.symmetric else f"{key}.attack"


def derived(reported: dict[str, str]) -> bool:
    """Whether some of the numbers may have been worked out from rounded ones."""
    given = [(key_of(key), read(text)) for key, text in reported.items()]
    numbers = numbers_of(CLAIM, given, "attack", LABELS)
    return any(worked.gives for number in numbers for worked in number.worked)


def smallest_corrections(reported: dict[str, str], truths: list[Cells]) -> list[frozenset[str]]:
    for size in range(len(reported) + 1):
        corrections = [
            frozenset(removed)
            for removed in itertools.combinations(reported, size)
            if possible([(k, t) for k, t in reported.items() if k not in removed], truths)
        ]
        if corrections:
            return corrections
    raise AssertionError("no numbers at all can always be true")


@pytest.mark.slow
def test_blame_is_what_all_smallest_corrections_by_all_matrices_share() -> None:
    rng = random.Random(5)
    seen = {"inconsistent": 0, "conflict": 0}
    for _ in range(90):
        p, n = rng.randint(2, 9), rng.randint(2, 9)
        truths = list(matrices(p, n))
        one, other = rng.choice(truths), rng.choice(truths)
        reported = {}
        for key in rng.sample(PLAIN, rng.randint(2, 5)):
            value = measured(key, one if rng.random() < 0.7 else other)
            if value is not None:
                reported[key] = printed(value, rng.choice([1, 2, 3, 4, 6]), "even")
        named = {labelled(key): text for key, text in reported.items()}
        if not reported or derived(named):
            continue
        claim = judged(named, support={"normal": n, "attack": p})
        corrections = smallest_corrections(reported, truths)
        wrong = frozenset.intersection(*corrections)
        disputed = frozenset().union(*corrections) - wrong
        judgements = verdicts(claim)
        context = (p, n, reported, judgements)
        assert {k for k in reported if judgements[labelled(k)] == "inconsistent"} == wrong, context
        assert disputed <= {k for k in reported if judgements[labelled(k)] == "conflict"}, context
        for conflict in claim.conflicts:
            members = [(k, t) for k, t in reported.items() if labelled(k) in conflict.keys]
            assert not possible(members, truths), context
            for left_out in members:
                assert possible([pair for pair in members if pair != left_out], truths), context
        kept = [(k, t) for k, t in reported.items() if judgements[labelled(k)] not in WRONG]
        assert possible(kept, truths), context
        seen["inconsistent"] += bool(wrong)
        seen["conflict"] += bool(disputed)
    assert min(seen.values()) > 6


@pytest.mark.slow
def test_honest_claims_without_a_matrix_are_never_accused() -> None:
    rng = random.Random(11)
    for _ in range(16):
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
        assert judged(reported, **told).verdict is not NumberVerdict.INCONSISTENT, (told, reported)


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
    wrong = [number for number in claim.numbers if number.verdict is NumberVerdict.INCONSISTENT]
    assert [number.key for number in wrong] == ["accuracy"]
    assert "no matrix of 6,959 positives and 7,910 negatives" in wrong[0].said
    assert wrong[0].recomputed == pytest.approx(14378 / 14869)


def test_false_alarm_rate_is_read_as_either_rate_and_says_which() -> None:
    counts = {"accuracy": "0.9670", "recall": "0.9534"}
    as_fpr = judged({**counts, "far": "0.0211"}, support=SAFELINK)
    as_fdr = judged({**counts, "far": "0.0246"}, support=SAFELINK)
    neither = judged({**counts, "far": "0.0466"}, support=SAFELINK)
    assert "read as the FPR" in as_fpr.numbers[2].said
    assert "read as the FDR" in as_fdr.numbers[2].said
    assert neither.verdict is NumberVerdict.INCONSISTENT


def test_f1_worked_out_from_rounded_numbers_is_rounding() -> None:
    # The printed ones give 0.4422; two of six attacks found with one false alarm give 0.4444.
    claim = judged({"precision": "0.67", "recall": "0.33", "f1": "0.4422"}, support={
        "normal": 5, "attack": 6})  # fmt: skip
    assert verdicts(claim)["f1"] == "rounding"
    assert claim.verdict is NumberVerdict.CONSISTENT


def test_a_number_from_rounded_ones_is_read_as_an_average_by_convention_alone() -> None:
    reported = {"precision": "0.83", "recall": "0.77", "f1": "0.80"}
    given = [(key_of(key), read(text)) for key, text in reported.items()]
    f1 = numbers_of(CLAIM, given, "attack", LABELS)[2]
    averages = ["weighted average", "macro average"]
    for conventions, also in ((False, []), (True, averages)):
        ways = f1.conditions(frozenset({2}), conventions=conventions)
        meant = [way.meaning.words for way in ways if isinstance(way, ByRounded)]
        assert meant == ["", *also]
    assert f1.conditions(frozenset({0, 1, 2}), conventions=True) == ()


def test_a_truncated_number_is_rounding() -> None:
    claim = judged({"recall": "0.66"}, support={"normal": 3, "attack": 3})
    assert verdicts(claim) == {"recall": "rounding"}


def test_what_libraries_print_of_an_undefined_value_is_no_mistake() -> None:
    told = {"normal": 4, "attack": 4}
    zero = judged({"precision": "0.00", "fpr": "0.000"}, support=told)
    assert zero.verdict is NumberVerdict.CONSISTENT
    assert "undefined" in zero.numbers[0].said
    other = judged({"precision": "0.30", "recall": "0.00", "fpr": "0.000"}, support=told)
    assert other.verdict is NumberVerdict.INCONSISTENT


@pytest.mark.parametrize("told", [{"support": {"normal": 1000, "attack": 1000}}, {}], ids=str)
def test_an_auc_outside_of_what_the_operating_point_allows_is_accused(
    told: dict[str, object],
) -> None:
    # TPR (1 - FPR) = 0.56, 1 - FPR (1 - TPR) = 0.94
    rates = {"recall.attack": "0.800", "fpr.attack": "0.300", "precision.attack": "0.727"}
    wrong = "inconsistent"
    for text, expected in (("0.75", "undetermined"), ("0.97", wrong), ("0.50", wrong)):
        judgements = verdicts(judged({**rates, "auc": text}, **told))
        assert judgements.pop("auc") == expected
        assert not {"inconsistent", "conflict"} & set(judgements.values())


def test_an_auc_is_told_what_the_operating_point_allows() -> None:
    rates = {"recall.attack": "0.800", "fpr.attack": "0.300", "auc": "0.75"}
    claim = judged(rates, support={"normal": 1000, "attack": 1000})
    allowed = "the operating point allows 0.5600 to 0.9400, and no more can be told"
    assert claim.numbers[-1].said == allowed


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
    assert wrong.verdict is NumberVerdict.INCONSISTENT


def test_two_missing_cells_and_the_size() -> None:
    claim = judged({"accuracy": "0.9125", "recall": "0.85"}, confusion={"tp": 85, "fp": 20}, n=400)
    assert set(verdicts(claim).values()) - {"undetermined"} == {"consistent"}
    wrong = judged({"accuracy": "0.5", "recall": "0.99"}, confusion={"tp": 85, "fp": 20}, n=400)
    assert wrong.verdict is NumberVerdict.INCONSISTENT


def test_with_only_the_size_a_share_must_be_a_ratio_of_its_rows() -> None:
    assert judged({"accuracy": "0.955"}, n=100).verdict is NumberVerdict.INCONSISTENT
    assert verdicts(judged({"accuracy": "0.95"}, n=100))["accuracy"] == "consistent"
    # No fraction with a denominator of 20 or less is printed 0.9754.
    assert judged({"precision": "0.9754"}, n=20).verdict is NumberVerdict.INCONSISTENT


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "support", [{"normal": 10**6, "attack": 10**6}, {"normal": 3 * 10**9, "attack": 10**9}]
)
def test_large_supports_take_seconds(support: dict[str, int]) -> None:
    p, n = support["attack"], support["normal"]
    cells = Cells(tp := p * 9534 // 10000, fp := n * 211 // 10000, p - tp, n - fp)
    keys = ("accuracy", "precision", "recall", "f1", "mcc", "kappa", "f1.macro")
    honest = {key: printed(measured(key, cells), 4, "even") for key in keys}
    started = time.process_time()
    assert judged(honest, support=support).verdict is NumberVerdict.CONSISTENT
    wrong = judged({**honest, "kappa": "0.9500"}, support=support)
    assert verdicts(wrong)["kappa"] == "inconsistent"
    assert sum(verdict == "inconsistent" for verdict in verdicts(wrong).values()) == 1
    assert time.process_time() - started < 20


class Asked:
    """Bonds by which the first two numbers are possible together, and what they were asked."""

    def __init__(self) -> None:
        self.chosen: list[frozenset[int]] = []

    def possible(self, chosen: frozenset[int]) -> bool:
        self.chosen.append(chosen)
        return 2 not in chosen


def test_what_an_answer_decides_is_not_asked_again() -> None:
    given = [(key_of(key), read("0.9")) for key in ("recall", "precision", "f1")]
    asked = Asked()
    judge = TwoClasses(KnownCells(), numbers_of(CLAIM, given, "attack", LABELS), [asked])
    both, wrong = frozenset({0, 1}), frozenset({1, 2})
    for _ in range(2):
        assert judge.possible(both)
        assert judge.possible(frozenset({0}))
        assert not judge.possible(wrong)
        assert not judge.possible(frozenset({0, 1, 2}))
    assert asked.chosen == [both, wrong]


def test_counts_beyond_the_search_are_left_to_identities() -> None:
    support = {"normal": 10**25, "attack": 10**25}
    claim = judged({"precision": "0.90", "recall": "0.80", "f1": "0.95"}, support=support)
    assert claim.verdict is NumberVerdict.INCONSISTENT
    assert judged({"recall": "0.80"}, support=support).verdict is NumberVerdict.UNDETERMINED


def test_one_class_only_leaves_recall_undefined() -> None:
    support = {"normal": 50, "attack": 0}
    assert judged({"recall.attack": "0.50"}, support=support).verdict is NumberVerdict.INCONSISTENT
    assert verdicts(judged({"specificity": "0.98"}, support=support)) == {
        "specificity": "consistent"
    }
