"""Is B really better than A?

The printed comparisons are kept in ``golden``. After a wanted change, renew them with

    RENEW_GOLDEN=1 python -m pytest tests/decisions
"""

import json
import math
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay import Comparison, compare, delong_test, evaluate, holm, mcnemar
from assay.decisions.compare.verdicts import Question
from assay.errors import InputError, LabelError, LengthMismatch, MethodError, ScoreError
from assay.measures import CATALOGUE

GOLDEN = Path(__file__).parent / "golden"
COUNTED = [measure.name for measure in CATALOGUE if measure.formula is not None]
SCORED = ["roc_auc", "partial_auc", "average_precision", "log_loss", "brier"]
DIFFERENCE_KEYS = [
    "measure",
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p",
    "p_adjusted",
    "method",
]
TEST_KEYS = [
    "test",
    "a",
    "b",
    "on",
    "statistic",
    "df",
    "p",
    "p_adjusted",
    "method",
    "table",
]


def rows(size: int = 240) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and the scores of a poor, a fair and a good model."""
    generator = np.random.default_rng(11)
    truth = np.where(np.arange(size) % 3 == 0, "attack", "normal")
    signal = (truth == "attack") * 0.3 + generator.random(size) * 0.4 + 0.1
    scores = {
        name: np.round(np.clip(signal + generator.normal(0, noise, size), 0.01, 0.99), 3)
        for name, noise in (("poor", 0.4), ("fair", 0.15), ("good", 0.03))
    }
    return truth, scores


def decided() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    truth, scores = rows()
    return truth, {
        name: np.where(score >= 0.5, "attack", "normal") for name, score in scores.items()
    }


def two(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: columns[name] for name in ("poor", "good")}


@cache
def by_scores() -> Comparison:
    truth, scores = rows()
    return compare(truth, scores=two(scores))


@cache
def by_decisions() -> Comparison:
    truth, decisions = decided()
    return compare(truth, decisions=two(decisions))


@cache
def of_three() -> Comparison:
    truth, scores = rows()
    return compare(truth, scores=scores)


@cache
def of_classes() -> Comparison:
    generator = np.random.default_rng(2)
    truth = np.array(["dos", "normal", "scan"] * 60)
    said = {}
    for name, share in (("poor", 0.6), ("good", 0.9)):
        other = generator.choice(["dos", "normal", "scan"], 180)
        said[name] = np.where(generator.random(180) < share, truth, other)
    return compare(truth, decisions=said)


ALL = {
    "scores": by_scores,
    "decisions": by_decisions,
    "three": of_three,
    "classes": of_classes,
}


@pytest.fixture(params=ALL)
def comparison(request: pytest.FixtureRequest) -> Comparison:
    return ALL[request.param]()


# -- differences -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*COUNTED, *SCORED])
def test_difference_is_that_of_the_two_evaluations(name: str) -> None:
    difference = by_scores().difference(name)
    poor, good = (evaluated(model)[name] for model in ("poor", "good"))
    assert (difference.value_a, difference.value_b) == pytest.approx((float(poor), float(good)))
    assert difference.difference == pytest.approx(float(good) - float(poor))
    assert difference.difference.low <= difference.difference <= difference.difference.high


@cache
def evaluated(model: str):
    truth, scores = rows()
    return evaluate(truth, y_score=scores[model])


def test_decisions_have_the_same_differences_as_scores_at_their_threshold() -> None:
    for name in COUNTED:
        assert by_decisions().difference(name).to_dict() == {
            **by_scores().difference(name).to_dict(),
            "p_adjusted": by_decisions().difference(name).p_adjusted,
        }


def test_decisions_alone_have_no_difference_of_scores() -> None:
    assert {difference.measure for difference in by_decisions().differences} == set(COUNTED)
    with pytest.raises(InputError, match="no difference of 'roc_auc' between 'poor' and 'good'"):
        by_decisions().difference("roc_auc")


def test_difference_is_found_by_an_alias() -> None:
    assert by_scores().difference("auc") == by_scores().difference("roc_auc")
    assert by_scores().difference("detection_rate") == by_scores().difference("recall")


def test_measures_of_many_classes() -> None:
    measures = {difference.measure for difference in of_classes().differences}
    assert {"accuracy", "kappa", "mcc", "precision.macro", "f1.macro"} <= measures
    assert "precision" not in measures


def test_scores_that_are_no_probabilities_have_no_losses() -> None:
    truth, scores = rows()
    compared_models = compare(
        truth, scores={name: 10 * column for name, column in two(scores).items()}, threshold=5
    )
    measures = {difference.measure for difference in compared_models.differences}
    assert "roc_auc" in measures
    assert not {"log_loss", "brier"} & measures


def test_area_is_compared_by_delong() -> None:
    truth, scores = rows()
    expected = delong_test(truth, scores["poor"], scores["good"])
    difference = by_scores().difference("roc_auc")
    assert difference.p == pytest.approx(expected.p)
    assert (difference.difference.low, difference.difference.high) == pytest.approx(
        (expected.effect.low, expected.effect.high)
    )
    assert difference.difference.method == "delong"


def test_counts_are_compared_by_the_paired_bootstrap_and_scores_by_influence() -> None:
    methods = {d.measure: d.difference.method for d in by_scores().differences}
    assert {methods[name] for name in COUNTED} == {"bootstrap"}
    assert {methods[name] for name in SCORED[1:]} == {"delta"}


def test_everything_can_be_resampled() -> None:
    truth, scores = rows()
    compared_models = compare(truth, scores=two(scores), interval="bootstrap", resamples=100)
    assert {difference.difference.method for difference in compared_models.differences} == {
        "bootstrap"
    }
    plain = by_scores().difference("roc_auc").difference
    drawn = compared_models.difference("roc_auc").difference
    assert drawn == pytest.approx(float(plain))
    assert drawn.low == pytest.approx(plain.low, abs=0.05)


@pytest.mark.slow
def test_of_many_models_a_clear_difference_is_still_told() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.5
    said = {
        f"m{i}": np.where(rng.random(400) < (0.9 if i else 0.5), truth, ~truth).astype(int)
        for i in range(9)
    }
    # p of 1,000 resamples is 0.002 at the least, and Holm multiplies it by 36 pairs.
    compared_models = compare(truth.astype(int), decisions=said)
    assert {verdict.outcome for verdict in compared_models.verdicts if verdict.a == "m0"} == {
        "better"
    }
    few = compare(truth.astype(int), decisions=said, resamples=1000)
    assert any("1,000 resamples are too few" in note for note in few.notes)
    assert not any("too few" in note for note in compared_models.notes)


def test_seed_and_resamples_are_taken() -> None:
    truth, decisions = decided()
    one, again, other = (
        compare(truth, decisions=two(decisions), resamples=100, seed=seed) for seed in (1, 1, 2)
    )
    assert one.to_dict() == again.to_dict()
    assert one.to_dict() != other.to_dict()
    assert by_decisions().difference("mcc").p != one.difference("mcc").p


def test_level_widens_every_interval() -> None:
    truth, scores = rows()
    narrow, wide = (compare(truth, scores=two(scores), level=level) for level in (0.8, 0.99))
    for name in (*COUNTED, *SCORED):
        a, b = (each.difference(name).difference for each in (narrow, wide))
        assert b.low <= a.low
        assert a.high <= b.high
        assert (a.level, b.level) == (0.8, 0.99)


def test_counts_are_repetitions() -> None:
    truth, decisions = decided()
    counts = np.arange(240) % 3 + 1
    counted = compare(truth, decisions=two(decisions), counts=counts)
    repeated = compare(
        np.repeat(truth, counts),
        decisions={name: np.repeat(said, counts) for name, said in two(decisions).items()},
    )
    assert counted.to_dict() == repeated.to_dict()


def test_threshold_may_be_one_a_model() -> None:
    truth, scores = rows()
    moved = {"poor": scores["poor"], "good": scores["good"] * 10}
    compared_models = compare(truth, scores=moved, threshold={"poor": 0.5, "good": 5})
    assert compared_models.difference("recall").value_b == by_scores().difference("recall").value_b


def test_columns_may_be_of_any_kind() -> None:
    truth, scores = rows()
    compared_models = compare(
        pl.Series(truth.tolist()), scores={name: list(s) for name, s in two(scores).items()}
    )
    assert compared_models.to_dict() == by_scores().to_dict()


def test_swapping_the_models_turns_every_difference() -> None:
    truth, scores = rows()
    turned = compare(truth, scores={"good": scores["good"], "poor": scores["poor"]})
    for name in (*COUNTED, *SCORED):
        one, other = by_scores().difference(name), turned.difference(name)
        assert one.difference == pytest.approx(-float(other.difference))
    assert turned.difference("roc_auc").p == pytest.approx(by_scores().difference("roc_auc").p)
    assert turned.tests[0].p == by_scores().tests[0].p


# -- tests -----------------------------------------------------------------------------------------


def test_mcnemar_counts_who_is_right_on_all_rows_on_positives_and_on_negatives() -> None:
    truth, decisions = decided()
    for side, kept in (
        ("all", truth == truth),  # noqa: PLR0124 - every row
        ("positives", truth == "attack"),
        ("negatives", truth == "normal"),
    ):
        right = {name: (said == truth)[kept] for name, said in decisions.items()}
        only_a = int((right["poor"] & ~right["good"]).sum())
        only_b = int((~right["poor"] & right["good"]).sum())
        expected = mcnemar(only_a, only_b)
        (test,) = [t for t in by_decisions().tests if (t.test, t.on) == ("mcnemar", side)]
        assert (test.table["only_a"], test.table["only_b"]) == (only_a, only_b)
        assert test.p == expected.p
        assert test.statistic == expected.statistic


def test_delong_stands_among_the_tests_of_scores() -> None:
    truth, scores = rows()
    (test,) = [t for t in by_scores().tests if t.test == "delong"]
    assert test.p == pytest.approx(delong_test(truth, scores["poor"], scores["good"]).p)
    assert not [t for t in by_decisions().tests if t.test == "delong"]


def test_many_classes_are_tested_on_all_rows_only() -> None:
    assert [(t.test, t.on) for t in of_classes().tests] == [("mcnemar", "all")]


def test_three_models_are_compared_by_pairs_and_all_together() -> None:
    compared_models = of_three()
    pairs = [("poor", "fair"), ("poor", "good"), ("fair", "good")]
    assert [(a, b) for a, b, _ in compared_models.verdicts] == pairs
    assert {(d.a, d.b) for d in compared_models.differences} == set(pairs)
    kinds = [t.test for t in compared_models.tests]
    assert kinds.count("mcnemar") == 9
    assert kinds.count("delong") == 3
    assert kinds.count("cochran_q") == kinds.count("friedman") == 1
    assert kinds.count("nemenyi") == 3
    truth, decisions = decided()
    right = {name: int((said == truth).sum()) for name, said in decisions.items()}
    assert compared_models.tests[-1].table["right"] == right
    assert compared_models.difference("recall", "fair", "good").a == "fair"


def test_holm_adjusts_differences_and_tests_each_among_themselves(comparison: Comparison) -> None:
    by_measure: dict[str, list[Any]] = {}
    for difference in comparison.differences:
        by_measure.setdefault(difference.measure, []).append(difference)
    for results in (*by_measure.values(), comparison.tests):
        known = [test for test in results if not math.isnan(test.p)]
        assert [test.p_adjusted for test in known] == holm([test.p for test in known])
        for each in known:
            assert each.p_adjusted >= each.p


# -- the document ----------------------------------------------------------------------------------


def test_document_is_json_without_nan(comparison: Comparison) -> None:
    document = comparison.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_keys_of_the_contract_are_all_there_and_in_their_order(comparison: Comparison) -> None:
    document = comparison.to_dict()
    keys = ["models", "differences", "tests", "verdicts"]
    assert [key for key in document if key in keys] == keys
    assert document["schema"] == "assay.compare/1"
    for difference in document["differences"]:
        assert [key for key in difference if key in DIFFERENCE_KEYS] == DIFFERENCE_KEYS
    for test in document["tests"]:
        assert [key for key in test if key in TEST_KEYS] == TEST_KEYS
    for judgement in document["verdicts"]:
        assert list(judgement)[:4] == ["a", "b", "text", "outcome"]


def test_every_test_names_its_pair_except_that_of_all() -> None:
    for test in of_three().to_dict()["tests"]:
        if test["test"] in ("cochran_q", "friedman"):
            assert (test["a"], test["b"]) == (None, None)
        else:
            assert {test["a"], test["b"]} < {"poor", "fair", "good"}


def test_undefined_difference_is_null() -> None:
    compared_models = compare(
        ["attack", "normal"] * 10,
        decisions={"never": ["normal"] * 20, "right": ["attack", "normal"] * 10},
    )
    precision = compared_models.difference("precision").to_dict()
    assert precision["value_a"] is None
    assert precision["difference"] is None
    assert precision["p"] is None
    assert precision["p_adjusted"] is None
    json.dumps(compared_models.to_dict(), allow_nan=False)


@pytest.mark.parametrize("truth", [[0] * 20 + [1], [0] * 21, [1] * 21])
def test_few_or_no_positives_are_still_json(truth) -> None:
    generator = np.random.default_rng(0)
    scores = {"a": generator.random(21), "b": generator.random(21)}
    compared_models = compare(truth, scores=scores, labels=[0, 1])
    json.dumps(compared_models.to_dict(), allow_nan=False)
    assert "nan" not in verdict(compared_models)
    assert ("roc_auc" in {d.measure for d in compared_models.differences}) == (0 < sum(truth) < 21)


@pytest.mark.parametrize("name", ALL)
def test_text_is_the_golden_one(name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    shown = f"{ALL[name]()!r}\n"
    if os.environ.get("RENEW_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_every_golden_text_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(ALL)


def test_notes_say_what_was_inferred() -> None:
    assert any("'attack' was taken as the positive" in note for note in by_scores().notes)


# -- verdicts --------------------------------------------------------------------------------------


def verdict(compared_models: Comparison) -> str:
    return compared_models.verdicts[0].text


def test_better() -> None:
    gap = by_scores().difference("roc_auc").difference
    shown = f"{gap:.3f} [{gap.low:.3f}, {gap.high:.3f}]"
    assert verdict(by_scores()) == f"good is better than poor: roc_auc is higher by {shown}."


def test_worse() -> None:
    truth, decisions = decided()
    compared_models = compare(
        truth, decisions={"good": decisions["good"], "poor": decisions["poor"]}
    )
    gap = compared_models.difference("accuracy").difference
    assert gap.high < 0
    shown = f"{-gap:.3f} [{-gap.high:.3f}, {-gap.low:.3f}]"
    assert verdict(compared_models) == f"poor is worse than good: accuracy is lower by {shown}."


def test_equivalent() -> None:
    truth, scores = rows()
    nudged = scores["good"] + np.where(np.arange(240) % 40 == 0, 0.001, 0)
    compared_models = compare(truth, scores={"old": scores["good"], "new": nudged}, margin=0.02)
    assert (
        verdict(compared_models) == "old and new are equivalent: roc_auc differs by less than 0.02."
    )


def test_not_enough() -> None:
    truth, scores = rows(24)
    compared_models = compare(truth, scores={"fair": scores["fair"], "good": scores["good"]})
    gap = compared_models.difference("roc_auc").difference
    assert gap.low < -0.01 < gap.high
    said = compared_models.verdicts[0]
    assert said.text == (
        "Not enough data to tell fair from good: the difference in roc_auc lies between "
        f"{gap.low:+.3f} and {gap.high:+.3f}. About {said.enough} rows like these would be enough "
        f"to tell them apart, if the difference stays at {gap:+.3f}."
    )


def test_margin_decides_what_is_equivalent() -> None:
    truth, scores = rows()
    nudged = scores["good"] + np.where(np.arange(240) % 40 == 0, 0.001, 0)
    models = {"old": scores["good"], "new": nudged}
    assert "equivalent" in verdict(compare(truth, scores=models, margin=0.5))
    assert "Not enough data" in verdict(compare(truth, scores=models, margin=1e-9))


def test_accuracy_is_judged_where_there_are_only_decisions() -> None:
    assert verdict(by_decisions()).startswith("good is better than poor: accuracy is higher by")


def test_models_that_differ_without_spread_are_not_called_better() -> None:
    truth = [0, 1] * 30
    compared_models = compare(truth, scores={"perfect": [0.0, 1.0] * 30, "constant": [0.5] * 60})
    assert "nan" not in verdict(compared_models)
    assert "is better" not in verdict(compared_models)


# -- identical models ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["scores", "decisions"])
def test_identical_models_have_p_one_everywhere(kind: str) -> None:
    truth, columns = rows() if kind == "scores" else decided()
    compared_models = compare(truth, **{kind: {"old": columns["fair"], "new": columns["fair"]}})
    for difference in compared_models.differences:
        assert difference.p == 1.0
        assert difference.p_adjusted == 1.0
        assert difference.difference == 0.0
        assert (difference.difference.low, difference.difference.high) == (0.0, 0.0)
    for test in compared_models.tests:
        assert test.p == 1.0
        assert test.p_adjusted == 1.0
    assert "no row tells a difference" in verdict(compared_models)


def test_identical_models_in_clusters_have_p_one_everywhere() -> None:
    truth, scores = rows()
    models = {"old": scores["fair"], "new": scores["fair"]}
    compared_models = compare(truth, scores=models, clusters=np.arange(240) // 8)
    assert {difference.p for difference in compared_models.differences} == {1.0}


# -- how far it is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_progress_is_told_of_resampled_scores(classes: int) -> None:
    truth, scores = rows(90)
    said: dict[str, Any] = {"scores": scores}
    if classes > 2:
        tables = {name: np.stack([s, 1 - s, 0 * s], axis=1) for name, s in scores.items()}
        truth, said = np.arange(90) % 3, {"probabilities": tables, "clusters": np.arange(90) % 20}
    seen: list[float] = []
    compare(
        truth,
        **said,
        interval="bootstrap",
        resamples=20,
        progress=lambda done, total: seen.append(done / total),
    )
    assert seen == sorted(seen)
    assert seen[0] == 0
    # Three pairs, resample by resample, and three models, measure by measure.
    assert 1 - 1 / 6 < seen[-1] < 1
    assert len({round(share, 6) for share in seen}) > 3 * 20


def test_resamples_are_told_of_where_there_are_some() -> None:
    truth, scores = rows()
    seen: list[int] = []
    compare(truth, scores=two(scores), resamples=20, progress=lambda done, _: seen.append(done))
    assert not seen


# -- clusters --------------------------------------------------------------------------------------


def test_clusters_take_the_place_of_rows() -> None:
    truth, scores = rows()
    compared_models = compare(truth, scores=two(scores), clusters=np.arange(240) // 8)
    methods = {d.measure: d.difference.method for d in compared_models.differences}
    assert methods["roc_auc"] == "cluster delta"
    assert methods["accuracy"].endswith("bootstrap")
    assert set(methods) >= {*COUNTED, *SCORED}
    for name in methods:
        assert compared_models.difference(name).difference == pytest.approx(
            float(by_scores().difference(name).difference)
        )


def test_tests_that_take_rows_as_independent_are_left_out_and_it_is_said() -> None:
    truth, scores = rows()
    compared_models = compare(truth, scores=scores, clusters=np.arange(240) // 8)
    assert compared_models.tests == ()
    assert any("clusters" in note and "left out" in note for note in compared_models.notes)


def test_repeating_each_row_within_its_cluster_does_not_narrow_a_difference() -> None:
    truth, scores = rows(90)
    cluster = np.arange(90)

    def repeated(times: int) -> Comparison:
        return compare(
            np.repeat(truth, times),
            scores={name: np.repeat(s, times) for name, s in two(scores).items()},
            clusters=np.repeat(cluster, times),
        )

    for name in ("accuracy", "mcc", "roc_auc", "log_loss"):
        once, tenfold = (repeated(times).difference(name).difference for times in (1, 10))
        assert (tenfold.low, tenfold.high) == pytest.approx((once.low, once.high))


def test_clusters_of_decisions_of_many_classes() -> None:
    truth = np.array(["a", "b", "c"] * 30)
    said = {"one": truth, "other": np.where(np.arange(90) % 9 == 1, "a", truth)}
    compared_models = compare(truth, decisions=said, clusters=np.arange(90) // 5)
    assert compared_models.difference("accuracy").difference == pytest.approx(-1 / 9)


@pytest.mark.parametrize("options", [{}, {"interval": "bootstrap", "resamples": 20}])
def test_a_class_of_one_cluster_leaves_its_averages_without_interval(options: dict) -> None:
    generator = np.random.default_rng(4)
    truth = np.arange(90) % 3
    tables = {name: generator.dirichlet(np.ones(3), 90) for name in ("old", "new")}
    hosts = np.where(truth == 2, 99, np.arange(90) % 10)
    comparison = compare(truth, probabilities=tables, clusters=hosts, **options)
    differences = {each.measure: each for each in comparison.differences}
    for key in ("roc_auc.macro", "roc_auc.weighted", "roc_auc_ovo", "recall.macro", "g_mean"):
        each = differences[key]
        assert each.difference == each.value_b - each.value_a
        assert math.isnan(each.difference.low)
        assert math.isnan(each.p)
        assert "all rows of a class are of one cluster" in each.difference.note
    for key in ("accuracy", "recall.weighted", "log_loss", "brier"):
        assert differences[key].difference.low < differences[key].difference.high
    assert comparison.verdicts[0].outcome == "undecided"
    assert "(all rows of a class are of one cluster" in comparison.verdicts[0].text


def test_one_cluster_is_refused() -> None:
    truth, scores = rows()
    with pytest.raises(MethodError, match="one cluster"):
        compare(truth, scores=two(scores), clusters=["host"] * 240)
    with pytest.raises(MethodError, match="all rows of a class are of one cluster"):
        compare(
            truth, scores=two(scores), clusters=np.where(truth == "attack", 99, np.arange(240) // 8)
        )


# -- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [("a", "b", "c", "d"), (0, 1, 2, 3)])
def test_label_that_only_one_model_decides_counts_as_a_class(labels) -> None:
    a, b, c, d = labels
    truth = [a, b, c] * 10
    compared_models = compare(truth, decisions={"one": truth, "other": [a, b, d] * 10})
    assert compared_models.difference("accuracy").difference == pytest.approx(-1 / 3)
    assert compared_models.tests[0].table["only_a"] == 10


def test_positive_and_negative_may_be_told() -> None:
    truth = [-1, 1] * 10
    said = {"one": truth, "other": [1] * 20}
    assert compare(truth, decisions=said, positive=1).difference("recall").value_b == 1.0
    assert compare(truth, decisions=said, negative=1).difference("recall").value_b == 0.0


# -- probabilities of several classes --------------------------------------------------------------

CLASSES = ("benign", "dos", "probe")
OF_CLASSES = [
    *("roc_auc.macro", "roc_auc.weighted", "roc_auc_ovo", "average_precision.macro"),
    *("average_precision.weighted", "log_loss", "brier"),
]


def class_rows(size: int = 300) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels of three classes, and the probabilities of a poor and a good model."""
    generator = np.random.default_rng(8)
    truth = generator.choice(3, size, p=(0.5, 0.3, 0.2))
    tables = {}
    for name, gap in (("poor", 0.8), ("good", 2.5)):
        evidence = generator.normal(size=(size, 3))
        evidence[np.arange(size), truth] += gap
        odds = np.exp(evidence)
        tables[name] = odds / odds.sum(axis=1, keepdims=True)
    return np.array(CLASSES)[truth], tables


