"""Histories of one kind of runs, newest first: gates, watched detectors, incidents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.errors import AssayError
from assay.report import Report
from assay.report.html.blocks import View, block_of
from assay.report.html.limits import Limits
from assay.store.reports import KEPT, Rules, drawn_again, runs_report
from assay.web.pages import FACES, face, made_here, page, suffix_of
from assay.web.runs import OUTCOMES, before_of, store_of
from assay.web.site import Site

if TYPE_CHECKING:
    from assay.store import Store
    from assay.store.run import Page, Run

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
class Latest:
    """The newest run of a name, how its rules stand, and the drawings of its report."""

    run: Run
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
    found = store.runs(kind=shown.kind, gate=outcome, limit=site.limits.rows, before=before)
    if suffix:
        report = runs_report(found, rules=site.rules if shown.rules else None)
        made = made_here(request, found.place)
        return face(report.made_by(made), suffix, f"{shown.kind}{suffix}")
    # A run does not change in what a history shows of it.
    ids = " ".join(run.id for run in found.runs)
    key = f"{shown.kind} {outcome} {before} {found.more} {found.damaged} {ids}"
    return site.drawn(key, lambda: _page(request, site, shown, found, outcome, before))


def _page(
    request: Request,
    site: Site,
    shown: History,
    found: Page,
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
        runs=[(run, _broken(site.rules(run)) if shown.rules else []) for run in found.runs],
        latest=_latest(site, shown, found.runs) if shown.pictured and not before else (),
        damaged=found.damaged,
        outcome=outcome,
        faces=shown.path,
        query=urlencode(here),
        older=urlencode({**given, "before": found.runs[-1].id}) if found.more else "",
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


def _latest(site: Site, shown: History, runs: Sequence[Run]) -> list[Latest]:
    """The newest run of each of the first names, drawn once."""
    newest: dict[str, Run] = {}
    for run in runs:
        newest.setdefault(run.name, run)
    return [
        site.drawn(f"latest {run.id}", partial(_drawn, site, run, shown))
        for run in list(newest.values())[:_NAMES]
    ]


def _drawn(site: Site, run: Run, shown: History) -> Latest:
    rules = tuple(_in_words(site.rules(run))) if shown.rules else ()
    try:
        document = drawn_again(run)
        report = document if isinstance(document, Report) else document.report
    except AssayError:
        # One run that can't be drawn must not hide the others.
        return Latest(run, rules, ())
    blocks = [block for section in report.sections for block in section.blocks]
    views = [block_of(block, Limits()) for block in blocks]
    drawn = [view for view in views if view.kind in _DRAWN]
    return Latest(run, rules, tuple(drawn[: shown.pictured]))


ROUTES = tuple(Route(f"{path}{suffix}", history) for path in HISTORIES for suffix in (*FACES, ""))
