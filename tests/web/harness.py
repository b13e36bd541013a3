"""The app without a network: requests go straight to its ASGI interface."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest.mock import patch

import assay
from assay.cli.app import run
from assay.cli.serve import WORKER
from assay.report import document_of
from assay.web.app import WebAddress, make_app
from assay.web.guards import Access, RequestLimits
from assay.web.site import Settings, Site

PORT = 8710
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


class Harness:
    """One start of the app, with whoever is signed in to it."""

    def __init__(
        self, store: Any = None, worker: tuple[str, ...] = WORKER, **settings: Any
    ) -> None:
        self.limits = settings.pop("limits", RequestLimits())
        self.access = Access(port=PORT)
        made = Settings(WebAddress(port=PORT).origins(), worker, limits=self.limits, **settings)
        self.app = make_app(made, self.access, store)
        self.runner = asyncio.Runner()
        self.pages: Any = self.app._app
        self.site: Site = self.pages.state.site
        self.session = str(self.access.enter(self.access.new_link()))

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.runner.run(self.site.close())
        self.runner.close()

    @property
    def signed_in(self) -> dict[str, str]:
        """What a browser sends from a page of the app."""
        return {
            "host": HOST,
            "cookie": f"{self.access.cookie}={self.session}",
            "origin": ORIGIN,
            "sec-fetch-site": "same-origin",
            "accept": "text/html",
        }

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers={**self.signed_in, **headers})

    def post(self, path: str, body: bytes | Iterable[bytes] = b"", **headers: str) -> Answer:
        return self.ask("POST", path, body, headers={**self.signed_in, **headers})

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Iterable[bytes] = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        return self.runner.run(self.asking(method, path, body, headers))

    async def asking(
        self,
        method: str,
        path: str,
        body: bytes | Iterable[bytes] = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        target, _, query = path.partition("?")
        pieces = iter([body] if isinstance(body, bytes) else body)
        given = self.signed_in if headers is None else headers
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": target,
            "raw_path": target.encode("utf-8", "surrogateescape"),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", PORT),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            piece = next(pieces, None)
            if piece is None:
                return {"type": "http.request", "body": b"", "more_body": False}
            return {"type": "http.request", "body": piece, "more_body": True}

        async def send(message: Any) -> None:
            sent.append(dict(message))

        await self.app(scope, receive, send)
        (start,) = (message for message in sent if message["type"] == "http.response.start")
        content = b"".join(message.get("body", b"") for message in sent)
        told = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], told, content)


def recorded(store: assay.Store, name: str = "flows", shift: float = 0.0) -> str:
    labels = ["attack" if i % 3 == 0 else "normal" for i in range(300)]
    scores = [
        min(1.0, (i * 7 % 100) / 200 + (0.4 - shift if i % 3 == 0 else 0)) for i in range(300)
    ]
    evaluation = assay.evaluate(labels, y_score=scores, base_rate=0.001)
    return store.record(document_of(evaluation).to_json(), name=name).id


def printed(folder: Path, *args: str) -> str:
    """What the command line prints in a folder."""
    out = io.BytesIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.TextIOWrapper(out, "utf-8", write_through=True)),
        contextlib.redirect_stderr(io.StringIO()),
        patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1700000000"}),
    ):
        run(list(args))
        return out.getvalue().decode()


def but_for_its_making(text: str) -> str:
    """A document without its provenance, which says who asked."""
    plain = json.loads(text)
    made = plain.pop("provenance")
    assert made["version"] == assay.__version__
    assert made["command"].startswith("assay ")
    return json.dumps(plain)
