"""Comparisons over several data sets: from folds, from predictions, from one file or several."""

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

from assay import compare_folds, evaluate, nadeau_bengio
from assay.errors import InputError, LabelError, MethodError
from assay.report import document_of, draw
from assay.report.document import schema_of

VALIDATOR = jsonschema.Draft202012Validator(schema_of("assay.compare/1"))
SHIFTS = {"tree": 0.0, "forest": 0.03, "svm": 0.01}


def folds(sets: int = 6, each: int = 5, models: Any = SHIFTS, seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    rows = [
        (model, f"set{d}", fold, 0.7 + 0.02 * d + models[model] + random.normal(0, 0.004))
        for model in models
        for d in range(1, sets + 1)
        for fold in range(1, each + 1)
    ]
    return pl.DataFrame(rows, schema=["model", "dataset", "fold", "accuracy"], orient="row")


def test_models_are_ranked_over_data_sets_and_never_over_their_folds() -> None:
    comparison = compare_folds(folds())
    assert comparison.ranking == ("forest", "svm", "tree")
    assert {t.test for t in comparison.tests} == {
        "friedman",
        "iman_davenport",
        "nemenyi",
        "mean_ranks",
    }
    assert all(t.table.get("rows", 6) == 6 for t in comparison.tests)
    within = {t.test for each in comparison.datasets for t in each.tests}
    assert within == {"paired_t", "nadeau_bengio"}
    assert [each.dataset for each in comparison.datasets] == [f"set{d}" for d in range(1, 7)]
    assert comparison.by_importance[0].text.startswith(
        "forest and svm can't be told apart in accuracy"
    )
    assert "forest is better than tree in accuracy: mean ranks 1.00 and 3.00" in {
        v.text.partition(" over")[0] for v in comparison.verdicts
    }


def test_folds_of_one_data_set_are_tested_as_folds_are() -> None:
    frame = folds()
    dataset = compare_folds(frame).datasets[2]
    alone = frame.filter(pl.col("dataset") == "set3")
    a, b = (alone.filter(pl.col("model") == m)["accuracy"].to_numpy() for m in ("tree", "svm"))
    gap = next(d for d in dataset.differences if (d.a, d.b) == ("tree", "svm"))
    # Without sizes, four rows train for one that tests.
    expected = nadeau_bengio(a, b, n_train=4, n_test=1)
    assert gap.p == pytest.approx(expected.p)
    assert dataset.estimates["svm"]["accuracy"] == pytest.approx(b.mean())
    one = compare_folds(alone.drop("dataset"))
    assert one.difference("accuracy", "tree", "svm").p == pytest.approx(expected.p)
    assert any("one row is taken to test for 4 that train" in note for note in one.notes)


def test_friedman_over_folds_has_its_caveat() -> None:
    alone = folds(sets=1).drop("dataset")
    comparison = compare_folds(alone)
    assert any("take the folds of one data set as independent" in note for note in comparison.notes)
    test = next(t for t in comparison.tests if t.test == "friedman")
    assert "which they are not" in test.sentence
    over = compare_folds(folds())
    assert not any("as independent" in note for note in over.notes)


def test_two_models_have_wilcoxons_test() -> None:
    comparison = compare_folds(folds(models={"old": 0.0, "new": 0.02}))
    assert [t.test for t in comparison.tests] == ["wilcoxon"]
    assert comparison.verdicts[0].outcome == "better"
    assert comparison.verdicts[0].text == (
        "new is better than old in accuracy: mean ranks 1.00 and 2.00 over 6 data sets, p = 0.031 "
        "by Wilcoxon."
    )
    few = compare_folds(folds(sets=4, models={"old": 0.0, "new": 0.02}))
    assert few.verdicts[0].outcome == "undecided"
    assert any("the smallest p there is 0.125" in note for note in few.notes)


def test_signed_ranks_decide_where_most_data_sets_say_the_other() -> None:
    # "old" is ahead on 26 of 50 data sets by little, "new" on 24 by much.
    gaps = [-0.0001 * i for i in range(1, 27)] + [0.004 * i for i in range(1, 25)]
    rows = [(f"set{i}", 0.5, 0.5 + gap) for i, gap in enumerate(gaps)]
    for measure, better in (("accuracy", "new"), ("log_loss", "old")):
        table = {
            "dataset": [name for name, *_ in rows] * 2,
            "model": ["old"] * 50 + ["new"] * 50,
            measure: [old for _, old, _ in rows] + [new for *_, new in rows],
        }
        comparison = compare_folds(table)
        assert comparison.tests[0].p < 0.01
        assert comparison.tests[0].sentence.endswith(f"{better} is better (p = 0.0051).")
        assert comparison.verdicts[0].text.startswith(f"{better} is better than ")
        assert "weighs how large the differences are" in comparison.verdicts[0].text


def test_what_is_practically_the_same_is_told_on_request() -> None:
    plain, asked = compare_folds(folds()), compare_folds(folds(), rope=0.05)
    assert plain.posteriors == ()
    assert "posteriors" not in plain.to_dict()
    assert {(p.a, p.b) for p in asked.posteriors} == {
        ("tree", "forest"),
        ("tree", "svm"),
        ("forest", "svm"),
    }
    assert all(p.equivalent > 0.9 for p in asked.posteriors)
    verdict = asked.verdict("forest", "svm")
    assert verdict.outcome == "equivalent"
    assert "practically the same (within 0.05)" in verdict.text
    assert compare_folds(folds(), rope=0.05).posteriors == asked.posteriors


def test_losses_rank_the_other_way() -> None:
    frame = folds().with_columns(log_loss=1 - pl.col("accuracy")).drop("accuracy")
    comparison = compare_folds(frame, rope=0.001)
    assert comparison.ranking == ("forest", "svm", "tree")
    assert comparison.verdict("tree", "forest").outcome == "better"
    chances = next(p for p in comparison.posteriors if (p.a, p.b) == ("tree", "forest"))
    assert chances.b_better > 0.9


def test_one_value_a_data_set_is_enough_for_ranks() -> None:
    frame = folds(each=1).drop("fold")
    comparison = compare_folds(frame)
    assert math.isnan(comparison.datasets[0].estimates["svm"]["accuracy"].low)
    assert comparison.datasets[0].tests == ()
    assert any("within data set 'set1' nothing is tested" in note for note in comparison.notes)
    text = draw(document_of(comparison), "terminal", width=100)
    assert "0.7" in text


def test_documents_keep_their_schema_and_come_back() -> None:
    from assay.report import Document

    document = document_of(compare_folds(folds(), rope=0.01))
    plain = json.loads(document.to_json())
    assert [e.message for e in VALIDATOR.iter_errors(plain)] == []
    assert {"datasets", "posteriors"} <= set(plain)
    assert Document.from_json(document.to_json()).to_json() == document.to_json()
    one = json.loads(document_of(compare_folds(folds(sets=1))).to_json())
    assert not {"datasets", "posteriors"} & set(one)


# -- where they come from --------------------------------------------------------------------------


def test_columns_are_recognised_by_their_usual_names() -> None:
    frame = folds().rename({"model": "Classifier", "dataset": "Data Set", "fold": "cv_fold"})
    comparison = compare_folds(frame)
    assert "the dataset is column 'Data Set', recognised by its name" in comparison.notes
    assert comparison.ranking == compare_folds(folds()).ranking
    both = folds().rename({"model": "classifier"}).with_columns(algorithm=pl.lit("x"))
    with pytest.raises(InputError, match="several columns may be the model: 'classifier', 'algo"):
        compare_folds(both)


def test_tables_of_scikit_learn_are_read() -> None:
    frame = folds().rename({"accuracy": "test_accuracy"})
    frame = frame.with_columns(fit_time=pl.lit(0.1), train_accuracy=pl.lit(1.0))
    comparison = compare_folds(frame)
    assert {d.measure for d in comparison.differences} == {"accuracy"}
    assert any(
        "left out, as no measures of held-out rows: fit_time, train_accuracy" in note
        for note in comparison.notes
    )


def test_several_tables_are_several_data_sets() -> None:
    frame = folds()
    parts = {name: part.drop("dataset") for (name,), part in frame.group_by("dataset")}
    parts = dict(sorted(parts.items()))
    assert compare_folds(parts).to_dict() == compare_folds(frame).to_dict()
    with pytest.raises(InputError, match="need the same columns"):
        compare_folds({"a": parts["set1"], "b": parts["set2"].rename({"accuracy": "f1"})})


def test_files_of_the_same_folds_are_data_sets_by_their_names(tmp_path: Path) -> None:
    frame = folds()
    for (name,), part in frame.group_by("dataset"):
        part.drop("dataset").write_csv(tmp_path / f"{name}.csv")
    files = sorted(map(str, tmp_path.iterdir()))
    comparison = compare_folds(files)
    assert [each.dataset for each in comparison.datasets] == [f"set{d}" for d in range(1, 7)]
    assert any("data sets are called by their files" in note for note in comparison.notes)
    assert comparison.ranking == compare_folds(str(tmp_path)).ranking


def test_files_of_one_model_each_are_one_table(tmp_path: Path) -> None:
    for (name,), part in folds(sets=1).drop("dataset").group_by("model"):
        part.write_parquet(tmp_path / f"{name}.parquet")
    comparison = compare_folds(str(tmp_path))
    assert comparison.datasets == ()
    assert sorted(comparison.models) == ["forest", "svm", "tree"]
    assert any("3 files are read as one table" in note for note in comparison.notes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.filter(~((f["dataset"] == "set2") & (f["model"] == "svm"))), "set2.*'svm'"),
        (lambda f: f.filter(~((f["fold"] == 3) & (f["model"] == "svm"))), "fold 3 is missing"),
        (lambda f: pl.concat([f, f.head(1)]), "data set 'set1', model 'tree', fold 1 is there tw"),
        (lambda f: f.filter(f["model"] == "svm"), "two models or more"),
        (lambda f: f.with_columns(n_train=pl.lit(8)), "there is no n_test"),
    ],
)
def test_what_can_not_be_ranked_is_refused(change: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare_folds(change(folds()))


def test_rope_is_of_several_data_sets() -> None:
    with pytest.raises(MethodError, match="rope= is of several data sets"):
        compare_folds(folds(sets=1), rope=0.01)
    with pytest.raises(MethodError, match="are of predictions"):
        compare_folds(folds(), positive="1")


# -- predictions -----------------------------------------------------------------------------------


def predictions(
    sets: int = 2, rows: int = 60, labels: tuple = ("normal", "attack")
) -> pl.DataFrame:
    random = np.random.default_rng(4)
    parts = []
    for d in range(1, sets + 1):
        truth = random.integers(0, 2, rows)
        for model, power in (("weak", 1.0), ("strong", 3.0)):
            scores = 1 / (1 + np.exp(-(power * (truth - 0.5) + random.normal(0, 1, rows))))
            parts.append(
                pl.DataFrame(
                    {
                        "model": model,
                        "dataset": f"set{d}",
                        "fold": np.arange(rows) % 4,
                        "id": np.arange(rows),
                        "label": [labels[i] for i in truth],
                        "score": scores,
                    }
                )
            )
    return pl.concat(parts)


def test_predictions_are_measured_fold_by_fold() -> None:
    frame = predictions()
    comparison = compare_folds(frame)
    part = frame.filter((pl.col("dataset") == "set1") & (pl.col("model") == "strong"))
    values = [
        evaluate(fold["label"], y_score=fold["score"])["roc_auc"].value
        for _, fold in part.group_by("fold")
    ]
    estimate = comparison.datasets[0].estimates["strong"]["roc_auc"]
    assert estimate == pytest.approx(np.mean(values))
    # 45 rows train for each 15 that test.
    test = next(t for t in comparison.datasets[0].tests if t.test == "nadeau_bengio")
    assert (test.table["n_train"], test.table["n_test"]) == (45, 15)
    assert comparison.verdicts[0].measure == "roc_auc"


def test_predictions_may_be_decisions_of_several_classes() -> None:
    frame = predictions().with_columns(
        label=pl.col("id") % 3, predicted=(pl.col("id") + (pl.col("score") > 0.5)) % 3
    )
    comparison = compare_folds(frame.drop("score"))
    assert {d.measure for d in comparison.differences} >= {"accuracy", "f1.macro"}
    with pytest.raises(InputError, match=r"there are 3 labels.*predictions need a column of decis"):
        compare_folds(frame.drop("predicted"))


def test_scores_without_a_scale_are_ranked() -> None:
    frame = predictions().with_columns(score=pl.col("score") * 10 - 5)
    comparison = compare_folds(frame)
    assert {d.measure for d in comparison.differences} == {"roc_auc", "average_precision"}
    assert any("undefined in every fold" in note for note in comparison.notes)
    assert "f1" in {d.measure for d in compare_folds(frame, threshold=0).differences}


def test_the_positive_label_is_inferred_or_given() -> None:
    odd = predictions(labels=("cat", "dog"))
    with pytest.raises(LabelError, match=r"data set 'set1': .*positive"):
        compare_folds(odd)
    for asked in ({"positive": "dog"}, {"negative": "cat"}):
        comparison = compare_folds(odd, **asked)
        assert comparison.ranking == ("strong", "weak")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [bool, float, int])
