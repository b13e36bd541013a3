"""The page as a whole: its parts in the order of reading."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.evaluation.findings import CHECKS, Finding
from assay.report.document import Block, Document, Dots, Matrix, Provenance, Section, Tier
from assay.report.html import assets
from assay.report.html.blocks import block_of
from assay.report.html.limits import Limits
from assay.report.html.operating import operating_of
from assay.report.html.reliability import reliability_of
from assay.report.html.text import named, pieces, sentence
from assay.report.numbers import count

if TYPE_CHECKING:
    from jinja2 import Template


@dataclass(frozen=True)
class Part:
    """A section: its anchor, its title, whether it is folded, and its blocks."""

    anchor: str
    title: str
    folded: bool
    blocks: tuple[object, ...]


@dataclass(frozen=True)
class Told:
    """A finding with why it matters and what to do, where its check tells."""

    code: str
    severity: str
    message: str
    why: str
    remedy: str


def page(document: Document, limits: Limits) -> str:
    """The page with no more of each thing than the limits allow."""
    from markupsafe import Markup

    panel = document.panel
    style = assets.style()
    script = assets.script(None if panel is None else panel.measures)
    findings = tuple(_told(finding, limits) for finding in document.findings)
    return _template().render(
        # These two are files of this package and formulas of the catalogue: no data is in them.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=assets.policy(style, script),
        title=sentence(document.title, limits),
        headline=[pieces(text, limits) for text in document.headline[: limits.lines]],
        warnings=[told for told in findings if told.severity == "warning"][: limits.lines],
        findings=findings[: limits.lines],
        findings_left=_left(len(findings), limits, "findings"),
        notes=[sentence(note, limits) for note in document.notes[: limits.lines]],
        notes_left=_left(len(document.notes), limits, "notes"),
        panel=None if panel is None else operating_of(panel, limits),
        parts=_parts(document, limits),
        made=_made(document.made, limits),
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("assay.report.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.get_template("page.html")


def _left(number: int, limits: Limits, what: str) -> str:
    left = number - limits.lines
    return f"{count(left)} more {what} are left out here; JSON holds them." if left > 0 else ""


def _told(finding: Finding, limits: Limits) -> Told:
    check = next((check for check in CHECKS if check.code == finding.code), None)
    return Told(
        sentence(finding.code, limits),
        finding.severity,
        sentence(finding.message, limits),
        "" if check is None else check.why,
        "" if check is None else check.remedy,
    )


# -- sections --------------------------------------------------------------------------------------


def _parts(document: Document, limits: Limits) -> tuple[Part, ...]:
    """Results first, then where they differ, then the classes, then all the rest."""
    found: list[tuple[str, bool, tuple[object, ...]]] = []
    room = limits.blocks
    for rank in _Rank:
        if rank is _Rank.CALIBRATION and document.panel and document.panel.reliability:
            drawn = reliability_of(document.panel.reliability)
            found.append(("Calibration", False, (drawn,)))
        for section in (section for section in document.sections if _rank(section) is rank):
            blocks = [block for block in section.blocks if not _in_panel(block, document)][:room]
            room -= len(blocks)
            if blocks:
                views = tuple(block_of(block, limits) for block in blocks)
                found.append((sentence(section.title, limits), section.detail, views))
    return tuple(Part(f"section-{i}", *part) for i, part in enumerate(found, 1))


class _Rank(Enum):
    """The order of sections on the page."""

    MAIN = 0
    ADVANCED = 1
    SLICES = 2
    CALIBRATION = 3
    CLASSES = 4
    OTHERS = 5
    DETAILS = 6


def _rank(section: Section) -> _Rank:
    if section.detail:
        return _Rank.DETAILS
    if section.tier is Tier.MAIN:
        return _Rank.MAIN
    if section.tier is Tier.ADVANCED:
        return _Rank.ADVANCED
    if any(isinstance(block, Dots) for block in section.blocks):
        return _Rank.SLICES
    if any(isinstance(block, Matrix) for block in section.blocks):
        return _Rank.CLASSES
    return _Rank.OTHERS


def _in_panel(block: Block, document: Document) -> bool:
    """Whether the panel already shows a confusion matrix."""
    return isinstance(block, Matrix) and len(block.labels) == 2 and document.panel is not None


def _made(made: Provenance | None, limits: Limits) -> dict[str, object] | None:
    if made is None:
        return None
    return {
        "version": sentence(made.version, limits),
        "command": sentence(made.command, limits),
        "inputs": [
            (named(name, 2 * limits.letters), count(size), sentence(digest, limits))
            for name, size, digest in made.inputs[: limits.lines]
        ],
        "left": _left(len(made.inputs), limits, "inputs"),
    }
