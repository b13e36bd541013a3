"""assay monitor: exit codes, states that survive a restart, and what is refused."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.report.document import schema_of
from assay.tally import from_bytes

ROWS = 40
RULES = ("--rule", "precision >= 0.5")


def table(days: range, *, harmless: int = 2, late: int = 0) -> str:
    """A day's rows: alerts, some of them harmless; the last ones of late days have no label."""
    lines = ["time,label,score,old,bytes"]
    for day in days:
        for i in range(ROWS):
            label = "normal" if i % 10 < harmless else "attack"
            score = 0.9 if i < 30 else 0.1
            known = label if score > 0.5 and (day < 28 - late or i < 5) else ""
            lines.append(
                f"2026-03-{day:02}T{i % 24:02}:00:00Z,{known},{score},{(i % 7) / 7},{i * 10}"
            )
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("all.csv").write_text(table(range(1, 29)))
    Path("early.csv").write_text(table(range(1, 15)))
    Path("late.csv").write_text(table(range(15, 29)))
    Path("bad.csv").write_text(table(range(1, 29), harmless=7))
    return tmp_path


def test_a_rule_that_holds_ends_with_0_and_a_broken_one_with_1(cli: Callable, folder: Path) -> None:
    kept = cli("monitor", "all.csv", "--time", "time", *RULES)
    assert (kept.code, "HOLDS: 1 of 1 rule holds." in kept.out) == (0, True)
    broken = cli("monitor", "bad.csv", "--time", "time", *RULES)
    assert broken.code == 1
    assert "BROKEN: 1 of 1 rule is broken since 2026-03-0" in broken.out
    assert "M001 warning" in broken.out
    undecided = cli("monitor", "all.csv", "--time", "time", "--rule", "precision >= 0.8")
    assert (undecided.code, "OPEN: " in undecided.out) == (0, True)


def test_json_keeps_its_schema_and_the_contract(cli: Callable, folder: Path) -> None:
    import jsonschema

    outcome = cli("monitor", "bad.csv", "--time", "time", *RULES, "--format", "json", "--quiet")
    document = json.loads(outcome.out)
    jsonschema.Draft202012Validator(schema_of("assay.monitor/1")).validate(document)
    assert document["schema"] == "assay.monitor/1"
    assert document["rules"][0]["outcome"] == "broken"
    assert document["rules"][0]["since"] == document["periods"][2]["end"]
    assert {"start", "end", "rows", "estimates"} <= document["periods"][0].keys()


def test_a_state_gives_the_same_bits_as_all_rows_at_once(cli: Callable, folder: Path) -> None:
    asked = ("--time", "time", *RULES, "--reference", "all.csv", "--feature", "bytes")
    whole = cli("monitor", "all.csv", *asked, "--state", "whole.tally", "--format", "json")
    first = cli("monitor", "early.csv", *asked, "--state", "parts.tally")
    assert first.code == 0
    assert "note: there is no parts.tally yet; a new state begins" in first.err
    assert "wrote parts.tally (the state, until 2026-03-14)" in first.err
    second = cli("monitor", "late.csv", *asked, "--state", "parts.tally", "--format", "json")
    assert Path("parts.tally").read_bytes() == Path("whole.tally").read_bytes()
    one, other = (json.loads(each.out) for each in (whole, second))
    for key in ("periods", "rules", "shift", "findings", "maturity", "headline"):
        assert one[key] == other[key], key
    # The reference is in the state: it need not be given again.
    Path("after.csv").write_text(table(range(29, 31)))
    alone = ("--time", "time", "--feature", "bytes")
    assert "Shift since" in cli("monitor", "after.csv", *alone, "--state", "parts.tally").out


def test_rows_that_were_counted_are_refused_and_the_state_stays(
    cli: Callable, folder: Path
) -> None:
    cli("monitor", "all.csv", "--time", "time", "--state", "s.tally")
    before = Path("s.tally").read_bytes()
    again = cli("monitor", "late.csv", "--time", "time", "--state", "s.tally")
    assert again.code == 3
    assert "--state holds 2026-03-15, 2026-03-16" in again.err
    assert "say --recount to count these days anew" in again.err
    assert Path("s.tally").read_bytes() == before
    other = cli("monitor", "late.csv", "--time", "time", "--state", "s.tally", "--threshold", "0.7")
    assert (other.code, "--state was counted with threshold None, not 0.7" in other.err) == (
        3,
        True,
    )
    Path("late.csv").write_text(table(range(15, 29), harmless=4))
    anew = cli("monitor", "late.csv", "--time", "time", "--state", "s.tally", "--recount")
    assert anew.code == 0
    assert from_bytes(Path("s.tally").read_bytes()).rows == 28 * ROWS
    assert Path("s.tally").read_bytes() != before


