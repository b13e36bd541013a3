"""From columns or counts to an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.engines import Accumulator, Ask
from assay.engines.arrays import count_arrays, resolved_arrays
from assay.errors import EmptyInput, InputError
from assay.evaluation.counts import counts_tally
from assay.evaluation.deployment import costs_of
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.from_frame import (
    NAMED,
    count_frame,
    names_columns,
    refusal_notes,
    with_strata,
)
from assay.evaluation.predictions import by_position
from assay.inference import Method
from assay.sources import checked_columns, columns_of
from assay.sources.validation import OnBadRow
from assay.tally import Resolved, Tally


def evaluate(
    y_true: Any,
    predictions: Any = None,
    *,
    y_score: Any = None,
    y_pred: Any = None,
    y_proba: Any = None,
    label: str | None = None,
    score: str | None = None,
    decision: str | None = None,
    probabilities: Mapping[Any, str] | None = None,
    count: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    time: str | None = None,
    on_bad_row: OnBadRow | None = None,
    mode: str | None = None,
    max_memory: int | None = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | None = None,
    counts: Any = None,
    sample_weight: Any = None,
    slices: Mapping[str, Any] | Sequence[str] | None = None,
    strata: Any = None,
    clusters: Any = None,
    times: Any = None,
    period: str | None = None,
    top: int | None = None,
    unknown: Any = None,
    base_rate: float | Sequence[float] | None = None,
    volume: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    family: str | None = None,
    level: float | None = None,
    interval: Method | str | None = None,
) -> Evaluation:
    """Evaluate what a model said against what was true: columns, or a frame that names them.

    Columns may be lists, NumPy arrays, or columns of pandas, polars or pyarrow. Give ``y_score``
    (higher is more suspicious; flagged from ``threshold`` on, by default 0.5 where all scores lie
    in [0, 1]; else rows are only ranked), ``y_pred`` (decisions), both, or ``y_proba`` (a column a
    class, as an array, a dataframe or a mapping from label to column). The
    columns of an array are in the order of ``labels``, or sorted where those are not given.

    By position, as in ``evaluate(y, scores)``, values tell which of the three they are. Columns of
    several labels are probabilities, text and booleans are decisions, numbers with a fraction are
    scores. Whole numbers are decisions where all of them are labels, and scores where there are
    more of them than labels, and ``evaluation.notes`` say so; any others are refused.

    ``positive`` is the label that is the alarm, or ``negative`` the one that is not; for well-known
    pairs such as normal and attack it is inferred, and ``evaluation.notes`` say so. ``counts`` are
    frequencies, ``sample_weight`` sampling weights. ``slices`` maps a name to a column;
    ``family`` is the name of the one that is the kind of attack (``"family"`` if there is one so
    called). ``strata`` is what rows were drawn by, where each row of one stratum has the weight
    N/n, as :func:`assay.sample` draws them. ``clusters`` is a column such as the host, within which
    rows are not independent.
    ``unknown`` is a label that ``y_proba`` has no column of: its rows are judged by how they rank
    against the others, and all else is of the others alone.
    ``times`` is when each row happened (dates, moments, ISO text or numbers since 1970, by the day
    in UTC), and ``period``, ``"day"``, ``"week"`` or ``"month"``, what ``evaluation.over_time``
    follows each measure by.
    ``base_rate`` is the share of positives in deployment, ``volume`` how many rows there are a day,
    ``top`` how many alerts of a day are read, ``cost_fp`` and ``cost_fn`` what a false alarm and a
    missed attack cost.

    Of a frame (pandas, polars, also lazy, pyarrow, DuckDB, Spark, Dask, Ray, or a mapping) say
    which column is which: ``label``, ``score``, ``decision``, ``probabilities`` (by label),
    ``count``, ``weight``, ``cluster``, ``time``, ``family``, ``strata``, and ``slices`` as a list
    of names.
    Rows are counted where they are. ``on_bad_row="skip"`` leaves out and counts those that can't
    be used, of columns too. ``mode`` says how scores are kept: ``"exact"``, ``"cuts"``,
    ``"grid"``, or ``"auto"``, exact while they fit into ``max_memory`` bytes.

    >>> truth = ["attack", "normal", "attack", "normal"]
    >>> evaluation = evaluate(truth, [0.9, 0.2, 0.7, 0.6])
    >>> evaluation["recall"].value, evaluation["roc_auc"].value
    (1.0, 1.0)
    >>> frame = {"y": truth, "p": [0.9, 0.2, 0.7, 0.6]}
    >>> evaluate(frame, label="y", score="p")["roc_auc"].value
    1.0
    """
    slices, drawn_by = with_strata(slices, strata)
    columns = {"y_score": y_score, "y_pred": y_pred, "y_proba": y_proba, "labels": labels}
    columns |= {"counts": counts, "sample_weight": sample_weight, "slices": slices}
    columns |= {"clusters": clusters, "times": times, "positive": positive, "negative": negative}
    named: dict[str, Any] = {"label": label, "score": score, "decision": decision}
    named |= {"probabilities": probabilities}
    named |= {"count": count, "weight": weight, "cluster": cluster, "time": time}
    named |= {"mode": mode, "max_memory": max_memory}
    named |= {"on_bad_row": on_bad_row, "family": family, "threshold": threshold}
    tally: Resolved | Tally
    source: dict[str, Any]
    how: tuple[str, ...] = ()
    if predictions is not None:
        _must_be_columns(y_true, named)
        y_true = y_true if hasattr(y_true, "__len__") else list(y_true)
        column, how = by_position(y_true, predictions, columns)
        columns |= column
    if names_columns(y_true, columns | named):
        tally, notes = count_frame(y_true, columns | named | {"unknown": unknown})
        source = {"name": "frame"}
    else:
        tally, notes, counted = resolved_arrays(
            y_true, **columns, threshold=threshold, unknown=unknown, on_bad_row=on_bad_row
        )
        notes = (*refusal_notes(counted.refused.reasons), *how, *notes)
        source = {"name": "arrays", "rows_read": counted.rows}
        if counted.refused.total:
            source["rows_refused"] = counted.refused.total
    return Evaluation(
        tally,
        level=level,
        interval=interval,
        base_rate=base_rate,
        volume=volume,
        costs=costs_of(cost_fp, cost_fn),
        time=time,
        period=period,
        top=top,
        strata=drawn_by,
        family=family,
        source=source,
        notes=notes,
    )


def _must_be_columns(y_true: Any, named: Mapping[str, Any]) -> None:
    """Refuse predictions by position beside a frame that names its columns, a model or a file."""
    given = [name for name in NAMED if named[name] is not None]
    if given:
        raise InputError(
            f"{given[0]}= names a column of a frame, and the second argument is a column itself: "
            f"give the names of all columns, evaluate(frame, label='y', score='p'), or only columns"
        )
    if hasattr(y_true, "predict") or hasattr(y_true, "predict_proba"):
        raise InputError(
            f"the first argument is what was true; found {type(y_true).__name__}. Of a model and "
            f"rows that it did not learn from, say evaluate_model(model, X, y)"
        )


def evaluate_counts(
    *,
    tp: int | None = None,
    fp: int | None = None,
    fn: int | None = None,
    tn: int | None = None,
    matrix: Sequence[Sequence[int]] | None = None,
    orientation: str | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
    negative: Any = None,
    level: float | None = None,
    interval: Method | str | None = None,
    base_rate: float | Sequence[float] | None = None,
    volume: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
) -> Evaluation:
    """Evaluate a confusion matrix alone: four cells, or a K x K matrix.

    The rows of a matrix are the truth (``orientation="truth-rows"``) or, with
    ``"predicted-rows"``, the decisions. ``labels`` name the classes in the order of the matrix, of
    four cells the negative first.

    >>> evaluate_counts(matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]])["kappa"]
    0.849 [0.759, 0.907]
    """
    tally, notes = counts_tally(
        *(tp, fp, fn, tn),
        matrix=matrix,
        labels=labels,
        positive=positive,
        negative=negative,
        orientation=orientation,
    )
    return Evaluation(
        tally,
        level=level,
        interval=interval,
        base_rate=base_rate,
        volume=volume,
        costs=costs_of(cost_fp, cost_fn),
        source={"name": "counts", "rows_read": tally.confusion.total},
        notes=notes,
    )


def count(y_true: Any, **columns: Any) -> Tally:
    """Count rows into a tally, which adds to others and can be saved and evaluated later.

    Takes the columns of :func:`evaluate`. Nothing is decided before the tally is evaluated, so any
    two parts of the data add, whatever labels each of them has; ``positive``, ``negative`` and
    ``labels`` are kept with it for then. Of a frame, columns are named: ``label=``, ``score=``.

    >>> a = count(["attack", "normal"], y_pred=["attack", "attack"])
    >>> b = count(["normal"], y_pred=["normal"])
    >>> Evaluation(a + b)["accuracy"].value
    0.6666666666666666
    """
    if names_columns(y_true, columns):
        return count_frame(y_true, columns)[0]
    return count_arrays(y_true, **checked_columns(columns))


class RunningTally:
    """A tally that grows batch by batch.

    Made with what all batches share (``positive``, ``threshold``) and updated with the columns of
    :func:`evaluate`, as keywords or as a mapping or dataframe with those names.

    >>> running = RunningTally(threshold=0.5)
    >>> running = running.update({"y_true": ["attack"], "y_score": [0.7]})
    >>> running = running.update(y_true=["normal", "normal"], y_score=[0.1, 0.2])
    >>> running.evaluate()["roc_auc"].value
    1.0
    """

    def __init__(self, **shared: Any) -> None:
        self._shared = checked_columns(shared)
        self._counting = Accumulator(Ask())
        self._first: Tally | None = None

    def update(self, batch: Any = None, **columns: Any) -> RunningTally:
        """Count a further batch."""
        given = dict(_named_columns(batch), **columns)
        if "y_true" not in given:
            shown = ", ".join(given) or "nothing"
            raise InputError(f"a batch needs a column y_true; found {shown}")
        truth = given.pop("y_true")
        tally = count_arrays(truth, **{**self._shared, **checked_columns(given)})
        if self._first is None:
            self._first = tally
        self._first.must_be_like(tally)
        self._counting.add_tally(tally)
        return self

    @property
    def tally(self) -> Tally:
        """What was counted so far."""
        if self._first is None:
            raise EmptyInput("nothing was counted yet: call update with a batch first")
        return self._counting.done()

    def evaluate(self, **options: Any) -> Evaluation:
        """Evaluate what was counted so far; takes level, interval, base_rate, period and more."""
        return Evaluation(self.tally, **{"source": {"name": "batches"}, **options})


def _named_columns(batch: Any) -> dict[str, Any]:
    if batch is None:
        return {}
    if isinstance(batch, Mapping):
        return dict(batch)
    if hasattr(batch, "columns"):
        return columns_of(batch)
    raise InputError(f"a batch is a mapping or a dataframe; found {type(batch).__name__}")
