"""``assay audit``: can these reported numbers be true?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli.messages import NO
from assay.v02.cli.options import Command, Decorator, Option
from assay.v02.cli.recording import recording
from assay.v02.cli.reporting import (
    FIGURES,
    TERMINAL,
    ProvenanceBuilder,
    Reporting,
    check_figures,
    draw_figures,
    must_not_replace,
    print_out,
    reporting,
    write,
)

if TYPE_CHECKING:
    from assay.v02.decisions.audit.reading import Totals

FORMATS = ("toml", "json")
KINDS = ("claims", "markdown", "csv", "latex", "classification-report", "confusion-matrix",
         "evaluation", "text")  # fmt: skip
TEMPLATES = ("binary", "table", "classes", "folds")
EXAMPLES = (
    ("the results table of a paper: Markdown, CSV or LaTeX", "assay audit results.tex"),
    ("what scikit-learn's classification_report printed", "cat report.txt | assay audit -"),
    (
        "a table of models, all judged on one test set",
        "assay audit results.csv --support normal=9711 --support attack=12833 --positive attack",
    ),
    (
        "a pasted confusion matrix and a number reported for it",
        "assay audit matrix.txt --orientation truth-rows --reported accuracy=0.967",
    ),
    ("a claims file to fill in", "assay audit --template > claims.toml"),
    ("the claims of a paper, written down as in the guide", "assay audit paper.toml"),
    ("a table to paste into a review", "assay audit paper.toml --format markdown"),
    ("several at once, for other programs", "assay audit claims/*.toml --format json"),
    ("from standard input", "cat paper.json | assay audit - --input-format json"),
)


def _read_as(*names: str, **settings: Any) -> Decorator:
    return click.option(*names, cls=Option, section="What was read", **settings)


def _shared_options(*names: str, **settings: Any) -> Decorator:
    return click.option(*names, cls=Option, section="What all claims share", **settings)


@click.command(
    cls=Command,
    name="audit",
    examples=EXAMPLES,
    short_help="Find reported numbers that can't be right, and the likely mistake.",
)
@click.argument("claims", nargs=-1, metavar="[FILE...]")
@_read_as(
    "--as",
    "kind",
    type=click.Choice(KINDS),
    help="What the files are, where their content does not tell; the report says what was taken.",
)
@_read_as(
    "--rows",
    type=click.Choice(("models", "classes", "folds")),
    help="What the rows of a table are, where its words do not tell.",
)
@_read_as(
    "--orientation",
    type=click.Choice(("truth-rows", "predicted-rows")),
    help="What the rows of a pasted confusion matrix are, where it does not say so itself.",
)
@_read_as(
    "--input-format",
    type=click.Choice(FORMATS),
    help="The format of a claims file, where name and content don't tell.",
)
@_read_as(
    "--template",
    is_flag=False,
    flag_value=TEMPLATES[0],
    type=click.Choice(TEMPLATES),
    help="Write a claims file to fill in, and nothing else.  [default: binary]",
)
@_shared_options("--n", metavar="N", help="How many rows the test set has.")
@_shared_options(
    "--support", multiple=True, metavar="LABEL=N", help="How many rows a class has.  [repeatable]"
)
@_shared_options(
    "--positives", type=click.IntRange(min=0), help="Rows of the alarm, where it has no name."
)
@_shared_options("--negatives", type=click.IntRange(min=0), help="Rows of the other class.")
@_shared_options("--positive", metavar="LABEL", help="The label that is the alarm.")
@_shared_options("--negative", metavar="LABEL", help="The other label of two.")
@_shared_options(
    "--aggregate",
    type=click.Choice(("pooled", "fold-mean")),
    help="Whether numbers are of one test set or means over folds or runs.",
)
@_shared_options(
    "--dataset", metavar="NAME", help="The name of a well-known test set to compare with."
)
@_shared_options(
    "--reported",
    multiple=True,
    metavar="KEY=NUMBER",
    help="A number that stands elsewhere, as printed.  [repeatable]",
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
    kind: str | None,
    input_format: str | None,
    template: str | None,
    figures: Path | None,
    reporting: Reporting,
    **shared: Any,
) -> None:
    """Hold reported numbers against what the counts allow.

    FILE is a table of results (Markdown, CSV, LaTeX), scikit-learn's classification_report, a
    pasted confusion matrix, an evaluation of assay in JSON, or a claims file (TOML or JSON); - for
    standard input. What was recognised is said, and so is every heading that names no measure.
    Every number is recomputed exactly and found consistent, off by rounding, inconsistent, in
    conflict with others or undetermined; an inconsistent one with the mistake that gives its
    digits. Ends with 1 if any must be wrong; with 0, and a warning, where none could be judged.
    """
    if template is not None:
        _write_template(context, template, claims, reporting)
        return
    if not claims:
        raise click.UsageError("Missing argument 'FILE...': name a file, - or --template")
    reporting.check()
    check_figures(figures)
    from assay.v02.decisions import audit_files
    from assay.v02.sources.files import Request

    must_not_replace(reporting.out, claims, Request())
    making = ProvenanceBuilder(context, claims, Request(), reporting)
    audit = audit_files(
        claims,
        kind=kind,
        input_format=input_format,
        totals=_totals(**shared),
        level=reporting.level,
    )
    draw_figures(audit.plot, figures, reporting)
    document = making.document(audit)
    reporting.deliver(document)
    if not audit.judged and (reporting.out is not None or reporting.face != TERMINAL):
        reporting.say(f"warning: {document.report.headline[0]}")
    if not audit.consistent:
        context.exit(NO)


def _totals(*, support: Sequence[str], reported: Sequence[str], **others: Any) -> Totals:
    from assay.v02.decisions.audit.claims_file import count_of
    from assay.v02.decisions.audit.reading import Totals

    counts = {
        label: count_of(number, f"--support {label}")
        for label, number in _pairs(support, "--support", "normal=9711").items()
    }
    numbers = _pairs(reported, "--reported", "accuracy=0.967")
    return Totals(support=counts, reported=numbers, **others)


def _pairs(given: Sequence[str], option: str, example: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, sign, value = text.rpartition("=")
        if not sign or not name.strip() or not value.strip():
            raise click.UsageError(
                f"{option} {text}: expected a name, = and a number, as {example}"
            )
        if name.strip() in pairs:
            raise click.UsageError(f"{option} names {name.strip()!r} twice")
        pairs[name.strip()] = value.strip()
    return pairs


def _write_template(
    context: click.Context, kind: str, claims: Sequence[str], reporting: Reporting
) -> None:
    """Write a template; options that speak of claims have nothing to do there."""
    given = click.core.ParameterSource.COMMANDLINE
    for name in context.params:
        idle = name not in ("template", "out", "quiet")
        if idle and context.get_parameter_source(name) is given and (name != "claims" or claims):
            argument = claims[0] if name == "claims" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"--template writes a file to fill in; leave {argument} out")
    from assay.v02.decisions.audit.claim import template

    text = template(kind)
    if reporting.out is None:
        print_out(text.encode())
        return
    write(reporting.out, text)
    reporting.say(f"wrote {reporting.out}: fill it in, then: assay audit {reporting.out}")
