"""Why a reported number may be wrong: mistakes that give its printed digits, likeliest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.v02.decisions.audit.claim import Claim
from assay.v02.decisions.audit.mistakes.candidates import (
    Candidate,
    ClaimMatrix,
    DigitFit,
    Floats,
    Plausibility,
    Variant,
    chance,
    claim_matrix,
    guess,
    spans,
    spans_of_floats,
    swaps,
    together,
    variants,
)
from assay.v02.decisions.audit.mistakes.substitutes import from_decisions, is_area
from assay.v02.decisions.audit.mistakes.trials import (
    GUESS,
    LEAST_DIGITS,
    ReportedNumber,
    alone,
    measured,
    numbers_of,
    of_swaps,
    of_variant,
    twice,
)
from assay.v02.decisions.audit.verdicts import (
    Enclosure,
    Explanation,
    JudgedNumber,
    NumberVerdict,
    Printed,
    decimal,
)
from assay.v02.number_text import about

__all__ = ["explain"]

MOST = 5
_APART = 2
_NAMED = 2
_LITTLE = 0.5


@dataclass(frozen=True)
class MistakeGroup:
    """Mistakes that the digits can't tell apart, the likeliest first."""

    members: tuple[Candidate, ...]

    @property
    def first(self) -> Candidate:
        """The likeliest."""
        return self.members[0]

    @property
    def also(self) -> tuple[str, ...]:
        """The names of the others."""
        others = dict.fromkeys(member.mistake for member in self.members)
        return tuple(name for name in others if name != self.first.mistake)[:MOST]


def grouped(
    fits: Sequence[tuple[Candidate, DigitFit]], reported: Printed, explains: Mapping[str, int]
) -> list[MistakeGroup]:
    """The mistakes that give a number, at most five, those that explain the most numbers first.

    Of two that explain as many, that one comes first which leaves more of the right numbers right;
    then the simpler; then the one that rounds to the digits before one that is cut off. Mistakes of
    one value are one explanation; after the second, so are those that the digits hardly tell apart.
    """
    ordered = sorted(
        fits,
        key=lambda pair: (-explains[pair[0].mistake], pair[0].spoils, pair[0].tier, pair[1]),
    )
    groups: list[list[Candidate]] = []
    for candidate, _ in ordered:
        home = next((group for group in groups if _same(group[0], candidate)), None)
        if home is None and len(groups) >= _APART:
            home = next((group for group in groups if _near(group[0], candidate, reported)), None)
        if home is None:
            groups.append([candidate])
        else:
            home.append(candidate)
    return [MistakeGroup(tuple(group)) for group in groups[:MOST]]


def _same(one: Candidate, other: Candidate) -> bool:
    """Whether two have one value, or are one mistake made with a rounded and an exact number."""
    return one.approximate == other.approximate or one.said == other.said


def _near(one: Candidate, other: Candidate, reported: Printed) -> bool:
    return all(
        abs(a.middle - b.middle) * 2 <= reported.unit
        for a, b in zip(one.ends, other.ends, strict=True)
    )


def sentence(
    group: MistakeGroup, reported: Sequence[Printed], explains: int, wrong: int, chance: float
) -> str:
    """What was done, what it gives, what else it explains, and how much that says."""
    first = group.first
    ends = " to ".join(_shown(end, like) for end, like in zip(first.ends, reported, strict=True))
    said = f"{first.said[0].upper()}{first.said[1:]} gives {ends}"
    others = list(
        dict.fromkeys(c.said.strip(",") for c in group.members[1:] if c.said != first.said)
    )
    if others:
        said += f" (and so does {' or '.join(others[:_NAMED])})"
    if explains > 1:
        said += f"; the same mistake explains {explains} of {wrong} inconsistent numbers"
    if first.spoils:
        said += f"; it would spoil {first.spoils} of the right ones"
    return f"{said}; {_odds(chance, reported[0].digits)}."


def _shown(value: Enclosure, like: Printed) -> str:
    """A value a digit longer than the printed one; of a wide one, both ends."""
    if value.high - value.low <= like.unit:
        return decimal(value, like)
    low, high = (decimal(Enclosure.of(end), like) for end in (value.low, value.high))
    return f"something from {low} to {high}"


def _odds(chance: float, digits: int) -> str:
    share = "less than 0.1%" if chance < 0.001 else about(chance)
    number = f"a random number of {digits} digit{'' if digits == 1 else 's'}"
    said = f"{number} would be explained so {share} of the time"
    return said if chance <= _LITTLE else f"{said}, which is no evidence"


_AREA_DIGITS = 3
_RIGHT = (NumberVerdict.CONSISTENT, NumberVerdict.ROUNDING)


