"""Figures of periods, rules judged at every look, labels that come late, and states."""

import datetime as dt
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import DailyTally, monitor
from assay.decisions.monitor_periods import periods_of
from assay.errors import InputError, LabelError, ScoreError, TallyError
from assay.inference import Wilson
from assay.inference.proportions import BetaMixture, GammaMixture, PairedBets

from .streams import day_of, plain, stream

# -- examples --------------------------------------------------------------------------------------


def test_every_figure_is_what_an_independent_count_gives() -> None:
    rows = stream(days=3, labelled=0.95)
    monitoring = monitor(**rows, mature=0.5)
    cells = Counter(
        (day, label, score >= 0.5, old >= 0.5)
        for day, label, score, old in zip(
            rows["times"], rows["y_true"], rows["y_score"], rows["old_score"], strict=True
        )
    )

    def count(until: str, since: str = "", **of: object) -> int:
        named = ("label", "new", "old")
        return sum(
            number
            for (day, *cell), number in cells.items()
            if since <= day <= until
            and all(dict(zip(named, cell, strict=True))[name] == each for name, each in of.items())
        )

    for i, period in enumerate(monitoring.periods):
        day = day_of(i)
        assert (period.start, period.end, period.rows) == (day, day, 60)
        tp, fp, waiting = (
            count(day, label=label, new=True) for label in ("attack", "normal", None)
        )
        precision = period["precision"].estimate
        assert float(precision) == tp / (tp + fp)
        assert precision.low == pytest.approx(
            float(BetaMixture()(tp, tp + fp + waiting)[0]), rel=1e-12
        )
        assert precision.high == pytest.approx(
            float(BetaMixture()(tp + waiting, tp + fp + waiting)[1]), rel=1e-12
        )
        assert precision.bound == (
            None
            if not waiting
            else pytest.approx((tp / (tp + fp + waiting), (tp + waiting) / (tp + fp + waiting)))
        )
        alone = period.figure("precision", "period").estimate
        here = [count(day, day, label=label, new=True) for label in ("attack", "normal")]
        assert float(alone) == here[0] / sum(here)
        per_day = period["false_alarms_per_day"].estimate
        assert float(per_day) == pytest.approx(
            (1 - float(precision)) * (tp + fp + waiting) / (i + 1), rel=1e-12
        )
        assert per_day.low == pytest.approx(float(GammaMixture()(fp, i + 1)[0]), rel=1e-12)
        assert per_day.high == pytest.approx(
            float(GammaMixture()(fp + waiting, i + 1)[1]), rel=1e-12
        )
        alerts, total = count(day, new=True), count(day)
        rate = period["alert_rate"]
        assert float(rate.estimate) == alerts / total
        assert (rate.ordinary.low, rate.ordinary.high) == Wilson().ends(alerts, total)
        gained, lost = (count(day, new=new, old=not new) for new in (True, False))
        apart = period.figure("alert_rate", "cumulative", "new-old").estimate
        assert float(apart) == pytest.approx((gained - lost) / total)
        assert apart.low == pytest.approx(float(PairedBets()(gained, lost, total)[0]), rel=1e-12)


def test_a_rule_is_broken_from_the_first_look_that_shows_it() -> None:
    days = [day_of(i) for i in range(40) for _ in range(10)]
    truth = ["attack", "normal"] * 200
    monitoring = monitor(
        days, truth, y_score=[0.9] * 400, rules=["precision >= 0.7", "recall >= 0.1"]
    )
    broken = monitoring.rules[0]
    first = next(i for i in range(1, 41) if float(BetaMixture()(5 * i, 10 * i)[1]) < 0.7)
    assert (broken.outcome.value, broken.since) == ("broken", day_of(first - 1))
    assert monitoring.outcome.value == "broken"
    assert monitoring.findings[0].code == "M001"
    assert day_of(first - 1) in monitoring.findings[0].message


