"""axe-core, which finds what keeps people from reading a page."""

from __future__ import annotations

from pathlib import Path

from .chromium import Page

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RUN = """axe.run(document, {resultTypes: ["violations"]}).then(({violations}) =>
  violations.map(({id, impact, nodes}) => [impact, id, nodes.slice(0, 3).map((n) => n.html)]))"""


def violations(page: Page) -> list[tuple[str, str, list[str]]]:
    """Impact, rule and first elements of each rule that an open page breaks."""
    page.send("Runtime.evaluate", expression=AXE.read_text("utf-8"))
    return [tuple(each) for each in page.evaluate(RUN)]
