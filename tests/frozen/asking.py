"""The questions, and how one is asked: a command line in this process, in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from . import calls
from .shape import shaped, table_of, trained

HERE = Path(__file__).parent
# What these write is a table, and no report.
TABLES = ("data", "predict", "sample")
NO_JSON = (*TABLES, "serve", "demo")
NO_JSON_OF_RUNS = ("tag", "export", "import", "delete")


@dataclass(frozen=True)
class Question:
    """Command lines that run one after the other; the answer is that of the last.

    Of the command "python" it is a function of `calls.py`.
    """

    command: str
    name: str
    text: str

    @property
    def path(self) -> str:
        """The file of its answer, in the folder of the frozen answers."""
        return f"{self.command}/{self.name.replace(' ', '-')}.json"

    def lines(self, seed: int | None = None) -> list[list[str]]:
        """The words of each command line, with another seed where one is given."""
        lines = [shlex.split(part) for part in self.text.split(" && ")]
        if len(lines) == 1 and lines[0][:1] != [self.command]:
            lines[0].insert(0, self.command)
        if seed is not None:
            lines = [_with_seed(line, seed) for line in lines]
        lines[-1] = _with_json(lines[-1])
        return lines

    @property
    def weighted(self) -> bool:
        """Whether its sums are of weights."""
        return "--weight" in self.text.split() or self.name.startswith("weights")


def _with_json(line: list[str]) -> list[str]:
    written = {"--format", "--out", "-o", "--help", "--list", "--template"} & set(line)
    if line[0] in NO_JSON or written or (line[:1] == ["runs"] and line[1] in NO_JSON_OF_RUNS):
        return line
    end = line.index("<") if "<" in line else len(line)
    return [*line[:end], "--format", "json", *line[end:]]


def _with_seed(line: list[str], seed: int) -> list[str]:
    without = ("predict", "show", "serve", "demo")
    if "--template" in line or line[0] in without or (line[0] == "runs" and line[1] != "compare"):
        return line
    return [
        line[0],
        *(["compare"] if line[0] == "runs" else []),
        "--seed",
        str(seed),
        *line[2 if line[0] == "runs" else 1 :],
    ]


def questions(folder: Path = HERE) -> list[Question]:
    """All questions, in the order of their lists."""
    asked = [
        Question(path.parent.name, name.strip(), text.strip())
        for path in sorted(folder.glob("*/questions.txt"))
        for line in path.read_text("utf-8").splitlines()
        if line.strip() and not line.startswith("#")
        for name, text in [line.split(":", 1)]
    ]
    return asked + [Question("python", name, f"calls.{name}") for name in calls.names()]


def ask(question: Question, tables: Path, seed: int | None = None) -> dict[str, Any]:
    """The answer to a question: exit code, what was printed, and which files were written."""
    with _own_copy(tables):
        if question.command == "python":
            return {"exit": 0, "returned": shaped(_called(question.name, seed))}
        before = _files()
        for line in question.lines(seed):
            code, out, err = _run(line)
            if line != question.lines(seed)[-1] and code > 1:
                raise RuntimeError(f"{question.path}: {line} ended with {code}: {err}")
        answer: dict[str, Any] = {"exit": code}
        if out.strip():
            answer["printed"] = _printed(question.command, line, out)
        errors = [text for text in err.splitlines() if "error: " in text or "Traceback" in text]
        if errors:
            one = len(errors) == 1 and errors[0].startswith("assay: error: ")
            answer["error"] = "one line" if one else "\n".join(errors)
        written = sorted(_files() - before)
        if written:
            answer["files"] = {name: _file(question.command, Path(name)) for name in written}
        return answer


def _called(name: str, seed: int | None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calls.answer(name, Path.cwd(), seed)


def _printed(command: str, line: Sequence[str], out: str) -> Any:
    with contextlib.suppress(ValueError):
        document = json.loads(out)
        return shaped(trained(document) if command == "train" else document)
    if command in ("data", "predict"):
        return table_of(out)
    asked = line[line.index("--format") + 1] if "--format" in line else ""
    return {"columns": out.splitlines()[0].split(",")} if asked == "csv" else "(text)"


def _file(command: str, path: Path) -> Any:
    if not path.stat().st_size:
        return "(empty)"
    if path.suffix == ".csv":
        text = path.read_text("utf-8")
        return table_of(text) if command in TABLES else {"columns": text.split("\n")[0].split(",")}
    if path.suffix == ".parquet":
        import polars as pl

        return table_of(pl.read_parquet(path).write_csv())
    return "(not empty)"


def _files() -> set[str]:
    return {path.as_posix() for path in Path().rglob("*") if path.is_file()}


@contextlib.contextmanager
def _own_copy(tables: Path) -> Iterator[None]:
    """Work in a folder of links to the tables, so that no question sees what another wrote."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=tables.parent) as folder:
        shutil.copytree(tables, folder, copy_function=os.link, dirs_exist_ok=True)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run(line: Sequence[str]) -> tuple[int, str, str]:
    """Run one command line in this process; `<` names the file of its standard input."""
    given = b""
    if "<" in line:
        given = Path(line[-1]).read_bytes()
        line = line[: line.index("<")]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    streams = {"stdin": io.TextIOWrapper(io.BytesIO(given), "utf-8"), "stdout": out, "stderr": err}
    settings = {"SOURCE_DATE_EPOCH": "1750000000", "COLUMNS": "100", "ASSAY_STORE": "assay.db"}
    with (
        mock.patch.multiple(sys, **streams),
        mock.patch.dict(os.environ, settings),
        # A process of its own would end by signals; this one goes on.
        mock.patch.multiple("assay.cli.interruption", watch=mock.DEFAULT, finish=mock.DEFAULT),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        from assay.cli import main

        code = main(list(line))
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]
    return code, *texts
