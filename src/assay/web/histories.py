"""Histories of one kind of runs, newest first: gates, watched detectors, incidents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.store.reports import KEPT, rules_of, runs_report
from assay.web.pages import FACES, face, page, suffix_of
from assay.web.runs import OUTCOMES, before_of, store_of
from assay.web.site import Site

if TYPE_CHECKING:
    from assay.store import Store
    from assay.store.run import Run


@dataclass(frozen=True)
class History:
    """A kind of runs: where its page is, what it is called, and whether its runs have rules."""

    path: str
    kind: str
    title: str
    rules: bool = False
    outcomes: tuple[str, ...] = ()


HISTORIES = {
    history.path: history
    for history in (
        History("/gate", "gate", "Gate history", rules=True, outcomes=OUTCOMES),
        History("/monitor", "monitor", "Monitor", rules=True),
        History("/incidents", "incidents", "Incidents"),
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
        report = runs_report(found, store.place, rules=shown.rules)
        return face(report, suffix, f"{shown.kind}{suffix}")
    given = {"gate": outcome} if outcome else {}
    here = {**given, **({"before": before} if before else {})}
    return page(
        f"{shown.kind}.html",
        request,
        shown.title,
        shown=shown,
        runs=[(run, _broken(run) if shown.rules else []) for run in found.runs],
        damaged=found.damaged,
        outcome=outcome,
        faces=shown.path,
        query=urlencode(here),
        older=urlencode({**given, "before": found.runs[-1].id}) if found.more else "",
        newest=urlencode(given) if before else None,
    )


def _broken(run: Run) -> list[dict[str, str]]:
    """The rules of a run that do not hold, each with its reason, or since when, as text."""
    rules = rules_of(run)
    if rules is None:
        rules = [{"rule": "its document can't be read", "outcome": "undecided"}]
    return [
        {key: str(rule.get(key) or "") for key in ("rule", "outcome", "since", "reason")}
        for rule in rules
        if rule["outcome"] not in KEPT
    ]


ROUTES = tuple(Route(f"{path}{suffix}", history) for path in HISTORIES for suffix in (*FACES, ""))
