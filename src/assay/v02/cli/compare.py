"""``assay compare``: is one model really better than another?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli.messages import Progress, as_options
from assay.v02.cli.options import (
    FLIPS,
    LABELS,
    NEGATIVE,
    PAIR_MODE,
    POSITIVE,
    Command,
    column_option,
    judging,
    model,
    must_name_one_side,
    named_number,
    positive_number,
    rule,
)
from assay.v02.cli.reading import (
    FILES_OR_NONE,
    TEXT_OPTIONS,
    naming_inputs,
    reading_only,
    within_memory,
)
from assay.v02.cli.recording import must_keep_rows, recording, rows_of_models
from assay.v02.cli.reporting import (
    FIGURES,
    ProvenanceBuilder,
    Reporting,
    check_figures,
    draw_figures,
    must_not_replace,
    reporting,
)
from assay.errors import AssayError
from assay.v02.escaping import plural

if TYPE_CHECKING:
    from assay.v02.decisions import Comparison
    from assay.v02.decisions.compare.comparing import FileComparison
    from assay.v02.sources.files import Request
    from assay.v02.sources.files.request import RowSource

MARGIN = 0.01
_TWO = "assay compare predictions.csv --model old=old_score --model new=score"
EXAMPLES = (
    ("two scores of the same rows", _TWO),
    (
        "each at 5% false alarms; what changed, by family, and which rows",
        f"{_TWO} --at max-far=0.05 --family family --flips flips.csv",
    ),
    ("rows that come in hosts, as a page", f"{_TWO} --cluster host --out comparison.html"),
    (
        "a model in a file of its own, matched by id",
        "assay compare new.csv --model new=score --model old=old.parquet:score --id flow",
    ),
    (
        "probabilities of several classes, in columns such as p_forest_dos",
        "assay compare classes.csv --model forest='p_forest_*' --model bayes='p_bayes_*'",
    ),
    ("a hundred million rows in little memory", f"{_TWO} --mode grid"),
    ("results of cross-validation", "assay compare --folds folds.csv"),
    (
        "several data sets, for a paper: what is practically the same, a table to \\input",
        "assay compare --folds iris.csv wine.csv --rope 0.01 --fragment --out table.tex",
    ),
)

# Options that say nothing of folds, and those of folds alone.
OF_ROWS = (
    *("id_column", "family", "count", "cluster", "labels"),
    *("at", "interval", "resamples", "mode", "flips"),
)
OF_FOLDS = ("rope",)

# Columns that name rows, in most files.
_IDS = ("id", "row_id", "uid", "uuid", "flow_id", "event_id", "index")


@click.command(
    cls=Command,
    name="compare",
    examples=EXAMPLES,
    short_help="Is one model really better than another?",
)
@FILES_OR_NONE
@column_option(
    "--model",
    "models",
    type=model,
    multiple=True,
    metavar="NAME=COL",
    help="What a model said: scores, decisions, or with a star for the label, as p_*, the "
    "probability of each class; NAME=FILE:COL in another file. Twice or more.",
)
@column_option(
    "--id", "id_column", metavar="COL", help="Names the rows: matches files, names flips."
)
@reading_only(
    *("label", "family", "count", "cluster"),
    *TEXT_OPTIONS,
    *("glob", "on_bad_row", "max_memory"),
)
@POSITIVE
@NEGATIVE
@LABELS
@judging(
    "--threshold",
    "thresholds",
    type=named_number,
    multiple=True,
    metavar="T|NAME=T",
    help="Rows are flagged from this score on.  [default: 0.5 for scores in [0, 1]]",
)
@judging(
    "--at",
    type=rule,
    metavar="RULE",
    help="Where to compare: threshold=T, or max-far=X or max-fpr=X, chosen anew in each resample.",
)
@judging(
    "--margin",
    type=positive_number,
    default=str(MARGIN),
    show_default=True,
    metavar="X",
    help="Differences smaller than this don't matter.",
)
@judging(
    "--interval",
    type=click.Choice(("bootstrap",)),
    help="Resample measures of scores too.  [default: by measure]",
)
@judging(
    "--resamples",
    type=click.IntRange(min=2),
    metavar="N",
    help="How often the bootstrap draws.  [default: 1000, more for many models]",
)
@PAIR_MODE
@judging(
    "--folds",
    multiple=True,
    metavar="FILE",
    help="Compare folds instead: columns model, repeat, fold, n_train, n_test, and measures; or "
    "predictions: model, fold, id, label, score or predicted. A column dataset, or several files, "
    "compares over data sets.",
)
@judging(
    "--rope",
    type=positive_number,
    metavar="X",
    help="Over data sets: how likely models differ by no more than this (Bayesian signed-rank).",
)
@FLIPS
@FIGURES
@recording(rows=True)
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    models: tuple[tuple[str, str], ...],
    id_column: str | None,
    request: Request,
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    thresholds: tuple[tuple[str | None, float], ...],
    at: Any,
    margin: float,
    interval: str | None,
    resamples: int | None,
    mode: str,
    folds: tuple[str, ...],
    rope: float | None,
    flips: Path | None,
    figures: Path | None,
    reporting: Reporting,
) -> None:
    """Tell whether one model is really better than another on the same rows.

    Each --model names a model and the column of what it said: scores, or decisions, or with a
    star for the label the probability of each class, of which the largest decides. Every
    difference comes with its paired interval, and each pair with a verdict.
    """
    must_name_one_side(positive, negative)
    _must_make_sense(files, models, folds, at, thresholds)
    reporting.check()
    if folds and reporting.recording.keep_rows:
        raise click.UsageError("--keep-rows says nothing of --folds; leave it out")
    must_keep_rows(reporting.recording, () if folds else files, request)
    # A shell that expands --folds *.csv gives the first to the option and the others after it.
    inputs = [*folds, *files]
    check_figures(figures)
    other_files = [column.rpartition(":")[0] for _, column in models if ":" in column]
    naming = naming_inputs(inputs, other_files)
    making = ProvenanceBuilder(context, inputs, request, reporting, maybe=other_files)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), naming:
        compared = None
        if folds:
            _must_not_be_given(context, OF_ROWS, "of --folds")
            must_not_replace(reporting.out, inputs, request)
            comparison = _of_folds(
                inputs,
                request,
                progress,
                level=reporting.level,
                margin=margin,
                rope=rope,
                seed=reporting.seed,
                positive=positive,
                negative=negative,
                threshold=_one_threshold(thresholds),
            )
        else:
            _must_not_be_given(context, OF_FOLDS, "without --folds")
            from assay.v02.cli.outputs import check_flips

            check_flips(flips)
            _say_many_resamples(resamples, models, reporting)
            for path in (reporting.out, flips):
                must_not_replace(path, inputs, request)
            compared = _compared(
                files,
                models,
                request,
                id_column=id_column,
                keep_rows=flips is not None or reporting.recording.keep_rows,
                reading=progress,
                positive=positive,
                negative=negative,
                labels=labels,
                threshold=_thresholds(thresholds),
                at=at,
                mode=mode,
                level=reporting.level,
                interval=interval,
                resamples=resamples,
                seed=reporting.seed,
                margin=margin,
                progress=progress.stage("resampling"),
            )
            comparison = compared.comparison
            inputs += compared.files
            for path in (reporting.out, flips):
                must_not_replace(path, compared.files, request)
        comparison = replace(comparison, notes=tuple(map(as_options, comparison.notes)))
        if compared is not None:
            comparison = replace(comparison, source=_source(compared))
        others = [] if compared is None else compared.files
        document = making.document(comparison, others)
    reporting.say_beside(_rows_note(compared), comparison.notes, comparison.findings, request)
    if flips is not None and compared is not None and compared.matched is not None:
        from assay.v02.cli.outputs import write_flips

        written = write_flips(flips, comparison, compared.matched.rows)
        reporting.say(f"wrote {written:,} {plural(written, 'row', 'rows')} that flipped to {flips}")
    draw_figures(comparison.plot, figures, reporting)
    matched = None if compared is None else compared.matched
    if comparison.decided is not None:
        positive = comparison.decided.rows.labelling.positive
    reporting.deliver(
        document, rows=lambda: None if matched is None else rows_of_models(matched, positive)
    )


def _must_make_sense(
    files: Sequence[str],
    models: Sequence[tuple[str, str]],
    folds: Sequence[str],
    at: Any,
    thresholds: Sequence[tuple[str | None, float]],
) -> None:
    if folds:
        if models:
            raise click.UsageError("give FILE and --model, or --folds, not both")
        return
    if not files:
        raise click.UsageError("name a FILE, or --folds")
    if len(models) < 2:
        raise click.UsageError(
            f"name two models or more, each with --model NAME=COL or --model NAME=FILE:COL"
            f"{_suggested(files)}"
        )
    names = [name for name, _ in models]
    if len(set(names)) < len(names):
        raise click.UsageError("--model gives two models the same name")
    if at is not None and thresholds:
        raise click.UsageError("give --at or --threshold, not both")
    for name, _ in thresholds:
        if name is not None and name not in names:
            raise click.UsageError(f"--threshold names {name!r}, which no --model does")
    given = [name for name, _ in thresholds]
    if len(set(given)) < len(given) or (None in given and len(given) > 1):
        raise click.UsageError("--threshold is one number, or one for each model")


def _suggested(files: Sequence[str]) -> str:
    """The command that may be meant, with the names of files and columns filled in."""
    from assay.v02.sources.files.read import preview

    try:
        seen = [preview(file) for file in files if file != "-"]
    except AssayError:
        return ""
    if len(seen) != len(files):
        return ""
    headers = [
        [column for column in each.numeric if column != each.roles.get("label")] for each in seen
    ]
    ids = [column for column in seen[0].columns if column.casefold() in _IDS]
    if len(files) == 1:
        columns = [column for column in headers[0] if column not in ids]
        named = [f"{column}={column}" for column in columns[:2]]
    else:
        columns = [each.roles.get("score", "COL") for each in seen]
        files_of = ["", *(f"{file}:" for file in files[1:])]
        stems = [PurePath(file).stem for file in files]
        named = [f"{s}={f}{c}" for s, f, c in zip(stems, files_of, columns, strict=True)]
    if len(named) < 2 or len(set(named)) < len(named):
        return ""
    shared = next((c for c in ids if all(c in each.columns for each in seen)), None)
    words = ["assay", "compare", files[0], *(word for name in named for word in ("--model", name))]
    words += ["--id", shared or "ID"] if len(files) > 1 else []
    why = "" if shared or len(files) == 1 else ", where ID is the column that names a row"
    return f". Perhaps: {shlex.join(words)}{why}"


def _must_not_be_given(context: click.Context, names: Sequence[str], where: str) -> None:
    """Refuse options that say nothing here."""
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if param.name in names and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{param.opts[0]} says nothing {where}; leave it out")


def _of_folds(
    files: Sequence[str], request: Request, progress: Progress, **options: Any
) -> Comparison:
    from assay.v02.decisions import compare_folds
    from assay.v02.sources.files.summary_tables import read_folds

    rows = read_folds(files, request, progress)
    if not rows.predictions:
        for name in ("positive", "negative", "threshold"):
            if options[name] is not None:
                raise click.UsageError(
                    f"--{name} is of predictions; {files[0]} has folds with their measures"
                )
    return compare_folds(rows, **options)


def _one_threshold(given: Sequence[tuple[str | None, float]]) -> float | None:
    if any(name is not None for name, _ in given) or len(given) > 1:
        raise click.UsageError("--threshold of --folds is one number for all models")
    return given[0][1] if given else None


def _say_many_resamples(
    asked: int | None, models: Sequence[tuple[str, str]], reporting: Reporting
) -> None:
    """Say beforehand where resampling takes longer than usual without having been asked to."""
    from assay.v02.decisions.compare.verdicts import RESAMPLES, resamples_drawn

    drawn = resamples_drawn(asked, len(models), reporting.level)
    if asked is None and drawn > RESAMPLES:
        reporting.say(
            f"note: where resamples are drawn, it is {drawn:,} of them for these models and this "
            f"level, which takes as much longer; --resamples {RESAMPLES} is the usual"
        )


def _compared(
    files: Sequence[str],
    models: Sequence[tuple[str, str]],
    request: Request,
    **options: Any,
) -> FileComparison:
    from assay.v02.decisions.compare.comparing import NoScores, compare_files
    from assay.v02.sources.files import Model, NeedsId

    try:
        named_models = [Model(name, column) for name, column in models]
        return compare_files(files, request, named_models, **options)
    except (NeedsId, NoScores) as missing:
        raise click.UsageError(as_options(str(missing))) from missing


def _thresholds(
    given: Sequence[tuple[str | None, float]],
) -> float | dict[str | None, float] | None:
    if not given:
        return None
    if given[0][0] is None:
        return given[0][1]
    return dict(given)


def _source(compared: FileComparison) -> RowSource:
    from assay.v02.sources.files.request import refused_row

    rows = compared.rows
    return {
        "name": rows.name,
        "files": list(compared.files),
        "rows_read": rows.rows_read,
        "rows_used": compared.rows_used,
        "rows_refused": rows.rows_refused,
        "refused": [refused_row(refused) for refused in rows.refused],
        "labels_sha256": rows.labels_sha256,
    }


def _rows_note(compared: FileComparison | None) -> dict[str, Any]:
    """Where the rows came from, with the one column that may have been guessed."""
    if compared is None:
        return {}
    rows = compared.rows
    return {
        "rows_read": rows.rows_read,
        "rows_refused": rows.rows_refused,
        "chosen": {"label": rows.chosen["label"]},
    }
