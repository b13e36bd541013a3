"""What several models said of the same rows, from one file or from several, matched by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LabelError
from assay.sources.coded import LabelDigest, Labels
from assay.sources.files.bad_rows import LISTED, where
from assay.sources.files.formats import TEXTS, by_name
from assay.sources.files.inputs import STDIN, is_named, shown
from assay.sources.files.model_columns import SHOWN, ModelFile, written_like
from assay.sources.files.read import read
from assay.sources.files.request import Progress, Refused, Request, Rows, silent

if TYPE_CHECKING:
    import polars as pl

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
class Matched:
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
) -> Matched:
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
    placed = [_placed(model, rows, inputs) for model in models]
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
    said = {model.name: by_file[model.file].said[model.column] for model in placed}
    decisions = {name: found for name, found in said.items() if isinstance(found, Labels)}
    tables = {name: found for name, found in said.items() if isinstance(found, Mapping)}
    scores = {n: f for n, f in said.items() if not isinstance(f, Labels | Mapping)}
    _must_be_of_one_kind(placed, scores, decisions, tables, truth)
    return Matched(
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


def _placed(model: Model, rows: Rows, inputs: Sequence[str]) -> Model:
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
        if column not in part.said:
            raise InputError(f"{part.name} has no column {column!r}")


def _must_be_matchable(
    models: Sequence[Model], files: Sequence[str], inputs: Sequence[str], id_column: str | None
) -> None:
    if not files:
        return
    if id_column is None:
        name = next(model.name for model in models if model.file is not None)
        raise NeedsId(
            f"model {name!r} is in {shown(files[0])}, and nothing tells which rows belong "
            f"together: say id=, the column that names a row in every file"
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
    odd = np.zeros(len(main.rows), bool)
    reasons: dict[int, Refused] = {}
    for other, at in zip(others, positions, strict=True):
        odd |= at < 0
        for row in main.rows[at < 0][:LISTED].tolist():
            reasons.setdefault(row, Refused(row, f"its id is not in {other.name}", main.name))
    kept = np.flatnonzero(~odd)
    parts = [other.take(at[kept]) for other, at in zip(others, positions, strict=True)]
    if odd.any():
        main = main.without(odd, [reasons[row] for row in sorted(reasons)])
    return main, parts, notes


def _positions(main: ModelFile, other: ModelFile) -> Array:
    """For each row of the main part where its id stands in another, -1 where it does not."""
    import polars as pl

    there = pl.DataFrame({"id": other.ids, "at": np.arange(len(other.rows), dtype=np.int64)})
    found = pl.DataFrame({"id": main.ids}).join(there, on="id", how="left", maintain_order="left")
    return np.asarray(found["at"].fill_null(-1).to_numpy())


def _unmatched(main: ModelFile, other: ModelFile, at: Array) -> str:
    """How many ids have no match, on both sides, and the first of them."""
    matched = np.zeros(len(other.rows), bool)
    matched[at[at >= 0]] = True
    sides = ((main, at < 0, other), (other, ~matched, main))
    found = [
        f"{int(odd.sum()):,} of {len(odd):,} ids of {part.name} are not in {there.name}, such as "
        f"{_first(part.ids, np.flatnonzero(odd))}"
        for part, odd, there in sides
        if odd.any()
    ]
    return "; ".join(found)


def _first(ids: pl.Series | None, at: Array) -> str:
    assert ids is not None  # noqa: S101 - parts are matched only where both have ids
    return ", ".join(map(repr, ids.gather(at[:SHOWN]).to_list()))


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
    here, there = truth.names[truth.codes[first]], labels.names[labels.codes[at[first]]]
    raise LabelError(
        f"the label of {len(differ):,} ids differs between {main.name} and {other.name}: id "
        f"{_first(main.ids, differ[:1])} is {here!r} in {main.name} and "
        f"{there!r} in {other.name}. They must be the same rows"
    )


def _left_out(part: ModelFile) -> str:
    first = part.refused[0]
    return (
        f"{part.rows_refused:,} of {part.rows_read:,} rows of {part.name} were refused; the first "
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
