"""The report as one page that needs nothing else: no network, no library, no server."""

from __future__ import annotations

from assay.report.html.charts import Limits
from assay.report.html.page import page_text
from assay.report.sections import Report

# A page is mailed around; 400 kB is little enough for any mailbox.
LARGEST = 400_000

__all__ = ["LARGEST", "render"]


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
