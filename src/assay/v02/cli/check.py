"""``assay check``: is this evaluation honest?"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli.messages import NO, Progress
from assay.v02.cli.options import (
    BASE_RATE,
    DROP,
    LABELS,
    LEARNED_LABEL,
    NEGATIVE,
    POSITIVE,
    Command,
    column_option,
    judging,
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
from assay.v02.cli.recording import recording
from assay.v02.cli.reporting import (
    ProvenanceBuilder,
    Reporting,
    must_not_replace,
    must_read_once,
    reporting_of_learning,
    warnings_as_notes,
)
from assay.errors import LabelError, install_line

if TYPE_CHECKING:
    from assay.v02.learn.data import Data
    from assay.v02.learn.recipe import Recipe
    from assay.v02.sources.files import Request

EXAMPLES = (
    ("one file, and what a random split of it would leak", "assay check flows.csv --label label"),
    (
        "an official split, whose hosts must not be on both sides",
        "assay check train.csv test.csv --label label --group host --time time",
    ),
    (
        "without an id, for a network where 1 row in 1,000 is an attack",
        "assay check flows.csv --label label --drop id --base-rate 0.1%",
    ),
    (
        "what a forest loses once the leaks are gone",
        "assay check train.csv test.csv --label label --recipe forest",
    ),
    ("for other programs", "assay check train.csv test.csv --label label --format json"),
)


@click.command(
    cls=Command,
    name="check",
    examples=EXAMPLES,
    short_help="Find what makes an evaluation less honest than it looks.",
)
@click.argument("train", metavar="TRAIN")
@click.argument("test", metavar="[TEST]", required=False)
@LEARNED_LABEL
@column_option(
    "--group",
    "groups",
    multiple=True,
    help="Rows that belong together, as a host; may be repeated. Must not be on both sides.",
)
@DROP
@column_option("--text", help="The feature that holds texts to read.")
@reading_only(
    *("family", "time"),
    *TEXT_OPTIONS,
    *("on_bad_row", "max_memory"),
)
@POSITIVE
@NEGATIVE
@LABELS
@BASE_RATE
@judging(
    "--recipe",
    metavar="RECIPE",
    help="Train it, and again without what leaks: a recipe, or your own as package.module:factory.",
)
@recording()
@reporting_of_learning
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    train: str,
    test: str | None,
    label: str,
    groups: tuple[str, ...],
    drop: tuple[str, ...],
    text: str | None,
    request: Request,
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    base_rate: float | None,
    recipe: str | None,
    reporting: Reporting,
) -> None:
    """Look for leaks between TRAIN and TEST, or for what a random split of TRAIN would leak.

    Duplicates and near duplicates, groups and times on the wrong side, ids and single columns that
    give the label away, rows that were copied or made up before the split; and what a trivial model
    reaches. Ends with 1 if there is a leak.
    """
    must_name_one_side(positive, negative)
    inputs = [train] if test is None else [train, test]
    reporting.check()
    must_not_replace(reporting.out, inputs, request)
    must_read_once(inputs, "TRAIN and TEST")
    with warnings_as_notes(reporting):
        model = None if recipe is None else _recipe(recipe)
    making = ProvenanceBuilder(context, inputs, request, reporting)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), naming_inputs(inputs):
        from assay.v02.learn.checks import check

        reading = reading_of(request, progress, label=label, text=text, drop=drop, keep=groups)
        labelling = {"positive": positive, "negative": negative, "labels": labels}
        data = read_part(train, reading, labelling)
        judged = None if test is None else _read_test(test, reading, labelling, data)
        with warnings_as_notes(reporting):
            result = check(
                data,
                judged,
                time=request.time,
                groups=groups,
                base_rate=base_rate,
                recipe=model,
                level=reporting.level,
                seed=reporting.seed,
                progress=progress.stage("checking"),
            )
        document = making.document(result)
    for part in result.parts.values():
        reporting.say_beside(part)
    reporting.say_beside({}, findings=result.findings)
    reporting.deliver(document)
    if not result.honest:
        context.exit(NO)


def _recipe(named: str) -> Recipe:
    """A recipe by its name; a wrong one is a wrong command line."""
    if find_spec("sklearn") is None:
        raise click.UsageError(f"--recipe needs scikit-learn: {install_line('learn')}")
    from assay.v02.learn.recipes import RecipeError, find_recipe

    try:
        return find_recipe(named)
    except RecipeError as error:
        raise click.UsageError(f"--recipe: {error}") from error


def _read_test(path: str, reading: dict[str, Any], labelling: dict[str, Any], data: Data) -> Data:
    """The test part; its labels are those of the training part, though some may be absent."""
    if labelling["negative"] is not None and labelling["labels"] is None:
        # It may hold no row of the negative label, or of one attack alone.
        return read_part(path, reading, {"like": data})
    if labelling["labels"] is not None:
        return read_part(path, reading, labelling)
    alike = {**labelling, "positive": data.positive, "labels": list(data.labels)}
    if labelling["positive"] is not None:
        # Whatever stands against it may have other names here.
        alike = labelling
    try:
        return read_part(path, reading, alike)
    except LabelError:
        # Of several classes, or of one, some may be new, which is a finding.
        several = data.positive is None or len(set(data.truth.tolist())) == 1
        if not several or path == "-":
            raise
        return read_part(path, reading, labelling)
