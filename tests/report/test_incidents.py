"""The document of incidents. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_incidents.py
"""

import csv
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

from assay import Incidents, incidents
from assay.report import FORMATS, Document, Provenance, document_of, draw
from assay.report.document import schema_of

from .goldens import checked
from .hostile import NAMES

GOLDEN = Path(__file__).parent / "golden_incidents"
MADE = Provenance("0.1.0", "assay incidents --alerts eve.json --schedule attacks.csv")
SUFFIXES = {"json": "json", "csv": "csv", "markdown": "md", "latex": "tex"}
HOUR = 3600 * 1_000_000
START = 1_794_787_200_000_000  # 2026-11-16T00:00:00Z


def attack(name: str, hour: float, minutes: int, source: str, **more: str) -> dict[str, str]:
    """An attack of a schedule."""
    moments = (START + round(hour * HOUR), START + round(hour * HOUR) + minutes * 60_000_000)
    start, end = (str(moment) for moment in moments)
    return {"attack": name, "start": start, "end": end, "src_ip": source, **more}


def alert(hour: float, source: str, rule: str, severity: int) -> dict[str, Any]:
    """A line of a log of alerts."""
    time = START + round(hour * HOUR)
    ends = {"src_ip": source, "dst_ip": "192.168.0.7"}
    return {"time": time, "kind": "alert", **ends, "rule": rule, "alert.severity": severity}


