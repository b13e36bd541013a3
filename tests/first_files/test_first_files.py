"""What newcomers try first is recognised."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main

from .cases import CASES, Case, Seen

ROLES = ("label", "score", "decision", "time")


def recognised(document: dict[str, Any]) -> dict[str, Any]:
    """What was recognised, by a document: the one place that knows where it says so."""
    source = document["source"]
    columns = {role: source["columns"].get(role) for role in ROLES}
    columns |= {role: name for role, name in source["columns"].items() if "probability:" in role}
    cells = document["confusion"]
    return {
        "columns": columns,
        "rows": source["rows_used"],
        "positive": document["positive"],
        "threshold": document["threshold"],
        "confusion": cells and tuple(map(tuple, cells)),
    }


def expected(seen: Seen) -> dict[str, Any]:
    columns = {role: getattr(seen, role) for role in ROLES}
    columns |= {f"probability:{label}": name for label, name in seen.probabilities.items()}
    facts = {fact: getattr(seen, fact) for fact in ("positive", "threshold", "confusion")}
    return {"columns": columns, "rows": seen.rows, **facts}


def parameters(case: Case) -> Any:
    waits = [pytest.mark.xfail(strict=True, reason=case.waits)] if case.waits else []
    return pytest.param(case, id=case.file, marks=waits)


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """The command line takes the signals over; a test run wants them back."""
    names = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(name) for name in names]
    yield
    signal.set_wakeup_fd(-1)
    for name, handler in zip(names, handlers, strict=True):
        signal.signal(name, handler)


@pytest.mark.parametrize("case", map(parameters, CASES))
def test_a_first_file_is_recognised(
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(case.file).write_bytes(case.content)
    code = main(["evaluate", case.file, *case.typed.split(), "--format", "json"])
    out, err = capfd.readouterr()
    if isinstance(case.outcome, Seen):
        assert code == 0, err
        assert recognised(json.loads(out)) == expected(case.outcome)
    else:
        assert code == 3, err
        assert [words for words in case.outcome.naming if words not in err] == [], err
