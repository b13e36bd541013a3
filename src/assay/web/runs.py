"""Runs that were kept: the list, one of them, trends, comparisons, gates."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.errors import AssayError
from assay.measures.shown import MOVING
from assay.report import Document, Report, document_of
from assay.report.kinds import IMPORTED, KINDS
from assay.store.comparing import Unpaired, compare_runs
from assay.store.reports import drawn_again, runs_report, trend_report, unpaired_report
from assay.web.drawings import MOST, SPARK, Course, course_of, overlaid
from assay.web.judging import form
from assay.web.pages import FACES, face, page, report_page
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
_FRESH = 2.0
# And of a trend so many runs one by one.
_LISTED = 200
_ID = re.compile(r"[0-9a-f]{4,40}")


def _store(request: Request) -> Store:
    store: Store | None = request.app.state.site.store
    if store is None:
        raise Refusal(404, "The app was started without a store.", "Start it with --store PATH.")
    return store


def _run(store: Store, wanted: str) -> Run:
    reason = f"{wanted[:40]!r} is no id of a run."
    if _ID.fullmatch(wanted):
        try:
            return store.run(wanted)
        except AssayError as unknown:
            reason = str(unknown)
    raise Refusal(404, reason, "All runs are at /.", link="/")


def kept_run(request: Request) -> Run:
    """The run that a request is about."""
    return _run(_store(request), request.path_params["run"])


# -- the list --------------------------------------------------------------------------------------


async def run_list(request: Request) -> Response:
    """Runs, newest first, by name, kind, tag, gate and words."""
    site: Site = request.app.state.site
    return await site.read(_listed, request, site, _store(request))


def _listed(request: Request, site: Site, store: Store) -> Response:
    given = _filters(request)
    before = request.query_params.get("before") or None
    if before is not None:
        _run(store, before)
    found = store.runs(**given, limit=site.limits.rows, before=before)
    names = site.fresh("names", _FRESH, store.names)
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
        tags=site.fresh("tags", _FRESH, store.tags),
        query=urlencode(given),
    )


def _filters(request: Request) -> dict[str, str]:
    return {
        name: request.query_params[name][:200] for name in FILTERS if request.query_params.get(name)
    }


def _drawn_once(site: Site, store: Store, name: Name) -> tuple[str, Course] | None:
    key = f"{name.name} {name.runs} {name.last}"
    return site.drawn(key, lambda: _spark(store, name.name))


def _spark(store: Store, name: str) -> tuple[str, Course] | None:
    """How the first measure of a name went, in a line."""
    measure = _followed(store.measures(name))
    if measure is None:
        return None
    try:
        trend = store.trend(name, measure, limit=_SPARK_POINTS)
    except AssayError:
        # A trend that can't be read must not hide the runs.
        return None
    return measure, course_of(trend, SPARK)


def _followed(known: tuple[str, ...]) -> str | None:
    """The measure that a trend begins with."""
    bare = [measure for measure in MOVING if measure in known]
    one_sided = [key for measure in MOVING for key in known if key.split(".")[0] == measure]
    return next(iter([*bare, *one_sided, *known]), None)


async def run_list_face(request: Request) -> Response:
    """The list for programs and papers."""
    site: Site = request.app.state.site
    store = _store(request)
    suffix = next(s for s in FACES if request.url.path.endswith(s))

    def draw() -> Response:
        found = store.runs(**_filters(request), limit=site.limits.rows)
        return face(runs_report(found), suffix, f"runs{suffix}")

    return await site.read(draw)


async def record(request: Request) -> Response:
    """Keep a document as a run."""
    site: Site = request.app.state.site
    site.must_write()
    store = _store(request)
    text = (await request.body()).decode("utf-8", "replace")
    name = request.query_params.get("name", "")
    tags = request.query_params.getlist("tag")
    # What can't be drawn again is not kept.
    await site.read(Document.from_json, text)
    run = await site.read(lambda: store.record(text, name=name, tags=tags))
    site.stale()
    return JSONResponse({"id": run.id, "page": f"/runs/{run.id}"}, 201)


# -- one run ---------------------------------------------------------------------------------------


async def run_page(request: Request) -> Response:
    """The report of a run, and what was noted on it."""
    site: Site = request.app.state.site
    return await site.read(_shown, request, _store(request))


def _shown(request: Request, store: Store) -> Response:
    run = _run(store, request.path_params["run"])
    suffix = next((s for s in FACES if request.url.path.endswith(s)), "")
    if suffix == ".json":
        return Response(run.document, media_type="application/json")
    if suffix:
        return face(
            drawn_again(json.loads(run.document), name=run.name), suffix, f"{run.id}{suffix}"
        )
    before = store.runs(name=run.name, kind=run.kind, limit=1, before=run.id).runs
    site: Site = request.app.state.site
    # A run does not change but for its tags and its note.
    key = f"{run.id} {run.tags} {run.note} {before[0].id if before else ''}"
    return site.drawn(key, lambda: _drawn(request, run, before))


def _drawn(request: Request, run: Run, before: tuple[Run, ...]) -> Response:
    return report_page(
        request,
        drawn_again(json.loads(run.document), name=run.name),
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
    store = _store(request)
    run = await site.read(_run, store, request.path_params["run"])
    fields = await form(request)
    site.stale()
    match request.path_params["change"]:
        case "tags":
            words = fields.get("tags", "").replace(",", " ").split()
            removed = [tag for tag in run.tags if tag not in words]
            await site.read(store.tag, run.id, add=words, remove=removed)
        case "note":
            await site.read(store.note, run.id, fields.get("note", ""))
        case "delete":
            await site.read(store.delete, run.id)
            return RedirectResponse("/", 303)
        case _:
            raise Refusal(404, "Runs are tagged, noted or deleted.", link=f"/runs/{run.id}")
    return RedirectResponse(f"/runs/{run.id}", 303)


# -- several runs ----------------------------------------------------------------------------------


async def trend(request: Request) -> Response:
    """How a measure went over the runs of a name."""
    site: Site = request.app.state.site
    return await site.read(_trend, request, _store(request))


def _trend(request: Request, store: Store) -> Response:
    name = request.query_params.get("name", "")
    known = store.measures(name)
    measure = request.query_params.get("measure") or _followed(known)
    if measure is None:
        raise Refusal(404, f"No run named {name!r} has numbers to follow.", link="/")
    found = store.trend(name, measure)
    suffix = next((s for s in FACES if request.url.path.endswith(s)), "")
    if suffix:
        return face(trend_report(found), suffix, f"trend{suffix}")
    return page(
        "trend.html",
        request,
        f"{name}: {measure.replace('_', ' ')}",
        trail=(("/", "Runs"), (f"/?{urlencode({'name': name})}", name)),
        trend=found,
        drawn=course_of(found),
        newest=found.points[: -_LISTED - 1 : -1],
        known=known,
        query=urlencode({"name": name, "measure": measure}),
    )


async def compare(request: Request) -> Response:
    """Two runs or more: differences with intervals, curves over each other."""
    site: Site = request.app.state.site
    store = _store(request)
    wanted = list(dict.fromkeys(request.query_params.getlist("run")))
    if len(wanted) < 2:
        recent = await site.read(lambda: store.runs(kind="evaluation", limit=20).runs)
        return page("compare.html", request, "Compare runs", runs=recent, chosen=wanted)
    if len(wanted) > MOST:
        raise Refusal(422, f"{len(wanted)} runs are too many to tell apart.", f"Choose {MOST}.")
    runs = [await site.read(_run, store, id_) for id_ in wanted]
    document = await _comparison(site, runs[0], runs[1])
    return await site.read(_compared, request, runs, document)


async def _comparison(site: Site, old: Run, new: Run) -> Document | Report:
    """The comparison as the command line makes it; row by row it is work for another process."""
    if old.has_rows and new.has_rows:
        place = f"--store={site.settings.place}"
        args = ("runs", "compare", old.id, new.id, place, "--format=json")
        answer = await site.run(*args, seconds=site.limits.seconds - 2)
        # Rows that can't be matched are compared unpaired all the same.
        if json.loads(answer.out).get("paired", True):
            return Document.from_json(answer.out)
    return await site.read(_unpaired, old, new)


def _unpaired(old: Run, new: Run) -> Document | Report:
    found = compare_runs(old, new)
    return unpaired_report(found) if isinstance(found, Unpaired) else document_of(found)


def _compared(request: Request, runs: list[Run], document: Document | Report) -> Response:
    suffix = next((s for s in FACES if request.url.path.endswith(s)), "")
    if suffix:
        return face(document, suffix, f"comparison{suffix}")
    named = [(f"{run.name} {run.id[:6]}", json.loads(run.document)) for run in runs]
    curves = [overlaid(named, log=log) for log in (False, True)]
    return report_page(
        request,
        document,
        faces="/compare",
        query=request.url.query,
        template="compared.html",
        trail=(("/", "Runs"), ("/compare", "Compare")),
        runs=runs,
        others=[(runs[0], other) for other in runs[2:]],
        curves=[curve for curve in curves if curve is not None],
    )


async def gates(request: Request) -> Response:
    """Gates, newest first: which rules held, and why others did not."""
    site: Site = request.app.state.site
    return await site.read(_gates, request, site, _store(request))


def _gates(request: Request, site: Site, store: Store) -> Response:
    outcome = request.query_params.get("gate") or None
    before = request.query_params.get("before") or None
    found = store.runs(kind="gate", gate=outcome, limit=site.limits.rows, before=before)
    return page(
        "gates.html",
        request,
        "Gate history",
        gates=[(run, _broken(run)) for run in found.runs],
        outcome=outcome,
        outcomes=OUTCOMES,
        older=urlencode({"gate": outcome or "", "before": found.runs[-1].id}) if found.more else "",
    )


def _broken(run: Run) -> list[Mapping[str, Any]]:
    """The rules of a gate that did not hold, with the reason."""
    try:
        rules = json.loads(run.document)["rules"]
    except (AssayError, ValueError, KeyError):
        # One run that can't be read must not hide the others.
        return [{"rule": "its document can't be read", "outcome": "undecided", "reason": ""}]
    return [rule for rule in rules if rule["outcome"] != "pass"]


ROUTES = (
    Route("/", run_list),
    *(Route(f"/runs{suffix}", run_list_face) for suffix in FACES),
    Route("/runs.json", record, methods=["POST"]),
    *(Route(f"/runs/{{run}}{suffix}", run_page) for suffix in (*FACES, "")),
    Route("/runs/{run}/{change}", change_run, methods=["POST"]),
    *(Route(f"/trend{suffix}", trend) for suffix in (*FACES, "")),
    *(Route(f"/compare{suffix}", compare) for suffix in (*FACES, "")),
    Route("/gate", gates),
)
