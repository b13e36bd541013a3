"""The app: every route, behind the guards; where it listens, and the link to it."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route, Router

from assay.errors import InputError
from assay.v02.escaping import short, visible
from assay.v02.web import about, comparison, judgements, runs
from assay.v02.web.guards import (
    SIGN_IN,
    TITLES,
    Access,
    App,
    Guards,
    Origins,
    Receive,
    Refusal,
    Scope,
    Send,
)
from assay.v02.web.site import Settings, Site

if TYPE_CHECKING:
    from assay.v02.store import Store


ROUTES = (
    *(*about.ROUTES, *judgements.THRESHOLD_ROUTES, *runs.ROUTES, *comparison.ROUTES),
    *(*runs.HISTORY_ROUTES, *judgements.ROUTES, *judgements.AUDIT_ROUTES),
)

# So much of an address that is not known is told back.
_SHOWN = 200


@dataclass(frozen=True)
class State:
    """What a request finds of the app."""

    site: Site


class Pages:
    """The routes; what they raise goes to the guards, which make a page of it."""

    def __init__(self, site: Site) -> None:
        self.state = State(site)
        self.routes: list[BaseRoute] = list(ROUTES)
        self.router = Router(self.routes, redirect_slashes=False, lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["app"] = self
        try:
            if scope["type"] == "http":
                self._check_query(scope)
            await self.router(scope, receive, send)
        except HTTPException as error:
            status = error.status_code if error.status_code in TITLES else 400
            where = short(visible(f"{scope['method']} {scope['path']}"), _SHOWN)
            raise Refusal(status, f"{where}: {error.detail}.", link="/") from None

    def _check_query(self, scope: Scope) -> None:
        for route in self.routes:
            if isinstance(route, Route) and route.matches(scope)[0] is Match.FULL:
                query = QueryParams(scope["query_string"])
                about.check_query(route.path, scope["method"], query)
                return

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:  # noqa: ARG002 - Starlette's form
        await self.state.site.pool.warm()
        yield
        await self.state.site.close()


def make_app(settings: Settings, access: Access, store: Store | None) -> Guards:
    """The app of one start."""
    site = Site(settings, access, store)
    site.guards = Guards(
        Pages(site), access=access, origins=settings.origins, limits=settings.limits
    )
    return site.guards


# -- where it listens, and under which names it is known -------------------------------------------

LOOPBACK = "127.0.0.1"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class WebAddress:
    """Where the app listens, and the address that people open.

    ``public_url`` is that of a proxy in front, or of this machine as others call it.
    """

    host: str = LOOPBACK
    port: int = 8710
    public_url: str | None = None

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """What people open."""
        return self.public_url or f"http://{_bracketed(self.host)}:{self.port}"

    def origins(self) -> Origins:
        """The names by which requests may call it: the public one, or else those of loopback.

        >>> sorted(WebAddress(port=8000).origins().hosts)
        ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']
        """
        if self.public_url is not None:
            parts = urlsplit(self.public_url)
            return Origins(parts.scheme, frozenset({parts.netloc.lower()}))
        names = {_bracketed(self.host)}
        if self.local:
            names |= {LOOPBACK, "localhost", "[::1]"}
        hosts = {f"{name}:{self.port}" for name in names}
        # Browsers leave out the port that goes without saying.
        hosts |= names if self.port == _PORTS["http"] else set()
        return Origins("http", frozenset(hosts))

    def check(self, *, token: str | None) -> None:
        """Refuse what others could reach without a token, or under a name that nobody knows."""
        if self.public_url is not None:
            parts = urlsplit(self.public_url)
            more = parts.path.strip("/") or parts.query or parts.username
            if parts.scheme not in _PORTS or not parts.hostname or more:
                raise InputError(
                    f"the public URL is {self.public_url!r}; expected scheme and host alone, such "
                    "as https://assay.example.org"
                )
        if self.local and self.public_url is None:
            return
        if token is None:
            raise InputError(
                f"{self.url} can be reached by others, and there is no token. Put one into a file "
                "and name it, token_file=, or set ASSAY_TOKEN"
            )
        if self.public_url is None and self.host in ("0.0.0.0", "::", ""):  # noqa: S104 - refused
            raise InputError(
                f"{self.host} is every address of this machine, so requests could name any host. "
                "Say which one people open, public_url='http://192.0.2.7:8710'"
            )


def listen(address: WebAddress) -> tuple[socket.socket, WebAddress]:
    """A socket that listens, and the address with the port that it got."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # The protocol is named, since only then asyncio sends small answers without waiting.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"{address.host} port {address.port} can't be listened on: {error.strerror}. Name "
            "another port=, or 0 for any that is free"
        ) from error
    listening.listen(1024)
    port = listening.getsockname()[1]
    return listening, WebAddress(address.host, port, address.public_url)


def link(address: WebAddress, access: Access) -> str:
    """The address that signs in one browser."""
    return f"{address.url}{SIGN_IN}?link={access.new_link()}"


def serve(app: App, listening: socket.socket, started: Callable[[], None]) -> None:
    """Serve until somebody ends it."""
    import uvicorn

    class Server(uvicorn.Server):
        """One that tells when it listens, and not before a signal would end it in good order."""

        async def main_loop(self) -> None:
            started()
            await super().main_loop()

    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=32 << 10,
    )
    Server(config).run(sockets=[listening])


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
