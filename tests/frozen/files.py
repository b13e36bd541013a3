"""The files of frozen answers: JSON with sorted keys, an estimate on one line.

An estimate is written `[value, low, high, n, method]`, a difference likewise (see `PACKED`), and an
answer that is the same as another's names that question.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .asking import Question

WIDTH = 150
PACKED = (
    ("value", "low", "high", "n", "method"),
    ("value_a", "value_b", "difference", "low", "high", "p", "p_adjusted", "n", "method"),
)
Answers = dict[Question, dict[str, Any]]


def load(questions: list[Question], folder: Path) -> Answers:
    """What was kept of questions: `asked`, `answer` and, where any value moves, `seeds`."""
    files = {question: _read(folder / question.path) for question in questions}
    for question, kept in files.items():
        if "same as" in kept:
            other = _read(folder / question.command / kept["same as"])
            files[question] = {**other, "asked": kept["asked"]}
    return {
        question: {
            **kept,
            "answer": _unpacked(kept["answer"]),
            "seeds": flat(kept.get("seeds", {})),
        }
        for question, kept in files.items()
    }


def _read(path: Path) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return kept


def save(answers: Answers, folder: Path) -> None:
    """Write what is kept of all questions of one command."""
    first: dict[str, str] = {}
    for question, kept in answers.items():
        path = folder / question.path
        path.parent.mkdir(parents=True, exist_ok=True)
        told = {"answer": packed(kept["answer"])}
        if kept.get("seeds"):
            told["seeds"] = nested(kept["seeds"])
        text = json.dumps(told, sort_keys=True)
        if text not in first:
            first[text] = path.name
        elif len(text) > 1000:
            told = {"same as": first[text]}
        path.write_text(laid_out({"asked": kept["asked"], **told}) + "\n", "utf-8")


def packed(value: Any) -> Any:
    """Estimates and differences as lists."""
    if not isinstance(value, dict):
        return [packed(part) for part in value] if isinstance(value, list) else value
    for names in PACKED:
        if value.keys() == set(names):
            return ["=", *(value[name] for name in names)]
    return {name: packed(part) for name, part in value.items()}


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unpacked(part) for name, part in value.items()}
    if isinstance(value, list) and value[:1] == ["="]:
        names = next(names for names in PACKED if len(names) == len(value) - 1)
        return dict(zip(names, value[1:], strict=True))
    return [_unpacked(part) for part in value] if isinstance(value, list) else value


def nested(seeds: dict[str, Any]) -> dict[str, Any]:
    """Spreads by their paths up to the last name, and the last name."""
    tree: dict[str, Any] = {}
    for path, spread in seeds.items():
        parent, _, key = path.rpartition("/")
        tree.setdefault(parent, {})[key] = spread
    return tree


def flat(tree: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `nested`."""
    return {
        f"{parent}/{key}": spread for parent, inner in tree.items() for key, spread in inner.items()
    }


def laid_out(value: Any, indent: str = "") -> str:
    """JSON with sorted keys, what is short on one line."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    if len(line) + len(indent) <= WIDTH or not isinstance(value, dict | list):
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
