"""From files to an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay import engines as engine
from assay.errors import ScoreError
from assay.evaluation.deployment import costs_of
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.labelled_alerts import Unlabelled
from assay.inference import Method
from assay.sources import Batch, label_text, open_arrays
from assay.sources.batch import Labels
from assay.sources.columns import BOOLEAN
from assay.sources.files import Name, Progress, Request, given_names, labelled, read, silent
from assay.tally.scores import extremes


def evaluate_files(
    inputs: Name | Sequence[Name],
    request: Request | None = None,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | None = None,
    unknown: Any = None,
    base_rate: float | Sequence[float] | None = None,
    volume: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    period: str | None = None,
    top: int | None = None,
    level: float | None = None,
    interval: Method | str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    r"""Evaluate predictions that are in files.

    ``inputs`` are paths, ``-`` for standard input, or ``sqlite:FILE?QUERY``. ``request`` says which
    columns to read and how; those that it does not name are recognised by well-known names.
    Labels may be given as text, whatever the file holds; ``unknown`` is one that the model has no
    probability of.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     _ = path.write_text("label,score\nattack,0.9\nnormal,0.2\n")
    ...     evaluate_files(str(path))["recall"].value
    1.0
    """
    request = replace(request or Request(), by_threshold=threshold is not None)
    rows = read(given_names(inputs), request, progress)
    columns = labelled(rows, positive=positive, negative=negative, labels=labels, unknown=unknown)
    batch = open_arrays(**columns, threshold=threshold)
    unlabelled = None
    if rows.unlabelled is not None:
        unlabelled = _unlabelled(rows.unlabelled, batch, threshold, one_negative=negative)
    return Evaluation(
        engine.count(batch),
        level=level,
        interval=interval,
        base_rate=base_rate,
        volume=volume,
        costs=costs_of(cost_fp, cost_fn),
        family=rows.family,
        time=rows.time,
        period=period,
        top=top,
        unlabelled=unlabelled,
        source=rows.source,
        notes=(*rows.notes, *batch.notes),
    )


def _unlabelled(
    columns: Mapping[str, Any], batch: Batch, threshold: float | None, *, one_negative: Any
) -> Unlabelled:
    """How many rows without a label were flagged, by the rule that decides on the others."""
    flagged = _flagged(columns, batch, threshold, one_negative=one_negative)
    counts = columns.get("counts")
    if counts is None:
        raised = int(np.count_nonzero(flagged))
        return Unlabelled(raised, len(flagged) - raised)
    raised = int(counts[flagged].sum())
    return Unlabelled(raised, int(counts.sum()) - raised)


def _flagged(
    columns: Mapping[str, Any], batch: Batch, threshold: float | None, *, one_negative: Any
) -> npt.NDArray[np.bool_]:
    def alarm(name: str) -> bool:
        return name == batch.positive if one_negative is None else name != batch.labels[0]

    decision: Labels | None = columns.get("y_pred")
    if decision is not None:
        names = decision.names
        if decision.kind == BOOLEAN and set(batch.labels) <= {"0", "1"}:
            names = tuple({"false": "0", "true": "1"}[name] for name in names)
        return np.array([alarm(name) for name in names], bool)[decision.codes]
    if "y_proba" in columns:
        chosen = [c for label, c in columns["y_proba"].items() if alarm(label_text(label))]
        scores = np.sum(chosen, axis=0)
    else:
        scores = columns["y_score"]
    low, high = extremes(scores)
    if batch.threshold is None or (threshold is None and not (low >= 0 and high <= 1)):
        raise ScoreError(
            f"rows without a label are judged by decisions, and scores of them run from {low:g} to "
            f"{high:g}, so 0.5 means nothing: say threshold=, the score from which on a row is "
            f"flagged"
        )
    return np.asarray(scores >= np.float64(batch.threshold))
