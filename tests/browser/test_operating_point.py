"""The threshold moved by mouse, slider, keys and field: every number against the library's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from assay import Evaluation, evaluate, evaluate_counts
from assay.inference import Estimate
from assay.number_text import count, measured_parts

from . import pages
from .checks import COUNTED, SEEN, Rows, handle, number, place
from .chromium import Page

TRUTH, SCORES = pages.rows()
ROWS = Rows(TRUTH == "attack", SCORES)

TEXTS = """[...document.querySelectorAll(
  "[data-measure] .value, [data-measure] .interval, [data-cell] .count, [data-sum], [data-said]," +
  "[data-deployed] .value, [data-deployed] .interval"
)].map((node) => node.textContent)"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.written(pages.document(pages.judged()), tmp_path_factory.mktemp("page"))


@pytest.fixture
def opened(page: Page, path: Path) -> Iterator[Page]:
    yield page.open(path)
    assert page.errors == []
    assert page.dialogs == []
    assert page.requests == [path.as_uri()]


def check(page: Page) -> dict[str, Any]:
    return ROWS.check(page)


def test_the_page_starts_at_the_report(opened: Page) -> None:
    seen = check(opened)
    assert seen["threshold"] == "0.5"
    assert seen["back"] is True
    assert seen["notes"] == ["report"]
    evaluation = pages.judged()
    for measure in COUNTED:
        assert seen["measures"][measure.name][1:3] == list(measured_parts(evaluation[measure.name]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("plot", "stops"),
    [
        ("roc", [(60, 120), (120, 60), (49, 200), (350, 8)]),
        ("far-dr", [(100, 100), (60, 180), (200, 20), (46, 240)]),
        ("precision-recall", [(200, 20), (330, 120), (350, 240), (46, 8)]),
        ("scores", [(100, 100), (300, 40), (46, 128), (349, 200)]),
        ("det", [(100, 60), (180, 120), (240, 180), (320, 230)]),
        ("gain", [(100, 120), (200, 40), (60, 200), (340, 10)]),
        ("decision", [(100, 100), (200, 40), (300, 128), (330, 200)]),
    ],
)
def test_a_point_dragged_on_any_plot_moves_every_number(
    opened: Page, plot: str, stops: list[tuple[float, float]]
) -> None:
    opened.evaluate("document.querySelector('.further').open = true")
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
    assert thresholds[0] == SCORES.min()
    assert thresholds[1] == np.unique(SCORES)[1]
    assert thresholds[2] > thresholds[1] > thresholds[0]
    assert seen["threshold"] == ""
    assert seen["cells"]["tp"][1] == seen["cells"]["fp"][1] == "0"


def test_a_typed_threshold_decides_as_it_would(opened: Page) -> None:
    for typed in (0.25, 0.7004, float(SCORES.min()), 0.0, 2.0):
        opened.type("#threshold-number", str(typed))
        seen = check(opened)
        assert ROWS.counts_at(number(seen["threshold"])) == ROWS.counts_at(typed)


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
    cells = ROWS.counts_at(0.9)
    recall = evaluate_counts(**cells)["recall"]
    spoken = opened.evaluate("document.getElementById('threshold').ariaValueText")
    assert f"detection rate {100 * recall:.1f}%" in spoken
    for plot in ("roc", "far-dr", "precision-recall"):
        label = opened.evaluate(f"document.querySelector('#plot-{plot} svg').ariaLabel")
        assert f"detection rate {recall:.3f}" in label


def test_one_alert_is_called_an_alert(page: Page, tmp_path: Path) -> None:
    alone = evaluate(["attack", "attack", "normal"], y_score=[0.9, 0.4, 0.1])
    page.open(pages.written(pages.document(alone), tmp_path))
    said = "document.querySelector('.said').textContent"
    assert "raises 1 alert, catching" in page.evaluate(said)
    for typed, alerts in (("0.1", "3 alerts"), ("0.9", "1 alert"), ("2", "0 alerts")):
        page.type("#threshold-number", typed)
        assert f"raises {alerts}, catching" in page.evaluate(said)


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


def readout(page: Page, plot: str) -> str:
    return str(page.evaluate(f"document.querySelector('#plot-{plot} .readout').textContent"))


def test_the_net_benefit_is_the_librarys_with_its_band(opened: Page) -> None:
    for typed in (0.1, 0.5, 0.9):
        opened.type("#threshold-number", str(typed))
        chosen = number(check(opened)["threshold"])
        curve = pages.judged().curves.decision(thresholds=[chosen], band=0.95)
        estimate = Estimate(*(float(curve[name][0]) for name in ("net_benefit", "low", "high")))
        text, interval = measured_parts(estimate)
        assert readout(opened, "decision") == f"net benefit {text} {interval}"
    opened.evaluate("document.getElementById('threshold').focus()")
    opened.key("End")
    assert "no probability" in readout(opened, "decision")


def test_a_probability_cost_chooses_the_threshold_that_is_best_there(opened: Page) -> None:
    opened.evaluate("document.querySelector('.further').open = true")
    hull = pages.judged().curves.hull()
    for pc in (0.21, 0.48, 0.83):
        opened.drag(place(opened, "cost", 46 + pc * (350 - 46), 100))
        here = int(np.searchsorted(hull["pc_high"], pc))
        assert number(check(opened)["threshold"]) == hull["threshold"][here]
        low, high = (float(f"{hull[end][here]:.2g}") for end in ("pc_low", "pc_high"))
        assert readout(opened, "cost") == f"best at PC {low:g} to {high:g}"


def test_the_det_curve_stands_on_normal_deviates_and_marks_equal_errors(opened: Page) -> None:
    curve = pages.judged().curves.det()
    errors = curve["false_positive_rate"], curve["false_negative_rate"]
    rate = float(np.maximum(*errors).min())
    text = opened.evaluate("document.querySelector('#plot-det text.legend').textContent")
    assert text == "◇ equal errors"
    path = opened.evaluate("document.querySelector('#plot-det .curve').getAttribute('d')")
    points = [float(h) for h in re.findall("[MH]([0-9.]+)", path)]
    deviates = curve["false_positive_rate_probit"]
    least, most = deviates[0], NormalDist().inv_cdf(0.8)
    expected = 46 + (np.minimum(deviates, most) - least) / (most - least) * (350 - 46)
    assert points == pytest.approx(expected.tolist(), abs=0.03)
    mark = opened.evaluate("document.querySelector('#plot-det .equal').getAttribute('d')")
    at = 46 + (NormalDist().inv_cdf(rate) - least) / (most - least) * (350 - 46)
    assert float(mark[1:].split()[0]) == pytest.approx(at, abs=0.03)


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
    # Rounding leaves nothing behind at either end.
    page.evaluate("document.getElementById('threshold').focus()")
    for key, empty in (("Home", ("fn", "tn")), ("End", ("tp", "fp"))):
        page.key(key)
        cells = page.evaluate(SEEN)["cells"]
        assert [cells[name][1] for name in empty] == ["0", "0"]
    assert page.errors == []


def test_decisions_stay_where_they_were_until_the_point_is_moved(
    page: Page, tmp_path: Path
) -> None:
    decided = np.where((SCORES >= 0.6) ^ (np.arange(1500) % 50 == 0), "attack", "normal")
    evaluation = evaluate(TRUTH, y_score=SCORES, y_pred=decided)
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


ODD = {
    "usual": pages.judged,
    "with a volume": lambda: Evaluation(pages.judged().tally, volume=5000, base_rate=0.2),
    # Not 0.1 and 0.7: accuracy is half of a last digit then, which one ulp rounds either way.
    "weights": lambda: pages.judged(sample_weight=np.resize([0.1, 0.6], 1500)),
    "no rows": lambda: evaluate_counts(tp=0, fp=0, fn=0, tn=0),
    "nothing flagged": lambda: evaluate_counts(tp=0, fp=0, fn=3, tn=7),
    "perfect": lambda: evaluate_counts(tp=11, fp=0, fn=0, tn=40),
    "huge": lambda: evaluate_counts(tp=10**18 + 7, fp=3, fn=10**17, tn=10**19 + 1),
    "below zero": lambda: evaluate([0, 1, 0, 1], y_score=[-3e9, 5, 1, 8], threshold=2),
    "one score": lambda: evaluate([0, 1, 0, 1], y_score=[0.5] * 4),
    "beyond all scores": lambda: evaluate([0, 1, 0, 1], y_score=[1, 2, 3, 4], threshold=9),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ODD)
def test_without_script_the_numbers_are_the_same(name: str, page: Page, tmp_path: Path) -> None:
    path = pages.written(pages.document(ODD[name]()), tmp_path)
    page.open(path)
    live = page.evaluate(TEXTS)
    assert page.errors == []
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.open(path)
    assert page.evaluate(TEXTS) == live
    assert page.evaluate("document.querySelector('.controls').checkVisibility()") is False