def test_a_rule_once_broken_stays_so_and_one_that_holds_says_since_when() -> None:
    days = [day_of(i) for i in range(30) for _ in range(20)]
    truth = ["normal"] * 200 + ["attack"] * 400
    monitoring = monitor(
        days, truth, y_score=[0.9] * 600, rules=["precision >= 0.5", "f1 >= 0.1"][:1]
    )
    assert monitoring.rules[0].outcome.value == "broken"
    assert monitoring.rules[0].since == day_of(0)
    held = monitor(days, truth[::-1], y_score=[0.9] * 600, rules="precision >= 0.5").rules[0]
    assert held.outcome.value == "holds"
    assert held.since == day_of(0)
    still = monitor(days[:3], ["attack", "normal", "attack"], y_score=[0.9] * 3)
    assert still.outcome.value == "holds"  # no rule is broken where there is none
    few = monitor(days[:3], ["attack", "normal", "attack"], y_score=[0.9] * 3, rules="ppv >= 0.5")
    assert (few.rules[0].outcome.value, few.rules[0].since) == ("open", None)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("f1 >= 0.5", "no share of rows"),
        ("roc_auc >= 0.5", "no share of rows"),
        ("new(precision@base-rate=0.1) >= 0.5", "it has a condition"),
        ("precision.macro >= 0.5", "it has a condition"),
        ("missed_per_day <= 5", "misses raise no alert"),
        ("new-old(precision) >= 0", "differences are followed of accuracy, recall, alert_rate"),
        ("old(precision) >= 0.5", "needs a second model: name its column with old_score="),
        ("precision > 2", "did you mean 0.02, which is 2%"),
        ("precision", "expected one of >=, >, <= and <"),
        ("(precision) >= 0.5", "expected new(...), old(...) or new-old(...)"),
    ],
)
def test_a_rule_that_no_sequence_can_judge_is_refused(rule: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        monitor(["2026-03-01"], ["attack"], y_score=[0.9], rules=rule)
    assert told in str(refused.value)


# -- labels that come late -------------------------------------------------------------------------


def test_figures_are_given_where_labels_are_mature_and_bounds_elsewhere() -> None:
    days = [day_of(0)] * 20 + [day_of(1)] * 20
    truth = ["attack"] * 10 + ["normal"] * 10 + ["attack"] * 5 + [None] * 15
    monitoring = monitor(days, truth, y_score=[0.9] * 40)
    first, second = (period.figure("precision", "period") for period in monitoring.periods)
    assert (float(first.estimate), first.mature, first.estimate.bound) == (0.5, 1.0, None)
    assert math.isnan(second.estimate)
    assert second.estimate.bound == (0.25, 1.0)
    assert second.estimate.undefined == "25.0% of alerts have a label, and 90% are needed"
    assert [f.code for f in monitoring.findings] == ["M002"]
    assert [(age.first, age.alerts, age.triaged) for age in monitoring.maturity] == [
        (0, 20, 5),
        (1, 20, 20),
    ]
    assert not math.isnan(
        monitor(days, truth, y_score=[0.9] * 40, mature=0.25)["precision"].estimate
    )


@given(st.lists(st.sampled_from(["attack", "normal"]), min_size=2, max_size=30), st.data())
@settings(max_examples=60)
def test_whatever_missing_labels_turn_out_to_be_the_interval_held_it_before(
    truth: list[str], data: st.DataObject
) -> None:
    known = data.draw(st.lists(st.booleans(), min_size=len(truth), max_size=len(truth)))
    scores = data.draw(
        st.lists(st.sampled_from([0.2, 0.8]), min_size=len(truth), max_size=len(truth))
    )
    days = [day_of(i // 10) for i in range(len(truth))]
    sides = {"positive": "attack", "labels": ["normal", "attack"]}
    early = [label if told else None for label, told in zip(truth, known, strict=True)]
    before = monitor(days, early, y_score=scores, **sides)
    after = monitor(days, truth, y_score=scores, **sides)
    for one, other in zip(before.periods, after.periods, strict=True):
        for name in ("precision", "recall", "alert_rate", "false_alarms_per_day"):
            wide, exact = one[name].estimate, other[name].estimate
            if math.isfinite(wide.low) and math.isfinite(exact.low):
                assert wide.low <= exact.low + 1e-9
                assert exact.high <= wide.high + 1e-9


def test_without_any_label_the_alert_rate_is_told_and_nothing_else() -> None:
    monitoring = monitor([day_of(0)] * 50, y_score=[0.9, 0.1] * 25, rules="alert_rate <= 0.9")
    assert float(monitoring["alert_rate"].estimate) == 0.5
    assert math.isnan(monitoring["precision"].estimate)
    assert monitoring.positive is None
    assert monitoring.rules[0].outcome.value == "holds"
    assert "no row has a label yet" in monitoring.notes[0]


def test_a_positive_label_need_not_have_occurred_yet() -> None:
    monitoring = monitor([day_of(0)] * 3, ["normal"] * 3, y_score=[0.9] * 3, positive="attack")
    assert float(monitoring["precision"].estimate) == 0


FLAGS = np.array([1, 0] * 20)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("positive", [None, 1, 1.0, True, "1"])
@pytest.mark.parametrize("decisions", [FLAGS, FLAGS.astype(bool), FLAGS.astype(float)])
@pytest.mark.parametrize("truth", [FLAGS, FLAGS.astype(bool), FLAGS.astype(float)])
def test_true_and_one_are_one_label(truth: object, decisions: object, positive: object) -> None:
    days = [day_of(0)] * 40
    for said in ({"y_pred": decisions}, {"y_score": FLAGS, "old_decision": decisions}):
        monitoring = monitor(days, truth, **said, positive=positive)
        for subject in monitoring.models:
            figures = {e.measure: e for e in monitoring.last.estimates if e.subject == subject}
            assert float(figures["recall"].estimate) == float(figures["precision"].estimate) == 1


def test_a_reference_of_booleans_is_no_reference_of_numbers() -> None:
    held = {"y_true": FLAGS, "y_pred": FLAGS.astype(bool)}
    with pytest.raises(InputError, match="decisions that are booleans in reference="):
        monitor([day_of(0)] * 40, FLAGS, y_pred=FLAGS, reference=held)
    monitoring = monitor([day_of(0)] * 40, FLAGS, y_pred=FLAGS.astype(bool), reference=held)
    assert monitoring.reference_base_rate == 0.5


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"positive": "atack"}, "positive='atack' does not occur; the labels are 'attack'"),
        ({"negative": "benign"}, "negative='benign' does not occur"),
        ({"positive": 1}, "positive=1 is one of numbers, but the labels of the data are text"),
        ({"y_pred": [1, 0], "positive": "attack"}, "have no value in common"),
        ({"old_decision": [1, 0], "positive": "attack"}, "have no value in common"),
        ({"labels": 1}, "labels= is a list of labels; found 1"),
        ({"labels": "01"}, "labels= is a list of labels; found '01'"),
    ],
)
def test_labels_that_do_not_occur_are_refused(given: dict, told: str) -> None:
    said = {} if "y_pred" in given else {"y_score": [0.9, 0.8]}
    with pytest.raises(LabelError) as refused:
        monitor([day_of(0)] * 2, ["attack", "normal"], **{**said, **given})
    assert told in str(refused.value)


