"""Freeze the answers of the installed assay: `python -m tests.frozen.freeze [COMMAND...]`.

A question whose answer moves with the seed is asked with 20 seeds (5 of a training), and the mean
and the spread of each value that moves are kept beside the answer.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from .asking import HERE, Question, ask, questions
from .comparing import leaves
from .files import save
from .tables import write_tables

FIRST = (1, 2, 3)


def spread_over_seeds(question: Question, tables: Path, answer: dict[str, Any]) -> dict[str, Any]:
    """Mean and standard deviation over seeds of each value that moves with them."""
    asked = [answer, *(ask(question, tables, seed) for seed in FIRST)]
    if all(each == answer for each in asked):
        return {}
    more = 5 if question.command == "train" else 20
    asked += [ask(question, tables, seed) for seed in range(FIRST[-1] + 1, more)]
    found = [dict(leaves(each)) for each in asked]
    seeds: dict[str, Any] = {}
    for path in dict.fromkeys(path for each in found for path in each):
        values = [each.get(path) for each in found]
        if path[-1] == "seed" or all(value == values[0] for value in values):
            continue
        if all(isinstance(value, int | float) for value in values):
            numbers = [float(value) for value in values if value is not None]
            spread: Any = _spread(numbers)
        else:
            spread = {"any of": sorted(set(values), key=str)}
            if question.command != "train":
                print(f"  {question.path}: {'/'.join(path)} flips: {spread['any of']}")
        seeds["/".join(path)] = spread
    return seeds


def _spread(numbers: list[float]) -> list[float]:
    """Mean and standard deviation, to a hundredth of the latter."""
    error = float(f"{statistics.stdev(numbers):.2g}")
    return [round(statistics.fmean(numbers), 2 - math.floor(math.log10(error))), error]


def frozen(question: Question, tables: Path) -> dict[str, Any]:
    """What is kept of a question."""
    answer = ask(question, tables)
    if answer.get("error") == "traceback":
        print(f"  {question.path}: a traceback")
    kept = {"asked": question.text, "answer": answer}
    seeds = spread_over_seeds(question, tables, answer) if answer["exit"] < 2 else {}
    return {**kept, "seeds": seeds} if seeds else kept


def main(commands: list[str]) -> None:
    """Freeze all questions, or those of some commands."""
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        tables.mkdir()
        write_tables(tables)
        asked: dict[str, dict[Question, dict[str, Any]]] = {}
        for question in questions():
            if not commands or question.command in commands:
                kept = frozen(question, tables)
                asked.setdefault(question.command, {})[question] = kept
        for answers in asked.values():
            save(answers, HERE)


if __name__ == "__main__":
    main(sys.argv[1:])
