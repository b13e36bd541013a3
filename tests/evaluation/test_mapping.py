"""An evaluation is a mapping from name to estimate."""

import math

import pytest

from assay import Estimate, Evaluation, evaluate, evaluate_counts
from assay.errors import AssayError, LabelError, MethodError, UnknownMeasure
from assay.inference import Quantity
from assay.measures import CATALOGUE, find

FOREST = evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"])
DARKNET = evaluate_counts(matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]], labels=["A", "B", "C"])
COUNTED = [measure for measure in CATALOGUE if measure.formula is not None]
ALIASES = [(alias, measure) for measure in COUNTED for alias in measure.aliases]


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
def test_every_count_measure_is_there_for_two_classes(measure) -> None:
    expected = Quantity(measure.formula, label=1).value(FOREST.confusion)
    assert FOREST[measure.name] == expected
    assert isinstance(FOREST[measure.name], Estimate)


@pytest.mark.parametrize(("alias", "measure"), ALIASES, ids=[alias for alias, _ in ALIASES])
def test_every_alias_is_understood(alias: str, measure) -> None:
    assert FOREST[alias] == FOREST[measure.name]


def test_false_alarm_rate_is_the_false_discovery_rate() -> None:
    assert FOREST["false_alarm_rate"] == FOREST["far"] == 167 / 6802
    assert FOREST["fpr"] == 167 / 7910


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("precision.normal", 7743 / 8067),
        ("recall.normal", 7743 / 7910),
        ("ppv.normal", 7743 / 8067),
        ("precision.attack", 6635 / 6802),
        ("detection_rate.attack", 6635 / 6959),
        ("f0.5.normal", 1.25 * 7743 / (1.25 * 7743 + 0.25 * 167 + 324)),
        ("f1.macro", (15486 / 15977 + 13270 / 13761) / 2),
        ("f1.micro", 14378 / 14869),
        ("f_score.weighted", (7910 * 15486 / 15977 + 6959 * 13270 / 13761) / 14869),
        ("f3", 10 * 6635 / (10 * 6635 + 9 * 324 + 167)),
        ("f0.25", 1.0625 * 6635 / (1.0625 * 6635 + 0.0625 * 324 + 167)),
    ],
)
def test_suffix_is_a_label_or_an_average(name: str, value: float) -> None:
    assert FOREST[name] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", 0.9),
        ("precision.B", 38 / 43),
        ("sensitivity.C", 52 / 55),
        ("f1.macro", 691 / 770),
        ("recall.micro", 0.9),
        ("balanced_accuracy", 2663 / 2970),
        ("kappa", 1268 / 1493),
    ],
)
def test_names_of_many_classes(name: str, value: float) -> None:
    assert DARKNET[name] == pytest.approx(value, rel=1e-15)


def test_label_may_hold_points_and_look_like_a_measure() -> None:
    evaluation = evaluate_counts(
        matrix=[[4, 1, 0], [2, 5, 1], [0, 1, 6]], labels=["192.168.1.1", "f1", "a b"]
    )
    assert evaluation["recall.192.168.1.1"] == 4 / 5
    assert evaluation["tpr.f1"] == 5 / 8
    assert evaluation["f1.f1"] == 10 / 15
    assert evaluation["precision.a b"] == 6 / 7


def test_average_wins_over_a_class_of_its_name() -> None:
    evaluation = evaluate_counts(
        matrix=[[4, 3, 2], [4, 3, 3], [1, 2, 5]], labels=["macro", "b", "c"]
    )
    assert evaluation["recall.macro"] == pytest.approx((4 / 9 + 3 / 10 + 5 / 8) / 3)
    of_class = [e for e in evaluation.entries if (e.measure, e.label) == ("recall", "macro")]
    assert [entry.estimate for entry in of_class] == [4 / 9]


def of_averages(*labels: str) -> Evaluation:
    return evaluate_counts(matrix=[[4, 3, 2], [4, 3, 3], [1, 2, 5]], labels=[*labels])


def test_what_is_of_a_label_that_is_called_as_an_average_is_told_and_found() -> None:
    evaluation = of_averages("macro", "weighted", "c")
    for told in (evaluation, evaluation.snapshot()):
        assert told["recall.macro"] == pytest.approx((4 / 9 + 3 / 10 + 5 / 8) / 3)
        assert told.of_label("macro")["recall"] == 4 / 9
        assert told.of_label("weighted")["detection_rate"] == 3 / 10
        assert told.of_label("c")["recall"] == told["recall.c"] == 5 / 8
    notes = [note for note in evaluation.notes if "called as an average is" in note]
    assert len(notes) == 2
    assert "the key precision.macro means the average" in notes[0]
    assert "of_label('weighted') gives what is of the label" in notes[1]
    assert not any("called as" in note for note in of_averages("a", "ci", "mean").notes)