def test_families_of_alarms_need_not_be_among_the_decisions() -> None:
    said = ["attack", "attack", "normal"]
    monitoring = monitor([day_of(0)] * 3, ["scan", "dos", None], y_pred=said, negative="normal")
    assert monitoring.last.triaged == monitoring.last.alerts == 2


# -- periods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", ["day", "week", "month", 5, 3_650_000, 10**400])
def test_the_last_day_of_all_ends_its_period(every: str | int) -> None:
    spans = periods_of(["9999-12-01", "9999-12-31"], every)
    assert spans[-1].end == "9999-12-31"


def test_a_period_longer_than_all_days_is_all_days() -> None:
    result = monitor(["2026-03-01"] * 4, [0, 1] * 2, y_score=[0.1, 0.9] * 2, every=10**5000)
    assert (result.every, len(result.periods)) == ("3652059 days", 1)


def test_days_weeks_months_and_numbers_of_days() -> None:
    days = ["2026-02-27", "2026-03-01", "2026-03-02", "2026-03-09"]
    assert [(s.start, s.end) for s in periods_of(days, "week")] == [
        ("2026-02-23", "2026-03-01"),
        ("2026-03-02", "2026-03-08"),
        ("2026-03-09", "2026-03-09"),
    ]
    assert [(s.start, s.end) for s in periods_of(days, "month")] == [
        ("2026-02-01", "2026-02-28"),
        ("2026-03-01", "2026-03-09"),
    ]
    assert [(s.start, s.days) for s in periods_of(days, 4)] == [
        ("2026-02-27", tuple(days[:3])),
        ("2026-03-07", (days[3],)),
    ]
    for odd in ("year", 0, -1, 1.5, True):
        with pytest.raises(InputError, match="every= is day, week, month or a number of days"):
            periods_of(days, odd)


