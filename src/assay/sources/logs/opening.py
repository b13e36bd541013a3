"""Which logs are meant, how they are packed, and what they are written in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from assay.errors import InputError
from assay.sources.files.formats import PACKINGS, by_content
from assay.sources.files.inputs import (
    STDIN,
    STDIN_NAME,
    Name,
    missing,
    name_of,
    shown,
    standard_input,
)
from assay.sources.files.text import HEAD, begun, must_be_narrow, unpacked

JSON, ZEEK, FAST, CEF = "JSON lines", "Zeek's text", "fast.log", "CEF"
_LOOKED_AT = 100
_SHOWN = 60
# eve.json, eve.json.1, eve.json-20261101.gz, conn.2026-11-01-00.log.
_IN_FOLDER = re.compile(
    r"[^._].*\.(log|json|jsonl|ndjson|cef)([.-]\d[\d-]*)?(\.(gz|zst|bz2|xz))?", re.IGNORECASE
)
_ZEEK_KIND = re.compile(r"([a-z]+(?:_[a-z]+)*)(?:[._-].*)?\.log")


@dataclass(frozen=True)
class Log:
    """One file of a log; without a path it is standard input."""

    name: str
    path: Path | None

    @property
    def kind(self) -> str | None:
        """What the records of a log of Zeek are, by its name: ``conn.2026-11-01-00.log``."""
        named = None if self.path is None else _ZEEK_KIND.match(self.path.name)
        return None if named is None else named[1]


def logs_of(paths: Sequence[Name]) -> list[Log]:
    """The files that are meant; of a folder those whose names look like logs, sorted."""
    if isinstance(paths, str):
        raise InputError(f"paths are a list of files; found one text, {paths!r}")
    logs: list[Log] = []
    for given in map(name_of, paths):
        path = Path(given)
        if given == STDIN:
            logs.append(Log(STDIN_NAME, None))
        elif path.is_dir():
            inside = [one for one in sorted(path.iterdir()) if _IN_FOLDER.fullmatch(one.name)]
            if not inside:
                raise InputError(
                    f"{shown(given)} is a folder without logs: files such as eve.json, conn.log or "
                    f"eve.json.1.gz were expected in it"
                )
            logs += [Log(shown(str(one)), one) for one in inside if one.is_file()]
        elif path.exists():
            logs.append(Log(shown(given), path))
        else:
            raise missing(path, given)
    if not logs:
        raise InputError("no log was given: name a file, a folder, or - for standard input")
    places = [None if log.path is None else log.path.resolve() for log in logs]
    for i, place in enumerate(places):
        if place in places[:i]:
            raise InputError(f"{logs[i].name} was given twice; its events would count twice")
    return logs


def text_chunks(
    log: Log, size: int, stdin: BinaryIO | None, count: Callable[[int], None]
) -> Iterator[bytes]:
    """The bytes of a log, unpacked, in chunks of bounded size; ``count`` gets those of the file."""
    if log.path is None:
        yield from _unpacked(standard_input() if stdin is None else stdin, log.name, size, count)
        return
    try:
        file = log.path.open("rb")
    except OSError as odd:
        raise InputError(f"{log.name} can't be opened: {odd.strerror}") from odd
    with file:
        yield from _unpacked(file, log.name, size, count)


def _unpacked(
    file: BinaryIO, name: str, size: int, count: Callable[[int], None]
) -> Iterator[bytes]:
    head, chunks = begun(_chunks(file, name, size, count))
    packing = by_content(head, name)
    if packing is not None and packing not in PACKINGS:
        raise InputError(f"{name} is a {packing} file, where a log of text was expected")
    if packing is not None:
        chunks = unpacked(chunks, packing, name, size)
    first = True
    for chunk in chunks:
        if first:
            must_be_narrow(chunk[:HEAD], None, name)
        yield chunk.removeprefix(codecs.BOM_UTF8) if first else chunk
        first = False


def _chunks(file: BinaryIO, name: str, size: int, count: Callable[[int], None]) -> Iterator[bytes]:
    while True:
        try:
            chunk = file.read(size)
        except OSError as odd:
            raise InputError(f"{name} can't be read: {odd.strerror}") from odd
        if not chunk:
            return
        count(len(chunk))
        yield chunk


def format_of(text: bytes, name: str) -> str:
    """What a log is written in, by the first of its lines that tells."""
    lines = text.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    for line in lines:
        start = line.lstrip()
        if start.startswith(b"{"):
            return JSON
        if start.startswith((b"#separator", b"#fields")):
            return ZEEK
        if b"CEF:" in line:
            return CEF
        if b"[**]" in line:
            return FAST
    first = next((line for line in lines if line.strip()), b"")
    if first.lstrip().startswith(b"["):
        raise InputError(
            f"{name}, line 1: a JSON array, where one object a line is expected. "
            f"jq -c '.[]' makes lines of it"
        )
    begins = first[:_SHOWN].decode(errors="backslashreplace")
    raise InputError(
        f"{name} is no log that is known: it begins with {begins!r}. Expected are Suricata's "
        f"eve.json, logs of Zeek (with their #fields), fast.log, CEF, or one JSON object a line"
    )
