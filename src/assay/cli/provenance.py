"""How a report came about: version, command line, and the inputs by their hashes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import __version__
from assay.cli.command import TYPED

if TYPE_CHECKING:
    from assay.report import Provenance
    from assay.sources.files import Request

# Formats that tell how they were made; to hash the input for the others would be idle work.
TELL_HOW = ("markdown", "html")


def provenance(
    context: click.Context, files: Sequence[str], request: Request, face: str
) -> Provenance | None:
    """How a report is made, where its format tells it."""
    if face not in TELL_HOW:
        return None
    from assay.report import Provenance
    from assay.sources.files import inputs_of

    # Counts that were typed have no file behind them.
    found = inputs_of(files, request) if files else ()
    inputs = tuple((each.name, each.size, each.sha256) for each in found)
    return Provenance(__version__, context.meta.get(TYPED, ""), inputs)


def must_not_replace(out: Path | None, files: Sequence[str], request: Request) -> None:
    """Refuse a report that would be written over what it is about."""
    if out is None or not files or not out.is_file():
        return
    from assay.sources.files import paths_of

    for path in paths_of(files, request):
        if out.samefile(path):
            raise click.UsageError(f"--out {out} is an input, which it would replace")
