"""Reports to open: made by the library from rows that are made up here, and written to files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assay import Evaluation, Incidents, Monitor, compare, evaluate, incidents, monitor
from assay.report import Provenance, Report, document_of
from assay.report.html import render

MADE = Provenance("0.1.0", "assay evaluate rows.csv", (("rows.csv", 1234, "9f86d081" * 8),))


def rows(size: int = 1500, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores with many ties; the model is neither perfect nor poor."""
    generator = np.random.default_rng(seed)
    truth = generator.random(size) < 0.3
    evidence = np.where(truth, 1.4, -1.2) + generator.normal(0, 1.2, size)
    return np.where(truth, "attack", "normal"), np.round(1 / (1 + np.exp(-evidence)), 3)


def judged(**options: Any) -> Evaluation:
    """The evaluation of these rows."""
    truth, scores = rows()
    families = np.where(truth == "normal", "normal", np.resize(["dos", "scan", "beacon"], 1500))
    options = {"slices": {"family": families, "port": np.resize(["22", "80"], 1500)}} | options
    return evaluate(truth, y_score=scores, **options)


def classes(size: int = 12) -> Evaluation:
    """An evaluation of many classes."""
    generator = np.random.default_rng(3)
    truth = generator.integers(0, size, 40 * size)
    wrong = (truth + generator.integers(1, 3, len(truth))) % size
    decided = np.where(generator.random(len(truth)) < 0.8, truth, wrong)
    return evaluate([f"class {i}" for i in truth], y_pred=[f"class {i}" for i in decided])


def watched() -> Monitor:
    """A detector whose precision falls, and so breaks one of two rules."""
    days = 30
    times = [f"2026-03-{day + 1:02d}" for day in range(days) for _ in range(40)]
    labels = [
        "attack" if i % 10 < (9 if day < 12 else 4) else "normal"
        for day in range(days)
        for i in range(40)
    ]
    rules = ["precision >= 0.8", "false_alarms_per_day <= 40"]
    return monitor(times, labels, y_score=[0.9, 0.7] * (len(times) // 2), rules=rules)


def detected() -> Incidents:
    """A week with three attacks, of which two are found, and a false alarm each day."""
    start = 1_794_787_200
    attacks = [
        {"attack": name, "start": f"2026-11-{day}T10:00Z", "end": f"2026-11-{day}T12:00Z"}
        for name, day in (("port scan", 16), ("worm", 18), ("a very long name of an attack", 20))
    ]
    hours = [10.5, 10.6, 58.2, *(24 * day + 3.0 for day in range(7))]
    times = pl.DataFrame({"time": [int((start + 3600 * hour) * 1e6) for hour in sorted(hours)]})
    return incidents(alerts=times, schedule=attacks)


def comparison() -> Report:
    """The document of two models, of which one is a little better at most things."""
    truth, scores = rows()
    generator = np.random.default_rng(1)
    worse = np.clip(scores + generator.normal(0, 0.05, len(scores)), 0, 1)
    families = np.where(truth == "normal", "normal", np.resize(["dos", "scan", "beacon"], 1500))
    compared_models = compare(
        truth, scores={"old": worse, "new": scores}, families=families, resamples=100
    )
    return document_of(compared_models, provenance=MADE).report


def document(evaluation: Evaluation, **changes: Any) -> Report:
    """The document of an evaluation, with some of its parts changed."""
    return replace(document_of(evaluation, provenance=MADE).report, **changes)


def written(document: Report, folder: Path) -> Path:
    """The page of a document, as a file."""
    path = folder / "report.html"
    path.write_text(render(document), encoding="utf-8")
    return path
