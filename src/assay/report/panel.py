"""What the page needs to move a threshold, taken from an evaluation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.evaluation.entries import DEFAULT_BASE_RATES
from assay.evaluation.snapshot import Estimated, Snapshot
from assay.measures import Measure, catalogue, find
from assay.measures.shown import MOVING, RANKED_AT_BASE_RATES
from assay.report.deployment import USUAL_BASE_RATE
from assay.report.sections import Panel

# What rounding leaves of a sum of weights that is 0.
_NOISE = 1e-12


def panel_of(evaluation: Snapshot) -> Panel | None:
    """The panel of an evaluation; None for more than two classes, or where labels are missing.

    Without scores its table is empty: then the threshold stands still, and only the base rate
    moves. Where no threshold was given it begins at one, as good as any to begin with.
    """
    if evaluation.positive is None or evaluation.unlabelled is not None:
        return None
    starting = evaluation.starting
    cells = evaluation.confusion.cells if starting is None else starting.confusion
    (tn, fp), (fn, tp) = cells
    found = evaluation.entries if starting is None else starting.estimates
    here = {each.measure: each.estimate for each in found if _of_whole(each, evaluation)}
    measures = _measures()
    rates = evaluation.base_rates or _usual_first()
    negative, positive = evaluation.labels
    return Panel(
        negative=negative,
        positive=positive,
        negatives=tn + fp,
        positives=fn + tp,
        threshold=evaluation.threshold if starting is None else starting.threshold,
        sweep=_sweep(evaluation),
        measures=measures,
        level=evaluation.level,
        base_rates=rates,
        volume=evaluation.volume,
        weighted=evaluation.weighted,
        clustered=evaluation.clustered,
        reliability=_reliability(evaluation),
        shown_at={m.name: here[m.name] for m in measures if m.name in here},
        decided=(tp, fp, fn, tn),
        given=starting is None,
        # The page has no scores to rank anew, so rankings are left to the report's own table.
        deployed={
            rate: {
                each.measure: each.estimate
                for each in found
                if each.base_rate == rate and each.measure not in RANKED_AT_BASE_RATES
            }
            for rate in rates
        },
    )


def _of_whole(each: Estimated, evaluation: Snapshot) -> bool:
    """Whether an estimate is of all rows, and of the positive where it is of one label."""
    whole = each.slice is None and each.base_rate is None and each.average is None
    return whole and each.label in (None, evaluation.positive)


def _measures() -> tuple[Measure, ...]:
    # All others follow in the order of the catalogue.
    first = tuple(find(name) for name in MOVING)
    counted = (measure for measure in catalogue.CATALOGUE if measure.formula is not None)
    return (*first, *(measure for measure in counted if measure.name not in MOVING))


def _usual_first() -> tuple[float, ...]:
    """The usual base rates, that of the sentences first."""
    others = (rate for rate in DEFAULT_BASE_RATES if rate != USUAL_BASE_RATE)
    return (USUAL_BASE_RATE, *others)


def _sweep(evaluation: Snapshot) -> Mapping[str, tuple[float | None, ...]]:
    swept = evaluation.sweep
    if swept is None:
        return {"threshold": (), "tp": (), "fp": ()}
    tp, fp = swept.tp, swept.fp
    if evaluation.weighted:
        tp, fp = _without_noise(tp), _without_noise(fp)
    return {"threshold": swept.threshold, "tp": tp, "fp": fp}


def _without_noise(sums: tuple[float, ...]) -> tuple[float, ...]:
    """Sums of weights that never fall and start at an exact 0, which rounding may have undone."""
    total = sums[-1]
    cleaned = np.where(np.array(sums) < _NOISE * total, 0.0, sums)
    found: list[float] = np.minimum(np.maximum.accumulate(cleaned), total).tolist()
    return tuple(found)


def _reliability(evaluation: Snapshot) -> Mapping[str, tuple[float, ...]] | None:
    found = evaluation.reliability
    return found and {name: tuple(map(float, column)) for name, column in found.items()}
