"""A command whose help has sections and examples."""

from __future__ import annotations

from typing import Any

import click

OTHER = "Other options"

# Where a context keeps the command line, so that a report can say how it was made.
TYPED = "assay.typed"


class Option(click.Option):
    """An option that stands under a heading of the help."""

    def __init__(self, *args: Any, section: str = OTHER, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class Command(click.Command):
    """A command with examples, which its help shows, the documentation lists and a test runs.

    ``examples`` are pairs of what a command line does and the command line.
    """

    def __init__(
        self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """The options by their heading, in the order of declaration."""
        found: dict[str, list[click.Option]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and not param.hidden:
                found.setdefault(getattr(param, "section", OTHER), []).append(param)
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        for heading, options in self.sections(ctx).items():
            records = [option.get_help_record(ctx) for option in options]
            with formatter.section(heading):
                formatter.write_dl([record for record in records if record is not None])

    def subcommands(self, ctx: click.Context) -> list[tuple[str, Command]]:  # noqa: ARG002
        """The commands inside this one; most have none."""
        return []

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        with formatter.section("Examples"):
            for says, line in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}# {says}\n")
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        super().format_epilog(ctx, formatter)


class CommandGroup(Command, click.Group):
    """A command that holds others; what is not the name of one belongs to the ``usual`` one."""

    def __init__(self, *args: Any, usual: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.usual = usual

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line; the usual command need not be named."""
        helps = ctx.help_option_names
        if not args or (args[0] not in self.commands and args[0] not in helps):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)

    def subcommands(self, ctx: click.Context) -> list[tuple[str, Command]]:
        """The commands inside this one, in the order in which they were added."""
        found = [(name, self.get_command(ctx, name)) for name in self.commands]
        return [(name, command) for name, command in found if isinstance(command, Command)]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the form is click's
        """The names of the commands in their order."""
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
