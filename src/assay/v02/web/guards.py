"""What stands before every route and method: host, origin, token, size and time of a request.

Whoever comes in has a token or a session; what is refused has a code:

====  ====  ==========================================================
W400  400   the request can't be read
W401  401   nobody has signed in
W403  403   the request comes from another site
W404  404   there is no such page
W405  405   the page does not take this method
W413  413   the body is larger than is taken
W414  414   the address is longer than any of a page
W421  421   the request is for another host
W422  422   what was sent can't be judged
W423  423   the app is read-only
W500  500   an error of ours
W503  503   too much is being done, or this takes too long
====  ====  ==========================================================
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import quote

from assay.errors import AssayError, InputError

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

SIGN_IN = "/sign-in"
UPLOAD = "/judge/files"
# Whoever has not signed in yet has a token to send, and nothing else.
_SIGN_IN_BODY = 4096
READING = ("GET", "HEAD")
_LONGEST_ADDRESS = 8000
# Files of the app itself, and its own addresses; nothing inline, nothing from elsewhere.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    # With no-referrer a browser would hide from which page a form was sent, even one of ours.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"x-frame-options", b"DENY"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_LOG = logging.getLogger("assay.web")


@dataclass(frozen=True)
class RequestLimits:
    """How much one request may take, and how many may be served at once.

    ``body`` and ``upload`` are bytes, ``seconds`` and ``upload_seconds`` times of a request,
    ``judging_seconds`` and ``memory`` those of a judgement, of which ``workers`` run at once and
    ``waiting`` wait. ``rows`` is how many rows a page lists, ``kept`` how many files and results
    are held, and ``disk`` how many bytes files may take together.
    """

    body: int = 8_000_000
    upload: int = 2_000_000_000
    seconds: float = 30.0
    upload_seconds: float = 3600.0
    judging_seconds: float = 600.0
    memory: int = 2_000_000_000
    workers: int = 2
    waiting: int = 16
    requests: int = 256
    rows: int = 50
    kept: int = 64
    disk: int = 10_000_000_000


@dataclass(frozen=True)
class Origins:
    """The names under which the app is known, each with its port, exactly as browsers send them."""

    scheme: str
    hosts: frozenset[str]

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names this app: no patterns, no missing port."""
        return host.lower() in self.hosts

    def knows(self, origin: str) -> bool:
        """Whether an Origin header names this app."""
        scheme, separator, host = origin.partition("://")
        return bool(separator) and scheme == self.scheme and self.knows_host(host)


class Guards:
    """An ASGI app in front of another, through which only what is allowed comes."""

    def __init__(
        self, app: App, *, access: Access, origins: Origins, limits: RequestLimits
    ) -> None:
        self._app = app
        self._access = access
        self._origins = origins
        self._limits = limits
        self.now = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Answer(send, scope)
        self.now += 1
        try:
            self._check(scope)
            largest = {UPLOAD: self._limits.upload, SIGN_IN: _SIGN_IN_BODY}
            limit = largest.get(scope["path"], self._limits.body)
            body = _Body(receive, limit, _headers(scope).get("content-length"))
            long = scope["path"] == UPLOAD
            seconds = self._limits.upload_seconds if long else self._limits.seconds
            async with asyncio.timeout(seconds):
                await self._app(scope, body, answer)
        except Refusal as refusal:
            await answer.refuse(refusal)
        except AssayError as error:
            await answer.refuse(Refusal(422, str(error), "Change what the message names."))
        except TimeoutError:
            await answer.refuse(
                Refusal(503, "The request took too long.", "Try again, or ask for less.")
            )
        except Exception:  # noqa: BLE001 - one page that fails must not end the app
            # The last resort: whoever runs the app finds it in the log, nobody else sees it.
            _LOG.exception("%s %s", scope["method"], scope["path"])
            await answer.refuse(
                Refusal(500, "Something here went wrong.", "The log of the app tells where.")
            )
        finally:
            self.now -= 1

    def _check(self, scope: Scope) -> None:
        headers = _headers(scope)
        self._check_host(scope, headers)
        self._check_site(scope, headers)
        asked = len(scope["path"]) + len(scope["query_string"])
        if asked > _LONGEST_ADDRESS:
            raise Refusal(
                414,
                f"The address has {asked:,} characters; at most {_LONGEST_ADDRESS:,} are read.",
                "Ask for less at once.",
            )
        if self.now > self._limits.requests:
            raise Refusal(
                503,
                f"{self._limits.requests} requests are being answered already.",
                "Try again in a moment.",
            )
        if scope["path"] == SIGN_IN:
            return
        authorization = headers.get("authorization", "")
        cookie = headers.get("cookie", "")
        if not self._access.admits(authorization=authorization, cookie=cookie):
            raise Refusal(
                401,
                "This app answers only those who have signed in.",
                "Open the link that assay serve printed when it started, sign in with its token at "
                f"{SIGN_IN}, or send the token: Authorization: Bearer TOKEN.",
                link=SIGN_IN,
            )
        same_origin = headers.get("origin") or headers.get("sec-fetch-site") == "same-origin"
        if (
            scope["method"] not in READING
            and not same_origin
            and not self._access.by_token(authorization)
        ):
            raise Refusal(
                403,
                "The browser does not say from which page this was sent.",
                "Use a browser that sends Origin, or the token in a header.",
            )

    def _check_host(self, scope: Scope, headers: dict[str, str]) -> None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._origins.knows_host(headers["host"]):
            named = headers.get("host", "none")[:200]
            raise Refusal(
                421,
                f"The request is for the host {named!r}, and this app is "
                f"{' or '.join(sorted(self._origins.hosts))}.",
                "Open one of these, or start the app with --public-url.",
            )

    def _check_site(self, scope: Scope, headers: dict[str, str]) -> None:
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "none")
        # Another port of this machine is the same site, and yet somebody else's page.
        if (origin is None or self._origins.knows(origin)) and site in ("same-origin", "none"):
            return
        link = ""
        if scope["method"] in READING and headers.get("sec-fetch-mode") == "navigate":
            link = "/" + quote(scope["path"].lstrip("/\\"), safe="/")
            link += "?" * bool(scope["query_string"]) + scope["query_string"].decode("latin-1")
        raise Refusal(
            403,
            "The request was made by a page of another site or port.",
            "Open the address from the app itself, or type it.",
            link=link,
        )


