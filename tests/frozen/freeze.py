"""Freeze answers that are missing: `python -m tests.frozen.freeze [--again] [COMMAND...]`.

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
from .files import Answers, load, save
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
        words = {value for value in values if isinstance(value, str | bool) or value is None}
        numbers = [float(value) for value in values if value not in words]
        if len(numbers) > 1 and words <= {None}:
            spread: Any = [*_spread(numbers), *words]
        else:
            spread = {"any of": sorted(set(values), key=str)}
            if question.command != "train":
                print(f"  {question.path}: {'/'.join(path)} flips: {spread['any of']}", flush=True)
        seeds["/".join(path)] = spread
    return seeds


def _spread(numbers: list[float]) -> list[float]:
    """Mean and standard deviation, to a hundredth of the latter."""
    error = float(f"{statistics.stdev(numbers):.2g}")
    digits = 2 - math.floor(math.log10(error)) if error else 12
    return [round(statistics.fmean(numbers), digits), error]


def frozen(question: Question, tables: Path) -> dict[str, Any]:
    """What is kept of a question."""
    answer = ask(question, tables)
    if answer.get("error") == "traceback":
        print(f"  {question.path}: a traceback")
    kept = {"asked": question.text, "answer": answer}
    seeds = spread_over_seeds(question, tables, answer) if answer["exit"] < 2 else {}
    return {**kept, "seeds": seeds} if seeds else kept


def main(words: list[str]) -> None:
    """Freeze what has no answer yet, or with --again everything, of all commands or some."""
    again = "--again" in words
    commands = [word for word in words if word != "--again"]
    asked: dict[str, list[Question]] = {}
    for question in questions():
        if not commands or question.command in commands:
            asked.setdefault(question.command, []).append(question)
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        tables.mkdir()
        write_tables(tables)
        for of_command in asked.values():
            old = load([each for each in of_command if (HERE / each.path).exists()], HERE)
            save({each: _kept(each, tables, {} if again else old) for each in of_command}, HERE)


def _kept(question: Question, tables: Path, old: Answers) -> dict[str, Any]:
    kept = old.get(question, {})
    return kept if kept.get("asked") == question.text else frozen(question, tables)


if __name__ == "__main__":
    main(sys.argv[1:])
