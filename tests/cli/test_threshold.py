"""``assay threshold``: each option acts, and what it gives is what the library gives."""

import io
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.cli.options import family_share
from assay.cli.threshold import EXAMPLES
from assay.decisions.threshold import Choice, choose_threshold_files
from assay.decisions.threshold.estimates import BREAKS
from assay.learn.scenarios import make_flows
from assay.sources.files import Request

Cli = Callable[..., Any]
Told = Callable[..., dict[str, Any]]
REAL = Path(__file__).parents[3] / "shared" / "data" / "preds_safelink_ann.parquet"
FEW = ("--resamples", "20")


@pytest.fixture
def told(cli: Cli, flows: Path) -> Told:
    """The document that a command line gives for the flows of the demo."""

    def document(*options: str, files: tuple[Path, ...] = ()) -> dict[str, Any]:
        outcome = cli("threshold", *(files or (flows,)), *options, *FEW, "--format", "json")
        assert outcome.code == 0, outcome.err
        result: dict[str, Any] = json.loads(outcome.out)
        return result

    return document


@pytest.fixture(scope="session")
def halves(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The flows of the demo in two files, every other row."""
    flows = make_flows()
    frame = pl.DataFrame(
        {"label": flows.label, "family": flows.family, "score": flows.new, "host": flows.host}
    )
    folder = tmp_path_factory.mktemp("halves")
    paths = folder / "monday.csv", folder / "tuesday.csv"
    for i, path in enumerate(paths):
        frame.gather_every(2, i).write_csv(path)
    return paths


def value(point: dict[str, Any], measure: str, base_rate: float | None = None) -> float:
    (number,) = [
        each["value"]
        for each in point["estimates"]
        if (each["measure"], each["slice"], each["base_rate"]) == (measure, None, base_rate)
    ]
    return float(number)


# -- the numbers -----------------------------------------------------------------------------------


def test_it_gives_what_the_library_gives(told: Told, flows: Path) -> None:
    document = told("--max-fpr", "0.2%", "--family", "family", "--base-rate", "1/1000")
    expected: Choice = choose_threshold_files(
        str(flows), Request(family="family"), max_fpr=0.002, base_rate=0.001, resamples=20
    )
    plain = expected.to_dict()
    del document["headline"], document["provenance"]
    assert document == json.loads(json.dumps(plain))
    assert document["schema"] == "assay.threshold/1"


def test_a_promise_is_safer_than_the_optimum_of_the_rows(told: Told) -> None:
    document = told("--max-fpr", "0.01")
    assert document["guaranteed"]["threshold"] > document["empirical"]["threshold"]
    assert value(document["empirical"], "false_positive_rate") <= 0.01
    assert document["guaranteed"]["confidence"] == 0.9
    assert document["empirical"]["confidence"] is None
    assert BREAKS in document["empirical"]["rule"]


def test_more_confidence_takes_a_higher_threshold(told: Told) -> None:
    low, high = (
        told("--max-fpr", "0.002", "--confidence", c)["guaranteed"]["threshold"]
        for c in ("0.5", "99%")
    )
    assert low < high


def test_constraints_share_the_error(told: Told) -> None:
    alone, both = told("--max-fpr", "0.002"), told("--max-fpr", "0.002", "--min-dr", "0.5")
    assert both["constraints"] == {"max_fpr": 0.002, "min_dr": 0.5}
    assert both["guaranteed"]["threshold"] > alone["guaranteed"]["threshold"]
    assert any("Bonferroni" in note for note in both["notes"])


def test_the_detection_rate_may_be_asked_of_families(told: Told) -> None:
    of_family = told("--min-dr", "0.8", "--min-dr", "dos=90%", "--family", "family")
    assert of_family["constraints"] == {"min_dr": 0.8, "min_dr.dos": 0.9}
    of_each = told("--min-dr-each-family", "0.3", "--family", "family")
    assert len(of_each["constraints"]) == 5
    assert set(of_each["constraints"].values()) == {0.3}
    assert of_each["objective"] == "lowest false alarm rate"


def test_every_label_but_the_negative_is_a_family(cli: Cli, halves: tuple[Path, Path]) -> None:
    options = ("--label", "family", "--negative", "normal", "--min-dr", "dos=0.5")
    outcome = cli("threshold", halves[0], *options, *FEW, "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["constraints"] == {"min_dr.dos": 0.5}


def test_a_budget_of_alerts_is_kept(told: Told) -> None:
    document = told("--max-alerts", "3000", "--volume", "1e6", "--base-rate", "0.1%")
    for point in (document["guaranteed"], document["empirical"]):
        assert value(point, "alerts_per_day", 0.001) <= 3000
        assert 0 <= value(point, "days_over_budget", 0.001) <= 1


def test_costs_choose_the_cheapest(told: Told) -> None:
    dear, cheap = (told("--cost-fp", "1", "--cost-fn", c)["empirical"] for c in ("100", "1"))
    assert dear["threshold"] < cheap["threshold"]
    assert value(dear, "expected_cost") > 0


def test_without_constraints_the_usual_thresholds_are_shown(told: Told) -> None:
    document = told()
    assert document["empirical"] is document["guaranteed"] is document["infeasible"] is None
    names = [point["name"] for point in document["candidates"]]
    assert names == ["Youden", "best F1", "best MCC", "equal error"]


def test_what_is_not_possible_is_an_answer_and_comes_first(cli: Cli, flows: Path) -> None:
    options = ("--max-far", "10%", "--base-rate", "1e-4", *FEW)
    outcome = cli("threshold", flows, *options)
    assert outcome.code == 0
    said = outcome.out.split("\n\n")[1]
    assert said.startswith("Not possible on this data")
    assert "negatives without one false alarm" in " ".join(said.split())
    document = json.loads(cli("threshold", flows, *options, "--format", "json").out)
    assert document["guaranteed"] is None
    assert document["infeasible"].startswith("Not possible on this data")


# -- other rows ------------------------------------------------------------------------------------


def test_a_holdout_judges_the_threshold(told: Told, halves: tuple[Path, Path]) -> None:
    first, second = halves
    options = ("--max-fpr", "0.005", "--family", "family")
    document = told(*options, "--holdout", str(second), files=(first,))
    assert document["holdout"]["of"] == "guaranteed"
    assert document["holdout"]["threshold"] == document["guaranteed"]["threshold"]
    assert document["holdout"]["source"]["rows_used"] == 10_000
    (constraint,) = document["holdout"]["constraints"]
    assert (constraint["constraint"], constraint["held"]) == ("max_fpr", True)
    codes = {finding["code"] for finding in document["findings"]}
    assert "T001" not in codes
    assert "T001" in {finding["code"] for finding in told(*options, files=(first,))["findings"]}


@pytest.mark.parametrize("face", ["json", "html"])
def test_rows_that_judge_themselves_are_a_finding_in_every_face(
    cli: Cli, halves: tuple[Path, Path], face: str
) -> None:
    options = ("--max-fpr", "0.1", *FEW, "--format", face)
    outcome = cli("threshold", halves[0], "--holdout", halves[0], *options)
    assert outcome.code == 0, outcome.err
    assert "T002" in outcome.out


def test_bad_input_of_a_holdout_names_the_holdout(
    cli: Cli, halves: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    for text in ("label,risk\nattack,1\n", "label,score\nworm,1\nnormal,0\n"):
        other.write_text(text)
        outcome = cli("threshold", halves[0], "--score", "score", "--holdout", other)
        assert outcome.code == 3
        assert outcome.err.startswith(f"assay: error: {other}")


def test_several_files_are_read_as_one(told: Told, flows: Path, halves: tuple[Path, Path]) -> None:
    both = told("--max-fpr", "0.002", files=halves)
    assert both["guaranteed"]["threshold"] == told("--max-fpr", "0.002")["guaranteed"]["threshold"]


def test_standard_input_is_a_dash(
    cli: Cli, halves: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with halves[0].open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        outcome = cli("threshold", "-", "--max-fpr", "0.01", *FEW, "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["source"]["rows_used"] == 10_000


def test_clusters_promise_nothing(cli: Cli, halves: tuple[Path, Path]) -> None:
    outcome = cli("threshold", halves[0], "--max-fpr", "0.01", "--cluster", "host", *FEW)
    assert outcome.code == 0, outcome.err
    assert outcome.out.split("\n\n")[1].startswith("Not possible on this data")


def test_bad_rows_are_left_out_and_listed_on_request(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    rows = "".join(f"attack,{0.5 + i / 100}\nnormal,{i / 100}\n" for i in range(40))
    path.write_text("label,score\nattack,\n" + rows)
    assert cli("threshold", path, "--max-fpr", "0.2").code == 3
    outcome = cli("threshold", path, "--max-fpr", "0.2", "--on-bad-row", "skip", *FEW)
    assert outcome.code == 0, outcome.err
    assert "1 of 81 rows was refused" in outcome.out


@pytest.mark.skipif(not REAL.exists(), reason=f"the real data are absent: {REAL.name}")
def test_a_real_network_keeps_its_promise_in_deployment(cli: Cli, tmp_path: Path) -> None:
    frame = pl.read_parquet(REAL)
    paths = {name: tmp_path / f"{name}.parquet" for name in ("test", "deploy")}
    for name, path in paths.items():
        frame.filter(pl.col("split") == name).write_parquet(path)
    outcome = cli(
        *("threshold", paths["test"], "--holdout", paths["deploy"], "--max-fpr", "2%"),
        *("--min-dr", "50%", "--confidence", "99%", "--format", "json", *FEW),
    )
    assert outcome.code == 0, outcome.err
    judged = json.loads(outcome.out)["holdout"]["constraints"]
    assert [each["constraint"] for each in judged] == ["max_fpr", "min_dr"]
    # A sample may lie beyond a rate that is kept, but not for sure.
    assert not any(each["held"] is False and each["sure"] for each in judged)


# -- what is written -------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["txt", "json", "csv", "md", "tex", "html"])
def test_every_format_is_written(cli: Cli, flows: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"report.{suffix}"
    outcome = cli("threshold", flows, "--max-fpr", "0.002", *FEW, "--out", out)
    assert outcome.code == 0, outcome.err
    assert outcome.out == ""
    assert outcome.err.endswith(f"wrote {out} ({outcome.err.split('(')[-1]}")
    assert len(out.read_text("utf-8")) > 500


@pytest.mark.slow
def test_figures_are_written_into_a_folder(cli: Cli, flows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    outcome = cli("threshold", flows, "--max-fpr", "0.002", *FEW, "--figures", folder)
    assert outcome.code == 0, outcome.err
    assert {path.name for path in folder.iterdir()} == {
        "roc.pdf",
        "roc.svg",
        "far_dr.pdf",
        "far_dr.svg",
    }
    drawn = (folder / "roc.svg").read_text("utf-8")
    for said in ("guaranteed", "empirical", "limit", "False positive rate"):
        assert said in drawn


def test_what_was_guessed_is_said_on_standard_error(cli: Cli, flows: Path) -> None:
    outcome = cli("threshold", flows, "--max-fpr", "0.002", *FEW, "--format", "markdown")
    assert "note: the label is column 'label', recognised by its name" in outcome.err
    assert "info T001" in outcome.err
    assert "Made by assay" in outcome.out
    quiet = cli("threshold", flows, "--max-fpr", "0.002", *FEW, "--format", "markdown", "--quiet")
    assert quiet.err == ""


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_of_the_help_run(
    cli: Cli,
    flows: Path,
    halves: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (flows, *halves):
        Path(path.name).symlink_to(path)
    _, *arguments = shlex.split(line)
    outcome = cli(*arguments, *FEW)
    assert outcome.code == 0, outcome.err


# -- what makes no sense ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-alerts", "50"], "--volume is needed"),
        (["--cost-fp", "1"], "go together"),
        (["--cost-fn", "1"], "go together"),
        (["--min-dr", "dos=0.9"], "needs --family"),
        (["--min-dr-each-family", "0.9"], "needs --family"),
        (["--min-dr", "0.9", "--min-dr", "0.8"], "given twice"),
        (["--min-dr", "a=0.9", "--min-dr", "a=0.8", "--family", "family"], "given twice"),
        (
            ["--min-dr", "a=0.9", "--min-dr-each-family", "0.9", "--family", "family"],
            "not both",
        ),
        (["--min-dr", "=0.9"], "names no family"),
        (["--min-dr", "dos=9"], "is no share"),
        (["--max-fpr", "2"], "is no share"),
        (["--max-fpr", "0"], "is no share"),
        (["--confidence", "1"], "is no share"),
        (["--max-alerts", "-1", "--volume", "5"], "is not above 0"),
        (["--positive", "a", "--negative", "b"], "not both"),
        (["--decision", "score"], "No such option"),
        (["--resamples", "1"], "x>=2"),
    ],
)
def test_a_wrong_command_line_exits_with_2(
    cli: Cli, predictions: Path, options: list[str], message: str
) -> None:
    outcome = cli("threshold", predictions, *options)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-fpr", "0.1", "--score", "absent"], "absent"),
        (["--max-fpr", "0.1", "--holdout", "absent.csv"], "absent.csv"),
        (["--min-dr", "worm=0.9", "--family", "family"], "'worm'"),
        (["--max-fpr", "0.1", "--positive", "worm"], "worm"),
        (["--max-fpr", "0.1", "--weight", "score"], "sampling weights"),
    ],
)
def test_bad_input_exits_with_3(
    cli: Cli, predictions: Path, options: list[str], message: str
) -> None:
    outcome = cli("threshold", predictions, *options)
    assert outcome.code == 3
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_a_report_never_replaces_what_it_is_about(cli: Cli, halves: tuple[Path, Path]) -> None:
    first, second = halves
    for path in halves:
        outcome = cli("threshold", first, "--holdout", second, "--max-fpr", "0.1", "--out", path)
        assert outcome.code == 2
        assert "is an input" in outcome.err


def test_a_family_may_have_an_equals_sign_in_its_name() -> None:
    assert family_share("a=b=0.9") == ("a=b", 0.9)
    assert family_share("9/10") == (None, 0.9)
