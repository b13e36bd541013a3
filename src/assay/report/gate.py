"""The document of a gate: did the new model keep the rules, and which ones not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from assay.decisions.gate import Gate, Judged, Outcome
from assay.evaluation.words import listed
from assay.report.names import name
from assay.report.numbers import count, daily_parts, difference_parts, measured_parts
from assay.report.sections import (
    Cell,
    Column,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)
from assay.report.words import plural, quoted

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
    said = tuple(_headline(gate))
    return Report(
        title=_title(gate),
        headline=said,
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
        f"{count(gate.rows['rows'])} rows: {count(gate.rows['positives'])} "
        f"{quoted(gate.positive)}, {count(gate.rows['negatives'])} {quoted(negatives)}; "
        f"intervals of {100 * gate.rule_level:.6g}%."
    )


def summary(gate: Gate) -> str:
    """How many rules came out how.

    ``2 of 3 rules are broken, 1 is undecided.``
    """
    found = Counter(judged.outcome for judged in gate.rules)
    total = len(gate.rules)
    if len(found) == 1 and total > 1:
        return f"all {total} rules {WORDS[gate.outcome][1]}."
    parts: list[str] = []
    for outcome in _ORDER:
        if number := found[outcome]:
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


def _because(judged: Judged) -> str:
    """Why a rule is not kept; of one that is, the caption says all."""
    return "" if judged.outcome is Outcome.PASS else judged.reason


def shown(judged: Judged) -> str:
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
        "How each rule was judged", (table, *map(Prose, _told(gate))), Tier.APPENDIX, detail=True
    )


def _details(judged: Judged) -> tuple[Cell, ...]:
    found = judged.estimate
    values = (judged.values.get(model) for model in ("new", "old"))
    return (
        judged.rule.text,
        *(None if value is None else value for value in values),
        *(_threshold(judged, model) for model in ("new", "old")),
        found.method,
        found.n or None,
        "" if found.note is None or found.note == judged.reason else found.note,
    )


def _threshold(judged: Judged, model: str) -> str:
    if model not in judged.thresholds:
        return ""
    at = judged.thresholds[model]
    return "none: nothing is flagged" if at is None else f"{at:.6g}"


def _told(gate: Gate) -> Iterator[str]:
    number = len(gate.rules)
    yield f"Intervals are two-sided, of {100 * gate.rule_level:.6g}%."
    if gate.joint:
        yield (
            f"The rules were judged jointly: all {number} intervals hold at once with "
            f"{100 * gate.level:.6g}%, by Bonferroni."
        )
    elif number > 1:
        once = 100 * (1 - gate.level) / 2
        yield (
            f"Each of {number} rules is judged by itself. A model that breaks one passes it by "
            f"chance in {once:.3g}% of cases at most, however many rules there are; one that keeps "
            f"them all fails some by chance in up to {min(100.0, number * once):.3g}%."
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
    said = f"{count(refused)} of {count(gate.source['rows_read'])} rows were left out"
    columns = (Column("file"), Column("line or row"), Column("reason"))
    rows = tuple(
        (
            each["file"],
            f"line {each['line']}" if each.get("line") else f"row {each['row']}",
            each["reason"],
        )
        for each in listed_rows
    )
    yield Section("Refused rows", (Table(said, columns, rows),), detail=True)


def _records(gate: Gate) -> Iterator[Mapping[str, Any]]:
    """One row a rule, for the CSV table."""
    for judged in gate.rules:
        plain = judged.to_dict()
        thresholds = plain["thresholds"]
        yield {
            **{key: plain[key] for key in _RECORD},
            "threshold_new": thresholds.get("new"),
            "threshold_old": thresholds.get("old"),
        }
