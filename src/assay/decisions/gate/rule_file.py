"""Rules from a file: TOML, or plain text with a rule a line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.decisions.gate.grammar import EXAMPLE, parse_rule
from assay.decisions.gate.rule import Rule
from assay.errors import InputError
from assay.sources.files.inputs import name_of

_KEYS = ("rules", "rule")
_RULE_KEYS = ("rule", "name", "reason")
_FORM = f"rules = ['{EXAMPLE}'], or [[rule]] with rule, name and reason"
# What a line says before its comment; a # inside quotes is no comment.
_SAID = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^#"']|["'])*?(?=\#|$)""")


def read_rules(path: str | Path) -> tuple[Rule, ...]:
    """The rules of a file: TOML where it is called so, else text with a rule a line.

    In TOML, ``rules`` is a list of rules, and each ``[[rule]]`` has a ``rule``, and may have a
    ``name`` and a ``reason`` why it is there. In text, ``#`` begins a comment.
    """
    path = Path(name_of(str(path)))
    try:
        text = path.read_text("utf-8-sig")
    except OSError as odd:
        raise InputError(f"the rules in {path} can't be read: {odd.strerror}") from odd
    except UnicodeDecodeError as odd:
        raise InputError(f"{path}: a file of rules is UTF-8 text; byte {odd.start} is not") from odd
    found = tuple(_of_toml(path, text) if path.suffix.lower() == ".toml" else _of_text(path, text))
    if not found:
        raise InputError(f"{path}: there is no rule in it; write one such as {EXAMPLE}")
    return found


def _of_text(path: Path, text: str) -> Iterator[Rule]:
    for number, line in enumerate(text.splitlines(), start=1):
        said = _SAID.match(line)
        written = (said[0] if said else line).strip()
        if written:
            yield _parsed(f"{path}, line {number}", written)


def _of_toml(path: Path, text: str) -> Iterator[Rule]:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as odd:
        raise InputError(f"{path}: this is no TOML: {odd}") from odd
    _only(str(path), table, _KEYS)
    number = 0
    for written in _list(path, table, "rules"):
        number += 1
        yield _parsed(f"{path}, rule {number}", written)
    for entry in _list(path, table, "rule"):
        number += 1
        where = f"{path}, rule {number}"
        if not isinstance(entry, dict):
            raise InputError(f"{where}: expected a table [[rule]], found {entry!r}")
        _only(where, entry, _RULE_KEYS)
        if "rule" not in entry:
            raise InputError(f"{where}: there is no rule in it; write {_FORM}")
        for key, value in entry.items():
            if not isinstance(value, str):
                raise InputError(f"{where}: {key} is text; found {value!r}")
        yield _parsed(where, entry["rule"], entry.get("name"), entry.get("reason"))


def _list(path: Path, table: dict[str, Any], key: str) -> list[Any]:
    found = table.get(key, [])
    if not isinstance(found, list):
        raise InputError(f"{path}: {key} is a list; write {_FORM}")
    return found


def _only(where: str, table: dict[str, Any], keys: tuple[str, ...]) -> None:
    odd = [key for key in table if key not in keys]
    if odd:
        raise InputError(f"{where}: {odd[0]!r} is not read; there are {', '.join(keys)}")


def _parsed(where: str, text: Any, name: str | None = None, why: str | None = None) -> Rule:
    try:
        return parse_rule(text, name=name, why=why)
    except InputError as odd:
        raise InputError(f"{where}: {odd}") from odd
