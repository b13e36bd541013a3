"""JSON and CSV: what programs read."""

import copy
import csv
import io
import json
import math

import jsonschema
import pytest
from hypothesis import example, given, settings

from assay import Bootstrap, evaluate
from assay.errors import InputError
from assay.escaping import visible
from assay.measures import CATALOGUE
from assay.report import document_of, draw, measures_document
from assay.report.document import SCHEMAS, neutralised, original_text, schema_of

from .cases import CASES, document, evaluation
from .hostile import NAMES, document_with, evaluation_of, many_of, odd_texts, texts

VALIDATOR = jsonschema.Draft202012Validator(schema_of("assay.evaluation/1"))
HEADS = [
    "measure",
    "label",
    "average",
    "slice_column",
    "slice_value",
    "base_rate",
    "value",
    "low",
    "high",
    "method",
    "n",
    "undefined",
    "note",
    "reading",
    "mode",
    "bound_low",
    "bound_high",
]


def problems(content: dict) -> list[str]:
    return [f"{list(e.absolute_path)}: {e.message}" for e in VALIDATOR.iter_errors(content)]


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


# -- JSON ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of(name))
    assert schema_of(name)["$id"] == name.replace("/", "-") + ".schema.json"


def test_unknown_schema_is_refused() -> None:
    with pytest.raises(InputError, match=r"there are .*assay\.audit/1, .*assay\.evaluation/1"):
        schema_of("assay.evaluation/2")


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", CASES)
def test_every_output_validates(name: str) -> None:
    assert problems(json.loads(draw(document(name), "json"))) == []


@pytest.mark.parametrize(
    "options",
    [
        {"base_rate": [0.5, 1e-7], "volume": 3.5},
        {"interval": Bootstrap(resamples=50)},
        {"counts": [3, 1, 0, 2], "slices": {"os": ["a", None, 1.5, True]}},
        {"sample_weight": [0.1, 2.5, 1, 1], "clusters": ["a", "a", "b", "b"]},
    ],
    ids=["base rates", "bootstrap", "counts", "weights"],
)
def test_output_validates_with_any_option(options: dict) -> None:
    assessment = evaluate([1, 0, 1, 0], y_score=[0.9, 0.4, 0.3, 0.6], **options)
    assert problems(json.loads(draw(document_of(assessment), "json"))) == []


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("schema",), "assay.evaluation/2"),
        (("positive",), 1),
        (("level",), 95),
        (("labels",), ["a"]),
        (("confusion", 0, 0), "7"),
        (("confusion", 0, 0), -1),
        (("estimates", 0, "value"), "0.5"),
        (("estimates", 0, "value"), None),
        (("estimates", 0, "low"), None),
        (("estimates", 0, "undefined"), "but it has a value"),
        (("estimates", 0, "average"), "mean"),
        (("estimates", 0, "base_rate"), 1),
        (("estimates", 0, "slice"), "os=win"),
        (("sweep", "tp"), None),
        (("findings",), [{"code": "one", "severity": "info", "message": "x"}]),
        (("findings",), [{"code": "E001", "severity": "leak", "message": "x"}]),
        (("source", "rows_read"), None),
    ],
)
def test_schema_refuses_what_the_contract_does_not_allow(path: tuple, wrong: object) -> None:
    twin = copy.deepcopy(json.loads(draw(document("level"), "json")))
    assert problems(twin) == []
    place = twin
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = wrong
    assert problems(twin)


def test_schema_allows_further_keys_and_misses_none_of_the_contract() -> None:
    content = json.loads(draw(document("level"), "json"))
    assert problems({**content, "later": 1}) == []
    for key in ("schema", "source", "positive", "threshold", "level", "mode", "labels"):
        assert problems({k: v for k, v in content.items() if k != key})
    for key in ("confusion", "per_class", "estimates", "sweep", "reliability", "findings"):
        assert problems({k: v for k, v in content.items() if k != key})


def test_json_is_the_evaluation_with_its_headline_and_tests() -> None:
    content = json.loads(draw(document("counts"), "json"))
    assert content.items() >= evaluation("counts").to_dict().items()
    assert content["headline"] == list(document("counts").report.headline)
    assert [test["test"] for test in content["tests"]] == [
        "accuracy_against_majority",
        "mcnemar_errors",
    ]


