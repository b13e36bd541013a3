"""Runs that were kept: the list, one of them, trends, comparisons, gates."""

from __future__ import annotations

from starlette.routing import Route

ROUTES: tuple[Route, ...] = ()
