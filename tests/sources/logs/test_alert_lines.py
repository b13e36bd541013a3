"""Alerts of one line: fast.log and CEF."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.errors import InputError
from assay.sources.logs import Events

TS = 1_793_594_214_841_235
SURICATA = (
    "11/02/2026-04:36:54.841235  [**] [1:2010935:3] SCAN many ports [**] "
    "[Classification: Network scan] [Priority: 2] {TCP} 10.0.0.1:1234 -> 192.168.1.7:443"
)
CEF = (
    "Nov 02 04:36:54 probe CEF:0|Security|threatmanager|1.0|100|worm \\| stopped|10|"
    "src=10.0.0.1 dst=2.1.2.2 spt=1232 dpt=80 msg=a b\\=c = d rt=1793594214841 dvchost=probe-1"
)


def events(tmp_path: Path, text: str, **asked: Any) -> Events:
    (tmp_path / "fast.log").write_text(text)
    return Events([tmp_path / "fast.log"], **asked)


def row(log: Events) -> dict[str, Any]:
    return pl.concat(log).row(0, named=True)


def test_an_alert_of_suricata(tmp_path: Path) -> None:
    fields = ["alert.severity", "alert.category", "proto", "none"]
    read = row(events(tmp_path, SURICATA + "\n", timezone="UTC", fields=fields))
    assert read.pop("file").endswith("fast.log")
    assert list(read.values()) == [
        *(TS, "alert", "10.0.0.1", "192.168.1.7", 1234, 443, None, "2010935 SCAN many ports", 1),
        *(2.0, "Network scan", "TCP", None),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            SURICATA.replace("10.0.0.1:1234", "2001:db8::1:1234"),
            ("2001:db8::1", 1234, "2010935 SCAN many ports"),
        ),
        (SURICATA.replace("[1:", "[116:"), ("10.0.0.1", 1234, "116:2010935 SCAN many ports")),
        (
            SURICATA.replace("  [**]", "  [Drop] [**]").replace(
                " [Classification: Network scan]", ""
            ),
            ("10.0.0.1", 1234, "2010935 SCAN many ports"),
        ),
        (
            SURICATA.replace("/2026", "").replace("SCAN many ports", '"SCAN many ports"'),
            ("10.0.0.1", 1234, "2010935 SCAN many ports"),
        ),
        (
            "11/02-04:36:54.841235  [**] [1:7:1] ping [**] {ICMP} 10.0.0.1 -> 10.0.0.2",
            ("10.0.0.1", None, "7 ping"),
        ),
        (
            "11/02-04:36:54.841235 [**] [1:7:1] ping [**] {IPV6-ICMP} fe80::1 -> ff02::2",
            ("fe80::1", None, "7 ping"),
        ),
    ],
)
def test_alerts_of_other_shapes(tmp_path: Path, line: str, expected: tuple[Any, ...]) -> None:
    read = row(events(tmp_path, line, timezone="UTC", year=2026))
    assert (read["src_ip"], read["src_port"], read["rule"]) == expected
    assert read["time"] == TS


def test_a_zone_and_a_year_have_to_be_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1: time: found '11/02/2026.*which has no zone"):
        list(events(tmp_path, SURICATA))
    with pytest.raises(InputError, match=r"line 1: time: found '11/02-04.*which has no year"):
        list(events(tmp_path, SURICATA.replace("/2026", ""), timezone="UTC", on_bad_row="skip"))


@pytest.mark.parametrize("days", [("12/31", "01/01"), ("01/01", "12/31")])
def test_one_year_is_not_given_to_lines_of_two(tmp_path: Path, days: tuple[str, str]) -> None:
    text = "\n".join(SURICATA.replace("11/02/2026", day) for day in days)
    with pytest.raises(InputError, match=r"line 2: .*a year seems to turn here.*write the year"):
        list(events(tmp_path, text, timezone="UTC", year=2026))
    near = "\n".join(SURICATA.replace("11/02/2026", day) for day in ("01/01", "07/01"))
    assert sum(len(batch) for batch in events(tmp_path, near, timezone="UTC", year=2026)) == 2


def test_an_event_of_cef(tmp_path: Path) -> None:
    read = row(events(tmp_path, CEF + "\r\n", fields=["msg", "severity", "vendor"]))
    assert read.pop("file").endswith("fast.log")
    assert list(read.values()) == [
        *(1_793_594_214_841_000, "alert", "10.0.0.1", "2.1.2.2", 1232, 80, "probe-1"),
        *("100 worm | stopped", 1, "a b=c = d", 10.0, "Security"),
    ]


def test_without_a_time_of_its_own_cef_has_that_of_syslog(tmp_path: Path) -> None:
    text = CEF.replace("rt=1793594214841 ", "")
    assert row(events(tmp_path, text, timezone="UTC", year=2026))["time"] == TS // 10**6 * 10**6
    text = "<134>1 2026-11-02T04:36:54Z probe " + text.partition("probe ")[2]
    assert row(events(tmp_path, text))["time"] == TS // 10**6 * 10**6


@pytest.mark.parametrize(
    ("text", "what"), [(SURICATA, "no line of fast.log"), (CEF, "no line of CEF")]
)
@pytest.mark.parametrize("bad", ["nonsense", "", "a\0b"])
def test_a_bad_line_is_named(tmp_path: Path, text: str, what: str, bad: str) -> None:
    lines = f"{text}\n{bad}\n{text}\n"
    reason = {"nonsense": what, "": "a blank line", "a\0b": "a NUL byte"}[bad]
    with pytest.raises(InputError, match=f"line 2: found {reason}"):
        list(events(tmp_path, lines, timezone="UTC"))
    skipped = events(tmp_path, lines, timezone="UTC", on_bad_row="skip")
    assert pl.concat(skipped)["line"].to_list() == [1, 3]
    assert (skipped.rows_read, skipped.rows_refused) == (3, 1)
