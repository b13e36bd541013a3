"""The ten pitfalls of machine learning in security, and which of them the data show.

Reference: Arp, Quiring, Pendlebury, Warnecke, Pierazzi, Wressnegger, Cavallaro and Rieck, "Dos and
Don'ts of Machine Learning in Computer Security", USENIX Security 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from assay.inference.fields import Recorded, stored
from assay.learn.checks.case import Case
from assay.learn.checks.finding import Finding
from assay.learn.checks.prevalence import FAR_ODDS

Status: TypeAlias = Literal["found", "not found", "can't be told"]
FOUND: Status = "found"
NOT_FOUND: Status = "not found"
UNKNOWN: Status = "can't be told"

Said: TypeAlias = tuple[Status, str]


@dataclass(frozen=True)
class Pitfall(Recorded):
    """One of the ten, whether it was found, by which findings, and why or why not."""

    code: str = field(metadata=stored(key="pitfall"))
    name: str
    status: Status
    why: str
    findings: tuple[str, ...] = ()


def _snooping(case: Case) -> Said:
    if case.test is None:
        return UNKNOWN, (
            "there is one file, and the split is not known; a random one would leak nothing that "
            "was looked for"
        )
    looked = ["copies", "made-up rows"]
    looked += ["groups"] * bool(case.groups) + ["times"] * (case.time is not None)
    missed = ["groups (--group)"] * (not case.groups) + ["times (--time)"] * (case.time is None)
    rest = f"; not looked for: {' and '.join(missed)}" if missed else ""
    return NOT_FOUND, f"looked for {', '.join(looked)} on both sides{rest}"


def _baseline(case: Case) -> Said:
    if case.retest is not None:
        return NOT_FOUND, f"{case.retest.recipe} beats the trivial models"
    return UNKNOWN, (
        "the result is not in the data: hold it against the trivial models here, or give --recipe"
    )


def _base_rate(case: Case) -> Said:
    if case.positive is None:
        return UNKNOWN, "there are several classes, and none of them is the alarm"
    if case.base_rate is None:
        return UNKNOWN, "the share of attacks in deployment is not known: give --base-rate"
    return (
        NOT_FOUND,
        f"the odds of an attack are within {FAR_ODDS} times of what they are in deployment",
    )


# Code, name, and what is said of it where no finding shows it.
TEN: tuple[tuple[str, str, Said | Callable[[Case], Said]], ...] = (
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


def pitfalls_of(case: Case, findings: Sequence[Finding]) -> tuple[Pitfall, ...]:
    """Each pitfall: found where a warning or a leak belongs to it, and else what can be said."""
    said = []
    for code, name, otherwise in TEN:
        mine = [finding for finding in findings if finding.pitfall == code]
        shown = tuple(finding.code for finding in mine if finding.severity != "info")
        if shown:
            why = next(finding.message for finding in mine if finding.severity != "info")
            said.append(Pitfall(code, name, FOUND, why, shown))
            continue
        status, why = otherwise(case) if callable(otherwise) else otherwise
        said.append(Pitfall(code, name, status, why, tuple(finding.code for finding in mine)))
    return tuple(said)
