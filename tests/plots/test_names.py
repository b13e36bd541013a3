"""Names on figures are text on one line, whatever they hold."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text

from assay.measures import CATALOGUE, find
from assay.plots.canvas import full_title, one_line, size_text, title


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("attack", "attack"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("$x^2$", r"\$x^2\$"),
        ("", "(empty)"),
        (" \n ", "(empty)"),
        ("nul\x00bell\x07", "nul\ufffdbell\ufffd"),
        ("half \ud800 of a pair", "half \ufffd of a pair"),
        ("no character \uffff", "no character \ufffd"),
        ("turned \u202eback", "turned back"),
        ("שלום", "שלום"),
        ("می\u200cروم", "می\u200cروم"),
        ("日本 🙂", "日本 🙂"),
    ],
)
def test_a_name_is_written_as_text(name: str, expected: str) -> None:
    assert one_line(name) == expected


def test_a_long_name_is_cut_in_the_middle() -> None:
    assert one_line("x" * 10_000 + "17", 9) == "xxxx…xx17"
    assert one_line("123456789", 9) == "123456789"


@given(st.text(max_size=80), st.integers(8, 40))
def test_no_name_is_mathematics_or_breaks_a_line_or_an_xml_file(name: str, longest: int) -> None:
    shown = one_line(name, longest)
    assert not is_math_text(shown)
    assert 1 <= len(shown.replace(r"\$", "$")) <= longest + 1
    assert not {unicodedata.category(letter) for letter in shown} & {"Cc", "Cs", "Cn", "Zl", "Zp"}


@given(st.text("$\\a", min_size=1, max_size=12))
def test_what_matplotlib_shows_is_the_name(name: str) -> None:
    # Without mathematics, matplotlib turns an escaped dollar into a dollar.
    assert one_line(name, 40).replace(r"\$", "$") == name


def test_measures_are_called_by_the_vocabulary() -> None:
    assert title(find("recall")) == "Detection rate"
    assert full_title(find("recall")) == "Detection rate (recall)"
    assert full_title(find("far")) == "False alarm rate (false discovery rate)"
    assert full_title(find("fpr")) == "False positive rate"
    assert [title(find(name)) for name in ("mcc", "f0.5", "roc_auc")] == ["MCC", "F0.5", "ROC AUC"]


def test_no_two_measures_share_a_title() -> None:
    assert len({title(measure) for measure in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0"),
        (13_191, "13,191"),
        (9_999_999, "9,999,999"),
        (10**18, "1e+18"),
        (12.3456, "12.3"),
        (4321.6, "4,322"),
    ],
)
def test_a_size_is_short(number: float, expected: str) -> None:
    assert size_text(number) == expected
