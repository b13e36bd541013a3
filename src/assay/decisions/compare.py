"""Is B really better than A? Two or more models on the same rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay import engines
from assay.errors import InputError, LengthMismatch
from assay.formula import of_classes
from assay.inference import (
    Bootstrap,
    Estimate,
    Quantity,
    Significance,
    cochran_q,
    delong_of,
    holm,
    mcnemar_of,
    paired_bootstrap,
)
from assay.inference.quantiles import normal, normal_p, student, student_p
from assay.measures import (
    MAX_FPR,
    Influence,
    Measure,
    ap_influence,
    catalogue,
    correct_partial,
    partial_influence,
)
from assay.sources import Batch, from_arrays
from assay.tally import PairTally, Sample, ScoreTally
from assay.tally.sums import SMALLEST_PROBABILITY

Floats: TypeAlias = npt.NDArray[np.float64]

SCHEMA = "assay.compare/1"
MARGIN = 0.01


@dataclass(frozen=True)
class Difference:
    """A measure of two models, and B less A with its paired interval."""

    measure: str
    a: str
    b: str
    value_a: float
    value_b: float
    difference: Estimate
    p: float
    p_adjusted: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The difference as the plain values of the contract."""
        return {
            "measure": self.measure,
            "a": self.a,
            "b": self.b,
            "value_a": _finite(self.value_a),
            "value_b": _finite(self.value_b),
            "difference": _finite(float(self.difference)),
            "low": _finite(self.difference.low),
            "high": _finite(self.difference.high),
            "p": _finite(self.p),
            "p_adjusted": self.p_adjusted,
            "method": self.difference.method,
        }


