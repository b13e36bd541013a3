"""The rows that flipped between two models, as a file."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.errors import OutputError
from assay.cli.reporting import check_place
from assay.report import aside

if TYPE_CHECKING:
    from assay.decisions import Comparison
    from assay.decisions.compare.flips import Array

SUFFIXES = (".csv", ".jsonl", ".parquet")


def check_flips(path: Path | None) -> None:
    """Refuse now what could not be written after a long wait."""
    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"--flips {path}: the suffix tells no format; it is one of {', '.join(SUFFIXES)}"
        )
    check_place(path)


def write_flips(path: Path, comparison: Comparison, rows: Array | None = None) -> int:
    """Write the rows on which any two models decide differently; says how many.

    ``rows`` are their numbers where they came from; else they are counted from 1.
    """
    records = list(_records(comparison, rows))
    try:
        aside.write(path, _content(path.suffix.lower(), records, _heads(comparison)))
    except OSError as error:
        raise OutputError.of(path, error) from error
    return len(records)


def _heads(comparison: Comparison) -> tuple[str, ...]:
    decided = comparison.decided
    if decided is None:
        return ()
    return (
        *("a", "b", "row"),
        *(("id",) if decided.ids is not None else ()),
        "label",
        *(("family",) if decided.rows.families is not None else ()),
        *("decision_a", "decision_b"),
        *(("score_a", "score_b") if decided.rows.first.score is not None else ()),
        "flip",
    )


def _records(comparison: Comparison, rows: Array | None) -> Iterator[dict[str, Any]]:
    heads = _heads(comparison)
    for a, b in itertools.combinations(comparison.models, 2):
        for found in comparison.flipped(a, b):
            record = {
                "a": a,
                "b": b,
                "row": found.row + 1 if rows is None else int(rows[found.row]),
                "id": found.id,
                "label": found.label,
                "family": found.family,
                "decision_a": found.a,
                "decision_b": found.b,
                "score_a": found.score_a,
                "score_b": found.score_b,
                "flip": found.flip,
            }
            yield {head: record[head] for head in heads}


def _content(suffix: str, records: list[dict[str, Any]], heads: tuple[str, ...]) -> bytes:
    if suffix == ".jsonl":
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    if suffix == ".csv":
        from assay.report.spreadsheet import csv_text

        return csv_text(heads, records).encode()
    import polars as pl

    kinds = {"row": pl.Int64, "score_a": pl.Float64, "score_b": pl.Float64}
    schema = {head: kinds.get(head, pl.String) for head in heads}
    stream = io.BytesIO()
    pl.DataFrame(records, schema=schema).write_parquet(stream)
    return stream.getvalue()