@dataclass
class _Trial:
    """A number and all that was tried with it."""

    number: ReportedNumber
    tried: list[Candidate]
    wrong: bool
    swapped: Floats | None = None

    def fitting(self) -> list[tuple[Candidate, DigitFit]]:
        """The mistakes that give its digits."""
        # What nothing contradicts is told only where the digits are exactly those of a mistake.
        allowed = tuple(DigitFit) if self.wrong else (DigitFit.ROUNDED,)
        fits = ((candidate, self.number.fits(candidate)) for candidate in self.tried)
        return [(candidate, fit) for candidate, fit in fits if fit is not None and fit in allowed]

    def chance(self, tier: Plausibility) -> float:
        """How often a random number would be explained by a mistake as simple as this tier."""
        reported = self.number.reported[0]
        right = self.number.right
        values = [
            candidate.value
            for candidate in self.tried
            if candidate.tier <= tier and float(candidate.value) != right
        ]
        parts = [spans(values, reported)]
        if self.swapped is not None and tier >= Plausibility.SWAP:
            parts.append(spans_of_floats(self.swapped.ravel(), reported))
        return chance(together(parts), reported, self.number.bounds)


def explain(claim: Claim, judged: Sequence[JudgedNumber]) -> tuple[JudgedNumber, ...]:
    """The same numbers; those that are inconsistent with the mistakes that would give them.

    An area under a curve that nothing decides is told to be that of the hard decisions where its
    digits say so.
    """
    table = claim_matrix(claim)
    numbers = dict(enumerate(numbers_of(claim, judged)))
    trials = {}
    right = []
    for i, number in numbers.items():
        if number is not None and judged[i].verdict in _RIGHT:
            right.append(number)
        elif number is not None:
            tried = _tried(claim, number, judged[i], table)
            trials[i] = _Trial(number, tried, judged[i].verdict is NumberVerdict.INCONSISTENT)
    changed: list[Variant] = []
    if table is not None and any(trial.wrong for trial in trials.values()):
        changed = list(variants(claim, table))
        _try_whole(table, changed, trials, measured(right, table))
    for trial in trials.values():
        _try_twice(trial, changed)
    wrong = sum(one.verdict is NumberVerdict.INCONSISTENT for one in judged)
    fitting = {i: trial.fitting() for i, trial in trials.items()}
    explains = Counter(
        mistake for fits in fitting.values() for mistake in {c.mistake for c, _ in fits}
    )
    explained = {
        i: tuple(
            _written(trial, group, explains, wrong)
            for group in grouped(fitting[i], trial.number.reported[0], explains)
        )
        for i, trial in trials.items()
    }
    return tuple(_told(one, explained.get(i, ())) for i, one in enumerate(judged))


def _told(one: JudgedNumber, explanations: tuple[Explanation, ...]) -> JudgedNumber:
    """A number with its mistakes; without any, one that is in doubt is not accused."""
    if one.doubt and not explanations:
        return replace(one, verdict=NumberVerdict.UNDETERMINED, said=one.doubt)
    return replace(one, explanations=explanations)


def _tried(
    claim: Claim, number: ReportedNumber, one: JudgedNumber, table: ClaimMatrix | None
) -> list[Candidate]:
    """What may have been done with this number alone; of what is undecided, only with an area."""
    if one.verdict is NumberVerdict.INCONSISTENT:
        return list(alone(claim, number, table))
    key = number.key
    if table is None or key is None or not is_area(key):
        return []
    return list(from_decisions(key, table)) if number.reported[0].digits >= _AREA_DIGITS else []


def _try_whole(
    table: ClaimMatrix,
    changed: Iterable[Variant],
    trials: dict[int, _Trial],
    right: Sequence[ReportedNumber],
) -> None:
    """Add what mistakes with the whole matrix give for each number."""
    given = measured([trial.number for trial in trials.values()], table)
    wrong = {i: t.number for i, t in trials.items() if t.wrong and t.number in given}
    for variant in changed:
        for i, candidate in of_variant(variant, table, wrong, right):
            trials[i].tried.append(candidate)
    values, candidates = of_swaps(swaps(table), wrong, right)
    for i, of_number in values.items():
        trials[i].swapped = of_number
    for i, candidate in candidates:
        trials[i].tried.append(candidate)


def _try_twice(trial: _Trial, changed: Sequence[Variant]) -> None:
    """Add pairs of mistakes where no single one is found and the digits can tell."""
    number, reported = trial.number, trial.number.reported[0]
    few = reported.digits < LEAST_DIGITS
    if few or not trial.wrong or number.right is None or trial.fitting():
        return
    pairs = list(twice(number, trial.tried, changed))
    if pairs and guess(spans([c.value for c in pairs], reported), reported, number.right) <= GUESS:
        trial.tried += pairs


def _written(
    trial: _Trial, group: MistakeGroup, explains: Mapping[str, int], wrong: int
) -> Explanation:
    chance = trial.chance(group.first.tier)
    return Explanation(
        group.first.mistake,
        float(group.first.value),
        sentence(
            group, trial.number.like(group.first), explains[group.first.mistake], wrong, chance
        ),
        explains[group.first.mistake],
        chance,
        group.also,
    )
