"""A small client of the DevTools protocol, over the pipe that Chromium reads and writes.

The browser is started with two pipes (its descriptors 3 and 4) on which messages are JSON texts
that end with a zero byte. One browser holds many pages, each with a session of its own.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOUND = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
MISSING = "Chromium is not on PATH; on Debian, apt-get install chromium"

# Moves the ends of the pipes to 3 and 4 before the browser takes the place of this process.
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
)
_PATIENCE = 60.0


class BrowserError(RuntimeError):
    """The browser answered with an error, or not at all."""


class Browser:
    """A headless Chromium of its own, gone with its folder when it is closed."""

    def __init__(self) -> None:
        if FOUND is None:
            raise BrowserError(MISSING)
        self._home = tempfile.TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # Only a container's root has to do without the sandbox.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START,
                str(to_browser),
                str(from_browser),
                FOUND,
                *_FLAGS,
                *sandbox,
                f"--user-data-dir={self._home.name}/profile",
            ],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._buffer = b""
        self._answers: dict[int, dict[str, Any]] = {}
        self._pages: dict[str, Page] = {}

    def post(self, method: str, session: str | None = None, **params: Any) -> int:
        """Call a method, and give the number that its answer will have."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._number

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Call a method and wait for its answer; events that come meanwhile go to their pages."""
        number = self.post(method, session, **params)
        deadline = time.monotonic() + _PATIENCE
        while number not in self._answers:
            self.read(deadline - time.monotonic(), f"an answer to {method}")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        payload: dict[str, Any] = answer["result"]
        return payload

    def read(self, seconds: float, waiting_for: str) -> None:
        """Take in what the browser says next."""
        ready, _, _ = select.select([self._in], [], [], max(seconds, 0))
        chunk = os.read(self._in, 1 << 20) if ready else b""
        if not chunk:
            raise BrowserError(f"the browser is silent or gone, waiting for {waiting_for}")
        *messages, self._buffer = (self._buffer + chunk).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self._pages:
                self._pages[message["sessionId"]].hear(message["method"], message["params"])

    def page(self) -> Page:
        """A new empty page."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, target, attached["sessionId"])
        self._pages[page.session] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        return page

    def close(self) -> None:
        """Ask the browser to go, and wait until it has."""
        try:
            self.send("Browser.close")
            self._process.wait(10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            os.close(self._out)
            os.close(self._in)
            self._home.cleanup()


@dataclass(eq=False)
class Page:
    """One page, and all that it complained about, asked for or popped up."""

    browser: Browser
    target: str
    session: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    loaded: bool = False
    loader: str = ""

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method in the session of this page."""
        return self.browser.send(method, self.session, **params)

    def hear(self, method: str, params: dict[str, Any]) -> None:
        """Note an event."""
        match method:
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.errors.append(str([a.get("value", a) for a in params["args"]]))
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                shown = details.get("exception", {}).get("description", "")
                self.errors.append(f"{details['text']} {shown}")
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.errors.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.dialogs.append(params["message"])
                # Not waiting: the page stands still until its dialog is gone.
                self.browser.post("Page.handleJavaScriptDialog", self.session, accept=False)
            case "Page.frameNavigated" if "parentId" not in params["frame"]:
                self.loader, self.loaded = params["frame"]["loaderId"], False
            case "Page.loadEventFired":
                self.loaded = True

    def open(self, path: Path | str) -> Page:
        """Open a file or an address, and wait until it is loaded."""
        self.errors.clear()
        self.requests.clear()
        self.loaded = False
        address = path if isinstance(path, str) else path.as_uri()
        # The page before may still tell that it was loaded.
        loader = self.send("Page.navigate", url=address).get("loaderId", self.loader)
        deadline = time.monotonic() + _PATIENCE
        while self.loader != loader or not self.loaded:
            self.browser.read(deadline - time.monotonic(), f"{address} to load")
        return self

    def until(self, condition: str) -> None:
        """Wait until a JavaScript expression is true, over changes of the page too."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            # While the page changes there is nothing to ask.
            with contextlib.suppress(BrowserError):
                if self.evaluate(f"document.readyState == 'complete' && !!({condition})"):
                    return
            if time.monotonic() > deadline:
                raise BrowserError(f"waiting for {condition}: {self.evaluate('location.href')}")
            time.sleep(0.02)

    def choose_file(self, selector: str, path: Path) -> None:
        """Give a file to a field."""
        node = self.send("Runtime.evaluate", expression=f"document.querySelector('{selector}')")
        object_ = node["result"]["objectId"]
        self.send("DOM.setFileInputFiles", files=[str(path)], objectId=object_)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as plain data."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    # -- what a reader does ------------------------------------------------------------------------

    def box(self, selector: str) -> dict[str, float]:
        """Where an element lies on the screen, scrolled into view."""
        answer: dict[str, float] = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const {x, y, width, height} = e.getBoundingClientRect();"
            "return {x, y, width, height}; })()"
        )
        return answer

    def mouse(self, kind: str, x: float, y: float, *, held: bool = False) -> None:
        """Press, move or release the left button."""
        self.send(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left" if held or kind != "mouseMoved" else "none",
            buttons=1 if held or kind == "mousePressed" else 0,
            clickCount=1,
        )

    def drag(self, start: tuple[float, float], *stops: tuple[float, float]) -> None:
        """Press at one place, go through others, release at the last."""
        self.mouse("mousePressed", *start)
        for stop in stops:
            self.mouse("mouseMoved", *stop, held=True)
        self.mouse("mouseReleased", *(stops[-1] if stops else start))

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        box = self.box(selector)
        self.drag((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))

    def key(self, key: str, times: int = 1) -> None:
        """Press a named key, such as ArrowLeft."""
        codes = {"End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39}
        codes |= {"ArrowDown": 40, "PageUp": 33, "PageDown": 34, "Tab": 9, "Enter": 13}
        event = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        for _ in range(times):
            self.send("Input.dispatchKeyEvent", type="rawKeyDown", **event)
            self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, selector: str, text: str) -> None:
        """Replace what is in a field, and leave it."""
        chosen = json.dumps(selector)
        self.evaluate(f"document.querySelector({chosen}).focus()")
        self.evaluate(f"document.querySelector({chosen}).select()")
        self.send("Input.insertText", text=text)
        self.evaluate(f"document.querySelector({chosen}).blur()")

    # -- how it looks ------------------------------------------------------------------------------

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page another size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, kind: str = "", **features: str) -> None:
        """Emulate a medium and its features, such as prefers_color_scheme='dark'."""
        wanted = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.send("Emulation.setEmulatedMedia", media=kind, features=wanted)

    def screenshot(self, path: Path, *, beyond: bool = False) -> None:
        """What is seen of the page as a PNG."""
        answer = self.send("Page.captureScreenshot", captureBeyondViewport=beyond)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        """The page as it would be printed."""
        answer = self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """Close the page."""
        self.browser.send("Target.closeTarget", targetId=self.target)
