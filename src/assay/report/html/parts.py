"""The sections of a document in the order in which a page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from assay.report.html.blocks import Sentences, View, block_of
from assay.report.html.limits import Limits
from assay.report.html.reliability import Reliability, reliability_of
from assay.report.html.text import left_out, named, sentence
from assay.report.sections import Block, Course, Dots, Matrix, Report, Section, StepCurve, Tier


@dataclass(frozen=True)
class Part:
    """A section: its anchor, its title in full and in short, whether it is folded, its blocks."""

    anchor: str
    title: str
    brief: str
    blocks: tuple[View | Reliability, ...]
    folded: bool = False


class Rank(Enum):
    """Results first, then where they differ, then the classes, then all the rest."""

    MAIN = 0
    ADVANCED = 1
    SLICES = 2
    CALIBRATION = 3
    CLASSES = 4
    OTHERS = 5
    DETAILS = 6


def parts_of(report: Report, limits: Limits) -> tuple[tuple[Part, ...], int]:
    """The sections that there is room for, and how many are left out."""
    found: list[Part] = []
    room, left = limits.blocks, 0
    for rank in Rank:
        if rank is Rank.CALIBRATION and report.panel and report.panel.reliability:
            drawn = reliability_of(report.panel.reliability)
            found.append(Part(_anchor(found), "Calibration", "Calibration", (drawn,)))
        for section in (section for section in report.sections if _rank(section) is rank):
            blocks = [block for block in section.blocks if not _in_panel(block, report)]
            if not blocks:
                continue
            if not room:
                left += 1
                continue
            views: list[View] = [block_of(block, limits) for block in blocks[:room]]
            cut = left_out(len(blocks) - room, "tables and sentences")
            room -= len(views)
            views += [Sentences(cut)] * bool(cut)
            title, brief = sentence(section.title, limits), named(section.title, limits.letters)
            shown = tuple(views)
            folded = rank is Rank.DETAILS
            found.append(Part(_anchor(found), title, brief.shown, shown, folded=folded))
    return tuple(found), left


def _anchor(found: list[Part]) -> str:
    return f"section-{len(found) + 1}"


def _rank(section: Section) -> Rank:
    # What is a long table elsewhere is one picture here.
    if section.detail and not any(
        isinstance(block, Course | StepCurve) for block in section.blocks
    ):
        return Rank.DETAILS
    if section.tier is Tier.MAIN:
        return Rank.MAIN
    if section.tier is Tier.ADVANCED:
        return Rank.ADVANCED
    if any(isinstance(block, Dots) for block in section.blocks):
        return Rank.SLICES
    if any(isinstance(block, Matrix) for block in section.blocks):
        return Rank.CLASSES
    return Rank.OTHERS


def _in_panel(block: Block, report: Report) -> bool:
    """Whether the panel already shows a confusion matrix."""
    return isinstance(block, Matrix) and len(block.labels) == 2 and report.panel is not None
