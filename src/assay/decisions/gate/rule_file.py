"""Rules as people give them: texts, tables, or a file of TOML or of a rule a line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from assay.decisions.gate.grammar import EXAMPLE, parse_rule
from assay.decisions.gate.rule import Rule
from assay.errors import InputError
from assay.sources.files.inputs import name_of, read_side_file

_KEYS = ("rules", "rule")
_RULE_KEYS = ("rule", "name", "reason")
# So many bytes are thousands of rules.
LARGEST_FILE = 4 << 20
# How a file of rules may end, where only its name as text tells it from a rule.
_SUFFIXES = (".toml", ".txt", ".rules")
_FORM = f"rules = ['{EXAMPLE}'], or [[rule]] with rule, name and reason"
# What a line says before its comment; a # inside quotes is no comment.
_SAID = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^#"']|["'])*?(?=\#|$)""")


# A rule, its text, a file of them, a table as in such a file, or some of these.
Rules: TypeAlias = "str | Path | Rule | Mapping[str, Any] | Iterable[Rules]"


def parsed_rules(rules: Rules) -> tuple[Rule, ...]:
    """All rules that were given; one that was made from parts is written out.

    A mapping is a table as a file of TOML has it, or has rules by their names.

    >>> [rule.name for rule in parsed_rules({"alarms are real": "new(precision) >= 0.5"})]
    ['alarms are real']
    """
    parsed = tuple(_each(rules))
    if not parsed:
        raise InputError(f"a gate needs a rule, such as {EXAMPLE!r}; found none")
    return tuple(rule if rule.text else replace(rule, text=rule.canonical()) for rule in parsed)


def _each(rules: Any) -> Iterator[Rule]:
    match rules:
        case Rule():
            yield rules
        case Path():
            yield from read_rules(rules)
        case str():
            if "(" not in rules and Path(rules).suffix.lower() in _SUFFIXES:
                yield from read_rules(rules)
            else:
                yield parse_rule(rules)
        case Mapping():
            yield from _of_mapping(rules)
        case Iterable():
            for each in rules:
                yield from _each(each)
        case _:
            yield parse_rule(rules)  # says what a rule is


def _of_mapping(table: Mapping[str, Any]) -> Iterator[Rule]:
    if isinstance(table.get("rule"), str) and set(table) <= set(_RULE_KEYS):
        yield from rules_of_table("rules", {"rule": [dict(table)]})
    elif set(table) & set(_KEYS):
        yield from rules_of_table("rules", table)
    else:
        for name, text in table.items():
            yield _parsed(f"rules[{name!r}]", text, str(name))


def read_rules(path: str | Path) -> tuple[Rule, ...]:
    """The rules of a file: TOML where it is called so, else text with a rule a line.

    In TOML, ``rules`` is a list of rules, and each ``[[rule]]`` has a ``rule``, and may have a
    ``name`` and a ``reason`` why it is there. In text, ``#`` begins a comment.
    """
    path = Path(name_of(str(path)))
    try:
        text = read_side_file(path, LARGEST_FILE, "a file of rules").decode("utf-8-sig")
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
    return rules_of_table(str(path), table)


def rules_of_table(source: str, table: Mapping[str, Any]) -> Iterator[Rule]:
    """The rules of a table as a file of TOML has it; ``source`` says in errors where it is from.

    >>> table = {"rules": ["new(f1) >= 0.9"], "rule": [{"rule": "new(mcc) > 0", "name": "better"}]}
    >>> [rule.text for rule in rules_of_table("rules", table)]
    ['new(f1) >= 0.9', 'new(mcc) > 0']
    """
    _only(source, table, _KEYS)
    number = 0
    for written in _list(source, table, "rules"):
        number += 1
        yield _parsed(f"{source}, rule {number}", written)
    for entry in _list(source, table, "rule"):
        number += 1
        where = f"{source}, rule {number}"
        if not isinstance(entry, dict):
            raise InputError(f"{where}: expected a table [[rule]], found {entry!r}")
        _only(where, entry, _RULE_KEYS)
        if "rule" not in entry:
            raise InputError(f"{where}: there is no rule in it; write {_FORM}")
        for key, value in entry.items():
            if not isinstance(value, str):
                raise InputError(f"{where}: {key} is text; found {value!r}")
        yield _parsed(where, entry["rule"], entry.get("name"), entry.get("reason"))


def _list(source: str, table: Mapping[str, Any], key: str) -> list[Any]:
    entries = table.get(key, [])
    if not isinstance(entries, list):
        raise InputError(f"{source}: {key} is a list; write {_FORM}")
    return entries


def _only(where: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    odd = [key for key in table if key not in keys]
    if odd:
        raise InputError(f"{where}: {odd[0]!r} is not read; there are {', '.join(keys)}")


def _parsed(where: str, text: Any, name: str | None = None, why: str | None = None) -> Rule:
    try:
        return parse_rule(text, name=name, why=why)
    except InputError as odd:
        raise InputError(f"{where}: {odd}") from odd
