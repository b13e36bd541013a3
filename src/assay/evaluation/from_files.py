"""From files to an evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.engines import Accumulator, Ask, Parts, resolve
from assay.engines.queries import count_queries, countable
from assay.errors import ScoreError
from assay.evaluation.deployment import costs_of
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.labelled_alerts import Unlabelled
from assay.inference import Method
from assay.sources import Coded
from assay.sources.arrays import coded_columns
from assay.sources.columns import native
from assay.sources.files import (
    Name,
    Progress,
    Reading,
    Request,
    given_names,
    ranked,
    silent,
    sources,
    typed,
)
from assay.sources.files.inputs import Source
from assay.sources.thresholds import checked_threshold
from assay.tally import Resolved, Tally
from assay.tally.by_name import DECISION, PROBABILITY, SCORE, Refusals
from assay.tally.crosstab import FLAGGED
from assay.tally.keeping import AUTO

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
    mode: str = AUTO,
    level: float | None = None,
    interval: Method | str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    r"""Evaluate predictions that are in files.

    ``inputs`` are paths, ``-`` for standard input, or ``sqlite:FILE?QUERY``. ``request`` says which
    columns to read and how; those that it does not name are recognised by well-known names.
    ``mode`` says how scores are kept: ``"exact"``, ``"cuts"`` (exact too, in memory of the order of
    the rarer labels), ``"grid"`` (with bounds), or ``"auto"``, which keeps as much as fits into the
    request's ``max_memory`` and says what it kept. Labels may be given as text, whatever the file
    holds; ``unknown`` is one that the model has no probability of.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     _ = path.write_text("label,score\nattack,0.9\nnormal,0.2\n")
    ...     evaluate_files(str(path))["recall"].value
    1.0
    """
    request = replace(request or Request(), by_threshold=threshold is not None)
    if threshold is not None:
        threshold = checked_threshold(threshold)
    names = given_names(inputs)
    sides = {"positive": positive, "negative": negative, "labels": labels, "unknown": unknown}
    options: dict[str, Any] = {
        "level": level,
        "interval": interval,
        "base_rate": base_rate,
        "volume": volume,
        "costs": costs_of(cost_fp, cost_fn),
        "period": period,
        "top": top,
    }
    ask = Ask(threshold=threshold, on_bad_row=request.on_bad_row)
    queries = sources(names, request)
    if unknown is None and countable(queries, request):
        return _in_database(queries, request, sides, ask, mode, options)
    reading = Reading(names, request, progress)
    judged = _Judged(reading, sides, ask)
    parts = Parts(judged.parts, reading.again, reading.budget.limit)
    tally, told = parts.count(ask, mode)
    reasons = Refusals(reading.reasons)
    tally += Tally(rows=reasons.total, refused=reasons)
    tally = replace(tally, unlabelled=judged.unlabelled())
    kind = tally.labels.kind
    said = typed(kind, **sides)
    listed = said["labels"]
    if judged.single is not None:
        said["positive"] = native(judged.single, kind)
    elif listed is None and unknown is None and reading.roles.probabilities:
        listed = [native(label, kind) for label in reading.roles.probabilities]
    resolved, notes = resolve(tally, **{**said, "labels": listed})
    unlabelled = None
    if tally.unlabelled is not None:
        unlabelled = _unlabelled(tally, resolved, one_negative=negative is not None)
    rows = reading.rows({})
    return Evaluation(
        resolved,
        family=rows.family,
        time=rows.time,
        strata=request.strata,
        unlabelled=unlabelled,
        source=rows.source,
        notes=(*rows.notes, *told, *notes),
        **options,
    )


def _in_database(
    queries: Sequence[Source],
    request: Request,
    sides: Mapping[str, Any],
    ask: Ask,
    mode: str,
    options: Mapping[str, Any],
) -> Evaluation:
    """The evaluation of queries whose rows are counted where they are."""
    counted = count_queries(queries, request, ask, mode)
    if ask.threshold is not None and counted.roles.decision is not None:
        raise ScoreError(DECIDED)
    return Evaluation(
        counted.tally.asked(**typed(counted.tally.labels.kind, **sides)),
        family=counted.roles.family,
        time=counted.roles.time,
        strata=request.strata,
        source=counted.source,
        notes=counted.notes,
        **options,
    )


class _Judged:
    """The rows of files, as they are to be counted."""

    def __init__(self, reading: Reading, sides: Mapping[str, Any], ask: Ask) -> None:
        self._reading = reading
        self._sides = sides
        # Of rows without a label it is told how many are flagged, and no more.
        self._ask = replace(ask, scores=None, losses=False)
        self._unlabelled = Accumulator(self._ask)

    @property
    def single(self) -> str | None:
        """The label of the only probability, where there is but one: the probability is a score."""
        labels = list(self._reading.roles.probabilities)
        return labels[0] if len(labels) == 1 else None

    def parts(self) -> Iterator[Coded]:
        """The rows with a label, part by part; the others are counted aside."""
        self._unlabelled = Accumulator(self._ask)
        for collector in self._reading.pieces():
            roles = self._reading.roles
            if self._ask.threshold is not None and roles.decision is not None:
                raise ScoreError(DECIDED)
            columns, rest = collector.take()
            probable, kind = list(roles.probabilities), columns["y_true"].kind
            if rest is not None:
                self._unlabelled.add(ranked(coded_columns(rest), probable, kind, self._sides))
            yield ranked(coded_columns(columns), probable, kind, self._sides)

    def unlabelled(self) -> Tally | None:
        """The rows without a label, under a label without a name; None where there are none."""
        tally = self._unlabelled.done()
        return None if tally.is_zero else tally


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
