"""From files to a choice of threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.decisions.threshold.choose import choose_of_tallies
from assay.decisions.threshold.holdout import labelled_like
from assay.decisions.threshold.result import Choice
from assay.decisions.threshold.sweep import tallies_of
from assay.errors import CountError, InputError, ScoreError
from assay.inference import Bootstrap
from assay.inference.chosen import Progress as Resampled
from assay.sources import FAMILY, Batch, from_arrays
from assay.sources.files import Name, Progress, Request, Rows, given_names, labelled, read, silent


def choose_threshold_files(
    inputs: Name | Sequence[Name],
    request: Request | None = None,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    max_far: float | None = None,
    max_fpr: float | None = None,
    min_dr: float | None = None,
    min_dr_families: Mapping[str, float] | float | None = None,
    max_alerts: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    base_rate: float | None = None,
    volume: float | None = None,
    confidence: float = 0.9,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 42,
    holdout: Name | Sequence[Name] | None = None,
    progress: Progress = silent,
    resampled: Resampled | None = None,
) -> Choice:
    r"""Choose a threshold on scores that are in files; see :func:`choose_threshold`.

    ``inputs`` and ``holdout`` are paths, ``-`` for standard input, or ``sqlite:FILE?QUERY``.
    ``request`` says which columns to read and how, its ``family`` which tells the kind of attack.
    ``progress`` hears how much was read, ``resampled`` how many resamples are done.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     _ = path.write_text("label,score\n" + "attack,0.9\nnormal,0.2\n" * 50)
    ...     choice = choose_threshold_files(str(path), max_fpr=0.1, resamples=20)
    >>> choice.guaranteed.threshold
    0.9
    """
    request = replace(request or Request(), by_threshold=True)
    if request.weight is not None:
        raise CountError(
            f"column {request.weight!r} holds sampling weights: a threshold is chosen, and its "
            f"promise made, by counting rows. Leave the weight out, or say --count where a row "
            f"stands for many"
        )
    if request.decision is not None:
        raise InputError("a threshold decides on scores: name the score, not a decision")
    said = {"positive": positive, "negative": negative, "labels": labels}
    rows = read(given_names(inputs), request, progress)
    family = rows.family or FAMILY
    batch = _batch(rows, said)
    unseen = None
    if holdout is not None:
        others = read(given_names(holdout), request, progress)
        chosen, unlike = (part.columns["y_true"].used() for part in (rows, others))
        try:
            judged = _batch(others, labelled_like(chosen, unlike, batch.positive, said))
        except InputError as error:
            raise type(error)(f"{others.name}: {error}") from error
        unseen = tallies_of(judged, family, others.source)
    return choose_of_tallies(
        tallies_of(batch, family, rows.source, rows.notes),
        {
            "max_far": max_far,
            "max_fpr": max_fpr,
            "min_dr": min_dr,
            "min_dr_families": min_dr_families,
            "max_alerts": max_alerts,
            "cost_fp": cost_fp,
            "cost_fn": cost_fn,
            "base_rate": base_rate,
            "volume": volume,
            "confidence": confidence,
        },
        family=family,
        method=Bootstrap(level, resamples, seed),
        holdout=unseen,
        progress=resampled,
    )


def _batch(rows: Rows, said: Mapping[str, Any]) -> Batch:
    if "y_score" not in rows.columns and "y_proba" not in rows.columns:
        raise ScoreError(
            f"{rows.name}: a threshold is chosen on scores, and only decisions were found. Say "
            f"which column holds the scores with --score"
        )
    columns = labelled(rows, **said)
    columns.pop("y_pred", None)
    return from_arrays(**columns, threshold=0.0)  # any: thresholds are what is looked for
