"""``assay runs``: what was kept with --record, listed, drawn again, followed and compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli import options
from assay.v02.cli.exchange import export_runs, import_runs, say_unless
from assay.v02.cli.options import FLIPS, RUN_NAME, RUN_TAG, Command, CommandGroup, Option, which_runs
from assay.v02.cli.recording import STORE, opened_store
from assay.v02.cli.reporting import (
    DEFAULT_LEVEL,
    FIGURES,
    OUT,
    STDOUT,
    STORED_FACE,
    ProvenanceBuilder,
    Reporting,
    check_figures,
    common,
    draw_figures,
    face_of,
    print_out,
    reporting,
    reporting_as_made,
    write,
)
from assay.v02.escaping import escaped_json, plural
from assay.v02.report import IMPORTED, KINDS

if TYPE_CHECKING:
    from assay.v02.store import Store

GATES = ("pass", "fail", "undecided")
# The kinds of runs that have rules.
WITH_RULES = ("gate", "monitor")

EXAMPLES = (
    ("everything that was kept, newest first", "assay runs"),
    ("gates that failed", "assay runs list --gate fail"),
    ("how the detection rate went", "assay runs trend flows --measure recall"),
    (
        "the last two runs of one name, beside each other",
        "assay runs compare last~1 last --name flows",
    ),
)


@click.group(
    cls=CommandGroup,
    name="runs",
    usual="list",
    examples=EXAMPLES,
    short_help="List, follow and compare the results that were kept.",
)
def command() -> None:
    """Look at results that were kept with --record, newest first.

    RUN is the id of a run, or its beginning; last, last~1 and so on count back from the newest;
    last-passed is the last gate that passed. Without a command the runs are listed.
    """


# -- read ------------------------------------------------------------------------------------------


@command.command(
    cls=Command,
    name="list",
    examples=(
        ("the last 50", "assay runs list"),
        ("gates of one name, and why they failed", "assay runs list --name flows --rules"),
        (
            "words in names, headlines and notes, as JSON",
            "assay runs list --search 'flows 96%' --format json",
        ),
    ),
    short_help="List runs, newest first.",
)
@RUN_NAME
@which_runs("--kind", type=click.Choice((*KINDS, IMPORTED)), help="Of this kind.")
@which_runs("--gate", type=click.Choice(GATES), help="Gates that came out so.")
@RUN_TAG
@which_runs("--search", metavar="WORDS", help="With these words in name, headline, note or id.")
@which_runs("--before", metavar="RUN", help="Older than this run.")
@which_runs("--rules", is_flag=True, help="Gates with their rules, and which of them do not hold.")
@which_runs(
    "--limit",
    type=click.IntRange(1, 10000),
    default=50,
    show_default=True,
    metavar="N",
    help="So many at most.",
)
@STORE
@reporting_as_made
@click.pass_context
def list_runs(
    context: click.Context,
    /,
    *,
    name: str | None,
    kind: str | None,
    gate: str | None,
    tag: str | None,
    search: str | None,
    before: str | None,
    rules: bool,
    limit: int,
    store: str | None,
    reporting: Reporting,
) -> None:
    """List runs, newest first, with what each came to."""
    if rules and kind not in (None, *WITH_RULES):
        raise click.UsageError(f"--rules: runs of the kind {kind} have none")
    kind = kind or ("gate" if rules else None)
    reporting.check()
    making = ProvenanceBuilder(context, (), None, reporting)
    with opened_store(store, read_only=True) as kept:
        from assay.v02.store.reports import rules_of, runs_report

        page = kept.runs(
            name=name, kind=kind, gate=gate, tag=tag, search=search, before=before, limit=limit
        )
        report = runs_report(page, rules=rules_of if rules else None)
    reporting.deliver(report.made_by(making.provenance(store=page.place)))


@command.command(
    cls=Command,
    name="show",
    examples=(
        ("the report of the last run, as when it was made", "assay runs show last"),
        ("its JSON, byte by byte as it was recorded", "assay runs show 3f9a12 --format json"),
        ("a page; a gate for a build server", "assay runs show last-passed --out gate.html"),
    ),
    short_help="Draw the report of a run again.",
)
@click.argument("run", metavar="RUN")
@RUN_NAME
@STORE
@STORED_FACE
@OUT
@common
def show(
    *,
    run: str,
    name: str | None,
    store: str | None,
    face: str | None,
    out: Path | None,
    quiet: bool,
) -> None:
    """Draw the report of a run again, in any format; nothing is computed anew."""
    out = None if out == STDOUT else out
    reporting = Reporting(face_of(face, out), out, DEFAULT_LEVEL, 0, quiet)
    reporting.check()
    with opened_store(store, read_only=True) as kept:
        from assay.v02.store.reports import drawn_again

        kept_run = kept.find(run, name=name)
        if reporting.face != "json":
            reporting.deliver(drawn_again(kept_run))
            return
        text = kept_run.document
    if out is None:
        # Earlier versions kept names as they are.
        shown = escaped_json(text) if sys.stdout is not None and sys.stdout.isatty() else text
        print_out(shown.encode("utf-8", "surrogatepass"))
    else:
        write(out, text)
        reporting.say(f"wrote {out} (json)")


@command.command(
    cls=Command,
    name="trend",
    examples=(
        ("the detection rate from run to run", "assay runs trend flows --measure recall"),
        (
            "precision where 1 row in 1,000 is an attack, as a page",
            "assay runs trend flows --measure precision@base-rate=0.001 --out trend.html",
        ),
        ("what there is to follow", "assay runs trend flows --list"),
    ),
    short_help="Follow a measure from run to run.",
)
@click.argument("name", metavar="NAME")
@which_runs("--measure", metavar="MEASURE", help="What to follow, as recall or f1.macro.")
@which_runs("--list", "listed", is_flag=True, help="Show what can be followed, and end.")
@which_runs(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=2000,
    show_default=True,
    metavar="N",
    help="So many of the newest runs.",
)
@FIGURES
@STORE
@reporting_as_made
@click.pass_context
def trend(
    context: click.Context,
    /,
    *,
    name: str,
    measure: str | None,
    listed: bool,
    limit: int,
    figures: Path | None,
    store: str | None,
    reporting: Reporting,
) -> None:
    """Follow a measure over the runs of a name, with intervals and a test of change.

    Where the test set changed, points before and after are not joined: the rows may have moved the
    number, and not the detector.
    """
    check_figures(figures)
    if (measure is None) != listed:
        raise click.UsageError("say what to follow, --measure MEASURE, or --list")
    reporting.check()
    making = ProvenanceBuilder(context, (), None, reporting)
    with opened_store(store, read_only=True) as kept:
        from assay.v02.store.reports import TrendPlots, trend_report

        if measure is None:
            print_out("".join(f"{each}\n" for each in kept.measures(name)).encode())
            return
        followed = kept.trend(name, measure, limit=limit)
        report = trend_report(followed).made_by(making.provenance(store=kept.place))
    draw_figures(TrendPlots(followed), figures, reporting)
    reporting.deliver(report)


@command.command(
    cls=Command,
    name="compare",
    examples=(
        ("the last two runs of a name", "assay runs compare last~1 last --name flows"),
        (
            "models of runs that hold several",
            "assay runs compare 3f9a12:forest 77b0c1:forest --margin 0.005",
        ),
        (
            "the rows that the two decide differently",
            "assay runs compare last~1 last --name flows --flips flips.csv",
        ),
    ),
    short_help="Tell whether one run is really better than another.",
)
@click.argument("old", metavar="RUN[:MODEL]")
@click.argument("new", metavar="RUN[:MODEL]")
@RUN_NAME
@click.option(
    "--margin",
    cls=Option,
    section="Judging",
    type=options.share,
    default="0.01",
    show_default=True,
    metavar="SHARE",
    help="Differences up to this are the same.",
)
@FLIPS
@STORE
@reporting
@click.pass_context
def compare(
    context: click.Context,
    /,
    *,
    old: str,
    new: str,
    name: str | None,
    margin: float,
    flips: Path | None,
    store: str | None,
    reporting: Reporting,
) -> None:
    """Compare two runs: paired by row where the rows of both were kept, else unpaired.

    Which of the two it is stands in the report.
    """
    from assay.v02.cli.outputs import check_flips, write_flips

    check_flips(flips)
    reporting.check()
    making = ProvenanceBuilder(context, (), None, reporting)
    with opened_store(store, read_only=True) as kept:
        from assay.v02.report import document_of
        from assay.v02.store.comparing import Unpaired, compare_runs
        from assay.v02.store.reports import unpaired_report

        runs, models = zip(*(_run_and_model(kept, text, name) for text in (old, new)), strict=True)
        comparison = compare_runs(
            *runs, models=models, level=reporting.level, seed=reporting.seed, margin=margin
        )
        made = making.provenance(store=kept.place, runs=runs)
        if isinstance(comparison, Unpaired):
            _must_not_be_given(context, comparison.why)
            document: Any = unpaired_report(comparison).made_by(made)
        else:
            document = document_of(comparison, made)
    if flips is not None and not isinstance(comparison, Unpaired):
        written = write_flips(flips, comparison)
        reporting.say(f"wrote {written:,} {plural(written, 'row', 'rows')} that flipped to {flips}")
    reporting.deliver(document)


def _must_not_be_given(context: click.Context, why: str) -> None:
    """Refuse options of a paired comparison where there is none."""
    for name in ("level", "seed", "margin", "flips"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} needs the rows of both runs, and {why}")


def _run_and_model(store: Store, text: str, name: str | None) -> tuple[Any, str | None]:
    run, _, model = text.removeprefix("run:").partition(":")
    return store.find(run, name=name), model or None


# -- change ----------------------------------------------------------------------------------------


@command.command(
    cls=Command,
    name="tag",
    examples=(
        ("a tag, and a note", "assay runs tag last baseline --note 'before the new features'"),
        ("take one away", "assay runs tag 3f9a12 --remove baseline"),
    ),
    short_help="Give a run tags and a note.",
)
@click.argument("run", metavar="RUN")
@click.argument("tags", nargs=-1, metavar="[TAG...]")
@RUN_NAME
@click.option(
    "--remove",
    cls=Option,
    section="Tags",
    multiple=True,
    metavar="TAG",
    help="Take this tag away; may be repeated.",
)
@click.option(
    "--note", cls=Option, section="Tags", metavar="TEXT", help="A note, in place of the one it has."
)
@STORE
@common
def tag(
    *,
    run: str,
    tags: tuple[str, ...],
    name: str | None,
    remove: tuple[str, ...],
    note: str | None,
    store: str | None,
    quiet: bool,
) -> None:
    """Give a run tags and a note; --remove takes tags away."""
    if not tags and not remove and note is None:
        raise click.UsageError("say what to change: TAG, --remove TAG or --note TEXT")
    with opened_store(store, read_only=False) as kept:
        kept_run = kept.find(run, name=name)
        kept_run = kept.tag(kept_run.id, add=tags, remove=remove)
        if note is not None:
            kept_run = kept.note(kept_run.id, note)
    message = f"tags of run {kept_run.id}: {' '.join(kept_run.tags) or 'none'}"
    say_unless(message, quiet=quiet)


command.add_command(export_runs)
command.add_command(import_runs)


@command.command(
    cls=Command,
    name="delete",
    examples=(("a run, and what only it has", "assay runs delete 3f9a12"),),
    short_help="Delete runs.",
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@STORE
@common
def delete(*, runs: tuple[str, ...], store: str | None, quiet: bool) -> None:
    """Delete runs for good, with documents, tallies and rows that no other run has."""
    with opened_store(store, read_only=False) as kept:
        for run in runs:
            deleted = kept.delete(kept.find(run).id)
            message = f"deleted run {deleted.id} of {deleted.name!r} ({deleted.made})"
            say_unless(message, quiet=quiet)
