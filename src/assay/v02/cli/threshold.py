"""``assay threshold``: where to set the alarm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli import options
from assay.v02.cli.messages import Progress
from assay.v02.cli.options import (
    BASE_RATE,
    CONFIDENCE,
    LABELS,
    MAX_FAR,
    MAX_FPR,
    MIN_DR,
    MODE,
    NEGATIVE,
    POSITIVE,
    VOLUME,
    Command,
    constraint,
    costs,
    detection_rates,
    judging,
    must_name_one_side,
)
from assay.v02.cli.reading import FILES, TEXT_OPTIONS, naming_inputs, reading_only, within_memory
from assay.v02.cli.recording import ID, kept_rows, must_keep_rows, recording
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

RESAMPLES = 1000
_FILE = "assay threshold predictions.csv"
EXAMPLES = (
    ("the usual thresholds side by side", _FILE),
    (
        "at most 1 harmless row in 500 flagged, sure to 95%",
        f"{_FILE} --max-fpr 1/500 --confidence 0.95",
    ),
    (
        "half of the alarms real where 1 row in 100 is an attack, judged on other rows",
        "assay threshold monday.csv --max-far 0.5 --base-rate 1% --holdout tuesday.csv",
    ),
    (
        "what fits into 3,000 alerts a day",
        f"{_FILE} --max-alerts 3000 --volume 1e6 --base-rate 0.1%",
    ),
    (
        "eight in ten attacks found, half of each family, as few false alarms as can be",
        f"{_FILE} --family family --min-dr 0.8 --min-dr-each-family 0.5",
    ),
    (
        "a missed attack costs as much as 50 false alarms; as a page",
        f"{_FILE} --cost-fp 1 --cost-fn 50 --base-rate 0.1% --out threshold.html",
    ),
    (
        "any number of rows in little memory; thresholds are edges of a grid",
        f"{_FILE} --max-fpr 1/500 --mode grid",
    ),
)


@click.command(
    cls=Command,
    name="threshold",
    examples=EXAMPLES,
    short_help="Where to set the alarm, and what can be promised there.",
)
@FILES
@MAX_FAR
@MAX_FPR
@MIN_DR
@constraint(
    "--min-dr-each-family",
    type=options.share,
    metavar="X",
    help="Detection rate of at least this, of every family.",
)
@constraint(
    "--max-alerts",
    type=options.positive_number,
    metavar="N",
    help="At most so many alerts expected a day; needs --volume.",
)
@costs("What must be kept")
@CONFIDENCE
@constraint(
    "--holdout",
    multiple=True,
    metavar="FILE",
    help="Rows that were kept aside: judge the threshold there.",
)
@reading_only(
    *("label", "score", "probabilities", "probability_pattern", "family", "count", "weight"),
    *("cluster", *TEXT_OPTIONS, "glob", "on_bad_row", "max_memory"),
)
@POSITIVE
@NEGATIVE
@LABELS
@MODE
@BASE_RATE
@VOLUME
@judging(
    "--resamples",
    type=click.IntRange(min=2),
    default=RESAMPLES,
    show_default=True,
    metavar="N",
    help="How often the threshold is chosen anew for the intervals.",
)
@FIGURES
@ID
@recording(rows=True)
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    id_column: str | None,
    request: Request,
    max_far: float | None,
    max_fpr: float | None,
    min_dr: tuple[tuple[str | None, float], ...],
    min_dr_each_family: float | None,
    max_alerts: float | None,
    cost_fp: float | None,
    cost_fn: float | None,
    confidence: float,
    holdout: tuple[str, ...],
    positive: str | None,
    negative: str | None,
    labels: tuple[str, ...] | None,
    mode: str,
    base_rate: float | None,
    volume: float | None,
    resamples: int,
    figures: Path | None,
    reporting: Reporting,
) -> None:
    """Choose the score from which on a row is flagged.

    Two answers stand side by side: the best threshold on these rows, which, where it sits at
    its constraint, will break it on new data about half of the time, and the one that is
    promised to keep all constraints with the confidence asked for. Where nothing can be
    promised it says what would help. Without constraints the usual thresholds are shown.
    """
    must_name_one_side(positive, negative)
    of_all, of_families = detection_rates(min_dr)
    has_family = request.family is not None or negative is not None
    families = _families(of_families, min_dr_each_family, has_family=has_family)
    if max_alerts is not None and volume is None:
        raise click.UsageError("--max-alerts is a number a day, so --volume is needed: rows a day")
    if (cost_fp is None) != (cost_fn is None):
        raise click.UsageError("--cost-fp and --cost-fn go together: only their ratio matters")
    must_read_once([*files, *holdout], "FILE and --holdout")
    reporting.check()
    must_keep_rows(reporting.recording, files, request, id_column)
    must_not_replace(reporting.out, [*files, *holdout], request)
    check_figures(figures)
    naming = naming_inputs(files, holdout)
    making = ProvenanceBuilder(context, [*files, *holdout], request, reporting)
    with Progress(quiet=reporting.quiet) as progress, within_memory(request), naming:
        from assay.v02.decisions.threshold import choose_threshold_files

        choice = choose_threshold_files(
            files,
            request,
            positive=positive,
            negative=negative,
            labels=labels,
            mode=mode,
            max_far=max_far,
            max_fpr=max_fpr,
            min_dr=of_all,
            min_dr_families=families,
            max_alerts=max_alerts,
            cost_fp=cost_fp,
            cost_fn=cost_fn,
            base_rate=base_rate,
            volume=volume,
            confidence=confidence,
            level=reporting.level,
            resamples=resamples,
            seed=reporting.seed,
            holdout=holdout or None,
            progress=progress,
            resampled=_resampling(progress),
        )
        document = making.document(choice)
    reporting.say_beside(choice.source, choice.notes, choice.findings, request)
    draw_figures(choice.plot, figures, reporting)
    scored = replace(request, by_threshold=True)
    reporting.deliver(
        document,
        rows=lambda: kept_rows(files, scored, id_column, choice.positive, choice.source),
    )


def _families(
    of_families: Mapping[str, float], of_each: float | None, *, has_family: bool
) -> Mapping[str, float] | float | None:
    if of_families and of_each is not None:
        raise click.UsageError("give --min-dr FAMILY=X or --min-dr-each-family X, not both")
    if (of_families or of_each is not None) and not has_family:
        raise click.UsageError(
            "a detection rate of families needs --family, the column of the kind of attack"
        )
    return of_families or of_each


def _resampling(progress: Progress) -> Callable[[int, int], None]:
    """Tell how many resamples are done; the first one ends the stage of reading."""
    begun = False

    def told(done: int, total: int) -> None:
        nonlocal begun
        if not begun:
            progress.stage("resampling")
            begun = True
        progress(done, total)

    return told
