"""Comparisons over the folds of a cross-validation."""

import json
import math

import numpy as np
import polars as pl
import pytest

from assay import compare_folds, five_by_two_f, friedman, holm, nadeau_bengio, nemenyi, paired_t
from assay.errors import InputError, LengthMismatch

SIZES = {"n_train": 800, "n_test": 200}


def table(models: int = 2, repeats: int = 3, folds: int = 5, seed: int = 1) -> dict[str, list]:
    generator = np.random.default_rng(seed)
    rows = [
        (f"m{model}", repeat, fold)
        for model in range(models)
        for repeat in range(1, repeats + 1)
        for fold in range(1, folds + 1)
    ]
    level = {f"m{model}": 0.9 + 0.01 * model for model in range(models)}
    return {
        "model": [model for model, _, _ in rows],
        "repeat": [repeat for _, repeat, _ in rows],
        "fold": [fold for _, _, fold in rows],
        **{name: [size] * len(rows) for name, size in SIZES.items()},
        "accuracy": [level[model] + generator.normal(0, 0.004) for model, _, _ in rows],
        "log_loss": [1 - level[model] + generator.normal(0, 0.004) for model, _, _ in rows],
    }


def values(columns: dict[str, list], measure: str, model: str) -> np.ndarray:
    kept = [v for v, m in zip(columns[measure], columns["model"], strict=True) if m == model]
    return np.array(kept)


def test_tests_are_those_of_the_values() -> None:
    columns = table()
    tests = {(t.test, t.measure): t for t in compare_folds(columns).tests}
    assert set(tests) == {
        (t, m) for t in ("paired_t", "nadeau_bengio") for m in ("accuracy", "log_loss")
    }
    for measure in ("accuracy", "log_loss"):
        a, b = (values(columns, measure, model) for model in ("m0", "m1"))
        assert tests["paired_t", measure].p == pytest.approx(paired_t(a, b).p)
        expected = nadeau_bengio(a, b, **SIZES)
        test = tests["nadeau_bengio", measure]
        assert (test.p, test.statistic) == pytest.approx((expected.p, expected.statistic))
        assert (test.table["mean_a"], test.table["variance_b"]) == pytest.approx(
            (a.mean(), b.var(ddof=1))
        )
        assert test.table["corrected_variance"] == pytest.approx(
            np.var(b - a, ddof=1) * (1 / 15 + 0.25)
        )


def test_five_repeats_of_two_folds_have_their_own_tests() -> None:
    columns = table(repeats=5, folds=2)
    comparison = compare_folds(columns)
    assert [t.test for t in comparison.tests[:4]] == [
        "paired_t",
        "nadeau_bengio",
        "5x2cv_t",
        "5x2cv_f",
    ]
    a, b = (values(columns, "accuracy", model).reshape(5, 2) for model in ("m0", "m1"))
    assert comparison.tests[3].p == pytest.approx(five_by_two_f(a, b).p)
    gap = comparison.difference("accuracy")
    assert gap.difference.method == "5x2cv_f"
    assert gap.p == comparison.tests[3].p
    assert (gap.difference.low > 0) == (gap.p < 0.05)
    assert any("5x2cv F test decides" in note for note in comparison.notes)


def test_ten_folds_that_are_no_five_by_two_do_not() -> None:
    for shape in ({"repeats": 1, "folds": 10}, {"repeats": 2, "folds": 5}):
        assert {t.test for t in compare_folds(table(**shape)).tests} == {
            "paired_t",
            "nadeau_bengio",
        }


def test_three_models_are_ranked_over_folds_and_less_loss_ranks_higher() -> None:
    columns = table(models=3)
    comparison = compare_folds(columns)
    for measure, sign in (("accuracy", 1), ("log_loss", -1)):
        grid = sign * np.stack([values(columns, measure, f"m{i}") for i in range(3)], axis=1)
        tests = [t for t in comparison.tests if t.measure == measure]
        assert [t.p for t in tests if t.test == "friedman"] == pytest.approx([friedman(grid).p])
        ranked = [t for t in tests if t.test == "nemenyi"]
        assert [t.p for t in ranked] == pytest.approx([t.p for t in nemenyi(grid)])
        assert [t.p_adjusted for t in ranked] == [t.p for t in ranked]
    assert comparison.tests[-4].table["mean_ranks"]["m2"] < 1.5