def test_labels_of_any_kind_have_a_positive_one(kind: type) -> None:
    frame = predictions(labels=(kind(0), kind(1)))
    named = compare_folds(predictions()).differences
    for asked in ({}, {"positive": kind(1)}, {"positive": 1}, {"negative": kind(0)}):
        assert compare_folds(frame, **asked).differences == named
    turned = compare_folds(frame, positive=kind(0))
    assert turned.differences == compare_folds(predictions(), positive="normal").differences


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f[1:], "id 0 is among the rows of model 'strong' and not of model 'weak'"),
        (lambda f: pl.concat([f, f.head(1)]), "id 0 is there twice"),
        (
            lambda f: f.with_columns(
                label=pl.when((pl.col("id") == 5) & (pl.col("model") == "weak"))
                .then(pl.lit("normal"))
                .otherwise(pl.lit("attack"))
            ),
            "the label of id 5 is 'attack' here and 'normal' for model 'weak'",
        ),
        (lambda f: f.drop("id")[1:], "has other rows than model 'weak'"),
    ],
)
def test_models_must_have_predicted_the_same_rows(change: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare_folds(change(predictions(sets=1)))


def test_predictions_in_files(tmp_path: Path) -> None:
    frame = predictions()
    frame.write_parquet(tmp_path / "all.parquet")
    frame.write_csv(tmp_path / "all.csv")
    comparison = compare_folds(str(tmp_path / "all.parquet"))
    assert comparison.to_dict() == compare_folds(frame).to_dict()
    assert compare_folds(str(tmp_path / "all.csv")).ranking == comparison.ranking


def test_models_as_columns_are_told_how_to_be_given(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("dataset,A,B\nd1,0.8,0.9\nd2,0.7,0.8\n")
    with pytest.raises(InputError, match="if models are columns, turn them into rows"):
        compare_folds(str(tmp_path / "wide.csv"))


def test_a_gap_that_ranks_do_not_bear_out_is_not_told() -> None:
    """Two data sets with the same gap: the interval leaves out 0, and two can't tell."""
    comparison = compare_folds(
        {"model": ["a", "b"] * 2, "dataset": ["x", "x", "y", "y"], "f1": [0.80, 0.85, 0.70, 0.75]}
    )
    text = draw(document_of(comparison), "terminal", width=100)
    assert "undecided" in text
    assert " better  " not in text
    assert "Marked: the best of each data set, where nothing is tested" in text
    assert "*1.000  *2.000" in text


def test_predictions_that_are_turned_round_are_told_first() -> None:
    random = np.random.default_rng(4)
    rows = []
    for data_set in ("one", "two"):
        truth = random.integers(0, 2, 200)
        for model, sign in (("old", 1), ("new", -1), ("other", -1)):
            for repeat in (1, 2):
                scores = sign * (2 * truth - 1) + random.normal(size=200)
                rows += [
                    (model, data_set, repeat, i % 4, i, int(y), float(score))
                    for i, (y, score) in enumerate(zip(truth, scores, strict=True))
                ]
    names = ["model", "dataset", "repeat", "fold", "id", "label", "score"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    comparison = compare_folds(table)
    assert [(each.code, each.mistake) for each in comparison.findings] == [("E001", True)] * 2
    assert comparison.findings[0].message.startswith(
        "'new' on data set 'one' and 1 more: The AUC is 0."
    )
    first, *_ = document_of(comparison).plain["headline"]
    assert first == ("Likely a mistake: labels or scores look inverted ('new' and 1 more) (E001).")
    one = compare_folds(table.filter(pl.col("dataset") == "one").drop("dataset"))
    assert one.findings[0].message.startswith("'new': The AUC is 0.")
    honest = compare_folds(
        table.filter(pl.col("model") == "old")
        .with_columns(model=pl.lit("x"))
        .vstack(table.filter(pl.col("model") == "old"))
    )
    assert honest.findings == ()
