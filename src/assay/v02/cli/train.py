"""``assay train``: from a labelled table to a judged, saved, reusable detector."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli import options, outputs
from assay.v02.cli.messages import Progress, must_be_installed
from assay.v02.cli.options import (
    BASE_RATES,
    DROP,
    LABELS,
    LEARNED_LABEL,
    NEGATIVE,
    POSITIVE,
    VOLUME,
    Command,
    Option,
    column_option,
    must_name_one_side,
)
from assay.v02.cli.reading import (
    TEXT_OPTIONS,
    naming_inputs,
    read_part,
    reading_of,
    reading_only,
    within_memory,
)
from assay.v02.cli.recording import Recording, recording, rows_of_training
from assay.v02.cli.reporting import (
    FIGURES,
    LEARNING_SEED,
    LEVEL,
    QUIET,
    STDOUT_FACE,
    ProvenanceBuilder,
    Reporting,
    check_figures,
    draw_figures,
    warnings_as_notes,
)

if TYPE_CHECKING:
    from assay.v02.learn.recipes import Recipe
    from assay.v02.learn.run import Run, TrainingRequest
    from assay.v02.learn.validation import Scheme
    from assay.v02.report import Document, Provenance
    from assay.v02.sources.files import Request


# As the recipes call themselves; help is shown where scikit-learn is not installed, too.
RECIPES = {
    "forest": "random forest of 100 balanced trees on encoded, standardised columns",
    "network": "neural network of two hidden layers on encoded, standardised columns",
    "tree": "decision tree of depth 8 on the 20 columns with the largest chi-square",
    "text": "TF-IDF of words and characters with a linear model, naive Bayes or a forest",
    "detector": "boosted trees, tuned and calibrated for detection at --max-far (0.1 if not given)",
}
OWN_RECIPE = ("package.module:factory", "your own: anything with scikit-learn's interface")
SCHEMES = (
    "holdout:0.3, holdout:0.7/0.2/0.1, kfold:5, repeated:5x2, group:COL, time:COL@2024-03-01, "
    "sliding:COL,train=30d,test=7d, folds:COL, leave-one-out:COL or file:TEST"
)
_FOREST = "assay train forest"
EXAMPLES = (
    (
        "learn from 70% of the rows, judge the others, keep the model and its report",
        f"{_FOREST} flows.csv --label label --out run",
    ),
    (
        "five folds, none of which shares a host with another",
        "assay train network flows.csv --label label --validation group:host,k=5",
    ),
    (
        "an official split; all labels but one are attacks, and their names the families",
        f"{_FOREST} train.csv --label label --negative normal --validation file:test.csv",
    ),
    (
        "one alarm in ten may be false; what is learned is tried on later rows",
        "assay train detector flows.csv --label label --max-far 0.1 --validation time:t@2026-03-03",
    ),
    (
        "texts in many classes, by the words in them",
        "assay train text titles.csv --label category --text title --set model=svm",
    ),
    (
        "a model of your own",
        "assay train sklearn.ensemble:ExtraTreesClassifier flows.csv --label label --drop host",
    ),
)
_WRITTEN = ("label", "score", "decision", "fold", "family", "time")

_training = partial(click.option, cls=Option, section="Training")
_report = partial(click.option, cls=Option, section="Report")


class WithRecipes(Command):
    """A command whose help lists the recipes."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the recipes, then the options."""
        with formatter.section("Recipes"):
            formatter.write_dl([*RECIPES.items(), OWN_RECIPE])
        super().format_options(ctx, formatter)


