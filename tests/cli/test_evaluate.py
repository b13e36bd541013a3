"""``assay evaluate``: each option acts, and what it gives is what the library gives."""

import io
import json
import re
import shlex
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import assay
from assay.cli import messages
from assay.cli.app import run
from assay.cli.evaluate import EXAMPLES, INTERVALS
from assay.evaluation.plotting import Plots
from assay.inference import METHODS

Cli = Callable[..., Any]


@pytest.fixture
def told(cli: Cli, predictions: Path) -> Callable[..., dict[str, Any]]:
    """The document that a command line gives for the twelve predictions."""

    def document(*options: str) -> dict[str, Any]:
        outcome = cli("evaluate", predictions, *options, "--format", "json")
        assert outcome.code == 0, outcome.err
        result: dict[str, Any] = json.loads(outcome.out)
        return result

    return document


def estimate(document: dict[str, Any], measure: str, **where: Any) -> dict[str, Any]:
    estimates = [
        each
        for each in document["estimates"]
        if each["measure"] == measure
        and all(
            each[key] == value for key, value in {"slice": None, "base_rate": None, **where}.items()
        )
    ]
    return dict(estimates[0])


# -- the numbers -----------------------------------------------------------------------------------


def test_it_gives_what_the_library_gives(
    told: Callable[..., dict[str, Any]], predictions: Path
) -> None:
    rows = pl.read_csv(predictions)
    expected = assay.evaluate(rows["label"], y_score=rows["score"]).to_dict()
    document = told()
    assert document["confusion"] == expected["confusion"] == [[7, 1], [1, 3]]
    assert document["estimates"] == expected["estimates"]
    assert document["source"]["name"].endswith("predictions.csv")
    assert document["source"]["rows_used"] == 12


def test_the_threshold_moves_the_decisions(told: Callable[..., dict[str, Any]]) -> None:
    assert told("--threshold", "0.8")["confusion"] == [[8, 0], [2, 2]]
    assert told("--threshold", "0.8")["threshold"] == 0.8


def test_a_threshold_may_be_negative(told: Callable[..., dict[str, Any]]) -> None:
    assert told("--threshold", "-1")["confusion"] == [[0, 8], [0, 4]]


def test_the_positive_label_may_be_turned_round(told: Callable[..., dict[str, Any]]) -> None:
    assert told("--positive", "normal")["positive"] == "normal"
    assert told("--negative", "attack")["positive"] == "normal"


def test_the_level_widens_the_intervals(told: Callable[..., dict[str, Any]]) -> None:
    wide, narrow = told("--level", "99%"), told("--level", "0.8")
    assert (wide["level"], narrow["level"]) == (0.99, 0.8)
    assert estimate(wide, "recall")["low"] < estimate(narrow, "recall")["low"]


@pytest.mark.parametrize("written", ["0.001", "0.1%", "1/1000", "1e-3"])
def test_a_base_rate_may_be_written_in_any_way(
    told: Callable[..., dict[str, Any]], written: str
) -> None:
    document = told("--base-rate", written, "--volume", "1e6")
    assert estimate(document, "precision", base_rate=0.001)["value"] < 0.01
    assert estimate(document, "alerts_per_day", base_rate=0.001)["value"] > 1000
    assert document["volume"] == 1e6


def test_several_base_rates_stand_side_by_side(told: Callable[..., dict[str, Any]]) -> None:
    document = told("--base-rate", "1%", "--base-rate", "0.1%")
    rates = {each["base_rate"] for each in document["estimates"]} - {None}
    assert rates == {0.01, 0.001}


def test_slices_and_families_are_judged(told: Callable[..., dict[str, Any]]) -> None:
    document = told("--slice", "protocol", "--family", "family")
    slices = {tuple(each["slice"].values()) for each in document["estimates"] if each["slice"]}
    assert {("protocol", "tcp"), ("protocol", "udp"), ("family", "dos")} <= slices