def test_the_last_look_is_the_same_however_often_one_looks() -> None:
    rows = plain(stream(days=15))
    last = {every: monitor(**rows, every=every)["precision"] for every in ("day", "week", 4)}
    assert len({(e.estimate, e.estimate.low, e.estimate.high) for e in last.values()}) == 1


def test_days_without_rows_are_a_finding() -> None:
    monitoring = monitor([day_of(0), day_of(3)], ["attack"] * 2, y_score=[0.9] * 2)
    assert monitoring.absent == (day_of(1), day_of(2))
    assert "M006" in [finding.code for finding in monitoring.findings]


def test_bursts_of_false_alarms_and_a_precision_that_moves_are_findings() -> None:
    days = [day_of(i) for i in range(10) for _ in range(40)]
    scores = [0.9 if i // 40 < 5 or i % 40 < 4 else 0.1 for i in range(400)]
    truth = ["normal" if i // 40 < 5 else "attack" for i in range(400)]
    codes = [f.code for f in monitor(days, truth, y_score=scores).findings]
    assert {"M005", "M007"} <= set(codes)
    calm = monitor(**plain(stream(days=10)))
    assert not {"M005", "M007"} & {f.code for f in calm.findings}


# -- states ----------------------------------------------------------------------------------------


@given(st.integers(1, 13), st.booleans())
@settings(max_examples=10)
def test_a_restart_gives_the_same_bits_as_all_rows_at_once(cut: int, through_bytes: bool) -> None:
    rows = stream(rows=12)
    first, second = (
        {name: column[part] for name, column in rows.items()}
        for part in (slice(None, 12 * cut), slice(12 * cut, None))
    )
    state = monitor(**first).tally
    monitoring = monitor(**second, state=state.to_bytes() if through_bytes else state)
    whole = monitor(**rows)
    assert monitoring.tally.to_bytes() == whole.tally.to_bytes()
    told, expected = (
        {key: value for key, value in each.to_dict().items() if key != "source"}
        for each in (monitoring, whole)
    )
    assert (told == expected) is True  # a difference of thousands of numbers is shown by no one


def test_rows_that_were_counted_are_refused_or_counted_anew() -> None:
    rows = plain(stream(labelled=0.3))
    state = monitor(**rows).tally
    late = {**plain(stream(labelled=1.0)), "y_score": rows["y_score"]}
    last = slice(60 * 10, None)
    again = {name: column[last] for name, column in late.items()}
    with pytest.raises(InputError, match="state= holds 2026-03-12, 2026-03-13"):
        monitor(**again, state=state)
    monitoring = monitor(**again, state=state, recount=True)
    assert monitoring.rows == 14 * 60
    assert monitoring.periods[-1].triaged > monitor(**rows).periods[-1].triaged
    part = {name: column[-5:] for name, column in late.items()}
    with pytest.raises(InputError, match="leave 5 of the 60 rows that state= holds of 2026-03-15"):
        monitor(**part, state=state, recount=True)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"threshold": 0.7}, "threshold None, not 0.7"),
        ({"old_score": [0.5]}, "old_score None, not 'old score'"),
        ({"y_true": None}, "label 'label', not None"),
    ],
)
def test_a_state_that_was_counted_otherwise_is_refused(other: dict, told: str) -> None:
    state = monitor([day_of(0)], ["attack"], y_score=[0.9]).tally
    given = {"y_true": ["attack"], "y_score": [0.9], **other}
    with pytest.raises(InputError, match="state= was counted with") as refused:
        monitor([day_of(1)], **given, state=state)
    assert told in str(refused.value)


