"""From files to a choice of threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.decisions.threshold.choose import choose_of_tallies
from assay.decisions.threshold.counting import CountedFiles, family_of
from assay.decisions.threshold.holdout import labelled_like
from assay.decisions.threshold.result import Choice
from assay.errors import CountError, InputError
from assay.inference import Bootstrap
from assay.inference.chosen import Progress as Resampled
from assay.sources.files import Name, Progress, Request, given_names, silent
from assay.tally.keeping import AUTO


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
    mode: str = AUTO,
    progress: Progress = silent,
    resampled: Resampled | None = None,
) -> Choice:
    r"""Choose a threshold on scores that are in files; see :func:`choose_threshold`.

    ``inputs`` and ``holdout`` are paths, ``-`` for standard input, or ``sqlite:FILE?QUERY``.
    ``request`` says which columns to read and how, its ``family`` which tells the kind of attack.
    ``mode`` says how scores are kept, as in :func:`evaluate_files`. ``progress`` hears how much was
    read, ``resampled`` how many resamples are done.

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
    sides = {"positive": positive, "negative": negative, "labels": labels}
    files = CountedFiles(given_names(inputs), request, sides, progress, mode)
    tallies, unseen = files.tallies(), None
    if holdout is not None:
        like = dict(sides)
        if negative is None:
            like["positive"] = tallies.resolved.positive
        others = CountedFiles(given_names(holdout), request, like, progress, mode)
        try:
            alike = labelled_like(files.labels, others.labels, tallies.resolved.positive, sides)
            unseen = others.tallies(alike)
        except InputError as error:
            raise type(error)(f"{others.name}: {error}") from error
    return choose_of_tallies(
        tallies,
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
        family=family_of(files),
        method=Bootstrap(level, resamples, seed),
        holdout=unseen,
        progress=resampled,
    )
