"""The form in which an answer is frozen.

Entries of lists go by what names them, sentences become a mark, long lists are thinned.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import Any


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SENTENCE = "(text)"
# Sentences, lists of them, and words for people: present or absent, and free otherwise.
SENTENCES = _words(
    """assumption classes_formula classes_latex disagreement divides doubt formula headline help
    hopeless how infeasible interval latex message misleads missed note notes objective praise
    reads reading reason reference removed said says sentence split status summary text undefined
    worth"""
)
# Where, when and by what an answer was made, names of files, constant texts of findings, ids that
# are drawn; and what DESIGN.md does not promise (coverage, skew and permutation).
LEFT_OUT = _words(
    """bits commit coverage damaged file inputs labels_sha256 made not_finite permutation provenance
    ranges remedy run skew store test_set title version why"""
)
# Keys that came after 0.2; they are not compared.
ADDED: tuple[str, ...] = ()
# What names an entry of a list, in this order.
NAMES = _words(
    """code test rule name key mistake measure model subject scope label average slice base_rate
    family on a b incident attack day start stratum baseline pitfall column dataset kind"""
)
# Rounded to 12 digits, which is more than is compared, so that files stay small.
ROUNDED = _words("high low log_e mcnemar_log_e p p_adjusted predicted observed statistic")
# Of slices, periods and models beside each other these stand for all measures.
FEW = _words("accuracy brier f1 false_positive_rate mcc precision recall roc_auc")
# Of longer lists so many values are kept, evenly spread.
MOST = 8


def shaped(value: Any, key: str = "") -> Any:
    """A document without what is left out, its lists keyed by what names their entries."""
    if isinstance(value, float):
        return float(f"{value:.12g}") if key in ROUNDED else value
    if isinstance(value, dict):
        if "estimates" in value and "rule" in value:  # where a threshold stands this is a sentence
            value = {**value, "rule": None, "reason": value["rule"]}
        kept = {
            name: shaped(part, name)
            for name, part in value.items()
            if name not in LEFT_OUT + ADDED
            and not (key == "source" and name in {"name", "baseline"})
        }
        return {_word(name): part for name, part in kept.items() if part not in (None, "", {}, [])}
    if key in SENTENCES and value is not None and not isinstance(value, bool):
        return SENTENCE if value else None
    if not isinstance(value, list):
        return _word(value) if key == "models" else value
    if value and all(isinstance(entry, dict) for entry in value):
        return _named(value)
    return _thinned([shaped(entry, key) for entry in value])


def _named(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Entries by their names; entries that have none by their places, thinned."""
    result: dict[str, Any] = {}
    several = "slice", "aut", "model"
    for entry in entries:
        if any(entry.get(key) for key in several) and entry.get("measure", "recall") not in FEW:
            continue
        if str(entry.get("key")).rpartition(" ")[2] in (*LEFT_OUT, "name"):
            continue  # of two documents that are compared
        own = {k: v for k, v in entry.items() if k not in {"level", "id"}}
        names = [name for name in NAMES if isinstance(own.get(name), str | float | dict)]
        if "estimates" in own:
            names = [name for name in names if name != "rule"]
        if "value" in own and names == ["column"]:
            names.append("value")
        name = " ".join(_word(own.pop(name)) for name in names)
        times = sum(1 for known in result if known.rpartition(" #")[0] == name or known == name)
        result[f"{name} #{times + 1}" if times or not name else name] = shaped(own)
    if len(result) > MOST and next(iter(result)).startswith(" #"):
        places = _places(len(result))
        kept = {name: entry for i, (name, entry) in enumerate(result.items()) if i in places}
        return {"length": len(result), **kept}
    return result


def _word(name: Any) -> str:
    if isinstance(name, dict):
        return f"({'='.join(str(part) for part in name.values())})"
    # Runs have ids that are drawn anew each time.
    return re.sub(r"\b(?=\w*\d)[0-9a-f]{6}([0-9a-f]{6})?\b", "RUN", str(name))


def _thinned(values: list[Any]) -> Any:
    if len(values) <= MOST:
        return values
    return {"length": len(values), **{str(i): values[i] for i in sorted(_places(len(values)))}}


def _places(length: int) -> set[int]:
    return {round(i * (length - 1) / (MOST - 1)) for i in range(MOST)}


def trained(document: dict[str, Any]) -> dict[str, Any]:
    """Of a training what no last bit of a fit decides, and its figures without intervals."""
    kept = ("schema", "positive", "labels", "level", "mode", "source", "per_class", "family")
    training = document["training"]
    settings = ("recipe", "settings", "validation", "max_far", "learned_from", "features", "data")
    counts = ("rows_judged", "rows_not_judged", "text", "summary")
    folds = [
        {k: fold.get(k) for k in ("repeat", "fold", "counts", "rows_learned")}
        for fold in training["folds"]
    ]
    importance = [each["column"] for each in (training.get("importance") or {}).get("columns", [])]
    return {
        **{name: document.get(name) for name in kept},
        "per_class": [{k: e[k] for k in ("label", "support")} for e in document["per_class"]],
        "estimates": [
            {k: e[k] for k in ("measure", "label", "average", "slice", "base_rate", "value")}
            for e in document["estimates"]
            if not e["base_rate"]
        ],
        "training": {
            **{name: training.get(name) for name in (*settings, *counts)},
            "folds": folds,
            "importance": sorted(importance),
        },
    }


def table_of(text: str) -> dict[str, Any]:
    """A table of rows: columns, number of rows, means of numbers, counts of a few words."""
    header, *rows = csv.reader(io.StringIO(text))
    result: dict[str, Any] = {"columns": header, "rows": len(rows)}
    for name, cells in zip(header, zip(*rows, strict=True), strict=False):
        words = set(cells)
        try:
            numbers = [float(cell) for cell in cells]
        except ValueError:
            if len(words) <= MOST:
                result.setdefault("counts", {})[name] = {w: cells.count(w) for w in sorted(words)}
        else:
            result.setdefault("means", {})[name] = math.fsum(numbers) / len(numbers)
    return result
