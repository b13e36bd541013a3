"""Pages about the app itself: measures, sign-in, its state, and what programs can ask of it."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from assay.errors import __version__
from assay.errors import UnknownMeasure
from assay.v02.escaping import plural, short
from assay.v02.measures import catalogue, find
from assay.v02.report import IMPORTED, KINDS
from assay.v02.report.document import SCHEMAS, schema_of
from assay.v02.report.sections import Column, Report, Section, Table
from assay.v02.web.guards import POLICY, SIGN_IN, STYLE, UPLOAD, Refusal
from assay.v02.web.judgements import OPTIONS, THRESHOLD_OPTIONS
from assay.v02.web.pages import FACES, asset, face, page, report_page, suffix_of
from assay.v02.web.runs import FILTERS, OUTCOMES
from assay.v02.web.site import Site

if TYPE_CHECKING:
    from assay.v02.store.run import Name


_SIGN_IN = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    f"<title>Sign in · assay</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    "<h1>Sign in to assay</h1>\n"
    f'<form method="post" action="{SIGN_IN}"><p><label for="token">Token</label></p>\n'
    '<p><input id="token" name="token" type="password" autocomplete="current-password" required '
    "autofocus>\n<button>Sign in</button></p></form>\n"
    "<p>The link that <code>assay serve</code> printed when it started signs in without it.</p>\n"
    "</main>\n</body>\n</html>\n"
)


async def sign_in(request: Request) -> Response:
    """Let in whoever has the link or the token."""
    access = request.app.state.site.access
    if request.method == "POST":
        secret = parse_qs((await request.body()).decode("latin-1")).get("token", [""])[0]
    else:
        secret = request.query_params.get("link", "")
        if not secret:
            return Response(
                _SIGN_IN, media_type="text/html", headers={"Content-Security-Policy": POLICY}
            )
    # A look without a body must not use up the link.
    session = access.enter(secret) if request.method != "HEAD" else None
    if session is None:
        raise Refusal(
            401,
            "This link was used before, or is not one of this start of the app.",
            "Each link signs in one browser. Start the app again for another, or sign in with its "
            "token.",
            link=SIGN_IN,
        )
    return RedirectResponse("/", 303, headers={"set-cookie": access.set_cookie(session)})


async def sign_out(request: Request) -> Response:
    """End the session of this browser."""
    request.app.state.site.access.leave(request.headers.get("cookie", ""))
    return RedirectResponse(SIGN_IN, 303)


async def measures(request: Request) -> Response:
    """All measures."""
    groups: dict[str, list[object]] = {}
    for measure in catalogue.CATALOGUE:
        groups.setdefault(measure.group, []).append(measure)
    return page("measures.html", request, "Measures", groups=groups)


async def measures_face(request: Request) -> Response:
    """The catalogue for programs and papers."""
    from assay.v02.report import measures_document

    suffix = suffix_of(request)
    site: Site = request.app.state.site

    def draw() -> Response:
        return face(measures_document(), suffix, f"measures{suffix}")

    return await site.read(site.drawn, f"measures{suffix}", draw)


async def measure(request: Request) -> Response:
    """One measure: formula, range, how to read it, when it misleads."""
    from assay.v02.report import measure_document

    name = request.path_params["name"]
    try:
        document = measure_document(find(name))
    except UnknownMeasure as unknown:
        raise Refusal(404, str(unknown), "All measures are at /measures.") from None
    suffix = suffix_of(request)
    if suffix:
        return face(document, suffix, f"{find(name).name}{suffix}")
    return report_page(
        request, document, faces=request.url.path, trail=(("/measures", "Measures"),)
    )


async def about(request: Request) -> Response:
    """Versions, store, limits."""
    site: Site = request.app.state.site
    names = await site.read(site.names)
    facts = _facts(site, names)
    suffix = suffix_of(request)
    if not suffix:
        return page("about.html", request, "About", facts=facts, faces="/about", query="")
    columns = (Column("what"), Column("value"))
    report = Report(
        title="About this app",
        headline=(),
        sections=tuple(Section(title, (Table("", columns, rows),)) for title, rows in facts),
        plain={
            "schema": "assay.about/1",
            "version": __version__,
            "python": platform.python_version(),
            "store": site.settings.place or None,
            "runs": sum(name.runs for name in names),
            "names": len(names),
            "read_only": site.settings.read_only,
            "limits": asdict(site.limits),
        },
        records=tuple({"what": what, "value": value} for _, rows in facts for what, value in rows),
    )
    return face(report, suffix, f"about{suffix}")


Facts: TypeAlias = tuple[tuple[str, str], ...]


def _facts(site: Site, names: Sequence[Name]) -> tuple[tuple[str, Facts], ...]:
    """What is told of the app, under its headings."""
    limits, runs = site.limits, sum(name.runs for name in names)
    detectors = "1 detector" if len(names) == 1 else f"{len(names):,} detectors"
    kept = (
        f"{site.settings.place}, {runs:,} {plural(runs, 'run', 'runs')} of {detectors}"
        if site.settings.place
        else "none"
    )
    retention = f"the last {limits.kept} are held until the app ends, {limits.disk:,} bytes of them"
    most = f"{limits.judging_seconds:g} seconds and {limits.memory:,} bytes of memory each"
    here = (
        ("Version", f"assay {__version__}, Python {platform.python_version()}"),
        ("Store", f"{kept}{', read-only' * site.settings.read_only}"),
    )
    limited = (
        ("Files", f"{limits.upload:,} bytes each; {retention} at most"),
        ("Other bodies", f"{limits.body:,} bytes"),
        ("Judgements", f"{limits.workers} at once, {limits.waiting} wait; {most}"),
        ("Requests", f"{limits.requests} at once, {limits.seconds:g} seconds each"),
    )
    return ("This app", here), ("Limits", limited)


async def health(request: Request) -> Response:  # noqa: ARG001 - the form of a route
    """Whether the app answers."""
    return JSONResponse({"status": "ok", "version": __version__})


async def openapi(request: Request) -> Response:
    """What programs can ask for, and what they get."""
    return JSONResponse(description(request.app.routes))


async def metrics(request: Request) -> Response:
    """How the app does, as Prometheus reads it."""
    site: Site = request.app.state.site
    gauges = {
        "assay_up_seconds": ("Time since the start.", time.time() - site.started),
        "assay_requests": ("Requests that are being answered.", site.guards.now),
        "assay_judgements_running": ("Judgements that run.", site.pool.running),
        "assay_judgements_waiting": ("Judgements that wait.", site.pool.waiting),
        "assay_judgements_finished_total": ("Judgements that ended.", site.pool.finished),
        "assay_judgements_refused_total": ("Judgements that were too many.", site.pool.refused),
        "assay_files_held": ("Files that were sent and are held.", len(site.uploads)),
    }
    lines = []
    for name, (help_text, value) in gauges.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", f"{name} {value:g}"]
    return Response("\n".join([*lines, ""]), media_type="text/plain; version=0.0.4")


async def file(request: Request) -> Response:
    """A style sheet or script of the app."""
    response = asset(request.path_params["name"])
    if response is None:
        raise Refusal(404, "The app has no such file.", "Load the page again.")
    return response


ROUTES = (
    Route(SIGN_IN, sign_in, methods=["GET", "POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
    Route("/measures", measures),
    *(Route(f"/measures{suffix}", measures_face) for suffix in FACES),
    *(Route(f"/measures/{{name}}{suffix}", measure) for suffix in (*FACES, "")),
    *(Route(f"/about{suffix}", about) for suffix in (*FACES, "")),
    Route("/health", health),
    Route("/openapi.json", openapi),
    Route("/metrics", metrics),
    Route("/assets/{name}", file),
)


# -- what programs can ask, as OpenAPI 3.1 has it --------------------------------------------------

_TEXT = {"type": "string"}
_REFUSAL = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "remedy"],
            "properties": {"code": _TEXT, "message": _TEXT, "remedy": _TEXT},
        }
    },
}
_PARAMETER = re.compile(r"\{(\w+)\}")
# Which documents a route gives, where it is always one of these.
_DOCUMENTS = {
    "/about.json": ("assay.about/1",),
    "/audit.json": ("assay.audit/1",),
    "/compare.json": ("assay.compare/1", "assay.unpaired/1"),
    "/gate.json": ("assay.runs/1",),
    "/incidents.json": ("assay.runs/1",),
    "/measures.json": ("assay.measures/1",),
    "/measures/{name}.json": ("assay.measures/1",),
    "/monitor.json": ("assay.runs/1",),
    "/runs.json": ("assay.runs/1",),
    "/threshold/{upload}.json": ("assay.threshold/1",),
    "/trend.json": ("assay.trend/1",),
}
# What may be asked in the query of a page and its twins; a name with a star may be repeated.
_QUERIES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("/", "GET"): (*FILTERS, "before"),
    ("/compare", "GET"): ("run*", "order"),
    ("/compare/flips.{form}", "GET"): ("run*", "order"),
    ("/gate", "GET"): ("gate", "before"),
    ("/incidents", "GET"): ("before",),
    ("/monitor", "GET"): ("before",),
    ("/runs", "GET"): (*FILTERS, "before"),
    ("/runs", "POST"): ("name", "tag*"),
    ("/threshold/{upload}", "GET"): THRESHOLD_OPTIONS,
    ("/trend", "GET"): ("name", "measure"),
    (UPLOAD, "POST"): ("name",),
    (SIGN_IN, "GET"): ("link",),
}
_CHOICES = {"kind": (*KINDS, IMPORTED), "gate": OUTCOMES, "order": ("time",)}
_LONGEST = 1000
# Their queries tell one version from another.
_ASSETS = "/assets/{name}"
# What is sent, and the status of an answer that is not 200.
_BODIES = {
    "/audit.json": "application/json",
    "/audit/typed.json": "application/json",
    "/runs.json": "application/json",
    UPLOAD: "application/octet-stream",
    "/judge/{upload}": "application/x-www-form-urlencoded",
}
_STATUSES = {
    ("/runs.json", "POST"): "201",
    (UPLOAD, "POST"): "201",
    ("/judge/{upload}", "POST"): "202",
}


def _query_names(path: str, method: str) -> tuple[str, ...]:
    """What may be asked in the query of a route."""
    suffix = next((each for each in FACES if path.endswith(each)), "")
    return _QUERIES.get((path.removesuffix(suffix), "GET" if method == "HEAD" else method), ())


def check_query(path: str, method: str, query: QueryParams) -> None:
    """Refuse what a route can't be asked: it would be passed over in silence."""
    if path == _ASSETS:
        return
    asked = _query_names(path, method)
    names = [name.removesuffix("*") for name in asked]
    for name, value in query.multi_items():
        if name not in names:
            advice = f"what can be asked is {', '.join(names)}" if names else "nothing can be asked"
            raise Refusal(400, f"{short(name)!r} is unknown here: {advice}.", "Leave it out.")
        if f"{name}*" not in asked and len(query.getlist(name)) > 1:
            raise Refusal(400, f"{name} is given more than once.", "Say which one is meant.")
        if len(value) > _LONGEST or "\0" in value:
            raise Refusal(
                400,
                f"{name} has {len(value):,} characters, or one that is no text; expected text of "
                f"{_LONGEST:,} at most.",
                "Shorten it.",
            )
        if value and value not in _CHOICES.get(name, (value,)):
            raise Refusal(
                400,
                f"{name} is {short(value)!r}; expected {' or '.join(_CHOICES[name])}.",
                "Say one of these, or leave it out.",
            )


