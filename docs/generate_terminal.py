"""The picture of the README: what a terminal shows of the report on the demo's flows, as SVG.

It is kept in the repository, where the README is read; a test holds it against what the command
prints, and ``RENEW_GOLDEN=1`` renews it. Its letters are the reader's own, so it loads nothing.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from assay.v02.cli.demo import table
from assay.v02.learn.scenarios import make_flows

PICTURE = Path(__file__).parent / "screens" / "report.svg"
COMMAND = "assay evaluate predictions.csv --base-rate 0.1% --volume 1e6 --brief"
SEED = 42  # of the demo, so that both print the same numbers
COLUMNS = 88
WIDTH, HEIGHT = 8.4, 19  # of a letter, and of a line
BACKGROUND, INK = "#16181d", "#d7dae0"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def printed() -> str:
    """What the command prints in a terminal, with its colours."""
    with TemporaryDirectory() as folder:
        Path(folder, "predictions.csv").write_bytes(table(make_flows(SEED)))
        command = [sys.executable, "-P", "-m", *COMMAND.split(), "--quiet"]
        end, terminal = pty.openpty()
        environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "60", "TERM": "xterm"}
        environment.pop("NO_COLOR", None)
        process = subprocess.Popen(command, cwd=folder, stdout=terminal, env=environment)
        os.close(terminal)
        printed = b""
        try:
            while part := os.read(end, 65536):
                printed += part
        except OSError:  # a terminal that is closed ends so on Linux
            pass
        os.close(end)
        if process.wait():
            raise RuntimeError(f"{COMMAND} ended with {process.returncode}")
    return printed.decode().replace("\r\n", "\n")


def picture(text: str) -> str:
    """Lines of a terminal as a picture; colours and weights are those of their escape codes."""
    console = Console(width=COLUMNS + 20, color_system="standard", force_terminal=True)
    shown = Text.from_ansi(f"$ {COMMAND}\n\n{text.rstrip()}").split("\n")
    width, height = WIDTH * (COLUMNS + 4), HEIGHT * (len(shown) + 2)
    lines = [
        f'<text x="{2 * WIDTH:.1f}" y="{HEIGHT * (i + 1.8):.1f}">{_spans(line, console)}</text>'
        for i, line in enumerate(shown)
        if line.plain.strip()
    ]
    size = f"0 0 {width:.0f} {height:.0f}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img">',
            f"<title>{escape(COMMAND)}</title>",
            f"<style>text {{ font: 14px {FONT}; fill: {INK}; white-space: pre }}</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
            *lines,
            "</svg>\n",
        ]
    )


def _spans(line: Text, console: Console) -> str:
    spans = []
    for segment in line.render(console):
        given = _attributes(segment.style or Style())
        text = escape(segment.text)
        spans.append(f"<tspan{given}>{text}</tspan>" if given else text)
    return "".join(spans)


def _attributes(style: Style) -> str:
    attributes = ' font-weight="bold"' if style.bold else ""
    if style.dim:
        attributes += ' opacity="0.65"'
    if style.color is not None and not style.color.is_default:
        red, green, blue = style.color.get_truecolor(MONOKAI)
        attributes += f' fill="#{red:02x}{green:02x}{blue:02x}"'
    return attributes


if __name__ == "__main__":
    PICTURE.write_text(picture(printed()), "utf-8")
