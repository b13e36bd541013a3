"""The folder that a training leaves: all of its files, or none."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.errors import OutputError
from assay.cli.provenance import must_not_replace
from assay.report import aside

if TYPE_CHECKING:
    from assay.learn.run import Run
    from assay.learn.run_folder import Asked
    from assay.report import Document
    from assay.sources.files import Request


def check_folder(path: Path) -> None:
    """Refuse a place that can't become a run, and a folder that is somebody else's."""
    check_place(path, _is_run, "that no training left")


def check_place(path: Path, is_ours: Callable[[Path], bool], whose: str) -> None:
    """Refuse a place that can't become a folder, and one with files that are not ours."""
    if str(path).startswith("-"):
        raise click.UsageError(f"{str(path)!r} would be taken for an option; name another folder")
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is no folder; --out needs the name of one")
    if not path.absolute().parent.is_dir():
        raise OutputError(f"{path} could not be made: there is no folder {path.parent}")
    try:
        if path.is_dir() and any(path.iterdir()) and not is_ours(path):
            raise OutputError(
                f"{path} holds files {whose}; name another folder with --out, or empty this one"
            )
    except OSError as error:
        raise OutputError.of(path, error) from error


def must_hold_no_input(path: Path, inputs: Sequence[str], request: Request) -> None:
    """Refuse a folder in which a file that is read would be replaced."""
    from assay.learn.run_folder import FILES

    for name in FILES:
        must_not_replace(path / name, inputs, request)


def _is_run(path: Path) -> bool:
    """Whether the record in a folder says that a training left it, of this version or another."""
    from assay.learn.run_folder import RUN, SCHEMA

    try:
        found = json.loads((path / RUN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    schema = found.get("schema") if isinstance(found, dict) else None
    return isinstance(schema, str) and schema.rpartition("/")[0] == SCHEMA.rpartition("/")[0]


def files_of(
    run: Run, model: bytes, document: Document, asked: Asked, times: Mapping[str, Any]
) -> dict[str, bytes]:
    """The content of every file, by its name; ``run.json``, which names the others, is last."""
    from assay.learn import run_folder as folder
    from assay.learn.persistence import MODEL
    from assay.report import draw
    from assay.report.spreadsheet import csv_text

    folds = folder.folds_of(run)
    texts = {
        folder.EVALUATION: draw(document, "json"),
        folder.REPORT: draw(document, "html"),
        folder.IMPORTANCE: csv_text(*folder.importance_rows(run)),
        folder.ENCODING: folder.encoding_text(run),
        folder.FOLDS: csv_text(tuple(folds[0]), folds),
        folder.CARD: draw(document, "card"),
    }
    files = {
        MODEL: model,
        folder.PREDICTIONS: folder.parquet(folder.predictions_of(run, asked.id)),
        **{name: text.encode(errors="backslashreplace") for name, text in texts.items()},
    }
    digests = [(name, hashlib.sha256(content).hexdigest()) for name, content in files.items()]
    return {**files, folder.RUN: folder.run_record(run, asked, digests, times)}


def times_since(started: float) -> dict[str, Any]:
    """When a run began and ended; all that differs when it is made again."""

    def written(moment: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))

    ended = time.time()
    return {
        "started": written(started),
        "ended": written(ended),
        "seconds": round(ended - started, 3),
    }


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write the files aside, and put them in place together.

    In a folder that was a run before, they replace its files; what is of another run, as figures,
    stays.
    """
    check_folder(path)
    try:
        with aside.folder(path) as folder:
            for name, content in files.items():
                (folder / name).write_bytes(content)
    except OSError as error:
        raise OutputError.of(path, error) from error


def told(path: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    """What was written, and the types that have to be named when the model is loaded."""
    from assay.learn.persistence import MODEL, types_to_trust

    yield f"wrote {path}: {', '.join(files)}"
    trusted = " ".join(f"--trust {name}" for name in types_to_trust(files[MODEL]))
    if trusted:
        yield f"note: to load this model is to run its code: predict needs {trusted}"
