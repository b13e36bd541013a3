"""The document of a training, its card and its figures."""

import json
import math
import re
from dataclasses import replace

import jsonschema
import polars as pl
import pytest

from assay.evaluation.findings import Finding
from assay.learn.data import data_of
from assay.learn.recipes import find_recipe
from assay.learn.run import Run, RunPlots
from assay.learn.scenarios import make_arp
from assay.learn.training import train
from assay.report import FORMATS, Document, Provenance, document_of, draw
from assay.report.document import schema_of
from assay.report.sections import Prose, Table
from assay.report.training import _scalar, card_of

from .hostile import NAMES

MADE = Provenance("0.1.0", "assay train", (("arp.csv", 4096, "0f" * 32),))


def trained(recipe: str, scheme: str, frame: pl.DataFrame | None = None, **how: object) -> Run:
    settings = how.pop("settings", {})
    columns = {"label": "label", "family": "family", "drop": ("time", "host")}
    data = data_of(make_arp(600) if frame is None else frame, **{**columns, **how})
    return train(find_recipe(recipe), data, validation=scheme, settings=settings)


@pytest.fixture(scope="module")
def forest() -> Run:
    return trained("forest", "kfold:3", settings={"trees": 5})


@pytest.fixture(scope="module")
def network() -> Run:
    return trained("network", "kfold:2", settings={"epochs": 3, "hidden": (8,)})


@pytest.fixture(scope="module")
def tree() -> Run:
    return trained("tree", "holdout:0.7/0.2/0.1", settings={"k": 5, "depth": 2})


def table(document: Document, title: str) -> Table:
    section = next(section for section in document.report.sections if section.title == title)
    return next(block for block in section.blocks if isinstance(block, Table))


def titles(document: Document) -> list[str]:
    return [section.title for section in document.report.sections]


# -- what it says ----------------------------------------------------------------------------------


def test_the_counts_of_one_split_have_totals_that_add_up(tree: Run) -> None:
    block = table(document_of(tree), "How it was validated")
    assert [column.name for column in block.columns] == [
        *("class", "train", "test", "validation", "total"),
    ]
    *classes, whole = block.rows
    for i in range(1, 5):
        assert sum(row[i] for row in classes) == whole[i]
    assert all(sum(row[1:4]) == row[4] for row in block.rows)
    assert whole[1:] == (420, 120, 60, 600)


def test_folds_tell_what_each_learned_and_judged(forest: Run) -> None:
    block = table(document_of(forest), "How it was validated")
    assert [column.name for column in block.columns] == ["fold", "normal", "attack", "all classes"]
    *folds, whole = block.rows
    assert whole[-1] == "600"
    assert all(row[-1] == "400 + 200" for row in folds)


def test_the_mean_over_folds_stands_beside_its_spread_and_all_rows(forest: Run) -> None:
    block = table(document_of(forest), "Over the folds")
    rows = {row[0]: row for row in block.rows}
    auc = rows["ROC AUC"]
    assert auc[1] == forest.over_folds["roc_auc"]
    assert auc[2] == forest.over_folds["roc_auc"].parts["sd"]
    assert auc[-1] == forest.evaluation["roc_auc"]
    assert "Nadeau and Bengio" in block.notes[0]
    each = table(document_of(forest), "Fold by fold")
    assert [row[0] for row in each.rows] == ["fold 1", "fold 2", "fold 3"]


def test_one_split_has_no_mean_over_folds(tree: Run) -> None:
    texts = titles(document_of(tree))
    assert "Over the folds" not in texts
    assert "Validation part" in texts


def test_mdi_stands_beside_what_shuffling_costs_and_is_said_to_mislead(forest: Run) -> None:
    block = table(document_of(forest), "What the model relies on")
    assert "MDI (Gini)" in [column.name for column in block.columns]
    assert any("many distinct values" in note for note in block.notes)
    assert [row[0] for row in block.rows] == [row.column for row in forest.importance.rows]


def test_a_network_has_no_mdi_but_a_loss(network: Run) -> None:
    document = document_of(network)
    block = table(document, "What the model relies on")
    assert "MDI (Gini)" not in [column.name for column in block.columns]
    losses = table(document, "Loss by epoch")
    assert [row[0] for row in losses.rows] == ["1", "2", "3"]
    first = [fold.losses[0] for fold in network.folds]
    assert losses.rows[0][1] == pytest.approx(math.fsum(first) / 2)
    assert losses.rows[0][2:] == (min(first), max(first), 2, "0.001")


