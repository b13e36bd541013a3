"""Tools that are recognised by their keys."""

import polars as pl
import pytest

from assay.errors import InputError
from assay.reading.content import Reading
from assay.reading.names import recognise
from assay.reading.presets import PRESETS, detect_preset, find_preset, path_column, preset_columns

KEYS = {
    "elastic": ["@timestamp", "host.name", "kibana.alert.rule.name", "kibana.alert.risk_score"],
    "sentinel": ["TimeGenerated", "Title", "Severity", "Classification"],
    "splunk": ["_time", "_raw", "risk_score", "src"],
    "wazuh": ["timestamp", "rule.level", "rule.id", "agent.name", "data.srcip"],
    "suricata": ["timestamp", "event_type", "src_ip", "alert.signature", "alert.severity"],
    "zeek": ["ts", "uid", "id.orig_h", "id.resp_h"],
}


@pytest.mark.parametrize("name", KEYS)
def test_a_tool_is_told_by_its_keys(name: str) -> None:
    for around in ("", "_source.", "result.", "a.b."):
        keys = [around + key for key in KEYS[name]]
        preset = detect_preset(keys)
        assert preset is not None
        assert preset.name == name
        found = preset_columns(preset, keys)
        assert found["time"] == keys[0]
        assert set(found.values()) <= set(keys)


def test_every_preset_is_tried() -> None:
    assert [preset.name for preset in PRESETS] == list(KEYS)


@pytest.mark.parametrize(
    "keys", [["timestamp", "label"], ["ts", "score"], ["rule", "agent"], ["_time"], []]
)
def test_other_keys_leave_a_doubt(keys: list[str]) -> None:
    assert detect_preset(keys) is None


def test_keys_of_two_tools_leave_a_doubt() -> None:
    assert detect_preset([*KEYS["wazuh"], *KEYS["zeek"]]) is None


def test_a_path_needs_one_column() -> None:
    assert path_column("ip", ["source.ip"]) == "source.ip"
    assert path_column("ip", ["source.ip", "destination.ip"]) is None
    assert path_column("ip", ["ip", "source.ip"]) == "ip"
    assert path_column("ip", ["chip"]) is None


def test_a_preset_that_does_not_fit_is_refused() -> None:
    sample = pl.DataFrame({"a": ["x"]})
    with pytest.raises(InputError, match="no column of Wazuh"):
        recognise(sample.schema, sample, reading=Reading(preset="wazuh"))
    with pytest.raises(InputError, match="one of elastic, sentinel"):
        find_preset("qradar")


def test_a_preset_can_be_named_where_the_keys_leave_a_doubt() -> None:
    sample = pl.DataFrame(
        {"timestamp": ["2026-11-16T04:36:54Z"] * 4, "rule.level": [3, 5, 12, 3]}
        | {"verdict": ["FP", "FP", "TP", "FP"]}
    )
    found = recognise(sample.schema, sample, reading=Reading(preset="wazuh"))
    assert found.columns == {"label": "verdict", "score": "rule.level", "time": "timestamp"}
    assert found.notes[1] == "Columns of Wazuh"


def test_a_severity_of_suricata_is_no_score() -> None:
    keys = {key: ["x"] * 20 for key in KEYS["suricata"]}
    sample = pl.DataFrame(keys | {"alert.severity": range(20), "label": ["attack", "benign"] * 10})
    found = recognise(sample.schema, sample, needed=("label",))
    assert "score" not in found.columns
