"""From files to a gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from assay.decisions.gate.counting import counted_gate
from assay.decisions.gate.gate import gate, judged_rules, must_have_models
from assay.decisions.gate.result import Gate
from assay.decisions.gate.rule import NEW, OLD, Rule
from assay.decisions.gate.rule_file import Rules, parsed_rules
from assay.engines.models import MOST_ROWS
from assay.errors import InputError
from assay.inference.bootstrap import SEED
from assay.inference.quantiles import check_level
from assay.sources import FAMILY
from assay.sources.files import Matched, Model, Progress, Request, Rows, read_models, silent, typed
from assay.sources.files.inputs import STDIN
from assay.sources.files.model_lots import ModelReading
from assay.sources.files.request import RowSource, refused_row

# Judges the rows that were read, given the arguments of a gate.
Judge: TypeAlias = Callable[[Matched, dict[str, Any]], Gate]


def gate_files(
    file: str,
    request: Request | None = None,
    *,
    rules: Rules,
    score: str,
    baseline: str | None = None,
    baseline_score: str | None = None,
    id_column: str | None = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | None = None,
    baseline_threshold: float | None = None,
    level: float = 0.95,
    joint: bool = False,
    resamples: int | None = None,
    seed: int = SEED,
    progress: Progress = silent,
    resampling: Callable[[int, int], None] | None = None,
    judge: Judge | None = None,
) -> Gate:
    r"""Judge the predictions of a file by rules, beside those of a baseline on the same rows.

    The baseline is another file, matched by ``id_column``, or another column of the same file.
    A column whose values are all labels holds decisions instead of scores. ``judge`` takes the
    place of :func:`assay.gate`, for rules about a model whose rows are elsewhere; the rows are kept
    in memory then.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "new.csv")
    ...     _ = path.write_text("label,score\n" + "attack,0.9\nnormal,0.2\n" * 50)
    ...     gate_files(str(path), score="score", rules="new(recall) >= 0.9").outcome.value
    'pass'
    """
    request = request or Request()
    sides = {"positive": positive, "negative": negative, "labels": labels}
    models = [Model(NEW, score, file)]
    if baseline is not None or baseline_score is not None:
        models.append(Model(OLD, baseline_score or score, file if baseline is None else baseline))
    thresholds = {NEW: threshold, OLD: baseline_threshold}
    options: dict[str, Any] = {
        "joint": joint,
        "resamples": resamples,
        "seed": seed,
        "progress": resampling,
    }
    rows: Rows | None = None
    here = all(model.file == file for model in models) and file != STDIN
    if here and id_column is None and request.cluster is None and judge is None:
        asked = replace(request, score=None, decision=None, probabilities={})
        reading = ModelReading(
            [file],
            replace(asked, probability_pattern=None),
            [replace(model, file=None) for model in models],
            progress,
        )
        rows = reading.few(MOST_ROWS)
        if rows is None:
            judged = _of_lots(
                reading, parsed_rules(rules), sides, thresholds, check_level(level), options
            )
            return replace(
                judged,
                source=_source(reading.source, None),
                notes=(*reading.source.notes, *judged.notes),
            )
    found = read_models(
        [file],
        request,
        models,
        id_column=id_column,
        labels=[str(label) for label in labels or ()],
        progress=progress,
        rows=rows,
    )
    if found.probabilities:
        raise InputError(
            f"a gate judges one score or decision a row; {score!r} names a probability a class. "
            f"Name the column of the positive label"
        )
    columns = dict(found.columns)
    sliced = columns.get("slices", {})
    family = found.family or FAMILY
    given: dict[str, Any] = dict(
        y_true=columns["y_true"],
        rules=rules,
        new=found.scores.get(NEW),
        old=found.scores.get(OLD),
        new_decision=found.decisions.get(NEW),
        old_decision=found.decisions.get(OLD),
        **typed(columns["y_true"].kind, **sides),
        families=sliced.get(family),
        clusters=columns.get("clusters"),
        counts=columns.get("counts"),
        threshold=thresholds[NEW],
        old_threshold=thresholds[OLD],
        level=level,
        **options,
    )
    judged = gate(**given) if judge is None else judge(found, given)
    source = _source(found, found.files[0] if found.files else None)
    return replace(judged, source=source, notes=(*found.notes, *judged.notes))


def _of_lots(
    reading: ModelReading,
    rules: Sequence[Rule],
    sides: Mapping[str, Any],
    thresholds: Mapping[str, float | None],
    level: float,
    options: Mapping[str, Any],
) -> Gate:
    """Judge rows that are counted while they are read, and let go."""
    must_have_models(rules, reading.models)
    tallies, each = counted_gate(
        reading.lots,
        reading.models,
        rules,
        lambda kind: typed(kind, **sides),
        thresholds,
        level,
    )
    return judged_rules(tallies, each, **options)


def _source(found: Rows | Matched, baseline: str | None) -> RowSource:
    return {
        "name": found.name,
        "baseline": baseline,
        "rows_read": found.rows_read,
        "rows_used": found.rows_read - found.rows_refused,
        "rows_refused": found.rows_refused,
        "refused": [refused_row(refused) for refused in found.refused],
        "chosen": dict(found.chosen),
        "labels_sha256": found.labels_sha256,
    }
