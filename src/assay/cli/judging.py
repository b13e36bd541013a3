"""Options that several commands share: the alarm, deployment, and limits that must be kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import click

from assay.cli import values
from assay.cli.command import Option

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

judging = partial(click.option, cls=Option, section="Judging")

POSITIVE: Decorator = judging("--positive", metavar="VALUE", help="The label that is the alarm.")
NEGATIVE: Decorator = judging(
    "--negative", metavar="VALUE", help="The label that is harmless; every other one is the alarm."
)
LABELS: Decorator = judging(
    "--labels", type=values.labels, metavar="A,B", help="All labels there may be, also absent ones."
)
MODES = ("auto", "exact", "cuts", "grid")
MODE: Decorator = judging(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="How scores are kept: all; cuts, exact in less memory; a grid, with bounds.",
)
VOLUME: Decorator = judging(
    "--volume", type=values.positive_number, metavar="N", help="Rows a day in deployment."
)
COST_FP: Decorator = judging(
    "--cost-fp",
    type=values.positive_number,
    metavar="A",
    help="What a false alarm costs; needs --cost-fn.",
)
COST_FN: Decorator = judging(
    "--cost-fn",
    type=values.positive_number,
    metavar="B",
    help="What a missed attack costs; needs --cost-fp.",
)
BASE_RATE: Decorator = judging(
    "--base-rate",
    type=values.share,
    metavar="SHARE",
    help="Share of attacks in deployment, as 0.001, 0.1%, 1/1000.",
)
BASE_RATES: Decorator = judging(
    "--base-rate",
    type=values.share,
    multiple=True,
    metavar="SHARE",
    help="Share of attacks in deployment, as 0.001, 0.1%, 1/1000; may be repeated.",
)


def one_of_them(positive: str | None, negative: str | None) -> None:
    """Refuse a positive and a negative label at once."""
    if positive is not None and negative is not None:
        raise click.UsageError("give --positive or --negative, not both")


CONFIDENCE_GIVEN = 0.9

goal = partial(click.option, cls=Option, section="What must be kept")


def family_share(text: str) -> tuple[str | None, float]:
    """A share of all positives, or of a family, written FAMILY=X.

    >>> family_share("0.9"), family_share("brute force=80%")
    ((None, 0.9), ('brute force', 0.8))
    """
    family, equals, share = text.rpartition("=")
    if equals and not family:
        raise click.BadParameter(f"{text!r} names no family; write dos=0.9")
    return (family if equals else None), values.share(share)


MAX_FAR: Decorator = goal(
    "--max-far",
    type=values.share,
    metavar="X",
    help="False alarm rate FP/(FP+TP) of at most this, at the base rate.",
)
MAX_FPR: Decorator = goal(
    "--max-fpr", type=values.share, metavar="X", help="False positive rate of at most this."
)
MIN_DR: Decorator = goal(
    "--min-dr",
    type=family_share,
    multiple=True,
    metavar="X|FAMILY=X",
    help="Detection rate of at least this, of all or of one family; may be repeated.",
)
CONFIDENCE: Decorator = goal(
    "--confidence",
    type=values.share,
    default=str(CONFIDENCE_GIVEN),
    show_default=True,
    metavar="SHARE",
    help="How sure all of it together must be kept.",
)


def detection_rates(
    given: tuple[tuple[str | None, float], ...],
) -> tuple[float | None, dict[str, float]]:
    """The lowest detection rate of all, and those of families."""
    names = [family for family, _ in given]
    if len(set(names)) < len(names):
        raise click.UsageError("--min-dr is given twice for the same rows")
    found = {family: share for family, share in given if family is not None}
    return next((share for family, share in given if family is None), None), found
