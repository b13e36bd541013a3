"""A report for a small screen: what it comes to, its findings, and ten numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.report.sections import Block, Dots, Forest, Matrix, Prose, Report, Section, Table, Tier

NUMBERS = 10


def brief(report: Report, rest: str) -> Report:
    """The headline, the findings and the first numbers; ``rest`` says where the others are.

    Numbers are those of the main results first, and of what a page folds never.
    """
    known = [section for section in report.sections if not section.detail]
    ordered = sorted(known, key=lambda section: section.tier is not Tier.MAIN)
    return replace(
        report, sections=tuple(_first(ordered, NUMBERS)), notes=(rest,), panel=None, records=()
    )


def _first(sections: list[Section], most: int) -> Iterator[Section]:
    """Sections with so many rows between them; matrices and sentences are left to the rest."""
    left = most
    for section in sections:
        blocks: list[Block] = []
        for block in section.blocks:
            size = _rows(block)
            if size and left:
                blocks.append(_cut(block, left))
                left -= min(size, left)
        if blocks:
            yield replace(section, blocks=tuple(blocks))


def _rows(block: Block) -> int:
    match block:
        case Table():
            return len(block.rows)
        case Dots():
            return len(block.dots)
        case Forest():
            return len(block.changes)
    return 0


def _cut(block: Block, rows: int) -> Block:
    match block:
        case Table():
            return replace(block, rows=block.rows[:rows])
        case Dots():
            return replace(block, dots=block.dots[:rows])
        case Forest():
            return replace(block, changes=block.changes[:rows])
        case Matrix() | Prose():
            return block