def test_runs_go_on_from_the_last_one_in_the_store(cli: Callable, folder: Path) -> None:
    asked = (
        "--time",
        "time",
        *RULES,
        "--state",
        "last",
        "--record",
        "detector",
        "--format",
        "json",
    )
    first = cli("monitor", "early.csv", *asked)
    assert "note: there is no run 'detector' yet; a new state begins" in first.err
    second = json.loads(cli("monitor", "late.csv", *asked).out)
    whole = json.loads(cli("monitor", "all.csv", "--time", "time", *RULES, "--format", "json").out)
    assert second["periods"] == whole["periods"]
    listed = json.loads(cli("runs", "--format", "json").out)["runs"]
    assert [run["kind"] for run in listed] == ["monitor", "monitor"]
    assert "HOLDS: 1 of 1 rule holds." in cli("runs", "show", listed[0]["id"]).out
    trend = json.loads(
        cli("runs", "trend", "detector", "--measure", "precision", "--format", "json").out
    )
    assert [point["value"] for point in trend["points"]] == pytest.approx([0.8, 0.8], abs=0.01)


def test_labels_that_wait_give_bounds(cli: Callable, folder: Path) -> None:
    Path("waiting.csv").write_text(table(range(1, 29), late=4))
    outcome = cli("monitor", "waiting.csv", "--time", "time", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(outcome.out, newline="")))
    last = [r for r in rows if (r["scope"], r["measure"]) == ("period", "precision")][-1]
    assert last["value"] == ""
    assert float(last["least"]) < float(last["most"])
    assert "info M002" in outcome.err


def test_two_models_and_metrics_for_prometheus(cli: Callable, folder: Path) -> None:
    outcome = cli(
        *("monitor", "all.csv", "--time", "time", "--score", "score", "--baseline-score", "old"),
        *("--rule", "new-old(alert_rate) >= 0", "--every", "week", "--metrics", "assay.prom"),
    )
    assert outcome.code == 0
    text = Path("assay.prom").read_text()
    assert 'assay_rule_holds{rule="new-old(alert_rate) >= 0"} 1.0' in text
    assert 'assay_watched{measure="alert_rate",subject="new-old"}' in text
    assert "assay_until_seconds 1774656000.0" in text
    assert text.endswith("# EOF\n")


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ((), 2, "say which column tells when a row happened: --time"),
        (("--time", "when"), 3, "has no column 'when'"),
        (("--time", "time", "--every", "year"), 2, "is no period"),
        (("--time", "time", "--rule", "f1 >= 0.5"), 2, "f1 is no share of rows"),
        (("--time", "time", "--rule", "precision > 5"), 2, "whatever the model"),
        (("--time", "time", "--recount"), 2, "name it, --state"),
        (("--time", "time", "--feature", "bytes"), 3, "give --reference, rows from when"),
        (("--time", "time", "--state", "all.csv"), 2, "is an input"),
        (("--time", "time", "--metrics", "all.csv"), 2, "is an input"),
        (("--time", "time", "--metrics", "-"), 2, "--metrics needs the name of a file"),
        (("--time", "time", "--state", "last"), 2, "say which with --record NAME"),
        (("--time", "time", "--state", "no/such/s.tally"), 4, "there is no folder"),
        (("--time", "time", "--state", "."), 4, ". is a folder; what is written needs the name"),
        (("--time", "time", "--mature", "2"), 2, "is no share"),
        (("--time", "time", "--baseline-threshold", "0.4"), 2, "--baseline-score"),
        (("--time", "time", "--rule", "old(recall) > 0.1"), 3, "with --baseline-score or"),
        (("--time", "time", "--score", "bytes"), 3, "say --threshold, the score from"),
        (("--time", "bytes"), 3, "expected a date or a moment"),
    ],
)
def test_what_is_wrong_is_said(
    cli: Callable, folder: Path, options: tuple[str, ...], code: int, told: str
) -> None:
    outcome = cli("monitor", "all.csv", *options)
    assert (outcome.code, told in outcome.err) == (code, True), outcome.err
    assert "Traceback" not in outcome.err


def test_what_is_no_state_is_refused(cli: Callable, folder: Path) -> None:
    Path("s.tally").write_bytes(b"something else")
    outcome = cli("monitor", "all.csv", "--time", "time", "--state", "s.tally")
    assert (outcome.code, "s.tally is no state of a monitor" in outcome.err) == (3, True)


def test_bad_rows_are_skipped_counted_and_listed(cli: Callable, folder: Path) -> None:
    text = Path("all.csv").read_text() + "2026-03-28,attack,not a number,0,1\n"
    Path("all.csv").write_text(text)
    assert cli("monitor", "all.csv", "--time", "time").code == 3
    outcome = cli("monitor", "all.csv", "--time", "time", "--on-bad-row", "skip")
    assert outcome.code == 3  # a day without a zone beside moments with one
    Path("all.csv").write_text(text.replace("2026-03-28,attack", "2026-03-28T00:00:00Z,attack"))
    outcome = cli(
        "monitor", "all.csv", "--time", "time", "--on-bad-row", "skip", "--format", "json"
    )
    source = json.loads(outcome.out)["source"]
    assert (source["rows_read"], source["rows_used"], source["rows_refused"]) == (1121, 1120, 1)


@pytest.mark.usefixtures("blank_pages")
def test_figures_are_drawn(cli: Callable, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    asked = ("--time", "time", "--reference", "all.csv", "--figures", "figures", "--every", "week")
    assert cli("monitor", "all.csv", *asked, *RULES).code == 0
    drawn = {path.name for path in Path("figures").iterdir()}
    assert {"precision.svg", "alert_rate.svg", "false_alarms_per_day.svg", "shift.svg"} <= drawn
