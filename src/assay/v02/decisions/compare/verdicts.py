"""What is asked of several models, and the answer: a plain sentence on each pair of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.v02.decisions.compare.comparison import (
    BETTER,
    EQUIVALENT,
    UNDECIDED,
    WORSE,
    Comparison,
    Difference,
    Verdict,
    direction,
)
from assay.v02.decisions.compare.models import Models, Pair, Together, is_chosen, scored
from assay.v02.decisions.compare.optimal import optimal
from assay.v02.engines.models import BITS, CountedModels
from assay.errors import MethodError
from assay.v02.evaluation.evaluation import mistakes_of_models
from assay.v02.evaluation.wording import keeping, none_keeps, untried
from assay.v02.inference import BCa, Bootstrap, Estimate, Significance, holm, method_of
from assay.v02.inference.bootstrap import SEED
from assay.v02.inference.significance import check_amount, normal, student
from assay.v02.inference.threshold_resampling import Progress
from assay.v02.inference.threshold_rules import AtThreshold, Rule, rule_of
from assay.v02.measures import ACCURACY, RECALL, parse
from assay.v02.measures.catalogue import DECIDING
from assay.v02.number_text import decimal, p_text, signed
from assay.v02.sources.labelling import undecided_note
from assay.v02.tally import JointScores
from assay.v02.tally.keeping import Grid

MARGIN = 0.01
# The chance with which what is called enough would decide.
POWER = 0.8
_MOST_ROWS = 10**12
_MOST_FOLDS = 1000


@dataclass(frozen=True)
class Size:
    """How much data there is.

    ``resting`` is of how many rows the measure is that decides; ``lasting`` the part of the
    variance, in units of one fold's, that more folds don't take away; ``df`` the degrees of freedom
    of the interval.
    """

    count: int
    unit: str
    resting: int = 0
    lasting: float = 0.0
    df: float = math.inf

    def needed(self, error: float, level: float, more: float, target: float) -> float:
        """How much data brings the interval's reach, and ``more`` errors, down to a target."""
        if self.lasting == 0:
            return self.count * ((normal(level) + more) * error / target) ** 2
        for folds in range(self.count + 1, _MOST_FOLDS + 1):
            ratio = (1 / folds + self.lasting) / (1 / self.count + self.lasting)
            if (student(level, folds - 1) + more) * error * math.sqrt(ratio) <= target:
                return folds
        return math.inf


def checked_margin(margin: float) -> float:
    """A margin above 0."""
    check_amount("margin", margin)
    return float(margin)


def verdict(
    difference: Difference, *, margin: float, pairs: int, size: Size, at: Rule | None = None
) -> Verdict:
    """What a difference says of its pair: is B better than A?

    Of several pairs, one model is called better only if Holm's p says so too.
    """
    name = difference.measure if at is None else f"{difference.measure} at {at}"
    if difference.measure == RECALL.name and at is not None:
        name = f"the {RECALL.title} at {at}"
    outcome, text, enough = _judged_difference(difference, name, margin, pairs, size)
    return Verdict(difference.a, difference.b, text, outcome, difference.measure, enough)


def _judged_difference(
    difference: Difference, name: str, margin: float, pairs: int, size: Size
) -> tuple[str, str, int | None]:
    gap, a, b = difference.difference, difference.a, difference.b
    if math.isnan(gap):
        return (
            UNDECIDED,
            f"{a} and {b} can't be compared: {name} is undefined for one of them.",
            None,
        )
    if math.isnan(gap.low):
        sentence = f"{a} and {b} can't be told apart: the spread of {name} is not known here"
        why = "" if gap.note is None else f" ({gap.note.removeprefix('no interval: ')})"
        return UNDECIDED, f"{sentence}{why}.", None
    if gap.low == gap.high == 0:
        return _no_difference(difference, name, margin, size)
    excludes_zero = gap.low > 0 or gap.high < 0
    shown = pairs == 1 or (
        difference.p_adjusted is not None and difference.p_adjusted < 1 - gap.level
    )
    if excludes_zero and shown:
        return _better_or_worse(difference, name, margin, pairs)
    if -margin < gap.low and gap.high < margin:
        return (
            EQUIVALENT,
            f"{a} and {b} are equivalent: {name} differs by less than {margin:g}.",
            None,
        )
    sentence = f"Not enough data to tell {a} from {b}: the difference in {name} lies between "
    sentence += f"{decimal(gap.low, sign='+')} and {decimal(gap.high, sign='+')}"
    if excludes_zero and difference.p_adjusted is not None:
        sentence += (
            f", which {pairs} pairs may show by chance ({p_text(difference.p_adjusted)} by Holm)"
        )
    enough, hope = rows_enough(gap, margin, pairs, size)
    return UNDECIDED, f"{sentence}. {hope}", enough


