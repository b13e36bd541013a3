"""Columns are recognised by what was given, by names and by content."""

from typing import Any

import polars as pl
import pytest

from assay.errors import InputError, MissingColumn
from assay.reading.content import Reading
from assay.reading.names import Recognised, recognise

TRUTH = ["attack", "normal"] * 20
FLAGGED = ["attack", "normal", "normal", "normal"] * 10
SCORES = [f"{(37 * i % 40) / 40}" for i in range(40)]
LIKELY = [f"{0.5 + i / 100}" for i in range(40)]
ROW = [str(i + 7) for i in range(40)]


def columns(given: dict[str, str] | None = None, **kwargs: Any) -> dict[str, str]:
    return dict(understood(kwargs.pop("table"), given, **kwargs).columns)


def understood(
    table: dict[str, Any], given: dict[str, str] | None = None, **kwargs: Any
) -> Recognised:
    sample = pl.DataFrame(table)
    found = recognise(sample.schema, sample, given, **kwargs)
    found.refuse()
    return found


def zero_one(values: list[str]) -> list[str]:
    return ["01"[value == "attack"] for value in values]


def mapped(values: list[str], **words: str) -> list[str]:
    return [words[value] for value in values]


TOOLS = {
    "scikit-learn": (
        {"y_true": zero_one(TRUTH), "y_pred": zero_one(FLAGGED), "0": LIKELY, "1": SCORES},
        {"label": "y_true", "decision": "y_pred", "probability:0": "0", "probability:1": "1"},
    ),
    "caret of R": (
        {"pred": FLAGGED, "obs": TRUTH, "attack": SCORES, "normal": SCORES[::-1], "rowIndex": ROW},
        {"label": "obs", "decision": "pred"}
        | {"probability:attack": "attack", "probability:normal": "normal"},
    ),
    "KNIME": (
        {"class": TRUTH, "P (class=attack)": SCORES, "P (class=normal)": SCORES[::-1]}
        | {"Prediction (class)": FLAGGED},
        {"label": "class", "decision": "Prediction (class)"}
        | {"probability:attack": "P (class=attack)", "probability:normal": "P (class=normal)"},
    ),
    "Weka": (
        {
            "inst#": ROW,
            "actual": mapped(TRUTH, attack="2:anomaly", normal="1:normal"),
            "predicted": mapped(FLAGGED, attack="2:anomaly", normal="1:normal"),
            "error": ["", "", "+", ""] * 10,
            "prediction": LIKELY,
        },
        {"label": "actual", "decision": "predicted"},
    ),
    "RapidMiner": (
        {"label": TRUTH, "prediction(label)": FLAGGED}
        | {"confidence(attack)": SCORES, "confidence(normal)": SCORES[::-1]},
        {"label": "label", "decision": "prediction(label)"}
        | {"probability:attack": "confidence(attack)", "probability:normal": "confidence(normal)"},
    ),
    "PyCaret": (
        {"target": zero_one(TRUTH), "prediction_label": zero_one(FLAGGED)}
        | {"prediction_score": LIKELY},
        {"label": "target", "decision": "prediction_label"},
    ),
    "H2O": (
        {"label": zero_one(TRUTH), "predict": zero_one(FLAGGED), "p0": SCORES, "p1": SCORES[::-1]},
        {"label": "label", "decision": "predict", "probability:0": "p0", "probability:1": "p1"},
    ),
    "Azure Machine Learning": (
        {"Class": TRUTH, "Scored Labels": FLAGGED, "Scored Probabilities": SCORES},
        {"label": "Class", "decision": "Scored Labels", "score": "Scored Probabilities"},
    ),
    "MLflow": (
        {"inputs": ROW, "targets": zero_one(TRUTH), "predictions": zero_one(FLAGGED)},
        {"label": "targets", "decision": "predictions"},
    ),
    "LightGBM": (
        {"target": zero_one(TRUTH), "pred": SCORES},
        {"label": "target", "score": "pred"},
    ),
    "a pipeline of Hugging Face": (
        {"text": ROW, "true_label": TRUTH, "label": FLAGGED, "score": LIKELY},
        {"label": "true_label", "decision": "label"},
    ),
    "Kaggle": (
        {"id": ROW, "is_fraud": zero_one(TRUTH), "prob_1": SCORES},
        {"label": "is_fraud", "score": "prob_1"},
    ),
    "Microsoft Defender": (
        {"Incident name": ROW, "Severity": ["High", "Low", "Informational", "Medium"] * 10}
        | {
            "Status": ["Resolved"] * 40,
            "Classification": [
                "True positive",
                "False positive",
                "Informational, expected activity",
                "Not set",
            ]
            * 10,
            "First activity": ["11/16/2026 4:36:54 PM"] * 40,
        },
        {"label": "Classification", "score": "Severity", "time": "First activity"},
    ),
    "CrowdStrike": (
        {"created_timestamp": ["2026-11-16T04:36:54Z"] * 40, "max_severity": [30, 70, 50, 10] * 10}
        | {"max_severity_displayname": ["Low", "High", "Medium", "Informational"] * 10}
        | {"status": ["true_positive", "false_positive", "new", "in_progress"] * 10}
        | {"model_score": SCORES},
        {"label": "status", "score": "model_score", "time": "created_timestamp"},
    ),
    "AWS GuardDuty": (
        {"Id": ROW, "Severity": [2.0, 5.0, 8.0, 2.5] * 10, "Type": ["a", "b", "c", "d"] * 10}
        | {"CreatedAt": ["2026-11-16T04:36:54.123Z"] * 40, "score": SCORES}
        | {"Service.UserFeedback": ["USEFUL", "NOT_USEFUL"] * 20},
        {"label": "Service.UserFeedback", "score": "score", "time": "CreatedAt"},
    ),
    "Google Chronicle": (
        {"detectionTime": ["2026-11-16T04:36:54.123456Z"] * 40}
        | {"feedbackSummary.verdict": ["TRUE_POSITIVE", "FALSE_POSITIVE"] * 20}
        | {"feedbackSummary.riskScore": list(range(40))},
        {"label": "feedbackSummary.verdict", "score": "feedbackSummary.riskScore"}
        | {"time": "detectionTime"},
    ),
    "OpenSearch around Wazuh": (
        {"_index": ["wazuh-alerts"] * 40, "_source.@timestamp": ["2026-11-16T04:36:54Z"] * 40}
        | {"_source.rule.level": list(range(40)), "_source.agent.name": ROW}
        | {"_source.label": TRUTH},
        {"label": "_source.label", "score": "_source.rule.level", "time": "_source.@timestamp"},
    ),
    "a firewall": (
        {"date": ["2026-11-16"] * 40, "malicious": zero_one(TRUTH)}
        | {"action": mapped(FLAGGED, attack="DENY", normal="ALLOW")},
        {"label": "malicious", "decision": "action", "time": "date"},
    ),
    "names of no tool": (
        {"what": TRUTH, "how sure": SCORES, "number": ROW, "kind": ["x", "y", "z", "u"] * 10},
        {"label": "what", "score": "how sure"},
    ),
    "decisions by content": (
        {"what": TRUTH, "what it said": mapped(FLAGGED, attack="attack", normal="normal")},
        None,
    ),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_exports_of_tools_are_recognised(tool: str) -> None:
    table, expected = TOOLS[tool]
    if expected is None:
        with pytest.raises(InputError, match="which column has the labels"):
            understood(table)
    else:
        assert columns(table=table) == expected


def test_what_was_given_wins() -> None:
    table = {"label": TRUTH, "truth": FLAGGED, "score": SCORES, "other": SCORES}
    given = {"label": "label", "score": "other"}
    assert columns(given, table=table) == given


def test_decisions_are_found_by_the_labels_that_they_share() -> None:
    table = {"truth": TRUTH, "second opinion": FLAGGED}
    assert columns(table=table) == {"label": "truth", "decision": "second opinion"}


def test_a_given_name_is_found_behind_other_keys() -> None:
    table = {"_source.kind": TRUTH, "_source.score": SCORES}
    assert columns({"label": "kind"}, table=table)["label"] == "_source.kind"


def test_a_missing_column_is_named_with_the_one_that_was_likely_meant() -> None:
    with pytest.raises(MissingColumn, match="Did you mean 'label'"):
        understood({"label": TRUTH, "score": SCORES}, {"label": "lable"})


def test_scores_with_names_that_are_as_sure_are_not_chosen_between() -> None:
    table = {"label": TRUTH, "score": SCORES, "risk_score": SCORES[::-1]}
    with pytest.raises(InputError, match="'score' or 'risk_score'"):
        understood(table)
    found = understood({**table, "y_pred": FLAGGED})
    assert found.columns == {"label": "label", "decision": "y_pred"}
    assert "could be 'score', 'risk_score'" in found.notes[1]


def test_the_refusal_is_a_whole_call() -> None:
    table = {"a b": ["x", "y"] * 20, "b": ["y", "x"] * 20, "c": SCORES, "d": SCORES[::-1]}
    asked = Reading(source="f.csv", command="assay evaluate f.csv")
    with pytest.raises(InputError) as refused:
        understood(table, reading=asked)
    assert "assay evaluate f.csv --label 'a b' --score c --positive x" in str(refused.value)
    with pytest.raises(InputError) as refused:
        understood(table, {"score": "d"}, reading=Reading(source="f.csv"))
    assert "assay.rows('f.csv', score='d', label='a b', positive='x')" in str(refused.value)


def test_the_call_of_a_refusal_works() -> None:
    table = {"a": ["x", "y"] * 20, "b": ["y", "x"] * 20, "c": SCORES, "d": SCORES[::-1]}
    given = {"label": "a", "score": "c"}
    assert columns(given, table=table, reading=Reading(positive="x")) == given


def test_alerts_only_needs_labels_alone() -> None:
    table = {"rule": ROW, "verdict": ["TP", "FP"] * 20}
    assert columns(table=table, needed=("label",)) == {"label": "verdict"}


def test_expressions_make_canonical_columns() -> None:
    table = {"Zeit": ["02.09.2026 10:44"] * 40, "Angriff": ["1.0", "0.0"] * 20} | {
        "Score": [text.replace(".", ",") for text in SCORES]
    }
    found = understood(table)
    read = pl.DataFrame(table).select(**found.expressions)
    assert read["label"].to_list() == ["1", "0"] * 20
    assert read["score"].to_list() == [float(text) for text in SCORES]
    assert read["time"][0].isoformat() == "2026-09-02T10:44:00+00:00"
    assert found.notes == (
        "Using label='Angriff' (attack: '1'), score='Score' (0 to 1), time='Zeit'",
        "Numbers are read with decimal commas",
    )


def test_typed_columns_are_read_too() -> None:
    sample = pl.DataFrame({"label": [1.0, 0.0] * 20, "score": range(40)}).with_columns(
        flagged=pl.Series([True, False] * 20)
    )
    found = recognise(sample.schema, sample)
    assert found.columns == {"label": "label", "decision": "flagged", "score": "score"}
    read = sample.select(**found.expressions)
    assert read.row(0) == ("1", "true", 0.0)


def test_what_was_not_determined_has_no_label() -> None:
    table = {"Classification": ["TruePositive", "Undetermined", "BenignPositive", "Not set"] * 10}
    found = understood(table, needed=("label",))
    read = pl.DataFrame(table).select(**found.expressions)
    assert read["label"].to_list()[:4] == ["TruePositive", None, "BenignPositive", None]


def test_an_order_makes_scores_of_words() -> None:
    table = {"label": TRUTH, "score": ["red", "green"] * 20}
    found = understood(table, reading=Reading(order="red > amber > green"))
    assert pl.DataFrame(table).select(**found.expressions)["score"].to_list()[:2] == [3, 1]
    assert "score='score' (red > green)" in found.notes[0]


def test_a_time_of_two_readings_is_refused_only_if_it_was_asked_for() -> None:
    table = {"label": TRUTH, "score": SCORES, "time": ["10/11/2026 10:44"] * 40}
    found = understood(table)
    assert "time" not in found.columns
    assert "No time is used" in found.notes[1]
    with pytest.raises(InputError, match="time_format='%d/%m/%Y %H:%M' or time_format="):
        understood(table, {"time": "time"})


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_hardly_any_rows_is_still_recognised_by_its_names(rows: int) -> None:
    table = pl.DataFrame({"label": ["attack"], "score": ["0.5"]}).head(rows)
    assert recognise(table.schema, table).columns == {"label": "label", "score": "score"}


def test_what_is_harmless_is_no_alarm() -> None:
    table = {"is_safe": ["True", "False"] * 20, "score": SCORES}
    with pytest.raises(InputError, match="says which rows are harmless") as refused:
        understood(table)
    assert "label='is_safe', score='score', positive='False'" in str(refused.value)
    assert columns(table=table, reading=Reading(positive="False"))["label"] == "is_safe"
    assert "say positive='False'" in understood(table, needed=()).notes[1]
    decided = {"label": zero_one(TRUTH), "allowed": zero_one(FLAGGED)}
    with pytest.raises(InputError, match="the scores or decisions"):
        understood(decided)
    found = understood(decided, {"decision": "allowed"})
    assert found.notes[1] == "Column 'allowed' says which rows are harmless, so say alarm='0'"


def test_scores_of_harmlessness_are_not_taken() -> None:
    table = {"label": TRUTH, "y_pred": FLAGGED, "safety_score": SCORES, "trust score": SCORES}
    assert columns(table=table) == {"label": "label", "decision": "y_pred"}


def test_scores_do_not_rank_several_labels() -> None:
    table = {"label": ["a", "b", "c", "d"] * 10, "pred": ["a", "b", "c", "c"] * 10} | {
        "confidence": SCORES
    }
    found = understood(table)
    assert found.columns == {"label": "label", "decision": "pred"}
    assert "negative=" in found.notes[1]
    ranked = understood(table, reading=Reading(negative="a"))
    assert ranked.columns["score"] == "confidence"


def test_columns_of_other_types_are_left_alone() -> None:
    table = {"label": TRUTH, "score": SCORES, "scores": [[0.5]] * 40, "raw": [b"x"] * 40} | {
        "nothing": [None] * 40,
        "nested": [{"a": 1}] * 40,
    }
    assert columns(table=table) == {"label": "label", "score": "score"}


def test_counts_stay_whole() -> None:
    table = {"label": TRUTH, "score": SCORES, "n": ["9007199254740993", "2.0"] * 20}
    found = understood(table, {"count": "n"})
    read = pl.DataFrame(table).select(**found.expressions)["count"]
    assert read.to_list()[:2] == [9007199254740993, 2]


def test_six_labels_in_six_rows_are_labels_where_the_name_says_so() -> None:
    table = {"label": list("abcdef"), "prediction": list("abcdee")}
    assert columns(table=table) == {"label": "label", "decision": "prediction"}


def test_a_report_without_harmless_rows_is_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match=r"garak.* harmless"):
        understood({"entry_type": ["attempt"], "probe_classname": ["dan.Dan"]})


def test_whole_numbers_without_a_known_name_are_scores_only_up_to_a_hundred() -> None:
    table = {"label": TRUTH, "port": [str(97 * i % 65536) for i in range(40)]}
    with pytest.raises(InputError, match="the scores or decisions"):
        understood(table)
    found = understood({**table, "points": [str(37 * i % 100) for i in range(40)]})
    assert found.columns["score"] == "points"


def test_two_columns_that_could_be_labels_are_both_named_in_the_call() -> None:
    table = {"label": TRUTH, "verdict": FLAGGED}
    with pytest.raises(InputError, match="label='label', decision='verdict'"):
        understood(table)


def test_verdicts_on_alerts_without_scores_are_alerts_only() -> None:
    asked = Reading(source="f.csv", command="assay evaluate f.csv")
    with pytest.raises(InputError, match="--label verdict --alerts-only"):
        understood({"rule": ROW, "verdict": ["TP", "FP"] * 20}, reading=asked)
