"""``assay measures``: the catalogue of measures, and what each one says."""

from __future__ import annotations

from typing import Any

import click

from assay.v02.cli import options
from assay.v02.cli.messages import as_options
from assay.v02.cli.options import Command, Option
from assay.v02.cli.reporting import Reporting, reporting

GROUPS = ("rates", "agreement", "cost", "ranking", "probability")
EXAMPLES = (
    ("all of them", "assay measures"),
    ("one of them, by any of its names", "assay measures detection_rate"),
    ("an F score that leans towards recall", "assay measures fbeta --beta 1.5"),
    ("those of scores, for a README", "assay measures --group ranking --format markdown"),
    ("a reference table for a paper", "assay measures --out measures.tex"),
)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:  # noqa: ARG001
    """Names and aliases that begin so."""
    from assay.v02.measures.catalogue import names

    return sorted(name for name in names() if name.startswith(incomplete))


@click.command(
    cls=Command,
    name="measures",
    examples=EXAMPLES,
    short_help="Look up measures: what each says, and when it misleads.",
)
@click.argument("name", required=False, shell_complete=_complete)
@click.option(
    "--group",
    cls=Option,
    section="Which",
    type=click.Choice(GROUPS),
    help="Only the measures of one group.",
)
@click.option(
    "--beta",
    cls=Option,
    section="Which",
    type=options.positive_number,
    metavar="B",
    help="Of fbeta: how many times as much recall counts as precision.",
)
@reporting
def command(
    *, name: str | None, group: str | None, beta: float | None, reporting: Reporting
) -> None:
    """Look up measures: formula, range, how to read one, and when it misleads.

    NAME is a measure or an alias of it, such as recall, tpr or detection_rate; fbeta takes any
    --beta, as does f1.5. Without it all are listed, and with --group those of a group with their
    formulas.
    """
    if name is not None and group is not None:
        raise click.UsageError("give NAME or --group, not both")
    if name is None and beta is not None:
        raise click.UsageError("--beta needs its NAME: assay measures fbeta --beta 1.5")
    reporting.check()
    from assay.errors import AssayError
    from assay.v02.measures import find
    from assay.v02.report import measure_document, measures_document

    if name is None:
        reporting.deliver(measures_document(group, level=reporting.level))
        return
    try:
        measure = find(name, beta=beta)
    except AssayError as error:
        raise click.UsageError(as_options(str(error))) from error
    reporting.deliver(measure_document(measure, level=reporting.level))
