"""``assay show``: draw a stored document again, or say what differs between two."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.v02.cli import options
from assay.v02.cli.options import TYPED, Command, Option
from assay.v02.cli.reporting import (
    DEFAULT_LEVEL,
    OUT,
    STDOUT,
    STORED_FACE,
    Reporting,
    common,
    face_of,
)
from assay.errors import InputError
from assay.v02.report import FURTHER

if TYPE_CHECKING:
    from assay.v02.report import Document, Report

# What is more is no document: the largest are a few megabytes.
_LARGEST = 256 << 20

EXAMPLES = (
    ("what a command wrote with --format json", "assay show report.json"),
    ("the same as a page", "assay show report.json --out report.html"),
    ("what changed since last week", "assay show --diff last-week.json report.json"),
    ("the same for other programs", "assay show --diff a.json b.json --format json"),
    ("a gate for a build server", "assay show gate.json --format junit --out gate.xml"),
)


@click.command(
    cls=Command,
    name="show",
    examples=EXAMPLES,
    short_help="Draw a stored document again, or compare two.",
)
@click.argument("file", metavar="DOCUMENT", type=options.InputPath())
@click.option(
    "--diff",
    cls=Option,
    section="What",
    type=options.InputPath(),
    metavar="OTHER",
    help="Say what differs in provenance and numbers between it and this one.",
)
@STORED_FACE
@OUT
@common
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    file: Path,
    diff: Path | None,
    face: str | None,
    out: Path | None,
    quiet: bool,
) -> None:
    """Draw a document again that a command wrote with --format json.

    Every face is the same, to the byte, as it was when the document was made; nothing is read or
    computed anew. DOCUMENT is a file, or - for standard input. Lists, as measures and runs write
    them, are no documents.
    """
    out = None if out == STDOUT else out
    reporting = Reporting(face_of(face, out), out, DEFAULT_LEVEL, 0, quiet)
    reporting.check()
    for path in (file, diff):
        if out and path and out.exists() and path.exists() and out.samefile(path):
            raise click.UsageError(f"--out {out} is the document, which it would replace")
    document = read_document(file)
    if diff is None:
        with _sound(file):
            reporting.deliver(document)
        return
    if reporting.face in FURTHER:
        raise click.UsageError(f"a difference has no face {reporting.face}")
    from assay.v02.report.difference import difference_report

    pair = [(file, document), (diff, read_document(diff))]
    if _typed_first(context, "file", "diff") == "diff":
        pair.reverse()
    (first, one), (second, other) = pair
    with _sound(file):
        reporting.deliver(difference_report(one, other, (str(first), str(second))))


def _typed_first(context: click.Context, *names: str) -> str | None:
    """Which of some parameters was typed first, as the parser of the command reads the words."""
    typed = shlex.split(context.meta.get(TYPED, ""))[2:]
    for end in range(1, len(typed) + 1):
        try:
            given, *_ = context.command.make_parser(context).parse_args(typed[:end])
        except click.UsageError:
            continue  # an option waits for its value
        for name in names:
            if isinstance(given.get(name), str):
                return name
    return None


def read_document(path: Path) -> Document | Report:
    """The document in a file, refused with what is wrong with it."""
    from assay.v02.report.document import parsed
    from assay.v02.sources.files.inputs import standard_input
    from assay.v02.store.reports import drawn_from

    try:
        if path == STDOUT:
            content = standard_input().read(_LARGEST + 1)
        else:
            with path.open("rb") as stream:
                content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise InputError(f"{path} has more than {_LARGEST >> 20} MiB, and so is no document")
    with _sound(path):
        try:
            return drawn_from(parsed(content.decode("utf-8-sig")))
        except UnicodeDecodeError:
            raise InputError("it is no text in UTF-8") from None


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Errors in here are the document's, and name its file."""
    from assay.v02.report.document import sound

    try:
        with sound():
            yield
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from wrong
