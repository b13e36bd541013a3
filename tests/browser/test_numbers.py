"""The page writes numbers as all other reports do: its script against ``number_text.py``."""

import json
import math
from importlib.resources import files

import numpy as np
import pytest

from assay import Wilson, number_text
from assay.inference import Estimate

from .chromium import Page

SOURCE = files("assay.report.html").joinpath("script", "numbers.js").read_text("utf-8")


def values() -> list[float]:
    """Small and large, near 0 and 1, exact halves of the last digit, sums of weights."""
    generator = np.random.default_rng(11)
    spread = 10.0 ** generator.uniform(-14, 15, 400)
    near = 1 - 10.0 ** generator.uniform(-14, -1, 150)
    halves = generator.integers(1, 4000, 200) / 2.0 ** generator.integers(1, 12, 200)
    plain = [0.0, 1.0, 0.5, 0.0625, 0.9995, 0.99951, 9.9996, 1e-13, 1 - 1e-13, 12345.25, 1e6 + 0.5]
    return [*spread.tolist(), *near.tolist(), *halves.tolist(), *plain]


def run(page: Page, call: str, cases: list[list[float]]) -> list[list[str]]:
    """What a function of the script gives for each case; nan travels as null."""
    given = json.dumps([[None if math.isnan(x) else x for x in case] for case in cases])
    answer = page.evaluate(
        f"(() => {{ {SOURCE}; return {given}.map((case_) => "
        f"[].concat({call}(...case_.map((x) => x ?? NaN)))); }})()"
    )
    return list(answer)


def text(said: str) -> str:
    """What is undefined is a dash on the page."""
    return said.replace(number_text.UNDEFINED, "\u2013")


@pytest.mark.parametrize(
    ("call", "function"),
    [
        ("count", number_text.count),
        ("percent", number_text.percent),
        ("(x) => significant(x, 10)", number_text.threshold_text),
        ("exactPercent", number_text.exact_percent),
        ("(x) => measured(x)[0]", number_text.plain_number),
        ("(x) => daily(x)[0]", number_text.daily),
    ],
)
def test_a_number_reads_as_in_other_reports(page: Page, call: str, function) -> None:
    cases = [value for value in values() if call != "count" or not 999_999 < value < 1e6]
    if call in ("percent", "exactPercent"):
        cases = [value for value in cases if value <= 1]
    for value, (content,) in zip(cases, run(page, f"({call})", [[v] for v in cases]), strict=True):
        assert content == function(value), value


def test_a_number_below_zero_reads_as_in_other_reports(page: Page) -> None:
    cases = [-value for value in values() if 0 < value <= 1]
    for value, (content,) in zip(
        cases, run(page, "((x) => measured(x)[0])", [[v] for v in cases]), strict=True
    ):
        assert content == number_text.plain_number(value), value


def test_a_measure_and_its_interval_read_as_in_other_reports(page: Page) -> None:
    generator = np.random.default_rng(12)
    n = (10 ** generator.uniform(0, 9, 500)).astype(int)
    k = (n * generator.beta(0.3, 0.3, 500)).astype(int)
    low, high = Wilson()(k, n)
    cases = np.stack([k / n, low, high], axis=1).tolist()
    cases += [
        [math.nan] * 3,
        [0.25, math.nan, math.nan],
        [5681.0, 3356.4, 9615.5],
        [-0.5, -0.51, -0.4],
    ]
    for case, texts in zip(cases, run(page, "measured", cases), strict=True):
        assert texts == [text(part) for part in number_text.measured_parts(Estimate(*case))], case


def test_numbers_a_day_read_as_in_other_reports(page: Page) -> None:
    generator = np.random.default_rng(13)
    middle = 10 ** generator.uniform(-6, 8, 200)
    cases = np.stack([middle, middle * 0.9, middle * 1.2], axis=1).tolist()
    for case, texts in zip(cases, run(page, "daily", cases), strict=True):
        assert texts == list(number_text.daily_parts(Estimate(*case))), case
