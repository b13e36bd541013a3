"""Is B really better than A? Two or more models on the same rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay import engines
from assay.decisions.comparison import Comparison, Difference
from assay.errors import InputError, LengthMismatch, MethodError
from assay.formula import of_classes
from assay.inference import (
    BCa,
    Bootstrap,
    Quantity,
    Significance,
    cochran_q,
    delong_of,
    holm,
    mcnemar_of,
    method_of,
    paired_bootstrap,
    paired_influence,
    paired_score_bootstrap,
    resampled_clusters,
    resampled_pairs,
)
from assay.measures import catalogue
from assay.sources import Batch, common_labels, from_arrays
from assay.tally import ClusterTally, PairTally, Sample

MARGIN = 0.01
CLUSTERED_NOTE = (
    "rows come in clusters, so McNemar's, Cochran's and DeLong's tests, which take rows as "
    "independent, are left out"
)


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
    level: float | None = None,
    resamples: int = 1000,
    seed: int = 42,
    interval: str | None = None,
    margin: float = MARGIN,
) -> Comparison:
    """Compare models on the same rows.

    Give ``scores`` (name to column), flagged from ``threshold`` on (one number, or one a model), or
    ``decisions``. Differences are B less A: of count measures by the paired bootstrap, of AUC by
    DeLong, of other score measures by each row's influence, or with ``interval="bootstrap"`` by the
    paired bootstrap too. With ``clusters``, clusters take the place of rows. The verdict calls a
    pair equivalent when the whole interval lies within ``margin``.

    >>> truth = ["attack", "normal"] * 30
    >>> good, poor = [0.9, 0.1] * 30, [0.9, 0.1, 0.4, 0.6] * 15
    >>> compare(truth, scores={"poor": poor, "good": good}).verdicts[0][2]
    'good is better than poor: roc_auc is higher by 0.250 [0.121, 0.379].'
    """
    if (scores is None) == (decisions is None):
        raise InputError("give scores= or decisions=, a mapping from model name to column")
    given = scores if scores is not None else decisions
    if not isinstance(given, Mapping):
        raise InputError("models are a mapping from name to column, such as {'old': a, 'new': b}")
    columns = dict(given)
    if len(columns) < 2:
        raise InputError(f"a comparison needs two models or more; found {', '.join(columns)}")
    method, level = method_of(interval or "bootstrap", level)
    if not isinstance(method, Bootstrap) or isinstance(method, BCa):
        raise MethodError(f"differences are resampled by bootstrap; found {interval!r}")
    if decisions is not None and labels is None:
        labels = common_labels(y_true, decisions)
    batches = {}
    for name, column in columns.items():
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
    rows = _Rows(batches, level, replace(method, resamples=resamples, seed=seed))
    if rows.first.clusters is not None and len(set(rows.first.clusters.codes.tolist())) < 2:
        raise MethodError("one cluster tells nothing about the spread between clusters")
    differences: list[Difference] = []
    tests: list[Significance] = []
    for i, j in itertools.combinations(range(len(columns)), 2):
        differences += rows.counted(i, j)
        differences += rows.scored(i, j, resample=interval is not None)
        tests += rows.tests(i, j)
    tests += rows.tests_of_all()
    adjusted = tuple(_adjusted(differences))
    known = iter(holm([found.p for found in tests if not math.isnan(found.p)]))
    tested = tuple(found if math.isnan(found.p) else found.adjusted(next(known)) for found in tests)
    verdicts = tuple(_verdicts(adjusted, list(columns), margin))
    return Comparison(tuple(columns), adjusted, tested, verdicts, rows.notes)


def _adjusted(differences: Sequence[Difference]) -> Iterator[Difference]:
    """Differences with Holm's p over the pairs of models, measure by measure.

    Measures say much the same of one pair, so they are not counted against each other.
    """
    families: dict[str, Iterator[float]] = {}
    for found in differences:
        if found.measure not in families:
            like = [d.p for d in differences if d.measure == found.measure]
            families[found.measure] = iter(holm([p for p in like if not math.isnan(p)]))
        known = families[found.measure]
        yield found if math.isnan(found.p) else replace(found, p_adjusted=next(known))


@dataclass(frozen=True, eq=False)
class _Rows:
    """What all models said of the same rows, counted together."""

    batches: Mapping[str, Batch]
    level: float
    method: Bootstrap

    @property
    def first(self) -> Batch:
        return next(iter(self.batches.values()))

    @property
    def notes(self) -> tuple[str, ...]:
        clustered = (CLUSTERED_NOTE,) if self.first.clusters is not None else ()
        return (*self.first.notes, *clustered)

    def _chosen(self, *models: int) -> dict[str, Batch]:
        named = list(self.batches.items())
        return dict(named[model] for model in models)

    def pairs(self, *models: int) -> PairTally:
        return PairTally.of_codes(
            self.first.labels,
            self.first.truth,
            {name: engines.decide(batch) for name, batch in self._chosen(*models).items()},
            counts=self.first.counts,
        )

    def sample(self, *models: int) -> Sample | None:
        chosen = {
            name: batch.score
            for name, batch in self._chosen(*models).items()
            if batch.score is not None
        }
        if not chosen or len(set(self.first.truth.tolist())) < 2:
            return None
        clusters = self.first.clusters
        return Sample.of_rows(
            self.first.labels,
            self.first.truth,
            chosen,
            cluster=None if clusters is None else clusters.codes,
            clusters=() if clusters is None else clusters.names,
            counts=self.first.counts,
        )

    def counted(self, i: int, j: int) -> Iterator[Difference]:
        """Differences of count measures, all from one draw of resamples."""
        pairs = self.pairs(i, j)
        clusters = self.first.clusters
        if clusters is None:
            tables = resampled_pairs(pairs, self.method)
        else:
            both = [
                ClusterTally.of_codes(
                    batch.labels,
                    batch.truth,
                    engines.decide(batch),
                    clusters.codes,
                    clusters.names,
                    amounts=batch.counts,
                )
                for batch in self._chosen(i, j).values()
            ]
            tables = resampled_clusters(both[0], both[1], self.method)
        for name, quantity in _quantities(binary=self.first.positive is not None):
            yield _difference(
                name,
                paired_bootstrap(pairs, quantity, name=name, method=self.method, tables=tables),
            )

    def scored(self, i: int, j: int, *, resample: bool) -> Iterator[Difference]:
        """Differences of measures of scores."""
        sample = self.sample(i, j)
        if sample is None:
            return
        names = ["roc_auc", "partial_auc", "average_precision"]
        if all(batch.is_probability for batch in self._chosen(i, j).values()):
            names += ["log_loss", "brier"]
        for name in names:
            if resample:
                found = paired_score_bootstrap(sample, name, method=self.method)
            elif name == "roc_auc" and not sample.clusters:
                found = delong_of(sample, level=self.level)
            else:
                found = paired_influence(sample, name, level=self.level)
            yield _difference(name, found)

    def tests(self, i: int, j: int) -> Iterator[Significance]:
        """McNemar's test on all rows, on positives and on negatives; DeLong's."""
        if self.first.clusters is not None:
            return
        pairs = self.pairs(i, j)
        yield mcnemar_of(pairs, level=self.level)
        if self.first.positive is not None:
            for label, on in ((1, "positives"), (0, "negatives")):
                found = mcnemar_of(pairs.of_label(label), level=self.level)
                yield replace(found, on=on, sentence=f"On {on}, {found.sentence}")
        sample = self.sample(i, j)
        if sample is not None:
            yield delong_of(sample, level=self.level)

    def tests_of_all(self) -> Iterator[Significance]:
        """Cochran's test of more than two models."""
        if len(self.batches) > 2 and self.first.clusters is None:
            pairs = self.pairs(*range(len(self.batches)))
            yield cochran_q(pairs.correct(), pairs.counts, names=list(self.batches))


