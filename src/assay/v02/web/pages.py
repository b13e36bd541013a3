"""Pages: the templates of reports with a frame around them, their files, and drawings of runs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from assay.v02.escaping import plural
from assay.v02.inference import Estimate
from assay.v02.measures import catalogue
from assay.v02.number_text import measured, significant
from assay.v02.report import Report, draw
from assay.v02.report.html import content, environment, page_script, page_style, panel_script
from assay.v02.report.html.charts import Frame, Limits, Scale, around
from assay.v02.report.provenance import Input, Provenance
from assay.v02.report.sections import Panel
from assay.v02.web.guards import Refusal

if TYPE_CHECKING:
    from jinja2 import Environment

    from assay.v02.report import Document
    from assay.v02.store.reports import RunTrend, TrendPoint


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
# So many fields a form may have.
_FIELDS = 100
_STYLES = ("app.css",)
_SCRIPTS = ("app.js", "judge.js", "audit.js", "threshold.js")
_NO_REPORT: Mapping[str, Any] = {"panel": None, "trail": ()}


@cache
def _assets() -> Mapping[str, tuple[bytes, str]]:
    """Every file that a page may ask for, by its name; nothing is looked up on a disk."""
    follow = tuple(measure for measure in catalogue.CATALOGUE if measure.formula is not None)
    style = "\n".join((page_style(), *(_read("style", name) for name in _STYLES)))
    texts = {
        "style.css": (style, "text/css; charset=utf-8"),
        "report.js": (page_script(None), "text/javascript; charset=utf-8"),
        "panel.js": (panel_script(follow), "text/javascript; charset=utf-8"),
    }
    texts["icon.svg"] = (_read("style", "icon.svg"), "image/svg+xml")
    for name in _SCRIPTS:
        texts[name] = (_read("script", name), "text/javascript; charset=utf-8")
    return {name: (text.encode(), kind) for name, (text, kind) in texts.items()}


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
    made = environment("assay.v02.web")
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


async def form(request: Request) -> dict[str, str]:
    """The fields of a form, of which each has one value."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qs(body, max_num_fields=_FIELDS)
    except ValueError:
        raise Refusal(422, f"The form has more than {_FIELDS} fields.", "Send fewer.") from None
    return {name: values[-1] for name, values in fields.items()}


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
    return files("assay.v02.web").joinpath(*path).read_text("utf-8")


# -- drawings of several runs ----------------------------------------------------------------------

# They are made here, so that they are seen without a script, in the frame and style of reports.

LONG = Frame(width=760, height=300, left=66, right=748, top=12, bottom=250)
SPARK = Frame(width=160, height=28, left=3, right=157, top=3, bottom=25)
SQUARE = Frame(width=420, height=360, left=52, right=408, top=12, bottom=310)
# As many runs as can be told apart.
MOST = 6
_LOWEST = -5.0
_DATES = 5


@dataclass(frozen=True)
class TrendDot:
    """A run in a trend: where it stands, its interval, and what is said of it."""

    run: str
    x: str
    y: str
    low: str
    high: str
    title: str
    gate: str


# More dots than that can't be told apart, so they are no links.
LINKED = 300


@dataclass(frozen=True)
class TrendLine:
    """A trend: one line for each test set, and a dot for each run."""

    description: str
    lines: tuple[str, ...]
    dots: tuple[TrendDot, ...]
    across: tuple[tuple[str, str], ...]
    up: tuple[tuple[str, str], ...]
    frame: Frame
    reach: str
    linked: bool


@dataclass(frozen=True)
class RocOverlay:
    """Curves of several runs, each with its name and number."""

    description: str
    title: str
    curves: tuple[tuple[int, str, str], ...]
    across: tuple[tuple[str, str], ...]
    up: tuple[tuple[str, str], ...]
    frame: Frame


