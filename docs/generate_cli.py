"""The reference of the command line, written from the commands themselves.

An option that is declared is documented; there is nothing else to write.
"""

from __future__ import annotations

import inspect
import re

import click

from assay.cli.app import COMMANDS, app
from assay.v02.cli.options import Command


def commands() -> str:
    """A table of all commands, with what each is for."""
    with click.Context(app, info_name="assay") as context:
        rows = [(name, _command_of(name, context).get_short_help_str(200)) for name in COMMANDS]
    lines = [f"   * - :ref:`{name} <assay-{name}>`\n     - {_plain(says)}" for name, says in rows]
    return "\n".join([".. list-table::", "   :widths: 14 86", "", *lines])


def options() -> str:
    """Every command as reStructuredText: its options by section, and its examples."""
    parts = []
    with click.Context(app, info_name="assay") as context:
        for name in COMMANDS:
            command = _command_of(name, context)
            inside = click.Context(command, context, info_name=name)
            parts += [f".. _assay-{name}:", *_command(command, inside)]
            for part, subcommand in command.subcommands(inside):
                parts += _command(subcommand, click.Context(subcommand, inside, info_name=part))
    return "\n\n".join(parts) + "\n"


def _command_of(name: str, context: click.Context) -> Command:
    command = app.get_command(context, name)
    if not isinstance(command, Command):
        raise TypeError(
            f"assay {name}: found {type(command).__name__}, expected assay.cli.options.Command, "
            f"whose options have sections: declare it with @click.command(cls=Command)"
        )
    return command


def _command(command: Command, context: click.Context) -> list[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [
        _heading(context.command_path, "-"),
        f".. program:: {context.command_path}",
        f".. code-block:: text\n\n   {context.command_path} {usage}",
        *map(_plain, inspect.cleandoc(command.help or "").split("\n\n")),
    ]
    for heading, options in command.sections(context).items():
        parts.append(_heading(heading, "~"))
        records = [option.get_help_record(context) for option in options]
        parts += [_option(*record) for record in records if record is not None]
    lines = "\n".join(f"   # {says}\n   {line}" for says, line in command.examples)
    parts += [_heading("Examples", "~"), f".. code-block:: sh\n\n{lines}"]
    return parts


def _option(name: str, says: str) -> str:
    # Sphinx splits a list of names at ", ", and the brackets of a choice at "[" are its own.
    return f".. option:: {name}\n\n   {_plain(says)}"


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([*`|_\\])", r"\\\1", " ".join(text.split()))