def test_class_probabilities_are_compared_by_every_measure_of_them() -> None:
    truth, tables = class_rows()
    compared_models = compare(truth, probabilities=tables)
    for name in (*OF_CLASSES, "f1.weighted", "f1.micro", "precision.weighted", "recall.weighted"):
        each = [evaluate(truth, y_proba=table)[name] for table in tables.values()]
        difference = compared_models.difference(name)
        assert (difference.value_a, difference.value_b) == pytest.approx([float(e) for e in each])
        gap = difference.difference
        assert gap.low < gap < gap.high
        assert compared_models.estimates["poor"][name].low == each[0].low
    assert compared_models.verdicts[0].measure == "roc_auc.macro"
    assert verdict(compared_models).startswith(
        "good is better than poor: roc_auc.macro is higher by"
    )
    assert [test.test for test in compared_models.tests] == ["mcnemar"]


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [None, np.arange(300) % 60])
def test_influence_and_bootstrap_agree_on_class_probabilities(clusters: Any) -> None:
    """Both ends within a sixth of the width, by 300 resamples."""
    truth, tables = class_rows()
    given = {"probabilities": tables, "clusters": clusters, "resamples": 300}
    by_influence, drawn = (compare(truth, interval=i, **given) for i in (None, "bootstrap"))
    unit = "" if clusters is None else "cluster "
    for name in OF_CLASSES:
        one, other = (each.difference(name).difference for each in (by_influence, drawn))
        assert (one.method, other.method) == (f"{unit}delta", f"{unit}bootstrap")
        near = pytest.approx([one.low, one.high], abs=(one.high - one.low) / 6)
        assert [other.low, other.high] == near, name