def setting(text: str) -> tuple[str, str]:
    """A setting, written NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise click.BadParameter(f"{text!r} is not NAME=VALUE, such as trees=200")
    return name.strip(), value.strip()


def list_recipes(context: click.Context, param: click.Parameter, given: bool) -> None:  # noqa: ARG001, FBT001 - the form is click's
    """Print all recipes with their settings, and end."""
    if not given or context.resilient_parsing:
        return
    must_be_installed("train", extra="learn")
    from assay.v02.learn import recipes

    for recipe in recipes.RECIPES:
        click.echo(f"{recipe.name}: {recipe.summary}")
        for name, setting in recipe.settings.items():
            default = ",".join(map(str, setting.default)) if setting.type is tuple else None
            shown = default or str(setting.default).lower()
            click.echo(f"  --set {name}={shown:<{24 - len(name)}} {setting.help}")
    context.exit()


@click.command(
    cls=WithRecipes,
    name="train",
    examples=EXAMPLES,
    short_help="Train a detector, judge it on rows it did not learn, keep it.",
)
@click.argument("recipe", metavar="RECIPE")
@click.argument("files", nargs=-1, required=True, metavar="DATA...")
@LEARNED_LABEL
@column_option("--text", help="The column of texts, for recipes that read them.")
@DROP
@column_option(
    "--id", "id_", help="Names a row in the predictions, in place of its number; no feature."
)
@reading_only(
    *("family", "time"),
    *TEXT_OPTIONS,
    *("glob", "on_bad_row", "max_memory"),
)
@_training(
    "--validation",
    default="holdout:0.3",
    show_default=True,
    metavar="SCHEME",
    help=f"How rows are divided into learned and judged: {SCHEMES}.",
)
@_training(
    "--set",
    "settings",
    type=setting,
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the recipe; may be repeated. --list shows them.",
)
@_training(
    "--max-far",
    type=options.share,
    metavar="X",
    help="Choose the threshold for a false alarm rate of at most this, on learned rows.",
)
@_training(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=list_recipes,
    help="Show all recipes with their settings, and end.",
)
@POSITIVE
@NEGATIVE
@LABELS
@BASE_RATES
@VOLUME
@FIGURES
@STDOUT_FACE
@_report(
    "-o",
    "--out",
    type=options.FilePath(),
    metavar="DIR",
    help="Keep the run in this folder: model, predictions, report, importance, card.",
)
@recording(rows=True)
@LEVEL
@LEARNING_SEED
@QUIET
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    recipe: str,
    files: tuple[str, ...],
    label: str,
    text: str | None,
    drop: tuple[str, ...],
    id_: str | None,
    request: Request,
    validation: str,
    settings: tuple[tuple[str, str], ...],
    max_far: float | None,
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    base_rate: tuple[float, ...],
    volume: float | None,
    figures: Path | None,
    face: str,
    out: Path | None,
    level: float,
    seed: int,
    quiet: bool,
    recording: Recording,
) -> None:
    """Train a detector on DATA and judge it on rows that it did not learn from.

    DATA are files as assay evaluate reads them, with a column of labels; every other column is a
    feature, unless it is dropped or has another part. Everything is learned from the training part
    alone: encoders, scalers, the choice of columns and of a threshold.
    """
    started = time.time()
    must_be_installed("train", extra="learn")
    must_name_one_side(positive, negative)
    reporting = Reporting(face, None, level, seed, quiet, recording)
    reporting.check()
    with warnings_as_notes(reporting):
        chosen = _recipe(recipe, dict(settings), text)
    scheme = _scheme(validation)
    if request.time is None:
        # A row without a time is a bad row then, and not one that no split can place.
        request = replace(request, time=scheme.time)
    check_figures(figures)
    inputs = [*files, *([] if scheme.test is None else [scheme.test])]
    if out is not None:
        outputs.check_run_folder(out)
        outputs.must_hold_no_input(out, inputs, request)
    if inputs.count("-") > 1:
        raise click.UsageError("standard input can be given once")
    if id_ in _WRITTEN:
        raise click.UsageError(f"--id {id_}: the predictions have a column of that name already")
    progress = _TrainingProgress(quiet=quiet)
    making = ProvenanceBuilder(context, inputs, request, reporting, always=out is not None)
    with progress, within_memory(request), naming_inputs(inputs), _telling_folds_apart(scheme):
        from assay.v02.learn.training import train
        from assay.v02.report import document_of

        keep = (*scheme.columns, id_)
        reading = reading_of(request, progress, label=label, text=text, drop=drop, keep=keep)
        labelling = {"positive": positive, "negative": negative, "labels": labels}
        data = read_part(files, reading, labelling)
        test = None
        if scheme.test is not None:
            with naming_inputs([scheme.test]):
                test = read_part((scheme.test,), reading, {"like": data})
        with warnings_as_notes(reporting), _usage():
            run = train(
                chosen,
                data,
                validation=scheme,
                settings=dict(settings),
                seed=seed,
                max_far=max_far,
                test=test,
                base_rate=base_rate or None,
                volume=volume,
                level=level,
                progress=progress.model,
            )
        made = making.provenance()
        asked = _training_request(label, id_, request, base_rate, volume, made)
        model, trusted = _saved_model(run, asked, out)
        document = document_of(run.snapshot(trusted), made)
        times = outputs.times_since(started)
        kept = outputs.run_files(run, model, document, asked, times) if out is not None else {}
    _say_beside(run, document, reporting)
    if figures is not None:
        draw_figures(run.plot, figures, reporting)
    if out is None:
        reporting.say("note: nothing is kept; --out DIR keeps the model, its predictions and more")
    else:
        outputs.write_run_folder(out, kept)
        for line in outputs.folder_notes(out, kept):
            reporting.say(line)
    reporting.deliver(document, tally=run.evaluation.tally, rows=lambda: rows_of_training(run, id_))


# -- what was asked --------------------------------------------------------------------------------


@contextmanager
def _usage() -> Iterator[None]:
    """A wrong recipe, or a wrong setting, is a wrong command line."""
    from assay.v02.learn.recipes import RecipeError

    try:
        yield
    except RecipeError as error:
        raise click.UsageError(str(error)) from error


def _recipe(named: str, settings: dict[str, str], text: str | None) -> Recipe:
    from assay.v02.learn.recipes import find_recipe

    with _usage():
        recipe = find_recipe(named)
        recipe.complete(settings)
    if recipe.needs_text and text is None:
        raise click.UsageError(f"{named} learns from texts: say which column holds them, --text")
    return recipe


def _scheme(text: str) -> Scheme:
    from assay.errors import InputError
    from assay.v02.learn.validation import parse_scheme

    try:
        return parse_scheme(text)
    except InputError as error:
        raise click.UsageError(f"--validation: {error}") from error


@contextmanager
def _telling_folds_apart(scheme: Scheme) -> Iterator[None]:
    """Of ``folds:3`` tell that it goes by a column, where there is none of that name."""
    from assay.errors import InputError, MissingColumn

    try:
        yield
    except MissingColumn as missing:
        column = missing.column
        if not column.isdecimal() or column not in scheme.columns:
            raise
        raise InputError(
            f"{missing}. --validation {scheme.text} goes by a column of that name; for {column} "
            f"folds of all rows say kfold:{column}"
        ) from missing


def _saved_model(
    run: Run, request: TrainingRequest, out: Path | None
) -> tuple[bytes, tuple[str, ...]]:
    """The model file, and the types that whoever loads it has to trust; nothing if none is kept."""
    if out is None:
        return b"", ()
    from assay.v02.learn.persistence import types_to_trust
    from assay.v02.learn.run import model_of

    model = model_of(run, request)
    return model, tuple(types_to_trust(model))


def _training_request(
    label: str,
    id_: str | None,
    request: Request,
    base_rate: tuple[float, ...],
    volume: float | None,
    made: Provenance,
) -> TrainingRequest:
    from assay.v02.learn.run import TrainingRequest

    return TrainingRequest(
        command=made.command,
        label=label,
        inputs=tuple(each for each in made.inputs if each.sha256 is not None),
        id=id_,
        family=request.family,
        time=request.time,
        base_rate=base_rate,
        volume=volume,
    )


# -- what is said ----------------------------------------------------------------------------------


class _TrainingProgress(Progress):
    """Progress that also counts models, without starting the clock anew for each."""

    def model(self, done: int, total: int, stage: str) -> None:
        """So many models are trained, and this one is now."""
        if self._what != stage and not done:
            self.stage(stage)
        self._what = stage
        # One more, for what comes after the last model.
        self(done, total + 1)


def _say_beside(run: Run, document: Document, reporting: Reporting) -> None:
    """Say of both parts what the report does not tell."""
    for part in (run.data, run.test):
        if part is not None:
            reporting.say_beside({"rows_read": part.rows_read, "rows_refused": part.rows_refused})
    reporting.say_beside({}, document.report.notes, document.report.findings)
