"""``assay incidents``: how many attacks were detected, how late, at how many false alarms a day."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import values
from assay.cli.command import Command, Option
from assay.cli.figures import FIGURES, check_figures, draw
from assay.cli.progress import Progress
from assay.cli.provenance import Making, must_not_replace
from assay.cli.reading import named, reading_only, within_memory
from assay.cli.recording import recording
from assay.cli.reporting import TERMINAL, Reporting, reporting

if TYPE_CHECKING:
    from assay.decisions.incidents import Incidents
    from assay.sources.files import Request

_LOGS = "assay incidents --alerts eve.json --events conn.log --schedule attacks.csv"
EXAMPLES = (
    ("which attacks were found, how late, and the false alarms a day", _LOGS),
    (
        "matched by the attacker alone, replies up to a minute later included",
        f"{_LOGS} --match src_ip --grace 60s",
    ),
    (
        "false alarms grouped by rule over half an hour, kept as JSON",
        f"{_LOGS} --key rule --gap 30m --format json --out week.json",
    ),
    (
        "from which severity on alerts should count, for 5 false incidents a day",
        f"{_LOGS} --score alert.severity --max-false-incidents 5/day",
    ),
)

_log = partial(click.option, cls=Option, section="Logs")
_matching = partial(click.option, cls=Option, section="Matching")
_choosing = partial(click.option, cls=Option, section="Choosing a threshold")


def _skew(text: str) -> float | str:
    return text if text == "estimate" else values.duration(text)


@click.command(
    cls=Command,
    name="incidents",
    examples=EXAMPLES,
    short_help="How many attacks were detected, how late, at how many false alarms a day.",
)
@_log(
    "--alerts",
    multiple=True,
    metavar="FILE",
    help="Alerts: eve.json, fast.log, notice.log, JSON lines; rotated files may be repeated.",
)
@_log(
    "--events",
    multiple=True,
    metavar="FILE",
    help="Other lines of the sensor, as conn.log: which times and attacks were observed.",
)
@_log(
    "--schedule",
    metavar="FILE",
    help="Attacks with start and end, and any of family, src_ip, dst_ip, ports and host.",
)
@_log(
    "--timezone",
    metavar="ZONE",
    help="Of times that name none, as Europe/Berlin; else those are refused.",
)
@_matching(
    "--match",
    type=values.names,
    metavar="COLS",
    help="Columns of the schedule that have to fit.  [default: all that it has]",
)
@_matching("--directed", is_flag=True, help="Source and destination as given, not either way.")
@_matching(
    "--grace",
    type=values.duration,
    default="0s",
    show_default=True,
    metavar="T",
    help="Time after the end of an attack in which alerts still belong to it.",
)
@_matching(
    "--gap",
    type=values.duration,
    default="10m",
    show_default=True,
    metavar="T",
    help="False alarms that follow each other within this are one false incident.",
)
@_matching(
    "--key",
    type=values.names,
    metavar="COLS",
    help="What such false alarms have in common.  [default: src_ip,dst_ip,host]",
)
@_matching(
    "--skew",
    type=_skew,
    default="0s",
    show_default=True,
    metavar="T|estimate",
    help="How far the clock of the logs is ahead of the schedule's; estimate: as the logs tell.",
)
@_matching("--score", metavar="COL", help="What ranks alerts, as alert.severity.")
@_matching(
    "--threshold",
    type=values.number,
    metavar="S",
    help="Only alerts of at least this score count.",
)
@_choosing(
    "--max-false-incidents",
    type=values.per_day,
    metavar="N/day",
    help="Choose the score from which on alerts count: at most so many false incidents a day.",
)
@_choosing(
    "--max-delay",
    type=values.duration,
    metavar="T",
    help="The same: half of all incidents are detected within this.",
)
@_choosing(
    "--confidence",
    type=values.share,
    default="0.9",
    show_default=True,
    metavar="P",
    help="How sure the promised threshold keeps both on new data.",
)
@FIGURES
@reading_only("on_bad_row", "max_memory")
@recording()
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    alerts: tuple[str, ...],
    events: tuple[str, ...],
    schedule: str | None,
    timezone: str | None,
    match: tuple[str, ...] | None,
    directed: bool,
    grace: float,
    gap: float,
    key: tuple[str, ...] | None,
    skew: float | str,
    score: str | None,
    threshold: float | None,
    max_false_incidents: float | None,
    max_delay: float | None,
    confidence: float,
    figures: Path | None,
    request: Request,
    reporting: Reporting,
) -> None:
    """Judge alerts by attacks instead of rows.

    Alerts belong to an attack where they lie in its window and its addresses, ports and hosts fit.
    Told is how many attacks were detected, with an exact interval, how long that took, what every
    rule found, and how many false alarms and false incidents a day it cost.
    """
    if not alerts:
        raise click.UsageError("name the alerts with --alerts FILE")
    if schedule is None:
        raise click.UsageError("name the attacks with --schedule FILE")
    if score is None and not (max_false_incidents is None and max_delay is None):
        raise click.UsageError(
            "--max-false-incidents and --max-delay choose a threshold of a score; name its column "
            "with --score COL"
        )
    reporting.check()
    check_figures(figures)
    inputs = [*alerts, *events, schedule]
    must_not_replace(reporting.out, inputs, request)
    making = Making(context, inputs, request, reporting)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), named(inputs):
        from assay.decisions.incidents import incidents
        from assay.report import document_of

        more: dict[str, Any] = {} if key is None else {"key": key}
        found = incidents(
            alerts,
            schedule=schedule,
            events=events or None,
            match=match,
            directed=directed,
            grace=grace,
            gap=gap,
            skew=skew,
            timezone=timezone,
            score=score,
            threshold=threshold,
            max_false_incidents=max_false_incidents,
            max_delay=max_delay,
            confidence=confidence,
            level=reporting.level,
            on_bad_row=request.on_bad_row,
            progress=progress,
            **more,
        )
        document = document_of(found, making.provenance())
    for line in _notes(found, reporting):
        reporting.say(line)
    reporting.deliver(document)
    draw(found.plot, figures, reporting)


def _notes(found: Incidents, reporting: Reporting) -> Iterator[str]:
    """What stands beside a report that is no terminal's."""
    if reporting.out is None and reporting.face == TERMINAL:
        return
    for note in found.notes:
        yield f"note: {note}"
    for finding in found.findings:
        yield f"{finding.severity} {finding.code}: {finding.message}"
