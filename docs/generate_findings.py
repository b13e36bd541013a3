"""The page of the findings, written from the checks.

What a check looks for and its example stand in the docstring of its ``look``; the example is run
there and on the page.
"""

from __future__ import annotations

import importlib.util
from doctest import DocTestParser, Example
from pathlib import Path

from assay.evaluation.findings import CHECKS, Check

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
LEVELS = (
    "Where an interval decides, it is the one of the evaluation, at its level. Where rows carry "
    "weights or come in clusters, so do the checks; where there is no interval they are silent. "
    "Where only alerts were labelled, only {on_alerts} are looked for."
)


def page() -> str:
    """The page as reStructuredText."""
    rows = [(f":ref:`{c.code} <{c.code}>`", _pages._escaped(c.title), c.severity) for c in CHECKS]
    on_alerts = " and ".join(check.code for check in CHECKS if check.on_alerts)
    text = [
        _pages._title("Findings"),
        ABOUT,
        LEVELS.format(on_alerts=on_alerts),
        _pages._table(("code", "found", "severity"), rows, (15, 65, 20)),
    ]
    for check in CHECKS:
        text += _section(check)
    return _pages._joined(text)


def _section(check: Check) -> list[str]:
    said, examples = [], []
    for part in DocTestParser().parse(check.look.__doc__):
        if isinstance(part, Example):
            examples.append(part)
        else:
            said += [" ".join(block.split()) for block in part.split("\n\n") if block.strip()]
    others = " or ".join([", ".join(check.unless[:-1]), *check.unless[-1:]]).removeprefix(" or ")
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
