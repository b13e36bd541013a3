"""A frame whose columns are named: what was said of it, as an engine is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.engines import Ask, Columns
from assay.engines.choosing import count_by_mode
from assay.engines.libraries import (
    ARROW,
    DASK,
    DUCKDB,
    LAZY,
    PANDAS,
    POLARS,
    RAY,
    SPARK,
    kind_of,
    unsupported,
)
from assay.errors import InputError, ScoreError
from assay.sources import label_text
from assay.sources.thresholds import checked_threshold
from assay.sources.validation import skips
from assay.tally import Tally
from assay.tally.keeping import AUTO

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


def names_columns(rows: Any, given: Mapping[str, Any]) -> bool:
    """Whether columns are named, so that rows have to be a frame; refuses what is half of each.

    >>> names_columns([1, 0], {"y_score": [0.9, 0.2]})
    False
    """
    named = [name for name in (*NAMED, *_FRAMES_ONLY) if given.get(name) is not None]
    if not named:
        _must_be_a_column(rows)
        return False
    if kind_of(rows) is None:
        raise unsupported(rows)
    arrays = [name for name in ARRAYS if given.get(name) is not None]
    if arrays:
        other = next(name for name, array in _INSTEAD.items() if array == arrays[0])
        raise InputError(
            f"{named[0]}= names a column of a frame and {arrays[0]}= is a column itself: give "
            f"{other}= with the name of its column, or every column as an array"
        )
    if given.get("label") is None:
        raise InputError(f"label= is missing, the column of what was true: {_EXAMPLE}")
    return True


def _must_be_a_column(rows: Any) -> None:
    """Refuse a frame where no column is named, unless it has but one."""
    if kind_of(rows) not in (POLARS, PANDAS, ARROW, LAZY, SPARK, DASK, RAY, DUCKDB):
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


def count_frame(rows: Any, given: Mapping[str, Any]) -> tuple[Tally, tuple[str, ...]]:
    """Count the rows of a frame by what was said of its columns, and what is to be noted."""
    read = (*NAMED, *_OTHERS, *_SIDES)
    odd = [name for name in given if name not in (*read, *ARRAYS)]
    if odd:
        raise InputError(f"{', '.join(odd)} is not read; of a frame there are {', '.join(read)}")
    said = [name for name in ("score", "decision", "probabilities") if given.get(name) is not None]
    if not said:
        raise InputError(
            f"say which column holds what the model said, score=, decision= or probabilities=: "
            f"{_EXAMPLE}"
        )
    if "score" in said and "probabilities" in said:
        raise ScoreError("give score= or probabilities=, not both")
    if given.get("unknown") is not None:
        raise InputError(
            "unknown= is judged from arrays: give y_true and y_proba, such as "
            "evaluate(frame['y'], y_proba=..., unknown=...)"
        )
    threshold = given.get("threshold")
    if threshold is not None and "decision" in said:
        raise ScoreError("threshold= decides on score=; decisions are taken as they are")
    skips(given.get("on_bad_row"))
    ask = Ask(
        threshold=None if threshold is None else checked_threshold(threshold),
        on_bad_row=given.get("on_bad_row") or "stop",
        positive=given.get("positive"),
        negative=given.get("negative"),
    )
    mode = given.get("mode") or AUTO
    tally, notes = count_by_mode(rows, _columns(given), ask, mode, given.get("max_memory"))
    sides = {name: given.get(name) for name in _SIDES}
    return tally.asked(**sides), (*refusal_notes(tally.refused.reasons), *notes)


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
            instead = _INSTEAD.get(name)
            advice = "" if instead is None else f"; columns themselves are given as {instead}="
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
