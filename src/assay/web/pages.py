"""Pages: the templates of reports with a frame around them, and the files that they need."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from assay.measures import catalogue
from assay.report import Report, draw
from assay.report.html import assets
from assay.report.html.limits import Limits
from assay.report.html.page import content, environment
from assay.report.provenance import Input, Provenance
from assay.report.sections import Panel

if TYPE_CHECKING:
    from jinja2 import Environment

    from assay.report import Document

# What stands in the navigation, in its order.
PLACES = (
    ("/", "Runs"),
    ("/judge", "Judge a file"),
    ("/threshold", "Threshold"),
    ("/compare", "Compare"),
    ("/gate", "Gate"),
    ("/monitor", "Monitor"),
    ("/incidents", "Incidents"),
    ("/audit", "Audit"),
    ("/measures", "Measures"),
    ("/about", "About"),
)
# The forms in which a report is given out: format and type.
FACES: Mapping[str, tuple[str, str]] = {
    ".json": ("json", "application/json"),
    ".csv": ("csv", "text/csv; charset=utf-8"),
    ".md": ("markdown", "text/markdown; charset=utf-8"),
    ".tex": ("latex", "application/x-tex; charset=utf-8"),
    ".html": ("html", "text/html; charset=utf-8"),
}
_STYLES = ("app.css",)
_SCRIPTS = ("app.js", "judge.js", "audit.js", "threshold.js")
_NO_REPORT: Mapping[str, Any] = {"panel": None, "trail": ()}


@cache
def _assets() -> Mapping[str, tuple[bytes, str]]:
    """Every file that a page may ask for, by its name; nothing is looked up on a disk."""
    follow = tuple(measure for measure in catalogue.CATALOGUE if measure.formula is not None)
    style = "\n".join((assets.style(), *(_read("style", name) for name in _STYLES)))
    found = {
        "style.css": (style, "text/css; charset=utf-8"),
        "report.js": (assets.script(None), "text/javascript; charset=utf-8"),
        "panel.js": (assets.panel_script(follow), "text/javascript; charset=utf-8"),
    }
    found["icon.svg"] = (_read("style", "icon.svg"), "image/svg+xml")
    for name in _SCRIPTS:
        found[name] = (_read("script", name), "text/javascript; charset=utf-8")
    return {name: (text.encode(), kind) for name, (text, kind) in found.items()}


@cache
def asset_path(name: str) -> str:
    """The address of a file, which changes with what is in it."""
    return f"/assets/{name}?{hashlib.sha256(_assets()[name][0]).hexdigest()[:16]}"


def asset(name: str) -> Response | None:
    """A file of the app."""
    if name not in _assets():
        return None
    text, kind = _assets()[name]
    cached = {"cache-control": "private, max-age=31536000, immutable"}
    return Response(text, media_type=kind, headers=cached)


def script_size() -> int:
    """The bytes of all scripts together."""
    return sum(len(text) for text, kind in _assets().values() if "javascript" in kind)


@cache
def _templates() -> Environment:
    made = environment("assay.web")
    made.globals["asset"] = asset_path
    made.globals["places"] = PLACES
    return made


def page(
    template: str, request: Request, title: str, *, scripts: tuple[str, ...] = (), **shown: Any
) -> Response:
    """A page of the app."""
    text = (
        _templates()
        .get_template(template)
        .render(
            title=title,
            here=request.url.path,
            read_only=request.app.state.site.settings.read_only,
            scripts=("report.js", "app.js", *scripts),
            **{**_NO_REPORT, **shown},
        )
    )
    return Response(text, media_type="text/html; charset=utf-8")


def report_page(
    request: Request,
    document: Document | Report,
    *,
    faces: str,
    template: str = "report.html",
    live: Panel | None = None,
    **shown: Any,
) -> Response:
    """A document as a page of the app; ``faces`` is its address, for the other forms of it.

    ``live`` is a panel that moves, in place of the document's own.
    """
    report = document if isinstance(document, Report) else document.report
    report = report if live is None else replace(report, panel=live)
    drawn = content(report, Limits())
    title = drawn.pop("title")
    scripts = (("panel.js",) if report.panel is not None else ()) + shown.pop("scripts", ())
    more = {"query": "", "keep": "", "trail": (), "run": None, **shown}
    return page(template, request, title, scripts=scripts, faces=faces, **drawn, **more)


def suffix_of(request: Request) -> str:
    """Which form of a page a request is for; nothing for the page itself."""
    return next((suffix for suffix in FACES if request.url.path.endswith(suffix)), "")


def made_here(request: Request, *inputs: str) -> Provenance:
    """How a document that this process makes came about: what was asked for, and of what."""
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return Provenance.here(f"assay serve, {asked}", [Input(name) for name in inputs])


def face(document: Document | Report, suffix: str, name: str) -> Response:
    """A document in another form; for programs it is the same to the byte as the command line's."""
    form, kind = FACES[suffix]
    saved = {} if suffix == ".json" else {"content-disposition": f'attachment; filename="{name}"'}
    return Response(draw(document, form), media_type=kind, headers=saved)


def _read(*path: str) -> str:
    return files("assay.web").joinpath(*path).read_text("utf-8")
