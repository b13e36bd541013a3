"""What assay itself has written, after somebody worked on it, and what is sent to its web app."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from hostile import tables, texts
from hostile.mutation import PIECES, damaged, hurt, json_bytes, twisted
from hostile.subject import REFUSED, USED, Case, SilentLoss, Subject

ROOT = Path(__file__).resolve().parents[2]
_FORMATS = ("terminal", "json", "markdown", "latex", "html", "csv")
# Whatever was in a file, none of this may reach the screen.
_ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


_PLACE = re.compile(r'File "[^"]*/assay/([^"]*", line \d+)')


class Broken(Exception):
    """A command that ended as an error of ours, or let through what acts on a screen."""


def _command(*arguments: object) -> tuple[int, str, str]:
    """Run a command line here: its exit code, and what it printed."""
    from assay.cli.app import run

    out, err = io.BytesIO(), io.BytesIO()
    screen = io.TextIOWrapper(out, "utf-8", write_through=True)
    errors = io.TextIOWrapper(err, "utf-8", write_through=True)
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(errors):
        os.environ["ASSAY_DEBUG"] = ""
        code = run([str(argument) for argument in arguments])
        if code not in (0, 1, 2, 3, 4):
            os.environ["ASSAY_DEBUG"] = "1"
            run([str(argument) for argument in arguments])
    return code, out.getvalue().decode("utf-8", "replace"), err.getvalue().decode()


def _tried(*arguments: object, acts: re.Pattern[str] = _ACTS) -> str:
    code, out, err = _command(*arguments)
    if code not in (0, 1, 2, 3, 4):
        place = " < ".join(reversed(_PLACE.findall(err)[-4:]))
        raise Broken(f"exit code {code}: {err.strip().splitlines()[-1][:300]} at {place}")
    # JSON keeps every name as it is, and writes what is below a blank as an escape by itself.
    shown = "" if "json" in arguments else out
    leaked = acts.search(err) or acts.search(shown.replace("\r\n", "\n"))
    if leaked is not None:
        raise Broken(f"{arguments} lets {leaked[0]!r} through\n{err[:300]}")
    return USED if code in (0, 1) else REFUSED


# -- documents and runs ----------------------------------------------------------------------------


@functools.cache
def _made() -> dict[str, Any]:
    """Documents of several kinds, a model, and an export of runs, made once."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        _command("data", "ddos", "--rows", 300, "--out", "table.csv")
        rows = [f"{i},2026-03-{1 + i // 20:02}T10:00:00Z,{'attack' if i % 5 == 0 else 'normal'},"
                f"{(i * 7 % 100) / 200 + (0.4 if i % 5 == 0 else 0):.3f},{'ab'[i % 2]}"
                for i in range(200)]  # fmt: skip
        Path("rows.csv").write_text("id,time,label,score,site\n" + "\n".join(rows) + "\n")
        Path("claims.md").write_bytes(texts.MARKDOWN)
        lines = {
            "evaluate": "evaluate rows.csv --slice site --base-rate 0.1%",
            "threshold": "threshold rows.csv --max-fpr 5%",
            "compare": "compare rows.csv --label label --model a=score --model b=id",
            "gate": "gate rows.csv --label label --score score --rule new(recall)>=0.1",
            "monitor": "monitor rows.csv --time time --rule precision>=0.01 --state state",
            "audit": "audit claims.md",
            "incidents": "incidents rows.csv --time time --incident site --score score",
            "plan": "plan --max-fpr 1/100",
            "check": "check table.csv --label label",
        }
        documents = []
        for line in lines.values():
            _, out, err = _command(*line.split(), "--format", "json")
            if not out.startswith("{"):
                raise SystemExit(f"assay {line} prints no document: {err}")
            documents.append(json.loads(out))
        _command("evaluate", "rows.csv", "--record", "a", "--tag", "t", "--store", "runs.db")
        _command("gate", "rows.csv", "--label", "label", "--score", "score", "--rule",
                 "new(recall)>=0.1", "--record", "b", "--store", "runs.db")  # fmt: skip
        _, exported, _ = _command("runs", "export", "--store", "runs.db", "--to", "json")
        _command("train", "tree", "table.csv", "--label", "label", "--out", "run")
        return {
            "documents": documents,
            "export": exported,
            "store": Path("runs.db").read_bytes(),
            "model": next(Path("run").glob("*.skops")).read_bytes(),
            "table": Path("table.csv").read_bytes(),
            "rows": Path("rows.csv").read_bytes(),
            "state": Path("state").read_bytes(),
        }


def _document(draw: Random) -> Case:
    content = json_bytes(draw, twisted(draw, draw.choice(_made()["documents"])))
    return Case(content, "document.json", draw.choice(_FORMATS))


def _show(case: Case, folder: Path) -> str:
    path = folder / case.name
    path.write_bytes(case.content)
    return _tried("show", path, "--format", case.how)


