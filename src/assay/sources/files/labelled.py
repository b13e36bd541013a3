"""Labels as they were said, and what they make of the rows that were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import ScoreError
from assay.sources.coded import Coded
from assay.sources.columns import native
from assay.sources.probabilities import one_score, sided


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


def ranked(rows: Coded, probabilities: Sequence[str], kind: str, sides: Mapping[str, Any]) -> Coded:
    """The rows with one score where it is known which; the probability of one class is a score.

    ``probabilities`` are the labels that have one, ``kind`` is that of the labels of the data.
    """
    said = typed(kind, **sides)
    if len(probabilities) != 1:
        return sided(rows, said["positive"], said["negative"])
    of = native(probabilities[0], kind)
    if said["negative"] is not None or said["positive"] not in (None, of):
        raise ScoreError(f"the only probability is that of {of!r}, so that is the positive")
    return one_score(rows, probabilities)
