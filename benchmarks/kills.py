"""Kill commands with SIGKILL at any moment, a thousand times: `make kills`.

After each kill every file is the old one or the new one, never half of it; the store holds together
and can be read; and when the same command has run again to its end, nothing lies about that it did
not write.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ASSAY = (sys.executable, "-m", "assay")
STORE = "runs.db"
# The same document for the same rows, so that a new file can be told by its bytes.
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1750000000", "NO_COLOR": "1"}
LITTER = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Scenario:
    """A command that is killed, and the files that it replaces."""

    name: str
    arguments: tuple[str, ...]
    replaces: tuple[str, ...] = ()
    serves: bool = False


def _scenario(name: str, arguments: str, replaces: str = "") -> Scenario:
    return Scenario(name, tuple(shlex.split(arguments)), tuple(replaces.split()))


SCENARIOS = (
    _scenario("evaluate", "evaluate new.csv --out report.json", "report.json"),
    _scenario("page", "evaluate new.csv --out report.html", "report.html"),
    _scenario("record", f"evaluate new.csv --record a --store {STORE}"),
    _scenario(
        "gate",
        "gate new.csv --baseline old.csv --score score --id id --rule 'new(recall) >= 0.1' "
        "--junit gate.xml --out gate.json",
        "gate.xml gate.json",
    ),
    _scenario(
        "monitor",
        "monitor new.csv --time time --rule 'precision >= 0.01' --state state --recount "
        "--metrics assay.prom --out monitor.json",
        "state assay.prom monitor.json",
    ),
    _scenario("train", "train tree table.csv --label label --drop time --out run", "run"),
    Scenario("serve", ("serve", "--store", STORE, "--port", "0"), serves=True),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the name of one scenario")
    asked = parser.parse_args()
    chosen = [one for one in SCENARIOS if asked.only in (None, one.name)]
    draw = random.Random(asked.seed)
    ended: Counter[tuple[str, str]] = Counter()
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _make_inputs(work)
        trials = {one.name: _Trial(one, work / one.name) for one in chosen}
        for number in range(asked.kills):
            trial = trials[chosen[number % len(chosen)].name]
            moment, problems = trial.kill(draw)
            ended[trial.scenario.name, moment] += 1
            for problem in problems:
                broken.append(problem)
                print(f"BROKEN after kill {number + 1} of {trial.scenario.name}: {problem}")
            if (number + 1) % 50 == 0:
                print(f"{number + 1} kills, {len(broken)} problems", flush=True)
    for (name, moment), count in sorted(ended.items()):
        print(f"{name:10} {moment:20} {count}")
    print(f"{asked.kills} kills, {len(broken)} problems")
    return int(bool(broken))


class _Trial:
    """A scenario in a folder of its own."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self.folder = scenario, folder
        shutil.copytree(folder.parent / "inputs", folder)
        began = time.monotonic()
        self._finish()
        self._seconds = time.monotonic() - began
        self._whole = self._files()
        self._inputs = {path.name for path in (folder.parent / "inputs").iterdir()}

    def kill(self, draw: random.Random) -> tuple[str, list[str]]:
        """Kill it once; whether it had ended before, and what is wrong since."""
        old = self._age(draw)
        process = self._start()
        time.sleep(draw.uniform(0, 1.05 * self._seconds))
        early = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        problems = [*self._half(old), *self._store()]
        self._finish()
        problems += self._litter()
        return "while it ran" if early else "after its end", problems

    def _age(self, draw: random.Random) -> dict[str, bytes]:
        """Leave what an earlier run would have left: other bytes, or nothing."""
        old: dict[str, bytes] = {}
        for name in self.scenario.replaces:
            path = self.folder / name
            if path.is_dir():
                shutil.rmtree(path)
            elif name == "state":
                old[name] = path.read_bytes()
            elif draw.random() < 0.5:
                old[name] = b"what was here before\n" * 1000
                path.write_bytes(old[name])
            else:
                path.unlink(missing_ok=True)
        return old

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*ASSAY, *self.scenario.arguments],
            cwd=self.folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if self.scenario.serves else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if self.scenario.serves else subprocess.DEVNULL,
        )

    def _finish(self) -> None:
        """Run it to its end; a server until it answers."""
        if self.scenario.serves:
            _answered(self._start())
            return
        done = subprocess.run(
            [*ASSAY, *self.scenario.arguments],
            cwd=self.folder,
            env=ENVIRONMENT,
            capture_output=True,
            check=False,
        )
        if done.returncode not in (0, 1):  # a rule may fail
            raise SystemExit(f"{self.scenario.name} ends with {done.returncode}: {done.stderr!r}")

    def _files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }

    def _half(self, old: dict[str, bytes]) -> Iterator[str]:
        """Files that are neither the old nor the new one."""
        for name in self.scenario.replaces:
            for file, content in self._files().items():
                ours = file == name or file.startswith(f"{name}/")
                same = content in (old.get(file), self._whole.get(file))
                if ours and not same and not _is_whole(file, content):
                    yield f"{file} is neither old nor new"
            folder = self.folder / name
            whole = {file for file in self._whole if file.startswith(f"{name}/")}
            if folder.is_dir() and {f"{name}/{path.name}" for path in folder.iterdir()} != whole:
                yield f"{name} holds a part of its files"

    def _store(self) -> Iterator[str]:
        path = self.folder / STORE
        if path.exists():
            with sqlite3.connect(path) as connection:
                (state,) = connection.execute("pragma integrity_check").fetchone()
            if state != "ok":
                yield f"the store is damaged: {state}"
            listed = subprocess.run(
                [*ASSAY, "runs", "list", "--store", STORE, "--format", "json"],
                cwd=self.folder,
                env=ENVIRONMENT,
                capture_output=True,
                check=False,
            )
            if listed.returncode:
                yield f"runs can't be listed: {listed.stderr!r}"

    def _litter(self) -> Iterator[str]:
        known = self._inputs | set(self.scenario.replaces) | {STORE}
        known |= {f"{STORE}{suffix}" for suffix in LITTER}
        for path in sorted(self.folder.iterdir()):
            if path.name not in known:
                yield f"{path.name} is left over"


