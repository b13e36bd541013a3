"""The page as a whole: its parts in the order of reading."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.evaluation.findings import Finding
from assay.report.html import assets
from assay.report.html.blocks import Sentences, View, block_of
from assay.report.html.limits import Limits
from assay.report.html.operating import operating_of
from assay.report.html.reliability import Reliability, reliability_of
from assay.report.html.text import left_out, named, pieces, sentence
from assay.report.numbers import count
from assay.report.provenance import Provenance
from assay.report.sections import Block, Course, Dots, Matrix, Report, Section, StepCurve, Tier

if TYPE_CHECKING:
    from jinja2 import Environment, Template


@dataclass(frozen=True)
class Told:
    """A finding with why it matters and what to do, where its check tells."""

    code: str
    severity: str
    message: str
    why: str
    remedy: str


def page(report: Report, limits: Limits) -> str:
    """The page with no more of each thing than the limits allow."""
    from markupsafe import Markup

    style = assets.style()
    script = assets.script(None if report.panel is None else report.panel.measures)
    return _template().render(
        # These two are files of this package and formulas of the catalogue: no data is in them.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=assets.policy(style, script),
        **content(report, limits),
    )


def content(report: Report, limits: Limits) -> dict[str, Any]:
    """What the template shows of a report, with no more of each thing than the limits allow."""
    panel = report.panel
    findings = tuple(_told(finding, limits) for finding in (*report.warnings, *report.remarks))
    parts, sections = parts_of(report, limits)
    return {
        "title": sentence(report.title, limits),
        "headline": [pieces(text, limits) for text in report.headline[: limits.lines]],
        "warnings": findings[: min(len(report.warnings), limits.lines)],
        "findings": findings[: limits.lines],
        "findings_left": left_out(len(findings) - limits.lines, "findings"),
        "notes": [sentence(note, limits) for note in report.notes[: limits.lines]],
        "notes_left": left_out(len(report.notes) - limits.lines, "notes"),
        "panel": None if panel is None else operating_of(panel, limits),
        "parts": parts,
        "parts_left": left_out(sections, "sections"),
        "made": _made(report.made, limits),
    }


@cache
def _template() -> Template:
    return environment().get_template("page.html")


def environment(*packages: str) -> Environment:
    """The templates of reports, and those that other packages build on them."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    homes = (*packages, "assay.report.html")
    made = Environment(
        loader=ChoiceLoader([PackageLoader(home, "templates") for home in homes]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return made


def _told(finding: Finding, limits: Limits) -> Told:
    return Told(
        sentence(finding.code, limits),
        finding.severity,
        sentence(finding.message, limits),
        sentence(finding.why, limits),
        sentence(finding.remedy, limits),
    )


def _made(made: Provenance | None, limits: Limits) -> dict[str, object] | None:
    if made is None:
        return None
    return {
        "version": sentence(made.version, limits),
        "command": sentence(made.command, limits),
        "inputs": [
            (named(name, 2 * limits.letters), count(size), sentence(digest, limits))
            for name, size, digest in made.inputs[: limits.lines]
            if size is not None and digest is not None
        ],
        "others": [
            (called, sentence(str(value), limits))
            for called, value in (
                ("Rows", None if made.rows is None else count(made.rows)),
                ("Seed", made.seed),
                ("Commit", made.commit),
                ("Platform", made.platform),
                ("Time", made.made),
            )
            if value is not None
        ],
        "left": left_out(len(made.inputs) - limits.lines, "inputs"),
    }


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