def test_interval_methods_are_those_of_the_library() -> None:
    assert set(INTERVALS) == set(METHODS)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("method", INTERVALS)
def test_every_interval_method_can_be_asked_for(
    told: Callable[..., dict[str, Any]], predictions: Path, method: str
) -> None:
    # Some are for rows that were drawn: here each stands for two.
    drawn: tuple[str, ...] = ()
    if method in ("bootstrap", "bca"):
        drawn = ("--resamples", "100")
    elif method in ("fay-feuer", "tiwari"):
        header, *rows = predictions.read_text().splitlines()
        lines = [f"{header},stratum,weight", *(f"{row},1,2" for row in rows)]
        predictions.write_text("\n".join(lines) + "\n")
        drawn = ("--strata", "stratum", "--weight", "weight")
    methods = {each["method"] for each in told("--interval", method, *drawn)["estimates"]}
    assert method in methods


def test_a_bootstrap_draws_as_often_and_from_the_seed_that_was_asked_for(
    told: Callable[..., dict[str, Any]],
) -> None:
    def ends(*options: str) -> list[Any]:
        estimates = told("--interval", "bootstrap", *options)["estimates"]
        return [(each["low"], each["high"]) for each in estimates if each["method"] == "bootstrap"]

    few = ends("--resamples", "40")
    assert few == ends("--resamples", "40", "--seed", "42")
    assert few != ends("--resamples", "40", "--seed", "7")
    assert few != ends("--resamples", "41")


def test_labels_may_be_listed(told: Callable[..., dict[str, Any]]) -> None:
    assert told("--labels", "normal,attack")["labels"] == ["normal", "attack"]