def _answered(process: subprocess.Popen[bytes]) -> None:
    """Wait until a server has said where it listens and answers there, then end it."""
    assert process.stdout is not None
    text = b""
    try:
        for line in process.stdout:
            text += line
            address = next((word for word in line.decode().split() if word.startswith("http")), "")
            if address:
                base = "/".join(address.split("/")[:3])
                if _status(f"{base}/health") < 500:
                    return
        raise SystemExit(f"the server did not start: {text!r}")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def _is_whole(name: str, content: bytes) -> bool:
    """Whether a file that need not be the same each time is all there.

    The record of a training tells its seconds, and a JUnit file first says that the gate has not
    ended.
    """
    try:
        if name.endswith(".json"):
            json.loads(content)
            return True
        if name.endswith(".xml"):
            ET.fromstring(content)
            return True
    except (ValueError, ET.ParseError):
        pass
    return False


def _status(url: str) -> int:
    """The status of an answer; who is not signed in gets one, too."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def _make_inputs(work: Path) -> None:
    """Small inputs: predictions of two models with their days, and a table to learn from."""
    folder = work / "inputs"
    folder.mkdir()
    draw = random.Random(5)
    for name in ("old.csv", "new.csv"):
        with (folder / name).open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "time", "label", "score"])
            for number in range(2000):
                attack = number % 10 == 0
                score = min(max(draw.gauss(0.7 if attack else 0.3, 0.15), 0), 1)
                day = f"2026-03-{1 + number // 100:02}T10:00:00Z"
                rows.writerow([number, day, "attack" if attack else "benign", f"{score:.4f}"])
    command = [*ASSAY, "data", "ddos", "--rows", "2000", "--out", "table.csv"]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
