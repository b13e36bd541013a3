"""What a page is made of: nothing from elsewhere, nothing that data can change."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings

from assay.formula import javascript
from assay.measures import CATALOGUE, find
from assay.report import measure_document, measures_document
from assay.report.evaluation import panel_of
from assay.report.html import formulas, render

from ..cases import CASES, document, evaluation  # noqa: TID252 - tests have no name of their own
from ..hostile import NAMES, document_with, odd_texts  # noqa: TID252 - same
from .pages import Parts, small

FILES = [
    part.read_text("utf-8")
    for folder in ("script", "templates", "style")
    for part in files("assay.report.html").joinpath(folder).iterdir()
]


def policy(parts: Parts) -> dict[str, str]:
    [content] = [meta["content"] for meta in parts.of("meta") if "http-equiv" in meta]
    assert content is not None
    return dict(each.strip().split(" ", 1) for each in content.split(";"))


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", CASES)
def test_policy_names_this_script_and_style_and_nothing_else(name: str) -> None:
    parts = Parts(render(document(name).report))
    assert policy(parts) == {
        "default-src": "'none'",
        "script-src": digest(parts.code["script"]),
        "style-src": digest(parts.code["style"]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", CASES)
def test_page_refers_to_nothing_outside_of_itself(name: str) -> None:
    page = render(document(name).report)
    parts = Parts(page)
    tags = {tag for tag, _ in parts.tags}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "form", "video", "audio"}
    anchors = {attributes.get("id") for _, attributes in parts.tags}
    for tag, attributes in parts.tags:
        assert not any(key.startswith("on") for key in attributes), tag
        assert not {"style", "src", "action", "data", "srcset"} & set(attributes), tag
        if "href" in attributes:
            assert str(attributes["href"]).removeprefix("#") in anchors
    assert "url(" not in parts.code["style"]
    assert "@import" not in parts.code["style"]
    # The name of the SVG namespace is all that looks like an address.
    assert set(re.findall(r"https?://[^\s\"']*", page)) <= {"http://www.w3.org/2000/svg"}


def test_no_file_of_the_page_makes_markup_or_code_from_text() -> None:
    banned = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|\|\s*safe"
    assert len(FILES) > 15
    for text in FILES:
        assert re.search(banned, text) is None


@pytest.mark.slow
def test_same_document_gives_the_same_bytes_in_any_process() -> None:
    here = render(small())
    assert render(small()) == here
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pages import small;"
        "from assay.report.html import render; import hashlib;"
        "print(hashlib.sha256(render(small()).encode()).hexdigest())"
    )
    wanted = hashlib.sha256(here.encode()).hexdigest()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        )
        assert done.stdout.strip() == wanted


def test_importing_the_face_does_not_import_the_templates() -> None:
    code = "import assay.report.html, sys; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- what it says ----------------------------------------------------------------------------------


def test_parts_come_in_the_order_of_reading() -> None:
    page = render(small())
    places = [
        "Catches",
        "Look here.",
        'id="operating-point"',
        'id="deployment"',
        "Main results</bdi></h2>",
        "Families</bdi></h2>",
        "Calibration</bdi></h2>",
        "Confusion matrix</bdi></h2>",
        "Per class</bdi></h2>",
        ">Findings</h2>",
        ">How it was made</h2>",
    ]
    indices = [page.index(place) for place in places]
    assert indices == sorted(indices)


@pytest.mark.parametrize("name", CASES)
def test_page_says_headline_findings_and_notes(name: str) -> None:
    shown = document(name).report
    text = Parts(render(shown)).text
    squeezed = text.replace(" ", "")
    for said in (*shown.headline, *shown.notes, *(f.message for f in shown.findings)):
        assert said.replace(" ", "") in squeezed


def test_page_says_how_it_was_made() -> None:
    text = Parts(render(small())).text
    assert "assay 0.1.0" in text
    assert "assay evaluate flows.csv" in text
    assert "flows.csv , 4,096 bytes SHA-256 " + "0f" * 32 in text


def test_formulas_of_every_count_measure_are_code_of_the_page() -> None:
    script = Parts(render(document("binary").report)).code["script"]
    for measure in CATALOGUE:
        if measure.formula is not None:
            line = f'"{measure.name}": (tp, fp, fn, tn) => {javascript(measure.formula)},'
            assert line in script
    assert '"precision": (tp, fp, fn, tn) => [tp, (tp + fp)],' in script
    assert '"f1": (tp, fp, fn, tn) => [' not in script


def test_formulas_that_the_plots_need_are_there_whatever_the_panel_shows() -> None:
    assert '"recall": (tp' in formulas(())
    assert formulas((find("kappa"),)).count('"kappa": (tp') == 1


def test_data_of_the_script_is_the_sweep_of_the_evaluation() -> None:
    panel = panel_of(evaluation("binary").snapshot())
    assert panel is not None
    data = json.loads(Parts(render(document("binary").report)).code["data"])
    assert data["sweep"] == {name: list(column) for name, column in panel.sweep.items()}
    assert data["threshold"] == 0.5
    assert data["counted"] is True
    assert json.loads(Parts(render(document("weighted").report)).code["data"])["counted"] is False
    assert json.loads(Parts(render(document("clustered").report)).code["data"])["counted"] is False


def test_page_without_a_panel_has_no_data_and_little_script() -> None:
    parts = Parts(render(document("classes").report))
    assert "data" not in parts.code
    assert "FORMULAS" not in parts.code["script"]


@pytest.mark.parametrize("made", [measures_document(), measure_document(find("mcc"))])
def test_other_documents_have_a_page_too(made) -> None:
    text = Parts(render(made)).text
    assert "MCC" in text or "mcc" in text


# -- names -----------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(odd_texts, odd_texts)
def test_no_name_adds_a_tag_or_an_attribute(one: str, two: str) -> None:
    usual = Parts(render(document_with("one", "two")))
    parts = Parts(render(document_with(one, two)))
    tags = {(tag, key) for tag, attributes in usual.tags for key in (*attributes, "")}
    tags |= {("bdi", "title"), ("span", "class"), ("span", "")}
    for tag, attributes in parts.tags:
        assert {(tag, key) for key in (*attributes, "")} <= tags
    assert parts.code == usual.code


@pytest.mark.parametrize("name", [name for name in NAMES if "<" in name])
def test_markup_in_a_name_is_shown_as_it_is(name: str) -> None:
    assert name in Parts(render(document_with(name, "other"))).text
