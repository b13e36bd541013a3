"""Plans: what is asked, how the error is shared, and what the expected rates come to."""

import json
import math
from decimal import Decimal

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import assay
from assay import plan
from assay.decisions.plan_goals import Need
from assay.decisions.rows_needed import ON_DETECTION, rows_needed
from assay.decisions.threshold import promises
from assay.errors import InputError
from assay.report.document import schema_of

EVERYTHING = {
    "max_fpr": 1e-3,
    "min_dr": 0.9,
    "min_dr_families": {"dos": 0.95, "a.b=c": 0.5},
    "max_far": 0.2,
    "base_rate": 0.01,
    "width": 0.05,
    "difference": 0.02,
    "discordant": 0.1,
    "expected_fpr": 2e-4,
    "expected_dr": 0.95,
    "expected": 0.3,
}


def needs(**asked: object) -> dict[int, Need]:
    """What one goal takes, by the errors that are allowed."""
    (goal,) = plan(**asked).goals
    return {need.false_alarms or need.misses or 0: need for need in goal.needs}


# -- one goal --------------------------------------------------------------------------------------


def test_a_false_positive_rate_takes_negatives() -> None:
    requirements = needs(max_fpr=1e-4)
    assert [requirements[k].negatives for k in (0, 1, 2)] == [23025, 38896, 53222]
    assert requirements[0].positives is None


def test_a_detection_rate_takes_positives_as_a_miss_rate_would() -> None:
    requirements = needs(min_dr=0.9)
    assert [requirements[k].positives for k in (0, 1, 2)] == [22, 38, 52]
    miss_rate = needs(max_fpr=0.1)
    assert [n.positives for n in requirements.values()] == [n.negatives for n in miss_rate.values()]


def test_a_share_is_the_decimal_that_was_written() -> None:
    # 1 - 0.9 is a little less than 0.1 as a float, and 0.9^1 is exactly the risk.
    assert needs(min_dr=0.9, confidence=0.1)[0].positives == 1
    assert needs(max_fpr=0.1, confidence=0.1)[0].negatives == 1


def test_a_false_alarm_rate_of_a_tenth_where_attacks_are_rare_takes_over_200000_negatives() -> None:
    (goal,) = plan(max_far=0.1, base_rate=1e-4).goals
    without_error = [n.negatives for n in goal.needs if n.negatives and n.false_alarms == 0]
    assert min(without_error) > 200_000
    assert max(without_error) < 260_000


def test_bounds_on_both_rates_show_the_false_alarm_rate_with_the_confidence() -> None:
    f, p = 0.1, 0.01
    (goal,) = plan(max_far=f, base_rate=p, confidence=0.9).goals
    for need in goal.needs:
        if need.alerts is not None:
            continue
        fpr, dr = need.false_positive_rate, need.detection_rate
        far_shown = fpr * (1 - p) / (fpr * (1 - p) + dr * p)
        assert far_shown == pytest.approx(f)
        fails = stats.binom.cdf(need.false_alarms, need.negatives, fpr)
        fails += stats.binom.cdf(need.misses, need.positives, 1 - dr)
        assert fails <= 0.1 + 1e-9


def test_the_risk_is_shared_as_where_a_threshold_is_chosen() -> None:
    assert float(ON_DETECTION) == float(promises.ON_DETECTION)


def test_labelled_alerts_show_a_false_alarm_rate_by_themselves() -> None:
    (goal,) = plan(max_far=0.1, base_rate=1e-4).goals
    alerts = {n.false_alarms: n.alerts for n in goal.needs if n.alerts is not None}
    assert alerts == {k: rows_needed(Decimal("0.1"), k, Decimal("0.1")) for k in alerts}


def test_where_any_detector_keeps_the_rate_no_negatives_are_needed() -> None:
    (goal,) = plan(max_far=0.9, base_rate=0.9).goals
    assert {n.negatives for n in goal.needs if n.positives is not None} == {0}


def test_an_interval_is_planned_at_the_expected_share_and_at_the_worst() -> None:
    (goal,) = plan(width=0.05, expected=0.9).goals
    assert [n.rows for n in goal.needs if n.expected == 0.5] == [1533, 1574]
    assert min(n.rows for n in goal.needs if n.expected == 0.9) == 557
    assert goal.confidence == 0.95


def test_a_difference_is_planned_for_several_chances() -> None:
    (goal,) = plan(difference=0.02, discordant=0.1, power=0.85).goals
    exact = [n for n in goal.needs if n.method == "mcnemar"]
    assert [round(n.chance, 2) for n in exact] == [0.5, 0.8, 0.85, 0.9, 0.95]
    assert goal.enough == exact[2]
    assert [n.rows for n in exact] == sorted(n.rows for n in exact)


# -- several goals ---------------------------------------------------------------------------------


def test_goals_share_the_error_in_equal_parts() -> None:
    both = plan(max_fpr=1e-3, min_dr=0.9, confidence=0.9)
    assert [goal.confidence for goal in both.goals] == [0.95, 0.95]
    assert both["max_fpr"].needs == plan(max_fpr=1e-3, confidence=0.95)["max_fpr"].needs
    three = plan(max_fpr=1e-3, min_dr_families={"a": 0.9, "b": 0.8}, confidence=0.9)
    assert three.certified[0].confidence == pytest.approx(1 - 0.1 / 3)


def test_intervals_and_differences_have_no_part_in_the_confidence() -> None:
    alone, beside = (
        plan(max_fpr=1e-3),
        plan(max_fpr=1e-3, width=0.1, difference=0.1, discordant=0.2),
    )
    assert alone["max_fpr"] == beside["max_fpr"]
    assert len(beside.certified) == 1


