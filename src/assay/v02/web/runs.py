"""Runs that were kept: the list of them, each by itself, and histories of one kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.errors import AssayError
from assay.v02.measures.catalogue import MOVING
from assay.v02.report import IMPORTED, KINDS, Document, Report
from assay.v02.report.html.blocks import View, block_of
from assay.v02.report.html.charts import Limits
from assay.v02.store.reports import KEPT, Rules, drawn_again, runs_report
from assay.v02.web.guards import Refusal
from assay.v02.web.pages import (
    FACES,
    SPARK,
    TrendLine,
    face,
    form,
    made_here,
    page,
    report_page,
    suffix_of,
    trend_line,
)
from assay.v02.web.site import Site

if TYPE_CHECKING:
    from assay.v02.store import Store
    from assay.v02.store.run import KeptRun, Name, Page


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


def run_of(store: Store, wanted: str) -> KeptRun:
    """The run of an id that a client gave."""
    reason = f"{wanted[:40]!r} is no id of a run."
    if _ID.fullmatch(wanted):
        try:
            return store.run(wanted)
        except AssayError as unknown:
            reason = str(unknown)
    raise Refusal(404, reason, "All runs are at /.", link="/")


def kept_run(request: Request) -> KeptRun:
    """The run that a request is about."""
    return run_of(store_of(request), request.path_params["run"])


# -- the list --------------------------------------------------------------------------------------


async def run_list(request: Request) -> Response:
    """Runs, newest first, by name, kind, tag, gate and words."""
    site: Site = request.app.state.site
    return await site.read(_listed_runs, request, site, store_of(request))


def _listed_runs(request: Request, site: Site, store: Store) -> Response:
    given = _filters(request)
    before = before_of(request, store)
    runs_page = store.runs(**given, limit=site.limits.rows, before=before)
    names = site.names()
    older = urlencode({**given, "before": runs_page.runs[-1].id}) if runs_page.more else ""
    return page(
        "runs.html",
        request,
        "Runs",
        runs=runs_page.runs,
        damaged=runs_page.damaged,
        older=older,
        newest=urlencode(given) if before else None,
        given=given,
        names=names,
        sparks=[(name, _spark_drawn_once(site, store, name)) for name in names[:_SPARKS]],
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
    return {name: request.query_params[name] for name in FILTERS if request.query_params.get(name)}


def _spark_drawn_once(site: Site, store: Store, name: Name) -> tuple[str, TrendLine] | None:
    key = f"{name.name} {name.runs} {name.last}"
    return site.drawn(key, lambda: _spark(store, name.name))


def _spark(store: Store, name: str) -> tuple[str, TrendLine] | None:
    """How the first measure of a name went, in a line."""
    measure = followed(store.measures(name))
    if measure is None:
        return None
    try:
        trend = store.trend(name, measure, limit=_SPARK_POINTS)
    except AssayError:
        # A trend that can't be read must not hide the runs.
        return None
    return measure, trend_line(trend, SPARK)


def followed(measures: tuple[str, ...]) -> str | None:
    """The measure that a trend begins with."""
    bare = [measure for measure in MOVING if measure in measures]
    one_sided = [key for measure in MOVING for key in measures if key.split(".")[0] == measure]
    return next(iter([*bare, *one_sided, *measures]), None)


async def run_list_face(request: Request) -> Response:
    """The list for programs and papers."""
    site: Site = request.app.state.site
    store = store_of(request)
    suffix = suffix_of(request)

    def draw() -> Response:
        before = before_of(request, store)
        runs_page = store.runs(**_filters(request), limit=site.limits.rows, before=before)
        report = runs_report(runs_page).made_by(made_here(request, runs_page.place))
        return face(report, suffix, f"runs{suffix}")

    return await site.read(draw)


async def record(request: Request) -> Response:
    """Keep a document as a run."""
    site: Site = request.app.state.site
    site.must_write()
    store = store_of(request)
    text = (await request.body()).decode("utf-8", "replace")
    name = request.query_params.get("name", "")
    tags = request.query_params.getlist("tag")
    # What can't be drawn again is not kept.
    await site.read(Document.from_json, text)
    run = await site.read(site.record, store, text, name, tags)
    return JSONResponse({"id": run, "page": f"/runs/{run}"}, 201)


# -- one run ---------------------------------------------------------------------------------------


async def run_page(request: Request) -> Response:
    """The report of a run, and what was noted on it."""
    site: Site = request.app.state.site
    return await site.read(_shown_run, request, store_of(request))


def _shown_run(request: Request, store: Store) -> Response:
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
    return site.drawn(key, lambda: _run_drawing(request, run, before))


def _run_drawing(request: Request, run: KeptRun, before: tuple[KeptRun, ...]) -> Response:
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


# -- histories: gates, watched detectors, incidents ------------------------------------------------

# The newest runs of so many names are drawn, by views of these kinds.
_NAMES = 4
_DRAWN = ("course", "timeline")


@dataclass(frozen=True)
class History:
    """A kind of runs: where its page is, what it is called, and what is shown of its runs.

    ``rules`` are there to be kept, ``outcomes`` to be chosen by; ``pictured`` is how many drawings
    of the newest run of each name are shown.
    """

    path: str
    kind: str
    title: str
    rules: bool = False
    outcomes: tuple[str, ...] = ()
    pictured: int = 0


@dataclass(frozen=True)
class LatestRun:
    """The newest run of a name, how its rules stand, and the drawings of its report."""

    run: KeptRun
    rules: tuple[Mapping[str, str], ...]
    drawings: tuple[View, ...]


HISTORIES = {
    history.path: history
    for history in (
        History("/gate", "gate", "Gate history", rules=True, outcomes=OUTCOMES),
        History("/monitor", "monitor", "Monitor", rules=True, pictured=1),
        History("/incidents", "incidents", "Incidents", pictured=2),
    )
}


async def history(request: Request) -> Response:
    """Runs of one kind, newest first: what they came to, which rules hold, and why others don't."""
    site: Site = request.app.state.site
    return await site.read(_history, request, site, store_of(request))


