"""What a comparison found: differences, verdicts, and the rows that two models decide apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.compare.optimal import Optimal
from assay.v02.engines.models import ModelRows
from assay.errors import InputError, MethodError, UnknownMeasure
from assay.v02.evaluation.findings import Finding
from assay.v02.inference import Estimate, Significance
from assay.v02.inference.fields import Recorded, Result, codec_of, field_error, stored
from assay.v02.inference.rank_tests import SignedRankPosterior
from assay.v02.inference.threshold_rules import Rule, parse_rule
from assay.v02.measures import Better, Measure, parse
from assay.v02.number_text import decimal
from assay.v02.sources.files.request import RowSource
from assay.v02.tally import PairTally, Resolved
from assay.v02.tally.blocks import bounds

if TYPE_CHECKING:
    from assay.v02.decisions.plotting import ComparisonPlots
    from assay.v02.evaluation import Evaluation


Array: TypeAlias = npt.NDArray[Any]

FIXED, BROKEN, MOVED = "fixed", "broken", "moved"
_PIECE = 1 << 20


@dataclass(frozen=True)
class Flip(Recorded):
    """How many rows flipped from A to B, of all, of one label, or of one family.

    ``fixed`` went from wrong to right, ``broken`` from right to wrong, ``moved`` (of more than two
    classes) from one wrong class to another.
    """

    a: str
    b: str
    label: str | None
    family: str | None
    rows: int
    fixed: int
    broken: int
    moved: int = 0


@dataclass(frozen=True)
class FlippedRow:
    """A row on which two models decide differently; ``row`` is its position, from 0 on."""

    row: int
    id: Any
    label: str
    family: str | None
    a: str
    b: str
    score_a: float | None
    score_b: float | None
    flip: str


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """The rows that models decided on, passed over in pieces to tell which of them flipped.

    ``positions`` are theirs among those that were given, None where all were used.
    """

    rows: ModelRows
    positions: Array | None = None
    ids: Array | None = None

    def pieces(self, a: str, b: str) -> Iterator[tuple[slice, dict[str, Array]]]:
        """Some rows at a time, and what two models decided on them."""
        for name in (a, b):
            if name not in self.rows.models:
                raise InputError(f"there is no model {name!r}; found {', '.join(self.rows.models)}")
        for start, stop in bounds(len(self.rows.truth), _PIECE):
            piece = slice(start, stop)
            yield piece, {name: self.rows.decisions(name, piece) for name in (a, b)}


def _kinds(truth: Array, before: Array, after: Array) -> dict[str, Array]:
    """Which rows were fixed, broken or moved."""
    differ = before != after
    fixed, broken = differ & (after == truth), differ & (before == truth)
    return {FIXED: fixed, BROKEN: broken, MOVED: differ & ~fixed & ~broken}


def flips(pairs: PairTally, families: Mapping[str, PairTally]) -> Iterator[Flip]:
    """How many rows flipped between two models: of all, of each label and of each family."""
    yield _flip(pairs)
    for i, label in enumerate(pairs.labels):
        of_label = pairs.of_label(i)
        if of_label.total:
            yield _flip(of_label, label=label)
    for family, of_family in families.items():
        yield _flip(of_family, family=family)


def _flip(pairs: PairTally, *, label: str | None = None, family: str | None = None) -> Flip:
    a, b = pairs.models
    kinds = _kinds(*pairs.codes.T)
    changed = (int(pairs.counts[kept].sum()) for kept in kinds.values())
    return Flip(a, b, label, family, pairs.total, *changed)


def flipped(decided: DecidedRows, a: str, b: str) -> Iterator[FlippedRow]:
    """The rows that flipped, in their order."""
    rows = decided.rows
    truth, families = rows.truth, rows.families
    for piece, decisions in decided.pieces(a, b):
        kinds = _kinds(truth[piece], decisions[a], decisions[b])
        any_kind = np.flatnonzero(np.logical_or.reduce(list(kinds.values())))
        for i in any_kind.tolist():
            at = piece.start + i
            yield FlippedRow(
                row=at if decided.positions is None else int(decided.positions[at]),
                id=None if decided.ids is None else _plain_value(decided.ids[at]),
                label=rows.labels[truth[at]],
                family=None if families is None else families.names[families.codes[at]],
                a=rows.labels[decisions[a][i]],
                b=rows.labels[decisions[b][i]],
                score_a=_score(rows, a, at),
                score_b=_score(rows, b, at),
                flip=next(kind for kind, kept in kinds.items() if kept[i]),
            )


def _score(rows: ModelRows, name: str, at: int) -> float | None:
    score = rows.models[name].score
    return None if score is None else float(score[at])


def _plain_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


# -- the result ------------------------------------------------------------------------------------


BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"


@dataclass(frozen=True)
class Difference(Recorded):
    """A measure of two models, and B less A with its paired interval."""

    FIRST: ClassVar[tuple[str, ...]] = (
        *("measure", "a", "b", "value_a", "value_b", "difference", "low", "high"),
        *("p", "p_adjusted", "method", "bound"),
    )

    measure: str
    a: str
    b: str
    value_a: float
    value_b: float
    difference: Estimate = field(metadata=stored(inline=True, renamed={"value": "difference"}))
    p: float
    p_adjusted: float | None = None


@dataclass(frozen=True)
class Verdict(Recorded):
    """What is said of a pair, in a sentence and in a word: is B better than A?

    ``outcome`` is better, worse, equivalent or undecided, by ``measure``. Where it is undecided,
    ``enough`` is about how many rows (or clusters, or folds) would decide it, if that can be told.
    It unpacks into both names and the sentence.
    """

    a: str
    b: str
    text: str
    outcome: str
    measure: str
    enough: int | None = None

    def __iter__(self) -> Iterator[str]:
        return iter((self.a, self.b, self.text))

    def __getitem__(self, i: int) -> str:
        return (self.a, self.b, self.text)[i]


@dataclass(frozen=True)
class _OfModel:
    """An estimate of a model, perhaps of one class of it, as it is written."""

    model: str
    measure: str
    label: str | None
    estimate: Estimate = field(metadata=stored(inline=True))


_OF_MODELS = codec_of(tuple[_OfModel, ...])


def _estimates_by_name(estimates: Mapping[str, Mapping[str, Estimate]]) -> Any:
    return _OF_MODELS.write(
        _OfModel(model, measure, None, estimate)
        for model, measures in estimates.items()
        for measure, estimate in measures.items()
    )


def _by_model(given: Any, at: str) -> dict[str, dict[str, Estimate]]:
    estimates: dict[str, dict[str, Estimate]] = {}
    for each in _OF_MODELS.read(given, at):
        estimates.setdefault(each.model, {})[each.measure] = each.estimate
    return estimates


def _listed_classes(estimates: Mapping[str, Mapping[tuple[str, str], Estimate]]) -> Any:
    return _OF_MODELS.write(
        _OfModel(model, measure, label, estimate)
        for model, measures in estimates.items()
        for (label, measure), estimate in measures.items()
    )


def _by_class(given: Any, at: str) -> dict[str, dict[tuple[str, str], Estimate]]:
    estimates: dict[str, dict[tuple[str, str], Estimate]] = {}
    for each in _OF_MODELS.read(given, at):
        estimates.setdefault(each.model, {})[each.label, each.measure] = each.estimate
    return estimates


@dataclass(frozen=True)
class DataSetFolds(Recorded):
    """One of several data sets: its models over its folds, and each pair by the tests of folds.

    Without differences and tests there is one value a model, which has no spread.
    """

    dataset: str
    folds: int
    estimates: Mapping[str, Mapping[str, Estimate]] = field(
        metadata=stored(write=_estimates_by_name, read=_by_model)
    )
    differences: tuple[Difference, ...] = ()
    tests: tuple[Significance, ...] = ()


def _read_rule(given: Any, at: str) -> Rule | None:
    if given is not None and not isinstance(given, str):
        raise field_error(at, given, "a rule, as max-fpr=0.01")
    return None if given is None else parse_rule(given)


@dataclass(frozen=True)
class Comparison(Result, Recorded):
    """Differences, tests, and a sentence of verdict for each pair of models.

    ``at`` is the rule that chose the thresholds, ``thresholds`` where each model flags from (None:
    it flags nothing), ``estimates`` every measure of every model, ``per_class`` what each of many
    classes has of its own, by model, then label and measure, ``flips`` how many rows two models
    decide differently, ``optimal`` for which costs each model is the best, if there are two
    classes. ``mode`` is how scores are kept: ``exact``, or of many rows as a ``grid``, and then
    differences of scores have bounds. ``source`` tells what was read, where files were.
    ``findings`` are what looks like a mistake, such as a model whose scores are turned round.
    ``datasets`` are several data sets with the folds of each, over which differences and tests then
    are; ``posteriors`` are of the Bayesian signed-rank test, where it was asked for. ``tallies``
    are what was counted of each model, which curves are drawn from.
    """

    SCHEMA: ClassVar[str] = "assay.compare/1"

    models: tuple[str, ...]
    differences: tuple[Difference, ...]
    tests: tuple[Significance, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    at: Rule | None = field(
        default=None,
        metadata=stored(write=lambda at: None if at is None else str(at), read=_read_rule),
    )
    level: float = 0.95
    margin: float = 0.01
    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    estimates: Mapping[str, Mapping[str, Estimate]] = field(
        default_factory=dict, metadata=stored(write=_estimates_by_name, read=_by_model)
    )
    per_class: Mapping[str, Mapping[tuple[str, str], Estimate]] = field(
        default_factory=dict, metadata=stored(write=_listed_classes, read=_by_class)
    )
    flips: tuple[Flip, ...] = ()
    decided: DecidedRows | None = field(
        default=None, repr=False, compare=False, metadata=stored(left_out=True)
    )
    optimal: Optimal | None = None
    mode: str = "exact"
    source: RowSource | None = None
    findings: tuple[Finding, ...] = ()
    datasets: tuple[DataSetFolds, ...] = ()
    posteriors: tuple[SignedRankPosterior, ...] = ()
    tallies: Mapping[str, Resolved] = field(
        default_factory=dict, repr=False, compare=False, metadata=stored(left_out=True)
    )

    @property
    def ranking(self) -> tuple[str, ...]:
        """The models, best first by the measure of the verdicts: by mean rank, else by value."""
        if not self.verdicts:
            return self.models
        measure, places = self.verdicts[0].measure, {}
        for test in self.tests:
            if test.measure == measure and "mean_ranks" in test.table and self.datasets:
                places = {model: float(rank) for model, rank in test.table["mean_ranks"].items()}
        if not places:
            places = {m: -lead for m, lead in leads(self.differences, measure).items()}
        return tuple(sorted(self.models, key=lambda model: places.get(model, math.inf)))

    @property
    def by_importance(self) -> tuple[Verdict, ...]:
        """The verdicts, the best model against the next one first."""
        place = {model: i for i, model in enumerate(self.ranking)}
        return tuple(sorted(self.verdicts, key=lambda each: sorted((place[each.a], place[each.b]))))

    def evaluation(self, model: str) -> Evaluation:
        """The evaluation of one of the models, on the rows that all of them were compared on."""
        from assay.v02.evaluation import Evaluation

        if model not in self.models:
            raise InputError(f"there is no model {model!r}; there are {list(self.models)}")
        if model not in self.tallies:
            raise MethodError(
                "this comparison holds no rows' counts: it is of folds, or was read from a "
                "document. Curves and evaluations of models need compare() on their rows"
            )
        return Evaluation(self.tallies[model], level=self.level, source={"name": model})

    def difference(self, measure: str, a: str | None = None, b: str | None = None) -> Difference:
        """The difference of one measure between two models, by default the first two."""
        a, b = a or self.models[0], b or self.models[1]
        for difference in self.differences:
            if (key(difference.measure), difference.a, difference.b) == (key(measure), a, b):
                return difference
        raise InputError(f"there is no difference of {measure!r} between {a!r} and {b!r}")

    def verdict(self, a: str | None = None, b: str | None = None) -> Verdict:
        """The verdict on two models, by default the first two."""
        a, b = a or self.models[0], b or self.models[1]
        for verdict in self.verdicts:
            if (verdict.a, verdict.b) == (a, b):
                return verdict
        raise InputError(f"there is no verdict on {a!r} and {b!r}")

    def best(self, measure: str) -> str | None:
        """The model that is significantly better than every other, by one measure.

        None where no model is: the interval of each of its differences must leave out 0, and its p,
        adjusted for how many pairs there are, must be below 1 - level.
        """
        if all(key(difference.measure) != key(measure) for difference in self.differences):
            parse(measure)  # names those that are near
        sign = direction(measure)
        wins = dict.fromkeys(self.models, 0)
        for difference in self.differences:
            significant = (
                difference.p_adjusted is not None and difference.p_adjusted < 1 - self.level
            )
            if significant and key(difference.measure) == key(measure):
                ends = sign * difference.difference.low, sign * difference.difference.high
                wins[difference.b] += min(ends) > 0
                wins[difference.a] += max(ends) < 0
        return next((name for name, won in wins.items() if won == len(self.models) - 1), None)

    def flipped(self, a: str | None = None, b: str | None = None) -> tuple[FlippedRow, ...]:
        """The rows on which two models decide differently, by default the first two."""
        if self.decided is None and self.flips:
            raise InputError(
                "which rows flipped is not known: they were counted and let go while files were "
                "read. Keep them with keep_rows=True"
            )
        if self.decided is None:
            raise InputError(
                "no row flipped: a comparison of folds has no rows, and without a threshold for "
                "every model none is decided on"
            )
        return tuple(flipped(self.decided, a or self.models[0], b or self.models[1]))

    @property
    def plot(self) -> ComparisonPlots:
        """Figures by matplotlib: ``comparison.plot.forest()``; needs the extra ``plot``."""
        from assay.v02.decisions.plotting import ComparisonPlots

        return ComparisonPlots(self)

    def shaped(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Estimates of whole models and of their classes are one list; without files no source."""
        of_classes = plain.pop("per_class")
        for key_of_few in ("source", "datasets", "posteriors"):
            if not plain[key_of_few]:
                del plain[key_of_few]
        return {**plain, "estimates": [*plain["estimates"], *of_classes]}

    @classmethod
    def unshaped(cls, plain: dict[str, Any]) -> dict[str, Any]:
        """The estimates of whole models, which have no label, apart from the others."""
        estimates = plain.get("estimates")
        if not isinstance(estimates, list) or not all(isinstance(each, dict) for each in estimates):
            raise field_error("/estimates", estimates, "a list of objects")
        of_models = [each for each in estimates if each.get("label") is None]
        of_classes = [each for each in estimates if each.get("label") is not None]
        return {**plain, "estimates": of_models, "per_class": of_classes}

    def __repr__(self) -> str:
        width = max((len(difference.measure) for difference in self.differences), default=0)
        rows = [
            f"{each.measure:<{width}}  {each.a} {decimal(each.value_a)}  {each.b} "
            f"{decimal(each.value_b)}  difference {each.difference}"
            for each in self.differences
        ]
        tests = [str(test) for test in self.tests]
        verdicts = [verdict.text for verdict in self.verdicts]
        at = "" if self.at is None else f" at {self.at}"
        title = f"Comparison of {', '.join(self.models)}{at}"
        return "\n".join([title, "", *rows, "", *tests, "", *verdicts])