def test_tables_may_name_their_columns_in_any_order() -> None:
    truth, tables = class_rows()
    array = compare(truth, probabilities=tables)
    turned = {"dos": 1, "probe": 2, "benign": 0}
    named = {label: tables["good"][:, i] for label, i in turned.items()}
    frame = pl.DataFrame({label: tables["poor"][:, i] for label, i in turned.items()})
    for given in ({"poor": tables["poor"], "good": named}, {"poor": frame, "good": named}):
        assert compare(truth, probabilities=given).to_dict() == array.to_dict()


def test_a_class_without_rows_leaves_the_weighted_average() -> None:
    truth, tables = class_rows()
    kept = truth != "probe"
    given = {name: table[kept] for name, table in tables.items()}
    compared_models = compare(truth[kept], probabilities=given, labels=CLASSES)
    assert math.isnan(compared_models.difference("roc_auc.macro").difference)
    assert math.isnan(compared_models.difference("roc_auc_ovo").difference)
    assert compared_models.difference("roc_auc.weighted").difference > 0
    json.dumps(compared_models.to_dict(), allow_nan=False)


def test_a_bad_table_of_probabilities_is_refused_with_its_model() -> None:
    truth, tables = class_rows()
    off = tables["good"] * 1.1
    with pytest.raises(ScoreError, match="model 'off': "):
        compare(truth, probabilities={"poor": tables["poor"], "off": off})
    with pytest.raises(ScoreError, match="model 'short': y_proba has 2 columns"):
        compare(truth, probabilities={"poor": tables["poor"], "short": off[:, :2]})


