"""A document for a pull request, in the Markdown that GitHub reads.

Nothing that comes from data is read as Markdown or HTML: what has a meaning there is escaped, and
what would become a link, a formula or a mention of somebody is broken up.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from assay.v02.escaping import name, sentence
from assay.v02.evaluation.findings import Finding
from assay.v02.number_text import count
from assay.v02.report.grid import TextCell, TextGrid, grid_of
from assay.v02.report.provenance import Provenance
from assay.v02.report.sections import (
    Dots,
    ForestPlot,
    Kind,
    Matrix,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)

_WIDEST_MATRIX = 12
# What Markdown reads; links without brackets; what a forge makes a mention, a reference or math.
_SIGNIFICANT = re.compile(
    r"[\\`*_|~&<>$@#]|(?<=\w):(?=//)|(?<=[Ww]{3})\.|\](?=[(\[])",
)
_WRITTEN = {"&": "&amp;", "<": "&lt;", ">": "&gt;", ":": "&#58;", ".": "&#46;"}
_APART = frozenset("$@#")
_AT_START = re.compile(r"(\d{1,9}(?=[.)](?:\s|$))|)(?=[-+=\[.)])")


def render(report: Report) -> str:
    """The document as Markdown."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    yield f"## {prose(name(report.title, 200))}"
    for i, text in enumerate(report.headline):
        yield f"**{prose(sentence(text))}**" if not i else prose(sentence(text))
    if report.warnings:
        yield "\n".join(_finding(finding) for finding in report.warnings)
    for section in report.sections:
        yield from _section(section)
    if report.remarks:
        yield "### Findings"
        yield "\n".join(_finding(finding) for finding in report.remarks)
    if report.notes:
        yield "### Notes"
        yield "\n".join(f"- {prose(sentence(note))}" for note in report.notes)
    if report.made is not None:
        yield _provenance_line(report.made)


def _finding(finding: Finding) -> str:
    mark = "" if finding.severity == "info" else "⚠️ "
    kind = prose(name(finding.code)), prose(name(finding.severity))
    return f"- {mark}**{kind[0]}** {kind[1]}: {prose(sentence(finding.message))}"


def _provenance_line(made: Provenance) -> str:
    parts = [f"assay {prose(name(made.version))}"]
    if made.command:
        parts.append(code(name(made.command, 200)))
    parts += [
        f"{code(name(file))} ({count(size)} bytes, SHA-256 {code(name(digest, 80))})"
        for file, size, digest in made.inputs
        if size is not None and digest is not None
    ]
    parts += [f"commit {code(name(made.commit or ''))}"] * bool(made.commit)
    parts += [prose(name(made.made or ""))] * bool(made.made)
    return "Made by " + ", ".join(parts) + "."


def _section(section: Section) -> Iterator[str]:
    """A section; details and the parts of an appendix that may be long are folded."""
    long = any(isinstance(block, Dots) for block in section.blocks)
    folded = section.detail or (section.tier is Tier.APPENDIX and long)
    title = name(section.title)
    yield f"<details>\n<summary>{_html(title)}</summary>" if folded else f"### {prose(title)}"
    for block in section.blocks:
        yield prose(sentence(block.text)) if isinstance(block, Prose) else _block(block)
    if folded:
        yield "</details>"


def _html(text: str) -> str:
    """Text inside a tag, where Markdown is not read."""
    apart = "".join(f"<span>{c}</span>" if c in _APART else html.escape(c) for c in text)
    return apart.replace("\\", "&#92;")


def _block(block: Table | Dots | ForestPlot | Matrix) -> str:
    caption = prose(sentence(block.caption))
    if isinstance(block, Matrix) and len(block.labels) > _WIDEST_MATRIX:
        return f"{caption}: {len(block.labels)} classes are too many for a table here."
    lines = [f"{caption.removesuffix('.')}:", "", *_table(grid_of(block))]
    for note in () if isinstance(block, Matrix) else block.notes:
        lines += ["", prose(sentence(note))]
    return "\n".join(lines)


def _table(grid: TextGrid) -> Iterator[str]:
    yield _row(prose(name(column.name)) for column in grid.columns)
    yield _row("---" if column.kind is Kind.TEXT else "---:" for column in grid.columns)
    for row in grid.rows:
        yield _row(map(_cell, row))


def _cell(cell: TextCell) -> str:
    if cell.formula:
        # A bar would end the cell.
        return "$" + cell.formula.replace("|", r"\vert ") + "$"
    value = f"**{prose(cell.value)}**" if cell.marked and cell.value else prose(cell.value)
    return f"{value} {cell.interval}".strip()


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def prose(text: str) -> str:
    r"""Text that is read as it stands, in a sentence or in a cell.

    >>> print(prose("a|b *c* <script> @team"))
    a\|b \*c\* &lt;script&gt; <span>@</span>team
    """
    escaped = _SIGNIFICANT.sub(_escape, text.strip())
    start = _AT_START.match(text.strip())
    if start is None:
        return escaped
    digits = start[1]
    return f"{digits}\\{escaped[len(digits) :]}"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _APART:
        return f"<span>{character}</span>"
    return _WRITTEN.get(character, f"\\{character}")


def code(text: str) -> str:
    """Text that is code, between as many backticks as it takes."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{gap}{text}{gap}{fence}"
