"""The page of the findings, written from the checks.

What a check looks for and its example stand in the docstring of its ``look``; the example is run
there and on the page.
"""

from __future__ import annotations

import importlib.util
from doctest import DocTestParser, Example
from pathlib import Path

from assay.v02.decisions.audit.claim_findings import CODES as OF_AUDITS
from assay.v02.decisions.incidents.incident_findings import CODES as OF_INCIDENTS
from assay.v02.decisions.monitor_result import CODES as OF_MONITORS
from assay.v02.decisions.threshold.choice import CODES as OF_THRESHOLDS
from assay.v02.evaluation.findings import CHECKS, FindingCheck
from assay.v02.evaluation.findings.finding import Code
from assay.v02.learn.checks import CHECKS as LEAK_CHECKS
from assay.v02.learn.checks import CodedCheck
from assay.v02.learn.findings import RUN_CHECKS, RunCheck

_spec = importlib.util.spec_from_file_location("generate", Path(__file__).with_name("generate.py"))
_pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_pages)

ABOUT = (
    "An evaluation looks for what should be known before its numbers are believed. Each finding "
    "has a code that does not change, a severity, and a message with the numbers that were seen. "
    "A *warning* means that a number is likely wrong or can't carry what it is used for; an *info* "
    "is to be known. Findings are in ``evaluation.findings``, in every report and in the JSON "
    "document. Nothing is mended by itself."
)
BEFORE = (
    "Codes with an L are those of :doc:`assay check <check>`, which looks at the rows before any "
    "model is judged. There a *leak* is what makes an evaluation on them dishonest. The severity "
    "here is the worst that a finding can have; its message tells which it has."
)
OF_RUNS = (
    "Codes with an R are those of :doc:`assay train <train>`: what is to be known of a training, "
    "its folds and its threshold, beside what its evaluation tells. They are in ``run.findings`` "
    "and stand first in its report."
)
OF_DECISIONS = (
    "Codes with a T are those of :doc:`assay threshold <threshold>`, codes with an A those of "
    ":doc:`assay audit <audit>`, codes with an M those of :doc:`assay monitor <monitor>`, and "
    "codes with an I those of :doc:`assay incidents <incidents>`. All codes have one frame in "
    "JSON: code, severity, message, title, why it matters, and the remedy."
)
LEVELS = (
    "Where an interval decides, it is the one of the evaluation, at its level. Where rows carry "
    "weights or come in clusters, so do the checks; where there is no interval they are silent. "
    "Where only alerts were labelled, only {on_alerts} are looked for."
)


def page() -> str:
    """The page as reStructuredText."""
    every = (*LEAK_CHECKS, *RUN_CHECKS, *CHECKS, *OF_THRESHOLDS, *OF_AUDITS, *OF_MONITORS)
    every += OF_INCIDENTS
    rows = [(f":ref:`{c.code} <{c.code}>`", _pages._escaped(c.title), c.severity) for c in every]
    on_alerts = " and ".join(check.code for check in CHECKS if check.on_alerts)
    text = [
        _pages._title("Findings"),
        ABOUT,
        LEVELS.format(on_alerts=on_alerts),
        BEFORE,
        OF_RUNS,
        OF_DECISIONS,
        _pages._table(("code", "found", "severity"), rows, (15, 65, 20)),
    ]
    for check in every:
        text += _section(check)
    return _pages._joined(text)


def _section(check: FindingCheck | CodedCheck | RunCheck | Code) -> list[str]:
    said, examples = [], []
    for part in DocTestParser().parse(check.look.__doc__) if hasattr(check, "look") else ():
        if isinstance(part, Example):
            examples.append(part)
        else:
            said += [" ".join(block.split()) for block in part.split("\n\n") if block.strip()]
    unless = check.unless if isinstance(check, FindingCheck) else ()
    others = " or ".join([", ".join(unless[:-1]), *unless[-1:]]).removeprefix(" or ")
    return [
        f".. _{check.code}:",
        _pages._title(f"{check.code}: {check.title}", "-"),
        f"*{check.severity.capitalize()}.* {_pages._escaped(' '.join(said))}",
        f"**Why it matters.** {_pages._escaped(check.why)}",
        f"**What to do.** {_pages._escaped(check.remedy)}",
        f"Left out where {others} tells the same story better." if others else "",
        _shown(examples),
    ]


def _shown(examples: list[Example]) -> str:
    lines = []
    for example in examples:
        first, *rest = example.source.rstrip("\n").split("\n")
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
        lines += example.want.rstrip("\n").split("\n") if example.want else []
    return "\n".join(lines)