def test_a_threshold_says_nothing_of_several_classes() -> None:
    truth, tables = class_rows()
    for given in ({"threshold": 0.5}, {"at": "max-far=0.1"}):
        with pytest.raises(ScoreError, match="the largest probability decides"):
            compare(truth, probabilities=tables, **given)


def test_probabilities_of_two_classes_are_scores() -> None:
    truth, scores = rows()
    tables = {name: {"normal": 1 - s, "attack": s} for name, s in scores.items()}
    assert compare(truth, probabilities=tables).to_dict() == compare(truth, scores=scores).to_dict()


# -- what is refused -------------------------------------------------------------------------------


def test_scores_or_decisions_must_be_given_and_not_both() -> None:
    truth, scores = rows()
    for given in ({}, {"scores": scores, "decisions": scores}):
        with pytest.raises(InputError, match="give one of scores=, decisions= and probabilities="):
            compare(truth, **given)


def test_one_model_is_not_enough() -> None:
    truth, scores = rows()
    with pytest.raises(InputError, match="two models or more; found good"):
        compare(truth, scores={"good": scores["good"]})


def test_column_of_another_length_is_refused_with_its_model() -> None:
    truth, scores = rows()
    with pytest.raises(LengthMismatch, match="model 'short': y_score has 10 rows"):
        compare(truth, scores={"good": scores["good"], "short": scores["good"][:10]})


