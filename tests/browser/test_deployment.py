"""The base rate and the volume moved: every number against the library's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import Evaluation
from assay.inference import Estimate
from assay.number_text import daily_parts, measured_parts

from . import pages
from .chromium import Page

SHARES = ("precision", "false_discovery_rate", "negative_predictive_value", "f1", "accuracy", "mcc")
PER_DAY = ("alerts_per_day", "false_alarms_per_day", "missed_per_day")
RATES = (0.02, 0.0005)
VOLUME = 250_000.0

SEEN = """(() => ({
  rate: Number(document.getElementById("base-rate-number").value),
  slider: Number(document.getElementById("base-rate").value),
  words: document.getElementById("base-rate-words").textContent,
  threshold: document.getElementById("threshold-number").value,
  tiles: Object.fromEntries([...document.querySelectorAll("[data-deployed]")].map((tile) => [
    tile.dataset.deployed,
    [tile.querySelector(".value").dataset.value, tile.querySelector(".value").textContent,
     tile.querySelector(".interval").textContent],
  ])),
}))()"""


@cache
def evaluation(threshold: float = 0.5) -> Evaluation:
    tally = pages.judged(threshold=threshold).tally
    return Evaluation(tally, base_rate=RATES, volume=VOLUME)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.written(pages.document(evaluation()), tmp_path_factory.mktemp("page"))


@pytest.fixture
def opened(page: Page, path: Path) -> Iterator[Page]:
    yield page.open(path)
    assert page.errors == []
    assert page.dialogs == []
    assert page.requests == [path.as_uri()]


def a_day(assessment: Evaluation, rate: float, volume: float) -> dict[str, float]:
    """Daily figures, from the rates of the library."""
    false, missed = assessment["false_positive_rate"], assessment["false_negative_rate"]
    detected = assessment["recall"]
    return {
        "alerts_per_day": volume * (rate * detected + (1 - rate) * false),
        "false_alarms_per_day": volume * (1 - rate) * false,
        "missed_per_day": volume * rate * missed,
    }


def check(page: Page, *, volume: float = VOLUME, rate: float | None = None) -> dict[str, Any]:
    """Compare every tile with the library; give what was seen."""
    seen = page.evaluate(SEEN)
    rate = seen["rate"] if rate is None else rate
    threshold = math.inf if seen["threshold"] == "" else float(seen["threshold"])
    assessment = evaluation(min(threshold, 2.0))
    known = threshold == 0.5 and rate in RATES
    there = assessment.at(rate)
    for name in SHARES:
        value, text, interval = seen["tiles"][name]
        expected = there[name]
        if math.isnan(expected):
            assert (value, text, interval) == ("NaN", "\u2013", ""), name
            continue
        assert float(value) == pytest.approx(float(expected), rel=1e-11, abs=1e-12), name
        expected = expected if known else Estimate(float(expected))
        assert (text, interval) == measured_parts(expected), name
    for name, expected in a_day(assessment, rate, volume).items():
        value, text, interval = seen["tiles"][name]
        assert float(value) == pytest.approx(expected, rel=1e-11, abs=1e-9), name
        assert text == daily_parts(expected)[0], name
        assert bool(interval) == (known and volume == VOLUME), name
    return dict(seen)


def test_the_page_starts_at_the_first_base_rate_with_its_intervals(opened: Page) -> None:
    seen = check(opened)
    assert seen["rate"] == RATES[0]
    assert seen["words"] == "2% (1 in 50)"
    estimates = evaluation().at(RATES[0])
    for name in PER_DAY:
        assert seen["tiles"][name][1:] == list(daily_parts(estimates[name]))


def test_the_slider_moves_every_number(opened: Page) -> None:
    opened.evaluate("document.getElementById('base-rate').focus()")
    met = []
    for key, times in [
        ("Home", 1),
        ("ArrowRight", 9),
        ("PageUp", 2),
        ("ArrowRight", 5),
        ("End", 1),
    ]:
        opened.key(key, times)
        met.append(check(opened)["rate"])
    assert met == sorted(met)
    assert (met[0], met[-1]) == (1e-6, 0.99)


def test_the_prevalence_of_the_test_set_is_a_stop_with_the_test_sets_numbers(opened: Page) -> None:
    opened.evaluate("document.getElementById('base-rate').focus()")
    opened.key("End")
    words = "document.getElementById('base-rate-words').textContent"
    for _ in range(30):
        opened.key("ArrowLeft")
        if "as in the test set" in opened.evaluate(words):
            break
    assessment = evaluation()
    seen = check(opened, rate=float(assessment["prevalence"]))
    for name in SHARES:
        assert float(seen["tiles"][name][0]) == pytest.approx(float(assessment[name]), rel=1e-12)


def test_a_typed_base_rate_is_taken_as_it_is(opened: Page) -> None:
    for typed in (0.0123, 3e-8, 0.5, 0.9999):
        opened.type("#base-rate-number", repr(typed))
        assert check(opened)["rate"] == typed


def test_a_base_rate_that_is_none_changes_nothing(opened: Page) -> None:
    opened.type("#base-rate-number", "0.01")
    before = check(opened)
    for typed in ("0", "1", "7", "-0.2", ""):
        opened.type("#base-rate-number", typed)
        assert opened.evaluate(SEEN)["tiles"] == before["tiles"]


def test_a_typed_volume_moves_what_happens_a_day(opened: Page) -> None:
    opened.type("#base-rate-number", "0.001")
    for volume in (10.0, 1e9, 0.0, VOLUME):
        opened.type("#volume", repr(volume))
        check(opened, volume=volume)


def test_base_rate_and_threshold_move_apart(opened: Page) -> None:
    opened.type("#base-rate-number", "0.0005")
    for threshold in ("0.9", "0.2", "2", "0.5"):
        opened.type("#threshold-number", threshold)
        check(opened)
    opened.click("#back")
    check(opened)


def test_the_curve_at_the_base_rate_is_that_of_the_test_set_at_its_prevalence(
    opened: Page,
) -> None:
    opened.click("#back")
    paths = "[...document.querySelectorAll('#plot-far-dr .deployed, #plot-far-dr .curve')]"
    drawn = f"{paths}.filter((p) => !p.closest('.legend')).map((p) => p.getAttribute('d'))"
    truth, _ = pages.rows()
    opened.type("#base-rate-number", repr(float(np.mean(truth == "attack"))))
    deployed, curve = opened.evaluate(drawn)
    numbers = [np.array(re.findall(r"[\d.]+", path), float) for path in (deployed, curve)]
    assert np.allclose(*numbers, atol=0.011)
    opened.type("#base-rate-number", "0.0001")
    assert opened.evaluate(drawn)[0] != deployed
