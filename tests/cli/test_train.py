"""``assay train``: from a labelled table to a judged, saved, reusable detector."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.cli import messages, train
from assay.cli.train import EXAMPLES, RECIPES
from assay.learn import recipes
from assay.learn.run import FILES
from assay.learn.scenarios import make_arp
from assay.learn.validation import DEFAULT, SCHEMES

Cli = Callable[..., Any]
FEW = ("--set", "trees=5")


@pytest.fixture(scope="module")
def packets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some packets of the simulated network; not to be written to."""
    path = tmp_path_factory.mktemp("packets") / "arp.csv"
    make_arp(900).write_csv(path)
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forest(packets: Path, *more: object) -> tuple[object, ...]:
    options = ("--label", "label", "--family", "family", "--time", "time", "--drop", "host")
    return ("train", "forest", packets, *options, *FEW, *more)


# -- what it does ----------------------------------------------------------------------------------


def test_a_run_leaves_all_its_files_and_shows_the_report(
    cli: Cli, packets: Path, here: Path
) -> None:
    shown = cli(*forest(packets, "--out", "run"))
    assert shown.code == 0, shown.err
    assert {path.name for path in (here / "run").iterdir()} == set(FILES)
    assert shown.out.startswith("forest trained on arp.csv")
    assert "Validated by holdout:0.3: 270 rows were judged" in shown.out
    assert "wrote run: model.skops, predictions.parquet" in shown.err
    assert list(here.rglob("*.tmp")) == []


@pytest.mark.slow
def test_the_same_command_gives_the_same_bytes_times_apart(
    cli: Cli, packets: Path, here: Path
) -> None:
    command = forest(packets, "--out", "run", "--validation", "kfold:3", "--quiet")
    first = cli(*command)
    before = {path.name: path.read_bytes() for path in (here / "run").iterdir()}
    assert cli(*command) == first
    after = {path.name: path.read_bytes() for path in (here / "run").iterdir()}
    records = [json.loads(each.pop("run.json")) for each in (before, after)]
    assert before == after
    for record in records:
        assert set(record.pop("times")) == {"started", "ended", "seconds"}
    assert records[0] == records[1]


def test_the_predictions_are_what_the_other_commands_judge(
    cli: Cli, packets: Path, here: Path
) -> None:
    assert cli(*forest(packets, "--out", "run", "--validation", "kfold:3")).code == 0
    kept = json.loads((here / "run" / "evaluation.json").read_text())
    predictions = here / "run" / "predictions.parquet"
    again = json.loads(cli("evaluate", predictions, "--score", "score", "--format", "json").out)
    assert again["confusion"] == kept["confusion"]
    assert [e for e in again["estimates"] if e["measure"] == "roc_auc"] == [
        e for e in kept["estimates"] if e["measure"] == "roc_auc" and e["slice"] is None
    ]
    assert cli("threshold", predictions, "--score", "score", "--max-fpr", "0.1").code == 0
    both = ("--model", f"a={predictions}:score", "--model", f"b={predictions}:score")
    outcome = cli("compare", predictions, "--label", "label", "--id", "row", *both)
    assert outcome.code == 0, outcome.err


