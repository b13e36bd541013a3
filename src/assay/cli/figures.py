"""``--figures``: what several commands draw into a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import click

from assay.cli.command import Option
from assay.cli.errors import OutputError
from assay.cli.reporting import Reporting
from assay.cli.values import FilePath
from assay.errors import install_line
from assay.report import aside

_FORMATS = ("pdf", "svg", "png", "pgf")
_USUAL = ("pdf", "svg")
# Where the formats are kept while a command runs.
_KEPT = "assay.figure_formats"

_option = partial(click.option, cls=Option, section="Judging")
_FOLDER = _option(
    "--figures",
    type=FilePath(),
    metavar="DIR",
    help="Write figures for a paper into this folder, as wide as a column.",
)
_FORMAT = _option(
    "--figure-format",
    type=click.Choice(_FORMATS),
    multiple=True,
    expose_value=False,
    callback=lambda context, _, given: context.meta.__setitem__(_KEPT, given),
    help="Of figures; pgf is for \\input, in the fonts of the paper. May be repeated.  [default: "
    "pdf and svg]",
)


def FIGURES(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802 - used as an option
    """The options of figures: the folder is an argument, the formats are kept for ``draw``."""
    return _FOLDER(_FORMAT(command))


def _formats() -> tuple[str, ...]:
    found: tuple[str, ...] = click.get_current_context().meta.get(_KEPT, ())
    return found


class Plots(Protocol):
    """What can write its figures."""

    def save(self, folder: Path, formats: Sequence[str]) -> Sequence[Path]:
        """Write the figures into a folder and give their paths."""
        ...


def check_figures(path: Path | None) -> None:
    """Refuse now what could not be drawn after a long wait."""
    if path is None:
        if _formats():
            raise click.UsageError("--figure-format is of --figures; name a folder with it")
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
            drawn = plots.save(folder, _formats() or _USUAL)
    except OSError as error:
        raise OutputError.of(f"figures in {path}", error) from error
    if drawn:
        reporting.say(f"wrote {len(drawn)} figures into {path}")
    else:
        reporting.say("note: there is nothing to draw here")
