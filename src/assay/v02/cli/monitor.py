"""``assay monitor``: watch a detector in use, however often one looks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.v02.cli import options
from assay.v02.cli.messages import NO, OutputError, Progress
from assay.v02.cli.options import (
    LABELS,
    NEGATIVE,
    POSITIVE,
    THRESHOLD,
    Command,
    Option,
    column_option,
    judging,
    must_name_one_side,
)
from assay.v02.cli.reading import FILES, TEXT_OPTIONS, naming_inputs, reading_only, within_memory
from assay.v02.cli.recording import Recording, recording
from assay.v02.cli.reporting import (
    FIGURES,
    ProvenanceBuilder,
    Reporting,
    check_beside,
    check_figures,
    draw_figures,
    must_not_replace,
    must_read_once,
    reporting,
    write,
)
from assay.errors import InputError, StoreError
from assay.v02.report import atomic_files

if TYPE_CHECKING:
    from assay.v02.decisions import Monitor, Rule
    from assay.v02.sources.files import Request

LAST = "last"
DEFAULT_MATURE = 0.9
LARGEST_STATE = 256 << 20
_WATCH = "assay monitor alerts.csv --time time"
EXAMPLES = (
    (
        "is half of the alerts still real, looked at every day?",
        f"{_WATCH} --rule 'precision >= 0.5' --rule 'false_alarms_per_day <= 20'",
    ),
    (
        "go on from yesterday, and keep what was counted for tomorrow",
        f"{_WATCH} --rule 'precision >= 0.5' --state detector.tally",
    ),
    (
        "without labels: are scores, alerts and a column still what they were?",
        f"{_WATCH} --reference reference.csv --feature bytes --every week",
    ),
    (
        "the new model beside the old one",
        f"{_WATCH} --baseline-score old_score --rule 'new-old(alert_rate) <= 0'",
    ),
    (
        "a page with pictures, and numbers for Prometheus",
        f"{_WATCH} --out monitor.html --metrics assay.prom",
    ),
    (
        "every run kept, each going on from the last",
        f"{_WATCH} --state last --record detector",
    ),
)

_watch = partial(click.option, cls=Option, section="Watching")


def period(text: str) -> str | int:
    """A period: day, week, month, or a number of days.

    >>> period("week"), period("3")
    ('week', 3)
    """
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text not in ("day", "week", "month"):
        raise click.BadParameter(f"{text!r} is no period; write day, week, month or 3 for 3 days")
    return text


def mature_share(text: str) -> float:
    """A share above 0 and up to 1."""
    return 1.0 if text.strip() in ("1", "1.0", "100%") else options.share(text)


@click.command(
    cls=Command,
    name="monitor",
    examples=EXAMPLES,
    short_help="Watch a detector in use, however often you look.",
)
@FILES
@_watch(
    "--every",
    type=period,
    default="day",
    show_default=True,
    metavar="PERIOD",
    help="How often one looks: day, week, month, or a number of days.",
)
@_watch(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    help="What has to hold, as 'precision >= 0.5' or 'new-old(recall) >= 0'; may be repeated.",
)
@_watch(
    "--mature",
    type=mature_share,
    default=str(DEFAULT_MATURE),
    show_default=True,
    metavar="SHARE",
    help="A figure is given where this share of its rows has a label, else what it lies between.",
)
@_watch(
    "--reference",
    multiple=True,
    metavar="FILE",
    help="Rows from when all was well, with the same columns; may be repeated.",
)
@_watch(
    "--feature",
    "features",
    multiple=True,
    metavar="COL",
    help="A column to hold against the reference beside scores and alerts; may be repeated.",
)
@_watch(
    "--state",
    type=options.FilePath(),
    metavar="FILE|last",
    help="Go on from what an earlier run left here, and leave it anew; last: that of the last run "
    "under the name of --record.",
)
@_watch(
    "--recount",
    is_flag=True,
    help="Count days that the state has anew, as when their labels have come.",
)
@_watch(
    "--metrics",
    type=options.FilePath(),
    metavar="FILE",
    help="Write the last look as OpenMetrics text, which Prometheus reads.",
)
@column_option(
    "--baseline-score", "old_score", help="The score of another model, of the same rows."
)
@column_option("--baseline-decision", "old_decision", help="What another model decided.")
@reading_only(
    *("label", "score", "decision", "time"),
    *(*TEXT_OPTIONS, "glob", "on_bad_row", "max_memory"),
)
@POSITIVE
@NEGATIVE
@LABELS
@THRESHOLD
@judging(
    "--baseline-threshold",
    "old_threshold",
    type=options.number,
    metavar="T",
    help="The same for the other model.  [default: as --threshold]",
)
@FIGURES
@recording()
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    every: str | int,
    rules: tuple[str, ...],
    mature: float,
    reference: tuple[str, ...],
    features: tuple[str, ...],
    state: Path | None,
    recount: bool,
    metrics: Path | None,
    old_score: str | None,
    old_decision: str | None,
    request: Request,
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    threshold: float | None,
    old_threshold: float | None,
    figures: Path | None,
    reporting: Reporting,
) -> None:
    """Watch a detector in use: figures whose intervals hold however often one looks.

    FILE holds rows with their time, what the model said, and labels as far as there are any: an
    empty label is a row that nobody has looked at yet. Ends with 1 if a rule is shown to be broken,
    else with 0.
    """
    if request.time is None:
        raise click.UsageError("say which column tells when a row happened: --time")
    must_name_one_side(positive, negative)
    if recount and state is None:
        raise click.UsageError("--recount counts days of a state anew: name it, --state")
    if threshold is not None and request.decision is not None:
        raise click.UsageError("--threshold decides by the score; leave out it or --decision")
    if old_threshold is not None and old_score is None:
        raise click.UsageError("--baseline-threshold is of --baseline-score, which is not given")
    parsed = _rules(rules)
    inputs = [*files, *reference]
    must_read_once(inputs, "FILE and --reference")
    reporting.check()
    check_figures(figures)
    must_not_replace(reporting.out, inputs, request)
    for option, path in (("--metrics", metrics), ("--state", _file(state))):
        if path is not None:
            check_beside(option, path, inputs, reporting.out)
    before = _state(state, reporting)
    making = ProvenanceBuilder(context, inputs, request, reporting)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), naming_inputs(inputs):
        from assay.v02 import monitor_files

        result = monitor_files(
            files,
            request,
            reference=reference or None,
            features=features,
            old_score=old_score,
            old_decision=old_decision,
            threshold=threshold,
            old_threshold=old_threshold,
            state=before,
            recount=recount,
            every=every,
            rules=parsed,
            positive=positive,
            negative=negative,
            labels=labels,
            mature=mature,
            level=reporting.level,
            seed=reporting.seed,
            progress=progress,
        )
        document = making.document(result)
    reporting.say_beside(result.source, result.notes, result.findings, request)
    if metrics is not None:
        from assay.v02.report import draw as drawn

        write(metrics, drawn(document, "openmetrics"))
        reporting.say(f"wrote {metrics} (OpenMetrics)")
    draw_figures(result.plot, figures, reporting)
    reporting.deliver(document, tally=result.tally)
    if (path := _file(state)) is not None:
        _keep(path, result, reporting)
    if result.outcome == "broken":
        context.exit(NO)


def _rules(written: tuple[str, ...]) -> tuple[Rule, ...]:
    from assay.v02.decisions.monitor_result import watched_rules

    try:
        return watched_rules(written)
    except InputError as error:
        raise click.UsageError(f"--rule: {error}") from error


def _file(state: Path | None) -> Path | None:
    """The file of a state; None where it is in the store, or nowhere."""
    return None if state is None or str(state) == LAST else state


def _state(state: Path | None, reporting: Reporting) -> Any:
    """What an earlier run left, or None where this is the first."""
    if state is None:
        return None
    from assay.errors import TallyError
    from assay.v02.sources.files.inputs import read_side_file
    from assay.v02.tally import from_bytes

    path = _file(state)
    if path is None:
        return _recorded(reporting.recording, reporting)
    if not path.exists():
        reporting.say(f"note: there is no {path} yet; a new state begins")
        return None
    try:
        return from_bytes(read_side_file(path, LARGEST_STATE, "a state of a monitor"))
    except TallyError as error:
        raise InputError(f"{path} is no state of a monitor: {error}") from error


def _recorded(recording: Recording, reporting: Reporting) -> Any:
    """The tally of the last run of the name under which this one is recorded."""
    if recording.name is None:
        raise click.UsageError(
            "--state last goes on from the last run of a name: say which with --record NAME"
        )
    from assay.v02.store import Store, default_place

    place = recording.store or default_place()
    if "://" in place or Path(place).exists():
        try:
            with Store(place, read_only=True) as store:
                runs = store.runs(name=recording.name, kind="monitor", limit=1).runs
                if runs:
                    return runs[0].tally()
        except StoreError as error:
            raise InputError(str(error)) from error
    reporting.say(f"note: there is no run {recording.name!r} yet; a new state begins")
    return None


def _keep(path: Path, monitor: Monitor, reporting: Reporting) -> None:
    """Write the state aside and rename it: the old one, or the new one, and nothing between."""
    try:
        atomic_files.write(path, monitor.tally.to_bytes())
    except OSError as error:
        raise OutputError.of(path, error) from error
    reporting.say(f"wrote {path} (the state, until {monitor.until})")
