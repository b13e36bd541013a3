"""Is an evaluation on these rows honest? Coded checks for leaks, one file each, and ten pitfalls.

Here are all checks in the order of their codes, and what they come to together.

Reference: Arp, Quiring, Pendlebury, Warnecke, Pierazzi, Wressnegger, Cavallaro and Rieck, "Dos and
Don'ts of Machine Learning in Computer Security", USENIX Security 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from assay.v02.evaluation.findings import urgent_first
from assay.v02.inference.fields import Recorded, Result, stored
from assay.v02.inference.significance import check_learning_seed, check_level, check_share
from assay.v02.learn.checks import (
    conflicting_labels,
    constant_columns,
    duplicates_across,
    duplicates_inside,
    few_rows,
    flattering_accuracy,
    groups_across,
    identifier_columns,
    interpolated,
    later_training,
    missing_classes,
    near_duplicates_across,
    near_duplicates_inside,
    not_better_than_trivial,
    one_valued_classes,
    oversampled,
    prevalence,
    shortcut,
    sorted_by_label,
    telling_identifier,
    unseen_families,
)
from assay.v02.learn.checks.case import Case, CheckedPart, CheckFinding, CodedCheck, case_of, silent
from assay.v02.learn.checks.not_better_than_trivial import NO_TREE, Baseline
from assay.v02.learn.checks.prevalence import FAR_ODDS
from assay.v02.learn.checks.retest import Retest, Trained
from assay.v02.learn.data import Data
from assay.v02.sources.files.request import RowSource, refused_row

if TYPE_CHECKING:
    from assay.v02.learn.recipe import Recipe

__all__ = [
    "CHECKS",
    "Baseline",
    "Check",
    "CheckFinding",
    "CodedCheck",
    "PartRows",
    "Pitfall",
    "Retest",
    "Trained",
    "check",
]


def check(
    train: Data,
    test: Data | None = None,
    *,
    time: str | None = None,
    groups: Sequence[str] = (),
    base_rate: float | None = None,
    recipe: str | Recipe | None = None,
    level: float = 0.95,
    seed: int = 42,
    progress: Callable[[int, int], None] = silent,
) -> Check:
    """Look for whatever makes an evaluation on these rows less honest than it looks.

    Without ``test`` the one file is judged, and what a random split of it would leak. ``groups``
    are columns whose values must not be on both sides, ``time`` the column of times that the data
    were read with. With ``recipe``, by its name or as it is, that is trained as the rows are and
    again without what leaks.

    >>> import polars as pl
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"id": range(100), "x": [i * 7 % 11 for i in range(100)]})
    >>> frame = frame.with_columns(label=pl.Series(["normal"] * 60 + ["attack"] * 40))
    >>> findings = check(data_of(frame, label="label"))
    >>> [finding.code for finding in findings.leaks]
    ['L010', 'L011']
    """
    level, seed = check_level(level), check_learning_seed(seed)
    if base_rate is not None:
        check_share("base_rate=", base_rate)
    if isinstance(recipe, str):
        from assay.v02.learn.recipes import find_recipe

        recipe = find_recipe(recipe)
    case = case_of(
        train,
        test,
        time=time,
        groups=tuple(dict.fromkeys(groups)),
        base_rate=base_rate,
        recipe=recipe,
        level=level,
        seed=seed,
    )
    findings = findings_of(case, progress)
    notes = [*case.notes, *([NO_TREE] if find_spec("sklearn") is None else [])]
    for part in case.parts:
        notes += [note for note in part.data.notes if note not in notes]
    return Check(
        findings=findings,
        baselines=case.baselines,
        retest=case.retest,
        pitfalls=pitfalls_of(case, findings),
        labels=case.labels,
        positive=case.positive,
        parts={part.called: _about(case, part) for part in case.parts},
        groups=case.groups,
        time=time,
        base_rate=base_rate,
        level=level,
        seed=seed,
        notes=tuple(notes),
    )


def _about(case: Case, part: CheckedPart) -> PartRows:
    """How many rows of each class a part has, and how many were refused."""
    often = np.bincount(part.truth, minlength=len(case.labels))
    return {
        "name": part.data.name,
        "rows": len(part),
        "features": part.frame.width,
        "rows_read": part.data.rows_read,
        "rows_refused": part.data.rows_refused,
        "refused": [refused_row(each) for each in part.data.refused],
        "classes": {label: int(n) for label, n in zip(case.labels, often, strict=True)},
    }


# -- the result ------------------------------------------------------------------------------------


class PartRows(RowSource, total=False):
    """The rows of a part, and how many there are of each class."""

    rows: int
    features: int
    classes: Mapping[str, int]


@dataclass(frozen=True, eq=False, repr=False)
class Check(Result, Recorded):
    """Whether an evaluation on these rows is honest.

    ``findings`` are leaks first, then warnings, then what is to be known. ``baselines`` are the
    trivial models, ``retest`` a recipe before and after what leaks was removed, ``pitfalls`` the
    ten of Arp et al. ``parts`` tells the rows that were looked at.
    """

    SCHEMA: ClassVar[str] = "assay.check/1"

    findings: tuple[CheckFinding, ...]
    baselines: tuple[Baseline, ...]
    retest: Retest | None
    pitfalls: tuple[Pitfall, ...]
    labels: tuple[str, ...]
    positive: str | None
    parts: Mapping[str, PartRows]
    groups: tuple[str, ...] = ()
    time: str | None = None
    base_rate: float | None = None
    level: float = 0.95
    seed: int = 42
    notes: tuple[str, ...] = field(default=())

    @property
    def leaks(self) -> tuple[CheckFinding, ...]:
        """The findings that are leaks."""
        return tuple(finding for finding in self.findings if finding.severity == "leak")

    @property
    def honest(self) -> bool:
        """Whether no leak was found."""
        return not self.leaks

    def __getitem__(self, code: str) -> CheckFinding:
        """The finding of a code."""
        for finding in self.findings:
            if finding.code == code:
                return finding
        raise KeyError(code)

    def __contains__(self, code: object) -> bool:
        return any(finding.code == code for finding in self.findings)

    def __iter__(self) -> Iterator[CheckFinding]:
        return iter(self.findings)


# -- all checks, in the order of their codes -------------------------------------------------------

CHECKS: tuple[CodedCheck, ...] = (
    duplicates_across.CHECK,
    duplicates_inside.CHECK,
    near_duplicates_across.CHECK,
    near_duplicates_inside.CHECK,
    conflicting_labels.CHECK,
    groups_across.CHECK,
    unseen_families.CHECK,
    later_training.CHECK,
    sorted_by_label.CHECK,
    telling_identifier.CHECK,
    shortcut.CHECK,
    identifier_columns.CHECK,
    oversampled.CHECK,
    interpolated.CHECK,
    constant_columns.CHECK,
    one_valued_classes.CHECK,
    prevalence.CHECK,
    few_rows.CHECK,
    missing_classes.CHECK,
    flattering_accuracy.CHECK,
    not_better_than_trivial.CHECK,
)


def findings_of(
    case: Case, progress: Callable[[int, int], None] = silent
) -> tuple[CheckFinding, ...]:
    """Every finding that applies, leaks first, then by code."""
    findings = []
    for done, coded in enumerate(CHECKS):
        progress(done, len(CHECKS))
        finding = coded(case)
        if finding is not None:
            findings.append(finding)
    return urgent_first(findings)


# -- the ten pitfalls of machine learning in security ----------------------------------------------

Status: TypeAlias = Literal["found", "not found", "can't be told"]
FOUND: Status = "found"
NOT_FOUND: Status = "not found"
UNKNOWN: Status = "can't be told"

PitfallStatus: TypeAlias = tuple[Status, str]


@dataclass(frozen=True)
class Pitfall(Recorded):
    """One of the ten, whether it was found, by which findings, and why or why not."""

    code: str = field(metadata=stored(key="pitfall"))
    name: str
    status: Status
    why: str
    findings: tuple[str, ...] = ()


def _snooping(case: Case) -> PitfallStatus:
    if case.test is None:
        return UNKNOWN, (
            "there is one file, and the split is not known; a random one would leak nothing that "
            "was looked for"
        )
    looked = ["copies", "made-up rows"]
    looked += ["groups"] * bool(case.groups) + ["times"] * (case.time is not None)
    missed = ["groups (--group)"] * (not case.groups) + ["times (--time)"] * (case.time is None)
    missing_checks = f"; not looked for: {' and '.join(missed)}" if missed else ""
    return NOT_FOUND, f"looked for {', '.join(looked)} on both sides{missing_checks}"


def _baseline(case: Case) -> PitfallStatus:
    if case.retest is not None:
        return NOT_FOUND, f"{case.retest.recipe} beats the trivial models"
    return UNKNOWN, (
        "the result is not in the data: hold it against the trivial models here, or give --recipe"
    )


def _base_rate(case: Case) -> PitfallStatus:
    if case.positive is None:
        return UNKNOWN, "there are several classes, and none of them is the alarm"
    if case.base_rate is None:
        return UNKNOWN, "the share of attacks in deployment is not known: give --base-rate"
    return (
        NOT_FOUND,
        f"the odds of an attack are within {FAR_ODDS} times of what they are in deployment",
    )


# Code, name, and what is said of it where no finding shows it.
TEN: tuple[tuple[str, str, PitfallStatus | Callable[[Case], PitfallStatus]], ...] = (
    (
        "P1",
        "sampling bias",
        (UNKNOWN, "where and when the rows were collected is not in them; no class is scarce"),
    ),
    (
        "P2",
        "label inaccuracy",
        (NOT_FOUND, "no equal rows have different labels; those of other rows can't be checked"),
    ),
    ("P3", "data snooping", _snooping),
    (
        "P4",
        "spurious correlations",
        (NOT_FOUND, "no id and no single column gives the label away; several together might"),
    ),
    (
        "P5",
        "biased parameter selection",
        (UNKNOWN, "on which rows settings and thresholds were chosen is not in the data"),
    ),
    ("P6", "inappropriate baseline", _baseline),
    (
        "P7",
        "inappropriate performance measures",
        (UNKNOWN, "which measures were reported is not in the data (assay audit judges them)"),
    ),
    ("P8", "base rate fallacy", _base_rate),
    (
        "P9",
        "lab-only evaluation",
        (UNKNOWN, "whether the detector ever ran in practice is not in the data"),
    ),
    (
        "P10",
        "inappropriate threat model",
        (UNKNOWN, "whether an attacker who knows the detector was thought of is not in the data"),
    ),
)


def pitfalls_of(case: Case, findings: Sequence[CheckFinding]) -> tuple[Pitfall, ...]:
    """Each pitfall: found where a warning or a leak belongs to it, and else what can be said."""
    pitfalls = []
    for code, name, otherwise in TEN:
        own_findings = [finding for finding in findings if finding.pitfall == code]
        shown = tuple(finding.code for finding in own_findings if finding.severity != "info")
        if shown:
            why = next(finding.message for finding in own_findings if finding.severity != "info")
            pitfalls.append(Pitfall(code, name, FOUND, why, shown))
            continue
        status, why = otherwise(case) if callable(otherwise) else otherwise
        pitfalls.append(
            Pitfall(code, name, status, why, tuple(finding.code for finding in own_findings))
        )
    return tuple(pitfalls)
