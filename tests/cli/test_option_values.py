"""Whatever stands behind an option, it is used or refused: nothing ends as an error of ours."""

import os
import random
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

from assay.cli.app import COMMANDS
from assay.cli.messages import FINE, INPUT, NO, OUTPUT, USAGE

EXAMPLES = Path(__file__).parents[2] / "examples"
ODD = (
    *("", " ", "0", "-0", "1", "-1", "2", "0.5", "100", "1e309", "-1e309", "1e-309", "1e400"),
    *("1e-400", "1e-200", "1e200", "nan", "inf", "-inf", "NaN%", "50%", "1e309%", "1/0", "0/1"),
    *("1/1e309", "1e999/1e999", "1/3", "=", "a=", "=1", "a=1", "a=1e400", "x,y", ",", "\t", "*"),
    *("1" * 25, "1" * 400, "9" * 5000, "0x10", "1_000", "٣", "½", "∞", "true", "null", "a\nb"),
    *("\x1b[31m", "\u202e", "label", "score", "nope", "attack", "./", "/dev/null/x", "a" * 300),
    *("1d", "1e9d", "1e400d", "2026-01-01", "9999-12-31", "0000-00-00", "-5s", "1e309s", "%"),
)
# A command line of each command that works, into which one odd value is put.
LINES = {
    "evaluate": "evaluate flows.csv --family family",
    "threshold": "threshold flows.csv --max-fpr 1%",
    "plan": "plan --max-fpr 1/100",
    "sample": "sample flows.csv --score score --labels 50 --out drawn.csv",
    "compare": "compare flows.csv --label label --model old=old_score --model new=score",
    "gate": "gate flows.csv --label label --score score --rule new(recall)>=0.1",
    "monitor": "monitor flows.csv --time time",
    "audit": "audit claims.toml",
    "incidents": "incidents flows.csv --time time --incident family --score score",
    "data": "data arp --rows 30",
    "train": "train tree flows.csv --label label --drop family --drop host --drop time",
    "predict": "predict model.skops flows.csv",
    "check": "check flows.csv --label label",
    "show": "show report.json",
    "runs": "runs --store runs.db",
    "measures": "measures recall",
}
# These wait for visitors, or write a whole demonstration.
_ELSEWHERE = {"serve", "demo"}


def _options(name: str) -> list[str]:
    """The options of a command that take a value, by their long names."""
    command: click.Command = import_module(f"assay.cli.{name}").command
    return [
        max(parameter.opts, key=len)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count
    ]


def test_every_command_has_a_line_here():
    assert LINES.keys() | _ELSEWHERE == set(COMMANDS)


@pytest.fixture
def odd_cli(
    cli: Callable[..., Any], flows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, list[str]], Any]:
    """Run a command's line with odd options more, in a folder that has what the lines name."""
    monkeypatch.chdir(tmp_path)
    Path("flows.csv").write_text("\n".join(flows.read_text().splitlines()[:300]) + "\n")
    Path("claims.toml").write_bytes((EXAMPLES / "claims/ddos.toml").read_bytes())
    cli("evaluate", "flows.csv", "--out", "report.json", "--record", "a", "--store", "runs.db")
    cli(*LINES["train"].split(), "--out", "run")
    Path("model.skops").write_bytes(next(Path("run").glob("*.skops")).read_bytes())

    def outcome(name: str, odd: list[str]) -> Any:
        return cli(*LINES[name].split(), *odd)

    return outcome


def _cases(count: int) -> Iterator[tuple[str, list[str]]]:
    """Commands, each with one or two options and odd values behind them."""
    chance = random.Random(20261116)
    options = {name: _options(name) for name in LINES}
    for _ in range(count):
        name = chance.choice(sorted(LINES))
        some = chance.choices(options[name], k=chance.choice((1, 1, 2))) if options[name] else []
        yield name, [f"{option}={chance.choice(ODD)}" for option in some]


def _broken(odd_cli: Callable[[str, list[str]], Any], count: int) -> Iterator[str]:
    for name, odd in _cases(count):
        outcome = odd_cli(name, odd)
        answered = outcome.code in {FINE, NO, USAGE, INPUT, OUTPUT}
        clear = len(outcome.err) < 5_000 and not re.search(r"Warning:|[\x1b\u202e]", outcome.err)
        if not (answered and clear):
            yield f"{outcome.code} {name} {odd}: {outcome.err}"[:600]


def test_odd_values_end_with_an_answer_or_a_clear_error(odd_cli):
    assert list(_broken(odd_cli, 60)) == []


@pytest.mark.slow
def test_the_lines_work_without_odd_values(odd_cli):
    assert {name: odd_cli(name, []).code in {FINE, NO} for name in LINES} == dict.fromkeys(
        LINES, True
    )


@pytest.mark.slow
def test_many_odd_values_end_with_an_answer_or_a_clear_error(odd_cli):
    assert list(_broken(odd_cli, int(os.environ.get("ODD_VALUES", "1000")))) == []


@pytest.mark.slow
def test_below_a_title_and_in_other_quotes_the_rows_are_the_same(odd_cli):
    names = [name for name in LINES if "--skip-lines" in _options(name)]
    assert len(names) >= 10
    before = {name: odd_cli(name, []) for name in names}
    path = Path("flows.csv")
    rows = "".join(
        ",".join(f"'{cell}'" for cell in line.split(",")) + "\n"
        for line in path.read_text().splitlines()
    )
    path.write_text(f'Alerts, of the "week\n\n{rows}')
    assert {name: odd_cli(name, []).code for name in names} == dict.fromkeys(names, INPUT)
    after = {name: odd_cli(name, ["--skip-lines=2", "--quote='"]) for name in names}
    assert {name: one.code in {FINE, NO} for name, one in after.items()} == dict.fromkeys(
        names, True
    )
    assert {name: one.out for name, one in after.items()} == {
        name: one.out for name, one in before.items()
    }
