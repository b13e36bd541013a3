"""Well-known security test sets and how many rows their parts have."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# EITHER is a part that some copies call the training file and others the test file.
TRAIN, TEST, WHOLE, EITHER = "train", "test", "whole", "either"
_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 4


@dataclass(frozen=True)
class Part:
    """A part of a set: its harmless rows and its attacks, where they are known, or all rows."""

    name: str
    role: str
    negatives: int | None = None
    positives: int | None = None
    rows: int = 0

    @property
    def total(self) -> int:
        """All rows."""
        if self.negatives is None or self.positives is None:
            return self.rows
        return self.negatives + self.positives


@dataclass(frozen=True)
class TestSet:
    """A set by its usual name, other spellings of it, and its parts."""

    __test__ = False  # not a test class, whatever its name looks like

    name: str
    spellings: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def split(self) -> bool:
        """Whether there is an official test part."""
        return any(part.role in (TEST, EITHER) for part in self.parts)


# Counted from the files themselves, or as the publishers and the first papers state them.
TEST_SETS: tuple[TestSet, ...] = (
    TestSet(
        "NSL-KDD",
        ("nslkdd", "kddtrain", "kddtest", "kddtest21"),
        (
            Part("KDDTrain+", TRAIN, 67_343, 58_630),
            Part("KDDTrain+_20Percent", TRAIN, 13_449, 11_743),
            Part("KDDTest+", TEST, 9_711, 12_833),
            Part("KDDTest-21", TEST, 2_152, 9_698),
        ),
    ),
    TestSet(
        "KDD Cup 99",
        ("kdd99", "kddcup", "kddcup99", "kddcup1999", "kdd1999", "kdd99cup"),
        (
            Part("the full training part", TRAIN, 972_781, 3_925_650),
            Part("the 10% training part", TRAIN, 97_278, 396_743),
            Part("the corrected test part", TEST, 60_593, 250_436),
        ),
    ),
    TestSet(
        "UNSW-NB15",
        ("unswnb15", "unswnb", "unsw15"),
        (
            Part("the part of 82,332 rows", EITHER, 37_000, 45_332),
            Part("the part of 175,341 rows", EITHER, 56_000, 119_341),
            Part("all four files", WHOLE, 2_218_761, 321_283),
        ),
    ),
    TestSet(
        "CIC-IDS2017",
        ("cicids2017", "cicids17", "ids2017"),
        (Part("all flows", WHOLE, 2_273_097, 557_646),),
    ),
    TestSet("CSIC 2010", ("csic2010", "httpcsic"), (Part("all requests", WHOLE, 36_000, 25_065),)),
    TestSet("Ling-Spam", ("lingspam",), (Part("all messages", WHOLE, 2_412, 481),)),
    TestSet("PU1", ("pu1",), (Part("all messages", WHOLE, 618, 481),)),
    TestSet("Enron-Spam", ("enronspam",), (Part("all messages", WHOLE, 16_545, 17_171),)),
    TestSet("SpamAssassin", ("spamassassin",), (Part("all messages", WHOLE, 4_150, 1_897),)),
    TestSet(
        "SMS Spam Collection",
        ("smsspam", "smsspamcollection"),
        (
            Part("all messages", WHOLE, 4_827, 747),
            Part("all messages as one copy reads them", WHOLE, 4_825, 747),
        ),
    ),
    TestSet("Spambase", ("spambase",), (Part("all messages", WHOLE, 2_788, 1_813),)),
    TestSet(
        "UCI Phishing Websites",
        ("phishingwebsites", "uciphishing", "uciphishingwebsites"),
        # Which of its two labels is the phishing one is told in two ways.
        (
            Part("all rows", WHOLE, 6_157, 4_898),
            Part("all rows", WHOLE, 4_898, 6_157),
        ),
    ),
    TestSet("Drebin", ("drebin",), (Part("all applications", WHOLE, 123_453, 5_560),)),
    TestSet(
        "EMBER 2017",
        ("ember", "ember2017"),
        (
            Part("the training part", TRAIN, rows=900_000),
            Part("its labelled rows", TRAIN, 300_000, 300_000),
            Part("the test part", TEST, 100_000, 100_000),
            Part("the training part of 2018", TRAIN, rows=800_000),
        ),
    ),
    TestSet(
        "EMBER 2018",
        ("ember2018",),
        (
            Part("the training part", TRAIN, rows=800_000),
            Part("its labelled rows", TRAIN, 300_000, 300_000),
            Part("the test part", TEST, 100_000, 100_000),
        ),
    ),
)


def named_in(text: str) -> TestSet | None:
    """The set that a text names, however it is spelled; the longest name wins.

    >>> found = named_in("Random forest on the NSL KDD test set")
    >>> found.name if found else None
    'NSL-KDD'
    """
    joined = set(_joined([word.casefold() for word in _WORD.findall(text)]))
    found = [
        (len(spelling), each)
        for each in TEST_SETS
        for spelling in each.spellings
        if spelling in joined
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def role_in(text: str) -> str | None:
    """Whether a text speaks of a test or of a training part; None where of neither or both."""
    words = {word.casefold() for word in _WORD.findall(text)}
    test = any(word.startswith(("test", "kddtest")) for word in words)
    train = any(word.startswith(("train", "kddtrain")) for word in words)
    if test == train:
        return None
    return TEST if test else TRAIN


def parts_with(
    negatives: int | None, positives: int | None, total: int
) -> Iterator[tuple[TestSet, Part]]:
    """All parts of any set that have these rows."""
    for known in TEST_SETS:
        for part in known.parts:
            if fits(part, negatives, positives, total):
                yield known, part


def fits(part: Part, negatives: int | None, positives: int | None, total: int) -> bool:
    """Whether a part has these rows; classes are compared where both sides tell them."""
    if part.total != total:
        return False
    told = negatives is not None and positives is not None and part.negatives is not None
    return not told or (part.negatives, part.positives) == (negatives, positives)


def _joined(words: Sequence[str]) -> Iterator[str]:
    """Every run of a few words, written as one."""
    for start, length in itertools.product(range(len(words)), range(1, _MOST_WORDS + 1)):
        if start + length <= len(words):
            yield "".join(words[start : start + length])