def description(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Every route that gives JSON, with its parameters and its documents."""
    paths: dict[str, Any] = {}
    for route in routes:
        if not isinstance(route, Route):
            continue
        for method in sorted((route.methods or set()) - {"HEAD"}):
            if _for_programs(route.path, method):
                operation = _operation(route, method)
                paths.setdefault(route.path, {})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "assay", "version": __version__},
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **{_key(name): _component(name) for name in SCHEMAS},
                "refusal": _REFUSAL,
            },
        },
        "paths": paths,
    }


def _for_programs(path: str, method: str) -> bool:
    """Whether a route answers in JSON or text; a judgement does so where that is asked for."""
    return path.endswith(".json") or (path, method) in (
        *((UPLOAD, "POST"), ("/judge/{upload}", "POST")),
        *(("/health", "GET"), ("/metrics", "GET")),
    )


def _operation(route: Route, method: str) -> dict[str, Any]:
    kind = "text/plain" if route.path == "/metrics" else "application/json"
    status = _STATUSES.get((route.path, method), "200")
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/refusal"}}}
    operation: dict[str, Any] = {
        "summary": (route.endpoint.__doc__ or "").partition("\n")[0],
        "parameters": [
            *(_parameter(name, "path") for name in _PARAMETER.findall(route.path)),
            *(_parameter(name, "query") for name in _query_names(route.path, method)),
        ],
        "responses": {
            status: {
                "description": "The answer",
                "content": {kind: {"schema": _answer(route.path, status)}},
            },
            "default": {
                "description": "A refusal, with a code, a message and a remedy",
                "content": refusal,
            },
        },
    }
    if method == "POST":
        sent: dict[str, Any] = {}
        if route.path == "/judge/{upload}":
            fields = dict.fromkeys(("do", *OPTIONS["evaluate"], "record", "keep-rows"), _TEXT)
            sent = {"type": "object", "properties": fields}
        operation["requestBody"] = {"content": {_BODIES[route.path]: {"schema": sent}}}
    return operation


def _parameter(name: str, where: str) -> dict[str, Any]:
    schema = {"type": "array", "items": _TEXT} if name.endswith("*") else _TEXT
    return {
        "name": name.removesuffix("*"),
        "in": where,
        "required": where == "path",
        "schema": schema,
    }


def _answer(path: str, status: str) -> dict[str, Any]:
    """The document of an answer; what a route that makes something says of it is no document."""
    names = _DOCUMENTS.get(path, ()) if status == "200" else ()
    schemas = [{"$ref": f"#/components/schemas/{_key(name)}"} for name in names]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas} if schemas else {}


def _component(name: str) -> dict[str, Any]:
    """A schema, whose own definitions stay inside it."""
    schema = schema_of(name)
    return {**schema, "$id": f"urn:{name}"}


def _key(name: str) -> str:
    return name.replace("/", ".")
