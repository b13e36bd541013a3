"""Reports of commands: how they look and where they go, their figures, and how they came about.

A command gets the options of its report as one object.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from assay.v02.cli.messages import OutputError, must_be_installed, say
from assay.v02.cli.options import TYPED, Decorator, FilePath, Function, Option, judging, out_file, share
from assay.v02.cli.recording import Recording
from assay.v02.escaping import given_text, plural
from assay.v02.report import FORMATS, FURTHER, SUFFIXES, atomic_files

if TYPE_CHECKING:
    from assay.v02.report import Document, Provenance, Report
    from assay.v02.sources.files import Hashing, Request
    from assay.v02.store import KeptRows, KeptRun


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
        from assay.v02.report import draw

        run = self.recording.keep(document, tally, rows)
        if run is not None:
            self.say(f"recorded run {run.id} of {run.name!r}")
        if self._is_brief:
            from assay.v02.report.terminal import brief

            report = document.report if hasattr(document, "report") else document
            document = brief(report, _REST)
        paper: dict[str, Any] = {"fragment": self.fragment, "tiers": self.tiers}
        if self.out is not None:
            write(self.out, draw(document, self.face, width=WIDTH, **paper))
            self.say(f"wrote {self.out} ({self.face})")
            return
        if sys.stdout is None:
            raise OutputError("standard output is closed; name a file with --out")
        # What other programs read is UTF-8, whatever the terminal speaks. A stream of text that a
        # caller put in its place speaks nothing.
        encoding = (self.face == TERMINAL and sys.stdout.encoding) or "utf-8"
        colourless = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        color = sys.stdout.isatty() and not colourless
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
            self.say(f"note: {refused:,} of {read:,} rows {plural(refused, 'was', 'were')} refused")
        for note in notes:
            self.say(f"note: {note}")
        for finding in () if in_terminal else findings:
            self.say(f"{finding.severity} {finding.code}: {finding.message}")

    def say(self, text: str) -> None:
        """A line on standard error, unless quiet was asked for."""
        if not self.quiet:
            say(text)


def _face(formats: Sequence[str]) -> Decorator:
    return _option(
        "--format",
        "face",
        type=click.Choice(formats),
        help="How it is written.  [default: by the suffix of --out, else terminal]",
    )


FACE = _face(FORMATS)
STORED_FACE = _face((*FORMATS, *FURTHER))
# Where --out is a folder.
STDOUT_FACE = _option(
    "--format",
    "face",
    type=click.Choice(FORMATS),
    default=TERMINAL,
    show_default=True,
    help="How the report on standard output is written.",
)
OUT = out_file("Report")
LEVEL = _option(
    "--level",
    type=share,
    default=str(DEFAULT_LEVEL),
    show_default=True,
    metavar="SHARE",
    help="How sure the intervals are.",
)


def _learning_seed(_context: click.Context, _option: click.Parameter, seed: int) -> int:
    """A seed that scikit-learn takes too."""
    from assay.v02.inference.significance import LEARNING_SEEDS

    if seed >= LEARNING_SEEDS:
        raise click.BadParameter(
            f"a seed is a whole number from 0 to {LEARNING_SEEDS - 1}; found {given_text(seed)}"
        )
    return seed


def _seed_option(
    callback: Callable[[click.Context, click.Parameter, int], int] | None,
) -> Decorator:
    return _option(
        "--seed",
        type=click.IntRange(min=0),
        callback=callback,
        default=DEFAULT_SEED,
        show_default=True,
        metavar="INTEGER",
        help="Seed of whatever is drawn at random.",
    )


SEED = _seed_option(None)
# Of commands that learn.
LEARNING_SEED = _seed_option(_learning_seed)
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


def common(command: Function) -> Function:
    """The options that every command takes, where nothing is estimated or drawn at random."""
    return UNUSED_LEVEL(UNUSED_SEED(QUIET(command)))


def reporting(command: Function) -> Function:
    """Give a command the options of its report, as the argument ``reporting``."""
    return _with_reporting(command, SEED, LEVEL)


def reporting_of_learning(command: Function) -> Function:
    """The same where models are trained."""
    return _with_reporting(command, LEARNING_SEED, LEVEL)


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
        reporting = Reporting(
            *(shape, out, level, seed, quiet, recording or Recording(), brief, fragment, tiers)
        )
        return command(reporting=reporting, **others)

    with_options: Function = with_reporting
    for option in (QUIET, TIER, FRAGMENT, BRIEF, seed_option, level_option, OUT, FACE):
        with_options = option(with_options)
    return with_options


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
        raise OutputError(f"{path} is a folder; what is written needs the name of a file")
    if not path.parent.is_dir():
        raise OutputError(
            f"{path} could not be written: there is no folder {path.parent}; make it first"
        )


def check_beside(option: str, path: Path, inputs: Iterable[Any], out: Path | None) -> None:
    """Refuse a place for a file beside the report where something else is or goes."""
    if str(path) == "-":
        raise click.UsageError(f"{option} needs the name of a file: standard output has the report")
    check_place(path)
    if out is not None and out.resolve() == path.resolve():
        raise click.UsageError(f"{option} and --out are both {path}; name two files")
    for each in map(Path, inputs):
        if path.exists() and each.exists() and path.samefile(each):
            raise click.UsageError(f"{option} {path} is an input, which it would replace")


def write(path: Path, text: str | Iterable[str]) -> None:
    """Write a file whole or not at all; a long text may come in pieces."""
    check_place(path)
    try:
        atomic_files.write(path, text.encode() if isinstance(text, str) else map(str.encode, text))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError.of(path, error) from error


def print_out(content: bytes | Iterable[bytes]) -> None:
    """Print a report on standard output, and make sure that it got there."""
    try:
        sys.stdout.flush()
        for piece in (content,) if isinstance(content, bytes) else content:
            if hasattr(sys.stdout, "buffer"):
                sys.stdout.buffer.write(piece)
            else:  # as in notebooks, or where a caller catches what is printed
                sys.stdout.write(piece.decode("utf-8", "surrogatepass"))
        getattr(sys.stdout, "buffer", sys.stdout).flush()
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


@contextmanager
def warnings_as_notes(reporting: Reporting) -> Iterator[None]:
    """What libraries warn about is caught once each, as notes; what they print is no report."""
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(sys.stderr):
        warnings.simplefilter("default")
        yield
    for text in dict.fromkeys(str(each.message).partition("\n")[0] for each in caught):
        reporting.say(f"note: {text}")


# -- figures ---------------------------------------------------------------------------------------

_FIGURE_FORMATS = ("pdf", "svg", "png", "pgf")
_USUAL_FIGURE_FORMATS = ("pdf", "svg")
# Where the formats are kept while a command runs.
_FIGURE_FORMATS_KEPT = "assay.figure_formats"

_FIGURE_FOLDER = judging(
    "--figures",
    type=FilePath(),
    metavar="DIR",
    help="Write figures for a paper into this folder, as wide as a column.",
)
_FIGURE_FORMAT = judging(
    "--figure-format",
    type=click.Choice(_FIGURE_FORMATS),
    multiple=True,
    expose_value=False,
    callback=lambda context, _, given: context.meta.__setitem__(_FIGURE_FORMATS_KEPT, given),
    help="Of figures; pgf is for \\input, in the fonts of the paper. May be repeated.  [default: "
    "pdf and svg]",
)


def FIGURES(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802 - used as an option
    """The options of figures: the folder is an argument, the formats are kept for ``draw``."""
    return _FIGURE_FOLDER(_FIGURE_FORMAT(command))


def _figure_formats() -> tuple[str, ...]:
    formats: tuple[str, ...] = click.get_current_context().meta.get(_FIGURE_FORMATS_KEPT, ())
    return formats


class FigureSet(Protocol):
    """What can write its figures."""

    def save(self, folder: Path, formats: Sequence[str]) -> Sequence[Path]:
        """Write the figures into a folder and give their paths."""
        ...


def check_figures(path: Path | None) -> None:
    """Refuse now what could not be drawn after a long wait."""
    if path is None:
        if _figure_formats():
            raise click.UsageError("--figure-format is of --figures; name a folder with it")
        return
    must_be_installed("--figures", extra="plot")
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is no folder; --figures needs the name of one")
    if not path.parent.is_dir():
        raise OutputError(f"{path} could not be made: there is no folder {path.parent}")


def draw_figures(plots: FigureSet, path: Path | None, reporting: Reporting) -> None:
    """Write the figures into a folder, where one was named."""
    if path is None:
        return
    try:
        with atomic_files.folder(path) as folder:
            files = plots.save(folder, _figure_formats() or _USUAL_FIGURE_FORMATS)
    except OSError as error:
        raise OutputError.of(f"figures in {path}", error) from error
    if files:
        reporting.say(f"wrote {len(files)} figures into {path}")
    else:
        reporting.say("note: there is nothing to draw here")


# -- how it came about -----------------------------------------------------------------------------

# Formats that tell how they were made; to hash the input for the others would be idle work.
TELL_HOW = ("json", "markdown", "html")
# Who opens a database is nobody's business, and with which password above all.
_USER = re.compile(r"(?<=://)[^/@\s'\"]*@")
_SECRET = re.compile(r"(?i)\b(password|passwd|pwd|sslpassword|user)=[^&\s'\"]*")


class ProvenanceBuilder:
    """The making of a report: it knows the command, and hashes the inputs while they are read.

    ``maybe`` are names that may turn out to be inputs. ``always`` hashes whatever the format is.
    """

    def __init__(
        self,
        context: click.Context,
        files: Sequence[str],
        request: Request | None,
        reporting: Reporting,
        *,
        maybe: Sequence[str] = (),
        always: bool = False,
    ) -> None:
        from assay.v02.sources.files import Hashing

        self._context, self._reporting = context, reporting
        self._started = time.monotonic()
        with_hashes = always or reporting.face in TELL_HOW or reporting.recording.name is not None
        # Counts that were typed have no file behind them.
        self._hashing = (
            Hashing(files, request, maybe, hashes=with_hashes) if files and request else None
        )

    def document(self, result: Any, others: Sequence[str] = ()) -> Document:
        """The document of a result, which also tells of inputs that changed meanwhile."""
        from dataclasses import replace

        from assay.v02.report import document_of

        origin = self.provenance(others)
        made = document_of(result, origin)
        changes = self._changes()
        if changes and hasattr(made.result, "notes"):
            made = replace(made, result=replace(made.result, notes=(*made.result.notes, *changes)))
        return made

    def _changes(self) -> list[str]:
        notes = () if self._hashing is None else changed_inputs(self._hashing, "the report is")
        return [f"{note}, and tells no hash of it" for note in notes]

    def provenance(
        self, others: Sequence[str] = (), *, store: str | None = None, runs: Sequence[KeptRun] = ()
    ) -> Provenance:
        """How the report was made; ``others`` are inputs that were found out while reading.

        Of a report about what was kept, the store is the input, and the runs by their documents.
        """
        from assay.v02.report.provenance import Input, Provenance

        hashed = () if self._hashing is None else self._hashing.inputs(others)
        for note in self._changes():
            self._reporting.say(f"warning: {note}")
        inputs = [Input(without_secrets(e.name), e.size, e.sha256) for e in hashed]
        inputs += [] if store is None else [Input(without_secrets(store))]
        inputs += [Input(f"run:{run.id}", None, run.contents["document"]) for run in runs]
        return Provenance.here(
            without_secrets(self._context.meta.get(TYPED, "")),
            inputs,
            seed=self._reporting.seed,
            arguments=_arguments(self._context),
            seconds=time.monotonic() - self._started,
        )


def changed_inputs(hashing: Hashing, outcome: str) -> list[str]:
    """What to say of inputs that changed while they were read, and of what came of them."""
    return [
        f"{name} changed while it was read; {outcome} of what was read then"
        for name in hashing.changed
    ]


def without_secrets(text: str) -> str:
    """A command line without the user and the password of any database in it.

    >>> without_secrets("assay evaluate postgresql://me:secret@host/db?password=x")
    'assay evaluate postgresql://host/db?password=...'
    """
    return _SECRET.sub(r"\1=...", _USER.sub("", text))


def _arguments(context: click.Context) -> dict[str, Any]:
    """What was given on the command line, by the names of the options."""
    given = click.core.ParameterSource.COMMANDLINE
    return {
        name: _plain_value(value)
        for name, value in context.params.items()
        if context.get_parameter_source(name) is given
    }


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain_value(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain_value(each) for key, each in value.items()}
    if value is None or isinstance(value, bool | int | float):
        return value
    return without_secrets(str(value))


def must_read_once(inputs: Sequence[str], names: str) -> None:
    """Refuse standard input for two inputs, of which the second would have no rows."""
    if inputs.count("-") > 1:
        raise click.UsageError(f"standard input can't be {names} at once: it is read once")


def must_not_replace(out: Path | None, files: Sequence[str], request: Request) -> None:
    """Refuse a report that would be written over what it is about."""
    if out is None or not files or not out.is_file():
        return
    from assay.v02.sources.files import paths_of

    for path in paths_of(files, request):
        if out.samefile(path):
            raise click.UsageError(f"--out {out} is an input, which it would replace")
