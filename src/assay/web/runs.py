"""Runs that were kept: the list of them, and each by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.errors import AssayError
from assay.measures.shown import MOVING
from assay.report import Document
from assay.report.kinds import IMPORTED, KINDS
from assay.store.reports import drawn_again, runs_report
from assay.web.drawings import SPARK, Course, course_of
from assay.web.judging import form
from assay.web.pages import FACES, face, made_here, page, report_page, suffix_of
from assay.web.refusals import Refusal
from assay.web.site import Site

if TYPE_CHECKING:
    from assay.store import Store
    from assay.store.run import Name, Run

FILTERS = ("name", "kind", "tag", "gate", "search")
OUTCOMES = ("pass", "fail", "undecided")
# Of so many names a list shows how they went.
_SPARKS = 8
_SPARK_POINTS = 40
_ID = re.compile(r"[0-9a-f]{4,40}")


def store_of(request: Request) -> Store:
    """The store that the app was started with."""
    store: Store | None = request.app.state.site.store
    if store is None:
        raise Refusal(404, "The app was started without a store.", "Start it with --store PATH.")
    return store


def run_of(store: Store, wanted: str) -> Run:
    """The run of an id that a client gave."""
    reason = f"{wanted[:40]!r} is no id of a run."
    if _ID.fullmatch(wanted):
        try:
            return store.run(wanted)
        except AssayError as unknown:
            reason = str(unknown)
    raise Refusal(404, reason, "All runs are at /.", link="/")


def kept_run(request: Request) -> Run:
    """The run that a request is about."""
    return run_of(store_of(request), request.path_params["run"])


# -- the list --------------------------------------------------------------------------------------


async def run_list(request: Request) -> Response:
    """Runs, newest first, by name, kind, tag, gate and words."""
    site: Site = request.app.state.site
    return await site.read(_listed, request, site, store_of(request))


def _listed(request: Request, site: Site, store: Store) -> Response:
    given = _filters(request)
    before = before_of(request, store)
    found = store.runs(**given, limit=site.limits.rows, before=before)
    names = site.names()
    older = urlencode({**given, "before": found.runs[-1].id}) if found.more else ""
    return page(
        "runs.html",
        request,
        "Runs",
        runs=found.runs,
        damaged=found.damaged,
        older=older,
        newest=urlencode(given) if before else None,
        given=given,
        names=names,
        sparks=[(name, _drawn_once(site, store, name)) for name in names[:_SPARKS]],
        kinds=(*KINDS, IMPORTED),
        outcomes=OUTCOMES,
        tags=site.tags(),
        query=urlencode({**given, **({"before": before} if before else {})}),
    )


def before_of(request: Request, store: Store) -> str | None:
    """The run that a page of a list follows."""
    wanted = request.query_params.get("before")
    return run_of(store, wanted).id if wanted else None


def _filters(request: Request) -> dict[str, str]:
    return {
        name: request.query_params[name][:200] for name in FILTERS if request.query_params.get(name)
    }


def _drawn_once(site: Site, store: Store, name: Name) -> tuple[str, Course] | None:
    key = f"{name.name} {name.runs} {name.last}"
    return site.drawn(key, lambda: _spark(store, name.name))


def _spark(store: Store, name: str) -> tuple[str, Course] | None:
    """How the first measure of a name went, in a line."""
    measure = followed(store.measures(name))
    if measure is None:
        return None
    try:
        trend = store.trend(name, measure, limit=_SPARK_POINTS)
    except AssayError:
        # A trend that can't be read must not hide the runs.
        return None
    return measure, course_of(trend, SPARK)


def followed(known: tuple[str, ...]) -> str | None:
    """The measure that a trend begins with."""
    bare = [measure for measure in MOVING if measure in known]
    one_sided = [key for measure in MOVING for key in known if key.split(".")[0] == measure]
    return next(iter([*bare, *one_sided, *known]), None)


async def run_list_face(request: Request) -> Response:
    """The list for programs and papers."""
    site: Site = request.app.state.site
    store = store_of(request)
    suffix = suffix_of(request)

    def draw() -> Response:
        before = before_of(request, store)
        found = store.runs(**_filters(request), limit=site.limits.rows, before=before)
        report = runs_report(found).made_by(made_here(request, found.place))
        return face(report, suffix, f"runs{suffix}")

    return await site.read(draw)


async def record(request: Request) -> Response:
    """Keep a document as a run."""
    site: Site = request.app.state.site
    site.must_write()
    store_of(request)
    text = (await request.body()).decode("utf-8", "replace")
    name = request.query_params.get("name", "")
    tags = request.query_params.getlist("tag")
    # What can't be drawn again is not kept.
    await site.read(Document.from_json, text)
    run = await site.read(site.record, text, name, tags)
    return JSONResponse({"id": run, "page": f"/runs/{run}"}, 201)


# -- one run ---------------------------------------------------------------------------------------


async def run_page(request: Request) -> Response:
    """The report of a run, and what was noted on it."""
    site: Site = request.app.state.site
    return await site.read(_shown, request, store_of(request))


def _shown(request: Request, store: Store) -> Response:
    run = run_of(store, request.path_params["run"])
    suffix = suffix_of(request)
    if suffix == ".json":
        return Response(run.document, media_type="application/json")
    if suffix:
        return face(drawn_again(run), suffix, f"{run.id}{suffix}")
    before = store.runs(name=run.name, kind=run.kind, limit=1, before=run.id).runs
    site: Site = request.app.state.site
    # A run does not change but for its tags and its note.
    key = f"{run.id} {run.tags} {run.note} {before[0].id if before else ''}"
    return site.drawn(key, lambda: _drawn(request, run, before))


def _drawn(request: Request, run: Run, before: tuple[Run, ...]) -> Response:
    return report_page(
        request,
        drawn_again(run),
        faces=f"/runs/{run.id}",
        template="run.html",
        trail=(("/", "Runs"), (f"/?{urlencode({'name': run.name})}", run.name)),
        run=run,
        before=before[0] if before and run.kind == "evaluation" else None,
    )


async def change_run(request: Request) -> Response:
    """Tag a run, write a note to it, or delete it."""
    site: Site = request.app.state.site
    site.must_write()
    store = store_of(request)
    run = await site.read(run_of, store, request.path_params["run"])
    fields = await form(request)
    match request.path_params["change"]:
        case "tags":
            words = fields.get("tags", "").replace(",", " ").split()
            removed = [tag for tag in run.tags if tag not in words]
            await site.read(store.tag, run.id, add=words, remove=removed)
        case "note":
            await site.read(store.note, run.id, fields.get("note", ""))
        case "delete":
            await site.read(store.delete, run.id)
        case _:
            raise Refusal(404, "Runs are tagged, noted or deleted.", link=f"/runs/{run.id}")
    site.stale()
    gone = request.path_params["change"] == "delete"
    return RedirectResponse("/" if gone else f"/runs/{run.id}", 303)


ROUTES = (
    Route("/", run_list),
    *(Route(f"/runs{suffix}", run_list_face) for suffix in FACES),
    Route("/runs.json", record, methods=["POST"]),
    *(Route(f"/runs/{{run}}{suffix}", run_page) for suffix in (*FACES, "")),
    Route("/runs/{run}/{change}", change_run, methods=["POST"]),
)