def _better_or_worse(
    difference: Difference, name: str, margin: float, pairs: int
) -> tuple[str, str, None]:
    """The later of two models as better or worse; of more, whichever is better stands first."""
    gap, sign = difference.difference, direction(difference.measure)
    higher = gap.low > 0
    first, second = difference.b, difference.a
    outcome = BETTER if higher == (sign > 0) else WORSE
    low, high = (gap.low, gap.high) if higher else (-gap.high, -gap.low)
    size = Estimate(abs(gap), low, high)
    word = outcome
    if pairs > 1 and outcome == WORSE:
        first, second, higher, word = second, first, not higher, BETTER
    by = f"{name} is {'higher' if higher else 'lower'} by {size}"
    if high < margin:
        by += f", within the margin of {margin:g}"
    return outcome, f"{first} is {word} than {second}: {by}.", None


def _no_difference(
    difference: Difference, name: str, margin: float, size: Size
) -> tuple[str, str, int | None]:
    """No row tells a difference, which many rows make sure of and few don't."""
    one = size.unit.removesuffix("s")
    a, b = difference.a, difference.b
    sentence = f"{a} and {b} can't be told apart: no {one} tells a difference in {name}."
    if not size.resting:
        return UNDECIDED, sentence, None
    # So large a share of rows that differ would have shown one among as many rows.
    share = 1 - difference.difference.level
    if 1 - share ** (1 / size.resting) < margin:
        return EQUIVALENT, f"{sentence} They are equivalent within {margin:g}.", None
    needed = _rounded_up(math.log(share) / math.log1p(-margin)) if margin < 1 else 1
    more = f"About {needed:,} {size.unit} alike would call them equivalent within {margin:g}."
    return UNDECIDED, f"{sentence} {more}", needed


def rows_enough(gap: Estimate, margin: float, pairs: int, size: Size) -> tuple[int | None, str]:
    """About how much data would decide, if the difference stays what it is; and that in words.

    A difference is shown when its interval leaves out 0, and equivalence when the interval lies
    within the margin: whichever takes less. The half-width shrinks with the root of the size.
    """
    from scipy.special import ndtri

    off = abs(float(gap))
    spanned = normal(gap.level) if math.isinf(size.df) else student(gap.level, size.df)
    error = (gap.high - gap.low) / 2 / spanned
    level = 1 - (1 - gap.level) / pairs
    ways = []
    if off > 0:
        ways.append((size.needed(error, level, float(ndtri(POWER)), off), "tell them apart"))
    if off < margin:
        # Either end may leave the margin.
        more = float(ndtri((1 + POWER) / 2))
        aim = f"call them equivalent within {margin:g}"
        ways.append((size.needed(error, level, more, margin - off), aim))
    least, aim = min(ways)
    needed = max(least, 1.2 * size.count)
    if not needed < _MOST_ROWS:
        hint = "; more rows might" if size.lasting else ""
        return None, f"No number of {size.unit} like these would be enough to {aim}{hint}."
    enough = _rounded_up(needed)
    return enough, (
        f"About {enough:,} {size.unit} like these would be enough to {aim}, if the difference "
        f"stays at {signed(float(gap), 3)}."
    )


def _rounded_up(number: float) -> int:
    """Rounded up to two digits.

    >>> _rounded_up(12345), _rounded_up(7)
    (13000, 7)
    """
    step: int = 10 ** max(len(str(math.ceil(number))) - 2, 0)
    return math.ceil(number / step) * step


# -- the question, and its answer from what was counted --------------------------------------------


RESAMPLES = 1000
# More are drawn only where they are asked for.
_MOST_RESAMPLES = 10_000
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


@dataclass(frozen=True)
class Question:
    """What is asked of models, whatever their rows came from."""

    models: tuple[str, ...]
    rule: Rule | None
    level: float
    method: Bootstrap
    resample: bool
    margin: float

    @classmethod
    def of(
        cls,
        models: Sequence[str],
        *,
        at: Rule | str | None = None,
        level: float | None = None,
        resamples: int | None = None,
        seed: int = SEED,
        interval: str | None = None,
        margin: float = MARGIN,
    ) -> Question:
        """A question that was checked."""
        rule = rule_of(at)
        method, level = method_of("bootstrap" if interval is None else interval, level)
        if not isinstance(method, Bootstrap) or isinstance(method, BCa):
            raise MethodError(f"differences are resampled by bootstrap; found {interval!r}")
        drawn = resamples_drawn(resamples, len(models), level)
        method = replace(method, resamples=drawn, seed=seed)
        resample = interval is not None
        return cls(tuple(models), rule, level, method, resample, checked_margin(margin))

    def answer(
        self, counted: CountedModels, together: Together, progress: Progress | None = None
    ) -> Comparison:
        """The comparison of what was counted; ``progress`` hears how many resamples are done."""
        models = Models(counted, self.level, self.method, self.resample, together, progress)
        pairs = [Pair(models, *two) for two in itertools.combinations(self.models, 2)]
        differences = _adjusted([difference for pair in pairs for difference in pair.differences()])
        tests = [test for pair in pairs for test in pair.tests()] + list(models.tests_of_all())
        deciding = _deciding(differences, self.rule)
        size = Size(models.units, models.unit, models.resting(parse(deciding)[0]))
        return Comparison(
            models=self.models,
            differences=tuple(differences),
            tests=tuple(adjusted_by_holm(tests)),
            verdicts=tuple(
                verdict(difference, margin=self.margin, pairs=len(pairs), size=size, at=self.rule)
                for difference in differences
                if difference.measure == deciding
            ),
            notes=(
                *_notes(models, self.rule),
                *_too_few(self.method.resamples, len(pairs), self.level),
                *_mode_notes(pairs, differences),
            ),
            at=self.rule,
            level=self.level,
            margin=self.margin,
            thresholds=_thresholds(models),
            estimates=models.estimates,
            per_class=models.per_class(),
            flips=tuple(flip for pair in pairs for flip in pair.flips()),
            optimal=optimal(counted.tallies),
            findings=mistakes_of_models(counted.tallies, threshold_given=not is_chosen(self.rule)),
            mode=counted.mode,
            tallies=counted.tallies,
        )