@pytest.mark.slow
def test_the_folds_of_two_runs_are_what_compare_reads(cli: Cli, packets: Path, here: Path) -> None:
    shared = ("--label", "label", "--drop", "family", "--drop", "time", "--drop", "host")
    for recipe, options in (("forest", FEW), ("tree", ())):
        command = ("train", recipe, packets, *shared, *options, "--validation", "kfold:3")
        assert cli(*command, "--out", recipe).code == 0
    one, other = (pl.read_csv(f"{run}/folds.csv") for run in ("forest", "tree"))
    # A measure without a value in some fold is in one of them only.
    shared_columns = [column for column in one.columns if column in other.columns]
    pl.concat([one.select(shared_columns), other.select(shared_columns)]).write_csv("both.csv")
    outcome = cli("compare", "--folds", "both.csv", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["models"] == ["forest", "tree"]
    assert cli("compare", "--folds", "both.csv").code == 0


def test_the_model_scores_new_rows_as_it_scored_judged_ones(
    cli: Cli, packets: Path, here: Path
) -> None:
    assert cli(*forest(packets, "--out", "run")).code == 0
    outcome = cli("predict", "run", packets, "--out", "p.parquet")
    assert outcome.code == 0, outcome.err
    judged = pl.read_parquet(here / "run" / "predictions.parquet")
    scored = pl.read_parquet(here / "p.parquet").filter(
        pl.col("row").is_in(judged["row"].implode())
    )
    assert scored["score"].to_list() == judged["score"].to_list()
    assert scored["decision"].to_list() == judged["decision"].to_list()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("face", ["json", "csv", "markdown", "latex", "html"])
def test_every_format_is_alone_on_standard_output(cli: Cli, packets: Path, face: str) -> None:
    shown = cli(*forest(packets, "--format", face, "--validation", "kfold:2"))
    assert shown.code == 0, shown.err
    starts = {
        "json": "{",
        "csv": "measure,",
        "markdown": "## ",
        "latex": "\\documentclass",
        "html": "<!",
    }
    assert shown.out.lower().startswith(starts[face])
    assert "note: nothing is kept; --out DIR keeps the model" in shown.err
    if face == "json":
        document = json.loads(shown.out)
        assert document["schema"] == "assay.evaluation/1"
        assert document["training"]["recipe"] == "forest"


def test_an_official_split_judges_the_other_file(cli: Cli, packets: Path, here: Path) -> None:
    rows = pl.read_csv(packets)
    rows[:600].write_csv("train.csv")
    rows[600:].write_csv("test.csv")
    options = ("--label", "label", "--drop", "family", "--drop", "time", *FEW)
    shown = cli(
        "train", "forest", "train.csv", *options, "--validation", "file:test.csv",
        "--format", "json",
    )  # fmt: skip
    document = json.loads(shown.out)
    assert document["training"]["rows_judged"] == 300
    assert document["training"]["test"]["name"].endswith("test.csv")
    assert document["source"]["rows_used"] == 300


def test_with_a_negative_label_the_others_are_the_families(
    cli: Cli, packets: Path, here: Path
) -> None:
    shown = cli(
        *("train", "forest", packets, "--label", "family", "--negative", "normal"),
        *("--drop", "label", "--drop", "time", *FEW, "--validation", "leave-one-out:family"),
        *("--out", "run", "--format", "json"),
    )
    document = json.loads(shown.out)
    assert document["labels"] == ["normal", "not normal"]
    rows = pl.read_parquet(here / "run" / "predictions.parquet")
    attacks = rows.filter(pl.col("label") == "not normal")
    assert attacks["fold"].to_list() == attacks["family"].to_list()


def test_a_column_names_the_rows_and_is_no_feature(cli: Cli, packets: Path, here: Path) -> None:
    pl.read_csv(packets).with_row_index("flow", 1000).write_csv("flows.csv")
    shown = cli(*forest(Path("flows.csv"), "--id", "flow", "--out", "run", "--quiet"))
    assert shown.code == 0, shown.err
    rows = pl.read_parquet(here / "run" / "predictions.parquet")
    assert rows.columns[0] == "flow"
    assert rows["flow"].cast(int).min() >= 1000
    assert "flow" not in json.loads((here / "run" / "run.json").read_text())["columns"]["features"]


def test_more_than_two_classes_have_a_probability_each(cli: Cli, packets: Path, here: Path) -> None:
    options = ("--label", "family", "--drop", "label", "--drop", "time", *FEW, "--out", "run")
    shown = cli("train", "forest", packets, *options)
    assert shown.code == 0, shown.err
    rows = pl.read_parquet(here / "run" / "predictions.parquet")
    probabilities = [name for name in rows.columns if name.startswith("p_")]
    assert len(probabilities) == rows["label"].n_unique()
    again = cli(
        *("evaluate", "run/predictions.parquet", "--probabilities", "p_*", "--format", "json")
    )
    kept = json.loads((here / "run" / "evaluation.json").read_text())
    assert json.loads(again.out)["confusion"] == kept["confusion"]


def test_texts_are_told_by_their_words(cli: Cli, here: Path) -> None:
    pl.DataFrame(
        {
            "title": ["cheap pills now", "pills for you", "a new laptop", "laptop and phone"] * 12,
            "kind": ["drugs", "drugs", "goods", "goods"] * 12,
        }
    ).write_csv("titles.csv")
    options = ("--label", "kind", "--positive", "drugs", "--text", "title", "--out", "run")
    shown = cli("train", "text", "titles.csv", *options, "--set", "characters=0")
    assert shown.code == 0, shown.err
    assert "pills" in shown.out
    assert (here / "run" / "importance.csv").read_text().startswith("label,word,weight")


@pytest.mark.usefixtures("blank_pages")
def test_a_network_shows_and_draws_its_loss(cli: Cli, packets: Path, here: Path) -> None:
    options = ("--label", "label", "--drop", "family", "--drop", "time", "--figures", "figures")
    shown = cli(
        *("train", "network", packets, *options, "--set", "epochs=3", "--set", "hidden=8"),
        *("--format", "markdown"),
    )
    assert shown.code == 0, shown.err
    assert "Loss by epoch" in shown.out
    assert (here / "figures" / "losses.svg").exists()
    assert (here / "figures" / "roc.pdf").exists()


def test_a_model_of_your_own_needs_trust_to_be_loaded(cli: Cli, packets: Path, here: Path) -> None:
    (here / "mine.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\n"
        "class Mine(DecisionTreeClassifier):\n"
        "    pass\n"
        "def make(max_depth=3):\n"
        "    return Mine(max_depth=max_depth)\n"
    )
    options = ("--label", "label", "--drop", "family", "--drop", "time", "--out", "run")
    shown = cli("train", "mine:make", packets, *options, "--set", "max_depth=2")
    assert shown.code == 0, shown.err
    assert json.loads((here / "run" / "run.json").read_text())["settings"] == {"max_depth": 2}
    assert "predict needs --trust mine.Mine\n" in shown.err
    assert "--trust mine.Mine\n" in (here / "run" / "card.md").read_text()
    assert cli("predict", "run", packets).code == 3
    assert cli("predict", "run", packets, "--trust", "mine.Mine", "--out", "p.csv").code == 0


def test_refused_rows_are_counted_and_listed(cli: Cli, packets: Path, here: Path) -> None:
    rows = pl.read_csv(packets).with_row_index()
    spoilt = rows.with_columns(
        label=pl.when(pl.col("index") == 3).then(pl.lit("")).otherwise("label")
    )
    spoilt.drop("index").write_csv("flows.csv")
    assert cli(*forest(Path("flows.csv"))).code == 3
    shown = cli(*forest(Path("flows.csv"), "--on-bad-row", "skip", "--format", "json"))
    assert "note: 1 of 900 rows was refused" in shown.err
    assert json.loads(shown.out)["training"]["data"]["rows_refused"] == 1


# -- what it refuses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("nothing", "{}", "--label", "label"), "there is no recipe 'nothing'"),
        (("forest", "{}"), "Missing option '--label'"),
        (("forest", "{}", "--label", "label", "--set", "tree=1"), "did you mean trees"),
        (("forest", "{}", "--label", "label", "--set", "trees"), "not NAME=VALUE"),
        (("forest", "{}", "--label", "label", "--set", "trees=0"), "1 or more"),
        (("json:loads", "{}", "--label", "label"), "json:loads needs the setting s"),
        (("json:dumps", "{}", "--label", "label", "--set", "obj=1"), "gave str, and not an"),
        (("forest", "{}", "--label", "label", "--validation", "x"), "Say one of holdout"),
        (("text", "{}", "--label", "label"), "--text"),
        (("forest", "{}", "--label", "label", "--seed", str(2**32)), "a seed is a whole"),
        (("forest", "{}", "--label", "label", "--id", "label"), "of that name already"),
        (
            ("forest", "{}", "--label", "l", "--positive", "a", "--negative", "b"),
            "not both",
        ),
        (("forest", "-", "--label", "label", "--validation", "file:-"), "once"),
        (("no.such.module:make", "{}", "--label", "label"), "there is no module"),
    ],
)
def test_a_wrong_command_line_ends_with_2(
    cli: Cli, packets: Path, here: Path, options: tuple[str, ...], said: str
) -> None:
    outcome = cli("train", *(part.format(packets) for part in options))
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("{}", "--label", "lable"), "did you mean 'label'"),
        (("none.csv", "--label", "label"), "none.csv"),
        (("{}", "--label", "operation"), "--positive 'reply' or --positive 'request'"),
        (("{}", "--label", "label", "--drop", "hosts"), "'hosts'"),
        (("{}", "--label", "family", "--max-far", "0.1"), "one positive class"),
        (("{}", "--label", "label", "--validation", "time:time@2050-01-01"), "nothing to judge"),
        (("{}", "--label", "label", "--validation", "folds:nothing"), "'nothing'"),
        (("{}", "--label", "label", "--validation", "folds:3"), "rows say kfold:3"),
        (("{}", "--label", "label", "--validation", "file:none.csv"), "none.csv"),
    ],
)
def test_bad_input_ends_with_3_and_leaves_nothing(
    cli: Cli, packets: Path, here: Path, options: tuple[str, ...], said: str
) -> None:
    outcome = cli("train", "forest", *(part.format(packets) for part in options), "--out", "x")
    assert outcome.code == 3, outcome.err
    assert said in outcome.err
    assert list(here.iterdir()) == []


