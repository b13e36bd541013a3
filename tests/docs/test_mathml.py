"""Formulas become MathML, all those of the catalogue and of the pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.v02.formula import latex
from assay.v02.measures import Measure, catalogue
from assay.v02.report.measure_pages import formula_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
_spec = spec_from_file_location("mathml", DOCS / "mathml.py")
assert _spec is not None
assert _spec.loader is not None
formulas = module_from_spec(_spec)
_spec.loader.exec_module(formulas)


def drawn(tex: str) -> str:
    """What stands inside of the element."""
    return formulas.mathml(tex, block=False).removeprefix("<math>").removesuffix("</math>")


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        ("TP", "<mi>TP</mi>"),
        ("ab", "<mrow><mi>a</mi><mi>b</mi></mrow>"),
        ("0.25", "<mn>0.25</mn>"),
        ("s < 1", "<mrow><mi>s</mi><mo>&lt;</mo><mn>1</mn></mrow>"),
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        ("x^{12}", "<msup><mi>x</mi><mn>12</mn></msup>"),
        ("x^12", "<mrow><msup><mi>x</mi><mn>1</mn></msup><mn>2</mn></mrow>"),
        (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        (r"\text{at most}", "<mtext>at most</mtext>"),
        (r"\mathrm{FPR}", "<mi>FPR</mi>"),
    ],
)
def test_a_formula_is_translated(tex: str, expected: str) -> None:
    assert drawn(tex) == expected


def test_bounds_stand_below_a_sum_and_beside_an_integral() -> None:
    assert drawn(r"\sum_i x").startswith("<mrow><munder>")
    assert drawn(r"\int_0^1 x").startswith("<mrow><msubsup>")


def test_brackets_grow_with_what_they_hold_and_only_then() -> None:
    assert "stretchy" not in drawn(r"\left( \frac{a}{b} \right)")
    assert drawn(r"\left( a \right)").count('stretchy="false"') == 2


def texts(measure: Measure) -> list[str]:
    classes = [] if measure.classes is None else [latex(measure.classes)]
    return [formula_of(measure).latex, *classes, *map(latex, measure.parts.values())]


@pytest.mark.parametrize("measure", catalogue.CATALOGUE, ids=lambda measure: measure.name)
def test_every_formula_of_the_catalogue_is_drawn(measure: Measure) -> None:
    for tex in texts(measure):
        element = ET.fromstring(formulas.mathml(tex, block=True))
        names = "".join(element.itertext())
        # Every name of a cell is there, in the order of the text.
        assert re.findall("[TF][PN]", names) == re.findall("[TF][PN]", tex)
        assert "\\" not in names


@pytest.mark.parametrize(
    "tex", [r"\unknown", "{a", "a}", "x^", r"\frac{a}", r"\left( a", "a & b", r"\left( a )"]
)
def test_what_is_not_understood_is_named(tex: str) -> None:
    with pytest.raises(formulas.UnknownTex, match=re.escape(tex)):
        formulas.mathml(tex, block=False)


@given(st.text(alphabet=r"ab12+-()[]|{}_^\<&frcqtle ", max_size=20))
def test_any_text_is_drawn_as_xml_or_refused(tex: str) -> None:
    try:
        text = formulas.mathml(tex, block=False)
    except formulas.UnknownTex:
        return
    ET.fromstring(text)
