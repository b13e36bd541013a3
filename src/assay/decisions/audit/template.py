"""A claims file to fill in: valid as it stands, with a line of help for each thing."""

from __future__ import annotations

from assay.errors import InputError
from assay.measures import (
    ACCURACY,
    BALANCED_ACCURACY,
    F1,
    FALSE_POSITIVE_RATE,
    MCC,
    PRECISION,
    RECALL,
    ROC_AUC,
    SPECIFICITY,
    Measure,
)

_BINARY = (ACCURACY, PRECISION, RECALL, SPECIFICITY, FALSE_POSITIVE_RATE, F1, MCC, ROC_AUC)
_OF_CLASS = (PRECISION, RECALL, F1)
_INTRO = """\
# Claims to audit: fill in what the paper prints, then run  assay audit FILE
# What is left empty ("") is passed over. Numbers stand in quotes, as printed, with all digits.
# Other measures are welcome: assay measures lists them. "f1.macro" is an average, "f1.attack" is
# that of a label, "accuracy.ci" = ["", ""] an interval.
"""
_CELLS = """\
# The counts, as far as they are told; a cell may stay empty.
confusion = { tn = "", fp = "", fn = "", tp = "" }
"""
_ROWS = """\
# Rows of the test set by class, where the paper tells them; n is their sum as it is stated.
support = { negative = "", positive = "" }
n = ""
"""


def template(kind: str = "binary") -> str:
    """A claims file of a kind, to be filled in.

    >>> print(template("folds").splitlines()[5])
    [[claim]]
    """
    if kind not in TEMPLATES:
        raise InputError(f"found the template {kind!r}; expected {', '.join(TEMPLATES)}")
    return TEMPLATES[kind]


def _lines(measures: tuple[Measure, ...], suffix: str = "") -> str:
    return "".join(_line(measure, suffix) for measure in measures)


def _line(measure: Measure, suffix: str) -> str:
    key = f'"{measure.name}.{suffix}"' if suffix else measure.name
    start = f'{key} = ""'
    return f"{start:<34}# {measure.title}\n"


def _binary() -> str:
    return f"""{_INTRO}
[[claim]]
name = "model, test set"
source = "table 2"
positive = "positive"             # the alarm, as the paper calls it: attack, malware, phishing ...
negative = "negative"
{_CELLS}{_ROWS}[claim.reported]
{_lines(_BINARY)}"""


def _table() -> str:
    claims = "".join(
        f'\n[[claim]]\nname = "model {letter}"\n[claim.reported]\n{_lines(_BINARY[:6])}'
        for letter in "AB"
    )
    return f"""{_INTRO}
# What all rows of the table share: one test set.
[shared]
source = "table 2"
positive = "positive"             # the alarm, as the paper calls it
negative = "negative"
{_ROWS}{claims}"""


def _classes() -> str:
    of_class = "".join(_lines(_OF_CLASS, label) for label in ("A", "B", "C"))
    means = "".join(_lines(_OF_CLASS, average) for average in ("macro", "weighted"))
    return f"""{_INTRO}
[[claim]]
name = "model, test set"
source = "table 3"
# Put the names of the classes in place of A, B and C, here and below; add lines for more.
labels = ["A", "B", "C"]
support = {{ A = "", B = "", C = "" }}
n = ""
# A confusion matrix, rows are the truth, replaces support:
# matrix = [[45, 3, 2], [4, 38, 3], [1, 2, 52]]
[claim.reported]
{_lines((ACCURACY, BALANCED_ACCURACY))}{of_class}{means}"""


def _folds() -> str:
    return f"""{_INTRO}
[[claim]]
name = "model, 10 folds"
source = "table 4"
# Values fold by fold, where they are printed.
folds = {{ {ACCURACY.name} = ["", "", "", "", ""] }}
[claim.reported]
{_line(ACCURACY, "mean")}{_line(ACCURACY, "sd")}"""


TEMPLATES = {"binary": _binary(), "table": _table(), "classes": _classes(), "folds": _folds()}
