"""The screenshots of the web app's page, taken by Chromium of a server with the demo's runs.

They are kept in the repository, since not everybody who builds the documentation has a browser.
``make screens`` takes them anew.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser.chromium import Browser, Page  # noqa: E402 - it is beside the tests that use it

from assay.v02.store import Store  # noqa: E402

WIDTH, HEIGHT, PHONE = 1100, 760, 390
# What is recorded before the screenshots are taken: the demo, and a week in use.
_WEEK = "--record week --store runs.db"
_LOGS = "--alerts week/eve.json --events week/conn.log --schedule week/attacks.csv"
MADE = (
    "demo --out demo --store runs.db --quiet",
    "data week --out week --quiet",
    f"monitor week/flows.csv --time time --rule precision>=0.5 --rule recall>=0.5 {_WEEK}",
    f"incidents {_LOGS} {_WEEK}",
)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """A server with the runs of the demo; gives the link to it."""
    assay = [sys.executable, "-P", "-m", "assay"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1793000000"}
    for made in MADE:
        done = subprocess.run(
            [*assay, *made.split()], cwd=folder, env=environment, capture_output=True, check=False
        )
        # 1 is an answer too: a rule is broken.
        if done.returncode > 1:
            raise SystemExit(done.stderr.decode())
    command = [*assay, "serve", "--store", "runs.db", "--port", "0"]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    told = iter(server.stderr or ())
    yield next(line for line in told if line.startswith("Open")).split()[1]
    server.terminate()
    server.communicate()


def take(page: Page, url: str, folder: Path, out: Path) -> None:
    """Every screenshot."""
    with Store(folder / "runs.db", read_only=True) as store:
        new, old = (run.id for run in store.runs(kind="evaluation", limit=2).runs)
    page.open(f"{url}/")
    page.screenshot(out / "runs.png")
    page.open(f"{url}/runs/{new}")
    page.evaluate(
        "document.querySelector('#operating-point').scrollIntoView({behavior: 'instant'})"
    )
    page.screenshot(out / "run.png")
    page.open(f"{url}/compare?run={old}&run={new}")
    page.box("#curves + .courses")
    page.screenshot(out / "compare.png")
    page.open(f"{url}/judge")
    page.choose_file("#file", folder / "demo" / "predictions.csv")
    page.until("document.querySelector('#do')")
    page.screenshot(out / "judge.png")
    upload = page.evaluate("location.pathname").rpartition("/")[2]
    asked = "max-alerts=2000&base-rate=0.1%25&volume=1000000&family=family"
    page.open(f"{url}/threshold/{upload}?{asked}")
    page.screenshot(out / "threshold.png")
    page.open(f"{url}/monitor")
    page.screenshot(out / "monitor.png")
    page.open(f"{url}/incidents")
    page.screenshot(out / "incidents.png")
    page.media(prefers_color_scheme="dark")
    page.open(f"{url}/audit")
    page.click("#example")
    page.until("document.querySelector('.is-inconsistent')")
    page.screenshot(out / "audit-dark.png")
    page.media()
    page.resize(PHONE, HEIGHT)
    page.open(f"{url}/runs/{new}")
    page.screenshot(out / "run-phone.png")


def main(out: Path) -> None:
    """Take them into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        with served(folder) as link:
            browser = Browser()
            page = browser.page()
            page.resize(WIDTH, HEIGHT)
            page.open(link)
            take(page, link.partition("/sign-in")[0], folder, out)
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
