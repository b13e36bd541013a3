"""Files and frames, whose columns are named: read or counted where they are, and evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.v02.engines import Accumulator, Ask, Columns, Parts, resolve
from assay.v02.engines.frames import (
    MAPPING,
    PANDAS,
    POLARS,
    STREAM,
    CountedFrame,
    count_by_mode,
    kind_of,
    unsupported,
)
from assay.v02.engines.queries import count_queries, countable
from assay.errors import InputError, ScoreError
from assay.v02.evaluation.deployment import Unlabelled, costs_of
from assay.v02.evaluation.evaluation import Evaluation
from assay.v02.inference import Method
from assay.v02.sources import Coded, label_text
from assay.v02.sources.columns import native
from assay.v02.sources.files import (
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
from assay.v02.sources.files.inputs import Source
from assay.v02.sources.files.request import request_of
from assay.v02.sources.labelling import checked_threshold
from assay.v02.sources.validation import coded_columns, skips
from assay.v02.tally import Resolved, Tally
from assay.v02.tally.confusion import FLAGGED
from assay.v02.tally.keeping import AUTO
from assay.v02.tally.named_tally import DECISION, PROBABILITY, SCORE, Refusals

DECIDED = "threshold= decides on y_score; decisions are taken as they are"
# What names a column of a frame, and what is a column itself.
NAMED = ("label", "score", "decision", "probabilities", "count", "weight", "cluster", "time")
ARRAYS = ("y_score", "y_pred", "y_proba", "counts", "sample_weight", "clusters", "times")
# What tells which label is what, and is resolved on the sum.
_SIDES = ("positive", "negative", "labels")
# The columns of a frame, and how they are called as arrays.
_INSTEAD = {
    "score": "y_score",
    "decision": "y_pred",
    "probabilities": "y_proba",
    "count": "counts",
    "weight": "sample_weight",
    "cluster": "clusters",
    "time": "times",
}
# The column of strata, where it comes without a name and as a sample has it.
STRATUM = "stratum"
_FRAMES_ONLY = ("mode", "max_memory")
_OTHERS = ("family", "slices", "threshold", "unknown", "on_bad_row", *_FRAMES_ONLY)
_EXAMPLE = "evaluate(frame, label='y', score='p')"


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
    request = replace(request_of(request), by_threshold=threshold is not None)
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
    judged = _FileRows(reading, sides, ask)
    parts = Parts(judged.parts, reading.again, reading.budget.limit)
    tally, mode_notes = parts.count(ask, mode)
    reasons = Refusals(reading.reasons)
    tally += Tally(rows=reasons.total, refused=reasons)
    tally = replace(tally, unlabelled=judged.unlabelled())
    kind = tally.labels.kind
    labelling = typed(kind, **sides)
    listed = labelling["labels"]
    if judged.single is not None:
        labelling["positive"] = native(judged.single, kind)
    elif listed is None and unknown is None and reading.roles.probabilities:
        listed = [native(label, kind) for label in reading.roles.probabilities]
    resolved, notes = resolve(tally, **{**labelling, "labels": listed})
    unlabelled = None
    if tally.unlabelled is not None:
        given, one_negative = tally.threshold is not None, negative is not None
        unlabelled = _unlabelled(
            tally.unlabelled, resolved, threshold_given=given, one_negative=one_negative
        )
    rows = reading.rows({})
    return Evaluation(
        resolved,
        family=rows.family,
        time=rows.time,
        strata=request.strata,
        unlabelled=unlabelled,
        source=rows.source,
        notes=(*rows.notes, *refusal_notes(reading.reasons), *mode_notes, *notes),
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
        notes=(*refusal_notes(counted.tally.refused.reasons), *counted.notes),
        **options,
    )


class _FileRows:
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
            columns, unlabelled = collector.take()
            probable, kind = list(roles.probabilities), columns["y_true"].kind
            if unlabelled is not None:
                self._unlabelled.add(ranked(coded_columns(unlabelled), probable, kind, self._sides))
            yield ranked(coded_columns(columns), probable, kind, self._sides)

    def unlabelled(self) -> Tally | None:
        """The rows without a label, under a label without a name; None where there are none."""
        tally = self._unlabelled.done()
        return None if tally.is_zero else tally


def _unlabelled(
    tally: Tally, resolved: Resolved, *, threshold_given: bool, one_negative: bool
) -> Unlabelled:
    """How many rows without a label were flagged, by the rule that decides on the others."""

    def alarm(name: str) -> bool:
        if set(resolved.labels) <= {"0", "1"}:
            name = {"false": "0", "true": "1"}.get(name, name)
        return name != resolved.labels[0] if one_negative else name == resolved.positive

    if DECISION in tally.decided:
        table = tally.decided[DECISION]
        raised = sum(number for (_, name), number in table.cells.items() if alarm(name))
    else:
        key = SCORE if SCORE in tally.decided else (PROBABILITY, resolved.positive or "")
        table = tally.decided[key]
        low, high = tally.extremes[key]
        if resolved.threshold is None or not (threshold_given or 0 <= low <= high <= 1):
            raise ScoreError(
                f"rows without a label are judged by decisions, and scores of them run from "
                f"{low:g} to {high:g}, so 0.5 means nothing: say threshold=, the score from which "
                f"on a row is flagged"
            )
        raised = sum(number for (_, name), number in table.cells.items() if name == FLAGGED)
    return Unlabelled(raised, sum(table.cells.values()) - raised)


# -- frames ----------------------------------------------------------------------------------------


def names_columns(rows: Any, given: Mapping[str, Any]) -> bool:
    """Whether columns are named, so that rows have to be a frame; refuses what is half of each.

    >>> names_columns([1, 0], {"y_score": [0.9, 0.2]})
    False
    """
    named = [name for name in (*NAMED, *_FRAMES_ONLY) if given.get(name) is not None]
    if not named:
        _must_name_columns(rows)
        return False
    arrays = [name for name in ARRAYS if given.get(name) is not None]
    if kind_of(rows) is None:
        if arrays and named[0] in _FRAMES_ONLY:
            raise InputError(
                f"{named[0]}= says how the scores of a frame are kept, and those of columns are "
                f"all kept: leave it out, or name the columns of a frame, {_EXAMPLE}"
            )
        raise unsupported(rows)
    if arrays:
        other = next(name for name, array in _INSTEAD.items() if array == arrays[0])
        raise InputError(
            f"{named[0]}= names a column of a frame and {arrays[0]}= is a column itself: give "
            f"{other}= with the name of its column, or every column as an array"
        )
    if given.get("label") is None:
        raise InputError(f"label= is missing, the column of what was true: {_EXAMPLE}")
    return True


def _must_name_columns(rows: Any) -> None:
    """Refuse a frame where no column is named, unless it has but one."""
    if kind_of(rows) in (None, MAPPING, STREAM):
        return
    if kind_of(rows) in (POLARS, PANDAS) and len(rows.columns) == 1:
        return
    kind = type(rows).__name__
    raise InputError(f"a {kind} has several columns: say which is which, {_EXAMPLE}")


def with_strata(slices: Any, strata: Any) -> tuple[Any, str | None]:
    """Slices with the strata among them, and the name of their column."""
    if strata is None:
        return slices, None
    if not isinstance(strata, str):
        if slices is not None and not isinstance(slices, Mapping):
            raise InputError("strata= is a column itself, so slices= map a name to a column")
        return {**(slices or {}), STRATUM: strata}, STRATUM
    if isinstance(slices, Mapping):
        raise InputError(
            "strata= names a column of a frame and slices= are columns themselves: give names of "
            "both, or both as arrays"
        )
    named = (slices,) if isinstance(slices, str) else slices or ()
    return (*named, strata), strata


def count_frame(rows: Any, given: Mapping[str, Any]) -> CountedFrame:
    """Count the rows of a frame by what was said of its columns."""
    read = (*NAMED, *_OTHERS, *_SIDES)
    unknown = [name for name in given if name not in (*read, *ARRAYS)]
    if unknown:
        raise InputError(
            f"{', '.join(unknown)} is not read; of a frame there are {', '.join(read)}"
        )
    outputs = [
        name for name in ("score", "decision", "probabilities") if given.get(name) is not None
    ]
    if not outputs:
        raise InputError(
            f"say which column holds what the model said, score=, decision= or probabilities=: "
            f"{_EXAMPLE}"
        )
    if "score" in outputs and "probabilities" in outputs:
        raise ScoreError("give score= or probabilities=, not both")
    if given.get("unknown") is not None:
        raise InputError(
            "unknown= is judged from arrays: give y_true and y_proba, such as "
            "evaluate(frame['y'], y_proba=..., unknown=...)"
        )
    threshold = given.get("threshold")
    if threshold is not None and "decision" in outputs:
        raise ScoreError("threshold= decides on score=; decisions are taken as they are")
    skips(given.get("on_bad_row"))
    ask = Ask(
        threshold=None if threshold is None else checked_threshold(threshold),
        on_bad_row=given.get("on_bad_row") or "stop",
        positive=given.get("positive"),
        negative=given.get("negative"),
    )
    mode = AUTO if given.get("mode") is None else given["mode"]
    counted = count_by_mode(rows, _columns(given), ask, mode, given.get("max_memory"))
    tally = counted.tally.asked(**{name: given.get(name) for name in _SIDES})
    notes = (*refusal_notes(tally.refused.reasons), *counted.notes)
    return replace(counted, tally=tally, notes=notes)


def refusal_notes(reasons: Mapping[str, int]) -> tuple[str, ...]:
    """How many rows were left out, and why."""
    return tuple(
        f"{rows:,} {'row was' if rows == 1 else 'rows were'} left out: {reason}"
        for reason, rows in reasons.items()
    )


def _columns(given: Mapping[str, Any]) -> Columns:
    roles = [name for name in (*NAMED, "family") if name != "probabilities"]
    names: dict[str, Any] = {name: given.get(name) for name in roles}
    for name, column in names.items():
        if column is not None and not isinstance(column, str):
            array_name = _INSTEAD.get(name)
            advice = (
                "" if array_name is None else f"; columns themselves are given as {array_name}="
            )
            raise InputError(
                f"{name}= is the name of a column, as text; found {type(column).__name__}{advice}"
            )
    probabilities = given.get("probabilities") or {}
    if not isinstance(probabilities, Mapping):
        raise InputError(
            f"probabilities= maps a label to the name of its column; found "
            f"{type(probabilities).__name__}"
        )
    slices: Sequence[str] = given.get("slices") or ()
    if isinstance(slices, str):
        slices = (slices,)
    if isinstance(slices, Mapping) or not all(isinstance(name, str) for name in slices):
        raise InputError("slices= are names of columns of the frame, such as ['host', 'protocol']")
    return Columns(
        **names,
        slices=tuple(dict.fromkeys(slices)),
        probabilities={label_text(label): str(name) for label, name in probabilities.items()},
    )