def test_a_label_of_two_has_its_estimates_too() -> None:
    evaluation = evaluate([1, 0] * 10, y_score=[0.9, 0.1] * 10)
    assert evaluation.of_label(1)["precision"] is evaluation["precision"]
    assert evaluation.of_label("0")["recall"] is evaluation["recall.0"]
    assert "average_precision" in evaluation.of_label(1)
    with pytest.raises(LabelError, match=r"there is no label 2; there are \['0', '1'\]"):
        evaluation.of_label(2)


# -- names that are not there ----------------------------------------------------------------------


def test_unknown_name_suggests_those_that_are_close() -> None:
    with pytest.raises(UnknownMeasure, match=r"no measure 'precison'; did you mean precision") as e:
        FOREST["precison"]
    assert isinstance(e.value, KeyError)
    assert isinstance(e.value, AssayError)


def test_message_is_shown_without_quotes_around_it() -> None:
    with pytest.raises(UnknownMeasure) as e:
        FOREST["nonsense"]
    assert str(e.value) == "there is no measure 'nonsense'"


def test_measure_without_its_label_names_those_that_are_there() -> None:
    with pytest.raises(UnknownMeasure, match=r"of precision there are precision.macro"):
        DARKNET["precision"]


def test_unknown_label_is_refused() -> None:
    with pytest.raises(UnknownMeasure, match=r"'precision.D' is not in this evaluation"):
        DARKNET["precision.D"]


def test_scores_of_other_betas_need_a_positive() -> None:
    with pytest.raises(UnknownMeasure, match="there are none"):
        DARKNET["f3"]


@pytest.mark.parametrize("name", ["precison", "precision.D", 3, None])
def test_what_is_not_there_is_not_in_it(name) -> None:
    assert name not in DARKNET
    assert DARKNET.get(name) is None


# -- a mapping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluation", [FOREST, DARKNET], ids=["two", "three"])
def test_names_and_length_agree(evaluation) -> None:
    names = list(evaluation)
    assert len(names) == len(set(names)) == len(evaluation)
    assert dict(evaluation.items()).keys() == set(names)
    for name in names:
        assert evaluation[name] is evaluation[name]


def test_one_sided_measures_of_the_positive_come_first() -> None:
    names = list(FOREST)
    one_sided = [m.name for m in COUNTED if not m.symmetric]
    assert names[: len(one_sided)] == one_sided
    symmetric = [m.name for m in COUNTED if m.symmetric]
    assert names.index("precision.normal") > max(map(names.index, symmetric))
    assert names.index("f1.macro") > names.index("precision.normal")


def test_symmetric_measures_have_no_value_for_the_other_label() -> None:
    assert "mcc.normal" not in FOREST
    assert "accuracy.normal" not in FOREST
    assert "precision.normal" in FOREST


def test_every_class_has_its_own_one_sided_measures() -> None:
    for label in "ABC":
        for name in ("precision", "recall", "f1", "specificity", "jaccard"):
            assert f"{name}.{label}" in DARKNET


# -- parts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluation", [FOREST, DARKNET], ids=["two", "three"])
def test_kappa_carries_its_steps(evaluation) -> None:
    parts = evaluation["kappa"].parts
    assert parts["p_o"] == evaluation["accuracy"]
    assert (parts["p_o"] - parts["p_e"]) / (1 - parts["p_e"]) == pytest.approx(
        float(evaluation["kappa"])
    )


def test_log_loss_stands_beside_a_coin_and_the_prevalence() -> None:
    log_loss = evaluate(["attack"] + ["normal"] * 3, y_score=[0.6, 0.1, 0.2, 0.3])["log_loss"]
    assert log_loss.parts["ln 2"] == math.log(2)
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert log_loss.parts["prevalence entropy"] == pytest.approx(entropy)


def test_log_loss_counts_the_rows_that_it_clipped() -> None:
    log_loss = evaluate(["attack", "normal", "normal"], y_score=[0.0, 1.0, 0.5])["log_loss"]
    assert log_loss == pytest.approx((52 * math.log(2) * 2 + math.log(2)) / 3)
    assert log_loss.note == "2 rows were clipped at 2^-52"


