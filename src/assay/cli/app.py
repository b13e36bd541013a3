"""Which command runs: the new one where there is one, else that of 0.2."""

from __future__ import annotations

import contextlib
import difflib
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from assay.errors import __version__
from assay.v02.cli.messages import FINE, NOBODY_READS, USAGE, report
from assay.v02.cli.options import TYPED
from assay.v02.cli.reporting import discard

# All commands in the order of `assay --help`, wherever they live.
COMMANDS = (
    "evaluate",
    "threshold",
    "plan",
    "sample",
    "compare",
    "gate",
    "monitor",
    "audit",
    "incidents",
    "data",
    "train",
    "predict",
    "check",
    "show",
    "runs",
    "measures",
    "serve",
    "demo",
)
# The module of each command that has moved, and what it can't do yet: an option, or an option with
# a value or a suffix of one ("--format html", "--out .html"). With one of these, 0.2's runs.
MOVED: Mapping[str, str] = {}
NOT_YET: Mapping[str, Sequence[str]] = {}


class Commands(click.Group):
    """A group that imports a command when it is needed, from this tree or from 0.2."""

    def __init__(
        self,
        *args: Any,
        moved: Mapping[str, str] = MOVED,
        not_yet: Mapping[str, Sequence[str]] = NOT_YET,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self._moved, self._not_yet = moved, not_yet

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in their order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """A command by its name."""
        if cmd_name not in COMMANDS:
            return None
        return _load(self._moved.get(cmd_name) or _old(cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; a misspelt name gets a suggestion."""
        name, *words = args
        if name not in COMMANDS and not name.startswith("-"):
            close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(COMMANDS)}."
            ctx.fail(f"unknown command {name!r}; {hint}")
        if any(_uses(words, option) for option in self._not_yet.get(name, ())):
            return name, _load(_old(name)), words
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the command line as typed, for provenance; then parse it."""
        nul = next((position for position, word in enumerate(args, 1) if "\0" in word), None)
        if nul is not None:
            ctx.fail(f"argument {nul} contains a NUL byte")
        ctx.meta[TYPED] = shlex.join(["assay", *args])
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Parse a command line, which may print help."""
        with _quiet_when_the_reader_leaves():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _quiet_when_the_reader_leaves():
            return super().invoke(ctx)


@contextlib.contextmanager
def _quiet_when_the_reader_leaves() -> Iterator[None]:
    """End without an error when standard output is closed, as ``head`` closes it."""
    try:
        yield
    except BrokenPipeError:
        discard(sys.stdout)
        raise click.exceptions.Exit(NOBODY_READS) from None


def _old(name: str) -> str:
    return f"assay.v02.cli.{name}"


def _load(home: str) -> click.Command:
    command: click.Command = import_module(home).command
    return command


def _uses(words: Sequence[str], option: str) -> bool:
    """Whether a command line uses an option, with the value or suffix if one is named.

    >>> _uses(["x.csv", "--format=html"], "--format html")
    True
    >>> _uses(["x.csv", "--out", "x.json"], "--out .html")
    False
    """
    name, _, ending = option.partition(" ")
    given = [word.partition("=")[2] for word in words if word.startswith(f"{name}=")]
    given += [value for word, value in zip(words, [*words[1:], ""], strict=True) if word == name]
    return any(value.endswith(ending) for value in given)


EPILOG = """\b
Start here:
  assay demo
  assay evaluate predictions.csv --base-rate 0.1%
  assay measures recall

\b
Shell completion:
  bash   eval "$(_ASSAY_COMPLETE=bash_source assay)"       in ~/.bashrc
  zsh    eval "$(_ASSAY_COMPLETE=zsh_source assay)"        in ~/.zshrc
  fish   _ASSAY_COMPLETE=fish_source assay | source        in ~/.config/fish/config.fish
"""


@click.command(
    cls=Commands,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="assay %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Evaluate detectors: how good one is, how sure we can be, and how it will do in deployment.

    Give it a model's predictions and the true labels. Every number comes with its interval, or with
    the reason why it has none.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line, by default the one that was typed, and return its exit code."""
    typed = None if args is None else list(args)
    try:
        _limit_threads()
        _check_epoch()
        outcome = app.main(typed, prog_name="assay", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - every error becomes an exit code
        code: int = report(error)
        return code
    return outcome if isinstance(outcome, int) else int(FINE)


def _limit_threads() -> None:
    """Set the threads of polars and OpenBLAS, which read these variables when first imported.

    OpenBLAS gets one: a sum's last digits must not depend on the number of threads, and starting
    more makes a short command a fifth slower.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    threads = os.environ.get("ASSAY_THREADS", "")
    if not threads:
        return
    if not threads.isdecimal() or int(threads) < 1:
        raise click.UsageError(f"ASSAY_THREADS is {threads!r}; expected a whole number above 0")
    os.environ.setdefault("POLARS_MAX_THREADS", threads)


def _check_epoch() -> None:
    """Refuse a SOURCE_DATE_EPOCH that is not a time; NumPy reads it too, and would fail."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch == "":
        del os.environ["SOURCE_DATE_EPOCH"]
    elif epoch is not None:
        try:
            time.gmtime(int(epoch))
        except (ValueError, OverflowError, OSError):
            raise click.UsageError(
                f"SOURCE_DATE_EPOCH is {epoch!r}; expected a whole number of seconds since 1970"
            ) from None
