"""What programs can ask of the app, as OpenAPI 3.1 has it, with the schemas of documents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from starlette.routing import BaseRoute, Route

from assay import __version__
from assay.report.schemas import SCHEMAS, schema_of
from assay.web.guards import UPLOAD
from assay.web.judging import OPTIONS, THRESHOLD_OPTIONS
from assay.web.runs import FILTERS

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
# What may be asked in the query of a route; a name with a star may be repeated.
_QUERIES = {
    ("/compare.json", "GET"): ("run*", "order"),
    ("/gate.json", "GET"): ("gate", "before"),
    ("/incidents.json", "GET"): ("before",),
    ("/monitor.json", "GET"): ("before",),
    ("/runs.json", "GET"): (*FILTERS, "before"),
    ("/runs.json", "POST"): ("name", "tag*"),
    ("/threshold/{upload}.json", "GET"): THRESHOLD_OPTIONS,
    ("/trend.json", "GET"): ("name", "measure"),
    (UPLOAD, "POST"): ("name",),
}
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
            *(_parameter(name, "query") for name in _QUERIES.get((route.path, method), ())),
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
    known = [{"$ref": f"#/components/schemas/{_key(name)}"} for name in names]
    return known[0] if len(known) == 1 else {"oneOf": known} if known else {}


def _component(name: str) -> dict[str, Any]:
    """A schema, whose own definitions stay inside it."""
    schema = schema_of(name)
    return {**schema, "$id": f"urn:{name}"}


def _key(name: str) -> str:
    return name.replace("/", ".")
