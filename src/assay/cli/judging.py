"""Options that several commands share: which label is the alarm, and what deployment is like."""

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