def test_calibration_error_stands_beside_that_of_a_calibrated_model() -> None:
    calibration_error = evaluate([0, 1] * 20, y_score=[0.2, 0.7] * 20)["ece"]
    assert calibration_error == pytest.approx(0.25)
    assert math.isnan(calibration_error.low)
    assert "calibrated" in calibration_error.note
    assert 0 < calibration_error.parts["if_calibrated"] < 0.15


# -- averages --------------------------------------------------------------------------------------


def test_class_without_a_value_leaves_its_macro_undefined_and_the_defined_ones_are_shown() -> None:
    evaluation = evaluate_counts(matrix=[[4, 1, 0], [2, 5, 0], [3, 3, 0]], labels=["a", "b", "c"])
    macro = evaluation["precision.macro"]
    assert math.isnan(macro)
    assert "'c'" in macro.undefined
    assert evaluation["precision.macro_defined"] == pytest.approx((4 / 9 + 5 / 9) / 2)
    assert "recall.macro_defined" not in evaluation


def test_no_class_with_a_value_has_no_average_of_the_defined_ones() -> None:
    evaluation = evaluate_counts(matrix=[[0, 0, 0]] * 3)
    assert "recall.macro_defined" not in evaluation
    assert "no rows" in evaluation["recall.macro"].undefined


def test_weighted_average_leaves_out_classes_without_rows() -> None:
    evaluation = evaluate_counts(matrix=[[4, 1, 0], [2, 5, 1], [0, 0, 0]])
    assert math.isnan(evaluation["recall.macro"])
    assert evaluation["recall.weighted"] == pytest.approx(9 / 13)


def test_ranking_averages_of_probabilities() -> None:
    truth = ["a", "b", "c", "a", "b", "c"]
    table = [
        [0.7, 0.2, 0.1],
        [0.3, 0.4, 0.3],
        [0.4, 0.1, 0.5],
        [0.2, 0.5, 0.3],
        [0.1, 0.8, 0.1],
        [0.3, 0.3, 0.4],
    ]
    evaluation = evaluate(truth, y_proba=table)
    each = [float(evaluation[f"roc_auc.{label}"]) for label in "abc"]
    assert evaluation["roc_auc.macro"] == pytest.approx(sum(each) / 3)
    assert evaluation["roc_auc.weighted"] == pytest.approx(sum(each) / 3)
    assert "roc_auc.micro" not in evaluation
    for name in ("roc_auc.macro", "roc_auc.weighted", "roc_auc_ovo", "average_precision.macro"):
        estimate = evaluation[name]
        assert (estimate.method, estimate.note) == ("delta", None)
        assert 0 < estimate.low < estimate < estimate.high < 1


def test_ranking_average_without_a_class_is_undefined() -> None:
    table = {"a": [0.5, 0.2, 0.1], "b": [0.3, 0.5, 0.8], "c": [0.2, 0.3, 0.1]}
    evaluation = evaluate(["a", "b", "b"], y_proba=table)
    assert "class 'c' has no value" in evaluation["roc_auc.macro"].undefined
    assert not math.isnan(evaluation["roc_auc.weighted"])
    assert "a class has no rows" in evaluation["roc_auc_ovo"].undefined


# -- base rates ------------------------------------------------------------------------------------


def precision_at(rate: float) -> float:
    tpr, fpr = 6635 / 6959, 167 / 7910
    return rate * tpr / (rate * tpr + (1 - rate) * fpr)


def test_precision_and_false_alarm_rate_are_given_at_four_base_rates() -> None:
    rates = {entry.base_rate for entry in FOREST.entries if entry.base_rate is not None}
    assert rates == {0.1, 0.01, 0.001, 0.0001}
    for rate in rates:
        estimates = FOREST.at(rate)
        assert set(estimates) == {"precision", "false_discovery_rate"}
        assert estimates["precision"] == pytest.approx(precision_at(rate), rel=1e-12)
        assert estimates["far"] == pytest.approx(1 - precision_at(rate), rel=1e-9)
        assert estimates["precision"].low < estimates["precision"] < estimates["precision"].high


def test_base_rates_that_are_given_take_the_place_of_the_four() -> None:
    evaluation = evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, base_rate=[0.05, 0.002])
    assert {e.base_rate for e in evaluation.entries} == {None, 0.05, 0.002}
    assert evaluation.at(0.002)["precision"] == pytest.approx(precision_at(0.002))
    assert {"f1", "accuracy", "mcc", "alert_rate", "npv"} <= {
        alias for name in evaluation.at(0.05) for alias in (name, *find(name).aliases)
    }


