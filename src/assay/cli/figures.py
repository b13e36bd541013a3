"""``--figures``: what several commands draw into a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import click

from assay.cli.command import Option
from assay.cli.errors import OutputError
from assay.cli.reporting import Reporting
from assay.cli.values import FilePath
from assay.errors import install_line
from assay.report import aside

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

FIGURES: Decorator = click.option(
    "--figures",
    cls=Option,
    section="Judging",
    type=FilePath(),
    metavar="DIR",
    help="Write PDF and SVG figures for a paper into this folder.",
)


class Plots(Protocol):
    """What can write its figures."""

    def save(self, folder: Path) -> Sequence[Path]:
        """Write the figures into a folder and give their paths."""
        ...


def check_figures(path: Path | None) -> None:
    """Refuse now what could not be drawn after a long wait."""
    if path is None:
        return
    if find_spec("matplotlib") is None:
        raise click.UsageError(f"--figures needs matplotlib: {install_line('plot')}")
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is no folder; --figures needs the name of one")
    if not path.parent.is_dir():
        raise OutputError(f"{path} could not be made: there is no folder {path.parent}")


def draw(plots: Plots, path: Path | None, reporting: Reporting) -> None:
    """Write the figures into a folder, where one was named."""
    if path is None:
        return
    try:
        with aside.folder(path) as folder:
            drawn = plots.save(folder)
    except OSError as error:
        raise OutputError.of(f"figures in {path}", error) from error
    if drawn:
        reporting.say(f"wrote {len(drawn)} figures into {path}")
    else:
        reporting.say("note: there is nothing to draw here")
