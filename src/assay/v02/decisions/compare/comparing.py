"""Is B really better than A? Two or more models on the same rows, in columns or in files."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Protocol

import numpy as np

from assay.v02.decisions.compare.comparison import Comparison, DecidedRows
from assay.v02.decisions.compare.models import (
    Together,
    chosen_of_cells,
    chosen_of_rows,
    is_chosen,
    levels_of,
    thresholds_of,
)
from assay.v02.decisions.compare.verdicts import MARGIN, Question
from assay.v02.engines.frames import columns_by_name
from assay.v02.engines.models import (
    MOST_ROWS,
    PAIR_MODES,
    CountedModels,
    ModelCounter,
    ModelRows,
    count_models,
    on_grid,
)
from assay.v02.engines.queries import ModelQuery
from assay.errors import InputError, LabelError, LengthMismatch, ScoreError
from assay.v02.escaping import plural
from assay.v02.evaluation.evaluation import mistakes_of_models
from assay.v02.evaluation.findings.identifiers_as_scores import names_rows
from assay.v02.evaluation.named_columns import refusal_notes
from assay.v02.inference.differences import must_spread
from assay.v02.inference.threshold_resampling import Progress
from assay.v02.inference.threshold_rules import AtThreshold, Rule, rule_of
from assay.v02.sources import (
    FAMILY,
    Coded,
    code_arrays,
    common_labels,
    label_text,
    must_share_index,
    probability_labels,
)
from assay.v02.sources.coded import Labels
from assay.v02.sources.columns import array_of, kept_once, labels_of, names_of, native
from assay.v02.sources.files import MatchedRows, Model, Request, Rows, read_models, silent, typed
from assay.v02.sources.files.inputs import STDIN, sources
from assay.v02.sources.files.request import Progress as ReadProgress
from assay.v02.sources.files.several_models import ModelLot, ModelReading
from assay.v02.sources.labelling import checked_threshold
from assay.v02.sources.row_checks import clusters_of
from assay.v02.sources.validation import LeftOut, OnBadRow, good_rows, skips, suggesting_skip
from assay.v02.tally.keeping import AUTO, Exact, Grid, keeping_of_mode

# Which argument holds the columns of what models said.
_SAID = {"y_score": "scores", "y_pred": "decisions", "y_proba": "probabilities"}


def compare(
    y_true: Any,
    *,
    label: str | None = None,
    scores: Mapping[str, Any] | None = None,
    decisions: Mapping[str, Any] | None = None,
    probabilities: Mapping[str, Any] | None = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    at: Rule | str | None = None,
    counts: Any = None,
    clusters: Any = None,
    families: Any = None,
    ids: Any = None,
    level: float | None = None,
    resamples: int | None = None,
    seed: int = 42,
    interval: str | None = None,
    margin: float = MARGIN,
    mode: str = AUTO,
    on_bad_row: OnBadRow | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare models on the same rows.

    Give ``scores`` (name to column), flagged from ``threshold`` on (one number, or one a model),
    ``decisions``, or ``probabilities`` of each class: an array with a column a label, in the order
    of ``labels``, a dataframe, or a mapping from label to column; the largest decides. With
    ``label`` the rows are a frame of any library, and every column is named. ``at`` is a
    rule that chooses the threshold of each model, such as ``"max-far=0.1"``; then every resample
    chooses all thresholds anew, and the detection rate decides which model is better.

    Differences are B less A: of count measures by the paired bootstrap, of AUC by DeLong, of other
    measures of scores by each row's influence, or with ``interval="bootstrap"`` by the paired
    bootstrap too. With ``clusters``, clusters take the place of rows. There are 1,000
    ``resamples``, or more where many pairs of models ask for it. ``families`` and ``ids`` tell
    which rows flipped. The verdict calls a pair equivalent when the whole interval lies within
    ``margin``.

    ``mode`` is how pairs of scores are kept: ``exact`` keeps all of them, ``grid`` counts them into
    cells, in memory that does not grow with the rows, and gives measures of scores with bounds.
    ``auto`` is exact up to five million rows. ``on_bad_row="skip"`` leaves out and counts the rows
    that can't be used, whichever model they are bad for.

    >>> truth = ["attack", "normal"] * 30
    >>> good, poor = [0.9, 0.1] * 30, [0.9, 0.1, 0.4, 0.6] * 15
    >>> compare(truth, scores={"poor": poor, "good": good}).verdicts[0].text
    'good is better than poor: roc_auc is higher by 0.250 [0.121, 0.379].'
    """
    columns = _columns(scores, decisions, probabilities)
    kind = "y_score" if scores is not None else "y_proba" if decisions is None else "y_pred"
    beside = {"counts": counts, "clusters": clusters, "families": families, "ids": ids}
    y_true, columns, counts, clusters, families, ids = _given_columns(
        y_true, label, {_SAID[kind]: columns, **beside}
    )
    question = Question.of(
        list(columns),
        at=at,
        level=level,
        resamples=resamples,
        seed=seed,
        interval=interval,
        margin=margin,
    )
    rule = question.rule
    _must_be_scores(rule, decisions, threshold)
    left_out = LeftOut()
    positions = None
    every = {"y_true": y_true, "counts": counts, "clusters": clusters}
    models = [{kind: column} for column in columns.values()]
    if skips(on_bad_row):
        y_true = every["y_true"] = kept_once(y_true, "y_true")
        every |= {"families": families, "ids": ids, "positions": np.arange(len(y_true))}
        left_out, (every, *models) = good_rows(every, *models)
        y_true, counts, clusters, families, ids, positions = every.values()
        columns = {name: model[kind] for name, model in zip(columns, models, strict=True)}
    with suggesting_skip(every, *models):
        if decisions is not None and labels is None:
            labels = common_labels(y_true, columns)
        # Coded once, not once a model.
        truth = labels_of(y_true, "y_true")
        if probabilities is not None:
            _must_have_labels(columns, truth)
            labels = labels or probability_labels(columns, truth.kind)
        shared = {
            "counts": counts,
            "clusters": None if clusters is None else clusters_of(clusters, "clusters"),
            "slices": None if families is None else {FAMILY: names_of(families, "families")},
        }
        coded = _coded_models(
            truth, {name: {kind: c} for name, c in columns.items()}, labels, shared
        )
        at_each = {} if decisions is not None else _thresholds(list(columns), threshold, rule)
        sides = {"positive": positive, "negative": negative, "labels": labels}
        rows = ModelRows.of(coded, at_each, **sides)
    if rows.first.clusters is not None:
        must_spread(rows.first.clusters.codes, rows.truth)
    if on_grid(mode, rows):
        counted, choices = counted_lots(rows, question, at_each, lambda _: rows.sides, progress)
    else:
        choices = {}
        if rule is not None and is_chosen(rule):
            choices = chosen_of_rows(rows, rule, question.method, progress)
            rows = replace(rows, thresholds=thresholds_of(choices))
        counted = count_models(rows)
    decided = None
    if counted.decisions is not None:
        at_each = {name: tally.threshold for name, tally in counted.tallies.items()}
        kept, names = _kept_rows(rows.first, counts, ids)
        if positions is not None:
            kept = positions if kept is None else positions[kept]
        decided = DecidedRows(replace(rows, thresholds=at_each), kept, names)
    comparison = question.answer(counted, choices, progress)
    notes = (*refusal_notes(left_out.reasons), *comparison.notes)
    return replace(comparison, notes=notes, decided=decided)