def _mode_notes(pairs: Sequence[Pair], differences: Sequence[Difference]) -> Iterator[str]:
    """How scores were kept, and what that means for what is said."""
    tables = [pair.scores for pair in pairs if pair.scores is not None]
    bits = [
        table.kept.bits
        for table in tables
        if isinstance(table, JointScores) and isinstance(table.kept, Grid)
    ]
    if not bits:
        yield from ["mode exact: the scores of every row were kept"] if tables else []
        return
    yield (
        f"mode grid: scores were kept in cells of {BITS} bits, so what depends on their order "
        f"inside a cell has bounds, which its interval holds; how models vary together is told in "
        f"cells of {min(bits)} bits. Say mode='exact' to keep every score"
    )
    shown = {difference.measure for difference in differences}
    tallies = pairs[0].models.tallies.values()
    missing = [m.name for m, _ in scored(list(tallies)) if m.name not in shown]
    if missing:
        yield f"a grid does not tell {', '.join(missing)}, which the scores themselves decide"


def _least_resamples(pairs: int, level: float) -> int:
    """The fewest resamples that may show a difference between any of the pairs.

    p of a bootstrap is never below 2/(resamples + 1), and Holm multiplies it by the pairs.
    """
    return math.ceil(2 * pairs / (1 - level))


def resamples_drawn(asked: int | None, models: int, level: float) -> int:
    """As many as were asked for, else as many as the level and the pairs need, up to a bound.

    >>> [resamples_drawn(None, 2, level) for level in (0.95, 0.999, 0.99999)]
    [1000, 2000, 10000]
    """
    needed = _least_resamples(math.comb(models, 2), level)
    return min(max(RESAMPLES, needed), _MOST_RESAMPLES) if asked is None else asked


def _too_few(resamples: int, pairs: int, level: float) -> Iterator[str]:
    if resamples < _least_resamples(pairs, level):
        of = "two models" if pairs == 1 else f"one of {pairs:,} pairs"
        yield (
            f"{resamples:,} resamples are too few to show a difference between {of}: it takes "
            f"{_least_resamples(pairs, level):,}"
        )


def _thresholds(models: Models) -> dict[str, float | None]:
    if not models.decided:
        return {}
    return {
        name: None if tally.threshold == math.inf else tally.threshold
        for name, tally in models.tallies.items()
        if tally.positive is not None and tally.scores is not None
    }


def _notes(models: Models, rule: Rule | None) -> Iterator[str]:
    undecided = models.counted.undecided
    # What is said of one model alone is said with its name.
    alone = {undecided_note(*ends) for ends in undecided.values()}
    yield from (note for note in models.counted.notes if note not in alone)
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
            mode = keeping(tally).name
            lead = none_keeps(f" of {name}", rule, mode)
            yield f"{lead}: it flags nothing there. {untried(mode)}".removesuffix(". ")


def _deciding(differences: Sequence[Difference], rule: Rule | None) -> str:
    """The measure that verdicts are about.

    Where a rule holds false alarms down, the detection rate; without one the ranking, of many
    classes that of each class alike, or of plain decisions the share that is right.
    """
    if rule is not None:
        return (ACCURACY if isinstance(rule, AtThreshold) else RECALL).name
    shown = {difference.measure for difference in differences}
    return next(name for name in DECIDING if name in shown)


def _adjusted(differences: Sequence[Difference]) -> list[Difference]:
    """Differences with Holm's p over the pairs of models, measure by measure.

    Measures say much the same of one pair, so they are not counted against each other.
    """
    families: dict[str, Iterator[float]] = {}
    adjusted = []
    for difference in differences:
        if difference.measure not in families:
            like = [d.p for d in differences if d.measure == difference.measure]
            families[difference.measure] = iter(holm([p for p in like if not math.isnan(p)]))
        adjusted_ps = families[difference.measure]
        adjusted.append(
            difference
            if math.isnan(difference.p)
            else replace(difference, p_adjusted=next(adjusted_ps))
        )
    return adjusted


def adjusted_by_holm(tests: Sequence[Significance]) -> Iterator[Significance]:
    """Tests with Holm's p over all of them."""
    adjusted_ps = iter(holm([test.p for test in tests if not math.isnan(test.p)]))
    for test in tests:
        yield test if math.isnan(test.p) else test.adjusted(next(adjusted_ps))