def test_a_tree_has_rules_and_chosen_columns(tree: Run) -> None:
    document = document_of(tree)
    chosen = table(document, "Chosen columns").rows
    assert len(chosen) == 5
    plain = document.plain["training"]
    assert [(each["column"], each["chi_square"]) for each in plain["chosen"]] == list(chosen)
    assert sum(rule["rows"] for rule in plain["rules"]) == len(tree.folds[0].train)
    rules = table(document, "Rules of the tree").rows
    assert {row[0] for row in rules} <= {"normal", "attack"}
    assert sum(row[3] for row in rules) == 420
    impurity = {rule["rows"]: rule["impurity"] for rule in plain["rules"]}
    assert all(row[4] == impurity[row[3]] for row in rules[:1])


def test_splits_of_a_tree_tell_what_they_lower_the_impurity_by(tree: Run) -> None:
    document = document_of(tree)
    block = table(document, "Splits of the tree")
    plain = document.plain["training"]
    assert plain["criterion"] == "gini"
    assert block.columns[3].name == "Gini impurity"
    told = [(s["divides"], s["rows"], s["weighted_decrease"]) for s in plain["splits"]]
    assert [(row[0], row[2], row[5]) for row in block.rows] == told[: len(block.rows)]
    weighted = [split["weighted_decrease"] for split in plain["splits"]]
    assert weighted == sorted(weighted, reverse=True)


def test_a_forest_by_entropy_says_so() -> None:
    settings = {"trees": 5, "criterion": "entropy"}
    run = trained("forest", "holdout:0.3", settings=settings)
    block = table(document_of(run), "What the model relies on")
    assert "MDI (entropy)" in [column.name for column in block.columns]
    assert run.model[-1].criterion == "entropy"
    assert run.rules is None


def test_the_learning_rate_of_each_epoch_is_told(network: Run) -> None:
    settings = {"epochs": 4, "decay": 0.1, "decay_every": 2, "validation_share": 0}
    run = trained("network", "holdout:0.3", settings=settings)
    assert run.folds[0].rates == pytest.approx((0.001, 0.001, 0.0001, 0.0001))
    document = document_of(run)
    rows = table(document, "Loss by epoch").rows
    assert [row[-1] for row in rows] == ["0.001", "0.001", "0.0001", "0.0001"]
    assert document.plain["training"]["folds"][0]["rates"] == list(run.folds[0].rates)
    card = card_of(document)
    assert "Its learning rate was 0.001 in epochs 1 to 2, 0.0001 in epochs 3 to 4." in card
    assert "decay=0.1" in card.replace("\\", "")
    # As decided: 0.5^floor((epoch - 1) / 5).
    assert network.settings["decay"] == 0.5
    assert network.settings["decay_every"] == 5


def test_texts_have_telling_words() -> None:
    frame = pl.DataFrame({"title": ["red fox", "blue whale"] * 20, "label": ["a", "b"] * 20})
    run = trained(
        *("text", "holdout:0.5", frame),
        text="title",
        positive="b",
        family=None,
        drop=(),
        settings={"characters": 0},
    )
    rows = dict(table(document_of(run), "What the model relies on").rows)
    assert "fox" in rows["a"]
    assert "whale" in rows["b"]


def test_findings_of_the_run_come_first_with_what_to_do(forest: Run) -> None:
    finding = Finding("R002", "warning", "Much better on learned rows.", why="Learned by heart.")
    document = document_of(replace(forest, findings=(finding,)))
    assert document.report.findings[0] == finding
    assert document.plain["findings"][0]["code"] == "R002"
    (row,) = table(document, "About the findings").rows
    assert "by heart" in row[1]


def test_the_json_is_an_evaluation_with_the_training_added(forest: Run) -> None:
    document = json.loads(draw(document_of(forest), "json"))
    jsonschema.validate(document, schema_of("assay.evaluation/1"))
    assert document["training"]["recipe"] == "forest"
    assert document["confusion"] == forest.evaluation.to_dict()["confusion"]


def test_the_csv_has_the_folds_as_slices(forest: Run) -> None:
    records = document_of(forest).report.records
    folds = [r for r in records if r["slice_column"] == "fold" and r["measure"] == "roc_auc"]
    assert [record["value"] for record in folds] == list(forest.per_fold["roc_auc"])
    (mean,) = [r for r in records if r["slice_column"] == "folds" and r["measure"] == "roc_auc"]
    assert mean["method"] == "nadeau_bengio"
    assert len({tuple(record) for record in records}) == 1


@pytest.mark.sampled(7)
@pytest.mark.parametrize("face", FORMATS)
@pytest.mark.parametrize("which", ["forest", "network", "tree"])
def test_every_face_can_be_drawn(face: str, which: str, request: pytest.FixtureRequest) -> None:
    document = document_of(request.getfixturevalue(which), provenance=MADE)
    text = draw(document, face)
    assert text == draw(document, face)
    if face not in ("json", "csv"):
        assert "How it was validated" in text


