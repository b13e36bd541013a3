"""First files of newcomers: what is in each, what is typed, and what has to be recognised.

Nearly all hold the same forty events, as one tool or another writes them. A case that can't be
read yet says why in ``waits``: delete that argument as soon as it can.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import ANY

from .events import (
    decimal_comma,
    family,
    host,
    iso,
    json_lines,
    json_list,
    milliseconds,
    moment,
    number,
    percent,
    said,
    score,
    severity,
    text,
    time,
    truth,
    workbook,
    zeek,
)

ALL_ALARMS = ((0, 24), (0, 16))  # tn, fp, fn, tp
FLAGGED = ((21, 3), (4, 12))

UNSAID = "no key of the document says which columns were taken"
NAMES = "a column is not recognised, neither by its name nor by its content"
ENCODING = "text that is not UTF-8 is refused without --encoding"
UNALIKE = "labels and decisions that are written differently are not mapped to each other"
DECIMALS = "delimiters and decimal commas are not recognised"
NESTED = "columns inside of nested JSON are not recognised by their names"
LOGS = "may wait: logs of evaluations of language models"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is recognised. There is no threshold where the scores need not be probabilities."""

    label: str
    positive: str
    score: Any = None
    decision: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None
    threshold: float | None = None
    rows: int = 40
    confusion: tuple[tuple[int, ...], ...] | None = FLAGGED


