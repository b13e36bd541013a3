"""The document of an audit: what can't be right, what it should be, and the likely mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assay.v02.decisions.audit.verdicts import Audit, AuditedClaim, JudgedNumber, NumberVerdict, printed
from assay.v02.escaping import name, plural
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.wording import listed
from assay.v02.number_text import fixed, scientific
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    quoted,
)

NO_MISTAKE = "no single mistake found"


def report_of(audit: Audit) -> Report:
    """What a report says of an audit."""
    headline = tuple(_headline(audit))
    return Report(
        title=_title(audit),
        headline=headline,
        sections=(*map(_section, audit.claims), *_every_number(audit)),
        findings=tuple(_findings(audit)),
        notes=tuple(_notes(audit)),
        records=tuple(_records(audit)),
    )


def _title(audit: Audit) -> str:
    if len(audit.claims) == 1:
        return f"Audit of {name(audit.claims[0].name)}"
    return f"Audit of {len(audit.claims)} claims"


def _headline(audit: Audit) -> Iterator[str]:
    numbers = [number for claim in audit.claims for number in claim.numbers]
    verdicts = Counter(number.verdict for number in numbers)
    wrong = verdicts[NumberVerdict.INCONSISTENT]
    of = f"{len(numbers)} {plural(len(numbers), 'number', 'numbers')}"
    if wrong:
        yield f"{wrong} of {of} can't be right."
    disputed = verdicts[NumberVerdict.CONFLICT]
    if disputed:
        among = "" if wrong else f" of {of}"
        yield f"{disputed}{among} can't all be right, and it can't be told which is wrong."
    judged = verdicts[NumberVerdict.CONSISTENT] + verdicts[NumberVerdict.ROUNDING]
    if not wrong and not disputed:
        if not numbers:
            yield (
                "Nothing could be judged, which says neither yes nor no: there is no reported "
                'number. Add those to judge, such as reported = { accuracy = "96.7%" }.'
            )
        elif judged:
            yield f"Nothing contradicts these {of}."
        else:
            many = len(numbers)
            could = plural(many, "The one number could not", f"None of {of} could")
            yield (
                f"{could} be judged, which says neither yes nor no: nothing that is given decides "
                f"{plural(many, 'it', 'them')}."
            )
    parts = [
        f"{verdicts[verdict]} {words}"
        for verdict, words in (
            (NumberVerdict.CONSISTENT, "consistent"),
            (NumberVerdict.ROUNDING, "off by rounding alone"),
            (NumberVerdict.UNDETERMINED, "can't be told from what is given"),
        )
        if verdicts[verdict]
    ]
    if parts and (judged or wrong or disputed):
        yield f"{'The others' if wrong or disputed else 'They are'}: {listed(parts)}."


def _section(claim: AuditedClaim) -> Section:
    wrong = [number for number in claim.numbers if number.verdict is NumberVerdict.INCONSISTENT]
    blocks: list[Block] = []
    if wrong:
        blocks = [_table(f"What can't be right{_of(claim)}", wrong)]
        blocks += [Prose(text) for text in _further(wrong)]
    blocks += [Prose(_sentence(conflict.text)) for conflict in claim.conflicts]
    if not blocks:
        blocks = [Prose(_nothing_wrong(claim))]
    return Section(name(claim.name), tuple(blocks), Tier.MAIN)


def _every_number(audit: Audit) -> Iterator[Section]:
    """All numbers of all claims; in a short report only where there is one claim."""
    tables = tuple(
        _full_table(f"{name(claim.name)}{_of(claim)}", claim.numbers)
        for claim in audit.claims
        if claim.numbers
    )
    if tables:
        yield Section("Every number", tables, Tier.APPENDIX, detail=len(audit.claims) > 1)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _of(claim: AuditedClaim) -> str:
    return f" ({name(claim.source)})" if claim.source else ""


def _nothing_wrong(claim: AuditedClaim) -> str:
    verdicts = Counter(number.verdict for number in claim.numbers)
    if not claim.numbers:
        return "It reports no number, so nothing of it could be judged."
    unknown = verdicts[NumberVerdict.UNDETERMINED]
    judged = len(claim.numbers) - unknown
    undetermined = f"; {unknown} can't be told from what is given" if unknown else ""
    if not judged:
        return f"Nothing could be judged{undetermined}."
    rounded = verdicts[NumberVerdict.ROUNDING]
    note = f", {rounded} of them off by rounding alone" if rounded else ""
    return f"{judged} {plural(judged, 'number agrees', 'numbers agree')}{note}{undetermined}."


def _table(caption: str, numbers: list[JudgedNumber]) -> Table:
    columns = (
        Column("number"),
        Column("reported"),
        Column("should be"),
        Column("likely mistake"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_number_name(number), _reported(number), _should_be(number), _mistake(number))
        for number in numbers
    )
    return Table(caption, columns, rows)


def _full_table(caption: str, numbers: tuple[JudgedNumber, ...]) -> Table:
    columns = (
        Column("number"),
        Column("reported"),
        Column("recomputed"),
        Column("verdict"),
        Column("because", optional=True),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            _number_name(number),
            _reported(number),
            _should_be(number),
            str(number.verdict),
            number.said,
        )
        for number in numbers
    )
    return Table(caption, columns, rows)


def _number_name(number: JudgedNumber) -> str:
    return name(number.key)


def _reported(number: JudgedNumber) -> str:
    if isinstance(number.reported, tuple):
        return f"[{', '.join(number.reported)}]"
    return number.reported


def _should_be(number: JudgedNumber) -> str:
    """The recomputed value, written as the reported one is."""
    value = number.recomputed
    if value is None:
        return ""
    if isinstance(value, tuple):
        reported = number.reported
        texts = reported if isinstance(reported, tuple) else (reported, reported)
        return f"[{', '.join(map(written_like, texts, value))}]"
    text = number.reported if isinstance(number.reported, str) else number.reported[0]
    return written_like(text, value)


def written_like(reported: str, value: float) -> str:
    """A value with the digits, the percent sign and the separators of a reported one.

    >>> written_like("93.33%", 0.93380575), written_like("51,324,897", 51320697.0)
    ('93.38%', '51,320,697')
    """
    number = printed(reported)
    percent = reported.rstrip().endswith("%")
    if "e" in reported.lower():
        return scientific(value * 100 if percent else value, max(number.digits - 1, 0))
    digits = reported.rstrip("% ").partition(".")[2]
    # A percentage without its sign stands among shares as 96.7.
    scale = 100 if percent or (abs(value) <= 1 < abs(number.value)) else 1
    text = fixed(value * scale, len(digits), grouped="," in reported)
    return f"{text}%" if percent else text


def _mistake(number: JudgedNumber) -> str:
    """The likeliest mistake, or why it is wrong."""
    if not number.explanations:
        return f"{number.said.rstrip('.')}; {NO_MISTAKE}" if number.said else NO_MISTAKE
    return number.explanations[0].text


def _further(wrong: list[JudgedNumber]) -> Iterator[str]:
    """Other mistakes that give the same digits."""
    for number in wrong:
        others = [explanation.text.rstrip(".") for explanation in number.explanations[1:3]]
        if others:
            yield f"{quoted(number.key)} may also be: {'; or '.join(others)}."


def _findings(audit: Audit) -> Iterator[Finding]:
    yield from audit.findings
    many = len(audit.claims) > 1
    for claim in audit.claims:
        for finding in claim.findings:
            message = f"{quoted(claim.name)}: {finding.message}" if many else finding.message
            yield replace(finding, message=message)


def _notes(audit: Audit) -> Iterator[str]:
    many = len(audit.claims) > 1
    yield from audit.notes
    for claim in audit.claims:
        for note in claim.notes:
            yield f"{quoted(claim.name)}: {note}" if many else note


def _records(audit: Audit) -> Iterator[Mapping[str, Any]]:
    """One row a number, for the CSV table."""
    for claim in audit.claims:
        for number in claim.numbers:
            first = number.explanations[0] if number.explanations else None
            recomputed = number.recomputed
            ends = recomputed if isinstance(recomputed, tuple) else (recomputed, None)
            yield {
                "claim": claim.name,
                "key": number.key,
                "measure": number.measure,
                "reported": _reported(number),
                "recomputed": ends[0],
                "recomputed_high": ends[1],
                "verdict": str(number.verdict),
                "said": number.said,
                "mistake": None if first is None else first.mistake,
                "explanation": None if first is None else first.text,
            }
