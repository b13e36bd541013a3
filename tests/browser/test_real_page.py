"""The page of a real network's published probabilities, where they are at hand."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay import evaluate

from . import pages
from .checks import Rows, handle, number, place
from .chromium import Page

FOLDER = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
FILE = FOLDER / "preds_safelink_ann.parquet"

pytestmark = [
    pytest.mark.skipif(
        not FILE.exists(), reason=f"the real data are absent: {FILE.name} is not in $ASSAY_DATA"
    ),
    pytest.mark.slow,
]


def test_every_number_of_a_real_page_is_the_librarys(page: Page, tmp_path: Path) -> None:
    frame = pl.read_parquet(FILE)
    evaluation = evaluate(frame["y_true"], y_score=frame["prob"], slices={"split": frame["split"]})
    path = pages.written(pages.document(evaluation), tmp_path)
    assert path.stat().st_size < 400_000
    page.open(path)
    # Scores are compared as the float64 values that they are read as.
    rows = Rows(frame["y_true"].to_numpy() == 1, frame["prob"].to_numpy().astype(np.float64))
    met = [number(rows.check(page)["threshold"])]
    for plot, stops in {
        "roc": [(52, 140), (80, 40), (150, 15)],
        "far-dr": [(60, 60), (120, 12)],
        "precision-recall": [(250, 8), (330, 40)],
        "scores": [(70, 100), (200, 100), (320, 100)],
    }.items():
        for stop in stops:
            page.drag(handle(page, plot), place(page, plot, *stop))
            met.append(number(rows.check(page)["threshold"]))
    page.evaluate("document.getElementById('threshold').focus()")
    for key, times in [("Home", 1), ("ArrowRight", 40), ("PageUp", 1), ("ArrowUp", 7), ("End", 1)]:
        page.key(key, times)
        met.append(number(rows.check(page)["threshold"]))
    for typed in (0.1, 0.35, 0.5, 0.99):
        page.type("#threshold-number", str(typed))
        met.append(number(rows.check(page)["threshold"]))
    assert len(set(met)) >= 18
    assert {min(met), max(met)} == {rows.scores.min(), np.inf}
    assert page.errors == []
    assert page.requests == [path.as_uri()]
