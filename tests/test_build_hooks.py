"""The action for GitHub and the hooks for pre-commit: their scripts run here, without a network."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.cli.app import COMMANDS
from assay.learn.scenarios import make_flows

ROOT = Path(__file__).resolve().parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
RULE = "new(recall) >= 0.5"

# Keeps comments in a file, and what it was called with in another.
GH = """#!{python}
import json, os, sys
from pathlib import Path
home = Path(os.environ["FAKE_HOME"])
calls, kept = home / "calls", home / "comments.json"
with calls.open("a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
if (home / "refuse").exists():
    sys.exit("HTTP 403: Resource not accessible by integration")
comments = json.loads(kept.read_text()) if kept.exists() else []
args = sys.argv[2:]
if "--method" not in args:
    for start in range(0, len(comments), 2):
        sys.stdout.write(json.dumps(comments[start:start + 2]))
    if not comments:
        print("[]")
    sys.exit()
method, url = args[args.index("--method") + 1], args[args.index("--method") + 2]
name, _, value = args[args.index("--field") + 1].partition("=")
assert name == "body" and value.startswith("@")
body = Path(value[1:]).read_text()
if method == "POST":
    comments.append({{"id": 100 + len(comments), "body": body}})
else:
    next(c for c in comments if c["id"] == int(url.rpartition("/")[2]))["body"] = body
kept.write_text(json.dumps(comments))
print("{{}}")
"""


@dataclass
class Runner:
    """A folder that is a job on GitHub's machines as far as the action sees one."""

    folder: Path
    event: dict[str, Any] = field(default_factory=lambda: {"pull_request": {"number": 7}})
    outputs: dict[str, str] = field(default_factory=dict)
    printed: str = ""

    def __post_init__(self) -> None:
        tools = self.folder / "bin"
        tools.mkdir()
        for name, text in (
            ("gh", GH.format(python=sys.executable)),
            ("assay", f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n'),
            ("python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n'),
        ):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)

    @property
    def comments(self) -> list[dict[str, Any]]:
        kept = self.folder / "comments.json"
        return json.loads(kept.read_text()) if kept.exists() else []

    @property
    def calls(self) -> list[list[str]]:
        kept = self.folder / "calls"
        return [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []

    def value(self, text: str, inputs: dict[str, str]) -> str:
        """A value with what its expressions stand for."""

        def known(match: re.Match[str]) -> str:
            where, _, name = match[1].partition(".")
            if where == "inputs":
                return inputs[name]
            if where == "steps":
                return self.outputs.get(name.rpartition(".")[2], "")
            assert match[1] == "github.token"
            return "secret"

        return EXPRESSION.sub(known, text)

    def step(self, name: str, inputs: dict[str, str]) -> int:
        """Run one step as the runner does, and give its exit code."""
        step = STEPS[name]
        (self.folder / "event.json").write_text(json.dumps(self.event))
        output = self.folder / "output"
        output.write_text("")
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "FAKE_HOME": str(self.folder),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": "someone/project",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_ACTION_PATH": str(ROOT),
            **{key: self.value(text, inputs) for key, text in step.get("env", {}).items()},
        }
        script = self.folder / "script.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.printed += done.stdout
        self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done.returncode

    def run(self, **given: str) -> int:
        """Run the action but for its installation."""
        defaults = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}
        named = {name.replace("_", "-"): text for name, text in given.items()}
        assert not set(named) - set(defaults)
        inputs = defaults | named
        assert self.step("Judge", inputs) == 0, self.printed
        if inputs["comment"] == "true":
            assert self.step("Comment", inputs) == 0, self.printed
        return self.step("Verdict", inputs)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    return Runner(tmp_path)


@pytest.fixture(scope="session")
def flows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Predictions of two models; the new one is better."""
    made = make_flows()
    path = tmp_path_factory.mktemp("flows") / "new.csv"
    lines = (f"{made.label[i]},{made.new[i]},{made.old[i]}" for i in range(0, 20_000, 4))
    path.write_text("\n".join(["label,score,old", *lines, ""]))
    return path


# -- the action as it is written -------------------------------------------------------------------


def test_no_input_is_written_into_a_script() -> None:
    for step in STEPS.values():
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_every_input_is_used_and_described() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, entry in ACTION["inputs"].items():
        assert f"inputs.{name}" in text
        assert entry["description"]
        assert entry.get("required") or "default" in entry
    used = set(re.findall(r"inputs\.([a-z-]+)", text))
    assert used == set(ACTION["inputs"])
    for entry in ACTION["outputs"].values():
        name = EXPRESSION.fullmatch(entry["value"])
        assert name is not None
        assert f'echo "{name[1].rpartition(".")[2]}=' in STEPS["Judge"]["run"]


def test_the_options_it_gives_are_options_of_the_gate() -> None:
    import importlib

    module = importlib.import_module("assay.cli.gate")
    known = {opt for param in module.command.params for opt in (*param.opts, *param.secondary_opts)}
    loop = re.search(r"for name in (.+); do", STEPS["Judge"]["run"])
    assert loop is not None
    given = {f"--{name}" for name in loop[1].split()}
    given |= set(re.findall(r"--[a-z-]+(?==)", STEPS["Judge"]["run"])) - {"--stop-commands"}
    assert given <= known
    assert set(loop[1].split()) <= set(ACTION["inputs"])


def test_scripts_are_bash(tmp_path: Path) -> None:
    for step in STEPS.values():
        script = tmp_path / "script.sh"
        script.write_text(step["run"])
        assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0


# -- comments --------------------------------------------------------------------------------------


def commented(runner: Runner, text: str, **inputs: str) -> int:
    report = runner.folder / "report.md"
    report.write_text(text, "utf-8")
    runner.outputs["report"] = str(report)
    defaults = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}
    named = {name.replace("_", "-"): given for name, given in inputs.items()}
    return runner.step("Comment", defaults | named)


def test_one_comment_is_added_and_then_updated(runner: Runner) -> None:
    other = [{"id": 1, "body": "hello"}, {"id": 2, "body": None}, {"id": 3, "body": "so <!-- a"}]
    (runner.folder / "comments.json").write_text(json.dumps(other))
    assert commented(runner, "first ± 1") == 0
    assert [comment["id"] for comment in runner.comments] == [1, 2, 3, 103]
    assert runner.comments[-1]["body"].startswith("<!-- assay-gate: gate -->\nfirst ± 1")
    assert commented(runner, "second") == 0
    assert len(runner.comments) == 4
    assert "second" in runner.comments[-1]["body"]
    assert "first" not in runner.comments[-1]["body"]
    methods = [call[call.index("--method") + 1] for call in runner.calls if "--method" in call]
    assert methods == ["POST", "PATCH"]
    assert "repos/someone/project/issues/7/comments" in runner.calls[1]
    assert "repos/someone/project/issues/comments/103" in runner.calls[3]


def test_another_gate_has_a_comment_of_its_own(runner: Runner) -> None:
    assert commented(runner, "one") == 0
    assert commented(runner, "two", comment_key="nightly") == 0
    assert commented(runner, "two again", comment_key="nightly") == 0
    assert [comment["body"].splitlines()[1] for comment in runner.comments] == ["one", "two again"]


@pytest.mark.parametrize("event", [{}, {"issue": {"number": 3}}, {"ref": "refs/heads/main"}])
def test_without_a_pull_request_nothing_is_called(runner: Runner, event: dict[str, Any]) -> None:
    runner.event = event
    assert commented(runner, "report") == 0
    assert not runner.calls
    assert "no pull request" in runner.printed


def test_the_number_may_be_given_or_come_from_a_comment(runner: Runner) -> None:
    runner.event = {"issue": {"number": 12, "pull_request": {"url": "..."}}}
    assert commented(runner, "report") == 0
    assert "repos/someone/project/issues/12/comments" in runner.calls[-1]
    assert commented(runner, "report", pull_request="34", comment_key="other") == 0
    assert "repos/someone/project/issues/34/comments" in runner.calls[-1]


@pytest.mark.parametrize(
    "odd", [{"pull_request": "7; touch pwned"}, {"comment_key": "a --> <b"}, {"comment_key": ""}]
)
def test_odd_names_are_refused(runner: Runner, odd: dict[str, str]) -> None:
    assert commented(runner, "report", **odd) == 1
    assert "::error::" in runner.printed
    assert not runner.calls
    assert not (runner.folder / "pwned").exists()


def test_a_token_that_only_reads_is_a_warning(runner: Runner) -> None:
    (runner.folder / "refuse").touch()
    assert commented(runner, "report") == 0
    assert "::warning::the comment could not be written" in runner.printed


def test_a_long_report_is_cut_at_a_line(runner: Runner) -> None:
    assert commented(runner, "".join(f"line {i}\n" for i in range(9000))) == 0
    body = runner.comments[0]["body"]
    assert len(body) < 65536
    assert body.rstrip().endswith("The rest of the report stands in the summary of the job.")
    assert re.search(r"\nline \d+\n\nThe rest", body)


# -- the whole of it -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_that_keeps_its_rules_passes(runner: Runner, flows: Path) -> None:
    given = {"file": str(flows), "score": "score", "rule": f"{RULE}\r\n\n  \nnew(roc_auc) > 0.5"}
    assert runner.run(**given) == 0, runner.printed
    assert runner.outputs["verdict"] == "pass"
    report = Path(runner.outputs["report"]).read_text("utf-8")
    assert "PASS: all 2 rules are kept." in report
    assert (runner.folder / "summary.md").read_text("utf-8") == report
    assert report.strip() in runner.comments[0]["body"]
    assert json.loads(Path(runner.outputs["json"]).read_text())["outcome"] == "pass"
    assert "<testsuites" in Path(runner.outputs["junit"]).read_text()


@pytest.mark.slow
def test_a_model_that_breaks_them_fails_after_the_comment(runner: Runner, flows: Path) -> None:
    rules = runner.folder / "my rules.toml"
    rules.write_text('rules = ["new-old(recall@max-fpr=0.05) >= 0"]\n')
    given = {"file": str(flows), "rules": "my rules.toml", "label": "label"}
    assert runner.run(**given, score="old", baseline_score="score") == 1
    assert runner.outputs["verdict"] == "fail"
    assert runner.run(**given, score="score", baseline_score="old") == 0
    assert runner.outputs["verdict"] == "pass"
    assert len(runner.comments) == 1
    assert "PASS" in runner.comments[0]["body"]


@pytest.mark.slow
def test_undecided_may_be_allowed(runner: Runner, flows: Path) -> None:
    few = runner.folder / "few.csv"
    few.write_text("\n".join(flows.read_text().splitlines()[:60]) + "\n")
    given = {"file": "few.csv", "score": "score", "positive": "attack", "rule": RULE}
    given |= {"arguments": "--labels=normal,attack", "comment": "false"}
    assert runner.run(**given) == 1
    assert runner.outputs["verdict"] == "undecided"
    assert runner.run(**given, allow_undecided="true") == 0
    assert not runner.calls


@pytest.mark.slow
def test_what_can_not_be_judged_is_an_error_and_no_verdict(runner: Runner, flows: Path) -> None:
    assert runner.run(file=str(flows), score="score", rule=RULE) == 0
    assert runner.run(file="nowhere.csv", score="score", rule=RULE) == 3
    assert runner.outputs["verdict"] == "error"
    assert runner.outputs["json"] == ""
    assert len(runner.comments) == 1
    assert "nothing was judged" in runner.comments[0]["body"]
    assert "nowhere.csv" in runner.comments[0]["body"]


@pytest.mark.slow
def test_no_input_is_read_as_shell(runner: Runner, flows: Path) -> None:
    for odd in ("$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "-x"):
        assert runner.run(file=str(flows), score=odd, label=odd, rule=RULE, out=f"out {odd}") == 3
        assert not list(runner.folder.rglob("pwned"))
        assert runner.outputs["verdict"] == "error"
    assert runner.run(file="--help", score="score", rule=RULE) == 3


# -- pre-commit ------------------------------------------------------------------------------------


def test_hooks_have_what_pre_commit_asks_for() -> None:
    assert set(HOOKS) == {"assay-audit", "assay-gate"}
    for hook in HOOKS.values():
        assert {"id", "name", "description", "entry", "language", "files"} <= set(hook)
        assert hook["language"] == "python"
        program, command, *_ = hook["entry"].split()
        assert program == "assay"
        assert command in COMMANDS
        re.compile(hook["files"])


def test_claims_files_are_looked_at() -> None:
    looked_at = re.compile(HOOKS["assay-audit"]["files"])
    for name in ("claims/a.toml", "paper/claims/x/b.json", "results.claims.toml"):
        assert looked_at.search(name)
    for name in ("pyproject.toml", "package.json", "my_claims/a.toml", "claims/a.md"):
        assert not looked_at.search(name)
    for path in (ROOT / "examples/claims").glob("*.toml"):
        assert looked_at.search(path.relative_to(ROOT).as_posix())


def hooked(name: str, *args: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a hook's entry as pre-commit does."""
    _, *entry = HOOKS[name]["entry"].split()
    command = [sys.executable, "-m", "assay", *entry, *HOOKS[name].get("args", []), *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_hooks_run(tmp_path: Path, flows: Path) -> None:
    for reported, code in (("0.975", 0), ("0.957", 1)):
        (tmp_path / "a.claims.toml").write_text(
            '[[claim]]\nname = "forest"\nconfusion = { tn = 7743, fp = 167, fn = 324, tp = 6635 }\n'
            f'positive = "attack"\nreported = {{ precision = "{reported}" }}\n'
        )
        done = hooked("assay-audit", "a.claims.toml", folder=tmp_path)
        assert done.returncode == code, done.stderr
    gate = ("--score=score", f"--rule={RULE}", str(flows))
    assert hooked("assay-gate", *gate, folder=tmp_path).returncode == 0
    gate = ("--score=score", "--rule=new(recall) >= 99.99%", str(flows))
    assert hooked("assay-gate", *gate, folder=tmp_path).returncode == 1


@pytest.mark.slow
def test_pre_commit_takes_the_manifest() -> None:
    program = shutil.which("pre-commit")
    if program is None:
        pytest.skip("pre-commit is not installed")
    subprocess.run([program, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")], check=True)
