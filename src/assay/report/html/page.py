"""The page as a whole: its parts in the order of reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.evaluation.findings import Finding
from assay.report.html import assets
from assay.report.html.limits import Limits
from assay.report.html.operating import operating_of
from assay.report.html.parts import parts_of
from assay.report.html.text import left_out, named, pieces, sentence
from assay.report.numbers import count
from assay.report.provenance import Provenance
from assay.report.sections import Report

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
