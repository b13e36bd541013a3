"""The laws: what each says, and for which measures it is not said, with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from random import Random
from zlib import crc32

import numpy as np
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from assay.counts import Confusion, ScoreCounts
from assay.formula import evaluate, value
from assay.inference import Estimate
from assay.inference.unseen import TOO_FEW
from assay.measures import MAX_FPR, Law, MeanLoss, Measure, Ranked, catalogue, rank

from .faces import Face, Kind, all_faces, assert_near, fields, same
from .reference import binary_cells, class_cells, counted, is_defined
from .rows import DRAWN, Rows

CLOSE = 1e-12
DIFFERENT = 1e-6
EXAMPLES = 2


@dataclass(frozen=True)
class Unless:
    """When a law is not said of a measure, and why not."""

    reason: str
    matches: Callable[[Face], bool]


@dataclass(frozen=True)
class Statement:
    """A law: a check that passes for every way to read a measure, with its exceptions."""

    name: str
    check: Callable[[Face], None]
    unless: tuple[Unless, ...] = ()

    def reason(self, face: Face) -> str | None:
        """Why the law is not said of this; None where it is."""
        return next((case.reason for case in self.unless if case.matches(face)), None)


def everywhere(check: Callable[[Face, Rows, Random], None]) -> Callable[[Face], None]:
    """A check of rows, on the fixed ones and on drawn ones."""

    def checked(face: Face) -> None:
        fixed = [(f"the fixed rows: {name}", rows, 7) for name, rows in face.fixed().items()]
        # One of four sets of drawn rows, so that laws need not all start anew.
        drawn = _drawn(face.scene, crc32(check.__name__.encode()) % 4)
        for name, rows, chance in (*fixed, *drawn):
            try:
                check(face, rows, Random(chance))
            except AssertionError as error:
                error.add_note(f"on {name}")
                raise

    return checked


@lru_cache
def _drawn(scene: tuple[int, bool], start: int) -> list[tuple[str, Rows, int]]:
    """Rows that are drawn once for all laws; more of them in `make slow`."""
    scenes = []

    @seed(start)
    @settings(max_examples=EXAMPLES if settings().derandomize else 12 * EXAMPLES, database=None)
    @given(DRAWN[scene], st.integers(0, 999))
    def draw(rows: Rows, chance: int) -> None:
        scenes.append((f"drawn rows: {rows}", rows, chance))

    draw()
    return scenes


def somewhere(change: Callable[[Rows], Rows]) -> Callable[[Face], None]:
    """The change moves the value on some fixed rows: a law that is not declared has to fail."""

    def checked(face: Face) -> None:
        pairs = [(face.of(rows), face.of(change(rows))) for rows in face.fixed().values()]
        assert any(abs(a - b) > DIFFERENT for a, b in pairs), (
            f"{face.measure.name} does not change: declare the law in invariant_under"
        )

    return checked


# -- how rows are given does not matter ------------------------------------------------------------


def assert_alike(face: Face, a: Estimate, b: Estimate) -> None:
    """All the same bits; of losses, which are sums of floats, the same up to rounding."""
    if face.kind is Kind.LOST:
        assert_near(a, b, CLOSE)
        assert (a.n, a.note) == (b.n, b.note)
    else:
        assert fields(a) == fields(b)


def row_order(face: Face, rows: Rows, random: Random) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)
    assert_alike(face, face.of(rows), face.of(rows.at(order)))


def class_order(face: Face, rows: Rows, random: Random) -> None:
    """More than two classes may be counted in any order."""
    order = list(range(len(rows.known)))
    random.shuffle(order)
    expected, counts = face.of(rows), rows.ordered(order).counted()
    estimate = face.read(counts)
    assert_near(expected, estimate, CLOSE)
    assert expected.n == estimate.n
    if face.counted:
        assert same(expected, estimate)


def count_is_repetition(face: Face, rows: Rows, random: Random) -> None:
    counts = [random.randint(1, 3) for _ in rows.truth]
    assert_alike(face, face.of(rows, counts=counts), face.of(rows.repeated(counts)))


def zero_count_is_removal(face: Face, rows: Rows, random: Random) -> None:
    counts = [random.choice([0, 1, 2]) for _ in rows.truth]
    counts[random.randrange(len(counts))] = 1
    assert_alike(face, face.of(rows, counts=counts), face.of(rows.repeated(counts)))


def zero_weight_is_removal(face: Face, rows: Rows, random: Random) -> None:
    weights = [random.choice([0.0, 0.5, 2.25]) for _ in rows.truth]
    weights[random.randrange(len(weights))] = 1.5
    kept = [i for i, weight in enumerate(weights) if weight]
    removed = face.of(rows.at(kept), weights=[weights[i] for i in kept])
    assert_near(face.of(rows, weights=weights), removed, CLOSE)


def weights_have_no_scale(face: Face, rows: Rows, random: Random) -> None:
    weights = [random.uniform(0.1, 4.0) for _ in rows.truth]
    scale = random.choice([1e-6, 0.37, 1000.0])
    scaled = [scale * weight for weight in weights]
    a, b = face.of(rows, weights=weights), face.of(rows, weights=scaled)
    assert same(a.value, b.value, CLOSE)
    # The ends of an interval of few rows carry the rounding of the value many times over.
    assert_near(a, b, 1e-10)
    assert same(a.n, b.n, CLOSE)


def weight_of_one_is_no_weight(face: Face, rows: Rows, random: Random) -> None:
    assert same(face.of(rows), face.of(rows, weights=[1.0] * len(rows)), CLOSE)


def whole_weight_is_repetition(face: Face, rows: Rows, random: Random) -> None:
    weights = [random.randint(1, 4) for _ in rows.truth]
    estimate = face.of(rows, weights=[float(weight) for weight in weights])
    assert same(face.of(rows.repeated(weights)), estimate, CLOSE)


def weighted_order(face: Face, rows: Rows, random: Random) -> None:
    weights = [random.uniform(0.1, 4.0) for _ in rows.truth]
    order = list(range(len(rows)))
    random.shuffle(order)
    moved = face.of(rows.at(order), weights=[weights[i] for i in order])
    assert_near(face.of(rows, weights=weights), moved, CLOSE)


# -- what values and intervals can be --------------------------------------------------------------


def within_range(face: Face, rows: Rows, random: Random) -> None:
    estimate = face.of(rows)
    low, high = face.measure.range
    assert math.isnan(estimate) or low <= estimate <= high


def weighted_within_range(face: Face, rows: Rows, random: Random) -> None:
    estimate = face.of(rows, weights=[random.uniform(0.01, 9.0) for _ in rows.truth])
    low, high = face.measure.range
    assert math.isnan(estimate) or low <= estimate <= high
    assert math.isnan(estimate.low) or low <= estimate.low <= estimate <= estimate.high <= high


def undefined_where_a_denominator_is_zero(face: Face, rows: Rows, random: Random) -> None:
    estimate = face.of(rows)
    assert math.isnan(estimate) is (not is_defined(face, rows))
    if math.isnan(estimate):
        assert isinstance(estimate.undefined, str)
        assert estimate.undefined.strip()
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
    else:
        assert estimate.undefined is None


def weighted_undefined_alike(face: Face, rows: Rows, random: Random) -> None:
    estimate = face.of(rows, weights=[random.uniform(0.1, 3.0) for _ in rows.truth])
    assert math.isnan(estimate) is (not is_defined(face, rows))
    assert math.isnan(estimate) is (estimate.undefined is not None)


def interval_holds_the_estimate(face: Face, rows: Rows, random: Random) -> None:
    estimate = face.of(rows)
    low, high = face.measure.range
    if says_too_little(estimate):
        assert not estimate.method
    elif not math.isnan(estimate):
        assert low <= estimate.low <= estimate <= estimate.high <= high
        assert estimate.method


def says_too_little(estimate: Estimate) -> bool:
    """Whether it has no interval, and says that its rows are too few for one."""
    without = not math.isnan(estimate) and math.isnan(estimate.low) and math.isnan(estimate.high)
    return without and (estimate.note or "").startswith(TOO_FEW)


def no_interval_says_why(face: Face, rows: Rows, random: Random) -> None:
    estimate = face.of(rows)
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)
    if not math.isnan(estimate):
        assert estimate.note is not None
        assert estimate.note.startswith("no interval: ")
        assert not estimate.method


def carries_its_size(face: Face, rows: Rows, random: Random) -> None:
    level = random.choice([0.8, 0.95])
    estimate = face.of(rows, level)
    assert estimate.level == level
    if not math.isnan(estimate):
        assert 0 < estimate.n <= len(rows)


def narrows_with_rows(face: Face, rows: Rows, random: Random) -> None:
    widths = []
    for times in (1, 4, 16):
        estimate = face.of(rows, counts=[times] * len(rows))
        widths.append(estimate.high - estimate.low)
    # Left of its limit a partial AUC needs a whole negative before more of them can tell more.
    whole_one = rows.truth.count(0) * MAX_FPR >= 1
    declared = face.measure.of_scores
    waits = isinstance(declared, Ranked) and declared.reach < 1 and not whole_one
    few = _few(face, rows)
    for wide, narrow in [(widths[0], widths[-1])] if few else pairwise(widths):
        if not math.isnan(wide):
            narrower = narrow < (1.05 * wide if few else wide)
            assert narrower or (narrow == wide and (wide == 0 or waits)), widths


def _few(face: Face, rows: Rows) -> bool:
    """Whether unseen rows can outweigh a handful of rows, or a ranking has only a few points."""
    ranked = isinstance(face.measure.of_scores, Ranked)
    return len(rows) < 5 or (ranked and min(map(rows.truth.count, (0, 1))) < 5)


def widens_with_the_level(face: Face, rows: Rows, random: Random) -> None:
    if _few(face, rows):
        return
    estimates = [face.of(rows, level) for level in (0.5, 0.9, 0.99)]
    assert len({repr(estimate.value) for estimate in estimates}) == 1
    for inner, outer in pairwise(estimates):
        if math.isnan(inner.low):
            assert math.isnan(outer.low)
            continue
        assert outer.low <= inner.low
        assert inner.high <= outer.high
        width = inner.high - inner.low
        # Of one row the mean loss can be anything, whatever the level.
        anything = face.kind is Kind.LOST and len(rows) == 1
        # Two rows may leave the whole range, as far as floats tell.
        bottom, top = getattr(face.measure.of_scores, "between", None) or face.measure.range
        anything = anything or width >= (top - bottom) * (1 - 1e-12)
        assert outer.high - outer.low > width or width == 0 or anything


# -- scores ----------------------------------------------------------------------------------------


def fast_is_by_influence(face: Face, rows: Rows, random: Random) -> None:
    """What block sums give, value and variance, is what the influence of each row gives."""
    declared = face.tried.of_scores
    assert isinstance(declared, Ranked)
    for table in _score_counts(rows, random):
        if declared.missing(*table.effective()[::-1]) is not None or not all(table.totals()):
            continue
        fast, plain = declared.of(rank(table)), declared.by_influence(table)
        assert same(fast.value, plain.value, CLOSE)
        assert same(fast.variance, plain.variance, 1e-9)
        assert same(declared.value(table), fast.value, CLOSE)


def influences_add_up_to_nothing(face: Face, rows: Rows, random: Random) -> None:
    """What rows move, up and down, is nothing in all: more of every row changes no measure."""
    declared = face.tried.of_scores
    assert isinstance(declared, Ranked)
    for table in _score_counts(rows, random):
        if declared.missing(*table.effective()[::-1]) is None and all(table.totals()):
            influence = declared.influence(table)
            both = np.stack([influence.negative, influence.positive])
            moved = table.counts * both
            assert abs(float(moved.sum())) < 1e-9 * max(1.0, float(np.abs(moved).sum()))


def sums_are_of_the_loss(face: Face, rows: Rows, random: Random) -> None:
    """What was summed while rows were counted is the sum of the loss that is declared."""
    declared = face.measure.of_scores
    assert isinstance(declared, MeanLoss)
    weights = [random.choice([0.5, 1.0, 2.25]) for _ in rows.truth]
    for counts in (rows.counted(), rows.counted(weights=weights)):
        (table,) = counts.scores
        plain = declared.moments(table)
        assert same(declared.value(table), plain.mean, CLOSE)
        if declared.sums is not None:
            assert counts.losses is not None
            sums = declared.sums(counts.losses)
            assert same(sums.mean, plain.mean, 1e-9)
            assert same(sums.variance_of_mean, plain.variance_of_mean, 1e-8)
        losses = [declared.loss(table.scores, truth) for truth in (0, 1)]
        assert 0 <= np.min(losses) <= np.max(losses) <= declared.largest


def _score_counts(rows: Rows, random: Random) -> list[ScoreCounts]:
    """The ranking of rows as they are, counted, and with sampling weights."""
    counts = [random.randint(1, 3) for _ in rows.truth]
    weights = [random.choice([0.5, 1.0, 2.25]) for _ in rows.truth]
    given: list[dict[str, list[float]]] = [{}, {"counts": counts}, {"weights": weights}]
    return [rows.counted(**amounts).scores[0] for amounts in given]


# -- formulas --------------------------------------------------------------------------------------


def value_is_the_definition(face: Face, rows: Rows, random: Random) -> None:
    """The value is the float nearest to the exact one, averages by their definition."""
    if is_defined(face, rows):
        assert face.of(rows).value == float(counted(face, rows))


def counts_of_any_size(face: Face, rows: Rows, random: Random) -> None:
    """A hundred billion times the rows give the same value, of counts to the bit."""
    many = face.of(rows, counts=[10**11] * len(rows))
    assert same(face.of(rows), many, 0.0 if face.counted else CLOSE)


def vector_is_scalar(face: Face) -> None:
    """The float evaluator, over many tables at once, agrees with the exact one."""
    random = Random(11)
    size = face.scene[0]
    tables = np.array(
        [
            [[random.choice([0, 1, 2, 5, 40]) for _ in range(size)] for _ in range(size)]
            for _ in range(200)
        ]
    )
    quantity = face.quantity()
    vector = quantity.of_tables(tables.astype(float))
    assert vector.shape == (200,)
    for table, number in zip(tables.tolist(), vector.tolist(), strict=True):
        confusion = Confusion(
            tuple(str(i) for i in range(size)), tuple(tuple(row) for row in table)
        )
        assert same(quantity.value(confusion), number, CLOSE), table


def vector_of_cells_is_scalar(face: Face) -> None:
    """The same on the four cells."""
    formula = face.tried.formula
    assert formula is not None
    random = Random(13)
    cells = {
        name: [random.choice([0, 1, 3, 17]) for _ in range(200)]
        for name in ("TP", "FP", "FN", "TN")
    }
    vector = evaluate(formula, cells).tolist()
    for i, number in enumerate(vector):
        one = {name: column[i] for name, column in cells.items()}
        assert same(value(formula, one), number, CLOSE), one


def two_classes_are_binary(face: Face, rows: Rows, random: Random) -> None:
    """The formula over classes gives for two classes what the binary formula gives."""
    measure = face.measure
    assert measure.formula is not None
    assert measure.classes is not None
    table = rows.table()
    assert same(
        value(measure.formula, binary_cells(table, 1)), value(measure.classes, class_cells(table))
    )


def own_prevalence_changes_nothing(face: Face, rows: Rows, random: Random) -> None:
    positives = sum(rows.truth)
    if 0 < positives < len(rows):
        estimate = face.read(rows.counted(), base_rate=positives / len(rows))
        assert same(face.of(rows), estimate, CLOSE)


def base_rate_is_repetition(face: Face, rows: Rows, random: Random) -> None:
    """The value at a base rate is the value of rows repeated until they have it."""
    positives = sum(rows.truth)
    negatives = len(rows) - positives
    if positives and negatives:
        more = random.choice([3, 7])
        repeated = rows.repeated([negatives * more if t == 0 else positives for t in rows.truth])
        share = Fraction(sum(repeated.truth), len(repeated))
        estimate = face.read(rows.counted(), base_rate=float(share))
        assert same(face.of(repeated), estimate, 1e-11)


def base_rate_interval(face: Face, rows: Rows, random: Random) -> None:
    rate = random.choice([0.3, 0.01, 0.0001])
    estimate = face.read(rows.counted(), base_rate=rate)
    low, high = face.measure.range
    assert math.isnan(estimate) is (estimate.undefined is not None)
    if not math.isnan(estimate) and not says_too_little(estimate):
        assert low <= estimate.low <= estimate <= estimate.high <= high


# -- what a measure may be indifferent to ----------------------------------------------------------


def class_swap(face: Face, rows: Rows, random: Random) -> None:
    assert_near(face.of(rows), face.of(rows.swapped()), CLOSE)


def transpose(face: Face, rows: Rows, random: Random) -> None:
    assert same(face.of(rows), face.of(rows.transposed()))


def prevalence(face: Face, rows: Rows, random: Random) -> None:
    more = rows.with_more_positives(random.randint(2, 5))
    assert same(face.of(rows), face.of(more), CLOSE)


def true_negatives(face: Face, rows: Rows, random: Random) -> None:
    more = rows.with_true_negatives(random.randint(1, 9))
    tolerance = 0.0 if face.counted else CLOSE
    assert same(face.of(rows), face.of(more), tolerance)


SCORE_MAPS: tuple[Callable[[float], float], ...] = (
    lambda score: score / 2,
    lambda score: score**2,
    lambda score: 10 * score - 3,
    math.exp,
    lambda score: math.atan(score) - 9,
)


def score_map(face: Face, rows: Rows, random: Random) -> None:
    mapped = rows.mapped(random.choice(SCORE_MAPS))
    assert fields(face.of(rows)) == fields(face.of(mapped))


def becomes_its_swapped(face: Face, rows: Rows, random: Random) -> None:
    other = _named(face.measure.swapped)
    assert other.swapped == face.measure.name
    assert_near(face.of(rows), Face(other, "positive").of(rows.swapped()), CLOSE)
    assert same(face.of(rows), Face(other, "positive").of(rows.swapped()))


def has_its_complement(face: Face, rows: Rows, random: Random) -> None:
    other = _named(face.measure.complement)
    assert other.complement == face.measure.name
    mine, theirs = face.of(rows), Face(other, face.how).of(rows)
    assert same(mine, 1 - theirs, CLOSE)
    assert same(mine.low, 1 - theirs.high, CLOSE)
    assert same(mine.high, 1 - theirs.low, CLOSE)


def has_no_swapped(face: Face) -> None:
    """No measure of the catalogue is what this one becomes: else it has to be found."""
    swapped = [face.of(rows.swapped()) for rows in face.fixed().values()]
    assert _equals(face, swapped) == []


def has_no_complement(face: Face) -> None:
    """No measure of the catalogue is 1 minus this one: else it has to be found."""
    rest = [1 - face.of(rows) for rows in face.fixed().values()]
    assert _equals(face, rest) == []


def _equals(face: Face, values: Sequence[float]) -> list[str]:
    """The measures that give these values on the fixed rows, one after the other."""
    return [
        other.measure.name
        for other in all_faces()
        if other.how == face.how and other.scene == face.scene
        if all(
            same(other.of(rows), expected, 1e-9)
            for rows, expected in zip(face.fixed().values(), values, strict=True)
        )
    ]


def _named(name: str | None) -> Measure:
    assert name is not None
    return catalogue.names()[name]


# -- the table -------------------------------------------------------------------------------------

NOT_COUNTED = Unless("it is not a formula of counts", lambda f: not f.counted)
NOT_POSITIVE = Unless(
    "it is said of one positive label",
    lambda f: f.how != "positive" and f.kind not in (Kind.PAIRED, Kind.OPEN),
)
OF_PAIRS = Unless(
    "it needs two classes; this one has more", lambda f: f.kind in (Kind.PAIRED, Kind.OPEN)
)
OF_TWO = Unless("two classes are in order, the positive last", lambda f: f.scene[0] == 2)
OPEN_SET = Unless("no class of an open set is the positive", lambda f: f.kind is Kind.OPEN)
HAS_NO_INTERVAL = Unless("it has no interval", lambda f: not f.has_interval)
HAS_INTERVAL = Unless("it has an interval", lambda f: f.has_interval)
HAS_NO_CLASSES = Unless("it has no formula over classes", lambda f: f.measure.classes is None)
MACRO_BY_CONTRACT = Unless(
    "its value for K classes is the macro average, by contract",
    lambda f: f.measure.name == "jaccard",
)
RESOLVED = Unless(
    "it asks for so many negatives, and more rows or other weights may be enough",
    lambda f: isinstance(f.measure.of_scores, Ranked) and f.measure.of_scores.negatives > 1,
)
NOT_RANKED = Unless("it is of no ranking", lambda f: f.kind is not Kind.RANKED)
NOT_LOST = Unless("it is no mean loss", lambda f: f.kind is not Kind.LOST)
NO_SWAPPED = Unless("it becomes none of the measures", lambda f: f.measure.swapped is None)
SWAPPED = Unless("it becomes one of the measures", lambda f: f.measure.swapped is not None)
NO_COMPLEMENT = Unless("1 minus it is none of the measures", lambda f: f.measure.complement is None)
COMPLEMENT = Unless("1 minus it is one of the measures", lambda f: f.measure.complement is not None)
SYMMETRIC = Unless("it becomes itself", lambda f: f.measure.symmetric)
NO_DECISION = Unless("a score can't change places with the truth", lambda f: not f.counted)
NO_SCORE = Unless("it does not see scores", lambda f: f.counted)


def _declared(law: Law) -> Unless:
    return Unless("it is declared, so it has to hold", lambda f: law in f.measure.invariant_under)


def _undeclared(law: Law) -> Unless:
    return Unless(
        "it is not declared, so it has to fail", lambda f: law not in f.measure.invariant_under
    )


def _indifference(
    law: Law,
    check: Callable[[Face, Rows, Random], None],
    change: Callable[[Rows], Rows],
    *unless: Unless,
) -> tuple[Statement, Statement]:
    """A law that holds where it is declared, and fails where it is not."""
    name = law.name.lower()
    return (
        Statement(f"{name}_holds", everywhere(check), (NOT_POSITIVE, *unless, _undeclared(law))),
        Statement(f"{name}_fails", somewhere(change), (NOT_POSITIVE, *unless, _declared(law))),
    )


STATEMENTS: tuple[Statement, ...] = (
    Statement("row_order", everywhere(row_order)),
    Statement("class_order", everywhere(class_order), (OF_TWO,)),
    Statement("count_is_repetition", everywhere(count_is_repetition)),
    Statement("zero_count_is_removal", everywhere(zero_count_is_removal)),
    Statement("zero_weight_is_removal", everywhere(zero_weight_is_removal)),
    Statement("weights_have_no_scale", everywhere(weights_have_no_scale)),
    Statement("weight_of_one_is_no_weight", everywhere(weight_of_one_is_no_weight)),
    Statement("whole_weight_is_repetition", everywhere(whole_weight_is_repetition), (RESOLVED,)),
    Statement("weighted_order", everywhere(weighted_order)),
    Statement("within_range", everywhere(within_range)),
    Statement("weighted_within_range", everywhere(weighted_within_range)),
    Statement(
        "undefined_where_a_denominator_is_zero", everywhere(undefined_where_a_denominator_is_zero)
    ),
    Statement("weighted_undefined_alike", everywhere(weighted_undefined_alike), (RESOLVED,)),
    Statement("carries_its_size", everywhere(carries_its_size)),
    Statement(
        "interval_holds_the_estimate", everywhere(interval_holds_the_estimate), (HAS_NO_INTERVAL,)
    ),
    Statement("no_interval_says_why", everywhere(no_interval_says_why), (HAS_INTERVAL,)),
    Statement("narrows_with_rows", everywhere(narrows_with_rows), (HAS_NO_INTERVAL,)),
    Statement("widens_with_the_level", everywhere(widens_with_the_level), (HAS_NO_INTERVAL,)),
    Statement("fast_is_by_influence", everywhere(fast_is_by_influence), (NOT_RANKED, NOT_POSITIVE)),
    Statement(
        "influences_add_up_to_nothing",
        everywhere(influences_add_up_to_nothing),
        (NOT_RANKED, NOT_POSITIVE),
    ),
    Statement("sums_are_of_the_loss", everywhere(sums_are_of_the_loss), (NOT_LOST, NOT_POSITIVE)),
    Statement("value_is_the_definition", everywhere(value_is_the_definition), (NOT_COUNTED,)),
    Statement("counts_of_any_size", everywhere(counts_of_any_size), (RESOLVED,)),
    Statement("vector_is_scalar", vector_is_scalar, (NOT_COUNTED,)),
    Statement("vector_of_cells_is_scalar", vector_of_cells_is_scalar, (NOT_COUNTED, NOT_POSITIVE)),
    Statement(
        "two_classes_are_binary",
        everywhere(two_classes_are_binary),
        (NOT_COUNTED, NOT_POSITIVE, HAS_NO_CLASSES, MACRO_BY_CONTRACT),
    ),
    Statement(
        "own_prevalence_changes_nothing",
        everywhere(own_prevalence_changes_nothing),
        (NOT_COUNTED, NOT_POSITIVE),
    ),
    Statement(
        "base_rate_is_repetition",
        everywhere(base_rate_is_repetition),
        (NOT_COUNTED, NOT_POSITIVE),
    ),
    Statement("base_rate_interval", everywhere(base_rate_interval), (NOT_COUNTED, NOT_POSITIVE)),
    *_indifference(Law.CLASS_SWAP, class_swap, Rows.swapped, OPEN_SET),
    *_indifference(Law.TRANSPOSE, transpose, Rows.transposed, NO_DECISION),
    *_indifference(Law.PREVALENCE, prevalence, lambda rows: rows.with_more_positives(3)),
    *_indifference(
        Law.TRUE_NEGATIVES, true_negatives, lambda rows: rows.with_true_negatives(5), OF_PAIRS
    ),
    *_indifference(
        Law.SCORE_MAP, score_map, lambda rows: rows.mapped(lambda score: score**2), NO_SCORE
    ),
    Statement("becomes_its_swapped", everywhere(becomes_its_swapped), (NOT_POSITIVE, NO_SWAPPED)),
    Statement("has_no_swapped", has_no_swapped, (NOT_POSITIVE, SYMMETRIC, SWAPPED, OPEN_SET)),
    Statement("has_its_complement", everywhere(has_its_complement), (NO_COMPLEMENT,)),
    Statement("has_no_complement", has_no_complement, (NOT_POSITIVE, COMPLEMENT)),
)


def cases() -> list[tuple[Statement, Face]]:
    """Each law with each way to read each measure that is in the catalogue now."""
    return [(law, face) for law in STATEMENTS for face in all_faces() if law.reason(face) is None]
