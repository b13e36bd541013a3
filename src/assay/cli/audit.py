"""``assay audit``: can these reported numbers be true?"""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.command import Command, Option
from assay.cli.errors import NO
from assay.cli.figures import FIGURES, check_figures, draw
from assay.cli.provenance import Making, must_not_replace
from assay.cli.recording import recording
from assay.cli.reporting import Reporting, reporting

FORMATS = ("toml", "json")
EXAMPLES = (
    ("the claims of a paper, written down as in the guide", "assay audit paper.toml"),
    ("a table to paste into a review", "assay audit paper.toml --format markdown"),
    ("the same for LaTeX", "assay audit paper.toml --out audit.tex"),
    ("several at once, for other programs", "assay audit claims/*.toml --format json"),
    ("from standard input", "cat paper.json | assay audit - --input-format json"),
)


@click.command(
    cls=Command,
    name="audit",
    examples=EXAMPLES,
    short_help="Find reported numbers that can't be right, and the likely mistake.",
)
@click.argument("claims", nargs=-1, required=True, metavar="CLAIMS...")
@click.option(
    "--input-format",
    cls=Option,
    section="Files",
    type=click.Choice(FORMATS),
    help="The format of the claims, where name and content don't tell.",
)
@FIGURES
@recording()
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    claims: tuple[str, ...],
    input_format: str | None,
    figures: Path | None,
    reporting: Reporting,
) -> None:
    """Hold reported numbers against what the counts allow.

    CLAIMS are TOML or JSON files with the counts of a result, as far as they are given, and the
    numbers reported for it; - for standard input. Every number is recomputed exactly and found
    consistent, off by rounding, inconsistent, in conflict with others or undetermined; an
    inconsistent one with the mistake that gives its digits. Ends with 1 if any must be wrong.
    """
    reporting.check()
    check_figures(figures)
    from assay.decisions import audit_files
    from assay.report import document_of
    from assay.sources.files import Request

    must_not_replace(reporting.out, claims, Request())
    making = Making(context, claims, Request(), reporting)
    audit = audit_files(claims, input_format=input_format, level=reporting.level)
    draw(audit.plot, figures, reporting)
    reporting.deliver(document_of(audit, making.provenance()))
    if not audit.consistent:
        context.exit(NO)