@dataclass(frozen=True, kw_only=True)
class Refused:
    """What the error message has to name."""

    naming: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file, the options that are typed after its name, and what has to come of it."""

    file: str
    content: bytes
    typed: str = ""
    outcome: Seen | Refused
    waits: str = ""


CASES = (
    # -- spreadsheets and text ---------------------------------------------------------------------
    Case(
        file="german_excel.csv",
        content=text(
            {"Zeit": time("%d.%m.%Y %H:%M"), "Gerät": host}
            | {"Angriff": truth("Ja", "Nein"), "Score": decimal_comma},
            delimiter=";",
            encoding="cp1252",
        ),
        outcome=Seen(label="Angriff", positive="Ja", score="Score", time="Zeit", threshold=0.5),
        waits=ENCODING,
    ),
    Case(
        file="excel_unicode.txt",
        content=text(
            {"Date": time("%m/%d/%Y %H:%M"), "Label": truth("attack", "normal"), "Score": score()},
            delimiter="\t",
            encoding="utf-16",
        ),
        outcome=Seen(label="Label", positive="attack", score="Score", time="Date", threshold=0.5),
        waits=ENCODING,
    ),
    Case(
        file="excel_with_mark.csv",
        content=text(
            {"label": truth("attack", "normal"), "probability": decimal_comma},
            delimiter=";",
            encoding="utf-8-sig",
        ),
        outcome=Seen(label="label", positive="attack", score="probability", threshold=0.5),
        waits=DECIMALS,
    ),
    Case(
        file="workbook.xlsx",
        content=workbook({"Time": moment, "Label": truth(1, 0), "Score": score()}),
        outcome=Seen(label="Label", positive="1", score="Score", time="Time", threshold=0.5),
        waits=UNSAID,
    ),
    Case(
        file="pipes.txt",
        content=text({"target": truth("1.0", "0.0"), "prob": score()}, delimiter="|"),
        outcome=Seen(label="target", positive="1", score="prob", threshold=0.5),
        waits=DECIMALS,
    ),
    Case(
        file="tabs.tsv",
        content=text({"sha256": host, "label": truth(1, 0), "pred": said(1, 0)}, delimiter="\t"),
        outcome=Seen(label="label", positive="1", decision="pred"),
        waits=UNSAID,
    ),
    Case(
        file="index_first.csv",
        content=text({"": number, "label": truth("malware", "goodware"), "score": score()}),
        outcome=Seen(label="label", positive="malware", score="score", threshold=0.5),
        waits=UNSAID,
    ),
    Case(
        file="no_known_names.csv",
        content=text({"what": truth("intrusion", "normal"), "how_sure": score()}),
        outcome=Seen(label="what", positive="intrusion", score="how_sure", threshold=0.5),
        waits=NAMES,
    ),
    Case(
        file="unclear.csv",
        content=text({"a": truth("x", "y"), "b": said("x", "y"), "c": score(), "d": score(2)}),
        outcome=Refused(naming=("assay evaluate unclear.csv", "--label", "--score")),
        waits="the error does not print a whole command",
    ),
    Case(
        file="thousands.csv",
        content=text(
            {"label": truth(1, 0), "score": said("200.000", "12,5"), "other": decimal_comma},
            delimiter=";",
        ),
        outcome=Refused(naming=("200.000", "200000", "--decimal")),
        waits=DECIMALS,
    ),
    Case(
        file="percent.csv",
        content=text({"label": truth("attack", "benign"), "score": percent}),
        outcome=Seen(label="label", positive="attack", score="score", threshold=0.5),
        waits=UNSAID,
    ),
    # -- SIEM, IDS and ticket systems --------------------------------------------------------------
    Case(
        file="kibana.csv",
        content=text(
            {"@timestamp": time("%b %-d, %Y @ %H:%M:%S.%3f"), "host.name": host}
            | {"kibana.alert.risk_score": score(100), "verdict": truth("malicious", "benign")}
        ),
        outcome=Seen(
            label="verdict",
            positive="malicious",
            score="kibana.alert.risk_score",
            time="@timestamp",
            confusion=None,
        ),
        waits=NAMES,
    ),
    Case(
        file="elastic.ndjson",
        content=json_lines(
            lambda event: {
                "_index": ".alerts-security",
                "_source": {
                    "@timestamp": iso(event),
                    "host": {"name": event.host},
                    "kibana.alert.risk_score": score(100)(event),
                    "label": truth("malicious", "benign")(event),
                },
            }
        ),
        outcome=Seen(
            label="_source.label",
            positive="malicious",
            score="_source.kibana.alert.risk_score",
            time="_source.@timestamp",
            confusion=None,
        ),
        waits=NESTED,
    ),
    Case(
        file="disposition.csv",
        content=text(
            {"@timestamp": iso, "host": host, "risk_score": score(100)}
            | {"disposition": truth("malicious", "benign")}
        ),
        outcome=Seen(
            label="disposition",
            positive="malicious",
            score="risk_score",
            time="@timestamp",
            confusion=None,
        ),
        waits=NAMES,
    ),
    Case(
        file="sentinel.csv",
        content=text(
            {"TimeGenerated": time("%-m/%-d/%Y, %-I:%M:%S.%3f %p"), "Title": host}
            | {"Status": truth("Closed", "Closed"), "Severity": severity}
            | {
                "Classification": lambda event: (
                    "TruePositive"
                    if event.attack
                    else ("FalsePositive" if event.alarm else "BenignPositive")
                )
            }
        ),
        typed="--alerts-only",
        outcome=Seen(
            label="Classification",
            positive="TruePositive",
            score=ANY,
            time="TimeGenerated",
            confusion=ALL_ALARMS,
        ),
        waits="there is no --alerts-only",
    ),
    Case(
        file="alerts.csv",
        content=text({"time": iso, "rule": host, "verdict": truth("TP", "FP")}),
        typed="--alerts-only",
        outcome=Seen(label="verdict", positive="TP", time="time", confusion=ALL_ALARMS),
        waits="there is no --alerts-only",
    ),
    Case(
        file="severity.csv",
        content=text(
            {"Time": time("%Y-%m-%d %H:%M:%S"), "Severity": severity}
            | {"Verdict": truth("Malicious", "Benign")}
        ),
        outcome=Seen(
            label="Verdict", positive="Malicious", score="Severity", time="Time", confusion=None
        ),
        waits=NAMES,
    ),
    Case(
        file="splunk.json",
        content=json_lines(
            lambda event: {
                "preview": False,
                "result": {
                    "_time": time("%Y-%m-%dT%H:%M:%S.%3f+00:00")(event),
                    "risk_score": str(score(100)(event)),
                    "is_attack": str(truth(1, 0)(event)),
                },
            }
        ),
        outcome=Seen(
            label="result.is_attack",
            positive="1",
            score="result.risk_score",
            time="result._time",
            confusion=None,
        ),
        waits=NESTED,
    ),
    Case(
        file="wazuh.json",
        content=json_lines(
            lambda event: {
                "timestamp": time("%Y-%m-%dT%H:%M:%S.%3f+0000")(event),
                "rule": {"level": round(event.score * 15), "id": "5712"},
                "agent": {"name": event.host},
                "label": truth("attack", "legitimate")(event),
            }
        ),
        outcome=Seen(
            label="label", positive="attack", score="rule.level", time="timestamp", confusion=None
        ),
        waits=NESTED,
    ),
    Case(
        file="eve.json",
        content=json_lines(
            lambda event: {
                "timestamp": time("%Y-%m-%dT%H:%M:%S.%f+0000")(event),
                "event_type": "alert",
                "src_ip": "10.0.0.5",
                "alert": {"severity": 1, "signature": event.host, "action": "allowed"},
                "label": truth("attack", "benign")(event),
            }
        ),
        typed="--alerts-only",
        outcome=Seen(
            label="label",
            positive="attack",
            score=ANY,
            time="timestamp",
            confusion=ALL_ALARMS,
        ),
        waits="there is no --alerts-only",
    ),
    Case(
        file="conn.log.labeled",
        content=zeek(
            "conn",
            {"ts": "time", "id.orig_h": "addr", "score": "double", "label": "string"},
            {
                "ts": lambda event: f"{event.when.timestamp():.6f}",
                "id.orig_h": truth("203.0.113.7", "10.0.3.9"),
            }
            | {"score": score(), "label": truth("Malicious", "Benign")},
        ),
        outcome=Seen(label="label", positive="Malicious", score="score", time="ts", threshold=0.5),
        waits="tables of Zeek are not recognised",
    ),
    Case(
        file="results.json",
        content=json_list(
            lambda event: {"truth": event.attack, "score": event.score, "time": iso(event)},
            "results",
        ),
        typed="--rows results",
        outcome=Seen(label="truth", positive="true", score="score", time="time", threshold=0.5),
        waits="there is no --rows",
    ),
    Case(
        file="fraud.csv",
        content=text({"ts": milliseconds, "is_fraud": truth(1, 0), "probability": score()}),
        outcome=Seen(label="is_fraud", positive="1", score="probability", time="ts", threshold=0.5),
        waits=NAMES,
    ),
    Case(
        file="ambiguous_days.csv",
        content=text({"label": truth(1, 0), "score": score(), "when": time("%I/11/2026 %M:%S")}),
        typed="--time when",
        outcome=Refused(naming=("--time-format",)),
        waits="there is no --time-format",
    ),
    # -- models and data sets ----------------------------------------------------------------------
    Case(
        file="scikit_learn.csv",
        content=text({"y_true": truth(1, 0), "y_pred": said(1, 0), "y_proba": score()}),
        outcome=Seen(label="y_true", positive="1", decision="y_pred", score="y_proba"),
        waits=UNSAID,
    ),
    Case(
        file="true_and_predicted.csv",
        content=text(
            {"true_label": truth("attack", "normal"), "predicted_label": said("attack", "normal")}
        ),
        outcome=Seen(label="true_label", positive="attack", decision="predicted_label"),
        waits=NAMES,
    ),
    Case(
        file="class_probabilities.csv",
        content=text(
            {"label": truth("attack", "normal"), "p_normal": score(-1, 1), "p_attack": score()}
        ),
        outcome=Seen(
            label="label",
            positive="attack",
            probabilities={"normal": "p_normal", "attack": "p_attack"},
            threshold=0.5,
        ),
        waits=NAMES,
    ),
    Case(
        file="isolation_forest.csv",
        content=text({"label": truth(-1, 1), "anomaly_score": score(1, -0.5)}),
        typed="--positive=-1",
        outcome=Seen(label="label", positive="-1", score="anomaly_score", confusion=None),
        waits=UNSAID,
    ),
    Case(
        file="cicids.csv",
        content=text({"Flow Duration": score(1e6), "Label": family, "Score": score()}),
        typed="--negative BENIGN",
        outcome=Seen(label="Label", positive="not BENIGN", score="Score", threshold=0.5),
        waits=UNSAID,
    ),
    Case(
        file="nsl_kdd.csv.gz",
        content=gzip.compress(
            text({"class": truth("anomaly", "normal"), "prediction": said("anomaly", "normal")})
        ),
        outcome=Seen(label="class", positive="anomaly", decision="prediction"),
        waits=UNSAID,
    ),
    Case(
        file="phishing.csv",
        content=text(
            {"url": host, "status": truth("phishing", "legitimate"), "probability": score()}
        ),
        outcome=Seen(label="status", positive="phishing", score="probability", threshold=0.5),
        waits=NAMES,
    ),
    Case(
        file="yes_and_no.csv",
        content=text({"label": truth("Y", "N"), "prediction": said(1, 0)}),
        outcome=Seen(label="label", positive="Y", decision="prediction"),
        waits=UNALIKE,
    ),
    Case(
        file="booleans.csv",
        content=text({"label": truth("malicious", "benign"), "decision": said("True", "False")}),
        outcome=Seen(label="label", positive="malicious", decision="decision"),
        waits=UNALIKE,
    ),
    # -- guardrails and language models ------------------------------------------------------------
    Case(
        file="guardrail.csv",
        content=text(
            {"prompt": host, "label": truth("unsafe", "safe")} | {"action": said("block", "allow")}
        ),
        outcome=Seen(label="label", positive="unsafe", decision="action"),
        waits=NAMES,
    ),
    Case(
        file="guardrail_three.csv",
        content=text(
            {"label": truth("unsafe", "safe")}
            | {
                "decision": lambda event: (
                    ("block", "refuse")[event.attack] if event.alarm else "allow"
                )
            }
        ),
        typed="--alarm block,refuse",
        outcome=Seen(label="label", positive="unsafe", decision="decision"),
        waits="there is no --alarm",
    ),
    Case(
        file="hugging_face.jsonl",
        content=json_lines(
            lambda event: {
                "text": "…",
                "true_label": truth("INJECTION", "SAFE")(event),
                # The score is of the predicted label, so it does not rank attacks.
                "prediction": {
                    "label": said("INJECTION", "SAFE")(event),
                    "score": max(event.score, 1 - event.score),
                },
            }
        ),
        outcome=Seen(label="true_label", positive="INJECTION", decision="prediction.label"),
        waits=NESTED,
    ),
    Case(
        file="inspect.json",
        content=json_list(
            lambda event: {
                "epoch": 1,
                "target": truth("unsafe", "safe")(event),
                "scores": {
                    "match": {
                        "value": ("I", "C")[event.attack == event.alarm],
                        "answer": said("unsafe", "safe")(event),
                    }
                },
            },
            "samples",
        ),
        outcome=Seen(label="target", positive="unsafe", decision="scores.match.answer"),
        waits=LOGS,
    ),
    Case(
        file="promptfoo.json",
        content=json_list(
            lambda event: {
                "success": event.attack == event.alarm,
                "vars": {"prompt": "…", "expected": truth("unsafe", "safe")(event)},
                "response": {"output": said("unsafe", "safe")(event)},
            },
            "results",
            "results",
        ),
        outcome=Seen(label="vars.expected", positive="unsafe", decision="response.output"),
        waits=LOGS,
    ),
    Case(
        file="garak.report.jsonl",
        content=json_lines(
            lambda event: {
                "entry_type": "attempt",
                "status": 2,
                "probe_classname": "dan.Dan_11_0",
                "detector_results": {"dan.DAN": [said(1.0, 0.0)(event)]},
            }
        ),
        # All its prompts are attacks, so false alarms can't be counted.
        outcome=Refused(naming=("garak", "harmless")),
        waits=LOGS,
    ),
    Case(
        file="samples_lm_eval.jsonl",
        content=json_lines(
            lambda event: {
                "doc_id": number(event),
                "doc": {"text": "…"},
                "target": truth("unsafe", "safe")(event),
                "filtered_resps": [said("unsafe", "safe")(event)],
                "exact_match": float(event.attack == event.alarm),
            }
        ),
        outcome=Seen(label="target", positive="unsafe", decision="filtered_resps"),
        waits=LOGS,
    ),
)
