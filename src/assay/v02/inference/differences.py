"""The difference of any measure between two models on the same rows.

Of formulas of decisions by the paired bootstrap: both models are resampled together. Of measures of
scores by the influence of each row on either model, or by the paired bootstrap; of the AUC by
DeLong's paired test. Where rows come in clusters, clusters take the place of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.models import ModelRows
from assay.errors import MethodError
from assay.v02.inference.bootstrap import BCa, Bootstrap, each_once, redrawn
from assay.v02.inference.delta import ALONE, LONE_CLASS
from assay.v02.inference.estimate import Estimate, Quantity
from assay.v02.inference.score_intervals import cluster_spread, has_lone_class, rests_on_one_cluster
from assay.v02.inference.significance import (
    Significance,
    check_level,
    normal,
    normal_p,
    pair_names,
    student,
    student_p,
)
from assay.v02.measures import ROC_AUC, ByRow, ClassAverage, MeanLoss, Measure, OverPairs, Ranked, rank
from assay.v02.number_text import decimal, p_text
from assay.v02.sources import code_arrays, must_share_index
from assay.v02.tally import ClusterTally, PairTally, Sample

Floats: TypeAlias = npt.NDArray[np.float64]

_LONE_CLASS = f"{LONE_CLASS}: judge more clusters with such rows, or leave clusters out"


# -- decisions -------------------------------------------------------------------------------------


def resampled_pairs(pairs: PairTally, method: Bootstrap) -> tuple[Floats, Floats]:
    """Resampled confusion matrices of both models, drawn together from the joint table."""
    total = pairs.total
    if not total:
        raise MethodError("there are no rows to resample")
    draws = np.random.default_rng(method.seed).multinomial(
        total, pairs.counts / total, size=method.resamples
    )
    size = len(pairs.labels)
    tables = []
    for model in (1, 2):
        cell = pairs.codes[:, 0].astype(np.int64) * size + pairs.codes[:, model]
        spread = np.zeros((len(cell), size * size))
        spread[np.arange(len(cell)), cell] = 1
        tables.append((draws @ spread).reshape(len(draws), size, size))
    return tables[0], tables[1]


def resampled_clusters(
    a: ClusterTally, b: ClusterTally, method: Bootstrap
) -> tuple[Floats, Floats]:
    """The same when whole clusters are drawn."""
    if a.clusters != b.clusters:
        raise MethodError("both models must be counted on the same clusters")
    draws = np.random.default_rng(method.seed).multinomial(
        a.size, np.full(a.size, 1 / a.size), size=method.resamples
    )
    first, second = (
        np.einsum("rc,cij->rij", draws.astype(np.float64), one.cells.astype(np.float64))
        for one in (a, b)
    )
    return first, second


def paired_bootstrap(
    pairs: PairTally,
    quantity: Quantity,
    *,
    name: str = "the measure",
    method: Bootstrap | None = None,
    tables: tuple[Floats, Floats] | None = None,
) -> Significance:
    """The difference B less A of a formula of the decisions, with its interval and p.

    ``tables`` are resampled tables of both models, so that many formulas share one draw.
    """
    method = method or Bootstrap()
    a, b = (quantity.value(pairs.confusion(model)) for model in (0, 1))
    drawn = tables or resampled_pairs(pairs, method)
    draws = quantity.of_tables(drawn[1]) - quantity.of_tables(drawn[0])
    return _resampled(a, b, draws, method, pairs.models, name, pairs.total)


# -- scores ----------------------------------------------------------------------------------------


def paired_influence(
    sample: Sample,
    measure: Measure,
    *,
    average: str | None = None,
    level: float = 0.95,
    known: Sequence[Estimate] = (),
) -> Significance:
    """The difference B less A of a measure of scores, by how much each row moves it.

    ``average`` is macro or weighted, of a ranking of more than two classes. ``known`` are the
    estimates of both models where more is known than the sample tells; see :func:`delong_of`.
    """
    values, moves = [], []
    declared = _by_row(measure, average, sample)
    for model in (0, 1):
        value, move = declared.moves(sample, model)
        values.append(value)
        moves.append(move)
    values = [float(estimate) for estimate in known] or values
    difference, off = values[1] - values[0], moves[1] - moves[0]
    low, high = bound = difference_bound(difference, known)
    nearest = min(max(low, 0.0), high)
    df = math.inf
    if sample.clusters:
        must_spread(sample.cluster, sample.truth)
        between = cluster_spread(sample, declared, off)
        lone = not math.isnan(difference) and rests_on_one_cluster(sample, declared)
        if lone or between is None:
            raise MethodError(_LONE_CLASS)
        variance, df = between
        reach, how = student(level, df), "cluster delta"
    else:
        variance = float((sample.counts * off**2).sum())
        reach, how = normal(level), "delta"
    error = math.sqrt(variance)
    if error == 0:
        p = 1.0 if nearest == 0 else math.nan
    else:
        p = normal_p(nearest / error) if math.isinf(df) else student_p(nearest / error, df)
    effect = Estimate(
        difference,
        low - reach * error,
        high + reach * error,
        method=how,
        n=int(sample.counts.sum()),
        level=level,
        undefined="undefined for one of the models" if math.isnan(difference) else None,
        bound=bound if low < high else None,
    )
    name = key_of(measure, average)
    return _result(values, effect, p, sample.models, name, {"standard_error": error})


def paired_scores(
    sample: Sample,
    measure: Measure,
    *,
    average: str | None = None,
    level: float = 0.95,
    known: Sequence[Estimate] = (),
) -> Significance:
    """The difference of a measure of scores: DeLong's of the AUC of rows, else by influence."""
    if measure == ROC_AUC and not sample.clusters and sample.width == 1:
        return delong_of(sample, level=level, known=known)
    return paired_influence(sample, measure, average=average, level=level, known=known)


