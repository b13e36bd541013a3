"""What is asked of several models, and the answer from what was counted of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.decisions.compare.comparison import Comparison, Difference
from assay.decisions.compare.models import Models, Pair, scored
from assay.decisions.compare.thresholds import Together, is_chosen
from assay.decisions.compare.verdicts import MARGIN, Size, checked_margin, verdict
from assay.decisions.optimal import optimal
from assay.engines.models import BITS, CountedModels
from assay.errors import MethodError
from assay.evaluation.mistakes import mistakes_of_models
from assay.inference import BCa, Bootstrap, Significance, holm, method_of
from assay.inference.bootstrap import SEED
from assay.inference.operating import AtThreshold, Rule, parse_rule
from assay.measures import ACCURACY, RECALL, parse
from assay.measures.shown import DECIDING
from assay.sources.thresholds import undecided_note
from assay.tally import JointScores
from assay.tally.keeping import Grid

RESAMPLES = 1000
# More are drawn only where they are asked for.
_MOST = 10_000
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
        rule = parse_rule(at) if isinstance(at, str) else at
        method, level = method_of(interval or "bootstrap", level)
        if not isinstance(method, Bootstrap) or isinstance(method, BCa):
            raise MethodError(f"differences are resampled by bootstrap; found {interval!r}")
        drawn = _resamples(resamples, math.comb(len(models), 2), level)
        method = replace(method, resamples=drawn, seed=seed)
        resample = interval is not None
        return cls(tuple(models), rule, level, method, resample, checked_margin(margin))

    def answer(self, counted: CountedModels, together: Together) -> Comparison:
        """The comparison of what was counted."""
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
                *_notes(models, self.rule),
                *_too_few(self.method.resamples, len(pairs), self.level),
                *_mode_notes(pairs, differences),
            ),
            at=self.rule,
            level=self.level,
            margin=self.margin,
            thresholds=_thresholds(models),
            estimates=models.estimates(),
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


def _least(pairs: int, level: float) -> int:
    """The fewest resamples that may show a difference between any of the pairs.

    p of a bootstrap is never below 2/(resamples + 1), and Holm multiplies it by the pairs.
    """
    return math.ceil(2 * pairs / (1 - level))


def _resamples(asked: int | None, pairs: int, level: float) -> int:
    return min(max(RESAMPLES, _least(pairs, level)), _MOST) if asked is None else asked


def _too_few(resamples: int, pairs: int, level: float) -> Iterator[str]:
    if resamples < _least(pairs, level):
        of = "two models" if pairs == 1 else f"one of {pairs:,} pairs"
        yield (
            f"{resamples:,} resamples are too few to show a difference between {of}: it takes "
            f"{_least(pairs, level):,}"
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
            yield f"no threshold of {name} keeps {rule}: it flags nothing there"


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