def test_hostile_names_do_no_harm() -> None:
    # Half of a surrogate pair is no text for polars, and columns have to differ.
    names = [name for name in dict.fromkeys(NAMES) if name and name.isprintable()][:30]
    labels = names[:6]
    frame = pl.DataFrame(
        {name: [(i * 7 + k) % 11 for k in range(120)] for i, name in enumerate(names)}
    )
    frame = frame.with_columns(label=pl.Series([labels[k % 6] for k in range(120)]))
    run = trained("forest", "kfold:2", frame, family=None, drop=(), settings={"trees": 2})
    document = document_of(run)
    for face in FORMATS:
        draw(document, face)
    assert "<script>alert" not in draw(document, "html")
    header = card_of(document).split("\n---\n")[0]
    line_of_yaml = re.compile(r'---$|\s*(- )?([\w-]+:( .*)?|".*")$')
    assert all(line_of_yaml.match(line) for line in header.split("\n"))


# -- the card --------------------------------------------------------------------------------------


def test_the_card_begins_with_a_model_index_of_values_and_intervals(forest: Run) -> None:
    card = card_of(document_of(forest, provenance=MADE))
    start, header, body = card.split("---\n", 2)
    assert start == ""
    assert 'model-index:\n- name: "forest"\n' in header
    auc = forest.evaluation["roc_auc"]
    assert (
        f'type: "roc_auc"\n      name: "ROC AUC, 95% interval [{auc.low:.4f}, {auc.high:.4f}]"'
        in (header)
    )
    assert f"value: {float(auc)!r}\n" in header
    assert "How to use it" in body
    assert "SHA-256" in body


def test_an_undefined_measure_is_not_in_the_header(forest: Run) -> None:
    header = card_of(document_of(forest)).split("\n---\n")[0]
    assert "nan" not in header.lower().replace("name", "")


def test_a_card_says_how_false_alarms_grow_where_attacks_are_rare(forest: Run) -> None:
    card = card_of(document_of(forest))
    assert "where one row in 1,000 is" in card


@pytest.mark.parametrize("value", [1e-05, 2.5e-07, 0.25, 1.0, 0.0])
def test_a_small_value_is_a_number_to_every_reader_of_yaml(value: float) -> None:
    written = _scalar(value)
    # YAML 1.1 knows a number with an exponent by its point.
    assert re.fullmatch(r"[0-9]+\.[0-9]+(e[-+][0-9]+)?", written)
    assert float(written) == value


def test_a_card_tells_the_settings_that_the_summary_does_not_know_of(tree: Run) -> None:
    said = card_of(document_of(tree))
    assert "tree: decision tree of depth 8 on the 20 columns" in said
    assert "Set otherwise: k=5, depth=2." in said
    usual = replace(tree, settings=tree.recipe.complete())
    assert "Set otherwise" not in card_of(document_of(usual))


def test_a_card_names_the_types_to_trust_and_only_them(forest: Run) -> None:
    document = document_of(forest)
    assert "--trust" not in card_of(document)
    trusted = document_of(forest.snapshot(("mine.Mine", "mine.Other")))
    assert "--trust mine.Mine --trust mine.Other" in card_of(trusted)


def test_importance_over_folds_says_which_model_it_is_of(forest: Run, tree: Run) -> None:
    said = "It is that of the model that judged fold 1, on rows of that fold."
    assert said in table(document_of(forest), "What the model relies on").notes
    assert said not in table(document_of(tree), "What the model relies on").notes


# -- figures ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blank_pages")
def test_a_network_draws_its_loss_and_a_forest_does_not(
    forest: Run, network: Run, tmp_path
) -> None:
    names = {path.name for path in RunPlots(network).save(tmp_path / "network", ["svg"])}
    assert {"losses.svg", "importance.svg", "roc.svg"} <= names
    names = {path.name for path in RunPlots(forest).save(tmp_path / "forest", ["svg"])}
    assert "losses.svg" not in names


def test_the_loss_of_each_fold_is_a_line(network: Run) -> None:
    lines = RunPlots(network).losses().get_lines()
    assert [list(line.get_ydata()) for line in lines] == [
        list(fold.losses) for fold in network.folds
    ]


def test_prose_says_the_rule_of_the_split(forest: Run) -> None:
    section = next(
        s for s in document_of(forest).report.sections if s.title == "How it was validated"
    )
    said = [block.text for block in section.blocks if isinstance(block, Prose)]
    assert said[0].startswith("kfold:3. Rows were dealt at random (seed 42)")
    assert said[-1] == "The model to keep learned from all rows."
