"""The catalogue as a document."""

import json
import math
from dataclasses import replace

import jsonschema
import pytest

from assay.errors import InputError
from assay.measures import CATALOGUE, Band, Measure, find
from assay.report import draw, measure_document, measures_document
from assay.report.document import schema_of
from assay.report.measure_pages import classes_formula_of, formula_of, span, symbols_of
from assay.report.sections import Formula, Prose, Report, Table

VALIDATOR = jsonschema.Draft202012Validator(schema_of("assay.measures/1"))
FACES = ("terminal", "json", "csv", "markdown", "latex")


def cells(document: Report) -> list:
    tables = [b for s in document.sections for b in s.blocks if isinstance(b, Table)]
    return [cell for table in tables for row in table.rows for cell in row]


def section(document: Report, title: str) -> tuple:
    return next(s.blocks for s in document.sections if s.title == title)


# -- the list --------------------------------------------------------------------------------------


def test_every_measure_is_listed_under_its_group() -> None:
    report = measures_document()
    listed = {
        section.title.lower(): [row[0] for row in section.blocks[0].rows]
        for section in report.sections
    }
    expected: dict[str, list[str]] = {}
    for measure in CATALOGUE:
        expected.setdefault(measure.group, []).append(measure.name)
    assert listed == expected


def test_list_has_formula_range_direction_and_reading() -> None:
    report = measures_document("rates")
    assert [section.title for section in report.sections] == ["Rates"]
    rows = {row[0]: row[1:] for row in report.sections[0].blocks[0].rows}
    precision = find("precision")
    assert rows["precision"] == (
        Formula("TP / (TP + FP)", r"\frac{TP}{TP + FP}"),
        "[0, 1]",
        "higher",
        precision.reads,
    )


def test_unknown_group_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="rates, agreement, cost, ranking and probability"):
        measures_document("nonsense")


@pytest.mark.parametrize("face", FACES)
def test_list_has_every_face(face: str) -> None:
    text = draw(measures_document(), face)
    for name in ("precision", "mcc", "brier"):
        assert name in text


# -- one measure -----------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", CATALOGUE, ids=lambda measure: measure.name)
def test_page_tells_all_there_is_to_tell(measure: Measure) -> None:
    report = measure_document(measure)
    assert report.headline == (measure.reads,)
    told = [cell for cell in cells(report) if isinstance(cell, str)]
    assert measure.name in told
    assert measure.reference in told
    assert measure.better.value in told
    assert ", ".join(measure.aliases) in told or not measure.aliases
    assert section(report, "When it misleads") == (Prose(measure.misleads),)
    for band in measure.bands:
        assert band.reading in told
    assert formula_of(measure) in cells(report)
    assert (classes_formula_of(measure) in cells(report)) is (measure.classes is not None)
    assert symbols_of(measure)
    for face in FACES:
        assert measure.name in draw(report, face).replace("\\allowbreak{}", "").replace("\\", "")


def test_example_is_worked_out() -> None:
    (table,) = section(measure_document(find("mcc")), "Example")
    assert table.caption == "With TP = 4, FP = 1, FN = 1 and TN = 4"
    ((filled, value),) = table.rows
    assert filled.plain == ("(4 x 4 - 1 x 1) / sqrt((4 + 1) x (4 + 1) x (4 + 1) x (4 + 1))")
    assert filled.latex.startswith(r"\frac{4 \cdot 4 - 1 \cdot 1}")
    assert float(value) == 0.6


def test_example_of_scores_shows_them() -> None:
    (said,) = section(measure_document(find("roc_auc")), "Example")
    assert said.text == (
        "With these scores it is 0.875 [0.432, 0.983]: attack 0.92, 0.81, 0.64 and 0.47; normal "
        "0.75, 0.38, 0.21 and 0.05."
    )


def test_measure_without_an_interval_says_why() -> None:
    told = cells(measure_document(find("expected_calibration_error")))
    assert "none: a bootstrap of it does not cover" in told


def test_measure_that_was_just_declared_has_its_page() -> None:
    counted = replace(find("precision"), name="new", example=None)
    ((_, value),) = section(measure_document(counted), "Example")[0].rows
    assert float(value) == 0.75
    scored = replace(find("brier"), name="fresh")
    assert formula_of(scored) == formula_of(find("brier"))


def test_f_beta_that_is_not_in_the_catalogue_has_its_page() -> None:
    report = measure_document(find("f3"))
    assert report.title == "F3"
    assert formula_of(find("f3")).plain == "10 TP / (10 TP + FP + 9 FN)"


@pytest.mark.parametrize(
    ("name", "i", "said"),
    [
        ("kappa", 0, "below 0"),
        ("kappa", 1, "0"),
        ("kappa", 2, "above 0, below 0.2"),
        ("kappa", 3, "from 0.2, below 0.4"),
        ("kappa", 7, "1"),
        ("mcc", 0, "-1"),
        ("mcc", 1, "above -1, below 0"),
        ("roc_auc", 1, "0.5"),
        ("kappa", 6, "from 0.8, below 1"),
    ],
)
def test_bands_are_told_in_words(name: str, i: int, said: str) -> None:
    measure = find(name)
    assert span(measure.bands[i], measure) == said


def test_band_without_an_end_is_told() -> None:
    assert span(Band(2, math.inf, "large"), find("log_loss")) == "2 and above"


# -- plain values ----------------------------------------------------------------------------------


def test_json_of_the_catalogue_validates() -> None:
    document = json.loads(draw(measures_document(), "json"))
    assert [e.message for e in VALIDATOR.iter_errors(document)] == []
    assert [entry["name"] for entry in document["measures"]] == [m.name for m in CATALOGUE]


@pytest.mark.parametrize("measure", CATALOGUE, ids=lambda measure: measure.name)
def test_json_of_a_measure_validates_and_its_example_is_right(measure: Measure) -> None:
    document = json.loads(draw(measure_document(measure), "json"))
    assert [e.message for e in VALIDATOR.iter_errors(document)] == []
    (entry,) = document["measures"]
    if measure.example is not None:
        assert entry["example"]["given"] == measure.example[0]._asdict()
        assert entry["example"]["value"] == pytest.approx(float(measure.example[1]), rel=1e-15)
    assert entry["range"][1] is None or math.isfinite(entry["range"][1])


def test_schema_of_measures_refuses_what_is_none() -> None:
    document = json.loads(draw(measure_document(find("precision")), "json"))
    for key, wrong in (("better", "more"), ("range", [0]), ("bands", [{}]), ("needs", "luck")):
        broken = {**document, "measures": [{**document["measures"][0], key: wrong}]}
        assert list(VALIDATOR.iter_errors(broken))
