"""Several runs beside each other: how a measure went, and whether one run is really better."""

from __future__ import annotations

import asyncio
import json
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.v02.decisions.compare.comparison import BROKEN, FIXED, MOVED
from assay.v02.measures.catalogue import DIFFERENCES
from assay.v02.number_text import significant
from assay.v02.report import Document, Report, document_of
from assay.v02.report.html.blocks import View, block_of
from assay.v02.report.html.charts import Limits
from assay.v02.report.sections import Cell, Column, Kind, Table
from assay.v02.store.comparing import Unpaired, compare_runs
from assay.v02.store.reports import trend_report, unpaired_report
from assay.v02.store.run import summary_of
from assay.v02.web.guards import Refusal
from assay.v02.web.pages import (
    FACES,
    MOST,
    face,
    made_here,
    page,
    report_page,
    roc_overlay,
    suffix_of,
    trend_line,
)
from assay.v02.web.runs import followed, run_of, store_of
from assay.v02.web.site import Site

if TYPE_CHECKING:
    from assay.v02.store import Store
    from assay.v02.store.run import KeptRun

# So many runs of a trend are listed one by one, and so many rows that flipped of each kind.
_LISTED = 200
_FLIPPED = 25
_RECENT = 20
_UNREADABLE = 422
FLIPS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


class Flips(NamedTuple):
    """Rows that two runs decide differently: the first of each kind, and how many there are."""

    rows: list[dict[str, Any]]
    total: int


# -- trends ----------------------------------------------------------------------------------------


async def trend(request: Request) -> Response:
    """How a measure went over the runs of a name."""
    site: Site = request.app.state.site
    return await site.read(_trend, request, site, store_of(request))


def _trend(request: Request, site: Site, store: Store) -> Response:
    name = request.query_params.get("name", "")
    measures = store.measures(name)
    measure = request.query_params.get("measure") or followed(measures)
    if measure is None:
        raise Refusal(404, f"No run named {name!r} has numbers to follow.", link="/")
    suffix = suffix_of(request)
    if suffix:
        report = trend_report(store.trend(name, measure)).made_by(made_here(request, store.place))
        return face(report, suffix, f"trend{suffix}")
    # Drawn anew when there is one run more, or less.
    version = next(((each.runs, each.last) for each in site.names() if each.name == name), None)
    draw = partial(_trend_page, request, store, name, measure, measures)
    return site.drawn(f"trend {name} {measure} {version}", draw)


def _trend_page(
    request: Request, store: Store, name: str, measure: str, known: tuple[str, ...]
) -> Response:
    trend = store.trend(name, measure)
    return page(
        "trend.html",
        request,
        f"{name}: {measure.replace('_', ' ')}",
        trail=(("/", "Runs"), (f"/?{urlencode({'name': name})}", name)),
        trend=trend,
        drawn=trend_line(trend),
        newest=trend.points[: -_LISTED - 1 : -1],
        known=known,
        query=urlencode({"name": name, "measure": measure}),
    )


# -- comparisons -----------------------------------------------------------------------------------


async def compare(request: Request) -> Response:
    """Two runs or more: differences with intervals, flipped rows, curves over each other."""
    site: Site = request.app.state.site
    runs = await site.read(_chosen, request, store_of(request))
    suffix = suffix_of(request)
    if len(runs) < 2 and not suffix:
        return await site.read(_choice, request, store_of(request), runs)
    _must_be_several(runs)
    document, flips = await _comparison(site, runs[0], runs[1], listed=not suffix)
    if isinstance(document, Report):
        inputs = [f"run:{run.id}" for run in runs[:2]]
        document = document.made_by(await site.read(made_here, request, *inputs))
    if suffix:
        return await site.read(face, document, suffix, f"comparison{suffix}")
    return await site.read(_compared, request, runs, document, flips)


def _chosen(request: Request, store: Store) -> list[KeptRun]:
    wanted = list(dict.fromkeys(request.query_params.getlist("run")))
    if len(wanted) > MOST:
        raise Refusal(422, f"{len(wanted)} runs are too many to tell apart.", f"Choose {MOST}.")
    runs = [run_of(store, id_) for id_ in wanted]
    # Whoever ticks runs in a list, where the newest is first, asks what is new against what is old.
    if request.query_params.get("order") == "time":
        runs.sort(key=lambda run: (run.made, run.seq))
    return runs


def _must_be_several(runs: list[KeptRun]) -> None:
    if len(runs) < 2:
        raise Refusal(
            422, "A comparison is of two runs.", "Name both: ?run=ID&run=ID.", link="/compare"
        )


def _choice(request: Request, store: Store, chosen: list[KeptRun]) -> Response:
    """The runs that can be ticked; whichever was ticked before stays among them."""
    recent = store.runs(kind="evaluation", limit=_RECENT).runs
    ticked = [run.id for run in chosen]
    runs = [*chosen, *(run for run in recent if run.id not in ticked)]
    return page("compare.html", request, "Compare runs", runs=runs, chosen=ticked)


async def _comparison(
    site: Site, old: KeptRun, new: KeptRun, *, listed: bool
) -> tuple[Document | Report, Flips | None]:
    """The comparison as the command line makes it; row by row it is work for another process."""
    if old.has_rows and new.has_rows:
        text, flips = await _paired(site, old, new, listed=listed)
        # Rows that can't be matched are compared unpaired all the same.
        if json.loads(text).get("paired", True):
            return await site.read(Document.from_json, text), flips
    return await site.read(_unpaired, old, new), None


