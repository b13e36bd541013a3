"""A report for a small screen: what it comes to, its findings, and ten numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.report.sections import Block, Dots, Forest, Matrix, Prose, Report, Section, Table, Tier

NUMBERS = 10


def brief(report: Report, rest: str) -> Report:
    """The headline, the findings and the first numbers; ``rest`` says where the others are.

    Numbers are those of the main results, where there are any, and of what a page folds never.
    """
    known = [section for section in report.sections if not section.detail]
    main = [section for section in known if section.tier is Tier.MAIN]
    shown = main if any(map(_size, main)) else known
    return replace(
        report, sections=tuple(_first(shown, NUMBERS)), notes=(rest,), panel=None, records=()
    )


def _first(sections: list[Section], most: int) -> Iterator[Section]:
    """Sections with so many rows between them, in equal parts where all would be too many.

    Matrices and sentences are left to the rest, but for sections of sentences alone.
    """
    counted = [section for section in sections if _size(section)]
    share = most // max(len(counted), 1) or 1
    spare = most - sum(min(_size(section), share) for section in counted)
    for section in sections:
        if all(isinstance(block, Prose) for block in section.blocks):
            yield section
            continue
        room = min(_size(section), share + max(spare, 0))
        spare -= max(room - share, 0)
        blocks: list[Block] = []
        for block in section.blocks:
            if _rows(block) and room:
                blocks.append(_cut(block, room))
                room -= min(_rows(block), room)
        if blocks:
            yield replace(section, blocks=tuple(blocks))


def _size(section: Section) -> int:
    return sum(map(_rows, section.blocks))


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
