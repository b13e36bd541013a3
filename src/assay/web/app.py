"""The app: every route, behind the guards."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Router

from assay.web import audits, comparison, histories, judging, reference, runs, thresholds
from assay.web.access import Access
from assay.web.guards import Guards, Receive, Scope, Send
from assay.web.refusals import TITLES, Refusal
from assay.web.site import Settings, Site

if TYPE_CHECKING:
    from assay.store import Store

ROUTES = (
    *(*reference.ROUTES, *thresholds.ROUTES, *runs.ROUTES, *comparison.ROUTES),
    *(*histories.ROUTES, *judging.ROUTES, *audits.ROUTES),
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
            await self.router(scope, receive, send)
        except HTTPException as error:
            status = error.status_code if error.status_code in TITLES else 400
            where = f"{scope['method']} {scope['path']}"[:_SHOWN]
            raise Refusal(status, f"{where}: {error.detail}.", link="/") from None

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
