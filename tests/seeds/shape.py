"""What a catalogued number and a confusion matrix look like."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix: rows are the truth, columns the decisions, in the order of labels."""

    labels: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    positive: str | None = None


@dataclass(frozen=True)
class Number:
    """One number, or one formula, as a document prints it, beside what it ought to be.

    document  "000" to "004".
    section   the document's own section number, or its heading where it has no numbers.
    what      what the number is, in a few words.
    printed   the characters as printed ("0.9754", "97.54%", "51,324,897"); of a statement, the
              formula or claim in short.
    exact     Fraction when rational; Decimal, correct to 30 digits, when not; the right formula as
              text when `printed` is a statement; None when nothing printed decides it.
    how       for a number, an expression that gives `exact` (+ - * / ** sqrt exp ln, parentheses);
              for a statement, the short reason.
    measure   the measure's name, with its label or average ("precision.normal", "f1.weighted",
              "accuracy.se"), when the number is a measure of `counts`; else None.
    counts    a key of MATRICES; with `measure` it gives `exact`.
    verdict   "right", "wrong" or "given" (stated, and derivable from nothing that is printed).
    right     of a wrong number: the exact value at as many digits as were printed.
    why       of a wrong one: what went wrong. Elsewhere, a remark.
    note      of a right number: present exactly when it is not correctly rounded but off by less
              than one unit of its last digit; says how that came about.
    end       which end of the 95% Wald interval (z = 1.96) an "accuracy.ci" is.
    allowed   the bounds that the operating point of `counts` sets to an area under the ROC curve.
    """

    document: str
    section: str
    what: str
    printed: str
    exact: Fraction | Decimal | str | None
    how: str
    measure: str | None = None
    counts: str | None = None
    verdict: Literal["right", "wrong", "given"] = "right"
    right: str = ""
    why: str = ""
    note: str = ""
    end: Literal["", "low", "high"] = ""
    allowed: tuple[Fraction, Fraction] | None = None
