"""The browser does and notices what it must: else its silence in other tests would mean nothing."""

from pathlib import Path

import pytest

from .axe import violations
from .chromium import BrowserError, Page

GOOD = """<!doctype html><html lang="en"><title>good</title><main><h1>Good</h1>
<p>Some text</p><label>Name <input></label></main>"""
POOR = "<!doctype html><title>poor</title><input><p style='color:#ccc'>some text"
LOUD = """<!doctype html><title>loud</title>
<img src="https://example.invalid/pixel.png">
<input id="field" value="old"><button id="button">press</button>
<script>
window.pressed = 0;
document.getElementById("button").addEventListener("click", () => { window.pressed += 1; });
document.addEventListener("keydown", (event) => { window.key = event.key; });
console.error("this went wrong");
alert("look here");
setTimeout(() => { throw new Error("and this"); });
</script>"""


def opened(page: Page, folder: Path, html: str) -> Page:
    path = folder / "page.html"
    path.write_text(html, "utf-8")
    return page.open(path)


@pytest.fixture
def loud(page: Page, tmp_path: Path) -> Page:
    opened(page, tmp_path, LOUD)
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    return page


def test_errors_dialogs_and_requests_are_noticed(loud: Page) -> None:
    assert any("this went wrong" in error for error in loud.errors)
    assert any("and this" in error for error in loud.errors)
    assert loud.dialogs == ["look here"]
    assert "https://example.invalid/pixel.png" in loud.requests


def test_mouse_and_keys_reach_the_page(loud: Page) -> None:
    loud.click("#button")
    assert loud.evaluate("window.pressed") == 1
    loud.key("ArrowLeft")
    assert loud.evaluate("window.key") == "ArrowLeft"
    loud.type("#field", "new")
    assert loud.evaluate("document.querySelector('#field').value") == "new"


def test_an_expression_that_fails_is_an_error_here_too(loud: Page) -> None:
    with pytest.raises(BrowserError, match="nowhere"):
        loud.evaluate("nowhere.to.be.found")


def test_axe_finds_what_is_wrong_and_only_that(page: Page, tmp_path: Path) -> None:
    assert violations(opened(page, tmp_path, GOOD)) == []
    wrong = {rule for _, rule, _ in violations(opened(page, tmp_path, POOR))}
    assert {"label", "color-contrast"} <= wrong
