"""A gate judges the new model by what these rows can tell, and says when they can't."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.decisions import gate, parse_rule
from assay.decisions.gate_rules import MOST_UNASKED
from assay.decisions.rule import Outcome
from assay.errors import InputError, LengthMismatch, MethodError, ScoreError
from assay.inference import ClopperPearson
from assay.learn.scenarios import make_flows

FLOWS = make_flows()
SWAP = {"new": FLOWS.old, "old": FLOWS.new}


def judged(*rules: str, **given: object) -> assay.Gate:
    """The flows of the demo, whose new model is much better."""
    columns = {"new": FLOWS.new, "old": FLOWS.old, "families": FLOWS.family, **given}
    return gate(FLOWS.label, rules=rules, **columns)


def small(
    positives: int = 40, negatives: int = 160, *, gap: float = 0.3, seed: int = 1
) -> dict[str, np.ndarray]:
    """Scores of two models, the new one better by the gap."""
    random = np.random.default_rng(seed)
    truth = np.repeat([1, 0], [positives, negatives])
    shared = random.normal(size=len(truth))
    new, old = (
        1.6 * truth + lift * truth + shared + 0.7 * random.normal(size=len(truth))
        for lift in (gap, 0.0)
    )
    return {"y_true": truth, "new": new, "old": old}


# -- one model: the evaluation's own numbers -------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "of"),
    [
        ("new(recall)", lambda e: e["recall"]),
        ("new(dr)", lambda e: e["recall"]),
        ("new(f1)", lambda e: e["f1"]),
        ("new(mcc)", lambda e: e["mcc"]),
        ("new(f1.macro)", lambda e: e["f1.macro"]),
        ("new(precision.normal)", lambda e: e["precision.normal"]),
        ("new(precision.attack)", lambda e: e["precision"]),
        ("new(precision@base-rate=0.001)", lambda e: e.at(0.001)["precision"]),
        ("new(roc_auc)", lambda e: e["roc_auc"]),
        ("new(average_precision)", lambda e: e["average_precision"]),
        ("new(log_loss)", lambda e: e["log_loss"]),
        ("new(recall@family=dos)", lambda e: e.of_slice("family", "dos")["recall"]),
        (
            "new(missed_per_day@volume=1e6,base-rate=0.01)",
            lambda e: e.at(0.01)["missed_per_day"],
        ),
        ("new(alerts_per_day@volume=1e6)", lambda e: dict(entries(e))["alerts_per_day"]),
    ],
)
def test_one_model_at_a_threshold_has_the_estimate_of_an_evaluation(
    rule: str, of: Callable[[assay.Evaluation], assay.Estimate]
) -> None:
    estimate, expected = judged(f"{rule} >= 0").rules[0].estimate, of(evaluated())
    assert (float(estimate), estimate.low, estimate.high, estimate.method) == (
        float(expected),
        expected.low,
        expected.high,
        expected.method,
    )


@cache
def evaluated() -> assay.Evaluation:
    return assay.evaluate(
        FLOWS.label, y_score=FLOWS.new, slices={"family": FLOWS.family}, volume=1e6
    )


def entries(evaluation: assay.Evaluation) -> list[tuple[str, assay.Estimate]]:
    return [(e.measure, e.estimate) for e in evaluation.entries if e.base_rate is None]


def test_the_threshold_is_that_of_the_rule_then_that_of_the_gate_then_a_half() -> None:
    rules = ("new(recall@threshold=0.9) > 0", "new(recall) > 0", "new-old(recall) > 0")
    judged_rules = judged(*rules, threshold=0.7, old_threshold=0.8).rules
    assert judged_rules[0].thresholds == {"new": 0.9}
    assert judged_rules[1].thresholds == {"new": 0.7}
    assert judged_rules[2].thresholds == {"new": 0.7, "old": 0.8}
    assert judged(rules[1]).rules[0].thresholds == {"new": 0.5}


def test_scores_beyond_a_half_need_a_threshold_only_where_a_rule_needs_one() -> None:
    columns = small()
    rules = ["new-old(roc_auc) > -1", "new(recall@max-fpr=0.1) >= 0", "old(f1@threshold=1) >= 0"]
    assert gate(**columns, rules=rules).outcome == "pass"
    with pytest.raises(ScoreError, match=r"new model run from .* say threshold=") as refused:
        gate(**columns, rules="new-old(f1) > 0")
    assert "'new-old(f1) > 0'" in str(refused.value)
    with pytest.raises(ScoreError, match="say old_threshold="):
        gate(**columns, rules="old(f1) > 0")


def test_a_family_has_exact_bounds() -> None:
    estimate = judged("new(recall@family=exfiltration) >= 0.2").rules[0].estimate
    hits = ((FLOWS.family == "exfiltration") & (FLOWS.new >= 0.5)).sum()
    low, high = ClopperPearson()(hits, 30)
    assert (estimate.low, estimate.high) == (low, high)
    missed = judged("new(miss_rate@family=exfiltration) <= 0.8").rules[0].estimate
    assert float(missed) == pytest.approx(1 - hits / 30)
    assert (missed.low, missed.high) == (pytest.approx(1 - high), pytest.approx(1 - low))


# -- thresholds that are chosen --------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "rule", ["recall@max-fpr=0.05", "recall@max-far=0.2", "f1@max-fpr=0.05", "accuracy@max-far=0.3"]
)
def test_chosen_thresholds_agree_with_resampling_by_hand(rule: str) -> None:
    columns = small(60, 240)
    measure, _, condition = rule.partition("@")
    key, _, limit = condition.partition("=")
    random = np.random.default_rng(8)
    draws = []
    for _ in range(800):
        rows = random.integers(300, size=300)
        values = [
            by_hand(measure, key, float(limit), columns["y_true"][rows], columns[model][rows])
            for model in ("old", "new")
        ]
        draws.append(values[1] - values[0])
    judged_rule = gate(**columns, rules=f"new-old({rule}) > 0", resamples=800).rules[0]
    whole = [
        by_hand(measure, key, float(limit), columns["y_true"], columns[m]) for m in ("old", "new")
    ]
    assert float(judged_rule.estimate) == pytest.approx(whole[1] - whole[0], abs=1e-12)
    assert judged_rule.values == {"new": pytest.approx(whole[1]), "old": pytest.approx(whole[0])}
    low, high = np.nanquantile(draws, [0.025, 0.975])
    # Never narrower than what the rows alone allow, and by chance a little different.
    assert judged_rule.estimate.low == pytest.approx(low, abs=0.04)
    assert judged_rule.estimate.high == pytest.approx(high, abs=0.04)


def by_hand(measure: str, key: str, limit: float, truth: np.ndarray, score: np.ndarray) -> float:
    """A measure at the lowest threshold that keeps the limit, tried one by one."""
    flagged = (score >= np.unique(score)[:, None]).astype(float)
    hits, false = flagged @ (truth == 1), flagged @ (truth == 0)
    rates = false / (truth == 0).sum() if key == "max-fpr" else false / (hits + false)
    kept = np.flatnonzero(rates <= limit)
    tp, fp = (int(hits[kept[0]]), int(false[kept[0]])) if len(kept) else (0, 0)
    fn, tn = int((truth == 1).sum()) - tp, int((truth == 0).sum()) - fp
    if measure == "recall":
        return tp / (tp + fn)
    if measure == "f1":
        return 2 * tp / (2 * tp + fp + fn)
    return (tp + tn) / len(truth)


def test_a_chosen_threshold_widens_the_interval_of_one_model() -> None:
    columns = small(100, 100)
    anew = gate(**columns, rules="new(recall@max-fpr=0.05) > 0").rules[0]
    threshold = anew.thresholds["new"]
    fixed = gate(**columns, rules=f"new(recall@threshold={threshold!r}) > 0").rules[0]
    assert float(anew.estimate) == float(fixed.estimate)
    assert anew.estimate.low < fixed.estimate.low
    assert anew.estimate.high >= fixed.estimate.high
    assert anew.estimate.high - anew.estimate.low > 1.2 * (fixed.estimate.high - fixed.estimate.low)


def test_a_perfect_detector_is_not_sure_to_be_perfect_at_a_chosen_threshold() -> None:
    truth = [1] * 20 + [0] * 80
    scores = np.array([0.9] * 20 + [0.1] * 80)
    rule = gate(truth, new=scores, rules="new(recall@max-fpr=0.01) >= 0.95").rules[0]
    assert (float(rule.estimate), rule.outcome) == (1.0, "undecided")
    assert 0.8 < rule.estimate.low < 0.9


def test_a_limit_that_no_threshold_keeps_flags_nothing_and_says_so() -> None:
    truth, scores = [0, 1] * 30, np.tile([0.9, 0.1], 30)
    recall, mcc = gate(
        truth, new=scores, rules=["new(recall@max-far=0.1) >= 0.2", "new(mcc@max-far=0.1) > 0"]
    ).rules
    assert (float(recall.estimate), recall.thresholds) == (0.0, {"new": None})
    assert recall.outcome == "fail"
    assert "no threshold of the new model keeps max-far=0.1" in recall.estimate.note
    assert mcc.outcome == "undecided"
    assert mcc.reason.startswith(
        "undefined: no threshold keeps max-far=0.1, so nothing was flagged"
    )


def test_thresholds_that_a_grid_did_not_try_are_not_said_to_fail() -> None:
    truth = np.repeat([0, 1], 300)
    scores = 0.25 + 1e-6 * np.random.default_rng(1).random(600) + 5e-7 * truth
    rules = ["new(recall@max-fpr=0.01) >= 0.2", "new(mcc@max-far=0.1) > 0"]
    recall, mcc = gate(truth, new=scores, rules=rules, mode="grid").rules
    assert recall.outcome is Outcome.UNDECIDED
    assert gate(truth, new=scores, rules=rules[:1], mode="exact").rules[0].outcome is Outcome.PASS
    untried = "Thresholds inside a cell of the grid were not tried"
    for reason in (recall.reason, recall.estimate.note):
        assert "no threshold of the new model that was tried keeps max-fpr=0.01" in reason
        assert untried in reason
    assert "no threshold that was tried keeps max-far=0.1" in mcc.reason
    assert untried in mcc.reason


# -- differences -----------------------------------------------------------------------------------

EVERY_KIND = (
    "recall",
    "fpr",
    "accuracy",
    "f1",
    "precision@base-rate=0.001",
    "recall.normal",
    "roc_auc",
    "average_precision",
    "partial_auc",
    "log_loss",
    "brier",
    "recall@max-far=0.1",
    "f1@max-fpr=0.01",
    "recall@family=beacon",
    "recall@max-fpr=0.01,family=beacon",
    "alerts_per_day@volume=1000,base-rate=0.01",
)


def test_identical_models_differ_by_exactly_nothing() -> None:
    rules = [f"new-old({measure}) {op} 0" for measure in EVERY_KIND for op in (">=", "<=")]
    judgement = judged(*rules, new=FLOWS.old, resamples=100)
    assert judgement.outcome == "pass"
    for each in judgement.rules:
        assert (float(each.estimate), each.estimate.low, each.estimate.high) == (0, 0, 0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("measure", EVERY_KIND)
def test_swapping_the_models_turns_the_difference_around(measure: str) -> None:
    one = judged(f"new-old({measure}) >= 0", resamples=200).rules[0].estimate
    other = judged(f"new-old({measure}) >= 0", resamples=200, **SWAP).rules[0].estimate
    assert float(other) == pytest.approx(-float(one), abs=1e-12)
    width = one.high - one.low
    # The ends of a bootstrap are drawn, so they agree but for chance.
    assert other.low == pytest.approx(-one.high, abs=0.25 * width)
    assert other.high == pytest.approx(-one.low, abs=0.25 * width)


def test_the_difference_of_auc_is_delongs() -> None:
    rule = judged("new-old(roc_auc) >= 0").rules[0]
    expected = assay.delong_test(FLOWS.label, FLOWS.old, FLOWS.new).effect
    assert (float(rule.estimate), rule.estimate.low) == (float(expected), expected.low)
    assert rule.estimate.method == "delong"


def test_a_difference_at_a_threshold_agrees_with_resampling_by_hand() -> None:
    columns = small(50, 150)
    rule = gate(**columns, rules="new-old(precision) > 0", threshold=1.0, resamples=4000).rules[0]
    flagged = {model: columns[model] >= 1.0 for model in ("new", "old")}
    random, draws = np.random.default_rng(3), []
    for _ in range(4000):
        rows = random.integers(200, size=200)
        new, old = (columns["y_true"][rows][flagged[m][rows]].mean() for m in ("new", "old"))
        draws.append(new - old)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert rule.estimate.low == pytest.approx(low, abs=0.02)
    assert rule.estimate.high == pytest.approx(high, abs=0.02)


def test_models_that_agree_on_a_few_rows_are_not_sure_to_agree_on_others() -> None:
    truth = np.array([1] * 20 + [0] * 20)
    old = np.where(truth == 1, 0.9, 0.1)
    new = np.where(truth == 1, 0.8, 0.2)
    new[0], new[20] = 0.85, 0.15
    rules = [
        f"new-old({measure}) >= -0.01"
        for measure in ("recall", "f1", "precision", "recall@max-fpr=0.1", "mcc")
    ]
    judgement = gate(truth, new=new, old=old, rules=rules)
    for each in judgement.rules:
        assert float(each.estimate) == 0
        assert each.outcome == "undecided", each.rule.text
    many = gate(
        np.repeat(truth, 1000), new=np.repeat(new, 1000), old=np.repeat(old, 1000), rules=rules[:3]
    )
    assert many.outcome == "pass"


def test_two_perfect_rankings_of_a_few_rows_are_not_sure_to_be_equal() -> None:
    truth = np.array([1] * 15 + [0] * 30)
    random = np.random.default_rng(2)
    new, old = (truth + 0.4 * random.random(45) for _ in range(2))
    rule = gate(truth, new=new, old=old, rules="new-old(roc_auc) >= -0.01").rules[0]
    assert float(rule.estimate) == 0
    assert rule.outcome == "undecided"
    assert -0.25 < rule.estimate.low < -0.1
    mapped = gate(truth, new=np.exp(old), old=old, rules="new-old(roc_auc) >= 0").rules[0]
    assert mapped.outcome == "pass"


def test_an_end_that_is_the_bound_but_for_rounding_is_the_bound() -> None:
    truth = np.array([1] * 100 + [0] * 100)
    old = np.where(np.arange(200) < 95, 0.9, 0.1)
    # 0.94 - 0.95 is a little less than -0.01 in floats.
    new = np.where(np.arange(200) < 94, 0.9, 0.1)
    rule = gate(truth, new=new, old=old, rules="new-old(recall) >= -0.01").rules[0]
    assert float(rule.estimate) == -0.01
    assert rule.to_dict()["value"] == -0.01


def test_a_rule_for_each_family_becomes_one_a_family() -> None:
    judgement = judged(
        "new-old(recall@max-fpr=0.01,family=*) >= -0.05", "new(f1) >= 0.9", resamples=100
    )
    families = sorted({*FLOWS.family.tolist()} - {"normal"})
    assert [each.rule.family for each in judgement.rules] == [*families, None]
    assert judgement.rules[1].rule.text == (
        'new-old(recall@max-fpr=0.01, family="brute force") >= -0.05'
    )
    assert judgement.rules[0].estimate.n == 100


def test_families_come_from_the_labels_where_one_is_negative() -> None:
    judgement = gate(
        FLOWS.family, new=FLOWS.new, negative="normal", rules="new(recall@family=dos) >= 0.95"
    )
    assert judgement.outcome == "pass"
    assert judgement.positive == "not normal"


# -- what can't be decided -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "truth", "said"),
    [
        ("new(precision@threshold=9) >= 0.5", [1, 0] * 9, "undefined: nothing was flagged"),
        ("new(ece) <= 0.5", [1, 0] * 9, "no interval"),
        ("new-old(ece) <= 0.5", [1, 0] * 9, "no interval"),
        ("new(roc_auc) >= 0.5", [1] * 18, "undefined: there are no negatives"),
        ("new-old(roc_auc) >= 0", [1] * 18, "undefined: of the new model: there are no negatives"),
        ("new-old(average_precision) >= 0", [1] * 18, "undefined: there is only one class"),
        ("new(recall) >= 0.5", [0] * 18, "undefined: there are no positives"),
        ("new-old(recall) >= 0", [0] * 18, "undefined: of the new model: there are no positives"),
        ("new(recall@max-fpr=0.1) >= 0", [1] * 18, "undefined: there are no negatives"),
        ("new(precision@max-fpr=0.1) >= 0", [0] * 18, "undefined: there are no positives"),
        ("new(roc_auc_ovo) >= 0", [1, 0] * 9, "undefined: it is for more than two classes"),
    ],
)
def test_what_has_no_value_or_no_interval_is_undecided_with_the_reason(
    rule: str, truth: list[int], said: str
) -> None:
    random = np.random.default_rng(0)
    new, old = random.random(18), random.random(18)
    judgement = gate(truth, new=new, old=old, rules=rule, positive=1, labels=[0, 1])
    assert judgement.outcome == "undecided"
    assert said in judgement.rules[0].reason


def test_an_interval_is_unknown_where_too_many_resamples_are_undefined() -> None:
    truth = np.array([1] * 2 + [0] * 200)
    random = np.random.default_rng(5)
    new, old = truth + random.random(202), truth + random.random(202)
    rule = gate(truth, new=new, old=old, rules="new-old(recall@max-fpr=0.1) >= -1").rules[0]
    assert rule.outcome == "undecided"
    assert "resamples: the interval is not known" in rule.reason


def test_how_many_more_rows_would_tell_is_said() -> None:
    rule = judged("new(alerts_per_day@volume=1e6,base-rate=0.1%) <= 5000").rules[0]
    assert rule.outcome == "undecided"
    assert "about 1.6 times as many rows would tell" in rule.reason


def test_one_failing_rule_fails_the_gate_and_one_undecided_leaves_it_open() -> None:
    passing, open_, failing = (
        "new(recall) >= 0.9",
        "new(recall) >= 0.95",
        "new(recall) >= 0.99",
    )
    assert judged(passing).outcome == "pass"
    assert judged(passing, open_).outcome == "undecided"
    assert judged(failing, open_, passing).outcome == "fail"
    assert judged(passing).passed
    assert not judged(passing, open_).passed


# -- clusters, counts, decisions -------------------------------------------------------------------


def test_clusters_widen_every_interval() -> None:
    rules = ["new-old(recall) >= 0", "new-old(roc_auc) >= 0", "new(recall@family=beacon) >= 0"]
    alone = judged(*rules)
    together = judged(*rules, clusters=FLOWS.host)
    for one, other in zip(alone.rules, together.rules, strict=True):
        assert float(one.estimate) == pytest.approx(float(other.estimate))
        assert other.estimate.high - other.estimate.low > one.estimate.high - one.estimate.low
        assert "cluster" in other.estimate.method


def test_one_cluster_is_refused() -> None:
    with pytest.raises(MethodError, match="one cluster"):
        judged("new(f1) >= 0", clusters=["a"] * len(FLOWS))
    apart = [label if label == "attack" else i % 5 for i, label in enumerate(FLOWS.label)]
    with pytest.raises(MethodError, match="all rows of a class are of one cluster"):
        judged("new(f1) >= 0", clusters=[str(cluster) for cluster in apart])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("measure", EVERY_KIND)
def test_counts_are_as_repeated_rows(measure: str) -> None:
    # Probabilities, so that every measure is defined.
    rows = np.arange(0, 20_000, 40)
    often = np.random.default_rng(4).integers(0, 4, len(rows))
    columns = {
        "new": FLOWS.new[rows],
        "old": FLOWS.old[rows],
        "families": FLOWS.family[rows],
    }
    rule = f"new-old({measure}) >= 0"
    counted = gate(FLOWS.label[rows], counts=often, rules=rule, **columns).rules[0].estimate
    repeated = (
        gate(
            np.repeat(FLOWS.label[rows], often),
            rules=rule,
            **{name: np.repeat(column, often) for name, column in columns.items()},
        )
        .rules[0]
        .estimate
    )
    assert float(counted) == pytest.approx(float(repeated), abs=1e-12)
    assert counted.n == repeated.n
    width = repeated.high - repeated.low
    assert counted.low == pytest.approx(repeated.low, abs=0.2 * width)
    assert counted.high == pytest.approx(repeated.high, abs=0.2 * width)


def test_decisions_are_judged_where_there_are_no_scores() -> None:
    new, old = (np.where(score >= 0.5, "attack", "normal") for score in (FLOWS.new, FLOWS.old))
    rules = ["new-old(f1) >= 0", "new(recall@family=dos) >= 0.9", "new(roc_auc) >= 0.5"]
    judged_rules = gate(
        FLOWS.label, new_decision=new, old_decision=old, families=FLOWS.family, rules=rules
    ).rules
    scored = judged(*rules[:2]).rules
    assert [str(each.estimate) for each in judged_rules[:2]] == [
        str(each.estimate) for each in scored
    ]
    assert judged_rules[2].reason == "undefined: it needs scores; there are only decisions"
    with pytest.raises(InputError, match="sets a threshold, and needs scores"):
        gate(FLOWS.label, new_decision=new, rules="new(f1@threshold=0.5) >= 0")


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"rules": []}, "needs a rule"),
        ({"rules": "new-old(f1) > 0"}, "needs the old model: give old="),
        ({"rules": "new(f1) > 0", "new": None}, "give new="),
        ({"rules": "new(recall@family=dos) > 0"}, "about families: give families="),
        ({"rules": "new(precision.nromal) > 0"}, "there is no label 'nromal'"),
        ({"rules": "new(precision.normal@base-rate=0.1) > 0"}, "a base rate is the share of the"),
        ({"rules": "new(recall.normal@max-fpr=0.1) > 0"}, "could not fail"),
        ({"rules": "new(f1) > 0", "level": 1.5}, "level"),
        ({"rules": "new(f1) > 0", "resamples": 39}, "needs 40 resamples or more; found 39"),
        ({"rules": "new(f1) > 0", "new_decision": ["normal"]}, "not both"),
        ({"rules": "new(f1) > 0", "old_decision": FLOWS.label}, "not one of each"),
        (
            {"rules": "new(recall@family=dso) > 0", "families": FLOWS.family},
            "no row is of the family 'dso'; there are 5, such as 'dos'",
        ),
    ],
)
def test_what_can_not_be_judged_is_refused(given_: dict[str, object], said: str) -> None:
    columns = {"new": FLOWS.new, **given_}
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        gate(FLOWS.label, **columns)


def test_a_family_without_attacks_is_undecided() -> None:
    judgement = judged("new(recall@family=normal) > 0.5", "new-old(recall@family=normal) > 0")
    assert [each.outcome for each in judgement.rules] == ["undecided", "undecided"]
    assert judgement.rules[0].reason == "undefined: no row of this family is positive"


def test_a_short_column_is_told_with_its_model() -> None:
    with pytest.raises(LengthMismatch, match="the old model"):
        gate(FLOWS.label, new=FLOWS.new, old=FLOWS.old[:-1], rules="new-old(f1) > 0")


def test_more_than_two_classes_need_a_positive() -> None:
    with pytest.raises(InputError, match="positive= or negative="):
        gate(FLOWS.family, new_decision=FLOWS.family, rules="new(accuracy) > 0")


# -- many rules ------------------------------------------------------------------------------------


def test_joint_rules_share_the_error() -> None:
    rules = [f"new-old(recall@threshold={t}) >= 0" for t in (0.3, 0.5, 0.7, 0.9)]
    alone, joint = judged(*rules), judged(*rules, joint=True)
    assert alone.rule_level == 0.95
    assert joint.rule_level == pytest.approx(1 - 0.05 / 4)
    for one, other in zip(alone.rules, joint.rules, strict=True):
        assert other.estimate.low < one.estimate.low
    assert judged(rules[0], joint=True).rule_level == 0.95


def test_a_high_level_draws_more_resamples() -> None:
    rule = "new(f1) >= 0"
    assert judged(rule).resamples == 1000
    assert judged(rule, level=0.999).resamples == 10_000
    assert judged(rule, level=0.999, resamples=2000).resamples == 2000


def test_the_same_seed_gives_the_same_gate_and_the_order_of_rows_does_not_matter() -> None:
    rules = ["new-old(f1) >= 0", "new(f1) >= 0.9", "new-old(roc_auc) >= 0"]
    assert judged(*rules).to_dict() == judged(*rules).to_dict()
    shuffled = FLOWS.where(np.random.default_rng(0).permutation(len(FLOWS)))
    again = gate(shuffled.label, new=shuffled.new, old=shuffled.old, rules=rules)
    for one, other in zip(judged(*rules).rules, again.rules, strict=True):
        assert str(one.estimate) == str(other.estimate)


@settings(max_examples=30, deadline=None)
@given(
    truth=st.lists(st.booleans(), min_size=1, max_size=25),
    seed=st.integers(0, 100),
    measure=st.sampled_from([m for m in EVERY_KIND if "family" not in m and "normal" not in m]),
    ties=st.booleans(),
    subject=st.sampled_from(["new", "old", "new-old"]),
)
def test_any_rows_give_an_outcome_and_an_interval_that_holds_the_value(
    truth: list[bool], seed: int, measure: str, ties: bool, subject: str
) -> None:
    random = np.random.default_rng(seed)
    new, old = random.random((2, len(truth)))
    if ties:
        new, old = new.round(1), old.round(1)
    rule = gate(
        truth,
        new=new,
        old=old,
        rules=f"{subject}({measure}) >= 0.1",
        positive=True,
        labels=[False, True],
        resamples=50,
        level=0.9,
    ).rules[0]
    estimate = rule.estimate
    if math.isnan(estimate.low):
        assert rule.outcome == "undecided"
        assert rule.reason
    else:
        assert estimate.low <= float(estimate) <= estimate.high


# -- worse models are rarely let through -----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("positives", "negatives"), [(15, 60), (60, 240)])
def test_a_model_that_is_really_worse_is_rarely_passed(positives: int, negatives: int) -> None:
    rules = [
        "new-old(detection_rate) >= 0",
        "new-old(detection_rate@max-fpr=0.1) >= 0",
        "new-old(f1) >= 0",
        "new-old(roc_auc) >= 0",
    ]
    passed = np.zeros(len(rules))
    for seed in range(40):
        columns = small(positives, negatives, gap=-0.25, seed=seed)
        judgement = gate(**columns, rules=rules, threshold=1.0, resamples=100)
        passed += [each.outcome == "pass" for each in judgement.rules]
    # At the bound itself it would be one in forty, and these are worse than that.
    assert passed.max() <= 2


def test_a_model_that_is_really_better_is_passed_where_there_are_rows_enough() -> None:
    columns = small(600, 2400, gap=0.5)
    rules = ["new-old(detection_rate@max-fpr=0.1) >= 0", "new-old(f1) >= 0", "new-old(ap) >= 0"]
    assert gate(**columns, rules=rules, threshold=1.0).outcome == "pass"


# -- the result ------------------------------------------------------------------------------------


def test_a_gate_prints_its_rules() -> None:
    text = repr(judged("new(recall) >= 0.9", "new(recall) >= 0.99"))
    assert text.splitlines()[0] == "Gate: fail"
    assert "pass  new(recall) >= 0.9: 0.950 [0.935, 0.961]" in text


def test_a_rule_object_does_as_well_as_its_text() -> None:
    rule = parse_rule("new(recall) >= 0.9", name="detects", why="it must")
    document = gate(FLOWS.label, new=FLOWS.new, rules=rule).rules[0].to_dict()
    assert (document["name"], document["why"], document["rule"]) == (
        "detects",
        "it must",
        rule.text,
    )
    bare = gate(FLOWS.label, new=FLOWS.new, rules=replace(rule, text="")).rules[0]
    assert bare.rule.text == "new(recall) >= 0.9"


def test_a_figure_shows_how_far_each_rule_is_from_its_bound(tmp_path: object) -> None:
    judgement = judged(
        "new(recall) >= 0.9", "new(fpr) <= 0.001", "new(alerts_per_day@volume=9) < 1"
    )
    ax = judgement.plot.rules()
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "new(recall) >= 0.9",
        "new(fpr) <= 0.001",
    ]
    dots = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    assert dots[0] == pytest.approx(float(judgement.rules[0].estimate) - 0.9)
    assert dots[1] == pytest.approx(0.001 - float(judgement.rules[1].estimate))
    assert [path.name for path in judgement.plot.save(tmp_path)] == ["rules.pdf", "rules.svg"]
    assert judged("new(alerts_per_day@volume=9) < 1").plot.save(tmp_path) == ()


# -- levels close to 1 -----------------------------------------------------------------------------


def test_a_level_that_needs_too_many_resamples_says_how_many() -> None:
    data = small()
    truth, new, old = data["y_true"], data["new"], data["old"]
    drawn = "new(recall@max-fpr=0.1) > 0.1"
    with pytest.raises(MethodError, match=r"needs 200,000 resamples.*say resamples=200000"):
        gate(truth, new=new, rules=drawn, level=0.99999)
    with pytest.raises(MethodError, match="needs 2,000,000 resamples"):
        gate(truth, new=new, old=old, rules="new-old(recall) > 0.1", threshold=1, level=0.999999)
    # What draws nothing needs none.
    exact = gate(truth, new=new, rules="new(recall) > 0.1", threshold=1, level=0.9999999)
    assert exact.rules[0].estimate.method == "wilson"


def test_a_level_that_is_high_draws_no_more_than_is_bearable() -> None:
    data = small()
    judged = gate(data["y_true"], new=data["new"], rules="new(roc_auc) > 0.1", level=0.9999)
    assert judged.resamples == MOST_UNASKED
