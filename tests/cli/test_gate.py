"""``assay gate``: a verdict for the build, and never one where there is none."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import numpy as np
import pytest

import assay
from assay.cli.gate import EXAMPLES
from assay.learn.scenarios import make_flows
from assay.report.document import schema_of

Cli = Callable[..., Any]

FLOWS = make_flows().where(np.arange(0, 20_000, 10))
PASS = "new(recall) >= 0.5"
FAIL = "new(recall) >= 0.999"
UNDECIDED = "new(recall) >= 0.95"
OF_BOTH = "new-old(recall) >= -0.01"


def written(path: Path, *, score: Any, order: Any = None, **columns: Any) -> Path:
    """A file of the flows, in some order, with what a model said."""
    rows = np.arange(len(FLOWS)) if order is None else order
    table = {"flow": [f"f{i}" for i in range(len(FLOWS))], "label": FLOWS.label, "score": score}
    table |= columns
    lines = [",".join(table)]
    lines += [",".join(str(column[i]) for column in table.values()) for i in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the predictions of two models; not to be written to."""
    folder = tmp_path_factory.mktemp("gate")
    order = np.random.default_rng(1).permutation(len(FLOWS))
    more = {"family": FLOWS.family, "host": FLOWS.host, "old_score": FLOWS.old}
    written(folder / "new.csv", score=FLOWS.new, **more)
    written(folder / "old.csv", score=FLOWS.old, order=order)
    return folder


@pytest.fixture
def ran(cli: Cli, both: Path) -> Callable[..., Any]:
    """Run the gate on both files, with a rule or several."""

    def outcome(*options: object, new: Path | None = None, old: Path | None = None) -> Any:
        files = [new or both / "new.csv", "--baseline", old or both / "old.csv", "--id", "flow"]
        return cli("gate", *files, "--label", "label", "--score", "score", *options)

    return outcome


def rules(*texts: str) -> list[str]:
    return [part for text in texts for part in ("--rule", text)]


# -- the verdict -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "options", "code", "outcome"),
    [
        ([PASS], [], 0, "pass"),
        ([PASS, OF_BOTH], [], 0, "pass"),
        ([FAIL], [], 1, "fail"),
        ([UNDECIDED], [], 1, "undecided"),
        ([UNDECIDED], ["--allow-undecided"], 0, "undecided"),
        ([UNDECIDED, PASS, FAIL], ["--allow-undecided"], 1, "fail"),
    ],
)
def test_the_exit_code_is_the_verdict(
    ran: Cli, asked: list[str], options: list[str], code: int, outcome: str
) -> None:
    completed = ran(*rules(*asked), *options, "--format", "json")
    assert completed.code == code, completed.err
    plain = json.loads(completed.out)
    assert plain["outcome"] == outcome
    jsonschema.validate(plain, schema_of("assay.gate/1"))


def test_it_gives_what_the_library_gives(ran: Cli) -> None:
    asked = [
        "new(precision@base-rate=0.001) >= 0.5",
        "new-old(detection_rate@max-far=0.1) >= -0.01",
        "new-old(detection_rate@max-fpr=0.05,family=*) >= -0.1",
        "new-old(roc_auc) >= 0",
        "new-old(f1) >= 0",
    ]
    options = ["--family", "family", "--resamples", "200", "--seed", "7", "--level", "0.9"]
    document = json.loads(ran(*rules(*asked), *options, "--format", "json").out)
    expected = assay.gate(
        FLOWS.label,
        new=FLOWS.new,
        old=FLOWS.old,
        families=FLOWS.family,
        rules=asked,
        resamples=200,
        seed=7,
        level=0.9,
    ).to_dict()
    assert document["rules"] == expected["rules"]
    assert (document["level"], document["resamples"], document["seed"]) == (0.9, 200, 7)


@pytest.mark.parametrize("face", ["terminal", "markdown", "latex", "html", "csv"])
def test_every_face_says_the_outcome(ran: Cli, face: str) -> None:
    outcome = ran(*rules(FAIL, OF_BOTH), "--format", face)
    assert outcome.code == 1
    assert "fail" in outcome.out.lower()
    assert outcome.err == ""


def test_columns_of_one_file_need_no_id(cli: Cli, both: Path, ran: Cli) -> None:
    one = cli(
        *("gate", both / "new.csv", "--score", "score", "--baseline-score", "old_score"),
        *(*rules(OF_BOTH), "--format", "json"),
    )
    two = ran(*rules(OF_BOTH), "--format", "json")
    assert one.err == "note: the label is column 'label', recognised by its name\n"
    assert json.loads(one.out)["rules"] == json.loads(two.out)["rules"]