SCHEDULE = [
    attack("scan", 2, 30, "203.0.113.1", family="probe"),
    attack("scan", 9, 10, "203.0.113.2", family="probe"),
    attack("flood", 20, 60, "203.0.113.3", family="dos"),
    attack("flood", 30, 5, "203.0.113.4", family="dos"),
    attack("brute force", 40, 45, "203.0.113.0/28", family="access"),
]
ALERTS = [
    alert(1, "192.168.0.9", "2001 policy", 3),
    alert(1.01, "192.168.0.9", "2001 policy", 3),
    alert(2.05, "203.0.113.1", "1001 scan", 2),
    alert(2.2, "203.0.113.1", "1001 scan", 2),
    alert(9.1, "203.0.113.2", "1001 scan", 2),
    alert(15, "192.168.0.9", "2001 policy", 3),
    alert(20.5, "203.0.113.3", "1002 flood", 1),
    alert(22, "192.168.0.4", "1002 flood", 1),
    alert(40.4, "203.0.113.7", "1003 logins", 1),
    alert(47, "192.168.0.9", "2001 policy", 3),
]
EVENTS = [{"time": START + i * HOUR // 2, "kind": "conn"} for i in range(96)]
TABLE = {
    "incident": ["a", "a", "b", "", "", "b", "", "a"],
    "time": [f"2026-11-16T{hour:02}:00:00Z" for hour in (1, 2, 5, 6, 7, 8, 9, 3)],
    "score": [0.2, 0.9, 0.3, 0.8, 0.1, 0.4, 0.6, 0.7],
    "kind": ["dos", "dos", "probe", "", "", "probe", "", "dos"],
}


def of_logs(**asked: Any) -> Incidents:
    """The incidents of the logs above."""
    logs = {"alerts": pl.DataFrame(ALERTS), "events": pl.DataFrame(EVENTS)}
    return incidents(**{"schedule": SCHEDULE, **logs, **asked})


CASES = {
    "logs": of_logs,
    "score": lambda: of_logs(
        score="alert.severity", max_false_incidents=1.5, max_delay="10m", confidence=0.5
    ),
    "impossible": lambda: of_logs(score="alert.severity", max_false_incidents=0.01),
    "alerts alone": lambda: of_logs(events=None),
    "time alone": lambda: of_logs(
        schedule=[{k: v for k, v in each.items() if k != "src_ip"} for each in SCHEDULE]
    ),
    "nothing detected": lambda: of_logs(schedule=[attack("worm", 3, 9, "198.51.100.1")]),
    "elsewhere": lambda: of_logs(schedule=[attack("worm", 300, 9, "203.0.113.1")]),
    "refused": lambda: of_logs(
        alerts=pl.DataFrame([*ALERTS, {**ALERTS[0], "alert.severity": None}]),
        score="alert.severity",
        on_bad_row="skip",
    ),
    "table": lambda: incidents(
        TABLE, incident="incident", time="time", score="score", family="kind", gap="1h"
    ),
}


@cache
def document(case: str) -> Document:
    return document_of(CASES[case](), provenance=MADE)


# -- what it says ----------------------------------------------------------------------------------


def test_the_headline_tells_what_was_detected_how_late_and_at_what_cost() -> None:
    first, second = document("logs").report.headline
    assert first == (
        "4 of 5 incidents were detected: 80.0% [28.4, 99.5]; the median time to detect is 24m "
        "[0s, no end], the latest that was detected took 30m."
    )
    assert second.startswith("2.5 [")
    assert "false alarms a day in 2.0 [" in second
    assert "over 1.98 observed days" in second


def test_a_rule_tells_what_it_found_alone_and_what_it_costs() -> None:
    rules = {rule.rule: rule for rule in CASES["logs"]().rules}
    assert (rules["1001 scan"].incidents, rules["1001 scan"].alone) == (2, 2)
    assert rules["1002 flood"].false_alarms == 1
    assert rules["2001 policy"].never_right
    assert not rules["1003 logins"].never_right


def test_a_low_severity_is_the_more_suspicious() -> None:
    curve = CASES["score"]().operating
    assert curve is not None
    assert curve.threshold == (1.0, 2.0, 3.0)
    assert curve.detected == (2, 4, 4)


def test_rows_of_a_table_tell_when_their_incident_was() -> None:
    by_id = {each.id: each for each in CASES["table"]().incidents}
    assert (by_id["a"].detected, by_id["a"].delay, by_id["a"].alerts) == (True, 3600.0, 2)
    assert (by_id["b"].detected, by_id["b"].family) == (False, "probe")


@pytest.mark.parametrize(
    ("case", "codes"),
    [
        ("logs", {"I001", "I005", "I006", "I009"}),
        ("alerts alone", {"I005", "I006", "I008", "I009"}),
        ("nothing detected", {"I001", "I005", "I006", "I009"}),
        ("elsewhere", {"I001", "I005", "I006", "I009"}),
    ],
)
def test_findings(case: str, codes: set[str]) -> None:
    assert {finding.code for finding in CASES[case]().findings} == codes


# -- its faces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_json_follows_its_schema_and_the_contract(case: str) -> None:
    content = json.loads(draw(document(case), "json"))
    jsonschema.Draft202012Validator(schema_of("assay.incidents/1")).validate(content)
    first = ["schema", "incidents", "detected", "total", "estimates", "days", "findings"]
    assert list(content)[: len(first)] == first
    one = ["id", "attack", "start", "end", "detected", "first_alert", "delay", "alerts"]
    assert all(list(each)[: len(one)] == one for each in content["incidents"])
    assert all(list(day)[:4] == _DAY for day in content["days"])


_DAY = ["day", "alerts", "false_alarms", "false_incidents"]


@pytest.mark.parametrize("case", CASES)
def test_csv_has_a_row_an_incident(case: str) -> None:
    rows = list(csv.DictReader(io.StringIO(draw(document(case), "csv"), newline="")))
    assert len(rows) == CASES[case]().total


@pytest.mark.parametrize("name", NAMES[:12])
def test_names_of_attacks_and_rules_are_harmless(name: str) -> None:
    raised = [{**ALERTS[0], "rule": name}, *ALERTS[1:]]
    planned = [attack(name if name.strip() else "blank", 2, 30, "203.0.113.1")]
    made = document_of(incidents(alerts=pl.DataFrame(raised), schedule=planned))
    for face in FORMATS:
        text = draw(made, face)
        if face in ("markdown", "html"):
            assert "<script>alert" not in text
            assert "<img" not in text


def goldens() -> dict[str, tuple[str, str, int | None]]:
    files: dict[str, tuple[str, str, int | None]] = {
        f"{case.replace(' ', '_')}_80.txt": (case, "terminal", 80) for case in CASES
    }
    for face, suffix in SUFFIXES.items():
        files[f"score.{suffix}"] = ("score", face, None)
    return files


@pytest.mark.parametrize("name", goldens())
def test_report_is_the_golden_one(name: str) -> None:
    case, face, width = goldens()[name]
    text = draw(document(case), face, width=width)
    checked(GOLDEN / name, text)


def test_every_golden_text_has_its_case() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(goldens())
