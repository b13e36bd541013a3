"""What a claim shows beyond its numbers: coded findings, and the well-known test sets they know.

A001  the decisions look inverted: turned over they would be right far more often.
A002  the counts are not those of the test set that is named.
A003  rows of one table need test sets of unlike shares of positives.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.v02.decisions.audit.claim import Claim, key_of
from assay.v02.decisions.audit.counts import rows_of, total_of
from assay.v02.decisions.audit.verdicts import AuditedClaim, NumberVerdict, Printed
from assay.v02.escaping import plural
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.findings.finding import Code
from assay.v02.measures import HIGHER
from assay.v02.number_text import percent
from assay.v02.sources.labelling import NEGATIVE_WORDS

# EITHER is a part that some copies call the training file and others the test file.
TRAIN, TEST, WHOLE, EITHER = "train", "test", "whole", "either"
_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 4


@dataclass(frozen=True)
class DataPart:
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
    parts: tuple[DataPart, ...]

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
            DataPart("KDDTrain+", TRAIN, 67_343, 58_630),
            DataPart("KDDTrain+_20Percent", TRAIN, 13_449, 11_743),
            DataPart("KDDTest+", TEST, 9_711, 12_833),
            DataPart("KDDTest-21", TEST, 2_152, 9_698),
        ),
    ),
    TestSet(
        "KDD Cup 99",
        ("kdd99", "kddcup", "kddcup99", "kddcup1999", "kdd1999", "kdd99cup"),
        (
            DataPart("the full training part", TRAIN, 972_781, 3_925_650),
            DataPart("the 10% training part", TRAIN, 97_278, 396_743),
            DataPart("the corrected test part", TEST, 60_593, 250_436),
        ),
    ),
    TestSet(
        "UNSW-NB15",
        ("unswnb15", "unswnb", "unsw15"),
        (
            DataPart("the part of 82,332 rows", EITHER, 37_000, 45_332),
            DataPart("the part of 175,341 rows", EITHER, 56_000, 119_341),
            DataPart("all four files", WHOLE, 2_218_761, 321_283),
        ),
    ),
    TestSet(
        "CIC-IDS2017",
        ("cicids2017", "cicids17", "ids2017"),
        (DataPart("all flows", WHOLE, 2_273_097, 557_646),),
    ),
    TestSet(
        "CSIC 2010", ("csic2010", "httpcsic"), (DataPart("all requests", WHOLE, 36_000, 25_065),)
    ),
    TestSet("Ling-Spam", ("lingspam",), (DataPart("all messages", WHOLE, 2_412, 481),)),
    TestSet("PU1", ("pu1",), (DataPart("all messages", WHOLE, 618, 481),)),
    TestSet("Enron-Spam", ("enronspam",), (DataPart("all messages", WHOLE, 16_545, 17_171),)),
    TestSet("SpamAssassin", ("spamassassin",), (DataPart("all messages", WHOLE, 4_150, 1_897),)),
    TestSet(
        "SMS Spam Collection",
        ("smsspam", "smsspamcollection"),
        (
            DataPart("all messages", WHOLE, 4_827, 747),
            DataPart("all messages as one copy reads them", WHOLE, 4_825, 747),
        ),
    ),
    TestSet("Spambase", ("spambase",), (DataPart("all messages", WHOLE, 2_788, 1_813),)),
    TestSet(
        "UCI Phishing Websites",
        ("phishingwebsites", "uciphishing", "uciphishingwebsites"),
        # Which of its two labels is the phishing one is told in two ways.
        (
            DataPart("all rows", WHOLE, 6_157, 4_898),
            DataPart("all rows", WHOLE, 4_898, 6_157),
        ),
    ),
    TestSet("Drebin", ("drebin",), (DataPart("all applications", WHOLE, 123_453, 5_560),)),
    TestSet(
        "EMBER 2017",
        ("ember", "ember2017"),
        (
            DataPart("the training part", TRAIN, rows=900_000),
            DataPart("its labelled rows", TRAIN, 300_000, 300_000),
            DataPart("the test part", TEST, 100_000, 100_000),
            DataPart("the training part of 2018", TRAIN, rows=800_000),
        ),
    ),
    TestSet(
        "EMBER 2018",
        ("ember2018",),
        (
            DataPart("the training part", TRAIN, rows=800_000),
            DataPart("its labelled rows", TRAIN, 300_000, 300_000),
            DataPart("the test part", TEST, 100_000, 100_000),
        ),
    ),
)


def named_in(text: str) -> TestSet | None:
    """The set that a text names, however it is spelled; the longest name wins.

    >>> known = named_in("Random forest on the NSL KDD test set")
    >>> known.name if known else None
    'NSL-KDD'
    """
    joined = set(_joined([word.casefold() for word in _WORD.findall(text)]))
    matches = [
        (len(spelling), each)
        for each in TEST_SETS
        for spelling in each.spellings
        if spelling in joined
    ]
    return max(matches, key=lambda pair: pair[0])[1] if matches else None


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
) -> Iterator[tuple[TestSet, DataPart]]:
    """All parts of any set that have these rows."""
    for known in TEST_SETS:
        for part in known.parts:
            if fits(part, negatives, positives, total):
                yield known, part


def fits(part: DataPart, negatives: int | None, positives: int | None, total: int) -> bool:
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


# -- findings --------------------------------------------------------------------------------------

# One in a thousand: a model that is only bad must not be called inverted.
_BELOW_CHANCE = -3.0902
_SPLITS = (10, 15, 20, 25, 30, 33, 40, 50, 60, 67, 70, 75, 80, 85, 90)

INVERTED = Code(
    "A001",
    "warning",
    "the decisions look inverted",
    "A model that is wrong far more often than right knows the answer the other way round.",
    "Check which label is positive, and whether higher scores are more suspicious.",
)
OTHER_TEST_SET = Code(
    "A002",
    "warning",
    "another test set than the one that is named",
    "Results on other rows can't be held against those of the named test set.",
    "Name the part that was used, or judge the model on all rows of the one that is named.",
)
UNLIKE_ROWS = Code(
    "A003",
    "info",
    "rows of one table are of unlike test sets",
    "Models that were judged on unlike rows can't be held against each other.",
    "Say which rows each model was judged on, or name the averages that the numbers are.",
)
CODES = (INVERTED, OTHER_TEST_SET, UNLIKE_ROWS)


def findings_of(claim: Claim) -> tuple[Finding, ...]:
    """All findings of a claim, in the order of their codes."""
    findings = (_inverted(claim), _not_that_set(claim))
    return tuple(finding for finding in findings if finding is not None)


def across_rows(claims: Sequence[Claim], audited: Sequence[AuditedClaim]) -> tuple[Finding, ...]:
    """Findings of the rows of one table together: whether one test set can give them all."""
    from assay.v02.decisions.audit.search import prevalence_of

    tables: dict[tuple[str, str], list[tuple[str, tuple[float, float], bool]]] = {}
    for claim, row_audit in zip(claims, audited, strict=True):
        told = claim.support or claim.cells or claim.matrix is not None
        if (
            not claim.table
            or told
            or claim.aggregate
            or row_audit.verdict is NumberVerdict.INCONSISTENT
        ):
            continue
        share = prevalence_of(claim)
        if share is not None:
            row = claim.name, share, claim.positive is not None
            tables.setdefault((claim.file, claim.table), []).append(row)
    return tuple(filter(None, map(_unlike, tables.values())))


def _unlike(rows: Sequence[tuple[str, tuple[float, float], bool]]) -> Finding | None:
    """Two rows whose shares of positives can't be the same; None where all can."""
    first = min(rows, key=lambda row: row[1][1])
    last = max(rows, key=lambda row: row[1][0])
    if first[1][1] >= last[1][0]:
        return None
    (name, (low, high), stated), (other, (low_too, high_too), _) = first, last
    return UNLIKE_ROWS.found(
        f"If the numbers are those of the positive class, {name!r} needs {_share(low, high)} "
        f"positives and {other!r} {_share(low_too, high_too)}: they can't be of one test set.",
        "warning" if stated else "info",
    )


