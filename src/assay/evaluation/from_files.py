"""From files to an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.engines import Accumulator, Ask, resolve
from assay.engines.queries import count_queries, countable
from assay.errors import ScoreError
from assay.evaluation.deployment import costs_of
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.labelled_alerts import Unlabelled
from assay.inference import Method
from assay.sources.arrays import coded_columns, one_score, sided
from assay.sources.columns import native
from assay.sources.files import (
    Name,
    Progress,
    Reading,
    Request,
    given_names,
    silent,
    sources,
    typed,
)
from assay.sources.files.inputs import Source
from assay.sources.thresholds import checked_threshold
from assay.tally import Resolved, Tally
from assay.tally.by_name import DECISION, PROBABILITY, SCORE, Refusals
from assay.tally.crosstab import FLAGGED

DECIDED = "threshold= decides on y_score; decisions are taken as they are"


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
    names = given_names(inputs)
    sides = {"positive": positive, "negative": negative, "labels": labels, "unknown": unknown}
    judged: dict[str, Any] = {
        "level": level,
        "interval": interval,
        "base_rate": base_rate,
        "volume": volume,
        "costs": costs_of(cost_fp, cost_fn),
        "period": period,
        "top": top,
    }
    queries = sources(names, request)
    if unknown is None and countable(queries, request):
        return _in_database(queries, request, sides, threshold, judged)
    reading = Reading(names, request, progress)
    tally, single = _counted(reading, sides, threshold)
    said = typed(tally.labels.kind, **sides)
    listed = said["labels"]
    if listed is None and unknown is None and reading.roles.probabilities and single is None:
        listed = [native(label, tally.labels.kind) for label in reading.roles.probabilities]
    resolved, notes = resolve(tally, **{**said, "labels": listed})
    unlabelled = None
    if tally.unlabelled is not None:
        unlabelled = _unlabelled(tally, resolved, one_negative=negative is not None)
    rows = reading.rows({})
    return Evaluation(
        resolved,
        family=rows.family,
        time=rows.time,
        unlabelled=unlabelled,
        source=rows.source,
        notes=(*rows.notes, *notes),
        **judged,
    )


def _in_database(
    queries: Sequence[Source],
    request: Request,
    sides: Mapping[str, Any],
    threshold: float | None,
    judged: Mapping[str, Any],
) -> Evaluation:
    """The evaluation of queries whose rows are counted where they are."""
    if threshold is not None:
        threshold = checked_threshold(threshold)
    counted = count_queries(
        queries, request, Ask(threshold=threshold, on_bad_row=request.on_bad_row)
    )
    if threshold is not None and counted.roles.decision is not None:
        raise ScoreError(DECIDED)
    return Evaluation(
        counted.tally.asked(**typed(counted.tally.labels.kind, **sides)),
        family=counted.roles.family,
        time=counted.roles.time,
        source=counted.source,
        **judged,
    )


def _counted(
    reading: Reading, sides: dict[str, Any], threshold: float | None
) -> tuple[Tally, str | None]:
    """The tally of files; and the label of the only probability, where there is but one."""
    if threshold is not None:
        threshold = checked_threshold(threshold)
    ask = Ask(threshold=threshold)
    counting, unlabelled = Accumulator(ask), Accumulator(ask)
    single: str | None = None
    for collector in reading.pieces():
        if threshold is not None and reading.roles.decision is not None:
            raise ScoreError(DECIDED)
        if len(reading.roles.probabilities) == 1:
            ((single, _),) = reading.roles.probabilities.items()
        columns, rest = collector.take()
        for part, into in ((columns, counting), (rest, unlabelled)):
            if part is None:
                continue
            rows = coded_columns(part)
            said = typed(rows.truth.kind, **sides)
            if single is None:
                rows = sided(rows, said["positive"], said["negative"])
            else:
                _must_be_of(single, said, rows.truth.kind)
                sides["positive"] = native(single, rows.truth.kind)
                rows = one_score(rows, [single])
            into.add(rows)
    reasons = Refusals(reading.reasons)
    tally = counting.done() + Tally(rows=reasons.total, refused=reasons)
    rest_of_rows = unlabelled.done()
    if not rest_of_rows.is_zero:
        tally = replace(tally, unlabelled=rest_of_rows)
    return tally, single


def _must_be_of(single: str, said: Mapping[str, Any], kind: str) -> None:
    of = native(single, kind)
    if said["negative"] is not None or said["positive"] not in (None, of):
        raise ScoreError(f"the only probability is that of {of!r}, so that is the positive")


def _unlabelled(tally: Tally, resolved: Resolved, *, one_negative: bool) -> Unlabelled:
    """How many rows without a label were flagged, by the rule that decides on the others."""
    rest = tally.unlabelled
    assert rest is not None  # noqa: S101 - checked by the caller

    def alarm(name: str) -> bool:
        if set(resolved.labels) <= {"0", "1"}:
            name = {"false": "0", "true": "1"}.get(name, name)
        return name != resolved.labels[0] if one_negative else name == resolved.positive

    if DECISION in rest.decided:
        table = rest.decided[DECISION]
        raised = sum(number for (_, name), number in table.cells.items() if alarm(name))
    else:
        key = SCORE if SCORE in rest.decided else (PROBABILITY, resolved.positive or "")
        table = rest.decided[key]
        low, high = rest.extremes[key]
        if resolved.threshold is None or (tally.threshold is None and not 0 <= low <= high <= 1):
            raise ScoreError(
                f"rows without a label are judged by decisions, and scores of them run from "
                f"{low:g} to {high:g}, so 0.5 means nothing: say threshold=, the score from which "
                f"on a row is flagged"
            )
        raised = sum(number for (_, name), number in table.cells.items() if name == FLAGGED)
    return Unlabelled(raised, sum(table.cells.values()) - raised)
