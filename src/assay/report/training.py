"""The document of a training: its evaluation, and how that came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from assay.evaluation.findings import Finding
from assay.inference.not_finite import finite
from assay.learn.record import Training
from assay.measures import ACCURACY, ROC_AUC, parse
from assay.report import learned, validated
from assay.report.evaluation import report_of as of_evaluation
from assay.report.names import name
from assay.report.numbers import count, measured
from assay.report.refused import refused_rows
from assay.report.sections import Cell, Column, Report, Section, Table, Tier

# What is known of the training goes after these sections of the evaluation.
_FIRST = ("Confusion matrix", "Main results", "Advanced results")
# Both tables of a training tell their own.
_LEFT_OUT = "Refused rows"


def report_of(run: Training) -> Report:
    """What a report says of a training."""
    base = of_evaluation(run.evaluation)
    sections = [section for section in base.sections if section.title != _LEFT_OUT]
    first = [section for section in sections if section.title in _FIRST]
    rest = [section for section in sections if section.title not in _FIRST]
    table = name(PurePath(run.training.data["name"]).name)
    return replace(
        base,
        title=f"{name(run.training.recipe)} trained on {table}",
        headline=(*base.headline, *_headline(run)),
        sections=(
            *first,
            *validated.sections(run),
            *learned.sections(run),
            *rest,
            *_reasons(run.findings),
            *_refused(run),
        ),
        records=(*base.records, *_records(run, base)),
    )


def _headline(run: Training) -> Iterator[str]:
    rows = count(run.training.rows_judged)
    judged = f"{rows} rows were judged, each by a model that did not learn it"
    yield f"Validated by {name(run.training.validation)}: {judged}."
    main = (ROC_AUC if run.binary else ACCURACY).name
    folds, over = run.training.folds, run.training.measures.get(main)
    if len(folds) > 1 and over is not None and over.mean is not None:
        spread = "" if over.sd is None else f", standard deviation {over.sd:.2g}"
        yield (
            f"Over {count(len(folds))} folds the {validated.called(main)} is "
            f"{measured(over.mean)} in the mean{spread}."
        )


def _reasons(findings: tuple[Finding, ...]) -> Iterator[Section]:
    """Why what was found matters, and what to do about it."""
    if not findings:
        return
    columns = (Column("finding"), Column("why it matters"), Column("what to do"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (found.code, found.why, found.remedy) for found in findings
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
    for key in validated.headings(run):
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
