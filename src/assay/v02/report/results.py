"""Results in hand: what a notebook shows of one, the file it is saved to, its rows as a dataframe.

:class:`assay.inference.fields.Result` asks for these by name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.v02.escaping import sentence
from assay.v02.report import SUFFIXES, atomic_files
from assay.v02.report.document import Document, document_of, draw
from assay.v02.report.sections import Report
from assay.v02.sources.files.inputs import name_of, shown

PDF = ".pdf"
LIBRARIES = ("pandas", "polars")
# By the names under which systems install them.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge")
TEX = ("pdflatex", "lualatex", "xelatex", "tectonic")
_SECONDS = 120
_LAST_WORDS = 300
_WIDTH = 100
_LARGEST = 2**63 - 1
# Columns that hold text also where no row of a result has any.
_TEXTS = frozenset(
    (
        *("at", "average", "code", "columns", "explanation", "family", "first_alert", "kind"),
        *("label", "lines", "measure", "message", "method", "missed", "mistake", "model"),
        *(
            "name",
            "note",
            "outcome",
            "pitfall",
            "reading",
            "reason",
            "rule",
            "rules",
            "said",
            "severity",
        ),
        *("shared", "slice_column", "slice_value", "undefined", "why"),
    )
)


def text_of(result: Any) -> str:
    """What it comes to, and its findings, as lines of text."""
    report = _report(result)
    findings = [each.line for each in (*report.warnings, *report.remarks)]
    return "\n".join(map(sentence, [report.title, *report.headline, *findings]))


def cell_of(result: Any) -> str:
    """What a notebook shows: at most 40 lines of HTML, the rest folded."""
    from assay.v02.report.html.notebook import render

    return render(_report(result))


def _drawable(result: Any) -> Document | Report:
    """What faces are drawn of: the document, or the report of a result that is none."""
    report: Report | None = result.to_report() if hasattr(result, "to_report") else None
    return document_of(result) if report is None else report


def _report(result: Any) -> Report:
    document = _drawable(result)
    return document.report if isinstance(document, Document) else document


# -- dataframes ------------------------------------------------------------------------------------


def frame_of(result: Any, library: str | None = None) -> Any:
    """The rows of its CSV as a dataframe of pandas where that is installed, else of polars."""
    import narwhals as nw

    chosen = _library(library)
    # Of an evaluation they are there without its whole report.
    records = result.records() if hasattr(result, "records") else _report(result).records
    columns = {name: [record[name] for record in records] for name in (records or ({},))[0]}
    kinds = {name: _kind_of(name, values) for name, values in columns.items()}
    types: dict[type, Any] = {bool: nw.Boolean, int: nw.Int64, float: nw.Float64, str: nw.String}
    frame = nw.from_dict(
        {name: _as(kinds[name], values) for name, values in columns.items()},
        {name: types[kind] for name, kind in kinds.items()},
        backend=chosen,
    )
    return frame.to_native()


def _library(library: str | None) -> Any:
    if library is None:
        return "pandas" if find_spec("pandas") is not None else "polars"
    if library not in LIBRARIES:
        raise InputError(f"a dataframe is of {' or '.join(LIBRARIES)}; found library={library!r}")
    if find_spec(library) is None:
        raise InputError(f"{library} is not installed: install it, or say library='polars'")
    return library


def _kind_of(name: str, values: Sequence[Any]) -> type:
    """The type of a column: of text, of numbers, or true and false where all are known."""
    types = {type(value) for value in values if value is not None}
    if not types:
        return str if name in _TEXTS else float
    if types <= {bool}:
        return bool if None not in values else str
    if not types <= {bool, int, float}:
        return str
    # With weights, and in resamples, n is not whole.
    integers = types == {int} and None not in values and name != "n"
    return int if integers and max(map(abs, values)) <= _LARGEST else float


def _as(kind: type, values: Sequence[Any]) -> list[Any]:
    return [None if value is None else kind(value) for value in values]


# -- files -----------------------------------------------------------------------------------------


def save(result: Any, path: str | os.PathLike[str]) -> Path:
    """Write the whole report as the suffix of the path says; all of it, or nothing."""
    target = Path(name_of(path))
    suffix = target.suffix.lower()
    if suffix != PDF and suffix not in SUFFIXES:
        raise InputError(
            f"{target} has {f'the suffix {suffix}' if suffix else 'no suffix'}, which tells no "
            f"format; there are {', '.join((*SUFFIXES, PDF))}"
        )
    try:
        target.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # such as a name that is too long, or holds a NUL
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{shown(str(target))} can't be written: {why}") from error
    if target.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file in it")
    if not target.parent.is_dir():
        raise InputError(
            f"{target} can't be written: there is no folder {target.parent}; make it first"
        )
    for name in _inputs(result):
        if target.exists() and Path(name).exists() and target.samefile(name):
            raise InputError(
                f"{target} is a file that this result was made from, which its report would "
                f"replace; give another name"
            )
    document = _drawable(result)
    if suffix == PDF:
        content = _pdf(document)
    else:
        content = draw(document, SUFFIXES[suffix], width=_WIDTH).encode("utf-8", "backslashreplace")
    atomic_files.write(target, content)
    return target


def _inputs(result: Any) -> Iterator[str]:
    """The names of the files that a result was made from, where they were files."""
    sources = [getattr(result, "source", None), *(getattr(result, "parts", None) or {}).values()]
    for source in sources:
        name = source.get("name") if isinstance(source, Mapping) else None
        if isinstance(name, str) and "\0" not in name:
            yield from (name, *name.split(", "))
    for claim in getattr(result, "claims", ()):
        yield claim.file


def _pdf(document: Document | Report) -> bytes:
    """The page as Chromium prints it, or the LaTeX file as a TeX sets it."""
    failed: list[str] = []
    for programs, face, name in ((BROWSERS, "html", "page.html"), (TEX, "latex", "page.tex")):
        program = next(filter(None, map(shutil.which, programs)), None)
        if program is None:
            continue
        with tempfile.TemporaryDirectory(prefix="assay", ignore_cleanup_errors=True) as folder:
            source = Path(folder, name)
            source.write_text(draw(document, face), "utf-8")
            printed = source.with_suffix(PDF)
            output = _ran(_command(program, source, printed), Path(folder))
            if printed.is_file() and printed.stat().st_size:
                return printed.read_bytes()
            failed.append(f"{program} wrote none ({output})")
    raise InputError(
        f"a PDF is printed by Chromium, or set by a TeX: {'; '.join(failed) or 'neither is here'}. "
        f"Install one (on Debian, apt-get install chromium, or texlive-latex-recommended), or "
        f"save as .html and print that"
    )


def _command(program: str, source: Path, printed: Path) -> list[str]:
    if Path(program).name in TEX:
        quiet = (
            [] if program.endswith("tectonic") else ["-interaction=nonstopmode", "-no-shell-escape"]
        )
        return [program, *quiet, source.name]
    # Only a container's root has to do without the sandbox.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [
        program,
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        *["--no-sandbox"] * root,
        f"--user-data-dir={source.parent / 'profile'}",
        "--no-pdf-header-footer",
        f"--print-to-pdf={printed}",
        source.as_uri(),
    ]


def _ran(command: Sequence[str], folder: Path) -> str:
    """Run a program in a folder, and give its last words."""
    try:
        done = subprocess.run(  # noqa: S603 - a program that was looked up, and files of our own
            command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as wrong:
        return str(wrong)[:_LAST_WORDS]
    output = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return " ".join(output[-_LAST_WORDS:].split()) or f"exit {done.returncode}"
