"""Every question gets the answer that 0.2 gave (see DESIGN.md: how 0.3 replaces 0.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asking import HERE, Question, ask, questions
from .comparing import differences
from .files import load
from .tables import write_tables

# More are not read by anyone; the number of all of them is told.
SHOWN = 12
MOST_BYTES = 3_000_000


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frozen") / "tables"
    folder.mkdir()
    write_tables(folder)
    return folder


@pytest.mark.parametrize("question", questions(), ids=lambda question: question.path)
def test_the_answer_is_the_frozen_one(question: Question, tables: Path) -> None:
    kept = load([question], HERE)[question]
    if kept["asked"] != question.text:
        pytest.fail(f"{question.path} answers {kept['asked']!r}: freeze the new question")
    found = differences(
        kept["answer"], ask(question, tables), kept["seeds"], weighted=question.weighted
    )
    if found:
        lines = [f"assay {question.command}: {question.text}", *map(str, found[:SHOWN])]
        pytest.fail("\n".join([*lines, f"{len(found)} values differ"]), pytrace=False)


def test_every_file_answers_a_question() -> None:
    asked = {question.path for question in questions()}
    kept = {path.relative_to(HERE).as_posix() for path in HERE.glob("*/*.json")}
    assert kept - {path for path in kept if path.startswith("given/")} == asked


def test_the_answers_stay_small() -> None:
    assert sum(path.stat().st_size for path in HERE.glob("*/*.json")) <= MOST_BYTES
