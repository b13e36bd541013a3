"""The document of a training, and the card of its model.

The card says what the model is, what it is worth, and what not to use it for; it begins with the
header that model hubs read (``model-index``), with every value and its interval.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from assay.v02.escaping import LONGEST_SENTENCE, name, plural, short, visible
from assay.v02.evaluation.findings import Finding
from assay.v02.inference.fields import finite
from assay.v02.learn.record import Training
from assay.v02.measures import ACCURACY, FALSE_DISCOVERY_RATE, MCC, PREVALENCE, ROC_AUC, parse
from assay.v02.measures.catalogue import CARD
from assay.v02.number_text import (
    count,
    decimal,
    exact_percent,
    measured,
    percent,
    significant,
    threshold_text,
)
from assay.v02.report import trained_model
from assay.v02.report.document import Document
from assay.v02.report.evaluation import report_of as of_evaluation
from assay.v02.report.markdown import render
from assay.v02.report.sections import Cell, Column, Prose, Report, Section, Table, Tier, quoted
from assay.v02.report.slices import refused_rows
from assay.v02.report.trained_model import measure_heading, rule_of, setting_text

# What is known of the training goes after these sections of the evaluation.
_FIRST = ("Confusion matrix", "Main results", "Advanced results")
# Both tables of a training tell their own.
_LEFT_OUT = "Refused rows"


def report_of(run: Training) -> Report:
    """What a report says of a training."""
    base = of_evaluation(run.evaluation)
    sections = [section for section in base.sections if section.title != _LEFT_OUT]
    first = [section for section in sections if section.title in _FIRST]
    others = [section for section in sections if section.title not in _FIRST]
    table = name(PurePath(run.training.data["name"]).name)
    return replace(
        base,
        title=f"{name(run.training.recipe)} trained on {table}",
        headline=(*base.headline, *_headline(run)),
        sections=(
            *first,
            *trained_model.validation_sections(run),
            *trained_model.model_sections(run),
            *others,
            *_reasons(run.findings),
            *_refused(run),
        ),
        records=(*base.records, *_records(run, base)),
    )


def _headline(run: Training) -> Iterator[str]:
    rows = count(run.training.rows_judged)
    were = plural(run.training.rows_judged, "row was judged,", "rows were judged, each")
    judged = f"{rows} {were} by a model that did not learn it"
    yield f"Validated by {name(run.training.validation)}: {judged}."
    main = (ROC_AUC if run.binary else ACCURACY).name
    folds, over = run.training.folds, run.training.measures.get(main)
    if len(folds) > 1 and over is not None and over.mean is not None:
        spread = "" if over.sd is None else f", standard deviation {significant(over.sd, 2)}"
        yield (
            f"Over {count(len(folds))} folds the {trained_model.measure_heading(main)} is "
            f"{measured(over.mean)} in the mean{spread}."
        )


def _reasons(findings: tuple[Finding, ...]) -> Iterator[Section]:
    """Why what was found matters, and what to do about it."""
    if not findings:
        return
    columns = (Column("finding"), Column("why it matters"), Column("what to do"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (finding.code, finding.why, finding.remedy) for finding in findings
    )
    table = Table("What was found in the training", columns, rows)
    yield Section("About the findings", (table,), Tier.APPENDIX, detail=True)


def _refused(run: Training) -> Iterator[Section]:
    for source in (run.training.data, run.training.test):
        if source is not None:
            yield from refused_rows(source)


def _records(run: Training, base: Report) -> Iterator[Mapping[str, Any]]:
    """The folds as slices of the CSV table, and the means over them."""
    folds = run.training.folds
    if len(folds) < 2 or not base.records:
        return
    heads = tuple(base.records[0])
    for key in trained_model.headings(run):
        measure, average = parse(key)
        label = None if average or measure.symmetric else run.evaluation.positive
        common = {
            **dict.fromkeys(heads),
            "measure": measure.name,
            "label": label,
            "average": average,
        }
        over = run.training.measures[key]
        for fold, value in zip(folds, over.values, strict=True):
            yield {
                **common,
                "slice_column": "fold",
                "slice_value": fold.name,
                "value": finite(value),
                "n": fold.rows_judged,
            }
        if over.mean is None:
            continue
        yield {
            **common,
            "slice_column": "folds",
            "slice_value": "mean",
            "value": finite(over.mean.value),
            "low": finite(over.mean.low),
            "high": finite(over.mean.high),
            "method": over.mean.method or None,
            "n": len(folds),
            "undefined": over.mean.undefined,
            "note": over.mean.note if over.sd is None else f"standard deviation {over.sd!r}",
        }


# -- the card of the model -------------------------------------------------------------------------


# The files of a run that a card speaks of.
MODEL, ENCODING = "model.skops", "encoding.json"
# So many steps of the learning rate are told one by one.
_SPANS = 8
# The name that hubs know a measure by, where it is another.
_ON_HUBS = {MCC.name: "matthews_correlation"}
_KEPT = frozenset(
    {"Main results", "How it was validated", "Over the folds", "What the model relies on"}
)


def card_of(document: Document) -> str:
    """The card of a training as Markdown under a YAML header."""
    run: Training = document.result
    report = document.report
    about = Report(
        title=f"{name(run.training.recipe)}, trained on {_data(run)}",
        headline=report.headline,
        sections=(
            Section("What it is", tuple(map(Prose, _recipe_summary(run)))),
            *(section for section in report.sections if section.title in _KEPT),
            Section("Before you use it", tuple(map(Prose, _limits(run)))),
            Section("How to use it", tuple(map(Prose, _use(run.training.trusted)))),
        ),
        findings=report.findings,
        notes=report.notes,
        made=report.made,
    )
    lines = ["---", *_yaml(_header(run)), "---", ""]
    return "\n".join(lines) + "\n" + render(about)


def _data(run: Training) -> str:
    return name(PurePath(run.training.data["name"]).name)


# -- header ----------------------------------------------------------------------------------------


def _header(run: Training) -> dict[str, Any]:
    task = "text-classification" if run.training.text is not None else "tabular-classification"
    judged = name(PurePath(run.judged_name).name)
    return {
        "library_name": "sklearn",
        "pipeline_tag": task,
        "tags": ["sklearn", "skops", "assay", task],
        "model_format": "skops",
        "model_file": MODEL,
        "model-index": [
            {
                "name": name(run.training.recipe),
                "results": [
                    {
                        "task": {"type": task},
                        "dataset": {
                            "type": judged,
                            "name": judged,
                            "split": name(run.training.validation),
                        },
                        "metrics": list(_metrics(run)),
                    }
                ],
            }
        ],
    }


def _metrics(run: Training) -> Iterator[dict[str, Any]]:
    for key in CARD.of(binary=run.binary):
        estimate, measure = run.evaluation[key], parse(key)[0].name
        if not math.isfinite(estimate):
            continue
        metric: dict[str, Any] = {
            "type": _ON_HUBS.get(measure, measure),
            "name": measure_heading(key),
            "value": float(estimate),
        }
        if math.isfinite(estimate.low) and math.isfinite(estimate.high):
            level = f"{exact_percent(estimate.level)} interval"
            metric["name"] = (
                f"{measure_heading(key)}, {level} "
                f"[{decimal(estimate.low, 4)}, {decimal(estimate.high, 4)}]"
            )
            metric["args"] = {
                "low": float(estimate.low),
                "high": float(estimate.high),
                "level": estimate.level,
                "method": estimate.method,
                "n": estimate.n,
            }
        yield metric


def _yaml(values: Mapping[str, Any], indent: int = 0) -> Iterator[str]:
    """Mappings and lists as YAML blocks; what stands alone as JSON, which is YAML too."""
    margin = "  " * indent
    for key, value in values.items():
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


def _recipe_summary(run: Training) -> Iterator[str]:
    labels = " from ".join(map(quoted, reversed(run.evaluation.labels)))
    many = f"It tells {count(len(run.evaluation.labels))} classes apart."
    from_outside = ":" in run.training.recipe
    summary = "a recipe from outside of assay" if from_outside else run.training.summary
    yield f"{name(run.training.recipe)}: {summary}.{_set_otherwise(run)}"
    yield f"It tells {labels}." if run.binary else many
    features = len(run.training.features)
    columns = f"{count(features)} {plural(features, 'column', 'columns')}"
    used = columns if run.training.text is None else "texts"
    yield f"It learned from {run.training.learned_from} of {_data(run)} by {used}. {rule_of(run)}"
    rates = run.training.rates
    if rates:
        yield _schedule(rates)
    if run.training.threshold is not None:
        yield f"It flags rows from a score of {threshold_text(run.training.threshold)} on."


def _schedule(rates: Sequence[float]) -> str:
    """The learning rate of each epoch, like ones together."""
    spans: list[tuple[float, int, int]] = []
    for epoch, rate in enumerate(rates, 1):
        if spans and spans[-1][0] == rate:
            spans[-1] = (rate, spans[-1][1], epoch)
        else:
            spans.append((rate, epoch, epoch))
    told = [
        f"{significant(rate, 6)} in epoch{f's {first} to {last}' if last > first else f' {first}'}"
        for rate, first, last in spans[:_SPANS]
    ]
    more = f" and so on to {significant(rates[-1], 6)} in epoch {len(rates)}" * (
        len(spans) > _SPANS
    )
    return f"Its learning rate was {', '.join(told)}{more}."


def _set_otherwise(run: Training) -> str:
    """The settings that are not those of the recipe, which its summary does not know of."""
    training = run.training
    other = [f"{key}={setting_text(training.settings[key])}" for key in training.set_otherwise]
    return f" Set otherwise: {name(', '.join(other), LONGEST_SENTENCE)}." if other else ""


def _limits(run: Training) -> Iterator[str]:
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
            f"{percent(float(prevalence))} were {quoted(run.evaluation.labels[1])}; where one row "
            f"in 1,000 is, the false alarm rate is {measured(false)}."
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
