"""What is said on standard error: errors with their exit codes, and how far the work is.

====  ==============================================================
0     fine
1     the answer is no
2     the command line is wrong
3     the input is bad or can't be read
4     the output could not be written
5     an error of ours
130   interrupted; 143 when told to end, 141 when nobody reads on
====  ==============================================================
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from types import TracebackType

import click

from assay.errors import __version__
from assay.errors import AssayError, install_line
from assay.v02.escaping import visible
from assay.v02.number_text import megabytes, seconds, whole_percent

FINE, NO, USAGE, INPUT, OUTPUT, OURS = range(6)
INTERRUPTED = 130
NOBODY_READS = 141  # what a process that is ended by SIGPIPE shows

NO_MEMORY = (
    "there is not enough memory for this input. Name only the columns that are needed, leave out "
    "slices with many values, or use a machine with more memory"
)
# Messages of the library name its arguments; at the command line they are options.
_OPTIONS = {
    **{name: name for name in ("positive", "negative", "labels", "threshold", "volume", "level")},
    **{name: name for name in ("unknown", "label", "score", "decision", "probabilities")},
    **{name: name for name in ("id", "matrix", "delimiter", "decimal", "sheet", "store", "rows")},
    **{name: name for name in ("incident", "time", "family", "rule", "alerts", "events")},
    **{name: name for name in ("schedule", "match", "key", "gap", "grace", "skew")},
    **{name.replace("-", "_"): name for name in ("max-fpr", "max-far", "min-dr", "recall-width")},
    **{
        name.replace("-", "_"): name
        for name in ("expected", "expected-fpr", "expected-dr", "width")
    },
    "reversed_score": "lower-is-worse",
    "quote": "quote",
    "skip_lines": "skip-lines",
    "base_rate": "base-rate",
    "cost_fp": "cost-fp",
    "cost_fn": "cost-fn",
    "beta": "beta",
    "period": "period",
    "times": "time",
    "top": "top",
    "interval": "interval",
    "resamples": "resamples",
    "y_true": "label",
    "y_score": "score",
    "y_pred": "decision",
    "y_proba": "probabilities",
    "sample_weight": "weight",
    "counts": "count",
    "clusters": "cluster",
    "slices": "slice",
    "families": "family",
    "new": "score",
    "old": "baseline",
    "old_threshold": "baseline-threshold",
    "confidence": "confidence",
    "old_score": "baseline-score",
    "old_decision": "baseline-decision",
    "features": "feature",
    "feature": "feature",
    "reference": "reference",
    "state": "state",
    "recount": "recount",
    "every": "every",
    "mature": "mature",
    "seed": "seed",
    "port": "port",
    **{name: name for name in ("strata", "weight", "cluster", "alerts", "count")},
    "year": "year",
    "token_file": "token-file",
    "public_url": "public-url",
    "keep_rows": "keep-rows",
    "kind": "as",
}
_ARGUMENT = re.compile(rf"(?<![\w'\"=.@,-])({'|'.join(_OPTIONS)})=(?=(['\"\w+-]|\.\d)?)")
# Arguments that are options without a value.
_FLAGS = {
    "header=False": "--no-header",
    "header=": "--no-header",
    "glob=True": "--glob",
    "glob=": "--glob",
}
_FLAG = re.compile(rf"(?<![\w'\"=.@,-])({'|'.join(_FLAGS)})")
# Arguments whose values are written without quotes.
_WORDS = (
    *("mode", "on_bad_row", "encoding", "max_memory", "input_format", "unlabelled"),
    "allocation",
    "timezone",
    "orientation",
)
_WORD = re.compile(rf"(?<![\w'\"=.@,-])({'|'.join(_WORDS)})=(?:'([^']*)'|\"([^\"]*)\")?")
# The same where a column is spoken of.
_COLUMNS = {
    "y_true": "the label column",
    "y_score": "the score column",
    "y_pred": "the decision column",
    "y_proba": "the table of probabilities",
    "sample_weight": "the weight column",
}
_COLUMN = re.compile(
    rf"(?<![\w'\"=.-])({'|'.join(_COLUMNS)})(?= (?:has|holds|is|mixes|must|runs|with)\b)"
)
_LONGEST, _LONGEST_WORD = 4_000, 400
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")
_CANT_WRITE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS} if os.name == "posix" else {errno.ENOSPC}
)


# What commands need of the packages that an extra brings.
_PACKAGES = {"learn": ("sklearn", "skops"), "plot": ("matplotlib",)}


class OutputError(click.ClickException):
    """The output could not be written."""

    exit_code = OUTPUT

    @classmethod
    def of(cls, output: object, error: OSError) -> OutputError:
        """The error of the system, with what was to be written."""
        return cls(f"{output} could not be written: {error.strerror or error}")


def must_be_installed(purpose: str, *, extra: str) -> None:
    """Refuse a command or option without the packages that it needs, and say how to get them."""
    for package in _PACKAGES[extra]:
        if find_spec(package) is None:
            raise click.UsageError(f"{purpose} needs {package}: {install_line(extra)}")


def report(error: BaseException) -> int:
    """Say on standard error what went wrong, and give the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if os.environ.get("ASSAY_DEBUG"):
        with contextlib.suppress(OSError):
            traceback.print_exception(error)
    text, code = _message_and_code(error)
    say(f"assay: error: {text}")
    if code == OURS:
        say(
            f"This is an error of ours, not of your input. Please report it with the command line, "
            f"assay {__version__} and Python {sys.version.split()[0]}; "
            f"ASSAY_DEBUG=1 in the environment shows where it happened."
        )
    return code


