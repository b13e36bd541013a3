"""``assay incidents``: how many attacks were detected, how late, at how many false alarms a day."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli import options
from assay.v02.cli.messages import Progress
from assay.v02.cli.options import CONFIDENCE, Command, Option, constraint
from assay.v02.cli.reading import (
    FILES_OR_NONE,
    TEXT_OPTIONS,
    naming_inputs,
    reading_only,
    within_memory,
)
from assay.v02.cli.recording import recording
from assay.v02.cli.reporting import (
    FIGURES,
    ProvenanceBuilder,
    Reporting,
    check_figures,
    draw_figures,
    must_not_replace,
    must_read_once,
    reporting,
)

if TYPE_CHECKING:
    from assay.v02.sources.files import Request

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
        "from which severity on there are at most 5 false incidents a day",
        f"{_LOGS} --score alert.severity --max-false-incidents 5/day",
    ),
    (
        "a table whose rows name their incident",
        "assay incidents rows.csv --incident incident --time time --score score --threshold 0.7",
    ),
)

_log = partial(click.option, cls=Option, section="Logs")
_table = partial(click.option, cls=Option, section="Tables")
_matching = partial(click.option, cls=Option, section="Matching")


def _skew(text: str) -> float | str:
    return text if text == "estimate" else options.duration(text)


@click.command(
    cls=Command,
    name="incidents",
    examples=EXAMPLES,
    short_help="How many attacks were detected, how late, at how many false alarms a day.",
)
@FILES_OR_NONE
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
@_table("--incident", metavar="COL", help="The incident that a row is of; empty where of none.")
@_table("--time", metavar="COL", help="When a row was.")
@_table("--decision", metavar="COL", help="What was decided; all but harmless names are alerts.")
@_table("--positive", metavar="VALUE", help="The decision that is an alert.")
@_table("--family", metavar="COL", help="The kind of attack of an incident.")
@_table("--rule", metavar="COL", help="What raised an alert.")
@_table("--count", metavar="COL", help="How many equal rows a row stands for.")
@_log(
    "--timezone",
    metavar="ZONE",
    help="Of times that name none, as Europe/Berlin; else those are refused.",
)
@_log(
    "--year",
    type=click.IntRange(1970, 9999),
    metavar="YYYY",
    help="Of log lines that name none, as those of Snort.",
)
@_matching(
    "--match",
    type=options.names,
    metavar="COLS",
    help="Columns of the schedule that have to fit.  [default: all that it has]",
)
@_matching("--directed", is_flag=True, help="Source and destination as given, not either way.")
@_matching(
    "--grace",
    type=options.duration,
    default="0s",
    show_default=True,
    metavar="T",
    help="Time after the end of an attack in which alerts still belong to it.",
)
@_matching(
    "--gap",
    type=options.duration,
    default="10m",
    show_default=True,
    metavar="T",
    help="False alarms that follow each other within this are one false incident.",
)
@_matching(
    "--key",
    type=options.names,
    metavar="COLS",
    help="What such false alarms have in common.  [default: src_ip,dst_ip,host of logs]",
)
@_matching(
    "--skew",
    type=_skew,
    default="0s",
    show_default=True,
    metavar="T|estimate",
    help="How far the clock of the logs is ahead of the schedule's; estimate: as the logs tell.",
)
@constraint("--score", metavar="COL", help="What ranks alerts, as alert.severity.")
@constraint(
    "--lower-is-worse/--higher-is-worse",
    "reversed_score",
    default=None,
    help="Whether a low score is the more suspicious.  [default: of alert.severity and priority]",
)
@constraint(
    "--threshold",
    type=options.number,
    metavar="S",
    help="Only alerts of this score and more suspicious ones count.",
)
@constraint(
    "--max-false-incidents",
    type=options.per_day,
    metavar="N/day",
    help="At most so many false incidents, as 5/day: choose the threshold that detects most.",
)
@constraint(
    "--max-delay",
    type=options.duration,
    metavar="T",
    help="Half of the attacks detected within this: choose the threshold of fewest false ones.",
)
@CONFIDENCE
@FIGURES
@reading_only(*TEXT_OPTIONS, "glob", "on_bad_row", "max_memory")
@recording()
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    alerts: tuple[str, ...],
    events: tuple[str, ...],
    schedule: str | None,
    incident: str | None,
    time: str | None,
    figures: Path | None,
    request: Request,
    reporting: Reporting,
    **asked: Any,
) -> None:
    """Judge alerts by attacks instead of rows.

    Alerts belong to an attack where they lie in its window and its addresses, ports and hosts fit;
    rows of a table name it. Told is how many attacks were detected, with an exact interval, how
    long that took, what every rule found, and how many false alarms and false incidents a day it
    cost.
    """
    _must_be_one_form(files, alerts, schedule, incident, time)
    if asked["score"] is None:
        for option in ("threshold", "max_false_incidents", "max_delay"):
            if asked[option] is not None:
                name = option.replace("_", "-")
                raise click.UsageError(f"--{name} is about a score: name its column with --score")
    reporting.check()
    check_figures(figures)
    inputs = [*files, *alerts, *events, *([] if schedule is None else [schedule])]
    must_read_once(inputs, "two of FILE, --alerts, --events and --schedule")
    must_not_replace(reporting.out, inputs, request)
    making = ProvenanceBuilder(context, inputs, request, reporting)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), naming_inputs(inputs):
        from assay.v02.decisions.incidents import incidents

        result = incidents(
            list(files) or None,
            alerts=alerts or None,
            events=events or None,
            schedule=schedule,
            incident=incident,
            time=time,
            level=reporting.level,
            on_bad_row=request.on_bad_row,
            request=request,
            progress=progress,
            **asked,
        )
        document = making.document(result)
    reporting.say_beside({}, result.notes, result.findings)
    draw_figures(result.plot, figures, reporting)
    reporting.deliver(document)


def _must_be_one_form(
    files: tuple[str, ...],
    alerts: tuple[str, ...],
    schedule: str | None,
    incident: str | None,
    time: str | None,
) -> None:
    """Refuse what is neither logs with a schedule nor a table with incidents."""
    if files and (alerts or schedule):
        raise click.UsageError(
            "give logs (--alerts and --schedule) or a table (FILE with --incident and --time), not "
            "both"
        )
    if files and (incident is None or time is None):
        raise click.UsageError("a table needs --incident and --time, the columns that tell them")
    if not files and not alerts:
        raise click.UsageError(
            "name alerts and attacks, --alerts eve.json --schedule attacks.csv; or a table, FILE "
            "--incident COL --time COL"
        )
    if alerts and schedule is None:
        raise click.UsageError("name the attacks with --schedule FILE")
