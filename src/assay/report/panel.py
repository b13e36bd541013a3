"""What the page needs to move a threshold, taken from an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.curves import Floats
from assay.engines import confusion_at
from assay.evaluation import Evaluation
from assay.evaluation.entries import DEFAULT_BASE_RATES
from assay.evaluation.undecided import starting_threshold
from assay.inference.significance import finite
from assay.measures import Measure, catalogue, find
from assay.measures.shown import MOVING, RANKED_AT_BASE_RATES
from assay.report.deployment import USUAL_BASE_RATE
from assay.report.sections import Panel

# What rounding leaves of a sum of weights that is 0.
_NOISE = 1e-12


def panel_of(evaluation: Evaluation) -> Panel | None:
    """The panel of an evaluation; None for more than two classes, or where labels are missing.

    Without scores its table is empty: then the threshold stands still, and only the base rate
    moves.
    """
    if evaluation.positive is None or evaluation.unlabelled is not None:
        return None
    if not evaluation.decided:
        return _explored(evaluation)
    (tn, fp), (fn, tp) = evaluation.confusion.cells
    measures = _measures()
    rates = evaluation.base_rates or _usual_first()
    negative, positive = evaluation.labels
    tally = evaluation.tally
    return Panel(
        negative=negative,
        positive=positive,
        negatives=tn + fp,
        positives=fn + tp,
        threshold=tally.threshold,
        sweep=_sweep(evaluation),
        measures=measures,
        level=evaluation.level,
        base_rates=rates,
        volume=evaluation.volume,
        weighted=evaluation.confusion.weighted,
        clustered=tally.clusters is not None,
        reliability=_reliability(evaluation),
        shown_at={measure.name: evaluation[measure.name] for measure in measures},
        decided=(tp, fp, fn, tn),
        # The page has no scores to rank anew, so rankings are left to the report's own table.
        deployed={
            rate: {
                name: found
                for name, found in evaluation.at(rate).items()
                if name not in RANKED_AT_BASE_RATES
            }
            for rate in rates
        },
    )


def _explored(evaluation: Evaluation) -> Panel | None:
    """The panel where no threshold was given: it begins at one, as good as any to begin with."""
    tally, start = evaluation.tally, starting_threshold(evaluation.tally)
    assert tally.scores is not None  # noqa: S101 - decisions are wanting only beside scores
    begun = replace(
        tally,
        confusion=confusion_at(tally.scores[0], start),
        threshold=start,
        decided=True,
        clusters=None,
        slices={},
    )
    panel = panel_of(
        Evaluation(
            begun,
            level=evaluation.level,
            base_rate=evaluation.base_rates or None,
            volume=evaluation.volume,
        )
    )
    if panel is None or tally.clusters is None:
        return panel and replace(panel, given=False)
    # Intervals would take rows as independent.
    return replace(
        panel,
        given=False,
        clustered=True,
        shown_at={},
        deployed={
            rate: {name: each.changed(low=math.nan, high=math.nan) for name, each in found.items()}
            for rate, found in panel.deployed.items()
        },
    )


def _measures() -> tuple[Measure, ...]:
    # All others follow in the order of the catalogue.
    first = tuple(find(name) for name in MOVING)
    counted = (measure for measure in catalogue.CATALOGUE if measure.formula is not None)
    return (*first, *(measure for measure in counted if measure.name not in MOVING))


def _usual_first() -> tuple[float, ...]:
    """The usual base rates, that of the sentences first."""
    others = (rate for rate in DEFAULT_BASE_RATES if rate != USUAL_BASE_RATE)
    return (USUAL_BASE_RATE, *others)


def _sweep(evaluation: Evaluation) -> Mapping[str, tuple[float | None, ...]]:
    if evaluation.tally.scores is None:
        return {"threshold": (), "tp": (), "fp": ()}
    swept = evaluation.curves.sweep
    tp, fp = swept.tp, swept.fp
    if swept.weighted:
        tp, fp = _without_noise(tp, swept.positives), _without_noise(fp, swept.negatives)
    number: Any = float if swept.weighted else int
    return {
        "threshold": tuple(finite(t) for t in swept.threshold.tolist()),
        "tp": tuple(number(v) for v in tp.tolist()),
        "fp": tuple(number(v) for v in fp.tolist()),
    }


def _without_noise(sums: Floats, total: float) -> Floats:
    """Sums of weights that never fall and start at an exact 0, which rounding may have undone."""
    cleaned = np.where(sums < _NOISE * total, 0.0, sums)
    return np.minimum(np.maximum.accumulate(cleaned), total)


def _reliability(evaluation: Evaluation) -> Mapping[str, tuple[float, ...]] | None:
    if not evaluation.has_reliability:
        return None
    return {
        name: tuple(column.tolist()) for name, column in evaluation.curves.reliability().items()
    }
