"""The report as one page that needs nothing else: no network, no library, no server.

Its parts in the order of reading, its own style and script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from assay.v02.evaluation.findings import Finding
from assay.v02.formula import JAVASCRIPT_PRELUDE, Cell, javascript, proportion
from assay.v02.measures import (
    ALERT_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    RECALL,
    SPECIFICITY,
    Measure,
    catalogue,
    find,
)
from assay.v02.measures.catalogue import DEPLOYED
from assay.v02.number_text import count
from assay.v02.report.html.blocks import ProseView, View, block_of
from assay.v02.report.html.charts import Limits, cut_name, left_out, sentence, sentence_parts
from assay.v02.report.html.operating_panel import ReliabilityChart, operating_of, reliability_of
from assay.v02.report.provenance import Provenance
from assay.v02.report.sections import (
    Block,
    Course,
    Dots,
    Matrix,
    Report,
    Section,
    StepCurve,
    Tier,
    count_formula,
)

if TYPE_CHECKING:
    from jinja2 import Environment, Template

__all__ = ["LARGEST", "render"]

# A page is mailed around; 400 kB is little enough for any mailbox.
LARGEST = 400_000


@dataclass(frozen=True)
class ToldFinding:
    """A finding with why it matters and what to do, where its check tells."""

    code: str
    severity: str
    message: str
    why: str
    remedy: str


def render(report: Report) -> str:
    """The document as HTML, in less than 400 kB.

    Where it would be larger, the longest tables are cut, and the page says so.
    """
    limits = Limits()
    text = page_text(report, limits)
    while len(text.encode("utf-8")) >= LARGEST and limits != limits.tighter():
        limits = limits.tighter()
        text = page_text(report, limits)
    return text


def page_text(report: Report, limits: Limits) -> str:
    """The page with no more of each thing than the limits allow."""
    from markupsafe import Markup

    style = page_style()
    script = page_script(None if report.panel is None else report.panel.measures)
    return _template().render(
        # These two are files of this package and formulas of the catalogue: no data is in them.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=content_policy(style, script),
        **content(report, limits),
    )


def content(report: Report, limits: Limits) -> dict[str, Any]:
    """What the template shows of a report, with no more of each thing than the limits allow."""
    panel = report.panel
    findings = tuple(
        _shown_finding(finding, limits) for finding in (*report.warnings, *report.remarks)
    )
    parts, sections = parts_of(report, limits)
    return {
        "title": sentence(report.title, limits),
        "headline": [sentence_parts(text, limits) for text in report.headline[: limits.lines]],
        "warnings": findings[: min(len(report.warnings), limits.lines)],
        "findings": findings[: limits.lines],
        "findings_left": left_out(len(findings) - limits.lines, "findings"),
        "notes": [sentence(note, limits) for note in report.notes[: limits.lines]],
        "notes_left": left_out(len(report.notes) - limits.lines, "notes"),
        "panel": None if panel is None else operating_of(panel, limits),
        "parts": parts,
        "parts_left": left_out(sections, "sections"),
        "made": _shown_provenance(report.made, limits),
    }


@cache
def _template() -> Template:
    return environment().get_template("page.html")


def environment(*packages: str) -> Environment:
    """The templates of reports, and those that other packages build on them."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    homes = (*packages, "assay.v02.report.html")
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(home, "templates") for home in homes]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return templates


def _shown_finding(finding: Finding, limits: Limits) -> ToldFinding:
    return ToldFinding(
        sentence(finding.code, limits),
        finding.severity,
        sentence(finding.message, limits),
        sentence(finding.why, limits),
        sentence(finding.remedy, limits),
    )


