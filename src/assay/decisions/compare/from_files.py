"""From files to a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from assay.decisions.compare.comparing import MODES, compare, counted_lots
from assay.decisions.compare.comparison import Comparison
from assay.decisions.compare.question import Question
from assay.decisions.compare.thresholds import is_chosen
from assay.engines.model_queries import ModelQuery
from assay.engines.models import MOST_ROWS
from assay.errors import InputError
from assay.evaluation.findings.identifiers_as_scores import names_rows
from assay.evaluation.mistakes import mistakes_of_models
from assay.inference.chosen import Progress
from assay.inference.operating import AtThreshold, Rule, parse_rule
from assay.sources import label_text
from assay.sources.columns import native
from assay.sources.files import Matched, Model, Request, Rows, read_models, silent, typed
from assay.sources.files.inputs import STDIN, sources
from assay.sources.files.model_lots import ModelReading
from assay.sources.files.request import Progress as ReadProgress
from assay.tally.keeping import AUTO, Exact, Grid, keeping_of_mode


class NoScores(InputError):
    """A threshold was given, and the models hold no scores that it could decide by."""


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison, and what was read for it; ``matched`` are the rows, where they were kept."""

    comparison: Comparison
    rows: Rows | Matched
    rows_used: int
    matched: Matched | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The other files that were read."""
        return () if self.matched is None else self.matched.files


def compare_files(
    inputs: Sequence[str],
    request: Request,
    models: Sequence[Model],
    *,
    id_column: str | None = None,
    labels: Sequence[str] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    at: Rule | str | None = None,
    mode: str = AUTO,
    keep_rows: bool = False,
    reading: ReadProgress = silent,
    stdin: BinaryIO | None = None,
    **options: Any,
) -> Compared:
    """Compare models whose scores, decisions or probabilities are in files.

    Scores of many rows of one input are counted while they are read, and let go, unless
    ``keep_rows`` says that the rows that flipped will be asked for; so are those of any number of
    rows with ``mode="grid"``. Rows that come in clusters, and those that are matched by id, are
    kept. Further options are those of :func:`assay.compare`.
    """
    keeping_of_mode(mode, MODES)
    rule = parse_rule(at) if isinstance(at, str) else at
    rows: Rows | None = None
    here = all(model.file is None and ":" not in model.column for model in models)
    kept = keep_rows or id_column is not None or request.cluster is not None
    twice = is_chosen(rule) and STDIN in inputs
    if mode != Exact.name and here and not kept and not is_chosen(rule):
        asked = {"labels": labels, "threshold": threshold, "rule": rule, **options}
        compared = _in_database(inputs, _of_models(request), models, mode, asked)
        if compared is not None:
            return _of_columns(compared, models)
    if mode != Exact.name and here and not kept and not twice:
        lots = ModelReading(inputs, _of_models(request), models, reading, stdin)
        rows = lots.few(0 if mode == Grid.name else MOST_ROWS)
        if rows is None:
            comparison = _streamed(lots, labels=labels, threshold=threshold, rule=rule, **options)
            return _of_columns(Compared(comparison, lots.source, lots.rows_used), models)
    matched = read_models(
        inputs,
        request,
        models,
        id_column=id_column,
        labels=labels or (),
        progress=reading,
        stdin=stdin,
        rows=rows,
    )
    if threshold is not None and not matched.scores:
        tables = "probabilities, the largest of which decides"
        held = tables if matched.probabilities else "decisions"
        raise NoScores(f"threshold= decides by scores; these models hold {held}")
    comparison = compare_matched(
        matched, labels=labels, threshold=threshold, at=rule, mode=mode, **options
    )
    return _of_columns(Compared(comparison, matched, len(matched.rows), matched), models)


def _of_columns(compared: Compared, models: Sequence[Model]) -> Compared:
    """The comparison with what the names of columns tell of mistakes, such as one of ids."""
    columns = {model.name: model.column for model in models}
    if not any(map(names_rows, columns.values())):
        return compared
    found = compared.comparison
    given = not is_chosen(found.at)
    findings = mistakes_of_models(found.tallies, columns=columns, threshold_given=given)
    return replace(compared, comparison=replace(found, findings=findings))


def _in_database(
    inputs: Sequence[str],
    request: Request,
    models: Sequence[Model],
    mode: str,
    asked: Mapping[str, Any],
) -> Compared | None:
    """The comparison of columns of one query, counted in its database; None where rows are read."""
    source, *more = sources(inputs, request)
    if source.engine is None or more:
        return None
    columns = {model.name: model.column for model in models}
    with ModelQuery(source, request, columns) as query:
        if not query.counts(0 if mode == Grid.name else MOST_ROWS):
            return None
        comparison = _streamed(query, **asked)
        return Compared(comparison, query.source, query.rows_used)


def _of_models(request: Request) -> Request:
    """The request without what one model alone said."""
    return replace(request, score=None, decision=None, probabilities={}, probability_pattern=None)


def _streamed(
    lots: ModelReading | ModelQuery,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    rule: Rule | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare models whose rows are counted while they are read."""
    if rule is not None and threshold is not None:
        raise InputError(f"give threshold= or at=, not both; found {threshold!r} and {rule}")
    names = lots.models
    question = Question.of(names, at=rule, **options)
    at = rule.threshold if isinstance(rule, AtThreshold) else threshold
    counted, together = counted_lots(
        lots,
        question,
        {name: at.get(name) if isinstance(at, Mapping) else at for name in names},
        lambda kind: typed(kind, positive=positive, negative=negative, labels=labels),
        progress,
    )
    comparison = question.answer(counted, together)
    return replace(comparison, notes=(*lots.source.notes, *comparison.notes))


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
    comparison = compare(
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
    return replace(comparison, notes=(*matched.notes, *comparison.notes))


def _typed_tables(matched: Matched) -> dict[str, dict[Any, Any]]:
    """The columns of probabilities by label, as the truth writes labels."""
    kind = matched.columns["y_true"].kind
    return {
        name: {native(label_text(label), kind): column for label, column in table.items()}
        for name, table in matched.probabilities.items()
    }
