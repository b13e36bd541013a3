"""Pointwise bands around a curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.curves import Curve
from assay.errors import MethodError
from assay.formula import derivative, evaluate, proportion
from assay.inference.proportions import Wilson
from assay.inference.quantiles import normal


def with_band(curve: Curve, level: float = 0.95) -> Curve:
    """The curve with columns ``low`` and ``high`` around its y measure.

    Pointwise: each threshold is taken as given, so the whole curve lies in the band less often
    than the level says.
    """
    if curve.weighted:
        raise MethodError("a curve of weighted rows has no band: its counts are sums of weights")
    formula = curve.y.formula
    assert formula is not None  # noqa: S101 - a curve is traced from a formula
    share = proportion(formula)
    y = curve.columns[curve.y.name]
    if share is not None:
        low, high = Wilson(level)(
            evaluate(share.successes, curve.cells), evaluate(share.trials, curve.cells)
        )
    else:
        gradients = [
            curve.cells[cell] * evaluate(derivative(formula, cell), curve.cells) ** 2
            for cell in ("TP", "FP", "FN", "TN")
        ]
        error = normal(level) * np.sqrt(np.nansum(gradients, axis=0))
        floor, ceiling = curve.y.range
        low, high = np.clip(y - error, floor, ceiling), np.clip(y + error, floor, ceiling)
    return replace(curve, columns={**curve.columns, "low": low, "high": high})
