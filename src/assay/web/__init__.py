"""The web app: pages and their JSON twins, behind guards.

Nothing here is imported before ``assay serve`` asks for it; it needs the extra ``web``.
"""

from __future__ import annotations