def _given_columns(y_true: Any, label: str | None, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """The labels and the columns beside them, by name where a label is named."""
    y_true, columns = columns_by_name(y_true, label, given, MOST_ROWS)
    rows = {name: column for name, column in columns.items() if name != _SAID["y_proba"]}
    must_share_index({"y_true": y_true, **rows})
    return (y_true, *columns.values())


def _coded_models(
    truth: Labels,
    models: Mapping[str, Mapping[str, Any]],
    labels: Sequence[Any] | None,
    shared: Mapping[str, Any],
) -> dict[str, Coded]:
    """The rows of each model; what is wrong with one is told with its name."""
    coded = {}
    for name, outputs in models.items():
        try:
            coded[name] = code_arrays(truth, labels=labels, **shared, **outputs)
        except LengthMismatch as mismatch:
            raise LengthMismatch(f"model {name!r}: {mismatch}") from mismatch
        except ScoreError as error:
            if "y_proba" not in outputs:
                raise
            raise ScoreError(f"model {name!r}: {error}") from error
    return coded


class InLots(Protocol):
    """Rows of several models that come in lots, as often as they are asked for."""

    def lots(self) -> Iterable[ModelLot]:
        """The lots, from the first on."""


def counted_lots(
    rows: InLots | ModelQuery,
    question: Question,
    thresholds: Mapping[str, float | None],
    sides: Callable[[str], Mapping[str, Any]],
    progress: Progress | None,
) -> tuple[CountedModels, Together]:
    """Count models whose rows come in lots, which are let go, or are counted in their database.

    Where a rule chooses thresholds, lots are gone through twice.
    """
    rule = question.rule
    chosen = rule is not None and is_chosen(rule)
    # Any threshold will do until one is chosen.
    counter = ModelCounter({n: 0.0 if chosen else thresholds.get(n) for n in question.models})
    if isinstance(rows, ModelQuery):
        rows.fill(counter)
    else:
        for lot in rows.lots():
            counter.add(lot)
    sided = counter.done(sides)
    if rule is None or not chosen or isinstance(rows, ModelQuery):
        return sided.counted({}), {}
    levels = {name: levels_of(tally, rule) for name, tally in sided.scores().items()}
    own = {name: level.threshold for name, level in levels.items()}
    steps = {name: level.scores for name, level in levels.items()}
    joint, flags = sided.joint_at(rows.lots(), steps, own)
    choices = chosen_of_cells(steps, lambda a, b: joint[a, b], rule, question.method, progress)
    return sided.counted(thresholds_of(choices), flags), choices


def _columns(
    *given_by_kind: Mapping[str, Any] | None,
) -> dict[str, Any]:
    kinds = [kind for kind in given_by_kind if kind is not None]
    if len(kinds) != 1:
        raise InputError(
            "give one of scores=, decisions= and probabilities=, a mapping from model name to "
            "column"
        )
    (given,) = kinds
    if not isinstance(given, Mapping):
        raise InputError("models are a mapping from name to column, such as {'old': a, 'new': b}")
    if len(given) < 2:
        raise InputError(f"a comparison needs two models or more; found {', '.join(given)}")
    return dict(given)


def _must_have_labels(tables: Mapping[str, Any], truth: Labels) -> None:
    """Refuse named probabilities that lack a label which rows have."""
    for model, table in tables.items():
        named = probability_labels({model: table}, truth.kind)
        columns = [label_text(label) for label in named or ()]
        absent = [label for label in truth.names if label not in columns]
        if named is not None and absent:
            raise LabelError(
                f"model {model!r} has no probability of {', '.join(map(repr, absent))}, which rows "
                f"are labelled; its columns are of {', '.join(map(repr, columns))}. Give a column "
                f"a label"
            )


def _must_be_scores(rule: Rule | None, decisions: Any, threshold: Any) -> None:
    if rule is None and decisions is not None and threshold is not None:
        raise InputError(
            f"threshold= decides on scores; decisions are taken as they are (found {threshold!r})"
        )
    if rule is None:
        return
    if decisions is not None:
        raise InputError(f"{rule} needs scores; there are only decisions, which are taken as given")
    if threshold is not None:
        raise InputError(f"give threshold= or at=, not both; found {threshold!r} and {rule}")


def _thresholds(
    names: Sequence[str], threshold: float | Mapping[str, float] | None, rule: Rule | None
) -> dict[str, float | None]:
    """From which score on each model flags; any score until a rule has chosen one."""
    if isinstance(rule, AtThreshold):
        threshold = rule.threshold
    elif rule is not None:
        threshold = 0.0
    each = threshold if isinstance(threshold, Mapping) else dict.fromkeys(names, threshold)
    unknown = [name for name in each if name not in names]
    if unknown:
        similar = difflib.get_close_matches(str(unknown[0]), list(map(str, names)), n=1)
        hint = f"; did you mean {similar[0]!r}?" if similar else ""
        raise InputError(
            f"threshold= names {unknown[0]!r}, which is no model; there are "
            f"{', '.join(map(repr, names))}{hint}"
        )
    absent = [name for name in names if name not in each]
    if absent:
        raise InputError(
            f"threshold= has none for {', '.join(map(repr, absent))}: give one number for all "
            f"models, or one for each"
        )
    at = {name: each[name] for name in names}
    return {name: None if t is None else checked_threshold(t) for name, t in at.items()}


def _kept_rows(first: Coded, counts: Any, ids: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The positions of the rows that were kept, None where all were, and their ids."""
    rows = None
    if first.size < first.rows:
        rows = np.flatnonzero(array_of(counts, "counts"))
    if ids is None:
        return rows, None
    names = array_of(ids, "ids")
    if len(names) != first.rows:
        raise LengthMismatch(
            f"ids has {len(names)} {plural(len(names), 'row', 'rows')} and y_true {first.rows}"
        )
    return rows, names if rows is None else names[rows]


# -- from files ------------------------------------------------------------------------------------


class NoScores(InputError):
    """A threshold was given, and the models hold no scores that it could decide by."""


@dataclass(frozen=True, eq=False)
class FileComparison:
    """A comparison, and what was read for it; ``matched`` are the rows, where they were kept."""

    comparison: Comparison
    rows: Rows | MatchedRows
    rows_used: int
    matched: MatchedRows | None = None

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
) -> FileComparison:
    """Compare models whose scores, decisions or probabilities are in files.

    Scores of many rows of one input are counted while they are read, and let go, unless
    ``keep_rows`` says that the rows that flipped will be asked for; so are those of any number of
    rows with ``mode="grid"``. Rows that come in clusters, and those that are matched by id, are
    kept. Further options are those of :func:`assay.compare`.
    """
    keeping_of_mode(mode, PAIR_MODES)
    rule = rule_of(at)
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
            return _of_columns(FileComparison(comparison, lots.source, lots.rows_used), models)
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
        content = tables if matched.probabilities else "decisions"
        raise NoScores(f"threshold= decides by scores; these models hold {content}")
    comparison = compare_matched(
        matched, labels=labels, threshold=threshold, at=rule, mode=mode, **options
    )
    return _of_columns(FileComparison(comparison, matched, len(matched.rows), matched), models)


def _of_columns(compared: FileComparison, models: Sequence[Model]) -> FileComparison:
    """The comparison with what the names of columns tell of mistakes, such as one of ids."""
    columns = {model.name: model.column for model in models}
    if not any(map(names_rows, columns.values())):
        return compared
    comparison = compared.comparison
    given = not is_chosen(comparison.at)
    findings = mistakes_of_models(comparison.tallies, columns=columns, threshold_given=given)
    return replace(compared, comparison=replace(comparison, findings=findings))


def _in_database(
    inputs: Sequence[str],
    request: Request,
    models: Sequence[Model],
    mode: str,
    asked: Mapping[str, Any],
) -> FileComparison | None:
    """The comparison of columns of one query, counted in its database; None where rows are read."""
    source, *more = sources(inputs, request)
    if source.engine is None or more:
        return None
    columns = {model.name: model.column for model in models}
    with ModelQuery(source, request, columns) as query:
        if not query.counts(0 if mode == Grid.name else MOST_ROWS):
            return None
        comparison = _streamed(query, **asked)
        return FileComparison(comparison, query.source, query.rows_used)


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
    counted, choices = counted_lots(
        lots,
        question,
        _thresholds(names, threshold, rule),
        lambda kind: typed(kind, positive=positive, negative=negative, labels=labels),
        progress,
    )
    comparison = question.answer(counted, choices, progress)
    return replace(comparison, notes=(*lots.source.notes, *comparison.notes))


def compare_matched(
    matched: MatchedRows,
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


def _typed_tables(matched: MatchedRows) -> dict[str, dict[Any, Any]]:
    """The columns of probabilities by label, as the truth writes labels."""
    kind = matched.columns["y_true"].kind
    return {
        name: {native(label_text(label), kind): column for label, column in table.items()}
        for name, table in matched.probabilities.items()
    }