def test_one_base_rate_may_be_a_number() -> None:
    evaluation = evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, base_rate=0.05)
    assert {e.base_rate for e in evaluation.entries} == {None, 0.05}


def test_rate_that_was_not_asked_for_is_computed_when_it_is() -> None:
    assert FOREST.at(0.3)["precision"] == pytest.approx(precision_at(0.3))
    assert "precision" in repr(FOREST.at(0.3))
    assert len(FOREST.at(0.1)) == 2


def test_measures_at_a_base_rate_are_found_by_alias_and_others_are_refused() -> None:
    assert FOREST.at(0.1)["ppv"] == FOREST.at(0.1)["precision"]
    with pytest.raises(UnknownMeasure, match="'recall' is not here; there are precision"):
        FOREST.at(0.1)["recall"]


def test_prevalence_of_the_test_set_gives_back_its_own_values() -> None:
    estimates = FOREST.at(6959 / 14869)
    for name in ("precision", "f1", "accuracy", "mcc", "alert_rate", "npv"):
        assert estimates[name] == pytest.approx(float(FOREST[name]), rel=1e-12)


def test_base_rate_measures_name_the_positive_where_they_are_one_sided() -> None:
    evaluation = evaluate_counts(
        tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"], base_rate=0.05
    )
    labels = {e.measure: e.label for e in evaluation.entries if e.base_rate}
    assert labels["precision"] == "attack"
    assert labels["accuracy"] is None


@pytest.mark.parametrize("rate", [0, 1, -0.1, 2])
def test_base_rate_lies_between_zero_and_one(rate: float) -> None:
    with pytest.raises(AssayError, match="a base rate is a share between 0 and 1"):
        evaluate_counts(tp=1, fp=1, fn=1, tn=1, base_rate=rate)


def test_many_classes_have_no_base_rate() -> None:
    with pytest.raises(MethodError, match="one positive label"):
        evaluate_counts(matrix=[[1, 2, 3]] * 3, base_rate=0.1)
    with pytest.raises(MethodError, match="one positive label"):
        DARKNET.at(0.1)


# -- slices ----------------------------------------------------------------------------------------


def sliced(**options):
    truth = ["attack", "normal", "attack", "normal", "attack", "normal"]
    return evaluate(
        truth,
        y_pred=["attack", "normal", "normal", "attack", "attack", "normal"],
        slices={"os": ["win", "win", "win", "mac", "mac", "mac"], "tls": [True, False] * 3},
        **options,
    )


def test_each_value_of_a_column_is_evaluated_alone() -> None:
    evaluation = sliced()
    assert evaluation.of_slice("os", "win")["recall"] == 0.5
    assert evaluation.of_slice("os", "mac")["detection_rate"] == 1.0
    assert evaluation.of_slice("os", "mac")["precision"] == 0.5
    assert set(evaluation.of_slice("os", "win")) == {m.name for m in COUNTED}


def test_slice_is_found_by_the_value_as_it_was_given() -> None:
    assert sliced().of_slice("tls", True)["recall"] == sliced().of_slice("tls", "true")["recall"]


def test_slices_are_counted_one_column_at_a_time() -> None:
    assert set(sliced().tally.slices) == {
        ("os", "mac"),
        ("os", "win"),
        ("tls", "false"),
        ("tls", "true"),
    }


def test_unknown_slice_names_those_that_are_there() -> None:
    with pytest.raises(AssayError, match=r"no slice os='bsd'; there are \['mac', 'win'\]"):
        sliced().of_slice("os", "bsd")
    with pytest.raises(AssayError, match=r"there are \[\]"):
        sliced().of_slice("country", "de")


def test_missing_value_of_a_slice_is_a_value() -> None:
    evaluation = evaluate([0, 1, 1], y_pred=[0, 1, 0], slices={"os": ["win", None, "win"]})
    assert evaluation.of_slice("os", "(missing)")["recall"] == 1.0


def test_slices_of_many_classes_have_the_measures_of_all_classes() -> None:
    evaluation = evaluate(
        ["a", "b", "c", "a"], y_pred=["a", "b", "a", "b"], slices={"os": ["w", "w", "m", "m"]}
    )
    assert evaluation.of_slice("os", "w")["accuracy"] == 1.0
    assert evaluation.of_slice("os", "m")["accuracy"] == 0.0
    assert "precision" not in evaluation.of_slice("os", "w")


def test_slices_beside_clusters_say_that_their_rows_are_taken_as_independent() -> None:
    evaluation = sliced(clusters=["x", "y", "z", "x", "y", "z"])
    assert "independent" in evaluation.of_slice("os", "win")["recall"].note