def test_the_folder_of_somebody_else_is_left_alone(cli: Cli, packets: Path, here: Path) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "run.json").write_text('{"my": "file"}')
    (here / "file").write_text("x")
    for place in ("mine", "file", "no/such/folder"):
        outcome = cli(*forest(packets, "--out", place))
        assert outcome.code == 4, place
    assert [path.name for path in (here / "mine").iterdir()] == ["run.json"]
    assert (here / "mine" / "run.json").read_text() == '{"my": "file"}'


def test_an_input_is_not_replaced(cli: Cli, packets: Path, here: Path) -> None:
    assert cli(*forest(packets, "--out", "run", "--quiet")).code == 0
    options = ("--label", "label", "--drop", "time", "--out", "run")
    outcome = cli("train", "forest", "run/predictions.parquet", *options)
    assert outcome.code == 2
    assert "which it would replace" in outcome.err


def test_without_the_extra_it_says_how_to_get_it(
    cli: Cli, packets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "find_spec", lambda name: None)
    for arguments in (forest(packets), ("train", "--list")):
        outcome = cli(*arguments)
        assert outcome.code == 2
        assert "pip install 'assay-detectors[learn]'" in outcome.err
    assert cli("train", "--help").code == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
def test_an_interruption_leaves_nothing_half_written(
    ready: Callable[..., None], packets: Path, here: Path
) -> None:
    command = [*map(str, forest(packets, "--out", "run", "--set", "trees=20000"))]
    started = subprocess.Popen(
        [sys.executable, "-m", "assay", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    ready(started)
    time.sleep(1)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=120)
    assert started.returncode == 130, err
    assert list(here.iterdir()) == []


# -- what it says ----------------------------------------------------------------------------------


def test_the_help_lists_every_recipe_as_it_calls_itself(cli: Cli) -> None:
    assert {recipe.name: recipe.summary for recipe in recipes.RECIPES} == RECIPES
    shown = " ".join(cli("train", "--help").out.split())
    for name in (*RECIPES, "package.module:factory"):
        assert name in shown


@pytest.mark.parametrize("command", [("train", "ddos-tree"), ("check", "--recipe", "ddos-tree")])
def test_an_old_name_of_a_recipe_is_a_note(cli: Cli, command: tuple[str, ...]) -> None:
    ended = cli(*command, "absent.csv", "--label", "label")
    assert ended.code == 3
    assert "note: the recipe name 'ddos-tree' is deprecated: use 'tree'." in ended.err


def test_the_help_names_every_scheme() -> None:
    option = next(param for param in train.command.params if param.name == "validation")
    assert option.default == DEFAULT
    for scheme in SCHEMES:
        if scheme != "group:COL,k=5":
            assert scheme in train.SCHEMES


def test_the_list_shows_every_setting(cli: Cli) -> None:
    shown = cli("train", "--list")
    assert shown.code == 0
    for recipe in recipes.RECIPES:
        assert f"{recipe.name}: {recipe.summary}\n" in shown.out
        for name in recipe.settings:
            assert f"--set {name}=" in shown.out


def test_what_libraries_warn_about_is_a_note(cli: Cli, packets: Path, here: Path) -> None:
    (here / "warns.py").write_text(
        "import warnings\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "def make():\n"
        "    warnings.warn('this is old\\nsecond line')\n"
        "    return DecisionTreeClassifier(max_depth=2)\n"
    )
    options = ("--label", "label", "--drop", "family", "--drop", "time")
    shown = cli("train", "warns:make", packets, *options)
    assert shown.code == 0
    assert shown.err.count("note: this is old\n") == 1
    assert "second line" not in shown.err


@pytest.mark.slow
def test_the_examples_of_the_help_run(
    cli: Cli, packets: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pl.read_csv(packets).with_columns(
        t=pl.when(pl.int_range(pl.len()) < 500)
        .then(pl.lit("2026-03-02"))
        .otherwise(pl.lit("2026-03-03"))
    )
    rows.write_csv("flows.csv")
    rows[:600].drop("label").rename({"family": "label"}).write_csv("train.csv")
    rows[600:].drop("label").rename({"family": "label"}).write_csv("test.csv")
    pl.DataFrame({"title": ["one two", "two three"] * 20, "category": ["a", "b"] * 20}).write_csv(
        "titles.csv"
    )
    quick = {
        "forest": ("--set", "trees=3"),
        "network": ("--set", "epochs=1", "--set", "hidden=4"),
        "detector": ("--set", "trees=3"),
        "text": ("--positive", "a", "--set", "characters=0"),
        "sklearn.ensemble:ExtraTreesClassifier": ("--set", "n_estimators=3"),
    }
    for _, line in EXAMPLES:
        arguments = shlex.split(line)[1:]
        outcome = cli(*arguments, *quick[arguments[1]])
        assert outcome.code == 0, outcome.err


# -- official splits -------------------------------------------------------------------------------


def official(learned: list[str], judged: list[str]) -> tuple[str, ...]:
    """Two files whose rows bear these labels in turn, and how to train on them."""
    for name, labels in (("train.csv", learned), ("test.csv", judged)):
        rows = [{"x": i % 7, "label": labels[i % len(labels)]} for i in range(60)]
        pl.DataFrame(rows).write_csv(name)
    options = ("--label", "label", "--set", "trees=2", "--validation", "file:test.csv")
    return ("train", "forest", "train.csv", *options)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("learned", "judged", "option", "labels"),
    [
        ("normal dos probe", "normal worm", ("--negative", "normal"), "normal,not normal"),
        ("normal dos probe", "normal dos", ("--negative", "normal"), "normal,not normal"),
        ("normal dos", "normal dos worm", ("--negative", "normal"), "normal,not normal"),
        ("normal dos", "normal dos", ("--negative", "normal"), "normal,dos"),
        ("normal dos probe", "worm dos", ("--negative", "normal"), "normal,not normal"),
        ("normal dos probe", "normal dos", ("--positive", "dos"), "not dos,dos"),
        ("normal dos probe", "worm dos", ("--positive", "dos"), "not dos,dos"),
        ("normal dos probe", "normal dos", (), "dos,normal,probe"),
        ("normal attack", "attack attack", (), "normal,attack"),
    ],
)
def test_classes_of_an_official_test_are_those_learned(
    cli: Cli, here: Path, learned: str, judged: str, option: tuple[str, ...], labels: str
) -> None:
    shown = cli(*official(learned.split(), judged.split()), *option, "--out", "run", "--quiet")
    assert shown.code == 0, shown.err
    assert json.loads((here / "run" / "run.json").read_text())["labels"] == labels.split(",")
    frame = pl.read_parquet("run/predictions.parquet")
    assert set(frame["label"]) <= set(labels.split(","))
    if "--negative" in option:
        assert set(frame["family"]) == set(judged.split())
        assert ((frame["family"] == "normal") == (frame["label"] == "normal")).all()


@pytest.mark.parametrize("option", [(), ("--positive", "dos")])
def test_a_class_that_was_never_learned_is_refused(
    cli: Cli, here: Path, option: tuple[str, ...]
) -> None:
    learned = ["normal", "dos"] if option else ["normal", "dos", "probe"]
    shown = cli(*official(learned, ["normal", "worm"]), *option)
    assert shown.code == 3
    assert "test.csv holds the label 'worm', which train.csv does not" in shown.err
    assert "--labels" not in shown.err


def test_text_among_the_numbers_of_an_official_test_is_a_bad_row(cli: Cli, here: Path) -> None:
    command = official(["normal", "attack"], ["normal", "attack"])
    with Path("test.csv").open("a") as file:
        file.write("oops,normal\n")
    shown = cli(*command)
    assert shown.code == 3
    assert "test.csv, line 62: column 'x': found 'oops', expected a number" in shown.err
    shown = cli(*command, "--on-bad-row", "skip", "--format", "json")
    assert shown.code == 0, shown.err
    document = json.loads(shown.out)
    assert document["training"]["test"]["rows_refused"] == 1
    source = document["source"]
    assert (source["rows_read"], source["rows_used"], source["rows_refused"]) == (61, 60, 1)
    assert source["refused"][0]["row"] == 61


def test_times_of_both_parts_have_a_zone_or_none(cli: Cli, here: Path) -> None:
    command = official(["normal", "attack"], ["normal", "attack"])
    for name, zone in (("train.csv", ""), ("test.csv", "Z")):
        rows = pl.read_csv(name).with_columns(t=pl.lit(f"2026-03-02T10:00:00{zone}"))
        rows.write_csv(name)
    shown = cli(*command, "--time", "t")
    assert shown.code == 3
    assert "test.csv, line 2" in shown.err
    assert "has a time zone and train.csv has none" in shown.err


def test_a_dropped_column_may_be_absent_from_the_official_test(cli: Cli, here: Path) -> None:
    command = official(["normal", "attack"], ["normal", "attack"])
    pl.read_csv("train.csv").with_columns(difficulty=1).write_csv("train.csv")
    assert "test.csv has no column 'difficulty'" in cli(*command).err
    assert cli(*command, "--drop", "difficulty").code == 0


def test_a_row_without_a_time_to_split_by_is_a_bad_row(cli: Cli, here: Path) -> None:
    rows = [f"{i % 7},2026-03-{1 + i % 28:02},{'normal' if i % 3 else 'attack'}" for i in range(60)]
    rows[4] = "5,,normal"
    Path("flows.csv").write_text("x,seen,label\n" + "\n".join(rows) + "\n")
    options = ("--label", "label", "--validation", "time:seen@2026-03-15", *FEW)
    command = ("train", "forest", "flows.csv", *options)
    shown = cli(*command)
    assert shown.code == 3
    assert "flows.csv, line 6: column 'seen': found nothing" in shown.err
    assert cli(*command, "--on-bad-row", "skip", "--out", "run").code == 0
    assert pl.read_parquet("run/predictions.parquet")["time"].dtype == pl.Datetime("us")


def test_what_a_recipe_of_ones_own_prints_is_no_part_of_the_report(
    cli: Cli, packets: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "loud_recipe.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\n"
        "def make():\n"
        "    print('LOUD')\n"
        "    return DecisionTreeClassifier(max_depth=3)\n"
    )
    monkeypatch.syspath_prepend(str(here))
    for command in (("train", "loud_recipe:make"), ("check", "--recipe", "loud_recipe:make")):
        shown = cli(*command, str(packets), "--label", "label", "--format", "json", "--quiet")
        json.loads(shown.out)
        assert "LOUD" in shown.err


def test_advice_of_folds_goes_by_the_error_not_by_its_words(cli: Cli, tmp_path: Path) -> None:
    """A file may be called as the message reads."""
    odd = tmp_path / "no column '3'.csv"
    odd.write_text("a,label\n1,x\n2,y\n", encoding="utf-8")
    answer = cli("train", "tree", odd, "--label", "absent", "--validation", "folds:3")
    assert answer.code == 3
    assert "has no column 'absent'" in answer.err
    assert "kfold" not in answer.err
