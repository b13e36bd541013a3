"""The difference of any measure between two models on the same rows, by the paired bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference.bootstrap import Bootstrap
from assay.inference.estimate import Estimate
from assay.inference.quantity import Quantity
from assay.inference.significance import Significance, p_text
from assay.tally import PairTally, Sample, ScoreTally

Floats: TypeAlias = npt.NDArray[np.float64]


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
        tables.append((draws @ spread).reshape(-1, size, size))
    return tables[0], tables[1]


def paired_bootstrap(
    pairs: PairTally, quantity: Quantity, *, name: str = "", method: Bootstrap | None = None
) -> Significance:
    """The difference B less A of a formula of the decisions, with its interval and p."""
    method = method or Bootstrap()
    a, b = (quantity.value(pairs.confusion(model)) for model in (0, 1))
    first, second = (quantity.of_tables(table) for table in resampled_pairs(pairs, method))
    return _result(a, b, second - first, method, pairs.models, name, pairs.total)


def paired_score_bootstrap(
    sample: Sample,
    measure: Callable[[ScoreTally], float],
    *,
    name: str = "",
    method: Bootstrap | None = None,
) -> Significance:
    """The difference B less A of a measure of the scores, with its interval and p.

    Whole rows are resampled, so both models see the same ones; where the sample has clusters,
    whole clusters are.
    """
    method = method or Bootstrap()
    generator = np.random.default_rng(method.seed)
    draws: list[float] = []
    for _ in range(method.resamples):
        counts = _redrawn(sample, generator)
        values = [measure(_scored(sample, model, counts)) for model in (0, 1)]
        draws.append(values[1] - values[0])
    a, b = (measure(_scored(sample, model, sample.counts)) for model in (0, 1))
    return _result(
        a, b, np.array(draws), method, sample.models, name, int(sample.counts.sum())
    )


def _redrawn(sample: Sample, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    if sample.clusters:
        count = len(sample.clusters)
        often = generator.multinomial(count, np.full(count, 1 / count))
        return np.asarray(sample.counts * often[sample.cluster])
    total = int(sample.counts.sum())
    return np.asarray(generator.multinomial(total, sample.counts / total))


def _scored(sample: Sample, model: int, counts: Any) -> ScoreTally:
    kept = counts > 0
    return ScoreTally.of_rows(
        sample.labels, sample.scores[kept, model], sample.truth[kept], counts=counts[kept]
    )


def _result(
    a: float,
    b: float,
    draws: Floats,
    method: Bootstrap,
    models: tuple[str, ...],
    name: str,
    n: int,
) -> Significance:
    difference = b - a
    found = method.ends(draws, difference, None)
    p = _p(draws[~np.isnan(draws)]) if not math.isnan(difference) else math.nan
    first, second = models
    if math.isnan(difference):
        verdict = "undefined for one of them"
    elif p < 1 - method.level:
        verdict = f"{second if difference > 0 else first} is higher ({p_text(p)})"
    else:
        verdict = f"no difference is shown ({p_text(p)})"
    return Significance(
        test="paired_bootstrap",
        statistic=None,
        df=(),
        p=p,
        method=method.name,
        sentence=f"{name or 'the measure'} is {a:.4f} for {first} and {b:.4f} for {second}: "
        f"{verdict}.",
        effect=Estimate(
            difference,
            min(found.low, difference),
            max(found.high, difference),
            method=method.name,
            n=n,
            level=method.level,
            note=found.note,
        ),
        table={"a": a, "b": b, "drawn": found.drawn, "undefined": found.undefined},
    )


def _p(draws: Floats) -> float:
    """Two-sided: twice the share of resamples on the other side of zero, never quite 0."""
    if not len(draws):
        return math.nan
    smaller = min(np.count_nonzero(draws <= 0), np.count_nonzero(draws >= 0))
    return min(1.0, 2 * (smaller + 1) / (len(draws) + 1))
