"""What reports look like, kept in ``golden``. After a wanted change, renew them with

RENEW_GOLDEN=1 python -m pytest tests/report/test_goldens.py
"""

from pathlib import Path

import pytest

from assay.measures import find
from assay.report import Provenance, document_of, draw, measure_document, measures_document

from .cases import evaluation
from .goldens import checked

GOLDEN = Path(__file__).parent / "golden"
MADE = Provenance("0.1.0", "assay evaluate flows.csv", (("flows.csv", 4096, "0f" * 32),))
SUFFIXES = {"json": "json", "csv": "csv", "markdown": "md", "latex": "tex"}


def cases() -> dict[str, tuple]:
    golden_cases = {}
    for name in ("binary", "classes", "nothing_flagged"):
        for width in (100, 40):
            golden_cases[f"{name}_{width}.txt"] = (name, "terminal", width)
        for face, suffix in SUFFIXES.items():
            if face not in ("json", "csv") or name == "nothing_flagged":
                golden_cases[f"{name}.{suffix}"] = (name, face, None)
    golden_cases["grid_100.txt"] = ("grid", "terminal", 100)
    golden_cases["grid_80.txt"] = ("grid", "terminal", 80)
    golden_cases["grid.md"] = ("grid", "markdown", None)
    golden_cases["grid.csv"] = ("grid", "csv", None)
    golden_cases["alerts_labelled_80.txt"] = ("alerts_labelled", "terminal", 80)
    return golden_cases


REFERENCE = {
    "measures_100.txt": lambda: draw(measures_document(), "terminal", width=100),
    "measures.md": lambda: draw(measures_document(), "markdown"),
    "measures.tex": lambda: draw(measures_document(), "latex"),
    "mcc_80.txt": lambda: draw(measure_document(find("mcc")), "terminal", width=80),
    "mcc.md": lambda: draw(measure_document(find("mcc")), "markdown"),
}


@pytest.mark.parametrize("name", cases())
def test_report_is_the_golden_one(name: str) -> None:
    case, face, width = cases()[name]
    checked(GOLDEN / name, draw(document_of(evaluation(case), provenance=MADE), face, width=width))


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_is_the_golden_one(name: str) -> None:
    checked(GOLDEN / name, REFERENCE[name]())


def test_every_golden_text_has_its_case() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {*cases(), *REFERENCE}
