"""Every result as a notebook shows it: 800 pixels wide, at most 40 lines high, light and dark."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.report import hostile
from tests.report.test_faces import CASES

from assay.report import Document
from assay.report.html.notebook import render

from .chromium import Page

pytestmark = pytest.mark.slow

WIDTH, HEIGHT = 800, 40 * 18
# What JupyterLab gives to whatever stands in an output, in both of its themes.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: 800px; background: {back}; color: {fore}; font: 14px/1.3 serif; }}
.output table {{ font-size: 12px; border: none; margin: 0 0 1em; }}
.output td, .output th {{ text-align: right; padding: 0.5em; max-width: none; }}
.output tbody tr:nth-child(odd) {{ background: {odd}; }}
.output p {{ margin: 0 0 1em; }}
</style><p id="before">before</p><div class="output">{cell}</div>
<table id="after"><tr><td>after</td></tr></table>"""
THEMES = {
    "light": {"back": "#ffffff", "fore": "#212121", "odd": "#f5f5f5"},
    "dark": {"back": "#111111", "fore": "#e0e0e0", "odd": "#212121"},
}


@cache
def cell(case: str) -> str:
    example = CASES[case]()
    return render(example.report if isinstance(example, Document) else example)


def opened(page: Page, html: str, folder: Path, theme: str = "light") -> Page:
    path = folder / "notebook.html"
    path.write_text(NOTEBOOK.format(cell=html, **THEMES[theme]), "utf-8")
    page.resize(WIDTH)
    return page.open(path)


def test_every_result_fits_into_forty_lines_of_a_notebook(page: Page, tmp_path: Path) -> None:
    wrong = []
    for case in CASES:
        opened(page, cell(case), tmp_path)
        box = page.evaluate(
            "(() => { const e = document.querySelector('.assay-cell');"
            "return [e.getBoundingClientRect().height, document.documentElement.scrollWidth,"
            "e.scrollWidth, [...e.querySelectorAll('.numbers .table')]"
            ".some(d => d.scrollWidth > d.clientWidth)]; })()"
        )
        high, wide, own, scrolled = box
        if high > HEIGHT or wide > WIDTH or own > WIDTH or scrolled:
            wrong.append((case, *box))
    assert not wrong


@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out_in_a_light_and_in_a_dark_notebook(
    theme: str, page: Page, tmp_path: Path
) -> None:
    html = cell("evaluation: binary").replace("<details>", "<details open>")
    opened(page, html, tmp_path, theme)
    least = page.evaluate(
        "(() => { const light = c => { const [r, g, b] = c.map(v => v / 255)"
        ".map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);"
        "return 0.2126 * r + 0.7152 * g + 0.0722 * b; };"
        "const parts = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);"
        "const back = parts(getComputedStyle(document.body).backgroundColor);"
        "const contrast = e => { const o = +getComputedStyle(e).opacity;"
        "const c = parts(getComputedStyle(e).color).map((v, i) => v * o + back[i] * (1 - o));"
        "const [a, b] = [light(c), light(back)].sort((x, y) => y - x);"
        "return (a + 0.05) / (b + 0.05); };"
        "return Math.min(...[...document.querySelectorAll("
        "'.assay-cell p, .assay-cell th, .assay-cell td, .assay-cell summary, .assay-cell span')]"
        ".map(contrast)); })()"
    )
    assert least >= 4.5
    striped = page.evaluate(
        "[...document.querySelectorAll('.assay-cell tr')]"
        ".filter(e => getComputedStyle(e).backgroundColor != 'rgba(0, 0, 0, 0)').length"
    )
    assert striped == 0


def test_the_style_of_a_cell_changes_nothing_else(page: Page, tmp_path: Path) -> None:
    asked = (
        "['#before', '#after', '#after td', 'body'].map(s =>"
        "JSON.stringify([...getComputedStyle(document.querySelector(s))]"
        ".map(k => [k, getComputedStyle(document.querySelector(s))[k]])"
        # Where it stands depends on how high the cell is.
        ".filter(([k]) => !/height|block-size|origin/.test(k))))"
    )
    alone = opened(page, "", tmp_path).evaluate(asked)
    beside = opened(page, cell("evaluation: binary"), tmp_path).evaluate(asked)
    assert beside == alone


def test_details_unfold_without_a_script_and_stay_within_the_cell(
    page: Page, tmp_path: Path
) -> None:
    for case in ("evaluation: binary", "compare: five", "check: leaks", "training: network"):
        opened(page, cell(case), tmp_path)
        before = page.box(".assay-cell")["height"]
        page.click(".assay-cell > details > summary")
        page.click(".assay-cell details details > summary")
        assert page.box(".assay-cell")["height"] > before
        page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, case
        assert not page.errors
        assert len(page.requests) == 1


def test_names_that_are_html_do_nothing(page: Page, tmp_path: Path) -> None:
    for name in hostile.NAMES:
        opened(page, render(hostile.document_with(name)), tmp_path)
        assert not page.dialogs
        assert not page.errors, name
        assert len(page.requests) == 1, name
        assert page.evaluate("document.querySelector('#after td').textContent") == "after"
        assert page.box(".assay-cell")["height"] <= HEIGHT, name
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, name
