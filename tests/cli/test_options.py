"""What may be typed behind an option, and that each is spelled once."""

import ast
from collections import Counter
from fractions import Fraction
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli import options
from assay.cli.app import COMMANDS, app


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.001", 0.001),
        ("0.1%", 0.001),
        ("1/1000", 0.001),
        ("1e-3", 0.001),
        ("1E-3", 0.001),
        (".5", 0.5),
        ("5.%", 0.05),
        ("99.9%", 0.999),
        (" 0.25 ", 0.25),
        ("1.5/3000", 0.0005),
        ("1e-300", 1e-300),
    ],
)
def test_a_share_is_read_as_people_write_it(text: str, expected: float) -> None:
    assert options.share(text) == expected


@given(st.integers(1, 10**12), st.integers(2, 10**12))
def test_a_ratio_is_the_nearest_float(above: int, below: int) -> None:
    if above < below:
        assert options.share(f"{above}/{below}") == float(Fraction(above, below))


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_float_comes_back_as_it_was(number: float) -> None:
    assert options.share(repr(number)) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "1", "20", "100%", "0%", "-0.1", "nan", "inf", "1/0", "0/5", "3/2", "a", "0,1"),
        *(
            "1%/2",
            "1/2%",
            "1e-999999999",
            "1e9999",
            "0.1.2",
            "\u0661/\u0662",
            "1_0/200",
            "9" * 5000,
            "1 / 2",
        ),
    ],
)
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="share"):
        options.share(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000", 1000),
        ("2GB", 2 * 10**9),
        ("2 GB", 2 * 10**9),
        ("2g", 2 * 10**9),
        ("512MiB", 512 << 20),
        ("512mib", 512 << 20),
        ("1.5KiB", 1536),
        ("64kB", 64_000),
        ("1TB", 10**12),
        ("1e9", 10**9),
    ],
)
def test_a_size_is_read_with_its_unit(text: str, expected: int) -> None:
    assert options.size(text) == expected


@pytest.mark.parametrize(
    "text", ["", "GB", "-1GB", "0", "0.1B", "2XB", "half", "50%", "1GBs", "1ib"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        options.size(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "x", "", "1e999"])
def test_a_number_is_finite(text: str) -> None:
    with pytest.raises(click.BadParameter):
        options.number(text)


def test_a_number_may_be_negative_unless_it_counts_something() -> None:
    assert options.number("-1.5") == -1.5
    for text in ("-1", "0"):
        with pytest.raises(click.BadParameter, match="not above 0"):
            options.positive_number(text)


def test_a_label_may_hold_no_equals_sign_but_a_column_may() -> None:
    assert options.label_and_column("attack=p=1") == ("attack", "p=1")
    for text in ("attack", "=p", "attack=", "="):
        with pytest.raises(click.BadParameter, match="LABEL=COL"):
            options.label_and_column(text)


def test_a_pattern_has_one_star() -> None:
    assert options.pattern("p_*") == "p_*"
    for text in ("p_", "p_*_*", ""):
        with pytest.raises(click.BadParameter, match="star"):
            options.pattern(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b", ("a", "b")),
        ("normal,dos,scan", ("normal", "dos", "scan")),
        ('"a,b",c', ("a,b", "c")),
        ("0,1", ("0", "1")),
        ("a, b", ("a", " b")),
    ],
)
def test_labels_are_split_at_commas(text: str, expected: tuple[str, ...]) -> None:
    assert options.labels(text) == expected


@pytest.mark.parametrize("text", ["", "a", "a,", ",", "a,a", "a,,b"])
def test_fewer_than_two_labels_are_no_list(text: str) -> None:
    with pytest.raises(click.BadParameter, match="labels"):
        options.labels(text)


@pytest.mark.parametrize(
    ("text", "expected"), [(";", ";"), ("tab", "\t"), (r"\t", "\t"), ("|", "|")]
)
def test_a_delimiter_is_one_character(text: str, expected: str) -> None:
    assert options.delimiter(text) == expected


@pytest.mark.parametrize("text", ["", ";;", '"', "\n", "\r", "é"])
def test_what_can_not_delimit_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="character"):
        options.delimiter(text)


@pytest.mark.parametrize("text", ["'", '"', "|", "none"])
def test_a_quote_is_one_sign_or_none(text: str) -> None:
    assert options.quote(text) == text


@pytest.mark.parametrize("text", ["", "''", "a", "0", " ", "\t", "\n", "\0", "é", "None"])
def test_what_can_not_quote_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="one plain sign"):
        options.quote(text)


def test_whoever_is_told_the_delimiter_is_told_all_of_delimited_text() -> None:
    told = {}
    with click.Context(app) as context:
        for name in COMMANDS:
            command = app.get_command(context, name)
            assert command is not None
            flags = {flag for option in command.params for flag in option.opts}
            if "--delimiter" in flags:
                told[name] = {"--quote", "--decimal", "--no-header", "--skip-lines"} - flags
    assert not any(told.values()), told
    assert len(told) >= 10


def test_an_encoding_is_known_or_refused() -> None:
    assert options.encoding("Latin-1") == "iso8859-1"
    for text in ("utf-9", "", "a\0b"):
        with pytest.raises(click.BadParameter, match="encoding"):
            options.encoding(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("5/day", 5), ("0.5/d", 0.5), ("14/week", 2), ("1/hour", 24), ("3", 3)]
)
def test_a_number_a_day_is_read_as_people_write_it(text: str, expected: float) -> None:
    assert options.per_day(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "five/day", "-1/day", "5/month", "inf/day", "5/day/day"])
def test_what_is_no_number_a_day_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no number a day; write 5/day"):
        options.per_day(text)


def test_no_option_is_spelled_twice() -> None:
    spelled = Counter()
    for path in Path(options.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            settings = {word.arg: ast.unparse(word.value) for word in node.keywords}
            flags = [ast.unparse(each) for each in node.args]
            if "help" in settings and any(flag.startswith("'-") for flag in flags):
                # One that differs in its heading alone is a function of the heading.
                alike = {
                    key: said for key, said in settings.items() if key not in ("cls", "section")
                }
                spelled[str((flags, sorted(alike.items())))] += 1
    assert len(spelled) > 100
    assert [option for option, times in spelled.items() if times > 1] == []
