"""The command ``assay`` and its commands, each loaded when it is needed."""

from __future__ import annotations

import contextlib
import difflib
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import click

from assay.errors import __version__
from assay.v02.cli.messages import FINE, NOBODY_READS, USAGE, report
from assay.v02.cli.options import TYPED
from assay.v02.cli.reporting import discard

# In the order in which people meet them; each is a module here with a `command`.
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


class Commands(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the form is click's
        """The commands in their order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """A command by its name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"assay.v02.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; near names are suggested."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], COMMANDS, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(COMMANDS)}."
            ctx.fail(f"there is no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Parse a command line, which may print help."""
        with _until_nobody_reads():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _until_nobody_reads():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed, then parse it."""
        odd = [position for position, word in enumerate(args, 1) if "\0" in word]
        if odd:  # which only a caller in the same process can give
            ctx.fail(f"word {odd[0]} of the command line has a NUL byte, which no name may hold")
        ctx.meta[TYPED] = shlex.join(["assay", *args])
        return super().parse_args(ctx, args)


@contextlib.contextmanager
def _until_nobody_reads() -> Iterator[None]:
    """End quietly when whoever reads standard output has left, as head does."""
    try:
        yield
    except BrokenPipeError:
        discard(sys.stdout)
        raise click.exceptions.Exit(NOBODY_READS) from None


EPILOG = """\b
Start here:
  assay demo
  assay evaluate predictions.csv --base-rate 0.1%
  assay measures recall

\b
Completion in your shell, for good:
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
    """Judge detectors: how good one is, how sure we can be, and what it means in deployment.

    Give it what a model said and what was true. Every number comes with its interval, or with the
    reason why it has none.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line, by default the one that was typed, and give its exit code."""
    typed = None if args is None else list(args)
    try:
        _share_threads()
        _check_epoch()
        outcome = app.main(typed, prog_name="assay", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it becomes an exit code
        return report(error)
    return outcome if isinstance(outcome, int) else FINE


def _share_threads() -> None:
    """Tell polars and OpenBLAS how many threads may work; each asks once, when first imported.

    Sums take one thread, so that their last digits do not depend on how many there are: OpenBLAS
    need not start others, which cost a short command a fifth more processor time.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    threads = os.environ.get("ASSAY_THREADS", "")
    if not threads:
        return
    if not threads.isdecimal() or int(threads) < 1:
        raise click.UsageError(f"ASSAY_THREADS is {threads!r}; it has to be a number above 0")
    os.environ.setdefault("POLARS_MAX_THREADS", threads)


def _check_epoch() -> None:
    """Refuse a SOURCE_DATE_EPOCH that is no moment: numpy reads it too, and would fail."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch == "":
        del os.environ["SOURCE_DATE_EPOCH"]
    elif epoch is not None:
        try:
            time.gmtime(int(epoch))
        except (ValueError, OverflowError, OSError):
            raise click.UsageError(
                f"SOURCE_DATE_EPOCH is {epoch!r}; it has to be a whole number of seconds since 1970"
            ) from None
