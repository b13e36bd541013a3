"""Axes in the style of papers, the names on them, and figures written to files.

Everything that is drawn begins here, and so does every ``plot`` of a result: see :class:`Figures`.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.curves import Axis
from assay.errors import InputError, install_line
from assay.v02.escaping import escaped
from assay.v02.inference import Estimate
from assay.v02.measures import Measure
from assay.v02.measures.measure import spoken
from assay.v02.number_text import significant, whole

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
    arms = np.array(ends).T
    return np.where(np.isfinite(arms), arms, 0.0)


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


# Names come from files and are not trusted.
_LONGEST = 32
_IN_LEGEND = 24
_MOST = 500  # letters that are looked at, from either end
_REPLACEMENT = "\ufffd"
# Persian and emoji are spelled with these two; other invisible characters are left out.
_JOINERS = "\u200c\u200d"


def one_line(name: str, longest: int = _LONGEST) -> str:
    r"""A name as text on one line: cut, without control characters, and never mathematics.

    >>> one_line("costs $5 or $6")
    'costs \\$5 or \\$6'
    """
    if len(name) > 2 * _MOST:
        name = name[:_MOST] + name[-_MOST:]
    line = "".join(map(_shown, " ".join(name.split())))
    if len(line) > longest:
        # In the middle: names of one list often start alike and end in a number.
        head = longest // 2
        line = f"{line[:head]}…{line[head + 1 - longest :]}"
    return line.replace("$", r"\$") or "(empty)"


def legend_text(name: str, words: str) -> str:
    """A model's name and what is said of it, short enough for the legend of a column."""
    return ": ".join(
        filter(None, (name and one_line(name, _IN_LEGEND if words else _LONGEST), words))
    )


def legible(text: str) -> str:
    """A label that starts with an underscore would be kept out of the legend."""
    return "\u200b" + text if text.startswith("_") else text


