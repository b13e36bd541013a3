"""Where a report goes and how it looks."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import assay
from assay.cli import reporting as module
from assay.cli.messages import OutputError
from assay.cli.reporting import FORMATS, Reporting, reporting
from assay.report import Document, document_of

HOW = {"face": "terminal", "out": None, "level": 0.95, "seed": 42, "quiet": False, "brief": False}


class Screen(io.TextIOWrapper):
    """Standard output that is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        held = self.buffer
        assert isinstance(held, io.BytesIO)
        return held.getvalue().decode(self.encoding)


@pytest.fixture(scope="module")
def document() -> Document:
    return document_of(assay.evaluate_counts(tp=11, fp=2, fn=1, tn=40, labels=["normal", "attack"]))


def asked(*arguments: str) -> Reporting:
    """What a command line asks for."""

    @click.command()
    @reporting
    def command(*, reporting: Reporting) -> Reporting:
        return reporting

    options: Reporting = command.main(list(arguments), standalone_mode=False)
    return options


# -- what is asked for -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "face"),
    [
        ([], "terminal"),
        (["--out", "r.json"], "json"),
        (["--out", "r.CSV"], "csv"),
        (["--out", "r.md"], "markdown"),
        (["--out", "r.tex"], "latex"),
        (["--out", "r.html"], "html"),
        (["--out", "r.txt"], "terminal"),
        (["--out", "report"], "terminal"),
        (["--out", "-"], "terminal"),
        (["--out", "r.json", "--format", "csv"], "csv"),
        (["--format", "latex"], "latex"),
    ],
)
def test_the_format_follows_from_the_name_unless_it_is_given(typed: list[str], face: str) -> None:
    assert asked(*typed).face == face


def test_a_dash_is_standard_output() -> None:
    assert asked("--out", "-").out is None


def test_formats_are_those_of_the_reports() -> None:
    from assay.report import FORMATS as THEIRS

    assert FORMATS == THEIRS


def test_defaults_are_those_of_the_contract() -> None:
    options = asked()
    assert (options.level, options.seed, options.quiet) == (0.95, 42, False)
    assert asked("--level", "99%").level == 0.99


# -- standard output -------------------------------------------------------------------------------


@pytest.mark.parametrize("face", FORMATS)
def test_standard_output_is_the_report_and_nothing_else(
    document: Document,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    face: str,
) -> None:
    from assay.report import draw

    monkeypatch.delenv("COLUMNS", raising=False)
    Reporting(**{**HOW, "face": face}).deliver(document)
    out, err = capfdbinary.readouterr()
    assert out.decode() == draw(document, face, width=100)
    assert err == b""


