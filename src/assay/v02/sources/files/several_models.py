"""What several models said of the same rows, from one file or from several, matched by id.

Scores of models in one input come lot by lot too, so that many rows need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, LabelError
from assay.v02.escaping import plural
from assay.v02.sources.coded import Coded, LabelDigest, Labels, NameColumn
from assay.v02.sources.files.collector import SHOWN, Collector, ModelFile, written_like
from assay.v02.sources.files.formats import TEXTS, by_name
from assay.v02.sources.files.inputs import STDIN, is_named, shown, without_query
from assay.v02.sources.files.read import Reading, read
from assay.v02.sources.files.request import (
    Progress,
    Refused,
    Request,
    Rows,
    must_be_a_number,
    silent,
    where,
)
from assay.v02.sources.validation import FAMILY, LISTED, skips

Array: TypeAlias = npt.NDArray[Any]


class NeedsId(InputError):
    """Models are in several files, and nothing says which rows belong together."""


@dataclass(frozen=True)
class Model:
    """A model by name, and the column of what it said; without a file, in the main one.

    A column with a star in place of the label, as ``p_*``, names one probability a class. A column
    written ``FILE:COL`` is in that file, unless the main one has a column of that very name.
    """

    name: str
    column: str
    file: str | None = None


@dataclass(frozen=True, eq=False)
class MatchedRows:
    """The rows that all models judged.

    ``columns`` are the label and what else was asked for, as :func:`assay.evaluate` names them;
    the models are in ``scores``, in ``decisions`` or, as columns by label, in ``probabilities``.
    ``rows`` are the numbers of the rows, counted
    from 1 over all inputs. ``rows_read`` and ``rows_refused`` are those of the main file; ``files``
    are the others.
    """

    name: str
    columns: Mapping[str, Any]
    scores: Mapping[str, Array]
    decisions: Mapping[str, Labels]
    ids: Array | None
    rows: Array
    rows_read: int
    rows_refused: int = 0
    refused: tuple[Refused, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    family: str | None = None
    files: tuple[str, ...] = ()
    probabilities: Mapping[str, Mapping[Any, Array]] = field(default_factory=dict)

    @property
    def labels_sha256(self) -> str:
        """The digest of the labels in their order."""
        digest = LabelDigest()
        digest.add(self.columns["y_true"])
        return digest.hexdigest()


def read_models(
    inputs: Sequence[str],
    request: Request,
    models: Sequence[Model],
    *,
    id_column: str | None = None,
    labels: Sequence[str] = (),
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
    rows: Rows | None = None,
) -> MatchedRows:
    """Read what models said of the same rows; those in other files are matched by id.

    A column whose values are all labels holds decisions, else it must hold numbers: scores.
    ``labels`` are labels that may be absent, ``rows`` those of the main input where they were read
    already. Ids without a match are refused, or left out and
    counted with ``on_bad_row="skip"``.
    """
    _must_have_names(models)
    skip = request.on_bad_row == "skip"
    # What one model said is asked for by its own name only.
    request = replace(
        request, score=None, decision=None, probabilities={}, probability_pattern=None
    )
    here = tuple(model.column for model in models if _is_here(model, inputs))
    if rows is None:
        rows = read(inputs, replace(request, models=here, id=id_column), progress, stdin)
    placed = [_placed_model(model, rows, inputs) for model in models]
    files = tuple(dict.fromkeys(model.file for model in placed if model.file is not None))
    _must_be_matchable(placed, files, inputs, id_column)
    truth = rows.columns["y_true"]
    main = ModelFile.of(rows, truth, labels, skip=skip)
    parts: list[ModelFile] = []
    for file in files:
        columns = tuple(dict.fromkeys(m.column for m in placed if m.file == file))
        asked = _request(request, file, rows.chosen["label"], columns, id_column)
        part = ModelFile.of(read([file], asked, progress, stdin), truth, labels, skip=skip)
        _must_have(part, columns)
        parts.append(part)
    notes = [_left_out(part) for part in parts if part.rows_refused]
    main, parts, more = _aligned(main, parts, skip=skip)
    by_file: dict[str | None, ModelFile] = {None: main}
    by_file |= zip(files, parts, strict=True)
    outputs = {model.name: by_file[model.file].outputs[model.column] for model in placed}
    decisions = {name: v for name, v in outputs.items() if isinstance(v, Labels)}
    tables = {name: v for name, v in outputs.items() if isinstance(v, Mapping)}
    scores = {name: v for name, v in outputs.items() if not isinstance(v, Labels | Mapping)}
    _must_be_of_one_kind(placed, scores, decisions, tables, truth)
    return MatchedRows(
        name=rows.name,
        columns=main.columns,
        scores=scores,
        decisions=decisions,
        ids=None if main.ids is None else main.ids.to_numpy(),
        rows=main.rows,
        rows_read=main.rows_read,
        rows_refused=main.rows_refused,
        refused=main.refused,
        chosen=rows.chosen,
        notes=(*rows.notes, *notes, *more),
        family=rows.family,
        files=files,
        probabilities=tables,
    )


def _must_have_names(models: Sequence[Model]) -> None:
    names = [model.name for model in models]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two models are called {twice!r}; give each a name of its own")


def _is_here(model: Model, inputs: Sequence[str]) -> bool:
    return model.file is None or [model.file] == list(inputs)


def _placed_model(model: Model, rows: Rows, inputs: Sequence[str]) -> Model:
    """The model with the file that its column is in, None for the main one."""
    if model.column in rows.columns.get("models", ()) and _is_here(model, inputs):
        return replace(model, file=None)
    if model.file is not None:
        return model
    file, _, column = model.column.rpartition(":")
    if is_named(rows.name, file):
        return Model(model.name, column)
    return Model(model.name, column, file)


def _must_have(part: ModelFile, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in part.outputs:
            raise InputError(f"{part.name} has no column {column!r}")


def _must_be_matchable(
    models: Sequence[Model], files: Sequence[str], inputs: Sequence[str], id_column: str | None
) -> None:
    if not files:
        return
    if id_column is None:
        name = next(model.name for model in models if model.file is not None)
        raise NeedsId(
            f"model {name!r} is in {shown(without_query(files[0]))}, and nothing tells which rows "
            f"belong together: say id=, the column that names a row in every file"
        )
    if STDIN in files and STDIN in inputs:
        raise InputError("standard input can be read only once")


def _request(
    request: Request, file: str, label: str, columns: tuple[str, ...], id_column: str | None
) -> Request:
    """What is asked of another file: the models, the ids, and the label where it has one."""
    text = by_name(file) in (None, *TEXTS)
    return Request(
        label=label,
        label_if_there=True,
        models=columns,
        id=id_column,
        input_format=request.input_format if by_name(file) is None else None,
        encoding=request.encoding if text else None,
        delimiter=request.delimiter if text else None,
        decimal=request.decimal if text else ".",
        header=request.header or not text,
        quote=request.quote if text else '"',
        skip_lines=request.skip_lines if text else 0,
        sheet=None if text else request.sheet,
        on_bad_row=request.on_bad_row,
        glob=request.glob,
        max_memory=request.max_memory,
        batch_rows=request.batch_rows,
        chunk_bytes=request.chunk_bytes,
    )


def _aligned(
    main: ModelFile, others: Sequence[ModelFile], *, skip: bool
) -> tuple[ModelFile, list[ModelFile], list[str]]:
    """All parts with the rows of the main one that every part has, in its order."""
    positions = [_positions(main, other) for other in others]
    notes: list[str] = []
    for other, at in zip(others, positions, strict=True):
        _must_agree(main, other, at)
        text = _unmatched(main, other, at)
        if text and not skip:
            raise InputError(
                f"{text}. Give files of the same rows, or leave rows without a match out with "
                f"on_bad_row='skip'"
            )
        notes += [f"{text}; they were left out"] if text else []
    unmatched = np.zeros(len(main.rows), bool)
    reasons: dict[int, Refused] = {}
    for other, at in zip(others, positions, strict=True):
        unmatched |= at < 0
        for row in main.rows[at < 0][:LISTED].tolist():
            reasons.setdefault(row, Refused(row, f"its id is not in {other.name}", main.name))
    kept = np.flatnonzero(~unmatched)
    parts = [other.take(at[kept]) for other, at in zip(others, positions, strict=True)]
    if unmatched.any():
        main = main.without(unmatched, [reasons[row] for row in sorted(reasons)])
    return main, parts, notes


def _positions(main: ModelFile, other: ModelFile) -> Array:
    """For each row of the main part where its id stands in another, -1 where it does not."""
    import polars as pl

    places = pl.DataFrame({"id": other.ids, "at": np.arange(len(other.rows), dtype=np.int64)})
    joined = pl.DataFrame({"id": main.ids}).join(places, on="id", how="left", maintain_order="left")
    return np.asarray(joined["at"].fill_null(-1).to_numpy())


def _unmatched(main: ModelFile, other: ModelFile, at: Array) -> str:
    """How many ids have no match, on both sides, and the first of them."""
    matched = np.zeros(len(other.rows), bool)
    matched[at[at >= 0]] = True
    sides = ((main, at < 0, other), (other, ~matched, main))
    sentences = [
        f"{int(missing.sum()):,} of {len(missing):,} ids of {part.name} are not in {there.name}, "
        f"such as {_first_ids(part, np.flatnonzero(missing))}"
        for part, missing, there in sides
        if missing.any()
    ]
    return "; ".join(sentences)


def _first_ids(part: ModelFile, at: Array) -> str:
    """The ids of the first of some rows, or their numbers where they have none."""
    rows = at[:SHOWN]
    names = part.rows[rows].tolist() if part.ids is None else part.ids.gather(rows).to_list()
    return ", ".join(map(repr, names))


def _must_agree(main: ModelFile, other: ModelFile, at: Array) -> None:
    """Refuse a row that has one label here and another there."""
    if "y_true" not in other.columns:
        return
    truth = main.columns["y_true"]
    labels = written_like(other.columns["y_true"], truth)
    position = {name: i for i, name in enumerate(truth.names)}
    table = np.array([position.get(name, -1) for name in labels.names], np.int64)
    both = np.flatnonzero(at >= 0)
    differ = both[table[labels.codes[at[both]]] != truth.codes[both]]
    if not len(differ):
        return
    first = int(differ[0])
    first_label, other_label = (
        truth.names[truth.codes[first]],
        labels.names[labels.codes[at[first]]],
    )
    raise LabelError(
        f"the label of {len(differ):,} ids differs between {main.name} and {other.name}: id "
        f"{_first_ids(main, differ[:1])} is {first_label!r} in {main.name} and "
        f"{other_label!r} in {other.name}. They must be the same rows"
    )


def _left_out(part: ModelFile) -> str:
    first = part.refused[0]
    return (
        f"{part.rows_refused:,} of {part.rows_read:,} rows of {part.name} "
        f"{plural(part.rows_refused, 'was', 'were')} refused; the first "
        f"is {where(first)}: {first.reason}"
    )


def _must_be_of_one_kind(
    models: Sequence[Model],
    scores: Mapping[str, Array],
    decisions: Mapping[str, Labels],
    tables: Mapping[str, Mapping[Any, Array]],
    truth: Labels,
) -> None:
    columns = {model.name: model.column for model in models}
    if tables and (scores or decisions):
        one, other = next(iter(tables)), next(iter({**scores, **decisions}))
        raise InputError(
            f"model {one!r} holds a probability a class (columns {columns[one]!r}) and model "
            f"{other!r} one column ({columns[other]!r}). Name the probabilities of every model, or "
            f"one column of each"
        )
    if not scores or not decisions:
        return
    one, other = next(iter(decisions)), next(iter(scores))
    raise InputError(
        f"model {one!r} holds decisions (all values of column {columns[one]!r} are labels, as "
        f"{', '.join(map(repr, truth.names[:2]))}) and model {other!r} holds scores (column "
        f"{columns[other]!r}). Compare scores with scores, or decisions with decisions"
    )


# -- lot by lot ------------------------------------------------------------------------------------

# So many rows are counted at once.
LOT = 1 << 22


@dataclass(frozen=True, eq=False)
class ModelLot:
    """Some rows: their labels, the score that each model gave, and what else is counted.

    ``empty`` is how many rows of count zero were left out before.
    """

    truth: Labels
    scores: Mapping[str, Array]
    counts: npt.NDArray[np.int64] | None = None
    families: NameColumn | None = None
    empty: int = 0

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.truth.codes)

    def rows_of(self, model: str) -> Coded:
        """What one model said, for who counts it alone."""
        slices = {} if self.families is None else {FAMILY: self.families}
        return Coded(
            truth=self.truth.used(),
            score=self.scores[model],
            counts=self.counts,
            slices=slices,
            rows=self.size + self.empty,
            empty=self.empty,
        )

    def without_empty(self) -> ModelLot:
        """The lot without rows of count zero, which are told to be missing."""
        if self.counts is None or self.counts.all():
            return self
        kept = self.where(self.counts > 0)
        return replace(kept, empty=self.empty + self.size - kept.size)

    def where(self, kept: npt.NDArray[np.bool_]) -> ModelLot:
        """Some of the rows."""
        families = self.families
        return ModelLot(
            Labels(self.truth.codes[kept], self.truth.names, self.truth.kind),
            {name: column[kept] for name, column in self.scores.items()},
            None if self.counts is None else self.counts[kept],
            None if families is None else replace(families, codes=families.codes[kept]),
            self.empty,
        )


class ModelReading:
    """What several models said of the rows of one input.

    Rows are kept until there are too many of them; then :meth:`lots` goes through all of them, once
    or, unless it is standard input, as often as needed.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        request: Request,
        models: Sequence[Model],
        progress: Progress = silent,
        stdin: BinaryIO | None = None,
    ) -> None:
        self._columns = {model.name: model.column for model in models}
        asked = replace(request, models=tuple(self._columns.values()))
        self._reading = Reading(inputs, asked, progress, stdin)
        self._skips = skips(request.on_bad_row)
        self._pieces: Iterator[Collector] | None = None
        self._kept: Collector | None = None
        self.rows_used = 0
        self.rows_refused = 0

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self._columns)

    def few(self, most: int) -> Rows | None:
        """All rows, if there are at most so many, or if it can't be told that these are scores.

        None where there are more: then they come in lots.
        """
        self._pieces = self._reading.pieces()
        for collector in self._pieces:
            if collector.labelled.rows > most and self._are_scores(collector):
                self._kept = collector
                return None
        return self._reading.rows(*collector.take())

    def _are_scores(self, collector: Collector) -> bool:
        model_columns = self._reading.roles.models or ()
        columns = self._columns.values()
        return all(
            column in model_columns and collector.labelled.only_numbers(column)
            for column in columns
        )

    def lots(self) -> Iterator[ModelLot]:
        """All rows; one whose score is not finite stops it all, or is left out and counted."""
        self.rows_used = self.rows_refused = 0
        collector, self._kept = self._kept, None
        if self._pieces is None:
            self._pieces = self._reading.pieces()
        elif collector is not None and collector.labelled.rows >= LOT:
            yield self._taken(collector)
        for collector in self._pieces:
            if collector.labelled.rows >= LOT:
                yield self._taken(collector)
        if collector is not None and collector.labelled.rows:
            yield self._taken(collector)
        self._pieces = None
        if not self.rows_used:
            reason = next(iter(self._doubtful())).reason
            raise EmptyInput(f"{self.source.name}: no row is left. The first reason: {reason}")

    def _taken(self, collector: Collector) -> ModelLot:
        columns, _ = collector.take()
        family = self._reading.roles.family
        lot = ModelLot(
            columns["y_true"],
            {name: columns["models"][column].numbers for name, column in self._columns.items()},
            columns.get("counts"),
            None if family is None else columns["slices"][family],
        )
        finite = np.ones(lot.size, bool)
        for column in lot.scores.values():
            finite &= np.isfinite(column)
        refused = lot.size - int(finite.sum())
        if refused and not self._skips:
            raise must_be_a_number(self._doubtful()[0])
        self.rows_used += lot.size - refused
        self.rows_refused += refused
        return lot.where(finite) if refused else lot

    def _doubtful(self) -> list[Refused]:
        listed = self._reading.rows({}).doubtful.values()
        return sorted((at for each in listed for at in each), key=lambda at: at.row)

    @property
    def source(self) -> Rows:
        """How the rows came about, once they were read."""
        rows = self._reading.rows({})
        return replace(
            rows,
            rows_refused=rows.rows_refused + self.rows_refused,
            refused=(*rows.refused, *self._doubtful())[:LISTED],
        )
