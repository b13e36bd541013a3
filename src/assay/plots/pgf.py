r"""Figures as PGF, to ``\input`` into a paper: its fonts, its sizes, no other program needed.

The paper loads the package pgf (or tikz). Names are text that TeX shows and never runs.
"""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.escaping import escaped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
_LONGEST = 120


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
    return escaped(text.replace("\u2212", "-").replace(r"\$", "$"), _LONGEST)