def test_the_baseline_may_be_the_same_file(cli: Cli, both: Path) -> None:
    files = (both / "new.csv", "--baseline", both / "new.csv", "--id", "flow")
    scores = ("--score", "score", "--baseline-score", "old_score")
    outcome = cli("gate", *files, *scores, "--rule", PASS, "--format", "markdown")
    assert outcome.code == 0, outcome.err


def test_rules_about_the_new_model_need_no_baseline(cli: Cli, both: Path) -> None:
    outcome = cli("gate", both / "new.csv", "--score", "score", *rules(PASS))
    assert outcome.code == 0
    assert "against" not in outcome.out


def test_thresholds_may_differ(ran: Cli) -> None:
    options = ["--threshold", "0.6", "--baseline-threshold", "0.7", "--format", "json"]
    rule = json.loads(ran(*rules(OF_BOTH), *options).out)["rules"][0]
    assert rule["thresholds"] == {"new": 0.6, "old": 0.7}


def test_clusters_counts_and_joint_rules_are_read(ran: Cli, both: Path, tmp_path: Path) -> None:
    clustered = json.loads(ran(*rules(OF_BOTH), "--cluster", "host", "--format", "json").out)
    assert clustered["rules"][0]["method"] == "cluster bootstrap"
    twice = written(tmp_path / "twice.csv", score=FLOWS.new, times=np.full(len(FLOWS), 2))
    doubled = ran(*rules(PASS), "--count", "times", "--format", "json", new=twice)
    assert json.loads(doubled.out)["rows"]["rows"] == 2 * len(FLOWS)
    joint = json.loads(ran(*rules(PASS, OF_BOTH), "--joint", "--format", "json").out)
    assert (joint["joint"], joint["rule_level"]) == (True, 0.975)


def test_decisions_are_judged_too(cli: Cli, tmp_path: Path) -> None:
    said = np.where(FLOWS.new >= 0.5, "attack", "normal")
    path = written(tmp_path / "decided.csv", score=said)
    outcome = cli("gate", path, "--score", "score", *rules(PASS, "new(f1) >= 0.5"))
    assert outcome.code == 0, outcome.err


def test_families_may_come_from_the_labels(cli: Cli, both: Path) -> None:
    outcome = cli(
        *("gate", both / "new.csv", "--label", "family", "--negative", "normal"),
        *("--score", "score", *rules("new(recall@family=*) >= 0.01"), "--format", "json"),
    )
    assert {rule["family"] for rule in json.loads(outcome.out)["rules"]} == {
        *FLOWS.family.tolist()
    } - {"normal"}


# -- files of rules --------------------------------------------------------------------------------


