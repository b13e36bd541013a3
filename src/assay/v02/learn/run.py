"""What a training leaves: a model, what was said of unseen rows, what that is worth, and files.

Here are the files that hold data; those that people read are made by :mod:`assay.report`.
Everything but the times in ``run.json`` is the same, byte by byte, for the same command.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.v02 import plots
from assay.errors import InputError, MethodError
from assay.v02.escaping import escaped_json
from assay.v02.evaluation import Evaluation
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.findings.finding import Code
from assay.v02.inference import Estimate
from assay.v02.inference.fields import Result
from assay.v02.learn.encoding import encoding_of
from assay.v02.learn.explanation import rules_of_tree
from assay.v02.learn.fitting import Answers, Floats, Positions
from assay.v02.learn.persistence import MODEL, model_bytes, model_header, versions
from assay.v02.learn.predicting import DECISION, PROBABILITY, ROW, SCORE
from assay.v02.learn.recipes import chosen_columns
from assay.v02.learn.record import Training, TreeRules, counts_of, settings_of, training_of
from assay.v02.learn.splitter import SplitCounts
from assay.v02.measures import AVERAGES, find, parse
from assay.v02.plots.curves import losses

if TYPE_CHECKING:
    import polars as pl

    from assay.v02.learn.data import Data
    from assay.v02.learn.recipe import Recipe
    from assay.v02.learn.record import Importance
    from assay.v02.plots.canvas import Axes

# Columns that a figure of what a model relies on shows.
_COLUMNS = 20


@dataclass(frozen=True, eq=False)
class TrainedFold:
    """One part that was judged by a model that learned from other rows.

    ``train`` are positions in ``Run.data``, ``test`` in ``Run.judged_data``. ``learned`` are
    measures of the same model on the rows that it learned from, or on a sample of them. ``losses``
    is the training loss of each epoch of a network, ``rates`` the learning rate. ``not_chosen`` is
    true where a threshold was to be chosen on learned rows, and none could be.
    """

    name: str
    repeat: int
    train: Positions
    test: Positions
    said: Answers
    counts: SplitCounts
    learned: Mapping[str, float]
    not_learned: tuple[str, ...] = ()
    losses: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    not_chosen: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Run(Result):
    """A recipe that was trained and judged by a validation scheme.

    ``max_far`` is the false alarm rate that thresholds were chosen for, where one was tolerated.
    ``model`` is the one to keep, which learned from ``learned_from``, and ``threshold`` the score
    from which on it flags a row. ``judged`` are the positions in ``judged_data`` of the rows that a
    model judged which had not learned from them; ``said`` is what it said of them, and ``fold_of``
    which of the ``folds`` that was. Where rows were judged repeatedly, these and ``evaluation`` are
    of the first repeat, and ``repeats`` has the evaluation of each. ``per_fold`` has the values of
    each measure fold by fold, ``over_folds`` their mean with the corrected interval and, among its
    parts, the standard deviation. ``held_back`` is the evaluation of a validation part,
    ``importance`` what the model relies on, measured on rows that it did not learn.
    """

    recipe: Recipe
    settings: Mapping[str, Any]
    scheme: str
    seed: int
    max_far: float | None
    data: Data
    test: Data | None
    model: Any
    learned_from: str
    threshold: float | None
    folds: tuple[TrainedFold, ...]
    judged: Positions
    said: Answers
    fold_of: npt.NDArray[np.intp]
    evaluation: Evaluation
    repeats: tuple[Evaluation, ...]
    per_fold: Mapping[str, tuple[float, ...]]
    over_folds: Mapping[str, Estimate]
    held_back: Evaluation | None = None
    importance: Importance | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: int = 0

    @cached_property
    def chosen(self) -> tuple[tuple[str, float], ...]:
        """The columns that chi-square chose, and it; none where it chose none."""
        return tuple(chosen_columns(self.model))

    @cached_property
    def rules(self) -> TreeRules | None:
        """What a tree says, leaf by leaf and split by split; None of any other model."""
        return rules_of_tree(self.model, self.data.labels)

    def snapshot(self, trusted: tuple[str, ...] = ()) -> Training:
        """All that is known of it but its model; ``trusted`` are types that loading it runs."""
        return training_of(self, trusted)

    @property
    def plot(self) -> RunPlots:
        """Figures by matplotlib: ``run.plot.losses()``; needs the extra ``plot``."""
        return RunPlots(self)

    @property
    def judged_data(self) -> Data:
        """The table that the judged rows are of: the test file, or the data themselves."""
        return self.data if self.test is None else self.test

    @property
    def scores(self) -> Floats:
        """What was said of the judged rows, in their order: scores, or a column a class."""
        return self.said.scores

    @property
    def binary(self) -> bool:
        """Whether there is one positive class."""
        return self.data.positive is not None


@dataclass(frozen=True, repr=False)
class RunPlots(plots.Figures):
    """Figures of a run: those of its evaluation, what it relies on, how it learned."""

    run: Run

    def losses(self, ax: Axes | None = None) -> Axes:
        """The training loss after each epoch, a line a fold."""
        return losses({fold.name: fold.losses for fold in self.run.folds}, ax=ax)

    def importance(self, ax: Axes | None = None) -> Axes:
        """What shuffling each column costs, with its interval."""
        if self.run.importance is None:
            raise MethodError("what the model relies on was not measured in this run")
        rows = self.run.importance.rows[:_COLUMNS]
        measure = find(self.run.importance.measure).title
        return plots.forest(
            [(row.column, row.permutation) for row in rows],
            pair=f"{measure} lost when the column is shuffled",
            ax=ax,
        )

    def _figures(self) -> plots.NamedFigures:
        yield from self.run.evaluation.plot._figures()
        if any(fold.losses for fold in self.run.folds):
            yield "losses", self.losses
        if self.run.importance is not None and self.run.importance.rows:
            yield "importance", self.importance


# -- what is left in a folder, as far as it is data ------------------------------------------------

PREDICTIONS = "predictions.parquet"
EVALUATION = "evaluation.json"
REPORT = "report.html"
IMPORTANCE = "importance.csv"
ENCODING = "encoding.json"
FOLDS = "folds.csv"
CARD = "card.md"
RUN = "run.json"
FILES = (MODEL, PREDICTIONS, EVALUATION, REPORT, IMPORTANCE, ENCODING, FOLDS, CARD, RUN)
SCHEMA = "assay.run/1"

LABEL, FOLD, FAMILY, TIME = "label", "fold", "family", "time"


@dataclass(frozen=True)
class TrainingRequest:
    """What was asked for: the command, the columns by their role, and the inputs that were read.

    ``inputs`` are names, sizes and SHA-256 sums. ``base_rate`` and ``volume`` are those of
    deployment, as they were given.
    """

    command: str
    label: str
    inputs: tuple[tuple[str, int | None, str | None], ...] = ()
    id: str | None = None
    family: str | None = None
    time: str | None = None
    base_rate: tuple[float, ...] = ()
    volume: float | None = None


def predictions_of(run: Run, id_: str | None = None) -> pl.DataFrame:
    """What was said of each judged row, in the order of the file.

    The number of the row, or the column ``id_`` in its place; its label; the score, or a
    probability a class; the decision; the fold; and where there are such, the family and the time,
    and the columns that rows were divided by.
    """
    import polars as pl

    data, at = run.judged_data, run.judged
    labels = pl.Series(data.labels, dtype=pl.String)
    first = pl.Series(ROW, data.rows[at]) if id_ is None else data.columns[id_][at].rename(id_)
    columns = [first, labels[data.truth[at]].rename(LABEL)]
    if run.binary:
        columns.append(pl.Series(SCORE, run.scores))
    else:
        columns += [
            pl.Series(f"{PROBABILITY}{label}", run.scores[:, code].copy())
            for code, label in enumerate(data.labels)
        ]
    names = pl.Series([fold.name for fold in run.folds], dtype=pl.String)
    columns += [labels[run.said.decisions].rename(DECISION), names[run.fold_of].rename(FOLD)]
    if data.family is not None:
        kinds = pl.Series(data.family.names, dtype=pl.String)
        columns.append(kinds[data.family.codes[at]].rename(FAMILY))
    if data.time is not None:
        zone = "UTC" if data.time_zoned else None
        moments = pl.Series(TIME, data.time[at]).dt.replace_time_zone(zone)
        columns.append(moments)
    taken = {column.name for column in columns}
    columns += [
        column[at].rename(name) for name, column in data.columns.items() if name not in taken
    ]
    return pl.DataFrame(_different(columns))


def _different(columns: Sequence[pl.Series]) -> Sequence[pl.Series]:
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"two columns of {PREDICTIONS} would be called {name!r}: rename that column of the "
                f"data, or say --drop {name}"
            )
    return columns


def folds_of(run: Run) -> list[dict[str, Any]]:
    """A row a fold, as ``assay compare --folds`` reads it.

    Measures that have no value in some fold are left out, since folds can't be compared by them;
    so are those of one label against the rest, which say the same as those of the positive.
    """
    measures = {
        name: values
        for name, values in run.per_fold.items()
        if all(map(math.isfinite, values)) and parse(name)[1] in (None, *AVERAGES)
    }
    return [
        {
            "model": run.recipe.name,
            "repeat": fold.repeat,
            "fold": fold.name,
            "n_train": len(fold.train),
            "n_test": len(fold.test),
            **{name: values[i] for name, values in measures.items()},
        }
        for i, fold in enumerate(run.folds)
    ]


def importance_rows(run: Run) -> tuple[list[str], list[dict[str, Any]]]:
    """The head and the rows of the table of importance, numbers as numbers."""
    return ([], []) if run.importance is None else run.importance.table()


def encoding_text(run: Run) -> str:
    """Codes of labels and texts, means and standard deviations, as JSON that people can read."""
    encoding = encoding_of(run.model, run.data.labels)
    return escaped_json(json.dumps(encoding, ensure_ascii=False, allow_nan=False, indent=1)) + "\n"


def model_of(run: Run, request: TrainingRequest) -> bytes:
    """The model file; its header says how the model came about, and never when."""
    header = model_header(
        run.model,
        run.data.frame,
        labels=run.data.labels,
        positive=run.data.positive,
        threshold=run.threshold,
        recipe=run.recipe.name,
        settings=settings_of(run),
        seed=run.seed,
        validation=run.scheme,
        learned_from=run.learned_from,
        label=request.label,
        text=run.data.text,
    )
    return model_bytes(run.model, header=header)


def parquet(frame: pl.DataFrame) -> bytes:
    """A frame as the bytes of a Parquet file."""
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def run_record(
    run: Run, request: TrainingRequest, files: Iterable[tuple[str, str]], times: Mapping[str, Any]
) -> bytes:
    """How a run came about, as JSON; only ``times`` differs from one run to the next.

    ``files`` are the names and SHA-256 sums of what the run left.
    """
    record = {
        "schema": SCHEMA,
        "command": request.command,
        "times": dict(times),
        "versions": versions(),
        "inputs": [
            {"name": name, "bytes": size, "sha256": digest} for name, size, digest in request.inputs
        ],
        "files": dict(files),
        "recipe": run.recipe.name,
        "settings": settings_of(run),
        "seed": run.seed,
        "level": run.evaluation.level,
        "max_far": run.max_far,
        "base_rate": list(request.base_rate),
        "volume": request.volume,
        "columns": {
            "label": request.label,
            "id": request.id,
            "family": request.family,
            "time": request.time,
            "text": run.data.text,
            "dropped": list(run.data.dropped),
            "features": list(run.data.frame.columns),
        },
        "labels": list(run.data.labels),
        "positive": run.data.positive,
        "threshold": run.threshold,
        "learned_from": run.learned_from,
        "split": {
            "rule": run.scheme,
            "seed": run.seed,
            "folds": [
                {"name": fold.name, "repeat": fold.repeat, **counts_of(fold.counts)}
                for fold in run.folds
            ],
        },
        "rows": {
            "read": run.data.rows_read,
            "refused": run.data.rows_refused,
            "judged": len(run.judged),
            "not_judged": run.unjudged,
        },
        "findings": [finding.code for finding in (*run.evaluation.findings, *run.findings)],
    }
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
    return escaped_json(text).encode() + b"\n"


# -- checks of a run -------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunCheck(Code):
    """One coded check of a run: ``look`` gives the message where the finding applies, else None."""

    look: Callable[[Run], str | None]

    def __call__(self, run: Run) -> Finding | None:
        """The finding, where it applies."""
        message = self.look(run)
        return None if message is None else self.found(message)
