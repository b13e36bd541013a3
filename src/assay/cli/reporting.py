"""The options that say how a report looks and where it goes: a command gets them as one object."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from assay.cli.command import Option
from assay.cli.errors import OutputError, say
from assay.cli.recording import Recording
from assay.cli.values import FilePath, share
from assay.report import aside
from assay.report.kinds import FORMATS, SUFFIXES

if TYPE_CHECKING:
    from assay.report import Document, Report
    from assay.sources.files import Request
    from assay.store import KeptRows

Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], Function]

TERMINAL = "terminal"
DEFAULT_LEVEL = 0.95
DEFAULT_SEED = 42
WIDTH = 100  # of a report that no terminal shows
STDOUT = Path("-")
# A report is short on a screen of fewer lines, and only in faces that people read.
_MANY_LINES = 40
_READ_BY_PEOPLE = (TERMINAL, "markdown", "latex", "html")
_REST = "This is the brief report; --no-brief gives all of it."

_option = partial(click.option, cls=Option, section="Report")


@dataclass(frozen=True)
class Reporting:
    """How a report looks and where it goes."""

    face: str
    out: Path | None
    level: float
    seed: int
    quiet: bool
    recording: Recording = field(default_factory=Recording)
    brief: bool | None = None
    fragment: bool = False
    tiers: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse now what could not be written after a long wait."""
        self.recording.check()
        if self.fragment and self.face != "latex":
            raise click.UsageError(
                f"--fragment is of LaTeX: say --format latex, or a name such as --out table.tex; "
                f"this would be {self.face}"
            )
        if self.tiers and not self.fragment:
            raise click.UsageError("--tier says which tables of a --fragment; add --fragment")
        if self.brief and self.face not in _READ_BY_PEOPLE:
            raise click.UsageError(
                f"--brief is for people: {self.face} has everything, or nothing to leave out"
            )
        if self.out is not None:
            check_place(self.out)
        elif self.face == "html" and sys.stdout is not None and sys.stdout.isatty():
            raise click.UsageError(
                "a page of HTML is no use in a terminal: add --out report.html, or send it on "
                "with > or |"
            )

    def deliver(
        self,
        document: Document | Report,
        *,
        tally: Any = None,
        rows: Callable[[], KeptRows | None] | None = None,
    ) -> None:
        """Keep a document where that was asked for, and write it to where it goes."""
        from assay.report import draw

        if self.recording.name is not None:
            run = self.recording.keep(document, tally, rows)
            self.say(f"recorded run {run.id} of {run.name!r}")
        if self._is_brief:
            from assay.report.brief import brief

            whole = document.report if hasattr(document, "report") else document
            document = brief(whole, _REST)
        paper: dict[str, Any] = {"fragment": self.fragment, "tiers": self.tiers}
        if self.out is not None:
            write(self.out, draw(document, self.face, width=WIDTH, **paper))
            self.say(f"wrote {self.out} ({self.face})")
            return
        if sys.stdout is None:
            raise OutputError("standard output is closed; name a file with --out")
        # What other programs read is UTF-8, whatever the terminal speaks.
        encoding = sys.stdout.encoding if self.face == TERMINAL else "utf-8"
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        color = sys.stdout.isatty() and not plain
        width = shutil.get_terminal_size((WIDTH, 24)).columns
        text = draw(document, self.face, width=width, color=color, encoding=encoding, **paper)
        print_out(text.encode(encoding, errors="backslashreplace"))

    @property
    def _is_brief(self) -> bool:
        """Whether the report is to be short: as asked, or as the terminal has few lines."""
        if self.brief is not None or self.face != TERMINAL or self.out is not None:
            return bool(self.brief)
        on_screen = sys.stdout is not None and sys.stdout.isatty()
        return on_screen and shutil.get_terminal_size().lines < _MANY_LINES

    def say_beside(
        self,
        source: Mapping[str, Any],
        notes: Iterable[str] = (),
        findings: Iterable[Any] = (),
        request: Request | None = None,
    ) -> None:
        """Say what was guessed of columns, and what the report itself does not tell.

        A report in the terminal tells everything, and a brief one all but its notes.
        """
        for role, column in source.get("chosen", {}).items() if request is not None else ():
            if getattr(request, role) is None:
                self.say(f"note: the {role} is column {column!r}, recognised by its name")
        in_terminal = self.out is None and self.face == TERMINAL
        if in_terminal and not self._is_brief:
            return
        if source.get("rows_refused"):
            refused, read = source["rows_refused"], source["rows_read"]
            self.say(f"note: {refused:,} of {read:,} rows were refused")
        for note in notes:
            self.say(f"note: {note}")
        for finding in () if in_terminal else findings:
            self.say(f"{finding.severity} {finding.code}: {finding.message}")

    def say(self, text: str) -> None:
        """A line on standard error, unless quiet was asked for."""
        if not self.quiet:
            say(text)