def _shown(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Cf" and letter not in _JOINERS:
        return ""
    # Control characters, surrogates and what is no character can't be written to SVG.
    return _REPLACEMENT if kind in ("Cc", "Cs", "Cn") else letter


def title(measure: Measure | Axis) -> str:
    """What a figure calls a measure.

    >>> from assay.v02.measures import find
    >>> title(find("mcc")), title(find("fpr")), title(find("recall"))
    ('MCC', 'False positive rate', 'Detection rate')
    """
    return measure.title[0].upper() + measure.title[1:]


def full_title(measure: Measure | Axis) -> str:
    """What an axis calls a measure: beside the word of the vocabulary, its name.

    >>> from assay.v02.measures import find
    >>> full_title(find("far"))
    'False alarm rate (false discovery rate)'
    """
    aside = f" ({spoken(measure.name)})" if measure.aside else ""
    return title(measure) + aside


def size_text(number: float) -> str:
    """A number of rows, or a sum of weights, in at most seven digits."""
    if isinstance(number, int) and number < 10_000_000:
        return f"{number:,}"
    return whole(number) if 1000 <= number < 10_000_000 else significant(float(number))


NamedFigures: TypeAlias = Iterator[tuple[str, Callable[[], "Axes"]]]

# A legend of more models than this stands below the axes, which it would cover.
INSIDE = 3
_ENTRY = 0.15  # inches that an entry of a legend takes


class Figures:
    """Figures of one result; each is drawn on ``ax``, or on axes of its own, and returns them.

    A figure of its own is a column of a paper wide and is not known to pyplot: nothing has to be
    closed, and ``plt.show`` does not show it. In a notebook its axes do.
    """

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write all figures that apply, one file a figure and format, and give their paths.

        Text stays text, there is no date in the files, and equal results give equal bytes.
        """
        figures = dict(self._figures())
        return save(figures, folder, formats) if figures else ()

    def _figures(self) -> NamedFigures:
        """Every figure that applies, by the name of its file."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"Figures: {', '.join(sorted({name for name in dir(self) if self._draws(name)}))}"

    def _draws(self, name: str) -> bool:
        return not name.startswith("_") and callable(getattr(type(self), name, None))


def name_models(ax: Axes, models: int, references: Sequence[str] = ()) -> Axes:
    """A legend with one entry a model, below the axes where many would cover them.

    ``references`` are further entries, of lines that are no model's.
    """
    curves: list[Any] = [line for line in ax.lines if _is_curve(line)] or list(ax.containers)
    handles = [*curves, *(line for line in ax.lines if line.get_label() in references)]
    with drawing(ax, 0) as axes:
        if models <= INSIDE or not is_own(axes):
            axes.legend(handles=handles)
            return axes
        figure: Any = axes.figure
        more = _ENTRY * (len(handles) + 1)
        high = figure.get_figheight() + more
        figure.set_figheight(high)
        figure.get_layout_engine().set(rect=(0, more / high, 1, 1 - more / high))
        place: dict[str, Any] = {
            "loc": "lower center",
            "bbox_to_anchor": (0.5, 0),
            "borderaxespad": 0.5,
        }
        legend = axes.legend(handles=handles, bbox_transform=figure.transFigure, **place)
        # Its room is set aside; a layout that sees it would narrow the axes.
        legend.set_in_layout(False)
    return axes


def _is_curve(line: Any) -> bool:
    return bool(line.get_gid() == "curve" or line.get_drawstyle().startswith("steps"))


# -- pictures that LaTeX draws ---------------------------------------------------------------------

_HEAD = r"""% Input this figure; the preamble needs \usepackage{pgf} or \usepackage{tikz}.
% It is as wide as the line at most.
\begingroup\setbox0\hbox{%
\begin{pgfpicture}
\pgfpathrectangle{\pgfpointorigin}{SIZE}\pgfusepath{use as bounding box}
"""
_FOOT = r"""\end{pgfpicture}}%
\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\box0}\else\box0\fi\endgroup
"""
# TeX knows no longer distances; nothing that far outside is seen.
_FAR = 5000.0
_SIDES = {"left": "left", "right": "right", "center": ""}
_HEIGHTS = {"top": "top", "bottom": "bottom", "baseline": "base"}
_CAPS = {"butt": "butt", "projecting": "rect", "round": "round"}
# What matplotlib writes powers as; all else is text.
_MATH = re.compile(r"\$\\mathdefault\{([-0-9.+^{}\\times ]*)\}\$")
_LONGEST_TEXT = 120


def pgf(figure: Figure) -> str:
    """The figure as commands of PGF, in its size."""
    width, height = (72 * inches for inches in figure.get_size_inches())
    renderer = _renderer_type()(width, height)
    before = figure.dpi
    try:
        figure.set_dpi(72)
        figure.draw(renderer)
    finally:
        figure.set_dpi(before)
    drawn: str = renderer.text
    return _HEAD.replace("SIZE", _point(width, height)) + drawn + _FOOT


def _number(value: float) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _point(x: float, y: float) -> str:
    return rf"\pgfqpoint{{{_number(x)}bp}}{{{_number(y)}bp}}"


@cache
def _renderer_type() -> Any:
    from matplotlib.backend_bases import RendererBase

    class Renderer(_Commands, RendererBase):
        """These commands, and all that matplotlib makes of them."""

    return Renderer


class _Commands:
    """What matplotlib asks a renderer for, written as commands; a point is a pixel."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.width, self.height = width, height
        self._out = io.StringIO()

    @property
    def text(self) -> str:
        """What was drawn."""
        return self._out.getvalue()

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def flipy(self) -> bool:
        return False

    def points_to_pixels(self, points: Any) -> Any:
        return points

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        stroked = gc.get_linewidth() > 0 and gc.get_rgb()[3] > 0
        filled = rgbFace is not None and (len(rgbFace) < 4 or rgbFace[3] > 0)
        if not stroked and not filled:
            return
        self._begin(gc)
        if filled:
            self._colour("fill", rgbFace, gc)
        if stroked:
            self._colour("stroke", gc.get_rgb(), gc)
            self._line(gc)
        self._segments(path, transform, None if filled else (self.width, self.height))
        use = ",".join(u for u, on in (("stroke", stroked), ("fill", filled)) if on)
        self._out.write(rf"\pgfusepath{{{use}}}" + "\n\\end{pgfscope}\n")

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        """An image as rectangles, which stay sharp."""
        rows, columns = im.shape[:2]
        matrix = np.array([[columns, 0.0], [0.0, rows]])
        if transform is not None:
            matrix = np.array([[columns, 0], [0, rows]]) * transform.to_values()[0]
        wide, high = matrix[0, 0] / columns, matrix[1, 1] / rows
        self._begin(gc)
        for i in range(rows):
            for j in range(columns):
                red, green, blue = (im[i, j, :3] / 255).tolist()
                self._colour("fill", (red, green, blue, im[i, j, 3] / 255), gc)
                corner = _point(x + j * wide, y + i * high)
                size = _point(wide, high)
                self._out.write(rf"\pgfpathrectangle{{{corner}}}{{{size}}}\pgfusepath{{fill}}")
                self._out.write("\n")
        self._out.write("\\end{pgfscope}\n")

    def draw_text(  # noqa: PLR0917 - as matplotlib calls it
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,  # noqa: ARG002, FBT002 - matplotlib's own
        mtext: Any = None,
    ) -> None:
        options = ["left", "base"]
        if mtext is not None and (angle == 0 or mtext.get_rotation_mode() == "anchor"):
            # The paper's font is of another width: text is set from where it is anchored.
            x, y = mtext.get_transform().transform(mtext.get_unitless_position())
            options = [_SIDES[mtext.get_ha()], _HEIGHTS.get(mtext.get_va(), "")]
        options += [f"x={_number(x)}bp", f"y={_number(y)}bp"]
        options += [f"rotate={_number(angle)}"] if angle else []
        size = prop.get_size_in_points()
        red, green, blue, _ = gc.get_rgb()
        colour = rf"\color[rgb]{{{red:.3f},{green:.3f},{blue:.3f}}}"
        font = rf"\fontsize{{{_number(size)}}}{{{_number(1.2 * size)}}}\selectfont"
        self._begin(gc)
        self._out.write(rf"\pgftext[{','.join(filter(None, options))}]{{{colour}{font} ")
        self._out.write(_written(s) + "}\n\\end{pgfscope}\n")

    def _begin(self, gc: Any) -> None:
        self._out.write("\\begin{pgfscope}\n")
        box = gc.get_clip_rectangle()
        if box is not None:
            corner, size = _point(box.x0, box.y0), _point(box.width, box.height)
            self._out.write(rf"\pgfpathrectangle{{{corner}}}{{{size}}}\pgfusepath{{clip}}")
            self._out.write("\n")

    def _colour(self, what: str, colour: Any, gc: Any) -> None:
        red, green, blue, *opaque = colour
        name = f"assay{what}"
        self._out.write(
            rf"\definecolor{{{name}}}{{rgb}}{{{red:.3f},{green:.3f},{blue:.3f}}}"
            rf"\pgfset{what}color{{{name}}}"
        )
        alpha = gc.get_alpha() if gc.get_forced_alpha() else (opaque or [1.0])[0]
        if alpha < 1:
            self._out.write(rf"\pgfset{what}opacity{{{alpha:.3f}}}")
        self._out.write("\n")

    def _line(self, gc: Any) -> None:
        self._out.write(
            rf"\pgfsetlinewidth{{{_number(gc.get_linewidth())}bp}}"
            rf"\pgfset{_CAPS[str(gc.get_capstyle())]}cap"
        )
        offset, dashes = gc.get_dashes()
        if dashes is not None:
            pattern = "".join(f"{{{_number(dash)}bp}}" for dash in dashes)
            self._out.write(rf"\pgfsetdash{{{pattern}}}{{{_number(offset)}bp}}")
        self._out.write("\n")

    def _segments(self, path: Any, transform: Any, clip: Any) -> None:
        """The parts of a path; what lies far outside of the figure is left out."""
        from matplotlib.path import Path

        limits = None if clip is None else (-72.0, -72.0, clip[0] + 72.0, clip[1] + 72.0)
        for points, code in path.iter_segments(transform, clip=limits):
            near = np.clip(points.reshape(-1, 2), -_FAR, _FAR)
            pairs = [_point(*pair) for pair in near.tolist()]
            if code == Path.MOVETO:
                command = rf"\pgfpathmoveto{{{pairs[0]}}}"
            elif code == Path.LINETO:
                command = rf"\pgfpathlineto{{{pairs[0]}}}"
            elif code == Path.CURVE3:
                command = r"\pgfpathquadraticcurveto" + "".join(f"{{{pair}}}" for pair in pairs)
            elif code == Path.CURVE4:
                command = r"\pgfpathcurveto" + "".join(f"{{{pair}}}" for pair in pairs)
            else:
                command = r"\pgfpathclose"
            self._out.write(command + "%\n")


def _written(text: str) -> str:
    r"""Text for TeX; the powers of a logarithmic axis as mathematics.

    >>> _written(r"costs \$5 & more"), _written(r"$\mathdefault{10^{-3}}$")
    ('costs \\$5 \\& more', '$10^{-3}$')
    """
    power = _MATH.fullmatch(text)
    if power is not None:
        return f"${power[1]}$"
    # A minus of matplotlib's own, and dollars that it would take for mathematics.
    return escaped(text.replace("\u2212", "-").replace(r"\$", "$"), _LONGEST_TEXT)
