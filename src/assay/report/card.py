"""The card of a trained model: what it is, what it is worth, and what not to use it for.

It begins with the header that model hubs read (``model-index``), with every value and its interval.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from assay.inference.estimate import decimal
from assay.learn.fitting import rates_of
from assay.learn.persistence import MODEL
from assay.learn.record import settings_of
from assay.learn.run import Run
from assay.learn.run_folder import ENCODING
from assay.measures import FALSE_DISCOVERY_RATE, MCC, PREVALENCE, parse
from assay.measures.shown import CARD
from assay.report.learned import written
from assay.report.markdown import render
from assay.report.names import LONGEST_SENTENCE, name, short, visible
from assay.report.numbers import count, measured
from assay.report.sections import Document, Prose, Section
from assay.report.validated import called, rule_of
from assay.report.words import quoted

# So many steps of the learning rate are told one by one.
_SPANS = 8
# The name that hubs know a measure by, where it is another.
_ON_HUBS = {MCC.name: "matthews_correlation"}
_KEPT = frozenset(
    {"Main results", "How it was validated", "Over the folds", "What the model relies on"}
)


def card_of(run: Run, document: Document, trusted: Sequence[str] = ()) -> str:
    """The card as Markdown under a YAML header; ``document`` is that of the training.

    ``trusted`` are the types that whoever loads the model has to trust by name.
    """
    about = Document(
        title=f"{name(run.recipe.name)}, trained on {_data(run)}",
        headline=document.headline,
        sections=(
            Section("What it is", tuple(map(Prose, _what(run)))),
            *(section for section in document.sections if section.title in _KEPT),
            Section("Before you use it", tuple(map(Prose, _limits(run)))),
            Section("How to use it", tuple(map(Prose, _use(trusted)))),
        ),
        findings=document.findings,
        notes=document.notes,
        made=document.made,
    )
    lines = ["---", *_yaml(_header(run)), "---", ""]
    return "\n".join(lines) + "\n" + render(about)


def _data(run: Run) -> str:
    return name(PurePath(run.data.name).name)


# -- header ----------------------------------------------------------------------------------------


def _header(run: Run) -> dict[str, Any]:
    task = "text-classification" if run.data.text is not None else "tabular-classification"
    judged = name(PurePath(run.judged_data.name).name)
    return {
        "library_name": "sklearn",
        "pipeline_tag": task,
        "tags": ["sklearn", "skops", "assay", task],
        "model_format": "skops",
        "model_file": MODEL,
        "model-index": [
            {
                "name": name(run.recipe.name),
                "results": [
                    {
                        "task": {"type": task},
                        "dataset": {"type": judged, "name": judged, "split": name(run.scheme)},
                        "metrics": list(_metrics(run)),
                    }
                ],
            }
        ],
    }


def _metrics(run: Run) -> Iterator[dict[str, Any]]:
    for key in CARD.of(binary=run.binary):
        found, measure = run.evaluation[key], parse(key)[0].name
        if not math.isfinite(found):
            continue
        metric: dict[str, Any] = {
            "type": _ON_HUBS.get(measure, measure),
            "name": called(key),
            "value": float(found),
        }
        if math.isfinite(found.low) and math.isfinite(found.high):
            level = f"{100 * found.level:.10g}% interval"
            metric["name"] = (
                f"{called(key)}, {level} [{decimal(found.low, 4)}, {decimal(found.high, 4)}]"
            )
            metric["args"] = {
                "low": float(found.low),
                "high": float(found.high),
                "level": found.level,
                "method": found.method,
                "n": found.n,
            }
        yield metric


def _yaml(found: Mapping[str, Any], indent: int = 0) -> Iterator[str]:
    """Mappings and lists as YAML blocks; what stands alone as JSON, which is YAML too."""
    margin = "  " * indent
    for key, value in found.items():
        if isinstance(value, Mapping):
            yield f"{margin}{key}:"
            yield from _yaml(value, indent + 1)
        elif isinstance(value, list):
            yield f"{margin}{key}:"
            for each in value:
                if not isinstance(each, Mapping):
                    yield f"{margin}- {_scalar(each)}"
                    continue
                first, *others = _yaml(each, indent + 1)
                yield f"{margin}- {first.strip()}"
                yield from others
        else:
            yield f"{margin}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        # Older readers of YAML take 1e-05, without a point, for a text.
        digits, exponent, power = repr(value).partition("e")
        return f"{digits}{'.0' * (bool(exponent) and '.' not in digits)}{exponent}{power}"
    return json.dumps(visible(value) if isinstance(value, str) else value, ensure_ascii=False)


# -- words -----------------------------------------------------------------------------------------


def _what(run: Run) -> Iterator[str]:
    labels = " from ".join(map(quoted, reversed(run.data.labels)))
    many = f"It tells {count(len(run.data.labels))} classes apart."
    own = ":" in run.recipe.name
    summary = "a recipe from outside of assay" if own else run.recipe.summary
    yield f"{name(run.recipe.name)}: {summary}.{_set_otherwise(run)}"
    yield f"It tells {labels}." if run.binary else many
    used = f"{count(run.data.frame.width)} columns" if run.data.text is None else "texts"
    yield f"It learned from {run.learned_from} of {_data(run)} by {used}. {rule_of(run)}"
    rates = rates_of(run.model)
    if rates:
        yield _schedule(rates)
    if run.threshold is not None:
        yield f"It flags rows from a score of {run.threshold:.10g} on."


def _schedule(rates: Sequence[float]) -> str:
    """The learning rate of each epoch, like ones together."""
    spans: list[tuple[float, int, int]] = []
    for epoch, rate in enumerate(rates, 1):
        if spans and spans[-1][0] == rate:
            spans[-1] = (rate, spans[-1][1], epoch)
        else:
            spans.append((rate, epoch, epoch))
    told = [
        f"{rate:.6g} in epoch{f's {first} to {last}' if last > first else f' {first}'}"
        for rate, first, last in spans[:_SPANS]
    ]
    more = f" and so on to {rates[-1]:.6g} in epoch {len(rates)}" * (len(spans) > _SPANS)
    return f"Its learning rate was {', '.join(told)}{more}."


def _set_otherwise(run: Run) -> str:
    """The settings that are not those of the recipe, which its summary does not know of."""
    known = {key: repr(setting.default) for key, setting in run.recipe.settings.items()}
    other = [
        f"{key}={written(value)}"
        for key, value in settings_of(run).items()
        if repr(run.settings[key]) != known.get(key)
    ]
    return f" Set otherwise: {name(', '.join(other), LONGEST_SENTENCE)}." if other else ""


def _limits(run: Run) -> Iterator[str]:
    yield (
        "The values above hold for rows like those that were judged. Other networks, later times "
        "and attacks of other kinds may give other values: judge it again on rows of its own use "
        "before an alarm depends on it."
    )
    if not run.binary:
        return
    prevalence = run.evaluation[PREVALENCE]
    false = run.evaluation.at(0.001)[FALSE_DISCOVERY_RATE]
    if math.isfinite(false):
        yield (
            f"Its precision depends on how rare attacks are. Among the judged rows "
            f"{float(prevalence):.2%} were {quoted(run.data.labels[1])}; where one row in 1,000 "
            f"is, the false alarm rate is {measured(false)}."
        )


def _use(trusted: Sequence[str]) -> Iterator[str]:
    yield "With FOLDER this one, assay predict FOLDER new.csv --out scores.csv scores new rows."
    yield (
        "In Python, assay.learn.load_model(FOLDER).pipeline has predict_proba; loading "
        "runs no code that the file could choose."
    )
    yield (
        f"What columns became before the model saw them stands in {ENCODING}: the codes of labels "
        f"and of texts, what stands in for missing values, and the scale of each column."
    )
    if trusted:
        named = " ".join(f"--trust {visible(each)}" for each in trusted)
        yield short(
            f"It holds types whose code runs when it is loaded. Name them to say that you trust "
            f"whoever made it: {named}",
            LONGEST_SENTENCE,
        )
