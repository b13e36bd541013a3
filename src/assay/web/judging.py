"""Judge a file: sent as it is, its columns recognised and corrected, the report when it is done."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.report import Document
from assay.web.guards import UPLOAD
from assay.web.pages import FACES, face, page, report_page, suffix_of
from assay.web.refusals import Refusal
from assay.web.site import Job, Result, Site, Upload, new_id

# What a form may say of columns and of judging, by command; each is an option of it.
COLUMNS = ("label", "score", "decision", "family", "time", "cluster", "weight", "count")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "evaluate": (*COLUMNS, "positive", "threshold", "base-rate", "volume"),
    "check": ("label", "family", "time", "positive", "base-rate"),
}
CONSTRAINTS = ("max-far", "max-fpr", "min-dr", "max-alerts", "cost-fp", "cost-fn")
THRESHOLD_OPTIONS = (
    *("label", "score", "family", "cluster", "weight", "count", "positive"),
    *("base-rate", "volume", "confidence", *CONSTRAINTS),
)
_LONGEST = 1000
_FIELDS = 100
# What a command says once it has kept its result.
_RECORDED = re.compile(r"^recorded run ([0-9a-f]+) of ", re.MULTILINE)


async def judge_form(request: Request) -> Response:
    """Where a file is dropped."""
    site: Site = request.app.state.site
    return page(
        "judge.html",
        request,
        "Judge a file",
        scripts=("judge.js",),
        uploads=list(site.uploads.values())[::-1],
        largest=site.limits.upload,
    )


async def send_file(request: Request) -> Response:
    """Take a file, which is the body as it is."""
    site: Site = request.app.state.site
    upload = await site.receive(request.query_params.get("name", ""), request.stream())
    told = {"id": upload.id, "name": upload.name, "bytes": upload.size}
    return JSONResponse({**told, "page": f"/judge/{upload.id}"}, 201)


async def columns_form(request: Request) -> Response:
    """What the columns are taken for, the first rows, and what is to be done."""
    site: Site = request.app.state.site
    upload = site.uploads.find(request.path_params["upload"])
    return page(
        "columns.html",
        request,
        upload.name,
        scripts=("judge.js",),
        trail=(("/judge", "Judge a file"),),
        upload=upload,
        preview=await previewed(site, upload),
        columns=COLUMNS,
        kept=site.store is not None and not site.settings.read_only,
    )


async def columns_json(request: Request) -> Response:
    """The same for programs."""
    site: Site = request.app.state.site
    return JSONResponse(await previewed(site, site.uploads.find(request.path_params["upload"])))


async def previewed(site: Site, upload: Upload) -> dict[str, Any]:
    """The first rows of a file, and what its columns may be."""
    if upload.preview is None:
        answer = await site.run(
            "preview", upload.name, folder=upload.folder, seconds=site.limits.seconds / 2
        )
        upload.preview = json.loads(answer.out)
    return upload.preview


async def judge(request: Request) -> Response:
    """Begin to judge a file that was sent."""
    site: Site = request.app.state.site
    upload = site.uploads.find(request.path_params["upload"])
    fields = await form(request)
    command = fields.get("do", "evaluate")
    if command not in OPTIONS:
        raise Refusal(422, f"There is no judgement {command!r}.", f"Say {' or '.join(OPTIONS)}.")
    args = [command, upload.name, *options(fields, OPTIONS[command]), "--format=json"]
    name = fields.get("record", "").strip()
    if name:
        site.must_write()
        keeping = ["--keep-rows"] if fields.get("keep-rows") and command == "evaluate" else []
        args += [f"--record={name}", f"--store={site.settings.place}", *keeping]
    job = Job(new_id(), upload.name, back=f"/judge/{upload.id}")

    async def judged(job: Job) -> str:
        answer = await site.run(*args, folder=upload.folder, told=job.told)
        recorded = _RECORDED.search("\n".join(answer.said))
        if recorded is not None:
            site.stale()
            return f"/runs/{recorded[1]}"
        return site.present(Result(upload.name, answer.out, ("/judge", "Judge a file")))

    site.start(job, judged)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"job": f"/jobs/{job.id}.json"}, 202)
    return RedirectResponse(f"/jobs/{job.id}", 303)


async def job_page(request: Request) -> Response:
    """How far a judgement is; what came of it once it is done."""
    site: Site = request.app.state.site
    job = site.jobs.find(request.path_params["job"])
    if job.result is not None:
        return RedirectResponse(job.result, 303)
    if job.refusal is not None:
        told = job.refusal
        raise Refusal(told.status, told.message, told.remedy, link=job.back)
    return page("job.html", request, f"Judging {job.title}", scripts=("judge.js",), job=job)


async def job_json(request: Request) -> Response:
    """The same for programs."""
    return JSONResponse(request.app.state.site.jobs.find(request.path_params["job"]).to_dict())


async def cancel(request: Request) -> Response:
    """End a judgement."""
    job = request.app.state.site.jobs.find(request.path_params["job"])
    if job.task is not None:
        job.task.cancel()
    job.refusal = job.refusal or Refusal(422, "The judgement was cancelled.", "Begin it again.")
    return RedirectResponse(job.back, 303)


async def result(request: Request) -> Response:
    """A judgement that nobody has kept yet."""
    site: Site = request.app.state.site
    held = site.results.find(request.path_params["result"])
    text, suffix = held.text, suffix_of(request)
    if suffix == ".json":
        return Response(text, media_type="application/json")
    if suffix:
        return await site.read(lambda: face(Document.from_json(text), suffix, f"report{suffix}"))
    return await site.read(
        lambda: report_page(
            request,
            Document.from_json(text),
            faces=request.url.path,
            trail=(held.origin,),
            keep=held.name if not site.settings.read_only and site.store is not None else "",
        )
    )


async def keep(request: Request) -> Response:
    """Keep a judgement as a run."""
    site: Site = request.app.state.site
    site.must_write()
    text = site.results.find(request.path_params["result"]).text
    name = (await form(request)).get("name", "").strip()
    if not name:
        raise Refusal(422, "The run has no name.", "Say under which name it is to be kept.")
    run = await site.read(site.record, text, name)
    return RedirectResponse(f"/runs/{run}", 303)


async def form(request: Request) -> dict[str, str]:
    """The fields of a form, of which each has one value."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qs(body, max_num_fields=_FIELDS)
    except ValueError:
        raise Refusal(422, f"The form has more than {_FIELDS} fields.", "Send fewer.") from None
    return {name: values[-1] for name, values in fields.items()}


def options(fields: Mapping[str, str], allowed: tuple[str, ...]) -> list[str]:
    """The fields that are options of a command; each stands with its value in one word."""
    given = []
    for name in allowed:
        value = fields.get(name, "").strip()
        if len(value) > _LONGEST or "\0" in value:
            raise Refusal(422, f"What is said of {name} is no text.", "Shorten it.")
        if value:
            given.append(f"--{name}={value}")
    return given


ROUTES = (
    Route("/judge", judge_form),
    Route(UPLOAD, send_file, methods=["POST"]),
    Route("/judge/{upload}.json", columns_json),
    Route("/judge/{upload}", columns_form),
    Route("/judge/{upload}", judge, methods=["POST"]),
    Route("/jobs/{job}.json", job_json),
    Route("/jobs/{job}", job_page),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
    *(Route(f"/results/{{result}}{suffix}", result) for suffix in (*FACES, "")),
    Route("/results/{result}/keep", keep, methods=["POST"]),
)