@dataclass(frozen=True)
class Comparison:
    """What a comparison found: differences, tests, and a sentence for each pair."""

    models: tuple[str, ...]
    differences: tuple[Difference, ...]
    tests: tuple[Significance, ...]
    verdicts: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...] = ()

    def difference(self, measure: str, a: str | None = None, b: str | None = None) -> Difference:
        """The difference of one measure between two models, by default the first two."""
        a, b = a or self.models[0], b or self.models[1]
        for found in self.differences:
            if (found.measure, found.a, found.b) == (measure, a, b):
                return found
        raise InputError(f"there is no difference of {measure!r} between {a!r} and {b!r}")

    def to_dict(self) -> dict[str, Any]:
        """The comparison as the plain values of the contract, ready for JSON."""
        return {
            "schema": SCHEMA,
            "models": list(self.models),
            "differences": [found.to_dict() for found in self.differences],
            "tests": [_test(found) for found in self.tests],
            "verdicts": [{"a": a, "b": b, "text": text} for a, b, text in self.verdicts],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        lines = [f"Comparison of {', '.join(self.models)}", ""]
        width = max((len(found.measure) for found in self.differences), default=0)
        for found in self.differences:
            lines.append(
                f"{found.measure:<{width}}  {found.a} {found.value_a:.3f}  {found.b} "
                f"{found.value_b:.3f}  difference {found.difference}"
            )
        return "\n".join([*lines, "", *map(str, self.tests), "", *(v[2] for v in self.verdicts)])


def compare(
    y_true: Any,
    *,
    scores: Mapping[str, Any] | None = None,
    decisions: Mapping[str, Any] | None = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    counts: Any = None,
    clusters: Any = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 42,
    margin: float = MARGIN,
) -> Comparison:
    """Compare models on the same rows.

    Give ``scores`` (name to column), flagged from ``threshold`` on (one number, or one a model), or
    ``decisions``. Differences are B less A: of count measures by the paired bootstrap, of AUC by
    DeLong, of other score measures by each row's influence. With ``clusters`` the measures of scores
    take them into account, and count measures have no difference tested here.

    >>> truth = ["attack", "normal"] * 30
    >>> good, poor = [0.9, 0.1] * 30, [0.9, 0.1, 0.4, 0.6] * 15
    >>> compare(truth, scores={"poor": poor, "good": good}).verdicts[0][2]
    'good is better than poor: roc_auc is higher by 0.250 [0.139, 0.361].'
    """
    names = list(scores or decisions or {})
    if bool(scores) == bool(decisions):
        raise InputError("give scores= or decisions=, a mapping from the model's name to its column")
    if len(names) < 2:
        raise InputError(f"a comparison needs two models or more; found {', '.join(names)}")
    batches = {}
    for name, column in (scores or decisions or {}).items():
        chosen = threshold.get(name) if isinstance(threshold, Mapping) else threshold
        said = {"y_score": column, "threshold": chosen} if scores else {"y_pred": column}
        try:
            batches[name] = from_arrays(
                y_true,
                positive=positive,
                negative=negative,
                labels=labels,
                counts=counts,
                clusters=clusters,
                **said,
            )
        except LengthMismatch as mismatch:
            raise LengthMismatch(f"model {name!r}: {mismatch}") from mismatch
    batches = _alike(batches, y_true, positive, negative, labels, counts, decisions)
    first = next(iter(batches.values()))
    pairs = PairTally.of_codes(
        first.labels,
        first.truth,
        {name: engines.decide(batch) for name, batch in batches.items()},
        counts=first.counts,
    )
    sample = None
    if scores:
        sample = Sample.of_rows(
            first.labels,
            first.truth,
            {name: batch.score for name, batch in batches.items() if batch.score is not None},
            cluster=None if first.clusters is None else first.clusters.codes,
            clusters=() if first.clusters is None else first.clusters.names,
            counts=first.counts,
        )
    method = Bootstrap(level, resamples, seed)
    probability = all(batch.is_probability for batch in batches.values())
    differences: list[Difference] = []
    tests: list[Significance] = []
    for i, j in itertools.combinations(range(len(names)), 2):
        two = pairs.of_models(i, j)
        if first.clusters is None:
            differences += _counted(two, first.positive is not None, method)
            tests += _tests(two, first.positive is not None, level)
        if sample is not None:
            part = _of_models(sample, i, j)
            differences += _scored(part, probability, level)
            if first.clusters is None:
                tests.append(replace(delong_of(part, level=level), on="all"))
    if len(names) > 2 and first.clusters is None:
        tests.append(cochran_q(pairs.correct(), pairs.counts, names=names))
    return Comparison(
        tuple(names),
        tuple(_holm(differences)),
        tuple(_holm_tests(tests)),
        tuple(_verdicts(differences, names, margin)),
        first.notes,
    )


def _alike(
    batches: dict[str, Batch],
    y_true: Any,
    positive: Any,
    negative: Any,
    labels: Any,
    counts: Any,
    decisions: Mapping[str, Any] | None,
) -> dict[str, Batch]:
    """All models must be coded by the same labels; a label only one of them decides is added."""
    found = {batch.labels for batch in batches.values()}
    if len(found) == 1 or decisions is None:
        return batches
    union = list(dict.fromkeys(label for names in found for label in names))
    original = {str(v): v for v in union}
    return {
        name: from_arrays(
            y_true,
            y_pred=column,
            positive=positive,
            negative=negative,
            labels=labels or list(original.values()),
            counts=counts,
        )
        for name, column in decisions.items()
    }


def _of_models(sample: Sample, *models: int) -> Sample:
    return Sample.of_rows(
        sample.labels,
        sample.truth,
        {sample.models[model]: sample.scores[:, model] for model in models},
        cluster=sample.cluster if sample.clusters else None,
        clusters=sample.clusters,
        counts=sample.counts,
    )


# -- decisions -------------------------------------------------------------------------------------


def _quantities(binary: bool) -> Iterator[tuple[str, Quantity]]:
    for measure in catalogue.CATALOGUE:
        if measure.formula is None:
            continue
        if binary:
            yield measure.name, Quantity(measure.formula, label=1)
        elif measure.classes is not None:
            yield measure.name, Quantity(measure.classes)
        elif measure.averages:
            yield f"{measure.name}.macro", Quantity(of_classes(measure.formula, "macro"))


def _counted(pairs: PairTally, binary: bool, method: Bootstrap) -> Iterator[Difference]:
    for name, quantity in _quantities(binary):
        found = paired_bootstrap(pairs, quantity, name=name, method=method)
        assert found.effect is not None  # noqa: S101 - a bootstrap has one
        yield Difference(
            name, *pairs.models, found.table["a"], found.table["b"], found.effect, found.p
        )


def _tests(pairs: PairTally, binary: bool, level: float) -> Iterator[Significance]:
    yield mcnemar_of(pairs, level=level)
    if binary:
        for label, on in ((1, "positives"), (0, "negatives")):
            yield replace(mcnemar_of(pairs.of_label(label), level=level), on=on)


# -- scores ----------------------------------------------------------------------------------------


def _scored(sample: Sample, probability: bool, level: float) -> Iterator[Difference]:
    if len(np.unique(sample.truth)) < 2:
        return
    auc = delong_of(sample, level=level)
    assert auc.effect is not None  # noqa: S101 - DeLong's test has one
    if not sample.clusters:
        values = auc.table["auc"]
        yield Difference("roc_auc", *sample.models, values[0], values[1], auc.effect, auc.p)
    else:
        yield _influenced(sample, "roc_auc", _auc_influence, level)
    yield _influenced(sample, "partial_auc", _partial_influence, level)
    yield _influenced(sample, "average_precision", ap_influence, level)
    if probability:
        for name in ("log_loss", "brier"):
            yield _mean_difference(sample, name, level)


def _auc_influence(tally: ScoreTally) -> Influence:
    from assay.measures import auc_influence

    return auc_influence(tally)


def _partial_influence(tally: ScoreTally) -> Influence:
    found = partial_influence(tally)
    value, stretch = correct_partial(found.value, MAX_FPR)
    return Influence(value, found.positive * stretch, found.negative * stretch)


def _influenced(
    sample: Sample, name: str, influence: Callable[[ScoreTally], Influence], level: float
) -> Difference:
    """The difference of a score measure, by how much each row moves it."""
    values, moves = [], []
    for model in (0, 1):
        tally = sample.score_tally(model)
        found = influence(tally)
        at = np.searchsorted(tally.scores, sample.scores[:, model])
        values.append(found.value)
        moves.append(np.where(sample.truth == 1, found.positive[at], found.negative[at]))
    return _difference(sample, name, values, moves[1] - moves[0], level)


def _mean_difference(sample: Sample, name: str, level: float) -> Difference:
    losses = []
    for model in (0, 1):
        score = sample.scores[:, model]
        given = np.where(sample.truth == 1, score, 1 - score)
        if name == "log_loss":
            losses.append(-np.log(np.maximum(given, SMALLEST_PROBABILITY)))
        else:
            losses.append((score - sample.truth) ** 2)
    n = sample.counts.sum()
    values = [float((loss * sample.counts).sum() / n) for loss in losses]
    gap = losses[1] - losses[0]
    return _difference(sample, name, values, (gap - (values[1] - values[0])) / n, level)


def _difference(
    sample: Sample, name: str, values: list[float], moves: Floats, level: float
) -> Difference:
    value = values[1] - values[0]
    counts = sample.counts
    n = int(counts.sum())
    if sample.clusters:
        count = len(sample.clusters)
        sums = np.bincount(sample.cluster, moves * counts, minlength=count)
        variance = float(np.square(sums).sum()) * count / max(count - 1, 1)
        reach, how = student(level, max(count - 1, 1)), "cluster delta"
    else:
        variance = float((counts * moves**2).sum())
        count, reach, how = 0, normal(level), "delta"
    error = math.sqrt(variance)
    if error == 0:
        p = 1.0 if value == 0 else math.nan
    else:
        p = student_p(value / error, count - 1) if count > 1 else normal_p(value / error)
    note = None if error or value == 0 else "no row tells the models apart in size"
    found = Estimate(
        value, value - reach * error, value + reach * error, method=how, n=n, level=level, note=note
    )
    return Difference(name, *sample.models, values[0], values[1], found, p)


# -- all together ----------------------------------------------------------------------------------


def _holm(differences: Sequence[Difference]) -> Iterator[Difference]:
    known = [found.p for found in differences if not math.isnan(found.p)]
    adjusted = iter(holm(known))
    for found in differences:
        yield found if math.isnan(found.p) else replace(found, p_adjusted=next(adjusted))


def _holm_tests(tests: Sequence[Significance]) -> Iterator[Significance]:
    known = [found.p for found in tests if not math.isnan(found.p)]
    adjusted = iter(holm(known))
    for found in tests:
        yield found if math.isnan(found.p) else found.adjusted(next(adjusted))


def _verdicts(
    differences: Sequence[Difference], names: Sequence[str], margin: float
) -> Iterator[tuple[str, str, str]]:
    for a, b in itertools.combinations(names, 2):
        of_pair = {d.measure: d for d in differences if (d.a, d.b) == (a, b)}
        found = of_pair.get("roc_auc") or of_pair.get("accuracy")
        if found is None:
            yield a, b, f"{a} and {b} can't be told apart: no measure has a tested difference."
            continue
        yield a, b, _verdict(found, margin)


def _verdict(found: Difference, margin: float) -> str:
    gap = found.difference
    shown = f"[{abs(gap.low):.3f}, {abs(gap.high):.3f}]"
    if gap.low > 0:
        return f"{found.b} is better than {found.a}: {found.measure} is higher by {gap:.3f} {shown}."
    if gap.high < 0:
        shown = f"[{-gap.high:.3f}, {-gap.low:.3f}]"
        return f"{found.b} is worse than {found.a}: {found.measure} is lower by {-gap:.3f} {shown}."
    if -margin < gap.low and gap.high < margin:
        return (
            f"{found.a} and {found.b} are equivalent: {found.measure} differs by less than "
            f"{margin:g}."
        )
    return (
        f"Not enough data to tell {found.a} from {found.b}: the difference in {found.measure} lies "
        f"between {gap.low:+.3f} and {gap.high:+.3f}."
    )


def _test(found: Significance) -> dict[str, Any]:
    plain = found.to_dict()
    names = found.table
    return {**plain, "a": names.get("a"), "b": names.get("b"), "p": _finite(found.p)}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


