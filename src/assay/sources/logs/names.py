"""What logs call things: Suricata, Zeek, Snort, CEF and the Elastic Common Schema (ECS).

Of each thing the first name that a record has counts.
"""

from __future__ import annotations

TIME, KIND, HOST, RULE = "time", "kind", "host", "rule"
SRC_IP, DST_IP, SRC_PORT, DST_PORT = "src_ip", "dst_ip", "src_port", "dst_port"
LINE, FILE = "line", "file"
# What an event is given as, in this order; the keys that were asked for follow.
COLUMNS = (TIME, KIND, SRC_IP, DST_IP, SRC_PORT, DST_PORT, HOST, RULE, LINE, FILE)
PORTS = (SRC_PORT, DST_PORT)

# A rule is told by the number of its signature, that of its generator, and its name.
RULE_ID, RULE_GENERATOR, RULE_NAME = "rule id", "rule generator", "rule name"
# A name only beside a number: other logs call any text so.
RULE_MESSAGE = "rule message"

ALERT = "alert"

NAMES: dict[str, tuple[str, ...]] = {
    TIME: ("timestamp", "@timestamp", "ts", "time"),
    KIND: ("event_type", "_path", "event.kind"),
    SRC_IP: ("src_ip", "id.orig_h", "source.ip", "src_addr", "src"),
    DST_IP: ("dest_ip", "dst_ip", "id.resp_h", "destination.ip", "dst_addr", "dst"),
    SRC_PORT: ("src_port", "id.orig_p", "source.port", "spt"),
    DST_PORT: ("dest_port", "dst_port", "id.resp_p", "destination.port", "dpt"),
    HOST: ("host.name", "host", "hostname"),
    RULE_ID: ("alert.signature_id", "rule.id", "rule", "signature_id"),
    RULE_GENERATOR: ("alert.gid",),
    RULE_NAME: ("alert.signature", "rule.name", "note", "signature"),
    RULE_MESSAGE: ("msg",),
}
# Where Suricata repeats names inside of other objects.
REPEATED = tuple(("flow", key) for key in ("src_ip", "dest_ip", "src_port", "dest_port"))


def field_column(field: str) -> str:
    """The column of a key that was asked for, until the others have their final names."""
    return f"field {field}"