def _runs(draw: Random) -> Case:
    kind = draw.choice(("import", "store"))
    if kind == "store":
        return Case(damaged(draw, _made()["store"]), "runs.db", kind)
    lines = [json.loads(line) for line in _made()["export"].splitlines()]
    at = draw.randrange(len(lines))
    parts = [json.dumps(line).encode() for line in lines]
    parts[at] = json_bytes(draw, twisted(draw, lines[at]))
    return Case(b"\n".join(parts) + b"\n", "runs.jsonl", kind)


def _keep(case: Case, folder: Path) -> str:
    path = folder / case.name
    path.write_bytes(case.content)
    if case.how == "import":
        return _tried("runs", "import", path, "--store", folder / "new.db")
    return _tried("runs", "list", "--store", path, "--format", "json")


# -- model files -----------------------------------------------------------------------------------


def _model(draw: Random) -> Case:
    content = _made()["model"]
    if draw.random() < 0.3:
        return Case(damaged(draw, content), "model.skops")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        hit = draw.choice([name for name in names if name.endswith("json")] + names)
        for name in names:
            part = old.read(name)
            if name == hit:
                bent = name.endswith("json")
                part = (
                    json_bytes(draw, twisted(draw, json.loads(part)))
                    if bent
                    else damaged(draw, part)
                )
            new.writestr(name, part)
    return Case(out.getvalue(), "model.skops")


def _predict(case: Case, folder: Path) -> str:
    path, table = folder / case.name, folder / "table.csv"
    path.write_bytes(case.content)
    table.write_bytes(_made()["table"])
    return _tried("predict", path, table, "--out", folder / "predicted.csv")


# -- tallies ---------------------------------------------------------------------------------------


@functools.cache
def _tallies() -> tuple[bytes, ...]:
    import numpy as np

    from assay.engines.arrays import count_arrays, resolved_arrays
    from assay.tally import ClusterTally, Confusion, JointScores, PairTally, Sample, ScoreTally
    from assay.tally.keeping import Grid

    draw = np.random.default_rng(3)
    two, three = ("benign", "attack"), ("benign", "dos", "probe")
    binary, ternary, other = (draw.integers(0, n, 30).astype(np.uint8) for n in (2, 3, 3))
    scores = draw.random(30)
    truth = [two[i] for i in binary]
    days = [f"2026-11-{1 + i % 3:02}" for i in range(30)]
    resolved, *_ = resolved_arrays(
        truth,
        y_score=scores,
        labels=two,
        positive="attack",
        threshold=0.5,
        clusters=["abc"[i % 3] for i in range(30)],
        slices={"site": ["xy"[i % 2] for i in range(30)]},
        times=days,
    )
    hosts = np.arange(30) % 3
    made: list[Any] = [
        Confusion.of_codes(three, ternary, other),
        PairTally.of_codes(three, ternary, {"a": other, "b": ternary}),
        ClusterTally.of_codes(three, ternary, other, hosts, ("a", "b", "c")),
        ScoreTally.of_rows(two, scores, binary),
        ScoreTally.of_rows(two, scores, binary, kept=Grid(3)),
        Sample.of_rows(two, binary, {"a": scores, "b": scores[::-1].copy()}),
        JointScores.of_rows(three, ternary, {"a": scores, "b": scores}, bits=3),
        count_arrays(truth, y_score=scores),
        resolved,
    ]
    return (*(tally.to_bytes() for tally in made), _made()["state"])


def _tally(draw: Random) -> Case:
    content = draw.choice(_tallies())
    if draw.random() < 0.2:
        return Case(damaged(draw, content), "state")
    from assay.tally.codec import MAGIC

    start = len(MAGIC) + 12
    size = int.from_bytes(content[start - 8 : start], "little")
    head, arrays = content[start : start + size], content[start + size :]
    if draw.random() < 0.7:
        head = json_bytes(draw, twisted(draw, json.loads(head)))
    if draw.random() < 0.5:
        arrays = damaged(draw, arrays)
    # The checksum is right, so that what is behind it is looked at.
    body = len(head).to_bytes(8, "little") + head + arrays
    return Case(MAGIC + zlib.crc32(body).to_bytes(4, "little") + body, "state")


def _count(case: Case, folder: Path) -> str:  # noqa: ARG001
    from assay.errors import AssayError
    from assay.tally import from_bytes

    try:
        tally = from_bytes(case.content)
    except AssayError:
        return REFUSED
    again = from_bytes(tally.to_bytes())
    if again.to_bytes() != tally.to_bytes():
        raise SilentLoss("a tally is another one when it was written and read again")
    with contextlib.suppress(AssayError):
        _ = tally + again
    return USED


# -- commands over files ---------------------------------------------------------------------------

