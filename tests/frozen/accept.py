"""Accept that an answer has changed, for a reason that an issue gives.

`make frozen ACCEPT=COMMAND.KEY [MEASURE=NAME,...] WHY="issue 41: ..."` freezes the new values of
one key of one command and keeps the reason in `accepted.jsonl`. An entry that came or went as a
whole is accepted by the name of its list, as `evaluate.findings`, or by its own.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import asking, comparing, files
from .asking import HERE, Question
from .comparing import Difference
from .freeze import spread_over_seeds
from .tables import write_tables

# What intervals consist of changes measure by measure.
OF_A_MEASURE = frozenset({"low", "high", "method"})
Asked = Callable[[Question, Path], dict[str, Any]]
Spread = Callable[[Question, Path, dict[str, Any]], dict[str, Any]]


def accept(
    questions: list[Question],
    key: str,
    measures: list[str],
    why: str,
    *,
    folder: Path = HERE,
    tables: Path = Path(),
    ask: Asked = asking.ask,
    spread: Spread = spread_over_seeds,
) -> list[str]:
    """Freeze the values of now of one key, and tell what moved."""
    if not re.search(r"issue \d+|#\d+", why):
        raise ValueError(
            f"WHY has to name the issue that allows it, as 'issue 41: ...'; found {why!r}"
        )
    if key in OF_A_MEASURE and not measures:
        raise ValueError(f"{key} is accepted of named measures only: say MEASURE=NAME,...")
    kept = files.load(questions, folder)
    moved: list[Difference] = []
    changed = 0
    for question, entry in kept.items():
        now = ask(question, tables)
        differing = comparing.differences(
            entry["answer"], now, entry["seeds"], weighted=question.weighted
        )
        accepted = [
            each
            for each in differing
            if key in each.keys and (not measures or any(map(each.names, measures)))
        ]
        if not accepted:
            continue
        fresh = spread(question, tables, now)
        for each in accepted:
            _put(entry["answer"], each.path, each.now)
            path = "/".join(each.path)
            entry["seeds"].pop(path, None)
            if path in fresh:
                entry["seeds"][path] = fresh[path]
        moved += accepted
        changed += 1
    if not moved:
        return ["nothing differs by this key"]
    files.save(kept, folder)
    told = [f"{len(moved)} values in {changed} answers", *_told(key, moved)]
    line = {
        "accepted": f"{questions[0].command}.{key}",
        "measures": measures,
        "moved": told,
        "why": why,
    }
    with (folder / "accepted.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(line, sort_keys=True) + "\n")
    return told


def _put(answer: Any, path: comparing.Path, value: Any) -> None:
    """Set a value in an answer, or take it away where there is none."""
    *parents, last = path
    for part in parents:
        answer = answer[int(part)] if isinstance(answer, list) else answer.setdefault(part, {})
    if isinstance(answer, dict):
        answer[last] = value
        if value is None:
            del answer[last]
    elif int(last) < len(answer):
        answer[int(last)] = value
    else:
        answer.append(value)


def _told(key: str, moved: list[Difference]) -> list[str]:
    steps = [
        each.now - each.was
        for each in moved
        if isinstance(each.was, int | float) and isinstance(each.now, int | float)
    ]
    told = []
    if steps:
        sizes = [abs(step) for step in steps]
        told.append(
            f"moved by {statistics.median(sizes):.3g} in the median, {max(sizes):.3g} at most"
        )
    if steps and key in {"low", "high"}:
        wider = sum((step < 0) == (key == "low") for step in steps)
        told.append(f"{wider} became wider, {len(steps) - wider} narrower")
    if len(steps) < len(moved):
        words = sorted({f"{each.was!r} -> {each.now!r}" for each in moved})
        told.append(f"{len(moved) - len(steps)} came, went or are words: {', '.join(words[:5])}")
    return told


def main(words: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="make frozen", description=__doc__)
    parser.add_argument("accept", metavar="COMMAND.KEY")
    parser.add_argument("--measure", default="")
    parser.add_argument("--why", default="")
    given = parser.parse_args(words)
    command, _, key = given.accept.partition(".")
    asked = [question for question in asking.questions() if question.command == command]
    if not asked or not key:
        parser.error(f"{given.accept!r} is no COMMAND.KEY, as evaluate.low")
    measures = [name for name in given.measure.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        tables.mkdir()
        write_tables(tables)
        try:
            told = accept(asked, key, measures, given.why, tables=tables)
        except ValueError as error:
            parser.error(str(error))
    print("\n".join(f"{given.accept}: {line}" for line in told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