FACE = _option(
    "--format",
    "face",
    type=click.Choice(FORMATS),
    help="How it is written.  [default: by the suffix of --out, else terminal]",
)
OUT = _option(
    "-o",
    "--out",
    type=FilePath(),
    help="Write to this file, whole or not at all, instead of standard output.",
)
LEVEL = _option(
    "--level",
    type=share,
    default=str(DEFAULT_LEVEL),
    show_default=True,
    metavar="SHARE",
    help="How sure the intervals are.",
)
SEED = _option(
    "--seed",
    type=click.IntRange(min=0),
    default=DEFAULT_SEED,
    show_default=True,
    metavar="INTEGER",
    help="Seed of whatever is drawn at random.",
)
# Every command takes them; where nothing is estimated or drawn the help does not promise it.
UNUSED_LEVEL = _option(
    "--level",
    type=share,
    default=str(DEFAULT_LEVEL),
    hidden=True,
    expose_value=False,
    help="Taken, as by every command; there are no intervals.",
)
UNUSED_SEED = _option(
    "--seed",
    type=click.IntRange(min=0),
    default=DEFAULT_SEED,
    hidden=True,
    expose_value=False,
    help="Taken, as by every command; nothing is drawn at random.",
)
BRIEF = _option(
    "--brief/--no-brief",
    default=None,
    help="The verdict, the findings and ten numbers.  [default: in a terminal of fewer than "
    f"{_MANY_LINES} lines]",
)
FRAGMENT = _option(
    "--fragment",
    is_flag=True,
    help="Of LaTeX only the tables, to \\input into a paper of any class, in one column or two.",
)
TIER = _option(
    "--tier",
    "tiers",
    type=click.Choice(("main", "advanced", "appendix")),
    multiple=True,
    help="Which tables of a fragment; may be repeated.  [default: all]",
)
QUIET = _option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")


def reporting(command: Function) -> Function:
    """Give a command the options of its report, as the argument ``reporting``."""
    return _with_reporting(command, SEED, LEVEL)


def reporting_as_made(command: Function) -> Function:
    """The same where nothing is estimated or drawn anew: what was kept is reported."""
    return _with_reporting(command, UNUSED_SEED, UNUSED_LEVEL)


def _with_reporting(command: Function, seed_option: Decorator, level_option: Decorator) -> Function:
    @wraps(command)
    def with_reporting(
        *,
        face: str | None,
        out: Path | None,
        level: float = DEFAULT_LEVEL,
        seed: int = DEFAULT_SEED,
        quiet: bool,
        brief: bool | None,
        fragment: bool,
        tiers: tuple[str, ...],
        recording: Recording | None = None,
        **others: Any,
    ) -> Any:
        out = None if out == STDOUT else out
        latex = fragment and face is None and out is None
        # A template is no report, so that its file may have any suffix.
        other = TERMINAL if others.get("template") and face is None else None
        shape = "latex" if latex else other or face_of(face, out)
        found = Reporting(
            *(shape, out, level, seed, quiet, recording or Recording(), brief, fragment, tiers)
        )
        return command(reporting=found, **others)

    found: Function = with_reporting
    for option in (QUIET, TIER, FRAGMENT, BRIEF, seed_option, level_option, OUT, FACE):
        found = option(found)
    return found


def face_of(face: str | None, out: Path | None) -> str:
    """The format that was asked for, else the one that the suffix of a file tells."""
    if face is not None:
        return face
    suffix = "" if out is None else out.suffix.lower()
    if suffix and suffix not in SUFFIXES:
        raise click.UsageError(
            f"the suffix {suffix} tells no format; say --format {'|'.join(FORMATS)}"
        )
    return SUFFIXES.get(suffix, TERMINAL)


def check_place(path: Path) -> None:
    """Refuse a path that can't become a file."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder; --out needs the name of a file")
    if not path.parent.is_dir():
        raise OutputError(
            f"{path} could not be written: there is no folder {path.parent}; make it first"
        )


def write(path: Path, text: str | Iterable[str]) -> None:
    """Write a file whole or not at all; a long text may come in pieces."""
    check_place(path)
    try:
        aside.write(path, text.encode() if isinstance(text, str) else map(str.encode, text))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError.of(path, error) from error


def print_out(content: bytes | Iterable[bytes]) -> None:
    """Print a report on standard output, and make sure that it got there."""
    try:
        sys.stdout.flush()
        for piece in (content,) if isinstance(content, bytes) else content:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except OSError as error:
        discard(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError.of("the report", error) from error


def discard(stream: Any) -> None:
    """Let what is still held for a broken stream go nowhere, or Python would fail at its end."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
