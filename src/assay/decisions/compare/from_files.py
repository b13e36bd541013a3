"""From files to a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.decisions.compare.comparing import compare
from assay.decisions.compare.comparison import Comparison
from assay.inference.chosen import Progress
from assay.inference.operating import Rule
from assay.sources import label_text
from assay.sources.columns import native
from assay.sources.files import Matched, typed


def compare_matched(
    matched: Matched,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    at: Rule | str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare the models that :func:`assay.sources.files.read_models` read.

    Labels may be given as text, whatever the files hold; further options are those of
    :func:`assay.compare`.
    """
    truth = matched.columns["y_true"]
    slices = matched.columns.get("slices", {})
    found = compare(
        truth,
        scores=matched.scores or None,
        decisions=matched.decisions or None,
        probabilities=_typed_tables(matched) or None,
        **typed(truth.kind, positive=positive, negative=negative, labels=labels),
        threshold=threshold,
        at=at,
        counts=matched.columns.get("counts"),
        clusters=matched.columns.get("clusters"),
        families=None if matched.family is None else slices[matched.family],
        ids=matched.ids,
        progress=progress,
        **options,
    )
    return replace(found, notes=(*matched.notes, *found.notes))


def _typed_tables(matched: Matched) -> dict[str, dict[Any, Any]]:
    """The columns of probabilities by label, as the truth writes labels."""
    kind = matched.columns["y_true"].kind
    return {
        name: {native(label_text(label), kind): column for label, column in table.items()}
        for name, table in matched.probabilities.items()
    }
