"""Freeze the answers of the installed assay: `python -m tests.frozen.freeze [COMMAND...]`.

A question whose answer moves with the seed is asked with 20 seeds (5 of a training), and the mean
and the spread of each value that moves are kept beside the answer.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from .asking import HERE, Question, ask, questions
from .comparing import leaves
from .tables import write_tables

FIRST = (1, 2, 3)
WIDTH = 150


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
            spread: Any = [_rounded(statistics.fmean(numbers), 8),
                           _rounded(statistics.stdev(numbers), 3)]
        else:
            spread = {"any of": sorted(set(values), key=str)}
            if question.command != "train":
                print(f"  {question.path}: {'/'.join(path)} flips: {spread['any of']}")
        seeds["/".join(path)] = spread
    return seeds


def _rounded(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")


def frozen(question: Question, tables: Path) -> dict[str, Any]:
    """What is kept of a question."""
    answer = ask(question, tables)
    if answer.get("error") == "traceback":
        print(f"  {question.path}: a traceback")
    kept = {"asked": question.text, "answer": answer}
    seeds = spread_over_seeds(question, tables, answer) if answer["exit"] < 2 else {}
    return {**kept, "seeds": seeds} if seeds else kept


def write(path: Path, kept: dict[str, Any]) -> None:
    """Write a frozen answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(laid_out(kept) + "\n", "utf-8")


def laid_out(value: Any, indent: str = "") -> str:
    """JSON with sorted keys, what is short on one line."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(line) + len(indent) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + " "
    if isinstance(value, list):
        parts = [laid_out(part, inner) for part in value]
        return "[\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}]"
    parts = [
        f"{inner}{json.dumps(key, ensure_ascii=False)}: {laid_out(value[key], inner)}"
        for key in sorted(value)
    ]
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


def main(commands: list[str]) -> None:
    """Freeze all questions, or those of some commands."""
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        tables.mkdir()
        write_tables(tables)
        for question in questions():
            if not commands or question.command in commands:
                write(HERE / question.path, frozen(question, tables))


if __name__ == "__main__":
    main(sys.argv[1:])
