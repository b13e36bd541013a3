"""What programs can ask of the app, as OpenAPI 3.1 has it, with the schemas of documents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from starlette.routing import BaseRoute, Route

from assay import __version__
from assay.report.schemas import SCHEMAS, schema_of

_PARAMETER = re.compile(r"\{(\w+)\}")
# Which document a route gives, where it is always the same one.
_DOCUMENTS = {
    "/audit.json": "assay.audit/1",
    "/measures.json": "assay.measures/1",
    "/threshold/{upload}.json": "assay.threshold/1",
    "/compare.json": "assay.compare/1",
    "/runs.json": "assay.runs/1",
}


def description(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Every route that gives JSON, with its parameters and its document."""
    paths: dict[str, Any] = {}
    for route in routes:
        if isinstance(route, Route) and _for_programs(route.path):
            methods = sorted((route.methods or set()) - {"HEAD"})
            entry = paths.setdefault(route.path, {})
            entry.update({method.lower(): _operation(route) for method in methods})
    return {
        "openapi": "3.1.0",
        "info": {"title": "assay", "version": __version__},
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {_key(name): _component(name) for name in SCHEMAS},
        },
        "paths": paths,
    }


def _for_programs(path: str) -> bool:
    return path.endswith(".json") or path in ("/judge/files", "/health", "/metrics")


def _operation(route: Route) -> dict[str, Any]:
    document = _DOCUMENTS.get(route.path)
    known = document in SCHEMAS
    schema = {"$ref": f"#/components/schemas/{_key(str(document))}"} if known else {}
    kind = "text/plain" if route.path == "/metrics" else "application/json"
    return {
        "summary": (route.endpoint.__doc__ or "").partition("\n")[0],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in _PARAMETER.findall(route.path)
        ],
        "responses": {
            "200": {"description": "The answer", "content": {kind: {"schema": schema}}},
            "default": {"description": "A refusal, with a code, a message and a remedy"},
        },
    }


def _component(name: str) -> dict[str, Any]:
    """A schema, whose own definitions stay inside it."""
    schema = schema_of(name)
    return {**schema, "$id": f"urn:{name}"}


def _key(name: str) -> str:
    return name.replace("/", ".")