def trend_line(trend: RunTrend, frame: Frame = LONG) -> TrendLine:
    """A trend over its runs in their order."""
    points = trend.points
    across = Scale(0.5, len(points) + 0.5)
    ends = [end for p in points for end in (p.value, p.low, p.high) if end is not None]
    up = around(ends, (-math.inf, math.inf))
    dots = tuple(_trend_dot(point, i, across, up, frame) for i, point in enumerate(points, 1))
    lines: dict[int, list[str]] = {}
    for point, dot in zip(points, dots, strict=True):
        lines.setdefault(point.segment, []).append(f"{dot.x} {dot.y}")
    every = max(1, math.ceil(len(points) / _DATES))
    first, last = points[0], points[-1]
    return TrendLine(
        description=f"{trend.measure} from {significant(first.value)} on {first.made[:10]} to "
        f"{significant(last.value)} on "
        f"{last.made[:10]}, {len(points)} {plural(len(points), 'run', 'runs')} on {len(lines)} "
        f"{plural(len(lines), 'test set', 'test sets')}",
        lines=tuple(f"M{'L'.join(line)}" for line in lines.values() if len(line) > 1),
        dots=dots,
        across=tuple(
            (frame.x(across.share(i)), point.made[:10])
            for i, point in enumerate(points, 1)
            if (i - 1) % every == 0
        ),
        up=tuple((frame.y(up.share(number)), text) for number, text in up.marks()),
        frame=frame,
        reach="".join(f"M{dot.x} {dot.low}V{dot.high}" for dot in dots if dot.low),
        linked=len(points) <= LINKED,
    )


def _trend_dot(point: TrendPoint, place: int, across: Scale, up: Scale, frame: Frame) -> TrendDot:
    low, high = point.low, point.high
    has_interval = low is not None and high is not None
    interval = (low, high) if low is not None and high is not None else ()
    shown = measured(Estimate(point.value, *interval))
    return TrendDot(
        run=point.run,
        x=frame.x(across.share(place)),
        y=frame.y(up.share(point.value)),
        low=frame.y(up.share(low)) if has_interval and low is not None else "",
        high=frame.y(up.share(high)) if has_interval and high is not None else "",
        title=f"{point.made[:16].replace('T', ' ')}: {shown}",
        gate=point.gate or "",
    )


def roc_overlay(runs: Sequence[tuple[str, Mapping[str, Any]]], *, log: bool) -> RocOverlay | None:
    """The ROC curves of evaluations, by their documents; None where none has scores.

    With ``log`` false positive rates stand on a log scale, where most detectors work.
    """
    curves = []
    for number, (name, document) in enumerate(runs[:MOST], 1):
        path = _roc(document, log=log)
        if path:
            curves.append((number, name, path))
    if not curves:
        return None
    scale = Scale(_LOWEST, 0.0) if log else Scale()
    across = (
        [(power, f"1e{power}" if power else "1") for power in range(int(_LOWEST), 1)]
        if log
        else list(scale.marks())
    )
    names = ", ".join(name for _, name, _ in curves)
    return RocOverlay(
        description=f"ROC curves{' at small false positive rates' if log else ''} of {names}",
        title="ROC, log scale" if log else "ROC",
        curves=tuple(curves),
        across=tuple((SQUARE.x(scale.share(at)), text) for at, text in across),
        up=tuple((SQUARE.y(at), text) for at, text in Scale().marks()),
        frame=SQUARE,
    )


def _roc(document: Mapping[str, Any], *, log: bool) -> str:
    """The steps of a curve; the cells of a document are [[tn, fp], [fn, tp]]."""
    sweep, cells = document.get("sweep"), document.get("confusion")
    if not sweep or not cells or len(cells) != 2:
        return ""
    negatives, positives = map(sum, cells)
    if not (negatives and positives and len(sweep["tp"]) > 1):
        return ""
    scale = Scale(_LOWEST, 0.0) if log else Scale()
    steps = []
    for tp, fp in zip(sweep["tp"], sweep["fp"], strict=True):
        rate = fp / negatives
        across = math.log10(max(rate, 10**_LOWEST)) if log else rate
        steps.append((SQUARE.x(scale.share(across)), SQUARE.y(tp / positives)))
    path = [f"M{steps[0][0]} {steps[0][1]}"]
    # A threshold flags more rows or none: the curve goes up, then to the right.
    path += [f"V{y}H{x}" for x, y in steps[1:]]
    return "".join(path)
