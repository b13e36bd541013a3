"""One of a thing is called one: every command on as little as it takes."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

ROWS = (
    "id,time,incident,label,score,other,host\n"
    "1,2026-03-01T10:00:00Z,i1,attack,0.9,0.8,a\n"
    "2,2026-03-01T11:00:00Z,,normal,0.1,0.9,b\n"
)
SCHEDULE = "attack,start,end\nscan,2026-03-01T09:00:00Z,2026-03-01T10:30:00Z\n"
ALERT = (
    '{"timestamp":"2026-03-01T10:00:00Z","event_type":"alert","src_ip":"192.0.2.1",'
    '"dest_ip":"192.0.2.2","alert":{"signature":"x","signature_id":1}}\n'
)
CLAIM = '[[claim]]\nname = "x"\nreported = { accuracy = "0.5" }\n'
MANY = re.compile(r"\b1 (?:more |further |other |false |labelled )?(?:[a-z]+s|strata)\b(?! a day)")
# Verbs, and what is one of many.
VERBS = re.compile(r"\b1 (?:is|was|has|holds|alarms)\b")
RULE = "--label label --score score --id id --rule 'new(recall) >= 0.1'"
LINES = (
    "evaluate two.csv --volume 1 --base-rate 0.5 --top 1 --slice host --family host",
    "evaluate bad.csv --on-bad-row skip",
    "evaluate two.csv --time time --period day --top 1",
    "threshold two.csv --max-fpr 0.5 --volume 1",
    "threshold two.csv --min-dr 0.5",
    "threshold two.csv --max-alerts 1 --volume 1",
    f"gate two.csv --baseline two.csv {RULE}",
    f"gate bad.csv --baseline bad.csv --on-bad-row skip --joint {RULE}",
    "monitor two.csv --time time --rule 'precision >= 0.1'",
    "incidents two.csv --incident incident --time time --score score",
    "incidents --alerts eve.json --schedule schedule.csv",
    "sample two.csv --score score --labels 2 --strata 1 --out some.csv",
    "compare two.csv --label label --model a=score --model b=other --flips flips.csv",
    "audit claim.toml",
    "check two.csv --label label",
    "plan --max-fpr 0.9",
    "plan --min-dr 0.5 --base-rate 0.5",
    "plan --width 0.9",
    "plan --max-far 0.9 --base-rate 0.5",
    "data arp --rows 1 --out made.csv",
    "measures --group cost",
)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("face", ["terminal", "markdown"])
def test_one_of_a_thing_is_not_called_many(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, face: str
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"two.csv": ROWS, "bad.csv": f"{ROWS}3,,,normal,x,0.5,a\n", "claim.toml": CLAIM}
    files |= {"schedule.csv": SCHEDULE, "eve.json": ALERT}
    for name, text in files.items():
        Path(name).write_text(text)
    made = line.startswith("data")
    told = cli(*shlex.split(line), *([] if made else ["--format", face]))
    assert told.code in (0, 1), told.err
    text = " ".join((told.out + told.err).split())
    odd = [match[0] for match in MANY.finditer(text) if not VERBS.fullmatch(match[0])]
    assert not odd, odd