def has_difference(measure: Measure) -> bool:
    """Whether a measure of scores says how each row moves it, so that its difference is sure."""
    return isinstance(measure.of_scores, Ranked | MeanLoss)


def differences_of_classes(measure: Measure) -> tuple[str | None, ...]:
    """The averages of a measure of class probabilities whose differences are sure.

    None stands for the measure itself, where that is of all classes.
    """
    match measure.of_scores:
        case Ranked() if measure.averages:
            return "macro", "weighted"
        case OverPairs():
            return (None,)
        case MeanLoss(of_classes=of_classes) if of_classes is not None:
            return (None,)
    return ()


def key_of(measure: Measure, average: str | None) -> str:
    """The name of a measure, with its average where there is one."""
    return measure.name if average is None else f"{measure.name}.{average}"


def _by_row(measure: Measure, average: str | None, sample: Sample) -> ByRow:
    """What says how a row moves a measure: of one score, or of a probability a class."""
    classes = sample.width > 1
    match measure.of_scores:
        case Ranked() as ranked if classes and average is not None:
            return ClassAverage(ranked, weighted=average == "weighted")
        case Ranked() as declared if not classes:
            return declared
        case MeanLoss() as declared if not classes or declared.of_classes is not None:
            return declared
        case OverPairs() as declared if classes:
            return declared
    raise MethodError(
        f"{measure.name} does not say how a row moves it, so how sure a difference of it is "
        f"can't be told"
    )


def paired_score_bootstrap(
    sample: Sample,
    measure: Measure,
    *,
    average: str | None = None,
    method: Bootstrap | None = None,
    known: Sequence[Estimate] = (),
    draws: Floats | None = None,
) -> Significance:
    """The difference B less A of a measure of scores, by resampling rows, or clusters.

    ``known`` are the estimates of both models where more is known than the sample tells: resamples
    then say by how much a difference moves. ``draws`` are differences that were resampled before.
    """
    method = method or Bootstrap()
    declared = _by_row(measure, average, sample)
    a, b = (declared.resampled(sample, model, sample.counts) for model in (0, 1))
    if sample.clusters:
        must_spread(sample.cluster, sample.truth)
        if not math.isnan(b - a) and rests_on_one_cluster(sample, declared):
            raise MethodError(_LONE_CLASS)
    if draws is None:
        (draws,) = resampled_scores(sample, [(measure, average)], method)
    moved = 0.0
    if known:
        moved = float(known[1]) - float(known[0]) - (b - a)
        a, b = (float(estimate) for estimate in known)
    total = int(sample.counts.sum())
    difference = _resampled(
        a, b, draws + moved, method, sample.models, key_of(measure, average), total
    )
    if not known or difference.effect is None:
        return difference
    low, high = bound = difference_bound(b - a, known)
    wider = difference.effect.changed(
        low=difference.effect.low + low - (b - a),
        high=difference.effect.high + high - (b - a),
        bound=bound if low < high else None,
    )
    nearest = draws + moved + min(max(low, 0.0), high) - (b - a)
    return replace(difference, effect=wider, p=_p(nearest[~np.isnan(nearest)]))