def test_rules_come_from_a_file_with_their_reasons(ran: Cli, tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(f'[[rule]]\nname = "sees"\nrule = "{PASS}"\nreason = "or why run it"\n')
    outcome = ran("--rules", path, "--format", "markdown")
    assert outcome.code == 0, outcome.err
    assert "| sees | new(recall) &gt;= 0.5 | or why run it |" in outcome.out


def test_a_file_of_rules_that_is_wrong_is_bad_input(ran: Cli, tmp_path: Path) -> None:
    path = tmp_path / "gate.txt"
    path.write_text(f"{PASS}\nnew(precison) >= 0.5\n")
    outcome = ran("--rules", path)
    assert (outcome.code, outcome.out) == (3, "")
    assert f"{path}, line 2: the rule 'new(precison) >= 0.5'" in outcome.err
    assert "did you mean precision" in outcome.err
    assert ran("--rules", tmp_path / "none.txt").code == 3
    assert ran("--rules", tmp_path).code == 3


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --rule, once for each, or --rules"),
        (["--rule", PASS, "--rules", "gate.toml"], "give --rule, once for each, or --rules"),
        (["--rule", "new(recall) > high"], "at character 15 (at 'high'): expected a number"),
        (["--rule", "new(recal) > 0"], "did you mean recall"),
        (["--rule", "new(recall@family=*) > 0"], "needs --family"),
        (["--rule", PASS, "--positive", "a", "--negative", "b"], "not both"),
        (["--rule", PASS, "--level", "2"], "--level"),
        (["--rule", PASS, "--resamples", "1"], "--resamples"),
        (["--rule", PASS, "--junit", "both.xml", "--out", "both.xml", "--format", "json"], "two"),
        (["--rule", PASS, "--junit", "-"], "standard output has the report"),
    ],
)
def test_a_wrong_command_line_is_usage(
    ran: Cli, options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = ran(*options)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_a_rule_about_the_old_model_needs_a_baseline_and_a_baseline_needs_ids(
    cli: Cli, both: Path
) -> None:
    outcome = cli("gate", both / "new.csv", "--score", "score", *rules(OF_BOTH))
    assert outcome.code == 2
    assert "needs --baseline" in outcome.err
    outcome = cli(
        "gate", both / "new.csv", "--score", "score", "--baseline", both / "old.csv", *rules(PASS)
    )
    assert outcome.code == 2
    assert "--baseline needs --id" in outcome.err
    outcome = cli("gate", "-", "--baseline", "-", "--id", "id", "--score", "score", *rules(OF_BOTH))
    assert outcome.code == 2
    assert "standard input can't be FILE and --baseline at once" in outcome.err


def test_rows_without_a_match_are_refused_and_counted(ran: Cli, tmp_path: Path) -> None:
    fewer = written(tmp_path / "old.csv", score=FLOWS.old, order=range(3, len(FLOWS)))
    outcome = ran(*rules(OF_BOTH), old=fewer)
    assert (outcome.code, outcome.out) == (3, "")
    assert "3 of 2,000 ids" in outcome.err
    skipped = ran(*rules(OF_BOTH), "--on-bad-row", "skip", "--format", "json", old=fewer)
    assert skipped.code == 0
    assert json.loads(skipped.out)["source"]["rows_refused"] == 3


def test_a_label_that_differs_is_refused(ran: Cli, tmp_path: Path) -> None:
    other = np.where(np.arange(len(FLOWS)) == 5, "normal", FLOWS.label)
    other[5] = "normal" if FLOWS.label[5] == "attack" else "attack"
    path = written(tmp_path / "old.csv", score=FLOWS.old, label=other)
    outcome = ran(*rules(OF_BOTH), old=path)
    assert outcome.code == 3
    assert "the label of 1 ids differs" in outcome.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--positive", "virus"], "virus"),
        (["--family", "kind"], "kind"),
        (["--threshold", "0.5", "--rule", "new(precision.nomral) > 0"], "'nomral'"),
        (["--family", "family", "--rule", "new(recall@family=dso) > 0"], "'dos'"),
        (["--resamples", "10"], "needs 40 resamples"),
    ],
)
def test_what_the_data_can_not_answer_is_bad_input(ran: Cli, options: list[str], said: str) -> None:
    outcome = ran(*rules(PASS), *options)
    assert (outcome.code, outcome.out) == (3, "")
    assert said in outcome.err


def test_scores_beyond_a_half_ask_for_a_threshold_by_its_option(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path / "new.csv", score=FLOWS.new * 10)
    outcome = cli("gate", path, "--score", "score", *rules(PASS, "new(f1@threshold=5) > 0"))
    assert outcome.code == 3
    assert "say --threshold, or write @threshold= or @max-far= in it" in outcome.err
    assert cli("gate", path, "--score", "score", *rules("new(f1@threshold=5) > 0")).code == 0


# -- errors of ours --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("oops"), AssertionError(), KeyError("x"), RecursionError("deep")]
)
def test_an_error_of_ours_is_no_verdict(
    ran: Cli, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(assay, "gate_files", broken)
    junit = tmp_path / "gate.xml"
    junit.write_text("<testsuites/>")
    outcome = ran(*rules(PASS), "--junit", junit)
    assert (outcome.code, outcome.out) == (5, "")
    assert "This is an error of ours" in outcome.err
    assert suite(junit).get("errors") == "1"


# -- JUnit -----------------------------------------------------------------------------------------


def suite(path: Path) -> ET.Element:
    return ET.parse(path).getroot()[0]


@pytest.mark.parametrize(
    ("asked", "options", "failures", "skipped"),
    [
        ([PASS, OF_BOTH], [], "0", "0"),
        ([PASS, FAIL, UNDECIDED], [], "2", "0"),
        ([PASS, FAIL, UNDECIDED], ["--allow-undecided"], "1", "1"),
    ],
)
def test_junit_tells_the_build_server(
    ran: Cli, asked: list[str], options: list[str], failures: str, skipped: str, tmp_path: Path
) -> None:
    path = tmp_path / "gate.xml"
    outcome = ran(*rules(*asked), *options, "--junit", path)
    assert f"wrote {path} (JUnit)" in outcome.err
    assert (suite(path).get("failures"), suite(path).get("skipped")) == (failures, skipped)
    assert suite(path).get("tests") == str(len(asked))
    assert [file.name for file in tmp_path.iterdir()] == ["gate.xml"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--rule", "new(recal) > 0"], 2),
        (["--rule", PASS, "--positive", "virus"], 3),
        (["--rules", "none.toml"], 3),
    ],
)
def test_a_run_without_a_verdict_leaves_an_error_and_no_older_verdict(
    ran: Cli, options: list[str], code: int, tmp_path: Path
) -> None:
    path = tmp_path / "gate.xml"
    assert ran(*rules(PASS), "--junit", path).code == 0
    assert suite(path).get("errors") == "0"
    assert ran(*options, "--junit", path).code == code
    element = suite(path)
    assert (element.get("tests"), element.get("errors"), element.get("failures")) == ("1", "1", "0")


