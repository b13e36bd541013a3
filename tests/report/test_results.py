"""Every result shows itself, is saved, and becomes a dataframe; all from one home."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import assay
from assay.errors import InputError
from assay.inference.fields import Result
from assay.learn.run import Run
from assay.report import KINDS, SUFFIXES, Document, draw, results

from .test_faces import CASES

# One of each kind, and those that are unlike it.
CHOSEN = [
    *("evaluation: binary", "evaluation: classes", "evaluation: no_rows", "evaluation: weighted"),
    *("threshold: both", "threshold: nothing", "plan: far", "compare: three at a rule"),
    *("gate: every outcome", "monitor: rules and a shift", "incidents: score"),
    *("audit: two claims", "check: leaks", "training: forest by folds"),
]


@cache
def result(case: str) -> Any:
    example = CASES[case]()
    assert isinstance(example, Document)
    return example.result


def test_every_kind_of_document_is_of_a_result() -> None:
    kinds = {type(result(case)) for case in CHOSEN} | {assay.StratifiedSample}
    assert {kind.type for kind in KINDS.values()} == kinds
    for kind in (*kinds, assay.Evaluation, Run):
        assert issubclass(kind, Result), kind


@pytest.mark.parametrize("case", CHOSEN)
def test_a_result_shows_itself(case: str) -> None:
    training = result(case)
    assert training._repr_html_().startswith('<div class="assay-cell">')
    text = repr(training)
    assert len(text.splitlines()) < 40
    assert "object at 0x" not in text


# -- dataframes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CHOSEN)
def test_a_frame_has_the_rows_of_the_csv(case: str) -> None:
    text = draw(CASES[case](), "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = result(case).to_frame(library)
        assert isinstance(frame, kind)
        assert list(frame.columns) == list(rows[0])
        assert len(frame) == len(rows)


def test_pandas_is_taken_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    training = result("gate: every outcome")
    assert isinstance(training.to_frame(), pd.DataFrame)
    monkeypatch.setattr(results, "find_spec", lambda name: None if name == "pandas" else object())
    assert isinstance(training.to_frame(), pl.DataFrame)
    with pytest.raises(InputError, match=r"pandas is not installed: install it"):
        training.to_frame("pandas")


def test_a_library_that_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match=r"pandas or polars; found library='spark'"):
        result("plan: far").to_frame("spark")


@pytest.mark.parametrize("case", CHOSEN)
def test_columns_that_results_share_have_one_type(case: str) -> None:
    frame = result(case).to_frame("polars")
    for column in {"value", "low", "high", "n", "base_rate", "p_adjusted"} & set(frame.columns):
        assert frame[column].dtype == pl.Float64, column
    for column in {"measure", "label", "method", "note", "undefined"} & set(frame.columns):
        assert frame[column].dtype == pl.String, column


def test_counts_stay_whole_and_absent_numbers_are_null() -> None:
    frame = result("incidents: score").to_frame("polars")
    assert frame["alerts"].dtype == pl.Int64
    assert frame["detected"].dtype == pl.Boolean
    assert frame.filter(~pl.col("detected"))["delay"].to_list() == [None]
    assert result("incidents: score").to_frame("pandas")["delay"].isna().sum() == 1


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_suffix_chooses_the_face(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"report{suffix.upper()}"
    training = result("gate: every outcome")
    assert training.save(path) == path
    written = path.read_bytes().decode("utf-8")
    if SUFFIXES[suffix] == "json":
        assert json.loads(written)["schema"] == "assay.gate/1"
    else:
        expected = draw(assay.report.document_of(training), SUFFIXES[suffix], width=100)
        assert written == expected


def test_every_face_of_every_kind_is_saved(tmp_path: Path) -> None:
    for i, case in enumerate(CHOSEN):
        for suffix in (".md", ".tex", ".csv"):
            assert result(case).save(str(tmp_path / f"{i}{suffix}")).stat().st_size


@pytest.mark.parametrize("name", ["report.docx", "report", "report.html.gz"])
def test_another_suffix_is_refused_and_the_known_ones_are_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.html, .*\.tex, \.json, \.csv, \.txt, \.pdf"):
        result("plan: far").save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_file_that_a_result_was_made_from_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text("label,score\n0,0.2\n1,0.9\n1,0.4\n0,0.1\n", "utf-8")
    before = path.read_bytes()
    for evaluation in (assay.evaluate_files(path), assay.choose_threshold_files([path])):
        with pytest.raises(InputError, match="made from"):
            evaluation.save(path)
        assert path.read_bytes() == before
        evaluation.save(tmp_path / "others.csv")


def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        result("plan: far").save(tmp_path / "folder.md")
    with pytest.raises(InputError, match="there is no folder"):
        result("plan: far").save(tmp_path / "missing" / "report.md")


def test_a_file_that_is_there_is_replaced_whole_and_keeps_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.md"
    path.write_text("old", "utf-8")
    path.chmod(0o640)
    real = os.write

    def full(file: int, data: Any) -> int:
        if file > 2 and len(data) > 100:
            raise OSError(28, os.strerror(28))
        return real(file, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            result("plan: far").save(path)
    assert path.read_text("utf-8") == "old"
    result("plan: far").save(path)
    assert path.read_text("utf-8") != "old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


# -- PDF -------------------------------------------------------------------------------------------


def test_without_a_program_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match=r"apt-get install chromium, or texlive.*save as \.html"):
        result("plan: far").save(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


def test_a_program_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("chromium", "pdflatex"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho it is broken >&2\nexit 1\n", "utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(results, "BROWSERS", ("chromium",))
    monkeypatch.setattr(results, "TEX", ("pdflatex",))
    with pytest.raises(InputError, match=r"chromium wrote none \(it is broken\).*pdflatex wrote"):
        result("plan: far").save(tmp_path / "report.pdf")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["BROWSERS", "TEX"])
def test_a_pdf_is_written_by_a_browser_or_a_tex(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not any(map(shutil.which, getattr(results, kind))):
        pytest.skip(f"none of {getattr(results, kind)} is installed")
    monkeypatch.setattr(results, {"BROWSERS": "TEX", "TEX": "BROWSERS"}[kind], ())
    for case in ("evaluation: binary", "compare: three at a rule"):
        page = result(case).save(tmp_path / "report.pdf").read_bytes()
        assert page.startswith(b"%PDF")
        assert len(page) > 5000


# -- what it costs ---------------------------------------------------------------------------------


def test_results_import_no_report_until_it_is_asked_for() -> None:
    code = (
        "import sys, assay\n"
        "found = assay.evaluate_counts(tp=3, fp=1, fn=2, tn=4)\n"
        "found['recall']\n"
        "assert 'assay.report' not in sys.modules\n"
        "found._repr_html_()\n"
        "assert 'pandas' not in sys.modules and 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