def test_holm_is_over_the_pairs_of_one_measure_and_test() -> None:
    comparison = compare_folds(table(models=3))
    for measure in ("accuracy", "log_loss"):
        for test in ("paired_t", "nadeau_bengio"):
            same = [t for t in comparison.tests if (t.test, t.measure) == (test, measure)]
            assert [t.p_adjusted for t in same] == pytest.approx(holm([t.p for t in same]))
        gaps = [d for d in comparison.differences if d.measure == measure]
        assert [d.p_adjusted for d in gaps] == pytest.approx(holm([d.p for d in gaps]))


def test_verdict_is_by_nadeau_and_bengio() -> None:
    comparison = compare_folds(table())
    gap = comparison.difference("accuracy").difference
    assert gap.method == "nadeau_bengio"
    assert comparison.verdicts[0].outcome == "better"
    assert comparison.verdicts[0].text == (
        f"m1 is better than m0: accuracy is higher by {gap:.3f} [{gap.low:.3f}, {gap.high:.3f}]."
    )
    losses = {k: v for k, v in table().items() if k != "accuracy"}
    assert (
        compare_folds(losses).verdicts[0].text.startswith("m1 is better than m0: log_loss is lower")
    )


def test_ranking_decides_where_it_was_measured() -> None:
    columns = table()
    columns["roc_auc"] = columns["accuracy"]
    assert compare_folds(columns).verdicts[0].measure == "roc_auc"


def test_identical_models_are_not_told_apart() -> None:
    columns = table()
    columns["accuracy"] = [0.9 + 0.001 * fold for fold in columns["fold"]]
    comparison = compare_folds(columns)
    assert {t.p for t in comparison.tests if t.measure == "accuracy"} == {1.0}
    assert comparison.verdicts[0].outcome == "undecided"
    assert "no fold tells a difference" in comparison.verdicts[0].text


def test_constant_difference_has_no_spread_to_judge_it_by() -> None:
    columns = table()
    columns["accuracy"] = [0.5 if model == "m0" else 0.75 for model in columns["model"]]
    comparison = compare_folds(columns)
    assert math.isnan(comparison.tests[0].p)
    assert comparison.tests[0].p_adjusted is None
    assert "the spread of accuracy is not known" in comparison.verdicts[0].text
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_too_few_folds_say_what_would_be_enough() -> None:
    verdict = compare_folds(table(repeats=1, folds=3, seed=8), margin=1e-6).verdicts[0]
    assert verdict.outcome == "undecided"
    assert "folds like these would be enough" in verdict.text


def test_order_of_rows_does_not_matter_and_folds_may_have_names() -> None:
    columns = table(repeats=1, folds=11)
    columns["fold"] = [f"part {fold}" for fold in columns["fold"]]
    order = [0, *np.random.default_rng(0).permutation(range(1, 22)).tolist()]
    turned = {name: [column[i] for i in order] for name, column in columns.items()}
    one, other = compare_folds(columns), compare_folds(turned)
    assert one.to_dict() == other.to_dict()


def test_columns_may_be_of_any_kind() -> None:
    columns = table()
    text = {name: [str(value) for value in column] for name, column in columns.items()}
    expected = compare_folds(columns).to_dict()
    assert compare_folds(pl.DataFrame(columns)).to_dict() == expected
    assert compare_folds(text).to_dict() == expected