def _history(request: Request, site: Site, store: Store) -> Response:
    suffix = suffix_of(request)
    shown = HISTORIES[request.url.path.removesuffix(suffix)]
    outcome = request.query_params.get("gate") or None if shown.outcomes else None
    before = before_of(request, store)
    runs_page = store.runs(kind=shown.kind, gate=outcome, limit=site.limits.rows, before=before)
    if suffix:
        report = runs_report(runs_page, rules=site.rules if shown.rules else None)
        made = made_here(request, runs_page.place)
        return face(report.made_by(made), suffix, f"{shown.kind}{suffix}")
    # A run does not change in what a history shows of it.
    ids = " ".join(run.id for run in runs_page.runs)
    key = f"{shown.kind} {outcome} {before} {runs_page.more} {runs_page.damaged} {ids}"
    return site.drawn(key, lambda: _history_page(request, site, shown, runs_page, outcome, before))


def _history_page(
    request: Request,
    site: Site,
    shown: History,
    runs_page: Page,
    outcome: str | None,
    before: str | None,
) -> Response:
    given = {"gate": outcome} if outcome else {}
    here = {**given, **({"before": before} if before else {})}
    return page(
        f"{shown.kind}.html",
        request,
        shown.title,
        shown=shown,
        runs=[(run, _broken(site.rules(run)) if shown.rules else []) for run in runs_page.runs],
        latest=_latest(site, shown, runs_page.runs) if shown.pictured and not before else (),
        damaged=runs_page.damaged,
        outcome=outcome,
        faces=shown.path,
        query=urlencode(here),
        older=urlencode({**given, "before": runs_page.runs[-1].id}) if runs_page.more else "",
        newest=urlencode(given) if before else None,
    )


def _broken(rules: Rules | None) -> list[Mapping[str, str]]:
    """The rules that do not hold."""
    return [rule for rule in _in_words(rules) if rule["outcome"] not in KEPT]


def _in_words(rules: Rules | None) -> list[Mapping[str, str]]:
    """Rules, each with its outcome, its reason and since when, as text."""
    if rules is None:
        rules = [{"rule": "its document can't be read", "outcome": "undecided"}]
    return [
        {key: str(rule.get(key) or "") for key in ("rule", "outcome", "since", "reason")}
        for rule in rules
    ]


def _latest(site: Site, shown: History, runs: Sequence[KeptRun]) -> list[LatestRun]:
    """The newest run of each of the first names, drawn once."""
    newest: dict[str, KeptRun] = {}
    for run in runs:
        newest.setdefault(run.name, run)
    return [
        site.drawn(f"latest {run.id}", partial(_latest_drawing, site, run, shown))
        for run in list(newest.values())[:_NAMES]
    ]


def _latest_drawing(site: Site, run: KeptRun, shown: History) -> LatestRun:
    rules = tuple(_in_words(site.rules(run))) if shown.rules else ()
    try:
        document = drawn_again(run)
        report = document if isinstance(document, Report) else document.report
    except AssayError:
        # One run that can't be drawn must not hide the others.
        return LatestRun(run, rules, ())
    blocks = [block for section in report.sections for block in section.blocks]
    views = [block_of(block, Limits()) for block in blocks]
    drawn = [view for view in views if view.kind in _DRAWN]
    return LatestRun(run, rules, tuple(drawn[: shown.pictured]))


HISTORY_ROUTES = tuple(
    Route(f"{path}{suffix}", history) for path in HISTORIES for suffix in (*FACES, "")
)