class _Body:
    """What a client sends, up to a limit."""

    def __init__(self, receive: Receive, limit: int, length: str | None) -> None:
        self._receive = receive
        self._limit = limit
        self._read = 0
        if length is not None and (not length.isdecimal() or int(length) > limit):
            raise self._too_large()

    async def __call__(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > self._limit:
            raise self._too_large()
        return message

    def _too_large(self) -> Refusal:
        return Refusal(
            413,
            f"The body is larger than {self._limit:,} bytes, which is what is taken here.",
            "Send less, or judge the file with the command line.",
        )


class _Answer:
    """What goes back, with the headers that every answer has."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self._send = send
        self._scope = scope
        self._started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            message["headers"] = [*message.get("headers", []), *HEADERS]
            names = {name for name, _ in message["headers"]}
            if b"content-security-policy" not in names:
                message["headers"].append((b"content-security-policy", PAGE_POLICY.encode()))
            if b"cache-control" not in names:
                message["headers"].append((b"cache-control", b"no-store"))
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal; one that comes in the middle of an answer ends it."""
        if self._started:
            raise ConnectionAbortedError(refusal.message)
        headers = _headers(self._scope)
        page = not self._scope["path"].endswith(".json") and "text/html" in headers.get(
            "accept", "text/html"
        )
        content = refusal.as_page() if page else refusal.as_json()
        kind = b"text/html; charset=utf-8" if page else b"application/json"
        told = [
            (b"content-type", kind),
            (b"content-length", str(len(content)).encode()),
            (b"content-security-policy", POLICY.encode()),
        ]
        if refusal.status == 401:
            told.append((b"www-authenticate", b"Bearer"))
        if refusal.status == 503:
            told.append((b"retry-after", b"5"))
        if refusal.status == 413:
            # Whatever else is sent is not read.
            told.append((b"connection", b"close"))
        await self({"type": "http.response.start", "status": refusal.status, "headers": told})
        body = b"" if self._scope["method"] == "HEAD" else content
        await self._send({"type": "http.response.body", "body": body})


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


# -- who may come in: a token for programs, a link that works once for browsers --------------------

# The variable of the environment that may hold a token.
TOKEN = "ASSAY_TOKEN"  # noqa: S105 - its name, not its value
# 256 bits; a token that somebody chose needs at least so many letters.
_BYTES = 32
SHORTEST = 16
_SESSIONS = 1000
_BEARER_PREFIX = "bearer "


class Access:
    """The token, the link and the sessions of one start of the app; the next start has others.

    A token may be given, as for a team behind a proxy; sessions are new all the same. A link is
    good for one session. Nothing is kept but digests, and they are compared in constant time.

    >>> access = Access(port=8000)
    >>> session = access.enter(access.new_link())
    >>> access.admits(cookie=f"assay-8000={session}")
    True
    """

    def __init__(self, *, port: int, token: str | None = None, secure: bool = False) -> None:
        if token is not None and len(token) < SHORTEST:
            raise InputError(
                f"the token has {len(token)} letters, and at least {SHORTEST} are needed; "
                f"make one with: python3 -c 'import secrets; print(secrets.token_urlsafe())'"
            )
        self.token = token or secrets.token_urlsafe(_BYTES)
        # Cookies are shared by all ports of a host, so the name tells them apart.
        self.cookie = f"assay-{port}"
        self.secure = secure
        self._links: deque[bytes] = deque(maxlen=_SESSIONS)
        self._sessions: deque[bytes] = deque(maxlen=_SESSIONS)

    def new_link(self) -> str:
        """The secret of a link that lets one browser in."""
        secret = secrets.token_urlsafe(_BYTES)
        self._links.append(_digest(secret))
        return secret

    def enter(self, secret: str) -> str | None:
        """A session for whoever has a link or the token; None for others.

        The link is used up.
        """
        link = _matching_digest(secret, self._links)
        if link is not None:
            self._links.remove(link)
        elif not hmac.compare_digest(_digest(secret), _digest(self.token)):
            return None
        session = secrets.token_urlsafe(_BYTES)
        self._sessions.append(_digest(session))
        return session

    def leave(self, cookie: str) -> None:
        """End the session of a cookie header."""
        session = _matching_digest(self._session(cookie), self._sessions)
        if session is not None:
            self._sessions.remove(session)

    def admits(self, *, authorization: str = "", cookie: str = "") -> bool:
        """Whether the headers hold the token or a session."""
        return self.by_token(authorization) or (
            _matching_digest(self._session(cookie), self._sessions) is not None
        )

    def by_token(self, authorization: str) -> bool:
        """Whether the header holds the token, which no browser sends by itself."""
        if not authorization.lower().startswith(_BEARER_PREFIX):
            return False
        given = authorization[len(_BEARER_PREFIX) :].strip()
        return hmac.compare_digest(_digest(given), _digest(self.token))

    def set_cookie(self, session: str) -> str:
        """The header that gives a browser its session."""
        secure = "; Secure" if self.secure else ""
        return f"{self.cookie}={session}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def _session(self, cookie: str) -> str:
        try:
            morsel = SimpleCookie(cookie).get(self.cookie)
        except CookieError:
            return ""
        return "" if morsel is None else morsel.value


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _matching_digest(secret: str, digests: deque[bytes]) -> bytes | None:
    """The digest of a secret, if it is one of these; all are looked at, whichever it is."""
    wanted, matching = _digest(secret), None
    for digest in digests:
        if hmac.compare_digest(wanted, digest):
            matching = digest
    return matching


# -- why a request is not answered -----------------------------------------------------------------

STYLE = (
    ":root{color-scheme:light dark}"
    "body{max-width:40em;margin:4em auto;padding:0 1.2em;"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "code{font-family:ui-monospace,Menlo,Consolas,monospace}"
)
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
# Of pages that stand alone: their own style by its hash, and links.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)

TITLES = {
    400: "This request can't be read",
    401: "Sign in first",
    403: "This request comes from another site",
    404: "There is no such page",
    405: "This page does not take that",
    413: "That is too large",
    414: "This address is too long",
    421: "This is another host",
    422: "This can't be judged",
    423: "This app is read-only",
    500: "An error of ours",
    503: "Not now",
}


class Refusal(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, message: str, remedy: str = "", *, link: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.remedy = remedy
        self.link = link

    @property
    def code(self) -> str:
        """The code that stands for it, in pages and in JSON."""
        return f"W{self.status}"

    def as_json(self) -> bytes:
        """The refusal for programs."""
        error = {"code": self.code, "message": self.message, "remedy": self.remedy}
        return (json.dumps({"error": error}, indent=2) + "\n").encode()

    def as_page(self) -> bytes:
        """The refusal for people; it needs no other file, since those are not given out either."""
        # Whoever is known here finds back; others are told what to do.
        back = "" if self.status in (401, 403, 421) else '<p><a href="/">All runs</a></p>'
        onward = f'<p><a href="{escape(self.link)}">Go on to the page</a></p>' if self.link else ""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{TITLES[self.status]}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
            f"<p><code>assay {self.code}</code></p>\n<h1>{TITLES[self.status]}</h1>\n"
            f"<p>{escape(self.message)}</p>\n<p>{escape(self.remedy)}</p>\n{onward or back}\n"
            "</main>\n</body>\n</html>\n"
        ).encode()
