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
    *(
        "\x1b[31m",
        "\u202e",
        "label",
        "score",
        "nope",
        "attack",
        "./",
        "/dev/null/x",
        "a" * 300,
        "a\0b",
    ),
    *("5e-324", "1e-320", "1e-300", "1.7e308", "0.9999999999999999", str(2**63 - 1), str(2**64)),
    *("1d", "1e9d", "1e400d", "2026-01-01", "9999-12-31", "0000-00-00", "-5s", "1e309s", "%"),
    "a" * 300,
)
# Command lines that work, by their names; the first of a command has its name alone. Into each odd
# values are put.
LINES = {
    "evaluate": "evaluate flows.csv --family family",
    "evaluate a table": "evaluate --cells tp=30,fp=5,fn=3,tn=90",
    "evaluate resampled": "evaluate flows.csv --interval bootstrap",
    "evaluate by day": "evaluate flows.csv --base-rate 1% --volume 1e6 --format csv",
    "threshold": "threshold flows.csv --max-fpr 1% --resamples 20",
    "threshold by costs": "threshold flows.csv --cost-fp 1 --cost-fn 9 --resamples 20",
    "threshold by alerts": (
        "threshold flows.csv --max-alerts 9 --volume 99 --base-rate 1% --resamples 20"
    ),
    "plan": "plan --max-fpr 1/100",
    "plan a detection rate": "plan --min-dr 0.9 --base-rate 1%",
    "plan a far": "plan --max-far 0.1 --base-rate 1%",
    "plan a width": "plan --recall-width 0.1 --width 0.1",
    "plan a difference": "plan --difference 0.01 --discordant 0.05",
    "sample": "sample flows.csv --score score --labels 50 --out drawn.csv",
    "compare": "compare flows.csv --label label --model old=old_score --model new=score",
    "compare at a rule": (
        "compare flows.csv --label label --model old=old_score --model new=score --at max-far=0.1 "
        "--resamples 50"
    ),
    "gate": "gate flows.csv --label label --score score --rule new(recall)>=0.1",
    "monitor": "monitor flows.csv --time time",
    "audit": "audit claims.toml",
    "incidents": "incidents flows.csv --time time --incident family --score score",
    "incidents at a threshold": (
        "incidents flows.csv --time time --incident family --score score --threshold 0.7"
    ),
    "data": "data arp --rows 30",
    "train": "train tree flows.csv --label label --drop family --drop host --drop time",
    "predict": "predict model.skops flows.csv",
    "check": "check flows.csv --label label",
    "show": "show report.json",
    "runs": "runs --store runs.db",
    "measures": "measures recall",
}
MODELS = "--label label --model old=old_score --model new=score"
# These wait for visitors, or write a whole demonstration.
_ELSEWHERE = {"serve", "demo"}


def _options(name: str) -> list[str]:
    """The options of a command that take a value, by their long names."""
    command: click.Command = import_module(f"assay.cli.{name.partition(' ')[0]}").command
    return [
        max(parameter.opts, key=len)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count
    ]


def test_every_command_has_a_line_here():
    assert {line.partition(" ")[0] for line in LINES.values()} | _ELSEWHERE == set(COMMANDS)


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
    assert list(_broken(odd_cli, 30)) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("plan --min-dr .9 --base-rate 1e-320", "a share of at least 1e-100; found 1e-320"),
        ("evaluate --cells tp=30,fp=5,fn=3,tn=90 --base-rate 5e-324", "at least 1e-100"),
        ("evaluate --cells tp=30,fp=5,fn=3,tn=90 --volume 1.7e308", "1e-100 to 1e100"),
        ("evaluate FILE --base-rate 5e-324", "a base rate is a share of at least 1e-100"),
        (f"evaluate FILE --interval bootstrap --resamples {2**63 - 1}", "at most 10,000,000"),
        ("threshold FILE --max-fpr .1 --confidence 1e-320", "confidence must be at least 1e-12"),
        (f"threshold FILE --max-fpr .1 --resamples {2**64}", "at most 10,000,000 resamples"),
        (f"compare FILE {MODELS} --resamples {2**63 - 1}", "at most 10,000,000 resamples"),
        (f"compare FILE {MODELS} --margin 1.7e308", "margin is a number above 0, 1e-100 to 1e100"),
        (
            "incidents FILE --incident family --time time --score score --level 1e-200",
            "level must be at least 1e-12; found 1e-200",
        ),
    ],
)
def test_numbers_out_of_range_are_refused_with_the_range(cli, flows, line: str, reason: str):
    outcome = cli(*line.replace("FILE", str(flows)).split())
    assert outcome.code in {USAGE, INPUT}
    assert reason in outcome.err


@pytest.mark.parametrize(
    "line",
    [
        "check FILE --label label",
        "train tree FILE --label label",
        "demo",
    ],
)
def test_a_seed_that_scikit_learn_does_not_take_is_wrong_usage(cli, flows, line: str):
    outcome = cli(*line.replace("FILE", str(flows)).split(), "--seed", 2**32)
    assert outcome.code == USAGE
    assert "a seed is a whole number from 0 to 4294967295; found 4294967296" in outcome.err


@pytest.mark.parametrize("line", ["plan --max-fpr 1% --out", "runs list --store", "evaluate"])
def test_a_nul_byte_in_a_name_is_wrong_usage(cli, line: str):
    outcome = cli(*line.split(), "a\0b")
    assert outcome.code == USAGE
    assert "of the command line has a NUL byte" in outcome.err


@pytest.mark.parametrize(
    "line",
    [
        "plan --min-dr .9 --base-rate 1e-100",
        "evaluate --cells tp=30,fp=5,fn=3,tn=90 --base-rate 1e-100 --volume 1e100 --format csv",
        "evaluate --cells tp=30,fp=5,fn=3,tn=90 --base-rate 1e-12 --level 0.99999",
        f"compare FILE {MODELS} --resamples 20 --margin 1e-100",
        f"compare FILE {MODELS} --resamples 20 --margin 1e100",
        "threshold FILE --max-fpr 1e-300 --confidence 1e-12 --resamples 20",
        "incidents FILE --incident family --time time --score score --threshold .7 --level 1e-12",
    ],
)
def test_the_smallest_and_the_largest_numbers_work(cli, flows, line: str):
    outcome = cli(*line.replace("FILE", str(flows)).split())
    assert outcome.code == FINE
    assert "Warning" not in outcome.err


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
    names = [
        name
        for name, line in LINES.items()
        if "--skip-lines" in _options(name) and "flows.csv" in line
    ]
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


def test_an_option_that_is_given_twice_is_told(cli: Callable[..., Any], tmp_path: Path) -> None:
    first, last = tmp_path / "a.json", tmp_path / "b.json"
    cells = ("evaluate", "--cells", "tp=5,fp=1,fn=2,tn=9")
    told = cli(*cells, "-o", first, "--out", last)
    assert told.code == 0
    assert "note: --out is given 2 times; the last one counts" in told.err
    assert last.exists()
    assert not first.exists()
    assert "times" not in cli(*cells, "-o", first, "-o", last, "--quiet").err
    assert "times" not in cli(*cells, "--base-rate", "0.1", "--base-rate", "0.2").err
