"""The verdict on each number of a claim whose matrix is not told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.decisions.audit.result import Conflict, Judged, Verdict
from assay.decisions.audit.search.blame import Blame, Numbers, blame, smallest
from assay.decisions.audit.search.bonds import Fit
from assay.decisions.audit.search.numbers import Number


class Judge(Protocol):
    """Knows what numbers can be true together, and what those that can mean for each other."""

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""

    def fit(self, i: int, kept: Numbers) -> Fit:
        """What the numbers that hold together say of one of them."""

    def why(self, members: Numbers) -> str:
        """Why some numbers can't be true together."""

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        """The value that the others give for a number that can't be right, and in words."""


@dataclass(frozen=True)
class Verdicts:
    """What was found of some numbers: each by its key, the conflicts, and notes."""

    judged: dict[str, Judged]
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    kept: Numbers = frozenset()


def judge_together(numbers: Sequence[Number], judge: Judge) -> Verdicts:
    """Judge numbers against each other."""
    everything = frozenset(range(len(numbers)))
    # A measure of scores is bounded by the operating point, never the other way round.
    scored = frozenset(i for i, number in enumerate(numbers) if number.scored)
    found = blame(everything - scored, judge.possible)
    kept = found.kept
    wrong = dict(found.wrong)
    for i in sorted(scored):
        if judge.possible(kept | {i}):
            kept |= {i}
        else:
            wrong[i] = smallest(kept | {i}, judge.possible)
    found = Blame(wrong, found.conflicts, kept)
    conflicts = tuple(_conflict(numbers, members, judge) for members in found.conflicts)
    judged = {}
    for i, number in enumerate(numbers):
        fit = _fit(i, numbers, found, judge)
        judged[number.key.text] = Judged(
            number.key.text,
            number.key.measure.name,
            number.printed.text,
            fit.recomputed,
            fit.verdict,
            fit.said,
        )
    return Verdicts(judged, conflicts, (), kept)


def _fit(i: int, numbers: Sequence[Number], found: Blame, judge: Judge) -> Fit:
    if i in found.wrong:
        return _wrong(i, numbers, found, judge)
    for members in found.conflicts:
        if i in members:
            others = [_named(numbers[k]) for k in sorted(members - {i})]
            said = f"it or {_listed(others, 'or')} is wrong: {judge.why(members)}"
            return Fit(Verdict.CONFLICT, None, said)
    return judge.fit(i, found.kept)


def _wrong(i: int, numbers: Sequence[Number], found: Blame, judge: Judge) -> Fit:
    members = found.wrong[i]
    others = [_named(numbers[k]) for k in sorted(members - {i})]
    why = judge.why(members)
    said = f"can't hold together with {_listed(others, 'and')}: {why}" if others else why
    value, instead = judge.instead(i, found.kept)
    return Fit(Verdict.INCONSISTENT, value, f"{said}{'; ' if instead else ''}{instead}")


def _conflict(numbers: Sequence[Number], members: Numbers, judge: Judge) -> Conflict:
    named = [numbers[k] for k in sorted(members)]
    text = (
        f"at least one of {_listed([_named(each) for each in named], 'and')} is wrong, and it "
        f"can't be told which: {judge.why(members)}"
    )
    return Conflict(tuple(each.key.text for each in named), text)


def _named(number: Number) -> str:
    return f"{number.key.text} {number.printed.text}"


def _listed(words: Sequence[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