def _shown_provenance(made: Provenance | None, limits: Limits) -> dict[str, object] | None:
    if made is None:
        return None
    return {
        "version": sentence(made.version, limits),
        "command": sentence(made.command, limits),
        "inputs": [
            (cut_name(name, 2 * limits.letters), count(size), sentence(digest, limits))
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
class PagePart:
    """A section: its anchor, its title in full and in short, whether it is folded, its blocks."""

    anchor: str
    title: str
    brief: str
    blocks: tuple[View | ReliabilityChart, ...]
    folded: bool = False


class PartRank(Enum):
    """Results first, then where they differ, then the classes, then all the rest."""

    MAIN = 0
    ADVANCED = 1
    SLICES = 2
    CALIBRATION = 3
    CLASSES = 4
    OTHERS = 5
    DETAILS = 6


def parts_of(report: Report, limits: Limits) -> tuple[tuple[PagePart, ...], int]:
    """The sections that there is room for, and how many are left out."""
    parts: list[PagePart] = []
    room, hidden = limits.blocks, 0
    for rank in PartRank:
        if rank is PartRank.CALIBRATION and report.panel and report.panel.reliability:
            drawn = reliability_of(report.panel.reliability)
            parts.append(PagePart(_anchor(parts), "Calibration", "Calibration", (drawn,)))
        for section in (section for section in report.sections if _rank(section) is rank):
            blocks = [block for block in section.blocks if not _in_panel(block, report)]
            if not blocks:
                continue
            if not room:
                hidden += 1
                continue
            views: list[View] = [block_of(block, limits) for block in blocks[:room]]
            cut = left_out(len(blocks) - room, "tables and sentences")
            room -= len(views)
            views += [ProseView(cut)] * bool(cut)
            title, brief = sentence(section.title, limits), cut_name(section.title, limits.letters)
            shown = tuple(views)
            folded = rank is PartRank.DETAILS
            parts.append(PagePart(_anchor(parts), title, brief.shown, shown, folded=folded))
    return tuple(parts), hidden


def _anchor(parts: list[PagePart]) -> str:
    return f"section-{len(parts) + 1}"


def _rank(section: Section) -> PartRank:
    # What is a long table elsewhere is one picture here.
    if section.detail and not any(
        isinstance(block, Course | StepCurve) for block in section.blocks
    ):
        return PartRank.DETAILS
    if section.tier is Tier.MAIN:
        return PartRank.MAIN
    if section.tier is Tier.ADVANCED:
        return PartRank.ADVANCED
    if any(isinstance(block, Dots) for block in section.blocks):
        return PartRank.SLICES
    if any(isinstance(block, Matrix) for block in section.blocks):
        return PartRank.CLASSES
    return PartRank.OTHERS


def _in_panel(block: Block, report: Report) -> bool:
    """Whether the panel already shows a confusion matrix."""
    return isinstance(block, Matrix) and len(block.labels) == 2 and report.panel is not None


# -- style, script, and the policy that lets nothing else run --------------------------------------


_STYLES = (
    "base.css",
    "masthead.css",
    "panel.css",
    "plots.css",
    "matrix.css",
    "lines.css",
    "parts.css",
    "small.css",
    "print.css",
)
# In the order in which they need each other.
_PAGE = ("page.js",)
_PANEL = (
    "numbers.js",
    "table.js",
    "drawing.js",
    "curve.js",
    "distribution.js",
    "worth.js",
    "readings.js",
    "deployment.js",
    "panel.js",
)
# What the plots and the base rate use, whatever the panel shows.
_RATES = (RECALL, FALSE_NEGATIVE_RATE, FALSE_POSITIVE_RATE, SPECIFICITY, ALERT_RATE)
_NEEDED = (
    *(m.name for m in _RATES),
    *DEPLOYED,
)


def page_style() -> str:
    """The style sheet."""
    return "\n".join(read_asset("style", name) for name in _STYLES)


def page_script(measures: tuple[Measure, ...] | None) -> str:
    """The script of a page, with the formulas of the measures that follow its threshold."""
    parts = [read_asset("script", name) for name in _PAGE]
    return _closed(parts if measures is None else [*parts, *_panel(measures)])


def panel_script(measures: tuple[Measure, ...]) -> str:
    """What only a page with a panel needs, for pages that share the rest."""
    return _closed(_panel(measures))


def _panel(measures: tuple[Measure, ...]) -> list[str]:
    return [
        JAVASCRIPT_PRELUDE,
        formulas(measures),
        *(read_asset("script", name) for name in _PANEL),
    ]


def _closed(parts: list[str]) -> str:
    """Scripts whose names nobody else sees."""
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def formulas(measures: tuple[Measure, ...]) -> str:
    """The measures as functions of the four cells, and what each is called.

    Of shares there are their successes and trials besides, and costs are functions of prices too.
    A measure is called one thing on an axis, and another where room is short.
    """
    all_of_them = {m.name: m for m in (*map(find, _NEEDED), *measures)}
    values, shares, titles = [], [], []
    for name, measure in all_of_them.items():
        formula = count_formula(measure)
        key = json.dumps(name).replace("<", "\\u003c")
        values.append(f"  {key}: (tp, fp, fn, tn) => {javascript(formula)},")
        called = json.dumps([measure.title, measure.short]).replace("<", "\\u003c")
        titles.append(f"  {key}: {called},")
        share = proportion(formula)
        if share is not None:
            pair = f"{javascript(share.successes)}, {javascript(share.trials)}"
            shares.append(f"  {key}: (tp, fp, fn, tn) => [{pair}],")
    priced = [
        f"  {json.dumps(measure.name)}: (tp, fp, fn, tn, c_fp, c_fn) => "
        f"{javascript(measure.of_costs(Cell('C_FP'), Cell('C_FN')))},"
        for measure in catalogue.CATALOGUE
        if measure.of_costs is not None
    ]
    tables = {"FORMULAS": values, "SHARES": shares, "PRICED": priced, "TITLES": titles}
    lines = [line for name, rows in tables.items() for line in (f"const {name} = {{", *rows, "};")]
    return "\n".join([*lines, ""])


def content_policy(styles: str, scripts: str) -> str:
    """A content security policy: this style and this script, by their hashes, and no more."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(scripts)}",
            f"style-src {_hash(styles)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def read_asset(*path: str) -> str:
    """A file of this package, as text."""
    return files("assay.v02.report.html").joinpath(*path).read_text("utf-8")
