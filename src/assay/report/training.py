"""The document of a training: its evaluation, and how that came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from assay.evaluation.findings import Finding
from assay.learn.findings import RUN_CHECKS
from assay.learn.judging import SD
from assay.learn.record import number, record_of, source_of
from assay.learn.run import Run
from assay.measures import ACCURACY, ROC_AUC, parse
from assay.report import learned, validated
from assay.report.evaluation import document_of
from assay.report.names import name
from assay.report.numbers import count, measured
from assay.report.refused import refused_rows
from assay.report.sections import Cell, Column, Report, Section, Table, Tier

_BY_CODE = {check.code: check for check in RUN_CHECKS}
# What is known of the training goes after these sections of the evaluation.
_FIRST = ("Confusion matrix", "Main results", "Advanced results")


def report_of(run: Run) -> Report:
    """What a report says of a training."""
    base = document_of(run.evaluation, made=made)
    first = [section for section in base.sections if section.title in _FIRST]
    rest = [section for section in base.sections if section.title not in _FIRST]
    headline = (*base.headline, *_headline(run))
    findings = (*run.findings, *base.findings)
    return replace(
        base,
        title=f"{name(run.recipe.name)} trained on {name(PurePath(run.data.name).name)}",
        headline=headline,
        sections=(
            *first,
            *validated.sections(run),
            *learned.sections(run),
            *rest,
            *_reasons(run.findings),
            *_refused(run),
        ),
        findings=findings,
        notes=_notes(run, base),
        plain={
            **base.plain,
            "source": _source(run, base.plain["source"]),
            "headline": list(headline),
            "findings": [_finding(found) for found in findings],
            "notes": list(_notes(run, base)),
            "training": record_of(run),
        },
        records=(*base.records, *_records(run, base)),
    )


def _headline(run: Run) -> Iterator[str]:
    judged = f"{count(len(run.judged))} rows were judged, each by a model that did not learn it"
    yield f"Validated by {name(run.scheme)}: {judged}."
    main = (ROC_AUC if run.binary else ACCURACY).name
    if len(run.folds) > 1 and main in run.over_folds:
        mean = run.over_folds[main]
        sd = mean.parts.get(SD)
        spread = "" if sd is None else f", standard deviation {sd:.2g}"
        folds = f"Over {count(len(run.folds))} folds"
        yield f"{folds} the {validated.called(main)} is {measured(mean)} in the mean{spread}."


def _notes(run: Run, base: Report) -> tuple[str, ...]:
    """What was guessed about the data, what is to be known of the training and the evaluation."""
    of_test = () if run.test is None else run.test.notes
    return tuple(dict.fromkeys((*run.data.notes, *of_test, *run.notes, *base.notes)))


def _finding(found: Finding) -> dict[str, str]:
    return {"code": found.code, "severity": found.severity, "message": found.message}


def _reasons(findings: tuple[Finding, ...]) -> Iterator[Section]:
    """Why what was found matters, and what to do about it."""
    if not findings:
        return
    columns = (Column("finding"), Column("why it matters"), Column("what to do"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (found.code, _BY_CODE[found.code].why, _BY_CODE[found.code].remedy) for found in findings
    )
    table = Table("What was found in the training", columns, rows)
    yield Section("About the findings", (table,), Tier.APPENDIX, detail=True)


def _source(run: Run, judged: Mapping[str, Any]) -> dict[str, Any]:
    """The rows that were judged, and those of the same table that could not be."""
    table = source_of(run.judged_data)
    refused = {key: table[key] for key in ("rows_refused", "refused")}
    return {**judged, "rows_read": judged["rows_used"] + table["rows_refused"], **refused}


def _refused(run: Run) -> Iterator[Section]:
    for data in (run.data, run.test):
        if data is not None:
            yield from refused_rows(source_of(data))


def _records(run: Run, base: Report) -> Iterator[Mapping[str, Any]]:
    """The folds as slices of the CSV table, and the means over them."""
    if len(run.folds) < 2 or not base.records:
        return
    heads = tuple(base.records[0])
    for key in validated.headings(run):
        measure, average = parse(key)
        label = None if average or measure.symmetric else run.data.positive
        common = {
            **dict.fromkeys(heads),
            "measure": measure.name,
            "label": label,
            "average": average,
        }
        for fold, value in zip(run.folds, run.per_fold[key], strict=True):
            yield {
                **common,
                "slice_column": "fold",
                "slice_value": fold.name,
                "value": number(value),
                "n": len(fold.test),
            }
        mean = run.over_folds[key]
        sd = mean.parts.get(SD)
        yield {
            **common,
            "slice_column": "folds",
            "slice_value": "mean",
            "value": number(mean),
            "low": number(mean.low),
            "high": number(mean.high),
            "method": mean.method or None,
            "n": len(run.folds),
            "undefined": mean.undefined,
            "note": mean.note if sd is None else f"standard deviation {sd!r}",
        }
