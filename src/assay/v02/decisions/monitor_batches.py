"""Watch a detector in use: from files or columns, and from the state of an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.v02.decisions.daily_counts import (
    Batch,
    CheckedBatches,
    Reference,
    WatchRequest,
    count_days,
    reference_of,
    settings_of,
)
from assay.v02.decisions.monitor_periods import MATURE, judge_periods, must_be_a_share
from assay.v02.decisions.monitor_result import Monitor, watched_rules
from assay.v02.decisions.rule import Rule
from assay.errors import InputError, TallyError
from assay.v02.escaping import given_text
from assay.v02.evaluation.wording import some
from assay.v02.inference.bootstrap import SEED
from assay.v02.inference.significance import check_flag, check_level, check_seed
from assay.v02.sources import must_share_index
from assay.v02.sources.columns import polars_frame
from assay.v02.sources.files.inputs import Name, given_names
from assay.v02.sources.files.request import TAKE_OUT, Progress, Request, must_read, silent
from assay.v02.sources.labelling import checked_threshold
from assay.v02.sources.times import DAY, time_column
from assay.v02.sources.validation import slice_columns
from assay.v02.tally import from_bytes
from assay.v02.tally.daily import DailyTally

_LABEL, _SCORE, _DECISION, _TIME = "label", "score", "decision", "time"
_OLD_SCORE, _OLD_DECISION = "old score", "old decision"


def monitor_files(
    inputs: Name | Sequence[Name],
    request: Request,
    *,
    reference: Name | Sequence[Name] | None = None,
    features: Sequence[str] = (),
    old_score: str | None = None,
    old_decision: str | None = None,
    threshold: float | None = None,
    old_threshold: float | None = None,
    state: DailyTally | bytes | None = None,
    recount: bool = False,
    every: str | int = DAY,
    rules: str | Rule | Iterable[str | Rule] = (),
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    mature: float = MATURE,
    level: float = 0.95,
    seed: int = SEED,
    progress: Progress = silent,
) -> Monitor:
    r"""Watch a detector whose rows are in files; ``request`` names the column of times.

    A row without a label is one that nobody has looked at yet. ``reference`` are rows from when all
    was well, whose columns new rows are held against. ``state`` is the tally of an earlier run,
    whose days are counted with those of the files; days that it has already are refused, or counted
    anew with ``recount``.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "alerts.csv")
    ...     rows = "2026-03-01,attack,0.9\n2026-03-01,normal,0.8\n" * 100
    ...     _ = path.write_text("time,label,score\n" + rows)
    ...     watched = monitor_files(str(path), Request(time="time"), rules="precision >= 0.9")
    >>> watched.outcome.value, watched.rules[0].since
    ('broken', '2026-03-01')
    """
    if request.time is None:
        raise InputError("a monitor follows rows over time: say time=, the column of moments")
    must_read("a monitor", request, "label", "score", "decision", "time")
    watching = _watching(
        threshold, old_threshold, old_score=old_score, old_decision=old_decision, features=features
    )
    given: dict[str, Any] = {
        "rules": watched_rules(rules),
        "mature": mature,
        "seed": check_seed(seed),
    }
    must_be_a_share(mature)
    before = _state(state)
    names = None if reference is None else given_names(reference)

    notes: list[str] = []

    def rows_of_reference() -> Iterator[Batch]:
        batches = CheckedBatches(replace(request, time=None), watching)
        yield from batches.of_files(names or [], silent)
        notes.extend(batches.notes)

    reference_counts = _reference(
        None if names is None else rows_of_reference, before, watching, seed
    )
    batches = CheckedBatches(request, watching)
    rows = batches.of_files(given_names(inputs), progress)
    counted = _counted_days(batches, rows, watching, reference_counts, before, recount=recount)
    return judge_periods(
        counted,
        every=every,
        positive=positive,
        negative=negative,
        labels=labels,
        level=check_level(level),
        source=batches.source(),
        row_notes=(*notes, *batches.notes),
        **given,
    )


def monitor(
    times: Any,
    y_true: Any = None,
    *,
    y_score: Any = None,
    y_pred: Any = None,
    old_score: Any = None,
    old_decision: Any = None,
    features: Mapping[str, Any] | None = None,
    reference: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    old_threshold: float | None = None,
    state: DailyTally | bytes | None = None,
    recount: bool = False,
    every: str | int = DAY,
    rules: str | Rule | Iterable[str | Rule] = (),
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    mature: float = MATURE,
    level: float = 0.95,
    seed: int = SEED,
) -> Monitor:
    """Watch a detector from columns: figures that hold however often one looks.

    ``times`` tells when each row happened; a label that is missing is of a row that nobody has
    looked at yet. ``reference`` maps ``y_score`` or ``y_pred``, and where there are any ``y_true``
    and the names of features, to columns of rows from when all was well. ``state`` is the ``tally``
    of an earlier monitor. See :func:`monitor_files` for rows in files.

    >>> days = ["2026-03-01"] * 60 + ["2026-03-02"] * 60
    >>> watched = monitor(days, ["attack", "normal", None] * 40, y_score=[0.9, 0.8, 0.1] * 40)
    >>> watched["precision"].estimate
    0.500 [0.322, 0.678]
    """
    must_share_index(
        {"times": times, "y_true": y_true, "y_score": y_score, "y_pred": y_pred}
        | {"old_score": old_score, "old_decision": old_decision, "features": features}
    )
    features = dict(slice_columns(features, "columns of features="))
    for name in features:
        if name in (_LABEL, _SCORE, _DECISION, _TIME, _OLD_SCORE, _OLD_DECISION):
            raise InputError(f"features= has a column called {name!r}; give it another name")
    given = {
        _TIME: time_column(times, "times"),
        _LABEL: y_true,
        _SCORE: y_score,
        _DECISION: y_pred,
        _OLD_SCORE: old_score,
        _OLD_DECISION: old_decision,
        **features,
    }
    if y_score is None and y_pred is None:
        raise InputError("say what the model said: y_score= or y_pred=")
    watching = _watching(
        threshold,
        old_threshold,
        old_score=None if old_score is None else _OLD_SCORE,
        old_decision=None if old_decision is None else _OLD_DECISION,
        features=tuple(features),
    )
    request = Request(
        label=None if y_true is None else _LABEL,
        score=None if y_score is None else _SCORE,
        decision=None if y_pred is None else _DECISION,
        time=_TIME,
    )
    before = _state(state)

    def rows_of_reference() -> Iterator[Batch]:
        must_share_index({"reference": reference})
        reference_columns = slice_columns(reference, "columns of reference=")
        sides = {"y_true": _LABEL, "y_score": _SCORE, "y_pred": _DECISION}
        columns = {sides.get(name, name): column for name, column in reference_columns.items()}
        asked = replace(request, time=None, label=_LABEL if _LABEL in columns else None)
        plain = replace(watching, old_score=None, old_decision=None)
        batches = CheckedBatches(asked, plain, advice=TAKE_OUT)
        return batches.of_frame(polars_frame(columns), "reference=")

    rules = watched_rules(rules)
    must_be_a_share(mature)
    reference_counts = _reference(
        None if reference is None else rows_of_reference, before, watching, check_seed(seed)
    )
    batches = CheckedBatches(request, watching, advice=TAKE_OUT)
    rows = batches.of_frame(polars_frame(given), "the rows")
    counted = _counted_days(batches, rows, watching, reference_counts, before, recount=recount)
    return judge_periods(
        counted,
        every=every,
        rules=rules,
        positive=positive,
        negative=negative,
        labels=labels,
        mature=mature,
        level=check_level(level),
        seed=seed,
        source=batches.source(),
    )


def _watching(
    threshold: float | None,
    old_threshold: float | None,
    *,
    old_score: str | None,
    old_decision: str | None,
    features: Sequence[str],
) -> WatchRequest:
    if old_score is not None and old_decision is not None:
        raise InputError("give old_score= or old_decision=, not both")
    if old_threshold is not None and old_score is None:
        raise InputError(
            f"old_threshold= decides on old_score=, which is not given; found "
            f"{given_text(old_threshold)}"
        )
    if len(set(features)) < len(features):
        raise InputError(f"features= names a column twice: {', '.join(features)}")
    old = old_threshold if old_threshold is not None else threshold
    return WatchRequest(
        threshold=None if threshold is None else checked_threshold(threshold),
        old_score=old_score,
        old_decision=old_decision,
        old_threshold=None if old is None or old_score is None else checked_threshold(old),
        features=tuple(features),
    )


# -- reference and state ---------------------------------------------------------------------------


def _state(given: DailyTally | bytes | None) -> DailyTally | None:
    state = from_bytes(given) if isinstance(given, bytes) else given
    if state is not None and not isinstance(state, DailyTally):
        raise TallyError(f"state= is a {type(state).__name__}, not what a monitor left")
    return None if state is None or state.is_zero else state


def _reference(
    rows: Any, before: DailyTally | None, watching: WatchRequest, seed: int
) -> Reference | None:
    """The reference that is given, or else the one that the state was counted by."""
    if rows is not None:
        return reference_of(rows(), seed)
    if before is not None and before.settings["reference"] is not None:
        return Reference.of_plain(before.settings["reference"])
    if watching.features:
        raise InputError(
            f"features= are held against a reference: give reference=, rows from when all was well "
            f"(found features {', '.join(watching.features)})"
        )
    return None


def _counted_days(
    batches: CheckedBatches,
    rows: Iterator[Batch],
    watching: WatchRequest,
    reference: Reference | None,
    before: DailyTally | None,
    *,
    recount: bool,
) -> DailyTally:
    """The days of the rows, and those of the state."""
    check_flag("recount=", recount)
    counted = count_days(rows, reference)
    counted = replace(counted, settings=settings_of(batches, watching, reference))
    if before is None:
        return counted
    for key, setting in counted.settings.items():
        earlier = before.settings.get(key)
        if setting != earlier:
            difference = (
                "another reference" if key == "reference" else f"{key} {earlier!r}, not {setting!r}"
            )
            raise InputError(
                f"state= was counted with {difference}: days that are counted otherwise can't be "
                f"added. Ask as before, or start a new state"
            )
    recounted = [day for day in counted.days if day in set(before.days)]
    if recounted and not recount:
        raise InputError(
            f"state= holds {some(recounted)} already, so rows would be counted twice. Give whole "
            f"days that are new, or say recount= to count these days anew, as when labels have come"
        )
    earlier, given = before.rows_by_day(), counted.rows_by_day()
    fewer = [day for day in recounted if given[day] < earlier[day]]
    if fewer:
        day = fewer[0]
        raise InputError(
            f"recount= would leave {given[day]:,} of the {earlier[day]:,} rows that state= holds "
            f"of {day}, and the others would be lost. Give the whole day, with the rows that have "
            f"no label too, or start a new state"
        )
    return before.without(recounted) + counted