def _quantities(*, binary: bool) -> Iterator[tuple[str, Quantity]]:
    for measure in catalogue.CATALOGUE:
        if measure.formula is None:
            continue
        if binary:
            yield measure.name, Quantity(measure.formula, label=1)
        elif measure.classes is not None:
            yield measure.name, Quantity(measure.classes)
        elif measure.averages:
            yield f"{measure.name}.macro", Quantity(of_classes(measure.formula, "macro"))


def _difference(name: str, found: Significance) -> Difference:
    assert found.effect is not None  # noqa: S101 - tests of two models have one
    return Difference(
        measure=name,
        a=found.models[0],
        b=found.models[1],
        value_a=found.table["a"],
        value_b=found.table["b"],
        difference=found.effect,
        p=found.p,
    )


def _verdicts(
    differences: Sequence[Difference], names: Sequence[str], margin: float
) -> Iterator[tuple[str, str, str]]:
    for a, b in itertools.combinations(names, 2):
        of_pair = {d.measure: d for d in differences if (d.a, d.b) == (a, b)}
        yield a, b, _verdict(of_pair.get("roc_auc", of_pair["accuracy"]), margin)


def _verdict(found: Difference, margin: float) -> str:
    gap, a, b, name = found.difference, found.a, found.b, found.measure
    if gap.low > 0:
        shown = f"{gap:.3f} [{gap.low:.3f}, {gap.high:.3f}]"
        return f"{b} is better than {a}: {name} is higher by {shown}."
    if gap.high < 0:
        shown = f"{-gap:.3f} [{-gap.high:.3f}, {-gap.low:.3f}]"
        return f"{b} is worse than {a}: {name} is lower by {shown}."
    if gap.low == gap.high:
        return f"{a} and {b} can't be told apart: no row tells a difference in {name}."
    if math.isnan(gap.low):
        return f"{a} and {b} can't be told apart: the spread of {name} is not known here."
    if -margin < gap.low and gap.high < margin:
        return f"{a} and {b} are equivalent: {name} differs by less than {margin:g}."
    return (
        f"Not enough data to tell {a} from {b}: the difference in {name} lies between "
        f"{gap.low:+.3f} and {gap.high:+.3f}."
    )
