"""``assay data``: tables to try things on, for people who have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli.messages import OutputError, Progress, say
from assay.v02.cli.options import Command, Option, number
from assay.v02.cli.outputs import Target, check_folder, table_options, target, write_table
from assay.v02.cli.reporting import QUIET, SEED, UNUSED_LEVEL
from assay.v02.escaping import plural
from assay.v02.report import atomic_files

if TYPE_CHECKING:
    import polars as pl

# Scenario: the column of its label.
SCENARIOS = {"arp": "label", "ddos": "label", "darknet": "category"}
# No table, but a folder of logs.
WEEK = "week"
LEVELS = ("easy", "medium", "hard")
EXAMPLES = (
    ("ARP packets of an office network, some of them forged", "assay data arp --out packets.csv"),
    ("a million flows, some of them floods", "assay data ddos --rows 1000000 --out flows.parquet"),
    (
        "titles of a hidden market that are hard to tell apart",
        "assay data darknet --difficulty hard",
    ),
    ("other draws of the same story", "assay data arp --seed 7 --rows 5000 --out other.jsonl.gz"),
    ("a week of logs of Suricata and Zeek, with nine attacks", "assay data week --out office"),
)

_option = partial(click.option, cls=Option, section="Data")


def _difficulty(text: str) -> float | str:
    """A difficulty by its name or its number."""
    if text in LEVELS:
        return text
    try:
        difficulty = number(text)
    except click.BadParameter:
        difficulty = -1.0
    if not 0 <= difficulty <= 1:
        raise click.BadParameter(
            f"{text!r} is neither {', '.join(LEVELS)} nor a number from 0 to 1"
        )
    return difficulty


@click.command(
    cls=Command,
    name="data",
    examples=EXAMPLES,
    short_help="Make a labelled table to try things on.",
)
@click.argument("scenario", type=click.Choice((*SCENARIOS, WEEK)), metavar="SCENARIO")
@_option(
    "--rows",
    type=click.IntRange(min=1, max=10**12),
    default=20_000,
    show_default=True,
    metavar="N",
    help="How many rows; of week, lines in both logs together.",
)
@_option(
    "--difficulty",
    type=_difficulty,
    metavar="LEVEL",
    help="How well attacks hide: easy, medium, hard, or a number from 0 to 1; not of week.  "
    "[default: medium]",
)
@table_options("Report")
@UNUSED_LEVEL
@SEED
@QUIET
def command(
    *,
    scenario: str,
    rows: int,
    difficulty: float | str | None,
    face: str | None,
    out: Path | None,
    seed: int,
    quiet: bool,
) -> None:
    """Make a labelled table to try things on: the same again for the same seed.

    SCENARIO is arp (packets of an office network, in which somebody now and then poses as another),
    ddos (flows to servers, with rushes of people and with floods) or darknet (titles of listings in
    ten categories). Each has the columns time, host and family; the label is the last column.

    The SCENARIO week is a folder, by default of that name: eve.json of Suricata, conn.log of Zeek,
    the schedule attacks.csv of nine attacks, the flows as a table, and what can be counted in them.
    """
    if scenario == WEEK:
        for option, given in (("--difficulty", difficulty), ("--format", face)):
            if given is not None:
                raise click.UsageError(f"{option} is not for week, which is a folder of logs")
        _write_week(out or Path(WEEK), rows, seed, quiet=quiet)
        return
    to = target(out, face)
    to.check()
    from assay.v02.learn import scenarios

    stream = getattr(scenarios, f"stream_{scenario}")
    labels: Counter[str] = Counter()
    with Progress(quiet=quiet) as progress:
        progress.stage("making")
        pieces = stream(rows, seed, "medium" if difficulty is None else difficulty)
        write_table(_counting_labels(pieces, SCENARIOS[scenario], labels, progress, rows), to)
    if to.path is not None and not quiet:
        say(_written_note(to, rows, labels))


def _write_week(out: Path, rows: int, seed: int, *, quiet: bool) -> None:
    """Write the folder of a week: all of its files, or none."""
    from assay.v02.learn.scenarios import write_week
    from assay.v02.learn.scenarios.week import FILES

    check_folder(
        out,
        lambda folder: all(file.name in FILES for file in folder.iterdir()),
        "that are of no such week",
    )
    with Progress(quiet=quiet) as progress:
        progress.stage("making")
        try:
            with atomic_files.folder(out) as folder:
                week = write_week(folder, rows, seed, progress)
        except OSError as error:
            raise OutputError.of(out, error) from error
    if not quiet:
        say(
            f"wrote {out}: {', '.join(FILES)}; {week.eve:,} lines in eve.json and {week.conn:,} "
            f"in conn.log; {week.alerts:,} alerts, {week.detected} of {week.attacks} attacks "
            f"detected"
        )


def _counting_labels(
    pieces: Iterator[pl.DataFrame],
    label: str,
    labels: Counter[str],
    progress: Progress,
    rows: int,
) -> Iterator[pl.DataFrame]:
    """The pieces as they are, with their labels counted."""
    done = 0
    for piece in pieces:
        yield piece
        labels.update(dict(piece[label].value_counts().iter_rows()))
        done += len(piece)
        progress(done, rows)


def _written_note(to: Target, rows: int, labels: Counter[str]) -> str:
    """What was written, in a line."""
    counts = ", ".join(f"{label} {count:,}" for label, count in labels.most_common())
    return f"wrote {to.path} ({to.format}): {rows:,} {plural(rows, 'row', 'rows')}; {counts}"
