"""The page for everybody: keyboard, screen reader, dark, print, small screens."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from assay.report.sections import Report

from . import pages
from .chromium import Page

pytestmark = pytest.mark.slow

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
CHECK = """(() => {
  const html = (node) => node.html;
  const told = ({id, impact, nodes}) => [impact, id, nodes.slice(0, 3).map(html)];
  return axe.run(document, {resultTypes: ["violations"]}).then(
    ({violations, passes}) => ({passes: passes.length, found: violations.map(told)}));
})()"""
# The contrast of ink on each shade, of right and of wrong decisions.
CONTRASTS = """(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number)
      .map((part) => (colour.startsWith("rgb") ? part / 255 : part))
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const kind of ["right", "wrong"]) {
    for (let shade = 0; shade < 10; shade += 1) {
      const cell = document.body.appendChild(document.createElement("p"));
      [cell.className, cell.dataset.shade] = [kind, String(shade)];
      const { color, backgroundColor } = getComputedStyle(cell);
      const [a, b] = [light(color), light(backgroundColor)];
      found.push((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
    }
  }
  return found;
})()"""
# Everything that the Tab key reaches, in its order.
TABBED = """(() => { const e = document.activeElement;
  return e.id || e.className || e.textContent.trim().slice(0, 30) || e.tagName; })()"""


@cache
def document(name: str) -> Report:
    if name == "comparison":
        return pages.comparison()
    evaluation = pages.judged() if name == "binary" else pages.classes()
    return pages.document(evaluation)


@pytest.fixture(params=["binary", "classes", "comparison"])
def opened(request: pytest.FixtureRequest, page: Page, tmp_path: Path) -> Page:
    return page.open(pages.written(document(request.param), tmp_path))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(opened: Page, scheme: str) -> None:
    opened.media(prefers_color_scheme=scheme)
    opened.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    opened.send("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    answer: dict[str, Any] = opened.evaluate(CHECK)
    assert answer["passes"] > 20
    assert [each for each in answer["found"] if each[0] in ("serious", "critical")] == []


def test_axe_does_find_what_is_wrong(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "poor.html"
    path.write_text(
        "<!doctype html><title>x</title><input><p style='color:#ccc'>some text", "utf-8"
    )
    page.open(path)
    page.send("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    assert {"label", "color-contrast"} <= {each[1] for each in page.evaluate(CHECK)["found"]}


def test_every_control_is_reached_by_the_keyboard(page: Page, tmp_path: Path) -> None:
    page.open(pages.written(document("binary"), tmp_path))
    reached = []
    for _ in range(60):
        page.key("Tab")
        reached.append(page.evaluate(TABBED))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached[-1]
        if reached[-1] == "volume":
            break
    wanted = ["threshold", "threshold-number", "base-rate", "base-rate-number", "volume"]
    assert [name for name in reached if name in wanted] == wanted
    assert reached[0] == "skip"
    # The button is there once there is a way back.
    page.type("#threshold-number", "0.7")
    page.evaluate("document.getElementById('threshold-number').focus()")
    page.key("Tab")
    assert page.evaluate(TABBED) == "back"


def test_every_plot_has_a_text_that_says_what_it_shows(opened: Page) -> None:
    labels = opened.evaluate(
        "[...document.querySelectorAll('svg:not([aria-hidden])')]"
        ".map((n) => [n.getAttribute('role'), n.getAttribute('aria-label') ?? ''])"
    )
    hidden = "document.querySelectorAll('[aria-hidden] svg').length"
    drawn = [label for role, label in labels if role == "img"]
    assert len(labels) - opened.evaluate(hidden) == len(drawn)
    assert all(len(label) > 20 for label in drawn)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_counts_are_read_on_every_shade(opened: Page, scheme: str) -> None:
    opened.media(prefers_color_scheme=scheme)
    answer = opened.evaluate(CONTRASTS)
    assert len(answer) == 20
    assert min(answer) >= 4.5


@pytest.mark.sampled(4)
@pytest.mark.parametrize("width", [360, 480, 768, 1280])
def test_no_width_makes_the_page_scroll_sideways(opened: Page, width: int) -> None:
    opened.resize(width)
    assert opened.evaluate("document.documentElement.scrollWidth") == width


def test_dark_is_dark_and_paper_is_light(opened: Page) -> None:
    light = "getComputedStyle(document.body).backgroundColor"
    assert opened.evaluate(light) == "rgb(251, 250, 248)"
    opened.media(prefers_color_scheme="dark")
    assert opened.evaluate(light) == "rgb(20, 23, 26)"
    opened.media("print", prefers_color_scheme="dark")
    assert opened.evaluate(light) == "rgb(255, 255, 255)"


def test_paper_has_no_controls_and_nothing_folded(page: Page, tmp_path: Path) -> None:
    page.open(pages.written(document("binary"), tmp_path))
    page.media("print")
    seen = (
        "[...document.querySelectorAll('.controls, button, nav')].some((n) => n.checkVisibility())"
    )
    assert page.evaluate(seen) is False
    page.media()
    assert page.evaluate(seen) is True
    page.evaluate(
        "window.addEventListener('beforeprint', () => {"
        "window.open_then = document.querySelectorAll('details:not([open])').length; })"
    )
    page.pdf(tmp_path / "report.pdf")
    assert page.evaluate("window.open_then") == 0
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_no_motion_where_none_is_wanted(opened: Page) -> None:
    smooth = "getComputedStyle(document.documentElement).scrollBehavior"
    assert opened.evaluate(smooth) == "smooth"
    opened.media(prefers_reduced_motion="reduce")
    assert opened.evaluate(smooth) == "auto"


def test_the_policy_stops_what_is_not_the_pages_own(opened: Page) -> None:
    tried = opened.evaluate(
        "new Promise((done) => {"
        "document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective));"
        "const style = document.createElement('style'); style.textContent = 'p {}';"
        "document.head.append(style); setTimeout(() => done(''), 2000); })"
    )
    assert tried == "style-src-elem"
    assert opened.errors != []
