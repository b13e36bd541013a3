"""The order in which explanations are given, and the sentence of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.decisions.audit.judge import decimal
from assay.decisions.audit.mistakes.candidate import Candidate, Fit
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.values import Exact

MOST = 5
_APART = 2
_NAMED = 2
_LITTLE = 0.5


@dataclass(frozen=True)
class Group:
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
    found: Sequence[tuple[Candidate, Fit]], reported: Printed, explains: Mapping[str, int]
) -> list[Group]:
    """The mistakes that give a number, at most five, those that explain the most numbers first.

    Of two that explain as many, that one comes first which leaves more of the right numbers right;
    then the simpler; then the one that rounds to the digits before one that is cut off. Mistakes of
    one value are one explanation; after the second, so are those that the digits hardly tell apart.
    """
    ordered = sorted(
        found,
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
    return [Group(tuple(group)) for group in groups[:MOST]]


def _same(one: Candidate, other: Candidate) -> bool:
    """Whether two have one value, or are one mistake made with a rounded and an exact number."""
    return one.approximate == other.approximate or one.said == other.said


def _near(one: Candidate, other: Candidate, reported: Printed) -> bool:
    return all(
        abs(a.middle - b.middle) * 2 <= reported.unit
        for a, b in zip(one.ends, other.ends, strict=True)
    )


def sentence(
    group: Group, reported: Sequence[Printed], explains: int, wrong: int, chance: float
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


def _shown(value: Exact, like: Printed) -> str:
    """A value a digit longer than the printed one; of a wide one, both ends."""
    if value.high - value.low <= like.unit:
        return decimal(value, like)
    low, high = (decimal(Exact.of(end), like) for end in (value.low, value.high))
    return f"something from {low} to {high}"


def _odds(chance: float, digits: int) -> str:
    if chance < 0.001:
        share = "less than 0.1%"
    else:
        share = f"{chance:.1%}" if chance < 0.1 else f"{chance:.0%}"
    number = f"a random number of {digits} digit{'' if digits == 1 else 's'}"
    said = f"{number} would be explained so {share} of the time"
    return said if chance <= _LITTLE else f"{said}, which is no evidence"