def test_labels_that_tell_no_positive_are_refused() -> None:
    with pytest.raises(LabelError, match="nothing tells"):
        compare([-1, 1], scores={"a": [0.1, 0.2], "b": [0.3, 0.4]})


def test_scores_outside_of_the_unit_interval_need_a_threshold() -> None:
    compared_models = compare([0, 1, 0, 1], scores={"a": [1, 2, 3, 4], "b": [1, 4, 3, 2]})
    measures = {difference.measure for difference in compared_models.differences}
    assert "roc_auc" in measures
    assert "recall" not in measures


@pytest.mark.parametrize("interval", ["wilson", "delta", "bca"])
def test_differences_are_resampled_by_the_bootstrap_alone(interval: str) -> None:
    truth, scores = rows()
    with pytest.raises(MethodError, match="bootstrap"):
        compare(truth, scores=two(scores), interval=interval)


@pytest.mark.parametrize(("option", "value"), [("level", 2), ("resamples", 1)])
def test_options_are_checked(option: str, value: float) -> None:
    truth, scores = rows()
    with pytest.raises(MethodError):
        compare(truth, scores=two(scores), **{option: value})


def test_difference_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="between 'good' and 'poor'"):
        by_scores().difference("accuracy", "good", "poor")


def test_comparison_is_frozen() -> None:
    with pytest.raises(AttributeError):
        by_scores().models = ()


def test_resamples_do_not_grow_with_the_level_without_end() -> None:
    asked = {level: Question.of(("a", "b"), level=level) for level in (0.95, 0.999, 0.99999)}
    assert {level: asked[level].method.resamples for level in asked} == {
        0.95: 1_000,
        0.999: 2_000,
        0.99999: 10_000,
    }
    chance = np.random.default_rng(3)
    truth = (chance.random(30) < 0.5).astype(int)
    scores = {name: truth + chance.normal(size=30) for name in ("old", "new")}
    few = compare(truth, scores=scores, positive=1, resamples=20)
    assert "20 resamples are too few to show a difference between two models: it takes 40" in (
        few.notes
    )
