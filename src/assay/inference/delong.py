"""Do two models rank the same rows equally well? DeLong's paired test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.models import ModelRows
from assay.errors import MethodError
from assay.inference.estimate import Estimate, decimal
from assay.inference.quantiles import normal, normal_p
from assay.inference.significance import Significance, p_text, pair_names
from assay.measures import rank
from assay.sources import code_arrays, must_share_index
from assay.tally import Sample

Floats: TypeAlias = npt.NDArray[np.float64]


def placements(sample: Sample, model: int) -> tuple[Floats, float]:
    """For each row, the share of the other class that it is ranked right against; and the AUC.

    Ties count half.
    """
    tally = sample.score_tally(model)
    q, p = tally.counts.astype(np.int64)
    negatives, positives = int(q.sum()), int(p.sum())
    below_q, above_p = np.cumsum(q) - q, positives - np.cumsum(p)
    at = np.searchsorted(tally.scores, sample.scores[:, model])
    share = np.where(
        sample.truth == 1,
        (2 * below_q + q)[at] / (2 * negatives),
        (2 * above_p + p)[at] / (2 * positives),
    )
    return share, rank(tally).auc.value


def covariance(sample: Sample) -> tuple[Floats, Floats]:
    """The AUC of each model and their covariance matrix (DeLong et al. 1988)."""
    return _covariance(sample, [placements(sample, i) for i in range(len(sample.models))])


def _covariance(sample: Sample, placed: Sequence[tuple[Floats, float]]) -> tuple[Floats, Floats]:
    aucs = np.array([auc for _, auc in placed])
    shares = np.stack([share for share, _ in placed])
    total = np.zeros((len(aucs), len(aucs)))
    for side in (0, 1):
        rows = sample.truth == side
        counts = sample.counts[rows].astype(np.float64)
        n = counts.sum()
        if n < 2:
            return aucs, np.full_like(total, math.nan)
        off = shares[:, rows] - aucs[:, None]
        total += np.einsum("an,bn,n->ab", off, off, counts) / (n - 1) / n
    return aucs, total


def delong_test(
    y_true: Any,
    a: Any,
    b: Any,
    *,
    positive: Any = None,
    level: float = 0.95,
    names: Sequence[str] | None = None,
) -> Significance:
    """DeLong's paired test of two score columns on the same rows, which may name the models.

    Reference: DeLong, DeLong and Clarke-Pearson 1988.

    >>> print(delong_test([0, 0, 1, 1, 0, 1], [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]))
    A has AUC 0.778, B 0.667: no difference is shown (p = 0.48).
    """
    must_share_index({"y_true": y_true, "a": a, "b": b})
    first, second = pair_names(a, b, names)
    coded = {name: code_arrays(y_true, y_score=s) for name, s in ((first, a), (second, b))}
    rows = ModelRows.of(coded, {}, positive=positive)
    scores = {name: own.score for name, own in coded.items() if own.score is not None}
    return delong_of(Sample.of_rows(rows.labels, rows.truth, scores), level=level)


def delong_of(
    sample: Sample, *, level: float = 0.95, known: Sequence[Estimate] = ()
) -> Significance:
    """DeLong's paired test on a sample of two models.

    ``known`` are the AUCs of both where more is known of them than the sample tells, as where its
    rows are pairs of cells. Then the sample tells their covariance alone; the interval holds the
    bounds of the difference, and p is that of the difference within them that is nearest to 0.
    """
    if len(sample.models) != 2:
        raise MethodError(f"DeLong's test compares two models; found {len(sample.models)}")
    if len(np.unique(sample.truth)) < 2:
        raise MethodError("DeLong's test needs positives and negatives; there is only one of them")
    placed = [placements(sample, model) for model in (0, 1)]
    aucs, cov = _covariance(sample, placed)
    if known:
        aucs = np.array([float(auc) for auc in known])
    difference = float(aucs[1] - aucs[0])
    low, high = bound = difference_bound(difference, known)
    nearest = min(max(low, 0.0), high)
    variance = float(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    first, second = sample.models
    z: float | None
    same = np.array_equal(placed[0][0], placed[1][0])
    # Differences of rounding alone are no spread.
    if same or not variance > 1e-14 * float(cov[0, 0] + cov[1, 1]):
        z, p = (0.0, 1.0) if nearest == 0 else (None, math.nan)
    else:
        z = nearest / math.sqrt(variance)
        p = normal_p(z)
    if math.isnan(p):
        verdict = "their spread can't be told from these rows"
    elif p < 1 - level:
        verdict = f"{second if difference > 0 else first} ranks better ({p_text(p)})"
    else:
        verdict = f"no difference is shown ({p_text(p)})"
    reach = normal(level) * math.sqrt(max(variance, 0.0)) if not math.isnan(p) else math.nan
    return Significance(
        test="delong",
        statistic=z,
        df=(),
        p=p,
        method="paired",
        sentence=f"{first} has AUC {decimal(aucs[0])}, {second} {decimal(aucs[1])}: {verdict}.",
        effect=Estimate(
            difference,
            max(low - reach, -1),
            min(high + reach, 1),
            method="delong",
            n=int(sample.counts.sum()),
            level=level,
            bound=bound if low < high else None,
        ),
        table={"a": float(aucs[0]), "b": float(aucs[1]), "covariance": cov.tolist()},
        models=sample.models,
    )


def difference_bound(difference: float, known: Sequence[Estimate]) -> tuple[float, float]:
    """Between which values B less A lies, where bounds of both are known; else the difference."""
    ends = [estimate.bound or (float(estimate),) * 2 for estimate in known]
    if not ends:
        return difference, difference
    (low_a, high_a), (low_b, high_b) = ends
    return min(low_b - high_a, difference), max(high_b - low_a, difference)