def _message_and_code(error: BaseException) -> tuple[str, int]:
    """The message of an error, and its exit code."""
    match error:
        case click.UsageError():
            # click lists choices a line each, and a message is one line.
            text = " ".join(error.format_message().split()).rstrip(".")
            where = error.ctx.command_path if error.ctx else "assay"
            return f"{text}{'' if text.endswith('?') else '.'} See '{where} --help'.", USAGE
        case click.ClickException():
            return error.format_message(), error.exit_code
        case KeyboardInterrupt() | click.Abort():
            return "interrupted", INTERRUPTED
        case AssayError():
            return as_options(str(error)), INPUT
        case MemoryError():
            return NO_MEMORY, INPUT
        case UnicodeEncodeError() if error.reason == "surrogates not allowed":
            # Words of a command line may hold any bytes, and only names of files may keep them.
            where = f"at its character {error.start + 1}"
            return f"{error.object!r} is no text in UTF-8, {where}: write it in UTF-8", INPUT
        case OSError() if error.errno in _CANT_WRITE:
            return f"the output could not be written: {error.strerror}", OUTPUT
        case OSError():
            return f"the input can't be read: {error}", INPUT
        case _:
            return f"{type(error).__name__}: {error}", OURS


def as_options(message: str) -> str:
    """A message of the library in the words of the command line.

    >>> as_options("Say positive='attack' or positive='normal'")
    "Say --positive 'attack' or --positive 'normal'"
    >>> as_options("y_proba has no column for ['x']; say positive=")
    "the table of probabilities has no column for ['x']; say --positive"
    >>> as_options("leave such rows out with on_bad_row='skip'")
    'leave such rows out with --on-bad-row skip'
    >>> as_options("Say which with y_score=. Its columns are 'a'")
    "Say which with --score. Its columns are 'a'"
    """

    def option(match: re.Match[str]) -> str:
        return f"--{_OPTIONS[match[1]]}{' ' if match[2] else ''}"

    def word(match: re.Match[str]) -> str:
        value = match[2] or match[3]
        return f"--{match[1].replace('_', '-')}{f' {value}' if value else ''}"

    text = _ARGUMENT.sub(option, _WORD.sub(word, _FLAG.sub(lambda m: _FLAGS[m[1]], message)))
    return _COLUMN.sub(lambda match: _COLUMNS[match[1]], text)


def say(text: str) -> None:
    """A line on standard error, in which nothing can act on the terminal, and of bounded length."""
    # Nothing can be said where standard error itself is closed or full; the exit code still tells.
    with contextlib.suppress(OSError):
        click.echo(visible(_bounded(text)), err=True)


def _bounded(text: str) -> str:
    """A message in which no word, and not the whole, is so long that it can't be read.

    >>> _bounded(1000 * "a" + " is no label")[295:330]
    'aaaaa [600 characters more] aaaaaaa'
    """
    short = _LONG_WORD.sub(lambda long: _shortened(long[0], _LONGEST_WORD), text)
    return _shortened(short, _LONGEST)


def _shortened(text: str, length: int) -> str:
    """A text of at most about this length; what is left out of its middle is counted."""
    if len(text) <= length:
        return text
    head, tail = length * 3 // 4, length // 4
    left_out = len(text) - head - tail
    return f"{text[:head]} [{left_out:,} characters more] {text[-tail:]}"


# -- progress --------------------------------------------------------------------------------------

PATIENCE = 2.0  # seconds before anything is shown
_EVERY = 0.2
_WIDTH = 30
READING = "reading"
_ERASE = "\r\x1b[K"

# Who else is told the stage, what is done, and all there is: whoever runs commands for others.
LISTENERS: list[Callable[[str, int, int | None], None]] = []


class Progress:
    """A line that shows the bytes that were read, and later that the work goes on.

    It appears after two seconds, and only where standard error is a terminal. It is called with
    the bytes that are done and, where known, all there are; ``stage`` begins work that is counted
    in something else.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._screen = -1
        self._done = 0
        self._total: int | None = None
        self._what = READING
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="progress", daemon=True)
        self._started = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        """Note how far the reading is."""
        self._done, self._total = done, total
        for listener in LISTENERS:
            listener(self._what, done, total)

    def stage(self, stage_name: str) -> Progress:
        """Begin to count other work, such as resampling."""
        self._what, self._done, self._total = stage_name, 0, None
        self._started = time.monotonic()
        return self

    def __enter__(self) -> Progress:
        if self._shown:
            # A copy, since standard error itself may be held back while a library is at work.
            self._screen = os.dup(sys.stderr.fileno())
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._shown:
            self._thread.join()
            os.close(self._screen)

    def _draw(self) -> None:
        if self._over.wait(PATIENCE):
            return
        while True:
            elapsed = time.monotonic() - self._started
            self._show(_ERASE + progress_line(self._done, self._total, elapsed, self._what))
            if self._over.wait(_EVERY):
                self._show(_ERASE)
                return

    def _show(self, text: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._screen, text.encode())


def progress_line(done: int, total: int | None, elapsed: float, stage: str = READING) -> str:
    """What is shown at one moment.

    >>> progress_line(250_000_000, 1_000_000_000, 5.0)
    'reading [#######                       ]  25%, 15 s left'
    """
    if total and done < total:
        share = done / total
        bar = "#" * int(share * _WIDTH)
        remaining = f", {seconds(elapsed / share - elapsed)} left" if share > 0.02 else ""
        return f"{stage} [{bar:<{_WIDTH}}] {whole_percent(share):>4}{remaining}"
    if total is None and done and stage == READING:
        return f"{stage}, {megabytes(done)} so far, {seconds(elapsed)}"
    return f"working, {seconds(elapsed)}"
