"""Names that try to run a script, turn the text around, or burst the page."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from assay.evaluation.findings import Finding
from assay.inference import Estimate
from assay.measures import find
from assay.report.evaluation import panel_of
from assay.report.provenance import Provenance
from assay.report.sections import (
    Column,
    Dot,
    Dots,
    Kind,
    Matrix,
    Panel,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)

from . import pages
from .chromium import Page

RUN = "window.__pwned=1"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<img src=x onerror='{RUN}'>",
    f'"><img src=x onerror={RUN}>',
    f"'><img src=x onerror={RUN}>",
    f'" onmouseover="{RUN}',
    f"' onmouseover='{RUN}",
    f'" autofocus onfocus="{RUN}" x="',
    f"x onload={RUN}",
    f"<svg onload={RUN}>",
    f"<svg/onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<svg><a href='javascript:{RUN}'><text>x</text></a></svg>",
    f"<body onload={RUN}>",
    f"<iframe src='javascript:{RUN}'></iframe>",
    "<iframe srcdoc='<script>parent.__pwned=1</script>'></iframe>",
    f"<object data='javascript:{RUN}'></object>",
    f"<embed src='javascript:{RUN}'>",
    f"<a href='javascript:{RUN}'>x</a>",
    f"<form action='javascript:{RUN}'><button>x</button></form>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}></select>",
    f"<marquee onstart={RUN}>x</marquee>",
    f"<math><mtext></form><form><mglyph><style></math><img src onerror={RUN}>",
    f"<style>@import 'javascript:{RUN}';</style>",
    f"<div style='background:url(javascript:{RUN})'>",
    "<link rel=stylesheet href=https://example.invalid/x.css>",
    "<script src=https://example.invalid/x.js></script>",
    "<img src=https://example.invalid/x.png>",
    "<meta http-equiv=refresh content='0;url=https://example.invalid/'>",
    "<base href=https://example.invalid/>",
    f"<!--<script>--><script>{RUN}</script>",
    f"<![CDATA[<script>{RUN}</script>]]>",
    f"javascript:{RUN}",
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"');{RUN};//",
    f'");{RUN};//',
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"\u2028;{RUN}\u2029",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;script&#62;{RUN}",
    f"<scr\0ipt>{RUN}</scr\0ipt>",
    f"<SCRIPT>{RUN}</SCRIPT>",
    f"]]>--></script>{RUN}",
    "__proto__",
]
PLACES = 14
LOOKS = [
    "\u202egnp.exe",
    "\u2067right\u2069",
    "שלום " * 9,
    "مرحبا",
    "👩‍💻🇩🇪" * 30,
    "e\u0301" * 200,
    "W" * 10_000,
    "a b " * 3000,
]

TRACES = """(() => ({
  pwned: typeof window.__pwned,
  handlers: [...document.querySelectorAll("*")].filter((node) =>
    [...node.attributes].some(({ name }) => name.startsWith("on") || name === "style")).length,
  scripts: document.scripts.length,
  strange: document.querySelectorAll(
    "img, iframe, object, embed, video, audio, form, base, link, math, marquee, a:not([href^='#'])"
  ).length,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
}))()"""


@cache
def usual() -> Panel:
    panel = panel_of(pages.judged().snapshot())
    assert panel is not None
    return panel


def hostile(names: list[str], labels: tuple[str, str]) -> Report:
    """A document that holds names wherever data can get."""
    estimate = Estimate(0.5, 0.4, 0.6, method=names[0], n=30, note=names[1])
    none = Estimate(float("nan"), undefined=names[2])
    base = usual()
    panel = replace(
        base,
        negative=labels[0],
        positive=labels[1],
        shown_at={**base.shown_at, "f1": estimate, "mcc": none},
    )
    size = len(names)
    cells = tuple(tuple((i * j + i) % 7 for j in range(size)) for i in range(size))
    columns = (
        Column("name"),
        Column(names[3]),
        Column("n", Kind.COUNT),
        Column("value", Kind.SHARE),
    )
    blocks = (
        Matrix(names[4], tuple(names), cells),
        Table(names[5], columns, tuple((n, n, 3, 0.25) for n in names), tuple(names)),
        Table(names[6], columns, tuple((n, n, 3, estimate) for n in names), tuple(names)),
        Dots(
            names[7],
            names[8],
            find("recall"),
            tuple(Dot(n, none if i % 9 == 0 else estimate, n) for i, n in enumerate(names)),
            estimate,
            notes=tuple(names),
        ),
        *(Prose(name) for name in names),
    )
    return Report(
        title=names[9],
        headline=tuple(names),
        sections=(
            Section(names[10], blocks),
            Section(names[11], blocks[:1], Tier.APPENDIX, detail=True),
        ),
        findings=tuple(
            Finding(name[:9], "warning" if i % 2 else "info", name) for i, name in enumerate(names)
        ),
        notes=tuple(names),
        panel=panel,
        made=Provenance(names[12], names[13], tuple((name, 1, name) for name in names)),
    )


def check(page: Page, path: Path) -> None:
    page.open(path)
    page.evaluate("new Promise((done) => setTimeout(done, 20))")
    seen = page.evaluate(TRACES)
    assert seen == {"pwned": "undefined", "handlers": 0, "scripts": 2, "strange": 0, "wide": 0}
    assert page.errors == []
    assert page.dialogs == []
    assert page.requests == [path.as_uri()]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("part", range(4))
def test_no_name_runs_a_script_or_asks_for_anything(part: int, page: Page, tmp_path: Path) -> None:
    assert len(PAYLOADS) >= 40
    # Each payload comes once into each place.
    for i in range(part, len(PAYLOADS), 4):
        names = [*PAYLOADS[i:], *PAYLOADS[:i]][:PLACES]
        labels = (PAYLOADS[i - 1], PAYLOADS[i])
        check(page, pages.written(hostile(names, labels), tmp_path))


def test_a_label_shows_as_it_is(page: Page, tmp_path: Path) -> None:
    names = PAYLOADS[:PLACES]
    page.open(pages.written(hostile(names, (PAYLOADS[0], PAYLOADS[5])), tmp_path))
    shown = page.evaluate(
        "[...document.querySelectorAll('.matrix [scope=row] bdi')].map((n) => n.textContent)"
    )
    assert shown == [PAYLOADS[0], PAYLOADS[5]]
    drawn = page.evaluate("document.querySelector('#plot-scores .legend.positive').textContent")
    assert drawn.startswith(PAYLOADS[5][:14])


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [360, 1280])
def test_long_and_turned_names_keep_the_layout(width: int, page: Page, tmp_path: Path) -> None:
    page.resize(width)
    for i, name in enumerate(LOOKS):
        names = [*LOOKS[i:], *LOOKS[:i]] * 2
        check(page, pages.written(hostile(names, (name, LOOKS[i - 1])), tmp_path))
        high = page.evaluate(
            "Math.max(...[...document.querySelectorAll('.line, .matrix tr')]"
            ".map((n) => n.getBoundingClientRect().height))"
        )
        assert high < 700


def test_marks_that_turn_the_text_stay_inside_their_name(page: Page, tmp_path: Path) -> None:
    page.open(pages.written(hostile(LOOKS * 2, ("שלום", "مرحبا")), tmp_path))
    names = page.evaluate(
        "[...document.querySelectorAll('bdi')].map((n) => getComputedStyle(n).unicodeBidi)"
    )
    assert set(names) == {"isolate"}
    # The marks themselves are shown as escapes, and letters of another direction are kept.
    text = page.evaluate("document.body.innerText")
    assert "\\u202egnp.exe" in text
    assert "\u202e" not in text
    assert "مرحبا" in text
