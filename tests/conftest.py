"""What all tests share: how much of them is run, and what child processes inherit."""

import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from hypothesis import settings

# Of the examples that a test asks for, `make test` tries some; `make slow` as many, and others.
settings.register_profile("test", derandomize=True, deadline=None, database=None)
settings.register_profile("slow", deadline=None, database=None)
settings.load_profile("test")

# When documents were made, in this process and in its children.
os.environ["SOURCE_DATE_EPOCH"] = "1750000000"

# Signals that are ignored here, as nohup and background jobs have it, would be ignored by every
# child process too. A handler that does nothing is not inherited.
for name in ("SIGHUP", "SIGINT"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose among the cases of a test that is ``sampled``, and say how many examples are tried."""
    cases, searched = defaultdict(list), {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases[item.nodeid.partition("[")[0]].append(item)
        if hasattr(item.obj, "hypothesis"):
            searched[id(item.obj)] = item.obj
    for test, group in cases.items():
        (kept,) = group[0].get_closest_marker("sampled").args
        # The same choice in each run, whatever the order in which they run.
        group.sort(key=lambda item: item.nodeid)
        for item in Random(test).sample(group, max(0, len(group) - kept)):
            item.add_marker("slow")
    share = 0.07 if settings().derandomize else 1.0
    for test in searched.values():
        asked = test._hypothesis_internal_use_settings
        examples = max(round(asked.max_examples * share), min(asked.max_examples, 5))
        test._hypothesis_internal_use_settings = settings(asked, max_examples=examples)


# What is imported and collected stays: it is not searched for garbage, now or later.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from here on."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _signals_as_they_were() -> Iterator[None]:
    """Command lines that run in this process leave its signals alone, and so those of children."""
    with mock.patch.multiple("assay.v02.cli.interruption", watch=mock.DEFAULT, finish=mock.DEFAULT):
        yield


# -- a server --------------------------------------------------------------------------------------

OWNER = "postgres"


def _postgresql_programs() -> Path | None:
    """The folder of PostgreSQL's programs, which Debian keeps out of the way."""
    known = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    places = [*reversed(folders), *([Path(known).parent] if known else [])]
    return next((place for place in places if (place / "initdb").exists()), None)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A PostgreSQL of the tests' own in a folder of its own; gives the folder of its socket.

    It never runs as root, which PostgreSQL refuses, and listens on no port.
    """
    programs = _postgresql_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    as_user: dict[str, object] = {}
    folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    if os.geteuid() == 0:
        import pwd

        try:
            owner = pwd.getpwnam(OWNER)
        except KeyError:
            pytest.skip(f"PostgreSQL does not run as root, and there is no user {OWNER}")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        as_user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}

    def run(*command: object) -> None:
        subprocess.run(
            [str(part) for part in command],
            check=True,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **as_user,  # type: ignore[call-overload]
        )

    data = folder / "data"
    try:
        run(programs / "initdb", "-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        run(programs / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start")
        try:
            yield str(folder)
        finally:
            run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
