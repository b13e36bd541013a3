"""Labelled tables as the commands ``train`` and ``check`` read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.cli.progress import Progress

if TYPE_CHECKING:
    from assay.learn.data import Data
    from assay.sources.files import Request


def reading_of(
    request: Request,
    progress: Progress,
    *,
    label: str,
    text: str | None,
    drop: tuple[str, ...],
    keep: Sequence[str | None],
) -> dict[str, Any]:
    """How all parts are read; ``keep`` are columns that are no features, where they were named."""
    return {
        "label": label,
        "text": text,
        "drop": drop,
        "keep": tuple(dict.fromkeys(column for column in keep if column is not None)),
        "family": request.family,
        "time": request.time,
        "input_format": request.input_format,
        "encoding": request.encoding,
        "delimiter": request.delimiter,
        "on_bad_row": request.on_bad_row,
        "glob": request.glob,
        "max_memory": request.max_memory,
        "progress": progress,
    }


def read_part(inputs: str | Sequence[str], reading: dict[str, Any], said: dict[str, Any]) -> Data:
    """One part; ``said`` tells which labels there are, or the part that it has to be like."""
    from assay.learn.data import read_data

    return read_data(inputs, **reading, **said)
