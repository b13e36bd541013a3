"""A training as plain values: what the JSON document says of it beside the evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from assay.inference import Estimate
from assay.learn.encoding import Columns, Text
from assay.learn.judging import SD
from assay.learn.rules import TreeRules
from assay.learn.run import Fold, Run
from assay.learn.validation.split import SplitCounts

if TYPE_CHECKING:
    from assay.learn.data import Data
    from assay.learn.importance import Importance

ENCODING_SCHEMA = "assay.encoding/1"


def record_of(run: Run) -> dict[str, Any]:
    """All that is known of a training but its evaluation and its model."""
    return {
        "recipe": run.recipe.name,
        "settings": settings_of(run),
        "validation": run.scheme,
        "seed": run.seed,
        "max_far": run.max_far,
        "threshold": run.threshold,
        "learned_from": run.learned_from,
        "features": list(run.data.frame.columns),
        "dropped": list(run.data.dropped),
        "data": source_of(run.data),
        "test": None if run.test is None else source_of(run.test),
        "rows_judged": len(run.judged),
        "rows_not_judged": run.unjudged,
        "folds": [_fold(fold) for fold in run.folds],
        "measures": _measures(run),
        "validation_part": None if run.held_back is None else _estimates(run),
        "importance": None if run.importance is None else _importance(run.importance),
        "chosen": [{"column": column, "chi_square": number(found)} for column, found in run.chosen],
        **_rules(run.rules),
    }


def _rules(rules: TreeRules | None) -> dict[str, Any]:
    """A tree leaf by leaf and split by split, and the criterion that its impurity is of."""
    if rules is None:
        return {"criterion": None, "rules": [], "splits": []}
    return {
        "criterion": rules.criterion,
        "rules": [
            {
                "label": rule.label,
                "conditions": list(rule.conditions),
                "share": number(rule.share),
                "rows": rule.rows,
                "shares": dict(rule.shares),
                "impurity": rule.impurity,
            }
            for rule in rules.leaves
        ],
        "splits": [asdict(split) for split in rules.splits],
    }


# -- encoding --------------------------------------------------------------------------------------


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
            missing = number(fill) if columns.numbers == "median" else None
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


# -- settings, rows, folds -------------------------------------------------------------------------


def settings_of(run: Run) -> dict[str, Any]:
    """The settings as plain values; what is none, in a recipe of your own, as its text."""
    return {name: _plain(value) for name, value in run.settings.items()}


def source_of(data: Data) -> dict[str, Any]:
    """Where rows came from, and which were refused."""
    return {
        "name": data.name,
        "rows_read": data.rows_read,
        "rows_used": len(data),
        "rows_refused": data.rows_refused,
        "refused": [
            {"row": each.row, "reason": each.reason, "file": each.file, "line": each.line}
            for each in data.refused
        ],
    }


def counts_of(counts: SplitCounts) -> dict[str, Any]:
    """How many rows of each class are in each part, with the totals."""
    return {
        "parts": list(counts.parts),
        "classes": counts.records()[:-1],
        "all": counts.records()[-1],
    }


def _fold(fold: Fold) -> dict[str, Any]:
    return {
        "name": fold.name,
        "repeat": fold.repeat,
        "threshold": fold.said.threshold,
        "counts": counts_of(fold.counts),
        "learned": {name: number(value) for name, value in fold.learned.items()},
        "not_learned": list(fold.not_learned),
        "losses": [number(loss) for loss in fold.losses],
        "rates": list(fold.rates),
    }


def _measures(run: Run) -> dict[str, Any]:
    """Each measure fold by fold, and its mean over them where there are several."""
    return {
        name: {
            "values": [number(value) for value in values],
            "mean": None if name not in run.over_folds else _estimate(run.over_folds[name]),
            "sd": number(run.over_folds[name].parts.get(SD, math.nan))
            if name in run.over_folds
            else None,
        }
        for name, values in run.per_fold.items()
    }


def _estimates(run: Run) -> list[Mapping[str, Any]]:
    """The estimates of the validation part."""
    assert run.held_back is not None  # noqa: S101 - asked only where there is one
    found: list[Mapping[str, Any]] = run.held_back.to_dict()["estimates"]
    return found


def _importance(importance: Importance) -> dict[str, Any]:
    return {
        "measure": importance.measure or None,
        "baseline": number(importance.baseline),
        "rows": importance.judged,
        "repeats": importance.repeats,
        "columns": [
            {
                "column": row.column,
                "mdi": number(row.mdi),
                "permutation": _estimate(row.permutation),
                "distinct": row.distinct,
            }
            for row in importance.rows
        ],
        "words": [
            {"label": word.label, "word": word.word, "weight": number(word.weight)}
            for word in importance.words
        ],
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "value": number(found),
        "low": number(found.low),
        "high": number(found.high),
        "method": found.method or None,
        "undefined": found.undefined,
        "note": found.note,
    }


def number(value: float) -> float | None:
    """A number as JSON has it: None where it is none, or infinite."""
    return float(value) if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)