def resampled_scores(
    sample: Sample,
    measures: Sequence[tuple[Measure, str | None]],
    method: Bootstrap,
    progress: Callable[[int, int], None] | None = None,
) -> list[Floats]:
    """The differences of measures of scores, with their averages, in each resample.

    All of them are read off the same resamples, so the rows are drawn and counted once.
    """
    declared = [_by_row(measure, average, sample) for measure, average in measures]

    def differences(counts: npt.NDArray[np.int64]) -> list[float]:
        a, b = ([each.resampled(sample, model, counts) for each in declared] for model in (0, 1))
        return [after - before for before, after in zip(a, b, strict=True)]

    def drawn() -> Iterator[npt.NDArray[np.int64]]:
        generator = np.random.default_rng(method.seed)
        for done in range(method.resamples):
            if progress is not None:
                progress(done, method.resamples)
            yield redrawn(sample, generator)

    return list(np.array(each_once(drawn(), differences)).T)


def must_spread(cluster: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
    """Refuse rows whose clusters do not tell how clusters spread: one, or one of a class of two."""
    if len(np.unique(cluster)) == 1:
        raise MethodError(ALONE)
    if len(np.unique(truth)) == 2 and has_lone_class(cluster, truth):
        raise MethodError(_LONE_CLASS)


# -- results ---------------------------------------------------------------------------------------


def _resampled(
    a: float,
    b: float,
    draws: Floats,
    method: Bootstrap,
    models: tuple[str, ...],
    name: str,
    n: int,
) -> Significance:
    if isinstance(method, BCa):
        raise MethodError("differences have the plain percentile bootstrap: bootstrap, not bca")
    difference = b - a
    interval = method.ends(draws, difference, None)
    effect = Estimate(
        difference,
        min(interval.low, difference),
        max(interval.high, difference),
        method=method.name,
        n=n,
        level=method.level,
        undefined="undefined for one of the models" if math.isnan(difference) else None,
        note=interval.note,
    )
    p = math.nan if math.isnan(difference) else _p(draws[~np.isnan(draws)])
    sums = {"drawn": interval.drawn, "undefined": interval.undefined}
    return _result([a, b], effect, p, models, name, sums)


def _result(
    values: list[float],
    effect: Estimate,
    p: float,
    models: tuple[str, ...],
    name: str,
    sums: Mapping[str, Any],
) -> Significance:
    first, second = models
    if math.isnan(effect):
        verdict = "undefined for one of them"
    elif math.isnan(p):
        verdict = "nothing varies between rows, so nothing can be said"
    elif p < 1 - effect.level:
        verdict = f"{second if effect > 0 else first} is higher ({p_text(p)})"
    else:
        verdict = f"no difference is shown ({p_text(p)})"
    return Significance(
        test="paired_bootstrap" if "drawn" in sums else "paired_influence",
        statistic=None,
        df=(),
        p=p,
        method=effect.method,
        sentence=f"{name} is {decimal(values[0], 4)} for {first} and {decimal(values[1], 4)} for "
        f"{second}: {verdict}.",
        effect=effect,
        table={"a": values[0], "b": values[1], **sums},
        models=models,
    )


def _p(draws: Floats) -> float:
    """Two-sided: twice the share of resamples on the other side of zero, never quite 0."""
    if not len(draws):
        return math.nan
    smaller = min(int(np.count_nonzero(draws <= 0)), int(np.count_nonzero(draws >= 0)))
    return min(1.0, 2 * (smaller + 1) / (len(draws) + 1))


# -- DeLong's paired test --------------------------------------------------------------------------


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
    placed = [placements(sample, model) for model in range(len(sample.models))]
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
    level = check_level(level)
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
    aucs, cov = covariance(sample)
    if known:
        aucs = np.array([float(auc) for auc in known])
    difference = float(aucs[1] - aucs[0])
    low, high = bound = difference_bound(difference, known)
    nearest = min(max(low, 0.0), high)
    variance = float(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    first, second = sample.models
    z: float | None
    # Differences of rounding alone are no spread, and that of one row is not known.
    if not variance > 1e-14 * float(cov[0, 0] + cov[1, 1]):
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
