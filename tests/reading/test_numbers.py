"""Delimiters, decimal signs, thousands and percent."""

import csv
import io
import math

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.reading.numbers import (
    DELIMITERS,
    NumberStyle,
    has_decimal_commas,
    number_column,
    number_style,
    parse_number,
    sniff_delimiter,
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def read(texts: list[str], style: NumberStyle | None = None) -> list[float | None]:
    style = style or number_style(texts)
    assert not style.doubt
    return pl.DataFrame({"a": texts}).select(number_column("a", style))["a"].to_list()


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["0,25", "1,5e-3", " 7 ", "-,5"], [0.25, 0.0015, 7, -0.5]),
        (["1.234,5", "200.000"], [1234.5, 200_000]),
        (["1,234.5", "200,000"], [1234.5, 200_000]),
        (["1.000.000", "12,5"], [1_000_000, 12.5]),
        (["1 234,5", "1\u202f234,5", "1'234,5"], [1234.5] * 3),
        (["97.3%", "97,3 %"][:1], [0.973]),
        (["97,3 %", "5%"], [0.973, 0.05]),
        (["\u22120.5", ".5", "1.", "1e-05"], [-0.5, 0.5, 1, 1e-05]),
        (["200.000", "0.125"], [200, 0.125]),
        (["0,123", "0,500"], [0.123, 0.5]),
        (["0.5", "high", ""], [0.5, None, None]),
        (["0,5", "0.5", "1.23,4", "1,2,3"][:1], [0.5]),
    ],
)
def test_numbers_are_read(texts: list[str], numbers: list[float | None]) -> None:
    assert read(texts) == numbers


@pytest.mark.parametrize("text", ["0.5", "1.23,4", "1,2,3", "12.3456,7", ",", "", "-", "%", "1 23"])
def test_what_is_no_number_with_decimal_commas_is_none(text: str) -> None:
    assert read([text], NumberStyle(",")) == [None]


@pytest.mark.parametrize(
    ("texts", "doubt"),
    [
        (["12,5", "200.000"], "'200.000' next to '12,5' is 200 or 200000"),
        (["1,234", "5"], "'1,234' is 1.234 or 1234"),
        (["0.5", "1,234"], "'1,234' next to '0.5' is 1.234 or 1234"),
        (["0.5", "0,5"], "'0,5' has a decimal comma and '0.5' a decimal point"),
    ],
)
def test_numbers_of_two_readings_are_doubted(texts: list[str], doubt: str) -> None:
    assert number_style(texts).doubt == doubt
    assert not number_style(texts, ",").doubt
    assert not number_style(texts, ".").doubt


def test_decimal_commas_elsewhere_make_points_doubtful() -> None:
    assert "decimal commas is 200 or" in number_style(["200.000"], commas_elsewhere=True).doubt
    assert number_style(["1,234"], commas_elsewhere=True) == NumberStyle(",")
    assert number_style(["0.5"], commas_elsewhere=True) == NumberStyle(".")


def test_a_given_decimal_sign_decides() -> None:
    assert read(["200.000"], number_style(["200.000"], ",")) == [200_000]
    assert read(["200.000"], number_style(["200.000"], ".")) == [200]
    with pytest.raises(InputError, match="decimal is"):
        number_style(["1"], ";")


def test_lists_of_words_are_no_decimal_commas() -> None:
    assert has_decimal_commas(["0,5", "12,25"])
    assert not has_decimal_commas(["0,5", "a,b"])
    assert not has_decimal_commas(["1,234"])


@given(st.lists(FLOATS, min_size=1, max_size=5))
def test_a_number_with_a_decimal_comma_is_read_back_or_doubted(numbers: list[float]) -> None:
    texts = [repr(number).replace(".", ",") for number in numbers]
    style = number_style(texts)
    assume(style.decimal == "," or not any("," in text for text in texts))
    if not style.doubt:
        assert read(texts, style) == numbers
    assert read(texts, number_style(texts, ",")) == numbers


@given(st.lists(FLOATS, min_size=1, max_size=5))
def test_a_number_of_python_is_read_back(numbers: list[float]) -> None:
    assert read(list(map(repr, numbers))) == numbers


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=5), st.sampled_from(",."))
def test_whole_numbers_with_thousands_are_read_back_or_doubted(
    numbers: list[int], group: str
) -> None:
    texts = [f"{number:,}".replace(",", group) for number in numbers]
    style = number_style(texts)
    if group == "." and not style.doubt and style.decimal == ".":
        # 1.234 alone is a number of English.
        assume(all(abs(number) < 1000 or abs(number) >= 10**6 for number in numbers))
    if not style.doubt:
        assert read(texts, style) == numbers


@given(st.floats(0, 1), st.integers(0, 6))
def test_a_percentage_is_the_hundredth(share: float, digits: int) -> None:
    text = f"{100 * share:.{digits}f}"
    assert read([f"{text}%"], NumberStyle(".")) == [float(f"{text}e-2")]


@given(st.data(), st.sampled_from(DELIMITERS))
def test_the_delimiter_of_a_written_table_is_found(data: st.DataObject, sign: str) -> None:
    record = st.lists(st.text(f"ab {sign}\"'"), min_size=3, max_size=3)
    rows = data.draw(st.lists(record, min_size=1, max_size=6))
    lines = io.StringIO()
    csv.writer(lines, delimiter=sign).writerows([["one", "two", "three"], *rows])
    assert sniff_delimiter(lines.getvalue()) == sign


@pytest.mark.parametrize(
    ("head", "sign"),
    [
        ("a;b\n0,5;1,5\n", ";"),
        ("label;text, long\nx;y\n", ";"),
        ("a,b\n1;2,3\n", ","),
        ('a|b\n"x|y"|2\n', "|"),
        ("label\nattack\n", ","),
        ("", ","),
    ],
)
def test_delimiters_are_told_by_the_header_and_the_rows(head: str, sign: str) -> None:
    assert sniff_delimiter(head) == sign


def test_options_are_read_as_columns_are() -> None:
    assert parse_number("0,5") == 0.5
    assert parse_number("1e-3") == 0.001
    assert parse_number("1,000,000") == 1e6
    assert math.isinf(parse_number("inf"))
    for text in ("1,234", "much", "nan", ""):
        with pytest.raises(InputError):
            parse_number(text)
    with pytest.raises(InputError, match="200 or 200000"):
        parse_number("200.000", commas_elsewhere=True)
