"""The names of what measures speak of: ``label|measure`` for one class against the rest.

What belongs to no single class has no bar in its name: ``accuracy``, ``f1.macro``. Of two classes,
the recall of one is the specificity of the other, and bears one name only.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.decisions.audit.keys import Key, Meaning, meanings, measures_of
from assay.measures import LOWER, Measure, find

# An average over classes of which it is not told whether it is macro or weighted.
SOME_AVERAGE = "average"


@dataclass(frozen=True)
class Named:
    """What a key speaks of: a named quantity, or 1 minus it; ``of`` says which of several."""

    name: str
    complement: bool = False
    of: str = ""


@dataclass(frozen=True)
class Classes:
    """The labels of a claim; unless ``all_told`` there may be more classes than these."""

    labels: tuple[str, ...] = ()
    all_told: bool = True

    @property
    def two(self) -> bool:
        """Whether there are just two, [negative, positive]."""
        return self.all_told and len(self.labels) == 2

    def named(self, label: str, measure: Measure) -> str:
        """The one name of a measure of a class.

        >>> Classes(("normal", "attack")).named("normal", find("recall"))
        'attack|specificity'
        """
        if self.two:
            if measure.symmetric:
                return measure.name
            if label == self.labels[0] and measure.swapped:
                return f"{self.labels[1]}|{measure.swapped}"
        return f"{label}|{measure.name}"

    def quantity(self, meaning: Meaning) -> Named | None:
        """The quantity of a meaning; None where nothing binds it."""
        flipped = meaning.measure.better is LOWER and meaning.measure.complement is not None
        measure = find(meaning.measure.complement or "") if flipped else meaning.measure
        if meaning.average is not None:
            if not meaning.measure.averages:
                return None
            return Named(f"{measure.name}.{meaning.average}", flipped, meaning.words)
        if meaning.label is not None:
            if meaning.label not in self.labels:
                return None
            return Named(self.named(meaning.label, measure), flipped, meaning.words)
        return Named(measure.name, flipped) if measure.symmetric else None


def quantities_of(
    key: Key, classes: Classes, positive: str | None, convention: str | None = None
) -> tuple[Named, ...]:
    """What a key may mean; several where it does not say, none where nothing binds it.

    Without any labels a bare one-sided key is some average over classes. With a ``convention`` bare
    keys of two classes are averages of that kind.
    """
    if not classes.labels and key.bare and not key.measure.symmetric:
        if not key.measure.averages:
            return ()
        found = [Meaning(measure, None, SOME_AVERAGE, words) for measure, words in measures_of(key)]
    else:
        found = [
            meaning
            for meaning in meanings(key, positive)
            if not meaning.convention or meaning.average == convention
        ]
        if convention is not None and any(meaning.convention for meaning in found):
            found = [meaning for meaning in found if meaning.convention]
    named = [classes.quantity(meaning) for meaning in found]
    return tuple(dict.fromkeys(each for each in named if each is not None))
