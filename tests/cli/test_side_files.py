"""Files beside the rows are read up to a bound: one without an end is refused at once."""

from pathlib import Path

import pytest

from assay.decisions.rule_grammar import LARGEST_FILE, read_rules
from assay.errors import InputError, StoreError
from assay.store.exchange import LONGEST_HEAD, export_lines

ENDLESS = Path("/dev/zero")
OF_ROWS = ("rows.csv", "--score", "score", "--label", "label")


@pytest.mark.skipif(not ENDLESS.exists(), reason="there is no file without an end")
@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("gate", *OF_ROWS, "--rules", ENDLESS), "more than 4 MiB, too large for a file of rules"),
        (("monitor", *OF_ROWS, "--time", "time", "--state", ENDLESS), "more than 256 MiB"),
        (("serve", "--token-file", ENDLESS), "more than 4,096 bytes, too large for a file of a"),
        (("runs", "import", ENDLESS, "--store", "runs.db"), "this is no export"),
        (("audit", ENDLESS), "more than"),
        (("show", ENDLESS), "more than"),
        (("evaluate", "--matrix", ENDLESS), "more than"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_file_without_an_end_is_refused(
    cli, args: tuple[object, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if args[0] == "serve":
        pytest.importorskip("starlette", reason="the web app's libraries are not installed")
    monkeypatch.chdir(tmp_path)
    lines = (f"2026-03-0{1 + i % 5},{'attack' if i % 3 else 'normal'},{i / 60}" for i in range(60))
    Path("rows.csv").write_text("\n".join(["time,label,score", *lines, ""]))
    outcome = cli(*args)
    assert outcome.code == 3, outcome.err
    assert told in outcome.err


def test_rules_may_be_as_large_as_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "gate.rules"
    rule = "new(f1) >= 0.5\n"
    path.write_text(rule + "#" * (LARGEST_FILE - len(rule)))
    assert [each.text for each in read_rules(path)] == [rule.strip()]
    path.write_text(rule + "#" * (LARGEST_FILE - len(rule) + 1))
    with pytest.raises(InputError, match="too large for a file of rules"):
        read_rules(path)


def test_a_name_that_no_file_may_have_is_refused() -> None:
    with pytest.raises(InputError, match="null byte"):
        read_rules(Path("a\0b"))


def test_only_the_head_of_an_export_has_to_be_short(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    long = "x" * (2 * LONGEST_HEAD)
    path.write_text(f"head\n{long}\n")
    with path.open("rb") as file:
        assert list(export_lines(file, "runs.jsonl")) == ["head\n", f"{long}\n"]
    path.write_text(long)
    with path.open("rb") as file, pytest.raises(StoreError, match="no export"):
        list(export_lines(file, "runs.jsonl"))
    path.write_bytes(b"\xff\n")
    with path.open("rb") as file, pytest.raises(StoreError, match="UTF-8"):
        list(export_lines(file, "runs.jsonl"))
