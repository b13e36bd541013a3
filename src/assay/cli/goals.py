"""Options that say what must be kept: limits of rates, and how surely."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import click

from assay.cli import values
from assay.cli.command import Option

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

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
