"""Count columns that are arrays: checked and coded, or counted on the device that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.engines import devices, tensors
from assay.engines.ask import Ask
from assay.engines.local import count_coded
from assay.engines.resolving import resolve
from assay.sources import code_arrays, must_share_index
from assay.sources.arrays import asked_threshold, good_rows
from assay.sources.probabilities import listed_labels, sided
from assay.sources.validation import OnBadRow, skips
from assay.tally import Resolved, Tally
from assay.tally.by_name import Refusals


def count_arrays(y_true: Any, **columns: Any) -> Tally:
    """Count columns into a tally that remembers what was said of its labels.

    Columns are those of :func:`assay.evaluate`.

    >>> count_arrays(["attack", "normal"], y_score=[0.9, 0.2], positive="attack").sides
    {'positive': 'attack'}
    """
    tally, sides = _counted(y_true, **columns)
    return tally.asked(**sides)


def resolved_arrays(y_true: Any, **columns: Any) -> tuple[Resolved, tuple[str, ...], Tally]:
    """The tally of columns with sides, notes on what was inferred, and the tally without.

    >>> resolved_arrays(["attack", "normal"], y_score=[0.9, 0.2])[0].positive
    'attack'
    """
    tally, sides = _counted(y_true, **columns)
    return *resolve(tally, **sides), tally


def _counted(
    y_true: Any,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    unknown: Any = None,
    threshold: Any = None,
    on_bad_row: OnBadRow | None = None,
    **columns: Any,
) -> tuple[Tally, dict[str, Any]]:
    """The tally, and what was said of its labels."""
    if threshold is not None:
        threshold = asked_threshold(threshold, columns.get("y_pred"))
    skip = skips(on_bad_row)
    ask = Ask(threshold=threshold, on_bad_row=on_bad_row or "stop")
    sides = {"positive": positive, "negative": negative, "labels": labels, "unknown": unknown}
    given = [name for name, column in columns.items() if column is not None]
    if given == ["y_score"] and unknown is None and devices.together(y_true, columns["y_score"]):
        return tensors.count(y_true, columns["y_score"], ask), sides
    refused = Tally()
    if skip:
        must_share_index({"y_true": y_true, **columns})
        reasons, (columns,) = good_rows({"y_true": y_true, **columns})
        y_true = columns.pop("y_true")
        refused = Tally(rows=sum(reasons.values()), refused=Refusals(reasons))
    rows = code_arrays(y_true, labels=labels, unknown=unknown, **columns)
    if unknown is None:
        sides["labels"] = listed_labels(rows, labels)
    return count_coded(sided(rows, positive, negative), ask) + refused, sides