def _share(low: float, high: float) -> str:
    return f"{percent(max(low, 0))} to {percent(min(high, 1))}"


# -- A001 ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cells:
    tn: int
    fp: int
    fn: int
    tp: int

    @property
    def n(self) -> int:
        return self.tn + self.fp + self.fn + self.tp

    @property
    def below_chance(self) -> bool:
        """Whether attacks are flagged less often than harmless rows, beyond what chance does."""
        positives, negatives = self.tp + self.fn, self.fp + self.tn
        flagged = self.tp + self.fp
        if not positives or not negatives or not 0 < flagged < self.n:
            return False
        # Counts jump by one: the correction keeps small tables from being accused.
        each = 1 / positives + 1 / negatives
        gap = self.tp / positives - self.fp / negatives + each / 2
        pooled = flagged / self.n
        return gap < _BELOW_CHANCE * math.sqrt(pooled * (1 - pooled) * each)


def _inverted(claim: Claim) -> Finding | None:
    matrices = _cells(claim)
    if not matrices or not all(each.below_chance for each in matrices):
        return None
    cells = matrices[len(matrices) // 2]
    right = (cells.tp + cells.tn) / cells.n
    return INVERTED.found(
        f"The model looks inverted: it is right on {percent(right)} of {cells.n:,} rows and flags "
        f"harmless rows more often than attacks. Flipping the decisions gives "
        f"{percent(1 - right)}: check which label is positive and the direction of the score.",
    )


def _cells(claim: Claim) -> list[_Cells]:
    """The cells of a binary claim: its matrix, or those that its numbers leave."""
    if not claim.binary:
        return []
    if claim.matrix is not None:
        (tn, fp), (fn, tp) = claim.matrix.cells
        return [_Cells(int(tn), int(fp), int(fn), int(tp))]
    if not _looks_bad(claim):
        return []
    from assay.v02.decisions.audit.search import matrices_of

    return [_Cells(each["TN"], each["FP"], each["FN"], each["TP"]) for each in matrices_of(claim)]


def _looks_bad(claim: Claim) -> bool:
    """Whether a reported number is on the wrong side of chance, so that a search is worth it."""
    for text, reported in claim.reported.items():
        key = key_of(text)
        if key.statistic is not None or not isinstance(reported, Printed):
            continue
        low, high = key.measure.range
        # The middle of the range of a measure of both classes is where guessing ends up.
        both = key.measure.symmetric and key.measure.better is HIGHER and math.isfinite(high)
        if both and reported.value < (low + high) / 2:
            return True
    return False


# -- A002 ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """The rows of a claim, by class where that is told."""

    negatives: int | None
    positives: int | None
    total: int

    @property
    def said(self) -> str:
        if self.negatives is None or self.positives is None:
            return f"{self.total:,} {plural(self.total, 'row', 'rows')}"
        return f"{self.total:,} rows ({self.negatives:,} and {self.positives:,})"


def _not_that_set(claim: Claim) -> Finding | None:
    text = claim.dataset or f"{claim.name} {claim.source}"
    known = named_in(text)
    rows = _rows(claim)
    if known is None or rows is None:
        return None
    role = role_in(text)
    asked = [
        part for part in known.parts if role in (None, part.role) or part.role in (WHOLE, EITHER)
    ]
    if any(_same(part, rows) for part in asked):
        return None
    elsewhere = next((part for part in known.parts if _same(part, rows)), None)
    if elsewhere is not None:
        message = (
            f"The claim speaks of a {role} part of {known.name}, but {rows.said} are those of "
            f"{elsewhere.name}: this is not that test set."
        )
        return OTHER_TEST_SET.found(message)
    usual = _usual(known, role)
    hints = "; ".join(_hints(known, rows))
    share = not known.split and rows.total < max(part.total for part in known.parts)
    message = (
        f"These {rows.said} are not the {usual.total:,} rows of {known.name} ({_counted(usual)}): "
        f"this is not that test set{', but may be a part of it' if share else ''}."
    )
    message += f" {hints[0].upper()}{hints[1:]}." if hints else ""
    return OTHER_TEST_SET.found(message, "info" if share else "warning")


def _counted(part: DataPart) -> str:
    if part.negatives is None or part.positives is None:
        return part.name
    return f"{part.name}: {part.negatives:,} and {part.positives:,}"


def _usual(known: TestSet, role: str | None) -> DataPart:
    """The part that is most likely meant."""
    for wanted in (role, TEST, EITHER, WHOLE):
        for part in known.parts:
            if part.role == wanted:
                return part
    return known.parts[0]


def _rows(claim: Claim) -> _Rows | None:
    total = total_of(claim)
    if total is None:
        return None
    by_label = rows_of(claim)
    if set(by_label) != set(claim.labels) or not by_label:
        return _Rows(None, None, total)
    if claim.binary and claim.positive in by_label:
        positives = by_label[claim.positive]
        return _Rows(total - positives, positives, total)
    quiet = [label for label in by_label if label.casefold() in NEGATIVE_WORDS]
    if len(quiet) != 1:
        return _Rows(None, None, total)
    return _Rows(by_label[quiet[0]], total - by_label[quiet[0]], total)


def _same(part: DataPart, rows: _Rows) -> bool:
    return fits(part, rows.negatives, rows.positives, rows.total)


def _hints(known: TestSet, rows: _Rows) -> Iterator[str]:
    """What the rows may be instead; the first that is found."""
    for part in known.parts:
        if fits(part, rows.positives, rows.negatives, rows.total):
            yield f"they are those of {part.name} with the classes exchanged"
            return
        if part.total == rows.total:
            yield f"there are as many as in {part.name}, but the classes are of another size"
            return
    whole = sum(part.total for part in _largest(known))
    if len(known.parts) > 1 and rows.total == whole:
        yield "they are its training and test parts together"
        return
    for other, part in parts_with(rows.negatives, rows.positives, rows.total):
        yield f"they are as many as in {part.name} of {other.name}"
        return
    for part in known.parts:
        if rows.negatives is not None and rows.negatives == part.negatives:
            yield f"the harmless rows are as many as in {part.name}, the others are not"
            return
        if rows.positives is not None and rows.positives == part.positives:
            yield f"the attacks are as many as in {part.name}, the others are not"
            return
    for part in known.parts:
        for part_percent in _SPLITS:
            if abs(rows.total - part.total * part_percent / 100) <= 1:
                yield f"they would be {part_percent}% of {part.name}, as a random split gives"
                return
    if rows.total > max(part.total for part in known.parts):
        yield "there are more rows than in any part of it"


def _largest(known: TestSet) -> Iterator[DataPart]:
    """The largest training and the largest test part; both where nobody agrees which is which."""
    yield from (part for part in known.parts if part.role == EITHER)
    for role in (TRAIN, TEST):
        parts = [part for part in known.parts if part.role == role]
        if parts:
            yield max(parts, key=lambda part: part.total)