def test_junit_replaces_no_input(ran: Cli, both: Path, tmp_path: Path) -> None:
    before = (both / "new.csv").read_bytes()
    outcome = ran(*rules(PASS), "--junit", both / "new.csv")
    assert outcome.code == 2
    assert "is an input" in outcome.err
    assert (both / "new.csv").read_bytes() == before
    asked = tmp_path / "rules.txt"
    asked.write_text(PASS)
    assert ran("--rules", asked, "--junit", asked).code == 2
    assert asked.read_text() == PASS


def test_junit_that_can_not_be_written_ends_with_4(ran: Cli, tmp_path: Path) -> None:
    assert ran(*rules(PASS), "--junit", tmp_path / "none" / "gate.xml").code == 4
    assert ran(*rules(PASS), "--junit", tmp_path).code == 4


# -- help and examples -----------------------------------------------------------------------------


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_of_the_help_run(
    cli: Cli, both: Path, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("new.csv", "old.csv"):
        (tmp_path / name).write_bytes((both / name).read_bytes())
    (tmp_path / "gate.toml").write_text(f'rules = ["{PASS}", "new(recall@family=*) >= 0.01"]')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_STORE", raising=False)
    if "last-passed" in line:
        first = ("--score", "score", "--rule", "new(recall) >= 0.01", "--record", "flows")
        assert cli("gate", "old.csv", *first).code == 0
    outcome = cli(*shlex.split(line)[1:])
    assert outcome.code in (0, 1), outcome.err
    assert "rule" in outcome.out


def test_figures_are_drawn(ran: Cli, tmp_path: Path) -> None:
    assert ran(*rules(PASS, OF_BOTH), "--figures", tmp_path / "figures").code == 0
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["rules.pdf", "rules.svg"]


# -- the documentation -----------------------------------------------------------------------------

PROJECT = Path(__file__).resolve().parents[2]
WORKFLOW = PROJECT / "examples/gate-workflow.yml"


def test_the_workflow_of_the_guide_is_yaml() -> None:
    yaml = pytest.importorskip("yaml", reason="there is no YAML parser to check it with")
    steps = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["gate"]["steps"]
    assert any(step.get("run", "").startswith("assay gate new.csv") for step in steps)


def test_the_workflow_of_the_guide_runs_a_command_line_that_works(
    cli: Cli, both: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = WORKFLOW.read_text("utf-8")
    assert "\t" not in text
    _, _, after = text.partition("        run: >\n")
    lines = [line.strip() for line in after.partition("\n\n")[0].splitlines()]
    for name in ("new.csv", "old.csv"):
        (tmp_path / name).write_bytes((both / name).read_bytes())
    (tmp_path / "gate.toml").write_bytes((PROJECT / "examples/gate.toml").read_bytes())
    monkeypatch.chdir(tmp_path)
    outcome = cli(*shlex.split(" ".join(lines))[1:])
    assert outcome.code in (0, 1), outcome.err
    assert "no family is forgotten" in Path("gate.md").read_text("utf-8")
    assert int(suite(Path("gate.xml")).get("tests")) > 3


def test_a_level_that_draws_too_much_names_the_option_that_allows_it(ran: Cli) -> None:
    outcome = ran(*rules("new(detection_rate@max-far=0.1) >= 0.1"), "--level", "0.99999")
    assert outcome.code == 3
    assert "say --resamples 200000, or a lower --level" in outcome.err