def test_a_simulation_keeps_the_joint_confidence() -> None:
    """A detector that is just not good enough passes all its tests rarely."""
    study_plan = plan(max_fpr=0.02, min_dr=0.8, confidence=0.9, errors=(3,))
    negatives, positives = (goal.needs[0] for goal in study_plan.goals)
    random = np.random.default_rng(1)
    false = random.binomial(negatives.negatives, 0.0201, 20_000) <= 3
    missed = random.binomial(positives.positives, 0.201, 20_000) <= 3
    assert (false | missed).mean() <= 0.1


# -- what is expected ------------------------------------------------------------------------------


@settings(max_examples=25)
@given(ratio=st.floats(0.05, 0.7), power=st.sampled_from([0.5, 0.8, 0.95]))
def test_enough_is_the_first_number_of_errors_that_succeeds(ratio: float, power: float) -> None:
    limit = 0.01
    need = plan(max_fpr=limit, expected_fpr=limit * ratio, power=power)["max_fpr"].enough
    assert need is not None
    for errors in range(need.false_alarms + 1):
        rows = rows_needed(Decimal("0.01"), errors, Decimal("0.1"))
        chance = stats.binom.cdf(errors, rows, limit * ratio)
        assert (chance >= power) == (errors == need.false_alarms)


def test_a_detector_that_is_not_good_enough_is_never_shown_to_be() -> None:
    study_plan = plan(max_fpr=1e-3, expected_fpr=1e-3, min_dr=0.9, expected_dr=0.89)
    for goal in study_plan.goals:
        assert goal.enough is None
        assert "by any number of rows" in goal.hopeless
    assert plan(max_fpr=0.1, expected_fpr=0.1 - 1e-12)["max_fpr"].hopeless


def test_enough_for_a_false_alarm_rate_succeeds_as_often_as_asked() -> None:
    asked = {"max_far": 0.1, "base_rate": 1e-3, "expected_fpr": 2e-5, "expected_dr": 0.9}
    goal = plan(**asked)["max_far"]
    best = goal.enough
    assert best.chance >= 0.8
    caught = stats.binom.cdf(best.misses, best.positives, 0.1)
    quiet = stats.binom.cdf(best.false_alarms, best.negatives, 2e-5)
    assert best.chance == pytest.approx(caught * quiet)
    others = [n.total for n in goal.needs if n.positives is not None and n.chance >= 0.8]
    assert best.total <= min(others)
    hopeless = plan(**{**asked, "expected_fpr": 2e-4})["max_far"]
    assert hopeless.enough is None
    assert "is not shown to stay below 0.1" in hopeless.hopeless


def test_without_both_expected_rates_nothing_is_said_of_success() -> None:
    for given_rate in ({"expected_fpr": 1e-5}, {"expected_dr": 0.9}):
        goal = plan(max_far=0.1, base_rate=1e-3, **given_rate)["max_far"]
        assert goal.enough is None
        assert goal.hopeless is None
        assert {need.chance for need in goal.needs} == {None}


# -- its shape -------------------------------------------------------------------------------------


def test_the_plan_is_json_and_follows_its_schema() -> None:
    document = plan(**EVERYTHING).to_dict()
    assert document["schema"] == "assay.plan/1"
    assert json.loads(json.dumps(document, allow_nan=False)) == json.loads(json.dumps(document))
    jsonschema.Draft202012Validator(schema_of("assay.plan/1")).validate(
        json.loads(json.dumps(document))
    )


def test_records_hold_every_need_once_and_mark_what_is_enough() -> None:
    study_plan = plan(**EVERYTHING)
    records = study_plan.records()
    assert len({tuple(sorted(map(str, r.items()))) for r in records}) == len(records)
    assert sum(r["enough"] for r in records) == sum(g.enough is not None for g in study_plan.goals)
    assert {r["goal"] for r in records} == {g.name for g in study_plan.goals}


def test_goals_are_found_by_name() -> None:
    assert plan(width=0.1)["width"].target == 0.1
    with pytest.raises(KeyError, match="no goal 'max_far'"):
        plan(width=0.1)["max_far"]


def test_it_is_a_public_name() -> None:
    assert assay.plan is plan
    assert isinstance(plan(width=0.1), assay.Plan)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "a plan needs a goal"),
        ({"max_far": 0.1}, "max_far= needs base_rate="),
        ({"base_rate": 0.1}, "a plan needs a goal"),
        ({"difference": 0.1}, "go together"),
        ({"discordant": 0.1, "width": 0.1}, "go together"),
        ({"difference": 0.2, "discordant": 0.1}, "disagree on at least that share"),
        ({"max_fpr": 0}, "max_fpr is a share between 0 and 1; found 0"),
        ({"max_fpr": 1.0}, "max_fpr is a share"),
        ({"max_fpr": math.nan}, "max_fpr is a share"),
        ({"max_fpr": "0.1"}, "max_fpr is a share"),
        ({"max_fpr": True}, "max_fpr is a share"),
        ({"max_fpr": 0.1, "confidence": 90}, "confidence must lie between 0 and 1"),
        ({"min_dr_families": {"dos": 2}}, "min_dr of 'dos' is a share"),
        ({"max_fpr": 0.1, "errors": ()}, "errors= are whole numbers"),
        ({"max_fpr": 0.1, "errors": (-1,)}, "errors= are whole numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(**asked)