async def _paired(
    site: Site, old: KeptRun, new: KeptRun, *, listed: bool
) -> tuple[str, Flips | None]:
    folder = site.new_folder()
    try:
        if listed:
            try:
                answer = await _command(site, old, new, folder, "--flips=flips.jsonl")
                return answer, await site.read(_first_rows, folder / "flips.jsonl")
            except Refusal as refusal:
                # Rows that are not matched or not decided on did not flip; others say so again.
                if refusal.status != _UNREADABLE:
                    raise
        return await _command(site, old, new, folder), None
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _command(site: Site, old: KeptRun, new: KeptRun, folder: Path, *more: str) -> str:
    place = f"--store={site.settings.place}"
    args = ("runs", "compare", old.id, new.id, place, "--format=json", *more)
    answer = await site.run(*args, folder=folder, seconds=site.limits.seconds - 2)
    return answer.out


def _first_rows(path: Path) -> Flips:
    """The first rows of each kind, those that became wrong before the others."""
    kinds: dict[str, list[dict[str, Any]]] = {BROKEN: [], MOVED: [], FIXED: []}
    total = 0
    with path.open(encoding="utf-8") as lines:
        for total, line in enumerate(lines, 1):  # noqa: B007 - the last one is how many
            row = json.loads(line)
            if len(kinds[row["flip"]]) < _FLIPPED:
                kinds[row["flip"]].append(row)
    return Flips([row for rows in kinds.values() for row in rows], total)


def _unpaired(old: KeptRun, new: KeptRun) -> Document | Report:
    comparison = compare_runs(old, new)
    return (
        unpaired_report(comparison) if isinstance(comparison, Unpaired) else document_of(comparison)
    )


def _compared(
    request: Request, runs: list[KeptRun], document: Document | Report, flips: Flips | None
) -> Response:
    plain = [(_run_name(run), json.loads(run.document)) for run in runs]
    curves = [roc_overlay(plain, log=log) for log in (False, True)]
    return report_page(
        request,
        document,
        faces="/compare",
        query=request.url.query,
        template="compared.html",
        trail=(("/", "Runs"), ("/compare", "Compare")),
        runs=runs,
        others=[(runs[0], other) for other in runs[2:]],
        side_by_side=_side_by_side(runs) if len(runs) > 2 else None,
        flips=None if flips is None or not flips.rows else _flip_table(flips),
        flips_query=urlencode([("run", run.id) for run in runs[:2]]),
        curves=[curve for curve in curves if curve is not None],
    )


def _run_name(run: KeptRun) -> str:
    return f"{run.name} {run.id[:6]}"


def _side_by_side(runs: list[KeptRun]) -> View:
    """The measures that runs are compared by, a column for each run."""
    values = [summary_of(run.document).estimates for run in runs]
    rows: list[tuple[Cell, ...]] = [
        (measure.replace("_", " "), *(of_run.get(measure) for of_run in values))
        for measure in DIFFERENCES
        if any(measure in of_run for of_run in values)
    ]
    columns = (Column("measure"), *(Column(_run_name(run), Kind.SHARE) for run in runs))
    return block_of(Table("Each run by itself", columns, tuple(rows), as_rows=True), Limits())


def _flip_table(flips: Flips) -> View:
    """The rows that flipped; what they have in common stands in the caption."""
    first = flips.rows[0]
    called = {head: head for head in ("flip", "row", "id", "label", "family")}
    called |= {"decision_a": first["a"], "score_a": "score"}
    called |= {"decision_b": first["b"], "score_b": "score"}
    heads = [head for head in called if head in first]
    rows: list[tuple[Cell, ...]] = [tuple(_text(row[head]) for head in heads) for row in flips.rows]
    columns = tuple(Column(called[head]) for head in heads)
    more = flips.total - len(rows)
    notes = (
        "Fixed: from wrong to right; broken: from right to wrong.",
        *((f"The first of each kind; all {flips.total:,} are in the files.",) if more else ()),
    )
    caption = f"Rows that {first['a']} and {first['b']} decide differently"
    return block_of(Table(caption, columns, tuple(rows), notes), Limits())


def _text(value: Any) -> str:
    if value is None:
        return ""
    return significant(value, 6) if isinstance(value, float) else str(value)


async def flipped_rows(request: Request) -> Response:
    """Every row that two runs decide differently, as a file."""
    site: Site = request.app.state.site
    runs = await site.read(_chosen, request, store_of(request))
    _must_be_several(runs)
    form = request.path_params["form"]
    if form not in FLIPS:
        raise Refusal(404, f"Flipped rows are given as {' or '.join(FLIPS)}.", link="/compare")
    folder = site.new_folder()
    try:
        await _command(site, runs[0], runs[1], folder, f"--flips=flips.{form}")
        content = await asyncio.to_thread((folder / f"flips.{form}").read_bytes)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    saved = {"content-disposition": f'attachment; filename="flips.{form}"'}
    return Response(content, media_type=FLIPS[form], headers=saved)


ROUTES = (
    *(Route(f"/trend{suffix}", trend) for suffix in (*FACES, "")),
    *(Route(f"/compare{suffix}", compare) for suffix in (*FACES, "")),
    Route("/compare/flips.{form}", flipped_rows),
)
