"""Servers that tests start for themselves, and stop again."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

USER = "postgres"


def _programs() -> Path | None:
    """The folder of PostgreSQL's programs, which Debian keeps out of the way."""
    known = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    places = [*reversed(folders), *([Path(known).parent] if known else [])]
    return next((place for place in places if (place / "initdb").exists()), None)


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """A PostgreSQL of its own in a folder of its own; gives the folder of its socket.

    It never runs as root, which PostgreSQL refuses, and listens on no port.
    """
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    as_user: dict[str, object] = {}
    folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    if os.geteuid() == 0:
        try:
            owner = pwd.getpwnam(USER)
        except KeyError:
            pytest.skip(f"PostgreSQL does not run as root, and there is no user {USER}")
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
        run(programs / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        run(programs / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start")
        try:
            yield str(folder)
        finally:
            run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
