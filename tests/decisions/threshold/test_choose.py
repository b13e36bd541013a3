"""Choosing a threshold, as a user of the library sees it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import assay
from assay import Choice, choose_threshold
from assay.decisions.threshold.constraints import requirements
from assay.decisions.threshold.estimates import BREAKS, OPTIMISTIC
from assay.errors import CountError, EmptyInput, InputError, LabelError, MethodError, ScoreError
from assay.measures import find

FEW = {"resamples": 40}


def rows(
    negatives: int = 2000, positives: int = 400, shift: float = 2.5, seed: int = 1
) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(size=negatives), rng.normal(shift, size=positives)])
    return ["normal"] * negatives + ["attack"] * positives, scores


def choose(seed: int = 1, **asked: Any) -> Choice:
    truth, scores = rows(seed=seed)
    return choose_threshold(truth, y_score=scores, **{**FEW, **asked})


def codes(choice: Choice) -> list[str]:
    return [finding.code for finding in choice.findings]


# -- the two answers -------------------------------------------------------------------------------


def test_two_answers_stand_side_by_side() -> None:
    choice = choose(max_fpr=0.05)
    assert choice.empirical is not None
    assert choice.guaranteed is not None
    assert 0.045 < choice.empirical["fpr"] <= 0.05
    assert choice.guaranteed["fpr"] < 0.05
    assert choice.guaranteed.threshold > choice.empirical.threshold
    assert (choice.empirical.confidence, choice.guaranteed.confidence) == (None, 0.9)
    assert choice.infeasible is None
    assert choice.chosen is choice.guaranteed
    assert choice.objective == "highest detection rate"


@pytest.mark.parametrize(
    "asked",
    [
        {"max_fpr": 0.05},
        {"max_far": 0.2},
        {"min_dr": 0.9},
        {"max_alerts": 10, "volume": 100},
    ],
)
def test_an_optimum_at_its_constraint_breaks_it_half_of_the_time(asked: dict[str, float]) -> None:
    empirical = choose(**asked).empirical
    assert empirical is not None
    assert empirical.worth == BREAKS
    assert empirical.rule.endswith(BREAKS)


@pytest.mark.parametrize(
    ("asked", "reads"),
    [
        # Every positive is found long before the limit.
        ({"max_fpr": 0.9}, "where a false positive rate of at most 0.9 was asked"),
        ({"max_fpr": 0.3, "cost_fp": 1, "cost_fn": 3}, OPTIMISTIC),
        ({"min_dr": 0.2}, "where a detection rate of at least 0.2 was asked"),
        ({"max_fpr": 0.9, "min_dr": 0.01}, "inside all 2 constraints"),
        ({"min_dr_families": {"dos": 0.01}}, "at least 0.01 for 'dos' was asked"),
        ({"max_alerts": 95, "volume": 100}, "alerts expected a day among 100 rows"),
    ],
)
def test_an_optimum_inside_its_constraints_says_how_far(asked: dict[str, Any], reads: str) -> None:
    families = ["dos", "scan"] * 1200
    empirical = choose(families=families, **asked).empirical
    assert empirical is not None
    assert BREAKS not in empirical.rule
    assert empirical.worth.startswith("It lies inside")
    assert "All of the interval keeps it, but nothing is promised." in empirical.worth
    assert reads in empirical.worth


def test_an_interval_that_reaches_beyond_the_limit_is_said() -> None:
    # 2 of 40 negatives lie above the lowest positive, where 4 are allowed.
    truth = [0] * 40 + [1] * 20
    scores = [*range(38), 100, 101, *range(60, 80)]
    empirical = choose_threshold(truth, y_score=scores, max_fpr=0.1, resamples=50).empirical
    assert empirical is not None
    assert empirical.worth.startswith("It lies inside its constraint: 0.05 [")
    assert empirical.worth.endswith("The interval reaches beyond it, so new data may break it.")


def test_of_several_constraints_the_one_that_binds_is_named() -> None:
    empirical = choose(max_fpr=0.05, min_dr=0.01).empirical
    assert empirical is not None
    assert empirical.worth == (
        "It sits at a false positive rate of at most 0.05: it will break it on new data about "
        "half of the time."
    )


@pytest.mark.slow
def test_the_sentence_is_true_of_new_data() -> None:
    """Of optima at their limit about half are beyond it in truth; of those well inside, none."""
    random = np.random.default_rng(5)
    truth = np.repeat([0, 1], [400, 100])
    beyond: dict[str, list[bool]] = {}
    for trial in range(120):
        shift, limit = ((1.0, 0.1), (6.0, 0.3))[trial % 2]
        scores = random.normal(shift * truth)
        empirical = choose_threshold(truth, y_score=scores, max_fpr=limit, resamples=20).empirical
        assert empirical is not None
        rate = math.erfc(empirical.threshold / math.sqrt(2)) / 2
        said = "at" if empirical.worth == BREAKS else empirical.worth.partition(". ")[2]
        beyond.setdefault(said, []).append(rate > limit)
    assert len(beyond["at"]) > 40
    assert 0.3 < np.mean(beyond.pop("at")) < 0.7
    assert len(beyond["All of the interval keeps it, but nothing is promised."]) > 50
    assert not any(beyond["All of the interval keeps it, but nothing is promised."])


def test_several_constraints_share_the_error() -> None:
    alone, both = choose(max_fpr=0.05), choose(max_fpr=0.05, min_dr=0.5)
    assert both.guaranteed is not None
    assert alone.guaranteed is not None
    assert both.guaranteed.threshold > alone.guaranteed.threshold
    assert "Bonferroni" in both.guaranteed.rule
    assert any("Bonferroni" in note for note in both.notes)
    assert "Bonferroni" not in alone.guaranteed.rule
    assert not any("Bonferroni" in note for note in alone.notes)


def test_without_constraints_the_usual_points_are_shown() -> None:
    choice = choose()
    assert [point.name for point in choice.candidates] == [
        "Youden",
        "best F1",
        "best MCC",
        "equal error",
    ]
    assert choice.candidates[1].rule == "The highest F1 on these rows; nothing is promised."
    assert choice.empirical is choice.guaranteed is choice.infeasible is None
    assert all(point.confidence is None for point in choice.candidates)
    by_name = {point.name: point for point in choice.candidates}
    for name, measure in (("Youden", "informedness"), ("best F1", "f1"), ("best MCC", "mcc")):
        best = max(float(point[measure]) for point in choice.candidates)
        assert float(by_name[name][measure]) == best
    equal = by_name["equal error"]
    assert abs(equal["fpr"] - (1 - equal["recall"])) < 0.005


def test_costs_alone_give_the_cheapest_point_and_the_usual_ones() -> None:
    choice = choose(cost_fp=1, cost_fn=20, base_rate=0.01)
    assert choice.empirical is not None
    assert choice.guaranteed is None
    assert choice.infeasible is None
    assert choice.candidates[-1].name == "lowest cost"
    assert choice.candidates[-1].threshold == choice.empirical.threshold
    cost = float(choice.empirical["expected_cost"])
    assert cost == min(float(point["expected_cost"]) for point in choice.candidates)
    point = choice.empirical
    assert math.isclose(cost, 0.99 * point["fpr"] + 0.01 * 20 * (1 - point["recall"]))


def test_families_are_asked_and_shown() -> None:
    truth, scores = rows()
    families = ["-"] * 2000 + ["dos"] * 200 + ["probe"] * 200
    choice = choose_threshold(
        truth, y_score=scores, families=families, min_dr_families={"probe": 0.8}, **FEW
    )
    assert choice.constraints == {"min_dr.probe": 0.8}
    assert choice.objective == "lowest false alarm rate"
    assert choice.guaranteed is not None
    assert choice.guaranteed.of_family("probe") > 0.8
    assert [e.family for e in choice.guaranteed.estimates if e.family] == ["dos", "probe"]
    each = choose_threshold(truth, y_score=scores, families=families, min_dr_families=0.8, **FEW)
    assert each.constraints == {"min_dr.dos": 0.8, "min_dr.probe": 0.8}


def test_other_labels_than_the_negative_are_families() -> None:
    truth = ["normal"] * 300 + ["dos"] * 60 + ["probe"] * 60
    scores = np.random.default_rng(2).normal(np.repeat([0, 3, 2], [300, 60, 60]))
    choice = choose_threshold(truth, y_score=scores, negative="normal", min_dr_families=0.5, **FEW)
    assert choice.constraints == {"min_dr.dos": 0.5, "min_dr.probe": 0.5}


# -- not possible ----------------------------------------------------------------------------------


def test_what_rows_cannot_show_is_told_with_what_they_can() -> None:
    choice = choose(max_fpr=1e-4)
    assert choice.guaranteed is None
    assert choice.empirical is not None
    assert choice.infeasible is not None
    # 1 - 0.1^(1/2000), and the rows of issue and plan alike.
    assert "0.00115063" in choice.infeasible
    assert "23,025 negatives" in choice.infeasible


def test_a_budget_that_rows_cannot_show_is_told_with_what_they_can() -> None:
    choice = choose(max_alerts=1, volume=10_000, base_rate=0.001)
    assert choice.infeasible is not None
    # A tenth of the risk is kept for the detection rate: 1 - 0.09^(1/2000).
    assert f"no less than {1 - 0.09 ** (1 / 2000):.6g}," in choice.infeasible
    most = 1 / 400 + math.sqrt(math.log(100) / 800)
    left = (1e-4 - 1e-3 * most) / 0.999
    needed = math.ceil(math.log(0.09) / math.log1p(-left))
    assert f"It takes {needed:,} negatives with none flagged" in choice.infeasible


def test_a_far_where_attacks_are_rare_takes_more_than_200_000_negatives() -> None:
    choice = choose(max_far=0.1, base_rate=1e-4)
    assert choice.guaranteed is None
    assert choice.infeasible is not None
    assert choice.infeasible.startswith("Not possible on this data")
    needed = choice.infeasible.partition("It takes ")[2].partition(" negatives")[0]
    assert 207_000 < int(needed.replace(",", "")) < 300_000


def test_too_few_positives_are_told() -> None:
    truth, scores = rows(positives=20)
    choice = choose_threshold(truth, y_score=scores, min_dr=0.95, **FEW)
    assert choice.guaranteed is None
    assert choice.infeasible is not None
    assert "45 positives" in choice.infeasible
    assert 0.95**45 <= 0.1 < 0.95**44
    assert "T003" in codes(choice)
    choice = choose_threshold(truth, y_score=scores, max_far=0.5, base_rate=0.3, **FEW)
    assert choice.guaranteed is None or choice.guaranteed["far"] <= 0.5
    tiny = choose_threshold(truth[1999:2001], y_score=scores[1999:2001], max_far=0.5, **FEW)
    assert tiny.infeasible is not None
    assert "they show nothing about the detection rate" in tiny.infeasible


def test_constraints_that_exclude_each_other_say_where() -> None:
    choice = choose(max_fpr=0.001, min_dr=0.99)
    assert choice.empirical is None
    assert choice.guaranteed is None
    assert choice.infeasible is not None
    assert "Few enough false alarms need a threshold of at least" in choice.infeasible


def test_constraints_that_meet_where_the_far_is_too_high_say_so() -> None:
    # From the third score on a third of the attacks are detected, up to it one false alarm is
    # raised, and there it is one alert of three: fewer of the alerts are false above and below.
    truth = [1, 0, 1, 0, 1, 1, 1, 1, 0, 0]
    scores = list(range(10, 0, -1))
    asked = {"max_far": 0.3, "max_fpr": 0.25, "min_dr": 0.33}
    choice = choose_threshold(truth, y_score=scores, **asked, **FEW)
    assert choice.empirical is None
    assert choice.infeasible is not None
    assert ". No threshold keeps them all." in choice.infeasible


def test_no_threshold_for_a_far_tells_the_lowest_one() -> None:
    truth, scores = rows(shift=0.0, seed=4)
    choice = choose_threshold(truth, y_score=scores, max_far=0.01, base_rate=0.001, **FEW)
    assert choice.empirical is None
    assert choice.infeasible is not None
    assert "the lowest FAR at a base rate of 0.001 is" in choice.infeasible


@pytest.mark.parametrize(
    "asked",
    [
        {"max_far": 0.01, "base_rate": 0.3},
        {"max_alerts": 1, "volume": 10_000, "base_rate": 0.001},
        {"max_alerts": 1, "volume": 10_000},
        {"max_alerts": 10, "volume": 10_000, "base_rate": 0.1},
        {"max_fpr": 0.3, "min_dr": 0.9999},
    ],
)
def test_every_answer_has_a_point_or_a_reason(asked: dict[str, float]) -> None:
    choice = choose(**asked)
    assert (choice.guaranteed is None) == (choice.infeasible is not None)


def test_clusters_get_no_promise_and_are_resampled_whole() -> None:
    truth, scores = rows()
    hosts = np.repeat(np.arange(120), 20)
    choice = choose_threshold(truth, y_score=scores, clusters=hosts, max_fpr=0.05, **FEW)
    assert choice.guaranteed is None
    assert choice.infeasible is not None
    assert "clusters" in choice.infeasible
    assert choice.empirical is not None
    assert choice.empirical["recall"].method == "cluster bootstrap"


# -- what a point means ----------------------------------------------------------------------------


def test_estimates_are_those_of_an_evaluation_at_the_threshold() -> None:
    truth, scores = rows()
    choice = choose_threshold(truth, y_score=scores, max_far=0.2, base_rate=0.05, **FEW)
    point = choice.empirical
    assert point is not None
    expected = assay.evaluate(
        truth, y_score=scores, threshold=point.threshold, base_rate=0.05, volume=1000
    )
    for shown in point.estimates:
        of = expected if shown.base_rate is None else expected.at(0.05)
        assert float(shown.estimate) == float(of[shown.measure])
        assert shown.estimate.low <= shown.estimate <= shown.estimate.high
        assert shown.label == (None if find(shown.measure).symmetric else "attack")
    assert point["far"] <= 0.2
    assert point["precision"] == point.estimates[-6].estimate


def test_a_day_is_counted_at_the_base_rate() -> None:
    choice = choose(max_alerts=50, volume=10_000, base_rate=0.001)
    point = choice.guaranteed
    assert point is not None
    alerts = float(point["alerts_per_day"])
    assert alerts <= 50
    assert math.isclose(alerts, 10_000 * (0.001 * point["recall"] + 0.999 * point["fpr"]))
    assert math.isclose(point["false_alarms_per_day"], 9990 * point["fpr"])
    assert math.isclose(point["missed_per_day"], 10 * (1 - point["recall"]))
    over = binom.sf(50, 10_000, alerts / 10_000)
    assert math.isclose(point["days_over_budget"], over, rel_tol=1e-9)
    assert point["days_over_budget"].low <= over <= point["days_over_budget"].high


@pytest.mark.slow
def test_intervals_hold_the_true_rates_of_the_chosen_threshold() -> None:
    from scipy.special import ndtr

    held = dict.fromkeys(("recall", "false_positive_rate"), 0)
    for seed in range(60):
        point = choose(seed=seed, max_fpr=0.02, resamples=100).empirical
        assert point is not None
        true = {
            "recall": float(ndtr(2.5 - point.threshold)),
            "false_positive_rate": float(ndtr(-point.threshold)),
        }
        for name, value in true.items():
            held[name] += point[name].low <= value <= point[name].high
    assert min(held.values()) >= 51  # 95% of 60, less three standard errors


def test_an_interval_is_never_narrower_than_for_a_threshold_given_in_advance() -> None:
    truth, scores = rows()
    point = choose(max_fpr=0.05).empirical
    assert point is not None
    given = assay.evaluate(truth, y_score=scores, threshold=point.threshold)
    for name in ("recall", "fpr", "precision", "f1"):
        assert point[name].low <= given[name].low
        assert point[name].high >= given[name].high


def test_a_share_has_the_same_interval_on_any_scale() -> None:
    point = choose(max_fpr=0.05).empirical
    assert point is not None
    share, stretched = point["balanced_accuracy"], point["informedness"]
    for end in ("low", "high"):
        assert getattr(stretched, end) == pytest.approx(2 * getattr(share, end) - 1)


def test_counts_are_repetitions() -> None:
    truth, scores = rows(negatives=200, positives=50)
    often = np.random.default_rng(3).integers(0, 4, 250)
    counted = choose_threshold(truth, y_score=scores, counts=often, max_fpr=0.1, **FEW)
    repeated = choose_threshold(
        np.repeat(truth, often), y_score=np.repeat(scores, often), max_fpr=0.1, **FEW
    )
    for a, b in (
        (counted.empirical, repeated.empirical),
        (counted.guaranteed, repeated.guaranteed),
    ):
        assert a is not None
        assert b is not None
        assert a.threshold == b.threshold
        assert list(map(float, (e.estimate for e in a.estimates))) == list(
            map(float, (e.estimate for e in b.estimates))
        )


def test_the_same_seed_gives_the_same_document_in_any_order() -> None:
    truth, scores = rows()
    shuffled = np.random.default_rng(5).permutation(len(truth))
    here = choose_threshold(truth, y_score=scores, max_fpr=0.05, **FEW).to_dict()
    there = choose_threshold(
        [truth[i] for i in shuffled], y_score=scores[shuffled], max_fpr=0.05, **FEW
    ).to_dict()
    assert here == there


def test_scores_may_lie_anywhere() -> None:
    truth, scores = rows()
    plain = choose(max_fpr=0.05).empirical
    moved = choose_threshold(truth, y_score=1000 + 8 * scores, max_fpr=0.05, **FEW).empirical
    assert plain is not None
    assert moved is not None
    assert math.isclose(moved.threshold, 1000 + 8 * plain.threshold)


def test_equal_scores_flag_all_or_nothing() -> None:
    truth = ["normal"] * 60 + ["attack"] * 40
    choice = choose_threshold(truth, y_score=[0.5] * 100, max_fpr=0.1, **FEW)
    assert choice.empirical is choice.guaranteed is None
    assert choice.infeasible is not None
    everything = choose_threshold(truth, y_score=[0.5] * 100, min_dr=0.9, **FEW)
    assert everything.empirical is not None
    assert everything.empirical.threshold == 0.5
    assert "T006" in codes(everything)
    usual = choose_threshold(truth, y_score=[0.5] * 100, **FEW)
    assert "best MCC" not in [point.name for point in usual.candidates]


def test_numbers_of_any_library_are_taken_as_they_are_written() -> None:
    plain = choose(max_fpr=0.1, max_alerts=300, volume=1000)
    other = choose(max_fpr=np.float32(0.1), max_alerts=np.int64(300), volume=np.float64(1000))
    assert other.to_dict() == plain.to_dict()


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {"max_fpr": 0},
        {"max_fpr": 1},
        {"max_far": 1.5},
        {"min_dr": True},
        {"max_fpr": "0.1"},
        {"base_rate": 0.0},
        {"confidence": 1},
        {"confidence": 0},
        {"max_fpr": math.nan},
        {"max_alerts": -1, "volume": 10},
        {"max_alerts": 5, "volume": math.inf},
        {"cost_fp": 0, "cost_fn": 1},
        {"max_fpr": 0.1, "level": 1},
        {"max_fpr": 0.1, "resamples": 1},
    ],
)
def test_numbers_that_make_no_sense_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(MethodError):
        choose(**asked)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"max_alerts": 5}, "volume="),
        ({"cost_fp": 5}, "go together"),
        ({"min_dr_families": 0.5}, "families="),
    ],
)
def test_what_belongs_together_is_asked_for(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        choose(**asked)


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    truth, scores = rows(30, 20)
    families = [""] * 30 + ["dos"] * 20
    with pytest.raises(InputError, match="'dso'; there are 'dos'"):
        choose_threshold(truth, y_score=scores, families=families, min_dr_families={"dso": 0.5})


def test_at_most_a_dozen_known_families_are_named() -> None:
    known = tuple("abcdefghijklm")
    for families, end in ((known[:12], ", 'k', 'l'"), (known, ", 'k', 'l', ...")):
        with pytest.raises(InputError) as refused:
            requirements(families=families, min_dr_families={"x": 0.5})
        assert str(refused.value).endswith(end)


def test_one_class_is_refused() -> None:
    with pytest.raises(LabelError, match="no row is 'attack'"):
        choose_threshold(["normal"] * 5, y_score=range(5), labels=["normal", "attack"], max_fpr=0.1)


def test_scores_that_are_no_numbers_and_no_rows_are_refused() -> None:
    with pytest.raises(ScoreError):
        choose_threshold(["normal", "attack"], y_score=[0.1, math.nan], max_fpr=0.1)
    with pytest.raises(EmptyInput):
        choose_threshold([], y_score=[], max_fpr=0.1)
    with pytest.raises(CountError):
        choose_threshold(["normal", "attack"], y_score=[0.1, 0.2], counts=[1, -1])


# -- the document ----------------------------------------------------------------------------------

POINT = {"threshold", "rule", "confidence", "estimates", "name", "worth", "below"}
ESTIMATE = {
    *("measure", "label", "average", "slice", "base_rate", "value", "low", "high", "method"),
    *("n", "undefined", "note", "bound", "parts", "level"),
}


def test_the_document_has_the_keys_of_the_contract() -> None:
    truth, scores = rows()
    families = ["-"] * 2000 + ["dos"] * 400
    choice = choose_threshold(
        truth,
        y_score=scores,
        families=families,
        max_far=0.2,
        max_alerts=10,
        volume=100,
        holdout={"y_true": truth, "y_score": scores, "families": families},
        **FEW,
    )
    document = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert document["schema"] == "assay.threshold/1"
    assert {"constraints", "objective", "empirical", "guaranteed", "infeasible"} <= set(document)
    assert {"candidates", "holdout", "positive", "labels", "confidence", "level"} <= set(document)
    assert {"base_rate", "volume", "findings", "notes", "source"} <= set(document)
    assert document["labels"] == ["normal", "attack"]
    assert document["source"]["positives"] == 400
    for point in (document["empirical"], document["guaranteed"]):
        assert set(point) == POINT
        assert all(set(estimate) == ESTIMATE for estimate in point["estimates"])
        assert point["estimates"][-1]["slice"] == {"column": "family", "value": "dos"}
    assert all(set(each) == ESTIMATE for each in document["holdout"]["estimates"])


def test_a_holdout_is_a_pair_or_names_truth_and_scores() -> None:
    truth, scores = rows()
    holdouts = [
        choose(max_fpr=0.05, holdout=holdout).to_dict()["holdout"]
        for holdout in ((truth, scores), {"y_true": truth, "y_score": scores})
    ]
    assert holdouts[0] == holdouts[1]
    assert holdouts[0] is not None
    for holdout in ({"y_true": truth}, {"y_true": truth, "y_score": scores, "hosts": truth}, {}):
        with pytest.raises(InputError, match="a holdout has y_true and y_score"):
            choose(max_fpr=0.05, holdout=holdout)


def test_a_point_is_read_by_measure_and_its_other_names() -> None:
    point = choose(max_fpr=0.05).empirical
    assert point is not None
    assert point["detection_rate"] == point["tpr"] == point["recall"]
    with pytest.raises(KeyError, match="has no 'kappa'"):
        point["kappa"]
    with pytest.raises(KeyError, match="there is no family 'x'"):
        point.of_family("x")


def test_families_in_clusters_are_resampled_by_cluster_each_on_its_own() -> None:
    truth, scores = rows(600, 200)
    families = [""] * 600 + ["dos", "probe"] * 100
    hosts = [f"host {i % 40}" for i in range(800)]
    choice = choose_threshold(
        truth, y_score=scores, families=families, clusters=hosts, max_fpr=0.1, **FEW
    )
    assert choice.empirical is not None
    own = [one for one in choice.to_dict()["empirical"]["estimates"] if one["slice"]]
    assert [one["slice"]["value"] for one in own] == ["dos", "probe"]
    assert {one["method"] for one in own} == {"cluster bootstrap"}
    for one in own:
        assert 0 < one["low"] < one["value"] < one["high"] < 1
