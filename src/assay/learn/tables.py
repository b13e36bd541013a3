"""The files that rows are learned from or predicted for, opened one after another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from assay.sources.files.inputs import sources
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened
from assay.sources.files.request import Progress, Request, silent
from assay.sources.files.table import Meter, Table


def tables(
    inputs: Sequence[str],
    request: Request,
    budget: Budget,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> Iterator[Table]:
    """Each input as a table, open until the next one is asked for."""
    found = sources(inputs, request)
    sizes = [s.path.stat().st_size for s in found if s.path is not None and s.path.is_file()]
    meter = Meter(progress, sum(sizes) if len(sizes) == len(found) else None)
    for source in found:
        with contextlib.ExitStack() as stack:
            yield opened(source, request, budget, meter, stdin, stack)
    meter.done()
