"""The threshold workbench: constraints typed or moved, what holds here and what can be promised."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from assay.report import Document
from assay.report.sections import Panel
from assay.web.judging import OPTIONS, THRESHOLD_OPTIONS, options, previewed
from assay.web.pages import FACES, face, page, report_page, suffix_of
from assay.web.refusals import Refusal
from assay.web.runs import kept_run
from assay.web.site import Site, Upload, new_id, safe_name

if TYPE_CHECKING:
    from assay.store import Run

# Enough for an interval while one tries; the command line draws more.
_RESAMPLES = 200
_UNMET = 422


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
    given = dict(request.query_params)
    suffix = suffix_of(request)
    form: dict[str, Any] = {
        "upload": upload,
        "preview": preview,
        "given": given,
        "scripts": ("threshold.js",),
    }
    trail = (("/threshold", "Threshold"),)
    try:
        text = await _chosen(site, upload, given)
    except Refusal as refusal:
        if suffix or refusal.status != _UNMET:
            raise
        # Whoever types goes on typing.
        shown = page("unmet.html", request, upload.name, refusal=refusal, trail=trail, **form)
        shown.status_code = _UNMET
        return shown
    if suffix == ".json":
        return Response(text, media_type="application/json")
    if suffix:
        return await site.read(lambda: face(Document.from_json(text), suffix, f"threshold{suffix}"))
    there = await _at_the_choice(site, upload, given, text)
    return await site.read(
        lambda: report_page(
            request,
            Document.from_json(text),
            live=None if there is None else _panel(there),
            faces=request.url.path,
            query=request.url.query,
            trail=trail,
            template="workbench.html",
            **form,
        )
    )


async def of_run(request: Request) -> Response:
    """Choose on the rows that were kept with a run."""
    site: Site = request.app.state.site
    run = await site.read(kept_run, request)
    upload = await site.read(_rows_file, site, run)
    site.hold(upload)
    return RedirectResponse(f"/threshold/{upload.id}", 303)


def _rows_file(site: Site, run: Run) -> Upload:
    """The labels and scores of a run, as a file that the command line reads."""
    rows = run.rows()
    if rows is None or len(rows.scores) != 1:
        raise Refusal(
            422,
            "The run has no rows with the scores of one model.",
            "Record it with --keep-rows, or send its file.",
            link=f"/runs/{run.id}",
        )
    (score,) = rows.scores.values()
    upload = Upload(new_id(), safe_name(f"{run.name}-{run.id}.npz"), site.new_folder())
    labels = np.array(rows.truth.names)[rows.truth.codes]
    np.savez(upload.path, label=labels, score=score)
    upload.size = upload.path.stat().st_size
    return upload


async def _chosen(site: Site, upload: Upload, fields: dict[str, str]) -> str:
    args = options(fields, THRESHOLD_OPTIONS)
    answer = await site.run(
        *("threshold", upload.name, *args, f"--resamples={_RESAMPLES}", "--format=json"),
        folder=upload.folder,
        seconds=site.limits.seconds - 2,
    )
    return answer.out


def _panel(evaluation: str) -> Panel | None:
    """The panel of an evaluation, without its intervals at the threshold that these rows chose.

    They would take it as given; those of the choice stand in the report.
    """
    panel = Document.from_json(evaluation).report.panel
    return None if panel is None else replace(panel, shown_at={}, deployed={})


async def _at_the_choice(
    site: Site, upload: Upload, fields: dict[str, str], choice: str
) -> str | None:
    """The evaluation at the threshold that was chosen, from which on it can be moved."""
    chosen = json.loads(choice)
    point = chosen["guaranteed"] or chosen["empirical"]
    if point is None or point["threshold"] is None:
        return None
    args = options(fields, OPTIONS["evaluate"])
    answer = await site.run(
        *("evaluate", upload.name, *args, f"--threshold={point['threshold']!r}", "--format=json"),
        folder=upload.folder,
        seconds=site.limits.seconds / 2,
    )
    return answer.out


ROUTES = (
    Route("/threshold", files),
    Route("/runs/{run}/threshold", of_run, methods=["POST"]),
    *(Route(f"/threshold/{{upload}}{suffix}", workbench) for suffix in (*FACES, "")),
)
