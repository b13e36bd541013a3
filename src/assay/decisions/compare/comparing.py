"""Is B really better than A? Two or more models on the same rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.decisions.compare.comparison import Comparison, Difference
from assay.decisions.compare.flips import DecidedRows
from assay.decisions.compare.models import Models, Pair, scored
from assay.decisions.compare.thresholds import (
    Together,
    chosen_of_cells,
    chosen_of_rows,
    is_chosen,
    levels_of,
    thresholds_of,
)
from assay.decisions.compare.verdicts import MARGIN, Size, checked_margin, verdict
from assay.decisions.optimal import optimal
from assay.engines.models import (
    BITS,
    MOST_ROWS,
    CountedModels,
    count_models,
    count_models_on_grid,
    joint_at,
    scores_on_grid,
)
from assay.errors import InputError, LabelError, LengthMismatch, MethodError, ScoreError
from assay.inference import BCa, Bootstrap, Significance, holm, method_of
from assay.inference.chosen import Progress
from assay.inference.operating import AtThreshold, Rule, parse_rule
from assay.measures import ACCURACY, RECALL, parse
from assay.measures.shown import DECIDING
from assay.sources import (
    FAMILY,
    Batch,
    common_labels,
    from_arrays,
    label_text,
    must_share_index,
    probability_labels,
)
from assay.sources.batch import Labels
from assay.sources.columns import array_of, labels_of, names_of
from assay.sources.thresholds import undecided_note
from assay.tally import JointScores
from assay.tally.keeping import Exact, Grid
from assay.tally.scores import extremes

RESAMPLES = 1000
AUTO = "auto"
MODES = (AUTO, Exact.name, Grid.name)
CLUSTERED_NOTE = (
    "rows come in clusters, so McNemar's, Cochran's and DeLong's tests, which take rows as "
    "independent, are left out"
)
CHOSEN_NOTE = (
    "the thresholds were chosen from these rows, so each resample chose them anew; McNemar's and "
    "Cochran's tests, which would take them as given and then cover about half of what they say, "
    "are left out"
)
UNDECIDED_NOTE = (
    "without decisions of every model only scores are compared: measures of decisions, the tests "
    "of McNemar and Cochran, and the rows that flipped are left out"
)
PINNED_NOTE = (
    "{rule} holds in every resample, so the interval of the rate that it limits says nothing of "
    "new rows, on which it will be broken about half of the time where it is only just kept"
)


def compare(
    y_true: Any,
    *,
    scores: Mapping[str, Any] | None = None,
    decisions: Mapping[str, Any] | None = None,
    probabilities: Mapping[str, Any] | None = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    at: Rule | str | None = None,
    counts: Any = None,
    clusters: Any = None,
    families: Any = None,
    ids: Any = None,
    level: float | None = None,
    resamples: int | None = None,
    seed: int = 42,
    interval: str | None = None,
    margin: float = MARGIN,
    mode: str = AUTO,
    progress: Progress | None = None,
) -> Comparison:
    """Compare models on the same rows.

    Give ``scores`` (name to column), flagged from ``threshold`` on (one number, or one a model),
    ``decisions``, or ``probabilities`` of each class: an array with a column a label, in the order
    of ``labels``, a dataframe, or a mapping from label to column; the largest decides. ``at`` is a
    rule that chooses the threshold of each model, such as ``"max-far=0.1"``; then every resample
    chooses all thresholds anew, and the detection rate decides which model is better.

    Differences are B less A: of count measures by the paired bootstrap, of AUC by DeLong, of other
    measures of scores by each row's influence, or with ``interval="bootstrap"`` by the paired
    bootstrap too. With ``clusters``, clusters take the place of rows. There are 1,000
    ``resamples``, or more where many pairs of models ask for it. ``families`` and ``ids`` tell
    which rows flipped. The verdict calls a pair equivalent when the whole interval lies within
    ``margin``.

    ``mode`` is how pairs of scores are kept: ``exact`` keeps all of them, ``grid`` counts them into
    cells, in memory that does not grow with the rows, and gives measures of scores with bounds.
    ``auto`` is exact up to five million rows.

    >>> truth = ["attack", "normal"] * 30
    >>> good, poor = [0.9, 0.1] * 30, [0.9, 0.1, 0.4, 0.6] * 15
    >>> compare(truth, scores={"poor": poor, "good": good}).verdicts[0].text
    'good is better than poor: roc_auc is higher by 0.250 [0.121, 0.379].'
    """
    columns = _columns(scores, decisions, probabilities)
    must_share_index(
        {"y_true": y_true, "scores": scores, "decisions": decisions, "counts": counts}
        | {"clusters": clusters, "families": families, "ids": ids}
    )
    question = Question.of(
        list(columns), at, threshold, level, resamples, seed, interval, margin, progress
    )
    rule = question.rule
    _must_be_scores(rule, decisions, threshold)
    if decisions is not None and labels is None:
        labels = common_labels(y_true, decisions)
    # Coded once, not once a model.
    truth = labels_of(y_true, "y_true")
    if probabilities is not None:
        _must_have_labels(probabilities, truth)
        labels = labels or probability_labels(probabilities, truth.kind)
    shared = {
        "counts": counts,
        "clusters": None if clusters is None else names_of(clusters, "clusters"),
        "slices": None if families is None else {FAMILY: names_of(families, "families")},
    }
    batches = {}
    for name, column in columns.items():
        said = {"y_pred": column}
        if decisions is None:
            of = "y_proba" if scores is None else "y_score"
            said = {of: column, "threshold": _threshold(name, threshold, rule)}
        try:
            batches[name] = from_arrays(
                truth, positive=positive, negative=negative, labels=labels, **shared, **said
            )
        except LengthMismatch as mismatch:
            raise LengthMismatch(f"model {name!r}: {mismatch}") from mismatch
        except ScoreError as odd:
            if probabilities is None:
                raise
            raise ScoreError(f"model {name!r}: {odd}") from odd
    first = next(iter(batches.values()))
    if first.clusters is not None and len(np.unique(first.clusters.codes)) < 2:
        raise MethodError("one cluster tells nothing about the spread between clusters")
    grid = _on_grid(mode, batches)
    together: Together = {}
    if rule is not None and is_chosen(rule):
        together = (_chosen_on_grid if grid else chosen_of_rows)(
            batches, rule, question.method, progress
        )
        batches = {
            name: replace(batches[name], threshold=at)
            for name, at in thresholds_of(together).items()
        }
    counted = count_models_on_grid(batches) if grid else count_models(batches)
    decided = None
    if counted.decisions is not None:
        decided = DecidedRows(batches, *_kept(first, counts, ids))
    undecided = {
        name: extremes(batch.score)
        for name, batch in batches.items()
        if batch.score is not None and not batch.decided
    }
    return replace(question.answer(counted, together, first.notes, undecided), decided=decided)


def _chosen_on_grid(
    batches: Mapping[str, Batch], rule: Rule, method: Bootstrap, progress: Progress | None
) -> Together:
    levels = {name: levels_of(scores_on_grid(batch), rule) for name, batch in batches.items()}
    return chosen_of_cells(
        levels, lambda a, b: joint_at(batches, a, b, levels), rule, method, progress
    )


@dataclass(frozen=True)
class Question:
    """What is asked of models, whatever their rows came from."""

    models: tuple[str, ...]
    rule: Rule | None
    threshold: Any
    level: float
    method: Bootstrap
    resample: bool
    margin: float
    progress: Progress | None

    @classmethod
    def of(
        cls,
        models: Sequence[str],
        at: Rule | str | None,
        threshold: Any,
        level: float | None,
        resamples: int | None,
        seed: int,
        interval: str | None,
        margin: float,
        progress: Progress | None,
    ) -> Question:
        """A question that was checked."""
        rule = parse_rule(at) if isinstance(at, str) else at
        method, level = method_of(interval or "bootstrap", level)
        if not isinstance(method, Bootstrap) or isinstance(method, BCa):
            raise MethodError(f"differences are resampled by bootstrap; found {interval!r}")
        drawn = _resamples(resamples, math.comb(len(models), 2), level)
        method = replace(method, resamples=drawn, seed=seed)
        return cls(
            tuple(models),
            rule,
            threshold,
            level,
            method,
            interval is not None,
            checked_margin(margin),
            progress,
        )

    def answer(
        self,
        counted: CountedModels,
        together: Together,
        notes: Sequence[str],
        undecided: Mapping[str, tuple[float, float]],
    ) -> Comparison:
        """The comparison of what was counted.

        ``notes`` are those on any one model, ``undecided`` the extremes of the scores of models
        that have no threshold.
        """
        models = Models(counted, self.level, self.method, self.resample, together)
        pairs = [Pair(models, *two) for two in itertools.combinations(self.models, 2)]
        differences = _adjusted([found for pair in pairs for found in pair.differences()])
        tests = [found for pair in pairs for found in pair.tests()] + list(models.tests_of_all())
        deciding = _deciding(differences, self.rule)
        size = Size(models.units, models.unit, models.resting(parse(deciding)[0]))
        return Comparison(
            models=self.models,
            differences=tuple(differences),
            tests=tuple(_holm(tests)),
            verdicts=tuple(
                verdict(found, margin=self.margin, pairs=len(pairs), size=size, at=self.rule)
                for found in differences
                if found.measure == deciding
            ),
            notes=(
                *_notes(notes, models, self.rule, undecided),
                *_too_few(self.method.resamples, len(pairs), self.level),
                *_grid_notes(pairs, differences),
            ),
            at=self.rule,
            level=self.level,
            margin=self.margin,
            thresholds=_thresholds(models),
            estimates=models.estimates(),
            per_class=models.per_class(),
            flips=tuple(flip for pair in pairs for flip in pair.flips()),
            optimal=optimal(counted.tallies),
            mode=counted.mode,
        )


def _on_grid(mode: str, batches: Mapping[str, Batch]) -> bool:
    """Whether pairs of scores are counted into cells of a grid."""
    if mode not in MODES:
        raise InputError(f"mode= is one of {', '.join(MODES)}; found {mode!r}")
    first = next(iter(batches.values()))
    scores = first.binary and first.score is not None
    if mode == Grid.name:
        if not scores:
            raise InputError(
                "mode='grid' keeps scores of two classes as a grid; decisions and probabilities of "
                "several classes have none. Leave mode= out"
            )
        if first.clusters is not None:
            raise InputError(
                "mode='grid' counts rows, and clusters of rows would be lost in it. Leave "
                "clusters= out, or say mode='exact'"
            )
        return True
    many = len(first.truth) > MOST_ROWS and first.clusters is None
    return mode == AUTO and scores and many


def _grid_notes(pairs: Sequence[Pair], differences: Sequence[Difference]) -> Iterator[str]:
    """What a grid of scores means for what is said."""
    bits = {
        pair.scores.kept.bits
        for pair in pairs
        if isinstance(pair.scores, JointScores) and isinstance(pair.scores.kept, Grid)
    }
    if not bits:
        return
    yield (
        f"scores are kept as a grid of {BITS} bits, so what depends on their order within a cell "
        f"comes with bounds, which its interval holds; how models vary together is told on a grid "
        f"of {min(bits)} bits. Say mode='exact' to keep every score"
    )
    told = {found.measure for found in differences}
    tallies = pairs[0].models.tallies.values()
    untold = [m.name for m, _ in scored(list(tallies)) if m.name not in told]
    if untold:
        yield f"a grid does not tell {', '.join(untold)}, which the scores themselves decide"


def _least(pairs: int, level: float) -> int:
    """The fewest resamples that may show a difference between any of the pairs.

    p of a bootstrap is never below 2/(resamples + 1), and Holm multiplies it by the pairs.
    """
    return math.ceil(2 * pairs / (1 - level))


def _resamples(asked: int | None, pairs: int, level: float) -> int:
    return max(RESAMPLES, _least(pairs, level)) if asked is None else asked


def _too_few(resamples: int, pairs: int, level: float) -> Iterator[str]:
    if pairs > 1 and resamples < _least(pairs, level):
        yield (
            f"{resamples:,} resamples are too few to show a difference between one of {pairs:,} "
            f"pairs: it takes {_least(pairs, level):,}"
        )


def _columns(
    *given_by_kind: Mapping[str, Any] | None,
) -> dict[str, Any]:
    kinds = [kind for kind in given_by_kind if kind is not None]
    if len(kinds) != 1:
        raise InputError(
            "give one of scores=, decisions= and probabilities=, a mapping from model name to "
            "column"
        )
    (given,) = kinds
    if not isinstance(given, Mapping):
        raise InputError("models are a mapping from name to column, such as {'old': a, 'new': b}")
    if len(given) < 2:
        raise InputError(f"a comparison needs two models or more; found {', '.join(given)}")
    return dict(given)


def _must_have_labels(tables: Mapping[str, Any], truth: Labels) -> None:
    """Refuse named probabilities that lack a label which rows have."""
    for model, table in tables.items():
        named = probability_labels({model: table}, truth.kind)
        columns = [label_text(label) for label in named or ()]
        absent = [label for label in truth.names if label not in columns]
        if named is not None and absent:
            raise LabelError(
                f"model {model!r} has no probability of {', '.join(map(repr, absent))}, which rows "
                f"are labelled; its columns are of {', '.join(map(repr, columns))}. Give a column "
                f"a label"
            )


def _must_be_scores(rule: Rule | None, decisions: Any, threshold: Any) -> None:
    if rule is None:
        return
    if decisions is not None:
        raise InputError(f"{rule} needs scores; there are only decisions, which are taken as given")
    if threshold is not None:
        raise InputError(f"give threshold= or at=, not both; found {threshold!r} and {rule}")


def _threshold(
    name: str, threshold: float | Mapping[str, float] | None, rule: Rule | None
) -> float | None:
    if isinstance(rule, AtThreshold):
        return rule.threshold
    if rule is not None:
        return 0.0  # until one is chosen
    return threshold.get(name) if isinstance(threshold, Mapping) else threshold


def _kept(batch: Batch, counts: Any, ids: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The positions of the rows that were kept, None where all were, and their ids."""
    rows = None
    if len(batch.truth) < batch.rows:
        rows = np.flatnonzero(array_of(counts, "counts"))
    if ids is None:
        return rows, None
    names = array_of(ids, "ids")
    if len(names) != batch.rows:
        raise LengthMismatch(f"ids has {len(names)} rows and y_true {batch.rows}")
    return rows, names if rows is None else names[rows]


