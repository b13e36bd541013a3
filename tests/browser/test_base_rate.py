"""The sliders of the page for people who are new say what the library says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay import evaluate_counts

from .chromium import Page

PART = Path(__file__).resolve().parents[2] / "docs" / "start" / "base_rate.html"


def moved(page: Page, **places: int) -> tuple[list[float], str]:
    """Where the sliders stand once they are moved, and what is said there."""
    for name, place in places.items():
        page.evaluate(
            f"document.getElementById({name!r}).value = {place};"
            f"document.getElementById({name!r}).dispatchEvent(new Event('input'))"
        )
    values = json.loads(page.evaluate("document.getElementById('base-rate').dataset.values"))
    return values, page.evaluate("document.getElementById('alarms-said').textContent")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "places",
    [
        {},
        {"base": 0},
        {"base": 940, "positive": 0},
        {"detection": 500, "positive": 333, "base": 250, "volume": 900},
        {"detection": 1000, "positive": 1000, "base": 700},
    ],
)
def test_the_sliders_give_the_precision_of_the_library(page: Page, places: dict[str, int]) -> None:
    page.open(PART)
    (detection, positive, base, volume), text = moved(page, **places)
    # Cells large enough for rates of any slider to be whole counts.
    rows = 10**6
    tp, fp = round(detection * rows), round(positive * rows)
    there = evaluate_counts(tp=tp, fp=fp, fn=rows - tp, tn=rows - fp).at(base)
    answer = float(page.evaluate("document.getElementById('base-rate').dataset.precision"))
    assert answer == pytest.approx(float(there["precision"]), rel=1e-9)
    assert f"{volume * (base * detection + (1 - base) * positive):,.0f} alarms a day" in text
    assert page.errors == []
    assert page.requests == [PART.as_uri()]


def test_a_detector_that_finds_nothing_still_has_false_alarms(page: Page) -> None:
    page.open(PART)
    _, text = moved(page, detection=0, positive=0)
    assert text.startswith("100 alarms a day: 0 real, 100 false.")


def test_the_first_position_is_that_of_the_text(page: Page) -> None:
    page.open(PART)
    _, text = moved(page)
    assert text.startswith("10,980 alarms a day: 990 real, 9,990 false.")
    assert "10 of 1,000 attacks a day are missed" in text
    words = (PART.parent / "new.rst").read_text("utf-8")
    assert all(number in words for number in ("10,980", "990", "9,990"))
