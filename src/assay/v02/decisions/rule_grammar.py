r"""Rules from text, by a small parser that says where it stopped understanding; and from files.

::

    RULE      = SUBJECT "(" MEASURE [ "." SUFFIX ] [ "@" CONDITION { "," CONDITION } ] ")" OP NUMBER
    SUBJECT   = "new" | "old" | "new" "-" "old"
    SUFFIX    = "macro" | "micro" | "weighted" | NAME
    CONDITION = "threshold" "=" NUMBER | "max-far" "=" NUMBER | "max-fpr" "=" NUMBER
              | "base-rate" "=" NUMBER | "volume" "=" NUMBER | "family" "=" ( NAME | "*" )
    OP        = ">=" | ">" | "<=" | "<"
    NUMBER    = 0.5 | 50% | -0.01 | 1/100 | 1e-3
    NAME      = letters, digits and the like; anything else in quotes, \ before a quote
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

from assay.v02.decisions.rule import (
    DIFFERENCE,
    EVERY,
    NEW,
    OLD,
    Operating,
    Rule,
    held_by,
    of_families,
)
from assay.errors import InputError, MethodError, UnknownMeasure
from assay.v02.evaluation.deployment import PER_DAY
from assay.v02.inference.significance import check_amount, check_share
from assay.v02.inference.threshold_rules import AtThreshold, MaxFar, MaxFpr
from assay.v02.measures import AVERAGES, Measure, names, parse
from assay.v02.sources.files.inputs import name_of, read_side_file

Rules: TypeAlias = "str | Path | Rule | Mapping[str, Any] | Iterable[Rules]"

EXAMPLE = "new(precision@base-rate=0.001) >= 0.5"
LONGEST = 2000

_OPERATORS = {">=": ">=", ">": ">", "<=": "<=", "<": "<", "≥": ">=", "≤": "<="}
_OPERATING = ("threshold", "max-far", "max-fpr")
CONDITIONS = (*_OPERATING, "base-rate", "family", "volume")
_TOKEN = re.compile(
    r"""\s*(?:(?P<operator>>=|<=|==?|!=|>|<|≥|≤)
    |(?P<sign>[()@,*])
    |(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<word>[^\s()@,=<>≤≥"'*]+)
    |(?P<odd>.))""",
    re.VERBOSE | re.DOTALL,
)
_DIGITS = r"(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?"
_NUMBER = re.compile(rf"([+-]?{_DIGITS})(?:(%)|/({_DIGITS}))?", re.ASCII)
_END = "the end"


class _RuleToken(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def parse_rule(
    text: str, *, name: str | None = None, why: str | None = None, watched: bool = False
) -> Rule:
    """A rule from its text.

    ``watched`` rules are judged day by day: ``precision >= 0.5`` is of the new model, and figures
    of a day need no volume.

    >>> rule = parse_rule("new-old(detection_rate@max-far=0.1) >= -0.01")
    >>> rule.subject, rule.measure.name, str(rule.at), rule.operator, rule.bound
    ('new-old', 'recall', 'max-far=0.1', '>=', -0.01)
    """
    if not isinstance(text, str):
        raise InputError(f"a rule is text such as {EXAMPLE!r}; found {type(text).__name__}")
    if len(text) > LONGEST:
        raise InputError(f"a rule is at most {LONGEST} characters long; found {len(text)}")
    rule = _RuleParser(text, watched=watched).rule()
    return replace(rule, name=name, why=why)


class _RuleParser:
    """Reads one rule from left to right."""

    def __init__(self, text: str, *, watched: bool = False) -> None:
        self._text = text
        self._watched = watched
        self._tokens = []
        for match in _TOKEN.finditer(text.rstrip()):
            kind = match.lastgroup or ""
            self._tokens.append(_RuleToken(kind, match[kind], *match.span(kind)))
        self._at = 0

    # -- tokens ------------------------------------------------------------------------------------

    @property
    def _next(self) -> _RuleToken:
        if self._at < len(self._tokens):
            return self._tokens[self._at]
        end = len(self._text.rstrip())
        return _RuleToken("end", _END, end, end)

    def _take(self) -> _RuleToken:
        token = self._next
        self._at += 1
        return token

    def _fail(self, token: _RuleToken, why: str) -> NoReturn:
        start = token.start
        here = self._text[start : start + 20]
        position = f" (at {here!r})" if here else " (at the end)"
        shown = self._text if len(self._text) <= 200 else f"{self._text[:200]}..."
        raise InputError(f"the rule {shown!r} is wrong at character {start + 1}{position}: {why}")

    def _expected(self, token: _RuleToken, wanted: str, choices: Iterable[str] = ()) -> NoReturn:
        shown = token.text if token.kind == "end" else repr(token.text)
        hint = _similar_words(token.text.replace("_", "-"), choices) or "."
        self._fail(token, f"expected {wanted}, found {shown}{hint} A rule is such as {EXAMPLE}")

    def _sign(self, sign: str) -> None:
        token = self._take()
        if token.text != sign or token.kind == "quoted":
            self._expected(token, repr(sign))

    def _is_next(self, sign: str) -> bool:
        return self._next.kind == "sign" and self._next.text == sign

    # -- the parts of a rule -----------------------------------------------------------------------

    def rule(self) -> Rule:
        """The whole rule."""
        bare = self._watched and not any(token.text == "(" for token in self._tokens)
        subject = NEW if bare else self._subject()
        if not bare:
            self._sign("(")
        start = self._next
        rule = self._measure(subject)
        if self._is_next("@"):
            self._take()
            rule = self._conditions(rule)
        if rule.per_day and rule.volume is None and not self._watched:
            self._fail(start, f"{rule.written} needs the rows a day: write @volume=1000000")
        if not bare:
            self._sign(")")
        operator = self._take()
        if operator.text not in _OPERATORS or operator.kind != "operator":
            self._expected(operator, "one of >=, >, <= and <")
        number = self._next
        bound = self._number("a number such as 0.5, 50%, -0.01 or 1/100")
        if self._next.kind != "end":
            self._expected(self._next, "nothing after the number")
        rule = replace(
            rule, operator=_OPERATORS[operator.text], bound=bound, text=self._text.strip()
        )
        self._must_be_open(rule, number)
        return rule

    def _subject(self) -> str:
        token = self._take()
        written = token.text if token.kind == "word" else ""
        if written in (NEW, f"{NEW}-") and self._next.kind == "word":
            # "new - old", "new- old" and "new -old" are the same as "new-old".
            joined = written
            while self._next.kind == "word" and len(joined) < len(DIFFERENCE):
                joined += self._take().text
            written = joined
        if written in (NEW, OLD, DIFFERENCE):
            return written
        if written == f"{OLD}-{NEW}":
            self._fail(token, "the difference is new-old: turn the rule around")
        return self._expected(token, "new(...), old(...) or new-old(...)", (NEW, OLD, DIFFERENCE))

    def _measure(self, subject: str) -> Rule:
        token = self._take()
        if token.kind != "word":
            self._expected(token, "a measure such as precision or detection_rate")
        written, label, average = token.text, None, None
        if written.endswith(".") and self._next.kind == "quoted":
            if self._next.start != token.end:
                self._expected(self._next, f"the name of a class right after {written!r}")
            label = _unquoted(self._take().text)
            written = written[:-1]
        if written in PER_DAY and label is None:
            return Rule(subject, written, None, "", 0.0)
        measure, suffix = self._measure_named(token, written)
        if suffix is not None and label is not None:
            self._fail(token, f"{written!r} is no measure")
        if measure.of_costs is not None:
            self._fail(token, f"{measure.name} needs costs, which a rule does not have")
        if suffix in AVERAGES:
            average = suffix
        elif suffix is not None:
            label = suffix
        if average is not None and (measure.formula is None or not measure.averages):
            self._fail(token, f"{measure.name} has no average over classes")
        name = written if suffix is None else written[: -len(suffix) - 1]
        return Rule(subject, name, measure, "", 0.0, label=label, average=average)

    def _measure_named(self, token: _RuleToken, written: str) -> tuple[Measure, str | None]:
        try:
            return parse(written)
        except UnknownMeasure:
            head = written.partition(".")[0]
            hint = _similar_words(head.replace("-", "_"), [*names(), *PER_DAY])
            self._fail(token, f"there is no measure {head!r}{hint or '.'} See `assay measures`")

    def _conditions(self, rule: Rule) -> Rule:
        seen: dict[str, _RuleToken] = {}
        limits: dict[str, float] = {}
        while True:
            token = self._take()
            key = token.text.replace("_", "-")
            if token.kind != "word" or key not in CONDITIONS:
                self._expected(token, f"one of {', '.join(CONDITIONS)}", CONDITIONS)
            if key in seen:
                self._fail(token, f"{key} is given twice")
            equals = self._take()
            if equals.text != "=":
                self._expected(equals, f"'=' after {key}")
            seen[key] = token
            self._may_stand(rule, token, key, seen)
            if key == "family":
                rule = self._family(rule)
            elif key == "volume":
                rule = replace(rule, volume=self._volume())
            else:
                limits[key] = self._limit(key)
            if not self._is_next(","):
                break
            self._take()
        rule = replace(rule, base_rate=limits.get("base-rate"))
        for key in _OPERATING:
            if key in limits:
                rule = replace(rule, at=_operating(key, limits[key], rule.base_rate))
                self._must_tell(rule, seen[key])
        return rule

    def _may_stand(self, rule: Rule, token: _RuleToken, key: str, seen: Iterable[str]) -> None:
        """Refuse a condition that says nothing about the measure."""
        if rule.of_scores:
            self._fail(token, f"{rule.written} is of scores at all thresholds: it takes no {key}")
        others = [other for other in _OPERATING if other in seen]
        if len(others) > 1:
            self._fail(token, f"{' and '.join(others)} are two ways to set one threshold; keep one")
        if key == "volume" and not rule.per_day:
            self._fail(token, f"volume is for {', '.join(PER_DAY)}, not for {rule.written}")
        if key == "base-rate" and rule.average is not None:
            self._fail(token, "a base rate is the share of the positive label, not of an average")
        of_all_rows = rule.label is None and rule.average is None
        if key == "family" and not (of_all_rows and of_families(rule.measure)):
            self._fail(token, "of a family there are detection_rate and miss_rate, no others")

    def _must_tell(self, rule: Rule, token: _RuleToken) -> None:
        fixed = held_by(rule.at)
        if rule.measure is not None and rule.label is None and rule.measure.name in fixed:
            self._fail(
                token,
                f"{token.text} keeps {rule.written} where it is, so the rule could not fail; "
                f"`assay threshold` tells how sure that is on new data",
            )

    def _must_be_open(self, rule: Rule, number: _RuleToken) -> None:
        """Refuse a bound that every model keeps, or none, and say what was meant."""
        if rule.decided is None:
            return
        low, high = rule.range
        quantity = f"the difference of {rule.written}" if rule.compares else rule.written
        so = "could not fail" if rule.decided else "could not hold"
        suggestion = ""
        share = replace(rule, bound=rule.bound / 100)
        if abs(rule.bound) > 1 and high == 1 and share.decided is None:
            suggestion = f"; did you mean {share.bound:g}, which is {rule.bound:g}%?"
        elif not rule.compares and replace(rule, subject=DIFFERENCE).decided is None:
            suggestion = f"; did you mean the difference, {DIFFERENCE}({rule.written})?"
        why = f"{quantity} lies between {low:g} and {high:g}, so the rule {so}, whatever the model"
        self._fail(number, f"{why}{suggestion}")

    def _family(self, rule: Rule) -> Rule:
        if self._is_next(EVERY):
            self._take()
            return replace(rule, every_family=True)
        return replace(rule, family=self._name("a family, or * for each of them"))

    def _name(self, wanted: str) -> str:
        token = self._take()
        if token.kind == "quoted":
            return _unquoted(token.text)
        if token.kind != "word":
            self._expected(token, wanted)
        return token.text

    def _limit(self, key: str) -> float:
        token = self._next
        if key == "threshold":
            return self._number("a score")
        share = self._number("a share such as 0.001, 0.1% or 1/1000")
        if not 0 < share < 1:
            self._fail(token, f"{key} is a share between 0 and 1; found {token.text}")
        try:
            if key == "base-rate":
                check_share(key, share)
        except MethodError as error:
            self._fail(token, str(error))
        return share

    def _volume(self) -> float:
        token = self._next
        volume = self._number("the rows a day")
        try:
            check_amount("volume", volume)
        except MethodError as error:
            self._fail(token, str(error))
        return volume

    def _number(self, wanted: str) -> float:
        token = self._take()
        written = token.text.replace("\N{MINUS SIGN}", "-")
        if written in ("-", "+") and self._next.kind == "word":
            written += self._take().text
        match = _NUMBER.fullmatch(written) if token.kind == "word" else None
        if match is None:
            self._expected(token, wanted)
        below = Fraction(100) if match[2] else Fraction(match[3] or 1)
        try:
            return float(Fraction(match[1]) / below)
        except (ZeroDivisionError, OverflowError):
            self._fail(token, f"{written} is no finite number")


def _operating(key: str, limit: float, base_rate: float | None) -> Operating:
    if key == "threshold":
        return AtThreshold(limit)
    return MaxFpr(limit) if key == "max-fpr" else MaxFar(limit, base_rate)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def _similar_words(word: str, choices: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.lower(), list(choices), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


# -- rules as people give them: texts, tables, or a file of TOML or of a rule a line ---------------


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


def parsed_rules(rules: Rules) -> tuple[Rule, ...]:
    """All rules that were given; one that was made from parts is written out.

    A mapping is a table as a file of TOML has it, or has rules by their names.

    >>> [rule.name for rule in parsed_rules({"alarms are real": "new(precision) >= 0.5"})]
    ['alarms are real']
    """
    parsed = tuple(_each_rule(rules))
    if not parsed:
        raise InputError(f"a gate needs a rule, such as {EXAMPLE!r}; found none")
    return tuple(rule if rule.text else replace(rule, text=rule.canonical()) for rule in parsed)


def _each_rule(rules: Any) -> Iterator[Rule]:
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
                yield from _each_rule(each)
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
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: a file of rules is UTF-8 text; byte {error.start} is not"
        ) from error
    rules = tuple(_of_toml(path, text) if path.suffix.lower() == ".toml" else _of_text(path, text))
    if not rules:
        raise InputError(f"{path}: there is no rule in it; write one such as {EXAMPLE}")
    return rules


def _of_text(path: Path, text: str) -> Iterator[Rule]:
    for number, line in enumerate(text.splitlines(), start=1):
        prefixed = _SAID.match(line)
        written = (prefixed[0] if prefixed else line).strip()
        if written:
            yield _parsed(f"{path}, line {number}", written)


def _of_toml(path: Path, text: str) -> Iterator[Rule]:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: this is no TOML: {error}") from error
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
    unknown = [key for key in table if key not in keys]
    if unknown:
        raise InputError(f"{where}: {unknown[0]!r} is not read; there are {', '.join(keys)}")


def _parsed(where: str, text: Any, name: str | None = None, why: str | None = None) -> Rule:
    try:
        return parse_rule(text, name=name, why=why)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
