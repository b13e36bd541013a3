"""What people send to be judged: files, thresholds on them, and claims of papers.

A file is sent as it is, its columns are recognised and corrected, and the report comes when it is
done.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.v02.escaping import short
from assay.v02.measures import catalogue
from assay.v02.report import Document
from assay.v02.report.sections import Panel
from assay.v02.web.guards import UPLOAD, Refusal
from assay.v02.web.pages import FACES, face, form, page, report_page, suffix_of
from assay.v02.web.runs import kept_run, store_of
from assay.v02.web.site import HeldReport, Job, Site, Upload, new_id, safe_name

if TYPE_CHECKING:
    from assay.v02.store import KeptRun


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
    description = {"id": upload.id, "name": upload.name, "bytes": upload.size}
    return JSONResponse({**description, "page": f"/judge/{upload.id}"}, 201)


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
    for name in fields.keys() - {"do", "record", "keep-rows", *OPTIONS["evaluate"]}:
        raise Refusal(
            422,
            f"{short(name)!r} is nothing that can be said of a file here.",
            f"Say any of {', '.join(OPTIONS[command])}.",
        )
    args = [command, upload.name, *options(fields, OPTIONS[command]), "--format=json"]
    name = fields.get("record", "").strip()
    if name:
        site.must_write()
        keeping = ["--keep-rows"] if fields.get("keep-rows") and command == "evaluate" else []
        args += [f"--record={name}", f"--store={site.settings.place}", *keeping]
    job = Job(new_id(), upload.name, back=f"/judge/{upload.id}")

    async def judged(job: Job) -> str:
        answer = await site.run(*args, folder=upload.folder, told=job.told)
        recorded = _RECORDED.search("\n".join(answer.messages))
        if recorded is not None:
            site.stale()
            return f"/runs/{recorded[1]}"
        return site.present(HeldReport(upload.name, answer.out, ("/judge", "Judge a file")))

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
        refusal = job.refusal
        raise Refusal(refusal.status, refusal.message, refusal.remedy, link=job.back)
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


async def judgement(request: Request) -> Response:
    """A judgement that nobody has kept yet."""
    site: Site = request.app.state.site
    report = site.results.find(request.path_params["result"])
    text, suffix = report.text, suffix_of(request)
    if suffix == ".json":
        return Response(text, media_type="application/json")
    if suffix:
        return await site.read(lambda: face(Document.from_json(text), suffix, f"report{suffix}"))
    return await site.read(
        lambda: report_page(
            request,
            Document.from_json(text),
            faces=request.url.path,
            trail=(report.origin,),
            keep=report.name if not site.settings.read_only and site.store is not None else "",
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
    run = await site.read(site.record, store_of(request), text, name)
    return RedirectResponse(f"/runs/{run}", 303)


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
    *(Route(f"/results/{{result}}{suffix}", judgement) for suffix in (*FACES, "")),
    Route("/results/{result}/keep", keep, methods=["POST"]),
)


# -- the threshold workbench -----------------------------------------------------------------------

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


def _rows_file(site: Site, run: KeptRun) -> Upload:
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


THRESHOLD_ROUTES = (
    Route("/threshold", files),
    Route("/runs/{run}/threshold", of_run, methods=["POST"]),
    *(Route(f"/threshold/{{upload}}{suffix}", workbench) for suffix in (*FACES, "")),
)


# -- audit by typing -------------------------------------------------------------------------------

_CLAIM = re.compile(r"^\s*\[\[?\s*claim\b", re.MULTILINE)


async def audit_form(request: Request) -> Response:
    """A table to type the numbers of a paper into."""
    names = [measure.name for measure in catalogue.CATALOGUE if measure.formula is not None]
    return page("audit.html", request, "Audit by typing", scripts=("audit.js",), names=names)


async def audited_page(request: Request) -> Response:
    """The audit of text in a form, as a page of its own with all its forms."""
    site: Site = request.app.state.site
    text = await _audited(site, (await form(request)).get("claims", ""))
    return RedirectResponse(site.present(HeldReport("claims", text, ("/audit", "Audit"))), 303)


async def audited_face(request: Request) -> Response:
    """The audit of a body as a file of the command line has it, as that prints it."""
    body = (await request.body()).decode("utf-8", "replace")
    text = await _audited(request.app.state.site, body)
    suffix = suffix_of(request)
    if suffix == ".json":
        return Response(text, media_type="application/json")
    site: Site = request.app.state.site
    return await site.read(lambda: face(Document.from_json(text), suffix, f"audit{suffix}"))


async def audited_typing(request: Request) -> Response:
    """The audit of claims that are being typed; what is half typed is an answer, not a failure."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return Response(await _audited(request.app.state.site, body), media_type="application/json")
    except Refusal as refusal:
        if refusal.status != 422:
            raise
        # A browser would note each as an error in its console.
        return Response(refusal.as_json(), media_type="application/json")


async def _audited(site: Site, claims: str) -> str:
    """The audit of claims, or of whatever else was pasted, as JSON."""
    if not claims.strip():
        raise Refusal(422, "There are no claims.", "Type counts and at least one reported number.")
    if claims.lstrip().startswith("{"):
        await asyncio.to_thread(_must_be_json, claims)
        name = "claims.json"
    else:
        name = "claims.toml" if _CLAIM.search(claims) else "pasted.txt"
    folder = site.new_folder()
    try:
        await asyncio.to_thread((folder / name).write_text, claims, "utf-8")
        seconds = site.limits.seconds / 2
        answer = await site.run("audit", name, "--format=json", folder=folder, seconds=seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return answer.out


def _must_be_json(claims: str) -> None:
    try:
        json.loads(claims)
    except (ValueError, RecursionError) as error:
        raise Refusal(
            422, f"The claims are no JSON: {error}.", "Mend them, or write TOML."
        ) from None


AUDIT_ROUTES = (
    Route("/audit", audit_form),
    Route("/audit", audited_page, methods=["POST"]),
    Route("/audit/typed.json", audited_typing, methods=["POST"]),
    *(Route(f"/audit{suffix}", audited_face, methods=["POST"]) for suffix in FACES),
)
