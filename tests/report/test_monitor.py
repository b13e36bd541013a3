"""The document of a monitor and its OpenMetrics text. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_monitor.py
"""

import csv
import io
import re
from functools import cache
from pathlib import Path

import pytest

from assay import Monitor, monitor
from assay.report import Provenance, document_of, draw
from assay.report.monitor import exposition, summary

from .goldens import checked

GOLDEN = Path(__file__).parent / "golden_monitor"
MADE = Provenance("0.1.0", "assay monitor alerts.csv", (("alerts.csv", 4096, "0f" * 32),))
ROWS = 360


@cache
def example() -> Monitor:
    """Three weeks of rows that need no generator, so that they are the same everywhere."""
    rows = range(ROWS)
    days = [f"2026-03-{2 + i * 21 // ROWS:02}" for i in rows]
    attack = [i % 4 == 0 for i in rows]
    score = [round(0.4 * attack[i] + (i * 37 % 61) / 100, 2) for i in rows]
    old = [round(0.3 * attack[i] + (i * 41 % 61) / 100, 2) for i in rows]
    truth = [
        None if score[i] < 0.5 or (i > 300 and i % 3) else ("attack" if attack[i] else "normal")
        for i in rows
    ]
    return monitor(
        days,
        truth,
        y_score=score,
        old_score=old,
        features={"bytes": [i * 53 % 97 for i in rows]},
        reference={
            "y_score": [(i * 37 % 61) / 100 for i in rows],
            "y_true": ["attack" if i % 9 == 0 else "normal" for i in rows],
            "bytes": [i * 59 % 97 for i in rows],
        },
        every="week",
        rules=["precision >= 0.9", "new-old(alert_rate) <= 0.5", "false_alarms_per_day <= 3"],
    )


@cache
def unlabelled() -> Monitor:
    """A single day without labels, and no rule."""
    return monitor(["2026-03-02"] * 40, y_score=[0.9, 0.2, 0.1, 0.3] * 10)


@pytest.mark.parametrize(
    ("name", "face", "width"),
    [
        ("monitor_80.txt", "terminal", 80),
        ("monitor_120.txt", "terminal", 120),
        ("monitor.md", "markdown", None),
        ("monitor.tex", "latex", None),
    ],
)
def test_a_monitor_looks_as_it_did(name: str, face: str, width: int | None) -> None:
    checked(GOLDEN / name, draw(document_of(example(), provenance=MADE), face, width=width))


def test_without_labels_it_says_so() -> None:
    text = draw(document_of(unlabelled(), provenance=MADE), "terminal", width=90)
    checked(GOLDEN / "unlabelled_90.txt", text)
    assert "Until 2026-03-02 precision is not known yet; no rule was given." in text


def test_csv_has_a_row_a_period_and_figure() -> None:
    text = draw(document_of(example()), "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == sum(len(period.estimates) for period in example().periods)
    assert {row["scope"] for row in rows} == {"period", "cumulative"}


def test_the_page_draws_each_sequence() -> None:
    page = draw(document_of(example()), "html")
    drawn = re.findall(r"<svg[^>]*>", page)
    assert len(drawn) >= 4  # the precision, the alert rate, false alarms, and a difference
    assert "false alarms a day: from" in page


def test_the_summary_counts_rules_and_says_since_when() -> None:
    assert summary(example()) == "1 of 3 rules is broken since 2026-03-08, 1 is open and 1 holds."


def test_a_shift_is_called_a_reason_to_label_and_no_loss() -> None:
    for face in ("terminal", "markdown", "html"):
        text = " ".join(draw(document_of(example()), face).split())
        assert "A shift is no loss of quality: it is a reason to label" in text


def test_openmetrics_has_a_sample_a_line_and_ends_as_it_should() -> None:
    lines = draw(document_of(example()), "openmetrics").splitlines()
    assert lines[-1] == "# EOF"
    samples = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"assay_\w+(\{.*\})? -?[\d.e+-]+", line) for line in samples)
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(families) == len(set(families))


def test_openmetrics_shows_what_acts_as_an_escape() -> None:
    samples = [("assay_rows", {"column": 'a"\\\n\x1b[2J\u202eé'}, 1.0)]
    (line,) = [
        one for one in exposition({"assay_rows": "Rows."}, samples).split("\n") if "{" in one
    ]
    assert line == r'assay_rows{column="a\"\\\n\\x1b[2J\\u202eé"} 1.0'
