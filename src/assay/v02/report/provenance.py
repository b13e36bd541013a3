"""How a document came about: version, command, inputs by their hashes, rows, seed, commit, time."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from assay.v02.inference.fields import Recorded

_EPOCH = "SOURCE_DATE_EPOCH"
_DIGITS = frozenset("0123456789abcdef")


class Input(NamedTuple):
    """What was read; the hash and the size of servers, and of what changed meanwhile, are null."""

    name: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Provenance(Recorded):
    """What made a document, from what, and when.

    ``arguments`` are those of the command, by name. ``commit`` is that of the working directory,
    None where it is in no repository. ``made`` is in UTC, ``seconds`` how long it took;
    SOURCE_DATE_EPOCH fixes the one, and leaves out the other.
    """

    version: str
    command: str = ""
    inputs: tuple[Input, ...] = ()
    rows: int | None = None
    seed: int | None = None
    commit: str | None = None
    made: str | None = None
    platform: str | None = None
    arguments: Mapping[str, Any] | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(Input(*each) for each in self.inputs))

    @classmethod
    def here(
        cls,
        command: str = "",
        inputs: Sequence[Input] = (),
        *,
        seed: int | None = None,
        arguments: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> Provenance:
        """The provenance of a document that is made now, by this version, in this directory."""
        from assay.errors import __version__

        return cls(
            __version__,
            command,
            tuple(inputs),
            seed=seed,
            commit=commit_of(Path.cwd()),
            made=now(),
            platform=machine(),
            arguments=arguments,
            seconds=None if seconds is None or _EPOCH in os.environ else round(seconds, 3),
        )


def now() -> str:
    """The time in UTC, to the second; that of SOURCE_DATE_EPOCH where it is set."""
    given = os.environ.get(_EPOCH, "")
    moment = int(given) if given.isdecimal() else time.time()
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    except (OverflowError, ValueError, OSError):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def machine() -> str:
    """The operating system and the Python, without the name of the machine."""
    python = platform.python_version()
    return f"{sys.platform} {platform.machine()}, {platform.python_implementation()} {python}"


def commit_of(folder: Path) -> str | None:
    """The commit that is checked out in a folder or above it; None where there is none.

    Read from ``.git`` itself, so that no program is run: HEAD, a branch, or the packed branches.
    """
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.exists():
            try:
                return _head(git)
            except (OSError, ValueError):
                return None
    return None


def _head(git: Path) -> str | None:
    if git.is_file():  # of a worktree or a submodule: it names the real one
        git = git.parent / git.read_text("utf-8").partition("gitdir:")[2].strip()
    head = (git / "HEAD").read_text("utf-8").strip()
    name = head.partition("ref:")[2].strip()
    if not name:
        return _hash(head)
    common = git / "commondir"
    shared = git / common.read_text("utf-8").strip() if common.is_file() else git
    for place in (git, shared):
        if (place / name).is_file():
            return _hash((place / name).read_text("utf-8").strip())
    packed = shared / "packed-refs"
    lines = packed.read_text("utf-8").splitlines() if packed.is_file() else []
    return next(
        (_hash(line[: -len(name) - 1]) for line in lines if line.endswith(f" {name}")), None
    )


def _hash(text: str) -> str | None:
    return text if len(text) in (40, 64) and _DIGITS.issuperset(text) else None
