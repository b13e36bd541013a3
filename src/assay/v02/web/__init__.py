"""The web app: pages and their JSON twins, behind guards; and the client that asks it from Python.

The client is here, and has enough in the standard library. All the rest is imported when
``assay serve`` asks for it, and needs the extra ``web``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.v02.report import Document

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BETWEEN_LOOKS = 0.1


class _Stay(HTTPRedirectHandler):
    """Follows nothing: the token must not travel to another address."""

    def redirect_request(self, *args: Any, **given: Any) -> None:  # noqa: ARG002 - urllib's form
        return None


class Client:
    """Whoever has the token of an app that ``assay serve`` started.

    ``url`` is the address that people open, ``token`` what they sign in with. What the app refuses
    is an :class:`assay.errors.InputError` with its code, message and remedy.
    """

    def __init__(self, url: str, token: str, *, seconds: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"the address is {url!r}; expected one such as http://127.0.0.1:8710")
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._token = token
        self._seconds = seconds
        # A proxy of the environment has no business with this machine.
        direct = [ProxyHandler({})] if parts.hostname in _LOOPBACK else []
        self._opener = build_opener(_Stay, *direct)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def runs(self, **filters: str) -> list[dict[str, Any]]:
        """Runs, newest first, by ``name``, ``kind``, ``tag``, ``gate`` and ``search``."""
        runs: list[dict[str, Any]] = []
        more = True
        while more:
            # They come a page at a time.
            before = {"before": runs[-1]["id"]} if runs else {}
            page = self._json("GET", f"/runs.json?{urlencode({**filters, **before})}")
            runs += page["runs"]
            more = page["more"] and bool(page["runs"])
        return runs

    def document(self, run: str) -> Document:
        """The document of a run."""
        return self._document("GET", f"/runs/{quote(run, safe='')}.json")

    def record(self, document: Document | str, *, name: str, tags: Sequence[str] = ()) -> str:
        """Keep a document as a run, and give the id of the run."""
        text = document if isinstance(document, str) else document.to_json()
        query = urlencode([("name", name), *(("tag", tag) for tag in tags)])
        return str(self._json("POST", f"/runs.json?{query}", text.encode())["id"])

    def audit(self, claims: str | Mapping[str, Any]) -> Document:
        """The audit of claims, as TOML or JSON text or as plain values."""
        text = claims if isinstance(claims, str) else json.dumps(claims)
        return self._document("POST", "/audit.json", text.encode())

    def evaluate(self, path: str | Path, **options: str) -> Document:
        """Judge a file there; options are those of the page, as ``label`` and ``base_rate``."""
        return self._judged("evaluate", Path(path), options)

    def check(self, path: str | Path, **options: str) -> Document:
        """Look for leaks in a file there."""
        return self._judged("check", Path(path), options)

    def _judged(self, command: str, path: Path, options: Mapping[str, str]) -> Document:
        with path.open("rb") as file:
            size = {"Content-Length": str(path.stat().st_size)}
            sent = self._json("POST", f"/judge/files?{urlencode({'name': path.name})}", file, size)
        fields = {name.replace("_", "-"): value for name, value in options.items()}
        body = urlencode({**fields, "do": command}).encode()
        job = self._json("POST", sent["page"], body)["job"]
        while (state := self._json("GET", job))["state"] == "running":
            time.sleep(_BETWEEN_LOOKS)
        if state["result"] is None:
            raise InputError(state["error"])
        return self._document("GET", f"{state['result']}.json")

    def _document(self, method: str, path: str, body: Any = None) -> Document:
        from assay.v02.report import Document

        return Document.from_json(self._ask(method, path, body).decode())

    def _json(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        return json.loads(self._ask(method, path, body, headers))

    def _ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        given = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        kind = {"Content-Type": "application/octet-stream"} if body is not None else {}
        request = Request(  # noqa: S310 - http or https, as was checked
            f"{self.url}{path}", body, {**given, **kind, **(headers or {})}, method=method
        )
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                content: bytes = answer.read()
                return content
        except HTTPError as refused:
            with refused:
                raise InputError(_refusal_text(refused)) from None
        except URLError as error:
            raise InputError(f"{self.url} does not answer: {error.reason}") from error


def _refusal_text(refused: HTTPError) -> str:
    try:
        error = json.loads(refused.read())["error"]
    except (ValueError, KeyError, TypeError):
        return f"{refused.url} answers with status {refused.code}; is it an assay app?"
    return f"{error['code']}: {error['message']} {error['remedy']}".strip()
