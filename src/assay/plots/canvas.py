"""Axes in the style of papers, and figures written to files."""

from __future__ import annotations

import io
import os
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, install_line
from assay.inference import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 - others take the type from here
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.4, 7.1  # inches: the width of a column, and of a page of two
FORMATS = ("pdf", "svg", "png", "pgf")

# Colours of Okabe and Ito, but for yellow, which is not seen on white: told apart by colour-blind
# readers. Lines differ in style besides, so that they are told apart in grey; seven colours and
# four styles give 28 models a look of their own.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
GREY, LIGHT = "#666666", "#D9D9D9"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
MARKS = ("o", "s", "^", "D", "v")

_TEXT = 8
_SMALL = 7
# Names are escaped for text that may hold mathematics, and TeX would run what is in them.
_SAFE: dict[Any, Any] = {"text.usetex": False, "text.parse_math": True}
_STYLE: Mapping[str, Any] = {
    **_SAFE,
    "font.size": _TEXT,
    "axes.labelsize": _TEXT,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "legend.fontsize": _SMALL,
    "legend.edgecolor": "none",
    "legend.framealpha": 0.8,
    "legend.handlelength": 1.8,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "xtick.labelsize": _SMALL,
    "ytick.labelsize": _SMALL,
    # Text stays text, so that it can be searched and edited, and equal figures have equal bytes.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "assay",
}
_UNDATED: Mapping[str, Mapping[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}


@contextmanager
def drawing(ax: Axes | None, height: float, width: float = COLUMN) -> Iterator[Axes]:
    """The axes to draw on: the given ones as they are, or new ones in the style of papers.

    New ones belong to a figure that pyplot does not know, so nothing has to be closed. In a
    notebook they show it.
    """
    _installed()
    from matplotlib import rc_context

    if ax is not None and not is_own(ax):
        with rc_context(_SAFE):
            yield ax
        return
    with _paper():
        if ax is None:
            figure = _figure_type()(figsize=(width, height), layout="constrained")
            ax = figure.add_subplot(axes_class=_axes_type())
            # Ticks are made when they are first drawn, which is after this style has ended.
            ax.tick_params(labelsize=_SMALL, length=2.5, width=0.6)
        yield ax


def is_own(ax: Axes) -> bool:
    """Whether axes are of a figure that was made here, in the style of papers."""
    return isinstance(ax.figure, _figure_type())


def label(ax: Axes, x: str, y: str = "") -> None:
    """Name the axes; without TeX, which may be on where the axes come from."""
    ax.set_xlabel(x, usetex=False)
    ax.set_ylabel(y, usetex=False)


def reach(estimates: Sequence[Estimate]) -> npt.NDArray[np.float64]:
    """How far each interval reaches below and above its value; 0 where there is none."""
    ends = [(float(e) - e.low, e.high - float(e)) for e in estimates]
    found = np.array(ends).T
    return np.where(np.isfinite(found), found, 0.0)


def save(
    figures: Mapping[str, Callable[[], Axes]],
    folder: str | os.PathLike[str],
    formats: Sequence[str] = ("pdf", "svg"),
) -> tuple[Path, ...]:
    """Write figures, one file a figure and format, and give their paths.

    All are drawn before the first is written; each is written aside and renamed.
    """
    _installed()
    unknown = [each for each in formats if each not in FORMATS]
    if unknown or isinstance(formats, str):
        raise InputError(
            f"formats are some of {', '.join(FORMATS)}, such as formats=('pdf',); found {formats!r}"
        )
    drawn: dict[str, bytes] = {}
    for name, draw in figures.items():
        figure = draw().figure
        drawn |= {f"{name}.{each}": _page(figure, each) for each in formats}
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    return tuple(_write(target / name, page) for name, page in drawn.items())


def _write(path: Path, page: bytes) -> Path:
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        aside.write_bytes(page)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return path


def _installed() -> None:
    if find_spec("matplotlib") is None:
        raise InputError(f"figures need matplotlib, which is not installed: {install_line('plot')}")


def _paper() -> AbstractContextManager[None]:
    """The style of papers on top of matplotlib's defaults; the font is the reader's choice."""
    from matplotlib import rcParams, style

    fonts: dict[Any, Any] = {key: rcParams[key] for key in rcParams if key.startswith("font.")}
    return style.context(["default", {**fonts, **_STYLE}])


@cache
def _figure_type() -> type[Figure]:
    from matplotlib.figure import Figure

    class Paper(Figure):
        """A figure that shows itself in notebooks and is quiet about letters its font lacks."""

        def draw(self, renderer: Any) -> None:
            with _quiet():
                super().draw(renderer)

        def get_tightbbox(self, *args: Any, **kwargs: Any) -> Any:
            with _quiet():
                return super().get_tightbbox(*args, **kwargs)

        def _repr_png_(self) -> bytes:
            return _page(self, "png", dpi=150)

        def _repr_svg_(self) -> str:
            return _page(self, "svg").decode("utf-8")

    return Paper


@cache
def _axes_type() -> type[Axes]:
    from matplotlib.axes import Axes as PlainAxes

    class PaperAxes(PlainAxes):
        """Axes that show their figure in a notebook, where they are the last line of a cell."""

        def _repr_png_(self) -> bytes:
            shown: Any = self.figure
            png: bytes = shown._repr_png_()
            return png

        def _repr_svg_(self) -> str:
            shown: Any = self.figure
            svg: str = shown._repr_svg_()
            return svg

    return PaperAxes


def _page(figure: Any, kind: str, dpi: int = 300) -> bytes:
    """A figure as the bytes of a file, without a date."""
    if kind == "pgf":
        from assay.plots.pgf import pgf

        with _paper():
            return pgf(figure).encode()
    page = io.BytesIO()
    with _paper():
        figure.savefig(page, format=kind, dpi=dpi, metadata=dict(_UNDATED[kind]))
    return page.getvalue()


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        yield
