"""Vendors: what they sell, and how each of them writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from assay.learn.scenarios.darknet.words import (
    COMMON,
    NAMES,
    NOTHING_SAID,
    SHARES,
    SYLLABLES,
    WORDS,
)

Item = TypeVar("Item")

_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.title, str.upper, str.capitalize)
_MARKS = ("", "", "", "", "*** {} ***", "[{}]", "{} !!", "~ {} ~", "★ {} ★", ">> {}")
_SEPARATORS = (" ", " ", " - ", " | ", ", ", " / ")


def pick(items: Sequence[Item], random: np.random.Generator) -> Item:
    """One of some items; much quicker than ``random.choice``, which makes an array of them."""
    return items[int(random.random() * len(items))]


@dataclass(frozen=True)
class Vendor:
    """Somebody who sells, with habits in goods and in words."""

    name: str
    categories: tuple[str, ...]
    brands: dict[str, tuple[str, ...]]  # of each family that is sold: names nobody else uses
    habits: tuple[str, ...]  # words that stand in every second title
    case: Callable[[str], str]
    mark: str
    separator: str
    signs: bool

    def title(
        self, category: str, family: str, difficulty: float, random: np.random.Generator
    ) -> str:
        """The title of one listing."""
        if random.random() < 0.12 * difficulty:
            return self._dressed([pick(NOTHING_SAID, random)], random)
        words = [
            self._word(category, family, difficulty, random) for _ in range(random.integers(3, 7))
        ]
        return self._dressed(list(dict.fromkeys(words)), random)

    def _word(
        self, category: str, family: str, difficulty: float, random: np.random.Generator
    ) -> str:
        """A word of the family, a brand, a habit, or one that belongs elsewhere."""
        telling = 0.62 - 0.4 * difficulty
        elsewhere = 0.03 + 0.17 * difficulty
        draw = random.random()
        words = COMMON
        if draw < telling:
            words = WORDS[category][family]
        elif draw < telling + 0.15:
            words = self.brands.get(family, self.habits)
        elif draw < telling + 0.15 + elsewhere:
            words = pick(tuple(WORDS[pick(NAMES, random)].values()), random)
        elif draw < telling + 0.25 + elsewhere:
            words = self.habits
        return pick(words, random)

    def _dressed(self, words: list[str], random: np.random.Generator) -> str:
        """Words as this vendor writes them."""
        text = self.separator.join(
            part for part in (" ".join(words[:3]), " ".join(words[3:])) if part
        )
        if self.signs and random.random() < 0.5:
            text = f"{text} by {self.name}"
        text = self.case(text)
        return self.mark.format(text) if self.mark else text


def make_vendors(count: int, random: np.random.Generator) -> list[Vendor]:
    """Vendors with one or two categories each, and names of their own."""
    shares = np.array(SHARES) / sum(SHARES)
    made: list[Vendor] = []
    taken: set[str] = set()
    while len(made) < count:
        name = _invented(random)
        if name in taken:
            continue
        taken.add(name)
        chosen = random.choice(NAMES, random.integers(1, 3), replace=False, p=shares)
        made.append(
            Vendor(
                name,
                tuple(str(each) for each in chosen),
                {
                    family: tuple(_invented(random) for _ in range(3))
                    for category in chosen
                    for family in WORDS[category]
                },
                tuple(str(each) for each in random.choice(COMMON, 3, replace=False)),
                pick(_CASES, random),
                pick(_MARKS, random),
                pick(_SEPARATORS, random),
                bool(random.random() < 0.3),
            )
        )
    return made


def _invented(random: np.random.Generator) -> str:
    return "".join(pick(SYLLABLES, random) for _ in range(random.integers(2, 5)))
