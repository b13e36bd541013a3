"""Audit by typing: claims as a table or as text, judged as they change."""

from __future__ import annotations

import asyncio
import json
import re
import shutil

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from assay.measures import catalogue
from assay.report import Document
from assay.web.judging import form
from assay.web.pages import FACES, face, page, suffix_of
from assay.web.refusals import Refusal
from assay.web.site import Result, Site

_CLAIM = re.compile(r"^\s*\[\[?\s*claim\b", re.MULTILINE)


async def audit_form(request: Request) -> Response:
    """A table to type the numbers of a paper into."""
    names = [measure.name for measure in catalogue.CATALOGUE if measure.formula is not None]
    return page("audit.html", request, "Audit by typing", scripts=("audit.js",), names=names)


async def audited_page(request: Request) -> Response:
    """The audit of text in a form, as a page of its own with all its forms."""
    site: Site = request.app.state.site
    text = await _audited(site, (await form(request)).get("claims", ""))
    return RedirectResponse(site.present(Result("claims", text, ("/audit", "Audit"))), 303)


async def audited_face(request: Request) -> Response:
    """The audit of a body as a file of the command line has it, as that prints it."""
    body = (await request.body()).decode("utf-8", "replace")
    text = await _audited(request.app.state.site, body)
    suffix = suffix_of(request)
    if suffix == ".json":
        return Response(text, media_type="application/json")
    site: Site = request.app.state.site
    return await site.read(lambda: face(Document.from_json(text), suffix, f"audit{suffix}"))


async def audited_typing(request: Request) -> Response:
    """The audit of claims that are being typed; what is half typed is an answer, not a failure."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return Response(await _audited(request.app.state.site, body), media_type="application/json")
    except Refusal as refusal:
        if refusal.status != 422:
            raise
        # A browser would note each as an error in its console.
        return Response(refusal.as_json(), media_type="application/json")


async def _audited(site: Site, claims: str) -> str:
    """The audit of claims, or of whatever else was pasted, as JSON."""
    if not claims.strip():
        raise Refusal(422, "There are no claims.", "Type counts and at least one reported number.")
    if claims.lstrip().startswith("{"):
        await asyncio.to_thread(_must_be_json, claims)
        name = "claims.json"
    else:
        name = "claims.toml" if _CLAIM.search(claims) else "pasted.txt"
    folder = site.new_folder()
    try:
        await asyncio.to_thread((folder / name).write_text, claims, "utf-8")
        seconds = site.limits.seconds / 2
        answer = await site.run("audit", name, "--format=json", folder=folder, seconds=seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return answer.out


def _must_be_json(claims: str) -> None:
    try:
        json.loads(claims)
    except (ValueError, RecursionError) as odd:
        raise Refusal(422, f"The claims are no JSON: {odd}.", "Mend them, or write TOML.") from None


ROUTES = (
    Route("/audit", audit_form),
    Route("/audit", audited_page, methods=["POST"]),
    Route("/audit/typed.json", audited_typing, methods=["POST"]),
    *(Route(f"/audit{suffix}", audited_face, methods=["POST"]) for suffix in FACES),
)