def test_a_terminal_is_filled_and_coloured(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    Reporting(**HOW).deliver(document)
    assert "\x1b[" in screen.shown()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_is_left_out_where_it_is_not_wanted(
    document: Document, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    Reporting(**HOW).deliver(document)
    assert "\x1b[" not in screen.shown()


def test_a_narrow_terminal_is_respected(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    Reporting(**HOW).deliver(document)
    assert max(map(len, screen.shown().splitlines())) <= 44


def test_a_terminal_without_unicode_gets_what_it_can_show(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", screen := Screen("ascii"))
    Reporting(**HOW).deliver(document)
    assert "Confusion matrix" in screen.shown()


def test_json_is_utf_8_whatever_the_terminal_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = assay.evaluate_counts(tp=1, fp=2, fn=3, tn=4, labels=["normál", "útok"])
    monkeypatch.setattr(sys, "stdout", screen := Screen("ascii"))
    Reporting(**{**HOW, "face": "json"}).deliver(document_of(evaluation))
    held = screen.buffer
    assert isinstance(held, io.BytesIO)
    assert json.loads(held.getvalue().decode("utf-8"))["positive"] == "útok"


def test_html_is_not_thrown_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    with pytest.raises(click.UsageError, match=r"--out report\.html"):
        Reporting(**{**HOW, "face": "html"}).check()


def test_html_may_be_sent_on(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Reporting(**{**HOW, "face": "html"}).check()


def test_closed_standard_output_is_said(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OutputError, match="closed"):
        Reporting(**HOW).deliver(document)


# -- files -----------------------------------------------------------------------------------------


def to(path: Path, face: str = "json", **settings: Any) -> Reporting:
    return Reporting(**{**HOW, "face": face, "out": path, **settings})


def test_a_file_is_written_and_that_is_said(
    document: Document, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    to(path).deliver(document)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == f"wrote {path} (json)\n"
    assert json.loads(path.read_text("utf-8"))["schema"] == "assay.evaluation/1"


def test_quiet_says_nothing(
    document: Document, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    to(tmp_path / "r.json", quiet=True).deliver(document)
    assert capfd.readouterr() == ("", "")


def test_a_file_looks_the_same_from_every_terminal(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        to(tmp_path / "r.txt", "terminal").deliver(document)
        written.append((tmp_path / "r.txt").read_bytes())
    assert written[0] == written[1]
    assert b"\x1b[" not in written[0]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("name", "said"),
    [("", "is a folder"), ("missing/r.json", "there is no folder"), ("file/r.json", "no folder")],
)
def test_a_place_that_can_not_be_a_file_is_refused_early_and_late(
    document: Document, tmp_path: Path, name: str, said: str, when: str
) -> None:
    (tmp_path / "file").write_text("x")
    wanted = to(tmp_path / name)
    act: Callable[[], None] = wanted.check if when == "before" else lambda: wanted.deliver(document)
    with pytest.raises(OutputError, match=said):
        act()


def test_an_error_of_the_system_is_told_with_the_file(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.atomic_files, "_write_all", full)
    with pytest.raises(OutputError, match=r"r\.json could not be written: No space left") as caught:
        to(tmp_path / "r.json").deliver(document)
    assert caught.value.exit_code == 4
    assert list(tmp_path.iterdir()) == []


def test_a_brief_report_has_the_verdict_the_findings_and_ten_numbers(
    cli: Callable[..., Any], predictions: Path
) -> None:
    whole = cli("evaluate", predictions, "--quiet").out
    short = cli("evaluate", predictions, "--quiet", "--brief").out
    assert short.splitlines()[:4] == whole.splitlines()[:4]
    numbers = short.partition("Main results")[2].partition("Findings")[0]
    assert (
        len([line for line in numbers.splitlines() if " wilson " in line or " delta " in line])
        == 10
    )
    assert "Findings" in short
    assert "--no-brief gives all of it" in short
    assert cli("evaluate", predictions, "--quiet", "--no-brief").out == whole
    for face in ("markdown", "latex", "html"):
        text = cli("evaluate", predictions, "--quiet", "--brief", "--format", face).out
        assert "brief report" in text
        assert "Kolmogorov" not in text
    refused = cli("evaluate", predictions, "--brief", "--format", "json")
    assert refused.code == 2
    assert "--brief is for people" in refused.err


def test_what_a_brief_report_leaves_out_of_its_notes_is_said_beside_it(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("label,score\n" + "attack,0.9\nnormal,0.1\n" * 20 + "attack,odd\n")
    asked = ("evaluate", file, "--on-bad-row", "skip")
    assert "1 of 41 rows was refused" not in cli(*asked).err
    told = cli(*asked, "--brief")
    assert "note: 1 of 41 rows was refused" in told.err
    assert "'attack' was taken as the positive label" in told.err
    assert "warning" not in told.err


def test_a_small_terminal_gets_the_brief_report(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for lines, short in (("30", True), ("60", False)):
        monkeypatch.setenv("LINES", lines)
        screen = Screen()
        monkeypatch.setattr(sys, "stdout", screen)
        Reporting(**HOW | {"brief": None}).deliver(document)
        assert ("brief report" in screen.shown()) == short


@pytest.mark.parametrize("face", ["terminal", "json"])
def test_a_stream_of_text_in_place_of_standard_output_is_written_to(
    document: Document, face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, whose stream takes text alone."""
    caught = io.StringIO()
    monkeypatch.setattr(sys, "stdout", caught)
    asked("--format", face, "--quiet").deliver(document)
    assert "precision" in caught.getvalue()
