"""Text that people and programs write: logs, claims, rules of gates, addresses of databases."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from random import Random
from typing import Any

from hostile.mutation import hurt, twisted
from hostile.subject import REFUSED, USED, Case, SilentLoss, Subject
from hostile.tables import sqlite_file

ROOT = Path(__file__).resolve().parents[2]

# -- logs ------------------------------------------------------------------------------------------

_SURICATA: dict[str, Any] = {
    "timestamp": "2026-11-02T04:36:54.841235+0000",
    "event_type": "alert",
    "src_ip": "10.0.0.1",
    "src_port": 1,
    "dest_ip": "10.0.0.2",
    "dest_port": 443,
    "proto": "TCP",
    "alert": {"signature_id": 7, "signature": 'a "b" é \\', "severity": 2},
}
_ZEEK_JSON = {
    "ts": 1793594214.841235,
    "id.orig_h": "10.0.0.1",
    "id": {"orig_p": 3},
    "host": {"name": "x"},
}
_ECS = {
    "@timestamp": "2026-11-02T04:36:54Z",
    "source": {"ip": "1.2.3.4", "port": 5},
    "host": "y",
    "rule": {"id": "7"},
    "event": {"kind": "alert"},
}
_ZEEK = b"""\
#separator \\x09
#set_separator\t,
#unset_field\t-
#path\tconn
#fields\tts\tid.orig_h\tid.orig_p\tid.resp_h\tnote
#types\ttime\taddr\tport\taddr\tstring
1793594214.841235\t10.0.0.1\t1\t10.0.0.2\ta\\x09b
1793594215.000000\t10.0.0.1\t-\t10.0.0.2\t-
1793594216.000000\t10.0.0.3\t9\t10.0.0.2\tc
#close\tnow
"""
_FAST = b"""\
11/02/2026-04:36:54.841235  [**] [1:7:3] NAME [**] [Priority: 2] {TCP} 10.0.0.1:1 -> 10.0.0.2:2
11/02/2026-04:36:55.841235  [**] [1:7:3] NAME [**] [Priority: 2] {UDP} fe80::1:1 -> fe80::2:2
11/02-04:36:56.841235  [**] [1:7:3] NAME [**] {ICMP} 10.0.0.1 -> 10.0.0.2
"""
_CEF = b"""\
CEF:0|a|b|1|7|NAME|5|rt=1793594214841 src=10.0.0.1 spt=1 msg=x \\= y
<1>Nov 02 2026 04:36:54 host CEF:0|a|b|1|7|NA\\|ME|5|src=10.0.0.1 dst=10.0.0.2
"""


def _log(draw: Random) -> Case:
    kind = draw.choice(("suricata", "zeek-json", "ecs", "mixed", "zeek", "fast", "cef"))
    if kind in ("zeek", "fast", "cef"):
        text = {"zeek": _ZEEK, "fast": _FAST, "cef": _CEF}[kind] * draw.choice((1, 1, 2, 30))
    else:
        chosen = {"suricata": [_SURICATA], "zeek-json": [_ZEEK_JSON], "ecs": [_ECS]}
        records = chosen.get(kind, [_SURICATA, _ZEEK_JSON, _ECS])
        lines = []
        for _ in range(draw.choice((1, 4, 40))):
            record: Any = draw.choice(records)
            lines.append(json.dumps(twisted(draw, record) if draw.random() < 0.2 else record))
        text = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
    for _ in range(draw.choice((0, 1, 1, 2))):
        text = hurt(draw, text)
    how = {
        "on_bad_row": draw.choice(("stop", "skip")),
        "timezone": draw.choice((None, "UTC")),
        "year": draw.choice((None, 2026)),
        "chunk_bytes": draw.choice((64, 1 << 20)),
        "fields": ["alert.severity", "msg", "note"],
    }
    return Case(text, "eve.log", json.dumps(how))


def _read_log(case: Case, folder: Path) -> str:
    from assay.errors import AssayError
    from assay.sources.logs import Events

    path = folder / case.name
    path.write_bytes(case.content)
    try:
        events = Events([path], **json.loads(case.how))
        used = sum(batch.height for batch in events)
    except AssayError:
        return REFUSED
    if used + events.rows_refused != events.rows_read:
        raise SilentLoss(f"{events.rows_read} read, {used} used, {events.rows_refused} refused")
    return USED


# -- claims ----------------------------------------------------------------------------------------

MARKDOWN = b"""\
| Model | Acc. (%) | Precision | Recall | F1 |
|---|---|---|---|---|
| Forest | **96.70** | 0.975 | 0.9534 | 0.964 |
| Tree (ours) | 93.02 | 0.921 | 93.08 % | 0.926 |
"""
_TABLE = b"model;tp;fp;fn;tn;accuracy;recall\na;85;20;15;280;0.9125;0,85\nb;1;2;3;4;0.5;0.25\n"


@functools.cache
def _claims() -> tuple[tuple[str, bytes], ...]:
    files = [*(ROOT / "examples/claims").glob("*.toml"), *(ROOT / "examples/tables").glob("*")]
    texts = [(path.name, path.read_bytes()) for path in sorted(files)]
    return (*texts, ("paper.md", MARKDOWN), ("table.csv", _TABLE))


def _claim(draw: Random) -> Case:
    name, text = draw.choice(_claims())
    # A claim or two: whole files take long, and have nothing more in them.
    head, *parts = text.split(b"[[claim]]")
    if parts:
        text = head + b"".join(b"[[claim]]" + part for part in draw.sample(parts, 1))
    for _ in range(draw.choice((0, 1, 1, 2))):
        text = hurt(draw, text)
    return Case(text, name, draw.choice(("terminal", "csv", "markdown", "latex", "html", "json")))


def _audit(case: Case, folder: Path) -> str:
    import assay
    from assay.decisions.audit.reading import read_document
    from assay.report import document_of, draw

    path = folder / case.name
    path.write_bytes(case.content)
    try:
        document = document_of(assay.audit(read_document(path).claims))
        draw(document, case.how, **({"width": 80} if case.how == "terminal" else {}))
    except assay.AssayError:
        return REFUSED
    return USED


# -- rules -----------------------------------------------------------------------------------------

_RULES = (
    "new(precision@threshold=0.9,base-rate=0.001) >= 0.5",
    "new-old(detection_rate@max-far=0.1) >= -0.01",
    "new-old(detection_rate@max-fpr=1/100,family=*) >= -5%",
    'new(recall@family="brute force, \\"ssh\\"") > 0',
    "new(f0.5.macro) > 0",
    "new(alerts_per_day@volume=1e6,base-rate=0.001) <= 50",
    "precision >= 0.5",
    "new(roc_auc) > old(roc_auc)",
)
_PARTS = (
    *("new", "old", "new-old", "(", ")", "@", ",", "=", ">=", "<=", "<", ">", "recall", "f1", "*"),
    *("precision", "roc_auc", "family", "threshold", "base-rate", "max-fpr", "volume", "0.5"),
    *(
        "1e309",
        "-0",
        "1/0",
        "1/3",
        "50%",
        '"',
        "'",
        "\\",
        ".",
        ".macro",
        " ",
        "\n",
        "nan",
        "[[rule]]",
    ),
)


def _rule(draw: Random) -> Case:
    kind = draw.randrange(3)
    if kind == 0:
        return Case(hurt(draw, draw.choice(_RULES).encode()), "rule")
    if kind == 1:
        return Case("".join(draw.choices(_PARTS, k=draw.randrange(1, 20))).encode(), "rule")
    text = (ROOT / "examples/gate.toml").read_bytes()
    return Case(hurt(draw, text), draw.choice(("gate.toml", "gate.json", "gate.txt")))


def _read_rule(case: Case, folder: Path) -> str:
    from assay.decisions.rule_grammar import parse_rule, read_rules
    from assay.errors import AssayError

    path = folder / case.name
    path.write_bytes(case.content)
    text = case.content.decode("utf-8", "surrogateescape")
    try:
        rules = [parse_rule(text)] if case.name == "rule" else read_rules(path)
    except AssayError:
        return REFUSED
    for rule in rules:
        if parse_rule(rule.text).text != rule.text:
            raise SilentLoss(f"{rule.text!r} is another rule when it is read again")
    return USED


# -- addresses -------------------------------------------------------------------------------------

_ADDRESSES = (
    b"postgresql://reader@db.example:5432/flows?select label, score from t",
    b"postgresql://[::1]:5432/flows?select * from t where a = '?'",
    b"postgres://db/x?with a as (select 1) select * from a",
    b"spark:select label, score from flows",
)
_QUERIES = (
    b"SELECT * FROM t",
    b"SELECT label, score FROM t WHERE score > 0.5 -- why not",
    b"WITH a AS (SELECT label, score FROM t) SELECT * FROM a",
    b"SELECT label, CAST(score AS TEXT) AS score FROM t LIMIT 5",
    b"DELETE FROM t",
    b"SELECT 1; DROP TABLE t",
    b"PRAGMA writable_schema = 1",
    b"ATTACH 'x' AS y",
    b"SELECT load_extension('x')",
)


def _address(draw: Random) -> Case:
    if draw.random() < 0.5:
        return Case(hurt(draw, draw.choice(_ADDRESSES)), "address")
    return Case(hurt(draw, draw.choice(_QUERIES)), "query")


def _read_address(case: Case, folder: Path) -> str:
    from assay.errors import AssayError
    from assay.sources.files import Request, read
    from assay.sources.files.database_queries import (
        is_address,
        is_spark,
        must_only_read_postgresql,
        must_only_read_spark,
    )
    from assay.sources.files.inputs import sources

    text = case.content.replace(b"\0", b"").decode("utf-8", "surrogateescape")
    try:
        if case.name == "query":
            path = folder / "t.sqlite"
            path.write_bytes(sqlite_file())
            read([f"sqlite:{path}?{text}"], Request(max_memory=1 << 30, on_bad_row="skip"))
            if path.read_bytes() != sqlite_file():
                raise SilentLoss("a query has changed the database")
        elif is_address(text) or is_spark(text):
            (source,) = sources([text], Request())
            must = must_only_read_spark if is_spark(text) else must_only_read_postgresql
            must(source.query or "", source.name)
        else:
            return REFUSED
    except AssayError:
        return REFUSED
    return USED


SUBJECTS = (
    Subject("logs", 100, _log, _read_log),
    Subject("claims", 50, _claim, _audit),
    Subject("rules", 60, _rule, _read_rule),
    Subject("addresses", 40, _address, _read_address),
)
