"""The page stays under 400 kB, whatever it is given, and says what it left out."""

from dataclasses import replace

import numpy as np
import pytest

from assay.evaluation.findings import Finding
from assay.inference import Estimate
from assay.measures import find
from assay.report.html import LARGEST, render
from assay.report.html.charts import Limits
from assay.report.sections import Column, Dot, Dots, Kind, Matrix, Prose, Report, Section, Table

from .pages import PANEL, Parts, small

SHARE = Estimate(0.123456789012345, 0.1, 0.2, method="wilson", n=123456)


def size(document: Report) -> int:
    return len(render(document).encode("utf-8"))


def matrix(labels: int, name: str = "class") -> Matrix:
    cells = np.random.default_rng(1).integers(0, 10**6, (labels, labels)).tolist()
    return Matrix("caption", tuple(f"{name} {i}" for i in range(labels)), tuple(map(tuple, cells)))


def table(rows: int, name: str = "row") -> Table:
    columns = (Column("name"), *(Column(f"c{i}", Kind.SHARE) for i in range(6)))
    return Table("caption", columns, tuple((f"{name} {i}", *[SHARE] * 6) for i in range(rows)))


def dots(lines: int, name: str = "slice") -> Dots:
    points = tuple(Dot(f"{name} {i}", SHARE, "11 of 11 detected") for i in range(lines))
    return Dots("caption", "column", find("recall"), points, SHARE)


def of_blocks(*blocks) -> Report:
    return replace(small(), sections=(Section("title", blocks),))


def test_usual_page_is_far_below_the_limit() -> None:
    assert size(small()) < LARGEST / 4


def test_sweep_of_the_most_points_fits() -> None:
    steps = np.sort(np.random.default_rng(2).random((3, 2000)))
    sweep = {
        "threshold": (None, *(1 - steps[0]).tolist()),
        "tp": (0.0, *(1e9 * steps[1]).tolist()),
        "fp": (0.0, *(1e9 * steps[2]).tolist()),
    }
    large = replace(PANEL, sweep=sweep, positives=1e9, negatives=1e9, weighted=True)
    document = replace(of_blocks(matrix(1000), table(1000), dots(50)), panel=large)
    page = render(document)
    assert len(page.encode()) < LARGEST
    # The table is whole: it is other things that are cut.
    assert repr(sweep["tp"][1234]) in page


@pytest.mark.parametrize("labels", [2, 3, 12, 31, 32, 200, 1000])
def test_matrix_of_any_size_fits(labels: int) -> None:
    page = render(of_blocks(matrix(labels)))
    assert len(page.encode()) < LARGEST
    left = labels - 30 if labels > 31 else 0
    assert (f"{left:,} others" in page) == bool(left)


def test_long_tables_are_cut_and_the_page_says_so() -> None:
    text = Parts(render(of_blocks(table(1234)))).text
    assert "row 99 " in text
    assert "row 100 " not in text
    assert "1,134 more rows are left out here" in text


def test_at_most_fifty_slices_are_shown() -> None:
    text = Parts(render(of_blocks(dots(80)))).text
    assert "slice 49 " in text
    assert "slice 50 " not in text
    assert "30 more are left out here" in text


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("letter", ["x", "\u65e5", "\U0001f600", "<", "&", "\x00"])
def test_endless_names_fit(letter: str) -> None:
    name = letter * 10_000
    blocks = (matrix(200, name), table(300, name), dots(50, name), Prose(name))
    document = replace(
        of_blocks(*blocks * 3),
        title=name,
        headline=(name,) * 5,
        notes=(name,) * 300,
        findings=tuple(Finding("E001", "warning", name) for _ in range(300)),
        panel=replace(PANEL, positive=name, negative=name),
    )
    assert size(document) < LARGEST


@pytest.mark.slow
def test_thousands_of_sections_fit() -> None:
    sections = tuple(Section(f"section {i}", (table(40), dots(40))) for i in range(2000))
    page = render(replace(small(), sections=sections))
    assert len(page.encode()) < LARGEST
    assert "sections are left out here" in page


def test_a_section_that_is_cut_says_so() -> None:
    text = Parts(render(of_blocks(*(Prose(f"sentence {i} of many") for i in range(70))))).text
    assert "sentence 63 of many" in text
    assert "sentence 64 of many" not in text
    assert "6 more tables and sentences are left out here" in text


def test_limits_tighten_until_they_stand_still() -> None:
    limits, steps = Limits(), 0
    while limits != limits.tighter():
        limits, steps = limits.tighter(), steps + 1
    assert 3 <= steps <= 8
    assert limits.letters >= 24
