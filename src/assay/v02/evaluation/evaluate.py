"""From columns or counts to an evaluation, or to one measure: each is a function too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.v02.engines import Accumulator, Ask
from assay.v02.engines.arrays import count_arrays, resolved_arrays
from assay.errors import EmptyInput, InputError
from assay.v02.escaping import given_text
from assay.v02.evaluation.deployment import costs_of
from assay.v02.evaluation.evaluation import Evaluation
from assay.v02.evaluation.judge import Judge
from assay.v02.evaluation.named_columns import (
    NAMED,
    count_frame,
    names_columns,
    refusal_notes,
    with_strata,
)
from assay.v02.evaluation.outputs import DECISIONS, PROBABILITIES, SCORES, by_position, is_table
from assay.v02.formula import plain
from assay.v02.inference import Estimate, Method, method_of
from assay.v02.inference.significance import LARGEST_COUNT, as_list
from assay.v02.measures import AVERAGES, MAX_FPR, Measure, Ranked, f_beta, find
from assay.v02.sources import checked_columns, columns_of, infer, label_text
from assay.v02.sources.columns import CELLS, ORIENTATIONS, kept_once
from assay.v02.sources.validation import STOP, OnBadRow, listed_source
from assay.v02.tally import Confusion, Resolved, Tally


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
        y_true = kept_once(y_true, "y_true")
        column, how = by_position(y_true, predictions, columns)
        columns |= column
    if names_columns(y_true, columns | named):
        of_frame = count_frame(y_true, columns | named | {"unknown": unknown})
        tally, notes, listed = of_frame.tally, of_frame.notes, of_frame.listed
        source = {"name": "frame", "refused": listed_source(listed)}
    else:
        tally, notes, counted, listed = resolved_arrays(
            y_true,
            **columns,
            threshold=threshold,
            unknown=unknown,
            on_bad_row=STOP if on_bad_row is None else on_bad_row,
        )
        notes = (*refusal_notes(counted.refused.reasons), *how, *notes)
        source = {"name": "arrays", "refused": listed_source(listed)} | counted.row_counts()
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
        return count_frame(y_true, columns).tally
    return count_arrays(y_true, **{"on_bad_row": STOP, **checked_columns(columns)})


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
        self._shared = {"on_bad_row": STOP, **checked_columns(shared)}
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


# -- counts of a confusion matrix ------------------------------------------------------------------


def counts_tally(
    tp: int | None,
    fp: int | None,
    fn: int | None,
    tn: int | None,
    *,
    matrix: Sequence[Sequence[int]] | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
    negative: Any = None,
    orientation: str | None = None,
) -> tuple[Resolved, tuple[str, ...]]:
    """The tally of a confusion matrix that was given as counts, and what was inferred."""
    if orientation is not None and orientation not in ORIENTATIONS:
        raise InputError(
            f"orientation= is {' or '.join(ORIENTATIONS)}; found {given_text(orientation)}"
        )
    if positive is not None and negative is not None:
        raise InputError("give positive= or negative=, not both: the one follows from the other")
    if labels is not None:
        labels = as_list("labels=", labels, "the classes in their order")
    cells = (tp, fp, fn, tn)
    if matrix is not None:
        if any(cell is not None for cell in cells):
            raise InputError("give the four cells or a matrix, not both")
        rows, names = _matrix(matrix, labels)
        if orientation == "predicted-rows":
            rows = [list(row) for row in zip(*rows, strict=True)]
    else:
        if orientation is not None:
            raise InputError("orientation= is of a matrix; four cells have their names")
        rows, names = _four(cells, labels)
    if len(set(names)) != len(names):
        raise InputError(f"labels must differ from each other; found {names}")
    if matrix is None:
        _must_agree(names, positive, negative)
        positive, negative = names[1], None
    notes: tuple[str, ...] = ()
    if positive is None and negative is None and len(names) == 2:
        inferred = infer(names)
        positive, notes = inferred.positive, inferred.notes
    confusion = Confusion(tuple(names), tuple(tuple(row) for row in rows))
    if positive is not None:
        confusion = confusion.against_rest(_position(names, positive=positive))
    elif negative is not None:
        confusion = _swapped_classes(confusion.against_rest(_position(names, negative=negative)))
    alarm = None if positive is None and negative is None else confusion.labels[1]
    return Resolved.of_confusion(confusion, positive=alarm), notes


def _matrix(
    matrix: Sequence[Sequence[int]], labels: Sequence[Any] | None
) -> tuple[list[list[int]], list[str]]:
    """The rows of a matrix, and the names of its classes."""
    try:
        rows = [[_count(cell) for cell in row] for row in matrix]
    except TypeError as error:
        raise InputError(f"a matrix is rows of counts; found {matrix!r}") from error
    names = [label_text(label) for label in labels or range(len(rows))]
    if len(names) < 2:
        raise InputError(f"a confusion matrix has two labels or more; found {len(names)}")
    if [len(row) for row in rows] != [len(names)] * len(names):
        raise InputError(
            f"a matrix of {len(names)} labels has {len(names)} rows of {len(names)} counts; "
            f"found rows of {[len(row) for row in rows]}"
        )
    return rows, names


def _four(
    cells: Sequence[int | None], labels: Sequence[Any] | None
) -> tuple[list[list[int]], list[str]]:
    """Four cells as a matrix, and the names of its two classes, the negative first."""
    absent = [name for name, cell in zip(CELLS, cells, strict=True) if cell is None]
    if absent:
        raise InputError(f"four cells are needed: tp, fp, fn, tn; missing: {', '.join(absent)}")
    true_positive, false_positive, false_negative, true_negative = map(_count, cells)
    names = [label_text(label) for label in labels or ("negative", "positive")]
    if len(names) != 2:
        raise InputError(f"four cells have two labels, the negative first; found {names}")
    return [[true_negative, false_positive], [false_negative, true_positive]], names


def _must_agree(names: Sequence[str], positive: Any, negative: Any) -> None:
    """Refuse a side of four cells that the order of their labels contradicts."""
    sides = {"positive": (positive, 1), "negative": (negative, 0)}
    for side, (label, place) in sides.items():
        if label is not None and _position(names, **{side: label}) != place:
            raise InputError(
                f"{side}={label_text(label)!r} contradicts labels={list(names)}, of which the "
                f"negative comes first: tp counts {names[1]!r}. Turn the labels round, or leave "
                f"{side}= out"
            )


def _position(names: Sequence[str], **chosen: Any) -> int:
    """Where the label stands that was named as the positive or the negative."""
    ((side, label),) = chosen.items()
    label = label_text(label)
    if label not in names:
        raise InputError(
            f"{side}={label!r} is none of the labels {list(names)}; labels= gives them their names"
        )
    return list(names).index(label)


def _swapped_classes(confusion: Confusion) -> Confusion:
    """The same table with the other class first."""
    rows = tuple(row[::-1] for row in confusion.cells[::-1])
    return Confusion(confusion.labels[::-1], rows)


def _count(cell: Any) -> int:
    is_integer = isinstance(cell, int | np.integer) and not isinstance(cell, bool)
    if not is_integer and not (isinstance(cell, float) and cell.is_integer()):
        raise InputError(
            f"a cell of a confusion matrix is a whole number; found {given_text(cell)}"
        )
    if cell < 0:
        raise InputError(
            f"a cell of a confusion matrix is not negative; found {given_text(int(cell))}"
        )
    if cell > LARGEST_COUNT:
        raise InputError(
            f"a cell of a confusion matrix is at most 10^36; found {given_text(int(cell))}"
        )
    return int(cell)


# -- measures as functions -------------------------------------------------------------------------


@dataclass(frozen=True)
class MeasureFunction:
    """A measure, to be called with four cells or with columns.

    >>> precision = MeasureFunction(find("precision"))
    >>> precision(tp=3, fp=1, fn=2, tn=4).value
    0.75
    >>> precision(["a", "b", "a"], ["a", "a", "a"], positive="a").value
    0.6666666666666666
    """

    measure: Measure

    @property
    def __name__(self) -> str:
        return self.measure.name

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", _help(self.measure))

    def __call__(
        self,
        y_true: Any = None,
        y_said: Any = None,
        *,
        tp: int | None = None,
        fp: int | None = None,
        fn: int | None = None,
        tn: int | None = None,
        average: str | None = None,
        positive: Any = None,
        level: float | None = None,
        interval: Method | str | None = None,
        max_fpr: float = MAX_FPR,
        corrected: bool = True,
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        **columns: Any,
    ) -> Estimate:
        """The estimate. ``y_said`` are decisions, or for measures of scores the scores.

        ``average`` is macro, micro or weighted. ``max_fpr`` and ``corrected`` are for the partial
        AUC; ``cost_fp`` and ``cost_fn``, what a false alarm and a missed attack cost, for measures
        of costs. Further columns are those of :func:`assay.evaluate`.
        """
        if (max_fpr, corrected) != (MAX_FPR, True) and not self._ends_at_a_rate:
            raise InputError(f"max_fpr and corrected are for the partial AUC, not {self.__name__}")
        costs = costs_of(cost_fp, cost_fn)
        if costs is not None and self.measure.of_costs is None:
            raise InputError(
                f"cost_fp= and cost_fn= are for measures of costs, not {self.__name__}"
            )
        if y_true is None:
            if self.measure.of_scores is not None:
                raise InputError(f"{self.measure.name} can't be told from counts: give columns")
            if y_said is not None or columns:
                raise InputError("give y_true beside what the model said, or the four cells")
            tally, _ = counts_tally(tp, fp, fn, tn)
        else:
            if any(cell is not None for cell in (tp, fp, fn, tn)):
                raise InputError("give the four cells or columns, not both")
            given = {"on_bad_row": STOP, **self._said(y_said), **columns}
            if "y_score" in given and self.measure.of_scores is not None:
                # A ranking does not depend on where the alarm is set.
                given.setdefault("threshold", 0.5)
            tally, *_ = resolved_arrays(y_true, positive=positive, **checked_columns(given))
        method, chosen = method_of(interval, level)
        judge = Judge(tally, chosen, method, max_fpr, corrected, costs=costs)
        return self._estimate(judge, average)

    @property
    def _ends_at_a_rate(self) -> bool:
        declared = self.measure.of_scores
        return isinstance(declared, Ranked) and declared.up_to is not None

    def _said(self, y_said: Any) -> dict[str, Any]:
        if y_said is None:
            return {}
        if self.measure.of_scores is None:
            return {DECISIONS: y_said}
        return {PROBABILITIES if is_table(y_said) else SCORES: y_said}

    def _estimate(self, judge: Judge, average: str | None) -> Estimate:
        measure = self.measure
        if average is not None and average not in AVERAGES:
            raise InputError(
                f"average is one of {', '.join(AVERAGES)}; found {given_text(average)}"
            )
        if measure.of_scores is not None:
            if average is not None:
                return judge.averaged_scores(measure, average)
            if measure.averages and not judge.binary:
                raise InputError(
                    f"{measure.name} of {len(judge.tally.labels)} classes needs average= macro or "
                    f"weighted, or positive="
                )
            return judge.scored(measure)
        if average is not None:
            return judge.averaged(measure, average)
        if not judge.binary and measure.of_costs is None:
            return judge.of_classes(measure)
        return judge.of_label(measure, 1)


def _help(measure: Measure) -> str:
    lines = [measure.reads, "", f"When it misleads: {measure.misleads}"]
    if measure.formula is not None:
        lines.append(f"Formula: {plain(measure.formula)}")
    low, high = measure.range
    lines.append(f"Range: {low:g} to {high:g}; {measure.better.value}.")
    return "\n".join([*lines, f"Reference: {measure.reference}"])


def fbeta(y_true: Any = None, y_said: Any = None, *, beta: Any, **given: Any) -> Estimate:
    """F-beta: recall counts ``beta`` times as much as precision.

    >>> fbeta(beta=2, tp=3, fp=1, fn=2, tn=4).value
    0.625
    """
    if not isinstance(beta, int | float) or isinstance(beta, bool):
        raise InputError(f"beta must be a positive number; found {given_text(beta)}")
    return MeasureFunction(f_beta(beta))(y_true, y_said, **given)


def function_of(name: str) -> MeasureFunction:
    """The function of a measure, by its name or alias."""
    return MeasureFunction(find(name))
