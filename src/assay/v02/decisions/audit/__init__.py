"""Can these numbers be true? Each reported number against what the counts allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.v02.decisions.audit.claim import Calculation, Claim, Key, key_of
from assay.v02.decisions.audit.claim_findings import across_rows, findings_of
from assay.v02.decisions.audit.claims_file import build, read_claims
from assay.v02.decisions.audit.counts import filled, judge_calculation, judge_sizes
from assay.v02.decisions.audit.intervals import judge_error, judge_interval
from assay.v02.decisions.audit.matrix import (
    PrintedTable,
    derivations,
    judge_point,
    judge_scored,
    judged,
    undetermined,
)
from assay.v02.decisions.audit.mistakes import explain
from assay.v02.decisions.audit.reading import OtherReadings, Totals, read_document
from assay.v02.decisions.audit.search import judge_without_matrix
from assay.v02.decisions.audit.spreads import folds_of, hold_mean, in_folds, judge_sd
from assay.v02.decisions.audit.verdicts import (
    ORDER,
    WRONG,
    Audit,
    AuditedClaim,
    Conflict,
    Explanation,
    JudgedNumber,
    NumberVerdict,
    Printed,
    as_float,
    same_digits,
)
from assay.errors import InputError
from assay.v02.inference.significance import as_list
from assay.v02.measures import find

__all__ = [
    "Audit",
    "AuditedClaim",
    "Calculation",
    "Claim",
    "Conflict",
    "Explanation",
    "JudgedNumber",
    "Printed",
    "audit",
    "audit_files",
    "read_claims",
]

GOOD = (NumberVerdict.CONSISTENT, NumberVerdict.ROUNDING)
Given = Claim | Mapping[str, Any]


def audit(claims: Given | Iterable[Given]) -> Audit:
    """Judge the numbers of claims, given as :func:`read_claims` reads them or as plain tables.

    >>> claim = {"confusion": {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}}
    >>> result = audit(claim | {"reported": {"accuracy": "96.70%", "mcc": "0.9333"}})
    >>> [(number.key, str(number.verdict)) for number in result.claims[0].numbers]
    [('accuracy', 'consistent'), ('mcc', 'inconsistent')]
    """
    given: Any = [claims] if isinstance(claims, Claim | Mapping) else claims
    if isinstance(given, str | bytes | Path):
        raise InputError("claims are tables; to read a file, use audit_files")
    return Audit(
        tuple(
            audited(claim if isinstance(claim, Claim) else build(claim, position=position))
            for position, claim in enumerate(as_list("claims", given, "a table a claim"), 1)
        )
    )


def audit_files(
    paths: Iterable[str | Path],
    *,
    kind: str | None = None,
    input_format: str | None = None,
    totals: Totals | None = None,
    level: float | None = None,
    progress: Callable[[int, int | None], None] = lambda done, total: None,  # noqa: ARG005
) -> Audit:
    r"""Judge the claims of files; ``-`` is standard input. ``progress`` counts claims.

    A file holds claims, tables (Markdown, separated values, LaTeX), a classification report, a
    confusion matrix or an evaluation: recognised by content, or as ``kind`` says. ``totals`` are
    what all claims of a table share.
    Intervals whose level is not told are tried at 90, 95 and 99%, and at ``level``.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "claims.toml")
    ...     _ = path.write_text("[[claim]]\nsupport = { ham = 2412, spam = 481 }\nn = 2893\n")
    ...     audit_files([path]).consistent
    True
    """
    given = [paths] if isinstance(paths, str | Path) else as_list("paths", paths, "a name a file")
    if not given:
        raise InputError("no claims file was given: name a file, or - for standard input")
    documents = [
        read_document(path, kind=kind, input_format=input_format, totals=totals) for path in given
    ]
    claims = [claim for document in documents for claim in document.claims]
    others = [d.others.get(i) for d in documents for i in range(len(d.claims))]
    audited_claims = []
    for done, (claim, other) in enumerate(zip(claims, others, strict=True)):
        progress(done, len(claims))
        audited_claims.append(_fitting(claim, other or OtherReadings(), level))
    progress(len(claims), len(claims))
    notes = [note for document in documents for note in document.notes]
    return Audit(tuple(audited_claims), across_rows(claims, audited_claims), tuple(notes))


def _fitting(claim: Claim, others: OtherReadings, level: float | None) -> AuditedClaim:
    """A claim by its first reading that can be true; where that is not clear, it is asked."""
    first = audited(replace(claim, extra_level=level))
    possible = [(first, others.first)] if first.verdict is not NumberVerdict.INCONSISTENT else []
    if not possible or others.question:
        tried = [
            (audited(replace(each, extra_level=level)), said) for each, said in others.readings
        ]
        possible += [pair for pair in tried if pair[0].verdict is not NumberVerdict.INCONSISTENT]
    sides = {said.partition(" and ")[0]: each.numbers for each, said in reversed(possible)}
    if others.question and (not sides or len(set(sides.values())) > 1):
        raise InputError(others.question)
    if not possible:
        return first
    chosen, said = possible[0]
    if not said or len(sides) > 1:
        return chosen
    return replace(chosen, notes=(*chosen.notes, f"the numbers fit where {said}"))


def audited(claim: Claim) -> AuditedClaim:
    """One claim, each of its numbers judged and the wrong ones explained."""
    full = filled(claim.with_percents())
    claim = full.claim
    judging = _Judging(claim)
    numbers = [
        *judging.reported(),
        *judge_sizes(claim, full.used),
        *map(judge_calculation, claim.arithmetic),
    ]
    return AuditedClaim(
        name=claim.name,
        source=claim.source,
        numbers=explain(claim, numbers),
        conflicts=judging.conflicts,
        findings=findings_of(claim),
        notes=(*claim.notes, *judging.notes),
        file=claim.file,
    )


class _Judging:
    """Judges the reported numbers of one claim: values first, then what rests on them."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._keys = {text: key_of(text) for text in claim.reported}
        self._numbers: dict[str, JudgedNumber] = {}
        self.notes: tuple[str, ...] = ()
        self.conflicts: tuple[Conflict, ...] = ()

    def reported(self) -> list[JudgedNumber]:
        """The verdict on each number, in the order of the claim."""
        self._values()
        self._derive()
        self._spreads()
        return [self._numbers[text] for text in self._claim.reported if text in self._numbers]

    def _of(self, *statistics: str | None) -> list[tuple[Key, Printed]]:
        pairs = ((key, self._claim.reported[text]) for text, key in self._keys.items())
        return [
            (key, number)
            for key, number in pairs
            if key.statistic in statistics and isinstance(number, Printed)
        ]

    # -- values ------------------------------------------------------------------------------------

    def _values(self) -> None:
        undecided: list[tuple[Key, Printed]] = []
        for key, reported in self._of(None, "mean"):
            number = self._value(key, reported)
            if number is None:
                undecided.append((key, reported))
            else:
                self._numbers[key.text] = number
        if undecided:
            self._search(undecided)

    def _value(self, key: Key, reported: Printed) -> JudgedNumber | None:
        """A value against the folds, the matrix, or the bounds of the matrix; None if neither."""
        by_folds = self._by_folds(key, reported)
        if by_folds is not None and _is_mean(key, self._claim):
            return by_folds
        pooled = self._pooled(key, reported)
        if by_folds is None or self._claim.aggregate == "pooled":
            return pooled
        if pooled is None:
            return by_folds if by_folds.verdict in GOOD else None
        return min((pooled, by_folds), key=lambda each: ORDER.index(each.verdict))

    def _by_folds(self, key: Key, reported: Printed) -> JudgedNumber | None:
        folds = folds_of(key, self._claim)
        if not folds:
            return None
        return judged(key, reported, hold_mean(key, reported, folds, self._claim))

    def _pooled(self, key: Key, reported: Printed) -> JudgedNumber | None:
        """A value against the pooled counts, as far as they decide a mean of folds."""
        claim, value = self._claim, key.value
        if key.measure.formula is None and key.measure.classes is None:
            if claim.matrix is None and key.statistic is None:
                return None  # the search judges every value, also of scores
            # The bounds of an operating point are not those of a mean over several.
            known = replace(claim, matrix=None) if _may_be_mean(key, claim) else claim
            return replace(judge_scored(value, reported, known), key=key.text)
        number = judge_point(value, reported, claim)
        if number is None:
            return None
        if number.verdict is NumberVerdict.INCONSISTENT and _may_be_mean(key, claim):
            number = in_folds(value, number, reported, claim)
        return replace(number, key=key.text)

    def _search(self, undecided: Sequence[tuple[Key, Printed]]) -> None:
        """Numbers that no matrix decides: whether any matrix could give them together."""
        verdicts = judge_without_matrix(self._claim)
        self.notes = verdicts.notes
        asked = {key.text for key, _ in undecided}
        for key, reported in undecided:
            known = verdicts.judged.get(key.text) or undetermined(
                key, reported, "nothing decides it"
            )
            if known.verdict in WRONG and _may_be_mean(key, self._claim):
                known = undetermined(key, reported, "means of folds need not fit each other")
            self._numbers[key.text] = known
        self.conflicts = tuple(
            conflict
            for conflict in verdicts.conflicts
            if asked.issuperset(conflict.keys)
            and all(self._numbers[text].verdict is NumberVerdict.CONFLICT for text in conflict.keys)
        )
        named = {text for conflict in self.conflicts for text in conflict.keys}
        for key, reported in undecided:
            # What is right by the cells that are known takes the others out of their conflict.
            if self._numbers[key.text].verdict is NumberVerdict.CONFLICT and key.text not in named:
                said = "possible, but nothing in the claim decides it"
                self._numbers[key.text] = undetermined(key, reported, said)

    # -- what rests on other numbers ---------------------------------------------------------------

    def _table(self) -> PrintedTable:
        """The printed numbers that can be right."""
        good = [
            (key, self._as_meant(key, reported))
            for key, reported in self._of(None, "se")
            if key.text in self._numbers and self._trusted(self._numbers[key.text])
        ]
        return PrintedTable.of(self._claim, good)

    def _as_meant(self, key: Key, reported: Printed) -> Printed:
        """The reading of the digits that is nearest to what they were held against."""
        exact = self._numbers[key.text].recomputed
        if exact is None or isinstance(exact, tuple):
            return reported
        tried = self._claim.spellings(reported, key)
        return min(tried, key=lambda spelled: abs(as_float(spelled.value) - exact))

    def _trusted(self, number: JudgedNumber) -> bool:
        """Whether a number can be built on; without a matrix, also what nothing contradicts."""
        allowed = GOOD if self._claim.matrix is not None else (*GOOD, NumberVerdict.UNDETERMINED)
        scored = number.measure is not None and find(number.measure).formula is None
        return number.verdict in allowed or (
            scored and number.verdict is NumberVerdict.UNDETERMINED
        )

    def _derive(self) -> None:
        """Numbers that the counts do not quite give, but other printed numbers do."""
        if self._claim.matrix is None and not self._claim.cells:
            return
        tried = {NumberVerdict.INCONSISTENT, NumberVerdict.ROUNDING}
        changed = True
        while changed:
            changed = False
            table = self._table()
            for key, reported in self._of(None):
                before = self._numbers[key.text]
                if before.verdict in tried and self._derived(key, reported, table):
                    changed |= before.verdict is NumberVerdict.INCONSISTENT
            # What is less than one unit off is right already; how it came about is said once.
            tried = {NumberVerdict.INCONSISTENT}

    def _derived(self, key: Key, reported: Printed, table: PrintedTable) -> bool:
        for each in derivations(key, table.without(key)):
            value = each.value
            if value is None:
                continue
            for spelled in self._claim.spellings(reported, key):
                if same_digits(spelled, value):
                    before = self._numbers[key.text]
                    said = f"{before.said.rpartition(', ')[0]}; it follows from {each.words}"
                    self._numbers[key.text] = replace(
                        before, verdict=NumberVerdict.ROUNDING, said=said
                    )
                    return True
        return False

    def _spreads(self) -> None:
        claim = self._claim
        for key, reported in self._of("sd"):
            self._numbers[key.text] = judge_sd(key, reported, claim)
        table = self._table()
        for key, reported in self._of("se"):
            self._numbers[key.text] = judge_error(key, reported, claim, table)
        table = self._table()
        for text, key in self._keys.items():
            pair = claim.reported[text]
            if isinstance(pair, tuple):
                self._numbers[text] = judge_interval(key, pair, claim, table)


def _is_mean(key: Key, claim: Claim) -> bool:
    """Whether a number is said to be a mean of folds."""
    return key.statistic == "mean" or claim.aggregate == "fold-mean"


def _may_be_mean(key: Key, claim: Claim) -> bool:
    """Whether a number may be one: it is said to be, or folds are listed and nothing is said."""
    return _is_mean(key, claim) or (claim.aggregate is None and bool(claim.folds))
