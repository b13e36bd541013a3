"""The web app as a person uses it: a real server, a real browser."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.report import document_of

from . import pages
from .chromium import Browser, Page
from .test_access import AXE, CHECK

pytest.importorskip("uvicorn", reason="the web app needs the extra web")

PREDICTIONS = "label,score,kind\n" + "".join(
    f"{'normal' if i % 4 else 'attack'},{(i * 37 % 100) / 100 + (0 if i % 4 else 0.3):.3f},"
    f"{'dos' if i % 8 else 'scan'}\n"
    for i in range(400)
)
PATHS = (
    *("/", "/?name=flows", "/judge", "/threshold", "/compare", "/gate", "/monitor", "/incidents"),
    *("/audit", "/about"),
)


@dataclass(frozen=True)
class Served:
    """A server, its address, and the runs that it has."""

    url: str
    runs: tuple[str, ...]
    folder: Path


@pytest.fixture(scope="session")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    text = document_of(pages.judged()).to_json()
    with Store(folder / "runs.db") as store:
        runs = [store.record(text, name="flows", tags=["nightly"]).id for _ in range(3)]
        runs.append(store.record(document_of(pages.classes()).to_json(), name="kinds").id)
        for report in (pages.watched(), pages.detected()):
            store.record(document_of(report).to_json(), name="in use")
    (folder / "predictions.csv").write_text(PREDICTIONS, encoding="utf-8")
    (folder / "nonsense.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "assay", "serve", "--store", "runs.db", "--port", "0"]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    line = next(line for line in server.stderr if line.startswith(("Open", "assay: error")))
    link = line.split()[1]
    page = browser.page()
    page.open(link)
    assert page.evaluate("document.title") == "Runs · assay"
    page.close()
    yield Served(link.partition("/sign-in")[0], tuple(runs), folder)
    server.terminate()
    server.communicate(timeout=20)


@pytest.fixture
def quiet(page: Page, served: Served) -> Iterator[Page]:
    """A page that must not complain, nor ask for anything from elsewhere."""
    page.open(f"{served.url}/about")
    yield page
    assert page.errors == []
    assert [url for url in page.requests if not url.startswith(f"{served.url}/")] == []


def test_a_run_is_found_in_the_list_and_its_threshold_moves(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/?name=flows")
    assert quiet.evaluate("document.querySelectorAll('.runs tbody tr').length") == 3
    quiet.evaluate("document.querySelector('#name').value = 'kinds'")
    quiet.evaluate("document.querySelector('#name').dispatchEvent(new Event('change'))")
    quiet.until("location.search.includes('name=kinds') && document.querySelector('.runs tbody')")
    assert quiet.evaluate("document.querySelectorAll('.runs tbody tr').length") == 1
    quiet.open(f"{served.url}/runs/{served.runs[0]}")
    alerts = "document.querySelector('[data-said=alerts]').textContent"
    before = quiet.evaluate(alerts)
    quiet.evaluate("document.querySelector('#threshold').focus()")
    quiet.key("ArrowRight", times=5)
    assert quiet.evaluate(alerts) != before
    quiet.type("#tags", "checked weekly")
    quiet.evaluate("document.querySelector('form[action$=\"/tags\"]').requestSubmit()")
    quiet.until("[...document.querySelectorAll('.tag')].some((t) => t.textContent == 'weekly')")


def must_be_accessible(page: Page) -> None:
    page.send("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    document: dict[str, Any] = page.evaluate(CHECK)
    assert document["passes"] > 15
    assert [each for each in document["found"] if each[0] in ("serious", "critical")] == []
    ids = "[...document.querySelectorAll('[id]')].map((node) => node.id)"
    assert page.evaluate(f"{ids}.length == new Set({ids}).size")


def test_a_watched_detector_is_drawn_with_its_rules(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/monitor")
    seen = "[...document.querySelectorAll('.rules .outcome')].map((node) => node.textContent)"
    assert sorted(quiet.evaluate(seen)) == ["broken", "holds"]
    # Each rule is a line in the drawing of its figure, above or below all that was counted.
    held = "document.querySelectorAll('figure.course .chance').length"
    assert quiet.evaluate(held) == 2
    inside = (
        "[...document.querySelectorAll('figure.course text')].every((text) => {"
        "const [a, b] = [text, text.closest('svg')].map((node) => node.getBoundingClientRect());"
        "return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; })"
    )
    assert quiet.evaluate(inside)
    must_be_accessible(quiet)
    quiet.click(".part h2 a")
    quiet.until("location.pathname.startsWith('/runs/') && document.querySelector('#tags')")
    must_be_accessible(quiet)


def test_incidents_are_drawn_in_time(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/incidents")
    assert "2 of 3 incidents" in quiet.evaluate("document.body.textContent")
    assert quiet.evaluate("document.querySelectorAll('.timeline .missed').length") == 1
    must_be_accessible(quiet)
    quiet.click(".part h2 a")
    quiet.until("location.pathname.startsWith('/runs/') && document.querySelector('.timeline')")
    must_be_accessible(quiet)
    # On a phone the drawing keeps its letters, and is moved by itself.
    quiet.resize(360)
    quiet.open(f"{served.url}/incidents")
    assert quiet.evaluate("document.documentElement.scrollWidth") == 360
    assert quiet.evaluate("document.querySelector('.timeline svg').clientWidth") > 600
    must_be_accessible(quiet)


def test_runs_that_are_ticked_are_compared(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/?name=flows")
    for place in (1, 2):
        quiet.click(f".runs tbody tr:nth-child({place}) input[type=checkbox]")
    quiet.evaluate("document.querySelector('form[action=\"/compare\"]').requestSubmit()")
    quiet.until("location.pathname == '/compare' && document.querySelector('#curves')")
    assert quiet.evaluate("document.querySelectorAll('.course .curve[d*=V]').length") == 4
    must_be_accessible(quiet)
    quiet.open(f"{served.url}/trend?name=flows")
    assert quiet.evaluate("document.querySelectorAll('svg a').length") == 3


def test_a_file_is_sent_judged_and_kept(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/judge")
    quiet.choose_file("#file", served.folder / "predictions.csv")
    quiet.until("document.querySelector('#do')")
    assert quiet.evaluate("document.querySelector('#label').value") == "label"
    assert quiet.evaluate("document.querySelectorAll('tbody tr').length") == 10
    upload = quiet.evaluate("location.pathname").rpartition("/")[2]
    must_be_accessible(quiet)
    quiet.evaluate("document.querySelector('#family').value = 'kind'")
    quiet.type("#threshold", "0.6")
    quiet.evaluate("document.querySelector('form.panel').requestSubmit()")
    quiet.until("location.pathname.startsWith('/results/') && document.querySelector('#made')")
    assert "0.6" in quiet.evaluate("document.querySelector('.said').textContent")
    quiet.type("#keep-name", "sent")
    quiet.evaluate("document.querySelector('.keep').requestSubmit()")
    quiet.until("location.pathname.startsWith('/runs/') && document.querySelector('#tags')")
    # The same file again, for a threshold.
    quiet.open(f"{served.url}/threshold/{upload}?max-fpr=10%25")
    assert "Guaranteed" in quiet.evaluate("document.body.textContent")
    must_be_accessible(quiet)
    alerts = "document.querySelector('[data-said=alerts]').textContent"
    before = quiet.evaluate(alerts)
    quiet.evaluate("document.querySelector('#threshold').focus()")
    quiet.key("ArrowLeft", times=5)
    assert quiet.evaluate(alerts) != before
    for value, words in ((0, "1 alert a day"), (20, "100 alerts a day")):
        quiet.evaluate(f"document.querySelector('#budget').value = {value}")
        quiet.evaluate("document.querySelector('#budget').dispatchEvent(new Event('input'))")
        assert quiet.evaluate("document.querySelector('#budget-words').textContent") == words
    quiet.evaluate("document.querySelector('#budget').dispatchEvent(new Event('change'))")
    quiet.until("location.search.includes('max-alerts=100') && document.querySelector('#made')")


def test_a_file_that_is_dropped_is_sent_too(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/judge")
    quiet.evaluate(
        "(() => { const data = new DataTransfer();"
        f"data.items.add(new File([{json.dumps(PREDICTIONS)}], 'dropped.csv'));"
        "document.getElementById('drop').dispatchEvent("
        "new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); })()"
    )
    quiet.until("document.querySelector('h1')?.textContent.includes('dropped.csv')")


def test_a_table_is_audited_while_one_types(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/audit")
    for key, count in {"tn": "7,743", "fp": "167", "fn": "324", "tp": "6635"}.items():
        quiet.type(f"#{key}", count)
    quiet.type("#numbers tr:nth-child(1) [data-part=key]", "accuracy")
    quiet.type("#numbers tr:nth-child(1) [data-part=value]", "96.70%")
    quiet.until("document.querySelector('#verdict').textContent == 'The number can be right.'")
    quiet.type("#numbers tr:nth-child(2) [data-part=key]", "precision")
    quiet.type("#numbers tr:nth-child(2) [data-part=value]", "95.98%")
    quiet.until("document.querySelector('#verdict').textContent == \"1 of 2 can't be right.\"")
    assert quiet.evaluate("document.querySelector('#numbers .note').textContent") != ""
    share = quiet.evaluate("document.querySelector('#share').href")
    quiet.open("about:blank")
    quiet.open(share)
    quiet.until("document.querySelector('#verdict').textContent == \"1 of 2 can't be right.\"")
    assert quiet.evaluate("document.querySelector('#tn').value") == "7743"
    quiet.type("#tn", "many")
    quiet.until("document.querySelector('#verdict').textContent.includes('no count')")


def test_a_table_that_was_typed_becomes_a_report(quiet: Page, served: Served) -> None:
    quiet.open(f"{served.url}/audit")
    # More digits than a number of a browser has: rounded, the prevalence would be another.
    odd, even = "9007199254740993", "9007199254740991"
    for key, count in {"tn": odd, "fp": "0", "fn": "0", "tp": even}.items():
        quiet.type(f"#{key}", count)
    for row in (1, 2):
        quiet.type(f"#numbers tr:nth-child({row}) [data-part=key]", "accur")
        quiet.type(f"#numbers tr:nth-child({row}) [data-part=value]", "1")
        told = ["no measure", "reported twice"][row - 1]
        quiet.until(f"document.querySelector('#verdict').textContent.includes('{told}')")
    quiet.evaluate("document.querySelector('#report-form').requestSubmit()")
    assert quiet.evaluate("location.pathname") == "/audit"
    for row, key in ((1, "accuracy"), (2, "prevalence")):
        quiet.type(f"#numbers tr:nth-child({row}) [data-part=key]", key)
    quiet.type("#numbers tr:nth-child(2) [data-part=value]", "0.49999999999999994449")
    quiet.until("document.querySelector('#verdict').textContent == 'All 2 can be right.'")
    quiet.evaluate("document.querySelector('#report-form').requestSubmit()")
    quiet.until("location.pathname.startsWith('/results/') && document.querySelector('.faces')")
    must_be_accessible(quiet)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("state", ["5", "null", "[]", '{"reported": 5}', '{"reported": [1, [2]]}'])
def test_a_shared_link_that_is_odd_opens_an_empty_table(
    quiet: Page, served: Served, state: str
) -> None:
    shared = base64.urlsafe_b64encode(state.encode()).decode().rstrip("=")
    quiet.open(f"{served.url}/audit#{shared}")
    assert quiet.evaluate("document.querySelectorAll('#numbers tr').length") == 3
    assert quiet.evaluate("document.querySelector('#tn').value") == ""


def test_what_can_not_be_judged_is_a_page_that_says_why(page: Page, served: Served) -> None:
    page.open(f"{served.url}/judge")
    page.choose_file("#file", served.folder / "nonsense.csv")
    page.until("document.querySelector('#do')")
    page.evaluate("document.querySelector('form.panel').requestSubmit()")
    page.until("document.querySelector('code')?.textContent == 'assay W422'")
    told = page.evaluate("document.body.textContent")
    assert "no column is known to hold the labels" in told
    assert "Traceback" not in told
    page.open(f"{served.url}/runs/0123456789ab")
    assert "W404" in page.evaluate("document.body.textContent")


def test_pages_are_read_without_scripts(page: Page, served: Served) -> None:
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.open(f"{served.url}/runs/{served.runs[0]}")
    page.send("Emulation.setScriptExecutionDisabled", value=False)
    text = page.evaluate("document.body.innerText")
    assert "Catches" in text
    assert "Findings" in text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", [*PATHS, "/trend?name=flows", "/measures", "/runs/RUN"])
def test_axe_finds_nothing_serious_in_the_app(
    quiet: Page, served: Served, path: str, scheme: str
) -> None:
    quiet.media(prefers_color_scheme=scheme)
    quiet.open(served.url + path.replace("RUN", served.runs[0]))
    must_be_accessible(quiet)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [360, 768])
def test_no_page_of_the_app_scrolls_sideways(quiet: Page, served: Served, width: int) -> None:
    quiet.resize(width)
    for path in (*PATHS, "/trend?name=flows", f"/runs/{served.runs[0]}"):
        quiet.open(served.url + path)
        assert quiet.evaluate("document.documentElement.scrollWidth") == width, path


def test_another_site_gets_nothing(page: Page, served: Served, tmp_path: Path) -> None:
    """A page of elsewhere asks in every way it can; the app answers none of it."""
    evil = tmp_path / "evil.html"
    target = f"{served.url}/about"
    evil.write_text(
        f"<!doctype html><title>evil</title><iframe id=f src='{target}'></iframe>"
        f"<form id=g method=post action='{served.url}/runs/{served.runs[0]}/delete'></form>"
        "<script>window.read = 'nothing';"
        f"fetch('{served.url}/runs.json', {{credentials: 'include'}})"
        ".then((a) => a.text()).then((t) => { window.read = t; }).catch(() => {});</script>",
        encoding="utf-8",
    )
    page.open(evil)
    assert page.evaluate("window.read") == "nothing"
    page.evaluate("document.getElementById('g').submit()")
    page.until("document.body.textContent.includes('W403')")
    page.open(f"{served.url}/runs/{served.runs[0]}")
    assert page.evaluate("document.querySelector('#tags') !== null")
