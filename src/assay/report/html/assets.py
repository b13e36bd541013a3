"""The page's own style and script, and the policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files

from assay.formula import JAVASCRIPT_PRELUDE, Cell, javascript, proportion
from assay.measures import (
    ALERT_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    RECALL,
    SPECIFICITY,
    Measure,
    catalogue,
    find,
)
from assay.measures.shown import DEPLOYED

_STYLES = (
    "base.css",
    "masthead.css",
    "panel.css",
    "plots.css",
    "matrix.css",
    "lines.css",
    "parts.css",
    "small.css",
    "print.css",
)
# In the order in which they need each other.
_PAGE = ("page.js",)
_PANEL = (
    "numbers.js",
    "table.js",
    "drawing.js",
    "curve.js",
    "distribution.js",
    "worth.js",
    "readings.js",
    "deployment.js",
    "panel.js",
)
# What the plots and the base rate use, whatever the panel shows.
_RATES = (RECALL, FALSE_NEGATIVE_RATE, FALSE_POSITIVE_RATE, SPECIFICITY, ALERT_RATE)
_NEEDED = (
    *(m.name for m in _RATES),
    *DEPLOYED,
)


def style() -> str:
    """The style sheet."""
    return "\n".join(read("style", name) for name in _STYLES)


def script(measures: tuple[Measure, ...] | None) -> str:
    """The script of a page, with the formulas of the measures that follow its threshold."""
    parts = [read("script", name) for name in _PAGE]
    return _closed(parts if measures is None else [*parts, *_panel(measures)])


def panel_script(measures: tuple[Measure, ...]) -> str:
    """What only a page with a panel needs, for pages that share the rest."""
    return _closed(_panel(measures))


def _panel(measures: tuple[Measure, ...]) -> list[str]:
    return [JAVASCRIPT_PRELUDE, formulas(measures), *(read("script", name) for name in _PANEL)]


def _closed(parts: list[str]) -> str:
    """Scripts whose names nobody else sees."""
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def formulas(measures: tuple[Measure, ...]) -> str:
    """Functions of the four cells: the measures, of shares their successes and trials, of costs."""
    all_of_them = {m.name: m for m in (*map(find, _NEEDED), *measures)}
    values, shares = [], []
    for name, measure in all_of_them.items():
        assert measure.formula is not None  # noqa: S101 - only count measures follow a threshold
        key = json.dumps(name).replace("<", "\\u003c")
        values.append(f"  {key}: (tp, fp, fn, tn) => {javascript(measure.formula)},")
        share = proportion(measure.formula)
        if share is not None:
            pair = f"{javascript(share.successes)}, {javascript(share.trials)}"
            shares.append(f"  {key}: (tp, fp, fn, tn) => [{pair}],")
    priced = [
        f"  {json.dumps(measure.name)}: (tp, fp, fn, tn, c_fp, c_fn) => "
        f"{javascript(measure.of_costs(Cell('C_FP'), Cell('C_FN')))},"
        for measure in catalogue.CATALOGUE
        if measure.of_costs is not None
    ]
    tables = {"FORMULAS": values, "SHARES": shares, "PRICED": priced}
    lines = [line for name, rows in tables.items() for line in (f"const {name} = {{", *rows, "};")]
    return "\n".join([*lines, ""])


def policy(styles: str, scripts: str) -> str:
    """A content security policy: this style and this script, by their hashes, and no more."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(scripts)}",
            f"style-src {_hash(styles)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def read(*path: str) -> str:
    """A file of this package, as text."""
    return files("assay.report.html").joinpath(*path).read_text("utf-8")