def test_json_is_text_and_ends_with_a_line() -> None:
    text = draw(document("binary"), "json")
    assert text.endswith("}\n")
    assert "NaN" not in text
    assert "Infinity" not in text


def test_letters_stand_as_they_are_and_half_pairs_as_escapes() -> None:
    text = draw(document_of(many_of(["שלום", "\ud800", "a\udfffb"])), "json")
    text.encode()
    assert "שלום" in text
    assert json.loads(text)["labels"][:3] == ["שלום", "\ud800", "a\udfffb"]


@settings(max_examples=30)
@given(odd_texts, odd_texts)
def test_any_name_comes_back_from_json(first: str, second: str) -> None:
    text = draw(document_with(first, second), "json")
    text.encode()
    assert json.loads(text)["labels"] == list(dict.fromkeys([first, second]))


# -- CSV -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_csv_has_a_row_an_estimate(name: str) -> None:
    text = draw(document(name), "csv")
    head, *rows = table(text)
    assert head == HEADS
    estimates = evaluation(name).to_dict()["estimates"]
    assert len(rows) == len(estimates)
    for row, estimate in zip(rows, estimates, strict=True):
        record = dict(zip(head, row, strict=True))
        for key in ("value", "low", "high", "n", "base_rate"):
            assert record[key] == ("" if estimate[key] is None else repr(estimate[key]))
        assert record["measure"] == estimate["measure"]
        assert record["reading"] == (estimate["reading"] or "")
        where = estimate["slice"] or {"column": "", "value": ""}
        assert original_text(record["slice_value"]) == where["value"]


def test_csv_is_as_rfc_4180_has_it() -> None:
    text = draw(document("nothing_flagged"), "csv")
    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r\n")


def test_numbers_stay_numbers() -> None:
    rows = table(draw(document_with("-1"), "csv"))
    assert dict(zip(*rows, strict=True)) == {
        "measure": "recall",
        "value": "-0.5",
        "low": "",
        "label": "'-1",
    }


@given(texts)
@example("'")
@example("''=x")
@example("")
def test_text_comes_back_from_a_harmless_cell(text: str) -> None:
    assert original_text(neutralised(text)) == text


@given(texts)
@example("\u2003=1")
@example("\x00\ufeff @x")
def test_harmless_cell_is_no_formula(text: str) -> None:
    start = neutralised(text).lstrip("\x00\ufeff\u200b\u2060 \u2003\u00a0")[:1]
    assert start not in set("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


@pytest.mark.parametrize("text", [name for name in NAMES if name.lstrip()[:1] in tuple("=+-@")])
def test_formulas_get_an_apostrophe(text: str) -> None:
    assert text == "" or neutralised(text) == "'" + text


@pytest.mark.parametrize("text", ["attack", "a=b", "user@host", "1-2", "007", "é", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert neutralised(text) == text


@settings(max_examples=50)
@given(texts, texts)
def test_any_name_comes_back_from_csv_as_it_is_seen(first: str, second: str) -> None:
    _, *rows = table(draw(document_with(first, second), "csv"))
    names = dict.fromkeys([first, second])
    assert [original_text(row[-1]) for row in rows] == [visible(name) for name in names]


def test_hostile_names_come_back_from_csv() -> None:
    names = [name for name in NAMES if name.isprintable() or name < "\ud800"]
    text = draw(document_of(evaluation_of(names[:40], "=col")), "csv")
    text.encode()
    _, *rows = table(text)
    values = {original_text(row[4]) for row in rows if original_text(row[3]) == "=col"}
    assert values == {*map(visible, names[:40]), "b", "c"}


def test_half_pairs_do_not_break_csv() -> None:
    text = draw(document_with("a\ud800"), "csv")
    text.encode()
    assert "a\ufffd" in text


def test_document_without_records_is_an_empty_table() -> None:
    from assay.report import Report

    assert draw(Report("Nothing", (), ()), "csv") == ""


def test_catalogue_is_a_table_too() -> None:
    head, *rows = table(draw(measures_document(), "csv"))
    by_name = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert by_name["precision"]["formula"] == "TP / (TP + FP)"
    assert float(by_name["mcc"]["range_low"]) == -1
    assert by_name["log_loss"]["range_high"] == ""
    endless = {name for name, row in by_name.items() if row["range_low"] == ""}
    assert endless == {m.name for m in CATALOGUE if math.isinf(m.range[0])}
