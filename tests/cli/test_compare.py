"""``assay compare``."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

from assay.cli.compare import EXAMPLES
from assay.report.document import schema_of

Cli = Callable[..., Any]
TWO = ("--model", "old=old_score", "--model", "new=score")
QUICK = ("--resamples", "100")
VALIDATOR = jsonschema.Draft202012Validator(schema_of("assay.compare/1"))
FOLDS = "model,repeat,fold,n_train,n_test,accuracy,f1\n" + "".join(
    f"{model},{r},{f},500,500,{0.9 + gain + 0.001 * ((r * 3 + f * 5) % 7)},{0.8 + gain}\n"
    for model, gain in (("tree", 0.0), ("forest", 0.03))
    for r in range(1, 6)
    for f in (1, 2)
)


@pytest.fixture(scope="session")
def some(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few thousand rows with two scores, decisions, an id, hosts and families."""
    random = np.random.default_rng(4)
    size = 1200
    truth = random.random(size) < 0.25
    evidence = np.where(truth, 1.6, -1.6)
    old = evidence + random.normal(0, 1.8, size)
    new = evidence + random.normal(0, 1.0, size)
    folder = tmp_path_factory.mktemp("compare")
    frame = pl.DataFrame(
        {
            "flow": [f"{i:05d}" for i in range(size)],
            "label": np.where(truth, "attack", "normal"),
            "family": np.where(truth, np.resize(["dos", "scan"], size), "normal"),
            "host": [f"h{i % 40}" for i in range(size)],
            "old_score": 1 / (1 + np.exp(-old)),
            "score": 1 / (1 + np.exp(-new)),
            "old_says": np.where(old > 0, "attack", "normal"),
            "new_says": np.where(new > 0, "attack", "normal"),
        }
    )
    frame.write_csv(folder / "predictions.csv")
    frame.drop("old_score").write_csv(folder / "new.csv")
    frame.sample(fraction=1, shuffle=True, seed=1).select(
        "flow", "label", score="old_score"
    ).write_parquet(folder / "old.parquet")
    (folder / "folds.csv").write_text(FOLDS)
    for name, shift in (("iris", 0.02), ("wine", -0.03)):
        table = pl.read_csv(io.StringIO(FOLDS)).with_columns(pl.col("accuracy", "f1") + shift)
        table.write_csv(folder / f"{name}.csv")
    write_classes(folder)
    return folder


def write_classes(folder: Path) -> None:
    """Rows of three classes with the probabilities of two models; those of one apart too."""
    random = np.random.default_rng(2)
    truth = random.choice(3, 300, p=(0.5, 0.3, 0.2))
    labels = ("benign", "dos", "probe")
    columns = {"flow": np.arange(300), "label": np.array(labels)[truth]}
    for model, gap in (("bayes", 0.8), ("forest", 2.0)):
        evidence = random.normal(size=(300, 3))
        evidence[np.arange(300), truth] += gap
        odds = np.exp(evidence)
        table = odds / odds.sum(axis=1, keepdims=True)
        columns |= {f"p_{model}_{label}": table[:, i] for i, label in enumerate(labels)}
    frame = pl.DataFrame(columns)
    frame.write_csv(folder / "classes.csv")
    frame.select(pl.exclude("^p_bayes_.*$")).write_csv(folder / "forest.csv")
    frame.select("flow", pl.col("^p_bayes_.*$")).reverse().write_parquet(folder / "bayes.parquet")


