"""``assay serve`` as a process: where it listens, what it prints, how it ends, what it can bear."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.web import Client
from assay.web.app import WebAddress
from assay.web.guards import Access, RequestLimits

from .harness import Harness

TOKEN = "a-token-of-the-team-0123456789"
LINK = re.compile(r"Open (http://[^/]+:(\d+))(/sign-in\?link=\S+)")
ROWS = "label,score\n" + "".join(
    f"{'attack' if i % 3 else 'normal'},{i % 7 / 7}\n" for i in range(90)
)


@dataclass
class Server:
    process: subprocess.Popen[str]
    url: str
    port: int
    link: str

    def ask(self, path: str, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    @property
    def memory(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        match = re.search(r"VmRSS:\s+(\d+)", status)
        assert match is not None
        return int(match[1]) * 1024


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    command = [sys.executable, "-P", "-m", "assay", "serve", "--port", "0", *options]
    env = {**os.environ, "ASSAY_TOKEN": TOKEN, "TMPDIR": str(folder)}
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stderr is not None
    try:
        line = next(line for line in process.stderr if line.startswith(("Open", "assay: error")))
        link = LINK.match(line)
        assert link is not None, line
        yield Server(process, link[1], int(link[2]), link[3])
    finally:
        process.terminate()
        process.communicate(timeout=30)


def refused(folder: Path, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "assay", "serve", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "ASSAY_TOKEN"},
    )
    return done.returncode, done.stderr


def test_the_app_starts_answers_programs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    with serving(tmp_path) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.ask("/")[0] == 401
        assert server.ask(server.link)[0] == 303
        assert server.ask(server.link)[0] == 401
        client = Client(server.url, TOKEN)
        assert client.runs() == []
        document = client.evaluate(tmp_path / "rows.csv", base_rate="0.1%")
        assert document.kind == "evaluation"
        run = client.record(document, name="mine", tags=["first"])
        assert client.runs(name="mine")[0]["tags"] == ["first"]
        assert client.document(run).to_json() == document.to_json()
        claims = {"claim": [{"name": "x", "confusion": {"tn": 5, "fp": 1, "fn": 2, "tp": 4}}]}
        claims["claim"][0]["reported"] = {"accuracy": "0.75"}
        assert client.audit(claims).result.consistent
        with pytest.raises(InputError, match="has no column 'nowhere'"):
            client.evaluate(tmp_path / "rows.csv", label="nowhere")
        with pytest.raises(InputError, match="W401"):
            Client(server.url, "not the token, surely").runs()
        assert any(path.name.startswith("assay-serve-") for path in tmp_path.iterdir())
    assert not any(path.name.startswith("assay-serve-") for path in tmp_path.iterdir())
    with assay.Store(tmp_path / "assay.db") as store:
        assert [each.name for each in store.names()] == ["mine"]


def test_a_client_gives_the_runs_of_every_page(
    store: assay.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Harness(store, limits=RequestLimits(rows=2)) as app:
        monkeypatch.setattr(
            Client, "_ask", lambda _, method, path, *rest: app.ask(method, path).body
        )
        runs = [run["id"] for run in Client("http://127.0.0.1", "token").runs(name="flows")]
    assert len(runs) == len(set(runs)) == len(store.runs(name="flows", limit=100).runs) > 2


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.process.send_signal(signal.SIGINT)
        _, said = server.process.communicate(timeout=30)
        assert "Traceback" not in said


@pytest.mark.slow
def test_what_others_could_reach_needs_a_token_and_a_name(tmp_path: Path) -> None:
    code, said = refused(tmp_path, "--host", "0.0.0.0", "--port", "0")
    assert (code, "there is no token" in said, "--token-file" in said) == (3, True, True)
    with pytest.raises(InputError, match="public_url="):
        WebAddress("0.0.0.0", 0).check(token=TOKEN)
    with pytest.raises(InputError, match="no token"):
        WebAddress("192.0.2.7", 0).check(token=None)
    with pytest.raises(InputError, match="at least 16"):
        Access(port=1, token="secret")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused(tmp_path, "--port", str(taken.getsockname()[1]))
        assert (code, "--port" in said) == (3, True)


@pytest.mark.parametrize(
    "url", ["assay.example.org", "ftp://a", "https://a/b", "https://u@a", "https://a?b", "https://"]
)
def test_a_public_url_is_a_scheme_and_a_host(url: str) -> None:
    with pytest.raises(InputError, match="public URL"):
        WebAddress(public_url=url).check(token=TOKEN)


def test_behind_a_proxy_only_the_public_name_is_known() -> None:
    origins = WebAddress(public_url="https://assay.example.org").origins()
    assert origins.knows_host("assay.example.org")
    assert origins.knows("https://assay.example.org")
    assert not origins.knows_host("127.0.0.1:8710")
    assert not origins.knows("http://assay.example.org")
    assert Access(port=1, secure=True).set_cookie("x").endswith("; Secure")


def test_importing_assay_opens_neither_a_database_nor_a_server() -> None:
    look = (
        "import assay, sys; print(sorted({'sqlite3', 'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# -- what it can bear ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_file_of_a_gigabyte_takes_little_memory(tmp_path: Path) -> None:
    row = b"normal,0.125000\n" * 65536
    with serving(tmp_path) as server:
        server.ask("/health", Authorization=f"Bearer {TOKEN}")
        before = most = server.memory
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
        connection.putrequest("POST", "/judge/files?name=large.csv")
        connection.putheader("Authorization", f"Bearer {TOKEN}")
        connection.putheader("Content-Length", str(1000 * len(row)))
        connection.endheaders()
        for i in range(1000):
            connection.send(row)
            if i % 20 == 0:
                most = max(most, server.memory)
        answer = connection.getresponse()
        assert answer.status == 201
        answer.read()
        connection.close()
        assert most - before < 100_000_000


@pytest.mark.slow
def test_two_hundred_requests_at_once_are_all_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        answers: list[int] = []

        def ask() -> None:
            answers.extend(server.ask("/", Authorization=f"Bearer {TOKEN}")[0] for _ in range(5))

        threads = [threading.Thread(target=ask) for _ in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [200] * 1000


@pytest.mark.slow
def test_a_page_of_runs_is_quick(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    with serving(tmp_path) as server:
        client = Client(server.url, TOKEN)
        text = client.evaluate(tmp_path / "rows.csv").to_json()
        with assay.Store(tmp_path / "assay.db") as store:
            for i in range(200):
                store.record(text, name=f"detector {i % 9}")
        times = []
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(100):
            start = time.perf_counter()
            connection.request("GET", "/", headers={"Authorization": f"Bearer {TOKEN}"})
            connection.getresponse().read()
            times.append(time.perf_counter() - start)
        connection.close()
        # 3 ms on a quiet machine; one that sends small answers late needs 40.
        assert statistics.median(times) < 0.03