def test_labels_of_numbers_are_given_as_text(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pl.DataFrame({"y_true": [0, 1, 1, 0], "y_pred": [0, 1, 0, 0]}).write_parquet(path)
    outcome = cli("evaluate", path, "--positive", "0", "--format", "json")
    assert json.loads(outcome.out)["positive"] == "0"


def test_probabilities_are_named_one_by_one_or_by_a_pattern(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        "label,p_a,p_b,p_c\na,0.7,0.2,0.1\nb,0.1,0.8,0.1\nc,0.3,0.3,0.4\na,0.4,0.5,0.1\n"
    )
    pattern = cli("evaluate", path, "--probabilities", "p_*", "--format", "json")
    named = (f"--probability={label}=p_{label}" for label in "abc")
    one_by_one = cli("evaluate", path, *named, "--format", "json")
    assert pattern.code == 0, pattern.err
    document, again = json.loads(pattern.out), json.loads(one_by_one.out)
    assert document["labels"] == ["a", "b", "c"]
    assert document.pop("provenance") != again.pop("provenance")
    assert document == again


def test_counts_weights_clusters_and_times_are_read(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    rows = "".join(
        f"{label},{i / 40},{1 + i % 4},{1 + i % 2},h{i % 5},2026-03-{1 + i % 9:02}\n"
        for i, label in enumerate(["normal", "attack", "attack", "attack"] * 10)
    )
    path.write_text("label,score,n,w,host,day\n" + rows)
    for options in (["--count", "n"], ["--weight", "w"], ["--cluster", "host"], ["--time", "day"]):
        outcome = cli("evaluate", path, *options, "--format", "json")
        assert outcome.code == 0, outcome.err
        document = json.loads(outcome.out)
        if options[0] == "--count":
            assert sum(map(sum, document["confusion"])) == 100
        if options[0] == "--cluster":
            assert estimate(document, "recall")["method"].startswith("cluster")
        if options[0] == "--time":
            assert document["alerts_per_day"]


def test_measures_are_followed_by_period_and_the_top_of_each_day_is_judged(
    cli: Cli, flows: Path
) -> None:
    options = ("--time", "time", "--period", "week", "--top", "5", "--cluster", "host")
    outcome = cli("evaluate", flows, *options, "--format", "json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    periods = document["periods"]
    assert (periods["column"], periods["period"]) == ("time", "week")
    assert all(re.fullmatch(r"\d{4}-W\d{2}", name) for name in periods["names"])
    assert sum(periods["rows"]) == document["source"]["rows_used"]
    assert 0 < estimate(document, "precision_at_top")["value"] <= 1
    assert document["top"]["k"] == 5
    week = {"column": "time", "value": periods["names"][0]}
    assert estimate(document, "roc_auc", slice=week)["value"] is not None
    told = cli("evaluate", flows, *options)
    assert "Over time" in told.out
    assert "Top alerts of a day" in told.out


def test_a_bad_time_is_refused_with_its_row(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("label,score,at\nattack,0.9,2026-03-01\nnormal,0.1,soon\n")
    outcome = cli("evaluate", path, "--time", "at", "--period", "month")
    assert outcome.code == 3
    assert "line 3: column 'at': found 'soon', expected a date" in outcome.err


def test_a_top_of_decisions_says_what_it_needs(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("label,decision\nattack,attack\nnormal,normal\n")
    outcome = cli("evaluate", path, "--top", "1", "--volume", "10")
    assert outcome.code == 3
    assert "--score" in outcome.err


# -- bad rows and rows without a label -------------------------------------------------------------


def test_bad_rows_are_left_out_and_listed_on_request(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("label,score\nattack,0.9\nnormal,0.1\nattack,\n,0.5\nnormal,0.2\n")
    assert cli("evaluate", path).code == 3
    outcome = cli("evaluate", path, "--on-bad-row", "skip", "--format", "json")
    source = json.loads(outcome.out)["source"]
    assert (source["rows_read"], source["rows_used"], source["rows_refused"]) == (5, 3, 2)
    assert [each["row"] for each in source["refused"]] == [3, 4]


def test_rows_without_a_label_are_allowed_on_request(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("label,score\nattack,0.9\nnormal,0.8\nattack,0.7\n,0.1\n,0.2\n")
    assert cli("evaluate", path).code == 3
    document = json.loads(cli("evaluate", path, "--unlabelled", "allow", "--format", "json").out)
    assert estimate(document, "precision")["value"] == pytest.approx(2 / 3)
    assert estimate(document, "recall")["value"] is None


# -- rows of a label that the model does not know --------------------------------------------------

OPEN = "label,p_dos,p_normal,p_probe\n" + "".join(
    f"{label},{shares}\n"
    for label, shares in (
        *(("dos", "0.75,0.125,0.125"), ("normal", "0.25,0.5,0.25"), ("probe", "0.5,0.25,0.25")),
        *(("normal", "0,0.875,0.125"), ("botnet", "0.25,0.25,0.5"), ("botnet", "0.625,0.25,0.125")),
    )
)


def test_an_unknown_label_opens_the_set(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "classes.csv"
    path.write_text(OPEN)
    asked = ("evaluate", path, "--probabilities", "p_*")
    outcome = cli(*asked, "--unknown", "botnet", "--format", "json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert document["labels"] == ["dos", "normal", "probe"]
    # Surer than both: two rows; tied with one: two. The third row is taken for another class.
    assert estimate(document, "known_auc")["value"] == pytest.approx((2 + 2 + 0.5 + 0.5) / 8)
    assert estimate(document, "oscr")["value"] == pytest.approx((2 + 2 + 0.5) / 8)
    assert "2 rows are labelled 'botnet', which the model does not know" in outcome.err
    for label, said in (("worm", "--unknown 'worm' does not occur"), ("dos", "the model knows it")):
        refused = cli(*asked, "--unknown", label)
        assert refused.code == 3
        assert said in refused.err


# -- where rows come from --------------------------------------------------------------------------


def test_standard_input_is_a_dash(
    cli: Cli, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = json.loads(cli("evaluate", predictions, "--format", "json").out)
    with predictions.open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        document = json.loads(cli("evaluate", "-", "--format", "json").out)
    assert document["estimates"] == expected["estimates"]
    (told,), (file,) = (each["provenance"]["inputs"] for each in (document, expected))
    assert told == {**file, "name": "standard input"}
    assert told["sha256"] is not None


def test_a_file_that_grows_while_it_is_read_is_told(
    cli: Cli, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def growing(*given: Any, **options: Any) -> Any:
        with predictions.open("a") as more:
            more.write("normal,0.3,normal,tcp\n")
        return judge(*given, **options)

    judge = assay.evaluate_files
    monkeypatch.setattr(assay, "evaluate_files", growing)
    for face in ("terminal", "json"):
        outcome = cli("evaluate", predictions, "--format", face)
        assert outcome.code == 0
        assert f"warning: {predictions} changed while it was read" in outcome.err
    assert json.loads(outcome.out)["provenance"]["inputs"][0]["sha256"] is None
    assert any("changed while it was read" in note for note in json.loads(outcome.out)["notes"])


def test_a_parquet_file_that_is_replaced_while_it_is_read_is_told(
    cli: Cli, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = predictions.with_suffix(".parquet")
    rows = pl.read_csv(predictions)
    rows.write_parquet(file)

    def replaced(*given: Any, **options: Any) -> Any:
        judged = judge(*given, **options)
        pl.concat([rows, rows]).write_parquet(file)
        return judged

    judge = assay.evaluate_files
    monkeypatch.setattr(assay, "evaluate_files", replaced)
    outcome = cli("evaluate", file, "--format", "markdown")
    assert f"warning: {file} changed while it was read" in outcome.err
    assert "changed while it was read" in outcome.out


def test_several_files_are_read_as_one(cli: Cli, predictions: Path) -> None:
    more = predictions.with_name("more.csv")
    more.write_bytes(predictions.read_bytes())
    document = json.loads(cli("evaluate", predictions, more, "--format", "json").out)
    assert document["source"]["rows_used"] == 24


def test_a_star_is_a_name_unless_glob_is_asked_for(cli: Cli, predictions: Path) -> None:
    pattern = predictions.parent / "pred*.csv"
    assert cli("evaluate", pattern).code == 3
    assert cli("evaluate", pattern, "--glob").code == 0


def test_an_encoding_and_a_delimiter_may_be_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes("label;score\nsécurité;0.9\nnormal;0.1\n".encode("cp1252"))
    options = ["--encoding", "cp1252", "--delimiter", ";", "--positive", "sécurité"]
    outcome = cli("evaluate", path, *options, "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["positive"] == "sécurité"


def test_a_name_beginning_with_a_dash_follows_two_dashes(
    cli: Cli, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predictions.rename(predictions.with_name("-p.csv"))
    monkeypatch.chdir(predictions.parent)
    assert cli("evaluate", "--quiet", "--", "-p.csv").code == 0


# -- what is said beside the report ----------------------------------------------------------------


def test_guesses_are_told_beside_a_report_for_programs(cli: Cli, predictions: Path) -> None:
    outcome = cli("evaluate", predictions, "--format", "json")
    assert "note: the label is column 'label', recognised by its name\n" in outcome.err
    assert "note: the score is column 'score', recognised by its name\n" in outcome.err
    assert "note: 'attack' was taken as the positive label" in outcome.err


def test_what_was_named_is_not_told(cli: Cli, predictions: Path) -> None:
    named = ["--label", "label", "--score", "score", "--positive", "attack"]
    assert "note: the" not in cli("evaluate", predictions, *named).err


def test_findings_are_told_beside_a_report_for_programs(cli: Cli, predictions: Path) -> None:
    assert "E009" in cli("evaluate", predictions, "--format", "csv").err
    assert "E009" in cli("evaluate", predictions, "--out", predictions.with_suffix(".txt")).err


def test_a_report_in_a_terminal_says_it_all_itself(cli: Cli, predictions: Path) -> None:
    outcome = cli("evaluate", predictions)
    assert all("recognised by its name" in line for line in outcome.err.splitlines())
    assert "E009" in outcome.out
    assert "'attack' was taken as the positive label" in " ".join(outcome.out.split())


def test_a_report_says_how_it_was_made(cli: Cli, predictions: Path) -> None:
    out = predictions.with_name("r.html")
    assert cli("evaluate", predictions, "--positive", "attack", "--out", out).code == 0
    page = out.read_text("utf-8")
    assert "assay evaluate" in page
    assert "--positive attack" in page
    assert assay.__version__ in page


# -- figures ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blank_pages")
def test_figures_are_written_for_a_paper(cli: Cli, predictions: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = predictions.parent / "figures"
    outcome = cli("evaluate", predictions, "--figures", folder, "--format", "json")
    assert outcome.code == 0, outcome.err
    assert {path.suffix for path in folder.iterdir()} == {".pdf", ".svg"}
    assert f"figures into {folder}" in outcome.err
    assert sorted(path.name for path in predictions.parent.iterdir()) == [
        "figures",
        "predictions.csv",
    ]


def test_where_there_is_nothing_to_draw_that_is_told(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = tmp_path / "rows.csv"
    rows.write_text("label,score\n1,0.9\n0,0.8\n,0.1\n")
    outcome = cli("evaluate", rows, "--unlabelled", "allow", "--figures", tmp_path / "figures")
    assert outcome.code == 0, outcome.err
    assert "nothing to draw" in outcome.err


@pytest.mark.parametrize("way", ["file", "link", "folder"])
def test_a_report_never_replaces_its_input(cli: Cli, predictions: Path, way: str) -> None:
    before, out, asked = predictions.read_bytes(), predictions, predictions
    if way == "link":
        out = predictions.parent / "link.csv"
        out.symlink_to(predictions)
    elif way == "folder":
        asked = predictions.parent
    outcome = cli("evaluate", asked, "--out", out)
    assert outcome.code == 2
    assert "is an input, which it would replace" in outcome.err
    assert predictions.read_bytes() == before


def test_figures_on_a_full_disk_leave_nothing(
    cli: Cli, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Plots, folder: Path, formats: object) -> None:
        (folder / "roc.svg").write_text("<svg")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Plots, "save", full)
    outcome = cli("evaluate", predictions, "--figures", predictions.parent / "figures")
    assert outcome.code == 4
    assert outcome.out == ""
    assert "figures could not be written: No space left on device" in outcome.err
    assert [path.name for path in predictions.parent.iterdir()] == ["predictions.csv"]


def test_figures_need_a_place(cli: Cli, predictions: Path) -> None:
    for place in (predictions, predictions / "x", predictions.parent / "no" / "where"):
        outcome = cli("evaluate", predictions, "--figures", place)
        assert outcome.code == 4
        assert outcome.out == ""


def test_figures_without_their_extra_say_how_to_get_it(
    cli: Cli, predictions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "find_spec", lambda name: None)
    outcome = cli("evaluate", predictions, "--figures", predictions.parent / "figures")
    assert outcome.code == 2
    assert "assay-detectors[plot]" in outcome.err


# -- usage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--count k --weight w", "--count or --weight, not both"),
        ("--score s --probabilities p_*", "--score or probabilities, not both"),
        ("--decision d --threshold 0.3", "--threshold decides by the score"),
        ("--out report.foo", "the suffix .foo tells no format"),
        ("--positive a --negative b", "--positive or --negative"),
        ("--resamples 100", "--interval bootstrap"),
        ("--resamples 100 --interval wilson", "--interval bootstrap"),
        ("--interval bootstrap --resamples 1", "1 is not in the range"),
        ("--interval jackknife", "'jackknife' is not one of"),
        ("--probability a=p --probabilities p_*", "--probability or --probabilities"),
        ("--probability a=p --probability a=q", "same label twice"),
        ("--base-rate 20", "between 0 and 1"),
        ("--volume 0", "not above 0"),
        ("--period month", "name it, --time"),
        ("--time t --period year", "'year' is not one of"),
        ("--top 5", "--time, or say how many rows a day has, --volume"),
        ("--top 0 --volume 9", "0 is not in the range"),
        ("--level 1", "between 0 and 1"),
        ("--seed -1", "-1 is not in the range"),
        ("--threshold nan", "not a finite number"),
        ("--max-memory lots", "no size"),
        ("--on-bad-row ignore", "'ignore' is not one of"),
        ("--format pdf", "'pdf' is not one of"),
        ("--input-format xls", "'xls' is not one of"),
        ("--encoding klingon", "no known encoding"),
        ("--delimiter ab", "one plain character"),
        ("--quote ab", "one plain sign"),
        ("--skip-lines -1", "-1 is not in the range"),
        ("--skip-lines one", "'one' is not a valid integer"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_read(cli: Cli, options: str, said: str) -> None:
    outcome = cli("evaluate", "missing.csv", *shlex.split(options))
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert said in outcome.err


# -- the examples of the help ----------------------------------------------------------------------


@pytest.mark.sampled(6)
@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_of_the_help_run(
    cli: Cli, flows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (tmp_path / "predictions.csv").symlink_to(flows)
    (tmp_path / "classes.csv").write_text(OPEN)
    if "sqlite:" in line:
        connection = sqlite3.connect(tmp_path / "flows.db")
        connection.execute("create table flows (label text, score real)")
        rows = pl.read_csv(flows).select("label", "score").rows()
        connection.executemany("insert into flows values (?, ?)", rows[:500])
        connection.commit()
        connection.close()
    monkeypatch.chdir(tmp_path)
    before, _, command = line.rpartition("| ")
    with flows.open("rb") as stream, io.TextIOWrapper(stream) as typed:
        assert before in ("", "cat predictions.csv ")
        monkeypatch.setattr(sys, "stdin", typed)
        outcome = cli(*shlex.split(command)[1:])
    assert outcome.code == 0, outcome.err
    assert outcome.out or "--out" in line


@pytest.mark.parametrize("option", [("--top", "5"), ("--unknown", "x"), ("--period", "day")])
def test_counts_have_no_rows_to_rank_or_to_follow(option: tuple[str, str]) -> None:
    assert run(["evaluate", "--cells", "tp=1,fp=2,fn=3,tn=4", "--volume", "9", *option]) == 2


def test_rows_of_an_unknown_label_are_followed_over_time(tmp_path: Path) -> None:
    lines = ["label,time,p_a,p_b,p_c"]
    for i in range(60):
        label = "abcz"[i % 4]
        shares = [0.2, 0.2, 0.2]
        shares["abcz".index(label) % 3] = 0.6
        lines.append(",".join([label, f"2026-0{1 + i // 30}-11", *map(str, shares)]))
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    out = tmp_path / "out.json"
    asked = ["--probabilities", "p_*", "--unknown", "z", "--time", "time", "--period", "month"]
    assert run(["evaluate", str(path), *asked, "--out", str(out)]) == 0
    document = json.loads(out.read_text("utf-8"))
    assert document["periods"]["names"] == ["2026-01", "2026-02"]
    measures = {entry["measure"]: entry["value"] for entry in document["estimates"]}
    assert measures["oscr"] == 0.5


def test_costs_are_shown_wherever_they_were_said(capfd: pytest.CaptureFixture[str]) -> None:
    cells = ["--cells", "tp=6635,fp=167,fn=324,tn=7743", "--cost-fp", "1", "--cost-fn", "20"]
    assert run(["evaluate", *cells]) == 0
    out = capfd.readouterr().out
    assert "expected cost" in out
    assert "net benefit" in out


def test_the_modes_offered_are_those_there_are() -> None:
    from assay.cli import compare, gate
    from assay.cli.options import MODES as OFFERED
    from assay.engines.models import PAIR_MODES
    from assay.tally.keeping import MODES

    assert OFFERED == MODES
    for module in (compare, gate):
        (option,) = [p for p in module.command.params if p.name == "mode"]
        assert tuple(option.type.choices) == PAIR_MODES
