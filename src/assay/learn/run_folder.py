"""What a training leaves in a folder, as far as it is data: model, predictions, folds, and how.

The files that people read are made by :mod:`assay.report`. Everything but the times in
``run.json`` is the same, byte by byte, for the same command.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.learn.encoding_table import encoding_of
from assay.learn.persistence import MODEL, model_bytes, model_header
from assay.learn.persistence.header import versions
from assay.learn.predicting import DECISION, PROBABILITY, ROW, SCORE
from assay.learn.record import counts_of, settings_of
from assay.learn.run import Run
from assay.measures import AVERAGES, parse

if TYPE_CHECKING:
    import polars as pl

PREDICTIONS = "predictions.parquet"
EVALUATION = "evaluation.json"
REPORT = "report.html"
IMPORTANCE = "importance.csv"
ENCODING = "encoding.json"
FOLDS = "folds.csv"
CARD = "card.md"
RUN = "run.json"
FILES = (MODEL, PREDICTIONS, EVALUATION, REPORT, IMPORTANCE, ENCODING, FOLDS, CARD, RUN)
SCHEMA = "assay.run/1"

LABEL, FOLD, FAMILY, TIME = "label", "fold", "family", "time"


@dataclass(frozen=True)
class Asked:
    """What was asked for: the command, the columns by their role, and the inputs that were read.

    ``inputs`` are names, sizes and SHA-256 sums. ``base_rate`` and ``volume`` are those of
    deployment, as they were given.
    """

    command: str
    label: str
    inputs: tuple[tuple[str, int | None, str | None], ...] = ()
    id: str | None = None
    family: str | None = None
    time: str | None = None
    base_rate: tuple[float, ...] = ()
    volume: float | None = None


def predictions_of(run: Run, id_: str | None = None) -> pl.DataFrame:
    """What was said of each judged row, in the order of the file.

    The number of the row, or the column ``id_`` in its place; its label; the score, or a
    probability a class; the decision; the fold; and where there are such, the family and the time,
    and the columns that rows were divided by.
    """
    import polars as pl

    data, at = run.judged_data, run.judged
    labels = pl.Series(data.labels, dtype=pl.String)
    first = pl.Series(ROW, data.rows[at]) if id_ is None else data.columns[id_][at].rename(id_)
    columns = [first, labels[data.truth[at]].rename(LABEL)]
    if run.binary:
        columns.append(pl.Series(SCORE, run.scores))
    else:
        columns += [
            pl.Series(f"{PROBABILITY}{label}", run.scores[:, code].copy())
            for code, label in enumerate(data.labels)
        ]
    names = pl.Series([fold.name for fold in run.folds], dtype=pl.String)
    columns += [labels[run.said.decisions].rename(DECISION), names[run.fold_of].rename(FOLD)]
    if data.family is not None:
        kinds = pl.Series(data.family.names, dtype=pl.String)
        columns.append(kinds[data.family.codes[at]].rename(FAMILY))
    if data.time is not None:
        zone = "UTC" if data.time_zoned else None
        moments = pl.Series(TIME, data.time[at]).dt.replace_time_zone(zone)
        columns.append(moments)
    taken = {column.name for column in columns}
    columns += [
        column[at].rename(name) for name, column in data.columns.items() if name not in taken
    ]
    return pl.DataFrame(_different(columns))


def _different(columns: Sequence[pl.Series]) -> Sequence[pl.Series]:
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"two columns of {PREDICTIONS} would be called {name!r}: rename that column of the "
                f"data, or say --drop {name}"
            )
    return columns


def folds_of(run: Run) -> list[dict[str, Any]]:
    """A row a fold, as ``assay compare --folds`` reads it.

    Measures that have no value in some fold are left out, since folds can't be compared by them;
    so are those of one label against the rest, which say the same as those of the positive.
    """
    measures = {
        name: values
        for name, values in run.per_fold.items()
        if all(map(math.isfinite, values)) and parse(name)[1] in (None, *AVERAGES)
    }
    return [
        {
            "model": run.recipe.name,
            "repeat": fold.repeat,
            "fold": fold.name,
            "n_train": len(fold.train),
            "n_test": len(fold.test),
            **{name: values[i] for name, values in measures.items()},
        }
        for i, fold in enumerate(run.folds)
    ]


def importance_rows(run: Run) -> tuple[list[str], list[dict[str, Any]]]:
    """The head and the rows of the table of importance, numbers as numbers."""
    return ([], []) if run.importance is None else run.importance.table()


def encoding_text(run: Run) -> str:
    """Codes of labels and texts, means and standard deviations, as JSON that people can read."""
    found = encoding_of(run.model, run.data.labels)
    return json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def model_of(run: Run, asked: Asked) -> bytes:
    """The model file; its header says how the model came about, and never when."""
    header = model_header(
        run.model,
        run.data.frame,
        labels=run.data.labels,
        positive=run.data.positive,
        threshold=run.threshold,
        recipe=run.recipe.name,
        settings=settings_of(run),
        seed=run.seed,
        validation=run.scheme,
        learned_from=run.learned_from,
        label=asked.label,
        text=run.data.text,
    )
    return model_bytes(run.model, header=header)


def parquet(frame: pl.DataFrame) -> bytes:
    """A frame as the bytes of a Parquet file."""
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def run_record(
    run: Run, asked: Asked, files: Iterable[tuple[str, str]], times: Mapping[str, Any]
) -> bytes:
    """How a run came about, as JSON; only ``times`` differs from one run to the next.

    ``files`` are the names and SHA-256 sums of what the run left.
    """
    found = {
        "schema": SCHEMA,
        "command": asked.command,
        "times": dict(times),
        "versions": versions(),
        "inputs": [
            {"name": name, "bytes": size, "sha256": digest} for name, size, digest in asked.inputs
        ],
        "files": dict(files),
        "recipe": run.recipe.name,
        "settings": settings_of(run),
        "seed": run.seed,
        "level": run.evaluation.level,
        "max_far": run.max_far,
        "base_rate": list(asked.base_rate),
        "volume": asked.volume,
        "columns": {
            "label": asked.label,
            "id": asked.id,
            "family": asked.family,
            "time": asked.time,
            "text": run.data.text,
            "dropped": list(run.data.dropped),
            "features": list(run.data.frame.columns),
        },
        "labels": list(run.data.labels),
        "positive": run.data.positive,
        "threshold": run.threshold,
        "learned_from": run.learned_from,
        "split": {
            "rule": run.scheme,
            "seed": run.seed,
            "folds": [
                {"name": fold.name, "repeat": fold.repeat, **counts_of(fold.counts)}
                for fold in run.folds
            ],
        },
        "rows": {
            "read": run.data.rows_read,
            "refused": run.data.rows_refused,
            "judged": len(run.judged),
            "not_judged": run.unjudged,
        },
        "findings": [finding.code for finding in (*run.evaluation.findings, *run.findings)],
    }
    text = json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
    return text.encode(errors="backslashreplace") + b"\n"
