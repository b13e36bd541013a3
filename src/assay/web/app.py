"""The app: every route, behind the guards."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.web import audits, judging, reference, runs, thresholds
from assay.web.access import Access
from assay.web.guards import Guards
from assay.web.refusals import TITLES, Refusal
from assay.web.site import Settings, Site

if TYPE_CHECKING:
    from assay.store import Store

ROUTES = (*reference.ROUTES, *runs.ROUTES, *judging.ROUTES, *thresholds.ROUTES, *audits.ROUTES)


def make_app(settings: Settings, access: Access, store: Store | None) -> Guards:
    """The app of one start."""
    site = Site(settings, access, store)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001 - the form is Starlette's
        await site.pool.warm()
        yield
        await site.close()

    app = Starlette(
        routes=list(ROUTES), lifespan=lifespan, exception_handlers={HTTPException: _refused}
    )
    app.state.site = site
    app.router.redirect_slashes = False
    guards = Guards(app, access=access, origins=settings.origins, limits=settings.limits)
    site.guards = guards
    return guards


async def _refused(request: Request, error: Exception) -> Response:
    """What Starlette refuses, in the words of the app."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for nothing else
    status = error.status_code if error.status_code in TITLES else 400
    remedy = "The runs are at /." if status == 404 else ""
    raise Refusal(status, f"{request.method} {request.url.path}: {error.detail}.", remedy, link="/")
