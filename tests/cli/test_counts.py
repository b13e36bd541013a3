"""``assay evaluate --cells`` and ``--matrix``: counts in place of a file of predictions."""

import io
import json
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli.reading import ORIENTATIONS
from assay.report.document import schema_of
from assay.sources import columns

Cli = Callable[..., Any]

FOREST = "tp=6635,fp=167,fn=324,tn=7743"
THREE = "[[45,3,2],[4,38,3],[1,2,52]]"


@pytest.fixture
def told(cli: Cli) -> Callable[..., dict[str, Any]]:
    """The document that a command line gives."""

    def document(*options: str) -> dict[str, Any]:
        outcome = cli("evaluate", *options, "--format", "json")
        assert outcome.code == 0, outcome.err
        result: dict[str, Any] = json.loads(outcome.out)
        return result

    return document


Told = Callable[..., dict[str, Any]]


def test_the_orientations_are_those_of_the_library() -> None:
    assert ORIENTATIONS == columns.ORIENTATIONS


def test_cells_give_what_the_library_gives(told: Told) -> None:
    document = told("--cells", FOREST, "--labels", "normal,attack", "--base-rate", "0.01")
    expected = assay.evaluate_counts(
        tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"], base_rate=0.01
    ).to_dict()
    assert document["estimates"] == expected["estimates"]
    assert document["confusion"] == [[7743, 167], [324, 6635]]
    assert document["labels"] == ["normal", "attack"]
    assert document["source"] == {
        "name": "cells",
        "rows_read": 14869,
        "rows_used": 14869,
        "rows_refused": 0,
        "refused": [],
    }


def test_cells_without_labels_are_negative_and_positive(told: Told) -> None:
    document = told("--cells", FOREST)
    assert (document["labels"], document["positive"]) == (["negative", "positive"], "positive")


def test_the_document_is_of_the_schema(told: Told) -> None:
    import jsonschema

    jsonschema.validate(told("--cells", FOREST, "--volume", "1e6"), schema_of("assay.evaluation/1"))
    jsonschema.validate(told("--matrix", THREE), schema_of("assay.evaluation/1"))


@pytest.mark.parametrize("text", [THREE, "45,3,2;4,38,3;1,2,52"])
def test_a_matrix_may_be_typed(told: Told, text: str) -> None:
    document = told("--matrix", text, "--labels", "A,B,C")
    assert document["confusion"] == [[45, 3, 2], [4, 38, 3], [1, 2, 52]]
    assert (document["labels"], document["positive"]) == (["A", "B", "C"], None)
    assert document["source"]["name"] == "matrix"


def test_the_rows_of_a_matrix_may_be_the_decisions(told: Told) -> None:
    turned = told("--matrix", "45,4,1;3,38,2;2,3,52", "--orientation", "predicted-rows")
    assert turned["estimates"] == told("--matrix", THREE)["estimates"]
    assert told("--matrix", THREE, "--orientation", "truth-rows")["confusion"][0] == [45, 3, 2]


def test_two_classes_of_a_matrix_have_a_positive(told: Told) -> None:
    assert told("--matrix", "4,1;2,3")["positive"] == "1"
    document = told("--matrix", "3,2;1,4", "--labels", "bad,good", "--positive", "bad")
    assert (document["labels"], document["confusion"]) == (["good", "bad"], [[4, 1], [2, 3]])
    assert told("--matrix", "3,2;1,4", "--labels", "a,b", "--negative", "b")["positive"] == "a"


def test_one_class_of_many_may_stand_against_the_rest(told: Told) -> None:
    one = told("--matrix", THREE, "--labels", "A,B,C", "--positive", "B")
    assert (one["labels"], one["confusion"]) == (["not B", "B"], [[100, 5], [7, 38]])
    rest = told("--matrix", THREE, "--labels", "A,B,C", "--negative", "B")
    assert (rest["labels"], rest["confusion"]) == (["B", "not B"], [[38, 7], [5, 100]])
    assert rest["positive"] == "not B"


def test_a_file_of_the_matrix_names_the_report(told: Told, tmp_path: Path) -> None:
    path = tmp_path / "confusion.csv"
    path.write_text(",normal,attack\nnormal,7743,167\nattack,324,6635\n")
    document = told("--matrix", str(path))
    assert document["source"]["name"] == str(path)
    assert document["positive"] == "attack"
    assert (
        document["estimates"] == told("--cells", FOREST, "--labels", "normal,attack")["estimates"]
    )
    assert told("--matrix", str(path), "--labels", "normal,attack")["labels"] == document["labels"]


def test_a_document_of_its_own_is_judged_again(told: Told, tmp_path: Path) -> None:
    first = told("--cells", FOREST, "--labels", "ok,bad")
    path = tmp_path / "evaluation.json"
    path.write_text(json.dumps(first))
    again = told("--matrix", str(path), "--level", "0.9")
    assert again["positive"] == "bad"
    assert again["confusion"] == first["confusion"]
    assert again["level"] == 0.9


def test_standard_input_may_hold_the_matrix(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"4,1\n2,3\n")))
    document = told("--matrix", "-")
    assert (document["source"]["name"], document["confusion"]) == ("matrix", [[4, 1], [2, 3]])


def test_counts_of_any_size_are_exact(told: Told) -> None:
    document = told("--cells", f"tp=1e18,fp={2**53 + 1},fn=1,tn=5e17")
    assert document["confusion"] == [[5 * 10**17, 2**53 + 1], [1, 10**18]]
    (precision, *_) = (e for e in document["estimates"] if e["measure"] == "precision")
    assert precision["value"] == float(Fraction(10**18, 10**18 + 2**53 + 1))


