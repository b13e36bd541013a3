"""From files to a gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from assay.decisions.gate.gate import gate
from assay.decisions.gate.result import Gate
from assay.decisions.gate.rule import NEW, OLD, Rule
from assay.errors import InputError
from assay.inference.bootstrap import SEED
from assay.sources import FAMILY
from assay.sources.files import Matched, Model, Progress, Request, read_models, silent, typed
from assay.sources.files.request import RowSource, refused_row

# Judges the rows that were read, given the arguments of a gate.
Judge: TypeAlias = Callable[[Matched, dict[str, Any]], Gate]


def gate_files(
    file: str,
    request: Request | None = None,
    *,
    rules: str | Rule | Iterable[str | Rule],
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
    place of :func:`assay.gate`, for rules about a model whose rows are elsewhere.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "new.csv")
    ...     _ = path.write_text("label,score\n" + "attack,0.9\nnormal,0.2\n" * 50)
    ...     gate_files(str(path), score="score", rules="new(recall) >= 0.9").outcome.value
    'pass'
    """
    models = [Model(NEW, score, file)]
    if baseline is not None or baseline_score is not None:
        models.append(Model(OLD, baseline_score or score, file if baseline is None else baseline))
    found = read_models(
        [file],
        request or Request(),
        models,
        id_column=id_column,
        labels=[str(label) for label in labels or ()],
        progress=progress,
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
        **typed(columns["y_true"].kind, positive=positive, negative=negative, labels=labels),
        families=sliced.get(family),
        clusters=columns.get("clusters"),
        counts=columns.get("counts"),
        threshold=threshold,
        old_threshold=baseline_threshold,
        level=level,
        joint=joint,
        resamples=resamples,
        seed=seed,
        progress=resampling,
    )
    judged = gate(**given) if judge is None else judge(found, given)
    source: RowSource = {
        "name": found.name,
        "baseline": found.files[0] if found.files else None,
        "rows_read": found.rows_read,
        "rows_used": found.rows_read - found.rows_refused,
        "rows_refused": found.rows_refused,
        "refused": [refused_row(refused) for refused in found.refused],
        "chosen": dict(found.chosen),
        "labels_sha256": found.labels_sha256,
    }
    return replace(judged, source=source, notes=(*found.notes, *judged.notes))