_COMMANDS = (
    "evaluate {} --slice site --on-bad-row skip",
    "evaluate {} --cluster site --time time",
    "threshold {} --max-fpr 5% --resamples 20",
    "compare {} --label label --model a=score --model b=id --resamples 20",
    "gate {} --label label --score score --rule new(recall)>=0.1",
    "monitor {} --time time --rule precision>=0.01",
    "incidents {} --time time --incident site --score score",
    "check {} --label label",
    "sample {} --score score --labels 20 --out {}.drawn",
    "train tree {} --label label --out {}.run",
)


def _line(draw: Random) -> Case:
    content = _made()["rows"]
    for _ in range(draw.choice((1, 1, 2, 4))):
        content = hurt(draw, content)
    return Case(content, "rows.csv", f"{draw.choice(_COMMANDS)} --format {draw.choice(_FORMATS)}")


def _judge(case: Case, folder: Path) -> str:
    path = folder / case.name
    path.write_bytes(case.content)
    line = case.how if "--out" not in case.how else case.how.partition(" --format")[0]
    arguments = [word.replace("{}", str(path)) for word in line.split()]
    outcome = _tried(*arguments)
    if arguments[0] == "evaluate" and outcome == USED:
        _, out, _ = _command(*arguments[: arguments.index("--format")], "--format", "json")
        source = json.loads(out)["source"]
        if source["rows_read"] != source["rows_used"] + source["rows_refused"]:
            raise SilentLoss(str({k: v for k, v in source.items() if k.startswith("rows_")}))
    return outcome


# -- the web app -----------------------------------------------------------------------------------


@functools.cache
def _web() -> tuple[Any, list[str]]:
    import assay

    sys.path.insert(0, str(ROOT))
    from tests.web.harness import Harness

    folder = tempfile.mkdtemp(prefix="fuzz-web-")
    store = assay.Store(Path(folder) / "runs.db")
    kept = [store.record(json.dumps(one), name="flows").id for one in _made()["documents"]]
    return Harness(store), kept


_PAGES = ("/", "/runs.json", "/trend", "/trend.json", "/compare", "/compare.json", "/measures",
          "/history", "/runs/{}", "/runs/{}.json", "/runs/{}.csv", "/measures/{}.json", "/metrics",
          "/judge/{}", "/jobs/{}.json", "/results/{}", "/compare/flips.csv", "/threshold/{}",
          "/about", "/sign-in", "/assets/{}", "/{}")  # fmt: skip
_FIELDS = ("name", "kind", "tag", "gate", "search", "before", "measure", "a", "b", "runs", "limit",
           "link", "token", "old", "new", "label", "days", "from", "to", "by")  # fmt: skip
_POSTS = ("/runs.json?name=x", "/runs/{}/tag", "/runs/{}/rename", "/runs/{}/delete",
          "/judge/files?name=x.csv", "/judge/{}", "/sign-in", "/results/{}/keep", "/audit",
          "/runs/{}/threshold", "/runs/{}/note", "/sign-out")  # fmt: skip


def _request(draw: Random) -> Case:
    def word() -> str:
        choice = draw.random()
        if choice < 0.4:
            return str(draw.choice((0, "flows", "recall", "precision", "evaluation", "a", "RUN")))
        return b"".join(draw.choices(PIECES, k=draw.randrange(1, 4))).decode("utf-8", "replace")

    def text() -> str:
        return quote(word()[:600])

    query = "&".join(f"{draw.choice(_FIELDS)}={text()}" for _ in range(draw.randrange(3)))
    if draw.random() < 0.6:
        path = draw.choice(_PAGES).replace("{}", draw.choice(("RUN", text())))
        return Case(f"{path}?{query}".encode(), "GET")
    path = draw.choice(_POSTS).replace("{}", draw.choice(("RUN", text())))
    kind = draw.choice(("document", "form", "blob"))
    if kind == "document":
        body = json_bytes(draw, twisted(draw, draw.choice(_made()["documents"])))
    elif kind == "form":
        body = hurt(draw, query.encode() + b"&do=evaluate&claims=&tag=x&name=y")
    else:
        body = hurt(draw, draw.choice((tables.delimited(draw), b"", b"{}", b"[[claim]]\n")))
    return Case(body, "POST", path)


def _ask(case: Case, folder: Path) -> str:  # noqa: ARG001
    harness, kept = _web()
    target = (case.how or case.content.decode()).replace("RUN", kept[len(case.content) % len(kept)])
    body = case.content if case.name == "POST" else b""
    answer = harness.ask(case.name, target, body)
    if answer.status >= 500:
        raise Broken(f"{case.name} {target[:200]} answers {answer.status}: {answer.text[:500]}")
    return USED if answer.status < 400 else REFUSED


SUBJECTS = (
    Subject("documents", 60, _document, _show),
    Subject("runs", 20, _runs, _keep),
    Subject("models", 40, _model, _predict),
    Subject("tallies", 60, _tally, _count),
    Subject("commands", 20, _line, _judge),
    Subject("web", 40, _request, _ask),
)
