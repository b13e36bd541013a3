"""The threshold workbench: constraints typed or moved, what holds here and what can be promised."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.report import Document
from assay.web.judging import THRESHOLD_OPTIONS, options, previewed
from assay.web.pages import FACES, face, page, report_page
from assay.web.site import Site, Upload

# Enough for an interval while one tries; the command line draws more.
_RESAMPLES = 200


async def files(request: Request) -> Response:
    """The files that a threshold can be chosen on."""
    site: Site = request.app.state.site
    uploads = list(site.uploads.values())[::-1]
    return page("thresholds.html", request, "Threshold workbench", uploads=uploads)


async def workbench(request: Request) -> Response:
    """Constraints, and the threshold that they lead to."""
    site: Site = request.app.state.site
    upload = site.uploads.find(request.path_params["upload"])
    preview = await previewed(site, upload)
    text = await _chosen(site, upload, dict(request.query_params))
    suffix = next((s for s in FACES if request.url.path.endswith(s)), "")
    if suffix == ".json":
        return Response(text, media_type="application/json")
    if suffix:
        return await site.read(lambda: face(Document.from_json(text), suffix, f"threshold{suffix}"))
    return await site.read(
        lambda: report_page(
            request,
            Document.from_json(text),
            faces=request.url.path,
            query=request.url.query,
            trail=(("/threshold", "Threshold"),),
            upload=upload,
            preview=preview,
            given=dict(request.query_params),
            template="workbench.html",
            scripts=("threshold.js",),
        )
    )


async def _chosen(site: Site, upload: Upload, fields: dict[str, str]) -> str:
    args = options(fields, THRESHOLD_OPTIONS)
    answer = await site.run(
        *("threshold", upload.name, *args, f"--resamples={_RESAMPLES}", "--format=json"),
        folder=upload.folder,
        seconds=site.limits.seconds - 2,
    )
    return answer.out


ROUTES = (
    Route("/threshold", files),
    *(Route(f"/threshold/{{upload}}{suffix}", workbench) for suffix in (*FACES, "")),
)
