"""The threshold moved by mouse, slider, keys and field: every number against the library's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import Evaluation, evaluate, evaluate_counts
from assay.inference import Estimate
from assay.measures import CATALOGUE, Measure
from assay.report.numbers import count, measured_parts

from . import pages
from .chromium import Browser, Page

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
TEXTS = """[...document.querySelectorAll(
  "[data-measure] .value, [data-measure] .interval, [data-cell] .count, [data-sum], [data-said]," +
  "[data-deployed] .value, [data-deployed] .interval"
)].map((node) => node.textContent)"""


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    page = browser.page()
    page.resize(1280)
    page.open(pages.written(pages.document(pages.judged()), tmp_path_factory.mktemp("page")))
    yield page
    assert page.errors == []
    assert page.dialogs == []
    assert len(page.requests) == 1
    page.close()


def counts_at(threshold: float) -> dict[str, int]:
    """The four cells, from the rows themselves."""
    truth, scores = pages.rows()
    flagged, attack = scores >= threshold, truth == "attack"
    return {
        "tp": int(np.sum(flagged & attack)),
        "fp": int(np.sum(flagged & ~attack)),
        "fn": int(np.sum(~flagged & attack)),
        "tn": int(np.sum(~flagged & ~attack)),
    }


def number(text: str) -> float:
    return math.inf if text == "" else float(text)


def check(page: Page) -> dict[str, Any]:
    """Compare everything that is shown with the library; give what was seen."""
    seen = page.evaluate(SEEN)
    cells = counts_at(number(seen["threshold"]))
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
    return seen


def check_measure(measure: Measure, expected: Estimate, seen: dict[str, Any]) -> None:
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


def test_the_page_starts_at_the_report(opened: Page) -> None:
    seen = check(opened)
    assert seen["threshold"] == "0.5"
    assert seen["back"] is True
    assert seen["notes"] == ["report"]
    evaluation = pages.judged()
    for measure in COUNTED:
        assert seen["measures"][measure.name][1:3] == list(measured_parts(evaluation[measure.name]))


@pytest.mark.parametrize(
    ("plot", "stops"),
    [
        ("roc", [(60, 120), (120, 60), (49, 200), (350, 8)]),
        ("far-dr", [(100, 100), (60, 180), (200, 20), (46, 240)]),
        ("precision-recall", [(200, 20), (330, 120), (350, 240), (46, 8)]),
        ("scores", [(100, 100), (300, 40), (46, 128), (349, 200)]),
    ],
)
def test_a_point_dragged_on_any_plot_moves_every_number(
    opened: Page, plot: str, stops: list[tuple[float, float]]
) -> None:
    met = set()
    for x, y in stops:
        opened.drag(handle(opened, plot), place(opened, plot, x, y))
        met.add(check(opened)["threshold"])
    assert len(met) == len(stops)


def test_a_point_on_the_roc_goes_to_the_nearest_of_the_table(opened: Page) -> None:
    swept = pages.judged().curves.roc()
    xs = 46 + swept["false_positive_rate"] * (350 - 46)
    ys = 248 - swept["recall"] * (248 - 8)
    for x, y in [(70, 100), (200, 30), (150, 200)]:
        opened.drag(place(opened, "roc", x, y))
        nearest = np.argmin((xs - x) ** 2 + (ys - y) ** 2)
        assert number(check(opened)["threshold"]) == swept["threshold"][nearest]


def test_the_slider_goes_from_flagging_everything_to_nothing(opened: Page) -> None:
    opened.evaluate("document.getElementById('threshold').focus()")
    thresholds = []
    opened.key("Home")
    thresholds.append(number(check(opened)["threshold"]))
    for key, times in [("ArrowRight", 1), ("PageUp", 3), ("ArrowLeft", 2), ("ArrowUp", 25)]:
        opened.key(key, times)
        thresholds.append(number(check(opened)["threshold"]))
    opened.key("End")
    seen = check(opened)
    _, scores = pages.rows()
    assert thresholds[0] == scores.min()
    assert thresholds[1] == np.unique(scores)[1]
    assert thresholds[2] > thresholds[1] > thresholds[0]
    assert seen["threshold"] == ""
    assert seen["cells"]["tp"][1] == seen["cells"]["fp"][1] == "0"


def test_a_typed_threshold_decides_as_it_would(opened: Page) -> None:
    _, scores = pages.rows()
    for typed in (0.25, 0.7004, float(scores.min()), 0.0, 2.0):
        opened.type("#threshold-number", str(typed))
        seen = check(opened)
        assert counts_at(number(seen["threshold"])) == counts_at(typed)


def test_keys_work_at_once_after_the_mouse(opened: Page) -> None:
    opened.drag(place(opened, "roc", 60, 100))
    before = number(check(opened)["threshold"])
    opened.key("ArrowRight")
    assert number(check(opened)["threshold"]) > before


def test_the_button_goes_back_to_the_report(opened: Page) -> None:
    opened.drag(place(opened, "roc", 200, 100))
    seen = check(opened)
    assert (seen["back"], seen["notes"]) == (False, ["elsewhere"])
    opened.click("#back")
    seen = check(opened)
    assert (seen["threshold"], seen["back"], seen["notes"]) == ("0.5", True, ["report"])


def test_what_a_screen_reader_says_follows_the_point(opened: Page) -> None:
    opened.type("#threshold-number", "0.9")
    cells = counts_at(0.9)
    recall = evaluate_counts(**cells)["recall"]
    spoken = opened.evaluate("document.getElementById('threshold').ariaValueText")
    assert f"detection rate {100 * recall:.1f}%" in spoken
    for plot in ("roc", "far-dr", "precision-recall"):
        label = opened.evaluate(f"document.querySelector('#plot-{plot} svg').ariaLabel")
        assert f"detection rate {recall:.3f}" in label


def test_a_log_scale_moves_the_curve_and_keeps_the_numbers(opened: Page) -> None:
    opened.type("#threshold-number", "0.8")
    before = check(opened)
    path = "document.querySelector('#plot-roc .curve').getAttribute('d')"
    even = opened.evaluate(path)
    opened.click("#plot-roc button")
    assert opened.evaluate(path) != even
    assert check(opened) == before
    opened.drag(place(opened, "roc", 120, 150))
    assert check(opened) != before
    opened.click("#plot-roc button")
    assert opened.evaluate(path) == even


# -- other evaluations -----------------------------------------------------------------------------


def open_page(page: Page, evaluation: Evaluation, folder: Path) -> dict[str, Any]:
    page.open(pages.written(pages.document(evaluation), folder))
    assert page.errors == []
    return dict(page.evaluate(SEEN)) if evaluation.tally.scores is not None else {}


def shown(seen: dict[str, Any], measure: str) -> tuple[str, str]:
    _, text, interval, _ = seen["measures"][measure]
    return text, interval


@pytest.mark.parametrize("kind", ["weights", "clusters"])
def test_weights_and_clusters_have_intervals_only_at_the_report(
    kind: str, page: Page, tmp_path: Path
) -> None:
    weights = {"sample_weight": np.resize([0.5, 1.0, 2.25], 1500)}
    options = weights if kind == "weights" else {"clusters": np.arange(1500) // 10}
    evaluation = pages.judged(**options)
    seen = open_page(page, evaluation, tmp_path)
    assert shown(seen, "recall") == measured_parts(evaluation["recall"])
    page.type("#threshold-number", "0.7")
    seen = page.evaluate(SEEN)
    expected = pages.judged(**options, threshold=0.7)
    for measure in COUNTED:
        value, _, interval, _ = seen["measures"][measure.name]
        assert float(value) == pytest.approx(float(expected[measure.name]), rel=1e-9)
        assert interval == ""
    assert seen["notes"] == ["elsewhere"]


def test_decisions_stay_where_they_were_until_the_point_is_moved(
    page: Page, tmp_path: Path
) -> None:
    truth, scores = pages.rows()
    decided = np.where((scores >= 0.6) ^ (np.arange(1500) % 50 == 0), "attack", "normal")
    evaluation = evaluate(truth, y_score=scores, y_pred=decided)
    seen = open_page(page, evaluation, tmp_path)
    (tn, fp), (fn, tp) = evaluation.confusion.cells
    cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    assert {name: text for name, (_, text) in seen["cells"].items()} == {
        name: count(n) for name, n in cells.items()
    }
    assert shown(seen, "mcc") == measured_parts(evaluation["mcc"])
    page.type("#threshold-number", "0.6")
    check(page)
    page.click("#back")
    assert page.evaluate(SEEN) == seen


def test_decisions_alone_have_no_curves_and_all_the_numbers(page: Page, tmp_path: Path) -> None:
    open_page(page, evaluate_counts(tp=6635, fp=167, fn=324, tn=7743), tmp_path)
    assert page.evaluate("document.querySelectorAll('.plot').length") == 0
    assert page.evaluate("document.querySelector('[data-cell=tp] .count').textContent") == "6,635"


@pytest.mark.parametrize("label", ["attack", "normal"])
def test_one_class_alone_is_undefined_and_not_broken(
    label: str, page: Page, tmp_path: Path
) -> None:
    evaluation = evaluate([label] * 40, y_score=np.arange(40) / 40, labels=["normal", "attack"])
    seen = open_page(page, evaluation, tmp_path)
    absent = "recall" if label == "normal" else "false_positive_rate"
    assert shown(seen, absent) == ("\u2013", "")
    page.evaluate("document.getElementById('threshold').focus()")
    page.key("Home")
    page.key("End")
    assert page.errors == []


def test_many_distinct_scores_are_thinned_and_still_exact(page: Page, tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    truth = generator.random(20_000) < 0.1
    scores = generator.normal(0, 1, 20_000) + 2 * truth
    evaluation = evaluate(truth.astype(int), y_score=scores, threshold=1.5)
    open_page(page, evaluation, tmp_path)
    points = page.evaluate("JSON.parse(document.getElementById('assay-data').textContent).sweep.tp")
    assert 1000 < len(points) <= 2000
    for typed in (1.5, 3.25, -1.0):
        page.type("#threshold-number", str(typed))
        seen = page.evaluate(SEEN)
        chosen = number(seen["threshold"])
        flagged = scores >= chosen
        assert seen["cells"]["tp"][0] == str(np.sum(flagged & truth))
        assert seen["cells"]["fp"][0] == str(np.sum(flagged & ~truth))
        assert chosen >= typed


def test_without_script_the_numbers_are_there(page: Page, tmp_path: Path) -> None:
    path = pages.written(pages.document(pages.judged()), tmp_path)
    page.open(path)
    live = page.evaluate(TEXTS)
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.open(path)
    still = page.evaluate(TEXTS)
    assert live == still
    assert page.evaluate("document.querySelector('.controls').checkVisibility()") is False