def test_level_interval_volume_and_base_rate_act(told: Told) -> None:
    options = ("--level", "0.8", "--interval", "bootstrap", "--resamples", "50", "--volume", "1e5")
    document = told("--cells", FOREST, *options, "--base-rate", "1/1000")
    assert (document["level"], document["volume"]) == (0.8, 1e5)
    assert {e["base_rate"] for e in document["estimates"]} == {None, 0.001}
    assert "bootstrap" in {e["method"] for e in document["estimates"]}
    assert any(e["measure"] == "alerts_per_day" for e in document["estimates"])


@pytest.mark.parametrize("face", ["terminal", "csv", "markdown", "latex", "html"])
def test_every_face_has_it(cli: Cli, tmp_path: Path, face: str) -> None:
    out = tmp_path / "report"
    outcome = cli("evaluate", "--cells", FOREST, "--format", face, "--out", out)
    assert outcome.code == 0, outcome.err
    assert "0.975" in out.read_text("utf-8")
    again = cli("evaluate", "--cells", FOREST, "--format", face, "--out", out)
    assert again.code == 0, again.err


def test_figures_are_those_of_decisions(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("evaluate", "--matrix", THREE, "--figures", tmp_path / "figures", "--quiet")
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "figures" / "confusion.svg").exists()
    assert not (tmp_path / "figures" / "roc.svg").exists()


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "missing FILE; or give counts with --cells or --matrix"),
        (("--cells", "tp=1,fp=2,fn=3"), "--cells: tn missing"),
        (("--cells", "tp=1,fp=2,fn=3,tn=-4"), "--cells: tn: found -4; a count is not negative"),
        (("--cells", FOREST, "--matrix", THREE), "give --cells or --matrix, not both"),
        (("--matrix", "1,2;3"), "--matrix: a confusion matrix is square"),
        (("--matrix", "[[1,2],[3,4]"), "--matrix: it is no JSON"),
        (("--matrix", ""), "--matrix is empty"),
        (("--cells", FOREST, "--orientation", "truth-rows"), "what the rows of --matrix are"),
        (("--orientation", "truth-rows", "file.csv"), "what the rows of --matrix are"),
        (("--matrix", THREE, "--orientation", "sideways"), "truth-rows"),
        (("--cells", FOREST, "file.csv"), "--cells stands in place of FILE"),
        (("--matrix", THREE, "file.csv"), "leave out it or file.csv"),
        (("--cells", FOREST, "--positive", "a", "--negative", "b"), "not both"),
        (("--cells", FOREST, "--score", "s"), "--score needs rows, and --cells gives counts"),
        (("--cells", FOREST, "--label", "s"), "--label needs rows"),
        (("--cells", FOREST, "--slice", "s"), "--slice needs rows"),
        (("--cells", FOREST, "--threshold", "0.5"), "--threshold needs rows"),
        (("--cells", FOREST, "--mode", "grid"), "--mode needs rows"),
        (("--cells", FOREST, "--interval", "delong"), "--interval delong is of scores"),
        (("--matrix", THREE, "--family", "s"), "--family needs rows, and --matrix gives counts"),
        (("--matrix", THREE, "--probabilities", "p_*"), "--probabilities needs rows"),
        (("--matrix", THREE, "--on-bad-row", "stop"), "--on-bad-row needs rows"),
        (("--matrix", THREE, "--max-memory", "1GB"), "--max-memory needs rows"),
        (("--cells", FOREST, "--labels", "a"), "no list of two or more labels"),
    ],
)
def test_wrong_usage_is_told_with_exit_2(cli: Cli, options: tuple[str, ...], message: str) -> None:
    outcome = cli("evaluate", *options)
    assert outcome.code == 2
    assert message in outcome.err
    assert not outcome.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cells", FOREST, "--labels", "a,b,c"), "four cells have two labels"),
        (("--cells", FOREST, "--positive", "x"), "--positive 'x' is none of the labels"),
        (("--matrix", THREE, "--negative", "x"), "--negative 'x' is none of the labels"),
        (("--matrix", THREE, "--labels", "a,b"), "a matrix of 2 labels has 2 rows of 2 counts"),
        (("--matrix", "3,2;1,4", "--labels", "a,b"), "nothing tells which one is the alarm"),
        (("--matrix", THREE, "--base-rate", "0.1"), "more than two classes"),
        (("--matrix", "none.csv"), "there is no file none.csv"),
        (("--matrix", "named.csv", "--labels", "x,y"), "named.csv names its classes a, b"),
        (("--matrix", "odd.csv"), "odd.csv: row 2, column 1: found 'x'"),
        (("--matrix", "turned.json", "--orientation", "truth-rows"), "leave one of them out"),
    ],
)
def test_counts_that_can_not_be_judged_are_told_with_exit_3(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("named.csv").write_text("a,b\n1,2\n3,4\n")
    Path("odd.csv").write_text("1,2\nx,4\n")
    Path("turned.json").write_text('{"matrix":[[1,2],[3,4]],"orientation":"predicted-rows"}')
    outcome = cli("evaluate", *options)
    assert outcome.code == 3
    assert message in outcome.err
    assert not outcome.out


def test_the_report_may_not_replace_the_matrix(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "confusion.json"
    path.write_text(THREE)
    outcome = cli("evaluate", "--matrix", path, "--out", path)
    assert outcome.code == 2
    assert "which it would replace" in outcome.err
    assert path.read_text() == THREE