@pytest.fixture
def here(some: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with these files, to write into."""
    for file in some.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- what it says ----------------------------------------------------------------------------------


def test_the_verdict_comes_first(cli: Cli, here: Path) -> None:
    outcome = cli("compare", "predictions.csv", *TWO, *QUICK)
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[0] == "Comparison of old and new"
    assert lines[2].startswith("new is better than old: ")
    assert "the label is column 'label'" in outcome.err


def test_json_is_one_valid_document(cli: Cli, here: Path) -> None:
    outcome = cli(
        *("compare", "predictions.csv", *TWO, *QUICK, "--family", "family", "--format", "json")
    )
    document = json.loads(outcome.out)
    assert [e.message for e in VALIDATOR.iter_errors(document)] == []
    assert document["models"] == ["old", "new"]
    assert document["source"]["rows_used"] == 1200
    assert document["headline"] == [verdict["text"] for verdict in document["verdicts"]]
    families = {flip["family"] for flip in document["flips"]}
    assert {"dos", "scan"} <= families


CLASSES = ("--model", "bayes=p_bayes_*", "--model", "forest=p_forest_*")


def test_a_star_names_the_probability_of_each_class(cli: Cli, here: Path) -> None:
    outcome = cli("compare", "classes.csv", *CLASSES, *QUICK, "--format", "json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert [e.message for e in VALIDATOR.iter_errors(document)] == []
    measures = {difference["measure"] for difference in document["differences"]}
    assert {"roc_auc.macro", "roc_auc_ovo", "f1.weighted", "log_loss"} <= measures
    assert document["verdicts"][0]["measure"] == "roc_auc.macro"
    # In a file of its own, in another order, it is the same comparison.
    apart = ("--model", "bayes=bayes.parquet:p_bayes_*", "--model", "forest=p_forest_*")
    joined = cli(*("compare", "forest.csv", *apart, "--id", "flow", *QUICK, "--format", "json"))
    assert joined.code == 0, joined.err
    assert json.loads(joined.out)["differences"] == document["differences"]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (("bayes=p_bayes_*", "forest=p_trees_*"), "no column matches 'p_trees_*'"),
        (("bayes=p_bayes_*", "forest=p_*_*"), "a pattern with one star"),
        (("bayes=p_bayes_*", "forest=p_forest_dos"), "'bayes' holds a probability a class"),
        (
            ("bayes=p_b*", "forest=p_forest_*"),
            "model 'bayes' has no probability of 'benign', 'dos', 'probe'",
        ),
    ],
)
def test_patterns_that_do_not_fit_are_refused(
    cli: Cli, here: Path, models: tuple[str, str], said: str
) -> None:
    named = [part for model in models for part in ("--model", model)]
    outcome = cli("compare", "classes.csv", *named, *QUICK)
    assert outcome.code == 3
    assert said in outcome.err


def test_a_row_whose_probabilities_do_not_sum_to_one_is_refused(cli: Cli, here: Path) -> None:
    frame = pl.read_csv("classes.csv").with_columns(p_forest_dos=pl.col("p_forest_dos") / 2)
    frame.write_csv("off.csv")
    outcome = cli("compare", "off.csv", *CLASSES, *QUICK)
    assert outcome.code == 3
    assert "the probabilities sum to" in outcome.err


@pytest.mark.sampled(2)
@pytest.mark.parametrize("face", ["csv", "markdown", "latex", "html"])
def test_every_face_is_written(cli: Cli, here: Path, face: str) -> None:
    out = here / f"c.{ {'markdown': 'md', 'latex': 'tex'}.get(face, face) }"
    outcome = cli("compare", "predictions.csv", *TWO, *QUICK, "--out", out)
    assert outcome.code == 0, outcome.err
    assert f"({face})" in outcome.err
    assert "new" in out.read_text("utf-8")


def test_a_page_tells_the_hashes_of_all_files(cli: Cli, here: Path) -> None:
    out = here / "c.html"
    models = ("--model", "new=score", "--model", "old=old.parquet:score", "--id", "flow")
    assert cli("compare", "new.csv", *models, *QUICK, "--out", out).code == 0
    page = out.read_text("utf-8")
    assert "new.csv" in page
    assert "old.parquet" in page
    assert page.count("SHA-256") == 2


def test_files_matched_by_id_give_what_one_file_gives(cli: Cli, here: Path) -> None:
    one = cli("compare", "predictions.csv", *TWO, *QUICK, "--id", "flow", "--format", "csv")
    models = ("--model", "old=old.parquet:score", "--model", "new=score", "--id", "flow")
    two = cli("compare", "new.csv", *models, *QUICK, "--format", "csv")
    assert one.out == two.out
    assert len(one.out.splitlines()) > 20


def test_a_model_may_be_in_the_same_file_by_its_name(cli: Cli, here: Path) -> None:
    models = ("--model", "old=old_score", "--model", "new=predictions.csv:score", "--id", "flow")
    outcome = cli(
        "compare", "predictions.csv", *models, "--format", "markdown", "--resamples", "50"
    )
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("`predictions.csv` (") == 1


def test_bad_input_of_another_file_names_that_file(cli: Cli, here: Path) -> None:
    models = ("--model", "old=old_score", "--model", "new=absent.csv:score", "--id", "flow")
    outcome = cli("compare", "predictions.csv", *models)
    assert outcome.code == 3
    assert outcome.err.startswith("assay: error: there is no file absent.csv")


def test_rules_choose_thresholds(cli: Cli, here: Path) -> None:
    outcome = cli(
        *("compare", "predictions.csv", *TWO, *QUICK, "--at", "max-far=0.1", "--format", "json")
    )
    document = json.loads(outcome.out)
    assert document["at"] == "max-far=0.1"
    assert document["thresholds"]["old"] > document["thresholds"]["new"]
    far = {e["model"]: e["value"] for e in document["estimates"] if e["measure"] == "recall"}
    assert far["new"] > far["old"]


def test_a_grid_says_so_and_gives_bounds_and_flips_keep_their_rows(cli: Cli, here: Path) -> None:
    outcome, kept = (
        cli("compare", "predictions.csv", *TWO, "--mode", "grid", "--format", "json", *more)
        for more in ((), ("--flips", "flips.csv"))
    )
    assert outcome.code == kept.code == 0
    documents = [json.loads(each.out) for each in (outcome, kept)]
    for document in documents:
        assert document["mode"] == "grid"
        auc = next(d for d in document["differences"] if d["measure"] == "roc_auc")
        assert auc["low"] < auc["bound"][0] <= auc["difference"] <= auc["bound"][1] < auc["high"]
        assert any(note.startswith("mode grid: ") for note in document["notes"])
        assert any("--mode exact" in note for note in document["notes"])
    assert documents[0]["flips"] == documents[1]["flips"]
    assert documents[0]["source"]["rows_used"] == documents[1]["source"]["rows_used"]
    assert flips(here / "flips.csv")


def test_thresholds_are_given_for_all_or_for_each(cli: Cli, here: Path) -> None:
    def thresholds(*options: str) -> dict[str, float]:
        outcome = cli("compare", "predictions.csv", *TWO, *QUICK, *options, "--format", "json")
        return json.loads(outcome.out)["thresholds"]

    assert thresholds("--threshold", "0.7") == {"old": 0.7, "new": 0.7}
    each = ("--threshold", "old=0.6", "--threshold", "new=0.4")
    assert thresholds(*each) == {"old": 0.6, "new": 0.4}
    assert thresholds("--at", "threshold=0.3") == {"old": 0.3, "new": 0.3}


def test_decisions_and_clusters_and_counts_are_compared(cli: Cli, here: Path) -> None:
    says = ("--model", "old=old_says", "--model", "new=new_says")
    outcome = cli("compare", "predictions.csv", *says, *QUICK, "--format", "json")
    document = json.loads(outcome.out)
    assert document["verdicts"][0]["measure"] == "accuracy"
    assert document["verdicts"][0]["outcome"] == "better"
    assert document["thresholds"] == {}
    clustered = cli("compare", "predictions.csv", *TWO, *QUICK, "--cluster", "host")
    assert "rows come in clusters" in clustered.out


def test_classes_are_compared(cli: Cli, here: Path) -> None:
    rows = "a,a,a\nb,b,a\nc,c,c\na,b,a\nb,b,b\nc,a,c\n" * 20
    (here / "k.csv").write_text("label,one,two\n" + rows)
    outcome = cli("compare", "k.csv", "--model", "A=one", "--model", "B=two", *QUICK)
    assert outcome.code == 0, outcome.err
    assert "F1, macro" in outcome.out


def test_labels_that_are_text_may_be_typed_for_numbers(cli: Cli, here: Path) -> None:
    frame = pl.DataFrame({"y": [1, 2] * 50, "a": [0.9, 0.2] * 50, "b": [0.8, 0.1, 0.4, 0.6] * 25})
    frame.write_parquet(here / "n.parquet")
    models = ("--model", "a=a", "--model", "b=b")
    outcome = cli("compare", "n.parquet", *models, "--label", "y", "--positive", "1", *QUICK)
    assert outcome.code == 0, outcome.err
    assert cli("compare", "n.parquet", *models, "--label", "y", *QUICK).code == 3


def test_folds_are_compared(cli: Cli, here: Path) -> None:
    outcome = cli("compare", "--folds", "folds.csv", "--format", "json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert [e.message for e in VALIDATOR.iter_errors(document)] == []
    assert {"paired_t", "nadeau_bengio", "5x2cv_t", "5x2cv_f"} == {
        test["test"] for test in document["tests"]
    }
    shown = cli("compare", "--folds", "folds.csv")
    assert "forest is better than tree" in shown.out
    assert "Nadeau-Bengio" in shown.out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FOLDS.encode())))
        again = json.loads(cli("compare", "--folds", "-", "--format", "json").out)
    assert again.pop("provenance") != document.pop("provenance")
    assert again == document


def test_files_of_folds_are_data_sets(cli: Cli, here: Path) -> None:
    outcome = cli("compare", "--folds", "iris.csv", "wine.csv", "--format", "json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert [e.message for e in VALIDATOR.iter_errors(document)] == []
    assert [each["dataset"] for each in document["datasets"]] == ["iris", "wine"]
    assert "data sets are called by their files, iris, wine" in outcome.err
    twice = cli("compare", "--folds", "iris.csv", "--folds", "wine.csv", "--format", "json")
    assert json.loads(twice.out)["tests"] == document["tests"]
    given = cli("compare", "--folds", "iris.csv", "wine.csv", "--positive", "1")
    assert given.code == 2
    assert "--positive is of predictions" in given.err


def test_predictions_of_folds_are_compared(cli: Cli, here: Path) -> None:
    rows = [
        f"{model},{data_set},{i % 3},{i},{'bad' if i % 2 else 'good'},{(i * step) % 10 / 10}"
        for data_set in ("lan", "dmz")
        for model, step in (("old", 3), ("new", 7))
        for i in range(30)
    ]
    (here / "tidy.csv").write_text("model,dataset,fold,id,label,score\n" + "\n".join(rows) + "\n")
    refused = cli("compare", "--folds", "tidy.csv")
    assert refused.code == 3
    assert "--positive" in refused.err
    outcome = cli("compare", "--folds", "tidy.csv", "--positive", "bad", "--format", "json")
    assert outcome.code == 0, outcome.err
    measures = {each["measure"] for each in json.loads(outcome.out)["differences"]}
    assert {"roc_auc", "f1"} <= measures


def test_fragments_are_tables_alone(cli: Cli, here: Path) -> None:
    asked = ("compare", "--folds", "iris.csv", "wine.csv", "--fragment")
    outcome = cli(*asked, "--tier", "main", "--out", here / "table.tex")
    assert outcome.code == 0, outcome.err
    text = (here / "table.tex").read_text()
    assert text.count("assaytable{Models on each data set") == 1
    assert "documentclass" not in text
    assert cli(*asked, "--tier", "main").out == text


@pytest.mark.usefixtures("blank_pages")
def test_figures_are_drawn(cli: Cli, here: Path) -> None:
    outcome = cli("compare", "predictions.csv", *TWO, *QUICK, "--figures", here / "figures")
    assert outcome.code == 0, outcome.err
    drawn = ("forest", "hulls", "roc", "det", "precision_recall", "far_dr")
    names = {f"{name}.{kind}" for name in drawn for kind in ("pdf", "svg")}
    assert names <= {path.name for path in (here / "figures").iterdir()}
    assert cli("compare", "--folds", "folds.csv", "--figures", here / "folds").code == 0


# -- flips -----------------------------------------------------------------------------------------


def flips(path: Path) -> list[dict[str, Any]]:
    match path.suffix:
        case ".csv":
            return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
        case ".jsonl":
            return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        case _:
            return pl.read_parquet(path).to_dicts()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_flipped_rows_are_written_with_their_ids(cli: Cli, here: Path, suffix: str) -> None:
    path = here / f"flips{suffix}"
    options = ("--id", "flow", "--family", "family", "--flips", path, "--format", "json")
    outcome = cli("compare", "predictions.csv", *TWO, *QUICK, *options)
    rows = flips(path)
    total = json.loads(outcome.out)["flips"][0]
    assert len(rows) == total["fixed"] + total["broken"]
    assert f"wrote {len(rows):,} rows that flipped" in outcome.err
    frame = pl.read_csv(here / "predictions.csv", schema_overrides={"flow": pl.String})
    by_id = {row["flow"]: row for row in frame.to_dicts()}
    for row in rows:
        of = by_id[row["id"]]
        before, after = of["old_score"] >= 0.5, of["score"] >= 0.5
        assert before != after
        assert row["label"] == of["label"]
        assert row["family"] == of["family"]
        assert row["decision_b"] == ("attack" if after else "normal")
        assert float(row["score_a"]) == of["old_score"]
        assert row["flip"] == ("fixed" if row["decision_b"] == of["label"] else "broken")
        assert int(row["row"]) == int(row["id"]) + 1


def test_flips_without_an_id_name_rows_by_their_number(cli: Cli, here: Path) -> None:
    text = "label,a,b\nattack,0.9,0.1\nattack,oops,0.9\nnormal,0.2,0.1\nnormal,0.7,0.3\n"
    (here / "p.csv").write_text(text)
    options = ("--model", "a=a", "--model", "b=b", "--on-bad-row", "skip", "--flips", "f.csv")
    assert cli("compare", "p.csv", *options, *QUICK).code == 0
    rows = flips(here / "f.csv")
    assert [(row["row"], row["flip"]) for row in rows] == [("1", "broken"), ("4", "fixed")]
    assert "id" not in rows[0]


def test_flips_of_no_row_are_an_empty_table(cli: Cli, here: Path) -> None:
    same = ("--model", "a=score", "--model", "b=score", *QUICK)
    for suffix in (".csv", ".jsonl", ".parquet"):
        assert cli("compare", "predictions.csv", *same, "--flips", f"f{suffix}").code == 0
        assert flips(here / f"f{suffix}") == []


def test_flips_that_can_not_be_written_are_told_before_the_work(cli: Cli, here: Path) -> None:
    outcome = cli("compare", "predictions.csv", *TWO, "--flips", "flips.xlsx")
    assert outcome.code == 2
    assert ".csv, .jsonl, .parquet" in outcome.err
    assert cli("compare", "predictions.csv", *TWO, "--flips", "no/where.csv").code == 4
    outcome = cli("compare", "predictions.csv", *TWO, "--flips", "predictions.csv")
    assert outcome.code == 2
    assert "is an input" in outcome.err


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "name a FILE"),
        ("x.csv", "two models or more"),
        ("x.csv --model a=b", "two models or more"),
        ("x.csv --model a --model b=c", "not NAME=COL"),
        ("x.csv --model a=b --model a=c", "the same name"),
        ("x.csv --model a=b --model c=d --at far=0.1", "max-far"),
        ("x.csv --model a=b --model c=d --at max-far=2", "between 0 and 1"),
        ("x.csv --model a=b --model c=d --at max-far=0.1 --threshold 1", "--at or --threshold"),
        ("x.csv --model a=b --model c=d --threshold e=1", "which no --model does"),
        ("x.csv --model a=b --model c=d --threshold 1 --threshold 2", "one number, or one for"),
        ("x.csv --model a=b --model c=d --margin 0", "not above 0"),
        ("x.csv --model a=b --model c=d --interval wilson", "'wilson' is not"),
        ("x.csv --model a=b --model c=d --positive a --negative b", "not both"),
        ("--folds f.csv --model a=b", "not both"),
        ("--folds f.csv --at max-far=0.1", "--at says nothing of --folds"),
        ("--folds f.csv --id x", "--id says nothing of --folds"),
        ("--folds f.csv --mode grid", "--mode says nothing of --folds"),
        ("x.csv --model a=a --model b=b --rope 0.1", "--rope says nothing without --folds"),
        ("--folds f.csv --threshold a=0.5", "--threshold of --folds is one number"),
        ("--folds f.csv --tier main", "add --fragment"),
        ("--folds f.csv --fragment --format json", "--fragment is of LaTeX"),
        ("--folds f.csv --figure-format pgf", "--figure-format is of --figures"),
        ("x.csv --model a=b --model c=d --mode cuts", "'cuts' is not one of"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_read(cli: Cli, options: str, said: str) -> None:
    outcome = cli("compare", *shlex.split(options))
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert said in outcome.err


def test_another_file_needs_an_id(cli: Cli, here: Path) -> None:
    outcome = cli("compare", "new.csv", "--model", "a=score", "--model", "b=old.parquet:score")
    assert outcome.code == 2
    assert "--id" in outcome.err


def test_unmatched_ids_and_other_labels_are_bad_input(cli: Cli, here: Path) -> None:
    frame = pl.read_parquet(here / "old.parquet")
    models = ("--model", "new=score", "--model", "old=odd.parquet:score", "--id", "flow")
    frame.head(1190).write_parquet(here / "odd.parquet")
    outcome = cli("compare", "new.csv", *models)
    assert outcome.code == 3
    assert "10 of 1,200 ids of new.csv are not in odd.parquet" in outcome.err
    skipped = cli("compare", "new.csv", *models, *QUICK, "--on-bad-row", "skip")
    assert skipped.code == 0
    assert "10 of 1,200 rows were refused" in skipped.out
    swapped = pl.when(pl.col("flow") == "00007").then(pl.lit("other")).otherwise(pl.col("label"))
    frame.with_columns(label=swapped).write_parquet(here / "odd.parquet")
    outcome = cli("compare", "new.csv", *models)
    assert outcome.code == 3
    assert "id '00007' is" in outcome.err
    assert "'other' in odd.parquet" in outcome.err


def test_scores_beside_decisions_and_rules_for_decisions_are_bad_input(
    cli: Cli, here: Path
) -> None:
    mixed = cli("compare", "predictions.csv", "--model", "a=score", "--model", "b=old_says")
    assert mixed.code == 3
    assert "holds decisions" in mixed.err
    says = ("--model", "old=old_says", "--model", "new=new_says")
    assert cli("compare", "predictions.csv", *says, "--at", "max-far=0.1").code == 3
    assert cli("compare", "predictions.csv", *says, "--threshold", "0.1").code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,repeat,fold,n_train,n_test,accuracy\n", "there are no folds"),
        ("repeat,fold,accuracy\n1,1,0.5\n", "no column 'model'"),
        (FOLDS.replace("tree,1,1,500,500,0.90", "tree,1,1,500,500,x0.90"), "line 2"),
        (FOLDS.replace("tree,1,1,", ",1,1,"), "the model is missing"),
    ],
)
def test_bad_folds_are_bad_input(cli: Cli, here: Path, text: str, said: str) -> None:
    (here / "bad.csv").write_text(text)
    outcome = cli("compare", "--folds", "bad.csv")
    assert outcome.code == 3, outcome.err
    assert said in outcome.err


def test_a_report_does_not_replace_an_input(cli: Cli, here: Path) -> None:
    models = ("--model", "new=score", "--model", "old=old.parquet:score", "--id", "flow")
    out = ("--out", "old.parquet", "--format", "json")
    outcome = cli("compare", "new.csv", *models, *QUICK, *out)
    assert outcome.code == 2
    assert "is an input" in outcome.err


# -- the examples of the help ----------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_of_the_help_run(cli: Cli, here: Path, line: str) -> None:
    outcome = cli(*shlex.split(line)[1:])
    assert outcome.code == 0, outcome.err
    assert outcome.out or "--out" in line


def test_many_resamples_are_said_before_they_are_drawn(cli: Cli) -> None:
    line = ("compare", "missing.csv", "--label", "label", *TWO)
    assert "it is 10,000 of them" in cli(*line, "--level", "0.99999").err
    for usual in ((), ("--level", "0.99999", "--quiet"), ("--level", "0.99999", *QUICK)):
        assert "of them" not in cli(*line, *usual).err
