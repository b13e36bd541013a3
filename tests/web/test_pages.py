"""Every page, its JSON twin and its downloads; what is typed, sent and kept."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from urllib.parse import urlencode

import jsonschema
import pytest

import assay
from assay.report import Document
from assay.report.document import schema_of
from assay.web.app import ROUTES
from assay.web.guards import RequestLimits
from assay.web.pages import PLACES, script_size
from assay.web.site import Job, new_id

from .harness import Harness, printed

CLAIMS = """[[claim]]
name = "forest"
confusion = { tn = 7743, fp = 167, fn = 324, tp = 6635 }
reported = { accuracy = "96.70%", precision = "95.98%" }
"""
ROWS = "label,score\n" + "".join(
    f"{'attack' if i % 3 == 0 else 'normal'},{i % 7 / 7}\n" for i in range(90)
)


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path, _ in PLACES])
def test_every_place_of_the_navigation_is_there(kept: Harness, path: str) -> None:
    answer = kept.get(path)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text.count('aria-current="page"') >= 1


@pytest.mark.parametrize("path", [path for path, _ in PLACES])
def test_no_page_has_anything_inline_or_from_elsewhere(kept: Harness, path: str) -> None:
    text = kept.get(path).text
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|https?://", text)
    assert not re.search(r"<script(?! src=\"/assets/)", text)


def test_an_empty_store_says_what_to_type(tmp_path: Path) -> None:
    with assay.Store(tmp_path / "none.db") as store, Harness(store) as app:
        assert "assay evaluate predictions.csv --record" in app.get("/").text
        for command in ("gate", "monitor", "incidents"):
            assert f"assay {command} " in app.get(f"/{command}").text
            assert app.get(f"/{command}.json").json()["runs"] == []
        assert "--keep-rows" in app.get("/compare").text
        assert app.get("/runs.json").json()["runs"] == []


def test_names_that_are_scripts_are_text(kept: Harness) -> None:
    for path in ("/", "/?search=script", "/trend?name=%3Cscript%3E"):
        assert "<script>alert" not in kept.get(path).text
    assert "&lt;script&gt;alert" in kept.get("/").text


def test_a_run_is_its_report_and_the_same_bytes_as_were_recorded(
    kept: Harness, store: assay.Store
) -> None:
    run = store.runs(name="flows").runs[0]
    assert "Operating point" in kept.get(f"/runs/{run.id}").text
    assert kept.get(f"/runs/{run.id}.json").text == run.document
    assert kept.get(f"/runs/{run.id}.md").text.startswith("#")
    assert "\\begin{" in kept.get(f"/runs/{run.id}.tex").text
    assert kept.get(f"/runs/{run.id}.csv").headers["content-disposition"].startswith("attachment")
    assert kept.get(f"/runs/{run.id}.html").headers["content-disposition"].startswith("attachment")


def test_lists_are_filtered_and_paged(store: assay.Store) -> None:
    with Harness(store, limits=RequestLimits(rows=2)) as app:
        first = app.get("/")
        older = re.search(r'href="/\?(before=\w+)"', first.text)
        assert older is not None
        assert app.get(f"/?{older[1]}").text.count('type="checkbox"') == 2
        assert "No run matches" in app.get("/?search=nowhere").text
        assert app.get("/?before=ffffffffffff").status == 404
        second = app.get(f"/runs.json?{older[1]}").json()["runs"]
        assert len(second) == 2
        assert [run["id"] for run in second] != [
            r["id"] for r in app.get("/runs.json").json()["runs"]
        ]
        assert f"/runs.json?{older[1]}" in app.get(f"/?{older[1]}").text
        assert len(app.get("/runs.json?name=flows").json()["runs"]) == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("/runs.json?limit=abc", "'limit' is unknown here: what can be asked is name, kind, tag"),
        ("/?limit=-1", "'limit' is unknown here"),
        ("/runs.csv?limit=", "'limit' is unknown here"),
        ("/runs.json?kind=models", "kind is 'models'; expected evaluation or"),
        ("/?gate=passed", "gate is 'passed'; expected pass or fail or undecided"),
        ("/gate.json?gate=1", "gate is '1'; expected pass or fail"),
        ("/gate.json?name=flows", "'name' is unknown here: what can be asked is gate, before"),
        ("/monitor?gate=pass", "'gate' is unknown here"),
        ("/runs.json?name=a&name=b", "name is given more than once"),
        (f"/runs.json?search={'a' * 1001}", "search has 1,001 characters"),
        ("/runs.json?name=a%00", "name has 2 characters, or one that is no text"),
        ("/compare.json?order=name", "order is 'name'; expected time"),
        ("/trend.json?name=flows&measures=f1", "'measures' is unknown here"),
        ("/measures.json?group=rates", "'group' is unknown here: nothing can be asked"),
        ("/about?x", "'x' is unknown here"),
        ("/health?verbose=1", "'verbose' is unknown here"),
        ("/threshold/abc.json?max-fprr=0.1", "'max-fprr' is unknown here"),
    ],
)
def test_what_a_page_can_not_be_asked_is_refused(kept: Harness, asked: str, message: str) -> None:
    answer = kept.get(asked, accept="application/json")
    assert answer.status == 400
    assert message in answer.json()["error"]["message"]


def test_what_a_form_leaves_open_is_not_asked(kept: Harness) -> None:
    assert kept.get("/?name=&kind=&tag=&gate=&search=").status == 200


def test_an_address_that_is_too_long_is_refused(kept: Harness) -> None:
    for path in (f"/{'a' * 9000}", f"/runs.json?name={'a' * 9000}"):
        answer = kept.get(path, accept="application/json")
        assert answer.status == 414
        assert "characters; at most 8,000 are read" in answer.json()["error"]["message"]


def test_a_path_of_control_characters_is_told_as_escapes(kept: Harness) -> None:
    assert r"GET /\x00" in kept.get("/\0").text


def test_scripts_are_small() -> None:
    assert 20_000 < script_size() < 100_000


def test_the_description_for_programs_has_every_json_route(kept: Harness) -> None:
    described = kept.get("/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    routes = {route.path for route in ROUTES if route.path.endswith(".json")}
    assert described["paths"].keys() >= routes | {"/judge/files", "/judge/{upload}", "/metrics"}
    known = described["components"]["schemas"]
    for path, operations in described["paths"].items():
        for operation in operations.values():
            told = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert told == set(re.findall(r"\{(\w+)\}", path))
            for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(operation)):
                assert name in known


def test_answers_are_what_the_description_says(kept: Harness, store: assay.Store) -> None:
    paths = kept.get("/openapi.json").json()["paths"]
    one, two = (run.id for run in store.runs(name="flows", limit=2).runs)
    asked = {
        "/trend.json": "?name=flows",
        "/compare.json": f"?run={one}&run={two}",
        "/measures/{name}.json": "",
    }
    refs = 0
    for path, operations in paths.items():
        answers = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        schema = answers.get("application/json", {}).get("schema", {})
        names = re.findall(r"schemas/([\w.]+)\.1\"", json.dumps(schema))
        if names and "{upload}" not in path:
            document = kept.get(path.replace("{name}", "mcc") + asked.get(path, "")).json()
            name = document["schema"]
            assert name.removesuffix("/1") in names, path
            jsonschema.validate(document, schema_of(name))
            refs += 1
    assert refs >= 8


def test_metrics_are_what_prometheus_reads(kept: Harness) -> None:
    text = kept.get("/metrics").text
    assert re.search(r"^assay_requests 1$", text, re.MULTILINE)
    assert all(re.fullmatch(r"(# .*|[a-z_]+ [\d.e+]+)", line) for line in text.splitlines())


# -- the same bytes as the command line ------------------------------------------------------------


def test_measures_are_those_of_the_command_line(kept: Harness, tmp_path: Path) -> None:
    assert kept.get("/measures/mcc.json").text == printed(
        tmp_path, "measures", "mcc", "--format=json"
    )


def test_an_audit_and_a_judgement_are_those_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    (tmp_path / "claims.toml").write_text(CLAIMS)
    (tmp_path / "rows.csv").write_text(ROWS)
    with Harness() as app:
        audited = app.post("/audit.json", CLAIMS.encode())
        assert audited.text == printed(tmp_path, "audit", "claims.toml", "--format=json")
        assert [n["verdict"] for n in audited.json()["claims"][0]["numbers"]] == [
            "consistent",
            "inconsistent",
        ]
        result = judged(app, ROWS, b"base-rate=0.1%25&do=evaluate")
        args = ("evaluate", "rows.csv", "--base-rate=0.1%", "--format=json")
        assert app.get(f"{result}.json").text == printed(tmp_path, *args)
        assert "Operating point" in app.get(result).text


# -- sending ---------------------------------------------------------------------------------------


def sent(app: Harness, rows: str, name: str = "rows.csv") -> str:
    answer = app.post(f"/judge/files?name={name}", rows.encode())
    assert answer.status == 201
    return str(answer.json()["id"])


def judged(app: Harness, rows: str, form: bytes) -> str:
    upload = sent(app, rows)
    job = app.post(f"/judge/{upload}", form, accept="application/json").json()["job"]
    for _ in range(2000):
        told = app.get(job).json()
        if told["state"] != "running":
            assert told["error"] is None, told
            return str(told["result"])
        app.runner.run(_moment())
    raise AssertionError("the judgement does not end")


async def _moment() -> None:
    await asyncio.sleep(0.02)


def test_a_file_is_shown_judged_and_kept(tmp_path: Path) -> None:
    with assay.Store(tmp_path / "runs.db") as store, Harness(store) as app:
        upload = sent(app, ROWS, "..%2F..%2Fetc%2Frows.csv")
        preview = app.get(f"/judge/{upload}.json").json()
        assert preview["roles"] == {"label": "label", "score": "score"}
        assert app.site.uploads[upload].path.parent.parent == app.site.folder
        assert app.get(f"/judge/{upload}").text.count("<tr>") == 11
        result = judged(app, ROWS, b"do=evaluate")
        assert app.post(f"{result}/keep", b"name=").status == 422
        where = app.post(f"{result}/keep", b"name=mine").headers["location"]
        assert store.runs().runs[0].id == where.rpartition("/")[2]
        assert Document.from_json(store.runs().runs[0].document).kind == "evaluation"
        assert "mine" in app.get("/").text
        assert app.post(f"{where}/tags", b"tags=a+b").status == 303
        assert app.post(f"{where}/note", b"note=good").status == 303
        run = store.runs().runs[0]
        assert (run.tags, run.note) == (("a", "b"), "good")
        assert app.post(f"{where}/delete").status == 303
        assert store.runs().runs == ()


def test_the_columns_of_a_file_are_counted_in_words(app: Harness) -> None:
    for rows, columns in (("a\n1\n", "1 column."), ("a,b\n1,2\n", "2 columns.")):
        assert f", {columns} Columns are" in app.get(f"/judge/{sent(app, rows)}").text


def test_a_job_that_fails_says_why_and_one_is_cancelled(app: Harness) -> None:
    upload = sent(app, "a,b\n1,2\n")
    where = app.post(f"/judge/{upload}", b"do=evaluate").headers["location"]
    while app.get(f"{where}.json").json()["state"] == "running":
        app.runner.run(_moment())
    answer = app.get(where)
    assert answer.status == 422
    assert "no column is known to hold the labels" in answer.text
    where = app.post(f"/judge/{upload}", b"do=evaluate").headers["location"]
    assert app.post(f"{where}/cancel").status == 303
    assert app.get(f"{where}.json").json()["state"] == "failed"
    assert app.post(f"/judge/{upload}", b"do=predict").status == 422
    assert app.post("/judge/files", b"").status == 422


def test_a_job_that_breaks_here_says_so_and_does_not_wait_for_ever(
    app: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(job: Job) -> str:
        raise RuntimeError("the secret of the house")

    async def begin() -> Job:
        job = Job(new_id(), "rows.csv", back="/judge")
        app.site.start(job, broken)
        await asyncio.sleep(0)
        return job

    job = app.runner.run(begin())
    app.runner.run(_moment())
    told = app.get(f"/jobs/{job.id}.json").json()
    assert told["state"] == "failed"
    assert "secret" not in told["error"]
    assert app.get(f"/jobs/{job.id}").status == 500
    assert "the secret of the house" in caplog.text


def test_constraints_that_can_not_be_read_leave_the_form_as_it_was_typed(app: Harness) -> None:
    upload = sent(app, "was,rank\n" + ROWS.partition("\n")[2], "ranks.csv")
    unnamed = app.get(f"/threshold/{upload}?max-far=20%25")
    assert unnamed.status == 422
    assert "no column is known to hold the" in unnamed.text
    assert 'name="max-far" value="20%"' in unnamed.text
    assert "--help" not in unnamed.text
    named = app.get(f"/threshold/{upload}?max-far=90%25&label=was&score=rank")
    assert named.status == 200
    assert "<option selected>rank</option>" in named.text
    alone = app.get(f"/threshold/{upload}?cost-fp=1&label=was&score=rank")
    assert (alone.status, "--cost-fp and --cost-fn go together" in alone.text) == (422, True)
    assert app.get(f"/threshold/{upload}.json?cost-fp=1").json()["error"]["code"] == "W422"


def test_fields_of_a_judgement_that_are_unknown_are_refused(app: Harness) -> None:
    answer = app.post(
        f"/judge/{sent(app, ROWS)}", b"do=evaluate&lable=y", accept="application/json"
    )
    assert answer.status == 422
    assert "'lable' is nothing that can be said of a file here" in answer.text


def test_values_of_a_form_are_never_options(app: Harness) -> None:
    upload = sent(app, ROWS)
    for field in ("label", "positive", "threshold", "base-rate"):
        form = f"do=evaluate&{field}=--out%3D/tmp/written".encode()
        where = app.post(f"/judge/{upload}", form).headers["location"]
        while app.get(f"{where}.json").json()["state"] == "running":
            app.runner.run(_moment())
        assert app.get(where).status == 422, field
    assert app.post(f"/judge/{upload}", b"do=evaluate&label=" + b"x" * 2000).status == 422


def test_old_files_go_when_there_are_too_many() -> None:
    with Harness(limits=RequestLimits(kept=2)) as app:
        uploads = [sent(app, ROWS) for _ in range(3)]
        assert app.get(f"/judge/{uploads[0]}").status == 404
        assert app.get("/judge").text.count("rows.csv") == 2
        assert len(list(app.site.folder.iterdir())) == 2
        folder = app.site.folder
    assert not folder.exists()
    with Harness(limits=RequestLimits(disk=2 * len(ROWS))) as app:
        uploads = [sent(app, ROWS) for _ in range(3)]
        assert list(app.site.uploads) == uploads[1:]


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_files_are_only_for_whoever_runs_the_app() -> None:
    with Harness() as app:
        upload = sent(app, ROWS)
        assert app.site.folder.stat().st_mode & 0o777 == 0o700
        assert app.site.uploads[upload].folder.stat().st_mode & 0o777 == 0o700


def test_read_only_keeps_changes_and_deletes_nothing(store: assay.Store) -> None:
    run = store.runs().runs[0]
    with Harness(store, read_only=True) as app:
        for path in ("tags", "note", "delete"):
            assert app.post(f"/runs/{run.id}/{path}").status == 423
        assert app.post("/runs.json?name=x", run.document.encode()).status == 423
        upload = sent(app, ROWS)
        assert app.post(f"/judge/{upload}", b"do=evaluate&record=x").status == 423
        assert "read-only" in app.get("/").text
        assert "Delete" not in app.get(f"/runs/{run.id}").text
    assert store.run(run.id) == run


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", [b"", b"{", b"not = [toml", b"[]", b"\xff\xfe", b'{"claim": 1}'])
def test_claims_that_are_none_are_refused(app: Harness, body: bytes) -> None:
    typed = app.post("/audit/typed.json", body)
    assert (typed.status, typed.json()["error"]["code"]) == (200, "W422")
    answer = app.post("/audit.json", body)
    assert answer.status == 422
    assert answer.json()["error"]["code"] == "W422"


def test_claims_in_a_form_become_a_report(app: Harness) -> None:
    where = app.post("/audit", urlencode({"claims": CLAIMS}).encode()).headers["location"]
    assert "96.70%" in app.get(where).text
    assert app.get(f"{where}.json").json()["schema"] == "assay.audit/1"
    assert app.post("/audit", b"claims=").status == 422
    assert app.post("/audit", b"a=1&" * 200).status == 422
    assert app.post("/audit.md", CLAIMS.encode()).text.startswith("#")
    assert "\\begin{" in app.post("/audit.tex", CLAIMS.encode()).text


def test_about_is_told_in_every_form(kept: Harness, store: assay.Store) -> None:
    told = kept.get("/about.json").json()
    assert (told["names"], told["runs"]) == (len(store.names()), len(store.runs().runs))
    assert told["limits"]["upload"] == kept.limits.upload
    assert f"{kept.limits.upload:,} bytes each" in kept.get("/about").text
    assert f"{kept.limits.upload:,} bytes each" in kept.get("/about.md").text
    assert "\\begin{" in kept.get("/about.tex").text


def test_json_is_what_the_contract_says(kept: Harness) -> None:
    document = json.loads(kept.get("/runs.json").body)
    assert document["schema"] == "assay.runs/1"
    assert {"id", "name", "kind", "made", "headline", "gate", "tags"} <= document["runs"][0].keys()


def test_a_table_that_is_pasted_is_audited(app: Harness) -> None:
    table = "| Model | Precision | Recall | F1 |\n|---|---|---|---|\n| SVM | 0.92 | 0.90 | 0.95 |\n"
    answer = app.post("/audit.json", table.encode()).json()
    assert answer["notes"][0] == "pasted.txt was read as Markdown"
    assert {number["verdict"] for number in answer["claims"][0]["numbers"]} == {"conflict"}
    where = app.post("/audit", urlencode({"claims": table}).encode()).headers["location"]
    assert "harmonic mean" in app.get(where).text
