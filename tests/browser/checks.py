"""Everything that the panel shows, against the library at the same threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from assay import evaluate_counts
from assay.inference import Estimate
from assay.measures import CATALOGUE, Measure
from assay.number_text import count, measured_parts

from .chromium import Page

COUNTED = [measure for measure in CATALOGUE if measure.formula is not None]

# Everything that the panel shows, as plain data.
SEEN = """(() => {
  const text = (node) => node.textContent.trim();
  const all = (kind) => [...document.querySelectorAll(`[data-${kind}]`)];
  const counts = (node) => [node.dataset.value, text(node)];
  const pairs = (kind, look) => all(kind).map((node) => [node.dataset[kind], look(node)]);
  const named = (kind, look) => Object.fromEntries(pairs(kind, look));
  return {
    threshold: document.getElementById("threshold-number").value,
    back: document.getElementById("back").disabled,
    cells: named("cell", (node) => counts(node.querySelector(".count"))),
    sums: named("sum", counts),
    measures: named("measure", (row) => {
      const value = row.querySelector(".value");
      return [...counts(value), text(row.querySelector(".interval")), value.title];
    }),
    notes: all("when").filter((n) => !n.hidden).map((n) => n.dataset.when),
  };
})()"""


def number(text: str) -> float:
    """A threshold as its field shows it; nothing is infinity."""
    return math.inf if text == "" else float(text)


@dataclass(frozen=True)
class Rows:
    """The rows behind a page: which are attacks, and their scores."""

    attack: np.ndarray
    scores: np.ndarray

    def counts_at(self, threshold: float) -> dict[str, int]:
        """The four cells, from the rows themselves."""
        flagged = self.scores >= threshold
        return {
            "tp": int(np.sum(flagged & self.attack)),
            "fp": int(np.sum(flagged & ~self.attack)),
            "fn": int(np.sum(~flagged & self.attack)),
            "tn": int(np.sum(~flagged & ~self.attack)),
        }

    def check(self, page: Page) -> dict[str, Any]:
        """Compare all that is shown with the library; give what was seen."""
        seen = page.evaluate(SEEN)
        cells = self.counts_at(number(seen["threshold"]))
        assert seen["cells"] == {name: [str(n), count(n)] for name, n in cells.items()}
        alerts, quiet = cells["tp"] + cells["fp"], cells["fn"] + cells["tn"]
        assert seen["sums"] == {
            "alerts": [str(alerts), count(alerts)],
            "quiet": [str(quiet), count(quiet)],
        }
        expected = evaluate_counts(**cells)
        assert set(seen["measures"]) == {measure.name for measure in COUNTED}
        for measure in COUNTED:
            check_measure(measure, expected[measure.name], seen)
        return dict(seen)


def check_measure(measure: Measure, expected: Estimate, seen: dict[str, Any]) -> None:
    """One measure: its value to the last digits, its text and interval to the letter."""
    value, text, interval, title = seen["measures"][measure.name]
    if math.isnan(expected):
        assert (value, text, interval) == ("NaN", "\u2013", ""), measure.name
        assert title.startswith("undefined"), measure.name
        return
    assert float(value) == pytest.approx(float(expected), rel=1e-12, abs=1e-12), measure.name
    if not (measure.is_proportion or seen["notes"] == ["report"]):
        expected = Estimate(float(expected))
    assert (text, interval) == measured_parts(expected), measure.name


def place(page: Page, plot: str, x: float, y: float) -> tuple[float, float]:
    """Where a position on a plot, in units of its view box, lies on the screen."""
    box = page.box(f"#plot-{plot} svg")
    return box["x"] + x / 360 * box["width"], box["y"] + y / 292 * box["height"]


def handle(page: Page, plot: str) -> tuple[float, float]:
    """Where the point of a plot lies on the screen."""
    at = page.evaluate(
        f"(() => {{ const h = document.querySelector('#plot-{plot} .handle');"
        "return [Number(h.getAttribute('cx')), Number(h.getAttribute('cy'))]; })()"
    )
    return place(page, plot, *at)