def test_estimates_are_means_with_the_corrected_interval() -> None:
    columns = table()
    accuracy = compare_folds(columns).estimates["m1"]["accuracy"]
    mine = values(columns, "accuracy", "m1")
    assert accuracy == pytest.approx(mine.mean())
    plain = paired_t(np.zeros(15), mine).effect
    ratio = (accuracy.high - accuracy.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(math.sqrt(1 + 15 / 4))


def test_the_interval_of_a_mean_stays_in_the_range_of_its_measure() -> None:
    columns = table(repeats=1, folds=4)
    columns["precision.normal"] = [0.99, 0.3, 0.98, 0.99] * 2
    columns["my_cost"] = [0.99, 0.3, 0.98, 0.99] * 2
    estimates = compare_folds(columns).estimates["m0"]
    assert estimates["precision.normal"].high == 1
    assert estimates["my_cost"].high > 1


def test_measure_without_a_value_is_left_out_and_said() -> None:
    columns = table()
    columns["log_loss"][3] = None
    comparison = compare_folds(columns)
    assert {d.measure for d in comparison.differences} == {"accuracy"}
    assert (
        "log_loss has no value for model 'm0', repeat 1, fold 4, so it is not compared"
        in comparison.notes
    )


def test_unknown_measure_is_taken_as_better_when_higher() -> None:
    columns = table()
    columns["my_own"] = columns.pop("accuracy")
    comparison = compare_folds({k: v for k, v in columns.items() if k != "log_loss"})
    assert comparison.verdicts[0].outcome == "better"
    assert comparison.best("my_own") == "m1"
    assert "my_own is not in the catalogue; higher is taken as better" in comparison.notes


def test_measure_is_found_by_its_other_names() -> None:
    columns = table()
    columns["detection_rate"] = columns["accuracy"]
    assert compare_folds(columns).difference("recall").measure == "detection_rate"


def test_folds_have_no_rows() -> None:
    with pytest.raises(InputError, match="folds has no rows"):
        compare_folds(table()).flipped()


# -- what is refused -------------------------------------------------------------------------------


def without(columns: dict[str, list], row: int) -> dict[str, list]:
    return {name: column[:row] + column[row + 1 :] for name, column in columns.items()}


def test_missing_fold_is_named() -> None:
    with pytest.raises(InputError, match="model 'm1', repeat 2, fold 3 is missing"):
        compare_folds(without(table(), 22))


def test_fold_that_is_there_twice_is_named() -> None:
    columns = table()
    columns["fold"][1] = 1
    with pytest.raises(
        InputError, match="model 'm0', repeat 1, fold 1 is there twice, in rows 1 and 2"
    ):
        compare_folds(columns)


def test_folds_of_another_size_are_refused() -> None:
    columns = table()
    columns["n_test"][20] = 100
    with pytest.raises(InputError, match="n_test is 100 for model 'm1', repeat 2, fold 1 and 200"):
        compare_folds(columns)
    columns["n_test"][20] = 0
    with pytest.raises(InputError, match="n_test must be above 0; found 0"):
        compare_folds(columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_train": None}, "there is no n_train among model"),
        ({"accuracy": None, "log_loss": None}, "there is no measure"),
        ({"accuracy": ["good"] * 30}, "column accuracy must hold numbers; found 'good' in row 1"),
        ({"accuracy": [math.nan] * 30, "log_loss": None}, "no measure has a value in every fold"),
        (
            {"model": ["m0"] * 30, "fold": list(range(30))},
            "two models or more; column model holds m0",
        ),
    ],
)
def test_unusable_table_is_refused(change: dict, message: str) -> None:
    columns = {name: column for name, column in (table() | change).items() if column is not None}
    with pytest.raises(InputError, match=message):
        compare_folds(columns)


def test_one_fold_is_refused() -> None:
    with pytest.raises(InputError, match="one fold tells nothing"):
        compare_folds(table(repeats=1, folds=1))


def test_columns_of_unlike_length_are_refused() -> None:
    with pytest.raises(LengthMismatch, match="one length"):
        compare_folds(table() | {"accuracy": [1.0]})