def effect_of(test: Significance) -> Estimate:
    """By how much two models differ in a test of two; a test of several has no such effect."""
    if test.effect is None:
        raise MethodError(f"{test.test} is not a test of two models")
    return test.effect


def leading(differences: Sequence[Difference], measure: str, level: float) -> frozenset[str]:
    """The best model by one measure, and all that are not significantly different from it.

    Significant is a p, adjusted for how many pairs there are, below 1 - level, with an interval
    that leaves out 0 where there is one. None where neither more nor less of it is better.
    """
    lead = leads(differences, measure)
    if not lead or direction(measure) == 0:
        return frozenset()
    pairs = [difference for difference in differences if key(difference.measure) == key(measure)]
    best = max(lead, key=lambda name: lead[name])
    behind = set()
    for difference in pairs:
        p = difference.p if difference.p_adjusted is None else difference.p_adjusted
        low, high = difference.difference.low, difference.difference.high
        if best in (difference.a, difference.b) and p < 1 - level and not low <= 0 <= high:
            behind.add(difference.a if difference.b == best else difference.b)
    return frozenset(lead) - behind


def leads(differences: Iterable[Difference], measure: str) -> dict[str, float]:
    """By how much each model is better than the others in all, where its value is defined."""
    sign = direction(measure) or 1
    lead: dict[str, float] = {}
    for difference in differences:
        if key(difference.measure) == key(measure) and not math.isnan(difference.difference):
            gap = sign * float(difference.difference)
            lead[difference.a] = lead.get(difference.a, 0.0) - gap
            lead[difference.b] = lead.get(difference.b, 0.0) + gap
    return lead


# -- measures by whatever name they are called, also ones outside of the catalogue -----------------


def known(measure: str) -> tuple[Measure, str | None] | None:
    """The measure and its suffix; None where it is not in the catalogue."""
    try:
        return parse(measure)
    except UnknownMeasure:
        return None


def key(measure: str) -> str:
    """The name under which a measure is known; one that is not known as it is.

    >>> key("detection_rate"), key("my_own")
    ('recall', 'my_own')
    """
    match = known(measure)
    if match is None:
        return measure
    of, suffix = match
    return of.name if suffix is None else f"{of.name}.{suffix}"


def direction(measure: str) -> int:
    """1 where higher is better, -1 where lower is, 0 where neither is.

    A measure that is not known is taken as better when higher.
    """
    match = known(measure)
    if match is None:
        return 1
    return {Better.HIGHER: 1, Better.LOWER: -1, Better.NEITHER: 0}[match[0].better]
