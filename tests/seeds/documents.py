"""Every worked number of the five source documents, judged.

    000  SafeLink, formulas and worked figures of a forest and a network
    001  DDoS detection, a 2 x 2 example
    002  darknet products, a 3 x 3 example
    003  SecuML, two base-rate examples
    004  notes, definitions only

RIGHT follows from what the documents print and is correct to its printed digits. WRONG does not
follow, or states what is not so. GIVEN is stated without a derivation. `Number` documents the
fields. The cells of the matrices are in MATRICES and are not repeated as rows.

A row is a claim: `printed` against `how`. Where one printed number can be held against two things
(the counts, and the rounded figures on its own line) it has a row for each, so a number can be
right as arithmetic and wrong as a measure, or the reverse. Two spellings of one number
("0.9670 = 96.70%") are two rows.

The network of 000 has two matrices. With the cells as printed its accuracy is 45.90%, not the
reported 7.36%; with the last two cells exchanged (`safelink_ann_true`) it is 7.36%. The other
figures of the network are judged against the cells as printed, from which they are worked out.
"""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from .others import OTHERS
from .safelink_measures import SAFELINK_MEASURES
from .safelink_training import SAFELINK_TRAINING
from .shape import Matrix, Number

__all__ = [
    "GIVEN",
    "MATRICES",
    "NUMBERS",
    "RIGHT",
    "WRONG",
    "Matrix",
    "Number",
    "every",
    "is_numeric",
    "value_and_unit",
]

_TRAFFIC = ("normal", "attack")

MATRICES: dict[str, Matrix] = {
    "safelink_forest": Matrix(_TRAFFIC, ((7743, 167), (324, 6635)), "attack"),
    "safelink_ann_printed": Matrix(_TRAFFIC, ((480, 7430), (614, 6345)), "attack"),
    # The last two cells exchanged: 1094 of 14869 correct, the reported accuracy.
    "safelink_ann_true": Matrix(_TRAFFIC, ((480, 7430), (6345, 614)), "attack"),
    # The forest's rates with a hundred times as many normal rows.
    "safelink_forest_rare": Matrix(_TRAFFIC, ((774300, 16700), (324, 6635)), "attack"),
    # Everything flagged, half of it rightly.
    "safelink_all_attack": Matrix(_TRAFFIC, ((0, 50), (0, 50)), "attack"),
    "ddos": Matrix(("normal", "ddos"), ((280, 20), (15, 85)), "ddos"),
    "darknet": Matrix(("A", "B", "C"), ((45, 3, 2), (4, 38, 3), (1, 2, 52))),
    "secuml_base_rate": Matrix(("benign", "malicious"), ((9980, 10), (2, 8)), "malicious"),
    "secuml_always_benign": Matrix(("benign", "malicious"), ((98, 0), (2, 0)), "malicious"),
}

NUMBERS: tuple[Number, ...] = tuple(
    replace(row, printed=spelling)
    for row in (*SAFELINK_MEASURES, *SAFELINK_TRAINING, *OTHERS)
    for spelling in ((row.printed,) if isinstance(row.exact, str) else row.printed.split(" = "))
)
RIGHT: tuple[Number, ...] = tuple(row for row in NUMBERS if row.verdict == "right")
WRONG: tuple[Number, ...] = tuple(row for row in NUMBERS if row.verdict == "wrong")
GIVEN: tuple[Number, ...] = tuple(row for row in NUMBERS if row.verdict == "given")


def is_numeric(row: Number) -> bool:
    """Whether it is a number with an exact value, and no formula or claim."""
    return isinstance(row.exact, Fraction | Decimal)


def every(rows: tuple[Number, ...]) -> pytest.MarkDecorator:
    """One test a row."""
    return pytest.mark.parametrize(
        "row", rows, ids=lambda row: f"{row.document}-{row.section}-{row.what}-{row.printed}"
    )


def value_and_unit(printed: str) -> tuple[Fraction, Fraction]:
    """The number that a printed text stands for, and one unit of its last digit."""
    text = printed.replace(",", "").removesuffix("%")
    scale = Fraction(1, 100) if printed.endswith("%") else Fraction(1)
    return Fraction(text) * scale, scale / 10 ** len(text.partition(".")[2])
