"""``assay measures``: the catalogue, and one measure of it."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli.measures import EXAMPLES, GROUPS
from assay.measures import CATALOGUE


def test_all_measures_are_listed_by_group(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")  # in fewer columns long names are folded
    outcome = cli("measures")
    assert (outcome.code, outcome.err) == (0, "")
    assert all(measure.name in outcome.out for measure in CATALOGUE)
    places = [outcome.out.index(f"\n{group.capitalize()}\n") for group in GROUPS]
    assert places == sorted(places)


def test_groups_are_those_of_the_catalogue() -> None:
    assert tuple(dict.fromkeys(measure.group for measure in CATALOGUE)) == GROUPS


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_listed_alone(cli: Callable[..., Any], group: str) -> None:
    outcome = cli("measures", "--group", group, "--format", "json")
    expected = [measure.name for measure in CATALOGUE if measure.group == group]
    assert [each["name"] for each in json.loads(outcome.out)["measures"]] == expected


@pytest.mark.parametrize("name", [measure.name for measure in CATALOGUE])
def test_every_measure_has_its_page(cli: Callable[..., Any], name: str) -> None:
    outcome = cli("measures", name)
    assert (outcome.code, outcome.err) == (0, "")
    for heading in ("Formula", "When it misleads", "Example"):
        assert f"\n{heading}\n" in outcome.out


def test_an_alias_finds_its_measure(cli: Callable[..., Any]) -> None:
    assert cli("measures", "detection_rate").out == cli("measures", "recall").out


@pytest.mark.parametrize("typed", [["fbeta", "--beta", "1.5"], ["f_beta", "--beta", "1.5"]])
def test_f_beta_is_told_at_any_beta(cli: Callable[..., Any], typed: list[str]) -> None:
    outcome = cli("measures", *typed, "--format", "json")
    (told,) = json.loads(outcome.out)["measures"]
    assert told["name"] == "f1.5"
    assert told["formula"] == "(13/4) TP / ((13/4) TP + FP + (9/4) FN)"
    # (1 + b^2) TP / ((1 + b^2) TP + FP + b^2 FN) of 3, 1 and 2
    assert told["example"]["value"] == 9.75 / (9.75 + 1 + 4.5)
    assert outcome.out == cli("measures", "f1.5", "--format", "json").out
    page = cli("measures", *typed)
    assert page.out.startswith("F1.5\n")
    assert "leaning towards recall (beta = 1.5)" in page.out
    assert "(13/4) x 3 / ((13/4) x 3 + 1 + (9/4) x 2)" in page.out


def test_a_beta_of_one_is_f1(cli: Callable[..., Any]) -> None:
    assert cli("measures", "fbeta", "--beta", "1").out == cli("measures", "f1").out


def test_a_beta_keeps_its_digits(cli: Callable[..., Any]) -> None:
    outcome = cli("measures", "fbeta", "--beta", "1.23456789", "--format", "json")
    assert json.loads(outcome.out)["measures"][0]["name"] == "f1.23456789"


def test_formulas_are_left_to_the_list_of_a_group(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    everything, group = cli("measures").out, cli("measures", "--group", "rates").out
    assert "TP / (TP + FP)" not in everything
    assert "TP / (TP + FP)" in group
    assert "[0, 1]" in group
    # Two lines a measure at the most, so that the list stays readable when it grows.
    assert everything.count("\n") < 2.5 * len(CATALOGUE) + 8 * len(GROUPS)
    for face in ("markdown", "latex", "html"):
        assert "FP" in cli("measures", "--format", face).out


@pytest.mark.parametrize("face", ["csv", "markdown", "latex", "html"])
def test_the_quick_reference_comes_in_every_format(
    cli: Callable[..., Any], tmp_path: Path, face: str
) -> None:
    path = tmp_path / "measures"
    outcome = cli("measures", "--format", face, "--out", path)
    assert outcome.code == 0
    assert outcome.out == ""
    assert "mcc" in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["mmc"], "did you mean mcc?"),
        (["detektion_rate"], "detection_rate"),
        (["\x1b[31m"], "\\x1b[31m"),
        (["mcc", "--group", "rates"], "NAME or --group, not both"),
        (["fbeta"], "fbeta needs its --beta, such as 2"),
        (["fbeta", "--beta", "0"], "'0' is not above 0"),
        (["fbeta", "--beta", "-1"], "'-1' is not above 0"),
        (["fbeta", "--beta", "inf"], "not a finite number"),
        (["fbeta", "--beta", "1e300"], "beta must be a positive number, from 1e-06 to 1,000,000"),
        (["mcc", "--beta", "2"], "--beta is of fbeta alone; found the measure 'mcc'"),
        (["f2", "--beta", "2"], "--beta is of fbeta alone; found the measure 'f2'"),
        (["--beta", "2"], "--beta needs its NAME"),
        (["f99999999"], "there is no measure 'f99999999'"),
        (["--group", "others"], "'others' is not one of 'rates'"),
    ],
)
def test_what_is_not_there_is_wrong_usage(
    cli: Callable[..., Any], typed: list[str], said: str
) -> None:
    outcome = cli("measures", *typed)
    assert outcome.code == 2
    assert outcome.out == ""
    assert said in outcome.err


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_of_the_help_run(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli(*shlex.split(line)[1:]).code == 0


def test_the_example_has_an_interval_of_the_level_asked_for(cli: Callable[..., Any]) -> None:
    wide, narrow = (
        json.loads(cli("measures", "recall", "--format", "json", *level).out)["measures"][0]
        for level in ([], ["--level", "0.5"])
    )
    assert wide["example"]["low"] < narrow["example"]["low"]