def _thresholds(models: Models) -> dict[str, float | None]:
    if not models.decided:
        return {}
    return {
        name: None if tally.threshold == math.inf else tally.threshold
        for name, tally in models.tallies.items()
        if tally.positive is not None and tally.scores is not None
    }


def _notes(
    notes: Sequence[str],
    models: Models,
    rule: Rule | None,
    undecided: Mapping[str, tuple[float, float]],
) -> Iterator[str]:
    # What is said of one model alone is said with its name.
    alone = {undecided_note(*ends) for ends in undecided.values()}
    yield from (note for note in notes if note not in alone)
    yield from (undecided_note(*ends, name) for name, ends in undecided.items())
    if undecided:
        yield UNDECIDED_NOTE
    if models.clustered:
        yield CLUSTERED_NOTE
    elif is_chosen(rule):
        yield CHOSEN_NOTE
    if is_chosen(rule):
        yield PINNED_NOTE.format(rule=rule)
    for name, tally in models.tallies.items():
        if tally.threshold == math.inf:
            yield f"no threshold of {name} keeps {rule}: it flags nothing there"


def _deciding(differences: Sequence[Difference], rule: Rule | None) -> str:
    """The measure that verdicts are about.

    Where a rule holds false alarms down, the detection rate; without one the ranking, of many
    classes that of each class alike, or of plain decisions the share that is right.
    """
    if rule is not None:
        return (ACCURACY if isinstance(rule, AtThreshold) else RECALL).name
    told = {found.measure for found in differences}
    return next(name for name in DECIDING if name in told)


def _adjusted(differences: Sequence[Difference]) -> list[Difference]:
    """Differences with Holm's p over the pairs of models, measure by measure.

    Measures say much the same of one pair, so they are not counted against each other.
    """
    families: dict[str, Iterator[float]] = {}
    adjusted = []
    for found in differences:
        if found.measure not in families:
            like = [d.p for d in differences if d.measure == found.measure]
            families[found.measure] = iter(holm([p for p in like if not math.isnan(p)]))
        known = families[found.measure]
        adjusted.append(found if math.isnan(found.p) else replace(found, p_adjusted=next(known)))
    return adjusted


def _holm(tests: Sequence[Significance]) -> Iterator[Significance]:
    """Tests with Holm's p over all of them."""
    known = iter(holm([found.p for found in tests if not math.isnan(found.p)]))
    for found in tests:
        yield found if math.isnan(found.p) else found.adjusted(next(known))
