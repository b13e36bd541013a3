"""A document in any of its faces."""

from __future__ import annotations

from assay.errors import InputError
from assay.report.document import Document

FORMATS = ("terminal", "json", "csv", "markdown", "latex", "html")


def render(
    document: Document,
    format: str,  # noqa: A002 - the word of the command line
    *,
    width: int | None = None,
    color: bool = False,
    encoding: str = "utf-8",
) -> str:
    """The document as text; the last three arguments are those of a terminal."""
    if format == "terminal":
        from assay.report.terminal import render as in_terminal

        return in_terminal(document, width=width, color=color, encoding=encoding)
    if format in ("json", "csv"):
        from assay.report.plain import to_csv, to_json

        return to_json(document) if format == "json" else to_csv(document)
    if format == "markdown":
        from assay.report.markdown import render as in_markdown

        return in_markdown(document)
    if format == "latex":
        from assay.report.latex import render as in_latex

        return in_latex(document)
    if format == "html":
        from assay.report.html import render as in_html

        return in_html(document)
    raise InputError(f"a report is one of {', '.join(FORMATS)}; found {format!r}")
