"""``--record``: the options of every command that judges, by which its result goes into a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli.messages import OutputError, as_options
from assay.v02.cli.options import Decorator, Function, Option
from assay.errors import InputError, StoreError

if TYPE_CHECKING:
    from assay.v02.learn.run import Run
    from assay.v02.report import Document, Report
    from assay.v02.sources.files import MatchedRows, Request
    from assay.v02.store import KeptRows, KeptRun, Store


_option = partial(click.option, cls=Option, section="History")
_NAME = _option(
    "--record",
    metavar="NAME",
    help="Keep the result under this name; assay runs shows what was kept.",
)
STORE = _option(
    "--store",
    metavar="PATH|URL",
    help="Where runs are kept, as runs.db or postgresql://HOST/DATABASE.  "
    "[default: ASSAY_STORE, else assay.db]",
)
_TAGS = _option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated.")
ID = _option(
    "--id",
    "id_column",
    metavar="COL",
    help="What names a row, for --keep-rows; else rows are told by their order.",
)
_KEEP_ROWS = _option(
    "--keep-rows",
    is_flag=True,
    help="Keep ids, scores and labels too, so that later comparisons are paired.",
)


@dataclass(frozen=True)
class Recording:
    """Under which name a result is kept, where, and with what; without a name it is not."""

    name: str | None = None
    store: str | None = None
    tags: tuple[str, ...] = ()
    keep_rows: bool = False

    def check(self) -> None:
        """Refuse now what could not be kept after a long wait; nothing is made yet."""
        given = {"--store": self.store, "--tag": self.tags, "--keep-rows": self.keep_rows}
        if self.name is None:
            for option, value in given.items():
                if value:
                    raise click.UsageError(f"{option} is of a run that is kept: say --record NAME")
            return
        from assay.v02.store import default_place
        from assay.v02.store.databases import check_place
        from assay.v02.store.records import checked_name, checked_tags

        try:
            checked_name(self.name)
            checked_tags(self.tags)
        except StoreError as error:
            raise click.UsageError(str(error)) from error
        try:
            check_place(self.store or default_place())
        except StoreError as error:
            raise OutputError(as_options(str(error))) from error

    def keep(
        self, document: Document | Report, tally: Any, rows: Callable[[], KeptRows | None] | None
    ) -> KeptRun | None:
        """Keep a result, where there is a name for it; ``rows`` gives its rows, where asked for."""
        if self.name is None:
            return None
        from assay.v02.report import draw
        from assay.v02.store import Store

        kept = rows() if self.keep_rows and rows is not None else None
        try:
            with Store(self.store) as store:
                return store.record(
                    draw(document, "json"),
                    name=self.name,
                    tags=self.tags,
                    tally=tally,
                    rows=kept,
                )
        except StoreError as error:
            raise OutputError(f"the run was not kept: {as_options(str(error))}") from error


@contextmanager
def opened_store(place: str | None, *, read_only: bool) -> Iterator[Store]:
    """The store of a command; what can't be written is an error of the output."""
    from assay.v02.store import Store

    if read_only:
        with Store(place, read_only=True) as store:
            yield store
        return
    try:
        store = Store(place)
    except StoreError as error:
        raise OutputError(as_options(str(error))) from error
    with store:
        yield store


def recording(*, rows: bool = False) -> Decorator:
    """Give a command the options of what is kept; with ``rows`` where rows can be.

    It stands above ``reporting``, whose object carries what was asked for.
    """

    def decorated(command: Function) -> Function:
        @wraps(command)
        def with_recording(
            *,
            record: str | None,
            store: str | None,
            tags: tuple[str, ...],
            keep_rows: bool = False,
            **others: Any,
        ) -> Any:
            asked = Recording(record, store, tags, keep_rows)
            return command(recording=asked, **others)

        with_options: Function = with_recording
        for option in (*((_KEEP_ROWS,) if rows else ()), _TAGS, STORE, _NAME):
            with_options = option(with_options)
        return with_options

    return decorated


def kept_rows(
    files: Sequence[str],
    request: Request,
    id_column: str | None,
    positive: str | None,
    judged: Mapping[str, Any],
) -> KeptRows:
    """The rows of files as they were judged: read once more, and kept.

    ``judged`` is the source of the judgement, which the same rows have to give.
    """
    import numpy as np

    from assay.v02.sources.coded import Labels
    from assay.v02.sources.columns import label_text
    from assay.v02.sources.files.read import read
    from assay.v02.store import KeptRows

    # All that was asked for is read, since a row that lacks any of it was not judged.
    rows = read(files, replace(request, id=id_column))
    before = judged.get("labels_sha256")
    if before is not None and rows.labels_sha256 != before:
        kept, used = (
            rows.rows_read - rows.rows_refused,
            judged["rows_read"] - judged["rows_refused"],
        )
        raise InputError(
            f"the {kept:,} rows to keep are not the {used:,} that were judged: the input changed "
            f"in between, or rows lack what id= names. Judge again, or without keep_rows="
        )
    columns = rows.columns
    scores, decisions = {}, {}
    tables = columns.get("y_proba", {})
    if "y_score" in columns:
        scores["score"] = columns["y_score"]
    if "y_pred" in columns:
        decisions["decision"] = columns["y_pred"]
    named = {label_text(label): column for label, column in tables.items()}
    if positive in named:
        scores["score"] = named[positive]
    elif named:
        labels = sorted(named)
        largest = np.argmax(np.column_stack([named[label] for label in labels]), axis=1)
        decisions["decision"] = Labels(largest, tuple(labels), columns["y_true"].kind)
    ids = columns.get("ids")
    return KeptRows.of(
        columns["y_true"],
        scores=scores,
        decisions=decisions,
        ids=None if ids is None else ids.to_list(),
        positive=positive,
    )


def rows_of_models(matched: MatchedRows, positive: str | None) -> KeptRows:
    """The rows that several models judged, as they were matched."""
    from assay.v02.store import KeptRows

    return KeptRows.of(
        matched.columns["y_true"],
        scores=matched.scores,
        decisions=matched.decisions,
        ids=None if matched.ids is None else matched.ids.tolist(),
        positive=positive,
    )


def rows_of_training(run: Run, id_column: str | None) -> KeptRows:
    """The rows that a trained model was judged on."""
    from assay.v02.learn.predicting import DECISION, ROW, SCORE
    from assay.v02.learn.run import LABEL, predictions_of
    from assay.v02.store import KeptRows

    predictions = predictions_of(run, id_column)
    return KeptRows.of(
        predictions[LABEL].to_list(),
        scores={"score": predictions[SCORE].to_numpy()} if run.binary else None,
        decisions=None if run.binary else {"decision": predictions[DECISION].to_list()},
        ids=predictions[id_column or ROW].to_list(),
        positive=run.data.positive,
    )


def must_keep_rows(
    recording: Recording, files: Sequence[str], request: Request, id_column: str | None = None
) -> None:
    """Refuse rows that can't be kept: read but once, or standing for many."""
    if not recording.keep_rows:
        if id_column is not None:
            raise click.UsageError("--id names rows that are kept: say --keep-rows")
        return
    if not files:
        raise click.UsageError("--keep-rows needs rows; counts have none")
    if "-" in files:
        raise click.UsageError(
            "--keep-rows reads the rows once more, which standard input can't be: name a file"
        )
    if request.count is not None or request.weight is not None:
        raise click.UsageError(
            "--keep-rows keeps rows that stand for themselves; leave out --count and --weight"
        )
