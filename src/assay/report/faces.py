"""A document in any of its faces."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import InputError
from assay.report.document import Document, json_text
from assay.report.kinds import FORMATS, FURTHER
from assay.report.sections import Report


def draw(
    document: Document | Report,
    format: str,  # noqa: A002 - the word of the command line
    *,
    width: int | None = None,
    color: bool = False,
    encoding: str = "utf-8",
    fragment: bool = False,
    tiers: Sequence[str] = (),
) -> str:
    """The document as text; width, color and encoding are those of a terminal.

    ``fragment`` gives the tables of LaTeX alone, for a paper to input, and ``tiers`` some of
    ``main``, ``advanced`` and ``appendix``.
    """
    if (fragment or tiers) and format != "latex":
        raise InputError(f"fragment= and tiers= are of the format latex; found {format!r}")
    if tiers and not fragment:
        raise InputError("tiers= is of a fragment; give fragment=True too")
    if format == "json":
        return document.to_json() if isinstance(document, Document) else json_text(document.plain)
    if format in FURTHER:
        return _further(document, format)
    report = document.report if isinstance(document, Document) else document
    if format == "terminal":
        from assay.report.terminal import render as in_terminal

        return in_terminal(report, width=width, color=color, encoding=encoding)
    if format == "csv":
        from assay.report.spreadsheet import to_csv

        return to_csv(report)
    if format == "markdown":
        from assay.report.markdown import render as in_markdown

        return in_markdown(report)
    if fragment:
        from assay.report.fragment import render as in_fragment
        from assay.report.fragment import tiers_of

        return in_fragment(report, tiers_of(tiers))
    if format == "latex":
        from assay.report.latex import render as in_latex

        return in_latex(report)
    if format == "html":
        from assay.report.html import render as in_html

        return in_html(report)
    raise InputError(f"a report is one of {', '.join(FORMATS + FURTHER)}; found {format!r}")


def _further(document: Document | Report, format: str) -> str:  # noqa: A002 - as above
    kind = document.kind if isinstance(document, Document) else "report"
    if isinstance(document, Document) and (kind, format) == ("gate", "junit"):
        from assay.report.junit import junit

        return junit(document.result, seconds=document.provenance.seconds or 0.0)
    if isinstance(document, Document) and (kind, format) == ("training", "card"):
        from assay.report.card import card_of

        return card_of(document)
    if isinstance(document, Document) and (kind, format) == ("monitor", "openmetrics"):
        from assay.report.openmetrics import metrics_of

        return metrics_of(document.result)
    only = {"junit": "a gate", "card": "a training", "openmetrics": "a monitor"}[format]
    raise InputError(f"only {only} has the face {format}; this document is of kind {kind}")