def test_what_is_no_state_is_refused() -> None:
    from assay import Confusion

    table = Confusion(("a", "b"), ((1, 0), (0, 1)))
    with pytest.raises(TallyError, match="state= is a Confusion"):
        monitor([day_of(0)], ["attack"], y_score=[0.9], state=table.to_bytes())
    assert monitor([day_of(0)], ["attack"], y_score=[0.9], state=DailyTally()).rows == 1


NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


# -- what is refused -------------------------------------------------------------------------------


def test_scores_beyond_0_and_1_need_a_threshold() -> None:
    with pytest.raises(ScoreError, match="say threshold="):
        monitor([day_of(0)], ["attack"], y_score=[3.0])
    assert monitor([day_of(0)], ["attack"], y_score=[3.0], threshold=2.0).last.alerts == 1


def test_decisions_by_name_are_the_alarm_or_not() -> None:
    monitoring = monitor(
        [day_of(0)] * 4, ["attack", "normal", None, None], y_pred=["attack"] * 3 + ["normal"]
    )
    assert (monitoring.last.alerts, monitoring.last.triaged, monitoring.threshold) == (3, 2, None)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"y_true": ["a", "b"]}, LabelError, "positive="),
        ({"y_true": ["a", "b", "c"][:2], "y_score": [0.1]}, InputError, "as long as each other"),
        ({"y_score": None}, InputError, "y_score= or y_pred="),
        ({"mature": 0}, InputError, "mature= is a share"),
        ({"seed": -1}, InputError, "seed= is a whole number"),
        ({"features": {"bytes": [1, 2]}}, InputError, "give reference="),
        ({"features": {"score": [1, 2]}}, InputError, "another name"),
        ({"y_score": [0.1, math.nan]}, InputError, "Correct the row, or take it out"),
        ({"features": ["f"]}, InputError, "features= are a mapping from name to column"),
        ({"reference": "x"}, InputError, "reference= are a mapping from name to column"),
        ({"recount": "no"}, InputError, "recount= is True or False; found 'no'"),
        ({"times": [NOON, NOON.replace(tzinfo=None)]}, InputError, "has no time zone"),
        ({"times": 5}, InputError, "times must be a column"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict, error: type, told: str) -> None:
    rows = {"y_true": ["attack", "normal"], "y_score": [0.9, 0.8], **given}
    with pytest.raises(error) as refused:
        monitor(**{"times": [day_of(0)] * 2, **rows})
    assert told in str(refused.value)


def test_it_prints_what_it_found() -> None:
    text = repr(monitor(**plain(stream()), rules="precision >= 0.1"))
    assert text.startswith(
        "Monitor: 14 periods until 2026-03-15\nholds: precision >= 0.1\nprecision: "
    )


def test_rows_in_another_order_change_nothing() -> None:
    rows = stream(days=5)
    order = np.random.default_rng(1).permutation(len(rows["times"]))
    mixed = {name: [column[i] for i in order] for name, column in rows.items()}
    assert monitor(**mixed).tally.to_bytes() == monitor(**rows).tally.to_bytes()
