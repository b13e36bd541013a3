import json
import unicodedata

import pytest
from hypothesis import given

from assay.escaping import LONGEST, escaped_json, name, sentence, short, visible

from .hostile import NAMES, odd_texts, texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("attack", "attack"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("naïve 日本 😀", "naïve 日本 😀"),
        ("", ""),
    ],
)
def test_what_can_not_be_seen_is_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(odd_texts)
def test_visible_text_has_nothing_hidden(text: str) -> None:
    for character in visible(text):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\x7f\x9b31m", r"\u007f\u009b31m"),
        ("\u202e\u2066", r"\u202e\u2066"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\u200b\ufeff", r"\u200b\ufeff"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\udb40\udc41"),
        ("naïve 日本 😀 \ue000", "naïve 日本 😀 \ue000"),
    ],
)
def test_json_has_an_escape_for_what_acts_on_a_reader(text: str, written: str) -> None:
    assert escaped_json(json.dumps(text, ensure_ascii=False)) == f'"{written}"'


@given(texts)
def test_json_keeps_the_value_of_every_text(text: str) -> None:
    written = escaped_json(json.dumps([text], ensure_ascii=False, indent=2))
    assert json.loads(written) == [text]
    for character in written.replace("\n", ""):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


@pytest.mark.sampled(30)
@pytest.mark.parametrize("text", NAMES)
def test_name_is_short_and_never_nothing(text: str) -> None:
    assert 0 < len(name(text)) <= LONGEST
    visible(sentence(text)).encode()


def test_long_name_is_cut_in_the_middle() -> None:
    assert short("a" * 50 + "b" * 50, 11) == "aaaaa…bbbbb"
    assert short("exactly", 7) == "exactly"


def test_name_of_nothing_is_said_to_be_nothing() -> None:
    assert [name(text) for text in ("", " ", "   ")] == ["(empty)", "(blank)", "(blank)"]


def test_long_sentence_keeps_both_ends() -> None:
    said = sentence("It begins. " + "x" * 10_000 + " It ends.")
    assert said.startswith("It begins.")
    assert said.endswith("It ends.")
    assert len(said) <= 2000
