"""Presets: what the columns of well-known tools are called. A further tool is one more entry.

Nested keys are paths joined by dots. A path also matches behind the keys that a search puts around
each row, such as ``_source.`` of Elasticsearch and ``result.`` of Splunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from assay.errors import InputError


@dataclass(frozen=True)
class Preset:
    """A tool: the columns that tell it, and the names of columns by role.

    It is told by any group of ``marks`` whose columns are all there. A role without names is one
    that no column of this tool has, whatever its name.
    """

    name: str
    title: str
    marks: tuple[tuple[str, ...], ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


PRESETS = (
    Preset(
        "elastic",
        "Elastic Security",
        (
            ("kibana.alert.rule.name",),
            ("kibana.alert.risk_score",),
            ("signal.rule.name",),
            ("_index", "_source.@timestamp"),
        ),
        {
            "time": ("@timestamp", "kibana.alert.original_time"),
            "score": ("kibana.alert.risk_score", "signal.rule.risk_score", "event.risk_score"),
            "rule": ("kibana.alert.rule.name", "signal.rule.name", "rule.name"),
            "source": ("source.ip", "host.name"),
            "destination": ("destination.ip",),
        },
    ),
    Preset(
        "sentinel",
        "Microsoft Sentinel",
        (
            ("TimeGenerated", "Classification"),
            ("TimeGenerated", "ClassificationReason"),
            ("TimeGenerated", "AlertName"),
            ("TimeGenerated", "IncidentNumber"),
            ("TimeGenerated", "ProviderName"),
        ),
        {
            "time": ("TimeGenerated", "createdTimeUtc"),
            "label": ("Classification",),
            "score": ("ConfidenceScore", "Severity"),
            "rule": ("AlertName", "Title"),
            "source": ("CompromisedEntity", "SourceIP"),
            "decision": (),
        },
    ),
    Preset(
        "splunk",
        "Splunk",
        (("_time", "_raw"), ("_time", "_indextime"), ("_time", "splunk_server"), ("result._time",)),
        {
            "time": ("_time",),
            "score": ("risk_score", "calculated_risk_score"),
            "rule": ("search_name", "rule_name", "source"),
            "source": ("src", "src_ip", "risk_object"),
            "destination": ("dest", "dest_ip"),
        },
    ),
    Preset(
        "wazuh",
        "Wazuh",
        (
            ("rule.level", "agent.name"),
            ("rule.level", "agent.id"),
            ("rule.level", "manager.name"),
            ("rule.level", "decoder.name"),
        ),
        {
            "time": ("@timestamp", "timestamp"),
            "score": ("rule.level",),
            "rule": ("rule.id", "rule.description"),
            "source": ("data.srcip", "agent.ip", "agent.name"),
            "destination": ("data.dstip",),
        },
    ),
    Preset(
        "suricata",
        "Suricata",
        (
            ("event_type", "alert.signature"),
            ("event_type", "alert.signature_id"),
            ("event_type", "flow_id", "src_ip"),
        ),
        {
            "time": ("timestamp",),
            # A lower severity is worse, so it is no score; allowed only says that nothing was cut.
            "score": (),
            "rule": ("alert.signature", "alert.signature_id"),
            "source": ("src_ip",),
            "destination": ("dest_ip",),
            "decision": (),
        },
    ),
    Preset(
        "zeek",
        "Zeek",
        (("ts", "id.orig_h"), ("ts", "id_orig_h")),
        {
            "time": ("ts",),
            "rule": ("note",),
            "source": ("id.orig_h", "id_orig_h", "src"),
            "destination": ("id.resp_h", "id_resp_h", "dst"),
        },
    ),
)


# Reports that hold no evaluation of a detector: the columns that tell them, and why not.
UNSUITABLE = (
    (
        ("entry_type", "probe_classname"),
        "is a report of garak: all its prompts are attacks. Add harmless ones to see false alarms",
    ),
)


def find_preset(name: str) -> Preset:
    """A preset by its name."""
    named = {preset.name: preset for preset in PRESETS}
    if name not in named:
        raise InputError(f"unknown preset {name!r}; it is one of {', '.join(named)}")
    return named[name]


def detect_preset(columns: Iterable[str]) -> Preset | None:
    """The tool whose keys the columns are, if they are those of one tool alone.

    >>> detect_preset(["_source.rule.level", "_source.agent.name"]).name
    'wazuh'
    """
    names = list(columns)
    fitting = [
        preset
        for preset in PRESETS
        if any(all(path_column(path, names) for path in group) for group in preset.marks)
    ]
    # Rows of other tools are often kept in Elasticsearch; what is inside tells more.
    inner = [preset for preset in fitting if preset.name != "elastic"] or fitting
    return inner[0] if len(inner) == 1 else None


def path_column(path: str, columns: Iterable[str]) -> str | None:
    """The column at a path, or the only one behind other keys.

    >>> path_column("@timestamp", ["_index", "_source.@timestamp"])
    '_source.@timestamp'
    """
    names = list(columns)
    if path in names:
        return path
    behind = [name for name in names if name.endswith(f".{path}")]
    return behind[0] if len(behind) == 1 else None


def preset_columns(preset: Preset, columns: Iterable[str]) -> dict[str, str]:
    """The columns that are there, by role: the first name of each that leads to one."""
    names = list(columns)
    found = {
        role: next((c for path in paths if (c := path_column(path, names))), None)
        for role, paths in preset.columns.items()
    }
    return {role: column for role, column in found.items() if column is not None}
