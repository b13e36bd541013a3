"""Columns that were read, with labels as they were said, as arguments of ``from_arrays``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.errors import ScoreError
from assay.sources.columns import native
from assay.sources.files.request import Rows


def typed(
    kind: str,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    unknown: Any = None,
) -> dict[str, Any]:
    """What was said of labels; text becomes what the data hold.

    >>> typed("numbers", positive="1", labels=["0", "1"])
    {'positive': 1, 'negative': None, 'labels': [0, 1]}
    """

    def one(label: Any) -> Any:
        return native(label, kind) if isinstance(label, str) else label

    found = {
        "positive": one(positive),
        "negative": one(negative),
        "labels": None if labels is None else [one(label) for label in labels],
    }
    return found if unknown is None else {**found, "unknown": one(unknown)}


def labelled(rows: Rows, **said: Any) -> dict[str, Any]:
    """The columns of rows that were read, and what was said of their labels."""
    found = {**rows.columns, **typed(rows.columns["y_true"].kind, **said)}
    if len(found.get("y_proba", ())) == 1:
        # The probability of one class is a score for it.
        ((of, score),) = found.pop("y_proba").items()
        if found["negative"] is not None or found["positive"] not in (None, of):
            raise ScoreError(f"the only probability is that of {of!r}, so that is the positive")
        found["positive"], found["y_score"] = of, score
    return found
