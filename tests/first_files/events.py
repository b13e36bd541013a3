"""Forty events, and how tools write them: columns, tables, workbooks, JSON and Zeek logs."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import xlsxwriter


@dataclass(frozen=True)
class Event:
    attack: bool
    alarm: bool
    family: str
    score: float
    when: datetime
    host: str


Column = Callable[[Event], Any]
Columns = Mapping[str, Column]


def _events() -> list[Event]:
    """24 harmless events, 3 of them flagged, and 16 attacks, 4 of them missed, over 15 days."""
    random = Random(34)
    kinds = [(False, place < 3, "BENIGN") for place in range(24)]
    kinds += [(True, place >= 4, ("DDoS", "PortScan")[place % 2]) for place in range(16)]
    random.shuffle(kinds)
    events, when = [], datetime(2026, 11, 3, 10, 15, 2, 123000, UTC)
    for attack, alarm, family in kinds:
        score = random.randint(510, 990) if alarm else random.randint(10, 490)
        host = random.choice(("büro-1", "web-2", "db-3", "mail-4"))
        events.append(Event(attack, alarm, family, score / 1000, when, host))
        when += timedelta(minutes=random.randint(400, 700))
    return events


EVENTS = _events()


# -- what a column holds ---------------------------------------------------------------------------


def number(event: Event) -> int:
    return EVENTS.index(event)


def host(event: Event) -> str:
    return event.host


def family(event: Event) -> str:
    return event.family


def truth(yes: Any, no: Any) -> Column:
    return lambda event: yes if event.attack else no


def said(yes: Any, no: Any) -> Column:
    return lambda event: yes if event.alarm else no


def score(scale: float = 1, shift: float = 0) -> Column:
    return lambda event: round(event.score * scale + shift, 4)


def decimal_comma(event: Event) -> str:
    return str(event.score).replace(".", ",")


def percent(event: Event) -> str:
    return f"{event.score:.1%}"


def severity(event: Event) -> str:
    return ("Low", "Medium", "High", "Critical")[int(event.score * 4)]


def moment(event: Event) -> datetime:
    return event.when.replace(tzinfo=None)


def milliseconds(event: Event) -> int:
    return round(event.when.timestamp() * 1000)


def time(form: str) -> Column:
    """The time in a form of strftime, where %3f is milliseconds."""
    return lambda event: event.when.strftime(
        form.replace("%3f", f"{event.when.microsecond // 1000:03}")
    )


iso = time("%Y-%m-%dT%H:%M:%S.%3fZ")


# -- how a file is written -------------------------------------------------------------------------


def text(columns: Columns, delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    lines = io.StringIO()
    writer = csv.writer(lines, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows([column(event) for column in columns.values()] for event in EVENTS)
    return lines.getvalue().encode(encoding)


def workbook(columns: Columns) -> bytes:
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, {"default_date_format": "dd.mm.yyyy hh:mm"}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, columns)
        for place, event in enumerate(EVENTS, 1):
            sheet.write_row(place, 0, [column(event) for column in columns.values()])
    return content.getvalue()


def json_lines(record: Column) -> bytes:
    return "".join(json.dumps(record(event)) + "\n" for event in EVENTS).encode()


def json_list(record: Column, *keys: str) -> bytes:
    """A list of records, nested under keys."""
    document: Any = [record(event) for event in EVENTS]
    for key in reversed(keys):
        document = {"version": 2, key: document}
    return json.dumps(document, indent=1).encode()


def zeek(path: str, types: Mapping[str, str], columns: Columns) -> bytes:
    head = f"#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#path\t{path}\n"
    names, kinds = "\t".join(columns), "\t".join(types[name] for name in columns)
    return (
        f"{head}#fields\t{names}\n#types\t{kinds}\n".encode()
        + text(columns, "\t").split(b"\n", 1)[1]
    )
