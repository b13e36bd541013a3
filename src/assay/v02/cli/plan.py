"""``assay plan``: how many labelled rows are needed."""

from __future__ import annotations

import click

from assay.v02.cli import options
from assay.v02.cli.options import (
    BASE_RATE,
    CONFIDENCE,
    MAX_FAR,
    MAX_FPR,
    MIN_DR,
    Command,
    constraint,
    detection_rates,
    judging,
)
from assay.v02.cli.recording import recording
from assay.v02.cli.reporting import ProvenanceBuilder, Reporting, reporting

EXAMPLES = (
    (
        "negatives that show a false positive rate of at most 1 in 10,000",
        "assay plan --max-fpr 1/10000",
    ),
    (
        "and positives that show a detection rate of 90%, where 95% is expected",
        "assay plan --max-fpr 1/10000 --min-dr 0.9 --expected-fpr 2e-5 --expected-dr 0.95",
    ),
    (
        "one alarm in ten false at most, where 1 row in 10,000 is an attack",
        "assay plan --max-far 0.1 --base-rate 1e-4",
    ),
    (
        "a detection rate within 0.1 where 1 row in 1,000 is an attack, with strata and without",
        "assay plan --recall-width 0.1 --base-rate 1/1000 --expected-dr 0.8",
    ),
    ("an interval of a precision near 0.9", "assay plan --width 0.05 --expected 0.9"),
    (
        "two models, of which one is right on 1% more of the rows",
        "assay plan --difference 1% --discordant 5% --power 0.9",
    ),
)


@click.command(
    cls=Command,
    name="plan",
    examples=EXAMPLES,
    short_help="How many labelled rows are needed.",
)
@MAX_FAR
@MAX_FPR
@MIN_DR
@constraint(
    "--width",
    type=options.share,
    metavar="W",
    help="An interval at most this wide, from end to end.",
)
@constraint(
    "--recall-width",
    type=options.share,
    metavar="W",
    help="An interval of the detection rate at most this wide: labels at random, and by strata.",
)
@constraint(
    "--rows",
    type=click.IntRange(min=100),
    metavar="N",
    help="The rows that labels of --recall-width are drawn from.  [default: 1000000]",
)
@constraint(
    "--difference",
    type=options.share,
    metavar="D",
    help="How much more often one of two models is right; needs --discordant.",
)
@constraint(
    "--discordant",
    type=options.share,
    metavar="S",
    help="Share of rows on which only one of two models is right.",
)
@CONFIDENCE
@constraint(
    "--power",
    type=options.share,
    default="0.8",
    show_default=True,
    metavar="SHARE",
    help="The chance of success to plan for.",
)
@BASE_RATE
@judging(
    "--expected-fpr",
    type=options.share,
    metavar="X",
    help="The false positive rate that the detector is thought to have.",
)
@judging(
    "--expected-dr",
    type=options.share,
    metavar="X",
    help="The detection rate that the detector is thought to have.",
)
@judging(
    "--expected",
    type=options.share,
    metavar="X",
    help="The share that the interval of --width will be about.  [default: 0.5, the widest]",
)
@recording()
@reporting
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    max_far: float | None,
    max_fpr: float | None,
    min_dr: tuple[tuple[str | None, float], ...],
    width: float | None,
    recall_width: float | None,
    rows: int | None,
    difference: float | None,
    discordant: float | None,
    confidence: float,
    power: float,
    base_rate: float | None,
    expected_fpr: float | None,
    expected_dr: float | None,
    expected: float | None,
    reporting: Reporting,
) -> None:
    """Tell how many labelled rows it takes to know something, before they are labelled.

    Each goal may be given alone or with others. Limits of rates hold together with the confidence;
    they share the error. Intervals and differences are at --level.
    """
    of_all, of_families = detection_rates(min_dr)
    if max_far is not None and base_rate is None:
        raise click.UsageError("--max-far needs --base-rate, the share of attacks in deployment")
    if (difference is None) != (discordant is None):
        raise click.UsageError("--difference and --discordant go together")
    if difference is not None and discordant is not None and difference > discordant:
        raise click.UsageError(
            f"models that differ on {difference:g} of rows disagree on at least as many; "
            f"--discordant is {discordant:g}"
        )
    if expected is not None and width is None:
        raise click.UsageError("--expected is the share of an interval, so --width is needed")
    if rows is not None and recall_width is None:
        raise click.UsageError("--rows are what labels are drawn from: say --recall-width")
    goals = (max_far, max_fpr, width, recall_width, difference)
    if all(each is None for each in goals) and not min_dr:
        raise click.UsageError(
            "say what to know: --max-fpr, --min-dr, --max-far with --base-rate, --width, "
            "--recall-width, or --difference with --discordant"
        )
    reporting.check()
    from assay.v02.decisions.plan_goals import plan

    making = ProvenanceBuilder(context, (), None, reporting)
    result = plan(
        max_fpr=max_fpr,
        min_dr=of_all,
        min_dr_families=of_families,
        max_far=max_far,
        base_rate=base_rate,
        width=width,
        recall_width=recall_width,
        rows=rows,
        difference=difference,
        discordant=discordant,
        expected_fpr=expected_fpr,
        expected_dr=expected_dr,
        expected=expected,
        power=power,
        confidence=confidence,
        level=reporting.level,
    )
    reporting.deliver(making.document(result))
