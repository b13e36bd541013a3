"""How a fitted pipeline turns a table into numbers, told so that it can be done without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from assay.inference.not_finite import finite
from assay.learn.encoding import Columns, Text

ENCODING_SCHEMA = "assay.encoding/1"


def encoding_of(model: Any, labels: Sequence[str]) -> dict[str, Any]:
    """How a fitted pipeline turns a table into numbers, told so that it can be done without it.

    ``labels`` have their codes. A column is a number, with what stands in for a missing one, or a
    text with the codes of its categories, in sorted order, and of what is missing or was not seen;
    with ``one_hot`` each code is a column of 0 and 1. ``scaling`` has the mean and the standard
    deviation (of the population) of each encoded column, or its least and largest value.
    """
    steps = [step for _, step in getattr(model, "steps", ())]
    first = steps[0] if steps else None
    return {
        "schema": ENCODING_SCHEMA,
        "labels": {label: code for code, label in enumerate(labels)},
        "columns": list(_columns(first)) if isinstance(first, Columns) else [],
        "scaling": _scaling(steps),
        "text": _terms(steps) if isinstance(first, Text) else None,
    }


def _columns(columns: Columns) -> Iterator[dict[str, Any]]:
    numeric = frozenset(columns.numbers_)
    for name, categories, fill in zip(
        columns.names_, columns.categories_, columns.fills_.tolist(), strict=True
    ):
        if name in numeric:
            missing = finite(fill) if columns.numbers == "median" else None
            yield {"column": name, "kind": "number", "missing": missing}
            continue
        codes = {category: code for code, category in enumerate(categories)}
        one_hot = 0 < len(categories) <= columns.one_hot
        filled = columns.texts == "most frequent" and not one_hot
        yield {
            "column": name,
            "kind": "text",
            "codes": codes,
            "missing": int(fill) if filled else len(categories),
            "unseen": int(fill) if filled else None if one_hot else len(categories) + 1,
            "one_hot": one_hot,
        }


def _scaling(steps: Sequence[Any]) -> dict[str, Any] | None:
    """The numbers of a scaler that follows the columns directly."""
    if len(steps) < 2 or not isinstance(steps[0], Columns):
        return None
    names, scaler = steps[0].get_feature_names_out(), steps[1]
    if isinstance(scaler, StandardScaler):
        numbers = {
            "mean": scaler.mean_ if scaler.with_mean else np.zeros(len(names)),
            "scale": scaler.scale_ if scaler.with_std else np.ones(len(names)),
        }
        method = "standard"
    elif isinstance(scaler, MinMaxScaler):
        numbers, method = {"low": scaler.data_min_, "high": scaler.data_max_}, "min-max"
    else:
        return None
    rows = zip(names, *(column.tolist() for column in numbers.values()), strict=True)
    features = [dict(zip(("feature", *numbers), row, strict=True)) for row in rows]
    return {"method": method, "features": features}


def _terms(steps: Sequence[Any]) -> dict[str, Any]:
    """The column of texts, and how many terms of each kind were kept."""
    parts = next((dict(s.transformer_list) for s in steps if isinstance(s, FeatureUnion)), {})
    return {
        "column": steps[0].column,
        "terms": {name: len(getattr(part, "vocabulary_", ())) for name, part in parts.items()},
    }
