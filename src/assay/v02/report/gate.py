"""The document of a gate: did the new model keep the rules, and which not; also as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from assay.v02.decisions.gate_rules import Gate, JudgedRule
from assay.v02.decisions.rule import Outcome
from assay.v02.escaping import name, plural, short, visible
from assay.v02.evaluation.wording import listed
from assay.v02.number_text import (
    below,
    count,
    daily_parts,
    difference_parts,
    exact_percent,
    fixed,
    measured_parts,
    significant,
    threshold_text,
)
from assay.v02.report.sections import (
    Cell,
    Column,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    quoted,
)

WORDS = {
    Outcome.PASS: ("is kept", "are kept"),
    Outcome.FAIL: ("is broken", "are broken"),
    Outcome.UNDECIDED: ("is undecided", "are undecided"),
}
CALLED = {Outcome.PASS: "pass", Outcome.FAIL: "FAIL", Outcome.UNDECIDED: "undecided"}
_RECORD = (
    *("rule", "outcome", "value", "low", "high", "reason", "name", "why", "subject", "measure"),
    *("label", "average", "family", "base_rate", "volume", "at", "operator", "bound", "new", "old"),
    *("level", "method", "n", "note"),
)
# What a reader wants to see first.
_ORDER = (Outcome.FAIL, Outcome.UNDECIDED, Outcome.PASS)


def report_of(gate: Gate) -> Report:
    """What a report says of a gate."""
    headline = tuple(_headline(gate))
    return Report(
        title=_title(gate),
        headline=headline,
        sections=(_rules(gate), *_reasons(gate), _detail(gate), *_refused(gate)),
        findings=gate.findings,
        notes=gate.notes,
        records=tuple(_records(gate)),
    )


def _title(gate: Gate) -> str:
    source = gate.source
    if "name" not in source:
        return "Gate"
    old = source.get("baseline")
    against = f" against {name(old)}" if old else ""
    return f"Gate of {name(source['name'])}{against}"


def _headline(gate: Gate) -> Iterator[str]:
    yield f"{gate.outcome.value.upper()}: {summary(gate)}"
    negatives = next(label for label in gate.labels if label != gate.positive)
    yield (
        f"{count(gate.rows['rows'])} {plural(gate.rows['rows'], 'row', 'rows')}: "
        f"{count(gate.rows['positives'])} "
        f"{quoted(gate.positive)}, {count(gate.rows['negatives'])} {quoted(negatives)}; "
        f"intervals of {below(100 * gate.rule_level, 100, 6)}%; mode {gate.mode}."
    )


def summary(gate: Gate) -> str:
    """How many rules came out how.

    ``2 of 3 rules are broken, 1 is undecided.``
    """
    outcomes = Counter(judged.outcome for judged in gate.rules)
    total = len(gate.rules)
    if len(outcomes) == 1 and total > 1:
        return f"all {total} rules {WORDS[gate.outcome][1]}."
    parts: list[str] = []
    for outcome in _ORDER:
        if number := outcomes[outcome]:
            of = (
                f"{number} of {total} {plural(total, 'rule', 'rules')}"
                if not parts
                else f"{number}"
            )
            parts.append(f"{of} {plural(number, *WORDS[outcome])}")
    return f"{listed(parts)}."


def _rules(gate: Gate) -> Section:
    columns = (
        Column("outcome"),
        Column("rule"),
        Column("value", Kind.SHARE),
        Column("because"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (CALLED[judged.outcome], judged.rule.text, shown(judged), _because(judged))
        for judged in sorted(gate.rules, key=lambda judged: _ORDER.index(judged.outcome))
    )
    caption = "A rule is kept where its whole interval keeps it, broken where none of it does"
    return Section("Rules", (Table(caption, columns, rows),), Tier.MAIN)


def _because(judged: JudgedRule) -> str:
    """Why a rule is not kept; of one that is, the caption says all."""
    return "" if judged.outcome is Outcome.PASS else judged.reason


def shown(judged: JudgedRule) -> str:
    """The value of a rule with its interval, on the scale of its measure."""
    if judged.rule.per_day:
        parts = daily_parts(judged.estimate)
    elif judged.rule.compares:
        parts = difference_parts(judged.estimate)
    else:
        parts = measured_parts(judged.estimate)
    return " ".join(part for part in parts if part)


def _reasons(gate: Gate) -> Iterator[Section]:
    """What the rules are for, where their file tells it."""
    rows = tuple(
        (judged.rule.name or judged.rule.text, judged.rule.text, judged.rule.why or "")
        for judged in gate.rules
        if judged.rule.name or judged.rule.why
    )
    if rows:
        columns = (Column("name"), Column("rule"), Column("why"))
        table = Table("As the file of rules has it", columns, rows)
        yield Section("What the rules are for", (table,), Tier.APPENDIX, detail=True)


def _detail(gate: Gate) -> Section:
    columns = (
        Column("rule"),
        Column("new", Kind.SHARE),
        Column("old", Kind.SHARE),
        Column("threshold of new"),
        Column("threshold of old"),
        Column("method"),
        Column("rows", Kind.COUNT),
        Column("note"),
    )
    rows = tuple(_details(judged) for judged in gate.rules)
    table = Table("Each model by itself, and how the interval came about", columns, rows)
    return Section(
        "How each rule was judged",
        (table, *map(Prose, _method_notes(gate))),
        Tier.APPENDIX,
        detail=True,
    )


def _details(judged: JudgedRule) -> tuple[Cell, ...]:
    estimate = judged.estimate
    values = (judged.values.get(model) for model in ("new", "old"))
    return (
        judged.rule.text,
        *(None if value is None else value for value in values),
        *(_threshold(judged, model) for model in ("new", "old")),
        estimate.method,
        estimate.n or None,
        "" if estimate.note is None or estimate.note == judged.reason else estimate.note,
    )


def _threshold(judged: JudgedRule, model: str) -> str:
    if model not in judged.thresholds:
        return ""
    at = judged.thresholds[model]
    return "none: nothing is flagged" if at is None else threshold_text(at)


def _method_notes(gate: Gate) -> Iterator[str]:
    number = len(gate.rules)
    yield f"Intervals are two-sided, of {below(100 * gate.rule_level, 100, 6)}%."
    if gate.joint and number > 1:
        yield (
            f"The rules were judged jointly: all {number} intervals hold at once with "
            f"{exact_percent(gate.level)}, by Bonferroni."
        )
    elif number > 1:
        once = 100 * (1 - gate.level) / 2
        yield (
            f"Each of {number} rules is judged by itself. A model that breaks one passes it by "
            f"chance in {significant(once)}% of cases at most, however many rules there are; one "
            f"that keeps them all fails some by chance in up to "
            f"{significant(min(100.0, number * once))}%."
        )
    if any(judged.estimate.method.endswith("bootstrap") for judged in gate.rules):
        yield (
            f"Bootstrap intervals draw {count(gate.resamples)} resamples of the same rows for both "
            f"models, with seed {gate.seed}; where a condition chooses the threshold, each "
            f"resample chooses it anew."
        )


def _refused(gate: Gate) -> Iterator[Section]:
    refused = gate.source.get("rows_refused", 0)
    if not refused:
        return
    listed_rows = gate.source["refused"]
    caption = (
        f"{count(refused)} of {count(gate.source['rows_read'])} rows "
        f"{plural(refused, 'was', 'were')} left out"
    )
    columns = (Column("file"), Column("line or row"), Column("reason"))
    rows = tuple(
        (
            each["file"],
            f"line {each['line']}" if each.get("line") else f"row {each['row']}",
            each["reason"],
        )
        for each in listed_rows
    )
    yield Section("Refused rows", (Table(caption, columns, rows),), detail=True)


def _records(gate: Gate) -> Iterator[Mapping[str, Any]]:
    """One row a rule, for the CSV table."""
    for judged in gate.rules:
        plain = judged.to_dict()
        thresholds = plain["thresholds"]
        yield {
            **{key: plain[key] for key in _RECORD},
            "threshold_new": thresholds.get("new"),
            "threshold_old": thresholds.get("old"),
            "mode": gate.mode,
        }


# -- JUnit XML, which build servers show: one test case a rule -------------------------------------


SUITE = "assay gate"
BROKEN_OFF = "the run broke off before it came to a verdict: see what it printed"
_LONGEST = 500


def junit(gate: Gate, *, seconds: float = 0.0) -> str:
    """The rules as test cases: a broken one failed, and an undecided one too unless allowed.

    What can't stand in XML, such as a control character in the name of a family, is shown as an
    escape.
    """
    outcomes = Counter(judged.outcome for judged in gate.rules)
    undecided = outcomes[Outcome.UNDECIDED]
    failures = outcomes[Outcome.FAIL] + (0 if gate.allow_undecided else undecided)
    skipped = undecided if gate.allow_undecided else 0
    root, suite = _suites(len(gate.rules), failures, 0, skipped, seconds)
    names: Counter[str] = Counter()
    for judged in gate.rules:
        case = _case(suite, _name(judged, names))
        message = f"{shown(judged)}: {judged.reason}"
        if judged.outcome is Outcome.FAIL:
            _add_message(case, "failure", message, "fail")
        elif judged.outcome is Outcome.UNDECIDED:
            tag = "skipped" if gate.allow_undecided else "failure"
            _add_message(case, tag, f"undecided: {message}", "undecided")
        SubElement(case, "system-out").text = visible(f"{judged.rule.text}: {message}")
    return _xml_text(root)


def broken_off() -> str:
    """What stands there until there is a verdict: one test case with an error."""
    root, suite = _suites(1, 0, 1, 0, 0.0)
    _add_message(_case(suite, "the gate comes to a verdict"), "error", BROKEN_OFF, "error")
    return _xml_text(root)


def _suites(
    tests: int, failures: int, errors: int, skipped: int, seconds: float
) -> tuple[Element, Element]:
    numbers = {
        "tests": str(tests),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(skipped),
        "time": fixed(seconds, 3),
    }
    root = Element("testsuites", {"name": SUITE, **numbers})
    return root, SubElement(root, "testsuite", {"name": SUITE, **numbers})


def _case(suite: Element, name: str) -> Element:
    attributes = {"classname": "assay.gate", "name": name, "time": "0.000"}
    return SubElement(suite, "testcase", attributes)


def _name(judged: JudgedRule, names: Counter[str]) -> str:
    """A name that no other case has, since viewers fold equal ones."""
    text = short(visible(judged.rule.name or judged.rule.text), _LONGEST)
    names[text] += 1
    return text if names[text] == 1 else f"{text} ({names[text]})"


def _add_message(case: Element, tag: str, message: str, kind: str) -> None:
    text = visible(message)
    attributes = {"message": short(text, _LONGEST)}
    if tag != "skipped":
        attributes["type"] = kind
    SubElement(case, tag, attributes).text = text


def _xml_text(root: Element) -> str:
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'
